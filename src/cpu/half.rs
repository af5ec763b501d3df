//! Conversions between 16-bit floats and float32: float16 (IEEE binary16) and bfloat16, block by block in registers, or in runs.
//!
//! Narrowing rounds to nearest, ties to even; it overflows to infinity and makes NaNs quiet. Neither side needs to be aligned.

use super::simd::{Isa, Level, level, simd_at};
#[cfg(target_arch = "x86_64")]
use super::vector::F32x16;
use super::vector::{Float32s, Register, by_level, round_to_bf16};
use half::f16;

/// Elements converted together: two registers of float32 with AVX-512.
pub(crate) const BLOCK: usize = 32;

/// A 16-bit float type, which is only for storage.
pub trait Half {
    /// Returns the block at `src` as float32, exactly. NaNs keep their bits.
    ///
    /// # Safety
    /// `src` must have BLOCK elements; `isa` must be the instruction set of the calling code.
    unsafe fn load(isa: Isa, src: *const u16) -> [f32; BLOCK];
    /// Stores `x`, rounded, as the block at `dst`.
    ///
    /// # Safety
    /// `dst` must have BLOCK elements; `isa` must be the instruction set of the calling code.
    unsafe fn store(isa: Isa, dst: *mut u16, x: [f32; BLOCK]);
}

/// IEEE binary16.
pub struct F16;
/// The upper half of a float32.
pub struct Bf16;

/// Calls `f` with the index of the first element of each register `V` of a block.
#[inline(always)]
fn for_registers<V: Register>(f: impl Fn(usize)) {
    for i in (0..BLOCK).step_by(V::LANES) {
        f(i);
    }
}

impl Half for F16 {
    #[inline(always)]
    unsafe fn load(isa: Isa, src: *const u16) -> [f32; BLOCK] {
        let mut x = [0.0; BLOCK];
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if isa.level() == Level::Baseline {
                for i in 0..BLOCK {
                    x[i] = f16::from_bits(src.add(i).read_unaligned()).to_f32();
                }
            } else {
                let to = x.as_mut_ptr();
                by_level!(isa, f32, V => for_registers::<V>(#[inline(always)] |i| V::load_f16(src.add(i)).store(to.add(i))));
            }
        }
        x
    }

    #[inline(always)]
    unsafe fn store(isa: Isa, dst: *mut u16, x: [f32; BLOCK]) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if isa.level() == Level::Baseline {
                for i in 0..BLOCK {
                    dst.add(i).write_unaligned(f16::from_f32(x[i]).to_bits());
                }
            } else {
                let from = x.as_ptr();
                by_level!(isa, f32, V => for_registers::<V>(#[inline(always)] |i| V::load(from.add(i)).store_f16(dst.add(i))));
            }
        }
    }
}

impl Half for Bf16 {
    #[inline(always)]
    unsafe fn load(isa: Isa, src: *const u16) -> [f32; BLOCK] {
        let mut x = [0.0; BLOCK];
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if isa.level() == Level::Baseline {
                for i in 0..BLOCK {
                    x[i] = f32::from_bits(u32::from(src.add(i).read_unaligned()) << 16);
                }
            } else {
                let to = x.as_mut_ptr();
                by_level!(isa, f32, V => for_registers::<V>(#[inline(always)] |i| V::load_bf16(src.add(i)).store(to.add(i))));
            }
        }
        x
    }

    #[inline(always)]
    unsafe fn store(isa: Isa, dst: *mut u16, x: [f32; BLOCK]) {
        match isa.level() {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                let from = x.as_ptr();
                // SAFETY: the caller keeps this function's contract; a block fills two registers.
                unsafe { F32x16::store_bf16([F32x16::load(from), F32x16::load(from.add(16))], dst) }
            }
            _ => {
                for i in 0..BLOCK {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { dst.add(i).write_unaligned(round_to_bf16(x[i])) }
                }
            }
        }
    }
}

/// `dst = src`, exactly.
///
/// # Safety
/// Both sides must hold `n` elements and not overlap.
pub unsafe fn widen<H: Half>(dst: *mut f32, src: *const u16, n: usize) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { widen_at::<H>(level(), dst, src, n) }
}

/// `dst = src`, rounded.
///
/// # Safety
/// Both sides must hold `n` elements and not overlap.
pub unsafe fn narrow<H: Half>(dst: *mut u16, src: *const f32, n: usize) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { narrow_at::<H>(level(), dst, src, n) }
}

/// # Safety
/// As for [`widen`]; the machine has the level.
unsafe fn widen_at<H: Half>(level: Level, dst: *mut f32, src: *const u16, n: usize) {
    let (whole, rest) = (n - n % BLOCK, n % BLOCK);
    // SAFETY: the caller keeps this function's contract; the last elements go through buffers of a block.
    unsafe {
        simd_at(
            level,
            #[inline(always)]
            move |isa| {
                for i in (0..whole).step_by(BLOCK) {
                    dst.add(i).cast::<[f32; BLOCK]>().write_unaligned(H::load(isa, src.add(i)));
                }
                if rest > 0 {
                    let mut halves = [0; BLOCK];
                    copy_elements(halves.as_mut_ptr(), src.add(whole), rest);
                    copy_elements(dst.add(whole), H::load(isa, halves.as_ptr()).as_ptr(), rest);
                }
            },
        )
    }
}

/// # Safety
/// As for [`narrow`]; the machine has the level.
unsafe fn narrow_at<H: Half>(level: Level, dst: *mut u16, src: *const f32, n: usize) {
    let (whole, rest) = (n - n % BLOCK, n % BLOCK);
    // SAFETY: the caller keeps this function's contract; the last elements go through buffers of a block.
    unsafe {
        simd_at(
            level,
            #[inline(always)]
            move |isa| {
                for i in (0..whole).step_by(BLOCK) {
                    H::store(isa, dst.add(i), src.add(i).cast::<[f32; BLOCK]>().read_unaligned());
                }
                if rest > 0 {
                    let (mut floats, mut halves) = ([0.0; BLOCK], [0; BLOCK]);
                    copy_elements(floats.as_mut_ptr(), src.add(whole), rest);
                    H::store(isa, halves.as_mut_ptr(), floats);
                    copy_elements(dst.add(whole), halves.as_ptr(), rest);
                }
            },
        )
    }
}

/// # Safety
/// Both sides must hold `n` elements and not overlap.
#[inline(always)]
unsafe fn copy_elements<T>(dst: *mut T, src: *const T, n: usize) {
    // Copies bytes, because the elements may be unaligned. SAFETY: the caller keeps this function's contract.
    unsafe { std::ptr::copy_nonoverlapping(src.cast::<u8>(), dst.cast::<u8>(), n * size_of::<T>()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::vector::f16_value;
    use half::bf16;

    fn levels() -> impl Iterator<Item = Level> {
        [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&at| at <= level())
    }

    fn all_halves() -> Vec<u16> {
        (0..=u16::MAX).collect()
    }

    /// Returns floats with arbitrary bits, floats around every half, and every kind of NaN.
    fn floats(widened: impl Fn(u16) -> f32) -> Vec<f32> {
        let mut bits = 0x1234_5678u32;
        let random = (0..100_000).map(|_| {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(bits ^ bits >> 15)
        });
        // Between two neighbouring halves: the middle, which is exact in f32, and its two neighbours.
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
        for at in levels() {
            let mut out = vec![0f32; halves.len()];
            // SAFETY: both vectors have the length of `halves`.
            unsafe { widen_at::<F16>(at, out.as_mut_ptr(), halves.as_ptr(), halves.len()) };
            assert!(bits(&out) == bits(&expected), "{at:?}");
        }
    }

    #[test]
    fn floats_narrow_to_the_nearest_float16() {
        let xs = floats(|h| f16::from_bits(h).to_f32());
        let expected: Vec<u16> = xs.iter().map(|&x| f16::from_f32(x).to_bits()).collect();
        for at in levels() {
            let mut out = vec![0u16; xs.len()];
            // SAFETY: both vectors have `xs.len()` elements.
            unsafe { narrow_at::<F16>(at, out.as_mut_ptr(), xs.as_ptr(), xs.len()) };
            assert!(out == expected, "{at:?}");
        }
    }

    #[test]
    fn float16_rounds_overflows_and_keeps_nan() {
        let xs = [65519.0, 65520.0, -1e9, 5.9604645e-8, 2.9802322e-8, f32::from_bits(0x3300_0001), f32::from_bits(0x7f80_0001), -0.0];
        let mut out = [0u16; 8];
        // SAFETY: both hold 8 elements.
        unsafe { narrow::<F16>(out.as_mut_ptr(), xs.as_ptr(), 8) };
        assert_eq!(out, [0x7bff, 0x7c00, 0xfc00, 0x0001, 0x0000, 0x0001, 0x7e00, 0x8000]);
    }

    #[test]
    fn bfloat16_widens_to_the_same_bits_and_narrows_to_the_nearest() {
        let halves = all_halves();
        let xs = floats(|h| bf16::from_bits(h).to_f32());
        for at in levels() {
            let (mut wide, mut out) = (vec![0f32; halves.len()], vec![0u16; xs.len()]);
            // SAFETY: the vectors have the length of `halves`.
            unsafe {
                widen_at::<Bf16>(at, wide.as_mut_ptr(), halves.as_ptr(), halves.len());
                narrow_at::<Bf16>(at, out.as_mut_ptr(), xs.as_ptr(), xs.len());
            }
            assert!((0..=u16::MAX).all(|h| wide[h as usize].to_bits() == u32::from(h) << 16), "{at:?}");
            assert!(xs.iter().zip(&out).all(|(&x, &h)| h == bf16::from_f32(x).to_bits()), "{at:?}");
        }
    }

    #[test]
    fn any_length_and_any_address() {
        let src: Vec<u8> = (0..400).map(|i| (i * 37 % 251) as u8).collect();
        for at in levels() {
            for (n, from, to) in (0..40).flat_map(|n| [(n, 0, 0), (n, 1, 3), (n, 2, 1)]) {
                let (mut wide, mut back) = (vec![0xaau8; 200], vec![0xaau8; 100]);
                // SAFETY: 40 halves are 80 bytes, 40 floats 160.
                unsafe {
                    widen_at::<F16>(at, wide[to..].as_mut_ptr().cast(), src[from..].as_ptr().cast(), n);
                    narrow_at::<F16>(at, back[to..].as_mut_ptr().cast(), wide[to..].as_ptr().cast(), n);
                }
                assert!(wide[..to].iter().chain(&wide[to + 4 * n..]).all(|&b| b == 0xaa), "{at:?}, {n}");
                assert!(back[..to].iter().chain(&back[to + 2 * n..]).all(|&b| b == 0xaa), "{at:?}, {n}");
                let same = |(a, b): (&[u8], &[u8])| f16::from_le_bytes([a[0], a[1]]).is_nan() || a == b;
                assert!(src[from..from + 2 * n].chunks(2).zip(back[to..to + 2 * n].chunks(2)).all(same), "{at:?}, {n}");
            }
        }
    }
}
