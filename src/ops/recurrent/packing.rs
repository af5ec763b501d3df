//! Sequences of different lengths as rows without padding.
//!
//! Row 0 is the first step of the longest sequence, row 1 the first step of the next longest, and so on; the second steps follow. The
//! sequences that have a step are therefore the first rows of a matrix of states that is sorted by length.

use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::checked_numel;
use crate::ops::dense::dense;
use crate::ops::device::{elements, written};
use crate::ops::index::{scatter, select};
use crate::ops::loss::made;
use crate::ops::{create, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The rows of one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The first row.
    pub row: i64,
    /// The number of rows: of sequences that have the step.
    pub count: i64,
}

/// The order of sequences of different lengths.
struct Order {
    /// For each packed row, its position among the time steps of all sequences, in the layout of the caller.
    rows: Tensor,
    /// For each sorted sequence, its place in the batch.
    sorted: Tensor,
    /// For each place in the batch, the sorted sequence.
    restored: Tensor,
}

/// The places of the steps of a batch of sequences.
pub(super) struct Packing {
    pub batch: i64,
    pub time: i64,
    batch_first: bool,
    /// The steps, from the first on. All have rows.
    pub steps: Vec<Step>,
    /// The number of rows of all steps.
    pub rows: i64,
    order: Option<Order>,
}

impl Packing {
    /// Sequences of the shape `[time, batch]`, or `[batch, time]` if `batch_first`.
    pub fn new([time, batch]: [i64; 2], batch_first: bool, lengths: Option<&Tensor>) -> Result<Packing> {
        let Some(lengths) = lengths else {
            let rows = checked_numel(&[time, batch])?;
            // Without sequences there may be any number of steps.
            let steps = alloc::list(if batch > 0 { time as usize } else { 0 }, |t| Ok(Step { row: t as i64 * batch, count: batch }))?;
            return Ok(Packing { batch, time, batch_first, steps, rows, order: None });
        };
        if !matches!(lengths.defined()?, Dtype::Int64 | Dtype::Int32) {
            bail!(Dtype, "lengths are int64 or int32, not {}", lengths.defined()?)
        }
        let shape = lengths.layout()?.shape;
        if shape.as_slice() != [batch] {
            bail!(Shape, "lengths of shape {:?} for {batch} sequences", shape.as_slice())
        }
        checked_numel(&[time, batch])?;
        let lengths = dense(lengths, Dtype::Int64)?;
        let lengths = elements::<i64>(&lengths)?;
        if let Some(b) = lengths.iter().position(|length| !(0..=time).contains(length)) {
            bail!(Argument, "length {} of sequence {b} is not between 0 and the {time} steps of the input", lengths[b])
        }
        let mut sorted = alloc::list(lengths.len(), |b| Ok(b as i64))?;
        // The places make the keys unique, so that the order is stable.
        sorted.sort_unstable_by_key(|&b| (std::cmp::Reverse(lengths[b as usize]), b));
        let longest = sorted.first().map_or(0, |&b| lengths[b as usize]);
        let (mut row, mut count) = (0, batch);
        let steps = alloc::list(longest as usize, |t| {
            while count > 0 && lengths[sorted[count as usize - 1] as usize] <= t as i64 {
                count -= 1;
            }
            row += count;
            Ok(Step { row: row - count, count })
        })?;
        let place = |t: i64, b: i64| if batch_first { b * time + t } else { t * batch + b };
        let rows = written(&[row], |to: &mut [i64]| {
            for (t, step) in steps.iter().enumerate() {
                let to = &mut to[step.row as usize..];
                (0..step.count as usize).for_each(|k| to[k] = place(t as i64, sorted[k]));
            }
            Ok(())
        })?;
        let restored = written(&[batch], |to: &mut [i64]| {
            sorted.iter().enumerate().for_each(|(k, &b)| to[b as usize] = k as i64);
            Ok(())
        })?;
        let sorted = written(&[batch], |to: &mut [i64]| {
            to.copy_from_slice(&sorted);
            Ok(())
        })?;
        Ok(Packing { batch, time, batch_first, steps, rows: row, order: Some(Order { rows, sorted, restored }) })
    }

    /// The shape of sequences with `n` elements in each step.
    fn shape(&self, n: i64) -> [i64; 3] {
        if self.batch_first { [self.batch, self.time, n] } else { [self.time, self.batch, n] }
    }

    /// The packed rows of sequences, row-major and in `dtype`.
    pub fn packed(&self, t: &Tensor, dtype: Dtype) -> Result<Tensor> {
        let n = t.layout()?.shape[2];
        if let Some(order) = &self.order {
            let t = dense(t, dtype)?;
            let rows = view::derive(&t, |l| l.view(&[self.time * self.batch, n]))?;
            return made(|r| select::index_select(r, &rows, 0, &order.rows));
        }
        let t = if self.batch_first { view::derive(t, |l| l.transpose(0, 1))? } else { t.clone() };
        let t = dense(&t, dtype)?;
        view::derive(&t, |l| l.view(&[self.rows, n]))
    }

    /// The sequences whose packed rows are `rows`, row-major. The elements of other steps are 0.
    pub fn padded(&self, rows: &Tensor) -> Result<Tensor> {
        let n = rows.layout()?.shape[1];
        if let Some(order) = &self.order {
            let all = create::full(rows.defined()?, &[self.time * self.batch, n], Scalar::Int(0))?;
            scatter::index_copy(&all, 0, &order.rows, rows)?;
            return view::derive(&all, |l| l.view(&self.shape(n)));
        }
        let steps = view::derive(rows, |l| l.view(&[self.time, self.batch, n]))?;
        if self.batch_first { view::derive(&steps, |l| l.transpose(0, 1)) } else { Ok(steps) }
    }

    /// The states `[layers, batch, hidden]` sorted by length, as a new row-major tensor in `dtype`. Without a tensor they are 0.
    pub fn sorted(&self, states: Option<&Tensor>, dtype: Dtype, shape: &[i64; 3]) -> Result<Tensor> {
        let Some(states) = states else { return create::full(dtype, shape, Scalar::Int(0)) };
        let sorted = Tensor::empty(dtype, shape)?;
        match &self.order {
            Some(order) => select::index_select(&sorted, states, 1, &order.sorted)?,
            None => crate::ops::copy::copy(&sorted, states)?,
        }
        Ok(sorted)
    }

    /// The sorted states in the order of the batch.
    pub fn restored(&self, states: &Tensor) -> Result<Tensor> {
        match &self.order {
            Some(order) => made(|r| select::index_select(r, states, 1, &order.restored)),
            None => Ok(states.clone()),
        }
    }

    /// The steps in the order in which a direction computes them.
    pub fn in_order(&self, reverse: bool) -> impl DoubleEndedIterator<Item = Step> + '_ {
        (0..self.steps.len()).map(move |k| self.steps[if reverse { self.steps.len() - 1 - k } else { k }])
    }
}
