//! From the graph of a file to steps.

use super::aten::{lines, reason};
use super::code::{Action, Code, Expected, Step, Target};
use super::direct::{Direct, Type, Typed};
use super::fold::Folds;
use super::frame::{Frame, Item, Place, constant};
use super::fuse::fuse;
use super::node::{changes, dtype, functional, in_place, operator_name};
use super::table::{Body, Operator, note};
use crate::alloc;
use crate::error::{Error, Kind, Result, bail};
use std::fmt::Write;
use std::sync::Arc;
use thorn_files::program::{Argument, Graph, Meta, Node, Size, Symbolic};

/// Arguments of operators that have no effect here: the program has one device, and results have their own layout.
const IGNORED: &[&str] = &["layout", "device", "pin_memory", "non_blocking", "generator", "memory_format", "cudnn_enabled", "cudnn_enable"];

/// The operators of a graph that thorn lacks.
#[derive(Default)]
pub struct Missing(Vec<(String, usize, String)>);

impl Missing {
    fn add(&mut self, node: &Node, why: &str) {
        let name = node.target.trim_start_matches("torch.ops.");
        let first = || match node.source.is_empty() {
            true => result_name(node).to_owned(),
            false => format!("{} at {}", result_name(node), node.source),
        };
        let what = if why.is_empty() { name.to_owned() } else { format!("{name} ({why})") };
        match self.0.iter_mut().find(|(known, ..)| *known == what) {
            Some((_, count, _)) => *count += 1,
            None => self.0.push((what, 1, first())),
        }
    }

    /// Returns the operators: the name, the number of nodes, and the first of them.
    pub fn list(&self) -> impl Iterator<Item = (&str, usize, &str)> {
        self.0.iter().map(|(name, count, first)| (name.as_str(), *count, first.as_str()))
    }

    /// Fails if operators are missing, and names all of them.
    pub fn check(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for (name, count, first) in &self.0 {
            let separator = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{separator}{name} ({count} x, first {first})");
        }
        bail!(Unsupported, "the program has {} operators that thorn lacks: {text}", self.0.len())
    }
}

fn result_name(node: &Node) -> &str {
    match node.outputs.first() {
        Some(Argument::Tensor(name)) => name,
        Some(Argument::Int(Symbolic::Name(name)) | Argument::Float(Symbolic::Name(name)) | Argument::Bool(Symbolic::Name(name))) => name,
        Some(Argument::Tensors(names)) => names.iter().flatten().next().map_or("", String::as_str),
        _ => "",
    }
}

/// The values of a graph by their names.
type Names<'a> = Vec<(&'a str, Place, Type)>;

/// The translation of a graph.
struct Compiler<'a, 'm> {
    graph: &'a Graph,
    names: Names<'a>,
    slots: u32,
    /// For each slot, the number of its sizes and its dtype among `known`, from 1. 0 for a value that is no tensor.
    sizes: Vec<u32>,
    known: Vec<(i64, &'a [Size])>,
    missing: &'m mut Missing,
    /// True if an operator changes an operand. A view must then share the memory of its source.
    changes: bool,
    /// The values that are computed once; `None` if all values are computed in each run.
    folds: Option<&'m mut Folds<'a>>,
}

/// Returns the steps of a graph. `shared` has the place of each input that is no argument of a run.
pub fn compile<'a>(graph: &'a Graph, shared: &[Option<Place>], missing: &mut Missing, folds: Option<&mut Folds<'a>>) -> Result<Code> {
    let mut compiler = Compiler {
        graph,
        names: Names::new(),
        slots: 0,
        sizes: Vec::new(),
        known: Vec::new(),
        missing,
        changes: graph.nodes.iter().any(changes),
        folds,
    };
    let mut inputs = Vec::new();
    for (k, input) in graph.inputs.iter().enumerate() {
        inputs.push(compiler.input(input, shared.get(k).cloned().flatten()));
    }
    let mut steps = Vec::new();
    for (k, node) in graph.nodes.iter().enumerate() {
        steps.extend(compiler.step(k, node)?);
    }
    let mut outputs = Vec::new();
    for output in &graph.outputs {
        outputs.push(compiler.place(output)?.place);
    }
    if compiler.folds.is_some() {
        steps = fuse(steps, &compiler.sizes, &outputs);
    }
    let mut code = Code { inputs, outputs, steps, slots: compiler.slots as usize };
    code.free_early(&compiler.sizes);
    Ok(code)
}

impl<'a> Compiler<'a, '_> {
    fn define(&mut self, name: &'a str, place: Place, of: Type) {
        match self.names.binary_search_by(|(known, ..)| (*known).cmp(name)) {
            Ok(k) => self.names[k] = (name, place, of),
            Err(k) => self.names.insert(k, (name, place, of)),
        }
    }

    fn slot(&mut self, name: &'a str, of: Type) -> u32 {
        let slot = self.slots;
        self.slots += 1;
        let sizes = self.meta(name).map(|meta| (meta.dtype, meta.sizes.as_slice()));
        let number = sizes.map(|sizes| {
            let found = self.known.iter().position(|known| *known == sizes);
            found.unwrap_or_else(|| {
                self.known.push(sizes);
                self.known.len() - 1
            })
        });
        self.sizes.push(number.map_or(0, |number| number as u32 + 1));
        self.define(name, Place::Slot(slot), of);
        slot
    }

    fn meta(&self, name: &str) -> Option<&'a Meta> {
        let tensors = &self.graph.tensors;
        tensors.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok().map(|k| &tensors[k].1)
    }

    fn tensor_type(&self, name: &str) -> Type {
        Type::Tensor(self.meta(name).and_then(|meta| dtype(meta.dtype)))
    }

    /// Adds an input of the graph. Returns its slot if a run has its value.
    fn input(&mut self, input: &'a Argument, shared: Option<Place>) -> Option<(u32, Type)> {
        let (name, of) = match input {
            Argument::Tensor(name) => (name, self.tensor_type(name)),
            Argument::Int(Symbolic::Name(name)) => (name, Type::Int),
            Argument::Float(Symbolic::Name(name)) => (name, Type::Float),
            Argument::Bool(Symbolic::Name(name)) => (name, Type::Bool),
            _ => return None,
        };
        match shared {
            Some(place) => {
                self.define(name, place, of);
                None
            }
            None => Some((self.slot(name, of), of)),
        }
    }

    fn named(&self, name: &str) -> Result<Typed> {
        match self.names.binary_search_by(|(known, ..)| (*known).cmp(name)).ok().map(|k| &self.names[k]) {
            Some((_, place, of)) => Ok(Typed { place: place.clone(), of: *of }),
            None => bail!(Format, "the graph uses '{name}' before it is computed"),
        }
    }

    /// Returns the place of an argument.
    fn place(&mut self, argument: &'a Argument) -> Result<Typed> {
        fn number<T: Copy>(compiler: &Compiler<'_, '_>, number: &Symbolic<T>, item: fn(T) -> Item) -> Result<Typed> {
            match number {
                Symbolic::Number(x) => Ok(Typed::constant(item(*x))),
                Symbolic::Name(name) => compiler.named(name),
            }
        }
        fn numbers<T: Copy>(compiler: &Compiler<'_, '_>, list: &[Symbolic<T>], item: fn(T) -> Item) -> Result<Typed> {
            let places = list.iter().map(|x| number(compiler, x, item).map(|typed| typed.place)).collect::<Result<Vec<_>>>()?;
            Ok(Typed { place: Place::List(places), of: Type::List })
        }
        let constant = |item: Item| Ok(Typed::constant(item));
        match argument {
            Argument::None => constant(Item::None),
            Argument::Tensor(name) => self.named(name),
            Argument::Tensors(names) => {
                let place = |name: &Option<String>| match name {
                    Some(name) => self.named(name).map(|typed| typed.place),
                    None => Ok(Place::Constant(Item::None)),
                };
                Ok(Typed { place: Place::List(names.iter().map(place).collect::<Result<_>>()?), of: Type::List })
            }
            Argument::Int(x) => number(self, x, Item::Int),
            Argument::Float(x) => number(self, x, Item::Float),
            Argument::Bool(x) => number(self, x, Item::Bool),
            Argument::Ints(list) => numbers(self, list, Item::Int),
            Argument::Floats(list) => numbers(self, list, Item::Float),
            Argument::Bools(list) => constant(Item::List(list.iter().map(|&x| Item::Bool(x)).collect())),
            Argument::Text(text) => constant(Item::Text(text.as_str().into())),
            Argument::Texts(list) => constant(Item::List(list.iter().map(|text| Item::Text(text.as_str().into())).collect())),
            Argument::Dtype(code) => match dtype(*code) {
                Some(dtype) => constant(Item::Dtype(dtype)),
                None => Err(Error::new(Kind::Unsupported, format_args!("there is no dtype for ScalarType {code}"))),
            },
            Argument::MemoryFormat(code) => constant(Item::Int(*code)),
            Argument::Layout(_) | Argument::Device(..) => constant(Item::None),
            Argument::Graph(_, graph) => {
                let code = compile(graph, &[], self.missing, None)?;
                constant(Item::Code(Arc::new(code)))
            }
            Argument::Other(kind) => Err(Error::new(Kind::Unsupported, format_args!("an argument of the kind {kind}"))),
        }
    }

    /// Returns the step of a node. `None` for an operator that is missing.
    fn step(&mut self, k: usize, node: &'a Node) -> Result<Option<Step>> {
        if self.folds.as_ref().is_some_and(|folds| folds.is_absorbed(k)) {
            return Ok(None);
        }
        let mut arguments = Vec::new();
        for (name, argument) in &node.inputs {
            match self.place(argument) {
                Ok(typed) => arguments.push((name.as_str(), typed)),
                Err(error) if error.kind() == Kind::Unsupported => {
                    self.missing.add(node, error.message());
                    self.results(&node.outputs);
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
        let mut outputs = node.outputs.as_slice();
        if let Some(convolution) = self.folds.as_ref().and_then(|folds| folds.convolution(k)) {
            let of = Type::Tensor(None);
            let (weight, bias) = (Place::Shared(convolution.weight), Place::Shared(convolution.bias));
            arguments.retain(|(name, _)| !matches!(*name, "weight" | "bias"));
            arguments.extend([("weight", Typed { place: weight, of }), ("bias", Typed { place: bias, of })]);
            outputs = std::slice::from_ref(convolution.result);
        }
        let action = self.action(node, &arguments)?;
        let results = self.results(outputs);
        let Some((action, target, stores)) = action else { return Ok(None) };
        let name = format!("{target} '{}'", result_name(node)).into();
        let step = Step { action, stores, results, frees: Vec::new(), spare: None, changes: changes(node), name };
        if self.folded(node, &step)? {
            return Ok(None);
        }
        Ok(Some(step))
    }

    /// Returns the action of a node, the name of its operator, and true if the first argument receives the result.
    fn action(&mut self, node: &Node, arguments: &[(&str, Typed)]) -> Result<Option<(Action, String, bool)>> {
        let mut name = operator_name(&node.target);
        if self.changes && name == "view" {
            name = "_view_of_written".to_owned();
        }
        let functional = functional(&name);
        let own = lines(&name).map(|line| (line, false));
        let candidates: Vec<_> = own.chain(functional.iter().flat_map(|name| lines(name)).map(|line| (line, true))).collect();
        let results = match node.outputs.as_slice() {
            [Argument::Tensors(list)] => list.len(),
            outputs => outputs.len(),
        };
        if candidates.is_empty() {
            self.missing.add(node, reason(&name));
            return Ok(None);
        }
        for converts in [false, true] {
            for &(line, stores) in &candidates {
                let Some(schema) = bound(line, arguments) else { continue };
                if let Some(action) = action(line, &schema, in_place(&name), results, converts)? {
                    note(line);
                    let stores = stores && matches!(line.body, Body::Code(_));
                    return Ok(Some((action, name, stores)));
                }
            }
        }
        let given: Vec<String> = arguments.iter().map(|(name, typed)| format!("{name}: {:?}", typed.of)).collect();
        self.missing.add(node, &format!("with the arguments {}", given.join(", ")));
        Ok(None)
    }

    /// Computes the results of a step that depends on constants only. Returns false for other steps.
    fn folded(&mut self, node: &'a Node, step: &Step) -> Result<bool> {
        let Some(folds) = &mut self.folds else { return Ok(false) };
        let mut fixed = true;
        step.places(&mut |place| place.slots(&mut |_| fixed = false));
        if !fixed || !folds.may_fold(node) {
            return Ok(false);
        }
        let mut frame = Frame {
            slots: alloc::list(self.slots as usize, |_| Ok(Item::None))?,
            shared: &folds.shared,
            converted: folds.converted,
            reuses: false,
        };
        // A step that fails, fails in each run.
        if step.run(&mut frame).is_err() {
            return Ok(false);
        }
        let mut values = Vec::new();
        for target in &step.results {
            target.slots(&mut |slot| values.push((slot, frame.slots[slot as usize].clone())));
        }
        drop(frame);
        if !values.iter().all(|(_, item)| !matches!(item, Item::Tensor(t) if !folds.is_worth(t))) {
            return Ok(false);
        }
        for (slot, item) in values {
            let place = match item {
                Item::Tensor(t) => {
                    folds.shared.push(t);
                    Place::Shared(folds.shared.len() as u32 - 1)
                }
                item => Place::Constant(item),
            };
            self.names
                .iter_mut()
                .filter(|(_, known, _)| matches!(known, Place::Slot(known) if *known == slot))
                .for_each(|name| name.1 = place.clone());
        }
        Ok(true)
    }

    /// Makes slots for the results of a node.
    fn results(&mut self, outputs: &'a [Argument]) -> Vec<Target> {
        outputs
            .iter()
            .map(|output| match output {
                Argument::Tensor(name) => self.result(name),
                Argument::Tensors(names) => {
                    Target::List(names.iter().map(|name| name.as_ref().map_or(Target::None, |name| self.result(name))).collect())
                }
                Argument::Int(Symbolic::Name(name)) => Target::Slot(self.slot(name, Type::Int), Expected { dtype: None, ndim: 0 }),
                Argument::Float(Symbolic::Name(name)) => Target::Slot(self.slot(name, Type::Float), Expected { dtype: None, ndim: 0 }),
                Argument::Bool(Symbolic::Name(name)) => Target::Slot(self.slot(name, Type::Bool), Expected { dtype: None, ndim: 0 }),
                _ => Target::None,
            })
            .collect()
    }

    fn result(&mut self, name: &'a str) -> Target {
        if name.is_empty() {
            return Target::None;
        }
        let meta = self.meta(name);
        let expected = Expected { dtype: meta.and_then(|meta| dtype(meta.dtype)), ndim: meta.map_or(0, |meta| meta.sizes.len()) };
        Target::Slot(self.slot(name, Type::Tensor(expected.dtype)), expected)
    }
}

/// Returns the arguments of a line, with defaults for arguments that are not given. `None` if an argument is unknown or missing.
fn bound(line: &'static Operator, arguments: &[(&str, Typed)]) -> Option<Vec<(&'static str, Typed)>> {
    let mut positional = arguments.iter().filter(|(name, _)| name.is_empty());
    let mut used = 0;
    let schema = line.arguments().map(|(name, default)| {
        if let Some(name) = name.strip_prefix('*') {
            // All arguments that follow.
            let rest: Vec<Place> = positional.by_ref().map(|(_, typed)| typed.place.clone()).collect();
            used += rest.len();
            return Some((name, Typed { place: Place::List(rest), of: Type::List }));
        }
        let given = arguments.iter().find(|(given, _)| *given == name);
        // In-place operators name their first argument differently.
        let given = given.or_else(|| arguments.first().filter(|(first, _)| *first == "self" && name == "input"));
        let given = given.or_else(|| positional.next());
        // `name==default`: the line is for this value only.
        let (fixed, default) = match default.and_then(|default| default.strip_prefix('=')) {
            Some(default) => (true, Some(default)),
            None => (false, default),
        };
        match (given, default) {
            (Some((_, typed)), default) => {
                used += 1;
                if fixed && !default.is_some_and(|default| equals(typed, default)) {
                    return None;
                }
                match (&typed.place, default) {
                    (Place::Constant(Item::None), Some(default)) => Some((name, Typed::constant(constant(default)))),
                    _ => Some((name, Typed { place: typed.place.clone(), of: typed.of })),
                }
            }
            (None, Some(default)) => Some((name, Typed::constant(constant(default)))),
            (None, None) => None,
        }
    });
    let schema = schema.collect::<Option<Vec<_>>>()?;
    let ignored = arguments.iter().filter(|(name, _)| IGNORED.contains(name) && !schema.iter().any(|(known, _)| known == name)).count();
    (used + ignored == arguments.len()).then_some(schema)
}

/// Returns true if an argument is the constant of a text.
fn equals(typed: &Typed, text: &str) -> bool {
    match (&typed.place, constant(text)) {
        (Place::Constant(Item::Text(given)), _) => **given == *text,
        (Place::Constant(Item::None), Item::None) => text == "None",
        (Place::Constant(given), constant) => given.number().is_some() && given.number() == constant.number(),
        _ => false,
    }
}

fn action(
    line: &'static Operator,
    schema: &[(&'static str, Typed)],
    in_place: bool,
    results: usize,
    converts: bool,
) -> Result<Option<Action>> {
    let places = || schema.iter().map(|(_, typed)| typed.place.clone()).collect();
    Ok(match &line.body {
        Body::Function(function) => Direct::prepare(function, line.map(), schema, in_place, results, converts)?.map(Action::Direct),
        Body::Code(code) => Some(Action::Code(*code, places())),
        Body::Same => schema.first().map(|(_, typed)| Action::Same(typed.place.clone())),
        Body::Nothing => Some(Action::Nothing),
    })
}

impl Code {
    /// Notes for each step the slots that no later step uses. Notes for an elementwise step the operand that its result may overwrite: an
    /// operand with the sizes and the dtype of the result that no later step uses.
    fn free_early(&mut self, sizes: &[u32]) {
        let mut last = vec![usize::MAX; self.slots];
        for (k, step) in self.steps.iter().enumerate() {
            step.places(&mut |place| place.slots(&mut |slot| last[slot as usize] = k));
            // A result that is never used is freed at once.
            step.results.iter().for_each(|target| target.slots(&mut |slot| last[slot as usize] = k));
        }
        for output in &self.outputs {
            output.slots(&mut |slot| last[slot as usize] = usize::MAX);
        }
        for (slot, &k) in last.iter().enumerate() {
            if let Some(step) = self.steps.get_mut(k) {
                step.frees.push(slot as u32);
            }
        }
        for (k, step) in self.steps.iter_mut().enumerate() {
            let is_elementwise = match &step.action {
                Action::Direct(direct) => direct.is_elementwise(),
                Action::Fused(_) => true,
                _ => false,
            };
            let [Target::Slot(result, _)] = step.results[..] else { continue };
            let same = |slot: u32| sizes[slot as usize] == sizes[result as usize] && sizes[slot as usize] != 0;
            let mut spare = None;
            if is_elementwise {
                step.places(&mut |place| {
                    if let Place::Slot(slot) = *place
                        && spare.is_none()
                        && last[slot as usize] == k
                        && same(slot)
                    {
                        spare = Some(slot);
                    }
                });
            }
            step.spare = spare;
        }
    }
}

impl Step {
    /// Calls `f` with each place that the step reads.
    pub fn places(&self, f: &mut impl FnMut(&Place)) {
        match &self.action {
            Action::Direct(direct) => direct.places(f),
            Action::Fused(fused) => fused.places.iter().for_each(&mut *f),
            Action::Code(_, places) => places.iter().for_each(&mut *f),
            Action::Same(place) => f(place),
            Action::Nothing => {}
        }
    }
}

impl Target {
    fn slots(&self, f: &mut impl FnMut(u32)) {
        match self {
            Target::None => {}
            Target::Slot(slot, _) => f(*slot),
            Target::List(targets) => targets.iter().for_each(|target| target.slots(f)),
        }
    }
}
