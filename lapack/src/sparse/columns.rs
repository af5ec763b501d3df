//! Sparse matrices in memory: compressed rows as input, compressed columns for decompositions.

use super::{Failure, copied, filled};

/// A square matrix of compressed rows.
#[derive(Clone, Copy)]
pub struct Rows<'a, I = i64> {
    /// The index of the first entry of each row, followed by the number of entries.
    pub starts: &'a [I],
    /// The column of each entry.
    pub columns: &'a [I],
    /// The values of the entries.
    pub values: &'a [f64],
}

/// An integer type of positions.
pub trait Position: Copy {
    /// The position as an index.
    fn place(self) -> usize;
}

impl Position for i64 {
    fn place(self) -> usize {
        self as usize
    }
}

impl Position for usize {
    fn place(self) -> usize {
        self
    }
}

/// A square matrix of compressed columns.
#[derive(PartialEq)]
pub struct Columns {
    /// The index of the first entry of each column, followed by the number of entries.
    pub starts: Vec<usize>,
    /// The row of each entry, ascending within a column.
    pub rows: Vec<usize>,
    /// The values of the entries.
    pub values: Vec<f64>,
}

impl<I: Position> Rows<'_, I> {
    /// The matrix as compressed columns. Entries of one position stay adjacent and keep their order.
    pub fn transposed(self) -> Result<Columns, Failure> {
        let (n, count) = (self.starts.len() - 1, self.columns.len());
        let mut starts = filled(n + 1, 0)?;
        self.columns.iter().for_each(|column| starts[column.place() + 1] += 1);
        (0..n).for_each(|j| starts[j + 1] += starts[j]);
        let (mut rows, mut values, mut next) = (filled(count, 0)?, filled(count, 0.0)?, copied(&starts)?);
        for i in 0..n {
            for k in self.starts[i].place()..self.starts[i + 1].place() {
                let to = &mut next[self.columns[k].place()];
                (rows[*to], values[*to]) = (i, self.values[k]);
                *to += 1;
            }
        }
        Ok(Columns { starts, rows, values })
    }
}

impl Columns {
    /// The number of columns.
    pub fn n(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of the entries of column j.
    pub fn pattern(&self, j: usize) -> &[usize] {
        &self.rows[self.starts[j]..self.starts[j + 1]]
    }

    /// The entries of column j: rows and values.
    pub fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[j]..self.starts[j + 1];
        self.rows[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Returns true if all elements of the diagonal are positive.
    pub fn has_positive_diagonal(&self) -> bool {
        (0..self.n()).all(|j| self.pattern(j).binary_search(&j).is_ok_and(|k| self.values[self.starts[j] + k] > 0.0))
    }

    /// The columns as the rows of the transposed matrix.
    pub fn as_rows(&self) -> Rows<'_, usize> {
        Rows { starts: &self.starts, columns: &self.rows, values: &self.values }
    }

    /// Adds up entries of one position.
    pub fn merge(&mut self) {
        let (mut to, mut from) = (0, 0);
        for j in 0..self.n() {
            let first = to;
            for k in from..self.starts[j + 1] {
                if to > first && self.rows[to - 1] == self.rows[k] {
                    self.values[to - 1] += self.values[k];
                } else {
                    (self.rows[to], self.values[to]) = (self.rows[k], self.values[k]);
                    to += 1;
                }
            }
            (from, self.starts[j + 1]) = (self.starts[j + 1], to);
        }
        self.rows.truncate(to);
        self.values.truncate(to);
    }
}
