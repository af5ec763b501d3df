//! Reductions, scans, sorting and searching.

use crate::api::function::Function;
use crate::error::{Result, bail};
use crate::expr::{self, In, names};
use crate::layout::Dims;
use crate::ops::order::{
    TH_INTERPOLATION_HIGHER, TH_INTERPOLATION_LINEAR, TH_INTERPOLATION_LOWER, TH_INTERPOLATION_MIDPOINT, TH_INTERPOLATION_NEAREST,
};
use crate::ops::reduce::TH_ALL_DIMS;
use crate::program::call::Call;
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "sum" "self dtype=None" => sumDims "self [] 0 dtype";
    "sum.dim_IntList" "self dim=[] keepdim=False dtype=None" => sumDims "self dim keepdim dtype";
    "mean" "self dtype=None" => meanDims "self [] 0 dtype";
    "mean.dim" "self dim=[] keepdim=False dtype=None" => meanDims "self dim keepdim dtype";
    "prod" "self dtype=None" => prodDims "self [] 0 dtype";
    "prod.dim_int" "self dim keepdim=False dtype=None" => prodDims "self dim keepdim dtype";
    "nansum" "self dim=[] keepdim=False dtype=None" => nansumDims "self dim keepdim dtype";
    "nanmean" "self dim=[] keepdim=False dtype==None" => nanmeanDims "self dim keepdim";
    "trace" "self" => { trace };
    "amax" "self dim=[] keepdim=False" => amaxDims "self dim keepdim";
    "amin" "self dim=[] keepdim=False" => aminDims "self dim keepdim";
    "max" "self" => amaxDims "self [] 0";
    "min" "self" => aminDims "self [] 0";
    "max.dim" "self dim keepdim=False" => max "self dim keepdim";
    "min.dim" "self dim keepdim=False" => min "self dim keepdim";
    "aminmax" "self dim keepdim=False" => aminmax "self dim keepdim";
    "aminmax" "self dim==None keepdim=False" => aminmax "self -2147483648 keepdim";
    "argmax" "self dim keepdim=False" => argmax "self dim keepdim";
    "argmax" "self dim==None keepdim=False" => argmax "self -2147483648 keepdim";
    "argmin" "self dim keepdim=False" => argmin "self dim keepdim";
    "argmin" "self dim==None keepdim=False" => argmin "self -2147483648 keepdim";
    "any" "self" => anyDims "self [] 0";
    "any.dim" "self dim keepdim=False" => any "self dim keepdim";
    "any.dims" "self dim=[] keepdim=False" => anyDims "self dim keepdim";
    "all" "self" => allDims "self [] 0";
    "all.dim" "self dim keepdim=False" => all "self dim keepdim";
    "all.dims" "self dim=[] keepdim=False" => allDims "self dim keepdim";
    "var" "self unbiased=True" => { variance_of_all };
    "var.dim" "self dim=[] unbiased=True keepdim=False" => { variance };
    "var.correction" "self dim=[] correction=1 keepdim=False" => varDimsCorrection "self dim correction keepdim";
    "std" "self unbiased=True" => { deviation_of_all };
    "std.dim" "self dim=[] unbiased=True keepdim=False" => { deviation };
    "std.correction" "self dim=[] correction=1 keepdim=False" => stdDimsCorrection "self dim correction keepdim";
    "var_mean.correction" "self dim=[] correction=1 keepdim=False" => { variance_and_mean };
    "var_mean.dim" "self dim=[] unbiased=True keepdim=False" => { variance_and_mean };
    "var_mean" "self unbiased=True" => { variance_and_mean_of_all };
    "std_mean.correction" "self dim=[] correction=1 keepdim=False" => { deviation_and_mean };
    "std_mean.dim" "self dim=[] unbiased=True keepdim=False" => { deviation_and_mean };
    "std_mean" "self unbiased=True" => { deviation_and_mean_of_all };
    "linalg_vector_norm" "self ord=2 dim=[] keepdim=False dtype=None" => normDims "self ord dim keepdim dtype";
    "norm.Scalar" "self p=2" => normDims "self p [] 0 -";
    "norm.ScalarOpt_dim" "self p=2 dim=[] keepdim=False" => normDims "self p dim keepdim -";
    "norm.ScalarOpt_dtype" "self p=2 dtype=None" => normDims "self p [] 0 dtype";
    "norm.ScalarOpt_dim_dtype" "self p=2 dim=[] keepdim=False dtype=None" => normDims "self p dim keepdim dtype";
    "linalg_norm" "self ord==None dim=[] keepdim=False dtype=None" => normDims "self 2 dim keepdim dtype";
    "linalg_norm" "self ord dim=[] keepdim=False dtype=None" => { vector_norm };
    "frobenius_norm.dim" "self dim keepdim=False" => normDims "self 2 dim keepdim -";
    "dist" "self other p=2" => { distance };
    "renorm" "self p dim maxnorm" => renorm "self p dim maxnorm";
    "logsumexp" "self dim keepdim=False" => logsumexpDims "self dim keepdim";
    "count_nonzero.dim_IntList" "self dim=[]" => { count_nonzero };
    "count_nonzero" "self dim=None" => { count_nonzero };
    "median" "self" => { median };
    "median.dim" "self dim keepdim=False" => median "self dim keepdim";
    "nanmedian" "self" => { nanmedian };
    "nanmedian.dim" "self dim keepdim=False" => nanmedian "self dim keepdim";
    "mode" "self dim=-1 keepdim=False" => mode "self dim keepdim";
    "kthvalue" "self k dim=-1 keepdim=False" => kthvalue "self k dim keepdim";
    "quantile" "self q dim=None keepdim=False interpolation=linear" => { quantile };
    "quantile.scalar" "self q dim=None keepdim=False interpolation=linear" => { quantile };
    "nanquantile" "self q dim=None keepdim=False interpolation=linear" => { nanquantile };
    "nanquantile.scalar" "self q dim=None keepdim=False interpolation=linear" => { nanquantile };

    "cumsum" "self dim dtype=None" => cumsumDtype "self dim dtype";
    "cumprod" "self dim dtype=None" => cumprodDtype "self dim dtype";
    "cummax" "self dim" => cummax "self dim";
    "cummin" "self dim" => cummin "self dim";
    "logcumsumexp" "self dim" => logcumsumexp "self dim";
    "softmax.int" "self dim dtype=None" => softmaxDtype "self dim dtype";
    "_softmax" "self dim half_to_float==False" => softmax "self dim";
    "_safe_softmax" "self dim dtype=None" => { safe_softmax };
    "log_softmax.int" "self dim dtype=None" => logSoftmaxDtype "self dim dtype";
    "_log_softmax" "self dim half_to_float==False" => logSoftmax "self dim";
    "special_softmax" "self dim dtype=None" => softmaxDtype "self dim dtype";
    "special_log_softmax" "self dim dtype=None" => logSoftmaxDtype "self dim dtype";
    "_softmax_backward_data" "grad_output output dim input_dtype" => softmaxGrad "grad_output output dim";
    "_log_softmax_backward_data" "grad_output output dim input_dtype" => logSoftmaxGrad "grad_output output dim";

    "sort" "self dim=-1 descending=False" => sort "self dim descending 1";
    "sort.stable" "self stable=True dim=-1 descending=False" => sort "self dim descending 1";
    "argsort" "self dim=-1 descending=False" => argsort "self dim descending 1";
    "argsort.stable" "self stable=True dim=-1 descending=False" => argsort "self dim descending 1";
    "topk" "self k dim=-1 largest=True sorted=True" => topk "self k dim largest sorted";
    "msort" "self" => msort "self";
    "histc" "self bins=100 min=0 max=0" => histc "self bins min max";
    "_unique2" "self sorted=True return_inverse=False return_counts=False" => unique "self -2147483648";
    "unique_dim" "self dim sorted=True return_inverse=False return_counts=False" => unique "self dim";
    "unique_consecutive" "self return_inverse=False return_counts=False dim==None" => uniqueConsecutive "self -2147483648";
    "unique_consecutive" "self return_inverse=False return_counts=False dim" => uniqueConsecutive "self dim";
    "isin.Tensor_Scalar" "elements test_element assume_unique=False invert=False" => isin "elements test_element assume_unique invert";
    "isin.Scalar_Tensor" "element test_elements assume_unique=False invert=False" => isin "element test_elements assume_unique invert";
    "isin.Tensor_Tensor" "elements test_elements assume_unique=False invert=False" => isin "elements test_elements assume_unique invert";
    "bincount" "self weights=None minlength=0" => bincount "self weights minlength";
}

fn variance_of(c: &Call<'_>, dims: &[i64], unbiased: bool, keepdim: bool) -> Result<Item> {
    let correction = f64::from(u8::from(unbiased));
    let arguments = [c.value(0)?.into(), dims.into(), correction.into(), keepdim.into()];
    c.done(c.scope.call(&names::varDimsCorrection::FUNCTION, &arguments))
}

fn variance_of_all(c: &Call<'_>) -> Result<Item> {
    variance_of(c, &[], c.flag(1)?, false)
}

fn variance(c: &Call<'_>) -> Result<Item> {
    variance_of(c, &c.ints(1)?, c.flag(2)?, c.flag(3)?)
}

fn deviation_of(c: &Call<'_>, dims: &[i64], unbiased: bool, keepdim: bool) -> Result<Item> {
    let correction = f64::from(u8::from(unbiased));
    let arguments = [c.value(0)?.into(), dims.into(), correction.into(), keepdim.into()];
    c.done(c.scope.call(&names::stdDimsCorrection::FUNCTION, &arguments))
}

fn deviation_of_all(c: &Call<'_>) -> Result<Item> {
    deviation_of(c, &[], c.flag(1)?, false)
}

fn deviation(c: &Call<'_>) -> Result<Item> {
    deviation_of(c, &c.ints(1)?, c.flag(2)?, c.flag(3)?)
}

/// A variance or a standard deviation, and the mean.
fn with_mean(c: &Call<'_>, function: &'static Function, dims: &[i64], correction: f64, keepdim: bool) -> Result<Item> {
    let t = c.value(0)?;
    let spread = c.scope.call(function, &[t.into(), dims.into(), correction.into(), keepdim.into()]);
    c.done_all(&[spread, expr::mean_dims(t, dims, keepdim)])
}

fn variance_and_mean(c: &Call<'_>) -> Result<Item> {
    with_mean(c, &names::varDimsCorrection::FUNCTION, &c.ints(1)?, c.number(2)?, c.flag(3)?)
}

fn variance_and_mean_of_all(c: &Call<'_>) -> Result<Item> {
    with_mean(c, &names::varDimsCorrection::FUNCTION, &[], c.number(1)?, false)
}

fn deviation_and_mean(c: &Call<'_>) -> Result<Item> {
    with_mean(c, &names::stdDimsCorrection::FUNCTION, &c.ints(1)?, c.number(2)?, c.flag(3)?)
}

fn deviation_and_mean_of_all(c: &Call<'_>) -> Result<Item> {
    with_mean(c, &names::stdDimsCorrection::FUNCTION, &[], c.number(1)?, false)
}

fn count_nonzero(c: &Call<'_>) -> Result<Item> {
    let (t, dims) = (c.value(0)?, c.optional_ints(1)?.unwrap_or_default());
    let nonzero = expr::ne_value(t, 0.0);
    c.done(expr::sum_dims(nonzero, &dims, false))
}

fn median(c: &Call<'_>) -> Result<Item> {
    let flat = expr::reshape(c.value(0)?, &[-1]);
    c.done(c.scope.call(&names::median::FUNCTION, &[flat.into(), 0.into(), false.into()]))
}

fn nanmedian(c: &Call<'_>) -> Result<Item> {
    let flat = expr::reshape(c.value(0)?, &[-1]);
    c.done(c.scope.call(&names::nanmedian::FUNCTION, &[flat.into(), 0.into(), false.into()]))
}

fn trace(c: &Call<'_>) -> Result<Item> {
    c.done(expr::sum_dims(expr::diagonal(c.value(0)?, 0, 0, 1), &[], false))
}

/// The norm of vectors along one dimension.
fn vector_norm(c: &Call<'_>) -> Result<Item> {
    let (t, order, dims, keepdim) = (c.value(0)?, c.number(1)?, c.optional_ints(2)?.unwrap_or_default(), c.flag(3)?);
    if dims.len() != 1 && t.ndim() != 1 {
        bail!(Unsupported, "norms of matrices")
    }
    let t = c.dtype(4)?.map_or(t, |dtype| expr::to_dtype(t, dtype));
    c.done(c.scope.call(&names::normDims::FUNCTION, &[t.into(), order.into(), (&dims).into(), keepdim.into(), In::Null]))
}

fn distance(c: &Call<'_>) -> Result<Item> {
    let difference = c.value(0)? - c.value(1)?;
    let none = Dims::new();
    let arguments = [difference.into(), c.number(2)?.into(), (&none).into(), false.into(), In::Null];
    c.done(c.scope.call(&names::normDims::FUNCTION, &arguments))
}

/// Quantiles of a number or of a tensor of numbers.
fn quantiles(c: &Call<'_>, function: &'static Function, of_tensor: &'static Function) -> Result<Item> {
    let t = c.value(0)?;
    // Without a dimension, all elements count.
    let (t, dim) = if let Item::None = c.arguments[2] { (expr::reshape(t, &[-1]), 0) } else { (t, c.dim(2)?) };
    let way = match c.text(4)? {
        "linear" => TH_INTERPOLATION_LINEAR,
        "lower" => TH_INTERPOLATION_LOWER,
        "higher" => TH_INTERPOLATION_HIGHER,
        "midpoint" => TH_INTERPOLATION_MIDPOINT,
        "nearest" => TH_INTERPOLATION_NEAREST,
        other => bail!(Unsupported, "the interpolation {other}"),
    };
    let (function, q): (_, In<'_, '_>) = match c.arguments[1].number() {
        Some(q) => (function, q.into()),
        None => (of_tensor, c.value(1)?.into()),
    };
    c.done(c.scope.call(function, &[t.into(), q, dim.into(), c.flag(3)?.into(), way.into()]))
}

fn quantile(c: &Call<'_>) -> Result<Item> {
    quantiles(c, &names::quantile::FUNCTION, &names::quantileTensor::FUNCTION)
}

fn nanquantile(c: &Call<'_>) -> Result<Item> {
    quantiles(c, &names::nanquantile::FUNCTION, &names::nanquantileTensor::FUNCTION)
}

/// softmax that is 0 where all elements are minus infinity.
fn safe_softmax(c: &Call<'_>) -> Result<Item> {
    let (t, dim) = (c.value(0)?, c.dim(1)?);
    let t = c.dtype(2)?.map_or(t, |dtype| expr::to_dtype(t, dtype));
    let masked = expr::eq_value(t, f64::NEG_INFINITY);
    let masked = c.scope.call(&names::all::FUNCTION, &[masked.into(), dim.into(), true.into()]);
    let softmax = c.scope.call(&names::softmax::FUNCTION, &[t.into(), dim.into()]);
    c.done(expr::or_choose(masked, 0.0, softmax))
}

/// All dimensions, as functions of thorn name them: the number in the lines above.
const _: () = assert!(TH_ALL_DIMS == -2147483648);
