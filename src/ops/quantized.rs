//! Quantised numbers: products with quantised matrices, encoding and decoding.

use super::dense::{launch, operand};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Quantized, QuantizedTask};
use crate::layout::Dims;
use crate::tensor::Tensor;
use thorn_blocks::Blocks;

/// The structure of quantised numbers: ggml's number of the type in GGUF files. The comments name the numbers in a block, its size in
/// bytes, and its content.
pub type THBlockType = i32;
/// No blocks.
pub const TH_BLOCK_NONE: THBlockType = 0;
/// 32 numbers in 18 bytes: codes of 4 bits with a scale.
pub const TH_BLOCK_Q4_0: THBlockType = 2;
/// 32 numbers in 20 bytes: codes of 4 bits with a scale and a smallest number.
pub const TH_BLOCK_Q4_1: THBlockType = 3;
/// 32 numbers in 22 bytes: codes of 5 bits with a scale.
pub const TH_BLOCK_Q5_0: THBlockType = 6;
/// 32 numbers in 24 bytes: codes of 5 bits with a scale and a smallest number.
pub const TH_BLOCK_Q5_1: THBlockType = 7;
/// 32 numbers in 34 bytes: codes of 8 bits with a scale.
pub const TH_BLOCK_Q8_0: THBlockType = 8;
/// 256 numbers in 84 bytes: codes of 2 bits with 16 scales and smallest numbers of 4 bits.
pub const TH_BLOCK_Q2_K: THBlockType = 10;
/// 256 numbers in 110 bytes: codes of 3 bits with 16 scales of 6 bits.
pub const TH_BLOCK_Q3_K: THBlockType = 11;
/// 256 numbers in 144 bytes: codes of 4 bits with 8 scales and smallest numbers of 6 bits.
pub const TH_BLOCK_Q4_K: THBlockType = 12;
/// 256 numbers in 176 bytes: codes of 5 bits with 8 scales and smallest numbers of 6 bits.
pub const TH_BLOCK_Q5_K: THBlockType = 13;
/// 256 numbers in 210 bytes: codes of 6 bits with 16 scales of 8 bits.
pub const TH_BLOCK_Q6_K: THBlockType = 14;
/// 32 numbers in 18 bytes: codes of 4 bits for 16 uneven steps, with a scale.
pub const TH_BLOCK_IQ4_NL: THBlockType = 20;
/// 256 numbers in 136 bytes: codes of 4 bits for 16 uneven steps, with 8 scales of 6 bits.
pub const TH_BLOCK_IQ4_XS: THBlockType = 23;
/// 256 numbers in 54 bytes: -1, 0 or 1 with a scale, five numbers in a byte.
pub const TH_BLOCK_TQ1_0: THBlockType = 34;
/// 256 numbers in 66 bytes: -1, 0 or 1 with a scale, four numbers in a byte.
pub const TH_BLOCK_TQ2_0: THBlockType = 35;
/// 32 numbers in 17 bytes: floats of 4 bits with a power of two as the scale.
pub const TH_BLOCK_MXFP4: THBlockType = 39;

/// Returns the structure with this number.
fn structure(code: THBlockType) -> Result<Blocks> {
    match Blocks::from_code(code) {
        Some(blocks) => Ok(blocks),
        None => bail!(Argument, "argument 'blockType' is {code}, which is no THBlockType of blocks"),
    }
}

/// Returns the size in bytes of a row of `k` numbers. Fails unless the row has whole blocks, at least one.
fn row_bytes(blocks: Blocks, k: i64, what: &str) -> Result<i64> {
    let count = blocks.count() as i64;
    if k <= 0 || k % count != 0 {
        bail!(Shape, "{what} {k} numbers, expected a positive multiple of {count}, the numbers in a block of {}", blocks.name())
    }
    match (k / count).checked_mul(blocks.bytes() as i64) {
        Some(bytes) => Ok(bytes),
        None => bail!(Shape, "{what} {k} numbers, whose size in bytes overflows"),
    }
}

/// Returns the number of rows of the matrix `w`, whose rows have `k` numbers.
fn rows(w: &Tensor, blocks: Blocks, k: i64, what: &str) -> Result<i64> {
    let (dtype, bytes) = (w.defined()?, row_bytes(blocks, k, what)?);
    if dtype != Dtype::Uint8 {
        bail!(Dtype, "argument 'w' is {dtype}, expected the bytes of blocks as uint8")
    }
    match w.layout()?.shape.as_slice() {
        &[size] if size % bytes == 0 => Ok(size / bytes),
        &[rows, size] if size == bytes => Ok(rows),
        shape => bail!(Shape, "argument 'w' has shape {shape:?}, expected rows of {bytes} bytes: {k} numbers in {}", blocks.name()),
    }
}

/// Returns `shape` with another last size.
fn with_last(shape: &[i64], last: i64) -> Dims {
    let mut shape = Dims::from(shape);
    if let Some(size) = shape.last_mut() {
        *size = last;
    }
    shape
}

/// `r = a @ W^T`, where `w` has the bytes of W.
pub fn mm_quantized(r: &Tensor, a: &Tensor, w: &Tensor, code: THBlockType) -> Result<()> {
    let (blocks, dtype) = (structure(code)?, a.defined()?);
    if !dtype.is_float() || dtype == Dtype::Float64 {
        bail!(Dtype, "argument 'a' is {dtype}, expected float32, float16 or bfloat16")
    }
    let shape = a.layout()?.shape;
    let Some(&k) = shape.last() else { bail!(Shape, "argument 'a' is a scalar, expected rows of numbers") };
    let n = rows(w, blocks, k, "the rows of argument 'a' have")?;
    let inputs = [operand(a, Dtype::Float32)?, operand(w, Dtype::Uint8)?];
    let work = Quantized { blocks, task: QuantizedTask::Product };
    launch(r, (dtype, Dtype::Float32), &with_last(&shape, n), &work, &inputs)
}

/// `r` = the bytes of the rows of `t` as blocks.
pub fn quantize(r: &Tensor, t: &Tensor, code: THBlockType) -> Result<()> {
    let blocks = structure(code)?;
    if !blocks.encodes() {
        bail!(Unsupported, "{} is only decoded", blocks.name())
    }
    Domain::Float.check(t.defined()?)?;
    let shape = t.layout()?.shape;
    let Some(&k) = shape.last() else { bail!(Shape, "argument 't' is a scalar, expected rows of numbers") };
    let bytes = row_bytes(blocks, k, "the rows of argument 't' have")?;
    let work = Quantized { blocks, task: QuantizedTask::Encode };
    launch(r, (Dtype::Uint8, Dtype::Uint8), &with_last(&shape, bytes), &work, &[operand(t, Dtype::Float32)?])
}

/// `r` = the numbers of the blocks in `w`, in rows of `k` numbers.
pub fn dequantize(r: &Tensor, w: &Tensor, code: THBlockType, k: i64) -> Result<()> {
    let blocks = structure(code)?;
    let n = rows(w, blocks, k, "argument 'k' means rows of")?;
    let work = Quantized { blocks, task: QuantizedTask::Decode };
    launch(r, (Dtype::Float32, Dtype::Float32), &[n, k], &work, &[operand(w, Dtype::Uint8)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_every_structure() {
        let names = [
            (TH_BLOCK_Q4_0, "Q4_0"),
            (TH_BLOCK_Q4_1, "Q4_1"),
            (TH_BLOCK_Q5_0, "Q5_0"),
            (TH_BLOCK_Q5_1, "Q5_1"),
            (TH_BLOCK_Q8_0, "Q8_0"),
            (TH_BLOCK_Q2_K, "Q2_K"),
            (TH_BLOCK_Q3_K, "Q3_K"),
            (TH_BLOCK_Q4_K, "Q4_K"),
            (TH_BLOCK_Q5_K, "Q5_K"),
            (TH_BLOCK_Q6_K, "Q6_K"),
            (TH_BLOCK_IQ4_NL, "IQ4_NL"),
            (TH_BLOCK_IQ4_XS, "IQ4_XS"),
            (TH_BLOCK_TQ1_0, "TQ1_0"),
            (TH_BLOCK_TQ2_0, "TQ2_0"),
            (TH_BLOCK_MXFP4, "MXFP4"),
        ];
        let known: Vec<_> = Blocks::ALL.iter().map(|blocks| (blocks.code(), blocks.name())).collect();
        assert_eq!(known, names);
        assert!(Blocks::from_code(TH_BLOCK_NONE).is_none());
    }
}
