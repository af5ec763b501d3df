//! An image of uint8 to be written, for PNM and PNG.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::save::Save;

/// An image to be written.
pub struct Image<'a> {
    pub width: u32,
    pub height: u32,
    pub channels: usize,
    pub samples: &'a [u8],
}

impl<'a> Image<'a> {
    /// Returns the only tensor as an image. Fails unless the tensor has the type and the shape of an image with one of these numbers of
    /// channels.
    pub fn of(what: &Save<'a>, channels: &[usize], format: &str) -> Result<Image<'a>> {
        let tensor = what.only();
        let side = |size: i64| u32::try_from(size).ok().filter(|&size| (1..=i32::MAX as u32).contains(&size));
        let found = match tensor.sizes[..] {
            [height, width] => side(height).zip(side(width)).zip(Some(1)),
            [height, width, channels] if channels > 1 => side(height).zip(side(width)).zip(usize::try_from(channels).ok()),
            _ => None,
        };
        let found = found.filter(|(_, found)| what.element(tensor) == Element::U8 && channels.contains(found));
        let Some(((height, width), channels)) = found else {
            return Err(Error::unsupported(format_args!(
                "{format} files have uint8 tensors of height x width{}, not {} of {:?}",
                if channels.len() > 2 { ", or of height x width x 2, 3 or 4" } else { " or height x width x 3" },
                what.element(tensor).name(),
                tensor.sizes
            )));
        };
        Ok(Image { width, height, channels, samples: what.bytes(tensor)? })
    }
}
