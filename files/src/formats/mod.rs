//! The formats: how each is recognised, read and written.

mod csv;
mod gguf;
mod market;
mod npy;
mod npz;
pub(crate) mod png;
mod pnm;
mod python;
mod safetensors;
mod scipy;
mod t7;
mod torch;

pub use csv::{Table, read_csv};
pub use market::{Body, Part};

use crate::contents::{Contents, Save};
use crate::error::{Error, Result};
use crate::grow;
use crate::input::Input;
use crate::zip;
use std::fmt;
use std::io::{self, Seek};

/// A file that is written from its beginning.
pub trait Output: io::Write + Seek {}

impl<W: io::Write + Seek> Output for W {}

/// Writes a file.
type Write = fn(&Save<'_>, &mut dyn Output) -> Result<()>;

/// How a format is recognised, read and written.
struct Driver {
    format: Format,
    /// The usual name, for messages.
    name: &'static str,
    /// The endings of files, in lower case.
    endings: &'static [&'static str],
    /// True if files have strides, and storages that tensors share.
    keeps_layouts: bool,
    /// Returns true if a file that begins with these bytes may be of this format. [`HEAD`] bytes are given, or the whole file; of
    /// a zip archive at least the name of the first entry.
    recognises: fn(head: &[u8], size: u64) -> bool,
    read: fn(&dyn Input) -> Result<Contents>,
    /// `None` for formats that are only read.
    write: Option<Write>,
}

/// How many bytes formats are recognised by.
const HEAD: usize = 512;

macro_rules! formats {
    ($(
        $(#[$doc:meta])*
        $format:ident = $code:literal: $name:literal $endings:expr, $keeps:literal, $recognises:path, $read:path, $write:expr;
    )*) => {
        /// A format of files.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub enum Format { $($(#[$doc])* $format = $code,)* }

        /// All formats, in the order in which they are tried.
        static DRIVERS: &[Driver] = &[$(Driver {
            format: Format::$format,
            name: $name,
            endings: &$endings,
            keeps_layouts: $keeps,
            recognises: $recognises,
            read: $read,
            write: $write,
        },)*];
    };
}

formats! {
    /// An archive of PyTorch.
    Pt = 1: "PyTorch" ["pt", "pth"], true, torch::recognises, torch::read, Some(torch::write);
    /// A stream of PyTorch before 1.6.
    PtLegacy = 2: "PyTorch before 1.6" [], true, torch::recognises_stream, torch::read_stream, None;
    /// An array of NumPy.
    Npy = 5: "npy" ["npy"], false, npy::recognises, npy::read, Some(npy::write);
    /// Arrays of NumPy in a zip archive, not compressed when written.
    Npz = 6: "npz" ["npz"], false, npz::recognises, npz::read, Some(npz::write);
    /// Arrays of NumPy in a zip archive, compressed. When read, they are [`Format::Npz`].
    NpzDeflated = 7: "npz" [], false, elsewhere, npz::read, Some(npz::write_deflated);
    /// Tensors behind a header in JSON.
    Safetensors = 8: "safetensors" ["safetensors"], false, safetensors::recognises, safetensors::read, Some(safetensors::write);
    /// Models of ggml.
    Gguf = 9: "GGUF" ["gguf"], false, gguf::recognises, gguf::read, None;
    /// A Lua value of Torch7 in binary.
    T7 = 3: "Torch7" ["t7"], true, t7::recognises, t7::read, Some(t7::write);
    /// A Lua value of Torch7 as text.
    T7Ascii = 4: "Torch7 ascii" ["t7a"], true, t7::recognises_ascii, t7::read_ascii, Some(t7::write_ascii);
    /// An image of netpbm: PGM or PPM.
    Pnm = 12: "PNM" ["pgm", "ppm", "pnm"], false, pnm::recognises, pnm::read, Some(pnm::write);
    /// An image.
    Png = 13: "PNG" ["png"], false, png::recognises, png::read, Some(png::write);
    /// A matrix as text, sparse or dense.
    MatrixMarket = 14: "Matrix Market" ["mtx"], false, market::recognises, market::read, Some(market::write);
    /// A table of numbers as text. Text has no mark to know it by, and comes last.
    Csv = 10: "csv" ["csv"], false, csv::recognises, csv::read, Some(csv::write_csv);
    /// A table of numbers as text, with tabs between them.
    Tsv = 11: "tsv" ["tsv"], false, elsewhere, csv::read, Some(csv::write_tsv);
}

/// Recognises nothing: another format reads these files.
fn elsewhere(_: &[u8], _: u64) -> bool {
    false
}

impl Format {
    fn driver(self) -> &'static Driver {
        DRIVERS.iter().find(|driver| driver.format == self).unwrap_or(&DRIVERS[0])
    }

    /// The format with this number.
    pub fn from_code(code: i32) -> Option<Format> {
        DRIVERS.iter().map(|driver| driver.format).find(|&format| format as i32 == code)
    }

    /// The usual name.
    pub fn name(self) -> &'static str {
        self.driver().name
    }

    /// The format of files whose names end like `path`.
    pub fn of_path(path: &[u8]) -> Option<Format> {
        let dot = path.iter().rposition(|&byte| byte == b'.')?;
        let ending = path[dot + 1..].to_ascii_lowercase();
        DRIVERS.iter().find(|driver| driver.endings.iter().any(|known| known.as_bytes() == ending)).map(|driver| driver.format)
    }

    /// The endings of the names of files that can be written: ".pt, .pth, .t7, ...".
    pub fn writable_endings() -> impl fmt::Display {
        fmt::from_fn(|f| {
            let endings = DRIVERS.iter().filter(|driver| driver.write.is_some()).flat_map(|driver| driver.endings);
            endings.enumerate().try_for_each(|(k, ending)| write!(f, "{}.{ending}", if k == 0 { "" } else { ", " }))
        })
    }

    /// Returns true if files of this format have strides, and storages that tensors share; others have row-major tensors.
    pub fn keeps_layouts(self) -> bool {
        self.driver().keeps_layouts
    }

    /// Returns true if files of this format have metadata that can be written.
    pub fn keeps_metadata(self) -> bool {
        !matches!(self, Format::Npy | Format::Npz | Format::NpzDeflated | Format::Pnm | Format::MatrixMarket)
    }

    /// Returns true if files of this format may have sparse tensors.
    pub fn keeps_sparse(self) -> bool {
        matches!(self, Format::Pt | Format::Npz | Format::NpzDeflated | Format::MatrixMarket)
    }

    /// Returns true if files of this format can be written.
    pub fn writable(self) -> bool {
        self.driver().write.is_some()
    }
}

/// The contents of a file, whose first bytes tell the format.
pub fn open(input: &dyn Input) -> Result<Contents> {
    let beginning = |len: usize| {
        let mut head = grow::zeros((len as u64).min(input.size()) as usize)?;
        input.read_at(0, &mut head).map(|()| head)
    };
    let mut head = beginning(HEAD)?;
    if let Some(len) = zip::first_header(&head).filter(|&len| len > HEAD) {
        head = beginning(len)?;
    }
    let head = &head[..];
    let Some(driver) = DRIVERS.iter().find(|driver| (driver.recognises)(head, input.size())) else {
        if torch::is_tar(head) {
            return Err(Error::unsupported(format_args!("tar archives, as PyTorch wrote them before 0.2, are not read")));
        }
        return Err(Error::broken(format_args!("the format is unknown: the file begins with {:02x?}", &head[..head.len().min(16)])));
    };
    let within = |error: Error| Error { message: format!("{}: {}", driver.name, error.message), ..error };
    let contents = (driver.read)(input).map_err(within)?;
    contents.check(input).map_err(within)?;
    Ok(contents)
}

/// Writes a file of a format.
pub fn save(format: Format, what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let driver = format.driver();
    let Some(write) = driver.write else { return Err(Error::unsupported(format_args!("{} files are not written", driver.name))) };
    write(what, to)
}
