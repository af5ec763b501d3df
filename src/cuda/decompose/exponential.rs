//! The exponential of a matrix by scaling and squaring: a rational approximation for the matrix divided by 2^s, squared s times.
//!
//! N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005). The
//! approximation is `inverse(V - U) (V + U)`; U has the odd powers and V the even powers of Padé's numerator. If the norms of powers are
//! smaller than the norm implies, the matrix is halved less often: A. H. Al-Mohy and N. J. Higham, A new scaling and squaring algorithm for
//! the matrix exponential, SIAM J. Matrix Anal. Appl. 31 (2009). The greatest matrix of the batch determines the degree for all.

use super::lists::{Args, Exponents, Filling, GREATEST_COLUMNS, Lists, Matrices, NORM_OF_POWER};
use super::lu::{factor, substitute};
use crate::alloc;
use crate::cuda::memory::Scratch;
use crate::dtype::Dtype;
use crate::error::Result;

/// The norms up to which the error of an approximation is below half a unit in the last place, by degree (Higham's table 2.3).
const SINGLE: &[(f64, usize)] = &[(4.258730016922831e-1, 3), (1.880152677804762, 5), (3.92572478313866, 7)];
const DOUBLE: &[(f64, usize)] =
    &[(1.495585217958292e-2, 3), (2.53939833006323e-1, 5), (9.504178996162932e-1, 7), (2.097847961257068, 9), (5.371920351148152, 13)];

/// The coefficients of Padé's numerator of this degree. The first is 1, so that nilpotent matrices stay exact.
fn coefficients(degree: usize) -> Vec<f64> {
    let mut c = vec![1.0];
    for k in 1..=degree {
        let last = c[k - 1];
        c.push(last * (degree + 1 - k) as f64 / (k * (2 * degree + 1 - k)) as f64);
    }
    c
}

/// The number of halvings of a matrix of norm `size` for an approximation with this limit. It is the number that the fourth and sixth power
/// require, whose norms are given as logarithms, plus the number that the rounding of the approximation requires, and at most the number
/// that the norm requires. `growth` is the logarithm of the norm of the first power of magnitudes that the approximation omits, for the
/// matrix divided by `2^shift`.
fn halvings(size: f64, shift: f64, [fourth, sixth]: [f64; 2], [growth, norm]: [f64; 2], (limit, degree): (f64, usize), unit: f64) -> i32 {
    let most = (size / limit).log2().ceil().max(0.0);
    let wanted = ((fourth / 4.0 + shift).max(sixth / 6.0 + shift) - limit.log2()).ceil().clamp(0.0, most);
    let factor: f64 = (1..=degree).map(|k| (k as f64).log2() - ((degree + k) as f64).log2()).sum();
    let factorial: f64 = (1..=2 * degree + 1).map(|k| (k as f64).log2()).sum();
    let ratio = factor - factorial + growth - norm + 2.0 * degree as f64 * (shift - wanted);
    let more = ((ratio - unit) / (2.0 * degree as f64)).ceil().max(0.0);
    // NaN, which powers that are 0 give, adds nothing.
    (wanted + if more.is_nan() { 0.0 } else { more }).min(most) as i32
}

/// The lists and the order of the matrices.
struct Work<'a> {
    lists: &'a Lists<'a>,
    n: i64,
}

impl Work<'_> {
    fn product(&self, to: Matrices, a: Matrices, b: Matrices) -> Result<()> {
        let n = self.n;
        self.lists.multiply([n, n, n], (0.0, to.block()), (1.0, a.block(), b.block()))
    }

    fn fill(&self, filling: Filling, number: f64, a: Matrices, b: Matrices) -> Result<()> {
        let n = self.n;
        self.lists.fill_with(n, &Args { a, b, m: n, n, mode: filling as i32, number, ..self.lists.args() })
    }

    /// The norm of each matrix.
    fn norms(&self, a: Matrices) -> Result<Vec<f64>> {
        self.numbers(|to| self.lists.run(&GREATEST_COLUMNS, 1, &Args { a, b: to, n: self.n, ..self.lists.args() }))
    }

    /// One number for each matrix, which `f` writes to memory.
    fn numbers(&self, f: impl FnOnce(Matrices) -> Result<()>) -> Result<Vec<f64>> {
        let (gpu, count) = (self.lists.gpu, self.lists.count as usize);
        let memory = gpu.scratch(count * 8)?;
        f(Matrices { first: memory.ptr(), size: 1, step: 1 })?;
        let mut numbers = alloc::list(count, |_| Ok(0.0))?;
        // SAFETY: the scratch memory has this many numbers.
        unsafe { gpu.read(memory.ptr(), &mut numbers) }?;
        Ok(numbers)
    }

    /// The number of halvings of each matrix.
    fn halvings(&self, sizes: &[f64], [a, spare, square, fourth, sixth]: [Matrices; 5], (limit, degree): (f64, usize)) -> Result<Vec<i32>> {
        let is_large = |size: f64| size.is_finite() && size > limit;
        let mut found = alloc::list(sizes.len(), |_| Ok(0))?;
        if !sizes.iter().any(|&size| is_large(size)) {
            return Ok(found);
        }
        // The powers are computed for the matrix divided by a power of 2, so that they do not overflow.
        let shift = |size: f64| if size > 0.0 && size.is_finite() { size.log2().ceil() } else { 0.0 };
        let shifts = alloc::list(sizes.len(), |i| Ok(shift(sizes[i]) as i32))?;
        self.fill(Filling::Copy, 0.0, spare, a)?;
        self.divide(spare, &shifts)?;
        self.product(square, spare, spare)?;
        self.product(fourth, square, square)?;
        self.product(sixth, fourth, square)?;
        let (of_fourth, of_sixth, norms) = (self.norms(fourth)?, self.norms(sixth)?, self.norms(spare)?);
        let vectors = self.lists.gpu.scratch((self.lists.count * 2 * self.n) as usize * 8)?;
        let c = Matrices { first: vectors.ptr(), size: 2 * self.n, step: 1 };
        let growth = self.numbers(|to| {
            let args = Args { a: spare, b: to, c, n: self.n, k: 2 * degree as i64 + 1, ..self.lists.args() };
            self.lists.run(&NORM_OF_POWER, 1, &args)
        })?;
        let unit = if self.lists.dtype == Dtype::Float32 { -24.0 } else { -53.0 };
        for (i, to) in found.iter_mut().enumerate().filter(|&(i, _)| is_large(sizes[i])) {
            let powers = [of_fourth[i].log2(), of_sixth[i].log2()];
            *to = halvings(sizes[i], shift(sizes[i]), powers, [growth[i], norms[i].log2()], (limit, degree), unit);
        }
        Ok(found)
    }

    /// Divides each matrix by a power of 2.
    fn divide(&self, a: Matrices, exponents: &[i32]) -> Result<()> {
        let (_memory, to) = self.upload(exponents)?;
        self.lists.rescale(a, [self.n, self.n], to, -1)
    }

    fn upload(&self, exponents: &[i32]) -> Result<(Scratch<'_>, Exponents)> {
        let (memory, to) = self.lists.exponents()?;
        // SAFETY: the scratch memory has an exponent for each matrix.
        unsafe { self.lists.gpu.write(to.at, exponents) }?;
        Ok((memory, to))
    }
}

/// Computes exponentials of n x n matrices; NaN for matrices with an element that is not finite.
pub fn exponentials(lists: &Lists<'_>, n: i64) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let work = Work { lists, n };
    let [a, squared, power, odd, even, spare] = [0, 1, 2, 3, 4, 5].map(|k| lists.matrices(k, n));
    let sizes = work.norms(a)?;
    let table = if lists.dtype == Dtype::Float32 { SINGLE } else { DOUBLE };
    let most = sizes.iter().copied().filter(|size| size.is_finite()).fold(0.0, f64::max);
    let pade = table.iter().find(|(limit, _)| most <= *limit).unwrap_or(&table[table.len() - 1]);
    let halvings = work.halvings(&sizes, [a, squared, power, odd, spare], *pade)?;
    work.divide(a, &halvings)?;
    work.product(squared, a, a)?;
    let c = coefficients(pade.1);
    // `spare` accumulates the odd powers without their last factor.
    work.fill(Filling::Identity, c[1], spare, spare)?;
    work.fill(Filling::Identity, 1.0, even, even)?;
    work.fill(Filling::Identity, 1.0, power, power)?;
    for k in (2..c.len()).step_by(2) {
        work.product(odd, power, squared)?;
        work.fill(Filling::Copy, 0.0, power, odd)?;
        work.fill(Filling::Add, c[k], even, power)?;
        work.fill(Filling::Add, c[k + 1], spare, power)?;
    }
    work.product(odd, a, spare)?;
    // spare = V - U, a = V + U.
    work.fill(Filling::Copy, 0.0, spare, even)?;
    work.fill(Filling::Add, -1.0, spare, odd)?;
    work.fill(Filling::Copy, 0.0, a, even)?;
    work.fill(Filling::Add, 1.0, a, odd)?;
    factor(lists, spare, n, n)?;
    substitute(lists, spare, n, (a, n))?;
    // The info of matrices that are not finite is 0, too.
    lists.clear_infos()?;
    let (_memory, exponents) = work.upload(&halvings)?;
    for step in 0..halvings.iter().copied().max().unwrap_or(0) {
        work.product(spare, a, a)?;
        let args = Args { from: step.into(), exponents: exponents.at, exponent_step: exponents.step, ..lists.args() };
        lists.fill_with(n, &Args { a, b: spare, m: n, n, mode: Filling::CopySome as i32, ..args })?;
    }
    if sizes.iter().all(|size| size.is_finite()) {
        return Ok(());
    }
    lists.set_infos(&alloc::list(sizes.len(), |i| Ok(i32::from(!sizes[i].is_finite())))?)?;
    work.fill(Filling::SpoilFailed, 0.0, a, a)?;
    lists.clear_infos()
}

#[cfg(test)]
mod tests {
    use super::coefficients;

    #[test]
    fn coefficients_are_those_of_the_numerator() {
        let three = coefficients(3).iter().map(|c| c * 120.0).collect::<Vec<_>>();
        let thirteen = coefficients(13).iter().map(|c| c * 64764752532480000.0).collect::<Vec<_>>();
        assert_eq!(three, [120.0, 60.0, 12.0, 1.0]);
        assert!((thirteen[13] - 1.0).abs() < 1e-12 && (thirteen[6] - 670442572800.0).abs() < 1.0);
    }
}
