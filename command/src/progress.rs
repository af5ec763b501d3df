//! A progress bar on the standard error for long tasks, on terminals only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shorter tasks have no bar.
const SHORT: Duration = Duration::from_millis(500);

/// The progress of a task, in bytes.
pub struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: AtomicBool,
}

impl Progress {
    /// Starts a task of `bytes` bytes.
    pub fn new(bytes: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {decimal_bytes}/{decimal_total_bytes}, {eta} left") {
            bar.set_style(style);
        }
        Progress { bar, since: Instant::now(), shown: AtomicBool::new(false) }
    }

    /// Adds completed bytes.
    pub fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.since.elapsed() > SHORT && !self.shown.swap(true, Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
