//! A bar on the standard error, on terminals, for what takes long.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A task that takes less time has no bar.
const SHORT: Duration = Duration::from_millis(500);

/// The progress of a task, in bytes.
pub struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: AtomicBool,
}

impl Progress {
    /// Nothing of `bytes` yet.
    pub fn new(bytes: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {decimal_bytes}/{decimal_total_bytes}, {eta} left") {
            bar.set_style(style);
        }
        Progress { bar, since: Instant::now(), shown: AtomicBool::new(false) }
    }

    /// So many bytes more are done.
    pub fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.since.elapsed() > SHORT && !self.shown.swap(true, Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
