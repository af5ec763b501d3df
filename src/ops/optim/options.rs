//! The hyperparameters of optimizers: one list for each rule.

use super::ranges::{check, not_negative};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::tensor::Tensor;

/// The names of a hyperparameter.
pub struct Name {
    /// The name in thorn: an argument of the constructor, or PyTorch's name in thorn's spelling.
    pub thorn: &'static str,
    /// PyTorch's name. `name.0` is an item of a tuple. `name=text` is the text if the flag is set, and otherwise None. `name?` is a flag
    /// that PyTorch does not have, and that files have only if it is set.
    pub torch: &'static str,
}

/// The place of a hyperparameter.
pub enum Field<'a> {
    /// A number.
    Number(&'a mut f64),
    /// A number of 0 or more. A negative number means `None`.
    Optional(&'a mut Option<f64>),
    /// A whole number.
    Count(&'a mut i64),
    /// True or false.
    Flag(&'a mut bool),
}

impl<'a> From<&'a mut f64> for Field<'a> {
    fn from(place: &'a mut f64) -> Field<'a> {
        Field::Number(place)
    }
}

impl<'a> From<&'a mut Option<f64>> for Field<'a> {
    fn from(place: &'a mut Option<f64>) -> Field<'a> {
        Field::Optional(place)
    }
}

impl<'a> From<&'a mut i64> for Field<'a> {
    fn from(place: &'a mut i64) -> Field<'a> {
        Field::Count(place)
    }
}

impl<'a> From<&'a mut bool> for Field<'a> {
    fn from(place: &'a mut bool) -> Field<'a> {
        Field::Flag(place)
    }
}

impl Field<'_> {
    /// Returns the value. A flag is 0 or 1.
    pub fn get(&self) -> f64 {
        match self {
            Field::Number(place) => **place,
            Field::Optional(place) => place.unwrap_or(-1.0),
            Field::Count(place) => **place as f64,
            Field::Flag(place) => f64::from(u8::from(**place)),
        }
    }

    /// Stores a value. Fails for a count that is not whole, and for a flag that is neither 0 nor 1.
    pub fn set(self, name: &str, value: f64) -> Result<()> {
        match self {
            Field::Number(place) => *place = value,
            Field::Optional(place) => {
                check(!value.is_nan(), name, value, "a number")?;
                *place = Some(value).filter(|&value| value >= 0.0);
            }
            Field::Count(place) => {
                check(value.trunc() == value && value.abs() <= i64::MAX as f64, name, value, "a whole number")?;
                *place = value as i64;
            }
            Field::Flag(place) => {
                check(value == 0.0 || value == 1.0, name, value, "0 or 1")?;
                *place = value == 1.0;
            }
        }
        Ok(())
    }
}

/// A function that receives every hyperparameter with its names.
pub type Visit<'v> = dyn FnMut(&'static Name, Field<'_>) -> Result<()> + 'v;

/// The rules: the name, the options of each rule, and for each option the field, the name in thorn and PyTorch's name.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident { $($(#[$about:meta])* $field:ident: $kind:ty = $thorn:literal $torch:literal,)* })*) => {
        $($(#[$doc])* #[derive(Clone)] pub struct $rule { $($(#[$about])* pub $field: $kind,)* })*

        /// The rule by which parameters are changed, and its options.
        #[derive(Clone)]
        pub enum Rule { $($(#[$doc])* $rule($rule),)* }

        impl Rule {
            /// Calls `f` for each option.
            pub fn each(&mut self, f: &mut Visit<'_>) -> Result<()> {
                match self {
                    $(Rule::$rule(options) => { $(f(&Name { thorn: $thorn, torch: $torch }, (&mut options.$field).into())?;)* })*
                }
                Ok(())
            }

            /// Returns the name of the rule.
            pub fn name(&self) -> &'static str {
                match self { $(Rule::$rule(_) => stringify!($rule),)* }
            }
        }
    };
}

rules! {
    /// Stochastic gradient descent.
    Sgd {
        /// The fraction of the running sum of gradients that a step keeps.
        momentum: f64 = "momentum" "momentum",
        /// The fraction of a gradient that is not added to the running sum.
        dampening: f64 = "dampening" "dampening",
        /// The fraction of the parameter that is added to its gradient.
        decay: f64 = "weightDecay" "weight_decay",
        /// True for Nesterov momentum: the step looks ahead by one more step of the running sum.
        nesterov: bool = "nesterov" "nesterov",
    }
    /// Adam: running means of gradients and of their squares.
    Adam {
        /// The fraction of the running mean that a step keeps.
        beta1: f64 = "beta1" "betas.0",
        /// The fraction of the running mean square that a step keeps.
        beta2: f64 = "beta2" "betas.1",
        /// A number that is added to the root of the mean square.
        eps: f64 = "eps" "eps",
        /// The fraction of the parameter that is added to its gradient or, if `decoupled`, subtracted from the parameter.
        decay: f64 = "weightDecay" "weight_decay",
        /// True if the greatest mean square so far is used instead of the current one.
        amsgrad: bool = "amsgrad" "amsgrad",
        /// True if the decay changes the parameter directly, not through the gradient.
        decoupled: bool = "decoupledWeightDecay" "decoupled_weight_decay",
    }
    /// RMSprop: a running mean of squares.
    Rmsprop {
        /// The fraction of the running mean square that a step keeps.
        alpha: f64 = "alpha" "alpha",
        /// A number that is added to the root of the mean square.
        eps: f64 = "eps" "eps",
        /// The fraction of the parameter that is added to its gradient.
        decay: f64 = "weightDecay" "weight_decay",
        /// The fraction of the running sum of steps that a step keeps.
        momentum: f64 = "momentum" "momentum",
        /// True if the square of the running mean is subtracted from the mean square.
        centered: bool = "centered" "centered",
    }
    /// Adagrad: a sum of squares.
    Adagrad {
        /// The learning rate of step `n` is divided by `1 + (n - 1) * rate_decay`.
        rate_decay: f64 = "lrDecay" "lr_decay",
        /// The fraction of the parameter that is added to its gradient.
        decay: f64 = "weightDecay" "weight_decay",
        /// The sum before the first step.
        start: f64 = "initialAccumulatorValue" "initial_accumulator_value",
        /// A number that is added to the root of the sum.
        eps: f64 = "eps" "eps",
    }
    /// Adadelta: running mean squares of gradients and of steps.
    Adadelta {
        /// The fraction of the running mean squares that a step keeps.
        rho: f64 = "rho" "rho",
        /// A number that is added to the mean squares.
        eps: f64 = "eps" "eps",
        /// The fraction of the parameter that is added to its gradient.
        decay: f64 = "weightDecay" "weight_decay",
    }
    /// NAdam: Adam with Nesterov momentum.
    Nadam {
        /// The fraction of the running mean that a step keeps.
        beta1: f64 = "beta1" "betas.0",
        /// The fraction of the running mean square that a step keeps.
        beta2: f64 = "beta2" "betas.1",
        /// A number that is added to the root of the mean square.
        eps: f64 = "eps" "eps",
        /// The fraction of the parameter that is added to its gradient or, if `decoupled`, subtracted from the parameter.
        decay: f64 = "weightDecay" "weight_decay",
        /// The speed with which the momentum of a step approaches `beta1`.
        momentum_decay: f64 = "momentumDecay" "momentum_decay",
        /// True if the decay changes the parameter directly, not through the gradient.
        decoupled: bool = "decoupledWeightDecay" "decoupled_weight_decay",
    }
    /// RAdam: Adam whose first steps do not divide by the root of the mean square.
    Radam {
        /// The fraction of the running mean that a step keeps.
        beta1: f64 = "beta1" "betas.0",
        /// The fraction of the running mean square that a step keeps.
        beta2: f64 = "beta2" "betas.1",
        /// A number that is added to the root of the mean square.
        eps: f64 = "eps" "eps",
        /// The fraction of the parameter that is added to its gradient or, if `decoupled`, subtracted from the parameter.
        decay: f64 = "weightDecay" "weight_decay",
        /// True if the decay changes the parameter directly, not through the gradient.
        decoupled: bool = "decoupledWeightDecay" "decoupled_weight_decay",
    }
    /// LAMB: Adam whose steps have a length in proportion to the norm of the parameter.
    Lamb {
        /// The fraction of the running mean that a step keeps.
        beta1: f64 = "beta1" "betas.0",
        /// The fraction of the running mean square that a step keeps.
        beta2: f64 = "beta2" "betas.1",
        /// A number that is added to the root of the mean square.
        eps: f64 = "eps" "eps",
        /// The fraction of the parameter that is added to the direction of a step.
        decay: f64 = "weightDecay" "weight_decay",
    }
    /// Adafactor: a mean square that is the product of a column and a row.
    Adafactor {
        /// The mean square of step `n` takes the fraction `n^beta2_decay` of the new squares.
        beta2_decay: f64 = "beta2Decay" "beta2_decay",
        /// The smallest root of the mean square; `None` is the distance from 1 to the next number of the parameter's dtype.
        eps1: Option<f64> = "eps1" "eps.0",
        /// The smallest root mean square of a parameter that a step assumes.
        eps2: f64 = "eps2" "eps.1",
        /// The largest root mean square of a direction.
        threshold: f64 = "d" "d",
        /// The fraction of the parameter that, times the learning rate, is subtracted from the parameter.
        decay: f64 = "weightDecay" "weight_decay",
    }
    /// L-BFGS: an approximate inverse Hessian.
    Lbfgs {
        /// The largest number of iterations of a step.
        most_iterations: i64 = "maxIter" "max_iter",
        /// The number of evaluations after which a step ends.
        most_evaluations: i64 = "maxEval" "max_eval",
        /// A step ends if the largest entry of the gradient is at most this.
        least_gradient: f64 = "tolGrad" "tolerance_grad",
        /// A step ends if the loss or all parameters change less than this.
        least_change: f64 = "tolChange" "tolerance_change",
        /// The largest number of stored pairs.
        history: i64 = "historySize" "history_size",
        /// True if an iteration searches along its direction.
        line_search: bool = "strongWolfe" "line_search_fn=strong_wolfe",
    }
}

fn fraction(name: &str, value: f64) -> Result<()> {
    check((0.0..1.0).contains(&value), name, value, "0 or more, and less than 1")
}

impl Rule {
    /// Fails if an option is out of range.
    pub fn check(&self) -> Result<()> {
        let at_least_0 = |all: &[(&str, f64)]| all.iter().try_for_each(|&(name, value)| not_negative(name, value));
        match self {
            Rule::Sgd(sgd) => {
                at_least_0(&[("momentum", sgd.momentum), ("weightDecay", sgd.decay)])?;
                check(!sgd.dampening.is_nan(), "dampening", sgd.dampening, "a number")?;
                if sgd.nesterov && (sgd.momentum == 0.0 || sgd.dampening != 0.0) {
                    bail!(Argument, "nesterov takes a momentum, and no dampening")
                }
                Ok(())
            }
            Rule::Adam(adam) => {
                fraction("beta1", adam.beta1)?;
                fraction("beta2", adam.beta2)?;
                at_least_0(&[("eps", adam.eps), ("weightDecay", adam.decay)])
            }
            Rule::Rmsprop(rms) => {
                at_least_0(&[("alpha", rms.alpha), ("eps", rms.eps), ("weightDecay", rms.decay), ("momentum", rms.momentum)])
            }
            Rule::Adagrad(ada) => at_least_0(&[
                ("lrDecay", ada.rate_decay),
                ("weightDecay", ada.decay),
                ("initialAccumulatorValue", ada.start),
                ("eps", ada.eps),
            ]),
            Rule::Adadelta(ada) => {
                check((0.0..=1.0).contains(&ada.rho), "rho", ada.rho, "0 to 1")?;
                at_least_0(&[("eps", ada.eps), ("weightDecay", ada.decay)])
            }
            Rule::Nadam(adam) => {
                fraction("beta1", adam.beta1)?;
                fraction("beta2", adam.beta2)?;
                at_least_0(&[("eps", adam.eps), ("weightDecay", adam.decay), ("momentumDecay", adam.momentum_decay)])
            }
            Rule::Radam(Radam { beta1, beta2, eps, decay, .. }) | Rule::Lamb(Lamb { beta1, beta2, eps, decay }) => {
                fraction("beta1", *beta1)?;
                fraction("beta2", *beta2)?;
                at_least_0(&[("eps", *eps), ("weightDecay", *decay)])
            }
            Rule::Adafactor(ada) => {
                check(ada.beta2_decay <= 0.0, "beta2Decay", ada.beta2_decay, "0 or less")?;
                check(ada.threshold >= 1.0, "d", ada.threshold, "1 or more")?;
                at_least_0(&[("eps2", ada.eps2), ("weightDecay", ada.decay)])
            }
            Rule::Lbfgs(lbfgs) => {
                at_least_0(&[("tolGrad", lbfgs.least_gradient), ("tolChange", lbfgs.least_change)])?;
                let counts = [("maxIter", lbfgs.most_iterations), ("maxEval", lbfgs.most_evaluations), ("historySize", lbfgs.history)];
                counts.into_iter().try_for_each(|(name, count)| check(count >= 1, name, count as f64, "1 or more"))
            }
        }
    }
}

/// Consecutive parameters with the same hyperparameters.
#[derive(Clone)]
pub struct Group {
    /// The number of parameters in this group and the groups before.
    pub end: usize,
    /// The learning rate.
    pub lr: f64,
    /// True if parameters move along their gradients, not against them.
    pub maximize: bool,
    /// True if each 16-bit parameter has a float32 copy that the steps change.
    pub master: bool,
    /// The rule with its options. All groups of an optimizer have the same rule.
    pub rule: Rule,
}

impl Group {
    /// Calls `f` for each hyperparameter.
    pub fn each(&mut self, f: &mut Visit<'_>) -> Result<()> {
        f(&Name { thorn: "lr", torch: "lr" }, (&mut self.lr).into())?;
        self.rule.each(f)?;
        match self.rule {
            Rule::Lbfgs(_) => Ok(()),
            _ => {
                f(&Name { thorn: "maximize", torch: "maximize" }, (&mut self.maximize).into())?;
                f(&Name { thorn: "masterWeights", torch: "master_weights?" }, (&mut self.master).into())
            }
        }
    }

    /// Returns the dtype of the state of a parameter.
    pub fn state_dtype(&self, p: &Tensor) -> Result<Dtype> {
        let dtype = p.defined()?;
        Ok(if self.master { dtype.compute() } else { dtype })
    }

    /// Fails if a hyperparameter is out of range.
    pub fn check(&self) -> Result<()> {
        not_negative("lr", self.lr)?;
        self.rule.check()
    }

    /// Returns the value of a hyperparameter, after it was set to `value` if there is one.
    pub fn value(&mut self, wanted: &str, mut value: Option<f64>) -> Result<f64> {
        let mut found = None;
        self.each(&mut |name, field| {
            if name.thorn == wanted {
                found = Some(value.unwrap_or(field.get()));
                return value.take().map_or(Ok(()), |value| field.set(name.thorn, value));
            }
            Ok(())
        })?;
        match found {
            Some(found) => Ok(found),
            None => bail!(Argument, "{} has no hyperparameter '{wanted}'", self.rule.name()),
        }
    }
}
