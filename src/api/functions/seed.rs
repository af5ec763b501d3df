//! Random generators.
//!
//! A `THGenerator` is where random numbers come from, of one of two kinds. `NULL` stands for the calling thread's own, which is of kind
//! `TH_PHILOX` and seeded by the system. A call that fails has drawn nothing.
//!
//! Errors: `TH_ERR_ARGUMENT`, a kind or state that is none, or a generator that another call is drawing from; `TH_ERR_DTYPE` and
//! `TH_ERR_SHAPE`, a state that is no vector of uint8.

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

/// A number as a 0-d tensor of float64 gets it.
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
        /// With the same seed, `TH_MT19937` gives the numbers that Torch's TH gives, one after the other in row-major order, computed in
        /// float64 and then rounded: so float32 numbers of `THTensor_uniform` may round up to `to`. PyTorch shares its words, and with them
        /// the numbers of `THTensor_random`, `THTensor_clampedRandom` and `THTensor_randperm`; it makes others of them for uniform, normal
        /// and bernoulli. What TH has no function for follows no other library. `TH_PHILOX` is faster, and gives the same numbers with any
        /// number of threads.
        THGenerator_newKind(kind: generator_kind) -> new_generator = new_generator(Generator::new(kind, seed_from_os())?);
        /// The kind of a generator; 0 on error.
        THGenerator_kind(generator: generator) -> generator_kind = with(generator, |g| Ok(g.kind()));
        /// Makes `to` continue as `from` would, and of the same kind.
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
                // SAFETY: the handle came from `new_generator` and is the caller's to end.
                unsafe {
                    place.drop_in_place();
                    alloc::release(place.cast(), size_of::<THGenerator>());
                }
            }
            Ok(())
        };
        /// Seeds from the system; returns the seed, 0 on error.
        THRandom_seed(generator: generator) -> seed = with(generator, |g| {
            g.manual_seed(seed_from_os());
            Ok(g.initial_seed())
        });
        /// Starts the sequence of `seed`: the same seed gives the same numbers on every machine, however many threads there are. Of
        /// `TH_MT19937`, only the low 32 bits count.
        THRandom_manualSeed(generator: generator, seed: seed) = with(generator, |g| {
            g.manual_seed(seed);
            Ok(())
        });
        /// The seed the sequence was started with; 0 on error.
        THRandom_initialSeed(generator: generator) -> seed = with(generator, |g| Ok(g.initial_seed()));

        /// An integer from 0 to 2^32 - 1; -1 on error. This and the numbers below are those of a 0-d tensor: `THRandom_uniform` gives what
        /// `THTensor_uniform` gives a tensor of float64.
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
        /// An exponentially distributed number, of mean 1 / lambda; NaN on error.
        THRandom_exponential(generator: generator, lambda: double) -> number = drawn(generator, |t, g| ops::exponential(t, g, lambda));
        /// A Cauchy distributed number; NaN on error.
        THRandom_cauchy(generator: generator, median: double, sigma: double) -> number =
            drawn(generator, |t, g| ops::cauchy(t, g, median, sigma));
        /// `exp` of a normally distributed number; NaN on error.
        THRandom_logNormal(generator: generator, mean: double, stdv: double) -> number =
            drawn(generator, |t, g| ops::log_normal(t, g, mean, stdv));
        /// Trials up to the first success, where each fails with probability `p`, 0 < p < 1; NaN on error.
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
            /// `r` = the bytes of the generator's state, a vector; a fresh `r` takes uint8. Of `TH_MT19937` they are the 5048 bytes that TH
            /// saves; of `TH_PHILOX` 24: a mark with a version, seed and position.
            getRNGState(generator: generator, r: out) = with(generator, |g| ops::save(g, r));
            /// Makes the generator continue from a state saved of a generator of the same kind. Anything else is an error.
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
