//! Elements in another order or repeated: flipped, rolled, rotated, repeated, padded; windows folded back.

use super::index::select::index_select;
use super::pointwise;
use super::reduce::TH_ALL_DIMS;
use super::result::{Inputs, Writes, deliver, ready};
use super::{copy, device, view};
use crate::alloc;
use crate::dtype::Dtype;
use crate::element::rounded;
use crate::error::{Result, bail};
use crate::launch::Convert;
use crate::layout::{Dims, INLINE_DIMS, Layout, MAX_DIMS, checked_numel, wrap_dim};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The source of the elements in the padding of a tensor.
pub type THPadMode = i32;
/// A given number.
pub const TH_PAD_CONSTANT: THPadMode = 0;
/// The elements mirrored at the edge; the edge element is not repeated.
pub const TH_PAD_REFLECT: THPadMode = 1;
/// The element on the edge.
pub const TH_PAD_REPLICATE: THPadMode = 2;
/// The elements from the opposite edge.
pub const TH_PAD_CIRCULAR: THPadMode = 3;

/// `r` = the elements of `t` in the layout that `change` makes. Strides may be negative.
fn copy_with_layout(r: &Tensor, t: &Tensor, change: &dyn Fn(&mut Layout) -> Result<()>) -> Result<()> {
    let from = Operand::of(t)?;
    let mut layout = from.layout().clone();
    change(&mut layout)?;
    if copy::reorder(r, &from, &layout) {
        return Ok(());
    }
    let writes = Writes::STRIDED.of(from.dtype);
    ready(r, (from.dtype, &layout.shape), writes, Inputs::anywhere(std::slice::from_ref(&from)))?.launch(&Convert, &[&from.view(layout)])
}

fn reverse(layout: &mut Layout, d: usize) {
    if let Some(&n) = layout.shape.get(d).filter(|&&n| n > 0) {
        layout.offset += (n - 1) * layout.strides[d];
        layout.strides[d] = -layout.strides[d];
    }
}

/// `r` = `t` with the order of these dimensions reversed
pub fn flip(r: &Tensor, t: &Tensor, dims: &[i64]) -> Result<()> {
    copy_with_layout(r, t, &|layout| {
        let mut seen = Dims::filled(0, layout.ndim());
        for &dim in dims {
            let Ok(dim) = i32::try_from(dim) else { bail!(Argument, "dimension {dim} out of range") };
            let d = wrap_dim(dim, layout.ndim())?;
            if seen.get_mut(d).is_some_and(|seen| std::mem::replace(seen, 1) != 0) {
                bail!(Argument, "dimension {d} is named twice")
            }
            reverse(layout, d);
        }
        Ok(())
    })
}

/// `r` = `t` rotated by `k` right angles from dimension `a` towards `b`
pub fn rot90(r: &Tensor, t: &Tensor, k: i64, a: i32, b: i32) -> Result<()> {
    let ndim = t.layout()?.ndim();
    if ndim < 2 {
        bail!(Shape, "expected at least two dimensions, got {ndim}")
    }
    let (first, second) = (wrap_dim(a, ndim)?, wrap_dim(b, ndim)?);
    if first == second {
        bail!(Argument, "dimension {first} is named twice")
    }
    copy_with_layout(r, t, &|layout| {
        match k.rem_euclid(4) {
            0 => return Ok(()),
            1 => reverse(layout, second),
            2 => {
                reverse(layout, first);
                reverse(layout, second);
                return Ok(());
            }
            _ => reverse(layout, first),
        }
        layout.shape.swap(first, second);
        layout.strides.swap(first, second);
        Ok(())
    })
}

/// `r` = `t` shifted by `shifts` entries along `dims`; entries that leave at one end enter at the other. Without `dims`, all elements are
/// shifted as one row.
pub fn roll(r: &Tensor, t: &Tensor, shifts: &[i64], dims: Option<&[i64]>) -> Result<()> {
    let layout = t.layout()?;
    let Some(dims) = dims else {
        let [shift] = shifts else { bail!(Argument, "{} shifts without dimensions: expected 1", shifts.len()) };
        let row = rolled(&view::reshape(t, &[-1])?, *shift, 0)?;
        return deliver([Some((r, t.defined()?, &view::reshape(&row, &layout.shape)?))]);
    };
    let mut made = if dims.is_empty() { copy::contiguous_copy(t)? } else { t.clone() };
    for (k, &dim) in dims.iter().enumerate() {
        let Ok(dim) = i32::try_from(dim) else { bail!(Argument, "dimension {dim} out of range") };
        let d = wrap_dim(dim, layout.ndim())?;
        made = if layout.ndim() > 0 { rolled(&made, shifts[k], d as i32)? } else { copy::contiguous_copy(t)? };
    }
    deliver([Some((r, t.defined()?, &made))])
}

/// A new tensor: `t` rolled along one dimension.
fn rolled(t: &Tensor, shift: i64, dim: i32) -> Result<Tensor> {
    let shape = t.layout()?.shape;
    let (made, n) = (Tensor::empty(t.defined()?, &shape)?, shape[dim as usize]);
    if n > 0 {
        let shift = shift.rem_euclid(n);
        let part = |t: &Tensor, start: i64, size: i64| view::derive(t, |l| l.narrow(dim, start, size));
        copy::copy(&part(&made, shift, n - shift)?, &part(t, 0, n - shift)?)?;
        copy::copy(&part(&made, 0, shift)?, &part(t, n - shift, shift)?)?;
    }
    Ok(made)
}

/// `r` = `t` repeated `sizes[d]` times along each dimension, where new dimensions come first
pub fn repeat(r: &Tensor, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let have = t.layout()?.shape;
    if sizes.len() < have.len() {
        bail!(Shape, "{} counts for {} dimensions", sizes.len(), have.len())
    }
    if 2 * sizes.len() > MAX_DIMS {
        bail!(Shape, "{} dimensions, at most {} can be repeated", sizes.len(), MAX_DIMS / 2)
    }
    if let Some(d) = sizes.iter().position(|&size| size < 0) {
        bail!(Argument, "count {} of dimension {d} is negative", sizes[d])
    }
    let new = sizes.len() - have.len();
    let mut shape = Dims::filled(1, sizes.len());
    for d in 0..sizes.len() {
        let Some(size) = sizes[d].checked_mul(if d < new { 1 } else { have[d - new] }) else { bail!(Shape, "dimension {d} overflows") };
        shape[d] = size;
    }
    checked_numel(&shape)?;
    let mut source = Operand::of(t)?;
    let ready = ready(r, (source.dtype, &shape), Writes::STRIDED, Inputs::anywhere(std::slice::from_ref(&source)))?;
    // Each dimension of the result is two dims: the repetition, and the entry.
    let (to, from) = (ready.layout(), source.layout());
    let mut twice = Layout { shape: Dims::new(), strides: Dims::new(), offset: to.offset };
    let mut often = Layout { shape: Dims::new(), strides: Dims::new(), offset: from.offset };
    for d in 0..sizes.len() {
        let (size, step) = if d < new { (1, 0) } else { (from.shape[d - new], from.strides[d - new]) };
        let stride = to.strides[d];
        for (n, stride, step) in [(sizes[d], stride * size, 0), (size, stride, step)] {
            twice.shape.push(n);
            twice.strides.push(stride);
            often.shape.push(n);
            often.strides.push(step);
        }
    }
    source.set_layout(often);
    ready.write(|to| {
        if !shape.contains(&0) {
            copy::copy_to_part(to, &twice, &source)?;
        }
        Ok(())
    })
}

/// [`repeat`] in which missing leading counts are 1.
pub fn tile(r: &Tensor, t: &Tensor, counts: &[i64]) -> Result<()> {
    let missing = t.layout()?.ndim().saturating_sub(counts.len());
    let mut sizes = Dims::filled(1, missing);
    counts.iter().for_each(|&count| sizes.push(count));
    repeat(r, t, &sizes)
}

/// `t` and `dim`, or, for `TH_ALL_DIMS`, all elements of `t` in a row and dimension 0.
fn along_or_row(t: &Tensor, dim: i32) -> Result<(Tensor, i32)> {
    if dim == TH_ALL_DIMS { Ok((view::reshape(t, &[-1])?, 0)) } else { Ok((t.clone(), dim)) }
}

/// `r` = each entry along `dim` repeated as often as `repeats` says, which has one number, or one for each entry
pub fn repeat_interleave(r: &Tensor, t: &Tensor, repeats: &Tensor, dim: i32) -> Result<()> {
    let (t, dim) = along_or_row(t, dim)?;
    let shape = t.layout()?.shape;
    let d = wrap_dim(dim, shape.len())?;
    let n = shape.get(d).copied().unwrap_or(1);
    if !matches!(repeats.defined()?, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "counts are int64 or int32, got {}", repeats.defined()?)
    }
    let counts = copy::contiguous_copy(&copy::to_dtype(repeats, Dtype::Int64)?)?;
    let have = counts.layout()?;
    if have.ndim() > 1 || (have.numel() != 1 && have.numel() != n) {
        bail!(Shape, "counts of shape {:?} for {n} entries", have.shape.as_slice())
    }
    let counts = device::elements::<i64>(&counts)?;
    if let [count] = counts[..] {
        return repeat_evenly(r, &t, d, count);
    }
    let mut total = 0i64;
    for (i, &count) in counts.iter().enumerate() {
        if count < 0 {
            bail!(Argument, "count {count} at position {i} is negative")
        }
        let Some(sum) = total.checked_add(count) else { bail!(Shape, "the counts overflow") };
        total = sum;
    }
    let index = device::written::<i64>(&[total], |index| {
        let mut free = index;
        for (i, &count) in counts.iter().enumerate() {
            let (these, rest) = free.split_at_mut(count as usize);
            these.fill(i as i64);
            free = rest;
        }
        Ok(())
    })?;
    index_select(r, &t, dim, &index)
}

/// Makes `r` empty, in the shape of `t` with `size` entries along dimension `d`.
fn nothing(r: &Tensor, t: &Tensor, d: usize, size: Option<i64>) -> Result<()> {
    let (mut shape, Some(size)) = (t.layout()?.shape, size) else { bail!(Shape, "dimension {d} overflows") };
    shape[d] = size;
    ready(r, (t.defined()?, &shape), Writes::STRIDED, Inputs::NONE)?.write(|_| Ok(()))
}

/// [`repeat_interleave`] with one number.
pub fn repeat_interleave_value(r: &Tensor, t: &Tensor, count: i64, dim: i32) -> Result<()> {
    let (t, dim) = along_or_row(t, dim)?;
    repeat_evenly(r, &t, wrap_dim(dim, t.ndim())?, count)
}

/// `r` = each entry of dimension `d` of `t` repeated `count` times
fn repeat_evenly(r: &Tensor, t: &Tensor, d: usize, count: i64) -> Result<()> {
    if count < 0 {
        bail!(Argument, "count {count} is negative")
    }
    let t = if t.ndim() == 0 { view::reshape(t, &[1])? } else { t.clone() };
    let mut shape = t.layout()?.shape;
    let size = shape[d].checked_mul(count);
    if shape.contains(&0) || count == 0 {
        return nothing(r, &t, d, size);
    }
    let Some(size) = size else { bail!(Shape, "dimension {d} overflows") };
    // Each entry gets a new dimension, expanded to `count`.
    let unsqueezed = view::derive(&t, |l| l.unsqueeze(d as i32 + 1))?;
    let mut often = unsqueezed.layout()?.shape;
    often[d + 1] = count;
    let made = copy::contiguous_copy(&view::derive(&unsqueezed, |l| l.expand(&often))?)?;
    shape[d] = size;
    deliver([Some((r, t.defined()?, &view::reshape(&made, &shape)?))])
}

/// `r` = `t` padded at both ends of its last dimensions. `pads` has the number of entries before and behind, the last dimension first.
pub fn pad(r: &Tensor, t: &Tensor, pads: &[i64], mode: THPadMode, value: Scalar) -> Result<()> {
    let (dtype, have) = (t.defined()?, t.layout()?.shape);
    if !pads.len().is_multiple_of(2) || pads.len() / 2 > have.len() {
        bail!(Argument, "{} pads for {} dimensions: expected two for each of the last ones", pads.len(), have.len())
    }
    if !(TH_PAD_CONSTANT..=TH_PAD_CIRCULAR).contains(&mode) {
        bail!(Argument, "{mode} is no THPadMode")
    }
    let mut shape = have.clone();
    for (k, pair) in pads.chunks(2).enumerate() {
        let d = have.len() - 1 - k;
        let size = have[d].checked_add(pair[0]).and_then(|size| size.checked_add(pair[1]));
        match size {
            Some(size) if size >= 0 => shape[d] = size,
            _ => bail!(Shape, "pads {} and {} of dimension {d} of size {} leave no size", pair[0], pair[1], have[d]),
        }
    }
    if mode == TH_PAD_CONSTANT {
        return pad_constant(r, t, pads, &shape, value);
    }
    if checked_numel(&shape)? == 0 && have.contains(&0) {
        return ready(r, (dtype, &shape), Writes::STRIDED, Inputs::NONE)?.write(|_| Ok(()));
    }
    let mut runs: SmallVec<[Runs; INLINE_DIMS]> = SmallVec::new();
    for (k, pair) in pads.chunks(2).enumerate() {
        let d = have.len() - 1 - k;
        runs.push(runs_of(have[d], pair[0], shape[d], mode, d)?);
    }
    let mut source = Operand::of(t)?;
    let whole = source.layout().clone();
    ready(r, (dtype, &shape), Writes::STRIDED, Inputs::anywhere(std::slice::from_ref(&source)))?.write(|to| {
        // The result consists of a part for each choice of a run in each dimension. No part is empty.
        for choice in 0..runs.iter().map(|runs| runs.len()).product() {
            let (mut part, mut from, mut rest) = (to.layout().clone(), whole.clone(), choice);
            for (k, runs) in runs.iter().enumerate() {
                let (d, run) = (shape.len() - 1 - k, runs[rest % runs.len()]);
                rest /= runs.len();
                (part.shape[d], from.shape[d]) = (run.len, run.len);
                part.offset += run.to * part.strides[d];
                from.offset += run.from * from.strides[d];
                from.strides[d] *= run.step;
            }
            source.set_layout(from);
            copy::copy_to_part(to, &part, &source)?;
        }
        Ok(())
    })
}

/// `r` = `value` in this shape, with `t` inside. Negative pads cut entries of `t` off.
fn pad_constant(r: &Tensor, t: &Tensor, pads: &[i64], shape: &[i64], value: Scalar) -> Result<()> {
    let mut inside = Operand::of(t)?;
    copy::check_range(inside.dtype, value)?;
    let value = rounded(inside.dtype, value);
    let ready = ready(r, (inside.dtype, shape), Writes::STRIDED, Inputs::anywhere(std::slice::from_ref(&inside)))?;
    let (mut part, mut from) = (ready.layout().clone(), inside.layout().clone());
    for (k, pair) in pads.chunks(2).enumerate() {
        let (d, before, behind) = (shape.len() - 1 - k, pair[0], pair[1]);
        let size = (from.shape[d] + before.min(0) + behind.min(0)).max(0);
        (part.shape[d], from.shape[d]) = (size, size);
        if size > 0 {
            from.offset += -before.min(0) * from.strides[d];
            part.offset += before.max(0) * part.strides[d];
        }
    }
    if !part.shape.contains(&0) {
        inside.set_layout(from);
    }
    ready.write(|to| {
        copy::fill_part(to, to.layout(), value)?;
        if !part.shape.contains(&0) {
            copy::copy_to_part(to, &part, &inside)?;
        }
        Ok(())
    })
}

/// Neighbouring entries of a padded dimension: the first, their number, and the entry of the source for the first and its step.
#[derive(Clone, Copy)]
struct Run {
    to: i64,
    len: i64,
    from: i64,
    step: i64,
}

/// The runs of a padded dimension.
type Runs = SmallVec<[Run; 3]>;

/// The entries of a padded dimension before, inside and behind the `n` entries of the source, without empty runs.
fn runs_of(n: i64, before: i64, size: i64, mode: THPadMode, d: usize) -> Result<Runs> {
    let behind = size - n - before;
    let most = match mode {
        TH_PAD_REFLECT => n - 1,
        TH_PAD_REPLICATE => {
            if n > 0 {
                i64::MAX
            } else {
                0
            }
        }
        _ => n,
    };
    if before.max(behind) > most.max(0) {
        bail!(Shape, "pads {before} and {behind} are more than {} entries of dimension {d} allow", n)
    }
    let first = before.clamp(0, size);
    let end = before.saturating_add(n).clamp(first, size);
    // The entry of the source, counted beyond its end, for the first entry behind it.
    let past = end - before - n;
    let (low, high, step) = match mode {
        TH_PAD_REFLECT => (before, n - 2 - past, -1),
        TH_PAD_REPLICATE => (0, n - 1, 0),
        _ => (n - before, past, 1),
    };
    let all = [
        Run { to: 0, len: first, from: low, step },
        Run { to: first, len: end - first, from: first - before, step: 1 },
        Run { to: end, len: size - end, from: high, step },
    ];
    Ok(all.into_iter().filter(|run| run.len > 0).collect())
}

/// `r` = the windows in the last dimension of `t` added at places `step` apart along `dim`: the adjoint of `unfold`
pub fn fold(r: &Tensor, t: &Tensor, dim: i32, step: i64) -> Result<()> {
    let have = t.layout()?.shape;
    if have.len() < 2 {
        bail!(Shape, "expected windows in the last of at least two dimensions, got {}", have.len())
    }
    if step < 1 {
        bail!(Argument, "step {step} must be positive")
    }
    let (d, size) = (wrap_dim(dim, have.len() - 1)?, have[have.len() - 1]);
    let mut shape: Dims = have[..have.len() - 1].into();
    let Some(n) = (shape[d] - 1).max(0).checked_mul(step).and_then(|n| n.checked_add(size)) else {
        bail!(Shape, "dimension {d} overflows")
    };
    let windows = std::mem::replace(&mut shape[d], n);
    let dtype = t.defined()?;
    let made = Tensor::empty(dtype.compute(), &shape)?;
    copy::fill(&made, Scalar::Int(0))?;
    for k in 0..if t.layout()?.numel() > 0 { size } else { 0 } {
        let place = view::derive(&made, |l| l.slice(d as i32, k, k + (windows - 1) * step + 1, step))?;
        let window = view::derive(t, |l| l.select(-1, k))?;
        pointwise::arithmetic::cadd(&place, &place, Scalar::Int(1), &window)?;
    }
    deliver([Some((r, dtype, &made))])
}

/// `r` = the `n`-th differences of adjacent entries along `dim`
pub fn diff(r: &Tensor, t: &Tensor, n: i64, dim: i32) -> Result<()> {
    let shape = t.layout()?.shape;
    let d = wrap_dim(dim, shape.len())? as i32;
    if shape.is_empty() {
        bail!(Shape, "a scalar has no neighbours")
    }
    if n < 0 {
        bail!(Argument, "order {n} is negative")
    }
    let dtype = t.defined()?;
    if shape.contains(&0) {
        return nothing(r, t, d as usize, Some((shape[d as usize] - n).max(0)));
    }
    let differences = |r: &Tensor, t: &Tensor| {
        let size = t.layout()?.shape[d as usize] - 1;
        let (later, earlier) = (view::derive(t, |l| l.narrow(d, 1, size))?, view::derive(t, |l| l.narrow(d, 0, size))?);
        match dtype {
            Dtype::Bool => pointwise::compare::neTensor.run([r, &later, &earlier], &[]),
            _ => pointwise::arithmetic::csub(r, &later, Scalar::Int(1), &earlier),
        }
    };
    let (mut made, times) = (t.clone(), n.min(shape[d as usize]));
    for _ in 1..times {
        let next = Tensor::fresh()?;
        differences(&next, &made)?;
        made = next;
    }
    if times > 0 { differences(r, &made) } else { deliver([Some((r, dtype, &copy::contiguous_copy(t)?))]) }
}

/// Checks that every position is inside the shape. Returns the number of tensors that [`unravel_index`] makes.
pub fn check_positions(index: &Tensor, shape: &[i64]) -> Result<i64> {
    super::index::flat_positions(index, checked_numel(shape)?).map(|_| shape.len() as i64)
}

/// The index in each dimension of `shape` for positions counted in row-major order.
pub fn unravel_index(index: &Tensor, shape: &[i64]) -> Result<Vec<Tensor>> {
    let numel = checked_numel(shape)?;
    let positions = super::index::flat_positions(index, numel)?;
    let of_index = index.layout()?.shape;
    let mut block = numel;
    alloc::list(shape.len(), |d| {
        block /= shape[d].max(1);
        device::written(&of_index, |made| {
            for (made, &position) in made.iter_mut().zip(positions.iter()) {
                // `position` is inside the shape, so no size is 0.
                let position = if position < 0 { position + numel } else { position };
                *made = position / block % shape[d];
            }
            Ok(())
        })
    })
}
