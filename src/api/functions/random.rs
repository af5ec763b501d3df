//! Random numbers.
//!
//! A function that fills `r` keeps the dtype and shape of `r`, which must have both. Other functions treat `r` as all operations do.
//! Distributions of real numbers need floats. Distributions of whole numbers support every dtype, to which the numbers are converted.
//!
//! Errors: `TH_ERR_ARGUMENT`, parameters that are invalid for the distribution; `TH_ERR_DTYPE`, a dtype of `r` that cannot hold the
//! numbers; `TH_ERR_SHAPE`, parameters whose shape differs from the shape of `r`.

use crate::api::generator::with;
use crate::api::table::table;
use crate::ops::random as ops;
use crate::ops::random::{Dropout, Law};
use crate::tensor::Tensor;

macro_rules! random_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// Fills `r` with numbers uniform in [from, to); both bounds must be in the range of the dtype. Floats only.
        uniform(r: out, generator: generator, from: double, to: double) = with(generator, |g| ops::uniform(r, g, from, to));
        /// Fills `r` with normally distributed numbers of mean `mean` and standard deviation `stdv` >= 0. Floats only.
        normal(r: out, generator: generator, mean: double, stdv: double) = with(generator, |g| ops::normal(r, g, mean, stdv));
        /// `r = z * stdv + means` for standard normal `z`, in the shape of `means`. Floats only; a fresh `r` gets the dtype of `means`.
        normal_means(r: out, generator: generator, means: input, stdv: double) = with(generator, |g| ops::normal_means(r, g, means, stdv));
        /// `r = z * stdvs + mean` for standard normal `z`, in the shape of `stdvs`, whose elements must be >= 0. Floats only; a fresh `r`
        /// gets the dtype of `stdvs`.
        normal_stddevs(r: out, generator: generator, mean: double, stdvs: input) =
            with(generator, |g| ops::normal_deviations(r, g, mean, stdvs));
        /// `r = z * stdvs + means` for standard normal `z`; `stdvs` and `means` broadcast. Floats only; a fresh `r` gets their common
        /// dtype.
        normal_means_stddevs(r: out, generator: generator, means: input, stdvs: input) =
            with(generator, |g| ops::normal_means_deviations(r, g, means, stdvs));
        /// Fills `r` with exponentially distributed numbers of density `lambda * exp(-lambda x)`; `lambda` > 0. All numbers are > 0: a
        /// result below the smallest positive number of the dtype is replaced by this number. Floats only.
        exponential(r: out, generator: generator, lambda: double) = with(generator, |g| ops::exponential(r, g, lambda));
        /// Fills `r` with Cauchy distributed numbers of density `sigma / (pi ((x - median)^2 + sigma^2))`; `sigma` > 0. Floats only.
        cauchy(r: out, generator: generator, median: double, sigma: double) = with(generator, |g| ops::cauchy(r, g, median, sigma));
        /// Fills `r` with `exp(x)` for normally distributed `x` of mean `mean` and standard deviation `stdv`. All numbers are > 0, as for
        /// `THTensor_exponential`. Floats only.
        logNormal(r: out, generator: generator, mean: double, stdv: double) = with(generator, |g| ops::log_normal(r, g, mean, stdv));
        /// Fills `r` with normally distributed numbers truncated to [from, to]; `stdv` > 0. The bounds may be infinite. Floats only.
        truncNormal(r: out, generator: generator, mean: double, stdv: double, from: double, to: double) =
            with(generator, |g| ops::truncated_normal(r, g, mean, stdv, from, to));
        /// Fills `r` with gamma distributed numbers of density proportional to `x^(shape - 1) exp(-x / scale)`; both parameters are > 0.
        /// All numbers are > 0, as for `THTensor_exponential`. Floats only.
        gamma(r: out, generator: generator, shape: double, scale: double) = with(generator, |g| ops::gamma(r, g, shape, scale));
        /// Fills `r` as `THTensor_gamma`, with a shape and a scale for each element; both broadcast. A fresh `r` gets their common dtype.
        gammaTensor(r: out, generator: generator, shape: input, scale: input) = with(generator, |g| ops::gamma_tensor(r, g, shape, scale));
        /// Fills `r` with beta distributed numbers of density proportional to `x^(a - 1) (1 - x)^(b - 1)`; both parameters are > 0. All
        /// numbers are > 0 and < 1 in the dtype of `r`. Floats only.
        beta(r: out, generator: generator, a: double, b: double) = with(generator, |g| ops::beta(r, g, a, b));
        /// Fills `r` as `THTensor_beta`, with `a` and `b` for each element; both broadcast. A fresh `r` gets their common dtype.
        betaTensor(r: out, generator: generator, a: input, b: input) = with(generator, |g| ops::beta_tensor(r, g, a, b));

        /// Fills `r` with 1 with probability `p`, else 0. Any dtype. `TH_PHILOX` rounds `p` to a multiple of 2^-32.
        bernoulli(r: out, generator: generator, p: double) = with(generator, |g| ops::bernoulli(r, g, p));
        /// `r = 1` with probability `p`, else 0, for each element of `p`, which must be of floats. Any dtype; a fresh `r` gets the dtype of
        /// `p`.
        bernoulliTensor(r: out, generator: generator, p: input) = with(generator, |g| ops::bernoulli_tensor(r, g, p));
        /// Fills `r` with the number of trials up to the first success, where, as in TH, each trial fails with probability `p`: `P(k) =
        /// p^(k - 1) (1 - p)` for k = 1, 2, ...; 0 < p < 1. In PyTorch, `p` is the probability of success. Any dtype.
        geometric(r: out, generator: generator, p: double) = with(generator, |g| ops::geometric(r, g, p));
        /// Fills `r` with Poisson distributed numbers, `P(k) = rate^k exp(-rate) / k!`; `rate` >= 0. Any dtype.
        poisson(r: out, generator: generator, rate: double) = with(generator, |g| ops::poisson(r, g, rate));
        /// Fills `r` as `THTensor_poisson`, with a rate for each element; `rate` must be of floats. A fresh `r` gets the dtype of `rate`.
        poissonTensor(r: out, generator: generator, rate: input) = with(generator, |g| ops::poisson_tensor(r, g, rate));
        /// Fills `r` with the number of successes in `n` trials that succeed with probability `p`; `n` is whole, from 0 to 2^53. Any dtype.
        binomial(r: out, generator: generator, n: double, p: double) = with(generator, |g| ops::binomial(r, g, n, p));
        /// Fills `r` as `THTensor_binomial`, with `n` and `p` for each element; both are of floats and broadcast. A fresh `r` gets their
        /// common dtype.
        binomialTensor(r: out, generator: generator, n: input, p: input) = with(generator, |g| ops::binomial_tensor(r, g, n, p));

        /// Fills `r` with uniformly distributed integers from 0 to the greatest of the dtype; for floats to 2^8 (bfloat16), 2^11 (float16),
        /// 2^24 (float32) or 2^53 (float64). As in TH, `TH_MT19937` gives int64 and float64 numbers from 0 to 2^32 - 1. In the other dtypes
        /// its numbers are also PyTorch's.
        random(r: out, generator: generator) = with(generator, |g| ops::random(r, g));
        /// Fills `r` with integers from 0 to `max - 1`; `max` > 0. The limits of `max` are as for clampedRandom.
        cappedRandom(r: out, generator: generator, max: integer) = with(generator, |g| ops::clamped_random(r, g, 0, max));
        /// Fills `r` with integers from `min` to `max - 1`. Both must be in the range of an integer dtype (0 and 1 for Bool), or in the
        /// range where a float dtype holds every integer: up to 2^8 (bfloat16), 2^11 (float16), 2^24 (float32) or 2^53 (float64) in
        /// magnitude. For ranges up to 2^32, `TH_MT19937` gives the numbers of TH and PyTorch. For wider ranges, where TH only draws from
        /// the lower end, `TH_MT19937` gives the remainder of a number of two words.
        clampedRandom(r: out, generator: generator, min: integer, max: integer) = with(generator, |g| ops::clamped_random(r, g, min, max));

        /// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where `b = gain * sqrt(6 / ((inputs + outputs) *
        /// window))`: Glorot's initialisation for `gain` 1. Floats only.
        xavierUniform(r: out, generator: generator, gain: double) = with(generator, |g| ops::xavier(r, g, false, gain));
        /// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation `b / sqrt(3)`, with `b` as
        /// for `THTensor_xavierUniform`.
        xavierNormal(r: out, generator: generator, gain: double) = with(generator, |g| ops::xavier(r, g, true, gain));
        /// Fills weights `r` (outputs x inputs x window) with numbers uniform in [-b, b), where `b = sqrt(6 / ((1 + slope^2) n))` and `n`
        /// is inputs x window (`TH_FAN_IN`) or outputs x window (`TH_FAN_OUT`): He's initialisation for rectifiers with this slope below 0.
        /// Floats only.
        kaimingUniform(r: out, generator: generator, slope: double, fan: fan) = with(generator, |g| ops::kaiming(r, g, false, slope, fan));
        /// Fills weights `r` (outputs x inputs x window) with normally distributed numbers of standard deviation `b / sqrt(3)`, with `b` as
        /// for `THTensor_kaimingUniform`.
        kaimingNormal(r: out, generator: generator, slope: double, fan: fan) = with(generator, |g| ops::kaiming(r, g, true, slope, fan));

        /// `r` = numbers uniform in [0, 1), in the given sizes. Floats only; a fresh `r` gets the default dtype.
        rand(r: out, generator: generator, ndim: len, size: sizes) = with(generator, |g| ops::drawn(r, g, Law::Uniform, size));
        /// `r` = normally distributed numbers of mean 0 and standard deviation 1, in the given sizes. Floats only; a fresh `r` gets the
        /// default dtype.
        randn(r: out, generator: generator, ndim: len, size: sizes) = with(generator, |g| ops::drawn(r, g, Law::Normal, size));
        /// `r` = uniformly distributed integers from `from` to `to - 1`, in the given sizes. A fresh `r` gets int64.
        randint(r: out, generator: generator, from: integer, to: integer, ndim: len, size: sizes) =
            with(generator, |g| ops::drawn(r, g, Law::Integers(from, to), size));
        /// As `THTensor_rand`, in the sizes of `t`; a fresh `r` takes its dtype.
        randLike(r: out, generator: generator, t: input) = with(generator, |g| ops::drawn_like(r, g, Law::Uniform, t));
        /// As `THTensor_randn`, in the sizes of `t`; a fresh `r` takes its dtype.
        randnLike(r: out, generator: generator, t: input) = with(generator, |g| ops::drawn_like(r, g, Law::Normal, t));
        /// `r` = integers as by `THTensor_randint`, in the sizes of `t`; a fresh `r` gets the dtype of `t`.
        randintLike(r: out, generator: generator, t: input, from: integer, to: integer) =
            with(generator, |g| ops::drawn_like(r, g, Law::Integers(from, to), t));
        /// `r` = the integers from 0 to `n - 1` in random order. A fresh `r` gets int64; any other dtype must hold all of these integers.
        /// `TH_MT19937` gives the order of TH and PyTorch.
        randperm(r: out, generator: generator, n: size) = with(generator, |g| ops::permutation(r, g, n));
        /// A row-major tensor of numbers as by `THTensor_rand`. Returns a new reference.
        newRand(dtype: dtype, generator: generator, ndim: len, size: sizes) -> new =
            with(generator, |g| ops::new_drawn(dtype, g, Law::Uniform, size));
        /// A row-major tensor of numbers as by `THTensor_randn`. Returns a new reference.
        newRandn(dtype: dtype, generator: generator, ndim: len, size: sizes) -> new =
            with(generator, |g| ops::new_drawn(dtype, g, Law::Normal, size));
        /// A row-major tensor of integers as by `THTensor_randint`. Returns a new reference.
        newRandint(dtype: dtype, generator: generator, from: integer, to: integer, ndim: len, size: sizes) -> new =
            with(generator, |g| ops::new_drawn(dtype, g, Law::Integers(from, to), size));
        /// A tensor as by `THTensor_newRand`, with the dtype and sizes of `t`. Returns a new reference.
        newRandLike(t: input, generator: generator) -> new =
            with(generator, |g| ops::new_drawn(t.defined()?, g, Law::Uniform, &t.layout()?.shape));
        /// A tensor as by `THTensor_newRandn`, with the dtype and sizes of `t`. Returns a new reference.
        newRandnLike(t: input, generator: generator) -> new =
            with(generator, |g| ops::new_drawn(t.defined()?, g, Law::Normal, &t.layout()?.shape));
        /// A tensor as by `THTensor_newRandint`, with the dtype and sizes of `t`. Returns a new reference.
        newRandintLike(t: input, generator: generator, from: integer, to: integer) -> new =
            with(generator, |g| ops::new_drawn(t.defined()?, g, Law::Integers(from, to), &t.layout()?.shape));
        /// A vector as by `THTensor_randperm`. Returns a new reference.
        newRandperm(dtype: dtype, generator: generator, n: size) -> new = with(generator, |g| {
            let t = Tensor::empty(dtype, &[n])?;
            ops::permutation(&t, g, n)?;
            Ok(t)
        });

        /// `r` = `n` categories, as indices from 0, for each row of `p`, or for the vector `p`. The probability of a category is its share
        /// in the sum of the row. Without `replacement` no category is drawn twice, and `r` has the order in which they are drawn. `p` has
        /// floats >= 0 that do not sum to 0; without `replacement` at least `n` of them must be > 0 in each row. A fresh `r` gets int64.
        multinomial(r: out, generator: generator, p: input, n: size, replacement: flag) =
            with(generator, |g| ops::multinomial(r, g, p, n, replacement));
        /// Tables for repeated draws from the vector `p` by the alias method: a uniformly drawn category `k` is kept with probability
        /// `q[k]` and otherwise replaced by `J[k]`. A fresh `J` gets int64, and a fresh `q` the dtype of `p`.
        multinomialAliasSetup(p: input, J: indices, q: out) = ops::alias_setup(p, J, q);
        /// Fills `r` with categories, as indices from 0, using the tables of `THTensor_multinomialAliasSetup`. (TH's function expects
        /// indices from 1 in `J`, which TH's own setup does not produce.)
        multinomialAliasDraw(r: out, generator: generator, J: index, q: input) = with(generator, |g| ops::alias_draw(r, g, J, q));
        /// `r = t * mask / (1 - p)`, where each element of the mask is false with probability `p`, else true. Floats only. `mask` receives
        /// the mask, or may be NULL; a fresh `mask` gets Bool.
        dropout(r: out, mask: optional_out, generator: generator, t: input, p: double) =
            with(generator, |g| ops::dropout(r, mask, g, t, p, Dropout { channels: false, alpha: false }));
        /// dropout of whole channels: the elements of a channel of an entry of the batch are dropped together (Tompson and others,
        /// "Efficient Object Localization Using Convolutional Networks", 2015). `t` has the shape `[batch, channels, sizes...]`, and the
        /// mask has the size 1 in the dimensions after the channels. Otherwise as dropout.
        featureDropout(r: out, mask: optional_out, generator: generator, t: input, p: double) =
            with(generator, |g| ops::dropout(r, mask, g, t, p, Dropout { channels: true, alpha: false }));
        /// `r = a * (t - s * p)` where the mask is true, else `a * s * (1 - p)`, with `s = -1.7580993408473766`, the limit of selu for
        /// minus infinity, and `a = 1 / sqrt((s^2 * p + 1) * (1 - p))`: elements with the mean 0 and the variance 1 keep both (Klambauer
        /// and others, "Self-Normalizing Neural Networks", 2017). All elements are 0 if `p` is 1. The mask is as for dropout. Floats only;
        /// 16-bit floats are computed in float32.
        alphaDropout(r: out, mask: optional_out, generator: generator, t: input, p: double) =
            with(generator, |g| ops::dropout(r, mask, g, t, p, Dropout { channels: false, alpha: true }));
        /// alphaDropout of whole channels, with shapes as for featureDropout.
        featureAlphaDropout(r: out, mask: optional_out, generator: generator, t: input, p: double) =
            with(generator, |g| ops::dropout(r, mask, g, t, p, Dropout { channels: true, alpha: true }));
    } };
}

random_functions!(table);
pub(crate) use random_functions as functions;
