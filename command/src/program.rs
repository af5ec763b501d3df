//! The description of an exported program, as text and as JSON.

use crate::number::{self, counted};
use crate::source::Source;
use crate::stop::Result;
use crate::table::{self, Column, plain};
use serde::Serialize;
use std::io::Write;
use thorn::program::describe::{Description, Operator, Part, Port};

/// Writes the description of a program.
pub fn write_text(source: &Source, description: &Description, out: &mut dyn Write) -> Result<()> {
    let version = source.value("torch_version").map_or_else(String::new, |version| format!(" {}", plain(&version)));
    let calls = description.operators.iter().map(|operator| operator.calls).sum();
    let missing = description.operators.iter().filter(|operator| operator.by.is_err()).count();
    let missing = if missing == 0 { String::new() } else { format!(", {missing} missing") };
    let operators = counted(description.operators.len(), "operator");
    let name = plain(source.name());
    writeln!(out, "{name}: exported program of PyTorch{version}, {} of {operators}{missing}", counted(calls, "call"))?;
    write_ports("inputs", &description.inputs, out)?;
    write_ports("outputs", &description.outputs, out)?;
    let columns = [("tensors", false), ("count", true), ("elements", true), ("memory", true)];
    let row = |part: &Part| {
        let texts = [format!("{}s", part.role), part.tensors.to_string(), part.elements.to_string(), number::bytes(part.bytes)];
        (texts.to_vec(), String::new())
    };
    let rows: Vec<_> = description.parts.iter().filter(|part| part.tensors > 0).map(row).collect();
    write_table(&columns, &rows, out)?;
    let row = |operator: &Operator| {
        let by = operator.by.as_ref().map_or_else(|reason| plain(reason), String::clone);
        (vec![plain(&operator.name), operator.calls.to_string(), by], String::new())
    };
    let rows: Vec<_> = description.operators.iter().map(row).collect();
    write_table(&[("operators", false), ("calls", true), ("function", false)], &rows, out)
}

fn write_ports(title: &'static str, ports: &[Port], out: &mut dyn Write) -> Result<()> {
    let row = |port: &Port| {
        let dtype = port.dtype.map_or("-", |dtype| dtype.name());
        (vec![plain(&port.name), dtype.to_owned(), format!("[{}]", plain(&port.sizes.join(", ")))], String::new())
    };
    write_table(&[(title, false), ("dtype", false), ("shape", false)], &ports.iter().map(row).collect::<Vec<_>>(), out)
}

/// Writes a table, unless the table is empty.
fn write_table(columns: &[(&'static str, bool)], rows: &[(Vec<String>, String)], out: &mut dyn Write) -> Result<()> {
    let columns: Vec<Column> = columns.iter().map(|&(title, right)| Column { title, right }).collect();
    if rows.is_empty() { Ok(()) } else { Ok(table::write(out, &columns, rows)?) }
}

/// A program, as in JSON.
#[derive(Serialize)]
pub struct Json<'a> {
    inputs: Vec<JsonPort<'a>>,
    outputs: Vec<JsonPort<'a>>,
    parameters: JsonPart,
    buffers: JsonPart,
    constants: JsonPart,
    operators: Vec<JsonOperator<'a>>,
}

/// An input or an output, as in JSON.
#[derive(Serialize)]
struct JsonPort<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<&'a str>,
    /// Texts, because a size may be an expression.
    shape: &'a [String],
}

/// The tensors of one role, as in JSON.
#[derive(Default, Serialize)]
struct JsonPart {
    tensors: u64,
    elements: u64,
    bytes: u64,
}

/// An operator, as in JSON.
#[derive(Serialize)]
struct JsonOperator<'a> {
    name: &'a str,
    calls: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    /// The reason why thorn lacks the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'a str>,
}

impl<'a> Json<'a> {
    /// Returns the description for JSON.
    pub fn of(description: &'a Description) -> Json<'a> {
        let port = |port: &'a Port| JsonPort { name: &port.name, dtype: port.dtype.map(|dtype| dtype.name()), shape: &port.sizes };
        let part = |role: &str| {
            let found = description.parts.iter().find(|part| part.role == role);
            found.map_or_else(JsonPart::default, |part| JsonPart { tensors: part.tensors, elements: part.elements, bytes: part.bytes })
        };
        let operator = |operator: &'a Operator| JsonOperator {
            name: &operator.name,
            calls: operator.calls,
            by: operator.by.as_ref().ok().map(String::as_str),
            missing: operator.by.as_ref().err().map(String::as_str),
        };
        Json {
            inputs: description.inputs.iter().map(port).collect(),
            outputs: description.outputs.iter().map(port).collect(),
            parameters: part("parameter"),
            buffers: part("buffer"),
            constants: part("constant"),
            operators: description.operators.iter().map(operator).collect(),
        }
    }
}
