//! Products and linear algebra.

use crate::dtype::Dtype;
use crate::error::Result;
use crate::expr::{self, Value, names};
use crate::layout::Dims;
use crate::program::call::Call;
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "linear" "input weight bias=None" => { linear };
    "mm" "self mat2" => mm "self mat2";
    "bmm" "self mat2" => bmm "self mat2";
    "matmul" "self other" => matmul "self other";
    "mv" "self vec" => mv "self vec";
    "dot" "self tensor" => dot "self tensor";
    "vdot" "self other" => vdot "self other";
    "inner" "self other" => inner "self other";
    "tensordot" "self other dims_self dims_other" => tensordot "self other dims_self dims_other";
    "chain_matmul" "matrices" => chainMatmul "matrices";
    "linalg_multi_dot" "tensors" => chainMatmul "tensors";
    "outer" "self vec2" => outer "self vec2";
    "addmm" "self mat1 mat2 beta=1 alpha=1" => addmm "beta self alpha mat1 mat2";
    "addmv" "self mat vec beta=1 alpha=1" => addmv "beta self alpha mat vec";
    "baddbmm" "self batch1 batch2 beta=1 alpha=1" => baddbmm "beta self alpha batch1 batch2";
    "addbmm" "self batch1 batch2 beta=1 alpha=1" => addbmm "beta self alpha batch1 batch2";
    "addr" "self vec1 vec2 beta=1 alpha=1" => addr "beta self alpha vec1 vec2";
    "einsum" "equation tensors path=None" => einsum "equation tensors";
    "cdist" "x1 x2 p=2 compute_mode=None" => cdist "x1 x2 p";
    "_cdist_forward" "x1 x2 p compute_mode=None" => cdist "x1 x2 p";
    "_pdist_forward" "self p=2" => pdist "self p";
    "pdist" "self p=2" => pdist "self p";
    "pairwise_distance" "x1 x2 p=2 eps=0.000001 keepdim=False" => pairwiseDistance "x1 x2 p eps keepdim";
    "_euclidean_dist" "x1 x2" => cdist "x1 x2 2";
    "inverse" "self" => inverse "self";
    "linalg_inv" "A" => inverse "A";
    "linalg_det" "A" => det "A";
    "det" "self" => det "self";
    "logdet" "self" => logdet "self";
    "slogdet" "self" => slogdet "self";
    "linalg_slogdet" "A" => slogdet "A";
    "linalg_inv_ex" "A check_errors=False" => { inverse_and_state };
    "pinverse" "self rcond=1e-15" => pinverse "self rcond";
    "linalg_cholesky" "self upper=False" => cholesky "self upper";
    "linalg_cholesky_ex" "self upper=False check_errors=False" => { factor_and_state };
    "cholesky_solve" "self input2 upper=False" => potrs "self input2 upper";
    "cholesky_inverse" "self upper=False" => potri "self upper";
    "triangular_solve" "self A upper=True transpose=False unitriangular=False" => trtrs "self A upper transpose unitriangular";
    "linalg_solve_triangular" "self B upper left==True unitriangular=False" => trtrs "B self upper 0 unitriangular";
    "linalg_solve" "A B left==True" => { solve };
    "linalg_eigvalsh" "self UPLO==L" => symeig "self 0";
    "linalg_eigvalsh" "self UPLO==U" => symeig "self 1";
    "linalg_eigh" "self UPLO==L" => symeig "self 0";
    "linalg_eigh" "self UPLO==U" => symeig "self 1";
    "linalg_qr" "A mode==reduced" => qr "A 1";
    "linalg_qr" "A mode==complete" => qr "A 0";
    "linalg_svdvals" "A driver=None" => { singular_values };
    "linalg_svd" "A full_matrices=True driver=None" => { singular_vectors };
    "matrix_power" "self n" => matrixPower "self n";
    "matrix_exp" "self" => matrixExp "self";
    "linalg_cross" "self other dim=-1" => cross "self other dim";
    "cross" "self other dim" => cross "self other dim";
    "cross" "self other dim==None" => { cross_of_first };
    "kron" "self other" => kron "self other";
}

/// `input @ weight^T + bias`, with the matrix product over the last dimension of `input`.
fn linear(c: &Call<'_>) -> Result<Item> {
    let (x, weight, bias) = (c.value(0)?, c.value(1)?, c.optional(2)?);
    let shape = x.shape();
    let transposed = c.scope.call(&names::newT::FUNCTION, &[weight.into()]);
    let Some(bias) = bias else { return c.done(expr::matmul(x, transposed)) };
    if shape.is_empty() || weight.ndim() != 2 {
        return c.done(expr::matmul(x, transposed) + bias);
    }
    let columns = shape[shape.len() - 1];
    let rows = if shape.len() == 2 { x } else { expr::reshape(x, &[shape[..shape.len() - 1].iter().product(), columns]) };
    let arguments = [1.0.into(), bias.into(), 1.0.into(), rows.into(), transposed.into()];
    let product = c.scope.call(&names::addmm::FUNCTION, &arguments);
    if shape.len() == 2 {
        return c.done(product);
    }
    let mut to = shape;
    let last = to.len() - 1;
    to[last] = weight.shape().first().copied().unwrap_or(0);
    c.done(expr::reshape(product, &to))
}

/// `r`, and the state of success for each matrix of `t`.
fn with_state<'s>(c: &'s Call<'_>, t: Value<'s>, r: Value<'s>) -> Result<Item> {
    let shape = t.shape();
    let batch: Dims = shape.iter().take(shape.len().saturating_sub(2)).copied().collect();
    c.done_all(&[r, c.scope.call(&names::newFull::FUNCTION, &[Dtype::Int32.into(), (&batch).into(), 0.0.into()])])
}

fn inverse_and_state(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    with_state(c, t, expr::inverse(t))
}

fn factor_and_state(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    with_state(c, t, c.scope.call(&names::cholesky::FUNCTION, &[t.into(), c.flag(1)?.into()]))
}

fn solve(c: &Call<'_>) -> Result<Item> {
    let (a, b) = (c.value(0)?, c.value(1)?);
    let vector = b.ndim() == 1 || b.ndim() + 1 == a.ndim();
    let right = if vector { expr::unsqueeze(b, -1) } else { b };
    let [x] = c.scope.call_for_all(&names::solve::FUNCTION, 0b1, &[right.into(), a.into()]);
    c.done(if vector { expr::squeeze(x, -1) } else { x })
}

fn singular_values(c: &Call<'_>) -> Result<Item> {
    let [s] = c.scope.call_for_all(&names::svd::FUNCTION, 0b10, &[c.value(0)?.into(), true.into()]);
    c.done(s)
}

fn singular_vectors(c: &Call<'_>) -> Result<Item> {
    let [u, s, v] = c.scope.call_for_all(&names::svd::FUNCTION, 0b111, &[c.value(0)?.into(), (!c.flag(1)?).into()]);
    c.done_all(&[u, s, expr::mt(v)])
}

/// The cross product along the first dimension of three entries.
fn cross_of_first(c: &Call<'_>) -> Result<Item> {
    let (a, b) = (c.value(0)?, c.value(1)?);
    let dim = a.shape().iter().position(|&size| size == 3).unwrap_or(0) as i32;
    c.done(c.scope.call(&names::cross::FUNCTION, &[a.into(), b.into(), dim.into()]))
}
