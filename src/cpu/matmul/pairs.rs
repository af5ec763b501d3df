//! Operands of products of bfloat16 as pairs ([`Pair`]), for processors that multiply pairs: half as deep along the dimension that is
//! summed over.

use super::pair::{Pair, Unpaired, pair_up};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{Dims, Layout, checked_numel};
use crate::operand::Operand;
use crate::storage::Storage;

/// Returns true if a product of matrices of these shapes is computed by pairs. Products with vectors are not, since packing the matrix
/// takes as long as the product.
pub(super) fn are_multiplied(dtype: Dtype, [a, b]: [&Dims; 2]) -> bool {
    let (rows, columns) = (a.len() - 2, b.len() - 1);
    dtype == Dtype::Bfloat16 && a[rows] > 1 && b[columns] > 1 && a[rows + 1] > 0 && Pair::is_available()
}

/// Returns `[a, b]` of a product as pairs, each of the size of a float32.
pub(super) fn of(a: &Operand, b: &Operand) -> Result<[Operand; 2]> {
    Ok([paired(a, false)?, paired(b, true)?])
}

/// Returns the matrices of `t`, whose `rows` or columns are summed over, as pairs: in the same memory if the elements of each pair are
/// neighbours there, otherwise as a copy.
fn paired(t: &Operand, rows: bool) -> Result<Operand> {
    let along = t.layout().ndim() - if rows { 2 } else { 1 };
    if let Some(layout) = halved(t.layout(), along)
        && let Some(storage) = t.storage.clone().filter(|storage| (storage.data() as usize).is_multiple_of(size_of::<Pair>()))
    {
        return Ok(Operand::inside(storage, Dtype::Float32, layout));
    }
    let mut shape = t.layout().shape.clone();
    shape[along] = (shape[along] + 1) / 2;
    let storage = Storage::on_host(Dtype::Float32, checked_numel(&shape)?)?;
    let operand = Operand::inside(storage, Dtype::Float32, Layout::contiguous(&shape));
    let across = t.layout().ndim() - if rows { 1 } else { 2 };
    let [depth, count] = [along, across].map(|d| t.layout().shape[d] as usize);
    let [depth_stride, stride] = [along, across].map(|d| t.layout().strides[d] as isize);
    let each = depth.div_ceil(2) * count;
    let batch = &shape[..shape.len() - 2];
    for i in 0..batch.iter().product::<i64>() as usize {
        let (mut rest, mut offset) = (i as i64, 0);
        for d in (0..batch.len()).rev() {
            offset += rest % batch[d] * t.layout().strides[d];
            rest /= batch[d];
        }
        let data = t.first().cast::<half::bf16>().wrapping_offset(offset as isize);
        let to = operand.first().cast::<Pair>().wrapping_add(i * each);
        // SAFETY: the layout was checked against its storage, and the copy is new.
        unsafe { pair_up(to, rows, Unpaired { data, depth, depth_stride, count, stride }) };
    }
    Ok(operand)
}

/// Returns the layout of pairs if these exist in memory: two neighbours, the first at an even offset.
fn halved(layout: &Layout, along: usize) -> Option<Layout> {
    let even = |x: i64| x % 2 == 0;
    if layout.strides[along] != 1 || !even(layout.shape[along]) || !even(layout.offset) {
        return None;
    }
    let mut halved = layout.clone();
    halved.offset /= 2;
    halved.shape[along] /= 2;
    let others = (0..layout.ndim()).filter(|&d| d != along);
    halved.strides = Dims::from(layout.strides.as_slice());
    for d in others {
        if layout.shape[d] > 1 && !even(layout.strides[d]) {
            return None;
        }
        halved.strides[d] /= 2;
    }
    Some(halved)
}
