//! Joining and rearranging.
//!
//! These functions copy elements. Operands that share memory with the result are copied first. A fresh `r` has the dtype of `t`, or the
//! dtype to which all tensors are promoted. If `r` has another dtype, cat and the other joining functions convert each element once, from
//! its own dtype.
//!
//! Errors: `TH_ERR_SHAPE`, tensors that do not fit each other; `TH_ERR_ARGUMENT`, dimensions, sizes or pads out of range, or an empty list;
//! `TH_ERR_DTYPE`, a result whose dtype cannot hold the elements.

use super::view::give_list;
use crate::api::table::table;
use crate::ops::{join, rearrange};

macro_rules! join_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r` = `a` followed by `b` along dimension `dimension`, the only dimension in which their sizes may differ. A vector without
            /// elements, or a fresh handle, fits any tensor.
            cat(r: out, a: input, b: input, dimension: dim) = join::cat(r, &[a, b], dimension);
            /// `r` = the `count` tensors one after the other along dimension `dimension`, as for cat.
            catArray(r: out, tensors: inputs, count: handle_count, dimension: dim) = join::cat(r, &tensors, dimension);
            /// `r` = the `count` tensors, all of one shape, along a new dimension `dimension`.
            stack(r: out, tensors: inputs, count: handle_count, dimension: dim) = join::stack(r, &tensors, dimension);
            /// `r` = the `count` tensors joined along dimension 1, or along dimension 0 if the first is a vector or scalar.
            hstack(r: out, tensors: inputs, count: handle_count) = join::hstack(r, &tensors);
            /// `r` = the `count` tensors joined along dimension 0; a vector counts as a row.
            vstack(r: out, tensors: inputs, count: handle_count) = join::vstack(r, &tensors);
            /// `r` = the `count` tensors joined along dimension 2. A matrix [n x k] counts as [n x k x 1], a vector [n] as [1 x n x 1].
            dstack(r: out, tensors: inputs, count: handle_count) = join::dstack(r, &tensors);

            /// Stores views of `ndim` pieces of `t` along `dimension`, with `sizes` entries each. The sizes add up to the size of the
            /// dimension. See "Lists" in the conventions for `r` and `count`.
            splitSizes(r: new_handles, count: count_inout, t: input, ndim: len, sizes: sizes, dimension: dim) = {
                let needed = join::check_sizes(t, sizes, dimension)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || join::split_sizes(t, sizes, dimension)) }
            };
            /// Stores views of `sections` pieces of `t` along `dimension`; if the size is not divisible, the first pieces have one entry
            /// more. See "Lists" in the conventions for `r` and `count`.
            tensorSplit(r: new_handles, count: count_inout, t: input, sections: count, dimension: dim) = {
                let needed = join::sections(t, sections, dimension)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || join::tensor_split(t, sections, dimension)) }
            };
            /// Stores views of the pieces of `t` along `dimension` that end before each of the `ndim` entries `indices`, and of the rest;
            /// bounds are as in slice. See "Lists" in the conventions for `r` and `count`.
            tensorSplitIndices(r: new_handles, count: count_inout, t: input, ndim: len, indices: entries, dimension: dim) = {
                let needed = join::check_indices(t, indices, dimension)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || join::tensor_split_indices(t, indices, dimension)) }
            };

            /// `r` = `t` with the entries of the `count` dimensions `dims` in reverse order.
            flip(r: out, t: input, ndim: len, dims: dims) = rearrange::flip(r, t, dims);
            /// `r` = `t` with the entries of dimension `dims[k]` shifted by `shifts[k]`; entries shifted past one end reappear at the
            /// other. If `dims` is NULL, the elements in row-major order are shifted by the single number in `shifts`.
            roll(r: out, t: input, ndim: len, shifts: counts, dims: optional_dims) = rearrange::roll(r, t, shifts, dims);
            /// `r` = `t` rotated by `k` right angles in the plane of two dimensions, from `dimension1` towards `dimension2`.
            rot90(r: out, t: input, k: count, dimension1: dim, dimension2: dim) = rearrange::rot90(r, t, k, dimension1, dimension2);
            /// `r` = `t` repeated `sizes[d]` times along each of `ndim` dimensions. If `t` has fewer dimensions, it gets new ones in front.
            repeat(r: out, t: input, ndim: len, sizes: counts) = rearrange::repeat(r, t, sizes);
            /// `THTensor_repeat` by Torch's name.
            repeatTensor(r: out, t: input, ndim: len, sizes: counts) = rearrange::repeat(r, t, sizes);
            /// repeat where missing counts in front are 1.
            tile(r: out, t: input, ndim: len, sizes: counts) = rearrange::tile(r, t, sizes);
            /// `r` = `t` with each entry along `dimension` repeated: `repeats`, int64 or int32, is a vector with a count for each entry, or
            /// one count for all. With `TH_ALL_DIMS` the entries are the elements in row-major order.
            repeatInterleave(r: out, t: input, repeats: input, dimension: dim) = rearrange::repeat_interleave(r, t, repeats, dimension);
            /// repeatInterleave with the same count for each entry.
            repeatInterleaveValue(r: out, t: input, repeats: count, dimension: dim) =
                rearrange::repeat_interleave_value(r, t, repeats, dimension);
            /// `r` = `t` extended by `pads[0]` entries before and `pads[1]` entries after the last dimension, by `pads[2]` and `pads[3]` in
            /// the dimension before it, and so on. `count` is the number of pads, two for each dimension. Negative pads remove entries.
            /// `mode` determines the new entries: `TH_PAD_CONSTANT` makes them `value`, which has the range that fill accepts for the dtype
            /// of `t`.
            pad(r: out, t: input, count: len, pads: counts, mode: pad_mode, value: number) = rearrange::pad(r, t, pads, mode, value);
            /// The inverse of unfold: `r` = the sum of the windows in the last dimension of `t`, placed `step` apart along `dimension`.
            /// Windows are added where they overlap. Gaps between windows are zeros.
            fold(r: out, t: input, dimension: dim, step: count) = rearrange::fold(r, t, dimension, step);
            /// `r[i] = t[i + 1] - t[i]` along `dimension`, applied `n` times; for Bool, whether the two elements differ.
            diff(r: out, t: input, n: count, dimension: dim) = rearrange::diff(r, t, n, dimension);
            /// Stores the indices in each of the `ndim` dimensions of `shape` of the elements at the positions in `index`, counted in
            /// row-major order. Negative positions count from the end. See "Lists" in the conventions for `r` and `count`.
            unravelIndex(r: new_handles, count: count_inout, index: index, ndim: len, shape: sizes) = {
                let needed = rearrange::check_positions(index, shape)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || rearrange::unravel_index(index, shape)) }
            };
        }
    };
}

join_functions!(table);
pub(crate) use join_functions as functions;
