//! Optimizers.
//!
//! In 16-bit floats, small gradients become 0. A program therefore multiplies the loss by a scale before `THTensor_backward`, and divides
//! the gradients by it afterwards. `THGrad_scalerInit` makes the state of a scaler, which finds a scale as PyTorch's GradScaler does: a
//! tensor with the scale and the number of steps since the last change. The state may be saved like any other tensor.

use super::functions::{gradient, set_gradient};
use super::optim::step;
use super::record::count_write;
use crate::alloc;
use crate::api::optim::THOptim;
use crate::api::table::table;
use crate::device::{self, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::ops::pointwise::arithmetic;
use crate::ops::reduce::{self, Over};
use crate::ops::{copy, create};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Returns the gradients of the tensors that have one, for changes in place. A gradient in which several positions share an element is
/// replaced by a copy, so that no gradient is refused after others were changed.
fn gradients(tensors: &[&Tensor]) -> Result<Vec<Tensor>> {
    let found = tensors.iter().filter_map(|t| match gradient(t) {
        Ok(Some(gradient)) => Some(writable(t, gradient)),
        found => found.transpose(),
    });
    alloc::collect(tensors.len(), found)
}

/// Returns the gradient of `t` for changes in place, or a copy of the gradient that becomes the gradient of `t`.
fn writable(t: &Tensor, gradient: Tensor) -> Result<Tensor> {
    if !gradient.layout()?.overlaps_itself() {
        return Ok(gradient);
    }
    let _there = device::is_used().then(|| DeviceGuard::on(gradient.device()));
    let copied = copy::contiguous_copy(&gradient)?;
    set_gradient(t, Some(&copied))?;
    Ok(copied)
}

/// Scales all gradients by one factor so that their norm as one vector is at most `most`. Returns the norm before.
fn clip_norm(tensors: &[&Tensor], most: f64, p: f64) -> Result<f64> {
    if p.is_nan() || most.is_nan() || most < 0.0 {
        bail!(Argument, "maxNorm is {} and normType {}", Scalar::from(most), Scalar::from(p))
    }
    let gradients = gradients(tensors)?;
    let mut norms = alloc::collect(
        gradients.len(),
        gradients
            .iter()
            .filter(|g| g.layout().is_ok_and(|layout| layout.numel() > 0))
            .map(|gradient| reduce::number(|to| reduce::norm(to, gradient, p, Over::Dims(&[]), None))),
    )?;
    let total = match p {
        _ if norms.iter().any(|norm| norm.is_nan()) => f64::NAN,
        0.0 => norms.iter().filter(|&&norm| norm != 0.0).count() as f64,
        f64::INFINITY => norms.iter().copied().fold(0.0, f64::max),
        f64::NEG_INFINITY => norms.iter().copied().reduce(f64::min).unwrap_or(0.0),
        _ if norms.len() == 1 => norms.remove(0),
        2.0 => norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt(),
        _ => norms.iter().map(|norm| norm.powf(p)).sum::<f64>().powf(1.0 / p),
    };
    let factor = most / (total + 1e-6);
    if factor.is_nan() || factor < 1.0 {
        for gradient in &gradients {
            let _there = device::is_used().then(|| DeviceGuard::on(gradient.device()));
            arithmetic::mul.run([gradient, gradient], &[factor.into()])?;
            count_write(gradient);
        }
    }
    Ok(total)
}

/// Divides all gradients by `scale`. Returns the number of gradients that have an infinity or NaN afterwards.
fn unscale(tensors: &[&Tensor], scale: f64) -> Result<i64> {
    check_scale(scale)?;
    let mut bad = 0;
    for gradient in gradients(tensors)? {
        let _there = device::is_used().then(|| DeviceGuard::on(gradient.device()));
        arithmetic::mul.run([&gradient, &gradient], &[(1.0 / scale).into()])?;
        count_write(&gradient);
        if gradient.layout()?.numel() > 0 {
            let greatest = reduce::number(|to| reduce::norm(to, &gradient, f64::INFINITY, Over::Dims(&[]), None))?;
            bad += i64::from(!greatest.is_finite());
        }
    }
    Ok(bad)
}

fn clip_value(tensors: &[&Tensor], most: f64) -> Result<()> {
    if most.is_nan() || most < 0.0 {
        bail!(Argument, "value is {}, but may not be negative", Scalar::from(most))
    }
    for gradient in gradients(tensors)? {
        let _there = device::is_used().then(|| DeviceGuard::on(gradient.device()));
        arithmetic::clamp(&gradient, &gradient, (-most).into(), most.into())?;
        count_write(&gradient);
    }
    Ok(())
}

/// The factors and the interval by which a scaler changes its scale.
struct Growth {
    factor: f64,
    backoff: f64,
    interval: i64,
}

impl Growth {
    fn check(&self) -> Result<()> {
        if !(self.factor > 1.0 && self.factor.is_finite()) {
            bail!(Argument, "growthFactor is {}, expected a finite number above 1", Scalar::from(self.factor))
        }
        if !(self.backoff > 0.0 && self.backoff < 1.0) {
            bail!(Argument, "backoffFactor is {}, expected a number between 0 and 1", Scalar::from(self.backoff))
        }
        if self.interval < 1 {
            bail!(Argument, "growthInterval is {}, expected 1 or more", self.interval)
        }
        Ok(())
    }

    /// Returns the next scale and the next number of steps.
    fn next(&self, [scale, steps]: [f64; 2], is_bad: bool) -> [f64; 2] {
        // PyTorch's scale is float32.
        let times = |factor: f64| f64::from((scale * factor) as f32);
        match steps + 1.0 {
            _ if is_bad => [times(self.backoff), 0.0],
            steps if steps < self.interval as f64 => [scale, steps],
            _ if times(self.factor).is_finite() => [times(self.factor), 0.0],
            _ => [scale, 0.0],
        }
    }
}

fn check_scale(scale: f64) -> Result<()> {
    if scale.is_finite() && scale > 0.0 {
        Ok(())
    } else {
        bail!(Argument, "scale is {}, expected a finite number above 0", Scalar::from(scale))
    }
}

/// Fails for floats in which steps cannot be counted, and for other dtypes.
fn check_dtype(state: &Tensor) -> Result<()> {
    match state.defined()? {
        Dtype::Float32 | Dtype::Float64 => Ok(()),
        dtype => Err(Error::about(state.as_ptr().addr(), Kind::Dtype, format_args!("has dtype {dtype}, expected float32 or float64"))),
    }
}

/// Writes `values` to the state of a scaler, which is a fresh handle or has two elements.
fn write(state: &Tensor, values: [f64; 2]) -> Result<()> {
    let new = create::full(Dtype::Float32, &[2], values[0].into())?;
    copy::set(&new, &[1], values[1].into())?;
    copy::copy(state, &new)
}

fn begin_scaler(state: &Tensor, scale: f64) -> Result<()> {
    check_scale(scale)?;
    if state.dtype().is_some() {
        check_dtype(state)?;
    }
    write(state, [scale, 0.0])
}

/// Returns the scale and the number of steps of a scaler.
fn read(state: &Tensor) -> Result<[f64; 2]> {
    check_dtype(state)?;
    let shape = state.layout()?.shape;
    if shape.as_slice() != [2] {
        let what = format_args!("has shape {:?}, expected [2]", shape.as_slice());
        return Err(Error::about(state.as_ptr().addr(), Kind::Shape, what));
    }
    let [scale, steps] = [copy::get(state, &[0])?.to_f64(), copy::get(state, &[1])?.to_f64()];
    check_scale(scale)?;
    Ok([scale, steps])
}

fn update_scaler(state: &Tensor, bad: i64, growth: &Growth) -> Result<()> {
    growth.check()?;
    if bad < 0 {
        bail!(Argument, "bad is {bad}, expected 0 or more")
    }
    write(state, growth.next(read(state)?, bad > 0))
}

/// Divides the gradients by the scale, makes a step if all gradients are finite, and updates the scale.
fn scaled_step(state: &Tensor, optim: &THOptim, growth: &Growth) -> Result<i64> {
    growth.check()?;
    let values = read(state)?;
    optim.with(|optimizer| {
        if optimizer.needs_closure() {
            bail!(Argument, "L-BFGS looks at several places in a step, and its gradients cannot be scaled")
        }
        let bad = unscale(&alloc::list(optimizer.params().len(), |k| Ok(&optimizer.params()[k]))?, values[0])?;
        if bad == 0 {
            step(optimizer)?;
        }
        write(state, growth.next(values, bad > 0)).map(|()| bad)
    })
}

/// Moves each average towards its parameter.
fn average(averages: &[&Tensor], params: &[&Tensor], decay: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&decay) {
        bail!(Argument, "decay is {}, expected 0 to 1", Scalar::from(decay))
    }
    if averages.len() != params.len() {
        bail!(Argument, "there are {} averages and {} parameters", averages.len(), params.len())
    }
    for (k, (average, param)) in averages.iter().zip(params).enumerate() {
        let wrong = |what| Err(Error::about(average.as_ptr().addr(), Kind::Argument, what));
        if !param.defined()?.is_float() {
            bail!(Dtype, "entry {k} of 'params' has dtype {}: only floats are averaged", param.defined()?)
        }
        let Some(dtype) = average.dtype() else { continue };
        if !dtype.is_float() {
            return wrong(format_args!("has dtype {dtype}: only floats are averages"));
        }
        if !average.same_shape(param) || average.device() != param.device() {
            return wrong(format_args!("has another shape or device than entry {k} of 'params'"));
        }
        if average.layout()?.overlaps_itself() {
            return wrong(format_args!("has several positions for one element"));
        }
    }
    for (average, param) in averages.iter().zip(params) {
        let _there = device::is_used().then(|| DeviceGuard::on(param.device()));
        match average.dtype() {
            Some(_) => arithmetic::lerp.run([average, average, param], &[(1.0 - decay).into()])?,
            None => copy::copy(average, param)?,
        }
        count_write(average);
    }
    Ok(())
}

macro_rules! scaling_functions {
    ($do:ident) => {
        $do! { "";
            /// Scales the gradients of `tensors` in place by one factor, so that their norm as one vector is at most `maxNorm`. `normType`
            /// is the order of the norm: 2 is common, and inf gives the largest magnitude. Tensors without a gradient are ignored. Returns
            /// the norm before scaling; NaN on error.
            THGrad_clipNorm(tensors: inputs, count: handle_count, maxNorm: double, normType: double) -> number =
                clip_norm(&tensors, maxNorm, normType);
            /// Divides the gradients of `tensors` in place by `scale`, for a loss that was multiplied by `scale` before
            /// `THTensor_backward`. Tensors without a gradient are ignored. Returns the number of gradients that have an infinity or
            /// NaN; -1 on error. If the number is not 0, a program omits the step of the optimizer. `THGrad_scalerUpdate` then finds the
            /// next scale.
            THGrad_unscale(tensors: inputs, count: handle_count, scale: double) -> count = unscale(&tensors, scale);
            /// Clamps each element of the gradients of `tensors` in place to [-value, value].
            THGrad_clipValue(tensors: inputs, count: handle_count, value: double) = clip_value(&tensors, value);
            /// Makes `state`, a fresh handle or a vector of two elements, the state of a scaler: the scale and 0 steps. A fresh handle
            /// becomes float32. PyTorch begins with the scale 65536. Multiply the loss by `THTensor_get1d(state, 0)`.
            THGrad_scalerInit(state: out, scale: double) = begin_scaler(state, scale);
            /// Changes the scale as PyTorch's GradScaler does. `bad` is the result of `THGrad_unscale`. If `bad` is not 0, the scale is
            /// multiplied by `backoffFactor`. After `growthInterval` calls in a row with 0 it is multiplied by `growthFactor`, unless the
            /// product is infinite in float32. Common values are 2, 0.5 and 2000. Errors: `TH_ERR_DTYPE` and `TH_ERR_SHAPE`, `state` is no
            /// vector of two float32 or float64 numbers.
            THGrad_scalerUpdate(state: inout, bad: count, growthFactor: double, backoffFactor: double, growthInterval: count) =
                update_scaler(state, bad, &Growth { factor: growthFactor, backoff: backoffFactor, interval: growthInterval });
            /// Divides the gradients of the optimizer's parameters by the scale, makes a step if all gradients are finite, and changes the
            /// scale as `THGrad_scalerUpdate` does. Returns the number of gradients that have an infinity or NaN: 0 if the step was made;
            /// -1 on error. L-BFGS is refused.
            THGrad_scalerStep(state: inout, o: optim, growthFactor: double, backoffFactor: double, growthInterval: count) -> count =
                scaled_step(state, o, &Growth { factor: growthFactor, backoff: backoffFactor, interval: growthInterval });
            /// Exponential moving averages: `averages[k] = decay * averages[k] + (1 - decay) * params[k]`, in the wider dtype of both, and
            /// without recording. A fresh handle becomes a copy of the parameter. Both counts are the same. `decay` is from 0 to 1, and
            /// 0.999 is common. Errors: `TH_ERR_ARGUMENT`, an average with another shape or device than the parameter; `TH_ERR_DTYPE`, a
            /// parameter that is not of floats.
            THGrad_average(averages: inputs, count: handle_count, params: inputs, paramCount: handle_count, decay: double) =
                average(&averages, &params, decay);
        }
    };
}

scaling_functions!(table);
pub(crate) use scaling_functions as functions;
