//! Tensors and storages in pickles, where they are calls of functions.

use crate::budget::Budget;
use crate::contents::{Contents, Storage};
use crate::element::{Element, Written};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::formats::npy;
use crate::grow;
use crate::input::Input;
use crate::pickle::{Object, Pickle, Value};
use crate::tensor::{Data, MAX_DIMS, Opaque, column_major_strides, count};
use crate::zip::Entry;
use std::collections::HashMap;

/// A tensor without a name. Without strides, it is row-major.
pub struct Found {
    pub sizes: Vec<i64>,
    pub strides: Option<Vec<i64>>,
    pub offset: i64,
    pub data: Data,
}

/// The type of numbers for a type of PyTorch.
#[derive(Clone, Copy)]
pub enum Number {
    /// A supported type.
    Read(Written),
    /// A type that is not supported: its name, and the size of an element in bytes.
    Refused(&'static str, u64),
}

/// The types of PyTorch.
#[rustfmt::skip]
const TYPES: [(&str, &str, Number); 32] = [
    // The class of storages without `Storage`, the dtype, and the type of numbers.
    ("Float", "float32", Number::Read(Written::Same(Element::F32))),
    ("Double", "float64", Number::Read(Written::Same(Element::F64))),
    ("Half", "float16", Number::Read(Written::Same(Element::F16))),
    ("BFloat16", "bfloat16", Number::Read(Written::Same(Element::BF16))),
    ("Long", "int64", Number::Read(Written::Same(Element::I64))),
    ("Int", "int32", Number::Read(Written::Same(Element::I32))),
    ("Short", "int16", Number::Read(Written::Same(Element::I16))),
    ("Char", "int8", Number::Read(Written::Same(Element::I8))),
    ("Byte", "uint8", Number::Read(Written::Same(Element::U8))),
    ("Bool", "bool", Number::Read(Written::Same(Element::Bool))),
    ("Untyped", "", Number::Read(Written::Same(Element::U8))),
    ("", "uint16", Number::Read(Written::U16)),
    ("", "uint32", Number::Read(Written::U32)),
    ("", "uint64", Number::Refused("uint64", 8)),
    ("ComplexFloat", "complex64", Number::Refused("complex64", 8)),
    ("ComplexDouble", "complex128", Number::Refused("complex128", 16)),
    ("", "complex32", Number::Refused("complex32", 4)),
    ("QInt8", "qint8", Number::Refused("qint8", 1)),
    ("QUInt8", "quint8", Number::Refused("quint8", 1)),
    ("QInt32", "qint32", Number::Refused("qint32", 4)),
    ("QUInt4x2", "quint4x2", Number::Refused("quint4x2", 1)),
    ("QUInt2x4", "quint2x4", Number::Refused("quint2x4", 1)),
    ("", "float8_e5m2", Number::Refused("float8_e5m2", 1)),
    ("", "float8_e4m3fn", Number::Refused("float8_e4m3fn", 1)),
    ("", "float8_e5m2fnuz", Number::Refused("float8_e5m2fnuz", 1)),
    ("", "float8_e4m3fnuz", Number::Refused("float8_e4m3fnuz", 1)),
    ("", "float8_e8m0fnu", Number::Refused("float8_e8m0fnu", 1)),
    ("", "float4_e2m1fn_x2", Number::Refused("float4_e2m1fn_x2", 1)),
    ("", "bits8", Number::Refused("bits8", 1)),
    ("", "bits16", Number::Refused("bits16", 2)),
    ("", "bcomplex32", Number::Refused("bcomplex32", 4)),
    ("Typed", "", Number::Refused("unknown", 1)),
];

/// Returns the type with a name such as `FloatStorage` or `float32`.
pub fn dtype(name: &[u8]) -> Option<Number> {
    let class = name.strip_suffix(b"Storage");
    let is = |row: &&(&str, &str, Number)| match class {
        Some(class) => !class.is_empty() && row.0.as_bytes() == class,
        None => !name.is_empty() && row.1.as_bytes() == name,
    };
    TYPES.iter().find(is).map(|row| row.2)
}

/// Returns the type with this number in the schema of exported programs.
pub fn dtype_of_schema(number: i64) -> Option<Number> {
    dtype(match number {
        1 => b"uint8",
        2 => b"int8",
        3 => b"int16",
        4 => b"int32",
        5 => b"int64",
        6 => b"float16",
        7 => b"float32",
        8 => b"float64",
        9 => b"complex32",
        10 => b"complex64",
        11 => b"complex128",
        12 => b"bool",
        13 => b"bfloat16",
        28 => b"uint16",
        29 => b"float8_e4m3fn",
        30 => b"float8_e5m2",
        31 => b"float8_e4m3fnuz",
        32 => b"float8_e5m2fnuz",
        33 => b"float8_e8m0fnu",
        34 => b"uint32",
        35 => b"uint64",
        _ => return None,
    })
}

/// Returns the elements of a storage. `refused` is the name of a type that is not supported, whose elements have `size` bytes.
pub fn elements(storage: usize, size: u64, refused: Option<&str>) -> Data {
    match refused {
        None => Data::Storage(storage),
        Some(name) => Data::Opaque(Opaque { storage, size, why: format!("there are no elements of the type {name}") }),
    }
}

/// Returns the class of storages with this type of elements, without `Storage`.
pub fn storage_class(element: Element) -> &'static str {
    TYPES.iter().find(|row| matches!(row.2, Number::Read(Written::Same(other)) if other == element)).map_or("", |row| row.0)
}

/// The places of elements: the storages by their keys, and the pickle, which has the elements of arrays.
pub struct Storages<'a> {
    /// The storages in the file, sorted by name.
    entries: Vec<Entry>,
    /// The prefix of the names. A key follows.
    root: String,
    big_endian: bool,
    /// The bytes from which the pickle was read.
    source: &'a dyn Input,
    /// True if `source` is the file.
    in_file: bool,
    /// The indices of storages in [`Contents`], by the entry, the type of the elements and the size of a number.
    known: HashMap<(usize, Element, usize), usize>,
}

/// A result, or the reason why the elements of a tensor cannot be read.
type Known<T> = std::result::Result<T, String>;

impl<'a> Storages<'a> {
    /// Returns the storages for entries that are sorted by name.
    pub fn new(entries: Vec<Entry>, root: String, big_endian: bool, source: &'a dyn Input, in_file: bool) -> Storages<'a> {
        Storages { entries, root, big_endian, source, in_file, known: HashMap::new() }
    }

    /// Returns the tensor that a call returns; `None` if the call returns no tensor.
    pub fn tensor(&mut self, pickle: &Pickle, object: Object, to: &mut Contents, budget: &mut Budget) -> Result<Option<Found>> {
        self.made(pickle, object, to, budget, true)
    }

    /// [`Storages::tensor`] with a choice: the parts of a sparse tensor must not be sparse.
    pub(super) fn made(
        &mut self,
        pickle: &Pickle,
        object: Object,
        to: &mut Contents,
        budget: &mut Budget,
        may_be_sparse: bool,
    ) -> Result<Option<Found>> {
        let (mut class, mut args, mut state) = (object.class, object.args, object.state);
        // An argument may be the call that returns the tensor. Real files have at most two levels.
        for _ in 0..8 {
            let Value::Global(global) = class else { return Ok(None) };
            let (module, name) = pickle.global(global);
            let list = pickle.items(args);
            let arg = |index: usize| list.get(index).copied().unwrap_or(Value::None);
            let inner = match (module, name) {
                (b"torch._utils", b"_rebuild_tensor" | b"_rebuild_tensor_v2") => {
                    return self.strided(pickle, [arg(0), arg(1), arg(2), arg(3)], [Value::None, arg(6)], to, budget).map(Some);
                }
                (b"torch._utils", b"_rebuild_tensor_v3") => {
                    return self.strided(pickle, [arg(0), arg(1), arg(2), arg(3)], [arg(6), arg(7)], to, budget).map(Some);
                }
                (b"torch._tensor" | b"torch.tensor", b"_rebuild_from_type_v2" | b"_rebuild_from_type") => {
                    (class, args, state) = (arg(0), arg(2), Value::None);
                    continue;
                }
                (b"torch._utils", b"_rebuild_sparse_tensor" | b"_rebuild_sparse_csr_tensor") if may_be_sparse => {
                    return self.sparse(pickle, [arg(0), arg(1)], to, budget).map(Some);
                }
                (b"torch._utils", name) if name.starts_with(b"_rebuild_") && !WRAPPERS.contains(&name) => {
                    return refused(pickle, name, list).map(Some);
                }
                (b"torch._utils", name) if WRAPPERS.contains(&name) => arg(0),
                (b"torch.nn.parameter" | b"torch.autograd.variable", b"Parameter" | b"Buffer" | b"Variable") => arg(0),
                (b"numpy.core.multiarray" | b"numpy._core.multiarray", b"_reconstruct") => {
                    let fields = pickle.items(state);
                    let Some(&[shape, dtype, order, bytes]) = fields.last_chunk::<4>() else { return Ok(None) };
                    return self.array(pickle, [shape, dtype, bytes], order == Value::Bool(true), to, budget).map(Some);
                }
                (b"numpy.core.numeric" | b"numpy._core.numeric", b"_frombuffer") => {
                    let columns = pickle.is_text(arg(3), b"F");
                    return self.array(pickle, [arg(2), arg(1), arg(0)], columns, to, budget).map(Some);
                }
                _ => return Ok(None),
            };
            let Some(object) = pickle.object(inner) else { return Ok(None) };
            (class, args, state) = (object.class, object.args, object.state);
        }
        Ok(None)
    }

    /// Returns the tensor with the arguments `[storage, offset, sizes, strides]` and `[type, bits]`.
    fn strided(&mut self, pickle: &Pickle, args: [Value; 4], more: [Value; 2], to: &mut Contents, budget: &mut Budget) -> Result<Found> {
        let ([storage, offset, sizes, strides], [dtype, bits]) = (args, more);
        let (Some(sizes), Some(strides), Value::Int(offset)) = (numbers(pickle, sizes)?, numbers(pickle, strides)?, offset) else {
            return Ok(no_tensor("its sizes, strides and offset are not integers".to_owned(), Vec::new()));
        };
        let set = pickle.pairs(bits).iter().take(8).find(|&&(_, value)| value == Value::Bool(true));
        if let Some(&(Value::Text(bit), _)) = set {
            return Ok(no_tensor(format!("its bit '{}' is set", String::from_utf8_lossy(pickle.text(bit))), sizes));
        }
        match self.storage(pickle, storage, dtype, to, budget)? {
            Ok((data, start)) => {
                let offset = offset.checked_add(start).unwrap_or(i64::MIN);
                Ok(Found { sizes, strides: Some(strides), offset, data })
            }
            Err(why) => Ok(no_tensor(why, sizes)),
        }
    }

    /// Returns a storage as a tensor of one dimension; `None` if the value is no storage.
    pub fn alone(&mut self, pickle: &Pickle, value: Value, to: &mut Contents, budget: &mut Budget) -> Result<Option<Found>> {
        let Some(id) = pickle.persistent(value) else { return Ok(None) };
        let [tag, _, _, _, Value::Int(len), ref rest @ ..] = *pickle.items(id) else { return Ok(None) };
        let len = match *rest.first().map_or(&[][..], |&part| pickle.items(part)) {
            [_, _, Value::Int(part)] => part,
            _ => len,
        };
        if !pickle.is_text(tag, b"storage") {
            return Ok(None);
        }
        let sizes = grow::copy(&[len])?;
        Ok(Some(match self.storage(pickle, value, Value::None, to, budget)? {
            Ok((data, offset)) => Found { sizes, strides: None, offset, data },
            Err(why) => no_tensor(why, sizes),
        }))
    }

    /// Returns the storage to which a value refers, and the index at which the view of the storage begins.
    fn storage(
        &mut self,
        pickle: &Pickle,
        value: Value,
        number: Value,
        to: &mut Contents,
        budget: &mut Budget,
    ) -> Result<Known<(Data, i64)>> {
        let id = pickle.persistent(value).unwrap_or(Value::None);
        let [tag, class, Value::Text(key), _, Value::Int(len), ref rest @ ..] = *pickle.items(id) else {
            return Ok(Err("it has no storage in this file".to_owned()));
        };
        let Value::Global(class) = (if number == Value::None { class } else { number }) else {
            return Ok(Err("the type of its storage is unknown".to_owned()));
        };
        let name = pickle.global(class).1;
        // Elements of an unsupported type are available as bytes.
        let (written, size, refused) = match dtype(name) {
            Some(Number::Read(written)) if pickle.is_text(tag, b"storage") => (written, written.size() as u64, None),
            Some(Number::Refused(name, size)) => (Written::Same(Element::U8), size, Some(name)),
            _ => return Ok(Err(format!("there are no elements of the type {}", String::from_utf8_lossy(name)))),
        };
        // In old files, a storage can be a view of another: the key of the view, its first index, and its size.
        let start = match *rest {
            [view @ Value::Tuple(_)] => match *pickle.items(view) {
                [_, Value::Int(start), Value::Int(_)] => start,
                _ => return Ok(Err("its storage is an unknown part of another".to_owned())),
            },
            _ => 0,
        };
        let key = pickle.text(key);
        if key.len() > LONGEST_KEY {
            return Ok(Err(format!("its storage has a key of {} bytes", key.len())));
        }
        let key = format!("{}{}", self.root, String::from_utf8_lossy(key));
        let Ok(entry) = self.entries.binary_search_by(|entry| entry.name.cmp(&key)) else {
            return Ok(Err(format!("its storage '{key}' is not in the file")));
        };
        let found = |storage| elements(storage, size, refused);
        let place = (entry, written.element(), written.size());
        if let Some(&index) = self.known.get(&place) {
            return Ok(Ok((found(index), start)));
        }
        let entry = &self.entries[entry];
        let bytes = entry.size - entry.size % written.size() as u64;
        if number == Value::None && u64::try_from(len).ok().is_none_or(|len| len > bytes / size) {
            return Err(Error::format(entry.at, format_args!("storage '{key}' has {bytes} bytes, too few for {len} elements")));
        }
        let encoding = match entry.encoding(0, bytes, written, self.big_endian) {
            Ok(encoding) => encoding,
            Err(error) => return Ok(Err(error.message)),
        };
        // Growing lists and tables are in memory two or three times for a moment.
        budget.take(3 * (size_of::<Storage>() + size_of::<((usize, Element, usize), usize)>()))?;
        let index = to.add_storage(written.element(), bytes / written.size() as u64, encoding)?;
        self.known.try_reserve(1).map_err(|_| Error::memory(64))?;
        self.known.insert(place, index);
        Ok(Ok((found(index), start)))
    }

    /// Returns the array of NumPy with the arguments `[shape, dtype, bytes]`. `columns` is true for a column-major array.
    fn array(&self, pickle: &Pickle, args: [Value; 3], columns: bool, to: &mut Contents, budget: &mut Budget) -> Result<Found> {
        let [shape, dtype, bytes] = args;
        let Some(sizes) = numbers(pickle, shape)? else {
            return Ok(no_tensor("its sizes are not integers".to_owned(), Vec::new()));
        };
        let (written, big_endian) = match numpy_type(pickle, dtype) {
            Ok(found) => found,
            Err(why) => return Ok(no_tensor(why, sizes)),
        };
        let len = count(&sizes)?;
        let expected = len.saturating_mul(written.size() as u64);
        let encoding = match bytes {
            Value::Bytes { at, len } if self.in_file && u64::from(len) == expected => Encoding::Numbers { at, written, big_endian },
            _ => {
                budget.take(usize::try_from(expected.saturating_mul(3)).unwrap_or(usize::MAX))?;
                let Some(bytes) = self.bytes(pickle, bytes, expected)? else {
                    return Ok(no_tensor("its sizes and its bytes disagree".to_owned(), sizes));
                };
                let numbers = Encoding::Numbers { at: 0, written, big_endian };
                let mut elements = grow::zeros(len as usize * written.element().size())?;
                numbers.read(&bytes, &mut elements)?;
                Encoding::Bytes(elements)
            }
        };
        let strides = if columns { Some(column_major_strides(&sizes)?) } else { None };
        budget.take(3 * size_of::<Storage>())?;
        let index = to.add_storage(written.element(), len, encoding)?;
        Ok(Found { sizes, strides, offset: 0, data: Data::Storage(index) })
    }

    /// Returns bytes of a pickle, which can be encoded as a text of Latin-1; `None` if their number differs from `expected`.
    fn bytes(&self, pickle: &Pickle, value: Value, expected: u64) -> Result<Option<Vec<u8>>> {
        if let Value::Bytes { at, len } = value {
            if u64::from(len) != expected {
                return Ok(None);
            }
            let mut bytes = grow::zeros(len as usize)?;
            self.source.read_at(at, &mut bytes)?;
            return Ok(Some(bytes));
        }
        let Some(Object { class: Value::Global(class), args, .. }) = pickle.object(value) else { return Ok(None) };
        // Empty bytes are pickled as the call `bytes()`.
        if matches!(pickle.global(class), (b"__builtin__" | b"builtins", b"bytes")) && pickle.items(args).is_empty() && expected == 0 {
            return Ok(Some(Vec::new()));
        }
        let &[Value::Text(text), _] = pickle.items(args) else { return Ok(None) };
        let text = pickle.text(text);
        // A character of Latin-1 has one or two bytes in UTF-8.
        if pickle.global(class) != (b"_codecs", b"encode") || text.len() as u64 > expected.saturating_mul(2) {
            return Ok(None);
        }
        let mut bytes = grow::list(text.len())?;
        for letter in std::str::from_utf8(text).unwrap_or_default().chars() {
            let Ok(byte) = u8::try_from(u32::from(letter)) else { return Ok(None) };
            bytes.push(byte);
        }
        Ok((bytes.len() as u64 == expected).then_some(bytes))
    }

    /// Returns the text of a NumPy scalar, whose arguments are a type and bytes.
    pub fn scalar(&self, pickle: &Pickle, object: Object) -> Option<String> {
        let &[dtype, bytes] = pickle.items(object.args) else { return None };
        let (name, big_endian) = numpy_name(pickle, dtype)?;
        // Unsigned integers have a text without a type of elements. That includes uint64.
        let (size, element) = match npy::written(name) {
            Some(Written::Same(element)) => (element.size(), Some(element)),
            Some(written) => (written.size(), None),
            None if name == b"u8" => (8, None),
            None => return None,
        };
        let bytes = self.bytes(pickle, bytes, size as u64).ok()??;
        let mut number = [0; 8];
        let used = number.get_mut(..size)?;
        used.copy_from_slice(&bytes);
        if big_endian {
            used.reverse();
        }
        let word = u64::from_le_bytes(number);
        Some(match element {
            Some(Element::Bool) => (word != 0).to_string(),
            None | Some(Element::U8) => word.to_string(),
            Some(Element::I8) => (word as i8).to_string(),
            Some(Element::I16) => (word as i16).to_string(),
            Some(Element::I32) => (word as i32).to_string(),
            Some(Element::I64) => (word as i64).to_string(),
            Some(Element::F16) => half::f16::from_bits(word as u16).to_string(),
            Some(Element::BF16) => half::bf16::from_bits(word as u16).to_string(),
            Some(Element::F32) => format!("{:?}", f32::from_bits(word as u32)),
            Some(Element::F64) => format!("{:?}", f64::from_bits(word)),
        })
    }
}

/// The length limit of a storage's key, in bytes. Real keys are decimal numbers.
const LONGEST_KEY: usize = 256;

/// Functions whose first argument is the tensor.
const WRAPPERS: [&[u8]; 5] = [
    b"_rebuild_parameter",
    b"_rebuild_parameter_with_state",
    b"_rebuild_device_tensor_from_numpy",
    b"_rebuild_device_tensor_from_cpu_tensor",
    b"_rebuild_xla_tensor",
];

/// Returns a tensor whose elements cannot be read.
pub(super) fn no_tensor(why: String, sizes: Vec<i64>) -> Found {
    Found { sizes, strides: None, offset: 0, data: Data::Refused(why) }
}

/// Returns a tensor of an unsupported kind, with the sizes if the arguments contain sizes.
fn refused(pickle: &Pickle, function: &[u8], args: &[Value]) -> Result<Found> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(Value::None);
    let (why, sizes) = match function {
        b"_rebuild_qtensor" => ("it is quantised", arg(2)),
        b"_rebuild_sparse_tensor" | b"_rebuild_sparse_csr_tensor" => ("it is sparse", Value::None),
        b"_rebuild_nested_tensor" => ("it is nested", Value::None),
        b"_rebuild_meta_tensor_no_storage" => ("it is on the device meta, where tensors have no elements", arg(1)),
        b"_rebuild_wrapper_subclass" => ("its class has no elements", arg(2)),
        _ => ("it is of an unknown kind", Value::None),
    };
    let why = if why == "it is of an unknown kind" { format!("{why}, {}", String::from_utf8_lossy(function)) } else { why.to_owned() };
    Ok(no_tensor(why, numbers(pickle, sizes)?.unwrap_or_default()))
}

/// Returns the integers of a list, a tuple or a `torch.Size`; `None` for other values and for more than [`MAX_DIMS`] integers.
pub(super) fn numbers(pickle: &Pickle, value: Value) -> Result<Option<Vec<i64>>> {
    let value = match pickle.object(value) {
        Some(object) => pickle.items(object.args).first().copied().unwrap_or(Value::None),
        None => value,
    };
    let items = pickle.items(value);
    if !matches!(value, Value::List(_) | Value::Tuple(_)) || items.len() > MAX_DIMS {
        return Ok(None);
    }
    let mut list = grow::list(items.len())?;
    for &item in items {
        match item {
            Value::Int(number) => list.push(number),
            _ => return Ok(None),
        }
    }
    Ok(Some(list))
}

/// Returns the name of a `numpy.dtype`, and true if the most significant byte comes first.
fn numpy_name(pickle: &Pickle, value: Value) -> Option<(&[u8], bool)> {
    let object = pickle.object(value)?;
    let &Value::Text(name) = pickle.items(object.args).first()? else { return None };
    let big_endian = pickle.items(object.state).get(1).is_some_and(|&order| pickle.is_text(order, b">"));
    Some((pickle.text(name), big_endian))
}

/// Returns the type of numbers of a `numpy.dtype`, and true if the most significant byte comes first.
fn numpy_type(pickle: &Pickle, value: Value) -> Known<(Written, bool)> {
    let (name, big_endian) = numpy_name(pickle, value).ok_or("its type is unknown")?;
    let written = npy::written(name);
    let unknown = || format!("there are no elements of NumPy's type {}", String::from_utf8_lossy(name));
    written.map(|written| (written, big_endian)).ok_or_else(unknown)
}
