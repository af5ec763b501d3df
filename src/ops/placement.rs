//! Copies of tensors on another device, in another dtype, or in pinned memory.

use super::copy;
use super::device::{self, moved, to_device};
use crate::backend;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{Layout, TH_PRESERVE_FORMAT};
use crate::storage::Storage;
use crate::tensor::Tensor;

/// The elements of `t` on `device` and in `dtype`: `t` itself if both already match and `copied` is false. Without `waiting`, a copy from
/// pinned memory of the host may run later; so may a copy to the host, whose memory is then pinned. A GPU converts, not the host.
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

/// Returns `t` if it is on `device`, else a row-major copy there.
pub fn on(t: &Tensor, device: Device) -> Result<Tensor> {
    backend::check(device)?;
    to_device(t, device)
}

/// A storage in pinned memory of the host.
pub fn storage_pinned(dtype: Dtype, len: i64) -> Result<Storage> {
    backend::count()?;
    device::storage_pinned(dtype, len)
}

/// A row-major copy of `t` in pinned memory of the host.
pub fn pinned(t: &Tensor) -> Result<Tensor> {
    let layout = Layout::contiguous(&t.layout()?.shape);
    let made = Tensor::with_layout(storage_pinned(t.defined()?, layout.numel())?, t.defined()?, &layout)?;
    copy::copy(&made, t)?;
    Ok(made)
}

/// Returns true if the elements are in pinned memory of the host, allocated by this library or another.
pub fn is_pinned(t: &Tensor) -> bool {
    let on_host = t.device() == Device::Cpu && backend::count().is_ok();
    on_host && t.storage().is_some_and(|storage| backend::is_pinned(storage.data()))
}
