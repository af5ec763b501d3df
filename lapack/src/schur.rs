//! Eigenvectors from the Schur form: an upper triangular matrix with a 2 x 2 block on the diagonal for each pair of complex eigenvalues.
//!
//! Back substitution with the conventions of LAPACK's xTREVC and xLALN2. A divisor that is smaller than the rounding error of the
//! eigenvalue is replaced by that error. A vector is scaled before it overflows, so that the vectors of defective matrices are finite, too.
//! faer's substitution compares the determinants of blocks with the norm of the matrix, not with its square, and does not scale.

use crate::float::{Float, axpy, fast, greatest};
use crate::francis;
use crate::lu::column;
use faer::linalg::matmul::matmul;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};

/// The number of vectors that are computed together. Also the number of rows that are eliminated one by one before a product updates the
/// rest.
const BLOCK: usize = 64;

/// The real and the imaginary part.
type Complex<T> = [T; 2];

/// The matrix, and the limits for its eigenvectors.
pub struct Schur<'a, T: Float> {
    t: MatRef<'a, T>,
    /// The sum of the magnitudes above the diagonal for each column.
    sums: &'a [T],
    /// The smallest divisor.
    least: T,
    /// The largest magnitude that elements may reach.
    most: T,
}

/// An eigenvector that is being computed.
struct Vector<'a, T> {
    re: &'a mut [T],
    /// Empty if the eigenvalue is real.
    im: &'a mut [T],
    value: Complex<T>,
    /// The first row of the eigenvalue's diagonal block.
    top: usize,
    /// A divisor smaller than this is replaced by this.
    smallest: T,
}

/// Returns true if no two adjacent elements below the diagonal are nonzero, so that all blocks have one or two rows.
pub fn is_form<T: Float>(t: MatRef<'_, T>) -> bool {
    (2..t.nrows()).all(|i| t[(i, i - 1)] == T::default() || t[(i - 1, i - 2)] == T::default())
}

/// Rotates the 2 x 2 blocks of `t`, and with them `z`, into the standard form that [`Schur`] needs. Writes their eigenvalues.
///
/// faer leaves blocks in standard form, and blocks with a 0 above the diagonal, whose eigenvalues are real and equal.
pub fn standardize<T: Float>(mut t: MatMut<'_, T>, mut z: MatMut<'_, T>, re: &mut [T], im: &mut [T]) {
    for k in 1..t.nrows() {
        if t[(k, k - 1)] != T::default() {
            francis::pair(t.rb_mut(), Some(z.rb_mut()), k - 1, re, im);
        }
    }
}

impl<'a, T: Float> Schur<'a, T> {
    /// Writes the columns' sums to `sums`, which has an element for each column.
    pub fn new(t: MatRef<'a, T>, sums: &'a mut [T]) -> Schur<'a, T> {
        let n = t.nrows();
        (0..n).for_each(|j| sums[j] = (0..j).fold(T::default(), |sum, i| sum + t[(i, j)].magnitude()));
        let least = T::LEAST * (T::of(n as f64) / T::EPS);
        Schur { t, sums, least, most: T::ONE / least }
    }

    /// The rows of the diagonal block that ends before row `end`.
    fn size(&self, end: usize) -> usize {
        if end > 1 && self.t[(end - 1, end - 2)] != T::default() { 2 } else { 1 }
    }

    /// The first row of a group of whole blocks that ends before row `end`.
    fn start(&self, end: usize) -> usize {
        let start = end.saturating_sub(BLOCK);
        if start > 0 && self.t[(start, start - 1)] != T::default() { start - 1 } else { start }
    }

    /// `x` = the eigenvectors, upper triangular: one column for a real eigenvalue, and two, the real and the imaginary part, for a pair.
    pub fn vectors(&self, mut x: MatMut<'_, T>) {
        x.fill(T::default());
        let mut end = self.t.nrows();
        while end > 0 {
            let start = self.start(end);
            let mut some = x.rb_mut().get_mut(.., start..end);
            self.each(some.rb_mut(), start, |vector| vector.seed(self.t));
            let mut high = end;
            while high > 0 {
                let low = self.start(high);
                let bound = self.sums[low..high].iter().fold(T::default(), |sum, &x| sum + x);
                self.each(some.rb_mut(), start, |vector| {
                    fast(
                        #[inline(always)]
                        || self.substitute(vector, low, high),
                    );
                    vector.shrink(low..high, bound, self.most);
                });
                if low == 0 {
                    break;
                }
                let (above, solved) = some.rb_mut().split_at_row_mut(low);
                matmul(above, Accum::Add, self.t.get(..low, low..high), solved.rb().get(..high - low, ..), -T::ONE, Par::Seq);
                high = low;
            }
            self.each(some, start, |vector| {
                let most = greatest(vector.re).greater(greatest(vector.im));
                vector.re.iter_mut().chain(vector.im.iter_mut()).for_each(|x| *x /= most);
            });
            end = start;
        }
    }

    /// Calls `one` with each vector of `x`, whose first column belongs to row `start`.
    fn each(&self, mut x: MatMut<'_, T>, start: usize, mut one: impl FnMut(&mut Vector<'_, T>)) {
        let mut end = x.ncols();
        while end > 0 {
            let size = self.size(start + end);
            let top = start + end - size;
            let (mut left, right) = x.rb_mut().split_at_col_mut(end - size + 1);
            let re = column(left.rb_mut(), end - size);
            let im: &mut [T] = if size == 2 { column(right, 0) } else { &mut [] };
            let mut value = [self.t[(top, top)], T::default()];
            if size == 2 {
                value[1] = self.t[(top + 1, top)].magnitude().root() * self.t[(top, top + 1)].magnitude().root();
            }
            let smallest = (T::EPS * length(value)).greater(self.least);
            one(&mut Vector { re, im, value, top, smallest });
            end -= size;
        }
    }

    /// Solves rows `low..high` of a vector that are above its own block, and eliminates the solved elements from these rows.
    #[inline(always)]
    fn substitute(&self, vector: &mut Vector<'_, T>, low: usize, high: usize) {
        let mut end = high.min(vector.rows());
        while end > low {
            let first = end - self.size(end);
            if first < vector.top {
                let scale = if end - first == 1 { self.divide(vector, first) } else { self.solve(vector, first) };
                if scale != T::ONE {
                    // The solution belongs to the scaled vector.
                    let solved = [0, 1].map(|k| vector.get((first + k).min(end - 1)));
                    vector.scale(scale);
                    (first..end).for_each(|i| vector.set(i, solved[i - first]));
                }
            }
            vector.shrink(first..end, self.sums[first].greater(self.sums[end - 1]), self.most);
            for j in first..end {
                let above = &self.t.col(j).try_as_col_major().expect("columns are contiguous").as_slice()[low..first];
                let [re, im] = vector.get(j);
                axpy(&mut vector.re[low..first], -re, above);
                if !vector.im.is_empty() {
                    axpy(&mut vector.im[low..first], -im, above);
                }
            }
            end = first;
        }
    }

    /// Row i: `x = r / (t - value)`. Returns the factor by which the rest of the vector must be multiplied.
    fn divide(&self, vector: &mut Vector<'_, T>, i: usize) -> T {
        let divisor = large([self.t[(i, i)] - vector.value[0], -vector.value[1]], vector.smallest);
        let r = vector.get(i);
        let scale = self.scale(length(r), length(divisor));
        vector.set(i, quotient(r.map(|r| r * scale), divisor));
        scale
    }

    /// Rows i and i + 1, by elimination with complete pivoting. Returns the same factor as [`Self::divide`].
    fn solve(&self, vector: &mut Vector<'_, T>, i: usize) -> T {
        let (t, zero) = (|k: usize, l: usize| self.t[(i + k, i + l)], T::default());
        let diagonal = |k: usize| [t(k, k) - vector.value[0], -vector.value[1]];
        let mut a = [[diagonal(0), [t(0, 1), zero]], [[t(1, 0), zero], diagonal(1)]];
        let place = [(0, 1), (1, 0), (1, 1)]
            .iter()
            .fold((0, 0), |best, &(k, l)| if length(a[k][l]) > length(a[best.0][best.1]) { (k, l) } else { best });
        let (p, q) = place;
        if length(a[p][q]) < vector.smallest {
            let smallest = [vector.smallest, zero];
            a = [[[zero; 2]; 2]; 2];
            (a[p][q], a[1 - p][1 - q]) = (smallest, smallest);
        }
        let pivot = a[p][q];
        let factor = quotient(a[1 - p][q], pivot);
        let divisor = large(minus(a[1 - p][1 - q], product(factor, a[p][1 - q])), vector.smallest);
        let r = [vector.get(i), vector.get(i + 1)];
        let below = minus(r[1 - p], product(factor, r[p]));
        let scale = self.scale(length(below).greater(length(r[p]) * (length(divisor) / length(pivot))), length(divisor));
        let second = quotient(below.map(|x| x * scale), divisor);
        let first = minus(quotient(r[p].map(|x| x * scale), pivot), product(quotient(a[p][1 - q], pivot), second));
        vector.set(i + q, first);
        vector.set(i + 1 - q, second);
        scale
    }

    /// The factor for the dividend that keeps the quotient from overflowing.
    fn scale(&self, dividend: T, divisor: T) -> T {
        if divisor < T::ONE && dividend > self.most * divisor { T::ONE / dividend } else { T::ONE }
    }
}

impl<T: Float> Vector<'_, T> {
    /// The number of rows that may be nonzero.
    fn rows(&self) -> usize {
        self.top + if self.im.is_empty() { 1 } else { 2 }
    }

    /// Sets the rows of the eigenvalue's block to the eigenvector of the block.
    fn seed(&mut self, t: MatRef<'_, T>) {
        let k = self.top;
        if self.im.is_empty() {
            self.re[k] = T::ONE;
            return;
        }
        let (above, below) = (t[(k, k + 1)], t[(k + 1, k)]);
        (self.re[k], self.im[k + 1]) =
            if above.magnitude() >= below.magnitude() { (T::ONE, self.value[1] / above) } else { (-self.value[1] / below, T::ONE) };
    }

    fn get(&self, i: usize) -> Complex<T> {
        [self.re[i], self.im.get(i).copied().unwrap_or_default()]
    }

    fn set(&mut self, i: usize, [re, im]: Complex<T>) {
        self.re[i] = re;
        if let Some(x) = self.im.get_mut(i) {
            *x = im;
        }
    }

    fn scale(&mut self, factor: T) {
        self.re.iter_mut().chain(self.im.iter_mut()).for_each(|x| *x *= factor);
    }

    /// Scales the vector if products of `rows` with columns of elements up to `bound` might exceed `most`.
    #[inline(always)]
    fn shrink(&mut self, rows: std::ops::Range<usize>, bound: T, most: T) {
        let rows = rows.start..rows.end.min(self.rows()).max(rows.start);
        let im = if self.im.is_empty() { T::default() } else { greatest(&self.im[rows.clone()]) };
        let size = greatest(&self.re[rows]).greater(im);
        if size > T::ONE && bound > most / size {
            self.scale(T::ONE / size);
        }
    }
}

fn length<T: Float>([re, im]: Complex<T>) -> T {
    re.magnitude() + im.magnitude()
}

/// The number, or `smallest` if its magnitude is smaller.
fn large<T: Float>(x: Complex<T>, smallest: T) -> Complex<T> {
    if length(x) < smallest { [smallest, T::default()] } else { x }
}

fn minus<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0] - b[0], a[1] - b[1]]
}

fn product<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Smith's division, which computes no squares.
fn quotient<T: Float>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    if b[0].magnitude() >= b[1].magnitude() {
        let ratio = b[1] / b[0];
        let divisor = b[0] + b[1] * ratio;
        [(a[0] + a[1] * ratio) / divisor, (a[1] - a[0] * ratio) / divisor]
    } else {
        let ratio = b[0] / b[1];
        let divisor = b[0] * ratio + b[1];
        [(a[0] * ratio + a[1]) / divisor, (a[1] * ratio - a[0]) / divisor]
    }
}
