//! Writing a matrix.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::formats::text::places::Places;
use crate::formats::text::write::{PART, in_parts, integer, line, precision};
use crate::grow;
use crate::save::{Output, Save};
use crate::sparse::Sparse;
use crate::tensor::Tensor;
use std::ops::Range;

/// Writes a sparse matrix as coordinates in the order of its entries, or a dense matrix column by column. A vector is written as a column.
/// The symmetry is always `general`. A sparse matrix of bool is written as the positions of the true entries.
pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let tensor = what.only();
    match what.sparse(tensor)? {
        Some(sparse) => coordinates(what, tensor, sparse, to),
        None => array(what, tensor, to),
    }
}

/// Returns the name of the type of the numbers.
fn field(element: Element) -> &'static str {
    match element {
        Element::Bool => "pattern",
        Element::U8 | Element::I8 | Element::I16 | Element::I32 | Element::I64 => "integer",
        Element::F16 | Element::BF16 | Element::F32 | Element::F64 => "real",
    }
}

fn coordinates(what: &Save<'_>, tensor: &Tensor, sparse: &Sparse, to: &mut dyn Output) -> Result<()> {
    sparse.check(&tensor.sizes)?;
    let values = sparse.values()?;
    let (&[rows, columns], &[_]) = (&tensor.sizes[..], &values.sizes[..]) else {
        let (dims, dense) = (tensor.sizes.len(), values.sizes.len() - 1);
        let what = format_args!("Matrix Market files have matrices, and tensor '{}' has {dims} dimensions, {dense} dense", tensor.name);
        return Err(Error::unsupported(what));
    };
    let places = Places::of(what, sparse, [rows, columns])?;
    let (element, bytes) = (what.element(values), what.bytes(values)?);
    let nnz = bytes.len() / element.size();
    let truths = if element == Element::Bool { Some(truths(&places, bytes)?) } else { None };
    let is_kept = |k: usize| truths.as_ref().is_none_or(|truths| truths[k]);
    let kept = truths.as_ref().map_or(nnz, |truths| truths.iter().filter(|&&is_kept| is_kept).count());
    let head = format!("%%MatrixMarket matrix coordinate {} general\n{rows} {columns} {kept}\n", field(element));
    to.write_all(head.as_bytes())?;
    let precision = precision(what);
    let text = |entries: Range<usize>| {
        let mut text = Vec::with_capacity(entries.len() * 24);
        let mut at = places.start(entries.start);
        for k in entries {
            let (row, column) = places.next(&mut at, k)?;
            if !is_kept(k) {
                continue;
            }
            integer(row, &mut text);
            text.push(b' ');
            integer(column, &mut text);
            if element == Element::Bool {
                text.push(b'\n');
            } else {
                text.push(b' ');
                line(&bytes[k * element.size()..][..element.size()], element, precision, b' ', &mut text);
            }
        }
        Ok(text)
    };
    in_parts(nnz, PART, text, to)
}

/// Returns for each entry true if it is the first true entry at its position. Others are omitted, because readers of a pattern add a 1 for
/// each entry.
fn truths(places: &Places<'_>, bytes: &[u8]) -> Result<Vec<bool>> {
    let (mut at, mut kept, mut all) = (places.start(0), grow::list(bytes.len())?, grow::list(bytes.len())?);
    kept.resize(bytes.len(), false);
    for (k, &truth) in bytes.iter().enumerate() {
        let position = places.next(&mut at, k)?;
        if truth != 0 {
            all.push((position, k));
        }
    }
    all.sort_unstable();
    all.dedup_by_key(|&mut (position, _)| position);
    all.iter().for_each(|&(_, k)| kept[k] = true);
    Ok(kept)
}

fn array(what: &Save<'_>, tensor: &Tensor, to: &mut dyn Output) -> Result<()> {
    let (rows, columns) = match tensor.sizes[..] {
        [rows] => (rows as usize, 1),
        [rows, columns] => (rows as usize, columns as usize),
        _ => {
            let dims = tensor.sizes.len();
            return Err(Error::unsupported(format_args!(
                "Matrix Market files have matrices, and tensor '{}' has {dims} dimensions",
                tensor.name
            )));
        }
    };
    let (element, bytes) = (what.element(tensor), what.bytes(tensor)?);
    let kind = if element == Element::Bool { "integer" } else { field(element) };
    to.write_all(format!("%%MatrixMarket matrix array {kind} general\n{rows} {columns}\n").as_bytes())?;
    let (size, precision) = (element.size(), precision(what));
    let text = |numbers: Range<usize>| {
        let mut text = Vec::with_capacity(numbers.len() * 16);
        let mut in_order = grow::list(numbers.len() * size)?;
        for k in numbers {
            let at = (k % rows * columns + k / rows) * size;
            in_order.extend_from_slice(&bytes[at..at + size]);
        }
        line(&in_order, element, precision, b'\n', &mut text);
        Ok(text)
    };
    in_parts(bytes.len() / size, PART, text, to)
}
