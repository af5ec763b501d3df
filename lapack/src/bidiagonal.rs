//! Singular values and vectors of bidiagonal matrices by the implicit QR iteration, as LAPACK's bdsqr computes them.

use crate::float::{Float, fast};

/// The number of sweeps for each singular value after which the iteration fails. Two or three usually suffice.
const SWEEPS: usize = 60;

/// The rotation `[c s; -s c]` with `c = 1 - lacking` and `c >= 0`.
///
/// If c is near 1, c rounds to 1 while s does not round to 0, and the rotation lengthens every vector by s^2 / 2. Thousands of such
/// rotations would add up; `lacking` keeps the difference.
#[derive(Clone, Copy)]
struct Rotation {
    s: f64,
    lacking: f64,
}

impl Rotation {
    const NONE: Rotation = Rotation { s: 0.0, lacking: 0.0 };

    /// Returns the rotation that turns `(f, g)` into `(r, 0)`, and r.
    #[inline(always)]
    fn of(f: f64, g: f64) -> (Rotation, f64) {
        if g == 0.0 {
            return (Rotation::NONE, f);
        }
        let square = f * f + g * g;
        let length = if square > 1e-290 { square.sqrt() } else { f.hypot(g) };
        let r = length.copysign(f);
        (Rotation { s: g / r, lacking: (g / r) * (g / (r + f)) }, r)
    }

    /// `c x`
    #[inline(always)]
    fn part(self, x: f64) -> f64 {
        x - self.lacking * x
    }

    /// `(c x + s y, c y - s x)`
    #[inline(always)]
    fn turn(self, x: f64, y: f64) -> (f64, f64) {
        (x + (self.s * y - self.lacking * x), y - (self.s * x + self.lacking * y))
    }
}

/// Rotates columns i and j of a square matrix, if it is given.
#[inline(always)]
fn rotate<T: Float>(columns: &mut Option<&mut [T]>, n: usize, i: usize, j: usize, Rotation { s, lacking }: Rotation) {
    let Some(columns) = columns.as_deref_mut() else { return };
    if s == 0.0 {
        return;
    }
    let (x, y) = pair(columns, n, i, j);
    let (s, lacking) = (T::of(s), T::of(lacking));
    for (x, y) in x.iter_mut().zip(y) {
        let (a, b) = (*x, *y);
        *x = a + (s * b - lacking * a);
        *y = b - (s * a + lacking * b);
    }
}

/// Two columns of n elements each.
#[inline(always)]
fn pair<T>(columns: &mut [T], n: usize, i: usize, j: usize) -> (&mut [T], &mut [T]) {
    let (head, tail) = columns.split_at_mut(i.max(j) * n);
    let (first, second) = (&mut head[i.min(j) * n..][..n], &mut tail[..n]);
    if i < j { (first, second) } else { (second, first) }
}

/// The smaller singular value of `[f g; 0 h]`, as LAPACK's las2 computes it.
fn least_of_two(f: f64, g: f64, h: f64) -> f64 {
    let (least, most, g) = (f.abs().min(h.abs()), f.abs().max(h.abs()), g.abs());
    if least == 0.0 {
        return 0.0;
    }
    let (sum, difference) = (1.0 + least / most, (most - least) / most);
    if g < most {
        let ratio = (g / most) * (g / most);
        return least * 2.0 / ((sum * sum + ratio).sqrt() + (difference * difference + ratio).sqrt());
    }
    let ratio = most / g;
    if ratio == 0.0 {
        return least * most / g;
    }
    let (sum, difference) = (sum * ratio, difference * ratio);
    2.0 * ratio * (least / ((1.0 + sum * sum).sqrt() + (1.0 + difference * difference).sqrt()))
}

/// Does one downward sweep over a block with the diagonal `d` and the superdiagonal `e`. Calls `turn` with each index i, and with the
/// rotations of columns i and i + 1 of V and of U.
#[inline(always)]
fn sweep(d: &mut [f64], e: &mut [f64], mut turn: impl FnMut(usize, Rotation, Rotation)) {
    let last = e.len();
    let mut shift = least_of_two(d[last - 1], e[last - 1], d[last]);
    if (shift / d[0]).powi(2) < f64::EPSILON || d[0] == 0.0 {
        shift = 0.0;
    }
    if shift == 0.0 {
        // The sweep of Demmel and Kahan has no subtractions, so that small values keep their digits.
        let (mut right, mut left) = (Rotation::NONE, Rotation::NONE);
        for i in 0..last {
            let r;
            (right, r) = Rotation::of(right.part(d[i]), e[i]);
            if i > 0 {
                e[i - 1] = left.s * r;
            }
            (left, d[i]) = Rotation::of(left.part(r), d[i + 1] * right.s);
            turn(i, right, left);
        }
        let rest = right.part(d[last]);
        d[last] = left.part(rest);
        e[last - 1] = rest * left.s;
        return;
    }
    let (mut f, mut g) = ((d[0].abs() - shift) * (1f64.copysign(d[0]) + shift / d[0]), e[0]);
    for i in 0..last {
        let (right, r) = Rotation::of(f, g);
        if i > 0 {
            e[i - 1] = r;
        }
        (f, e[i]) = right.turn(d[i], e[i]);
        (g, d[i + 1]) = (right.s * d[i + 1], right.part(d[i + 1]));
        let left;
        (left, d[i]) = Rotation::of(f, g);
        (f, d[i + 1]) = left.turn(e[i], d[i + 1]);
        if i + 1 < last {
            (g, e[i + 1]) = (left.s * e[i + 1], left.part(e[i + 1]));
        }
        turn(i, right, left);
    }
    e[last - 1] = f;
}

/// Replaces the diagonal `d` of an upper bidiagonal matrix by its singular values, in descending order, and multiplies `u` and `v`, n x n,
/// by the singular vectors from the right. `e` is the superdiagonal. Returns false if the iteration does not converge.
///
/// The matrix is in float64 for vectors of either dtype, at almost no cost.
pub fn singular<T: Float>(d: &mut [f64], e: &mut [f64], mut u: Option<&mut [T]>, mut v: Option<&mut [T]>) -> bool {
    let (n, epsilon) = (d.len(), T::EPS.to_f64());
    let most = d.iter().chain(e.iter()).fold(0.0, |most: f64, x| most.max(x.abs()));
    // Elements up to this are negligible compared with the rounding errors of all others.
    let none = most * f64::EPSILON * f64::EPSILON;
    let (mut end, mut sweeps) = (n, SWEEPS.saturating_mul(n));
    while end > 1 {
        let small = |i: usize| e[i].abs() <= epsilon * (d[i].abs() + d[i + 1].abs()) || e[i].abs() <= none;
        let start = (0..end - 1).rev().find(|&i| small(i)).map_or(0, |i| i + 1);
        if start > 0 {
            e[start - 1] = 0.0;
        }
        if start == end - 1 {
            end -= 1;
            continue;
        }
        if sweeps == 0 {
            return false;
        }
        sweeps -= 1;
        let (block, above) = (&mut d[start..end], &mut e[start..end - 1]);
        // The sweep must go from the greater end to the smaller one. A block with reversed rows and columns is lower bidiagonal, and its
        // transpose upper bidiagonal.
        let turned = block[0].abs() < block[block.len() - 1].abs();
        if turned {
            block.reverse();
            above.reverse();
        }
        fast(
            #[inline(always)]
            || {
                sweep(block, above, |i, right, left| match turned {
                    false => {
                        rotate(&mut v, n, start + i, start + i + 1, right);
                        rotate(&mut u, n, start + i, start + i + 1, left);
                    }
                    true => {
                        rotate(&mut u, n, end - 1 - i, end - 2 - i, right);
                        rotate(&mut v, n, end - 1 - i, end - 2 - i, left);
                    }
                })
            },
        );
        if turned {
            block.reverse();
            above.reverse();
        }
    }
    for (i, value) in d.iter_mut().enumerate().filter(|(_, value)| **value < 0.0) {
        *value = -*value;
        if let Some(v) = &mut v {
            v[i * n..(i + 1) * n].iter_mut().for_each(|x| *x = -*x);
        }
    }
    for i in 0..n {
        let greatest = (i..n).fold(i, |best, j| if d[j] > d[best] { j } else { best });
        if greatest != i {
            d.swap(i, greatest);
            for columns in [u.as_deref_mut(), v.as_deref_mut()].into_iter().flatten() {
                let (x, y) = pair(columns, n, i, greatest);
                x.swap_with_slice(y);
            }
        }
    }
    true
}
