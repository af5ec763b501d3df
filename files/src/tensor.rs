//! A tensor of a file: its name, its layout and the place of its elements.

use crate::error::{Error, Result};
use crate::grow;

/// A tensor.
#[derive(Debug)]
pub struct Tensor {
    /// The path to the tensor in the file, such as `model.layer.0.weight`. Empty if the file is one tensor.
    pub name: String,
    /// The sizes of the dimensions.
    pub sizes: Vec<i64>,
    /// The distances between neighbours along each dimension, in elements.
    pub strides: Vec<i64>,
    /// The index of the first element in the storage.
    pub offset: i64,
    /// The place of the elements.
    pub data: Data,
}

/// The place of a tensor's elements.
#[derive(Debug, Clone)]
pub enum Data {
    /// The elements are in the storage with this index.
    Storage(usize),
    /// The elements other than 0 are in the parts of the sparse tensor with this index.
    Sparse(usize),
    /// No [`Element`](crate::Element) describes the elements. Only their bytes can be read.
    Opaque(Opaque),
    /// The elements cannot be read, for this reason.
    Refused(String),
}

/// The bytes of elements whose type is no [`Element`](crate::Element).
#[derive(Debug, Clone)]
pub struct Opaque {
    /// The index of the storage that has the bytes, of [`Element::U8`](crate::Element::U8).
    pub storage: usize,
    /// The size of an element in bytes. 0 if elements share bytes: then the tensor is the whole storage.
    pub size: u64,
    /// The reason why the elements cannot be read.
    pub why: String,
}

impl Data {
    /// Returns the reason why the elements cannot be read; `None` if they can.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Data::Refused(why) | Data::Opaque(Opaque { why, .. }) => Some(why),
            Data::Storage(_) | Data::Sparse(_) => None,
        }
    }
}

impl Tensor {
    /// Returns a row-major tensor over a whole storage.
    pub fn row_major(name: String, sizes: Vec<i64>, storage: usize) -> Result<Tensor> {
        let strides = row_major_strides(&sizes)?;
        Ok(Tensor { name, sizes, strides, offset: 0, data: Data::Storage(storage) })
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> Result<u64> {
        count(&self.sizes)
    }
}

/// Returns the number of elements of a tensor with these sizes. Fails if a size is negative or the number exceeds 63 bits.
pub fn count(sizes: &[i64]) -> Result<u64> {
    if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
        return Err(Error::broken(format_args!("size {size} is negative")));
    }
    // A size of 0 counts as 1 here, because the strides of an empty tensor are products of its other sizes.
    let product = sizes.iter().try_fold(1i64, |count, &size| count.checked_mul(size.max(1)));
    let Some(count) = product else {
        return Err(Error::broken(format_args!(
            "sizes {sizes:?} have more than 2^63 elements{}",
            if sizes.contains(&0) { ", not counting sizes of 0" } else { "" }
        )));
    };
    Ok(if sizes.contains(&0) { 0 } else { count as u64 })
}

/// Returns the strides of a row-major tensor, whose last dimension is the innermost.
pub fn row_major_strides(sizes: &[i64]) -> Result<Vec<i64>> {
    let mut strides = grow::copy(sizes)?;
    let mut stride = 1i64;
    for (at, &size) in strides.iter_mut().zip(sizes).rev() {
        *at = stride;
        stride = stride.saturating_mul(size.max(1));
    }
    Ok(strides)
}

/// Returns the strides of a column-major tensor, whose first dimension is the innermost.
pub(crate) fn column_major_strides(sizes: &[i64]) -> Result<Vec<i64>> {
    let mut reversed = grow::copy(sizes)?;
    reversed.reverse();
    let mut strides = row_major_strides(&reversed)?;
    strides.reverse();
    Ok(strides)
}

/// The greatest number of dimensions of a tensor.
pub const MAX_DIMS: usize = 1024;
