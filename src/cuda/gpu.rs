//! A GPU: its context, the current stream of each thread, transfers and launches.

use super::blocks::Blocks;
use super::driver::{check, devices};
use super::loaded::Kernels;
use super::source::Source;
use crate::device::Device;
use crate::driver::MOST;
use crate::error::{Error, Kind, Result, bail};
use cudarc::driver::sys::{self, CUdevice_attribute, CUdeviceptr};
use parking_lot::{Mutex, RwLock};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The number of threads of a block, for every kernel.
pub(super) const THREADS: u32 = 256;
/// The maximum number of blocks for each multiprocessor, for kernels that loop over their elements.
const BLOCKS_PER_PROCESSOR: u32 = 32;

/// A GPU. This process holds its primary context until it ends.
pub struct Gpu {
    /// Its number.
    pub ordinal: i8,
    /// The driver's handle of the device.
    pub device: sys::CUdevice,
    context: sys::CUcontext,
    /// Multiprocessors.
    pub processors: u32,
    /// The compute capability, 90 for 9.0.
    pub capability: i32,
    pub(super) blocks: Mutex<Blocks>,
    pub(super) kernels: RwLock<Kernels>,
}

// SAFETY: all threads may use a context, and tables are locked.
unsafe impl Send for Gpu {}
// SAFETY: as for `Send`.
unsafe impl Sync for Gpu {}

thread_local! {
    /// This thread's current stream of each GPU. NULL is the default stream.
    static STREAMS: [Cell<sys::CUstream>; MOST] = const { [const { Cell::new(null_mut()) }; MOST] };
}

/// The GPUs that this process uses, indexed by their numbers.
static GPUS: [OnceLock<Gpu>; 128] = [const { OnceLock::new() }; 128];

/// The GPUs that this process has used so far.
pub fn opened() -> impl Iterator<Item = &'static Gpu> {
    GPUS.iter().filter_map(OnceLock::get)
}

/// The GPU with this number.
pub fn gpu(ordinal: i8) -> Result<&'static Gpu> {
    static OPENING: Mutex<()> = Mutex::new(());
    let count = devices()?;
    let Some(place) = GPUS.get(ordinal as usize).filter(|_| i32::from(ordinal) < count) else {
        return Err(Error::new(Kind::Cuda, format_args!("no GPU {ordinal}: there are {count}, counted from 0")));
    };
    if let Some(gpu) = place.get() {
        return Ok(gpu);
    }
    let _one = OPENING.lock();
    match place.get() {
        Some(gpu) => Ok(gpu),
        None => Gpu::open(ordinal).map(|gpu| place.get_or_init(|| gpu)),
    }
}

/// A guard: makes a GPU's context current in this thread, and restores the previous one when dropped.
pub struct Bound {
    before: sys::CUcontext,
    changed: bool,
}

impl Drop for Bound {
    fn drop(&mut self) {
        if self.changed {
            // SAFETY: the context was current before.
            let _ = unsafe { sys::cuCtxSetCurrent(self.before) };
        }
    }
}

impl Gpu {
    fn open(ordinal: i8) -> Result<Gpu> {
        let (mut device, mut context) = (0, null_mut());
        // SAFETY: the driver is open, and results are written to variables.
        unsafe {
            check(sys::cuDeviceGet(&mut device, ordinal.into()), "cuDeviceGet")?;
            check(sys::cuDevicePrimaryCtxRetain(&mut context, device), "cuDevicePrimaryCtxRetain")?;
        }
        let number = |attribute| {
            let mut value = 0;
            // SAFETY: as above.
            check(unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) }, "cuDeviceGetAttribute").map(|()| value)
        };
        let major = number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Gpu {
            ordinal,
            device,
            context,
            processors: number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as u32,
            capability: major * 10 + minor,
            blocks: Mutex::new(Blocks::default()),
            kernels: RwLock::new(Kernels::new()),
        })
    }

    /// Makes this GPU current in this thread while the returned guard exists.
    pub fn bind(&self) -> Result<Bound> {
        let mut before = null_mut();
        // SAFETY: this process holds the context.
        unsafe {
            check(sys::cuCtxGetCurrent(&mut before), "cuCtxGetCurrent")?;
            if before != self.context {
                check(sys::cuCtxSetCurrent(self.context), "cuCtxSetCurrent")?;
            }
        }
        Ok(Bound { before, changed: before != self.context })
    }

    /// This thread's current stream.
    pub fn stream(&self) -> sys::CUstream {
        STREAMS.with(|streams| streams.get(self.ordinal as usize).map_or(null_mut(), Cell::get))
    }

    /// Sets this thread's current stream.
    pub fn set_stream(&self, stream: sys::CUstream) {
        STREAMS.with(|streams| streams[self.ordinal as usize].set(stream));
    }

    /// The primary context.
    pub fn context(&self) -> sys::CUcontext {
        self.context
    }

    /// The error for work that has no kernel.
    #[cold]
    pub fn refuse<T>(&self) -> Result<T> {
        bail!(Device, "not available on {}", Device::Cuda(self.ordinal))
    }

    /// The number of blocks for a loop over `items` elements.
    pub fn blocks_for(&self, items: i64) -> u32 {
        let wanted = items.max(1).unsigned_abs().div_ceil(THREADS.into());
        wanted.min(u64::from(self.processors * BLOCKS_PER_PROCESSOR)) as u32
    }

    /// The number of blocks for `threads` threads without loops. A launch with too many blocks fails.
    pub fn blocks_for_all(&self, threads: i64) -> u32 {
        u32::try_from(threads.unsigned_abs().div_ceil(THREADS.into())).unwrap_or(u32::MAX)
    }

    /// The number of blocks for `jobs` jobs of one block each.
    pub fn blocks_of(&self, jobs: i64) -> u32 {
        self.blocks_for(jobs.saturating_mul(THREADS.into()))
    }

    /// Launches an entry of `source`.
    ///
    /// # Safety
    /// `A` is the argument of the kernel, whose type in CUDA is named `args_type`. The kernel reads and writes inside allocated memory,
    /// which stays allocated until the current work of the stream is done.
    pub unsafe fn launch<A: Copy>(
        &self,
        source: &'static Source,
        call: &str,
        args_type: &'static str,
        blocks: u32,
        args: &A,
    ) -> Result<()> {
        if blocks == 0 {
            return Ok(());
        }
        let _bound = self.bind()?;
        let function = self.function(source, call, args_type)?;
        // SAFETY: the caller meets the conditions above.
        unsafe { self.launch_function(function, blocks, args) }
    }

    /// Launches a function of a module that was loaded for this GPU. The GPU is bound.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    #[inline(always)]
    pub unsafe fn launch_function<A: Copy>(&self, function: sys::CUfunction, blocks: u32, args: &A) -> Result<()> {
        let mut arguments = [(&raw const *args).cast_mut().cast::<c_void>()];
        // SAFETY: the caller meets the conditions above. The driver copies the arguments.
        let launched =
            unsafe { sys::cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, self.stream(), arguments.as_mut_ptr(), null_mut()) };
        check(launched, "a kernel could not be launched")
    }

    /// Sets bytes to 0.
    ///
    /// # Safety
    /// Memory of this GPU has this many bytes at `at`.
    pub unsafe fn zero(&self, at: CUdeviceptr, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.bind()?;
        // SAFETY: the caller meets the condition above.
        check(unsafe { sys::cuMemsetD8Async(at, 0, bytes, self.stream()) }, "memory of the GPU could not be set")
    }

    /// Waits until the work of this thread's stream is done.
    pub fn wait(&self) -> Result<()> {
        self.wait_for(self.stream())
    }

    /// Waits until the work of a stream is done.
    pub(super) fn wait_for(&self, stream: sys::CUstream) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: `stream` is a stream of this GPU.
        check(unsafe { sys::cuStreamSynchronize(stream) }, "the GPU failed")
    }

    /// The number of free bytes and of all bytes of the GPU's memory.
    pub fn memory_of_device(&self) -> Result<[usize; 2]> {
        let _bound = self.bind()?;
        let [mut free, mut total] = [0; 2];
        // SAFETY: results are written to variables.
        check(unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }, "cuMemGetInfo")?;
        Ok([free, total])
    }
}
