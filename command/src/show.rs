//! `thorn show`.

use crate::Result;
use crate::scan::{self, Summary};
use crate::source::{Entry, Source, shape};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::io::Write;
use thorn::ops::print;

/// Lists the tensors of a file with dtype, shape, bytes, least and greatest element, mean and number of NaNs, or prints one.
#[derive(clap::Args)]
pub struct Show {
    /// The file.
    file: OsString,
    /// The tensor to print.
    name: Option<String>,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
    /// Reads no elements: tells what stands in the file about them.
    #[arg(long)]
    brief: bool,
}

impl Show {
    /// Runs the command.
    pub fn run(&self, out: &mut dyn Write) -> Result<()> {
        let source = Source::open(&self.file)?;
        if let Some(name) = &self.name {
            return self.print(&source, name, out);
        }
        let entries = source.entries()?;
        let bar = scan::bar(entries.iter().map(Entry::bytes).sum());
        let lines = entries.iter().map(|entry| {
            let summary = match &entry.dtype {
                Ok(_) if !self.brief && entry.elements > 0 => Some(Summary::of(&entry.tensor(&source)?, &bar)?),
                _ => None,
            };
            Ok((entry, summary))
        });
        let lines: Vec<(&Entry, Option<Summary>)> = lines.collect::<Result<_>>()?;
        bar.finish_and_clear();
        if self.json { self.write_json(&source, &lines, out) } else { write_table(&source, &lines, out) }
    }

    fn print(&self, source: &Source, name: &str, out: &mut dyn Write) -> Result<()> {
        // What is no tensor may be metadata.
        let key = std::ffi::CString::new(name).unwrap_or_default();
        if source.archive().find(&key).is_none()
            && let Some(value) = source.archive().value(&key)
        {
            return Ok(writeln!(out, "{}", value.to_string_lossy())?);
        }
        let t = source.archive().tensor(source.find(Some(name))?)?;
        if self.json {
            let mut pieces = scan::Pieces::new(&t)?;
            let mut values = Vec::new();
            while let Some(piece) = pieces.next()? {
                values.extend(piece.into_iter().map(scan::json));
            }
            let sizes = t.layout()?.shape;
            return Ok(writeln!(out, "{}", json!({ "name": name, "shape": sizes.as_slice(), "elements": values }))?);
        }
        out.write_all(print::tensor(&t, None)?.as_bytes())?;
        Ok(writeln!(out)?)
    }

    fn write_json(&self, source: &Source, lines: &[(&Entry, Option<Summary>)], out: &mut dyn Write) -> Result<()> {
        let mut metadata = Map::new();
        for index in 0..source.archive().keys() {
            let (key, value) = source.archive().metadata(index)?;
            metadata.insert(key.to_string_lossy().into_owned(), value.to_string_lossy().into());
        }
        let tensor = |(entry, summary): &(&Entry, Option<Summary>)| {
            let mut object = Map::new();
            object.insert("name".to_owned(), entry.name.as_str().into());
            object.insert("shape".to_owned(), entry.sizes.as_slice().into());
            match &entry.dtype {
                Ok(dtype) => object.insert("dtype".to_owned(), dtype.name().into()),
                Err(error) => object.insert("refused".to_owned(), error.message().into()),
            };
            object.insert("bytes".to_owned(), entry.bytes().into());
            if let Some(summary) = summary {
                for (name, x) in [("min", summary.least), ("max", summary.greatest), ("mean", summary.mean)] {
                    object.insert(name.to_owned(), scan::json(x));
                }
                object.insert("nans".to_owned(), summary.nans.into());
            }
            Value::Object(object)
        };
        let tensors: Vec<Value> = lines.iter().map(tensor).collect();
        let format = source.archive().format_name();
        writeln!(out, "{}", json!({ "format": format, "metadata": metadata, "tensors": tensors }))?;
        Ok(())
    }
}

/// Writes a line for each tensor, in columns, and the metadata.
fn write_table(source: &Source, lines: &[(&Entry, Option<Summary>)], out: &mut dyn Write) -> Result<()> {
    let named = |entry: &Entry| if entry.name.is_empty() { "-".to_owned() } else { entry.name.clone() };
    let mut rows = vec![["name", "dtype", "shape", "bytes", "min", "max", "mean", "NaNs"].map(str::to_owned)];
    for (entry, summary) in lines {
        let dtype = entry.dtype.as_ref().map_or_else(|_| "?".to_owned(), |dtype| dtype.name().to_owned());
        let number =
            |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.6}").trim_end_matches('0').trim_end_matches('.').to_owned());
        let of = |f: fn(&Summary) -> f64| number(summary.as_ref().map(f));
        rows.push([
            named(entry),
            dtype,
            shape(&entry.sizes),
            entry.bytes().to_string(),
            of(|s| s.least),
            of(|s| s.greatest),
            of(|s| s.mean),
            summary.as_ref().map_or_else(String::new, |s| s.nans.to_string()),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    writeln!(
        out,
        "{}, {} tensors, {} bytes",
        source.archive().format_name(),
        lines.len(),
        lines.iter().map(|(e, _)| e.bytes()).sum::<i64>()
    )?;
    for row in &rows {
        let mut line = String::new();
        for (column, text) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - text.chars().count());
            // Texts begin at the left, numbers end at the right.
            let (before, after) = if column < 3 { ("", blanks.as_str()) } else { (blanks.as_str(), "") };
            line += &format!("{before}{text}{after}  ");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    for (entry, _) in lines {
        if let Err(error) = &entry.dtype {
            writeln!(out, "{}: {}", named(entry), error.message())?;
        }
    }
    for index in 0..source.archive().keys() {
        let (key, value) = source.archive().metadata(index)?;
        writeln!(out, "{} = {}", key.to_string_lossy(), value.to_string_lossy())?;
    }
    Ok(())
}
