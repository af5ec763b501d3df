//! Memory: the caching allocator of all storages, TH's allocator interface, and the allocators that implement it.
//!
//! Released blocks are kept for reuse, because fresh pages cost more than most operations. Blocks up to 16 KiB are kept in lists of the
//! thread that releases them (at most 1.5 MiB a thread). Larger blocks, and blocks that do not fit into the lists, are kept in one cache
//! for all threads. `TH_CACHE_LIMIT` bounds this cache, in bytes; the default is an eighth of the memory, at most 1 GiB. With
//! `TH_CACHE_LIMIT=0` nothing is kept and each block has its exact size, for valgrind and AddressSanitizer.

mod cache;
mod class;
mod counters;
mod current;
mod foreign;
pub mod fork;
mod heap;
mod kept;
mod limit;
mod lists;
mod local;
mod map;
mod provision;
mod reserve;
mod shared;
mod source;
mod stats;
mod text;
mod thread;

pub use foreign::{THDeleter, foreign};
pub use heap::{THDefaultAllocator, th_alloc, th_free, th_realloc};
pub use kept::keep;
pub use limit::{THMemoryHook, pressure, set_soft_limit};
pub use lists::{boxed, collect, list};
pub use local::text as thread_text;
pub use map::*;
pub use provision::provided;
pub use shared::{THRefcountedMapAllocator, decref, incref};
pub use stats::{THMemoryStats, adjust_live, live_bytes, stats};
pub use text::HeapText;

use crate::system;
use std::ffi::c_void;
use std::ptr::NonNull;

/// An allocator of storages: three functions, which are called with the allocator context of the storage.
///
/// `malloc` and `realloc` return NULL on failure. If an allocator cannot resize its memory, `realloc` is NULL or returns NULL.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct THAllocator {
    /// Allocates a block of `size` bytes.
    pub malloc: Option<unsafe extern "C" fn(ctx: *mut c_void, size: isize) -> *mut c_void>,
    /// Changes the size of the block `ptr` to `size` bytes and returns the block, which may have moved.
    pub realloc: Option<unsafe extern "C" fn(ctx: *mut c_void, ptr: *mut c_void, size: isize) -> *mut c_void>,
    /// Frees the block `ptr`, and the context if the context belongs to the block.
    pub free: Option<unsafe extern "C" fn(ctx: *mut c_void, ptr: *mut c_void)>,
}

const _: () = assert!(size_of::<THAllocator>() == 3 * size_of::<usize>());

/// An uninitialised block of `bytes` bytes: 64-byte aligned above 512 bytes, 16-byte aligned below. `None` if there is no memory.
///
/// A request of zero bytes returns a block, too. May call the soft limit's hook.
#[inline]
pub fn allocate(bytes: usize) -> Option<NonNull<u8>> {
    let class = class::small(bytes);
    if class < class::SMALL_CLASSES
        && let Some(block) = local::take(class, bytes)
    {
        return Some(block);
    }
    allocate_other(bytes)
}

/// Releases a block.
///
/// # Safety
/// `ptr` came from [`allocate`] or [`reallocate`] with the same number of bytes, on any thread, and is not used any more.
#[inline]
pub unsafe fn release(ptr: NonNull<u8>, bytes: usize) {
    let class = class::small(bytes);
    // SAFETY: the caller meets the conditions above. While blocks are kept, every block has its class's size.
    if class < class::SMALL_CLASSES && unsafe { local::put(ptr, class, bytes) } {
        return;
    }
    // SAFETY: the caller meets the conditions above.
    unsafe { release_other(ptr, bytes) }
}

/// A block of `new` bytes that begins with the first `min(old, new)` bytes of `ptr`, which is released. If there is no memory, returns
/// `None` and leaves `ptr` unchanged.
///
/// # Safety
/// As for [`release`], with `old` as the number of bytes.
pub unsafe fn reallocate(ptr: NonNull<u8>, old: usize, new: usize) -> Option<NonNull<u8>> {
    if cache::limit() > 0 && class::of(old) == class::of(new) {
        adjust_live(new.wrapping_sub(old) as isize);
        return Some(ptr);
    }
    let block = allocate(new)?;
    // SAFETY: both blocks have that many bytes and do not overlap. The caller gives up `ptr`.
    unsafe {
        ptr.copy_to_nonoverlapping(block, old.min(new));
        release(ptr, old);
    }
    Some(block)
}

/// Returns all kept blocks to the system. Other threads return the blocks in their lists at their next request that their lists cannot
/// serve.
pub fn empty_cache() {
    local::ask_all_to_drain();
    cache::empty();
    kept::empty();
}

/// Returns true if no blocks are kept for reuse.
pub fn keeps_nothing() -> bool {
    cache::limit() == 0
}

#[inline(never)]
fn allocate_other(bytes: usize) -> Option<NonNull<u8>> {
    fork::register();
    let class = class::of(bytes)?;
    if class < thread::LISTS
        && let Some(block) = local::take(class, bytes)
    {
        return Some(block);
    }
    local::maintain();
    let kept = if class < class::SMALL_CLASSES { None } else { cache::take(class) };
    let block = kept.or_else(|| retry(|| fresh(bytes, class)))?;
    stats::allocated(bytes, kept.is_some());
    Some(block)
}

#[inline(never)]
unsafe fn release_other(ptr: NonNull<u8>, bytes: usize) {
    // Sizes without a class are never allocated.
    let Some(class) = class::of(bytes) else { return };
    // SAFETY: the caller meets the conditions of `release`.
    if class < thread::LISTS && unsafe { local::put(ptr, class, bytes) } {
        return;
    }
    local::maintain();
    if cache::limit() == 0 {
        // SAFETY: the caller meets the conditions of `release`. If nothing is kept, `fresh` gets all blocks from `aligned`.
        unsafe { system::free_aligned(ptr) }
    } else {
        // SAFETY: the caller meets the conditions of `release`. `fresh` and the caches return blocks of their class's size.
        unsafe { thread::forward(ptr, class) }
    }
    stats::released(bytes);
}

fn fresh(bytes: usize, class: usize) -> Option<NonNull<u8>> {
    match cache::limit() {
        0 => source::aligned(bytes.max(1)),
        _ => source::obtain(class::size(class)),
    }
}

/// Calls `obtain`. If it fails, frees memory by the hook and the caches, and calls it again.
fn retry<T>(obtain: impl Fn() -> Option<T>) -> Option<T> {
    obtain().or_else(|| {
        limit::request_memory(live_bytes);
        empty_cache();
        obtain()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    /// A block that may move to another thread, filled with one byte value.
    struct Block(NonNull<u8>, usize, u8);

    // SAFETY: this value owns the block.
    unsafe impl Send for Block {}

    impl Block {
        fn new(bytes: usize, fill: u8) -> Block {
            let block = allocate(bytes).unwrap();
            // SAFETY: the block has that many bytes.
            unsafe { block.write_bytes(fill, bytes) };
            Block(block, bytes, fill)
        }

        fn is_intact(&self) -> bool {
            // SAFETY: `new` initialised the bytes.
            unsafe { std::slice::from_raw_parts(self.0.as_ptr(), self.1) }.iter().all(|&byte| byte == self.2)
        }
    }

    impl Drop for Block {
        fn drop(&mut self) {
            assert!(self.is_intact());
            // SAFETY: `new` allocated this many bytes.
            unsafe { release(self.0, self.1) }
        }
    }

    /// Returns true if this process runs only `test`, so that all counts are the test's own. Otherwise runs the test in a child process,
    /// which must pass, and returns false.
    fn alone(test: &str, limit: &str) -> bool {
        const KEY: &str = "TH_TEST_ALONE";
        if std::env::var(KEY).is_ok_and(|alone| alone == test) {
            return true;
        }
        let (_, module) = module_path!().split_once("::").unwrap();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", &format!("{module}::{test}"), "--nocapture"]).env(KEY, test).env("TH_CACHE_LIMIT", limit);
        let output = child.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        false
    }

    const SIZES: [usize; 14] = [0, 1, 64, 65, 512, 513, 1024, 5000, 16384, 16385, 100_000, 1 << 20, 2 << 20, (5 << 20) + 1];

    #[test]
    fn blocks_are_distinct_and_aligned() {
        for _ in 0..3 {
            let blocks: Vec<Block> = (0..100).map(|i| Block::new(SIZES[i % 11], i as u8)).collect();
            assert!(blocks.iter().all(|Block(block, bytes, _)| block.as_ptr().align_offset(if *bytes > 512 { 64 } else { 16 }) == 0));
        }
    }

    #[test]
    fn what_no_memory_can_hold_is_none() {
        for bytes in [usize::MAX, isize::MAX as usize, isize::MAX as usize - (8 << 20), 1 << 60, 1 << 50] {
            assert!(allocate(bytes).is_none(), "{bytes}");
        }
    }

    #[test]
    fn reallocate_keeps_what_fits() {
        for old in SIZES {
            for new in SIZES {
                let mut block = Block::new(old, 3);
                // SAFETY: the block has `old` bytes; a failure leaves it alone.
                unsafe {
                    assert!(reallocate(block.0, old, usize::MAX).is_none());
                    block.0 = reallocate(block.0, old, new).unwrap();
                }
                block.1 = old.min(new);
                assert!(block.is_intact());
                block.1 = new;
                // SAFETY: the block has `new` bytes now.
                unsafe { block.0.write_bytes(3, new) };
            }
        }
    }

    #[test]
    fn counts_are_exact_across_threads() {
        if !alone("counts_are_exact_across_threads", "100000000") {
            return;
        }
        let before = stats();
        let held: Vec<Block> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|t| scope.spawn(move || SIZES.map(|bytes| Block::new(bytes + t, 1)))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let bytes: usize = held.iter().map(|block| block.1).sum();
        let during = stats();
        assert_eq!(during.live_bytes - before.live_bytes, bytes as i64);
        assert_eq!(during.allocations - before.allocations, held.len() as i64);
        assert!(during.peak_bytes >= during.live_bytes && live_bytes() == during.live_bytes);
        adjust_live(-1000);
        assert_eq!(live_bytes(), during.live_bytes - 1000);
        adjust_live(1000);
        drop(held);
        let after = stats();
        assert_eq!(after.live_bytes, before.live_bytes);
        assert_eq!((after.peak_bytes, after.cache_limit), (during.peak_bytes, 100_000_000));
    }

    #[test]
    fn released_blocks_are_reused_until_the_cache_is_emptied() {
        if !alone("released_blocks_are_reused_until_the_cache_is_emptied", "100000000") {
            return;
        }
        drop(SIZES.map(|bytes| Block::new(bytes, 1)));
        let first = stats();
        assert_eq!((first.cache_hits, first.live_bytes), (0, 0));
        for _ in 0..10 {
            drop(SIZES.map(|bytes| Block::new(bytes, 1)));
        }
        let later = stats();
        assert_eq!(later.cache_hits - first.cache_hits, 10 * SIZES.len() as i64);
        assert_eq!(later.cached_bytes, first.cached_bytes);
        empty_cache();
        assert_eq!(stats().cached_bytes, 0);
    }

    #[test]
    fn the_cache_keeps_to_its_limit() {
        if !alone("the_cache_keeps_to_its_limit", "1000000") {
            return;
        }
        for bytes in [20_000, 70_000, 300_000, 999_000, 3 << 20] {
            drop((0..20).map(|_| Block::new(bytes, 1)).collect::<Vec<_>>());
            assert!(stats().cached_bytes <= 1_000_000);
        }
        assert!(stats().cached_bytes > 0);
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        if !alone("a_limit_of_zero_keeps_nothing", "0") {
            return;
        }
        for _ in 0..3 {
            let blocks = SIZES.map(|bytes| Block::new(bytes, 1));
            assert_eq!(live_bytes(), SIZES.iter().sum::<usize>() as i64);
            drop(blocks);
        }
        let stats = stats();
        assert_eq!((stats.live_bytes, stats.cached_bytes, stats.cache_hits, stats.allocations), (0, 0, 0, 3 * SIZES.len() as i64));
    }

    #[test]
    fn blocks_may_be_released_by_other_threads() {
        if !alone("blocks_may_be_released_by_other_threads", "10000000") {
            return;
        }
        let (send, receive) = channel::<Block>();
        let mut threads = vec![std::thread::spawn(move || receive.into_iter().for_each(drop))];
        for t in 0..3 {
            let send = send.clone();
            let make = move || (0..2000).for_each(|i| send.send(Block::new(SIZES[(i + t) % 11], i as u8)).unwrap());
            threads.push(std::thread::spawn(make));
        }
        drop(send);
        // Threads are joined, because only `join` waits for the destructors that close the lists.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let stats = stats();
        assert_eq!((stats.live_bytes, stats.allocations), (0, 6000));
        assert_eq!(stats.cached_bytes, cache::bytes() as i64, "threads that have ended keep nothing");
    }

    #[test]
    fn threads_that_start_take_over_from_those_that_ended() {
        if !alone("threads_that_start_take_over_from_those_that_ended", "10000000") {
            return;
        }
        for _ in 0..20 {
            std::thread::spawn(|| drop(Block::new(100, 1))).join().unwrap();
        }
        // The entry of a thread that ended, and NOBODY.
        assert_eq!(thread::all().count(), 2);
        assert_eq!(stats().allocations, 20);
    }

    #[test]
    fn other_threads_drain_when_they_next_need_more() {
        if !alone("other_threads_drain_when_they_next_need_more", "10000000") {
            return;
        }
        let (go, wait) = channel::<()>();
        let (ready, kept) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                drop(Block::new(100, 1));
                ready.send(()).unwrap();
                wait.recv().unwrap();
                drop(Block::new(50_000, 1));
                ready.send(()).unwrap();
                wait.recv().unwrap();
            });
            kept.recv().unwrap();
            empty_cache();
            assert_eq!(stats().cached_bytes, 128, "the other thread's block stays until that thread comes by");
            go.send(()).unwrap();
            kept.recv().unwrap();
            assert_eq!(stats().cached_bytes, cache::bytes() as i64);
            go.send(()).unwrap();
        });
    }

    #[test]
    fn ending_threads_may_still_allocate_and_release() {
        thread_local!(static LATE: std::cell::RefCell<Vec<Block>> = const { std::cell::RefCell::new(vec![]) });
        struct Last;
        impl Drop for Last {
            fn drop(&mut self) {
                drop(SIZES.map(|bytes| Block::new(bytes, 9)));
            }
        }
        thread_local!(static LAST: Last = const { Last });
        let ended = std::thread::spawn(|| {
            // Registered before the lists open, so that its destructor runs after they have closed.
            LAST.with(|_| LATE.with_borrow_mut(|late| late.push(Block::new(300, 1))));
            LATE.with_borrow_mut(|late| late.extend(SIZES.map(|bytes| Block::new(bytes, 2))));
        });
        ended.join().unwrap();
    }

    /// The live bytes that the tests' hook was called with, and the blocks that it frees when called.
    #[derive(Default)]
    struct Seen {
        live: Mutex<Vec<i64>>,
        garbage: Mutex<Vec<Block>>,
    }

    unsafe extern "C" fn look(ctx: *mut c_void, live: i64) {
        // SAFETY: the tests pass a `Seen` that outlives the hook.
        let seen = unsafe { &*ctx.cast::<Seen>() };
        seen.live.lock().unwrap().push(live);
        drop(Block::new(1 << 20, 1));
        seen.garbage.lock().unwrap().clear();
    }

    #[test]
    fn the_hook_hears_of_each_rise() {
        if !alone("the_hook_hears_of_each_rise", "100000000") {
            return;
        }
        const PIECE: usize = 100_000;
        let seen = Seen::default();
        let hook: THMemoryHook = Some(look);
        set_soft_limit(10 * PIECE as i64, hook, (&raw const seen).cast_mut().cast());
        let pieces = |count: usize| (0..count).map(|_| Block::new(PIECE, 1)).collect::<Vec<_>>();
        let heard = || std::mem::take(&mut *seen.live.lock().unwrap()).into_iter().map(|live| live / PIECE as i64).collect::<Vec<_>>();
        let mut held = pieces(10);
        assert!(heard().is_empty());
        held.extend(pieces(6));
        assert_eq!(heard(), [11, 13, 15], "above the limit, and more than a tenth above the last call");
        held.truncate(9);
        held.extend(pieces(2));
        assert_eq!(heard(), [11], "after a fall below");
        seen.garbage.lock().unwrap().append(&mut held);
        drop(pieces(3));
        assert_eq!(heard(), [13], "the hook frees, and the next rise is far");
        assert_eq!(live_bytes(), 0);
        assert!(allocate(1 << 50).is_none());
        assert_eq!(heard(), [0], "before a failure");
        adjust_live(20 * PIECE as isize);
        assert_eq!(heard(), [20], "memory of other allocators counts");
        set_soft_limit(1, None, std::ptr::null_mut());
        drop(pieces(3));
        assert!(allocate(1 << 50).is_none() && heard().is_empty());
    }

    #[test]
    fn a_forked_child_finds_the_cache_usable() {
        if !alone("a_forked_child_finds_the_cache_usable", "10000000") {
            return;
        }
        // Without `.init_array`, the first allocation registers the fork handlers: so one is made before the threads start.
        // SAFETY: the block is released with its size.
        unsafe { release(allocate(50_000).unwrap(), 50_000) };
        let done = std::sync::atomic::AtomicBool::new(false);
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        let statuses = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(relaxed) {
                        // SAFETY: the block is released with its size.
                        unsafe { release(allocate(50_000).unwrap(), 50_000) };
                    }
                });
            }
            let statuses = [(); 20].map(|()| {
                // SAFETY: the child only allocates, and exits without running code of the parent. An alarm ends it if it hangs.
                unsafe {
                    let child = libc::fork();
                    if child == 0 {
                        libc::alarm(5);
                        SIZES.iter().for_each(|&bytes| release(allocate(bytes).unwrap(), bytes));
                        empty_cache();
                        libc::_exit(i32::from(cache::bytes() != 0));
                    }
                    let mut status = -1;
                    if libc::waitpid(child, &mut status, 0) == child { status } else { -1 }
                }
            });
            // Set before the assertion: if it failed earlier, the threads would run for ever.
            done.store(true, relaxed);
            statuses
        });
        assert_eq!(statuses, [0; 20]);
    }
}
