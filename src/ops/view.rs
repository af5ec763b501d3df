//! Views: other geometries over the same storage. No function here copies elements, except `reshape` and `flatten` if they must.

use super::copy;
use crate::alloc::list;
use crate::dtype::{Dtype, default_dtype};
use crate::error::{Result, bail};
use crate::layout::{Dims, Layout, broadcast_shape, checked_numel, contiguous_strides, infer_size, wrap_dim};
use crate::storage::Storage;
use crate::tensor::Tensor;

/// A new handle on `layout` of the storage of `t`.
#[inline]
pub fn of(t: &Tensor, layout: &Layout) -> Result<Tensor> {
    let dtype = t.defined()?;
    Tensor::with_layout(storage_of(t, dtype)?, dtype, layout)
}

/// A new handle on the storage of `t` with the layout that `change` makes.
pub fn derive(t: &Tensor, change: impl FnOnce(&mut Layout) -> Result<()>) -> Result<Tensor> {
    let mut change = Some(change);
    by_any_change(t, &mut |layout| change.take().map_or(Ok(()), |change| change(layout)))
}

fn by_any_change(t: &Tensor, change: &mut dyn FnMut(&mut Layout) -> Result<()>) -> Result<Tensor> {
    derive_inlined(t, change)
}

/// [`derive`] for functions that programs call often, with a copy of the code for each of them.
#[inline(always)]
pub fn derive_inlined(t: &Tensor, change: impl FnOnce(&mut Layout) -> Result<()>) -> Result<Tensor> {
    let dtype = t.defined()?;
    // The reference is counted first, because an atomic addition waits for all earlier stores.
    let storage = storage_of(t, dtype)?;
    let mut layout = t.layout()?;
    change(&mut layout)?;
    Tensor::with_layout(storage, dtype, &layout)
}

/// Makes `r` show `layout` of the storage of `t`. `r` may be `t`.
pub fn set_to(r: &Tensor, t: &Tensor, layout: &Layout) -> Result<()> {
    let dtype = t.defined()?;
    let storage = storage_of(t, dtype)?;
    r.set_dims(&layout.shape, &layout.strides)?;
    r.set_elements(storage, dtype, layout.offset);
    Ok(())
}

fn storage_of(t: &Tensor, dtype: Dtype) -> Result<Storage> {
    match t.storage() {
        Some(storage) => Ok(storage),
        None => Storage::new(dtype),
    }
}

/// A second handle on the same elements. A fresh handle gives a fresh handle.
pub fn alias(t: &Tensor) -> Result<Tensor> {
    match t.dtype() {
        None => Tensor::fresh(),
        Some(_) => of(t, &t.layout()?),
    }
}

/// The elements of the storage of `t` at these sizes and strides, from `offset` on. Fails if an element is outside the storage.
pub fn as_strided(t: &Tensor, shape: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    t.defined()?;
    let (layout, _) = over_storage(offset, shape, Some(strides))?;
    t.check_bounds(&layout)?;
    of(t, &layout)
}

/// Makes `r` a second handle on the elements of `src`.
pub fn set(r: &Tensor, src: &Tensor) -> Result<()> {
    if r.is(src) { Ok(()) } else { set_to(r, src, &src.layout()?) }
}

/// Checks a geometry given by the caller. Returns the layout and the number of elements that the storage must have.
fn over_storage(offset: i64, shape: &[i64], strides: Option<&[i64]>) -> Result<(Layout, i64)> {
    checked_numel(shape)?;
    if offset < 0 {
        bail!(Argument, "storage offset {offset} is negative")
    }
    let strides = match strides {
        None => contiguous_strides(shape),
        Some(strides) => {
            if let Some(d) = strides.iter().position(|&s| s < 0) {
                bail!(Argument, "stride {} of dimension {d} is negative", strides[d])
            }
            strides.into()
        }
    };
    let layout = Layout { shape: shape.into(), strides, offset };
    match layout.end() {
        None => bail!(Shape, "shape {shape:?} with strides {:?} and offset {offset} overflows", layout.strides.as_slice()),
        Some(end) => Ok((layout, end)),
    }
}

/// A tensor over `storage`, which is grown if the geometry needs more elements.
pub fn with_storage(storage: &Storage, offset: i64, shape: &[i64], strides: Option<&[i64]>) -> Result<Tensor> {
    let (layout, end) = over_storage(offset, shape, strides)?;
    // The storage grows last, because the handle may not get memory.
    let t = Tensor::with_layout(storage.clone(), storage.dtype(), &layout)?;
    storage.resize(end.max(storage.len()))?;
    Ok(t)
}

/// A 1-d tensor over the whole of `storage`.
pub fn with_whole_storage(storage: &Storage) -> Result<Tensor> {
    Tensor::with_layout(storage.clone(), storage.dtype(), &Layout::contiguous(&[storage.len()]))
}

/// Makes `r` a tensor over `storage`, which is grown if the geometry needs more elements.
pub fn set_storage(r: &Tensor, storage: &Storage, offset: i64, shape: &[i64], strides: Option<&[i64]>) -> Result<()> {
    let (layout, end) = over_storage(offset, shape, strides)?;
    let memory = r.dims_memory(shape.len())?;
    storage.resize(end.max(storage.len()))?;
    r.point_at(memory, storage.clone(), storage.dtype(), &layout);
    Ok(())
}

/// A view of the same bytes as another dtype of the same size.
pub fn view_dtype(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    let have = t.defined()?;
    if have.size() != dtype.size() {
        // This is the text of PyTorch's documentation.
        bail!(Dtype, "Viewing a tensor as a new dtype with a different number of bytes per element is not supported.")
    }
    Tensor::with_layout(storage_of(t, have)?, dtype, &t.layout()?)
}

/// `t` with `sizes`, one of which may be -1: a view if the strides allow, else a copy.
pub fn reshape(t: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let layout = t.layout()?;
    let shape = infer_size(sizes, layout.numel())?;
    if let Some(strides) = layout.view_strides(&shape) {
        return of(t, &Layout { shape, strides, offset: layout.offset });
    }
    let copied = copy::contiguous_copy(t)?;
    let layout = Layout::contiguous(&shape);
    of(&copied, &layout)
}

/// Dimensions `start` to `end`, both included, as one: a view where strides allow, else a copy.
pub fn flatten(t: &Tensor, start: i32, end: i32) -> Result<Tensor> {
    reshape(t, &t.layout()?.flatten_shape(start, end)?)
}

/// Views that divide a tensor along one dimension. They are counted before any is made, because an expanded tensor may have more pieces
/// than memory can hold.
pub struct Pieces<'a> {
    tensor: &'a Tensor,
    layout: Layout,
    dim: usize,
    /// The number of entries of a piece; `None` removes the dimension.
    size: Option<i64>,
    count: i64,
}

impl Pieces<'_> {
    /// The number of pieces.
    pub fn count(&self) -> i64 {
        self.count
    }

    /// All pieces, as new references.
    pub fn tensors(&self) -> Result<Vec<Tensor>> {
        list(self.count as usize, |i| {
            let (i, mut view) = (i as i64, self.layout.clone());
            match self.size {
                Some(size) => view.narrow(self.dim as i32, i * size, size.min(self.layout.shape[self.dim] - i * size))?,
                None => view.select(self.dim as i32, i)?,
            }
            of(self.tensor, &view)
        })
    }
}

/// The layout of `t`, and the dimension along which it is divided. Fails for a scalar.
fn divided(t: &Tensor, dim: i32) -> Result<(Layout, usize)> {
    t.defined()?;
    let layout = t.layout()?;
    let d = wrap_dim(dim, layout.ndim())?;
    if layout.ndim() == 0 { bail!(Shape, "a 0-d tensor has no entries") } else { Ok((layout, d)) }
}

/// Pieces of `size` entries along `dim`. The last one may be smaller.
pub fn split(tensor: &Tensor, size: i64, dim: i32) -> Result<Pieces<'_>> {
    let (layout, dim) = divided(tensor, dim)?;
    let n = layout.shape[dim];
    if size < 0 || (size == 0 && n > 0) {
        bail!(Argument, "piece size {size} must be positive")
    }
    let count = if n == 0 { 1 } else { (n - 1) / size + 1 };
    Ok(Pieces { tensor, layout, dim, size: Some(size), count })
}

/// At most `chunks` pieces of equal size along `dim`. The last one may be smaller. An empty dimension gives `chunks` empty pieces.
pub fn chunk(tensor: &Tensor, chunks: i64, dim: i32) -> Result<Pieces<'_>> {
    if chunks <= 0 {
        bail!(Argument, "the number of chunks {chunks} must be positive")
    }
    let (layout, d) = divided(tensor, dim)?;
    let n = layout.shape[d];
    if n == 0 {
        return Ok(Pieces { tensor, layout, dim: d, size: Some(0), count: chunks });
    }
    split(tensor, n / chunks + i64::from(n % chunks != 0), dim)
}

/// The entries along `dim`, which is removed.
pub fn unbind(tensor: &Tensor, dim: i32) -> Result<Pieces<'_>> {
    let (layout, dim) = divided(tensor, dim)?;
    let count = layout.shape[dim];
    Ok(Pieces { tensor, layout, dim, size: None, count })
}

/// Makes result `k` a view of tensor `k`, expanded to the shape to which all tensors broadcast.
pub fn expand_nd(results: &[&Tensor], tensors: &[&Tensor]) -> Result<()> {
    let mut shape = Dims::new();
    for (i, t) in tensors.iter().enumerate() {
        let layout = t.layout()?;
        shape = if i == 0 { layout.shape } else { broadcast_shape(&shape, &layout.shape)? };
    }
    tensors.iter().try_for_each(|t| t.defined().map(drop))?;
    // A result may be a later input. Therefore all views are made before the first handle changes.
    let sources = list(tensors.len(), |i| of(tensors[i], &tensors[i].layout()?.broadcast_to(&shape)?))?;
    set_all(results, &sources)
}

/// Makes result `k` a second handle on the elements of source `k`. If one fails, no handle changes.
pub(super) fn set_all(results: &[&Tensor], sources: &[Tensor]) -> Result<()> {
    let memories = list(results.len(), |k| {
        sources[k].defined().and(sources[k].layout())?;
        results[k].dims_memory(sources[k].ndim())
    })?;
    for ((r, memory), source) in results.iter().zip(memories).zip(sources) {
        // Layouts are read again, not stored: many large layouts might exceed the memory reserved for infallible allocations.
        if let (Some(storage), Some(dtype), Ok(layout)) = (source.storage(), source.dtype(), source.layout()) {
            r.point_at(memory, storage, dtype, &layout);
        }
    }
    Ok(())
}

/// Gives `r` this shape. Elements stay at their positions in the storage. A fresh handle gets the default dtype.
pub fn resize(r: &Tensor, shape: &[i64], strides: Option<&[i64]>) -> Result<()> {
    if let Some(d) = strides.and_then(|strides| strides.iter().position(|&s| s < 0)) {
        bail!(Argument, "the stride of dimension {d} is negative")
    }
    r.resize(default_dtype(), shape, strides)
}
