//! A child of `fork`, which has no threads of its parent, reads large files. No threads remain afterwards.

use std::io::Write;
use thorn_files::open;

/// Reads a table of several chunks.
fn reads() -> bool {
    let file = "1.5,2\n".repeat(1_000_000).into_bytes();
    let contents = open(&file).unwrap();
    let mut to = vec![0; contents.storages[0].bytes().unwrap()];
    contents.read(&file, 0, &mut to).unwrap();
    to.as_chunks::<8>().0.iter().enumerate().all(|(i, &bytes)| f64::from_le_bytes(bytes) == [1.5, 2.0][i % 2])
}

/// Returns true if the threads of pools end within ten seconds.
fn threads_end() -> bool {
    let names = || std::fs::read_dir("/proc/self/task").unwrap().map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")));
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !names().any(|name| name.is_ok_and(|name| name.starts_with("thorn-files")))
    })
}

#[test]
fn a_child_of_fork_has_a_pool_of_its_own() {
    assert!(reads());
    // SAFETY: the child calls functions that do not depend on threads of the parent, and ends by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: alarm and _exit touch no memory.
        unsafe { libc::alarm(20) };
        let right = std::panic::catch_unwind(|| reads() && threads_end()).unwrap_or(false);
        let _ = std::io::stdout().flush();
        // SAFETY: as above.
        unsafe { libc::_exit(if right { 0 } else { 1 }) };
    }
    assert!(child > 0);
    let mut status = -1;
    // SAFETY: `status` is valid to write to.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "the child ended with status {status:#x}");
    assert!(reads() && threads_end());
}
