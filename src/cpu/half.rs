//! Runs of 16-bit floats to float32 and back: float16 (IEEE binary16) and bfloat16.
//!
//! Narrowing rounds to nearest, ties to even, overflows to infinity and makes NaNs quiet. No side needs to be aligned.

use super::simd::{Level, level, simd};
use half::f16;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The value of a float16, by arithmetic that vectorises everywhere.
#[inline(always)]
pub fn f16_value(bits: u16) -> f32 {
    const INFINITY: u32 = 0x7c00 << 13;
    let (sign, size) = ((u32::from(bits) & 0x8000) << 16, (u32::from(bits) & 0x7fff) << 13);
    // A factor of 2^112 puts the exponent right, that of subnormals too; infinity and NaN have the highest one.
    let finite = (f32::from_bits(size) * f32::from_bits((112 + 127) << 23)).to_bits();
    f32::from_bits(sign | if size >= INFINITY { size | 0x7f80_0000 } else { finite })
}

/// `dst = src`, exactly.
///
/// # Safety
/// Both sides must hold `n` elements and not overlap.
pub unsafe fn f16_to_f32(dst: *mut f32, src: *const u16, n: usize) {
    // SAFETY: the caller's.
    unsafe { widen(level(), dst, src, n) }
}

/// `dst = src`, rounded.
///
/// # Safety
/// Both sides must hold `n` elements and not overlap.
pub unsafe fn f32_to_f16(dst: *mut u16, src: *const f32, n: usize) {
    // SAFETY: the caller's.
    unsafe { narrow(level(), dst, src, n) }
}

/// `dst = src`, exactly: every bit is kept, NaNs too.
///
/// # Safety
/// Both sides must hold `n` elements and not overlap.
pub unsafe fn bf16_to_f32(dst: *mut f32, src: *const u16, n: usize) {
    simd(
        #[inline(always)]
        move |_| {
            for i in 0..n {
                // SAFETY: the caller's.
                unsafe { dst.add(i).cast::<u32>().write_unaligned(u32::from(src.add(i).read_unaligned()) << 16) }
            }
        },
    )
}

/// `dst = src`, rounded.
///
/// # Safety
/// Both sides must hold `n` elements and not overlap.
pub unsafe fn f32_to_bf16(dst: *mut u16, src: *const f32, n: usize) {
    simd(
        #[inline(always)]
        move |_| {
            for i in 0..n {
                // SAFETY: the caller's.
                unsafe { dst.add(i).write_unaligned(round_to_bf16(src.add(i).cast::<u32>().read_unaligned())) }
            }
        },
    )
}

/// The upper half of a float32, rounded. In integers: the bf16 instructions of x86 would flush subnormals.
#[inline(always)]
fn round_to_bf16(bits: u32) -> u16 {
    const INFINITY: u32 = 0x7f80_0000;
    const QUIET: u32 = 0x0040_0000;
    let odd = bits >> 16 & 1;
    let rounded = bits.wrapping_add(0x7fff + odd);
    let is_nan = bits & 0x7fff_ffff > INFINITY;
    (if is_nan { bits | QUIET } else { rounded } >> 16) as u16
}

/// # Safety
/// As for [`f16_to_f32`]; the machine has the level.
unsafe fn widen(level: Level, dst: *mut f32, src: *const u16, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => widen_avx512(dst, src, n),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => widen_avx2(dst, src, n),
            _ => (0..n).for_each(|i| dst.add(i).write_unaligned(f16::from_bits(src.add(i).read_unaligned()).to_f32())),
        }
    }
}

/// # Safety
/// As for [`f32_to_f16`]; the machine has the level.
unsafe fn narrow(level: Level, dst: *mut u16, src: *const f32, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => narrow_avx512(dst, src, n),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => narrow_avx2(dst, src, n),
            _ => (0..n).for_each(|i| dst.add(i).write_unaligned(f16::from_f32(src.add(i).read_unaligned()).to_bits())),
        }
    }
}

/// # Safety
/// Both sides must hold `n` elements and not overlap.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_elements<T>(dst: *mut T, src: *const T, n: usize) {
    // By bytes, because the elements may be unaligned.
    // SAFETY: the caller's.
    unsafe { std::ptr::copy_nonoverlapping(src.cast::<u8>(), dst.cast::<u8>(), n * size_of::<T>()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn widen_avx512(dst: *mut f32, src: *const u16, n: usize) {
    let whole = n - n % 16;
    // SAFETY: the caller's; the mask keeps the last step inside.
    unsafe {
        for i in (0..whole).step_by(16) {
            _mm512_storeu_ps(dst.add(i), _mm512_cvtph_ps(_mm256_loadu_si256(src.add(i).cast())));
        }
        let rest = (1u16 << (n - whole)) - 1;
        let last = _mm256_maskz_loadu_epi16(rest, src.add(whole).cast());
        _mm512_mask_storeu_ps(dst.add(whole), rest, _mm512_cvtph_ps(last));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn narrow_avx512(dst: *mut u16, src: *const f32, n: usize) {
    let whole = n - n % 16;
    // SAFETY: the caller's; the mask keeps the last step inside.
    unsafe {
        for i in (0..whole).step_by(16) {
            let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(src.add(i)));
            _mm256_storeu_si256(dst.add(i).cast(), halves);
        }
        let rest = (1u16 << (n - whole)) - 1;
        let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_maskz_loadu_ps(rest, src.add(whole)));
        _mm256_mask_storeu_epi16(dst.add(whole).cast(), rest, halves);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn widen_avx2(dst: *mut f32, src: *const u16, n: usize) {
    let whole = n - n % 8;
    // SAFETY: the caller's; the last elements go through buffers of a whole step.
    unsafe {
        for i in (0..whole).step_by(8) {
            _mm256_storeu_ps(dst.add(i), _mm256_cvtph_ps(_mm_loadu_si128(src.add(i).cast())));
        }
        let (mut halves, mut floats) = ([0u16; 8], [0f32; 8]);
        copy_elements(halves.as_mut_ptr(), src.add(whole), n - whole);
        _mm256_storeu_ps(floats.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(halves.as_ptr().cast())));
        copy_elements(dst.add(whole), floats.as_ptr(), n - whole);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,f16c")]
unsafe fn narrow_avx2(dst: *mut u16, src: *const f32, n: usize) {
    let whole = n - n % 8;
    // SAFETY: the caller's; the last elements go through buffers of a whole step.
    unsafe {
        for i in (0..whole).step_by(8) {
            let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(src.add(i)));
            _mm_storeu_si128(dst.add(i).cast(), halves);
        }
        let (mut halves, mut floats) = ([0u16; 8], [0f32; 8]);
        copy_elements(floats.as_mut_ptr(), src.add(whole), n - whole);
        let last = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(floats.as_ptr()));
        _mm_storeu_si128(halves.as_mut_ptr().cast(), last);
        copy_elements(dst.add(whole), halves.as_ptr(), n - whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;

    const LEVELS: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    fn all_halves() -> Vec<u16> {
        (0..=u16::MAX).collect()
    }

    /// Floats whose bits are all over the place, those around every half, and every sort of NaN.
    fn floats(widened: impl Fn(u16) -> f32) -> Vec<f32> {
        let mut bits = 0x1234_5678u32;
        let random = (0..100_000).map(|_| {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(bits ^ bits >> 15)
        });
        // Between two halves next to each other lie the middle, exact in f32, and its two neighbours.
        let middles = all_halves().into_iter().filter(|h| h & 0x7fff < 0x7c00).flat_map(|h| {
            let middle = f32::midpoint(widened(h), widened(h + 1)).to_bits();
            [middle, middle.wrapping_sub(1), middle.wrapping_add(1)].map(f32::from_bits)
        });
        let rest = [0x7f80_0001, 0xff80_0001, 0x7fa0_0000, 0x7fff_ffff, 0x0000_0001, 0x8000_0001, 0x007f_ffff, 0x7f7f_ffff, 0xff80_0000];
        random.chain(middles).chain(rest.map(f32::from_bits)).collect()
    }

    fn bits(floats: &[f32]) -> Vec<u32> {
        floats.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn every_float16_widens_as_the_standard_says() {
        let halves = all_halves();
        let expected: Vec<f32> = halves.iter().map(|&h| f16::from_bits(h).to_f32()).collect();
        assert!(halves.iter().zip(&expected).all(|(&h, x)| f16_value(h).to_bits() == x.to_bits() || x.is_nan() && f16_value(h).is_nan()));
        for at in LEVELS.into_iter().filter(|&at| at <= level()) {
            let mut out = vec![0f32; halves.len()];
            // SAFETY: both hold all halves.
            unsafe { widen(at, out.as_mut_ptr(), halves.as_ptr(), halves.len()) };
            assert!(bits(&out) == bits(&expected), "{at:?}");
        }
    }

    #[test]
    fn floats_narrow_to_the_nearest_float16() {
        let xs = floats(|h| f16::from_bits(h).to_f32());
        let expected: Vec<u16> = xs.iter().map(|&x| f16::from_f32(x).to_bits()).collect();
        for at in LEVELS.into_iter().filter(|&at| at <= level()) {
            let mut out = vec![0u16; xs.len()];
            // SAFETY: both hold xs.len() elements.
            unsafe { narrow(at, out.as_mut_ptr(), xs.as_ptr(), xs.len()) };
            assert!(out == expected, "{at:?}");
        }
    }

    #[test]
    fn float16_rounds_overflows_and_keeps_nan() {
        let xs = [65519.0, 65520.0, -1e9, 5.9604645e-8, 2.9802322e-8, f32::from_bits(0x3300_0001), f32::from_bits(0x7f80_0001), -0.0];
        let mut out = [0u16; 8];
        // SAFETY: both hold 8 elements.
        unsafe { f32_to_f16(out.as_mut_ptr(), xs.as_ptr(), 8) };
        assert_eq!(out, [0x7bff, 0x7c00, 0xfc00, 0x0001, 0x0000, 0x0001, 0x7e00, 0x8000]);
    }

    #[test]
    fn bfloat16_widens_to_the_same_bits_and_narrows_to_the_nearest() {
        let halves = all_halves();
        let mut wide = vec![0f32; halves.len()];
        // SAFETY: both hold all halves.
        unsafe { bf16_to_f32(wide.as_mut_ptr(), halves.as_ptr(), halves.len()) };
        assert!((0..=u16::MAX).all(|h| wide[h as usize].to_bits() == u32::from(h) << 16));

        let xs = floats(|h| bf16::from_bits(h).to_f32());
        let mut out = vec![0u16; xs.len()];
        // SAFETY: both hold xs.len() elements.
        unsafe { f32_to_bf16(out.as_mut_ptr(), xs.as_ptr(), xs.len()) };
        assert!(xs.iter().zip(&out).all(|(&x, &h)| h == bf16::from_f32(x).to_bits()));
    }

    #[test]
    fn any_length_and_any_address() {
        let src: Vec<u8> = (0..400).map(|i| (i * 37 % 251) as u8).collect();
        for at in LEVELS.into_iter().filter(|&at| at <= level()) {
            for (n, from, to) in (0..40).flat_map(|n| [(n, 0, 0), (n, 1, 3), (n, 2, 1)]) {
                let (mut wide, mut back) = (vec![0xaau8; 200], vec![0xaau8; 100]);
                // SAFETY: 40 halves are 80 bytes, 40 floats 160.
                unsafe {
                    widen(at, wide[to..].as_mut_ptr().cast(), src[from..].as_ptr().cast(), n);
                    narrow(at, back[to..].as_mut_ptr().cast(), wide[to..].as_ptr().cast(), n);
                }
                assert!(wide[..to].iter().chain(&wide[to + 4 * n..]).all(|&b| b == 0xaa), "{at:?}, {n}");
                assert!(back[..to].iter().chain(&back[to + 2 * n..]).all(|&b| b == 0xaa), "{at:?}, {n}");
                let same = |(a, b): (&[u8], &[u8])| f16::from_le_bytes([a[0], a[1]]).is_nan() || a == b;
                assert!(src[from..from + 2 * n].chunks(2).zip(back[to..to + 2 * n].chunks(2)).all(same), "{at:?}, {n}");
            }
        }
    }
}
