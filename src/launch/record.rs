//! A device that computes nothing: it notes the elementwise work that operations launch on it, and what they read.
//!
//! So an operation says by itself which kernels it would run for operands of these dtypes, whatever it makes them of. Operands have one
//! of two shapes, [`SHAPE`] and that of a scalar: work on anything else is not elementwise.

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

/// The shape of operands that are no scalars.
pub(crate) const SHAPE: [i64; 2] = [2, 3];

/// What a thread has launched on the recorder.
#[derive(Default)]
pub struct Recording {
    /// The constants that were written from the host.
    pub constants: Vec<Constant>,
    /// The work.
    pub steps: Vec<Step>,
    /// Values that must not have an element that is 0.
    pub divisors: Vec<(Value, Dtype)>,
    /// The value at each address that was written, and its dtype.
    values: HashMap<usize, (Value, Option<Dtype>)>,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

impl Recording {
    /// Notes what `f` launches on the recorder.
    pub fn of<R>(f: impl FnOnce() -> R) -> (R, Recording) {
        /// Ends the recording where `f` panics, too.
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

    /// The value that was written at an address last.
    pub fn value(&self, at: *const u8) -> Option<Value> {
        self.values.get(&at.addr()).map(|&(value, _)| value)
    }

    /// The value that an operand is.
    fn read(&mut self, operand: &Operand) -> Result<Value> {
        let layout = &operand.layout;
        let whole = layout.offset == 0 && (layout.ndim() == 0 || layout.shape.as_slice() == SHAPE);
        let spread = layout.strides.as_slice() == [0, 0];
        let Some(&(value, dtype)) = self.values.get(&operand.first().addr()) else { return not_elementwise() };
        // What is seen as another dtype is not its value.
        if !whole || !(layout.is_contiguous() || spread) || dtype.is_some_and(|dtype| dtype != operand.dtype) {
            return not_elementwise();
        }
        if let Value::Constant(k) = value {
            self.constants[k].dtype = operand.dtype;
        }
        Ok(value)
    }

    fn step(&mut self, action: Action, out: &Operand, inputs: &[&Operand]) -> Result<()> {
        let layout = &out.layout;
        if layout.offset != 0 || !layout.is_contiguous() || !(layout.ndim() == 0 || layout.shape.as_slice() == SHAPE) {
            return not_elementwise();
        }
        let reads = inputs.iter().map(|input| self.read(input)).collect::<Result<_>>()?;
        self.steps.push(Step { action, reads, dtype: out.dtype, place: 0 });
        self.values.insert(out.first().addr(), (Value::Step(self.steps.len() - 1), Some(out.dtype)));
        Ok(())
    }
}

/// How many divisors this thread has recorded.
pub fn divisors() -> usize {
    RECORDING.with_borrow(|recording| recording.as_ref().map_or(0, |recording| recording.divisors.len()))
}

/// Says that an input of a program lies at an address.
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

/// Calls `f` with what this thread records.
fn recorded<R>(f: impl FnOnce(&mut Recording) -> Result<R>) -> Result<R> {
    RECORDING.with_borrow_mut(|recording| match recording {
        Some(recording) => f(recording),
        None => bail!(Device, "nothing is recorded"),
    })
}

/// The device.
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

    /// Whether an element is 0 is seen when the program runs.
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
        // SAFETY: the caller's.
        unsafe { from.copy_to_nonoverlapping(place.as_mut_ptr(), bytes) };
        recorded(|recording| {
            // The dtype is that of the operand that is read there.
            recording.constants.push(Constant { dtype: Dtype::Bool, bits: u64::from_ne_bytes(bits) });
            recording.values.insert(to.addr(), (Value::Constant(recording.constants.len() - 1), None));
            Ok(())
        })
    }

    fn first_outside(&self, _: &Operand, _: i64, _: i64) -> Result<Option<usize>> {
        not_elementwise()
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
