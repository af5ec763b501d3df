//! The exponential of a matrix: a rational approximation of a matrix divided by a power of 2, squared as often.
//!
//! N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005). The approximation
//! is `inverse(V - U) (V + U)` with U the odd powers and V the even ones of Padé's numerator.

use super::{Batch, Matrices, cube, float, transposed};
use crate::cpu::lapack::{Lapack, Multiply};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::ops::result::deliver;
use crate::tensor::Tensor;

/// An approximation: the norm up to which its error is below half a unit in the last place, and the coefficients of its numerator.
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

/// Those for float32 and float64; Higham's table 2.3.
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

/// `r` = the exponentials.
pub fn matrix_exp(r: &Tensor, t: &Tensor) -> Result<()> {
    let dtype = float(&[t])?;
    let of = Matrices::square(t)?;
    let n = of.n();
    let batch = Batch::new(of.batch())?;
    let mut a = batch.columns(t)?;
    let square = || batch.empty(dtype, &[of.rows, of.cols]);
    let (mut squared, mut power, mut odd, mut even, mut spare) = (square()?, square()?, square()?, square()?, square()?);
    let mut pivots = batch.empty(Dtype::Int32, &[of.cols])?;
    let blocks = [&mut a, &mut squared, &mut power, &mut odd, &mut even, &mut spare];
    let table = if dtype == Dtype::Float32 { SINGLE } else { DOUBLE };
    dispatch!(float, dtype, T => batch.each::<T, 6>(cube(n, n).saturating_mul(10), || 0, blocks, Some(&mut pivots), &|work, pivots, _| {
        exponential::<T>(work, n, table, pivots);
        0
    }))?;
    deliver([Some((r, dtype, &transposed(&a)?))])
}

/// The greatest sum of magnitudes in a column.
fn norm<T: Element>(a: &[T], n: usize) -> f64 {
    let sums = a.chunks_exact(n).map(|column| column.iter().map(|x| x.to_f64().abs()).sum::<f64>());
    sums.fold(0.0, |most, sum| if sum > most || sum.is_nan() { sum } else { most })
}

/// `a` = its exponential.
fn exponential<T: Lapack + Element + crate::cpu::matmul::Gemm>(
    [a, squared, power, odd, even, spare]: [&mut [T]; 6],
    n: usize,
    table: &[Pade],
    pivots: &mut [i32],
) {
    let size = norm(a, n);
    if !size.is_finite() {
        return a.fill(T::from_f64(f64::NAN));
    }
    let product = Multiply { m: n, n, k: n, transposed: [false, false] };
    let last = &table[table.len() - 1];
    let pade = table.iter().find(|pade| size <= pade.limit).unwrap_or(last);
    let halvings = if size > last.limit { (size / last.limit).log2().ceil() as i32 } else { 0 };
    // In two steps: the power of 2 itself may be too small.
    for factor in [2f64.powi(-(halvings / 2)), 2f64.powi(-(halvings - halvings / 2))] {
        let factor = T::from_f64(factor);
        a.iter_mut().for_each(|x| *x = Element::mul(*x, factor));
    }
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
    // `spare` gathers the odd powers without their last factor.
    identity(spare, c[1]);
    identity(even, c[0]);
    identity(power, 1.0);
    for k in (2..c.len()).step_by(2) {
        product.run(odd, power, squared);
        power.copy_from_slice(odd);
        add(even, c[k], power);
        add(spare, c[k + 1], power);
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
