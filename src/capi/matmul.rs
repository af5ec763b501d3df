//! `THTensor_*`: matrix products.

use super::export;
use crate::ops::matmul;
use crate::tensor::THTensor;

export! {
    /// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype; not for Bool. 16-bit floats accumulate in float32, integers wrap.
    fn THTensor_mm(r: *mut THTensor, m1: *const THTensor, m2: *const THTensor) = matmul::mm(r, m1, m2);
    /// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype; not for Bool.
    fn THTensor_mv(r: *mut THTensor, mat: *const THTensor, vec: *const THTensor) = matmul::mv(r, mat, vec);
    /// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. With `beta` 0 the elements of `t` are not looked at. `r` may be `t`.
    fn THTensor_addmm(r: *mut THTensor, beta: f64, t: *const THTensor, alpha: f64, m1: *const THTensor, m2: *const THTensor) =
        matmul::addmm(r, beta.into(), t, alpha.into(), m1, m2);
    /// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. With `beta` 0 the elements of `t` are not looked at. `r` may be `t`.
    fn THTensor_addmv(r: *mut THTensor, beta: f64, t: *const THTensor, alpha: f64, mat: *const THTensor, vec: *const THTensor) =
        matmul::addmv(r, beta.into(), t, alpha.into(), mat, vec);
}
