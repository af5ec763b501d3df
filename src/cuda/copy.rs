//! Copies, conversions and fills on GPUs.

use super::gpu::Gpu;
use super::loops::{Loops, div_up, loops};
use super::map::type_name;
use super::order::ITEMS;
use super::source::{Entry, Source};
use crate::dtype::{Category, Dtype};
use crate::element::bits;
use crate::error::Result;
use crate::operand::Operand;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Copies and fills.
pub static COPY: Source = Source { name: "copy", text: &[ITEMS, include_str!("kernels/copy.cu")], entries };

/// The sizes of units that kernels move, in bytes.
pub(super) const UNITS: [usize; 5] = [1, 2, 4, 8, 16];
/// The number of rows and columns from which on a transposed copy uses tiles.
const TILED: i64 = 8;
/// The number of rows and columns of a tile.
const SIDE: i64 = 32;

#[repr(C)]
#[derive(Clone, Copy)]
struct CopyArgs {
    loops: Loops<2>,
    to: u64,
    from: u64,
    n: i64,
    to_dtype: i32,
    from_dtype: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct TransposeArgs {
    matrices: Loops<2>,
    to: u64,
    from: u64,
    columns: i64,
    rows: i64,
    to_step: i64,
    from_step: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct FillArgs {
    loops: Loops<1>,
    to: u64,
    bits: u64,
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for unit in UNITS {
        entries.push(Entry::new(format!("moved<{unit}>"), "CopyArgs", "moves"));
        entries.push(Entry::new(format!("fill<{unit}>"), "FillArgs", "moves"));
    }
    for size in [1, 2, 4, 8] {
        entries.push(Entry::new(format!("transposed<{size}>"), "TransposeArgs", "moves"));
    }
    for by in ["i64", "f32", "f64"] {
        entries.push(Entry::new(format!("converted<{by}>"), "CopyArgs", "conversions"));
    }
    for &from in Dtype::ALL {
        for &to in Dtype::ALL.iter().filter(|&&to| to != from) {
            entries.push(Entry::new(flat(to, from), "CopyArgs", type_name(from)));
        }
    }
    entries
}

/// The kernel of a contiguous conversion.
fn flat(to: Dtype, from: Dtype) -> String {
    format!("converted_flat<{}, {}>", type_name(to), type_name(from))
}

/// The intermediate type in conversions from a dtype.
fn way(from: Dtype) -> &'static str {
    match from.category() {
        Category::Float if from == Dtype::Float64 => "f64",
        Category::Float => "f32",
        _ => "i64",
    }
}

/// Merges contiguous elements of `size` bytes into units of up to 16 bytes. The elements are in the first loop, in the operands marked
/// `moved`; the other operands have step 0 there. Returns the size of a unit, which also divides `others`, the bitwise or of further
/// numbers.
pub fn widen<const N: usize>(loops: &mut Loops<N>, size: usize, moved: [bool; N], others: u64) -> usize {
    if (0..N).any(|k| loops.step[k][0] != if moved[k] { size as i64 } else { 0 }) {
        return size;
    }
    let bytes = loops.n[0] * size as i64;
    let steps = (0..N).filter(|&k| moved[k]).flat_map(|k| &loops.step[k][1..loops.count as usize]);
    let together = steps.fold(others | bytes as u64, |together, &step| together | step as u64);
    let unit = (1usize << together.trailing_zeros().min(4)).max(size);
    loops.n[0] = bytes / unit as i64;
    loops.total /= (unit / size) as i64;
    (0..N).filter(|&k| moved[k]).for_each(|k| loops.step[k][0] = unit as i64);
    unit
}

/// Copies and converts the elements of `input` to the same positions of `out`.
pub fn convert(gpu: &Gpu, out: &Operand, input: &Operand) -> Result<()> {
    let plan = Plan::new([out.layout(), input.layout()], [out.dtype.size(), input.dtype.size()]);
    let n = plan.numel() as i64;
    if n == 0 || (out.dtype == input.dtype && out.in_step_with(input)) {
        return Ok(());
    }
    let (to, from) = (out.first() as u64, input.first() as u64);
    if out.dtype == input.dtype {
        // SAFETY: the operands are inside their storages and do not overlap.
        return unsafe { moved(gpu, &plan, [to, from], out.dtype.size()) };
    }
    let args = CopyArgs { loops: loops(&plan)?, to, from, n, to_dtype: out.dtype.code(), from_dtype: input.dtype.code() };
    let aligned = (to | from).is_multiple_of(16);
    // SAFETY: the operands are inside their storages, and do not overlap except at the same positions.
    unsafe {
        match plan.is_flat() && aligned {
            true => {
                let together = (16 / out.dtype.size().max(input.dtype.size())) as i64;
                gpu.launch(&COPY, &flat(out.dtype, input.dtype), "CopyArgs", gpu.blocks_for(n / together), &args)
            }
            false => gpu.launch(&COPY, &format!("converted<{}>", way(input.dtype)), "CopyArgs", gpu.blocks_for(n), &args),
        }
    }
}

/// Moves elements of `size` bytes.
///
/// # Safety
/// The addresses hold all elements of the plan, and the result does not overlap the source.
pub(super) unsafe fn moved(gpu: &Gpu, plan: &Plan<2>, [to, from]: [u64; 2], size: usize) -> Result<()> {
    if plan.is_flat() {
        // SAFETY: the caller meets the conditions above.
        return unsafe { gpu.copy(to, from, plan.numel() * size) };
    }
    if let Some(args) = transposed(plan, [to, from], size as i64)? {
        let tiles = args.matrices.total.saturating_mul(div_up(args.columns, SIDE)).saturating_mul(div_up(args.rows, SIDE));
        let blocks = gpu.blocks_for(tiles.saturating_mul(SIDE * SIDE / 4));
        // SAFETY: the caller meets the conditions above.
        return unsafe { gpu.launch(&COPY, &format!("transposed<{size}>"), "TransposeArgs", blocks, &args) };
    }
    let mut args = CopyArgs { loops: loops(plan)?, to, from, n: plan.numel() as i64, to_dtype: 0, from_dtype: 0 };
    let unit = widen(&mut args.loops, size, [true; 2], to | from);
    // SAFETY: the caller meets the conditions above.
    unsafe { gpu.launch(&COPY, &format!("moved<{unit}>"), "CopyArgs", gpu.blocks_for(args.loops.total), &args) }
}

/// The arguments of a transposed copy, if the plan has matrices with contiguous columns in the result and contiguous rows in the source.
fn transposed(plan: &Plan<2>, [to, from]: [u64; 2], size: i64) -> Result<Option<TransposeArgs>> {
    let mut matrices = loops(plan)?;
    let first = |k: usize| matrices.step[k][0];
    let rows = (1..matrices.count as usize).find(|&l| matrices.step[1][l] == size);
    let Some(l) = rows.filter(|&l| first(0) == size && first(1) != size && matrices.n[0] >= TILED && matrices.n[l] >= TILED) else {
        return Ok(None);
    };
    let (columns, rows, to_step, from_step) = (matrices.n[0], matrices.n[l], matrices.step[0][l], matrices.step[1][0]);
    // The other loops remain. A loop of length 1 changes nothing.
    for l in [0, l] {
        matrices.n[l] = 1;
        matrices.step.iter_mut().for_each(|step| step[l] = 0);
    }
    matrices.total /= columns * rows;
    Ok(Some(TransposeArgs { matrices, to, from, columns, rows, to_step, from_step }))
}

/// Stores a number in every element of `out`. Several positions may share an element.
pub fn fill(gpu: &Gpu, out: &Operand, value: Scalar) -> Result<()> {
    let (mut layout, size) = (out.layout().clone(), out.dtype.size());
    // A dimension with stride 0 would write the same elements again, so its size becomes 1.
    for d in 0..layout.ndim() {
        if layout.strides[d] == 0 && layout.shape[d] > 1 {
            layout.shape[d] = 1;
        }
    }
    let plan = Plan::new([&layout], [size]);
    if plan.numel() == 0 {
        return Ok(());
    }
    let mut pattern = bits(out.dtype, value);
    (size..8).for_each(|k| pattern |= (pattern >> (8 * (k - size)) & 0xff) << (8 * k));
    let to = out.first() as u64;
    if pattern == 0 && plan.is_flat() {
        // SAFETY: the elements of the result are contiguous.
        return unsafe { gpu.zero(to, plan.numel() * size) };
    }
    let mut args = FillArgs { loops: loops(&plan)?, to, bits: pattern };
    let unit = widen(&mut args.loops, size, [true], to);
    // SAFETY: the operand is inside its storage.
    unsafe { gpu.launch(&COPY, &format!("fill<{unit}>"), "FillArgs", gpu.blocks_for(args.loops.total), &args) }
}
