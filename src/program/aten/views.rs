//! Views, copies and conversions.

use crate::api::word::ToWord;
use crate::error::{Result, bail};
use crate::expr::{self, names};
use crate::layout::Dims;
use crate::program::call::{Call, copy};
use crate::program::direct::returned;
use crate::program::frame::Item;
use crate::program::table::aten;
use crate::tensor::Tensor;

aten! {
    "view" "self size" => newReshape "self size";
    "_view_of_written" "self size" => newView "self size";
    "_unsafe_view" "self size" => newReshape "self size";
    "view_copy" "self size" => newReshape "self size";
    "view.dtype" "self dtype" => newViewDtype "self dtype";
    "view_as" "self other" => newViewAs "self other";
    "reshape" "self shape" => newReshape "self shape";
    "reshape_as" "self other" => { reshape_as };
    "ravel" "self" => newReshape "self -1";
    "_reshape_alias" "self size stride" => newReshape "self size";
    "flatten.using_ints" "self start_dim=0 end_dim=-1" => newFlatten "self start_dim end_dim";
    "unflatten.int" "self dim sizes" => { unflatten };
    "expand" "self size implicit=False" => newExpand "self size";
    "expand_as" "self other" => newExpandAs "self other";
    "broadcast_to" "self size" => newExpand "self size";
    "broadcast_tensors" "tensors" => { broadcast };
    "permute" "self dims" => newPermute "self dims";
    "transpose.int" "self dim0 dim1" => newTranspose "self dim0 dim1";
    "swapaxes" "self axis0 axis1" => newTranspose "self axis0 axis1";
    "swapdims" "self dim0 dim1" => newTranspose "self dim0 dim1";
    "t" "self" => newT "self";
    "numpy_T" "self" => { reversed };
    "mT" "self" => newTranspose "self -2 -1";
    "mH" "self" => newTranspose "self -2 -1";
    "adjoint" "self" => newTranspose "self -2 -1";
    "matrix_H" "self" => newTranspose "self -2 -1";
    "movedim.int" "self source destination" => { move_dim };
    "movedim.intlist" "self source destination" => { move_dim };
    "unsqueeze" "self dim" => newUnsqueeze1d "self dim";
    "squeeze" "self" => newSqueeze "self";
    "squeeze.dim" "self dim" => newSqueeze1d "self dim";
    "squeeze.dims" "self dim" => { squeeze_dims };
    "select.int" "self dim index" => newSelect "self dim index";
    "slice.Tensor" "self dim=0 start=0 end=9223372036854775807 step=1" => newSlice "self dim start end step";
    "narrow" "self dim start length" => newNarrow "self dim start length";
    "diagonal" "self offset=0 dim1=0 dim2=1" => newDiagonal "self offset dim1 dim2";
    "linalg_diagonal" "A offset=0 dim1=-2 dim2=-1" => newDiagonal "A offset dim1 dim2";
    "diag" "self diagonal=0" => diag "self diagonal";
    "diag_embed" "self offset=0 dim1=-2 dim2=-1" => diagEmbed "self offset dim1 dim2";
    "unfold" "self dimension size step" => newUnfold "self dimension size step";
    "as_strided" "self size stride storage_offset" => newAsStrided "self size stride storage_offset";
    "as_strided" "self size stride storage_offset=None" => { as_strided };
    "split.Tensor" "self split_size dim=0" => split "self split_size dim";
    "split.sizes" "self split_size dim=0" => splitSizes "self split_size dim";
    "split_with_sizes" "self split_sizes dim=0" => splitSizes "self split_sizes dim";
    "chunk" "self chunks dim=0" => chunk "self chunks dim";
    "tensor_split.sections" "self sections dim=0" => tensorSplit "self sections dim";
    "tensor_split.indices" "self indices dim=0" => tensorSplitIndices "self indices dim";
    "hsplit.int" "self sections" => tensorSplit "self sections 1";
    "hsplit.array" "self indices" => tensorSplitIndices "self indices 1";
    "vsplit.int" "self sections" => tensorSplit "self sections 0";
    "vsplit.array" "self indices" => tensorSplitIndices "self indices 0";
    "dsplit.int" "self sections" => tensorSplit "self sections 2";
    "dsplit.array" "self indices" => tensorSplitIndices "self indices 2";
    "unbind.int" "self dim=0" => unbind "self dim";
    "alias" "self" => same;
    "detach" "self" => { detach };
    "detach_" "self" => same;
    "lift_fresh_copy" "self" => newClone "self";
    "lift_fresh" "self" => same;
    "lift" "self" => same;

    "clone" "self memory_format==1" => newCloneFormat "self 0";
    "clone" "self memory_format=None" => newClone "self";
    "contiguous" "self memory_format=0" => newContiguous "self";
    "copy" "self src non_blocking=False" => { copied };
    "fill.Tensor" "self value" => { copied };
    "copy_" "self src non_blocking=False" => { copy_in };
    "to.dtype" "self dtype non_blocking=False copy=False memory_format=None" => newTo "self dtype";
    "to.dtype_layout" "self dtype non_blocking=False copy=False memory_format=None" => newTo "self dtype";
    "to.dtype_layout" "self dtype==None non_blocking=False copy=False memory_format=None" => same;
    "to.device" "self device dtype non_blocking=False copy=False memory_format=None" => newTo "self dtype";
    "to.device" "self device dtype==None non_blocking=False copy=False memory_format=None" => same;
    "to.other" "self other non_blocking=False copy=False memory_format=None" => { like };
    "type_as" "self other" => { like };
    "_to_copy" "self dtype=None" => { converted };
}

/// The dimension of a tensor of `ndim` dimensions that a number of PyTorch means.
pub fn wrapped(dim: i64, ndim: usize) -> Result<usize> {
    let wrapped = if dim < 0 { dim.saturating_add(ndim.max(1) as i64) } else { dim };
    match usize::try_from(wrapped) {
        Ok(wrapped) if wrapped < ndim.max(1) => Ok(wrapped),
        _ => bail!(Argument, "dimension {dim} is out of range for {ndim} dimensions"),
    }
}

fn unflatten(c: &Call<'_>) -> Result<Item> {
    let (t, sizes) = (c.value(0)?, c.ints(2)?);
    let shape = t.shape();
    let dim = wrapped(c.int(1)?, shape.len())?;
    let mut to = Dims::new();
    to.extend_from_slice(&shape[..dim.min(shape.len())]);
    // One of the sizes may be -1: the quotient of the size and the other sizes.
    let known: i64 = sizes.iter().filter(|&&size| size != -1).product();
    let whole = shape.get(dim).copied().unwrap_or(1);
    sizes.iter().for_each(|&size| to.push(if size == -1 { whole.checked_div(known).unwrap_or(-1) } else { size }));
    to.extend_from_slice(shape.get(dim + 1..).unwrap_or_default());
    c.done(c.scope.call(&names::newView::FUNCTION, &[t.into(), (&to).into()]))
}

fn reversed(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    let dims: Dims = (0..t.ndim() as i64).rev().collect();
    c.done(expr::permute(t, &dims))
}

fn move_dim(c: &Call<'_>) -> Result<Item> {
    let (t, from, to) = (c.value(0)?, c.ints(1)?, c.ints(2)?);
    let ndim = t.ndim();
    let mut order = vec![usize::MAX; ndim];
    let mut moved = vec![false; ndim];
    for (&from, &to) in from.iter().zip(&to) {
        let (from, to) = (wrapped(from, ndim)?, wrapped(to, ndim)?);
        if let (Some(place), Some(moved)) = (order.get_mut(to), moved.get_mut(from)) {
            (*place, *moved) = (from, true);
        }
    }
    let mut rest = (0..ndim).filter(|&dim| !moved[dim]);
    let dims: Dims = order.iter().map(|&dim| if dim == usize::MAX { rest.next().unwrap_or(0) as i64 } else { dim as i64 }).collect();
    c.done(expr::permute(t, &dims))
}

fn squeeze_dims(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    let mut dims = c.ints(1)?.iter().map(|&dim| wrapped(dim, t.ndim())).collect::<Result<Vec<_>>>()?;
    dims.sort_unstable();
    let squeezed = dims.iter().rev().fold(t, |t, &dim| expr::squeeze(t, dim as i32));
    c.done(squeezed)
}

fn as_strided(c: &Call<'_>) -> Result<Item> {
    let (size, stride, offset) = (c.ints(1)?, c.ints(2)?, c.tensor(0)?.offset());
    let t = c.value(0)?;
    c.done(c.scope.call(&names::newAsStrided::FUNCTION, &[t.into(), (&size).into(), (&stride).into(), offset.into()]))
}

fn detach(c: &Call<'_>) -> Result<Item> {
    detached(c.tensor(0)?).map(Item::Tensor)
}

/// Returns a view without a history of gradients.
pub fn detached(t: &Tensor) -> Result<Tensor> {
    // The call bypasses the recorder, so that the view has no history.
    let t = t.as_ptr().word();
    returned(names::newViewAs::FUNCTION.run(&[t, t])?)
}

/// `src`, converted to the dtype of `self` and expanded to its sizes.
fn copied(c: &Call<'_>) -> Result<Item> {
    let (t, src) = (c.value(0)?, c.value(1)?);
    c.done(expr::clone(expr::expand(expr::to_dtype(src, t.dtype()), &t.shape())))
}

fn copy_in(c: &Call<'_>) -> Result<Item> {
    let t = c.tensor(0)?;
    copy(t, c.tensor(1)?)?;
    Ok(Item::Tensor(t.clone()))
}

fn like(c: &Call<'_>) -> Result<Item> {
    let dtype = c.value(1)?.dtype();
    c.done(expr::to_dtype(c.value(0)?, dtype))
}

/// A copy, which may have another dtype.
fn converted(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    c.done(match c.dtype(1)? {
        Some(dtype) if dtype != t.dtype() => expr::to_dtype(t, dtype),
        _ => expr::clone(t),
    })
}

fn reshape_as(c: &Call<'_>) -> Result<Item> {
    let shape = c.value(1)?.shape();
    c.done(expr::reshape(c.value(0)?, &shape))
}

/// The tensors, expanded to their common sizes.
fn broadcast(c: &Call<'_>) -> Result<Item> {
    let tensors = c.all_values(0)?;
    let ndim = tensors.iter().map(|t| t.ndim()).max().unwrap_or(0);
    let mut shape: Dims = Dims::filled(1, ndim);
    for t in &tensors {
        let own = t.shape();
        let before = ndim - own.len();
        own.iter().zip(&mut shape[before..]).filter(|(size, _)| **size != 1).for_each(|(&size, to)| *to = size);
    }
    let expanded: Vec<_> = tensors.iter().map(|&t| expr::expand(t, &shape)).collect();
    c.done_all(&expanded)
}
