//! Elementwise kernels: a closure over values becomes a loop over runs, compiled for every instruction set.

use super::engine::Work;
use super::simd::{Isa, simd};
use crate::dtype::Element;

/// `r[i] = x`
///
/// # Safety
/// As for [`Work::run`]; the compute type is `T`.
pub unsafe fn fill<T: Element>(work: &Work<1>, x: T) {
    let kernel = move |[r]: [*mut u8; 1], n: usize| {
        let r = r.cast::<T>();
        // SAFETY: the engine passes runs of `n` elements.
        simd(
            #[inline(always)]
            move |_| (0..n).for_each(|i| unsafe { r.add(i).write(x) }),
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// `r[i] = f(a[i])`
///
/// # Safety
/// As for [`Work::run`]; the compute types are `U` and `T`.
#[inline(always)]
pub unsafe fn map1<T: Element, U: Element>(work: &Work<2>, f: impl Fn(Isa, T) -> U + Copy + Sync) {
    let kernel = move |[r, a]: [*mut u8; 2], n: usize| {
        let (r, a) = (r.cast::<U>(), a.cast::<T>());
        simd(
            #[inline(always)]
            move |isa| {
                for i in 0..n {
                    // SAFETY: the engine passes runs of `n` elements.
                    unsafe { r.add(i).write(f(isa, a.add(i).read())) }
                }
            },
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// `r[i] = f(a[i])` by `run(isa, r, a, n)`, a loop of its own
///
/// # Safety
/// As for [`Work::run`]; the compute types are `T`. `run` reads and writes `n` elements.
#[inline(always)]
pub unsafe fn map1_run<T: Element>(work: &Work<2>, run: impl Fn(Isa, *mut T, *const T, usize) + Copy + Sync) {
    let kernel = move |[r, a]: [*mut u8; 2], n: usize| {
        simd(
            #[inline(always)]
            move |isa| run(isa, r.cast(), a.cast_const().cast(), n),
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// [`map1_run`] for two inputs
///
/// # Safety
/// As for [`map1_run`].
#[inline(always)]
pub unsafe fn map2_run<T: Element>(work: &Work<3>, run: impl Fn(Isa, *mut T, [*const T; 2], usize) + Copy + Sync) {
    let kernel = move |[r, a, b]: [*mut u8; 3], n: usize| {
        simd(
            #[inline(always)]
            move |isa| run(isa, r.cast(), [a.cast_const().cast(), b.cast_const().cast()], n),
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// Elements of a piece of [`map1_rare`]: as long as the loops' ends are cheap, and short, since one rare element makes it slow.
const PIECE: usize = 256;

/// `r[i] = f(a[i])`, and `slow(a[i])` where `rare(a[i])`
///
/// # Safety
/// As for [`Work::run`]; the compute types are `U` and `T`.
#[inline(always)]
pub unsafe fn map1_rare<T: Element, U: Element>(
    work: &Work<2>,
    f: impl Fn(Isa, T) -> U + Copy + Sync,
    rare: impl Fn(Isa, T) -> bool + Copy + Sync,
    slow: impl Fn(Isa, T) -> U + Copy + Sync,
) {
    // SAFETY: the engine passes runs of `n` elements.
    let kernel = move |[r, a]: [*mut u8; 2], n: usize| unsafe { run_rare(r.cast::<U>(), a.cast::<T>(), n, f, rare, slow) };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// `r[i] = f(a[i])`, and `slow(a[i])` where `rare(a[i])`
///
/// # Safety
/// `r` and `a` have `n` elements, and are either apart or the same.
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
            for start in (0..n).step_by(PIECE) {
                let piece = start..n.min(start + PIECE);
                // Asked before anything is written, since short runs may lie on their input.
                let mut any = false;
                for i in piece.clone() {
                    // SAFETY: the caller's.
                    any |= rare(isa, unsafe { a.add(i).read() });
                }
                if any {
                    for i in piece {
                        // SAFETY: as above.
                        unsafe {
                            let x = a.add(i).read();
                            r.add(i).write(if rare(isa, x) { slow(isa, x) } else { f(isa, x) });
                        }
                    }
                } else {
                    for i in piece {
                        // SAFETY: as above.
                        unsafe { r.add(i).write(f(isa, a.add(i).read())) }
                    }
                }
            }
        },
    )
}

/// `r[i] = f(a)[i]`, computed in float64, 32 elements at a time
///
/// # Safety
/// As for [`Work::run`]; the compute types are `T`.
#[inline(always)]
pub unsafe fn map1_blocks<T: Element>(work: &Work<2>, f: impl Fn(Isa, &mut [f64; 32]) + Copy + Sync) {
    let kernel = move |[r, a]: [*mut u8; 2], n: usize| {
        let (r, a) = (r.cast::<T>(), a.cast::<T>());
        simd(
            #[inline(always)]
            move |isa| {
                for start in (0..n).step_by(32) {
                    let (len, mut block) = ((n - start).min(32), [1.0; 32]);
                    // SAFETY: the engine passes runs of `n` elements.
                    (0..len).for_each(|i| block[i] = unsafe { a.add(start + i).read() }.to_f64());
                    f(isa, &mut block);
                    // SAFETY: as above.
                    (0..len).for_each(|i| unsafe { r.add(start + i).write(T::from_f64(block[i])) });
                }
            },
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// `r[i] = f(a[i], b[i])`
///
/// # Safety
/// As for [`Work::run`]; the compute types are `U`, `A` and `B`.
#[inline(always)]
pub unsafe fn map2<A: Element, B: Element, U: Element>(work: &Work<3>, f: impl Fn(Isa, A, B) -> U + Copy + Sync) {
    let kernel = move |[r, a, b]: [*mut u8; 3], n: usize| {
        let (r, a, b) = (r.cast::<U>(), a.cast::<A>(), b.cast::<B>());
        simd(
            #[inline(always)]
            move |isa| {
                for i in 0..n {
                    // SAFETY: the engine passes runs of `n` elements.
                    unsafe { r.add(i).write(f(isa, a.add(i).read(), b.add(i).read())) }
                }
            },
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// `r[i] = f(a[i], b[i])`, and `slow(a[i], b[i])` where `rare(a[i], b[i])`
///
/// # Safety
/// As for [`Work::run`]; the compute types are `U`, `A` and `B`.
#[inline(always)]
pub unsafe fn map2_rare<A: Element, B: Element, U: Element>(
    work: &Work<3>,
    f: impl Fn(Isa, A, B) -> U + Copy + Sync,
    rare: impl Fn(Isa, A, B) -> bool + Copy + Sync,
    slow: impl Fn(Isa, A, B) -> U + Copy + Sync,
) {
    let kernel = move |[r, a, b]: [*mut u8; 3], n: usize| {
        let (r, a, b) = (r.cast::<U>(), a.cast::<A>(), b.cast::<B>());
        simd(
            #[inline(always)]
            move |isa| {
                for start in (0..n).step_by(PIECE) {
                    let piece = start..n.min(start + PIECE);
                    let mut any = false;
                    for i in piece.clone() {
                        // SAFETY: the engine passes runs of `n` elements.
                        any |= unsafe { rare(isa, a.add(i).read(), b.add(i).read()) };
                    }
                    if any {
                        for i in piece {
                            // SAFETY: as above.
                            unsafe {
                                let (x, y) = (a.add(i).read(), b.add(i).read());
                                r.add(i).write(if rare(isa, x, y) { slow(isa, x, y) } else { f(isa, x, y) });
                            }
                        }
                    } else {
                        for i in piece {
                            // SAFETY: as above.
                            unsafe { r.add(i).write(f(isa, a.add(i).read(), b.add(i).read())) }
                        }
                    }
                }
            },
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

/// `r[i] = f(a[i], b[i], c[i])`
///
/// # Safety
/// As for [`Work::run`]; the compute types are `U`, `A`, `B` and `C`.
#[inline(always)]
pub unsafe fn map3<A: Element, B: Element, C: Element, U: Element>(work: &Work<4>, f: impl Fn(Isa, A, B, C) -> U + Copy + Sync) {
    let kernel = move |[r, a, b, c]: [*mut u8; 4], n: usize| {
        let (r, a, b, c) = (r.cast::<U>(), a.cast::<A>(), b.cast::<B>(), c.cast::<C>());
        simd(
            #[inline(always)]
            move |isa| {
                for i in 0..n {
                    // SAFETY: the engine passes runs of `n` elements.
                    unsafe { r.add(i).write(f(isa, a.add(i).read(), b.add(i).read(), c.add(i).read())) }
                }
            },
        )
    };
    // SAFETY: the caller's.
    unsafe { work.run(&kernel) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::engine::{CHEAP, COSTLY, Flat, Job};
    use crate::dtype::Dtype::{self, Bfloat16, Bool, Float32};
    use crate::plan::Plan;

    fn run(r: *mut f64, a: *const f64, n: usize) {
        let work = Work::Flat(Flat { n, data: [r.cast(), a.cast_mut().cast()], dtype: [Dtype::Float64; 2], grain: COSTLY });
        let (f, rare, slow) = (
            #[inline(always)]
            |_, x: f64| x + 1.0,
            #[inline(always)]
            |_, x: f64| x < 0.0,
            #[inline(always)]
            |_, x: f64| x * 10.0,
        );
        // SAFETY: the callers pass n doubles each.
        unsafe { map1_rare(&work, f, rare, slow) }
    }

    #[test]
    fn rare_elements_alone_are_computed_slowly() {
        for n in [0, 1, PIECE - 1, PIECE, PIECE + 1, 5000] {
            // The second piece has no rare ones.
            let a: Vec<f64> = (0..n).map(|i| if i / PIECE != 1 && i % 7 == 0 { -1.0 - i as f64 } else { i as f64 }).collect();
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

    #[test]
    fn sixteen_bit_floats_are_converted_piece_by_piece() {
        // The longest comes from beyond the caches.
        for n in [1, 500, 1024, 1500, 400_000] {
            let a: Vec<u16> = (0..n).map(|i| half::bf16::from_f32((i % 200) as f32).to_bits()).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 50) as f32).collect();
            let (mut sum, mut less) = (a.clone(), vec![9u8; n]);
            let job = |r: *mut u8, dtypes: [Dtype; 3], compute: Dtype| {
                let plan = Plan::flat(n, dtypes.map(Dtype::size));
                let data = [r, a.as_ptr() as *mut u8, b.as_ptr() as *mut u8];
                Work::Planned(Box::new(Job { plan, data, dtype: dtypes, compute: [compute, Float32, Float32], grain: CHEAP }))
            };
            let (add, lt) = (
                #[inline(always)]
                |_, x: f32, y: f32| x + y,
                #[inline(always)]
                |_, x: f32, y: f32| crate::dtype::Bool::from_f32(f32::from(u8::from(x < y))),
            );
            // SAFETY: all vectors hold n elements.
            unsafe {
                map2(&job(sum.as_mut_ptr().cast(), [Bfloat16, Bfloat16, Float32], Float32), add);
                map2(&job(less.as_mut_ptr(), [Bool, Bfloat16, Float32], Bool), lt);
            }
            assert!((0..n).all(|i| half::bf16::from_bits(sum[i]).to_f32() == (i % 200 + i % 50) as f32));
            assert!((0..n).all(|i| less[i] == u8::from(i % 200 < i % 50)));
        }
    }
}
