//! Sums of products in einsum notation: each dimension has a letter, and letters absent from the result are summed over.
//!
//! Operands are multiplied in pairs, in the order with the fewest multiplications. Each pair is a batched matrix product. Shared letters
//! that are kept form the batch, shared letters that are dropped are summed over, and the other letters form rows and columns.

use super::forms::matmul;
use crate::alloc;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::{Dims, MAX_DIMS, checked_numel};
use crate::operand::one_dtype;
use crate::ops::pointwise::arithmetic::cmul;
use crate::ops::reduce::{Over, To, sum};
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::tensor::Tensor;

/// The label of a dimension: a letter, or a dimension of the ellipsis, counted from the last one.
pub type Label = u16;
/// The first label of the ellipsis, after the labels of letters.
const ELLIPSIS: Label = 256;
/// The largest number of operands that are multiplied in the best order. If there are more, the first two are multiplied until this number
/// is left.
const ORDERED: usize = 10;

/// The dimensions of an operand or of the result in einsum notation.
struct Term<'a> {
    before: &'a [u8],
    /// The labels after the ellipsis; `None` if there is no ellipsis.
    behind: Option<&'a [u8]>,
}

impl<'a> Term<'a> {
    fn parse(text: &'a [u8]) -> Result<Term<'a>> {
        let at = text.windows(3).position(|w| w == b"...");
        let (before, behind) = match at {
            None => (text, None),
            Some(at) => (&text[..at], Some(&text[at + 3..])),
        };
        let letters = before.iter().chain(behind.unwrap_or_default());
        if let Some(&other) = letters.clone().find(|c| !c.is_ascii_alphabetic()) {
            bail!(Argument, "'{}' is no letter", char::from(other).escape_default())
        }
        Ok(Term { before, behind })
    }

    fn letters(&self) -> usize {
        self.before.len() + self.behind.map_or(0, <[u8]>::len)
    }

    /// A label for each dimension. The ellipsis is `more` dimensions.
    fn labels(&self, more: usize) -> Vec<Label> {
        let ellipsis = (0..if self.behind.is_some() { more as Label } else { 0 }).rev().map(|d| ELLIPSIS + d);
        let letter = |&c: &u8| Label::from(c);
        self.before.iter().map(letter).chain(ellipsis).chain(self.behind.unwrap_or_default().iter().map(letter)).collect()
    }
}

/// An operand with a distinct label for each dimension.
#[derive(Clone)]
struct Labelled {
    t: Tensor,
    labels: Vec<Label>,
}

impl Labelled {
    /// Labels the dimensions of `t`. Dimensions with equal labels become one: their diagonal.
    fn of(t: &Tensor, labels: Vec<Label>) -> Result<Labelled> {
        let mut layout = t.layout()?;
        let mut kept: Vec<Label> = Vec::new();
        for label in labels {
            let d = kept.len();
            let Some(first) = kept.iter().position(|&k| k == label) else {
                kept.push(label);
                continue;
            };
            let [have, next] = [layout.shape[first], layout.shape[d]];
            if have != next {
                bail!(Shape, "{} stands for sizes {have} and {next} of one operand", name(label))
            }
            layout.strides[first] += layout.strides[d];
            layout.shape.remove(d);
            layout.strides.remove(d);
        }
        Ok(Labelled { t: view::of(t, &layout)?, labels: kept })
    }

    fn size(&self, label: Label) -> Result<Option<i64>> {
        let shape = self.t.layout()?.shape;
        Ok(self.labels.iter().position(|&l| l == label).map(|d| shape[d]))
    }

    fn has(&self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    /// The sum over all labels for which `keep` returns false.
    fn summed(self, dtype: Dtype, keep: &dyn Fn(Label) -> bool) -> Result<Labelled> {
        let dims: Vec<i64> = (0..self.labels.len()).filter(|&d| !keep(self.labels[d])).map(|d| d as i64).collect();
        if dims.is_empty() {
            return Ok(self);
        }
        let r = Tensor::fresh()?;
        sum(To::Tensors([Some(&r), None], false), &self.t, Over::Dims(&dims), Some(dtype))?;
        Ok(Labelled { t: r, labels: self.labels.into_iter().filter(|&l| keep(l)).collect() })
    }

    /// Removes dimensions of size 1 that broadcast against a larger size in `other`.
    fn without_ones(self, other: &Labelled) -> Result<Labelled> {
        let mut layout = self.t.layout()?;
        let mut labels = self.labels;
        for d in (0..labels.len()).rev() {
            if layout.shape[d] == 1 && other.size(labels[d])?.is_some_and(|n| n != 1) {
                layout.shape.remove(d);
                layout.strides.remove(d);
                labels.remove(d);
            }
        }
        Ok(Labelled { t: view::of(&self.t, &layout)?, labels })
    }

    /// A view with one dimension for each of `labels`, in their order. A label that the tensor lacks gets size 1.
    fn ordered(&self, labels: &[Label]) -> Result<Tensor> {
        let mut layout = self.t.layout()?;
        let (shape, strides) = (layout.shape.clone(), layout.strides.clone());
        let place = |label: &Label| self.labels.iter().position(|l| l == label);
        layout.shape = labels.iter().map(|l| place(l).map_or(1, |d| shape[d])).collect();
        layout.strides = labels.iter().map(|l| place(l).map_or(0, |d| strides[d])).collect();
        view::of(&self.t, &layout)
    }
}

/// The text of a label in messages.
fn name(label: Label) -> String {
    match u8::try_from(label) {
        Ok(letter) => format!("'{}'", char::from(letter)),
        Err(_) => format!("dimension {} of the ellipsis", -1 - i32::from(label - ELLIPSIS)),
    }
}

/// The labels of each operand and of the result. `ndims` are the operands' numbers of dimensions.
pub fn labels_of(equation: &[u8], ndims: &[usize]) -> Result<(Vec<Vec<Label>>, Vec<Label>)> {
    let mut letters = equation.iter().copied().filter(|c| *c != b' ');
    let text = alloc::list(letters.clone().count(), |_| Ok(letters.next().unwrap_or_default()))?;
    let arrow = text.windows(2).position(|w| w == b"->");
    let (inputs, output) = arrow.map_or((&text[..], None), |at| (&text[..at], Some(&text[at + 2..])));
    let mut parts = inputs.split(|&c| c == b',');
    let terms = alloc::list(parts.clone().count(), |_| Term::parse(parts.next().unwrap_or_default()))?;
    if terms.len() != ndims.len() {
        bail!(Argument, "the equation has {} operands, given are {}", terms.len(), ndims.len())
    }
    let mut more = 0;
    for (k, (term, &ndim)) in terms.iter().zip(ndims).enumerate() {
        let fits = if term.behind.is_some() { ndim >= term.letters() } else { ndim == term.letters() };
        if !fits {
            bail!(Shape, "operand {k} has {ndim} dimensions, its term {} letters", term.letters())
        }
        if term.behind.is_some() {
            more = more.max(ndim - term.letters());
        }
    }
    let operands = alloc::list(ndims.len(), |k| Ok(terms[k].labels(ndims[k] - terms[k].letters())))?;
    Ok((operands, result_labels(&terms, output, more)?))
}

/// `r` = the sum of products that `equation` describes
pub fn einsum(r: &Tensor, equation: &[u8], operands: &[&Tensor]) -> Result<()> {
    if operands.is_empty() {
        bail!(Argument, "expected at least one operand")
    }
    let dtype = one_dtype(operands)?;
    Domain::Numeric.check(dtype)?;
    let ndims = alloc::list(operands.len(), |k| Ok(operands[k].ndim()))?;
    let (labels, result) = labels_of(equation, &ndims)?;
    let mut labels = labels.into_iter();
    let mut all = alloc::list(operands.len(), |k| Labelled::of(operands[k], labels.next().unwrap_or_default()))?;
    // The result is allocated first. A result that is too large fails before anything is computed.
    let made = Tensor::empty(dtype, &sizes(&all, &result)?)?;
    if !is_summed_at_once(&all, &result)? {
        for t in &mut all {
            t.t = copy::to_dtype(&t.t, dtype.compute())?;
        }
    }
    copy::copy(&made, &product_of(all, &result)?.ordered(&result)?)?;
    deliver([Some((r, dtype, &made))])
}

/// Returns true if a single product or sum makes the result. Then no intermediate number is rounded to 16 bits.
fn is_summed_at_once(all: &[Labelled], result: &[Label]) -> Result<bool> {
    let [a, b] = all else { return Ok(all.len() == 1) };
    for &label in a.labels.iter().chain(&b.labels).filter(|label| !result.contains(label)) {
        if a.size(label)? != b.size(label)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The product of all operands, with only the labels of the result.
fn product_of(all: Vec<Labelled>, result: &[Label]) -> Result<Labelled> {
    let dtype = all[0].t.defined()?;
    let mut rest = all.into_iter();
    let mut first = rest.next();
    while rest.len() >= ORDERED
        && let (Some(left), Some(right)) = (first.take(), rest.next())
    {
        let kept = |label| result.contains(&label) || rest.as_slice().iter().any(|t| t.has(label));
        first = Some(pair(left, right, dtype, &kept)?);
    }
    let product = contracted(first.into_iter().chain(rest).collect(), dtype, result)?;
    product.summed(dtype, &|label| result.contains(&label))
}

/// The labels of the result: those after the arrow. Without an arrow, the ellipsis and then the letters that occur once, in alphabetical
/// order.
fn result_labels(terms: &[Term<'_>], output: Option<&[u8]>, more: usize) -> Result<Vec<Label>> {
    let times =
        |letter: u8| terms.iter().flat_map(|t| t.before.iter().chain(t.behind.unwrap_or_default())).filter(|&&c| c == letter).count();
    let Some(output) = output else {
        let letters = (b'A'..=b'z').filter(|&c| c.is_ascii_alphabetic() && times(c) == 1).map(Label::from);
        return Ok((0..more as Label).rev().map(|d| ELLIPSIS + d).chain(letters).collect());
    };
    let term = Term::parse(output)?;
    for &letter in term.before.iter().chain(term.behind.unwrap_or_default()) {
        if times(letter) == 0 {
            bail!(Argument, "'{}' of the result is of no operand", char::from(letter))
        }
    }
    if term.letters() > MAX_DIMS {
        bail!(Shape, "{} dimensions, at most {MAX_DIMS}", term.letters())
    }
    let labels = term.labels(more);
    if let Some(k) = (1..labels.len()).find(|&k| labels[..k].contains(&labels[k])) {
        bail!(Argument, "{} stands twice in the result", name(labels[k]))
    }
    if labels.len() > MAX_DIMS {
        bail!(Shape, "{} dimensions, at most {MAX_DIMS}", labels.len())
    }
    Ok(labels)
}

/// The size of a label. Operands that have it must agree, except that size 1 broadcasts.
fn size_of(all: &[Labelled], label: Label) -> Result<i64> {
    let mut size = 1;
    for t in all {
        match t.size(label)? {
            None | Some(1) => {}
            Some(n) if size == 1 || n == size => size = n,
            Some(n) => bail!(Shape, "{} stands for sizes {size} and {n}", name(label)),
        }
    }
    Ok(size)
}

/// The sizes of the result. Fails if operands disagree about the size of any label.
fn sizes(all: &[Labelled], result: &[Label]) -> Result<Dims> {
    let mut seen = Dims::new();
    for &label in all.iter().flat_map(|t| &t.labels) {
        if !seen.contains(&label.into()) {
            seen.push(label.into());
            size_of(all, label)?;
        }
    }
    result.iter().map(|&label| size_of(all, label)).collect()
}

/// The product of all operands. It has the labels of `result` and may have further labels that only one operand has.
fn contracted(all: Vec<Labelled>, dtype: Dtype, result: &[Label]) -> Result<Labelled> {
    let order = best_order(&all, result)?;
    build((1usize << all.len()) - 1, &all, &order, dtype, result)
}

/// The product of the operands in `set`.
fn build(set: usize, all: &[Labelled], order: &[usize], dtype: Dtype, result: &[Label]) -> Result<Labelled> {
    if set.is_power_of_two() {
        return Ok(all[set.trailing_zeros() as usize].clone());
    }
    let part = order[set];
    let (a, b) = (build(part, all, order, dtype, result)?, build(set ^ part, all, order, dtype, result)?);
    pair(a, b, dtype, &|label| stays(label, set, all, result))
}

/// Returns true if the result or an operand outside `set` has the label.
fn stays(label: Label, set: usize, all: &[Labelled], result: &[Label]) -> bool {
    result.contains(&label) || all.iter().enumerate().any(|(k, t)| set >> k & 1 == 0 && t.has(label))
}

/// For each set of operands, the subset to multiply by the remaining operands so that the total number of multiplications is minimal.
fn best_order(all: &[Labelled], result: &[Label]) -> Result<Vec<usize>> {
    let mut labels: Vec<Label> = all.iter().flat_map(|t| t.labels.iter().copied()).collect();
    labels.sort_unstable();
    labels.dedup();
    let sizes = labels.iter().map(|&l| size_of(all, l)).collect::<Result<Vec<_>>>()?;
    let sets = 1usize << all.len();
    let (mut cost, mut order) = (alloc::list(sets, |_| Ok(0f64))?, alloc::list(sets, |_| Ok(0usize))?);
    // Returns true if the product of a set has the label.
    let has = |set: usize, label: Label| {
        let inside = all.iter().enumerate().any(|(k, t)| set >> k & 1 == 1 && t.has(label));
        inside && (set.is_power_of_two() || stays(label, set, all, result))
    };
    for set in (1..sets).filter(|set| !set.is_power_of_two()) {
        let mut best = (f64::INFINITY, 0);
        // Subsets without the lowest operand are skipped, so that each split is tried once.
        let lowest = set & set.wrapping_neg();
        let mut part = set;
        while part > 0 {
            part = (part - 1) & set;
            if part & lowest == 0 || part == 0 {
                continue;
            }
            let rest = set ^ part;
            let work: f64 = labels.iter().zip(&sizes).filter(|(l, _)| has(part, **l) || has(rest, **l)).map(|(_, &n)| n as f64).product();
            let total = cost[part] + cost[rest] + work;
            if total < best.0 || best.1 == 0 {
                best = (total, part);
            }
        }
        (cost[set], order[set]) = best;
    }
    Ok(order)
}

/// The product of two operands, summed over the labels for which `stays` returns false.
fn pair(a: Labelled, b: Labelled, dtype: Dtype, stays: &dyn Fn(Label) -> bool) -> Result<Labelled> {
    let a = a.without_ones(&b)?;
    let b = b.without_ones(&a)?;
    let a = a.summed(dtype, &|label| stays(label) || b.has(label))?;
    let b = b.summed(dtype, &|label| stays(label) || a.has(label))?;
    let of = |t: &Labelled, choose: &dyn Fn(Label) -> bool| -> Vec<Label> { t.labels.iter().copied().filter(|&l| choose(l)).collect() };
    let batch = of(&a, &|l| b.has(l) && stays(l));
    let inner = of(&a, &|l| b.has(l) && !stays(l));
    let (rows, columns) = (of(&a, &|l| !b.has(l)), of(&b, &|l| !a.has(l)));
    let labels = [&batch[..], &rows, &columns].concat();
    let made = Tensor::fresh()?;
    if inner.is_empty() {
        cmul.run([&made, &a.ordered(&labels)?, &b.ordered(&labels)?], &[])?;
        return Ok(Labelled { t: made, labels });
    }
    let sizes = |t: &Labelled, labels: &[Label]| -> Result<Dims> { labels.iter().map(|&l| Ok(t.size(l)?.unwrap_or(1))).collect() };
    let (of_batch, of_rows, of_columns) = (sizes(&a, &batch)?, sizes(&a, &rows)?, sizes(&b, &columns)?);
    let inner_size = checked_numel(&sizes(&a, &inner)?)?;
    let matrices = |t: &Labelled, first: &[Label], then: &[Label], shape: [i64; 2]| -> Result<Tensor> {
        let mut sizes = of_batch.clone();
        sizes.extend_from_slice(&shape);
        view::reshape(&t.ordered(&[&batch[..], first, then].concat())?, &sizes)
    };
    let (m, n) = (checked_numel(&of_rows)?, checked_numel(&of_columns)?);
    matmul(&made, &matrices(&a, &rows, &inner, [m, inner_size])?, &matrices(&b, &inner, &columns, [inner_size, n])?)?;
    let shape: Dims = of_batch.iter().chain(of_rows.iter()).chain(of_columns.iter()).copied().collect();
    Ok(Labelled { t: view::reshape(&made, &shape)?, labels })
}
