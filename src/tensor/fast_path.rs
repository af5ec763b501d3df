//! Tests of a tensor that copy no geometry. The fast paths of calls begin with them.

use super::{TH_TENSOR_SCALAR, Tensor};
use crate::device::TH_CPU;
use crate::dtype::Dtype;
use crate::layout::MAX_DIMS;

impl Tensor {
    /// Sizes and strides where they lie. The slices must not be kept: resizing any handle of the same tensor makes them invalid.
    #[inline(always)]
    pub(crate) fn peek(&self) -> (&[i64], &[i64]) {
        let n = self.ndim().min(MAX_DIMS);
        // SAFETY: `size` and `stride` hold nDimension entries; they are only replaced by `reserve_dims`.
        unsafe {
            let raw = self.as_ptr();
            if n == 0 || (*raw).size.is_null() || (*raw).stride.is_null() {
                return (&[], &[]);
            }
            (std::slice::from_raw_parts((*raw).size, n), std::slice::from_raw_parts((*raw).stride, n))
        }
    }

    /// Element type, first element, and number of elements from there to the end of the storage; in the host's memory only.
    #[inline(always)]
    pub(crate) fn memory(&self) -> Option<(Dtype, *mut u8, usize)> {
        let dtype = self.dtype()?;
        // SAFETY: a live tensor and a live storage.
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

    /// Address and number of the elements, if they are of this dtype, in the shape of `like`, row-major, and inside the storage.
    ///
    /// This is the fast path of a call: it reads each field once, and gives `None` for every case that needs more.
    #[inline(always)]
    pub fn flat_like(&self, dtype: Dtype, like: &Tensor) -> Option<(*mut u8, i64)> {
        // SAFETY: two live tensors, whose `size` and `stride` hold nDimension entries; a live storage.
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
            // A negative offset is a very large one.
            let inside = size >= numel as isize && (*raw).storageOffset as usize <= (size - numel as isize) as usize;
            if !inside || (*storage).dtype != dtype as u8 {
                return None;
            }
            Some(((*storage).data.cast::<u8>().offset((*raw).storageOffset * dtype.size() as isize), numel))
        }
    }
}
