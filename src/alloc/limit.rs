//! The soft limit: a garbage-collected host learns that live memory grows, and may collect.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr};

/// The host's function: the thread that allocates calls it with the live bytes.
///
/// It may release memory and allocate; it must return, neither unwind nor jump out. No lock is held meanwhile but that of a generator that
/// is drawn from: drawing from it in the hook is an error.
pub type THMemoryHook = Option<unsafe extern "C" fn(ctx: *mut c_void, live: i64)>;

struct Hook {
    call: unsafe extern "C" fn(ctx: *mut c_void, live: i64),
    ctx: *mut c_void,
    older: *mut Hook,
}

/// All hooks ever set, newest first. They are never freed: another thread may be about to call one.
static HOOKS: AtomicPtr<Hook> = AtomicPtr::new(null_mut());
/// The one in force.
static CURRENT: AtomicPtr<Hook> = AtomicPtr::new(null_mut());
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
/// The live bytes above which the hook is due next: the limit, or a tenth above the last call.
static NEXT: AtomicI64 = AtomicI64::new(i64::MAX);
/// True if the hook was due since [`pressure`] was asked, be there a hook or not.
static DUE: AtomicBool = AtomicBool::new(false);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Has `hook(ctx, live)` called when the live bytes rise above `bytes`, again after each further tenth and after every new rise from below,
/// and once before an allocation fails. With `bytes` <= 0 only the latter; with no hook, [`pressure`] alone tells.
pub fn set_soft_limit(bytes: i64, hook: THMemoryHook, ctx: *mut c_void) {
    CURRENT.store(hook.map_or(null_mut(), |call| find_or_add(call, ctx)), Release);
    let limit = if bytes > 0 { bytes } else { i64::MAX };
    LIMIT.store(limit, Relaxed);
    NEXT.store(limit, Relaxed);
    DUE.store(false, Relaxed);
}

/// Returns true if the hook was due, or would have been, since this was last asked or the limit was set.
pub fn pressure() -> bool {
    // Where it was not, which is nearly always, nothing is written that other threads would wait for.
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
    // If two threads set hooks at once, the hook of the slower one is not found again, which only costs its memory.
    let _ = HOOKS.compare_exchange(newest, fresh, AcqRel, Relaxed);
    fresh
}

/// The sum of live bytes rose to about `live`; the hook is told the `exact` one.
pub(super) fn rose(live: i64, exact: fn() -> i64) {
    let next = NEXT.load(Relaxed);
    if live <= next {
        return;
    }
    // Of several threads that cross the mark together, one calls. If this thread is already in the hook, that call suffices.
    let after = live.saturating_add((live / 10).max(1));
    if !INSIDE.get() && NEXT.compare_exchange(next, after, AcqRel, Relaxed).is_ok() {
        call(exact);
    }
}

/// The sum of live bytes fell to `live`.
pub(super) fn fell(live: i64) {
    let limit = LIMIT.load(Relaxed);
    if live < limit && NEXT.load(Relaxed) != limit {
        NEXT.store(limit, Relaxed);
    }
}

/// Calls the hook with the `live` bytes, if there is one and this thread is not in it: the system has refused memory.
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
    // SAFETY: whoever set the hook promised a function that takes this context, on any thread, and returns.
    unsafe { (hook.call)(hook.ctx, live()) };
    INSIDE.set(false);
}
