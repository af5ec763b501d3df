//! The soft limit: tells a garbage-collected host that live memory grows, so that it may collect.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr};

/// A function of the program, called with the live bytes on the thread that allocates.
///
/// The function may free memory and allocate. It must return, and must not throw or longjmp. No lock is held during the call, except the
/// lock of a generator that numbers are being drawn from. Drawing from that generator in the hook is an error.
pub type THMemoryHook = Option<unsafe extern "C" fn(ctx: *mut c_void, live: i64)>;

struct Hook {
    call: unsafe extern "C" fn(ctx: *mut c_void, live: i64),
    ctx: *mut c_void,
    older: *mut Hook,
}

/// All hooks ever set, newest first. They are never freed: another thread may be about to call one.
static HOOKS: AtomicPtr<Hook> = AtomicPtr::new(null_mut());
/// The current hook, or NULL.
static CURRENT: AtomicPtr<Hook> = AtomicPtr::new(null_mut());
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
/// The number of live bytes above which the hook is called next: the limit, or a tenth above the last call.
static NEXT: AtomicI64 = AtomicI64::new(i64::MAX);
/// True if the hook was due since the last call of [`pressure`], also if no hook is set.
static DUE: AtomicBool = AtomicBool::new(false);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Sets the hook. `hook(ctx, live)` is called when the live bytes rise above `bytes`, again after each further tenth and after every new
/// rise from below, and once before an allocation fails. If `bytes` <= 0, it is called only before an allocation fails. Without a hook,
/// only [`pressure`] reports these events.
pub fn set_soft_limit(bytes: i64, hook: THMemoryHook, ctx: *mut c_void) {
    CURRENT.store(hook.map_or(null_mut(), |call| find_or_add(call, ctx)), Release);
    let limit = if bytes > 0 { bytes } else { i64::MAX };
    LIMIT.store(limit, Relaxed);
    NEXT.store(limit, Relaxed);
    DUE.store(false, Relaxed);
}

/// Returns true if the hook was due since the last call, or since the limit was set.
pub fn pressure() -> bool {
    // The flag is usually false. Then nothing is written, so that threads do not contend for the cache line.
    DUE.load(Relaxed) && DUE.swap(false, Relaxed)
}

fn find_or_add(call: unsafe extern "C" fn(*mut c_void, i64), ctx: *mut c_void) -> *mut Hook {
    let newest = HOOKS.load(Acquire);
    let mut hook = newest;
    // SAFETY: hooks are never freed.
    while let Some(set) = unsafe { hook.as_ref() } {
        if std::ptr::fn_addr_eq(set.call, call) && set.ctx == ctx {
            return hook;
        }
        hook = set.older;
    }
    let fresh = Box::into_raw(Box::new(Hook { call, ctx, older: newest }));
    // If two threads set hooks at the same time, the hook of the slower one stays out of the list, which only wastes its memory.
    let _ = HOOKS.compare_exchange(newest, fresh, AcqRel, Relaxed);
    fresh
}

/// Calls the hook if it is due. `live` is the approximate sum of live bytes after a rise; the hook receives the `exact` one.
pub(super) fn rose(live: i64, exact: fn() -> i64) {
    let next = NEXT.load(Relaxed);
    if live <= next {
        return;
    }
    // If several threads cross the mark at the same time, one of them calls the hook. A thread that is already inside the hook does not
    // call it.
    let after = live.saturating_add((live / 10).max(1));
    if !INSIDE.get() && NEXT.compare_exchange(next, after, AcqRel, Relaxed).is_ok() {
        call(exact);
    }
}

/// Resets the next mark to the limit if `live`, the sum of live bytes after a fall, is below the limit.
pub(super) fn fell(live: i64) {
    let limit = LIMIT.load(Relaxed);
    if live < limit && NEXT.load(Relaxed) != limit {
        NEXT.store(limit, Relaxed);
    }
}

/// Calls the hook, because the system has refused memory; does nothing inside the hook.
pub(super) fn request_memory(live: fn() -> i64) {
    if !INSIDE.get() {
        call(live);
    }
}

fn call(live: fn() -> i64) {
    DUE.store(true, Relaxed);
    // SAFETY: hooks are never freed.
    let Some(hook) = (unsafe { CURRENT.load(Acquire).as_ref() }) else { return };
    INSIDE.set(true);
    // SAFETY: the caller of `set_soft_limit` guarantees that the function accepts this context, on any thread, and returns.
    unsafe { (hook.call)(hook.ctx, live()) };
    INSIDE.set(false);
}
