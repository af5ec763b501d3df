//! Sparse matrices of SciPy: archives of the format [`npz`](super::npz) whose arrays are the parts of a matrix.
//!
//! Source: `scipy/sparse/_matrix_io.py`. The array `format` is a text, `csr`, `csc` or `coo`. `shape` has the sizes, and `data` the values.
//! `indptr` and `indices`, `row` and `col`, or `coords` have the positions. If `_is_array` exists, SciPy reads a sparse array instead of a
//! matrix. Archives of other formats, or with other arrays, are read as dense arrays.

use super::npy;
use crate::contents::Contents;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::grow;
use crate::input::Input;
use crate::save::Save;
use crate::sparse::{Form, Sparse};
use crate::tensor::{Data, Tensor};
use crate::zip::{Entry, Method};

/// The name of the array that contains the format.
const FORMAT: &str = "format.npy";

/// The size limit of the array that contains the format, in bytes.
const LONGEST: u64 = 4096;

/// The formats with the form of their positions, and the names of their parts in order.
const PARTS: [(&str, Form, &[&str]); 4] = [
    ("csr", Form::Rows, &["indptr", "indices", "data"]),
    ("csc", Form::Columns, &["indptr", "indices", "data"]),
    ("coo", Form::Vectors, &["row", "col", "data"]),
    ("coo", Form::Coordinates, &["coords", "data"]),
];

/// Returns the format that the archive names; empty if the archive names none.
pub fn format(entries: &[Entry], input: &dyn Input) -> Result<String> {
    let is_named = |entry: &&Entry| entry.name == FORMAT && entry.size <= LONGEST;
    let Some(entry) = entries.iter().find(is_named).filter(|entry| matches!(entry.method, Method::Stored | Method::Deflated)) else {
        return Ok(String::new());
    };
    let bytes = entry.bytes(input, LONGEST)?;
    let mut left = &bytes[..];
    let mut next = |to: &mut [u8]| match left.split_at_checked(to.len()) {
        Some((first, rest)) => {
            to.copy_from_slice(first);
            left = rest;
            Ok(())
        }
        None => Err(Error::broken(format_args!("the header ends early"))),
    };
    // If the entry is no array, the archive is no sparse matrix.
    if npy::Array::read(&mut next, 0).is_err() {
        return Ok(String::new());
    }
    // Old files have characters of four bytes.
    Ok(left.iter().filter(|&&byte| byte != 0).map(|&byte| char::from(byte)).collect())
}

/// Replaces the arrays of a file by one sparse tensor, if they are the parts of a matrix in this format.
pub fn assemble(contents: &mut Contents, format: &str, input: &dyn Input) -> Result<()> {
    let place = |name: &str| contents.tensors.iter().position(|tensor| tensor.name == name);
    let known = ["format", "shape", "_is_array"];
    let fits = |&&(kind, _, names): &&(&str, Form, &[&str])| {
        let is_part = |tensor: &Tensor| names.contains(&&*tensor.name) || known.contains(&&*tensor.name);
        kind == format && names.iter().all(|name| place(name).is_some()) && contents.tensors.iter().all(is_part)
    };
    let Some(&(_, form, names)) = PARTS.iter().find(fits) else { return Ok(()) };
    let Some(sizes) = place("shape").map(|at| sizes(contents, at, input)).transpose()?.flatten() else { return Ok(()) };
    let mut parts = grow::list(names.len())?;
    let mut refused = None;
    for name in names {
        let Some(at) = place(name) else { return Ok(()) };
        let Tensor { sizes, strides, offset, data, .. } = &contents.tensors[at];
        if let Some(why) = data.refusal() {
            refused = Some(format!("of its array '{name}', {why}"));
        }
        let (sizes, strides) = (grow::copy(sizes)?, grow::copy(strides)?);
        parts.push(Tensor { name: String::new(), sizes, strides, offset: *offset, data: data.clone() });
    }
    if sizes.len() != 2 && matches!(form, Form::Rows | Form::Columns) {
        refused = Some(format!("it is compressed and has {} dimensions, not 2", sizes.len()));
    }
    contents.tensors.clear();
    if let Some(why) = refused {
        let tensor = Tensor::row_major(String::new(), sizes, 0)?;
        return grow::push(&mut contents.tensors, Tensor { data: Data::Refused(why), ..tensor });
    }
    contents.add_sparse(String::new(), sizes, Sparse { form, parts, coalesced: false })
}

/// Returns the integers of the array `shape`; `None` if it has no integers or more than one dimension.
fn sizes(contents: &Contents, at: usize, input: &dyn Input) -> Result<Option<Vec<i64>>> {
    let tensor = &contents.tensors[at];
    let (Data::Storage(index), &[count @ 0..=64]) = (&tensor.data, &tensor.sizes[..]) else { return Ok(None) };
    let storage = &contents.storages[*index];
    if !matches!(storage.element, Element::I32 | Element::I64) || storage.len != count as u64 {
        return Ok(None);
    }
    let mut bytes = grow::zeros(storage.bytes()?)?;
    contents.read(input, *index, &mut bytes)?;
    let number = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => bytes.try_into().map_or(-1, i64::from_le_bytes),
    };
    let mut sizes = grow::list(count as usize)?;
    sizes.extend(bytes.chunks_exact(storage.element.size()).map(number));
    Ok(Some(sizes))
}

/// Appends an entry to an archive. The data is the concatenated pieces.
type Append<'w> = &'w mut dyn FnMut(&str, &[&[u8]]) -> Result<()>;

/// Writes a sparse tensor, which must be the only tensor of its file.
pub fn write(what: &Save<'_>, append: Append<'_>) -> Result<()> {
    let [tensor] = what.tensors else {
        let count = what.tensors.len();
        return Err(Error::unsupported(format_args!("npz files hold one sparse tensor and nothing else, not {count} tensors")));
    };
    let Some(sparse) = what.sparse(tensor)? else { return Ok(()) };
    sparse.check(&tensor.sizes)?;
    let values = sparse.values()?;
    let dims = tensor.sizes.len();
    if values.sizes.len() != 1 {
        return Err(Error::unsupported(format_args!("tensor '{}' has dense dimensions, and SciPy's matrices have none", tensor.name)));
    }
    let mut array =
        |name: &str, descr: &str, sizes: &[i64], bytes: &[u8]| append(&format!("{name}.npy"), &[&npy::header_of(descr, sizes)?, bytes]);
    let (format, names) = match sparse.form {
        Form::Rows => ("csr", &["indptr", "indices"][..]),
        Form::Columns => ("csc", &["indptr", "indices"][..]),
        Form::Coordinates if dims == 2 => ("coo", &["row", "col"][..]),
        Form::Vectors if dims == 2 => ("coo", &["row", "col"][..]),
        Form::Coordinates => ("coo", &["coords"][..]),
        Form::Vectors => return Err(Error::unsupported(format_args!("positions are one vector for each of {dims} dimensions"))),
    };
    for (k, name) in names.iter().enumerate() {
        let whole = &sparse.parts[if sparse.form == Form::Coordinates { 0 } else { k }];
        let (descr, bytes) = (npy::descr_of(what, whole)?, what.bytes(whole)?);
        if sparse.form == Form::Coordinates && dims == 2 {
            let half = bytes.len() / 2;
            array(name, &descr, &values.sizes, &bytes[k * half..][..half])?;
        } else {
            array(name, &descr, &whole.sizes, bytes)?;
        }
    }
    array("format", "|S3", &[], format.as_bytes())?;
    let sizes: Vec<u8> = tensor.sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    array("shape", "<i8", &[dims as i64], &sizes)?;
    array("data", &npy::descr_of(what, values)?, &values.sizes, what.bytes(values)?)?;
    // SciPy's matrices have two dimensions, and its arrays any number.
    if dims == 2 { Ok(()) } else { array("_is_array", "|b1", &[], &[1]) }
}
