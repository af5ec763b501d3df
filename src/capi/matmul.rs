//! Matrix products.

use super::row::export;
use crate::ops::matmul;

macro_rules! matmul_rows {
    ($face:ident $($to:tt)*) => { $face! { $($to)*
        /// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype; not for Bool. 16-bit floats accumulate in float32, integers wrap.
        mm(r: out, m1: input, m2: input) = matmul::mm(r, m1, m2);
        /// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype; not for Bool.
        mv(r: out, mat: input, vec: input) = matmul::mv(r, mat, vec);
        /// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. With `beta` 0 the elements of `t` are not looked at. `r` may be `t`.
        addmm(r: out, beta: number, t: input, alpha: number, m1: input, m2: input) =
            matmul::addmm(r, beta, t, alpha, m1, m2);
        /// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. With `beta` 0 the elements of `t` are not looked at. `r` may be `t`.
        addmv(r: out, beta: number, t: input, alpha: number, mat: input, vec: input) =
            matmul::addmv(r, beta, t, alpha, mat, vec);
    } };
}

matmul_rows!(export "THTensor_";);
