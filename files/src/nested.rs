//! Nested values of Python, to be written.

use std::fmt::Write;
use std::ops::Range;

/// A nested value of Python.
#[derive(Debug, Clone, PartialEq)]
pub enum Nested {
    /// `None`.
    None,
    /// A bool.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A text.
    Text(String),
    /// The tensor with this index.
    Tensor(usize),
    /// A list.
    List(Vec<Nested>),
    /// A tuple.
    Tuple(Vec<Nested>),
    /// A dict: keys and values.
    Dict(Vec<(Nested, Nested)>),
}

/// A nested value among the contents of a file to be written. Its tensors and texts are in the lists of [`Save`](crate::Save), named by
/// their paths. [`Nested::Tensor`] counts from the first of these tensors.
#[derive(Debug)]
pub struct NestedEntry {
    /// The key of the value. A value without a name is the whole file.
    pub name: String,
    /// The value.
    pub value: Nested,
    /// The tensors of the value.
    pub tensors: Range<usize>,
    /// The texts and numbers of the value among the metadata.
    pub metadata: Range<usize>,
}

impl Nested {
    /// Returns a text.
    pub fn text(text: &str) -> Nested {
        Nested::Text(text.to_owned())
    }

    /// Calls `tensor` with the path and the index of each tensor, and `scalar` with the path and the text of each number and text. For an
    /// archive of PyTorch with this value, [`open`](crate::open) returns the same paths and texts. `path` is the path to the value.
    pub fn each(&self, path: &mut String, tensor: &mut dyn FnMut(&str, usize), scalar: &mut dyn FnMut(&str, String)) {
        match self {
            Nested::Tensor(index) => tensor(path, *index),
            Nested::List(items) | Nested::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    inside(path, &index.to_string(), |path| item.each(path, tensor, scalar));
                }
            }
            Nested::Dict(pairs) => {
                for (key, value) in pairs {
                    let key = key.scalar().unwrap_or_else(|| "?".to_owned());
                    inside(path, &key, |path| value.each(path, tensor, scalar));
                }
            }
            _ => {
                if let Some(text) = self.scalar() {
                    scalar(path, text);
                }
            }
        }
    }

    /// Returns the text of a number or text; `None` for other values.
    fn scalar(&self) -> Option<String> {
        match self {
            Nested::Bool(value) => Some(value.to_string()),
            Nested::Int(value) => Some(value.to_string()),
            Nested::Float(value) => Some(format!("{value:?}")),
            Nested::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

/// Calls `f` with the path `path.key`, or `key` if `path` is empty. Restores the path.
fn inside(path: &mut String, key: &str, f: impl FnOnce(&mut String)) {
    let len = path.len();
    let dot = if path.is_empty() { "" } else { "." };
    // Writing to a String cannot fail.
    let _ = write!(path, "{dot}{key}");
    f(path);
    path.truncate(len);
}
