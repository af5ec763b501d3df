//! DLPack: tensors exported to other libraries and imported from them.

use super::dlpack_abi::*;
use super::unsigned::{Stored, Unsigned};
use crate::alloc;
use crate::backend;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Layout, MAX_DIMS, TH_PRESERVE_FORMAT, checked_numel, contiguous_strides};
use crate::operand::Operand;
use crate::ops::{copy, create};
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// A struct that passes a tensor from its producer to its consumer.
///
/// # Safety
/// If `check` succeeds, the fields that `tensor` and `read_only` read are valid.
pub unsafe trait Managed: Sized {
    /// A struct that passes a tensor of this library.
    fn around(tensor: DLTensor, deleter: unsafe extern "C" fn(*mut Self)) -> Self;
    /// Fails if the version does not guarantee the layout of the fields after the deleter.
    fn check(&self) -> Result<()>;
    /// The tensor.
    fn tensor(&self) -> &DLTensor;
    /// Returns true if the elements must not be written.
    fn read_only(&self) -> bool;
    /// The producer's function that releases the struct.
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
}

// SAFETY: all versions before 1 have this layout.
unsafe impl Managed for DLManagedTensor {
    fn around(dl_tensor: DLTensor, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        DLManagedTensor { dl_tensor, manager_ctx: null_mut(), deleter: Some(deleter) }
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn read_only(&self) -> bool {
        false
    }

    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}

// SAFETY: the specification fixes the offset of the version, which `check` reads.
unsafe impl Managed for DLManagedTensorVersioned {
    fn around(dl_tensor: DLTensor, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        let version = DLPackVersion { major: DLPACK_MAJOR_VERSION, minor: DLPACK_MINOR_VERSION };
        DLManagedTensorVersioned { version, manager_ctx: null_mut(), deleter: Some(deleter), flags: 0, dl_tensor }
    }

    fn check(&self) -> Result<()> {
        let DLPackVersion { major, minor } = self.version;
        if major != DLPACK_MAJOR_VERSION {
            bail!(Unsupported, "the tensor is one of DLPack {major}.{minor}: thorn reads version {DLPACK_MAJOR_VERSION}")
        }
        Ok(())
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn read_only(&self) -> bool {
        self.flags & DLPACK_FLAG_BITMASK_READ_ONLY != 0
    }

    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
}

/// An exported tensor: the consumer's struct and the data kept for it. Sizes and strides follow in the same block.
#[repr(C)]
struct Export<M> {
    managed: M,
    storage: Option<Storage>,
    bytes: usize,
}

/// A struct for a consumer, which shares the elements of `t` until it calls the deleter. From now on the storage cannot be resized.
pub fn export<M: Managed>(t: &Tensor) -> Result<*mut M> {
    let from = Operand::of(t)?;
    let ndim = from.layout().ndim();
    let bytes = size_of::<Export<M>>() + 2 * ndim * size_of::<i64>();
    let Some(block) = alloc::allocate(bytes) else { bail!(NoMem, "out of memory for a tensor of {ndim} dimensions") };
    // SAFETY: the block is new.
    let lent = from.storage.as_ref().map(Storage::lend).transpose().inspect_err(|_| unsafe { alloc::release(block, bytes) });
    let (storage, export) = (lent?, block.cast::<Export<M>>().as_ptr());
    // SAFETY: the block is new, aligned to 16, and has room for the struct, followed by sizes and strides.
    unsafe {
        let shape = export.add(1).cast::<i64>();
        let strides = shape.add(ndim);
        shape.copy_from_nonoverlapping(from.layout().shape.as_slice().as_ptr(), ndim);
        strides.copy_from_nonoverlapping(from.layout().strides.as_slice().as_ptr(), ndim);
        let (code, bits) = code_of(from.dtype);
        let tensor = DLTensor {
            data: from.first().cast(),
            device: device_of(from.device),
            ndim: ndim as i32,
            dtype: DLDataType { code, bits, lanes: 1 },
            shape,
            strides,
            byte_offset: 0,
        };
        export.write(Export { managed: M::around(tensor, end_export::<M>), storage, bytes });
    }
    Ok(export.cast())
}

unsafe extern "C" fn end_export<M>(managed: *mut M) {
    let Some(export) = NonNull::new(managed.cast::<Export<M>>()) else { return };
    // SAFETY: `export` made the block, which begins with the struct, and the consumer calls the deleter once.
    unsafe {
        let Export { storage, bytes, .. } = export.read();
        alloc::release(export.cast(), bytes);
        drop(storage);
    }
}

/// A tensor that shares the elements of a producer. The producer's deleter is called with the last reference. If the producer forbids
/// writing, the elements are copied. On failure the struct remains the caller's.
///
/// # Safety
/// The struct comes from a producer, and the memory that it describes is valid until the deleter is called.
pub unsafe fn import<M: Managed>(managed: *mut M) -> Result<Tensor> {
    // SAFETY: the caller promises this.
    let producer = unsafe { &*managed };
    producer.check()?;
    let stored = stored_as(producer.tensor().dtype)?;
    // SAFETY: the caller promises that the lists are valid.
    let (layout, data) = unsafe { read(producer.tensor(), stored.dtype()) }?;
    let DLDevice { device_type, device_id } = producer.tensor().device;
    let device = if device_type == kDLCUDA { Device::Cuda(i8::try_from(device_id).unwrap_or(-1)) } else { Device::Cpu };
    backend::check(device)?;
    let over = |deleter, context| {
        // SAFETY: the caller promises that the memory is valid, and `read` checked the layout.
        unsafe { create::from_blob(device, stored.dtype(), &layout.shape, Some(&layout.strides), data, deleter, context) }
    };
    if let Stored::Same(_) = stored
        && !producer.read_only()
    {
        return over(Some(end_import::<M>), managed.cast());
    }
    let borrowed = over(None, null_mut())?;
    let copied = match stored {
        Stored::Same(_) => copy::clone(&borrowed, TH_PRESERVE_FORMAT)?,
        Stored::Unsigned(unsigned) => unsigned.widened(&borrowed)?,
    };
    // SAFETY: the elements are copied, and nothing fails from here on.
    unsafe { end_import::<M>(null_mut(), managed.cast()) };
    Ok(copied)
}

unsafe extern "C" fn end_import<M: Managed>(_data: *mut c_void, managed: *mut c_void) {
    let managed = managed.cast::<M>();
    // SAFETY: `import` took over the struct, which its deleter releases.
    unsafe {
        if let Some(deleter) = (*managed).deleter() {
            deleter(managed)
        }
    }
}

/// The layout and the first element of a producer's tensor. Elements have the size of `dtype`.
///
/// # Safety
/// The lists have as many sizes and strides as the tensor says.
unsafe fn read(tensor: &DLTensor, dtype: Dtype) -> Result<(Layout, *mut c_void)> {
    let DLDevice { device_type, device_id } = tensor.device;
    if ![kDLCPU, kDLCUDAHost, kDLCUDA].contains(&device_type) {
        bail!(Device, "the tensor is on device {device_id} of type {device_type}, neither in the memory of the host nor of a GPU by CUDA")
    }
    let ndim = match usize::try_from(tensor.ndim) {
        Ok(ndim) if ndim <= MAX_DIMS => ndim,
        _ => bail!(Shape, "{} dimensions: expected 0 to {MAX_DIMS}", tensor.ndim),
    };
    if ndim > 0 && tensor.shape.is_null() {
        bail!(Argument, "the shape of {ndim} dimensions is NULL")
    }
    // SAFETY: the caller promises `ndim` numbers.
    let list = |at: *mut i64| if ndim == 0 { &[] } else { unsafe { std::slice::from_raw_parts(at, ndim) } };
    let shape = list(tensor.shape);
    let numel = checked_numel(shape)?;
    let mut strides = contiguous_strides(shape);
    if !tensor.strides.is_null() {
        for (d, &stride) in list(tensor.strides).iter().enumerate() {
            // The stride of a dimension with one entry has no meaning.
            if stride < 0 && shape[d] > 1 && numel > 0 {
                bail!(Unsupported, "stride {stride} of dimension {d} is negative: thorn has no such views, copy the tensor first")
            }
            strides[d] = if stride < 0 { strides[d] } else { stride };
        }
    }
    let layout = Layout { shape: shape.into(), strides, offset: 0 };
    if numel == 0 {
        return Ok((layout, null_mut()));
    }
    let offset = usize::try_from(tensor.byte_offset).ok();
    let bytes = layout.end().and_then(|end| end.checked_mul(dtype.size() as i64));
    let first = offset.and_then(|offset| tensor.data.addr().checked_add(offset));
    let end = first.zip(bytes).and_then(|(first, bytes)| first.checked_add(bytes as usize));
    if end.is_none() {
        let (shape, strides) = (layout.shape.as_slice(), layout.strides.as_slice());
        bail!(Shape, "shape {shape:?} with strides {strides:?} at byte {} reaches beyond all addresses", tensor.byte_offset)
    }
    if tensor.data.is_null() {
        bail!(Argument, "data is NULL for {numel} elements")
    }
    Ok((layout, tensor.data.wrapping_byte_add(offset.unwrap_or_default())))
}

fn device_of(device: Device) -> DLDevice {
    let (device_type, device_id) = device.codes();
    DLDevice { device_type: device_type.into(), device_id: device_id.into() }
}

/// DLPack's type code and the number of bits of a dtype.
fn code_of(dtype: Dtype) -> (u8, u8) {
    let code = match dtype {
        Dtype::Uint8 => kDLUInt,
        Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => kDLInt,
        Dtype::Float16 | Dtype::Float32 | Dtype::Float64 => kDLFloat,
        Dtype::Bfloat16 => kDLBfloat,
        Dtype::Bool => kDLBool,
    };
    (code, 8 * dtype.size() as u8)
}

/// The storage format of a producer's elements.
fn stored_as(DLDataType { code, bits, lanes }: DLDataType) -> Result<Stored> {
    let same = Dtype::ALL.iter().find(|&&dtype| code_of(dtype) == (code, bits)).map(|&dtype| Stored::Same(dtype));
    let unsigned = || Unsigned::ALL.into_iter().find(|of| (kDLUInt, 8 * of.stored().size() as u8) == (code, bits)).map(Stored::Unsigned);
    match same.or_else(unsigned) {
        Some(stored) if lanes == 1 => Ok(stored),
        _ => bail!(Dtype, "thorn has no dtype of code {code}, {bits} bits and {lanes} lanes"),
    }
}
