//! Torch tensors as a plain C library: see `include/thorn.h` for its interface and `docs/design.md` for its design.

pub mod alloc;
pub mod api;
pub mod backend;
pub mod capi;
pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod device;
pub mod driver;
pub mod dtype;
pub mod element;
pub mod error;
mod expr;
pub mod files;
#[cfg(feature = "grad")]
mod grad;
pub mod launch;
pub mod layout;
mod mode;
pub mod operand;
pub mod ops;
pub mod plan;
pub mod print;
#[cfg(feature = "programs")]
pub mod program;
pub mod random;
mod refcount;
pub mod scalar;
mod sparse;
pub mod storage;
mod system;
pub mod tensor;
pub mod work;
