//! Fused programs on the host: a tile of the result at a time goes through all steps, whose kernels run on tiles in the L1 cache.

use super::copy::{Side, TileCopy};
use super::parallel::{CHEAP, Shared};
use super::pool;
use super::scratch::ThreadScratch;
use super::stream::{self, LINE};
use super::tuning::{FUSED_BYTES, FUSED_IN_CACHE, FUSED_ROW, PREFETCH_FROM, prefetches, streams_from};
use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::fused::{Action, MOST_INPUTS, Step, Value};
use crate::launch::{Choice, Elementwise, MapKernel, Numbers, Program};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::plan::{Many, Plan, each};
use crate::scalar::Scalar;
use crate::work::{Flat, Job, Work};
use smallvec::SmallVec;
use std::ops::Range;

/// The maximum number of operands: the result and the inputs.
const MOST_OPERANDS: usize = MOST_INPUTS + 1;
/// The number of elements in a tile is a multiple of this.
const UNIT: usize = 64;
/// Bytes between the buffers of two tiles. Without them, a load could be delayed by a store to another tile whose address has the same low
/// bits.
const APART: usize = 3 * LINE;
/// A grain that no kernel reaches, because the tiles are already divided among the threads.
const ALONE: usize = usize::MAX;
/// The largest grain of a program.
const MOST_GRAIN: usize = 16 * 1024;

/// A kernel with the dtypes of its operands in memory, and the dtypes that it computes with.
struct Typed<const N: usize> {
    kernel: MapKernel<N>,
    stored: [Dtype; N],
    taken: [Dtype; N],
    common: Dtype,
}

/// The kernel of a step.
enum Kernel {
    Unary(Typed<2>),
    Binary(Typed<3>),
    Ternary(Typed<4>),
    Convert(TileCopy, [usize; 2]),
}

/// A step whose operands are given as numbers of rooms.
struct Prepared {
    kernel: Kernel,
    to: usize,
    reads: [usize; 3],
    /// The number of elements that is worth waking a thread.
    grain: usize,
}

/// A tile: its offset in each operand, in bytes from the first element, its rows and columns.
struct Tile {
    at: [isize; MOST_OPERANDS],
    shape: [usize; 2],
}

/// The data that all threads share. Each thread has a room (a buffer for a tile) for each place of results, each input and each constant,
/// in this order.
struct Evaluation<'a> {
    program: &'a Program,
    steps: Vec<Prepared>,
    plan: Many,
    data: [Shared; MOST_OPERANDS],
    item: [usize; MOST_OPERANDS],
    /// The dtype of each input.
    inputs: Vec<Dtype>,
    /// True for operands with one element for all positions.
    single: [bool; MOST_OPERANDS],
    /// The number of rows and columns of a tile.
    shape: [usize; 2],
    /// The bytes from one room to the next, and the number of rooms.
    room: usize,
    rooms: usize,
    /// Copies elements of the result to their positions.
    result: TileCopy,
    converted: bool,
    streamed: bool,
    /// Operands whose next tile is prefetched while a tile is computed.
    prefetched: [bool; MOST_OPERANDS],
}

/// Computes `out` from the inputs that the program reads, in the order of their numbers.
pub fn run(program: &Program, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    let all: SmallVec<[&Operand; MOST_OPERANDS]> = [out].into_iter().chain(inputs.iter().copied()).collect();
    let of = |k: usize| all.get(k);
    let item = each(|k| of(k).map_or(1, |operand| operand.dtype.size()));
    let layouts: SmallVec<[&Layout; MOST_OPERANDS]> = all.iter().map(|operand| operand.layout()).collect();
    let plan = Many::new(&layouts, &item[..all.len()]);
    if plan.numel() == 0 {
        return Ok(());
    }
    let steps = alloc::list(program.steps.len(), |k| prepared(program, &program.steps[k]))?;
    let widest = program.steps.iter().map(|step| step.dtype.size()).chain(item).max().unwrap_or(8);
    let rooms = program.places + inputs.len() + program.constants.len();
    // Programs with very many values have smaller tiles.
    let shape @ [rows, cols] = shape(&plan, (FUSED_BYTES / widest).min(FUSED_IN_CACHE / (rooms * widest)).max(UNIT) / UNIT * UNIT);
    let (count, room) = (plan.tiles(rows, cols), (rows * cols * widest).next_multiple_of(LINE) + APART);
    let grain = 1.0 / steps.iter().map(|step| 1.0 / step.grain as f64).sum::<f64>();
    let parts = count.saturating_mul(rows * cols) / (grain as usize).clamp(UNIT, MOST_GRAIN);
    let parts = parts.clamp(1, 4 * pool::num_threads()).min(count);
    let Some(scratch) = ThreadScratch::new(room * rooms, parts) else { bail!(NoMem, "out of memory for {rooms} tiles of {room} bytes") };
    let on_input = inputs.iter().any(|input| input.first() == out.first());
    let converted = program.dtype() != out.dtype;
    // Results of costly kernels are stored past the caches from twice as many bytes on, as for single operations.
    let factor = if steps.iter().all(|step| step.grain >= CHEAP) { 1 } else { 2 };
    let bytes = bytes_of(out, inputs);
    let streamed = bytes >= streams_from().saturating_mul(factor) && !converted && !on_input && plan.step(0, 0) == item[0] as isize;
    // If inputs share memory, like views of one tensor, only the last is prefetched: it reads elements that no other has read before.
    let is_last = |k: usize| !inputs.iter().any(|other| other.first() > inputs[k].first() && other.overlaps(inputs[k]));
    let far = bytes >= PREFETCH_FROM && prefetches();
    let evaluation = Evaluation {
        program,
        steps,
        data: each(|k| Shared(of(k).map_or(std::ptr::null_mut(), |operand| operand.first()))),
        item,
        inputs: alloc::list(inputs.len(), |k| Ok(inputs[k].dtype))?,
        single: each(|k| k > 0 && k < all.len() && (0..plan.loops()).all(|l| plan.step(l, k) == 0)),
        plan,
        shape,
        room,
        rooms,
        result: TileCopy::new(out.dtype, program.dtype()),
        converted,
        streamed,
        prefetched: each(|k| far && if k == 0 { !streamed && !converted } else { k <= inputs.len() && is_last(k - 1) }),
    };
    // SAFETY: operands are inside their storages. Inputs do not overlap the result, or have equal addresses at equal indices. Each thread
    // has separate rooms.
    scratch.each::<u8>(parts, &|part, memory| unsafe { evaluation.range(count * part / parts..count * (part + 1) / parts, memory) });
    Ok(())
}

/// Returns the bytes of the result and the inputs. Of inputs that share memory, like views of one tensor, only the first counts.
fn bytes_of(out: &Operand, inputs: &[&Operand]) -> usize {
    let bytes = |operand: &Operand| (operand.span().1 - operand.span().0) as u64;
    let is_first = |k: &usize| !inputs[..*k].iter().any(|other| other.overlaps(inputs[*k]));
    let all = (0..inputs.len()).filter(is_first).map(|k| bytes(inputs[k])).fold(bytes(out), u64::saturating_add);
    usize::try_from(all).unwrap_or(usize::MAX)
}

/// Returns the rows and columns of tiles of at most `most` elements: whole rows if these are short, otherwise pieces of one row of equal
/// length.
fn shape(plan: &Many, most: usize) -> [usize; 2] {
    let (first, second) = (plan.n(0), plan.n(1));
    if plan.loops() > 1 && first < FUSED_ROW.min(most) {
        [(most / first).clamp(1, second), first]
    } else {
        [1, first.div_ceil(first.div_ceil(most)).next_multiple_of(UNIT).min(most)]
    }
}

fn prepared(program: &Program, step: &Step) -> Result<Prepared> {
    let first_input = program.places;
    let first_constant = first_input + program.inputs.iter().flatten().count();
    let room = |value: Value| match value {
        Value::Input(k) => first_input + program.inputs[..k].iter().flatten().count(),
        Value::Constant(k) => first_constant + k,
        Value::Step(k) => program.steps[k].place,
    };
    let reads = each(|k| step.reads.get(k).map_or(0, |&value| room(value)));
    let (kernel, grain) = match &step.action {
        Action::Convert => {
            let from = program.dtype_of(step.reads[0]);
            (Kernel::Convert(TileCopy::new(step.dtype, from), [step.dtype.size(), from.size()]), CHEAP)
        }
        Action::Map { op, common, .. } => {
            let mask = Some(program.dtype_of(step.reads[0]));
            match op {
                Elementwise::Unary(op) => (Kernel::Unary(typed(program, step, op.choose(*common, mask)?, *common)), op.grain),
                Elementwise::Binary(op) => (Kernel::Binary(typed(program, step, op.choose(*common, mask)?, *common)), op.grain),
                Elementwise::Ternary(op) => (Kernel::Ternary(typed(program, step, op.choose(*common, mask)?, *common)), op.grain),
            }
        }
    };
    Ok(Prepared { kernel, to: step.place, reads, grain })
}

fn typed<const N: usize>(program: &Program, step: &Step, choice: Choice<N>, common: Dtype) -> Typed<N> {
    let stored = each(|k| if k == 0 { step.dtype } else { program.dtype_of(step.reads[k - 1]) });
    Typed { kernel: choice.kernel, stored, taken: choice.signature.types, common }
}

impl Evaluation<'_> {
    fn tile(&self, i: usize) -> Tile {
        let mut at = [0; MOST_OPERANDS];
        let shape = self.plan.tile(i, self.shape, &mut at[..=self.inputs.len()]);
        Tile { at, shape }
    }

    /// Returns the tile of an operand.
    #[inline(always)]
    fn side(&self, tile: &Tile, k: usize) -> Side {
        let data = self.data[k].get().wrapping_offset(tile.at[k]);
        Side { data, row_step: self.plan.step(1, k), col_step: self.plan.step(0, k) }
    }

    /// Computes a range of tiles in `memory`.
    ///
    /// # Safety
    /// No other thread may write these tiles of the result or use the memory, which must have all rooms.
    unsafe fn range(&self, range: Range<usize>, memory: *mut u8) {
        let room = |k: usize| memory.wrapping_add(k * self.room);
        let first_input = self.program.places;
        for (k, constant) in self.program.constants.iter().enumerate() {
            let bits = constant.bits.to_ne_bytes();
            // SAFETY: a room has space for a tile of any dtype.
            unsafe {
                fill(room(self.rooms - self.program.constants.len() + k), constant.dtype, bits.as_ptr(), self.shape[0] * self.shape[1])
            };
        }
        for k in (0..self.inputs.len()).filter(|&k| self.single[k + 1]) {
            // SAFETY: a room has space for a tile of any dtype, and the input has an element.
            unsafe { fill(room(first_input + k), self.inputs[k], self.data[k + 1].get(), self.shape[0] * self.shape[1]) };
        }
        // The inputs of a tile, in place or in their rooms.
        let mut at = [std::ptr::null_mut(); MOST_OPERANDS];
        let mut ahead = [(std::ptr::null(), 0); MOST_OPERANDS];
        let operands = if self.prefetched.contains(&true) { self.inputs.len() + 1 } else { 0 };
        let (mut tile, end) = (self.tile(range.start), range.end);
        for i in range {
            let next = self.tile((i + 1).min(end - 1));
            (0..operands).filter(|&k| self.prefetched[k]).for_each(|k| ahead[k] = self.run_of(&next, k));
            for k in 0..self.inputs.len() {
                // SAFETY: the tile is inside the operand, and the room has space for it.
                at[k] = unsafe { self.input(&tile, k, room(first_input + k)) };
            }
            let operand = |k: usize| match k.checked_sub(first_input) {
                Some(input) if input < self.inputs.len() => at[input],
                _ => room(k),
            };
            // Each step prefetches a share of the next tile.
            let before = |step: usize| {
                let share = |bytes: usize, step: usize| (bytes * step / self.steps.len()).next_multiple_of(LINE);
                for (at, bytes) in ahead[..operands].iter().copied().filter(|&(_, bytes)| bytes > 0) {
                    let (from, to) = (share(bytes, step), share(bytes, step + 1));
                    stream::prefetch(at.wrapping_add(from), to - from);
                }
            };
            // SAFETY: the tile is inside the result, and `at` and the rooms hold the operands.
            unsafe { self.steps(&tile, operand, before) };
            tile = next;
        }
        if self.streamed {
            stream::fence();
        }
    }

    /// Returns a row-major tile of an input: in place, or copied to its room.
    ///
    /// # Safety
    /// The tile must be inside the operand, and the room must have space for it.
    #[inline(always)]
    unsafe fn input(&self, tile: &Tile, k: usize, room: *mut u8) -> *mut u8 {
        let (side, size) = (self.side(tile, k + 1), self.item[k + 1] as isize);
        if is_row_major(side, tile, size) {
            return side.data;
        }
        if !self.single[k + 1] {
            // SAFETY: the caller keeps this function's contract.
            unsafe { TileCopy::new(self.inputs[k], self.inputs[k]).copy(rows_of(room, size, tile), side, tile.shape[0], tile.shape[1]) };
        }
        room
    }

    /// Returns the first byte of a tile of an operand and its number of bytes if the tile is one contiguous run, otherwise 0 bytes.
    #[inline(always)]
    fn run_of(&self, tile: &Tile, k: usize) -> (*const u8, usize) {
        let (side, size) = (self.side(tile, k), self.item[k]);
        let bytes = if is_row_major(side, tile, size as isize) { tile.shape[0] * tile.shape[1] * size } else { 0 };
        (side.data.cast_const(), bytes)
    }

    /// Computes a tile of the result. Calls `before` with the number of each step.
    ///
    /// # Safety
    /// The tile must be inside the result; `operand` must return the tile of each operand's number.
    #[inline(always)]
    unsafe fn steps(&self, tile: &Tile, operand: impl Fn(usize) -> *mut u8, before: impl Fn(usize)) {
        let (n, last) = (tile.shape[0] * tile.shape[1], self.steps.len() - 1);
        let (side, size) = (self.side(tile, 0), self.program.dtype().size() as isize);
        let direct = !self.converted && !self.streamed && is_row_major(side, tile, size);
        for (k, step) in self.steps.iter().enumerate() {
            before(k);
            let to = if k == last && direct { side.data } else { operand(step.to) };
            let numbers = match &self.program.steps[k].action {
                Action::Map { numbers, .. } => numbers.as_slice(),
                Action::Convert => &[],
            };
            let [a, b, c] = step.reads;
            // SAFETY: the caller keeps this function's contract; the room of a result holds no value that is still read.
            unsafe {
                match &step.kernel {
                    Kernel::Unary(kernel) => call(kernel, [to, operand(a)], n, numbers),
                    Kernel::Binary(kernel) => call(kernel, [to, operand(a), operand(b)], n, numbers),
                    Kernel::Ternary(kernel) => call(kernel, [to, operand(a), operand(b), operand(c)], n, numbers),
                    &Kernel::Convert(ref copy, [wide, narrow]) => {
                        let from = operand(a);
                        if to != from {
                            copy.copy(row(to, wide as isize, n), row(from, narrow as isize, n), 1, n);
                        }
                    }
                }
            }
        }
        if !direct {
            // SAFETY: the caller keeps this function's contract.
            unsafe { self.store(tile, side, rows_of(operand(self.steps[last].to), size, tile)) };
        }
    }

    /// # Safety
    /// As for [`Evaluation::steps`].
    unsafe fn store(&self, tile: &Tile, to: Side, from: Side) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if !self.streamed {
                return self.result.copy(to, from, tile.shape[0], tile.shape[1]);
            }
            for r in 0..tile.shape[0] as isize {
                let bytes = tile.shape[1] * self.item[0];
                stream::copy_stream(to.data.offset(r * to.row_step), from.data.offset(r * from.row_step), bytes);
            }
        }
    }
}

/// Runs a kernel on `n` elements of a result and operands.
///
/// # Safety
/// All must have `n` elements. The result must not overlap the operands, or must be one of them.
#[inline(always)]
unsafe fn call<const N: usize>(of: &Typed<N>, data: [*mut u8; N], n: usize, numbers: &[Scalar]) {
    // SAFETY: the caller keeps this function's contract.
    let work = unsafe {
        if of.stored == of.taken {
            Work::Flat(Flat::new(data, n, of.taken, ALONE))
        } else {
            Work::Planned(Box::new(Job::new(Plan::flat(n, of.stored.map(Dtype::size)), data, of.stored, of.taken, ALONE)))
        }
    };
    (of.kernel)(&work, &Numbers::new(numbers, of.common));
}

/// Returns true if the elements of a tile are contiguous in row-major order.
#[inline(always)]
fn is_row_major(side: Side, tile: &Tile, size: isize) -> bool {
    (side.col_step == size || tile.shape[1] == 1) && (tile.shape[0] == 1 || side.row_step == size * tile.shape[1] as isize)
}

/// Returns the contiguous rows of a tile as a side.
fn rows_of(data: *mut u8, size: isize, tile: &Tile) -> Side {
    Side { data, row_step: size * tile.shape[1] as isize, col_step: size }
}

fn row(data: *mut u8, size: isize, n: usize) -> Side {
    Side { data, row_step: size * n as isize, col_step: size }
}

/// Writes `n` copies of the element at `from`.
///
/// # Safety
/// `from` must be an element, and `to` must have room for `n`.
unsafe fn fill(to: *mut u8, dtype: Dtype, from: *const u8, n: usize) {
    let value = Side { data: from.cast_mut(), row_step: 0, col_step: 0 };
    // SAFETY: the caller keeps this function's contract.
    unsafe { TileCopy::new(dtype, dtype).copy(row(to, dtype.size() as isize, n), value, 1, n) };
}
