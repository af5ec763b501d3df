//! The products of at most 4096 multiplications that faer's decompositions need.
//!
//! This crate replaces the crate of the same name; faer calls only the functions of [`planless`]. The original has 0.4 MB of kernels, one
//! for each number of rows, columns and multiplications. The kernels here accept any number of multiplications.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(test)]
mod tests;

use std::ops::{Add, Mul};

/// The functions that faer calls: `dst = keep * dst + factor * lhs @ rhs`, where `dst` is m x n, `lhs` is m x k, and `rhs` is k x n.
/// `rs` is the distance between rows and `cs` the distance between columns, in elements. If `keep` is 0, `dst` is not read.
pub mod planless {
    use crate::{Matrix, Product, run};

    macro_rules! execute {
        ($name:ident, $T:ident) => {
            /// The product of matrices of this type of elements.
            ///
            /// # Safety
            /// The matrices must exist, and `dst` must not overlap the others.
            pub unsafe fn $name(
                m: usize,
                n: usize,
                k: usize,
                dst: *mut $T,
                dst_rs: isize,
                dst_cs: isize,
                lhs: *const $T,
                lhs_rs: isize,
                lhs_cs: isize,
                rhs: *const $T,
                rhs_rs: isize,
                rhs_cs: isize,
                keep: $T,
                factor: $T,
                _conj_lhs: bool,
                _conj_rhs: bool,
            ) {
                let c = Matrix { data: dst, rs: dst_rs, cs: dst_cs };
                let a = Matrix { data: lhs.cast_mut(), rs: lhs_rs, cs: lhs_cs };
                let b = Matrix { data: rhs.cast_mut(), rs: rhs_rs, cs: rhs_cs };
                // SAFETY: the caller keeps the contract.
                unsafe { run(&mut Product { m, n, k, c, a, b, keep, factor }) }
            }
        };
    }
    execute!(execute_f32, f32);
    execute!(execute_f64, f64);

    macro_rules! complex {
        ($name:ident) => {
            /// Panics, because nothing multiplies complex matrices.
            ///
            /// # Safety
            /// There are no conditions.
            pub unsafe fn $name<T>(
                _m: usize,
                _n: usize,
                _k: usize,
                _dst: *mut T,
                _dst_rs: isize,
                _dst_cs: isize,
                _lhs: *const T,
                _lhs_rs: isize,
                _lhs_cs: isize,
                _rhs: *const T,
                _rhs_rs: isize,
                _rhs_cs: isize,
                _keep: T,
                _factor: T,
                _conj_lhs: bool,
                _conj_rhs: bool,
            ) {
                panic!("products of complex matrices are not known")
            }
        };
    }
    complex!(execute_c32);
    complex!(execute_c64);
}

/// A strided matrix in memory.
#[derive(Clone, Copy)]
struct Matrix<T> {
    /// The element in row 0 and column 0.
    data: *mut T,
    /// The distance between rows, in elements.
    rs: isize,
    /// The distance between columns, in elements.
    cs: isize,
}

impl<T> Matrix<T> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> *mut T {
        self.data.wrapping_offset((i as isize).wrapping_mul(self.rs).wrapping_add((j as isize).wrapping_mul(self.cs)))
    }

    #[inline(always)]
    fn transposed(self) -> Matrix<T> {
        Matrix { data: self.data, rs: self.cs, cs: self.rs }
    }
}

/// `c = keep * c + factor * a @ b`, where `c` is m x n, `a` is m x k, and `b` is k x n.
#[derive(Clone, Copy)]
struct Product<T> {
    m: usize,
    n: usize,
    k: usize,
    c: Matrix<T>,
    a: Matrix<T>,
    b: Matrix<T>,
    keep: T,
    factor: T,
}

impl<T: Copy> Product<T> {
    /// Writes the product as the product of the transposed matrices.
    #[inline(always)]
    fn transpose(&mut self) {
        std::mem::swap(&mut self.m, &mut self.n);
        std::mem::swap(&mut self.c.rs, &mut self.c.cs);
        (self.a, self.b) = (self.b.transposed(), self.a.transposed());
    }
}

#[cfg(target_arch = "x86_64")]
trait Number: Plain + avx2::Lanes {}
#[cfg(target_arch = "x86_64")]
impl<T: Plain + avx2::Lanes> Number for T {}

#[cfg(not(target_arch = "x86_64"))]
trait Number: Plain {}
#[cfg(not(target_arch = "x86_64"))]
impl<T: Plain> Number for T {}

/// A float.
trait Plain: Copy + Default + PartialEq + Add<Output = Self> + Mul<Output = Self> {
    /// `self * by + to`, rounded once if the processor has an instruction.
    fn mul_add(self, by: Self, to: Self) -> Self;
}

macro_rules! plain {
    ($T:ident) => {
        impl Plain for $T {
            #[inline(always)]
            fn mul_add(self, by: $T, to: $T) -> $T {
                if cfg!(target_arch = "aarch64") { $T::mul_add(self, by, to) } else { self * by + to }
            }
        }
    };
}
plain!(f32);
plain!(f64);

/// # Safety
/// The matrices must exist, and `c` must not overlap the others.
#[inline(always)]
unsafe fn run<T: Number>(product: &mut Product<T>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the instructions, and the caller keeps the contract.
        return unsafe { avx2::run(product) };
    }
    // SAFETY: the caller keeps the contract.
    unsafe { portable::run(product) }
}
