//! Progressions: arange, range, linspace, logspace.

use super::result::{Inputs, Writes, ready};
use crate::dtype::{Domain, Dtype, Element, default_dtype};
use crate::error::{Result, bail};
use crate::launch::sequence::{Ramp, Sequence, Spaced};
use crate::layout::Dims;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r = start, start + step, ...` up to, but not including, `end`
pub fn arange(r: &Tensor, start: Scalar, end: Scalar, step: Scalar) -> Result<()> {
    let progression = Progression::new(start, end, step, false)?;
    progression.write(r, progression.dtype())
}

/// `r = start, start + step, ...` up to and including `end`
pub fn range(r: &Tensor, start: Scalar, end: Scalar, step: Scalar) -> Result<()> {
    Progression::new(start, end, step, true)?.write(r, default_dtype())
}

/// `n` numbers from `start` on, in distances of `step`.
struct Progression {
    start: Scalar,
    step: Scalar,
    n: i64,
    /// True if start, end and step are integers.
    whole: bool,
}

impl Progression {
    fn new(start: Scalar, end: Scalar, step: Scalar, inclusive: bool) -> Result<Progression> {
        let (a, b, by) = (start.to_f64(), end.to_f64(), step.to_f64());
        if !a.is_finite() || !b.is_finite() {
            bail!(Argument, "unsupported range {} to {}", Scalar::from(a), Scalar::from(b))
        }
        if by == 0.0 || !by.is_finite() {
            bail!(Argument, "the step must be finite and not 0, got {}", Scalar::from(by))
        }
        if (by > 0.0 && a > b) || (by < 0.0 && a < b) {
            bail!(Argument, "bounds {} to {} are inconsistent with the sign of step {}", Scalar::from(a), Scalar::from(b), Scalar::from(by))
        }
        let n = match (start, end, step) {
            (Scalar::Int(a), Scalar::Int(b), Scalar::Int(by)) => {
                let (span, by) = ((i128::from(b) - i128::from(a)).abs(), i128::from(by).abs());
                i64::try_from(if inclusive { span / by + 1 } else { (span + by - 1) / by }).ok()
            }
            _ => {
                let n = if inclusive { ((b - a) / by).floor() + 1.0 } else { ((b - a) / by).ceil() };
                (n < i64::MAX as f64).then_some(n as i64)
            }
        };
        let Some(n) = n else {
            bail!(Argument, "{} to {} by {} are more numbers than can be counted", Scalar::from(a), Scalar::from(b), Scalar::from(by))
        };
        Ok(Progression { start, step, n, whole: [start, end, step].into_iter().all(Scalar::is_whole) })
    }

    /// int64 if all numbers are integers, else the default dtype.
    fn dtype(&self) -> Dtype {
        if self.whole { Dtype::Int64 } else { default_dtype() }
    }

    /// Writes the numbers to `r`. A fresh `r` gets the dtype `fresh`.
    fn write(&self, r: &Tensor, fresh: Dtype) -> Result<()> {
        let result = if r.dtype().is_some() { self.dtype() } else { fresh };
        let line = Ramp { anchor: self.start.to_f64(), origin: 0, step: self.step.to_f64() };
        store(r, result, self.n, |dtype| match dtype.is_float() {
            true => Sequence::Spaced(Spaced { up: line, down: line, half: 0, base: None }),
            false => Sequence::Integers { start: i64::from_scalar(self.start), step: i64::from_scalar(self.step) },
        })
    }
}

/// `r` = `steps` evenly spaced numbers from `start` to `end`, both included
pub fn linspace(r: &Tensor, start: f64, end: f64, steps: i64) -> Result<()> {
    spaced(r, start, end, steps, None)
}

/// `r = base^x` for `steps` evenly spaced numbers `x` from `start` to `end`, both included
pub fn logspace(r: &Tensor, start: f64, end: f64, base: f64, steps: i64) -> Result<()> {
    spaced(r, start, end, steps, Some(base))
}

fn spaced(r: &Tensor, start: f64, end: f64, steps: i64, base: Option<f64>) -> Result<()> {
    if steps < 0 {
        bail!(Argument, "the number of steps {steps} is negative")
    }
    let last = steps - 1;
    let end = if steps == 1 { start } else { end };
    // The difference may overflow even if both ends are finite.
    let whole = (end - start) / last as f64;
    let step = match () {
        _ if steps <= 2 => 0.0,
        _ if whole.is_finite() => whole,
        _ => end / last as f64 - start / last as f64,
    };
    // Numbers are computed from both ends to the middle, so that the second half mirrors the first.
    let (up, down) = (Ramp { anchor: start, origin: 0, step }, Ramp { anchor: end, origin: last, step });
    let numbers = Spaced { up, down, half: (steps / 2) as usize, base };
    store(r, default_dtype(), steps, |_| Sequence::Spaced(numbers))
}

/// Fills `r` in row-major order with the sequence for its dtype. A tensor that already has `n` elements keeps its shape.
fn store(r: &Tensor, result: Dtype, n: i64, sequence: impl FnOnce(Dtype) -> Sequence) -> Result<()> {
    let shape = match r.dtype() {
        Some(_) => Some(r.layout()?.shape).filter(|shape| shape.iter().product::<i64>() == n),
        None => None,
    };
    let shape = shape.unwrap_or_else(|| Dims::filled(n, 1));
    let ready = ready(r, (result, &shape), Writes::ROW_MAJOR, Inputs::NONE)?;
    let dtype = Domain::Numeric.check(ready.dtype())?;
    ready.launch(&sequence(dtype), &[])
}
