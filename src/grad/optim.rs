//! Optimizers.
//!
//! An optimizer updates parameters, which are leaves that require gradients. `THTensor_backward` computes the gradients of the parameters.
//! `THOptim_step` then updates in place each parameter that has a gradient, and `THOptim_zeroGrad` clears the gradients before the next
//! backward. The optimizer holds references to the parameters. It keeps its state in separate tensors on their devices. Steps are not
//! recorded. Only one thread at a time may use an optimizer. The first step of an optimizer cannot be captured in a graph of a GPU, because
//! each launch would start from the initial state; plain gradient descent, which has no state, is the exception.
//!
//! Errors: `TH_ERR_ARGUMENT`, an invalid number, or a parameter that is the result of a recorded operation; `TH_ERR_DTYPE`, a parameter
//! that is not of floats; `TH_ERR_SHAPE`, a gradient whose shape differs from the shape of its parameter.

use super::functions::{gradient, is_leaf, zero_gradient};
use super::graph::variable;
use super::record::count_write;
use crate::alloc;
use crate::api::callbacks::THOptimClosure;
use crate::api::optim::{THOptim, new_optim};
use crate::api::table::table;
use crate::device::{self, DeviceGuard};
use crate::error::{Error, Kind, Result, bail};
use crate::ops::optim::{Adadelta, Adafactor, Adagrad, Adam, Lamb, Lbfgs, Nadam, Optimizer, Radam, Rmsprop, Rule, Sgd};
use crate::tensor::Tensor;
use std::ffi::{CStr, c_void};

fn check_leaves(params: &[&Tensor]) -> Result<()> {
    for t in params {
        if !is_leaf(t)? {
            let what = format_args!("is the result of a recorded operation, and no parameter");
            return Err(Error::about(t.as_ptr().addr(), Kind::Argument, what));
        }
    }
    Ok(())
}

fn made(params: &[&Tensor], lr: f64, rule: Rule) -> Result<*mut THOptim> {
    check_leaves(params)?;
    new_optim(Optimizer::new(params, lr, rule)?)
}

fn add_group(optim: &THOptim, params: &[&Tensor]) -> Result<i64> {
    check_leaves(params)?;
    optim.with(|optimizer| optimizer.add_group(params))
}

/// Returns a name of a hyperparameter as text. No hyperparameter has a name that is not UTF-8.
fn name(text: &CStr) -> &str {
    text.to_str().unwrap_or("?")
}

/// Updates all parameters that have a gradient.
pub(super) fn step(optimizer: &mut Optimizer) -> Result<()> {
    if optimizer.needs_closure() {
        bail!(Argument, "L-BFGS looks at several places in a step: call THOptim_stepClosure")
    }
    for k in 0..optimizer.params().len() {
        if let Some(gradient) = gradient(&optimizer.params()[k])? {
            optimizer.step(k, &gradient)?;
            count_write(&optimizer.params()[k]);
        }
    }
    Ok(())
}

/// Returns the loss that a function of the caller computes.
///
/// # Safety
/// The function may be called with the context.
unsafe fn loss(closure: THOptimClosure, context: *mut c_void) -> Result<f64> {
    let Some(closure) = closure else { bail!(Argument, "there is no closure") };
    let mut loss = f64::NAN;
    // SAFETY: guaranteed by the caller of this function.
    match unsafe { closure(context, &raw mut loss) } {
        0 => Ok(loss),
        status => Err(Error::from_callback(status, format_args!("the closure returned {status}"))),
    }
}

/// Does a step of any optimizer, with a function that computes the loss and the gradients for the current parameters.
///
/// # Safety
/// The function may be called with the context.
unsafe fn step_closure(optim: &THOptim, closure: THOptimClosure, context: *mut c_void) -> Result<()> {
    if !optim.with(|optimizer| Ok(optimizer.needs_closure()))? {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { loss(closure, context)? };
        return optim.with(step);
    }
    let params = optim.with(|optimizer| optimizer.params_again())?;
    let _there = device::is_used().then(|| DeviceGuard::on(params[0].device()));
    let mut evaluate = || {
        params.iter().for_each(count_write);
        // SAFETY: guaranteed by the caller of this function.
        let loss = unsafe { loss(closure, context)? };
        Ok((loss, alloc::list(params.len(), |k| gradient(&params[k]))?))
    };
    let moved = optim.taken(|optimizer| optimizer.minimize(&mut evaluate));
    params.iter().for_each(count_write);
    moved
}

fn zero_gradients(params: &[Tensor], to_null: bool) -> Result<()> {
    for t in params {
        match variable(t) {
            Some(variable) if to_null => variable.lock().grad = None,
            _ => zero_gradient(t)?,
        }
    }
    Ok(())
}

macro_rules! optim_functions {
    ($do:ident) => { $do! { "";
        /// An optimizer for stochastic gradient descent. With `g` = the gradient + `weightDecay` * the parameter, the parameter changes by
        /// `-lr * g`. With a `momentum` it changes by `-lr * b`, where `b = momentum * b + (1 - dampening) * g`, and `b = g` at the first
        /// step. With `nesterov`, which needs a `momentum` and a `dampening` of 0, it changes by `-lr * (g + momentum * b)`. Free the
        /// optimizer with `THOptim_free`; NULL on error.
        THOptim_newSgd(params: inputs, count: handle_count, lr: double, momentum: double, dampening: double, weightDecay: double,
            nesterov: flag) -> new_optim =
            made(&params, lr, Rule::Sgd(Sgd { momentum, dampening, decay: weightDecay, nesterov }));
        /// An Adam optimizer. With `g` = the gradient + `weightDecay` * the parameter, `m = beta1 * m + (1 - beta1) * g` and `v = beta2 * v
        /// + (1 - beta2) * g^2`, the parameter changes at step `n` by `-lr * m / (1 - beta1^n) / (sqrt(v / (1 - beta2^n)) + eps)`. With
        /// `amsgrad`, `v` in this formula is the greatest `v` so far. Common values of `beta1`, `beta2` and `eps` are 0.9, 0.999 and 1e-8.
        /// Free the optimizer with `THOptim_free`; NULL on error.
        THOptim_newAdam(params: inputs, count: handle_count, lr: double, beta1: double, beta2: double, eps: double, weightDecay: double,
            amsgrad: flag) -> new_optim =
            made(&params, lr, Rule::Adam(Adam { beta1, beta2, eps, decay: weightDecay, decoupled: false, amsgrad }));
        /// An AdamW optimizer: `THOptim_newAdam` with a weight decay that is separate from the gradient. Before each step the parameter is
        /// multiplied by `1 - lr * weightDecay`.
        THOptim_newAdamw(params: inputs, count: handle_count, lr: double, beta1: double, beta2: double, eps: double, weightDecay: double,
            amsgrad: flag) -> new_optim =
            made(&params, lr, Rule::Adam(Adam { beta1, beta2, eps, decay: weightDecay, decoupled: true, amsgrad }));
        /// An RMSprop optimizer. With `g` = the gradient + `weightDecay` * the parameter, `v = alpha * v + (1 - alpha) * g^2` and `s = g /
        /// (sqrt(v) + eps)`, the parameter changes by `-lr * s`. With a `momentum` it changes by `-lr * b`, where `b = momentum * b + s`.
        /// With `centered`, the square of the running mean of `g` is subtracted from `v`. A common `alpha` is 0.99. Free the optimizer with
        /// `THOptim_free`; NULL on error.
        THOptim_newRmsprop(params: inputs, count: handle_count, lr: double, alpha: double, eps: double, weightDecay: double,
            momentum: double, centered: flag) -> new_optim =
            made(&params, lr, Rule::Rmsprop(Rmsprop { alpha, eps, decay: weightDecay, momentum, centered }));
        /// An Adagrad optimizer (Duchi, Hazan and Singer 2011, jmlr.org/papers/v12/duchi11a.html). With `g` = the gradient + `weightDecay`
        /// * the parameter and `v = v + g^2`, the parameter changes at step `n` by `-lr / (1 + (n - 1) * lrDecay) * g / (sqrt(v) + eps)`.
        /// `v` is `initialAccumulatorValue` before the first step. Common values are `lr` 0.01 and `eps` 1e-10. Free the optimizer with
        /// `THOptim_free`; NULL on error.
        THOptim_newAdagrad(params: inputs, count: handle_count, lr: double, lrDecay: double, weightDecay: double,
            initialAccumulatorValue: double, eps: double) -> new_optim =
            made(&params, lr, Rule::Adagrad(Adagrad { rate_decay: lrDecay, decay: weightDecay, start: initialAccumulatorValue, eps }));
        /// An Adadelta optimizer (Zeiler 2012, arxiv.org/abs/1212.5701). With `g` = the gradient + `weightDecay` * the parameter,
        /// `v = rho * v + (1 - rho) * g^2`, `d = sqrt(u + eps) / sqrt(v + eps) * g` and then `u = rho * u + (1 - rho) * d^2`, the parameter
        /// changes by `-lr * d`. Common values are `lr` 1, `rho` 0.9 and `eps` 1e-6. Free the optimizer with `THOptim_free`; NULL on error.
        THOptim_newAdadelta(params: inputs, count: handle_count, lr: double, rho: double, eps: double, weightDecay: double) -> new_optim =
            made(&params, lr, Rule::Adadelta(Adadelta { rho, eps, decay: weightDecay }));
        /// A NAdam optimizer (Dozat 2016, openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ): Adam with Nesterov momentum. `m` and `v` are as in
        /// `THOptim_newAdam`. With `u(n) = beta1 * (1 - 0.96^(n * momentumDecay) / 2)` and the product `U(n)` of `u(1)` to `u(n)`, the
        /// parameter changes at step `n` by `-lr * s / (sqrt(v / (1 - beta2^n)) + eps)`, where `s = (1 - u(n)) / (1 - U(n)) * g + u(n + 1)
        /// / (1 - U(n + 1)) * m`. `decoupledWeightDecay` selects the weight decay of `THOptim_newAdamw`. Common values are `lr` 2e-3 and
        /// `momentumDecay` 4e-3. Free the optimizer with `THOptim_free`; NULL on error.
        THOptim_newNadam(params: inputs, count: handle_count, lr: double, beta1: double, beta2: double, eps: double, weightDecay: double,
            momentumDecay: double, decoupledWeightDecay: flag) -> new_optim =
            made(&params, lr, Rule::Nadam(Nadam {
                beta1, beta2, eps, decay: weightDecay, momentum_decay: momentumDecay, decoupled: decoupledWeightDecay,
            }));
        /// A RAdam optimizer (Liu and others 2019, arxiv.org/abs/1908.03265): Adam whose first steps do not use `v`. `m` and `v` are as in
        /// `THOptim_newAdam`. With `R = 2 / (1 - beta2) - 1` and `r = R - 2 * n * beta2^n / (1 - beta2^n)`, the parameter changes at step
        /// `n` by `-lr * m / (1 - beta1^n)` if `r` is at most 5. Otherwise it changes by `-lr * m / (1 - beta1^n) * sqrt(1 - beta2^n) /
        /// (sqrt(v) + eps) * sqrt((r - 4) * (r - 2) * R / ((R - 4) * (R - 2) * r))`. The flag `decoupledWeightDecay` selects the weight
        /// decay of `THOptim_newAdamw`. Free the optimizer with `THOptim_free`; NULL on error.
        THOptim_newRadam(params: inputs, count: handle_count, lr: double, beta1: double, beta2: double, eps: double, weightDecay: double,
            decoupledWeightDecay: flag) -> new_optim =
            made(&params, lr, Rule::Radam(Radam { beta1, beta2, eps, decay: weightDecay, decoupled: decoupledWeightDecay }));
        /// A LAMB optimizer for large batches (You and others 2019, arxiv.org/abs/1904.00962). `m` and `v` are as in `THOptim_newAdam`
        /// without a weight decay. With `u = m / (1 - beta1^n) / (sqrt(v / (1 - beta2^n)) + eps) + weightDecay * p`, the parameter `p`
        /// changes at step `n` by `-lr * norm(p) / norm(u) * u`, and by `-lr * u` if one of the norms is 0 or NaN. Common values are `eps`
        /// 1e-6 and `weightDecay` 0.01. Free the optimizer with `THOptim_free`; NULL on error.
        THOptim_newLamb(params: inputs, count: handle_count, lr: double, beta1: double, beta2: double, eps: double,
            weightDecay: double) -> new_optim =
            made(&params, lr, Rule::Lamb(Lamb { beta1, beta2, eps, decay: weightDecay }));
        /// An Adafactor optimizer (Shazeer and Stern 2018, arxiv.org/abs/1804.04235) in PyTorch's form. At step `n`, with the gradient `g`
        /// and `w = n^beta2Decay`, a parameter `p` with two or more dimensions has `R = (1 - w) * R + w * mean of g^2 over the last
        /// dimension`, `C = (1 - w) * C + w * mean of g^2 over the dimension before`, and `v = R * C / max(mean of R, eps1)`. Other
        /// parameters have `v = (1 - w) * v + w * g^2`. With `u = g / max(sqrt(v), eps1)`, the parameter changes by `-min(lr, 1 / sqrt(n))
        /// * max(rms(p), eps2) * u / max(rms(u) / d, 1)`, where `rms` is the root mean square. In addition, `lr * weightDecay * p` is
        /// subtracted. If `eps1` is negative, it is the distance from 1 to the next number of the parameter's dtype. Common values are `lr`
        /// 0.01, `beta2Decay` -0.8, `eps1` -1, `eps2` 1e-3 and `d` 1. Free the optimizer with `THOptim_free`; NULL on error.
        THOptim_newAdafactor(params: inputs, count: handle_count, lr: double, beta2Decay: double, eps1: double, eps2: double, d: double,
            weightDecay: double) -> new_optim = {
            if eps1.is_nan() {
                bail!(Argument, "eps1 is NaN, expected a number")
            }
            let eps1 = Some(eps1).filter(|&eps1| eps1 >= 0.0);
            made(&params, lr, Rule::Adafactor(Adafactor { beta2_decay: beta2Decay, eps1, eps2, threshold: d, decay: weightDecay }))
        };
        /// An L-BFGS optimizer, which is used with `THOptim_stepClosure`. A step has at most `maxIter` iterations. Each iteration moves the
        /// parameters along the product of an inverse Hessian, approximated from the last `historySize` iterations, with the gradient. A
        /// step ends if no element of the gradient exceeds `tolGrad` in magnitude, or if the loss or all elements of the parameters change
        /// by less than `tolChange`. With `strongWolfe` each iteration does a line search for a point that satisfies the strong Wolfe
        /// conditions. Otherwise the step length is `lr`, or less in the first iteration. Common values are 20, 100, 1e-7 and 1e-9. Free
        /// the optimizer with `THOptim_free`; NULL on error.
        THOptim_newLbfgs(params: inputs, count: handle_count, lr: double, maxIter: count, historySize: count, tolGrad: double,
            tolChange: double, strongWolfe: flag) -> new_optim =
            made(&params, lr, Rule::Lbfgs(Lbfgs {
                most_iterations: maxIter,
                most_evaluations: maxIter.saturating_mul(5) / 4,
                least_gradient: tolGrad,
                least_change: tolChange,
                history: historySize,
                line_search: strongWolfe,
            }));
        /// Frees the optimizer and its state; NULL is ignored.
        THOptim_free(o: optim_or_null) -> nothing = {
            if !o.is_null() {
                // SAFETY: the handle came from a function above, and the caller gives up its ownership.
                drop(unsafe { Box::from_raw(o) });
            }
            Ok(())
        };
        /// Updates each parameter that has a gradient. If a parameter fails, the parameters before it have already been updated.
        THOptim_step(o: optim) = o.with(step);
        /// Calls `closure`, which computes the loss and the gradients for the current parameters, and updates the parameters. L-BFGS calls
        /// `closure` several times, with different values of the parameters.
        THOptim_stepClosure(o: optim, closure: optim_closure, context: context) =
            // SAFETY: the caller guarantees that the function satisfies its type.
            unsafe { step_closure(o, closure, context) };
        /// Fills the gradients of the parameters with 0, or removes the gradients if `toNull` is not 0.
        THOptim_zeroGrad(o: optim, toNull: flag) = o.with_params(|params| zero_gradients(params, toNull));
        /// Sets the learning rate of all groups, for learning rate schedules.
        THOptim_setLr(o: optim, lr: double) = o.with(|optimizer| optimizer.set_lr(lr));
        /// The learning rate of the first group; NaN on error.
        THOptim_getLr(o: optim) -> number = o.with(|optimizer| optimizer.get(0, "lr"));
        /// Adds a group of parameters with the hyperparameters of group 0, which the constructor makes. `THOptim_set` changes the
        /// hyperparameters of a group. L-BFGS has only one group. Returns the index of the group; -1 on error.
        THOptim_addGroup(o: optim, params: inputs, count: handle_count) -> count = add_group(o, &params);
        /// Returns the number of groups; -1 on error.
        THOptim_groupCount(o: optim) -> count = o.with(|optimizer| Ok(optimizer.groups().len() as i64));
        /// Sets a hyperparameter of a group for all later steps. `name` is the name of a number or flag of the constructor, such as `lr` or
        /// `weightDecay`, and a flag is 0 or 1. In addition, all optimizers except L-BFGS have the flag `maximize`: parameters move along
        /// their gradients, not against them. They also have the flag `masterWeights`: the optimizer keeps a float32 copy of each parameter
        /// of 16-bit floats, which begins as the parameter's values at the first step. A step changes the copy, with a state in float32,
        /// and the parameter becomes the rounded copy. Other changes of the parameter therefore have no effect. Adam has the flag
        /// `decoupledWeightDecay`, which distinguishes AdamW from Adam. L-BFGS has `maxEval`, the number of evaluations after which a step
        /// ends: initially 5/4 of `maxIter`.
        THOptim_set(o: optim, group: entry, name: text, value: double) =
            o.with(|optimizer| optimizer.set(group, self::name(name), value));
        /// Returns a hyperparameter of a group; NaN on error.
        THOptim_get(o: optim, group: entry, name: text) -> number = o.with(|optimizer| optimizer.get(group, self::name(name)));
    } };
}

optim_functions!(table);
pub(crate) use optim_functions as functions;
