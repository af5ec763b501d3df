//! The way back: where a call fails, its results are what they were.

use super::Tensor;
use crate::error::Result;
use crate::layout::Dims;
use crate::storage::Storage;
use std::ffi::{c_char, c_int};
use std::ptr::{NonNull, null_mut};

impl Tensor {
    /// Runs `work`; where it fails, the tensors are what they were before, but for elements written.
    pub fn or_restored<T>(tensors: [Option<&Tensor>; 2], work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = tensors.map(|t| t.map(|t| (t, Before::of(t))));
        work().inspect_err(|_| before.into_iter().flatten().for_each(|(t, before)| before.restore(t)))
    }
}

/// What a handle says, to go back to.
struct Before {
    dims: (Dims, Dims),
    storage: Option<Storage>,
    offset: isize,
    dtype: u8,
    device: (i8, i8),
    flag: c_char,
}

impl Before {
    fn of(t: &Tensor) -> Before {
        // SAFETY: a live tensor.
        let head = unsafe { &*t.as_ptr() };
        let device = (head.deviceType, head.deviceIndex);
        Before { dims: t.dims(), storage: t.storage(), offset: head.storageOffset, dtype: head.dtype, device, flag: head.flag }
    }

    fn restore(self, t: &Tensor) {
        // SAFETY: a live tensor, whose arrays have room for the dims they held before; its reference to the storage is replaced by ours.
        unsafe {
            let raw = t.as_ptr();
            let (shape, strides) = &self.dims;
            std::ptr::copy_nonoverlapping(shape.as_ptr(), (*raw).size, shape.len());
            std::ptr::copy_nonoverlapping(strides.as_ptr(), (*raw).stride, strides.len());
            ((*raw).nDimension, (*raw).flag) = (shape.len() as c_int, self.flag);
            ((*raw).storageOffset, (*raw).dtype) = (self.offset, self.dtype);
            ((*raw).deviceType, (*raw).deviceIndex) = self.device;
            let old = std::mem::replace(&mut (*raw).storage, self.storage.map_or(null_mut(), Storage::into_raw));
            drop(NonNull::new(old).map(|old| Storage::from_raw(old)));
        }
    }
}
