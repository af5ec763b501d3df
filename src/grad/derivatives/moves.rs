//! Functions that repeat, pad, join and scatter elements, and random numbers with tensors as parameters.

use super::writing::{cleared, followed_by_zeros, into_zeros};
use crate::dtype::Dtype;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::grad::reduce::sum_to;
use crate::layout::{Dims, wrap_dim};
use crate::ops::index::scatter::{TH_REDUCE_ADD, TH_REDUCE_MULTIPLY, THReduce};
use crate::ops::random::kept_by;
use crate::ops::rearrange::{TH_PAD_CONSTANT, THPadMode};
use crate::ops::reduce::TH_ALL_DIMS;

derivatives! {
    /// The derivatives of what moves elements to several places, or from them.
    MOVES:

    // Repeating and padding.
    repeat { t: |g, t: like, sizes: list| repeat_back(g, &t, sizes); }
    repeatTensor { t: |g, t: like, sizes: list| repeat_back(g, &t, sizes); }
    tile { t: |g, t: like, sizes: list| repeat_back(g, &t, sizes); }
    repeatInterleave { t: |g, t: like, repeats, dimension: i32| interleave_back(g, &t, repeats, dimension); }
    repeatInterleaveValue { t: |g, t: like, repeats: i64, dimension: i32| interleave_evenly_back(g, &t, repeats, dimension); }
    pad { t: |g, t: like, pads: list, mode: i32| pad_back(g, &t, pads, mode); }
    fold { t: |g, t: like, dimension: i32, step: i64| windows(g, dimension, t.shape.last().copied().unwrap_or(1), step); }
    diff { t: |g, t: like, n: i64, dimension: i32| diff_back(g, &t, n, dimension); }
    im2col {
        t: |g, t: like, kernel: list, stride: list, padding: list, dilation: list| {
            let sizes = &t.shape[t.shape.len() - kernel.len()..];
            let steps = [stride, padding, dilation].map(given);
            g.scope.call(&names::col2im::FUNCTION, &[g.into(), sizes.into(), kernel.into(), steps[0], steps[1], steps[2]])
        };
    }
    col2im {
        t: |g, kernel: list, stride: list, padding: list, dilation: list|
            g.scope.call(&names::im2col::FUNCTION, &[g.into(), kernel.into(), given(stride), given(padding), given(dilation)]);
    }

    // Joining.
    hstack { each(tensors): |call, tensors: shapes| unstack(call, tensors, 1); }
    vstack { each(tensors): |call, tensors: shapes| unstack(call, tensors, 2); }
    dstack { each(tensors): |call, tensors: shapes| unstack(call, tensors, 3); }
    cartesianProd { each(tensors): |call, tensors: shapes| combinations_back(call, tensors); }
    vander { t: |g, t, increasing: bool| vander_back(g, t, increasing); }

    // Elements by index.
    takeAlongDim { t: |g, t: like, index, dimension: i32| along_dim_back(g, &t, index, dimension); }
    index { each(t): |call, t: at, indices: all, count: i32| index_back(call, t, indices, count); }
    newIndex { each(t): |call, t: at, indices: all, count: i32| index_back(call, t, indices, count); }
    indexPut {
        each(t): |call, t: at, indices: all, count: i32, accumulate: bool| {
            let (g, list) = (call.g(), listed(call, indices, count));
            let zero = zeros(g, &Like { shape: Dims::new(), ..g.like() });
            let put = |r| cleared(r, &names::indexPut::FUNCTION, &[In::Tensors(&list), zero.into(), false.into()]);
            call.give(t, if accumulate { g } else { put(g) });
        };
        each(values): |call, values: at, indices: all, count: i32| {
            let (g, list) = (call.g(), listed(call, indices, count));
            call.give(values, g.scope.call(&names::index::FUNCTION, &[g.into(), In::Tensors(&list)]));
        };
    }
    put {
        t: |g, index, accumulate: bool| {
            let zero = || zeros(g, &Like { shape: index.shape(), ..g.like() });
            if accumulate { g } else { cleared(g, &names::put::FUNCTION, &[index.into(), zero().into(), false.into()]) }
        };
        src: |g, src: like, index| reshape(take(g, index), &src.shape);
    }
    scatterMode {
        t: |g, t, dimension: i32, index, src, mode: i32| Scattered { t, dimension, index, src: first_of(src, index), mode }.back(g);
        src: |g, t, dimension: i32, index, src, mode: i32| {
            let gradient = Scattered { t, dimension, index, src: first_of(src, index), mode }.back_to_src(g);
            followed_by_zeros(gradient, &src.like())
        };
    }
    scatterFillMode {
        t: |g, t, dimension: i32, index, value: f64, mode: i32| {
            let number = full(g, &Like { shape: Dims::new(), ..t.like() }, value);
            Scattered { t, dimension, index, src: expand(number, &index.shape()), mode }.back(g)
        };
    }

    // Random numbers: the gradient for the noise that was drawn.
    dropout { t: |g, r: grad, mask, p: f64| dropout_back(g, r, mask, kept_by(p, false)); }
    featureDropout { t: |g, r: grad, mask, p: f64| dropout_back(g, r, mask, kept_by(p, false)); }
    alphaDropout { t: |g, r: grad, mask, p: f64| dropout_back(g, r, mask, kept_by(p, true)); }
    featureAlphaDropout { t: |g, r: grad, mask, p: f64| dropout_back(g, r, mask, kept_by(p, true)); }
    normal_means { means: |g| g; }
    normal_stddevs { stdvs: |g, r, mean: f64, stdvs| g * noise(r - mean, stdvs); }
    normal_means_stddevs { means: |g| g; stdvs: |g, r, means, stdvs| g * noise(r - means, stdvs); }
}

/// A list that may be left out.
fn given<'a>(list: &'a [i64]) -> In<'static, 'a> {
    if list.is_empty() { In::Null } else { In::List(list) }
}

fn arange<'s>(g: Value<'s>, dtype: Dtype, start: f64, end: f64, step: f64) -> Value<'s> {
    g.scope.call(&names::newArange::FUNCTION, &[dtype.into(), start.into(), end.into(), step.into()])
}

/// The windows of `size` entries along a dimension, as a new last dimension.
pub(super) fn windows<'s>(t: Value<'s>, dimension: i32, size: i64, step: i64) -> Value<'s> {
    t.scope.call(&names::newUnfold::FUNCTION, &[t.into(), dimension.into(), size.into(), step.into()])
}

/// `t` padded at the ends of its last dimensions.
pub(super) fn pad<'s>(t: Value<'s>, pads: &[i64], mode: THPadMode) -> Value<'s> {
    t.scope.call(&names::pad::FUNCTION, &[t.into(), pads.into(), mode.into(), 0.0.into()])
}

/// Pads of one dimension among `ndim`.
fn pads_of(dim: usize, ndim: usize, before: i64, behind: i64) -> Dims {
    let mut pads: Dims = (0..2 * (ndim - dim)).map(|_| 0).collect();
    let last = pads.len();
    (pads[last - 2], pads[last - 1]) = (before, behind);
    pads
}

/// The gradient of `t` repeated: the sum of all repetitions.
fn repeat_back<'s>(g: Value<'s>, t: &Like, sizes: &[i64]) -> Value<'s> {
    let ndim = sizes.len().max(t.shape.len());
    let (mut apart, mut repeated) = (Dims::new(), Dims::new());
    for d in 0..ndim {
        let often = (d + sizes.len()).checked_sub(ndim).map_or(1, |at| sizes[at]);
        if often != 1 {
            repeated.push(apart.len() as i64);
            apart.push(often);
        }
        apart.push((d + t.shape.len()).checked_sub(ndim).map_or(1, |at| t.shape[at]));
    }
    if repeated.is_empty() { reshape(g, &t.shape) } else { reshape(sum_dims(reshape(g, &apart), &repeated, false), &t.shape) }
}

/// The shape whose entries along the dimension are repeated, and the dimension: all elements are a vector.
fn entries(t: &Like, dimension: i32) -> (Dims, usize) {
    let numel = t.shape.iter().product();
    match wrap_dim(dimension, t.shape.len()) {
        Ok(dim) if dimension != TH_ALL_DIMS && !t.shape.is_empty() => (t.shape.clone(), dim),
        _ => (Dims::from(&[numel]), 0),
    }
}

fn interleave_back<'s>(g: Value<'s>, t: &Like, repeats: Value<'s>, dimension: i32) -> Value<'s> {
    let (shape, dim) = entries(t, dimension);
    let each = arange(g, Dtype::Int64, 0.0, shape[dim] as f64, 1.0);
    let from = g.scope.call(&names::repeatInterleave::FUNCTION, &[each.into(), repeats.into(), 0.into()]);
    let to = Like { shape, dtype: g.dtype(), ..t.clone() };
    reshape(into_zeros(g, &to, &names::indexAdd::FUNCTION, &[(dim as i32).into(), from.into(), g.into()]), &t.shape)
}

fn interleave_evenly_back<'s>(g: Value<'s>, t: &Like, repeats: i64, dimension: i32) -> Value<'s> {
    let (mut shape, dim) = entries(t, dimension);
    shape.insert(dim + 1, repeats);
    reshape(sum(reshape(g, &shape), dim as i32 + 1, false), &t.shape)
}

/// The gradient of a padded tensor. All modes except the constant one repeat inner elements beyond the edges.
fn pad_back<'s>(g: Value<'s>, t: &Like, pads: &[i64], mode: THPadMode) -> Value<'s> {
    if mode == TH_PAD_CONSTANT {
        let cut: Dims = pads.iter().map(|&n| -n).collect();
        return pad(g, &cut, mode);
    }
    if t.shape.contains(&0) {
        return zeros(g, t);
    }
    let mut r = g;
    for (k, pair) in pads.chunks(2).enumerate().filter(|(_, pair)| pair[0] != 0 || pair[1] != 0) {
        let dim = t.shape.len() - 1 - k;
        let from = pad(arange(g, Dtype::Int64, 0.0, t.shape[dim] as f64, 1.0), pair, mode);
        let mut shape = r.shape();
        shape[dim] = t.shape[dim];
        r = into_zeros(r, &Like { shape, ..g.like() }, &names::indexAdd::FUNCTION, &[(dim as i32).into(), from.into(), r.into()]);
    }
    r
}

/// The gradient of differences: differences the other way, of `g` between zeros.
fn diff_back<'s>(g: Value<'s>, t: &Like, n: i64, dimension: i32) -> Value<'s> {
    let Ok(dim) = wrap_dim(dimension, t.shape.len()) else { return g };
    if n == 0 {
        return g;
    }
    if g.numel() == 0 {
        return zeros(g, t);
    }
    let padded = pad(g, &pads_of(dim, t.shape.len(), n, n), TH_PAD_CONSTANT);
    let r = g.scope.call(&names::diff::FUNCTION, &[padded.into(), n.into(), dimension.into()]);
    if n % 2 == 0 { r } else { -r }
}

/// Gives each tensor that was stacked its piece. `ndim` is the least number of dimensions of pieces: 1 for hstack, 2 for vstack, 3 for
/// dstack.
fn unstack(call: &Call<'_>, tensors: usize, ndim: usize) {
    let g = call.g();
    let dim = match ndim {
        1 => usize::from(call.size_at(tensors, 0).len() > 1),
        2 => 0,
        _ => 2,
    };
    let mut first = 0;
    for i in 0..call.entries(tensors) {
        let shape = call.size_at(tensors, i);
        let size = match (ndim, shape.len()) {
            (1, 0) | (2, 0 | 1) | (3, 0..=2) => 1,
            _ => shape.get(dim).copied().unwrap_or(0),
        };
        if call.needs_at(tensors, i) {
            let fits = shape.len().max(ndim) == g.ndim();
            let like = call.like_at(tensors, i);
            // An empty vector may have been joined with tensors of more dimensions.
            let piece = if fits { reshape(narrow(g, dim as i32, first, size), shape) } else { zeros(g, &like) };
            call.give_at(tensors, i, piece);
        }
        first += if shape.iter().product::<i64>() == 0 && shape.len().max(ndim) != g.ndim() { 0 } else { size };
    }
}

/// Gives each vector the sums of its column over the combinations that have one element.
fn combinations_back(call: &Call<'_>, tensors: usize) {
    let (g, count) = (call.g(), call.entries(tensors));
    let size = |i| call.size_at(tensors, i).first().copied().unwrap_or(1);
    if count == 1 {
        return call.give_at(tensors, 0, g);
    }
    for i in (0..count).filter(|&i| call.needs_at(tensors, i)) {
        let apart = [(0..i).map(size).product(), size(i), (i + 1..count).map(size).product()];
        call.give_at(tensors, i, sum_dims(reshape(select(g, 1, i as i64), &apart), &[0, 2], false));
    }
}

/// The gradient of columns of powers.
fn vander_back<'s>(g: Value<'s>, t: Value<'s>, increasing: bool) -> Value<'s> {
    let n = g.shape().last().copied().unwrap_or(0);
    if n < 2 {
        return zerosLike(t);
    }
    let lower = g.scope.call(&names::vander::FUNCTION, &[t.into(), (n - 1).into(), increasing.into()]);
    let highest = (n - 1) as f64;
    let exponents = if increasing { arange(g, g.dtype(), 1.0, n as f64, 1.0) } else { arange(g, g.dtype(), highest, 0.0, -1.0) };
    sum(narrow(g, 1, i64::from(increasing), n - 1) * lower * exponents, 1, false)
}

/// The gradient of elements that were taken along a dimension in which alone the index does not broadcast.
fn along_dim_back<'s>(g: Value<'s>, t: &Like, index: Value<'s>, dimension: i32) -> Value<'s> {
    let row = dimension == TH_ALL_DIMS;
    if row || t.shape.is_empty() {
        let at = reshape(index, &[index.numel()]);
        return into_zeros(g, &Like { dtype: g.dtype(), ..t.clone() }, &names::put::FUNCTION, &[at.into(), g.into(), true.into()]);
    }
    let Ok(dim) = wrap_dim(dimension, t.shape.len()) else { return g };
    if g.numel() == 0 {
        return zeros(g, t);
    }
    let mut shape = g.shape();
    let at = expand(choose(lt_value(index, 0.0), index + t.shape[dim] as f64, index), &shape);
    shape[dim] = t.shape[dim];
    let to = Like { shape, dtype: g.dtype(), ..t.clone() };
    sum_to(into_zeros(g, &to, &names::scatterAdd::FUNCTION, &[dimension.into(), at.into(), g.into()]), &t.shape)
}

/// The entries of a list of indices, some of which may be left out.
fn listed<'s>(call: &Call<'s>, indices: usize, count: i32) -> Vec<Value<'s>> {
    (0..count.max(0) as usize).map(|i| call.entry(indices, i).unwrap_or(call.scope().nothing())).collect()
}

fn index_back(call: &Call<'_>, t: usize, indices: usize, count: i32) {
    let (g, list) = (call.g(), listed(call, indices, count));
    let to = Like { dtype: g.dtype(), ..call.like(t) };
    call.give(t, into_zeros(g, &to, &names::indexPut::FUNCTION, &[In::Tensors(&list), g.into(), true.into()]));
}

/// The first elements of `src` in each dimension, as many as the index has.
fn first_of<'s>(src: Value<'s>, index: Value<'s>) -> Value<'s> {
    let (have, want) = (src.shape(), index.shape());
    (0..want.len().min(have.len())).filter(|&d| have[d] != want[d]).fold(src, |src, d| narrow(src, d as i32, 0, want[d]))
}

/// A call of scatterMode, with `t` as it was before, and as many elements of `src` as the index has.
struct Scattered<'s> {
    t: Value<'s>,
    dimension: i32,
    index: Value<'s>,
    src: Value<'s>,
    mode: THReduce,
}

impl<'s> Scattered<'s> {
    /// `to` after it.
    fn combined(&self, to: Value<'s>, src: Value<'s>) -> Value<'s> {
        cleared(to, &names::scatterMode::FUNCTION, &[self.dimension.into(), self.index.into(), src.into(), self.mode.into()])
    }

    fn gather(&self, t: Value<'s>) -> Value<'s> {
        gather(t, self.dimension, self.index)
    }

    /// `to`, with elements of the shape of the index added.
    fn added(&self, to: Value<'s>, src: Value<'s>) -> Value<'s> {
        cleared(to, &names::scatterAdd::FUNCTION, &[self.dimension.into(), self.index.into(), src.into()])
    }

    /// The result, and `g` divided by the number of elements that equal it.
    fn extreme(&self, g: Value<'s>) -> (Value<'s>, Value<'s>) {
        let r = self.combined(self.t, self.src);
        let winners = to_dtype(eq(self.src, self.gather(r)), g.dtype());
        (r, g / self.added(to_dtype(eq(self.t, r), g.dtype()), winners))
    }

    /// The gradient of `t`.
    fn back(&self, g: Value<'s>) -> Value<'s> {
        match self.mode {
            TH_REDUCE_ADD => g,
            TH_REDUCE_MULTIPLY => g * self.combined(onesLike(self.t), self.src),
            _ => {
                let (r, shared) = self.extreme(g);
                choose_or(eq(self.t, r), shared, 0.0)
            }
        }
    }

    /// The gradient of `src`.
    fn back_to_src(&self, g: Value<'s>) -> Value<'s> {
        match self.mode {
            TH_REDUCE_ADD => self.gather(g),
            TH_REDUCE_MULTIPLY => self.gather(g) * self.factors_of_others(),
            _ => {
                let (r, shared) = self.extreme(g);
                choose_or(eq(self.src, self.gather(r)), self.gather(shared), 0.0)
            }
        }
    }

    /// For each element of `src` the product of all others at its place, and of `t`. A single 0 among them does not hide the others.
    fn factors_of_others(&self) -> Value<'s> {
        let zero = eq_value(self.src, 0.0);
        let zeros_there = self.gather(self.added(zerosLike(self.t), to_dtype(zero, self.t.dtype())));
        let single = both(zero, eq_value(zeros_there, 1.0));
        let without = self.gather(self.combined(self.t, or_choose(single, 1.0, self.src)));
        let all = self.gather(self.combined(self.t, self.src)) / or_choose(zero, 1.0, self.src);
        choose(single, without, all)
    }
}

/// The gradient of elements that were dropped by a mask, and scaled. The mask itself has none.
fn dropout_back<'s>(g: Value<'s>, of_result: Option<Value<'s>>, mask: Value<'s>, factor: f64) -> Value<'s> {
    match of_result {
        Some(g) if factor > 0.0 => g * mask * factor,
        _ => zerosLike(g),
    }
}

/// The normal noise that was scaled by `stdvs`; 0 where `stdvs` is 0, because the noise is then unknown.
fn noise<'s>(scaled: Value<'s>, stdvs: Value<'s>) -> Value<'s> {
    let none = eq_value(stdvs, 0.0);
    or_choose(none, 0.0, scaled / or_choose(none, 1.0, stdvs))
}
