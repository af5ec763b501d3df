//! Matrix products as calls of BLAS, whose matrices have contiguous columns or contiguous rows.

use super::blas::{Blas, Gemm, Matrix, Types, is_present};
use super::copy::moved;
use super::gpu::Gpu;
use super::memory::Scratch;
use super::products::{Matrices, Products};
use crate::error::Result;
use crate::layout::{Dims, Layout};
use crate::plan::Plan;

/// The maximum number of calls for one batch. thorn's kernels process any batch in one call.
const MOST_CALLS: i64 = 64;
/// The number of uses of each element from which on copying a factor pays.
const WORTH_A_COPY: i64 = 32;

/// A batch dimension: its size, and its strides in a, b and c in elements.
type Batched = (i64, [i64; 3]);

/// The calls of cuBLAS that compute products.
pub struct Calls<'a> {
    types: Types,
    /// The first call.
    first: Gemm,
    /// The batch dimensions over which calls are repeated, and whether their products are summed.
    repeated: Vec<Batched>,
    summed: bool,
    /// The element sizes of the factors and of the result in bytes.
    size: [usize; 2],
    /// Copies of factors.
    _copies: [Option<Scratch<'a>>; 2],
}

impl Matrices {
    /// The distance between columns in elements, if each column is contiguous.
    fn columns(&self, rows: i64, cols: i64) -> Option<i64> {
        let ld = if cols == 1 { rows } else { self.col };
        ((rows == 1 || self.row == 1) && ld >= rows).then_some(ld)
    }

    /// A factor in the form of BLAS; `None` if neither rows nor columns are contiguous.
    fn factor(&self, rows: i64, cols: i64) -> Option<Matrix> {
        let (transposed, ld) = match self.columns(rows, cols) {
            Some(ld) => (false, ld),
            None => (true, self.transposed().columns(cols, rows)?),
        };
        Some(Matrix { at: self.first, transposed, ld, apart: 0 })
    }

    /// Copies the matrices to contiguous row-major memory. Broadcast matrices are copied once.
    fn copy<'a>(&mut self, gpu: &'a Gpu, batch: &Dims, [rows, cols]: [i64; 2]) -> Result<Scratch<'a>> {
        let mut from = Layout { shape: batch.clone(), strides: self.batch.clone(), offset: 0 };
        for dim in 0..batch.len() {
            if self.batch[dim] == 0 {
                from.shape[dim] = 1;
            }
        }
        from.shape.extend_from_slice(&[rows, cols]);
        from.strides.extend_from_slice(&[self.row, self.col]);
        let to = Layout::contiguous(&from.shape);
        let scratch = gpu.scratch(to.numel() as usize * self.size)?;
        // SAFETY: the matrices are in memory of the GPU, and the copy has room for them.
        unsafe { moved(gpu, &Plan::new([&to, &from], [self.size; 2]), [scratch.ptr(), self.first], self.size)? };
        self.first = scratch.ptr();
        for dim in 0..batch.len() {
            self.batch[dim] = if self.batch[dim] == 0 { 0 } else { to.strides[dim] };
        }
        (self.row, self.col) = (cols, 1);
        Ok(scratch)
    }
}

/// Turns batch dimensions into a longer sum, if they continue the columns of `a` and the rows of `b`.
fn lengthen(products: &mut Products, batch: &mut Vec<Batched>) {
    while let Some(&(size, [a, b, _])) = batch.last().filter(|_| products.summed) {
        match products.k {
            1 => (products.a.col, products.b.row) = (a, b),
            k if a == products.a.col * k && b == products.b.row * k => {}
            _ => return,
        }
        products.k *= size;
        batch.pop();
    }
}

/// The batch dimensions with more than one entry. Neighbours that have a common stride are merged.
fn merged(products: &Products) -> Vec<Batched> {
    let mut merged: Vec<Batched> = Vec::new();
    for (dim, &size) in products.batch.iter().enumerate().filter(|(_, size)| **size != 1) {
        let step = |t: &Matrices| t.batch[dim];
        let steps = [step(&products.a), step(&products.b), if products.summed { 0 } else { step(&products.c) }];
        match merged.last_mut() {
            Some((outer, before)) if *before == steps.map(|step| step * size) => (*outer, *before) = (*outer * size, steps),
            _ => merged.push((size, steps)),
        }
    }
    merged
}

impl<'a> Calls<'a> {
    /// The calls for products; `None` if cuBLAS is missing or does not support them. The calls add to the elements of `c`, into which the
    /// addend is copied before.
    pub fn of(gpu: &'a Gpu, products: &Products) -> Result<Option<Calls<'a>>> {
        let types = Types::new(products.dtype, products.result, products.tf32);
        let empty = products.k == 0 || products.batch.contains(&0);
        let Some(types) = types.filter(|_| !empty && is_present()) else { return Ok(None) };
        let mut p = products.clone();
        if p.c.columns(p.m, p.n).is_none() {
            p.transpose();
        }
        let Some(ld) = p.c.columns(p.m, p.n) else { return Ok(None) };
        let (m, n) = (p.m, p.n);
        // A single element is one sum, which thorn's kernels split.
        if m == 1 && n == 1 {
            return Ok(None);
        }
        let mut copies = [None, None];
        let lacks = [p.a.factor(m, p.k).is_none(), p.b.factor(p.k, n).is_none()];
        if (lacks[0] && n < WORTH_A_COPY) || (lacks[1] && m < WORTH_A_COPY) {
            return Ok(None);
        }
        if lacks[0] {
            copies[0] = Some(p.a.copy(gpu, &p.batch, [m, p.k])?);
        }
        if lacks[1] {
            copies[1] = Some(p.b.copy(gpu, &p.batch, [p.k, n])?);
        }
        let mut repeated = merged(&p);
        lengthen(&mut p, &mut repeated);
        let largest = (0..repeated.len()).filter(|&dim| !p.summed && repeated[dim].1.iter().all(|&step| step >= 0));
        let together = largest.max_by_key(|&dim| repeated[dim].0).map_or((1, [0; 3]), |dim| repeated.remove(dim));
        let calls = repeated.iter().map(|(size, _)| size).product::<i64>();
        let (Some(a), Some(b), true) = (p.a.factor(m, p.k), p.b.factor(p.k, n), calls <= MOST_CALLS) else { return Ok(None) };
        let [a, b, c] = [a, b, Matrix { at: p.c.first, transposed: false, ld, apart: 0 }];
        let (alpha, beta) = (p.alpha.to_f64(), if p.t.is_some() { p.beta.to_f64() } else { 0.0 });
        let apart = |t: Matrix, k: usize| Matrix { apart: together.1[k], ..t };
        let first = Gemm { sizes: [m, n, p.k], alpha, a: apart(a, 0), b: apart(b, 1), beta, c: apart(c, 2), count: together.0 };
        Ok(Some(Calls { types, first, repeated, summed: p.summed, size: [p.a.size, p.c.size], _copies: copies }))
    }

    /// Computes the products.
    pub fn run(&self, blas: &Blas<'_>) -> Result<()> {
        let calls = self.repeated.iter().map(|(size, _)| size).product::<i64>();
        for call in 0..calls {
            let (mut gemm, mut rest) = (self.first, call);
            for &(size, steps) in self.repeated.iter().rev() {
                let place = rest % size;
                rest /= size;
                for (t, k) in [(&mut gemm.a, 0), (&mut gemm.b, 1), (&mut gemm.c, 2)] {
                    t.at = t.at.wrapping_add_signed(place * steps[k] * self.size[k / 2] as i64);
                }
            }
            if self.summed && call > 0 {
                gemm.beta = 1.0;
            }
            // SAFETY: the operands are inside their storages, and the result does not overlap the factors.
            unsafe { blas.multiply(self.types, &gemm)? };
        }
        Ok(())
    }
}
