//! Folds: what becomes of the elements of a result position, as kernels over tiles of one compute type.
//!
//! Accumulators lie in planes, one number of each after the other, so that columns are folded by whole vectors.

mod extreme;
mod logic;
mod moment;
mod total;

pub use extreme::{Arg, Extreme, MinMax, Ordered};
pub use logic::Logic;
pub use moment::Moment;
pub use total::{Magnitude, NanMean, NonZero, NotNan, Power, Product, Root, Square, Sum, Terms};

use super::simd::{Isa, simd};
use crate::dtype::Element;

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
    /// Whether the numbers of elements matter.
    fn indexed(&self) -> bool {
        false
    }
    /// Makes the first `n` accumulators those of nothing.
    unsafe fn start(&self, accs: Accs, n: usize);
    /// Folds row `j` of the tile into accumulator `j`.
    unsafe fn rows(&self, accs: Accs, tile: &Tile);
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
    /// Elements a lane takes at most, at least [`GROUP`].
    const PUSHES: usize = usize::MAX;
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
    /// Whether no element can change anything any more.
    fn settled(self, _: (Self::S, Self::U)) -> bool {
        false
    }
}

/// Rows that meet in registers before their columns' accumulators are touched.
const GROUP: usize = 8;

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
        let lane = (at..n).fold(l.lane(), |lane, i| l.push(isa, lane, x.add(i).read()));
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
            4 => row_in::<L, 64, 8>(l, isa, x, n),
            _ => row_in::<L, 32, 8>(l, isa, x, n),
        }
    }
}

/// What is done for a few neighbouring columns.
trait Columns {
    /// # Safety
    /// There are columns `j` to `j + W`.
    unsafe fn at<const W: usize>(&self, j: usize);
}

/// Does it for `n` columns, as many at a time as there are.
///
/// # Safety
/// There are `n` columns.
#[inline(always)]
unsafe fn for_columns(n: usize, columns: &impl Columns) {
    let mut j = 0;
    // SAFETY: the caller's.
    unsafe {
        while n - j >= 32 {
            columns.at::<32>(j);
            j += 32;
        }
        if n - j >= 16 {
            columns.at::<16>(j);
            j += 16;
        }
        if n - j >= 8 {
            columns.at::<8>(j);
            j += 8;
        }
        if n - j >= 4 {
            columns.at::<4>(j);
            j += 4;
        }
        while j < n {
            columns.at::<1>(j);
            j += 1;
        }
    }
}

/// A few rows on their way into accumulators.
struct Group<L> {
    fold: L,
    isa: Isa,
    accs: Accs,
    tile: Tile,
}

impl<L: Lanewise> Columns for Group<L> {
    #[inline(always)]
    unsafe fn at<const W: usize>(&self, j: usize) {
        let (l, isa) = (self.fold, self.isa);
        let (a, b) = l.lane();
        let (mut a, mut b) = ([a; W], [b; W]);
        let (s, u) = (self.accs.plane::<L::S>(0), self.accs.plane::<L::U>(1));
        // SAFETY: the caller's.
        unsafe {
            for r in 0..self.tile.rows {
                let x = self.tile.row::<L::In>(r).add(j);
                for k in 0..W {
                    (a[k], b[k]) = l.push(isa, (a[k], b[k]), x.add(k).read());
                }
            }
            for k in 0..W {
                let state = l.merge((s.add(j + k).read(), u.add(j + k).read()), l.state((a[k], b[k])));
                s.add(j + k).write(state.0);
                u.add(j + k).write(state.1);
            }
        }
    }
}

/// Calls `f` with groups of at most [`GROUP`] rows of the tile.
#[inline(always)]
fn for_groups(tile: Tile, mut f: impl FnMut(Tile)) {
    for r in (0..tile.rows).step_by(GROUP) {
        let (x, rows) = (tile.row::<u8>(r), GROUP.min(tile.rows - r));
        f(Tile { x, rows, done: tile.done + r, index: tile.index + r as i64 * tile.weight, ..tile })
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
                            Self::store(accs, j, l.merge(before, row(l, isa, tile.row(j), tile.cols)));
                        }
                    }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accs, tile: &Tile) {
        let (fold, tile) = (self.0, *tile);
        simd(
            #[inline(always)]
            move |isa| {
                // SAFETY: the caller's.
                for_groups(tile, |tile| unsafe { for_columns(tile.cols, &Group { fold, isa, accs, tile }) })
            },
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
