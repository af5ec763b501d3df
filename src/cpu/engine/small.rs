//! Few elements: an operand that the kernel cannot use in place is copied whole to a buffer, without tiles.

use super::{Job, Kernel, Rows, SmallBuffer};
use crate::cpu::small::Operand;
use crate::plan::each;

impl<const N: usize> Job<N> {
    /// Runs the kernel once, on all `n` elements of the plan. `n` is at most [`SMALL`](super::SMALL).
    ///
    /// # Safety
    /// As for [`Job::new`].
    #[inline(never)]
    pub(super) unsafe fn run_small(&self, n: usize, kernel: Kernel<'_, N>) {
        let mut buffers: [SmallBuffer; N] = [const { SmallBuffer::new() }; N];
        let buffers = buffers.each_mut().map(SmallBuffer::data);
        let operand = |k: usize| Operand { plan: &self.plan, k, data: self.data[k], dtype: self.dtype[k] };
        let staged = |k: usize| self.dtype[k] != self.compute[k] || !operand(k).is_contiguous() || (k == 0 && self.result_is_input());
        let at = each(|k| if staged(k) { buffers[k] } else { self.data[k] });
        // SAFETY: the caller vouches for the operands; the buffers have room for SMALL elements of any type.
        unsafe {
            for k in (1..N).filter(|&k| staged(k)) {
                operand(k).load(self.compute[k], at[k], n);
            }
            kernel(&Rows::one(at, n));
            if staged(0) {
                operand(0).store(self.compute[0], at[0], n);
            }
        }
    }
}
