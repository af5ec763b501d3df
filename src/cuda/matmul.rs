//! Matrix products.

use super::gpu::Gpu;
use super::loops::{Loops, div_up, loops};
use super::map::type_name;
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Matmul;
use crate::layout::{Dims, Layout};
use crate::operand::Operand;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Entries of kernels that need many registers.
pub(super) const TWO_BLOCKS: &str = include_str!("kernels/two_blocks.cuh");
/// Tiles in shared memory, for kernels that multiply.
pub(super) const TILES: &str = include_str!("kernels/tiles.cuh");

/// Matrix products.
pub static MATMUL: Source = Source { name: "matmul", text: &[TWO_BLOCKS, TILES, include_str!("kernels/matmul.cu")], entries };

/// Rows and columns of a tile.
pub(super) const TILE: i64 = 64;
/// Rows and columns of a product that tiles pay for, and elements.
const TILED: [i64; 2] = [16, 1024];
/// Products of an element that tiles pay for, and that a warp pays for.
const SHORT: i64 = 8;
const LONG: i64 = 32;
/// Splits at most.
const MOST_SPLITS: i64 = 1024;

/// The dtypes that are multiplied.
const MULTIPLIED: &[Dtype] =
    &[Dtype::Uint8, Dtype::Int8, Dtype::Int16, Dtype::Int32, Dtype::Int64, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32, Dtype::Float64];
/// The dtypes of products.
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

/// As the kernels declare it.
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
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct JoinArgs {
    partial: u64,
    splits: i64,
    to: MatmulArgs,
}

/// The matrices of an operand: its address, the steps of the batch and of rows and columns in elements, and bytes of an element.
#[derive(Debug, Clone)]
struct Matrices {
    first: u64,
    batch: Dims,
    row: i64,
    col: i64,
    size: usize,
}

impl Matrices {
    /// Matrices in the last two dimensions of a layout.
    fn of(t: &Operand, layout: &Layout) -> Matrices {
        let (batch, steps) = layout.strides.split_at(layout.ndim() - 2);
        Matrices { first: t.first() as u64, batch: batch.into(), row: steps[0], col: steps[1], size: t.dtype.size() }
    }

    fn transpose(&mut self) {
        (self.row, self.col) = (self.col, self.row);
    }

    /// True if the dimension of the batch continues the rows.
    fn continues(&self, dim: usize, rows: i64) -> bool {
        rows == 1 || self.batch[dim] == self.row * rows
    }

    /// Bytes between rows and between columns.
    fn bytes(&self) -> [i64; 2] {
        [self.row, self.col].map(|step| step * self.size as i64)
    }

    fn layout(&self, shape: &Dims) -> Layout {
        Layout { shape: shape.clone(), strides: self.batch.clone(), offset: 0 }
    }
}

/// Products `c = beta * t + alpha * (a @ b)` of m x k and k x n matrices, for each place of a batch, or summed over it.
#[derive(Debug)]
struct Products {
    dtype: Dtype,
    compute: Dtype,
    m: i64,
    n: i64,
    k: i64,
    batch: Dims,
    summed: bool,
    a: Matrices,
    b: Matrices,
    c: Matrices,
    t: Option<(Matrices, Dtype)>,
    alpha: Scalar,
    beta: Scalar,
}

impl Products {
    fn new(work: &Matmul<'_>, c: &Operand, [a, b]: [&Operand; 2], t: Option<&Operand>) -> Result<Products> {
        let over = |t: &Operand| -> Result<Layout> {
            let mut shape = Dims::from(work.batch);
            shape.extend_from_slice(&t.layout.shape[t.layout.ndim() - 2..]);
            t.layout.broadcast_to(&shape)
        };
        // Dimensions that the result lacks, with one entry each.
        let result = |layout: &Layout| -> Result<Layout> {
            let mut layout = layout.clone();
            if !work.form.columns {
                layout.unsqueeze(-1)?;
            }
            if !work.form.rows {
                layout.unsqueeze(-2)?;
            }
            Ok(layout)
        };
        let (of_a, of_b) = (over(a)?, over(b)?);
        let (rows, cols) = (&of_a.shape[work.batch.len()..], &of_b.shape[work.batch.len()..]);
        let addend = |t: &Operand| -> Result<_> {
            let layout = result(&t.layout.broadcast_to(&c.layout.shape)?)?;
            Ok((Matrices::of(t, &layout), t.dtype))
        };
        let nothing = work.alpha.to_f64() == 0.0;
        Ok(Products {
            dtype: a.dtype,
            compute: c.dtype,
            m: rows[0],
            n: cols[1],
            // Without their factor, products are not computed.
            k: if nothing { 0 } else { rows[1] },
            batch: work.batch.into(),
            summed: !work.form.batch,
            a: Matrices::of(a, &of_a),
            b: Matrices::of(b, &of_b),
            c: Matrices::of(c, &result(&c.layout)?),
            t: t.map(addend).transpose()?,
            alpha: work.alpha,
            beta: work.beta,
        })
    }

    /// Takes dimensions of the batch for more rows, where all have one matrix on the right and rows follow each other.
    fn stack(&mut self) {
        while !self.summed && !self.batch.is_empty() {
            let (dim, m) = (self.batch.len() - 1, self.m);
            let size = self.batch[dim];
            let continues = |t: &Matrices| t.continues(dim, m);
            let fits =
                self.b.batch[dim] == 0 && [&self.a, &self.c].into_iter().all(continues) && self.t.as_ref().is_none_or(|t| continues(&t.0));
            if size != 1 && !fits {
                return;
            }
            self.batch = self.batch[..dim].into();
            let all = [&mut self.a, &mut self.b, &mut self.c].into_iter().chain(self.t.as_mut().map(|t| &mut t.0));
            for (k, t) in all.enumerate() {
                let step = t.batch[dim];
                t.batch = t.batch[..dim].into();
                if m == 1 && size != 1 && k != 1 {
                    t.row = step;
                }
            }
            self.m *= size;
        }
    }

    /// Computes the transposed products where the columns of the result are contiguous.
    fn turn(&mut self) {
        if self.c.row.abs() >= self.c.col.abs() || self.m == 1 || self.n == 1 {
            return;
        }
        (self.m, self.n) = (self.n, self.m);
        std::mem::swap(&mut self.a, &mut self.b);
        [&mut self.a, &mut self.b, &mut self.c].into_iter().for_each(Matrices::transpose);
        if let Some((t, _)) = &mut self.t {
            t.transpose();
        }
    }

    /// Products whose results stay apart, and products that are summed.
    fn counts(&self) -> [i64; 2] {
        let count = self.batch.iter().product();
        if self.summed { [1, count] } else { [count, 1] }
    }

    fn args(&self) -> Result<MatmulArgs> {
        let none = Dims::new();
        let (kept, summed) = if self.summed { (&none, &self.batch) } else { (&self.batch, &none) };
        let layout = |t: &Matrices, shape: &Dims| if shape.is_empty() { Layout::contiguous(&[]) } else { t.layout(shape) };
        let t = self.t.as_ref();
        let place = t.map_or(&self.c, |t| &t.0);
        let [a, b] = [&self.a, &self.b];
        let over = [a, b, &self.c, place];
        let kept = over.map(|t| layout(t, kept));
        let both = [a, b].map(|t| layout(t, summed));
        Ok(MatmulArgs {
            a: a.first,
            b: b.first,
            c: self.c.first,
            t: t.map_or(0, |t| t.0.first),
            partial: 0,
            sizes: [self.m, self.n, self.k],
            a_steps: [a.row, a.col],
            b_steps: [b.row, b.col],
            c_steps: self.c.bytes(),
            t_steps: place.bytes(),
            splits: 1,
            split_depth: (self.counts()[1] * self.k).max(1),
            factors: [self.alpha, self.beta].map(Scalar::to_f64),
            whole_factors: [self.alpha, self.beta].map(Scalar::to_i64),
            products: loops(&Plan::new(kept.each_ref(), over.map(|t| t.size)))?,
            summed: loops(&Plan::new(both.each_ref(), [a.size, b.size]))?,
            a_along: (a.row.abs() > a.col.abs()).into(),
            b_along: (b.col.abs() > b.row.abs()).into(),
            t_dtype: t.map_or(0, |t| t.1.code()),
            unused: 0,
        })
    }

    /// The kernel for these sizes.
    fn way(&self, args: &MatmulArgs) -> &'static Way {
        let &Products { m, n, k, .. } = self;
        let along = if m >= n { args.a_along } else { args.b_along };
        if m.min(n) >= TILED[0] && m * n >= TILED[1] && k >= SHORT {
            &WAYS[0]
        } else if k >= LONG && along != 0 {
            &WAYS[1]
        } else {
            &WAYS[2]
        }
    }
}

/// A kernel, and how its sums are split.
struct Way {
    kernel: &'static str,
    /// Rows and columns, and elements, that one sum of the kernel's is for.
    tile: i64,
    /// Threads for a tile.
    threads: i64,
    /// Sums that are as good as more, and products of an element that are not worth a split.
    enough: i64,
    least: i64,
}

/// By tiles, by warps, and by threads.
const WAYS: [Way; 3] = [
    Way { kernel: "multiply_tiles", tile: TILE, threads: 256, enough: 256, least: 512 },
    Way { kernel: "multiply_rows", tile: 1, threads: 32, enough: 8192, least: 1024 },
    Way { kernel: "multiply_elements", tile: 1, threads: 1, enough: 1 << 17, least: 256 },
];

/// The number of splits of sums of `depth` products, of which there are `sums`, and their depth. It depends on sizes alone, and so does how
/// sums are rounded.
pub(super) fn splits(sums: i64, depth: i64, enough: i64, least: i64) -> [i64; 2] {
    let wanted = (enough / sums.max(1)).min(depth / least).clamp(1, MOST_SPLITS);
    let of_split = div_up(depth.max(1), wanted);
    [div_up(depth.max(1), of_split), of_split]
}

/// Multiplies matrices of one dtype into a result of the dtype that products are computed in.
pub fn matmul(gpu: &Gpu, work: &Matmul<'_>, c: &Operand, inputs: [&Operand; 2], addend: Option<&Operand>) -> Result<()> {
    if c.layout.numel() == 0 {
        return Ok(());
    }
    let mut products = Products::new(work, c, inputs, addend)?;
    products.stack();
    products.turn();
    run(gpu, &products)
}

/// A matrix for each place of a batch, in elements: the address of the first, and the steps between matrices, rows and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub at: u64,
    pub apart: i64,
    pub row: i64,
    pub col: i64,
}

impl Block {
    /// The block from a row and a column on.
    pub(super) fn from(self, dtype: Dtype, row: i64, col: i64) -> Block {
        let step = (row * self.row + col * self.col) * dtype.size() as i64;
        Block { at: self.at.wrapping_add_signed(step), ..self }
    }

    pub(super) fn transposed(self) -> Block {
        Block { row: self.col, col: self.row, ..self }
    }
}

/// `c = beta * c + alpha * (a @ b)` of `count` m x k and k x n matrices of one dtype; with `beta` 0 C is not read.
///
/// # Safety
/// The blocks have the matrices, and those of `c` lie apart from the others.
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
    let of =
        |block: Block| Matrices { first: block.at, batch: (&[block.apart][..]).into(), row: block.row, col: block.col, size: dtype.size() };
    let mut products = Products {
        dtype,
        compute: dtype,
        m,
        n,
        k,
        batch: (&[count][..]).into(),
        summed: false,
        a: of(a),
        b: of(b),
        c: of(c),
        t: (beta != 0.0).then(|| (of(c), dtype)),
        alpha: alpha.into(),
        beta: beta.into(),
    };
    products.turn();
    run(gpu, &products)
}

/// Computes the products by the kernels of this library.
fn run(gpu: &Gpu, products: &Products) -> Result<()> {
    let [kept, summed] = products.counts();
    let mut args = products.args()?;
    let way = products.way(&args);
    let sums = kept * div_up(products.m, way.tile) * div_up(products.n, way.tile);
    [args.splits, args.split_depth] = splits(sums, summed * products.k, way.enough, way.least);
    let (elements, name) = (kept * products.m * products.n, type_name(products.compute));
    let partial = match args.splits {
        1 => None,
        splits => Some(gpu.scratch((splits * elements) as usize * products.compute.size())?),
    };
    let to = args;
    args.partial = partial.as_ref().map_or(0, |partial| partial.ptr());
    let (all, call) = (sums * args.splits, format!("{}<{}>", way.kernel, type_name(products.dtype)));
    // Of tiles each has a block.
    let blocks = if way.threads == 256 { all as u32 } else { gpu.blocks_for(all.saturating_mul(way.threads)) };
    // SAFETY: operands lie inside their storages; the result lies apart from the factors, and the addend off it or in step with it.
    unsafe { gpu.launch(&MATMUL, &call, "MatmulArgs", blocks, &args)? };
    if let Some(partial) = &partial {
        let join = JoinArgs { partial: partial.ptr(), splits: args.splits, to: MatmulArgs { splits: 1, ..to } };
        let threads = if args.splits > LONG { 32 } else { 1 };
        // SAFETY: as above; the sums of all splits were written.
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
