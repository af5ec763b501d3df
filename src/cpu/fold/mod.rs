//! Folds: what becomes of the elements of a result position, as kernels over tiles of one compute type.
//!
//! Accumulators lie in planes, one number of each after the other, so that columns are folded by whole vectors.

mod extreme;
mod line;
mod logic;
mod moment;
mod power;
mod product;
mod search;
mod total;
mod tree;
mod vector;

pub use extreme::{Arg, Extreme, MinMax, Ordered};
pub use logic::Logic;
pub use moment::Moment;
pub use power::Powers;
pub use product::Products;
pub use total::{Magnitude, NanMean, NonZero, NotNan, Plain, Product, Root, Square, Sum, Terms};
pub use tree::{Itself, Part, Size, Squared, Trees};

use super::simd::{Isa, Level, simd};
use crate::dtype::{Dtype, Element};
use line::Line;

/// The accumulators of neighbouring results: planes of `room` entries of at most 8 bytes.
#[derive(Clone, Copy)]
pub struct Accs {
    /// Where the planes begin; aligned to 8.
    pub data: *mut u8,
    /// Entries of a plane.
    pub room: usize,
}

impl Accs {
    /// The first entry of plane `k`.
    #[inline(always)]
    fn plane<T>(self, k: usize) -> *mut T {
        self.data.wrapping_add(k * self.room * 8).cast()
    }
}

/// Elements to be folded: `rows` runs of `cols`.
#[derive(Clone, Copy)]
pub struct Tile {
    /// The first element.
    pub x: *const u8,
    /// Runs.
    pub rows: usize,
    /// Contiguous elements of a run.
    pub cols: usize,
    /// Bytes from run to run.
    pub step: isize,
    /// Elements every accumulator has taken before.
    pub done: usize,
    /// The number of the first element of a fold, for those that ask where.
    pub index: i64,
    /// How much the number grows from one element of a fold to the next.
    pub weight: i64,
}

impl Tile {
    #[inline(always)]
    fn row<T>(&self, r: usize) -> *const T {
        self.x.wrapping_offset(r as isize * self.step).cast()
    }
}

/// A reduction over one compute type.
///
/// # Safety
/// Of all methods: accumulators have room for as many entries as are used and are started, tiles lie inside their memory.
#[allow(clippy::missing_safety_doc)]
pub trait Fold: Sync {
    /// Planes of an accumulator.
    fn planes(&self) -> usize;
    /// What it reads where elements are to be `compute`.
    fn reads(&self, compute: Dtype) -> Dtype {
        compute.compute()
    }
    /// Whether the numbers of elements matter.
    fn indexed(&self) -> bool {
        false
    }
    /// Makes the first `n` accumulators those of nothing.
    unsafe fn start(&self, accs: Accs, n: usize);
    /// Folds row `j` of the tile into accumulator `j`.
    unsafe fn rows(&self, accs: Accs, tile: &Tile);
    /// Whether it takes tiles of more than [`ROWS`] rows, and joins narrow rows that have no gaps between them.
    fn joins_rows(&self) -> bool {
        false
    }
    /// Folds column `j` of the tile into accumulator `j`.
    unsafe fn columns(&self, accs: Accs, tile: &Tile);
    /// Folds `n` accumulators that took `counts[1]` elements each into others that took `counts[0]`.
    unsafe fn merge(&self, accs: Accs, later: Accs, n: usize, counts: [usize; 2]);
    /// Writes the results of `n` accumulators of `count` elements each to one or two runs.
    unsafe fn finish(&self, accs: Accs, n: usize, count: usize, out: [*mut u8; 2]);
}

/// A fold that takes its elements in any order, in lanes of one or two numbers.
pub trait Lanewise: Copy + Send + Sync {
    /// The compute type.
    type In: Element;
    /// First number of a lane; small, so that a register has many.
    type A: Copy;
    /// Second number of a lane, or `()`.
    type B: Copy;
    /// First number of an accumulator.
    type S: Copy;
    /// Second number of an accumulator, or `()`.
    type U: Copy;
    /// The result.
    type Out: Copy;
    /// The second result, or `()`.
    type Other: Copy;
    /// Elements a lane takes at most, at least [`ROWS`].
    const PUSHES: usize = usize::MAX;
    /// See [`Fold::reads`].
    fn reads(self, compute: Dtype) -> Dtype {
        compute.compute()
    }
    /// A lane that took nothing.
    fn lane(self) -> (Self::A, Self::B);
    /// The lane with one element more.
    fn push(self, isa: Isa, lane: (Self::A, Self::B), x: Self::In) -> (Self::A, Self::B);
    /// What a lane amounts to.
    fn state(self, lane: (Self::A, Self::B)) -> (Self::S, Self::U);
    /// Two accumulators in one.
    fn merge(self, a: (Self::S, Self::U), b: (Self::S, Self::U)) -> (Self::S, Self::U);
    /// The results of an accumulator of `count` elements.
    fn finish(self, state: (Self::S, Self::U), count: usize) -> (Self::Out, Self::Other);
    /// The accumulator of `n` contiguous elements.
    ///
    /// # Safety
    /// `x` holds them.
    #[inline(always)]
    unsafe fn of_row(self, isa: Isa, x: *const Self::In, n: usize) -> (Self::S, Self::U) {
        // SAFETY: the caller's.
        unsafe { row(self, isa, x, n) }
    }
    /// Whether no element can change anything any more.
    fn settled(self, _: (Self::S, Self::U)) -> bool {
        false
    }
}

/// The accumulator of `groups` times `W` contiguous elements.
#[inline(always)]
unsafe fn lanes<L: Lanewise, const W: usize>(l: L, isa: Isa, x: *const L::In, groups: usize) -> (L::S, L::U) {
    let (a, b) = l.lane();
    let (mut a, mut b) = ([a; W], [b; W]);
    for g in 0..groups {
        for k in 0..W {
            // SAFETY: the caller's.
            (a[k], b[k]) = l.push(isa, (a[k], b[k]), unsafe { x.add(g * W + k).read() });
        }
    }
    let (s, u) = l.state(l.lane());
    let (mut s, mut u) = ([s; W], [u; W]);
    for k in 0..W {
        (s[k], u[k]) = l.state((a[k], b[k]));
    }
    let mut half = W / 2;
    while half > 0 {
        for k in 0..half {
            (s[k], u[k]) = l.merge((s[k], u[k]), (s[k + half], u[k + half]));
        }
        half /= 2;
    }
    (s[0], u[0])
}

/// The accumulator of `n` contiguous elements: `W` lanes, then `V`, then one.
#[inline(always)]
unsafe fn row_in<L: Lanewise, const W: usize, const V: usize>(l: L, isa: Isa, x: *const L::In, n: usize) -> (L::S, L::U) {
    // SAFETY: the caller's.
    unsafe {
        let (mut state, mut at) = (l.state(l.lane()), 0);
        while n - at >= W {
            let groups = ((n - at) / W).min(L::PUSHES);
            state = l.merge(state, lanes::<L, W>(l, isa, x.add(at), groups));
            at += groups * W;
            if l.settled(state) {
                return state;
            }
        }
        if n - at >= V {
            let groups = (n - at) / V;
            state = l.merge(state, lanes::<L, V>(l, isa, x.add(at), groups));
            at += groups * V;
        }
        let mut lane = l.lane();
        for i in at..n {
            lane = l.push(isa, lane, x.add(i).read());
        }
        l.merge(state, l.state(lane))
    }
}

/// The accumulator of `n` contiguous elements.
///
/// # Safety
/// `x` holds them.
#[inline(always)]
unsafe fn row<L: Lanewise>(l: L, isa: Isa, x: *const L::In, n: usize) -> (L::S, L::U) {
    // SAFETY: the caller's.
    unsafe {
        match size_of::<L::A>() {
            1 | 2 => row_in::<L, 128, 16>(l, isa, x, n),
            4 if isa.level() == Level::Baseline => row_in::<L, 32, 4>(l, isa, x, n),
            _ if isa.level() == Level::Baseline => row_in::<L, 32, 8>(l, isa, x, n),
            _ if n >= LONG => long_row(l, isa, x, n),
            4 => row_in::<L, 128, 16>(l, isa, x, n),
            // Compilers keep so many float64 in registers, but more in memory; of int64 they make no good vectors of so few.
            _ if matches!(L::In::DTYPE, Dtype::Float32 | Dtype::Float64) => row_in::<L, 32, 8>(l, isa, x, n),
            _ => row_in::<L, 64, 16>(l, isa, x, n),
        }
    }
}

/// Rows of this length are worth more lanes than there are registers for.
const LONG: usize = 4096;
/// The most lanes of a row.
const LANES: usize = 256;

/// The accumulator of `n` contiguous elements, folded as if they were the columns of a tile.
#[inline(always)]
unsafe fn long_row<L: Lanewise>(l: L, isa: Isa, x: *const L::In, n: usize) -> (L::S, L::U) {
    let w = (n / ABREAST).min(LANES);
    let mut state = l.state(l.lane());
    // SAFETY: the caller's; lines have an entry for each lane.
    unsafe {
        let mut at = 0;
        while at < n && !l.settled(state) {
            let mut lanes = Lines::new(l, w);
            let rows = ((n - at) / w).min(ROWS);
            let tile = Tile { x: x.add(at).cast(), rows, cols: w, step: (w * size_of::<L::In>()) as isize, done: 0, index: 0, weight: 0 };
            lanes.push(l, isa, &tile);
            at += rows * w;
            if n - at < w {
                lanes.push(l, isa, &Tile { x: x.add(at).cast(), rows: 1, cols: n - at, ..tile });
                at = n;
            }
            state = l.merge(state, lanes.together(l, w));
        }
    }
    state
}

/// The most rows of a tile whose columns are folded, unless the fold takes any number.
pub(crate) const ROWS: usize = 128;
/// The most columns of such a tile.
pub(crate) const COLUMNS: usize = 1024;

/// Rows taken at a time: their columns' numbers go through memory once for all.
const ABREAST: usize = 4;

/// Calls `f` with the first of up to [`ABREAST`] rows, again and again.
#[inline(always)]
fn for_rows<T>(tile: &Tile, mut four: impl FnMut(usize, [*const T; ABREAST]), mut one: impl FnMut(usize, *const T)) {
    let mut r = 0;
    while r + ABREAST <= tile.rows {
        four(r, std::array::from_fn(|q| tile.row(r + q)));
        r += ABREAST;
    }
    (r..tile.rows).for_each(|r| one(r, tile.row(r)));
}

/// Lanes side by side.
struct Lines<L: Lanewise>(Line<L::A>, Line<L::B>);

impl<L: Lanewise> Lines<L> {
    #[inline(always)]
    fn new(l: L, n: usize) -> Lines<L> {
        Lines(
            Line::new(
                n,
                #[inline(always)]
                |_| l.lane().0,
            ),
            Line::new(
                n,
                #[inline(always)]
                |_| l.lane().1,
            ),
        )
    }

    /// Lane `k` takes column `k` of a tile, which has no more rows than a lane takes.
    ///
    /// # Safety
    /// There are as many lanes; the tile lies inside its memory.
    #[inline(always)]
    unsafe fn push(&mut self, l: L, isa: Isa, tile: &Tile) {
        let (a, b) = (self.0.data(), self.1.data());
        // SAFETY: the caller's.
        unsafe {
            for_rows::<L::In>(
                tile,
                #[inline(always)]
                |_, x| {
                    for k in 0..tile.cols {
                        let mut lane = (a.add(k).read(), b.add(k).read());
                        // Written out, for compilers give up on a loop that they could not unroll.
                        lane = l.push(isa, lane, x[0].add(k).read());
                        lane = l.push(isa, lane, x[1].add(k).read());
                        lane = l.push(isa, lane, x[2].add(k).read());
                        lane = l.push(isa, lane, x[3].add(k).read());
                        (*a.add(k), *b.add(k)) = lane;
                    }
                },
                #[inline(always)]
                |_, x| {
                    for k in 0..tile.cols {
                        (*a.add(k), *b.add(k)) = l.push(isa, (a.add(k).read(), b.add(k).read()), x.add(k).read());
                    }
                },
            )
        }
    }

    /// What lane `k` amounts to.
    ///
    /// # Safety
    /// There is such a lane.
    #[inline(always)]
    unsafe fn state(&mut self, l: L, k: usize) -> (L::S, L::U) {
        // SAFETY: the caller's.
        l.state(unsafe { (self.0.data().add(k).read(), self.1.data().add(k).read()) })
    }

    /// What all `n` lanes amount to.
    ///
    /// # Safety
    /// There are so many lanes.
    #[inline(always)]
    unsafe fn together(&mut self, l: L, mut n: usize) -> (L::S, L::U) {
        const LAST: usize = 16;
        let (s, u) = l.state(l.lane());
        let (mut s, mut u) = ([s; LANES], [u; LANES]);
        // SAFETY: the caller's.
        (0..n).for_each(|k| unsafe { (s[k], u[k]) = self.state(l, k) });
        while n > LAST {
            let half = n.div_ceil(2);
            for k in 0..n - half {
                (s[k], u[k]) = l.merge((s[k], u[k]), (s[k + half], u[k + half]));
                s[k + half] = l.state(l.lane()).0;
                u[k + half] = l.state(l.lane()).1;
            }
            n = half;
        }
        let mut half = LAST / 2;
        while half > 0 {
            for k in 0..half {
                (s[k], u[k]) = l.merge((s[k], u[k]), (s[k + half], u[k + half]));
            }
            half /= 2;
        }
        (s[0], u[0])
    }
}

/// Folds the columns of a tile, which has no more rows than a lane takes.
///
/// # Safety
/// As for [`Fold::columns`].
#[inline(always)]
unsafe fn columns<L: Lanewise>(l: L, isa: Isa, accs: Accs, tile: Tile) {
    let mut lanes = Lines::new(l, tile.cols);
    // SAFETY: the caller's.
    unsafe {
        lanes.push(l, isa, &tile);
        for k in 0..tile.cols {
            Lanes::<L>::store(accs, k, l.merge(Lanes::<L>::load(accs, k), lanes.state(l, k)));
        }
    }
}

/// The fold of a [`Lanewise`].
pub struct Lanes<L>(pub L);

impl<L: Lanewise> Lanes<L> {
    /// # Safety
    /// There is an accumulator `j`.
    #[inline(always)]
    unsafe fn load(accs: Accs, j: usize) -> (L::S, L::U) {
        // SAFETY: the caller's.
        unsafe { (accs.plane::<L::S>(0).add(j).read(), accs.plane::<L::U>(1).add(j).read()) }
    }

    /// # Safety
    /// There is an accumulator `j`.
    #[inline(always)]
    unsafe fn store(accs: Accs, j: usize, state: (L::S, L::U)) {
        // SAFETY: the caller's.
        unsafe {
            accs.plane::<L::S>(0).add(j).write(state.0);
            accs.plane::<L::U>(1).add(j).write(state.1);
        }
    }
}

impl<L: Lanewise> Fold for Lanes<L> {
    fn planes(&self) -> usize {
        if size_of::<L::U>() == 0 { 1 } else { 2 }
    }

    fn reads(&self, compute: Dtype) -> Dtype {
        self.0.reads(compute)
    }

    unsafe fn start(&self, accs: Accs, n: usize) {
        let l = self.0;
        // SAFETY: the caller's.
        (0..n).for_each(|j| unsafe { Self::store(accs, j, l.state(l.lane())) })
    }

    unsafe fn rows(&self, accs: Accs, tile: &Tile) {
        let (l, tile) = (self.0, *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    // SAFETY: the caller's.
                    unsafe {
                        let before = Self::load(accs, j);
                        if !l.settled(before) {
                            Self::store(accs, j, l.merge(before, l.of_row(isa, tile.row(j), tile.cols)));
                        }
                    }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accs, tile: &Tile) {
        let (l, tile) = (self.0, *tile);
        simd(
            #[inline(always)]
            // SAFETY: the caller's.
            move |isa| unsafe { columns(l, isa, accs, tile) },
        )
    }

    unsafe fn merge(&self, accs: Accs, later: Accs, n: usize, _: [usize; 2]) {
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe { Self::store(accs, j, self.0.merge(Self::load(accs, j), Self::load(later, j))) }
        }
    }

    unsafe fn finish(&self, accs: Accs, n: usize, count: usize, out: [*mut u8; 2]) {
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                let (result, other) = self.0.finish(Self::load(accs, j), count);
                out[0].cast::<L::Out>().add(j).write(result);
                out[1].cast::<L::Other>().add(j).write(other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Bool;
    use std::marker::PhantomData;

    /// What `fold` makes of each column of `rows` x `cols` elements, with the tile cut in two, and of each row.
    fn folded<T, R: Copy + Default>(fold: &dyn Fold, x: &[T], rows: usize, cols: usize) -> [Vec<R>; 2] {
        let step = (cols * size_of::<T>()) as isize;
        let whole = Tile { x: x.as_ptr().cast(), rows, cols, step, done: 0, index: 0, weight: 1 };
        let (mut results, mut room, mut rest) = ([vec![], vec![]], vec![0u64; 2 * COLUMNS], vec![0u64; COLUMNS]);
        let accs = Accs { data: room.as_mut_ptr().cast(), room: COLUMNS };
        let cut = rows / 3;
        let parts =
            [Tile { rows: cut, ..whole }, Tile { x: whole.row::<u8>(cut), rows: rows - cut, done: cut, index: cut as i64, ..whole }];
        // SAFETY: accumulators and results have room for rows and columns.
        unsafe {
            for (side, n, count) in [(0, rows, cols), (1, cols, rows)] {
                fold.start(accs, n);
                match side {
                    0 => fold.rows(accs, &whole),
                    _ => parts.iter().filter(|part| part.rows > 0).for_each(|part| fold.columns(accs, part)),
                }
                results[side] = vec![R::default(); n];
                fold.finish(accs, n, count, [results[side].as_mut_ptr().cast(), rest.as_mut_ptr().cast()]);
            }
        }
        results
    }

    /// Rows and columns of `x` by a plain formula.
    fn plain<T: Copy, R>(x: &[T], rows: usize, cols: usize, f: impl Fn(&[T]) -> R) -> [Vec<R>; 2] {
        let column = |j: usize| (0..rows).map(|r| x[r * cols + j]).collect::<Vec<T>>();
        [(0..rows).map(|r| f(&x[r * cols..][..cols])).collect(), (0..cols).map(|j| f(&column(j))).collect()]
    }

    const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 5), (64, 16), (7, 100), (63, 257), (2, 1000)];

    #[test]
    fn integers_are_summed_beyond_their_type() {
        for (rows, cols) in SHAPES {
            let bytes: Vec<u8> = (0..rows * cols).map(|i| 255 - (i % 7) as u8).collect();
            let expected = plain(&bytes, rows, cols, |x| x.iter().map(|&v| i64::from(v)).sum::<i64>());
            assert_eq!(folded::<u8, i64>(&Lanes(Sum::<u8>(PhantomData)), &bytes, rows, cols), expected);
            let truths: Vec<Bool> = bytes.iter().map(|&v| Bool(v % 3 * 80)).collect();
            let expected = plain(&truths, rows, cols, |x| x.iter().filter(|v| v.get()).count() as i64);
            assert_eq!(folded::<Bool, i64>(&Lanes(Sum::<Bool>(PhantomData)), &truths, rows, cols), expected);
        }
    }

    #[test]
    fn a_row_longer_than_lanes_can_hold_is_summed_in_blocks() {
        let least = vec![i8::MIN; 100_000];
        let [total, _] = folded::<i8, i64>(&Lanes(Sum::<i8>(PhantomData)), &least[..COLUMNS], 1, COLUMNS);
        assert_eq!(total, [-128 * COLUMNS as i64]);
        let tile = Tile { x: least.as_ptr().cast(), rows: 1, cols: least.len(), step: 0, done: 0, index: 0, weight: 1 };
        let (mut acc, mut sum, fold) = ([0u64; 2], 0i64, Lanes(Sum::<i8>(PhantomData)));
        let accs = Accs { data: acc.as_mut_ptr().cast(), room: 1 };
        // SAFETY: one accumulator, one result.
        unsafe {
            fold.start(accs, 1);
            fold.rows(accs, &tile);
            fold.finish(accs, 1, least.len(), [(&raw mut sum).cast(), accs.data]);
        }
        assert_eq!(sum, -12_800_000);
    }

    #[test]
    fn extremes_and_their_places_agree_with_a_search() {
        for (rows, cols) in SHAPES {
            let x: Vec<f32> = (0..rows * cols).map(|i| if i % 97 == 96 { f32::NAN } else { (i * 31 % 19) as f32 - 9.0 }).collect();
            let first =
                |x: &[f32]| (1..x.len()).fold(0, |best, i| if x[i] > x[best] || (x[i].is_nan() && !x[best].is_nan()) { i } else { best });
            let expected = plain(&x, rows, cols, |x| x[first(x)].to_bits());
            assert_eq!(
                folded::<f32, u32>(&Lanes(Extreme::<f32, true>(PhantomData)), &x, rows, cols).map(sorted_nan),
                expected.map(sorted_nan)
            );
            let values = folded::<f32, u32>(&Arg::<f32, true>(PhantomData), &x, rows, cols);
            assert_eq!(values.map(sorted_nan), plain(&x, rows, cols, |x| x[first(x)].to_bits()).map(sorted_nan));
            // The same in float64, whose NaN are all of one pattern here.
            let wide: Vec<f64> = x.iter().map(|&x| if x.is_nan() { f64::NAN } else { x.into() }).collect();
            let expected = plain(&x, rows, cols, |x| f64::from(x[first(x)]));
            for found in [
                folded::<f64, f64>(&Lanes(Extreme::<f64, true>(PhantomData)), &wide, rows, cols),
                folded::<f64, f64>(&Arg::<f64, true>(PhantomData), &wide, rows, cols),
            ] {
                let pairs = found.iter().flatten().zip(expected.iter().flatten());
                assert!(pairs.into_iter().all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{rows} x {cols}");
            }
        }
    }

    /// One pattern for all NaNs.
    fn sorted_nan(bits: Vec<u32>) -> Vec<u32> {
        bits.into_iter().map(|b| if f32::from_bits(b).is_nan() { u32::MAX } else { b }).collect()
    }

    #[test]
    fn variance_agrees_with_two_passes() {
        for (rows, cols) in SHAPES {
            let x: Vec<f64> = (0..rows * cols).map(|i| 1e6 + (i * 7 % 11) as f64).collect();
            let expected = plain(&x, rows, cols, |x| {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / x.len() as f64
            });
            let got = folded::<f64, f64>(&Moment::<f64>::new(0.0, false), &x, rows, cols);
            for (got, expected) in got.iter().flatten().zip(expected.iter().flatten()) {
                assert!((got - expected).abs() < 1e-8, "{got} {expected}");
            }
        }
    }
}
