//! Signals while files are read and written.

/// Keeps the signals of failed writes away from this thread until the value is dropped. Other signals arrive as usual.
///
/// A write that fails because a file is beyond the limit of its size, or because nobody reads a pipe, returns an error. The signal would
/// end the process.
pub struct Blocked {
    before: libc::sigset_t,
}

/// The signals of writes that fail.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGXFSZ, libc::SIGPIPE];

impl Blocked {
    /// Blocks the signals of writes that fail.
    pub fn of_writes() -> Blocked {
        // SAFETY: sets of signals are plain bits, which the calls fill.
        unsafe {
            let (mut set, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&mut set);
            for signal in OF_WRITES {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
            Blocked { before }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: as above. The signals of writes that came meanwhile are taken before signals are let through again, unless the program
        // blocks them itself.
        unsafe {
            let mut ours = std::mem::zeroed();
            libc::sigemptyset(&mut ours);
            for signal in OF_WRITES {
                if libc::sigismember(&self.before, signal) == 0 {
                    libc::sigaddset(&mut ours, signal);
                }
            }
            while libc::sigtimedwait(&ours, std::ptr::null_mut(), &now) > 0 {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}

/// Calls `start`. Threads that `start` makes take no signals but those of faults, because handlers are the program's and run on its own
/// threads.
pub fn without(start: &mut dyn FnMut()) {
    // SAFETY: as above; a new thread inherits the mask of this one.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT, libc::SIGTRAP] {
            libc::sigdelset(&mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before);
        start();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
    }
}
