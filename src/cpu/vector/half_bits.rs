//! Conversion of 16-bit floats by integer operations on the bits of float32, for registers without instructions for these types.

/// Returns the value of a float16, by arithmetic that vectorises on all processors.
#[inline(always)]
pub fn f16_value(bits: u16) -> f32 {
    const INFINITY: u32 = 0x7c00 << 13;
    let (sign, size) = ((u32::from(bits) & 0x8000) << 16, (u32::from(bits) & 0x7fff) << 13);
    // A factor of 2^112 corrects the exponent, also of subnormal numbers. Infinity and NaN have the highest exponent.
    let finite = (f32::from_bits(size) * f32::from_bits((112 + 127) << 23)).to_bits();
    f32::from_bits(sign | if size >= INFINITY { size | 0x7f80_0000 } else { finite })
}

/// Returns the upper half of a float32, rounded by integer operations, because the bf16 instructions of x86 would flush subnormal numbers.
#[inline(always)]
pub fn round_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(HALF_ULP + (bits >> 16 & 1));
    (if x.is_nan() { bits | QUIET } else { rounded } >> 16) as u16
}

/// The bit that marks a quiet NaN.
pub(super) const QUIET: u32 = 0x0040_0000;
/// Just less than half a unit in the last place of a bfloat16. Odd numbers get 1 more, so that ties round to even.
pub(super) const HALF_ULP: u32 = 0x7fff;
