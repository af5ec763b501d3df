//! Handles of random generators.

use crate::alloc::{self, fork::ForkMutex};
use crate::error::{Result, bail};
use crate::random::{Generator, Philox, seed_from_os};
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A source of random numbers. For functions that draw random numbers, NULL means the calling thread's generator. Several threads may use
/// one generator; their calls are serialised.
pub struct THGenerator {
    generator: ForkMutex<Generator>,
    /// The thread that is drawing, as returned by [`this_thread`]; 0 if no thread is.
    thread: AtomicUsize,
}

thread_local! {
    static OWN: RefCell<Philox> = RefCell::new(Philox::new(seed_from_os()));
    static THREAD: u8 = const { 0 };
}

/// Returns a number that is unique among the running threads; 0 while the thread ends.
fn this_thread() -> usize {
    THREAD.try_with(|mark| &raw const *mark as usize).unwrap_or(0)
}

/// Clears the drawing thread when dropped, also after a panic.
struct Drawing<'a>(&'a AtomicUsize);

impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        self.0.store(0, Relaxed);
    }
}

/// Calls `f` with the generator of a handle, or with the thread's generator for `None`. If `f` fails, the generator is restored.
pub fn with<R>(handle: Option<&THGenerator>, f: impl FnOnce(&mut Generator) -> Result<R>) -> Result<R> {
    let Some(handle) = handle else {
        return match OWN.try_with(|own| own.try_borrow_mut().map(|mut own| with_own(&mut own, f))) {
            Ok(Ok(result)) => result,
            _ => bail!(Internal, "the generator of this thread is gone or in use"),
        };
    };
    let thread = this_thread();
    // A hook or an allocator of the caller may draw numbers while a fill allocates memory, and would deadlock.
    if thread != 0 && handle.thread.load(Relaxed) == thread {
        bail!(Internal, "this thread is drawing from the generator already")
    }
    let mut generator = handle.generator.lock();
    handle.thread.store(thread, Relaxed);
    let _drawing = Drawing(&handle.thread);
    let before = generator.clone();
    let result = f(&mut generator);
    if result.is_err() {
        *generator = before;
    }
    result
}

fn with_own<R>(own: &mut Philox, f: impl FnOnce(&mut Generator) -> Result<R>) -> Result<R> {
    let mut generator = Generator::Philox(*own);
    let result = f(&mut generator)?;
    if let Generator::Philox(stream) = generator {
        *own = stream;
    }
    Ok(result)
}

/// Returns a new handle.
pub fn new_generator(generator: Generator) -> Result<*mut THGenerator> {
    let Some(place) = alloc::allocate(size_of::<THGenerator>()) else { bail!(NoMem, "out of memory") };
    let place = place.cast::<THGenerator>();
    // SAFETY: the block is fresh, has this size, and is aligned to 16 bytes.
    unsafe { place.write(THGenerator { generator: ForkMutex::new(generator), thread: AtomicUsize::new(0) }) };
    Ok(place.as_ptr())
}
