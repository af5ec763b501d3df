//! The fast path of products of two matrices on the host. The result has its dtype and shape already and does not overlap the inputs.

use crate::cpu::matmul;
use crate::tensor::Tensor;

/// `r = a @ b`; `None` if the operands do not qualify
pub(super) fn mm(r: &Tensor, a: &Tensor, b: &Tensor) -> Option<()> {
    let of = |t: &Tensor| {
        let (dtype, data, capacity) = t.memory()?;
        let (&[rows, cols], &[row, col]) = t.peek() else { return None };
        if rows <= 0 || cols <= 0 || row < 0 || col < 0 {
            return None;
        }
        let reach = (rows - 1).checked_mul(row)?.checked_add((cols - 1).checked_mul(col)?)?;
        let inside = usize::try_from(reach).is_ok_and(|reach| reach < capacity);
        inside.then_some((dtype, (data, [rows, cols], [row, col]), reach as usize * dtype.size() + dtype.size()))
    };
    let ((dtype, to, bytes), (of_a, left, bytes_a), (of_b, right, bytes_b)) = (of(r)?, of(a)?, of(b)?);
    let ([rows, cols], [row, col]) = (to.1, to.2);
    let fits = left.1 == [rows, right.1[0]] && right.1[1] == cols;
    let distinct = col > 0 && row > (cols - 1).checked_mul(col)?;
    let disjoint = |data: *mut u8, n: usize| {
        let ahead = data.addr().wrapping_sub(to.0.addr());
        ahead >= bytes && ahead.wrapping_neg() >= n
    };
    if !(fits && distinct && of_a == dtype && of_b == dtype && disjoint(left.0, bytes_a) && disjoint(right.0, bytes_b)) {
        return None;
    }
    // SAFETY: all elements are inside their storages, and the result's elements are distinct and do not overlap the inputs.
    unsafe { matmul::mm(dtype, [to, left, right]) }.ok()
}
