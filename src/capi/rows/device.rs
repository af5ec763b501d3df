//! Devices: where tensors lie, and what there is of GPUs.

use crate::backend;
use crate::capi::face::row::export;
use crate::device::{self, Device, TH_CPU, TH_CUDA, THCudaMemory, THDeviceType};
use crate::error::{Result, bail};
use crate::ops::{create, device as ops};
use std::ffi::c_int;

/// The device that two numbers of C mean.
fn device(kind: THDeviceType, index: c_int) -> Result<Device> {
    match (kind, i8::try_from(index)) {
        (TH_CPU, Ok(0)) => Ok(Device::Cpu),
        (TH_CUDA, Ok(index)) if index >= 0 => Ok(Device::Cuda(index)),
        (TH_CPU | TH_CUDA, _) => bail!(Argument, "there is no device {index} of kind {kind}"),
        _ => bail!(Argument, "{kind} is no kind of device"),
    }
}

/// A GPU that is there.
fn gpu(index: c_int) -> Result<Device> {
    let device = device(TH_CUDA, index)?;
    backend::check(device)?;
    Ok(device)
}

macro_rules! device_rows {
    ($face:ident $($to:tt)*) => { $face! { $($to)*
        /// A row-major tensor with undefined elements on a device; `ndim` 0 makes a scalar. Returns a new reference.
        newWithSizesOn(dtype: dtype, deviceType: device_type, deviceIndex: int, ndim: len, size: sizes) -> new =
            create::empty_on(self::device(deviceType, deviceIndex)?, dtype, size);
        /// The elements of `t` on a device: `t` itself if they lie there, else a row-major copy. Returns a new reference.
        newToDevice(t: input, deviceType: device_type, deviceIndex: int) -> new =
            ops::to_device(t, self::device(deviceType, deviceIndex)?);
        /// `THTensor_newToDevice` to the GPU with this number. Returns a new reference.
        newCuda(t: input, deviceIndex: int) -> new = ops::to_device(t, self::device(TH_CUDA, deviceIndex)?);
        /// `THTensor_newToDevice` to the host. Returns a new reference.
        newCpu(t: input) -> new = ops::to_device(t, Device::Cpu);
        /// 1 if the elements lie in the memory of a GPU; 0 if not and on error.
        isCuda(t: input) -> flag = Ok(t.device() != Device::Cpu);
    } };
}

pub mod tensors {
    //! Devices.
    //!
    //! A tensor lies in the memory of the host or of a GPU, and an operation runs where its tensors lie, whichever device is the thread's
    //! default. Results of fresh handles are made there too. All tensors of a call lie on one device, but for numbers: a 0-d tensor of the
    //! host may be an operand of an elementwise operation. `THTensor_copy` copies between devices, and nothing else does so unasked.
    //!
    //! NVIDIA's driver and NVRTC, which compiles kernels when they are first needed, are looked for where the loader finds libraries, in
    //! `TH_CUDA_LIBRARIES`, `CUDA_PATH`, `CUDA_HOME`, `/usr/local/cuda`, and in the packages of a virtual environment. Compiled kernels are
    //! kept in files in `TH_CUDA_CACHE`, else `thorn/kernels` in `XDG_CACHE_HOME` or `~/.cache`; an empty `TH_CUDA_CACHE` keeps none.
    //! Matrix products of floats are cuBLAS's where it is found, in the same places, and the library's own kernels' else, or with 0 in
    //! `TH_CUDA_BLAS`.
    //!
    //! A GPU does its work after the call that asked for it has returned, in order. What reads elements, `THTensor_item` or a copy to the
    //! host, waits for it; `THTensor_data` is an address of the GPU, which waits for nothing.
    //!
    //! Errors: `TH_ERR_DEVICE`, operands on different devices, and an operation that a GPU does not have; `TH_ERR_CUDA`, no driver, no GPU
    //! with this number, no compiler of kernels, or one of them failed; `TH_ERR_NOMEM`, the memory of the GPU is full.
    use super::*;
    device_rows!(export "THTensor_";);
}

macro_rules! default_rows {
    ($face:ident $($to:tt)*) => { $face! { $($to)*
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
            let name = backend::on(gpu(deviceIndex)?).name()?;
            let mut text = crate::alloc::HeapText::with_capacity(name.len() as i64)?;
            text.push(&name)?;
            Ok(text.into_c_string())
        };
        /// Allows, or with 0 forbids, that matrix products in float32 round their factors to TF32 on GPUs that have it: 10 bits behind the
        /// leading one, so that each product has a relative error of 2^-10, at several times the speed; sums are float32's. It holds for
        /// all threads and for cuBLAS alone, for decompositions never, and is forbidden at start.
        THCuda_setAllowTF32(allow: flag) = Ok(device::allow_tf32(allow));
        /// 1 if matrix products in float32 may round their factors to TF32 on GPUs; 0 if not.
        THCuda_getAllowTF32() -> flag = Ok(device::tf32_allowed());
        /// Waits until a GPU has done all work of this process.
        THCuda_synchronize(deviceIndex: int) = backend::on(gpu(deviceIndex)?).synchronize();
        /// Stores how much memory a GPU has in `memory`.
        THCuda_memory(deviceIndex: int, memory: cuda_memory_out) = {
            let [free_bytes, total_bytes, live_bytes, cached_bytes, peak_bytes] = backend::on(gpu(deviceIndex)?).memory()?;
            // SAFETY: the caller passes room for the struct.
            Ok(unsafe { memory.write(THCudaMemory { free_bytes, total_bytes, live_bytes, cached_bytes, peak_bytes }) })
        };
        /// Gives the memory of a GPU that is kept for new storages back to the driver.
        THCuda_emptyCache(deviceIndex: int) = backend::on(gpu(deviceIndex)?).empty_cache();
    } };
}

pub mod defaults {
    //! Devices.
    use super::*;
    default_rows!(export "";);
}
