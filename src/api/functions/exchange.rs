//! Exchange with other libraries.
//!
//! NumPy, PyTorch, JAX and other libraries exchange tensors without a copy by DLPack: the producer fills in a struct, and the consumer
//! calls its deleter when it no longer needs the elements. A program that uses dlpack.h includes it before this header; this header then
//! uses the structs of dlpack.h. Each side sees the writes of the other, and both must synchronise their writes. On a GPU, the consumer's
//! stream must wait for the producer's stream before reading. `THCudaStream_newForeign` makes a handle for a stream of another library,
//! `THCudaStream_newCurrent` returns the thread's stream, and `THCudaStream_wait` makes one stream wait for another.
//!
//! Arrow's C data interface does the same for columns of tables; here it serves tensors with one dimension. A program that uses a header
//! with Arrow's structs and the macro `ARROW_C_DATA_INTERFACE` includes it before this header. Arrow considers values constant: copy an
//! array before writing to it if others may read it.
//!
//! A storage whose elements have been shared with another library can no longer be resized, because the other library has its address.
//!
//! Errors: `TH_ERR_DTYPE`, an element type that the other side does not have; `TH_ERR_SHAPE`, sizes and strides that are negative or
//! overflow; `TH_ERR_ARGUMENT`, memory that is NULL or not aligned; `TH_ERR_DEVICE`, elements that are neither on the host nor, for DLPack,
//! on an NVIDIA GPU; `TH_ERR_UNSUPPORTED`, negative strides, nulls, and another major version of DLPack.

use crate::api::table::table;
use crate::ops::exchange::{arrow, dlpack};

macro_rules! exchange_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Returns the elements of `t` as a struct for a consumer of DLPack 1, without a copy. The consumer must call the struct's
            /// deleter exactly once; `t` may be freed before. Strides are always given. NULL on error.
            toDLPack(t: input) -> dlpack = dlpack::export(t);
            /// Returns the elements of `t` as toDLPack does, in the struct that DLPack had before version 1.
            toDLPackLegacy(t: input) -> dlpack_legacy = dlpack::export(t);
            /// Returns a tensor that shares the elements of a producer of DLPack 1. The tensor takes ownership of `tensor`, and calls the
            /// deleter once, when the last view is gone. On error the caller keeps `tensor`, and the deleter has not been called. NULL
            /// strides mean row-major. Returns a new reference.
            ///
            /// If `DLPACK_FLAG_BITMASK_READ_ONLY` is set, the elements are copied and the deleter is called at once, because a tensor may
            /// be written. The same applies to uint16, which is copied to int32, and uint32, which is copied to int64.
            newFromDLPack(tensor: dlpack) -> new =
                // SAFETY: the caller passes a struct that a producer has filled in.
                unsafe { dlpack::import(tensor) };
            /// Returns a tensor as newFromDLPack does, from the struct that DLPack had before version 1, which cannot forbid writing.
            /// Returns a new reference.
            newFromDLPackLegacy(tensor: dlpack_legacy) -> new =
                // SAFETY: the caller passes a struct that a producer has filled in.
                unsafe { dlpack::import(tensor) };
            /// Fills in `schema` and `array` for a consumer of Arrow arrays, who shares the elements of `t`. The consumer must call the
            /// `release` of `array` exactly once; `t` may be freed before. `t` has one dimension. Elements that are not contiguous are
            /// copied, and so are Bool elements, which Arrow stores as bits. Arrow has no format for bfloat16. The former contents of both
            /// structs are ignored; on error both are unchanged.
            toArrow(t: input, schema: arrow_schema, array: arrow_array) =
                // SAFETY: the caller passes pointers to memory for one struct each.
                unsafe { arrow::export(t, schema, array) };
            /// Returns a tensor with one dimension that shares the values of an Arrow array of signed integers, uint8, floats or truth
            /// values. The tensor takes ownership of both structs and sets their `release` to NULL. The producer's `release` is called
            /// once, when the last view is gone. Truth values are copied, uint16 is copied to int32 and uint32 to int64; an array that was
            /// copied is released at once. On error the caller keeps both structs. Nulls are an error; if `null_count` is -1, they are
            /// counted. Returns a new reference.
            newFromArrow(schema: arrow_schema, array: arrow_array) -> new =
                // SAFETY: the caller passes structs that a producer has filled in.
                unsafe { arrow::import(schema, array) };
        }
    };
}

exchange_functions!(table);
pub(crate) use exchange_functions as functions;
