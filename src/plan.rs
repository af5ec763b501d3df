//! The strided loop engine: one plan walks N operands of one shape, tile by tile.
#![forbid(unsafe_code)]

mod many;

use crate::layout::{INLINE_DIMS, Layout};
pub use many::Many;
use smallvec::SmallVec;

/// One loop of a plan: its length and each operand's step in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop<const N: usize> {
    /// Number of positions.
    pub n: usize,
    /// The distance between neighbours in bytes, for each operand; 0 if the operand is broadcast.
    pub step: [isize; N],
}

/// The loops over N operands of one shape, with adjacent loops merged. The loop with the smallest strides of operand 0 comes first.
#[derive(Debug, Clone)]
pub struct Plan<const N: usize> {
    /// Never empty. All loops are longer than 1, with two exceptions: a single element is one loop of length 1, no elements one loop of
    /// length 0.
    loops: SmallVec<[Loop<N>; INLINE_DIMS]>,
    /// The element size of each operand in bytes.
    pub item: [usize; N],
}

/// A rectangle of a plan: `rows` runs of `cols` elements.
#[derive(Debug, Clone, Copy)]
pub struct Tile<const N: usize> {
    /// The offset of the tile's first element from the operand's first element, in bytes.
    pub at: [isize; N],
    /// The number of runs.
    pub rows: usize,
    /// The number of elements of a run.
    pub cols: usize,
    /// The distance between runs in bytes.
    pub row_step: [isize; N],
    /// The distance between elements of a run in bytes.
    pub col_step: [isize; N],
}

/// `[f(0), f(1), ...]` with at least one entry. A loop, because compilers do not inline `array::from_fn` and `map` here.
#[inline(always)]
pub(crate) fn each<T: Copy, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [f(0); N];
    for k in 1..N {
        all[k] = f(k);
    }
    all
}

impl<const N: usize> Plan<N> {
    /// A plan over layouts of one shape, which are already broadcast; `item` is the element size of each in bytes.
    pub fn new(layouts: [&Layout; N], item: [usize; N]) -> Plan<N> {
        let shape = layouts[0].shape.as_slice();
        debug_assert!(layouts.iter().all(|l| l.shape.as_slice() == shape));
        // If one size is 0, there are no elements, even if the product of the other sizes overflows.
        if shape.contains(&0) {
            return Plan::flat(0, item);
        }
        let strides: [&[i64]; N] = each(|k| &layouts[k].strides[..shape.len()]);
        let of_dim = |d: usize| Loop { n: shape[d] as usize, step: each(|k| strides[k][d] as isize * item[k] as isize) };
        let dims = (0..shape.len()).rev().filter(|&d| shape[d] != 1);
        if shape.len() > INLINE_DIMS {
            return Plan::of_loops(&mut dims.map(of_dim).collect::<SmallVec<[Loop<N>; INLINE_DIMS]>>(), item);
        }
        let (mut loops, mut count) = ([Loop { n: 1, step: [0; N] }; INLINE_DIMS], 0);
        dims.for_each(|d| {
            loops[count] = of_dim(d);
            count += 1;
        });
        Plan::of_loops(&mut loops[..count], item)
    }

    /// A plan of these loops, in any order. Each is longer than 1; no loops mean a single element.
    #[inline(always)]
    pub(crate) fn of_loops(loops: &mut [Loop<N>], item: [usize; N]) -> Plan<N> {
        sort_fastest_first(loops);
        let kept = merge(loops);
        if kept == 0 {
            return Plan::flat(1, item);
        }
        Plan { loops: SmallVec::from_slice(&loops[..kept]), item }
    }

    /// A plan over operands that are all contiguous: one loop.
    #[inline]
    pub fn flat(n: usize, item: [usize; N]) -> Plan<N> {
        Plan { loops: smallvec::smallvec![Loop { n, step: each(|k| item[k] as isize) }], item }
    }

    /// The number of positions.
    pub fn numel(&self) -> usize {
        self.loops.iter().map(|l| l.n).product()
    }

    /// The size of all operands in bytes. Elements that are broadcast count once.
    pub fn bytes(&self) -> usize {
        let elements = |k: usize| self.loops.iter().filter(|l| l.step[k] != 0).fold(1, |n: usize, l| n.saturating_mul(l.n));
        (0..N).fold(0, |bytes: usize, k| bytes.saturating_add(elements(k).saturating_mul(self.item[k])))
    }

    /// The loops, fastest first.
    pub fn loops(&self) -> &[Loop<N>] {
        &self.loops
    }

    /// Walks loop `l` from its last position to its first. Returns the offset of the last position in bytes, for each operand.
    pub fn reverse(&mut self, l: usize) -> [isize; N] {
        let Loop { n, step } = self.loops[l];
        self.loops[l].step = each(|k| -step[k]);
        each(|k| (n as isize - 1) * step[k])
    }

    /// Limits loop `l` to its first `n` positions.
    pub fn shorten(&mut self, l: usize, n: usize) {
        self.loops[l].n = n;
    }

    /// Returns true if there is one loop and every operand is contiguous in it.
    pub fn is_flat(&self) -> bool {
        self.loops.len() == 1 && (0..N).all(|k| self.loops[0].step[k] == self.item[k] as isize)
    }

    /// If an operand is not contiguous in the first loop, moves a loop in which it is contiguous to the second place, so that a tile covers
    /// both and the kernel can transpose it.
    pub fn pair_for_transposes(&mut self) {
        let stuck = |k: &usize| self.loops[0].step[*k] != self.item[*k] as isize && self.loops[0].step[*k] != 0;
        let partner = (0..N).filter(stuck).find_map(|k| (1..self.loops.len()).find(|&l| self.loops[l].step[k] == self.item[k] as isize));
        if let Some(l) = partner {
            let moved = self.loops.remove(l);
            self.loops.insert(1, moved);
        }
    }

    /// Cuts the plan into tiles of at most `rows` x `cols`.
    pub fn tiles(&self, rows: usize, cols: usize) -> Tiles<'_, N> {
        let first = self.loops[0];
        let second = self.loops.get(1).copied().unwrap_or(Loop { n: 1, step: [0; N] });
        let (cols, rows) = (cols.min(first.n).max(1), rows.min(second.n).max(1));
        let outer = self.loops.get(2..).unwrap_or(&[]);
        let counts = [first.n.div_ceil(cols), second.n.div_ceil(rows)];
        let total = counts[0] * counts[1] * outer.iter().map(|l| l.n).product::<usize>();
        Tiles { first, second, outer, rows, cols, counts, total }
    }
}

/// Sorts loops by ascending strides: first by the strides of operand 0, then of operand 1, and so on. Strides of 0 are skipped.
#[inline(always)]
fn sort_fastest_first<const N: usize>(loops: &mut [Loop<N>]) {
    let before = |a: &Loop<N>, b: &Loop<N>| {
        for k in 0..N {
            let (x, y) = (a.step[k], b.step[k]);
            if x != 0 && y != 0 && x != y {
                return x < y;
            }
        }
        false
    };
    // Insertion sort: there are few loops, and the sorts of the standard library may panic because the comparison is not a total order.
    for i in 1..loops.len() {
        let mut j = i;
        while j > 0 && before(&loops[j], &loops[j - 1]) {
            loops.swap(j, j - 1);
            j -= 1;
        }
    }
}

/// Merges loops that continue each other for every operand. Returns the number of loops that are left.
#[inline(always)]
fn merge<const N: usize>(loops: &mut [Loop<N>]) -> usize {
    let mut kept = 0;
    for i in 1..loops.len() {
        let (inner, outer) = (loops[kept], loops[i]);
        if (0..N).all(|k| outer.step[k] == inner.step[k].wrapping_mul(inner.n as isize)) {
            loops[kept].n *= outer.n;
        } else {
            kept += 1;
            loops[kept] = outer;
        }
    }
    loops.len().min(kept + 1)
}

/// The tiles of a plan. They are numbered, so that any thread can process any range of them.
#[derive(Debug, Clone, Copy)]
pub struct Tiles<'a, const N: usize> {
    first: Loop<N>,
    second: Loop<N>,
    outer: &'a [Loop<N>],
    rows: usize,
    cols: usize,
    counts: [usize; 2],
    total: usize,
}

impl<const N: usize> Tiles<'_, N> {
    /// The number of tiles.
    pub fn count(&self) -> usize {
        self.total
    }

    /// The number of elements of a full tile.
    pub fn area(&self) -> usize {
        self.rows * self.cols
    }

    /// The tile with this number.
    pub fn get(&self, index: usize) -> Tile<N> {
        let (c, rest) = (index % self.counts[0], index / self.counts[0]);
        let (r, mut rest) = (rest % self.counts[1], rest / self.counts[1]);
        let (col, row) = (c * self.cols, r * self.rows);
        let mut at: [isize; N] = each(|k| col as isize * self.first.step[k] + row as isize * self.second.step[k]);
        for l in self.outer {
            let i = (rest % l.n) as isize;
            rest /= l.n;
            for k in 0..N {
                at[k] += i * l.step[k];
            }
        }
        Tile {
            at,
            rows: self.rows.min(self.second.n - row),
            cols: self.cols.min(self.first.n - col),
            row_step: self.second.step,
            col_step: self.first.step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[i64], strides: &[i64]) -> Layout {
        Layout { shape: shape.into(), strides: strides.into(), offset: 0 }
    }

    fn steps<const N: usize>(plan: &Plan<N>) -> Vec<(usize, [isize; N])> {
        plan.loops().iter().map(|l| (l.n, l.step)).collect()
    }

    #[test]
    fn contiguous_operands_make_one_loop() {
        let l = Layout::contiguous(&[2, 3, 1, 4]);
        assert_eq!(steps(&Plan::new([&l, &l], [4, 8])), [(24, [4, 8])]);
        assert_eq!(steps(&Plan::new([&layout(&[], &[])], [4])), [(1, [4])]);
    }

    #[test]
    fn transposed_results_are_walked_in_their_own_order() {
        let t = layout(&[3, 2], &[1, 3]);
        assert_eq!(steps(&Plan::new([&t, &t], [4, 4])), [(6, [4, 4])]);
        let c = Layout::contiguous(&[3, 2]);
        assert_eq!(steps(&Plan::new([&c, &t], [1, 1])), [(2, [1, 3]), (3, [2, 1])]);
    }

    #[test]
    fn broadcast_loops_stay_apart() {
        let c = Layout::contiguous(&[3, 4]);
        let row = layout(&[3, 4], &[0, 1]);
        let plan = Plan::new([&c, &row], [4, 2]);
        assert_eq!(steps(&plan), [(4, [4, 2]), (3, [16, 0])]);
        assert_eq!(plan.bytes(), 12 * 4 + 4 * 2);
        assert_eq!(Plan::new([&layout(&[1 << 20; 2], &[0, 0])], [8]).bytes(), 8);
    }

    #[test]
    fn without_elements_there_are_no_tiles() {
        for shape in [[0, 1 << 60, 1], [1 << 60, 0, 0], [1 << 30, 0, 1 << 30]] {
            let (l, strange) = (Layout::contiguous(&shape), layout(&shape, &[5, 1, 7]));
            let plan = Plan::new([&l, &strange], [4, 4]);
            assert_eq!((steps(&plan), plan.numel(), plan.tiles(16, 16).count()), (vec![(0, [4, 4])], 0, 0));
        }
    }

    #[test]
    fn tiles_cover_every_position_once() {
        let shapes: [(&[i64], &[i64]); 3] = [(&[3, 5, 7], &[1, 21, 3]), (&[4, 6], &[10, 1]), (&[13], &[2])];
        for (shape, strides) in shapes {
            let (r, a) = (Layout::contiguous(shape), layout(shape, strides));
            let mut plan = Plan::new([&r, &a], [1, 1]);
            plan.pair_for_transposes();
            let tiles = plan.tiles(2, 3);
            let mut seen = vec![None; r.numel() as usize];
            for t in (0..tiles.count()).map(|i| tiles.get(i)) {
                for (i, j) in (0..t.rows).flat_map(|i| (0..t.cols).map(move |j| (i as isize, j as isize))) {
                    let at = |k: usize| t.at[k] + i * t.row_step[k] + j * t.col_step[k];
                    assert_eq!(seen[at(0) as usize].replace(at(1)), None);
                }
            }
            for (flat, got) in seen.into_iter().enumerate() {
                let (mut rest, mut want) = (flat as i64, 0);
                for d in (0..shape.len()).rev() {
                    want += rest % shape[d] * strides[d];
                    rest /= shape[d];
                }
                assert_eq!(got, Some(want as isize));
            }
        }
    }

    #[test]
    fn a_transposed_operand_gets_its_fast_loop_second() {
        let r = Layout::contiguous(&[4, 5, 6]);
        let a = layout(&[4, 5, 6], &[1, 24, 4]);
        let mut plan = Plan::new([&r, &a], [4, 4]);
        plan.pair_for_transposes();
        assert_eq!(steps(&plan)[1], (4, [120, 4]));
    }
}
