//! Threads for large files.
//!
//! Each large file gets a new pool, which ends with the call. Creating a pool takes 0.1 ms, reading a large file tens of milliseconds. No
//! thread remains that keeps a process alive, or for which a child of `fork` would wait. The pool of a program that uses rayon is not used.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of threads of a pool. 0 means one for each processor.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The greatest number of threads of a pool. More threads do not read faster.
const MOST: usize = 16;

/// A function that calls its argument, which starts threads. It first sets the state that the threads inherit.
pub type Start = fn(&mut dyn FnMut());

thread_local! {
    static START: Cell<Start> = const { Cell::new(|start| start()) };
}

/// Sets the number of threads that read and write a large file. 0 means one for each processor. The calling thread starts them through
/// `start`.
pub fn set_threads(count: usize, start: Start) {
    THREADS.store(count, Relaxed);
    START.set(start);
}

/// Returns a pool; `None` if one thread is sufficient or threads cannot be started.
fn pool() -> Option<ThreadPool> {
    let threads = match THREADS.load(Relaxed) {
        0 => std::thread::available_parallelism().map_or(1, NonZero::get),
        count => count,
    };
    if threads == 1 {
        return None;
    }
    let mut pool = None;
    START.get()(&mut || {
        pool = ThreadPoolBuilder::new().num_threads(threads.min(MOST)).thread_name(|i| format!("thorn-files {i}")).build().ok()
    });
    pool
}

/// Returns the results of `work` for each item, in the order of the items. The calling thread does the work for a single item, and for all
/// items if there is no pool.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    match if items.len() > 1 { pool() } else { None } {
        Some(pool) => pool.install(|| items.into_par_iter().with_max_len(1).map(work).collect()),
        None => items.into_iter().map(work).collect(),
    }
}
