//! Distributions over integers.

use super::{PROBABILITY, Parameters, check_all, fill, is_not_negative, is_probability};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Draw;
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = the number of trials up to the first success; each trial fails with probability `p`
pub fn geometric(r: &Tensor, generator: &mut Generator, p: f64) -> Result<()> {
    if !(p > 0.0 && p < 1.0) {
        bail!(Argument, "expected a probability between 0 and 1, both excluded, got {}", Scalar::from(p))
    }
    fill(r, generator, Draw::Geometric { p }, &[])
}

const RATE: &str = "a rate >= 0";

/// `r` = Poisson distributed numbers
pub fn poisson(r: &Tensor, generator: &mut Generator, rate: f64) -> Result<()> {
    check_all(&[rate], RATE, is_not_negative)?;
    fill(r, generator, Draw::Poisson { rate }, &[])
}

/// [`poisson`] with a rate for each element.
pub fn poisson_tensor(r: &Tensor, generator: &mut Generator, rate: &Tensor) -> Result<()> {
    let parameters = Parameters::of([rate])?;
    check_all(&parameters.list(0)?, RATE, is_not_negative)?;
    parameters.draw(r, generator, true, Draw::PoissonEach)
}

const TRIALS: &str = "a whole number of trials from 0 to 2^53";

fn is_count(n: f64) -> bool {
    (0.0..=9_007_199_254_740_992.0).contains(&n) && n.fract() == 0.0
}

/// `r` = binomially distributed numbers
pub fn binomial(r: &Tensor, generator: &mut Generator, n: f64, p: f64) -> Result<()> {
    check_all(&[n], TRIALS, is_count)?;
    check_all(&[p], PROBABILITY, is_probability)?;
    fill(r, generator, Draw::Binomial { n, p }, &[])
}

/// [`binomial`] with a number of trials and a probability for each element.
pub fn binomial_tensor(r: &Tensor, generator: &mut Generator, n: &Tensor, p: &Tensor) -> Result<()> {
    let parameters = Parameters::of([n, p])?;
    check_all(&parameters.list(0)?, TRIALS, is_count)?;
    check_all(&parameters.list(1)?, PROBABILITY, is_probability)?;
    parameters.draw(r, generator, true, Draw::BinomialEach)
}

/// The greatest number that [`random`] draws for a dtype.
pub(super) fn greatest(dtype: Dtype) -> u64 {
    match dtype {
        Dtype::Bool => 1,
        Dtype::Uint8 => u8::MAX.into(),
        Dtype::Int8 => i8::MAX as u64,
        Dtype::Int16 => i16::MAX as u64,
        Dtype::Int32 => i32::MAX as u64,
        Dtype::Int64 => i64::MAX as u64,
        // Floats hold every integer up to this one.
        Dtype::Bfloat16 => 1 << 8,
        Dtype::Float16 => 1 << 11,
        Dtype::Float32 => 1 << 24,
        Dtype::Float64 => 1 << 53,
    }
}

/// `r` = uniform over the integers from 0 to the greatest of the dtype; for floats, to the greatest below which all integers are exact
pub fn random(r: &Tensor, generator: &mut Generator) -> Result<()> {
    let dtype = r.defined()?;
    let most = greatest(dtype);
    match generator {
        // TH stores the full 32-bit word for these dtypes.
        Generator::Mt19937(_) if most > u32::MAX.into() => integers(r, generator, 0, 1 << 32),
        _ => integers(r, generator, 0, most + 1),
    }
}

/// `r` = uniform over the integers from `from` to `to - 1`
pub fn clamped_random(r: &Tensor, generator: &mut Generator, from: i64, to: i64) -> Result<()> {
    let dtype = r.defined()?;
    if from >= to {
        bail!(Argument, "expected a range that is not empty, got {from} to {to}, which is excluded")
    }
    for x in [from, to - 1] {
        let fits = match dtype {
            Dtype::Bool | Dtype::Uint8 => x >= 0 && x as u64 <= greatest(dtype),
            _ if dtype.is_float() => x.unsigned_abs() <= greatest(dtype),
            // Signed dtypes have one more negative number.
            _ => x.max(!x) as u64 <= greatest(dtype),
        };
        if !fits {
            bail!(Argument, "{x} is out of the range of {dtype}, in which integers are told apart")
        }
    }
    integers(r, generator, from, to.wrapping_sub(from) as u64)
}

/// `r` = uniform over `span` integers from `from` on
fn integers(r: &Tensor, generator: &mut Generator, from: i64, span: u64) -> Result<()> {
    fill(r, generator, Draw::Integers { from, span }, &[])
}
