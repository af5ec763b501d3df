//! The positions of a sparse matrix that is written.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::save::Save;
use crate::sparse::{Form, Sparse};
use crate::tensor::Tensor;

/// The integers of a tensor.
#[derive(Clone, Copy)]
enum Integers<'a> {
    Short(&'a [[u8; 4]]),
    Long(&'a [[u8; 8]]),
}

impl<'a> Integers<'a> {
    fn of(what: &Save<'a>, tensor: &Tensor) -> Result<Integers<'a>> {
        let bytes = what.bytes(tensor)?;
        match what.element(tensor) {
            Element::I32 => Ok(Integers::Short(bytes.as_chunks().0)),
            Element::I64 => Ok(Integers::Long(bytes.as_chunks().0)),
            other => Err(Error::unsupported(format_args!("positions are int32 or int64, not {}", other.name()))),
        }
    }

    fn len(self) -> usize {
        match self {
            Integers::Short(all) => all.len(),
            Integers::Long(all) => all.len(),
        }
    }

    fn get(self, k: usize) -> i64 {
        match self {
            Integers::Short(all) => all.get(k).map_or(-1, |&bytes| i32::from_le_bytes(bytes).into()),
            Integers::Long(all) => all.get(k).map_or(-1, |&bytes| i64::from_le_bytes(bytes)),
        }
    }
}

/// The positions of a matrix's entries.
pub struct Places<'a> {
    form: Positions<'a>,
    /// The numbers of rows and columns.
    sizes: [i64; 2],
}

enum Positions<'a> {
    /// Rows and columns, in one tensor or two. The columns begin at this index of the second.
    Coordinates(Integers<'a>, Integers<'a>, usize),
    /// The starts of the rows or columns, and the positions within a row or column. True for rows.
    Lines(Integers<'a>, Integers<'a>, bool),
}

impl<'a> Places<'a> {
    /// Returns the positions of a matrix of these sizes. [`Sparse::check`] must have accepted the matrix.
    pub fn of(what: &Save<'a>, sparse: &Sparse, sizes: [i64; 2]) -> Result<Places<'a>> {
        let all = |k: usize| Integers::of(what, &sparse.parts[k]);
        let form = match sparse.form {
            Form::Coordinates => Positions::Coordinates(all(0)?, all(0)?, sparse.nnz() as usize),
            Form::Vectors => Positions::Coordinates(all(0)?, all(1)?, 0),
            Form::Rows | Form::Columns => Positions::Lines(all(0)?, all(1)?, sparse.form == Form::Rows),
        };
        Ok(Places { form, sizes })
    }

    /// Returns the row or column of entry `k`, from which [`Places::next`] continues. 0 for coordinates.
    pub fn start(&self, k: usize) -> usize {
        let Positions::Lines(starts, ..) = self.form else { return 0 };
        // A binary search for the first row or column that starts after the entry.
        let (mut least, mut most) = (0, starts.len());
        while least < most {
            let middle = least.midpoint(most);
            if starts.get(middle) <= k as i64 { least = middle + 1 } else { most = middle }
        }
        least.saturating_sub(1)
    }

    /// Returns the row and the column of entry `k`, from 1. `line` is the row or column of the entry before `k`, and is advanced. Fails for
    /// a position out of range.
    pub fn next(&self, line: &mut usize, k: usize) -> Result<(i64, i64)> {
        let (row, column) = match self.form {
            Positions::Coordinates(rows, columns, start) => (rows.get(k).saturating_add(1), columns.get(start + k).saturating_add(1)),
            Positions::Lines(starts, inner, by_rows) => {
                while *line + 1 < starts.len() && starts.get(*line + 1) <= k as i64 {
                    *line += 1;
                }
                let (outer, inner) = (*line as i64 + 1, inner.get(k).saturating_add(1));
                if by_rows { (outer, inner) } else { (inner, outer) }
            }
        };
        let [rows, columns] = self.sizes;
        if row.wrapping_sub(1) as u64 >= rows as u64 || column.wrapping_sub(1) as u64 >= columns as u64 {
            return Err(Error::broken(format_args!("entry {k} is at {row}, {column}, out of range for {rows} x {columns}, from 1")));
        }
        Ok((row, column))
    }
}
