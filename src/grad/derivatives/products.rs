//! Products of matrices, of vectors, and of tensors by their dimensions.

use super::writing::into_zeros;
use crate::api::word::ToWord;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::grad::reduce::sum_to;
use crate::layout::{Dims, wrap_dim};
use crate::ops::distance::{TH_DISTANCE_AUTO, is_product};
use crate::ops::matmul::einsum::{Label, labels_of};
use std::ffi::CString;

derivatives! {
    /// The derivatives of products.
    PRODUCTS:

    // Products of two.
    mm { m1: |g, m2| mm(g, mt(m2)); m2: |g, m1| mm(mt(m1), g); }
    mv { mat: |g, vec| outer(g, vec); vec: |g, mat| matmul(mt(mat), g); }
    bmm { b1: |g, b2| matmul(g, mt(b2)); b2: |g, b1| matmul(mt(b1), g); }
    matmul { a: |g, a: like, b| left_factor(g, &a, b); b: |g, a, b: like| right_factor(g, a, &b); }
    dot { a: |g, b| g * b; b: |g, a| g * a; }
    vdot { a: |g, b| g * b; b: |g, a| g * a; }
    outer { v1: |g, v2| matmul(g, typed(v2, g)); v2: |g, v1| matmul(mt(g), typed(v1, g)); }
    ger { v1: |g, v2| matmul(g, typed(v2, g)); v2: |g, v1| matmul(mt(g), typed(v1, g)); }
    kron { a: |g, a: like, b| kron_factor(g, &a, b, 0); b: |g, a, b: like| kron_factor(g, &b, a, 1); }
    cross { a: |g, b, dimension: i32| cross(b, g, dimension); b: |g, a, dimension: i32| cross(g, a, dimension); }

    // Products that are added to something.
    addmm {
        t: |g, beta: f64| summand(g, beta);
        m1: |g, alpha: f64, m2| times(mm(g, mt(m2)), alpha);
        m2: |g, alpha: f64, m1| times(mm(mt(m1), g), alpha);
    }
    addmv {
        t: |g, beta: f64| summand(g, beta);
        mat: |g, alpha: f64, vec| times(outer(g, vec), alpha);
        vec: |g, alpha: f64, mat| times(matmul(mt(mat), g), alpha);
    }
    baddbmm {
        t: |g, beta: f64| summand(g, beta);
        b1: |g, alpha: f64, b2| times(matmul(g, mt(b2)), alpha);
        b2: |g, alpha: f64, b1| times(matmul(mt(b1), g), alpha);
    }
    addbmm {
        t: |g, beta: f64| summand(g, beta);
        b1: |g, alpha: f64, b2| times(matmul(g, mt(b2)), alpha);
        b2: |g, alpha: f64, b1| times(matmul(mt(b1), g), alpha);
    }
    addr {
        t: |g, beta: f64| summand(g, beta);
        v1: |g, alpha: f64, v2| times(matmul(g, v2), alpha);
        v2: |g, alpha: f64, v1| times(matmul(mt(g), v1), alpha);
    }

    // Sums over dimensions by name or by place.
    inner { a: |g, a: like, b| inner_left(g, &a, b); b: |g, a, b: like| inner_right(g, a, &b); }
    tensordot {
        a: |g, a: like, b, dims_a: list, dims_b: list| tensordot_left(g, &a, b, dims_a, dims_b);
        b: |g, a, b: like, dims_a: list, dims_b: list| tensordot_right(g, a, &b, dims_a, dims_b);
    }
    einsum { each(operands): |call, operands: all| einsum_operands(call, operands); }

    // Several matrices, powers, distances.
    chainMatmul { each(matrices): |call, matrices: all| chain(call, matrices); }
    matrixPower { t: |g, t, n: i64| power_of_matrix(g, t, n); }
    cdist { each(a, b): |call, a: wide, b: wide, r: wide, p: f64| distances(call, [a, b], r, p, TH_DISTANCE_AUTO); }
    cdistMode { each(a, b): |call, a: wide, b: wide, r: wide, p: f64, mode: i32| distances(call, [a, b], r, p, mode); }
    pdist { t: |g, t: wide, r: wide, p: f64| pair_distances(g, t, r, p); }
}

/// `t * x`
fn times(t: Value<'_>, x: f64) -> Value<'_> {
    if x == 1.0 { t } else { t * x }
}

/// The gradient of `t` in `beta * t + ...`; 0 if `beta` is 0, even if `g` is not finite.
fn summand(g: Value<'_>, beta: f64) -> Value<'_> {
    if beta == 0.0 { zerosLike(g) } else { times(g, beta) }
}

/// `t` in the dtype of `g`.
fn typed<'s>(t: Value<'s>, g: Value<'s>) -> Value<'s> {
    if t.dtype() == g.dtype() { t } else { to_dtype(t, g.dtype()) }
}

fn cross<'s>(a: Value<'s>, b: Value<'s>, dimension: i32) -> Value<'s> {
    a.scope.call(&names::cross::FUNCTION, &[a.into(), b.into(), dimension.into()])
}

fn tensordot<'s>(a: Value<'s>, b: Value<'s>, dims_a: &Dims, dims_b: &Dims) -> Value<'s> {
    a.scope.call(&names::tensordot::FUNCTION, &[a.into(), b.into(), dims_a.into(), dims_b.into()])
}

/// `a` and `b`, one behind the other.
pub(super) fn joined<'s>(a: Value<'s>, b: Value<'s>, dimension: i32) -> Value<'s> {
    a.scope.call(&names::cat::FUNCTION, &[a.into(), b.into(), dimension.into()])
}

/// A matrix whose rows are the last dimension of `t`.
fn rows(t: Value<'_>) -> Value<'_> {
    let shape = t.shape();
    match shape.split_last() {
        Some((&last, rest)) => reshape(t, &[rest.iter().product(), last]),
        None => reshape(t, &[1, 1]),
    }
}

/// The gradient of `a` in `matmul(a, b)`.
fn left_factor<'s>(g: Value<'s>, a: &Like, b: Value<'s>) -> Value<'s> {
    match (a.shape.len(), b.ndim()) {
        (1, 1) => g * b,
        (1, _) => squeeze(matmul(b, unsqueeze(g, -1)), -1),
        (_, 1) => unsqueeze(g, -1) * b,
        _ => matmul(g, mt(b)),
    }
}

/// The gradient of `b` in `matmul(a, b)`. A matrix that a whole batch is multiplied by takes one product.
fn right_factor<'s>(g: Value<'s>, a: Value<'s>, b: &Like) -> Value<'s> {
    match (a.ndim(), b.shape.len()) {
        (1, 1) => g * a,
        (1, _) => unsqueeze(a, -1) * unsqueeze(g, -2),
        (_, 1) => matmul(mt(rows(a)), reshape(g, &[g.numel()])),
        (3.., 2) => mm(mt(rows(a)), rows(g)),
        _ => matmul(mt(a), g),
    }
}

/// The gradient of a factor of `kron`, the first one for `place` 0.
fn kron_factor<'s>(g: Value<'s>, factor: &Like, other: Value<'s>, place: usize) -> Value<'s> {
    let with = other.shape();
    let ndim = factor.shape.len().max(with.len());
    let size = |shape: &Dims, d: usize| if d + shape.len() < ndim { 1 } else { shape[d + shape.len() - ndim] };
    let pair = |d: usize| if place == 0 { [size(&factor.shape, d), size(&with, d)] } else { [size(&with, d), size(&factor.shape, d)] };
    let split: Dims = (0..ndim).flat_map(pair).collect();
    let order: Dims = [place, 1 - place].iter().flat_map(|&at| (0..ndim).map(move |d| (2 * d + at) as i64)).collect();
    let blocks = reshape(permute(reshape(g, &split), &order), &[factor.shape.iter().product(), other.numel()]);
    reshape(matmul(blocks, reshape(typed(other, g), &[other.numel()])), &factor.shape)
}

/// The gradient of `a` in `inner(a, b)`.
fn inner_left<'s>(g: Value<'s>, a: &Like, b: Value<'s>) -> Value<'s> {
    let (Some(&last), false) = (a.shape.last(), b.ndim() == 0) else { return g * b };
    let (lines, others): (i64, i64) = (a.shape[..a.shape.len() - 1].iter().product(), b.shape()[..b.ndim() - 1].iter().product());
    reshape(mm(reshape(g, &[lines, others]), reshape(b, &[others, last])), &a.shape)
}

/// The gradient of `b` in `inner(a, b)`.
fn inner_right<'s>(g: Value<'s>, a: Value<'s>, b: &Like) -> Value<'s> {
    let (Some(&last), false) = (b.shape.last(), a.ndim() == 0) else { return g * a };
    let (lines, others): (i64, i64) = (a.shape()[..a.ndim() - 1].iter().product(), b.shape[..b.shape.len() - 1].iter().product());
    reshape(mm(mt(reshape(g, &[lines, others])), reshape(a, &[lines, last])), &b.shape)
}

/// The gradient of `a` in `tensordot(a, b)`: `g` and `b` are summed over the dimensions that only `b` has.
fn tensordot_left<'s>(g: Value<'s>, a: &Like, b: Value<'s>, dims_a: &[i64], dims_b: &[i64]) -> Value<'s> {
    let (dims_a, dims_b) = (wrapped(dims_a, a.shape.len()), wrapped(dims_b, b.ndim()));
    let (of_a, of_b) = (without(&dims_a, a.shape.len()), without(&dims_b, b.ndim()));
    let last: Dims = (of_a.len()..g.ndim()).map(|d| d as i64).collect();
    let labels: Dims = of_a.iter().copied().chain(partners(&dims_b, &dims_a)).collect();
    arranged(tensordot(g, b, &last, &of_b), &labels, a)
}

/// The gradient of `b` in `tensordot(a, b)`: `a` and `g` are summed over the dimensions that only `a` has.
fn tensordot_right<'s>(g: Value<'s>, a: Value<'s>, b: &Like, dims_a: &[i64], dims_b: &[i64]) -> Value<'s> {
    let (dims_a, dims_b) = (wrapped(dims_a, a.ndim()), wrapped(dims_b, b.shape.len()));
    let (of_a, of_b) = (without(&dims_a, a.ndim()), without(&dims_b, b.shape.len()));
    let first: Dims = (0..of_a.len() as i64).collect();
    let labels: Dims = partners(&dims_a, &dims_b).chain(of_b.iter().copied()).collect();
    arranged(tensordot(a, g, &of_a, &first), &labels, b)
}

/// Dimensions counted from 0.
fn wrapped(dims: &[i64], ndim: usize) -> Dims {
    dims.iter().filter_map(|&d| wrap_dim(d as i32, ndim).ok()).map(|d| d as i64).collect()
}

/// The dimensions that are not among `dims`.
fn without(dims: &Dims, ndim: usize) -> Dims {
    (0..ndim as i64).filter(|d| !dims.contains(d)).collect()
}

/// The entries of `others` in the order in which their partners in `dims` ascend.
fn partners<'a>(dims: &'a Dims, others: &'a Dims) -> impl Iterator<Item = i64> {
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_unstable_by_key(|&k| dims[k]);
    order.into_iter().map(|k| others[k])
}

/// `t`, whose dimension `k` is dimension `labels[k]` of `like`, in the shape of `like`, where either may have size 1 alone.
fn arranged<'s>(t: Value<'s>, labels: &Dims, like: &Like) -> Value<'s> {
    let order: Dims = (0..like.shape.len()).filter_map(|d| labels.iter().position(|&l| l == d as i64)).map(|k| k as i64).collect();
    sized(permute(t, &order), &like.shape)
}

/// `t` summed over, or repeated along, the dimensions in which it or `shape` has size 1.
fn sized<'s>(t: Value<'s>, shape: &Dims) -> Value<'s> {
    let have = t.shape();
    let summed: Dims = have.iter().zip(shape.iter()).map(|(&n, &size)| if size == 1 { 1 } else { n }).collect();
    let t = if summed == have { t } else { sum_to(t, &summed) };
    if summed == *shape { t } else { expand(t, shape) }
}

/// Gives each operand of an einsum its gradient: the einsum of `g` and the other operands.
fn einsum_operands(call: &Call<'_>, at: usize) {
    let operands: Vec<Value<'_>> = (0..call.entries(at)).filter_map(|k| call.entry(at, k)).collect();
    let ndims: Vec<usize> = operands.iter().map(|t| t.ndim()).collect();
    let Ok((labels, result)) = labels_of(call.text().as_bytes(), &ndims) else { return };
    for k in (0..operands.len()).filter(|&k| call.needs_at(at, k)) {
        let others = (0..operands.len()).filter(|&i| i != k);
        let terms: Vec<(Value<'_>, &[Label])> =
            std::iter::once((call.g(), &result[..])).chain(others.map(|i| (operands[i], &labels[i][..]))).collect();
        call.give_at(at, k, einsum_operand(&terms, &labels[k], &call.like_at(at, k)));
    }
}

/// The einsum of `terms`, which have these labels, in the shape of an operand with the labels `own`: repeated where no term has a label,
/// and on a diagonal where `own` has a label twice.
fn einsum_operand<'s>(terms: &[(Value<'s>, &[Label])], own: &[Label], like: &Like) -> Value<'s> {
    let once: Vec<Label> = own.iter().enumerate().filter(|(d, label)| !own[..*d].contains(label)).map(|(_, &label)| label).collect();
    let there: Vec<Label> = once.iter().copied().filter(|label| terms.iter().any(|(_, labels)| labels.contains(label))).collect();
    let mut r = einsum(terms, &there);
    for (d, _) in once.iter().enumerate().filter(|(_, label)| !there.contains(label)) {
        r = unsqueeze(r, d as i32);
    }
    let size = |label: &Label| own.iter().position(|l| l == label).map_or(1, |d| like.shape[d]);
    r = sized(r, &once.iter().map(size).collect());
    let mut have = once;
    for &label in own.iter().enumerate().filter(|(d, label)| own[..*d].contains(label)).map(|(_, label)| label) {
        let Some(first) = have.iter().position(|&l| l == label) else { continue };
        have.remove(first);
        have.extend([label, label]);
        let first = first as i64;
        let order: Dims = (0..r.ndim() as i64).filter(|&d| d != first).chain([first]).collect();
        r = diag_embed(permute(r, &order), 0, -2, -1);
    }
    let mut used = vec![false; have.len()];
    let order: Dims = own
        .iter()
        .filter_map(|label| {
            let k = (0..have.len()).find(|&k| !used[k] && have[k] == *label)?;
            used[k] = true;
            Some(k as i64)
        })
        .collect();
    permute(r, &order)
}

/// The einsum of `terms` with the labels `result`, each written as one of 52 letters.
fn einsum<'s>(terms: &[(Value<'s>, &[Label])], result: &[Label]) -> Value<'s> {
    let g = terms[0].0;
    let mut seen: Vec<Label> = Vec::new();
    let mut text = Vec::new();
    for (k, labels) in terms.iter().map(|term| term.1).chain([result]).enumerate() {
        if k == terms.len() {
            text.extend(b"->");
        } else if k > 0 {
            text.push(b',');
        }
        for &label in labels {
            let at = seen.iter().position(|&l| l == label).unwrap_or_else(|| {
                seen.push(label);
                seen.len() - 1
            });
            text.push(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".get(at).copied().unwrap_or(b'?'));
        }
    }
    if seen.len() > 52 {
        g.refuse(format_args!("more than 52 different dimensions"));
    }
    let text = CString::new(text).unwrap_or_default();
    let operands: Vec<Value<'_>> = terms.iter().map(|term| term.0).collect();
    g.scope.call(&names::einsum::FUNCTION, &[In::Word(text.as_ptr().word()), In::Tensors(&operands)])
}

/// Gives each matrix of a chain its gradient: `g` times what stands before it and behind it, transposed.
fn chain(call: &Call<'_>, at: usize) {
    let n = call.entries(at);
    let matrices: Vec<Value<'_>> = (0..n)
        .filter_map(|k| call.entry(at, k))
        .enumerate()
        .map(|(k, t)| if t.ndim() == 1 && n > 1 { unsqueeze(t, if k == 0 { 0 } else { 1 }) } else { t })
        .collect();
    let (Some(first), Some(last)) = (matrices.first(), matrices.last()) else { return };
    let (Some(&rows), Some(&columns)) = (first.shape().first(), last.shape().last()) else { return };
    // The products of the matrices from each on.
    let mut behind = matrices.clone();
    for k in (1..n.saturating_sub(1)).rev() {
        behind[k] = mm(matrices[k], behind[k + 1]);
    }
    let mut so_far = reshape(call.g(), &[rows, columns]);
    for k in 0..n {
        if call.needs_at(at, k) {
            let own = if k + 1 < n { mm(so_far, mt(behind[k + 1])) } else { so_far };
            call.give_at(at, k, reshape(own, &call.like_at(at, k).shape));
        }
        if k + 1 < n {
            so_far = mm(mt(matrices[k]), so_far);
        }
    }
}

/// The gradient of `t` in a function of matrices that is a power series, such as a power or the exponential: the function of
/// `[[t', g], [0, t']]` has it in its upper right corner. N. J. Higham, Functions of Matrices (2008), 3.1.
pub(super) fn through_series<'s>(g: Value<'s>, t: Value<'s>, series: impl FnOnce(Value<'s>) -> Value<'s>) -> Value<'s> {
    let (t, n) = (mt(t), t.shape().last().copied().unwrap_or(0));
    let blocks = joined(joined(t, g, -1), joined(zerosLike(t), t, -1), -2);
    narrow(narrow(series(blocks), -2, 0, n), -1, n, n)
}

fn power_of_matrix<'s>(g: Value<'s>, t: Value<'s>, n: i64) -> Value<'s> {
    match n {
        0 => zerosLike(g),
        1 => g,
        _ => through_series(g, t, |t| t.scope.call(&names::matrixPower::FUNCTION, &[t.into(), n.into()])),
    }
}

/// Gives the operands of cdist, the arguments 1 and 2, their gradients; a distance of 0 adds nothing to them.
fn distances<'s>(call: &Call<'s>, [a, b]: [Value<'s>; 2], r: Value<'s>, p: f64, mode: i32) {
    let g = wide(call.g());
    let shape = r.shape();
    if is_product(p, mode, [shape[shape.len() - 2], shape[shape.len() - 1]]) {
        let is_zero = eq_value(r, 0.0);
        let w = or_choose(is_zero, 0.0, g / or_choose(is_zero, 1.0, r));
        // Less the mean of the rows of `b`, as in the forward function.
        let centre = mean_dims(b, &[-2], true);
        let centre = choose_or(is_finite(centre), centre, 0.0);
        let (a, b) = (a - centre, b - centre);
        call.give(1, a * sum(w, -1, true) - matmul(w, b));
        call.give(2, b * unsqueeze(sum(w, -2, false), -1) - matmul(mt(w), a));
        return;
    }
    let slope = slope_of_differences(g, [a, b], r, p);
    if call.needs(1) {
        call.give(1, sum(slope, -2, false));
    }
    if call.needs(2) {
        call.give(2, -sum(slope, -3, false));
    }
}

/// The gradient of pdist: of the pairs as the upper triangle of a matrix.
fn pair_distances<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, p: f64) -> Value<'s> {
    let n = t.shape()[0];
    let like = |x: Value<'s>| Like { shape: [n, n].into_iter().collect(), ..x.like() };
    let mask = ne_value(triu(full(g, &like(t), 1.0), 1), 0.0);
    let square = |x: Value<'s>| into_zeros(x, &like(x), &names::maskedCopy::FUNCTION, &[mask.into(), x.into()]);
    let slope = slope_of_differences(square(wide(g)), [t, t], square(r), p);
    sum(slope, -2, false) - sum(slope, -3, false)
}

/// The gradients of the differences of all rows, from the gradients of their norms `r`.
fn slope_of_differences<'s>(g: Value<'s>, [a, b]: [Value<'s>; 2], r: Value<'s>, p: f64) -> Value<'s> {
    let is_zero = eq_value(r, 0.0);
    let nonzero = or_choose(is_zero, 1.0, r);
    let d = unsqueeze(a, -2) - unsqueeze(b, -3);
    if p == 0.0 || d.numel() == 0 {
        zerosLike(d)
    } else if p == 1.0 {
        unsqueeze(g, -1) * sign(d)
    } else if p == f64::INFINITY {
        // The distance is rounded in 16 bits, the differences are not.
        let greatest = d.scope.call(&names::amax::FUNCTION, &[abs(d).into(), (-1).into(), true.into()]);
        choose_or(eq(abs(d), greatest), unsqueeze(g, -1) * sign(d), 0.0)
    } else {
        let w = unsqueeze(or_choose(is_zero, 0.0, g / if p == 2.0 { nonzero } else { power(nonzero, p - 1.0) }), -1);
        if p == 2.0 {
            w * d
        } else if p > 2.0 {
            w * (d * power(abs(d), p - 2.0))
        } else {
            let magnitude = if p < 1.0 { or_choose(eq_value(d, 0.0), 1.0, abs(d)) } else { abs(d) };
            w * (sign(d) * power(magnitude, p - 1.0))
        }
    }
}
