//! Fourier transforms over the last dimensions. Complex numbers are stored in a last dimension of size 2.

use super::dense::{dense, launch, operand};
use super::result::deliver;
use super::{copy, create, view};
use crate::dtype::Domain;
use crate::error::{Result, bail};
use crate::launch::{Fourier, Transform};
use crate::layout::{Dims, checked_numel};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The options of a transform: the number of dimensions and the scale.
#[derive(Clone, Copy)]
pub struct FftOptions {
    /// The number of dimensions of a signal.
    pub dims: i32,
    /// True if both directions divide by the root of the number of elements. Otherwise only the inverse transform divides, by the number of
    /// elements.
    pub normalized: bool,
}

impl FftOptions {
    /// The sizes of a signal. `sizes` does not include the dimension of complex numbers.
    fn signal(self, sizes: &[i64]) -> Result<&[i64]> {
        if sizes.is_empty() {
            bail!(Shape, "a tensor of one dimension has no signal: the last dimension holds real and imaginary parts")
        }
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

    /// The factor of a transform of a signal of this shape.
    fn factor(self, signal: &[i64], inverse: bool) -> f64 {
        let count: f64 = signal.iter().map(|&n| n as f64).product();
        match (self.normalized, inverse) {
            (true, _) => 1.0 / count.sqrt(),
            (false, true) => 1.0 / count,
            (false, false) => 1.0,
        }
    }
}

/// The sizes of a complex tensor, without the dimension of complex numbers.
fn complex_sizes(t: &Tensor) -> Result<Dims> {
    let shape = t.layout()?.shape;
    match shape.split_last() {
        Some((2, sizes)) => Ok(sizes.iter().copied().collect()),
        _ => bail!(Shape, "complex numbers lie in a last dimension of size 2, the tensor has shape {:?}", shape.as_slice()),
    }
}

/// The shape of a complex tensor of these sizes.
fn pairs(sizes: &[i64]) -> Dims {
    sizes.iter().copied().chain([2]).collect()
}

/// `r` = a transform without elements. It makes no plan, because the plan of a long signal takes memory.
fn nothing(r: &Tensor, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let t = Operand::of(t)?;
    deliver([Some((r, t.dtype, &Tensor::empty(t.dtype, sizes)?))])
}

/// `r` = the transform of complex `t`, or the inverse transform
pub fn fft(r: &Tensor, t: &Tensor, options: FftOptions, inverse: bool) -> Result<()> {
    let (dtype, sizes) = (t.defined()?, complex_sizes(t)?);
    let signal = options.signal(&sizes)?;
    Domain::Float.check(dtype)?;
    if checked_numel(&sizes)? == 0 {
        return nothing(r, t, &pairs(&sizes));
    }
    let transform = if inverse { Transform::Inverse } else { Transform::Forward };
    let work = Fourier { transform, signal, factor: options.factor(signal, inverse) };
    launch(r, (dtype, dtype.compute()), &pairs(&sizes), &work, &[operand(t, dtype.compute())?])
}

/// `r` = the transform of real `t`. With `onesided`, only the first half of the last dimension, because the other half is its conjugate.
pub fn rfft(r: &Tensor, t: &Tensor, options: FftOptions, onesided: bool) -> Result<()> {
    let (dtype, mut sizes) = (t.defined()?, t.layout()?.shape);
    Domain::Float.check(dtype)?;
    if !onesided {
        options.signal(&sizes)?;
        let complex = create::full(dtype.compute(), &pairs(&sizes), Scalar::Int(0))?;
        copy::copy(&view::derive(&complex, |l| l.select(-1, 0))?, t)?;
        return fft(r, &copy::to_dtype(&complex, dtype)?, options, false);
    }
    let signal = Dims::from_iter(options.signal(&sizes)?.iter().copied());
    let at = sizes.len() - 1;
    sizes[at] = signal[signal.len() - 1] / 2 + 1;
    if checked_numel(&sizes)? == 0 {
        return nothing(r, t, &pairs(&sizes));
    }
    let work = Fourier { transform: Transform::FromReal, signal: &signal, factor: options.factor(&signal, false) };
    launch(r, (dtype, dtype.compute()), &pairs(&sizes), &work, &[operand(t, dtype.compute())?])
}

/// `r` = the real part of the inverse transform of complex `t`. With `onesided`, `t` has only the first half of the last dimension.
pub fn irfft(r: &Tensor, t: &Tensor, options: FftOptions, onesided: bool, asked: Option<&[i64]>) -> Result<()> {
    let (dtype, mut sizes) = (t.defined()?, complex_sizes(t)?);
    Domain::Float.check(dtype)?;
    let mut signal = Dims::from_iter(options.signal(&sizes)?.iter().copied());
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
        fft(&complex, t, options, true)?;
        let real = copy::contiguous_copy(&view::derive(&complex, |l| l.select(-1, 0))?)?;
        return deliver([Some((r, dtype, &real))]);
    }
    let end = sizes.len() - 1;
    sizes[end] = last;
    if checked_numel(&sizes)? == 0 {
        return nothing(r, t, &sizes);
    }
    let x = dense(t, dtype.compute())?;
    // The transform overwrites its input if the signal has several dimensions.
    let x = if signal.len() == 1 { x } else { copy::contiguous_copy(&x)? };
    let work = Fourier { transform: Transform::ToReal, signal: &signal, factor: options.factor(&signal, true) };
    launch(r, (dtype, dtype.compute()), &sizes, &work, &[Operand::of(&x)?])
}
