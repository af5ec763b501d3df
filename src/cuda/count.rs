//! Counts, and tests of all elements.

use super::gpu::Gpu;
use super::loops::{Loops, MOST_LOOPS, div_up, loops};
use super::map::type_name;
use super::mark::Mark;
use super::memory::Scratch;
use super::order::ITEMS;
use super::pinned;
use super::source::{Entry, Source};
use crate::error::Result;
use crate::launch::Histogram;
use crate::operand::Operand;
use crate::plan::Plan;

/// Counts.
pub static COUNT: Source = Source { name: "count", text: &[ITEMS, include_str!("kernels/count.cu")], entries };

/// The minimum and maximum number of elements of a row that a block counts in a histogram.
const PART: [i64; 2] = [1 << 12, 1 << 30];

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CountArgs {
    loops: Loops<1>,
    from: u64,
    pub to: u64,
    told: u64,
    pub n: i64,
    least: i64,
    end: i64,
    pub width: i64,
    dtype: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct HistogramArgs {
    from: u64,
    to: u64,
    rows: i64,
    columns: i64,
    parts: i64,
    part: i64,
    low: f64,
    high: f64,
    bins: i32,
    unused: i32,
}

fn entries() -> Vec<Entry> {
    let calls = ["count_true", "any_zero", "first_outside", "extremes", "count_integers"];
    let mut entries: Vec<Entry> = calls.map(|call| Entry::new(call, "CountArgs", "count")).into();
    entries.extend(["f32", "f64"].map(|name| Entry::new(format!("histogram<{name}>"), "HistogramArgs", "count")));
    entries
}

impl CountArgs {
    const NONE: CountArgs = CountArgs {
        loops: Loops { total: 0, n: [1; MOST_LOOPS], step: [[0; MOST_LOOPS]], count: 1, narrow: 1 },
        from: 0,
        to: 0,
        told: 0,
        n: 0,
        least: 0,
        end: 0,
        width: 0,
        dtype: 0,
        unused: 0,
    };

    /// The arguments for a row-major operand. The caller sets loops for other layouts.
    pub fn of(x: &Operand) -> CountArgs {
        CountArgs { from: x.first() as u64, n: x.layout().numel(), dtype: x.dtype.code(), ..CountArgs::NONE }
    }

    /// Runs a kernel over `items` elements, and returns its counters, which start at 0.
    pub fn found<const N: usize>(mut self, gpu: &Gpu, call: &str, items: i64) -> Result<[u64; N]> {
        let memory = gpu.scratch(N * 8)?;
        self.to = memory.ptr();
        // SAFETY: the scratch memory has `N` counters.
        unsafe { gpu.zero(self.to, N * 8) }?;
        // SAFETY: the operand is inside its storage, and there is memory for the counters.
        unsafe { gpu.launch(&COUNT, call, "CountArgs", gpu.blocks_for(items), &self)? };
        let mut found = [0; N];
        // SAFETY: the scratch memory has `N` counters.
        unsafe { gpu.read(self.to, &mut found) }?;
        Ok(found)
    }
}

/// See `Backend::count`.
pub fn count(gpu: &Gpu, mask: &Operand) -> Result<usize> {
    let args = CountArgs::of(mask);
    if args.n == 0 {
        return Ok(0);
    }
    let [found] = args.found(gpu, "count_true", div_up(args.n, 16))?;
    Ok(found as usize)
}

/// See `Backend::all`.
pub fn all(gpu: &Gpu, x: &Operand) -> Result<bool> {
    let mut layout = x.layout().clone();
    // Repeated elements are tested once.
    for d in 0..layout.ndim() {
        if layout.strides[d] == 0 && layout.shape[d] > 1 {
            layout.shape[d] = 1;
        }
    }
    let plan = Plan::new([&layout], [x.dtype.size()]);
    if plan.numel() == 0 {
        return Ok(true);
    }
    let args = CountArgs { loops: loops(&plan)?, ..CountArgs::of(x) };
    let [found] = args.found(gpu, "any_zero", args.loops.total)?;
    Ok(found == 0)
}

/// A check of positions. Work that is launched after it can read its result on the GPU.
pub struct Check<'a> {
    gpu: &'a Gpu,
    n: i64,
    found: Scratch<'a>,
    /// Pinned memory, which is not 0 if a position is invalid.
    told: usize,
    passed: Mark,
}

impl Check<'_> {
    /// Starts to check whether `n` positions are at least `least` and less than `end`.
    pub fn new(gpu: &Gpu, positions: u64, n: i64, [least, end]: [i64; 2]) -> Result<Check<'_>> {
        let (_bound, found, passed) = (gpu.bind()?, gpu.scratch(8)?, gpu.new_mark()?);
        let check = Check { gpu, n, found, told: pinned::allocate(8)?, passed };
        // SAFETY: the memory holds a number, and no work uses it.
        unsafe { (check.told as *mut u64).write(0) };
        // SAFETY: the memory of the check has a counter.
        unsafe { gpu.zero(check.found(), 8) }?;
        let args = CountArgs { from: positions, to: check.found(), told: check.told as u64, n, least, end, ..CountArgs::NONE };
        // SAFETY: the caller passes the address of `n` positions, and there is memory for the results.
        unsafe { gpu.launch(&COUNT, "first_outside", "CountArgs", gpu.blocks_for(n), &args)? };
        check.passed.record(gpu.stream())?;
        Ok(check)
    }

    /// The address of a number that is not 0 if a position is invalid.
    pub fn found(&self) -> u64 {
        self.found.ptr()
    }

    /// Waits for the check, but not for later work. Returns the index of the first invalid position.
    pub fn end(&self) -> Result<Option<usize>> {
        let _bound = self.gpu.bind()?;
        self.passed.wait()?;
        // SAFETY: the memory holds a number.
        if unsafe { (self.told as *const u64).read_volatile() } == 0 {
            return Ok(None);
        }
        // The kernel counts the positions from the first invalid one to the end.
        let mut found = [0u64];
        // SAFETY: the memory of the check has a counter.
        unsafe { self.gpu.read(self.found(), &mut found) }?;
        Ok(Some((self.n - found[0] as i64) as usize))
    }
}

impl Drop for Check<'_> {
    fn drop(&mut self) {
        // An error is ignored, because it means that the GPU has failed before.
        let _ = self.gpu.bind().and_then(|_bound| self.passed.wait());
        pinned::release(self.told);
    }
}

/// Histograms of the rows of a row-major matrix.
pub fn histogram(gpu: &Gpu, work: &Histogram, out: &Operand, input: &Operand) -> Result<()> {
    let [rows, columns] = [0, 1].map(|d| input.layout().shape[d]);
    // SAFETY: the result is row-major.
    unsafe { gpu.zero(out.first() as u64, out.layout().numel() as usize * 8) }?;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    // Enough parts for all blocks.
    let wanted = div_up(gpu.blocks_for(i64::MAX).into(), rows).max(div_up(columns, PART[1]));
    let part = div_up(columns, wanted).max(PART[0]);
    let parts = div_up(columns, part);
    let args = HistogramArgs {
        from: input.first() as u64,
        to: out.first() as u64,
        rows,
        columns,
        parts,
        part,
        low: work.low,
        high: work.high,
        bins: work.n as i32,
        unused: 0,
    };
    let blocks = gpu.blocks_for(rows.saturating_mul(parts).saturating_mul(256));
    // SAFETY: the operands are row-major, with as many rows of bins as rows of elements.
    unsafe { gpu.launch(&COUNT, &format!("histogram<{}>", type_name(input.dtype)), "HistogramArgs", blocks, &args) }
}
