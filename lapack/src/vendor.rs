//! A vendor's BLAS and LAPACK, loaded at run time: OpenBLAS, MKL, BLIS, or the reference implementation.
//!
//! The interface is Fortran's: every argument is an address, and the lengths of strings come last. Integers have 32 bits (LP64) or 64 bits
//! (ILP64); a call of `isamax` finds out. The integers passed here have 64 bits: a 32-bit library accesses their lower half, which comes
//! first on little-endian machines. A library is never unloaded, because threads may be inside it.

mod drivers;
mod products;

pub(crate) use drivers::*;
pub use products::{gemm, gemv};

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::transmute_copy;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, PoisonError};

/// A letter that selects what a routine does.
type Letter = *const c_char;
/// An integer that a routine reads.
type Int = *const i64;
/// Integers that a routine writes.
type Ints = *mut i64;
/// The length of a letter, which is 1.
type Length = usize;

macro_rules! routines {
    ($($name:ident($($T:ty),*);)*) => {
        /// The routines of one type. `None` if the library does not have the routine.
        pub struct Routines<T> {
            /// True if the library's integers have 64 bits.
            wide: bool,
            $($name: Option<unsafe extern "C" fn($($T),*)>,)*
        }

        impl<T> Routines<T> {
            fn find(library: &Symbols<'_>, letter: char) -> Routines<T> {
                Routines {
                    wide: library.wide,
                    // SAFETY: in all implementations, the routine of this name has these arguments.
                    $($name: library.find(&format!("{letter}{}", stringify!($name))).map(|address| unsafe { transmute_copy(&address) }),)*
                }
            }
        }
    };
}

routines! {
    gemm(Letter, Letter, Int, Int, Int, *const T, *const T, Int, *const T, Int, *const T, *mut T, Int, Length, Length);
    gemv(Letter, Int, Int, *const T, *const T, Int, *const T, Int, *const T, *mut T, Int, Length);
    getrf(Int, Int, *mut T, Int, Ints, Ints);
    getrs(Letter, Int, Int, *const T, Int, Int, *mut T, Int, Ints, Length);
    getri(Int, *mut T, Int, Int, *mut T, Int, Ints);
    trtrs(Letter, Letter, Letter, Int, Int, *const T, Int, *mut T, Int, Ints, Length, Length, Length);
    potrf(Letter, Int, *mut T, Int, Ints, Length);
    potrs(Letter, Int, Int, *const T, Int, *mut T, Int, Ints, Length);
    potri(Letter, Int, *mut T, Int, Ints, Length);
    pstrf(Letter, Int, *mut T, Int, Ints, Ints, *const T, *mut T, Ints, Length);
    geqrf(Int, Int, *mut T, Int, *mut T, *mut T, Int, Ints);
    orgqr(Int, Int, Int, *mut T, Int, *const T, *mut T, Int, Ints);
    ormqr(Letter, Letter, Int, Int, Int, *const T, Int, *const T, *mut T, Int, *mut T, Int, Ints, Length, Length);
    syevd(Letter, Letter, Int, *mut T, Int, *mut T, *mut T, Int, Ints, Int, Ints, Length, Length);
    geev(Letter, Letter, Int, *mut T, Int, *mut T, *mut T, *mut T, Int, *mut T, Int, *mut T, Int, Ints, Length, Length);
    gesdd(Letter, Int, Int, *mut T, Int, *mut T, *mut T, Int, *mut T, Int, *mut T, Int, Ints, Ints, Length);
}

impl<T> Routines<T> {
    /// Returns true if the library's integers can hold these sizes.
    fn holds(&self, sizes: &[usize]) -> bool {
        let most = if self.wide { i64::MAX as usize } else { i32::MAX as usize };
        sizes.iter().all(|&size| size <= most)
    }
}

/// An element type for which libraries have routines.
pub trait Routine: Sized + 'static {
    /// The library's routines of this type.
    #[doc(hidden)]
    fn routines(library: &Library) -> &Routines<Self>;
}

impl Routine for f32 {
    fn routines(library: &Library) -> &Routines<f32> {
        &library.f32
    }
}

impl Routine for f64 {
    fn routines(library: &Library) -> &Routines<f64> {
        &library.f64
    }
}

/// A loaded library.
pub struct Library {
    path: CString,
    handle: NonNull<c_void>,
    f32: Routines<f32>,
    f64: Routines<f64>,
}

// SAFETY: the addresses refer to code, and the handle is only compared.
unsafe impl Send for Library {}
// SAFETY: the addresses refer to code, and the handle is only compared.
unsafe impl Sync for Library {}

impl Library {
    /// The path by which the library was first loaded.
    pub fn path(&self) -> &CStr {
        &self.path
    }
}

static CURRENT: AtomicPtr<Library> = AtomicPtr::new(null_mut());
/// All libraries that were loaded.
static LOADED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

/// The library in use.
#[inline]
pub fn current() -> Option<&'static Library> {
    // SAFETY: a loaded library lives as long as the process.
    unsafe { CURRENT.load(Acquire).as_ref() }
}

/// The routines in use.
#[inline]
pub fn routines<T: Routine>() -> Option<&'static Routines<T>> {
    current().map(T::routines)
}

/// Selects the library that is used from now on; `None` for no library.
pub fn choose(library: Option<&'static Library>) {
    CURRENT.store(library.map_or(null_mut(), |library| (&raw const *library).cast_mut()), Release);
}

/// The reason why a library was not loaded.
pub enum Failure {
    /// The message of the dynamic loader.
    Loader(String),
    /// The library is not a BLAS.
    Lacks,
}

/// The system's loader of shared libraries.
pub struct Loader {
    /// Opens a library and runs its initialisers. The same library has the same handle. The error is a message.
    pub open: fn(path: &CStr) -> Result<NonNull<c_void>, String>,
    /// Undoes one `open` of a library.
    pub close: unsafe fn(library: NonNull<c_void>),
    /// The address of a function of an open library.
    pub symbol: unsafe fn(library: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>>,
}

/// Loads a library.
pub fn load(path: &CStr, loader: &Loader) -> Result<&'static Library, Failure> {
    let handle = (loader.open)(path).map_err(Failure::Loader)?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = loaded.iter().find(|library| library.handle == handle);
    if let Some(library) = known {
        // SAFETY: the library was opened once more than needed.
        unsafe { (loader.close)(handle) };
        return Ok(library);
    }
    let Some(symbols) = Symbols::of(loader, handle) else {
        // SAFETY: the library was opened above, and no address in the library is kept.
        unsafe { (loader.close)(handle) };
        return Err(Failure::Lacks);
    };
    let (f32, f64) = (Routines::find(&symbols, 's'), Routines::find(&symbols, 'd'));
    let library = Box::leak(Box::new(Library { path: path.into(), handle, f32, f64 }));
    loaded.push(library);
    Ok(library)
}

/// Prefixes and suffixes of names: Fortran's; OpenBLAS's for 64-bit integers; the same two in the wheels of SciPy and NumPy; no underscore.
const NAMINGS: [(&str, &str); 5] = [("", "_"), ("", "_64_"), ("scipy_", "_"), ("scipy_", "_64_"), ("", "")];

/// The names that a library gives its routines.
struct Symbols<'a> {
    loader: &'a Loader,
    handle: NonNull<c_void>,
    prefix: &'static str,
    suffix: &'static str,
    wide: bool,
}

impl Symbols<'_> {
    /// Finds the naming of a library. `None` if the library is not a BLAS.
    fn of(loader: &Loader, handle: NonNull<c_void>) -> Option<Symbols<'_>> {
        let mut all = NAMINGS.iter().map(|&(prefix, suffix)| Symbols { loader, handle, prefix, suffix, wide: false });
        let symbols = all.find(|s| s.find("sgemm").is_some() && s.find("dgemm").is_some() && s.find("isamax").is_some())?;
        Some(Symbols { wide: symbols.is_wide()?, ..symbols })
    }

    fn find(&self, name: &str) -> Option<NonNull<c_void>> {
        let name = CString::new(format!("{}{name}{}", self.prefix, self.suffix)).ok()?;
        // SAFETY: the library is open.
        unsafe { (self.loader.symbol)(self.handle, &name) }
    }

    /// Returns true if the library's integers have 64 bits. 32-bit integers see a length of 3 here, 64-bit integers a negative length, for
    /// which the answer is 0.
    fn is_wide(&self) -> Option<bool> {
        let (n, step, x) = (0xffff_ffff_0000_0003_u64 as i64, 1_i64, [1f32, 3.0, 2.0]);
        // SAFETY: the routine of this name has these arguments.
        let isamax: unsafe extern "C" fn(Int, *const f32, Int) -> c_int = unsafe { transmute_copy(&self.find("isamax")?) };
        // SAFETY: with 32-bit integers the count is 3, the length of `x`. With 64-bit integers the count is negative, and nothing is read.
        match unsafe { isamax(&raw const n, x.as_ptr(), &raw const step) } {
            2 => Some(false),
            0 => Some(true),
            _ => None,
        }
    }
}

#[cfg(not(target_endian = "little"))]
compile_error!("the lower half of an integer must come first");
