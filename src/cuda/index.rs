//! Elements by position on GPUs: gathered, scattered, or accumulated.

use super::copy::{UNITS, widen};
use super::gpu::Gpu;
use super::loops::{Loops, MOST_LOOPS, loops};
use super::map::type_name;
use super::order::{ITEMS, Keys, MOST_KEYS, ORDER, Order};
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Combine, Index, Move};
use crate::operand::Operand;
use crate::plan::{Loop, Plan};

/// The kernels of elements by position.
pub static INDEX: Source = Source { name: "index", text: &[ITEMS, ORDER, include_str!("kernels/index.cu")], entries };

/// The maximum number of candidate elements for one place that a thread walks through.
const WALKED: i64 = 32;
/// The number of places that keep a GPU busy with one thread each.
const BUSY: i64 = 1 << 16;
/// The number of digits of keys. Places are less than 2^47 elements from the first.
const KEY_DIGITS: i32 = 6;

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct IndexArgs {
    outer: Loops<3>,
    inner: Loops<3>,
    order: Order,
    data: [u64; 3],
    step: i64,
    count: i64,
    size: i32,
    combine: i32,
}

/// A loop over one element.
const ONE: Loops<3> = Loops { total: 1, n: [1; MOST_LOOPS], step: [[0; MOST_LOOPS]; 3], count: 1, narrow: 1 };

fn entries() -> Vec<Entry> {
    let mut entries = vec![Entry::new("index_keys", "IndexArgs", "moves")];
    for unit in UNITS {
        entries.extend(["gather", "scatter", "scatter_sorted"].map(|name| Entry::new(format!("{name}<{unit}>"), "IndexArgs", "moves")));
    }
    for dtype in Dtype::ALL.iter().filter(|dtype| dtype.compute() == **dtype) {
        let name = type_name(*dtype);
        entries.extend(["accumulate", "accumulate_sorted"].map(|call| Entry::new(format!("{call}<{name}>"), "IndexArgs", name)));
    }
    entries
}

/// Moves elements by positions, which have all been checked.
pub fn index(gpu: &Gpu, work: &Index, out: &Operand, [a, b]: [&Operand; 2]) -> Result<()> {
    // The order of operands is: elements, positions, and the indexed tensor.
    let all = if work.movement == Move::Gather { [out, a, b] } else { [a, b, out] };
    let plan = Plan::new(all.map(|operand| &operand.layout), all.map(|operand| operand.dtype.size()));
    if plan.numel() == 0 {
        return Ok(());
    }
    let size = out.dtype.size();
    let mut args = IndexArgs {
        outer: loops(&plan)?,
        inner: ONE,
        order: Order::NONE,
        data: all.map(|operand| operand.first() as u64),
        step: work.step * size as i64,
        count: work.count,
        size: size as i32,
        combine: combination(work.movement, out.dtype),
    };
    if work.movement != Move::Gather {
        return put(gpu, args, &plan, (work.movement == Move::Scatter).then_some(size), out.dtype);
    }
    let unit = widen(&mut args.outer, size, [true, false, true], args.data[0] | args.data[2] | args.step as u64);
    // SAFETY: the operands are inside their storages, the result does not overlap the others, and every position was checked.
    unsafe { gpu.launch(&INDEX, &format!("gather<{unit}>"), "IndexArgs", gpu.blocks_for(args.outer.total), &args) }
}

/// The kernel's number of a combination. For Bool, the greatest is the sum, and the least is the product.
fn combination(movement: Move, dtype: Dtype) -> i32 {
    match movement {
        Move::Accumulate(Combine::Max) if dtype != Dtype::Bool => 2,
        Move::Accumulate(Combine::Min) if dtype != Dtype::Bool => 3,
        Move::Accumulate(Combine::Multiply | Combine::Min) => 1,
        _ => 0,
    }
}

/// Scatters elements of `moved` bytes, or combines elements of `dtype`. Loops in which the place in the tensor moves are independent of
/// each other. In the other loops several elements may have the same place; they are processed in order.
fn put(gpu: &Gpu, mut args: IndexArgs, plan: &Plan<3>, moved: Option<usize>, dtype: Dtype) -> Result<()> {
    let some = |moves: bool| -> Result<Loops<3>> {
        let mut found: Vec<Loop<3>> = plan.loops().iter().copied().filter(|one| (one.step[2] != 0) == moves && one.n > 1).collect();
        if found.is_empty() { Ok(ONE) } else { loops(&Plan::of_loops(&mut found, plan.item)) }
    };
    (args.outer, args.inner) = (some(true)?, some(false)?);
    // True if all places have the same positions.
    let shared = args.outer.step[1].iter().all(|&step| step == 0);
    let keys = if shared { args.inner.total } else { plan.numel() as i64 };
    let walked = args.inner.total <= WALKED || (!shared && args.outer.total >= BUSY) || keys > MOST_KEYS;
    if !walked && !shared {
        (args.outer, args.inner) = (ONE, loops(plan)?);
    }
    let name = match moved {
        None => type_name(dtype).to_owned(),
        Some(size) if shared => {
            let steps = args.inner.step[0].iter().fold(0, |together, &step| together | step as u64);
            widen(&mut args.outer, size, [true, false, true], args.data[0] | args.data[2] | args.step as u64 | steps).to_string()
        }
        Some(size) => size.to_string(),
    };
    let call = if moved.is_some() { "scatter" } else { "accumulate" };
    let run = |call: &str, items: i64, args: &IndexArgs| {
        // SAFETY: the operands are inside their storages, the result does not overlap the others, and every position was checked.
        unsafe { gpu.launch(&INDEX, call, "IndexArgs", gpu.blocks_for(items), args) }
    };
    if walked {
        return run(&format!("{call}<{name}>"), args.outer.total, &args);
    }
    let sorted = Keys::new(gpu, keys)?;
    args.order = sorted.order;
    run("index_keys", keys, &args)?;
    sorted.sort(gpu, KEY_DIGITS)?;
    run(&format!("{call}_sorted<{name}>"), args.outer.total.saturating_mul(keys), &args)
}
