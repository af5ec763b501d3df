//! The work that operations pass to kernels: operands whose memory the caller of an `unsafe` constructor has vouched for.

use super::{Flat, Job, Kernel, Options, Work};
use crate::cpu::tuning::SHORT_RUN;
use crate::dtype::Dtype;
use crate::plan::{Plan, each};

impl<const N: usize> Work<N> {
    /// Runs `kernel`, a kernel over elements of `types`, over all elements.
    #[inline]
    pub fn run(&self, types: [Dtype; N], kernel: Kernel<'_, N>) {
        self.run_with(types, kernel, Options::default())
    }

    /// [`Work::run`] with options of the kernel.
    #[inline]
    pub fn run_with(&self, types: [Dtype; N], kernel: Kernel<'_, N>, options: Options<'_, N>) {
        match self {
            Work::Flat(flat) if flat.dtype == types && flat.is_one_call(options) => kernel(&flat.row),
            _ => self.run_other(types, kernel, options),
        }
    }

    /// Runs the kernel over elements of other types than the kernel's, or over too many elements for one call.
    #[inline(never)]
    fn run_other(&self, types: [Dtype; N], kernel: Kernel<'_, N>, options: Options<'_, N>) {
        match self {
            Work::Flat(flat) => {
                check_types(&flat.dtype, types);
                if flat.is_one_call(options) { kernel(&flat.row) } else { flat.job().run(kernel, options) }
            }
            Work::Planned(job) => {
                check_types(&job.compute, types);
                job.run(kernel, options)
            }
        }
    }

    /// Returns the number of elements of the result.
    pub fn numel(&self) -> usize {
        match self {
            Work::Flat(flat) => flat.row.cols,
            Work::Planned(job) => job.plan.numel(),
        }
    }

    /// Returns the 16-bit float type that is stored for every operand which the kernel computes in float32, provided that all other
    /// operands are stored in their compute type and the processor converts such floats in registers. Otherwise returns `None`.
    #[inline(always)]
    pub fn half(&self) -> Option<Dtype> {
        let Work::Planned(job) = self else { return None };
        job.half()
    }

    /// [`Work::run`] for a kernel that uses elements as they are stored in memory, without conversion. Their types must match `types`.
    pub fn run_as_stored(&self, types: [Dtype; N], kernel: Kernel<'_, N>) {
        match self {
            Work::Flat(flat) => {
                check_types(&flat.dtype, types);
                flat.job().run(kernel, Options::default())
            }
            Work::Planned(job) => {
                check_types(&job.dtype, types);
                Job { plan: job.plan.clone(), compute: job.dtype, ..**job }.run(kernel, Options::default())
            }
        }
    }
}

/// Panics unless a kernel over `types` can read elements of the types `own`. A kernel over integers or truth values can read the bits of
/// any type of the same size.
fn check_types<const N: usize>(own: &[Dtype; N], types: [Dtype; N]) {
    let takes = |k: usize| types[k] == own[k] || (!types[k].is_float() && types[k].size() == own[k].size());
    assert!((0..N).all(takes), "a kernel over {types:?} cannot take {own:?}");
}

impl<const N: usize> Flat<N> {
    /// Returns true if one call on one thread suffices: there are few elements, or they are not worth a second thread and can be used in
    /// place.
    #[inline(always)]
    fn is_one_call(&self, options: Options<'_, N>) -> bool {
        let Flat { row, grain, .. } = self;
        row.cols < SHORT_RUN || (row.cols < *grain && (options.by_rows || !row.at[1..].contains(&row.at[0])))
    }

    #[inline(never)]
    fn job(&self) -> Job<N> {
        let plan = Plan::flat(self.row.cols, each(|k| self.dtype[k].size()));
        Job { plan, data: self.row.at, dtype: self.dtype, compute: self.dtype, grain: self.grain }
    }
}
