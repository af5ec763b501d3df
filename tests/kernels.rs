//! The kernels of GPUs: every operation has one, and NVRTC compiles all of them without a GPU.
//!
//! `THORN_TEST_NVRTC`, set to `sm_90` or a list like `sm_90,compute_75`, compiles them for these architectures; `TH_CUDA_LIBRARIES` says
//! where NVRTC is, which `scripts/nvrtc.sh` fetches. Elementwise kernels are compiled for the first architecture alone.
//!
//! `THORN_TEST_CACHE`, set to `90 0 2`, compiles the first of two shares of all kernels for `sm_90` into the folder of `TH_CUDA_CACHE`, one
//! module for each kernel, as the library does. `scripts/gpu.sh pack` collects kernels so.
#![cfg(feature = "cuda")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::slice::from_ref;
use thorn::cuda::{Entry, MAP, PROGRAMS, SOURCES, Source, compiled_for, fused_entry, image, map_entries, module_text};
use thorn::dtype::Dtype;
use thorn::launch::fused::{Action, Constant, Program, Step, Value};
use thorn::launch::map::{Elementwise, Op};
use thorn::ops::pointwise::all::OPERATIONS;

/// All kernels of a source.
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
        .map(|text| text.matches("operations! {\n    ").count() + text.matches("_rows!(operations ").count())
        .sum();
    // The last list has no macro: what is declared by hand.
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

/// Registers and spilled bytes of each kernel, from what the assembler says.
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

/// Bytes that a kernel may spill: some save registers where they call a slow path of the mathematics.
const MOST_SPILLED: u32 = 48;
/// Operations whose kernels do little but call such functions, in a loop.
const SPILLING: &[&str] = &["op_derivative"];

#[test]
fn kernels_compile() {
    let Ok(architectures) = std::env::var("THORN_TEST_NVRTC") else {
        println!("left out: THORN_TEST_NVRTC names no architecture");
        return;
    };
    let mut modules: Vec<(&Source, Vec<Entry>)> = Vec::new();
    for source in SOURCES {
        let mut groups: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        entries(source).into_iter().for_each(|entry| groups.entry(entry.group.clone()).or_default().push(entry));
        modules.extend(groups.into_values().map(|entries| (*source, entries)));
    }
    for &dtype in Dtype::ALL {
        modules.extend([Dtype::Float32, Dtype::Int64].map(|result| (&PROGRAMS, vec![fused(dtype, result)])));
    }
    let mut wrong = Vec::new();
    for (k, architecture) in architectures.split(',').enumerate() {
        // Kernels, registers and spilled bytes at most, and bytes of a source.
        let mut table = BTreeMap::<&str, (usize, u32, u32, usize)>::new();
        let mut options = vec![format!("--gpu-architecture={architecture}")];
        // Machine code is made to be looked at, PTX to see that all is well-formed, which takes a third of the time without optimisation.
        options.push((if architecture.starts_with("sm_") { "--ptxas-options=-v" } else { "--Ofast-compile=max" }).to_owned());
        // Elementwise kernels are most of all, and have nothing that depends on the architecture: the first one is enough.
        for (source, entries) in modules.iter().filter(|(source, _)| k == 0 || source.name != MAP.name) {
            match compiled_for(source.name, &module_text(source, entries), &options) {
                Err(error) => wrong.push(format!("{} for {architecture}: {}", entries[0].call, error.message())),
                Ok((image, log)) => {
                    let row = table.entry(source.name).or_default();
                    (row.0, row.3) = (row.0 + entries.len(), row.3 + image.len());
                    for (name, registers, spills) in numbers(&log) {
                        (row.1, row.2) = (row.1.max(registers), row.2.max(spills));
                        if spills > MOST_SPILLED && !SPILLING.iter().any(|operation| name.contains(operation)) {
                            wrong.push(format!("{name} for {architecture} spills {spills} bytes"));
                        }
                    }
                }
            }
        }
        println!("{architecture}: kernels, most registers, most bytes spilled, bytes");
        for (name, (kernels, registers, spills, bytes)) in table {
            println!("  {name:24} {kernels:5} {registers:4} {spills:4} {bytes:9}");
        }
    }
    assert!(wrong.is_empty(), "{} of {} modules:\n{}", wrong.len(), modules.len(), wrong.join("\n"));
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
    // Other shares and earlier runs fill the same folder.
    let files = fs::read_dir(&folder).expect("the folder of kernels").count();
    assert!(compiled > 0 && files >= compiled, "{files} files in {folder} for {compiled} kernels");
    println!("{compiled} kernels of share {share} of {shares}");
}
