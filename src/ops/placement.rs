//! Tensors made from others elsewhere: on a device, in a dtype, in pinned memory.

use super::copy;
use super::device::{moved, storage_pinned};
use crate::backend;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{Layout, TH_PRESERVE_FORMAT};
use crate::tensor::Tensor;

/// The elements of `t` on a device, in a dtype: `t` itself if that is what it has, unless a copy is asked for. Without `waiting` a copy
/// from the host is made later if its memory is pinned, and one to the host is made later to pinned memory. A GPU converts, not the host.
pub fn converted_to(t: &Tensor, device: Device, dtype: Option<Dtype>, waiting: bool, copied: bool) -> Result<Tensor> {
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => t.defined()?,
    };
    if t.device() == device {
        let converted = copy::to_dtype(t, dtype)?;
        return if copied && converted.is(t) { copy::clone(t, TH_PRESERVE_FORMAT) } else { Ok(converted) };
    }
    backend::check(device)?;
    if device == Device::Cpu {
        return moved(&copy::to_dtype(t, dtype)?, device, waiting);
    }
    copy::to_dtype(&moved(t, device, waiting)?, dtype)
}

/// A copy of the elements in pinned memory of the host, row-major.
pub fn pinned(t: &Tensor) -> Result<Tensor> {
    let layout = Layout::contiguous(&t.layout()?.shape);
    let made = Tensor::with_layout(storage_pinned(t.defined()?, layout.numel())?, t.defined()?, &layout)?;
    copy::copy(&made, t)?;
    Ok(made)
}
