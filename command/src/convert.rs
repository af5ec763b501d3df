//! `thorn convert`.

use crate::number::counted;
use crate::output::{self, Format, Output};
use crate::source::{Entry, Source};
use crate::stop::{Outcome, Result, Stop, warn};
use std::collections::HashSet;
use std::ffi::{CStr, CString, OsString};
use std::io::Write;
use thorn::dtype::Dtype;
use thorn::files::{THFileFormat, Writing};
use thorn::ops::copy;
use thorn::tensor::Tensor;

/// Write the tensors of a file to another, in another format
///
/// The metadata is kept where the format has any. A file that exists is replaced when the new
/// one is whole.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Convert {
    /// The file to read; - is the standard input.
    from: OsString,
    /// The file to write; - is the standard output, which needs a --format.
    to: OsString,
    /// The format; by default, it follows from the suffix of the name.
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// Write this tensor only; may be given several times.
    #[arg(short, long, value_name = "NAME")]
    tensor: Vec<String>,
    /// Convert the tensors to this dtype: float32, float16, bfloat16, int64, ...
    #[arg(short, long, value_parser = dtype)]
    dtype: Option<Dtype>,
    /// Leave out tensors that thorn cannot read: quantised or complex, and sparse ones if the format has none.
    #[arg(short, long)]
    skip: bool,
    /// Leave out the metadata.
    #[arg(short, long)]
    bare: bool,
    /// Significant digits of floats in texts; 0 for as many as identify the float.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..=17))]
    digits: i32,
}

/// Parses the name of a dtype.
fn dtype(name: &str) -> std::result::Result<Dtype, String> {
    let names = || Dtype::ALL.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
    Dtype::from_name(name.as_bytes()).ok_or_else(|| format!("the dtypes are {}", names()))
}

/// Returns true for a dense tensor that can be read. Warns with the reason if not.
fn kept(source: &Source, entry: &Entry) -> bool {
    if let Err(reason) = &entry.dtype {
        warn(format_args!("\"{}\": tensor '{}' is left out: {reason}", source.name(), entry.name));
    }
    entry.dtype.is_ok()
}

impl Convert {
    /// Runs the command.
    pub fn run(&self, out: &mut dyn Write) -> Result<Outcome> {
        let output = Output::new(&self.to, self.format)?;
        let source = Source::open(&self.from)?;
        let entries = self.chosen(&source)?;
        output.written(out, |path, format| self.write(&source, &entries, path, format, &output.name()))?;
        Ok(Outcome::Done)
    }

    /// Returns the tensors to write.
    fn chosen(&self, source: &Source) -> Result<Vec<Entry>> {
        let mut entries = match self.tensor.as_slice() {
            [] => source.entries()?,
            names => names.iter().map(|name| source.find(Some(name))).collect::<Result<_>>()?,
        };
        if self.skip {
            entries.retain(|entry| entry.is_sparse || kept(source, entry));
        }
        Ok(entries)
    }

    fn write(&self, source: &Source, entries: &[Entry], path: &CStr, format: THFileFormat, name: &str) -> Result<()> {
        let mut file = Writing::create(path, format).map_err(|error| output::about(path, name, &error))?;
        let about = |error: thorn::error::Error| output::about(path, name, &error);
        let leaves_out = self.skip && !file.keeps_sparse();
        let entries: Vec<&Entry> = entries.iter().filter(|entry| !leaves_out || kept(source, entry)).collect();
        if entries.len() != 1 && file.has_one_tensor() {
            let found = counted(entries.len(), "tensor");
            return Err(Stop::file(
                name,
                format_args!("its format has one tensor, and \"{}\" has {found}: name one by --tensor", source.name()),
            ));
        }
        file.set_precision(self.digits).map_err(about)?;
        let mut names: HashSet<String> = HashSet::new();
        let all: HashSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        for entry in entries {
            let to_dtype = |t: Tensor| self.dtype.map_or_else(|| Ok(t.clone()), |dtype| copy::to_dtype(&t, dtype)).map_err(about);
            // Written files have each name only once.
            let mut name = entry.name.clone();
            if !names.insert(name.clone()) {
                let free = (2..)
                    .map(|number| format!("{}#{number}", entry.name))
                    .find(|free| !all.contains(free.as_str()) && names.insert(free.clone()));
                name = free.unwrap_or(name);
                warn(format_args!("\"{}\": another tensor '{}' is written as '{name}'", source.name(), entry.name));
            }
            let name = CString::new(name).unwrap_or_default();
            if entry.is_sparse {
                let mut sparse = source.sparse(entry)?;
                if let Some(values) = sparse.parts.pop() {
                    sparse.parts.push(to_dtype(values)?);
                }
                file.add_sparse(&name, &sparse).map_err(about)?;
            } else {
                file.add(&name, &to_dtype(source.tensor(entry)?)?).map_err(about)?;
            }
        }
        let keys = if self.bare { 0 } else { source.archive().keys() };
        if keys > 0 && !file.keeps_metadata() {
            warn(format_args!("\"{name}\": its format has no metadata: {} left out", counted(keys as usize, "key")));
        }
        for index in 0..if file.keeps_metadata() { keys } else { 0 } {
            let (key, value) = source.archive().metadata(index)?;
            file.add_metadata(key, value).map_err(about)?;
        }
        file.close().map_err(about)
    }
}
