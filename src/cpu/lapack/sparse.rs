//! Systems of equations with sparse matrices. One thread solves a system; the products within it use the pool.

use super::multiply::product;
use crate::alloc::fork;
use crate::error::{Result, bail};
use crate::launch::System;
use crate::operand::Operand;
use thorn_lapack::sparse::{Failure, Rows, solve};
use thorn_lapack::{Products, provide};

/// Solves the system; see [`System`].
pub fn system(work: System, out: &Operand, [starts, columns, entries]: [&Operand; 3], b: &Operand) -> Result<()> {
    // SAFETY: the operands are row-major and of these types, and no other thread accesses the result.
    let (rows, x) = unsafe {
        let rows = Rows { starts: starts.elements::<i64>(), columns: columns.elements::<i64>(), values: entries.elements::<f64>() };
        let x: &mut [f64] = match out.layout().numel() {
            // A result without elements may have no memory.
            0 => &mut [],
            len => std::slice::from_raw_parts_mut(out.first().cast::<f64>(), len as usize),
        };
        (rows, x)
    };
    check_positions(&rows, rows.starts.len() as i64 - 1)?;
    // SAFETY: the operand is row-major float64.
    x.copy_from_slice(unsafe { b.elements::<f64>() });
    fork::within(|| provide(Products { f32: product::<f32>, f64: product::<f64> }));
    match solve(rows, work.transposed, x, out.layout().shape[0] as usize) {
        Ok(()) => Ok(()),
        Err(Failure::Memory) => bail!(NoMem, "out of memory for the factors of a sparse matrix"),
        Err(Failure::Large) => bail!(Unsupported, "a sparse matrix of 2^32 rows or more"),
        Err(Failure::NotFinite) => bail!(Numeric, "the matrix has elements that are infinite or not a number"),
        Err(Failure::Condition(rcond)) => {
            bail!(Numeric, "the matrix is singular to the precision of float64: its reciprocal condition number is about {rcond:.0e}")
        }
        Err(Failure::Singular(j)) => {
            bail!(Numeric, "the matrix is singular: {} {j} depends on others", if work.transposed { "row" } else { "column" })
        }
    }
}

/// Fails unless the starts of rows ascend and columns are inside the matrix.
fn check_positions(a: &Rows<'_>, n: i64) -> Result<()> {
    let count = a.columns.len() as i64;
    if a.starts[0] != 0 || a.starts.last() != Some(&count) || !a.starts.is_sorted() {
        bail!(Argument, "rows start at 0, ascend, and end at the number of entries, {count}")
    }
    match a.columns.iter().find(|&column| !(0..n).contains(column)) {
        Some(column) => bail!(Argument, "column {column} is out of range for a square matrix of {n} rows"),
        None => Ok(()),
    }
}
