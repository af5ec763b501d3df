//! Every operation has a GPU kernel, and NVRTC compiles all kernels without a GPU.
//!
//! With `THORN_TEST_NVRTC` set, NVRTC compiles the kernels. The value `turns`, which `scripts/test.sh` sets, compiles each kernel to
//! machine code for one of [`ARCHITECTURES`]. The value `all` compiles each kernel for all of them, and a list like `sm_90,compute_75` for
//! the listed ones. `TH_CUDA_LIBRARIES` is the folder of NVRTC, which `scripts/nvrtc.sh` fetches.
//!
//! `THORN_TEST_CACHE`, set to `90 0 2`, compiles the first of two shares of all kernels for `sm_90` into the folder of `TH_CUDA_CACHE`, one
//! module for each kernel, as the library does. `scripts/gpu.sh pack` collects kernels in this way.
#![cfg(feature = "cuda")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::slice::from_ref;
use thorn::cuda::{Entry, MAP, PROGRAMS, SOURCES, Source, compiled_for, fused_entry, image, map_entries, module_text};
use thorn::dtype::Dtype;
use thorn::launch::fused::{Action, Constant, Program, Step, Value};
use thorn::launch::map::{Elementwise, Op};
use thorn::ops::pointwise::all::OPERATIONS;

/// Returns all kernels of a source.
fn entries(source: &Source) -> Vec<Entry> {
    match source.name == MAP.name {
        true => OPERATIONS.iter().copied().flatten().flat_map(|&op| map_entries(op)).collect(),
        false => (source.entries)(),
    }
}

#[test]
fn every_operation_is_listed_and_has_kernels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops/pointwise");
    let lists: usize = fs::read_dir(folder)
        .expect("the folder of the project")
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"))
        .map(|text| text.matches("operations! {\n    ").count() + text.matches("_functions!(operations ").count())
        .sum();
    // The last list has no macro: it declares operations by hand.
    assert_eq!(OPERATIONS.len(), lists + 1);
    for op in OPERATIONS.iter().copied().flatten() {
        assert!(!map_entries(*op).is_empty());
    }
    let all: Vec<Entry> = SOURCES.iter().flat_map(|source| entries(source)).collect();
    assert!(OPERATIONS.iter().map(|list| list.len()).sum::<usize>() > 120 && all.len() > 1000, "{} kernels", all.len());
}

/// The binary operation with this name.
fn binary(name: &str) -> &'static Op<3> {
    let all = OPERATIONS.iter().copied().flatten();
    let mut found = all.filter_map(|op| if let Elementwise::Binary(op) = op { Some(*op) } else { None });
    found.find(|op| op.formula.name == name).expect("an operation of this name")
}

/// The kernel of `(a * b) * 1` in a dtype, converted to another one.
fn fused(dtype: Dtype, result: Dtype) -> Entry {
    let product = |reads: [Value; 2]| {
        let action = Action::Map { op: Elementwise::Binary(binary("cmul")), common: dtype, numbers: Default::default() };
        Step { action, reads: reads.into_iter().collect(), dtype, place: 0 }
    };
    let one = Constant { dtype, bits: 1 };
    let steps = [product([Value::Input(0), Value::Input(1)]), product([Value::Step(0), Value::Constant(0)])];
    let program = Program::of(&[dtype; 2], &[one], &steps, Value::Step(1), dtype);
    fused_entry(&program, result)
}

#[test]
fn symbols_of_kernels_differ() {
    for source in SOURCES {
        let mut seen = HashSet::new();
        for entry in entries(source) {
            assert!(seen.insert(entry.symbol()), "{}: {} twice", source.name, entry.call);
        }
    }
}

/// The bytes that a kernel may spill: six registers. NVRTC 13.0 spills registers in about twenty of 2,300 kernels, most of which call
/// mathematical functions with a slow path.
const MOST_SPILLED: u32 = 24;

/// Kernels that spill more today: a part of the name, and the number of bytes.
const SPILLING: &[(&str, u32)] = &[
    ("op_derivative", 48),
    ("op_not_below_u8", 48),
    ("softmax_columns_", 64),
    ("_1_8_true", 36),
    ("norm_gradient_f32_4_10", 132),
    ("norm_gradient_f64_1_8", 40),
    ("reduce_Moment_f32", 36),
];

/// The most bytes that a kernel may spill.
fn most_spilled(name: &str) -> u32 {
    SPILLING.iter().find(|(part, _)| name.contains(part)).map_or(MOST_SPILLED, |&(_, bytes)| bytes)
}

/// Returns the registers and spilled bytes of each kernel, from the assembler's log.
fn numbers(log: &str) -> Vec<(String, u32, u32)> {
    let (mut found, mut name, mut spills) = (Vec::new(), String::new(), 0);
    let number_before = |line: &str, what: &str| {
        line.split(what).next().and_then(|head| head.trim_end().rsplit(' ').next().and_then(|number| number.parse().ok())).unwrap_or(0)
    };
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            name = rest.split('\'').next().unwrap_or_default().to_owned();
        } else if line.contains("bytes spill stores") {
            spills = number_before(line, "bytes spill stores");
        } else if line.contains(" registers") {
            found.push((name.clone(), number_before(line, "registers"), spills));
        }
    }
    found
}

/// One architecture of every supported generation of GPUs.
const ARCHITECTURES: &[&str] = &["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"];

/// For an architecture and a source: the number of kernels, the most registers of a kernel, the most spilled bytes of a kernel, and the
/// bytes of all kernels.
type Table = BTreeMap<(String, String), [usize; 4]>;

/// Adds to the entry of an architecture and a source.
fn add(table: &mut Table, key: (String, String), [kernels, registers, spills, bytes]: [usize; 4]) {
    let row = table.entry(key).or_default();
    *row = [row[0] + kernels, row[1].max(registers), row[2].max(spills), row[3] + bytes];
}

/// Returns the kernels by groups. A group is compiled as one program.
fn modules() -> Vec<(&'static Source, Vec<Entry>)> {
    let mut modules: Vec<(&Source, Vec<Entry>)> = Vec::new();
    for source in SOURCES {
        let mut groups: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        entries(source).into_iter().for_each(|entry| groups.entry(entry.group.clone()).or_default().push(entry));
        modules.extend(groups.into_values().map(|entries| (*source, entries)));
    }
    for &dtype in Dtype::ALL {
        modules.extend([Dtype::Float32, Dtype::Int64].map(|result| (&PROGRAMS, vec![fused(dtype, result)])));
    }
    modules
}

/// Compiles a module for an architecture, and adds to `table` and `wrong`.
fn compile(source: &Source, entries: &[Entry], architecture: &str, table: &mut Table, wrong: &mut Vec<String>) {
    let mut options = vec![format!("--gpu-architecture={architecture}")];
    // PTX is compiled without optimisation, because only its text is checked.
    options.push((if architecture.starts_with("sm_") { "--ptxas-options=-v" } else { "--Ofast-compile=max" }).to_owned());
    match compiled_for(source.name, &module_text(source, entries), &options) {
        Err(error) => wrong.push(format!("{} for {architecture}: {}", entries[0].call, error.message())),
        Ok((image, log)) => {
            let key = || (architecture.to_owned(), source.name.to_owned());
            add(table, key(), [entries.len(), 0, 0, image.len()]);
            for (name, registers, spills) in numbers(&log) {
                add(table, key(), [0, registers as usize, spills as usize, 0]);
                if spills > most_spilled(&name) {
                    wrong.push(format!("{name} for {architecture} spills {spills} bytes, {} are allowed", most_spilled(&name)));
                }
            }
        }
    }
}

/// Returns the indices of modules, each with an architecture to compile for.
fn jobs(chosen: &str, modules: &[(&'static Source, Vec<Entry>)]) -> Vec<(usize, String)> {
    let mut jobs = Vec::new();
    for (k, (source, entries)) in modules.iter().enumerate() {
        match chosen {
            "turns" => {
                // The turn depends only on the names, so that a new module does not change the others' turns.
                let turn: usize = source.name.bytes().chain(entries[0].group.bytes()).map(usize::from).sum();
                jobs.push((k, ARCHITECTURES[turn % ARCHITECTURES.len()].to_owned()));
                // PTX for the oldest architecture refuses newer instructions.
                jobs.extend((source.name != MAP.name).then(|| (k, "compute_75".to_owned())));
            }
            "all" => jobs.extend(ARCHITECTURES.iter().map(|&architecture| (k, architecture.to_owned()))),
            list => jobs.extend(list.split(',').map(|architecture| (k, architecture.to_owned()))),
        }
    }
    jobs
}

/// Does every `parts`-th job from number `part` on. Prints the entries and the failures for the parent process.
fn compile_part(chosen: &str, part: usize, parts: usize) {
    let modules = modules();
    let (mut table, mut wrong) = (Table::new(), Vec::new());
    for (k, architecture) in jobs(chosen, &modules).into_iter().skip(part).step_by(parts) {
        let (source, entries) = &modules[k];
        compile(source, entries, &architecture, &mut table, &mut wrong);
    }
    for ((architecture, source), numbers) in table {
        println!("row {architecture} {source} {}", numbers.map(|number| number.to_string()).join(" "));
    }
    wrong.iter().flat_map(|wrong| wrong.lines()).for_each(|line| println!("wrong {line}"));
}

/// Every kernel is compiled to machine code for one of the five architectures in turn, and must not spill more registers than allowed.
/// Kernels that are not elementwise are also compiled to PTX for the oldest architecture. There is a process for each core, because NVRTC
/// compiles one program at a time in a process.
#[test]
fn kernels_compile() {
    let Ok(chosen) = std::env::var("THORN_TEST_NVRTC") else {
        println!("left out: THORN_TEST_NVRTC is not set");
        return;
    };
    if let Some((part, parts)) = std::env::var("THORN_TEST_NVRTC_PART").ok().and_then(|part| {
        let (part, parts) = part.split_once('/')?;
        Some((part.parse().ok()?, parts.parse().ok()?))
    }) {
        return compile_part(&chosen, part, parts);
    }
    let parts = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let start = |part: usize| {
        let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
        command.args(["kernels_compile", "--exact", "--nocapture"]).env("THORN_TEST_NVRTC_PART", format!("{part}/{parts}"));
        command.stdout(Stdio::piped()).spawn().expect("a process")
    };
    let children: Vec<Child> = (0..parts).map(start).collect();
    let (mut table, mut wrong) = (Table::new(), Vec::new());
    for child in children {
        let output = child.wait_with_output().expect("the output of a process");
        assert!(output.status.success(), "a process failed: {}", output.status);
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["wrong", ..] => wrong.push(words[1..].join(" ")),
                ["row", architecture, source, ref numbers @ ..] => {
                    let numbers = std::array::from_fn(|k| numbers[k].parse().expect("a number"));
                    add(&mut table, (architecture.to_owned(), source.to_owned()), numbers);
                }
                _ => {}
            }
        }
    }
    println!("architecture and source: kernels, most registers, most bytes spilled, bytes");
    for ((architecture, source), [kernels, registers, spills, bytes]) in &table {
        println!("  {architecture:10} {source:24} {kernels:5} {registers:4} {spills:4} {bytes:9}");
    }
    assert!(!table.is_empty() && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernels_fill_the_cache() {
    let Ok(wanted) = std::env::var("THORN_TEST_CACHE") else {
        println!("left out: THORN_TEST_CACHE names no architecture and share");
        return;
    };
    let numbers: Vec<usize> = wanted.split(' ').map(|number| number.parse().expect("three numbers")).collect();
    let &[capability, share, shares] = numbers.as_slice() else { panic!("THORN_TEST_CACHE is {wanted:?}, not three numbers") };
    let folder = std::env::var("TH_CUDA_CACHE").expect("TH_CUDA_CACHE names a folder");
    let all = SOURCES.iter().flat_map(|source| entries(source).into_iter().map(move |entry| (*source, entry)));
    let mut compiled = 0;
    for (source, entry) in all.enumerate().filter(|(k, _)| k % shares == share).map(|(_, kernel)| kernel) {
        let made = image(source, from_ref(&entry), capability as i32, false);
        made.unwrap_or_else(|error| panic!("{}: {}", entry.call, error.message()));
        compiled += 1;
    }
    // Other shares and earlier runs write to the same folder.
    let files = fs::read_dir(&folder).expect("the folder of kernels").count();
    assert!(compiled > 0 && files >= compiled, "{files} files in {folder} for {compiled} kernels");
    println!("{compiled} kernels of share {share} of {shares}");
}
