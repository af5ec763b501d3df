//! Fourier transforms over the last dimensions; complex numbers lie in a last dimension of size 2.

use super::dense::{dense, written};
use super::operand::Operand;
use super::result::deliver;
use super::{copy, create, view};
use crate::alloc;
use crate::cpu::fourier::{Complex, Float, Plan};
use crate::cpu::room::Room;
use crate::dtype::{Domain, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::{Dims, checked_numel};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// How to transform.
#[derive(Clone, Copy)]
pub struct Form {
    /// Dimensions to go over.
    pub dims: i32,
    /// True if both directions divide by the root of the number of elements; else the inverse one divides by the number.
    pub normalized: bool,
}

impl Form {
    /// The sizes of a signal, among sizes without those of complex numbers.
    fn signal(self, sizes: &[i64]) -> Result<&[i64]> {
        if self.dims < 1 || self.dims as usize > sizes.len() {
            bail!(
                Argument,
                "a signal of {} dimensions in a tensor with {} for signals and batches: expected 1 to {1}",
                self.dims,
                sizes.len()
            )
        }
        let signal = &sizes[sizes.len() - self.dims as usize..];
        if let Some(size) = signal.iter().find(|&&size| size < 1) {
            bail!(Shape, "a signal of size {size} has no transform")
        }
        Ok(signal)
    }

    /// Returns the factor of a transform of a signal of this shape.
    fn factor(self, signal: &[i64], inverse: bool) -> f64 {
        let count: f64 = signal.iter().map(|&n| n as f64).product();
        match (self.normalized, inverse) {
            (true, _) => 1.0 / count.sqrt(),
            (false, true) => 1.0 / count,
            (false, false) => 1.0,
        }
    }
}

/// The sizes of a complex tensor.
fn complex_sizes(t: &Tensor) -> Result<Dims> {
    let shape = t.layout()?.shape;
    match shape.split_last() {
        Some((2, sizes)) => Ok(sizes.iter().copied().collect()),
        _ => bail!(Shape, "complex numbers lie in a last dimension of size 2, the tensor has shape {:?}", shape.as_slice()),
    }
}

/// These sizes of complex numbers as a shape.
fn pairs(sizes: &[i64]) -> Dims {
    sizes.iter().copied().chain([2]).collect()
}

/// A plan and the memory for it.
type Step<T> = (Plan<T>, Room);

/// Steps for all dimensions of a signal but its last, which has `last` numbers: columns of matrices, of `total` numbers in all.
fn steps<T: Float>(signal: &[i64], total: usize, last: usize, inverse: bool) -> Result<Vec<Step<T>>> {
    alloc::list(signal.len() - 1, |k| {
        let n = signal[k] as usize;
        let columns = signal[k + 1..signal.len() - 1].iter().product::<i64>() as usize * last;
        let plan = Plan::complex(n, inverse)?;
        let room = plan.room_for_columns(total / columns / n, columns)?;
        Ok((plan, room))
    })
}

/// The step for `lines` lines of a signal's last dimension.
fn step<T: Float>(plan: Plan<T>, lines: usize) -> Result<Step<T>> {
    let room = plan.room_for_lines(lines)?;
    Ok((plan, room))
}

/// `r` = the transform of `t` where neither has an element: plans of long signals would take memory for nothing.
fn nothing(r: &Tensor, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let t = Operand::of(t)?;
    deliver([Some((r, t.dtype, &Tensor::empty(t.dtype, sizes)?))])
}

/// Transforms, in place, the dimensions of a signal before its last, which has `last` numbers; what is done in the end multiplies by `factor`.
///
/// # Safety
/// `r` has `total` numbers in all, and nobody else touches them.
unsafe fn before_last<T: Float>(r: *mut Complex<T>, total: usize, signal: &[i64], last: usize, steps: &[Step<T>], factor: T) {
    let mut inner = last;
    for (k, (plan, room)) in steps.iter().enumerate().rev() {
        let n = signal[k] as usize;
        let factor = if k == 0 { factor } else { T::one() };
        // SAFETY: the caller's.
        unsafe { plan.run_columns(room, r, total / inner / n, inner, factor) };
        inner *= n;
    }
}

/// The factors of the last dimension, which comes first, and of those before.
fn split<T: Float>(steps: &[Step<T>], factor: f64) -> (T, T) {
    let (one, factor) = (T::one(), <T as Element>::from_f64(factor));
    if steps.is_empty() { (factor, one) } else { (one, factor) }
}

/// `r` = the transform of complex `t`, or the inverse one
pub fn fft(r: &Tensor, t: &Tensor, form: Form, inverse: bool) -> Result<()> {
    let (dtype, sizes) = (t.defined()?, complex_sizes(t)?);
    let signal = form.signal(&sizes)?;
    Domain::Float.check(dtype)?;
    let (total, last) = (checked_numel(&sizes)? as usize, signal[signal.len() - 1] as usize);
    if total == 0 {
        return nothing(r, t, &pairs(&sizes));
    }
    dispatch!(float, dtype, T => {
        let steps = steps::<T>(signal, total, last, inverse)?;
        let (plan, room) = step::<T>(Plan::complex(last, inverse)?, total / last)?;
        let (first, then) = split(&steps, form.factor(signal, inverse));
        let x = dense(t, dtype.compute())?;
        written(r, (dtype, dtype.compute()), &pairs(&sizes), &[Some(&x)], &|out| {
            let out = out.cast::<Complex<T>>();
            // SAFETY: row-major pairs of these sizes, the result apart from the operand.
            unsafe {
                plan.run(&room, out, x.data().cast_const().cast(), total / last, first);
                before_last(out, total, signal, last, &steps, then);
            }
        })
    })
}

/// `r` = the transform of real `t`: all of it, or of the last dimension the first half, which the rest mirrors
pub fn rfft(r: &Tensor, t: &Tensor, form: Form, onesided: bool) -> Result<()> {
    let (dtype, mut sizes) = (t.defined()?, t.layout()?.shape);
    Domain::Float.check(dtype)?;
    if !onesided {
        form.signal(&sizes)?;
        let complex = create::full(dtype.compute(), &pairs(&sizes), Scalar::Int(0))?;
        copy::copy(&view::derive(&complex, |l| l.select(-1, 0))?, t)?;
        return fft(r, &copy::to_dtype(&complex, dtype)?, form, false);
    }
    let signal = Dims::from_iter(form.signal(&sizes)?.iter().copied());
    let (last, at) = (signal[signal.len() - 1] as usize, sizes.len() - 1);
    let half = last / 2 + 1;
    sizes[at] = half as i64;
    let total = checked_numel(&sizes)? as usize;
    if total == 0 {
        return nothing(r, t, &pairs(&sizes));
    }
    dispatch!(float, dtype, T => {
        let steps = steps::<T>(&signal, total, half, false)?;
        let (plan, room) = step::<T>(Plan::from_real(last)?, total / half)?;
        let (first, then) = split(&steps, form.factor(&signal, false));
        let x = dense(t, dtype.compute())?;
        written(r, (dtype, dtype.compute()), &pairs(&sizes), &[Some(&x)], &|out| {
            let out = out.cast::<Complex<T>>();
            // SAFETY: as above.
            unsafe {
                plan.run_from_real(&room, out, x.data().cast_const().cast(), total / half, first);
                before_last(out, total, &signal, half, &steps, then);
            }
        })
    })
}

/// `r` = the real part of the inverse transform of complex `t`, of which the last dimension may be the first half
pub fn irfft(r: &Tensor, t: &Tensor, form: Form, onesided: bool, asked: Option<&[i64]>) -> Result<()> {
    let (dtype, mut sizes) = (t.defined()?, complex_sizes(t)?);
    Domain::Float.check(dtype)?;
    let mut signal = Dims::from_iter(form.signal(&sizes)?.iter().copied());
    let (given, at) = (signal[signal.len() - 1], signal.len() - 1);
    if onesided {
        signal[at] = 2 * (given - 1);
    }
    if let Some(asked) = asked {
        if asked.len() != signal.len() || asked[..at] != signal[..at] || (!onesided && asked[at] != given) {
            bail!(Shape, "a signal of sizes {asked:?} is not what a tensor of shape {:?} is made of", t.layout()?.shape.as_slice())
        }
        signal[at] = asked[at];
    }
    let last = signal[at];
    if onesided && given == 1 && asked.is_none() {
        bail!(Shape, "one number does not tell the size of a signal: a size must be given")
    }
    if last < 1 || (onesided && last / 2 + 1 > given) {
        bail!(Shape, "{given} numbers are not the first half of a signal of size {last}")
    }
    if !onesided {
        let complex = Tensor::of_dtype(dtype)?;
        fft(&complex, t, form, true)?;
        let real = copy::contiguous_copy(&view::derive(&complex, |l| l.select(-1, 0))?)?;
        return deliver([Some((r, dtype, &real))]);
    }
    let end = sizes.len() - 1;
    sizes[end] = last;
    let (given, last) = (given as usize, last as usize);
    let lines = checked_numel(&sizes)? as usize / last;
    if lines == 0 {
        return nothing(r, t, &sizes);
    }
    dispatch!(float, dtype, T => {
        let steps = steps::<T>(&signal, lines * given, given, true)?;
        let (plan, room) = step::<T>(Plan::to_real(last)?, lines)?;
        // Transforms along other dimensions come first, and they change their input: a copy.
        let x = dense(t, dtype.compute())?;
        let x = if steps.is_empty() { x } else { copy::contiguous_copy(&x)? };
        let factor = T::from_f64(form.factor(&signal, true));
        written(r, (dtype, dtype.compute()), &sizes, &[Some(&x)], &|out| {
            let from = x.data().cast::<Complex<T>>();
            // SAFETY: as above; what changes in place is a copy.
            unsafe {
                before_last(from, lines * given, &signal, given, &steps, T::from_f64(1.0));
                plan.run_to_real(&room, out.cast::<T>(), from, given, lines, factor);
            }
        })
    })
}
