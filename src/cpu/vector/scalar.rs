//! A single number as a register. Compilers vectorise loops over such registers themselves.

use super::{Mask, Partial, Register};
use crate::dtype::Element;
use std::ops::{Add, Mul, Sub};

/// One number.
#[derive(Clone, Copy)]
pub struct Scalar<T>(T);

impl<T: Element> Add for Scalar<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Scalar(self.0.add(b.0))
    }
}

impl<T: Element> Sub for Scalar<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Scalar(self.0.sub(b.0))
    }
}

impl<T: Element> Mul for Scalar<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Scalar(self.0.mul(b.0))
    }
}

impl<T: Element> Register for Scalar<T> {
    type Item = T;
    const LANES: usize = 1;
    #[inline(always)]
    fn all(x: T) -> Self {
        Scalar(x)
    }
    #[inline(always)]
    unsafe fn load(x: *const T) -> Self {
        // SAFETY: the caller keeps this function's contract.
        Scalar(unsafe { x.read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, r: *mut T) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { r.write_unaligned(self.0) }
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        if self.0 > other.0 { self } else { other }
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        if self.0 < other.0 { self } else { other }
    }
    #[inline(always)]
    fn equal(self, other: Self) -> Mask {
        Mask::from(self.0 == other.0)
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Mask {
        Mask::from(self.0.is_nan() | other.0.is_nan())
    }
    #[inline(always)]
    fn sum(self) -> T {
        self.0
    }
    #[inline(always)]
    fn greatest(self) -> T {
        self.0
    }
    #[inline(always)]
    fn least(self) -> T {
        self.0
    }
}

impl<T: Element> Partial for Scalar<T> {
    #[inline(always)]
    unsafe fn load_first(self, x: *const T, _: usize) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Self::load(x) }
    }
    #[inline(always)]
    unsafe fn store_first(self, r: *mut T, _: usize) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.store(r) }
    }
}
