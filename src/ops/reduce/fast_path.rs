//! Fast paths of reductions on the host. They make no operands, and write only to results that have their shape already.

use super::rule::{Over, Rule, TH_ALL_DIMS, To, folded_dims};
use crate::cpu::fold::{Accumulators, FoldKernel, FoldTile, logic, with_kernel};
use crate::cpu::reduce::{Reduction, split};
use crate::cpu::tuning::FOLDED_PIECE;
use crate::dtype::Dtype;
use crate::element::{read_element, write_element};
use crate::error::Result;
use crate::launch::Fold;
use crate::layout::INLINE_DIMS;
use crate::tensor::Tensor;
use std::cell::Cell;

/// Folds `t` and returns true if a fast path can do so. Otherwise returns false and changes nothing.
pub fn run(fold: Fold, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<bool> {
    let mut done = false;
    with_kernel(fold, rule.compute, &mut |kernel| {
        done = at_once(kernel, rule, to, t, over).or_else(|| in_place(kernel, rule, to, t, over)).is_some();
    })?;
    Ok(done)
}

/// Returns true if all elements are nonzero, for a tensor of few contiguous elements; `None` for other tensors.
pub fn all(t: &Tensor) -> Option<bool> {
    let dtype = t.dtype()?;
    let (rule, number) = (Rule::one(dtype, Dtype::Bool, Dtype::Bool), Cell::new(0.0));
    let mut done = None;
    logic(true, dtype, &mut |kernel| done = at_once(kernel, &rule, To::Number(&number), t, Over::Dims(&[])));
    done.map(|()| number.get() != 0.0)
}

/// Folds all of a few contiguous elements, into results that have their shape already.
fn at_once(fold: &dyn FoldKernel, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Option<()> {
    let all = match over {
        Over::Dim(dim) => dim == TH_ALL_DIMS || (t.ndim() == 1 && (dim == 0 || dim == -1)),
        Over::Dims(dims) => dims.is_empty(),
    };
    if !all {
        return None;
    }
    let (x, n) = t.flat_like(fold.reads(rule.compute), t).filter(|&(_, n)| n as usize <= FOLDED_PIECE)?;
    let mut out = [None; 2];
    if let To::Tensors(results, keepdim) = to {
        for k in 0..2 {
            let Some(r) = results[k] else { continue };
            let dtype = r.dtype().filter(|&have| rule.is_final(k, have))?;
            if !r.is_scalar() || (keepdim && t.ndim() > 0) {
                return None;
            }
            out[k] = Some((r.flat_like(dtype, r)?.0, dtype));
        }
        if results[0].zip(results[1]).is_some_and(|(a, b)| a.is(b)) {
            return None;
        }
    }
    let (mut memory, mut found) = ([0u64; 3], [0u64; 2]);
    let accs = Accumulators { data: memory.as_mut_ptr().cast(), capacity: 1 };
    let [first, second] = &mut found;
    let found = [(&raw mut *first).cast::<u8>(), (&raw mut *second).cast::<u8>()];
    let tile = FoldTile { x, rows: 1, cols: n as usize, step: 0, done: 0, index: 0, weight: 1 };
    // SAFETY: `flat_like` found `n` elements inside the storage and one in each result. Folds have at most three planes and two results.
    unsafe {
        fold.start(accs, 1);
        fold.rows(accs, &tile);
        fold.finish(accs, 1, n as usize, found);
        if let To::Number(number) = to {
            number.set(read_element(found[0], rule.written[0]).to_f64());
        }
        for k in 0..2 {
            if let Some((at, dtype)) = out[k] {
                write_element(at, dtype, read_element(found[k], rule.written[k]));
            }
        }
    }
    Some(())
}

/// Folds into contiguous results that have their shape already and do not overlap the input.
fn in_place(fold: &dyn FoldKernel, rule: &Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Option<()> {
    let To::Tensors(results, keepdim) = to else { return None };
    let (dtype, data, capacity) = t.memory()?;
    let of_input = t.peek();
    let ndim = of_input.0.len();
    let reach = t.reach().filter(|&n| n <= capacity && (1..=INLINE_DIMS).contains(&ndim))?;
    let folds = folded_dims(over, ndim).ok()?;
    let mut spans = [(data.addr(), reach * dtype.size()), (0, 0), (0, 0)];
    let (mut out, mut strides) = ([None; 2], [[0; INLINE_DIMS]; 2]);
    for k in 0..2 {
        let Some(r) = results[k] else { continue };
        let have = r.dtype().filter(|&have| rule.is_final(k, have))?;
        let (first, n) = r.flat_like(have, r)?;
        kept_strides(&mut strides[k], of_input.0, &folds, r, keepdim)?;
        spans[k + 1] = (first.addr(), n as usize * have.size());
        out[k] = Some((first, have));
    }
    let disjoint = |(a, n): (usize, usize), (b, m): (usize, usize)| a.wrapping_sub(b) >= m && b.wrapping_sub(a) >= n;
    if !(disjoint(spans[0], spans[1]) && disjoint(spans[0], spans[2]) && disjoint(spans[1], spans[2])) {
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
