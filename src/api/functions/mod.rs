//! The exported functions. A module that has some is a chapter of the header, and its documentation the chapter's title and introduction;
//! modules with the same title make one chapter. `scripts/header/src/book.rs` has their order.

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
pub mod random;
pub mod reduce;
pub mod scan;
pub mod seed;
pub mod sort;
pub mod storage;
pub mod stream;
pub mod tensor;
pub mod view;
