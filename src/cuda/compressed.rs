//! Compressed sparse rows on GPUs: products with dense matrices, and softmax of rows.

use super::gpu::Gpu;
use super::map::type_name;
use super::order::{ITEMS, Keys, MOST_KEYS, ORDER, Order};
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Compressed, RowSoftmax};
use crate::operand::Operand;

/// The kernels of compressed rows.
pub static COMPRESSED: Source = Source { name: "compressed", text: &[ITEMS, ORDER, include_str!("kernels/compressed.cu")], entries };

/// The average number of entries of a row from which on a warp multiplies a row with a vector.
const LONG_ROW: i64 = 8;

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct CompressedArgs {
    starts: u64,
    columns: u64,
    entries: u64,
    a: u64,
    b: u64,
    to: u64,
    found: u64,
    order: Order,
    rows: i64,
    n: i64,
    size: i64,
    width: i64,
    wide: i32,
    unused: i32,
}

fn entries() -> Vec<Entry> {
    let entry = |call: String, group: &str| Entry::new(call, "CompressedArgs", group);
    let mut entries: Vec<Entry> = ["check", "keys"].map(|name| entry(format!("compressed_{name}"), "positions")).into();
    for (name, ways) in [("f32", 6), ("f64", 6), ("i64", 4)] {
        let all = ["product", "vector", "transposed", "sampled", "softmax", "softmax_gradient"];
        entries.extend(all[..ways].iter().map(|way| entry(format!("compressed_{way}<{name}>"), name)));
    }
    entries
}

impl CompressedArgs {
    /// The arguments for a matrix, without a result.
    fn new(starts: &Operand, columns: Option<&Operand>, n: i64, size: i64) -> CompressedArgs {
        CompressedArgs {
            starts: starts.first() as u64,
            columns: columns.map_or(0, |columns| columns.first() as u64),
            entries: 0,
            a: 0,
            b: 0,
            to: 0,
            found: 0,
            order: Order::NONE,
            rows: starts.layout().numel() - 1,
            n,
            size,
            width: 1,
            wide: (starts.dtype == Dtype::Int64).into(),
            unused: 0,
        }
    }

    /// Launches a kernel that loops over `items`.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    unsafe fn launch(&self, gpu: &Gpu, call: &str, items: i64) -> Result<()> {
        // SAFETY: the caller meets the conditions above.
        unsafe { gpu.launch(&COMPRESSED, call, "CompressedArgs", gpu.blocks_for(items), self) }
    }

    /// Reads `N` positions.
    fn read<const N: usize>(&self, gpu: &Gpu, positions: u64, first: i64) -> Result<[i64; N]> {
        if self.wide != 0 {
            let mut found = [0i64; N];
            // SAFETY: a caller reads positions inside the operand, which is row-major.
            return unsafe { gpu.read(positions + first as u64 * 8, &mut found) }.map(|()| found);
        }
        let mut found = [0i32; N];
        // SAFETY: a caller reads positions inside the operand, which is row-major.
        unsafe { gpu.read(positions + first as u64 * 4, &mut found) }?;
        Ok(found.map(i64::from))
    }

    /// Fails unless starts ascend from 0 to the number of entries, and all columns are in range.
    fn check(mut self, gpu: &Gpu) -> Result<()> {
        let ([first], [last]) = (self.read(gpu, self.starts, 0)?, self.read(gpu, self.starts, self.rows)?);
        if first != 0 || last != self.n {
            bail!(Argument, "rows start at {first} and end at {last}, expected 0 and the number of entries, {}", self.n)
        }
        let memory = gpu.scratch(16)?;
        self.found = memory.ptr();
        // SAFETY: the scratch memory has two counters.
        unsafe { gpu.zero(self.found, 16) }?;
        let mut found = [0i64; 2];
        // SAFETY: the positions are row-major with these sizes, and there is memory for the counters.
        unsafe { self.launch(gpu, "compressed_check", self.rows.max(self.n))? };
        // SAFETY: the scratch memory has two counters.
        unsafe { gpu.read(self.found, &mut found) }?;
        let [rows, entries] = found;
        if rows > 0 {
            let row = self.rows - rows;
            let [start, end] = self.read(gpu, self.starts, row)?;
            bail!(Argument, "row {row} starts at {start} and ends at {end}")
        }
        if entries > 0 {
            let at = self.n - entries;
            let [column] = self.read(gpu, self.columns, at)?;
            bail!(Argument, "column {column} of entry {at} is out of range for {} columns", self.size)
        }
        Ok(())
    }
}

/// Computes a product; see [`Compressed`].
pub fn product(gpu: &Gpu, work: Compressed, out: &Operand, [starts, columns, m]: [&Operand; 3], more: Option<&Operand>) -> Result<()> {
    let size = match work {
        Compressed::Product => m.layout().shape[0],
        Compressed::Transposed => out.layout().shape[0],
        Compressed::Sampled => more.map_or(0, |b| b.layout().shape[0]),
    };
    let mut args = CompressedArgs::new(starts, Some(columns), columns.layout().numel(), size);
    args.check(gpu)?;
    let (more, total) = (more.map_or(0, |more| more.first() as u64), out.layout().numel());
    (args.a, args.to, args.width) = (m.first() as u64, out.first() as u64, m.layout().shape[1]);
    let call = |way: &str| format!("compressed_{way}<{}>", type_name(m.dtype));
    if total == 0 {
        return Ok(());
    }
    // SAFETY: the operands are row-major with these sizes, and positions were checked.
    unsafe {
        match work {
            Compressed::Sampled => {
                args.b = more;
                args.launch(gpu, &call("sampled"), args.n.saturating_mul(32))
            }
            Compressed::Product => {
                args.entries = more;
                let by_warps = args.width == 1 && args.n / LONG_ROW >= args.rows;
                let items = if by_warps { args.rows.saturating_mul(32) } else { total };
                args.launch(gpu, &call(if by_warps { "vector" } else { "product" }), items)
            }
            Compressed::Transposed if args.n == 0 => gpu.zero(args.to, total as usize * m.dtype.size()),
            Compressed::Transposed => {
                if args.n > MOST_KEYS {
                    bail!(Shape, "a GPU sorts up to {MOST_KEYS} entries, not {}", args.n)
                }
                let sorted = Keys::new(gpu, args.n)?;
                (args.order, args.entries) = (sorted.order, more);
                args.launch(gpu, "compressed_keys", args.n)?;
                sorted.sort(gpu, 8)?;
                args.launch(gpu, &call("transposed"), total)
            }
        }
    }
}

/// Computes softmax of rows; see [`RowSoftmax`].
pub fn softmax(gpu: &Gpu, work: RowSoftmax, out: &Operand, starts: &Operand, x: &Operand, y: Option<&Operand>) -> Result<()> {
    let mut args = CompressedArgs::new(starts, None, x.layout().numel(), 0);
    args.check(gpu)?;
    (args.a, args.to) = (x.first() as u64, out.first() as u64);
    args.b = y.map_or(0, |y| y.first() as u64);
    let way = if work.gradient { "softmax_gradient" } else { "softmax" };
    if args.n == 0 {
        return Ok(());
    }
    // SAFETY: the operands are row-major with these sizes, and positions were checked.
    unsafe { args.launch(gpu, &format!("compressed_{way}<{}>", type_name(x.dtype)), args.rows.saturating_mul(32)) }
}
