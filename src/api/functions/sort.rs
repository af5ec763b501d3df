//! Sorting and searching.
//!
//! NaN is greater than every number and equals no other NaN; -0.0 equals 0.0. Results do not depend on the number of threads.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension, rank or index out of range; `TH_ERR_SHAPE`, operands whose shapes do not fit each other;
//! `TH_ERR_DTYPE`, indices that are not integers, or a dtype of a result that cannot hold the elements.

use crate::api::table::table;
use crate::ops::{search, sort, unique};

macro_rules! sort_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `values = elements of t in ascending order along dimension`, or in `descending` order; `indices` = the int64 index in `t` of
            /// each value.
            ///
            /// Either result may be NULL. NaN comes last in ascending order and first in descending order. Equal elements, and NaNs, keep
            /// their order; if `stable` is 0, this is not guaranteed. Every dtype; `values` gets the dtype of `t` if it has none.
            sort(values: optional_out, indices: optional_indices, t: input, dimension: dim, descending: flag, stable: flag) =
                sort::sort((values, indices), t, dimension, descending, stable);
            /// `r = indices that sort t along dimension`: the int64 indices of `THTensor_sort`.
            argsort(r: indices, t: input, dimension: dim, descending: flag, stable: flag) =
                sort::sort((None, Some(r)), t, dimension, descending, stable);
            /// `r = elements of t in ascending order along its first dimension`, as by `THTensor_sort` with `stable`.
            msort(r: out, t: input) = sort::sort((Some(r), None), t, 0, false, true);
            /// `values = k least elements of t along dimension`, or the `k` greatest with `largest`; `indices` = the int64 index of each
            /// value. NaN is greater than every number.
            ///
            /// Either result may be NULL. Of equal elements the first ones are chosen. With `sorted` the values are in ascending order, or
            /// in descending order with `largest`, and equal elements keep their order; otherwise the values have the order of `t`. Every
            /// dtype; `values` gets the dtype of `t` if it has none. A `k` that is negative or greater than the size of the dimension is an
            /// error. For a 0-d `t`, `k` must be 1.
            topk(values: optional_out, indices: optional_indices, t: input, k: size, dimension: dim, largest: flag, sorted: flag) =
                sort::topk((values, indices), t, k, dimension, largest, sorted);
            /// `r = indices that sort along dimension by the last of count keys`; where elements of a key are equal, the previous key
            /// decides, as in NumPy's lexsort.
            ///
            /// `r[i]` is the int64 index of the `i`-th element in this order. Elements that are equal in all keys keep their order. The
            /// keys have one shape, which is also the shape of `r`, and any dtypes. A `count` of 0 is an error.
            lexsort(r: indices, keys: inputs, count: handle_count, dimension: dim) = sort::lexsort(r, &keys, dimension);
            /// `values = the distinct elements of t in ascending order`; unless `dimension` is `TH_ALL_DIMS`, the distinct slices along
            /// `dimension`.
            ///
            /// `inverse` has int64 indices with `t = values[inverse]`, in the shape of `t` or as a vector with an entry for each slice.
            /// `counts` = the int64 number of occurrences of each value. Each result may be NULL. Slices are compared in row-major order by
            /// the first element in which they differ. Each NaN is a distinct value; of -0.0 and 0.0 the first one is kept. Every dtype;
            /// `values` gets the dtype of `t` if it has none. Slices without elements are an error.
            unique(values: optional_out, inverse: optional_indices, counts: optional_totals, t: input, dimension: dim) =
                unique::unique(unique::Results { values, inverse, counts }, t, dimension, false);
            /// `values = one element of each run of equal elements in t`, in row-major order; unless `dimension` is `TH_ALL_DIMS`, one
            /// slice of each run along `dimension`. Otherwise as `THTensor_unique`.
            uniqueConsecutive(values: optional_out, inverse: optional_indices, counts: optional_totals, t: input, dimension: dim) =
                unique::unique(unique::Results { values, inverse, counts }, t, dimension, true);
            /// `r[..] = number of elements of sequence less than t[..]`, or with `right` less than or equal to `t[..]`: the int64 index at
            /// which `t[..]` can be inserted before, or after, its equals.
            ///
            /// `sequence` ascends along its last dimension, with NaN last. `sorter` may be NULL; otherwise it has int64 or int32 indices,
            /// in the shape of `sequence`, that sort `sequence`. If `sequence` is a vector, it serves all elements of `t`; otherwise all
            /// dimensions except the last must equal the dimensions of `t`. Both operands are converted to one dtype first. If a sequence
            /// does not ascend, the result is unspecified.
            searchsorted(r: indices, sequence: input, t: input, right: flag, sorter: optional_index) =
                search::searchsorted(r, sequence, t, right, sorter);
            /// `r[..] = i where boundaries[i - 1] < t[..] <= boundaries[i]`, or with `right` where `boundaries[i - 1] <= t[..] <
            /// boundaries[i]`, as `THTensor_searchsorted` with the vector `boundaries`.
            bucketize(r: indices, t: input, boundaries: input, right: flag) = search::bucketize(r, t, boundaries, right);
            /// `r[..] = whether t[..] equals an element of tests`, or with `invert` whether it equals none, as Bool.
            ///
            /// Both operands are converted to one dtype first. NaN equals no element. `assumeUnique` says that neither operand contains an
            /// element twice; the result does not depend on this argument.
            isin(r: truth, t: input, tests: input, assumeUnique: flag, invert: flag) = search::isin(r, t, tests, assumeUnique, invert);
        }
    };
}

sort_functions!(table);
pub(crate) use sort_functions as functions;
