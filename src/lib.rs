//! Torch tensors as a plain C library: see `include/thorn.h` for its interface and `docs/design.md` for its design.

pub mod alloc;
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
pub mod files;
pub mod launch;
pub mod layout;
mod mode;
pub mod operand;
pub mod ops;
pub mod plan;
pub mod print;
pub mod random;
mod refcount;
pub mod scalar;
pub mod storage;
pub mod tensor;
pub mod work;
