//! Reading a file of Torch7: a single walk over the values. The path to a value is the keys of the enclosing tables.
//!
//! An object of an unknown class is read as the table of its fields. The name of the class is the metadata `__typename` in that table. A
//! second reference to a tensor adds a tensor with another name. A second reference to a table adds one line of metadata, which contains
//! the first path. If the key of an entry is an object with the index 7, the path of the key is `[key 7]`, and the path of the value is
//! `[7]`. The code of functions is skipped, but their captured variables are read.

use super::class::{BOOLEAN, Class, FUNCTION, FUNCTIONS, NIL, NUMBER, OBJECT, STRING, TABLE, TYPENAME};
use super::source::{Source, Variant};
use crate::contents::{Contents, Storage};
use crate::element::Element;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::grow::{self, Room};
use crate::input::Input;
use crate::tensor::{Data, MAX_DIMS, Tensor, count};
use std::collections::HashMap;
use std::fmt;

/// The length limits of a key and of a path, in bytes.
const LONGEST_KEY: u64 = 64 << 10;
const LONGEST_PATH: usize = 1 << 20;

/// The number of entries above which a table's numbers, strings and booleans are only counted.
const MANY: u64 = 10_000;

pub fn read(input: &dyn Input, variant: Variant) -> Result<Contents> {
    let mut walk = Walk {
        source: Source::new(input, variant),
        contents: Contents::new(variant.format()),
        objects: HashMap::new(),
        places: Vec::new(),
        frames: Vec::new(),
        path: String::new(),
        room: Room::of(input.size()),
    };
    walk.value()?;
    while walk.entry()? {}
    if variant == (Variant::Binary { long: 4 }) && walk.source.cursor.left() > 0 {
        return Err(walk
            .source
            .cursor
            .error(format_args!("the value ends here, {} bytes before the end of the file", walk.source.cursor.left())));
    }
    Ok(walk.contents)
}

/// An object to which later values may refer.
#[derive(Clone, Copy)]
enum Object {
    /// The tensor with this index in the contents.
    Tensor(usize),
    /// The storage with this index in the contents.
    Storage(usize),
    /// A table or an object of an unknown class, with the index of its place.
    Table(usize),
    Function,
}

/// The place of a table: the index of the enclosing table's place, and the end of the path within the enclosing table.
struct Place {
    around: Option<usize>,
    end: String,
}

/// A table whose entries are being read.
struct Frame {
    /// The number of entries that are left.
    left: u64,
    /// The length of the path to the table.
    base: usize,
    place: usize,
    keys: Keys,
    /// The index of the object that is the key of the next value.
    key: Option<i32>,
    /// True if numbers, strings and booleans in the table are only counted.
    many: bool,
}

/// The source of a table's keys.
#[derive(Clone, Copy)]
enum Keys {
    File,
    /// The keys are consecutive numbers from this one on.
    Counted(u64),
}

struct Walk<'a> {
    source: Source<'a>,
    contents: Contents,
    objects: HashMap<i32, Object>,
    places: Vec<Place>,
    frames: Vec<Frame>,
    /// The path to the value that is read.
    path: String,
    room: Room,
}

impl Walk<'_> {
    /// Takes memory from the limit.
    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.room.take(bytes, self.source.cursor.at())
    }

    /// Reads the next entry of the innermost table. Returns false at the end.
    fn entry(&mut self) -> Result<bool> {
        let Some(frame) = self.frames.last_mut() else { return Ok(false) };
        self.path.truncate(frame.base);
        if let Some(index) = frame.key.take() {
            self.push(format_args!("[{index}]"))?;
            return self.value().map(|()| true);
        }
        if frame.left == 0 {
            self.frames.pop();
            return Ok(true);
        }
        frame.left -= 1;
        if let Keys::Counted(next) = frame.keys {
            frame.keys = Keys::Counted(next + 1);
            self.push(format_args!("{next}"))?;
        } else if !self.key()? {
            return Ok(true);
        }
        self.value().map(|()| true)
    }

    /// Reads a key and appends it to the path. Returns false if the key is an object, whose contents precede the value.
    fn key(&mut self) -> Result<bool> {
        let at = self.source.cursor.at();
        match self.source.int()? {
            NUMBER => {
                let number = self.source.double()?;
                self.push(format_args!("{}", Number(number)))?;
            }
            STRING => {
                let len = self.source.length()?;
                if len > LONGEST_KEY {
                    return Err(Error::format(at, format_args!("a key has {len} bytes, {LONGEST_KEY} at most are read")));
                }
                let bytes = self.source.bytes(len)?;
                self.push(format_args!("{}", String::from_utf8_lossy(&bytes)))?;
            }
            BOOLEAN => {
                let value = self.source.int()? == 1;
                self.push(format_args!("{value}"))?;
            }
            code @ (TABLE | OBJECT | 7 | 8) => {
                let index = self.source.int()?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.key = Some(index);
                }
                self.push(format_args!("[key {index}]"))?;
                if !self.objects.contains_key(&index) && self.object(code, index)? {
                    self.value()?;
                }
                return Ok(false);
            }
            code => return Err(Error::format(at, format_args!("a key has the type {code}"))),
        }
        Ok(true)
    }

    /// Appends a key to the path.
    fn push(&mut self, key: fmt::Arguments<'_>) -> Result<()> {
        let dot = if self.path.is_empty() { "" } else { "." };
        grow::write(&mut self.path, format_args!("{dot}{key}"))?;
        if self.path.len() > LONGEST_PATH {
            return Err(self.source.cursor.error(format_args!("the path to a value has more than {LONGEST_PATH} bytes")));
        }
        Ok(())
    }

    /// Reads a value, except for the entries of a table.
    fn value(&mut self) -> Result<()> {
        while self.part()? {}
        Ok(())
    }

    /// Reads the beginning of a value. Returns true if the rest is another value, such as the fields of an object.
    fn part(&mut self) -> Result<bool> {
        let at = self.source.cursor.at();
        match self.source.int()? {
            NIL => {}
            NUMBER => {
                let number = self.source.double()?;
                self.scalar(format_args!("{}", Number(number)))?;
            }
            BOOLEAN => {
                let value = self.source.int()? == 1;
                self.scalar(format_args!("{value}"))?;
            }
            STRING => self.string()?,
            FUNCTION => return self.function(),
            code if code == TABLE || code == OBJECT || FUNCTIONS.contains(&code) => {
                let index = self.source.int()?;
                match self.objects.get(&index) {
                    Some(&object) => self.again(object)?,
                    None => return self.object(code, index),
                }
            }
            code => return Err(Error::format(at, format_args!("there is no type {code} of values"))),
        }
        Ok(false)
    }

    /// Skips the code of a function. Its captured variables follow as a value.
    fn function(&mut self) -> Result<bool> {
        let len = self.source.length()?;
        self.source.skip(len)?;
        Ok(true)
    }

    /// Reads a new object after its index. Returns true if a value follows.
    fn object(&mut self, code: i32, index: i32) -> Result<bool> {
        match code {
            TABLE => {
                let place = self.place(index)?;
                let entries = self.source.length()?;
                self.table(place, entries, Keys::File)?;
                Ok(false)
            }
            OBJECT => self.class(index),
            _ => {
                self.register(index, Object::Function)?;
                self.function()
            }
        }
    }

    fn register(&mut self, index: i32, object: Object) -> Result<()> {
        self.charge(6 * size_of::<(i32, Object)>())?;
        self.objects.try_reserve(1).map_err(|_| Error::memory(size_of::<(i32, Object)>() as u64))?;
        self.objects.insert(index, object);
        Ok(())
    }

    /// Registers a table, or an object that is read as a table. Returns the index of its place.
    fn place(&mut self, index: i32) -> Result<usize> {
        let (around, base) = self.frames.last().map_or((None, 0), |frame| (Some(frame.place), frame.base));
        let end = grow::text(&[self.path.get(base..).unwrap_or("")])?;
        self.charge(3 * size_of::<Place>() + end.len())?;
        grow::push(&mut self.places, Place { around, end })?;
        self.register(index, Object::Table(self.places.len() - 1))?;
        Ok(self.places.len() - 1)
    }

    /// Begins a table.
    fn table(&mut self, place: usize, entries: u64, keys: Keys) -> Result<()> {
        let many = entries > MANY;
        if many {
            self.add(format_args!("{entries} entries"), "")?;
        }
        self.charge(3 * size_of::<Frame>())?;
        grow::push(&mut self.frames, Frame { left: entries, base: self.path.len(), place, keys, key: None, many })
    }

    /// Reads an object of a class.
    fn class(&mut self, index: i32) -> Result<bool> {
        let mut name = self.class_name()?;
        if name.starts_with("V ") {
            name = self.class_name()?;
        }
        match Class::of(&name, self.source.variant) {
            Some(Class::Tensor(element)) => self.tensor(index, element)?,
            Some(Class::Storage(element)) => {
                let storage = self.storage(index, element)?;
                self.storage_as_tensor(storage)?;
            }
            Some(class) => {
                let place = self.place(index)?;
                let entries = self.source.length()?;
                let at = self.source.cursor.at();
                if self.source.int()? != NIL {
                    return Err(Error::format(at, format_args!("a {name} has a custom allocator")));
                }
                let keys = if matches!(class, Class::Vec) { Keys::Counted(1) } else { Keys::File };
                self.table(place, entries, keys)?;
            }
            None => {
                self.place(index)?;
                self.add(format_args!("{name}"), TYPENAME)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn class_name(&mut self) -> Result<String> {
        let at = self.source.cursor.at();
        let len = self.source.length()?;
        let bytes = if len <= 256 { self.source.bytes(len)? } else { Vec::new() };
        match std::str::from_utf8(&bytes) {
            Ok(name) if len <= 256 => grow::text(&[name]),
            _ => Err(Error::format(at, format_args!("the name of a class is expected, of at most 256 bytes"))),
        }
    }

    fn tensor(&mut self, index: i32, element: Element) -> Result<()> {
        let at = self.source.cursor.at();
        let dims = self.source.length()? as usize;
        if dims > MAX_DIMS {
            return Err(Error::format(at, format_args!("a tensor has {dims} dimensions, {MAX_DIMS} at most are read")));
        }
        self.charge(3 * size_of::<Tensor>() + 32 * dims)?;
        let (mut sizes, mut strides) = (self.source.longs(dims)?, self.source.longs(dims)?);
        let first = self.source.long()?;
        if dims == 0 {
            // In Torch7, a tensor without dimensions has no elements.
            sizes = grow::copy(&[0])?;
            strides = grow::copy(&[1])?;
        }
        let empty = count(&sizes)? == 0;
        let storage = match self.storage_of_tensor(element)? {
            Some(storage) => storage,
            None if empty => self.add_storage(element, 0, Encoding::Bytes(Vec::new()))?,
            None => return Err(Error::format(at, format_args!("a tensor of sizes {sizes:?} has no storage"))),
        };
        // Offsets begin at 1.
        let offset = if empty { 0 } else { first.checked_sub(1).unwrap_or(-1) };
        let name = self.name()?;
        let tensor = Tensor { name, sizes, strides, offset, data: Data::Storage(storage) };
        grow::push(&mut self.contents.tensors, tensor)?;
        self.register(index, Object::Tensor(self.contents.tensors.len() - 1))
    }

    /// Reads the storage of a tensor, or a reference to an earlier storage.
    fn storage_of_tensor(&mut self, element: Element) -> Result<Option<usize>> {
        let at = self.source.cursor.at();
        let wrong =
            |what: fmt::Arguments<'_>| Err(Error::format(at, format_args!("the storage of a tensor is expected, and {what} is there")));
        match self.source.int()? {
            NIL => return Ok(None),
            OBJECT => {}
            code => return wrong(format_args!("a value of type {code}")),
        }
        let index = self.source.int()?;
        let storage = match self.objects.get(&index) {
            Some(Object::Storage(storage)) => *storage,
            Some(_) => return wrong(format_args!("object {index}, which is no storage,")),
            None => {
                let mut name = self.class_name()?;
                if name.starts_with("V ") {
                    name = self.class_name()?;
                }
                match Class::of(&name, self.source.variant) {
                    Some(Class::Storage(element)) => self.storage(index, element)?,
                    _ => return wrong(format_args!("a {name}")),
                }
            }
        };
        match self.contents.storages.get(storage) {
            Some(found) if found.element == element => Ok(Some(storage)),
            _ => wrong(format_args!("one of another type")),
        }
    }

    /// Reads the elements of a storage.
    fn storage(&mut self, index: i32, element: Element) -> Result<usize> {
        let at = self.source.cursor.at();
        let len = self.source.long()?;
        let len = u64::try_from(len).map_err(|_| Error::format(at, format_args!("a storage has {len} elements")))?;
        let encoding = self.source.elements(len, element)?;
        if let Encoding::Bytes(bytes) = &encoding {
            self.charge(bytes.len())?;
        }
        let storage = self.add_storage(element, len, encoding)?;
        self.register(index, Object::Storage(storage))?;
        Ok(storage)
    }

    fn add_storage(&mut self, element: Element, len: u64, encoding: Encoding) -> Result<usize> {
        self.charge(3 * size_of::<Storage>())?;
        self.contents.add_storage(element, len, encoding)
    }

    /// Adds a tensor for a storage that belongs to no tensor.
    fn storage_as_tensor(&mut self, storage: usize) -> Result<()> {
        let len = self.contents.storages.get(storage).map_or(0, |storage| storage.len);
        self.charge(3 * size_of::<Tensor>() + 32)?;
        let sizes = grow::copy(&[i64::try_from(len).unwrap_or(i64::MAX)])?;
        let name = self.name()?;
        grow::push(&mut self.contents.tensors, Tensor::row_major(name, sizes, storage)?)
    }

    /// Adds another name for an object. A table is not read again, because a chain of n tables can refer to one table 2^n times.
    fn again(&mut self, object: Object) -> Result<()> {
        match object {
            Object::Function => Ok(()),
            Object::Storage(storage) => self.storage_as_tensor(storage),
            Object::Tensor(tensor) => {
                let Some(tensor) = self.contents.tensors.get(tensor) else { return Ok(()) };
                let (sizes, strides) = (grow::copy(&tensor.sizes)?, grow::copy(&tensor.strides)?);
                let (offset, data) = (tensor.offset, tensor.data.clone());
                self.charge(3 * size_of::<Tensor>() + 16 * sizes.len())?;
                let name = self.name()?;
                grow::push(&mut self.contents.tensors, Tensor { name, sizes, strides, offset, data })
            }
            Object::Table(place) => {
                let mut ends = Vec::new();
                let mut at = Some(place);
                while let Some(place) = at.and_then(|at| self.places.get(at)) {
                    // The memory of `ends` is not charged, because it is freed before the next value.
                    grow::push(&mut ends, place.end.as_str())?;
                    at = place.around;
                }
                ends.reverse();
                let path = grow::text(&ends)?;
                self.charge(ends.len())?;
                self.add(format_args!("the same as '{path}'"), "")
            }
        }
    }

    /// Returns the path as the name of a tensor.
    fn name(&mut self) -> Result<String> {
        self.charge(self.path.len())?;
        grow::text(&[&self.path])
    }

    fn scalar(&mut self, value: fmt::Arguments<'_>) -> Result<()> {
        if self.frames.last().is_some_and(|frame| frame.many) { Ok(()) } else { self.add(value, "") }
    }

    fn string(&mut self) -> Result<()> {
        let len = self.source.length()?;
        if self.frames.last().is_some_and(|frame| frame.many) {
            return self.source.skip(len);
        }
        let bytes = self.source.bytes(len)?;
        let text = grow::utf8(bytes)?;
        self.add(format_args!("{text}"), "")
    }

    /// Adds metadata. Its key is the path, or `key` within the table at the path.
    fn add(&mut self, value: fmt::Arguments<'_>, key: &str) -> Result<()> {
        let key = if key.is_empty() { self.name()? } else { grow::joined(&self.path, key)? };
        let mut text = String::new();
        grow::write(&mut text, value)?;
        self.charge(3 * size_of::<(String, String)>() + key.len() + 2 * text.len())?;
        self.contents.add_metadata(key, text)
    }
}

/// Prints a number as Lua does: whole numbers have no point.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0;
        if number == number.trunc() && number.abs() < 1e15 {
            write!(f, "{}", number as i64)
        } else if number.is_nan() {
            f.write_str("nan")
        } else {
            write!(f, "{number:?}")
        }
    }
}
