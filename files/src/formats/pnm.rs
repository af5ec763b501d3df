//! PGM and PPM of netpbm: an image of height x width in gray, or of height x width x 3 in red, green and blue.
//!
//! Samples are not scaled. They range from 0 to the greatest value in the header, which is 255 in most files and becomes the metadata
//! `maxval`. Samples are uint8 if the greatest value is at most 255, and int32 otherwise. Only the first image of a file is read.
//!
//! Source: <https://netpbm.sourceforge.net/doc/pgm.html> and <https://netpbm.sourceforge.net/doc/ppm.html>.

use super::image::Image;
use crate::contents::Contents;
use crate::element::{Element, Written};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow;
use crate::input::{Cursor, Input};
use crate::save::{Output, Save};
use crate::tensor::{Tensor, count};

pub fn recognises(head: &[u8], _: u64) -> bool {
    let [b'P', b'1'..=b'6', rest @ ..] = head else { return false };
    let next = rest.iter().position(|byte| !byte.is_ascii_whitespace());
    next.is_some_and(|next| (next > 0 && rest[next].is_ascii_digit()) || rest[next] == b'#')
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let mut cursor = Cursor::new(input, 1, u64::MAX);
    let kind = cursor.u8()?;
    if matches!(kind, b'1' | b'4') {
        return Err(Error::unsupported(format_args!("PBM images, of one bit, are not read: convert the file to PGM first")));
    }
    let channels = if matches!(kind, b'3' | b'6') { 3 } else { 1 };
    let width = number(&mut cursor, 1, i64::from(i32::MAX))?;
    let height = number(&mut cursor, 1, i64::from(i32::MAX))?;
    let greatest = number(&mut cursor, 1, 65535)?;
    let mut sizes = grow::copy(&[height, width])?;
    if channels > 1 {
        grow::push(&mut sizes, channels)?;
    }
    let len = count(&sizes)?;
    let element = if greatest > 255 { Element::I32 } else { Element::U8 };
    let mut contents = Contents::new(Format::Pnm);
    let storage = if matches!(kind, b'2' | b'3') {
        // A sample and the following space have at least two bytes.
        if len > cursor.left() / 2 + 1 {
            return Err(cursor.error(format_args!("the file ends early: {len} samples are expected")));
        }
        let mut bytes = grow::list(len as usize * element.size())?;
        for _ in 0..len {
            let sample = number(&mut cursor, 0, greatest)?;
            bytes.extend_from_slice(&sample.to_le_bytes()[..element.size()]);
        }
        contents.add_storage(element, len, Encoding::Bytes(bytes))?
    } else {
        // One space precedes the samples. The first samples may have the codes of spaces.
        if !cursor.ahead()?.first().is_some_and(u8::is_ascii_whitespace) {
            return Err(cursor.error(format_args!("a space is expected before the samples")));
        }
        cursor.skip(1)?;
        let written = if greatest > 255 { Written::U16 } else { Written::Same(Element::U8) };
        contents.add_numbers(len, cursor.at(), written, true)?
    };
    contents.add_metadata(grow::text(&[MAXVAL])?, greatest.to_string())?;
    grow::push(&mut contents.tensors, Tensor::row_major(String::new(), sizes, storage)?)?;
    Ok(contents)
}

/// The key of the greatest value in the metadata.
const MAXVAL: &str = "maxval";

/// Reads the next number after spaces and comments.
fn number(cursor: &mut Cursor<'_>, least: i64, most: i64) -> Result<i64> {
    let mut comment = false;
    loop {
        match cursor.ahead()?.first() {
            None => return Err(cursor.error(format_args!("the file ends early: a number is expected"))),
            Some(b'\n' | b'\r') => comment = false,
            Some(b'#') => comment = true,
            Some(byte) if !comment && !byte.is_ascii_whitespace() => break,
            Some(_) => {}
        }
        cursor.skip(1)?;
    }
    let (at, mut value) = (cursor.at(), 0);
    let mut digits = 0;
    while let Some(digit) = cursor.ahead()?.first().filter(|byte| byte.is_ascii_digit()) {
        value = value * 10 + i64::from(digit - b'0');
        digits += 1;
        if value > most {
            break;
        }
        cursor.skip(1)?;
    }
    if digits == 0 || value < least || value > most {
        return Err(Error::format(at, format_args!("a number from {least} to {most} is expected")));
    }
    Ok(value)
}

/// Writes P5 or P6. Of the metadata, only `maxval` is written.
pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    let image = Image::of(what, &[1, 3], "PNM")?;
    let most = image.samples.iter().copied().max().unwrap_or(0);
    let declared = what.metadata.iter().find(|(key, _)| key == MAXVAL).and_then(|(_, value)| value.parse::<u8>().ok());
    let greatest = declared.filter(|&declared| declared >= most.max(1)).unwrap_or(255);
    let kind = if image.channels == 3 { 6 } else { 5 };
    write!(to, "P{kind}\n{} {}\n{greatest}\n", image.width, image.height)?;
    Ok(to.write_all(image.samples)?)
}
