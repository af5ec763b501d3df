//! Loops on the host: kernels see contiguous runs in one compute type, the engine brings every layout and dtype into that form.

pub mod convert;
pub mod copy;
pub mod engine;
pub mod fold;
pub mod half;
pub mod map;
pub mod matmul;
pub mod number;
pub mod pool;
pub mod random;
pub mod real;
pub mod reduce;
pub mod simd;
pub mod stream;
pub mod transpose;
pub mod vmath;
