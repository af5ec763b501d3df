//! The inputs and outputs of a program: names, dtypes, sizes, and the checks of a run.

use super::code::Code;
use super::direct::returned;
use super::frame::{Item, Place};
use super::node::dtype;
use super::sizes::{Expression, Symbols, parse, text};
use crate::api::word::ToWord;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::expr::names;
use crate::files::Reading;
use crate::tensor::Tensor;
use std::ffi::CString;
use thorn_files::program::{Argument, Input, Meta, Output, Program, Size, Symbolic};

/// The inputs and outputs of a program.
pub struct Signature {
    pub inputs: Vec<Value>,
    pub outputs: Vec<Value>,
    /// The parameters, buffers and constants.
    pub entries: Vec<Entry>,
    /// For each input of the graph, the parameter, buffer or constant. `None` for an argument of a run.
    pub places: Vec<Option<Place>>,
    pub mutations: Vec<Mutation>,
    /// The ranges of expressions: the text, the expression, the bounds.
    ranges: Vec<Bounds>,
    /// The dtype of the floats of the program.
    pub float: Dtype,
    pub metadata: Vec<(CString, CString)>,
}

/// The role of a tensor that belongs to the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    Parameter,
    Buffer,
    Constant,
}

/// A tensor that belongs to the program.
pub struct Entry {
    pub name: CString,
    pub role: Role,
}

/// A write to a tensor at the end of a run.
pub enum Mutation {
    /// Output `output` of the graph has the new elements of the parameter, buffer or constant `index`.
    Shared { output: usize, index: usize },
    /// Output `output` of the graph has the new elements of input `index` of the run.
    Input { output: usize, index: usize },
}

/// An argument or a result of a run.
pub struct Value {
    pub name: CString,
    /// `None` if the value is no tensor, or has a dtype that thorn lacks.
    pub dtype: Option<Dtype>,
    /// The smallest and the largest size of each dimension.
    pub minimum: Vec<i64>,
    pub maximum: Vec<i64>,
    sizes: Vec<Dim>,
    /// The slot of an input.
    pub slot: Option<u32>,
    /// The index among the inputs or the outputs of the graph.
    place: usize,
    kind: Number,
}

/// A value that is a number or a tensor.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Tensor,
    Int,
    Float,
    Bool,
    None,
}

enum Dim {
    Number(i64),
    Symbolic(Expression, Box<str>),
    Unknown,
}

struct Bounds {
    text: Box<str>,
    expression: Expression,
    min: Option<i64>,
    max: Option<i64>,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Parameter => "parameter",
            Role::Buffer => "buffer",
            Role::Constant => "constant",
        }
    }
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(Kind::Format, format_args!("a name contains a byte of 0")))
}

impl Signature {
    pub fn of(program: &Program, reading: &Reading) -> Result<Signature> {
        let mut ranges = Vec::new();
        for range in &program.ranges {
            if let Some(expression) = parse(&range.symbol) {
                ranges.push(Bounds { text: text(&expression).into(), expression, min: range.min, max: range.max });
            }
        }
        let metadata = (0..reading.keys())
            .map(|k| reading.metadata(k).map(|(key, value)| (key.to_owned(), value.to_owned())))
            .collect::<Result<Vec<_>>>()?;
        let mut signature = Signature {
            inputs: Vec::new(),
            outputs: Vec::new(),
            entries: Vec::new(),
            places: Vec::new(),
            mutations: Vec::new(),
            ranges,
            float: Dtype::Float32,
            metadata,
        };
        let mut names = Vec::new();
        for (input, argument) in program.inputs.iter().zip(&program.graph.inputs) {
            let (role, name) = match input {
                Input::User => {
                    let is_value = !matches!(
                        argument,
                        Argument::None
                            | Argument::Int(Symbolic::Number(_))
                            | Argument::Float(Symbolic::Number(_))
                            | Argument::Bool(Symbolic::Number(_))
                            | Argument::Text(_)
                    );
                    if is_value {
                        let mut value = signature.value(program, argument, None)?;
                        value.place = signature.places.len();
                        names.push(value_name(argument));
                        signature.inputs.push(value);
                    }
                    signature.places.push(None);
                    continue;
                }
                Input::Parameter(name) => (Role::Parameter, name),
                Input::Buffer { name, .. } => (Role::Buffer, name),
                Input::Constant(name) => (Role::Constant, name),
                Input::Fixed(_) => {
                    signature.places.push(None);
                    continue;
                }
                Input::Other(role) => bail!(Unsupported, "an input of the program is a {role}"),
            };
            signature.places.push(Some(Place::shared(signature.entries.len())));
            signature.entries.push(Entry { name: c_string(name)?, role });
        }
        for (k, (output, argument)) in program.outputs.iter().zip(&program.graph.outputs).enumerate() {
            match output {
                Output::User => {
                    let name = program.output_names.get(signature.outputs.len()).filter(|name| !name.is_empty());
                    let mut value = signature.value(program, argument, name.map(String::as_str))?;
                    value.place = k;
                    signature.outputs.push(value);
                }
                Output::Mutation(name) => {
                    let found = signature.entries.iter().position(|entry| entry.name.to_bytes() == name.as_bytes());
                    let Some(index) = found else { bail!(Format, "an output is the new '{name}', which is no parameter or buffer") };
                    signature.mutations.push(Mutation::Shared { output: k, index });
                }
                Output::InputMutation(name) => {
                    let Some(index) = names.iter().position(|known| known == name) else {
                        bail!(Format, "an output is the new '{name}', which is no input")
                    };
                    signature.mutations.push(Mutation::Input { output: k, index });
                }
                Output::Other(role) if role == "token" => {}
                Output::Other(role) => bail!(Unsupported, "an output of the program is a {role}"),
            }
        }
        let floats = program.graph.tensors.iter().filter_map(|(_, meta)| dtype(meta.dtype).filter(|dtype| dtype.is_float()));
        signature.float = signature.most_common(floats);
        Ok(signature)
    }

    /// Stores the slot of each input.
    pub fn find_slots(&mut self, code: &Code) {
        for input in &mut self.inputs {
            input.slot = code.inputs.get(input.place).copied().flatten().map(|(slot, _)| slot);
        }
    }

    /// Returns true if a run changes tensor `index` of the program at its end.
    pub fn changes(&self, index: usize) -> bool {
        self.mutations.iter().any(|mutation| matches!(mutation, Mutation::Shared { index: changed, .. } if *changed == index))
    }

    fn most_common(&self, floats: impl Iterator<Item = Dtype>) -> Dtype {
        let mut counts = [(Dtype::Float32, 0), (Dtype::Float64, 0), (Dtype::Float16, 0), (Dtype::Bfloat16, 0)];
        for float in floats {
            counts.iter_mut().filter(|(dtype, _)| *dtype == float).for_each(|(_, count)| *count += 1);
        }
        // The first of several maxima.
        counts.iter().rev().max_by_key(|(_, count)| *count).map_or(Dtype::Float32, |(dtype, _)| *dtype)
    }

    fn value(&self, program: &Program, argument: &Argument, name: Option<&str>) -> Result<Value> {
        let name = c_string(name.unwrap_or(&value_name(argument)))?;
        let (kind, dtype) = match argument {
            Argument::Tensor(_) => (Number::Tensor, None),
            Argument::Int(_) => (Number::Int, Some(Dtype::Int64)),
            Argument::Float(_) => (Number::Float, Some(Dtype::Float64)),
            Argument::Bool(_) => (Number::Bool, Some(Dtype::Bool)),
            Argument::None => (Number::None, None),
            _ => bail!(Unsupported, "'{}' of the program is neither a tensor nor a number", name.to_string_lossy()),
        };
        let mut value = Value { name, dtype, minimum: Vec::new(), maximum: Vec::new(), sizes: Vec::new(), slot: None, place: 0, kind };
        if let Argument::Tensor(name) = argument {
            let tensors = &program.graph.tensors;
            let found = tensors.binary_search_by(|(known, _)| known.as_str().cmp(name));
            let Ok(at) = found else { bail!(Format, "the graph does not describe the tensor '{name}'") };
            self.describe(&mut value, &tensors[at].1);
        }
        Ok(value)
    }

    fn describe(&self, value: &mut Value, meta: &Meta) {
        value.dtype = dtype(meta.dtype);
        for size in &meta.sizes {
            let (dim, least, most) = match size {
                Size::Int(x) => (Dim::Number(*x), *x, *x),
                Size::Expression(given) => match parse(given) {
                    Some(expression) => {
                        let (least, most) = self.bounds(&expression);
                        let name = text(&expression).into();
                        (Dim::Symbolic(expression, name), least, most)
                    }
                    None => (Dim::Unknown, 0, i64::MAX),
                },
            };
            value.sizes.push(dim);
            value.minimum.push(least);
            value.maximum.push(most);
        }
    }

    /// Returns the smallest and the largest value of an expression, as far as its symbols have bounds and the expression grows with each.
    fn bounds(&self, expression: &Expression) -> (i64, i64) {
        if let Some(bounds) = self.ranges.iter().find(|bounds| bounds.expression == *expression) {
            return (bounds.min.unwrap_or(0), bounds.max.unwrap_or(i64::MAX));
        }
        let at = |bound: fn(&Bounds) -> Option<i64>| {
            let mut symbols = Symbols::default();
            for bounds in &self.ranges {
                if let (Expression::Symbol(name), Some(x)) = (&bounds.expression, bound(bounds)) {
                    symbols.set(name, x);
                }
            }
            expression.value(&symbols)
        };
        let (least, most) = (at(|bounds| bounds.min), at(|bounds| bounds.max));
        match (least, most) {
            (Some(least), Some(most)) if least <= most => (least, most),
            (Some(least), None) => (least, i64::MAX),
            _ => (0, i64::MAX),
        }
    }

    /// Fails unless the inputs have the dtypes and sizes that the program was exported for.
    pub fn check(&self, inputs: &[&Tensor], converted: Option<(Dtype, Dtype)>) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            bail!(Argument, "{} inputs: expected {}", inputs.len(), self.inputs.len())
        }
        let mut symbols = Symbols::default();
        let mut later = Vec::new();
        for (value, &t) in self.inputs.iter().zip(inputs) {
            let name = value.name.to_string_lossy();
            let dtype = match (value.dtype, converted) {
                (Some(dtype), Some((from, to))) if dtype == from => Some(to),
                (dtype, _) => dtype,
            };
            let given = t.defined()?;
            if dtype.is_some_and(|dtype| dtype != given) {
                bail!(Dtype, "input '{name}' has dtype {given}, expected {}", dtype.map_or("none", Dtype::name))
            }
            let shape = t.layout()?.shape;
            if shape.len() != value.sizes.len() {
                bail!(Shape, "input '{name}' has {} dimensions, expected {}", shape.len(), value.sizes.len())
            }
            for (k, (dim, &size)) in value.sizes.iter().zip(&shape).enumerate() {
                match dim {
                    Dim::Number(expected) if *expected != size => {
                        bail!(Shape, "input '{name}': size {size} of dimension {k}, expected {expected}")
                    }
                    Dim::Symbolic(Expression::Symbol(symbol), _) if symbols.get(symbol).is_none() => {
                        symbols.set(symbol, size);
                    }
                    Dim::Symbolic(expression, text) => later.push((&value.name, k, size, expression, text)),
                    _ => {}
                }
            }
        }
        for &(name, k, size, expression, text) in &later {
            let fits = expression.solve(size, &mut symbols);
            if !fits || expression.value(&symbols).is_some_and(|expected| expected != size) {
                let known = self.known(&symbols);
                bail!(Shape, "input '{}': size {size} of dimension {k} is not {text}{known}", name.to_string_lossy())
            }
        }
        self.check_ranges(&symbols, inputs)
    }

    fn check_ranges(&self, symbols: &Symbols, inputs: &[&Tensor]) -> Result<()> {
        for bounds in &self.ranges {
            let Some(x) = bounds.expression.value(symbols) else { continue };
            // A minimum up to 2 is PyTorch's assumption at export, and no requirement.
            let least = bounds.min.filter(|&min| min > 2);
            if least.is_none_or(|min| x >= min) && bounds.max.is_none_or(|max| x <= max) {
                continue;
            }
            let whose = self.inputs.iter().zip(inputs).find_map(|(value, _)| {
                let k =
                    value.sizes.iter().position(|dim| matches!(dim, Dim::Symbolic(expression, _) if *expression == bounds.expression))?;
                Some(format!("input '{}': size {x} of dimension {k}", value.name.to_string_lossy()))
            });
            let whose = whose.unwrap_or_else(|| format!("{} = {x}", bounds.text));
            let (min, max) = (bounds.min.unwrap_or(0), bounds.max.map_or("any number".to_owned(), |max| max.to_string()));
            bail!(Shape, "{whose} is out of range: {} is {min} to {max}", bounds.text)
        }
        Ok(())
    }

    /// Returns the values of symbols as text: ` for s0 = 3, s1 = 4`.
    fn known(&self, symbols: &Symbols) -> String {
        let list: Vec<String> = symbols.all().iter().map(|(name, x)| format!("{name} = {x}")).collect();
        if list.is_empty() { String::new() } else { format!(" for {}", list.join(", ")) }
    }
}

/// Returns the name of a value in the graph.
fn value_name(argument: &Argument) -> String {
    match argument {
        Argument::Tensor(name) => name.clone(),
        Argument::Int(Symbolic::Name(name)) | Argument::Float(Symbolic::Name(name)) | Argument::Bool(Symbolic::Name(name)) => name.clone(),
        _ => String::new(),
    }
}

impl Value {
    /// Returns the value of an input for the run.
    pub fn item(&self, t: &Tensor) -> Result<Item> {
        let number = |function: &'static crate::api::function::Function| function.run(&[t.as_ptr().word()]);
        Ok(match self.kind {
            Number::Tensor | Number::None => Item::Tensor(t.clone()),
            Number::Int => Item::Int(number(&names::itemLong::FUNCTION)?.bits() as i64),
            Number::Float => Item::Float(f64::from_bits(number(&names::item::FUNCTION)?.bits())),
            Number::Bool => Item::Bool(number(&names::itemLong::FUNCTION)?.bits() != 0),
        })
    }

    /// Returns an output of a run as a tensor: 0-d for a number. `None` if the program returns nothing here.
    pub fn tensor(&self, made: &[Item]) -> Result<Option<Tensor>> {
        let scalar = |dtype: Dtype, x: f64| returned(names::newScalar::FUNCTION.run(&[dtype.code().word(), x.word()])?).map(Some);
        match &made[self.place] {
            Item::Tensor(t) => Ok(Some(t.clone())),
            Item::Int(x) => returned(names::newScalarLong::FUNCTION.run(&[Dtype::Int64.code().word(), x.word()])?).map(Some),
            Item::Float(x) => scalar(Dtype::Float64, *x),
            Item::Bool(x) => scalar(Dtype::Bool, f64::from(u8::from(*x))),
            Item::None => Ok(None),
            other => bail!(Internal, "an output is {}", other.kind()),
        }
    }

    /// Returns the number of dimensions.
    pub fn ndim(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the size of dimension `k`: a number, or an expression of symbols. `None` if the expression cannot be read.
    pub fn size(&self, k: usize) -> Option<Expression> {
        match &self.sizes[k] {
            Dim::Number(x) => Some(Expression::Number(*x)),
            Dim::Symbolic(expression, _) => Some(expression.clone()),
            Dim::Unknown => None,
        }
    }
}
