//! Determinants, computed from the diagonal of U.

use super::lists::{Float, Lists, cube, elements};
use crate::error::Result;
use crate::launch::Determinant;

/// Computes the two numbers of the determinant of each n x n matrix.
pub fn det<T: Float>(lists: &Lists<'_>, n: usize, form: Determinant) -> Result<()> {
    let factors = Lists { blocks: &lists.blocks[..1], ..*lists };
    // The pivots, and the exponent of the power of 2 that the matrix was multiplied by.
    factors.each::<T, 1>(cube(n, n), 0, &|[a], integers, _| {
        let (pivots, exponent) = integers.split_at_mut(n);
        exponent[0] = T::headroom(a);
        T::getrf(a, n, n, pivots);
        0
    })?;
    let Some(integers) = lists.integers else { unreachable!("pivots and an exponent for each matrix") };
    // SAFETY: lists do not overlap, and no other thread accesses them.
    let (lu, values, integers) = unsafe { (elements::<T>(lists.block(0)), elements::<f64>(lists.block(1)), elements::<i32>(integers)) };
    for (i, value) in values.chunks_exact_mut(2).enumerate() {
        let (exchanges, exponent) = integers[i * (n + 1)..(i + 1) * (n + 1)].split_at(n);
        let odd = exchanges.iter().enumerate().filter(|&(i, &pivot)| pivot != i as i32 + 1).count() % 2 == 1;
        let a = &lu[i * n * n..(i + 1) * n * n];
        let (sign, power) = (if odd { -1.0 } else { 1.0 }, -(n as i64) * i64::from(exponent[0]));
        value.copy_from_slice(&numbers(form, sign, power, (0..n).map(|k| a[k + k * n].to_f64())));
    }
    Ok(())
}

/// Returns the numbers of a determinant: the sign of the permutation times the product of the diagonal times `2^power`.
fn numbers(form: Determinant, sign: f64, power: i64, diagonal: impl Iterator<Item = f64>) -> [f64; 2] {
    if form == Determinant::Value {
        // The exponents are kept separately, so that a product of large and small elements neither overflows nor underflows in between.
        let (product, exponent) = diagonal.fold((sign, power), |(product, exponent), x| {
            let ((product, more), (x, own)) = (split(product), split(x));
            (product * x, exponent + more + own)
        });
        return [scaled(product, exponent), 0.0];
    }
    let (sign, sum) = diagonal.fold((sign, logarithm_of(power)), |(sign, sum), x| (signed(sign, x), sum + x.abs().ln()));
    match form {
        Determinant::Logarithm => [if sign < 0.0 { f64::NAN } else { sum }, 0.0],
        _ => [sign, sum],
    }
}

/// Returns the parts of `x = fraction * 2^exponent`. The magnitude of the fraction is from 1 to 2 if `x` is finite and not 0.
fn split(x: f64) -> (f64, i64) {
    const BITS: u64 = 0x7ff0_0000_0000_0000;
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Subnormal numbers are scaled first, because their exponent bits are 0.
    let (x, shift) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(64), -64) } else { (x, 0) };
    let fraction = f64::from_bits(x.to_bits() & !BITS | 1f64.to_bits());
    (fraction, ((x.to_bits() & BITS) >> 52) as i64 - 1023 + shift)
}

/// Returns `x * 2^exponent`, rounded once.
fn scaled(x: f64, exponent: i64) -> f64 {
    let (x, own) = split(x);
    // No factor except the last may leave the range of normal numbers.
    let exponent = (exponent + own).clamp(-1200, 1200) as i32;
    let first = exponent.clamp(-1000, 1000);
    x * 2f64.powi(first) * 2f64.powi(exponent - first)
}

/// Returns the logarithm of `2^power`.
fn logarithm_of(power: i64) -> f64 {
    power as f64 * std::f64::consts::LN_2
}

/// Returns `sign` times the sign of `x`; 0 if either is 0.
fn signed(sign: f64, x: f64) -> f64 {
    if sign == 0.0 || x == 0.0 { 0.0 } else { sign * x.signum() }
}
