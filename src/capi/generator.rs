//! Handles of random generators.

use crate::alloc;
use crate::error::{Result, bail};
use crate::random::{Generator, seed_from_os};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// A source of random numbers. Functions that draw take NULL for the calling thread's own, which is seeded by the system.
pub struct THGenerator {
    generator: Mutex<Generator>,
}

thread_local! {
    static OWN: RefCell<Generator> = RefCell::new(Generator::new(seed_from_os()));
}

/// Calls `f` with the generator meant: the handle's, or the thread's own for NULL.
pub fn with<R>(handle: Option<&THGenerator>, f: impl FnOnce(&mut Generator) -> R) -> Result<R> {
    match handle {
        Some(handle) => Ok(f(&mut handle.generator.lock().unwrap_or_else(PoisonError::into_inner))),
        None => match OWN.try_with(|own| own.try_borrow_mut().map(|mut own| f(&mut own))) {
            Ok(Ok(result)) => Ok(result),
            _ => bail!(Internal, "the generator of this thread is gone or in use"),
        },
    }
}

/// A new handle.
pub fn new_generator(generator: Generator) -> Result<*mut THGenerator> {
    let Some(place) = alloc::allocate(size_of::<THGenerator>()) else { bail!(NoMem, "out of memory") };
    let place = place.cast::<THGenerator>();
    // SAFETY: a fresh block of this size, aligned to 16.
    unsafe { place.write(THGenerator { generator: Mutex::new(generator) }) };
    Ok(place.as_ptr())
}
