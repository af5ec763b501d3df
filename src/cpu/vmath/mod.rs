//! Elementary functions without branches, calls or tables: loops over them become vector code at every level of [`simd`](super::simd).
//!
//! With AVX-512 some functions are computed in whole registers instead, see [`wide`]. These are called by their `*_run`.
//!
//! Special values are C99's. Each file states the largest errors in units in the last place, including subnormal results, with and without
//! fma.

mod arc;
mod area;
mod digamma;
mod double;
mod erf;
mod erf_tables;
mod erfinv;
mod exp;
mod gamma;
mod gamma_parts;
mod gelu;
mod hyperbolic;
mod log;
mod logaddexp;
mod logistic;
mod modulo;
mod mvlgamma;
mod polygamma;
mod power;
mod root;
mod runs;
mod silu;
mod sinc;
mod trig;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod wide_tables;

#[cfg(test)]
mod check;

use super::simd::Isa;

pub use arc::*;
pub use area::*;
pub use digamma::*;
pub use erf::*;
pub use erf_tables::*;
pub use erfinv::*;
pub use exp::*;
pub use gamma::*;
pub use gelu::*;
pub use hyperbolic::*;
pub use log::*;
pub use logaddexp::*;
pub use logistic::*;
pub use modulo::*;
pub use mvlgamma::*;
pub use polygamma::*;
pub use power::*;
pub use root::*;
pub use runs::*;
pub use silu::*;
pub use sinc::*;
pub use trig::*;

// ln 2 as a sum of two. The high part is short, so that its product with any exponent is exact even without fma. Both are positive, because
// log computes an infinity from an infinite exponent, which must not meet an infinity of the other sign.
const LN2_HI_32: f32 = 0.693_145_75;
const LN2_LO_32: f32 = 1.428_606_8e-6;
const LN2_HI_64: f64 = 0.693_147_180_369_123_8;
const LN2_LO_64: f64 = 1.908_214_929_270_587_7e-10;

/// `c[0] + c[1] x + c[2] x^2 + ...`
#[inline(always)]
fn poly_f32<const N: usize>(isa: Isa, x: f32, c: [f32; N]) -> f32 {
    let mut p = c[N - 1];
    for k in (0..N - 1).rev() {
        p = isa.fma_f32(p, x, c[k]);
    }
    p
}

/// [`poly_f32`] for f64.
#[inline(always)]
fn poly_f64<const N: usize>(isa: Isa, x: f64, c: [f64; N]) -> f64 {
    let mut p = c[N - 1];
    for k in (0..N - 1).rev() {
        p = isa.fma_f64(p, x, c[k]);
    }
    p
}

/// [`poly_f32`] by its even and odd powers, for long polynomials, whose additions would wait for one another. `v` is `x^2`.
#[inline(always)]
fn poly_of_square_f32<const N: usize>(isa: Isa, x: f32, v: f32, c: [f32; N]) -> f32 {
    let (mut p, mut q) = (c[N - 1], c[N - 2]);
    for k in (0..N - 2).rev() {
        (p, q) = (q, isa.fma_f32(p, v, c[k]));
    }
    isa.fma_f32(p, x, q)
}

/// [`poly_of_square_f32`] for f64.
#[inline(always)]
fn poly_of_square_f64<const N: usize>(isa: Isa, x: f64, v: f64, c: [f64; N]) -> f64 {
    let (mut p, mut q) = (c[N - 1], c[N - 2]);
    for k in (0..N - 2).rev() {
        (p, q) = (q, isa.fma_f64(p, v, c[k]));
    }
    isa.fma_f64(p, x, q)
}

/// [`poly_of_square_f64`] of a number whose square is not known.
#[inline(always)]
fn poly_split_f64<const N: usize>(isa: Isa, x: f64, c: [f64; N]) -> f64 {
    poly_of_square_f64(isa, x, x * x, c)
}
