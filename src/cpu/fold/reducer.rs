//! Reducers: folds that accumulate in many lanes at a time, each of one or two numbers, and merge the lanes at the end.

use super::kernel::{Accumulators, FoldKernel, FoldTile, NARROW, ROWS, UNROLL};
use super::line::Columns;
use crate::cpu::simd::{Isa, Level, simd};
use crate::cpu::tuning::REDUCED_ROW;
use crate::dtype::{Dtype, Element};

/// A fold that accepts its elements in any order, in lanes of one or two numbers.
pub trait Reducer: Copy + Send + Sync {
    /// The compute type.
    type In: Element;
    /// The first number of a lane. It is small, so that a register has many.
    type A: Copy;
    /// The second number of a lane, or `()`.
    type B: Copy;
    /// The first number of an accumulator.
    type S: Copy;
    /// The second number of an accumulator, or `()`.
    type U: Copy;
    /// The result.
    type Out: Copy;
    /// The second result, or `()`.
    type Other: Copy;
    /// The maximum number of elements of a row that a lane accumulates before it is converted to a state. Lanes that may overflow must have
    /// room for more than [`ROWS`] elements.
    const CAPACITY: usize = usize::MAX;
    /// The maximum number of elements of a row that a lane accumulates: few if rounding errors add up.
    const RUN: usize = usize::MAX;
    /// See [`FoldKernel::reads`].
    fn reads(self, compute: Dtype) -> Dtype {
        compute.compute()
    }
    /// Returns a lane of no elements.
    fn empty(self) -> (Self::A, Self::B);
    /// Returns the lane with one more element.
    fn accumulate(self, isa: Isa, lane: (Self::A, Self::B), x: Self::In) -> (Self::A, Self::B);
    /// Converts a lane to an accumulator.
    fn state(self, lane: (Self::A, Self::B)) -> (Self::S, Self::U);
    /// Merges two accumulators.
    fn merge(self, a: (Self::S, Self::U), b: (Self::S, Self::U)) -> (Self::S, Self::U);
    /// Returns the results of an accumulator of `count` elements.
    fn finish(self, state: (Self::S, Self::U), count: usize) -> (Self::Out, Self::Other);
    /// Returns the accumulator of `n` contiguous elements.
    ///
    /// # Safety
    /// `x` must hold `n` elements.
    #[inline(always)]
    unsafe fn of_row(self, isa: Isa, x: *const Self::In, n: usize) -> (Self::S, Self::U) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { row(self, isa, x, n) }
    }
    /// Returns true if no further element can change the result.
    fn is_decided(self, _: (Self::S, Self::U)) -> bool {
        false
    }
}

/// Returns the accumulator of `groups` times `W` contiguous elements.
#[inline(always)]
unsafe fn lanes<L: Reducer, const W: usize>(l: L, isa: Isa, x: *const L::In, groups: usize) -> (L::S, L::U) {
    let (a, b) = l.empty();
    let (mut a, mut b) = ([a; W], [b; W]);
    for g in 0..groups {
        for k in 0..W {
            // SAFETY: the caller keeps this function's contract.
            (a[k], b[k]) = l.accumulate(isa, (a[k], b[k]), unsafe { x.add(g * W + k).read() });
        }
    }
    let (s, u) = l.state(l.empty());
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

/// Returns the accumulator of `n` contiguous elements: first in `W` lanes, then in `V`, then in one.
#[inline(always)]
unsafe fn row_in<L: Reducer, const W: usize, const V: usize>(l: L, isa: Isa, x: *const L::In, n: usize) -> (L::S, L::U) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let (mut state, mut at) = (l.state(l.empty()), 0);
        while n - at >= W {
            let groups = ((n - at) / W).min(L::CAPACITY).min(L::RUN);
            state = l.merge(state, lanes::<L, W>(l, isa, x.add(at), groups));
            at += groups * W;
            if l.is_decided(state) {
                return state;
            }
        }
        if n - at >= V {
            let groups = (n - at) / V;
            state = l.merge(state, lanes::<L, V>(l, isa, x.add(at), groups));
            at += groups * V;
        }
        let mut lane = l.empty();
        for i in at..n {
            lane = l.accumulate(isa, lane, x.add(i).read());
        }
        l.merge(state, l.state(lane))
    }
}

/// Returns the accumulator of `n` contiguous elements.
///
/// # Safety
/// `x` must hold `n` elements.
#[inline(always)]
pub(super) unsafe fn row<L: Reducer>(l: L, isa: Isa, x: *const L::In, n: usize) -> (L::S, L::U) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        match size_of::<L::A>() {
            1 | 2 => row_in::<L, 128, 16>(l, isa, x, n),
            4 if isa.level() == Level::Baseline => row_in::<L, 32, 4>(l, isa, x, n),
            _ if isa.level() == Level::Baseline => row_in::<L, 32, 8>(l, isa, x, n),
            _ if n >= REDUCED_ROW => long_row(l, isa, x, n),
            4 => row_in::<L, 128, 16>(l, isa, x, n),
            // Compilers keep 32 float64 in registers, but more of them in memory. For int64 they need 64 to make good vectors.
            _ if matches!(L::In::DTYPE, Dtype::Float32 | Dtype::Float64) => row_in::<L, 32, 8>(l, isa, x, n),
            _ => row_in::<L, 64, 16>(l, isa, x, n),
        }
    }
}

/// The maximum number of lanes of a row.
const ROW_LANES: usize = 256;

/// Returns the accumulator of `n` contiguous elements, which are folded as if they were the columns of a tile.
#[inline(always)]
unsafe fn long_row<L: Reducer>(l: L, isa: Isa, x: *const L::In, n: usize) -> (L::S, L::U) {
    let w = (n / UNROLL).min(ROW_LANES);
    let mut state = l.state(l.empty());
    // SAFETY: the caller keeps this function's contract; lines have an entry for each lane.
    unsafe {
        let mut at = 0;
        while at < n && !l.is_decided(state) {
            let mut lanes = Lines::uninit();
            lanes.clear(l, w);
            let rows = ((n - at) / w).min(ROWS).min(L::RUN);
            let more = Some(n - at - rows * w).filter(|&left| left < w).unwrap_or(0);
            let tile =
                FoldTile { x: x.add(at).cast(), rows, cols: w, step: (w * size_of::<L::In>()) as isize, done: 0, index: 0, weight: 0 };
            lanes.accumulate(l, isa, &tile, more);
            at += rows * w + more;
            state = l.merge(state, lanes.merged(l, w));
        }
    }
    state
}

/// Lanes side by side.
struct Lines<L: Reducer>(Columns<L::A>, Columns<L::B>);

impl<L: Reducer> Lines<L> {
    #[inline(always)]
    fn uninit() -> Lines<L> {
        Lines(Columns::uninit(), Columns::uninit())
    }

    /// Makes `n` lanes empty.
    #[inline(always)]
    fn clear(&mut self, l: L, n: usize) {
        self.0.fill(
            n,
            #[inline(always)]
            |_| l.empty().0,
        );
        self.1.fill(
            n,
            #[inline(always)]
            |_| l.empty().1,
        );
    }

    /// Lane `k` accumulates column `k` of a tile and of the row after the tile, of which only the first `more` columns are read. The tile
    /// has at most [`ROWS`] rows.
    ///
    /// # Safety
    /// There must be as many lanes as columns. The tile and the row must be inside their memory.
    #[inline(always)]
    unsafe fn accumulate(&mut self, l: L, isa: Isa, tile: &FoldTile, more: usize) {
        let (a, b, mut r) = (self.0.data(), self.1.data(), 0);
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            while r + UNROLL <= tile.rows {
                let x: [*const L::In; UNROLL] = std::array::from_fn(|q| tile.row(r + q));
                for k in 0..tile.cols {
                    let mut lane = (a.add(k).read(), b.add(k).read());
                    // Unrolled by hand, because compilers do not vectorise the outer loop unless they unroll an inner one.
                    lane = l.accumulate(isa, lane, x[0].add(k).read());
                    lane = l.accumulate(isa, lane, x[1].add(k).read());
                    lane = l.accumulate(isa, lane, x[2].add(k).read());
                    lane = l.accumulate(isa, lane, x[3].add(k).read());
                    (*a.add(k), *b.add(k)) = lane;
                }
                r += UNROLL;
            }
            while r < tile.rows + usize::from(more > 0) {
                let x: *const L::In = tile.row(r);
                for k in 0..if r < tile.rows { tile.cols } else { more } {
                    (*a.add(k), *b.add(k)) = l.accumulate(isa, (a.add(k).read(), b.add(k).read()), x.add(k).read());
                }
                r += 1;
            }
        }
    }

    /// Converts the first `n` lanes to states, in place if they have the same size, otherwise in `buffer`.
    ///
    /// # Safety
    /// There must be `n` lanes, which must not be read later.
    #[inline(always)]
    unsafe fn states(&mut self, l: L, n: usize, buffer: &mut (Columns<L::S>, Columns<L::U>)) -> (*mut L::S, *mut L::U) {
        let (a, b) = (self.0.data(), self.1.data());
        let fits = const { size_of::<L::A>() == size_of::<L::S>() && size_of::<L::B>() == size_of::<L::U>() };
        let (s, u) = if fits { (a.cast(), b.cast()) } else { (buffer.0.data(), buffer.1.data()) };
        for k in 0..n {
            // SAFETY: the caller keeps this function's contract; both the lines and the buffer have room for COLUMNS numbers.
            unsafe {
                let state = l.state((a.add(k).read(), b.add(k).read()));
                s.add(k).write(state.0);
                u.add(k).write(state.1);
            }
        }
        (s, u)
    }

    /// Returns the state of all `n` lanes together.
    ///
    /// # Safety
    /// There must be `n` lanes.
    #[inline(always)]
    unsafe fn merged(&mut self, l: L, mut n: usize) -> (L::S, L::U) {
        const LAST: usize = 16;
        let (s, u) = l.state(l.empty());
        let (mut s, mut u) = ([s; ROW_LANES], [u; ROW_LANES]);
        let (a, b) = (self.0.data(), self.1.data());
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|k| unsafe { (s[k], u[k]) = l.state((a.add(k).read(), b.add(k).read())) });
        while n > LAST {
            let half = n.div_ceil(2);
            for k in 0..n - half {
                (s[k], u[k]) = l.merge((s[k], u[k]), (s[k + half], u[k + half]));
                s[k + half] = l.state(l.empty()).0;
                u[k + half] = l.state(l.empty()).1;
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

/// The maximum number of columns of the rows that narrow rows are joined into. With enough narrow rows, joined rows have more than half as
/// many.
const JOINED: usize = 2 * NARROW;

/// Folds the columns of a tile. Rows of a narrow tile are joined if they have no gaps: a lane then accumulates one element of each group of
/// rows.
///
/// # Safety
/// As for [`FoldKernel::columns`].
#[inline(always)]
unsafe fn columns<L: Reducer>(l: L, isa: Isa, accs: Accumulators, tile: FoldTile) {
    let joins = 2 * tile.cols <= NARROW && tile.step == (tile.cols * size_of::<L::In>()) as isize;
    let mut group = if joins { 1 << (JOINED / tile.cols).min(tile.rows.max(1)).ilog2() } else { 1 };
    let joined = FoldTile { rows: tile.rows / group, cols: group * tile.cols, step: group as isize * tile.step, ..tile };
    debug_assert!(joined.rows <= ROWS);
    let mut lanes = Lines::uninit();
    lanes.clear(l, joined.cols);
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        lanes.accumulate(l, isa, &joined, tile.rows % group * tile.cols);
        let mut buffer = (Columns::uninit(), Columns::uninit());
        let (s, u) = lanes.states(l, joined.cols, &mut buffer);
        while group > 1 {
            group /= 2;
            let half = group * tile.cols;
            for k in 0..half {
                (*s.add(k), *u.add(k)) = l.merge((s.add(k).read(), u.add(k).read()), (s.add(k + half).read(), u.add(k + half).read()));
            }
        }
        for k in 0..tile.cols {
            Lanes::<L>::store(accs, k, l.merge(Lanes::<L>::load(accs, k), (s.add(k).read(), u.add(k).read())));
        }
    }
}

/// The fold of a [`Reducer`].
pub struct Lanes<L>(pub L);

impl<L: Reducer> Lanes<L> {
    /// # Safety
    /// Accumulator `j` must exist.
    #[inline(always)]
    unsafe fn load(accs: Accumulators, j: usize) -> (L::S, L::U) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { (accs.plane::<L::S>(0).add(j).read(), accs.plane::<L::U>(1).add(j).read()) }
    }

    /// # Safety
    /// Accumulator `j` must exist.
    #[inline(always)]
    unsafe fn store(accs: Accumulators, j: usize, state: (L::S, L::U)) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            accs.plane::<L::S>(0).add(j).write(state.0);
            accs.plane::<L::U>(1).add(j).write(state.1);
        }
    }
}

impl<L: Reducer> FoldKernel for Lanes<L> {
    fn planes(&self) -> usize {
        if size_of::<L::U>() == 0 { 1 } else { 2 }
    }

    fn reads(&self, compute: Dtype) -> Dtype {
        self.0.reads(compute)
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        let l = self.0;
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|j| unsafe { Self::store(accs, j, l.state(l.empty())) })
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let (l, tile) = (self.0, *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe {
                        let before = Self::load(accs, j);
                        if !l.is_decided(before) {
                            Self::store(accs, j, l.merge(before, l.of_row(isa, tile.row(j), tile.cols)));
                        }
                    }
                }
            },
        )
    }

    fn fewest(&self, gaps: bool) -> usize {
        if gaps { 8 } else { 2 }
    }

    fn tall(&self, gaps: bool) -> bool {
        !gaps
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let (l, tile) = (self.0, *tile);
        simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract.
            move |isa| unsafe { columns(l, isa, accs, tile) },
        )
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, _: [usize; 2]) {
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe { Self::store(accs, j, self.0.merge(Self::load(accs, j), Self::load(later, j))) }
        }
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, count: usize, out: [*mut u8; 2]) {
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                let (result, other) = self.0.finish(Self::load(accs, j), count);
                out[0].cast::<L::Out>().add(j).write(result);
                out[1].cast::<L::Other>().add(j).write(other);
            }
        }
    }
}
