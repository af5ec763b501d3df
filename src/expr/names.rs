//! The functions of the table by name: `names::cmul::FUNCTION`.

#![allow(unused_imports)]
pub use crate::api::functions::compressed::table::*;
pub use crate::api::functions::convolution::table::*;
pub use crate::api::functions::create::table::*;
pub use crate::api::functions::device::tensors::table::*;
pub use crate::api::functions::fourier::table::*;
pub use crate::api::functions::index::table::*;
pub use crate::api::functions::join::table::*;
pub use crate::api::functions::layer::table::*;
pub use crate::api::functions::linalg::table::*;
pub use crate::api::functions::loss::table::*;
pub use crate::api::functions::matmul::table::*;
pub use crate::api::functions::order::table::*;
pub use crate::api::functions::pointwise::bitwise::table::*;
pub use crate::api::functions::pointwise::choices::table::*;
pub use crate::api::functions::pointwise::functions::table::*;
pub use crate::api::functions::pointwise::gradients::table::*;
pub use crate::api::functions::pointwise::quotients::table::*;
pub use crate::api::functions::pointwise::scaled::table::*;
pub use crate::api::functions::pointwise::special::table::*;
pub use crate::api::functions::pointwise::sums::table::*;
pub use crate::api::functions::pointwise::truths::table::*;
pub use crate::api::functions::pooling::table::*;
pub use crate::api::functions::quantized::table::*;
pub use crate::api::functions::random::table::*;
pub use crate::api::functions::recurrent::table::*;
pub use crate::api::functions::reduce::table::*;
pub use crate::api::functions::resample::table::*;
pub use crate::api::functions::scan::table::*;
pub use crate::api::functions::sort::table::*;
pub use crate::api::functions::tensor::copies::table::*;
pub use crate::api::functions::tensor::elements::table::*;
pub use crate::api::functions::tensor::making::table::*;
pub use crate::api::functions::view::pairs_of_views::table::*;
pub use crate::api::functions::view::views::table::*;

/// Returns the position of an argument among the names of a signature, at compile time.
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
    panic!("the function has no such argument")
}

/// Returns the position of an argument among the names of a signature, if there is one.
pub fn find(names: &str, argument: &str) -> Option<usize> {
    names.split(' ').skip(1).position(|name| name == argument)
}
