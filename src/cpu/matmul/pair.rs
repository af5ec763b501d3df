//! Products of 16-bit numbers by instructions that multiply pairs of them and add both products to a 32-bit sum: `vdpbf16ps` for bfloat16,
//! `pmaddwd` or `vpdpwssd` for int16.
//!
//! Two neighbouring elements along the dimension that is summed over are one pair. The kernels of such products are kernels for products of
//! pairs, of half the depth. `vdpbf16ps` counts subnormal numbers as 0. Sums of int16 wrap.

use super::kernel::{self, Kernel, ProductKernel, SHORT, Strip, TALL};
use super::number::Number;
use crate::cpu::simd::{Level, level, with_avx2};
use crate::dtype::Dtype;
use std::arch::x86_64::*;
use std::mem::transmute_copy;
use thorn_lapack::vendor::{Library, Routines};

/// In A and B: two bfloat16, the first in the lower half. In C, alpha and beta: a float32.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(transparent)]
struct BfloatPair(f32);

/// In A and B: two int16, the first in the lower half. In C, alpha and beta: an int32. `VNNI` is only for processors with AVX512_VNNI.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(transparent)]
struct IntegerPair<const VNNI: bool>(i32);

/// Returns the kernel for a product of a dtype, if this processor has an instruction for pairs of the dtype.
pub(super) fn kernel(dtype: Dtype) -> Option<Kernel> {
    match dtype {
        Dtype::Bfloat16 if level() == Level::Avx512 && std::is_x86_feature_detected!("avx512bf16") => {
            Some(Kernel::Float(ProductKernel { strip: bfloat_avx512, ..kernel::kernel::<f32, 16, 8, 4, 2, 1>(Level::Avx512) }))
        }
        Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 => int16(level()).map(Kernel::Integer),
        _ => None,
    }
}

/// Returns the kernel for pairs of int16 for an instruction set, which the processor must have. The baseline has none, and AVX-512 without
/// VNNI has the kernel of AVX2, because others would make the library larger for few processors.
pub(super) fn int16(level: Level) -> Option<ProductKernel<i32>> {
    let of = |level, strip: unsafe fn(&Strip<i32>)| Some(ProductKernel { strip, ..kernel::kernel::<i32, 16, 8, 4, 2, 1>(level) });
    match level {
        Level::Avx512 if std::is_x86_feature_detected!("avx512vnni") => of(level, integer_avx512),
        Level::Avx512 | Level::Avx2 => of(Level::Avx2, integer_avx2),
        Level::Baseline => None,
    }
}

impl From<f32> for BfloatPair {
    fn from(x: f32) -> BfloatPair {
        BfloatPair(x)
    }
}

impl<const VNNI: bool> From<i32> for IntegerPair<VNNI> {
    fn from(x: i32) -> IntegerPair<VNNI> {
        IntegerPair(x)
    }
}

impl BfloatPair {
    fn halves(self) -> [f32; 2] {
        let bits = self.0.to_bits();
        [f32::from_bits(bits << 16), f32::from_bits(bits & 0xffff_0000)]
    }
}

impl Number for BfloatPair {
    const ZERO: BfloatPair = BfloatPair(0.0);
    const ONE: BfloatPair = BfloatPair(1.0);
    const ROUTINES: Option<fn(&Library) -> &Routines<BfloatPair>> = None;

    #[inline(always)]
    fn add(a: BfloatPair, b: BfloatPair) -> BfloatPair {
        BfloatPair(a.0 + b.0)
    }

    #[inline(always)]
    fn mul(a: BfloatPair, b: BfloatPair) -> BfloatPair {
        BfloatPair(a.0 * b.0)
    }

    #[inline(always)]
    fn mul_add<const FUSED: bool>(a: BfloatPair, b: BfloatPair, c: BfloatPair) -> BfloatPair {
        let ([a0, a1], [b0, b1]) = (a.halves(), b.halves());
        BfloatPair(c.0 + a0 * b0 + a1 * b1)
    }

    #[inline(always)]
    fn mul_add_vector<const FUSED: bool, const N: usize>(a: BfloatPair, b: [BfloatPair; N], c: [BfloatPair; N]) -> [BfloatPair; N] {
        let a = a.0.to_bits() as i32;
        // SAFETY: the vectors have 32 N bits. Only `bfloat_avx512` calls this, and the processor has the instruction.
        unsafe {
            match N {
                16 => transmute_copy(&_mm512_dpbf16_ps(transmute_copy(&c), transmute_copy(&_mm512_set1_epi32(a)), transmute_copy(&b))),
                8 => transmute_copy(&_mm256_dpbf16_ps(transmute_copy(&c), transmute_copy(&_mm256_set1_epi32(a)), transmute_copy(&b))),
                4 => transmute_copy(&_mm_dpbf16_ps(transmute_copy(&c), transmute_copy(&_mm_set1_epi32(a)), transmute_copy(&b))),
                _ => unreachable!("vectors have 64, 32 or 16 bytes"),
            }
        }
    }
}

impl<const VNNI: bool> Number for IntegerPair<VNNI> {
    const ZERO: IntegerPair<VNNI> = IntegerPair(0);
    const ONE: IntegerPair<VNNI> = IntegerPair(1);
    const ROUTINES: Option<fn(&Library) -> &Routines<IntegerPair<VNNI>>> = None;

    #[inline(always)]
    fn add(a: IntegerPair<VNNI>, b: IntegerPair<VNNI>) -> IntegerPair<VNNI> {
        IntegerPair(a.0.wrapping_add(b.0))
    }

    #[inline(always)]
    fn mul(a: IntegerPair<VNNI>, b: IntegerPair<VNNI>) -> IntegerPair<VNNI> {
        IntegerPair(a.0.wrapping_mul(b.0))
    }

    #[inline(always)]
    fn mul_add<const FUSED: bool>(a: IntegerPair<VNNI>, b: IntegerPair<VNNI>, c: IntegerPair<VNNI>) -> IntegerPair<VNNI> {
        let low = i32::from(a.0 as i16) * i32::from(b.0 as i16);
        IntegerPair(c.0.wrapping_add(low).wrapping_add((a.0 >> 16) * (b.0 >> 16)))
    }

    #[inline(always)]
    fn mul_add_vector<const FUSED: bool, const N: usize>(
        a: IntegerPair<VNNI>,
        b: [IntegerPair<VNNI>; N],
        c: [IntegerPair<VNNI>; N],
    ) -> [IntegerPair<VNNI>; N] {
        // SAFETY: the vectors have 32 N bits. The kernels of an instruction set have only vectors of that set.
        unsafe {
            match N {
                16 if VNNI => transmute_copy(&_mm512_dpwssd_epi32(transmute_copy(&c), _mm512_set1_epi32(a.0), transmute_copy(&b))),
                8 if VNNI => transmute_copy(&_mm256_dpwssd_epi32(transmute_copy(&c), _mm256_set1_epi32(a.0), transmute_copy(&b))),
                4 if VNNI => transmute_copy(&_mm_dpwssd_epi32(transmute_copy(&c), _mm_set1_epi32(a.0), transmute_copy(&b))),
                8 => {
                    let products = _mm256_madd_epi16(_mm256_set1_epi32(a.0), transmute_copy(&b));
                    transmute_copy(&_mm256_add_epi32(transmute_copy(&c), products))
                }
                4 => {
                    let products = _mm_madd_epi16(_mm_set1_epi32(a.0), transmute_copy(&b));
                    transmute_copy(&_mm_add_epi32(transmute_copy(&c), products))
                }
                _ => std::array::from_fn(|l| Self::mul_add::<FUSED>(a, b[l], c[l])),
            }
        }
    }
}

with_avx2! {
    unsafe fn integer_avx2(task: &Strip<i32>) {
        // SAFETY: the caller keeps this function's contract. A pair is an i32.
        unsafe { kernel::strip::<IntegerPair<false>, false, SHORT, 8, 4, 2>(&task.of_pairs()) }
    }
}

#[target_feature(enable = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn integer_avx512(task: &Strip<i32>) {
    // SAFETY: the caller keeps this function's contract. A pair is an i32.
    unsafe { kernel::strip::<IntegerPair<true>, false, TALL, 16, 8, 4>(&task.of_pairs()) }
}

#[target_feature(enable = "avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn bfloat_avx512(task: &Strip<f32>) {
    // SAFETY: the caller keeps this function's contract. A pair is an f32.
    unsafe { kernel::strip::<BfloatPair, false, TALL, 16, 8, 4>(&task.of_pairs()) }
}
