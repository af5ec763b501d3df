//! Sorts lines, and selects elements by their rank, on GPUs.

use super::copy::convert;
use super::gpu::{Gpu, THREADS};
use super::line_args::{KEYS, LINES, LineArgs, TILE};
use super::loops::div_up;
use super::map::type_name;
use super::memory::Scratch;
use super::scan::scan;
use super::source::{Entry, Source};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::LineOp;
use crate::launch::lines::{Interpolation, Rank, Top};
use crate::operand::Operand;

const SHARED: &str = include_str!("kernels/sort.cuh");
/// The kernels of sorting.
pub static SORT: Source = Source { name: "sort", text: &[KEYS, LINES, SHARED, include_str!("kernels/sort.cu")], entries: sort_entries };
/// The kernels of selection by rank.
pub static SELECT: Source =
    Source { name: "select", text: &[KEYS, LINES, SHARED, include_str!("kernels/select.cu")], entries: select_entries };

/// The number of values of a digit.
const DIGITS: i64 = 256;
/// The number of values of a digit for the selection, and the number of its bits.
const BINS: i64 = 2048;
const CHOSEN: i32 = 11;
/// The minimum number of elements from which a block selects, and the number of these blocks for each multiprocessor.
const PART: i64 = 4096;
const PARTS: i64 = 8;
/// The maximum number of elements of a line for which one warp finds the most frequent one.
const WARP: i64 = 2048;

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct SortArgs {
    lines: LineArgs,
    from: u64,
    keys: [u64; 2],
    places: [u64; 2],
    counts: u64,
    differ: u64,
    tiles: i64,
    take: i64,
    row: i64,
    descending: i32,
    shift: i32,
    width: i32,
    start: i32,
}

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct SelectArgs {
    lines: LineArgs,
    keys: u64,
    places: u64,
    taken: u64,
    shares: u64,
    choices: u64,
    counts: u64,
    tallies: u64,
    parts: i64,
    count: i64,
    rank: i64,
    nan: u64,
    kind: i32,
    floats: i32,
    skips: i32,
    largest: i32,
    shift: i32,
    high: i32,
    starts: i32,
    unused: i32,
}

fn sort_entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for &dtype in Dtype::ALL {
        let name = type_name(dtype);
        entries.extend(["short", "keys"].map(|way| Entry::new(format!("sort_{way}<{name}>"), "SortArgs", name)));
        if dtype == dtype.compute() {
            entries.push(Entry::new(format!("sort_take<{name}>"), "SortArgs", name));
        }
    }
    for key in ["uint", "uint64"] {
        entries.extend(["count", "move", "settle"].map(|way| Entry::new(format!("sort_{way}<{key}>"), "SortArgs", key)));
    }
    entries
}

fn select_entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for &dtype in Dtype::ALL {
        let name = type_name(dtype);
        let mut add = |call: String| entries.push(Entry::new(call, "SelectArgs", name));
        ["count", "tally", "pick"].into_iter().for_each(|way| add(format!("select_{way}<{name}>")));
        if dtype == dtype.compute() {
            add(format!("select_sorted<{name}>"));
            add(format!("select_mode<{name}, 32>"));
            add(format!("select_mode<{name}, BLOCK>"));
        }
        if matches!(dtype, Dtype::Float32 | Dtype::Float64) {
            add(format!("select_quantiles<{name}>"));
        }
    }
    entries
}

/// Runs operations that need an order, on lines of elements that are computed in their own type, or of 16-bit floats.
pub fn lines(gpu: &Gpu, op: LineOp<'_>, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let lines = LineArgs::new(input, out)?;
    if lines.n > i32::MAX.into() {
        bail!(Shape, "a GPU sorts lines of up to {} elements, not of {}", i32::MAX, lines.n)
    }
    if lines.numel() == 0 {
        return Ok(());
    }
    match op {
        LineOp::Sort { descending } => sort(gpu, descending, lines.n, out, input),
        LineOp::Top(top) => take_top(gpu, top, out, input),
        LineOp::Select(rank) => select(gpu, rank, &lines, input.dtype),
        LineOp::Mode => mode(gpu, &lines, input.dtype),
        LineOp::Quantiles { shares, interpolation, skip_nan } => quantiles(gpu, shares, interpolation, skip_nan, &lines, input.dtype),
        _ => gpu.refuse(),
    }
}

// ---- sorting

/// The type of the keys of a dtype.
fn key_name(dtype: Dtype) -> &'static str {
    if dtype.size() == 8 { "uint64" } else { "uint" }
}

fn key_bytes(dtype: Dtype) -> i64 {
    if dtype.size() == 8 { 8 } else { 4 }
}

impl SortArgs {
    fn new(lines: &LineArgs, descending: bool) -> SortArgs {
        SortArgs {
            lines: *lines,
            from: 0,
            keys: [0; 2],
            places: [0; 2],
            counts: 0,
            differ: 0,
            tiles: div_up(lines.n, TILE),
            take: 0,
            row: lines.n,
            descending: descending.into(),
            shift: 0,
            width: (lines.n.clamp(1, TILE) as u32).next_power_of_two() as i32,
            start: 0,
        }
    }

    /// Launches a kernel with one block for each tile of the lines.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    unsafe fn launch(&self, gpu: &Gpu, call: &str) -> Result<()> {
        // SAFETY: the caller meets the conditions above.
        unsafe { gpu.launch(&SORT, call, "SortArgs", gpu.blocks_of(self.lines.count().saturating_mul(self.tiles)), self) }
    }

    /// Sorts lines of up to a tile.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    unsafe fn launch_short(&self, gpu: &Gpu, dtype: Dtype) -> Result<()> {
        let jobs = div_up(self.lines.count(), TILE / i64::from(self.width));
        // SAFETY: the caller meets the conditions above.
        unsafe { gpu.launch(&SORT, &format!("sort_short<{}>", type_name(dtype)), "SortArgs", gpu.blocks_of(jobs), self) }
    }
}

/// Sorted lines, row-major: keys and places.
pub struct Records<'a> {
    /// The address of the keys.
    pub keys: u64,
    /// The address of the places, which are positions in the line.
    pub places: u64,
    _memory: Scratch<'a>,
}

/// Sorts lines of elements of a dtype.
pub fn sorted<'a>(gpu: &'a Gpu, lines: &LineArgs, dtype: Dtype, descending: bool) -> Result<Records<'a>> {
    let mut args = SortArgs::new(&LineArgs { out: [0; 2], ..*lines }, descending);
    let numbers = |bytes: i64| (lines.numel() * bytes) as usize;
    let (keys, places) = (numbers(key_bytes(dtype)), numbers(4));
    // Lines of up to a tile need no second buffers.
    let sizes = match lines.n <= TILE {
        true => [keys, places, 0, 0, 0, 0],
        false => [keys, places, keys, places, (lines.count() * args.tiles * DIGITS * 4) as usize, 8],
    };
    let sizes = sizes.map(|bytes| bytes.next_multiple_of(16));
    let memory = gpu.scratch(sizes.iter().sum())?;
    let mut end = memory.ptr();
    let at = sizes.map(|bytes| {
        end += bytes as u64;
        end - bytes as u64
    });
    (args.keys, args.places, args.counts, args.differ) = ([at[0], at[2]], [at[1], at[3]], at[4], at[5]);
    let records = Records { keys: at[0], places: at[1], _memory: memory };
    if lines.n <= TILE {
        // SAFETY: the operands are inside their storages, and there are a key and a place for each element.
        return unsafe { args.launch_short(gpu, dtype) }.map(|()| records);
    }
    let (key, bits) = (key_name(dtype), 8 * dtype.size() as i32);
    // If no digit is skipped, the last pass ends in the first buffer.
    args.start = dtype.size() as i32 % 2;
    let counts = LineArgs::rows(args.counts, lines.count(), DIGITS * args.tiles, Dtype::Int32);
    // SAFETY: the scratch memory has a number.
    unsafe { gpu.zero(args.differ, 8) }?;
    // SAFETY: as above; there is a count for each digit of each tile.
    unsafe {
        args.launch(gpu, &format!("sort_keys<{}>", type_name(dtype)))?;
        for shift in (0..bits).step_by(8) {
            args.shift = shift;
            args.launch(gpu, &format!("sort_count<{key}>"))?;
            scan(gpu, "Sums", Dtype::Int32, false, &counts)?;
            args.launch(gpu, &format!("sort_move<{key}>"))?;
        }
        args.shift = bits;
        args.launch(gpu, &format!("sort_settle<{key}>"))?;
    }
    Ok(records)
}

/// Writes the first `take` elements of each line in order, and their places. Results may overwrite the elements.
fn sort(gpu: &Gpu, descending: bool, take: i64, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let mut lines = LineArgs::new(input, out)?;
    if lines.n <= TILE {
        // SAFETY: the operands are inside their storages.
        return unsafe { SortArgs { take, ..SortArgs::new(&lines, descending) }.launch_short(gpu, input.dtype) };
    }
    let copy = match out.iter().flatten().any(|out| out.overlaps(input)) {
        false => None,
        true => {
            let copy = Operand::new_on(input.device, input.dtype, &input.layout().shape)?;
            convert(gpu, &copy, input)?;
            Some(copy)
        }
    };
    if let Some(copy) = &copy {
        lines = LineArgs::new(copy, out)?;
    }
    let records = sorted(gpu, &lines, input.dtype, descending)?;
    // SAFETY: as above; there is a place for each element.
    unsafe { write_taken(gpu, &lines, records.places, [lines.n, take], input.dtype) }
}

/// Writes the elements at the first `take` of `row` places of each line, and these places.
///
/// # Safety
/// `places` has that many entries for each line.
unsafe fn write_taken(gpu: &Gpu, lines: &LineArgs, places: u64, [row, take]: [i64; 2], dtype: Dtype) -> Result<()> {
    let args = SortArgs { places: [places, 0], row, take, tiles: div_up(take, TILE), ..SortArgs::new(lines, false) };
    // SAFETY: the caller guarantees the places, and the operands are inside their storages.
    unsafe { args.launch(gpu, &format!("sort_take<{}>", type_name(dtype.compute()))) }
}

fn take_top(gpu: &Gpu, top: Top, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let (lines, k, dtype) = (LineArgs::new(input, out)?, top.k as i64, input.dtype);
    if k == 0 {
        return Ok(());
    }
    if top.sorted && (lines.n <= TILE || k > TILE) {
        return sort(gpu, top.largest, k, out, input);
    }
    let mut args = SelectArgs { rank: k - 1, count: k, largest: top.largest.into(), ..SelectArgs::new(&lines, dtype) };
    let places = if top.sorted { Some(gpu.scratch((lines.count() * k * 4) as usize)?) } else { None };
    args.taken = places.as_ref().map_or(0, Scratch::ptr);
    // SAFETY: the operands are inside their storages, and there is room for `k` places of each line.
    unsafe {
        args.launch_selection(gpu, dtype)?;
        if args.taken != 0 {
            let lines = LineArgs { n: k, ..lines };
            SortArgs { from: args.taken, take: k, ..SortArgs::new(&lines, top.largest) }.launch_short(gpu, dtype)?;
        }
    }
    Ok(())
}

// ---- ranks

/// The key of NaN.
fn nan_key(dtype: Dtype) -> u64 {
    match dtype {
        Dtype::Float16 | Dtype::Bfloat16 => 0xffff,
        Dtype::Float32 => 0xffff_ffff,
        _ => u64::MAX,
    }
}

impl SelectArgs {
    fn new(lines: &LineArgs, dtype: Dtype) -> SelectArgs {
        SelectArgs {
            lines: *lines,
            keys: 0,
            places: 0,
            taken: 0,
            shares: 0,
            choices: 0,
            counts: 0,
            tallies: 0,
            parts: 0,
            count: 0,
            rank: 0,
            nan: nan_key(dtype),
            kind: 0,
            floats: dtype.is_float().into(),
            skips: 0,
            largest: 0,
            shift: 0,
            high: 0,
            starts: 0,
            unused: 0,
        }
    }

    /// The arguments with sorted lines.
    fn of(self, records: &Records<'_>) -> SelectArgs {
        SelectArgs { keys: records.keys, places: records.places, ..self }
    }

    /// Selects from lines that are not sorted: finds the key of the rank, digit by digit, and then the elements.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    unsafe fn launch_selection(mut self, gpu: &Gpu, dtype: Dtype) -> Result<()> {
        let lines = self.lines.count();
        self.parts = (i64::from(gpu.processors) * PARTS / lines).clamp(1, div_up(self.lines.n, PART));
        // A choice for each line, counts of lines with several parts, and a number for each part.
        let sizes = [lines * 32, if self.parts > 1 { lines * BINS * 4 } else { 0 }, lines * self.parts * 8].map(|bytes| bytes as usize);
        let memory = gpu.scratch(sizes.iter().sum())?;
        (self.choices, self.counts) = (memory.ptr(), memory.ptr() + sizes[0] as u64);
        self.tallies = self.counts + sizes[1] as u64;
        // SAFETY: the scratch memory has this size.
        unsafe { gpu.zero(self.choices, sizes[0] + sizes[1]) }?;
        let launch = |way: &str, args: &SelectArgs| {
            let call = format!("select_{way}<{}>", type_name(dtype));
            // SAFETY: the caller meets the conditions above, and there is memory for each line and each part.
            unsafe { gpu.launch(&SELECT, &call, "SelectArgs", gpu.blocks_of(lines.saturating_mul(args.parts)), args) }
        };
        let bits = 8 * dtype.size() as i32;
        self.high = bits;
        while self.high > 0 {
            (self.shift, self.starts) = ((self.high - CHOSEN).max(0), (self.high == bits).into());
            launch("count", &self)?;
            self.high = self.shift;
        }
        launch("tally", &self)?;
        launch("pick", &self)
    }
}

fn select(gpu: &Gpu, rank: Rank, lines: &LineArgs, dtype: Dtype) -> Result<()> {
    let mut args = SelectArgs::new(lines, dtype);
    (args.kind, args.rank) = match rank {
        Rank::At(k) => (0, k as i64),
        Rank::Median => (1, 0),
        Rank::MedianOfNumbers => (2, 0),
    };
    if lines.n > TILE {
        // SAFETY: the operands are inside their storages.
        return unsafe { args.launch_selection(gpu, dtype) };
    }
    let records = sorted(gpu, lines, dtype, false)?;
    let call = format!("select_sorted<{}>", type_name(dtype.compute()));
    // SAFETY: as above; there are a key and a place for each element.
    unsafe { gpu.launch(&SELECT, &call, "SelectArgs", gpu.blocks_for(lines.count()), &args.of(&records)) }
}

fn mode(gpu: &Gpu, lines: &LineArgs, dtype: Dtype) -> Result<()> {
    let records = sorted(gpu, lines, dtype, false)?;
    let (lanes, threads) = if lines.n <= WARP { ("32", 32) } else { ("BLOCK", THREADS.into()) };
    let call = format!("select_mode<{}, {lanes}>", type_name(dtype.compute()));
    let blocks = gpu.blocks_for(lines.count().saturating_mul(threads));
    // SAFETY: the operands are inside their storages, and there are a key and a place for each element.
    unsafe { gpu.launch(&SELECT, &call, "SelectArgs", blocks, &SelectArgs::new(lines, dtype).of(&records)) }
}

fn quantiles(gpu: &Gpu, shares: &Operand, interpolation: Interpolation, skip_nan: bool, lines: &LineArgs, dtype: Dtype) -> Result<()> {
    let mut args = SelectArgs::new(lines, dtype);
    args.count = shares.layout().numel();
    let bytes = args.count as usize * shares.dtype.size();
    let copy = if shares.device == Device::Cpu { Some(gpu.scratch(bytes)?) } else { None };
    args.shares = shares.first() as u64;
    if let Some(copy) = &copy {
        // SAFETY: source and destination have this many bytes.
        unsafe { gpu.upload(copy.ptr(), shares.first(), bytes, true)? };
        args.shares = copy.ptr();
    }
    args.kind = interpolation as i32;
    args.skips = skip_nan.into();
    let records = sorted(gpu, lines, dtype, false)?;
    let call = format!("select_quantiles<{}>", type_name(dtype.compute()));
    // SAFETY: the operands are inside their storages, and there are a key and a place for each element.
    unsafe { gpu.launch(&SELECT, &call, "SelectArgs", gpu.blocks_for(lines.count().saturating_mul(args.count)), &args.of(&records)) }
}
