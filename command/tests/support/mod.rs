//! Runs the command on files of the corpus, and on files that a test writes.

#![allow(dead_code)]

use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The exit code and the output of a run.
pub struct Run {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Run {
    /// The standard output of a run that succeeded without warnings.
    pub fn text(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", String::from_utf8_lossy(&self.out));
        std::str::from_utf8(&self.out).unwrap()
    }

    /// As `text`, parsed as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(self.text()).unwrap()
    }

    /// The message of a run that failed without output.
    pub fn refusal(&self) -> &str {
        assert_eq!((self.code, self.out.len()), (2, 0), "{}", self.err);
        let message = self.err.strip_prefix("thorn: ").unwrap_or_else(|| panic!("{}", self.err));
        assert!(message.ends_with('\n') && !message.contains("panicked"), "{message}");
        message
    }
}

pub fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_thorn"))
}

/// Runs the command.
pub fn thorn<S: AsRef<OsStr>>(arguments: &[S]) -> Run {
    thorn_with(arguments, b"")
}

/// Runs the command with a pipe as its standard input.
pub fn thorn_with<S: AsRef<OsStr>>(arguments: &[S], input: &[u8]) -> Run {
    let mut child =
        command().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let (mut to, input) = (child.stdin.take().unwrap(), input.to_vec());
    // Writing fails if the command does not read its input.
    let writer = std::thread::spawn(move || _ = to.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run { code: output.status.code().unwrap_or(-1), out: output.stdout, err: String::from_utf8(output.stderr).unwrap() }
}

fn files() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../files")
}

/// The path of a file of the corpus.
pub fn corpus(name: &str) -> String {
    files().join("corpus").join(name).to_str().unwrap().to_owned()
}

/// The original programs' reading of the files of a format.
pub fn expected(format: &str) -> Value {
    let path = files().join("tests/expected").join(format).with_extension("json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// A temporary folder for one test.
pub struct Folder(PathBuf);

pub fn folder(test: &str) -> Folder {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    Folder(path)
}

impl Folder {
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file with these bytes.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes a safetensors file.
    pub fn tensors(&self, name: &str, tensors: &[(&str, &str, &[i64], Vec<u8>)]) -> String {
        self.file(name, &safetensors(tensors, &[]))
    }
}

/// The bytes of a safetensors file, from names, dtypes in the format's notation, shapes, bytes, and metadata.
pub fn safetensors(tensors: &[(&str, &str, &[i64], Vec<u8>)], metadata: &[(String, String)]) -> Vec<u8> {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    if !metadata.is_empty() {
        let members: Vec<String> = metadata.iter().map(|(key, value)| format!("{}:{}", json!(key), json!(value))).collect();
        header.push(format!("\"__metadata__\":{{{}}}", members.join(",")));
    }
    for (name, dtype, shape, bytes) in tensors {
        let offsets = [data.len(), data.len() + bytes.len()];
        data.extend_from_slice(bytes);
        header.push(format!("{}:{}", json!(name), json!({ "dtype": dtype, "shape": shape, "data_offsets": offsets })));
    }
    let mut header = format!("{{{}}}", header.join(","));
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(&data);
    file
}

/// Elements as bytes.
pub fn f32s(elements: &[f32]) -> Vec<u8> {
    elements.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub fn f64s(elements: &[f64]) -> Vec<u8> {
    elements.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub fn i64s(elements: &[i64]) -> Vec<u8> {
    elements.iter().flat_map(|x| x.to_le_bytes()).collect()
}
