//! PNG: an image of height x width in gray, or of height x width x channels.
//!
//! Palettes and samples of fewer than eight bits are expanded to uint8. Samples of 16 bits are read as int32. The channels are gray and
//! alpha, or red, green, blue and alpha. The channel alpha exists if the file has transparency, also if only for single colours. Texts of
//! the file are metadata.
//!
//! Opening a file decodes no pixels. Pixels are decoded on request and not kept, so that opening a file that declares a large image needs
//! little memory.

use super::image::Image;
use crate::contents::Contents;
use crate::element::{Element, widen};
use crate::encoding::Decode;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow::{self, Room};
use crate::input::{Cursor, Input, into_io};
use crate::save::{Output, Save};
use crate::tensor::Tensor;
use png::{BitDepth, ColorType, Decoder, DecodingError, EncodingError, Info, Limits, Transformations};
use std::cell::Cell;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// The length limit of a row, in bytes. The decoder holds up to 24 rows.
const LONGEST_ROW: u64 = 2 << 20;

pub fn recognises(head: &[u8], _: u64) -> bool {
    head.starts_with(b"\x89PNG\r\n\x1a\n")
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let at = Cell::new(0);
    let mut decoder = Decoder::new_with_limits(Bytes { cursor: Cursor::new(input, 0, u64::MAX), at: &at }, limits(input));
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_ignore_text_chunk(chunks(input)? > MOST_CHUNKS);
    check_size(decoder.read_header_info().map_err(|error| broken(error, &at))?.size(), input)?;
    let reader = decoder.read_info().map_err(|error| broken(error, &at))?;
    let (color, depth) = reader.output_color_type();
    let (width, height) = reader.info().size();
    let mut sizes = grow::copy(&[i64::from(height), i64::from(width)])?;
    if color.samples() > 1 {
        grow::push(&mut sizes, color.samples() as i64)?;
    }
    let sixteen = depth == BitDepth::Sixteen;
    let len = u64::from(width) * u64::from(height) * color.samples() as u64;
    let element = if sixteen { Element::I32 } else { Element::U8 };
    let most = input.size().saturating_mul(1000).saturating_add(64 << 20);
    if len.saturating_mul(element.size() as u64) > most {
        return Err(Error::unsupported(format_args!("the image needs more memory than {most} bytes, 1000 times the file size plus 64 MB")));
    }
    let mut contents = Contents::new(Format::Png);
    texts(reader.info(), at.get(), &mut contents, Room::of(input.size()))?;
    let storage = contents.add_storage(element, len, Encoding::Format(Box::new(Pixels { sixteen })))?;
    grow::push(&mut contents.tensors, Tensor::row_major(String::new(), sizes, storage)?)?;
    Ok(contents)
}

/// The greatest number of chunks before the pixels. The texts of files with more chunks are not read, because the decoder holds all texts.
const MOST_CHUNKS: u64 = 10_000;

/// Counts the chunks before the pixels, up to [`MOST_CHUNKS`] + 1.
fn chunks(input: &dyn Input) -> Result<u64> {
    let mut cursor = Cursor::new(input, 8, u64::MAX);
    let mut count = 0;
    while cursor.left() >= 12 && count <= MOST_CHUNKS {
        let (len, kind) = (cursor.u32()?.swap_bytes(), cursor.u32()?.to_le_bytes());
        if kind == *b"IDAT" || cursor.skip(u64::from(len) + 4).is_err() {
            break;
        }
        count += 1;
    }
    Ok(count)
}

/// The length limit of a compressed text, in decompressed bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// Adds the texts of a file to the metadata. `room` limits their size, because short compressed texts can become long.
fn texts(info: &Info<'_>, at: u64, contents: &mut Contents, mut room: Room) -> Result<()> {
    let mut add = |key: &str, value: std::result::Result<String, DecodingError>| {
        let value = value.unwrap_or_else(|_| format!("a text of more than {LONGEST_TEXT} bytes, or a broken one"));
        room.take(3 * size_of::<(String, String)>() + key.len() + value.len(), at)?;
        contents.add_metadata(grow::text(&[key])?, value)
    };
    for text in &info.uncompressed_latin1_text {
        add(&text.keyword, Ok(grow::text(&[&text.text])?))?;
    }
    for text in &info.compressed_latin1_text {
        let mut text = text.clone();
        add(&text.keyword.clone(), text.decompress_text_with_limit(LONGEST_TEXT).and_then(|()| text.get_text()))?;
    }
    for text in &info.utf8_text {
        let mut text = text.clone();
        add(&text.keyword.clone(), text.decompress_text_with_limit(LONGEST_TEXT).and_then(|()| text.get_text()))?;
    }
    Ok(())
}

/// The pixels of a file, which are decoded on request.
#[derive(Debug)]
struct Pixels {
    /// True if samples have 16 bits. Otherwise, samples have 8 bits.
    sixteen: bool,
}

impl Decode for Pixels {
    fn decode(&self, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        let at = Cell::new(0);
        let mut decoder = Decoder::new_with_limits(Bytes { cursor: Cursor::new(input, 0, u64::MAX), at: &at }, limits(input));
        decoder.set_transformations(Transformations::EXPAND);
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        check_size(decoder.read_header_info().map_err(|error| broken(error, &at))?.size(), input)?;
        let mut reader = decoder.read_info().map_err(|error| broken(error, &at))?;
        // Samples of two bytes are read into the upper half of `to`, and widened from its beginning on.
        let start = if self.sixteen { to.len() / 2 } else { 0 };
        let samples = &mut to[start..];
        if reader.output_buffer_size() != Some(samples.len()) {
            return Err(Error::io(format_args!("the file changed while it was read")));
        }
        let frame = reader.next_frame(samples).map_err(|error| broken(error, &at))?;
        if (frame.width, frame.height) != reader.info().size() {
            return Err(Error::format(at.get(), format_args!("the first frame is smaller than the image")));
        }
        if self.sixteen {
            widen(to, 2, true);
        }
        Ok(())
    }
}

fn limits(input: &dyn Input) -> Limits {
    Limits { bytes: input.size().saturating_add(16 << 20) as usize }
}

/// Fails for an image whose rows exceed [`LONGEST_ROW`]. A pixel has at most eight bytes.
fn check_width(width: u32) -> Result<()> {
    let most = LONGEST_ROW / 8;
    if u64::from(width) > most {
        return Err(Error::unsupported(format_args!("the image is {width} pixels wide, and images of at most {most} are supported")));
    }
    Ok(())
}

/// Fails for an image that the file is too short to hold. The greatest compression ratio of deflate is 1032.
fn check_size((width, height): (u32, u32), input: &dyn Input) -> Result<()> {
    check_width(width)?;
    if u64::from(width).saturating_mul(u64::from(height)) / 8 > input.size().saturating_mul(1032) {
        return Err(Error::broken(format_args!("{} bytes cannot hold an image of {height} x {width} pixels", input.size())));
    }
    Ok(())
}

#[cold]
fn broken(error: DecodingError, at: &Cell<u64>) -> Error {
    match error {
        DecodingError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Error::format(at.get(), format_args!("the file ends early"))
        }
        DecodingError::IoError(error) => error.into(),
        DecodingError::LimitsExceeded => Error::unsupported(format_args!("byte {}: the chunks of the file need too much memory", at.get())),
        error => Error::format(at.get(), format_args!("{error}")),
    }
}

/// A reader of the file that records the offset up to which the decoder has read.
struct Bytes<'a> {
    cursor: Cursor<'a>,
    at: &'a Cell<u64>,
}

impl Read for Bytes<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = Read::read(&mut self.cursor, to)?;
        self.at.set(self.cursor.at());
        Ok(len)
    }
}

impl BufRead for Bytes<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.cursor.ahead().map_err(into_io)
    }

    fn consume(&mut self, len: usize) {
        // The decoder consumes at most the bytes that `fill_buf` returned.
        let _ = self.cursor.skip(len as u64);
        self.at.set(self.cursor.at());
    }
}

/// The decoder requires this trait, and never seeks.
impl Seek for Bytes<'_> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let image = Image::of(what, &[1, 2, 3, 4], "PNG")?;
    check_width(image.width)?;
    let mut encoder = png::Encoder::new(to, image.width, image.height);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_color(match image.channels {
        1 => ColorType::Grayscale,
        2 => ColorType::GrayscaleAlpha,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    for (key, value) in what.metadata {
        if key.is_empty() || key.chars().count() > 79 || key.chars().any(|c| !(' '..='\u{ff}').contains(&c)) {
            return Err(Error::unsupported(format_args!(
                "'{key}' cannot be the key of a text in PNG: keys have 1 to 79 characters of Latin-1"
            )));
        }
        encoder.add_itxt_chunk(key.clone(), value.clone()).map_err(refused)?;
    }
    let mut writer = encoder.write_header().map_err(refused)?;
    writer.write_image_data(image.samples).map_err(refused)?;
    writer.finish().map_err(refused)
}

#[cold]
fn refused(error: EncodingError) -> Error {
    match error {
        EncodingError::IoError(error) => error.into(),
        error => Error::unsupported(format_args!("the image cannot be written: {error}")),
    }
}
