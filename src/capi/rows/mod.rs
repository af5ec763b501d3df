//! The exported functions. A module that has some is a chapter of the header, and its documentation the chapter's title and introduction;
//! modules with the same title make one chapter. `scripts/header/src/book.rs` has their order.

#[macro_use]
pub mod apply;
#[cfg(feature = "files")]
#[macro_use]
pub mod archive;
#[macro_use]
pub mod compressed;
#[macro_use]
pub mod convolution;
#[macro_use]
pub mod create;
#[macro_use]
pub mod device;
#[macro_use]
pub mod exchange;
#[macro_use]
pub mod fourier;
#[macro_use]
pub mod fused;
#[macro_use]
pub mod general;
#[macro_use]
pub mod index;
#[macro_use]
pub mod join;
#[macro_use]
pub mod layer;
#[macro_use]
pub mod linalg;
#[macro_use]
pub mod loss;
#[macro_use]
pub mod matmul;
#[macro_use]
pub mod memory;
#[macro_use]
pub mod order;
#[macro_use]
pub mod pointwise;
#[macro_use]
pub mod pooling;
#[macro_use]
pub mod print;
#[macro_use]
pub mod random;
#[macro_use]
pub mod reduce;
#[macro_use]
pub mod scan;
#[macro_use]
pub mod seed;
#[macro_use]
pub mod sort;
#[macro_use]
pub mod storage;
pub mod stream;
#[macro_use]
pub mod tensor;
#[macro_use]
pub mod view;
