//! Packs elements in groups of 32 bits: two or four neighbours along the dimension that a product sums over.

use crate::cpu::parallel::{CHEAP, Shared, parallel};
use crate::cpu::simd::simd;
use crate::cpu::transpose::transpose;
use std::array;
use std::mem::MaybeUninit;

/// The elements to be packed: the sum is over `depth` elements, in each of `count` rows or columns. Strides are in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ungrouped<S> {
    /// The first element.
    pub data: *const S,
    /// The number of elements in a sum.
    pub depth: usize,
    /// Elements from one element of a sum to the next.
    pub depth_stride: isize,
    /// The number of rows of A or columns of B.
    pub count: usize,
    /// Elements from one row or column to the next.
    pub stride: isize,
}

// SAFETY: threads only read the elements.
unsafe impl<S: Sync> Sync for Ungrouped<S> {}

/// Sums whose groups are transposed together. A tile of these and of [`DEEP`] groups fits the L1 cache with its source.
const SUMS: usize = 64;
/// Groups of a sum that are transposed together.
const DEEP: usize = 64;

impl<S: Copy> Ungrouped<S> {
    #[inline(always)]
    fn at(&self, depth: usize, i: usize) -> *const S {
        self.data.wrapping_offset(depth as isize * self.depth_stride + i as isize * self.stride)
    }

    /// Returns one group of a sum. Elements beyond the depth are 0.
    ///
    /// # Safety
    /// The elements must exist.
    #[inline(always)]
    unsafe fn group<D: From<S> + Default, const G: usize>(&self, group: usize, i: usize) -> [D; G] {
        array::from_fn(|g| {
            let depth = G * group + g;
            // SAFETY: the caller guarantees the elements inside the depth.
            if depth < self.depth { unsafe { (*self.at(depth, i)).into() } } else { D::default() }
        })
    }

    /// Writes all groups of one sum.
    ///
    /// # Safety
    /// The elements must exist.
    unsafe fn sum<D: From<S> + Default + Copy, const G: usize>(&self, to: &mut [[D; G]], i: usize) {
        let whole = if self.depth_stride == 1 { self.depth / G } else { 0 };
        let (full, rest) = to.split_at_mut(whole);
        let from = self.at(0, i).cast::<[S; G]>();
        simd(
            #[inline(always)]
            // SAFETY: the caller guarantees `depth` contiguous elements.
            move |_| full.iter_mut().enumerate().for_each(|(k, to)| *to = unsafe { from.add(k).read_unaligned() }.map(D::from)),
        );
        for (k, to) in rest.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the elements.
            *to = unsafe { self.group(whole + k, i) };
        }
    }

    /// Writes the group of one index, of the sums from `first` on.
    ///
    /// # Safety
    /// The elements must exist.
    unsafe fn across<D: From<S> + Default + Copy, const G: usize>(&self, to: &mut [[D; G]], group: usize, first: usize) {
        if self.stride == 1 && G * group + G <= self.depth {
            let from: [*const S; G] = array::from_fn(|g| self.at(G * group + g, first));
            return simd(
                #[inline(always)]
                move |_| {
                    for (i, to) in to.iter_mut().enumerate() {
                        // SAFETY: the caller guarantees G rows of contiguous elements.
                        *to = array::from_fn(|g| unsafe { *from[g].add(i) }.into());
                    }
                },
            );
        }
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the elements.
            *to = unsafe { self.group(group, first + i) };
        }
    }

    /// Writes the sums from `first` on, whose groups are `step` groups apart, by transposing tiles.
    ///
    /// # Safety
    /// The elements must exist, and `to` must have room for the groups.
    unsafe fn transposed<D: From<S> + Default + Copy, const G: usize>(&self, to: *mut [D; G], step: usize, first: usize, count: usize) {
        let mut tile = [[MaybeUninit::<[D; G]>::uninit(); SUMS]; DEEP];
        let size = size_of::<[D; G]>();
        for group in (0..step).step_by(DEEP) {
            let deep = DEEP.min(step - group);
            for (k, row) in tile.iter_mut().take(deep).enumerate() {
                // SAFETY: the row has room for `count` groups, which are written before they are read.
                unsafe { self.across(std::slice::from_raw_parts_mut(row.as_mut_ptr().cast::<[D; G]>(), count), group + k, first) };
            }
            let to = to.wrapping_add(group).cast();
            // SAFETY: `deep` rows of `count` groups are written; the caller guarantees the room.
            unsafe { transpose(size, to, (step * size) as isize, tile.as_ptr().cast(), (SUMS * size) as isize, count, deep) };
        }
    }
}

/// Packs `groups` groups of each sum, the last ones filled with zeros. With `columns`, a row of the result has the groups of one index, one
/// of each sum. Otherwise it has the groups of one sum.
///
/// # Safety
/// The elements must exist, and `to` must have room for all groups. No other thread may write either during this call.
pub(super) unsafe fn pack<S, D, const G: usize>(to: *mut u8, groups: usize, columns: bool, from: &Ungrouped<S>)
where
    S: Copy + Sync,
    D: From<S> + Default + Copy,
{
    let (rows, length) = if columns { (groups, from.count) } else { (from.count, groups) };
    let to = Shared(to);
    parallel(rows, length, CHEAP, &|range| {
        let row_at = |row: usize| to.get().cast::<[D; G]>().wrapping_add(row * length);
        if !columns && from.stride == 1 && from.depth_stride != 1 {
            for first in range.clone().step_by(SUMS) {
                // SAFETY: the caller guarantees the elements and the room.
                unsafe { from.transposed(row_at(first), length, first, SUMS.min(range.end - first)) };
            }
            return;
        }
        for row in range {
            // SAFETY: the caller guarantees the elements and row `row` of the room.
            unsafe {
                let to = std::slice::from_raw_parts_mut(row_at(row), length);
                if columns { from.across(to, row, 0) } else { from.sum(to, row) }
            }
        }
    });
}
