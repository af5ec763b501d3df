//! The one door to devices.

use crate::alloc::THAllocator;
use crate::cpu::host;
use crate::device::Device;
use crate::driver::Driver;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Accelerator, Draw, Launchable, Recorder, Unique};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::random::Generator;
use crate::scalar::Scalar;
#[cfg(feature = "cuda")]
use crate::storage;

/// What GPUs are in this build: with their number, be they there or not.
#[cfg(feature = "cuda")]
type OfCuda = crate::cuda::Numbered;
#[cfg(not(feature = "cuda"))]
type OfCuda = crate::launch::Absent;

static GPUS: [OfCuda; 128] = {
    let mut all = [const { OfCuda::new(0) }; 128];
    let mut k = 0;
    while k < all.len() {
        all[k] = OfCuda::new(k as i8);
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
        Device::Cuda(k) => Backend::Other(&GPUS[k.max(0) as usize]),
        Device::Recorder => Backend::Other(&Recorder),
    }
}

/// The number of GPUs.
pub fn count() -> Result<i32> {
    #[cfg(feature = "cuda")]
    return crate::cuda::devices();
    #[cfg(not(feature = "cuda"))]
    bail!(Cuda, "the library was built without CUDA")
}

/// Fails unless the device is there; its memory is to be had then.
pub fn check(device: Device) -> Result<()> {
    match device {
        Device::Cpu | Device::Recorder => Ok(()),
        #[cfg(feature = "cuda")]
        Device::Cuda(k) => crate::cuda::gpu(k).map(|_| storage::provide_by(crate::cuda::provide)),
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

/// The allocator of pinned memory of the host, which GPUs copy from and to while the host goes on.
pub fn pinned() -> Result<&'static THAllocator> {
    count()?;
    #[cfg(feature = "cuda")]
    return Ok(&crate::cuda::PINNED);
    #[cfg(not(feature = "cuda"))]
    bail!(Cuda, "the library was built without CUDA")
}

/// Returns true if an address of the host is in pinned memory.
pub fn is_pinned(#[cfg_attr(not(feature = "cuda"), expect(unused_variables))] at: *const u8) -> bool {
    #[cfg(feature = "cuda")]
    return count().is_ok() && crate::cuda::is_pinned(at as usize);
    #[cfg(not(feature = "cuda"))]
    false
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
