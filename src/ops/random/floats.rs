//! Distributions of real numbers.

use super::{Parameters, check_all, check_float, common, fill, fill_floats, is_not_negative, is_positive};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Draw;
use crate::ops::pointwise::arithmetic;
use crate::ops::result::deliver;
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = uniform numbers in [from, to)
pub fn uniform(r: &Tensor, generator: &mut Generator, from: f64, to: f64) -> Result<()> {
    if !(from <= to && (to - from).is_finite()) {
        let expected = match (from, to) {
            _ if !from.is_finite() || !to.is_finite() => "finite bounds",
            _ if from > to => "bounds in order",
            _ => "bounds with a finite distance",
        };
        bail!(Argument, "expected {expected}, got {} and {}", Scalar::from(from), Scalar::from(to))
    }
    let dtype = check_float(r)?;
    if let Some(bound) = [from, to].into_iter().find(|&bound| !is_finite_in(dtype, bound)) {
        bail!(Argument, "{} is out of the range of {dtype}", Scalar::from(bound))
    }
    let most = r.dtype().map_or(to, |dtype| greatest_below(dtype, to).max(from));
    fill_floats(r, generator, Draw::Uniform { from, to, most })
}

/// The greatest number below `to` in a float type. Random numbers above it would be rounded up to `to`.
fn greatest_below(dtype: Dtype, to: f64) -> f64 {
    if dtype == Dtype::Float64 {
        return to.next_down();
    }
    if dtype == Dtype::Float32 {
        let near = to as f32;
        return f64::from(if f64::from(near) < to { near } else { near.next_down() });
    }
    let value = |bits: u16| match dtype {
        Dtype::Float16 => half::f16::from_bits(bits).to_f64(),
        _ => half::bf16::from_bits(bits).to_f64(),
    };
    let mut bits = match dtype {
        Dtype::Float16 => half::f16::from_f64(to).to_bits(),
        _ => half::bf16::from_f64(to).to_bits(),
    };
    while value(bits) >= to {
        bits = match bits {
            0 | 0x8000 => 0x8001,
            positive @ ..0x8000 => positive - 1,
            negative => negative + 1,
        };
    }
    value(bits)
}

/// Returns true if a number is finite after it is rounded to this float type.
fn is_finite_in(dtype: Dtype, x: f64) -> bool {
    match dtype {
        Dtype::Float16 => half::f16::from_f64(x).is_finite(),
        Dtype::Bfloat16 => half::bf16::from_f64(x).is_finite(),
        Dtype::Float32 => (x as f32).is_finite(),
        _ => x.is_finite(),
    }
}

fn check_normal(mean: f64, std: f64) -> Result<()> {
    if !(is_not_negative(std) && mean.is_finite()) {
        bail!(Argument, "expected a finite mean and a standard deviation >= 0, got {} and {}", Scalar::from(mean), Scalar::from(std))
    }
    Ok(())
}

/// `r` = normally distributed numbers
pub fn normal(r: &Tensor, generator: &mut Generator, mean: f64, std: f64) -> Result<()> {
    check_normal(mean, std)?;
    fill_floats(r, generator, Draw::Normal { mean, std })
}

/// `r` = numbers whose logarithms are normally distributed
pub fn log_normal(r: &Tensor, generator: &mut Generator, mean: f64, std: f64) -> Result<()> {
    check_normal(mean, std)?;
    fill_floats(r, generator, Draw::LogNormal { mean, std })
}

/// `r` = exponentially distributed numbers
pub fn exponential(r: &Tensor, generator: &mut Generator, lambda: f64) -> Result<()> {
    if !is_positive(lambda) {
        bail!(Argument, "expected a rate > 0, got {}", Scalar::from(lambda))
    }
    fill_floats(r, generator, Draw::Exponential { lambda })
}

/// `r` = Cauchy distributed numbers
pub fn cauchy(r: &Tensor, generator: &mut Generator, median: f64, sigma: f64) -> Result<()> {
    if !(is_positive(sigma) && median.is_finite()) {
        bail!(Argument, "expected a finite median and a sigma > 0, got {} and {}", Scalar::from(median), Scalar::from(sigma))
    }
    fill_floats(r, generator, Draw::Cauchy { median, sigma })
}

/// `r` = normally distributed numbers, restricted to `from` to `to`
pub fn truncated_normal(r: &Tensor, generator: &mut Generator, mean: f64, std: f64, from: f64, to: f64) -> Result<()> {
    check_float(r)?;
    if !(is_positive(std) && mean.is_finite()) {
        bail!(Argument, "expected a finite mean and a standard deviation > 0, got {} and {}", Scalar::from(mean), Scalar::from(std))
    }
    if !(from < to && from < f64::INFINITY && to > f64::NEG_INFINITY) {
        bail!(Argument, "expected bounds in order, got {} and {}", Scalar::from(from), Scalar::from(to))
    }
    fill(r, generator, Draw::TruncatedNormal { mean, std, from, to }, &[])
}

const SHAPE: &str = "a shape > 0";

/// `r` = gamma distributed numbers
pub fn gamma(r: &Tensor, generator: &mut Generator, shape: f64, scale: f64) -> Result<()> {
    check_float(r)?;
    check_all(&[shape], SHAPE, is_positive)?;
    check_all(&[scale], "a scale > 0", is_positive)?;
    fill(r, generator, Draw::Gamma { shape, scale }, &[])
}

/// [`gamma`] with a shape and a scale for each element.
pub fn gamma_tensor(r: &Tensor, generator: &mut Generator, shape: &Tensor, scale: &Tensor) -> Result<()> {
    let parameters = Parameters::of([shape, scale])?;
    check_all(&parameters.list(0)?, SHAPE, is_positive)?;
    check_all(&parameters.list(1)?, "a scale > 0", is_positive)?;
    parameters.draw(r, generator, false, Draw::GammaEach)
}

/// `r` = beta distributed numbers
pub fn beta(r: &Tensor, generator: &mut Generator, a: f64, b: f64) -> Result<()> {
    check_float(r)?;
    check_all(&[a, b], SHAPE, is_positive)?;
    fill(r, generator, Draw::Beta { a, b }, &[])
}

/// [`beta`] with shapes for each element.
pub fn beta_tensor(r: &Tensor, generator: &mut Generator, a: &Tensor, b: &Tensor) -> Result<()> {
    let parameters = Parameters::of([a, b])?;
    check_all(&parameters.list(0)?, SHAPE, is_positive)?;
    check_all(&parameters.list(1)?, SHAPE, is_positive)?;
    parameters.draw(r, generator, false, Draw::BetaEach)
}

/// `r = z * std + means` with standard normal z
pub fn normal_means(r: &Tensor, generator: &mut Generator, means: &Tensor, std: f64) -> Result<()> {
    check_normal(0.0, std)?;
    normal_by(r, generator, [means], std, |z| arithmetic::cadd(z, z, Scalar::Int(1), means))
}

/// `r = z * stds + mean` with standard normal z
pub fn normal_deviations(r: &Tensor, generator: &mut Generator, mean: f64, stds: &Tensor) -> Result<()> {
    check_normal(mean, 0.0)?;
    check_deviations(stds)?;
    normal_by(r, generator, [stds], 1.0, |z| {
        arithmetic::cmul.run([z, z, stds], &[])?;
        arithmetic::add.run([z, z], &[mean.into()])
    })
}

/// `r = z * stds + means` with standard normal z
pub fn normal_means_deviations(r: &Tensor, generator: &mut Generator, means: &Tensor, stds: &Tensor) -> Result<()> {
    check_deviations(stds)?;
    normal_by(r, generator, [means, stds], 1.0, |z| {
        arithmetic::cmul.run([z, z, stds], &[])?;
        arithmetic::cadd(z, z, Scalar::Int(1), means)
    })
}

fn check_deviations(stds: &Tensor) -> Result<()> {
    check_all(&Parameters::of([stds])?.list(0)?, "standard deviations >= 0", is_not_negative)
}

/// Normal numbers of mean 0 and deviation `std`, in the common shape of `parameters`, passed to `finish`. They are rounded before `finish`,
/// as in TH.
fn normal_by<const N: usize>(
    r: &Tensor,
    generator: &mut Generator,
    parameters: [&Tensor; N],
    std: f64,
    finish: impl FnOnce(&Tensor) -> Result<()>,
) -> Result<()> {
    let (dtype, shape) = common(parameters)?;
    let z = Tensor::empty(dtype, &shape)?;
    normal(&z, generator, 0.0, std)?;
    finish(&z)?;
    deliver([Some((r, dtype, &z))])
}
