//! Random numbers.
//!
//! Functions that fill an `r` keep its dtype and shape, which it must have; results of other functions are as of all operations.
//! Distributions of real numbers want floats; those of whole numbers take every dtype, to which the number is converted.
//!
//! Errors: `TH_ERR_ARGUMENT`, parameters that the distribution does not have; `TH_ERR_DTYPE`, a result whose dtype cannot hold the
//! numbers; `TH_ERR_SHAPE`, parameters whose shape is not that of the result.

use crate::api::generator::with;
use crate::api::table::table;
use crate::ops::random as ops;
use crate::ops::random::Law;
use crate::tensor::Tensor;

macro_rules! random_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// Fills with numbers uniform in [from, to), which must be in the range of the dtype. Floats only.
        uniform(r: out, generator: generator, from: double, to: double) = with(generator, |g| ops::uniform(r, g, from, to));
        /// Fills with normally distributed numbers; `stdv` >= 0. Floats only.
        normal(r: out, generator: generator, mean: double, stdv: double) = with(generator, |g| ops::normal(r, g, mean, stdv));
        /// `r = z * stdv + means` of standard normal `z`, in the shape of `means`. Floats only; a fresh `r` takes their dtype.
        normal_means(r: out, generator: generator, means: input, stdv: double) = with(generator, |g| ops::normal_means(r, g, means, stdv));
        /// `r = z * stdvs + mean` of standard normal `z`, in the shape of `stdvs`, which must be >= 0. Floats only; a fresh `r` takes their
        /// dtype.
        normal_stddevs(r: out, generator: generator, mean: double, stdvs: input) =
            with(generator, |g| ops::normal_deviations(r, g, mean, stdvs));
        /// `r = z * stdvs + means` of standard normal `z`, broadcast. Floats only; a fresh `r` takes their common dtype.
        normal_means_stddevs(r: out, generator: generator, means: input, stdvs: input) =
            with(generator, |g| ops::normal_means_deviations(r, g, means, stdvs));
        /// Fills with exponentially distributed numbers, of density `lambda * exp(-lambda x)`; `lambda` > 0. All numbers are > 0:
        /// smaller ones than the smallest positive number of the dtype become this number. Floats only.
        exponential(r: out, generator: generator, lambda: double) = with(generator, |g| ops::exponential(r, g, lambda));
        /// Fills with Cauchy distributed numbers, of density `sigma / (pi ((x - median)^2 + sigma^2))`; `sigma` > 0. Floats only.
        cauchy(r: out, generator: generator, median: double, sigma: double) = with(generator, |g| ops::cauchy(r, g, median, sigma));
        /// Fills with `exp(x)` of normally distributed `x`, whose mean and deviation these are. All numbers are > 0, as those of
        /// `THTensor_exponential`. Floats only.
        logNormal(r: out, generator: generator, mean: double, stdv: double) = with(generator, |g| ops::log_normal(r, g, mean, stdv));
        /// Fills with numbers normally distributed in [from, to], others left out; `stdv` > 0. Bounds may be infinite. Floats only.
        truncNormal(r: out, generator: generator, mean: double, stdv: double, from: double, to: double) =
            with(generator, |g| ops::truncated_normal(r, g, mean, stdv, from, to));
        /// Fills with gamma distributed numbers, of density proportional to `x^(shape - 1) exp(-x / scale)`; both > 0. All
        /// numbers are > 0, as those of `THTensor_exponential`. Floats only.
        gamma(r: out, generator: generator, shape: double, scale: double) = with(generator, |g| ops::gamma(r, g, shape, scale));
        /// As `THTensor_gamma`, with a shape and a scale for each element, broadcast. A fresh `r` takes their common dtype.
        gammaTensor(r: out, generator: generator, shape: input, scale: input) = with(generator, |g| ops::gamma_tensor(r, g, shape, scale));
        /// Fills with beta distributed numbers, of density proportional to `x^(a - 1) (1 - x)^(b - 1)`; both > 0. All numbers are
        /// > 0 and < 1 in the dtype. Floats only.
        beta(r: out, generator: generator, a: double, b: double) = with(generator, |g| ops::beta(r, g, a, b));
        /// As `THTensor_beta`, with `a` and `b` for each element, broadcast. A fresh `r` takes their common dtype.
        betaTensor(r: out, generator: generator, a: input, b: input) = with(generator, |g| ops::beta_tensor(r, g, a, b));

        /// Fills with 1 with probability `p`, else 0. Any dtype. `TH_PHILOX` rounds `p` to a multiple of 2^-32.
        bernoulli(r: out, generator: generator, p: double) = with(generator, |g| ops::bernoulli(r, g, p));
        /// `r = 1` with probability `p`, else 0, for each element of `p`, which must be floats. Any dtype; a fresh `r` takes that of `p`.
        bernoulliTensor(r: out, generator: generator, p: input) = with(generator, |g| ops::bernoulli_tensor(r, g, p));
        /// Fills with the number of trials up to the first success, where each trial fails with probability `p`, as in TH:
        /// `P(k) = p^(k - 1) (1 - p)`, k = 1, 2, ...; 0 < p < 1. PyTorch calls 1 - p what is `p` here. Any dtype.
        geometric(r: out, generator: generator, p: double) = with(generator, |g| ops::geometric(r, g, p));
        /// Fills with Poisson distributed numbers, `P(k) = rate^k exp(-rate) / k!`; `rate` >= 0. Any dtype.
        poisson(r: out, generator: generator, rate: double) = with(generator, |g| ops::poisson(r, g, rate));
        /// As `THTensor_poisson`, with a rate for each element. A fresh `r` takes the dtype of `rate`, which must be floats.
        poissonTensor(r: out, generator: generator, rate: input) = with(generator, |g| ops::poisson_tensor(r, g, rate));
        /// Fills with the number of successes in `n` trials that succeed with probability `p`; `n` whole, from 0 to 2^53. Any dtype.
        binomial(r: out, generator: generator, n: double, p: double) = with(generator, |g| ops::binomial(r, g, n, p));
        /// As `THTensor_binomial`, with trials and a probability for each element, broadcast; both floats. A fresh `r` takes their common
        /// dtype.
        binomialTensor(r: out, generator: generator, n: input, p: input) = with(generator, |g| ops::binomial_tensor(r, g, n, p));

        /// Fills with integers, each as likely as the other: from 0 to the greatest of the dtype, of floats to 2^8 (bfloat16), 2^11
        /// (float16), 2^24 or 2^53. As in TH, `TH_MT19937` gives int64 and float64 numbers from 0 to 2^32 - 1; the other dtypes get
        /// PyTorch's numbers, too.
        random(r: out, generator: generator) = with(generator, |g| ops::random(r, g));
        /// Fills with integers from 0 to `max - 1`; `max` > 0, bounds as for clampedRandom.
        cappedRandom(r: out, generator: generator, max: integer) = with(generator, |g| ops::clamped_random(r, g, 0, max));
        /// Fills with integers from `min` to `max - 1`; both must be in the range of an integer dtype (of Bool 0 and 1), or no further from
        /// 0 than a float dtype holds every integer: 2^8 (bfloat16), 2^11 (float16), 2^24 or 2^53. For ranges up to 2^32, `TH_MT19937`
        /// gives TH's numbers, which are PyTorch's too; for wider ones, from which TH draws the lower end only, the remainders of two
        /// words.
        clampedRandom(r: out, generator: generator, min: integer, max: integer) = with(generator, |g| ops::clamped_random(r, g, min, max));

        /// Fills weights (outputs x inputs x window) with numbers uniform in [-b, b), `b = gain * sqrt(6 / (inputs + outputs))` times
        /// window under the root: Glorot's, for `gain` 1. Floats only.
        xavierUniform(r: out, generator: generator, gain: double) = with(generator, |g| ops::xavier(r, g, false, gain));
        /// Fills weights (outputs x inputs x window) with normally distributed numbers of the deviation of `THTensor_xavierUniform`, `b /
        /// sqrt(3)`.
        xavierNormal(r: out, generator: generator, gain: double) = with(generator, |g| ops::xavier(r, g, true, gain));
        /// Fills weights (outputs x inputs x window) with numbers uniform in [-b, b), `b = sqrt(6 / ((1 + slope^2) n))`, where `n` is
        /// inputs x window (`TH_FAN_IN`) or outputs x window (`TH_FAN_OUT`): He's, for rectifiers with this slope below 0. Floats only.
        kaimingUniform(r: out, generator: generator, slope: double, fan: fan) = with(generator, |g| ops::kaiming(r, g, false, slope, fan));
        /// Fills weights (outputs x inputs x window) with normally distributed numbers of the deviation of `THTensor_kaimingUniform`, `b /
        /// sqrt(3)`.
        kaimingNormal(r: out, generator: generator, slope: double, fan: fan) = with(generator, |g| ops::kaiming(r, g, true, slope, fan));

        /// `r` = numbers uniform in [0, 1) in these sizes. Floats only; a fresh `r` takes the default dtype.
        rand(r: out, generator: generator, ndim: len, size: sizes) = with(generator, |g| ops::drawn(r, g, Law::Uniform, size));
        /// `r` = normally distributed numbers of mean 0 and deviation 1 in these sizes. Floats only; a fresh `r` takes the default dtype.
        randn(r: out, generator: generator, ndim: len, size: sizes) = with(generator, |g| ops::drawn(r, g, Law::Normal, size));
        /// `r` = integers from `from` to `to - 1` in these sizes. A fresh `r` takes int64.
        randint(r: out, generator: generator, from: integer, to: integer, ndim: len, size: sizes) =
            with(generator, |g| ops::drawn(r, g, Law::Integers(from, to), size));
        /// As `THTensor_rand`, in the sizes of `t`; a fresh `r` takes its dtype.
        randLike(r: out, generator: generator, t: input) = with(generator, |g| ops::drawn_like(r, g, Law::Uniform, t));
        /// As `THTensor_randn`, in the sizes of `t`; a fresh `r` takes its dtype.
        randnLike(r: out, generator: generator, t: input) = with(generator, |g| ops::drawn_like(r, g, Law::Normal, t));
        /// As `THTensor_randint`, in the sizes of `t`; a fresh `r` takes its dtype.
        randintLike(r: out, generator: generator, t: input, from: integer, to: integer) =
            with(generator, |g| ops::drawn_like(r, g, Law::Integers(from, to), t));
        /// `r` = the integers from 0 to `n - 1` in random order. A fresh `r` takes int64; another dtype must hold them all. `TH_MT19937`
        /// gives the order that TH and PyTorch give.
        randperm(r: out, generator: generator, n: size) = with(generator, |g| ops::permutation(r, g, n));
        /// A row-major tensor as of `THTensor_rand`. Returns a new reference.
        newRand(dtype: dtype, generator: generator, ndim: len, size: sizes) -> new =
            with(generator, |g| ops::new_drawn(dtype, g, Law::Uniform, size));
        /// A row-major tensor as of `THTensor_randn`. Returns a new reference.
        newRandn(dtype: dtype, generator: generator, ndim: len, size: sizes) -> new =
            with(generator, |g| ops::new_drawn(dtype, g, Law::Normal, size));
        /// A row-major tensor as of `THTensor_randint`. Returns a new reference.
        newRandint(dtype: dtype, generator: generator, from: integer, to: integer, ndim: len, size: sizes) -> new =
            with(generator, |g| ops::new_drawn(dtype, g, Law::Integers(from, to), size));
        /// As `THTensor_newRand`, in dtype and sizes of `t`. Returns a new reference.
        newRandLike(t: input, generator: generator) -> new =
            with(generator, |g| ops::new_drawn(t.defined()?, g, Law::Uniform, &t.layout()?.shape));
        /// As `THTensor_newRandn`, in dtype and sizes of `t`. Returns a new reference.
        newRandnLike(t: input, generator: generator) -> new =
            with(generator, |g| ops::new_drawn(t.defined()?, g, Law::Normal, &t.layout()?.shape));
        /// As `THTensor_newRandint`, in dtype and sizes of `t`. Returns a new reference.
        newRandintLike(t: input, generator: generator, from: integer, to: integer) -> new =
            with(generator, |g| ops::new_drawn(t.defined()?, g, Law::Integers(from, to), &t.layout()?.shape));
        /// A vector as of `THTensor_randperm`. Returns a new reference.
        newRandperm(dtype: dtype, generator: generator, n: size) -> new = with(generator, |g| {
            let t = Tensor::empty(dtype, &[n])?;
            ops::permutation(&t, g, n)?;
            Ok(t)
        });

        /// `r` = `n` categories, positions from 0 on, for each row of `p`, or for the vector `p`: each as often as its share in the sum of
        /// the row. If `replacement` is 0, none is drawn twice, and they come in the order drawn. Floats >= 0 that do not sum to 0, and
        /// without replacement as many above 0 as are drawn. A fresh `r` takes int64.
        multinomial(r: out, generator: generator, p: input, n: size, replacement: flag) =
            with(generator, |g| ops::multinomial(r, g, p, n, replacement));
        /// Tables for drawing from the same `p`, a vector, many times: an even choice `k` stays with probability `q[k]`, else becomes
        /// `J[k]`. Fresh `J` and `q` take int64 and the dtype of `p`.
        multinomialAliasSetup(p: input, J: indices, q: out) = ops::alias_setup(p, J, q);
        /// Fills with categories, positions from 0 on, by the tables of `THTensor_multinomialAliasSetup`. (TH's function expects positions
        /// from 1 on in `J`, which its own setup does not give.)
        multinomialAliasDraw(r: out, generator: generator, J: index, q: input) = with(generator, |g| ops::alias_draw(r, g, J, q));
        /// `r = t * mask / (1 - p)` with a mask that is false with probability `p`, else true. Floats only. `mask` may be NULL, else it
        /// takes the mask; a fresh one takes Bool.
        dropout(r: out, mask: optional_out, generator: generator, t: input, p: double) =
            with(generator, |g| ops::dropout(r, mask, g, t, p));
    } };
}

random_functions!(table);
pub(crate) use random_functions as functions;
