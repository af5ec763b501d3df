//! `thorn view`.

use crate::elements::{Elements, Values};
use crate::number::Number;
use crate::output::{self, Format, Output};
use crate::source::{Entry, Source};
use crate::stop::{Outcome, Result, Stop};
use std::ffi::OsString;
use std::io::Write;
use thorn::dtype::Dtype;
use thorn::files::Writing;
use thorn::tensor::Tensor;

/// Write a matrix or an image as a picture
///
/// A matrix is drawn in the colours of a map, from its least finite element to its greatest. Tensors of
/// the shapes [3, h, w] and [h, w, 3] are images in red, green and blue. Bytes are shown unchanged
/// if they are colours or shades of gray.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct View {
    /// The file; - is the standard input.
    file: OsString,
    /// The tensor, if there are several.
    name: Option<String>,
    /// The picture, .png, .pgm or .ppm; - is the standard output, in PNG.
    #[arg(short, long, value_name = "PICTURE")]
    output: OsString,
    /// The colours of a matrix.
    #[arg(short, long, value_enum, default_value = "viridis")]
    map: Map,
    /// The number with the first colour; by default the least.
    #[arg(long, allow_negative_numbers = true)]
    min: Option<f64>,
    /// The number with the last colour; by default the greatest.
    #[arg(long, allow_negative_numbers = true)]
    max: Option<f64>,
}

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Map {
    /// From dark blue over green to yellow, as bright as the number is great; NaN is red
    Viridis,
    /// From black to white; NaN is black
    Gray,
}

/// Eleven colours of viridis at equal distances; the colours between are mixed.
const VIRIDIS: [u32; 11] = [0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725];

/// The maximum number of elements of a picture.
const LARGEST: i64 = 1 << 28;

/// The mapping of elements to pixels.
struct Picture {
    height: i64,
    width: i64,
    /// Values per pixel: 1 or 3.
    channels: i64,
    /// True if the channels are planes, and not interleaved.
    planar: bool,
}

impl Picture {
    fn new(source: &Source, entry: &Entry) -> Result<Picture> {
        let (height, width, channels, planar) = match *entry.sizes {
            [w] => (1, w, 1, false),
            [h, w] => (h, w, 1, false),
            [h, w, c @ (1 | 3)] => (h, w, c, false),
            [c @ (1 | 3), h, w] => (h, w, c, true),
            _ => return Err(refused(source, entry, "is no matrix and no image of 1 or 3 channels")),
        };
        if !(1..=LARGEST).contains(&entry.elements) {
            return Err(refused(source, entry, &format!("makes no picture, which has 1 to {LARGEST} elements")));
        }
        Ok(Picture { height, width, channels, planar })
    }

    /// Returns the pixel and the channel of an element.
    fn place(&self, element: i64) -> (usize, usize) {
        let plane = self.height * self.width;
        let (pixel, channel) =
            if self.planar { (element % plane, element / plane) } else { (element / self.channels, element % self.channels) };
        (pixel as usize, channel as usize)
    }
}

fn refused(source: &Source, entry: &Entry, why: &str) -> Stop {
    let name = if entry.name.is_empty() { String::new() } else { format!("tensor '{}': ", entry.name) };
    Stop::file(source.name(), format_args!("{name}a tensor of shape {} {why}", entry.shape()))
}

impl View {
    /// Runs the command.
    pub fn run(&self, out: &mut dyn Write) -> Result<Outcome> {
        let format = (self.output == "-" || self.output == "/dev/stdout").then_some(Format::Png);
        let output = Output::new(&self.output, format)?;
        let source = Source::open(&self.file)?;
        let entry = source.find(self.name.as_deref())?;
        let picture = Picture::new(&source, &entry)?;
        let drawn = self.draw(&source, &entry, &picture)?;
        let name = output.name();
        output.written(out, |path, format| {
            let write = || {
                let mut file = Writing::create(path, format)?;
                file.add(c"", &drawn)?;
                file.close()
            };
            write().map_err(|error| output::about(path, &name, &error))
        })?;
        Ok(Outcome::Done)
    }

    /// Returns the pixels: bytes of the shape [h, w] or [h, w, 3].
    fn draw(&self, source: &Source, entry: &Entry, picture: &Picture) -> Result<Tensor> {
        let elements = Elements::new(source, entry)?;
        let bytes_of_pixel = if picture.channels == 1 && self.map == Map::Gray { 1 } else { 3 };
        let as_they_are = entry.dtype == Ok(Dtype::Uint8) && (picture.channels == 3 || self.map == Map::Gray);
        let (least, greatest) = match (as_they_are, self.min, self.max) {
            (true, None, None) => (0.0, 255.0),
            (_, Some(min), Some(max)) => (min, max),
            (_, min, max) => {
                let (least, greatest) = finite_range(&elements)?;
                (min.unwrap_or(least), max.unwrap_or(greatest))
            }
        };
        let share = |x: f64| if greatest > least { ((x - least) / (greatest - least)).clamp(0.0, 1.0) } else { 0.0 };
        let mut pixels = vec![0u8; (picture.height * picture.width) as usize * bytes_of_pixel];
        each(&elements, |element, x| {
            let (pixel, channel) = picture.place(element);
            let to = &mut pixels[pixel * bytes_of_pixel..][..bytes_of_pixel];
            match (picture.channels, self.map) {
                (1, Map::Viridis) => to.copy_from_slice(&viridis(share(x))),
                (1, Map::Gray) => to[0] = byte(share(x)),
                _ => to[channel] = byte(share(x)),
            }
        })?;
        let (height, width) = (picture.height, picture.width);
        let shape: &[i64] = if bytes_of_pixel == 1 { &[height, width] } else { &[height, width, 3] };
        let drawn = Tensor::empty(Dtype::Uint8, shape)?;
        // SAFETY: the new tensor has this many bytes, and no other owner.
        unsafe { drawn.data().copy_from_nonoverlapping(pixels.as_ptr(), pixels.len()) };
        Ok(drawn)
    }
}

/// Calls `take` for each element with its row-major number.
fn each(elements: &Elements<'_>, mut take: impl FnMut(i64, f64)) -> Result<()> {
    for number in 0..elements.pieces() {
        let (first, piece) = elements.piece(number)?;
        let widened = piece.widened()?;
        match widened.values() {
            Values::Ints(xs) => (first..).zip(xs).for_each(|(k, &x)| take(k, Number::Int(x).float())),
            Values::Singles(xs) => (first..).zip(xs).for_each(|(k, &x)| take(k, x.into())),
            Values::Doubles(xs) => (first..).zip(xs).for_each(|(k, &x)| take(k, x)),
        }
    }
    Ok(())
}

/// Returns the smallest and the largest finite element; 0 and 0 if there are none.
fn finite_range(elements: &Elements<'_>) -> Result<(f64, f64)> {
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    each(elements, |_, x| {
        if x.is_finite() {
            (least, greatest) = (least.min(x), greatest.max(x));
        }
    })?;
    Ok(if least <= greatest { (least, greatest) } else { (0.0, 0.0) })
}

/// Returns a share as a byte, 255 for 1. NaN is 0.
fn byte(share: f64) -> u8 {
    (share * 255.0).round() as u8
}

/// Returns the colour of a number from 0 to 1.
fn viridis(share: f64) -> [u8; 3] {
    if share.is_nan() {
        return [255, 0, 0];
    }
    let place = share * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let (from, to, part) = (VIRIDIS[below], VIRIDIS[below + 1], place - below as f64);
    [16, 8, 0].map(|shift| {
        let (from, to) = (f64::from(from >> shift & 255), f64::from(to >> shift & 255));
        (from + (to - from) * part).round() as u8
    })
}
