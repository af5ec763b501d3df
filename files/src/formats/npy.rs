//! NumPy's `.npy`: a magic number, a header that is the text of a Python dictionary, and the elements.
//!
//! Source: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>. An array in Fortran order is read as a column-major
//! tensor, without moving elements. The format has neither names nor metadata. Writing omits both.

use super::python::{Lexer, Token};
use crate::contents::Contents;
use crate::element::{Element, Written};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow;
use crate::input::{Cursor, Input};
use crate::save::{Output, Save};
use crate::tensor::{Data, MAX_DIMS, Tensor, column_major_strides, count, row_major_strides};
use std::io::Write;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The elements begin at a multiple of this many bytes.
pub const ALIGN: usize = 64;

/// The length limit of a header, in bytes. Headers of version 1.0 have at most 65535 bytes. Later versions exist for structures of many
/// fields.
const LONGEST: u64 = 1 << 18;

pub fn recognises(head: &[u8], _: u64) -> bool {
    head.starts_with(MAGIC)
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let mut cursor = Cursor::new(input, 0, u64::MAX);
    let array = Array::read(&mut |to| cursor.read(to), 0)?;
    let mut contents = Contents::new(Format::Npy);
    let data = match array.numbers()? {
        Err(Other { why, size: None }) => Data::Refused(why),
        Err(Other { why, size: Some(size) }) => contents.add_opaque(array.bytes(size)?, size, array.start, why)?,
        Ok((len, written, big_endian)) => Data::Storage(contents.add_numbers(len, array.start, written, big_endian)?),
    };
    let tensor = array.tensor(String::new(), data)?;
    grow::push(&mut contents.tensors, tensor)?;
    Ok(contents)
}

/// The header of an array.
pub struct Array {
    descr: Descr,
    fortran: bool,
    sizes: Vec<i64>,
    /// The number of bytes before the elements.
    pub start: u64,
}

/// Elements of a type that is not supported.
pub struct Other {
    /// The reason why the elements cannot be read.
    pub why: String,
    /// The size of an element in bytes. `None` if the type does not determine the size, and for objects of Python, which are in a pickle.
    pub size: Option<u64>,
}

/// The value of `descr`.
enum Descr {
    /// The name of a type, such as `<f4`.
    Type(Vec<u8>),
    /// A list of fields.
    Fields,
}

impl Array {
    /// Reads the magic number and the header. `next` fills its argument with the next bytes. `at` is the offset of the first byte, for
    /// errors.
    pub fn read(next: &mut dyn FnMut(&mut [u8]) -> Result<()>, at: u64) -> Result<Array> {
        let mut head = [0; 8];
        next(&mut head)?;
        if !head.starts_with(MAGIC) {
            return Err(Error::format(at, format_args!("an array of NumPy is expected")));
        }
        let [.., major, minor] = head;
        let mut len = [0; 4];
        let wide = match (major, minor) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            _ => return Err(Error::format(at.saturating_add(6), format_args!("version {major}.{minor} is unknown"))),
        };
        next(&mut len[..wide])?;
        let len = u64::from(u32::from_le_bytes(len));
        if len > LONGEST {
            return Err(Error::format(at.saturating_add(8), format_args!("a header of {len} bytes is longer than {LONGEST}")));
        }
        let start = 8 + wide as u64;
        let mut text = grow::zeros(len as usize)?;
        next(&mut text)?;
        let mut array = Array { descr: Descr::Fields, fortran: false, sizes: Vec::new(), start: start + len };
        array.parse(&mut Lexer::new(&text, at.saturating_add(start)))?;
        Ok(array)
    }

    /// Reads the dictionary, which must have exactly the three keys.
    fn parse(&mut self, lexer: &mut Lexer<'_>) -> Result<()> {
        const KEYS: [&[u8]; 3] = [b"descr", b"fortran_order", b"shape"];
        let mut seen = [false; 3];
        lexer.expect(b'{')?;
        loop {
            let key = match lexer.next()? {
                Token::Mark(b'}') => break,
                Token::Text(key) => KEYS.iter().position(|&known| known == key),
                token => return Err(lexer.error(format_args!("a key is expected, and there is {token}"))),
            };
            let Some(key) = key.filter(|&key| !seen[key]) else {
                return Err(lexer.error(format_args!("a key of the header is unknown or duplicated")));
            };
            seen[key] = true;
            lexer.expect(b':')?;
            match key {
                0 => self.descr = descr(lexer)?,
                1 => self.fortran = order(lexer)?,
                _ => self.sizes = sizes(lexer)?,
            }
            match lexer.next()? {
                Token::Mark(b',') => {}
                Token::Mark(b'}') => break,
                token => return Err(lexer.error(format_args!("a comma or the end is expected, and there is {token}"))),
            }
        }
        if let Some(missing) = seen.iter().position(|&seen| !seen) {
            return Err(lexer.error(format_args!("the header has no {}", KEYS[missing].escape_ascii())));
        }
        match lexer.next()? {
            Token::End => Ok(()),
            token => Err(lexer.error(format_args!("the end of the header is expected, and there is {token}"))),
        }
    }

    /// Returns the number of elements, the type of the numbers, and true if the most significant byte comes first. The inner result is an
    /// error if the type is not supported.
    pub fn numbers(&self) -> Result<std::result::Result<(u64, Written, bool), Other>> {
        let len = count(&self.sizes)?;
        let Descr::Type(name) = &self.descr else {
            return Ok(Err(Other { why: "its elements are structures".to_owned(), size: None }));
        };
        let (big_endian, kind) = match name.split_first() {
            Some((b'>', kind)) => (true, kind),
            Some((b'<' | b'|' | b'=', kind)) => (false, kind),
            _ => (false, &name[..]),
        };
        if let Some(written) = written(kind) {
            return Ok(Ok((len, written, big_endian)));
        }
        let what = match kind {
            [b'c', ..] => "complex numbers",
            [b'O', ..] => "objects of Python, in a pickle",
            [b'S' | b'U' | b'a', ..] => "texts",
            [b'M' | b'm', ..] => "times",
            [b'V', ..] => "bytes of an unknown type",
            b"u8" => "unsigned integers of 64 bits",
            b"f16" | b"f12" => "floats of more than 64 bits",
            _ => "of an unknown type",
        };
        // A size in bytes follows the letter. For `U` it is the number of characters, of four bytes each. For times a unit follows.
        let digits = kind.get(1..).and_then(|rest| std::str::from_utf8(rest).ok()).unwrap_or("");
        let size = digits.split('[').next().and_then(|digits| digits.parse::<u64>().ok()).filter(|&size| size > 0);
        let size = match kind.first() {
            Some(b'O') => None,
            Some(b'U') => size.and_then(|letters| letters.checked_mul(4)),
            _ => size,
        };
        let name = &name[..name.len().min(32)];
        Ok(Err(Other { why: format!("its elements are {what} ({})", name.escape_ascii()), size }))
    }

    /// Returns the size in bytes of all elements, which have `size` bytes each.
    pub fn bytes(&self, size: u64) -> Result<u64> {
        let bytes = count(&self.sizes)?.checked_mul(size);
        bytes.ok_or_else(|| Error::broken(format_args!("sizes {:?} of {size} bytes are more than 2^64 bytes", self.sizes)))
    }

    /// Returns the array as a tensor.
    pub fn tensor(self, name: String, data: Data) -> Result<Tensor> {
        let strides = if self.fortran { column_major_strides(&self.sizes)? } else { row_major_strides(&self.sizes)? };
        Ok(Tensor { name, sizes: self.sizes, strides, offset: 0, data })
    }
}

/// The names of the types, without the mark of the byte order.
const TYPES: [(&str, Written); 11] = [
    ("b1", Written::Same(Element::Bool)),
    ("u1", Written::Same(Element::U8)),
    ("i1", Written::Same(Element::I8)),
    ("i2", Written::Same(Element::I16)),
    ("i4", Written::Same(Element::I32)),
    ("i8", Written::Same(Element::I64)),
    ("f2", Written::Same(Element::F16)),
    ("f4", Written::Same(Element::F32)),
    ("f8", Written::Same(Element::F64)),
    ("u2", Written::U16),
    ("u4", Written::U32),
];

/// Returns the type with this name, without the mark of the byte order.
pub fn written(name: &[u8]) -> Option<Written> {
    TYPES.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, written)| *written)
}

/// Reads the type of the elements. A list or tuple of fields is skipped.
fn descr(lexer: &mut Lexer<'_>) -> Result<Descr> {
    match lexer.next()? {
        Token::Text(name) => Ok(Descr::Type(grow::copy(name)?)),
        Token::Mark(b'[' | b'(') => lexer.close().map(|()| Descr::Fields),
        token => Err(lexer.error(format_args!("a type is expected, and there is {token}"))),
    }
}

fn order(lexer: &mut Lexer<'_>) -> Result<bool> {
    match lexer.next()? {
        Token::Word(b"True") | Token::Number(1) => Ok(true),
        Token::Word(b"False") | Token::Number(0) => Ok(false),
        token => Err(lexer.error(format_args!("True or False is expected, and there is {token}"))),
    }
}

fn sizes(lexer: &mut Lexer<'_>) -> Result<Vec<i64>> {
    let mut sizes = Vec::new();
    lexer.expect(b'(')?;
    loop {
        match lexer.next()? {
            Token::Number(size) if sizes.len() < MAX_DIMS => grow::push(&mut sizes, size)?,
            Token::Number(_) => return Err(lexer.error(format_args!("there are more than {MAX_DIMS} dimensions"))),
            Token::Mark(b')') => return Ok(sizes),
            token => return Err(lexer.error(format_args!("a size is expected, and there is {token}"))),
        }
        match lexer.next()? {
            Token::Mark(b',') => {}
            Token::Mark(b')') => return Ok(sizes),
            token => return Err(lexer.error(format_args!("a comma is expected, and there is {token}"))),
        }
    }
}

pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let tensor = what.only();
    to.write_all(&header(what, tensor)?)?;
    Ok(to.write_all(what.bytes(tensor)?)?)
}

/// Returns the magic number and the header of a row-major tensor.
pub fn header(what: &Save<'_>, tensor: &Tensor) -> Result<Vec<u8>> {
    header_of(&descr_of(what, tensor)?, &tensor.sizes)
}

/// Returns the name of a tensor's type.
pub fn descr_of(what: &Save<'_>, tensor: &Tensor) -> Result<String> {
    let element = what.storage(tensor)?.0;
    let Some((kind, _)) = TYPES.iter().find(|(_, written)| *written == Written::Same(element)) else {
        return Err(Error::unsupported(format_args!("tensor '{}': NumPy has no {}", tensor.name, element.name())));
    };
    Ok(format!("{}{kind}", if element.size() == 1 { '|' } else { '<' }))
}

/// Returns the magic number and the header of a row-major array.
pub fn header_of(descr: &str, sizes: &[i64]) -> Result<Vec<u8>> {
    let mut shape = sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    if sizes.len() == 1 {
        shape.push(',');
    }
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = |start: usize| (start + text.len() + 1).next_multiple_of(ALIGN) - start - 1;
    let (version, start) = if padded(10) < 0xffff { (1, 10) } else { (2, 12) };
    let len = padded(start);
    text.extend(std::iter::repeat_n(' ', len - text.len()));
    let mut header = Vec::with_capacity(start + len + 1);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&[version, 0]);
    header.extend_from_slice(&((len + 1) as u32).to_le_bytes()[..start - 8]);
    header.write_all(text.as_bytes())?;
    header.push(b'\n');
    Ok(header)
}
