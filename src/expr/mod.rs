//! The vocabulary of formulas: values, operators, and Rust functions that call the function of the table with the same name.

pub mod names;
mod scope;

pub use scope::{In, Like, Scope, Value, internal};

use crate::dtype::Dtype;
use crate::ops::pointwise::divide::TH_DIV_FLOOR;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Functions of values: `name(arguments) = function(arguments of the function)`.
macro_rules! words {
    ($($name:ident($t:ident $(, $arg:ident: $kind:ty)*) = $function:ident($($given:expr),*);)*) => { $(
        #[doc = concat!("Calls `", stringify!($function), "`.")]
        #[inline(never)]
        pub fn $name<'s>($t: Value<'s> $(, $arg: $kind)*) -> Value<'s> {
            $t.scope.call(&names::$function::FUNCTION, &[$(In::from($given)),*])
        }
    )* };
}

/// Functions of one value.
macro_rules! unary {
    ($($name:ident)*) => { words! { $($name(t) = $name(t);)* } };
}

unary! { abs sign exp log log1p sin cos sinh cosh tanh rsqrt sigmoid digamma cinv inverse zerosLike onesLike }

words! {
    power(t, x: f64) = pow(t, x);
    cpow(a, b: Value<'s>) = cpow(a, b);
    hypot(a, b: Value<'s>) = hypot(a, b);
    xlogy(a, b: Value<'s>) = xlogy(a, b);
    xlogy_value(t, x: f64) = xlogyValue(t, x);
    number_by(t, x: f64) = rdiv(t, x);
    fmod(a, b: Value<'s>) = cfmod(a, b);
    floor_of_quotient(a, b: Value<'s>) = cdivMode(a, b, TH_DIV_FLOOR);
    clamp(t, least: f64, most: f64) = clamp(t, least, most);
    clamp_least(t, x: f64) = cmaxValue(t, x);
    polygamma(t, n: i64) = polygamma(n, t);

    floored(t) = floor(t);
    ceiled(t) = ceil(t);
    rounded(t) = round(t);
    is_finite(t) = isfinite(t);
    is_nan(t) = isnan(t);
    tanh_grad(g, y: Value<'s>) = tanhGrad(g, y);
    sigmoid_grad(g, y: Value<'s>) = sigmoidGrad(g, y);
    relu_grad(g, t: Value<'s>) = reluGrad(g, t);
    leaky_relu_grad(g, t: Value<'s>, x: f64) = leakyReluGrad(g, t, x);
    hardtanh_grad(g, t: Value<'s>, least: f64, most: f64) = hardtanhGrad(g, t, least, most);
    elu_grad(g, t: Value<'s>, x: f64) = eluGrad(g, t, x);
    softplus_grad(g, t: Value<'s>, beta: f64, threshold: f64) = softplusGrad(g, t, beta, threshold);
    gelu_grad(g, t: Value<'s>) = geluGrad(g, t);
    gelu_tanh_grad(g, t: Value<'s>) = geluTanhGrad(g, t);
    silu_grad(g, t: Value<'s>) = siluGrad(g, t);
    hardswish_grad(g, t: Value<'s>) = hardswishGrad(g, t);

    eq(a, b: Value<'s>) = eqTensor(a, b);
    eq_value(t, x: f64) = eqValue(t, x);
    ne_value(t, x: f64) = neValue(t, x);
    lt_value(t, x: f64) = ltValue(t, x);
    le_value(t, x: f64) = leValue(t, x);
    gt_value(t, x: f64) = gtValue(t, x);
    ge_value(t, x: f64) = geValue(t, x);
    lt(a, b: Value<'s>) = ltTensor(a, b);
    le(a, b: Value<'s>) = leTensor(a, b);
    gt(a, b: Value<'s>) = gtTensor(a, b);
    ge(a, b: Value<'s>) = geTensor(a, b);
    both(a, b: Value<'s>) = logicalAnd(a, b);
    either(a, b: Value<'s>) = logicalOr(a, b);
    not(a) = logicalNot(a);
    choose(mask, a: Value<'s>, b: Value<'s>) = choose(mask, a, b);
    choose_or(mask, a: Value<'s>, x: f64) = whereValue(mask, a, x);
    or_choose(mask, x: f64, b: Value<'s>) = whereValueTensor(mask, x, b);

    sum_dims(t, dims: &[i64], keepdim: bool) = sumDims(t, dims, keepdim, In::Null);
    sum(t, dim: i32, keepdim: bool) = sum(t, dim, keepdim);
    mean_dims(t, dims: &[i64], keepdim: bool) = meanDims(t, dims, keepdim, In::Null);
    prod(t, dim: i32, keepdim: bool) = prod(t, dim, keepdim);
    cumsum(t, dim: i32) = cumsum(t, dim);
    cumprod(t, dim: i32) = cumprod(t, dim);
    flip(t, dims: &[i64]) = flip(t, dims);

    mm(a, b: Value<'s>) = mm(a, b);
    matmul(a, b: Value<'s>) = matmul(a, b);
    outer(a, b: Value<'s>) = outer(a, b);

    csr_matmul(m, crow: Value<'s>, col: Value<'s>, values: Option<Value<'s>>) = csrMatmul(crow, col, values, m);
    csr_matmul_transposed(m, crow: Value<'s>, col: Value<'s>, values: Option<Value<'s>>, columns: i64) =
        csrMatmulTransposed(crow, col, values, m, columns);
    csr_sampled(a, b: Value<'s>, crow: Value<'s>, col: Value<'s>) = csrSampled(crow, col, a, b);
    csr_softmax_grad(g, y: Value<'s>, crow: Value<'s>) = csrSoftmaxGrad(crow, g, y);

    reshape(t, shape: &[i64]) = newReshape(t, shape);
    expand(t, shape: &[i64]) = newExpand(t, shape);
    permute(t, dims: &[i64]) = newPermute(t, dims);
    transpose(t, a: i32, b: i32) = newTranspose(t, a, b);
    unsqueeze(t, dim: i32) = newUnsqueeze1d(t, dim);
    squeeze(t, dim: i32) = newSqueeze1d(t, dim);
    narrow(t, dim: i32, first: i64, size: i64) = newNarrow(t, dim, first, size);
    select(t, dim: i32, at: i64) = newSelect(t, dim, at);
    diagonal(t, offset: i64, a: i32, b: i32) = newDiagonal(t, offset, a, b);
    diag_embed(t, offset: i64, a: i32, b: i32) = diagEmbed(t, offset, a, b);
    join(a, b: Value<'s>, dim: i32) = cat(a, b, dim);
    tril(t, k: i64) = tril(t, k);
    triu(t, k: i64) = triu(t, k);
    to_dtype(t, dtype: Dtype) = newTo(t, dtype);
    clone(t) = newClone(t);

    index_select(t, dim: i32, index: Value<'s>) = indexSelect(t, dim, index);
    gather(t, dim: i32, index: Value<'s>) = gather(t, dim, index);
    take(t, index: Value<'s>) = take(t, index);
}

/// Returns `t`, with 16-bit floats converted to float32, because a formula of several steps needs the range and the precision.
pub fn wide(t: Value<'_>) -> Value<'_> {
    let dtype = t.dtype().compute();
    if dtype == t.dtype() { t } else { to_dtype(t, dtype) }
}

/// Returns the transpose of the last two dimensions.
pub fn mt(t: Value<'_>) -> Value<'_> {
    transpose(t, -1, -2)
}

/// Returns a tensor of this shape, dtype and device whose elements are all `x`.
pub fn full<'s>(g: Value<'s>, like: &Like, x: f64) -> Value<'s> {
    g.scope.call(&names::newFull::FUNCTION, &[like.dtype.into(), (&like.shape).into(), x.into()])
}

/// Returns zeros of this shape, dtype and device.
pub fn zeros<'s>(g: Value<'s>, like: &Like) -> Value<'s> {
    full(g, like, 0.0)
}

/// Returns the row of each entry of compressed rows, as int64.
pub fn row_numbers(crow: Value<'_>) -> Value<'_> {
    let (scope, rows) = (crow.scope, crow.numel() - 1);
    let counts = narrow(crow, 0, 1, rows) - narrow(crow, 0, 0, rows);
    scope.call(&names::repeatInterleave::FUNCTION, &[scope.numbers(rows).into(), counts.into(), 0.into()])
}

impl Scope {
    /// Returns the int64 numbers from 0 to `n - 1`.
    pub fn numbers(&self, n: i64) -> Value<'_> {
        self.call(&names::newArange::FUNCTION, &[Dtype::Int64.into(), 0.0.into(), (n as f64).into(), 1.0.into()])
    }
}

impl<'s> Neg for Value<'s> {
    type Output = Value<'s>;
    fn neg(self) -> Value<'s> {
        self.scope.call(&names::neg::FUNCTION, &[self.into()])
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident: $function:ident($($given:tt),*) $number:ident;)*) => { $(
        impl<'s> $operator for Value<'s> {
            type Output = Value<'s>;
            #[inline(never)]
            fn $method(self, b: Value<'s>) -> Value<'s> {
                let a = self;
                operators!(@call a b $function $($given)*)
            }
        }
        impl<'s> $operator<f64> for Value<'s> {
            type Output = Value<'s>;
            #[inline(never)]
            fn $method(self, x: f64) -> Value<'s> {
                self.scope.call(&names::$number::FUNCTION, &[self.into(), x.into()])
            }
        }
    )* };
    (@call $a:ident $b:ident $function:ident two) => { $a.scope.call(&names::$function::FUNCTION, &[$a.into(), $b.into()]) };
    (@call $a:ident $b:ident $function:ident scaled) => { $a.scope.call(&names::$function::FUNCTION, &[$a.into(), 1.0.into(), $b.into()]) };
}

operators! {
    Add add: cadd(scaled) add;
    Sub sub: csub(scaled) sub;
    Mul mul: cmul(two) mul;
    Div div: cdiv(two) div;
}
