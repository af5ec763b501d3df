//! Compressed rows: products of them are each other's derivatives.

use crate::dtype::Dtype;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;

derivatives! {
    /// The derivatives of functions of compressed rows.
    COMPRESSED:

    csrMatmul {
        values: |g, crow, col, m| csr_sampled(g, m, crow, col);
        m: |g, crow, col, values: optional, m: like| csr_matmul_transposed(g, crow, col, values, m.shape[0]);
    }
    csrMatmulTransposed {
        values: |g, crow, col, m| csr_sampled(m, g, crow, col);
        m: |g, crow, col, values: optional| csr_matmul(g, crow, col, values);
    }
    csrSampled {
        a: |g, crow, col, b| csr_matmul(b, crow, col, Some(g));
        b: |g, crow, col, a, b: like| csr_matmul_transposed(a, crow, col, Some(g), b.shape[0]);
    }

    csrSoftmax { values: |g, crow, r| csr_softmax_grad(g, r, crow); }
    csrSoftmaxGrad {
        g: |h, crow, y| csr_softmax_grad(h, y, crow);
        y: |h, crow, g, y| h * (g - sums_of_rows(g * y, crow)) - g * sums_of_rows(h * y, crow);
    }

    csrTrtrs {
        each(values, b): |call, r, crow, col, values, upper: bool, transpose: bool, unitriangular: bool|
            triangular_system(call, r, [crow, col, values], Triangle { upper, transpose, unit: unitriangular });
    }

    csrSolve {
        each(values, b): |call, r, crow, col, values, transpose: bool| {
            let [starts, columns, entries] = [crow, col, values].map(In::from);
            let args = [starts, columns, entries, call.g().into(), (!transpose).into()];
            let y = crow.scope.call(&names::csrSolve::FUNCTION, &args);
            call.give(4, y);
            if call.needs(3) {
                call.give(3, -if transpose { csr_sampled(r, y, crow, col) } else { csr_sampled(y, r, crow, col) });
            }
        };
    }
    csrCg {
        each(values, b): |call, r, crow, col, values, tol: f64, maxIter: i64| if let Some(g) = call.grad(0) {
            let [starts, columns, entries] = [crow, col, values].map(In::from);
            let args = [starts, columns, entries, g.into(), In::Null, tol.into(), maxIter.into(), In::Null, In::Null];
            let y = crow.scope.call(&names::csrCg::FUNCTION, &args);
            call.give(5, y);
            if call.needs(4) {
                call.give(4, -csr_sampled(y, r, crow, col));
            }
        };
    }

    csrMatmulCsr {
        avalues: |g, rcrow, rcol, acrow, acol, bcrow, bcol, bvalues, columns: i64|
            sampled([acrow, acol], [rcrow, rcol, g], [bcrow, bcol, bvalues], columns, SECOND);
        bvalues: |g, rcrow, rcol, acrow, acol, avalues, bcrow, bcol, columns: i64|
            sampled([bcrow, bcol], [acrow, acol, avalues], [rcrow, rcol, g], columns, FIRST);
    }
    csrSampledCsr {
        avalues: |g, crow, col, acrow, acol, bcrow, bcol, bvalues, columns: i64, transposeA: bool, transposeB: bool| {
            let (at, p, b) = ([acrow, acol], [crow, col, g], [bcrow, bcol, bvalues]);
            match [transposeA, transposeB] {
                FIRST => sampled(at, b, p, columns, SECOND),
                SECOND => sampled(at, p, b, columns, NEITHER),
                _ => sampled(at, p, b, columns, SECOND),
            }
        };
        bvalues: |g, crow, col, acrow, acol, avalues, bcrow, bcol, columns: i64, transposeA: bool, transposeB: bool| {
            let (at, p, a) = ([bcrow, bcol], [crow, col, g], [acrow, acol, avalues]);
            match [transposeA, transposeB] {
                FIRST => sampled(at, a, p, columns, NEITHER),
                SECOND => sampled(at, p, a, columns, FIRST),
                _ => sampled(at, a, p, columns, FIRST),
            }
        };
    }
}

/// Compressed rows: where they start, the columns and the entries.
type Matrix<'s> = [Value<'s>; 3];

/// The operands of a sampled product that are used as their transposes.
type Sides = [bool; 2];
const NEITHER: Sides = [false, false];
const FIRST: Sides = [true, false];
const SECOND: Sides = [false, true];

/// The elements of a product of two matrices at the entries of a pattern; the second matrix has `columns` columns.
fn sampled<'s>([crow, col]: [Value<'s>; 2], a: Matrix<'s>, b: Matrix<'s>, columns: i64, of: Sides) -> Value<'s> {
    let ([ac, aj, a], [bc, bj, b]) = (a.map(In::from), b.map(In::from));
    let args = [crow.into(), col.into(), ac, aj, a, bc, bj, b, columns.into(), of[0].into(), of[1].into()];
    crow.scope.call(&names::csrSampledCsr::FUNCTION, &args)
}

/// The sum over each row, for each of its entries.
fn sums_of_rows<'s>(t: Value<'s>, crow: Value<'s>) -> Value<'s> {
    let sums = csr_matmul(t, crow, t.scope.numbers(t.numel()), None);
    index_select(sums, 0, row_numbers(crow))
}

/// The triangle of a matrix that a function uses, and its options.
struct Triangle {
    upper: bool,
    transpose: bool,
    unit: bool,
}

/// `a x = b`: the gradient `y` of `b` solves `a' y = g`, and the gradient of `a` is `-y x'` at the entries of the triangle.
fn triangular_system<'s>(call: &Call<'s>, x: Value<'s>, [crow, col, values]: Matrix<'s>, of: Triangle) {
    let g = call.g();
    let args = [crow.into(), col.into(), values.into(), g.into(), of.upper.into(), (!of.transpose).into(), of.unit.into()];
    let y = g.scope.call(&names::csrTrtrs::FUNCTION, &args);
    call.give(4, y);
    if call.needs(3) {
        let product = if of.transpose { csr_sampled(x, y, crow, col) } else { csr_sampled(y, x, crow, col) };
        let (row, col) = (row_numbers(crow), to_dtype(col, Dtype::Int64));
        let (above, below) = if of.upper { (col, row) } else { (row, col) };
        let among = if of.unit { gt(above, below) } else { ge(above, below) };
        call.give(3, choose_or(among, -product, 0.0));
    }
}
