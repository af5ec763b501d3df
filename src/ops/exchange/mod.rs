//! Exchange of tensors with other libraries, without a copy if both sides can access the memory.

pub mod arrow;
pub mod arrow_abi;
pub mod dlpack;
pub mod dlpack_abi;
mod unsigned;
