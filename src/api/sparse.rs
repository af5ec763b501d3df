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

/// A sparse tensor: the positions and values of its entries. All other elements are 0. Fields may be read freely, and are changed through
/// functions only.
#[repr(C)]
#[derive(Debug)]
pub struct THSTensor {
    /// `nDimensionI` sizes of the sparse dimensions, then `nDimensionV` sizes of the dense ones.
    pub size: *mut i64,
    /// The number of entries.
    pub nnz: i64,
    /// The number of sparse dimensions, in which an entry has a position.
    pub nDimensionI: c_int,
    /// The number of dense dimensions, which each entry has.
    pub nDimensionV: c_int,
    /// Int64 [nDimensionI x nnz]: the position of each entry. NULL in compressed rows, and before the first write.
    pub indices: *mut THTensor,
    /// The entries: [nnz], and the dense sizes behind. NULL before the first write.
    pub values: *mut THTensor,
    /// Compressed rows: the start of each row among the entries, followed by the number of entries. NULL in other layouts.
    pub crow: *mut THTensor,
    /// Compressed rows: the column of each entry. NULL in other layouts.
    pub col: *mut THTensor,
    /// 1 if positions ascend in row-major order, each once.
    pub coalesced: c_int,
    /// The number of references; changed atomically by retain and free.
    pub refcount: c_int,
}

/// A handle in memory: the public fields, followed by private ones.
#[repr(C)]
struct Block {
    head: THSTensor,
    /// The sizes, where `size` points.
    size: UnsafeCell<Dims>,
}

/// One counted reference to a `THSTensor`. Never hands out `&mut THSTensor`, because C may alias results and inputs.
#[derive(Debug)]
#[repr(transparent)]
pub struct Sparse(NonNull<THSTensor>);

// SAFETY: the count is atomic. The header requires the caller to synchronise access to the other fields.
unsafe impl Send for Sparse {}
// SAFETY: as for `Send`.
unsafe impl Sync for Sparse {}

/// The positions of the entries of a sparse tensor.
#[derive(Debug, Clone)]
pub enum Places {
    /// A position in each sparse dimension: int64 [sparse dimensions x entries].
    Coordinates(Tensor),
    /// A matrix of compressed rows.
    Rows {
        /// The start of each row among the entries.
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
    /// The positions of the entries.
    pub places: Places,
    /// The entries.
    pub values: Tensor,
    /// True if positions ascend in row-major order, each once.
    pub coalesced: bool,
}

/// Takes over the reference in a field.
///
/// # Safety
/// The field holds NULL or a reference.
unsafe fn taken(field: *mut THTensor) -> Option<Tensor> {
    // SAFETY: the caller passes a field that holds NULL or a reference.
    NonNull::new(field).map(|t| unsafe { Tensor::from_raw(t) })
}

/// Returns another reference to the tensor in a field.
///
/// # Safety
/// The field holds NULL or a reference.
unsafe fn shared(field: *mut THTensor) -> Option<Tensor> {
    // SAFETY: the caller passes a field that holds NULL or a reference. `ManuallyDrop` keeps the field's own reference.
    unsafe { taken(field) }.map(|t| Tensor::clone(&ManuallyDrop::new(t)))
}

impl Sparse {
    /// Returns a fresh handle, without dtype and sizes.
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

    /// Returns a handle with these parts.
    pub fn new(parts: Parts) -> Result<Sparse> {
        let made = Sparse::fresh()?;
        made.set(parts);
        Ok(made)
    }

    /// Returns a pointer to the struct.
    pub fn as_ptr(&self) -> *mut THSTensor {
        self.0.as_ptr()
    }

    /// Passes the reference to C.
    pub fn into_raw(self) -> *mut THSTensor {
        let raw = self.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// Takes over one reference held by `raw`.
    ///
    /// # Safety
    /// `raw` is a live handle, and the caller owns the reference.
    pub unsafe fn from_raw(raw: NonNull<THSTensor>) -> Sparse {
        Sparse(raw)
    }

    /// The values; `None` before the first write.
    pub fn values(&self) -> Option<Tensor> {
        // SAFETY: the handle is live.
        unsafe { shared((*self.as_ptr()).values) }
    }

    /// Returns the parts of the struct, which C code may have changed.
    pub fn parts(&self) -> Result<Parts> {
        // SAFETY: the handle is live, and its block holds the sizes.
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

    /// Replaces the parts of the handle; this cannot fail.
    pub fn set(&self, parts: Parts) {
        let (sparse, dense) = (parts.sparse as c_int, (parts.size.len() - parts.sparse) as c_int);
        let (indices, crow, col) = match parts.places {
            Places::Coordinates(indices) => (indices.into_raw(), null_mut(), null_mut()),
            Places::Rows { crow, col } => (null_mut(), crow.into_raw(), col.into_raw()),
        };
        let nnz = parts.values.layout().map_or(0, |layout| layout.shape.first().copied().unwrap_or(0));
        // SAFETY: the handle is live and its block was made by `fresh`. Former references are dropped after the fields have changed.
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
    /// Returns the sizes of the dense dimensions.
    pub fn dense(&self) -> &[i64] {
        &self.size[self.sparse..]
    }

    /// The number of entries.
    pub fn nnz(&self) -> i64 {
        self.values.layout().map_or(0, |layout| layout.shape.first().copied().unwrap_or(0))
    }

    /// Fails unless positions and values have the shapes that fit the sizes.
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
        // SAFETY: the handle is live.
        unsafe { refcount::retain(&raw mut (*self.as_ptr()).refcount, true) };
        Sparse(self.0)
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        // SAFETY: `self` owns a reference. With the last reference the references in the fields and the block are freed.
        unsafe {
            if refcount::release(&raw mut (*self.as_ptr()).refcount, true) {
                let head = self.as_ptr();
                drop([(*head).indices, (*head).values, (*head).crow, (*head).col].map(|field| taken(field)));
                drop(Box::from_raw(head.cast::<Block>()));
            }
        }
    }
}
