//! Creation of tensors.

use super::device::transfer;
use super::result::{Inputs, Writes, ready};
use super::{copy, view};
use crate::alloc::THDeleter;
use crate::backend;
use crate::device::{Device, DeviceGuard};
use crate::dtype::{Dtype, default_dtype};
use crate::error::{Result, bail};
use crate::layout::{Layout, TH_PRESERVE_FORMAT, THMemoryFormat, checked_numel, contiguous_strides, format_strides};
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::ffi::c_void;

/// A tensor with undefined elements in `format`.
pub fn empty(dtype: Dtype, shape: &[i64], format: THMemoryFormat) -> Result<Tensor> {
    checked_numel(shape)?;
    Tensor::empty_strided(dtype, shape, &format_strides(shape, format, None)?)
}

/// A row-major tensor with undefined elements on a device.
pub fn empty_on(device: Device, dtype: Dtype, shape: &[i64]) -> Result<Tensor> {
    backend::check(device)?;
    let _there = DeviceGuard::on(device);
    Tensor::empty(dtype, shape)
}

/// A tensor with undefined elements and given strides. A negative stride is an error.
pub fn with_strides(dtype: Dtype, shape: &[i64], strides: &[i64]) -> Result<Tensor> {
    checked_numel(shape)?;
    if let Some(d) = strides.iter().position(|&s| s < 0) {
        bail!(Argument, "stride {} of dimension {d} is negative", strides[d])
    }
    Tensor::empty_strided(dtype, shape, strides)
}

/// A tensor whose elements are all `value`.
pub fn full(dtype: Dtype, shape: &[i64], value: Scalar) -> Result<Tensor> {
    let t = Tensor::empty(dtype, shape)?;
    copy::fill(&t, value)?;
    Ok(t)
}

/// A dense tensor with the shape and dtype of `t` and undefined elements.
pub fn empty_like(t: &Tensor) -> Result<Tensor> {
    let layout = t.layout()?;
    let strides = format_strides(&layout.shape, TH_PRESERVE_FORMAT, Some(&layout))?;
    Tensor::empty_strided(t.defined()?, &layout.shape, &strides)
}

/// A dense tensor with the shape and dtype of `t`, whose elements are all `value`.
pub fn full_like(t: &Tensor, value: Scalar) -> Result<Tensor> {
    let like = empty_like(t)?;
    copy::fill(&like, value)?;
    Ok(like)
}

/// A 0-d tensor.
pub fn scalar(dtype: Dtype, value: Scalar) -> Result<Tensor> {
    full(dtype, &[], value)
}

/// Fills `r` with `value` in this shape. A fresh `r` gets the default dtype.
pub fn fill_shape(r: &Tensor, shape: &[i64], value: Scalar) -> Result<()> {
    filled(r, default_dtype(), shape, value)
}

/// Fills `r` with `value` in the shape of `t`. A fresh `r` gets the dtype of `t` and, if they are dense, its strides.
pub fn fill_like(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    let dtype = t.defined()?;
    match r.dtype() {
        None => view::set(r, &full_like(t, value)?),
        Some(_) => filled(r, dtype, &t.layout()?.shape, value),
    }
}

/// Fills `r` with `value` in this shape. The value is converted to the dtype of `r`, as by `fill`. A fresh `r` gets the dtype `fresh`.
fn filled(r: &Tensor, fresh: Dtype, shape: &[i64], value: Scalar) -> Result<()> {
    let dtype = r.dtype().unwrap_or(fresh);
    copy::check_range(dtype, value)?;
    if r.flat_like(dtype, r).is_some() && r.peek().0 == shape {
        return copy::fill(r, value);
    }
    ready(r, (dtype, shape), Writes::STRIDED, Inputs::NONE)?.write(|to| copy::fill_part(to, to.layout(), value))
}

/// A tensor with a copy of row-major elements at `data`.
///
/// # Safety
/// `data` must hold the elements of `shape`.
pub unsafe fn from_data(dtype: Dtype, shape: &[i64], data: *const c_void) -> Result<Tensor> {
    let numel = checked_numel(shape)?;
    if data.is_null() && numel > 0 {
        bail!(Argument, "data is NULL for {numel} elements")
    }
    let t = Tensor::empty(dtype, shape)?;
    // SAFETY: the caller vouches for `data`; the tensor is new and row-major.
    unsafe { transfer((t.data(), t.device()), (data.cast(), Device::Cpu), numel as usize * dtype.size())? };
    Ok(t)
}

/// A tensor over the caller's memory on a device. `deleter(data, context)` is called once when the last view is gone.
///
/// # Safety
/// `data` must hold every element of the geometry until the deleter runs.
pub unsafe fn from_blob(
    device: Device,
    dtype: Dtype,
    shape: &[i64],
    strides: Option<&[i64]>,
    data: *mut c_void,
    deleter: THDeleter,
    context: *mut c_void,
) -> Result<Tensor> {
    checked_numel(shape)?;
    let layout = Layout { shape: shape.into(), strides: strides.map_or_else(|| contiguous_strides(shape), Into::into), offset: 0 };
    if let Some(d) = layout.strides.iter().position(|&s| s < 0) {
        bail!(Argument, "stride {} of dimension {d} is negative", layout.strides[d])
    }
    let Some(end) = layout.end() else { bail!(Shape, "shape {shape:?} with strides {:?} overflows", layout.strides.as_slice()) };
    let t = Tensor::fresh()?;
    t.set_dims(&layout.shape, &layout.strides)?;
    // SAFETY: the caller vouches for `data`. This step is the last that may fail, because a failed call must not run the deleter.
    let storage = unsafe { Storage::from_blob(dtype, data, end, deleter, context) }?;
    storage.place_on(device);
    t.set_elements(storage, dtype, 0);
    Ok(t)
}
