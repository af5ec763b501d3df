//! Elementwise operations on GPUs.

use super::formula::{definition, numbers_of};
use super::gpu::Gpu;
use super::loops::{Loops, Tiles, loops, positions, tiles};
use super::source::{self, Entry, REAL, Source};
use crate::dtype::Dtype;
use crate::element::{bits, rounded};
use crate::error::Result;
use crate::launch::{Choice, Elementwise, Map, Op};
use crate::operand::Operand;
use crate::plan::{Plan, each};
use crate::scalar::Scalar;

/// The maximum number of number arguments.
const MOST_NUMBERS: usize = 4;

/// The kernels of elementwise operations. Their entries are generated from the operations; see [`entries`].
pub static MAP: Source = Source { name: source::MAP, text: &TEXT, entries: Vec::new };

/// The text of [`MAP`].
pub(super) static TEXT: [&str; 2] = [REAL, include_str!("kernels/map.cu")];

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Argument {
    pub real: f64,
    pub whole: i64,
    pub is_whole: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MapArgs<const N: usize> {
    data: [u64; N],
    numbers: [Argument; MOST_NUMBERS],
    loops: Loops<N>,
    tiles: Tiles,
    dtype: [i32; N],
    common: i32,
}

/// The types of a kernel's operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Signature<const N: usize> {
    /// The compute types of the result, the first input and the others.
    types: [Dtype; 3],
    /// The dtype of the inputs and the dtype of the result; `None` if the kernel accepts any dtypes. A mask is Bool.
    known: Option<[Dtype; 2]>,
}

/// The name of a type in the prelude.
pub fn type_name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Uint8 => "u8",
        Dtype::Int8 => "i8",
        Dtype::Int16 => "i16",
        Dtype::Int32 => "i32",
        Dtype::Int64 => "i64",
        Dtype::Float16 => "f16",
        Dtype::Bfloat16 => "bf16",
        Dtype::Float32 => "f32",
        Dtype::Float64 => "f64",
        Dtype::Bool => "Bool",
    }
}

/// The integer with the size of a dtype.
pub(super) fn integer_of_size(dtype: Dtype) -> Dtype {
    match dtype.size() {
        1 => Dtype::Uint8,
        2 => Dtype::Int16,
        4 => Dtype::Int32,
        _ => Dtype::Int64,
    }
}

/// Runs an elementwise operation.
pub fn map(gpu: &Gpu, work: &Map<'_>, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    match (work.op, inputs) {
        (Elementwise::Unary(op), &[a]) => run(gpu, op, work, [out, a]),
        (Elementwise::Binary(op), &[a, b]) => run(gpu, op, work, [out, a, b]),
        (Elementwise::Ternary(op), &[a, b, c]) => run(gpu, op, work, [out, a, b, c]),
        _ => unreachable!("{} inputs for {work:?}", inputs.len()),
    }
}

/// The compute types of the result, the first input and the others, for a common dtype. With `moved`, elements chosen by a mask are copied
/// as bits, because all have one dtype.
pub(super) fn types<const N: usize>(op: &Op<N>, common: Dtype, moved: bool) -> Result<[Dtype; 3]> {
    let Choice { signature, .. } = op.choose(common, None)?;
    let [result, first, last] = [signature.types[0], signature.types[1], signature.types[N - 1]];
    if op.masked {
        let taken = if moved { integer_of_size(common) } else { common.compute() };
        return Ok([taken, Dtype::Bool, taken]);
    }
    // The host's kernels may process 16-bit floats as bits. Here these are always computed in float32.
    Ok([result, first, last].map(Dtype::compute))
}

fn run<const N: usize>(gpu: &Gpu, op: &'static Op<N>, work: &Map<'_>, all: [&Operand; N]) -> Result<()> {
    let moved = op.masked && (0..N).all(|k| k == 1 || all[k].dtype == work.common);
    let types = types(op, work.common, moved)?;
    // Moved elements are read as integers of the same size, a mask as Bool.
    let dtype: [Dtype; N] = each(|k| match op.masked {
        true if k == 1 => Dtype::Bool,
        true if moved => integer_of_size(all[k].dtype),
        _ => all[k].dtype,
    });
    let plan = Plan::new(each(|k| all[k].layout()), each(|k| all[k].dtype.size()));
    if plan.numel() == 0 {
        return Ok(());
    }
    let data: [u64; N] = each(|k| all[k].first() as u64);
    let alike = (1..N).all(|k| dtype[k] == dtype[N - 1] || k == 1 && moved) && dtype[N - 1].compute() == types[2];
    let fits = dtype[0].compute() == types[0] && (dtype[0] == dtype[N - 1] || dtype[0] == types[0]);
    let known = alike && fits && (types[1] == types[2] || moved);
    let signature = Signature::<N> { types, known: known.then_some([dtype[N - 1], dtype[0]]) };
    let mut args = MapArgs {
        data,
        numbers: numbers(op, work, moved),
        loops: loops(&plan)?,
        tiles: Tiles::default(),
        dtype: each(|k| dtype[k].code()),
        common: if moved { dtype[N - 1].code() } else { work.common.code() },
    };
    let mut blocks = gpu.blocks_for(args.loops.total);
    if known {
        let Loops { n, step, count, .. } = &mut args.loops;
        let operands = (0..N).map(|k| (data[k], dtype[k].size()));
        let (found, threads) = tiles(&mut n[..*count as usize], step.as_flattened_mut(), operands, positions(dtype[N - 1].size()));
        (args.tiles, blocks) = (found, gpu.blocks_for_all(threads));
    }
    let _bound = gpu.bind()?;
    let function = gpu.map_function(&MAP, (std::ptr::from_ref(op).addr(), signature.key()), || entries_of(op, signature))?;
    // SAFETY: the operands are inside their storages, which the caller holds. Inputs overlap the result only at the same positions.
    unsafe { gpu.launch_function(function, blocks, &args) }
}

/// The numbers of a call in the form that the operation needs: rounded to the common dtype, exact, or as the bits of an element.
pub(super) fn numbers<const N: usize>(op: &Op<N>, work: &Map<'_>, moved: bool) -> [Argument; MOST_NUMBERS] {
    let mut numbers = [Argument { real: 0.0, whole: 0, is_whole: 1 }; MOST_NUMBERS];
    let kinds = numbers_of(&op.formula);
    for (k, (number, &value)) in numbers.iter_mut().zip(work.numbers).enumerate() {
        let value = match kinds.get(k) {
            _ if moved => Scalar::Int(bits(work.common, value).cast_signed()),
            Some(&(_, "number")) if work.common != work.common.compute() => Scalar::Float(rounded(work.common, value).to_f64()),
            _ => value,
        };
        *number = match value {
            Scalar::Int(x) => Argument { real: x as f64, whole: x, is_whole: 1 },
            Scalar::Float(x) => Argument { real: x, whole: 0, is_whole: 0 },
        };
    }
    numbers
}

impl<const N: usize> Signature<N> {
    /// A unique number for each signature.
    fn key(self) -> u64 {
        let known = self.known.map_or([0; 2], |known| known.map(|dtype| dtype as u64));
        self.types.iter().map(|&dtype| dtype as u64).chain(known).fold(N as u64, |key, part| key << 8 | part)
    }

    fn entry(self, op: &Op<N>) -> Entry {
        let name = op.formula.name;
        let [result, first, last] = self.types.map(type_name);
        let call = match self.known.map(|known| known.map(type_name)) {
            Some([inputs, of_result]) => {
                let of_first = if self.types[1] == self.types[2] { inputs } else { first };
                format!("map_known<op_{name}, {last}, {of_first}, {inputs}, {of_result}, {N}>")
            }
            None => format!("map_any<op_{name}, {first}, {last}, {result}, {N}>"),
        };
        let args = ["", "", "MapArgs2", "MapArgs3", "MapArgs4"][N];
        Entry { call, args, group: name.into(), own: definition(&op.formula) }
    }
}

/// The wanted kernel, followed by all other kernels that the operation may need.
fn entries_of<const N: usize>(op: &Op<N>, wanted: Signature<N>) -> Vec<Entry> {
    let mut entries = vec![wanted.entry(op)];
    entries.extend(all_entries(op).into_iter().filter(|entry| entry.call != entries[0].call).collect::<Vec<_>>());
    entries
}

/// Every kernel of an operation.
pub fn all_entries<const N: usize>(op: &Op<N>) -> Vec<Entry> {
    let mut signatures: Vec<Signature<N>> = Vec::new();
    for (&common, moved) in Dtype::ALL.iter().flat_map(|common| [(common, false), (common, true)]) {
        let Ok(types) = types(op, common, moved) else { continue };
        let stored = if op.masked && moved { integer_of_size(common) } else { common };
        let result = if types[0] == types[2] { stored } else { types[0] };
        let known = stored.compute() == types[2] && (types[1] == types[2] || op.masked && moved);
        let known = known.then_some(Some([stored, result]));
        for known in [None].into_iter().filter(|_| !(op.masked && moved)).chain(known) {
            let signature = Signature { types, known };
            if !signatures.contains(&signature) {
                signatures.push(signature);
            }
        }
    }
    signatures.into_iter().map(|signature| signature.entry(op)).collect()
}

/// Every kernel of an operation of any number of operands.
pub fn entries(op: Elementwise) -> Vec<Entry> {
    match op {
        Elementwise::Unary(op) => all_entries(op),
        Elementwise::Binary(op) => all_entries(op),
        Elementwise::Ternary(op) => all_entries(op),
    }
}
