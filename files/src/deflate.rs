//! Data of a zip archive that deflate compressed.

use crate::error::{Error, Result};
use crate::input::{Cursor, Input};
use flate2::CrcReader;
use flate2::read::DeflateDecoder;
use std::io::{self, Read};

/// The place, the sizes and the checksum of compressed data.
#[derive(Debug, Clone, Copy)]
pub struct Packed {
    /// The offset of the first compressed byte.
    pub at: u64,
    /// The number of compressed bytes.
    pub packed: u64,
    /// The number of decompressed bytes.
    pub size: u64,
    /// The checksum of the decompressed data.
    pub crc: u32,
}

/// True in a fuzzer, which finds no correct checksums. Checksums are not compared then.
pub(crate) const LENIENT: bool = cfg!(fuzzing);

impl Packed {
    /// Fills `to` with decompressed bytes, after the first `skip`. Compares the checksum unless more than `to.len()` bytes follow, because
    /// they would have to be decompressed too. Real files end with the bytes in `to`.
    pub fn inflate(self, input: &dyn Input, skip: u64, to: &mut [u8]) -> Result<()> {
        let Packed { at, packed, size, crc } = self;
        let mut from = CrcReader::new(DeflateDecoder::new(Cursor::new(input, at, at.saturating_add(packed))));
        let wrong = |error: io::Error| Error::format(at, format_args!("compressed data cannot be read: {error}"));
        let pass = |from: &mut dyn Read, bytes: u64| match io::copy(&mut from.take(bytes), &mut io::sink()).map_err(wrong)? {
            passed if passed < bytes => Err(Error::format(at, format_args!("compressed data ends {} bytes early", bytes - passed))),
            _ => Ok(()),
        };
        pass(&mut from, skip)?;
        from.read_exact(to).map_err(wrong)?;
        let left = size.saturating_sub(skip).saturating_sub(to.len() as u64);
        if left <= to.len() as u64 {
            pass(&mut from, left)?;
            if from.crc().sum() != crc && !LENIENT {
                return Err(Error::format(at, format_args!("the checksum of compressed data differs from the one in the archive")));
            }
        }
        Ok(())
    }
}
