//! The pointer from each thread to its data: one pointer in thread-local storage, initially [`NOBODY`].
//!
//! In a shared library, access to rustc's thread-locals calls `__tls_get_addr`, which takes half the time of a small allocation. If the C
//! library lets libraries that are loaded late use the static TLS block, the pointer is stored there instead (initial-exec model).

use super::thread::{NOBODY, Thread};
use std::cell::Cell;

/// The data of the calling thread, or [`NOBODY`].
#[inline(always)]
pub(super) fn get() -> &'static Thread {
    with(Cell::get)
}

/// Sets the data of the calling thread. Returns the previous data.
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
    // SAFETY: the address of a thread-local variable (initial-exec model) is the thread pointer plus the offset that the loader wrote into
    // the GOT. It never changes for a thread. The variable holds a reference, like the Cell, and only its own thread accesses it.
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
    // A thread-local without run-time initialisation and destructor: access only computes an address.
    thread_local!(static CURRENT: Cell<&'static Thread> = const { Cell::new(&NOBODY) });
    CURRENT.with(f)
}
