//! `THTensor_*`: views, in both forms (`narrow` into a handle, `newNarrow`), and changes of shape in place.

use crate::api::failure::null_argument;
use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::view::{self as ops, Pieces};
use crate::tensor::{THTensor, Tensor};
use std::ffi::c_int;

/// Declares two functions for each view: one stores the view in a handle, the other returns a new handle.
macro_rules! pairs {
    ($do:ident [$($to:tt)*] $($(#[doc = $doc:literal])* $set:ident / $new:ident($($arg:ident: $kind:ident),*) =
        |$layout:ident| $view:expr;)*) => {
        $do! { $($to)* $(
            $(#[doc = $doc])*
            #[doc = " Makes `r` this view of `t`; both may be the same handle."]
            $set(r: view_out, t: input $(, $arg: $kind)*) = {
                let mut $layout = t.layout()?;
                $view?;
                ops::set_to(r, t, &$layout)
            };
            $(#[doc = $doc])*
            #[doc = " Returns a new reference."]
            $new(t: input $(, $arg: $kind)*) -> new = ops::derive_inlined(t, |$layout| $view);
        )* }
    };
}
pub(crate) use pairs;

// `name / newName(arguments) = |layout of the source| layout of the view`.
macro_rules! view_pair_functions {
    ($do:ident) => {
        $crate::api::functions::view::pairs! { $do ["THTensor_";]
            /// Entries `firstIndex` to `firstIndex + size - 1` of dimension `dimension`; a negative `firstIndex` counts from the end.
            narrow / newNarrow(dimension: dim, firstIndex: entry, size: size) = |layout| layout.narrow(dimension, firstIndex, size);
            /// Entry `sliceIndex` of dimension `dimension`, which is removed; for a vector the view is a scalar.
            select / newSelect(dimension: dim, sliceIndex: entry) = |layout| layout.select(dimension, sliceIndex);
            /// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; the bounds are clamped as in Python, and `step`
            /// must be positive.
            slice / newSlice(dimension: dim, start: entry, end: entry, step: count) = |layout| layout.slice(dimension, start, end, step);
            /// The tensor with dimensions `dimension1` and `dimension2` swapped.
            transpose / newTranspose(dimension1: dim, dimension2: dim) = |layout| layout.transpose(dimension1, dimension2);
            /// The matrix transposed; vectors and scalars are unchanged.
            t / newT() = |layout| layout.t();
            /// The tensor with permuted dimensions: dimension `d` of the view is dimension `dims[d]` of the source.
            permute / newPermute(ndim: len, dims: dims) = |layout| layout.permute(dims);
            /// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which are removed; the diagonal becomes the last dimension.
            diagonal / newDiagonal(offset: count, dim1: dim, dim2: dim) = |layout| layout.diagonal(offset, dim1, dim2);
            /// All windows of `size` entries in dimension `dimension`, `step` entries apart; the elements of a window become a new last
            /// dimension.
            unfold / newUnfold(dimension: dim, size: size, step: count) = |layout| layout.unfold(dimension, size, step);
            /// The tensor without its dimensions of size 1.
            squeeze / newSqueeze() = |layout| layout.squeeze();
            /// The tensor without dimension `dimension`, if this dimension has size 1.
            squeeze1d / newSqueeze1d(dimension: dim) = |layout| layout.squeeze_dim(dimension);
            /// The tensor with a new dimension of size 1 at `dimension`; -1 appends the dimension.
            unsqueeze1d / newUnsqueeze1d(dimension: dim) = |layout| layout.unsqueeze(dimension);
            /// The same elements in these sizes, of which one may be -1; it is an error if the strides would need a copy.
            view / newView(ndim: len, size: sizes) = |layout| layout.view(size);
            /// The tensor with dimensions of size 1 repeated to these sizes at stride 0; -1 keeps a size, and new dimensions come first.
            expand / newExpand(ndim: len, size: sizes) = |layout| layout.expand(size);
            /// The tensor viewed in the sizes of `other`.
            viewAs / newViewAs(other: input) = |layout| layout.view(&shape_of(other)?);
            /// The tensor expanded to the sizes of `other`.
            expandAs / newExpandAs(other: input) = |layout| layout.expand(&shape_of(other)?);
        }
    };
}

pub mod pairs_of_views {
    //! Views.
    //!
    //! A view shares the memory of its source, and keeps this memory alive. Most views have two functions: `narrow` stores the view in an
    //! existing handle, and `newNarrow` returns a new handle.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a dimension, index or size out of range; `TH_ERR_SHAPE`, sizes that the number of elements or the strides
    //! do not allow; `TH_ERR_DTYPE`, a source without a dtype.
    use super::*;
    view_pair_functions!(table);
    pub(crate) use view_pair_functions as functions;
}

fn shape_of(t: &Tensor) -> Result<crate::layout::Dims> {
    Ok(t.layout()?.shape)
}

macro_rules! view_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// The same bytes as elements of another dtype of the same size. Returns a new reference.
            newViewDtype(t: input, dtype: other_dtype) -> new = ops::view_dtype(t, dtype);
            /// The elements of the storage of `t` with these sizes and strides, from position `storageOffset` of the storage. Strides and
            /// offset are in elements; strides may be 0, and elements may occur several times. Elements outside the storage are an error.
            /// Gradients reach `t` if all elements belong to `t`, or to the tensor that `t` is a view of. Returns a new reference.
            newAsStrided(t: input, ndim: len, size: sizes, stride: strides, storageOffset: offset) -> new =
                ops::as_strided(t, size, stride, storageOffset as i64);
            /// The elements of `t` in these sizes, of which one may be -1: a view if the strides allow it, else a copy. Returns a new
            /// reference.
            newReshape(t: input, ndim: len, size: sizes) -> new =
                ops::reshape(t, size);
            /// The tensor with dimensions `start` to `end` inclusive merged into one: a view if the strides allow it, else a copy. Returns
            /// a new reference.
            newFlatten(t: input, start: dim, end: dim) -> new = ops::flatten(t, start, end);
            /// Stores in `r` views of `size` entries along `dimension`; the last view may be smaller. "Lists" in the conventions describes
            /// `r` and `count`.
            split(r: new_handles, count: count_inout, t: input, size: size, dimension: dim) =
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_pieces(r, count, ops::split(t, size, dimension)?) };
            /// Stores in `r` at most `chunks` views of equal size along `dimension`; the last view may be smaller. An empty dimension gives
            /// `chunks` empty views. "Lists" in the conventions describes `r` and `count`.
            chunk(r: new_handles, count: count_inout, t: input, chunks: count, dimension: dim) =
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_pieces(r, count, ops::chunk(t, chunks, dimension)?) };
            /// Stores in `r` a view of each entry along `dimension`, which is removed. "Lists" in the conventions describes `r` and
            /// `count`.
            unbind(r: new_handles, count: count_inout, t: input, dimension: dim) =
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_pieces(r, count, ops::unbind(t, dimension)?) };
            /// Makes each of the `count` handles in `rets` a view of the tensor at the same index in `tensors`, expanded to the common
            /// broadcast shape.
            expandNd(rets: outs, tensors: inputs, count: handle_count) = ops::expand_nd(&rets, &tensors);
        }
    };
}

pub mod views {
    //! Views.
    use super::*;
    view_functions!(table);
    pub(crate) use view_functions as functions;
}

macro_rules! shape_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Makes `t` a second handle on the elements of `src`.
            set(t: handle, src: input) = ops::set(t, src);
            /// Makes `t` a tensor over `storage`, which grows if it is too small and can be resized; a NULL `stride` means row-major.
            setStorage(t: handle, storage: storage, storageOffset: offset, ndim: len, size: sizes, stride: optional_strides) =
                ops::set_storage(t, storage, storageOffset, size, stride);
            /// The name of `THTensor_setStorage` in TH's C interface.
            setStorageNd(t: handle, storage: storage, storageOffset: offset, ndim: len, size: sizes, stride: optional_strides) =
                ops::set_storage(t, storage, storageOffset, size, stride);
            /// Makes `t` a 1-d tensor over `storage`.
            setStorage1d(t: handle, storage: storage, storageOffset: offset, size0: size, stride0: stride) =
                ops::set_storage(t, storage, storageOffset, &[size0], Some(&[stride0]));
            /// Makes `t` a 2-d tensor over `storage`.
            setStorage2d(
                t: handle, storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride,
            ) = ops::set_storage(t, storage, storageOffset, &[size0, size1], Some(&[stride0, stride1]));
            /// Makes `t` a 3-d tensor over `storage`.
            setStorage3d(
                t: handle, storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride, size2: size,
                    stride2: stride,
            ) = ops::set_storage(t, storage, storageOffset, &[size0, size1, size2], Some(&[stride0, stride1, stride2]));
            /// Makes `t` a 4-d tensor over `storage`.
            setStorage4d(
                t: handle, storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride, size2: size,
                    stride2: stride, size3: size, stride3: stride,
            ) =
                ops::set_storage(t, storage, storageOffset, &[size0, size1, size2, size3], Some(&[stride0, stride1, stride2, stride3]));
            /// Makes `t` a 5-d tensor over `storage`.
            setStorage5d(
                t: handle, storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride, size2: size,
                    stride2: stride, size3: size, stride3: stride, size4: size, stride4: stride,
            ) =
                ops::set_storage(t, storage, storageOffset, &[size0, size1, size2, size3, size4], Some(&[stride0, stride1, stride2, stride3,
                    stride4]));
            /// Changes the sizes of `t`. Elements stay at their position in the storage, which grows if needed and never shrinks; new
            /// elements are undefined. A NULL `stride` keeps the strides if the sizes do not change, and otherwise selects row-major
            /// strides.
            resize(t: handle, ndim: len, size: sizes, stride: optional_strides) =
                ops::resize(t, size, stride);
            /// The name of `THTensor_resize` in TH's C interface.
            resizeNd(t: handle, ndim: len, size: sizes, stride: optional_strides) =
                ops::resize(t, size, stride);
            /// `THTensor_resize` to one dimension.
            resize1d(t: handle, size0: size) = ops::resize(t, &[size0], None);
            /// `THTensor_resize` to two dimensions.
            resize2d(t: handle, size0: size, size1: size) = ops::resize(t, &[size0, size1], None);
            /// `THTensor_resize` to three dimensions.
            resize3d(t: handle, size0: size, size1: size, size2: size) = ops::resize(t, &[size0, size1, size2], None);
            /// `THTensor_resize` to four dimensions.
            resize4d(t: handle, size0: size, size1: size, size2: size, size3: size) =
                ops::resize(t, &[size0, size1, size2, size3], None);
            /// `THTensor_resize` to five dimensions.
            resize5d(t: handle, size0: size, size1: size, size2: size, size3: size, size4: size) =
                ops::resize(t, &[size0, size1, size2, size3, size4], None);
            /// `THTensor_resize` to the sizes of `src`.
            resizeAs(t: handle, src: input) = ops::resize(t, &shape_of(src)?, None);
        }
    };
}

pub mod shapes {
    //! Shapes changed in place.
    //!
    //! These functions change the handle: its sizes, strides, offset or storage. They do not write elements.
    //!
    //! Errors: `TH_ERR_SHAPE`, sizes, strides or offsets that are negative or overflow; `TH_ERR_ARGUMENT`, a storage that cannot grow;
    //! `TH_ERR_DTYPE`, a source without a dtype.
    use super::*;
    shape_functions!(table);
    pub(crate) use shape_functions as functions;
}

/// Calls [`give_list`] with pieces of a tensor.
///
/// # Safety
/// As there.
unsafe fn give_pieces(r: *mut *mut THTensor, count: *mut c_int, pieces: Pieces<'_>) -> Result<()> {
    // SAFETY: the caller's guarantees about `r` and `count` apply.
    unsafe { give_list(r, count, pieces.count(), || pieces.tensors()) }
}

/// Stores a list of `needed` new references in `r` and its length in `count`; if `r` is NULL, only the length.
///
/// # Safety
/// `count` must be readable; `r` must be NULL or have room for `*count` handles.
pub(super) unsafe fn give_list(
    r: *mut *mut THTensor,
    count: *mut c_int,
    needed: i64,
    tensors: impl FnOnce() -> Result<Vec<Tensor>>,
) -> Result<()> {
    if count.is_null() {
        return Err(null_argument("count"));
    }
    let Ok(length) = c_int::try_from(needed) else { bail!(Argument, "{needed} views are more than can be returned") };
    // SAFETY: the caller's guarantees about `r` and `count` apply.
    unsafe {
        if !r.is_null() {
            if count.read() < length {
                bail!(Argument, "room for {} handles in 'r', {needed} are needed", count.read())
            }
            tensors()?.into_iter().enumerate().for_each(|(i, t)| r.add(i).write(t.into_raw()));
        }
        count.write(length);
    }
    Ok(())
}
