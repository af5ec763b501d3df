//! Determinants, of the diagonal of U.

use super::{Batch, Matrices, cube, elements_mut, float};
use crate::cpu::lapack::Lapack;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::ops::dense::elements;
use crate::ops::result::deliver;
use crate::ops::view;
use crate::tensor::Tensor;

/// `r` = the determinants.
pub fn det(r: &Tensor, t: &Tensor) -> Result<()> {
    // The exponents are kept apart: a product of great and small elements neither overflows nor underflows on the way.
    let (dtype, values) = diagonals(t, |sign, power, diagonal| {
        let (product, exponent) = diagonal.fold((sign, power), |(product, exponent), x| {
            let ((product, more), (x, own)) = (split(product), split(x));
            (product * x, exponent + more + own)
        });
        [scaled(product, exponent), 0.0]
    })?;
    deliver([Some((r, dtype, &part(&values, 0)?))])
}

/// `x = fraction * 2^exponent` with a magnitude of the fraction from 1 to 2, if `x` is finite and not 0.
fn split(x: f64) -> (f64, i64) {
    const BITS: u64 = 0x7ff0_0000_0000_0000;
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Subnormal numbers have no exponent of their own.
    let (x, shift) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(64), -64) } else { (x, 0) };
    let fraction = f64::from_bits(x.to_bits() & !BITS | 1f64.to_bits());
    (fraction, ((x.to_bits() & BITS) >> 52) as i64 - 1023 + shift)
}

/// `x * 2^exponent`, rounded once.
fn scaled(x: f64, exponent: i64) -> f64 {
    let (x, own) = split(x);
    // The last factor alone may leave the range of normal numbers.
    let exponent = (exponent + own).clamp(-1200, 1200) as i32;
    let first = exponent.clamp(-1000, 1000);
    x * 2f64.powi(first) * 2f64.powi(exponent - first)
}

/// `sign` = the sign of the determinants, or 0; `logarithm` = the logarithm of their magnitudes.
pub fn slogdet(sign: Option<&Tensor>, logarithm: Option<&Tensor>, t: &Tensor) -> Result<()> {
    let (dtype, values) = diagonals(t, |sign, power, diagonal| {
        diagonal.fold([sign, logarithm_of(power)], |[sign, sum], x| [signed(sign, x), sum + x.abs().ln()])
    })?;
    let (signs, logarithms) = (part(&values, 0)?, part(&values, 1)?);
    deliver([sign.map(|r| (r, dtype, &signs)), logarithm.map(|r| (r, dtype, &logarithms))])
}

/// The logarithm of `2^power`.
fn logarithm_of(power: i64) -> f64 {
    power as f64 * std::f64::consts::LN_2
}

/// `sign` times the sign of `x`: 0 from the first 0 on.
fn signed(sign: f64, x: f64) -> f64 {
    if sign == 0.0 || x == 0.0 { 0.0 } else { sign * x.signum() }
}

/// `r` = the logarithms of the determinants: NaN where that is negative.
pub fn logdet(r: &Tensor, t: &Tensor) -> Result<()> {
    let (dtype, values) = diagonals(t, |sign, power, diagonal| {
        let (sign, sum) = diagonal.fold((sign, logarithm_of(power)), |(sign, sum), x| (signed(sign, x), sum + x.abs().ln()));
        [if sign < 0.0 { f64::NAN } else { sum }, 0.0]
    })?;
    deliver([Some((r, dtype, &part(&values, 0)?))])
}

/// One of two numbers of each matrix.
fn part(values: &Tensor, k: i64) -> Result<Tensor> {
    view::derive(values, |l| l.select(-1, k))
}

/// Two numbers for each matrix, of the sign of its permutation and the diagonal of U, whose product is to be multiplied by 2 to the power of
/// the second argument.
fn diagonals(t: &Tensor, two: impl Fn(f64, i64, &mut dyn Iterator<Item = f64>) -> [f64; 2] + Sync) -> Result<(Dtype, Tensor)> {
    let dtype = float(&[t])?;
    let of = Matrices::square(t)?;
    let n = of.n();
    let batch = Batch::new(of.batch())?;
    let (mut lu, mut values) = (batch.columns(t)?, batch.empty(Dtype::Float64, &[2])?);
    // Pivots, and the exponent of what the matrix was multiplied by.
    let mut places = batch.empty(Dtype::Int32, &[of.cols.saturating_add(1)])?;
    dispatch!(float, dtype, T => {
        batch.each::<T, 1>(cube(n, n), || 0, [&mut lu], Some(&mut places), &|[a], places, _| {
            let (pivots, exponent) = places.split_at_mut(n);
            exponent[0] = T::headroom(a);
            T::getrf(a, n, n, pivots);
            0
        })
    })?;
    let places = elements::<i32>(&places)?;
    dispatch!(float, dtype, T => {
        let factors = elements::<T>(&lu)?;
        for (i, value) in elements_mut::<f64>(&mut values)?.chunks_exact_mut(2).enumerate() {
            let (exchanges, exponent) = places[i * (n + 1)..(i + 1) * (n + 1)].split_at(n);
            let odd = exchanges.iter().enumerate().filter(|&(i, &pivot)| pivot != i as i32 + 1).count() % 2 == 1;
            let a = &factors[i * n * n..(i + 1) * n * n];
            let made = two(if odd { -1.0 } else { 1.0 }, -(n as i64) * i64::from(exponent[0]), &mut (0..n).map(|k| a[k + k * n].to_f64()));
            value.copy_from_slice(&made);
        }
    });
    Ok((dtype, values))
}
