//! Products of sparse matrices, and other operations on their rows.

use super::form::{coalesced, compressed, indices, stacked, starts_of};
use super::math::add;
use super::{Parts, Places, with};
use crate::error::{Result, bail};
use crate::expr::{Scope, Value, csr_matmul, csr_sampled, expand, names, reshape, select};
use crate::layout::Dims;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The components of compressed rows as values: starts, columns, entries.
pub struct Rows<'s> {
    pub crow: Value<'s>,
    pub col: Value<'s>,
    pub values: Value<'s>,
}

/// Returns the components of compressed rows.
pub fn rows<'s>(scope: &'s Scope, parts: &Parts) -> Result<Rows<'s>> {
    let Places::Rows { crow, col } = &parts.places else { bail!(Internal, "coordinates where compressed rows are expected") };
    Ok(Rows { crow: scope.value(crow.clone()), col: scope.value(col.clone()), values: scope.value(parts.values.clone()) })
}

/// Fails unless the shapes allow a product with a dense matrix or vector.
fn check_factor(parts: &Parts, m: &Tensor) -> Result<()> {
    let shape = m.layout()?.shape;
    if !matches!(shape.len(), 1 | 2) || parts.size.len() != 2 || shape[0] != parts.size[1] {
        bail!(Shape, "sizes {:?} and shape {:?} do not multiply", parts.size.as_slice(), shape.as_slice())
    }
    Ok(())
}

/// `r = s @ m` for a dense matrix or vector.
pub fn product(r: &Tensor, s: Parts, m: &Tensor) -> Result<()> {
    check_factor(&s, m)?;
    let s = compressed(s)?;
    with(m, |scope| {
        let Rows { crow, col, values } = rows(scope, &s)?;
        let m = scope.value(m.clone());
        scope.write(scope.value(r.clone()), &names::csrMatmul::FUNCTION, &[crow.into(), col.into(), values.into(), m.into()]);
        Ok(())
    })
}

/// `r = beta * t + alpha * (s @ m)`; if `beta` is 0, the elements of `t` are not read.
pub fn add_product(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, s: Parts, m: &Tensor) -> Result<()> {
    check_factor(&s, m)?;
    let s = compressed(s)?;
    let (beta, alpha) = (beta.to_f64(), alpha.to_f64());
    let added = t.layout()?.shape;
    with(m, |scope| {
        let Rows { crow, col, values } = rows(scope, &s)?;
        let product = csr_matmul(scope.value(m.clone()), crow, col, Some(values));
        scope.finish()?;
        let (to, shape) = (scope.value(r.clone()), product.shape());
        if added.len() > shape.len() || added.iter().rev().zip(shape.iter().rev()).any(|(&n, &size)| n != size && n != 1) {
            bail!(Shape, "shape {:?} does not broadcast to that of the product, {:?}", added.as_slice(), shape.as_slice())
        }
        if beta == 0.0 {
            scope.write(to, &names::mul::FUNCTION, &[product.into(), alpha.into()]);
        } else {
            let t = scope.value(t.clone());
            let t = if beta == 1.0 { t } else { t * beta };
            scope.write(to, &names::cadd::FUNCTION, &[t.into(), alpha.into(), product.into()]);
        }
        Ok(())
    })
}

/// Returns `s @ m` with one sparse and one dense dimension: the rows of the result that have entries.
pub fn hybrid_product(s: Parts, m: &Tensor) -> Result<Parts> {
    check_factor(&s, m)?;
    let &[columns] = &m.layout()?.shape[1..] else { bail!(Shape, "expected a matrix, got a vector") };
    let s = coalesced(s)?;
    if s.sparse != 2 {
        bail!(Shape, "{} sparse dimensions, expected a matrix", s.sparse)
    }
    let (places, values) = with(m, |scope| {
        let at = scope.value(indices(&s)?.clone());
        let [rows, counts] = scope.call_for_all(&names::uniqueConsecutive::FUNCTION, 0b101, &[select(at, 0, 0).into(), 0.into()]);
        let starts = starts_of(scope, counts);
        let values = csr_matmul(scope.value(m.clone()), starts, select(at, 0, 1), Some(scope.value(s.values.clone())));
        Ok((scope.made(reshape(rows, &[1, -1]))?, scope.made(values)?))
    })?;
    let size: Dims = [s.size[0], columns].into_iter().collect();
    Ok(Parts { size, sparse: 1, places: Places::Coordinates(places), values, coalesced: true })
}

/// Returns `s @ m` as a matrix of two sparse dimensions.
pub fn sparse_product(s: Parts, m: &Tensor) -> Result<Parts> {
    let hybrid = hybrid_product(s, m)?;
    let columns = hybrid.size[1];
    let (places, values) = with(m, |scope| {
        let (rows, n) = (reshape(scope.value(indices(&hybrid)?.clone()), &[-1, 1]), hybrid.nnz());
        let all = [rows, reshape(scope.numbers(columns), &[1, columns])].map(|t| reshape(expand(t, &[n, columns]), &[-1]));
        Ok((scope.made(stacked(scope, &all))?, scope.made(reshape(scope.value(hybrid.values.clone()), &[-1]))?))
    })?;
    Ok(Parts { size: hybrid.size, sparse: 2, places: Places::Coordinates(places), values, coalesced: true })
}

/// Returns `beta * t + alpha * (s @ m)`, where only `m` is dense.
pub fn add_sparse_product(beta: Scalar, t: Parts, alpha: Scalar, s: Parts, m: &Tensor) -> Result<Parts> {
    let scaled = super::math::mapped(t, true, &names::mul::FUNCTION, &[beta.to_f64()])?;
    add(scaled, alpha.to_f64(), sparse_product(s, m)?, false)
}

/// Returns `beta * s + alpha * (m1 @ m2)` at the entries of `s`.
pub fn sampled_product(beta: Scalar, s: Parts, alpha: Scalar, m1: &Tensor, m2: &Tensor) -> Result<Parts> {
    let (a, b) = (m1.layout()?.shape, m2.layout()?.shape);
    if a.len() != 2 || b.len() != 2 || s.size.as_slice() != [a[0], b[1]] || a[1] != b[0] {
        bail!(Shape, "sizes {:?} for the product of {:?} and {:?}", s.size.as_slice(), a.as_slice(), b.as_slice())
    }
    let s = compressed(coalesced(s)?)?;
    let values = with(m1, |scope| {
        let Rows { crow, col, values } = rows(scope, &s)?;
        let product = csr_sampled(scope.value(m1.clone()), crate::expr::mt(scope.value(m2.clone())), crow, col);
        let product = if alpha.to_f64() == 1.0 { product } else { product * alpha.to_f64() };
        scope.made(if beta.to_f64() == 0.0 { product } else { values * beta.to_f64() + product })
    })?;
    Ok(Parts { values, ..s })
}

/// Returns `a @ b` for two sparse matrices, compressed by rows.
pub fn product_of_two(a: Parts, b: Parts) -> Result<Parts> {
    if a.size.len() != 2 || b.size.len() != 2 || a.size[1] != b.size[0] {
        bail!(Shape, "sizes {:?} and {:?} do not multiply", a.size.as_slice(), b.size.as_slice())
    }
    let (a, b) = (compressed(a)?, compressed(b)?);
    let (places, values) = with(&a.values, |scope| {
        let (x, y) = (rows(scope, &a)?, rows(scope, &b)?);
        let args = [x.crow.into(), x.col.into(), x.values.into(), y.crow.into(), y.col.into(), y.values.into(), b.size[1].into()];
        let [values, crow, col] = scope.call_for_all(&names::csrMatmulCsr::FUNCTION, 0b111, &args);
        Ok((Places::Rows { crow: scope.made(crow)?, col: scope.made(col)? }, scope.made(values)?))
    })?;
    let size: Dims = [a.size[0], b.size[1]].into_iter().collect();
    Ok(Parts { size, sparse: 2, places, values, coalesced: true })
}

/// Returns the softmax of the entries of each row of a matrix, compressed by rows.
pub fn softmax(s: Parts) -> Result<Parts> {
    let s = compressed(coalesced(s)?)?;
    let values = with(&s.values, |scope| {
        let Rows { crow, values, .. } = rows(scope, &s)?;
        scope.made(scope.call(&names::csrSoftmax::FUNCTION, &[crow.into(), values.into()]))
    })?;
    Ok(Parts { values, ..s })
}

/// `r` = the X with `s X = b` for a triangle of a square matrix, or for its transpose.
pub fn solve_triangle(r: &Tensor, b: &Tensor, s: Parts, [upper, transpose, unitriangular]: [bool; 3]) -> Result<()> {
    if s.size.len() != 2 || s.size[0] != s.size[1] {
        bail!(Shape, "sizes {:?}, expected a square matrix", s.size.as_slice())
    }
    let s = compressed(s)?;
    with(b, |scope| {
        let (Rows { crow, col, values }, b) = (rows(scope, &s)?, scope.value(b.clone()));
        let args = [crow.into(), col.into(), values.into(), b.into(), upper.into(), transpose.into(), unitriangular.into()];
        scope.write(scope.value(r.clone()), &names::csrTrtrs::FUNCTION, &args);
        Ok(())
    })
}
