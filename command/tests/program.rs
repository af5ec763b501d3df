//! `thorn show` and `thorn run` for exported programs: the programs of the examples, and broken copies.

mod support;

use serde_json::Value;
use std::path::PathBuf;
use support::{Folder, f32s, folder, i64s, thorn, thorn_with};

/// The number of digits in a run.
const COUNT: usize = 100;

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/data").join(name)
}

fn digits() -> String {
    example("digits.pt2").to_str().unwrap().to_owned()
}

fn sonnets() -> String {
    example("sonnets.pt2").to_str().unwrap().to_owned()
}

/// The words of the line that begins with a name.
fn words<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.first() == Some(&name)).unwrap_or_else(|| panic!("no {name} in {text}"))
}

/// Pixels and labels of some digits that the net was not trained on.
fn held_out() -> (Vec<f32>, Vec<usize>) {
    let text = std::fs::read_to_string(example("digits.csv")).unwrap();
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for line in text.lines().skip(2).step_by(3).take(COUNT) {
        let mut row: Vec<f32> = line.split(',').map(|x| x.parse().unwrap()).collect();
        labels.push(row.pop().unwrap() as usize);
        pixels.extend(row);
    }
    (pixels, labels)
}

/// A file with digits as the input of the net.
fn pictures(folder: &Folder) -> String {
    folder.tensors("pictures.safetensors", &[("x", "F32", &[COUNT as i64, 1, 8, 8], f32s(&held_out().0))])
}

/// The elements of a tensor in a file.
fn elements(file: &str, name: &str) -> Vec<f64> {
    let json = thorn(&["show", "--json", file, name]).json();
    json["elements"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// A copy of the digits' program in which an operator has another name of the same length.
fn renamed(folder: &Folder, from: &str, to: &str) -> String {
    let mut bytes = std::fs::read(digits()).unwrap();
    let number = |bytes: &[u8], at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |x, &byte| x << 8 | usize::from(byte));
    // The entry of the graph in the directory of the archive, and the place of its bytes.
    let is_graph =
        |&at: &usize| bytes[at..].starts_with(b"PK\x01\x02") && bytes[at + 46..][..number(&bytes, at + 28, 2)].ends_with(b"/model.json");
    let entry = (0..bytes.len()).find(is_graph).unwrap();
    let (size, header) = (number(&bytes, entry + 20, 4), number(&bytes, entry + 42, 4));
    let start = header + 30 + number(&bytes, header + 26, 2) + number(&bytes, header + 28, 2);
    let graph = std::str::from_utf8(&bytes[start..start + size]).unwrap().replace(from, to);
    assert!(from.len() == to.len() && graph.contains(to));
    bytes[start..start + size].copy_from_slice(graph.as_bytes());
    let checksum = crc32(graph.as_bytes()).to_le_bytes();
    bytes[entry + 16..entry + 20].copy_from_slice(&checksum);
    bytes[header + 14..header + 18].copy_from_slice(&checksum);
    folder.file("renamed.pt2", &bytes)
}

/// The checksum of zip archives.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb88320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), bit))
}

#[test]
fn a_program_is_described() {
    let shown = thorn(&["show", &digits()]);
    let text = shown.text();
    let first = text.lines().next().unwrap();
    assert!(first.contains("exported program of PyTorch 2.") && first.ends_with(" operators"), "{first}");
    let image = words(text, "image");
    assert_eq!((image[1], &image[3..]), ("float32", &["1..2048,", "1,", "8,", "8]"][..]), "{text}");
    assert_eq!(words(text, "parameters")[1], "12");
    assert_eq!(words(text, "buffers")[1], "6");
    assert_eq!(words(text, "conv2d"), ["conv2d", "2", "THTensor_conv2d"]);
    assert!(!text.contains("scores.weight"));
    for option in ["--all", "--brief"] {
        let all = thorn(&["show", option, &digits()]);
        assert!(all.text().starts_with(text) && all.text().contains("\nscores.weight "), "{}", all.text());
    }
}

#[test]
fn a_program_is_described_in_json() {
    let json = thorn(&["show", "--json", "--brief", &sonnets()]).json();
    let names = |list: &Value| list.as_array().unwrap().iter().map(|x| x["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let program = &json["program"];
    assert_eq!(names(&program["inputs"]), ["character", "position"]);
    assert_eq!(program["inputs"][0]["dtype"], "int64");
    assert_eq!(program["inputs"][0]["shape"], serde_json::json!(["1", "1"]));
    assert_eq!(program["outputs"].as_array().unwrap().len(), 1);
    assert!(program["operators"].as_array().unwrap().iter().all(|operator| operator["by"].is_string()), "{program}");
    let tensors = json["tensors"].as_array().unwrap().len() as u64;
    let count = |part: &str| program[part]["tensors"].as_u64().unwrap();
    assert!(count("parameters") + count("buffers") <= tensors, "{program}");
    // A file that is no program has no description.
    assert!(thorn(&["show", "--json", &support::corpus("npy/float32.npy")]).out.windows(9).all(|part| part != b"\"program\""));
}

#[test]
fn missing_operators_are_shown_and_refused() {
    let folder = folder("missing_operators_are_shown_and_refused");
    let file = renamed(&folder, "aten.conv2d.default", "aten.conv2x.default");
    let shown = thorn(&["show", &file]);
    let text = shown.text();
    assert!(text.lines().next().unwrap().ends_with(", 1 missing"), "{text}");
    assert_eq!(words(text, "conv2x")[1..3], ["2", "missing,"], "{text}");
    assert_eq!(words(text, "relu")[2], "THTensor_relu");
    let refused = thorn(&["run", &file, "-i", &pictures(&folder)]);
    assert!(refused.refusal().contains("conv2x"), "{}", refused.err);
}

#[test]
fn a_program_runs() {
    let folder = folder("a_program_runs");
    let (input, output) = (pictures(&folder), folder.path("scores.safetensors"));
    assert_eq!(thorn(&["run", &digits(), "-i", &input, "-o", &output]).text(), "");
    let json = thorn(&["show", "--json", &output]).json();
    assert_eq!(json["tensors"][0]["shape"], serde_json::json!([COUNT, 10]));
    let scores = elements(&output, json["tensors"][0]["name"].as_str().unwrap());
    let best = |row: &[f64]| (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
    let right = scores.chunks(10).zip(held_out().1).filter(|(row, label)| best(row) == *label).count();
    assert!(right >= COUNT * 9 / 10, "{right}");
    // A file with one tensor has no name.
    let npy = folder.path("scores.npy");
    thorn(&["run", &digits(), "-i", &input, "-o", &npy, "--threads", "1"]).text();
    assert_eq!(thorn(&["show", "--json", &npy]).json()["tensors"][0]["min"], json["tensors"][0]["min"]);
    // The program may come from a pipe.
    let printed = thorn(&["run", &digits(), "-i", &input]);
    assert!(printed.text().contains(":\ntensor(["), "{}", printed.text());
    let piped = thorn_with(&["run", "-", "-i", &input], &std::fs::read(digits()).unwrap());
    assert_eq!(piped.text(), printed.text());
}

#[test]
fn inputs_are_found_by_name_or_in_order() {
    let folder = folder("inputs_are_found_by_name_or_in_order");
    let (character, position) = (("character", "I64", &[1, 1][..], i64s(&[20])), ("position", "I64", &[1][..], i64s(&[0])));
    let both = folder.tensors("both.safetensors", &[position.clone(), character.clone()]);
    let first = folder.tensors("first.safetensors", std::slice::from_ref(&character));
    let second = folder.tensors("second.safetensors", &[position]);
    let by_name = thorn(&["run", &sonnets(), "-i", &both]);
    assert_eq!(by_name.text(), thorn(&["run", &sonnets(), "-i", &first, "-i", &second]).text());
    let refusal = |arguments: &[&str]| thorn(arguments).refusal().to_owned();
    assert!(refusal(&["run", &sonnets()]).contains("0 input files, and the program has 2 inputs: character, position"));
    assert!(refusal(&["run", &sonnets(), "-i", &first]).contains("no tensor is named 'position'"));
    assert!(refusal(&["run", &sonnets(), "-i", &second, "-i", &first]).contains("input 'character'"));
}

#[test]
fn runs_are_timed() {
    let folder = folder("runs_are_timed");
    let run = thorn(&["run", &digits(), "-i", &pictures(&folder), "--time", "3"]);
    let lines: Vec<&str> = run.text().lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("first run ") && lines[1].starts_with("3 more runs: minimum ") && lines[2].starts_with("memory: at most ")
    );
    // A cache of keys and values would change with each run. The expected outputs are the outputs of the first run.
    let output = folder.path("scores.npy");
    assert_eq!(thorn(&["run", &digits(), "-i", &pictures(&folder), "--time", "1", "-o", &output]).text().lines().count(), 3);
    assert_eq!(thorn(&["show", "--json", &output]).json()["tensors"][0]["shape"], serde_json::json!([COUNT, 10]));
}

#[test]
fn wrong_calls_are_refused() {
    let folder = folder("wrong_calls_are_refused");
    let input = pictures(&folder);
    let refusal = |arguments: &[&str]| thorn(arguments).refusal().to_owned();
    let wrong = folder.tensors("wrong.safetensors", &[("x", "F32", &[1, 1, 8, 7], f32s(&[0.0; 56]))]);
    assert!(refusal(&["run", &digits(), "-i", &wrong]).contains("input 'image': size 7 of dimension 3, expected 8"));
    assert!(refusal(&["run", &digits(), "-i", &input, "-d", "gpu"]).contains("the devices are"));
    assert!(refusal(&["run", &input]).contains("pictures.safetensors"));
    let (a, b) = (folder.path("a.npy"), folder.path("b.npy"));
    assert!(refusal(&["run", &digits(), "-i", &input, "-o", &a, "-o", &b]).contains("2 output files, and the program has 1 output"));
    assert!(!std::path::Path::new(&a).exists());
}
