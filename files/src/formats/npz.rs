//! NumPy's `.npz`: a zip archive of files of the format [`npy`]. The array of the entry `name.npy` is the tensor `name`.
//!
//! If the arrays of an archive are the parts of a sparse matrix of [`scipy`], the archive is one sparse tensor without a name.
//!
//! Names of tensors are written unchanged as names of entries. The format has no metadata. Writing omits it.

use super::npy::Other;
use super::{Output, npy, scipy};
use crate::contents::Contents;
use crate::element::{Element, Written};
use crate::error::{Error, Kind, Result};
use crate::format::Format;
use crate::grow;
use crate::input::Input;
use crate::save::{Save, unique};
use crate::tensor::{Data, Opaque, Tensor};
use crate::zip::{self, Entry, Method};

/// The first bytes of an archive without entries.
const EMPTY: &[u8] = b"PK\x05\x06";

/// The ending of the names of arrays.
const ENDING: &str = ".npy";

pub fn recognises(head: &[u8], _: u64) -> bool {
    head.starts_with(EMPTY) || zip::first_name(head).is_some_and(|name| name.ends_with(ENDING.as_bytes()))
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let entries = zip::read(input)?;
    let format = scipy::format(&entries, input)?;
    let mut contents = Contents::new(Format::Npz);
    contents.tensors = grow::list(entries.len())?;
    contents.storages = grow::list(entries.len())?;
    // A few compressed bytes can become many sizes.
    let mut room = input.size().saturating_add(MOST_DIMS);
    for mut entry in entries {
        if entry.name.ends_with('/') {
            continue;
        }
        let tensor = match entry.method {
            _ if !entry.name.ends_with(ENDING) => no_array(&mut entry, "it is no array of NumPy".to_owned())?,
            Method::Stored | Method::Deflated => array(&mut contents, &mut entry, input)?,
            Method::Encrypted => no_array(&mut entry, "it is encrypted".to_owned())?,
            Method::Other(method) => no_array(&mut entry, format!("it is compressed by method {method} of zip"))?,
        };
        let bytes = (tensor.sizes.len() as u64).saturating_mul(2 * size_of::<i64>() as u64);
        let Some(left) = room.checked_sub(bytes) else {
            return Err(Error::format(entry.at, format_args!("the arrays have too many dimensions for a file of {} bytes", input.size())));
        };
        room = left;
        grow::push(&mut contents.tensors, tensor)?;
    }
    if !format.is_empty() {
        scipy::assemble(&mut contents, &format, input)?;
    }
    Ok(contents)
}

/// The limit in bytes by which the sizes and strides of all arrays may exceed the size of the file.
const MOST_DIMS: u64 = 16 << 20;

/// Returns the name of the tensor for an entry. Leaves the entry without a name.
fn name(entry: &mut Entry) -> String {
    let mut name = std::mem::take(&mut entry.name);
    name.truncate(name.strip_suffix(ENDING).map_or(name.len(), str::len));
    name
}

/// Returns a tensor for an entry whose elements cannot be read.
fn no_array(entry: &mut Entry, why: String) -> Result<Tensor> {
    let tensor = Tensor::row_major(name(entry), Vec::new(), 0)?;
    Ok(Tensor { data: Data::Refused(why), ..tensor })
}

/// Reads the header of an entry, which must be stored or deflated, and adds its storage. Returns the tensor.
fn array(contents: &mut Contents, entry: &mut Entry, input: &dyn Input) -> Result<Tensor> {
    let (at, which) = if entry.method == Method::Stored { (entry.at, "") } else { (0, ", decompressed") };
    let place = entry.at;
    let mut reader = entry.reader(input)?;
    let mut next = |to: &mut [u8]| {
        let len = to.len();
        reader.read_exact(to).map_err(|error| match error.kind() {
            std::io::ErrorKind::OutOfMemory => Error::memory(len as u64),
            std::io::ErrorKind::Other => Error::from(error),
            _ => Error::format(place, format_args!("the header cannot be read: {error}")),
        })
    };
    let named = |error: Error| match error.kind {
        Kind::Format => Error { message: format!("entry '{}'{which}: {}", entry.name, error.message), ..error },
        _ => error,
    };
    let array = npy::Array::read(&mut next, at).map_err(named)?;
    let data = match array.numbers().map_err(named)? {
        Err(Other { why, size: None }) => Data::Refused(why),
        Err(Other { why, size: Some(size) }) => {
            let bytes = array.bytes(size).map_err(named)?;
            let encoding = entry.encoding(array.start, bytes, Written::Same(Element::U8), false)?;
            let storage = contents.add_storage(Element::U8, bytes, encoding)?;
            Data::Opaque(Opaque { storage, size, why })
        }
        Ok((len, written, big_endian)) => {
            let bytes = len.saturating_mul(written.size() as u64);
            let encoding = entry.encoding(array.start, bytes, written, big_endian)?;
            Data::Storage(contents.add_storage(written.element(), len, encoding)?)
        }
    };
    array.tensor(name(entry), data)
}

pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    archive(what, to, |writer, name, pieces| writer.store(name, pieces, npy::ALIGN as u64))
}

pub fn write_deflated(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    archive(what, to, |writer, name, pieces| writer.deflate(name, pieces))
}

/// Appends an entry to an archive. The data is the concatenated pieces.
type Append = fn(&mut zip::Writer<'_>, &str, &[&[u8]]) -> Result<()>;

fn archive(what: &Save<'_>, to: &mut dyn Output, append: Append) -> Result<()> {
    unique(what.tensors.iter().map(|tensor| &*tensor.name), "npz")?;
    let mut writer = zip::Writer::new(to);
    if what.tensors.iter().any(|tensor| matches!(tensor.data, Data::Sparse(_))) {
        scipy::write(what, &mut |name, pieces| append(&mut writer, name, pieces))?;
        return writer.finish();
    }
    for tensor in what.tensors {
        let name = format!("{}{ENDING}", tensor.name);
        append(&mut writer, &name, &[&npy::header(what, tensor)?, what.bytes(tensor)?])?;
    }
    writer.finish()
}
