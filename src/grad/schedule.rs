//! Optimizers.
//!
//! A schedule is a function of the number of steps so far, which begins at 0. `THOptim_setLr` or `THOptim_set` sets the learning rate that
//! it returns. The product of a schedule with `THSchedule_linear` of `lr` 1 has a warmup.

use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::copy;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::f64::consts::PI;

fn check(holds: bool, name: &str, value: f64, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { bail!(Argument, "{name} is {}, expected {expected}", Scalar::from(value)) }
}

/// Fails for negative numbers of steps and numbers that are not finite.
fn check_all(step: i64, numbers: &[(&str, f64)]) -> Result<()> {
    check(step >= 0, "step", step as f64, "0 or more")?;
    numbers.iter().try_for_each(|&(name, value)| check(value.is_finite(), name, value, "a finite number"))
}

fn check_positive(name: &str, count: i64) -> Result<()> {
    check(count >= 1, name, count as f64, "1 or more")
}

/// Returns the number between `from` and `to` on half a period of the cosine.
fn half_period(from: f64, to: f64, part: f64) -> f64 {
    to + (from - to) * (1.0 + (PI * part).cos()) / 2.0
}

fn power_of(step: i64, lr: f64, size: i64, gamma: f64) -> Result<f64> {
    check_all(step, &[("lr", lr), ("gamma", gamma)])?;
    check_positive("stepSize", size)?;
    Ok(lr * gamma.powf((step / size) as f64))
}

fn line(step: i64, lr: f64, start: f64, end: f64, total: i64) -> Result<f64> {
    check_all(step, &[("lr", lr), ("startFactor", start), ("endFactor", end)])?;
    check_positive("totalIters", total)?;
    Ok(lr * (start + (end - start) * (step.min(total) as f64 / total as f64)))
}

fn root_of(step: i64, lr: f64, total: i64, power: f64) -> Result<f64> {
    check_all(step, &[("lr", lr)])?;
    check_positive("totalIters", total)?;
    check(power >= 0.0, "power", power, "0 or more")?;
    Ok(lr * (1.0 - step.min(total) as f64 / total as f64).powf(power))
}

fn half_wave(step: i64, lr: f64, length: i64, least: f64) -> Result<f64> {
    check_all(step, &[("lr", lr), ("etaMin", least)])?;
    check_positive("tMax", length)?;
    Ok(half_period(lr, least, step as f64 / length as f64))
}

fn restarted(step: i64, lr: f64, first: i64, factor: i64, least: f64) -> Result<f64> {
    check_all(step, &[("lr", lr), ("etaMin", least)])?;
    check_positive("t0", first)?;
    check_positive("tMult", factor)?;
    let (mut step, mut length) = (if factor == 1 { step % first } else { step }, first);
    while step >= length {
        step -= length;
        length = length.saturating_mul(factor);
    }
    Ok(half_period(lr, least, step as f64 / length as f64))
}

fn two_phases(step: i64, most: f64, total: i64, rising: f64, div: f64, final_div: f64) -> Result<f64> {
    check_all(step, &[("maxLr", most)])?;
    check(step <= total, "step", step as f64, "at most totalSteps")?;
    check_positive("totalSteps", total)?;
    check((0.0..=1.0).contains(&rising), "pctStart", rising, "0 to 1")?;
    check(div > 0.0, "divFactor", div, "more than 0")?;
    check(final_div > 0.0, "finalDivFactor", final_div, "more than 0")?;
    let (start, top, end) = (most / div, rising * total as f64 - 1.0, total as f64 - 1.0);
    let at = step as f64;
    // A phase without a length is at its end.
    let part = |from: f64, to: f64| if to > from { (at - from) / (to - from) } else { 1.0 };
    Ok(if at <= top { half_period(start, most, part(0.0, top)) } else { half_period(most, start / final_div, part(top, end)) })
}

/// The numbers of a plateau schedule.
struct Plateau {
    factor: f64,
    patience: i64,
    change: f64,
    is_absolute: bool,
    maximize: bool,
    cooldown: i64,
    least: f64,
    eps: f64,
}

impl Plateau {
    fn check(&self) -> Result<()> {
        check((0.0..1.0).contains(&self.factor), "factor", self.factor, "0 or more, and less than 1")?;
        check(self.patience >= 0, "patience", self.patience as f64, "0 or more")?;
        check(self.change.is_finite(), "minChange", self.change, "a finite number")?;
        check(self.cooldown >= 0, "cooldown", self.cooldown as f64, "0 or more")?;
        check(self.least >= 0.0, "minLr", self.least, "0 or more")?;
        check(self.eps >= 0.0, "eps", self.eps, "0 or more")
    }

    fn is_better(&self, metric: f64, best: f64) -> bool {
        match (self.maximize, self.is_absolute) {
            (false, false) => metric < best * (1.0 - self.change),
            (false, true) => metric < best - self.change,
            (true, false) => metric > best * (1.0 + self.change),
            (true, true) => metric > best + self.change,
        }
    }

    /// Returns the learning rate after these metrics.
    fn rate(&self, metrics: &Tensor, mut lr: f64) -> Result<f64> {
        let count = match metrics.layout()?.shape.as_slice() {
            &[count] => count,
            shape => bail!(Shape, "'metrics' has shape {shape:?}, expected a vector"),
        };
        let mut best = if self.maximize { f64::NEG_INFINITY } else { f64::INFINITY };
        let (mut bad, mut pause) = (0, 0);
        for k in 0..count {
            let metric = copy::get(metrics, &[k])?.to_f64();
            bad += 1;
            if self.is_better(metric, best) {
                (best, bad) = (metric, 0);
            }
            if pause > 0 {
                (pause, bad) = (pause - 1, 0);
            }
            if bad > self.patience {
                let next = (lr * self.factor).max(self.least);
                if lr - next > self.eps {
                    lr = next;
                }
                (pause, bad) = (self.cooldown, 0);
            }
        }
        Ok(lr)
    }
}

fn after_metrics(metrics: &Tensor, lr: f64, plateau: &Plateau) -> Result<f64> {
    check(lr.is_finite(), "lr", lr, "a finite number")?;
    plateau.check()?;
    metrics.defined()?;
    plateau.rate(metrics, lr)
}

macro_rules! schedule_functions {
    ($do:ident) => {
        $do! { "THSchedule_";
            /// Returns `lr * gamma^floor(step / stepSize)`, PyTorch's StepLR; NaN on error.
            step(step: count, lr: double, stepSize: count, gamma: double) -> number = power_of(step, lr, stepSize, gamma);
            /// Returns `lr * gamma^step`, PyTorch's ExponentialLR; NaN on error.
            exponential(step: count, lr: double, gamma: double) -> number = power_of(step, lr, 1, gamma);
            /// Returns `lr * (startFactor + (endFactor - startFactor) * min(step / totalIters, 1))`, PyTorch's LinearLR; NaN on error. A
            /// warmup has an `endFactor` of 1.
            linear(step: count, lr: double, startFactor: double, endFactor: double, totalIters: count) -> number =
                line(step, lr, startFactor, endFactor, totalIters);
            /// Returns `lr * (1 - min(step / totalIters, 1))^power`, PyTorch's PolynomialLR; NaN on error.
            polynomial(step: count, lr: double, totalIters: count, power: double) -> number = root_of(step, lr, totalIters, power);
            /// Returns `etaMin + (lr - etaMin) * (1 + cos(pi * step / tMax)) / 2`, PyTorch's CosineAnnealingLR (Loshchilov and Hutter 2016,
            /// arxiv.org/abs/1608.03983); NaN on error.
            cosine(step: count, lr: double, tMax: count, etaMin: double) -> number = half_wave(step, lr, tMax, etaMin);
            /// `THSchedule_cosine` that begins again after `t0` steps, then after `t0 * tMult` steps, and so on: PyTorch's
            /// CosineAnnealingWarmRestarts; NaN on error.
            cosineRestarts(step: count, lr: double, t0: count, tMult: count, etaMin: double) -> number =
                restarted(step, lr, t0, tMult, etaMin);
            /// The one-cycle policy (Smith and Topin 2017, arxiv.org/abs/1708.07120), PyTorch's OneCycleLR: half a period of the cosine
            /// from `maxLr / divFactor` to `maxLr` in the first `pctStart * totalSteps` steps, then another one to `maxLr / divFactor /
            /// finalDivFactor` at step `totalSteps - 1`. NaN on error.
            oneCycle(step: count, maxLr: double, totalSteps: count, pctStart: double, divFactor: double,
                finalDivFactor: double) -> number =
                two_phases(step, maxLr, totalSteps, pctStart, divFactor, finalDivFactor);
            /// Returns the learning rate after the vector `metrics`, one number for each epoch: PyTorch's ReduceLROnPlateau; NaN on error.
            /// An epoch is good if its metric is less than `best * (1 - minChange)`, where `best` is the metric of the last good epoch.
            /// With `absolute`, the bound is `best - minChange`. With `maximize`, the metric must be greater than `best * (1 + minChange)`
            /// or `best + minChange`. After more than `patience` bad epochs in a row, `lr` becomes `max(factor * lr, minLr)`, if the
            /// difference exceeds `eps`. The next `cooldown` epochs then do not count as bad.
            plateau(metrics: input, lr: double, factor: double, patience: count, minChange: double, absolute: flag, maximize: flag,
                cooldown: count, minLr: double, eps: double) -> number =
                after_metrics(metrics, lr, &Plateau {
                    factor, patience, change: minChange, is_absolute: absolute, maximize, cooldown, least: minLr, eps,
                });
        }
    };
}

schedule_functions!(table);
pub(crate) use schedule_functions as functions;
