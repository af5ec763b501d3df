//! Compiles kernels with NVRTC, and caches the results in files.

use super::library::{Library, Opened, Version, functions, most_major};
use super::source::{FUSED, MAP};
use crate::error::{Error, Kind, Result, bail};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

type Status = c_int;
type Handle = *mut c_void;

const SUCCESS: Status = 0;

functions! {
    nvrtcVersion(*mut c_int, *mut c_int) -> Status;
    nvrtcGetErrorString(Status) -> *const c_char;
    nvrtcGetNumSupportedArchs(*mut c_int) -> Status;
    nvrtcGetSupportedArchs(*mut c_int) -> Status;
    // The program, its text and its name; then the number of headers, their texts and their names.
    nvrtcCreateProgram(*mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char) -> Status;
    nvrtcDestroyProgram(*mut Handle) -> Status;
    nvrtcCompileProgram(Handle, c_int, *const *const c_char) -> Status;
    nvrtcGetProgramLogSize(Handle, *mut usize) -> Status;
    nvrtcGetProgramLog(Handle, *mut c_char) -> Status;
    nvrtcGetPTXSize(Handle, *mut usize) -> Status;
    nvrtcGetPTX(Handle, *mut c_char) -> Status;
    nvrtcGetCUBINSize(Handle, *mut usize) -> Status;
    nvrtcGetCUBIN(Handle, *mut c_char) -> Status;
}

/// The maximum size of all files of compiled kernels in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Compiles CUDA C for a compute capability: to machine code if the compiler knows the capability, else to PTX, which the driver compiles.
pub fn compile(name: &str, text: &str, capability: i32) -> Result<Vec<u8>> {
    let (known, exact) = architecture(capability)?;
    let mut options = vec![format!("--gpu-architecture={}_{known}", if exact { "sm" } else { "compute" })];
    // Formulas round each step as the host does, so a product and a sum must not become a fused multiply-add.
    options.extend([FUSED, MAP].contains(&name).then(|| "--fmad=false".to_owned()));
    Ok(compiled_for(name, text, &options)?.0)
}

/// Compiles CUDA C with these options: to machine code for `--gpu-architecture=sm_90`, else to PTX. Also returns the compiler's log.
pub fn compiled_for(name: &str, text: &str, options: &[String]) -> Result<(Vec<u8>, String)> {
    let exact = options.iter().any(|option| option.starts_with("--gpu-architecture=sm_"));
    let program = Program::new(name, text)?;
    // With `-default-device`, functions without a specifier, including lambdas, are device functions.
    let always = ["--std=c++17".to_owned(), "-default-device".to_owned()];
    program.compile(&[options, &always].concat())?;
    Ok((program.image(exact)?, program.log()?))
}

/// The functions of NVRTC. If it is not found, the error says where it was searched for.
fn nvrtc() -> Result<&'static Opened<Functions>> {
    static FOUND: OnceLock<std::result::Result<Opened<Functions>, String>> = OnceLock::new();
    let library = Library {
        title: "the compiler of kernels, libnvrtc,",
        file: "libnvrtc.so",
        helper: "libnvrtc-builtins.so",
        functions: Functions::of,
        version: version_of,
    };
    match FOUND.get_or_init(|| library.find()) {
        Ok(found) => Ok(found),
        Err(missing) => Err(Error::new(Kind::Cuda, format_args!("{missing}"))),
    }
}

fn version_of(nvrtc: &Functions) -> Option<Version> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the compiler writes two numbers.
    let status = unsafe { (nvrtc.nvrtcVersion)(&mut major, &mut minor) };
    (status == SUCCESS).then_some((major, minor))
}

/// The greatest capability up to `capability` that the compiler supports, and whether they are equal.
fn architecture(capability: i32) -> Result<(i32, bool)> {
    let nvrtc = &nvrtc()?.functions;
    let mut count = 0;
    // SAFETY: the compiler writes as many numbers as it has announced.
    let all = unsafe {
        nvrtc.check((nvrtc.nvrtcGetNumSupportedArchs)(&mut count), "nvrtcGetNumSupportedArchs")?;
        let mut all = vec![0; count.max(0) as usize];
        nvrtc.check((nvrtc.nvrtcGetSupportedArchs)(all.as_mut_ptr()), "nvrtcGetSupportedArchs")?;
        all
    };
    match all.iter().copied().filter(|&known| known <= capability).max() {
        Some(known) => Ok((known, known == capability)),
        None => bail!(Cuda, "the compiler of kernels does not know GPUs of compute capability {}.{}", capability / 10, capability % 10),
    }
}

impl Functions {
    fn check(&self, status: Status, what: &str) -> Result<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the compiler returns a static text.
        let text = unsafe { CStr::from_ptr((self.nvrtcGetErrorString)(status)) };
        bail!(Cuda, "{what}: {}", text.to_string_lossy())
    }
}

/// A program of NVRTC.
struct Program {
    nvrtc: &'static Functions,
    handle: Handle,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program exists and is destroyed once.
        let _ = unsafe { (self.nvrtc.nvrtcDestroyProgram)(&mut self.handle) };
    }
}

impl Program {
    fn new(name: &str, text: &str) -> Result<Program> {
        let nvrtc = &nvrtc()?.functions;
        let [name, text] = [name, text].map(|text| CString::new(text).unwrap_or_default());
        let mut handle = null_mut();
        // SAFETY: the compiler copies the texts.
        let status = unsafe { (nvrtc.nvrtcCreateProgram)(&mut handle, text.as_ptr(), name.as_ptr(), 0, null(), null()) };
        nvrtc.check(status, "nvrtcCreateProgram")?;
        Ok(Program { nvrtc, handle })
    }

    fn compile(&self, options: &[String]) -> Result<()> {
        let options: Vec<CString> = options.iter().map(|option| CString::new(option.as_str()).unwrap_or_default()).collect();
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program exists, and the options exist until the call returns.
        let status = unsafe { (self.nvrtc.nvrtcCompileProgram)(self.handle, pointers.len() as c_int, pointers.as_ptr()) };
        self.nvrtc.check(status, "kernels were not compiled").map_err(|error| {
            let log = self.log().unwrap_or_default();
            Error::new(Kind::Cuda, format_args!("{}\n{}", error.message(), log.trim_end()))
        })
    }

    fn log(&self) -> Result<String> {
        let nvrtc = self.nvrtc;
        let mut log = self.output("the log", nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)?;
        log.retain(|&byte| byte != 0);
        Ok(String::from_utf8_lossy(&log).into_owned())
    }

    /// The compiled machine code, or PTX.
    fn image(&self, exact: bool) -> Result<Vec<u8>> {
        let nvrtc = self.nvrtc;
        match exact {
            true => self.output("machine code", nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN),
            false => self.output("PTX", nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX),
        }
    }

    /// The bytes that `write` writes. `size` returns their number.
    fn output(
        &self,
        what: &str,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        write: unsafe extern "C" fn(Handle, *mut c_char) -> Status,
    ) -> Result<Vec<u8>> {
        let mut bytes = 0;
        // SAFETY: the program exists, and the compiler writes as many bytes as it has announced.
        unsafe {
            self.nvrtc.check(size(self.handle, &mut bytes), what)?;
            let mut output = vec![0u8; bytes];
            self.nvrtc.check(write(self.handle, output.as_mut_ptr().cast()), what)?;
            Ok(output)
        }
    }
}

/// The folder of compiled kernels: `TH_CUDA_CACHE`, or `thorn/kernels` in the user's cache folder. An empty variable means no folder.
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

/// The compiled image of a text for a capability: from a file if there is one and `fresh` is false, else from `make`. If a file cannot be
/// read or written, the kernel is compiled again, which only costs time.
///
/// The name of a file contains the version of NVRTC. Without NVRTC, a file of any version that the driver accepts is used.
pub fn cached(text: &str, capability: i32, fresh: bool, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let Some(folder) = folder() else { return make() };
    let name = format!("{}-sm{capability}-nvrtc", name_of(text.as_bytes()));
    let place = nvrtc().ok().map(|nvrtc| folder.join(format!("{name}{}.{}", nvrtc.version.0, nvrtc.version.1)));
    let found = || place.as_ref().map_or_else(|| read_newest(folder, &name), |place| read(place));
    if !fresh && let Some(image) = found() {
        return Ok(image);
    }
    let image = make()?;
    if let Some(place) = &place
        && write(folder, place, &image).is_ok()
    {
        let _ = shrink(folder);
    }
    Ok(image)
}

/// The image of the newest version among the files that are named `name` and a version that the driver accepts.
fn read_newest(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let version = |path: &Path| -> Option<Version> {
        let (major, minor) = path.file_name()?.to_str()?.strip_prefix(name)?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<(Version, PathBuf)> = files.filter_map(|path| Some((version(&path)?, path))).collect();
    files.retain(|((major, _), _)| *major <= most_major());
    files.sort();
    files.iter().rev().find_map(|(_, path)| read(path))
}

/// The name of a file or kernel: a 128-bit hash of `bytes` and the version of the library.
pub(super) fn name_of(bytes: &[u8]) -> String {
    let hashed = |seed: u64| {
        let mut hasher = DefaultHasher::new();
        (seed, env!("CARGO_PKG_VERSION"), bytes).hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", hashed(1), hashed(2))
}

/// Reads the image of a file, which starts with its hash.
fn read(place: &Path) -> Option<Vec<u8>> {
    let file = fs::read(place).ok()?;
    let (hash, image) = file.split_at_checked(32)?;
    (hash == name_of(image).as_bytes()).then(|| image.to_vec())
}

/// Writes a file under another name and renames it, so that no process sees an incomplete file.
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

/// Removes the oldest files if all files together are too large.
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
