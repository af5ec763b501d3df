//! Fused expressions: one kernel for each program, generated from the formulas of its operations.

use super::formula::definition;
use super::gpu::Gpu;
use super::loops::{MOST_LOOPS, Tiles, positions, tiles};
use super::map::{self, TEXT, type_name};
use super::source::{Entry, FUSED, Source};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::fused::{Action, MOST_INPUTS, Step, Value};
use crate::launch::{Elementwise, Map, Op, Program};
use crate::layout::Layout;
use crate::operand::Operand;
use crate::plan::Many;
use smallvec::SmallVec;
use std::fmt::Write;

/// The kernels of fused expressions. Their entries are generated from programs.
pub static PROGRAMS: Source = Source { name: FUSED, text: &TEXT, entries: Vec::new };

/// The maximum number of words of a kernel's arguments: addresses, lengths of loops, steps, two numbers, and tiles.
const WORDS: usize = (MOST_INPUTS + 1) * (MOST_LOOPS + 1) + MOST_LOOPS + 2 + size_of::<Tiles>() / size_of::<i64>();

/// Runs a program.
pub fn fused(gpu: &Gpu, program: &Program, out: &Operand, inputs: &[&Operand]) -> Result<()> {
    let all: SmallVec<[&Operand; MOST_INPUTS + 1]> = [out].into_iter().chain(inputs.iter().copied()).collect();
    let layouts: SmallVec<[&Layout; MOST_INPUTS + 1]> = all.iter().map(|operand| operand.layout()).collect();
    let item: SmallVec<[usize; MOST_INPUTS + 1]> = all.iter().map(|operand| operand.dtype.size()).collect();
    let plan = Many::new(&layouts, &item);
    let total = plan.numel() as i64;
    if total == 0 {
        return Ok(());
    }
    if plan.loops() > MOST_LOOPS {
        bail!(Shape, "the strides of the operands leave {} dimensions apart; a GPU walks {MOST_LOOPS}", plan.loops())
    }
    // The kernel declares its arguments in this order.
    let mut args = [0i64; WORDS];
    let (addresses, rest) = args.split_at_mut(all.len());
    let (numbers, steps) = rest.split_at_mut(1 + MOST_LOOPS);
    numbers[0] = total;
    (0..MOST_LOOPS).for_each(|l| numbers[1 + l] = plan.n(l) as i64);
    let mut reach = total;
    for (k, operand) in all.iter().enumerate() {
        addresses[k] = operand.first() as i64;
        (0..plan.loops()).for_each(|l| steps[k * MOST_LOOPS + l] = plan.step(l, k) as i64);
        let ends = (0..plan.loops()).map(|l| (plan.n(l) as i64 - 1).saturating_mul(plan.step(l, k).abs() as i64));
        reach = reach.max(ends.fold(0, i64::saturating_add));
    }
    let narrow = i64::from(reach <= i32::MAX.into());
    let (steps, last) = steps.split_at_mut(all.len() * MOST_LOOPS);
    let operands = all.iter().zip(&*addresses).map(|(operand, &address)| (address.cast_unsigned(), operand.dtype.size()));
    let each = positions_of(program, out.dtype);
    let (found, threads) = tiles(&mut numbers[1..=plan.loops()], steps, operands, each);
    last[0] = plan.loops() as i64 | narrow << 32;
    last[1..=found.len()].copy_from_slice(&found);
    let _bound = gpu.bind()?;
    let key = (std::ptr::from_ref(&PROGRAMS).addr(), program.id << 8 | out.dtype as u64);
    let function = gpu.map_function(&PROGRAMS, key, || vec![entry(program, out.dtype)])?;
    // SAFETY: the operands are inside their storages, which the caller holds. Inputs overlap the result only at the same positions.
    unsafe { gpu.launch_function(function, gpu.blocks_for_all(threads), &args) }
}

/// The number of positions of a thread: as many as the largest operand allows.
fn positions_of(program: &Program, result: Dtype) -> i64 {
    program.inputs.iter().flatten().fold(positions(result.size()), |least, dtype| least.min(positions(dtype.size())))
}

/// The kernel of a program with a result of this dtype.
pub fn entry(program: &Program, result: Dtype) -> Entry {
    let (mut own, mut body) = (include_str!("kernels/fused.cu").to_owned(), String::new());
    let mut defined: Vec<&str> = Vec::new();
    let inputs = program.inputs.iter().enumerate().filter_map(|(k, dtype)| Some((k, (*dtype)?)));
    let (mut loaded, mut taken) = (String::new(), String::new());
    for (at, (k, dtype)) in inputs.clone().enumerate() {
        let name = type_name(dtype);
        let _ = writeln!(loaded, "const Pack<{name}, V> p{k} = here.template load<{name}>({});", at + 1);
        let _ = writeln!(taken, "const {name} x{k} = p{k}.x[j];");
    }
    for (k, constant) in program.constants.iter().enumerate() {
        let (dtype, bits) = (constant.dtype, constant.bits);
        let word = ["", "u8", "i16", "", "i32", "", "", "", "i64"][dtype.size()];
        let _ = writeln!(body, "const {} c{k} = same_bits<{0}>({word}::from_i64((int64){bits}ull));", type_name(dtype));
    }
    for (k, step) in program.steps.iter().enumerate() {
        let value = match &step.action {
            Action::Convert => format!("convert<{}>({})", type_name(step.dtype), name_of(step.reads[0])),
            Action::Map { op: Elementwise::Unary(op), .. } => define_and_call(&mut own, &mut defined, program, step, op),
            Action::Map { op: Elementwise::Binary(op), .. } => define_and_call(&mut own, &mut defined, program, step, op),
            Action::Map { op: Elementwise::Ternary(op), .. } => define_and_call(&mut own, &mut defined, program, step, op),
        };
        let _ = writeln!(body, "const {} v{k} = {value};", type_name(step.dtype));
    }
    let (last, n) = (program.steps.len() - 1, inputs.count() + 1);
    let (stored, each) = (type_name(result), positions_of(program, result));
    let run = format!(
        "template <int V, int N> static DEVICE void run(const Positions<V, N>& here) {{\n{loaded}Pack<{stored}, V> r;\n#pragma unroll\n\
         for (int j = 0; j < V; j++) {{\n{taken}{body}r.x[j] = convert<{stored}>(v{last});\n}}\nhere.store(r);\n}}"
    );
    // The name contains a hash of the text, so that different kernels have different names.
    let name = format!("Program{}", super::compile::name_of(format!("{own}{run}").as_bytes()));
    let _ = write!(own, "struct {name} {{\n{run}\n}};\n");
    let call = format!("fused<{name}, {each}, {n}>");
    let _ = writeln!(own, "typedef FusedArgs<{n}> ProgramArgs;");
    Entry { call, args: "ProgramArgs", group: name, own }
}

fn name_of(value: Value) -> String {
    match value {
        Value::Input(k) => format!("x{k}"),
        Value::Constant(k) => format!("c{k}"),
        Value::Step(k) => format!("v{k}"),
    }
}

/// The text that computes a step. Adds the definition of its operation if it is missing.
fn define_and_call<const N: usize>(
    own: &mut String,
    defined: &mut Vec<&str>,
    program: &Program,
    step: &Step,
    op: &'static Op<N>,
) -> String {
    let Action::Map { op: any, common, numbers } = &step.action else { return String::new() };
    let name = op.formula.name;
    if !defined.contains(&name) {
        defined.push(name);
        own.push_str(&definition(&op.formula));
    }
    // `where` moves elements unchanged if all its operands have one dtype.
    let alike = (0..N).all(|k| k == 1 || if k == 0 { step.dtype } else { program.dtype_of(step.reads[k - 1]) } == *common);
    let moved = op.masked && alike;
    let [result, first, last] = match map::types(op, *common, moved) {
        Ok(types) => types,
        // The error cannot happen, because the operation was chosen for this dtype when it was recorded.
        Err(_) => [*common; 3],
    };
    let work = Map { op: *any, common: *common, numbers };
    let common = if moved { map::integer_of_size(*common) } else { *common };
    let operands: Vec<String> = (0..N - 1)
        .map(|k| {
            let (value, dtype) = (name_of(step.reads[k]), program.dtype_of(step.reads[k]));
            let taken = type_name(if k == 0 { first } else { last });
            match () {
                _ if op.masked && k == 0 => format!("same_bits<Bool>({value})"),
                _ if moved => format!("same_bits<{taken}>({value})"),
                _ => format!("operand<{taken}>({value}, {}, {})", dtype.code(), common.code()),
            }
        })
        .collect();
    let arguments: Vec<String> = map::numbers(op, &work, moved).iter().take(numbers.len()).map(argument).collect();
    let list = if arguments.is_empty() { "{0, 0, 1}".to_owned() } else { arguments.join(", ") };
    let context = format!("const Argument n[] = {{{list}}}; const Context cx = {{n, {}}};", common.code());
    let (result, taken) = (type_name(result), type_name(last));
    let call = format!("apply<op_{name}, {taken}, {result}>(cx, {})", operands.join(", "));
    let stored = if moved { "same_bits" } else { "convert" };
    format!("[&]() {{ {context} return {stored}<{}>({call}); }}()", type_name(step.dtype))
}

/// The text of a number in a kernel, as its bits.
fn argument(number: &map::Argument) -> String {
    format!("{{double_of({}ull), (int64){}ull, {}}}", number.real.to_bits(), number.whole.cast_unsigned(), number.is_whole)
}
