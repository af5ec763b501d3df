//! A progress bar on the standard error for long tasks, on terminals only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Shorter tasks have no bar.
const SHORT: Duration = Duration::from_millis(500);

/// The progress of a task, in bytes or in runs.
pub struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: AtomicBool,
}

impl Progress {
    /// Starts a task of `bytes` bytes.
    pub fn new(bytes: u64) -> Progress {
        Progress::with_style(bytes, "{bar:40} {decimal_bytes}/{decimal_total_bytes}, {eta} left")
    }

    /// Starts a task of `runs` runs.
    pub fn of_runs(runs: u64) -> Progress {
        Progress::with_style(runs, "{bar:40} {pos}/{len} runs, {eta} left")
    }

    fn with_style(length: u64, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar, since: Instant::now(), shown: AtomicBool::new(false) }
    }

    /// Adds completed bytes or runs.
    pub fn add(&self, completed: u64) {
        self.bar.inc(completed);
        if self.since.elapsed() > SHORT && !self.shown.swap(true, Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
