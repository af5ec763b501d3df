//! `thorn show`.

use crate::elements::{Elements, Values};
use crate::number::{self, Number, counted};
use crate::program;
use crate::progress::Progress;
use crate::source::{Entry, Source, total};
use crate::stop::{Outcome, Result, Stop, warn};
use crate::summary::Summary;
use crate::table::{self, Column, cut, plain};
use serde::{Serialize, Serializer};
use std::ffi::OsString;
use std::io::Write;
use thorn::dtype::Dtype;
use thorn::ops::print;
use thorn::print::{THPrintOptions, default_options};
use thorn::program::describe::Description;

/// List the tensors of a file, or print one
///
/// Each tensor has a line with its dtype, its shape, its bytes in memory, the least and the
/// greatest element and the mean of those that are not NaN, and the number of NaNs. Then comes the
/// metadata. A tensor that thorn cannot read is listed with the reason.
///
/// For a program that PyTorch exported (.pt2), the inputs and outputs are shown, the number of
/// tensors, and each operator with its calls and the function of thorn that implements it. The list
/// of tensors follows with --all or --brief.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Show {
    /// The file; - is the standard input.
    file: OsString,
    /// The tensor to print, or the key of the metadata whose value to print.
    name: Option<String>,
    /// Read no elements, only the file's descriptions of the tensors.
    #[arg(short, long, conflicts_with = "name")]
    brief: bool,
    /// Write JSON.
    #[arg(short, long)]
    json: bool,
    /// Show all metadata, with whole values; the tensors of a program; with a name, all elements.
    #[arg(short, long)]
    all: bool,
}

/// The number of keys that are shown by default.
const KEYS: usize = 20;

/// The number of characters of a value that are shown by default.
const VALUE: usize = 60;

/// A tensor and the summary of its elements: nothing if they are not read, or the reason why they cannot be read.
struct Line {
    entry: Entry,
    found: std::result::Result<Option<Summary>, String>,
}

impl Show {
    /// Runs the command.
    pub fn run(&self, out: &mut dyn Write) -> Result<Outcome> {
        let source = Source::open(&self.file)?;
        if let Some(name) = &self.name {
            return self.one(&source, name, out);
        }
        let mut outcome = Outcome::Done;
        let description = match source.is_program().then(|| source.description()).transpose() {
            Ok(description) => description,
            Err(Stop::Unread) => return Err(Stop::Unread),
            Err(Stop::Failed(message)) => {
                outcome = Outcome::Failed;
                warn(&message);
                None
            }
        };
        if let (Some(description), false) = (&description, self.json) {
            program::write_text(&source, description, out)?;
            if !self.all && !self.brief {
                return Ok(Outcome::Done);
            }
        }
        let entries = source.entries()?;
        let progress = Progress::new(total(entries.iter()));
        let mut lines = Vec::with_capacity(entries.len());
        for entry in entries {
            let found = match &entry.dtype {
                Err(reason) => Err(reason.clone()),
                Ok(_) if self.brief || entry.elements == 0 => Ok(None),
                Ok(_) => match Elements::new(&source, &entry).and_then(|elements| Summary::of(&elements, &progress)) {
                    Ok(summary) => Ok(Some(summary)),
                    Err(Stop::Unread) => return Err(Stop::Unread),
                    Err(Stop::Failed(message)) => {
                        outcome = Outcome::Failed;
                        progress.clear();
                        warn(&message);
                        // The line of the tensor already has the rest.
                        let known = format!("\"{}\": tensor '{}': ", source.name(), entry.name);
                        Err(message.strip_prefix(&known).unwrap_or(&message).to_owned())
                    }
                },
            };
            lines.push(Line { entry, found });
        }
        progress.clear();
        match self.json {
            true => write_json(&source, &lines, description.as_ref(), out)?,
            false => self.write_text(&source, &lines, out)?,
        }
        Ok(outcome)
    }

    /// Prints a tensor, or the value of a key.
    fn one(&self, source: &Source, name: &str, out: &mut dyn Write) -> Result<Outcome> {
        let entry = match source.find(Some(name)) {
            Ok(entry) => entry,
            // If no tensor has this name, it may be a key.
            Err(stop) => match source.value(name) {
                Some(value) if self.json => {
                    writeln!(out, "{}", text(&value))?;
                    return Ok(Outcome::Done);
                }
                Some(value) => {
                    writeln!(out, "{value}")?;
                    return Ok(Outcome::Done);
                }
                None => return Err(stop),
            },
        };
        if self.json {
            write_elements(source, &entry, out)?;
            return Ok(Outcome::Done);
        }
        let t = source.tensor(&entry)?;
        let standard = default_options();
        let options = if self.all { THPrintOptions { threshold: i64::MAX, ..standard } } else { standard };
        out.write_all(print::tensor(&t, Some(&options))?.as_bytes())?;
        writeln!(out)?;
        Ok(Outcome::Done)
    }

    /// Writes the kind of file, a line for each tensor, and the metadata.
    fn write_text(&self, source: &Source, lines: &[Line], out: &mut dyn Write) -> Result<()> {
        let bytes = total(lines.iter().map(|line| &line.entry));
        let (format, tensors) = (source.archive().format_name(), counted(lines.len(), "tensor"));
        writeln!(out, "{}: {format}, {tensors}, {}", plain(source.name()), number::bytes(bytes))?;
        if !lines.is_empty() {
            self.write_table(lines, out)?;
        }
        let metadata = source.metadata()?;
        if metadata.is_empty() {
            return Ok(());
        }
        writeln!(out, "metadata: {}", counted(metadata.len(), "key"))?;
        let (keys, value) = if self.all { (usize::MAX, usize::MAX) } else { (KEYS, VALUE) };
        for (key, text) in metadata.iter().take(keys) {
            writeln!(out, "  {} = {}", cut(key, value), cut(text, value))?;
        }
        if metadata.len() > keys {
            writeln!(out, "  and {} more: --all", counted(metadata.len() - keys, "key"))?;
        }
        Ok(())
    }

    fn write_table(&self, lines: &[Line], out: &mut dyn Write) -> Result<()> {
        let columns = [
            ("name", false),
            ("dtype", false),
            ("shape", false),
            ("bytes", true),
            ("min", true),
            ("max", true),
            ("mean", true),
            ("NaNs", true),
        ];
        let columns = columns.map(|(title, right)| Column { title, right });
        let columns = if self.brief { &columns[..4] } else { &columns[..] };
        let row = |Line { entry, found }: &Line| {
            let name = if entry.name.is_empty() { "-".to_owned() } else { plain(&entry.name) };
            let dtype = entry.dtype.as_ref().map_or("-", |dtype| dtype.name());
            let mut row = vec![name, dtype.to_owned(), entry.shape()];
            let note = match found {
                Err(reason) => plain(reason),
                Ok(_) => String::new(),
            };
            if entry.dtype.is_ok() {
                row.push(entry.bytes().to_string());
            }
            if let Ok(Some(summary)) = found {
                let of_rest = summary.rest.map(|rest| [rest.least.short(), rest.greatest.short(), Number::Double(rest.mean).short()]);
                row.extend(of_rest.unwrap_or_else(|| ["-", "-", "-"].map(str::to_owned)));
                row.push(summary.nans.to_string());
            }
            (row, note)
        };
        let rows: Vec<_> = lines.iter().map(row).collect();
        Ok(table::write(out, columns, &rows)?)
    }
}

/// The description of a file, as in JSON.
#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    format: &'a str,
    bytes: u64,
    metadata: Pairs<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<program::Json<'a>>,
    tensors: Vec<Tensor<'a>>,
}

/// Keys and values, in the order of the file.
struct Pairs<'a>(&'a [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// A tensor, as in JSON.
#[derive(Serialize)]
struct Tensor<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<&'a str>,
    shape: &'a [i64],
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nans: Option<u64>,
    /// The reason why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> Tensor<'a> {
    fn of(Line { entry, found }: &'a Line) -> Tensor<'a> {
        let summary = found.as_ref().ok().copied().flatten();
        let rest = summary.and_then(|summary| summary.rest);
        Tensor {
            name: &entry.name,
            dtype: entry.dtype.as_ref().ok().map(|dtype| dtype.name()),
            shape: &entry.sizes,
            bytes: entry.dtype.as_ref().ok().map(|_| entry.bytes()),
            min: rest.map(|rest| rest.least),
            max: rest.map(|rest| rest.greatest),
            mean: rest.map(|rest| Number::Double(rest.mean)),
            nans: summary.map(|summary| summary.nans),
            error: found.as_ref().err().map(String::as_str),
        }
    }
}

fn write_json(source: &Source, lines: &[Line], description: Option<&Description>, out: &mut dyn Write) -> Result<()> {
    let metadata = source.metadata()?;
    let file = File {
        file: source.name(),
        format: source.archive().format_name(),
        bytes: total(lines.iter().map(|line| &line.entry)),
        metadata: Pairs(&metadata),
        program: description.map(program::Json::of),
        tensors: lines.iter().map(Tensor::of).collect(),
    };
    serde_json::to_writer(&mut *out, &file).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Writes a tensor with its elements in row-major order as JSON.
fn write_elements(source: &Source, entry: &Entry, out: &mut dyn Write) -> Result<()> {
    let elements = Elements::new(source, entry)?;
    let dtype = entry.dtype.as_ref().map_or("", |dtype| dtype.name());
    write!(out, "{{\"name\":{},\"dtype\":\"{dtype}\",\"shape\":{:?},\"elements\":[", text(&entry.name), entry.sizes)?;
    for number in 0..elements.pieces() {
        let (first, piece) = elements.piece(number)?;
        let widened = piece.widened()?;
        let mut comma = first > 0;
        let mut write = |text: &str| {
            let separator = if std::mem::replace(&mut comma, true) { "," } else { "" };
            write!(out, "{separator}{text}")
        };
        match widened.values() {
            Values::Ints(xs) if entry.dtype == Ok(Dtype::Bool) => xs.iter().try_for_each(|&x| write(if x == 0 { "false" } else { "true" })),
            Values::Ints(xs) => xs.iter().try_for_each(|&x| write(&Number::Int(x).json())),
            Values::Singles(xs) => xs.iter().try_for_each(|&x| write(&Number::Single(x).json())),
            Values::Doubles(xs) => xs.iter().try_for_each(|&x| write(&Number::Double(x).json())),
        }?;
    }
    Ok(writeln!(out, "]}}")?)
}

/// Returns a text as JSON.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
