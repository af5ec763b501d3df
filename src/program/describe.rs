//! The description of a program: its inputs, outputs, tensors and operators. A program with operators that thorn lacks has one, too.

use super::Program;
use super::compile::{Missing, compile};
use super::frame::Part as _;
use super::node::operator_name;
use super::signature::{Role, Signature, Value};
use super::sizes::text;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::files::{Memory, Reading};
use std::ffi::CStr;

/// The description of a program.
pub struct Description {
    /// The arguments of a run.
    pub inputs: Vec<Port>,
    /// The results of a run.
    pub outputs: Vec<Port>,
    /// The tensors of the program by their role.
    pub parts: Vec<Part>,
    /// The operators: the most frequent one first, and operators that thorn lacks before all others.
    pub operators: Vec<Operator>,
}

/// An argument or a result of a run.
pub struct Port {
    /// The name.
    pub name: String,
    /// The dtype. `None` for a result that is no tensor, or for a dtype that thorn lacks.
    pub dtype: Option<Dtype>,
    /// The sizes: `8`, or an expression of symbols with its range, `s0 1..64`.
    pub sizes: Vec<String>,
}

/// The tensors of a program with one role.
pub struct Part {
    /// The role: `parameter`, `buffer` or `constant`.
    pub role: &'static str,
    /// The number of tensors.
    pub tensors: u64,
    /// The number of elements.
    pub elements: u64,
    /// The bytes of the elements in memory.
    pub bytes: u64,
}

/// The calls of an operator in the graph and in its parts for control flow.
pub struct Operator {
    /// The name: `add.Tensor`.
    pub name: String,
    /// The number of calls.
    pub calls: usize,
    /// The implementation: the name of a function in C, a text if there is none; or the reason why thorn lacks the operator.
    pub by: std::result::Result<String, String>,
}

impl Description {
    /// Describes the program in a file.
    pub fn open(path: &CStr) -> Result<Description> {
        let (reading, program) = Reading::open_program(path)?;
        Description::of(&reading, &program)
    }

    /// Describes the program in a file in memory.
    pub fn of_memory(memory: Memory) -> Result<Description> {
        let (reading, program) = Reading::program_of_memory(memory)?;
        Description::of(&reading, &program)
    }

    fn of(reading: &Reading, program: &thorn_files::program::Program) -> Result<Description> {
        let signature = Signature::of(program, reading)?;
        let mut missing = Missing::default();
        let code = compile(&program.graph, &signature.places, &mut missing, None)?;
        let mut operators = Vec::new();
        code.visit(&mut |name, by| match operators
            .iter_mut()
            .find(|operator: &&mut Operator| operator.name == name && operator.by.as_deref() == Ok(by))
        {
            Some(operator) => operator.calls += 1,
            None => operators.push(Operator { name: name.to_owned(), calls: 1, by: Ok(by.to_owned()) }),
        });
        operators.extend(missing.list().map(|(name, calls, first)| {
            let (name, why) =
                name.split_once(" (").map_or((name, String::new()), |(name, why)| (name, format!(" {}", why.trim_end_matches(')'))));
            Operator { name: operator_name(name), calls, by: Err(format!("missing{why}, first {first}")) }
        }));
        operators.sort_by(|a, b| (a.by.is_ok(), b.calls, &a.name).cmp(&(b.by.is_ok(), a.calls, &b.name)));
        let parts = [Role::Parameter, Role::Buffer, Role::Constant].map(|role| part(reading, &signature, role)).into_iter();
        Ok(Description {
            inputs: signature.inputs.iter().map(port).collect(),
            outputs: signature.outputs.iter().map(port).collect(),
            parts: parts.collect::<Result<_>>()?,
            operators,
        })
    }
}

fn port(value: &Value) -> Port {
    let size = |k: usize| {
        let text = value.size(k).map_or_else(|| "?".to_owned(), |expression| text(&expression));
        match (value.minimum[k], value.maximum[k]) {
            (least, most) if least == most => text,
            (least, i64::MAX) => format!("{text} {least}.."),
            (least, most) => format!("{text} {least}..{most}"),
        }
    };
    Port { name: value.name.to_string_lossy().into_owned(), dtype: value.dtype, sizes: (0..value.ndim()).map(size).collect() }
}

fn part(reading: &Reading, signature: &Signature, role: Role) -> Result<Part> {
    let mut part = Part { role: role.name(), tensors: 0, elements: 0, bytes: 0 };
    for entry in signature.entries.iter().filter(|entry| entry.role == role) {
        let index = reading.found(&entry.name)?;
        let elements = reading.sizes(index)?.iter().fold(1u64, |product, &size| product.saturating_mul(size as u64));
        let size = reading.dtype(index).map_or(0, Dtype::size) as u64;
        part.tensors += 1;
        part.elements = part.elements.saturating_add(elements);
        part.bytes = part.bytes.saturating_add(elements.saturating_mul(size));
    }
    Ok(part)
}

impl Program {
    /// Returns the names of the inputs.
    pub fn input_names(&self) -> impl Iterator<Item = &CStr> {
        self.signature.inputs.iter().map(|value| value.name.as_c_str())
    }

    /// Returns the names of the outputs.
    pub fn output_names(&self) -> impl Iterator<Item = &CStr> {
        self.signature.outputs.iter().map(|value| value.name.as_c_str())
    }
}
