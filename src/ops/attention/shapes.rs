//! The shapes of attention, and views of its operands with one common batch.

use crate::error::{Result, bail};
use crate::layout::{Dims, Layout, broadcast_shape};
use crate::ops::view;
use crate::tensor::Tensor;

/// The operand that a view is made of.
#[derive(Clone, Copy, PartialEq)]
pub enum Heads {
    /// With the heads of `query`.
    Query,
    /// With the heads of `key` and `value`.
    Key,
}

/// The sizes of the operands. Batches include the heads.
#[derive(Clone)]
pub struct Shapes {
    /// The batch of the result.
    pub batch: Dims,
    /// The batch of `key` and `value`, broadcast to each other.
    pub keys: Dims,
    /// The heads of `key`, and the heads of `query` for each of them, if they differ.
    groups: Option<[i64; 2]>,
    pub l: i64,
    pub s: i64,
    pub e: i64,
    pub ev: i64,
}

/// Returns the sizes before the last two, and the last two.
fn split<'a>(name: &str, shape: &'a Dims) -> Result<(&'a [i64], [i64; 2])> {
    match shape.as_slice() {
        [batch @ .., rows, cols] => Ok((batch, [*rows, *cols])),
        _ => bail!(Shape, "{name} of shape {:?} has no rows and columns", shape.as_slice()),
    }
}

impl Shapes {
    /// Returns the shapes for operands `[query, key, value]`. Fails if they do not fit each other.
    pub fn of([query, key, value]: [&Tensor; 3], mask: Option<&Tensor>, grouped: bool) -> Result<Shapes> {
        let [q, k, v] = [query.layout()?.shape, key.layout()?.shape, value.layout()?.shape];
        let ((of_q, [l, e]), (of_k, [s, ek]), (of_v, [sv, ev])) = (split("query", &q)?, split("key", &k)?, split("value", &v)?);
        if e != ek || s != sv {
            bail!(
                Shape,
                "query of shape {:?}, key of shape {:?} and value of shape {:?}: rows of query and key need one size, and key and value as \
                 many rows",
                q.as_slice(),
                k.as_slice(),
                v.as_slice()
            )
        }
        let keys = broadcast_shape(of_k, of_v)?;
        let (mut full, mut groups) = (keys.clone(), None);
        if let (true, Some(&heads), Some(&few)) = (grouped, of_q.last(), keys.last())
            && heads != few
            && few > 1
        {
            if heads % few != 0 {
                bail!(Shape, "{heads} heads of query for {few} heads of key and value: expected a multiple")
            }
            groups = Some([few, heads / few]);
            full.last_mut().into_iter().for_each(|last| *last = heads);
        }
        let batch = broadcast_shape(of_q, &full)?;
        let shapes = Shapes { batch, keys, groups, l, s, e, ev };
        if let Some(mask) = mask {
            let (mask, scores) = (mask.layout()?.shape, shapes.with_batch(&[l, s]));
            if broadcast_shape(&mask, &scores).ok().as_ref() != Some(&scores) {
                bail!(Shape, "mask of shape {:?} does not broadcast to {:?}", mask.as_slice(), scores.as_slice())
            }
        }
        Ok(shapes)
    }

    /// Returns a shape with the batch of the result in front.
    pub fn with_batch(&self, sizes: &[i64]) -> Dims {
        self.batch.iter().chain(sizes).copied().collect()
    }

    /// Returns a shape with the batch of `key` and `value` in front.
    pub fn with_keys(&self, sizes: &[i64]) -> Dims {
        self.keys.iter().chain(sizes).copied().collect()
    }

    /// Returns the batch of views: the batch of the result, with heads divided in groups.
    pub fn divided(&self) -> Dims {
        match (self.groups, self.batch.as_slice()) {
            (Some(groups), [front @ .., _]) => front.iter().chain(&groups).copied().collect(),
            (_, batch) => batch.into(),
        }
    }

    /// Returns a view of `t` whose batch has heads divided in groups. `last` dimensions follow the batch.
    pub fn grouped(&self, t: &Tensor, last: usize, heads: Heads) -> Result<Tensor> {
        view::derive(t, |layout| self.group(layout, last, heads))
    }

    fn group(&self, layout: &mut Layout, last: usize, heads: Heads) -> Result<()> {
        let (Some([_, each]), true) = (self.groups, layout.ndim() > last) else { return Ok(()) };
        let d = layout.ndim() - last - 1;
        layout.unsqueeze(d as i32 + 1)?;
        if heads == Heads::Query && layout.shape[d] != 1 {
            layout.shape[d] /= each;
            layout.shape[d + 1] = each;
            layout.strides[d + 1] = layout.strides[d];
            layout.strides[d] *= each;
        }
        Ok(())
    }

    /// Returns a view of `t` with the whole batch, where dimensions are broadcast. `sizes` follow the batch.
    pub fn expanded(&self, t: &Tensor, sizes: &[i64], heads: Heads) -> Result<Tensor> {
        let mut shape = self.divided();
        shape.extend_from_slice(sizes);
        let t = self.grouped(t, sizes.len(), heads)?;
        view::of(&t, &t.layout()?.broadcast_to(&shape)?)
    }
}
