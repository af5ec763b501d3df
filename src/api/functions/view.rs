//! `THTensor_*`: views, in both forms (`narrow` into a handle, `newNarrow`), and changes of shape in place.

use crate::api::failure::null_argument;
use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::view::{self as ops, Pieces};
use crate::tensor::{THTensor, Tensor};
use std::ffi::c_int;

/// Two rows of each view: into a handle, and as a new one.
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
            $new(t: input $(, $arg: $kind)*) -> new = ops::derive(t, |$layout| $view);
        )* }
    };
}
pub(crate) use pairs;

// `name / newName(arguments) = |layout of the source| layout of the view`.
macro_rules! view_pair_functions {
    ($do:ident) => {
        $crate::api::functions::view::pairs! { $do ["THTensor_";]
            /// Entries `firstIndex` to `firstIndex + size` of dimension `dimension`; a negative `firstIndex` counts from the end.
            narrow / newNarrow(dimension: dim, firstIndex: entry, size: size) = |layout| layout.narrow(dimension, firstIndex, size);
            /// Entry `sliceIndex` of dimension `dimension`, which disappears; of a vector this is a scalar.
            select / newSelect(dimension: dim, sliceIndex: entry) = |layout| layout.select(dimension, sliceIndex);
            /// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; bounds clamp as in Python, `step` must be positive.
            slice / newSlice(dimension: dim, start: entry, end: entry, step: count) = |layout| layout.slice(dimension, start, end, step);
            /// Dimensions `dimension1` and `dimension2` swapped.
            transpose / newTranspose(dimension1: dim, dimension2: dim) = |layout| layout.transpose(dimension1, dimension2);
            /// The matrix transposed; vectors and scalars stay as they are.
            t / newT() = |layout| layout.t();
            /// Dimension `d` of the view is dimension `dims[d]` of the source.
            permute / newPermute(ndim: len, dims: dims) = |layout| layout.permute(dims);
            /// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which disappear; the diagonal becomes the last dimension.
            diagonal / newDiagonal(offset: count, dim1: dim, dim2: dim) = |layout| layout.diagonal(offset, dim1, dim2);
            /// All windows of `size` entries, `step` apart, of dimension `dimension`; the window becomes a new last dimension.
            unfold / newUnfold(dimension: dim, size: size, step: count) = |layout| layout.unfold(dimension, size, step);
            /// Without the dimensions of size 1.
            squeeze / newSqueeze() = |layout| layout.squeeze();
            /// Without dimension `dimension`, if its size is 1.
            squeeze1d / newSqueeze1d(dimension: dim) = |layout| layout.squeeze_dim(dimension);
            /// With a new dimension of size 1 at `dimension`; -1 appends.
            unsqueeze1d / newUnsqueeze1d(dimension: dim) = |layout| layout.unsqueeze(dimension);
            /// The same elements in these sizes, of which one may be -1; an error where strides do not allow it without a copy.
            view / newView(ndim: len, size: sizes) = |layout| layout.view(size);
            /// Size-1 dimensions repeated to these sizes at stride 0; -1 keeps a size, new dimensions come first.
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
    //! A view shares the memory of its source, and keeps it alive. Most come in two forms: `narrow` makes a handle you have
    //! the view, `newNarrow` returns a new one.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a dimension, index or size out of range; `TH_ERR_SHAPE`, sizes that the elements or their strides do
    //! not allow; `TH_ERR_DTYPE`, a source without a dtype.
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
            /// The same bytes as another dtype of the same size. Returns a new reference.
            newViewDtype(t: input, dtype: other_dtype) -> new = ops::view_dtype(t, dtype);
            /// The elements of the storage of `t` at these sizes and strides, from position `storageOffset` of the storage on, both counted in
            /// elements; strides may be 0, and elements may be shown several times. Elements outside of the storage are an error. Gradients
            /// go to `t` where all elements are those of `t` or of the tensor that `t` is a view of. Returns a new reference.
            newAsStrided(t: input, ndim: len, size: sizes, stride: strides, storageOffset: offset) -> new =
                ops::as_strided(t, size, stride, storageOffset as i64);
            /// These sizes, of which one may be -1: a view where strides allow, else a copy. Returns a new reference.
            newReshape(t: input, ndim: len, size: sizes) -> new =
                ops::reshape(t, size);
            /// Dimensions `start` to `end`, both included, as one: a view where strides allow, else a copy. Returns a new reference.
            newFlatten(t: input, start: dim, end: dim) -> new = ops::flatten(t, start, end);
            /// Pieces of `size` entries along `dimension`; the last may be smaller. See "Lists" in the conventions for `r` and `count`.
            split(r: new_handles, count: count_inout, t: input, size: size, dimension: dim) =
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_pieces(r, count, ops::split(t, size, dimension)?) };
            /// At most `chunks` equal pieces along `dimension`; the last may be smaller. An empty dimension gives `chunks` empty pieces.
            /// See "Lists" in the conventions for `r` and `count`.
            chunk(r: new_handles, count: count_inout, t: input, chunks: count, dimension: dim) =
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_pieces(r, count, ops::chunk(t, chunks, dimension)?) };
            /// Every entry along `dimension`, which disappears. See "Lists" in the conventions for `r` and `count`.
            unbind(r: new_handles, count: count_inout, t: input, dimension: dim) =
                // SAFETY: `r` has room for `*count` handles.
                unsafe { give_pieces(r, count, ops::unbind(t, dimension)?) };
            /// Makes each of the `count` handles in `rets` the view of the tensor in `tensors` at its place, expanded to the one shape all
            /// broadcast to.
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
            /// Makes `t` a tensor over `storage`, which grows to hold it where it can; NULL `stride` means row-major.
            setStorage(t: handle, storage: storage, storageOffset: offset, ndim: len, size: sizes, stride: optional_strides) =
                ops::set_storage(t, storage, storageOffset, size, stride);
            /// `THTensor_setStorage` by the name TH gives its C form.
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
            /// Gives the tensor these sizes: elements stay where they are in the storage, which grows if needed and never shrinks; new
            /// elements are undefined. NULL `stride` keeps the strides if the sizes are the same, else makes them row-major.
            resize(t: handle, ndim: len, size: sizes, stride: optional_strides) =
                ops::resize(t, size, stride);
            /// `THTensor_resize` by the name TH gives its C form.
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
    //! These functions change the handle itself: what it shows, not the elements.
    //!
    //! Errors: `TH_ERR_SHAPE`, sizes, strides or offsets that are negative or overflow; `TH_ERR_ARGUMENT`, a storage that cannot grow;
    //! `TH_ERR_DTYPE`, a source without a dtype.
    use super::*;
    shape_functions!(table);
    pub(crate) use shape_functions as functions;
}

/// [`give_list`] of pieces.
///
/// # Safety
/// As there.
unsafe fn give_pieces(r: *mut *mut THTensor, count: *mut c_int, pieces: Pieces<'_>) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { give_list(r, count, pieces.count(), || pieces.tensors()) }
}

/// Stores a list of `needed` new references in `r`, or only its length in `count` while there is not enough room.
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
    // SAFETY: the caller's.
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
