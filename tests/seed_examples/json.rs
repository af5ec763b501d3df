//! Reading an example: fields of a type, numbers in nested lists, names of dtypes.

use serde_json::Value;
use thorn::dtype::*;

pub fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

pub fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("no text {key} in {of}"))
}

pub fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"))
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub fn ints(value: &Value) -> Vec<i64> {
    list(value).iter().map(int).collect()
}

/// The numbers of a nested list, flattened, and its shape.
pub fn nested(data: &Value) -> (Vec<f64>, Vec<i64>) {
    let Some(parts) = data.as_array() else { return (vec![number(data)], vec![]) };
    let (mut numbers, mut shape) = (vec![], vec![]);
    for part in parts {
        let (inner, inner_shape) = nested(part);
        numbers.extend(inner);
        shape = inner_shape;
    }
    shape.insert(0, parts.len() as i64);
    (numbers, shape)
}

pub fn dtype_named(name: &str) -> THDtype {
    match name {
        "u8" => TH_UINT8,
        "i8" => TH_INT8,
        "i16" => TH_INT16,
        "i32" => TH_INT32,
        "i64" => TH_INT64,
        "f32" => TH_FLOAT32,
        "f64" => TH_FLOAT64,
        _ => panic!("{name} is no dtype"),
    }
}

pub fn dtype(operation: &Value) -> THDtype {
    dtype_named(text(operation, "dtype"))
}
