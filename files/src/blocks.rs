//! The quantised numbers of ggml: blocks of numbers of a few bits, with common scales.
//!
//! Source: the Python package gguf, `quants.py`, and `ggml/src/ggml-common.h` of <https://github.com/ggml-org/llama.cpp>.

use half::f16;

/// The structures of blocks. The digit in a name is the number of bits. Blocks whose names end in 0 have a scale, in float16. Blocks whose
/// names end in 1 have a scale and a smallest value. Blocks whose names end in `_K`, and `IQ4_XS`, have 256 numbers, with one scale for
/// each 16 or 32 numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, non_camel_case_types)]
pub enum Blocks {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q3_K,
    Q4_K,
    Q5_K,
    Q6_K,
    IQ4_NL,
    IQ4_XS,
    TQ1_0,
    TQ2_0,
    MXFP4,
}

/// The greatest number of numbers in a block, and the greatest number of bytes.
const MOST: usize = 256;
const MOST_BYTES: usize = 210;

/// The values of the 16 codes of `IQ4_NL` and `IQ4_XS`.
const CURVE: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// Twice the values of the 16 codes of `MXFP4`, which are floats with two bits of exponent and one bit of mantissa.
const E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

impl Blocks {
    /// Returns the number of numbers in a block.
    pub fn count(self) -> usize {
        use Blocks::*;
        match self {
            Q4_0 | Q4_1 | Q5_0 | Q5_1 | Q8_0 | IQ4_NL | MXFP4 => 32,
            Q2_K | Q3_K | Q4_K | Q5_K | Q6_K | IQ4_XS | TQ1_0 | TQ2_0 => MOST,
        }
    }

    /// Returns the size of a block in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Blocks::MXFP4 => 17,
            Blocks::Q4_0 | Blocks::IQ4_NL => 18,
            Blocks::Q4_1 => 20,
            Blocks::Q5_0 => 22,
            Blocks::Q5_1 => 24,
            Blocks::Q8_0 => 34,
            Blocks::TQ1_0 => 54,
            Blocks::TQ2_0 => 66,
            Blocks::Q2_K => 84,
            Blocks::Q3_K => 110,
            Blocks::IQ4_XS => 136,
            Blocks::Q4_K => 144,
            Blocks::Q5_K => 176,
            Blocks::Q6_K => MOST_BYTES,
        }
    }

    /// Returns the size in bytes of the blocks whose numbers take `decoded` bytes as float32.
    pub fn encoded(self, decoded: usize) -> usize {
        decoded / (self.count() * 4) * self.bytes()
    }

    /// Decodes the blocks at the end of `to` to little-endian float32, which fill `to`.
    pub fn decode(self, to: &mut [u8]) {
        let (size, decoded) = (self.bytes(), self.count() * 4);
        let start = to.len() - self.encoded(to.len());
        let (mut block, mut numbers) = ([0; MOST_BYTES], [0f32; MOST]);
        for k in 0..to.len() / decoded {
            block[..size].copy_from_slice(&to[start + k * size..][..size]);
            self.numbers(&block, &mut numbers[..self.count()]);
            for (to, number) in to[k * decoded..][..decoded].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                *to = number.to_le_bytes();
            }
        }
    }

    /// Fills `to` with the numbers of a block.
    fn numbers(self, block: &[u8; MOST_BYTES], to: &mut [f32]) {
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]).to_f32();
        // Four bits of number `k` of 32. The lower halves of 16 bytes are the first 16 numbers, and the upper halves are the others.
        let low = |at: usize, k: usize| block[at + k % 16] >> (k / 16 % 2 * 4) & 15;
        let five = |at: usize, k: usize| low(at + 4, k) | (block[at + k / 8] >> (k % 8) & 1) << 4;
        // Bits of number `k` of 256. Each byte in a group of 32 has four numbers of two bits, or two numbers of four bits.
        let two = |at: usize, k: usize| block[at + k / 128 * 32 + k % 32] >> (k / 32 % 4 * 2) & 3;
        let four = |at: usize, k: usize| block[at + k / 64 * 32 + k % 32] >> (k / 32 % 2 * 4) & 15;
        let one = |at: usize, k: usize| block[at + k % 32] >> (k / 32) & 1;
        match self {
            Blocks::Q4_0 => {
                let scale = half(0);
                fill(to, |k| scale * (f32::from(low(2, k)) - 8.0));
            }
            Blocks::Q4_1 => {
                let (scale, least) = (half(0), half(2));
                fill(to, |k| scale * f32::from(low(4, k)) + least);
            }
            Blocks::Q5_0 => {
                let scale = half(0);
                fill(to, |k| scale * (f32::from(five(2, k)) - 16.0));
            }
            Blocks::Q5_1 => {
                let (scale, least) = (half(0), half(2));
                fill(to, |k| scale * f32::from(five(4, k)) + least);
            }
            Blocks::Q8_0 => {
                let scale = half(0);
                fill(to, |k| scale * f32::from(block[2 + k] as i8));
            }
            Blocks::Q2_K => {
                let (scale, least) = (half(80), half(82));
                let scales: [_; 16] = std::array::from_fn(|g| (scale * f32::from(block[g] & 15), least * f32::from(block[g] >> 4)));
                fill(to, |k| scales[k / 16].0 * f32::from(two(16, k)) - scales[k / 16].1);
            }
            Blocks::Q3_K => {
                let scale = half(108);
                // The first 8 of 12 bytes have four bits of each scale, and the last 4 bytes have two.
                let bits = |g: usize| block[96 + g % 8] >> (g / 8 * 4) & 15 | (block[104 + g % 4] >> (g / 4 * 2) & 3) << 4;
                let scales: [_; 16] = std::array::from_fn(|g| scale * (f32::from(bits(g)) - 32.0));
                fill(to, |k| scales[k / 16] * (f32::from(two(32, k) | one(0, k) << 2) - 4.0));
            }
            Blocks::Q4_K => {
                let scales = pairs(half(0), half(2), &block[4..]);
                fill(to, |k| scales[k / 32].0 * f32::from(four(16, k)) - scales[k / 32].1);
            }
            Blocks::Q5_K => {
                let scales = pairs(half(0), half(2), &block[4..]);
                fill(to, |k| scales[k / 32].0 * f32::from(four(48, k) | one(16, k) << 4) - scales[k / 32].1);
            }
            Blocks::Q6_K => {
                let scale = half(208);
                let scales: [_; 16] = std::array::from_fn(|g| scale * f32::from(block[192 + g] as i8));
                let lower = |k: usize| block[k / 128 * 64 + k % 64] >> (k / 64 % 2 * 4) & 15;
                fill(to, |k| scales[k / 16] * (f32::from(lower(k) | two(128, k) << 4) - 32.0));
            }
            Blocks::IQ4_NL => {
                let scale = half(0);
                fill(to, |k| scale * f32::from(CURVE[usize::from(low(2, k))]));
            }
            Blocks::IQ4_XS => {
                let scale = half(0);
                let upper = u16::from_le_bytes([block[2], block[3]]);
                let bits = |g: usize| block[4 + g / 2] >> (g % 2 * 4) & 15 | ((upper >> (2 * g) & 3) as u8) << 4;
                let scales: [_; 8] = std::array::from_fn(|g| scale * (f32::from(bits(g)) - 32.0));
                fill(to, |k| scales[k / 32] * f32::from(CURVE[usize::from(low(8 + k / 32 * 16, k % 32))]));
            }
            Blocks::TQ1_0 => {
                let scale = half(52);
                // A byte has five digits of base 3, the most significant digit first. The last 4 bytes have four digits.
                let place = |k: usize| match k {
                    0..160 => (k % 32, k / 32),
                    160..240 => (32 + k % 16, (k - 160) / 16),
                    _ => (48 + k % 4, (k - 240) / 4),
                };
                fill(to, |k| {
                    let (byte, power) = place(k);
                    let digits = block[byte].wrapping_mul([1, 3, 9, 27, 81][power]);
                    scale * (f32::from((u16::from(digits) * 3) >> 8) - 1.0)
                });
            }
            Blocks::TQ2_0 => {
                let scale = half(64);
                fill(to, |k| scale * (f32::from(two(0, k)) - 1.0));
            }
            Blocks::MXFP4 => {
                // Half of the power of two whose exponent is the byte. The result can be subnormal.
                let exponent = u32::from(block[0]);
                let scale = f32::from_bits(if exponent < 2 { 0x0020_0000 << exponent } else { (exponent - 1) << 23 });
                fill(to, |k| scale * f32::from(E2M1[usize::from(low(1, k))]));
            }
        }
    }
}

fn fill(to: &mut [f32], number: impl Fn(usize) -> f32) {
    to.iter_mut().enumerate().for_each(|(k, to)| *to = number(k));
}

/// Returns the scales and the smallest values of the eight groups of `Q4_K` and `Q5_K`. The 12 bytes have 16 numbers of six bits.
fn pairs(scale: f32, least: f32, bytes: &[u8]) -> [(f32, f32); 8] {
    std::array::from_fn(|g| {
        let (first, second) = match g {
            0..4 => (bytes[g] & 63, bytes[4 + g] & 63),
            _ => (bytes[4 + g] & 15 | bytes[g - 4] >> 2 & 48, bytes[4 + g] >> 4 | bytes[g] >> 2 & 48),
        };
        (scale * f32::from(first), least * f32::from(second))
    })
}
