//! Searches in ascending sequences.

use super::gpu::Gpu;
use super::map::type_name;
use super::order::ITEMS;
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Search;
use crate::operand::Operand;

/// The kernels of searches.
pub static SEARCH: Source = Source { name: "search", text: &[ITEMS, include_str!("kernels/search.cu")], entries };

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct SearchArgs {
    sequences: u64,
    x: u64,
    to: u64,
    total: i64,
    row: i64,
    n: i64,
    other: i32,
    unused: i32,
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for &dtype in Dtype::ALL.iter().filter(|dtype| dtype.compute() == **dtype) {
        entries.extend(["search", "contains"].map(|name| Entry::new(format!("{name}<{}>", type_name(dtype)), "SearchArgs", "search")));
    }
    entries
}

/// Searches for the elements of `x`, which have a compute type, in ascending sequences.
pub fn search(gpu: &Gpu, work: Search, out: &Operand, sequences: &Operand, x: &Operand) -> Result<()> {
    let total = x.layout().numel();
    if total == 0 {
        return Ok(());
    }
    // There is one sequence for all elements, or one for each row of elements.
    let row = if sequences.layout().ndim() <= 1 { total } else { x.layout().shape.last().map_or(1, |&n| n) };
    let (name, other) = match work {
        Search::Place { right } => ("search", right),
        Search::Contains { invert } => ("contains", invert),
    };
    let args = SearchArgs {
        sequences: sequences.first() as u64,
        x: x.first() as u64,
        to: out.first() as u64,
        total,
        row,
        n: sequences.layout().shape.last().map_or(1, |&n| n),
        other: other.into(),
        unused: 0,
    };
    // SAFETY: the operands are row-major, with a result for each element and a sequence for each row.
    unsafe { gpu.launch(&SEARCH, &format!("{name}<{}>", type_name(x.dtype)), "SearchArgs", gpu.blocks_for(total), &args) }
}
