//! Products of groups by matrix instructions (Intel's AMX): eight tile registers of 16 rows of 64 bytes, and an instruction that multiplies
//! a tile of A by a tile of B and adds the product to a tile of C.
//!
//! [`strip`] has the kernel, which is generic over a unit that executes the instructions: the processor's (`amx`), or a model for tests
//! (`model`).

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(test)]
pub(super) mod model;
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod strip;
#[cfg(test)]
mod tests;

use super::kernel::Kernel;
use crate::dtype::Dtype;

/// Returns the kernel for a product of a dtype, if the processor has the matrix instruction and the process may use it.
pub(super) fn kernel(dtype: Dtype) -> Option<Kernel> {
    #[cfg(target_arch = "x86_64")]
    return amx::kernel(dtype);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = dtype;
        None
    }
}
