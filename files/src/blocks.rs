//! Blocks of 32 numbers of few bits with a common scale, as ggml has them.
//!
//! Source: the Python package gguf, `quants.py`, and `ggml/src/ggml-common.h` of <https://github.com/ggml-org/llama.cpp>.

use half::f16;
use std::array::from_fn;

/// How blocks are built. The number in the name is that of the bits; those that end in 0 have a scale, and those in 1 a scale and a
/// smallest value, both in float16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, non_camel_case_types)]
pub enum Blocks {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
}

/// Numbers of a block.
const COUNT: usize = 32;

impl Blocks {
    /// Bytes of a decoded block.
    pub const DECODED: usize = COUNT * 4;

    /// Numbers of a block.
    pub const COUNT: u64 = COUNT as u64;

    /// Bytes of a block.
    pub fn bytes(self) -> usize {
        match self {
            Blocks::Q4_0 => 18,
            Blocks::Q4_1 => 20,
            Blocks::Q5_0 => 22,
            Blocks::Q5_1 => 24,
            Blocks::Q8_0 => 34,
        }
    }

    /// Makes little-endian float32 of the blocks at the upper end of `to`, all over `to`.
    pub fn decode(self, to: &mut [u8]) {
        let size = self.bytes();
        let count = to.len() / Self::DECODED;
        let start = to.len() - count * size;
        for k in 0..count {
            let mut block = [0; 34];
            block[..size].copy_from_slice(&to[start + k * size..][..size]);
            let numbers = self.numbers(&block);
            for (to, number) in to[k * Self::DECODED..].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                *to = number.to_le_bytes();
            }
        }
    }

    fn numbers(self, block: &[u8; 34]) -> [f32; COUNT] {
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]).to_f32();
        // The lower halves of 16 bytes are the first 16 numbers, and the upper halves the others. A fifth bit is in a word of its own.
        let low = |at: usize, k: usize| if k < 16 { block[at + k] & 15 } else { block[at + k - 16] >> 4 };
        let five = |at: usize, k: usize| low(at + 4, k) | (block[at + k / 8] >> (k % 8) & 1) << 4;
        let (scale, least) = (half(0), half(2));
        match self {
            Blocks::Q4_0 => from_fn(|k| scale * (f32::from(low(2, k)) - 8.0)),
            Blocks::Q4_1 => from_fn(|k| scale * f32::from(low(4, k)) + least),
            Blocks::Q5_0 => from_fn(|k| scale * (f32::from(five(2, k)) - 16.0)),
            Blocks::Q5_1 => from_fn(|k| scale * f32::from(five(4, k)) + least),
            Blocks::Q8_0 => from_fn(|k| scale * f32::from(block[2 + k] as i8)),
        }
    }
}
