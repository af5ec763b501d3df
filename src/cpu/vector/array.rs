//! Registers on all processors: arrays, for which compilers use the vectors that exist.

use super::half_bits::f16_value;
use super::{Float32s, Floats, Mask, Register};
use crate::dtype::Element;
use half::f16;
use std::ops::{Add, Mul, Sub};

/// `N` numbers, a power of two.
#[derive(Clone, Copy)]
pub struct Array<T, const N: usize>([T; N]);

impl<T: Element, const N: usize> Array<T, N> {
    /// Applies `f` to each lane and the same lane of `b`.
    #[inline(always)]
    fn with(self, b: Self, f: impl Fn(T, T) -> T) -> Self {
        let mut r = self.0;
        for k in 0..N {
            r[k] = f(r[k], b.0[k]);
        }
        Array(r)
    }

    /// Returns a mask of the lanes for which `f` is true.
    #[inline(always)]
    fn mask(self, b: Self, f: impl Fn(T, T) -> bool) -> Mask {
        let mut mask = 0;
        for k in 0..N {
            mask |= Mask::from(f(self.0[k], b.0[k])) << k;
        }
        mask
    }

    /// Reduces all lanes to one: halves are combined until one lane is left.
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
        // SAFETY: the caller keeps this function's contract.
        Array(unsafe { x.cast::<[T; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, r: *mut T) {
        // SAFETY: the caller keeps this function's contract.
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
        self.mask(
            other,
            #[inline(always)]
            |a, b| a == b,
        )
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Mask {
        self.mask(
            other,
            #[inline(always)]
            |a, b| a.is_nan() | b.is_nan(),
        )
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

/// Applies `f` to each of `N` elements. The standard library's `map` is not always inlined, and then not vectorised.
#[inline(always)]
fn each<A: Copy, B: Copy + Default, const N: usize>(x: [A; N], f: impl Fn(A) -> B) -> [B; N] {
    let mut r = [B::default(); N];
    for k in 0..N {
        r[k] = f(x[k]);
    }
    r
}

impl<const N: usize> Float32s for Array<f32, N> {
    type Wide = Array<f64, N>;
    #[inline(always)]
    fn widen(self) -> Array<f64, N> {
        Array(each(self.0, f64::from))
    }
    #[inline(always)]
    unsafe fn load_wide(x: *const f32) -> Array<f64, N> {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Self::load(x).widen() }
    }
    #[inline(always)]
    unsafe fn load_f16(x: *const u16) -> Self {
        let mut r = [0.0; N];
        for k in 0..N {
            // SAFETY: the caller keeps this function's contract.
            r[k] = f16_value(unsafe { x.add(k).read_unaligned() });
        }
        Array(r)
    }
    #[inline(always)]
    unsafe fn store_f16(self, r: *mut u16) {
        let halves = each(
            self.0,
            #[inline(always)]
            |x| f16::from_f32(x).to_bits(),
        );
        // SAFETY: the caller keeps this function's contract.
        unsafe { r.cast::<[u16; N]>().write_unaligned(halves) }
    }
    #[inline(always)]
    unsafe fn load_bf16(x: *const u16) -> Self {
        let mut r = [0.0; N];
        for k in 0..N {
            // SAFETY: the caller keeps this function's contract.
            r[k] = f32::from_bits(u32::from(unsafe { x.add(k).read_unaligned() }) << 16);
        }
        Array(r)
    }
    #[inline(always)]
    unsafe fn load_bf16_unordered(x: *const u16) -> [Self; 2] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { [Self::load_bf16(x), Self::load_bf16(x.add(N))] }
    }
    #[inline(always)]
    fn and(self, bits: Self) -> Self {
        self.with(
            bits,
            #[inline(always)]
            |a, b| f32::from_bits(a.to_bits() & b.to_bits()),
        )
    }
}
