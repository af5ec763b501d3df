//! Elementwise work for the host's kernels: addresses and geometry. The `unsafe` constructors make their callers responsible for the
//! memory.

use crate::dtype::Dtype;
use crate::plan::Plan;

/// Rows of contiguous elements of each operand.
#[derive(Clone, Copy)]
pub struct Rows<const N: usize> {
    /// The address of the first element of each operand.
    pub at: [*mut u8; N],
    /// The distance between rows in bytes.
    pub step: [isize; N],
    /// True for an input that has one value for a whole row.
    pub row_scalar: [bool; N],
    /// The number of rows.
    pub rows: usize,
    /// The number of elements of a row.
    pub cols: usize,
}

impl<const N: usize> Rows<N> {
    /// One row of `n` elements.
    #[inline(always)]
    pub fn one(at: [*mut u8; N], n: usize) -> Rows<N> {
        Rows { at, step: [0; N], row_scalar: [false; N], rows: 1, cols: n }
    }
}

/// An elementwise operation over operands of any layout and dtype.
pub struct Job<const N: usize> {
    /// The loops over the operands.
    pub(crate) plan: Plan<N>,
    /// The address of the first element of each operand.
    pub(crate) data: [*mut u8; N],
    /// The dtype of each operand in memory.
    pub(crate) dtype: [Dtype; N],
    /// The dtype in which the kernel reads or writes each operand: the compute type.
    pub(crate) compute: [Dtype; N],
    /// The least number of elements for which it pays to wake a thread.
    pub(crate) grain: usize,
}

impl<const N: usize> Job<N> {
    /// Work over the elements that `plan` reaches from `data`. They have the types `dtype` in memory and `compute` in the kernel.
    ///
    /// # Safety
    /// While the work exists: every position of the plan is inside its operand. No two positions of the result share an element, unless
    /// `grain` is so large that one thread does all work. An input shares no element with the result, except at the same position.
    #[inline(always)]
    pub unsafe fn new(plan: Plan<N>, data: [*mut u8; N], dtype: [Dtype; N], compute: [Dtype; N], grain: usize) -> Job<N> {
        Job { plan, data, dtype, compute, grain }
    }

    /// The plan, and the address of the first element of each operand.
    pub fn into_parts(self) -> (Plan<N>, [*mut u8; N]) {
        (self.plan, self.data)
    }
}

/// An elementwise operation that is ready to run; operand 0 is the result. Running it is safe, because its constructor was `unsafe` and the
/// caller guaranteed the memory.
pub enum Work<const N: usize> {
    /// All operands are contiguous and in their compute types. Nothing is allocated.
    Flat(Flat<N>),
    /// Anything else.
    Planned(Box<Job<N>>),
}

/// Contiguous operands, each in the type that the kernel accepts.
#[derive(Clone, Copy)]
pub struct Flat<const N: usize> {
    /// The elements as one row. Kernels accept rows, and building one for each call would take a tenth of the time of a call with few
    /// elements.
    pub(crate) row: Rows<N>,
    /// The type of each operand.
    pub(crate) dtype: [Dtype; N],
    /// The least number of elements for which it pays to wake a thread.
    pub(crate) grain: usize,
}

impl<const N: usize> Flat<N> {
    /// `n` contiguous elements of each operand. `data` has the addresses of the first ones.
    ///
    /// # Safety
    /// While the work exists: each operand has `n` elements of its `dtype`. An input either shares no element with the result, or has the
    /// same address and element size as the result.
    #[inline(always)]
    pub unsafe fn new(data: [*mut u8; N], n: usize, dtype: [Dtype; N], grain: usize) -> Flat<N> {
        Flat { row: Rows::one(data, n), dtype, grain }
    }

    /// The elements as one row.
    #[inline(always)]
    pub fn row(&self) -> &Rows<N> {
        &self.row
    }
}
