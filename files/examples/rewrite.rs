//! `rewrite IN OUT` opens a file of tensors and writes all that it could read of it as the format that the ending of OUT names.

use std::fs::File;
use std::io::BufWriter;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use thorn_files::input::FileInput;
use thorn_files::{Data, Element, Error, Format, Result, Save};

fn rewrite(from: &str, to: &str) -> Result<()> {
    let input = FileInput::new(File::open(from)?)?;
    let mut contents = thorn_files::open(&input)?;
    let path = std::path::Path::new(to);
    let format = Format::of_path(path.as_os_str().as_bytes());
    let format = format.ok_or_else(|| Error::unsupported(format_args!("no format has the ending of {to}")))?;
    contents.tensors.retain(|tensor| match &tensor.data {
        Data::Storage(_) => true,
        Data::Refused(why) => {
            eprintln!("tensor '{}' is left out: {why}", tensor.name);
            false
        }
    });
    let mut storages: Vec<(Element, Vec<u8>)> = Vec::new();
    for (index, storage) in contents.storages.iter().enumerate() {
        let mut bytes = vec![0; storage.bytes()?];
        contents.read(&input, index, &mut bytes)?;
        storages.push((storage.element, bytes));
    }
    let storages: Vec<(Element, &[u8])> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let what = Save { tensors: &contents.tensors, storages: &storages, metadata: &contents.metadata, precision: None };
    thorn_files::save(format, &what, &mut BufWriter::new(File::create(to)?))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = &arguments[..] else {
        eprintln!("usage: rewrite IN OUT");
        return ExitCode::from(2);
    };
    match rewrite(from, to) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rewrite: {from}: {error}");
            ExitCode::FAILURE
        }
    }
}
