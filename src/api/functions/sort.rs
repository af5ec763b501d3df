//! Sorting and searching.
//!
//! NaN is greater than everything and equal to no other NaN; -0.0 equals 0.0. Results are the same whatever the number of threads.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension, rank or position out of range; `TH_ERR_SHAPE`, operands that do not fit each other;
//! `TH_ERR_DTYPE`, positions in a tensor that is not of integers, elements in one that cannot take them.

use crate::api::table::table;
use crate::ops::{search, sort, unique};

macro_rules! sort_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `values = elements of t in ascending order along dimension`, or in `descending` order; int64 `indices` tell where each of them
            /// stood.
            ///
            /// Either result may be NULL. NaN comes last in ascending order and first in descending order. Equal elements keep their order, and
            /// so do NaNs; with 0 for `stable` that is not promised. Every dtype; `values` get that of `t` if they have none.
            sort(values: optional_out, indices: optional_indices, t: input, dimension: dim, descending: flag, stable: flag) =
                sort::sort((values, indices), t, dimension, descending, stable);
            /// `r = where the elements of t stand that come first, second, ... along dimension`: the int64 indices of `THTensor_sort`.
            argsort(r: indices, t: input, dimension: dim, descending: flag, stable: flag) =
                sort::sort((None, Some(r)), t, dimension, descending, stable);
            /// `r = elements of t in ascending order along its first dimension`, as by `THTensor_sort`.
            msort(r: out, t: input) = sort::sort((Some(r), None), t, 0, false, true);
            /// `values = k least elements of t along dimension`, or the `largest`; int64 `indices` tell where they stand. NaN is greater than
            /// everything.
            ///
            /// Either result may be NULL. Of equal elements those are taken that come first. With `sorted` the least, or the greatest, come
            /// first and equal ones keep their order; else all stand as in `t`. Every dtype; `values` get that of `t` if they have none. A `k`
            /// that is negative or greater than the dimension is an error, and for a 0-d `t` any but 1.
            topk(values: optional_out, indices: optional_indices, t: input, k: size, dimension: dim, largest: flag, sorted: flag) =
                sort::topk((values, indices), t, k, dimension, largest, sorted);
            /// `r = order along dimension by the last of count keys`, where that has equal elements by the one before, and so on, as NumPy's
            /// lexsort has it.
            ///
            /// `r[i]` is the int64 place of what comes `i`-th; what all keys have alike keeps its order. Keys have one shape, which is that of
            /// `r`, and any dtypes. No keys are an error.
            lexsort(r: indices, keys: inputs, count: handle_count, dimension: dim) = sort::lexsort(r, &keys, dimension);
            /// `values = each element of t once, in ascending order`; with `TH_ALL_DIMS` as dimension of all elements, else each slice along
            /// it.
            ///
            /// `t = values[inverse]`: int64 `inverse` has the shape of `t`, or is a vector with an entry for each slice. int64 `counts` tell
            /// how often each value occurs. Each result may be NULL. Slices are compared by the first element in which they differ, in
            /// row-major order. No NaN equals another, so each is a value; of -0.0 and 0.0 the one that comes first is taken. Every dtype;
            /// `values` get that of `t` if they have none. Slices without elements are an error.
            unique(values: optional_out, inverse: optional_indices, counts: optional_totals, t: input, dimension: dim) =
                unique::unique(unique::Results { values, inverse, counts }, t, dimension, false);
            /// `values = one element of each run of equal ones in t`, in the order of `t`; with `TH_ALL_DIMS` as dimension in row-major order,
            /// else one slice of each run along it. Everything else as for `THTensor_unique`.
            uniqueConsecutive(values: optional_out, inverse: optional_indices, counts: optional_totals, t: input, dimension: dim) =
                unique::unique(unique::Results { values, inverse, counts }, t, dimension, true);
            /// `r[..] = number of elements of sequence less than t[..]`, or with `right` of those not greater: where `t[..]` can be inserted
            /// before, or behind, what equals it. int64.
            ///
            /// `sequence` ascends along its last dimension, NaN last, or does if its elements are taken in the order of `sorter`, int64 or
            /// int32 indices of the same shape, which may be NULL. A vector is for all elements of `t`; otherwise all dimensions but the last
            /// must be those of `t`. Both are converted to one dtype first. In a sequence that does not ascend some place is found.
            searchsorted(r: indices, sequence: input, t: input, right: flag, sorter: optional_index) =
                search::searchsorted(r, sequence, t, right, sorter);
            /// `r[..] = i where boundaries[i - 1] < t[..] <= boundaries[i]`, or with `right` `boundaries[i - 1] <= t[..] < boundaries[i]`: as
            /// `THTensor_searchsorted` in a vector of boundaries.
            bucketize(r: indices, t: input, boundaries: input, right: flag) = search::bucketize(r, t, boundaries, right);
            /// `r[..] = whether t[..] equals an element of tests`, or with `invert` whether it equals none. Bool.
            ///
            /// Both are converted to one dtype first. No NaN equals anything. `assumeUnique` promises that neither has an element twice; the
            /// result is the same.
            isin(r: truth, t: input, tests: input, assumeUnique: flag, invert: flag) = search::isin(r, t, tests, assumeUnique, invert);
        }
    };
}

sort_functions!(table);
pub(crate) use sort_functions as functions;
