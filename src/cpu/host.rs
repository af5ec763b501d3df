//! The host as a device: a driver for each kind of work, and the other functions of a backend.

use super::attention;
use super::compress;
use super::compressed;
use super::copy;
use super::fill::fill_operand;
use super::fold::{FoldKernel, logic, with_kernel};
use super::index;
use super::line_ops::with_kernels;
use super::lines::{self as walk, End};
use super::reduce::{Reduction, split};
use super::{fourier, fused, histogram, images, lapack, layers, matmul, quantized, resample, sampling, search, sequence, triangle};
use crate::dtype::{Bool, Dtype};
use crate::element::{bits, read_element};
use crate::error::Result;
use crate::launch::{
    Attention, AttentionGradient, Choice, Columns, Compress, Compressed, Convert, Convolution, Decompose, Elementwise, Fill, Fold, Fourier,
    Fused, Histogram, Index, Launch, Launchable, LayerNorm, LayerNormGradient, Lines, Loss, Map, Mask, Matmul, Move, Numbers, OneHot, Op,
    Pool, Quantized, Reduce, Resample, RowSoftmax, RowSolve, Sampling, SamplingGradient, Search, Sequence, SoftmaxGradient, SparseProduct,
    System, Triangle, TriangleIndices, Unpool,
};
use crate::layout::{Dims, INLINE_DIMS, Layout};
use crate::operand::Operand;
use crate::plan::{Plan, each};
use crate::scalar::Scalar;
use crate::work::{Job, Work};
use smallvec::{SmallVec, smallvec};
use std::ptr::null_mut;

pub use super::histogram::bincount;
pub use super::matmul::has_matrix_instructions;
pub use super::random::fill_operand as random;
pub use super::unique::unique;

/// Declares the drivers: for each kind of work, the results and inputs that it has, and the function that does the work.
macro_rules! drivers {
    ($($kind:ident $(<$life:lifetime>)?: |$work:pat_param, $out:pat_param, $inputs:pat_param| $run:expr;)*) => {
        $(impl$(<$life>)? Launchable for $kind$(<$life>)? {
            fn value(&self) -> Launch<'_> {
                Launch::$kind(*self)
            }

            #[inline(always)]
            fn run_on_host(&self, out: &[Option<&Operand>], inputs: &[&Operand]) -> Result<()> {
                match (self, out, inputs) {
                    ($work, $out, $inputs) => $run,
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("{} results and {} inputs for {self:?}", out.len(), inputs.len()),
                }
            }
        })*
    };
}

drivers! {
    Convert: |_, &[Some(out)], &[input]| { copy_operand(out, input); Ok(()) };
    Fill: |work, &[Some(out)], []| { fill_operand(out, work.0); Ok(()) };
    Sequence: |work, &[Some(out)], []| { sequence::fill(out, *work); Ok(()) };
    Triangle: |work, &[Some(out)], &[input]| { triangle::part(*work, out, input); Ok(()) };
    TriangleIndices: |work, &[Some(out)], []| { triangle_indices(*work, out); Ok(()) };
    OneHot: |_, &[Some(out)], &[columns]| { one_hot(out, columns); Ok(()) };
    Map<'a>: |work, &[Some(out)], inputs| map(work, out, inputs);
    Fused<'a>: |work, &[Some(out)], inputs| fused::run(work.0, out, inputs);
    Reduce<'a>: |work, &[a, b], &[input]| reduce(work, [a, b], input);
    Lines<'a>: |work, &[a, b], &[input]| lines(work, [a, b], input);
    Index: |work, &[Some(out)], &[a, b]| index(work, out, [a, b]);
    Mask: |work, &[Some(out)], inputs| mask(*work, out, inputs);
    Search: |work, &[Some(out)], &[sequences, x]| search::run(*work, out, sequences, x);
    Histogram: |work, &[Some(out)], &[input]| histogram::run(*work, out, input);
    Fourier<'a>: |work, &[Some(out)], &[input]| fourier::launch(work, out, input);
    Matmul<'a>: |work, &[Some(out)], &[a, b, ref addend @ ..]| matmul::launch(work, out, [a, b], addend.first().copied());
    Quantized: |work, &[Some(out)], inputs| quantized::run(*work, out, inputs);
    Compressed: |work, &[Some(out)], &[starts, columns, m, ref more @ ..]| {
        compressed::run(*work, out, [starts, columns, m], more.first().copied())
    };
    Compress: |_, &[Some(crow), Some(col), Some(starts), Some(order)], &[rows, columns]| {
        compressed::compress([crow, col, starts, order], rows, columns)
    };
    RowSoftmax: |work, &[Some(out)], &[starts, x, ref y @ ..]| compressed::softmax(*work, out, starts, x, y.first().copied());
    RowSolve: |work, &[Some(out)], &[starts, columns, entries, b]| compressed::solve(*work, out, [starts, columns, entries], b);
    System: |work, &[Some(out)], &[starts, columns, entries, b]| lapack::system(*work, out, [starts, columns, entries], b);
    SparseProduct: |work, &[Some(out), ref entries @ ..], inputs| {
        compressed::sparse_product(*work, out, entries.first().copied().flatten(), inputs)
    };
    Decompose: |work, out, []| lapack::launch(work, out);
    SoftmaxGradient: |work, &[Some(out)], &[g, y]| layers::softmax_gradient(*work, out, g, y);
    LayerNorm: |work, &[Some(out)], &[x, weight, bias]| layers::norm(work.0, out, [x, weight, bias]);
    LayerNormGradient: |work, &[of_rows, of_weight, of_bias], &[g, x, weight]| {
        layers::norm_gradient(work.0, [of_rows, of_weight, of_bias], [g, x, weight])
    };
    Attention: |work, &[r, logs], &[q, k, v, ref mask @ ..]| attention::forward(*work, [r, logs], [q, k, v], mask.first().copied());
    AttentionGradient: |work, &[of_q, of_k, of_v, of_mask], &[g, logs, delta, q, k, v, ref mask @ ..]| {
        attention::gradient(*work, [of_q, of_k, of_v, of_mask], [g, logs, delta, q, k, v], mask.first().copied())
    };
    Loss: |work, &[Some(out)], inputs| layers::loss(*work, out, inputs);
    Convolution: |work, &[Some(out)], &[a, b, ref bias @ ..]| images::convolution(work, out, [a, b], bias.first().copied());
    Pool: |work, &[Some(out), ref indices @ ..], &[x]| images::pool(work, out, indices.first().copied().flatten(), x);
    Unpool: |work, &[Some(out)], &[t, indices]| images::unpool(work, out, t, indices);
    Columns: |work, &[Some(out)], &[t]| images::columns(work, out, t);
    Resample: |work, &[Some(out)], &[x, places, weights]| resample::run(*work, out, [x, places, weights]);
    Sampling: |work, &[Some(out)], &[t, grid]| sampling::run(work, out, [t, grid]);
    SamplingGradient: |work, &[of_t, of_grid], &[g, t, grid]| sampling::gradient(work, [of_t, of_grid], [g, t, grid]);
}

/// Returns the number of bytes of a row-major mask that are not 0.
pub fn count(mask: &Operand) -> usize {
    compress::count(bytes(mask))
}

/// Returns true if no element is 0. This links the kernels of one fold only.
pub fn all(x: &Operand) -> bool {
    let (mut found, shape) = (Bool(0), Dims::filled(1, x.layout().ndim()));
    let layout = Layout { strides: Dims::filled(0, shape.len()), shape, offset: 0 };
    // SAFETY: `found` outlives the work.
    let out = unsafe { Operand::of_memory((&raw mut found).cast(), Dtype::Bool, layout) };
    let folded: SmallVec<[bool; INLINE_DIMS]> = smallvec![true; x.layout().ndim()];
    let work = Reduce { fold: Fold::Logic { all: true }, compute: x.dtype, written: [Dtype::Bool; 2], folded: &folded };
    logic(true, x.dtype, &mut |kernel| reduce_with(kernel, &work, [Some(&out), None], x));
    found.0 != 0
}

/// Returns the first element of an operand.
pub fn first(operand: &Operand) -> Scalar {
    // SAFETY: the elements of an operand are inside its storage.
    unsafe { read_element(operand.first(), operand.dtype) }
}

fn triangle_indices(TriangleIndices(triangle): TriangleIndices, out: &Operand) {
    let (rows, n) = (out.first().cast::<i64>(), out.layout().numel() as usize / 2);
    if n > 0 {
        // SAFETY: the result is row-major, of 2 x n elements.
        unsafe { triangle::indices(triangle, rows, rows.add(n)) };
    }
}

fn copy_operand(out: &Operand, input: &Operand) {
    let (to, from) = ((out.first(), out.dtype), (input.first().cast_const(), input.dtype));
    // SAFETY: the layouts of operands are inside their storages. The two operands share no memory, or are the same.
    unsafe {
        if out.layout().is_contiguous() && input.layout().is_contiguous() && out.layout().numel() > 0 {
            copy::copy_flat(out.layout().numel() as usize, to, from)
        } else {
            copy::copy(Plan::new([out.layout(), input.layout()], [out.dtype.size(), input.dtype.size()]), to, from)
        }
    }
}

fn one_hot(out: &Operand, columns: &Operand) {
    let n = columns.layout().numel() as usize;
    if n > 0 && out.layout().numel() > 0 {
        let width = out.layout().numel() as usize / n;
        // SAFETY: the operands are row-major, with a row of `width` elements for each column.
        unsafe {
            let columns = std::slice::from_raw_parts(columns.first().cast(), n);
            sequence::mark(out.first(), out.dtype.size(), width, columns, bits(out.dtype, Scalar::Int(1)));
        }
    }
}

fn map(work: &Map<'_>, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    match (work.op, inputs) {
        (Elementwise::Unary(op), &[a]) => run_kernel(op, work, [out, a]),
        (Elementwise::Binary(op), &[a, b]) => run_kernel(op, work, [out, a, b]),
        (Elementwise::Ternary(op), &[a, b, c]) => run_kernel(op, work, [out, a, b, c]),
        _ => unreachable!("{} inputs for {work:?}", inputs.len()),
    }
}

fn run_kernel<const N: usize>(op: &Op<N>, work: &Map<'_>, all: [&Operand; N]) -> Result<()> {
    let Choice { kernel, signature } = op.choose(work.common, Some(all[1].dtype))?;
    let dtype: [Dtype; N] = each(|k| all[k].dtype);
    let plan = Plan::new(each(|k| all[k].layout()), each(|k| dtype[k].size()));
    // SAFETY: operands are inside their storages. An input shares no memory with the result, or has equal addresses at equal indices.
    let job = unsafe { Job::new(plan, each(|k| all[k].first()), dtype, signature.types, signature.grain) };
    kernel(&Work::Planned(Box::new(job)), &Numbers::new(work.numbers, work.common));
    Ok(())
}

fn reduce(work: &Reduce<'_>, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    with_kernel(work.fold, work.compute, &mut |kernel| reduce_with(kernel, work, out, input))
}

fn reduce_with(fold: &dyn FoldKernel, work: &Reduce<'_>, out: [Option<&Operand>; 2], input: &Operand) {
    let strides = out.map(|out| out.map(|out| (out.layout().strides.as_slice(), out.dtype.size())));
    let of_input = (input.layout().shape.as_slice(), input.layout().strides.as_slice());
    let mut loops = split(of_input, input.dtype.size(), work.folded, fold.indexed(), strides);
    let into = |k: usize| out[k].map(|out| (out.first(), out.dtype, work.written[k]));
    let compute = fold.reads(work.compute);
    let reduction = Reduction { fold, data: input.first(), dtype: input.dtype, compute, loops: &mut loops, out: [into(0), into(1)] };
    // SAFETY: operands are inside their storages. Results overlap neither the input nor each other.
    unsafe { reduction.run() }
}

fn lines(work: &Lines<'_>, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let (dim, compute) = (input.layout().ndim() - 1, work.compute);
    let n = input.layout().shape[dim] as usize;
    let written = work.op.written(compute);
    let mut ran = Ok(());
    with_kernels(work.op, compute, n, out[1].is_some(), &mut |kernels| {
        let none = Layout { strides: Dims::filled(0, input.layout().ndim()), ..input.layout().clone() };
        let ends = [0, 1].map(|k| {
            let compute = written[k].filter(|_| kernels.writes_all || out[k].is_some())?;
            let absent = End { layout: &none, data: null_mut(), dtype: compute, compute };
            Some(out[k].map_or(absent, |out| End { layout: out.layout(), data: out.first(), dtype: out.dtype, compute }))
        });
        let input = End { layout: input.layout(), data: input.first(), dtype: input.dtype, compute };
        // SAFETY: operands are inside their storages. Results do not overlap each other; a result that overlaps the input has equal
        // addresses at equal indices.
        ran = unsafe { walk::Lines::new(input, ends, dim, kernels).run() };
    })?;
    ran
}

fn index(work: &Index, out: &Operand, [a, b]: [&Operand; 2]) -> Result<()> {
    // The order of the kernel: elements in a row, positions, and the tensor that the positions index.
    let all = if work.movement == Move::Gather { [out, a, b] } else { [a, b, out] };
    let plan = Plan::new(all.map(|operand| operand.layout()), all.map(|operand| operand.dtype.size()));
    // SAFETY: every position is the offset of an element, and the result shares no memory with the operands that are read.
    unsafe { index::run(work, out.dtype, &plan, all.map(Operand::first)) }
}

/// Returns the bytes of a mask.
fn bytes(mask: &Operand) -> &[Bool] {
    // SAFETY: the mask is row-major bytes, and any byte is a valid `Bool`.
    unsafe { mask.elements() }
}

fn mask(work: Mask, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    // SAFETY: the operands are row-major; there is an element for each place of the mask, or for each place that is true.
    unsafe {
        match (work, inputs) {
            _ if out.layout().numel() == 0 => {}
            (Mask::Compress, [from, mask]) => {
                compress::compress(from.dtype.size(), out.first(), from.first(), bytes(mask), out.layout().numel() as usize)
            }
            (Mask::Expand, [from, mask]) => compress::expand(out.dtype.size(), out.first(), from.first(), bytes(mask)),
            (Mask::Positions, [mask]) => compress::positions(out.first().cast(), bytes(mask), &mask.layout().shape),
            _ => unreachable!("{} inputs for {work:?}", inputs.len()),
        }
    }
    Ok(())
}
