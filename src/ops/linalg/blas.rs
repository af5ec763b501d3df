//! The choice of an external BLAS and LAPACK library for products and decompositions.

use crate::alloc::fork;
use crate::error::{Result, bail, reason};
use crate::system;
use std::ffi::{CStr, c_char};
use std::ptr::null;
use thorn_lapack::vendor;

const LOADER: vendor::Loader = vendor::Loader {
    open: |path| system::path(path).map_err(|error| reason(&error)).and_then(system::open_library),
    close: system::close_library,
    symbol: system::symbol,
};

/// Loads a library and uses it from now on. `None` restores the built-in routines.
pub fn set(path: Option<&CStr>) -> Result<()> {
    let library = match path {
        None => None,
        Some(path) => match fork::within(|| vendor::load(path, &LOADER)) {
            Ok(library) => Some(library),
            Err(vendor::Failure::Loader(message)) => bail!(Io, "{message}"),
            Err(vendor::Failure::Lacks) => bail!(Format, "{} has no sgemm, dgemm and isamax: it is no BLAS", path.to_string_lossy()),
        },
    };
    vendor::choose(library);
    Ok(())
}

/// The path of the library in use, or NULL.
pub fn path() -> *const c_char {
    vendor::current().map_or(null(), |library| library.path().as_ptr())
}
