//! Streams, events, graphs, and other functions of the driver.

use super::captures::{self, Graph};
use super::driver::check;
use super::gpu::{Gpu, gpu};
use super::mark::{DISABLE_TIMING, Mark};
use crate::driver::{Driver, THCudaProperties};
use crate::error::{Error, Kind, Result, bail};
use crate::system;
use cudarc::driver::sys::{self, CUdevice_attribute, CUdeviceptr, CUevent, CUresult, CUstream};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The flag of a stream that does not wait for the default stream.
const NON_BLOCKING: u32 = 1;

/// The answer of a query: true if the work is done, false if not.
fn answer(result: CUresult, what: &str) -> Result<bool> {
    match result {
        CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        other => check(other, what).map(|()| true),
    }
}

/// The driver's `cuEventElapsedTime`. cudarc only knows the newer name that drivers have from CUDA 12.8 on.
fn elapsed() -> Result<unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult> {
    // SAFETY: the driver is open, and the function has this type.
    let found = unsafe { sys::culib().get(b"cuEventElapsedTime\0") };
    found.map(|function| *function).map_err(|_| Error::new(Kind::Cuda, format_args!("the CUDA driver has no function cuEventElapsedTime")))
}

impl Gpu {
    /// Fails while a stream of this GPU is captured, because the driver would abort the capture.
    fn not_captured(&self, instead: &str) -> Result<()> {
        match captures::is_capturing(self) {
            true => bail!(Argument, "a stream of cuda:{} is being captured: {instead}", self.ordinal),
            false => Ok(()),
        }
    }

    /// Waits for a stream that is not being captured, and destroys it.
    pub(super) fn destroy_stream(&self, stream: CUstream) {
        // An error is ignored, because it means that the GPU has failed before, or that the driver is gone.
        let Ok(_bound) = self.bind() else { return };
        // SAFETY: `stream` is a stream of this GPU, which is not used from now on.
        unsafe {
            let _ = sys::cuStreamSynchronize(stream);
            self.blocks.lock().end_stream(stream as usize);
            let _ = sys::cuStreamDestroy_v2(stream);
        }
    }

    fn number(&self, attribute: CUdevice_attribute) -> Result<i32> {
        let mut value = 0;
        // SAFETY: the result is written to a variable.
        check(unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, self.device) }, "cuDeviceGetAttribute").map(|()| value)
    }
}

impl Driver for Gpu {
    fn properties(&self) -> Result<THCudaProperties> {
        use CUdevice_attribute::*;
        let (mut name, mut pci_bus_id, mut uuid) = ([0; 256], [0; 32], sys::CUuuid { bytes: [0; 16] });
        // SAFETY: the driver writes C strings with the given maximum lengths, and sixteen bytes.
        unsafe {
            check(sys::cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, self.device), "cuDeviceGetName")?;
            check(sys::cuDeviceGetPCIBusId(pci_bus_id.as_mut_ptr(), pci_bus_id.len() as i32, self.device), "cuDeviceGetPCIBusId")?;
            check(sys::cuDeviceGetUuid_v2(&mut uuid, self.device), "cuDeviceGetUuid")?;
        }
        Ok(THCudaProperties {
            name,
            pci_bus_id,
            uuid: uuid.bytes.map(|byte| byte as u8),
            total_bytes: self.memory_of_device()?[1] as i64,
            l2_bytes: self.number(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
            shared_bytes: self.number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?.into(),
            major: self.capability / 10,
            minor: self.capability % 10,
            multiprocessors: self.processors as i32,
            warp_size: self.number(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            multiprocessor_threads: self.number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            clock_khz: self.number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            memory_clock_khz: self.number(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            memory_bus_bits: self.number(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        })
    }

    fn synchronize(&self) -> Result<()> {
        let _bound = self.bind()?;
        self.not_captured("wait for a stream alone")?;
        // SAFETY: the context is current.
        check(unsafe { sys::cuCtxSynchronize() }, "the GPU failed")
    }

    fn memory(&self) -> Result<[i64; 5]> {
        let ([free, total], [live, cached, peak]) = (self.memory_of_device()?, self.blocks.lock().bytes);
        Ok([free, total, live, cached, peak].map(|bytes| bytes as i64))
    }

    fn pinned_memory(&self) -> Result<[i64; 5]> {
        let ([free, total], [live, cached, peak]) = (system::bytes_of_machine(), super::pinned::bytes());
        Ok([free, total, live, cached, peak].map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)))
    }

    fn empty_cache(&self) -> Result<()> {
        self.not_captured("memory cannot be given back")?;
        super::pinned::empty_cache(self)?;
        self.give_back_blocks()
    }

    fn can_reach(&self, other: i8) -> Result<bool> {
        let (other, mut can) = (gpu(other)?, 0);
        // SAFETY: the result is written to a variable.
        check(unsafe { sys::cuDeviceCanAccessPeer(&mut can, self.device, other.device) }, "cuDeviceCanAccessPeer")?;
        Ok(can != 0)
    }

    fn reach(&self, other: i8, on: bool) -> Result<()> {
        if on && !self.can_reach(other)? {
            bail!(Cuda, "cuda:{} cannot reach the memory of cuda:{other}", self.ordinal)
        }
        let (other, _bound) = (gpu(other)?, self.bind()?);
        // SAFETY: this process holds both contexts.
        match unsafe { if on { sys::cuCtxEnablePeerAccess(other.context(), 0) } else { sys::cuCtxDisablePeerAccess(other.context()) } } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED | CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED => Ok(()),
            other => check(other, "access to the memory of a GPU could not be changed"),
        }
    }

    fn current(&self) -> usize {
        self.stream() as usize
    }

    fn set_current(&self, stream: usize) -> Result<()> {
        self.set_stream(stream as CUstream);
        Ok(())
    }

    fn make_stream(&self, priority: i32) -> Result<usize> {
        let _bound = self.bind()?;
        let mut stream = null_mut();
        // SAFETY: the GPU is bound, and the driver clamps the priority.
        check(unsafe { sys::cuStreamCreateWithPriority(&mut stream, NON_BLOCKING, priority) }, "a stream could not be made")?;
        Ok(stream as usize)
    }

    fn end_stream(&self, stream: usize) {
        captures::end_stream(self, stream as CUstream);
    }

    fn wait(&self, stream: usize) -> Result<()> {
        self.wait_for(stream as CUstream)
    }

    fn is_idle(&self, stream: usize) -> Result<bool> {
        let _bound = self.bind()?;
        // SAFETY: a stream of this GPU.
        answer(unsafe { sys::cuStreamQuery(stream as CUstream) }, "the GPU failed")
    }

    unsafe fn call(&self, stream: usize, function: unsafe extern "C" fn(*mut c_void), context: *mut c_void) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: the caller meets the conditions of the trait's method.
        check(unsafe { sys::cuLaunchHostFunc(stream as CUstream, Some(function), context) }, "a function could not be put into a stream")
    }

    fn make_event(&self, timing: bool) -> Result<usize> {
        let _bound = self.bind()?;
        let mut event = null_mut();
        // SAFETY: the GPU is bound; the result is written to a variable.
        check(unsafe { sys::cuEventCreate(&mut event, if timing { 0 } else { DISABLE_TIMING }) }, "an event could not be made")?;
        Ok(event as usize)
    }

    fn end_event(&self, event: usize) {
        drop(Mark::of(event as CUevent));
    }

    fn record(&self, event: usize, stream: usize) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: an event and a stream of this GPU.
        check(unsafe { sys::cuEventRecord(event as CUevent, stream as CUstream) }, "an event could not be recorded")
    }

    fn wait_for_event(&self, stream: usize, event: usize) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: event and stream are live.
        check(unsafe { sys::cuStreamWaitEvent(stream as CUstream, event as CUevent, 0) }, "a stream could not wait for an event")
    }

    fn wait_event(&self, event: usize) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: an event of this process.
        check(unsafe { sys::cuEventSynchronize(event as CUevent) }, "the GPU failed")
    }

    fn has_passed(&self, event: usize) -> Result<bool> {
        let _bound = self.bind()?;
        // SAFETY: an event of this process.
        answer(unsafe { sys::cuEventQuery(event as CUevent) }, "the GPU failed")
    }

    fn milliseconds(&self, start: usize, end: usize) -> Result<f64> {
        let (_bound, mut time) = (self.bind()?, 0.0);
        // SAFETY: events of this process; the result is written to a variable.
        let found = unsafe { elapsed()?(&mut time, start as CUevent, end as CUevent) };
        match found {
            CUresult::CUDA_ERROR_INVALID_HANDLE => bail!(Argument, "an event measures no time, or was not recorded"),
            CUresult::CUDA_ERROR_NOT_READY => bail!(Argument, "the work before an event has not been done yet"),
            other => check(other, "cuEventElapsedTime").map(|()| f64::from(time)),
        }
    }

    fn used_in(&self, data: *const u8, stream: usize) -> Result<()> {
        self.blocks.lock().used_in(data as CUdeviceptr, stream)
    }

    fn begin_capture(&self) -> Result<()> {
        captures::begin(self, self.stream())
    }

    fn is_captured(&self) -> bool {
        captures::graph_of(self, self.stream()).is_some()
    }

    fn end_capture(&self) -> Result<usize> {
        captures::end(self).map(|graph| graph as usize)
    }

    fn replay(&self, graph: usize) -> Result<()> {
        // SAFETY: the number is the address of a graph of `end_capture`, to which the caller holds a reference.
        captures::launch(self, unsafe { &*(graph as *const Graph) })
    }

    fn end_graph(&self, graph: usize) {
        // SAFETY: the number is the address of a graph of `end_capture`, and the last reference was given up.
        unsafe { captures::end_graph(self, graph as *mut Graph) }
    }
}
