//! Progressions: arange, range, linspace, logspace.

use super::result::{Inputs, Writes, ready};
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::index::by_size;
use crate::cpu::sequence::{Line, Spaced, generate, integers};
use crate::dtype::{Domain, Dtype, Element, default_dtype};
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r = start, start + step, ...` before `end`.
pub fn arange(r: &Tensor, start: Scalar, end: Scalar, step: Scalar) -> Result<()> {
    let progression = Progression::new(start, end, step, false)?;
    progression.write(r, progression.dtype())
}

/// `r = start, start + step, ...` up to and including `end`.
pub fn range(r: &Tensor, start: Scalar, end: Scalar, step: Scalar) -> Result<()> {
    Progression::new(start, end, step, true)?.write(r, default_dtype())
}

/// `n` numbers from `start` on, `step` apart.
struct Progression {
    start: Scalar,
    step: Scalar,
    n: i64,
    /// True if start, end and step are whole.
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

    /// int64 for whole numbers, else the default dtype.
    fn dtype(&self) -> Dtype {
        if self.whole { Dtype::Int64 } else { default_dtype() }
    }

    /// Into `r`, or into a fresh one of dtype `fresh`.
    fn write(&self, r: &Tensor, fresh: Dtype) -> Result<()> {
        let result = if r.dtype().is_some() { self.dtype() } else { fresh };
        let line = Line { anchor: self.start.to_f64(), origin: 0, step: self.step.to_f64() };
        store(r, result, self.n, &|at, dtype, n| {
            if dtype.is_float() {
                return floats(at, dtype, n, CHEAP, Spaced { up: line, down: line, half: 0, base: None });
            }
            let (start, step) = (i64::from_scalar(self.start), i64::from_scalar(self.step));
            by_size!(dtype.size(), T => {
                // SAFETY: `store` passes memory of `n` elements, `generate` its pieces; integers of one size are made of the same bits.
                unsafe { generate::<T>(at, T::DTYPE, n, CHEAP, &|at, first, len| {
                    integers(at, len, start.wrapping_add(step.wrapping_mul(first as i64)), step)
                }) }
            })
        })
    }
}

/// `r = steps` numbers from `start` to `end`, both included, evenly spaced.
pub fn linspace(r: &Tensor, start: f64, end: f64, steps: i64) -> Result<()> {
    spaced(r, start, end, steps, CHEAP, None)
}

/// `r = base^x` for `steps` numbers `x` from `start` to `end`, both included, evenly spaced.
pub fn logspace(r: &Tensor, start: f64, end: f64, base: f64, steps: i64) -> Result<()> {
    spaced(r, start, end, steps, COSTLY, Some(base))
}

fn spaced(r: &Tensor, start: f64, end: f64, steps: i64, grain: usize, base: Option<f64>) -> Result<()> {
    if steps < 0 {
        bail!(Argument, "the number of steps {steps} is negative")
    }
    let last = steps - 1;
    let end = if steps == 1 { start } else { end };
    // The difference may overflow where neither end does.
    let whole = (end - start) / last as f64;
    let step = match () {
        _ if steps <= 2 => 0.0,
        _ if whole.is_finite() => whole,
        _ => end / last as f64 - start / last as f64,
    };
    // From both ends to the middle, so that the second half mirrors the first.
    let (up, down) = (Line { anchor: start, origin: 0, step }, Line { anchor: end, origin: last, step });
    let numbers = Spaced { up, down, half: (steps / 2) as usize, base };
    store(r, default_dtype(), steps, &|at, dtype, n| floats(at, dtype, n, grain, numbers))
}

/// Fills `n` floats at `at`; 16-bit ones are rounded once, from float64.
fn floats(at: *mut u8, dtype: Dtype, n: usize, grain: usize, numbers: Spaced) {
    match dtype {
        // SAFETY: `store` passes memory of `n` elements, `generate` its pieces.
        Dtype::Float32 => unsafe { generate::<f32>(at, dtype, n, grain, &|at, first, len| numbers.fill(at, first, len)) },
        // SAFETY: as above.
        _ => unsafe { generate::<f64>(at, dtype, n, grain, &|at, first, len| numbers.fill(at, first, len)) },
    }
}

/// Lets `write(address, dtype, n)` fill `r` in row-major order. A tensor that has `n` elements already keeps its shape.
fn store(r: &Tensor, result: Dtype, n: i64, write: &dyn Fn(*mut u8, Dtype, usize)) -> Result<()> {
    let shape = match r.dtype() {
        Some(_) => Some(r.layout()?.shape).filter(|shape| shape.iter().product::<i64>() == n),
        None => None,
    };
    let shape = shape.unwrap_or_else(|| Dims::filled(n, 1));
    let ready = ready(r, (result, &shape), Writes::ROW_MAJOR, Inputs::NONE)?;
    Domain::Numeric.check(ready.dtype())?;
    ready.write(|to| write(to.first(), to.dtype, n as usize))
}
