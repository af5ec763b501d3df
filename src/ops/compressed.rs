//! Matrices of compressed rows (CSR), given by three vectors: the index of each row's first entry, the column of each entry, and the values
//! of the entries.

use super::copy;
use super::dense::{dense, operand};
use super::device::{self, on_host, to_device};
use super::result::{Inputs, Writes, deliver, ready};
use super::view;
use crate::backend;
use crate::device::{Device, DeviceGuard};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Compress, Compressed, Launchable, RowSoftmax, RowSolve, Sides, SparseProduct};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The starts of the rows, and the column of each entry: row-major vectors of one integer dtype.
pub struct Pattern {
    starts: Operand,
    columns: Operand,
}

/// Fails if `t` is not a vector of at least `least` positions.
pub(super) fn check_positions(t: &Tensor, name: &str, least: i64) -> Result<Dtype> {
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "'{name}' is int64 or int32, not {dtype}")
    }
    if shape.len() != 1 || shape[0] < least {
        let expected = if least > 0 { " of at least 1" } else { "" };
        bail!(Shape, "'{name}' has shape {:?}, expected a vector{expected}", shape.as_slice())
    }
    Ok(dtype)
}

/// The dtype in which positions of several vectors are read.
fn common(dtypes: &[Dtype]) -> Dtype {
    if dtypes.iter().all(|&dtype| dtype == Dtype::Int32) { Dtype::Int32 } else { Dtype::Int64 }
}

impl Pattern {
    /// The common dtype of the positions in two vectors. The names are for messages.
    fn dtype([crow, col]: [&Tensor; 2], [crow_name, col_name]: [&str; 2]) -> Result<Dtype> {
        Ok(common(&[check_positions(crow, crow_name, 1)?, check_positions(col, col_name, 0)?]))
    }

    /// The pattern of two checked vectors, in `dtype`.
    fn read([crow, col]: [&Tensor; 2], dtype: Dtype) -> Result<Pattern> {
        Ok(Pattern { starts: operand(crow, dtype)?, columns: operand(col, dtype)? })
    }

    /// The pattern of two vectors, which are checked.
    pub fn of(crow: &Tensor, col: &Tensor) -> Result<Pattern> {
        let dtype = Pattern::dtype([crow, col], ["crow", "col"])?;
        Pattern::read([crow, col], dtype)
    }

    /// The number of rows.
    pub fn rows(&self) -> i64 {
        self.starts.layout().numel() - 1
    }

    /// The number of entries.
    pub fn entries(&self) -> i64 {
        self.columns.layout().numel()
    }
}

/// The dtype in which entries of `dtype` are multiplied and summed.
fn compute(dtype: Dtype) -> Dtype {
    match dtype.compute() {
        float if float.is_float() => float,
        _ => Dtype::Int64,
    }
}

/// `t` as a row-major matrix in the compute type of `dtype`, and true if `t` is a vector, which becomes one column.
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

/// The common dtype of two operands. Different dtypes are an error.
pub(super) fn one_dtype(a: &Tensor, b: &Tensor) -> Result<Dtype> {
    let (a, b) = (a.defined()?, b.defined()?);
    if a != b {
        bail!(Dtype, "expected operands of one dtype, got {a} and {b}")
    }
    Ok(a)
}

/// The values of the entries: a vector as long as the pattern.
fn entries(values: &Tensor, name: &str, pattern: &Pattern, dtype: Dtype) -> Result<Operand> {
    let shape = values.layout()?.shape;
    if shape.as_slice() != [pattern.entries()] {
        bail!(Shape, "'{name}' has shape {:?}, expected one for each of {} columns", shape.as_slice(), pattern.entries())
    }
    operand(values, compute(dtype))
}

/// Has a device write the result to separate memory, so that an invalid position leaves `r` unchanged.
fn launch(r: &Tensor, dtype: Dtype, shape: &[i64], work: impl Launchable, inputs: SmallVec<[Operand; 8]>) -> Result<()> {
    let mut all = inputs;
    let refs = all.len();
    // The memory of `r` counts as an input: it is not overwritten before the work is done.
    if r.storage().is_some() && r.dtype().is_some() {
        all.push(Operand::of(r)?);
    }
    let ready = ready(r, (dtype, shape), Writes::ROW_MAJOR.of(compute(dtype)), Inputs::anywhere(&all))?;
    let refs: SmallVec<[&Operand; 8]> = all[..refs].iter().collect();
    ready.launch(&work, &refs)
}

/// `r = A m`, where A has compressed rows and `m` is a matrix or a vector. Without `values`, each entry of A is 1.
pub fn product(r: &Tensor, crow: &Tensor, col: &Tensor, values: Option<&Tensor>, m: &Tensor) -> Result<()> {
    let dtype = values.map_or_else(|| m.defined(), |values| one_dtype(values, m))?;
    let pattern = Pattern::of(crow, col)?;
    let ((dense, is_vector), rows) = (matrix(m, "m", -1, dtype)?, pattern.rows());
    let values = values.map(|values| entries(values, "values", &pattern, dtype)).transpose()?;
    let shape = [rows, dense.layout().shape[1]];
    let inputs = [pattern.starts, pattern.columns, dense].into_iter().chain(values).collect();
    launch(r, dtype, &shape[..2 - usize::from(is_vector)], Compressed::Product, inputs)
}

/// `r = A^T m`, where A has compressed rows and `columns` columns, and `m` is a matrix or a vector. Without `values`, each entry of A is 1.
pub fn transposed_product(r: &Tensor, crow: &Tensor, col: &Tensor, values: Option<&Tensor>, m: &Tensor, columns: i64) -> Result<()> {
    let dtype = values.map_or_else(|| m.defined(), |values| one_dtype(values, m))?;
    if columns < 0 {
        bail!(Argument, "{columns} columns")
    }
    let pattern = Pattern::of(crow, col)?;
    let (dense, is_vector) = matrix(m, "m", pattern.rows(), dtype)?;
    let values = values.map(|values| entries(values, "values", &pattern, dtype)).transpose()?;
    let shape = [columns, dense.layout().shape[1]];
    let inputs = [pattern.starts, pattern.columns, dense].into_iter().chain(values).collect();
    launch(r, dtype, &shape[..2 - usize::from(is_vector)], Compressed::Transposed, inputs)
}

/// `r[k] = a[i] . b[j]` for each entry `k` of a pattern, where `i` and `j` are the entry's row and column. Vectors are matrices of one
/// column.
pub fn sampled_product(r: &Tensor, crow: &Tensor, col: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = one_dtype(a, b)?;
    let pattern = Pattern::of(crow, col)?;
    let ((a, _), (b, _)) = (matrix(a, "a", pattern.rows(), dtype)?, matrix(b, "b", -1, dtype)?);
    if a.layout().shape[1] != b.layout().shape[1] {
        bail!(Shape, "rows of {} and of {} elements", a.layout().shape[1], b.layout().shape[1])
    }
    let n = pattern.entries();
    let inputs = [pattern.starts, pattern.columns, a, b].into_iter().collect();
    launch(r, dtype, &[n], Compressed::Sampled, inputs)
}

/// The compute type of `dtype`, which must be a float.
fn floats(dtype: Dtype) -> Result<Dtype> {
    Domain::Float.check(dtype).map(|dtype| dtype.compute())
}

/// `r` = the softmax of the entries of each row
pub fn softmax(r: &Tensor, crow: &Tensor, values: &Tensor) -> Result<()> {
    softmax_of_rows(r, crow, values, None)
}

/// `r = y * (g - sum of g * y)` over each row: the gradient of [`softmax`] from its result `y`
pub fn softmax_gradient(r: &Tensor, crow: &Tensor, g: &Tensor, y: &Tensor) -> Result<()> {
    one_dtype(g, y)?;
    if g.layout()?.shape != y.layout()?.shape {
        let (g, y) = (g.layout()?.shape, y.layout()?.shape);
        bail!(Shape, "a gradient of shape {:?} for a result of shape {:?}", g.as_slice(), y.as_slice())
    }
    softmax_of_rows(r, crow, g, Some(y))
}

fn softmax_of_rows(r: &Tensor, crow: &Tensor, x: &Tensor, y: Option<&Tensor>) -> Result<()> {
    let (dtype, shape) = (x.defined()?, x.layout()?.shape);
    let compute = floats(dtype)?;
    let positions = check_positions(crow, "crow", 1)?;
    if shape.len() != 1 {
        bail!(Shape, "entries have shape {:?}, expected a vector", shape.as_slice())
    }
    let inputs = [operand(crow, positions), operand(x, compute)].into_iter().chain(y.map(|y| operand(y, compute)));
    launch(r, dtype, &shape, RowSoftmax { gradient: y.is_some() }, inputs.collect::<Result<_>>()?)
}

/// The device of operands whose work is done on the host; `None` if the operands are on the host. Different devices are an error.
pub(super) fn elsewhere(operands: &[&Tensor]) -> Result<Option<Device>> {
    let device = operands.first().map_or(Device::Cpu, |t| t.device());
    if let Some(other) = operands.iter().map(|t| t.device()).find(|&other| other != device) {
        bail!(Device, "expected tensors on one device, got {device} and {other}")
    }
    Ok(Some(device).filter(|&device| device != Device::Cpu))
}

/// `r` = a tensor that `compute` makes on the host, moved to `device`
fn by_host(r: &Tensor, dtype: Dtype, device: Device, compute: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
    let host = DeviceGuard::on(Device::Cpu);
    let made = Tensor::fresh()?;
    compute(&made)?;
    drop(host);
    deliver([Some((r, dtype, &to_device(&made, device)?))])
}

/// `r` = X with `A X = B`, where A is a triangle of a square matrix of compressed rows
pub fn solve(r: &Tensor, [crow, col, values]: [&Tensor; 3], b: &Tensor, work: RowSolve) -> Result<()> {
    if let Some(device) = elsewhere(&[crow, col, values, b])? {
        return by_host(r, b.defined()?, device, |made| {
            solve(made, [&on_host(crow)?, &on_host(col)?, &on_host(values)?], &on_host(b)?, work)
        });
    }
    let dtype = one_dtype(values, b)?;
    floats(dtype)?;
    let pattern = Pattern::of(crow, col)?;
    let (b, is_vector) = matrix(b, "b", pattern.rows(), dtype)?;
    let values = entries(values, "values", &pattern, dtype)?;
    let shape = b.layout().shape.clone();
    let inputs = [pattern.starts, pattern.columns, values, b].into_iter().collect();
    launch(r, dtype, &shape[..2 - usize::from(is_vector)], work, inputs)
}

/// A matrix of compressed rows as an argument.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// The starts of the rows, and the column of each entry.
    pub positions: [&'a Tensor; 2],
    /// The values of the entries.
    pub values: &'a Tensor,
    /// The names of the three arguments, for messages.
    pub names: [&'static str; 3],
}

impl Matrix<'_> {
    /// Calls `f` with a copy of the matrix on the host.
    fn on_host<R>(self, f: impl FnOnce(Matrix<'_>) -> Result<R>) -> Result<R> {
        let [crow, col] = self.positions;
        f(Matrix { positions: [&on_host(crow)?, &on_host(col)?], values: &on_host(self.values)?, names: self.names })
    }

    fn dtype(&self) -> Result<Dtype> {
        Pattern::dtype(self.positions, [self.names[0], self.names[1]])
    }

    fn read(&self, positions: Dtype, dtype: Dtype) -> Result<(Pattern, Operand)> {
        let pattern = Pattern::read(self.positions, positions)?;
        let values = entries(self.values, self.names[2], &pattern, dtype)?;
        Ok((pattern, values))
    }
}

/// The results of a product of two matrices of compressed rows.
#[derive(Clone, Copy)]
pub struct SparseResult<'a> {
    /// The starts of the rows.
    pub starts: &'a Tensor,
    /// The column of each entry.
    pub columns: &'a Tensor,
    /// The values of the entries.
    pub values: &'a Tensor,
}

impl SparseResult<'_> {
    /// Fails if a handle with a dtype cannot hold positions up to `most`.
    fn check(&self, most: i64) -> Result<()> {
        for t in [self.starts, self.columns] {
            match t.dtype() {
                None | Some(Dtype::Int64) => {}
                Some(Dtype::Int32) if most <= i32::MAX.into() => {}
                Some(dtype) => bail!(Dtype, "positions up to {most} cannot be stored in a tensor of {dtype}"),
            }
        }
        Ok(())
    }
}

/// `r = A B` for matrices of compressed rows; B has `columns` columns
pub fn sparse_product(r: SparseResult<'_>, a: Matrix<'_>, b: Matrix<'_>, columns: i64) -> Result<()> {
    let dtype = one_dtype(a.values, b.values)?;
    if let Some(device) = elsewhere(&[a.positions[0], a.positions[1], a.values, b.positions[0], b.positions[1], b.values])? {
        r.check(columns.saturating_sub(1))?;
        let host = DeviceGuard::on(Device::Cpu);
        let (starts, indices, values) = (Tensor::fresh()?, Tensor::fresh()?, Tensor::fresh()?);
        let made = SparseResult { starts: &starts, columns: &indices, values: &values };
        a.on_host(|a| b.on_host(|b| sparse_product(made, a, b, columns)))?;
        drop(host);
        let (positions, there) = (starts.defined()?, |t: &Tensor| to_device(t, device));
        r.check(indices.layout()?.numel())?;
        let (starts, indices, values) = (there(&starts)?, there(&indices)?, there(&values)?);
        return deliver([Some((r.starts, positions, &starts)), Some((r.columns, positions, &indices)), Some((r.values, dtype, &values))]);
    }
    if columns < 0 {
        bail!(Argument, "{columns} columns")
    }
    r.check(columns.saturating_sub(1))?;
    let positions = common(&[a.dtype()?, b.dtype()?]);
    let ((a, x), (b, y)) = (a.read(positions, dtype)?, b.read(positions, dtype)?);
    let on = backend::of([&a.starts, &a.columns, &x, &b.starts, &b.columns, &y].into_iter())?;
    let made = |dtype, n| Operand::new_on(x.device, dtype, &[n]);
    let starts = made(Dtype::Int64, a.rows() + 1)?;
    on.launch(&SparseProduct::Starts { columns }, &[Some(&starts)], &[&a.starts, &a.columns, &b.starts, &b.columns])?;
    let last = starts.with_layout(Layout { offset: starts.layout().offset + a.rows(), ..Layout::contiguous(&[1]) });
    let n = on.first(&last)?.to_i64();
    r.check(n)?;
    let (columns_made, values) = (made(positions, n)?, made(x.dtype, n)?);
    let inputs = [&a.starts, &a.columns, &x, &b.starts, &b.columns, &y, &starts];
    on.launch(&SparseProduct::Entries { columns }, &[Some(&columns_made), Some(&values)], &inputs)?;
    // More than 2^31 - 1 entries need int64 starts, and columns have the dtype of the starts.
    let positions = if n <= i32::MAX.into() { positions } else { Dtype::Int64 };
    let (starts, columns) = (copy::to_dtype(&starts.tensor()?, positions)?, copy::to_dtype(&columns_made.tensor()?, positions)?);
    deliver([Some((r.starts, positions, &starts)), Some((r.columns, positions, &columns)), Some((r.values, dtype, &values.tensor()?))])
}

/// `r` = the entries of `op(A) op(B)` at the positions of a pattern, for matrices of compressed rows; B has `columns` columns
pub fn sampled_sparse_product(
    r: &Tensor,
    (crow, col): (&Tensor, &Tensor),
    [a, b]: [Matrix<'_>; 2],
    columns: i64,
    transposed: [bool; 2],
) -> Result<()> {
    if let Some(device) = elsewhere(&[crow, col, a.positions[0], a.positions[1], a.values, b.positions[0], b.positions[1], b.values])? {
        return by_host(r, a.values.defined()?, device, |made| {
            let (crow, col) = (on_host(crow)?, on_host(col)?);
            a.on_host(|a| b.on_host(|b| sampled_sparse_product(made, (&crow, &col), [a, b], columns, transposed)))
        });
    }
    let of = match transposed {
        [false, false] => Sides::Plain,
        [true, false] => Sides::FirstTransposed,
        [false, true] => Sides::SecondTransposed,
        [true, true] => bail!(Unsupported, "the product of two transposes is the transpose of the product of b and a"),
    };
    let dtype = one_dtype(a.values, b.values)?;
    if columns < 0 {
        bail!(Argument, "{columns} columns")
    }
    let positions = common(&[Pattern::dtype([crow, col], ["crow", "col"])?, a.dtype()?, b.dtype()?]);
    let pattern = Pattern::read([crow, col], positions)?;
    let ((a, x), (b, y)) = (a.read(positions, dtype)?, b.read(positions, dtype)?);
    let (rows, name) = if transposed[0] { (b.rows(), "b") } else { (pattern.rows(), "the pattern") };
    if a.rows() != rows {
        bail!(Shape, "{} rows of a, and {rows} of {name}", a.rows())
    }
    let n = pattern.entries();
    let inputs = [pattern.starts, pattern.columns, a.starts, a.columns, x, b.starts, b.columns, y].into_iter().collect();
    launch(r, dtype, &[n], SparseProduct::Sampled { columns, of }, inputs)
}

/// Compresses the coordinates of a matrix with `n` rows. [`Compress`] describes the results. Here their lengths are the number of distinct
/// positions.
pub fn compress(results: [&Tensor; 4], rows: &Tensor, columns: &Tensor, n: i64) -> Result<()> {
    check_positions(rows, "rows", 0)?;
    check_positions(columns, "columns", 0)?;
    let (rows, columns) = (operand(rows, Dtype::Int64)?, operand(columns, Dtype::Int64)?);
    let entries = rows.layout().numel();
    if columns.layout().numel() != entries {
        bail!(Shape, "{entries} rows and {} columns", columns.layout().numel())
    }
    if n < 0 || entries > i64::from(u32::MAX) {
        bail!(Argument, "{n} rows and {entries} entries, which are at most {}", u32::MAX)
    }
    let size = [n.checked_add(1).unwrap_or(n), entries, entries + 1, entries];
    let made: SmallVec<[Tensor; 4]> = size.iter().map(|&n| Tensor::empty(Dtype::Int64, &[n])).collect::<Result<_>>()?;
    let out = made.iter().map(Operand::of).collect::<Result<SmallVec<[Operand; 4]>>>()?;
    let to: SmallVec<[_; 4]> = out.iter().map(Some).collect();
    backend::of(out.iter().chain([&rows, &columns]))?.launch(&Compress, &to, &[&rows, &columns])?;
    let places = device::elements::<i64>(&made[0])?[n as usize];
    let part = |t: &Tensor, size: i64| view::derive(t, |layout| layout.narrow(0, 0, size));
    let (col, starts) = (part(&made[1], places)?, part(&made[2], places + 1)?);
    let [r0, r1, r2, r3] = results;
    let int64 = Dtype::Int64;
    deliver([Some((r0, int64, &made[0])), Some((r1, int64, &col)), Some((r2, int64, &starts)), Some((r3, int64, &made[3]))])
}
