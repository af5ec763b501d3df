//! Exported programs.
//!
//! A `THProgram` is a model that PyTorch 2.6 or later wrote by `torch.export.save(torch.export.export(model, args), "model.pt2")`: the
//! graph of the model, its weights, and the ranges of its sizes. The library runs the graph without Python. It supports core ATen and the
//! operators that export leaves undecomposed: `docs/aten.md`.
//!
//! Inputs and outputs are the tensors and numbers of the nested arguments and results, in the order in which PyTorch flattens them. Numbers
//! are 0-d tensors of int64, float64 or bool. Inputs must have the dtypes of the export, and sizes inside the exported ranges.
//!
//! Parameters are mapped from the file and copied where they are written. They may be trained: `THProgram_newParameter` returns the tensor
//! that the program uses, and gradients are recorded during a run as for any other calls. A run changes the buffers that the model changes,
//! such as the statistics of batch normalization in training or caches of keys and values. If a run fails after the graph has written to
//! buffers in place, these buffers keep the new elements.
//!
//! Several threads may run one program at the same time, unless the program changes its buffers.
//!
//! Errors: `TH_ERR_FORMAT`, a file that is no exported program, or is broken; `TH_ERR_UNSUPPORTED`, operators that the library lacks: the
//! message names all of them; `TH_ERR_ARGUMENT`, a wrong number of inputs or outputs, or a name that the program lacks; `TH_ERR_DTYPE` and
//! `TH_ERR_SHAPE`, an input that the program was not exported for; the errors of the functions that the graph calls, with the operator.

use super::Program;
use super::signature::{Role, Value};
use crate::alloc;
use crate::api::program::{THProgram, release, retain};
use crate::api::table::table;
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::{Error, Kind, Result, bail};
use crate::files::Memory;

/// A handle and its program.
#[repr(C)]
struct Held {
    head: THProgram,
    program: Program,
}

/// Frees a handle.
///
/// # Safety
/// `program` is a handle from [`new_program`] without references.
unsafe fn free(program: *mut THProgram) {
    // SAFETY: the handle is the first field of a `Held` in a box.
    drop(unsafe { Box::from_raw(program.cast::<Held>()) });
}

fn new_program(program: Program) -> Result<*mut THProgram> {
    match alloc::boxed(Held { head: THProgram::new(free), program }) {
        Some(held) => Ok(Box::into_raw(held).cast()),
        None => Err(Error::new(Kind::NoMem, format_args!("out of memory for a program"))),
    }
}

fn held(program: &THProgram) -> &Program {
    // SAFETY: every handle is the first field of a `Held`.
    unsafe { &(*std::ptr::from_ref(program).cast::<Held>()).program }
}

/// Returns an entry of a list.
fn at<'a, T>(list: &'a [T], index: i64, what: &str) -> Result<&'a T> {
    match usize::try_from(index).ok().and_then(|index| list.get(index)) {
        Some(value) => Ok(value),
        None => bail!(Argument, "{what} {index}: the program has {}", list.len()),
    }
}

fn input(p: &THProgram, index: i64) -> Result<&Value> {
    at(&held(p).signature.inputs, index, "input")
}

fn output(p: &THProgram, index: i64) -> Result<&Value> {
    at(&held(p).signature.outputs, index, "output")
}

fn code(p: &THProgram, value: &Value) -> i32 {
    let dtype = match (value.dtype, held(p).conversion()) {
        (Some(dtype), Some((from, to))) if dtype == from => Some(to),
        (dtype, _) => dtype,
    };
    dtype.map_or(TH_UNDEFINED, Dtype::code)
}

macro_rules! program_functions {
    ($do:ident) => {
        $do! { "", unrecorded;
            /// Opens the file `path` that `torch.export.save` wrote. Parameters are mapped. Free the program with `THProgram_free`; NULL
            /// on error.
            THProgram_open(path: text) -> new_program = new_program(Program::open(path)?);
            /// Opens a file in memory: `size` bytes from `data` on, which are copied. Free the program with `THProgram_free`; NULL on
            /// error.
            THProgram_openMemory(data: memory_input, size: length) -> new_program =
                // SAFETY: the caller keeps the memory valid and unchanged during the call.
                new_program(Program::of_memory(unsafe { Memory::new(data, size)? })?);
            /// Adds a reference; NULL is ignored.
            THProgram_retain(p: program_or_null) -> nothing = {
                // SAFETY: the caller passes NULL or a live program.
                unsafe { retain(p) };
                Ok(())
            };
            /// Releases a reference, and frees the program with the last one; NULL is ignored. Parameters that the caller holds stay valid.
            THProgram_free(p: program_or_null) -> nothing = {
                // SAFETY: the caller passes NULL or a live program, and releases a reference that it owns.
                unsafe { release(p) };
                Ok(())
            };
            /// Runs the program: `outputs` = the results for `inputs`. A fresh output handle shares the memory of the result, which is new
            /// unless the program returns a view of an input or a parameter. Another handle keeps its dtype and receives a copy. An output
            /// that is `None` in PyTorch leaves its handle unchanged.
            THProgram_run(outputs: outs, outputCount: handle_count, p: program, inputs: inputs, inputCount: handle_count) =
                held(p).run(&outputs, &inputs);
            /// Moves the parameters, buffers and constants to a device, and converts the floats of the program to `dtype`; `TH_UNDEFINED`
            /// keeps their dtype. The handles of parameters stay valid, and inputs of floats must then have `dtype`. Nothing else may use
            /// the program meanwhile. A parameter that requires a gradient is an error.
            THProgram_to(p: program, deviceType: device_type, deviceIndex: int, dtype: optional_dtype) =
                held(p).convert(deviceType, deviceIndex, dtype);
            /// Returns the number of inputs; -1 on error.
            THProgram_inputCount(p: program) -> count = Ok(held(p).signature.inputs.len() as i64);
            /// Returns the name of input `index`, counted from 0. Borrowed: valid as long as the program. NULL on error.
            THProgram_inputName(p: program, index: entry) -> borrowed_text = input(p, index).map(|value| value.name.as_ptr());
            /// Returns the dtype of input `index`; `TH_UNDEFINED` on error.
            THProgram_inputDtype(p: program, index: entry) -> dtype = input(p, index).map(|value| code(p, value));
            /// Returns the number of dimensions of input `index`; -1 on error.
            THProgram_inputNdim(p: program, index: entry) -> count = input(p, index).map(|value| value.ndim() as i64);
            /// Returns the smallest sizes of input `index`. A smallest size of 2 is an assumption of the export, which a run does not
            /// check. Borrowed: valid as long as the program. NULL on error.
            THProgram_inputMinSizes(p: program, index: entry) -> borrowed_sizes = input(p, index).map(|value| value.minimum.as_ptr());
            /// Returns the largest sizes of input `index`: `INT64_MAX` for a size without bound, the smallest size for a fixed size.
            /// Borrowed: valid as long as the program. NULL on error.
            THProgram_inputMaxSizes(p: program, index: entry) -> borrowed_sizes = input(p, index).map(|value| value.maximum.as_ptr());
            /// Returns the number of outputs; -1 on error.
            THProgram_outputCount(p: program) -> count = Ok(held(p).signature.outputs.len() as i64);
            /// Returns the name of output `index`, counted from 0: the path to the output in the nested results of the model. Borrowed:
            /// valid as long as the program. NULL on error.
            THProgram_outputName(p: program, index: entry) -> borrowed_text = output(p, index).map(|value| value.name.as_ptr());
            /// Returns the dtype of output `index`; `TH_UNDEFINED` for `None`, and on error.
            THProgram_outputDtype(p: program, index: entry) -> dtype = output(p, index).map(|value| code(p, value));
            /// Returns the number of dimensions of output `index`; -1 on error.
            THProgram_outputNdim(p: program, index: entry) -> count = output(p, index).map(|value| value.ndim() as i64);
            /// Returns the smallest sizes of output `index`. Borrowed: valid as long as the program. NULL on error.
            THProgram_outputMinSizes(p: program, index: entry) -> borrowed_sizes = output(p, index).map(|value| value.minimum.as_ptr());
            /// Returns the largest sizes of output `index`: `INT64_MAX` for a size without bound. Borrowed: valid as long as the program.
            /// NULL on error.
            THProgram_outputMaxSizes(p: program, index: entry) -> borrowed_sizes = output(p, index).map(|value| value.maximum.as_ptr());
            /// Returns the number of parameters; -1 on error.
            THProgram_parameterCount(p: program) -> count = Ok(held(p).count(Role::Parameter));
            /// Returns the name of parameter `index`, counted from 0: `layer.0.weight`. Borrowed: valid as long as the program. NULL on
            /// error.
            THProgram_parameterName(p: program, index: entry) -> borrowed_text = held(p).name(Role::Parameter, index);
            /// Returns the parameter `name` that the program uses: a write to its elements changes the following runs, and
            /// `THTensor_setRequiresGrad` makes runs record gradients. From the first call of this function on, batch normalization is no
            /// longer folded into convolutions, so that results may differ in the last digits. Returns a new reference to the tensor.
            THProgram_newParameter(p: program, name: text) -> new = held(p).shared(Role::Parameter, name).cloned();
            /// Returns the number of buffers; -1 on error.
            THProgram_bufferCount(p: program) -> count = Ok(held(p).count(Role::Buffer));
            /// Returns the name of buffer `index`, counted from 0. Borrowed: valid as long as the program. NULL on error.
            THProgram_bufferName(p: program, index: entry) -> borrowed_text = held(p).name(Role::Buffer, index);
            /// Returns the buffer `name` that the program uses. Returns a new reference to the tensor.
            THProgram_newBuffer(p: program, name: text) -> new = held(p).shared(Role::Buffer, name).cloned();
            /// Returns the number of keys in the metadata; -1 on error.
            THProgram_metadataCount(p: program) -> count = Ok(held(p).signature.metadata.len() as i64);
            /// Returns key `index` of the metadata, counted from 0: `torch_version`, `schema_version`. Borrowed: valid as long as the
            /// program. NULL on error.
            THProgram_metadataKey(p: program, index: entry) -> borrowed_text =
                at(&held(p).signature.metadata, index, "key").map(|(key, _)| key.as_ptr());
            /// Returns the value of key `index`. Borrowed: valid as long as the program. NULL on error.
            THProgram_metadataValue(p: program, index: entry) -> borrowed_text =
                at(&held(p).signature.metadata, index, "key").map(|(_, value)| value.as_ptr());
        }
    };
}

program_functions!(table);
pub(crate) use program_functions as functions;
