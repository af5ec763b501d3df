//! The devices that hold elements, and the current device of each thread.

use crate::mode;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The code of a kind of device in the C API; the values are the same as in DLPack.
pub type THDeviceType = i32;

/// Host memory.
pub const TH_CPU: THDeviceType = 1;
/// NVIDIA GPU memory.
pub const TH_CUDA: THDeviceType = 2;

/// Memory statistics of a GPU, in bytes.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct THCudaMemory {
    /// Free memory, for all processes.
    pub free_bytes: i64,
    /// The size of the memory.
    pub total_bytes: i64,
    /// Memory in storages of this process.
    pub live_bytes: i64,
    /// Memory that this process keeps for new storages.
    pub cached_bytes: i64,
    /// The greatest value of `live_bytes` so far.
    pub peak_bytes: i64,
}

/// A device: host memory or a numbered GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// Host memory.
    Cpu,
    /// The GPU with this ordinal.
    Cuda(i8),
    /// No device: work that is launched on it is recorded, and nothing is computed (`launch::record`).
    Recorder,
}

/// Code of [`Device::Recorder`] in handles. Callers never see it.
const RECORDER: i8 = i8::MAX;

impl Device {
    /// The device with this type and index, which are fields of handles. Unknown types mean the host.
    pub fn from_codes(kind: i8, index: i8) -> Device {
        match kind {
            RECORDER => Device::Recorder,
            _ if i32::from(kind) == TH_CUDA => Device::Cuda(index),
            _ => Device::Cpu,
        }
    }

    /// Type and index, as they are stored in handles.
    pub fn codes(self) -> (i8, i8) {
        match self {
            Device::Cpu => (TH_CPU as i8, 0),
            Device::Cuda(index) => (TH_CUDA as i8, index),
            Device::Recorder => (RECORDER, 0),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(index) => write!(f, "cuda:{index}"),
            Device::Recorder => f.write_str("a recorder"),
        }
    }
}

/// True if GPUs may round float32 factors to TF32 in products.
static TF32: AtomicBool = AtomicBool::new(false);

/// Returns true if GPUs may round float32 factors of products to TF32, which has 10 fraction bits.
pub fn tf32_allowed() -> bool {
    TF32.load(Ordering::Relaxed)
}

/// Sets [`tf32_allowed`], for all threads.
pub fn allow_tf32(allowed: bool) {
    TF32.store(allowed, Ordering::Relaxed);
}

thread_local! {
    /// The device on which this thread allocates new tensors by default.
    static DEFAULT: Cell<Device> = const { Cell::new(Device::Cpu) };
}

/// Returns true if tensors may be on other devices than the host.
#[inline(always)]
pub fn is_used() -> bool {
    mode::flags() & !mode::GRADIENTS != 0
}

/// The device on which this thread allocates new tensors.
#[inline(always)]
pub fn current() -> Device {
    if is_used() { DEFAULT.get() } else { Device::Cpu }
}

/// Makes [`is_used`] true if the device is a GPU.
#[inline(always)]
pub fn use_of(device: Device) {
    if matches!(device, Device::Cuda(_)) {
        mode::set(mode::GPUS);
    }
}

/// Sets [`current`].
pub fn set_current(device: Device) {
    use_of(device);
    DEFAULT.set(device);
}

/// A guard: until it is dropped, this thread allocates new tensors on a device.
pub struct DeviceGuard(Option<Device>);

impl DeviceGuard {
    /// Sets the current device of this thread.
    pub fn on(device: Device) -> DeviceGuard {
        let before = current();
        if before == device {
            return DeviceGuard(None);
        }
        if device == Device::Recorder {
            mode::begin_noting();
        }
        set_current(device);
        DeviceGuard(Some(before))
    }
}

impl Drop for DeviceGuard {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            if current() == Device::Recorder {
                mode::end_noting();
            }
            set_current(before);
        }
    }
}
