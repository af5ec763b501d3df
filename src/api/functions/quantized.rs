//! Quantised numbers.
//!
//! A matrix of quantised numbers is a uint8 tensor: its rows of numbers as blocks, without gaps. A block is a few numbers of a few bits
//! with common scales, as in files of GGUF. The matrix is either a vector of all bytes, as `THArchive_newBytes` returns it without a copy,
//! or a matrix with the bytes of a row in each row. The bytes need no alignment. `blockType` is one of `TH_BLOCK_*`, for example the result
//! of `THArchive_blockType`, and a row of numbers has whole blocks.
//!
//! **Error of products.** `THTensor_mmQuantized` rounds the numbers of `a` to 8 bits: to one of 255 values from -m to m, where m is the
//! greatest magnitude among the numbers that are multiplied by one block. Products and sums of codes are exact. The error of an element is
//! at most the sum of `|w| * m / 254` over the numbers of the row, plus the rounding of float32: a few eps of the sum of `(|scale * code| +
//! |offset|) * m`. For random numbers, the error is about a hundredth of this bound. Blocks of `a` whose numbers are all below 1e-30 count
//! as 0. An infinity or NaN in a row of `a` makes the products of the row NaN. The product with a row of `a` does not depend on the other
//! rows, nor on the number of threads.
//!
//! These functions have no derivatives, and run on the host only.
//!
//! Errors: `TH_ERR_SHAPE`, a row has no whole blocks, or the bytes no whole rows; `TH_ERR_DTYPE`, an operand has another dtype than the
//! function names; `TH_ERR_ARGUMENT`, `blockType` is no block type; `TH_ERR_UNSUPPORTED`, the block type is only decoded.

use crate::api::table::table;
use crate::ops::quantized;

macro_rules! quantized_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = a @ W^T`: the products of the rows of `a` [.. x k] and the n rows of the quantised matrix `w`. `r` is [.. x n]. `a` is
            /// float32, float16 or bfloat16, and `r` has the dtype of `a`. The number of bytes of `w` determines n.
            mmQuantized(r: out, a: input, w: input, blockType: block_type) = quantized::mm_quantized(r, a, w, blockType);
            /// `r` = the rows of `t` [.. x k] as blocks: uint8 [.. x bytes of a row]. `t` has floats, which are rounded to float32 first.
            /// Types: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K, with the bytes of ggml's reference functions. A block with an
            /// infinity or NaN becomes a block of NaN.
            quantize(r: out, t: input, blockType: block_type) = quantized::quantize(r, t, blockType);
            /// `r` = the numbers of the quantised matrix `w` as float32 [n x k]. The number of bytes of `w` determines n.
            dequantize(r: out, w: input, blockType: block_type, k: size) = quantized::dequantize(r, w, blockType, k);
        }
    };
}

quantized_functions!(table);
pub(crate) use quantized_functions as functions;
