//! The host's drivers of layers.

use super::copy::{converted, copy_flat};
use super::loss::Picks;
use super::parallel::Shared;
use super::real::Real;
use super::vector::Vectored;
use super::{layer_norm, softmax};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::launch::layers::{Loss, LossOp, NormRows, Reduction, SoftmaxGradient};
use crate::operand::Operand;
use std::ptr::null_mut;

/// Computes the gradient of softmax.
pub fn softmax_gradient(work: SoftmaxGradient, r: &Operand, g: &Operand, y: &Operand) -> Result<()> {
    dispatch!(float, r.dtype, T => {
        // SAFETY: the operands are row-major and of this shape. The result is one of the others, or overlaps none.
        unsafe { softmax::gradient::<T>(work.of, r.first().cast(), pointer(g), pointer(y), work.lines) }
    });
    Ok(())
}

/// Normalises rows.
pub fn norm(rows: NormRows, r: &Operand, [x, weight, bias]: [&Operand; 3]) -> Result<()> {
    if x.dtype != weight.dtype {
        let wide = converted(x, weight.dtype)?;
        norm(rows, &wide, [&wide, weight, bias])?;
        // SAFETY: both operands are row-major and have the elements of the rows.
        unsafe { copy_flat(rows.rows * rows.n, (r.first(), r.dtype), (wide.first().cast_const(), wide.dtype)) };
        return Ok(());
    }
    dispatch!(float, x.dtype, T => {
        // SAFETY: the operands are row-major, with all rows or one. The result is the input, or overlaps no operand.
        unsafe { layer_norm::forward::<T>(rows, r.first().cast(), pointer(x), pointer(weight), pointer(bias)) }
    });
    Ok(())
}

/// Computes the gradients of normalised rows.
pub fn norm_gradient(rows: NormRows, out: [Option<&Operand>; 3], inputs: [&Operand; 3]) -> Result<()> {
    dispatch!(float, inputs[0].dtype, T => norm_gradients::<T>(rows, out, inputs))
}

/// Computes a loss or its gradient.
pub fn loss(loss: Loss, r: &Operand, inputs: &[&Operand]) -> Result<()> {
    dispatch!(float, r.dtype, T => losses::<T>(loss, r, inputs))
}

fn pointer<T>(operand: &Operand) -> *const T {
    operand.first().cast_const().cast()
}

/// Returns the elements of a row-major operand of this type.
fn elements<T: Element>(operand: &Operand) -> &[T] {
    // SAFETY: the operands of layers are row-major and of one type, targets int64.
    unsafe { operand.elements() }
}

fn norm_gradients<T: Real + Vectored>(rows: NormRows, out: [Option<&Operand>; 3], [g, x, weight]: [&Operand; 3]) -> Result<()> {
    let first = |out: Option<&Operand>| out.map_or(null_mut(), |out| out.first().cast::<T>());
    let [r, of_weight, of_bias] = out.map(first);
    let sums = match out {
        [_, None, None] => None,
        _ => Some(Operand::row(Dtype::Float64, (rows.parts() * rows.sums_of_part()) as i64)?),
    };
    let at = sums.as_ref().map_or(null_mut(), |sums| sums.first().cast::<f64>());
    // SAFETY: the operands are row-major, with all rows, one row, or the sums of all parts. The result is an input, or overlaps no operand.
    unsafe { layer_norm::gradient::<T>(rows, r, at, pointer(g), pointer(x), pointer(weight)) };
    for (k, (end, out)) in [of_weight, of_bias].into_iter().zip(&out[1..]).enumerate() {
        if let Some(out) = out {
            // SAFETY: `gradient` has just written the sums, and `end` has a row. Without rows to sum, the result may have more elements
            // than `n`; they become 0.
            unsafe {
                (0..out.layout().numel() as usize).for_each(|j| end.add(j).write(T::ZERO));
                layer_norm::added(rows, at, k, end);
            }
        }
    }
    Ok(())
}

fn losses<T: Real>(loss: Loss, r: &Operand, inputs: &[&Operand]) -> Result<()> {
    let (given, [target, weight @ ..]) = inputs.split_at(loss.op.given()) else { unreachable!("no targets for {loss:?}") };
    let (classes, inner, weight) = (loss.classes, loss.inner, weight.first().copied());
    let picks = Picks { target: elements(target), weight: weight.map(elements::<T>), classes, inner, ignored: loss.ignored };
    picks.check()?;
    let (n, out) = (picks.target.len(), r.first().cast::<T>());
    // SAFETY: the result has a place for each position, or for their sum, and does not overlap the inputs.
    let reduced = |score: &(dyn Fn(usize, usize) -> T + Sync)| unsafe {
        match loss.reduction {
            Reduction::None if n == 0 => {}
            Reduction::None => picks.each(std::slice::from_raw_parts_mut(out, n), score),
            reduction => {
                let [sum, weights] = picks.total(score);
                out.write(T::from_f64(if reduction == Reduction::Mean { sum / weights } else { sum }));
            }
        }
    };
    match loss.op {
        LossOp::NegativeLogLikelihood => {
            let scores = elements::<T>(given[0]);
            reduced(&|_, at| scores[at]);
        }
        LossOp::CrossEntropy => {
            let (dtype, scores, [most, logs]) = (given[0].dtype, Shared(given[0].first()), [given[1], given[2]].map(elements::<T>));
            // SAFETY: the scores are row-major, and `at` is the index of one of them.
            reduced(&|position, at| unsafe {
                let score = match dtype {
                    Dtype::Float16 => T::from_f64(scores.get().cast::<half::f16>().add(at).read().to_f64()),
                    Dtype::Bfloat16 => T::from_f64(scores.get().cast::<half::bf16>().add(at).read().to_f64()),
                    _ => scores.get().cast::<T>().add(at).read(),
                };
                score.sub(most[position]).sub(logs[position])
            });
        }
        LossOp::NegativeLogLikelihoodGradient => {
            let scales = scales(&picks, loss.reduction, elements(given[0]))?;
            // SAFETY: the result is row-major with the scores' shape, and there is a scale for each position.
            unsafe { picks.spread(out, elements(&scales)) }
        }
        LossOp::CrossEntropyGradient => {
            let scales = scales(&picks, loss.reduction, elements(given[1]))?;
            // SAFETY: the result and the probabilities are row-major with the scores' shape, and there is a scale for each position.
            unsafe { picks.distances(out, pointer(given[0]), elements(&scales)) }
        }
    }
    Ok(())
}

/// Returns the derivative of the output whose gradient is `g` with respect to each position's loss: one factor a position.
fn scales<T: Real>(picks: &Picks<'_, T>, reduction: Reduction, g: &[T]) -> Result<Operand> {
    let n = picks.target.len();
    let made = Operand::row(T::DTYPE, n as i64)?;
    if n == 0 {
        return Ok(made);
    }
    // SAFETY: `made` is new memory for `n` elements.
    let scales = unsafe { std::slice::from_raw_parts_mut(made.first().cast::<T>(), n) };
    match reduction {
        Reduction::None => picks.scales(scales, |position| g[position].to_f64()),
        Reduction::Mean => {
            let all = g[0].to_f64() / picks.weights();
            picks.scales(scales, |_| all);
        }
        Reduction::Sum => picks.scales(scales, |_| g[0].to_f64()),
    }
    Ok(made)
}
