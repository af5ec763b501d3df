//! Products with AVX2 and FMA.

use crate::{Matrix, Plain, Product};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// A type of elements, and its vectors of 256 bits.
///
/// # Safety
/// The functions need AVX2 and FMA. Pointers must refer to as many elements as the function reads or writes.
pub trait Lanes: Plain {
    /// A vector of `LANES` elements.
    type Vector: Copy;
    /// Selects the first elements of a vector.
    type Mask: Copy;
    /// The number of elements of a vector.
    const LANES: usize;
    /// The number 1.
    const ONE: Self;
    unsafe fn zero() -> Self::Vector;
    unsafe fn splat(x: *const Self) -> Self::Vector;
    unsafe fn load(from: *const Self) -> Self::Vector;
    unsafe fn store(to: *mut Self, x: Self::Vector);
    /// The mask of the first `count` elements, of at most `LANES`.
    unsafe fn first(count: usize) -> Self::Mask;
    /// Loads the elements of the mask. The others are 0 and not read.
    unsafe fn load_first(from: *const Self, mask: Self::Mask) -> Self::Vector;
    /// Stores the first `count` elements, of fewer than `LANES`.
    unsafe fn store_first(to: *mut Self, x: Self::Vector, count: usize);
    unsafe fn times(x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// `x * y + z`
    unsafe fn times_add(x: Self::Vector, y: Self::Vector, z: Self::Vector) -> Self::Vector;
    /// The sum of the elements of each vector.
    unsafe fn sums(x: [Self::Vector; 4]) -> [Self; 4];
    /// Copies a square of four rows. The rows of `from`, and the columns of `to`, are contiguous.
    unsafe fn transpose(from: *const Self, rs: isize, to: *mut Self, cs: isize);
}

/// Ones followed by zeros: a mask of n elements begins n elements before the zeros.
static MASK: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

impl Lanes for f32 {
    type Vector = __m256;
    type Mask = __m256i;
    const LANES: usize = 8;
    const ONE: f32 = 1.0;
    #[inline(always)]
    unsafe fn zero() -> __m256 {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_setzero_ps() }
    }
    #[inline(always)]
    unsafe fn splat(x: *const f32) -> __m256 {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_set1_ps(*x) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> __m256 {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, x: __m256) {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_storeu_ps(to, x) }
    }
    #[inline(always)]
    unsafe fn first(count: usize) -> __m256i {
        // SAFETY: `count` is at most 8.
        unsafe { _mm256_loadu_si256(MASK.as_ptr().add(8 - count).cast()) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f32, mask: __m256i) -> __m256 {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_maskload_ps(from, mask) }
    }
    #[inline(always)]
    unsafe fn store_first(mut to: *mut f32, x: __m256, count: usize) {
        // A masked store would take longer on some processors.
        // SAFETY: the caller keeps the contract.
        unsafe {
            let mut part = _mm256_castps256_ps128(x);
            if count & 4 != 0 {
                _mm_storeu_ps(to, part);
                part = _mm256_extractf128_ps(x, 1);
                to = to.wrapping_add(4);
            }
            if count & 2 != 0 {
                _mm_storel_pd(to.cast(), _mm_castps_pd(part));
                part = _mm_movehl_ps(part, part);
                to = to.wrapping_add(2);
            }
            if count & 1 != 0 {
                _mm_store_ss(to, part);
            }
        }
    }
    #[inline(always)]
    unsafe fn times(x: __m256, y: __m256) -> __m256 {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_mul_ps(x, y) }
    }
    #[inline(always)]
    unsafe fn times_add(x: __m256, y: __m256, z: __m256) -> __m256 {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_fmadd_ps(x, y, z) }
    }
    #[inline(always)]
    unsafe fn sums(x: [__m256; 4]) -> [f32; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: the caller keeps the contract.
        unsafe {
            let halves = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
            _mm_storeu_ps(sums.as_mut_ptr(), _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
        }
        sums
    }
    #[inline(always)]
    unsafe fn transpose(from: *const f32, rs: isize, to: *mut f32, cs: isize) {
        // SAFETY: the caller keeps the contract.
        unsafe {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| _mm_loadu_ps(from.wrapping_offset(i * rs)));
            let (ab, cd) = ([_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b)], [_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d)]);
            for i in 0..2 {
                let to = to.wrapping_offset(2 * i as isize * cs);
                _mm_storeu_ps(to, _mm_movelh_ps(ab[i], cd[i]));
                _mm_storeu_ps(to.wrapping_offset(cs), _mm_movehl_ps(cd[i], ab[i]));
            }
        }
    }
}

impl Lanes for f64 {
    type Vector = __m256d;
    type Mask = __m256i;
    const LANES: usize = 4;
    const ONE: f64 = 1.0;
    #[inline(always)]
    unsafe fn zero() -> __m256d {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_setzero_pd() }
    }
    #[inline(always)]
    unsafe fn splat(x: *const f64) -> __m256d {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_set1_pd(*x) }
    }
    #[inline(always)]
    unsafe fn load(from: *const f64) -> __m256d {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_loadu_pd(from) }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f64, x: __m256d) {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_storeu_pd(to, x) }
    }
    #[inline(always)]
    unsafe fn first(count: usize) -> __m256i {
        // SAFETY: `count` is at most 4, and an element is two entries wide.
        unsafe { _mm256_loadu_si256(MASK.as_ptr().add(8 - 2 * count).cast()) }
    }
    #[inline(always)]
    unsafe fn load_first(from: *const f64, mask: __m256i) -> __m256d {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_maskload_pd(from, mask) }
    }
    #[inline(always)]
    unsafe fn store_first(mut to: *mut f64, x: __m256d, count: usize) {
        // A masked store would take longer on some processors.
        // SAFETY: the caller keeps the contract.
        unsafe {
            let mut part = _mm256_castpd256_pd128(x);
            if count & 2 != 0 {
                _mm_storeu_pd(to, part);
                part = _mm256_extractf128_pd(x, 1);
                to = to.wrapping_add(2);
            }
            if count & 1 != 0 {
                _mm_store_sd(to, part);
            }
        }
    }
    #[inline(always)]
    unsafe fn times(x: __m256d, y: __m256d) -> __m256d {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_mul_pd(x, y) }
    }
    #[inline(always)]
    unsafe fn times_add(x: __m256d, y: __m256d, z: __m256d) -> __m256d {
        // SAFETY: the caller keeps the contract.
        unsafe { _mm256_fmadd_pd(x, y, z) }
    }
    #[inline(always)]
    unsafe fn sums(x: [__m256d; 4]) -> [f64; 4] {
        let mut sums = [0.0; 4];
        // SAFETY: the caller keeps the contract.
        unsafe {
            let (low, high) = (_mm256_hadd_pd(x[0], x[1]), _mm256_hadd_pd(x[2], x[3]));
            let crossed = _mm256_permute2f128_pd(low, high, 0x21);
            _mm256_storeu_pd(sums.as_mut_ptr(), _mm256_add_pd(_mm256_blend_pd(low, high, 0b1100), crossed));
        }
        sums
    }
    #[inline(always)]
    unsafe fn transpose(from: *const f64, rs: isize, to: *mut f64, cs: isize) {
        // SAFETY: the caller keeps the contract.
        unsafe {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| _mm256_loadu_pd(from.wrapping_offset(i * rs)));
            let (ab, cd) = ([_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)], [_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d)]);
            for i in 0..2 {
                let to = to.wrapping_offset(i as isize * cs);
                _mm256_storeu_pd(to, _mm256_permute2f128_pd(ab[i], cd[i], 0x20));
                _mm256_storeu_pd(to.wrapping_offset(2 * cs), _mm256_permute2f128_pd(ab[i], cd[i], 0x31));
            }
        }
    }
}

impl<T> Matrix<T> {
    /// The same elements from row `i` and column `j` on.
    #[inline(always)]
    fn from(self, i: usize, j: usize) -> Matrix<T> {
        Matrix { data: self.at(i, j), ..self }
    }
}

/// # Safety
/// The matrices must exist, and `c` must not overlap the others. The processor must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
pub unsafe fn run<T: Lanes>(p: &mut Product<T>) {
    // The strides of a single row or column have no effect.
    if p.m == 1 {
        (p.a.rs, p.c.rs) = (1, 1);
    }
    if p.n == 1 {
        (p.b.cs, p.c.cs) = (1, 1);
    }
    if p.c.cs == 1 && (p.c.rs != 1 || p.m == 1) {
        p.transpose();
    }
    let are_columns = p.c.rs == 1 && p.a.rs == 1 && p.m > 1;
    // If a column of `a` is not contiguous, packing `a` pays only for many columns of `b`.
    let are_dots = p.a.cs == 1 && p.b.rs == 1 && (2 * p.n <= p.k || p.m == 1 || p.c.rs != 1);
    // SAFETY: the caller keeps the contract.
    unsafe {
        if are_dots && !are_columns {
            if p.n > p.m {
                p.transpose();
            }
            rows_times_columns(p)
        } else if p.c.rs != 1 {
            scattered(p)
        } else if p.a.rs != 1 {
            packed(p)
        } else {
            columns(p)
        }
    }
}

/// The product if the elements of a column of `c`, and of a column of `a`, are contiguous.
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
unsafe fn columns<T: Lanes>(p: &Product<T>) {
    let (mut c, mut b) = (p.c, p.b);
    let mut left = p.n;
    while left > 0 {
        // No tile has a single column if the result has several.
        let cols = match left {
            1..=4 => left,
            5 => 3,
            _ => 4,
        };
        let (mut to, mut from) = (c.data, p.a.data);
        let mut rows_left = p.m;
        while rows_left > 0 {
            let vectors = match rows_left.div_ceil(T::LANES) {
                few @ 1..=3 => few,
                4 => 2,
                _ => 3,
            };
            let rows = (vectors * T::LANES).min(rows_left);
            let tile = match (vectors, cols) {
                (1, 1) => tile::<T, 1, 1>,
                (1, 2) => tile::<T, 1, 2>,
                (1, 3) => tile::<T, 1, 3>,
                (1, _) => tile::<T, 1, 4>,
                (2, 1) => tile::<T, 2, 1>,
                (2, 2) => tile::<T, 2, 2>,
                (2, 3) => tile::<T, 2, 3>,
                (2, _) => tile::<T, 2, 4>,
                (_, 1) => tile::<T, 3, 1>,
                (_, 2) => tile::<T, 3, 2>,
                (_, 3) => tile::<T, 3, 3>,
                (_, _) => tile::<T, 3, 4>,
            };
            // SAFETY: the tile is inside the result, and the caller keeps the contract. Only the single tile of a column has one vector.
            unsafe { tile(p, rows, to, from, b.data) };
            (to, from) = (to.wrapping_add(rows), from.wrapping_add(rows));
            rows_left -= rows;
        }
        (c, b) = (c.from(0, cols), b.from(0, cols));
        left -= cols;
    }
}

/// Computes a tile of R vectors and C columns that begins at `to`, from the rows that begin at `a`, and the columns that begin at `b`. A
/// tile of one vector may have fewer rows. The last vector of several ends with the last row, and overlaps the vector before: both
/// compute the same elements.
#[target_feature(enable = "avx2,fma")]
unsafe fn tile<T: Lanes, const R: usize, const C: usize>(p: &Product<T>, rows: usize, to: *mut T, a: *mut T, b: *mut T) {
    // SAFETY: the caller keeps the contract.
    unsafe {
        // The offset of the last of several vectors.
        let last = rows.wrapping_sub(T::LANES);
        let offset = |r: usize| if r > 0 && r + 1 == R { last } else { r * T::LANES };
        let mask = T::first(rows.min(T::LANES));
        let load = |from: *const T, r: usize| if R == 1 { T::load_first(from, mask) } else { T::load(from.wrapping_add(offset(r))) };
        let mut sums = [[T::zero(); R]; C];
        let (mut left, mut right) = (a.cast_const(), b.cast_const());
        for _ in 0..p.k {
            let mut column = [T::zero(); R];
            for r in 0..R {
                column[r] = load(left, r);
            }
            for j in 0..C {
                let factor = T::splat(right.wrapping_offset(j as isize * p.b.cs));
                for r in 0..R {
                    sums[j][r] = T::times_add(column[r], factor, sums[j][r]);
                }
            }
            left = left.wrapping_offset(p.a.cs);
            right = right.wrapping_offset(p.b.rs);
        }
        let factor = T::splat(&p.factor);
        for j in 0..C {
            for r in 0..R {
                sums[j][r] = T::times(factor, sums[j][r]);
            }
        }
        if p.keep != T::default() {
            let keep = T::splat(&p.keep);
            for j in 0..C {
                // All old elements are loaded before any is stored, because vectors may overlap.
                for r in 0..R {
                    sums[j][r] = T::times_add(keep, load(to.wrapping_offset(j as isize * p.c.cs), r), sums[j][r]);
                }
            }
        }
        for j in 0..C {
            let to = to.wrapping_offset(j as isize * p.c.cs);
            if R == 1 && rows < T::LANES {
                T::store_first(to, sums[j][0], rows);
            } else {
                for r in 0..R {
                    T::store(to.wrapping_add(offset(r)), sums[j][r]);
                }
            }
        }
    }
}

/// The product if the elements of a row of `a`, and of a column of `b`, are contiguous: four rows times one or two columns at a time.
#[target_feature(enable = "avx2,fma")]
unsafe fn rows_times_columns<T: Lanes>(p: &Product<T>) {
    for i in (0..p.m).step_by(4) {
        let mut j = 0;
        // SAFETY: the caller keeps the contract.
        unsafe {
            while j + 2 <= p.n {
                dots::<T, 2>(p, i, j);
                j += 2;
            }
            if j < p.n {
                dots::<T, 1>(p, i, j);
            }
        }
    }
}

/// The elements of four rows from row i on, or of those that exist, and of C columns from column j on.
#[inline(always)]
unsafe fn dots<T: Lanes, const C: usize>(p: &Product<T>, i: usize, j: usize) {
    // SAFETY: the caller keeps the contract.
    unsafe {
        // Rows after the last are the last.
        let mut left = [0, 1, 2, 3].map(|r| p.a.at((i + r).min(p.m - 1), 0).cast_const());
        let mut right: [*const T; C] = std::array::from_fn(|c| p.b.at(0, j + c).cast_const());
        let mut sums = [[T::zero(); 4]; C];
        let mut remaining = p.k;
        while remaining >= T::LANES {
            let row = left.map(|from| T::load(from));
            for c in 0..C {
                let column = T::load(right[c]);
                for r in 0..4 {
                    sums[c][r] = T::times_add(row[r], column, sums[c][r]);
                }
            }
            left = left.map(|from| from.wrapping_add(T::LANES));
            right = right.map(|from| from.wrapping_add(T::LANES));
            remaining -= T::LANES;
        }
        if remaining > 0 {
            let mask = T::first(remaining);
            let row = left.map(|from| T::load_first(from, mask));
            for c in 0..C {
                let column = T::load_first(right[c], mask);
                for r in 0..4 {
                    sums[c][r] = T::times_add(row[r], column, sums[c][r]);
                }
            }
        }
        for c in 0..C {
            let made = T::sums(sums[c]);
            for r in 0..4.min(p.m - i) {
                write(p, p.c.at(i + r, j + c), made[r]);
            }
        }
    }
}

/// Writes an element of the result: `to = keep * to + factor * sum`.
#[inline(always)]
unsafe fn write<T: Lanes>(p: &Product<T>, to: *mut T, sum: T) {
    let made = p.factor * sum;
    // SAFETY: the caller keeps the contract. Old elements are not multiplied by 0, because they may be NaN.
    unsafe { to.write(if p.keep == T::default() { made } else { p.keep * *to + made }) }
}

/// The largest number of rows of `a` that are packed at a time.
const ROWS: usize = 32;
/// The largest number of elements of `a` that are packed at a time.
const PACKED: usize = 2048;

/// The product if the elements of a column of `c` are contiguous. The columns of `a` are made contiguous.
#[target_feature(enable = "avx2,fma")]
unsafe fn packed<T: Lanes>(p: &Product<T>) {
    let mut contiguous = [const { MaybeUninit::<T>::uninit() }; PACKED];
    let height = p.m.min(ROWS);
    let a = Matrix { data: contiguous.as_mut_ptr().cast::<T>(), rs: 1, cs: height as isize };
    for i in (0..p.m).step_by(ROWS) {
        let m = ROWS.min(p.m - i);
        let (mut done, mut keep) = (0, p.keep);
        loop {
            let k = (PACKED / height).min(p.k - done);
            // SAFETY: the block is inside `a`, and the caller keeps the contract. `contiguous` has k columns of this height.
            unsafe {
                pack(p.a.from(i, done), a, m, k);
                columns(&Product { m, k, c: p.c.from(i, 0), a, b: p.b.from(done, 0), keep, ..*p });
            }
            done += k;
            keep = T::ONE;
            if done == p.k {
                break;
            }
        }
    }
}

/// Copies m rows and k columns.
#[target_feature(enable = "avx2,fma")]
unsafe fn pack<T: Lanes>(from: Matrix<T>, to: Matrix<T>, m: usize, k: usize) {
    // The part that consists of squares of contiguous rows.
    let [rows, cols] = if from.cs == 1 { [m / 4 * 4, k / 4 * 4] } else { [0, 0] };
    for r in (0..rows).step_by(4) {
        for l in (0..cols).step_by(4) {
            // SAFETY: the caller keeps the contract.
            unsafe { T::transpose(from.at(r, l), from.rs, to.at(r, l), to.cs) };
        }
    }
    for l in 0..k {
        for r in if l < cols { rows..m } else { 0..m } {
            // SAFETY: the caller keeps the contract.
            unsafe { to.at(r, l).write(*from.at(r, l)) };
        }
    }
}

/// The rows and columns of a tile of a result in which neither rows nor columns are contiguous.
const SCATTERED: [usize; 2] = [32, 16];

/// The product for any strides. Tiles of the result are computed in another place.
#[target_feature(enable = "avx2,fma")]
unsafe fn scattered<T: Lanes>(p: &Product<T>) {
    let mut tile = [const { MaybeUninit::<T>::uninit() }; SCATTERED[0] * SCATTERED[1]];
    let c = Matrix { data: tile.as_mut_ptr().cast::<T>(), rs: 1, cs: SCATTERED[0] as isize };
    for j in (0..p.n).step_by(SCATTERED[1]) {
        for i in (0..p.m).step_by(SCATTERED[0]) {
            let (m, n) = (SCATTERED[0].min(p.m - i), SCATTERED[1].min(p.n - j));
            let made = Product { m, n, c, a: p.a.from(i, 0), b: p.b.from(0, j), keep: T::default(), factor: T::ONE, ..*p };
            // SAFETY: the tile is inside the result, and the caller keeps the contract.
            unsafe {
                if made.a.rs == 1 {
                    columns(&made)
                } else {
                    packed(&made)
                }
                for j_tile in 0..n {
                    for i_tile in 0..m {
                        write(p, p.c.at(i + i_tile, j + j_tile), *c.at(i_tile, j_tile));
                    }
                }
            }
        }
    }
}
