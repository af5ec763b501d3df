//! Files of the corpus and the contents that real programs read from them. `scripts/corpus.py` writes both.

#![allow(dead_code)]

use serde_json::Value;
use std::io::Cursor;
use std::path::PathBuf;
use thorn_files::{Contents, Data, Element, Format, Opaque, Save, Tensor};

/// Returns the bytes of a file of the corpus.
pub fn file(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a file of expected values.
pub fn values(format: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(format).with_extension("json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub fn open(bytes: &Vec<u8>) -> Contents {
    thorn_files::open(bytes).unwrap()
}

/// Returns the error message for a broken file.
pub fn refused(bytes: &[u8]) -> String {
    thorn_files::open(&bytes.to_vec()).unwrap_err().message
}

pub fn tensor<'a>(contents: &'a Contents, name: &str) -> &'a Tensor {
    contents.tensors.iter().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("there is no tensor '{name}'"))
}

pub fn metadata<'a>(contents: &'a Contents, key: &str) -> Option<&'a str> {
    contents.metadata.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

pub fn storage(tensor: &Tensor) -> usize {
    match &tensor.data {
        Data::Storage(index) => *index,
        Data::Sparse(_) => panic!("tensor '{}' is sparse", tensor.name),
        Data::Refused(why) | Data::Opaque(Opaque { why, .. }) => panic!("tensor '{}': {why}", tensor.name),
    }
}

/// Returns the elements of all storages.
pub fn storages(contents: &Contents, bytes: &Vec<u8>) -> Vec<(Element, Vec<u8>)> {
    let read = |index: usize| {
        let mut to = vec![0; contents.storages[index].bytes().unwrap()];
        contents.read(bytes, index, &mut to).unwrap();
        (contents.storages[index].element, to)
    };
    (0..contents.storages.len()).map(read).collect()
}

/// Returns the elements of a tensor in row-major order.
pub fn elements(contents: &Contents, bytes: &Vec<u8>, tensor: &Tensor) -> Vec<u8> {
    let index = storage(tensor);
    let mut all = vec![0; contents.storages[index].bytes().unwrap()];
    contents.read(bytes, index, &mut all).unwrap();
    let (size, mut elements) = (contents.storages[index].element.size(), Vec::new());
    for k in 0..tensor.elements().unwrap() as i64 {
        let (mut rest, mut at) = (k, tensor.offset);
        for (&size, &stride) in tensor.sizes.iter().zip(&tensor.strides).rev() {
            at += rest % size * stride;
            rest /= size;
        }
        elements.extend_from_slice(&all[at as usize * size..][..size]);
    }
    elements
}

/// Checks the type, the sizes and the elements of a tensor.
pub fn check(contents: &Contents, bytes: &Vec<u8>, name: &str, expected: &Value) {
    let tensor = tensor(contents, name);
    assert_eq!(contents.storages[storage(tensor)].element.name(), expected["dtype"], "{name}");
    assert_eq!(Value::from(tensor.sizes.clone()), expected["sizes"], "{name}");
    let hex: String = elements(contents, bytes, tensor).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, expected["hex"], "{name}");
}

/// Writes all contents of a file to another format. Returns the bytes of the new file.
pub fn rewritten(contents: &Contents, bytes: &Vec<u8>, format: Format) -> thorn_files::Result<Vec<u8>> {
    let storages = storages(contents, bytes);
    let storages: Vec<_> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let what =
        Save { tensors: &contents.tensors, sparse: &contents.sparse, storages: &storages, metadata: &contents.metadata, precision: None };
    let mut to = Cursor::new(Vec::new());
    thorn_files::save(format, &what, &mut to)?;
    Ok(to.into_inner())
}
