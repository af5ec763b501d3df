//! Exchange with other libraries.
//!
//! DLPack is how NumPy, PyTorch, JAX and others hand each other tensors without a copy: the producer fills in a struct, and the consumer
//! calls its deleter when it no longer needs the elements. A program that includes dlpack.h does so before this header, whose structs then
//! are those. Both sides see what the other one writes, and order their writes themselves: on a GPU, the consumer's stream must wait for
//! that of the producer before it reads. `THCudaStream_newForeign` makes a handle of another library's stream, and `THCudaStream_wait` lets
//! it wait for the thread's own, which `THCudaStream_newCurrent` returns, or that one for it.
//!
//! Arrow's C data interface does the same for columns of tables, here for tensors with one dimension. A program that includes a header with
//! its structs, and with the macro `ARROW_C_DATA_INTERFACE`, does so before this one. Arrow takes values for constant: copy an array before
//! you write to it where others may read it.
//!
//! A storage whose elements have been handed out can no longer be resized: another library has its address.
//!
//! Errors: `TH_ERR_DTYPE`, an element type that the other side does not have; `TH_ERR_SHAPE`, sizes and strides that are negative or
//! overflow; `TH_ERR_ARGUMENT`, memory that is NULL or not aligned; `TH_ERR_DEVICE`, elements on another device than the host and, for
//! DLPack, than NVIDIA's GPUs; `TH_ERR_UNSUPPORTED`, negative strides, nulls, and another major version of DLPack.

use crate::api::table::table;
use crate::ops::exchange::{arrow, dlpack};

macro_rules! exchange_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// The elements of `t` for a consumer of DLPack 1, who shares them until it calls the deleter of what is returned, once; `t` may be
            /// freed before. Strides are always given. NULL on error.
            toDLPack(t: input) -> dlpack = dlpack::export(t);
            /// As toDLPack, for consumers of the struct that DLPack had before version 1.
            toDLPackLegacy(t: input) -> dlpack_legacy = dlpack::export(t);
            /// A tensor that shares the elements of a producer of DLPack 1. It takes `tensor` over: when the last view is gone, the deleter is
            /// called, once. On error `tensor` stays the caller's, and the deleter has not been called. NULL strides mean row-major. Where
            /// `DLPACK_FLAG_BITMASK_READ_ONLY` is set the elements are copied and the deleter is called at once, since a tensor may be written.
            /// uint16 is copied into int32 and uint32 into int64, and the deleter is called at once, too.
            /// Returns a new reference.
            newFromDLPack(tensor: dlpack) -> new =
                // SAFETY: the caller vouches for the producer's struct.
                unsafe { dlpack::import(tensor) };
            /// As newFromDLPack, from a producer of the struct that DLPack had before version 1, which cannot forbid writing. Returns a new
            /// reference.
            newFromDLPackLegacy(tensor: dlpack_legacy) -> new =
                // SAFETY: the caller vouches for the producer's struct.
                unsafe { dlpack::import(tensor) };
            /// Fills in `schema` and `array` for a consumer of Arrow's, who shares the elements of `t` until it calls the `release` of `array`,
            /// once; `t` may be freed before. `t` has one dimension. Elements that do not lie side by side are copied, and so are those of
            /// Bool, which Arrow has as bits. bfloat16 has no format. Former contents of both structs do not matter; on error they are
            /// unchanged.
            toArrow(t: input, schema: arrow_schema, array: arrow_array) =
                // SAFETY: the caller vouches for the structs.
                unsafe { arrow::export(t, schema, array) };
            /// A tensor with one dimension that shares the values of an array of Arrow's, of signed integers, uint8, floats or truth values. It
            /// takes both structs over, and sets their `release` to NULL: the producer's is called with the last view, once. Truth values are
            /// copied, uint16 is copied into int32 and uint32 into int64, and the array of a copy is released at once. On error both structs
            /// stay the caller's. Nulls are an error; they are counted where `null_count` is -1. Returns a new reference.
            newFromArrow(schema: arrow_schema, array: arrow_array) -> new =
                // SAFETY: the caller vouches for the producer's structs.
                unsafe { arrow::import(schema, array) };
        }
    };
}

exchange_functions!(table);
pub(crate) use exchange_functions as functions;
