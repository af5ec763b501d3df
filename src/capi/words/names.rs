//! Rows by name: `names::cmul::ROW`.

#![allow(unused_imports)]
pub use crate::capi::rows::compressed::rows::*;
pub use crate::capi::rows::convolution::rows::*;
pub use crate::capi::rows::create::rows::*;
pub use crate::capi::rows::device::tensors::rows::*;
pub use crate::capi::rows::fourier::rows::*;
pub use crate::capi::rows::index::rows::*;
pub use crate::capi::rows::join::rows::*;
pub use crate::capi::rows::layer::rows::*;
pub use crate::capi::rows::linalg::rows::*;
pub use crate::capi::rows::loss::rows::*;
pub use crate::capi::rows::matmul::rows::*;
pub use crate::capi::rows::order::rows::*;
pub use crate::capi::rows::pointwise::bitwise::rows::*;
pub use crate::capi::rows::pointwise::choices::rows::*;
pub use crate::capi::rows::pointwise::functions::rows::*;
pub use crate::capi::rows::pointwise::gradients::rows::*;
pub use crate::capi::rows::pointwise::quotients::rows::*;
pub use crate::capi::rows::pointwise::scaled::rows::*;
pub use crate::capi::rows::pointwise::special::rows::*;
pub use crate::capi::rows::pointwise::sums::rows::*;
pub use crate::capi::rows::pointwise::truths::rows::*;
pub use crate::capi::rows::pooling::rows::*;
pub use crate::capi::rows::random::rows::*;
pub use crate::capi::rows::reduce::rows::*;
pub use crate::capi::rows::scan::rows::*;
pub use crate::capi::rows::sort::rows::*;
pub use crate::capi::rows::tensor::copies::rows::*;
pub use crate::capi::rows::tensor::elements::rows::*;
pub use crate::capi::rows::tensor::making::rows::*;
pub use crate::capi::rows::view::pairs_of_views::rows::*;
pub use crate::capi::rows::view::views::rows::*;

/// The place of an argument among the names of a signature, at compile time.
pub const fn place(names: &str, argument: &str) -> usize {
    let (names, argument) = (names.as_bytes(), argument.as_bytes());
    let (mut at, mut word, mut start) = (0, 0, 0);
    while at <= names.len() {
        if at == names.len() || names[at] == b' ' {
            if word > 0 && at - start == argument.len() {
                let mut same = 0;
                while same < argument.len() && names[start + same] == argument[same] {
                    same += 1;
                }
                if same == argument.len() {
                    return word - 1;
                }
            }
            word += 1;
            start = at + 1;
        }
        at += 1;
    }
    panic!("the row has no such argument")
}
