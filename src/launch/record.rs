//! A device that computes nothing. It records the elementwise work that operations launch on it, and the values they read.
//!
//! The recording shows which kernels an operation runs for operands of given dtypes. Operands have one of two shapes: [`SHAPE`], or 0-d.
//! Work on any other shape is not elementwise.

use super::fused::{Action, Constant, Step, Value};
use super::map::Map;
use super::{Accelerator, Draw, Launch, Unique};
use crate::driver::Driver;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::operand::Operand;
use crate::random::Generator;
use crate::scalar::Scalar;
use std::cell::RefCell;
use std::collections::HashMap;

/// The shape of operands that are not 0-d.
pub(crate) const SHAPE: [i64; 2] = [2, 3];

/// The work that a thread has launched on the recorder.
#[derive(Default)]
pub struct Recording {
    /// The constants that the host wrote.
    pub constants: Vec<Constant>,
    /// The work.
    pub steps: Vec<Step>,
    /// The values that must not contain 0.
    pub divisors: Vec<(Value, Dtype)>,
    /// The last value written to each address, and its dtype.
    values: HashMap<usize, (Value, Option<Dtype>)>,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

impl Recording {
    /// Records the work that `f` launches on the recorder.
    pub fn of<R>(f: impl FnOnce() -> R) -> (R, Recording) {
        /// Ends the recording even if `f` panics.
        struct End;
        impl Drop for End {
            fn drop(&mut self) {
                RECORDING.take();
            }
        }
        RECORDING.set(Some(Recording::default()));
        let _end = End;
        let result = f();
        (result, RECORDING.take().unwrap_or_default())
    }

    /// The last value written to an address.
    pub fn value(&self, at: *const u8) -> Option<Value> {
        self.values.get(&at.addr()).map(|&(value, _)| value)
    }

    /// The value of an operand.
    fn read(&mut self, operand: &Operand) -> Result<Value> {
        let layout = operand.layout();
        let whole = layout.offset == 0 && (layout.ndim() == 0 || layout.shape.as_slice() == SHAPE);
        let spread = layout.strides.as_slice() == [0, 0];
        let Some(&(value, dtype)) = self.values.get(&operand.first().addr()) else { return not_elementwise() };
        // A value that is read with another dtype is not the value that was written.
        if !whole || !(layout.is_contiguous() || spread) || dtype.is_some_and(|dtype| dtype != operand.dtype) {
            return not_elementwise();
        }
        if let Value::Constant(k) = value {
            self.constants[k].dtype = operand.dtype;
        }
        Ok(value)
    }

    fn step(&mut self, action: Action, out: &Operand, inputs: &[&Operand]) -> Result<()> {
        let layout = out.layout();
        if layout.offset != 0 || !layout.is_contiguous() || !(layout.ndim() == 0 || layout.shape.as_slice() == SHAPE) {
            return not_elementwise();
        }
        let reads = inputs.iter().map(|input| self.read(input)).collect::<Result<_>>()?;
        self.steps.push(Step { action, reads, dtype: out.dtype, place: 0 });
        self.values.insert(out.first().addr(), (Value::Step(self.steps.len() - 1), Some(out.dtype)));
        Ok(())
    }
}

/// The number of divisors that this thread has recorded.
pub fn divisors() -> usize {
    RECORDING.with_borrow(|recording| recording.as_ref().map_or(0, |recording| recording.divisors.len()))
}

/// Records that input `k` of a program is at an address.
pub fn note_input(at: *const u8, k: usize, dtype: Dtype) {
    RECORDING.with_borrow_mut(|recording| {
        if let Some(recording) = recording {
            recording.values.insert(at.addr(), (Value::Input(k), Some(dtype)));
        }
    });
}

fn not_elementwise<T>() -> Result<T> {
    bail!(Unsupported, "the function does not compute its result element by element")
}

/// Calls `f` with this thread's recording.
fn recorded<R>(f: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
    RECORDING.with_borrow_mut(|recording| match recording {
        Some(recording) => f(recording),
        None => bail!(Device, "nothing is recorded"),
    })
}

/// The recorder as a device.
pub struct Recorder;

impl Accelerator for Recorder {
    fn launch(&self, work: &Launch<'_>, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()> {
        recorded(|recording| match (work, out) {
            (&Launch::Map(Map { op, common, numbers }), &[Some(out)]) => {
                recording.step(Action::Map { op, common, numbers: numbers.iter().copied().collect() }, out, inputs)
            }
            (Launch::Convert(_), &[Some(out)]) => recording.step(Action::Convert, out, inputs),
            _ => not_elementwise(),
        })
    }

    /// Returns true and records the operand: the program checks its elements when it runs.
    fn all(&self, x: &Operand) -> Result<bool> {
        recorded(|recording| {
            let divisor = recording.read(x)?;
            recording.divisors.push((divisor, x.dtype));
            Ok(true)
        })
    }

    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, _: bool) -> Result<()> {
        let mut bits = [0; 8];
        let Some(place) = bits.get_mut(..bytes) else { return not_elementwise() };
        // SAFETY: the caller guarantees `bytes` readable bytes at `from`, and `place` has as many.
        unsafe { from.copy_to_nonoverlapping(place.as_mut_ptr(), bytes) };
        recorded(|recording| {
            // The first operand that reads the constant sets its dtype.
            recording.constants.push(Constant { dtype: Dtype::Bool, bits: u64::from_ne_bytes(bits) });
            recording.values.insert(to.addr(), (Value::Constant(recording.constants.len() - 1), None));
            Ok(())
        })
    }

    fn count(&self, _: &Operand) -> Result<usize> {
        not_elementwise()
    }

    fn bincount(&self, _: &Operand, _: Option<&Operand>, _: i64) -> Result<Operand> {
        not_elementwise()
    }

    fn unique(&self, _: &Operand, _: bool, _: bool) -> Result<Unique> {
        not_elementwise()
    }

    fn random(&self, _: Draw, _: &mut Generator, _: &Operand, _: &[&Operand]) -> Result<()> {
        not_elementwise()
    }

    fn first(&self, _: &Operand) -> Result<Scalar> {
        not_elementwise()
    }

    fn driver(&self) -> Result<&'static dyn Driver> {
        not_elementwise()
    }

    unsafe fn download(&self, _: *mut u8, _: *const u8, _: usize, _: bool) -> Result<()> {
        not_elementwise()
    }

    unsafe fn copy_from(&self, _: i8, _: *mut u8, _: *const u8, _: usize) -> Result<()> {
        not_elementwise()
    }
}
