//! Sums of floats of at most 32 bits: short trees of float32 additions, whose roots are added in float64.
//!
//! Seven of eight additions, or 15 of 16, are of float32, of which a vector holds twice as many as of float64. Each element takes part in
//! three to five additions. If float32 overflows or underflows, the total shows that, and the terms are summed again in float64.

use super::kernel::{Accumulators, FoldKernel, FoldTile};
use super::line::Columns;
use super::{Abs, NotNan, Plain, Square, total::Term};
use crate::cpu::simd::simd;
use crate::cpu::vector::{Float32s, MOST_LANES, Register, by_level, f16_value};
use crate::dtype::Dtype;
use crate::launch::Root;
use half::{bf16, f16};
use std::marker::PhantomData;

/// Leaves in a tree of a row.
const LEAVES: usize = 8;
/// Leaves in a tree of a column. The root of this tree is added to memory.
const MORE_LEAVES: usize = 2 * LEAVES;

/// A float type whose values float32 represents exactly.
///
/// # Safety
/// For all functions: as for [`Register`].
#[allow(clippy::missing_safety_doc)]
pub trait Small: Copy + Send + Sync {
    /// Returns the float as float32.
    fn get(self) -> f32;
    /// Returns a vector of floats.
    unsafe fn vector<V: Float32s>(x: *const Self) -> V;
    /// Returns two vectors of floats, in any order.
    #[inline(always)]
    unsafe fn vectors<V: Float32s>(x: *const Self) -> [V; 2] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { [Self::vector(x), Self::vector(x.add(V::LANES))] }
    }
}

impl Small for f32 {
    #[inline(always)]
    fn get(self) -> f32 {
        self
    }
    #[inline(always)]
    unsafe fn vector<V: Float32s>(x: *const f32) -> V {
        // SAFETY: the caller keeps this function's contract.
        unsafe { V::load(x) }
    }
}

impl Small for f16 {
    #[inline(always)]
    fn get(self) -> f32 {
        f16_value(self.to_bits())
    }
    #[inline(always)]
    unsafe fn vector<V: Float32s>(x: *const f16) -> V {
        // SAFETY: the caller keeps this function's contract.
        unsafe { V::load_f16(x.cast()) }
    }
}

impl Small for bf16 {
    #[inline(always)]
    fn get(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }
    #[inline(always)]
    unsafe fn vector<V: Float32s>(x: *const bf16) -> V {
        // SAFETY: the caller keeps this function's contract.
        unsafe { V::load_bf16(x.cast()) }
    }
    #[inline(always)]
    unsafe fn vectors<V: Float32s>(x: *const bf16) -> [V; 2] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { V::load_bf16_unordered(x.cast()) }
    }
}

/// A term that can also be computed for vectors of float32.
pub trait VectorTerm: Term {
    /// Totals below this may have lost terms by underflow.
    const LEAST: f64 = 0.0;
    /// Returns the terms of a vector. The term of 0 must be 0.
    fn of_vector<V: Float32s>(x: V) -> V;
    /// Adds the terms of a vector to `sum`.
    #[inline(always)]
    fn onto_vector<V: Float32s>(sum: V, x: V) -> V {
        sum + Self::of_vector(x)
    }
    /// Returns true if `total` is as accurate as a sum in float64.
    #[inline(always)]
    fn good(total: f64) -> bool {
        (total.abs() < f64::INFINITY) & (Self::LEAST == 0.0 || total >= Self::LEAST)
    }
}

impl VectorTerm for Plain {
    #[inline(always)]
    fn of_vector<V: Float32s>(x: V) -> V {
        x
    }
}

impl VectorTerm for Abs {
    #[inline(always)]
    fn of_vector<V: Float32s>(x: V) -> V {
        // SAFETY: `ABS` has at least as many numbers as a register has lanes.
        unsafe { x.and(V::load(ABS.as_ptr().cast())) }
    }
}

impl VectorTerm for Square {
    const LEAST: f64 = 1e-30;
    #[inline(always)]
    fn of_vector<V: Float32s>(x: V) -> V {
        x * x
    }
    #[inline(always)]
    fn onto_vector<V: Float32s>(sum: V, x: V) -> V {
        x.fma(x, sum)
    }
}

impl VectorTerm for NotNan {
    #[inline(always)]
    fn of_vector<V: Float32s>(x: V) -> V {
        // Both parts of a NaN are 0.
        let zero = V::all(0.0);
        x.greater(zero) + x.lesser(zero)
    }
}

/// The mask of all bits of a float32 except the sign.
static ABS: [u32; MOST_LANES] = [0x7fff_ffff; MOST_LANES];
/// Masks without any bits, followed by masks of all bits.
static NONE_ALL: [[u32; MOST_LANES]; 2] = [[0; MOST_LANES], [u32::MAX; MOST_LANES]];

/// Returns a mask of all bits of the last `n` lanes.
///
/// # Safety
/// As for [`Register`], which must have more than `n` lanes.
#[inline(always)]
unsafe fn last_lanes<V: Float32s>(n: usize) -> V {
    // SAFETY: the caller keeps this function's contract; a register's lanes end inside `NONE_ALL`.
    unsafe { V::load(NONE_ALL.as_ptr().cast::<f32>().add(MOST_LANES - V::LANES + n)) }
}

/// Returns the terms of two vectors, summed lane by lane.
///
/// # Safety
/// `x` must hold the elements of two vectors; as for [`Register`].
#[inline(always)]
unsafe fn neighbours<V: Float32s, S: Small, P: VectorTerm>(x: *const S) -> V {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let [a, b] = S::vectors::<V>(x);
        P::onto_vector(P::of_vector(a), b)
    }
}

/// Returns the sum of the terms of `n` contiguous elements.
///
/// # Safety
/// `x` must hold `n` elements; as for [`Register`].
#[inline(always)]
unsafe fn row<V: Float32s, S: Small, P: VectorTerm>(x: *const S, n: usize) -> f64 {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if n < V::LANES {
            return wide_row::<S, P>(x, n);
        }
        let (mut sums, mut at) = (V::Wide::all(0.0), 0);
        while n - at >= LEAVES * V::LANES {
            let x = x.add(at);
            let half = neighbours::<V, S, P>(x) + neighbours::<V, S, P>(x.add(2 * V::LANES));
            let other = neighbours::<V, S, P>(x.add(4 * V::LANES)) + neighbours::<V, S, P>(x.add(6 * V::LANES));
            sums = sums + (half + other).widen();
            at += LEAVES * V::LANES;
        }
        // The last vector overlaps the vectors before it. The lanes that were already summed are set to 0.
        let last = S::vector::<V>(x.add(n - V::LANES)).and(last_lanes((n - at) % V::LANES));
        let mut rest = P::of_vector(last);
        while n - at >= V::LANES {
            rest = P::onto_vector(rest, S::vector(x.add(at)));
            at += V::LANES;
        }
        (sums + rest.widen()).sum()
    }
}

/// [`row`] in float64 from the first addition on.
///
/// # Safety
/// `x` must hold `n` elements.
#[inline(never)]
unsafe fn wide_row<S: Small, P: VectorTerm>(x: *const S, n: usize) -> f64 {
    const SUMS: usize = 8;
    let mut sums = [0.0; SUMS];
    // SAFETY: the caller keeps this function's contract.
    let term = |i: usize| P::of(f64::from(unsafe { x.add(i).read().get() }));
    let whole = n - n % SUMS;
    for at in (0..whole).step_by(SUMS) {
        (0..SUMS).for_each(|k| sums[k] += term(at + k));
    }
    (whole..n).for_each(|i| sums[i - whole] += term(i));
    sums.iter().sum()
}

/// Adds the sums of the rows of a tile to totals.
///
/// # Safety
/// The tile must be inside its memory. There must be as many totals as rows; as for [`Register`].
#[inline(always)]
unsafe fn rows<V: Float32s, S: Small, P: VectorTerm>(totals: *mut f64, tile: &FoldTile) {
    for j in 0..tile.rows {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let sum = row::<V, S, P>(tile.row(j), tile.cols);
            *totals.add(j) += if P::good(sum) { sum } else { wide_row::<S, P>(tile.row(j), tile.cols) };
        }
    }
}

/// Returns the vector at `x`. With `MASKED`, lanes without `bits` are 0.
///
/// # Safety
/// `x` must hold the elements of a vector; as for [`Register`].
#[inline(always)]
unsafe fn leaf<V: Float32s, S: Small, const MASKED: bool>(x: *const S, bits: V) -> V {
    // SAFETY: the caller keeps this function's contract.
    unsafe { if MASKED { S::vector::<V>(x).and(bits) } else { S::vector(x) } }
}

/// Returns the terms of two elements in each lane, loaded by [`leaf`].
///
/// # Safety
/// As for [`leaf`].
#[inline(always)]
unsafe fn two<V: Float32s, S: Small, P: VectorTerm, const MASKED: bool>(a: *const S, b: *const S, bits: V) -> V {
    // SAFETY: the caller keeps this function's contract.
    unsafe { P::onto_vector(P::of_vector(leaf::<V, S, MASKED>(a, bits)), leaf::<V, S, MASKED>(b, bits)) }
}

/// Adds the terms of `N` rows, in a vector's columns from `k` on, to as many `sums`. `N` is one, two, [`LEAVES`] or [`MORE_LEAVES`].
///
/// # Safety
/// Each row must have the columns of the vector, and `sums` a number for each; as for [`leaf`].
#[inline(always)]
unsafe fn strip<V: Float32s, S: Small, P: VectorTerm, const MASKED: bool, const N: usize>(
    sums: *mut f64,
    x: [*const S; N],
    k: usize,
    bits: V,
) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let mut twos = [P::of_vector(leaf::<V, S, MASKED>(x[0].add(k), bits)); MORE_LEAVES / 2];
        for q in 0..N / 2 {
            twos[q] = two::<V, S, P, MASKED>(x[2 * q].add(k), x[2 * q + 1].add(k), bits);
        }
        let four = |q: usize| (twos[q] + twos[q + 1]) + (twos[q + 2] + twos[q + 3]);
        let root = match N {
            MORE_LEAVES => four(0) + four(LEAVES / 2),
            LEAVES => four(0),
            _ => twos[0],
        };
        (V::Wide::load(sums) + root.widen()).store(sums);
    }
}

/// Adds the columns of `N` rows from `r` on to `sums`. Columns after the last whole vector are added to the last of `tail`, which has a
/// number for each lane, because a vector that overlaps the one before would wait for its store.
///
/// # Safety
/// The tile must be inside its memory and have at least a vector's columns. There must be as many sums as columns, and a vector's in the
/// tail; as for [`Register`].
#[inline(always)]
unsafe fn across<V: Float32s, S: Small, P: VectorTerm, const N: usize>(sums: *mut f64, tail: *mut f64, tile: &FoldTile, r: usize) {
    let x: [*const S; N] = std::array::from_fn(|q| tile.row(r + q));
    let rest = tile.cols % V::LANES;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let (bits, mut k) = (last_lanes(rest), 0);
        while k + V::LANES <= tile.cols {
            strip::<V, S, P, false, N>(sums.add(k), x, k, bits);
            k += V::LANES;
        }
        if rest > 0 {
            strip::<V, S, P, true, N>(tail, x, tile.cols - V::LANES, bits);
        }
    }
}

/// The minimum number of columns of the rows that narrow rows are joined into. Joined rows have at most a few more.
const JOINED: usize = 64;

/// Adds the columns of a tile to `sums`. Rows narrower than a vector are joined if there are no gaps between them.
///
/// # Safety
/// The tile must be inside its memory. There must be as many sums as columns; as for [`Register`].
#[inline(always)]
unsafe fn columns<V: Float32s, S: Small, P: VectorTerm>(sums: *mut f64, tile: &FoldTile) {
    let group = if tile.cols < V::LANES { JOINED.div_ceil(tile.cols) } else { 1 };
    let joins = tile.step == (tile.cols * size_of::<S>()) as isize && group <= tile.rows;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if group > 1 && !joins {
            return wide_columns::<S, P>(sums, tile);
        }
        let mut buffer = [0.0; JOINED + MOST_LANES];
        let parts = if group > 1 { buffer.as_mut_ptr() } else { sums };
        let rows = tile.rows / group;
        wide_enough::<V, S, P>(parts, &FoldTile { rows, cols: group * tile.cols, step: group as isize * tile.step, ..*tile });
        if group > 1 {
            for k in 0..group * tile.cols {
                *sums.add(k % tile.cols) += parts.add(k).read();
            }
            let done = rows * group;
            wide_columns::<S, P>(sums, &FoldTile { x: tile.row::<S>(done).cast(), rows: tile.rows - done, ..*tile });
        }
    }
}

/// [`columns`] for at least a vector of columns.
///
/// # Safety
/// As for [`columns`].
#[inline(always)]
unsafe fn wide_enough<V: Float32s, S: Small, P: VectorTerm>(sums: *mut f64, tile: &FoldTile) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let mut lanes = [0.0; MOST_LANES];
        let tail = lanes.as_mut_ptr();
        let mut r = 0;
        while r + MORE_LEAVES <= tile.rows {
            across::<V, S, P, MORE_LEAVES>(sums, tail, tile, r);
            r += MORE_LEAVES;
        }
        while r + LEAVES <= tile.rows {
            across::<V, S, P, LEAVES>(sums, tail, tile, r);
            r += LEAVES;
        }
        while r + 2 <= tile.rows {
            across::<V, S, P, 2>(sums, tail, tile, r);
            r += 2;
        }
        if r < tile.rows {
            across::<V, S, P, 1>(sums, tail, tile, r);
        }
        for lane in V::LANES - tile.cols % V::LANES..V::LANES {
            *sums.add(tile.cols - V::LANES + lane) += tail.add(lane).read();
        }
    }
}

/// [`columns`] in float64 from the first addition on.
///
/// # Safety
/// As for [`columns`].
#[inline(always)]
unsafe fn wide_columns<S: Small, P: VectorTerm>(sums: *mut f64, tile: &FoldTile) {
    for r in 0..tile.rows {
        let x: *const S = tile.row(r);
        for k in 0..tile.cols {
            // SAFETY: the caller keeps this function's contract.
            unsafe { *sums.add(k) += P::of(f64::from(x.add(k).read().get())) }
        }
    }
}

/// The float64 sum of a term of each float.
pub struct PairwiseSum<S, P> {
    root: Root,
    of: PhantomData<(S, P)>,
}

impl<S: Small, P: VectorTerm> PairwiseSum<S, P> {
    /// Returns the fold whose result is the function `root` of the sum.
    pub fn new(root: Root) -> PairwiseSum<S, P> {
        PairwiseSum { root, of: PhantomData }
    }
}

impl<S: Small, P: VectorTerm> FoldKernel for PairwiseSum<S, P> {
    fn planes(&self) -> usize {
        1
    }

    fn reads(&self, compute: Dtype) -> Dtype {
        compute
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|j| unsafe { accs.plane::<f64>(0).add(j).write(0.0) })
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let (totals, tile) = (accs.plane::<f64>(0), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                // SAFETY: the caller keeps this function's contract, and the processor has the level.
                unsafe { by_level!(isa, f32, V => rows::<V, S, P>(totals, &tile)) }
            },
        )
    }

    fn fewest(&self, gaps: bool) -> usize {
        if gaps { 16 } else { 2 }
    }

    fn tall(&self, _: bool) -> bool {
        true
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let (totals, tile) = (accs.plane::<f64>(0), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                let mut line = Columns::uninit();
                let sums = line.fill(
                    tile.cols,
                    #[inline(always)]
                    |_| 0.0,
                );
                // SAFETY: the caller keeps this function's contract; the line has an entry for each column, and the processor has the
                // level.
                unsafe {
                    by_level!(isa, f32, V => columns::<V, S, P>(sums, &tile));
                    let mut bad = 0;
                    (0..tile.cols).for_each(|k| bad |= u64::from(!P::good(sums.add(k).read())));
                    if bad != 0 {
                        (0..tile.cols).for_each(|k| sums.add(k).write(0.0));
                        wide_columns::<S, P>(sums, &tile);
                    }
                    (0..tile.cols).for_each(|k| *totals.add(k) += sums.add(k).read());
                }
            },
        )
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, _: [usize; 2]) {
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|j| unsafe { *accs.plane::<f64>(0).add(j) += later.plane::<f64>(0).add(j).read() })
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, count: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.root.of_each(accs.plane(0), n, count, out[0].cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::fold::COLUMNS;

    /// Returns the total of each row and of each column of elements.
    fn totals<S: Small, P: VectorTerm>(x: &[S], rows: usize, cols: usize, root: Root) -> [Vec<f64>; 2] {
        let fold = PairwiseSum::<S, P>::new(root);
        let tile = FoldTile { x: x.as_ptr().cast(), rows, cols, step: (cols * size_of::<S>()) as isize, done: 0, index: 0, weight: 1 };
        [(rows, cols), (cols, rows)].map(|(n, count)| {
            let (mut memory, mut out) = (vec![0u64; COLUMNS], vec![0.0; n]);
            let accs = Accumulators { data: memory.as_mut_ptr().cast(), capacity: COLUMNS };
            // SAFETY: accumulators and results have room for the rows and the columns.
            unsafe {
                fold.start(accs, n);
                if n == rows && count == cols {
                    fold.rows(accs, &tile)
                } else {
                    fold.columns(accs, &tile)
                }
                fold.finish(accs, n, count, [out.as_mut_ptr().cast(), std::ptr::null_mut()]);
            }
            out
        })
    }

    fn check<S: Small, P: VectorTerm>(make: impl Fn(f32) -> S, term: impl Fn(f64) -> f64) {
        for (rows, cols) in [(1, 2), (3, 5), (9, 16), (64, 100), (7, 129), (23, 1000), (130, 1), (64, 3), (500, 7), (1023, 10), (999, 15)] {
            let x: Vec<S> = (0..rows * cols).map(|i| make((i * 37 % 101) as f32 / 16.0 - 2.0)).collect();
            let sum = |n: usize, at: &dyn Fn(usize) -> usize| (0..n).map(|i| term(f64::from(x[at(i)].get()))).sum::<f64>();
            let along: Vec<f64> = (0..rows).map(|r| sum(cols, &|i| r * cols + i)).collect();
            let across: Vec<f64> = (0..cols).map(|c| sum(rows, &|i| i * cols + c)).collect();
            let got = totals::<S, P>(&x, rows, cols, Root::Itself);
            for (got, expected) in got.iter().flatten().zip(along.iter().chain(&across)) {
                assert!((got - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{rows}x{cols}: {got}, not {expected}");
            }
        }
    }

    #[test]
    fn rows_and_columns_of_every_float_and_term_agree_with_plain_loops() {
        check::<f32, Plain>(|x| x, |x| x);
        check::<f32, Abs>(|x| x, f64::abs);
        check::<f32, Square>(|x| x, |x| x * x);
        check::<f16, Plain>(f16::from_f32, |x| x);
        check::<f16, Square>(f16::from_f32, |x| x * x);
        check::<bf16, Plain>(bf16::from_f32, |x| x);
        check::<bf16, Abs>(bf16::from_f32, f64::abs);
    }

    /// Checks that all rows and columns of a tile full of `x` have the total `expected`.
    fn check_full<P: VectorTerm>(x: f32, root: Root, expected: f64) {
        for got in totals::<f32, P>(&vec![x; 200 * 200], 200, 200, root).iter().flatten() {
            assert!((got / expected - 1.0).abs() < 1e-6, "{got}, not {expected}");
        }
    }

    #[test]
    fn what_float32_cannot_hold_is_summed_in_float64() {
        check_full::<Plain>(3e38, Root::Mean, 3e38);
        check_full::<Abs>(-3e38, Root::Itself, 6e40);
        check_full::<Square>(1e30, Root::Sqrt, 200f64.sqrt() * 1e30);
        check_full::<Square>(1e-30, Root::Sqrt, 200f64.sqrt() * 1e-30);
        check_full::<Square>(1e-42, Root::Sqrt, 200f64.sqrt() * f64::from(1e-42f32));
        assert_eq!(totals::<f32, Square>(&[0.0; 64], 1, 64, Root::Sqrt)[0], [0.0]);
    }

    #[test]
    fn infinity_and_nan_come_through() {
        for (special, expected) in [(f32::INFINITY, f64::INFINITY), (f32::NEG_INFINITY, f64::NEG_INFINITY), (f32::NAN, f64::NAN)] {
            let mut x = vec![1.0; 20 * 40];
            x[19 * 40 + 39] = special;
            let [along, across] = totals::<f32, Plain>(&x, 20, 40, Root::Itself);
            for got in [along[19], across[39]] {
                assert!(got == expected || (got.is_nan() && expected.is_nan()), "{got}, not {expected}");
            }
            assert_eq!((along[0], across[0]), (40.0, 20.0));
        }
    }

    #[test]
    fn a_long_sum_stays_within_a_millionth() {
        let x: Vec<f32> = (0..1_000_000).map(|i| 0.1 + (i % 7) as f32 * 1e-3).collect();
        let exact: f64 = x.iter().copied().map(f64::from).sum();
        let sum: f64 = x.chunks(COLUMNS).map(|x| totals::<f32, Plain>(x, 1, x.len(), Root::Itself)[0][0]).sum();
        assert!((sum / exact - 1.0).abs() < 1e-6, "{sum}, not {exact}");
    }
}
