//! The quantised numbers of ggml: blocks of numbers of a few bits, with common scales.
//!
//! [`Blocks`] lists the structures of blocks. [`Blocks::unpack`] decodes a block to codes and scales, and [`Blocks::encode`] quantises
//! numbers by ggml's rules. Files of GGUF and quantised matrix products use the same structures.
//!
//! Source: the Python package gguf, `quants.py`, and `ggml/src/ggml-common.h` of <https://github.com/ggml-org/llama.cpp>.

#![forbid(unsafe_code)]

mod encode;
mod search;
mod unpack;

pub use unpack::{CURVE, E2M1, GROUP, MOST, Unpacked, half_power};

/// Declares the structures: ggml's number of the type, and the numbers and bytes of a block.
macro_rules! blocks {
    ($($Name:ident = $code:literal, $count:literal numbers, $bytes:literal bytes;)*) => {
        /// The structures of blocks. The digit in a name is the number of bits. Blocks whose names end in 0 have a scale, in float16.
        /// Blocks whose names end in 1 have a scale and a smallest value. Blocks whose names end in `_K`, and `IQ4_XS`, have 256 numbers,
        /// with one scale for each 16 or 32 numbers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, non_camel_case_types)]
        pub enum Blocks { $($Name = $code,)* }

        impl Blocks {
            /// Every structure.
            pub const ALL: &[Blocks] = &[$(Blocks::$Name),*];

            /// Returns the structure with ggml's number `code`.
            pub fn from_code(code: i32) -> Option<Blocks> {
                match code { $($code => Some(Blocks::$Name),)* _ => None }
            }

            /// Returns ggml's name of the structure.
            pub fn name(self) -> &'static str {
                match self { $(Blocks::$Name => stringify!($Name),)* }
            }

            /// Returns the number of numbers in a block.
            pub const fn count(self) -> usize {
                match self { $(Blocks::$Name => $count,)* }
            }

            /// Returns the size of a block in bytes.
            pub const fn bytes(self) -> usize {
                match self { $(Blocks::$Name => $bytes,)* }
            }
        }
    };
}

blocks! {
    Q4_0 = 2, 32 numbers, 18 bytes;
    Q4_1 = 3, 32 numbers, 20 bytes;
    Q5_0 = 6, 32 numbers, 22 bytes;
    Q5_1 = 7, 32 numbers, 24 bytes;
    Q8_0 = 8, 32 numbers, 34 bytes;
    Q2_K = 10, 256 numbers, 84 bytes;
    Q3_K = 11, 256 numbers, 110 bytes;
    Q4_K = 12, 256 numbers, 144 bytes;
    Q5_K = 13, 256 numbers, 176 bytes;
    Q6_K = 14, 256 numbers, 210 bytes;
    IQ4_NL = 20, 32 numbers, 18 bytes;
    IQ4_XS = 23, 256 numbers, 136 bytes;
    TQ1_0 = 34, 256 numbers, 54 bytes;
    TQ2_0 = 35, 256 numbers, 66 bytes;
    MXFP4 = 39, 32 numbers, 17 bytes;
}

impl Blocks {
    /// Returns ggml's number of the structure.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// Returns the size in bytes of the blocks whose numbers take `decoded` bytes as float32.
    pub const fn encoded(self, decoded: usize) -> usize {
        decoded / (self.count() * 4) * self.bytes()
    }

    /// Decodes the blocks at the end of `to` to little-endian float32, which fill `to`.
    pub fn decode_in_place(self, to: &mut [u8]) {
        let (size, decoded) = (self.bytes(), self.count() * 4);
        let start = to.len() - self.encoded(to.len());
        let mut block = Unpacked::new();
        for k in 0..to.len() / decoded {
            self.unpack(&to[start + k * size..][..size], &mut block);
            for (i, to) in to[k * decoded..][..decoded].as_chunks_mut::<4>().0.iter_mut().enumerate() {
                *to = block.number(i).to_le_bytes();
            }
        }
    }

    /// Decodes whole blocks to the numbers that fill `to`.
    pub fn decode(self, blocks: &[u8], to: &mut [f32]) {
        let mut unpacked = Unpacked::new();
        for (block, to) in blocks.chunks_exact(self.bytes()).zip(to.chunks_exact_mut(self.count())) {
            self.unpack(block, &mut unpacked);
            to.iter_mut().enumerate().for_each(|(k, to)| *to = unpacked.number(k));
        }
    }
}
