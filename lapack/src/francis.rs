//! The Schur form of small Hessenberg matrices by Francis's double-shift steps, the method of LAPACK's xLAHQR and xLANV2.
//!
//! faer's method is the same, but its reflectors are written for any length. For three rows they take as long as all the rest.

use crate::float::{Float, view_mut};
use faer::MatMut;
use faer::prelude::ReborrowMut;

/// Returns true if this method is faster for order n than faer's, which uses many shifts at once.
pub fn suits(n: usize, vectors: bool) -> bool {
    n < if vectors { 100 } else { 256 }
}

/// The largest number of steps for each eigenvalue is this times the number of rows, or times 10 for smaller matrices.
const STEPS: usize = 30;

/// A square matrix in column-major order.
struct Square<'a, T> {
    data: &'a mut [T],
    n: usize,
}

impl<T: Float> Square<'_, T> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> T {
        self.data[i + j * self.n]
    }

    #[inline(always)]
    fn set(&mut self, i: usize, j: usize, x: T) {
        self.data[i + j * self.n] = x;
    }

    /// Applies a reflector to rows `k..k + N` of columns `cols`.
    #[inline(always)]
    fn reflect_rows<const N: usize>(&mut self, k: usize, cols: std::ops::Range<usize>, v: [T; 3], tau: T) {
        for j in cols {
            let col = &mut self.data[j * self.n + k..][..N];
            let sum = tau * (1..N).fold(col[0], |sum, l| sum + v[l] * col[l]);
            col[0] -= sum;
            (1..N).for_each(|l| col[l] -= sum * v[l]);
        }
    }

    /// Applies a reflector to columns `k..k + N` of rows `rows`.
    #[inline(always)]
    fn reflect_cols<const N: usize>(&mut self, k: usize, rows: std::ops::Range<usize>, v: [T; 3], tau: T) {
        let (x, others) = self.data[k * self.n..(k + N) * self.n].split_at_mut(self.n);
        let (y, z) = others.split_at_mut(self.n);
        let (x, y) = (&mut x[rows.clone()], &mut y[rows.clone()]);
        if N == 2 {
            for (x, y) in x.iter_mut().zip(y) {
                let sum = tau * (*x + v[1] * *y);
                *x -= sum;
                *y -= sum * v[1];
            }
            return;
        }
        for ((x, y), z) in x.iter_mut().zip(y).zip(&mut z[rows]) {
            let sum = tau * (*x + v[1] * *y + v[2] * *z);
            *x -= sum;
            *y -= sum * v[1];
            *z -= sum * v[2];
        }
    }
}

/// Reduces the Hessenberg matrix `h` to Schur form and multiplies `z` by the Schur vectors. Without `z`, computes only the eigenvalues.
/// Returns false if there is no convergence.
#[inline(always)]
pub fn schur<T: Float>(h: &mut [T], n: usize, z: Option<&mut [T]>, re: &mut [T], im: &mut [T]) -> bool {
    let mut h = Square { data: h, n };
    let mut z = z.map(|data| Square { data, n });
    let limit = STEPS * n.max(10);
    let mut end = n;
    while end > 0 {
        let mut step = 0;
        let first = loop {
            let first = negligible(&mut h, end);
            if first + 2 >= end {
                break first;
            }
            if step == limit {
                return false;
            }
            let shifts = shifts(&h, first, end, step);
            francis(&mut h, z.as_mut(), first, end, shifts);
            step += 1;
        };
        (re[end - 1], im[end - 1]) = (h.at(end - 1, end - 1), T::default());
        if first + 2 == end {
            let turned = z.as_mut().map(|z| view_mut(z.data, n, n));
            pair(view_mut(h.data, n, n), turned, first, re, im);
        }
        end = first;
    }
    true
}

/// Finds the last block before row `end` that is decoupled from the rows above it. Sets the negligible element to 0 and returns the block's
/// first row.
#[inline(always)]
fn negligible<T: Float>(h: &mut Square<'_, T>, end: usize) -> usize {
    let least = T::LEAST * (T::of(h.n as f64) / T::EPS);
    for k in (1..end).rev() {
        if is_negligible(h, k, least) {
            h.set(k, k - 1, T::default());
            return k;
        }
    }
    0
}

/// Returns true if the element left of the diagonal in row k is negligible: below `least`, or without effect on the eigenvalues.
#[inline(always)]
fn is_negligible<T: Float>(h: &Square<'_, T>, k: usize, least: T) -> bool {
    let below = h.at(k, k - 1).magnitude();
    if below <= least {
        return true;
    }
    let (before, here) = (h.at(k - 1, k - 1), h.at(k, k));
    let mut size = before.magnitude() + here.magnitude();
    if size == T::default() {
        size += if k > 1 { h.at(k - 1, k - 2).magnitude() } else { T::default() };
        size += if k + 1 < h.n { h.at(k + 1, k).magnitude() } else { T::default() };
    }
    if below > T::EPS * size {
        return false;
    }
    // The criterion of Ahues and Tisseur.
    let (less, more) = ordered(below, h.at(k - 1, k).magnitude());
    let (smaller, larger) = ordered(here.magnitude(), (before - here).magnitude());
    let sum = larger + more;
    less * (more / sum) <= least.greater(T::EPS * (smaller * (larger / sum)))
}

#[inline(always)]
fn ordered<T: Float>(a: T, b: T) -> (T, T) {
    if a <= b { (a, b) } else { (b, a) }
}

/// The eigenvalues of the last two rows. A real pair is replaced by the eigenvalue nearer to the last diagonal element, twice. At every
/// tenth step, other numbers of this size are used, because these did not converge.
#[inline(always)]
fn shifts<T: Float>(h: &Square<'_, T>, first: usize, end: usize, step: usize) -> [[T; 2]; 2] {
    let zero = T::default();
    let [a, b, c, d] = match step % 20 {
        10 => exceptional(h.at(first, first), h.at(first + 1, first).magnitude() + h.at(first + 2, first + 1).magnitude()),
        0 if step > 0 => exceptional(h.at(end - 1, end - 1), h.at(end - 1, end - 2).magnitude() + h.at(end - 2, end - 3).magnitude()),
        _ => [h.at(end - 2, end - 2), h.at(end - 2, end - 1), h.at(end - 1, end - 2), h.at(end - 1, end - 1)],
    };
    let size = a.magnitude() + b.magnitude() + c.magnitude() + d.magnitude();
    if size == zero {
        return [[zero; 2]; 2];
    }
    let [a, b, c, d] = [a, b, c, d].map(|x| x / size);
    let mean = (a + d) / T::of(2.0);
    let determinant = (a - mean) * (d - mean) - b * c;
    let root = determinant.magnitude().root();
    if determinant >= zero {
        return [[mean * size, root * size], [mean * size, -root * size]];
    }
    let (x, y) = (mean + root, mean - root);
    let near = if (x - d).magnitude() <= (y - d).magnitude() { x } else { y };
    [[near * size, zero]; 2]
}

#[inline(always)]
fn exceptional<T: Float>(diagonal: T, size: T) -> [T; 4] {
    let a = T::of(0.75) * size + diagonal;
    [a, T::of(-0.4375) * size, size, a]
}

/// Does one double-shift step in rows and columns `first..end`.
#[inline(always)]
fn francis<T: Float>(h: &mut Square<'_, T>, mut z: Option<&mut Square<'_, T>>, first: usize, end: usize, shifts: [[T; 2]; 2]) {
    let n = h.n;
    let (top, right) = if z.is_some() { (0, n) } else { (first, end) };
    let (start, mut v) = bulge(h, first, end, shifts);
    for k in start..end - 1 {
        let three = k + 2 < end;
        if k > start {
            v = [h.at(k, k - 1), h.at(k + 1, k - 1), if three { h.at(k + 2, k - 1) } else { T::default() }];
        }
        let (beta, tau) = reflector(&mut v);
        if k > start {
            h.set(k, k - 1, beta);
            h.set(k + 1, k - 1, T::default());
            if three {
                h.set(k + 2, k - 1, T::default());
            }
        } else if start > first {
            // The other elements of this row and column are negligible.
            h.set(k, k - 1, h.at(k, k - 1) * (T::ONE - tau));
        }
        if three {
            h.reflect_rows::<3>(k, k..right, v, tau);
            h.reflect_cols::<3>(k, top..end.min(k + 4), v, tau);
            if let Some(z) = z.as_deref_mut() {
                z.reflect_cols::<3>(k, 0..n, v, tau);
            }
        } else {
            h.reflect_rows::<2>(k, k..right, v, tau);
            h.reflect_cols::<2>(k, top..end, v, tau);
            if let Some(z) = z.as_deref_mut() {
                z.reflect_cols::<2>(k, 0..n, v, tau);
            }
        }
    }
}

/// The row at which the step begins, and the first column of the shifted matrix's square there. It is the last row above which two small
/// elements make the coupling negligible.
#[inline(always)]
fn bulge<T: Float>(h: &Square<'_, T>, first: usize, end: usize, [x, y]: [[T; 2]; 2]) -> (usize, [T; 3]) {
    let mut m = end - 3;
    loop {
        let (here, next) = (h.at(m, m), h.at(m + 1, m + 1));
        let size = (here - y[0]).magnitude() + y[1].magnitude() + h.at(m + 1, m).magnitude();
        let below = h.at(m + 1, m) / size;
        let v = [
            below * h.at(m, m + 1) + (here - x[0]) * ((here - y[0]) / size) - x[1] * (y[1] / size),
            below * (here + next - x[0] - y[0]),
            below * h.at(m + 2, m + 1),
        ];
        let sum = v[0].magnitude() + v[1].magnitude() + v[2].magnitude();
        let v = v.map(|v| v / sum);
        if m == first {
            return (m, v);
        }
        let around = h.at(m - 1, m - 1).magnitude() + here.magnitude() + next.magnitude();
        if h.at(m, m - 1).magnitude() * (v[1].magnitude() + v[2].magnitude()) <= T::EPS * v[0].magnitude() * around {
            return (m, v);
        }
        m -= 1;
    }
}

/// Turns a column into the vector of a reflector whose first element is 1. Returns the reflected first element and tau.
#[inline(always)]
fn reflector<T: Float>(v: &mut [T; 3]) -> (T, T) {
    let most = v[0].magnitude().greater(v[1].magnitude()).greater(v[2].magnitude());
    if v[1] == T::default() && v[2] == T::default() {
        return (v[0], T::default());
    }
    let scale = most.power_of_two();
    let [a, b, c] = v.map(|x| x / scale);
    let beta = -(a * a + b * b + c * c).root().with_sign(a);
    *v = [T::ONE, b / (a - beta), c / (a - beta)];
    (beta * scale, (beta - a) / beta)
}

/// Rotates rows and columns k and k + 1 into standard form: two real eigenvalues on the diagonal, or the real part of a complex pair twice.
/// Writes the eigenvalues to `re` and `im`. Without `z`, other rows and columns are unchanged.
#[inline(always)]
pub fn pair<T: Float>(mut h: MatMut<'_, T>, z: Option<MatMut<'_, T>>, k: usize, re: &mut [T], im: &mut [T]) {
    let n = h.ncols();
    let ([a, b, c, d], turn) = standard([h[(k, k)], h[(k, k + 1)], h[(k + 1, k)], h[(k + 1, k + 1)]]);
    (re[k], re[k + 1]) = (a, d);
    im[k] = if c == T::default() { c } else { b.magnitude().root() * c.magnitude().root() };
    im[k + 1] = -im[k];
    if c == T::default() {
        im[k + 1] = c;
    }
    (h[(k, k)], h[(k, k + 1)], h[(k + 1, k)], h[(k + 1, k + 1)]) = (a, b, c, d);
    let Some(z) = z else { return };
    let rows = h.rb_mut().get_mut(k..k + 2, k + 2..).transpose_mut();
    rotate(rows, turn);
    rotate(h.get_mut(..k, k..k + 2), turn);
    rotate(z.get_mut(..n, k..k + 2), turn);
}

/// `x = cos x + sin y`, `y = cos y - sin x` for two columns
#[inline(always)]
fn rotate<T: Float>(mut columns: MatMut<'_, T>, [cos, sin]: [T; 2]) {
    for i in 0..columns.nrows() {
        let (x, y) = (columns[(i, 0)], columns[(i, 1)]);
        (columns[(i, 0)], columns[(i, 1)]) = (cos * x + sin * y, cos * y - sin * x);
    }
}

/// The standard form of a 2 x 2 matrix, and the cosine and sine of the rotation. The standard form is upper triangular if the eigenvalues
/// are real. Otherwise its diagonal elements are equal, and the others have different signs.
#[inline(always)]
fn standard<T: Float>([a, b, c, d]: [T; 4]) -> ([T; 4], [T; 2]) {
    let (zero, one, two) = (T::default(), T::ONE, T::of(2.0));
    if c == zero {
        return ([a, b, c, d], [one, zero]);
    }
    if b == zero {
        return ([d, -c, zero, a], [zero, one]);
    }
    let difference = a - d;
    if difference == zero && (b < zero) != (c < zero) {
        return ([a, b, c, d], [one, zero]);
    }
    let half = difference / two;
    let (least, most) = ordered(b.magnitude(), c.magnitude());
    let least = if (b < zero) == (c < zero) { least } else { -least };
    let scale = half.magnitude().greater(most);
    let discriminant = (half / scale) * half + (most / scale) * least;
    if discriminant >= T::of(4.0) * T::EPS {
        let root = half + (scale.root() * discriminant.root()).with_sign(half);
        let length = c.length(root);
        return ([d + root, b - c, zero, d - (most / root) * least], [root / length, c / length]);
    }
    // For complex or nearly equal eigenvalues, the diagonal elements are made equal.
    let sum = b + c;
    let length = sum.length(difference);
    let cos = ((one + sum.magnitude() / length) / two).root();
    let sin = -(half / (length * cos)) * one.with_sign(sum);
    let (p, q, r, s) = (a * cos + b * sin, b * cos - a * sin, c * cos + d * sin, d * cos - c * sin);
    let (a, b, c, d) = (p * cos + r * sin, q * cos + s * sin, r * cos - p * sin, s * cos - q * sin);
    let mean = (a + d) / two;
    if c == zero || (b != zero && (b < zero) != (c < zero)) {
        return ([mean, b, c, mean], [cos, sin]);
    }
    if b == zero {
        return ([mean, -c, zero, mean], [-sin, cos]);
    }
    let (x, y) = (b.magnitude().root(), c.magnitude().root());
    let shift = (x * y).with_sign(c);
    let factor = one / (b + c).magnitude().root();
    let (cos1, sin1) = (x * factor, y * factor);
    ([mean + shift, b - c, zero, mean - shift], [cos * cos1 - sin * sin1, cos * sin1 + sin * cos1])
}
