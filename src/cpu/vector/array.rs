//! Registers of every machine: arrays, of which compilers make what vectors there are.

use super::half_bits::f16_value;
use super::{Float32s, Floats, Mask, Partial, Register};
use crate::dtype::Element;
use half::f16;
use std::ops::{Add, Mul, Sub};

/// `N` numbers, a power of two.
#[derive(Clone, Copy)]
pub struct Array<T, const N: usize>([T; N]);

impl<T: Element, const N: usize> Array<T, N> {
    /// `f` of each lane and that of `b`.
    #[inline(always)]
    fn with(self, b: Self, f: impl Fn(T, T) -> T) -> Self {
        let mut r = self.0;
        for k in 0..N {
            r[k] = f(r[k], b.0[k]);
        }
        Array(r)
    }

    /// The bit of each lane that `f` holds for.
    #[inline(always)]
    fn mask(self, b: Self, f: impl Fn(T, T) -> bool) -> Mask {
        (0..N).map(|k| Mask::from(f(self.0[k], b.0[k])) << k).sum()
    }

    /// All lanes in one: halves meet until one lane is left.
    #[inline(always)]
    fn fold(self, f: impl Fn(T, T) -> T) -> T {
        let (mut r, mut half) = (self.0, N / 2);
        while half > 0 {
            for k in 0..half {
                r[k] = f(r[k], r[k + half]);
            }
            half /= 2;
        }
        r[0]
    }
}

impl<T: Element, const N: usize> Add for Array<T, N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        self.with(b, T::add)
    }
}

impl<T: Element, const N: usize> Sub for Array<T, N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        self.with(b, T::sub)
    }
}

impl<T: Element, const N: usize> Mul for Array<T, N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        self.with(b, T::mul)
    }
}

impl<T: Element, const N: usize> Register for Array<T, N> {
    type Item = T;
    const LANES: usize = N;
    #[inline(always)]
    fn all(x: T) -> Self {
        Array([x; N])
    }
    #[inline(always)]
    unsafe fn load(x: *const T) -> Self {
        // SAFETY: the caller's.
        Array(unsafe { x.cast::<[T; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, r: *mut T) {
        // SAFETY: the caller's.
        unsafe { r.cast::<[T; N]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.with(other, greater)
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        self.with(other, lesser)
    }
    #[inline(always)]
    fn equal(self, other: Self) -> Mask {
        self.mask(other, |a, b| a == b)
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Mask {
        self.mask(other, |a, b| a.is_nan() | b.is_nan())
    }
    #[inline(always)]
    fn sum(self) -> T {
        self.fold(T::add)
    }
    #[inline(always)]
    fn greatest(self) -> T {
        self.fold(greater)
    }
    #[inline(always)]
    fn least(self) -> T {
        self.fold(lesser)
    }
}

#[inline(always)]
fn greater<T: Element>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[inline(always)]
fn lesser<T: Element>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

/// A single number is all or nothing.
impl<T: Element> Partial for Array<T, 1> {
    #[inline(always)]
    unsafe fn load_first(self, x: *const T, _: usize) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::load(x) }
    }
    #[inline(always)]
    unsafe fn store_first(self, r: *mut T, _: usize) {
        // SAFETY: the caller's.
        unsafe { self.store(r) }
    }
}

impl<T: Element, const N: usize> Floats for Array<T, N> {
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    #[inline(always)]
    fn product(self) -> T {
        self.fold(T::mul)
    }
}

impl<const N: usize> Float32s for Array<f32, N> {
    type Wide = Array<f64, N>;
    #[inline(always)]
    fn widen(self) -> Array<f64, N> {
        Array(self.0.map(f64::from))
    }
    #[inline(always)]
    unsafe fn load_wide(x: *const f32) -> Array<f64, N> {
        // SAFETY: the caller's.
        unsafe { Self::load(x).widen() }
    }
    #[inline(always)]
    unsafe fn load_f16(x: *const u16) -> Self {
        // SAFETY: the caller's.
        Array(unsafe { x.cast::<[u16; N]>().read_unaligned() }.map(f16_value))
    }
    #[inline(always)]
    unsafe fn store_f16(self, r: *mut u16) {
        // SAFETY: the caller's.
        unsafe { r.cast::<[u16; N]>().write_unaligned(self.0.map(|x| f16::from_f32(x).to_bits())) }
    }
    #[inline(always)]
    unsafe fn load_bf16(x: *const u16) -> Self {
        // SAFETY: the caller's.
        Array(unsafe { x.cast::<[u16; N]>().read_unaligned() }.map(|upper| f32::from_bits(u32::from(upper) << 16)))
    }
    #[inline(always)]
    unsafe fn load_bf16_unordered(x: *const u16) -> [Self; 2] {
        // SAFETY: the caller's.
        unsafe { [Self::load_bf16(x), Self::load_bf16(x.add(N))] }
    }
    #[inline(always)]
    fn and(self, bits: Self) -> Self {
        self.with(bits, |a, b| f32::from_bits(a.to_bits() & b.to_bits()))
    }
}
