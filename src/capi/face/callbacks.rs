//! The functions of the caller that gradients call.

use crate::error::THStatus;
use crate::tensor::THTensor;
use std::ffi::c_void;

/// Called with a gradient while backward runs.
///
/// It stores in `replacement` a new reference to a tensor of the same shape and dtype that is to take the place of the gradient, or leaves
/// NULL there. 0 means go on; anything else stops backward, which returns it. `gradient` is borrowed and must not be changed.
pub type THGradHook =
    Option<unsafe extern "C" fn(gradient: *const THTensor, replacement: *mut *mut THTensor, context: *mut c_void) -> THStatus>;
