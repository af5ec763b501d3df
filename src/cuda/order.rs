//! Keys that a GPU sorts together with their ordinals: stably, digit by digit. Kernels of other kinds of work make the keys and take what
//! is sorted.

use super::gpu::Gpu;
use super::loops::div_up;
use super::memory::Scratch;
use super::source::{Entry, Source};
use crate::error::Result;

/// What kernels need that make keys or take what is sorted, behind [`ITEMS`].
pub(super) const ORDER: &str = include_str!("kernels/order.cuh");
/// Loops over elements and sums over the threads of a block.
pub(super) const ITEMS: &str = include_str!("kernels/items.cuh");

/// Sorting.
pub static SORT: Source = Source { name: "order", text: &[ITEMS, ORDER, include_str!("kernels/order.cu")], entries };

/// Keys at most: ordinals have 32 bits.
pub(super) const MOST_KEYS: i64 = u32::MAX as i64;
/// Keys that a block sorts.
const TILE: i64 = 4096;
/// Values of a digit.
const DIGITS: i64 = 256;

/// As kernels declare it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Order {
    keys: [u64; 2],
    ordinals: [u64; 2],
    greatest: u64,
    counts: u64,
    totals: u64,
    n: i64,
    tiles: i32,
    digit: i32,
}

impl Order {
    /// An order without keys.
    pub const NONE: Order = Order { keys: [0; 2], ordinals: [0; 2], greatest: 0, counts: 0, totals: 0, n: 0, tiles: 0, digit: 0 };
}

/// Memory for keys and their ordinals.
pub struct Keys<'a> {
    /// Where they lie.
    pub order: Order,
    _memory: Scratch<'a>,
}

fn entries() -> Vec<Entry> {
    ["order_count", "order_scan", "order_move", "order_tile"].map(|call| Entry::new(call, "Order", "order")).into()
}

impl Keys<'_> {
    /// Memory for `n` keys, which the caller's kernel makes by `order_fill`.
    pub fn new(gpu: &Gpu, n: i64) -> Result<Keys<'_>> {
        let tiles = div_up(n, TILE);
        // The greatest key, totals, keys, ordinals, counts.
        let sizes = [8, DIGITS * 4, n * 8, n * 8, n * 4, n * 4, tiles * DIGITS * 4].map(|bytes| (bytes as usize).next_multiple_of(16));
        let memory = gpu.scratch(sizes.iter().sum())?;
        let mut at = memory.ptr();
        let [greatest, totals, first_keys, second_keys, first_ordinals, second_ordinals, counts] = sizes.map(|bytes| {
            at += bytes as u64;
            at - bytes as u64
        });
        gpu.zero(greatest, 8)?;
        let (keys, ordinals) = ([first_keys, second_keys], [first_ordinals, second_ordinals]);
        Ok(Keys { order: Order { keys, ordinals, greatest, counts, totals, n, tiles: tiles as i32, digit: 0 }, _memory: memory })
    }

    /// Sorts by digits of 8 bits, of which keys have no more than `digits`. What the greatest key lacks is left out.
    pub fn sort(&self, gpu: &Gpu, digits: i32) -> Result<()> {
        if self.order.tiles == 1 {
            // SAFETY: the memory has room for what the order says.
            return unsafe { gpu.launch(&SORT, "order_tile", "Order", 1, &self.order) };
        }
        for digit in 0..digits {
            let order = Order { digit, ..self.order };
            // SAFETY: the memory has room for what the order says.
            unsafe {
                gpu.launch(&SORT, "order_count", "Order", order.tiles as u32, &order)?;
                gpu.launch(&SORT, "order_scan", "Order", DIGITS as u32, &order)?;
                gpu.launch(&SORT, "order_move", "Order", order.tiles as u32, &order)?;
            }
        }
        Ok(())
    }
}
