//! Distinct elements and rows.

use super::gpu::Gpu;
use super::line_args::{KEYS, LINES, LineArgs};
use super::map::type_name;
use super::scan::scan;
use super::sort::sorted;
use super::source::{Entry, Source};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Unique;
use crate::operand::Operand;

/// The kernels of runs of equal elements and rows.
pub static UNIQUE: Source = Source { name: "unique", text: &[KEYS, LINES, include_str!("kernels/unique.cu")], entries };

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct UniqueArgs {
    x: u64,
    places: u64,
    from: u64,
    to: u64,
    heads: u64,
    numbers: u64,
    starts: u64,
    values: u64,
    inverse: u64,
    counts: u64,
    n: i64,
    runs: i64,
    width: i64,
    sorted: i64,
}

fn entries() -> Vec<Entry> {
    let mut entries = vec![Entry::new("unique_starts", "UniqueArgs", "unique"), Entry::new("unique_places", "UniqueArgs", "unique")];
    for &dtype in Dtype::ALL.iter().filter(|&&dtype| dtype == dtype.compute()) {
        let name = type_name(dtype);
        entries.extend(["merge", "heads", "values"].map(|way| Entry::new(format!("unique_{way}<{name}>"), "UniqueArgs", name)));
    }
    entries
}

impl UniqueArgs {
    /// Launches a kernel that loops over `items`.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    unsafe fn launch(&self, gpu: &Gpu, call: &str, items: i64) -> Result<()> {
        // SAFETY: the caller meets the conditions above.
        unsafe { gpu.launch(&UNIQUE, call, "UniqueArgs", gpu.blocks_for(items), self) }
    }
}

/// See `Backend::unique`.
pub fn unique(gpu: &Gpu, x: &Operand, consecutive: bool, inverted: bool) -> Result<Unique> {
    let (device, shape) = (Device::Cuda(gpu.ordinal), &x.layout().shape);
    let (n, width, rows) = (shape[0], shape.get(1).copied().unwrap_or(1), shape.len() > 1);
    if n > i32::MAX.into() {
        bail!(Shape, "a GPU compares up to {} elements or rows, not {n}", i32::MAX)
    }
    let numbers = |n: i64| Operand::new_on(device, Dtype::Int64, &[n]);
    let inverse = inverted.then(|| numbers(n)).transpose()?;
    if n == 0 {
        return Ok(Unique { values: Operand::new_on(device, x.dtype, &[0])?, inverse, counts: Some(numbers(0)?) });
    }
    let name = type_name(x.dtype);
    // Elements are sorted with their keys. Rows are sorted by places alone.
    let records =
        if rows || consecutive { None } else { Some(sorted(gpu, &LineArgs::rows(x.first() as u64, 1, n, x.dtype), x.dtype, false)?) };
    let places = if rows && !consecutive { Some(gpu.scratch(2 * n as usize * 4)?) } else { None };
    let scratch = gpu.scratch((n as usize).next_multiple_of(16) + n as usize * 4)?;
    let starts = gpu.scratch(n as usize * 8)?;
    let heads = scratch.ptr();
    let mut args = UniqueArgs {
        x: x.first() as u64,
        places: records.as_ref().map_or(0, |records| records.places),
        from: 0,
        to: 0,
        heads,
        numbers: heads + (n as u64).next_multiple_of(16),
        starts: starts.ptr(),
        values: 0,
        inverse: inverse.as_ref().map_or(0, |inverse| inverse.first() as u64),
        counts: 0,
        n,
        runs: 0,
        width,
        sorted: 1,
    };
    let mut last = [0i32];
    // SAFETY: the operand is row-major, and there is memory for a number or place of each row.
    unsafe {
        if let Some(places) = &places {
            args.places = merged(gpu, args, places.ptr(), name)?;
        }
        args.launch(gpu, &format!("unique_heads<{name}>"), n)?;
        let heads = LineArgs { out: [args.numbers, 0], ..LineArgs::rows(heads, 1, n, Dtype::Uint8) };
        let (mut step, mut dtype) = (heads.step, heads.dtype);
        (step[1], dtype[1]) = (4, Dtype::Int32.code());
        scan(gpu, "Sums", Dtype::Uint8, false, &LineArgs { step, dtype, ..heads })?;
        args.launch(gpu, "unique_starts", n)?;
        gpu.read(args.numbers + (n as u64 - 1) * 4, &mut last)?;
    }
    args.runs = last[0].into();
    let (values, counts) = (Operand::new_on(device, x.dtype, &[args.runs * width])?, numbers(args.runs)?);
    (args.values, args.counts) = (values.first() as u64, counts.first() as u64);
    // SAFETY: there is room for a row and a number for each run.
    unsafe { args.launch(gpu, &format!("unique_values<{name}>"), args.runs.saturating_mul(width))? };
    Ok(Unique { values, inverse, counts: Some(counts) })
}

/// Merge-sorts rows, from runs of one row on. Returns the address of the sorted places, which is one half of the memory.
///
/// # Safety
/// The memory has room for the places of all rows twice.
unsafe fn merged(gpu: &Gpu, mut args: UniqueArgs, memory: u64, name: &str) -> Result<u64> {
    let halves = [memory, memory + args.n as u64 * 4];
    let mut half = 0;
    args.to = halves[half];
    // SAFETY: the caller meets the conditions above.
    unsafe { args.launch(gpu, "unique_places", args.n)? };
    while args.sorted < args.n {
        (args.from, args.to) = (halves[half], halves[1 - half]);
        // SAFETY: the caller meets the conditions above.
        unsafe { args.launch(gpu, &format!("unique_merge<{name}>"), args.n)? };
        half = 1 - half;
        args.sorted *= 2;
    }
    Ok(halves[half])
}
