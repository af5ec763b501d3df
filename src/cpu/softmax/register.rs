//! Registers of floats, for loops over rows: compilers make gathers of short ones, or leave a hundred elements one by one.

use crate::cpu::real::Real;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// As many floats as are taken at once.
///
/// Nothing here may run on a machine without the instruction set.
///
/// # Safety
/// Of all functions: pointers lead to `n` elements, or `COUNT` if `n` is more; `n` is not 0.
#[allow(clippy::missing_safety_doc)]
pub trait Register: Copy {
    /// The floats.
    type Item: Real;
    /// How many.
    const COUNT: usize;
    /// `x` everywhere.
    fn all(x: Self::Item) -> Self;
    /// `n` elements, and `self` after them.
    unsafe fn with(self, x: *const Self::Item, n: usize) -> Self;
    /// The first `n` to memory.
    unsafe fn store(self, r: *mut Self::Item, n: usize);
    /// The greater ones, those of `other` where one is NaN.
    fn greater(self, other: Self) -> Self;
    /// `self + other`
    fn add(self, other: Self) -> Self;
    /// `self - other`
    fn sub(self, other: Self) -> Self;
    /// `self * other`
    fn mul(self, other: Self) -> Self;
    /// The greatest one, if none is NaN.
    fn greatest(self) -> Self::Item;
    /// The sum.
    fn sum(self) -> Self::Item;
}

/// Calls `f` with the place of each register of `n` elements, and how many of them it has.
#[inline(always)]
pub fn each<V: Register>(n: usize, f: impl Fn(usize, usize)) {
    let whole = n / V::COUNT * V::COUNT;
    for at in (0..whole).step_by(V::COUNT) {
        f(at, V::COUNT);
    }
    if whole < n {
        f(whole, n - whole);
    }
}

/// A float with a register of its own on machines that have AVX-512.
pub trait Registered: Real {
    /// The register.
    type Wide: Register<Item = Self>;
}

/// A single float: of loops over those, compilers make vectors themselves.
#[derive(Clone, Copy)]
pub struct Plain<T>(T);

impl<T: Real> Register for Plain<T> {
    type Item = T;
    const COUNT: usize = 1;
    #[inline(always)]
    fn all(x: T) -> Plain<T> {
        Plain(x)
    }
    #[inline(always)]
    unsafe fn with(self, x: *const T, _: usize) -> Plain<T> {
        // SAFETY: the caller's.
        Plain(unsafe { x.read() })
    }
    #[inline(always)]
    unsafe fn store(self, r: *mut T, _: usize) {
        // SAFETY: the caller's.
        unsafe { r.write(self.0) }
    }
    #[inline(always)]
    fn greater(self, other: Plain<T>) -> Plain<T> {
        if self.0 > other.0 { self } else { other }
    }
    #[inline(always)]
    fn add(self, other: Plain<T>) -> Plain<T> {
        Plain(self.0.add(other.0))
    }
    #[inline(always)]
    fn sub(self, other: Plain<T>) -> Plain<T> {
        Plain(self.0.sub(other.0))
    }
    #[inline(always)]
    fn mul(self, other: Plain<T>) -> Plain<T> {
        Plain(self.0.mul(other.0))
    }
    #[inline(always)]
    fn greatest(self) -> T {
        self.0
    }
    #[inline(always)]
    fn sum(self) -> T {
        self.0
    }
}

macro_rules! wide {
    ($($(#[$doc:meta])* $name:ident($register:ident) of $count:literal $t:ident, $mask:ident;
       $set1:ident $loadu:ident $mask_loadu:ident $storeu:ident $mask_storeu:ident
       $max:ident $add:ident $sub:ident $mul:ident $reduce_max:ident $reduce_add:ident)*) => { $(
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        #[derive(Clone, Copy)]
        pub struct $name($register);

        #[cfg(target_arch = "x86_64")]
        impl Register for $name {
            type Item = $t;
            const COUNT: usize = $count;
            #[inline(always)]
            fn all(x: $t) -> $name {
                // SAFETY: AVX-512; so below.
                unsafe { $name($set1(x)) }
            }
            #[inline(always)]
            unsafe fn with(self, x: *const $t, n: usize) -> $name {
                // SAFETY: a mask of the first `n`.
                unsafe { $name(if n >= $count { $loadu(x) } else { $mask_loadu(self.0, ((1 << n) - 1) as $mask, x) }) }
            }
            #[inline(always)]
            unsafe fn store(self, r: *mut $t, n: usize) {
                // SAFETY: a mask of the first `n`.
                unsafe { if n >= $count { $storeu(r, self.0) } else { $mask_storeu(r, ((1 << n) - 1) as $mask, self.0) } }
            }
            #[inline(always)]
            fn greater(self, other: $name) -> $name {
                // SAFETY: AVX-512. Of unordered operands the second is the result.
                unsafe { $name($max(self.0, other.0)) }
            }
            #[inline(always)]
            fn add(self, other: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            fn sub(self, other: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($sub(self.0, other.0)) }
            }
            #[inline(always)]
            fn mul(self, other: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($mul(self.0, other.0)) }
            }
            #[inline(always)]
            fn greatest(self) -> $t {
                // SAFETY: AVX-512.
                unsafe { $reduce_max(self.0) }
            }
            #[inline(always)]
            fn sum(self) -> $t {
                // SAFETY: AVX-512.
                unsafe { $reduce_add(self.0) }
            }
        }

        impl Registered for $t {
            #[cfg(target_arch = "x86_64")]
            type Wide = $name;
            #[cfg(not(target_arch = "x86_64"))]
            type Wide = Plain<$t>;
        }
    )* };
}
wide! {
    /// 16 of f32.
    Zmm32(__m512) of 16 f32, __mmask16;
    _mm512_set1_ps _mm512_loadu_ps _mm512_mask_loadu_ps _mm512_storeu_ps _mm512_mask_storeu_ps
    _mm512_max_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_reduce_max_ps _mm512_reduce_add_ps
    /// 8 of f64.
    Zmm64(__m512d) of 8 f64, __mmask8;
    _mm512_set1_pd _mm512_loadu_pd _mm512_mask_loadu_pd _mm512_storeu_pd _mm512_mask_storeu_pd
    _mm512_max_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_reduce_max_pd _mm512_reduce_add_pd
}
