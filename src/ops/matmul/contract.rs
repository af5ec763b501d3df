//! Contractions, Kronecker and cross products, powers and chains of matrices.

use super::compute_dtype;
use super::forms::{matmul, mm};
use crate::alloc;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::{Dims, broadcast_shape, checked_numel, wrap_dim};
use crate::operand::one_dtype;
use crate::ops::linalg::factor;
use crate::ops::pointwise::arithmetic::{cmul, csub};
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = the sum of `a * b` over pairs of dimensions. The remaining dimensions of `a` come first.
pub fn tensordot(r: &Tensor, a: &Tensor, b: &Tensor, dims_a: &[i64], dims_b: &[i64]) -> Result<()> {
    let (mut of_a, mut of_b) = (a.layout()?.shape, b.layout()?.shape);
    let [dims_a, dims_b] = [summed(&of_a, dims_a)?, summed(&of_b, dims_b)?];
    for (&i, &j) in dims_a.iter().zip(dims_b.iter()) {
        match [of_a[i as usize], of_b[j as usize]] {
            [x, y] if x == y => {}
            [1, y] => of_a[i as usize] = y,
            [x, 1] => of_b[j as usize] = x,
            _ => bail!(Shape, "dimension {i} of shape {:?} and dimension {j} of shape {:?} are summed together", &of_a[..], &of_b[..]),
        }
    }
    let (a, b) = (&view::derive(a, |l| l.expand(&of_a))?, &view::derive(b, |l| l.expand(&of_b))?);
    let left = |shape: &Dims, dims: &Dims| -> Dims { (0..shape.len() as i64).filter(|d| !dims.contains(d)).collect() };
    let (rows, columns) = (left(&of_a, &dims_a), left(&of_b, &dims_b));
    let sizes = |shape: &Dims, dims: &Dims| -> Dims { dims.iter().map(|&d| shape[d as usize]).collect() };
    let (shape_a, shape_b) = (sizes(&of_a, &rows), sizes(&of_b, &columns));
    let inner = checked_numel(&sizes(&of_a, &dims_a))?;
    let matrix = |t: &Tensor, first: &Dims, then: &Dims, shape: [i64; 2]| -> Result<Tensor> {
        let order: Dims = first.iter().chain(then.iter()).copied().collect();
        view::reshape(&view::derive(t, |l| l.permute(&order))?, &shape)
    };
    let (m, n) = (checked_numel(&shape_a)?, checked_numel(&shape_b)?);
    let (a, b) = (matrix(a, &rows, &dims_a, [m, inner])?, matrix(b, &dims_b, &columns, [inner, n])?);
    let shape: Dims = shape_a.iter().chain(shape_b.iter()).copied().collect();
    let made = Tensor::fresh()?;
    mm(&made, &a, &b)?;
    deliver([Some((r, a.defined()?, &view::reshape(&made, &shape)?))])
}

/// The dimensions to sum over. A dimension named twice is an error.
fn summed(shape: &[i64], dims: &[i64]) -> Result<Dims> {
    let mut found = Dims::new();
    for &dim in dims {
        let Ok(dim) = i32::try_from(dim) else { bail!(Argument, "dimension {dim} out of range") };
        let d = if shape.is_empty() { bail!(Argument, "a scalar has no dimension {dim}") } else { wrap_dim(dim, shape.len())? as i64 };
        if found.contains(&d) {
            bail!(Argument, "dimension {d} is named twice")
        }
        found.push(d);
    }
    Ok(found)
}

/// `r` = the sum of `a * b` over the last dimensions. If an operand is a scalar, `r = a * b`.
pub fn inner(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.ndim() == 0 || b.ndim() == 0 {
        Domain::Numeric.check(a.defined()?.promote(b.defined()?))?;
        return cmul.run([r, a, b], &[]);
    }
    let (of_a, of_b) = (a.layout()?.shape, b.layout()?.shape);
    if of_a.last() != of_b.last() {
        bail!(Shape, "the last dimensions of shapes {:?} and {:?} are summed together", &of_a[..], &of_b[..])
    }
    tensordot(r, a, b, &[-1], &[-1])
}

/// `r` = the Kronecker product: each element of `a` is replaced by its product with `b`
pub fn kron(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let (mut of_a, mut of_b) = (a.layout()?.shape, b.layout()?.shape);
    let ndim = of_a.len().max(of_b.len());
    while of_a.len() < ndim {
        of_a.insert(0, 1);
    }
    while of_b.len() < ndim {
        of_b.insert(0, 1);
    }
    let mut shape = Dims::new();
    for d in 0..ndim {
        let Some(size) = of_a[d].checked_mul(of_b[d]) else { bail!(Shape, "dimension {d} overflows") };
        shape.push(size);
    }
    checked_numel(&shape)?;
    // Each dimension of the result is two: the block, and the position in the block.
    let split = |t: &Tensor, sizes: &Dims, at: usize| -> Result<Tensor> {
        let twice: Dims = (0..2 * ndim).map(|d| if d % 2 == at { sizes[d / 2] } else { 1 }).collect();
        view::reshape(t, &twice)
    };
    let made = Tensor::fresh()?;
    cmul.run([&made, &split(a, &of_a, 0)?, &split(b, &of_b, 1)?], &[])?;
    let dtype = made.defined()?;
    deliver([Some((r, dtype, &view::reshape(&made, &shape)?))])
}

/// `r` = the cross products of vectors of three elements along dimension `dim`
pub fn cross(r: &Tensor, a: &Tensor, b: &Tensor, dim: i32) -> Result<()> {
    let shape = broadcast_shape(&a.layout()?.shape, &b.layout()?.shape)?;
    let d = wrap_dim(dim, shape.len())?;
    let (of_a, of_b) = (a.layout()?.shape, b.layout()?.shape);
    if shape.is_empty() || [&of_a, &of_b].iter().any(|s| s.len() + d < shape.len() || s[s.len() + d - shape.len()] != 3) {
        bail!(Shape, "expected 3 entries in dimension {d}, got shapes {:?} and {:?}", &of_a[..], &of_b[..])
    }
    let dtype = Domain::Numeric.check(a.defined()?.promote(b.defined()?))?;
    // Products of 16-bit floats are not rounded before the difference.
    let wide = |t: &Tensor| view::derive(&copy::to_dtype(t, dtype.compute())?, |l| l.expand(&shape));
    let (a, b) = (wide(a)?, wide(b)?);
    // r = a[1, 2, 0] * b[2, 0, 1] - a[2, 0, 1] * b[1, 2, 0]
    let part = |t: &Tensor, k: i64| view::derive(t, |l| l.select(d as i32, k));
    let turned = |i: i64| -> Result<[Tensor; 2]> {
        let products = [Tensor::fresh()?, Tensor::fresh()?];
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        cmul.run([&products[0], &part(&a, j)?, &part(&b, k)?], &[])?;
        cmul.run([&products[1], &part(&a, k)?, &part(&b, j)?], &[])?;
        Ok(products)
    };
    let made = Tensor::empty(dtype.compute(), &shape)?;
    for i in 0..3 {
        let [plus, minus] = turned(i)?;
        csub(&part(&made, i)?, &plus, Scalar::Int(1), &minus)?;
    }
    deliver([Some((r, dtype, &made))])
}

/// `r` = the `n`-th powers of square matrices; a negative `n` means powers of their inverses
pub fn matrix_power(r: &Tensor, t: &Tensor, n: i64) -> Result<()> {
    if n < 0 {
        let Some(n) = n.checked_neg() else { bail!(Argument, "power {n} is out of range") };
        let inverse = Tensor::fresh()?;
        factor::getri(&inverse, t)?;
        return matrix_power(r, &inverse, n);
    }
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    if shape.len() < 2 || shape[shape.len() - 2] != shape[shape.len() - 1] {
        bail!(Shape, "expected square matrices, got shape {:?}", &shape[..])
    }
    let compute = compute_dtype(dtype, n as u64)?;
    if n == 0 {
        let made = Tensor::empty(dtype, &shape)?;
        copy::fill(&made, Scalar::Int(0))?;
        copy::fill(&view::derive(&made, |l| l.diagonal(0, -2, -1))?, Scalar::Int(1))?;
        return deliver([Some((r, dtype, &made))]);
    }
    // The matrix is squared once for each bit, from the lowest. The squares of set bits are multiplied.
    let (mut square, mut power, mut rest) = (copy::contiguous_copy(&copy::to_dtype(t, compute)?)?, None::<Tensor>, n);
    loop {
        if rest & 1 == 1 {
            power = Some(match power {
                None => square.clone(),
                Some(power) => times(&power, &square)?,
            });
        }
        rest >>= 1;
        if rest == 0 {
            break;
        }
        square = times(&square, &square)?;
    }
    match power {
        Some(power) => deliver([Some((r, dtype, &power))]),
        None => bail!(Internal, "a positive number has a bit"),
    }
}

fn times(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let made = Tensor::fresh()?;
    matmul(&made, a, b)?;
    Ok(made)
}

/// The largest number of matrices in a chain. The search for the order takes time proportional to its cube.
const LONGEST_CHAIN: usize = 1000;

/// `r` = the product of matrices in the order with the fewest multiplications. The first may be a row vector, the last a column vector.
pub fn chain(r: &Tensor, matrices: &[&Tensor]) -> Result<()> {
    let n = matrices.len();
    if n == 0 || n > LONGEST_CHAIN {
        bail!(Argument, "{n} matrices, expected 1 to {LONGEST_CHAIN}")
    }
    let shapes = alloc::list(n, |k| matrices[k].layout().map(|l| l.shape))?;
    for (k, shape) in shapes.iter().enumerate() {
        let vector = shape.len() == 1 && (k == 0 || k == n - 1) && n > 1;
        if shape.len() != 2 && !vector {
            bail!(Shape, "matrix {k} has shape {:?}", &shape[..])
        }
    }
    let dtype = one_dtype(matrices)?;
    let compute = compute_dtype(dtype, n as u64)?;
    if n == 1 {
        return deliver([Some((r, dtype, &copy::contiguous_copy(matrices[0])?))]);
    }
    // Matrix `k` has `sizes[k]` rows and `sizes[k + 1]` columns.
    let mut sizes = alloc::list(n + 1, |_| Ok(1f64))?;
    for (k, shape) in shapes.iter().enumerate() {
        if shape.len() == 2 {
            (sizes[k], sizes[k + 1]) = (shape[0] as f64, shape[1] as f64);
        } else {
            sizes[if k == 0 { 1 } else { k }] = shape[0] as f64;
        }
    }
    let order = best_splits(&sizes)?;
    let made = chained(matrices, &order, compute, 0, n - 1)?;
    deliver([Some((r, dtype, &made))])
}

/// The best split of each subchain, by dynamic programming over its length (Cormen et al., Introduction to Algorithms, 14.2).
fn best_splits(sizes: &[f64]) -> Result<Vec<usize>> {
    let n = sizes.len() - 1;
    let mut cost = alloc::list(n * n, |_| Ok(0f64))?;
    let mut split = alloc::list(n * n, |_| Ok(0usize))?;
    for length in 2..=n {
        for i in 0..=n - length {
            let j = i + length - 1;
            let of = |s: usize| cost[i * n + s] + cost[(s + 1) * n + j] + sizes[i] * sizes[s + 1] * sizes[j + 1];
            let best = (i..j).min_by(|&s, &t| of(s).total_cmp(&of(t))).unwrap_or(i);
            (cost[i * n + j], split[i * n + j]) = (of(best), best);
        }
    }
    Ok(split)
}

fn chained(matrices: &[&Tensor], order: &[usize], compute: Dtype, i: usize, j: usize) -> Result<Tensor> {
    if i == j {
        return copy::to_dtype(matrices[i], compute);
    }
    let s = order[i * matrices.len() + j];
    times(&chained(matrices, order, compute, i, s)?, &chained(matrices, order, compute, s + 1, j)?)
}
