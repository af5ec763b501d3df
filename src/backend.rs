//! The one door to devices.

use crate::alloc::THAllocator;
#[cfg(feature = "cuda")]
use crate::alloc::fork;
use crate::cpu::host;
use crate::device::Device;
use crate::driver::Driver;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Absent, Accelerator, Draw, Launchable, Recorder, Unique};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::random::Generator;
use crate::scalar::Scalar;
#[cfg(feature = "cuda")]
use crate::storage;
use std::sync::OnceLock;

/// What the library has for GPUs. It is reached by [`CUDA`] alone, so that a program which makes nothing on a GPU is linked without it.
struct Cuda {
    gpu: fn(i8) -> &'static dyn Accelerator,
    pinned: &'static THAllocator,
    is_pinned: fn(usize) -> bool,
}

/// Set before there is memory on a GPU, or pinned memory.
static CUDA: OnceLock<Cuda> = OnceLock::new();

/// A GPU before any was asked for.
static ABSENT: [Absent; 128] = {
    let mut all = [const { Absent::new(0) }; 128];
    let mut k = 0;
    while k < all.len() {
        all[k] = Absent::new(k as i8);
        k += 1;
    }
    all
};

/// A device: its memory and its kernels. The host's functions are called by name, so that a linker sees which ones a program reaches.
#[derive(Clone, Copy)]
pub enum Backend {
    /// The host.
    Host,
    /// Any other.
    Other(&'static dyn Accelerator),
}

/// The backend of a device.
pub fn on(device: Device) -> Backend {
    match device {
        Device::Cpu => Backend::Host,
        Device::Cuda(k) => Backend::Other(CUDA.get().map_or(&ABSENT[k.max(0) as usize], |cuda| (cuda.gpu)(k))),
        Device::Recorder => Backend::Other(&Recorder),
    }
}

/// The number of GPUs.
pub fn count() -> Result<i32> {
    #[cfg(feature = "cuda")]
    {
        let count = crate::cuda::devices()?;
        fork::once(&CUDA, || Cuda { gpu: crate::cuda::numbered, pinned: &crate::cuda::PINNED, is_pinned: crate::cuda::is_pinned });
        storage::provide_by(crate::cuda::provide);
        Ok(count)
    }
    #[cfg(not(feature = "cuda"))]
    bail!(Cuda, "the library was built without CUDA")
}

/// Fails unless the device is there; its memory is to be had then.
pub fn check(device: Device) -> Result<()> {
    match device {
        Device::Cpu | Device::Recorder => Ok(()),
        #[cfg(feature = "cuda")]
        Device::Cuda(k) => count().and_then(|_| crate::cuda::gpu(k)).map(drop),
        #[cfg(not(feature = "cuda"))]
        Device::Cuda(_) => bail!(Cuda, "{device} is not available: the library was built without CUDA"),
    }
}

/// The driver of a GPU that is there.
pub fn driver(device: Device) -> Result<&'static dyn Driver> {
    check(device)?;
    match on(device) {
        Backend::Host => bail!(Device, "the host is no GPU"),
        Backend::Other(accelerator) => accelerator.driver(),
    }
}

/// A new stream of a GPU, to which this thread's work goes. The stream of before is the thread's again at the end.
pub struct Aside {
    driver: &'static dyn Driver,
    before: usize,
    stream: usize,
}

impl Aside {
    /// On this device.
    pub fn on(device: Device) -> Result<Aside> {
        let driver = driver(device)?;
        let aside = Aside { driver, before: driver.current(), stream: driver.make_stream(0)? };
        driver.set_current(aside.stream).map(|()| aside)
    }

    /// Waits until the work of the new stream has been done.
    pub fn wait(&self) -> Result<()> {
        self.driver.wait(self.stream)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = self.driver.set_current(self.before);
        self.driver.end_stream(self.stream);
    }
}

/// The allocator of pinned memory of the host, which GPUs copy from and to while the host goes on; [`count`] says first that there are
/// GPUs.
pub fn pinned() -> Result<&'static THAllocator> {
    match CUDA.get() {
        Some(cuda) => Ok(cuda.pinned),
        None => bail!(Cuda, "there is no pinned memory before a GPU is used"),
    }
}

/// Returns true if an address of the host is in pinned memory; [`count`] says first that there are GPUs.
pub fn is_pinned(at: *const u8) -> bool {
    CUDA.get().is_some_and(|cuda| (cuda.is_pinned)(at as usize))
}

/// The backend of the device that holds all operands; an error where there are several.
pub fn of<'a>(operands: impl Iterator<Item = &'a Operand>) -> Result<Backend> {
    let mut devices = operands.map(|operand| operand.device);
    let first = devices.next().unwrap_or(Device::Cpu);
    if let Some(other) = devices.find(|&device| device != first) {
        bail!(Device, "expected tensors on one device, got {first} and {other}")
    }
    Ok(on(first))
}

/// Does work with one result on the device that holds the operands.
pub fn launch(work: &impl Launchable, to: &Operand, from: &[&Operand]) -> Result<()> {
    of(from.iter().copied().chain([to]))?.launch(work, &[Some(to)], from)
}

impl Backend {
    /// Does the work: writes the results in `out`, of which some kinds may do without one, from `inputs`.
    #[inline(always)]
    pub fn launch<W: Launchable>(self, work: &W, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()> {
        match self {
            Backend::Host => work.run_on_host(out, inputs),
            Backend::Other(device) => device.launch(&work.value(), out, inputs),
        }
    }

    /// The first of row-major int64 positions, counted from 0, that is less than `least`, or `end` or more.
    pub fn first_outside(self, positions: &Operand, least: i64, end: i64) -> Result<Option<usize>> {
        match self {
            Backend::Host => Ok(host::first_outside(positions, least, end)),
            Backend::Other(device) => device.first_outside(positions, least, end),
        }
    }

    /// The number of row-major bytes that are not 0.
    pub fn count(self, mask: &Operand) -> Result<usize> {
        match self {
            Backend::Host => Ok(host::count(mask)),
            Backend::Other(device) => device.count(mask),
        }
    }

    /// True if no element is 0.
    pub fn all(self, x: &Operand) -> Result<bool> {
        match self {
            Backend::Host => Ok(host::all(x)),
            Backend::Other(device) => device.all(x),
        }
    }

    /// The int64 count of each integer from 0 to the greatest of a vector, or the float64 sum of its weights; `minlength` entries at least.
    pub fn bincount(self, x: &Operand, weights: Option<&Operand>, minlength: i64) -> Result<Operand> {
        match self {
            Backend::Host => host::bincount(x, weights, minlength),
            Backend::Other(device) => device.bincount(x, weights, minlength),
        }
    }

    /// The elements of a row-major vector, or the rows of a matrix, each once: in ascending order, or with `consecutive` one of each run.
    pub fn unique(self, x: &Operand, consecutive: bool, inverted: bool) -> Result<Unique> {
        match self {
            Backend::Host => host::unique(x, consecutive, inverted),
            Backend::Other(device) => device.unique(x, consecutive, inverted),
        }
    }

    /// Fills a row-major operand with random numbers. Where it fails, it has drawn some, and the caller sets the generator back.
    pub fn random(self, draw: Draw, generator: &mut Generator, out: &Operand, parameters: &[&Operand]) -> Result<()> {
        match self {
            Backend::Host => host::random(draw, generator, out, parameters),
            Backend::Other(device) => device.random(draw, generator, out, parameters),
        }
    }

    /// The first element of an operand.
    pub fn first(self, operand: &Operand) -> Result<Scalar> {
        match self {
            Backend::Host => Ok(host::first(operand)),
            Backend::Other(device) => device.first(operand),
        }
    }

    /// The first element of the only result of work on one input: of this dtype, and reached by this layout from one element.
    pub fn number<W: Launchable>(self, work: &W, dtype: Dtype, layout: Layout, input: &Operand) -> Result<Scalar> {
        let mut found = 0u64;
        let made = match self {
            // SAFETY: eight bytes hold an element of any dtype, and outlive the work.
            Backend::Host => unsafe { Operand::of_memory((&raw mut found).cast(), dtype, layout) },
            Backend::Other(_) => Operand::new_on(input.device, dtype, &[1])?.with_layout(layout),
        };
        self.launch(work, &[Some(&made), None], &[input])?;
        self.first(&made)
    }
}
