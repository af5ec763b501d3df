//! The innermost kernels: strips of C as wide as two vectors, computed tile by tile in registers.
//!
//! The code is plain loops over arrays of constant size, compiled once for each instruction set: the compiler keeps each `[T; N]` of a
//! tile in one register, as long as loops have constant bounds and nothing takes the address of a sum. A tile holds enough sums to keep
//! the multipliers busy, and reads A one element at a time, whatever its layout.

// Loops with constant bounds over several arrays, which iterators would hide from the vectoriser.
#![allow(clippy::needless_range_loop)]

use super::number::Number;
use crate::cpu::simd::Level;

/// `c = beta * c + alpha * a @ b` for a strip of C; strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Strip<T> {
    pub alpha: T,
    pub beta: T,
    /// `beta` is 0: C is written without a look. Said apart from `beta`, since compilers know that 0 * x is 0 and would read C all the same.
    pub fresh: bool,
    /// Columns of A, rows of B.
    pub depth: usize,
    pub rows: usize,
    /// Columns of B and C: a [`Kernel::width`].
    pub cols: usize,
    pub a: *const T,
    pub a_row: isize,
    pub a_col: isize,
    /// Rows are contiguous.
    pub b: *const T,
    pub b_row: isize,
    /// Rows are contiguous.
    pub c: *mut T,
    pub c_row: isize,
    /// What will be needed next, of which so many rows are fetched with each full tile.
    pub next: *const T,
    pub next_row: isize,
    pub next_rows: usize,
}

/// `c = beta * c + alpha * sums` where C has fewer columns than a strip, or not in a row.
#[derive(Clone, Copy)]
pub(super) struct Merge<T> {
    pub alpha: T,
    pub beta: T,
    /// As in [`Strip`].
    pub fresh: bool,
    /// Consecutive rows of [`Kernel::width`] elements.
    pub sums: *const T,
    pub rows: usize,
    pub cols: usize,
    pub c: *mut T,
    pub c_row: isize,
    pub c_col: isize,
}

/// Rows of B to be laid out for a strip: [`Kernel::width`] elements each, with zeros after the first `cols`.
#[derive(Clone, Copy)]
pub(super) struct Layout<T> {
    pub rows: usize,
    pub cols: usize,
    pub dst: *mut T,
    /// Rows are contiguous.
    pub src: *const T,
    pub src_row: isize,
}

/// What there is for one type and instruction set.
#[derive(Clone, Copy)]
pub(super) struct Kernel<T> {
    /// Rows of a full tile.
    pub rows: usize,
    /// Columns of a full tile: two vectors. A power of two.
    pub cols: usize,
    pub strip: unsafe fn(&Strip<T>),
    pub merge: unsafe fn(&Merge<T>),
    pub lay_out: unsafe fn(&Layout<T>),
}

impl<T> Kernel<T> {
    /// The columns of the narrowest strip with at least `cols`: two vectors, one, a half or a quarter.
    #[inline(always)]
    pub fn width(&self, cols: usize) -> usize {
        cols.next_power_of_two().max(self.cols / 8)
    }
}

/// Rows of a tile where there are 32 vector registers: 28 for the sums, two for B, and one for an element of A.
const TALL: usize = 14;
/// Rows of a tile where there are 16.
const SHORT: usize = 6;
const BASE: usize = if cfg!(target_arch = "aarch64") { TALL } else { SHORT };
const BASE_FUSED: bool = cfg!(target_arch = "aarch64");

/// The kernel for an instruction set, which the machine must have; the numbers are the elements in 64, 32, ... 4 bytes, but at least one.
#[inline(always)]
pub(super) fn kernel<T: Number, const N64: usize, const N32: usize, const N16: usize, const N8: usize, const N4: usize>(
    level: Level,
) -> Kernel<T> {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => Kernel {
            rows: TALL,
            cols: 2 * N64,
            strip: strip_avx512::<T, N64, N32, N16>,
            merge: merge_avx512::<T, N64, N32, N16>,
            lay_out: lay_out_avx512::<T, N64, N32, N16>,
        },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => Kernel {
            rows: SHORT,
            cols: 2 * N32,
            strip: strip_avx2::<T, N32, N16, N8>,
            merge: merge_avx2::<T, N32, N16, N8>,
            lay_out: lay_out_avx2::<T, N32, N16, N8>,
        },
        _ => Kernel {
            rows: BASE,
            cols: 2 * N16,
            strip: strip::<T, BASE_FUSED, BASE, N16, N8, N4>,
            merge: merge::<T, N16, N8, N4>,
            lay_out: lay_out::<T, N16, N8, N4>,
        },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
unsafe fn strip_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Strip<T>) {
    // SAFETY: the caller's.
    unsafe { strip::<T, true, TALL, N, HALF, QUARTER>(task) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
unsafe fn merge_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Merge<T>) {
    // SAFETY: the caller's.
    unsafe { merge::<T, N, HALF, QUARTER>(task) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
unsafe fn lay_out_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Layout<T>) {
    // SAFETY: the caller's.
    unsafe { lay_out::<T, N, HALF, QUARTER>(task) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
unsafe fn strip_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Strip<T>) {
    // SAFETY: the caller's.
    unsafe { strip::<T, true, SHORT, N, HALF, QUARTER>(task) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
unsafe fn merge_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Merge<T>) {
    // SAFETY: the caller's.
    unsafe { merge::<T, N, HALF, QUARTER>(task) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
unsafe fn lay_out_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Layout<T>) {
    // SAFETY: the caller's.
    unsafe { lay_out::<T, N, HALF, QUARTER>(task) }
}

#[inline(always)]
unsafe fn strip<T: Number, const FUSED: bool, const ROWS: usize, const N: usize, const HALF: usize, const QUARTER: usize>(s: &Strip<T>) {
    // SAFETY: the caller's.
    unsafe {
        if s.cols > N {
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

/// Tiles of ROWS rows, then of as many as are left, by powers of two.
#[inline(always)]
unsafe fn tiles<T: Number, const FUSED: bool, const ROWS: usize, const VECTORS: usize, const N: usize>(s: &Strip<T>) {
    let (mut row, mut left) = (0, s.rows);
    let mut next = s.next;
    macro_rules! tile {
        ($ROWS:expr) => {{
            // SAFETY: the caller's; so many rows are left.
            unsafe { tile::<T, FUSED, { $ROWS }, VECTORS, N>(s, row) };
            row += $ROWS;
            left -= $ROWS;
        }};
    }
    // Two equal tiles are quicker than a full one and one of two rows, too few to keep the multipliers busy.
    while left >= ROWS && left != ROWS + 2 {
        for _ in 0..s.next_rows {
            prefetch(next);
            prefetch(next.wrapping_byte_add(64));
            next = next.wrapping_offset(s.next_row);
        }
        tile!(ROWS);
    }
    while ROWS > 8 && left >= 8 {
        tile!(8);
    }
    while left >= 4 {
        tile!(4);
    }
    if left >= 2 {
        tile!(2);
    }
    if left == 1 {
        // SAFETY: the caller's.
        unsafe { tile::<T, FUSED, 1, VECTORS, N>(s, row) };
    }
}

#[inline(always)]
unsafe fn tile<T: Number, const FUSED: bool, const ROWS: usize, const VECTORS: usize, const N: usize>(s: &Strip<T>, row: usize) {
    let mut a = s.a.wrapping_offset(row as isize * s.a_row);
    let mut b = s.b;
    let c = s.c.wrapping_offset(row as isize * s.c_row);
    for i in 0..ROWS {
        for v in 0..VECTORS {
            prefetch(c.wrapping_offset(i as isize * s.c_row).wrapping_add(v * N));
        }
    }
    let mut sums = [[[T::ZERO; N]; VECTORS]; ROWS];
    for _ in 0..s.depth {
        // SAFETY: the caller's: a row of B.
        let right = unsafe { b.cast::<[[T; N]; VECTORS]>().read_unaligned() };
        for i in 0..ROWS {
            // SAFETY: the caller's: an element of A.
            let left = unsafe { *a.offset(i as isize * s.a_row) };
            for v in 0..VECTORS {
                for l in 0..N {
                    sums[i][v][l] = T::mul_add::<FUSED>(left, right[v][l], sums[i][v][l]);
                }
            }
        }
        a = a.wrapping_offset(s.a_col);
        b = b.wrapping_offset(s.b_row);
    }
    for i in 0..ROWS {
        for v in 0..VECTORS {
            let c = c.wrapping_offset(i as isize * s.c_row).wrapping_add(v * N).cast::<[T; N]>();
            // SAFETY: the caller's: elements of C.
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
        // SAFETY: the caller's.
        let old = unsafe { c.read_unaligned() };
        for l in 0..N {
            new[l] = T::add(T::mul(beta, old[l]), new[l]);
        }
    }
    new
}

#[inline(always)]
unsafe fn merge<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(m: &Merge<T>) {
    // SAFETY: the caller's.
    unsafe {
        if m.c_col != 1 || m.cols <= QUARTER {
            merge_each(m, width::<N, HALF, QUARTER>(m.cols))
        } else if m.cols > N {
            merge_pair::<T, N>(m)
        } else if m.cols > HALF {
            merge_pair::<T, HALF>(m)
        } else {
            merge_pair::<T, QUARTER>(m)
        }
    }
}

#[inline(always)]
fn width<const N: usize, const HALF: usize, const QUARTER: usize>(cols: usize) -> usize {
    if cols > N {
        2 * N
    } else if cols > HALF {
        N
    } else if cols > QUARTER {
        HALF
    } else {
        QUARTER
    }
}

/// Rows of more than `N` and at most `2 * N` elements, as two vectors that overlap.
#[inline(always)]
unsafe fn merge_pair<T: Number, const N: usize>(m: &Merge<T>) {
    let second = m.cols - N;
    for i in 0..m.rows {
        let (c, sums) = (m.c.wrapping_offset(i as isize * m.c_row), m.sums.wrapping_add(i * 2 * N));
        let (left, right) = (c.cast::<[T; N]>(), c.wrapping_add(second).cast::<[T; N]>());
        // SAFETY: the caller's: the row has these elements on both sides.
        unsafe {
            let new_left = updated(m.alpha, sums.cast::<[T; N]>().read_unaligned(), (m.beta, m.fresh), left);
            let new_right = updated(m.alpha, sums.add(second).cast::<[T; N]>().read_unaligned(), (m.beta, m.fresh), right);
            left.write_unaligned(new_left);
            right.write_unaligned(new_right);
        }
    }
}

#[inline(always)]
unsafe fn merge_each<T: Number>(m: &Merge<T>, width: usize) {
    for i in 0..m.rows {
        for j in 0..m.cols {
            let c = m.c.wrapping_offset(i as isize * m.c_row + j as isize * m.c_col);
            // SAFETY: the caller's: elements of C and of the sums.
            unsafe { c.cast::<[T; 1]>().write(updated(m.alpha, [*m.sums.add(i * width + j)], (m.beta, m.fresh), c.cast())) };
        }
    }
}

#[inline(always)]
unsafe fn lay_out<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(t: &Layout<T>) {
    // SAFETY: the caller's.
    unsafe {
        if t.cols > N {
            lay_out_pair::<T, N>(t)
        } else if t.cols > HALF {
            lay_out_pair::<T, HALF>(t)
        } else if t.cols > QUARTER {
            lay_out_pair::<T, QUARTER>(t)
        } else {
            lay_out_each::<T, QUARTER>(t)
        }
    }
}

/// Rows of more than `N` and at most `2 * N` elements, as two vectors that overlap.
#[inline(always)]
unsafe fn lay_out_pair<T: Number, const N: usize>(t: &Layout<T>) {
    let second = t.cols - N;
    for i in 0..t.rows {
        let (dst, src) = (t.dst.wrapping_add(i * 2 * N), t.src.wrapping_offset(i as isize * t.src_row));
        // SAFETY: the caller's: the row has these elements on both sides.
        unsafe {
            let left = src.cast::<[T; N]>().read_unaligned();
            let right = src.add(second).cast::<[T; N]>().read_unaligned();
            dst.cast::<[T; N]>().write_unaligned(left);
            if second < N {
                dst.add(N).cast::<[T; N]>().write_unaligned([T::ZERO; N]);
            }
            dst.add(second).cast::<[T; N]>().write_unaligned(right);
        }
    }
}

#[inline(always)]
unsafe fn lay_out_each<T: Number, const N: usize>(t: &Layout<T>) {
    for i in 0..t.rows {
        let mut row = [T::ZERO; N];
        for (j, element) in row.iter_mut().enumerate().take(t.cols) {
            // SAFETY: the caller's: an element of the row.
            *element = unsafe { *t.src.offset(i as isize * t.src_row + j as isize) };
        }
        // SAFETY: the caller's: a row of the destination.
        unsafe { t.dst.add(i * N).cast::<[T; N]>().write_unaligned(row) };
    }
}

/// Asks for the cache line of `p`, for which any address will do. Not for the first-level cache: there the lines of a tile whose rows lie
/// a power of two apart would drive each other out.
#[inline(always)]
fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has this hint.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}
