//! Where elements live.

/// Code of a kind of device in the C API; the values are DLPack's.
pub type THDeviceType = i32;

/// Host memory.
pub const TH_CPU: THDeviceType = 1;
/// NVIDIA GPU memory.
pub const TH_CUDA: THDeviceType = 2;

/// A device: host memory or a numbered GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// Host memory.
    Cpu,
    /// The GPU with this ordinal.
    Cuda(i8),
}

impl Device {
    /// The device written as type and index, as handles carry it; anything unknown reads as the host.
    pub fn from_codes(kind: i8, index: i8) -> Device {
        if i32::from(kind) == TH_CUDA { Device::Cuda(index) } else { Device::Cpu }
    }

    /// Type and index as handles carry them.
    pub fn codes(self) -> (i8, i8) {
        match self {
            Device::Cpu => (TH_CPU as i8, 0),
            Device::Cuda(index) => (TH_CUDA as i8, index),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}
