//! Threads, and a function that the system calls at the end of a thread.
//!
//! Threads are started by the system and not by std, because std's threads and their handles allocate memory infallibly.

use crate::system::Main;
use std::ffi::c_void;
use std::io::Write;
use std::mem::transmute;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{from_ref, null, null_mut};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};
use windows_sys::Win32::System::Threading::{
    CreateThread, FLS_OUT_OF_INDEXES, FlsAlloc, FlsFree, FlsSetValue, GetCurrentThread, GetCurrentThreadId, INFINITE,
    STACK_SIZE_PARAM_IS_A_RESERVATION, SetThreadDescription, WaitForSingleObject,
};

/// A running thread.
pub struct Thread(OwnedHandle);

unsafe extern "system" fn begin<M: Main>(main: *mut c_void) -> u32 {
    // SAFETY: `spawn` passes a value that outlives this thread.
    unsafe { &*main.cast::<M>() }.run();
    0
}

/// Keeps the library loaded until the process ends, because threads may run its code later. Returns false if the system refuses.
fn stay_loaded() -> bool {
    let mut module = null_mut();
    let here = stay_loaded as fn() -> bool as *const u16;
    // SAFETY: the address is inside this library.
    unsafe { GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN, here, &mut module) != 0 }
}

/// Starts a thread with `stack` bytes of stack. Returns `None` if the system refuses.
///
/// # Safety
/// `main` must not be moved or freed while the thread runs.
pub unsafe fn spawn<M: Main>(main: &M, stack: usize) -> Option<Thread> {
    if !stay_loaded() {
        return None;
    }
    let argument = from_ref(main).cast();
    // SAFETY: the caller keeps this function's contract. A new handle has no other owner.
    unsafe {
        let thread = CreateThread(null(), stack, Some(begin::<M>), argument, STACK_SIZE_PARAM_IS_A_RESERVATION, null_mut());
        (!thread.is_null()).then(|| Thread(OwnedHandle::from_raw_handle(thread)))
    }
}

impl Thread {
    /// Waits until the thread has ended.
    pub fn join(self) {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) };
    }
}

/// Names the calling thread for debuggers.
pub fn name_thread(index: usize) {
    // The last byte stays 0 and ends the name.
    let mut name = [0; 16];
    _ = write!(&mut name[..15], "thorn-{index}");
    // SAFETY: the name ends with 0.
    unsafe { SetThreadDescription(GetCurrentThread(), name.map(u16::from).as_ptr()) };
}

/// A number that identifies the calling thread among those that run, never 0.
pub fn thread_id() -> usize {
    // SAFETY: the function has no preconditions.
    unsafe { GetCurrentThreadId() as usize }
}

/// 1 + the index under which threads store their function for [`thread_ends`]; 0 before the first thread needs it.
static INDEX: AtomicU32 = AtomicU32::new(0);

#[link(name = "ntdll")]
unsafe extern "system" {
    fn RtlDllShutdownInProgress() -> u8;
}

/// Calls the function that the thread has stored, unless the process ends: the system has then ended all other threads, and they may have
/// held locks.
unsafe extern "system" fn thread_ends(end: *const c_void) {
    // SAFETY: only `at_thread_end` stores values.
    unsafe {
        if RtlDllShutdownInProgress() == 0 {
            transmute::<*const c_void, fn()>(end)();
        }
    }
}

fn index() -> Option<u32> {
    if INDEX.load(Acquire) == 0 {
        // SAFETY: the library stays loaded, so that the callback stays valid.
        let index = if stay_loaded() { unsafe { FlsAlloc(Some(thread_ends)) } } else { FLS_OUT_OF_INDEXES };
        if index == FLS_OUT_OF_INDEXES {
            return None;
        }
        if INDEX.compare_exchange(0, index + 1, AcqRel, Acquire).is_err() {
            // SAFETY: another thread was first. No thread has used this index.
            unsafe { FlsFree(index) };
        }
    }
    Some(INDEX.load(Acquire) - 1)
}

/// Makes the calling thread call `end` when it ends. The function is the same in all calls. Returns false if the system refuses.
pub fn at_thread_end(end: fn()) -> bool {
    // SAFETY: the value is a function.
    index().is_some_and(|index| unsafe { FlsSetValue(index, end as *const c_void) } != 0)
}

/// Does nothing. The system ends all other threads before the handlers of a library run, and the library is not unloaded earlier.
pub fn at_exit(_end: extern "C" fn()) {}

/// Does nothing, because a process cannot fork.
pub fn at_fork(_prepare: unsafe extern "C" fn(), _parent: unsafe extern "C" fn(), _child: unsafe extern "C" fn()) {}
