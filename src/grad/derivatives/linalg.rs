//! Linear algebra.
//!
//! The differential of an equation that defines a result, such as `a x = b`, is solved for the differential of the result. The factor of
//! the differential of an input gives the gradient of the input. M. B. Giles, Collected matrix derivative results for forward and reverse
//! mode algorithmic differentiation (2008).
//!
//! LAPACK's packed reflectors (geqrf, orgqr, ormqr) and the factors of semidefinite matrices (pstrf) have no derivatives; qr and potrf do.

use super::products::{joined, through_series};
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::ops::linalg::eigen::{TH_NORM_1, TH_NORM_2, TH_NORM_FRO, TH_NORM_INF, TH_NORM_MINUS_1, TH_NORM_MINUS_2, TH_NORM_NUC};
use std::cmp::Ordering;

derivatives! {
    /// The derivatives of linear algebra.
    LINALG:

    // Systems of equations. Each result has its gradient at its place, the operands are behind the results.
    gesv { each(b, a): |call, rb, a| square_system(call, rb, a); }
    solve { each(b, a): |call, x, a| square_system(call, x, a); }
    trtrs {
        each(b, a): |call, rb, a, upper: bool, transpose: bool, unitriangular: bool|
            triangular_system(call, rb, a, Triangle { upper, transpose, unit: unitriangular });
    }
    gels { each(b, a): |call, rb, b, a| least_squares(call, rb, b, a); }
    lstsq { each(b, a): |call, b, a, rcond: f64| least_squares_of_any_rank(call, b, a, rcond); }
    btrisolve { each(b, atf): |call, rb, atf, pivots| factored_system(call, rb, atf, pivots); }
    potrs { each(b, a): |call, rb, a, upper: bool| cholesky_system(call, rb, a, upper); }

    // Factors.
    btrifact { a: |g, ra, rpivots| packed_factors(g, ra, rpivots); }
    lu {
        each(a): |call, p, l, u| match (call.grad(1), call.grad(2)) {
            (None, None) => {}
            (gl, gu) => call.give(3, factors(p, [l, u], [gl, gu])),
        };
    }
    potrf { a: |g, ra, upper: bool| cholesky(g, ra, upper); }
    cholesky { t: |g, r, upper: bool| cholesky(g, r, upper); }
    qr { each(a): |call, rq, rr, some: bool| orthogonal_factors(call, rq, rr, some); }

    // Inverses and determinants.
    getri { a: |g, ra| through_inverse(g, ra); }
    inverse { t: |g, r| through_inverse(g, r); }
    potri { a: |g, ra, a, upper: bool| inverse_of_factor(g, ra, a, upper); }
    pinverse { t: |g, t, r| through_pseudoinverse(g, t, r); }
    det { t: |g, t, r| determinant(g, t, r); }
    slogdet {
        each(t): |call, t, sign| {
            let g = call.grad(1);
            call.give(2, g.map_or(zerosLike(t), |g| of_matrices(g) * inverse_transposed(t, eq_value(sign, 0.0))));
        };
    }
    logdet { t: |g, t, r| of_matrices(choose_or(eq(r, r), g, 0.0)) * inverse_transposed(t, eq_value(r, f64::NEG_INFINITY)); }

    // Eigenvalues and singular values.
    syev { each(a): |call, re, rv| symmetric_eigen(call, re, rv); }
    symeig { each(t): |call, e, v| symmetric_eigen(call, e, v); }
    geev { each(a): |call, re, rv| eigen(call, re, rv); }
    eig { each(t): |call, e, v| eigen(call, e, v); }
    gesvd { each(a): |call, ru, rs, rv| singular(call, ru, rs, rv); }
    svd { each(t): |call, u, s, v| singular(call, u, s, v); }

    // Norms and functions of matrices.
    matrixNorm {
        t: |g, t, r, p: i32, keepdim: bool| if keepdim { of_norm(g, t, r, p) } else { of_norm(of_matrices(g), t, of_matrices(r), p) };
    }
    cond { t: |g, t, p: i32| condition(of_matrices(g), t, p); }
    matrixExp { t: |g, t| through_series(g, t, |t| t.scope.call(&names::matrixExp::FUNCTION, &[t.into()])); }
}

/// Numbers of matrices as matrices of one element.
fn of_matrices(g: Value<'_>) -> Value<'_> {
    unsqueeze(unsqueeze(g, -1), -1)
}

/// Vectors as matrices of one row.
fn in_rows(t: Value<'_>) -> Value<'_> {
    unsqueeze(t, -2)
}

/// The size of the last dimension.
fn last(t: Value<'_>) -> i64 {
    t.shape().last().copied().unwrap_or(0)
}

/// The size of the last dimension but one, 0 for a value that a failure has left out.
fn height(t: Value<'_>) -> i64 {
    t.shape().iter().rev().nth(1).copied().unwrap_or(0)
}

/// The identity of n rows.
fn identity(t: Value<'_>, n: i64) -> Value<'_> {
    t.scope.call(&names::newEye::FUNCTION, &[t.dtype().into(), n.into(), n.into()])
}

/// `t` with ones on its diagonal.
fn with_unit_diagonal(t: Value<'_>) -> Value<'_> {
    or_choose(eq_value(identity(t, last(t)), 1.0), 1.0, t)
}

/// The lower triangle, without its diagonal.
fn below(t: Value<'_>) -> Value<'_> {
    tril(t, -1)
}

/// Matrices with the diagonals `d`.
fn diagonal_matrix(d: Value<'_>) -> Value<'_> {
    diag_embed(d, 0, -2, -1)
}

/// The triangle of a matrix that a function looks at.
fn triangle(t: Value<'_>, upper: bool) -> Value<'_> {
    if upper { triu(t, 0) } else { tril(t, 0) }
}

fn sum_of<'s>(a: Option<Value<'s>>, b: Option<Value<'s>>) -> Option<Value<'s>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// `b`, a solution of systems with the matrices `a`, or its gradient: vectors as matrices of one column.
fn columns<'s>(b: Value<'s>, a: Value<'s>) -> Value<'s> {
    if b.ndim() < a.ndim() { unsqueeze(b, -1) } else { b }
}

/// `b`, right-hand sides of systems with the matrices `a` and the solutions `x`: vectors as matrices of one column.
fn columns_as<'s>(b: Value<'s>, x: Value<'s>, a: Value<'s>) -> Value<'s> {
    if x.ndim() < a.ndim() { unsqueeze(b, -1) } else { b }
}

/// Gives right-hand sides, argument `at`, their gradient, which `columns` made columns of if `like` are vectors.
fn give_sides<'s>(call: &Call<'s>, at: usize, gradient: Value<'s>, like: Value<'s>) {
    if call.needs(at) {
        call.give(at, if like.ndim() < gradient.ndim() { squeeze(gradient, -1) } else { gradient });
    }
}

fn solve<'s>(b: Value<'s>, a: Value<'s>) -> Value<'s> {
    a.scope.call(&names::solve::FUNCTION, &[b.into(), a.into()])
}

/// The triangle of a matrix that a function uses, and its options.
#[derive(Clone, Copy)]
struct Triangle {
    upper: bool,
    transpose: bool,
    unit: bool,
}

const LOWER: Triangle = Triangle { upper: false, transpose: false, unit: false };
const UNIT: Triangle = Triangle { unit: true, ..LOWER };
const UPPER: Triangle = Triangle { upper: true, transpose: false, unit: false };

impl Triangle {
    fn transposed(self) -> Triangle {
        Triangle { transpose: !self.transpose, ..self }
    }

    fn solve<'s>(self, b: Value<'s>, a: Value<'s>) -> Value<'s> {
        a.scope.call(&names::trtrs::FUNCTION, &[b.into(), a.into(), self.upper.into(), self.transpose.into(), self.unit.into()])
    }

    /// `b` times the inverse of the triangle.
    fn divide<'s>(self, b: Value<'s>, a: Value<'s>) -> Value<'s> {
        mt(self.transposed().solve(mt(b), a))
    }
}

/// `a x = b`: the gradient `y` of `b` solves `a' y = g`, and the gradient of `a` is `-y x'`.
fn square_system<'s>(call: &Call<'s>, x: Value<'s>, a: Value<'s>) {
    if call.grad(1).is_some() {
        x.refuse(format_args!("the factors have no gradient here; those of btrifact and lu have"));
    }
    let Some(g) = call.grad(0) else { return };
    let y = solve(columns(g, a), mt(a));
    give_sides(call, 2, y, g);
    if call.needs(3) {
        call.give(3, -matmul(y, mt(columns(x, a))));
    }
}

fn triangular_system<'s>(call: &Call<'s>, x: Value<'s>, a: Value<'s>, of: Triangle) {
    let gradient = call.grad(0).map(|g| {
        let y = of.transposed().solve(columns(g, a), a);
        give_sides(call, 2, y, g);
        y
    });
    if !call.needs(3) {
        return;
    }
    let of_a = gradient.map(|y| {
        let x = columns(x, a);
        let whole = -if of.transpose { matmul(x, mt(y)) } else { matmul(y, mt(x)) };
        if of.upper { triu(whole, of.unit.into()) } else { tril(whole, -i64::from(of.unit)) }
    });
    // The second result is `a` itself.
    if let Some(of_a) = sum_of(of_a, call.grad(1)) {
        call.give(3, of_a);
    }
}

/// With `q r` the factors of `a` or, if it has more columns than rows, of its transpose.
fn least_squares<'s>(call: &Call<'s>, x: Value<'s>, b: Value<'s>, a: Value<'s>) {
    if call.grad(1).is_some() {
        x.refuse(format_args!("the factors have no gradient here; those of qr have"));
    }
    let Some(given) = call.grad(0) else { return };
    let (g, x, b) = (columns(given, a), columns(x, a), columns_as(b, given, a));
    let shape = a.shape();
    let tall = shape[shape.len() - 2] >= shape[shape.len() - 1];
    let [q, r]: [Value<'_>; 2] = a.scope.call_for_all(&names::qr::FUNCTION, 0b11, &[if tall { a } else { mt(a) }.into(), true.into()]);
    if tall {
        // `a' (b - a x) = 0`
        let w = UPPER.transposed().solve(g, r);
        let y = matmul(q, w);
        give_sides(call, 2, y, given);
        if call.needs(3) {
            call.give(3, matmul(b - matmul(a, x), mt(UPPER.solve(w, r))) - matmul(y, mt(x)));
        }
    } else {
        // `x = a' w` with `a a' w = b`
        let turned = matmul(mt(q), g);
        let y = UPPER.solve(turned, r);
        give_sides(call, 2, y, given);
        if call.needs(3) {
            let w = UPPER.solve(matmul(mt(q), x), r);
            call.give(3, matmul(w, mt(g - matmul(q, turned))) - matmul(y, mt(x)));
        }
    }
}

/// `x = p b` with `p` the pseudoinverse of `a`, whose rank is taken for constant.
fn least_squares_of_any_rank<'s>(call: &Call<'s>, b: Value<'s>, a: Value<'s>, rcond: f64) {
    if call.grad(2).is_some() {
        a.refuse(format_args!("the singular values have no gradient here; those of svd have"));
    }
    let Some(given) = call.grad(0) else { return };
    let g = columns(given, a);
    let p = a.scope.call(&names::pinverse::FUNCTION, &[a.into(), rcond.into()]);
    give_sides(call, 3, matmul(mt(p), g), given);
    if call.needs(4) {
        call.give(4, through_pseudoinverse(matmul(g, mt(columns_as(b, given, a))), a, p));
    }
}

/// `p` of `a = p l u`, the product of the exchanges of n rows that `pivots` lists.
fn permutation<'s>(t: Value<'s>, pivots: Value<'s>, n: i64) -> Value<'s> {
    let (mut shape, k) = (pivots.shape(), last(pivots));
    let mut pivots = pivots;
    if k < n {
        // The other rows stay where they are.
        let (start, end) = ((k + 1) as f64, (n + 1) as f64);
        let stay = t.scope.call(&names::newArange::FUNCTION, &[pivots.dtype().into(), start.into(), end.into(), 1.0.into()]);
        let at = shape.len() - 1;
        shape[at] = n - k;
        pivots = joined(pivots, expand(stay, &shape), -1);
    }
    shape = pivots.shape();
    shape.push(n);
    let ones = expand(identity(t, n), &shape);
    mt(t.scope.call(&names::btrisolve::FUNCTION, &[ones.into(), ones.into(), pivots.into()]))
}

/// `a = p l u` with the factors packed in one matrix.
fn packed_factors<'s>(g: Value<'s>, lu: Value<'s>, pivots: Value<'s>) -> Value<'s> {
    let shape = lu.shape();
    let (m, n) = (shape[shape.len() - 2], shape[shape.len() - 1]);
    let k = m.min(n);
    let lower = |t| below(narrow(t, -1, 0, k));
    let upper = |t| triu(narrow(t, -2, 0, k), 0);
    let l = lower(lu);
    let ones = l.scope.call(&names::newEye::FUNCTION, &[l.dtype().into(), m.into(), k.into()]);
    factors(permutation(g, pivots, m), [l + ones, upper(lu)], [Some(lower(g)), Some(upper(g))])
}

/// The gradient of `a = p l u` from the gradients of `l` and `u`, of which at least one is given. If the matrix is not square, the part
/// outside its leading square has a separate equation, which adds to the gradients of the square's factors.
fn factors<'s>(p: Value<'s>, [l, u]: [Value<'s>; 2], [gl, gu]: [Option<Value<'s>>; 2]) -> Value<'s> {
    let (m, n) = (height(l), last(u));
    let k = m.min(n);
    let head = |t, dim| narrow(t, dim, 0, k);
    let (l1, u1) = (head(l, -2), head(u, -1));
    let mut of_l = gl.map(|gl| matmul(mt(l1), head(gl, -2)));
    let mut of_u = gu.map(|gu| matmul(head(gu, -1), mt(u1)));
    let (l2, u2) = (narrow(l, -2, k, m - k), narrow(u, -1, k, n - k));
    let (mut below_square, mut beside_square) = (zerosLike(l2), zerosLike(u2));
    if n > m
        && let Some(gu) = gu
    {
        let gu2 = narrow(gu, -1, k, n - k);
        of_l = sum_of(of_l, Some(-matmul(gu2, mt(u2))));
        beside_square = UNIT.transposed().solve(gu2, l1);
    }
    if m > n
        && let Some(gl) = gl
    {
        let gl2 = narrow(gl, -2, k, m - k);
        of_u = sum_of(of_u, Some(-matmul(mt(l2), gl2)));
        below_square = UPPER.transposed().divide(gl2, u1);
    }
    let Some(inner) = sum_of(of_l.map(below), of_u.map(|t| triu(t, 0))) else { return p };
    let square = UPPER.transposed().divide(UNIT.transposed().solve(inner, l1), u1);
    let whole = match m.cmp(&n) {
        Ordering::Equal => square,
        Ordering::Less => joined(square, beside_square, -1),
        Ordering::Greater => joined(square, below_square, -2),
    };
    matmul(p, whole)
}

/// `p l u x = b` for packed factors.
fn factored_system<'s>(call: &Call<'s>, x: Value<'s>, lu: Value<'s>, pivots: Value<'s>) {
    let g = call.g();
    let r = UPPER.transposed().solve(columns(g, lu), lu);
    let y = UNIT.transposed().solve(r, lu);
    if call.needs(1) {
        give_sides(call, 1, matmul(permutation(g, pivots, last(lu)), y), g);
    }
    if call.needs(2) {
        let x = columns(x, lu);
        call.give(2, -(triu(matmul(r, mt(x)), 0) + below(matmul(y, mt(matmul(triu(lu, 0), x))))));
    }
}

/// `l l' x = b`, or `u' u x = b`.
fn cholesky_system<'s>(call: &Call<'s>, x: Value<'s>, a: Value<'s>, upper: bool) {
    let g = call.g();
    let y = g.scope.call(&names::potrs::FUNCTION, &[columns(g, a).into(), a.into(), upper.into()]);
    give_sides(call, 1, y, g);
    if call.needs(2) {
        let product = matmul(y, mt(columns(x, a)));
        call.give(2, of_square(-(product + mt(product)), a, upper));
    }
}

/// The gradient of the factor `a` of `l l'` or `u' u`, half of whose symmetric gradient is `s`.
fn of_square<'s>(s: Value<'s>, a: Value<'s>, upper: bool) -> Value<'s> {
    let factor = triangle(a, upper);
    triangle(if upper { matmul(factor, s) } else { matmul(s, factor) }, upper)
}

/// The factor of `l l' = a`, or `u' u = a`, as PyTorch: the gradient of a symmetric matrix, which has both triangles.
fn cholesky<'s>(g: Value<'s>, r: Value<'s>, upper: bool) -> Value<'s> {
    let (l, g) = if upper { (mt(r), mt(g)) } else { (r, g) };
    let product = matmul(mt(l), g);
    let inner = tril(product, 0) + mt(below(product));
    LOWER.divide(LOWER.transposed().solve(inner, l), l) * 0.5
}

/// `a = q r`. If the matrix has more columns than rows, each column after the leading square is `q` times the column of `r`.
fn orthogonal_factors<'s>(call: &Call<'s>, q: Value<'s>, r: Value<'s>, some: bool) {
    let (gq, gr) = (call.grad(0), call.grad(1));
    let (m, n) = (height(q), last(r));
    if m > n && !some {
        return q.refuse(format_args!("with 'some' 0 and more rows than columns there is no gradient: columns of q are arbitrary"));
    }
    if m >= n {
        return call.give(2, square_factors([q, r], [gq, gr]));
    }
    let beside = |t| narrow(t, -1, m, n - m);
    let square = |t| narrow(t, -1, 0, m);
    let of_q = gr.map(|gr| matmul(matmul(q, beside(r)), mt(beside(gr))));
    let first = square_factors([q, square(r)], [sum_of(gq, of_q), gr.map(square)]);
    call.give(2, joined(first, gr.map_or(zerosLike(matmul(q, beside(r))), |gr| matmul(q, beside(gr))), -1));
}

/// The gradient of `a = q r` with square `r` from the gradients of `q` and `r`, of which at least one is given.
fn square_factors<'s>([q, r]: [Value<'s>; 2], [gq, gr]: [Option<Value<'s>>; 2]) -> Value<'s> {
    let of_r = gr.map(|gr| matmul(r, mt(gr)));
    let of_q = gq.map(|gq| -matmul(mt(gq), q));
    let Some(product) = sum_of(of_r, of_q) else { return q };
    let inner = matmul(q, tril(product, 0) + mt(below(product)));
    UPPER.transposed().divide(gq.map_or(inner, |gq| gq + inner), r)
}

/// The gradient of `t` from the gradient of its inverse `r`.
fn through_inverse<'s>(g: Value<'s>, r: Value<'s>) -> Value<'s> {
    -matmul(matmul(mt(r), g), mt(r))
}

fn inverse_of_factor<'s>(g: Value<'s>, r: Value<'s>, a: Value<'s>, upper: bool) -> Value<'s> {
    of_square(-matmul(matmul(r, g + mt(g)), r), a, upper)
}

/// The gradient of `t` from the gradient of its pseudoinverse `r`. G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses and
/// nonlinear least squares problems whose variables separate (1973).
fn through_pseudoinverse<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>) -> Value<'s> {
    let (g, turned) = (mt(g), mt(r));
    let rows = matmul(matmul(g, r), turned);
    let columns = matmul(turned, matmul(r, g));
    rows - matmul(t, matmul(r, rows)) + columns - matmul(matmul(columns, r), t) - matmul(matmul(turned, mt(g)), turned)
}

/// `t = u diag(s) v'`
fn singular_values(t: Value<'_>) -> [Value<'_>; 3] {
    t.scope.call_for_all(&names::svd::FUNCTION, 0b111, &[t.into(), true.into()])
}

/// The gradient of `t` from the gradient of its determinant `r`: the matrix of cofactors, which also exists for singular matrices.
fn determinant<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>) -> Value<'s> {
    if eq_value(r, 0.0).any() { of_matrices(g) * cofactors(t) } else { of_matrices(g * r) * mt(inverse(t)) }
}

/// The cofactors of matrices: of `u diag(s) v'` they are `u diag(c) v'`, up to the sign, with `c[i]` the product of all `s[j]` but `s[i]`.
fn cofactors(t: Value<'_>) -> Value<'_> {
    let [u, s, v] = singular_values(t);
    let mut shape = s.shape();
    shape.push(last(s));
    let c = prod(with_unit_diagonal(expand(in_rows(s), &shape)), -1, false);
    let orientation = sign(t.scope.call(&names::det::FUNCTION, &[matmul(u, mt(v)).into()]));
    matmul(u * in_rows(c * unsqueeze(orientation, -1)), mt(v))
}

/// The transpose of the inverse of `t`, not finite where a matrix is `singular`.
fn inverse_transposed<'s>(t: Value<'s>, singular: Value<'s>) -> Value<'s> {
    if !singular.any() {
        return mt(inverse(t));
    }
    let [u, s, v] = singular_values(t);
    // The least singular value is 0, but rounding gives a small number.
    let least = le(s, narrow(s, -1, last(s) - 1, 1));
    let s = or_choose(both(unsqueeze(singular, -1), least), 0.0, s);
    matmul(u / in_rows(s), mt(v))
}

/// `t - t'`
fn skew(t: Value<'_>) -> Value<'_> {
    t - mt(t)
}

/// The differences `e[j] - e[i]`, 1 in place of 0 on the diagonal.
fn differences(e: Value<'_>) -> Value<'_> {
    with_unit_diagonal(in_rows(e) - unsqueeze(e, -1))
}

/// `a = v diag(e) v'` of symmetric `a`. The gradient is symmetric; where eigenvalues are equal and `v` counts, it is not finite.
fn symmetric_eigen<'s>(call: &Call<'s>, e: Value<'s>, v: Value<'s>) {
    let values = call.grad(0);
    let Some(gv) = call.grad(1) else {
        return call.give(2, values.map_or(zerosLike(v), |ge| matmul(v * in_rows(ge), mt(v))));
    };
    let turned = skew(matmul(mt(v), gv)) * 0.5 / differences(e);
    let inner = values.map_or(turned, |ge| turned + diagonal_matrix(ge));
    call.give(2, matmul(matmul(v, inner), mt(v)));
}

/// `a v = v diag(e)`. In place of a pair of eigenvalues `x + i y`, `x - i y` the diagonal has the block `[[x, y], [-y, x]]`, whose columns
/// of `v` are the real and the imaginary part of one vector.
fn eigen<'s>(call: &Call<'s>, e: Value<'s>, v: Value<'s>) {
    let imaginary = select(e, -1, 1);
    let are_complex = ne_value(imaginary, 0.0).any();
    let values = call.grad(0).map(|ge| {
        let real = select(ge, -1, 0);
        if are_complex { blocks(real, select(ge, -1, 1), imaginary) } else { diagonal_matrix(real) }
    });
    let vectors = call.grad(1).map(|gv| {
        if are_complex {
            gv.refuse(format_args!("eigenvectors have no gradient where eigenvalues are complex"));
        }
        let product = matmul(mt(v), gv);
        let along = in_rows(diagonal(product, 0, -2, -1));
        (product - matmul(mt(v), v * along)) / differences(select(e, -1, 0))
    });
    if let Some(inner) = sum_of(values, vectors) {
        call.give(2, solve(matmul(inner, mt(v)), mt(v)));
    }
}

/// The gradients of the blocks of eigenvalues with the imaginary parts `y`, from the gradients of their real and imaginary parts.
fn blocks<'s>(real: Value<'s>, imaginary: Value<'s>, y: Value<'s>) -> Value<'s> {
    let shifted = |t: Value<'s>, by: i64| t.scope.call(&names::roll::FUNCTION, &[t.into(), In::List(&[by]), In::List(&[-1])]);
    let (first, second) = (gt_value(y, 0.0), lt_value(y, 0.0));
    let mean = |other: Value<'s>| (real + other) * 0.5;
    let diagonal = choose(first, mean(shifted(real, -1)), choose(second, mean(shifted(real, 1)), real));
    let beside = choose_or(first, (imaginary - shifted(imaginary, -1)) * 0.5, 0.0);
    let beside = narrow(beside, -1, 0, last(y) - 1);
    diagonal_matrix(diagonal) + diag_embed(beside, 1, -2, -1) - diag_embed(beside, -1, -2, -1)
}

/// `a = u diag(s) v'`. Only the first columns of `u` and `v`, as many as there are singular values, have gradients. Where singular values
/// are equal and vectors count, the gradient is not finite.
fn singular<'s>(call: &Call<'s>, u: Value<'s>, s: Value<'s>, v: Value<'s>) {
    let k = last(s);
    let head = |t| narrow(t, -1, 0, k);
    let (gu, gs, gv) = (call.grad(0).map(head), call.grad(1), call.grad(2).map(head));
    let (u, v) = (head(u), head(v));
    if gu.is_none() && gv.is_none() {
        return call.give(3, gs.map_or(u, |gs| matmul(u * in_rows(gs), mt(v))));
    }
    let (rows, columns) = (in_rows(s), unsqueeze(s, -1));
    // The squares of large or small singular values would be out of range: their differences are divided by as factors.
    let (differences, sums) = (differences(s), with_unit_diagonal(rows + columns));
    let of_u = gu.map(|gu| skew(matmul(mt(u), gu)) / differences * (rows / sums));
    let of_v = gv.map(|gv| skew(matmul(mt(v), gv)) / differences * (columns / sums));
    let inner = sum_of(sum_of(of_u, of_v), gs.map(diagonal_matrix));
    let mut r = inner.map(|inner| matmul(matmul(u, inner), mt(v)));
    // The part of a gradient that is orthogonal to all columns of a basis.
    let outside = |basis, g| (g - matmul(basis, matmul(mt(basis), g))) / rows;
    if let Some(gu) = gu.filter(|gu| height(*gu) > k) {
        r = sum_of(r, Some(matmul(outside(u, gu), mt(v))));
    }
    if let Some(gv) = gv.filter(|gv| height(*gv) > k) {
        r = sum_of(r, Some(matmul(u, mt(outside(v, gv)))));
    }
    if let Some(r) = r {
        call.give(3, r);
    }
}

/// The greatest or least elements of a dimension as 1, divided by their number, the others as 0.
fn extremes(t: Value<'_>, dim: i32, greatest: bool) -> Value<'_> {
    let row = if greatest { &names::amax::FUNCTION } else { &names::amin::FUNCTION };
    let extreme = t.scope.call(row, &[t.into(), dim.into(), true.into()]);
    let chosen = to_dtype(eq(t, extreme), t.dtype());
    chosen / sum(chosen, dim, true)
}

/// The gradient of `t` from the gradient of its norm `r`, both as matrices of one element.
fn of_norm<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, p: i32) -> Value<'s> {
    if t.numel() == 0 {
        return zerosLike(t);
    }
    let of_values = |greatest: Option<bool>| {
        let [u, s, v] = singular_values(t);
        let weighted = greatest.map_or(u, |greatest| u * in_rows(extremes(s, -1, greatest)));
        g * matmul(weighted, mt(v))
    };
    let of_sums = |dim: i32, greatest: bool| {
        let sums = sum(abs(t), dim, true);
        g * extremes(sums, -3 - dim, greatest) * sign(t)
    };
    match p {
        TH_NORM_FRO => {
            let is_zero = eq_value(r, 0.0);
            g * or_choose(is_zero, 0.0, t / or_choose(is_zero, 1.0, r))
        }
        TH_NORM_NUC => of_values(None),
        TH_NORM_2 | TH_NORM_MINUS_2 => of_values(Some(p == TH_NORM_2)),
        TH_NORM_1 | TH_NORM_MINUS_1 => of_sums(-2, p == TH_NORM_1),
        _ => of_sums(-1, p == TH_NORM_INF),
    }
}

/// The gradient of the quotient of singular values, or of the product of the norms of a matrix and of its inverse.
fn condition<'s>(g: Value<'s>, t: Value<'s>, p: i32) -> Value<'s> {
    if t.numel() == 0 {
        return zerosLike(t);
    }
    if matches!(p, TH_NORM_2 | TH_NORM_MINUS_2) {
        let [u, s, v] = singular_values(t);
        let (k, s) = (last(s), in_rows(s));
        let ends = identity(t, k);
        let (first, last) = ((narrow(s, -1, 0, 1), narrow(ends, 0, 0, 1)), (narrow(s, -1, k - 1, 1), narrow(ends, 0, k - 1, 1)));
        let ((x, of_x), (y, of_y)) = if p == TH_NORM_2 { (first, last) } else { (last, first) };
        return g * matmul(u * (of_x / y - of_y * (x / (y * y))), mt(v));
    }
    let norm = |t: Value<'s>| t.scope.call(&names::matrixNorm::FUNCTION, &[t.into(), p.into(), true.into()]);
    let inverse = inverse(t);
    let (own, others) = (norm(t), norm(inverse));
    of_norm(g * others, t, own, p) + through_inverse(of_norm(g * own, inverse, others, p), inverse)
}
