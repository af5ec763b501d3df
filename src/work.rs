//! Operands of an elementwise operation as kernels walk them: addresses and geometry, whose memory somebody has vouched for.

use crate::dtype::Dtype;
use crate::plan::Plan;

/// Rows of contiguous elements of each operand.
#[derive(Clone, Copy)]
pub struct Rows<const N: usize> {
    /// First element of each.
    pub at: [*mut u8; N],
    /// Bytes from row to row.
    pub step: [isize; N],
    /// Inputs with one value for a row.
    pub row_scalar: [bool; N],
    /// Rows.
    pub rows: usize,
    /// Elements of a row.
    pub cols: usize,
}

impl<const N: usize> Rows<N> {
    /// One row of `n` elements.
    #[inline(always)]
    pub fn one(at: [*mut u8; N], n: usize) -> Rows<N> {
        Rows { at, step: [0; N], row_scalar: [false; N], rows: 1, cols: n }
    }
}

/// An operation over operands of any layout and dtype.
pub struct Job<const N: usize> {
    /// How to walk the operands.
    pub(crate) plan: Plan<N>,
    /// First element of each operand.
    pub(crate) data: [*mut u8; N],
    /// The dtype of each operand in memory.
    pub(crate) dtype: [Dtype; N],
    /// The dtype in which the kernel reads or writes each operand.
    pub(crate) compute: [Dtype; N],
    /// Elements a thread must get for waking it to pay.
    pub(crate) grain: usize,
}

impl<const N: usize> Job<N> {
    /// The elements of types `dtype` that `plan` reaches from `data`, handed to kernels as `compute`.
    ///
    /// # Safety
    /// While the work lives, every position of the plan lies inside its operand; no two positions of the result share an element, unless
    /// `grain` is so large that one thread does all; and an input shares no element with the result, but for those at the same position.
    #[inline(always)]
    pub unsafe fn new(plan: Plan<N>, data: [*mut u8; N], dtype: [Dtype; N], compute: [Dtype; N], grain: usize) -> Job<N> {
        Job { plan, data, dtype, compute, grain }
    }

    /// The plan, and the first element of each operand.
    pub fn into_parts(self) -> (Plan<N>, [*mut u8; N]) {
        (self.plan, self.data)
    }
}

/// An elementwise operation ready to run: operand 0 is the result. Whoever made it vouched for its memory, so that it is safe to run.
pub enum Work<const N: usize> {
    /// Everything contiguous and in its compute type: there is nothing to allocate.
    Flat(Flat<N>),
    /// Anything else.
    Planned(Box<Job<N>>),
}

/// Contiguous operands, each of the type its kernel takes.
#[derive(Clone, Copy)]
pub struct Flat<const N: usize> {
    /// The elements as one row, the way kernels take them: made anew for the kernel, it would cost a call of a few a tenth of its time.
    pub(crate) row: Rows<N>,
    /// The type of each operand.
    pub(crate) dtype: [Dtype; N],
    /// Elements a thread must get for waking it to pay.
    pub(crate) grain: usize,
}

impl<const N: usize> Flat<N> {
    /// `n` contiguous elements of each operand, the first of which is at `data`.
    ///
    /// # Safety
    /// While the work lives, each operand has `n` elements of its `dtype`, and an input either shares no element with the result, or begins
    /// where the result begins and has elements of its size.
    #[inline(always)]
    pub unsafe fn new(data: [*mut u8; N], n: usize, dtype: [Dtype; N], grain: usize) -> Flat<N> {
        Flat { row: Rows::one(data, n), dtype, grain }
    }

    /// The elements.
    #[inline(always)]
    pub fn row(&self) -> &Rows<N> {
        &self.row
    }
}
