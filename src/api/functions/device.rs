//! Devices: where tensors lie, and what there is of GPUs.

use crate::api::table::table;
use crate::backend;
use crate::device::{self, Device, TH_CPU, TH_CUDA, THCudaMemory, THDeviceType};
use crate::driver::{Driver, Handle};
use crate::error::{Result, bail};
use crate::ops::{copy, create, device as ops, placement};
use std::ffi::{CStr, c_int};

/// The device that two numbers of C mean.
fn device(kind: THDeviceType, index: c_int) -> Result<Device> {
    match (kind, i8::try_from(index)) {
        (TH_CPU, Ok(0)) => Ok(Device::Cpu),
        (TH_CUDA, Ok(index)) if index >= 0 => Ok(Device::Cuda(index)),
        (TH_CPU | TH_CUDA, _) => bail!(Argument, "there is no device {index} of kind {kind}"),
        _ => bail!(Argument, "{kind} is no kind of device"),
    }
}

/// The driver of a GPU that is there.
fn gpu(index: c_int) -> Result<&'static dyn Driver> {
    backend::driver(device(TH_CUDA, index)?)
}

fn memory_of([free_bytes, total_bytes, live_bytes, cached_bytes, peak_bytes]: [i64; 5]) -> THCudaMemory {
    THCudaMemory { free_bytes, total_bytes, live_bytes, cached_bytes, peak_bytes }
}

/// The number of another GPU.
fn peer_of(index: c_int) -> Result<i8> {
    match device(TH_CUDA, index)? {
        Device::Cuda(index) => Ok(index),
        other => bail!(Argument, "{other} is no GPU"),
    }
}

macro_rules! device_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// A row-major tensor with undefined elements on a device; `ndim` 0 makes a scalar. Returns a new reference.
            newWithSizesOn(dtype: dtype, deviceType: device_type, deviceIndex: int, ndim: len, size: sizes) -> new =
                create::empty_on(self::device(deviceType, deviceIndex)?, dtype, size);
            /// As `THTensor_newFromBlob`, over memory of a device: `data` is an address there. Work that others gave to the GPU must have been
            /// done, or the thread's stream must wait for it. Returns a new reference.
            newFromBlobOn(dtype: dtype, deviceType: device_type, deviceIndex: int, ndim: len, size: sizes, stride: optional_strides,
                data: memory, deleter: deleter, context: context) -> new = {
                let device = self::device(deviceType, deviceIndex)?;
                backend::check(device)?;
                // SAFETY: the caller vouches for `data`.
                unsafe { create::from_blob(device, dtype, size, stride, data, deleter, context) }
            };
            /// The elements of `t` on a device, in `dtype`, or their own with `TH_UNDEFINED`: `t` itself if that is what it has and `copy` is
            /// 0, else a copy, row-major on another device. With `nonBlocking` the copy may be made after this has returned: from the host if
            /// `t` is pinned, whose elements then must stay as they are until the stream has done it, and to the host, where the result is
            /// pinned and may be read once the stream has been waited for. Returns a new reference.
            newToDevice(t: input, deviceType: device_type, deviceIndex: int, dtype: optional_dtype, nonBlocking: flag, copy: flag) -> new =
                placement::converted_to(t, self::device(deviceType, deviceIndex)?, dtype, !nonBlocking, copy);
            /// `t` itself if it lies on the GPU with this number, else a row-major copy there. Returns a new reference.
            newCuda(t: input, deviceIndex: int) -> new = placement::on(t, self::device(TH_CUDA, deviceIndex)?);
            /// `t` itself if the host has its elements, else a row-major copy. Returns a new reference.
            newCpu(t: input) -> new = ops::to_device(t, Device::Cpu);
            /// 1 if the elements lie in the memory of a GPU; 0 if not and on error.
            isCuda(t: input) -> flag = Ok(t.device() != Device::Cpu);
            /// `r = src` as `THTensor_copy` does it, but where one of them lies on a GPU, the other one in pinned memory, and both are
            /// row-major and of one dtype and shape, the copy is made by the GPU after this has returned. Both must stay as they are until the
            /// thread's stream has done it.
            copyAsync(r: out, src: input) = copy::copy_now_or_later(r, src, false);
            /// A row-major copy of `t` in pinned memory of the host, from and to which GPUs copy while the host goes on, and faster. Returns a
            /// new reference.
            newPinned(t: input) -> new = placement::pinned(t);
            /// 1 if the elements lie in pinned memory of the host; 0 if not and on error.
            isPinned(t: input) -> flag = Ok(placement::is_pinned(t));
            /// Says that work of `stream` reaches a tensor that another stream has made: once its last reference is gone, its memory serves
            /// new tensors only after the work that `stream` has by then. To be said before that.
            recordStream(t: input, stream: cuda_stream) = match t.storage() {
                Some(storage) if t.device() == stream.device() => stream.driver().used_in(storage.data(), stream.raw()),
                _ => bail!(Device, "the tensor is on {}, the stream on {}", t.device(), stream.device()),
            };
        }
    };
}

pub mod tensors {
    //! Devices.
    //!
    //! A tensor lies in the memory of the host or of a GPU, and an operation runs where its tensors lie, whichever device is the thread's
    //! default. Results of fresh handles are made there too. All tensors of a call lie on one device, but for numbers: a 0-d tensor of the
    //! host may be an operand of an elementwise operation. `THTensor_copy` copies between devices, and nothing else does so unasked.
    //!
    //! NVIDIA's driver is opened where the loader finds it. NVRTC compiles kernels when they are first needed. It is looked for in the
    //! folders that `TH_CUDA_LIBRARIES` lists, separated by colons, where the loader finds libraries, in `CUDA_PATH`, `CUDA_HOME`,
    //! `/usr/local/cuda`, and in the packages of a virtual environment. The newest one is used whose major version is not above the
    //! driver's. Compiled kernels are kept in files in `TH_CUDA_CACHE`, else `thorn/kernels` in `XDG_CACHE_HOME` or `~/.cache`; an empty
    //! `TH_CUDA_CACHE` keeps none. Kernels in files run without NVRTC. cuBLAS, which is looked for in the same way, computes matrix
    //! products of floats. Without it, or with 0 in `TH_CUDA_BLAS`, the library's own kernels do.
    //!
    //! A GPU does its work after the call that asked for it has returned, in order. What reads elements, `THTensor_item` or a copy to the
    //! host, waits for it; `THTensor_data` is an address of the GPU, which waits for nothing.
    //!
    //! Errors: `TH_ERR_DEVICE`, operands on different devices, and an operation that a GPU does not have; `TH_ERR_CUDA`, no driver, no GPU
    //! with this number, no compiler of kernels, or one of them failed; `TH_ERR_NOMEM`, the memory of the GPU is full.
    use super::*;
    device_functions!(table);
    pub(crate) use device_functions as functions;
}

macro_rules! default_functions {
    ($do:ident) => {
        $do! { "";
            /// Sets the device on which this thread makes tensors where neither an argument nor an operand says one: the host at start.
            THSetDefaultDevice(deviceType: device_type, deviceIndex: int) = {
                let chosen = self::device(deviceType, deviceIndex)?;
                backend::check(chosen)?;
                Ok(device::set_current(chosen))
            };
            /// The kind of the thread's default device.
            THGetDefaultDeviceType() -> device_type = Ok(c_int::from(device::current().codes().0));
            /// The number of the thread's default device among those of its kind.
            THGetDefaultDeviceIndex() -> int = Ok(c_int::from(device::current().codes().1));
            /// The number of GPUs; 0 and an error that says what is missing where there is none.
            THCuda_deviceCount() -> int = backend::count();
            /// The name of a GPU, as its driver has it. A C string that the caller frees with `THFree`; NULL on error.
            THCuda_newDeviceName(deviceIndex: int) -> new_text = {
                let name = gpu(deviceIndex)?.properties()?.name.map(|c| c as u8);
                let name = CStr::from_bytes_until_nul(&name).map(CStr::to_string_lossy).unwrap_or_default();
                let mut text = crate::alloc::HeapText::with_capacity(name.len() as i64)?;
                text.push(&name)?;
                Ok(text.into_c_string())
            };
            /// Stores what a GPU is in `properties`.
            THCuda_properties(deviceIndex: int, properties: cuda_properties_out) = {
                let found = gpu(deviceIndex)?.properties()?;
                // SAFETY: the caller passes room for the struct.
                Ok(unsafe { properties.write(found) })
            };
            /// Allows, or with 0 forbids, that matrix products in float32 round their factors to TF32 on GPUs that have it: 10 bits behind the
            /// leading one, so that each product has a relative error of 2^-10, at several times the speed; sums are float32's. It holds for
            /// all threads and for cuBLAS alone, for decompositions never, and is forbidden at start.
            THCuda_setAllowTF32(allow: flag) = Ok(device::allow_tf32(allow));
            /// 1 if matrix products in float32 may round their factors to TF32 on GPUs; 0 if not.
            THCuda_getAllowTF32() -> flag = Ok(device::tf32_allowed());
            /// Waits until a GPU has done all work of this process.
            THCuda_synchronize(deviceIndex: int) = gpu(deviceIndex)?.synchronize();
            /// Stores how much memory a GPU has in `memory`.
            THCuda_memory(deviceIndex: int, memory: cuda_memory_out) =
                // SAFETY: the caller passes room for the struct.
                Ok(unsafe { memory.write(memory_of(gpu(deviceIndex)?.memory()?)) });
            /// Stores how much pinned memory of the host there is in `memory`. Its free and total bytes are those of the machine.
            THCuda_pinnedMemory(memory: cuda_memory_out) =
                // SAFETY: the caller passes room for the struct.
                Ok(unsafe { memory.write(memory_of(gpu(0)?.pinned_memory()?)) });
            /// Gives the memory of a GPU, and the pinned memory of the host, that is kept for new storages back to the driver.
            THCuda_emptyCache(deviceIndex: int) = gpu(deviceIndex)?.empty_cache();
            /// 1 if a GPU can reach the memory of GPU `peer`; 0 if not and on error.
            THCuda_canAccessPeer(deviceIndex: int, peer: int) -> flag = gpu(deviceIndex)?.can_reach(peer_of(peer)?);
            /// Lets a GPU reach the memory of GPU `peer` if `on` is 1, and no longer if it is 0. Copies between GPUs need no such access, and
            /// are faster with it.
            THCuda_setPeerAccess(deviceIndex: int, peer: int, on: flag) = gpu(deviceIndex)?.reach(peer_of(peer)?, on);
        }
    };
}

pub mod defaults {
    //! Devices.
    use super::*;
    default_functions!(table);
    pub(crate) use default_functions as functions;
}
