//! The steps of a graph, and their execution.

use super::call::{Call, copy};
use super::direct::{Direct, Type};
use super::frame::{Frame, Item, Part, Place};
use crate::alloc;
use crate::device::{self, Device, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::layout::is_row_major;
use crate::ops::fused::Expressed;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// A graph that can run.
pub struct Code {
    /// The slot of each input, and the type of the input. `None` for an input that is no value of the run.
    pub inputs: Vec<Option<(u32, Type)>>,
    pub outputs: Vec<Place>,
    pub steps: Vec<Step>,
    /// The number of slots.
    pub slots: usize,
}

/// The call of an operator.
pub struct Step {
    pub action: Action,
    /// True if the first argument receives the result of the Rust function.
    pub stores: bool,
    pub results: Vec<Target>,
    /// The slots whose values are not used by later steps.
    pub frees: Vec<u32>,
    /// The slot of an operand that the call may overwrite if nothing else uses the operand.
    pub spare: Option<u32>,
    /// True if the operator changes an operand.
    pub changes: bool,
    /// The operator and the name of the first result, for messages.
    pub name: Box<str>,
}

/// The action of a step.
pub enum Action {
    Direct(Direct),
    Fused(Box<Fused>),
    Code(fn(&Call<'_>) -> Result<Item>, Vec<Place>),
    Same(Place),
    Nothing,
}

/// Several elementwise steps as one expression.
pub struct Fused {
    pub expressed: Expressed,
    /// The inputs of the expression.
    pub places: Vec<Place>,
    /// The steps, which run one by one if the expression refuses the dtypes of the inputs.
    pub members: Vec<Step>,
}

/// The destination of a result.
pub enum Target {
    None,
    Slot(u32, Expected),
    /// The destinations of a list.
    List(Vec<Target>),
}

/// The properties that the graph states of a result.
#[derive(Clone, Copy)]
pub struct Expected {
    pub dtype: Option<Dtype>,
    pub ndim: usize,
}

impl Code {
    /// Runs the graph. The values of the inputs are in their slots.
    pub fn run(&self, frame: &mut Frame<'_>) -> Result<Vec<Item>> {
        for step in &self.steps {
            step.run(frame).map_err(|error| Error::new(error.kind(), format_args!("{}: {}", step.name, error.message())))?;
        }
        alloc::list(self.outputs.len(), |k| Ok(frame.item(&self.outputs[k])))
    }

    /// Returns the slots of a run, without values.
    pub fn empty_slots(&self) -> Result<Vec<Item>> {
        alloc::list(self.slots, |_| Ok(Item::None))
    }
}

impl Part for Code {
    fn run_part(&self, outer: &Frame<'_>, inputs: &mut dyn Iterator<Item = Item>) -> Result<Vec<Item>> {
        let mut frame = Frame { slots: self.empty_slots()?, shared: outer.shared, converted: outer.converted, reuses: outer.reuses };
        for (slot, item) in self.inputs.iter().zip(inputs) {
            if let Some((slot, _)) = slot {
                frame.slots[*slot as usize] = item;
            }
        }
        self.run(&mut frame)
    }

    fn visit(&self, f: &mut dyn FnMut(&str, &str)) {
        for step in &self.steps {
            f(step.name.split(" '").next().unwrap_or_default(), &step.action.implementation());
            if let Action::Code(_, places) = &step.action {
                places.iter().for_each(|place| visit(place, f));
            }
        }
    }
}

/// Visits the parts of a graph among the arguments of a control-flow operator.
fn visit(place: &Place, f: &mut dyn FnMut(&str, &str)) {
    match place {
        Place::Constant(Item::Code(part)) => part.visit(f),
        Place::List(places) => places.iter().for_each(|place| visit(place, f)),
        _ => {}
    }
}

impl Action {
    /// Names the functions that compute the result, for descriptions.
    fn implementation(&self) -> String {
        match self {
            Action::Direct(direct) => format!("{}{}", direct.function.prefix, direct.function.signature.name()),
            Action::Code(..) | Action::Fused(_) => "several functions".to_owned(),
            Action::Same(_) => "the argument".to_owned(),
            Action::Nothing => "nothing".to_owned(),
        }
    }
}

impl Step {
    pub fn run(&self, frame: &mut Frame<'_>) -> Result<()> {
        let mut made: SmallVec<[Item; 2]> = SmallVec::new();
        match &self.action {
            Action::Direct(direct) => {
                let spare = self.spare.and_then(|slot| unused(frame, slot));
                direct.run(frame, spare.as_ref(), &mut made)?;
            }
            Action::Fused(fused) => {
                let spare = self.spare.and_then(|slot| unused(frame, slot));
                match fused.run(frame, spare)? {
                    Some(t) => made.push(Item::Tensor(t)),
                    None => return self.free(frame),
                }
            }
            Action::Code(code, places) => {
                let mut arguments: SmallVec<[Item; 8]> = SmallVec::new();
                arguments.extend(places.iter().map(|place| frame.item(place)));
                match (code(&Call::new(&arguments, frame, self.results.len()))?, arguments.first()) {
                    (Item::Tensor(t), Some(Item::Tensor(first))) if self.stores => {
                        copy(first, &t)?;
                        made.push(Item::Tensor(first.clone()));
                    }
                    (Item::List(items), _) if !matches!(self.results[..], [Target::List(_)]) => made.extend(items),
                    (item, _) => made.push(item),
                }
            }
            Action::Same(place) => made.push(frame.item(place)),
            Action::Nothing => {}
        }
        let mut made = made.into_iter();
        for target in &self.results {
            store(target, made.next().unwrap_or(Item::None), frame)?;
        }
        self.free(frame)
    }

    fn free(&self, frame: &mut Frame<'_>) -> Result<()> {
        for &slot in &self.frees {
            frame.slots[slot as usize] = Item::None;
        }
        Ok(())
    }
}

impl Fused {
    /// Returns the value of the expression. `None` if the members have computed and stored the value.
    fn run(&self, frame: &mut Frame<'_>, spare: Option<Tensor>) -> Result<Option<Tensor>> {
        let mut inputs: SmallVec<[&Tensor; 16]> = SmallVec::new();
        for place in &self.places {
            match frame.tensor(place)? {
                Some(t) => inputs.push(t),
                None => bail!(Internal, "a fused expression has no operand"),
            }
        }
        let r = spare.map_or_else(Tensor::fresh, Ok)?;
        let there = device::is_used().then(|| inputs.iter().map(|t| t.device()).find(|device| *device != Device::Cpu)).flatten();
        let _there = there.map(DeviceGuard::on);
        match self.expressed.run(&r, &inputs) {
            Ok(()) => Ok(Some(r)),
            Err(error) if error.kind() == Kind::Unsupported => {
                drop(inputs);
                self.members.iter().try_for_each(|step| step.run(frame))?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns a tensor that nothing except its slot refers to. Its elements may be overwritten.
fn unused(frame: &Frame<'_>, slot: u32) -> Option<Tensor> {
    match &frame.slots[slot as usize] {
        Item::Tensor(t) if frame.reuses && t.is_alone() && is_row_major(t.peek().0, t.peek().1) => Some(t.clone()),
        _ => None,
    }
}

fn store(target: &Target, item: Item, frame: &mut Frame<'_>) -> Result<()> {
    match target {
        Target::None => {}
        Target::Slot(slot, expected) => {
            if let Item::Tensor(t) = &item {
                check(t, *expected, frame)?;
            }
            frame.slots[*slot as usize] = item;
        }
        Target::List(targets) => {
            let Item::List(items) = item else { bail!(Internal, "the result is {}, and the graph expects a list", item.kind()) };
            if items.len() != targets.len() {
                bail!(Shape, "there are {} results, and the graph expects {}", items.len(), targets.len())
            }
            for (target, item) in targets.iter().zip(items) {
                store(target, item, frame)?;
            }
        }
    }
    Ok(())
}

/// Fails if a result does not have the dtype and the number of dimensions that the graph states. A result that differs would be a wrong
/// result.
fn check(t: &Tensor, expected: Expected, frame: &Frame<'_>) -> Result<()> {
    let Some(dtype) = expected.dtype else { return Ok(()) };
    let dtype = frame.dtype(dtype);
    if t.dtype() != Some(dtype) || t.ndim() != expected.ndim {
        let made = t.dtype().map_or("no dtype", Dtype::name);
        return Err(Error::new(
            Kind::Internal,
            format_args!(
                "the result has {made} and {} dimensions, and the graph states {} and {} dimensions",
                t.ndim(),
                dtype.name(),
                expected.ndim
            ),
        ));
    }
    Ok(())
}
