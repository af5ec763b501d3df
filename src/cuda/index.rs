//! Elements by position on GPUs: gathered, scattered, or accumulated.

use super::copy::{UNITS, widen};
use super::count::Check;
use super::gpu::Gpu;
use super::loops::{Loops, MOST_LOOPS, div_up, loops};
use super::map::type_name;
use super::order::{ITEMS, Keys, MOST_KEYS, ORDER, Order};
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Combine, Index, Move, out_of_range};
use crate::layout::{Dims, gcd};
use crate::operand::Operand;
use crate::plan::{Loop, Plan};

/// The kernels of elements by position.
pub static INDEX: Source = Source { name: "index", text: &[ITEMS, ORDER, include_str!("kernels/index.cu")], entries };

/// The maximum number of candidate elements for one place that a thread walks through.
const WALKED: i64 = 32;
/// The number of places that keep a GPU busy with one thread each.
const BUSY: i64 = 1 << 16;
/// The number of keys of the chunks in which many elements are combined.
const CHUNK: [i64; 2] = [8, 64];

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
    unit: i64,
    invalid: u64,
    sums: u64,
    chunk: i32,
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
        entries.push(Entry::new(format!("accumulate<{name}>"), "IndexArgs", name));
        let wide = Some(together(*dtype)).filter(|&n| n > 1);
        for n in std::iter::once(1).chain(wide) {
            entries
                .extend(["accumulate_chunks", "accumulate_sums"].map(|call| Entry::new(format!("{call}<{name}, {n}>"), "IndexArgs", name)));
        }
    }
    entries
}

/// The number of elements of outer places that are combined together.
fn together(dtype: Dtype) -> usize {
    if dtype.size() < 4 { 1 } else { (16 / dtype.size()).max(1) }
}

/// Moves elements by positions. The check of the positions comes first on the GPU; the host waits for it last, so that the GPU is never
/// idle.
pub fn index(gpu: &Gpu, work: &Index, out: &Operand, [a, b]: [&Operand; 2]) -> Result<()> {
    let Some(range) = work.range else { return moved(gpu, work, 0, out, [a, b]) };
    let positions = if work.movement == Move::Gather { a } else { b };
    let layout = positions.layout();
    // Positions are row-major, and repeated along other dimensions.
    let shape: Dims = (0..layout.ndim()).filter(|&d| layout.strides[d] != 0).map(|d| layout.shape[d]).collect();
    let check = Check::new(gpu, positions.first() as u64, shape.iter().product(), range)?;
    let launched = moved(gpu, work, check.found(), out, [a, b]);
    let Some(at) = check.end()? else { return launched };
    let mut value = [0i64];
    // SAFETY: the position is inside the operand, which is row-major.
    unsafe { gpu.read(positions.first() as u64 + at as u64 * 8, &mut value) }?;
    Err(out_of_range(value[0], at, &shape, range[1]))
}

/// Moves elements, unless the number at the address `invalid` is not 0.
fn moved(gpu: &Gpu, work: &Index, invalid: u64, out: &Operand, [a, b]: [&Operand; 2]) -> Result<()> {
    // The order of operands is: elements, positions, and the indexed tensor.
    let all = if work.movement == Move::Gather { [out, a, b] } else { [a, b, out] };
    let plan = Plan::new(all.map(|operand| operand.layout()), all.map(|operand| operand.dtype.size()));
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
        count: work.count(),
        unit: 1,
        invalid,
        sums: 0,
        chunk: 0,
        combine: combination(work.movement, out.dtype),
    };
    if work.movement != Move::Gather {
        let entries = work.range.map(|[_, entries]| entries);
        return put(gpu, args, &plan, entries, (work.movement == Move::Scatter).then_some(size), out.dtype);
    }
    let unit = widen(&mut args.outer, size, [true, false, true], args.data[0] | args.data[2] | args.step as u64);
    // SAFETY: the operands are inside their storages, the result does not overlap the others, and every position is checked.
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
fn put(gpu: &Gpu, mut args: IndexArgs, plan: &Plan<3>, entries: Option<i64>, moved: Option<usize>, dtype: Dtype) -> Result<()> {
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
    let (size, mut wide) = (dtype.size(), args.outer);
    let steps = args.inner.step[0].iter().fold(0, |together, &step| together | step as u64);
    let unit =
        if shared { widen(&mut wide, size, [true, false, true], args.data[0] | args.data[2] | args.step as u64 | steps) } else { size };
    let name = match moved {
        None => type_name(dtype).to_owned(),
        Some(_) => unit.to_string(),
    };
    if moved.is_some() {
        args.outer = wide;
    }
    let run = |call: &str, items: i64, args: &IndexArgs| {
        // SAFETY: the operands are inside their storages, the result does not overlap the others, and every position is checked.
        unsafe { gpu.launch(&INDEX, call, "IndexArgs", gpu.blocks_for(items), args) }
    };
    if walked {
        let call = if moved.is_some() { "scatter" } else { "accumulate" };
        return run(&format!("{call}<{name}>"), args.outer.total, &args);
    }
    let sorted = Keys::new(gpu, keys)?;
    args.order = sorted.order;
    args.unit = args.inner.step[2].iter().fold(args.step, |a, &b| gcd(a, b)).abs().max(1);
    run("index_keys", keys, &args)?;
    sorted.sort(gpu, digits(&args, entries))?;
    if moved.is_some() {
        return run(&format!("scatter_sorted<{name}>"), args.outer.total.saturating_mul(keys), &args);
    }
    let mut n = 1;
    if unit / size == together(dtype) {
        (args.outer, n) = (wide, unit / size);
    }
    let chunk = (args.outer.total.saturating_mul(keys) / BUSY).clamp(CHUNK[0], CHUNK[1]);
    let items = args.outer.total.saturating_mul(div_up(keys, chunk));
    let sums = gpu.scratch(items as usize * n * size)?;
    (args.chunk, args.sums) = (chunk as i32, sums.ptr());
    run(&format!("accumulate_chunks<{name}, {n}>"), items, &args)?;
    run(&format!("accumulate_sums<{name}, {n}>"), items, &args)
}

/// The number of digits of the greatest key of a tensor with this number of entries.
fn digits(args: &IndexArgs, entries: Option<i64>) -> i32 {
    // Places are less than 2^47 elements from the first.
    let Some(entries) = entries else { return 6 };
    let reach = |n: i64, step: i64| (n - 1).max(0).saturating_mul((step / args.unit).abs());
    let loops = (0..MOST_LOOPS).map(|l| reach(args.inner.n[l], args.inner.step[2][l]));
    let greatest = loops.fold(reach(entries, args.step), i64::saturating_add).saturating_mul(2);
    div_up(64 - i64::from(greatest.leading_zeros()), 8) as i32
}
