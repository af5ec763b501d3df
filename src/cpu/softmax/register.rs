//! Registers of floats, for loops over rows: compilers make gathers of short ones, or leave a hundred elements one by one.

use crate::cpu::real::Real;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// As many floats as are taken at once.
///
/// # Safety
/// Of all functions: the machine has the instruction set, and pointers lead to `n` elements, of which there are at most `COUNT`.
#[allow(clippy::missing_safety_doc)]
pub trait Register: Copy {
    /// The floats.
    type Item: Real;
    /// How many.
    const COUNT: usize;
    /// `x` everywhere.
    unsafe fn all(x: Self::Item) -> Self;
    /// `n` elements, and `self` after them.
    unsafe fn with(self, x: *const Self::Item, n: usize) -> Self;
    /// The first `n` to memory.
    unsafe fn store(self, r: *mut Self::Item, n: usize);
    /// The greater ones, those of `other` where one is NaN.
    unsafe fn greater(self, other: Self) -> Self;
    /// `self + other`
    unsafe fn add(self, other: Self) -> Self;
    /// `self - other`
    unsafe fn sub(self, other: Self) -> Self;
    /// `self * other`
    unsafe fn mul(self, other: Self) -> Self;
    /// The greatest one, if none is NaN.
    unsafe fn greatest(self) -> Self::Item;
    /// The sum.
    unsafe fn sum(self) -> Self::Item;
}

/// A float with a register of its own on machines that have AVX-512.
pub trait Registered: Real {
    /// The register.
    type Wide: Register<Item = Self>;
}

/// Lanes that any compiler makes vectors of.
#[derive(Clone, Copy)]
pub struct Plain<T>([T; 16]);

impl<T: Real> Plain<T> {
    #[inline(always)]
    fn with_each(self, other: Plain<T>, f: impl Fn(T, T) -> T) -> Plain<T> {
        let mut r = self;
        for k in 0..16 {
            r.0[k] = f(self.0[k], other.0[k]);
        }
        r
    }

    #[inline(always)]
    fn folded(self, f: impl Fn(T, T) -> T) -> T {
        let (mut lanes, mut half) = (self.0, 8);
        while half > 0 {
            for k in 0..half {
                lanes[k] = f(lanes[k], lanes[k + half]);
            }
            half /= 2;
        }
        lanes[0]
    }
}

#[inline(always)]
fn greater<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

impl<T: Real> Register for Plain<T> {
    type Item = T;
    const COUNT: usize = 16;
    #[inline(always)]
    unsafe fn all(x: T) -> Plain<T> {
        Plain([x; 16])
    }
    #[inline(always)]
    unsafe fn with(mut self, x: *const T, n: usize) -> Plain<T> {
        // SAFETY: the caller's.
        unsafe {
            if n >= 16 {
                return Plain(x.cast::<[T; 16]>().read());
            }
            (0..n).for_each(|k| self.0[k] = x.add(k).read());
        }
        self
    }
    #[inline(always)]
    unsafe fn store(self, r: *mut T, n: usize) {
        // SAFETY: the caller's.
        unsafe {
            if n >= 16 {
                return r.cast::<[T; 16]>().write(self.0);
            }
            (0..n).for_each(|k| r.add(k).write(self.0[k]));
        }
    }
    #[inline(always)]
    unsafe fn greater(self, other: Plain<T>) -> Plain<T> {
        self.with_each(other, greater)
    }
    #[inline(always)]
    unsafe fn add(self, other: Plain<T>) -> Plain<T> {
        self.with_each(other, T::add)
    }
    #[inline(always)]
    unsafe fn sub(self, other: Plain<T>) -> Plain<T> {
        self.with_each(other, T::sub)
    }
    #[inline(always)]
    unsafe fn mul(self, other: Plain<T>) -> Plain<T> {
        self.with_each(other, T::mul)
    }
    #[inline(always)]
    unsafe fn greatest(self) -> T {
        self.folded(greater)
    }
    #[inline(always)]
    unsafe fn sum(self) -> T {
        self.folded(T::add)
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
            unsafe fn all(x: $t) -> $name {
                // SAFETY: the caller's; so below.
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
            unsafe fn greater(self, other: $name) -> $name {
                // SAFETY: of unordered operands the second is the result.
                unsafe { $name($max(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn add(self, other: $name) -> $name {
                // SAFETY: the caller's.
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn sub(self, other: $name) -> $name {
                // SAFETY: the caller's.
                unsafe { $name($sub(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn mul(self, other: $name) -> $name {
                // SAFETY: the caller's.
                unsafe { $name($mul(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn greatest(self) -> $t {
                // SAFETY: the caller's.
                unsafe { $reduce_max(self.0) }
            }
            #[inline(always)]
            unsafe fn sum(self) -> $t {
                // SAFETY: the caller's.
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
