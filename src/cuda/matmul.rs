//! Matrix products: by cuBLAS if it is present and supports them, else by kernels of this library.

use super::blas::Blas;
use super::copy;
use super::gemm::Calls;
use super::gpu::Gpu;
use super::loops::{Loops, div_up, loops};
use super::map::type_name;
use super::products::{Block, Matrices, Products};
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Matmul;
use crate::layout::{Dims, Layout};
use crate::operand::Operand;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Declarations for kernels that need many registers.
pub(super) const TWO_BLOCKS: &str = include_str!("kernels/two_blocks.cuh");
/// Tiles in shared memory, for kernels that multiply.
pub(super) const TILES: &str = include_str!("kernels/tiles.cuh");

/// The kernels of matrix products.
pub static MATMUL: Source = Source { name: "matmul", text: &[TWO_BLOCKS, TILES, include_str!("kernels/matmul.cu")], entries };

/// The number of rows and columns of a tile.
pub(super) const TILE: i64 = 64;
/// The minimum number of rows and columns, and of elements, of a result for which tiles pay.
const TILED: [i64; 2] = [16, 1024];
/// The minimum number of products for each element for which tiles, or a warp, pay.
const SHORT: i64 = 8;
const LONG: i64 = 32;
/// The maximum number of splits.
const MOST_SPLITS: i64 = 1024;

/// The dtypes of factors.
const MULTIPLIED: &[Dtype] =
    &[Dtype::Uint8, Dtype::Int8, Dtype::Int16, Dtype::Int32, Dtype::Int64, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32, Dtype::Float64];
/// The dtypes of results.
const PRODUCTS: [Dtype; 4] = [Dtype::Int32, Dtype::Int64, Dtype::Float32, Dtype::Float64];

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for &dtype in MULTIPLIED {
        let name = type_name(dtype);
        entries.extend(WAYS.iter().map(|way| Entry::new(format!("{}<{name}>", way.kernel), "MatmulArgs", name)));
    }
    for dtype in PRODUCTS {
        let name = type_name(dtype);
        entries.push(Entry::new(format!("join_splits<{name}>"), "JoinArgs", name));
    }
    entries
}

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct MatmulArgs {
    a: u64,
    b: u64,
    c: u64,
    t: u64,
    partial: u64,
    sizes: [i64; 3],
    a_steps: [i64; 2],
    b_steps: [i64; 2],
    c_steps: [i64; 2],
    t_steps: [i64; 2],
    splits: i64,
    split_depth: i64,
    factors: [f64; 2],
    whole_factors: [i64; 2],
    products: Loops<4>,
    summed: Loops<2>,
    a_along: i32,
    b_along: i32,
    t_dtype: i32,
    c_dtype: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct JoinArgs {
    partial: u64,
    splits: i64,
    to: MatmulArgs,
}

/// The argument of the kernels, without splits.
fn args(products: &Products) -> Result<MatmulArgs> {
    let none = Dims::new();
    let (kept, summed) = if products.summed { (&none, &products.batch) } else { (&products.batch, &none) };
    let layout = |t: &Matrices, shape: &Dims| if shape.is_empty() { Layout::contiguous(&[]) } else { t.layout(shape) };
    let t = products.t.as_ref();
    let place = t.map_or(&products.c, |t| &t.0);
    let [a, b] = [&products.a, &products.b];
    let over = [a, b, &products.c, place];
    let kept = over.map(|t| layout(t, kept));
    let both = [a, b].map(|t| layout(t, summed));
    Ok(MatmulArgs {
        a: a.first,
        b: b.first,
        c: products.c.first,
        t: t.map_or(0, |t| t.0.first),
        partial: 0,
        sizes: [products.m, products.n, products.k],
        a_steps: [a.row, a.col],
        b_steps: [b.row, b.col],
        c_steps: products.c.bytes(),
        t_steps: place.bytes(),
        splits: 1,
        split_depth: (products.counts()[1] * products.k).max(1),
        factors: [products.alpha, products.beta].map(Scalar::to_f64),
        whole_factors: [products.alpha, products.beta].map(Scalar::to_i64),
        products: loops(&Plan::new(kept.each_ref(), over.map(|t| t.size)))?,
        summed: loops(&Plan::new(both.each_ref(), [a.size, b.size]))?,
        a_along: (a.row.abs() > a.col.abs()).into(),
        b_along: (b.col.abs() > b.row.abs()).into(),
        t_dtype: t.map_or(0, |t| t.1.code()),
        c_dtype: products.result.code(),
    })
}

/// The best kernel for these sizes.
fn way(products: &Products, args: &MatmulArgs) -> &'static Way {
    let &Products { m, n, k, .. } = products;
    let along = if m >= n { args.a_along } else { args.b_along };
    if m.min(n) >= TILED[0] && m * n >= TILED[1] && k >= SHORT {
        &WAYS[0]
    } else if k >= LONG && along != 0 {
        &WAYS[1]
    } else {
        &WAYS[2]
    }
}

/// A kernel, and the rule for splitting its sums.
struct Way {
    kernel: &'static str,
    /// The number of rows, and of columns, that a block or warp or thread computes.
    tile: i64,
    /// The number of threads for a tile.
    threads: i64,
    /// The number of sums from which on splitting does not pay.
    enough: i64,
    least: i64,
}

/// The kernels that use tiles, warps, and threads.
const WAYS: [Way; 3] = [
    Way { kernel: "multiply_tiles", tile: TILE, threads: 256, enough: 256, least: 512 },
    Way { kernel: "multiply_rows", tile: 1, threads: 32, enough: 8192, least: 1024 },
    Way { kernel: "multiply_elements", tile: 1, threads: 1, enough: 1 << 17, least: 256 },
];

/// The number of splits of `sums` sums of `depth` products, and the depth of a split. They depend only on sizes, so that rounding does,
/// too.
pub(super) fn splits(sums: i64, depth: i64, enough: i64, least: i64) -> [i64; 2] {
    let wanted = (enough / sums.max(1)).min(depth / least).clamp(1, MOST_SPLITS);
    let of_split = div_up(depth.max(1), wanted);
    [div_up(depth.max(1), of_split), of_split]
}

/// Multiplies matrices of one dtype. The result has this dtype or the dtype in which products are computed.
pub fn matmul(gpu: &Gpu, work: &Matmul<'_>, c: &Operand, inputs: [&Operand; 2], addend: Option<&Operand>) -> Result<()> {
    if c.layout().numel() == 0 {
        return Ok(());
    }
    let mut products = Products::new(work, c, inputs, addend)?;
    products.stack();
    products.turn();
    let Some(calls) = Calls::of(gpu, &products)? else { return run(gpu, &products) };
    let blas = Blas::on(gpu)?;
    if let Some(t) = addend {
        copy::convert(gpu, c, &t.with_layout(t.layout().broadcast_to(&c.layout().shape)?))?;
    }
    calls.run(&blas)
}

/// `c = beta * c + alpha * (a @ b)` for `count` m x k and k x n matrices of one dtype. If `beta` is 0, `c` is not read.
///
/// # Safety
/// The blocks hold the matrices, and `c` does not overlap the others.
pub(super) unsafe fn multiply(
    gpu: &Gpu,
    (dtype, count): (Dtype, i64),
    [m, n, k]: [i64; 3],
    (beta, c): (f64, Block),
    (alpha, a, b): (f64, Block, Block),
) -> Result<()> {
    if count == 0 || m == 0 || n == 0 {
        return Ok(());
    }
    let mut products = Products::of_blocks((dtype, count), [m, n, k], (beta, c), (alpha, a, b));
    products.turn();
    match Calls::of(gpu, &products)? {
        Some(calls) => calls.run(&Blas::on(gpu)?),
        None => run(gpu, &products),
    }
}

/// Computes the products by the kernels of this library.
fn run(gpu: &Gpu, products: &Products) -> Result<()> {
    let [kept, summed] = products.counts();
    let mut args = args(products)?;
    let way = way(products, &args);
    let sums = kept * div_up(products.m, way.tile) * div_up(products.n, way.tile);
    [args.splits, args.split_depth] = splits(sums, summed * products.k, way.enough, way.least);
    let compute = products.dtype.product_type();
    let (elements, name) = (kept * products.m * products.n, type_name(compute));
    let partial = match args.splits {
        1 => None,
        splits => Some(gpu.scratch((splits * elements) as usize * compute.size())?),
    };
    let to = args;
    args.partial = partial.as_ref().map_or(0, |partial| partial.ptr());
    let (all, call) = (sums * args.splits, format!("{}<{}>", way.kernel, type_name(products.dtype)));
    // Each tile is computed by one block.
    let blocks = if way.threads == 256 { all as u32 } else { gpu.blocks_for(all.saturating_mul(way.threads)) };
    // SAFETY: the operands are inside their storages. The result does not overlap the factors, and overlaps the addend only at the same
    // positions.
    unsafe { gpu.launch(&MATMUL, &call, "MatmulArgs", blocks, &args)? };
    if let Some(partial) = &partial {
        let join = JoinArgs { partial: partial.ptr(), splits: args.splits, to: MatmulArgs { splits: 1, ..to } };
        let threads = if args.splits > LONG { 32 } else { 1 };
        // SAFETY: as above; the sums of all splits are in the stream before this kernel.
        unsafe { gpu.launch(&MATMUL, &format!("join_splits<{name}>"), "JoinArgs", gpu.blocks_for(elements * threads), &join)? };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MOST_SPLITS, splits};

    #[test]
    fn splits_cover_all_products() {
        for sums in [1, 2, 5, 100, 1 << 20] {
            for depth in [0, 1, 2, 255, 256, 1000, 1 << 20, (1 << 20) + 7] {
                let [count, of_split] = splits(sums, depth, 256, 64);
                assert!((1..=MOST_SPLITS).contains(&count) && of_split > 0, "{sums} {depth}");
                assert!(count * of_split >= depth && (count - 1) * of_split < depth.max(1), "{sums} {depth}: {count} of {of_split}");
            }
        }
    }
}
