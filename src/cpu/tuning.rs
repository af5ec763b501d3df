//! Constants that depend on the processor rather than on the code: sizes of caches, and crossover points between two methods.
//!
//! The constants were measured on Xeons with AVX-512 and on Zen 4 and 5. A constant that follows from the shape of a kernel is next to the
//! kernel.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Elements that are worth waking a thread, for kernels bound by memory.
pub(crate) const CHEAP: usize = 16 * 1024;
/// The same for kernels that compute for about a nanosecond an element.
pub(crate) const COSTLY: usize = 2 * 1024;
/// The time that an idle thread spins before it sleeps: a few times as long as waking it takes.
pub(crate) const SPIN_TIME: Duration = Duration::from_micros(20);

/// The minimum of [`streams_from`] in bytes, which is used if the processor does not report its caches.
#[cfg(target_arch = "x86_64")]
const STREAMS_LEAST: usize = 4 << 20;
/// The maximum of [`streams_from`] in bytes.
#[cfg(target_arch = "x86_64")]
const STREAMS_MOST: usize = 64 << 20;
/// Bytes of all operands from which prefetching pays, because the operands exceed the L2 cache.
pub(crate) const PREFETCH_FROM: usize = 4 << 20;
/// Bytes prefetched at a time, of the widest operand. More would fill the queues, and the kernel would wait.
pub(crate) const PREFETCH_BYTES: usize = 512;
/// Distance in bytes of the widest operand between the elements computed and the elements prefetched.
pub(crate) const PREFETCH_AHEAD: usize = 2048;
/// Bytes of the widest operand whose results are streamed together, for cheap kernels.
pub(crate) const STREAMED: usize = 2 * 1024;
/// A result that is less than this fraction (1/16) of the bytes of all operands is not streamed: comparisons of float64 in memory take up
/// to a third longer if it is.
pub(crate) const STREAMED_PART: usize = 16;
/// Bytes from which `rep stos` is the fastest way to fill memory, or as fast as any. Smaller results stay in the L2 cache.
pub(crate) const LONG_FILL: usize = 512 << 10;
/// Bytes of a row that are worth the start of `rep stos`.
pub(crate) const LONG_FILL_ROW: usize = 4096;

/// Bytes of a staged tile of one operand, so that all tiles fit the L1 cache. Pieces of 4 KiB, streamed, were the slowest size measured.
pub(crate) const STAGED_BYTES: usize = 8 * 1024;
/// Bytes of the widest operand that elementwise operations convert at a time. With 8 KiB, float64 plus float32 takes a fifth longer from
/// memory; with 1 KiB, sums of 16-bit floats in place take a seventh longer.
pub(crate) const CONVERTED_BYTES: usize = 4 * 1024;
/// The maximum number of bytes in a tile of a fused expression, for each of its values.
pub(crate) const FUSED_BYTES: usize = 8 * 1024;
/// Bytes of the tiles of all values of a fused expression, so that they stay in the L1 cache.
pub(crate) const FUSED_IN_CACHE: usize = 32 * 1024;
/// Elements of a row below which a tile of a fused expression has several rows, gathered unless they are row-major.
pub(crate) const FUSED_ROW: usize = 96;
/// Elements that copies and conversions move through a buffer at a time.
pub(crate) const COPY_BUFFERED: usize = 512;
/// Elements of a piece of a copy, or columns of a tile, if both sides are contiguous.
pub(crate) const COPY_ROW: usize = 16 * 1024;
/// Bytes of a piece of a copy without conversion.
pub(crate) const COPY_PIECE: usize = 64 * 1024;
/// Elements of a sequence computed at a time: a buffer of them fits the L1 cache.
pub(crate) const SEQUENCE_PIECE: usize = 2048;

/// Elements up to which gathering one by one is as fast as preparing tiles.
pub(crate) const SMALL: usize = 256;
/// Small operands with runs shorter than this are copied element by element.
pub(crate) const SMALL_RUN: usize = 16;
/// Elements of a run below which runs are gathered into longer ones. Work of fewer elements is done in one call.
pub(crate) const SHORT_RUN: usize = 64;
/// The same if operands go through buffers anyway.
pub(crate) const SHORT_RUN_STAGED: usize = 1024;
/// The same if an operand has one value for each run, and the kernel uses it in place.
pub(crate) const SHORT_RUN_OF_VALUE: usize = 40;
/// Elements of a tile from which the call of a kernel over rows costs nothing measurable.
pub(crate) const ROWS_AREA: usize = 4096;
/// Columns of a copied tile below which they are copied one by one.
pub(crate) const COPY_COLUMNS: usize = 8;
/// Rows of a converted tile below which it is not worth transposing.
pub(crate) const COPY_ROWS: usize = 4;
/// Bytes of a row below which a call for each row would take longer than copying its bytes.
pub(crate) const COPY_SHORT_ROW: usize = 512;
/// Strided elements below which they are converted one by one.
pub(crate) const CONVERT_SINGLY: usize = 16;

/// The minimum number of columns in a block of lines side by side, for any number of threads.
pub(crate) const COLUMNS_OF_THREAD: usize = 128;
/// Columns that such a block has even if they exceed the area of its kernel: a few cache lines.
pub(crate) const COLUMNS_LEAST: usize = 64;
/// Lines side by side that are worth processing as columns.
pub(crate) const COLUMNS_WORTH: usize = 16;
/// Elements of lines transposed into columns: with the results they fit the L2 cache, and rows are long enough to be fast.
pub(crate) const COLUMNS_TRANSPOSED: usize = 32 * 1024;
/// Elements of short lines that are passed to a kernel or staged together.
pub(crate) const LINES_BLOCK: usize = 1024;
/// The same for kernels over several lines.
pub(crate) const LINES_STACK: usize = 4096;
/// The minimum number of blocks that must remain where lines are kept together for their kernel, so that threads have enough work.
pub(crate) const LINES_BLOCKS: usize = 16;
/// Bytes of every row that lines gathered together read: whole cache lines.
pub(crate) const LINES_ACROSS: usize = 64;
/// Bytes of buffers for lines on the stack. Larger buffers come from the allocator.
pub(crate) const LINES_ON_STACK: usize = 32 * 1024;
/// The maximum number of bytes in buffers that are enlarged to hold several lines.
pub(crate) const LINES_BUFFERS: usize = 8 << 20;

/// Neighbouring results below which columns are not folded side by side.
pub(crate) const FOLDED_COLUMNS: usize = 16;
/// Elements of a row folded at a time. A contiguous row no longer than this may be passed to a fold directly.
pub(crate) const FOLDED_PIECE: usize = 32 * 1024;
/// Elements from which a block of few columns pays, if other results could be folded side by side.
pub(crate) const FOLDED_BLOCK: usize = 4096;
/// Elements of a row from which the row is a separate block.
pub(crate) const FOLDED_ROW: usize = 16 * 1024;
/// Elements of a block that are folded before partial results are merged.
pub(crate) const FOLDED_SEGMENT: usize = 128 * 1024;
/// Blocks from which the threads are busy with one block each.
pub(crate) const FOLDED_BLOCKS: usize = 8;
/// Elements of a row from which more lanes than fit the registers are faster.
pub(crate) const REDUCED_ROW: usize = 4096;
/// Keys up to which each key is ranked by comparing it with all others.
pub(crate) const RANKED_KEYS: usize = 64;
/// Keys below which sorting by comparisons is faster than by digits.
pub(crate) const COMPARED_KEYS: usize = 192;
/// Records below which sorting by comparisons is faster than by digits.
pub(crate) const COMPARED_RECORDS: usize = 192;
/// Records from which they are put into buckets before the buckets are sorted: with a scratch buffer of the same size they fill the L2
/// cache.
pub(crate) const BUCKETED_RECORDS: usize = 32 * 1024;
/// Records that a thread puts into buckets at a time.
pub(crate) const SORTED_PIECE: usize = 64 * 1024;
/// Elements of a line from which more than one thread searches for the smallest.
pub(crate) const TOP_PIECE: usize = 128 * 1024;
/// Quantiles up to which selecting each of them is faster than sorting the line.
pub(crate) const SELECTED_QUANTILES: usize = 6;
/// Elements of a line that a thread processes at a time for selection.
pub(crate) const SELECTED_PIECE: usize = 32 * 1024;
/// The maximum number of keys of a line that are sampled to guess bounds.
pub(crate) const SAMPLED_KEYS: usize = 2048;
/// Elements that a thread counts at a time.
pub(crate) const COUNTED_PIECE: usize = 32 * 1024;
/// Entries of a table of counts up to which several tables are used in turn: together they fit the L2 cache.
pub(crate) const COUNTED_TABLE: usize = 8 * 1024;
/// Elements of a line below which a scan proceeds one by one.
pub(crate) const SCANNED_SINGLY: usize = 16;
/// Rows of a transposed result written together: few enough pages for the TLB, and whole cache lines of the source.
pub(crate) const TRANSPOSED_ROWS: usize = 64;
/// Bytes of a row of a transposed result written together.
pub(crate) const TRANSPOSED_WIDTH: usize = 512;
/// Bytes of a row of the source read together where a transposed result is streamed.
pub(crate) const TRANSPOSED_STREAM_HEIGHT: usize = 512;
/// Bytes of a row of a streamed result written together: fewer than four consecutive cache lines leave the core slowly.
pub(crate) const TRANSPOSED_STREAM_WIDTH: usize = 256;
/// The same with a buffer, on processors not made by Intel: measured on a Zen 5, whose L1 cache has 48 KiB.
pub(crate) const TRANSPOSED_STREAM_BUFFERED: usize = 512;
/// Distance in rows of a block of columns between the row that is read and the row that is prefetched, in softmax.
pub(crate) const SOFTMAX_AHEAD: usize = 8;
/// Elements of a line up to which eight lines are summed at once. Of longer lines, eight inputs and eight results are more streams than a
/// processor prefetches, and the next eight lines are too far away to prefetch.
#[cfg(target_arch = "x86_64")]
pub(crate) const SCANNED_LONGEST: usize = 8192;

/// Columns of A in one step of a product. A strip of B has 48 KiB: its rows come from the L2 cache, in order and prefetched, and longer
/// steps read and write C less often.
pub(crate) const PRODUCT_DEPTH: usize = 256;
/// The height of a part of a product in bytes of a column: its blocks of A have 256 KiB, and 1000 columns of C a megabyte, so that both
/// stay in the L2 cache of the processors with the widest vectors.
pub(crate) const PRODUCT_ROWS: usize = 1024;
/// The width of a part in bytes: wide enough to make up for the time that fetching a block of A takes.
pub(crate) const PRODUCT_COLS: usize = 8192;
/// Rows from which a part is cut into two of fewer rows rather than of fewer columns. Two threads then never write to neighbouring elements
/// of C, whose cache lines they would take from each other.
pub(crate) const PRODUCT_CUT_ROWS: usize = 192;
/// Multiplications that take one thread about half a microsecond, not much longer than waking another thread.
pub(crate) const PRODUCT_WORK: usize = 1 << 17;
/// Multiplications from which more parts than threads are worth while, in case one thread is held up.
pub(crate) const PRODUCT_SPARE_WORK: usize = 1 << 25;
/// Columns and rows of a product whose operands are in the caches anyway.
pub(crate) const PRODUCT_SHALLOW: usize = 128;
/// Distance in rows between the row that is packed and the row that is prefetched: rows are too short, and too far apart, for the hardware
/// prefetcher.
pub(crate) const PRODUCT_AHEAD: usize = 8;
/// Elements of a matrix that a thread reads in about a microsecond.
pub(crate) const MATRIX_WORK: usize = 1 << 14;
/// Bytes of rows of quantised weights that stay in the L2 cache while the rows of activations pass.
pub(crate) const QUANTIZED_BYTES: usize = 128 << 10;

/// Elements of a sequence up to which comparing a value with each is faster than a binary search.
pub(crate) const SEARCHED_BY_COMPARING: usize = 32;
/// Numbers in the range of a sequence, for each of its elements and of the values sought in it, up to which a bit for each number is faster
/// than a binary search.
pub(crate) const LISTED_SHARE: usize = 8;
/// Categories for each draw from which a search in running sums is faster than building alias tables.
pub(crate) const SEARCHED_SHARE: usize = 8;
/// The maximum number of elements in a line of softmax that is transposed: softmax of such a line spends more time on the one maximum and
/// the one sum than on exponentials.
pub(crate) const SOFTMAX_TRANSPOSED: usize = 24;
/// Elements of sorted lines that are worth waking a thread: each takes several nanoseconds.
pub(crate) const SORTED_LINE: usize = CHEAP / 8;
/// The same for selection, which reads lines a few times.
pub(crate) const SELECTED_LINE: usize = CHEAP / 4;
/// Multiplications of a decomposition that are worth waking a thread.
pub(crate) const DECOMPOSED_WORK: usize = 32 * 1024;
/// Multiplications that take as long as an element of an elementwise operation.
pub(crate) const PRODUCT_PER_ELEMENT: usize = 8;
/// Multiplications from which a single product is divided among threads as well as a batch is.
pub(crate) const PRODUCT_SHARED: usize = 1 << 20;
/// Elements of Fourier transforms gathered at a time from lines that are not contiguous.
pub(crate) const FOURIER_GATHERED: usize = 32 * 1024;
/// Elements in a part of a Fourier transform.
pub(crate) const FOURIER_PART: usize = 16 * 1024;
/// Elements in a piece of a function with rare arguments: enough to make the ends of loops cheap, and few, since one rare element makes the
/// whole piece slow.
pub(crate) const RARE_PIECE: usize = 256;
/// Elements of a line of softmax between two prefetches.
pub(crate) const SOFTMAX_STEP: usize = 128;
/// Channels of the result of a convolution below which a product has too few columns.
pub(crate) const DIRECT_CHANNELS: usize = 4;
/// Bytes of the source in a block of a convolution, if possible: half of an L2 cache.
pub(crate) const CONVOLVED_BYTES: usize = 384 << 10;
/// Elements that a part of a pooling reads.
pub(crate) const POOLED_PART: usize = 64 * 1024;
/// Elements of a sorted line whose distinct ones are counted at a time.
pub(crate) const UNIQUE_PIECE: usize = 16 * 1024;
/// The maximum number of elements in a tensor whose lines the fast path uses in place.
pub(crate) const LINES_IN_PLACE: usize = 4096;
/// Elements that are worth waking a thread for derivatives of digamma, the costliest elementwise functions.
pub(crate) const COSTLIEST: usize = COSTLY / 16;
/// Elements of short lines that a thread processes together, in layerNorm and in the gradient of softmax.
pub(crate) const SHORT_LINES: usize = 4096;

/// Returns the number of bytes, all operands together, from which operations gain by storing their result past the caches.
///
/// This is three quarters of the last-level cache, since the rest of the program uses that cache too, and at most 64 MiB, since larger
/// caches belong to servers, where one process has only a share. On such a server, adding was measured to gain from 120 MB on, and to be
/// even from 5 to 60 MB.
pub fn streams_from() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        static FROM: AtomicUsize = AtomicUsize::new(0);
        known(&FROM, || (last_cache().unwrap_or(0) / 4 * 3).clamp(STREAMS_LEAST, STREAMS_MOST))
    }
    #[cfg(not(target_arch = "x86_64"))]
    usize::MAX
}

/// Returns true if kernels should prefetch operands that they read and write in order. Intel's processors gain by it. AMD's recognise such
/// streams in hardware and lose by the additional instructions: adding 1e6 floats took a Zen 5 113 us with prefetching, 97 without. Where
/// reading and storing alternate, as with a buffer, prefetching pays on all processors.
pub fn prefetches() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static PREFETCHES: AtomicUsize = AtomicUsize::new(0);
        known(&PREFETCHES, || usize::from(__cpuid(0).ebx == u32::from_le_bytes(*b"Genu"))) != 0
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Returns true if the processor has `rep stos` in a fast implementation.
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

/// Returns the number in `cell`, which the first call computes by `find`. Threads that call concurrently compute the same number. The cell
/// is not a lock, because workers of the pool call this, and must not wait while the process forks.
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

/// Returns the size of the largest cache of this core in bytes.
#[cfg(target_arch = "x86_64")]
fn last_cache() -> Option<usize> {
    // Intel's and AMD's leaves report caches in the same form, and report none on the other maker's processors.
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
/// Rows of a block of attention weights. A block of float32 has 128 KiB, and fits the L2 cache together with its rows of `k` and `v`.
pub(crate) const ATTENTION_ROWS: usize = 128;
/// Columns of a block of attention weights: a multiple of the elements that random words are drawn for together.
pub(crate) const ATTENTION_COLS: usize = 256;
/// Parts into which the gradient of attention is divided at least: enough for the threads, and few enough that the sums of parts need
/// little memory.
pub(crate) const ATTENTION_CHUNKS: usize = 16;
