//! The kernel for strips of C by tile instructions, generic over the unit that executes them.

use crate::cpu::matmul::kernel::{Merge, ProductKernel, Strip};
use crate::cpu::matmul::number::Number;

/// Rows of a tile, and 32-bit elements of a row.
pub(super) const SIDE: usize = 16;

/// The elements that a unit multiplies. C has float32 for floats, and int32 for integers.
pub(super) type Kind = u8;
pub(super) const BFLOAT16: Kind = 0;
pub(super) const FLOAT16: Kind = 1;
pub(super) const INT8: Kind = 2;
pub(super) const UINT8: Kind = 3;

/// The tile configuration as `ldtilecfg` reads it.
#[repr(C, align(64))]
pub struct Config {
    pub palette: u8,
    pub start_row: u8,
    pub reserved: [u8; 14],
    /// Bytes of a row of each tile.
    pub row_bytes: [u16; 16],
    /// Rows of each tile.
    pub rows: [u8; 16],
}

/// The tile instructions.
pub trait Unit {
    /// Sets the sizes of all tiles, and clears the tiles.
    ///
    /// # Safety
    /// The configuration must be valid.
    unsafe fn configure(&mut self, config: &Config);
    /// Fills a tile with zeros.
    ///
    /// # Safety
    /// The tile must be configured.
    unsafe fn zero<const TILE: usize>(&mut self);
    /// Reads the rows of a tile, which are `step` bytes apart.
    ///
    /// # Safety
    /// The tile must be configured, and the rows must exist.
    unsafe fn load<const TILE: usize>(&mut self, from: *const u8, step: isize);
    /// Writes the rows of a tile, which are `step` bytes apart.
    ///
    /// # Safety
    /// The tile must be configured, and the rows must exist.
    unsafe fn store<const TILE: usize>(&mut self, to: *mut u8, step: isize);
    /// `c = c + a @ b`
    ///
    /// # Safety
    /// The tiles must be configured with matching sizes.
    unsafe fn multiply<const C: usize, const A: usize, const B: usize>(&mut self);
    /// Returns the tiles to their initial state, which the system need not save.
    ///
    /// # Safety
    /// The processor must have tiles.
    unsafe fn release(&mut self);
}

/// Returns the kernel that computes strips of tiles. `kernel` has functions for vectors of 16 elements.
pub(in crate::cpu::matmul) fn of_tiles<T>(kernel: ProductKernel<T>, strip: unsafe fn(&Strip<T>)) -> ProductKernel<T> {
    ProductKernel { rows: 2 * SIDE, cols: 2 * SIDE, deep: SIDE, strip, ..kernel }
}

// The tiles: four of C, and two each of A and B.
pub(super) const C00: usize = 0;
pub(super) const C01: usize = 1;
pub(super) const C10: usize = 2;
pub(super) const C11: usize = 3;
pub(super) const A0: usize = 4;
pub(super) const A1: usize = 5;
pub(super) const B0: usize = 6;
pub(super) const B1: usize = 7;

impl Config {
    /// Returns the configuration for a block of C of `rows` x `cols`, both at most two tiles.
    pub fn of(rows: usize, cols: usize) -> Config {
        let mut config = Config { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        let mut set = |tile: usize, rows: usize, cols: usize| {
            if rows > 0 && cols > 0 {
                (config.rows[tile], config.row_bytes[tile]) = (rows as u8, (size_of::<u32>() * cols) as u16);
            }
        };
        let halves = |n: usize| [n.min(SIDE), n.saturating_sub(SIDE)];
        let (down, across) = (halves(rows), halves(cols));
        for (c, a, rows) in [([C00, C01], A0, down[0]), ([C10, C11], A1, down[1])] {
            set(a, rows, SIDE);
            (0..2).for_each(|j| set(c[j], rows, across[j]));
        }
        set(B0, SIDE, across[0]);
        set(B1, SIDE, across[1]);
        config
    }
}

/// Computes a strip of at most 32 columns, block by block of 32 rows. `merge` is for vectors of 16 elements.
///
/// # Safety
/// The elements of the task must exist. The rows of A must be contiguous, and the depth must be a multiple of [`SIDE`]. No other thread may
/// access C or `packed`.
#[inline(always)]
pub(in crate::cpu::matmul) unsafe fn strip<T: Number, U: Unit>(unit: &mut U, task: &Strip<T>, merge: unsafe fn(&Merge<T>)) {
    debug_assert!(task.a_col == 1 && task.depth.is_multiple_of(SIDE));
    let (mut s, mut configured) = (*task, 0);
    // SAFETY: the caller keeps this function's contract; the configuration has the sizes of the block.
    unsafe {
        if !s.packed.is_null() {
            if s.cols >= SIDE {
                pack::<T, SIDE>(&s)
            } else {
                pack::<T, { SIDE / 4 }>(&s)
            }
            (s.b, s.b_row) = (s.packed, s.cols as isize);
        }
        for row in (0..s.rows).step_by(2 * SIDE) {
            let rows = (s.rows - row).min(2 * SIDE);
            if configured != rows {
                unit.configure(&Config::of(rows, s.cols));
                configured = rows;
            }
            match (rows > SIDE, s.cols > SIDE) {
                (true, true) => block::<T, U, true, true>(unit, &s, row, rows, merge),
                (true, false) => block::<T, U, true, false>(unit, &s, row, rows, merge),
                (false, true) => block::<T, U, false, true>(unit, &s, row, rows, merge),
                (false, false) => block::<T, U, false, false>(unit, &s, row, rows, merge),
            }
        }
        unit.release();
    }
}

/// Copies the rows of B, in vectors of N elements, to `packed`.
#[inline(always)]
unsafe fn pack<T: Number, const N: usize>(s: &Strip<T>) {
    for k in 0..s.depth {
        let (from, to) = (s.b.wrapping_offset(k as isize * s.b_row), s.packed.wrapping_add(k * s.cols));
        for j in (0..s.cols).step_by(N) {
            // SAFETY: the caller guarantees the row and its room. `cols` is a multiple of N.
            unsafe { to.add(j).cast::<[T; N]>().write_unaligned(from.add(j).cast::<[T; N]>().read_unaligned()) };
        }
    }
}

/// The sums of a block of C.
#[repr(align(64))]
struct Sums<T>([[T; 2 * SIDE]; 2 * SIDE]);

/// Computes `rows` rows of a strip: one row of tiles, or two if `TALL`, of one tile, or two if `WIDE`.
///
/// The sums of all blocks are rounded in the same order, so that an element does not depend on the block that contains it.
#[inline(always)]
unsafe fn block<T: Number, U: Unit, const TALL: bool, const WIDE: bool>(
    unit: &mut U,
    s: &Strip<T>,
    row: usize,
    rows: usize,
    merge: unsafe fn(&Merge<T>),
) {
    let step = |elements: isize| elements.wrapping_mul(size_of::<T>() as isize);
    let (a_step, b_step) = (step(s.a_row), step(s.b_row));
    let mut a = s.a.wrapping_offset(row as isize * s.a_row);
    let mut b = s.b;
    // SAFETY: the caller guarantees the elements, and the sizes of the tiles.
    unsafe {
        unit.zero::<C00>();
        if WIDE {
            unit.zero::<C01>();
        }
        if TALL {
            unit.zero::<C10>();
        }
        if TALL && WIDE {
            unit.zero::<C11>();
        }
        for _ in 0..s.depth / SIDE {
            unit.load::<B0>(b.cast(), b_step);
            unit.load::<A0>(a.cast(), a_step);
            unit.multiply::<C00, A0, B0>();
            if TALL {
                unit.load::<A1>(a.wrapping_offset(SIDE as isize * s.a_row).cast(), a_step);
                unit.multiply::<C10, A1, B0>();
            }
            if WIDE {
                unit.load::<B1>(b.wrapping_add(SIDE).cast(), b_step);
                unit.multiply::<C01, A0, B1>();
            }
            if TALL && WIDE {
                unit.multiply::<C11, A1, B1>();
            }
            a = a.wrapping_add(SIDE);
            b = b.wrapping_offset(SIDE as isize * s.b_row);
        }
        let c = s.c.wrapping_offset(row as isize * s.c_row);
        if s.fresh && s.alpha == T::ONE {
            return store::<T, U, TALL, WIDE>(unit, c, s.c_row);
        }
        let mut sums = Sums([[T::ZERO; 2 * SIDE]; 2 * SIDE]);
        let sums = sums.0.as_mut_ptr().cast::<T>();
        store::<T, U, TALL, WIDE>(unit, sums, s.cols as isize);
        let Strip { alpha, beta, fresh, cols, c_row, .. } = *s;
        merge(&Merge { alpha, beta, fresh, sums, rows, cols, c, c_row, c_col: 1 });
    }
}

/// Writes the tiles of C to rows that are `row` elements apart.
#[inline(always)]
unsafe fn store<T, U: Unit, const TALL: bool, const WIDE: bool>(unit: &mut U, to: *mut T, row: isize) {
    let step = row.wrapping_mul(size_of::<T>() as isize);
    let (right, below) = (to.wrapping_add(SIDE), to.wrapping_offset(SIDE as isize * row));
    // SAFETY: the caller guarantees the elements, and the sizes of the tiles.
    unsafe {
        unit.store::<C00>(to.cast(), step);
        if WIDE {
            unit.store::<C01>(right.cast(), step);
        }
        if TALL {
            unit.store::<C10>(below.cast(), step);
        }
        if TALL && WIDE {
            unit.store::<C11>(below.wrapping_add(SIDE).cast(), step);
        }
    }
}
