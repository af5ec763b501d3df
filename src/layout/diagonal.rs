//! Diagonals as views: positions along two dimensions at the same time.

use super::{Layout, wrap_dim};
use crate::error::{Result, bail};

impl Layout {
    /// Elements `[i, i + offset]` of dimensions `dim1` and `dim2`. Both dimensions are removed; the diagonal becomes the last dimension.
    pub fn diagonal(&mut self, offset: i64, dim1: i32, dim2: i32) -> Result<()> {
        let ndim = self.ndim();
        if ndim < 2 {
            bail!(Shape, "expected a tensor with at least 2 dimensions, got {ndim}")
        }
        let (a, b) = (wrap_dim(dim1, ndim)?, wrap_dim(dim2, ndim)?);
        if a == b {
            bail!(Argument, "dimensions {dim1} and {dim2} are the same one")
        }
        let (down, right) = (offset.saturating_neg().max(0), offset.max(0));
        let length = self.shape[a].saturating_sub(down).min(self.shape[b].saturating_sub(right)).max(0);
        let first = down.checked_mul(self.strides[a]).zip(right.checked_mul(self.strides[b]));
        let Some(offset) = first.and_then(|(x, y)| self.offset.checked_add(x)?.checked_add(y)).or((length == 0).then_some(self.offset))
        else {
            bail!(Shape, "offset {offset} lies beyond any storage")
        };
        // An empty diagonal keeps the offset of its matrix.
        self.offset = if length == 0 { self.offset } else { offset };
        let stride = self.strides[a].saturating_add(self.strides[b]);
        for d in [a.max(b), a.min(b)] {
            self.shape.remove(d);
            self.strides.remove(d);
        }
        self.shape.push(length);
        self.strides.push(stride);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagonal(shape: &[i64], offset: i64, dim1: i32, dim2: i32) -> Result<Layout> {
        let mut layout = Layout::contiguous(shape);
        layout.diagonal(offset, dim1, dim2).map(|()| layout)
    }

    #[test]
    fn diagonals_step_along_both_dimensions() {
        let d = diagonal(&[2, 3, 4], 0, 0, 2).unwrap();
        assert_eq!((d.shape.as_slice(), d.strides.as_slice(), d.offset), (&[3, 2][..], &[4, 13][..], 0));
        let d = diagonal(&[2, 3, 4], 1, -1, 0).unwrap();
        assert_eq!((d.shape.as_slice(), d.strides.as_slice(), d.offset), (&[3, 1][..], &[4, 13][..], 12));
        let d = diagonal(&[3, 5], -1, 0, 1).unwrap();
        assert_eq!((d.shape.as_slice(), d.offset), (&[2][..], 5));
    }

    #[test]
    fn offsets_beyond_the_matrix_are_empty() {
        for offset in [3, -2, i64::MAX, i64::MIN] {
            let d = diagonal(&[2, 3], offset, 0, 1).unwrap();
            assert_eq!((d.shape.as_slice(), d.offset), (&[0][..], 0), "{offset}");
        }
        assert!(diagonal(&[2, 3], 0, 1, -1).is_err() && diagonal(&[2, 3], 0, 0, 2).is_err() && diagonal(&[6], 0, 0, 1).is_err());
    }
}
