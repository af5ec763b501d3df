//! Operands: where tensors are taken, their device and bounds are checked.

use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Fails unless a tensor that has elements has them in the host's memory.
pub fn check_host(t: &Tensor) -> Result<()> {
    match t.device() {
        Device::Cpu => Ok(()),
        _ if t.dtype().is_none() => Ok(()),
        other => bail!(Device, "not available on {other}"),
    }
}

/// An operand that may be read: inside its storage, with a geometry of its own.
pub struct Operand {
    /// Keeps the elements alive when the tensor is a result too and gets new memory.
    pub storage: Option<Storage>,
    storage_data: *mut u8,
    /// Its element type.
    pub dtype: Dtype,
    /// Its geometry, broadcast or not.
    pub layout: Layout,
}

impl Operand {
    /// Checks that every element of `t` lies inside its storage, and that this is in the host's memory.
    pub fn of(t: &Tensor) -> Result<Operand> {
        Operand::with(t, t.defined()?, t.layout()?)
    }

    /// [`Operand::of`] for a tensor whose dtype and layout are known.
    pub fn with(t: &Tensor, dtype: Dtype, layout: Layout) -> Result<Operand> {
        check_host(t)?;
        t.check_bounds(&layout)?;
        let storage_data = t.data().wrapping_offset(-(layout.offset as isize * dtype.size() as isize));
        Ok(Operand { storage: t.storage(), storage_data, dtype, layout })
    }

    /// A layout that lies inside `storage`.
    pub fn inside(storage: Storage, dtype: Dtype, layout: Layout) -> Operand {
        let storage_data = storage.data();
        Operand { storage: Some(storage), storage_data, dtype, layout }
    }

    /// The address of the first element.
    pub fn first(&self) -> *mut u8 {
        self.first_of(&self.layout)
    }

    /// The address of the first element of another layout of the same storage.
    pub fn first_of(&self, layout: &Layout) -> *mut u8 {
        self.storage_data.wrapping_offset(layout.offset as isize * self.dtype.size() as isize)
    }

    /// First byte and one past the last.
    pub fn span(&self) -> (usize, usize) {
        let start = self.first() as usize;
        let end = self.layout.end().unwrap_or(0);
        if end == 0 { (start, start) } else { (start, start + (end - self.layout.offset) as usize * self.dtype.size()) }
    }

    /// True if the spans of two operands have bytes in common.
    pub fn overlaps(&self, other: &Operand) -> bool {
        let ((a, b), (c, d)) = (self.span(), other.span());
        a < d && c < b
    }

    /// True if each element lies where the element of `other` at the same place lies.
    pub fn in_step_with(&self, other: &Operand) -> bool {
        let same = self.dtype.size() == other.dtype.size() && self.layout.strides == other.layout.strides;
        same && self.layout.shape == other.layout.shape && self.first() == other.first()
    }

    /// True if the operand's storage has bytes in common with `own`.
    pub fn lies_in(&self, own: &Storage) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.overlaps(own))
    }
}

/// The dtype that all operands have.
pub fn one_dtype(tensors: &[&Tensor]) -> Result<Dtype> {
    let dtype = tensors[0].defined()?;
    tensors[1..].iter().try_for_each(|other| same_dtype(dtype, other))?;
    Ok(dtype)
}

/// Fails where a tensor has another dtype.
pub fn same_dtype(dtype: Dtype, other: &Tensor) -> Result<()> {
    match other.defined()? {
        same if same == dtype => Ok(()),
        other => bail!(Dtype, "expected tensors of one dtype, got {dtype} and {other}"),
    }
}
