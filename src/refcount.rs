//! Reference counts: atomic, but for as long as the process has a single thread plain additions, which take a fifth of the time.

use std::sync::atomic::{AtomicI32, Ordering, fence};

/// A count that has come so far stays: the handle lives for ever, rather than be freed under those who hold it. Threads that count past
/// the end at the same moment may carry it back by one each, which the room up to `i32::MAX` allows for.
const STUCK: i32 = i32::MAX - (1 << 16);

/// Adds a reference to a counted handle.
///
/// # Safety
/// `refcount` must be the count of a live handle.
#[inline(always)]
pub(crate) unsafe fn retain(refcount: *mut i32, counted: bool) {
    if counted {
        // SAFETY: the caller's.
        let count = unsafe { counter(refcount) };
        let held = if alone() {
            let held = count.load(Ordering::Relaxed);
            count.store(held.wrapping_add(1), Ordering::Relaxed);
            held
        } else {
            count.fetch_add(1, Ordering::Relaxed)
        };
        if held >= STUCK {
            count.store(i32::MAX, Ordering::Relaxed);
        }
    }
}

/// Gives up a reference; true if it was the last.
///
/// # Safety
/// `refcount` must be the count of a live handle.
#[inline(always)]
pub(crate) unsafe fn release(refcount: *mut i32, counted: bool) -> bool {
    // SAFETY: the caller's.
    let count = unsafe { counter(refcount) };
    // The only holder needs no subtraction: nobody else is left to race with.
    let held = count.load(Ordering::Acquire);
    if !counted || held == 1 {
        return counted;
    }
    if held >= STUCK {
        return false;
    }
    if alone() {
        count.store(held.wrapping_sub(1), Ordering::Relaxed);
        return false;
    }
    if count.fetch_sub(1, Ordering::Release) == 1 {
        fence(Ordering::Acquire);
        return true;
    }
    false
}

/// The number of references.
///
/// # Safety
/// As for [`retain`].
pub(crate) unsafe fn count(refcount: *mut i32) -> i32 {
    // SAFETY: the caller's.
    unsafe { counter(refcount) }.load(Ordering::Relaxed)
}

/// # Safety
/// `refcount` must be valid for `'a`.
#[inline(always)]
unsafe fn counter<'a>(refcount: *mut i32) -> &'a AtomicI32 {
    // SAFETY: an aligned i32 that is only ever changed through this.
    unsafe { AtomicI32::from_ptr(refcount) }
}

/// Returns true if no other thread exists. glibc clears its `__libc_single_threaded` before the first thread is created; who creates
/// threads without the C library must not use it either. Where there is no such variable the answer is no.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)))]
#[inline(always)]
fn alone() -> bool {
    let flag: *const i8;
    // SAFETY: the address comes from the table that the loader fills, null where the C library lacks the variable; it never moves.
    unsafe {
        std::arch::asm!(
            ".weak __libc_single_threaded",
            "mov {0}, qword ptr [rip + __libc_single_threaded@GOTPCREL]",
            out(reg) flag,
            options(pure, nomem, nostack, preserves_flags),
        );
        !flag.is_null() && flag.read_volatile() != 0
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri))))]
#[inline(always)]
fn alone() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_release_says_so() {
        let mut refcount = 1;
        // SAFETY: a count of our own.
        unsafe {
            retain(&mut refcount, true);
            assert_eq!(count(&mut refcount), 2);
            assert!(!release(&mut refcount, true));
            assert!(release(&mut refcount, true));
            assert!(!release(&mut refcount, false), "what is not counted is never given up");
        }
    }

    #[test]
    fn a_count_at_the_end_stays_there() {
        let mut refcount = i32::MAX - 1;
        // SAFETY: a count of our own.
        unsafe {
            for _ in 0..3 {
                retain(&mut refcount, true);
                assert_eq!(count(&mut refcount), i32::MAX);
            }
            for _ in 0..100_000 {
                assert!(!release(&mut refcount, true));
            }
        }
        assert_eq!(refcount, i32::MAX);
    }

    #[test]
    fn threads_that_meet_at_the_end_free_nothing() {
        let mut refcount = i32::MAX - 100;
        let shared = &raw mut refcount as usize;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..50_000 {
                        // SAFETY: the count outlives the scope.
                        unsafe {
                            retain(shared as *mut i32, true);
                            assert!(!release(shared as *mut i32, true));
                        }
                    }
                });
            }
        });
        assert!(refcount >= STUCK, "{refcount}");
    }

    #[test]
    fn threads_make_counts_atomic() {
        // The test harness runs tests in threads of their own.
        assert!(!alone());
        let mut refcount = 1;
        let shared = &raw mut refcount as usize;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                // SAFETY: the count outlives the scope.
                scope.spawn(move || (0..10_000).for_each(|_| unsafe { retain(shared as *mut i32, true) }));
            }
        });
        assert_eq!(refcount, 40_001);
    }
}
