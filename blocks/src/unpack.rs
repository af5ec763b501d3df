//! Decoding: a block as codes and scales.

use crate::Blocks;
use half::f16;

/// The greatest number of numbers in a block.
pub const MOST: usize = 256;

/// The numbers of a group, which have one scale and one offset in all structures.
pub const GROUP: usize = 16;

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

    /// Sets the scale and the offset of a block of 32 numbers.
    #[inline(always)]
    fn one(&mut self, (scale, offset): (f32, f32)) {
        self.scales[..32 / GROUP].fill(scale);
        self.offsets[..32 / GROUP].fill(offset);
    }
}

impl Blocks {
    /// Decodes a block. Codes of structures with offsets are at least 0.
    pub fn unpack(self, block: &[u8], to: &mut Unpacked) {
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]).to_f32();
        match self {
            Blocks::Q4_0 => {
                to.one((half(0), -0.0));
                low_high(&block[2..], &mut to.codes, |code| code.wrapping_sub(8));
            }
            Blocks::Q4_1 => {
                to.one((half(0), half(2)));
                low_high(&block[4..], &mut to.codes, |code| code);
            }
            Blocks::Q5_0 => {
                to.one((half(0), -0.0));
                low_high(&block[6..], &mut to.codes, |code| code.wrapping_sub(16));
                fifth(&block[2..], &mut to.codes);
            }
            Blocks::Q5_1 => {
                to.one((half(0), half(2)));
                low_high(&block[8..], &mut to.codes, |code| code);
                fifth(&block[4..], &mut to.codes);
            }
            Blocks::Q8_0 => {
                to.one((half(0), -0.0));
                set(&mut to.codes[..32], &block[2..], |byte| byte);
            }
            Blocks::IQ4_NL => {
                to.one((half(0), -0.0));
                low_high(&block[2..], &mut to.codes, |code| CURVE[usize::from(code)] as u8);
            }
            Blocks::MXFP4 => {
                to.one((half_power(block[0]), -0.0));
                low_high(&block[1..], &mut to.codes, |code| E2M1[usize::from(code)] as u8);
            }
            Blocks::Q2_K => {
                let (scale, least) = (half(80), half(82));
                to.scales = std::array::from_fn(|g| scale * f32::from(block[g] & 15));
                to.offsets = std::array::from_fn(|g| -(least * f32::from(block[g] >> 4)));
                two_bits(&block[16..], &mut to.codes, |code| code);
            }
            Blocks::Q3_K => {
                let scale = half(108);
                // The first 8 of 12 bytes have four bits of each scale, and the last 4 bytes have two.
                let bits = |g: usize| block[96 + g % 8] >> (g / 8 * 4) & 15 | (block[104 + g % 4] >> (g / 4 * 2) & 3) << 4;
                to.signed(|g| scale * (f32::from(bits(g)) - 32.0));
                two_bits(&block[32..], &mut to.codes, |code| code.wrapping_sub(4));
                add_bits(block, &mut to.codes, |bit| bit << 2);
            }
            Blocks::Q4_K => {
                to.pairs(half(0), half(2), &block[4..]);
                four_bits(&block[16..], &mut to.codes);
            }
            Blocks::Q5_K => {
                to.pairs(half(0), half(2), &block[4..]);
                four_bits(&block[48..], &mut to.codes);
                add_bits(&block[16..], &mut to.codes, |bit| bit << 4);
            }
            Blocks::Q6_K => {
                let scale = half(208);
                to.signed(|g| scale * f32::from(block[192 + g] as i8));
                two_bits(&block[128..], &mut to.codes, |code| code << 4);
                for (v, to) in to.codes.chunks_exact_mut(32).enumerate() {
                    let from = &block[v / 4 * 64 + v % 2 * 32..];
                    add(to, from, |byte| (byte >> (v / 2 % 2 * 4) & 15).wrapping_sub(32));
                }
            }
            Blocks::IQ4_XS => {
                let scale = half(0);
                let upper = u16::from_le_bytes([block[2], block[3]]);
                let bits = |g: usize| block[4 + g / 2] >> (g % 2 * 4) & 15 | ((upper >> (2 * g) & 3) as u8) << 4;
                to.signed(|g| scale * (f32::from(bits(g / 2)) - 32.0));
                for (v, to) in to.codes.chunks_exact_mut(32).enumerate() {
                    low_high(&block[8 + 16 * v..], to, |code| CURVE[usize::from(code)] as u8);
                }
            }
            Blocks::TQ1_0 => {
                let scale = half(52);
                to.signed(|_| scale);
                // A byte has five digits of base 3, the most significant digit first. The last 4 bytes have four digits.
                let (mut power, mut at) = (1u8, [0, 160, 240]);
                for _ in 0..5 {
                    for (at, (from, width)) in at.iter_mut().zip([(0, 32), (32, 16), (48, 4)]) {
                        let width = width.min(MOST - *at);
                        let digit = |byte: u8| ((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as u8;
                        set(&mut to.codes[*at..*at + width], &block[from..], |byte| digit(byte).wrapping_sub(1));
                        *at += width;
                    }
                    power = power.wrapping_mul(3);
                }
            }
            Blocks::TQ2_0 => {
                let scale = half(64);
                to.signed(|_| scale);
                two_bits(block, &mut to.codes, |code| code.wrapping_sub(1));
            }
        }
    }
}

/// Sets each code from the byte at its position.
#[inline(always)]
fn set(to: &mut [i8], from: &[u8], code: impl Fn(u8) -> u8) {
    to.iter_mut().zip(from).for_each(|(to, &byte)| *to = code(byte) as i8);
}

/// Adds to each code a number from the byte at its position.
#[inline(always)]
fn add(to: &mut [i8], from: &[u8], code: impl Fn(u8) -> u8) {
    to.iter_mut().zip(from).for_each(|(to, &byte)| *to = to.wrapping_add(code(byte) as i8));
}

/// Sets 32 codes from 16 bytes: the lower halves are the first 16 codes, and the upper halves are the others.
#[inline(always)]
fn low_high(from: &[u8], to: &mut [i8], code: impl Fn(u8) -> u8) {
    set(&mut to[..16], from, |byte| code(byte & 15));
    set(&mut to[16..32], from, |byte| code(byte >> 4));
}

/// Adds 16 to each of 32 codes whose bit is set.
#[inline(always)]
fn fifth(bits: &[u8], to: &mut [i8]) {
    for (k, to) in to[..32].iter_mut().enumerate() {
        *to = to.wrapping_add(((bits[k / 8] >> (k % 8) & 1) << 4) as i8);
    }
}

/// Sets 256 codes from 64 bytes. Each of 32 bytes has four codes, which are 32 codes apart.
#[inline(always)]
fn two_bits(from: &[u8], to: &mut [i8; MOST], code: impl Fn(u8) -> u8) {
    for (v, to) in to.chunks_exact_mut(32).enumerate() {
        set(to, &from[v / 4 * 32..][..32], |byte| code(byte >> (v % 4 * 2) & 3));
    }
}

/// Sets 256 codes from 128 bytes. Each of 32 bytes has two codes, which are 32 codes apart.
#[inline(always)]
fn four_bits(from: &[u8], to: &mut [i8; MOST]) {
    for (v, to) in to.chunks_exact_mut(32).enumerate() {
        set(to, &from[v / 2 * 32..][..32], |byte| byte >> (v % 2 * 4) & 15);
    }
}

/// Adds a number to 256 codes for a bit of each. Each of 32 bytes has eight bits, for codes that are 32 codes apart.
#[inline(always)]
fn add_bits(from: &[u8], to: &mut [i8; MOST], code: impl Fn(u8) -> u8) {
    for (v, to) in to.chunks_exact_mut(32).enumerate() {
        add(to, &from[..32], |byte| code(byte >> v & 1));
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
