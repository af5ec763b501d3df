//! Kernels of two inputs, of which one is transposed. It is transposed in registers, a square at a time, without a buffer in memory.

use crate::cpu::engine::TransposedTile;
use crate::cpu::simd::Isa;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{Level, simd};
#[cfg(target_arch = "x86_64")]
use crate::cpu::stream::{self, LINE};
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose::{Register, compete, square, steps};
use crate::dtype::Element;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m512i;
#[cfg(target_arch = "x86_64")]
use std::mem::transmute_copy;

/// Distance in squares between the square that is transposed and the square that is prefetched. Inputs whose lines compete for the same
/// sets of the cache are not prefetched: their lines would evict each other before they are needed.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 2;

/// Returns true if [`transposed2`] accepts these types.
pub const fn takes_transposed<A: Element, B: Element, U: Element>() -> bool {
    size_of::<A>() == size_of::<B>() && size_of::<B>() == size_of::<U>() && matches!(size_of::<B>(), 4 | 8)
}

/// [`map2`](super::map2) over a tile.
///
/// # Safety
/// [`takes_transposed`] must be true, and the processor must have AVX-512. The operands must hold the tile, which must be at least a cache
/// line wide and high.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub unsafe fn transposed2<A: Element, B: Element, U: Element>(tile: TransposedTile<3>, f: impl Fn(Isa, A, B) -> U + Copy) {
    #[cfg(target_arch = "x86_64")]
    simd(
        #[inline(always)]
        move |isa| {
            if isa.level() == Level::Avx512 {
                // SAFETY: the caller guarantees the tile and AVX-512.
                unsafe {
                    match const { size_of::<U>() } {
                        4 => squares::<A, B, U, 4, 16>(isa, tile, f),
                        8 => squares::<A, B, U, 2, 8>(isa, tile, f),
                        _ => unreachable!("not of these sizes"),
                    }
                }
            }
        },
    )
}

/// # Safety
/// As for [`transposed2`]; a cache line has L elements, and an `E` is a quarter of a line.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn squares<A: Element, B: Element, U: Element, const E: usize, const L: usize>(
    isa: Isa,
    tile: TransposedTile<3>,
    f: impl Fn(Isa, A, B) -> U + Copy,
) {
    // SAFETY: the caller guarantees the tile and AVX-512.
    unsafe {
        match (tile.how.input, tile.how.past) {
            (1, false) => squares_of::<A, B, U, E, L, 1, false>(isa, tile, f),
            (1, true) => squares_of::<A, B, U, E, L, 1, true>(isa, tile, f),
            (_, false) => squares_of::<A, B, U, E, L, 2, false>(isa, tile, f),
            (_, true) => squares_of::<A, B, U, E, L, 2, true>(isa, tile, f),
        }
    }
}

/// # Safety
/// As for [`squares`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn squares_of<A: Element, B: Element, U: Element, const E: usize, const L: usize, const INPUT: usize, const PAST: bool>(
    isa: Isa,
    tile: TransposedTile<3>,
    f: impl Fn(Isa, A, B) -> U + Copy,
) {
    let (r, transposed, other) = (tile.at[0], tile.at[INPUT], tile.at[3 - INPUT]);
    let size = LINE / L;
    for col in steps(tile.cols, L) {
        for row in steps(tile.rows, L) {
            let ahead = col + AHEAD * L;
            if PAST && ahead < tile.cols {
                for i in 0..L {
                    let (at, column) = ((row + i) as isize * other.row_step, (ahead + i) as isize * transposed.col_step);
                    stream::prefetch(other.data.wrapping_offset(at).wrapping_add(ahead * size), LINE);
                    if !compete(transposed.col_step) {
                        stream::prefetch(transposed.data.wrapping_offset(column).wrapping_add(row * size), LINE);
                    }
                }
            }
            // SAFETY: the caller guarantees the tile, and the square is inside it.
            unsafe {
                square::<E>(
                    transposed.data.offset(col as isize * transposed.col_step).add(row * size),
                    transposed.col_step,
                    #[inline(always)]
                    |i, line| {
                        let (i, at) = ((row + i) as isize, col * size);
                        let beside = __m512i::load(other.data.offset(i * other.row_step).add(at));
                        let (a, b) = if INPUT == 1 { (line, beside) } else { (beside, line) };
                        // `f` gets arrays, for which the compiler chooses the instructions itself.
                        let (a, b): ([A; L], [B; L]) = (transmute_copy(&a), transmute_copy(&b));
                        let mut z = [U::ZERO; L];
                        for l in 0..L {
                            z[l] = f(isa, a[l], b[l]);
                        }
                        let z: __m512i = transmute_copy(&z);
                        let to = r.data.offset(i * r.row_step).add(at);
                        // The last square of a row may begin at any column.
                        if PAST && col.is_multiple_of(L) { z.store::<true>(to) } else { z.store::<false>(to) }
                    },
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cpu::engine::{CHEAP, Job, Work};
    use crate::cpu::map::map2_transposed;
    use crate::cpu::tuning::streams_from;
    use crate::dtype::Element;
    use crate::layout::Layout;
    use crate::plan::Plan;

    /// A matrix with gaps between its rows, and a cache line before the first.
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct CacheLine(#[allow(dead_code)] [u64; 8]);

    struct Case {
        shape: [usize; 2],
        /// Elements from one row of the result to the next.
        row: usize,
        /// Elements between a cache line and the first element of the result.
        offset: usize,
        /// The input that is transposed.
        input: usize,
        in_place: bool,
    }

    impl Case {
        /// Checks `r = a - 2 * b` for small integers.
        fn check<T: Element>(&self) {
            let &Case { shape: [rows, cols], row, offset, input, in_place } = self;
            let line = 64 / size_of::<T>();
            let number = |k: usize, i: usize, j: usize| T::from_i64(((i * (31 + k) + j * 17) % 53) as i64);
            let mut memory = vec![CacheLine([0; 8]); (offset + rows * row).div_ceil(line)];
            let untouched = T::from_i64(99);
            // SAFETY: the lines have room for the elements.
            let r = unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<T>(), offset + rows * row) };
            r.fill(untouched);
            let mut inputs = [1, 2].map(|k| {
                let mut input: Vec<T> = Vec::with_capacity(rows * cols);
                for e in 0..rows * cols {
                    let (i, j) = if k == self.input { (e % rows, e / rows) } else { (e / cols, e % cols) };
                    input.push(number(k, i, j));
                }
                input
            });
            let other = 3 - input;
            if in_place {
                (0..rows * cols).for_each(|e| r[offset + e / cols * row + e % cols] = number(other, e / cols, e % cols));
            }
            let layout = |strides: [usize; 2]| Layout {
                shape: (&[rows as i64, cols as i64][..]).into(),
                strides: (&strides.map(|s| s as i64)[..]).into(),
                offset: 0,
            };
            let mut layouts = [layout([row, 1]), layout([cols, 1]), layout([cols, 1])];
            layouts[input] = layout([1, rows]);
            let result = r[offset..].as_mut_ptr();
            let mut data = [result, inputs[0].as_mut_ptr(), inputs[1].as_mut_ptr()].map(|at| at.cast::<u8>());
            if in_place {
                (layouts[other], data[other]) = (layout([row, 1]), data[0]);
            }
            let plan = Plan::new(layouts.each_ref(), [size_of::<T>(); 3]);
            // SAFETY: the matrices hold the elements.
            let work = Work::Planned(Box::new(unsafe { Job::new(plan, data, [T::DTYPE; 3], [T::DTYPE; 3], CHEAP) }));
            map2_transposed::<T, T, T>(&work, |_, a, b| a.sub(b.add(b)));
            for (e, &got) in r.iter().enumerate() {
                let (i, j) = ((e.max(offset) - offset) / row, (e.max(offset) - offset) % row);
                let two = number(2, i, j);
                let expected = if e < offset || j >= cols { untouched } else { number(1, i, j).sub(two.add(two)) };
                assert!(got == expected, "{:?} {rows} x {cols}, rows {row} apart, offset {offset}, input {input}: {i}, {j}", T::DTYPE);
            }
        }

        fn check_all(&self) {
            self.check::<f32>();
            self.check::<f64>();
            self.check::<i32>();
            self.check::<i64>();
        }
    }

    #[test]
    fn either_input_may_be_transposed() {
        for shape in [[64, 64], [65, 64], [64, 67], [70, 130], [15, 300], [300, 15], [33, 145], [97, 129]] {
            for (input, beside, offset) in [(1, 0, 0), (2, 0, 0), (1, 3, 1), (2, 3, 1)] {
                Case { shape, row: shape[1] + beside, offset, input, in_place: false }.check_all();
            }
        }
    }

    #[test]
    fn in_place_no_element_is_computed_twice() {
        for shape in [[64, 64], [80, 160], [84, 80], [64, 148], [93, 157]] {
            for input in [1, 2] {
                Case { shape, row: shape[1], offset: 0, input, in_place: true }.check_all();
            }
        }
    }

    #[test]
    fn results_past_the_caches() {
        let rows = streams_from().min(64 << 20) / (12 * 1024) + 5;
        for (cols, row, offset) in [(1024, 1024, 0), (1024, 1040, 0), (1019, 1024, 16), (1024, 1024, 1)] {
            for input in [1, 2] {
                Case { shape: [rows, cols], row, offset, input, in_place: false }.check::<f32>();
                Case { shape: [rows / 2, cols], row, offset, input, in_place: false }.check::<i64>();
            }
        }
        Case { shape: [rows / 16 * 16, 1024], row: 1024, offset: 0, input: 2, in_place: true }.check::<f32>();
    }

    #[test]
    fn matrices_past_the_caches_may_begin_anywhere() {
        const COLS: usize = 1024;
        let rows = streams_from().min(64 << 20) / (24 * COLS) + 5;
        let shape = [2, rows as i64, COLS as i64];
        let (each, stride) = ((rows * COLS) as i64, (rows * COLS) as i64 + 1);
        let layout = |strides: &[i64]| Layout { shape: (&shape[..]).into(), strides: strides.into(), offset: 0 };
        let layouts = [layout(&[stride, COLS as i64, 1]), layout(&[each, COLS as i64, 1]), layout(&[each, 1, rows as i64])];
        let (a, b): (Vec<f32>, Vec<f32>) = (0..2 * rows * COLS).map(|e| ((e % 8191) as f32, (e % 1021) as f32)).unzip();
        let mut lines = vec![CacheLine([0; 8]); (2 * rows * COLS + 1).div_ceil(16)];
        let r = lines.as_mut_ptr().cast::<f32>();
        let data = [r.cast(), a.as_ptr().cast_mut().cast(), b.as_ptr().cast_mut().cast()];
        let plan = Plan::new(layouts.each_ref(), [4; 3]);
        // SAFETY: the matrices hold the elements.
        let work = Work::Planned(Box::new(unsafe { Job::new(plan, data, [f32::DTYPE; 3], [f32::DTYPE; 3], CHEAP) }));
        map2_transposed::<f32, f32, f32>(&work, |_, a, b| a - b);
        for e in 0..2 * rows * COLS {
            let (matrix, i, j) = (e / (rows * COLS), e / COLS % rows, e % COLS);
            // SAFETY: the lines hold the elements.
            let got = unsafe { *r.add(matrix * stride as usize + i * COLS + j) };
            assert!(got == a[e] - b[matrix * rows * COLS + j * rows + i], "{matrix}, {i}, {j}");
        }
    }
}
