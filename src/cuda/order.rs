//! Sorts keys and their ordinals on a GPU: a stable radix sort. Kernels of other kinds of work write the keys and read the sorted ordinals.

use super::gpu::Gpu;
use super::loops::div_up;
use super::memory::Scratch;
use super::source::{Entry, Source};
use crate::error::Result;

/// Device functions that write keys and read sorted ones. Needs [`ITEMS`] before it.
pub(super) const ORDER: &str = include_str!("kernels/order.cuh");
/// Device functions for loops over elements and sums over the threads of a block.
pub(super) const ITEMS: &str = include_str!("kernels/items.cuh");

/// The kernels of the sort.
pub static SORT: Source = Source { name: "order", text: &[ITEMS, ORDER, include_str!("kernels/order.cu")], entries };

/// The maximum number of keys, because ordinals have 32 bits.
pub(super) const MOST_KEYS: i64 = u32::MAX as i64;
/// The number of keys that a block sorts.
const TILE: i64 = 4096;
/// The number of values of a digit.
const DIGITS: i64 = 256;

/// The argument of the kernels.
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
    /// The addresses of keys and ordinals.
    pub order: Order,
    _memory: Scratch<'a>,
}

fn entries() -> Vec<Entry> {
    ["order_count", "order_scan", "order_move", "order_tile"].map(|call| Entry::new(call, "Order", "order")).into()
}

impl Keys<'_> {
    /// Allocates memory for `n` keys, which the caller's kernel writes by `order_fill`.
    pub fn new(gpu: &Gpu, n: i64) -> Result<Keys<'_>> {
        let tiles = div_up(n, TILE);
        // The buffers: the greatest key, totals, keys (twice), ordinals (twice), counts.
        let sizes = [8, DIGITS * 4, n * 8, n * 8, n * 4, n * 4, tiles * DIGITS * 4].map(|bytes| (bytes as usize).next_multiple_of(16));
        let memory = gpu.scratch(sizes.iter().sum())?;
        let mut at = memory.ptr();
        let [greatest, totals, first_keys, second_keys, first_ordinals, second_ordinals, counts] = sizes.map(|bytes| {
            at += bytes as u64;
            at - bytes as u64
        });
        // SAFETY: the scratch memory has a number.
        unsafe { gpu.zero(greatest, 8) }?;
        let (keys, ordinals) = ([first_keys, second_keys], [first_ordinals, second_ordinals]);
        Ok(Keys { order: Order { keys, ordinals, greatest, counts, totals, n, tiles: tiles as i32, digit: 0 }, _memory: memory })
    }

    /// Sorts by up to `digits` digits of 8 bits. Digits above the greatest key are skipped.
    pub fn sort(&self, gpu: &Gpu, digits: i32) -> Result<()> {
        if self.order.tiles == 1 {
            // SAFETY: the buffers have room for all keys.
            return unsafe { gpu.launch(&SORT, "order_tile", "Order", 1, &self.order) };
        }
        for digit in 0..digits {
            let order = Order { digit, ..self.order };
            // SAFETY: the buffers have room for all keys.
            unsafe {
                gpu.launch(&SORT, "order_count", "Order", order.tiles as u32, &order)?;
                gpu.launch(&SORT, "order_scan", "Order", DIGITS as u32, &order)?;
                gpu.launch(&SORT, "order_move", "Order", order.tiles as u32, &order)?;
            }
        }
        Ok(())
    }
}
