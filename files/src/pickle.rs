//! Pickles of Python, protocols 0 to 5: a machine that builds values and executes no code.
//!
//! Source: the comments of `Lib/pickletools.py` in CPython. Classes and functions are read as names. A call is read as an [`Object`] with
//! its arguments. Values refer to the lists of a [`Pickle`] by index, so that cyclic and deep values need no special treatment.

use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::grow;
use crate::input::Cursor;
use std::fmt::Arguments;

/// A value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits.
    Big(u32),
    Float(f64),
    Text(Span),
    /// A range of bytes in the input.
    Bytes {
        at: u64,
        len: u32,
    },
    /// A class or function: its module and its name.
    Global(u32),
    List(u32),
    Tuple(u32),
    Set(u32),
    Dict(u32),
    Object(u32),
    /// An object outside the pickle, which this value identifies.
    Persistent(u32),
}

/// A range of [`Pickle::texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    at: u32,
    len: u32,
}

/// The result of a call.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    /// The class or function that was called.
    pub class: Value,
    /// The arguments.
    pub args: Value,
    /// The state that the pickle sets; `None` if it sets none.
    pub state: Value,
    /// The list of items that the pickle appends; `None` if it appends none.
    pub items: Value,
    /// The dict of keys and values that the pickle sets; `None` if it sets none.
    pub pairs: Value,
}

/// The objects that values refer to.
#[derive(Debug, Default)]
pub struct Pickle {
    texts: Vec<u8>,
    bigs: Vec<i128>,
    globals: Vec<(Span, Span)>,
    lists: Vec<Vec<Value>>,
    dicts: Vec<Vec<(Value, Value)>>,
    objects: Vec<Object>,
    persistent: Vec<Value>,
}

impl Pickle {
    /// Returns a text. It is UTF-8 unless the writer violated the format.
    pub fn text(&self, span: Span) -> &[u8] {
        self.texts.get(span.at as usize..).and_then(|texts| texts.get(..span.len as usize)).unwrap_or_default()
    }

    /// Returns true if a value is this text.
    pub fn is_text(&self, value: Value, text: &[u8]) -> bool {
        matches!(value, Value::Text(span) if self.text(span) == text)
    }

    /// Returns the module and the name of a class or function.
    pub fn global(&self, index: u32) -> (&[u8], &[u8]) {
        self.globals.get(index as usize).map_or((b"", b""), |&(module, name)| (self.text(module), self.text(name)))
    }

    pub fn big(&self, index: u32) -> i128 {
        self.bigs.get(index as usize).copied().unwrap_or_default()
    }

    /// Returns the items of a list, tuple or set; none for other values.
    pub fn items(&self, value: Value) -> &[Value] {
        match value {
            Value::List(index) | Value::Tuple(index) | Value::Set(index) => self.lists.get(index as usize).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// Returns the keys and values of a dict; none for other values.
    pub fn pairs(&self, value: Value) -> &[(Value, Value)] {
        match value {
            Value::Dict(index) => self.dicts.get(index as usize).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    pub fn object(&self, value: Value) -> Option<Object> {
        match value {
            Value::Object(index) => self.objects.get(index as usize).copied(),
            _ => None,
        }
    }

    /// Returns the value that identifies a persistent object.
    pub fn persistent(&self, value: Value) -> Option<Value> {
        match value {
            Value::Persistent(index) => self.persistent.get(index as usize).copied(),
            _ => None,
        }
    }

    /// Returns the values that identify persistent objects, in the order of the pickle.
    pub fn all_persistent(&self) -> &[Value] {
        &self.persistent
    }

    /// Returns the numbers of lists, dicts and objects.
    pub fn counts(&self) -> [usize; 3] {
        [self.lists.len(), self.dicts.len(), self.objects.len()]
    }
}

/// Runs one pickle. Returns the value that the pickle builds, and the objects to which the value refers.
pub fn load(cursor: &mut Cursor<'_>, budget: &mut Budget) -> Result<(Pickle, Value)> {
    let mut machine = Machine { cursor, budget, pickle: Pickle::default(), stack: Vec::new(), marks: Vec::new(), memo: Vec::new() };
    loop {
        let op = machine.cursor.u8()?;
        if op == b'.' {
            let value = machine.pop()?;
            return Ok((machine.pickle, value));
        }
        machine.step(op)?;
    }
}

struct Machine<'m, 'a> {
    cursor: &'m mut Cursor<'a>,
    budget: &'m mut Budget,
    pickle: Pickle,
    stack: Vec<Value>,
    /// The length of the stack at each mark.
    marks: Vec<usize>,
    memo: Vec<Option<Value>>,
}

impl Machine<'_, '_> {
    /// Returns an error at the byte after the operation.
    #[cold]
    fn error<T>(&self, what: Arguments<'_>) -> Result<T> {
        Err(self.cursor.error(what))
    }

    fn push(&mut self, value: Value) -> Result<()> {
        self.budget.push(&mut self.stack, value)
    }

    fn pop(&mut self) -> Result<Value> {
        match self.stack.pop() {
            Some(value) if self.marks.last().is_none_or(|&mark| mark <= self.stack.len()) => Ok(value),
            _ => self.error(format_args!("the pickle pops a value from an empty stack")),
        }
    }

    /// Removes and returns the values above the last mark.
    fn pop_mark(&mut self) -> Result<Vec<Value>> {
        let Some(mark) = self.marks.pop() else { return self.error(format_args!("the pickle pops a mark, and there is none")) };
        let values = self.stack.get(mark..).unwrap_or_default();
        self.budget.take(size_of_val(values))?;
        let values = grow::copy(values)?;
        self.stack.truncate(mark);
        Ok(values)
    }

    /// Returns a list, tuple or set of the values above the last mark.
    fn marked(&mut self, kind: fn(u32) -> Value) -> Result<Value> {
        let items = self.pop_mark()?;
        self.list(items).map(kind)
    }

    /// Calls `take` with the values above the last mark, and removes the values.
    fn with_marked(&mut self, take: impl FnOnce(&mut Self, &[Value]) -> Result<()>) -> Result<()> {
        let items = self.pop_mark()?;
        take(self, &items)?;
        self.budget.give(size_of_val(items.as_slice()));
        Ok(())
    }

    /// Runs one operation. `pickletools` documents the letters and numbers.
    fn step(&mut self, op: u8) -> Result<()> {
        let value = match op {
            b'N' => Value::None,
            0x88 | 0x89 => Value::Bool(op == 0x88),
            b'K' => Value::Int(self.cursor.u8()?.into()),
            b'M' => Value::Int(self.cursor.u16()?.into()),
            b'J' => Value::Int(self.cursor.i32()?.into()),
            b'G' => Value::Float(f64::from_bits(self.cursor.u64()?.swap_bytes())),
            0x8a => self.long(1)?,
            0x8b => self.long(4)?,
            b'I' | b'L' | b'F' => self.decimal(op)?,
            // Texts and bytes.
            b'U' | 0x8c => self.text(1)?,
            b'T' | b'X' => self.text(4)?,
            0x8d => self.text(8)?,
            b'S' | b'V' => self.escaped(op)?,
            b'C' => self.bytes(1)?,
            b'B' => self.bytes(4)?,
            0x8e | 0x96 => self.bytes(8)?,
            // Empty containers, containers of the values above a mark, and tuples of one to three values.
            b']' => self.list(Vec::new()).map(Value::List)?,
            b')' => self.list(Vec::new()).map(Value::Tuple)?,
            0x8f => self.list(Vec::new()).map(Value::Set)?,
            b'}' => self.dict(Vec::new())?,
            b'l' => self.marked(Value::List)?,
            b't' => self.marked(Value::Tuple)?,
            0x91 => self.marked(Value::Set)?,
            b'd' => {
                let items = self.pop_mark()?;
                let dict = self.dict(Vec::new())?;
                self.set_items(dict, &items)?;
                dict
            }
            0x85..=0x87 => self.short_tuple(usize::from(op - 0x84))?,
            // Classes, calls, persistent objects, and values of the memo.
            b'c' => self.global()?,
            0x93 => match (self.pop()?, self.pop()?) {
                (Value::Text(name), Value::Text(module)) => self.add_global(module, name)?,
                _ => return self.error(format_args!("the name of a class is not a text")),
            },
            b'R' | 0x81 | 0x92 | b'i' | b'o' => self.call(op)?,
            b'P' | b'Q' => self.persistent(op)?,
            b'g' | b'h' | b'j' => self.get(op)?,
            _ => return self.change(op),
        };
        self.push(value)
    }

    /// Runs an operation that pushes no new value.
    fn change(&mut self, op: u8) -> Result<()> {
        match op {
            // The protocol, and the length of a frame.
            0x80 => match self.cursor.u8()? {
                0..=5 => Ok(()),
                protocol => self.error(format_args!("pickles of protocol {protocol} are unknown")),
            },
            0x95 => self.cursor.skip(8),
            b'(' => self.budget.push(&mut self.marks, self.stack.len()),
            b'0' => match self.marks.last() {
                Some(&mark) if mark == self.stack.len() => self.pop_mark().map(drop),
                _ => self.pop().map(drop),
            },
            b'1' => self.pop_mark().map(drop),
            b'2' => self.top().and_then(|value| self.push(value)),
            b'p' | b'q' | b'r' | 0x94 => self.put(op),
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])
            }
            b'e' | 0x90 => self.with_marked(Self::append),
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                let dict = self.top()?;
                self.set_items(dict, &[key, value])
            }
            b'u' => self.with_marked(|machine, items| machine.set_items(machine.top()?, items)),
            // The state of an object.
            b'b' => {
                let state = self.pop()?;
                if let Value::Object(index) = self.top()?
                    && let Some(object) = self.pickle.objects.get_mut(index as usize)
                {
                    object.state = state;
                }
                Ok(())
            }
            // Makes the buffer on the stack read-only.
            0x98 => Ok(()),
            // Registered classes, and buffers outside the pickle.
            0x82..=0x84 | 0x97 => Err(Error::unsupported(format_args!(
                "byte {}: the pickle refers to data outside the file",
                self.cursor.at().saturating_sub(1)
            ))),
            _ => Err(Error::format(self.cursor.at().saturating_sub(1), format_args!("pickles have no operation {op:#04x}"))),
        }
    }

    fn top(&self) -> Result<Value> {
        match self.stack.last() {
            Some(&value) => Ok(value),
            None => self.error(format_args!("the pickle pops a value from an empty stack")),
        }
    }

    /// Reads the index in the memo, in the form of the operation `op`.
    fn id(&mut self, op: u8) -> Result<u64> {
        match op {
            b'h' | b'q' => self.count(1),
            b'j' | b'r' => self.count(4),
            0x94 => Ok(self.memo.len() as u64),
            _ => match self.decimal(b'L')? {
                Value::Int(number) if number >= 0 => Ok(number as u64),
                _ => self.error(format_args!("a number in decimals is expected")),
            },
        }
    }

    fn get(&mut self, op: u8) -> Result<Value> {
        let id = self.id(op)?;
        match usize::try_from(id).ok().and_then(|id| self.memo.get(id)) {
            Some(&Some(value)) => Ok(value),
            _ => self.error(format_args!("the memo of the pickle has no value {id}")),
        }
    }

    fn put(&mut self, op: u8) -> Result<()> {
        let id = self.id(op)?;
        let value = self.top()?;
        if id > self.cursor.at() {
            return self.error(format_args!("the pickle puts a value into the memo at {id}, beyond the number of its bytes"));
        }
        let id = id as usize;
        while self.memo.len() <= id {
            self.budget.push(&mut self.memo, None)?;
        }
        self.memo[id] = Some(value);
        Ok(())
    }

    /// Reads an integer after its length, which has `width` bytes. Integers of more than 128 bits become `None`.
    fn long(&mut self, width: u8) -> Result<Value> {
        let len = self.count(width)?;
        if len > 16 {
            self.cursor.skip(len)?;
            return Ok(Value::None);
        }
        let mut bytes = [0; 16];
        let used = &mut bytes[..len as usize];
        self.cursor.read(used)?;
        if used.last().is_some_and(|&byte| byte >= 0x80) {
            bytes[len as usize..].fill(0xff);
        }
        self.integer(i128::from_le_bytes(bytes))
    }

    fn integer(&mut self, number: i128) -> Result<Value> {
        if let Ok(number) = i64::try_from(number) {
            return Ok(Value::Int(number));
        }
        self.budget.push(&mut self.pickle.bigs, number)?;
        Ok(Value::Big(self.pickle.bigs.len() as u32 - 1))
    }

    /// Reads a decimal number. `01` is true, and `00` is false.
    fn decimal(&mut self, op: u8) -> Result<Value> {
        let line = self.line()?;
        let text = std::str::from_utf8(self.pickle.text(line)).unwrap_or_default();
        let value = match (op, text) {
            (b'I', "00" | "01") => Some(Value::Bool(text == "01")),
            (b'F', _) => text.parse().ok().map(Value::Float),
            _ => match text.strip_suffix('L').unwrap_or(text).parse::<i128>() {
                Ok(number) => Some(self.integer(number)?),
                Err(_) => None,
            },
        };
        value.map_or_else(|| self.error(format_args!("a number in decimals is expected")), Ok)
    }

    /// Reads a count of 1, 4 or 8 bytes.
    fn count(&mut self, width: u8) -> Result<u64> {
        match width {
            1 => self.cursor.u8().map(u64::from),
            4 => self.cursor.u32().map(u64::from),
            _ => self.cursor.u64(),
        }
    }

    /// Reads a text after its length, which has `width` bytes.
    fn text(&mut self, width: u8) -> Result<Value> {
        let len = self.count(width)?;
        if len > self.cursor.left() {
            return self.error(format_args!("the file ends early: a text of {len} bytes is expected, {} are left", self.cursor.left()));
        }
        let (at, len) = (self.pickle.texts.len(), len as usize);
        self.budget.reserve(&mut self.pickle.texts, len)?;
        self.pickle.texts.resize(at + len, 0);
        self.cursor.read(&mut self.pickle.texts[at..])?;
        self.since(at).map(Value::Text)
    }

    /// Returns the text from the index `at` to the end of all texts.
    fn since(&self, at: usize) -> Result<Span> {
        match (u32::try_from(at), u32::try_from(self.pickle.texts.len() - at)) {
            (Ok(at), Ok(len)) => Ok(Span { at, len }),
            _ => Err(Error::unsupported(format_args!("a pickle with more than 4 GB of texts"))),
        }
    }

    /// Reads the rest of the line without its end.
    fn line(&mut self) -> Result<Span> {
        let at = self.pickle.texts.len();
        loop {
            match self.cursor.u8()? {
                b'\n' => return self.since(at),
                byte => self.budget.push(&mut self.pickle.texts, byte)?,
            }
        }
    }

    /// Reads a text that is a line with escapes, in quotes (`S`) or without quotes (`V`).
    fn escaped(&mut self, op: u8) -> Result<Value> {
        let line = self.line()?;
        let text = grow::copy(self.pickle.text(line))?;
        self.pickle.texts.truncate(line.at as usize);
        let mut rest = match text.as_slice() {
            [_, quoted @ .., _] if op == b'S' => quoted,
            all => all,
        };
        while let Some((&byte, after)) = rest.split_first() {
            let (letter, used) = if byte == b'\\' { escape(after, op == b'S') } else { (byte as char, 0) };
            let mut utf8 = [0; 4];
            let bytes = letter.encode_utf8(&mut utf8).as_bytes();
            bytes.iter().try_for_each(|&byte| self.budget.push(&mut self.pickle.texts, byte))?;
            rest = after.get(used..).unwrap_or_default();
        }
        self.since(line.at as usize).map(Value::Text)
    }

    /// Reads bytes after their length, which has `width` bytes.
    fn bytes(&mut self, width: u8) -> Result<Value> {
        let len = self.count(width)?;
        let at = self.cursor.at();
        self.cursor.skip(len)?;
        match u32::try_from(len) {
            Ok(len) => Ok(Value::Bytes { at, len }),
            Err(_) => Err(Error::unsupported(format_args!("byte {at}: bytes of more than 4 GB in a pickle"))),
        }
    }

    fn list(&mut self, items: Vec<Value>) -> Result<u32> {
        self.budget.push(&mut self.pickle.lists, items)?;
        Ok(self.pickle.lists.len() as u32 - 1)
    }

    fn dict(&mut self, pairs: Vec<(Value, Value)>) -> Result<Value> {
        self.budget.push(&mut self.pickle.dicts, pairs)?;
        Ok(Value::Dict(self.pickle.dicts.len() as u32 - 1))
    }

    fn short_tuple(&mut self, count: usize) -> Result<Value> {
        let mut items = Vec::new();
        for _ in 0..count {
            let item = self.pop()?;
            self.budget.push(&mut items, item)?;
        }
        items.reverse();
        self.list(items).map(Value::Tuple)
    }

    fn global(&mut self) -> Result<Value> {
        let (module, name) = (self.line()?, self.line()?);
        self.add_global(module, name)
    }

    fn add_global(&mut self, module: Span, name: Span) -> Result<Value> {
        self.budget.push(&mut self.pickle.globals, (module, name))?;
        Ok(Value::Global(self.pickle.globals.len() as u32 - 1))
    }

    fn persistent(&mut self, op: u8) -> Result<Value> {
        let id = if op == b'P' { self.line().map(Value::Text)? } else { self.pop()? };
        self.budget.push(&mut self.pickle.persistent, id)?;
        Ok(Value::Persistent(self.pickle.persistent.len() as u32 - 1))
    }

    /// Returns the result of a call.
    fn call(&mut self, op: u8) -> Result<Value> {
        let (class, args, pairs) = match op {
            b'i' => {
                let class = self.global()?;
                let args = self.pop_mark()?;
                (class, self.list(args).map(Value::Tuple)?, Value::None)
            }
            b'o' => {
                let mut args = self.pop_mark()?;
                if args.is_empty() {
                    return self.error(format_args!("the pickle pops a value from an empty stack"));
                }
                let class = args.remove(0);
                (class, self.list(args).map(Value::Tuple)?, Value::None)
            }
            0x92 => {
                let (pairs, args) = (self.pop()?, self.pop()?);
                (self.pop()?, args, pairs)
            }
            _ => {
                let args = self.pop()?;
                (self.pop()?, args, Value::None)
            }
        };
        self.budget.push(&mut self.pickle.objects, Object { class, args, state: Value::None, items: Value::None, pairs })?;
        Ok(Value::Object(self.pickle.objects.len() as u32 - 1))
    }

    /// Appends items to the list, set or object on top of the stack.
    fn append(&mut self, items: &[Value]) -> Result<()> {
        let list = match self.top()? {
            Value::Object(index) => match self.pickle.objects.get(index as usize).map(|object| object.items) {
                Some(Value::List(list)) => list,
                _ => {
                    let list = self.list(Vec::new())?;
                    if let Some(object) = self.pickle.objects.get_mut(index as usize) {
                        object.items = Value::List(list);
                    }
                    list
                }
            },
            Value::List(list) | Value::Set(list) => list,
            _ => return self.error(format_args!("the pickle appends to a value that is no list")),
        };
        let Some(list) = self.pickle.lists.get_mut(list as usize) else { return Ok(()) };
        items.iter().try_for_each(|&item| self.budget.push(list, item))
    }

    /// Sets alternating keys and values of a dict or an object.
    fn set_items(&mut self, dict: Value, items: &[Value]) -> Result<()> {
        let dict = match dict {
            Value::Object(index) => match self.pickle.objects.get(index as usize).map(|object| object.pairs) {
                Some(Value::Dict(dict)) => dict,
                _ => {
                    let pairs = self.dict(Vec::new())?;
                    if let Some(object) = self.pickle.objects.get_mut(index as usize) {
                        object.pairs = pairs;
                    }
                    let Value::Dict(dict) = pairs else { return Ok(()) };
                    dict
                }
            },
            Value::Dict(dict) => dict,
            _ => return self.error(format_args!("the pickle sets keys of a value that is no dict")),
        };
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return self.error(format_args!("the pickle sets a key without a value"));
        }
        let Some(dict) = self.pickle.dicts.get_mut(dict as usize) else { return Ok(()) };
        pairs.iter().try_for_each(|&[key, value]| self.budget.push(dict, (key, value)))
    }
}

/// Returns the character of an escape, and the number of its bytes after the backslash.
fn escape(rest: &[u8], quoted: bool) -> (char, usize) {
    let number = |len: usize| {
        let digits = std::str::from_utf8(rest.get(1..1 + len)?).ok()?;
        Some((u32::from_str_radix(digits, 16).ok().map_or('\u{fffd}', |code| char::from_u32(code).unwrap_or('\u{fffd}')), 1 + len))
    };
    let found = match rest.first() {
        Some(b'u') if !quoted => number(4),
        Some(b'U') if !quoted => number(8),
        Some(b'x') if quoted => number(2),
        Some(b'n') if quoted => Some(('\n', 1)),
        Some(b't') if quoted => Some(('\t', 1)),
        Some(b'r') if quoted => Some(('\r', 1)),
        Some(&byte @ (b'\\' | b'\'' | b'"')) if quoted => Some((byte as char, 1)),
        _ => None,
    };
    found.unwrap_or(('\\', 0))
}
