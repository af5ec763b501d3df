//! The innermost kernels: strips of C as wide as two or three vectors, computed tile by tile in registers.
//!
//! The code is plain loops over arrays of constant size, compiled once for each instruction set. The compiler keeps each `[T; N]` of a tile
//! in one register, as long as loops have constant bounds and the address of a sum is never taken. A tile has enough sums to keep the
//! multipliers busy. It reads A one element at a time, so A may have any layout.

// Loops with constant bounds over several arrays, which iterators would hide from the vectoriser.
#![allow(clippy::needless_range_loop)]

use super::number::Number;
use crate::cpu::simd::{Level, opaque};
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{with_avx2, with_avx512};
use crate::cpu::stream;
use std::array;

/// `c = beta * c + alpha * a @ b` for a strip of C; strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Strip<T> {
    pub alpha: T,
    pub beta: T,
    /// True if `beta` is 0: C is written without being read. This is a separate flag, since with `beta` alone the compiler would still read
    /// C.
    pub fresh: bool,
    /// The number of columns of A and rows of B.
    pub depth: usize,
    pub rows: usize,
    /// The number of columns of B and C: a [`ProductKernel::width`].
    pub cols: usize,
    pub a: *const T,
    pub a_row: isize,
    pub a_col: isize,
    /// The rows are contiguous.
    pub b: *const T,
    pub b_row: isize,
    /// Memory in which the first tile packs the rows of B, one after the other, for the later tiles; null if B is not packed. Only for
    /// strips of at least 32 rows.
    pub packed: *mut T,
    /// The rows are contiguous.
    pub c: *mut T,
    pub c_row: isize,
    /// The address to prefetch. With each row of C, `next_rows` rows, `next_row` elements apart, are prefetched.
    pub next: *const T,
    pub next_row: isize,
    pub next_rows: usize,
}

#[cfg(target_arch = "x86_64")]
impl<T> Strip<T> {
    /// Returns the strip with elements of another type of the same size.
    pub fn of_pairs<P: From<T>>(&self) -> Strip<P>
    where
        T: Copy,
    {
        const { assert!(size_of::<P>() == size_of::<T>() && align_of::<P>() == align_of::<T>()) };
        Strip {
            alpha: self.alpha.into(),
            beta: self.beta.into(),
            fresh: self.fresh,
            depth: self.depth,
            rows: self.rows,
            cols: self.cols,
            a: self.a.cast(),
            a_row: self.a_row,
            a_col: self.a_col,
            b: self.b.cast(),
            b_row: self.b_row,
            packed: self.packed.cast(),
            c: self.c.cast(),
            c_row: self.c_row,
            next: self.next.cast(),
            next_row: self.next_row,
            next_rows: self.next_rows,
        }
    }
}

/// `c = beta * c + alpha * sums` for a C with fewer columns than a strip, or whose rows are not contiguous.
#[derive(Clone, Copy)]
pub(super) struct Merge<T> {
    pub alpha: T,
    pub beta: T,
    /// As in [`Strip`].
    pub fresh: bool,
    /// Consecutive rows of [`ProductKernel::width`] elements.
    pub sums: *const T,
    pub rows: usize,
    pub cols: usize,
    pub c: *mut T,
    pub c_row: isize,
    pub c_col: isize,
}

/// Rows of B to be packed for a strip: [`ProductKernel::width`] elements each, with zeros after the first `cols`.
#[derive(Clone, Copy)]
pub(super) struct Packing<T> {
    pub rows: usize,
    pub cols: usize,
    pub dst: *mut T,
    /// The rows are contiguous.
    pub src: *const T,
    pub src_row: isize,
}

/// The kernels of one type and instruction set.
#[derive(Clone, Copy)]
pub(super) struct ProductKernel<T> {
    /// The number of rows of a full tile.
    pub rows: usize,
    /// The number of columns of a full tile: two or three vectors.
    pub cols: usize,
    /// The number of elements in a vector: a power of two.
    pub vector: usize,
    /// The depth of a strip is a multiple of this number if the depth of the whole product is.
    pub deep: usize,
    pub strip: unsafe fn(&Strip<T>),
    pub merge: unsafe fn(&Merge<T>),
    pub lay_out: unsafe fn(&Packing<T>),
}

/// The kernel of a product of groups, by the type of the sums.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) enum Kernel {
    Float(ProductKernel<f32>),
    Integer(ProductKernel<i32>),
}

impl<T> ProductKernel<T> {
    /// Returns the columns of the next strip if `left` columns are left. Two strips of two vectors are faster than one of three and one of
    /// one.
    #[inline(always)]
    pub fn step(&self, left: usize) -> usize {
        if left > self.cols && left <= 4 * self.vector { 2 * self.vector } else { self.cols.min(left) }
    }

    /// Returns the columns of the narrowest strip with at least `cols`: three vectors, two, one, a half or a quarter.
    #[inline(always)]
    pub fn width(&self, cols: usize) -> usize {
        if cols > 2 * self.vector { self.cols } else { cols.next_power_of_two().max(self.vector / 4) }
    }
}

/// Rows of a tile with 32 vector registers: 28 for the sums, two for B, and one for an element of A.
pub(super) const TALL: usize = 14;
/// Rows of a tile of three vectors with 32 registers: 24 for the sums, three for B. It loads less for each product than the tall tile, so
/// that processors limited by power run at a higher clock.
const WIDE: usize = 8;
/// Rows of a tile with 16 vector registers.
pub(super) const SHORT: usize = 6;
/// The minimum number of columns of A between two prefetches.
const LEAST: usize = 12;
const BASE: usize = if cfg!(target_arch = "aarch64") { TALL } else { SHORT };
const BASE_FUSED: bool = cfg!(target_arch = "aarch64");

/// Returns the kernel for an instruction set, which the processor must have. The numbers are the elements in 64, 32, ... 4 bytes, at least
/// one.
#[inline(always)]
pub(super) fn kernel<T: Number, const N64: usize, const N32: usize, const N16: usize, const N8: usize, const N4: usize>(
    level: Level,
) -> ProductKernel<T> {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => ProductKernel {
            rows: WIDE,
            cols: 3 * N64,
            vector: N64,
            deep: 1,
            strip: strip_avx512::<T, N64, N32, N16>,
            merge: merge_avx512::<T, N64, N32, N16>,
            lay_out: lay_out_avx512::<T, N64, N32, N16>,
        },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => ProductKernel {
            rows: SHORT,
            cols: 2 * N32,
            vector: N32,
            deep: 1,
            strip: strip_avx2::<T, N32, N16, N8>,
            merge: merge_avx2::<T, N32, N16, N8>,
            lay_out: lay_out_avx2::<T, N32, N16, N8>,
        },
        _ => ProductKernel {
            rows: BASE,
            cols: 2 * N16,
            vector: N16,
            deep: 1,
            strip: strip::<T, BASE_FUSED, BASE, N16, N8, N4>,
            merge: merge::<T, N16, N8, N4>,
            lay_out: lay_out::<T, N16, N8, N4>,
        },
    }
}

#[cfg(target_arch = "x86_64")]
with_avx512! {
    unsafe fn strip_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Strip<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { strip::<T, true, TALL, N, HALF, QUARTER>(task) }
    }

    unsafe fn merge_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Merge<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { merge::<T, N, HALF, QUARTER>(task) }
    }

    unsafe fn lay_out_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Packing<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { lay_out::<T, N, HALF, QUARTER>(task) }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx2! {
    unsafe fn strip_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Strip<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { strip::<T, true, SHORT, N, HALF, QUARTER>(task) }
    }

    unsafe fn merge_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Merge<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { merge::<T, N, HALF, QUARTER>(task) }
    }

    unsafe fn lay_out_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Packing<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { lay_out::<T, N, HALF, QUARTER>(task) }
    }
}

/// Computes a strip with tiles of at most ROWS rows.
///
/// # Safety
/// The elements of the task must exist. No other thread may access C or `packed`. The processor must have the instructions that this is
/// compiled for.
#[inline(always)]
pub(super) unsafe fn strip<T: Number, const FUSED: bool, const ROWS: usize, const N: usize, const HALF: usize, const QUARTER: usize>(
    s: &Strip<T>,
) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        // Tiles of three vectors need as many registers as tall ones. This is tested first, so that no other tiles are compiled for this
        // case.
        if ROWS == TALL && s.cols > 2 * N {
            tiles::<T, FUSED, WIDE, 3, N>(s)
        } else if s.cols > N {
            tiles::<T, FUSED, ROWS, 2, N>(s)
        } else if s.cols > HALF {
            tiles::<T, FUSED, ROWS, 1, N>(s)
        } else if s.cols > QUARTER {
            tiles::<T, FUSED, ROWS, 1, HALF>(s)
        } else {
            tiles::<T, FUSED, ROWS, 1, QUARTER>(s)
        }
    }
}

/// Computes tiles of ROWS rows, then the remaining rows in tiles of powers of two.
#[inline(always)]
unsafe fn tiles<T: Number, const FUSED: bool, const ROWS: usize, const VECTORS: usize, const N: usize>(s: &Strip<T>) {
    let (mut row, mut left, mut next) = (0, s.rows, s.next);
    let mut s = *s;
    macro_rules! tile {
        ($ROWS:expr, $LAYS_OUT:expr) => {{
            // SAFETY: the caller keeps this function's contract; at least `$ROWS` rows are left.
            unsafe { tile::<T, FUSED, $LAYS_OUT, { $ROWS }, VECTORS, N>(&s, row, &mut next) };
            row += $ROWS;
            left -= $ROWS;
        }};
    }
    if !s.packed.is_null() {
        tile!(ROWS, true);
        (s.b, s.b_row) = (s.packed, (VECTORS * N) as isize);
    }
    // Two equal tiles are faster than a full one and one of two rows, which are too few to keep the multipliers busy.
    while left >= ROWS && (ROWS <= 8 || left != ROWS + 2) {
        tile!(ROWS, false);
    }
    while ROWS > 8 && left >= 8 {
        tile!(8, false);
    }
    while left >= 4 {
        tile!(4, false);
    }
    if left >= 2 {
        tile!(2, false);
    }
    if left == 1 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { tile::<T, FUSED, false, 1, VECTORS, N>(&s, row, &mut next) };
    }
}

/// Computes the tile of `ROWS` rows from `row` on, and packs B if `LAYS_OUT`. Meanwhile it prefetches the rows of C that it will write and
/// the `next` rows, a few at a time. If all were prefetched at once, data needed sooner would be delayed.
#[inline(always)]
unsafe fn tile<T: Number, const FUSED: bool, const LAYS_OUT: bool, const ROWS: usize, const VECTORS: usize, const N: usize>(
    s: &Strip<T>,
    row: usize,
    next: &mut *const T,
) {
    let stride = s.a_row.wrapping_mul(size_of::<T>() as isize);
    let offsets = [0, stride, stride.wrapping_mul(2), stride.wrapping_mul(3)];
    // One pointer serves four rows of A. A pointer for each row needs too many registers, and stepping from row to row takes too much time.
    let mut a: [*const T; TALL.div_ceil(4)] = array::from_fn(|four| s.a.wrapping_offset(((row + 4 * four) as isize).wrapping_mul(s.a_row)));
    let (mut b, mut packed) = (s.b.cast::<[[T; N]; VECTORS]>(), s.packed.cast::<[[T; N]; VECTORS]>());
    let c = s.c.wrapping_offset(row as isize * s.c_row);
    let mut sums = [[[T::ZERO; N]; VECTORS]; ROWS];
    let (mut left, mut fetched) = (s.depth, c.cast_const());
    let step = (s.depth / ROWS).max(LEAST);
    while left > 0 {
        fetch_row::<T, VECTORS, N>(&mut fetched, s.c_row);
        for _ in 0..s.next_rows {
            fetch_row::<T, VECTORS, N>(next, s.next_row);
        }
        let now = step.min(left);
        for _ in 0..now {
            // SAFETY: the caller guarantees the row of B.
            let right = unsafe { b.read_unaligned() };
            if LAYS_OUT {
                // SAFETY: the caller guarantees room for the packed row.
                unsafe { packed.write_unaligned(right) };
                packed = packed.wrapping_add(1);
            }
            for i in 0..ROWS {
                // SAFETY: the caller guarantees the element of A.
                let left = unsafe { *a[i / 4].wrapping_byte_offset(offsets[i % 4]) };
                for v in 0..VECTORS {
                    sums[i][v] = T::mul_add_vector::<FUSED, N>(left, right[v], sums[i][v]);
                }
            }
            for four in 0..ROWS.div_ceil(4) {
                a[four] = opaque(a[four].wrapping_offset(s.a_col));
            }
            b = b.cast::<T>().wrapping_offset(s.b_row).cast();
        }
        left -= now;
    }
    for i in 0..ROWS {
        for v in 0..VECTORS {
            let c = c.wrapping_offset(i as isize * s.c_row).wrapping_add(v * N).cast::<[T; N]>();
            // SAFETY: the caller guarantees the elements of C.
            unsafe { c.write_unaligned(updated(s.alpha, sums[i][v], (s.beta, s.fresh), c)) };
        }
    }
}

/// `beta * c + alpha * sums`
#[inline(always)]
unsafe fn updated<T: Number, const N: usize>(alpha: T, sums: [T; N], (beta, fresh): (T, bool), c: *const [T; N]) -> [T; N] {
    let mut new = sums;
    for l in 0..N {
        new[l] = T::mul(alpha, sums[l]);
    }
    if !fresh {
        // SAFETY: the caller keeps this function's contract.
        let old = unsafe { c.read_unaligned() };
        for l in 0..N {
            new[l] = T::add(T::mul(beta, old[l]), new[l]);
        }
    }
    new
}

#[inline(always)]
unsafe fn merge<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(m: &Merge<T>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if m.c_col != 1 || m.cols <= QUARTER {
            merge_each(m, width::<N, HALF, QUARTER>(m.cols))
        } else if m.cols > 2 * N {
            merge_vectors::<T, 3, N>(m)
        } else if m.cols > N {
            merge_vectors::<T, 2, N>(m)
        } else if m.cols > HALF {
            merge_vectors::<T, 2, HALF>(m)
        } else {
            merge_vectors::<T, 2, QUARTER>(m)
        }
    }
}

#[inline(always)]
fn width<const N: usize, const HALF: usize, const QUARTER: usize>(cols: usize) -> usize {
    if cols > 2 * N {
        3 * N
    } else if cols > N {
        2 * N
    } else if cols > HALF {
        N
    } else if cols > QUARTER {
        HALF
    } else {
        QUARTER
    }
}

/// Writes rows of more than `(VECTORS - 1) * N` and at most `VECTORS * N` elements as vectors, of which the last two overlap.
#[inline(always)]
unsafe fn merge_vectors<T: Number, const VECTORS: usize, const N: usize>(m: &Merge<T>) {
    for i in 0..m.rows {
        let (c, sums) = (m.c.wrapping_offset(i as isize * m.c_row), m.sums.wrapping_add(i * VECTORS * N));
        // All are computed before one is written, because the last two vectors have elements in common.
        let mut new = [[T::ZERO; N]; VECTORS];
        let from = |v: usize| if v + 1 < VECTORS { v * N } else { m.cols - N };
        for v in 0..VECTORS {
            let (c, sums) = (c.wrapping_add(from(v)).cast::<[T; N]>(), sums.wrapping_add(from(v)).cast::<[T; N]>());
            // SAFETY: the caller guarantees these elements of the row on both sides.
            new[v] = unsafe { updated(m.alpha, sums.read_unaligned(), (m.beta, m.fresh), c) };
        }
        for v in 0..VECTORS {
            // SAFETY: the caller guarantees these elements of the row on both sides.
            unsafe { c.wrapping_add(from(v)).cast::<[T; N]>().write_unaligned(new[v]) };
        }
    }
}

#[inline(always)]
unsafe fn merge_each<T: Number>(m: &Merge<T>, width: usize) {
    for i in 0..m.rows {
        for j in 0..m.cols {
            let c = m.c.wrapping_offset(i as isize * m.c_row + j as isize * m.c_col);
            // SAFETY: the caller guarantees the elements of C and of the sums.
            unsafe { c.cast::<[T; 1]>().write(updated(m.alpha, [*m.sums.add(i * width + j)], (m.beta, m.fresh), c.cast())) };
        }
    }
}

#[inline(always)]
unsafe fn lay_out<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(t: &Packing<T>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if t.cols > 2 * N {
            lay_out_vectors::<T, 3, N>(t)
        } else if t.cols > N {
            lay_out_vectors::<T, 2, N>(t)
        } else if t.cols > HALF {
            lay_out_vectors::<T, 2, HALF>(t)
        } else if t.cols > QUARTER {
            lay_out_vectors::<T, 2, QUARTER>(t)
        } else {
            lay_out_each::<T, QUARTER>(t)
        }
    }
}

/// Packs rows of more than `(VECTORS - 1) * N` and at most `VECTORS * N` elements as vectors, of which the last two overlap.
#[inline(always)]
unsafe fn lay_out_vectors<T: Number, const VECTORS: usize, const N: usize>(t: &Packing<T>) {
    let last = t.cols - N;
    for i in 0..t.rows {
        let (dst, src) = (t.dst.wrapping_add(i * VECTORS * N), t.src.wrapping_offset(i as isize * t.src_row));
        // SAFETY: the caller guarantees these elements of the row on both sides.
        unsafe {
            for v in 0..VECTORS - 1 {
                dst.add(v * N).cast::<[T; N]>().write_unaligned(src.add(v * N).cast::<[T; N]>().read_unaligned());
            }
            if t.cols < VECTORS * N {
                dst.add((VECTORS - 1) * N).cast::<[T; N]>().write_unaligned([T::ZERO; N]);
            }
            dst.add(last).cast::<[T; N]>().write_unaligned(src.add(last).cast::<[T; N]>().read_unaligned());
        }
    }
}

#[inline(always)]
unsafe fn lay_out_each<T: Number, const N: usize>(t: &Packing<T>) {
    for i in 0..t.rows {
        let mut row = [T::ZERO; N];
        for (j, element) in row.iter_mut().enumerate().take(t.cols) {
            // SAFETY: the caller guarantees the element of the row.
            *element = unsafe { *t.src.offset(i as isize * t.src_row + j as isize) };
        }
        // SAFETY: the caller guarantees the row of the destination.
        unsafe { t.dst.add(i * N).cast::<[T; N]>().write_unaligned(row) };
    }
}

/// Prefetches a row, and advances to the next row.
#[inline(always)]
fn fetch_row<T, const VECTORS: usize, const N: usize>(row: &mut *const T, stride: isize) {
    for v in 0..VECTORS {
        stream::prefetch_near(row.wrapping_add(v * N).cast(), 1);
    }
    *row = row.wrapping_offset(stride);
}
