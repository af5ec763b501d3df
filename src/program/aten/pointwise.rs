//! Operators that compute each element separately.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{self, Value, names};
use crate::ops::pointwise::divide::{TH_DIV_FLOOR, TH_DIV_TRUE, TH_DIV_TRUNC};
use crate::program::aten::creation::of_number;
use crate::program::call::Call;
use crate::program::direct::scalar;
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "abs" "self" => abs "self";
    "acos" "self" => acos "self";
    "acosh" "self" => acosh "self";
    "asin" "self" => asin "self";
    "asinh" "self" => asinh "self";
    "atan" "self" => atan "self";
    "atanh" "self" => atanh "self";
    "ceil" "self" => ceil "self";
    "cos" "self" => cos "self";
    "cosh" "self" => cosh "self";
    "digamma" "self" => digamma "self";
    "erf" "self" => erf "self";
    "erfc" "self" => erfc "self";
    "erfinv" "self" => erfinv "self";
    "exp" "self" => exp "self";
    "exp2" "self" => exp2 "self";
    "expm1" "self" => expm1 "self";
    "floor" "self" => floor "self";
    "frac" "self" => frac "self";
    "lgamma" "self" => lgamma "self";
    "log" "self" => log "self";
    "log10" "self" => log10 "self";
    "log1p" "self" => log1p "self";
    "log2" "self" => log2 "self";
    "neg" "self" => neg "self";
    "reciprocal" "self" => cinv "self";
    "round" "self" => round "self";
    "rsqrt" "self" => rsqrt "self";
    "sign" "self" => sign "self";
    "sgn" "self" => sign "self";
    "sin" "self" => sin "self";
    "sinc" "self" => sinc "self";
    "sinh" "self" => sinh "self";
    "sqrt" "self" => sqrt "self";
    "square" "self" => square "self";
    "tan" "self" => tan "self";
    "tanh" "self" => tanh "self";
    "trunc" "self" => trunc "self";
    "round.decimals" "self decimals" => { round_decimals };
    "deg2rad" "self" => mul "self 0.017453292519943295";
    "rad2deg" "self" => mul "self 57.29577951308232";
    "logit" "self eps=None" => { logit };
    "polygamma" "n self" => polygamma "n self";
    "mvlgamma" "self p" => mvlgamma "self p";
    "real" "self" => same;
    "positive" "self" => same;

    "relu" "self" => relu "self";
    "relu6" "self" => hardtanh "self 0 6";
    "sigmoid" "self" => sigmoid "self";
    "gelu" "self approximate==none" => gelu "self";
    "gelu" "self approximate==tanh" => geluTanh "self";
    "silu" "self" => silu "self";
    "mish" "self" => mish "self";
    "hardswish" "self" => hardswish "self";
    "hardsigmoid" "self" => hardsigmoid "self";
    "selu" "self" => selu "self";
    "log_sigmoid" "self" => logSigmoid "self";
    "leaky_relu" "self negative_slope=0.01" => leakyRelu "self negative_slope";
    "elu" "self alpha=1 scale==1 input_scale==1" => elu "self alpha";
    "elu" "self alpha=1 scale=1 input_scale=1" => { scaled_elu };
    "celu" "self alpha=1" => celu "self alpha";
    "softplus" "self beta=1 threshold=20" => softplus "self beta threshold";
    "hardtanh" "self min_val=-1 max_val=1" => hardtanh "self min_val max_val";
    "hardshrink" "self lambd=0.5" => hardshrink "self lambd";
    "softshrink" "self lambd=0.5" => softshrink "self lambd";
    "threshold" "self threshold value" => threshold "self threshold value";
    "prelu" "self weight" => prelu "self weight";
    "_prelu_kernel" "self weight" => { prelu_kernel };
    "glu" "self dim=-1" => glu "self dim";
    "log_sigmoid_forward" "self" => { log_sigmoid_forward };
    "gelu_backward" "grad_output self approximate==none" => geluGrad "grad_output self";
    "gelu_backward" "grad_output self approximate==tanh" => geluTanhGrad "grad_output self";
    "silu_backward" "grad_output self" => siluGrad "grad_output self";
    "hardswish_backward" "grad_output self" => hardswishGrad "grad_output self";
    "sigmoid_backward" "grad_output output" => sigmoidGrad "grad_output output";
    "tanh_backward" "grad_output output" => tanhGrad "grad_output output";
    "threshold_backward" "grad_output self threshold==0" => reluGrad "grad_output self";
    "leaky_relu_backward" "grad_output self negative_slope self_is_result==False" => leakyReluGrad "grad_output self negative_slope";
    "hardtanh_backward" "grad_output self min_val max_val" => hardtanhGrad "grad_output self min_val max_val";
    "elu_backward" "grad_output self_or_result alpha scale==1 input_scale==1 is_result==False"
        => eluGrad "grad_output self_or_result alpha";
    "softplus_backward" "grad_output self beta threshold" => softplusGrad "grad_output self beta threshold";

    "add.Tensor" "self other alpha=1" => cadd "self alpha other";
    "add.Tensor" "self other alpha==1" => add "self other";
    "add.Tensor" "self other alpha" => { add_scaled };
    "add.Scalar" "self other alpha==1" => add "self other";
    "add.Scalar" "self other alpha=1" => cadd "self alpha other";
    "sub.Tensor" "self other alpha=1" => csub "self alpha other";
    "sub.Tensor" "self other alpha==1" => sub "self other";
    "sub.Tensor" "self other alpha" => { subtract_scaled };
    "sub.Scalar" "self other alpha==1" => sub "self other";
    "sub.Scalar" "self other alpha=1" => csub "self alpha other";
    "rsub.Tensor" "self other alpha=1" => crsub "self alpha other";
    "rsub.Scalar" "self other alpha==1" => rsub "self other";
    "rsub.Scalar" "self other alpha=1" => crsub "self alpha other";
    "mul.Tensor" "self other" => cmul "self other";
    "mul.Tensor" "self other" => mul "self other";
    "mul.Scalar" "self other" => mul "self other";
    "mul.Scalar" "self other" => cmul "self other";
    "div.Tensor" "self other" => cdiv "self other";
    "div.Tensor" "self other" => div "self other";
    "div.Scalar" "self other" => div "self other";
    "div.Scalar" "self other" => cdiv "self other";
    "div.Tensor_mode" "self other rounding_mode=None" => { divide_rounded };
    "div.Scalar_mode" "self other rounding_mode=None" => { divide_rounded };
    "floor_divide" "self other" => cdivMode "self other 2";
    "floor_divide" "self other" => divMode "self other 2";
    "floor_divide.Tensor" "self other" => cdivMode "self other 2";
    "floor_divide.Scalar" "self other" => divMode "self other 2";
    "floor_divide.Scalar" "self other" => cdivMode "self other 2";
    "fmod.Tensor" "self other" => cfmod "self other";
    "fmod.Scalar" "self other" => fmod "self other";
    "fmod.Scalar" "self other" => cfmod "self other";
    "remainder.Tensor" "self other" => cremainder "self other";
    "remainder.Scalar" "self other" => remainder "self other";
    "remainder.Scalar" "self other" => cremainder "self other";
    "remainder.Scalar_Tensor" "self other" => cremainder "self other";
    "pow.Tensor_Tensor" "self exponent" => cpow "self exponent";
    "pow.Tensor_Scalar" "self exponent" => pow "self exponent";
    "pow.Tensor_Scalar" "self exponent" => cpow "self exponent";
    "pow.Scalar" "self exponent" => tpow "self exponent";
    "pow.Scalar" "self exponent" => cpow "self exponent";
    "pow_.Scalar" "self exponent" => pow "self exponent";
    "pow_.Tensor" "self exponent" => cpow "self exponent";
    "float_power.Tensor_Tensor" "self exponent" => { float_power };
    "float_power.Tensor_Scalar" "self exponent" => { float_power };
    "float_power.Scalar" "self exponent" => { float_power };
    "fmax" "self other" => { greater_number };
    "fmin" "self other" => { lesser_number };
    "maximum" "self other" => cmax "self other";
    "minimum" "self other" => cmin "self other";
    "max.other" "self other" => cmax "self other";
    "min.other" "self other" => cmin "self other";
    "clamp" "self min max" => clamp "self min max";
    "clamp" "self min max==None" => cmaxValue "self min";
    "clamp" "self min==None max" => cminValue "self max";
    "clamp" "self min=None max=None" => clampTensor "self min max";
    "clamp.Tensor" "self min=None max=None" => clampTensor "self min max";
    "clamp_min" "self min" => cmaxValue "self min";
    "clamp_min" "self min" => cmax "self min";
    "clamp_min.Tensor" "self min" => cmax "self min";
    "clamp_max" "self max" => cminValue "self max";
    "clamp_max" "self max" => cmin "self max";
    "clamp_max.Tensor" "self max" => cmin "self max";
    "atan2" "self other" => atan2 "self other";
    "hypot" "self other" => hypot "self other";
    "logaddexp" "self other" => logaddexp "self other";
    "logaddexp2" "self other" => { logaddexp2 };
    "ldexp.Tensor" "self other" => { ldexp };
    "copysign.Tensor" "self other" => copysign "self other";
    "copysign.Scalar" "self other" => copysign "self other";
    "nextafter" "self other" => nextafter "self other";
    "heaviside" "self values" => heaviside "self values";
    "xlogy.Tensor" "self other" => xlogy "self other";
    "xlogy.Scalar_Other" "self other" => xlogyValue "self other";
    "xlogy.Scalar_Self" "self other" => xlogy "self other";
    "special_xlogy" "self other" => xlogy "self other";
    "lerp.Scalar" "self end weight" => lerp "self end weight";
    "lerp.Tensor" "self end weight" => lerpTensor "self end weight";
    "addcmul" "self tensor1 tensor2 value=1" => addcmul "self value tensor1 tensor2";
    "addcdiv" "self tensor1 tensor2 value=1" => addcdiv "self value tensor1 tensor2";
    "nan_to_num" "self nan=None posinf=None neginf=None" => { nan_to_num };

    "eq.Tensor" "self other" => eqTensor "self other";
    "eq.Scalar" "self other" => eqValue "self other";
    "eq.Scalar" "self other" => eqTensor "self other";
    "ne.Tensor" "self other" => neTensor "self other";
    "ne.Scalar" "self other" => neValue "self other";
    "ne.Scalar" "self other" => neTensor "self other";
    "lt.Tensor" "self other" => ltTensor "self other";
    "lt.Scalar" "self other" => ltValue "self other";
    "lt.Scalar" "self other" => ltTensor "self other";
    "le.Tensor" "self other" => leTensor "self other";
    "le.Scalar" "self other" => leValue "self other";
    "le.Scalar" "self other" => leTensor "self other";
    "gt.Tensor" "self other" => gtTensor "self other";
    "gt.Scalar" "self other" => gtValue "self other";
    "gt.Scalar" "self other" => gtTensor "self other";
    "ge.Tensor" "self other" => geTensor "self other";
    "ge.Scalar" "self other" => geValue "self other";
    "ge.Scalar" "self other" => geTensor "self other";
    "isnan" "self" => isnan "self";
    "isinf" "self" => isinf "self";
    "isfinite" "self" => isfinite "self";
    "isneginf" "self" => eqValue "self -inf";
    "isposinf" "self" => eqValue "self inf";
    "signbit" "self" => signbit "self";
    "logical_not" "self" => logicalNot "self";
    "logical_and" "self other" => logicalAnd "self other";
    "logical_or" "self other" => logicalOr "self other";
    "logical_xor" "self other" => logicalXor "self other";
    "bitwise_not" "self" => bitwiseNot "self";
    "bitwise_and.Tensor" "self other" => cbitand "self other";
    "bitwise_and.Scalar" "self other" => bitand "self other";
    "bitwise_and.Scalar" "self other" => cbitand "self other";
    "bitwise_or.Tensor" "self other" => cbitor "self other";
    "bitwise_or.Scalar" "self other" => bitor "self other";
    "bitwise_or.Scalar" "self other" => cbitor "self other";
    "bitwise_xor.Tensor" "self other" => cbitxor "self other";
    "bitwise_xor.Scalar" "self other" => bitxor "self other";
    "bitwise_xor.Scalar" "self other" => cbitxor "self other";
    "bitwise_left_shift.Tensor" "self other" => clshift "self other";
    "bitwise_left_shift.Tensor_Scalar" "self other" => lshift "self other";
    "bitwise_right_shift.Tensor" "self other" => crshift "self other";
    "bitwise_right_shift.Tensor_Scalar" "self other" => rshift "self other";
    "__and__.Tensor" "self other" => cbitand "self other";
    "__and__.Scalar" "self other" => bitand "self other";
    "__and__.Scalar" "self other" => cbitand "self other";
    "__or__.Tensor" "self other" => cbitor "self other";
    "__or__.Scalar" "self other" => bitor "self other";
    "__or__.Scalar" "self other" => cbitor "self other";
    "__xor__.Tensor" "self other" => cbitxor "self other";
    "__xor__.Scalar" "self other" => bitxor "self other";
    "__xor__.Scalar" "self other" => cbitxor "self other";
    "__lshift__.Scalar" "self other" => lshift "self other";
    "__rshift__.Scalar" "self other" => rshift "self other";
    "__lshift__.Tensor" "self other" => clshift "self other";
    "__rshift__.Tensor" "self other" => crshift "self other";
    "__iand__.Tensor" "self other" => cbitand "self other";
    "__ior__.Tensor" "self other" => cbitor "self other";
    "__ixor__.Tensor" "self other" => cbitxor "self other";
    "bitwise_and.Scalar_Tensor" "self other" => bitand "other self";
    "bitwise_or.Scalar_Tensor" "self other" => bitor "other self";
    "bitwise_xor.Scalar_Tensor" "self other" => bitxor "other self";
    "bitwise_left_shift.Scalar_Tensor" "self other" => clshift "self other";
    "bitwise_right_shift.Scalar_Tensor" "self other" => crshift "self other";

    "where.self" "condition self other" => choose "condition self other";
    "where.ScalarOther" "condition self other" => whereValue "condition self other";
    "where.ScalarOther" "condition self other" => choose "condition self other";
    "where.ScalarSelf" "condition self other" => whereValueTensor "condition self other";
    "where.ScalarSelf" "condition self other" => choose "condition self other";
    "where.Scalar" "condition self other" => { where_numbers };
    "where" "condition" => nonzeroTuple "condition";
    "nonzero_numpy" "self" => nonzeroTuple "self";
    "masked_fill.Scalar" "self mask value" => whereValueTensor "mask value self";
    "masked_fill.Scalar" "self mask value" => { masked_fill };
    "masked_fill.Tensor" "self mask value" => { masked_fill };
    "masked_fill_.Scalar" "self mask value" => maskedFill "self mask value";
}

/// `alpha * other` as a number.
fn scaled(c: &Call<'_>) -> Result<f64> {
    Ok(c.number(1)? * c.number(2)?)
}

fn add_scaled(c: &Call<'_>) -> Result<Item> {
    c.done(c.scope.call(&names::add::FUNCTION, &[c.value(0)?.into(), scaled(c)?.into()]))
}

fn subtract_scaled(c: &Call<'_>) -> Result<Item> {
    c.done(c.scope.call(&names::sub::FUNCTION, &[c.value(0)?.into(), scaled(c)?.into()]))
}

fn scaled_elu(c: &Call<'_>) -> Result<Item> {
    let (alpha, scale, input_scale) = (c.number(1)?, c.number(2)?, c.number(3)?);
    // elu(x) = scale * (x where x > 0, else alpha * (exp(x * input_scale) - 1)).
    let x = c.value(0)?;
    let s = &c.scope;
    let below = s.call(&names::expm1::FUNCTION, &[(x * input_scale).into()]) * alpha;
    let above = s.call(&names::gtValue::FUNCTION, &[x.into(), 0.0.into()]);
    c.done(expr::choose(above, x, below) * scale)
}

/// `self where self > 0, else weight * self`, with a weight that broadcasts.
fn prelu_kernel(c: &Call<'_>) -> Result<Item> {
    let (x, weight) = (c.value(0)?, c.value(1)?);
    let above = c.scope.call(&names::gtValue::FUNCTION, &[x.into(), 0.0.into()]);
    c.done(expr::choose(above, x, x * weight))
}

fn divide_rounded(c: &Call<'_>) -> Result<Item> {
    let mode = match &c.arguments[2] {
        Item::None => TH_DIV_TRUE,
        Item::Text(mode) if &**mode == "floor" => TH_DIV_FLOOR,
        Item::Text(mode) if &**mode == "trunc" => TH_DIV_TRUNC,
        _ => bail!(Argument, "the rounding mode is unknown"),
    };
    let x = c.value(0)?;
    c.done(c.scope.call(&names::cdivMode::FUNCTION, &[x.into(), operand(c, 1, x.dtype())?.into(), mode.into()]))
}

fn nan_to_num(c: &Call<'_>) -> Result<Item> {
    let x = c.value(0)?;
    let greatest = match x.dtype() {
        Dtype::Float16 => 65504.0,
        Dtype::Bfloat16 => 3.389_531_389_251_535_5e38,
        Dtype::Float32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    let nan = c.optional_number(1)?.unwrap_or(0.0);
    let above = c.optional_number(2)?.unwrap_or(greatest);
    let below = c.optional_number(3)?.unwrap_or(-greatest);
    c.done(c.scope.call(&names::nanToNum::FUNCTION, &[x.into(), nan.into(), above.into(), below.into()]))
}

/// Argument `k`: a tensor, or a number that is combined with a tensor of dtype `other`.
pub fn operand<'s>(c: &'s Call<'_>, k: usize, other: Dtype) -> Result<Value<'s>> {
    match &c.arguments[k] {
        Item::Tensor(_) => c.value(k),
        number => Ok(c.scope.value(scalar(number, Some(other))?)),
    }
}

/// Argument `k`, a tensor of one element or a number, as a 0-d tensor of this dtype.
pub fn of_dtype<'s>(c: &'s Call<'_>, k: usize, dtype: Dtype) -> Result<Value<'s>> {
    Ok(expr::to_dtype(operand(c, k, dtype)?, dtype))
}

fn round_decimals(c: &Call<'_>) -> Result<Item> {
    let (x, power) = (c.value(0)?, 10f64.powi(c.dim(1)?.abs()));
    c.done(if c.dim(1)? < 0 { expr::rounded(x / power) * power } else { expr::rounded(x * power) / power })
}

fn logit(c: &Call<'_>) -> Result<Item> {
    let x = c.value(0)?;
    let x = c.optional_number(1)?.map_or(x, |eps| expr::clamp(x, eps, 1.0 - eps));
    c.done(expr::log(x / c.scope.call(&names::rsub::FUNCTION, &[x.into(), 1.0.into()])))
}

fn log_sigmoid_forward(c: &Call<'_>) -> Result<Item> {
    let r = c.scope.call(&names::logSigmoid::FUNCTION, &[c.value(0)?.into()]);
    c.done_all(&[r, c.scope.nothing()])
}

fn float_power(c: &Call<'_>) -> Result<Item> {
    c.done(expr::cpow(of_dtype(c, 0, Dtype::Float64)?, of_dtype(c, 1, Dtype::Float64)?))
}

/// The result of `function`, or the other operand where one is NaN.
fn without_nan(c: &Call<'_>, function: &'static crate::api::function::Function) -> Result<Item> {
    let (a, b) = (c.value(0)?, c.value(1)?);
    let r = c.scope.call(function, &[a.into(), b.into()]);
    c.done(expr::choose(expr::is_nan(a), b, expr::choose(expr::is_nan(b), a, r)))
}

fn greater_number(c: &Call<'_>) -> Result<Item> {
    without_nan(c, &names::cmax::FUNCTION)
}

fn lesser_number(c: &Call<'_>) -> Result<Item> {
    without_nan(c, &names::cmin::FUNCTION)
}

fn logaddexp2(c: &Call<'_>) -> Result<Item> {
    let ln = std::f64::consts::LN_2;
    let arguments = [(c.value(0)? * ln).into(), (c.value(1)? * ln).into()];
    c.done(c.scope.call(&names::logaddexp::FUNCTION, &arguments) / ln)
}

fn ldexp(c: &Call<'_>) -> Result<Item> {
    c.done(c.value(0)? * c.scope.call(&names::exp2::FUNCTION, &[c.value(1)?.into()]))
}

/// Two numbers, chosen by a mask.
fn where_numbers(c: &Call<'_>) -> Result<Item> {
    let dtype = of_number(c, 1).promote(of_number(c, 2));
    c.done(expr::choose(c.value(0)?, of_dtype(c, 1, dtype)?, of_dtype(c, 2, dtype)?))
}

/// `value` where `mask` is true, else `self`. The dtype is the dtype of `self`.
fn masked_fill(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    c.done(expr::choose(c.value(1)?, of_dtype(c, 2, t.dtype())?, t))
}
