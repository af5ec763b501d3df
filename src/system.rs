//! The operating system. Each file of this folder has the same functions for one system, so that a port to another system is one more file.
//! Linux and macOS also use the functions in `unix`.
//!
//! Other modules call no function of the system, only C's standard library, such as `malloc`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(target_os = "linux")))]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(all(unix, not(target_os = "linux")))]
pub use macos::*;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// The mode in which a file or an object of shared memory is opened for a mapping.
#[derive(Clone, Copy, PartialEq)]
pub enum Access {
    /// It exists, and is only read.
    Read,
    /// It exists, and is read and written.
    Write,
    /// It is read and written, and created if it does not exist.
    Create,
    /// It is created, and must not exist yet.
    New,
}

/// The work of a thread that [`spawn`] starts.
pub trait Main: Sync {
    /// Runs on the new thread, which then ends. It must not unwind.
    fn run(&self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_memory() {
        assert!(memory() > 16 << 20);
        let [free, all] = bytes_of_machine();
        assert!(free > 0 && free <= all && all >= memory());
    }
}
