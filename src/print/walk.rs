//! The indices of the elements that are shown, and their positions in the storage.

use crate::layout::Dims;

/// The indices of one dimension that are shown: all of them, or some at both ends.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    size: i64,
    /// The number of indices shown at each end; `None` if all are shown.
    pub cut: Option<i64>,
}

impl Shown {
    /// The indices below `size`. `edge` is the number shown at each end of a summary.
    pub fn new(size: i64, edge: Option<i64>) -> Shown {
        Shown { size, cut: edge.filter(|edge| size > edge.saturating_mul(2)) }
    }

    /// The number of indices that are shown.
    pub fn count(self) -> i64 {
        self.cut.map_or(self.size, |edge| 2 * edge)
    }

    /// The index that is shown as number `k`.
    pub fn index(self, k: i64) -> i64 {
        match self.cut {
            Some(edge) if k >= edge => self.size - 2 * edge + k,
            _ => k,
        }
    }
}

/// Steps through the shown indices of some dimensions, the last one fastest, and computes the position in the storage.
pub struct Odometer {
    sizes: Dims,
    strides: Dims,
    edge: Option<i64>,
    /// The number, among the shown ones, of the current index of each dimension.
    pub at: Dims,
    /// The position of these indices in the storage.
    pub position: i64,
}

impl Odometer {
    /// An odometer at the first index of every dimension, which has this `position`.
    pub fn new(sizes: Dims, strides: Dims, position: i64, edge: Option<i64>) -> Odometer {
        let at = Dims::filled(0, sizes.len());
        Odometer { sizes, strides, edge, at, position }
    }

    /// Advances to the next indices. Returns the dimension whose index advanced; later dimensions are at their first index again. `None` at
    /// the end.
    pub fn advance(&mut self) -> Option<usize> {
        for d in (0..self.sizes.len()).rev() {
            let (shown, from) = (self.shown(d), self.at[d]);
            let to = if from + 1 < shown.count() { from + 1 } else { 0 };
            self.at[d] = to;
            self.position += (shown.index(to) - shown.index(from)) * self.strides[d];
            if to > 0 {
                return Some(d);
            }
        }
        None
    }

    /// The shown indices of dimension `d`.
    pub fn shown(&self, d: usize) -> Shown {
        Shown::new(self.sizes[d], self.edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_show_both_ends() {
        let indices = |size, edge| {
            let shown = Shown::new(size, edge);
            (0..shown.count()).map(|k| shown.index(k)).collect::<Vec<_>>()
        };
        assert_eq!(indices(4, None), [0, 1, 2, 3]);
        assert_eq!(indices(4, Some(2)), [0, 1, 2, 3]);
        assert_eq!(indices(5, Some(2)), [0, 1, 3, 4]);
        assert_eq!(indices(i64::MAX, Some(1)), [0, i64::MAX - 1]);
        assert_eq!(indices(3, Some(i64::MAX)), [0, 1, 2]);
        assert!(indices(3, Some(0)).is_empty());
    }

    #[test]
    fn the_last_dimension_goes_fastest() {
        let dims = |entries: &[i64]| Dims::from(entries);
        let mut odometer = Odometer::new(dims(&[2, 5]), dims(&[1, 10]), 100, Some(1));
        let mut seen = vec![(odometer.position, None)];
        while let Some(d) = odometer.advance() {
            seen.push((odometer.position, Some(d)));
        }
        assert_eq!(seen, [(100, None), (140, Some(1)), (101, Some(0)), (141, Some(1))]);
        assert_eq!(Odometer::new(Dims::new(), Dims::new(), 7, None).advance(), None);
    }
}
