//! GGUF: keys and values, descriptions of tensors, and their elements.
//!
//! Files list the size of the innermost dimension first. Elements begin at the next multiple of the alignment, which is the value of the
//! key `general.alignment`, or 32 by default.
//!
//! Source: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

use crate::contents::{Contents, Storage};
use crate::element::{Element, Written};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow::{self, Room};
use crate::input::{Cursor, Input};
use crate::tensor::{Data, MAX_DIMS, Tensor, count};
use thorn_blocks::Blocks;

pub fn recognises(head: &[u8], _: u64) -> bool {
    head.starts_with(b"GGUF")
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let mut reader = Reader {
        cursor: Cursor::new(input, 4, u64::MAX),
        contents: Contents::new(Format::Gguf),
        room: Room::of(input.size()),
        alignment: 32,
        unknown: Vec::new(),
    };
    match reader.cursor.u32()? {
        2 | 3 => {}
        version if version.swap_bytes() == 3 => return Err(Error::unsupported(format_args!("big-endian files are not read"))),
        version => return Err(Error::unsupported(format_args!("version {version} is not read, only 2 and 3"))),
    }
    let (tensors, keys) = (reader.cursor.u64()?, reader.cursor.u64()?);
    for _ in 0..keys {
        reader.key()?;
    }
    for _ in 0..tensors {
        reader.tensor()?;
    }
    // Offsets are relative to the first element.
    let start = reader.cursor.at().checked_next_multiple_of(reader.alignment);
    let start = start.ok_or_else(|| reader.cursor.error(format_args!("alignment {} is beyond the file", reader.alignment)))?;
    let mut contents = reader.contents;
    let mut starts = grow::list(contents.storages.len() + 1)?;
    for storage in &mut contents.storages {
        if let Encoding::Numbers { at, .. } | Encoding::Blocks { at, .. } = &mut storage.encoding {
            *at = at.checked_add(start).ok_or_else(|| Error::broken(format_args!("elements begin {at} bytes after byte {start}")))?;
            starts.push(*at);
        }
    }
    // The size of elements of an unknown type is not known. Their bytes are assumed to end at the next tensor or at the end of the file.
    starts.push(input.size());
    starts.sort_unstable();
    for index in reader.unknown {
        let storage = &mut contents.storages[index];
        let at = storage.encoding.plain().unwrap_or_default();
        let next = starts.get(starts.partition_point(|&start| start <= at)).copied();
        storage.len = next.unwrap_or(at) - at;
    }
    Ok(contents)
}

/// The types of values.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    String,
    Array,
    U64,
    I64,
    F64,
}

/// The types of values in the order of their numbers, with their names and sizes in bytes. Strings and arrays have the size 0 here.
const KINDS: [(Kind, &str, u64); 13] = [
    (Kind::U8, "uint8", 1),
    (Kind::I8, "int8", 1),
    (Kind::U16, "uint16", 2),
    (Kind::I16, "int16", 2),
    (Kind::U32, "uint32", 4),
    (Kind::I32, "int32", 4),
    (Kind::F32, "float32", 4),
    (Kind::Bool, "bool", 1),
    (Kind::String, "strings", 0),
    (Kind::Array, "arrays", 0),
    (Kind::U64, "uint64", 8),
    (Kind::I64, "int64", 8),
    (Kind::F64, "float64", 8),
];

/// The number of entries above which the entries of an array are not listed.
const MANY: u64 = 64;

struct Reader<'a> {
    cursor: Cursor<'a>,
    contents: Contents,
    room: Room,
    alignment: u64,
    /// The storages whose sizes are not known, because the types of their tensors are unknown.
    unknown: Vec<usize>,
}

impl Reader<'_> {
    fn string(&mut self) -> Result<String> {
        let len = self.cursor.u64()?;
        let bytes = self.cursor.take(len)?;
        self.room.take(bytes.len(), self.cursor.at())?;
        grow::utf8(bytes)
    }

    fn kind(&mut self) -> Result<(Kind, &'static str, u64)> {
        let at = self.cursor.at();
        let code = self.cursor.u32()?;
        let kind = KINDS.get(code as usize).copied();
        kind.ok_or_else(|| Error::format(at, format_args!("there is no type {code} of values")))
    }

    /// Reads a key and its value.
    fn key(&mut self) -> Result<()> {
        let key = self.string()?;
        let (kind, name, _) = self.kind()?;
        let at = self.cursor.at();
        let mut text = String::new();
        match kind {
            Kind::Array => self.array(&mut text)?,
            Kind::String => text = self.string()?,
            _ => self.number(kind, &mut text)?,
        }
        if key == "general.alignment" {
            if kind != Kind::U32 {
                return Err(Error::format(at, format_args!("general.alignment has the type {name} instead of uint32")));
            }
            let alignment = text.parse().ok().filter(|alignment: &u64| alignment.is_power_of_two());
            self.alignment = alignment.ok_or_else(|| Error::format(at, format_args!("the alignment {text} is no power of two")))?;
        }
        self.room.take(3 * size_of::<(String, String)>() + 2 * text.len(), at)?;
        self.contents.add_metadata(key, text)
    }

    fn number(&mut self, kind: Kind, text: &mut String) -> Result<()> {
        let cursor = &mut self.cursor;
        match kind {
            Kind::U8 => grow::write(text, format_args!("{}", cursor.u8()?)),
            Kind::I8 => grow::write(text, format_args!("{}", cursor.u8()? as i8)),
            Kind::U16 => grow::write(text, format_args!("{}", cursor.u16()?)),
            Kind::I16 => grow::write(text, format_args!("{}", cursor.u16()? as i16)),
            Kind::U32 => grow::write(text, format_args!("{}", cursor.u32()?)),
            Kind::I32 => grow::write(text, format_args!("{}", cursor.i32()?)),
            Kind::F32 => grow::write(text, format_args!("{:?}", cursor.f32()?)),
            Kind::Bool => grow::write(text, format_args!("{}", cursor.u8()? != 0)),
            Kind::U64 => grow::write(text, format_args!("{}", cursor.u64()?)),
            Kind::I64 => grow::write(text, format_args!("{}", cursor.i64()?)),
            Kind::F64 => grow::write(text, format_args!("{:?}", cursor.f64()?)),
            Kind::String => {
                let string = self.string()?;
                self.room.take(8 * string.len(), self.cursor.at())?;
                grow::write(text, format_args!("{string:?}"))
            }
            Kind::Array => Ok(()),
        }
    }

    /// Reads an array. A short array becomes a list in brackets, and a long one the number and the type of its entries.
    fn array(&mut self, text: &mut String) -> Result<()> {
        let (kind, name, size) = self.kind()?;
        let entries = self.cursor.u64()?;
        if entries > MANY || kind == Kind::Array {
            grow::write(text, format_args!("{entries} {name}"))?;
            return self.skip(kind, size, entries);
        }
        for k in 0..entries {
            grow::write(text, format_args!("{}", if k == 0 { "[" } else { ", " }))?;
            self.number(kind, text)?;
        }
        grow::write(text, format_args!("{}", if entries == 0 { "[]" } else { "]" }))
    }

    /// Skips the entries of an array, including nested arrays.
    fn skip(&mut self, kind: Kind, size: u64, entries: u64) -> Result<()> {
        let mut open = Vec::new();
        grow::push(&mut open, (kind, size, entries))?;
        while let Some((kind, size, left)) = open.last_mut() {
            if *left == 0 || !matches!(kind, Kind::String | Kind::Array) {
                self.cursor.skip(left.saturating_mul(*size))?;
                open.pop();
                continue;
            }
            *left -= 1;
            if *kind == Kind::String {
                let len = self.cursor.u64()?;
                self.cursor.skip(len)?;
            } else {
                let (kind, _, size) = self.kind()?;
                let entries = self.cursor.u64()?;
                self.room.take(3 * size_of::<(Kind, u64, u64)>(), self.cursor.at())?;
                grow::push(&mut open, (kind, size, entries))?;
            }
        }
        Ok(())
    }

    /// Reads the description of a tensor.
    fn tensor(&mut self) -> Result<()> {
        let name = self.string()?;
        let at = self.cursor.at();
        let dims = self.cursor.u32()? as usize;
        if dims > MAX_DIMS {
            return Err(Error::format(at, format_args!("tensor '{name}' has {dims} dimensions, {MAX_DIMS} at most are read")));
        }
        self.room.take(3 * (size_of::<Tensor>() + size_of::<Storage>()) + 16 * dims, at)?;
        let mut sizes = grow::list(dims)?;
        for _ in 0..dims {
            sizes.push(self.cursor.i64()?);
        }
        sizes.reverse();
        let elements = count(&sizes).map_err(|error| Error::format(at, format_args!("tensor '{name}': {error}")))?;
        let (code, offset) = (self.cursor.u32()?, self.cursor.u64()?);
        let whole = |numbers: u64, type_name: &str| match sizes.last() {
            Some(&size) if (size as u64).is_multiple_of(numbers) => Ok(()),
            _ => Err(Error::format(at, format_args!("tensor '{name}': sizes {sizes:?} do not divide into blocks of {type_name}"))),
        };
        let data = match TYPES.iter().find(|(known, ..)| *known == code) {
            Some((.., Type::Numbers(element))) => {
                Data::Storage(self.contents.add_numbers(elements, offset, Written::Same(*element), false)?)
            }
            Some((_, type_name, Type::Blocks(blocks))) => {
                whole(blocks.count() as u64, type_name)?;
                let encoding = Encoding::Blocks { at: offset, blocks: *blocks };
                Data::Storage(self.contents.add_storage(Element::F32, elements, encoding)?)
            }
            Some((_, type_name, Type::Other { numbers, bytes })) => {
                whole(*numbers, type_name)?;
                let why = format!("elements of the type {type_name} are not decoded");
                self.contents.add_opaque(elements / numbers * bytes, 0, offset, why)?
            }
            None => {
                grow::push(&mut self.unknown, self.contents.storages.len())?;
                self.contents.add_opaque(0, 0, offset, format!("type {code} of elements is unknown"))?
            }
        };
        let tensor = Tensor::row_major(name, sizes, 0)?;
        grow::push(&mut self.contents.tensors, Tensor { data, ..tensor })
    }
}

/// The type of a tensor's elements.
enum Type {
    Numbers(Element),
    Blocks(Blocks),
    /// Blocks that are not decoded, with the numbers of numbers and bytes in a block.
    Other {
        numbers: u64,
        bytes: u64,
    },
}

const fn other(numbers: u64, bytes: u64) -> Type {
    Type::Other { numbers, bytes }
}

/// The types of elements by their numbers.
#[rustfmt::skip]
const TYPES: [(u32, &str, Type); 36] = [
    (0, "F32", Type::Numbers(Element::F32)),
    (1, "F16", Type::Numbers(Element::F16)),
    (24, "I8", Type::Numbers(Element::I8)),
    (25, "I16", Type::Numbers(Element::I16)),
    (26, "I32", Type::Numbers(Element::I32)),
    (27, "I64", Type::Numbers(Element::I64)),
    (28, "F64", Type::Numbers(Element::F64)),
    (30, "BF16", Type::Numbers(Element::BF16)),
    (2, "Q4_0", Type::Blocks(Blocks::Q4_0)),
    (3, "Q4_1", Type::Blocks(Blocks::Q4_1)),
    (6, "Q5_0", Type::Blocks(Blocks::Q5_0)),
    (7, "Q5_1", Type::Blocks(Blocks::Q5_1)),
    (8, "Q8_0", Type::Blocks(Blocks::Q8_0)),
    (10, "Q2_K", Type::Blocks(Blocks::Q2_K)),
    (11, "Q3_K", Type::Blocks(Blocks::Q3_K)),
    (12, "Q4_K", Type::Blocks(Blocks::Q4_K)),
    (13, "Q5_K", Type::Blocks(Blocks::Q5_K)),
    (14, "Q6_K", Type::Blocks(Blocks::Q6_K)),
    (20, "IQ4_NL", Type::Blocks(Blocks::IQ4_NL)),
    (23, "IQ4_XS", Type::Blocks(Blocks::IQ4_XS)),
    (34, "TQ1_0", Type::Blocks(Blocks::TQ1_0)),
    (35, "TQ2_0", Type::Blocks(Blocks::TQ2_0)),
    (39, "MXFP4", Type::Blocks(Blocks::MXFP4)),
    (4, "Q4_2", other(16, 10)), (5, "Q4_3", other(16, 12)), (9, "Q8_1", other(32, 40)), (15, "Q8_K", other(256, 292)),
    (16, "IQ2_XXS", other(256, 66)), (17, "IQ2_XS", other(256, 74)), (18, "IQ3_XXS", other(256, 98)), (19, "IQ1_S", other(256, 50)),
    (21, "IQ3_S", other(256, 110)), (22, "IQ2_S", other(256, 82)), (29, "IQ1_M", other(256, 56)), (40, "NVFP4", other(64, 36)),
    (41, "Q1_0", other(128, 18)),
];
