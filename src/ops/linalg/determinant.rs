//! Determinants, of the diagonal of U.

use super::{Batch, Matrices, cube, float};
use crate::cpu::lapack::Lapack;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::ops::result::deliver;
use crate::ops::view;
use crate::tensor::Tensor;

/// `r` = the determinants.
pub fn det(r: &Tensor, t: &Tensor) -> Result<()> {
    let (dtype, values) = diagonals(t, |sign, diagonal| {
        // Halves of the exponents are kept apart: a product of great and small elements neither overflows nor underflows on the way.
        let (mut product, mut exponent) = (sign, 0i32);
        for x in diagonal {
            product *= x;
            if product != 0.0 && product.is_finite() && !(1e-100..1e100).contains(&product.abs()) {
                let shift = product.abs().log2().floor() as i32;
                product *= 2f64.powi(-shift / 2) * 2f64.powi(-(shift - shift / 2));
                exponent = exponent.saturating_add(shift);
            }
        }
        [product * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2), 0.0]
    })?;
    deliver([Some((r, dtype, &part(&values, 0)?))])
}

/// `sign` = the sign of the determinants, or 0; `logarithm` = the logarithm of their magnitudes.
pub fn slogdet(sign: Option<&Tensor>, logarithm: Option<&Tensor>, t: &Tensor) -> Result<()> {
    let (dtype, values) = diagonals(t, |sign, diagonal| {
        diagonal.fold([sign, 0.0], |[sign, sum], x| [if x == 0.0 { 0.0 } else { sign * x.signum() }, sum + x.abs().ln()])
    })?;
    let (signs, logarithms) = (part(&values, 0)?, part(&values, 1)?);
    deliver([sign.map(|r| (r, dtype, &signs)), logarithm.map(|r| (r, dtype, &logarithms))])
}

/// `r` = the logarithms of the determinants: NaN where that is negative.
pub fn logdet(r: &Tensor, t: &Tensor) -> Result<()> {
    let (dtype, values) = diagonals(t, |sign, diagonal| {
        let (sign, sum) = diagonal.fold((sign, 0.0), |(sign, sum), x| (if x < 0.0 { -sign } else { sign }, sum + x.abs().ln()));
        [if sign < 0.0 && sum != f64::NEG_INFINITY { f64::NAN } else { sum }, 0.0]
    })?;
    deliver([Some((r, dtype, &part(&values, 0)?))])
}

/// One of two numbers of each matrix.
fn part(values: &Tensor, k: i64) -> Result<Tensor> {
    view::derive(values, |l| l.select(-1, k))
}

/// Two numbers for each matrix, of the sign of its permutation and the diagonal of U.
fn diagonals(t: &Tensor, two: impl Fn(f64, &mut dyn Iterator<Item = f64>) -> [f64; 2] + Sync) -> Result<(Dtype, Tensor)> {
    let dtype = float(&[t])?;
    let of = Matrices::square(t)?;
    let n = of.n();
    let batch = Batch::new(of.batch())?;
    let (mut lu, mut values, mut pivots) = (batch.columns(t)?, batch.empty(Dtype::Float64, &[2])?, batch.empty(Dtype::Int32, &[of.cols])?);
    dispatch!(float, dtype, T => {
        batch.each::<T, 1>(cube(n, n), || 0, [&mut lu], Some(&mut pivots), &|[a], pivots, _| T::getrf(a, n, n, pivots).min(0))
    })?;
    let exchanges = super::super::dense::elements::<i32>(&pivots)?;
    dispatch!(float, dtype, T => {
        let factors = super::super::dense::elements::<T>(&lu)?;
        for (i, value) in super::elements_mut::<f64>(&mut values)?.chunks_exact_mut(2).enumerate() {
            let odd = exchanges[i * n..(i + 1) * n].iter().enumerate().filter(|&(i, &pivot)| pivot != i as i32 + 1).count() % 2 == 1;
            let a = &factors[i * n * n..(i + 1) * n * n];
            let made = two(if odd { -1.0 } else { 1.0 }, &mut (0..n).map(|k| a[k + k * n].to_f64()));
            value.copy_from_slice(&made);
        }
    });
    Ok((dtype, values))
}
