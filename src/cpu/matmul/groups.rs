//! Products of 8- and 16-bit numbers by instructions that add several products to one 32-bit sum.
//!
//! A group has 32 bits: two or four neighbours along the dimension that is summed over. A product of such numbers is computed as a product
//! of groups, which is two or four times less deep, by the kernels of `pair` or [`tiles`].

use super::grouping::{Ungrouped, pack};
use super::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use super::pair;
use super::tiles;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{Dims, Layout, checked_numel};
use crate::operand::Operand;
use crate::storage::Storage;

/// The method that computes products of a dtype.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    pub kernel: Kernel,
    /// The number of elements in a group.
    pub count: usize,
}

impl Groups {
    /// Returns how a product of matrices of these shapes is computed, if it is computed by groups. Products with vectors are not, since
    /// packing the matrix takes as long as the product.
    pub fn of(dtype: Dtype, [a, b]: [&Dims; 2]) -> Option<Groups> {
        let (rows, columns) = (a.len() - 2, b.len() - 1);
        if a[rows] > 1 && b[columns] > 1 && a[rows + 1] > 0 { Groups::of_dtype(dtype) } else { None }
    }

    /// Returns how a product of matrices of a dtype is computed, if it is computed by groups.
    pub fn of_dtype(dtype: Dtype) -> Option<Groups> {
        if let Some(kernel) = tiles::kernel(dtype) {
            return Some(Groups { kernel, count: size_of::<u32>() / dtype.size() });
        }
        #[cfg(target_arch = "x86_64")]
        let kernel = pair::kernel(dtype);
        #[cfg(not(target_arch = "x86_64"))]
        let kernel = None;
        kernel.map(|kernel| Groups { kernel, count: 2 })
    }

    /// Returns `[a, b]` of a product as groups, whose dtype is the type of the sums.
    pub fn operands(&self, [a, b]: [&Operand; 2]) -> Result<[Operand; 2]> {
        Ok([self.grouped(a, false)?, self.grouped(b, true)?])
    }

    /// Returns the type of the sums.
    pub fn dtype(&self) -> Dtype {
        match self.kernel {
            Kernel::Float(_) => Dtype::Float32,
            Kernel::Integer(_) => Dtype::Int32,
        }
    }

    /// The number of groups of a sum is a multiple of this number.
    fn deep(&self) -> usize {
        match self.kernel {
            Kernel::Float(kernel) => kernel.deep,
            Kernel::Integer(kernel) => kernel.deep,
        }
    }

    /// Returns the matrices of `t`, whose `rows` or columns are summed over, as groups: in the same memory if the elements of each group
    /// are neighbours there, otherwise as a copy.
    fn grouped(&self, t: &Operand, rows: bool) -> Result<Operand> {
        let ndim = t.layout().ndim();
        let (along, across) = if rows { (ndim - 2, ndim - 1) } else { (ndim - 1, ndim - 2) };
        if let Some(layout) = self.in_place(t, along)
            && let Some(storage) = t.storage.clone().filter(|storage| (storage.data() as usize).is_multiple_of(size_of::<u32>()))
        {
            return Ok(Operand::inside(storage, self.dtype(), layout));
        }
        let (shape, strides) = (&t.layout().shape, &t.layout().strides);
        let [depth, count] = [along, across].map(|d| shape[d] as usize);
        let groups = depth.div_ceil(self.count).next_multiple_of(self.deep());
        // The groups of a sum are contiguous in A, and in B if its elements are.
        let columns = rows && strides[along] != 1;
        let mut made: Dims = shape[..ndim - 2].into();
        made.extend_from_slice(&if columns { [groups as i64, count as i64] } else { [count as i64, groups as i64] });
        let storage = Storage::on_host(self.dtype(), checked_numel(&made)?)?;
        let mut layout = Layout::contiguous(&made);
        if rows && !columns {
            layout.shape.swap(along, across);
            layout.strides.swap(along, across);
        }
        let operand = Operand::inside(storage, self.dtype(), layout);
        for i in 0..shape[..ndim - 2].iter().product::<i64>() as usize {
            let (mut rest, mut offset) = (i as i64, 0);
            for d in (0..ndim - 2).rev() {
                offset += rest % shape[d] * strides[d];
                rest /= shape[d];
            }
            let to = operand.first().wrapping_add(i * groups * count * size_of::<u32>());
            let from = t.first().wrapping_offset(offset as isize * t.dtype.size() as isize);
            let [depth_stride, stride] = [along, across].map(|d| strides[d] as isize);
            macro_rules! pack {
                ($S:ty as $D:ty; $G:literal) => {{
                    let from = Ungrouped { data: from.cast_const().cast::<$S>(), depth, depth_stride, count, stride };
                    // SAFETY: the layout was checked against its storage, and the copy is new.
                    unsafe { pack::<$S, $D, $G>(to, groups, columns, &from) }
                }};
            }
            match (t.dtype, self.count) {
                (Dtype::Int8 | Dtype::Uint8, 4) => pack!(u8 as u8; 4),
                (Dtype::Int8, _) => pack!(i8 as i16; 2),
                (Dtype::Uint8, _) => pack!(u8 as i16; 2),
                _ => pack!(u16 as u16; 2),
            }
        }
        Ok(operand)
    }

    /// Returns the layout of groups if these exist in memory: neighbours, the first at a multiple of the count.
    fn in_place(&self, t: &Operand, along: usize) -> Option<Layout> {
        let layout = t.layout();
        let count = self.count as i64;
        let whole = |x: i64| x % count == 0;
        let fits = t.dtype.size() * self.count == size_of::<u32>() && layout.shape[along] % (count * self.deep() as i64) == 0;
        if !fits || layout.strides[along] != 1 || !whole(layout.offset) {
            return None;
        }
        let mut grouped = layout.clone();
        grouped.offset /= count;
        grouped.shape[along] /= count;
        for d in (0..layout.ndim()).filter(|&d| d != along) {
            if layout.shape[d] > 1 && !whole(layout.strides[d]) {
                return None;
            }
            grouped.strides[d] /= count;
        }
        Some(grouped)
    }
}
