//! The loops over a number of operands that is only known at run time.

use crate::layout::{INLINE_DIMS, Layout};
use smallvec::SmallVec;

/// The number of operands whose steps are stored inline.
const INLINE_OPERANDS: usize = 8;

/// The loops of a [`Plan`](super::Plan) for a number of operands that is only known at run time.
#[derive(Debug, Clone)]
pub struct Many {
    /// The length of each loop, fastest first; never empty.
    n: SmallVec<[usize; INLINE_DIMS]>,
    /// The distance between neighbours in bytes: of all operands in the first loop, then of all operands in the second, and so on.
    step: SmallVec<[isize; INLINE_OPERANDS * 2]>,
    operands: usize,
}

impl Many {
    /// The loops over layouts of one shape; `item` is the element size of each in bytes.
    pub fn new(layouts: &[&Layout], item: &[usize]) -> Many {
        let (shape, operands) = (&layouts[0].shape, layouts.len());
        let step = |d: usize, k: usize| layouts[k].strides[d] as isize * item[k] as isize;
        let before = |a: usize, b: usize| {
            let differs = |k: &usize| step(a, *k) != 0 && step(b, *k) != 0 && step(a, *k) != step(b, *k);
            (0..operands).find(differs).is_some_and(|k| step(a, k) < step(b, k))
        };
        let mut dims: SmallVec<[usize; INLINE_DIMS]> = (0..shape.len()).rev().filter(|&d| shape[d] != 1).collect();
        // Insertion sort, as in `Plan`.
        for i in 1..dims.len() {
            let mut j = i;
            while j > 0 && before(dims[j], dims[j - 1]) {
                dims.swap(j, j - 1);
                j -= 1;
            }
        }
        let mut many = Many { n: SmallVec::new(), step: SmallVec::new(), operands };
        for d in dims {
            let size = shape[d] as usize;
            match many.n.len().checked_sub(1) {
                Some(l) if (0..operands).all(|k| step(d, k) == many.step(l, k).wrapping_mul(many.n[l] as isize)) => many.n[l] *= size,
                _ => {
                    many.n.push(size);
                    many.step.extend((0..operands).map(|k| step(d, k)));
                }
            }
        }
        if many.n.is_empty() {
            many.n.push(1);
            many.step.extend(item.iter().map(|&item| item as isize));
        }
        many
    }

    /// The number of loops.
    pub fn loops(&self) -> usize {
        self.n.len()
    }

    /// The length of loop `l`; 1 if there is no such loop.
    pub fn n(&self, l: usize) -> usize {
        self.n.get(l).copied().unwrap_or(1)
    }

    /// The distance between neighbours of operand `k` in loop `l`, in bytes; 0 if there is no such loop.
    pub fn step(&self, l: usize, k: usize) -> isize {
        self.step.get(l * self.operands + k).copied().unwrap_or(0)
    }

    /// The number of positions.
    pub fn numel(&self) -> usize {
        self.n.iter().product()
    }

    /// The number of tiles of at most `rows` x `cols` elements.
    pub fn tiles(&self, rows: usize, cols: usize) -> usize {
        let outer: usize = self.n.iter().skip(2).product();
        self.n(0).div_ceil(cols) * self.n(1).div_ceil(rows) * outer
    }

    /// Writes the offset of tile `index` from each operand's first element to `at`, in bytes. Returns the tile's rows and columns.
    pub fn tile(&self, index: usize, [rows, cols]: [usize; 2], at: &mut [isize]) -> [usize; 2] {
        let (across, down) = (self.n(0).div_ceil(cols), self.n(1).div_ceil(rows));
        let (col, rest) = (index % across * cols, index / across);
        let (row, mut rest) = (rest % down * rows, rest / down);
        for (k, at) in at.iter_mut().enumerate() {
            *at = col as isize * self.step(0, k) + row as isize * self.step(1, k);
        }
        for l in 2..self.loops() {
            let i = (rest % self.n[l]) as isize;
            rest /= self.n[l];
            at.iter_mut().enumerate().for_each(|(k, at)| *at += i * self.step(l, k));
        }
        [rows.min(self.n(1) - row), cols.min(self.n(0) - col)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;

    fn layout(shape: &[i64], strides: &[i64]) -> Layout {
        Layout { shape: shape.into(), strides: strides.into(), offset: 0 }
    }

    #[test]
    fn loops_and_tiles_are_those_of_a_plan() {
        let cases: [(&[i64], [&[i64]; 2]); 5] = [
            (&[2, 3, 1, 4], [&[12, 4, 4, 1], &[12, 4, 4, 1]]),
            (&[3, 2], [&[2, 1], &[1, 3]]),
            (&[3, 4], [&[4, 1], &[0, 1]]),
            (&[3, 5, 7], [&[35, 7, 1], &[1, 21, 3]]),
            (&[], [&[], &[]]),
        ];
        for (shape, strides) in cases {
            let [r, a] = strides.map(|strides| layout(shape, strides));
            let (plan, many) = (Plan::new([&r, &a], [4, 2]), Many::new(&[&r, &a], &[4, 2]));
            assert_eq!(many.loops(), plan.loops().len());
            for (l, one) in plan.loops().iter().enumerate() {
                assert_eq!((many.n(l), [many.step(l, 0), many.step(l, 1)]), (one.n, one.step), "{shape:?}");
            }
            let tiles = plan.tiles(2, 3);
            assert_eq!((many.tiles(2, 3), many.numel()), (tiles.count(), plan.numel()));
            for i in 0..tiles.count() {
                let (mut at, tile) = ([0; 2], tiles.get(i));
                assert_eq!((many.tile(i, [2, 3], &mut at), at), ([tile.rows, tile.cols], tile.at), "{shape:?}, {i}");
            }
        }
        let none = layout(&[0, 4], &[4, 1]);
        assert_eq!(Many::new(&[&none], &[4]).numel(), 0);
    }
}
