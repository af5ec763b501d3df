//! Loops over chunks, each one cache line or a few. A chunk is read whole before it is written, so the result may alias an input. One loop
//! goes over all rows, so short rows cost little more than their elements.

use crate::cpu::engine::{CHUNK, Rows, lanes};
use crate::cpu::simd::{Isa, opaque};
use crate::dtype::Element;
use std::mem::MaybeUninit;

/// Calls `$body` with the number of elements in a chunk.
macro_rules! for_chunks_of {
    ($($T:ty)+, $L:ident => $body:expr) => {
        match const { lanes(&[$(size_of::<$T>()),+]) } {
            64 => for_chunks_of!(@ 64, $L => $body),
            32 => for_chunks_of!(@ 32, $L => $body),
            16 => for_chunks_of!(@ 16, $L => $body),
            _ => for_chunks_of!(@ 8, $L => $body),
        }
    };
    (@ $lanes:literal, $L:ident => $body:expr) => {{
        const $L: usize = $lanes;
        $body
    }};
}

/// [`map1`](super::map1) over rows.
///
/// # Safety
/// The operands must hold the rows; the result must be either disjoint from an input or the same memory.
#[inline(always)]
pub unsafe fn chunks1<T: Element, U: Element, const COMPACT: bool>(isa: Isa, rows: &Rows<2>, f: impl Fn(Isa, T) -> U + Copy) {
    // SAFETY: the caller guarantees the operands, and `each_chunk` passes whole chunks.
    for_chunks_of!(T U, L => unsafe {
        each_chunk::<2, L, U, COMPACT>(
            rows,
            [size_of::<U>(), size_of::<T>()],
            #[inline(always)]
            |[_, a]| f(isa, read(a)),
            #[inline(always)]
            |[_, a]| {
                let (x, mut y): ([T; L], _) = (read(a), [U::ZERO; L]);
                for i in 0..L {
                    y[i] = f(isa, x[i]);
                }
                y
            },
        )
    })
}

/// [`map2`](super::map2) over rows.
///
/// # Safety
/// As for [`chunks1`].
#[inline(always)]
pub unsafe fn chunks2<A: Element, B: Element, U: Element, const COMPACT: bool>(
    isa: Isa,
    rows: &Rows<3>,
    f: impl Fn(Isa, A, B) -> U + Copy,
) {
    // SAFETY: the caller guarantees the operands, and `each_chunk` passes whole chunks.
    for_chunks_of!(A B U, L => unsafe {
        each_chunk::<3, L, U, COMPACT>(
            rows,
            [size_of::<U>(), size_of::<A>(), size_of::<B>()],
            #[inline(always)]
            |[_, a, b]| f(isa, read(a), read(b)),
            #[inline(always)]
            |[_, a, b]| {
                let (x, y, mut z): ([A; L], [B; L], _) = (read(a), read(b), [U::ZERO; L]);
                for i in 0..L {
                    z[i] = f(isa, x[i], y[i]);
                }
                z
            },
        )
    })
}

/// [`map3`](super::map3) over rows.
///
/// # Safety
/// As for [`chunks1`].
#[inline(always)]
pub unsafe fn chunks3<A: Element, B: Element, C: Element, U: Element, const COMPACT: bool>(
    isa: Isa,
    rows: &Rows<4>,
    f: impl Fn(Isa, A, B, C) -> U + Copy,
) {
    // SAFETY: the caller guarantees the operands, and `each_chunk` passes whole chunks.
    for_chunks_of!(A B C U, L => unsafe {
        each_chunk::<4, L, U, COMPACT>(
            rows,
            [size_of::<U>(), size_of::<A>(), size_of::<B>(), size_of::<C>()],
            #[inline(always)]
            |[_, a, b, c]| f(isa, read(a), read(b), read(c)),
            #[inline(always)]
            |[_, a, b, c]| {
                let (x, y, z, mut w): ([A; L], [B; L], [C; L], _) = (read(a), read(b), read(c), [U::ZERO; L]);
                for i in 0..L {
                    w[i] = f(isa, x[i], y[i], z[i]);
                }
                w
            },
        )
    })
}

/// A buffer for a chunk of each operand.
#[repr(align(64))]
struct Chunks<const N: usize>([[MaybeUninit<u64>; CHUNK]; N]);

/// Calls `chunk` for each chunk of the rows. The last chunk of a row may overlap the one before, so it is computed before any chunk is
/// written. Inputs with one value for each row are passed to `chunk` as a chunk of copies. Rows shorter than a chunk are computed by `one`,
/// element by element. If `COMPACT`, the code has a single copy of `chunk`, and short rows go through buffers.
///
/// # Safety
/// The operands must hold the rows, of elements of `size` bytes. The closures must read only one element or one chunk of each operand.
#[inline(always)]
unsafe fn each_chunk<const N: usize, const L: usize, U: Element, const COMPACT: bool>(
    rows: &Rows<N>,
    size: [usize; N],
    one: impl Fn([*mut u8; N]) -> U,
    chunk: impl Fn([*mut u8; N]) -> [U; L],
) {
    let (mut row, mut copies) = (rows.at, Chunks([[MaybeUninit::uninit(); CHUNK]; N]));
    let (short, last) = (rows.cols < L, rows.cols.saturating_sub(L));
    let any_scalar = (1..N).any(|k| rows.row_scalar[k]);
    if COMPACT && rows.cols == 0 {
        return;
    }
    for _ in 0..rows.rows {
        let mut at = row;
        // SAFETY: the caller guarantees the rows. A row has at least a chunk where a whole chunk is read.
        unsafe {
            if short && !COMPACT {
                let end = row[0].add(rows.cols * size[0]);
                while at[0] < end {
                    at[0].cast::<U>().write_unaligned(one(at));
                    advance(&mut at, size, rows.row_scalar, 1);
                }
            } else {
                if any_scalar || (short && COMPACT) {
                    for k in 1..N {
                        if rows.row_scalar[k] || (short && COMPACT) {
                            at[k] = copies.0[k].as_mut_ptr().cast();
                            fill_chunk::<L>(size[k], at[k], row[k]);
                        }
                        if COMPACT && short && !rows.row_scalar[k] {
                            at[k].copy_from_nonoverlapping(row[k], rows.cols * size[k]);
                        }
                    }
                }
                if COMPACT && short {
                    at[0] = copies.0[0].as_mut_ptr().cast();
                }
                let mut end = at;
                advance(&mut end, size, rows.row_scalar, last);
                if COMPACT {
                    // The compiler must not know that the loop begins at the end, since it would copy `chunk`.
                    let (mut now, mut rest) = (end, [U::ZERO; L]);
                    now[0] = opaque(now[0]).cast_mut();
                    loop {
                        let y = chunk(now);
                        if now[0] == end[0] {
                            (now, rest) = (at, y);
                        } else {
                            now[0].cast::<[U; L]>().write_unaligned(y);
                            advance(&mut now, size, rows.row_scalar, L);
                        }
                        if now[0] >= end[0] {
                            break;
                        }
                    }
                    end[0].cast::<[U; L]>().write_unaligned(rest);
                    if short {
                        row[0].copy_from_nonoverlapping(end[0], rows.cols * size[0]);
                    }
                } else {
                    let rest = chunk(end);
                    while at[0] < end[0] {
                        at[0].cast::<[U; L]>().write_unaligned(chunk(at));
                        advance(&mut at, size, rows.row_scalar, L);
                    }
                    end[0].cast::<[U; L]>().write_unaligned(rest);
                }
            }
        }
        for k in 0..N {
            row[k] = row[k].wrapping_offset(rows.step[k]);
        }
    }
}

/// Advances all operands by `n` elements, except inputs with one value for each row. The compiler must not know how far the result is
/// advanced, since it would merge several chunks and gather their elements.
#[inline(always)]
fn advance<const N: usize>(at: &mut [*mut u8; N], size: [usize; N], row_scalar: [bool; N], n: usize) {
    at[0] = opaque(at[0].wrapping_add(n * size[0])).cast_mut();
    for k in 1..N {
        at[k] = at[k].wrapping_add(if row_scalar[k] { 0 } else { n * size[k] });
    }
}

/// Writes `L` copies of the element of `size` bytes at `value`.
///
/// # Safety
/// `value` must be an element, and `dst` must have room for `L`.
#[inline(always)]
unsafe fn fill_chunk<const L: usize>(size: usize, dst: *mut u8, value: *const u8) {
    // SAFETY: the caller guarantees the element and the room.
    unsafe {
        match size {
            1 => dst.cast::<[u8; L]>().write([read::<u8>(value); L]),
            2 => dst.cast::<[u16; L]>().write([read::<u16>(value); L]),
            4 => dst.cast::<[u32; L]>().write([read::<u32>(value); L]),
            _ => dst.cast::<[u64; L]>().write([read::<u64>(value); L]),
        }
    }
}

/// # Safety
/// `at` must be the address of a `T`, of any alignment.
#[inline(always)]
unsafe fn read<T>(at: *const u8) -> T {
    // SAFETY: the caller guarantees a `T` at `at`. The read is unaligned, since foreign memory may be.
    unsafe { at.cast::<T>().read_unaligned() }
}

#[cfg(test)]
mod tests {
    use crate::cpu::engine::{CHEAP, Job, Work};
    use crate::cpu::map::{map1, map2, map3};
    use crate::dtype::{Bool, Dtype, Element};
    use crate::layout::Layout;
    use crate::plan::Plan;

    /// Elements in the gap between two rows of the tested operands.
    const APART: usize = 7;

    fn layout(shape: [usize; 2], strides: [usize; 2]) -> Layout {
        let [shape, strides] = [shape, strides].map(|two| two.map(|n| n as i64));
        Layout { shape: (&shape[..]).into(), strides: (&strides[..]).into(), offset: 0 }
    }

    fn work<const N: usize>(shape: [usize; 2], strides: [[usize; 2]; N], data: [*mut u8; N], types: [Dtype; N]) -> Work<N> {
        let layouts = strides.map(|strides| layout(shape, strides));
        let plan = Plan::new(layouts.each_ref(), types.map(Dtype::size));
        // SAFETY: the callers' vectors hold the elements.
        Work::Planned(Box::new(unsafe { Job::new(plan, data, types, types, CHEAP) }))
    }

    fn number<T: Element>(i: usize) -> T {
        T::from_i64((i * 37 % 61) as i64)
    }

    /// Checks `r = a - 2 b`, where an input is a matrix, a row, a column or a number, and the result may alias either.
    fn check<T: Element>(rows: usize, cols: usize) {
        let stride = cols + APART;
        let kinds = [[stride, 1], [0, 1], [1, 0], [0, 0]];
        for (a_strides, b_strides) in kinds.iter().flat_map(|a| kinds.iter().map(move |b| (*a, *b))) {
            for lies_on in [None, Some(0), Some(1)].into_iter().filter(|on| on.is_none_or(|k| [a_strides, b_strides][k] == kinds[0])) {
                let mut inputs: [Vec<T>; 2] = [0, 1].map(|k| (0..rows * stride).map(|i| number(i + 5 * k)).collect());
                let expected: Vec<T> = (0..rows * cols)
                    .map(|e| {
                        let at = |k: usize, s: [usize; 2]| inputs[k][e / cols * s[0] + e % cols * s[1]];
                        at(0, a_strides).sub(at(1, b_strides).add(at(1, b_strides)))
                    })
                    .collect();
                let mut own = vec![number::<T>(3); rows * stride];
                let before: Vec<T> = lies_on.map_or(own.clone(), |k| inputs[k].clone());
                let [a, b] = inputs.each_mut().map(|v| v.as_mut_ptr().cast::<u8>());
                let r = lies_on.map_or(own.as_mut_ptr().cast(), |k: usize| [a, b][k]);
                let work = work([rows, cols], [kinds[0], a_strides, b_strides], [r, a, b], [T::DTYPE; 3]);
                map2::<T, T, T>(&work, |_, a, b| a.sub(b.add(b)));
                let result = lies_on.map_or(&own, |k| &inputs[k]);
                for (i, &found) in result.iter().enumerate() {
                    let (row, col) = (i / stride, i % stride);
                    let wanted = if col < cols { expected[row * cols + col] } else { before[i] };
                    assert!(found == wanted, "{:?} {rows} x {cols}, {a_strides:?} {b_strides:?}, on {lies_on:?}: {row}, {col}", T::DTYPE);
                }
            }
        }
    }

    #[test]
    fn rows_of_any_length_and_inputs_of_any_kind() {
        for cols in (1..70).chain([100, 127, 128, 300, 4099]) {
            for rows in [1, 3, 300 / cols + 2] {
                check::<u8>(rows, cols);
                check::<i16>(rows, cols);
                check::<f32>(rows, cols);
                check::<f64>(rows, cols);
            }
        }
    }

    #[test]
    fn elements_of_different_sizes() {
        for cols in (1..70).chain([100, 300, 5000]) {
            let (rows, stride) = (600 / cols + 2, cols + APART);
            let (a, b): (Vec<f64>, Vec<f64>) = (0..rows * stride).map(|i| (number::<f64>(i), number::<f64>(i + 9))).unzip();
            let (mut less, mut chosen) = (vec![9u8; rows * stride], vec![-1.0; rows * stride]);
            let [x, y] = [&a, &b].map(|v| v.as_ptr().cast_mut().cast::<u8>());
            let (m, r) = (less.as_mut_ptr(), chosen.as_mut_ptr().cast());
            let strides = [stride, 1];
            let compare = work([rows, cols], [strides, strides, [1, 0]], [m, x, y], [Bool::DTYPE, f64::DTYPE, f64::DTYPE]);
            map2::<f64, f64, Bool>(&compare, |_, a, b| Bool::from(a < b));
            let types = [f64::DTYPE, Bool::DTYPE, f64::DTYPE, f64::DTYPE];
            let choose = work([rows, cols], [strides, strides, strides, [0, 1]], [r, m, x, y], types);
            map3::<Bool, f64, f64, f64>(&choose, |_, c, a, b| if c.get() { a } else { b });
            for (i, (&less, &chosen)) in less.iter().zip(&chosen).enumerate() {
                let (row, col) = (i / stride, i % stride);
                let is_less = a[i] < b[row];
                let wanted = if col < cols { (u8::from(is_less), if is_less { a[i] } else { b[col] }) } else { (9, -1.0) };
                assert!((less, chosen) == wanted, "{rows} x {cols}: {row}, {col}");
            }
        }
    }

    #[test]
    fn the_result_on_all_inputs() {
        for cols in (1..70).chain([1000, 5000]) {
            let (rows, stride) = (2000 / cols + 1, cols + APART);
            let mut a: Vec<i32> = (0..rows * stride).map(number).collect();
            let before = a.clone();
            let data = a.as_mut_ptr().cast();
            map2::<i32, i32, i32>(&work([rows, cols], [[stride, 1]; 3], [data; 3], [i32::DTYPE; 3]), |_, x, y| 2 * x + y);
            map3::<i32, i32, i32, i32>(&work([rows, cols], [[stride, 1]; 4], [data; 4], [i32::DTYPE; 4]), |_, x, y, z| x + y - 3 * z);
            let wanted = |i: usize| if i % stride < cols { -3 * before[i] } else { before[i] };
            assert!(a.iter().enumerate().all(|(i, &x)| x == wanted(i)), "{rows} x {cols}");
        }
    }

    #[test]
    fn one_input_in_place() {
        for cols in (1..70).chain([1000, 5000, 100_003]) {
            let (rows, stride) = (2000 / cols + 1, cols + APART);
            let mut a: Vec<i32> = (0..rows * stride).map(number).collect();
            let before = a.clone();
            let data = a.as_mut_ptr().cast();
            map1::<i32, i32>(&work([rows, cols], [[stride, 1]; 2], [data; 2], [i32::DTYPE; 2]), |_, x| 3 * x + 1);
            let wanted = |i: usize| if i % stride < cols { 3 * before[i] + 1 } else { before[i] };
            assert!(a.iter().enumerate().all(|(i, &x)| x == wanted(i)), "{rows} x {cols}");
        }
    }
}
