//! The lists of a batch of matrices, and the kernels on them.

use crate::alloc;
use crate::cuda::gpu::Gpu;
use crate::cuda::matmul::{TWO_BLOCKS, multiply};
use crate::cuda::memory::Scratch;
use crate::cuda::products::Block;
use crate::cuda::source::{Entry, Source};
use crate::dtype::{Domain, Dtype};
use crate::error::Result;
use crate::operand::Operand;

const DECOMPOSE: &str = include_str!("../kernels/decompose.cuh");

/// The kernels that scale by powers of 2, and that copy, set or test elements.
pub static SCALE: Source = Source {
    name: "decompose_scale",
    text: &[TWO_BLOCKS, DECOMPOSE, include_str!("../kernels/decompose_scale.cu")],
    entries: scale_entries,
};
/// The kernels of LU, Cholesky factors, and triangular systems.
pub static LU: Source =
    Source { name: "decompose_lu", text: &[TWO_BLOCKS, DECOMPOSE, include_str!("../kernels/decompose_lu.cu")], entries: lu_entries };
/// The kernels of QR.
pub static QR: Source =
    Source { name: "decompose_qr", text: &[TWO_BLOCKS, DECOMPOSE, include_str!("../kernels/decompose_qr.cu")], entries: qr_entries };
/// The kernels of eigenvalues and singular values.
pub static VALUES: Source = Source {
    name: "decompose_values",
    text: &[TWO_BLOCKS, DECOMPOSE, include_str!("../kernels/decompose_values.cu")],
    entries: values_entries,
};
/// The kernels of the matrix exponential.
pub static EXPONENTIAL: Source = Source {
    name: "decompose_exponential",
    text: &[TWO_BLOCKS, DECOMPOSE, include_str!("../kernels/decompose_exponential.cu")],
    entries: exponential_entries,
};

/// The number of columns of a panel.
pub(super) const PANEL: i64 = 32;

/// A kernel that exists for float and double.
pub struct Kernel {
    source: &'static Source,
    name: &'static str,
    /// The number of threads for a line, which is a matrix, or a row or column of one.
    threads: i64,
}

macro_rules! kernels {
    ($source:ident $entries:ident: $($KERNEL:ident $name:literal $threads:literal;)*) => {
        $(pub const $KERNEL: Kernel = Kernel { source: &$source, name: $name, threads: $threads };)*
        fn $entries() -> Vec<Entry> {
            let names = [$($name),*];
            names.iter().flat_map(|name| ["float", "double"].map(|of| Entry::new(format!("{name}<{of}>"), ARGS, of))).collect()
        }
    };
}

kernels! { SCALE scale_entries:
    SCALE_MATRICES "scale_matrices" 256;
    SCALE_COLUMNS "scale_columns" 32;
    RESCALE "rescale_matrices" 32;
    FIND_ZERO "find_zero" 32;
    FILL "fill_matrices" 32;
}
kernels! { LU lu_entries:
    LU_PANEL "lu_panel" 256;
    EXCHANGE_ROWS "exchange_rows" 1;
    ORDER_ROWS "order_rows" 1;
    SOLVE_PANEL "solve_panel" 32;
    CHOLESKY_PANEL "cholesky_panel" 256;
    PIVOTED_CHOLESKY "pivoted_cholesky" 256;
    DETERMINANT "determinant" 1;
}
kernels! { QR qr_entries:
    QR_PANEL "qr_panel" 256;
    QR_BLOCK "qr_block" 256;
}
kernels! { VALUES values_entries:
    EIGEN_BEGIN "eigen_begin" 256;
    EIGEN_SWEEPS "eigen_sweeps" 256;
    EIGEN_ROUND_COLUMNS "eigen_round_columns" 32;
    EIGEN_ROUND_ROWS "eigen_round_rows" 32;
    EIGEN_END "eigen_end" 256;
    SINGULAR_SWEEPS "singular_sweeps" 256;
    SINGULAR_ROUND "singular_round" 32;
    SINGULAR_END "singular_end" 256;
    COUNT_RANK "count_rank" 32;
    DIVIDE_BY_VALUES "divide_by_values" 32;
}
kernels! { EXPONENTIAL exponential_entries:
    GREATEST_COLUMNS "greatest_columns" 256;
    NORM_OF_POWER "norm_of_power" 256;
}

/// The argument of all kernels.
const ARGS: &str = "DecomposeArgs";

/// The power of 2 that a matrix is multiplied by.
#[derive(Debug, Clone, Copy)]
pub enum Scaling {
    /// Used if sums could overflow, or if all elements are small.
    Headroom,
    /// Used if squares could leave the range.
    Squares,
    /// Always used; brings the greatest element near 1.
    Unit,
}

/// The values that are written to elements. The kernels use the same numbers.
#[derive(Debug, Clone, Copy)]
pub enum Filling {
    Identity,
    ClearUpper,
    ClearFailed,
    ClearBelow,
    Copy,
    CopyTransposed,
    CopyUpper,
    CopyLower,
    Mirror,
    Permutation,
    Add,
    CopySome,
    SpoilFailed,
}

/// A batch of column-major matrices: the address, and the distances between matrices and between columns in elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Matrices {
    pub first: u64,
    pub size: i64,
    pub step: i64,
}

impl Matrices {
    /// The matrices as a block for products.
    pub fn block(self) -> Block {
        Block { at: self.first, apart: self.size, row: 1, col: self.step }
    }
}

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Args {
    pub a: Matrices,
    pub b: Matrices,
    pub c: Matrices,
    pub d: Matrices,
    pub e: Matrices,
    pub integers: u64,
    pub exponents: u64,
    pub infos: u64,
    pub integer_step: i64,
    pub exponent_step: i64,
    pub count: i64,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub from: i64,
    pub width: i64,
    pub number: f64,
    pub side: i64,
    pub upper: i32,
    pub transposed: i32,
    pub unit: i32,
    pub mode: i32,
}

/// One exponent for each matrix: the address, and the distance between exponents in integers.
#[derive(Debug, Clone, Copy)]
pub struct Exponents {
    pub at: u64,
    pub step: i64,
}

/// The lists of a batch. They are row-major and do not overlap.
pub struct Lists<'a> {
    pub gpu: &'a Gpu,
    pub count: i64,
    pub dtype: Dtype,
    blocks: &'a [Option<&'a Operand>],
    integers: Option<&'a Operand>,
    infos: &'a Operand,
}

impl<'a> Lists<'a> {
    /// The lists of `count` matrices. Each info is set to 0.
    pub fn new(
        gpu: &'a Gpu,
        count: usize,
        blocks: &'a [Option<&'a Operand>],
        integers: Option<&'a Operand>,
        infos: &'a Operand,
    ) -> Result<Lists<'a>> {
        let dtype = blocks[0].map_or(Dtype::Bool, |block| block.dtype);
        if !Domain::Float32And64.contains(dtype) {
            return Err(Domain::Float32And64.refusal(dtype));
        }
        // SAFETY: the infos are row-major.
        unsafe { gpu.zero(infos.first() as u64, infos.layout().numel() as usize * 4) }?;
        Ok(Lists { gpu, count: count as i64, dtype, blocks, integers, infos })
    }

    /// List `k`, whose matrices have `rows` rows.
    pub fn matrices(&self, k: usize, rows: i64) -> Matrices {
        self.blocks[k].map_or(Matrices::default(), |block| Matrices {
            first: block.first() as u64,
            size: block.layout().numel() / self.count.max(1),
            step: rows,
        })
    }

    /// The address of the integers, and their number for each matrix.
    pub fn integers(&self) -> (u64, i64) {
        self.integers.map_or((0, 0), |integers| (integers.first() as u64, integers.layout().numel() / self.count.max(1)))
    }

    /// Integer number `k` of each matrix, used as exponents.
    pub fn exponents_at(&self, k: i64) -> Exponents {
        let (at, step) = self.integers();
        Exponents { at: at + 4 * k as u64, step }
    }

    /// Scratch memory for an exponent of each matrix.
    pub fn exponents(&self) -> Result<(Scratch<'a>, Exponents)> {
        let memory = self.gpu.scratch(self.count as usize * 4)?;
        let at = memory.ptr();
        Ok((memory, Exponents { at, step: 1 }))
    }

    /// Scratch memory for matrices with `rows` rows and `columns` columns.
    pub fn memory(&self, rows: i64, columns: i64) -> Result<(Scratch<'a>, Matrices)> {
        let size = rows * columns;
        let memory = self.gpu.scratch((self.count * size) as usize * self.dtype.size())?;
        let first = memory.ptr();
        Ok((memory, Matrices { first, size, step: rows }))
    }

    /// The parts of matrices from a row and a column on.
    pub fn part(&self, of: Matrices, row: i64, column: i64) -> Matrices {
        Matrices { first: of.first + ((row + column * of.step) as u64) * self.dtype.size() as u64, ..of }
    }

    /// The arguments of kernels with the integers and infos of the batch.
    pub fn args(&self) -> Args {
        let (integers, integer_step) = self.integers();
        Args { integers, integer_step, infos: self.infos.first() as u64, count: self.count, ..Args::default() }
    }

    /// Runs a kernel over `lines` lines of each matrix.
    pub fn run(&self, kernel: &Kernel, lines: i64, args: &Args) -> Result<()> {
        if lines == 0 {
            return Ok(());
        }
        let of = if self.dtype == Dtype::Float64 { "double" } else { "float" };
        let blocks = self.gpu.blocks_for((self.count * lines).saturating_mul(kernel.threads));
        // SAFETY: lists and scratch memory hold the elements of the matrices in `args`, and no other work uses them.
        unsafe { self.gpu.launch(kernel.source, &format!("{}<{of}>", kernel.name), ARGS, blocks, args) }
    }

    /// Computes `c = beta * c + alpha * a b` for all matrices, which are m x k and k x n.
    pub fn multiply(&self, sizes: [i64; 3], (beta, c): (f64, Block), (alpha, a, b): (f64, Block, Block)) -> Result<()> {
        // SAFETY: as above.
        unsafe { multiply(self.gpu, (self.dtype, self.count), sizes, (beta, c), (alpha, a, b)) }
    }

    /// Multiplies `size` elements of each matrix by a power of 2, and stores the exponents.
    pub fn scale(&self, a: Matrices, size: i64, scaling: Scaling, to: Exponents) -> Result<()> {
        let args = Args { a, n: size, exponents: to.at, exponent_step: to.step, mode: scaling as i32, ..self.args() };
        self.run(&SCALE_MATRICES, 1, &args)
    }

    /// Scales each column of right-hand sides separately; `given` rows are valid. The exponents are stored after the first `from` integers.
    pub fn scale_columns(&self, b: Matrices, given: i64, k: i64, from: i64) -> Result<()> {
        self.run(&SCALE_COLUMNS, k, &Args { b, m: given, k, from, ..self.args() })
    }

    /// Multiplies m x n elements by the powers of 2 with these exponents times `sign`.
    pub fn rescale(&self, a: Matrices, [m, n]: [i64; 2], exponents: Exponents, sign: i64) -> Result<()> {
        self.run(&RESCALE, n, &self.rescaled(a, [m, n], exponents, sign))
    }

    /// Like [`Lists::rescale`], for the upper triangle.
    pub fn rescale_upper(&self, a: Matrices, [m, n]: [i64; 2], exponents: Exponents, sign: i64) -> Result<()> {
        self.run(&RESCALE, n, &Args { upper: 1, ..self.rescaled(a, [m, n], exponents, sign) })
    }

    /// Removes the scaling from solutions. Right-hand sides were scaled with the exponents after the first `from` integers, matrices with
    /// `exponents`.
    pub fn rescale_solutions(&self, x: Matrices, [m, n]: [i64; 2], exponents: Exponents, from: i64) -> Result<()> {
        let (integers, integer_step) = self.integers();
        self.run(&RESCALE, n, &Args { integers, integer_step, from, ..self.rescaled(x, [m, n], exponents, 1) })
    }

    fn rescaled(&self, a: Matrices, [m, n]: [i64; 2], exponents: Exponents, sign: i64) -> Args {
        Args { a, m, n, exponents: exponents.at, exponent_step: exponents.step, side: sign, integers: 0, ..self.args() }
    }

    /// Sets the info of each matrix to the number of the first 0 on the diagonal.
    pub fn find_zero(&self, a: Matrices, n: i64) -> Result<()> {
        self.run(&FIND_ZERO, 1, &Args { a, n, ..self.args() })
    }

    /// Writes m x n elements of `a`. If `filling` copies, they come from `b`.
    pub fn fill(&self, filling: Filling, a: Matrices, b: Matrices, [m, n]: [i64; 2]) -> Result<()> {
        self.run(&FILL, n, &Args { a, b, m, n, mode: filling as i32, number: 1.0, ..self.args() })
    }

    /// Like [`Lists::fill`], with given arguments, for `n` columns.
    pub fn fill_with(&self, n: i64, args: &Args) -> Result<()> {
        self.run(&FILL, n, args)
    }

    /// Sets each info to 0.
    pub fn clear_infos(&self) -> Result<()> {
        // SAFETY: the infos are row-major, one for each matrix.
        unsafe { self.gpu.zero(self.infos.first() as u64, self.infos.layout().numel() as usize * 4) }
    }

    /// Reads the infos.
    pub fn infos(&self) -> Result<Vec<i32>> {
        let mut infos = alloc::list(self.count as usize, |_| Ok(0))?;
        // SAFETY: the infos are row-major, one for each matrix.
        unsafe { self.gpu.read(self.infos.first() as u64, &mut infos) }?;
        Ok(infos)
    }

    /// Sets the infos.
    pub fn set_infos(&self, infos: &[i32]) -> Result<()> {
        // SAFETY: the infos are row-major, one for each matrix.
        unsafe { self.gpu.write(self.infos.first() as u64, infos) }
    }
}
