//! Constants that depend on the machine rather than on the code: sizes of caches, and where one way of doing things overtakes another.
//!
//! Constants were measured on Xeons with AVX-512 and on Zen 4 and 5. What follows from the shape of a kernel stands beside the kernel.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Elements a thread must have to be worth waking, for kernels bound by memory.
pub(crate) const CHEAP: usize = 16 * 1024;
/// The same for kernels that compute for a nanosecond or so an element.
pub(crate) const COSTLY: usize = 2 * 1024;
/// How long an idle thread spins before it sleeps: a few times what it takes to wake one up.
pub(crate) const SPIN_TIME: Duration = Duration::from_micros(20);

/// The least that [`streams_from`] says, in bytes: where the machine keeps its caches to itself.
#[cfg(target_arch = "x86_64")]
const STREAMS_LEAST: usize = 4 << 20;
/// The most, in bytes.
#[cfg(target_arch = "x86_64")]
const STREAMS_MOST: usize = 64 << 20;
/// Bytes of all operands from which prefetching pays: they come from beyond the second-level cache.
pub(crate) const PREFETCH_FROM: usize = 4 << 20;
/// Bytes prefetched at a time, of the widest operand. More would fill the queues, and the kernel would wait.
pub(crate) const PREFETCH_BYTES: usize = 512;
/// Bytes of the widest operand between the elements computed and those prefetched.
pub(crate) const PREFETCH_AHEAD: usize = 2048;
/// Bytes of the widest operand whose results are streamed together, for kernels that begin at once.
pub(crate) const STREAMED: usize = 2 * 1024;
/// A result that is a smaller part of all operands is not streamed: comparisons of float64 in memory take up to a third longer if it is.
pub(crate) const STREAMED_PART: usize = 16;
/// Bytes from which the machine's own loop is the quickest way to fill memory, or as quick as any: less is in the second-level cache.
pub(crate) const LONG_FILL: usize = 512 << 10;
/// Bytes of a row that are worth beginning that loop for.
pub(crate) const LONG_FILL_ROW: usize = 4096;

/// Bytes of a staged tile of one operand, so that all are in the first-level cache. Pieces of 4 KiB, streamed, were the slowest size
/// measured.
pub(crate) const STAGED_BYTES: usize = 8 * 1024;
/// Bytes of the widest operand that elementwise operations convert at a time. With 8 KiB, float64 plus float32 takes a fifth longer from
/// memory; with 1 KiB, sums of 16-bit floats in place take a seventh longer.
pub(crate) const CONVERTED_BYTES: usize = 4 * 1024;
/// Bytes of a tile of a fused expression at most, of each of its values.
pub(crate) const FUSED_BYTES: usize = 8 * 1024;
/// Bytes of the tiles of all values of a fused expression, so that they are in the first-level cache.
pub(crate) const FUSED_IN_CACHE: usize = 32 * 1024;
/// Elements of a row below which a tile of a fused expression has several, gathered where they do not lie row-major.
pub(crate) const FUSED_ROW: usize = 96;
/// Elements that copies and conversions bring through a buffer at a time.
pub(crate) const COPY_BUFFERED: usize = 512;
/// Elements of a piece of a copy, or columns of a tile, that is contiguous on both sides.
pub(crate) const COPY_ROW: usize = 16 * 1024;
/// Bytes of a piece of a copy that converts nothing.
pub(crate) const COPY_PIECE: usize = 64 * 1024;
/// Elements of a sequence computed at a time: a buffer of them fits into the first-level cache.
pub(crate) const SEQUENCE_PIECE: usize = 2048;

/// Elements that are few: gathering them one by one takes no longer than thinking about tiles.
pub(crate) const SMALL: usize = 256;
/// Few elements in shorter runs than this are copied one by one.
pub(crate) const SMALL_RUN: usize = 16;
/// Elements of a run below which runs are gathered into longer ones; jobs shorter than this are not worth any thought.
pub(crate) const SHORT_RUN: usize = 64;
/// The same where operands go through buffers anyway.
pub(crate) const SHORT_RUN_STAGED: usize = 1024;
/// The same where an operand has one value for a run, which its kernel takes as it is.
pub(crate) const SHORT_RUN_OF_VALUE: usize = 40;
/// Elements of a tile at which the call of a kernel that takes rows is forgotten.
pub(crate) const ROWS_AREA: usize = 4096;
/// Columns of a copied tile below which they are copied one by one.
pub(crate) const COPY_COLUMNS: usize = 8;
/// Rows of a converted tile below which it is not worth transposing.
pub(crate) const COPY_ROWS: usize = 4;
/// Bytes of a row below which a call for each would take longer than its bytes.
pub(crate) const COPY_SHORT_ROW: usize = 512;
/// Elements with steps between them below which they are converted one by one.
pub(crate) const CONVERT_SINGLY: usize = 16;

/// Columns that blocks of lines side by side have at least, however many threads there are.
pub(crate) const COLUMNS_OF_THREAD: usize = 128;
/// Columns that such blocks have in any case: a few cache lines.
pub(crate) const COLUMNS_LEAST: usize = 64;
/// Lines side by side that are worth handling as columns.
pub(crate) const COLUMNS_WORTH: usize = 16;
/// Elements of lines transposed into columns: with the results they fit the second-level cache, and rows are long enough to be quick.
pub(crate) const COLUMNS_TRANSPOSED: usize = 32 * 1024;
/// Elements of short lines handed out or staged together.
pub(crate) const LINES_BLOCK: usize = 1024;
/// The same for kernels that take several lines.
pub(crate) const LINES_STACK: usize = 4096;
/// Blocks of lines that must be left where lines are kept together for their kernel: threads must find enough to do.
pub(crate) const LINES_BLOCKS: usize = 16;
/// Bytes that lines gathered together take of every row: whole cache lines.
pub(crate) const LINES_ACROSS: usize = 64;
/// Bytes of buffers for lines on the stack; larger ones come from the allocator.
pub(crate) const LINES_ON_STACK: usize = 32 * 1024;
/// Bytes that buffers grow to at most in order to hold several lines.
pub(crate) const LINES_BUFFERS: usize = 8 << 20;

/// Neighbouring results below which columns are not folded side by side.
pub(crate) const FOLDED_COLUMNS: usize = 16;
/// Elements of a row folded at a time. A contiguous row no longer than this may be handed to a fold directly.
pub(crate) const FOLDED_PIECE: usize = 32 * 1024;
/// Elements from which a block of few columns pays, where other results could be folded side by side.
pub(crate) const FOLDED_BLOCK: usize = 4096;
/// Elements of a row from which it is a block of its own.
pub(crate) const FOLDED_ROW: usize = 16 * 1024;
/// Elements of a block folded before partial results are merged.
pub(crate) const FOLDED_SEGMENT: usize = 128 * 1024;
/// Blocks that keep the threads busy, each alone.
pub(crate) const FOLDED_BLOCKS: usize = 8;
/// Elements of a row from which more lanes than the registers hold are faster.
pub(crate) const REDUCED_ROW: usize = 4096;
/// Keys up to which each is ranked by comparing it with all others.
pub(crate) const RANKED_KEYS: usize = 64;
/// Keys below which sorting by comparisons is faster than by digits.
pub(crate) const COMPARED_KEYS: usize = 192;
/// Records below which sorting by comparisons is faster than by digits.
pub(crate) const COMPARED_RECORDS: usize = 192;
/// Records from which they are put into buckets before these are sorted: with room for a second time they fill the second-level cache.
pub(crate) const BUCKETED_RECORDS: usize = 32 * 1024;
/// Records that a thread takes at a time for that.
pub(crate) const SORTED_PIECE: usize = 64 * 1024;
/// Elements of a line from which more than one thread looks for the least of them.
pub(crate) const TOP_PIECE: usize = 128 * 1024;
/// Quantiles up to which selecting each is faster than sorting the line.
pub(crate) const SELECTED_QUANTILES: usize = 6;
/// Elements of a line that a thread takes at a time for selection.
pub(crate) const SELECTED_PIECE: usize = 32 * 1024;
/// Keys of a line that are sampled at most to guess bounds.
pub(crate) const SAMPLED_KEYS: usize = 2048;
/// Elements that a thread counts at a time.
pub(crate) const COUNTED_PIECE: usize = 32 * 1024;
/// Entries of a table of counts up to which several are used in turn: together they fit the second-level cache.
pub(crate) const COUNTED_TABLE: usize = 8 * 1024;
/// Elements of a line below which a scan goes one by one.
pub(crate) const SCANNED_SINGLY: usize = 16;
/// Rows of a transposed result done together: few enough pages for the TLB, and whole cache lines of the source.
pub(crate) const TRANSPOSED_ROWS: usize = 64;
/// Bytes of a row of a transposed result done together.
pub(crate) const TRANSPOSED_WIDTH: usize = 512;
/// Bytes of a row of the source done together where a transposed result is streamed.
pub(crate) const TRANSPOSED_STREAM_HEIGHT: usize = 512;
/// Bytes of a row of the result then done together: less than four lines in a row leave the core slowly.
pub(crate) const TRANSPOSED_STREAM_WIDTH: usize = 256;
/// The same by way of a buffer on machines other than Intel's: measured on a Zen 5, whose first-level cache has 48 KiB.
pub(crate) const TRANSPOSED_STREAM_BUFFERED: usize = 512;
/// Rows of a block of columns between the one that is read and the one that is prefetched, in softmax.
pub(crate) const SOFTMAX_AHEAD: usize = 8;
/// Elements of a line up to which eight lines are summed at once: of longer ones, eight inputs and eight results are more streams than a
/// machine prefetches, and the next eight lines are too far to prefetch.
pub(crate) const SCANNED_LONGEST: usize = 8192;

/// Columns of A in one step of a product. A strip of B takes 48 KiB: its rows come from the second-level cache, in order and ahead of time,
/// while fewer steps look at C less often.
pub(crate) const PRODUCT_DEPTH: usize = 256;
/// The height of a part of a product in bytes of a column: its blocks of A take 256 KiB, and 1000 columns of C a megabyte, so that both
/// stay in the second-level cache of the machines with the widest vectors.
pub(crate) const PRODUCT_ROWS: usize = 1024;
/// The width of a part in bytes: wide enough to make up for the time it takes to fetch a block of A.
pub(crate) const PRODUCT_COLS: usize = 8192;
/// Rows from which a part is rather cut into two of fewer rows than of fewer columns: then no two threads write to neighbouring elements of
/// C, whose lines they would take from each other's caches.
pub(crate) const PRODUCT_CUT_ROWS: usize = 192;
/// Multiplications that take one thread about half a microsecond, not much longer than it takes to call another.
pub(crate) const PRODUCT_WORK: usize = 1 << 17;
/// Multiplications that make it worth while to have more parts than threads, for when one of them is held up.
pub(crate) const PRODUCT_SPARE_WORK: usize = 1 << 25;
/// Columns and rows of a product that finds what it reads in the caches anyway.
pub(crate) const PRODUCT_SHALLOW: usize = 128;
/// Rows between the one that is laid out and the one that is asked for: rows are too short, and too far apart, for the machine to see them
/// coming.
pub(crate) const PRODUCT_AHEAD: usize = 8;
/// Elements of a matrix whose reading takes a thread about a microsecond.
pub(crate) const MATRIX_WORK: usize = 1 << 14;

/// Elements of a sequence up to which comparing a value with each is faster than searching.
pub(crate) const SEARCHED_BY_COMPARING: usize = 32;
/// Categories for each draw from which a search in running sums takes less time than making alias tables.
pub(crate) const SEARCHED_SHARE: usize = 8;
/// Most elements of a line of softmax that is transposed: it spends more time on its one maximum and one sum than on exponentials.
pub(crate) const SOFTMAX_TRANSPOSED: usize = 24;
/// Elements of sorted lines that a thread must have to be worth waking: each takes several nanoseconds.
pub(crate) const SORTED_LINE: usize = CHEAP / 8;
/// The same for selection, which reads lines a few times.
pub(crate) const SELECTED_LINE: usize = CHEAP / 4;
/// Multiplications of a decomposition that a thread must have to be worth waking.
pub(crate) const DECOMPOSED_WORK: usize = 32 * 1024;
/// Multiplications that take as long as an element of an elementwise operation.
pub(crate) const PRODUCT_PER_ELEMENT: usize = 8;
/// Multiplications from which a product is shared between threads as well as a batch is.
pub(crate) const PRODUCT_SHARED: usize = 1 << 20;
/// Elements of Fourier transforms gathered at a time from lines that lie apart.
pub(crate) const FOURIER_GATHERED: usize = 32 * 1024;
/// Elements that a part of a Fourier transform takes.
pub(crate) const FOURIER_PART: usize = 16 * 1024;
/// Elements of a piece of a function with rare arguments: enough for the ends of loops to be cheap, and few, since one rare element makes
/// the whole piece slow.
pub(crate) const RARE_PIECE: usize = 256;
/// Elements of a line of softmax between two prefetches.
pub(crate) const SOFTMAX_STEP: usize = 128;
/// Channels of the result of a convolution below which a product has too few columns.
pub(crate) const DIRECT_CHANNELS: usize = 4;
/// Bytes of the source of a block of a convolution, where that can be had: half of a second-level cache.
pub(crate) const CONVOLVED_BYTES: usize = 384 << 10;
/// Elements that a part of a pooling reads.
pub(crate) const POOLED_PART: usize = 64 * 1024;
/// Elements of a sorted line whose distinct ones are counted at a time.
pub(crate) const UNIQUE_PIECE: usize = 16 * 1024;
/// The most elements of a tensor whose lines the fast path takes where they lie.
pub(crate) const LINES_IN_PLACE: usize = 4096;
/// Elements whose derivatives of digamma a thread must have to be worth waking: they cost most of all.
pub(crate) const COSTLIEST: usize = COSTLY / 16;
/// Elements of short lines that a thread takes together, in layerNorm and in the gradient of softmax.
pub(crate) const SHORT_LINES: usize = 4096;

/// Operations that touch this many bytes, all operands together, gain by storing their result past the caches.
///
/// Three quarters of the last cache, for the rest of the program is in it too; but not more than 64 MiB, since larger caches are servers',
/// of which one process has a share only. On such a server, adding was measured to gain from 120 MB on, and to be even from 5 to 60 MB.
pub fn streams_from() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        static FROM: AtomicUsize = AtomicUsize::new(0);
        known(&FROM, || (last_cache().unwrap_or(0) / 4 * 3).clamp(STREAMS_LEAST, STREAMS_MOST))
    }
    #[cfg(not(target_arch = "x86_64"))]
    usize::MAX
}

/// Returns true if kernels should prefetch what they read and write in order. Intel's machines gain by it; AMD's guess such streams as
/// well, and lose by the additional work: adding 1e6 floats took a Zen 5 113 us with hints, 97 without. Where reading and storing take
/// turns, as by way of a buffer, hints pay on all of them.
pub fn prefetches() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static PREFETCHES: AtomicUsize = AtomicUsize::new(0);
        known(&PREFETCHES, || usize::from(__cpuid(0).ebx == u32::from_le_bytes(*b"Genu"))) != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Returns true if the machine has a loop of its own to fill memory, and the loop is quick.
pub fn fills_long() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        const ERMS: u32 = 1 << 9; // "enhanced rep stos"
        static QUICK: AtomicUsize = AtomicUsize::new(0);
        known(&QUICK, || usize::from(__get_cpuid_max(0).0 >= 7 && __cpuid_count(7, 0).ebx & ERMS != 0)) != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The number in a cell, which `find` finds at the first call. Threads that call together find the same number. The cell is no lock,
/// because
/// workers of the pool come here, and must not wait while the process forks.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn known(cell: &AtomicUsize, find: impl FnOnce() -> usize) -> usize {
    match cell.load(Relaxed) {
        0 => {
            let found = find();
            cell.store(found + 1, Relaxed);
            found
        }
        found => found - 1,
    }
}

/// The size of the largest cache this core sees.
#[cfg(target_arch = "x86_64")]
fn last_cache() -> Option<usize> {
    // Intel's leaf and AMD's report caches in the same form, and nothing where they do not apply.
    [0x4, 0x8000_001d].into_iter().filter(|leaf| __get_cpuid_max(leaf & 0x8000_0000).0 >= *leaf).flat_map(cache_sizes).max()
}

#[cfg(target_arch = "x86_64")]
fn cache_sizes(leaf: u32) -> impl Iterator<Item = usize> {
    let field = |x: u32, from: u32, bits: u32| (x >> from & ((1 << bits) - 1)) as usize;
    let caches = (0..16).map(move |i| __cpuid_count(leaf, i)).take_while(move |c| field(c.eax, 0, 5) != 0);
    caches.map(move |c| (field(c.ebx, 22, 10) + 1) * (field(c.ebx, 12, 10) + 1) * (field(c.ebx, 0, 12) + 1) * (c.ecx as usize + 1))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn results_are_streamed_by_the_size_of_the_largest_cache() {
        let cache = last_cache().unwrap_or(0);
        assert!(cache == 0 || (64 << 10..4 << 30).contains(&cache), "a cache of {cache} bytes");
        assert!((STREAMS_LEAST..=STREAMS_MOST).contains(&streams_from()));
        assert!(streams_from() <= cache.max(STREAMS_LEAST));
    }
}
