//! The signal masks of threads that read and write files.

use crate::system;

/// Blocks the signals of failed writes in this thread until the value is dropped. Other signals arrive as usual.
///
/// With these signals blocked, a write returns an error if it exceeds the size limit of files or if a pipe has no reader. Otherwise the
/// signal would end the process.
pub struct Blocked {
    before: libc::sigset_t,
}

/// The signals of failed writes.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGXFSZ, libc::SIGPIPE];

impl Blocked {
    /// Blocks the signals of failed writes.
    pub fn of_writes() -> Blocked {
        // SAFETY: sets of signals are plain bits. The calls fill them.
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
        // SAFETY: as above. Pending signals of failed writes are consumed before the old mask is restored, unless the program blocks these
        // signals itself.
        unsafe {
            let mut ours = std::mem::zeroed();
            libc::sigemptyset(&mut ours);
            for signal in OF_WRITES {
                if libc::sigismember(&self.before, signal) == 0 {
                    libc::sigaddset(&mut ours, signal);
                }
            }
            system::take_pending(&ours);
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}

/// Calls `start` with all signals blocked, except signals of faults. Threads that `start` creates inherit this mask. So signal handlers of
/// the program run only on threads of the program.
pub fn without(start: &mut dyn FnMut()) {
    // SAFETY: as above.
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
