//! The entry to all devices: finds the device of the operands and runs work there.

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

/// The functions for GPUs. They are only reached through [`CUDA`], so that a program which uses no GPU is linked without them.
struct Cuda {
    gpu: fn(i8) -> &'static dyn Accelerator,
    pinned: &'static THAllocator,
    is_pinned: fn(usize) -> bool,
}

/// Set before the first memory on a GPU, or pinned memory, is allocated.
static CUDA: OnceLock<Cuda> = OnceLock::new();

/// The GPUs before [`CUDA`] is set.
static ABSENT: [Absent; 128] = {
    let mut all = [const { Absent::new(0) }; 128];
    let mut k = 0;
    while k < all.len() {
        all[k] = Absent::new(k as i8);
        k += 1;
    }
    all
};

/// A device: its memory and kernels. The host's functions are called directly, so that a linker sees which ones a program uses.
#[derive(Clone, Copy)]
pub enum Backend {
    /// The host.
    Host,
    /// Any other device.
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

/// Fails unless the device exists. Afterwards, memory on it can be allocated.
pub fn check(device: Device) -> Result<()> {
    match device {
        Device::Cpu | Device::Recorder => Ok(()),
        #[cfg(feature = "cuda")]
        Device::Cuda(k) => count().and_then(|_| crate::cuda::gpu(k)).map(drop),
        #[cfg(not(feature = "cuda"))]
        Device::Cuda(_) => bail!(Cuda, "{device} is not available: the library was built without CUDA"),
    }
}

/// The driver of a GPU; an error if the GPU does not exist.
pub fn driver(device: Device) -> Result<&'static dyn Driver> {
    check(device)?;
    match on(device) {
        Backend::Host => bail!(Device, "the host is no GPU"),
        Backend::Other(accelerator) => accelerator.driver(),
    }
}

/// A guard: this thread uses a new stream of a GPU. The previous stream is restored when the guard is dropped.
pub struct Aside {
    driver: &'static dyn Driver,
    before: usize,
    stream: usize,
}

impl Aside {
    /// Makes a stream of this device the current one.
    pub fn on(device: Device) -> Result<Aside> {
        let driver = driver(device)?;
        let aside = Aside { driver, before: driver.current(), stream: driver.make_stream(0)? };
        driver.set_current(aside.stream).map(|()| aside)
    }

    /// Waits until the work of the new stream is done.
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

/// The allocator of pinned host memory, to and from which GPUs copy asynchronously. Fails unless [`count`] was called before.
pub fn pinned() -> Result<&'static THAllocator> {
    match CUDA.get() {
        Some(cuda) => Ok(cuda.pinned),
        None => bail!(Cuda, "there is no pinned memory before a GPU is used"),
    }
}

/// Returns true if an address of the host is in pinned memory; false unless [`count`] was called before.
pub fn is_pinned(at: *const u8) -> bool {
    CUDA.get().is_some_and(|cuda| (cuda.is_pinned)(at as usize))
}

/// The backend of the device that holds all operands; an error if they are on different devices.
pub fn of<'a>(operands: impl Iterator<Item = &'a Operand>) -> Result<Backend> {
    let mut devices = operands.map(|operand| operand.device);
    let first = devices.next().unwrap_or(Device::Cpu);
    if let Some(other) = devices.find(|&device| device != first) {
        bail!(Device, "expected tensors on one device, got {first} and {other}")
    }
    Ok(on(first))
}

/// [`of`] for the results and the inputs of work.
#[inline]
pub fn of_all(out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<Backend> {
    if on_host(out, inputs) { Ok(Backend::Host) } else { of(out.iter().copied().flatten().chain(inputs.iter().copied())) }
}

/// Returns true if all operands are on the host.
#[inline(always)]
fn on_host(out: &[Option<&Operand>], inputs: &[&Operand]) -> bool {
    let here = |operand: &Operand| operand.device == Device::Cpu;
    out.iter().all(|out| out.is_none_or(here)) && inputs.iter().all(|input| here(input))
}

/// Does work with one result on the device of the operands.
pub fn launch(work: &impl Launchable, to: &Operand, from: &[&Operand]) -> Result<()> {
    let on = if on_host(&[Some(to)], from) { Backend::Host } else { of(from.iter().copied().chain([to]))? };
    on.launch(work, &[Some(to)], from)
}

/// Returns the index of the first position, in a list in host memory, that is not in `least..end`.
pub fn first_outside(positions: &[i64], least: i64, end: i64) -> Option<usize> {
    crate::cpu::index::first_outside(positions, least, end)
}

impl Backend {
    /// Does the work: writes the results in `out` from `inputs`. Some kinds of work allow a missing result.
    #[inline(always)]
    pub fn launch<W: Launchable>(self, work: &W, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()> {
        match self {
            Backend::Host => work.run_on_host(out, inputs),
            Backend::Other(device) => device.launch(&work.value(), out, inputs),
        }
    }

    /// Returns true if the host's processor has matrix instructions for a dtype, which are faster than products in float32 or int32.
    pub fn has_matrix_instructions(self, dtype: Dtype) -> bool {
        matches!(self, Backend::Host) && host::has_matrix_instructions(dtype)
    }

    /// The number of bytes other than 0 in a row-major mask.
    pub fn count(self, mask: &Operand) -> Result<usize> {
        match self {
            Backend::Host => Ok(host::count(mask)),
            Backend::Other(device) => device.count(mask),
        }
    }

    /// Returns true if no element is 0.
    pub fn all(self, x: &Operand) -> Result<bool> {
        match self {
            Backend::Host => Ok(host::all(x)),
            Backend::Other(device) => device.all(x),
        }
    }

    /// The int64 count of each integer from 0 to the greatest element of a vector, or the float64 sum of its weights. The result has at
    /// least `minlength` entries.
    pub fn bincount(self, x: &Operand, weights: Option<&Operand>, minlength: i64) -> Result<Operand> {
        match self {
            Backend::Host => host::bincount(x, weights, minlength),
            Backend::Other(device) => device.bincount(x, weights, minlength),
        }
    }

    /// The distinct elements of a row-major vector, or rows of a matrix, in ascending order. With `consecutive`, one element of each run of
    /// equal ones. The flags request the inverse and the counts; a GPU always returns the counts.
    pub fn unique(self, x: &Operand, consecutive: bool, [inverted, counted]: [bool; 2]) -> Result<Unique> {
        match self {
            Backend::Host => host::unique(x, consecutive, [inverted, counted]),
            Backend::Other(device) => device.unique(x, consecutive, inverted),
        }
    }

    /// Fills a row-major operand with random numbers. After a failure some numbers may have been drawn; the caller restores the generator.
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

    /// The single number that work on one input computes. `dtype` is the dtype of the result, and `layout` its layout over one element.
    pub fn number<W: Launchable>(self, work: &W, dtype: Dtype, layout: Layout, input: &Operand) -> Result<Scalar> {
        let mut found = 0u64;
        let made = match self {
            // SAFETY: `found` has eight bytes, which hold an element of any dtype, and outlives the work.
            Backend::Host => unsafe { Operand::of_memory((&raw mut found).cast(), dtype, layout) },
            Backend::Other(_) => Operand::new_on(input.device, dtype, &[1])?.with_layout(layout),
        };
        self.launch(work, &[Some(&made), None], &[input])?;
        self.first(&made)
    }
}
