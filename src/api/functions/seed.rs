//! Random generators.
//!
//! A `THGenerator` produces random numbers and is of one of two kinds. NULL is the calling thread's default generator, which has kind
//! `TH_PHILOX` and is seeded by the system. A call that fails draws no numbers.
//!
//! Errors: `TH_ERR_ARGUMENT`, an invalid kind or state, or a generator that another call is using; `TH_ERR_DTYPE` and `TH_ERR_SHAPE`, a
//! state that is not a vector of uint8.

use crate::alloc;
use crate::api::generator::{THGenerator, new_generator, with};
use crate::api::table::table;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::copy;
use crate::ops::random as ops;
use crate::random::{Generator, TH_PHILOX, seed_from_os};
use crate::tensor::Tensor;
use std::ptr::NonNull;

/// Returns the number that `fill` stores in a 0-d tensor of float64.
fn drawn(generator: Option<&THGenerator>, fill: impl FnOnce(&Tensor, &mut Generator) -> Result<()>) -> Result<f64> {
    let t = Tensor::empty(Dtype::Float64, &[])?;
    with(generator, |g| fill(&t, g))?;
    Ok(copy::item(&t)?.to_f64())
}

macro_rules! generator_functions {
    ($do:ident) => { $do! { "";
        /// A generator of kind `TH_PHILOX`, seeded by the system. Free it with `THGenerator_free`; NULL on error.
        THGenerator_new() -> new_generator = new_generator(Generator::new(TH_PHILOX, seed_from_os())?);
        /// A generator of kind `TH_PHILOX` or `TH_MT19937`, seeded by the system. Free it with `THGenerator_free`; NULL on error.
        ///
        /// With the same seed, `TH_MT19937` gives the numbers of Torch's TH, in row-major order, computed in float64 and then rounded.
        /// float32 numbers of `THTensor_uniform` may therefore round up to `to`. PyTorch has the same words, and thus the same numbers for
        /// `THTensor_random`, `THTensor_clampedRandom` and `THTensor_randperm`, but other numbers for uniform, normal and bernoulli.
        /// Functions that TH lacks give numbers unlike any other library. `TH_PHILOX` is faster, and gives the same numbers with any number
        /// of threads.
        THGenerator_newKind(kind: generator_kind) -> new_generator = new_generator(Generator::new(kind, seed_from_os())?);
        /// The kind of a generator; 0 on error.
        THGenerator_kind(generator: generator) -> generator_kind = with(generator, |g| Ok(g.kind()));
        /// Copies the kind and the state of `from` to `to`, so that both continue with the same numbers.
        THGenerator_copy(to: required_generator, from: required_generator) = {
            let state = with(Some(from), |g| Ok(g.clone()))?;
            with(Some(to), |g| {
                *g = state;
                Ok(())
            })
        };
        /// Frees a generator; NULL is ignored.
        THGenerator_free(generator: generator) -> nothing = {
            if let Some(generator) = generator {
                let place = NonNull::from(generator);
                // SAFETY: the handle came from `new_generator`, and the caller gives up its ownership.
                unsafe {
                    place.drop_in_place();
                    alloc::release(place.cast(), size_of::<THGenerator>());
                }
            }
            Ok(())
        };
        /// Seeds the generator from the system and returns the seed; 0 on error.
        THRandom_seed(generator: generator) -> seed = with(generator, |g| {
            g.manual_seed(seed_from_os());
            Ok(g.initial_seed())
        });
        /// Seeds the generator with `seed`. The same seed gives the same numbers on every machine and with any number of threads.
        /// `TH_MT19937` only uses the low 32 bits.
        THRandom_manualSeed(generator: generator, seed: seed) = with(generator, |g| {
            g.manual_seed(seed);
            Ok(())
        });
        /// The seed that the current sequence was started with; 0 on error.
        THRandom_initialSeed(generator: generator) -> seed = with(generator, |g| Ok(g.initial_seed()));

        /// An integer from 0 to 2^32 - 1; -1 on error. Each `THRandom_` function of this chapter draws the number that the corresponding
        /// function stores in a 0-d tensor: `THRandom_uniform` gives the number that `THTensor_uniform` stores in float64.
        THRandom_random(generator: generator) -> integer = {
            let t = Tensor::empty(Dtype::Int64, &[])?;
            with(generator, |g| ops::clamped_random(&t, g, 0, 1 << 32))?;
            Ok(copy::item(&t)?.to_f64() as i64)
        };
        /// A number uniform in [from, to); NaN on error.
        THRandom_uniform(generator: generator, from: double, to: double) -> number = drawn(generator, |t, g| ops::uniform(t, g, from, to));
        /// A normally distributed number; NaN on error.
        THRandom_normal(generator: generator, mean: double, stdv: double) -> number = drawn(generator, |t, g| ops::normal(t, g, mean,
            stdv));
        /// An exponentially distributed number of mean 1 / lambda; NaN on error.
        THRandom_exponential(generator: generator, lambda: double) -> number = drawn(generator, |t, g| ops::exponential(t, g, lambda));
        /// A Cauchy distributed number; NaN on error.
        THRandom_cauchy(generator: generator, median: double, sigma: double) -> number =
            drawn(generator, |t, g| ops::cauchy(t, g, median, sigma));
        /// `exp` of a normally distributed number; NaN on error.
        THRandom_logNormal(generator: generator, mean: double, stdv: double) -> number =
            drawn(generator, |t, g| ops::log_normal(t, g, mean, stdv));
        /// The number of trials up to the first success, where each trial fails with probability `p`, 0 < p < 1; NaN on error.
        THRandom_geometric(generator: generator, p: double) -> number = drawn(generator, |t, g| ops::geometric(t, g, p));
        /// 1 with probability `p`, else 0; 0 on error.
        THRandom_bernoulli(generator: generator, p: double) -> flag = Ok(drawn(generator, |t, g| ops::bernoulli(t, g, p))? != 0.0);
    } };
}

generator_functions!(table);
pub(crate) use generator_functions as functions;

macro_rules! state_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r` = the bytes of the generator's state as a vector; a fresh `r` gets uint8. A `TH_MT19937` state has the 5048 bytes that
            /// TH saves. A `TH_PHILOX` state has 24 bytes: a tag with a version, the seed and the position.
            getRNGState(generator: generator, r: out) = with(generator, |g| ops::save(g, r));
            /// Restores a state that was saved from a generator of the same kind. Any other state is an error.
            setRNGState(generator: generator, t: input) = with(generator, |g| ops::restore(g, t));
        }
    };
}

pub mod states {
    //! Random generators.
    use super::*;
    state_functions!(table);
    pub(crate) use state_functions as functions;
}
