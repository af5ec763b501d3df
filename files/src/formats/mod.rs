//! The drivers of the formats: how files of each format are recognised, read and written.

mod csv;
mod gguf;
mod image;
mod market;
mod npy;
mod npz;
mod png;
mod pnm;
mod program;
mod python;
mod safetensors;
mod scipy;
mod svmlight;
mod t7;
mod text;
pub(crate) mod torch;

pub use csv::read_csv;
pub use program::{read as read_program, read_model};

use crate::budget::Budget;
use crate::contents::Contents;
use crate::error::{Error, Result};
use crate::format::{Format, formats};
use crate::grow;
use crate::input::Input;
use crate::nested::NestedEntry;
use crate::save::{Output, Save};
use crate::zip;
use std::fmt;

/// Writes a file.
type Write = fn(&Save<'_>, &mut dyn Output) -> Result<()>;

/// The functions of a format.
struct Driver {
    format: Format,
    /// Returns true if a file that begins with `head` may have this format. `head` is the whole file or at least [`HEAD`] bytes, and for a
    /// zip archive at least all bytes up to the end of the first entry's name.
    recognises: fn(head: &[u8], size: u64) -> bool,
    read: fn(&dyn Input) -> Result<Contents>,
    /// `None` for a format that is only read.
    write: Option<Write>,
}

/// The number of bytes by which formats are recognised.
const HEAD: usize = 512;

macro_rules! drivers {
    ($(
        $(#[$doc:meta])*
        $format:ident = $code:literal {
            name: $name:literal, endings: $endings:expr,
            layouts: $layouts:literal, metadata: $metadata:literal, sparse: $sparse:literal, one_tensor: $one_tensor:literal,
            by_name: $by_name:literal,
            recognises: $recognises:path, read: $read:path, write: $write:expr,
        }
    )*) => {
        /// The drivers, in the order in which they are tried.
        static DRIVERS: &[Driver] =
            &[$(Driver { format: Format::$format, recognises: $recognises, read: $read, write: $write },)*];
    };
}

formats!(drivers);

/// Reads an archive of PyTorch: of `torch.export.save`, or of `torch.save`.
fn read_zip_of_torch(input: &dyn Input) -> Result<Contents> {
    let mut budget = Budget::new(input.size());
    let entries = torch::entries(input, &mut budget)?;
    if !torch::is_saved(&entries) && program::is_program(&entries) {
        return program::read_entries(input, &entries, None, &mut budget).map(|(contents, _)| contents);
    }
    torch::read_saved(input, entries, &mut budget)
}

/// Recognises no file, because the driver of another format reads these files.
fn elsewhere(_: &[u8], _: u64) -> bool {
    false
}

impl Format {
    /// Returns true if files of this format can be written.
    pub fn writable(self) -> bool {
        self.driver().is_some_and(|driver| driver.write.is_some())
    }

    /// Returns the endings of file names that can be written: ".pt, .pth, .t7, ...".
    pub fn writable_endings() -> impl fmt::Display {
        fmt::from_fn(|f| {
            let formats = DRIVERS.iter().filter(|driver| driver.write.is_some()).map(|driver| driver.format);
            let endings = formats.flat_map(Format::endings);
            endings.enumerate().try_for_each(|(k, ending)| write!(f, "{}.{ending}", if k == 0 { "" } else { ", " }))
        })
    }

    fn driver(self) -> Option<&'static Driver> {
        DRIVERS.iter().find(|driver| driver.format == self)
    }
}

/// Reads the structure of a file without a name. The first bytes of the file determine its format.
pub fn open(input: &dyn Input) -> Result<Contents> {
    open_named(input, b"")
}

/// Reads the structure of a file. The first bytes of the file determine its format, or the ending of its name, if the format has no mark.
pub fn open_named(input: &dyn Input, name: &[u8]) -> Result<Contents> {
    let beginning = |len: usize| {
        let mut head = grow::zeros((len as u64).min(input.size()) as usize)?;
        input.read_at(0, &mut head).map(|()| head)
    };
    let mut head = beginning(HEAD)?;
    if let Some(len) = zip::first_header(&head).filter(|&len| len > HEAD) {
        head = beginning(len)?;
    }
    let head = &head[..];
    let named = Format::of_path(name).filter(|format| format.is_by_name());
    let fits = |driver: &&Driver| (driver.recognises)(head, input.size()) || Some(driver.format) == named;
    let Some(driver) = DRIVERS.iter().find(fits) else {
        if torch::is_tar(head) {
            return Err(Error::unsupported(format_args!("tar archives of PyTorch before 0.2 are not read")));
        }
        return Err(Error::broken(format_args!("the format is unknown: the file begins with {:02x?}", &head[..head.len().min(16)])));
    };
    let within = |error: Error| error.within(format_args!("{}", driver.format.name()));
    let contents = (driver.read)(input).map_err(within)?;
    contents.check(input).map_err(within)?;
    Ok(contents)
}

/// Writes a file of a format.
pub fn save(format: Format, what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let Some(write) = format.driver().and_then(|driver| driver.write) else {
        return Err(Error::unsupported(format_args!("{} files are not written", format.name())));
    };
    if format.has_one_tensor() && what.tensors.len() != 1 {
        return Err(Error::unsupported(format_args!("{} files have one tensor, not {}", format.name(), what.tensors.len())));
    }
    write(what, to)
}

/// [`save`] for contents with nested values. An archive of PyTorch has the values themselves, and other files have their parts, by their
/// paths.
pub fn save_nested(format: Format, what: &Save<'_>, nested: &[NestedEntry], to: &mut dyn Output) -> Result<()> {
    if format == Format::Pt { torch::write_nested(what, nested, to) } else { save(format, what, to) }
}
