//! Handles of sparse tensors.

use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::refcount;
use crate::tensor::{THTensor, Tensor};
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

/// A sparse tensor: the positions of some entries, and their values. All others are 0. Read the fields freely, change them through
/// functions.
#[repr(C)]
#[derive(Debug)]
pub struct THSTensor {
    /// `nDimensionI` sizes of the sparse dimensions, then `nDimensionV` sizes of the dense ones.
    pub size: *mut i64,
    /// The number of entries.
    pub nnz: i64,
    /// The number of sparse dimensions, in which an entry has a position.
    pub nDimensionI: c_int,
    /// The number of dense dimensions, which an entry has itself.
    pub nDimensionV: c_int,
    /// Int64 [nDimensionI x nnz]: the position of each entry. NULL in compressed rows, and before the first write.
    pub indices: *mut THTensor,
    /// The entries: [nnz], and the dense sizes behind. NULL before the first write.
    pub values: *mut THTensor,
    /// Compressed rows: where each row starts among the entries, with their number at the end. NULL in other layouts.
    pub crow: *mut THTensor,
    /// Compressed rows: the column of each entry. NULL in other layouts.
    pub col: *mut THTensor,
    /// 1 if positions ascend in row-major order, each once.
    pub coalesced: c_int,
    /// References held; changed atomically by retain and free.
    pub refcount: c_int,
}

/// A handle in memory: the public fields, then thorn's own.
#[repr(C)]
struct Block {
    head: THSTensor,
    /// The sizes, where `size` points.
    size: UnsafeCell<Dims>,
}

/// One counted reference to a `THSTensor`. Never hands out `&mut THSTensor`: C may alias results and inputs.
#[derive(Debug)]
#[repr(transparent)]
pub struct Sparse(NonNull<THSTensor>);

// SAFETY: the count is atomic; access to the rest is the caller's to order, as the header says.
unsafe impl Send for Sparse {}
// SAFETY: as above.
unsafe impl Sync for Sparse {}

/// The places of the entries of a sparse tensor.
#[derive(Debug, Clone)]
pub enum Places {
    /// A position in each sparse dimension: int64 [sparse dimensions x entries].
    Coordinates(Tensor),
    /// A matrix by rows.
    Rows {
        /// Where each row starts among the entries.
        crow: Tensor,
        /// The column of each entry.
        col: Tensor,
    },
}

/// The contents of a sparse tensor.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Sizes of the sparse dimensions, then of the dense ones.
    pub size: Dims,
    /// The number of sparse dimensions.
    pub sparse: usize,
    /// Where the entries stand.
    pub places: Places,
    /// The entries.
    pub values: Tensor,
    /// True if positions ascend in row-major order, each once.
    pub coalesced: bool,
}

/// Takes over the reference at a field.
///
/// # Safety
/// The field holds NULL or a reference.
unsafe fn taken(field: *mut THTensor) -> Option<Tensor> {
    // SAFETY: the caller's.
    NonNull::new(field).map(|t| unsafe { Tensor::from_raw(t) })
}

/// Another reference to the tensor at a field.
///
/// # Safety
/// The field holds NULL or a reference.
unsafe fn shared(field: *mut THTensor) -> Option<Tensor> {
    // SAFETY: the caller's; the field's own reference stays.
    unsafe { taken(field) }.map(|t| Tensor::clone(&ManuallyDrop::new(t)))
}

impl Sparse {
    /// A fresh handle: no dtype, no sizes.
    pub fn fresh() -> Result<Sparse> {
        let head = THSTensor {
            size: null_mut(),
            nnz: 0,
            nDimensionI: 0,
            nDimensionV: 0,
            indices: null_mut(),
            values: null_mut(),
            crow: null_mut(),
            col: null_mut(),
            coalesced: 1,
            refcount: 1,
        };
        match alloc::boxed(Block { head, size: UnsafeCell::new(Dims::new()) }) {
            Some(made) => Ok(Sparse(NonNull::from(Box::leak(made)).cast())),
            None => bail!(NoMem, "out of memory for a sparse tensor"),
        }
    }

    /// A handle of these parts.
    pub fn new(parts: Parts) -> Result<Sparse> {
        let made = Sparse::fresh()?;
        made.set(parts);
        Ok(made)
    }

    /// The struct.
    pub fn as_ptr(&self) -> *mut THSTensor {
        self.0.as_ptr()
    }

    /// Gives the reference away to C.
    pub fn into_raw(self) -> *mut THSTensor {
        let raw = self.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// Takes over one reference held by `raw`.
    ///
    /// # Safety
    /// `raw` is a live handle and the reference the caller's to give.
    pub unsafe fn from_raw(raw: NonNull<THSTensor>) -> Sparse {
        Sparse(raw)
    }

    /// The values; `None` before the first write.
    pub fn values(&self) -> Option<Tensor> {
        // SAFETY: a live handle.
        unsafe { shared((*self.as_ptr()).values) }
    }

    /// The parts as the struct has them, which others may have changed.
    pub fn parts(&self) -> Result<Parts> {
        // SAFETY: a live handle, whose sizes lie in its own block.
        let (head, size) = unsafe { (&*self.as_ptr(), (*(*self.as_ptr().cast::<Block>()).size.get()).clone()) };
        // SAFETY: fields hold NULL or references.
        let (indices, values, crow, col) = unsafe { (shared(head.indices), shared(head.values), shared(head.crow), shared(head.col)) };
        let places = match (indices, crow, col) {
            (Some(indices), ..) => Places::Coordinates(indices),
            (None, Some(crow), Some(col)) => Places::Rows { crow, col },
            _ => bail!(Dtype, "a sparse operand has no elements yet: it is a fresh handle that nothing was written to"),
        };
        let Some(values) = values else { bail!(Shape, "a sparse operand has positions and no values") };
        let parts = Parts { size, sparse: head.nDimensionI.max(0) as usize, places, values, coalesced: head.coalesced != 0 };
        parts.check_shapes()?;
        Ok(parts)
    }

    /// Makes the handle one of these parts; nothing of it can fail.
    pub fn set(&self, parts: Parts) {
        let (sparse, dense) = (parts.sparse as c_int, (parts.size.len() - parts.sparse) as c_int);
        let (indices, crow, col) = match parts.places {
            Places::Coordinates(indices) => (indices.into_raw(), null_mut(), null_mut()),
            Places::Rows { crow, col } => (null_mut(), crow.into_raw(), col.into_raw()),
        };
        let nnz = parts.values.layout().map_or(0, |layout| layout.shape.first().copied().unwrap_or(0));
        // SAFETY: a live handle whose block is thorn's; what it held before is given up once the fields have been changed.
        let _before = unsafe {
            let head = self.as_ptr();
            let before = [(*head).indices, (*head).values, (*head).crow, (*head).col].map(|field| taken(field));
            let size = &mut *(*head.cast::<Block>()).size.get();
            *size = parts.size;
            (*head).size = size.as_mut_ptr();
            ((*head).nnz, (*head).nDimensionI, (*head).nDimensionV) = (nnz, sparse, dense);
            ((*head).indices, (*head).values, (*head).crow, (*head).col) = (indices, parts.values.into_raw(), crow, col);
            (*head).coalesced = parts.coalesced.into();
            before
        };
    }
}

impl Parts {
    /// The sizes of the dense dimensions.
    pub fn dense(&self) -> &[i64] {
        &self.size[self.sparse..]
    }

    /// The number of entries.
    pub fn nnz(&self) -> i64 {
        self.values.layout().map_or(0, |layout| layout.shape.first().copied().unwrap_or(0))
    }

    /// Fails unless positions and values have the shapes that go with the sizes.
    pub fn check_shapes(&self) -> Result<()> {
        let values = self.values.layout()?.shape;
        if self.sparse > self.size.len() || values.is_empty() || values[1..] != self.size[self.sparse..] {
            bail!(Shape, "values of shape {:?} for {} sparse of sizes {:?}", values.as_slice(), self.sparse, self.size.as_slice())
        }
        match &self.places {
            Places::Coordinates(indices) => {
                let shape = indices.layout()?.shape;
                if indices.dtype() != Some(Dtype::Int64) {
                    bail!(Dtype, "indices are int64, not {}", indices.defined()?)
                }
                if shape.as_slice() != [self.sparse as i64, values[0]] {
                    let expected = [self.sparse as i64, values[0]];
                    bail!(Shape, "indices have shape {:?}, expected {expected:?}", shape.as_slice())
                }
            }
            Places::Rows { crow, col } => {
                let (rows, entries) = (crow.layout()?.shape, col.layout()?.shape);
                if self.size.len() != 2
                    || self.sparse != 2
                    || self.size[0].checked_add(1).is_none_or(|n| rows.as_slice() != [n])
                    || entries.as_slice() != [values[0]]
                {
                    let (rows, entries) = (rows.as_slice(), entries.as_slice());
                    bail!(Shape, "crow {rows:?}, col {entries:?} and values {:?} for sizes {:?}", values.as_slice(), self.size.as_slice())
                }
            }
        }
        Ok(())
    }
}

impl Clone for Sparse {
    fn clone(&self) -> Sparse {
        // SAFETY: a live handle.
        unsafe { refcount::retain(&raw mut (*self.as_ptr()).refcount, true) };
        Sparse(self.0)
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // SAFETY: this reference is ours to give up; with the last one the block goes, and with it what its fields hold.
        unsafe {
            if refcount::release(&raw mut (*self.as_ptr()).refcount, true) {
                let head = self.as_ptr();
                drop([(*head).indices, (*head).values, (*head).crow, (*head).col].map(|field| taken(field)));
                drop(Box::from_raw(head.cast::<Block>()));
            }
        }
    }
}
