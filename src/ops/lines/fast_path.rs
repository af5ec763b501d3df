//! The fast path of operations over lines: few contiguous elements in the types of the kernel.

use super::want::{LineResult, Want};
use crate::cpu::line_ops::with_kernels;
use crate::cpu::lines::{ColumnBlock, Kernels, Stack};
use crate::cpu::small::{SMALL, SmallBuffer};
use crate::cpu::transpose::transpose;
use crate::cpu::tuning::{COLUMNS_WORTH, LINES_IN_PLACE};
use crate::error::Result;
use crate::launch::Lines;
use crate::layout::wrap_dim;
use crate::tensor::Tensor;
use std::ptr::null_mut;

/// Runs `work` on the lines of `t` along `dim` and returns true if `t` and the results are contiguous and disjoint. Otherwise returns false
/// and changes nothing.
pub fn run(t: &Tensor, dim: i32, work: &Lines<'_>, form: LineResult, wants: &[Want<'_>; 2]) -> Result<bool> {
    let mut done = false;
    with_kernels(work.op, work.compute, 0, wants[1].r.is_some(), &mut |kernels| done = short(t, dim, work, form, wants, kernels))?;
    Ok(done)
}

/// [`run`] with the kernels of the work.
#[inline(always)]
fn short(t: &Tensor, dim: i32, work: &Lines<'_>, form: LineResult, wants: &[Want<'_>; 2], kernels: &Kernels<'_>) -> bool {
    let sizes = t.peek().0;
    // A negative dim other than -1 is not the last one.
    if dim != -1 && dim as usize != sizes.len().max(1) - 1 {
        return form == LineResult::Same && columns(t, dim, work, wants, kernels);
    }
    let Some(Operands { x, numel, out, items: [a, b] }) = operands(t, work, form, wants, LINES_IN_PLACE) else { return false };
    let compute = work.compute;
    let n = sizes.last().map_or(1, |&n| n as usize);
    let (x_step, out_step) = ((n * compute.size()) as isize, [(n * a) as isize, (n * b) as isize]);
    kernels.kernel.run(Stack { out, out_step, x, x_step, n, count: numel / n }, null_mut());
    true
}

/// The addresses of the operands and the item size of each result, 0 for an absent result.
struct Operands {
    x: *mut u8,
    numel: usize,
    out: [*mut u8; 2],
    items: [usize; 2],
}

/// Returns `t` and the results if they are contiguous and disjoint, and `t` has at most `most` elements.
#[inline(always)]
fn operands(t: &Tensor, work: &Lines<'_>, form: LineResult, wants: &[Want<'_>; 2], most: usize) -> Option<Operands> {
    let (compute, writes) = (work.compute, work.op.written(work.compute));
    let (x, numel) = t.flat_like(compute, t)?;
    let numel = numel as usize;
    if numel > most || (form != LineResult::Same && (t.ndim() != 1 || form != LineResult::One { keepdim: false })) {
        return None;
    }
    let (mut out, mut items) = ([null_mut(); 2], [0; 2]);
    for (k, want) in wants.iter().enumerate() {
        let Some(written) = writes[k] else { continue };
        if written != want.dtype {
            return None;
        }
        let r = want.r?;
        let (data, count) = r.flat_like(written, if form == LineResult::Same { t } else { r })?;
        if form != LineResult::Same && !r.is_scalar() {
            return None;
        }
        let size = written.size();
        let overlaps =
            |other: *mut u8, bytes: usize| data.addr() < other.addr() + bytes && other.addr() < data.addr() + count as usize * size;
        if overlaps(x, numel * compute.size()) || (k == 1 && overlaps(out[0], numel * items[0])) {
            return None;
        }
        (out[k], items[k]) = (data, size);
    }
    Some(Operands { x, numel, out, items })
}

/// Lines along another dim than the last one, which are columns. Many columns go to the kernel for columns, as on the slow path, because
/// the two kernels may round differently. Fewer are transposed in a buffer, and their results are transposed back.
#[inline(never)]
fn columns(t: &Tensor, dim: i32, work: &Lines<'_>, wants: &[Want<'_>; 2], kernels: &Kernels<'_>) -> bool {
    let compute = work.compute;
    let shape = t.peek().0;
    let Ok(d) = wrap_dim(dim, shape.len()) else { return false };
    let Some(Operands { x, numel, out, items }) = operands(t, work, LineResult::Same, wants, SMALL) else { return false };
    let n = shape[d] as usize;
    let inner = shape[d + 1..].iter().product::<i64>() as usize;
    let outer = numel / n / inner;
    if let Some(columns) = kernels.columns.filter(|_| inner >= COLUMNS_WORTH) {
        let (x_step, out_step) = ((inner * compute.size()) as isize, items.map(|item| (inner * item) as isize));
        for block in 0..outer {
            for start in (0..inner).step_by(kernels.max_lines) {
                let at = block * n * inner + start;
                let out = [0, 1].map(|k| out[k].wrapping_add(at * items[k]));
                let width = kernels.max_lines.min(inner - start);
                columns(ColumnBlock { out, out_step, x: x.wrapping_add(at * compute.size()), x_step, n, width, ahead: 0 });
            }
        }
        return true;
    }
    let mut buffers = [const { SmallBuffer::new() }; 3];
    let buffers = buffers.each_mut().map(SmallBuffer::data);
    // Transposes each block of `rows` x `cols` elements into one of `cols` x `rows`.
    let turn = |to: *mut u8, from: *const u8, item: usize, rows: usize, cols: usize| {
        for at in (0..outer).map(|i| i * n * inner * item) {
            // SAFETY: both memories hold all the elements and do not overlap.
            unsafe { transpose(item, to.add(at), (rows * item) as isize, from.add(at), (cols * item) as isize, cols, rows) }
        }
    };
    turn(buffers[0], x, compute.size(), n, inner);
    let (x_step, out_step) = ((n * compute.size()) as isize, items.map(|item| (n * item) as isize));
    let stack = Stack { out: [buffers[1], buffers[2]], out_step, x: buffers[0], x_step, n, count: outer * inner };
    kernels.kernel.run(stack, null_mut());
    for k in (0..2).filter(|&k| items[k] > 0) {
        turn(out[k], buffers[k + 1], items[k], inner, n);
    }
    true
}
