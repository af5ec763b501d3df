//! CUDA's driver: opened at the first use, with its failures as errors.

use crate::alloc::fork;
use crate::error::{Error, Kind, Result};
use cudarc::driver::sys::{self, CUresult};
use std::ffi::{CStr, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The functions of the driver that this library calls. Drivers older than CUDA 12 may lack some.
const NEEDED: &[&CStr] = &[
    c"cuInit",
    c"cuDeviceGetCount",
    c"cuDevicePrimaryCtxRetain",
    c"cuDevicePrimaryCtxGetState",
    c"cuCtxSetCurrent",
    c"cuCtxGetCurrent",
    c"cuCtxSynchronize",
    c"cuMemAlloc_v2",
    c"cuMemFree_v2",
    c"cuMemGetInfo_v2",
    c"cuMemcpyHtoDAsync_v2",
    c"cuMemcpyDtoHAsync_v2",
    c"cuMemcpyDtoDAsync_v2",
    c"cuMemcpyPeerAsync",
    c"cuMemsetD8Async",
    c"cuModuleLoadData",
    c"cuModuleGetFunction",
    c"cuLaunchKernel",
    c"cuStreamCreateWithPriority",
    c"cuStreamDestroy_v2",
    c"cuStreamSynchronize",
    c"cuStreamQuery",
    c"cuStreamWaitEvent",
    c"cuStreamBeginCapture_v2",
    c"cuStreamEndCapture",
    c"cuStreamGetCaptureInfo_v2",
    c"cuLaunchHostFunc",
    c"cuEventCreate",
    c"cuEventDestroy_v2",
    c"cuEventRecord",
    c"cuEventQuery",
    c"cuEventSynchronize",
    c"cuEventElapsedTime",
    c"cuGraphInstantiateWithFlags",
    c"cuGraphDestroy",
    c"cuGraphExecDestroy",
    c"cuGraphLaunch",
    c"cuMemHostAlloc",
    c"cuMemFreeHost",
    c"cuPointerGetAttribute",
    c"cuDeviceCanAccessPeer",
    c"cuCtxEnablePeerAccess",
    c"cuCtxDisablePeerAccess",
    c"cuDeviceGetPCIBusId",
    c"cuDeviceGetUuid_v2",
    c"cuGetErrorName",
    c"cuGetErrorString",
];

/// 1 + the generation of the process that first used CUDA; 0 before. The driver does not work in forked children of that process.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// The number of GPUs. If there is none, an error says what is missing.
pub fn devices() -> Result<i32> {
    static FOUND: OnceLock<std::result::Result<i32, String>> = OnceLock::new();
    let here = fork::generation() + 1;
    let begun = BEGUN.compare_exchange(0, here, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|begun| begun, |_| here);
    if begun != here && !matches!(FOUND.get(), Some(Err(_))) {
        return Err(Error::new(Kind::Cuda, format_args!("CUDA does not work in a process forked from one that used it")));
    }
    match FOUND.get_or_init(find) {
        Ok(count) => Ok(*count),
        Err(missing) => Err(Error::new(Kind::Cuda, format_args!("{missing}"))),
    }
}

fn find() -> std::result::Result<i32, String> {
    // SAFETY: only system libraries are opened, and every function is checked to exist before it is called.
    unsafe {
        if !sys::is_culib_present() {
            return Err("no CUDA driver: the loader finds neither libcuda.so nor libcuda.so.1".into());
        }
        if let Some(lacking) = NEEDED.iter().find(|name| sys::culib().get::<*const ()>(name.to_bytes_with_nul()).is_err()) {
            return Err(format!("the CUDA driver is too old: it has no function {}", lacking.to_string_lossy()));
        }
        let mut count = 0;
        match sys::cuInit(0) {
            CUresult::CUDA_SUCCESS => {}
            CUresult::CUDA_ERROR_NO_DEVICE => return Err("the CUDA driver finds no GPU".into()),
            other => return Err(format!("the CUDA driver does not start: {}", text(other))),
        }
        match sys::cuDeviceGetCount(&mut count) {
            CUresult::CUDA_SUCCESS if count > 0 => Ok(count.min(i32::from(i8::MAX))),
            CUresult::CUDA_SUCCESS => Err("the CUDA driver finds no GPU".into()),
            other => Err(format!("the CUDA driver does not count its GPUs: {}", text(other))),
        }
    }
}

/// The version of CUDA that the driver supports, such as `(12, 4)`; `None` if there is no driver.
pub fn version() -> Option<(i32, i32)> {
    static FOUND: OnceLock<Option<(i32, i32)>> = OnceLock::new();
    let ask = || {
        let mut version = 0;
        // SAFETY: the driver writes a number to the variable.
        let result = unsafe {
            if !sys::is_culib_present() {
                return None;
            }
            let function = sys::culib().get::<unsafe extern "C" fn(*mut c_int) -> CUresult>(b"cuDriverGetVersion\0").ok()?;
            function(&mut version)
        };
        (result == CUresult::CUDA_SUCCESS).then_some((version / 1000, version % 1000 / 10))
    };
    *FOUND.get_or_init(ask)
}

/// The driver's name and explanation of an error.
fn text(result: CUresult) -> String {
    let mut parts = [std::ptr::null(); 2];
    // SAFETY: the driver returns static texts, or leaves NULL.
    unsafe {
        let _ = sys::cuGetErrorName(result, &mut parts[0]);
        let _ = sys::cuGetErrorString(result, &mut parts[1]);
        let [name, sentence] = parts.map(|text| if text.is_null() { "?".into() } else { CStr::from_ptr(text).to_string_lossy() });
        if name == sentence { format!("{name}") } else { format!("{name} ({sentence})") }
    }
}

/// Turns an error code of the driver into an error whose message starts with `what`.
#[inline(always)]
pub fn check(result: CUresult, what: &str) -> Result<()> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { failed(result, what) }
}

#[cold]
fn failed(result: CUresult, what: &str) -> Result<()> {
    // Kernels run after the call that launches them. Their errors are returned by a later call.
    let later = matches!(
        result,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
    );
    let cause = if later { "; an earlier operation may be the cause, and the GPU serves this process no more" } else { "" };
    Err(Error::new(Kind::Cuda, format_args!("{what}: {}{cause}", text(result))))
}
