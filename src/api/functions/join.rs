//! Joining and rearranging.
//!
//! These functions copy; what shares memory with the result is copied first. A fresh `r` has the dtype of `t`, or that which all tensors
//! promote to; into any other, cat and its kin convert each element once, from its own dtype.
//!
//! Errors: `TH_ERR_SHAPE`, tensors that do not fit each other; `TH_ERR_ARGUMENT`, dimensions, sizes or pads out of range, an empty list;
//! `TH_ERR_DTYPE`, a result whose dtype does not take the elements.

use super::view::give_list;
use crate::api::table::table;
use crate::ops::{join, rearrange};

macro_rules! join_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r` = `a` and then `b` along dimension `dimension`, in which alone they may differ. A vector without elements, or a
            /// fresh handle, fits anything.
            cat(r: out, a: input, b: input, dimension: dim) = join::cat(r, &[a, b], dimension);
            /// `r` = the `count` tensors one after the other along dimension `dimension`; otherwise as cat.
            catArray(r: out, tensors: inputs, count: handle_count, dimension: dim) = join::cat(r, &tensors, dimension);
            /// `r` = the `count` tensors, which have one shape, along a new dimension `dimension`.
            stack(r: out, tensors: inputs, count: handle_count, dimension: dim) = join::stack(r, &tensors, dimension);
            /// `r` = the `count` tensors side by side: along dimension 1, or 0 if the first is a vector or scalar.
            hstack(r: out, tensors: inputs, count: handle_count) = join::hstack(r, &tensors);
            /// `r` = the `count` tensors on top of each other: along dimension 0, vectors as rows.
            vstack(r: out, tensors: inputs, count: handle_count) = join::vstack(r, &tensors);
            /// `r` = the `count` tensors behind each other: along dimension 2. A matrix [n x k] counts as [n x k x 1], a vector [n] as [1 x n x
            /// 1].
            dstack(r: out, tensors: inputs, count: handle_count) = join::dstack(r, &tensors);

            /// Views of `ndim` pieces of `t` along `dimension`, with `sizes` entries each, which add up to all. See "Lists" in the conventions
            /// for `r` and `count`.
            splitSizes(r: new_handles, count: count_inout, t: input, ndim: len, sizes: sizes, dimension: dim) = {
                let needed = join::check_sizes(t, sizes, dimension)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || join::split_sizes(t, sizes, dimension)) }
            };
            /// Views of `sections` pieces of `t` along `dimension`; where the size cannot be divided, the first ones have one entry more. See
            /// "Lists" in the conventions for `r` and `count`.
            tensorSplit(r: new_handles, count: count_inout, t: input, sections: count, dimension: dim) = {
                let needed = join::sections(t, sections, dimension)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || join::tensor_split(t, sections, dimension)) }
            };
            /// Views of the pieces of `t` along `dimension` that end before each of the `ndim` entries `indices`, and of the rest; bounds as in
            /// slice. See "Lists" in the conventions for `r` and `count`.
            tensorSplitIndices(r: new_handles, count: count_inout, t: input, ndim: len, indices: entries, dimension: dim) = {
                let needed = join::check_indices(t, indices, dimension)?;
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_list(r, count, needed, || join::tensor_split_indices(t, indices, dimension)) }
            };

            /// `r` = `t` with the entries of the `count` dimensions `dims` in reverse order.
            flip(r: out, t: input, ndim: len, dims: dims) = rearrange::flip(r, t, dims);
            /// `r` = `t` with the entries of dimension `dims[k]` moved on by `shifts[k]`; what leaves at one end comes back at the other.
            /// Without `dims`, which then is NULL, the elements in row-major order are moved by the one shift.
            roll(r: out, t: input, ndim: len, shifts: counts, dims: optional_dims) = rearrange::roll(r, t, shifts, dims);
            /// `r` = `t` turned by `k` right angles in the plane of two dimensions, from `dimension1` towards `dimension2`.
            rot90(r: out, t: input, k: count, dimension1: dim, dimension2: dim) = rearrange::rot90(r, t, k, dimension1, dimension2);
            /// `r` = `t` `sizes[d]` times along each of `ndim` dimensions; `t` gets new ones in front where it has fewer.
            repeat(r: out, t: input, ndim: len, sizes: counts) = rearrange::repeat(r, t, sizes);
            /// `THTensor_repeat` by Torch's name.
            repeatTensor(r: out, t: input, ndim: len, sizes: counts) = rearrange::repeat(r, t, sizes);
            /// As repeat, where missing counts in front are 1.
            tile(r: out, t: input, ndim: len, sizes: counts) = rearrange::tile(r, t, sizes);
            /// `r` = each entry of `t` along `dimension` as often as `repeats` says, a vector with a number for each, or one number for all;
            /// int64 or int32. With `TH_ALL_DIMS` the entries are the elements in row-major order.
            repeatInterleave(r: out, t: input, repeats: input, dimension: dim) = rearrange::repeat_interleave(r, t, repeats, dimension);
            /// As repeatInterleave with one number.
            repeatInterleaveValue(r: out, t: input, repeats: count, dimension: dim) =
                rearrange::repeat_interleave_value(r, t, repeats, dimension);
            /// `r` = `t` with `pads[0]` entries more before and `pads[1]` behind in the last dimension, `pads[2]` and `pads[3]` in the one
            /// before it, and so on; `count` is the number of pads, two for a dimension. Negative pads cut off. `mode` says what the entries
            /// are: `TH_PAD_CONSTANT` makes them `value`, in the range that fill takes for the dtype of `t`.
            pad(r: out, t: input, count: len, pads: counts, mode: pad_mode, value: number) = rearrange::pad(r, t, pads, mode, value);
            /// The inverse of unfold: `r` = the windows along the last dimension of `t`, `step` apart along `dimension`, added where they
            /// overlap. Between windows that do not touch there are zeros.
            fold(r: out, t: input, dimension: dim, step: count) = rearrange::fold(r, t, dimension, step);
            /// `r[i] = t[i + 1] - t[i]` along `dimension`, `n` times over; of Bool, whether they differ.
            diff(r: out, t: input, n: count, dimension: dim) = rearrange::diff(r, t, n, dimension);
            /// The index in each of the `ndim` dimensions of `shape` of the elements at the positions in `index`, counted in row-major order,
            /// negative ones from the end. See "Lists" in the conventions for `r` and `count`.
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
