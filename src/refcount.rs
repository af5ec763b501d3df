//! Reference counts. They are atomic, but while the process has a single thread plain additions are used, which take a fifth of the time.

use std::sync::atomic::{AtomicI32, Ordering, fence};

/// A count that has reached this value is never decremented: the handle leaks instead of being freed while it is in use. Threads that
/// decrement at the same moment as the limit is passed may each lower it by one. The distance to `i32::MAX` is larger than that.
const STUCK: i32 = i32::MAX - (1 << 16);

/// Adds a reference to a counted handle.
///
/// # Safety
/// `refcount` must be the count of a live handle.
#[inline(always)]
pub(crate) unsafe fn retain(refcount: *mut i32, counted: bool) {
    if counted {
        // SAFETY: the caller guarantees a live handle's count.
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

/// Gives up a reference. Returns true if it was the last.
///
/// # Safety
/// `refcount` must be the count of a live handle.
#[inline(always)]
pub(crate) unsafe fn release(refcount: *mut i32, counted: bool) -> bool {
    // SAFETY: the caller guarantees a live handle's count.
    let count = unsafe { counter(refcount) };
    // With one reference no subtraction is needed, because no other holder can change the count.
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
/// `refcount` must be the count of a live handle.
pub(crate) unsafe fn count(refcount: *mut i32) -> i32 {
    // SAFETY: the caller guarantees a live handle's count.
    unsafe { counter(refcount) }.load(Ordering::Relaxed)
}

/// # Safety
/// `refcount` must be valid for `'a`.
#[inline(always)]
unsafe fn counter<'a>(refcount: *mut i32) -> &'a AtomicI32 {
    // SAFETY: the caller guarantees that the i32 is valid and aligned. It is only changed by this module.
    unsafe { AtomicI32::from_ptr(refcount) }
}

/// Returns true if the process has a single thread. glibc clears its variable `__libc_single_threaded` before it creates the first thread.
/// A thread that was not created by the C library must not use handles. Returns false if the C library has no such variable.
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)))]
#[inline(always)]
fn alone() -> bool {
    let flag: *const i8;
    // SAFETY: the loader fills the table with the variable's address, or null if the C library lacks the variable. The address never
    // changes.
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
        // SAFETY: the count is a local variable.
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
        // SAFETY: the count is a local variable.
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
        // The test harness runs each test in a new thread.
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
