//! Operations on storages as vectors of elements.

use super::copy::check_range;
use super::device::{read_at, transfer, write_at};
use crate::backend::launch;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Convert;
use crate::layout::Layout;
use crate::operand::{Operand, check_host};
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;

fn element(storage: &Storage, index: i64) -> Result<(*mut u8, Dtype)> {
    if index < 0 || index >= storage.len() {
        bail!(Argument, "index {index} out of range for a storage of {} elements", storage.len())
    }
    Ok((storage.data().wrapping_add(index as usize * storage.dtype().size()), storage.dtype()))
}

/// Moves the storage of `t` to shared memory.
pub fn share(t: &Tensor) -> Result<()> {
    t.defined()?;
    check_host(t)?;
    match t.storage() {
        Some(storage) => storage.share(),
        None => bail!(Argument, "the tensor has no storage yet"),
    }
}

/// The element at `index`.
pub fn get(storage: &Storage, index: i64) -> Result<Scalar> {
    let (at, dtype) = element(storage, index)?;
    // SAFETY: `element` checked the index.
    unsafe { read_at(at, storage.device(), dtype) }
}

/// Sets the element at `index`.
pub fn set(storage: &Storage, index: i64, value: Scalar) -> Result<()> {
    let (at, dtype) = element(storage, index)?;
    check_range(dtype, value)?;
    // SAFETY: `element` checked the index.
    unsafe { write_at(at, storage.device(), dtype, value) }
}

/// A storage with the given elements.
pub fn with_values(dtype: Dtype, values: &[Scalar]) -> Result<Storage> {
    let storage = Storage::with_size(dtype, values.len() as i64)?;
    for (i, &value) in values.iter().enumerate() {
        set(&storage, i as i64, value)?;
    }
    Ok(storage)
}

/// A storage of int64 with the given elements.
pub fn with_sizes(sizes: &[i64]) -> Result<Storage> {
    let storage = Storage::with_size(Dtype::Int64, sizes.len() as i64)?;
    for (i, &n) in sizes.iter().enumerate() {
        set(&storage, i as i64, n.into())?;
    }
    Ok(storage)
}

/// Sets every element to `value`.
pub fn fill(storage: &Storage, value: Scalar) -> Result<()> {
    if storage.is_empty() {
        return Ok(());
    }
    super::copy::fill(&super::view::with_whole_storage(storage)?, value)
}

/// `dst = src`, converted. Both must have the same number of elements.
pub fn copy(dst: &Storage, src: &Storage) -> Result<()> {
    if dst.len() != src.len() {
        bail!(Shape, "storages of {} and {} elements", dst.len(), src.len())
    }
    if dst.is_empty() || dst.as_ptr() == src.as_ptr() {
        return Ok(());
    }
    let (to, from) = (super::view::with_whole_storage(dst)?, super::view::with_whole_storage(src)?);
    super::copy::copy(&to, &from)
}

/// Copies elements of the storage's dtype from host memory at `src`.
///
/// # Safety
/// `src` must hold as many elements as the storage.
pub unsafe fn raw_copy(dst: &Storage, src: *const u8) -> Result<()> {
    if dst.is_empty() {
        return Ok(());
    }
    if src.is_null() {
        bail!(Argument, "src is NULL for {} elements", dst.len())
    }
    let bytes = dst.bytes();
    if dst.device() != Device::Cpu {
        // SAFETY: the caller vouches for `src`.
        return unsafe { transfer((dst.data(), dst.device()), (src, Device::Cpu), bytes) };
    }
    let overlap = (src as usize) < dst.data() as usize + bytes && (dst.data() as usize) < src as usize + bytes;
    // SAFETY: the caller vouches for `src`.
    unsafe {
        if overlap {
            std::ptr::copy(src, dst.data(), bytes);
            return Ok(());
        }
        let row = Layout::contiguous(&[bytes as i64]);
        let to = Operand::inside(dst.clone(), Dtype::Uint8, row.clone());
        launch(&Convert, &to, &[&Operand::of_memory(src.cast_mut(), Dtype::Uint8, row)])
    }
}
