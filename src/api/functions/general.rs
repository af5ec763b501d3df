//! `TH*`: versions, errors, threads, dtypes.

use crate::alloc::HeapText;
use crate::api::table::table;
use crate::cpu::{pool, simd};
use crate::dtype;
use crate::error::{bail, status_name};
use crate::ops::linalg::blas;
use std::ffi::{c_char, c_int};

/// The first number of the version: it changes with the API.
pub const TH_VERSION_MAJOR: c_int = 0;
/// The second number of the version.
pub const TH_VERSION_MINOR: c_int = 1;
/// The third number of the version.
pub const TH_VERSION_PATCH: c_int = 0;
/// Changes whenever programs must be compiled anew; also the number of the shared library, `libthorn.so.0`.
pub const TH_ABI_VERSION: c_int = 0;

macro_rules! dtype_functions {
    ($do:ident) => {
        $do! { "";
            /// The dtype that floats get where no argument says one: float32 at start.
            THGetDefaultDtype() -> dtype = Ok(dtype::default_dtype().code());
            /// Sets the default dtype, a float, for the whole process.
            THSetDefaultDtype(dtype: other_dtype) = {
                if dtype::set_default_dtype(dtype) { Ok(()) } else { bail!(Dtype, "the default dtype must be a float, not {dtype}") }
            };
            /// Bytes an element takes; 0 on error.
            THDtype_size(dtype: other_dtype) -> bytes = Ok(dtype.size());
            /// PyTorch's name, `"float32"`; NULL on error. Never freed.
            THDtype_name(dtype: other_dtype) -> borrowed_text = Ok(dtype.c_name().as_ptr());
            /// The dtype with this name: what `THDtype_name` gives, or `"float"`, `"double"`, `"half"`, `"long"`, `"int"`, `"short"`, `"char"`,
            /// `"byte"`. `TH_UNDEFINED` on error.
            THDtype_fromName(name: text) -> dtype = match dtype::Dtype::from_name(name.to_bytes()) {
                Some(dtype) => Ok(dtype.code()),
                None => bail!(Argument, "no dtype is called '{}'", String::from_utf8_lossy(name.to_bytes())),
            };
            /// 1 if the elements are floats; 0 if not and on error.
            THDtype_isFloat(dtype: other_dtype) -> flag = Ok(dtype.is_float());
            /// 1 if the elements are integers, which Bool is not; 0 if not and on error.
            THDtype_isIntegral(dtype: other_dtype) -> flag = Ok(dtype.category() == dtype::Category::Integer);
            /// 1 if the elements may be negative: all dtypes but uint8 and Bool; 0 if not and on error.
            THDtype_isSigned(dtype: other_dtype) -> flag = Ok(!matches!(dtype, dtype::Dtype::Uint8 | dtype::Dtype::Bool));
            /// The dtype two tensors of these dtypes are computed in; `TH_UNDEFINED` on error.
            THDtype_promote(a: other_dtype, b: other_dtype) -> dtype = Ok(a.promote(b).code());
            /// 1 if a result of dtype `from` may be stored in a tensor of dtype `to`; 0 if not and on error.
            THDtype_canCast(from: other_dtype, to: other_dtype) -> flag = Ok(from.can_cast(to));
        }
    };
}

pub mod dtypes {
    //! Element types.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a code or a name that is no dtype; `TH_ERR_DTYPE`, a default dtype that is no float.
    use super::*;
    dtype_functions!(table);
    pub(crate) use dtype_functions as functions;
}

macro_rules! thread_functions {
    ($do:ident) => {
        $do! { "";
            /// Threads an operation may use, the caller's included. At start: `TH_NUM_THREADS` of the environment, else the number of cores.
            THGetNumThreads() -> int = Ok(pool::num_threads() as c_int);
            /// Sets how many threads an operation may use, for the whole process; at least 1. Results do not depend on it.
            THSetNumThreads(num_threads: int) = {
                if num_threads < 1 {
                    bail!(Argument, "{num_threads} threads: at least 1 is needed")
                }
                pool::set_num_threads(num_threads as usize);
                Ok(())
            };
            /// Cores this process may run on.
            THGetNumCores() -> int = Ok(pool::num_cores() as c_int);
        }
    };
}

pub mod threads {
    //! Threads.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, fewer than one thread.
    use super::*;
    thread_functions!(table);
    pub(crate) use thread_functions as functions;
}

macro_rules! blas_functions {
    ($do:ident) => {
        $do! { "";
            /// Lets a BLAS of the machine compute products of float32 and float64 (gemm, gemv), and linear algebra if LAPACK is in it (getrf,
            /// getrs, getri, trtrs, potrf, potrs, potri, pstrf, geqrf, orgqr, ormqr, syevd, geev, gesdd), for the whole process:
            /// `THSetBlas("libopenblas.so.0")`. `path` is what `dlopen` takes, a file name that the loader looks for or a path; its code runs
            /// in this process. NULL: thorn's own again, as at start.
            ///
            /// OpenBLAS, MKL (`libmkl_rt.so.2`), BLIS and the reference have what is needed, with integers of 32 or 64 bits. What the library
            /// has no routine for, convolutions, and operands in which no stride is 1 are left to thorn. The library decides then how many
            /// threads there are, and results depend on it. It is never unloaded.
            ///
            /// Errors: `TH_ERR_IO`, it cannot be loaded; `TH_ERR_FORMAT`, it is no BLAS. What was in use stays so then.
            THSetBlas(path: optional_text) = blas::set(path);
            /// The path given to `THSetBlas` when the library in use was loaded; NULL where thorn computes itself. Never freed.
            THGetBlas() -> borrowed_text = Ok(blas::path());
        }
    };
}

pub mod vendor {
    //! BLAS of the machine.
    //!
    //! Errors: `TH_ERR_IO`, the library cannot be loaded; `TH_ERR_FORMAT`, it is no BLAS.
    use super::*;
    blas_functions!(table);
    pub(crate) use blas_functions as functions;
}

macro_rules! version_functions {
    ($do:ident) => {
        $do! { "";
            /// The declarations of this library as plain C without a preprocessor: `ffi.cdef(ffi.string(lib.THCdef()))` in LuaJIT, and the same
            /// of Python's cffi. All but this function and the next, which you declare to call them: `const char *THCdef(void);`. A `FILE *` is
            /// a `void *` there. Never freed.
            THCdef() -> borrowed_text = Ok(DECLARATIONS.as_ptr().cast::<c_char>());
            /// The part of `THCdef` that declares the functions of the chapter with this title, `"Matrix products"`, or with `""` all types and
            /// constants, which each chapter needs before it: a reader that is slow, as cffi is, hears of what it calls only. A C string that
            /// the caller frees with `THFree`; NULL on error. You declare it to call it: `char *THCdefChapter(const char *title);`.
            THCdefChapter(title: text) -> new_text = {
                let title = title.to_bytes();
                let Some(part) = chapter(title) else { bail!(Argument, "no chapter is called '{}'", String::from_utf8_lossy(title)) };
                let mut text = HeapText::with_capacity(part.len() as i64)?;
                text.push(part)?;
                Ok(text.into_c_string())
            };
            /// The version of the library in use, `"0.1.0"`. Never freed.
            THVersion() -> borrowed_text = Ok(concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast::<c_char>());
            /// `TH_ABI_VERSION` of the library in use.
            THAbiVersion() -> int = Ok(TH_ABI_VERSION);
            /// The vector instructions kernels use on this machine: `"baseline"`, `"avx2"` or `"avx512"`. Never freed.
            THSimdLevel() -> borrowed_text = Ok(match simd::level() {
                simd::Level::Baseline => c"baseline",
                simd::Level::Avx2 => c"avx2",
                simd::Level::Avx512 => c"avx512",
            }.as_ptr());
        }
    };
}

/// The texts that `THCdef` and `THCdefChapter` return.
static DECLARATIONS: &str = concat!(include_str!("../../capi/declarations.h"), "\0");

/// The declarations of a chapter; those that stand before the first one where there is no title.
fn chapter(title: &[u8]) -> Option<&'static str> {
    let mut rest = DECLARATIONS.trim_end_matches('\0');
    let mut here: &[u8] = b"";
    loop {
        let (part, next) = rest.split_once("/* ").unwrap_or((rest, ""));
        if here == title {
            return Some(part);
        }
        let (name, after) = next.split_once(" */\n")?;
        (here, rest) = (name.as_bytes(), after);
    }
}

pub mod versions {
    //! Versions.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a chapter that there is not.
    use super::*;
    version_functions!(table);
    pub(crate) use version_functions as functions;
}

macro_rules! error_functions {
    ($do:ident) => {
        $do! { "";
            /// Returns the name of a status in this header: `"TH_ERR_SHAPE"`. Other numbers, as callbacks may return them, are `"unknown
            /// status"`. Never freed.
            THStatus_name(status: status) -> borrowed_text = Ok(status_name(status).unwrap_or(c"unknown status").as_ptr());
        }
    };
}

pub mod errors {
    //! Errors.
    //!
    //! These functions do not fail: `TH_OK`, 0, is the status where nothing has.
    use super::*;
    error_functions!(table);
    pub(crate) use error_functions as functions;
}
