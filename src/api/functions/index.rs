//! Elements by index.
//!
//! Positions are int64 or int32, counted from 0. All positions are checked before anything is written, with two exceptions, as in PyTorch:
//! index tensors that broadcast to an empty shape, and positions of takeAlongDim if the result has no elements. Operands that share memory
//! with the result are copied first.
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
            /// `r` = the entries `index` of dimension `dimension` of `t`, in the order of `index`, which may repeat entries. The index is a
            /// vector or a scalar; a scalar `t` counts as a vector of one entry.
            indexSelect(r: out, t: input, dimension: dim, index: index) = select::index_select(r, t, dimension, index);
            /// `r[i, j] = t[index[i, j], j]` for dimension 0, and likewise for other dimensions. `r` has the shape of `index`. `index` has
            /// as many dimensions as `t`, and is no larger than `t` in any dimension except `dimension`.
            gather(r: out, t: input, dimension: dim, index: index) = select::gather(r, t, dimension, index);
            /// gather with operands that broadcast in all dimensions except `dimension`. With `TH_ALL_DIMS` both operands are flattened to
            /// vectors in row-major order. Negative positions count from the end.
            takeAlongDim(r: out, t: input, index: index, dimension: dim) = select::take_along_dim(r, t, index, dimension);
            /// `r` = the elements of `t` at the positions in `index`, counted in row-major order. Negative positions count from the end.
            /// `r` has the shape of `index`.
            take(r: out, t: input, index: index) = select::take(r, t, index);
            /// `r = t[indices]`, as NumPy's advanced indexing: `indices` are `count` index tensors, for the first dimensions of `t`, which
            /// broadcast to one shape. This shape replaces the indexed dimensions if they are adjacent; otherwise it comes first. NULL in
            /// the list leaves a dimension whole. A mask, Bool or uint8, selects the positions of its true elements, and indexes as many
            /// dimensions as it has. Negative positions count from the end.
            index(r: out, t: input, indices: optional_inputs, count: handle_count) = advanced::index(r, t, &indices);
            /// Returns `t[indices]`, as index does. Returns a new reference.
            newIndex(t: input, indices: optional_inputs, count: handle_count) -> new = {
                let r = crate::tensor::Tensor::fresh()?;
                advanced::index(&r, t, &indices)?;
                Ok(r)
            };
            /// `t[indices] = values`, or `t[indices] += values` if `accumulate` is not 0. `indices` are as for index, and `values`
            /// broadcast. If several values are written to one element, the last one wins; sums are computed as in indexAdd.
            indexPut(t: inout, indices: optional_inputs, count: handle_count, values: input, accumulate: flag) =
                advanced::index_put(t, &indices, values, accumulate);

            /// Entries `index` of dimension `dimension` of `t` = the entries of `src`. `src` has the shape of `t`, except that its size in
            /// `dimension` is the length of `index`. If several entries are written to one entry, the last one wins.
            indexCopy(t: inout, dimension: dim, index: index, src: input) = scatter::index_copy(t, dimension, index, src);
            /// Entries `index` of dimension `dimension` of `t` += the entries of `src`, one after the other; shapes are as for indexCopy.
            /// 16-bit floats are summed in float32. Each addition is rounded, as in PyTorch, so that a float32 sum of ones stops at 2^24.
            /// `THTensor_sum` and `THTensor_bincount` do not have this limit. If many elements are added to one entry, a GPU adds the sums
            /// of parts of these elements. The parts depend only on the shapes, so that equal calls have equal results.
            indexAdd(t: inout, dimension: dim, index: index, src: input) = scatter::index_add(t, dimension, index, Scalar::Int(1), src);
            /// indexAdd of `scale * src`.
            indexAddScale(t: inout, dimension: dim, index: index, scale: number, src: input) =
                scatter::index_add(t, dimension, index, scale, src);
            /// Entries `index` of dimension `dimension` of `t` = `value`, which has the range that fill accepts. Negative positions count
            /// from the end.
            indexFill(t: inout, dimension: dim, index: index, value: number) = scatter::index_fill(t, dimension, index, value);
            /// `t[index[i, j], j] = src[i, j]` for dimension 0, and likewise for other dimensions: the inverse of gather. `index` is no
            /// larger than `src`, and no larger than `t` in any dimension except `dimension`. If several elements are written to one
            /// position, the last one in row-major order wins.
            scatter(t: inout, dimension: dim, index: index, src: input) = scatter::scatter(t, dimension, index, src);
            /// scatter of the number `value` instead of elements. `value` has the range that fill accepts.
            scatterFill(t: inout, dimension: dim, index: index, value: number) = scatter::scatter_fill(t, dimension, index, value);
            /// scatter that adds, `+=` instead of `=`, in row-major order, with rounding as in indexAdd. 16-bit floats are summed in
            /// float32.
            scatterAdd(t: inout, dimension: dim, index: index, src: input) =
                scatter::scatter_reduce(t, dimension, index, src, scatter::TH_REDUCE_ADD);
            /// scatter that combines each element of `t` with the elements of `src` by `mode`, in row-major order.
            scatterMode(t: inout, dimension: dim, index: index, src: input, mode: reduce) =
                scatter::scatter_reduce(t, dimension, index, src, mode);
            /// scatterMode with the number `value` instead of elements.
            scatterFillMode(t: inout, dimension: dim, index: index, value: number, mode: reduce) =
                scatter::scatter_fill_reduce(t, dimension, index, value, mode);
            /// The elements of `t` at the positions in `index` = the elements of `src`, or `+=` them if `accumulate` is not 0; positions
            /// are as for take. If several elements are written to one position, the last one wins; sums are computed in order.
            put(t: inout, index: index, src: input, accumulate: flag) = scatter::put(t, index, src, accumulate);

            /// `r` = the elements of `t` where `mask` is true, in row-major order, as a vector. Both broadcast; the mask is Bool or uint8.
            maskedSelect(r: out, t: input, mask: mask) = masked::masked_select(r, t, mask);
            /// The elements of `t` where `mask` is true = the elements of `src`, in row-major order; `src` may have more elements than
            /// needed. The mask, Bool or uint8, broadcasts to the shape of `t`.
            maskedCopy(t: inout, mask: mask, src: input) = masked::masked_copy(t, mask, src);
            /// `THTensor_maskedCopy` by PyTorch's name.
            maskedScatter(t: inout, mask: mask, src: input) = masked::masked_copy(t, mask, src);
            /// `r` = the indices of each element of `t` that is not 0, in row-major order, as the rows of an int64 matrix. NaN is not 0.
            nonzero(r: out, t: input) = masked::nonzero(r, t);
            /// Stores the indices of each element of `t` that is not 0, as one vector for each dimension; a scalar counts as a vector of
            /// one element. See "Lists" in the conventions for `r` and `count`.
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
