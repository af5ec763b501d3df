//! `TH*`: versions, errors, threads, dtypes.

use crate::alloc::HeapText;
use crate::api::table::table;
use crate::cpu::{pool, simd};
use crate::dtype;
use crate::error::{bail, status_name};
use crate::ops::linalg::blas;
use std::ffi::{c_char, c_int};

/// The first number of the version, which changes with the API.
pub const TH_VERSION_MAJOR: c_int = 0;
/// The second number of the version.
pub const TH_VERSION_MINOR: c_int = 2;
/// The third number of the version.
pub const TH_VERSION_PATCH: c_int = 0;
/// The version of the binary interface, and the number in the shared library's name, `libthorn.so.0`. It changes whenever programs must be
/// recompiled.
pub const TH_ABI_VERSION: c_int = 0;

macro_rules! dtype_functions {
    ($do:ident) => {
        $do! { "";
            /// Returns the dtype of floats where no argument gives a dtype: float32 initially.
            THGetDefaultDtype() -> dtype = Ok(dtype::default_dtype().code());
            /// Sets the default dtype, which must be a float, for the whole process.
            THSetDefaultDtype(dtype: other_dtype) = {
                if dtype::set_default_dtype(dtype) { Ok(()) } else { bail!(Dtype, "the default dtype must be a float, not {dtype}") }
            };
            /// Returns the size of an element in bytes; 0 on error.
            THDtype_size(dtype: other_dtype) -> bytes = Ok(dtype.size());
            /// Returns PyTorch's name of a dtype, such as `"float32"`; NULL on error. Never freed.
            THDtype_name(dtype: other_dtype) -> borrowed_text = Ok(dtype.c_name().as_ptr());
            /// Returns the dtype with this name: a name from `THDtype_name`, or `"float"`, `"double"`, `"half"`, `"long"`, `"int"`,
            /// `"short"`, `"char"`, `"byte"`. `TH_UNDEFINED` on error.
            THDtype_fromName(name: text) -> dtype = match dtype::Dtype::from_name(name.to_bytes()) {
                Some(dtype) => Ok(dtype.code()),
                None => bail!(Argument, "no dtype is called '{}'", String::from_utf8_lossy(name.to_bytes())),
            };
            /// Returns 1 if the elements are floats; 0 if not and on error.
            THDtype_isFloat(dtype: other_dtype) -> flag = Ok(dtype.is_float());
            /// Returns 1 if the elements are integers; 0 if not and on error. Bool does not count as an integer.
            THDtype_isIntegral(dtype: other_dtype) -> flag = Ok(dtype.category() == dtype::Category::Integer);
            /// Returns 1 if elements can be negative, which holds for all dtypes except uint8 and Bool; 0 if not and on error.
            THDtype_isSigned(dtype: other_dtype) -> flag = Ok(!matches!(dtype, dtype::Dtype::Uint8 | dtype::Dtype::Bool));
            /// Returns the dtype in which operands of these two dtypes are computed; `TH_UNDEFINED` on error.
            THDtype_promote(a: other_dtype, b: other_dtype) -> dtype = Ok(a.promote(b).code());
            /// Returns 1 if a result of dtype `from` may be stored in a tensor of dtype `to`; 0 if not and on error.
            THDtype_canCast(from: other_dtype, to: other_dtype) -> flag = Ok(from.can_cast(to));
        }
    };
}

pub mod dtypes {
    //! Element types.
    //!
    //! The dtypes of elements: sizes, names, kinds, and the dtype that two operands have in common.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a code or a name that is not a dtype; `TH_ERR_DTYPE`, a default dtype that is not a float.
    use super::*;
    dtype_functions!(table);
    pub(crate) use dtype_functions as functions;
}

macro_rules! thread_functions {
    ($do:ident) => {
        $do! { "";
            /// Returns the number of threads that an operation may use, including the calling thread. It is initially `TH_NUM_THREADS` of
            /// the environment, else the number of cores.
            THGetNumThreads() -> int = Ok(pool::num_threads() as c_int);
            /// Sets the number of threads that an operation may use, at least 1, for the whole process. Results do not depend on this
            /// number.
            THSetNumThreads(num_threads: int) = {
                if num_threads < 1 {
                    bail!(Argument, "{num_threads} threads: at least 1 is needed")
                }
                pool::set_num_threads(num_threads as usize);
                Ok(())
            };
            /// Returns the number of cores on which this process may run.
            THGetNumCores() -> int = Ok(pool::num_cores() as c_int);
        }
    };
}

pub mod threads {
    //! Threads.
    //!
    //! The number of threads that an operation uses.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, fewer than one thread.
    use super::*;
    thread_functions!(table);
    pub(crate) use thread_functions as functions;
}

macro_rules! blas_functions {
    ($do:ident) => {
        $do! { "";
            /// Lets a BLAS library of the machine compute products of float32 and float64 (gemm, gemv), for the whole process:
            /// `THSetBlas("libopenblas.so.0")`. If the library includes LAPACK, it computes linear algebra, too (getrf, getrs, getri,
            /// trtrs, potrf, potrs, potri, pstrf, geqrf, orgqr, ormqr, syevd, geev, gesdd). `path` is a file name that the loader searches
            /// for, or a path, as for `dlopen`. The library's code runs in this process. NULL restores thorn's own routines, the initial
            /// setting.
            ///
            /// OpenBLAS, MKL (`libmkl_rt.so.2`), BLIS and the reference BLAS are supported, with integers of 32 or 64 bits. thorn still
            /// computes convolutions, operations for which the library has no routine, and operands without a stride of 1. The library then
            /// decides how many threads are used, and results depend on this number. A loaded library is never unloaded.
            ///
            /// Errors: `TH_ERR_IO`, the library cannot be loaded; `TH_ERR_FORMAT`, the file is not a BLAS. The previous setting then
            /// remains in effect.
            THSetBlas(path: optional_text) = blas::set(path);
            /// Returns the path that `THSetBlas` loaded for the library in use; NULL if thorn's own routines are in use. Never freed.
            THGetBlas() -> borrowed_text = Ok(blas::path());
        }
    };
}

pub mod vendor {
    //! BLAS of the machine.
    //!
    //! An installed BLAS in place of the library's matrix products and linear algebra.
    //!
    //! Errors: `TH_ERR_IO`, the library cannot be loaded; `TH_ERR_FORMAT`, the file is not a BLAS.
    use super::*;
    blas_functions!(table);
    pub(crate) use blas_functions as functions;
}

macro_rules! version_functions {
    ($do:ident) => {
        $do! { "";
            /// Returns the declarations of this library as plain C that needs no preprocessor: `ffi.cdef(ffi.string(lib.THCdef()))` in
            /// LuaJIT; Python's cffi reads them, too. Never freed.
            ///
            /// `THCdef` and `THCdefChapter` are not included; the caller declares them: `const char *THCdef(void);`. `FILE *` is declared
            /// as `void *`.
            THCdef() -> borrowed_text = Ok(DECLARATIONS.as_ptr().cast::<c_char>());
            /// Returns the part of `THCdef` that declares the functions of the chapter with this title, such as `"Matrix products"`, or,
            /// for `""`, all types and constants. Every chapter needs the types and constants first. Slow parsers, such as cffi, can thus
            /// read only the chapters that they need. The result is a C string that the caller frees with `THFree`; NULL on error. The
            /// caller declares the function: `char *THCdefChapter(const char *title);`.
            THCdefChapter(title: text) -> new_text = {
                let title = title.to_bytes();
                let Some(part) = chapter(title) else { bail!(Argument, "no chapter is called '{}'", String::from_utf8_lossy(title)) };
                let mut text = HeapText::with_capacity(part.len() as i64)?;
                text.push(part)?;
                Ok(text.into_c_string())
            };
            /// Returns the version of the library in use, such as `"0.2.0"`. Never freed.
            THVersion() -> borrowed_text = Ok(concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast::<c_char>());
            /// Returns `TH_ABI_VERSION` of the library in use.
            THAbiVersion() -> int = Ok(TH_ABI_VERSION);
            /// Returns the vector instruction set that kernels use on this machine: `"baseline"`, `"avx2"` or `"avx512"`. Never freed.
            THSimdLevel() -> borrowed_text = Ok(match simd::level() {
                simd::Level::Baseline => c"baseline",
                simd::Level::Avx2 => c"avx2",
                simd::Level::Avx512 => c"avx512",
            }.as_ptr());
        }
    };
}

/// The text that `THCdef` returns, and of which `THCdefChapter` returns a part.
static DECLARATIONS: &str = concat!(include_str!("../../capi/declarations.h"), "\0");

/// Returns the declarations of a chapter, or, for an empty title, the declarations before the first chapter.
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
    //! The versions and the declarations of the loaded library.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a chapter that does not exist.
    use super::*;
    version_functions!(table);
    pub(crate) use version_functions as functions;
}

macro_rules! error_functions {
    ($do:ident) => {
        $do! { "";
            /// Returns the name of a status in this header, such as `"TH_ERR_SHAPE"`. For other numbers, which callbacks may return, the
            /// result is `"unknown status"`. Never freed.
            THStatus_name(status: status) -> borrowed_text = Ok(status_name(status).unwrap_or(c"unknown status").as_ptr());
        }
    };
}

pub mod errors {
    //! Errors.
    //!
    //! These functions do not fail. `TH_OK`, 0, is the status of success.
    use super::*;
    error_functions!(table);
    pub(crate) use error_functions as functions;
}
