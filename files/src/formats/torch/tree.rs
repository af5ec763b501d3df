//! The values of a pickle by their paths: tensors, and scalars and texts as metadata.

use super::tensor::{Found, Storages};
use crate::budget::Budget;
use crate::contents::Contents;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow;
use crate::pickle::{Object, Pickle, Value};
use crate::tensor::{Tensor, row_major_strides};
use std::fmt::Write;

/// A walk over the values.
pub struct Tree<'a> {
    contents: Contents,
    pub(super) pickle: Pickle,
    pub(super) storages: Storages<'a>,
    budget: &'a mut Budget,
    /// The path to the value that is visited.
    path: String,
    /// For each list, dict and object, true if it is on the path. Detects cycles.
    inside: [Vec<bool>; 3],
    work: Vec<Work>,
}

/// The number of numbers above which a list becomes one text. Such lists are usually histories.
const LONG: usize = 1000;

/// A pending step of the walk.
enum Work {
    Visit {
        key: Key,
        value: Value,
    },
    /// Ends the visit of a value, and shortens the path to `path` bytes.
    Leave {
        value: Value,
        path: usize,
    },
}

/// The last piece of a path.
#[derive(Clone, Copy)]
enum Key {
    /// Nothing: the value has the path of the value that contains it.
    Same,
    Index(usize),
    Value(Value),
}

impl<'a> Tree<'a> {
    pub fn new(format: Format, pickle: Pickle, storages: Storages<'a>, budget: &'a mut Budget) -> Tree<'a> {
        let inside = [Vec::new(), Vec::new(), Vec::new()];
        Tree { contents: Contents::new(format), pickle, storages, budget, path: String::new(), inside, work: Vec::new() }
    }

    /// Returns the contents of a file whose pickle has the value `root`.
    pub fn read(mut self, root: Value) -> Result<Contents> {
        for (inside, count) in self.inside.iter_mut().zip(self.pickle.counts()) {
            self.budget.reserve(inside, count)?;
            inside.resize(count, false);
        }
        self.later(Key::Same, root)?;
        while let Some(work) = self.work.pop() {
            match work {
                Work::Visit { key, value } => self.visit(key, value)?,
                Work::Leave { value, path } => {
                    self.path.truncate(path);
                    self.mark(value, false);
                }
            }
        }
        Ok(self.contents)
    }

    /// Adds a value to the pending steps.
    fn later(&mut self, key: Key, value: Value) -> Result<()> {
        self.budget.visit()?;
        self.budget.push(&mut self.work, Work::Visit { key, value })
    }

    /// Marks a value as being on the path or not. Returns true if the value was on the path. Values without items are never marked.
    fn mark(&mut self, value: Value, to: bool) -> bool {
        let place = match value {
            Value::List(index) | Value::Tuple(index) | Value::Set(index) => self.inside[0].get_mut(index as usize),
            Value::Dict(index) => self.inside[1].get_mut(index as usize),
            Value::Object(index) => self.inside[2].get_mut(index as usize),
            _ => None,
        };
        place.is_some_and(|place| std::mem::replace(place, to))
    }

    fn visit(&mut self, key: Key, value: Value) -> Result<()> {
        if self.mark(value, true) {
            return Ok(());
        }
        let path = self.path.len();
        self.budget.push(&mut self.work, Work::Leave { value, path })?;
        self.step(key)?;
        let first = self.work.len();
        match value {
            Value::List(_) | Value::Tuple(_) | Value::Set(_) => self.list(value)?,
            Value::Dict(_) => self.dict(value)?,
            Value::Object(_) => {
                if let Some(object) = self.pickle.object(value) {
                    self.object(object)?;
                }
            }
            Value::Persistent(_) => {
                if let Some(found) = self.storages.alone(&self.pickle, value, &mut self.contents, self.budget)? {
                    self.tensor(found)?;
                }
            }
            _ => {
                if let Some(text) = self.scalar(value)? {
                    self.metadata(text)?;
                }
            }
        }
        // The last pending step is the next one.
        self.work[first..].reverse();
        Ok(())
    }

    /// Appends a piece to the path.
    fn step(&mut self, key: Key) -> Result<()> {
        let piece = match key {
            Key::Same => return Ok(()),
            Key::Index(index) => index.to_string(),
            Key::Value(key) => self.scalar(key)?.unwrap_or_else(|| "?".to_owned()),
        };
        self.budget.take(piece.len() + 1)?;
        self.path.try_reserve(piece.len() + 1).map_err(|_| Error::memory(piece.len() as u64))?;
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&piece);
        Ok(())
    }

    fn list(&mut self, list: Value) -> Result<()> {
        let items = self.pickle.items(list);
        let is_number = |item: &Value| matches!(item, Value::Int(_) | Value::Float(_) | Value::Bool(_));
        if items.len() > LONG && items.iter().all(is_number) {
            let mut text = Vec::new();
            for (index, &item) in items.iter().enumerate() {
                let number = self.scalar(item)?.unwrap_or_default();
                let pieces = [if index == 0 { "[" } else { ", " }, number.as_str()];
                pieces.concat().bytes().try_for_each(|byte| self.budget.push(&mut text, byte))?;
            }
            self.budget.push(&mut text, b']')?;
            return self.metadata(String::from_utf8(text).unwrap_or_default());
        }
        for index in 0..self.pickle.items(list).len() {
            let Some(&item) = self.pickle.items(list).get(index) else { break };
            self.later(Key::Index(index), item)?;
        }
        Ok(())
    }

    fn dict(&mut self, dict: Value) -> Result<()> {
        for index in 0..self.pickle.pairs(dict).len() {
            let Some(&(key, value)) = self.pickle.pairs(dict).get(index) else { break };
            self.later(Key::Value(key), value)?;
        }
        Ok(())
    }

    fn object(&mut self, object: Object) -> Result<()> {
        if let Some(found) = self.storages.tensor(&self.pickle, object, &mut self.contents, self.budget)? {
            return self.tensor(found);
        }
        let (module, name) = self.class(object);
        match (module, name) {
            (b"collections", b"OrderedDict" | b"defaultdict" | b"Counter") => {
                for index in 0..self.pickle.items(object.args).len() {
                    let arg = self.pickle.items(object.args).get(index).copied().unwrap_or(Value::None);
                    self.dict(arg)?;
                    self.budget.take(self.pickle.items(arg).len())?;
                    // Old files have a list of pairs.
                    for index in 0..self.pickle.items(arg).len() {
                        let pair = self.pickle.items(arg).get(index).copied().unwrap_or(Value::None);
                        if let [key, value] = *self.pickle.items(pair) {
                            self.later(Key::Value(key), value)?;
                        }
                    }
                }
                self.dict(object.pairs)
            }
            (b"torch", b"Size") | (b"builtins" | b"__builtin__", b"set" | b"frozenset" | b"list" | b"tuple") => {
                match *self.pickle.items(object.args) {
                    [items, ..] => self.list(items),
                    [] => Ok(()),
                }
            }
            (b"torch", b"device") => self.device(object),
            (b"numpy.core.multiarray" | b"numpy._core.multiarray", b"scalar") => match self.storages.scalar(&self.pickle, object) {
                Some(text) => self.metadata(text),
                None => Ok(()),
            },
            (b"_codecs", b"encode") => Ok(()),
            _ => self.opaque(object),
        }
    }

    /// Returns the module and the name of an object's class.
    fn class(&self, object: Object) -> (&[u8], &[u8]) {
        match object.class {
            Value::Global(class) => self.pickle.global(class),
            _ => (b"", b""),
        }
    }

    /// Visits an object of an unknown class: its state, items and keys, or its arguments if it has none of these.
    fn opaque(&mut self, object: Object) -> Result<()> {
        let is_empty = object.items == Value::None && object.pairs == Value::None;
        match object.state {
            Value::None if is_empty => return self.list(object.args),
            Value::None => {}
            Value::Dict(_) => self.state(object.state)?,
            // Attributes, and attributes in slots.
            Value::Tuple(_) if matches!(*self.pickle.items(object.state), [Value::Dict(_) | Value::None, Value::Dict(_)]) => {
                for index in 0..2 {
                    let part = self.pickle.items(object.state).get(index).copied().unwrap_or(Value::None);
                    self.state(part)?;
                }
            }
            state => self.later(Key::Same, state)?,
        }
        self.list(object.items)?;
        self.dict(object.pairs)
    }

    /// Visits attributes. A module's attributes have the names of its `state_dict`: the dicts of parameters, buffers and modules add
    /// nothing to the path.
    fn state(&mut self, state: Value) -> Result<()> {
        // Every key counts, because looking at skipped keys takes time, too.
        self.budget.take(self.pickle.pairs(state).len())?;
        let has = |text: &[u8]| self.pickle.pairs(state).iter().any(|&(key, _)| self.pickle.is_text(key, text));
        if !has(b"_parameters") || !has(b"_modules") {
            return self.dict(state);
        }
        for index in 0..self.pickle.pairs(state).len() {
            let Some(&(key, value)) = self.pickle.pairs(state).get(index) else { break };
            let Value::Text(span) = key else { continue };
            match self.pickle.text(span) {
                b"_parameters" | b"_buffers" | b"_modules" => self.later(Key::Same, value)?,
                // Hooks and other private attributes.
                [b'_', ..] => {}
                _ => self.later(Key::Value(key), value)?,
            }
        }
        Ok(())
    }

    /// Adds a device as metadata, such as `cpu` or `cuda:0`.
    fn device(&mut self, object: Object) -> Result<()> {
        let mut text = String::new();
        for &arg in self.pickle.items(object.args).iter().take(2) {
            let Some(piece) = self.scalar(arg)? else { continue };
            let _ = write!(text, "{}{piece}", if text.is_empty() { "" } else { ":" });
        }
        self.metadata(text)
    }

    /// Returns the text of a scalar; `None` for other values.
    fn scalar(&self, value: Value) -> Result<Option<String>> {
        let lossy = String::from_utf8_lossy;
        Ok(Some(match value {
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Big(index) => self.pickle.big(index).to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(span) => grow::text(&[&lossy(self.pickle.text(span))])?,
            Value::Global(class) => {
                let (module, name) = self.pickle.global(class);
                grow::text(&[&lossy(module), ".", &lossy(name)])?
            }
            _ => return Ok(None),
        }))
    }

    fn metadata(&mut self, value: String) -> Result<()> {
        self.budget.take(2 * size_of::<(String, String)>() + self.path.len() + value.len())?;
        let key = grow::text(&[&self.path])?;
        self.contents.add_metadata(key, value)
    }

    fn tensor(&mut self, found: Found) -> Result<()> {
        let Found { sizes, strides, offset, data } = found;
        self.budget.take(2 * size_of::<Tensor>() + self.path.len() + 2 * size_of_val(sizes.as_slice()))?;
        let strides = match strides {
            Some(strides) => strides,
            None => row_major_strides(&sizes)?,
        };
        if let Some(why) = data.refusal() {
            self.budget.take(why.len())?;
        }
        let name = grow::text(&[&self.path])?;
        grow::push(&mut self.contents.tensors, Tensor { name, sizes, strides, offset, data })
    }
}
