//! Kernels: CUDA C that is compiled when it is first needed, cached in files, and loaded on each GPU.

use super::compile::{cached, compile};
use super::driver::check;
use super::gpu::Gpu;
use super::loaded::Function;
use super::source::{Entry, Source, module_text};
use crate::alloc::provided;
use crate::error::{Error, Kind, Result, bail};
use cudarc::driver::sys;
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The number of bytes that text and machine code of a module may take on the host, without the compiler's own memory.
const TO_COMPILE: usize = 8 << 20;

/// Returns true if kernels are compiled in groups, because `TH_CUDA_GROUPS` is in the environment. This is faster with a compiler that
/// needs a second for each module and little for each kernel, such as the one of the tests.
fn by_groups() -> bool {
    static GROUPS: OnceLock<bool> = OnceLock::new();
    *GROUPS.get_or_init(|| std::env::var_os("TH_CUDA_GROUPS").is_some_and(|value| value != "0"))
}

/// The machine code of kernels for a compute capability. It comes from the cache, unless it must be `fresh`.
pub fn image(source: &Source, entries: &[Entry], capability: i32, fresh: bool) -> Result<Vec<u8>> {
    let text = module_text(source, entries);
    cached(&text, capability, fresh, || compile(source.name, &text, capability))
}

impl Gpu {
    /// The kernel of `source` with this call. It is compiled and loaded at its first use. The GPU is bound.
    pub fn function(&self, source: &'static Source, call: &str, args: &'static str) -> Result<sys::CUfunction> {
        if let Some(function) = self.kernels.read().of(source.name, call) {
            return Ok(function);
        }
        let mut entries = vec![Entry::new(call, args, "")];
        if by_groups() {
            let all = (source.entries)();
            let Some(group) = all.iter().find(|other| other.call == call).map(|other| other.group.clone()) else {
                return Err(Error::new(Kind::Internal, format_args!("the kernel {call} is not among the entries of {}", source.name)));
            };
            entries = all.into_iter().filter(|other| other.group == group).collect();
        }
        self.load_named(source, call, &entries)
    }

    /// The kernel of an elementwise operation, by the operation's address and the number of the signature. `entries` returns the wanted
    /// kernel first, then all others of the operation.
    #[inline(always)]
    pub fn map_function(
        &self,
        source: &'static Source,
        key: (usize, u64),
        entries: impl FnOnce() -> Vec<Entry>,
    ) -> Result<sys::CUfunction> {
        if let Some(function) = self.kernels.read().maps.get(&key) {
            return Ok(function.0);
        }
        let mut entries = entries();
        let call = entries[0].call.clone();
        if !by_groups() {
            entries.truncate(1);
        }
        let function = self.load_named(source, &call, &entries)?;
        self.kernels.write().maps.insert(key, Function(function));
        Ok(function)
    }

    /// Loads kernels, and returns the one with this name.
    #[inline(never)]
    fn load_named(&self, source: &'static Source, call: &str, entries: &[Entry]) -> Result<sys::CUfunction> {
        let mut kernels = self.kernels.write();
        if let Some(function) = kernels.of(source.name, call) {
            return Ok(function);
        }
        let module = self.load(source, entries)?;
        for entry in entries {
            let (mut function, symbol) = (null_mut(), CString::new(entry.symbol()).unwrap_or_default());
            // SAFETY: the module is loaded, and the driver copies the name.
            check(unsafe { sys::cuModuleGetFunction(&mut function, module, symbol.as_ptr()) }, "a kernel was not found in its module")?;
            kernels.named.entry(source.name).or_default().insert(entry.call.clone(), Function(function));
        }
        match kernels.of(source.name, call) {
            Some(function) => Ok(function),
            None => Err(Error::new(Kind::Internal, format_args!("the kernel {call} is not in its group"))),
        }
    }

    fn load(&self, source: &Source, entries: &[Entry]) -> Result<sys::CUmodule> {
        match provided(TO_COMPILE, || self.compiled(source, entries)) {
            Some((module, _)) => module,
            None => bail!(NoMem, "out of memory: {TO_COMPILE} bytes for compiling kernels could not be allocated"),
        }
    }

    fn compiled(&self, source: &Source, entries: &[Entry]) -> Result<sys::CUmodule> {
        let mut failed = None;
        // If a cached file does not load, the kernels are compiled again, once.
        for fresh in [false, true] {
            let image = image(source, entries, self.capability, fresh)?;
            let mut module = null_mut();
            // SAFETY: the image is a cubin, or PTX that ends with 0, and is read before the call returns.
            match check(unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) }, "a module of kernels could not be loaded") {
                Ok(()) => return Ok(module),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| Error::new(Kind::Internal, format_args!("a module was not loaded"))))
    }
}
