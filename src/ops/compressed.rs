//! Products of matrices of compressed rows (CSR), given by three vectors: where rows start among the entries, the column of each entry, and
//! the entries.

use super::dense::{dense, operand};
use super::result::{Inputs, Writes, ready};
use super::view;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Compressed;
use crate::operand::Operand;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Where rows start, and the column of each entry: row-major vectors of one integer dtype.
pub struct Pattern {
    starts: Operand,
    columns: Operand,
}

impl Pattern {
    /// The pattern of two vectors.
    pub fn of(crow: &Tensor, col: &Tensor) -> Result<Pattern> {
        for (t, name) in [(crow, "crow"), (col, "col")] {
            let (dtype, shape) = (t.defined()?, t.layout()?.shape);
            if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
                bail!(Dtype, "'{name}' is int64 or int32, not {dtype}")
            }
            if shape.len() != 1 || (name == "crow" && shape[0] == 0) {
                bail!(
                    Shape,
                    "'{name}' has shape {:?}, expected a vector{}",
                    shape.as_slice(),
                    if name == "crow" { " of at least 1" } else { "" }
                )
            }
        }
        let dtype = if crow.dtype() == col.dtype() { crow.defined()? } else { Dtype::Int64 };
        Ok(Pattern { starts: operand(crow, dtype)?, columns: operand(col, dtype)? })
    }

    /// The number of rows.
    pub fn rows(&self) -> i64 {
        self.starts.layout.numel() - 1
    }

    /// The number of entries.
    pub fn entries(&self) -> i64 {
        self.columns.layout.numel()
    }
}

/// The dtype in which entries of another are multiplied and summed.
fn compute(dtype: Dtype) -> Dtype {
    match dtype.compute() {
        float if float.is_float() => float,
        _ => Dtype::Int64,
    }
}

/// `t` as a row-major matrix of `dtype`: a vector is one column.
fn matrix(t: &Tensor, name: &str, rows: i64, dtype: Dtype) -> Result<(Operand, bool)> {
    let shape = t.layout()?.shape;
    match shape.as_slice() {
        &[n] | &[n, _] if rows < 0 || n == rows => {
            let t = dense(t, compute(dtype))?;
            Ok((Operand::of(&if shape.len() == 1 { view::reshape(&t, &[n, 1])? } else { t })?, shape.len() == 1))
        }
        _ if rows < 0 => bail!(Shape, "'{name}' has shape {:?}, expected a vector or a matrix", shape.as_slice()),
        _ => bail!(Shape, "'{name}' has shape {:?}, expected {rows} rows", shape.as_slice()),
    }
}

/// Fails unless the dtypes of two operands are one.
fn one_dtype(a: &Tensor, b: &Tensor) -> Result<Dtype> {
    let (a, b) = (a.defined()?, b.defined()?);
    if a != b {
        bail!(Dtype, "expected operands of one dtype, got {a} and {b}")
    }
    Ok(a)
}

/// The entries, a vector as long as the pattern.
fn entries(values: Option<&Tensor>, pattern: &Pattern, dtype: Dtype) -> Result<Option<Operand>> {
    let Some(values) = values else { return Ok(None) };
    let shape = values.layout()?.shape;
    if shape.as_slice() != [pattern.entries()] {
        bail!(Shape, "'values' has shape {:?}, expected one for each of {} columns", shape.as_slice(), pattern.entries())
    }
    operand(values, compute(dtype)).map(Some)
}

/// Lets a device write a result. Where it meets a position that leads nowhere, the result is as it was: it is written apart.
fn launch(r: &Tensor, dtype: Dtype, shape: &[i64], work: Compressed, inputs: SmallVec<[Operand; 5]>) -> Result<()> {
    let mut all = inputs;
    let refs = all.len();
    // The result's own elements are among those that are not overwritten early.
    if r.storage().is_some() && r.dtype().is_some() {
        all.push(Operand::of(r)?);
    }
    let ready = ready(r, (dtype, shape), Writes::ROW_MAJOR.of(compute(dtype)), Inputs::anywhere(&all))?;
    let refs: SmallVec<[&Operand; 4]> = all[..refs].iter().collect();
    ready.launch(&work, &refs)
}

/// `r = A m` for A of compressed rows and a matrix or a vector `m`; without `values` each entry of A is 1.
pub fn product(r: &Tensor, crow: &Tensor, col: &Tensor, values: Option<&Tensor>, m: &Tensor) -> Result<()> {
    let dtype = values.map_or_else(|| m.defined(), |values| one_dtype(values, m))?;
    let pattern = Pattern::of(crow, col)?;
    let ((dense, is_vector), rows) = (matrix(m, "m", -1, dtype)?, pattern.rows());
    let values = entries(values, &pattern, dtype)?;
    let shape = [rows, dense.layout.shape[1]];
    let inputs = [pattern.starts, pattern.columns, dense].into_iter().chain(values).collect();
    launch(r, dtype, &shape[..2 - usize::from(is_vector)], Compressed::Product, inputs)
}

/// `r = A' m` for A of compressed rows and `columns` columns, and a matrix or a vector `m`; without `values` each entry of A is 1.
pub fn transposed_product(r: &Tensor, crow: &Tensor, col: &Tensor, values: Option<&Tensor>, m: &Tensor, columns: i64) -> Result<()> {
    let dtype = values.map_or_else(|| m.defined(), |values| one_dtype(values, m))?;
    if columns < 0 {
        bail!(Argument, "{columns} columns")
    }
    let pattern = Pattern::of(crow, col)?;
    let (dense, is_vector) = matrix(m, "m", pattern.rows(), dtype)?;
    let values = entries(values, &pattern, dtype)?;
    let shape = [columns, dense.layout.shape[1]];
    let inputs = [pattern.starts, pattern.columns, dense].into_iter().chain(values).collect();
    launch(r, dtype, &shape[..2 - usize::from(is_vector)], Compressed::Transposed, inputs)
}

/// `r[k] = a[i] . b[j]` for each entry `k` of a pattern, which stands in row `i` and column `j`; vectors are matrices of one column.
pub fn sampled_product(r: &Tensor, crow: &Tensor, col: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = one_dtype(a, b)?;
    let pattern = Pattern::of(crow, col)?;
    let ((a, _), (b, _)) = (matrix(a, "a", pattern.rows(), dtype)?, matrix(b, "b", -1, dtype)?);
    if a.layout.shape[1] != b.layout.shape[1] {
        bail!(Shape, "rows of {} and of {} elements", a.layout.shape[1], b.layout.shape[1])
    }
    let n = pattern.entries();
    let inputs = [pattern.starts, pattern.columns, a, b].into_iter().collect();
    launch(r, dtype, &[n], Compressed::Sampled, inputs)
}
