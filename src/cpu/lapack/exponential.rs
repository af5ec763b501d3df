//! The exponential of a matrix: the matrix is divided by a power of 2, a rational approximation of the exponential is computed, and the
//! result is squared as often.
//!
//! N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005). The
//! approximation is `inverse(V - U) (V + U)`, where U has the odd powers of Padé's numerator and V the even ones. If the norm of the matrix
//! overestimates its powers, it is halved less often: A. H. Al-Mohy and N. J. Higham, A new scaling and squaring algorithm for the matrix
//! exponential, SIAM J. Matrix Anal. Appl. 31 (2009).

use super::lists::{Float, Lists, cube};
use super::multiply::Multiply;
use crate::dtype::{Dtype, Element};
use crate::error::Result;

/// An approximation: the norm up to which its error is less than half a unit in the last place, and the coefficients of its numerator.
struct Pade {
    limit: f64,
    coefficients: &'static [f64],
}

const THREE: &[f64] = &[120.0, 60.0, 12.0, 1.0];
const FIVE: &[f64] = &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0];
const SEVEN: &[f64] = &[17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0];
const NINE: &[f64] = &[17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0];
const THIRTEEN: &[f64] = &[
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];

/// The approximants for float32 and float64; Higham's table 2.3.
const SINGLE: &[Pade] = &[
    Pade { limit: 4.258730016922831e-1, coefficients: THREE },
    Pade { limit: 1.880152677804762, coefficients: FIVE },
    Pade { limit: 3.92572478313866, coefficients: SEVEN },
];
const DOUBLE: &[Pade] = &[
    Pade { limit: 1.495585217958292e-2, coefficients: THREE },
    Pade { limit: 2.53939833006323e-1, coefficients: FIVE },
    Pade { limit: 9.504178996162932e-1, coefficients: SEVEN },
    Pade { limit: 2.097847961257068, coefficients: NINE },
    Pade { limit: 5.371920351148152, coefficients: THIRTEEN },
];

/// Computes the exponentials of n x n matrices.
pub fn exponentials<T: Float>(lists: &Lists<'_>, n: usize) -> Result<()> {
    let table = if T::DTYPE == Dtype::Float32 { SINGLE } else { DOUBLE };
    lists.each::<T, 6>(cube(n, n).saturating_mul(10), 0, &|work, pivots, _| {
        exponential::<T>(work, n, table, pivots);
        0
    })
}

/// Returns the greatest column sum of magnitudes.
fn norm<T: Element>(a: &[T], n: usize) -> f64 {
    let sums = a.chunks_exact(n).map(|column| column.iter().map(|x| x.to_f64().abs()).sum::<f64>());
    sums.fold(0.0, |most, sum| if sum > most || sum.is_nan() { sum } else { most })
}

/// Divides by a power of 2, in two steps, since the power may be too large for one.
fn divide<T: Element>(a: &mut [T], exponent: i32) {
    for part in [exponent / 2, exponent - exponent / 2] {
        let factor = T::from_f64(2f64.powi(-part));
        a.iter_mut().for_each(|x| *x = Element::mul(*x, factor));
    }
}

/// Returns how often a matrix of norm `size` is halved for the approximation: as often as its fourth and sixth power and the
/// approximation's own rounding require, but at most as often as the norm requires.
fn halvings<T: Float>(a: &[T], [spare, square, fourth, sixth]: [&mut [T]; 4], n: usize, size: f64, pade: &Pade) -> i32 {
    let most = (size / pade.limit).log2().ceil();
    // The powers are of the matrix divided by a power of 2, so that they do not overflow. Their logarithms are corrected.
    let shift = size.log2().ceil();
    spare.copy_from_slice(a);
    divide(spare, shift as i32);
    let product = Multiply { m: n, n, k: n, transposed: [false, false] };
    product.run(square, spare, spare);
    product.run(fourth, square, square);
    product.run(sixth, fourth, square);
    let root = |power: &[T], degree: f64| norm(power, n).log2() / degree + shift;
    let wanted = (root(fourth, 4.0).max(root(sixth, 6.0)) - pade.limit.log2()).ceil().clamp(0.0, most);
    // The first omitted term of the approximation, with the magnitudes of all elements, is compared with the unit of rounding.
    let degree = pade.coefficients.len() - 1;
    let (sums, next, mut logarithm) = (&mut square[..n], &mut fourth[..n], 0.0);
    sums.fill(T::from_f64(1.0));
    for _ in 0..2 * degree + 1 {
        for (to, column) in next.iter_mut().zip(spare.chunks_exact(n)) {
            *to = T::from_f64(column.iter().zip(&*sums).map(|(x, sum)| x.to_f64().abs() * sum.to_f64()).sum());
        }
        let greatest = next.iter().map(|x| x.to_f64()).fold(0.0, f64::max);
        logarithm += greatest.log2();
        sums.iter_mut().zip(&*next).for_each(|(to, x)| *to = T::from_f64(x.to_f64() / greatest));
    }
    let factor: f64 = (1..=degree).map(|k| (k as f64).log2() - ((degree + k) as f64).log2()).sum();
    let factorial: f64 = (1..=2 * degree + 1).map(|k| (k as f64).log2()).sum();
    let ratio = factor - factorial + logarithm - norm(spare, n).log2() + 2.0 * degree as f64 * (shift - wanted);
    let unit = if T::DTYPE == Dtype::Float32 { -24.0 } else { -53.0 };
    let more = ((ratio - unit) / (2.0 * degree as f64)).ceil().max(0.0);
    // NaN, which results from powers that are 0, requires no halving.
    (wanted + if more.is_nan() { 0.0 } else { more }).min(most) as i32
}

/// Replaces `a` by its exponential.
fn exponential<T: Float>([a, squared, power, odd, even, spare]: [&mut [T]; 6], n: usize, table: &[Pade], pivots: &mut [i32]) {
    let size = norm(a, n);
    if !size.is_finite() {
        return a.fill(T::from_f64(f64::NAN));
    }
    let product = Multiply { m: n, n, k: n, transposed: [false, false] };
    let last = &table[table.len() - 1];
    let pade = table.iter().find(|pade| size <= pade.limit).unwrap_or(last);
    let halvings = if size > last.limit { halvings(a, [squared, power, odd, spare], n, size, last) } else { 0 };
    divide(a, halvings);
    product.run(squared, a, a);
    let identity = |to: &mut [T], value: f64| {
        to.fill(T::from_f64(0.0));
        (0..n).for_each(|i| to[i + i * n] = T::from_f64(value));
    };
    let add = |to: &mut [T], factor: f64, from: &[T]| {
        let factor = T::from_f64(factor);
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = Element::add(*to, Element::mul(factor, from)));
    };
    let c = pade.coefficients;
    // The coefficients are scaled so that the first becomes 1. The exponential of a nilpotent matrix is then exact.
    let c = |k: usize| c[k] / c[0];
    // `spare` collects the odd powers without their last factor.
    identity(spare, c(1));
    identity(even, 1.0);
    identity(power, 1.0);
    for k in (2..pade.coefficients.len()).step_by(2) {
        product.run(odd, power, squared);
        power.copy_from_slice(odd);
        add(even, c(k), power);
        add(spare, c(k + 1), power);
    }
    product.run(odd, a, spare);
    // spare = V - U, a = V + U.
    spare.copy_from_slice(even);
    add(spare, -1.0, odd);
    a.copy_from_slice(even);
    add(a, 1.0, odd);
    T::getrf(spare, n, n, pivots);
    T::getrs(spare, n, pivots, a, n);
    for _ in 0..halvings {
        product.run(spare, a, a);
        a.copy_from_slice(spare);
    }
}
