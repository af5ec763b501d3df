//! Sizes and numbers of a graph, assertions and control flow.

use crate::api::word::{FromWord, ToWord};
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::expr::names;
use crate::program::aten::views::{detached, wrapped};
use crate::program::call::Call;
use crate::program::frame::Item;
use crate::program::sizes::floor_divide;
use crate::program::table::aten;

aten! {
    "sym_size.int" "self dim" => { size };
    "sym_stride.int" "self dim" => { stride };
    "sym_numel" "self" => { elements };
    "sym_storage_offset" "self" => { offset };
    "item" "self" => { number };
    "_local_scalar_dense" "self" => { number };
    "_assert_scalar" "self assert_msg" => { assert_number };
    "_assert_async.msg" "self assert_msg" => { assert_tensor };
    "_assert_async" "self" => { assert_tensor };
    "_assert_tensor_metadata" "a size=None stride=None dtype=None" => nothing;
    "sym_constrain_range" "size min=None max=None" => nothing;
    "sym_constrain_range_for_size" "size min=None max=None" => nothing;

    "_operator.add" "a b" => { add };
    "_operator.sub" "a b" => { subtract };
    "_operator.mul" "a b" => { multiply };
    "_operator.floordiv" "a b" => { divide_down };
    "_operator.truediv" "a b" => { divide };
    "_operator.mod" "a b" => { modulo };
    "_operator.pow" "a b" => { power };
    "_operator.neg" "a" => { negate };
    "_operator.pos" "a" => same;
    "_operator.eq" "a b" => { equal };
    "_operator.ne" "a b" => { not_equal };
    "_operator.lt" "a b" => { less };
    "_operator.le" "a b" => { less_or_equal };
    "_operator.gt" "a b" => { greater };
    "_operator.ge" "a b" => { greater_or_equal };
    "_operator.and_" "a b" => { both };
    "_operator.or_" "a b" => { either };
    "_operator.not_" "a" => { not };
    "_operator.getitem" "a b" => { entry };
    "torch.sym_not" "a" => { not };
    "torch.sym_max" "a b" => { greatest };
    "torch.sym_min" "a b" => { least };
    "torch.sym_float" "a" => { float };
    "torch.sym_int" "a" => { truncated };
    "torch.sym_ite" "b t f" => { choice };
    "torch.sym_sum" "args" => { sum };
    "torch._sym_sqrt" "a" => { root };
    "math.ceil" "x" => { rounded_up };
    "math.floor" "x" => { rounded_down };
    "math.trunc" "x" => { truncated };
    "math.sqrt" "x" => { root };
    "builtins.round" "number" => { rounded };

    "higher_order.cond" "pred true_graph false_graph operands=[]" => { condition };
    "higher_order.wrap_with_set_grad_enabled" "enabled graph *operands" => { without_gradients };
    "higher_order.while_loop" "cond_fn body_fn carried_inputs additional_inputs=[]" => { repeat };
}

fn size(c: &Call<'_>) -> Result<Item> {
    let shape = c.tensor(0)?.layout()?.shape;
    let dim = wrapped(c.int(1)?, shape.len())?;
    shape.get(dim).map_or_else(|| bail!(Shape, "a 0-d tensor has no sizes"), |&size| Ok(Item::Int(size)))
}

fn stride(c: &Call<'_>) -> Result<Item> {
    let layout = c.tensor(0)?.layout()?;
    let dim = wrapped(c.int(1)?, layout.shape.len())?;
    layout.strides.get(dim).map_or_else(|| bail!(Shape, "a 0-d tensor has no strides"), |&stride| Ok(Item::Int(stride)))
}

fn elements(c: &Call<'_>) -> Result<Item> {
    Ok(Item::Int(c.tensor(0)?.layout()?.shape.iter().product()))
}

fn offset(c: &Call<'_>) -> Result<Item> {
    Ok(Item::Int(c.tensor(0)?.offset()))
}

/// The only element of a tensor.
fn number(c: &Call<'_>) -> Result<Item> {
    let t = c.tensor(0)?;
    let words = [t.as_ptr().word()];
    Ok(match t.defined()? {
        Dtype::Bool => Item::Bool(i64::from_word(names::itemLong::FUNCTION.run(&words)?) != 0),
        dtype if dtype.is_float() => Item::Float(f64::from_word(names::item::FUNCTION.run(&words)?)),
        _ => Item::Int(i64::from_word(names::itemLong::FUNCTION.run(&words)?)),
    })
}

fn failed<T>(message: &str) -> Result<T> {
    Err(Error::new(Kind::Argument, format_args!("an assertion of the model fails: {message}")))
}

fn assert_number(c: &Call<'_>) -> Result<Item> {
    if c.number(0)? == 0.0 { failed(c.text(1)?) } else { Ok(Item::None) }
}

fn assert_tensor(c: &Call<'_>) -> Result<Item> {
    let message = if c.arguments.len() > 1 { c.text(1)? } else { "the tensor is 0" };
    if number(c)?.number() == Some(0.0) { failed(message) } else { Ok(Item::None) }
}

/// Integer arithmetic of integers, and float arithmetic of other numbers.
fn arithmetic(c: &Call<'_>, int: fn(i64, i64) -> Option<i64>, float: fn(f64, f64) -> f64) -> Result<Item> {
    match (&c.arguments[0], &c.arguments[1]) {
        (Item::Float(_), _) | (_, Item::Float(_)) => Ok(Item::Float(float(c.number(0)?, c.number(1)?))),
        _ => match int(c.int(0)?, c.int(1)?) {
            Some(x) => Ok(Item::Int(x)),
            None => bail!(Argument, "arithmetic of {} and {} exceeds 64 bits, or divides by 0", c.int(0)?, c.int(1)?),
        },
    }
}

fn add(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, i64::checked_add, |a, b| a + b)
}

fn subtract(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, i64::checked_sub, |a, b| a - b)
}

fn multiply(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, i64::checked_mul, |a, b| a * b)
}

fn divide_down(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, floor_divide, |a, b| (a / b).floor())
}

fn modulo(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, |a, b| a.checked_sub(floor_divide(a, b)?.checked_mul(b)?), |a, b| a - (a / b).floor() * b)
}

fn power(c: &Call<'_>) -> Result<Item> {
    if let (Some(a), Some(b @ ..0)) = (c.arguments[0].int(), c.arguments[1].int()) {
        return Ok(Item::Float((a as f64).powf(b as f64)));
    }
    arithmetic(c, |a, b| a.checked_pow(b.try_into().ok()?), f64::powf)
}

fn divide(c: &Call<'_>) -> Result<Item> {
    let (a, b) = (c.number(0)?, c.number(1)?);
    if b == 0.0 {
        bail!(Argument, "{a} is divided by 0")
    }
    Ok(Item::Float(a / b))
}

fn negate(c: &Call<'_>) -> Result<Item> {
    match c.arguments[0] {
        Item::Float(x) => Ok(Item::Float(-x)),
        _ => Ok(Item::Int(c.int(0)?.wrapping_neg())),
    }
}

/// A comparison: exact for two integers.
fn compared(c: &Call<'_>, accept: fn(std::cmp::Ordering) -> bool) -> Result<Item> {
    let ordering = match (c.arguments[0].int(), c.arguments[1].int()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => c.number(0)?.partial_cmp(&c.number(1)?),
    };
    Ok(Item::Bool(ordering.is_some_and(accept)))
}

fn equal(c: &Call<'_>) -> Result<Item> {
    compared(c, std::cmp::Ordering::is_eq)
}

fn not_equal(c: &Call<'_>) -> Result<Item> {
    let Item::Bool(equal) = equal(c)? else { return Ok(Item::None) };
    Ok(Item::Bool(!equal))
}

fn less(c: &Call<'_>) -> Result<Item> {
    compared(c, std::cmp::Ordering::is_lt)
}

fn less_or_equal(c: &Call<'_>) -> Result<Item> {
    compared(c, std::cmp::Ordering::is_le)
}

fn greater(c: &Call<'_>) -> Result<Item> {
    compared(c, std::cmp::Ordering::is_gt)
}

fn greater_or_equal(c: &Call<'_>) -> Result<Item> {
    compared(c, std::cmp::Ordering::is_ge)
}

fn both(c: &Call<'_>) -> Result<Item> {
    Ok(Item::Bool(c.flag(0)? && c.flag(1)?))
}

fn either(c: &Call<'_>) -> Result<Item> {
    Ok(Item::Bool(c.flag(0)? || c.flag(1)?))
}

fn not(c: &Call<'_>) -> Result<Item> {
    Ok(Item::Bool(!c.flag(0)?))
}

fn entry(c: &Call<'_>) -> Result<Item> {
    let (list, at) = (c.list(0)?, c.int(1)?);
    match usize::try_from(at).ok().and_then(|at| list.get(at)) {
        Some(item) => Ok(item.clone()),
        None => bail!(Argument, "entry {at} of a list of {}", list.len()),
    }
}

fn greatest(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, |a, b| Some(a.max(b)), f64::max)
}

fn least(c: &Call<'_>) -> Result<Item> {
    arithmetic(c, |a, b| Some(a.min(b)), f64::min)
}

fn float(c: &Call<'_>) -> Result<Item> {
    c.number(0).map(Item::Float)
}

fn choice(c: &Call<'_>) -> Result<Item> {
    Ok(c.arguments[if c.flag(0)? { 1 } else { 2 }].clone())
}

fn sum(c: &Call<'_>) -> Result<Item> {
    let total = c.ints(0)?.iter().try_fold(0i64, |sum, &x| sum.checked_add(x));
    total.map_or_else(|| bail!(Argument, "a sum of sizes exceeds 64 bits"), |sum| Ok(Item::Int(sum)))
}

fn root(c: &Call<'_>) -> Result<Item> {
    Ok(Item::Float(c.number(0)?.sqrt()))
}

/// A number rounded to an integer. Integers stay as they are.
fn to_integer(c: &Call<'_>, round: fn(f64) -> f64) -> Result<Item> {
    if let Some(x) = c.arguments[0].int() {
        return Ok(Item::Int(x));
    }
    let x = round(c.number(0)?);
    // The bounds are exact as floats.
    if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) {
        bail!(Argument, "{x} is no integer of 64 bits")
    }
    Ok(Item::Int(x as i64))
}

fn truncated(c: &Call<'_>) -> Result<Item> {
    to_integer(c, f64::trunc)
}

fn rounded_up(c: &Call<'_>) -> Result<Item> {
    to_integer(c, f64::ceil)
}

fn rounded_down(c: &Call<'_>) -> Result<Item> {
    to_integer(c, f64::floor)
}

fn rounded(c: &Call<'_>) -> Result<Item> {
    to_integer(c, f64::round_ties_even)
}

/// Returns true for a number or a tensor of one element that is not 0.
fn is_true(item: &Item) -> Result<bool> {
    match item {
        Item::Tensor(t) => Ok(f64::from_word(names::item::FUNCTION.run(&[t.as_ptr().word()])?) != 0.0),
        other => match other.number() {
            Some(x) => Ok(x != 0.0),
            None => bail!(Argument, "{} where a truth value is expected", other.kind()),
        },
    }
}

fn condition(c: &Call<'_>) -> Result<Item> {
    let branch = c.code(if is_true(&c.arguments[0])? { 1 } else { 2 })?;
    Ok(Item::List(branch.run_part(c.frame, &mut c.list(3)?.iter().cloned())?))
}

/// Runs a part of the graph. Its results have no gradients unless `enabled` is true.
fn without_gradients(c: &Call<'_>) -> Result<Item> {
    let made = c.code(1)?.run_part(c.frame, &mut c.list(2)?.iter().cloned())?;
    if c.flag(0)? {
        return Ok(Item::List(made));
    }
    let detached = made.iter().map(|item| if let Item::Tensor(t) = item { detached(t).map(Item::Tensor) } else { Ok(item.clone()) });
    Ok(Item::List(detached.collect::<Result<_>>()?))
}

fn repeat(c: &Call<'_>) -> Result<Item> {
    let (test, body, fixed) = (c.code(0)?, c.code(1)?, c.list(3)?);
    let mut carried = c.list(2)?.to_vec();
    loop {
        let inputs = || carried.iter().chain(fixed).cloned();
        let again = test.run_part(c.frame, &mut inputs())?;
        if !again.first().map_or(Ok(false), is_true)? {
            return Ok(Item::List(carried));
        }
        carried = body.run_part(c.frame, &mut inputs())?;
    }
}
