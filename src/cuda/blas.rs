//! cuBLAS: the library, its handles, and matrix products.
//!
//! If cuBLAS is not found, or `TH_CUDA_BLAS` is 0, thorn's own kernels compute products.

use super::gpu::{Bound, Gpu};
use super::library::{Library, Version, functions};
use super::memory::Scratch;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int, c_longlong, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

type Status = c_int;
type Handle = *mut c_void;

const SUCCESS: Status = 0;
const ALLOC_FAILED: Status = 3;
/// `CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION`: partial sums of 16-bit floats are added in float32.
const MATH_MODE: c_int = 16;
/// `CUBLAS_GEMM_DEFAULT`: the library chooses its kernel from the sizes.
const ALGORITHM: c_int = -1;

functions! {
    cublasGetProperty(c_int, *mut c_int) -> Status;
    cublasCreate_v2(*mut Handle) -> Status;
    cublasSetMathMode(Handle, c_int) -> Status;
    cublasSetStream_v2(Handle, *mut c_void) -> Status;
    cublasSetWorkspace_v2(Handle, *mut c_void, usize) -> Status;
    cublasGetStatusName(Status) -> *const c_char;
    cublasGetStatusString(Status) -> *const c_char;
    // Transpositions and sizes, alpha, A, B, beta, C, compute type and algorithm. A matrix is an address, a dtype and a leading dimension.
    cublasGemmEx_64(
        Handle, c_int, c_int, i64, i64, i64, *const c_void, u64, c_int, i64, u64, c_int, i64, *const c_void, u64, c_int, i64, c_int, c_int,
    ) -> Status;
    // The same, with the distance of matrices after each leading dimension, and the number of matrices after C.
    cublasGemmStridedBatchedEx_64(
        Handle, c_int, c_int, i64, i64, i64, *const c_void, u64, c_int, i64, c_longlong, u64, c_int, i64, c_longlong, *const c_void, u64,
        c_int, i64, c_longlong, i64, c_int, c_int,
    ) -> Status;
}

/// The functions of cuBLAS. If it is not found, the error says where it was searched for.
fn library() -> std::result::Result<&'static Functions, &'static str> {
    static FOUND: OnceLock<std::result::Result<Functions, String>> = OnceLock::new();
    let find = || {
        if std::env::var_os("TH_CUDA_BLAS").is_some_and(|value| value == "0") {
            return Err("TH_CUDA_BLAS is 0".into());
        }
        let library =
            Library { title: "cuBLAS", file: "libcublas.so", helper: "libcublasLt.so", functions: Functions::of, version: version_of };
        library.find().map(|opened| opened.functions)
    };
    FOUND.get_or_init(find).as_ref().map_err(String::as_str)
}

fn version_of(cublas: &Functions) -> Option<Version> {
    // `MAJOR_VERSION` and `MINOR_VERSION`.
    let property = |property| {
        let mut value = 0;
        // SAFETY: the library writes a number.
        let status = unsafe { (cublas.cublasGetProperty)(property, &mut value) };
        (status == SUCCESS).then_some(value)
    };
    Some((property(0)?, property(1)?))
}

/// Returns true if cuBLAS was found.
pub fn is_present() -> bool {
    library().is_ok()
}

/// A handle of cuBLAS for a GPU. One thread at a time uses it.
struct Owned(Handle);

// SAFETY: cuBLAS allows a handle to move between threads.
unsafe impl Send for Owned {}

/// The unused handles of each GPU. They are never destroyed, because at the end of the process the driver may have ended before.
static HANDLES: [Mutex<Vec<Owned>>; 128] = [const { Mutex::new(Vec::new()) }; 128];

/// A matrix, or a batch of matrices, with contiguous columns: the address, and the distances between columns and between matrices in
/// elements.
#[derive(Debug, Clone, Copy)]
pub struct Matrix {
    pub at: u64,
    pub transposed: bool,
    pub ld: i64,
    pub apart: i64,
}

/// `c = beta * c + alpha * (a @ b)` for `count` products of m x k and k x n matrices. `c` is not transposed.
#[derive(Debug, Clone, Copy)]
pub struct Gemm {
    pub sizes: [i64; 3],
    pub alpha: f64,
    pub a: Matrix,
    pub b: Matrix,
    pub beta: f64,
    pub c: Matrix,
    pub count: i64,
}

/// The dtypes of products: the dtype of the factors, the dtype of the results, and the type of the sums.
#[derive(Debug, Clone, Copy)]
pub struct Types {
    factors: c_int,
    results: c_int,
    compute: c_int,
}

/// `CUDA_R_*` for the floats.
const F32: c_int = 0;
const F64: c_int = 1;
const F16: c_int = 2;
const BF16: c_int = 14;
/// `CUBLAS_COMPUTE_*`: sums in float32, in float64, and in float32 with factors rounded to TF32.
const SUMS_F32: c_int = 68;
const SUMS_F64: c_int = 70;
const SUMS_TF32: c_int = 77;

impl Types {
    /// The types of a product; `None` if cuBLAS does not support them.
    pub fn new(factors: Dtype, results: Dtype, tf32: bool) -> Option<Types> {
        let (factors, results, compute) = match (factors, results) {
            (Dtype::Float32, Dtype::Float32) => (F32, F32, if tf32 { SUMS_TF32 } else { SUMS_F32 }),
            (Dtype::Float16, Dtype::Float32) => (F16, F32, SUMS_F32),
            (Dtype::Float16, Dtype::Float16) => (F16, F16, SUMS_F32),
            (Dtype::Bfloat16, Dtype::Float32) => (BF16, F32, SUMS_F32),
            (Dtype::Bfloat16, Dtype::Bfloat16) => (BF16, BF16, SUMS_F32),
            (Dtype::Float64, Dtype::Float64) => (F64, F64, SUMS_F64),
            _ => return None,
        };
        Some(Types { factors, results, compute })
    }
}

/// cuBLAS for some consecutive products: a handle for the thread's stream, with a workspace from the GPU's memory. After it is dropped,
/// later work of the stream may reuse the workspace.
pub struct Blas<'a> {
    gpu: &'a Gpu,
    library: &'static Functions,
    handle: Option<Owned>,
    _workspace: Scratch<'a>,
    _bound: Bound,
}

impl Drop for Blas<'_> {
    fn drop(&mut self) {
        HANDLES[self.gpu.ordinal as usize].lock().extend(self.handle.take());
    }
}

impl<'a> Blas<'a> {
    /// cuBLAS on a GPU, if it was found.
    pub fn on(gpu: &'a Gpu) -> Result<Blas<'a>> {
        let library = match library() {
            Ok(library) => library,
            Err(missing) => bail!(Cuda, "{missing}"),
        };
        let _bound = gpu.bind()?;
        // The size that NVIDIA recommends. It is constant, because the choice of kernels, and so the rounding of sums, depends on it.
        let bytes = if gpu.capability >= 90 { 32 << 20 } else { 4 << 20 };
        let workspace = gpu.scratch(bytes)?;
        let at = workspace.ptr() as *mut c_void;
        let kept = HANDLES[gpu.ordinal as usize].lock().pop();
        let fresh = kept.is_none();
        let mut blas = Blas { gpu, library, handle: kept, _workspace: workspace, _bound };
        if fresh {
            let mut handle = null_mut();
            // SAFETY: the handle is written to a variable, and the GPU is bound.
            blas.check("cublasCreate", || unsafe { (library.cublasCreate_v2)(&mut handle) })?;
            blas.handle = Some(Owned(handle));
        }
        let handle = blas.handle();
        // SAFETY: this thread owns the handle now. Setting a stream resets the workspace, so the workspace is set afterwards.
        unsafe {
            if fresh {
                blas.check("cublasSetMathMode", || (library.cublasSetMathMode)(handle, MATH_MODE))?;
            }
            blas.check("cublasSetStream", || (library.cublasSetStream_v2)(handle, gpu.stream().cast()))?;
            blas.check("cublasSetWorkspace", || (library.cublasSetWorkspace_v2)(handle, at, bytes))?;
        }
        Ok(blas)
    }

    fn handle(&self) -> Handle {
        self.handle.as_ref().map_or(null_mut(), |owned| owned.0)
    }

    /// Calls a function of cuBLAS. If it lacks memory, returns this library's free blocks to the driver and calls it again.
    fn check(&self, name: &str, mut call: impl FnMut() -> Status) -> Result<()> {
        let mut status = call();
        if status == ALLOC_FAILED {
            self.gpu.give_back_blocks()?;
            status = call();
        }
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the library returns static texts.
        let [word, text] = [self.library.cublasGetStatusName, self.library.cublasGetStatusString].map(|text| unsafe {
            let text = text(status);
            if text.is_null() { "?".into() } else { CStr::from_ptr(text).to_string_lossy() }
        });
        bail!(Cuda, "{name}: {word} ({text})")
    }

    /// Computes products.
    ///
    /// # Safety
    /// The matrices are in memory of the GPU, and `c` does not overlap the others.
    pub unsafe fn multiply(&self, types: Types, gemm: &Gemm) -> Result<()> {
        let &Gemm { sizes: [m, n, k], alpha, a, b, beta, c, count } = gemm;
        let [op_a, op_b] = [a, b].map(|t| c_int::from(t.transposed));
        let Types { factors: dtype, results, compute } = types;
        // alpha and beta have the type of the sums.
        let (wide, narrow) = ([alpha, beta], [alpha as f32, beta as f32]);
        let [alpha, beta]: [*const c_void; 2] =
            [0, 1].map(|k| if compute == SUMS_F64 { (&raw const wide[k]).cast() } else { (&raw const narrow[k]).cast() });
        let (library, handle) = (self.library, self.handle());
        // SAFETY: the caller meets the conditions above. The numbers are read before the call returns.
        unsafe {
            if count == 1 {
                let gemm = library.cublasGemmEx_64;
                self.check("cublasGemmEx", || {
                    #[rustfmt::skip]
                    return gemm(
                        handle, op_a, op_b, m, n, k, alpha, a.at, dtype, a.ld, b.at, dtype, b.ld, beta, c.at, results, c.ld,
                        compute, ALGORITHM,
                    );
                })
            } else {
                let gemm = library.cublasGemmStridedBatchedEx_64;
                self.check("cublasGemmStridedBatchedEx", || {
                    #[rustfmt::skip]
                    return gemm(
                        handle, op_a, op_b, m, n, k, alpha, a.at, dtype, a.ld, a.apart, b.at, dtype, b.ld, b.apart,
                        beta, c.at, results, c.ld, c.apart, count, compute, ALGORITHM,
                    );
                })
            }
        }
    }
}
