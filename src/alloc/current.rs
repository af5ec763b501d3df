//! Where each thread finds what it owns: one pointer in thread-local storage, [`NOBODY`] at first.
//!
//! In a shared library rustc's thread-locals cost a call of `__tls_get_addr`, half the time of a small allocation. Where the C library
//! lets libraries that are loaded late have a few bytes in the block that the thread register points to, the pointer lives there.

use super::thread::{NOBODY, Thread};
use std::cell::Cell;

/// Returns the lists, counters and text of the calling thread, or [`NOBODY`].
#[inline(always)]
pub(super) fn get() -> &'static Thread {
    with(Cell::get)
}

/// Makes `thread` the calling thread's and returns what was.
pub(super) fn replace(thread: &'static Thread) -> &'static Thread {
    with(|current| current.replace(thread))
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux", target_env = "gnu", not(miri)))]
std::arch::global_asm!(
    ".pushsection .tdata.thorn_current, \"awT\", @progbits",
    ".p2align 3",
    ".globl thorn_current",
    ".hidden thorn_current",
    ".type thorn_current, @object",
    ".size thorn_current, 8",
    "thorn_current: .quad {nobody}",
    ".popsection",
    nobody = sym NOBODY,
);

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux", target_env = "gnu", not(miri)))]
#[inline(always)]
fn with<R>(f: impl FnOnce(&Cell<&'static Thread>) -> R) -> R {
    let current: *const Cell<&'static Thread>;
    // SAFETY: the address of a thread-local (initial-exec model): the thread pointer plus the offset that the loader wrote into the table.
    // It is the same whenever this thread asks. The variable above holds a reference, as a Cell does, and only its thread comes by here.
    unsafe {
        std::arch::asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + thorn_current@GOTTPOFF]",
            out(reg) current,
            options(pure, nomem, nostack),
        );
        f(&*current)
    }
}

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", target_os = "linux", target_env = "gnu", not(miri))))]
#[inline(always)]
fn with<R>(f: impl FnOnce(&Cell<&'static Thread>) -> R) -> R {
    // Neither initialised at run time nor destroyed: access computes an address and no more.
    thread_local!(static CURRENT: Cell<&'static Thread> = const { Cell::new(&NOBODY) });
    CURRENT.with(f)
}
