//! Threads for large files.
//!
//! A pool is made for a file and ends with it: making one takes a tenth of a millisecond, large files take tens. So no thread is left that
//! could keep a process alive, a child of `fork` waits for none, and a program that uses rayon has its own pool for itself.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many threads a pool has; 0 for as many as there are processors.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// More threads than this read no faster.
const MOST: usize = 16;

/// Calls its argument, which makes threads, in a state that the threads should inherit.
pub type Start = fn(&mut dyn FnMut());

thread_local! {
    static START: Cell<Start> = const { Cell::new(|start| start()) };
}

/// Sets how many threads read and write a large file; 0 stands for as many as there are processors. The calling thread makes them within
/// `start`.
pub fn set_threads(count: usize, start: Start) {
    THREADS.store(count, Relaxed);
    START.set(start);
}

/// A pool. `None` for one thread, or where threads cannot be made.
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

/// The results of `work` for each of the items, in their order. One item alone is worked on by the calling thread, and all are where
/// there are no threads.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    match if items.len() > 1 { pool() } else { None } {
        Some(pool) => pool.install(|| items.into_par_iter().with_max_len(1).map(work).collect()),
        None => items.into_iter().map(work).collect(),
    }
}
