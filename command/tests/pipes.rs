//! Pipes: standard input and output, named pipes, and readers that close early; and errors about arguments.

mod support;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use support::{command, corpus, f32s, folder, thorn, thorn_with};

#[test]
fn the_standard_input_is_a_file() {
    let path = corpus("torch/checkpoint.pt");
    let bytes = std::fs::read(&path).unwrap();
    let of_file = thorn(&["show", &path]).text().replace(&path, "standard input");
    assert_eq!(thorn_with(&["show", "-"], &bytes).text(), of_file);
    let output = command().args(["show", "-"]).stdin(File::open(&path).unwrap()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), of_file);
    assert_eq!(thorn_with(&["diff", "-", &path], &bytes).text(), "");
    assert_eq!(thorn_with(&["diff", &path, "-"], &bytes).text(), "");
    assert!(thorn(&["diff", "-", "-"]).refusal().contains("standard input"));
    assert!(thorn_with(&["show", "-"], b"PK").refusal().starts_with("\"standard input\": "));
}

#[test]
fn the_standard_output_is_a_file() {
    let folder = folder("the_standard_output_is_a_file");
    let from = corpus("safetensors/shapes.safetensors");
    for to in ["-", "/dev/stdout"] {
        for format in ["npz", "npz-compressed", "pt", "safetensors"] {
            let run = thorn(&["convert", &from, to, "--format", format]);
            assert_eq!((run.code, run.err.as_str()), (0, ""), "{format}");
            assert_eq!(thorn_with(&["diff", &from, "-"], &run.out).text(), "", "{format}");
        }
    }
    // Appends to the content of the file.
    let path = folder.file("out", b"before");
    let out = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    assert!(command().args(["convert", &from, "-", "-f", "npz"]).stdout(out).status().unwrap().success());
    let written = std::fs::read(&path).unwrap();
    assert!(written.starts_with(b"beforePK"));
    assert_eq!(thorn_with(&["diff", &from, "-"], &written[6..]).text(), "");
    assert_eq!(thorn(&["convert", &from, "-"]).refusal(), "the standard output needs a --format\n");
    let full = command().args(["convert", &from, "-", "-f", "npz"]).stdout(File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!((full.status.code(), full.stderr.as_slice()), (Some(2), &b"thorn: the standard output: No space left on device\n"[..]));
}

#[test]
fn a_named_pipe_is_read() {
    let path = corpus("npy/cube.npy");
    let line = format!("'{}' diff <(cat '{path}') '{path}'", env!("CARGO_BIN_EXE_thorn"));
    let output = Command::new("bash").args(["-c", &line]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0), "{output:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder("a_reader_that_goes_away");
    let elements = f32s(&(0..200_000).map(|k| k as f32).collect::<Vec<_>>());
    let file = folder.tensors("t.safetensors", &[("x", "F32", &[200_000], elements)]);
    let arguments: [&[&str]; 5] = [
        &["show", "--all", &file, "x"],
        &["show", "--json", &file, "x"],
        &["convert", &file, "-", "--format", "npy"],
        &["completions", "zsh"],
        &["show", "--help"],
    ];
    for arguments in arguments {
        let mut child = command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::with_capacity(16, child.stdout.take().unwrap());
        assert!(!lines.fill_buf().unwrap().is_empty());
        drop(lines);
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let output = command().args(["show", &corpus("npy/cube.npy")]).stdout(File::create("/dev/full").unwrap()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(2), &b"thorn: the standard output: No space left on device\n"[..]));
}

#[test]
fn wrong_arguments_are_told() {
    assert!(thorn(&["show"]).refusal().contains("<FILE>"));
    assert!(thorn(&["shw", "x"]).refusal().contains("'shw'"));
    assert!(thorn(&["show", "--bref", "x"]).refusal().contains("--bref"));
    assert!(thorn::<&str>(&[]).err.contains("Usage"));
}

#[test]
fn the_command_tells_of_itself() {
    assert_eq!(thorn(&["--version"]).text(), format!("thorn {}\n", env!("CARGO_PKG_VERSION")));
    for word in ["show", "convert", "diff", "view"] {
        assert!(thorn(&["--help"]).text().contains(word));
        assert!(thorn(&[word, "--help"]).text().lines().all(|line| line.chars().count() <= 120), "{word}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(thorn(&["completions", shell]).text().contains("convert"));
    }
    assert!(thorn(&["man"]).text().contains(".TH thorn 1"));
    let folder = folder("the_command_tells_of_itself");
    assert_eq!(thorn(&["man", "--output", &folder.path("")]).text(), "");
    let page = std::fs::read_to_string(folder.path("thorn-show.1")).unwrap();
    assert!(page.contains("\\-\\-brief"));
}
