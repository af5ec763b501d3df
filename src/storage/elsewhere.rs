//! Storages on other devices than the host.

use super::{OWNED, Storage, TH_STORAGE_REFCOUNTED, byte_count};
use crate::alloc::{self, THAllocator};
use crate::device::{self, Device};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// Allocates bytes on a device. Returns the address, and the allocator and context that free the memory.
pub type Provide = fn(Device, usize) -> Result<(*mut c_void, &'static THAllocator, *mut c_void)>;

static PROVIDE: OnceLock<Provide> = OnceLock::new();

/// Sets the function that allocates memory on other devices. Only the first call has an effect.
pub fn provide_by(provide: Provide) {
    alloc::fork::once(&PROVIDE, || provide);
}

impl Storage {
    /// Records that the memory of a storage is on `device`. The storage must be new, without other references.
    pub fn place_on(&self, device: Device) {
        device::use_of(device);
        // SAFETY: no one else has a reference to the storage.
        unsafe { ((*self.as_ptr()).deviceType, (*self.as_ptr()).deviceIndex) = device.codes() }
    }

    /// A storage of `len` elements with undefined values on a device.
    pub fn on(device: Device, dtype: Dtype, len: i64) -> Result<Storage> {
        if matches!(device, Device::Cpu | Device::Recorder) {
            let storage = Storage::on_host(dtype, len)?;
            // SAFETY: no one else has a reference to the new storage.
            unsafe { ((*storage.as_ptr()).deviceType, (*storage.as_ptr()).deviceIndex) = device.codes() };
            return Ok(storage);
        }
        let Some(provide) = PROVIDE.get() else { bail!(Device, "not available on {device}") };
        device::use_of(device);
        let bytes = byte_count(dtype, len)?;
        let storage = Storage::from_parts(dtype, null_mut(), len, TH_STORAGE_REFCOUNTED, null(), null_mut())?;
        let (data, allocator, context) = provide(device, bytes)?;
        // SAFETY: no one else has a reference to the new storage.
        unsafe {
            let raw = storage.as_ptr();
            ((*raw).data, (*raw).allocator, (*raw).allocatorContext) = (data, allocator, context);
            ((*raw).deviceType, (*raw).deviceIndex) = device.codes();
        }
        storage.set_flags(OWNED);
        alloc::adjust_live(bytes as isize);
        Ok(storage)
    }
}
