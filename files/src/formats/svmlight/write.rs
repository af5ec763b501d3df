//! Writing a data set.

use super::{DATA, LABELS, QID};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::formats::text::lines::LONGEST;
use crate::formats::text::places::Places;
use crate::formats::text::write::{PART, end_line, in_parts, integer, numbers, precision};
use crate::grow;
use crate::save::{Output, Save};
use crate::tensor::Tensor;
use std::ops::Range;

/// Writes the tensors `labels`, `data` and `qid`. `qid` may be missing. All entries of a sparse matrix `data` are written. If `data` is
/// dense, the elements other than 0 are written. True is written as 1.
pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let find = |name| what.tensors.iter().find(|tensor| tensor.name == name);
    let queries = find(QID);
    let (Some(labels), Some(data)) = (find(LABELS), find(DATA)) else { return Err(other_tensors(what)) };
    if what.tensors.len() != 2 + usize::from(queries.is_some()) {
        return Err(other_tensors(what));
    }
    let [rows, columns] = data.sizes[..] else {
        let dims = data.sizes.len();
        return Err(Error::unsupported(format_args!("'{DATA}' of svmlight files is a matrix, and has {dims} dimensions")));
    };
    let labels = Numbers::of(what, labels, rows)?;
    let queries = queries.map(|queries| Numbers::of(what, queries, rows)).transpose()?;
    if let Some(Numbers { element, .. }) = queries
        && matches!(element, Element::Bool | Element::F16 | Element::BF16 | Element::F32 | Element::F64)
    {
        return Err(Error::unsupported(format_args!("'{QID}' has integers, not {}", element.name())));
    }
    let matrix = Matrix::of(what, data, [rows, columns])?;
    let precision = precision(what);
    let text = |rows: Range<usize>| {
        let mut text = Vec::new();
        for row in rows {
            let start = text.len();
            labels.append(row, precision, &mut text);
            if let Some(queries) = &queries {
                text.extend_from_slice(b"qid:");
                queries.append(row, None, &mut text);
            }
            matrix.append(row, precision, &mut text)?;
            end_line(&mut text);
            if text.len() - start > LONGEST {
                return Err(Error::unsupported(format_args!("row {row} is longer than {LONGEST} bytes")));
            }
        }
        Ok(text)
    };
    in_parts(rows as usize, (PART / matrix.entries_of_row().saturating_add(1)).max(1), text, to)
}

#[cold]
fn other_tensors(what: &Save<'_>) -> Error {
    let names: Vec<_> = what.tensors.iter().take(8).map(|tensor| format!("'{}'", tensor.name)).collect();
    let (count, names) = (what.tensors.len(), names.join(", "));
    Error::unsupported(format_args!("svmlight files have the tensors '{LABELS}', '{DATA}' and possibly '{QID}', not {count}: {names}"))
}

/// The elements of a tensor.
struct Numbers<'a> {
    element: Element,
    bytes: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Returns the elements of a vector with an element for each row.
    fn of(what: &Save<'a>, tensor: &Tensor, rows: i64) -> Result<Numbers<'a>> {
        if tensor.sizes != [rows] {
            let (name, sizes) = (&tensor.name, &tensor.sizes);
            return Err(Error::unsupported(format_args!("'{DATA}' has {rows} rows, and '{name}' has sizes {sizes:?}, not [{rows}]")));
        }
        let (element, bytes) = (what.storage(tensor)?.0, what.bytes(tensor)?);
        Ok(Numbers { element, bytes })
    }

    fn get(&self, k: usize) -> &'a [u8] {
        &self.bytes[k * self.element.size()..][..self.element.size()]
    }

    /// Appends element `k` and a blank.
    fn append(&self, k: usize, precision: Option<usize>, text: &mut Vec<u8>) {
        numbers(self.get(k), self.element, precision, b' ', text);
    }

    fn is_zero(&self, k: usize) -> bool {
        let is_float = matches!(self.element, Element::F16 | Element::BF16 | Element::F32 | Element::F64);
        // The sign of a float is ignored.
        let mask = if is_float { 0x7f } else { 0xff };
        self.get(k).split_last().is_none_or(|(&last, bytes)| last & mask == 0 && bytes.iter().all(|&byte| byte == 0))
    }
}

/// The matrix of a data set.
enum Matrix<'a> {
    /// The elements, and the number of columns.
    Dense(Numbers<'a>, usize),
    Sparse {
        values: Numbers<'a>,
        places: Places<'a>,
        /// The index of the first entry of each row, and last the number of entries.
        starts: Vec<usize>,
        /// The row, the column and the number of each entry, in ascending order; `None` if the entries of the tensor have this order.
        sorted: Option<Vec<(i64, i64, usize)>>,
    },
}

impl<'a> Matrix<'a> {
    /// The tensor of the labels must have shown that the rows fit in memory.
    fn of(what: &Save<'a>, data: &Tensor, sizes: [i64; 2]) -> Result<Matrix<'a>> {
        let Some(sparse) = what.sparse(data)? else {
            let (element, bytes) = (what.storage(data)?.0, what.bytes(data)?);
            return Ok(Matrix::Dense(Numbers { element, bytes }, sizes[1] as usize));
        };
        sparse.check(&data.sizes)?;
        let values = sparse.values()?;
        let nnz = sparse.nnz();
        if values.sizes.len() != 1 {
            return Err(Error::unsupported(format_args!("'{DATA}' of svmlight files has no dense dimensions")));
        }
        let values = Numbers::of(what, values, nnz)?;
        let places = Places::of(what, sparse, sizes)?;
        let mut starts = grow::list(sizes[0] as usize + 1)?;
        starts.resize(sizes[0] as usize + 1, 0);
        let (mut at, mut before, mut ascends) = (places.start(0), (0, 0), true);
        for k in 0..nnz as usize {
            let position = places.next(&mut at, k)?;
            starts[position.0 as usize] += 1;
            ascends &= before < position;
            before = position;
        }
        (1..starts.len()).for_each(|row| starts[row] += starts[row - 1]);
        let sorted = if ascends { None } else { Some(sorted(&places, nnz as usize)?) };
        Ok(Matrix::Sparse { values, places, starts, sorted })
    }

    /// Returns the mean number of entries of a row.
    fn entries_of_row(&self) -> usize {
        match self {
            Matrix::Dense(_, columns) => *columns,
            Matrix::Sparse { starts, .. } => starts.last().map_or(0, |nnz| nnz / starts.len()),
        }
    }

    /// Appends the pairs of a row, each with a blank.
    fn append(&self, row: usize, precision: Option<usize>, text: &mut Vec<u8>) -> Result<()> {
        let pair = |index: i64, values: &Numbers<'_>, k: usize, text: &mut Vec<u8>| {
            integer(index, text);
            text.push(b':');
            values.append(k, precision, text);
        };
        match self {
            Matrix::Dense(values, columns) => {
                let elements = (0..*columns).map(|column| (column, row * columns + column));
                elements.filter(|&(_, k)| !values.is_zero(k)).for_each(|(column, k)| pair(column as i64 + 1, values, k, text));
            }
            Matrix::Sparse { values, places, starts, sorted } => {
                let mut at = places.start(starts[row]);
                for k in starts[row]..starts[row + 1] {
                    let (column, k) = match sorted {
                        Some(sorted) => (sorted[k].1, sorted[k].2),
                        None => (places.next(&mut at, k)?.1, k),
                    };
                    pair(column, values, k, text);
                }
            }
        }
        Ok(())
    }
}

/// Returns the rows, the columns and the numbers of all entries, sorted. Fails if two entries have one position.
fn sorted(places: &Places<'_>, nnz: usize) -> Result<Vec<(i64, i64, usize)>> {
    let (mut at, mut all) = (places.start(0), grow::list(nnz)?);
    for k in 0..nnz {
        let (row, column) = places.next(&mut at, k)?;
        all.push((row, column, k));
    }
    all.sort_unstable();
    match all.windows(2).find(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1)) {
        Some(pair) => {
            let (row, column, _) = pair[0];
            let what = format_args!("'{DATA}' has two entries at row {row}, column {column}, counted from 1: coalesce it first");
            Err(Error::unsupported(what))
        }
        None => Ok(all),
    }
}
