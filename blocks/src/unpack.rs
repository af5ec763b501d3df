//! Decoding: a block as codes and scales.

use crate::Blocks;
use half::f16;

/// The greatest number of numbers in a block.
pub const MOST: usize = 256;

/// The numbers of a group, which have one scale and one offset in all structures.
pub const GROUP: usize = 16;

/// The greatest number of bytes in a block.
const MOST_BYTES: usize = 210;

/// The values of the 16 codes of `IQ4_NL` and `IQ4_XS`.
pub const CURVE: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// Twice the values of the 16 codes of `MXFP4`, which are floats with two bits of exponent and one bit of mantissa.
pub const E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Returns half of the power of two with this biased exponent, the scale of `MXFP4`. The result can be subnormal.
#[inline(always)]
pub fn half_power(exponent: u8) -> f32 {
    let exponent = u32::from(exponent);
    f32::from_bits(if exponent < 2 { 0x0020_0000 << exponent } else { (exponent - 1) << 23 })
}

/// A decoded block: number `k` is `scales[k / GROUP] * codes[k] + offsets[k / GROUP]`.
#[derive(Debug, Clone)]
pub struct Unpacked {
    /// A small integer for each number.
    pub codes: [i8; MOST],
    /// The factor of each group.
    pub scales: [f32; MOST / GROUP],
    /// The offset of each group; -0.0, which changes no number, in structures without smallest values.
    pub offsets: [f32; MOST / GROUP],
}

impl Unpacked {
    /// Returns a block without numbers.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Unpacked {
        Unpacked { codes: [0; MOST], scales: [0.0; MOST / GROUP], offsets: [-0.0; MOST / GROUP] }
    }

    /// Returns number `k`.
    #[inline(always)]
    pub fn number(&self, k: usize) -> f32 {
        self.scales[k / GROUP] * f32::from(self.codes[k]) + self.offsets[k / GROUP]
    }

    /// Sets all codes.
    #[inline(always)]
    fn codes(&mut self, code: impl Fn(usize) -> u8) {
        self.codes.iter_mut().enumerate().for_each(|(k, to)| *to = code(k) as i8);
    }

    /// Sets the codes of a block of 32 numbers, and one scale and offset for all of them.
    #[inline(always)]
    fn small(&mut self, (scale, offset): (f32, f32), code: impl Fn(usize) -> u8) {
        self.codes[..32].iter_mut().enumerate().for_each(|(k, to)| *to = code(k) as i8);
        self.scales[..2].fill(scale);
        self.offsets[..2].fill(offset);
    }
}

impl Blocks {
    /// Decodes a block. Codes of structures with offsets are at least 0.
    pub fn unpack(self, block: &[u8], to: &mut Unpacked) {
        let size = self.bytes();
        let mut bytes = [0; MOST_BYTES];
        bytes[..size].copy_from_slice(&block[..size]);
        let block = &bytes;
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]).to_f32();
        // Four bits of number `k` of 32. The lower halves of 16 bytes are the first 16 numbers, and the upper halves are the others.
        let low = |at: usize, k: usize| block[at + k % 16] >> (k / 16 % 2 * 4) & 15;
        let five = |at: usize, k: usize| low(at + 4, k) | (block[at + k / 8] >> (k % 8) & 1) << 4;
        // Bits of number `k` of 256. Each byte in a group of 32 has four numbers of two bits, or two numbers of four bits.
        let two = |at: usize, k: usize| block[at + k / 128 * 32 + k % 32] >> (k / 32 % 4 * 2) & 3;
        let four = |at: usize, k: usize| block[at + k / 64 * 32 + k % 32] >> (k / 32 % 2 * 4) & 15;
        let one = |at: usize, k: usize| block[at + k % 32] >> (k / 32) & 1;
        match self {
            Blocks::Q4_0 => to.small((half(0), -0.0), |k| low(2, k).wrapping_sub(8)),
            Blocks::Q4_1 => to.small((half(0), half(2)), |k| low(4, k)),
            Blocks::Q5_0 => to.small((half(0), -0.0), |k| five(2, k).wrapping_sub(16)),
            Blocks::Q5_1 => to.small((half(0), half(2)), |k| five(4, k)),
            Blocks::Q8_0 => to.small((half(0), -0.0), |k| block[2 + k]),
            Blocks::IQ4_NL => to.small((half(0), -0.0), |k| CURVE[usize::from(low(2, k))] as u8),
            Blocks::MXFP4 => {
                to.small((half_power(block[0]), -0.0), |k| E2M1[usize::from(low(1, k))] as u8);
            }
            Blocks::Q2_K => {
                let (scale, least) = (half(80), half(82));
                to.scales = std::array::from_fn(|g| scale * f32::from(block[g] & 15));
                to.offsets = std::array::from_fn(|g| -(least * f32::from(block[g] >> 4)));
                to.codes(|k| two(16, k));
            }
            Blocks::Q3_K => {
                let scale = half(108);
                // The first 8 of 12 bytes have four bits of each scale, and the last 4 bytes have two.
                let bits = |g: usize| block[96 + g % 8] >> (g / 8 * 4) & 15 | (block[104 + g % 4] >> (g / 4 * 2) & 3) << 4;
                to.signed(|g| scale * (f32::from(bits(g)) - 32.0));
                to.codes(|k| (two(32, k) | one(0, k) << 2).wrapping_sub(4));
            }
            Blocks::Q4_K => {
                to.pairs(half(0), half(2), &block[4..]);
                to.codes(|k| four(16, k));
            }
            Blocks::Q5_K => {
                to.pairs(half(0), half(2), &block[4..]);
                to.codes(|k| four(48, k) | one(16, k) << 4);
            }
            Blocks::Q6_K => {
                let scale = half(208);
                to.signed(|g| scale * f32::from(block[192 + g] as i8));
                let lower = |k: usize| block[k / 128 * 64 + k % 64] >> (k / 64 % 2 * 4) & 15;
                to.codes(|k| (lower(k) | two(128, k) << 4).wrapping_sub(32));
            }
            Blocks::IQ4_XS => {
                let scale = half(0);
                let upper = u16::from_le_bytes([block[2], block[3]]);
                let bits = |g: usize| block[4 + g / 2] >> (g % 2 * 4) & 15 | ((upper >> (2 * g) & 3) as u8) << 4;
                to.signed(|g| scale * (f32::from(bits(g / 2)) - 32.0));
                to.codes(|k| CURVE[usize::from(low(8 + k / 32 * 16, k % 32))] as u8);
            }
            Blocks::TQ1_0 => {
                let scale = half(52);
                // A byte has five digits of base 3, the most significant digit first. The last 4 bytes have four digits.
                let place = |k: usize| match k {
                    0..160 => (k % 32, k / 32),
                    160..240 => (32 + k % 16, (k - 160) / 16),
                    _ => (48 + k % 4, (k - 240) / 4),
                };
                to.signed(|_| scale);
                to.codes(|k| {
                    let (byte, power) = place(k);
                    let digits = block[byte].wrapping_mul([1, 3, 9, 27, 81][power]);
                    ((u16::from(digits) * 3 >> 8) as u8).wrapping_sub(1)
                });
            }
            Blocks::TQ2_0 => {
                let scale = half(64);
                to.signed(|_| scale);
                to.codes(|k| two(0, k).wrapping_sub(1));
            }
        }
    }
}

impl Unpacked {
    /// Sets the scales of all groups of a structure without smallest values.
    #[inline(always)]
    fn signed(&mut self, scale: impl Fn(usize) -> f32) {
        self.scales = std::array::from_fn(scale);
        self.offsets = [-0.0; MOST / GROUP];
    }

    /// Sets the scales and the smallest values of `Q4_K` and `Q5_K`. The 12 bytes have 16 numbers of six bits.
    fn pairs(&mut self, scale: f32, least: f32, bytes: &[u8]) {
        for g in 0..8 {
            let (first, second) = match g {
                0..4 => (bytes[g] & 63, bytes[4 + g] & 63),
                _ => (bytes[4 + g] & 15 | bytes[g - 4] >> 2 & 48, bytes[4 + g] >> 4 | bytes[g] >> 2 & 48),
            };
            for group in [2 * g, 2 * g + 1] {
                self.scales[group] = scale * f32::from(first);
                self.offsets[group] = -(least * f32::from(second));
            }
        }
    }
}
