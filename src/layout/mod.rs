//! Geometry as a plain value: shape, strides and offset, and questions about them.
#![forbid(unsafe_code)]

mod diagonal;
mod dims;
mod overlap;
mod view;

pub use dims::Dims;
pub(crate) use dims::INLINE_DIMS;
pub use view::infer_size;

use crate::error::{Result, bail};
pub(crate) use overlap::gcd;
use smallvec::SmallVec;

/// The maximum number of dimensions. A handle with a larger number is considered damaged.
pub(crate) const MAX_DIMS: usize = 1024;

/// The order of elements in memory, for functions that make tensors.
pub type THMemoryFormat = i32;

/// Row-major: the index of the last dimension changes fastest.
pub const TH_CONTIGUOUS_FORMAT: THMemoryFormat = 0;
/// The strides of the source if the source is dense and does not overlap itself, else row-major.
pub const TH_PRESERVE_FORMAT: THMemoryFormat = 1;
/// Four dimensions N, C, H, W stored in the order N, H, W, C.
pub const TH_CHANNELS_LAST: THMemoryFormat = 2;
/// Five dimensions N, C, D, H, W stored in the order N, D, H, W, C.
pub const TH_CHANNELS_LAST_3D: THMemoryFormat = 3;

/// Shape, strides and offset in elements. It is a copy, which later changes of a tensor do not affect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Size of each dimension, never negative.
    pub shape: Dims,
    /// The distance between neighbours in each dimension, never negative.
    pub strides: Dims,
    /// Position of the first element in the storage, never negative.
    pub offset: i64,
}

impl Layout {
    /// A row-major layout at offset 0.
    pub fn contiguous(shape: &[i64]) -> Layout {
        Layout { shape: shape.into(), strides: contiguous_strides(shape), offset: 0 }
    }

    /// Number of dimensions.
    #[inline(always)]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements. It does not overflow, because layouts are checked when they are made.
    #[inline]
    pub fn numel(&self) -> i64 {
        self.shape.iter().product()
    }

    /// Returns true if the elements are row-major without gaps. Strides of dimensions with size 1 do not matter.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        is_row_major(&self.shape, &self.strides)
    }

    /// Returns true if the layout has this memory format. TH_PRESERVE_FORMAT is true for every dense layout.
    pub fn has_format(&self, format: THMemoryFormat) -> Result<bool> {
        match (format, channels_last_order(format)) {
            (_, Some(order)) => Ok(order.len() == self.ndim() && self.follows(order)),
            (TH_CONTIGUOUS_FORMAT, None) => Ok(self.is_contiguous()),
            (TH_PRESERVE_FORMAT, None) => Ok(self.is_dense()),
            _ => bail!(Argument, "{format} is no memory format"),
        }
    }

    /// Returns true if the strides are dense with the dimensions of `order` from slowest to fastest. Strides of dimensions with size 1 do
    /// not matter. Strides of empty tensors do, as in PyTorch: an empty tensor does not have every format.
    fn follows(&self, order: &[usize]) -> bool {
        let strides = strides_in_order(&self.shape, order, 0);
        (0..self.ndim()).all(|d| self.shape[d] == 1 || self.strides[d] == strides[d])
    }

    /// One past the last element, counted from the start of the storage; 0 if there are no elements.
    #[inline]
    pub fn end(&self) -> Option<i64> {
        let mut last = self.offset;
        // A loop over indices, as in `Tensor::layout`, because compilers do not inline `zip`, and this function runs for every operand.
        let (shape, strides) = (self.shape.as_slice(), self.strides.as_slice());
        for d in 0..shape.len().min(strides.len()) {
            let (n, stride) = (shape[d], strides[d]);
            if n == 0 {
                return Some(0);
            }
            last = last.checked_add((n - 1).checked_mul(stride)?)?;
        }
        last.checked_add(1)
    }

    /// Returns true if every element between the first and the last one belongs to exactly one position.
    pub fn is_dense(&self) -> bool {
        !self.overlaps_itself() && self.end() == self.offset.checked_add(self.numel())
    }

    /// This layout broadcast to `shape`: new leading dimensions and dimensions with size 1 get stride 0.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Layout> {
        let Some(extra) = shape.len().checked_sub(self.ndim()) else {
            bail!(Shape, "cannot broadcast shape {:?} to {shape:?}", self.shape.as_slice())
        };
        let mut strides: Dims = Dims::filled(0, shape.len());
        for d in 0..self.ndim() {
            let n = self.shape[d];
            match shape[extra + d] {
                want if want == n => strides[extra + d] = self.strides[d],
                _ if n == 1 => {}
                _ => bail!(Shape, "cannot broadcast shape {:?} to {shape:?}", self.shape.as_slice()),
            }
        }
        Ok(Layout { shape: shape.into(), strides, offset: self.offset })
    }
}

/// The strides of a row-major tensor. Sizes of 0 count as 1, as in PyTorch.
pub fn contiguous_strides(shape: &[i64]) -> Dims {
    let mut strides: Dims = Dims::filled(1, shape.len());
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d].saturating_mul(shape[d].max(1));
    }
    strides
}

/// Returns true if a row-major tensor of this shape has these strides. Strides of dimensions with size 1 do not matter.
#[inline]
pub fn is_row_major(shape: &[i64], strides: &[i64]) -> bool {
    let (mut expected, mut row_major) = (1i64, true);
    for d in (0..shape.len().min(strides.len())).rev() {
        let n = shape[d];
        if n == 0 {
            return true;
        }
        row_major &= n == 1 || strides[d] == expected;
        expected = expected.wrapping_mul(n);
    }
    row_major
}

/// The dimensions from slowest to fastest in a channels-last format; `None` for row-major.
fn channels_last_order(format: THMemoryFormat) -> Option<&'static [usize]> {
    match format {
        TH_CHANNELS_LAST => Some(&[0, 2, 3, 1]),
        TH_CHANNELS_LAST_3D => Some(&[0, 2, 3, 4, 1]),
        _ => None,
    }
}

/// The strides of a new tensor of `shape` in `format`. `like` is the layout that [`TH_PRESERVE_FORMAT`] preserves.
pub fn format_strides(shape: &[i64], format: THMemoryFormat, like: Option<&Layout>) -> Result<Dims> {
    match (format, channels_last_order(format), like) {
        (TH_CONTIGUOUS_FORMAT, ..) | (TH_PRESERVE_FORMAT, _, None) => Ok(contiguous_strides(shape)),
        (TH_PRESERVE_FORMAT, _, Some(like)) => Ok(if like.is_dense() { like.strides.clone() } else { ordered_strides(like) }),
        (_, Some(order), _) if order.len() == shape.len() => Ok(strides_in_order(shape, order, 0)),
        (_, Some(order), _) => bail!(Shape, "channels-last needs {} dimensions, got shape {shape:?}", order.len()),
        _ => bail!(Argument, "{format} is no memory format"),
    }
}

/// Dense strides that keep the order of a layout's dimensions from slowest to fastest.
fn ordered_strides(like: &Layout) -> Dims {
    let mut order: SmallVec<[usize; INLINE_DIMS]> = (0..like.ndim()).collect();
    // The order of dimensions with stride 0 and more than one element is undefined, so the result is row-major.
    if (0..like.ndim()).any(|d| like.strides[d] == 0 && like.shape[d] > 1) {
        return contiguous_strides(&like.shape);
    }
    order.sort_by_key(|&d| std::cmp::Reverse(like.strides[d]));
    strides_in_order(&like.shape, &order, 1)
}

/// Dense strides with the dimensions of `order` from slowest to fastest. Sizes of 0 count as `empty`.
fn strides_in_order(shape: &[i64], order: &[usize], empty: i64) -> Dims {
    let mut strides: Dims = Dims::filled(1, shape.len());
    let mut next = 1i64;
    for &d in order.iter().rev() {
        strides[d] = next;
        next = next.saturating_mul(if shape[d] == 0 { empty } else { shape[d] });
    }
    strides
}

/// The number of elements of `shape`. Fails if a size is negative or the number overflows.
#[inline]
pub fn checked_numel(shape: &[i64]) -> Result<i64> {
    if shape.len() > MAX_DIMS {
        bail!(Shape, "{} dimensions, at most {MAX_DIMS} are possible", shape.len())
    }
    let mut numel = 1i64;
    let mut zero = false;
    for (d, &n) in shape.iter().enumerate() {
        if n < 0 {
            bail!(Shape, "size {n} of dimension {d} is negative")
        }
        zero |= n == 0;
        let Some(product) = numel.checked_mul(n.max(1)) else { bail!(Shape, "the number of elements of shape {shape:?} overflows") };
        numel = product;
    }
    Ok(if zero { 0 } else { numel })
}

/// The shape that two shapes broadcast to.
pub fn broadcast_shape(a: &[i64], b: &[i64]) -> Result<Dims> {
    let ndim = a.len().max(b.len());
    let mut shape = Dims::new();
    for d in 0..ndim {
        let size = |s: &[i64]| (d + s.len()).checked_sub(ndim).map_or(1, |k| s[k]);
        match (size(a), size(b)) {
            (n, m) if n == m || m == 1 => shape.push(n),
            (1, m) => shape.push(m),
            (n, m) => bail!(Shape, "sizes {n} and {m} of dimension {d} do not broadcast, for shapes {a:?} and {b:?}"),
        }
    }
    Ok(shape)
}

/// The dimension that `dim` means. Negative values count from the end. For 0-d tensors 0 and -1 are valid.
#[inline(always)]
pub fn wrap_dim(dim: i32, ndim: usize) -> Result<usize> {
    let n = ndim.max(1) as i64;
    let at = i64::from(dim) + if dim < 0 { n } else { 0 };
    if at < 0 || at >= n {
        bail!(Argument, "dimension {dim} out of range for a tensor with {ndim} dimensions")
    }
    Ok(at as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[i64], strides: &[i64], offset: i64) -> Layout {
        Layout { shape: shape.into(), strides: strides.into(), offset }
    }

    #[test]
    fn contiguity_ignores_size_one_and_empty() {
        assert!(layout(&[2, 3], &[3, 1], 7).is_contiguous());
        assert!(layout(&[2, 1, 3], &[3, 99, 1], 0).is_contiguous());
        assert!(layout(&[0, 3], &[5, 5], 0).is_contiguous());
        assert!(!layout(&[2, 3], &[1, 2], 0).is_contiguous());
        assert!(layout(&[], &[], 0).is_contiguous());
    }

    #[test]
    fn channels_last_is_a_stride_order() {
        let strides = format_strides(&[2, 3, 4, 5], TH_CHANNELS_LAST, None).unwrap();
        assert_eq!(strides.as_slice(), [60, 1, 15, 3]);
        let l = layout(&[2, 3, 4, 5], &strides, 0);
        assert!(l.has_format(TH_CHANNELS_LAST).unwrap() && !l.is_contiguous());
        assert!(format_strides(&[2, 3], TH_CHANNELS_LAST, None).is_err());
        assert_eq!(format_strides(&l.shape, TH_PRESERVE_FORMAT, Some(&l)).unwrap(), strides);
        // The strides of PyTorch's empty(size, memory_format=channels_last), and its results of is_contiguous.
        for (shape, expected) in
            [([0, 3, 4, 5], [60, 1, 15, 3]), ([2, 0, 4, 5], [0, 1, 0, 0]), ([2, 3, 4, 0], [0, 1, 0, 3]), ([1, 0, 1, 1], [0, 1, 0, 0])]
        {
            let strides = format_strides(&shape, TH_CHANNELS_LAST, None).unwrap();
            assert_eq!(strides.as_slice(), expected);
            let empty = layout(&shape, &strides, 0);
            assert!(empty.has_format(TH_CHANNELS_LAST).unwrap() && empty.is_contiguous());
            assert_eq!(Layout::contiguous(&shape).has_format(TH_CHANNELS_LAST).unwrap(), shape == [1, 0, 1, 1]);
        }
        let stepped = layout(&[3, 2], &[2, 12], 0);
        assert_eq!(format_strides(&[3, 2], TH_PRESERVE_FORMAT, Some(&stepped)).unwrap().as_slice(), [1, 3]);
    }

    #[test]
    fn density_is_one_element_for_each_position() {
        assert!(layout(&[3, 4], &[1, 3], 2).is_dense() && !layout(&[3, 4], &[1, 4], 0).is_dense());
        assert!(layout(&[1, 4], &[0, 1], 0).is_dense());
    }

    #[test]
    fn ends_are_checked_against_overflow() {
        assert_eq!(layout(&[2, 3], &[3, 1], 5).end(), Some(11));
        assert_eq!(layout(&[0, 3], &[3, 1], 5).end(), Some(0));
        assert_eq!(layout(&[i64::MAX, 3], &[i64::MAX, 1], 0).end(), None);
        assert!(checked_numel(&[i64::MAX, 2]).is_err());
        assert!(checked_numel(&[2, -1]).is_err());
        assert_eq!(checked_numel(&[4, 0, 5]).unwrap(), 0);
    }

    #[test]
    fn broadcasting_follows_numpy() {
        assert_eq!(broadcast_shape(&[3, 1], &[4]).unwrap().as_slice(), [3, 4]);
        assert_eq!(broadcast_shape(&[], &[2, 0]).unwrap().as_slice(), [2, 0]);
        assert_eq!(broadcast_shape(&[1], &[0]).unwrap().as_slice(), [0]);
        assert!(broadcast_shape(&[3], &[4]).is_err());
        let b = layout(&[3, 1], &[1, 1], 2).broadcast_to(&[2, 3, 4]).unwrap();
        assert_eq!((b.strides.as_slice(), b.offset), (&[0, 1, 0][..], 2));
        assert!(layout(&[3, 2], &[2, 1], 0).broadcast_to(&[3, 4]).is_err());
    }
}
