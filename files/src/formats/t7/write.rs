//! Writing a file of Torch7.
//!
//! A single tensor without a name is written as the value. Otherwise, the parts of a name between dots become the keys of nested tables.
//! Whole numbers from 1 on become numbers, so that `modules.1.weight` is read back with the same keys. Metadata becomes strings, including
//! `__typename`: tables do not become objects. A storage is written once and whole, and tensors keep their strides and offsets.
//!
//! Torch7 has no bool and no scalars. Bool becomes uint8, and a tensor without dimensions gets one dimension of size 1. In Torch7, an empty
//! tensor has no dimensions, so that a tensor of size 0 is written without dimensions.

use super::class::{Class, NUMBER, OBJECT, STRING, TABLE};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::save::{Output, Save};
use crate::tensor::{Data, Tensor};
use half::f16;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io::{BufWriter, Write};

pub fn write(what: &Save<'_>, to: &mut dyn Output, ascii: bool) -> Result<()> {
    let mut file = Writer { to: BufWriter::with_capacity(64 << 10, to), ascii, what, objects: 0, storages: HashMap::new() };
    match (what.tensors, what.metadata) {
        ([tensor], []) if tensor.name.is_empty() => file.tensor(tensor)?,
        _ => file.tree(&Tree::of(what)?)?,
    }
    Ok(file.to.flush()?)
}

/// The greatest depth of tables.
const DEEPEST: usize = 256;

/// A value.
enum Node<'a> {
    /// Keys and the indices of nodes.
    Table(Vec<(&'a str, usize)>),
    Tensor(&'a Tensor),
    Text(&'a str),
}

/// All values. The first is the root.
struct Tree<'a>(Vec<Node<'a>>);

impl<'a> Tree<'a> {
    fn of(what: &'a Save<'_>) -> Result<Tree<'a>> {
        let tensors = what.tensors.iter().map(|tensor| (tensor.name.as_str(), Node::Tensor(tensor)));
        let texts = what.metadata.iter().map(|(key, value)| (key.as_str(), Node::Text(value)));
        let mut names = HashSet::new();
        for name in what.tensors.iter().map(|tensor| &tensor.name).chain(what.metadata.iter().map(|(key, _)| key)) {
            if !names.insert(name.as_str()) {
                return Err(Error::unsupported(format_args!("Torch7 files have one value with the name '{name}', not two")));
            }
        }
        let mut nodes = vec![Node::Table(Vec::new())];
        let mut tables: HashMap<&str, usize> = HashMap::new();
        for (name, node) in tensors.chain(texts) {
            let (mut table, mut start) = (0, 0);
            // If another value has the name of the table, the rest of the name becomes one key. Empty keys are not split off, because their
            // dots would be lost.
            let dots = name.match_indices('.').map(|(dot, _)| dot).take(DEEPEST);
            for dot in dots.take_while(|&dot| dot > 0 && !names.contains(&name[..dot])) {
                let next = nodes.len();
                let inner = *tables.entry(&name[..dot]).or_insert(next);
                if inner == next {
                    nodes.push(Node::Table(Vec::new()));
                    enter(&mut nodes, table, &name[start..dot], inner);
                }
                (table, start) = (inner, dot + 1);
            }
            let index = nodes.len();
            nodes.push(node);
            enter(&mut nodes, table, &name[start..], index);
        }
        Ok(Tree(nodes))
    }
}

/// Appends an entry to the table with the index `table`.
fn enter<'a>(nodes: &mut [Node<'a>], table: usize, key: &'a str, node: usize) {
    if let Some(Node::Table(entries)) = nodes.get_mut(table) {
        entries.push((key, node));
    }
}

struct Writer<'a, 's> {
    to: BufWriter<&'a mut dyn Output>,
    ascii: bool,
    what: &'a Save<'s>,
    /// The index of the object that was written last.
    objects: i32,
    /// The indices of the objects by the indices of their storages.
    storages: HashMap<usize, i32>,
}

impl Writer<'_, '_> {
    fn tree(&mut self, tree: &Tree<'_>) -> Result<()> {
        let Some(Node::Table(root)) = tree.0.first() else { return Ok(()) };
        self.table(root)?;
        // The tables that are not yet complete, with their remaining entries.
        let mut open = vec![root.iter()];
        while let Some(entries) = open.last_mut() {
            let Some((key, node)) = entries.next() else {
                open.pop();
                continue;
            };
            match number(key) {
                Some(number) => {
                    self.int(NUMBER)?;
                    self.double(number)?;
                }
                None => self.text(key)?,
            }
            match &tree.0[*node] {
                Node::Tensor(tensor) => self.tensor(tensor)?,
                Node::Text(text) => self.text(text)?,
                Node::Table(table) => {
                    self.table(table)?;
                    open.push(table.iter());
                }
            }
        }
        Ok(())
    }

    /// Writes the beginning of a table.
    fn table(&mut self, entries: &[(&str, usize)]) -> Result<()> {
        self.int(TABLE)?;
        self.index()?;
        self.length(entries.len())
    }

    fn tensor(&mut self, tensor: &Tensor) -> Result<()> {
        let (element, elements) = self.what.storage(tensor)?;
        let Some(name) = Class::name_of(element) else {
            return Err(Error::unsupported(format_args!("tensor '{}': Torch7 has no {}", tensor.name, element.name())));
        };
        self.object(&format!("torch.{name}Tensor"))?;
        let (sizes, strides): (&[i64], &[i64]) = match &tensor.sizes[..] {
            [] => (&[1], &[1]),
            [0] => (&[], &[]),
            sizes => (sizes, &tensor.strides),
        };
        self.length(sizes.len())?;
        self.longs(sizes)?;
        self.longs(strides)?;
        self.longs(&[tensor.offset + 1])?;
        let Data::Storage(storage) = tensor.data else { return Ok(()) };
        if let Some(&index) = self.storages.get(&storage) {
            self.int(OBJECT)?;
            return self.int(index);
        }
        self.object(&format!("torch.{name}Storage"))?;
        self.storages.insert(storage, self.objects);
        self.longs(&[(elements.len() / element.size()) as i64])?;
        self.elements(element, elements)
    }

    /// Writes the beginning of an object.
    fn object(&mut self, class: &str) -> Result<()> {
        self.int(OBJECT)?;
        self.index()?;
        self.string("V 1")?;
        self.string(class)
    }

    /// Writes the index of a new object.
    fn index(&mut self) -> Result<()> {
        self.objects = self.objects.checked_add(1).ok_or_else(|| too_many("objects"))?;
        self.int(self.objects)
    }

    fn text(&mut self, text: &str) -> Result<()> {
        self.int(STRING)?;
        self.string(text)
    }

    /// Writes a length and bytes.
    fn string(&mut self, text: &str) -> Result<()> {
        self.length(text.len())?;
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes)?;
        if self.ascii && !bytes.is_empty() {
            self.to.write_all(b"\n")?;
        }
        Ok(())
    }

    fn length(&mut self, len: usize) -> Result<()> {
        self.int(i32::try_from(len).map_err(|_| too_many("entries or bytes"))?)
    }

    fn int(&mut self, value: i32) -> Result<()> {
        if self.ascii { self.line(&[value]) } else { Ok(self.to.write_all(&value.to_le_bytes())?) }
    }

    fn double(&mut self, value: f64) -> Result<()> {
        if self.ascii { self.line(&[value]) } else { Ok(self.to.write_all(&value.to_le_bytes())?) }
    }

    fn longs(&mut self, values: &[i64]) -> Result<()> {
        if self.ascii {
            return self.line(values);
        }
        values.iter().try_for_each(|value| Ok(self.to.write_all(&value.to_le_bytes())?))
    }

    fn elements(&mut self, element: Element, bytes: &[u8]) -> Result<()> {
        if !self.ascii {
            return Ok(self.to.write_all(bytes)?);
        }
        match element {
            Element::I16 => self.numbers(bytes, i16::from_le_bytes),
            Element::I32 => self.numbers(bytes, i32::from_le_bytes),
            Element::I64 => self.numbers(bytes, i64::from_le_bytes),
            Element::F16 => self.numbers(bytes, |bytes| Float(f16::from_le_bytes(bytes).to_f32())),
            Element::F32 => self.numbers(bytes, |bytes| Float(f32::from_le_bytes(bytes))),
            Element::F64 => self.numbers(bytes, |bytes| Float(f64::from_le_bytes(bytes))),
            // Bytes are written unchanged, also in texts.
            _ => self.bytes(bytes),
        }
    }

    fn numbers<const N: usize, T: Display>(&mut self, bytes: &[u8], number: fn([u8; N]) -> T) -> Result<()> {
        for (k, bytes) in bytes.as_chunks::<N>().0.iter().enumerate() {
            let space = if k > 0 { " " } else { "" };
            write!(self.to, "{space}{}", number(*bytes))?;
        }
        if !bytes.is_empty() {
            self.to.write_all(b"\n")?;
        }
        Ok(())
    }

    fn line<T: Display>(&mut self, values: &[T]) -> Result<()> {
        for (k, value) in values.iter().enumerate() {
            let space = if k > 0 { " " } else { "" };
            write!(self.to, "{space}{value}")?;
        }
        if !values.is_empty() {
            self.to.write_all(b"\n")?;
        }
        Ok(())
    }
}

#[cold]
fn too_many(what: &str) -> Error {
    Error::unsupported(format_args!("Torch7 files have at most 2^31 - 1 {what}"))
}

/// Returns the number of a key that is a whole number from 1 on, if the number would be read back as the same key.
fn number(key: &str) -> Option<f64> {
    let number: u64 = key.parse().ok()?;
    ((1..=1 << 49).contains(&number) && key == number.to_string()).then_some(number as f64)
}

/// Prints a float with the fewest digits that identify it. Torch7 writes 9 or 17 digits. It reads through C's `scanf`, which accepts
/// exponents, `nan` and `inf`.
struct Float<T>(T);

impl<T: Display + std::fmt::Debug + Copy + Into<f64>> Display for Float<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value: f64 = self.0.into();
        if value.is_nan() {
            f.write_str("nan")
        } else if value == value.trunc() && value.abs() < 1e7 && (value != 0.0 || value.is_sign_positive()) {
            write!(f, "{}", value as i64)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}
