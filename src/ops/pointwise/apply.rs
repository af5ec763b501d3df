//! Functions of the caller that are called for each element in row-major order.

use crate::element::{read_element, write_element};
use crate::error::{Error, Result, bail};
use crate::layout::{Dims, Layout};
use crate::operand::{Operand, check_host};
use crate::ops::copy::contiguous_copy;
use crate::scalar::{Scalar, canonical};
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::ffi::{c_int, c_void};

/// Called by `apply` with each element, converted to a double.
///
/// The number stored in `x` becomes the element. If the function does not write to `x`, the element keeps all its bits, even an int64. The
/// function returns 0 to continue; any other number stops `apply`, which returns the number. The function must not free or resize the
/// tensors, throw, or longjmp.
pub type THApplyFunction = Option<unsafe extern "C" fn(x: *mut f64, context: *mut c_void) -> c_int>;
/// As `THApplyFunction`, with the element `y` of a second tensor at the same index.
pub type THMapFunction = Option<unsafe extern "C" fn(x: *mut f64, y: f64, context: *mut c_void) -> c_int>;
/// As `THApplyFunction`, with the elements `y` and `z` of two more tensors at the same index.
pub type THMap2Function = Option<unsafe extern "C" fn(x: *mut f64, y: f64, z: f64, context: *mut c_void) -> c_int>;

/// `t = function(t)`
///
/// # Safety
/// `function` must do what [`THApplyFunction`] says.
pub unsafe fn apply(t: &Tensor, function: THApplyFunction, context: *mut c_void) -> Result<()> {
    let Some(function) = function else { return no_function() };
    // SAFETY: the caller keeps the same promise.
    walk(t, [], &mut |x, []| unsafe { function(x, context) })
}

/// `t = function(t, src)`; `src` broadcasts to `t`
///
/// # Safety
/// `function` must do what [`THApplyFunction`] says.
pub unsafe fn map(t: &Tensor, src: &Tensor, function: THMapFunction, context: *mut c_void) -> Result<()> {
    let Some(function) = function else { return no_function() };
    // SAFETY: the caller keeps the same promise.
    walk(t, [src], &mut |x, [y]| unsafe { function(x, y, context) })
}

/// `t = function(t, a, b)`; `a` and `b` broadcast to `t`
///
/// # Safety
/// `function` must do what [`THApplyFunction`] says.
pub unsafe fn map2(t: &Tensor, a: &Tensor, b: &Tensor, function: THMap2Function, context: *mut c_void) -> Result<()> {
    let Some(function) = function else { return no_function() };
    // SAFETY: the caller keeps the same promise.
    walk(t, [a, b], &mut |x, [y, z]| unsafe { function(x, y, z, context) })
}

fn no_function() -> Result<()> {
    bail!(Argument, "the function is NULL")
}

/// Calls `f` for each element of `t`, with the elements of `others` at the same position, and stores the number that `f` leaves in `x`.
fn walk<const N: usize>(t: &Tensor, others: [&Tensor; N], f: &mut dyn FnMut(*mut f64, [f64; N]) -> c_int) -> Result<()> {
    let target = CallbackOperand::new(t, t)?;
    let mut sources = Vec::with_capacity(N);
    for other in others {
        // If `other` overlaps `t` at other positions, it is copied, so that `f` does not see changed elements. If `other` is `t`, `f` sees
        // them, as the documentation shows.
        let ((a, b), (c, d)) = (target.operand.span(), Operand::of(other)?.span());
        let disjoint = other.is(t) || b <= c || d <= a;
        sources.push(if disjoint { CallbackOperand::new(other, t)? } else { CallbackOperand::new(&contiguous_copy(other)?, t)? });
    }
    each_position(&target.operand.layout().shape, &mut |position| {
        let at = target.at(position)?;
        // SAFETY: the position is inside the operand, and `at` checked that the storage is unchanged.
        let before = canonical(unsafe { read_element(at, target.operand.dtype) }.to_f64());
        let (mut x, mut values) = (before, [0.0; N]);
        for (value, source) in values.iter_mut().zip(&sources) {
            // SAFETY: the position is inside the source, and `at` checked that the storage is unchanged.
            *value = canonical(unsafe { read_element(source.at(position)?, source.operand.dtype) }.to_f64());
        }
        let code = f(&mut x, values);
        let at = target.at(position)?;
        if x.to_bits() != before.to_bits() {
            // SAFETY: the position is inside the operand, and `at` checked the storage again after the call.
            unsafe { write_element(at, target.operand.dtype, Scalar::Float(x)) }
        }
        match code {
            0 => Ok(()),
            _ => Err(Error::from_callback(code, format_args!("the function stopped with {code} at {position:?}"))),
        }
    })
}

/// Calls `f` with each position of `shape` in row-major order.
fn each_position(shape: &[i64], f: &mut dyn FnMut(&[i64]) -> Result<()>) -> Result<()> {
    let mut position = shape.iter().map(|_| 0).collect::<Dims>();
    while !shape.contains(&0) {
        f(&position)?;
        let Some(d) = (0..shape.len()).rev().find(|&d| position[d] + 1 < shape[d]) else { break };
        position[d] += 1;
        position[d + 1..].fill(0);
    }
    Ok(())
}

/// An operand whose memory a function of the caller might change.
struct CallbackOperand {
    operand: Operand,
    storage: Option<Storage>,
    memory: (*mut u8, i64),
}

impl CallbackOperand {
    /// `t`, broadcast to the shape of `like`.
    fn new(t: &Tensor, like: &Tensor) -> Result<CallbackOperand> {
        check_host(t)?;
        let mut operand = Operand::of(t)?;
        operand.set_layout(operand.layout().broadcast_to(&like.layout()?.shape)?);
        let storage = t.storage();
        let memory = storage.as_ref().map_or((std::ptr::null_mut(), 0), |s| (s.data(), s.len()));
        Ok(CallbackOperand { operand, storage, memory })
    }

    /// The address of the element at `position`. Fails if the address or the length of the storage has changed.
    fn at(&self, position: &[i64]) -> Result<*mut u8> {
        if self.storage.as_ref().is_some_and(|s| (s.data(), s.len()) != self.memory) {
            bail!(Callback, "the function changed the storage of a tensor it was called for")
        }
        let Layout { strides, .. } = self.operand.layout();
        let offset: i64 = position.iter().zip(strides).map(|(i, stride)| i * stride).sum();
        Ok(self.operand.first().wrapping_offset(offset as isize * self.operand.dtype.size() as isize))
    }
}
