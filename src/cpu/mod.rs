//! Loops on the host: kernels see contiguous runs in one compute type, the engine brings every layout and dtype into that form.

pub mod convert;
pub mod copy;
pub mod engine;
pub mod fold;
pub mod half;
pub mod lines;
pub mod map;
pub mod matmul;
pub mod pool;
pub mod prefix;
pub mod random;
pub mod real;
pub mod reduce;
pub mod scan;
pub mod simd;
pub mod softmax;
pub mod stream;
pub mod transpose;
pub mod vmath;
