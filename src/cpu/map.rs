//! Elementwise kernels: a closure over values becomes a loop over runs, compiled for every instruction set.

mod blocks;
mod chunks;
mod transposed;

use super::engine::{Kernel, Options, Rows, TransposedTile, Work};
use super::half::{Bf16, F16};
use super::simd::{Isa, Level, level, simd, simd_at};
use super::stream::fill_long;
use super::tuning::{LONG_FILL, LONG_FILL_ROW, RARE_PIECE, fills_long};
use crate::dtype::{Dtype, Element};
use blocks::{blocks1, blocks2, blocks3};
use chunks::{chunks1, chunks2, chunks3};
use transposed::{takes_transposed, transposed2};

/// `r[i] = x`
pub fn fill<T: Element>(work: &Work<1>, x: T) {
    let each = const { 8 / size_of::<T>() };
    let eight = [x; 8];
    // SAFETY: `eight` has eight elements, which are at least eight bytes.
    let pattern = unsafe { eight.as_ptr().cast::<u64>().read_unaligned() };
    let long = fills_long() && work.numel() >= const { LONG_FILL / size_of::<T>() };
    let kernel = move |&Rows { at: [mut row], step: [step], rows, cols: n, .. }: &Rows<1>| {
        let eights = if long && n >= const { LONG_FILL_ROW / size_of::<T>() } { n / each } else { 0 };
        simd(
            #[inline(always)]
            move |_| {
                for _ in 0..rows {
                    let r = row.cast::<T>();
                    // SAFETY: the engine passes rows of `n` elements.
                    unsafe {
                        if eights > 0 {
                            fill_long(row, pattern, eights);
                        }
                        (eights * each..n).for_each(|i| r.add(i).write(x));
                    }
                    row = row.wrapping_offset(step);
                }
            },
        )
    };
    work.run_with([T::DTYPE], &kernel, Options { by_rows: true, ..Options::default() })
}

/// `r[i] = f(a[i])`
#[inline(always)]
pub fn map1<T: Element, U: Element>(work: &Work<2>, f: impl Fn(Isa, T) -> U + Copy + Sync) {
    map1_of::<T, U, false>(work, f)
}

/// [`map1`] with a third of the code if `COMPACT`, for costly formulas
#[inline(always)]
pub fn map1_of<T: Element, U: Element, const COMPACT: bool>(work: &Work<2>, f: impl Fn(Isa, T) -> U + Copy + Sync) {
    let kernel = move |rows: &Rows<2>| {
        simd_for(
            const { is_narrow(&[size_of::<T>(), size_of::<U>()]) },
            #[inline(always)]
            // SAFETY: the engine passes rows of the operands.
            move |isa| unsafe { chunks1::<T, U, COMPACT>(isa, rows, f) },
        )
    };
    let options = Options { by_rows: true, ..Options::default() };
    if const { takes_floats(&[T::DTYPE, U::DTYPE]) }
        && let Some(half) = work.half()
    {
        // SAFETY: the engine passes runs of `n` elements.
        let f16 = move |&Rows { at, cols: n, .. }: &Rows<2>| unsafe { blocks1::<F16, T, U>(at, n, f) };
        // SAFETY: the engine passes runs of `n` elements.
        let bf16 = move |&Rows { at, cols: n, .. }: &Rows<2>| unsafe { blocks1::<Bf16, T, U>(at, n, f) };
        return run_as_stored(work, [U::DTYPE, T::DTYPE], half, &f16, &bf16);
    }
    work.run_with([U::DTYPE, T::DTYPE], &kernel, options)
}

/// `r[i] = f(a[i])`, computed by `run(isa, r, a, n)`, a separate loop. It may read `n` elements of `a` and write `n` of `r`. The two are
/// disjoint or the same memory.
#[inline(always)]
pub fn map1_run<T: Element>(work: &Work<2>, run: impl Fn(Isa, *mut T, *const T, usize) + Copy + Sync) {
    let kernel = move |&Rows { at: [r, a], cols: n, .. }: &Rows<2>| {
        simd(
            #[inline(always)]
            move |isa| run(isa, r.cast(), a.cast_const().cast(), n),
        )
    };
    work.run([T::DTYPE; 2], &kernel)
}

/// [`map1_run`] for two inputs
#[inline(always)]
pub fn map2_run<T: Element>(work: &Work<3>, run: impl Fn(Isa, *mut T, [*const T; 2], usize) + Copy + Sync) {
    let kernel = move |&Rows { at: [r, a, b], cols: n, .. }: &Rows<3>| {
        simd(
            #[inline(always)]
            move |isa| run(isa, r.cast(), [a.cast_const().cast(), b.cast_const().cast()], n),
        )
    };
    work.run([T::DTYPE; 3], &kernel)
}

/// `r[i] = f(a[i])`, and `slow(a[i])` where `rare(a[i])`
#[inline(always)]
pub fn map1_rare<T: Element, U: Element>(
    work: &Work<2>,
    f: impl Fn(Isa, T) -> U + Copy + Sync,
    rare: impl Fn(Isa, T) -> bool + Copy + Sync,
    slow: impl Fn(Isa, T) -> U + Copy + Sync,
) {
    // SAFETY: the engine passes runs of `n` elements.
    let kernel = move |&Rows { at: [r, a], cols: n, .. }: &Rows<2>| unsafe { run_rare(r.cast::<U>(), a.cast::<T>(), n, f, rare, slow) };
    work.run([U::DTYPE, T::DTYPE], &kernel)
}

/// Calls `each` with all of `0..n`, except in pieces with a `rare` index, where it calls `careful`. A piece is tested before it is written,
/// since the result may alias the input.
#[inline(always)]
fn in_pieces(n: usize, rare: impl Fn(usize) -> bool, each: impl Fn(usize), careful: impl Fn(usize)) {
    for start in (0..n).step_by(RARE_PIECE) {
        let piece = start..n.min(start + RARE_PIECE);
        let mut any = false;
        for i in piece.clone() {
            any |= rare(i);
        }
        if any {
            for i in piece {
                careful(i);
            }
        } else {
            for i in piece {
                each(i);
            }
        }
    }
}

/// `r[i] = f(a[i])`, and `slow(a[i])` where `rare(a[i])`
///
/// # Safety
/// `r` and `a` must have `n` elements, and be either disjoint or the same memory.
#[inline(always)]
pub unsafe fn run_rare<T: Copy, U>(
    r: *mut U,
    a: *const T,
    n: usize,
    f: impl Fn(Isa, T) -> U + Copy,
    rare: impl Fn(Isa, T) -> bool + Copy,
    slow: impl Fn(Isa, T) -> U + Copy,
) {
    simd(
        #[inline(always)]
        move |isa| {
            // SAFETY: the caller guarantees `n` elements of `a`.
            let at = |i: usize| unsafe { a.add(i).read() };
            in_pieces(
                n,
                #[inline(always)]
                |i| rare(isa, at(i)),
                #[inline(always)]
                // SAFETY: the caller guarantees `n` elements of `r`.
                |i| unsafe { r.add(i).write(f(isa, at(i))) },
                #[inline(always)]
                // SAFETY: the caller guarantees `n` elements of `r`.
                |i| unsafe { r.add(i).write(if rare(isa, at(i)) { slow(isa, at(i)) } else { f(isa, at(i)) }) },
            )
        },
    )
}

/// `r[i] = f(a)[i]`, computed in float64, 32 elements at a time
#[inline(always)]
pub fn map1_blocks<T: Element>(work: &Work<2>, f: impl Fn(Isa, &mut [f64; 32]) + Copy + Sync) {
    let kernel = move |&Rows { at: [r, a], cols: n, .. }: &Rows<2>| {
        let (r, a) = (r.cast::<T>(), a.cast::<T>());
        simd(
            #[inline(always)]
            move |isa| {
                for start in (0..n).step_by(32) {
                    let (len, mut block) = ((n - start).min(32), [1.0; 32]);
                    // SAFETY: the engine passes runs of `n` elements.
                    (0..len).for_each(|i| block[i] = unsafe { a.add(start + i).read() }.to_f64());
                    f(isa, &mut block);
                    // SAFETY: the engine passes runs of `n` elements.
                    (0..len).for_each(|i| unsafe { r.add(start + i).write(T::from_f64(block[i])) });
                }
            },
        )
    };
    work.run([T::DTYPE; 2], &kernel)
}

/// `r[i] = f(a[i], b[i])`
#[inline(always)]
pub fn map2<A: Element, B: Element, U: Element>(work: &Work<3>, f: impl Fn(Isa, A, B) -> U + Copy + Sync) {
    map2_of::<A, B, U, false, false>(work, f)
}

/// [`map2`] with a second loop for a transposed input. The loop has several KB of code, so it is only for operations that often get such an
/// input.
#[inline(always)]
pub fn map2_transposed<A: Element, B: Element, U: Element>(work: &Work<3>, f: impl Fn(Isa, A, B) -> U + Copy + Sync) {
    map2_of::<A, B, U, true, false>(work, f)
}

/// [`map2`] with a third of the code if `COMPACT`, and the loop of [`map2_transposed`] if `TRANSPOSED`
#[inline(always)]
pub fn map2_of<A: Element, B: Element, U: Element, const TRANSPOSED: bool, const COMPACT: bool>(
    work: &Work<3>,
    f: impl Fn(Isa, A, B) -> U + Copy + Sync,
) {
    let kernel = move |rows: &Rows<3>| {
        simd_for(
            const { is_narrow(&[size_of::<A>(), size_of::<B>(), size_of::<U>()]) },
            #[inline(always)]
            // SAFETY: the engine passes rows of the operands.
            move |isa| unsafe { chunks2::<A, B, U, COMPACT>(isa, rows, f) },
        )
    };
    // SAFETY: the engine passes tiles that are inside their operands.
    let transposed = move |tile: TransposedTile<3>| unsafe { transposed2::<A, B, U>(tile, f) };
    let options =
        Options { by_rows: true, transposed: if const { TRANSPOSED && takes_transposed::<A, B, U>() } { Some(&transposed) } else { None } };
    if const { takes_floats(&[A::DTYPE, B::DTYPE, U::DTYPE]) }
        && let Some(half) = work.half()
    {
        // SAFETY: the engine passes runs of `n` elements.
        let f16 = move |&Rows { at, cols: n, .. }: &Rows<3>| unsafe { blocks2::<F16, A, B, U>(at, n, f) };
        // SAFETY: the engine passes runs of `n` elements.
        let bf16 = move |&Rows { at, cols: n, .. }: &Rows<3>| unsafe { blocks2::<Bf16, A, B, U>(at, n, f) };
        return run_as_stored(work, [U::DTYPE, A::DTYPE, B::DTYPE], half, &f16, &bf16);
    }
    work.run_with([U::DTYPE, A::DTYPE, B::DTYPE], &kernel, options)
}

/// `r[i] = f(a[i], b[i])`, and `slow(a[i], b[i])` where `rare(a[i], b[i])`
#[inline(always)]
pub fn map2_rare<A: Element, B: Element, U: Element>(
    work: &Work<3>,
    f: impl Fn(Isa, A, B) -> U + Copy + Sync,
    rare: impl Fn(Isa, A, B) -> bool + Copy + Sync,
    slow: impl Fn(Isa, A, B) -> U + Copy + Sync,
) {
    let kernel = move |&Rows { at: [r, a, b], cols: n, .. }: &Rows<3>| {
        let (r, a, b) = (r.cast::<U>(), a.cast::<A>(), b.cast::<B>());
        simd(
            #[inline(always)]
            move |isa| {
                // SAFETY: the engine passes runs of `n` elements.
                let at = |i: usize| unsafe { (a.add(i).read(), b.add(i).read()) };
                let exact = |(x, y): (A, B)| f(isa, x, y);
                let careful = |(x, y): (A, B)| if rare(isa, x, y) { slow(isa, x, y) } else { f(isa, x, y) };
                in_pieces(
                    n,
                    #[inline(always)]
                    |i| rare(isa, at(i).0, at(i).1),
                    #[inline(always)]
                    // SAFETY: the engine passes runs of `n` elements.
                    |i| unsafe { r.add(i).write(exact(at(i))) },
                    #[inline(always)]
                    // SAFETY: the engine passes runs of `n` elements.
                    |i| unsafe { r.add(i).write(careful(at(i))) },
                )
            },
        )
    };
    work.run([U::DTYPE, A::DTYPE, B::DTYPE], &kernel)
}

/// `r[i] = f(a[i], b[i], c[i])`
#[inline(always)]
pub fn map3<A: Element, B: Element, C: Element, U: Element>(work: &Work<4>, f: impl Fn(Isa, A, B, C) -> U + Copy + Sync) {
    map3_of::<A, B, C, U, false>(work, f)
}

/// [`map3`] with a third of the code if `COMPACT`
#[inline(always)]
pub fn map3_of<A: Element, B: Element, C: Element, U: Element, const COMPACT: bool>(
    work: &Work<4>,
    f: impl Fn(Isa, A, B, C) -> U + Copy + Sync,
) {
    let kernel = move |rows: &Rows<4>| {
        simd_for(
            const { is_narrow(&[size_of::<A>(), size_of::<B>(), size_of::<C>(), size_of::<U>()]) },
            #[inline(always)]
            // SAFETY: the engine passes rows of the operands.
            move |isa| unsafe { chunks3::<A, B, C, U, COMPACT>(isa, rows, f) },
        )
    };
    let options = Options { by_rows: true, ..Options::default() };
    if const { takes_floats(&[A::DTYPE, B::DTYPE, C::DTYPE, U::DTYPE]) }
        && let Some(half) = work.half()
    {
        // SAFETY: the engine passes runs of `n` elements.
        let f16 = move |&Rows { at, cols: n, .. }: &Rows<4>| unsafe { blocks3::<F16, A, B, C, U>(at, n, f) };
        // SAFETY: the engine passes runs of `n` elements.
        let bf16 = move |&Rows { at, cols: n, .. }: &Rows<4>| unsafe { blocks3::<Bf16, A, B, C, U>(at, n, f) };
        return run_as_stored(work, [U::DTYPE, A::DTYPE, B::DTYPE, C::DTYPE], half, &f16, &bf16);
    }
    work.run_with([U::DTYPE, A::DTYPE, B::DTYPE, C::DTYPE], &kernel, options)
}

/// Returns true if vectors of 32 bytes are as fast as any for elements of these sizes. Elements of 8 and 16 bits were, from 1000 elements
/// to a million, measured on a Zen 4.
const fn is_narrow(sizes: &[usize]) -> bool {
    let mut k = 0;
    while k < sizes.len() {
        if sizes[k] > 2 {
            return false;
        }
        k += 1;
    }
    true
}

/// [`simd`], but `narrow` elements use AVX2 on processors with AVX-512, without a copy of the code for AVX-512.
#[inline(always)]
fn simd_for<R>(narrow: bool, f: impl FnOnce(Isa) -> R) -> R {
    match level() {
        // SAFETY: a processor with AVX-512 has AVX2.
        Level::Avx512 if narrow => unsafe { simd_at(Level::Avx2, f) },
        // SAFETY: `level` returns a level that this processor has.
        other => unsafe { simd_at(other, f) },
    }
}

/// Returns true if operands of a kernel over these types may be 16-bit floats in memory.
const fn takes_floats(types: &[Dtype]) -> bool {
    let mut k = 0;
    while k < types.len() {
        if matches!(types[k], Dtype::Float32) {
            return true;
        }
        k += 1;
    }
    false
}

/// Runs the kernel for elements as they are stored in memory: `half` where `types` says float32, the given type elsewhere.
fn run_as_stored<const N: usize>(work: &Work<N>, types: [Dtype; N], half: Dtype, f16: Kernel<'_, N>, bf16: Kernel<'_, N>) {
    let stored = types.map(|dtype| if dtype == Dtype::Float32 { half } else { dtype });
    work.run_as_stored(stored, if half == Dtype::Float16 { f16 } else { bf16 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::engine::{CHEAP, COSTLY, Flat, Job};
    use crate::dtype::Dtype::{self, Bfloat16, Bool, Float16, Float32};
    use crate::plan::Plan;

    fn run(r: *mut f64, a: *const f64, n: usize) {
        // SAFETY: the callers pass n doubles each.
        let work = Work::Flat(unsafe { Flat::new([r.cast(), a.cast_mut().cast()], n, [Dtype::Float64; 2], COSTLY) });
        let (f, rare, slow) = (
            #[inline(always)]
            |_, x: f64| x + 1.0,
            #[inline(always)]
            |_, x: f64| x < 0.0,
            #[inline(always)]
            |_, x: f64| x * 10.0,
        );
        map1_rare(&work, f, rare, slow)
    }

    #[test]
    fn rare_elements_alone_are_computed_slowly() {
        for n in [0, 1, RARE_PIECE - 1, RARE_PIECE, RARE_PIECE + 1, 5000] {
            // The second piece has no rare elements.
            let a: Vec<f64> = (0..n).map(|i| if i / RARE_PIECE != 1 && i % 7 == 0 { -1.0 - i as f64 } else { i as f64 }).collect();
            let expected: Vec<f64> = a.iter().map(|&x| if x < 0.0 { x * 10.0 } else { x + 1.0 }).collect();
            let mut r = vec![0.0; n];
            run(r.as_mut_ptr(), a.as_ptr(), n);
            assert_eq!(r, expected);
            let mut same = a;
            let data = same.as_mut_ptr();
            run(data, data, n);
            assert_eq!(same, expected);
        }
    }

    fn planned<const N: usize>(n: usize, data: [*mut u8; N], dtype: [Dtype; N], compute: [Dtype; N]) -> Work<N> {
        // SAFETY: the callers' vectors hold `n` elements.
        Work::Planned(Box::new(unsafe { Job::new(Plan::flat(n, dtype.map(Dtype::size)), data, dtype, compute, CHEAP) }))
    }

    #[test]
    fn sixteen_bit_floats_are_converted_piece_by_piece() {
        // The longest is larger than the caches.
        for n in [1, 500, 1024, 1500, 400_000] {
            let a: Vec<u16> = (0..n).map(|i| half::bf16::from_f32((i % 200) as f32).to_bits()).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 50) as f32).collect();
            let (mut sum, mut less) = (a.clone(), vec![9u8; n]);
            let job = |r: *mut u8, dtypes: [Dtype; 3], compute: Dtype| {
                planned(n, [r, a.as_ptr() as *mut u8, b.as_ptr() as *mut u8], dtypes, [compute, Float32, Float32])
            };
            let (add, lt) = (
                #[inline(always)]
                |_, x: f32, y: f32| x + y,
                #[inline(always)]
                |_, x: f32, y: f32| crate::dtype::Bool::from_f32(f32::from(u8::from(x < y))),
            );
            map2(&job(sum.as_mut_ptr().cast(), [Bfloat16, Bfloat16, Float32], Float32), add);
            map2(&job(less.as_mut_ptr(), [Bool, Bfloat16, Float32], Bool), lt);
            assert!((0..n).all(|i| half::bf16::from_bits(sum[i]).to_f32() == (i % 200 + i % 50) as f32));
            assert!((0..n).all(|i| less[i] == u8::from(i % 200 < i % 50)));
        }
    }

    /// Returns small whole numbers as the bits of 16-bit floats.
    fn halves(half: Dtype, n: usize, most: usize) -> Vec<u16> {
        let bits = |x: f32| if half == Bfloat16 { half::bf16::from_f32(x).to_bits() } else { half::f16::from_f32(x).to_bits() };
        (0..n).map(|i| bits((i % most) as f32)).collect()
    }

    #[test]
    fn blocks_of_sixteen_bit_floats_end_anywhere() {
        let (add, lt, pick, neg) = (
            #[inline(always)]
            |_, x: f32, y: f32| x + y,
            #[inline(always)]
            |_, x: f32, y: f32| crate::dtype::Bool::from(x < y),
            #[inline(always)]
            |_, c: crate::dtype::Bool, x: f32, y: f32| if c.get() { x } else { y },
            #[inline(always)]
            |_, x: f32| -x,
        );
        for (half, n) in [Float16, Bfloat16].into_iter().flat_map(|h| [1, 31, 32, 33, 95, 1000, 70_001].map(|n| (h, n))) {
            let (a, b) = (halves(half, n, 200), halves(half, n, 50));
            let (mut sum, mut less, mut picked) = (vec![7u16; n + 1], vec![9u8; n + 1], vec![7u16; n + 1]);
            let [one, two, three] = [&a, &b, &a].map(|x| x.as_ptr() as *mut u8);
            map2(&planned(n, [sum.as_mut_ptr().cast(), one, two], [half; 3], [Float32; 3]), add);
            map2(&planned(n, [less.as_mut_ptr(), one, two], [Bool, half, half], [Bool, Float32, Float32]), lt);
            let data = [picked.as_mut_ptr().cast(), less.as_mut_ptr(), two, three];
            map3(&planned(n, data, [half, Bool, half, half], [Float32, Bool, Float32, Float32]), pick);
            let (x, y) = (|i: usize| i % 200, |i: usize| i % 50);
            let sums = halves(half, 250, 250);
            assert!((0..n).all(|i| sum[i] == sums[x(i) + y(i)]) && sum[n] == 7, "{half}, {n}");
            assert!((0..n).all(|i| less[i] == u8::from(x(i) < y(i))) && less[n] == 9, "{half}, {n}");
            assert!((0..n).all(|i| picked[i] == sums[x(i).max(y(i))]) && picked[n] == 7, "{half}, {n}");
            let data = sum.as_mut_ptr().cast();
            map1(&planned(n, [data, data], [half; 2], [Float32; 2]), neg);
            assert!((0..n).all(|i| sum[i] == sums[x(i) + y(i)] ^ 0x8000), "{half}, {n}");
        }
    }
}
