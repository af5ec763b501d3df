//! Reductions on GPUs: fold the elements of each result position.

use super::copy::convert;
use super::gpu::{Gpu, THREADS};
use super::line_args::{KEYS, LINES};
use super::lines::PACKETS;
use super::loops::{Loops, div_up, loops};
use super::map::type_name;
use super::source::{Entry, Source};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Fold, Reduce, Root, Term};
use crate::layout::{INLINE_DIMS, Layout};
use crate::operand::Operand;
use crate::plan::{Loop, Plan};
use smallvec::SmallVec;

/// The kernels of reductions.
pub static REDUCE: Source = Source { name: "reduce", text: &[PACKETS, KEYS, LINES, include_str!("kernels/reduce.cu")], entries };

/// The wanted minimum number of blocks: as many as the largest GPU runs at the same time.
const BLOCKS: i64 = 1024;
/// The minimum number of elements that a thread folds, if the elements of a result are cut into segments.
const LEAST: i64 = 32;
/// The wanted number of elements of a contiguous run that a thread folds.
const RUN: i64 = 16;
/// The number of elements of a result from which on several threads fold each result, if neighbouring threads fold neighbouring results.
const SHARED: i64 = 64;
/// The maximum size of a fold's state in bytes.
const STATE: i64 = 32;

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct ReduceArgs {
    kept: Loops<3>,
    folded: Loops<1>,
    x: u64,
    out: [u64; 2],
    parts: u64,
    segments: i64,
    segment: i64,
    number: f64,
    dtype: [i32; 3],
    root: i32,
    flag: i32,
    magnitude: i32,
    width: i32,
    across: i32,
    packed: i32,
    unused: i32,
}

/// A fold in the terms of the kernels.
struct Kernel {
    name: &'static str,
    /// The term of a sum of floats.
    term: Option<&'static str>,
    number: f64,
    root: i32,
    flag: bool,
    magnitude: bool,
    /// True if the fold returns positions.
    numbered: bool,
}

impl Kernel {
    /// The kernel of a fold for elements that are computed in `compute`.
    fn of(fold: Fold, compute: Dtype) -> Kernel {
        let plain = |name| Kernel { name, term: None, number: 0.0, root: 0, flag: false, magnitude: false, numbered: false };
        match fold {
            Fold::Sum { .. } if !compute.is_float() => plain("Sum"),
            // Squares of float64 may overflow or underflow.
            Fold::Sum { term: Term::Square, root: Root::Sqrt, .. } if compute == Dtype::Float64 => {
                Kernel { number: 2.0, ..plain("Powers") }
            }
            Fold::Sum { term, root, in_float64 } => {
                let root = match root {
                    Root::Itself => 0,
                    Root::Mean => 1,
                    Root::Sqrt => 2,
                };
                Kernel { term: Some(name_of(term)), root, flag: in_float64, ..plain("Terms") }
            }
            Fold::NanMean => plain("NanMean"),
            Fold::Prod => plain("Product"),
            Fold::Powers { p, .. } => Kernel { number: p, ..plain("Powers") },
            Fold::Extreme { max, magnitude } => Kernel { flag: max, magnitude, ..plain("Extreme") },
            Fold::MinMax => plain("MinMax"),
            Fold::ExtremeAt { max } => Kernel { flag: max, numbered: true, ..plain("ExtremeAt") },
            Fold::Moment { correction, root } => Kernel { number: correction, root: root.into(), ..plain("Moment") },
            Fold::Logic { all } => Kernel { flag: all, ..plain("Logic") },
        }
    }

    /// The CUDA type of the fold for elements that are computed in `compute`.
    fn call(&self, compute: Dtype) -> String {
        let (name, t) = (self.name, type_name(compute));
        self.term.map_or_else(|| format!("{name}<{t}>"), |term| format!("{name}<{t}, {term}>"))
    }
}

fn name_of(term: Term) -> &'static str {
    match term {
        Term::Plain => "Plain",
        Term::Abs => "Abs",
        Term::Square => "Square",
        Term::NonZero => "NonZero",
        Term::NotNan => "NotNan",
    }
}

/// The CUDA types of all folds of a compute type.
fn calls(compute: Dtype) -> Vec<String> {
    let t = type_name(compute);
    let mut calls: Vec<String> = ["Product", "Extreme", "MinMax", "ExtremeAt", "Logic"].map(|name| format!("{name}<{t}>")).into();
    if compute.is_float() {
        calls.extend(["NanMean", "Moment", "Powers"].map(|name| format!("{name}<{t}>")));
        calls.extend(["Plain", "Abs", "Square", "NonZero", "NotNan"].map(|term| format!("Terms<{t}, {term}>")));
    } else {
        calls.push(format!("Sum<{t}>"));
    }
    calls
}

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for &dtype in Dtype::ALL {
        let name = type_name(dtype);
        for call in calls(dtype.compute()) {
            entries.push(Entry::new(format!("reduce<{call}, {name}>"), "ReduceArgs", name));
            if dtype == dtype.compute() {
                entries.push(Entry::new(format!("reduce_parts<{call}>"), "ReduceArgs", name));
            }
        }
    }
    entries
}

/// Folds the elements of `input` into results, which have size 1 in the folded dimensions.
pub fn reduce(gpu: &Gpu, work: &Reduce<'_>, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let compute = work.compute.compute();
    if input.dtype.compute() == compute || input.layout().numel() == 0 {
        return fold(gpu, work, out, input);
    }
    let made = Operand::new_on(input.device, compute, &input.layout().shape)?;
    convert(gpu, &made, input)?;
    fold(gpu, work, out, &made)
}

fn fold(gpu: &Gpu, work: &Reduce<'_>, out: [Option<&Operand>; 2], input: &Operand) -> Result<()> {
    let (compute, size) = (work.compute.compute(), input.dtype.size() as i64);
    let kernel = Kernel::of(work.fold, compute);
    let (kept, folded) = split(input.layout(), size, work.folded, kernel.numbered, out)?;
    if kept.total == 0 {
        return Ok(());
    }
    let cut = Cut::new(&kept, &folded, size);
    let parts = if cut.segments > 1 { Some(gpu.scratch((kept.total * cut.segments * STATE) as usize)?) } else { None };
    let args = ReduceArgs {
        kept,
        folded,
        x: input.first() as u64,
        out: out.map(|out| out.map_or(0, |out| out.first() as u64)),
        parts: parts.as_ref().map_or(0, |parts| parts.ptr()),
        segments: cut.segments,
        segment: cut.segment,
        number: kernel.number,
        dtype: [out[0], out[1], Some(input)].map(|operand| operand.map_or(0, |operand| operand.dtype.code())),
        root: kernel.root,
        flag: kernel.flag.into(),
        magnitude: kernel.magnitude.into(),
        width: cut.width as i32,
        across: cut.across.into(),
        packed: cut.packed.into(),
        unused: 0,
    };
    let (fold, groups) = (kernel.call(compute), |width: i64| div_up(kept.total, width));
    // SAFETY: the operands are inside their storages, and there is a state for each segment of each result.
    unsafe {
        let jobs = groups(cut.width) * cut.segments;
        gpu.launch(&REDUCE, &format!("reduce<{fold}, {}>", type_name(input.dtype)), "ReduceArgs", gpu.blocks_of(jobs), &args)?;
        if parts.is_some() {
            let width = i64::from(THREADS) / power_of_two(cut.segments);
            let args = ReduceArgs { width: width as i32, ..args };
            gpu.launch(&REDUCE, &format!("reduce_parts<{fold}>"), "ReduceArgs", gpu.blocks_of(groups(width)), &args)?;
        }
    }
    Ok(())
}

/// The smallest power of two that is at least `n`, limited to the threads of a block.
fn power_of_two(n: i64) -> i64 {
    (n.clamp(1, THREADS.into()) as u32).next_power_of_two().into()
}

/// The loops of the dimensions that stay, and of the folded ones. They are sorted fastest first; folded ones are row-major if elements are
/// `numbered`.
fn split(input: &Layout, size: i64, folds: &[bool], numbered: bool, out: [Option<&Operand>; 2]) -> Result<(Loops<3>, Loops<1>)> {
    let (mut kept, mut folded, mut number): (SmallVec<[Loop<3>; INLINE_DIMS]>, SmallVec<[Loop<2>; INLINE_DIMS]>, _) =
        (SmallVec::new(), SmallVec::new(), 1);
    let [mut results, mut elements] = [1i64; 2];
    for d in (0..input.ndim()).rev() {
        let (n, step) = (input.shape[d] as usize, (input.strides[d] * size) as isize);
        let counted = if folds[d] { &mut elements } else { &mut results };
        *counted = counted.saturating_mul(input.shape[d]);
        if n == 1 {
            continue;
        }
        if folds[d] {
            folded.push(Loop { n, step: [if numbered { number } else { step }, step] });
            number = number.wrapping_mul(n as isize);
        } else {
            let of = |out: Option<&Operand>| out.map_or(0, |out| out.layout().strides[d] as isize * out.dtype.size() as isize);
            kept.push(Loop { n, step: [step, of(out[0]), of(out[1])] });
        }
    }
    let kept = if results == 0 { Plan::flat(0, [0; 3]) } else { Plan::of_loops(&mut kept, [0; 3]) };
    let folded = if elements == 0 { Plan::flat(0, [0; 2]) } else { Plan::of_loops(&mut folded, [size as usize; 2]) };
    let folded = loops(&folded)?;
    Ok((loops(&kept)?, Loops { total: folded.total, n: folded.n, step: [folded.step[1]], count: folded.count, narrow: folded.narrow }))
}

/// The distribution of a reduction over threads. It depends only on sizes.
struct Cut {
    /// The number of results of a block.
    width: i64,
    /// True if neighbouring threads compute neighbouring results.
    across: bool,
    /// True if the elements of a result are contiguous, and neighbouring threads read neighbouring elements.
    packed: bool,
    segments: i64,
    segment: i64,
}

impl Cut {
    fn new(kept: &Loops<3>, folded: &Loops<1>, size: i64) -> Cut {
        let (threads, n) = (i64::from(THREADS), folded.total);
        // Steps of 0 belong to broadcast dimensions.
        let speed = |step: i64| if step == 0 { i64::MAX } else { step.abs() };
        let across = n > 1 && kept.total > 1 && speed(kept.step[0][0]) < speed(folded.step[0][0]);
        let wanted = match across {
            false => threads / power_of_two(div_up(n, RUN)),
            true if n < SHARED => threads,
            // At least a whole sector of memory.
            true => (128 / size).max(32),
        };
        let width = wanted.min(power_of_two(kept.total));
        let (lanes, groups) = (threads / width, div_up(kept.total, width));
        let segments = div_up(BLOCKS, groups).min(n / (lanes * LEAST)).max(1);
        // Segments are multiples of packets for every element size.
        let segment = div_up(div_up(n, segments).max(1), lanes * RUN) * lanes * RUN;
        let packed = !across && folded.count == 1 && (folded.step[0][0] == size || n <= 1);
        Cut { width, across, packed, segments: div_up(n, segment).max(1), segment }
    }
}
