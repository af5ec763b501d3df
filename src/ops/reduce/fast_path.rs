//! Fast paths of reductions on the host. They make no operands, and write only to results that have their shape already.

use super::rule::{Over, Rule, TH_ALL_DIMS, To, folded_dims};
use crate::cpu::fold::{Accumulators, FoldKernel, FoldTile, logic, with_kernel};
use crate::cpu::reduce::{Reduction, split};
use crate::cpu::tuning::{FOLDED_COLUMNS, FOLDED_PIECE, FOLDED_ROW};
use crate::dtype::Dtype;
use crate::element::{read_element, write_element};
use crate::error::Result;
use crate::launch::Fold;
use crate::layout::{INLINE_DIMS, wrap_dim};
use crate::ops::fast_path::are_apart;
use crate::tensor::Tensor;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// The most results of [`Rows`].
const MOST_ROWS: usize = 64;

/// Folds `t` and returns true if a fast path can do so. Otherwise returns false and changes nothing.
pub fn run(fold: Fold, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<bool> {
    let mut done = Ok(false);
    with_kernel(fold, rule.compute, &mut |kernel| {
        done = match Rows::of(kernel, rule, t, over) {
            Some(rows) => rows.run(kernel, rule, to, t),
            None => Ok(in_place(kernel, rule, to, t, over).is_some()),
        };
    })?;
    done
}

/// Returns true if all elements are nonzero, for a tensor of few contiguous elements; `None` for other tensors.
pub fn all(t: &Tensor) -> Option<bool> {
    let dtype = t.dtype()?;
    let (rule, number) = (Rule::one(dtype, Dtype::Bool, Dtype::Bool), Cell::new(0.0));
    let mut done = None;
    logic(true, dtype, &mut |kernel| {
        done = Rows::of(kernel, &rule, t, Over::Dims(&[])).and_then(|rows| rows.fold(kernel, &rule, To::Number(&number), t));
    });
    done.map(|()| number.get() != 0.0)
}

/// Few contiguous elements of the type that the fold reads, whose last dims are folded.
struct Rows {
    x: *mut u8,
    dtype: Dtype,
    /// The number of elements in a row.
    n: usize,
    /// The number of rows, each of which has one result.
    count: usize,
    /// The number of dims that are kept.
    kept: usize,
}

impl Rows {
    #[inline(always)]
    fn of(fold: &dyn FoldKernel, rule: &Rule, t: &Tensor, over: Over<'_>) -> Option<Rows> {
        let sizes = t.peek().0;
        let folded = match over {
            Over::Dim(TH_ALL_DIMS) | Over::Dims([]) => sizes.len(),
            Over::Dim(dim) => usize::from(wrap_dim(dim, sizes.len()).ok()? + 1 == sizes.len()),
            Over::Dims(_) => return None,
        };
        if folded == 0 && !t.is_scalar() {
            return None;
        }
        let dtype = fold.reads(rule.compute);
        let (x, numel) = t.flat_like(dtype, t)?;
        let (numel, kept) = (numel as usize, sizes.len() - folded);
        if kept == 0 {
            return (numel <= FOLDED_PIECE).then_some(Rows { x, dtype, n: numel, count: 1, kept });
        }
        let count = sizes[..kept].iter().product::<i64>() as usize;
        let n = numel / count;
        // Many short rows are folded side by side. These sums may round differently.
        let few = count <= MOST_ROWS && numel <= FOLDED_ROW && (n >= FOLDED_COLUMNS || count < FOLDED_COLUMNS);
        few.then_some(Rows { x, dtype, n, count, kept })
    }

    /// Folds the rows and returns true if the results have their shape already, or if the only one is fresh.
    #[inline(always)]
    fn run(&self, fold: &dyn FoldKernel, rule: &Rule, to: To<'_>, t: &Tensor) -> Result<bool> {
        if let To::Tensors([Some(r), None], keepdim) = to
            && r.is_unused(rule.result[0])
        {
            let sizes = t.peek().0;
            let mut shape = [1; INLINE_DIMS];
            let ndim = if keepdim { sizes.len() } else { self.kept };
            let Some(shape) = shape.get_mut(..ndim) else { return Ok(false) };
            shape[..self.kept].copy_from_slice(&sizes[..self.kept]);
            r.renew(rule.result[0], shape)?;
        }
        Ok(self.fold(fold, rule, to, t).is_some())
    }

    #[inline(always)]
    fn fold(&self, fold: &dyn FoldKernel, rule: &Rule, to: To<'_>, t: &Tensor) -> Option<()> {
        let &Rows { x, dtype, n, count, kept } = self;
        let mut out = [None; 2];
        match to {
            To::Tensors(results, keepdim) => {
                let (sizes, ndim) = (t.peek().0, if keepdim { t.ndim() } else { kept });
                for k in 0..2 {
                    let Some(r) = results[k] else { continue };
                    let dtype = r.dtype().filter(|&have| rule.is_final(k, have))?;
                    let own = r.peek().0;
                    if own.len() != ndim || (ndim > 0 && (own[..kept] != sizes[..kept] || own[kept..].iter().any(|&n| n != 1))) {
                        return None;
                    }
                    out[k] = Some((r.flat_like(dtype, r)?.0, dtype));
                }
            }
            To::Number(_) if count > 1 => return None,
            To::Number(_) => {}
        }
        if let [Some((a, of_a)), Some((b, of_b))] = out
            && !are_apart((a, count * of_a.size()), (b, count * of_b.size()))
        {
            return None;
        }
        // Folds have at most three planes and two results. All elements are read before the first result is written.
        let (mut memory, mut found) =
            ([const { MaybeUninit::<u64>::uninit() }; 3 * MOST_ROWS], [const { [MaybeUninit::<u64>::uninit(); MOST_ROWS] }; 2]);
        let accs = Accumulators { data: memory.as_mut_ptr().cast(), capacity: count };
        let [first, second] = &mut found;
        let found = [first.as_mut_ptr().cast::<u8>(), second.as_mut_ptr().cast::<u8>()];
        let tile = FoldTile { x, rows: count, cols: n, step: (n * dtype.size()) as isize, done: 0, index: 0, weight: 1 };
        // SAFETY: `flat_like` found all elements inside the storages. The accumulators and the results have room for `count` rows.
        unsafe {
            fold.start(accs, count);
            fold.rows(accs, &tile);
            fold.finish(accs, count, n, found);
            if let To::Number(number) = to {
                number.set(read_element(found[0], rule.written[0]).to_f64());
            }
            for k in 0..2 {
                let Some((to, dtype)) = out[k] else { continue };
                let written = rule.written[k];
                if dtype == written {
                    to.copy_from_nonoverlapping(found[k], count * dtype.size());
                    continue;
                }
                for j in 0..count {
                    write_element(to.add(j * dtype.size()), dtype, read_element(found[k].add(j * written.size()), written));
                }
            }
        }
        Some(())
    }
}

/// Folds into contiguous results that have their shape already and do not overlap the input.
fn in_place(fold: &dyn FoldKernel, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Option<()> {
    let To::Tensors(results, keepdim) = to else { return None };
    let (dtype, data, capacity) = t.memory()?;
    let of_input = t.peek();
    let ndim = of_input.0.len();
    let reach = t.reach().filter(|&n| n <= capacity && (1..=INLINE_DIMS).contains(&ndim))?;
    let folds = folded_dims(over, ndim).ok()?;
    let mut spans = [(data, reach * dtype.size()), (null_mut(), 0), (null_mut(), 0)];
    let (mut out, mut strides) = ([None; 2], [[0; INLINE_DIMS]; 2]);
    for k in 0..2 {
        let Some(r) = results[k] else { continue };
        let have = r.dtype().filter(|&have| rule.is_final(k, have))?;
        let (first, n) = r.flat_like(have, r)?;
        kept_strides(&mut strides[k], of_input.0, &folds, r, keepdim)?;
        spans[k + 1] = (first, n as usize * have.size());
        out[k] = Some((first, have));
    }
    if !(are_apart(spans[0], spans[1]) && are_apart(spans[0], spans[2]) && are_apart(spans[1], spans[2])) {
        return None;
    }
    let of = |k: usize| out[k].map(|(_, have): (*mut u8, Dtype)| (&strides[k][..ndim], have.size()));
    let mut loops = split(of_input, dtype.size(), &folds, fold.indexed(), [of(0), of(1)]);
    let into = |k: usize| out[k].map(|(first, have)| (first, have, rule.written[k]));
    let out = [into(0), into(1)];
    // SAFETY: all positions are inside their storages. The results are contiguous and do not overlap the input.
    unsafe { Reduction { fold, data, dtype, compute: fold.reads(rule.compute), loops: &mut loops, out }.run() }
    Some(())
}

/// Writes the strides of a contiguous result along the dims of the input, and leaves the 0 of folded dims; `None` if the result has another
/// shape.
#[inline(always)]
fn kept_strides(strides: &mut [i64; INLINE_DIMS], shape: &[i64], folds: &[bool], r: &Tensor, keepdim: bool) -> Option<()> {
    let (mut sizes, mut scale) = (r.peek().0.iter().rev(), 1);
    for d in (0..shape.len()).rev() {
        match folds[d] {
            false if *sizes.next()? == shape[d] => strides[d] = scale,
            true if !keepdim || *sizes.next()? == 1 => continue,
            _ => return None,
        }
        scale *= shape[d];
    }
    sizes.next().is_none().then_some(())
}
