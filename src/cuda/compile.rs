//! Compiling kernels by NVRTC, and keeping what it makes in files.

use super::library::preload;
use super::source::FUSED;
use crate::error::{Error, Kind, Result, bail};
use cudarc::nvrtc::sys::{self, nvrtcResult};
use std::ffi::{CStr, CString, c_int};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// The most bytes that files of compiled kernels take together.
const MOST_BYTES: u64 = 256 << 20;

/// Compiles CUDA C for a compute capability: to machine code where the compiler knows it, else to PTX, which the driver compiles.
pub fn compile(name: &str, text: &str, capability: i32) -> Result<Vec<u8>> {
    find()?;
    let (known, exact) = architecture(capability)?;
    let mut options = vec![format!("--gpu-architecture={}_{known}", if exact { "sm" } else { "compute" })];
    // The steps of a fused expression round as single operations do: a product and a sum are no fused multiply-add.
    options.extend((name == FUSED).then(|| "--fmad=false".to_owned()));
    Ok(compiled_for(name, text, &options)?.0)
}

/// What NVRTC makes of CUDA C with these options: machine code for `--gpu-architecture=sm_90`, else PTX; and what it says of it.
pub fn compiled_for(name: &str, text: &str, options: &[String]) -> Result<(Vec<u8>, String)> {
    find()?;
    let exact = options.iter().any(|option| option.starts_with("--gpu-architecture=sm_"));
    let program = Program::new(name, text)?;
    // Functions without a word before them, lambdas among them, are the device's.
    let always = ["--std=c++17".to_owned(), "-default-device".to_owned()];
    program.compile(&[options, &always].concat())?;
    Ok((program.image(exact)?, program.log()?))
}

/// Fails where there is no compiler.
fn find() -> Result<()> {
    static FOUND: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let looked = preload("nvrtc");
        // SAFETY: a library is opened by its name.
        if unsafe { sys::is_culib_present() } {
            Ok(())
        } else {
            Err(format!("the compiler of kernels, libnvrtc, was not found in {looked}"))
        }
    });
    match found {
        Ok(()) => Ok(()),
        Err(missing) => Err(Error::new(Kind::Cuda, format_args!("{missing}"))),
    }
}

/// The greatest capability up to this one that the compiler knows, and whether it is this one.
fn architecture(capability: i32) -> Result<(i32, bool)> {
    let mut count = 0;
    // SAFETY: the compiler was found; it writes as many numbers as it said there are.
    let all = unsafe {
        check(sys::nvrtcGetNumSupportedArchs(&mut count), "nvrtcGetNumSupportedArchs")?;
        let mut all = vec![0; count.max(0) as usize];
        check(sys::nvrtcGetSupportedArchs(all.as_mut_ptr()), "nvrtcGetSupportedArchs")?;
        all
    };
    match all.iter().copied().filter(|&known| known <= capability).max() {
        Some(known) => Ok((known, known == capability)),
        None => bail!(Cuda, "the compiler of kernels does not know GPUs of compute capability {}.{}", capability / 10, capability % 10),
    }
}

fn check(result: nvrtcResult, what: &str) -> Result<()> {
    if result == nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: the compiler gives a static text.
    let text = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(result)) };
    bail!(Cuda, "{what}: {}", text.to_string_lossy())
}

struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was made and is given back once.
        let _ = unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
    }
}

impl Program {
    fn new(name: &str, text: &str) -> Result<Program> {
        let [name, text] = [name, text].map(|text| CString::new(text).unwrap_or_default());
        let mut program = null_mut();
        // SAFETY: the compiler copies its texts.
        check(unsafe { sys::nvrtcCreateProgram(&mut program, text.as_ptr(), name.as_ptr(), 0, null(), null()) }, "nvrtcCreateProgram")?;
        Ok(Program(program))
    }

    fn compile(&self, options: &[String]) -> Result<()> {
        let options: Vec<CString> = options.iter().map(|option| CString::new(option.as_str()).unwrap_or_default()).collect();
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program lives, and the options do until the call returns.
        let compiled = unsafe { sys::nvrtcCompileProgram(self.0, pointers.len() as c_int, pointers.as_ptr()) };
        check(compiled, "kernels were not compiled").map_err(|error| {
            let log = self.log().unwrap_or_default();
            Error::new(Kind::Cuda, format_args!("{}\n{}", error.message(), log.trim_end()))
        })
    }

    fn log(&self) -> Result<String> {
        let mut size = 0;
        // SAFETY: the program lives; the compiler writes as many bytes as it said.
        unsafe {
            check(sys::nvrtcGetProgramLogSize(self.0, &mut size), "nvrtcGetProgramLogSize")?;
            let mut log = vec![0u8; size];
            check(sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()), "nvrtcGetProgramLog")?;
            log.retain(|&byte| byte != 0);
            Ok(String::from_utf8_lossy(&log).into_owned())
        }
    }

    /// Machine code, or PTX.
    fn image(&self, exact: bool) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the program was compiled; the compiler writes as many bytes as it said.
        unsafe {
            check(if exact { sys::nvrtcGetCUBINSize(self.0, &mut size) } else { sys::nvrtcGetPTXSize(self.0, &mut size) }, "nvrtc")?;
            let mut image = vec![0u8; size];
            let at = image.as_mut_ptr().cast();
            check(if exact { sys::nvrtcGetCUBIN(self.0, at) } else { sys::nvrtcGetPTX(self.0, at) }, "nvrtc")?;
            Ok(image)
        }
    }
}

/// The folder of compiled kernels: `TH_CUDA_CACHE`, else `thorn/kernels` in the user's folder for such files. An empty variable means
/// none.
fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = || {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        match variable("TH_CUDA_CACHE") {
            Some(folder) => Some(folder).filter(|folder| !folder.as_os_str().is_empty()),
            None => variable("XDG_CACHE_HOME").or(Some(variable("HOME")?.join(".cache"))).map(|cache| cache.join("thorn/kernels")),
        }
    };
    FOLDER.get_or_init(found).as_deref()
}

/// What `make` makes of a text for a capability, from a file where there is one, unless it must be `fresh`. A file that cannot be read or
/// written costs time only.
pub fn cached(text: &str, capability: i32, fresh: bool, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let Some(folder) = folder() else { return make() };
    let place = folder.join(format!("{}-sm{capability}", name_of(text.as_bytes())));
    if !fresh && let Some(image) = read(&place) {
        return Ok(image);
    }
    let image = make()?;
    if write(folder, &place, &image).is_ok() {
        let _ = shrink(folder);
    }
    Ok(image)
}

/// 128 bits of a hash, and the version of the library.
pub(super) fn name_of(bytes: &[u8]) -> String {
    let hashed = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, env!("CARGO_PKG_VERSION"), bytes).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hashed(1), hashed(2))
}

/// A file holds its own hash, and then the image.
fn read(place: &Path) -> Option<Vec<u8>> {
    let file = fs::read(place).ok()?;
    let (hash, image) = file.split_at_checked(32)?;
    (hash == name_of(image).as_bytes()).then(|| image.to_vec())
}

/// Writes a file beside its place and moves it there, so that nobody sees a part of it.
fn write(folder: &Path, place: &Path, image: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(folder)?;
    let beside = folder.join(format!(".{}.{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(name_of(image).as_bytes())?;
        file.write_all(image)
    });
    written.and_then(|()| fs::rename(&beside, place)).inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Removes the oldest files where all together are too large.
fn shrink(folder: &Path) -> std::io::Result<()> {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        files.push((about.modified()?, about.len(), entry.path()));
    }
    let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    files.sort();
    for (_, size, path) in files {
        if bytes <= MOST_BYTES {
            break;
        }
        fs::remove_file(path)?;
        bytes -= size;
    }
    Ok(())
}
