//! Matrix products as numbers: addresses, sizes and strides of the matrices.

use crate::device::tf32_allowed;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Matmul;
use crate::layout::{Dims, Layout};
use crate::operand::Operand;
use crate::scalar::Scalar;

/// The matrices of an operand: the address, the strides of the batch, of rows and of columns in elements, and the element size in bytes.
#[derive(Debug, Clone)]
pub struct Matrices {
    pub first: u64,
    pub batch: Dims,
    pub row: i64,
    pub col: i64,
    pub size: usize,
}

impl Matrices {
    /// The matrices in the last two dimensions of a layout.
    fn of(t: &Operand, layout: &Layout) -> Matrices {
        let (batch, steps) = layout.strides.split_at(layout.ndim() - 2);
        Matrices { first: t.first() as u64, batch: batch.into(), row: steps[0], col: steps[1], size: t.dtype.size() }
    }

    /// The transposed matrices.
    pub fn transposed(&self) -> Matrices {
        Matrices { row: self.col, col: self.row, ..self.clone() }
    }

    fn transpose(&mut self) {
        (self.row, self.col) = (self.col, self.row);
    }

    /// Returns true if a batch dimension continues the rows.
    fn continues(&self, dim: usize, rows: i64) -> bool {
        rows == 1 || self.batch[dim] == self.row * rows
    }

    /// The distances between rows and between columns in bytes.
    pub fn bytes(&self) -> [i64; 2] {
        [self.row, self.col].map(|step| step * self.size as i64)
    }

    pub fn layout(&self, shape: &Dims) -> Layout {
        Layout { shape: shape.clone(), strides: self.batch.clone(), offset: 0 }
    }
}

/// A batch of matrices: the address of the first, and the distances between matrices, rows and columns in elements.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    pub at: u64,
    pub apart: i64,
    pub row: i64,
    pub col: i64,
}

impl Block {
    /// The block that starts at a row and a column.
    pub fn from(self, dtype: Dtype, row: i64, col: i64) -> Block {
        let step = (row * self.row + col * self.col) * dtype.size() as i64;
        Block { at: self.at.wrapping_add_signed(step), ..self }
    }

    pub fn transposed(self) -> Block {
        Block { row: self.col, col: self.row, ..self }
    }
}

/// Products `c = beta * t + alpha * (a @ b)` of m x k and k x n matrices, for each place of a batch, or summed over the batch.
#[derive(Debug, Clone)]
pub struct Products {
    /// The dtype of the factors.
    pub dtype: Dtype,
    /// The dtype of the results, to which sums are rounded.
    pub result: Dtype,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub batch: Dims,
    pub summed: bool,
    pub a: Matrices,
    pub b: Matrices,
    pub c: Matrices,
    pub t: Option<(Matrices, Dtype)>,
    pub alpha: Scalar,
    pub beta: Scalar,
    /// True if factors in float32 may be rounded to TF32.
    pub tf32: bool,
}

impl Products {
    pub fn new(work: &Matmul<'_>, c: &Operand, [a, b]: [&Operand; 2], t: Option<&Operand>) -> Result<Products> {
        let over = |t: &Operand| -> Result<Layout> {
            let mut shape = Dims::from(work.batch);
            shape.extend_from_slice(&t.layout().shape[t.layout().ndim() - 2..]);
            t.layout().broadcast_to(&shape)
        };
        // Missing dimensions of the result are added with size 1.
        let result = |layout: &Layout| -> Result<Layout> {
            let mut layout = layout.clone();
            if !work.dims.columns {
                layout.unsqueeze(-1)?;
            }
            if !work.dims.rows {
                layout.unsqueeze(-2)?;
            }
            Ok(layout)
        };
        let (of_a, of_b) = (over(a)?, over(b)?);
        let (rows, cols) = (&of_a.shape[work.batch.len()..], &of_b.shape[work.batch.len()..]);
        let addend = |t: &Operand| -> Result<_> {
            let layout = result(&t.layout().broadcast_to(&c.layout().shape)?)?;
            Ok((Matrices::of(t, &layout), t.dtype))
        };
        let nothing = work.alpha.to_f64() == 0.0;
        Ok(Products {
            dtype: a.dtype,
            result: c.dtype,
            m: rows[0],
            n: cols[1],
            // If alpha is 0, no products are computed.
            k: if nothing { 0 } else { rows[1] },
            batch: work.batch.into(),
            summed: !work.dims.batch,
            a: Matrices::of(a, &of_a),
            b: Matrices::of(b, &of_b),
            c: Matrices::of(c, &result(c.layout())?),
            t: t.map(addend).transpose()?,
            alpha: work.alpha,
            beta: work.beta,
            tf32: tf32_allowed(),
        })
    }

    /// Products `c = beta * c + alpha * (a @ b)` of `count` blocks of one dtype. If `beta` is 0, `c` is not read.
    pub fn of_blocks(
        (dtype, count): (Dtype, i64),
        [m, n, k]: [i64; 3],
        (beta, c): (f64, Block),
        (alpha, a, b): (f64, Block, Block),
    ) -> Products {
        let of = |block: Block| Matrices {
            first: block.at,
            batch: (&[block.apart][..]).into(),
            row: block.row,
            col: block.col,
            size: dtype.size(),
        };
        Products {
            dtype,
            result: dtype,
            m,
            n,
            k,
            batch: (&[count][..]).into(),
            summed: false,
            a: of(a),
            b: of(b),
            c: of(c),
            t: (beta != 0.0).then(|| (of(c), dtype)),
            alpha: alpha.into(),
            beta: beta.into(),
            tf32: false,
        }
    }

    /// Turns batch dimensions into more rows, if all matrices on the right are the same and the rows continue each other.
    pub fn stack(&mut self) {
        while !self.summed && !self.batch.is_empty() {
            let (dim, m) = (self.batch.len() - 1, self.m);
            let size = self.batch[dim];
            let continues = |t: &Matrices| t.continues(dim, m);
            let fits =
                self.b.batch[dim] == 0 && [&self.a, &self.c].into_iter().all(continues) && self.t.as_ref().is_none_or(|t| continues(&t.0));
            if size != 1 && !fits {
                return;
            }
            self.batch = self.batch[..dim].into();
            let all = [&mut self.a, &mut self.b, &mut self.c].into_iter().chain(self.t.as_mut().map(|t| &mut t.0));
            for (k, t) in all.enumerate() {
                let step = t.batch[dim];
                t.batch = t.batch[..dim].into();
                if m == 1 && size != 1 && k != 1 {
                    t.row = step;
                }
            }
            self.m *= size;
        }
    }

    /// Transposes the products if the columns of the result are contiguous.
    pub fn turn(&mut self) {
        if self.c.row.abs() < self.c.col.abs() && self.m != 1 && self.n != 1 {
            self.transpose();
        }
    }

    /// Transposes the products: swaps the factors and transposes all matrices.
    pub fn transpose(&mut self) {
        (self.m, self.n) = (self.n, self.m);
        std::mem::swap(&mut self.a, &mut self.b);
        [&mut self.a, &mut self.b, &mut self.c].into_iter().for_each(Matrices::transpose);
        if let Some((t, _)) = &mut self.t {
            t.transpose();
        }
    }

    /// The number of separate products, and the number of products that are summed for each.
    pub fn counts(&self) -> [i64; 2] {
        let count = self.batch.iter().product();
        if self.summed { [1, count] } else { [count, 1] }
    }
}
