//! Elements computed from their position: progressions, triangles of matrices, one-hot rows.

use super::copy::convert;
use super::gpu::Gpu;
use super::loops::{Loops, loops};
use super::order::ITEMS;
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::element::bits;
use crate::error::Result;
use crate::launch::sequence::{Ramp, Sequence, Triangle};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// The kernels of progressions and triangles.
pub static SEQUENCE: Source = Source { name: "sequence", text: &[ITEMS, include_str!("kernels/sequence.cu")], entries };

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct IntegersArgs {
    to: u64,
    n: i64,
    start: i64,
    step: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Progression {
    anchor: f64,
    origin: i64,
    step: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct SpacedArgs {
    to: u64,
    n: i64,
    up: Progression,
    down: Progression,
    half: i64,
    base: f64,
    dtype: i32,
    power: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct TriangleArgs {
    matrices: Loops<2>,
    to: u64,
    from: u64,
    rows: i64,
    columns: i64,
    row_step: [i64; 2],
    column_step: [i64; 2],
    k: i64,
    upper: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PlacesArgs {
    rows: u64,
    columns: u64,
    n: i64,
    first: i64,
    count: i64,
    width: i64,
    even: i64,
    growth: i64,
    most: i64,
    shift: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MarkArgs {
    to: u64,
    columns: u64,
    n: i64,
    width: i64,
    bits: u64,
    size: i32,
    unused: i32,
}

fn entries() -> Vec<Entry> {
    let of = |call: &str, args| Entry::new(call, args, "sequence");
    let mut entries = vec![of("spaced", "SpacedArgs"), of("places", "PlacesArgs"), of("mark", "MarkArgs")];
    for size in [1, 2, 4, 8] {
        entries.push(of(&format!("integers<{size}>"), "IntegersArgs"));
        entries.push(of(&format!("triangle<{size}>"), "TriangleArgs"));
    }
    entries
}

/// Fills a row-major operand with a progression.
pub fn sequence(gpu: &Gpu, work: &Sequence, out: &Operand) -> Result<()> {
    let (to, n) = (out.first() as u64, out.layout().numel());
    if n == 0 {
        return Ok(());
    }
    let blocks = gpu.blocks_for(n);
    match *work {
        Sequence::Integers { start, step } => {
            let args = IntegersArgs { to, n, start, step };
            // SAFETY: the operand has `n` elements of this size.
            unsafe { gpu.launch(&SEQUENCE, &format!("integers<{}>", out.dtype.size()), "IntegersArgs", blocks, &args) }
        }
        Sequence::Spaced(numbers) => {
            let progression = |ramp: Ramp| Progression { anchor: ramp.anchor, origin: ramp.origin, step: ramp.step };
            // The exponential of a product loses digits, which only matter for float64.
            let (base, power) = match numbers.base {
                None => (0.0, 0),
                Some(base) if out.dtype == Dtype::Float32 && base > 0.0 && base.is_finite() => (base.ln(), 2),
                Some(base) => (base, 1),
            };
            let [up, down] = [numbers.up, numbers.down].map(progression);
            let half = i64::try_from(numbers.half).unwrap_or(i64::MAX);
            let args = SpacedArgs { to, n, up, down, half, base, dtype: out.dtype.code(), power };
            // SAFETY: the operand has `n` elements.
            unsafe { gpu.launch(&SEQUENCE, "spaced", "SpacedArgs", blocks, &args) }
        }
    }
}

/// Copies the elements of `input` in the triangle to `out`, and 0 elsewhere. Both are the same, or do not overlap.
pub fn triangle(gpu: &Gpu, work: &Triangle, out: &Operand, input: &Operand) -> Result<()> {
    let last = out.layout().ndim() - 1;
    if out.layout().numel() == 0 {
        return Ok(());
    }
    if out.dtype != input.dtype {
        convert(gpu, out, input)?;
        return triangle(gpu, work, out, out);
    }
    let size = out.dtype.size() as i64;
    let mut layouts = [out.layout().clone(), input.layout().clone()];
    // Neighbouring threads process neighbouring elements in memory.
    let swapped = layouts[0].strides[last] > layouts[0].strides[last - 1];
    let work = if swapped { work.transposed() } else { *work };
    let (of_rows, of_columns) = if swapped { (last, last - 1) } else { (last - 1, last) };
    let [row_step, column_step] = [of_rows, of_columns].map(|d| [0, 1].map(|k: usize| layouts[k].strides[d] * size));
    for Layout { shape, .. } in &mut layouts {
        (shape[last - 1], shape[last]) = (1, 1);
    }
    let args = TriangleArgs {
        matrices: loops(&Plan::new([&layouts[0], &layouts[1]], [size as usize; 2]))?,
        to: out.first() as u64,
        from: input.first() as u64,
        rows: work.rows as i64,
        columns: work.cols as i64,
        row_step,
        column_step,
        k: work.k,
        upper: work.upper.into(),
        unused: 0,
    };
    // SAFETY: the operands are inside their storages, and are the same or do not overlap.
    unsafe { gpu.launch(&SEQUENCE, &format!("triangle<{size}>"), "TriangleArgs", gpu.blocks_for(out.layout().numel()), &args) }
}

/// Writes the rows and then the columns of the positions of a triangle.
pub fn triangle_indices(gpu: &Gpu, work: &Triangle, out: &Operand) -> Result<()> {
    let (rows, n) = (out.first() as u64, out.layout().numel() / 2);
    if n == 0 {
        return Ok(());
    }
    let filled = work.filled_rows();
    let (first, count) = (filled.start as i64, filled.len() as i64);
    let width = work.columns(filled.start).len() as i64;
    // On and above a diagonal, rows get shorter from the row on at which the diagonal enters the matrix. On and below, they grow until they
    // are full.
    let (even, growth, shift) = match work.upper {
        true => (work.k.min(0).saturating_neg().min(count - 1) + 1, -1, work.k),
        false => (1, 1, i64::MIN / 2),
    };
    let args = PlacesArgs { rows, columns: rows + n as u64 * 8, n, first, count, width, even, growth, most: work.cols as i64, shift };
    // SAFETY: the result is row-major, 2 x n.
    unsafe { gpu.launch(&SEQUENCE, "places", "PlacesArgs", gpu.blocks_for(n), &args) }
}

/// Stores 1 in each row of `out`, in the listed column.
pub fn one_hot(gpu: &Gpu, out: &Operand, columns: &Operand) -> Result<()> {
    let n = columns.layout().numel();
    if n == 0 || out.layout().numel() == 0 {
        return Ok(());
    }
    let args = MarkArgs {
        to: out.first() as u64,
        columns: columns.first() as u64,
        n,
        width: out.layout().numel() / n,
        bits: bits(out.dtype, Scalar::Int(1)),
        size: out.dtype.size() as i32,
        unused: 0,
    };
    // SAFETY: the operands are row-major, with a row for each column number, which was checked.
    unsafe { gpu.launch(&SEQUENCE, "mark", "MarkArgs", gpu.blocks_for(n), &args) }
}
