//! Tests if two positions of a layout share an element.

use super::{INLINE_DIMS, Layout};
use smallvec::SmallVec;

/// The maximum number of positions that are compared with each other.
const MOST: i64 = 1 << 16;

/// Size and stride of a dimension whose size is above 1.
type Dim = (i64, i64);

impl Layout {
    /// Returns true if two positions share an element, as in an expanded tensor. Also returns true if three or more dimensions overlap and
    /// more than 65536 positions would have to be compared.
    #[inline]
    pub fn overlaps_itself(&self) -> bool {
        !self.is_contiguous() && self.shares_elements()
    }

    fn shares_elements(&self) -> bool {
        if self.shape.contains(&0) {
            return false;
        }
        let pairs = self.shape.iter().copied().zip(self.strides.iter().copied());
        let mut dims: SmallVec<[Dim; INLINE_DIMS]> = pairs.filter(|&(n, _)| n > 1).collect();
        dims.sort_unstable_by_key(|&(_, stride)| stride);
        let mut reach = 0i64;
        let exceeds_inner = |&(n, stride): &Dim| {
            let beyond = stride > reach;
            reach = reach.saturating_add((n - 1).saturating_mul(stride));
            beyond
        };
        // Usually the stride of each dimension is larger than the extent of all dimensions with smaller strides.
        !dims.iter().all(exceeds_inner) && interleaved(&mut dims)
    }
}

/// Returns true if two positions have the same sum of `index * stride`. Dimensions are sorted by ascending stride.
///
/// Two positions share an element if the differences `x` of their indices are not all 0 and the sum of `x * stride` is 0. A dimension in
/// which `x` must be 0 is removed.
fn interleaved(dims: &mut SmallVec<[Dim; INLINE_DIMS]>) -> bool {
    if dims[0].1 == 0 {
        return true;
    }
    while let Some(d) = (0..dims.len()).find(|&d| stands_still(dims, d)) {
        dims.remove(d);
    }
    match dims.len() {
        // A single dimension would have been removed. Two remaining dimensions share a position at a common multiple of their strides.
        0 => false,
        2 => true,
        _ => meet(dims),
    }
}

/// Returns true if positions that share an element must have the same index in dimension `d`.
fn stands_still(dims: &[Dim], d: usize) -> bool {
    let (n, stride) = dims[d];
    let others = || dims.iter().enumerate().filter(|&(k, _)| k != d).map(|(_, dim)| dim);
    let reach = others().fold(0i64, |reach, &(n, stride)| reach.saturating_add((n - 1).saturating_mul(stride)));
    // Every sum over the other dimensions is a multiple of the greatest common divisor of their strides.
    let divisor = others().fold(0, |divisor, &(_, stride)| gcd(divisor, stride));
    stride > reach || divisor / gcd(divisor, stride) >= n
}

/// Returns true if two positions share an element, or if there are too many positions to compare.
fn meet(dims: &[Dim]) -> bool {
    let count = dims.iter().fold(1i64, |count, &(n, _)| count.saturating_mul(n));
    let mut places: Vec<i64> = Vec::new();
    if count > MOST || places.try_reserve_exact(count as usize).is_err() {
        return true;
    }
    places.push(0);
    for &(n, stride) in dims {
        let inner = places.len();
        for at in inner..inner * n as usize {
            places.push(places[at - inner].saturating_add(stride));
        }
    }
    places.sort_unstable();
    places.windows(2).any(|pair| pair[0] == pair[1])
}

/// The greatest common divisor, of either sign.
pub fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[i64], strides: &[i64]) -> Layout {
        Layout { shape: shape.into(), strides: strides.into(), offset: 0 }
    }

    #[test]
    fn repeated_elements_are_shared() {
        assert!(layout(&[3, 4], &[1, 0]).overlaps_itself());
        assert!(layout(&[3, 3], &[1, 1]).overlaps_itself());
        assert!(layout(&[1 << 40, 2, 1 << 20], &[0, 1, 1]).overlaps_itself());
        assert!(!layout(&[3, 0], &[0, 0]).overlaps_itself());
        assert!(!layout(&[1 << 40, 0, 1 << 20], &[0, 1, 1]).overlaps_itself());
        assert!(!layout(&[3, 4], &[1, 3]).overlaps_itself());
        assert!(!layout(&[1, 4], &[0, 1]).overlaps_itself());
    }

    #[test]
    fn interleaved_elements_are_not() {
        for (shape, strides) in
            [([2, 2], [2, 3]), ([2, 3], [3, 2]), ([4, 3], [3, 4]), ([1000, 999], [999, 1000]), ([2, 1 << 40], [1 << 40, 3])]
        {
            assert!(!layout(&shape, &strides).overlaps_itself(), "{shape:?} {strides:?}");
        }
        assert!(layout(&[5, 4], &[3, 4]).overlaps_itself());
        assert!(!layout(&[2, 2, 2], &[3, 5, 6]).overlaps_itself());
        assert!(layout(&[2, 2, 2], &[3, 5, 8]).overlaps_itself());
    }

    /// 20,000 random layouts of one to four dimensions with sizes 1 to 4 and strides below 20, compared with a list of all positions.
    #[test]
    fn the_answer_is_that_of_all_positions() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % n) as i64
        };
        let mut shared = 0;
        for _ in 0..20_000 {
            let ndim = 1 + random(4) as usize;
            let shape: Vec<i64> = (0..ndim).map(|_| 1 + random(4)).collect();
            let strides: Vec<i64> = (0..ndim).map(|_| random(20)).collect();
            let mut places = vec![0];
            for (&n, &stride) in shape.iter().zip(&strides) {
                places = places.iter().flat_map(|&at| (0..n).map(move |i| at + i * stride)).collect();
            }
            let all = places.len();
            places.sort_unstable();
            places.dedup();
            let expected = places.len() < all;
            shared += i32::from(expected);
            assert_eq!(layout(&shape, &strides).overlaps_itself(), expected, "{shape:?} {strides:?}");
        }
        assert!((4000..16_000).contains(&shared), "{shared} of 20000");
    }

    #[test]
    fn too_many_positions_are_taken_to_share_some() {
        let odd = layout(&[101, 103, 107, 109], &[2 * 3 * 5, 2 * 3 * 7, 2 * 5 * 7, 3 * 5 * 7]);
        assert!(odd.overlaps_itself());
        let many = layout(&[2; 60], &std::array::from_fn::<i64, 60, _>(|d| (1 << 50) + (1 << (d % 50)) + d as i64));
        assert!(many.overlaps_itself());
    }
}
