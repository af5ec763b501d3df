//! Random numbers.

use super::generator::{new_generator, with};
use super::row::export;
use crate::alloc;
use crate::ops::random as ops;
use crate::random::{Generator, seed_from_os};
use crate::tensor::Tensor;
use std::ptr::NonNull;

macro_rules! generator_rows {
    ($face:ident $($to:tt)*) => { $face! { $($to)*
        /// A generator seeded by the system. Free it with `THGenerator_free`; NULL on error.
        THGenerator_new() -> new_generator = new_generator(Generator::new(seed_from_os()));
        /// Makes `to` continue as `from` would.
        THGenerator_copy(to: required_generator, from: required_generator) = {
            let state = with(Some(from), |g| *g)?;
            with(Some(to), |g| *g = state)
        };
        /// Seeds from the system; returns the seed, 0 on error.
        THRandom_seed(generator: generator) -> seed = with(generator, |g| {
            g.manual_seed(seed_from_os());
            g.initial_seed()
        });
        /// Starts the sequence of `seed`: the same seed gives the same numbers on every machine, however many threads there are.
        THRandom_manualSeed(generator: generator, seed: seed) = with(generator, |g| g.manual_seed(seed));
        /// The seed the sequence was started with; 0 on error.
        THRandom_initialSeed(generator: generator) -> seed = with(generator, |g| g.initial_seed());

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
    } };
}

generator_rows!(export "";);

macro_rules! random_rows {
    ($face:ident $($to:tt)*) => { $face! { $($to)*
        /// Every element of `r` uniform in [from, to). Floats only; `r` must have its dtype and shape already.
        uniform(r: out, generator: generator, from: double, to: double) =
            with(generator, |g| ops::uniform(r, g, from, to))?;
        /// Every element of `r` normally distributed. Floats only; `r` must have its dtype and shape already.
        normal(r: out, generator: generator, mean: double, stdv: double) =
            with(generator, |g| ops::normal(r, g, mean, stdv))?;
        /// A row-major tensor with elements uniform in [0, 1). Floats only. Returns a new reference.
        newRand(dtype: dtype, generator: generator, ndim: len, size: sizes) -> new = {
            let r = Tensor::empty(dtype, size)?;
            with(generator, |g| ops::uniform(&r, g, 0.0, 1.0))??;
            Ok(r)
        };
        /// A row-major tensor with elements normally distributed, with mean 0 and standard deviation 1. Floats only. Returns a new reference.
        newRandn(dtype: dtype, generator: generator, ndim: len, size: sizes) -> new = {
            let r = Tensor::empty(dtype, size)?;
            with(generator, |g| ops::normal(&r, g, 0.0, 1.0))??;
            Ok(r)
        };
    } };
}

pub mod fills {
    //! Random numbers.
    use super::*;
    random_rows!(export "THTensor_";);
}
