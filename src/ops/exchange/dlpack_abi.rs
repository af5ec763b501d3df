//! The binary interface of DLPack 1: the structs and codes of its specification.
#![allow(non_upper_case_globals)]

use std::ffi::c_void;

/// A kind of device.
pub type DLDeviceType = i32;

/// The memory of the host.
pub const kDLCPU: DLDeviceType = 1;
/// The memory of a GPU with CUDA.
pub const kDLCUDA: DLDeviceType = 2;
/// Memory of the host that CUDA has pinned.
pub const kDLCUDAHost: DLDeviceType = 3;

/// Signed integers.
pub const kDLInt: u8 = 0;
/// Unsigned integers.
pub const kDLUInt: u8 = 1;
/// IEEE 754 floats.
pub const kDLFloat: u8 = 2;
/// The upper halves of float32.
pub const kDLBfloat: u8 = 4;
/// Truth values, one byte each.
pub const kDLBool: u8 = 6;

/// The version that thorn writes. Structs of another major version have another layout.
pub const DLPACK_MAJOR_VERSION: u32 = 1;
/// Minor versions add codes.
pub const DLPACK_MINOR_VERSION: u32 = 3;

/// The consumer must not write the elements.
pub const DLPACK_FLAG_BITMASK_READ_ONLY: u64 = 1;
/// The producer has made a copy for the consumer.
pub const DLPACK_FLAG_BITMASK_IS_COPIED: u64 = 2;

/// A version of DLPack: `DLPACK_MAJOR_VERSION` and `DLPACK_MINOR_VERSION`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLPackVersion {
    /// Another one means another layout.
    pub major: u32,
    /// Another one means more codes.
    pub minor: u32,
}

/// A device.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLDevice {
    /// Its kind.
    pub device_type: DLDeviceType,
    /// Its number; 0 for the host.
    pub device_id: i32,
}

/// An element type.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLDataType {
    /// `kDLInt`, `kDLUInt`, `kDLFloat`, `kDLBfloat`, `kDLBool`, or one that thorn has no dtype for.
    pub code: u8,
    /// Bits of a number.
    pub bits: u8,
    /// Numbers of an element; thorn has 1.
    pub lanes: u16,
}

/// A strided tensor.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLTensor {
    /// The memory; the first element lies `byte_offset` bytes behind.
    pub data: *mut c_void,
    /// Where the memory is.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Element type.
    pub dtype: DLDataType,
    /// `ndim` sizes.
    pub shape: *mut i64,
    /// `ndim` strides, in elements; NULL for row-major.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor on its way from a producer to a consumer, as it was before version 1.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The producer's own.
    pub manager_ctx: *mut c_void,
    /// Called once by the consumer when it no longer needs the tensor; may be NULL.
    pub deleter: Option<unsafe extern "C" fn(tensor: *mut DLManagedTensor)>,
}

/// A tensor on its way from a producer to a consumer.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// Fields behind `deleter` have this layout only where the major version is `DLPACK_MAJOR_VERSION`.
    pub version: DLPackVersion,
    /// The producer's own.
    pub manager_ctx: *mut c_void,
    /// Called once by the consumer when it no longer needs the tensor; may be NULL.
    pub deleter: Option<unsafe extern "C" fn(tensor: *mut DLManagedTensorVersioned)>,
    /// `DLPACK_FLAG_BITMASK_READ_ONLY`, `DLPACK_FLAG_BITMASK_IS_COPIED`.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(DLTensor, device) == 8 && offset_of!(DLTensor, ndim) == 16 && offset_of!(DLTensor, dtype) == 20);
    assert!(offset_of!(DLTensor, shape) == 24 && offset_of!(DLTensor, strides) == 32 && offset_of!(DLTensor, byte_offset) == 40);
    assert!(size_of::<DLTensor>() == 48 && size_of::<DLManagedTensor>() == 64);
    assert!(offset_of!(DLManagedTensor, manager_ctx) == 48 && offset_of!(DLManagedTensor, deleter) == 56);
    assert!(offset_of!(DLManagedTensorVersioned, manager_ctx) == 8 && offset_of!(DLManagedTensorVersioned, deleter) == 16);
    assert!(offset_of!(DLManagedTensorVersioned, flags) == 24 && offset_of!(DLManagedTensorVersioned, dl_tensor) == 32);
    assert!(size_of::<DLManagedTensorVersioned>() == 80);
};
