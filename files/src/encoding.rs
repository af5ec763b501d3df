//! The forms in which files hold elements, and how elements are read from them.

use crate::deflate::Packed;
use crate::element::Written;
use crate::error::{Error, Result};
use crate::input::{Input, within};
use std::fmt::Debug;
use thorn_blocks::Blocks;

/// The form in which a file holds the elements of a storage.
#[derive(Debug)]
pub enum Encoding {
    /// Consecutive numbers.
    Numbers {
        /// The offset of the first byte.
        at: u64,
        /// The type of the numbers.
        written: Written,
        /// True if the most significant byte comes first.
        big_endian: bool,
    },
    /// Blocks of quantised numbers, which are read as float32.
    Blocks {
        /// The offset of the first byte.
        at: u64,
        /// The structure of the blocks.
        blocks: Blocks,
    },
    /// Consecutive numbers, compressed by deflate.
    Deflated {
        /// The place of the compressed data.
        data: Packed,
        /// The number of decompressed bytes before the first number.
        skip: u64,
        /// The type of the numbers.
        written: Written,
        /// True if the most significant byte comes first.
        big_endian: bool,
    },
    /// A form that only the file's format can decode.
    Format(Box<dyn Decode>),
    /// Bytes in memory, which reading the structure has produced.
    Bytes(Vec<u8>),
}

/// Decodes elements in a form that belongs to one format, such as the pixels of an image or the numbers of a text.
pub trait Decode: Debug + Send + Sync {
    /// Fills `to` with the elements of a storage as they are in memory.
    fn decode(&self, input: &dyn Input, to: &mut [u8]) -> Result<()>;
}

impl Encoding {
    /// Returns the encoding of little-endian numbers, the byte order of this machine.
    pub fn little(at: u64, written: Written) -> Encoding {
        Encoding::Numbers { at, written, big_endian: false }
    }

    /// Returns the offset of elements whose bytes in the file are those in memory; `None` for other elements.
    pub fn plain(&self) -> Option<u64> {
        match *self {
            Encoding::Numbers { at, written: Written::Same(element), big_endian } if !big_endian || element.size() == 1 => Some(at),
            _ => None,
        }
    }

    /// Adds `by` to the offset of the elements, which was an offset in a part of the file.
    pub(crate) fn shift(&mut self, by: u64) -> Result<()> {
        match self {
            Encoding::Numbers { at, .. } | Encoding::Blocks { at, .. } => *at = at.saturating_add(by),
            Encoding::Deflated { data, .. } => data.at = data.at.saturating_add(by),
            Encoding::Bytes(_) => {}
            Encoding::Format(_) => {
                return Err(Error::unsupported(format_args!("elements of this format are not read from a part of a file")));
            }
        }
        Ok(())
    }

    /// Checks that the encoded form of `len` elements, which take `bytes` bytes in memory, is inside the file.
    pub(crate) fn check(&self, len: u64, bytes: usize, input: &dyn Input) -> Result<()> {
        match self {
            Encoding::Numbers { at, written, .. } => within(input.size(), *at, len as usize * written.size()),
            Encoding::Blocks { at, blocks } => within(input.size(), *at, blocks.encoded(bytes)),
            Encoding::Deflated { data, .. } => within(input.size(), data.at, usize::try_from(data.packed).unwrap_or(usize::MAX)),
            Encoding::Bytes(held) if held.len() != bytes => {
                Err(Error::broken(format_args!("a storage has {} bytes, and {bytes} are expected", held.len())))
            }
            Encoding::Bytes(_) | Encoding::Format(_) => Ok(()),
        }
    }

    /// Fills `to`, which has the size of all elements in memory, with the elements.
    pub(crate) fn read(&self, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        match *self {
            Encoding::Numbers { at, written, big_endian } => written.read(big_endian, to, |to| input.read_at(at, to)),
            Encoding::Deflated { data, skip, written, big_endian } => written.read(big_endian, to, |to| data.inflate(input, skip, to)),
            Encoding::Blocks { at, ref blocks } => {
                // The blocks are read into the end of `to`, and decoded from its beginning on.
                let start = to.len() - blocks.encoded(to.len());
                input.read_at(at, &mut to[start..])?;
                blocks.decode_in_place(to);
                Ok(())
            }
            Encoding::Format(ref form) => form.decode(input, to),
            Encoding::Bytes(ref bytes) => {
                to.copy_from_slice(bytes);
                Ok(())
            }
        }
    }
}
