//! `THTensor_*`: views, in both forms (`narrow` into a handle, `newNarrow`), and changes of shape in place.

use super::{export, null_argument, numbers, optional_numbers};
use crate::alloc;
use crate::dtype::THDtype;
use crate::error::{Result, bail};
use crate::ops::view::{self as ops, Pieces};
use crate::storage::THStorage;
use crate::tensor::{THTensor, Tensor};
use std::ffi::c_int;

/// A view operation in both its forms: `name / newName (args) = |layout of the source| layout of the view`.
macro_rules! views {
    ($($(#[$doc:meta])* $set:ident / $new:ident ($($arg:ident: $ty:ty),*) = |$layout:ident| $view:expr;)*) => {
        export! { $(
            $(#[$doc])*
            /// Makes `r` this view of `src`; both may be the same handle.
            fn $set(r: *mut THTensor, src: *const THTensor, $($arg: $ty),*) = {
                let mut $layout = src.layout()?;
                $view?;
                ops::set_to(r, src, &$layout)
            };
            $(#[$doc])*
            /// Returns a new reference.
            fn $new(tensor: *const THTensor, $($arg: $ty),*) -> *mut THTensor = ops::derive(tensor, |$layout| $view);
        )* }
    };
}

views! {
    /// Entries `firstIndex` to `firstIndex + size` of dimension `dimension`; a negative `firstIndex` counts from the end.
    THTensor_narrow / THTensor_newNarrow (dimension: c_int, firstIndex: i64, size: i64) = |l| l.narrow(dimension, firstIndex, size);
    /// Entry `sliceIndex` of dimension `dimension`, which disappears; of a vector this is a scalar.
    THTensor_select / THTensor_newSelect (dimension: c_int, sliceIndex: i64) = |l| l.select(dimension, sliceIndex);
    /// Entries `start`, `start + step`, ... before `end` of dimension `dimension`; bounds clamp as in Python, `step` must be positive.
    THTensor_slice / THTensor_newSlice (dimension: c_int, start: i64, end: i64, step: i64) = |l| l.slice(dimension, start, end, step);
    /// Dimensions `dimension1` and `dimension2` swapped.
    THTensor_transpose / THTensor_newTranspose (dimension1: c_int, dimension2: c_int) = |l| l.transpose(dimension1, dimension2);
    /// The matrix transposed; vectors and scalars stay as they are.
    THTensor_t / THTensor_newT () = |l| l.t();
    // SAFETY: `dims` holds `ndim` entries.
    /// Dimension `d` of the view is dimension `dims[d]` of the source.
    THTensor_permute / THTensor_newPermute (ndim: c_int, dims: *const i64) = |l| l.permute(unsafe { numbers("dims", ndim, dims) }?);
    /// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`, which disappear; the diagonal becomes the last dimension.
    THTensor_diagonal / THTensor_newDiagonal (offset: i64, dim1: c_int, dim2: c_int) = |l| l.diagonal(offset, dim1, dim2);
    /// All windows of `size` entries, `step` apart, of dimension `dimension`; the window becomes a new last dimension.
    THTensor_unfold / THTensor_newUnfold (dimension: c_int, size: i64, step: i64) = |l| l.unfold(dimension, size, step);
    /// Without the dimensions of size 1.
    THTensor_squeeze / THTensor_newSqueeze () = |l| l.squeeze();
    /// Without dimension `dimension`, if its size is 1.
    THTensor_squeeze1d / THTensor_newSqueeze1d (dimension: c_int) = |l| l.squeeze_dim(dimension);
    /// With a new dimension of size 1 at `dimension`; -1 appends.
    THTensor_unsqueeze1d / THTensor_newUnsqueeze1d (dimension: c_int) = |l| l.unsqueeze(dimension);
    // SAFETY: `size` holds `ndim` entries.
    /// The same elements in these sizes, of which one may be -1; an error where strides do not allow it without a copy.
    THTensor_view / THTensor_newView (ndim: c_int, size: *const i64) = |l| l.view(unsafe { numbers("size", ndim, size) }?);
    // SAFETY: `size` holds `ndim` entries.
    /// Size-1 dimensions repeated to these sizes at stride 0; -1 keeps a size, new dimensions come first.
    THTensor_expand / THTensor_newExpand (ndim: c_int, size: *const i64) = |l| l.expand(unsafe { numbers("size", ndim, size) }?);
    /// `tensor` viewed in the sizes of `other`.
    THTensor_viewAs / THTensor_newViewAs (other: *const THTensor) = |l| l.view(&shape_of(other)?);
    /// `tensor` expanded to the sizes of `other`.
    THTensor_expandAs / THTensor_newExpandAs (other: *const THTensor) = |l| l.expand(&shape_of(other)?);
}

fn shape_of(t: &Tensor) -> Result<crate::layout::Dims> {
    Ok(t.layout()?.shape)
}

export! {
    /// The same bytes as another dtype of the same size. Returns a new reference.
    fn THTensor_newViewDtype(tensor: *const THTensor, dtype: THDtype) -> *mut THTensor = ops::view_dtype(tensor, super::dtype_arg(dtype)?);
    /// These sizes, of which one may be -1: a view where strides allow, else a copy. Returns a new reference.
    fn THTensor_newReshape(tensor: *const THTensor, ndim: c_int, size: *const i64) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries.
        ops::reshape(tensor, unsafe { numbers("size", ndim, size) }?);
    /// Dimensions `start` to `end`, both included, as one: a view where strides allow, else a copy. Returns a new reference.
    fn THTensor_newFlatten(tensor: *const THTensor, start: c_int, end: c_int) -> *mut THTensor = ops::flatten(tensor, start, end);

    /// Pieces of `size` entries along `dimension`; the last may be smaller. See "Lists" in the conventions for `r` and `count`.
    fn THTensor_split(r: *mut *mut THTensor, count: *mut c_int, tensor: *const THTensor, size: i64, dimension: c_int) =
        // SAFETY: `r` has room for `*count` handles.
        unsafe { give_list(r, count, ops::split(tensor, size, dimension)?) };
    /// At most `chunks` equal pieces along `dimension`; the last may be smaller. An empty dimension gives `chunks` empty pieces.
    /// See "Lists" in the conventions for `r` and `count`.
    fn THTensor_chunk(r: *mut *mut THTensor, count: *mut c_int, tensor: *const THTensor, chunks: i64, dimension: c_int) =
        // SAFETY: `r` has room for `*count` handles.
        unsafe { give_list(r, count, ops::chunk(tensor, chunks, dimension)?) };
    /// Every entry along `dimension`, which disappears. See "Lists" in the conventions for `r` and `count`.
    fn THTensor_unbind(r: *mut *mut THTensor, count: *mut c_int, tensor: *const THTensor, dimension: c_int) =
        // SAFETY: `r` has room for `*count` handles.
        unsafe { give_list(r, count, ops::unbind(tensor, dimension)?) };
    /// Makes each of the `count` handles in `rets` the view of the tensor in `tensors` at its place, expanded to the one shape all broadcast to.
    fn THTensor_expandNd(rets: *const *mut THTensor, tensors: *const *mut THTensor, count: c_int) = {
        // SAFETY: both lists hold `count` handles.
        let (results, tensors) = unsafe { (handles("rets", rets, count)?, handles("tensors", tensors, count)?) };
        ops::expand_nd(&results, &tensors)
    };

    /// Makes `tensor` a second handle on the elements of `src`.
    fn THTensor_set(tensor: *mut THTensor, src: *const THTensor) = ops::set(tensor, src);
    /// Makes `tensor` a tensor over `storage`, which grows to hold it where it can; NULL `stride` means row-major.
    fn THTensor_setStorage(tensor: *mut THTensor, storage: *mut THStorage, storageOffset: isize, ndim: c_int, size: *const i64, stride: *const i64) =
        // SAFETY: the arrays hold `ndim` entries.
        unsafe { ops::set_storage(tensor, storage, storageOffset as i64, numbers("size", ndim, size)?, optional_numbers("stride", ndim, stride)?) };
    /// `THTensor_setStorage` by the name TH gives its C form.
    fn THTensor_setStorageNd(tensor: *mut THTensor, storage: *mut THStorage, storageOffset: isize, ndim: c_int, size: *const i64, stride: *const i64) =
        // SAFETY: the arrays hold `ndim` entries.
        unsafe { ops::set_storage(tensor, storage, storageOffset as i64, numbers("size", ndim, size)?, optional_numbers("stride", ndim, stride)?) };
    /// Makes `tensor` a 1-d tensor over `storage`.
    fn THTensor_setStorage1d(tensor: *mut THTensor, storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64) =
        ops::set_storage(tensor, storage, storageOffset as i64, &[size0], Some(&[stride0]));
    /// Makes `tensor` a 2-d tensor over `storage`.
    fn THTensor_setStorage2d(
        tensor: *mut THTensor, storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64, size1: i64, stride1: i64,
    ) = ops::set_storage(tensor, storage, storageOffset as i64, &[size0, size1], Some(&[stride0, stride1]));
    /// Makes `tensor` a 3-d tensor over `storage`.
    fn THTensor_setStorage3d(
        tensor: *mut THTensor, storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64, size1: i64, stride1: i64, size2: i64,
        stride2: i64,
    ) = ops::set_storage(tensor, storage, storageOffset as i64, &[size0, size1, size2], Some(&[stride0, stride1, stride2]));
    /// Makes `tensor` a 4-d tensor over `storage`.
    fn THTensor_setStorage4d(
        tensor: *mut THTensor, storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64, size1: i64, stride1: i64, size2: i64,
        stride2: i64, size3: i64, stride3: i64,
    ) = ops::set_storage(tensor, storage, storageOffset as i64, &[size0, size1, size2, size3], Some(&[stride0, stride1, stride2, stride3]));
    /// Gives the tensor these sizes: elements stay where they are in the storage, which grows if needed and never shrinks; new elements are
    /// undefined. NULL `stride` keeps the strides if the sizes are the same, else makes them row-major.
    fn THTensor_resize(tensor: *mut THTensor, ndim: c_int, size: *const i64, stride: *const i64) =
        // SAFETY: the arrays hold `ndim` entries.
        unsafe { ops::resize(tensor, numbers("size", ndim, size)?, optional_numbers("stride", ndim, stride)?) };
    /// `THTensor_resize` by the name TH gives its C form.
    fn THTensor_resizeNd(tensor: *mut THTensor, ndim: c_int, size: *const i64, stride: *const i64) =
        // SAFETY: the arrays hold `ndim` entries.
        unsafe { ops::resize(tensor, numbers("size", ndim, size)?, optional_numbers("stride", ndim, stride)?) };
    /// `THTensor_resize` to one dimension.
    fn THTensor_resize1d(tensor: *mut THTensor, size0: i64) = ops::resize(tensor, &[size0], None);
    /// `THTensor_resize` to two dimensions.
    fn THTensor_resize2d(tensor: *mut THTensor, size0: i64, size1: i64) = ops::resize(tensor, &[size0, size1], None);
    /// `THTensor_resize` to three dimensions.
    fn THTensor_resize3d(tensor: *mut THTensor, size0: i64, size1: i64, size2: i64) = ops::resize(tensor, &[size0, size1, size2], None);
    /// `THTensor_resize` to four dimensions.
    fn THTensor_resize4d(tensor: *mut THTensor, size0: i64, size1: i64, size2: i64, size3: i64) =
        ops::resize(tensor, &[size0, size1, size2, size3], None);
    /// `THTensor_resize` to five dimensions.
    fn THTensor_resize5d(tensor: *mut THTensor, size0: i64, size1: i64, size2: i64, size3: i64, size4: i64) =
        ops::resize(tensor, &[size0, size1, size2, size3, size4], None);
    /// `THTensor_resize` to the sizes of `src`.
    fn THTensor_resizeAs(tensor: *mut THTensor, src: *const THTensor) = ops::resize(tensor, &shape_of(src)?, None);
}

/// Stores a list of new references in `r`, or only its length in `count` while there is not enough room.
///
/// # Safety
/// `count` must be readable; `r` must be NULL or have room for `*count` handles.
unsafe fn give_list(r: *mut *mut THTensor, count: *mut c_int, pieces: Pieces<'_>) -> Result<()> {
    if count.is_null() {
        return Err(null_argument("count"));
    }
    let Ok(needed) = c_int::try_from(pieces.count()) else { bail!(Argument, "{} views are more than can be returned", pieces.count()) };
    // SAFETY: the caller's.
    unsafe {
        if !r.is_null() {
            if count.read() < needed {
                bail!(Argument, "room for {} handles in 'r', {needed} are needed", count.read())
            }
            pieces.tensors()?.into_iter().enumerate().for_each(|(i, t)| r.add(i).write(t.into_raw()));
        }
        count.write(needed);
    }
    Ok(())
}

/// `count` handles at `list`, none of them NULL.
///
/// # Safety
/// `list` must hold `count` live handles for as long as the call takes.
pub(super) unsafe fn handles<'a>(name: &str, list: *const *mut THTensor, count: c_int) -> Result<Vec<&'a Tensor>> {
    if count < 0 {
        bail!(Argument, "{count} entries for '{name}': the count is negative")
    }
    if count > 0 && list.is_null() {
        return Err(null_argument(name));
    }
    // SAFETY: the caller's; handles are transparent pointers.
    alloc::list(count as usize, |i| unsafe { (*list.add(i).cast::<Option<Tensor>>()).as_ref() }.ok_or_else(|| null_argument(name)))
}
