//! 16-bit floats by the bits of float32, for registers without instructions for them.

/// The value of a float16, by arithmetic that vectorises everywhere.
#[inline(always)]
pub fn f16_value(bits: u16) -> f32 {
    const INFINITY: u32 = 0x7c00 << 13;
    let (sign, size) = ((u32::from(bits) & 0x8000) << 16, (u32::from(bits) & 0x7fff) << 13);
    // A factor of 2^112 puts the exponent right, that of subnormals too; infinity and NaN have the highest one.
    let finite = (f32::from_bits(size) * f32::from_bits((112 + 127) << 23)).to_bits();
    f32::from_bits(sign | if size >= INFINITY { size | 0x7f80_0000 } else { finite })
}

/// The upper half of a float32, rounded. In integers: the bf16 instructions of x86 would flush subnormals.
#[inline(always)]
pub fn round_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(HALF_ULP + (bits >> 16 & 1));
    (if x.is_nan() { bits | QUIET } else { rounded } >> 16) as u16
}

/// The bit of a quiet NaN.
pub(super) const QUIET: u32 = 0x0040_0000;
/// Just less than half a unit in the last place of a bfloat16; odd numbers get the rest, so that ties go to even.
pub(super) const HALF_ULP: u32 = 0x7fff;
