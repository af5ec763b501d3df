//! Optimisation of recorded steps: two steps that one operation can compute are merged.

use crate::launch::fused::{Action, Step, Value};
use crate::launch::{Elementwise, Op};
use crate::ops::pointwise::arithmetic::{add_scaled, add_tensor, mul, sub_tensor};
use crate::scalar::Scalar;
use std::ptr;

/// Replaces a sum or difference of a value and a product with a number by one step, which rounds the product as well. The step of the
/// product stays, although it may have no reader left.
pub fn shorten(steps: &mut [Step]) {
    for k in 0..steps.len() {
        let Some((product, negative)) = scaled_operand(steps, k) else { continue };
        let (of, factor) = (steps[product].reads[0], factor(&steps[product], negative));
        let kept = if steps[k].reads[1] == Value::Step(product) { steps[k].reads[0] } else { steps[k].reads[1] };
        steps[k].reads[..].copy_from_slice(&[kept, of]);
        if let Action::Map { op, numbers, .. } = &mut steps[k].action {
            (*op, *numbers) = (add_scaled.as_elementwise(), [factor].into_iter().collect());
        }
    }
}

/// The step that multiplies an operand of step `k` by a number, and true if the product is subtracted. Both steps must have one dtype that
/// is not a 16-bit float, because the product of such floats is rounded before the sum.
fn scaled_operand(steps: &[Step], k: usize) -> Option<(usize, bool)> {
    let Action::Map { op: Elementwise::Binary(op), common, .. } = &steps[k].action else { return None };
    let (adds, subtracts) = (is(op, &add_tensor), is(op, &sub_tensor));
    let (common, dtype) = (*common, steps[k].dtype);
    if !(adds || subtracts) || common != common.compute() || dtype != common {
        return None;
    }
    let product = |value: Value| match value {
        Value::Step(of) => match &steps[of].action {
            Action::Map { op: Elementwise::Unary(op), common: own, .. } if is(op, &mul) && *own == common && steps[of].dtype == common => {
                Some(of)
            }
            _ => None,
        },
        _ => None,
    };
    let found = product(steps[k].reads[1]).or_else(|| product(steps[k].reads[0]).filter(|_| adds))?;
    Some((found, subtracts))
}

fn is<const N: usize>(op: &Op<N>, other: &'static Op<N>) -> bool {
    ptr::eq(op, other)
}

/// The factor of a product, negated if `negative`.
fn factor(product: &Step, negative: bool) -> Scalar {
    let Action::Map { common, numbers, .. } = &product.action else { return Scalar::Int(1) };
    match numbers[0] {
        factor if !negative => factor,
        Scalar::Int(x) if !common.is_float() => Scalar::Int(x.wrapping_neg()),
        factor => Scalar::Float(-factor.to_f64()),
    }
}
