//! Devices: where tensors are stored, and the GPUs of the machine.

use crate::api::table::table;
use crate::backend;
use crate::device::{self, Device, TH_CPU, TH_CUDA, THCudaMemory, THDeviceType};
use crate::driver::{Driver, Handle};
use crate::error::{Result, bail};
use crate::ops::{copy, create, device as ops, placement};
use std::ffi::{CStr, c_int};

/// Returns the device with this kind and this number.
fn device(kind: THDeviceType, index: c_int) -> Result<Device> {
    match (kind, i8::try_from(index)) {
        (TH_CPU, Ok(0)) => Ok(Device::Cpu),
        (TH_CUDA, Ok(index)) if index >= 0 => Ok(Device::Cuda(index)),
        (TH_CPU | TH_CUDA, _) => bail!(Argument, "there is no device {index} of kind {kind}"),
        _ => bail!(Argument, "{kind} is no kind of device"),
    }
}

/// Returns the driver of an available GPU.
fn gpu(index: c_int) -> Result<&'static dyn Driver> {
    backend::driver(device(TH_CUDA, index)?)
}

fn memory_of([free_bytes, total_bytes, live_bytes, cached_bytes, peak_bytes]: [i64; 5]) -> THCudaMemory {
    THCudaMemory { free_bytes, total_bytes, live_bytes, cached_bytes, peak_bytes }
}

/// Returns the checked number of another GPU.
fn peer_of(index: c_int) -> Result<i8> {
    match device(TH_CUDA, index)? {
        Device::Cuda(index) => Ok(index),
        other => bail!(Argument, "{other} is no GPU"),
    }
}

macro_rules! device_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Returns a row-major tensor with undefined elements on a device; `ndim` 0 makes a scalar. Returns a new reference.
            newWithSizesOn(dtype: dtype, deviceType: device_type, deviceIndex: int, ndim: len, size: sizes) -> new =
                create::empty_on(self::device(deviceType, deviceIndex)?, dtype, size);
            /// Returns a tensor over memory of a device, as `THTensor_newFromBlob`; `data` is an address on that device. Work that others
            /// have queued on the GPU must be complete, or the thread's stream must wait for it. Returns a new reference.
            newFromBlobOn(dtype: dtype, deviceType: device_type, deviceIndex: int, ndim: len, size: sizes, stride: optional_strides,
                data: memory, deleter: deleter, context: context) -> new = {
                let device = self::device(deviceType, deviceIndex)?;
                backend::check(device)?;
                // SAFETY: the caller passes memory of these sizes and strides on this device, valid until the deleter is called.
                unsafe { create::from_blob(device, dtype, size, stride, data, deleter, context) }
            };
            /// Returns the elements of `t` on a device, as `dtype`, or in their own dtype with `TH_UNDEFINED`. The result is `t` itself if
            /// it already has this device and dtype and `copy` is 0, else a copy, which is row-major on another device. Returns a new
            /// reference.
            ///
            /// With `nonBlocking` the copy may be made after the call has returned. For a copy from the host this requires that `t` is
            /// pinned; its elements must not change until the stream has made the copy. The result of a copy to the host is pinned, and may
            /// be read after waiting for the stream.
            newToDevice(t: input, deviceType: device_type, deviceIndex: int, dtype: optional_dtype, nonBlocking: flag, copy: flag) -> new =
                placement::converted_to(t, self::device(deviceType, deviceIndex)?, dtype, !nonBlocking, copy);
            /// Returns `t` itself if it is stored on the GPU with this number, else a row-major copy there. Returns a new reference.
            newCuda(t: input, deviceIndex: int) -> new = placement::on(t, self::device(TH_CUDA, deviceIndex)?);
            /// Returns `t` itself if it is stored on the host, else a row-major copy there. Returns a new reference.
            newCpu(t: input) -> new = ops::to_device(t, Device::Cpu);
            /// Returns 1 if the elements are in the memory of a GPU; 0 if not and on error.
            isCuda(t: input) -> flag = Ok(t.device() != Device::Cpu);
            /// `r = src` as by `THTensor_copy`, but the GPU may make the copy after the call has returned. It does so if one tensor is on a
            /// GPU, the other in pinned memory, and both are row-major and have the same dtype and shape. Do not change or resize either
            /// tensor until the thread's stream has made the copy.
            copyAsync(r: out, src: input) = copy::copy_now_or_later(r, src, false);
            /// Returns a row-major copy of `t` in pinned memory of the host. Copies between pinned memory and GPUs are faster and can run
            /// while the host continues. Returns a new reference.
            newPinned(t: input) -> new = placement::pinned(t);
            /// Returns 1 if the elements are in pinned memory of the host; 0 if not and on error.
            isPinned(t: input) -> flag = Ok(placement::is_pinned(t));
            /// Declares that work of `stream` uses a tensor made by another stream. When the last reference is gone, the memory is reused
            /// only after all work that `stream` has at that time. Call this before the last reference is gone.
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
    //! A tensor is stored in the memory of the host or of a GPU, and an operation runs on the device of its tensors, regardless of the
    //! thread's default device. Fresh results are made on that device, too. All tensors of a call must be on one device, with one
    //! exception: a 0-d tensor on the host may be an operand of an elementwise operation on a GPU. `THTensor_copy` copies between devices,
    //! and no function does so implicitly.
    //!
    //! NVIDIA's driver is opened as the loader finds it. NVRTC compiles kernels when they are first needed. It is searched for in the
    //! folders that `TH_CUDA_LIBRARIES` lists, separated by colons, in the loader's path, in `CUDA_PATH`, `CUDA_HOME` and
    //! `/usr/local/cuda`, and in the packages of a virtual environment. The library uses the newest NVRTC whose major version is not above
    //! the driver's. Compiled kernels are cached in files in `TH_CUDA_CACHE`, else in `thorn/kernels` in `XDG_CACHE_HOME` or `~/.cache`; an
    //! empty `TH_CUDA_CACHE` disables the cache. Cached kernels run without NVRTC. cuBLAS, which is searched for in the same way, computes
    //! matrix products of floats. Without cuBLAS, or with `TH_CUDA_BLAS` set to 0, the library's own kernels compute them.
    //!
    //! A GPU does its work in order, after the call that asked for the work has returned. Functions that read elements, such as
    //! `THTensor_item` and copies to the host, wait for the work. `THTensor_data` returns an address on the GPU without waiting.
    //!
    //! Errors: `TH_ERR_DEVICE`, operands on different devices, or an operation that GPUs do not support; `TH_ERR_CUDA`, no driver, no GPU
    //! with this number, no compiler for kernels, or a failure of one of them; `TH_ERR_NOMEM`, the memory of the GPU is full.
    use super::*;
    device_functions!(table);
    pub(crate) use device_functions as functions;
}

macro_rules! default_functions {
    ($do:ident) => {
        $do! { "";
            /// Sets the device on which this thread makes tensors when neither an argument nor an operand determines one. It is initially
            /// the host.
            THSetDefaultDevice(deviceType: device_type, deviceIndex: int) = {
                let chosen = self::device(deviceType, deviceIndex)?;
                backend::check(chosen)?;
                Ok(device::set_current(chosen))
            };
            /// Returns the kind of the thread's default device.
            THGetDefaultDeviceType() -> device_type = Ok(c_int::from(device::current().codes().0));
            /// Returns the number of the thread's default device among the devices of its kind.
            THGetDefaultDeviceIndex() -> int = Ok(c_int::from(device::current().codes().1));
            /// Returns the number of GPUs. If there are none, returns 0, and the error's message says what is missing.
            THCuda_deviceCount() -> int = backend::count();
            /// Returns the name of a GPU, as given by its driver. The result is a C string that the caller frees with `THFree`; NULL on
            /// error.
            THCuda_newDeviceName(deviceIndex: int) -> new_text = {
                let name = gpu(deviceIndex)?.properties()?.name.map(|c| c as u8);
                let name = CStr::from_bytes_until_nul(&name).map(CStr::to_string_lossy).unwrap_or_default();
                let mut text = crate::alloc::HeapText::with_capacity(name.len() as i64)?;
                text.push(&name)?;
                Ok(text.into_c_string())
            };
            /// Stores the properties of a GPU in `properties`.
            THCuda_properties(deviceIndex: int, properties: cuda_properties_out) = {
                let found = gpu(deviceIndex)?.properties()?;
                // SAFETY: the caller passes a pointer to memory for one struct.
                Ok(unsafe { properties.write(found) })
            };
            /// Allows, or with 0 forbids, that GPUs round the factors of float32 matrix products to TF32. TF32 has 10 bits after the
            /// leading bit, so that each product has a relative error of 2^-10; sums remain float32. Products are several times faster on
            /// GPUs that have TF32. The setting applies to all threads, and to products computed by cuBLAS, but never to decompositions. It
            /// is initially off.
            THCuda_setAllowTF32(allow: flag) = Ok(device::allow_tf32(allow));
            /// Returns 1 if GPUs may round the factors of float32 matrix products to TF32; 0 if not.
            THCuda_getAllowTF32() -> flag = Ok(device::tf32_allowed());
            /// Waits until a GPU has completed all work of this process.
            THCuda_synchronize(deviceIndex: int) = gpu(deviceIndex)?.synchronize();
            /// Stores the memory usage of a GPU in `memory`.
            THCuda_memory(deviceIndex: int, memory: cuda_memory_out) =
                // SAFETY: the caller passes a pointer to memory for one struct.
                Ok(unsafe { memory.write(memory_of(gpu(deviceIndex)?.memory()?)) });
            /// Stores the usage of pinned host memory in `memory`. The free and total bytes describe the whole memory of the machine.
            THCuda_pinnedMemory(memory: cuda_memory_out) =
                // SAFETY: the caller passes a pointer to memory for one struct.
                Ok(unsafe { memory.write(memory_of(gpu(0)?.pinned_memory()?)) });
            /// Returns cached memory of a GPU, and cached pinned memory of the host, to the driver.
            THCuda_emptyCache(deviceIndex: int) = gpu(deviceIndex)?.empty_cache();
            /// Returns 1 if a GPU can access the memory of GPU `peer`; 0 if not and on error.
            THCuda_canAccessPeer(deviceIndex: int, peer: int) -> flag = gpu(deviceIndex)?.can_reach(peer_of(peer)?);
            /// Enables access of a GPU to the memory of GPU `peer` if `on` is 1, and disables it if `on` is 0. Copies between GPUs do not
            /// need this access, but are faster with it.
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
