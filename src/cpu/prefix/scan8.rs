//! Running sums and products of eight lines of float32 at once.
//!
//! A square of 8 x 8 elements is transposed in registers, so that a register holds one element of every line. These registers are added to
//! eight totals one after the other, and the results are transposed back. That is cheaper than sums within a register, and rounds as one
//! element after the other.

use crate::cpu::lines::Stack;
use crate::cpu::simd::{Level, level, simd_at};
use crate::cpu::stream;
use crate::cpu::tuning::SCANNED_LONGEST;
use crate::cpu::vector::{F32x8, F64x4, F64x8, Float64s, Pair, Register};

/// The number of lines processed together, and of elements of each.
const SIDE: usize = 8;
/// The number of elements in a cache line.
const PER_LINE: usize = stream::LINE / size_of::<f32>();

/// Returns the number of lines of `n` elements that are processed together: one if that is as fast.
pub fn batch(n: usize) -> usize {
    batch_at(level(), n)
}

fn batch_at(level: Level, n: usize) -> usize {
    if level == Level::Baseline || (level == Level::Avx512 && n > SCANNED_LONGEST) { 1 } else { SIDE }
}

/// Computes the totals of eight lines, from the first of the stack on.
///
/// # Safety
/// The lines must hold `n` elements, and results must not overlap anything; the processor must have the registers.
#[inline(always)]
unsafe fn lines<V: Float64s<Narrow = F32x8>, const PRODUCT: bool>(s: Stack) {
    let x = |k: usize| s.x.wrapping_offset(k as isize * s.x_step).cast::<f32>();
    let out = |k: usize| s.out[0].wrapping_offset(k as isize * s.out_step[0]).cast::<f32>();
    let whole = s.n / SIDE * SIDE;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let mut totals = V::all(if PRODUCT { 1.0 } else { 0.0 });
        for at in (0..whole).step_by(SIDE) {
            if at % PER_LINE == 0 {
                (0..SIDE).for_each(|k| stream::prefetch_near(x(k + SIDE).wrapping_add(at).cast(), 1));
            }
            let mut rows = [F32x8::all(0.0); SIDE];
            for k in 0..SIDE {
                rows[k] = F32x8::load(x(k).add(at));
            }
            let mut columns = F32x8::transposed(rows);
            for column in &mut columns {
                totals = if PRODUCT { totals * V::of(*column) } else { totals + V::of(*column) };
                *column = totals.narrow();
            }
            let rows = F32x8::transposed(columns);
            for k in 0..SIDE {
                rows[k].store(out(k).add(at));
            }
        }
        let mut each = [0.0; SIDE];
        totals.store(each.as_mut_ptr());
        for at in whole..s.n {
            for k in 0..SIDE {
                let x = f64::from(x(k).add(at).read());
                each[k] = if PRODUCT { each[k] * x } else { each[k] + x };
                out(k).add(at).write(each[k] as f32);
            }
        }
    }
}

/// Computes the running sums or products of lines of float32. Returns the number of lines that are done, from the first on.
///
/// # Safety
/// The lines and results must exist as `s` says; results must not overlap anything.
pub unsafe fn run<const PRODUCT: bool>(s: Stack) -> usize {
    // SAFETY: the caller keeps this function's contract.
    unsafe { run_at::<PRODUCT>(level(), s) }
}

/// # Safety
/// As for [`run`]; the machine has the level.
unsafe fn run_at<const PRODUCT: bool>(level: Level, s: Stack) -> usize {
    if batch_at(level, s.n) == 1 {
        return 0;
    }
    let done = s.count / SIDE * SIDE;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        simd_at(
            level,
            #[inline(always)]
            move |isa| {
                for k in (0..done).step_by(SIDE) {
                    let s = s.lines(k, SIDE);
                    if isa.level() == Level::Avx512 { lines::<F64x8, PRODUCT>(s) } else { lines::<Pair<F64x4>, PRODUCT>(s) }
                }
            },
        )
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    /// Compares `count` lines of `n` elements with one element after the other. Inputs and results have `gaps` elements of other values
    /// between lines.
    fn check<const PRODUCT: bool>(level: Level, n: usize, count: usize, gaps: [usize; 2], x: impl Fn(usize) -> f32) {
        let [step, out_step] = gaps.map(|gap| n + gap);
        let x: Vec<f32> = (0..count * step).map(x).collect();
        let mut out = vec![-7f32; count * out_step];
        let (data, out_steps) = ([out.as_mut_ptr().cast(), null_mut()], [4 * out_step as isize, 0]);
        let s = Stack { out: data, out_step: out_steps, x: x.as_ptr().cast(), x_step: 4 * step as isize, n, count };
        // SAFETY: the vectors have these lengths, and the processor has the level.
        let done = unsafe { run_at::<PRODUCT>(level, s) };
        assert_eq!(done, count / SIDE * SIDE);
        for k in 0..count {
            let mut total = if PRODUCT { 1.0 } else { 0.0 };
            for i in 0..out_step {
                if i < n {
                    let x = f64::from(x[k * step + i]);
                    total = if PRODUCT { total * x } else { total + x };
                }
                let (got, right) = (out[k * out_step + i], if k < done && i < n { total as f32 } else { -7.0 });
                let same = got.to_bits() == right.to_bits() || (got.is_nan() && right.is_nan());
                assert!(same, "{level:?}, {n} x {count}, gaps {gaps:?}: {got}, not {right}, at {k}, {i}");
            }
        }
    }

    #[test]
    fn eight_lines_are_totalled_as_one_after_the_other() {
        for level in [Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= level()) {
            for n in [0, 1, 7, 8, 9, 16, 23, 64, 100, 1000] {
                for (count, gaps) in [(7, [0, 0]), (8, [0, 0]), (8, [3, 1]), (17, [0, 2])] {
                    check::<false>(level, n, count, gaps, |i| (i as f32 * 0.7).sin());
                    check::<true>(level, n, count, gaps, |i| 1.0 + (i as f32 * 0.7).sin() / 2.0);
                    check::<false>(level, n, count, gaps, |i| [f32::INFINITY, 3e38, -3e38, f32::NAN, -0.0][i * i % 97 % 5]);
                }
            }
        }
    }

    #[test]
    fn long_lines_are_left_to_the_caller_where_a_line_at_a_time_is_quick() {
        assert_eq!([Level::Baseline, Level::Avx2, Level::Avx512].map(|level| batch_at(level, SCANNED_LONGEST)), [1, SIDE, SIDE]);
        assert_eq!([Level::Baseline, Level::Avx2, Level::Avx512].map(|level| batch_at(level, SCANNED_LONGEST + 1)), [1, SIDE, 1]);
        let n = SCANNED_LONGEST + 1;
        let (x, mut out) = (vec![1f32; 8 * n], vec![0f32; 8 * n]);
        let (data, step) = ([out.as_mut_ptr().cast(), null_mut()], 4 * n as isize);
        let s = Stack { out: data, out_step: [step, 0], x: x.as_ptr().cast(), x_step: step, n, count: 8 };
        for level in [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= level()) {
            // SAFETY: the vectors have these lengths, and the processor has the level.
            assert_eq!(unsafe { run_at::<false>(level, s) }, if level == Level::Avx2 { 8 } else { 0 });
        }
        assert_eq!(out[n - 1], if level() >= Level::Avx2 { n as f32 } else { 0.0 });
    }
}
