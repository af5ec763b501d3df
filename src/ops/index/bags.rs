//! Sums, means and maxima of bags: groups of consecutive positions, each of which selects a row of a table.

use super::scatter::{TH_REDUCE_AMAX, index_fill, index_reduce};
use super::select::index_select;
use super::{CheckedIndex, Range};
use crate::alloc;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::{Dims, TH_CONTIGUOUS_FORMAT};
use crate::ops::result::deliver;
use crate::ops::{compressed, copy, create, device, pointwise, sequence, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The function of the rows of a bag.
pub type THBagMode = i32;
/// The sum.
pub const TH_BAG_SUM: THBagMode = 0;
/// The sum divided by the number of rows.
pub const TH_BAG_MEAN: THBagMode = 1;
/// The greatest elements; NaN if any element is NaN.
pub const TH_BAG_MAX: THBagMode = 2;

/// The rows of the bags as a matrix of compressed rows: a row for each bag, and an entry for each position that counts.
pub struct Bags {
    /// The index of the first entry of each bag, and last the number of entries: int64.
    pub starts: Tensor,
    /// The row of the table of each entry: int64.
    pub rows: Tensor,
    /// The place of each entry among all positions: int64. `None` if all positions count.
    pub kept: Option<Tensor>,
}

/// An int64 vector of these numbers.
fn vector(numbers: &[i64]) -> Result<Tensor> {
    device::written(&[numbers.len() as i64], |list: &mut [i64]| {
        list.copy_from_slice(numbers);
        Ok(())
    })
}

/// Returns the index of the first position of each bag, and last the number of positions.
fn starts(index: &Tensor, offsets: Option<&Tensor>) -> Result<Vec<i64>> {
    let shape = index.layout()?.shape;
    match (shape.as_slice(), offsets) {
        (&[bags, width], None) => alloc::list(bags as usize + 1, |bag| Ok(bag as i64 * width)),
        (&[n], Some(offsets)) => {
            let (dtype, shape) = (offsets.defined()?, offsets.layout()?.shape);
            if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
                bail!(Dtype, "offsets are int64 or int32, got {dtype}")
            }
            if shape.len() != 1 {
                bail!(Shape, "offsets have shape {:?}, expected a vector", shape.as_slice())
            }
            let offsets = copy::contiguous(&copy::to_dtype(offsets, Dtype::Int64)?, TH_CONTIGUOUS_FORMAT)?;
            let all = device::elements::<i64>(&offsets)?;
            match all.first() {
                None if n > 0 => bail!(Argument, "there are no offsets for {n} positions"),
                Some(&first) if first != 0 => bail!(Argument, "the first offset is 0, got {first}"),
                _ => {}
            }
            let ends = |at: usize| all.get(at + 1).copied().unwrap_or(n);
            if let Some(at) = (0..all.len()).find(|&at| all[at] > ends(at)) {
                bail!(Argument, "offset {} at position {at} exceeds {}, the end of its bag", all[at], ends(at))
            }
            alloc::list(all.len() + 1, |at| Ok(all.get(at).copied().unwrap_or(n)))
        }
        (shape, None) => bail!(Shape, "without offsets the index is a matrix, got shape {shape:?}"),
        (shape, Some(_)) => bail!(Shape, "with offsets the index is a vector, got shape {shape:?}"),
    }
}

impl Bags {
    /// Returns the bags of checked positions in a table of `size` rows. The row `padding` does not count; -1 means no such row.
    pub fn of(index: &Tensor, offsets: Option<&Tensor>, size: i64, padding: i64) -> Result<Bags> {
        if !(-1..size).contains(&padding) {
            bail!(Argument, "paddingIdx {padding} is none of {size} rows, nor -1")
        }
        let positions = CheckedIndex::of(index, size, Range::FromStart)?;
        let mut starts = starts(index, offsets)?;
        if padding < 0 {
            let rows = copy::to_dtype(&view::reshape(index, &[-1])?, Dtype::Int64)?;
            return Ok(Bags { starts: vector(&starts)?, rows, kept: None });
        }
        let list = positions.list()?;
        let count = list.iter().filter(|&&row| row != padding).count();
        let mut places = list.iter().zip(0..).filter(|&(&row, _)| row != padding).map(|(_, place)| place);
        let kept = alloc::list(count, |_| Ok(places.next().unwrap_or(0)))?;
        starts.iter_mut().for_each(|start| *start = kept.partition_point(|place| place < start) as i64);
        let rows = alloc::list(count, |k| Ok(list[kept[k] as usize]))?;
        Ok(Bags { starts: vector(&starts)?, rows: vector(&rows)?, kept: Some(vector(&kept)?) })
    }

    /// Returns the number of entries of each bag, at least 1, as a column of floats. Bags without entries are divided by 1.
    pub fn counts(&self, dtype: Dtype) -> Result<Tensor> {
        let starts = device::elements::<i64>(&self.starts)?;
        let counts = alloc::list(starts.len() - 1, |bag| Ok((starts[bag + 1] - starts[bag]).max(1)))?;
        copy::to_dtype(&view::reshape(&vector(&counts)?, &[counts.len() as i64, 1])?, dtype)
    }

    /// Returns the bag of each entry.
    fn bag_of_each(&self) -> Result<Vec<i64>> {
        let starts = device::elements::<i64>(&self.starts)?;
        let mut bag = 0;
        alloc::list(starts[starts.len() - 1] as usize, |k| {
            while starts[bag + 1] <= k as i64 {
                bag += 1;
            }
            Ok(bag as i64)
        })
    }

    /// Returns the bags without entries.
    fn empty(&self) -> Result<Vec<i64>> {
        let starts = device::elements::<i64>(&self.starts)?;
        let is_empty = |bag: &usize| starts[*bag] == starts[*bag + 1];
        let mut empty = (0..starts.len() - 1).filter(is_empty);
        alloc::list((0..starts.len() - 1).filter(is_empty).count(), |_| Ok(empty.next().unwrap_or(0) as i64))
    }
}

/// The greatest elements of the rows of each bag.
fn greatest(weight: &Tensor, bags: &Bags) -> Result<Tensor> {
    let (each, empty) = (bags.bag_of_each()?, bags.empty()?);
    let rows = Tensor::fresh()?;
    index_select(&rows, weight, 0, &bags.rows)?;
    let shape = [bags.starts.layout()?.numel() - 1, weight.layout()?.shape[1]];
    let r = create::full(weight.defined()?, &shape, Scalar::Float(f64::NEG_INFINITY))?;
    index_reduce(&r, 0, &vector(&each)?, &rows, TH_REDUCE_AMAX)?;
    index_fill(&r, 0, &vector(&empty)?, Scalar::Int(0))?;
    Ok(r)
}

/// The weights of the entries.
fn weights_of(t: &Tensor, index: &Tensor, mode: THBagMode, bags: &Bags) -> Result<Tensor> {
    let (have, want) = (t.layout()?.shape, index.layout()?.shape);
    if mode != TH_BAG_SUM {
        bail!(Argument, "perSampleWeights are only for TH_BAG_SUM, and the mode is {mode}")
    }
    if have != want {
        bail!(Shape, "perSampleWeights have shape {:?}, and the index has {:?}", have.as_slice(), want.as_slice())
    }
    let all = view::reshape(t, &[-1])?;
    let Some(kept) = &bags.kept else { return Ok(all) };
    let r = Tensor::fresh()?;
    index_select(&r, &all, 0, kept)?;
    Ok(r)
}

/// The options of [`embedding_bag`].
pub struct Options<'a> {
    /// `TH_BAG_*`.
    pub mode: THBagMode,
    /// The factors of the positions.
    pub weights: Option<&'a Tensor>,
    /// The row that does not count, or -1.
    pub padding: i64,
}

/// `r[b]` = the sum, the mean or the greatest elements of the rows of `weight` that bag `b` of `index` selects
pub fn embedding_bag(r: &Tensor, weight: &Tensor, index: &Tensor, offsets: Option<&Tensor>, options: Options<'_>) -> Result<()> {
    let dtype = Domain::Float.check(weight.defined()?)?;
    let table: Dims = weight.layout()?.shape;
    let [size, _] = table.as_slice() else { bail!(Shape, "a table of shape {:?}, expected rows and columns", table.as_slice()) };
    if !matches!(options.mode, TH_BAG_SUM | TH_BAG_MEAN | TH_BAG_MAX) {
        bail!(Argument, "{} is no THBagMode", options.mode)
    }
    let bags = Bags::of(index, offsets, *size, options.padding)?;
    let weights = options.weights.map(|weights| weights_of(weights, index, options.mode, &bags)).transpose()?;
    if let Some(have) = weights.as_ref().map(Tensor::defined).transpose()?.filter(|&have| have != dtype) {
        bail!(Dtype, "perSampleWeights are {have}, and the table is {dtype}")
    }
    if options.mode == TH_BAG_MAX {
        return deliver([Some((r, dtype, &greatest(weight, &bags)?))]);
    }
    let compute = dtype.compute();
    if compute == dtype && options.mode == TH_BAG_SUM {
        return compressed::product(r, &bags.starts, &bags.rows, weights.as_ref(), weight);
    }
    // 16-bit floats are summed and divided in float32. Only the rows that are used are converted.
    let (table, rows) = if compute == dtype {
        (weight.clone(), bags.rows.clone())
    } else {
        let used = Tensor::fresh()?;
        index_select(&used, weight, 0, &bags.rows)?;
        let places = Tensor::fresh()?;
        sequence::arange(&places, Scalar::Int(0), Scalar::Int(bags.rows.layout()?.numel()), Scalar::Int(1))?;
        (copy::to_dtype(&used, compute)?, places)
    };
    let weights = weights.map(|weights| copy::to_dtype(&weights, compute)).transpose()?;
    let sums = Tensor::fresh()?;
    compressed::product(&sums, &bags.starts, &rows, weights.as_ref(), &table)?;
    if options.mode == TH_BAG_MEAN {
        pointwise::arithmetic::cdiv.run([&sums, &sums, &bags.counts(compute)?], &[])?;
    }
    deliver([Some((r, dtype, &sums))])
}
