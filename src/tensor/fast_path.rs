//! Checks of a tensor that do not copy its geometry. Fast paths start with them.

use super::{TH_TENSOR_SCALAR, Tensor};
use crate::device::TH_CPU;
use crate::dtype::Dtype;
use crate::layout::MAX_DIMS;

impl Tensor {
    /// Borrowed sizes and strides. The slices must not be kept: resizing the handle, also through another reference, invalidates them.
    #[inline(always)]
    pub(crate) fn peek(&self) -> (&[i64], &[i64]) {
        let n = self.ndim().min(MAX_DIMS);
        // SAFETY: `size` and `stride` hold nDimension entries; only `take_memory` and `reset` replace them.
        unsafe {
            let raw = self.as_ptr();
            if n == 0 || (*raw).size.is_null() || (*raw).stride.is_null() {
                return (&[], &[]);
            }
            (std::slice::from_raw_parts((*raw).size, n), std::slice::from_raw_parts((*raw).stride, n))
        }
    }

    /// True for a fresh result: a handle of the host without a storage. Its dtype is this one or is not chosen yet.
    #[inline(always)]
    pub fn is_unused(&self, dtype: Dtype) -> bool {
        // SAFETY: the tensor is live.
        let (own, device, storage) = unsafe {
            let raw = self.as_ptr();
            ((*raw).dtype, (*raw).deviceType, (*raw).storage)
        };
        storage.is_null() && i32::from(device) == TH_CPU && (own == 0 || own == dtype as u8)
    }

    /// The number of elements from the first one to the last one, gaps included. `None` for a tensor without elements, or if the number of
    /// elements or their distance overflows.
    #[inline(always)]
    pub(crate) fn reach(&self) -> Option<usize> {
        let (shape, strides) = self.peek();
        let (mut numel, mut reach) = (self.has_sizes() as i64, 1i64);
        for d in 0..shape.len().min(strides.len()) {
            if shape[d] <= 0 || strides[d] < 0 {
                return None;
            }
            numel = numel.checked_mul(shape[d])?;
            reach = reach.checked_add((shape[d] - 1).checked_mul(strides[d])?)?;
        }
        (numel > 0).then_some(reach as usize)
    }

    /// Element type, address of the first element, and number of elements from there to the end of the storage. `None` unless the memory is
    /// the host's and the storage has the tensor's dtype.
    #[inline(always)]
    pub(crate) fn memory(&self) -> Option<(Dtype, *mut u8, usize)> {
        let dtype = self.dtype()?;
        // SAFETY: the tensor is live, and so is its storage unless it is NULL, which is checked.
        unsafe {
            let raw = self.as_ptr();
            let storage = (*raw).storage;
            if i32::from((*raw).deviceType) != TH_CPU || storage.is_null() || (*storage).dtype != dtype as u8 {
                return None;
            }
            let first = usize::try_from((*raw).storageOffset).ok()?;
            let capacity = usize::try_from((*storage).size).ok()?.checked_sub(first)?;
            Some((dtype, (*storage).data.cast::<u8>().wrapping_add(first * dtype.size()), capacity))
        }
    }

    /// Address and number of the elements if they are on the host, have this dtype and the shape of `like`, are row-major, and are inside
    /// the storage. `None` also for tensors without elements.
    ///
    /// This is the first check of every fast path. It reads each field once, and returns `None` if anything needs more work.
    #[inline(always)]
    pub fn flat_like(&self, dtype: Dtype, like: &Tensor) -> Option<(*mut u8, i64)> {
        // SAFETY: both tensors are live, and so is the storage. `size` and `stride` hold nDimension entries.
        unsafe {
            let (raw, like) = (self.as_ptr(), like.as_ptr());
            let ndim = (*raw).nDimension;
            let here = (*raw).dtype == dtype as u8 && i32::from((*raw).deviceType) == TH_CPU;
            if !here || ndim != (*like).nDimension || ndim as usize > MAX_DIMS || (*raw).storage.is_null() {
                return None;
            }
            if ndim > 0 && ((*raw).size.is_null() || (*raw).stride.is_null() || (*like).size.is_null()) {
                return None;
            }
            if ndim == 0 && (*raw).flag & (*like).flag & TH_TENSOR_SCALAR == 0 {
                return None;
            }
            let mut numel = 1i64;
            for d in (0..ndim as usize).rev() {
                let n = (*raw).size.add(d).read();
                if n <= 0 || n != (*like).size.add(d).read() || (n != 1 && (*raw).stride.add(d).read() != numel) {
                    return None;
                }
                numel = numel.checked_mul(n)?;
            }
            let storage = (*raw).storage;
            let size = (*storage).size;
            // As an unsigned number, a negative offset is larger than any size.
            let inside = size >= numel as isize && (*raw).storageOffset as usize <= (size - numel as isize) as usize;
            if !inside || (*storage).dtype != dtype as u8 {
                return None;
            }
            Some(((*storage).data.cast::<u8>().offset((*raw).storageOffset * dtype.size() as isize), numel))
        }
    }
}
