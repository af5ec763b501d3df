//! The table of the kernels of a GPU.

use cudarc::driver::sys;
use std::collections::HashMap;

/// The kernels that are loaded on a GPU, by the names of their sources and by their calls.
pub struct Kernels {
    pub named: HashMap<&'static str, HashMap<String, Function>>,
    /// The kernels of elementwise operations, by the address of the operation and the number of the signature.
    pub maps: HashMap<(usize, u64), Function>,
}

/// A kernel in a GPU's memory, which stays loaded until the process ends.
#[derive(Clone, Copy)]
pub struct Function(pub sys::CUfunction);

// SAFETY: all threads may launch functions of a module.
unsafe impl Send for Function {}
// SAFETY: as for `Send`.
unsafe impl Sync for Function {}

impl Kernels {
    pub fn new() -> Kernels {
        Kernels { named: HashMap::new(), maps: HashMap::new() }
    }

    /// The kernel of a source with this call.
    pub fn of(&self, source: &str, call: &str) -> Option<sys::CUfunction> {
        self.named.get(source)?.get(call).map(|function| function.0)
    }
}
