//! What operations mean: check the arguments, shape the result, plan the loop, choose device and dtype.

pub mod copy;
pub mod create;
pub mod diagonal;
pub mod distance;
mod fast_path;
pub mod grid;
pub mod histogram;
pub mod lines;
pub mod matmul;
mod operand;
pub mod order;
pub mod pointwise;
mod prepare;
pub mod print;
pub mod random;
pub mod reduce;
mod result;
pub mod scan;
pub mod sequence;
pub mod softmax;
pub mod storage;
pub mod triangle;
pub mod view;
