//! The extreme of a row of numbers and its place, by whole vectors.

use super::Ordered;
use crate::cpu::stream;
use crate::dtype::Element;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// A vector of numbers that can be compared.
///
/// # Safety
/// Of all functions: the machine has the instruction set, and pointers lead to as many numbers as are read.
#[allow(clippy::missing_safety_doc)]
pub trait Ranked: Copy {
    /// Of a lane.
    type Item: Element;
    /// Lanes.
    const WIDTH: usize;
    /// These numbers.
    unsafe fn load(x: *const Self::Item) -> Self;
    /// `x` in all lanes.
    unsafe fn all(x: Self::Item) -> Self;
    /// The greater (`MAX`) or lesser numbers, if none is NaN.
    unsafe fn better<const MAX: bool>(self, other: Self) -> Self;
    /// The greatest or least lane, if none is NaN.
    unsafe fn best<const MAX: bool>(self) -> Self::Item;
    /// A bit for each lane: whether it is equal to the other's.
    unsafe fn same(self, other: Self) -> u64;
    /// A bit for each lane: whether it or the other's is NaN.
    unsafe fn unordered(self, other: Self) -> u64;
}

#[cfg(target_arch = "x86_64")]
macro_rules! ranked {
    ($($(#[$doc:meta])* $V:ident($register:ident) $T:ident $width:literal $load:ident $all:ident $max:ident $min:ident,
       |$a:ident, $b:ident| $same:expr, $unordered:expr, |$x:ident| $best:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $V($register);

        impl Ranked for $V {
            type Item = $T;
            const WIDTH: usize = $width;
            #[inline(always)]
            unsafe fn load(x: *const $T) -> $V {
                // SAFETY: the caller's.
                $V(unsafe { $load(x) })
            }
            #[inline(always)]
            unsafe fn all(x: $T) -> $V {
                // SAFETY: the caller's.
                $V(unsafe { $all(x) })
            }
            #[inline(always)]
            unsafe fn better<const MAX: bool>(self, other: $V) -> $V {
                // SAFETY: the caller's.
                $V(unsafe { if MAX { $max(self.0, other.0) } else { $min(self.0, other.0) } })
            }
            #[inline(always)]
            unsafe fn best<const MAX: bool>(self) -> $T {
                let $x = self;
                // SAFETY: the caller's.
                unsafe { $best }
            }
            #[inline(always)]
            unsafe fn same(self, other: $V) -> u64 {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: the caller's.
                u64::from(unsafe { $same })
            }
            #[inline(always)]
            unsafe fn unordered(self, other: $V) -> u64 {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: the caller's.
                u64::from(unsafe { $unordered })
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn load_int64(x: *const i64) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_loadu_si512(x.cast()) }
}

#[cfg(target_arch = "x86_64")]
ranked! {
    /// Float32 of AVX-512.
    Zmm32(__m512) f32 16 _mm512_loadu_ps _mm512_set1_ps _mm512_max_ps _mm512_min_ps,
        |a, b| _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b), _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b),
        |x| if MAX { _mm512_reduce_max_ps(x.0) } else { _mm512_reduce_min_ps(x.0) };
    /// Float64 of AVX-512.
    Zmm64(__m512d) f64 8 _mm512_loadu_pd _mm512_set1_pd _mm512_max_pd _mm512_min_pd,
        |a, b| _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b), _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, b),
        |x| if MAX { _mm512_reduce_max_pd(x.0) } else { _mm512_reduce_min_pd(x.0) };
    /// Int64 of AVX-512.
    ZmmInt64(__m512i) i64 8 load_int64 _mm512_set1_epi64 _mm512_max_epi64 _mm512_min_epi64,
        // No integer is less than itself: no bit, ever, where floats have one for NaN.
        |a, b| _mm512_cmpeq_epi64_mask(a, b), _mm512_cmplt_epi64_mask(a, a) | _mm512_cmplt_epi64_mask(b, b),
        |x| if MAX { _mm512_reduce_max_epi64(x.0) } else { _mm512_reduce_min_epi64(x.0) };
    /// Float32 of AVX2.
    Ymm32(__m256) f32 8 _mm256_loadu_ps _mm256_set1_ps _mm256_max_ps _mm256_min_ps,
        |a, b| _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)) as u32, _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(a, b)) as u32,
        |x| {
            let x = x.better::<MAX>(Ymm32(_mm256_permute2f128_ps::<1>(x.0, x.0)));
            let x = x.better::<MAX>(Ymm32(_mm256_permute_ps::<0b01_00_11_10>(x.0)));
            _mm256_cvtss_f32(x.better::<MAX>(Ymm32(_mm256_permute_ps::<0b10_11_00_01>(x.0))).0)
        };
    /// Float64 of AVX2.
    Ymm64(__m256d) f64 4 _mm256_loadu_pd _mm256_set1_pd _mm256_max_pd _mm256_min_pd,
        |a, b| _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)) as u32, _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(a, b)) as u32,
        |x| {
            let x = x.better::<MAX>(Ymm64(_mm256_permute2f128_pd::<1>(x.0, x.0)));
            _mm256_cvtsd_f64(x.better::<MAX>(Ymm64(_mm256_permute_pd::<0b0101>(x.0))).0)
        };
}

/// Four lanes that any compiler makes vectors of.
#[derive(Clone, Copy)]
pub struct Four<T>([T; 4]);

impl<T: Ordered> Ranked for Four<T> {
    type Item = T;
    const WIDTH: usize = 4;
    #[inline(always)]
    unsafe fn load(x: *const T) -> Four<T> {
        // SAFETY: the caller's.
        Four(unsafe { x.cast::<[T; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn all(x: T) -> Four<T> {
        Four([x; 4])
    }
    #[inline(always)]
    unsafe fn better<const MAX: bool>(self, other: Four<T>) -> Four<T> {
        let mut better = self.0;
        for k in 0..4 {
            better[k] = if self.0[k].above(other.0[k]) == MAX { self.0[k] } else { other.0[k] };
        }
        Four(better)
    }
    #[inline(always)]
    unsafe fn best<const MAX: bool>(self) -> T {
        self.0.into_iter().fold(self.0[0], |best, x| if x.above(best) == MAX { x } else { best })
    }
    #[inline(always)]
    unsafe fn same(self, other: Four<T>) -> u64 {
        (0..4).map(|k| u64::from(self.0[k] == other.0[k]) << k).sum()
    }
    #[inline(always)]
    unsafe fn unordered(self, other: Four<T>) -> u64 {
        (0..4).map(|k| u64::from(self.0[k].is_nan() | other.0[k].is_nan()) << k).sum()
    }
}

/// What a level's vectors do: `ranked_by_level!(isa, Zmm32 Ymm32 f32, V => f::<V>(..))`. For kernels that are inlined into one of
/// [`simd`](crate::cpu::simd::simd).
macro_rules! ranked_by_level {
    ($isa:expr, $Zmm:ident $Ymm:ident $T:ident, $V:ident => $body:expr) => {
        match $isa.level() {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::simd::Level::Avx512 => {
                type $V = $crate::cpu::fold::search::$Zmm;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::simd::Level::Avx2 => {
                type $V = $crate::cpu::fold::search::$Ymm;
                $body
            }
            _ => {
                type $V = $crate::cpu::fold::search::Four<$T>;
                $body
            }
        }
    };
}
pub(super) use ranked_by_level;

/// The greatest (`MAX`) or least of `n` contiguous elements, NaN if one is.
///
/// # Safety
/// `x` holds them, a vector or more; as for [`Ranked`].
#[inline(always)]
pub unsafe fn best<V: Ranked, const MAX: bool>(x: *const V::Item, n: usize) -> V::Item {
    const ABREAST: usize = 4;
    // So many bytes on, in the next row mostly, memory is asked for what a search for the place would keep it waiting with.
    const AHEAD: usize = 4096;
    // SAFETY: the caller's.
    unsafe {
        let last = V::load(x.add(n - V::WIDTH));
        let (mut found, mut nans, mut at) = ([last; ABREAST], last.unordered(last), 0);
        while n - at >= ABREAST * V::WIDTH {
            let x = x.add(at);
            stream::prefetch(x.wrapping_byte_add(AHEAD).cast(), ABREAST * V::WIDTH * size_of::<V::Item>());
            let [a, b] = [V::load(x), V::load(x.add(V::WIDTH))];
            let [c, d] = [V::load(x.add(2 * V::WIDTH)), V::load(x.add(3 * V::WIDTH))];
            nans |= a.unordered(b) | c.unordered(d);
            found = [found[0].better::<MAX>(a), found[1].better::<MAX>(b), found[2].better::<MAX>(c), found[3].better::<MAX>(d)];
            at += ABREAST * V::WIDTH;
        }
        while n - at >= V::WIDTH {
            let a = V::load(x.add(at));
            nans |= a.unordered(a);
            found[0] = found[0].better::<MAX>(a);
            at += V::WIDTH;
        }
        let two = [found[0].better::<MAX>(found[1]), found[2].better::<MAX>(found[3])];
        if nans != 0 { V::Item::from_f64(f64::NAN) } else { two[0].better::<MAX>(two[1]).best::<MAX>() }
    }
}

/// The first of `n` contiguous elements that is `value`, which one of them is.
///
/// # Safety
/// As for [`best`].
#[inline(always)]
pub unsafe fn place<V: Ranked>(x: *const V::Item, n: usize, value: V::Item) -> usize {
    const LAST: usize = 8;
    // SAFETY: the caller's.
    unsafe {
        let (value, mut at) = (V::all(value), 0);
        while n - at > LAST * V::WIDTH {
            let x = x.add(at);
            let [a, b] = [V::load(x).same(value), V::load(x.add(V::WIDTH)).same(value)];
            let [c, d] = [V::load(x.add(2 * V::WIDTH)).same(value), V::load(x.add(3 * V::WIDTH)).same(value)];
            let (low, high) = (a | b << V::WIDTH, c | d << V::WIDTH);
            let found = low | high << (2 * V::WIDTH);
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 4 * V::WIDTH;
        }
        // Which half has it nobody could guess: both are searched, if there are two, and then one bit is looked for.
        let low = u128::from(four_same(x, n, at, value));
        let high = if n - at > 4 * V::WIDTH { u128::from(four_same(x, n, at + 4 * V::WIDTH, value)) } else { 0 };
        let bit = (low | high << (4 * V::WIDTH)).trailing_zeros() as usize;
        (at + bit / V::WIDTH * V::WIDTH).min(n - V::WIDTH) + bit % V::WIDTH
    }
}

/// Which of four vectors' elements from `at` on are `value`; vectors that would end beyond `n` begin earlier.
///
/// # Safety
/// As for [`best`].
#[inline(always)]
unsafe fn four_same<V: Ranked>(x: *const V::Item, n: usize, at: usize, value: V) -> u64 {
    let mut found = 0;
    for k in 0..4 {
        // SAFETY: the caller's.
        found |= unsafe { V::load(x.add((at + k * V::WIDTH).min(n - V::WIDTH))).same(value) } << (k * V::WIDTH);
    }
    found
}
