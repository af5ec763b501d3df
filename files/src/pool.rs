//! Threads for large files. They are the library's own: a program that uses rayon has another pool.

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::{Arc, Mutex};

/// The pool, and the process that made it.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// More threads than this read no faster.
const MOST: usize = 16;

/// The pool of this process. `None` where there is one processor, or threads cannot be made.
fn pool() -> Option<Arc<ThreadPool>> {
    // A thread that is not in the child of a fork may have locked it for ever: nobody waits.
    let mut held = POOL.try_lock().ok()?;
    let process = std::process::id();
    if let Some((owner, pool)) = &*held
        && *owner == process
    {
        return Some(Arc::clone(pool));
    }
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
    if threads == 1 {
        return None;
    }
    let name = |i| format!("thorn-files {i}");
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build().ok()?);
    // The threads of the parent's pool are not in this process: dropping the pool could wait for them.
    std::mem::forget(held.replace((process, Arc::clone(&pool))));
    Some(pool)
}

/// The results of `work` for each of the items, in their order. One item alone is worked on by the calling thread, and all are where
/// there are no threads.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    match if items.len() > 1 { pool() } else { None } {
        Some(pool) => pool.install(|| items.into_par_iter().with_max_len(1).map(work).collect()),
        None => items.into_iter().map(work).collect(),
    }
}
