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
    let (sizes, mut done) = (t.peek().0, false);
    // A scalar is a line of one element. `TH_ALL_DIMS` is not a dim.
    let Ok(d) = wrap_dim(dim, sizes.len()) else { return Ok(false) };
    let n = sizes.get(d).map_or(1, |&n| n.max(0) as usize);
    with_kernels(work.op, work.compute, n, wants[1].r.is_some(), &mut |kernels| done = short(t, d, work, form, wants, kernels))?;
    Ok(done)
}

/// [`run`] with the kernels of the work.
#[inline(always)]
fn short(t: &Tensor, d: usize, work: &Lines<'_>, form: LineResult, wants: &[Want<'_>; 2], kernels: &Kernels<'_>) -> bool {
    let sizes = t.peek().0;
    if kernels.scratch > size_of::<SmallBuffer>() {
        return false;
    }
    if d + 1 < sizes.len() {
        return form == LineResult::Same && columns(t, d, work, wants, kernels);
    }
    let Some(Operands { x, numel, out, items: [a, b] }) = operands(t, work, form, wants, kernels, LINES_IN_PLACE) else { return false };
    let compute = work.compute;
    let n = sizes.last().map_or(1, |&n| n as usize);
    let of_result = if let LineResult::Resized { n } = form { n as usize } else { n };
    let (x_step, out_step) = ((n * compute.size()) as isize, [(of_result * a) as isize, (of_result * b) as isize]);
    kernels.kernel.run(Stack { out, out_step, x, x_step, n, count: numel / n }, SmallBuffer::new().data());
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
fn operands(t: &Tensor, work: &Lines<'_>, form: LineResult, wants: &[Want<'_>; 2], kernels: &Kernels<'_>, most: usize) -> Option<Operands> {
    let (compute, writes) = (work.compute, work.op.written(work.compute));
    let (x, numel) = t.flat_like(compute, t)?;
    let numel = numel as usize;
    if numel > most {
        return None;
    }
    let (mut out, mut items, mut bytes) = ([null_mut(); 2], [0; 2], [0; 2]);
    for (k, want) in wants.iter().enumerate() {
        let Some(written) = writes[k] else { continue };
        let Some(r) = want.r else {
            if kernels.writes_all {
                return None;
            }
            continue;
        };
        if written != want.dtype {
            return None;
        }
        let (data, count) = r.flat_like(written, if form == LineResult::Same { t } else { r })?;
        if !has_form(r, t, form) {
            return None;
        }
        bytes[k] = count as usize * written.size();
        let overlaps = |other: *mut u8, size: usize| data.addr() < other.addr() + size && other.addr() < data.addr() + bytes[k];
        if overlaps(x, numel * compute.size()) || (k == 1 && overlaps(out[0], bytes[0])) {
            return None;
        }
        (out[k], items[k]) = (data, written.size());
    }
    (items != [0; 2]).then_some(Operands { x, numel, out, items })
}

/// Returns true if `r` has the shape of a result for lines along the last dim of `t`, and the fast path serves this form. A result of
/// [`LineResult::Same`] has been compared with `t` already.
#[inline(always)]
fn has_form(r: &Tensor, t: &Tensor, form: LineResult) -> bool {
    match form {
        LineResult::Same => true,
        LineResult::One { keepdim } => !keepdim && t.ndim() == 1 && r.is_scalar(),
        LineResult::Resized { n } => match (r.peek().0.split_last(), t.peek().0.split_last()) {
            (Some((&own, outer)), Some((_, of_t))) => own == n && outer == of_t,
            _ => false,
        },
        LineResult::Leading { .. } => false,
    }
}

/// Lines along another dim than the last one, which are columns. Many columns go to the kernel for columns, as on the slow path, because
/// the two kernels may round differently. Fewer are transposed in a buffer, and their results are transposed back.
#[inline(never)]
fn columns(t: &Tensor, d: usize, work: &Lines<'_>, wants: &[Want<'_>; 2], kernels: &Kernels<'_>) -> bool {
    let compute = work.compute;
    let shape = t.peek().0;
    let Some(Operands { x, numel, out, items }) = operands(t, work, LineResult::Same, wants, kernels, SMALL) else { return false };
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
    let turned = [0, 1].map(|k| if items[k] > 0 { buffers[k + 1] } else { null_mut() });
    let stack = Stack { out: turned, out_step, x: buffers[0], x_step, n, count: outer * inner };
    kernels.kernel.run(stack, SmallBuffer::new().data());
    for k in (0..2).filter(|&k| items[k] > 0) {
        turn(out[k], buffers[k + 1], items[k], inner, n);
    }
    true
}
