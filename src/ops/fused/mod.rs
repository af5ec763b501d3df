//! Fused expressions: several elementwise operations in one pass over the elements.
//!
//! The functions of an expression are the operations themselves. For operands of given dtypes they are called once, with tensors on the
//! recorder (`launch::record`). Each operation thus decides about promotion, numbers and kernels as usual. The launched work becomes a
//! program, which the device of the operands runs for each element.

mod callable;
mod expression;
mod hexadecimal;
mod shorten;

use super::prepare::bring_numbers;
use super::reduce::nonzero_everywhere;
use super::result::{Inputs, Writes, ready};
use crate::alloc::{self, fork::ForkMutex, provided};
use crate::device::{self, Device, DeviceGuard};
use crate::dtype::{Dtype, default_dtype};
use crate::error::{Error, Kind, Result, bail};
use crate::launch::fused::Value;
use crate::launch::record::{self, Recording};
use crate::launch::{Fused, Program};
use crate::layout::{Dims, broadcast_shape};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
pub use callable::{Argument, Callable};
use expression::{Call, Expression, Term, read};
use shorten::shorten;
use std::ffi::CStr;
use std::sync::Arc;

/// Finds the function with a name.
pub type Find = fn(&str) -> Option<&'static dyn Callable>;

/// The largest number of programs that an expression keeps, for operands of different dtypes.
const MOST_KEPT: usize = 16;
/// The host memory that parsing an expression may use, in bytes: a factor of the text's length, and a constant.
const READ_BYTES: [usize; 2] = [256, 32 << 10];
/// The host memory that making a program may use, in bytes: a factor of the number of calls, and a constant.
const PROGRAM_BYTES: [usize; 2] = [1 << 10, 64 << 10];

/// An expression and the programs that were made from it.
pub struct Expressed {
    expression: Expression,
    programs: ForkMutex<Vec<Arc<Compiled>>>,
}

/// The properties of operands that determine dtypes: for each input its dtype and whether it is a scalar, and the default dtype.
type Dtypes = (Vec<(Dtype, bool)>, Dtype);

/// The program of an expression for operands of certain dtypes.
struct Compiled {
    dtypes: Dtypes,
    program: Program,
    /// Programs that compute the divisors of integer divisions, which must not be 0. Each has the index of the call that divides.
    divisors: Vec<(Program, usize)>,
}

impl Expressed {
    /// Reads an expression.
    pub fn new(text: &CStr, find: Find) -> Result<Expressed> {
        let Ok(text) = text.to_str() else { bail!(Argument, "the expression is not UTF-8") };
        let bytes = READ_BYTES[0].saturating_mul(text.len().min(64 << 10)) + READ_BYTES[1];
        let expression = with_memory(bytes, || read(text, &find))?;
        Ok(Expressed { expression, programs: ForkMutex::new(Vec::new()) })
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.expression.inputs.len()
    }

    /// The name of an input.
    pub fn input_name(&self, k: i64) -> Result<&CStr> {
        match usize::try_from(k).ok().and_then(|k| self.expression.inputs.get(k)) {
            Some(name) => Ok(name),
            None => bail!(Argument, "index {k} out of range for {} inputs", self.inputs()),
        }
    }

    /// `r` = the value of the expression for these inputs
    pub fn run(&self, r: &Tensor, inputs: &[&Tensor]) -> Result<()> {
        if inputs.len() != self.inputs() {
            bail!(Argument, "{} tensors for an expression of {} inputs", inputs.len(), self.inputs())
        }
        let mut operands = alloc::list(inputs.len(), |k| self.named(k, Operand::of(inputs[k])))?;
        let mut shape = Dims::new();
        for (k, operand) in operands.iter().enumerate() {
            let own = &operand.layout().shape;
            shape = if k == 0 { own.clone() } else { self.named(k, broadcast_shape(&shape, own))? };
        }
        let dtypes = (alloc::list(operands.len(), |k| Ok((operands[k].dtype, inputs[k].ndim() == 0)))?, default_dtype());
        let compiled = self.compiled(dtypes)?;
        if device::is_used() {
            bring_numbers(&mut operands)?;
        }
        for operand in &mut operands {
            operand.set_layout(operand.layout().broadcast_to(&shape)?);
        }
        if !shape.contains(&0) {
            for (divisor, call) in &compiled.divisors {
                let values = Tensor::fresh()?;
                launch(divisor, &values, &shape, &operands)?;
                if !nonzero_everywhere(&values)? {
                    let error = Error::new(Kind::Argument, format_args!("integers divided by zero"));
                    return Err(at_call(&self.expression.calls[*call], &error));
                }
            }
        }
        launch(&compiled.program, r, &shape, &operands)
    }

    /// An error with the name of input `k` in its message.
    fn named<T>(&self, k: usize, result: Result<T>) -> Result<T> {
        result.map_err(|error| {
            let name = self.expression.inputs[k].to_string_lossy();
            Error::new(error.kind(), format_args!("input '{name}': {error}"))
        })
    }

    /// The program for operands of these dtypes.
    fn compiled(&self, dtypes: Dtypes) -> Result<Arc<Compiled>> {
        let kept = || self.programs.lock();
        if let Some(found) = kept().iter().find(|compiled| compiled.dtypes == dtypes) {
            return Ok(found.clone());
        }
        let bytes = PROGRAM_BYTES[0] * self.expression.calls.len() + PROGRAM_BYTES[1];
        with_memory(bytes, || {
            let made = Arc::new(self.compile(dtypes)?);
            let mut kept = kept();
            if kept.len() == MOST_KEPT {
                kept.remove(0);
            }
            kept.push(made.clone());
            Ok(made)
        })
    }

    /// Calls the functions with tensors on the recorder, and makes a program from the recorded work.
    fn compile(&self, dtypes: Dtypes) -> Result<Compiled> {
        let _there = DeviceGuard::on(Device::Recorder);
        let (called, mut recording) = Recording::of(|| self.call_all(&dtypes.0));
        let (tensors, dividing) = called?;
        shorten(&mut recording.steps);
        let inputs: Vec<Dtype> = dtypes.0.iter().map(|&(dtype, _)| dtype).collect();
        let result = self.tensor(&tensors, self.expression.result)?;
        let Some(value) = recording.value(result.data()) else { bail!(Internal, "the result was not recorded") };
        let program = |value: Value, dtype: Dtype| Program::of(&inputs, &recording.constants, &recording.steps, value, dtype);
        let divisors = recording.divisors.iter().zip(dividing).map(|(&(value, dtype), call)| (program(value, dtype), call)).collect();
        Ok(Compiled { program: program(value, result.defined()?), divisors, dtypes })
    }

    /// The inputs as tensors on the recorder, followed by the results of all calls; and the index of the call for each recorded divisor.
    fn call_all(&self, inputs: &[(Dtype, bool)]) -> Result<(Vec<Tensor>, Vec<usize>)> {
        let mut dividing = Vec::new();
        let mut tensors = Vec::with_capacity(inputs.len() + self.expression.calls.len());
        for (k, &(dtype, scalar)) in inputs.iter().enumerate() {
            let t = Tensor::empty(dtype, if scalar { &[] } else { &record::SHAPE })?;
            record::note_input(t.data(), k, dtype);
            tensors.push(t);
        }
        for (k, call) in self.expression.calls.iter().enumerate() {
            let r = Tensor::fresh()?;
            self.call(call, &r, &tensors).map_err(|error| at_call(call, &error))?;
            tensors.push(r);
            dividing.resize(record::divisors(), k);
        }
        Ok((tensors, dividing))
    }

    fn call(&self, call: &Call, r: &Tensor, tensors: &[Tensor]) -> Result<()> {
        let argument = |&term: &Term| match term {
            Term::Number(x) => Ok(Argument::Number(x)),
            term => self.tensor(tensors, term).map(Argument::Tensor),
        };
        let arguments = call.arguments.iter().map(argument).collect::<Result<Vec<_>>>()?;
        call.function.call(r, &arguments)
    }

    fn tensor<'a>(&self, tensors: &'a [Tensor], term: Term) -> Result<&'a Tensor> {
        match term {
            Term::Input(k) => Ok(&tensors[k]),
            Term::Call(k) => Ok(&tensors[self.inputs() + k]),
            Term::Number(x) => bail!(Internal, "{} is no tensor", Scalar::from(x)),
        }
    }
}

/// The error of a call, with its column in the expression.
fn at_call(call: &Call, error: &Error) -> Error {
    Error::new(error.kind(), format_args!("column {}: {}: {error}", call.column, call.function.name()))
}

/// Calls `f`, which allocates infallibly. At most `bytes` bytes are set aside for it; if they are not available, the call fails.
fn with_memory<R>(bytes: usize, f: impl FnOnce() -> Result<R>) -> Result<R> {
    match provided(bytes, f) {
        Some((result, _)) => result,
        None => Err(Error::new(Kind::NoMem, format_args!("out of memory: {bytes} bytes could not be allocated"))),
    }
}

/// Runs a program on operands of one shape.
fn launch(program: &Program, r: &Tensor, shape: &[i64], operands: &[Operand]) -> Result<()> {
    let read = |k: usize| program.inputs[k].is_some();
    let ready = ready(r, (program.dtype(), shape), Writes::STRIDED, Inputs::in_step(operands))?;
    let inputs = alloc::collect(operands.len(), (0..operands.len()).filter(|&k| read(k)).map(|k| Ok(&operands[k])))?;
    ready.launch(&Fused(program), &inputs)
}
