//! Products of bfloat16 by an instruction that multiplies pairs of them and adds both products to a float32 (`vdpbf16ps`).
//!
//! Two neighbouring elements along the dimension that is summed over are one [`Pair`]. A product of bfloat16 is then a product of pairs of
//! half the depth. Subnormal numbers count as 0.

use super::Gemm;
use super::kernel::{self, ProductKernel, Strip, TALL};
use super::number::Number;
use crate::cpu::parallel::{CHEAP, Shared, parallel};
use crate::cpu::simd::{Level, level, simd};
use half::bf16;
use thorn_lapack::vendor::{Library, Routines};

/// In A and B: two bfloat16, the first in the lower half. In C, alpha and beta: a float32.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(transparent)]
pub struct Pair(f32);

impl Pair {
    /// Returns `alpha` or `beta` as a pair.
    pub fn factor(x: f32) -> Pair {
        Pair(x)
    }

    /// Returns true if the processor has the instruction.
    pub fn is_available() -> bool {
        #[cfg(target_arch = "x86_64")]
        return level() == Level::Avx512 && std::is_x86_feature_detected!("avx512bf16");
        #[cfg(not(target_arch = "x86_64"))]
        false
    }

    fn halves(self) -> [f32; 2] {
        let bits = self.0.to_bits();
        [f32::from_bits(bits << 16), f32::from_bits(bits & 0xffff_0000)]
    }
}

impl Number for Pair {
    const ZERO: Pair = Pair(0.0);
    const ONE: Pair = Pair(1.0);
    const ROUTINES: Option<fn(&Library) -> &Routines<Pair>> = None;

    #[inline(always)]
    fn add(a: Pair, b: Pair) -> Pair {
        Pair(a.0 + b.0)
    }

    #[inline(always)]
    fn mul(a: Pair, b: Pair) -> Pair {
        Pair(a.0 * b.0)
    }

    #[inline(always)]
    fn mul_add<const FUSED: bool>(a: Pair, b: Pair, c: Pair) -> Pair {
        let ([a0, a1], [b0, b1]) = (a.halves(), b.halves());
        Pair(c.0 + a0 * b0 + a1 * b1)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn mul_add_vector<const FUSED: bool, const N: usize>(a: Pair, b: [Pair; N], c: [Pair; N]) -> [Pair; N] {
        use std::arch::x86_64::*;
        use std::mem::transmute_copy;
        let a = a.0.to_bits() as i32;
        // SAFETY: the vectors have 32 N bits. Only kernels of `kernel` call this, for which the processor has the instruction.
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

impl Gemm for Pair {
    #[allow(private_interfaces)]
    fn kernel(level: Level) -> ProductKernel<Pair> {
        assert!(Pair::is_available(), "the machine multiplies pairs");
        let kernel = kernel::kernel::<Pair, 16, 8, 4, 2, 1>(level);
        #[cfg(target_arch = "x86_64")]
        let kernel = ProductKernel { strip: strip_of_pairs, ..kernel };
        kernel
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn strip_of_pairs(task: &Strip<Pair>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { kernel::strip::<Pair, true, TALL, 16, 8, 4>(task) }
}

/// The elements to be packed in pairs: the sum is over `depth` elements, in each of `count` rows or columns. Strides are in elements.
#[derive(Debug, Clone, Copy)]
pub struct Unpaired {
    /// The first element.
    pub data: *const bf16,
    /// The number of elements in a sum.
    pub depth: usize,
    /// Elements from one element of a sum to the next.
    pub depth_stride: isize,
    /// The number of rows of A or columns of B.
    pub count: usize,
    /// Elements from one row or column to the next.
    pub stride: isize,
}

// SAFETY: threads only read the elements.
unsafe impl Sync for Unpaired {}

impl Unpaired {
    #[inline(always)]
    fn at(&self, depth: usize, i: usize) -> *const bf16 {
        self.data.wrapping_offset(depth as isize * self.depth_stride + i as isize * self.stride)
    }
}

/// Packs contiguous rows of pairs. A row of A has the pairs of a sum, a row of B has a pair of each column. If the depth is odd, the second
/// element of the last pair is 0.
///
/// # Safety
/// The elements must exist, and `to` must have room for all pairs. No other thread may write either during this call.
pub unsafe fn pair_up(to: *mut Pair, columns: bool, from: Unpaired) {
    let pairs = from.depth.div_ceil(2);
    let (rows, length) = if columns { (pairs, from.count) } else { (from.count, pairs) };
    let to = Shared(to.cast());
    let from = &from;
    parallel(rows, length, CHEAP, &|range| {
        for row in range {
            // SAFETY: the caller guarantees row `row` of the room.
            let to = unsafe { std::slice::from_raw_parts_mut(to.get().cast::<u32>().add(row * length), length) };
            if columns && from.stride == 1 && 2 * row + 1 < from.depth {
                // SAFETY: the caller guarantees two rows of elements.
                let [low, high] = [2 * row, 2 * row + 1].map(|depth| unsafe { std::slice::from_raw_parts(from.at(depth, 0), length) });
                simd(
                    #[inline(always)]
                    move |_| to.iter_mut().zip(low.iter().zip(high)).for_each(|(to, (&low, &high))| *to = joined(low, high)),
                );
                continue;
            }
            if !columns && from.depth_stride == 1 {
                // SAFETY: the caller guarantees a row of `depth` elements.
                let row = unsafe { std::slice::from_raw_parts(from.at(0, row), from.depth) };
                to.iter_mut().zip(row.chunks(2)).for_each(|(to, pair)| *to = joined(pair[0], *pair.get(1).unwrap_or(&bf16::ZERO)));
                continue;
            }
            for (i, to) in to.iter_mut().enumerate() {
                let (depth, i) = if columns { (2 * row, i) } else { (2 * i, row) };
                // SAFETY: the caller guarantees the elements, which are inside the depth.
                unsafe { *to = joined(*from.at(depth, i), if depth + 1 < from.depth { *from.at(depth + 1, i) } else { bf16::ZERO }) };
            }
        }
    });
}

#[inline(always)]
fn joined(low: bf16, high: bf16) -> u32 {
    u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16
}
