//! Where elements live, and where new ones are made.

use crate::mode;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Code of a kind of device in the C API; the values are DLPack's.
pub type THDeviceType = i32;

/// Host memory.
pub const TH_CPU: THDeviceType = 1;
/// NVIDIA GPU memory.
pub const TH_CUDA: THDeviceType = 2;

/// Bytes of the memory of a GPU.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct THCudaMemory {
    /// Free, for all processes.
    pub free_bytes: i64,
    /// All there are.
    pub total_bytes: i64,
    /// In storages of this process.
    pub live_bytes: i64,
    /// Kept by this process for new storages.
    pub cached_bytes: i64,
    /// The most that ever were in storages.
    pub peak_bytes: i64,
}

/// A device: host memory or a numbered GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// Host memory.
    Cpu,
    /// The GPU with this ordinal.
    Cuda(i8),
    /// No device: the work that is launched on it is noted, and nothing is computed (`launch::record`).
    Recorder,
}

/// Code of [`Device::Recorder`] in handles, which no caller sees.
const RECORDER: i8 = i8::MAX;

impl Device {
    /// The device written as type and index, as handles carry it; anything unknown reads as the host.
    pub fn from_codes(kind: i8, index: i8) -> Device {
        match kind {
            RECORDER => Device::Recorder,
            _ if i32::from(kind) == TH_CUDA => Device::Cuda(index),
            _ => Device::Cpu,
        }
    }

    /// Type and index as handles carry them.
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

/// True if GPUs may round float32 to TF32 in products.
static TF32: AtomicBool = AtomicBool::new(false);

/// Returns true if GPUs may round factors in float32 to TF32, 10 bits behind the leading one, in products.
pub fn tf32_allowed() -> bool {
    TF32.load(Ordering::Relaxed)
}

/// Sets [`tf32_allowed`], for all threads.
pub fn allow_tf32(allowed: bool) {
    TF32.store(allowed, Ordering::Relaxed);
}

thread_local! {
    /// Where this thread makes new memory if nothing else says where.
    static DEFAULT: Cell<Device> = const { Cell::new(Device::Cpu) };
}

/// Returns true if a tensor may lie elsewhere than on the host.
#[inline(always)]
pub fn is_used() -> bool {
    mode::word() & !mode::GRADIENTS != 0
}

/// The device on which this thread makes new memory.
#[inline(always)]
pub fn current() -> Device {
    if is_used() { DEFAULT.get() } else { Device::Cpu }
}

/// Makes [`is_used`] true where the device is a GPU.
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

/// New memory is made on a device until this is gone.
pub struct Making(Option<Device>);

impl Making {
    /// On this device.
    pub fn on(device: Device) -> Making {
        let before = current();
        if before == device {
            return Making(None);
        }
        if device == Device::Recorder {
            mode::begin_noting();
        }
        set_current(device);
        Making(Some(before))
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            if current() == Device::Recorder {
                mode::end_noting();
            }
            set_current(before);
        }
    }
}
