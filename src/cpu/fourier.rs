//! Fourier transforms of lines, with the plans of rustfft and realfft; complex numbers are pairs of floats.

use super::scratch::{Elements, ThreadScratch};
use super::transpose::transpose;
use crate::alloc;
use crate::cpu::tuning::{FOURIER_GATHERED, FOURIER_PART};
use crate::dtype::{Element, dispatch};
use crate::error::{Error, Kind, Result};
use crate::launch::{Fourier, Transform};
use crate::operand::Operand;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Arc, Mutex};

/// The minimum and maximum number of lines that are gathered together: a cache line, and no more than pays.
const LINES: (usize, usize) = (4, 16);
/// Bytes between gathered lines.
const APART: usize = 64;
/// The maximum number of elements for which plans are kept, all plans together.
const KEPT: usize = 2 << 20;
/// The maximum number of complex numbers that planning needs: for each element, and in addition. 10.6 for each element were measured with
/// 524287 elements.
const PLANNED: (usize, usize) = (12, 4096);

/// The transform that a plan computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Forward,
    Inverse,
    FromReal,
    ToReal,
}

/// A plan, which takes longer to make than to use.
enum Plan<T: Float> {
    /// The transform of complex lines.
    Complex(Arc<dyn Fft<T>>),
    /// The transform of real lines to the first halves of complex lines.
    FromReal(Arc<dyn RealToComplex<T>>),
    /// The inverse of `FromReal`.
    ToReal(Arc<dyn ComplexToReal<T>>),
}

impl<T: Float> Clone for Plan<T> {
    fn clone(&self) -> Self {
        match self {
            Plan::Complex(plan) => Plan::Complex(plan.clone()),
            Plan::FromReal(plan) => Plan::FromReal(plan.clone()),
            Plan::ToReal(plan) => Plan::ToReal(plan.clone()),
        }
    }
}

/// A plan that is kept for later calls.
struct Kept<T: Float> {
    sort: Sort,
    len: usize,
    plan: Plan<T>,
    /// The memory of the plan in bytes.
    bytes: usize,
}

impl<T: Float> Drop for Kept<T> {
    fn drop(&mut self) {
        alloc::keep(-(self.bytes as i64), give_up);
    }
}

/// The kept plans, the most recent at the end. No thread waits for the mutex, so a child of `fork` that finds it locked makes new plans.
type Plans<T> = Mutex<Vec<Kept<T>>>;

/// Drops all plans. A list that another thread uses is left unchanged.
fn give_up() {
    fn empty<T: Float>() {
        // The plans are dropped after the lock is released.
        let plans = T::plans().try_lock().map(|mut plans| std::mem::take(&mut *plans));
        drop(plans);
    }
    empty::<f32>();
    empty::<f64>();
}

/// The float types that transforms are computed in.
trait Float: Element + FftNum {
    /// Returns the kept plans of this type.
    fn plans() -> &'static Plans<Self>;
}

macro_rules! floats {
    ($($T:ident)*) => { $(
        impl Float for $T {
            fn plans() -> &'static Plans<$T> {
                static PLANS: Plans<$T> = Mutex::new(Vec::new());
                &PLANS
            }
        }
    )* };
}
floats!(f32 f64);

/// Transforms the signals of a row-major input.
pub fn launch(work: &Fourier<'_>, out: &Operand, input: &Operand) -> Result<()> {
    // SAFETY: both are row-major and inside their storages, and do not overlap.
    dispatch!(float, out.dtype, T => unsafe { transform::<T>(work, out, input) })
}

/// Plans the transforms of all dimensions, and then computes them: the last dimension from the input to the result, the others in place on
/// the complex side.
///
/// # Safety
/// The operands must be of `T`, row-major, as large as `work` says, and must not overlap. No other thread may access them.
unsafe fn transform<T: Float>(work: &Fourier<'_>, out: &Operand, input: &Operand) -> Result<()> {
    let Some((&last, before)) = work.signal.split_last() else { return Ok(()) };
    let last = last as usize;
    let complex = |t: &Operand| t.first().cast::<Complex<T>>();
    let (one, factor) = (T::one(), <T as Element>::from_f64(work.factor));
    // The dimension that is transformed last multiplies by the factor.
    let (first, then) = if before.is_empty() { (factor, one) } else { (one, factor) };
    let kind = match work.transform {
        Transform::Forward => Sort::Forward,
        Transform::Inverse => Sort::Inverse,
        Transform::FromReal => Sort::FromReal,
        Transform::ToReal => {
            // The size of the input's last dimension, in complex numbers.
            let given = input.layout().shape[input.layout().ndim() - 2] as usize;
            let lines = out.layout().numel() as usize / last;
            let columns = Columns::<T>::new(before, lines * given, given, true)?;
            let plan = Plan::find(Sort::ToReal, last)?;
            let scratch = plan.scratch_for_lines(lines)?;
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                columns.run(complex(input), one);
                plan.run_to_real(&scratch, out.first().cast(), complex(input), given, lines, factor);
            }
            return Ok(());
        }
    };
    let numbers = if kind == Sort::FromReal { last / 2 + 1 } else { last };
    let total = out.layout().numel() as usize / 2;
    let columns = Columns::<T>::new(before, total, numbers, kind == Sort::Inverse)?;
    let plan = Plan::find(kind, last)?;
    let scratch = plan.scratch_for_lines(total / numbers)?;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        match kind {
            Sort::FromReal => plan.run_from_real(&scratch, complex(out), input.first().cast(), total / numbers, first),
            _ => plan.run(&scratch, complex(out), complex(input), total / numbers, first),
        }
        columns.run(complex(out), then);
    }
    Ok(())
}

/// The transforms of all dimensions of a signal except the last: transforms of columns of matrices.
struct Columns<'a, T: Float> {
    /// The sizes of these dimensions.
    signal: &'a [i64],
    /// The number of complex numbers in all signals.
    total: usize,
    /// The number of complex numbers in the last dimension.
    last: usize,
    /// A plan for each dimension, and its scratch memory.
    steps: Vec<(Plan<T>, ThreadScratch)>,
}

impl<'a, T: Float> Columns<'a, T> {
    fn new(signal: &'a [i64], total: usize, last: usize, inverse: bool) -> Result<Columns<'a, T>> {
        let steps = alloc::list(signal.len(), |k| {
            let n = signal[k] as usize;
            let columns = signal[k + 1..].iter().product::<i64>() as usize * last;
            let plan = Plan::find(if inverse { Sort::Inverse } else { Sort::Forward }, n)?;
            let scratch = plan.scratch_for_columns(total / columns / n, columns)?;
            Ok((plan, scratch))
        })?;
        Ok(Columns { signal, total, last, steps })
    }

    /// Transforms all dimensions in place, and multiplies by `factor` if there are any.
    ///
    /// # Safety
    /// The numbers must exist, and no other thread may access them.
    unsafe fn run(&self, r: *mut Complex<T>, factor: T) {
        let mut inner = self.last;
        for (k, (plan, scratch)) in self.steps.iter().enumerate().rev() {
            let n = self.signal[k] as usize;
            let factor = if k == 0 { factor } else { T::one() };
            // SAFETY: the caller keeps this function's contract.
            unsafe { plan.run_columns(scratch, r, self.total / inner / n, inner, factor) };
            inner *= n;
        }
    }
}

impl<T: Float> Plan<T> {
    /// Returns a kept plan, or a new one. If another thread uses the list, this thread does not wait, because that thread may be one that
    /// does not exist in the child of a fork.
    fn find(sort: Sort, n: usize) -> Result<Plan<T>> {
        if let Ok(plans) = T::plans().try_lock()
            && let Some(kept) = plans.iter().find(|kept| (kept.sort, kept.len) == (sort, n))
        {
            return Ok(kept.plan.clone());
        }
        let numbers = n.saturating_mul(PLANNED.0).saturating_add(PLANNED.1);
        // The planner cannot handle a failed allocation, so its memory is reserved first.
        let planned = alloc::provided(numbers.saturating_mul(size_of::<Complex<T>>()), || match sort {
            Sort::Forward => Plan::Complex(FftPlanner::new().plan_fft(n, FftDirection::Forward)),
            Sort::Inverse => Plan::Complex(FftPlanner::new().plan_fft(n, FftDirection::Inverse)),
            Sort::FromReal => Plan::FromReal(RealFftPlanner::new().plan_fft_forward(n)),
            Sort::ToReal => Plan::ToReal(RealFftPlanner::new().plan_fft_inverse(n)),
        });
        let (plan, held) = planned.ok_or_else(no_memory)?;
        if n <= KEPT
            && !alloc::keeps_nothing()
            && let Some(bytes) = held
            && let Ok(mut plans) = T::plans().try_lock()
        {
            while !plans.is_empty() && plans.iter().map(|kept| kept.len).sum::<usize>() + n > KEPT {
                plans.remove(0);
            }
            alloc::keep(bytes as i64, give_up);
            plans.push(Kept { sort, len: n, plan: plan.clone(), bytes });
        }
        Ok(plan)
    }

    /// Returns the number of elements in a line.
    fn len(&self) -> usize {
        match self {
            Plan::Complex(plan) => plan.len(),
            Plan::FromReal(plan) => plan.len(),
            Plan::ToReal(plan) => plan.len(),
        }
    }

    /// Returns scratch memory for `lines` contiguous lines. Real transforms overwrite their input, so they work on a copy of the line or of
    /// its half.
    fn scratch_for_lines(&self, lines: usize) -> Result<ThreadScratch> {
        let numbers = match self {
            Plan::Complex(plan) => plan.get_immutable_scratch_len(),
            Plan::FromReal(plan) => plan.get_scratch_len() + self.len() / 2 + 1,
            Plan::ToReal(plan) => plan.get_scratch_len() + self.len() / 2 + 1,
        };
        let bytes = numbers.checked_mul(size_of::<Complex<T>>());
        bytes.and_then(|bytes| ThreadScratch::new(bytes, self.parts(lines))).ok_or_else(no_memory)
    }

    /// Returns scratch memory for [`Plan::run_columns`].
    fn scratch_for_columns(&self, blocks: usize, columns: usize) -> Result<ThreadScratch> {
        let scratch = if let Plan::Complex(plan) = self { plan.get_inplace_scratch_len() } else { 0 };
        let batch = self.batch(columns);
        let numbers = self.pitch().checked_mul(batch).and_then(|n| n.checked_add(scratch));
        let bytes = numbers.and_then(|n| n.checked_mul(size_of::<Complex<T>>()));
        bytes.and_then(|bytes| ThreadScratch::new(bytes, blocks * columns.div_ceil(batch))).ok_or_else(no_memory)
    }

    /// Returns the complex numbers from one gathered line to the next. Lines a power of two apart would evict each other from the cache.
    fn pitch(&self) -> usize {
        self.len().saturating_add(APART / size_of::<Complex<T>>())
    }

    /// Returns the number of lines of `columns` that are gathered at a time.
    fn batch(&self, columns: usize) -> usize {
        (FOURIER_GATHERED / self.len()).clamp(LINES.0, LINES.1).min(columns)
    }

    /// Returns the number of lines in a part.
    fn lines_of_part(&self) -> usize {
        (FOURIER_PART / self.len()).max(1)
    }

    /// Returns the number of parts of contiguous lines.
    fn parts(&self, lines: usize) -> usize {
        lines.div_ceil(self.lines_of_part())
    }

    /// Transforms `lines` complex lines of `x` to `r`, and multiplies them by `factor`.
    ///
    /// # Safety
    /// Both sides must have as many lines and not overlap. No other thread may access `r`.
    unsafe fn run(&self, scratch: &ThreadScratch, r: *mut Complex<T>, x: *const Complex<T>, lines: usize, factor: T) {
        let Plan::Complex(plan) = self else { return };
        let (n, step, r, x) = (self.len(), self.lines_of_part(), Elements(r), Elements(x.cast_mut()));
        scratch.each::<Complex<T>>(self.parts(lines), &|part, tile| {
            for line in part * step..lines.min((part + 1) * step) {
                // SAFETY: the caller keeps this function's contract; each line belongs to one thread, and the scratch memory has the plan's
                // size.
                unsafe {
                    let to = from_raw_parts_mut(r.at(line * n), n);
                    let scratch = from_raw_parts_mut(tile, plan.get_immutable_scratch_len());
                    plan.process_immutable_with_scratch(from_raw_parts(x.at(line * n), n), to, scratch);
                    scale(to, factor);
                }
            }
        });
    }

    /// Transforms, in place, the columns of `blocks` matrices with as many rows as a line has elements.
    ///
    /// # Safety
    /// The elements must exist, and no other thread may access them.
    unsafe fn run_columns(&self, scratch: &ThreadScratch, r: *mut Complex<T>, blocks: usize, columns: usize, factor: T) {
        let Plan::Complex(plan) = self else { return };
        let (n, pitch, batch, r) = (self.len(), self.pitch(), self.batch(columns), Elements(r));
        let parts = columns.div_ceil(batch);
        scratch.each::<Complex<T>>(blocks * parts, &|part, tile| {
            let first = part % parts * batch;
            let count = batch.min(columns - first);
            let block = r.at(part / parts * n * columns + first);
            // SAFETY: the caller keeps this function's contract; each column belongs to one thread, and the scratch memory is for `count`
            // lines.
            unsafe {
                transpose_lines(tile, pitch, block, columns, count, n);
                for line in 0..count {
                    let line = from_raw_parts_mut(tile.add(line * pitch), n);
                    plan.process_with_scratch(line, from_raw_parts_mut(tile.add(batch * pitch), plan.get_inplace_scratch_len()));
                    scale(line, factor);
                }
                transpose_lines(block, columns, tile, pitch, n, count);
            }
        });
    }

    /// Transforms real lines of `x` to the first halves of complex lines of `r`.
    ///
    /// # Safety
    /// As for [`Plan::run`]; the sides must not overlap.
    unsafe fn run_from_real(&self, scratch: &ThreadScratch, r: *mut Complex<T>, x: *const T, lines: usize, factor: T) {
        let Plan::FromReal(plan) = self else { return };
        let (n, step, r, x) = (self.len(), self.lines_of_part(), Elements(r), Elements(x.cast_mut()));
        let half = n / 2 + 1;
        scratch.each::<Complex<T>>(self.parts(lines), &|part, tile| {
            for line in part * step..lines.min((part + 1) * step) {
                // SAFETY: the caller keeps this function's contract; each line belongs to one thread, and the scratch memory is for a line
                // and the plan.
                unsafe {
                    let from = tile.add(plan.get_scratch_len()).cast::<T>();
                    from.copy_from_nonoverlapping(x.at(line * n), n);
                    let to = from_raw_parts_mut(r.at(line * half), half);
                    // Could fail only if lengths did not match.
                    _ = plan.process_with_scratch(from_raw_parts_mut(from, n), to, from_raw_parts_mut(tile, plan.get_scratch_len()));
                    scale(to, factor);
                }
            }
        });
    }

    /// Transforms the first halves of complex lines of `x`, `stride` elements apart, to real lines of `r`.
    ///
    /// # Safety
    /// As for [`Plan::run`]; the sides must not overlap.
    unsafe fn run_to_real(&self, scratch: &ThreadScratch, r: *mut T, x: *const Complex<T>, stride: usize, lines: usize, factor: T) {
        let Plan::ToReal(plan) = self else { return };
        let (n, step, r, x) = (self.len(), self.lines_of_part(), Elements(r), Elements(x.cast_mut()));
        let half = n / 2 + 1;
        scratch.each::<Complex<T>>(self.parts(lines), &|part, tile| {
            for line in part * step..lines.min((part + 1) * step) {
                // SAFETY: the caller keeps this function's contract; each line belongs to one thread, and the scratch memory is for a line
                // and the plan.
                unsafe {
                    let from = tile.add(plan.get_scratch_len());
                    from.copy_from_nonoverlapping(x.at(line * stride), half);
                    let from = from_raw_parts_mut(from, half);
                    // The first and the middle element of a real signal's transform are real.
                    from[0].im = T::zero();
                    if n % 2 == 0 {
                        from[half - 1].im = T::zero();
                    }
                    let to = from_raw_parts_mut(r.at(line * n), n);
                    // Could fail only if lengths did not match.
                    _ = plan.process_with_scratch(from, to, from_raw_parts_mut(tile, plan.get_scratch_len()));
                    if factor != T::one() {
                        to.iter_mut().for_each(|x| *x = Element::mul(*x, factor));
                    }
                }
            }
        });
    }
}

/// `to[r][c] = from[c][r]` for `rows` rows and `cols` columns of the result. Steps are in complex numbers.
unsafe fn transpose_lines<T: Float>(
    to: *mut Complex<T>,
    to_step: usize,
    from: *const Complex<T>,
    from_step: usize,
    rows: usize,
    cols: usize,
) {
    let size = size_of::<Complex<T>>();
    // SAFETY: the caller guarantees that both sides hold the numbers and do not overlap.
    unsafe {
        if size == 8 {
            return transpose(size, to.cast(), (to_step * size) as isize, from.cast(), (from_step * size) as isize, rows, cols);
        }
        for c in 0..cols.max(rows) {
            match rows < cols {
                true => (0..rows).for_each(|r| to.add(r * to_step + c).write(*from.add(c * from_step + r))),
                false => (0..cols).for_each(|k| to.add(c * to_step + k).write(*from.add(k * from_step + c))),
            }
        }
    }
}

fn no_memory() -> Error {
    Error::new(Kind::NoMem, format_args!("no memory for a Fourier transform"))
}

fn scale<T: Float>(line: &mut [Complex<T>], factor: T) {
    if factor != T::one() {
        line.iter_mut().for_each(|z| (z.re, z.im) = (Element::mul(z.re, factor), Element::mul(z.im, factor)));
    }
}
