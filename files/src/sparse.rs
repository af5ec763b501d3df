//! Sparse tensors: the positions and values of their entries, as dense tensors.

use crate::error::{Error, Result};
use crate::tensor::{Data, Tensor};

/// The form of the positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One tensor [sparse dimensions x entries].
    Coordinates,
    /// For each sparse dimension a vector [entries].
    Vectors,
    /// A matrix by rows: a vector [rows + 1] with the index of the first entry of each row, and a vector [entries] with the columns.
    Rows,
    /// A matrix by columns: a vector [columns + 1] with the index of the first entry of each column, and a vector [entries] with the rows.
    Columns,
}

/// The parts of a sparse tensor. The [`Tensor`] that refers to the parts has the name and the sizes.
#[derive(Debug)]
pub struct Sparse {
    /// The form of the positions.
    pub form: Form,
    /// Tensors without names: the positions in this form, and then the values [entries x dense sizes].
    pub parts: Vec<Tensor>,
    /// True if the file states that the positions ascend in row-major order without duplicates.
    pub coalesced: bool,
}

impl Sparse {
    /// Returns the values.
    pub fn values(&self) -> Result<&Tensor> {
        self.parts.last().ok_or_else(|| Error::broken(format_args!("it is sparse and has no values")))
    }

    /// Returns the number of entries.
    pub fn nnz(&self) -> i64 {
        self.parts.last().and_then(|values| values.sizes.first()).copied().unwrap_or(0)
    }

    /// Fails unless the shapes of the parts match the sizes of the tensor.
    pub fn check(&self, sizes: &[i64]) -> Result<()> {
        if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
            return Err(Error::broken(format_args!("size {size} is negative")));
        }
        let [places @ .., values] = &self.parts[..] else {
            return Err(Error::broken(format_args!("it is sparse and has no values")));
        };
        if self.parts.iter().any(|part| !matches!(part.data, Data::Storage(_))) {
            return Err(Error::broken(format_args!("it is sparse and has parts without elements")));
        }
        let nnz = self.nnz();
        let starts = |size: i64| size.checked_add(1).unwrap_or(-1);
        let (fits, dims) = match (self.form, places) {
            (Form::Coordinates, [indices]) => match indices.sizes[..] {
                [dims, count] => (count == nnz && dims <= sizes.len() as i64, dims as usize),
                _ => (false, 0),
            },
            (Form::Vectors, _) => (places.len() <= sizes.len() && places.iter().all(|place| place.sizes == [nnz]), places.len()),
            (Form::Rows, [crow, col]) => (sizes.len() == 2 && crow.sizes == [starts(sizes[0])] && col.sizes == [nnz], 2),
            (Form::Columns, [ccol, row]) => (sizes.len() == 2 && ccol.sizes == [starts(sizes[1])] && row.sizes == [nnz], 2),
            _ => (false, 0),
        };
        if !fits || values.sizes.is_empty() || values.sizes[1..] != sizes[dims..] {
            let parts = Shapes(&self.parts);
            return Err(Error::broken(format_args!("a sparse tensor of sizes {:?} has parts of sizes {parts}", Short(sizes))));
        }
        Ok(())
    }
}

/// Prints the sizes of tensors, for messages.
struct Shapes<'a>(&'a [Tensor]);

impl std::fmt::Display for Shapes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().enumerate().try_for_each(|(k, part)| write!(f, "{}{:?}", if k > 0 { ", " } else { "" }, Short(&part.sizes)))
    }
}

/// Prints the first sizes of a tensor.
struct Short<'a>(&'a [i64]);

impl std::fmt::Debug for Short<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}{}", &self.0[..self.0.len().min(8)], if self.0.len() > 8 { " and more" } else { "" })
    }
}
