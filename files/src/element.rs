//! The types of elements, and the types of numbers in files.

use crate::error::Result;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Element {
    Bool,
    U8,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

impl Element {
    /// All types.
    pub const ALL: [Element; 10] = [
        Element::Bool,
        Element::U8,
        Element::I8,
        Element::I16,
        Element::I32,
        Element::I64,
        Element::F16,
        Element::BF16,
        Element::F32,
        Element::F64,
    ];

    /// Returns the size of an element in bytes.
    pub fn size(self) -> usize {
        match self {
            Element::Bool | Element::U8 | Element::I8 => 1,
            Element::I16 | Element::F16 | Element::BF16 => 2,
            Element::I32 | Element::F32 => 4,
            Element::I64 | Element::F64 => 8,
        }
    }

    /// Returns the usual name, such as `float32`, `int64`, `bool`.
    pub fn name(self) -> &'static str {
        match self {
            Element::Bool => "bool",
            Element::U8 => "uint8",
            Element::I8 => "int8",
            Element::I16 => "int16",
            Element::I32 => "int32",
            Element::I64 => "int64",
            Element::F16 => "float16",
            Element::BF16 => "bfloat16",
            Element::F32 => "float32",
            Element::F64 => "float64",
        }
    }
}

/// The type of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The type of the elements.
    Same(Element),
    /// Unsigned integers of two bytes, which are read as int32.
    U16,
    /// Unsigned integers of four bytes, which are read as int64.
    U32,
}

impl Written {
    /// Returns the type of the elements as which the numbers are read.
    pub fn element(self) -> Element {
        match self {
            Written::Same(element) => element,
            Written::U16 => Element::I32,
            Written::U32 => Element::I64,
        }
    }

    /// Returns the size of a number in the file, in bytes.
    pub fn size(self) -> usize {
        match self {
            Written::Same(element) => element.size(),
            Written::U16 => 2,
            Written::U32 => 4,
        }
    }

    /// Fills `to` with elements that are converted from numbers of a file. `read` fills its argument with the bytes of the numbers.
    pub(crate) fn read(self, big_endian: bool, to: &mut [u8], read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        match self {
            Written::Same(element) => {
                read(to)?;
                if big_endian {
                    to.chunks_exact_mut(element.size()).for_each(<[u8]>::reverse);
                }
            }
            Written::U16 | Written::U32 => {
                // The numbers are read into the upper half of `to`, and widened from its beginning on.
                let half = to.len() / 2;
                read(&mut to[half..])?;
                widen(to, self.size(), big_endian);
            }
        }
        Ok(())
    }
}

/// Converts the unsigned numbers in the upper half of `bytes` to little-endian numbers of twice their size, which fill `bytes`.
pub(crate) fn widen(bytes: &mut [u8], size: usize, big_endian: bool) {
    let half = bytes.len() / 2;
    for i in 0..half / size {
        let mut number = [0; 8];
        number[..size].copy_from_slice(&bytes[half + i * size..][..size]);
        if big_endian {
            number[..size].reverse();
        }
        bytes[i * 2 * size..][..2 * size].copy_from_slice(&number[..2 * size]);
    }
}
