//! Loops on the host: kernels see contiguous runs in one compute type, the engine brings every layout and dtype into that form.

pub mod convert;
pub mod copy;
pub mod engine;
pub mod fold;
pub mod half;
pub mod histogram;
pub mod keys;
pub mod lines;
pub mod map;
pub mod matmul;
pub mod mode;
pub mod number;
pub mod pool;
pub mod quantile;
pub mod radix;
pub mod random;
pub mod real;
pub mod reduce;
pub mod select;
pub mod sequence;
pub mod simd;
pub mod stream;
pub mod transpose;
pub mod triangle;
pub mod truncate;
pub mod vmath;
