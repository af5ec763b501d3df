//! The exported functions. Each module with functions is a chapter of the header: its documentation is the chapter's title and
//! introduction. Modules with the same title form one chapter. `scripts/header/src/book.rs` lists the chapters in order.

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
