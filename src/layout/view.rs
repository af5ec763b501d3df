//! View operations. Each turns the layout of a source into the layout of its view, without access to elements. On failure the layout is
//! unchanged.

use super::{Dims, Layout, checked_numel, wrap_dim};
use crate::error::{Result, bail};

impl Layout {
    /// The `length` entries of dimension `dim` from `start` on.
    #[inline(always)]
    pub fn narrow(&mut self, dim: i32, start: i64, length: i64) -> Result<()> {
        let d = self.dim_of(dim)?;
        let n = self.shape[d];
        let start = if start < 0 { start.saturating_add(n) } else { start };
        if start < 0 || length < 0 || start > n || length > n - start {
            bail!(Argument, "start {start} + length {length} exceeds size {n} of dimension {d}")
        }
        self.offset = self.offset_at(d, start)?;
        self.shape[d] = length;
        Ok(())
    }

    /// Entry `index` of dimension `dim`, which is removed.
    pub fn select(&mut self, dim: i32, index: i64) -> Result<()> {
        let d = self.dim_of(dim)?;
        let n = self.shape[d];
        let at = if index < 0 { index.saturating_add(n) } else { index };
        if at < 0 || at >= n {
            bail!(Argument, "index {index} out of range for size {n} of dimension {d}")
        }
        self.offset = self.offset_at(d, at)?;
        self.drop_dim(d);
        Ok(())
    }

    /// Entries `start`, `start + step`, ... before `end` of dimension `dim`. Bounds are clamped as in Python's slices.
    pub fn slice(&mut self, dim: i32, start: i64, end: i64, step: i64) -> Result<()> {
        let d = self.dim_of(dim)?;
        if step <= 0 {
            bail!(Argument, "step {step} must be positive")
        }
        let n = self.shape[d];
        let clamp = |x: i64| if x < 0 { x.saturating_add(n).max(0) } else { x.min(n) };
        let (start, end) = (clamp(start), clamp(end));
        self.offset = self.offset_at(d, start)?;
        self.shape[d] = if end > start { (end - start - 1) / step + 1 } else { 0 };
        self.strides[d] = self.strides[d].saturating_mul(step);
        Ok(())
    }

    /// Swaps dimensions `a` and `b`.
    pub fn transpose(&mut self, a: i32, b: i32) -> Result<()> {
        let (a, b) = (wrap_dim(a, self.ndim())?, wrap_dim(b, self.ndim())?);
        if self.ndim() > 0 {
            self.shape.swap(a, b);
            self.strides.swap(a, b);
        }
        Ok(())
    }

    /// Transposes a matrix. Tensors with fewer dimensions are unchanged.
    pub fn t(&mut self) -> Result<()> {
        match self.ndim() {
            0 | 1 => Ok(()),
            2 => self.transpose(0, 1),
            n => bail!(Shape, "expected a tensor with at most 2 dimensions, got {n}"),
        }
    }

    /// Dimension `d` of the view is dimension `dims[d]` of the source.
    pub fn permute(&mut self, dims: &[i64]) -> Result<()> {
        if dims.len() != self.ndim() {
            bail!(Shape, "{} dimensions given for a tensor with {}", dims.len(), self.ndim())
        }
        let (mut shape, mut strides, mut seen) = (Dims::new(), Dims::new(), vec![false; dims.len()]);
        for &dim in dims {
            let d = wrap_dim(i32::try_from(dim).unwrap_or(i32::MAX), self.ndim())?;
            if std::mem::replace(&mut seen[d], true) {
                bail!(Argument, "dimension {dim} stands twice in {dims:?}")
            }
            shape.push(self.shape[d]);
            strides.push(self.strides[d]);
        }
        (self.shape, self.strides) = (shape, strides);
        Ok(())
    }

    /// Moves dimension `from` to place `to`. The others keep their order. A scalar is unchanged.
    pub fn move_dim(&mut self, from: usize, to: usize) -> Result<()> {
        for dims in [&mut self.shape, &mut self.strides] {
            if let Some(&entry) = dims.get(from) {
                dims.remove(from);
                dims.insert(to, entry);
            }
        }
        Ok(())
    }

    /// All windows of `size` entries of dimension `dim`, at a distance of `step`. The window becomes a new last dimension.
    pub fn unfold(&mut self, dim: i32, size: i64, step: i64) -> Result<()> {
        let d = wrap_dim(dim, self.ndim())?;
        let (n, stride) = if self.ndim() == 0 { (1, 1) } else { (self.shape[d], self.strides[d]) };
        if size < 0 || size > n {
            bail!(Argument, "window {size} exceeds size {n} of dimension {d}")
        }
        if step <= 0 {
            bail!(Argument, "step {step} must be positive")
        }
        let windows = (n - size) / step + 1;
        let mut shape = self.shape.clone();
        shape.push(size);
        if self.ndim() > 0 {
            shape[d] = windows;
        }
        checked_numel(&shape)?;
        if self.ndim() > 0 {
            self.shape[d] = windows;
            self.strides[d] = stride.saturating_mul(step);
        }
        self.shape.push(size);
        self.strides.push(stride);
        Ok(())
    }

    /// Removes the dimensions with size 1.
    pub fn squeeze(&mut self) -> Result<()> {
        for d in (0..self.ndim()).rev().filter(|&d| self.shape[d] == 1).collect::<Vec<_>>() {
            self.drop_dim(d);
        }
        Ok(())
    }

    /// Removes dimension `dim` if its size is 1.
    pub fn squeeze_dim(&mut self, dim: i32) -> Result<()> {
        let d = wrap_dim(dim, self.ndim())?;
        if self.ndim() > 0 && self.shape[d] == 1 {
            self.drop_dim(d);
        }
        Ok(())
    }

    /// Inserts a dimension with size 1 before dimension `dim`; -1 appends it.
    pub fn unsqueeze(&mut self, dim: i32) -> Result<()> {
        let Ok(d) = wrap_dim(dim, self.ndim() + 1) else {
            bail!(Argument, "dimension {dim} out of range for the new dimension of a tensor with {} dimensions", self.ndim())
        };
        let stride = if d < self.ndim() { self.shape[d].saturating_mul(self.strides[d]) } else { 1 };
        self.shape.insert(d, 1);
        self.strides.insert(d, stride);
        Ok(())
    }

    /// Broadcasts dimensions with size 1 to `sizes`, at stride 0. -1 keeps a size. New dimensions come first.
    pub fn expand(&mut self, sizes: &[i64]) -> Result<()> {
        let Some(extra) = sizes.len().checked_sub(self.ndim()) else {
            bail!(Shape, "{} sizes given for a tensor with {} dimensions", sizes.len(), self.ndim())
        };
        let mut shape: Dims = sizes.into();
        for (d, n) in shape.iter_mut().enumerate() {
            match (d.checked_sub(extra).map(|k| self.shape[k]), *n) {
                (None, -1) => bail!(Argument, "the new dimension {d} cannot be set to -1"),
                (Some(have), -1) => *n = have,
                (Some(have), want) if have != 1 && have != want => {
                    bail!(Shape, "size {have} of dimension {} cannot become {want}; only size 1 expands", d - extra)
                }
                _ => {}
            }
        }
        checked_numel(&shape)?;
        *self = self.broadcast_to(&shape)?;
        Ok(())
    }

    /// The shape with dimensions `start` to `end`, both included, merged into one.
    pub fn flatten_shape(&self, start: i32, end: i32) -> Result<Dims> {
        let (s, e) = (wrap_dim(start, self.ndim())?, wrap_dim(end, self.ndim())?);
        if s > e {
            bail!(Argument, "start dimension {start} comes after end dimension {end}")
        }
        if self.ndim() == 0 {
            return Ok(Dims::filled(1, 1));
        }
        let mut shape: Dims = self.shape[..s].into();
        shape.push(self.shape[s..=e].iter().product());
        shape.extend_from_slice(&self.shape[e + 1..]);
        Ok(shape)
    }

    /// The same elements in the shape `sizes`, one of which may be -1. Fails if the strides do not allow a view.
    pub fn view(&mut self, sizes: &[i64]) -> Result<()> {
        let shape = infer_size(sizes, self.numel())?;
        match self.view_strides(&shape) {
            Some(strides) => {
                (self.shape, self.strides) = (shape, strides);
                Ok(())
            }
            None => bail!(
                Shape,
                "sizes {:?} need a copy of a tensor with sizes {:?} and strides {:?}: call newReshape, or newContiguous before",
                shape.as_slice(),
                self.shape.as_slice(),
                self.strides.as_slice()
            ),
        }
    }

    /// The strides of a view with the same elements in the same order in `shape`; `None` if no such view exists.
    ///
    /// Walks both shapes from the end. Source dimensions that are contiguous with each other can be split in any way.
    pub fn view_strides(&self, shape: &[i64]) -> Option<Dims> {
        if self.numel() == 0 {
            return Some(if shape == self.shape.as_slice() { self.strides.clone() } else { super::contiguous_strides(shape) });
        }
        let mut strides: Dims = Dims::filled(1, shape.len());
        let mut at = shape.len();
        let (mut run, mut base) = (1i64, self.strides.last().copied().unwrap_or(1));
        for d in (0..self.ndim()).rev() {
            run *= self.shape[d];
            let ends_here = d == 0 || (self.shape[d - 1] != 1 && self.strides[d - 1] != run.saturating_mul(base));
            if !ends_here {
                continue;
            }
            let mut taken = 1i64;
            while at > 0 && (taken < run || shape[at - 1] == 1) {
                at -= 1;
                strides[at] = taken.saturating_mul(base);
                taken *= shape[at];
            }
            if taken != run {
                return None;
            }
            if d > 0 {
                (run, base) = (1, self.strides[d - 1]);
            }
        }
        // The remaining dimensions must have size 1: leading ones, or all if the source is 0-d.
        if shape[..at].iter().any(|&n| n != 1) {
            return None;
        }
        Some(strides)
    }

    fn drop_dim(&mut self, d: usize) {
        self.shape.remove(d);
        self.strides.remove(d);
    }

    /// The position of entry `index` of dimension `d`.
    #[inline(always)]
    fn offset_at(&self, d: usize, index: i64) -> Result<i64> {
        match index.checked_mul(self.strides[d]).and_then(|steps| self.offset.checked_add(steps)) {
            Some(offset) => Ok(offset),
            None => bail!(Shape, "entry {index} of dimension {d} with stride {} lies beyond any storage", self.strides[d]),
        }
    }

    /// The dimension that `dim` means; an error for 0-d tensors, from which nothing can be selected.
    #[inline(always)]
    fn dim_of(&self, dim: i32) -> Result<usize> {
        if self.ndim() == 0 {
            bail!(Argument, "a 0-d tensor has no dimension {dim}")
        }
        wrap_dim(dim, self.ndim())
    }
}

/// `sizes` with an entry of -1 replaced so that the number of elements is `numel`.
pub fn infer_size(sizes: &[i64], numel: i64) -> Result<Dims> {
    let mut shape: Dims = sizes.into();
    let free = sizes.iter().position(|&n| n == -1);
    if let Some(d) = free {
        shape[d] = 1;
        if shape.contains(&-1) {
            bail!(Shape, "sizes {sizes:?} have -1 more than once: only one size can be inferred")
        }
        let rest = checked_numel(&shape)?;
        if rest == 0 {
            bail!(Shape, "cannot infer the size -1 of {sizes:?}: the other sizes hold no elements")
        }
        shape[d] = numel / rest;
    }
    if checked_numel(&shape)? != numel {
        bail!(Shape, "sizes {sizes:?} do not hold the {numel} elements of the tensor")
    }
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The view of `layout` that `change` makes.
    fn seen(layout: &Layout, change: impl FnOnce(&mut Layout) -> Result<()>) -> Result<Layout> {
        let mut view = layout.clone();
        change(&mut view).map(|()| view)
    }

    fn contiguous(shape: &[i64]) -> Layout {
        Layout::contiguous(shape)
    }

    #[test]
    fn narrow_select_slice() {
        let m = contiguous(&[4, 5]);
        let n = seen(&m, |l| l.narrow(1, 2, 3)).unwrap();
        assert_eq!((n.shape.as_slice(), n.strides.as_slice(), n.offset), (&[4, 3][..], &[5, 1][..], 2));
        assert_eq!(seen(&m, |l| l.narrow(0, -1, 1)).unwrap().offset, 15);
        assert_eq!(seen(&m, |l| l.narrow(1, 3, 5)).unwrap_err().message(), "start 3 + length 5 exceeds size 5 of dimension 1");
        assert_eq!(seen(&m, |l| l.narrow(0, i64::MAX, i64::MAX)).unwrap_err().kind(), crate::error::Kind::Argument);
        let s = seen(&m, |l| l.select(-1, -2)).unwrap();
        assert_eq!((s.shape.as_slice(), s.strides.as_slice(), s.offset), (&[4][..], &[5][..], 3));
        assert!(seen(&m, |l| l.select(0, 4)).is_err() && seen(&contiguous(&[]), |l| l.select(0, 0)).is_err());
        let s = seen(&m, |l| l.slice(1, 1, i64::MAX, 2)).unwrap();
        assert_eq!((s.shape.as_slice(), s.strides.as_slice(), s.offset), (&[4, 2][..], &[5, 2][..], 1));
        assert_eq!(seen(&m, |l| l.slice(0, 3, 1, 1)).unwrap().shape.as_slice(), [0, 5]);
        assert_eq!(seen(&m, |l| l.slice(0, i64::MIN, i64::MAX, i64::MAX)).unwrap().shape.as_slice(), [1, 5]);
    }

    #[test]
    fn views_cut_contiguous_runs_only() {
        let t = contiguous(&[4, 6]);
        assert_eq!(seen(&t, |l| l.view(&[2, -1, 3])).unwrap().strides.as_slice(), [12, 3, 1]);
        let tt = seen(&t, |l| l.transpose(0, 1)).unwrap();
        assert!(seen(&tt, |l| l.view(&[24])).unwrap_err().message().contains("newReshape"));
        assert_eq!(seen(&tt, |l| l.view(&[2, 3, 4])).unwrap().strides.as_slice(), [3, 1, 6]);
        assert_eq!(seen(&tt, |l| l.view(&[6, 1, 2, 2])).unwrap().strides.as_slice(), [1, 24, 12, 6]);
        assert_eq!(seen(&contiguous(&[]), |l| l.view(&[1, 1])).unwrap().strides.as_slice(), [1, 1]);
        assert_eq!(seen(&contiguous(&[1, 1]), |l| l.view(&[])).unwrap().ndim(), 0);
        assert!(
            seen(&t, |l| l.view(&[5, -1])).is_err()
                && seen(&t, |l| l.view(&[-1, -1])).is_err()
                && seen(&contiguous(&[0]), |l| l.view(&[-1, 0])).is_err()
        );
        let expanded = seen(&contiguous(&[3, 1]), |l| l.expand(&[3, 4])).unwrap();
        assert!(seen(&expanded, |l| l.view(&[12])).is_err());
        let message = seen(&t, |l| l.view(&[-1, 2, -1])).unwrap_err().message().to_owned();
        assert_eq!(message, "sizes [-1, 2, -1] have -1 more than once: only one size can be inferred");
        let message = seen(&t, |l| l.unsqueeze(3)).unwrap_err().message().to_owned();
        assert_eq!(message, "dimension 3 out of range for the new dimension of a tensor with 2 dimensions");
        assert_eq!(seen(&expanded, |l| l.view(&[3, 2, 2])).unwrap().strides.as_slice(), [1, 0, 0]);
    }

    #[test]
    fn expand_keeps_and_repeats() {
        let x = contiguous(&[3, 1]);
        assert_eq!(seen(&x, |l| l.expand(&[-1, 4])).unwrap().strides.as_slice(), [1, 0]);
        assert_eq!(seen(&x, |l| l.expand(&[2, 3, 4])).unwrap().strides.as_slice(), [0, 1, 0]);
        assert!(
            seen(&x, |l| l.expand(&[-1, 3, 4])).is_err()
                && seen(&x, |l| l.expand(&[2, 4])).is_err()
                && seen(&x, |l| l.expand(&[4])).is_err()
        );
        assert!(seen(&contiguous(&[1]), |l| l.expand(&[-2])).is_err());
    }

    #[test]
    fn unfold_squeeze_unsqueeze_permute() {
        let x = contiguous(&[7]);
        let u = seen(&x, |l| l.unfold(0, 2, 2)).unwrap();
        assert_eq!((u.shape.as_slice(), u.strides.as_slice()), (&[3, 2][..], &[2, 1][..]));
        assert!(seen(&x, |l| l.unfold(0, 8, 1)).is_err() && seen(&x, |l| l.unfold(0, 1, 0)).is_err());
        let s = contiguous(&[2, 1, 3, 1]);
        assert_eq!(seen(&s, |l| l.squeeze()).unwrap().shape.as_slice(), [2, 3]);
        assert_eq!(seen(&s, |l| l.squeeze_dim(-1)).unwrap().shape.as_slice(), [2, 1, 3]);
        assert_eq!(seen(&x, |l| l.unsqueeze(-1)).unwrap().shape.as_slice(), [7, 1]);
        assert_eq!(seen(&x, |l| l.unsqueeze(0)).unwrap().strides.as_slice(), [7, 1]);
        let p = seen(&contiguous(&[2, 3, 4]), |l| l.permute(&[2, 0, -2])).unwrap();
        assert_eq!((p.shape.as_slice(), p.strides.as_slice()), (&[4, 2, 3][..], &[1, 12, 4][..]));
        assert!(seen(&contiguous(&[2, 3]), |l| l.permute(&[0, 0])).is_err());
        let moved = seen(&contiguous(&[2, 3, 4]), |l| l.move_dim(2, 0)).unwrap();
        assert_eq!((moved.shape.as_slice(), moved.strides.as_slice()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    }
}
