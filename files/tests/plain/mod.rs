//! Shared parts of the tests: the files of `corpus/`, elements as numbers, and the contents that other programs read.

#![allow(dead_code)]

use half::{bf16, f16};
use std::path::{Path, PathBuf};
use thorn_files::{Contents, Data, Element, Form, Format, Save, Sparse, Tensor};

/// Returns the folder of a format's files.
pub fn corpus(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(format)
}

/// An element.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    Int(i64),
    Float(f64),
}

impl PartialEq for Value {
    /// Floats are equal if they have the same bits or are both NaN.
    fn eq(&self, other: &Value) -> bool {
        match (*self, *other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            _ => false,
        }
    }
}

fn value(element: Element, bytes: &[u8]) -> Value {
    macro_rules! number {
        ($T:ty) => {
            <$T>::from_le_bytes(bytes.try_into().unwrap())
        };
    }
    match element {
        Element::Bool | Element::U8 => Value::Int(i64::from(bytes[0])),
        Element::I8 => Value::Int(i64::from(number!(i8))),
        Element::I16 => Value::Int(i64::from(number!(i16))),
        Element::I32 => Value::Int(i64::from(number!(i32))),
        Element::I64 => Value::Int(number!(i64)),
        Element::F16 => Value::Float(number!(f16).to_f64()),
        Element::BF16 => Value::Float(number!(bf16).to_f64()),
        Element::F32 => Value::Float(f64::from(number!(f32))),
        Element::F64 => Value::Float(number!(f64)),
    }
}

/// Returns the type and the elements of a tensor, in row-major order.
pub fn elements(contents: &Contents, input: &Vec<u8>, tensor: &Tensor) -> (Element, Vec<Value>) {
    let Data::Storage(index) = tensor.data else { panic!("{:?}", tensor.data) };
    let storage = &contents.storages[index];
    let mut bytes = vec![0; storage.bytes().unwrap()];
    contents.read(input, index, &mut bytes).unwrap();
    let size = storage.element.size();
    let count = tensor.elements().unwrap();
    let values = (0..count as i64).map(|mut k| {
        let mut at = tensor.offset;
        for (&size, &stride) in tensor.sizes.iter().zip(&tensor.strides).rev() {
            at += k % size * stride;
            k /= size;
        }
        value(storage.element, &bytes[at as usize * size..][..size])
    });
    (storage.element, values.collect())
}

/// Returns the parts of a sparse tensor.
pub fn sparse<'a>(contents: &'a Contents, tensor: &Tensor) -> &'a Sparse {
    let Data::Sparse(index) = tensor.data else { panic!("{:?}", tensor.data) };
    &contents.sparse[index]
}

/// Returns the positions of a sparse tensor's entries, in the order of the file.
pub fn positions(contents: &Contents, input: &Vec<u8>, sparse: &Sparse) -> Vec<Vec<i64>> {
    let integers = |part: &Tensor| -> Vec<i64> {
        let (_, values) = elements(contents, input, part);
        values.iter().map(|value| if let Value::Int(n) = *value { n } else { panic!("{value:?}") }).collect()
    };
    let nnz = sparse.nnz() as usize;
    let places: Vec<Vec<i64>> = sparse.parts[..sparse.parts.len() - 1].iter().map(integers).collect();
    let place = |k: usize| match sparse.form {
        Form::Coordinates => places[0].iter().skip(k).step_by(nnz).copied().collect(),
        Form::Vectors => places.iter().map(|of_dim| of_dim[k]).collect(),
        Form::Rows | Form::Columns => {
            let line = places[0].iter().filter(|&&start| start <= k as i64).count() as i64 - 1;
            if sparse.form == Form::Rows { vec![line, places[1][k]] } else { vec![places[1][k], line] }
        }
    };
    (0..nnz).map(place).collect()
}

/// Returns all elements of a sparse tensor. Values at the same position are summed.
pub fn dense(contents: &Contents, input: &Vec<u8>, tensor: &Tensor) -> (Element, Vec<Value>) {
    let parts = sparse(contents, tensor);
    let (element, values) = elements(contents, input, parts.values().unwrap());
    let is_float = matches!(element, Element::F32 | Element::F64);
    let zero = if is_float { Value::Float(0.0) } else { Value::Int(0) };
    let mut all = vec![zero; tensor.sizes.iter().product::<i64>() as usize];
    for (position, value) in positions(contents, input, parts).into_iter().zip(values) {
        let at = position.iter().zip(&tensor.sizes).fold(0, |at, (&k, &size)| at * size + k);
        all[at as usize] = match (all[at as usize], value) {
            (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
            (Value::Float(a), Value::Float(b)) => Value::Float(a + b),
            other => panic!("{other:?}"),
        };
    }
    (element, all)
}

/// Returns the bytes of all storages of a file.
pub fn storages(contents: &Contents, file: &Vec<u8>) -> Vec<(Element, Vec<u8>)> {
    let read = |index: usize| {
        let mut bytes = vec![0; contents.storages[index].bytes().unwrap()];
        contents.read(file, index, &mut bytes).unwrap();
        (contents.storages[index].element, bytes)
    };
    (0..contents.storages.len()).map(read).collect()
}

/// Returns the contents that another program reads from the files of a format: `expected/FORMAT.json`.
pub fn expected(format: &str) -> serde_json::Map<String, serde_json::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/expected/{format}.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Compares a tensor with the elements that another program reads.
pub fn compare(at: &str, contents: &Contents, input: &Vec<u8>, tensor: &Tensor, expected: &serde_json::Value) {
    let sizes: Vec<i64> = serde_json::from_value(expected["sizes"].clone()).unwrap();
    assert_eq!(tensor.sizes, sizes, "{at}");
    let (element, values) = elements(contents, input, tensor);
    let dtype = match expected["dtype"].as_str().unwrap() {
        ">i2" => "int16",
        "uint16" | ">u2" | ">i4" => "int32",
        "uint32" | ">u4" | ">i8" => "int64",
        ">f2" => "float16",
        ">f4" => "float32",
        ">f8" => "float64",
        same => same,
    };
    assert_eq!(element.name(), dtype, "{at}");
    assert_eq!(values, wanted(expected), "{at}");
}

/// Returns the elements that another program reads.
pub fn wanted(expected: &serde_json::Value) -> Vec<Value> {
    let value = |value: &serde_json::Value| match value {
        serde_json::Value::String(float) => Value::Float(float.parse().unwrap()),
        int => Value::Int(int.as_i64().unwrap()),
    };
    expected["elements"].as_array().unwrap().iter().map(value).collect()
}

/// Writes a file with these row-major tensors, whose elements are bytes in memory.
pub fn saved(
    format: Format,
    tensors: &[(&str, &[i64], Element, &[u8])],
    metadata: &[(&str, &str)],
    precision: Option<usize>,
) -> thorn_files::Result<Vec<u8>> {
    let storages: Vec<_> = tensors.iter().map(|&(.., element, bytes)| (element, bytes)).collect();
    let tensors =
        tensors.iter().enumerate().map(|(i, (name, sizes, ..))| Tensor::row_major((*name).to_owned(), sizes.to_vec(), i).unwrap());
    let tensors: Vec<_> = tensors.collect();
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut to = std::io::Cursor::new(Vec::new());
    thorn_files::save(format, &Save { tensors: &tensors, sparse: &[], storages: &storages, metadata: &metadata, precision }, &mut to)?;
    Ok(to.into_inner())
}

/// Returns the elements of an iterator as bytes.
#[macro_export]
macro_rules! bytes {
    ($($value:expr),* $(,)?) => { [$($value.to_le_bytes().to_vec()),*].concat() };
}
