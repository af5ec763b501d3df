//! Elements by index.
//!
//! Positions are int64 or int32, and counted from 0; each is checked before anything is written; those of a list of index tensors that
//! broadcast to no place, or of takeAlongDim where the result has no elements, lead nowhere, and are not, as in PyTorch. What shares memory
//! with the result is copied first.
//!
//! Errors: `TH_ERR_ARGUMENT`, a position out of range; `TH_ERR_SHAPE`, an index or mask that does not fit the tensor; `TH_ERR_DTYPE`, an
//! index that is not of integers, or elements of another dtype.

use super::view::give_list;
use crate::api::table::table;
use crate::ops::index::{advanced, masked, scatter, select};
use crate::scalar::Scalar;

macro_rules! index_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r` = the entries `index` of dimension `dimension` of `t`, in this order and as often as they are named. The index is a vector
            /// or a scalar; a scalar `t` counts as a vector of one entry.
            indexSelect(r: out, t: input, dimension: dim, index: index) = select::index_select(r, t, dimension, index);
            /// `r[i, j] = t[index[i, j], j]` for dimension 0, and so for any other: `r` has the shape of `index`, which has as many dimensions
            /// as `t` and is no larger than `t` in any but `dimension`.
            gather(r: out, t: input, dimension: dim, index: index) = select::gather(r, t, dimension, index);
            /// As gather, with operands that broadcast in all dimensions but `dimension`. With `TH_ALL_DIMS` both are taken as one row, in
            /// row-major order. Negative positions count from the end.
            takeAlongDim(r: out, t: input, index: index, dimension: dim) = select::take_along_dim(r, t, index, dimension);
            /// `r` = the elements of `t` at the positions in `index`, counted in row-major order, negative ones from the end; `r` has the shape
            /// of `index`.
            take(r: out, t: input, index: index) = select::take(r, t, index);
            /// `r = t[indices]`, as NumPy's advanced indexing: `indices` are `count` index tensors, for the first dimensions of `t`, which
            /// broadcast to one shape. That shape takes the place of the indexed dimensions where they are side by side, and is in front
            /// otherwise. NULL in the list takes a dimension as it is; a mask, Bool or uint8, stands for the positions of what is true, in as
            /// many dimensions as it has. Negative positions count from the end.
            index(r: out, t: input, indices: optional_inputs, count: handle_count) = advanced::index(r, t, &indices);
            /// As index. Returns a new reference.
            newIndex(t: input, indices: optional_inputs, count: handle_count) -> new = {
                let r = crate::tensor::Tensor::fresh()?;
                advanced::index(&r, t, &indices)?;
                Ok(r)
            };
            /// `t[indices] = values`, or `+=` if `accumulate` is not 0; indices as for index, and `values` broadcast. Of several values for one
            /// element the last stays; sums are formed as in indexAdd.
            indexPut(t: inout, indices: optional_inputs, count: handle_count, values: input, accumulate: flag) =
                advanced::index_put(t, &indices, values, accumulate);

            /// Entries `index` of dimension `dimension` of `t` = those of `src`, which has the shape of `t` with as many entries there as the
            /// index. Of several for one entry the last stays.
            indexCopy(t: inout, dimension: dim, index: index, src: input) = scatter::index_copy(t, dimension, index, src);
            /// Entries `index` of dimension `dimension` of `t` += those of `src`, one after the other; shapes as for indexCopy. 16-bit floats
            /// are summed in float32. Each addition is rounded, as in PyTorch: a float32 sum of ones ends at 2^24. `THTensor_sum` and
            /// `THTensor_bincount` have no such limit.
            indexAdd(t: inout, dimension: dim, index: index, src: input) = scatter::index_add(t, dimension, index, Scalar::Int(1), src);
            /// As indexAdd, with `scale * src`.
            indexAddScale(t: inout, dimension: dim, index: index, scale: number, src: input) =
                scatter::index_add(t, dimension, index, scale, src);
            /// Entries `index` of dimension `dimension` of `t` = `value`, in the range that fill takes. Negative positions count from the end.
            indexFill(t: inout, dimension: dim, index: index, value: number) = scatter::index_fill(t, dimension, index, value);
            /// `t[index[i, j], j] = src[i, j]` for dimension 0, and so for any other: the inverse of gather. `index` is no larger than `src`,
            /// and than `t` in any dimension but `dimension`. Of several elements for one place the last in row-major order stays.
            scatter(t: inout, dimension: dim, index: index, src: input) = scatter::scatter(t, dimension, index, src);
            /// As scatter, with `value` in place of elements, in the range that fill takes.
            scatterFill(t: inout, dimension: dim, index: index, value: number) = scatter::scatter_fill(t, dimension, index, value);
            /// As scatter, with `+=` in place of `=`, in row-major order, rounded as in indexAdd. 16-bit floats are summed in float32.
            scatterAdd(t: inout, dimension: dim, index: index, src: input) =
                scatter::scatter_reduce(t, dimension, index, src, scatter::TH_REDUCE_ADD);
            /// As scatter, with what is there combined with `src`, in row-major order.
            scatterMode(t: inout, dimension: dim, index: index, src: input, mode: reduce) =
                scatter::scatter_reduce(t, dimension, index, src, mode);
            /// As scatterMode, with `value` in place of elements.
            scatterFillMode(t: inout, dimension: dim, index: index, value: number, mode: reduce) =
                scatter::scatter_fill_reduce(t, dimension, index, value, mode);
            /// The elements of `t` at the positions in `index` = those of `src`, or `+=` them if `accumulate` is not 0; positions as for take.
            /// Of several for one place the last stays, and sums are formed in order.
            put(t: inout, index: index, src: input, accumulate: flag) = scatter::put(t, index, src, accumulate);

            /// `r` = the elements of `t` where `mask` is true, in row-major order, as a vector. Both broadcast; the mask is Bool or uint8.
            maskedSelect(r: out, t: input, mask: mask) = masked::masked_select(r, t, mask);
            /// The elements of `t` where `mask` is true = those of `src`, in row-major order; `src` may have more. The mask, Bool or uint8,
            /// broadcasts to the shape of `t`.
            maskedCopy(t: inout, mask: mask, src: input) = masked::masked_copy(t, mask, src);
            /// `THTensor_maskedCopy` by PyTorch's name.
            maskedScatter(t: inout, mask: mask, src: input) = masked::masked_copy(t, mask, src);
            /// `r` = the indices of each element of `t` that is not 0, a row of int64 each, in row-major order. NaN is not 0.
            nonzero(r: out, t: input) = masked::nonzero(r, t);
            /// The indices of each element of `t` that is not 0, as a vector for each dimension; a scalar counts as a vector of one element.
            /// See "Lists" in the conventions for `r` and `count`.
            nonzeroTuple(r: new_handles, count: count_inout, t: input) = {
                t.defined()?;
                t.check_bounds(&t.layout()?)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, t.layout()?.ndim().max(1) as i64, || masked::nonzero_tuple(t)) }
            };
        }
    };
}

index_functions!(table);
pub(crate) use index_functions as functions;
