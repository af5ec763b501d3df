//! What operations mean: check the arguments, shape the result, plan the loop, choose device and dtype.

pub mod copy;
pub mod create;
pub mod lines;
pub mod matmul;
pub mod pointwise;
mod prepare;
pub mod random;
pub mod reduce;
pub mod scan;
pub mod softmax;
pub mod storage;
pub mod view;
