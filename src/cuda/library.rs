//! Libraries of CUDA, opened at run time in a version that the driver accepts.
//!
//! A driver refuses machine code of a later major version of CUDA than its own. Therefore the major version of NVRTC and cuBLAS must not
//! exceed the driver's. The version that a library reports counts, not the name of its file.

use super::driver;
use crate::system;
use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The oldest major version of CUDA whose libraries are used.
const OLDEST: i32 = 12;
/// The newest major version that is looked for by name if there is no driver.
const NEWEST: i32 = 13;

/// The major and the minor version of a library of CUDA.
pub type Version = (i32, i32);

/// The functions of a library: a struct `Functions` with a pointer for each.
macro_rules! functions {
    ($($name:ident($($arg:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        /// The functions of the library that are called.
        pub struct Functions { $($name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)* }

        impl Functions {
            /// The functions of an open library, or the name of the first one that it lacks.
            ///
            /// # Safety
            /// The functions of the library have the declared types.
            unsafe fn of(library: std::ptr::NonNull<std::ffi::c_void>) -> std::result::Result<Functions, &'static str> {
                $(let $name = {
                    type Function = unsafe extern "C" fn($($arg),*) $(-> $result)?;
                    const NAME: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name has no NUL"),
                    };
                    // SAFETY: the library is open.
                    let Some(found) = (unsafe { crate::system::symbol(library, NAME) }) else { return Err(stringify!($name)) };
                    // SAFETY: the caller guarantees the type of the function.
                    unsafe { std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, Function>(found) }
                };)*
                Ok(Functions { $($name),* })
            }
        }
    };
}
pub(super) use functions;

/// A library of CUDA: the names of its files, and its functions.
pub struct Library<F> {
    /// The purpose and the name, for messages: `"the compiler of kernels, libnvrtc,"`.
    pub title: &'static str,
    /// The name of its file without a version, `"libnvrtc.so"`.
    pub file: &'static str,
    /// The file of a second library, which the loader does not look for in the folder of the first one.
    pub helper: &'static str,
    /// The functions of an open library, or the name of one that it lacks.
    pub functions: unsafe fn(NonNull<c_void>) -> Result<F, &'static str>,
    /// The version that the library reports.
    pub version: fn(&F) -> Option<Version>,
}

/// The functions of an open library, and its version.
pub struct Opened<F> {
    pub functions: F,
    pub version: Version,
}

/// The greatest major version of a library that the driver accepts. Without a driver, there is no limit.
pub fn most_major() -> i32 {
    driver::version().map_or(i32::MAX, |(major, _)| major)
}

impl<F> Library<F> {
    /// Opens the library, which is never closed: in the driver's major version if it is installed, else in the next lower one. The error
    /// says which files were found, why each was refused, and where else the library was searched for.
    pub fn find(&self) -> Result<Opened<F>, String> {
        let places = places();
        let most = most_major();
        let newest = if most == i32::MAX { NEWEST } else { most };
        let mut refused = Vec::new();
        let mut tried: Vec<PathBuf> = Vec::new();
        // Names with a fitting version come first, then the name without one. A file whose name has another version is tried last, because
        // only the library itself knows its version.
        let fitting = (OLDEST..=newest).rev().map(|major| Some(format!(".{major}")));
        for suffix in fitting.chain([Some(String::new()), None]) {
            for place in &places {
                for path in self.candidates(place.as_deref(), suffix.as_deref()) {
                    if tried.contains(&path) {
                        continue;
                    }
                    match self.open(&path, most) {
                        Ok(opened) => return Ok(opened),
                        Err(Some(reason)) => refused.push(format!("{} {reason}", path.display())),
                        Err(None) => {}
                    }
                    tried.push(path);
                }
            }
        }
        Err(self.missing(&refused, &places))
    }

    /// The files in a folder, or the names for the loader, whose version begins with `suffix`. Without a suffix, these are all files, or
    /// the names of versions that are too new.
    fn candidates(&self, folder: Option<&Path>, suffix: Option<&str>) -> Vec<PathBuf> {
        let named = |suffix: &str| PathBuf::from(format!("{}{suffix}", self.file));
        let Some(folder) = folder else {
            let too_new = || (most_major().saturating_add(1)..=NEWEST).map(|major| named(&format!(".{major}"))).collect();
            return suffix.map_or_else(too_new, |suffix| vec![named(suffix)]);
        };
        let fits = |version: &str| match suffix {
            Some("") => version.is_empty(),
            Some(suffix) => version.strip_prefix(suffix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
            None => version.is_empty() || version.starts_with('.'),
        };
        files(folder, |name| name.strip_prefix(self.file).is_some_and(fits))
    }

    /// Opens a file, or a library that the loader finds by name. The error is the reason for a refusal, or `None` if there is no such file.
    fn open(&self, path: &Path, most: i32) -> Result<Opened<F>, Option<String>> {
        self.open_helpers(path);
        let library = system::open_library(path).map_err(|reason| folder_of(path).map(|_| format!("does not load: {reason}")))?;
        self.examine(library, most).map_err(|reason| {
            // SAFETY: the library was opened above, and nothing refers to it.
            unsafe { system::close_library(library) };
            Some(reason)
        })
    }

    /// The functions of an open library, or the reason why it is refused.
    fn examine(&self, library: NonNull<c_void>, most: i32) -> Result<Opened<F>, String> {
        // SAFETY: a library with this name has functions of these types.
        let functions = unsafe { (self.functions)(library) }.map_err(|lacking| format!("has no function {lacking}"))?;
        match (self.version)(&functions) {
            None => Err("does not say its version".into()),
            Some((major, minor)) if major < OLDEST => {
                Err(format!("is of CUDA {major}.{minor}, and the oldest that is used is CUDA {OLDEST}"))
            }
            Some((major, minor)) if major > most => Err(format!("is of CUDA {major}.{minor}, which is newer than the driver")),
            Some(version) => Ok(Opened { functions, version }),
        }
    }

    /// Opens the helpers of the file's major version that are in its folder, so that the loader knows them by their names.
    fn open_helpers(&self, path: &Path) {
        let Some(folder) = folder_of(path) else { return };
        let version = path.file_name().and_then(|name| name.to_str()?.strip_prefix(self.file)).unwrap_or_default();
        let major = version.split('.').nth(1).map(|major| format!(".{major}")).unwrap_or_default();
        for helper in files(folder, |name| name.strip_prefix(self.helper).is_some_and(|rest| rest.starts_with(&major))) {
            let _ = system::open_library(&helper);
        }
    }

    fn missing(&self, refused: &[String], places: &[Option<PathBuf>]) -> String {
        let driver = driver::version().map_or(String::new(), |(major, minor)| format!(" for the driver of CUDA {major}.{minor}"));
        let refused: String = refused.iter().map(|reason| format!("{reason}; ")).collect();
        let names = |place: &Option<PathBuf>| place.as_ref().map_or("the loader's folders".into(), |folder| folder.display().to_string());
        let looked: Vec<String> = places.iter().map(names).collect();
        format!("{} was not found{driver}: {refused}looked in {}", self.title, looked.join(", "))
    }
}

/// The folder of a file; `None` for a name that the loader looks for.
fn folder_of(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

/// The files of a folder whose names fit, the greatest name first.
fn files(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.filter(|entry| entry.file_name().to_str().is_some_and(&fits)).map(|entry| entry.path()).collect();
    files.sort_by(|a, b| b.cmp(a));
    files
}

/// The places of libraries: the folders that the user names, the loader (`None`), and folders where CUDA may be installed.
fn places() -> Vec<Option<PathBuf>> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let named = variable("TH_CUDA_LIBRARIES");
    let named = named.iter().flat_map(std::env::split_paths).filter(|folder| !folder.as_os_str().is_empty());
    let mut places: Vec<Option<PathBuf>> = named.map(Some).collect();
    places.push(None);
    let roots = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(variable).map(|root| PathBuf::from(root).join("lib64"));
    places.extend(roots.chain([PathBuf::from("/usr/local/cuda/lib64")]).map(Some));
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable) {
        for python in fs::read_dir(PathBuf::from(root).join("lib")).into_iter().flatten().flatten() {
            let packages = python.path().join("site-packages/nvidia");
            let folders = ["cu13/lib", "cu12/lib", "cuda_nvrtc/lib", "cublas/lib"].map(|folder| packages.join(folder));
            places.extend(folders.into_iter().filter(|folder| folder.is_dir()).map(Some));
        }
    }
    places
}
