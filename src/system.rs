//! The operating system. Each file of this folder has the same functions for one system, so that a port to another system is one more file.
//!
//! Code that works on every Unix calls libc directly.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod macos;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use macos::*;

use std::fs::File;
use std::io;

/// Grows a file to at least `to` bytes without reserving the space.
fn grow_sparse(file: &File, to: u64) -> io::Result<()> {
    if file.metadata()?.len() < to { file.set_len(to) } else { Ok(()) }
}

/// The physical memory of the machine in bytes.
fn physical() -> usize {
    // SAFETY: sysconf only reads its argument.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
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
