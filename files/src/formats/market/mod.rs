//! Matrix Market: a matrix as text, sparse (`coordinate`) or dense (`array`), with one entry in each line.
//!
//! Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats, NISTIR 5935. The first line names the form, the
//! type of the numbers and the symmetry. Lines that begin with `%` are comments. The next line has the sizes.
//!
//! - Real numbers are read as float64, integers as int64. Entries of the type `pattern` have no number and are read as 1 in float64, as in
//!   SciPy. Complex numbers are refused.
//! - A file of a symmetric or skew-symmetric matrix has the lower triangle. An entry below the diagonal is read as two entries, one after
//!   the other.
//! - Entries are read in the order of the file, including duplicates. A position beyond the sizes is an error.
//! - Files that gzip compressed are read, but not written.
//!
//! Opening a file counts its entries. Positions and values are read on request, by threads that read chunks of the text. Besides the
//! memory of the tensors, reading needs one chunk for each thread.

mod body;
mod head;
mod packed;
mod write;

pub use write::write;

use crate::contents::Contents;
use crate::element::Element;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow;
use crate::input::Input;
use crate::sparse::{Form, Sparse};
use crate::tensor::{Data, Tensor, column_major_strides, count};
use body::{Body, Entries, Part};
use head::{BANNER, Head};
use packed::GZIP;
use std::sync::Arc;

pub fn recognises(head: &[u8], _: u64) -> bool {
    let head = head.trim_ascii_start();
    head.starts_with(GZIP) || head.get(..BANNER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BANNER))
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let head = Head::read(input)?;
    let body = Arc::new(Body::new(input, head)?);
    let mut contents = Contents::new(Format::MatrixMarket);
    let mut add = |part, element, len| {
        let entries = Entries { body: Arc::clone(&body), part };
        contents.add_storage(element, len, Encoding::Format(Box::new(entries)))
    };
    let sizes = grow::copy(&[head.rows, head.columns])?;
    if head.dense {
        let index = add(Part::Values, head.element(), count(&sizes)?)?;
        let strides = column_major_strides(&sizes)?;
        grow::push(&mut contents.tensors, Tensor { name: String::new(), sizes, strides, offset: 0, data: Data::Storage(index) })?;
        return Ok(contents);
    }
    let nnz = body.entries();
    let Some(positions) = nnz.checked_mul(2).filter(|&count| count <= i64::MAX as u64) else {
        return Err(Error::broken(format_args!("there are {nnz} entries")));
    };
    let (indices, values) = (add(Part::Indices, Element::I64, positions)?, add(Part::Values, head.element(), nnz)?);
    let mut parts = grow::list(2)?;
    parts.push(Tensor::row_major(String::new(), grow::copy(&[2, nnz as i64])?, indices)?);
    parts.push(Tensor::row_major(String::new(), grow::copy(&[nnz as i64])?, values)?);
    contents.add_sparse(String::new(), sizes, Sparse { form: Form::Coordinates, parts, coalesced: false })?;
    Ok(contents)
}
