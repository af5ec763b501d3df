//! zip archives: a reader of the directory, which has the place of each entry, and a writer.
//!
//! Source: PKWARE's APPNOTE.TXT, 4.3 and 4.5.3. The names of entries are never used as paths of the file system.

use crate::deflate::{LENIENT, Packed};
use crate::element::Written;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::grow;
use crate::input::{Cursor, Input, within};
use crate::save::Output;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::{Read, SeekFrom, Write};

/// An entry of an archive: a file in the archive.
#[derive(Debug)]
pub struct Entry {
    /// The name. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub name: String,
    /// The offset of the first byte of the data.
    pub at: u64,
    /// The size of the data in the archive, in bytes.
    pub packed: u64,
    /// The size of the decompressed data, in bytes.
    pub size: u64,
    /// The checksum of the decompressed data.
    pub crc: u32,
    /// The compression of the data.
    pub method: Method,
}

/// The compression of an entry's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// No compression.
    Stored,
    /// Deflate.
    Deflated,
    /// The method with this number, which is not supported.
    Other(u16),
    /// Encryption, which is not supported.
    Encrypted,
}

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;
/// The extra field with sizes of eight bytes.
const ZIP64: u16 = 1;
/// The extra field by which PyTorch aligns data.
const PADDING: u16 = 0x4246;
/// The value of a size or offset of four bytes whose actual value is in the extra field [`ZIP64`].
const WIDE: u32 = u32::MAX;
/// The sizes in bytes of a local header, of a header in the central directory, and of the end of the directory.
const LOCAL_SIZE: u64 = 30;
const CENTRAL_SIZE: u64 = 46;
const END_SIZE: u64 = 22;
/// The greatest compression ratio of deflate.
const MOST: u64 = 1032;

/// Returns true if a file that begins with `head` may be a zip archive with entries.
pub fn recognises(head: &[u8]) -> bool {
    head.starts_with(&LOCAL.to_le_bytes())
}

/// Returns the number of bytes up to the end of the first entry's name, in an archive that begins with `head`.
pub fn first_header(head: &[u8]) -> Option<usize> {
    let len = head.get(26..28).filter(|_| recognises(head))?;
    Some(LOCAL_SIZE as usize + usize::from(u16::from_le_bytes([len[0], len[1]])))
}

/// Returns the name of the first entry of an archive that begins with `head`. The end of the name is missing if `head` is too short.
pub fn first_name(head: &[u8]) -> Option<&[u8]> {
    let end = first_header(head)?;
    head.get(LOCAL_SIZE as usize..end.min(head.len()))
}

/// Returns the entries of an archive, in the order of the directory. The data of all entries is inside the file and does not overlap.
pub fn read(input: &dyn Input) -> Result<Vec<Entry>> {
    let (start, end, count) = directory(input)?;
    let mut cursor = Cursor::new(input, start, end);
    if count > cursor.left() / CENTRAL_SIZE {
        return Err(cursor.error(format_args!("a directory of {} bytes cannot have {count} entries", cursor.left())));
    }
    let mut entries = grow::list(count as usize)?;
    // The offsets of the first byte of each entry and the first byte after the entry.
    let mut places = grow::list(count as usize)?;
    for _ in 0..count {
        let (entry, from) = entry(&mut cursor, input)?;
        places.push((from, entry.at.saturating_add(entry.packed)));
        entries.push(entry);
    }
    places.sort_unstable();
    for pair in places.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Err(Error::format(
                pair[1].0,
                format_args!("an entry of the archive begins inside another entry, which ends at {}", pair[0].1),
            ));
        }
    }
    match places.last() {
        Some(&(from, to)) if to > start => Err(Error::format(from, format_args!("an entry of the archive overlaps the directory"))),
        _ => Ok(entries),
    }
}

/// Returns the offsets of the first byte of the central directory and the first byte after the directory, and the number of entries.
fn directory(input: &dyn Input) -> Result<(u64, u64, u64)> {
    // A comment of at most 65535 bytes follows the end of the directory.
    let len = input.size().min(END_SIZE + 0xffff);
    let first = input.size() - len;
    let mut tail = grow::zeros(len as usize)?;
    input.read_at(first, &mut tail)?;
    let is_end =
        |bytes: &[u8]| bytes.starts_with(&END.to_le_bytes()) && comment(bytes).is_some_and(|len| len + END_SIZE == bytes.len() as u64);
    let place = (0..tail.len()).rev().find(|&i| is_end(&tail[i..]));
    let Some(place) = place else {
        return Err(Error::format(input.size(), format_args!("the file ends early: the directory of a zip archive is missing at its end")));
    };
    let at = first + place as u64;
    let mut cursor = Cursor::new(input, at + 4, u64::MAX);
    let (disk, from_disk, here, count) = (cursor.u16()?, cursor.u16()?, cursor.u16()?, cursor.u16()?);
    let (size, start) = (cursor.u32()?, cursor.u32()?);
    let mut all = (u64::from(start), u64::from(size), u64::from(count));
    let mut parted = disk != from_disk || here != count;
    let mut end = at;
    if let Some(end64) = end64(input, at)? {
        end = end64;
        let mut cursor = Cursor::new(input, end64, at);
        if cursor.u32()? != END64 {
            return Err(Error::format(end64, format_args!("the end of a zip64 directory is expected")));
        }
        cursor.skip(12)?;
        parted = cursor.u32()? != cursor.u32()?;
        let (here, count, size, start) = (cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?);
        parted |= here != count;
        all = (start, size, count);
    }
    if parted {
        return Err(Error::unsupported(format_args!("byte {at}: the archive has several parts")));
    }
    let (start, size, count) = all;
    match start.checked_add(size) {
        Some(beyond) if beyond <= end => Ok((start, beyond, count)),
        _ => Err(Error::format(at, format_args!("a directory of {size} bytes at byte {start} does not end before byte {end}"))),
    }
}

/// Returns the offset of the zip64 end of the directory, if the archive has one. `at` is the offset of the other end of the directory.
fn end64(input: &dyn Input, at: u64) -> Result<Option<u64>> {
    let Some(locator) = at.checked_sub(20) else { return Ok(None) };
    let mut cursor = Cursor::new(input, locator, at);
    if cursor.u32()? != LOCATOR64 {
        return Ok(None);
    }
    cursor.skip(4)?;
    cursor.u64().map(Some)
}

/// Returns the length of the comment, which is a field of the end of the directory.
fn comment(end: &[u8]) -> Option<u64> {
    end.get(20..22).map(|len| u64::from(u16::from_le_bytes([len[0], len[1]])))
}

/// Reads the next entry of the directory. Returns the entry and the offset of its local header.
fn entry(cursor: &mut Cursor<'_>, input: &dyn Input) -> Result<(Entry, u64)> {
    let place = cursor.at();
    if cursor.u32()? != CENTRAL {
        return Err(Error::format(place, format_args!("an entry of the directory is expected")));
    }
    cursor.skip(4)?;
    let (flags, method) = (cursor.u16()?, cursor.u16()?);
    cursor.skip(4)?;
    let (crc, packed, size) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let (name, extra, comment) = (cursor.u16()?, cursor.u16()?, cursor.u16()?);
    cursor.skip(8)?;
    let from = cursor.u32()?;
    let name = cursor.take(u64::from(name))?;
    let extra = cursor.take(u64::from(extra))?;
    cursor.skip(u64::from(comment))?;
    let [size, packed, from] = wide(&extra, [size, packed, from])
        .ok_or_else(|| Error::format(place, format_args!("an entry of the directory has no sizes of eight bytes")))?;
    let method = match method {
        _ if flags & 1 != 0 => Method::Encrypted,
        0 => Method::Stored,
        8 => Method::Deflated,
        other => Method::Other(other),
    };
    let wrong = |what: &str| Err(Error::format(place, format_args!("an entry of {size} bytes, {packed} in the archive, {what}")));
    match method {
        Method::Stored if size != packed => return wrong("is marked as not compressed"),
        Method::Deflated if size / MOST > packed => return wrong("exceeds the compression ratio of deflate"),
        _ => {}
    }
    let mut header = [0; LOCAL_SIZE as usize];
    input.read_at(from, &mut header)?;
    if !recognises(&header) {
        return Err(Error::format(from, format_args!("an entry of the archive is expected")));
    }
    let names = u64::from(u16::from_le_bytes([header[26], header[27]])) + u64::from(u16::from_le_bytes([header[28], header[29]]));
    let at = from.saturating_add(LOCAL_SIZE + names);
    within(input.size(), at, usize::try_from(packed).unwrap_or(usize::MAX))?;
    let name = String::from_utf8(name).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok((Entry { name, at, packed, size, crc, method }, from))
}

/// Returns the numbers. A number that is [`WIDE`] is replaced by its value in the extra fields. `None` if the value is missing.
fn wide(mut extra: &[u8], numbers: [u32; 3]) -> Option<[u64; 3]> {
    let mut fields: &[u8] = &[];
    while let Some((head, rest)) = extra.split_first_chunk::<4>() {
        let (tag, len) = (u16::from_le_bytes([head[0], head[1]]), usize::from(u16::from_le_bytes([head[2], head[3]])));
        let Some((field, rest)) = rest.split_at_checked(len) else { break };
        if tag == ZIP64 {
            fields = field;
        }
        extra = rest;
    }
    let mut all = [0; 3];
    for (to, number) in all.iter_mut().zip(numbers) {
        *to = u64::from(number);
        if number == WIDE {
            let (number, rest) = fields.split_first_chunk::<8>()?;
            (*to, fields) = (u64::from_le_bytes(*number), rest);
        }
    }
    Some(all)
}

impl Entry {
    /// Returns an error that names the entry.
    #[cold]
    fn error(&self, what: &str) -> Error {
        Error::format(self.at, format_args!("entry '{}' {what}", self.name))
    }

    /// Returns a reader of the decompressed data, which reads at most [`Entry::size`] bytes.
    pub fn reader<'a>(&self, input: &'a dyn Input) -> Result<Box<dyn Read + 'a>> {
        let packed = Cursor::new(input, self.at, self.at.saturating_add(self.packed));
        match self.method {
            Method::Stored => Ok(Box::new(packed)),
            Method::Deflated => Ok(Box::new(DeflateDecoder::new(packed).take(self.size))),
            Method::Other(method) => {
                Err(Error::unsupported(format_args!("entry '{}' is compressed by method {method}, and only deflate is read", self.name)))
            }
            Method::Encrypted => Err(Error::unsupported(format_args!("entry '{}' is encrypted", self.name))),
        }
    }

    /// Returns the decompressed data. Fails if there are more than `most` bytes.
    pub fn bytes(&self, input: &dyn Input, most: u64) -> Result<Vec<u8>> {
        if self.size > most {
            return Err(self.error(&format!("has {} bytes, and at most {most} are expected", self.size)));
        }
        let mut bytes = grow::zeros(self.size as usize)?;
        self.reader(input)?.read_exact(&mut bytes).map_err(|error| self.error(&format!("cannot be read: {error}")))?;
        // PyTorch has an option to omit checksums, and writes 0 then.
        let is_checked = self.method != Method::Stored || self.crc != 0;
        if is_checked && crc(&[&bytes]) != self.crc && !LENIENT {
            return Err(self.error("has a checksum that differs from the checksum of its data"));
        }
        Ok(bytes)
    }

    /// Returns the encoding of `bytes` bytes of numbers after the first `skip` bytes of the decompressed data.
    pub fn encoding(&self, skip: u64, bytes: u64, written: Written, big_endian: bool) -> Result<Encoding> {
        if skip.checked_add(bytes).is_none_or(|end| end > self.size) {
            return Err(self.error(&format!("has {} bytes, and {bytes} after the first {skip} are expected", self.size)));
        }
        match self.method {
            Method::Stored => Ok(Encoding::Numbers { at: self.at + skip, written, big_endian }),
            Method::Deflated => {
                let data = Packed { at: self.at, packed: self.packed, size: self.size, crc: self.crc };
                Ok(Encoding::Deflated { data, skip, written, big_endian })
            }
            _ => self.reader(&[0u8; 0]).map(|_| Encoding::Bytes(Vec::new())),
        }
    }
}

/// Returns the checksum of the concatenated pieces.
fn crc(pieces: &[&[u8]]) -> u32 {
    let mut crc = Crc::new();
    pieces.iter().for_each(|piece| crc.update(piece));
    crc.sum()
}

/// A writer of an archive.
pub struct Writer<'a> {
    to: &'a mut dyn Output,
    /// The number of bytes that were written.
    at: u64,
    /// The directory, which is written at the end.
    directory: Vec<u8>,
    entries: u64,
}

/// The fields of an entry's header.
struct Header<'a> {
    name: &'a str,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
}

impl<'a> Writer<'a> {
    /// Returns a writer of an archive without entries. `to` must be at its beginning.
    pub fn new(to: &'a mut dyn Output) -> Writer<'a> {
        Writer { to, at: 0, directory: Vec::new(), entries: 0 }
    }

    /// Appends an uncompressed entry. Its data is the concatenated pieces and begins at a multiple of `align` bytes.
    pub fn store(&mut self, name: &str, pieces: &[&[u8]], align: u64) -> Result<()> {
        let size = pieces.iter().map(|piece| piece.len() as u64).sum();
        let header = Header { name, method: 0, crc: crc(pieces), packed: size, size };
        let mut local = header.local(false)?;
        let gap = align - (self.at + local.len() as u64) % align;
        if gap != align {
            // An extra field has at least four bytes.
            let fill = if gap < 4 { gap + align.max(4) } else { gap } - 4;
            let extra = u16::from_le_bytes([local[28], local[29]]) + fill as u16 + 4;
            local[28..30].copy_from_slice(&extra.to_le_bytes());
            local.extend_from_slice(&PADDING.to_le_bytes());
            local.extend_from_slice(&(fill as u16).to_le_bytes());
            local.resize(local.len() + fill as usize, b'Z');
        }
        self.to.write_all(&local)?;
        pieces.iter().try_for_each(|piece| self.to.write_all(piece))?;
        self.list(&header, local.len() as u64)
    }

    /// Appends a compressed entry. Its data is the concatenated pieces.
    pub fn deflate(&mut self, name: &str, pieces: &[&[u8]]) -> Result<()> {
        let size = pieces.iter().map(|piece| piece.len() as u64).sum();
        let mut header = Header { name, method: 8, crc: crc(pieces), packed: 0, size };
        // Incompressible data becomes slightly longer.
        let zip64 = size > u64::from(WIDE) - u64::from(WIDE) / 64;
        let len = header.local(zip64)?.len() as u64;
        self.to.seek(SeekFrom::Start(self.at + len))?;
        let mut packer = flate2::write::DeflateEncoder::new(&mut *self.to, flate2::Compression::default());
        pieces.iter().try_for_each(|piece| packer.write_all(piece))?;
        packer.try_finish()?;
        header.packed = packer.total_out();
        drop(packer);
        self.to.seek(SeekFrom::Start(self.at))?;
        self.to.write_all(&header.local(zip64)?)?;
        self.to.seek(SeekFrom::Start(self.at + len + header.packed))?;
        self.list(&header, len)
    }

    /// Appends an entry to the directory after its data was written. `len` is the length of its local header.
    fn list(&mut self, header: &Header<'_>, len: u64) -> Result<()> {
        let (mut extra, mut short) = (Vec::new(), [0; 3]);
        for (short, number) in short.iter_mut().zip([header.size, header.packed, self.at]) {
            *short = u32::try_from(number).unwrap_or(WIDE);
            if *short == WIDE {
                extra.extend_from_slice(&number.to_le_bytes());
            }
        }
        let [size, packed, from] = short;
        let to = &mut self.directory;
        to.extend_from_slice(&CENTRAL.to_le_bytes());
        header.common(to, if extra.is_empty() { VERSION } else { VERSION64 }, [packed, size])?;
        let extra_len = if extra.is_empty() { 0 } else { extra.len() as u16 + 4 };
        to.extend_from_slice(&extra_len.to_le_bytes());
        // No comment, the first part, no attributes.
        to.extend_from_slice(&[0; 10]);
        to.extend_from_slice(&from.to_le_bytes());
        to.extend_from_slice(header.name.as_bytes());
        if !extra.is_empty() {
            to.extend_from_slice(&ZIP64.to_le_bytes());
            to.extend_from_slice(&(extra.len() as u16).to_le_bytes());
            to.extend_from_slice(&extra);
        }
        self.at += len + header.packed;
        self.entries += 1;
        Ok(())
    }

    /// Writes the directory at the end of the archive.
    pub fn finish(self) -> Result<()> {
        let (start, size) = (self.at, self.directory.len() as u64);
        let mut end = self.directory;
        let short = |number: u64| u32::try_from(number).unwrap_or(WIDE);
        if self.entries >= u64::from(u16::MAX) || short(start) == WIDE || short(size) == WIDE {
            end.extend_from_slice(&END64.to_le_bytes());
            end.extend_from_slice(&44u64.to_le_bytes());
            end.extend_from_slice(&[VERSION64.to_le_bytes(), VERSION64.to_le_bytes()].concat());
            end.extend_from_slice(&[0; 8]);
            [self.entries, self.entries, size, start].iter().for_each(|number| end.extend_from_slice(&number.to_le_bytes()));
            end.extend_from_slice(&LOCATOR64.to_le_bytes());
            end.extend_from_slice(&0u32.to_le_bytes());
            end.extend_from_slice(&(start + size).to_le_bytes());
            end.extend_from_slice(&1u32.to_le_bytes());
        }
        let entries = u16::try_from(self.entries).unwrap_or(u16::MAX).to_le_bytes();
        end.extend_from_slice(&END.to_le_bytes());
        end.extend_from_slice(&[0; 4]);
        end.extend_from_slice(&[entries, entries].concat());
        end.extend_from_slice(&[short(size).to_le_bytes(), short(start).to_le_bytes()].concat());
        end.extend_from_slice(&[0; 2]);
        Ok(self.to.write_all(&end)?)
    }
}

/// The versions of the format that a reader of an entry must support, without and with [`ZIP64`].
const VERSION: u16 = 20;
const VERSION64: u16 = 45;

impl Header<'_> {
    /// Returns the header before the data. Sizes have eight bytes if they do not fit four bytes, or if `zip64` is true.
    fn local(&self, zip64: bool) -> Result<Vec<u8>> {
        let zip64 = zip64 || self.size >= u64::from(WIDE) || self.packed >= u64::from(WIDE);
        let mut to = LOCAL.to_le_bytes().to_vec();
        let sizes = if zip64 { [WIDE; 2] } else { [self.packed as u32, self.size as u32] };
        self.common(&mut to, if zip64 { VERSION64 } else { VERSION }, sizes)?;
        to.extend_from_slice(&if zip64 { 20u16 } else { 0 }.to_le_bytes());
        to.extend_from_slice(self.name.as_bytes());
        if zip64 {
            to.extend_from_slice(&[ZIP64.to_le_bytes(), 16u16.to_le_bytes()].concat());
            to.extend_from_slice(&[self.size.to_le_bytes(), self.packed.to_le_bytes()].concat());
        }
        Ok(to)
    }

    /// Appends the fields that both headers have: the version, flags (names are UTF-8), the method, a time (1980), the checksum, sizes, and
    /// the length of the name. A header in the directory has a second version.
    fn common(&self, to: &mut Vec<u8>, version: u16, [packed, size]: [u32; 2]) -> Result<()> {
        let name = u16::try_from(self.name.len())
            .map_err(|_| Error::unsupported(format_args!("a name of {} bytes is too long for a zip archive", self.name.len())))?;
        if to.ends_with(&CENTRAL.to_le_bytes()) {
            to.extend_from_slice(&version.to_le_bytes());
        }
        [version, 1 << 11, self.method, 0, 0x21].iter().for_each(|number| to.extend_from_slice(&number.to_le_bytes()));
        [self.crc, packed, size].iter().for_each(|number| to.extend_from_slice(&number.to_le_bytes()));
        to.extend_from_slice(&name.to_le_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor as Memory;

    #[test]
    fn what_is_written_is_read_back() {
        let text = b"tensor ".repeat(100);
        let mut file = Memory::new(Vec::new());
        let mut writer = Writer::new(&mut file);
        writer.store("a", &[b"xyz"], 1).unwrap();
        writer.store("folder/b", &[&text, b"end"], 64).unwrap();
        writer.deflate("c", &[&text, &text]).unwrap();
        writer.store("empty", &[], 64).unwrap();
        writer.finish().unwrap();
        let file = file.into_inner();
        let entries = read(&file).unwrap();
        let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.size, entry.method)).collect();
        let (stored, deflated) = (Method::Stored, Method::Deflated);
        assert_eq!(names, [("a", 3, stored), ("folder/b", 703, stored), ("c", 1400, deflated), ("empty", 0, stored)]);
        assert_eq!((entries[1].at % 64, entries[3].at % 64), (0, 0));
        assert_eq!(entries[1].bytes(&file, 703).unwrap(), [&text[..], b"end"].concat());
        assert_eq!(entries[2].bytes(&file, 1400).unwrap(), [&text[..], &text].concat());
        assert!(entries[2].packed < 100);
        let mut number = [0; 7];
        let Encoding::Deflated { data, .. } = entries[2].encoding(0, 1400, Written::U16, false).unwrap() else { panic!() };
        data.inflate(&file, 1393, &mut number).unwrap();
        assert_eq!(&number, b"tensor ");
        assert!(data.inflate(&file, 1394, &mut number).is_err());
        let message = Packed { crc: 0, ..data }.inflate(&file, 700, &mut vec![0; 350]).unwrap_err().message;
        assert_eq!(message, format!("byte {}: the checksum of compressed data differs from the one in the archive", data.at));
        Packed { crc: 0, ..data }.inflate(&file, 700, &mut vec![0; 349]).unwrap();
        assert_eq!(
            entries[2].bytes(&file, 1399).unwrap_err().message,
            format!("byte {}: entry 'c' has 1400 bytes, and at most 1399 are expected", entries[2].at)
        );
    }

    /// No test has data that needs sizes of eight bytes, so the headers are tested alone.
    #[test]
    fn zip64_headers_have_the_format_of_the_source() {
        let header = Header { name: "n", method: 0, crc: 7, packed: 5 << 32, size: 5 << 32 };
        let local = header.local(false).unwrap();
        assert_eq!(local.len(), 30 + 1 + 20);
        assert_eq!(local[18..26], [0xff; 8]);
        assert_eq!(wide(&local[31..], [WIDE; 3]), None);
        assert_eq!(wide(&local[31..], [WIDE, WIDE, 9]), Some([5 << 32, 5 << 32, 9]));
        let mut file = Memory::new(Vec::new());
        let mut writer = Writer::new(&mut file);
        writer.at = 6 << 32;
        writer.list(&header, 51).unwrap();
        let directory = &writer.directory;
        assert_eq!(wide(&directory[47..], [WIDE; 3]), Some([5 << 32, 5 << 32, 6 << 32]));
    }

    #[test]
    fn archives_with_65536_entries_have_a_zip64_directory() {
        let mut file = Memory::new(Vec::new());
        let mut writer = Writer::new(&mut file);
        (0..65536).for_each(|i| writer.store(&format!("{i}"), &[&[i as u8]], 1).unwrap());
        writer.finish().unwrap();
        let file = file.into_inner();
        if let Some(path) = std::env::var_os("FILES_ZIP64") {
            std::fs::write(path, &file).unwrap();
        }
        let entries = read(&file).unwrap();
        assert_eq!((entries.len(), entries[65535].name.as_str(), file[entries[65535].at as usize]), (65536, "65535", 255));
    }
}
