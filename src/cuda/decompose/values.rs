//! Eigenvalues and singular values, and their applications.

use super::lists::{
    Args, COUNT_RANK, DIVIDE_BY_VALUES, EIGEN_BEGIN, EIGEN_END, EIGEN_ROUND_COLUMNS, EIGEN_ROUND_ROWS, EIGEN_SWEEPS, Filling, Kernel,
    Lists, Matrices, SINGULAR_END, SINGULAR_ROUND, SINGULAR_SWEEPS, Scaling,
};
use super::qr::Reflectors;
use crate::alloc;
use crate::cuda::loops::div_up;
use crate::error::Result;
use crate::launch::Vectors;

/// The order of matrices from which on all blocks take part in each round of rotations.
const LARGE: i64 = 96;
/// The maximum number of sweeps. Usually ten are enough.
const MOST_SWEEPS: usize = 60;
/// The info of a matrix that did not converge.
const NO_CONVERGENCE: i32 = 1;

/// Rotates matrices of order n until no rotation is needed. One block rotates a small matrix; large matrices are rotated round by round.
/// `rounds` are the kernels of a round with their numbers of lines.
fn rotate(lists: &Lists<'_>, n: i64, args: &Args, sweeps: &Kernel, rounds: &[(&Kernel, i64)]) -> Result<()> {
    let count = lists.count as usize;
    let rotated = lists.gpu.scratch(count * 4)?;
    let args = Args { integers: rotated.ptr(), integer_step: 1, ..*args };
    if n < LARGE {
        return lists.run(sweeps, 1, &args);
    }
    let (mut marks, turns) = (alloc::list(count, |_| Ok(0i32))?, n + n % 2 - 1);
    for _ in 0..MOST_SWEEPS {
        // SAFETY: the scratch memory has a mark for each matrix.
        unsafe { lists.gpu.zero(rotated.ptr(), count * 4) }?;
        for from in 0..turns {
            rounds.iter().try_for_each(|&(kernel, lines)| lists.run(kernel, lines, &Args { from, ..args }))?;
        }
        // SAFETY: the scratch memory has a mark for each matrix.
        unsafe { lists.gpu.read(rotated.ptr(), &mut marks) }?;
        if marks.iter().all(|&mark| mark == 0) {
            return Ok(());
        }
    }
    let mut infos = lists.infos()?;
    infos.iter_mut().zip(&marks).filter(|(_, mark)| **mark != 0).for_each(|(info, _)| *info = NO_CONVERGENCE);
    lists.set_infos(&infos)
}

/// Computes eigenvalues, and optionally eigenvectors, of symmetric matrices.
pub fn syev(lists: &Lists<'_>, n: i64, vectors: bool) -> Result<()> {
    let (a, w, z) = (lists.matrices(0, n), lists.matrices(1, n), lists.matrices(2, n));
    if n == 0 {
        return Ok(());
    }
    let (_memory, exponents) = lists.exponents()?;
    // The upper triangle is ignored, so it is cleared.
    lists.fill(Filling::ClearUpper, a, a, [n, n])?;
    lists.scale(a, n * n, Scaling::Unit, exponents)?;
    lists.fill(Filling::Mirror, a, a, [n, n])?;
    if vectors {
        lists.fill(Filling::Identity, z, z, [n, n])?;
    }
    // Five doubles for each pair of columns, and a bound for each matrix.
    let (pairs, gpu) = (div_up(n, 2), lists.gpu);
    let memory = gpu.scratch((lists.count * 5 * pairs) as usize * 8)?;
    let bounds = gpu.scratch(lists.count as usize * 8)?;
    let d = Matrices { first: memory.ptr(), size: 5 * pairs, step: 1 };
    let e = Matrices { first: bounds.ptr(), size: 1, step: 1 };
    let args = Args { a, b: w, c: z, d, e, n, mode: vectors.into(), ..lists.args() };
    lists.run(&EIGEN_BEGIN, 1, &args)?;
    rotate(lists, n, &args, &EIGEN_SWEEPS, &[(&EIGEN_ROUND_COLUMNS, pairs), (&EIGEN_ROUND_ROWS, n)])?;
    let (_values, values) = lists.memory(n, 1)?;
    lists.run(&EIGEN_END, 1, &Args { d: values, ..args })?;
    lists.rescale(w, [n, 1], exponents, -1)
}

/// Computes singular values, and optionally singular vectors.
pub fn gesvd(lists: &Lists<'_>, m: i64, n: i64, vectors: Vectors) -> Result<()> {
    let (a, s, u, v) = (lists.matrices(0, m), lists.matrices(1, m.min(n)), lists.matrices(2, m), lists.matrices(3, n));
    singular(lists, [m, n], a, s, (vectors, u, v))
}

/// Computes singular values of m x n matrices `a`, which are destroyed, from R of `a`, or from R of the transposed `a` if it is wide.
fn singular(lists: &Lists<'_>, [m, n]: [i64; 2], a: Matrices, s: Matrices, (vectors, u, v): (Vectors, Matrices, Matrices)) -> Result<()> {
    let (large, small, wide, wanted) = (m.max(n), m.min(n), m < n, vectors != Vectors::No);
    // U and V of a wide matrix are V and U of its transpose.
    let (left, right) = if wide { (v, u) } else { (u, v) };
    let columns = if vectors == Vectors::All { large } else { small };
    if small == 0 {
        return if wanted { lists.fill(Filling::Identity, left, left, [large, columns]) } else { Ok(()) };
    }
    let (_exponents, exponents) = lists.exponents()?;
    lists.scale(a, m * n, Scaling::Unit, exponents)?;
    let (_turned, turned) = lists.memory(large, if wide { small } else { 0 })?;
    if wide {
        lists.fill(Filling::CopyTransposed, turned, a, [large, small])?;
    }
    let tall = if wide { turned } else { a };
    let (_taus, tau) = lists.memory(small, 1)?;
    let reflectors = Reflectors { a: tall, tau, rows: large };
    let (_square, square) = lists.memory(small, small)?;
    if large > small {
        reflectors.factor(lists, small)?;
        lists.fill(Filling::CopyUpper, square, tall, [small, small])?;
    } else {
        lists.fill(Filling::Copy, square, tall, [small, small])?;
    }
    if wanted {
        lists.fill(Filling::Identity, right, right, [small, small])?;
    }
    let (_kept, kept) = lists.memory(small, small)?;
    let (_values, values) = lists.memory(small, 1)?;
    let args = Args { a: square, b: s, c: right, d: kept, e: values, n: small, mode: wanted.into(), ..lists.args() };
    rotate(lists, small, &args, &SINGULAR_SWEEPS, &[(&SINGULAR_ROUND, div_up(small, 2))])?;
    lists.run(&SINGULAR_END, 1, &args)?;
    lists.rescale(s, [small, 1], exponents, -1)?;
    if wanted {
        // The columns of U are computed from the identity.
        lists.fill(Filling::Identity, left, left, [large, columns])?;
        lists.fill(Filling::Copy, left, square, [small, small])?;
        if large > small {
            reflectors.multiply(lists, small, false, left.block(), columns)?;
        }
    }
    Ok(())
}

/// Multiplies matrices by powers of 2, and stores the exponents.
pub fn lascl(lists: &Lists<'_>, size: i64) -> Result<()> {
    lists.scale(lists.matrices(0, size), size, Scaling::Squares, lists.exponents_at(0))
}

/// Counts the values of m x n matrices whose magnitude is greater than `tol`.
pub fn rank(lists: &Lists<'_>, m: i64, n: i64, tol: f64) -> Result<()> {
    let small = m.min(n);
    lists.run(&COUNT_RANK, 1, &Args { a: lists.matrices(0, small), m, n, k: small, number: tol, ..lists.args() })
}

/// Computes pseudoinverses from singular value decompositions.
pub fn pinverse(lists: &Lists<'_>, m: i64, n: i64, rcond: f64) -> Result<()> {
    let p = m.min(n);
    let (u, s, v, inverse) = (lists.matrices(0, m), lists.matrices(1, p), lists.matrices(2, n), lists.matrices(3, n));
    lists.run(&DIVIDE_BY_VALUES, p, &Args { a: v, b: s, m, n, k: p, side: n, number: rcond, ..lists.args() })?;
    lists.multiply([n, m, p], (0.0, inverse.block()), (1.0, v.block(), u.block().transposed()))?;
    lists.rescale(inverse, [n, m], lists.exponents_at(0), 1)
}

/// Solves least squares of m equations, n unknowns and k right-hand sides by singular values. The first integer is the rank.
pub fn gelsd(lists: &Lists<'_>, [m, n, k]: [i64; 3], rcond: f64) -> Result<()> {
    let p = m.min(n);
    let (a, s, u, v) = (lists.matrices(0, m), lists.matrices(1, p), lists.matrices(2, m), lists.matrices(3, n));
    let (b, turned, x) = (lists.matrices(4, m), lists.matrices(5, p), lists.matrices(6, n));
    let (_memory, exponents) = lists.exponents()?;
    lists.scale(a, m * n, Scaling::Squares, exponents)?;
    lists.scale_columns(b, m, k, 1)?;
    singular(lists, [m, n], a, s, (Vectors::Some, u, v))?;
    lists.run(&COUNT_RANK, 1, &Args { a: s, m, n, k: p, number: rcond, mode: 1, ..lists.args() })?;
    lists.multiply([p, k, m], (0.0, turned.block()), (1.0, u.block().transposed(), b.block()))?;
    if p > 0 {
        let args = Args { a: turned, b: s, m, n, k: p, side: k, number: rcond, transposed: 1, ..lists.args() };
        lists.run(&DIVIDE_BY_VALUES, k, &args)?;
    }
    lists.multiply([n, k, p], (0.0, x.block()), (1.0, v.block(), turned.block()))?;
    lists.rescale_solutions(x, [n, k], exponents, 1)?;
    lists.rescale(s, [p, 1], exponents, -1)
}
