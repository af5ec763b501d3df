//! The exported functions. Each module with functions is a chapter of the header: the first line of its documentation is the title, the
//! rest the introduction. Modules with the same title make one chapter. `scripts/header/src/book.rs` has the order of the chapters.

pub mod apply;
#[cfg(feature = "files")]
pub mod archive;
pub mod compressed;
pub mod convolution;
pub mod create;
pub mod device;
pub mod exchange;
pub mod fourier;
pub mod fused;
pub mod general;
pub mod index;
pub mod join;
pub mod layer;
pub mod linalg;
pub mod loss;
pub mod matmul;
pub mod memory;
pub mod order;
pub mod pointwise;
pub mod pooling;
pub mod print;
pub mod quantized;
pub mod random;
pub mod recurrent;
pub mod reduce;
pub mod resample;
pub mod scan;
pub mod seed;
pub mod sort;
pub mod storage;
pub mod stream;
pub mod tensor;
pub mod view;
