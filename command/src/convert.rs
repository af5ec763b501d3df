//! `thorn convert`.

use crate::scan;
use crate::source::{Entry, Source, c_path};
use crate::{Result, Stop};
use std::ffi::{CString, OsString};
use thorn::dtype::Dtype;
use thorn::files::{TH_FILE_BY_NAME, TH_FILE_NPZ_DEFLATED, TH_FILE_T7_ASCII, Writing};
use thorn::ops::copy;

/// Writes the tensors of a file to another, whose ending names the format. Metadata is kept where the format has any.
#[derive(clap::Args)]
pub struct Convert {
    /// The file to read.
    from: OsString,
    /// The file to write.
    to: OsString,
    /// Converts all tensors to this dtype: float32, float16, int64, ...
    #[arg(long)]
    dtype: Option<String>,
    /// Leaves out tensors that thorn does not have: sparse, quantised, complex.
    #[arg(long)]
    skip: bool,
    /// Leaves out the metadata.
    #[arg(long)]
    bare: bool,
    /// Writes .npz compressed, and .t7 as a text.
    #[arg(long)]
    alternative: bool,
    /// Significant digits of floats in texts; 0 for as many as tell them apart.
    #[arg(long, default_value_t = 0)]
    digits: i32,
}

impl Convert {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let source = Source::open(&self.from)?;
        let dtype = match &self.dtype {
            Some(name) => Some(Dtype::from_name(name.as_bytes()).ok_or_else(|| Stop::Failed(format!("'{name}' is no dtype")))?),
            None => None,
        };
        let path = c_path(&self.to)?;
        let mut out = Writing::create(&path, TH_FILE_BY_NAME)?;
        if self.alternative {
            let format = match out.format() {
                thorn::files::TH_FILE_NPZ => TH_FILE_NPZ_DEFLATED,
                thorn::files::TH_FILE_T7 => TH_FILE_T7_ASCII,
                _ => return Err(Stop::Failed("--alternative is for .npz and .t7".to_owned())),
            };
            out = Writing::create(&path, format)?;
        }
        out.set_precision(self.digits)?;
        let entries = source.entries()?;
        let bar = scan::bar(entries.iter().map(Entry::bytes).sum());
        for entry in &entries {
            if self.skip && entry.dtype.is_err() {
                eprintln!("thorn: '{}' is left out", entry.name);
                continue;
            }
            let t = entry.tensor(&source)?;
            let t = dtype.map_or_else(|| Ok(t.clone()), |dtype| copy::to_dtype(&t, dtype))?;
            out.add(&CString::new(entry.name.as_str()).unwrap_or_default(), &t)?;
            bar.inc(entry.bytes() as u64);
        }
        bar.finish_and_clear();
        let keys = if self.bare { 0 } else { source.archive().keys() };
        if keys > 0 && !out.keeps_metadata() {
            eprintln!("thorn: the metadata is left out, of which {} has none", self.to.to_string_lossy());
        }
        for index in 0..if out.keeps_metadata() { keys } else { 0 } {
            let (key, value) = source.archive().metadata(index)?;
            out.add_metadata(key, value)?;
        }
        Ok(out.close()?)
    }
}
