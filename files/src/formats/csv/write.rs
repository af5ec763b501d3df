//! Writing a table.

use super::fields::MOST_NAMES;
use super::numbers::number;
use crate::error::{Error, Result};
use crate::formats::text::write::{PART, in_parts, line, precision};
use crate::save::{Output, Save};
use std::ops::Range;

pub fn write_csv(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write(what, to, b',')
}

pub fn write_tsv(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write(what, to, b'\t')
}

/// Writes the names of the columns, if the metadata has names, and a line for each row. A tensor of one dimension is one column.
fn write(what: &Save<'_>, to: &mut dyn Output, separator: u8) -> Result<()> {
    let tensor = what.only();
    let columns = match tensor.sizes[..] {
        [_] => 1,
        [_, columns] => columns as usize,
        _ => {
            let dims = tensor.sizes.len();
            return Err(Error::unsupported(format_args!(
                "tables of text have one or two dimensions, and tensor '{}' has {dims}",
                tensor.name
            )));
        }
    };
    let names = header(what, columns, separator)?;
    let (element, bytes) = (what.element(tensor), what.bytes(tensor)?);
    if bytes.is_empty() && (names.is_empty() || tensor.sizes[0] > 0) {
        let sizes = &tensor.sizes;
        let what = "tables of text have at least one row or names of columns, and at least one column";
        return Err(Error::unsupported(format_args!("{what}, and tensor '{}' has sizes {sizes:?}", tensor.name)));
    }
    to.write_all(&names)?;
    if bytes.is_empty() {
        return Ok(());
    }
    let (row, precision) = (columns * element.size(), precision(what));
    let text = |rows: Range<usize>| {
        let bytes = &bytes[rows.start * row..rows.end * row];
        let mut text = Vec::with_capacity(bytes.len() / element.size() * 8);
        bytes.chunks_exact(row).for_each(|row| line(row, element, precision, separator, &mut text));
        Ok(text)
    };
    in_parts(bytes.len() / row, (PART / columns).max(1), text, to)
}

/// Returns the line with the names of the columns, which are the metadata `columns.0`, `columns.1`, ... Columns without a name have an
/// empty name. If all names are empty, the line is empty.
fn header<'a>(what: &Save<'a>, columns: usize, separator: u8) -> Result<Vec<u8>> {
    let named = |(key, name): &'a (String, String)| {
        let column = key.strip_prefix("columns.")?.parse().ok().filter(|&column: &usize| column < columns)?;
        (!name.is_empty()).then_some((column, name.as_str()))
    };
    let mut line = Vec::new();
    if what.metadata.iter().find_map(named).is_none() {
        return Ok(line);
    }
    if columns > MOST_NAMES {
        return Err(Error::unsupported(format_args!("at most {MOST_NAMES} columns have names, and there are {columns}")));
    }
    let mut names = vec![""; columns];
    what.metadata.iter().filter_map(named).for_each(|(column, name)| names[column] = name);
    if names.iter().all(|name| number(name.as_bytes(), separator).is_some()) {
        return Err(Error::unsupported(format_args!("all names of columns are numbers, and would be read as a row")));
    }
    for (column, name) in names.into_iter().enumerate() {
        if name.contains(['\n', '\r']) {
            return Err(Error::unsupported(format_args!("the name of column {column} has an end of line")));
        }
        if column > 0 {
            line.push(separator);
        }
        let special = |byte: u8| byte == separator || matches!(byte, b'"' | b'#' | b',' | b';' | b'\t');
        if name.bytes().any(special) || name.trim() != name {
            line.extend_from_slice(format!("\"{}\"", name.replace('"', "\"\"")).as_bytes());
        } else {
            line.extend_from_slice(name.as_bytes());
        }
    }
    line.push(b'\n');
    Ok(line)
}
