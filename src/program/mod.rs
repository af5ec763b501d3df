//! Exported programs: models that `torch.export` wrote, run and trained further.
//!
//! The crate `thorn-files` reads the graph as data. [`compile`] translates each node of the graph to a [`Step`](code::Step) by the table of
//! ATen operators ([`table`], [`aten`]). A step calls functions of the table of thorn, so that gradients are recorded and GPUs are used as
//! for any call. A [`Frame`](frame::Frame) has the values of one run, so that several threads run one program at the same time.

mod aten;
mod call;
mod code;
mod compile;
pub mod describe;
mod direct;
mod fold;
mod frame;
pub mod functions;
mod fuse;
mod node;
mod signature;
mod sizes;
mod table;
#[cfg(test)]
mod tests;

use crate::alloc::{self, fork::ForkMutex};
use crate::api::word::{ToWord, Word};
use crate::device::{self, Device, DeviceGuard, THDeviceType};
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::{Error, Kind, Result, bail};
use crate::expr::names;
use crate::files::{Memory, Reading};
use crate::mode;
use crate::ops::assign::assign;
use crate::tensor::Tensor;
use code::Code;
use compile::{Missing, compile};
use fold::Folds;
use frame::{Frame, Item, Place};
use signature::{Entry, Mutation, Role, Signature};
use std::ffi::{CStr, c_char};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// A program.
pub struct Program {
    /// The program as the file has it.
    source: thorn_files::program::Program,
    /// The graph with all steps, which uses the parameters as they are.
    code: Code,
    /// The graph with folded values, until the caller can change a parameter.
    fast: ForkMutex<Option<Arc<Fast>>>,
    signature: Signature,
    /// The parameters, buffers and constant tensors, in the order of `signature.entries`.
    shared: Vec<Tensor>,
    /// The code of the dtype to which floats were converted, or 0.
    converted: AtomicI32,
}

/// The memory in bytes that is set aside for each node of a graph when a program is opened, and for a run.
const NODE_BYTES: usize = 8 << 10;
const RUN_BYTES: usize = 16 << 10;

/// A graph with folded values.
struct Fast {
    code: Code,
    /// The tensors of the program, followed by folded values.
    shared: Vec<Tensor>,
}

impl Program {
    /// Opens a file.
    pub fn open(path: &CStr) -> Result<Program> {
        let (reading, program) = Reading::open_program(path)?;
        Program::of(&reading, program)
    }

    /// Opens a file in memory. Elements are copied.
    pub fn of_memory(memory: Memory) -> Result<Program> {
        let (reading, program) = Reading::program_of_memory(memory)?;
        Program::of(&reading, program)
    }

    fn of(reading: &Reading, source: thorn_files::program::Program) -> Result<Program> {
        let bytes = bytes_to_compile(&source);
        match alloc::provided(bytes, || Program::prepare(reading, source)) {
            Some((program, _)) => program,
            None => bail!(NoMem, "out of memory for a program: {bytes} bytes could not be allocated"),
        }
    }

    fn prepare(reading: &Reading, source: thorn_files::program::Program) -> Result<Program> {
        let mut signature = Signature::of(&source, reading)?;
        let shared = alloc::list(signature.entries.len(), |k| reading.tensor(reading.found(&signature.entries[k].name)?))?;
        let mut missing = Missing::default();
        let code = compile(&source.graph, &signature.places, &mut missing, None)?;
        missing.check()?;
        signature.find_slots(&code);
        let program = Program { source, code, fast: ForkMutex::new(None), signature, shared, converted: AtomicI32::new(0) };
        program.fold()?;
        Ok(program)
    }

    /// Folds constants.
    fn fold(&self) -> Result<()> {
        let _there = device::is_used().then(|| DeviceGuard::on(self.device(&[])));
        let mut folds = Folds::of(&self.source, &self.signature, &self.shared, self.conversion())?;
        let code = compile(&self.source.graph, &self.signature.places, &mut Missing::default(), Some(&mut folds))?;
        let fast = Fast { code, shared: folds.shared };
        *self.fast.lock() = Some(Arc::new(fast));
        Ok(())
    }

    /// Returns the graph with folded values. `None` if parameters may have changed, or if an input requires a gradient.
    fn fast(&self, inputs: &[&Tensor]) -> Result<Option<Arc<Fast>>> {
        if mode::flags() & mode::GRADIENTS != 0 {
            for t in inputs {
                if requires_gradient(t)? {
                    return Ok(None);
                }
            }
        }
        // Folded values are on the device of the parameters, or on the host.
        if device::is_used() && self.device(inputs) != self.device(&[]) {
            return Ok(None);
        }
        Ok(self.fast.lock().clone())
    }

    /// Returns the GPU of the parameters or the inputs, or the host.
    fn device(&self, inputs: &[&Tensor]) -> Device {
        let tensors = self.shared.iter().chain(inputs.iter().copied());
        tensors.map(|t| t.device()).find(|device| *device != Device::Cpu).unwrap_or(Device::Cpu)
    }

    /// Returns the dtype of floats at export, and the dtype that replaces it.
    fn conversion(&self) -> Option<(Dtype, Dtype)> {
        Dtype::from_code(self.converted.load(Ordering::Relaxed)).map(|to| (self.signature.float, to))
    }

    /// Runs the program.
    pub fn run(&self, outputs: &[&Tensor], inputs: &[&Tensor]) -> Result<()> {
        // Lists of a few entries are allocated infallibly.
        match alloc::provided(RUN_BYTES, || self.run_steps(outputs, inputs)) {
            Some((done, _)) => done,
            None => bail!(NoMem, "out of memory for a run: {RUN_BYTES} bytes could not be allocated"),
        }
    }

    fn run_steps(&self, outputs: &[&Tensor], inputs: &[&Tensor]) -> Result<()> {
        let signature = &self.signature;
        // Tensors that the graph makes of numbers are made there.
        let _there = device::is_used().then(|| DeviceGuard::on(self.device(inputs)));
        if outputs.len() != signature.outputs.len() {
            bail!(Argument, "{} output handles: expected {}", outputs.len(), signature.outputs.len())
        }
        let converted = self.conversion();
        signature.check(inputs, converted)?;
        let fast = self.fast(inputs)?;
        let (code, shared) = fast.as_ref().map_or((&self.code, &self.shared), |fast| (&fast.code, &fast.shared));
        let reuses = fast.is_some() || mode::flags() & mode::GRADIENTS == 0;
        let mut frame = Frame { slots: code.empty_slots()?, shared, converted, reuses };
        for (input, &t) in signature.inputs.iter().zip(inputs) {
            if let Some(slot) = input.slot {
                frame.slots[slot as usize] = input.item(t)?;
            }
        }
        let made = code.run(&mut frame)?;
        drop(frame);
        for mutation in &signature.mutations {
            let (k, target) = match *mutation {
                Mutation::Shared { output, index } => (output, &self.shared[index]),
                Mutation::Input { output, index } => (output, inputs[index]),
            };
            match &made[k] {
                Item::Tensor(t) => call::copy(target, t)?,
                other => bail!(Internal, "the new elements of a buffer are {}", other.kind()),
            }
        }
        let results = alloc::list(outputs.len(), |k| signature.outputs[k].tensor(&made))?;
        drop(made);
        for (r, t) in outputs.iter().zip(&results) {
            if let Some(t) = t {
                give(r, t)?;
            }
        }
        Ok(())
    }

    /// Moves the parameters, buffers and constants to a device, and converts tensors of the program's float dtype to `dtype`. The handles
    /// stay the same.
    pub fn convert(&self, device_type: THDeviceType, device_index: i32, dtype: Option<Dtype>) -> Result<()> {
        if dtype.is_some_and(|dtype| !dtype.is_float()) {
            bail!(Dtype, "a program cannot be converted to {}: expected a dtype of floats", dtype.map_or("none", Dtype::name))
        }
        let now = self.conversion().map_or(self.signature.float, |(_, to)| to);
        let mut made: Vec<Tensor> = Vec::new();
        for (k, t) in self.shared.iter().enumerate() {
            if requires_gradient(t)? {
                let name = self.signature.entries[k].name.to_string_lossy();
                bail!(Argument, "'{name}' requires a gradient: convert the program before THTensor_setRequiresGrad")
            }
            // Parameters that share elements share them afterwards, too.
            let same = |other: &&Tensor| {
                other.storage_address() == t.storage_address() && other.offset() == t.offset() && other.peek() == t.peek()
            };
            let twin = self.shared[..k].iter().position(|other| same(&other));
            let word = match twin {
                Some(twin) => direct::invoke(&names::newViewAs::FUNCTION, &[made[twin].as_ptr().word(), t.as_ptr().word()])?,
                None => {
                    let to = dtype.filter(|_| t.dtype() == Some(now)).map_or(TH_UNDEFINED, Dtype::code);
                    let words = [t.as_ptr().word(), device_type.word(), device_index.word(), to.word(), Word::ZERO, Word::ZERO];
                    direct::invoke(&names::newToDevice::FUNCTION, &words)?
                }
            };
            made.push(direct::returned(word)?);
        }
        // Memory for the dimensions of all handles is allocated before the first handle changes.
        let places = alloc::list(made.len(), |k| Ok((&self.shared[k], &made[k], self.shared[k].dims_memory(made[k].ndim())?)))?;
        for (t, made, memory) in places {
            if let (Some(storage), Some(dtype)) = (made.storage(), made.dtype()) {
                t.point_at(memory, storage, dtype, &made.layout()?);
            }
        }
        if let Some(dtype) = dtype {
            self.converted.store(if dtype == self.signature.float { 0 } else { dtype.code() }, Ordering::Relaxed);
        }
        if self.fast.lock().is_some() {
            // The program is already converted. Without memory for folded values it runs without them.
            let folded = alloc::provided(bytes_to_compile(&self.source), || self.fold());
            if !matches!(folded, Some((Ok(()), _))) {
                *self.fast.lock() = None;
            }
        }
        Ok(())
    }

    /// Returns the names of the tensors with a role.
    fn entries(&self, role: Role) -> impl Iterator<Item = &Entry> {
        self.signature.entries.iter().filter(move |entry| entry.role == role)
    }

    /// Returns the number of tensors with a role.
    pub fn count(&self, role: Role) -> i64 {
        self.entries(role).count() as i64
    }

    /// Returns the name of tensor `index` among those with a role.
    pub fn name(&self, role: Role, index: i64) -> Result<*const c_char> {
        match usize::try_from(index).ok().and_then(|index| self.entries(role).nth(index)) {
            Some(entry) => Ok(entry.name.as_ptr()),
            None => bail!(Argument, "{} {index}: the program has {}", role.name(), self.count(role)),
        }
    }

    /// Returns the parameter, buffer or constant with this name.
    pub fn shared(&self, role: Role, name: &CStr) -> Result<&Tensor> {
        let is = |entry: &Entry| entry.role == role && entry.name.as_c_str() == name;
        match self.signature.entries.iter().position(is) {
            Some(k) => {
                // The caller may change the tensor from now on.
                *self.fast.lock() = None;
                Ok(&self.shared[k])
            }
            None => Err(Error::new(Kind::Argument, format_args!("the program has no {} '{}'", role.name(), name.to_string_lossy()))),
        }
    }
}

/// Returns the number of bytes that the translation of a program to steps may allocate.
fn bytes_to_compile(source: &thorn_files::program::Program) -> usize {
    NODE_BYTES.saturating_mul(source.graph.nodes.len()).saturating_add(64 << 10)
}

/// Returns true for a tensor whose uses are recorded.
fn requires_gradient(t: &Tensor) -> Result<bool> {
    #[cfg(feature = "grad")]
    let required = crate::grad::functions::tensors::table::requiresGrad::FUNCTION.run(&[t.as_ptr().word()])?.bits() != 0;
    #[cfg(not(feature = "grad"))]
    let required = !t.attached().load(Ordering::Acquire).is_null();
    Ok(required)
}

/// Makes a result handle the result. A fresh handle shares the memory of the result. Another handle keeps its dtype, and receives a copy.
fn give(r: &Tensor, t: &Tensor) -> Result<()> {
    if r.dtype().is_none() {
        return call::view(r, t);
    }
    if mode::flags() & mode::GRADIENTS == 0 {
        return assign(r, t);
    }
    // A recorded copy, which starts a new history of the handle: `flip` along no dimension.
    direct::invoke(&names::flip::FUNCTION, &[r.as_ptr().word(), t.as_ptr().word(), Word::ZERO, Word::ZERO]).map(drop)
}

impl Place {
    fn shared(index: usize) -> Place {
        Place::Shared(index as u32)
    }
}
