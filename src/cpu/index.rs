//! Elements by position: gathered from memory, scattered to memory, or combined with the elements there.
//!
//! Each kernel walks a plan of three operands: elements in a row, a list of positions, and a tensor that the positions index. The strides
//! of this tensor are 0 along the indexed dimension; the position gives the offset there.

use super::engine::{CHEAP, Shared, parallel};
use super::fold::Ordered;
use super::simd::simd;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::launch::{Combine, Index, Move};
use crate::plan::{Plan, Tile, each};

/// Rows and columns of a tile that one thread works on.
const TILE: (usize, usize) = (64, 4096);
/// Positions of a loop, or parts of the entries, that suffice for all threads. Of the loops that have as many, the outermost is shared.
const SHARED_LOOP: usize = 64;

/// The entries of the indexed dimension.
#[derive(Debug, Clone, Copy)]
struct Entries {
    /// Bytes from one entry to the next.
    step: isize,
    /// The number added to negative positions: the number of entries, or 0 if no position may be negative.
    count: i64,
    /// The number of entries, or 0 if it is unknown.
    total: usize,
}

impl Entries {
    /// Returns the entry of position `i`, which counts from the end if it is negative.
    #[inline(always)]
    fn entry(self, i: i64) -> isize {
        (i + (self.count & (i >> 63))) as isize
    }

    #[inline(always)]
    fn offset(self, i: i64) -> isize {
        self.entry(i) * self.step
    }
}

/// A run of a plan: where each operand begins, its step in bytes, and the number of elements.
#[derive(Clone, Copy)]
struct Entered {
    at: [*mut u8; 3],
    step: [isize; 3],
    n: usize,
}

impl Entered {
    /// Returns the position of element `i`.
    ///
    /// # Safety
    /// The run must have more than `i` elements, and the second operand must be int64.
    #[inline(always)]
    unsafe fn position(&self, i: usize) -> i64 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.at[1].offset(i as isize * self.step[1]).cast::<i64>().read_unaligned() }
    }

    /// Returns the address of element `i` of operand `k`.
    #[inline(always)]
    fn element<T>(&self, k: usize, i: usize) -> *mut T {
        self.at[k].wrapping_offset(i as isize * self.step[k]).cast()
    }
}

/// Calls `run` for every run of a tile.
#[inline(always)]
fn for_rows(data: [*mut u8; 3], Tile { at, rows, cols, row_step, col_step }: Tile<3>, run: &(dyn Fn(Entered) + Sync)) {
    for row in 0..rows as isize {
        let at = each(|k| data[k].wrapping_offset(at[k] + row * row_step[k]));
        run(Entered { at, step: col_step, n: cols });
    }
}

/// Calls `run` for every run of the plan, in any order.
///
/// # Safety
/// The operands must hold every position of the plan.
unsafe fn for_runs(plan: &Plan<3>, data: [*mut u8; 3], run: &(dyn Fn(Entered) + Sync)) {
    if plan.numel() == 0 {
        return;
    }
    let (tiles, data) = (plan.tiles(TILE.0, TILE.1), data.map(Shared));
    parallel(tiles.count(), tiles.area(), CHEAP, &|range| range.for_each(|i| for_rows(each(|k| data[k].get()), tiles.get(i), run)));
}

/// Calls `run` for every run of the plan, in row-major order where elements may share a place of operand 2. Threads share a loop in which
/// this operand moves, or its entries, so that no two of them write to one place.
///
/// # Safety
/// The operands must hold every position of the plan. Operand 2 must have a separate place for each position of the loops in which it
/// moves.
unsafe fn for_runs_in_order(plan: &Plan<3>, data: [*mut u8; 3], entries: Entries, run: &(dyn Fn(Entered) + Sync)) {
    if plan.numel() == 0 {
        return;
    }
    let data = data.map(Shared);
    // Whole rows keep the order of the elements, which matters if several are written to one place.
    let in_order = |plan: &Plan<3>, at: [*mut u8; 3], run: &(dyn Fn(Entered) + Sync)| {
        let tiles = plan.tiles(TILE.0, usize::MAX);
        (0..tiles.count()).for_each(|i| for_rows(at, tiles.get(i), run));
    };
    let moving = (0..plan.loops().len()).filter(|&l| plan.loops()[l].step[2] != 0).max_by_key(|&l| (plan.loops()[l].n.min(SHARED_LOOP), l));
    if moving == Some(0) && plan.loops()[0].step[1] == 0 && entries.total >= SHARED_LOOP {
        // Two parts of a row may share a cache line. Each thread therefore reads all positions, and writes whole rows of some entries.
        return parallel(SHARED_LOOP, plan.numel() / SHARED_LOOP, CHEAP, &|range| {
            let at = each(|k| data[k].get());
            if range.len() == SHARED_LOOP {
                return in_order(plan, at, run);
            }
            in_order(plan, at, &|row| {
                // SAFETY: a run has at least one position.
                let entry = entries.entry(unsafe { row.position(0) }) as usize;
                if range.contains(&(entry * SHARED_LOOP / entries.total)) {
                    run(row);
                }
            });
        });
    }
    let (units, entire) = (moving.map_or(1, |l| plan.loops()[l].n), plan);
    parallel(units, plan.numel() / units, CHEAP, &|range| {
        let (mut plan, mut at) = (entire.clone(), each(|k| data[k].get()));
        if let Some(l) = moving {
            at = each(|k| at[k].wrapping_offset(range.start as isize * plan.loops()[l].step[k]));
            plan.shorten(l, range.len());
        }
        in_order(&plan, at, run);
    });
}

/// Runs `$body` with `$T` bound to an element type of `$size` bytes. Code that only moves elements needs no other types.
macro_rules! by_size {
    ($size:expr, $T:ident => $body:expr) => {
        match $size {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = i16;
                $body
            }
            4 => {
                type $T = i32;
                $body
            }
            _ => {
                type $T = i64;
                $body
            }
        }
    };
}
pub(crate) use by_size;

/// Moves elements of `dtype` as `work` says. The operands are a row of elements, the positions and the tensor that they index.
///
/// # Safety
/// The operands must hold every position of the plan. Positions must be inside the dimension. The operand that is written must overlap no
/// other operand, and none of its elements may share memory.
pub unsafe fn run(work: &Index, dtype: Dtype, plan: &Plan<3>, data: [*mut u8; 3]) -> Result<()> {
    let size = dtype.size();
    let total = work.range.map_or(0, |[_, entries]| entries as usize);
    let entries = Entries { step: work.step as isize * size as isize, count: work.count(), total };
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        match work.movement {
            Move::Gather => gather(plan, size, data, entries),
            Move::Scatter => scatter(plan, size, data, entries),
            Move::Accumulate(combine) => dispatch!(all, dtype, T => match combine {
                Combine::Add => accumulate::<T>(plan, data, entries, Element::add),
                Combine::Multiply => accumulate::<T>(plan, data, entries, Element::mul),
                Combine::Max => accumulate::<T>(plan, data, entries, Ordered::better::<true>),
                Combine::Min => accumulate::<T>(plan, data, entries, Ordered::better::<false>),
            }),
        }
    }
    Ok(())
}

/// `r = t[index]`: operand 0 receives elements of operand 2, both of `size` bytes.
///
/// # Safety
/// Positions must be inside the dimension, from minus its size on; `r` must not overlap the other operands.
unsafe fn gather(plan: &Plan<3>, size: usize, data: [*mut u8; 3], entries: Entries) {
    by_size!(size, T => {
        let run = move |run: Entered| {
            // SAFETY: the caller keeps this function's contract.
            unsafe { gather_run::<T>(run, entries) }
        };
        // SAFETY: the caller keeps this function's contract.
        unsafe { for_runs(plan, data, &run) }
    })
}

/// # Safety
/// As for [`gather`].
unsafe fn gather_run<T: Copy>(mut run: Entered, entries: Entries) {
    let size = size_of::<T>() as isize;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if run.step[1] == 0 {
            run.at[2] = run.at[2].wrapping_offset(entries.offset(run.position(0)));
            if run.step[0] == size && run.step[2] == size {
                return std::ptr::copy_nonoverlapping(run.at[2], run.at[0], run.n * size_of::<T>());
            }
            for i in 0..run.n {
                run.element::<T>(0, i).write_unaligned(run.element::<T>(2, i).read_unaligned());
            }
        } else if run.step[0] == size && run.step[1] == 8 && run.step[2] == 0 {
            // The common case has constant steps, usually of whole elements.
            let (r, index) = (run.at[0].cast::<T>(), run.at[1].cast::<i64>());
            if entries.step == size {
                let t = run.at[2].cast::<T>();
                let take = |i: usize, entry: isize| r.add(i).write_unaligned(t.wrapping_offset(entry).read_unaligned());
                return match entries.count {
                    0 => by_four(run.n, |i| take(i, index.add(i).read_unaligned() as isize)),
                    _ => by_four(run.n, |i| take(i, entries.entry(index.add(i).read_unaligned()))),
                };
            }
            for i in 0..run.n {
                let from = run.at[2].wrapping_offset(entries.offset(index.add(i).read_unaligned()));
                r.add(i).write_unaligned(from.cast::<T>().read_unaligned());
            }
        } else {
            for i in 0..run.n {
                let from = run.element::<u8>(2, i).wrapping_offset(entries.offset(run.position(i)));
                run.element::<T>(0, i).write_unaligned(from.cast::<T>().read_unaligned());
            }
        }
    }
}

/// Calls `each` for `0..n` in order, four calls an iteration, since the compiler does not unroll a loop whose elements may be the same.
#[inline(always)]
fn by_four(n: usize, each: impl Fn(usize)) {
    let whole = n / 4 * 4;
    for i in (0..whole).step_by(4) {
        each(i);
        each(i + 1);
        each(i + 2);
        each(i + 3);
    }
    (whole..n).for_each(each);
}

/// `t[index] = src`: operand 2 receives elements of operand 0, both of `size` bytes. If several elements are written to one place, the last
/// in row-major order wins.
///
/// # Safety
/// As for [`gather`], with `t` separate from the other operands. Elements of `t` must not share memory.
unsafe fn scatter(plan: &Plan<3>, size: usize, data: [*mut u8; 3], entries: Entries) {
    by_size!(size, T => {
        // SAFETY: the caller keeps this function's contract.
        unsafe { for_runs_in_order(plan, data, entries, &move |run: Entered| scatter_run::<T>(run, entries)) }
    })
}

/// # Safety
/// As for [`scatter`].
unsafe fn scatter_run<T: Copy>(mut run: Entered, entries: Entries) {
    let size = size_of::<T>() as isize;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if run.step[1] == 0 && run.step[2] != 0 {
            run.at[2] = run.at[2].wrapping_offset(entries.offset(run.position(0)));
            if run.step[0] == size && run.step[2] == size {
                return std::ptr::copy_nonoverlapping(run.at[0], run.at[2], run.n * size_of::<T>());
            }
            for i in 0..run.n {
                run.element::<T>(2, i).write_unaligned(run.element::<T>(0, i).read_unaligned());
            }
        } else {
            for i in 0..run.n {
                let to = run.element::<u8>(2, i).wrapping_offset(entries.offset(run.position(i)));
                to.cast::<T>().write_unaligned(run.element::<T>(0, i).read_unaligned());
            }
        }
    }
}

/// `t[index] = combine(t[index], src)`. Elements for one place are combined in row-major order.
///
/// # Safety
/// As for [`scatter`], with elements of `T`.
unsafe fn accumulate<T: Element>(plan: &Plan<3>, data: [*mut u8; 3], entries: Entries, combine: impl Fn(T, T) -> T + Copy + Sync) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { for_runs_in_order(plan, data, entries, &move |run: Entered| accumulate_run(run, entries, combine)) }
}

/// # Safety
/// As for [`accumulate`].
unsafe fn accumulate_run<T: Element>(mut run: Entered, entries: Entries, combine: impl Fn(T, T) -> T) {
    let size = size_of::<T>() as isize;
    // SAFETY: the caller keeps this function's contract.
    let put = |to: *mut T, x: *const T| unsafe { to.write_unaligned(combine(to.read_unaligned(), x.read_unaligned())) };
    if run.step[1] == 0 && run.step[2] != 0 {
        // SAFETY: the caller keeps this function's contract.
        run.at[2] = run.at[2].wrapping_offset(entries.offset(unsafe { run.position(0) }));
        if run.step[0] == size && run.step[2] == size {
            // With constant steps, the compiler processes several elements at once.
            let (to, from) = (Shared(run.at[2]), Shared(run.at[0]));
            return simd(
                #[inline(always)]
                move |_| {
                    let (to, from) = (to.get().cast::<T>(), from.get().cast::<T>());
                    (0..run.n).for_each(|i| put(to.wrapping_add(i), from.wrapping_add(i)));
                },
            );
        }
        return (0..run.n).for_each(|i| put(run.element(2, i), run.element(0, i)));
    }
    if run.step == [size, 8, 0] && entries.step == size {
        let (from, index, to) = (run.at[0].cast::<T>(), run.at[1].cast::<i64>(), run.at[2].cast::<T>());
        return by_four(run.n, |i| {
            // SAFETY: the caller keeps this function's contract.
            let at = entries.entry(unsafe { index.add(i).read_unaligned() });
            put(to.wrapping_offset(at), from.wrapping_add(i));
        });
    }
    for i in 0..run.n {
        // SAFETY: the caller keeps this function's contract.
        let at = entries.offset(unsafe { run.position(i) });
        put(run.element::<u8>(2, i).wrapping_offset(at).cast(), run.element(0, i));
    }
}

/// Returns the index of the first position that is not in `least..end`.
pub fn first_outside(index: &[i64], least: i64, end: i64) -> Option<usize> {
    const CHECKED: usize = 256;
    // As unsigned distances from `least`, both bounds are compared at once.
    let (count, outside) = (end.wrapping_sub(least) as u64, |x: i64| x.wrapping_sub(least) as u64);
    index.chunks(CHECKED).enumerate().find_map(|(k, block)| {
        let any = simd(
            #[inline(always)]
            move |_| block.iter().fold(false, |any, &x| any | (outside(x) >= count)),
        );
        if any { block.iter().position(|&x| outside(x) >= count).map(|i| k * CHECKED + i) } else { None }
    })
}
