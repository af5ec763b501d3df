//! `thorn view`.

use crate::scan::{Pieces, Summary};
use crate::source::{Source, c_path, shape};
use crate::{Result, Stop, scan};
use std::ffi::OsString;
use thorn::dtype::Dtype;
use thorn::files::{TH_FILE_BY_NAME, Writing};
use thorn::tensor::Tensor;

/// Writes a matrix, or an image of [3, h, w], [1, h, w], [h, w, 3] or [h, w, 1], as a picture: PNG, PGM or PPM.
#[derive(clap::Args)]
pub struct View {
    /// The file.
    file: OsString,
    /// The tensor, if there are several.
    name: Option<String>,
    /// The picture.
    #[arg(short, long)]
    output: OsString,
    /// Colours of a matrix.
    #[arg(long, value_enum, default_value = "viridis")]
    map: Colours,
    /// The number that gets the first colour; the least element if it is left out.
    #[arg(long, allow_negative_numbers = true)]
    min: Option<f64>,
    /// The number that gets the last colour; the greatest element if it is left out.
    #[arg(long, allow_negative_numbers = true)]
    max: Option<f64>,
}

/// Colours for numbers.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Colours {
    /// From dark blue over green to yellow; as bright as the number is great.
    Viridis,
    /// From black to white.
    Gray,
}

/// Eleven colours of viridis at even distances; those between are mixed.
const VIRIDIS: [u32; 11] = [0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725];

/// The largest picture, in elements.
const LARGEST: i64 = 1 << 28;

impl View {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let source = Source::open(&self.file)?;
        let t = source.archive().tensor(source.find(self.name.as_deref())?)?;
        let sizes: Vec<i64> = t.layout()?.shape.as_slice().to_vec();
        // How far apart channels are, and how many there are; a matrix has one.
        let (height, width, channels, planar) = match *sizes.as_slice() {
            [h, w] => (h, w, 1, false),
            [h, w, c @ (1 | 3)] => (h, w, c, false),
            [c @ (1 | 3), h, w] => (h, w, c, true),
            _ => return Err(Stop::Failed(format!("a tensor of the shape {} is no picture", shape(&sizes)))),
        };
        if height * width * channels > LARGEST || height * width == 0 {
            return Err(Stop::Failed(format!("a tensor of the shape {} makes no picture: 1 to {LARGEST} elements do", shape(&sizes))));
        }
        let summary = Summary::of(&t, &scan::bar(0))?;
        let bytes_as_they_are =
            t.defined()? == Dtype::Uint8 && (channels == 3 || self.map == Colours::Gray) && self.min.or(self.max).is_none();
        let (least, greatest) =
            if bytes_as_they_are { (0.0, 255.0) } else { (self.min.unwrap_or(summary.least), self.max.unwrap_or(summary.greatest)) };
        let mut pixels = Vec::with_capacity((height * width * channels) as usize);
        let mut pieces = Pieces::new(&t)?;
        while let Some(piece) = pieces.next()? {
            pixels.extend(piece.into_iter().map(|x| {
                // NaN is as the least.
                let part = if greatest > least { (x - least) / (greatest - least) } else { 0.0 };
                part.clamp(0.0, 1.0)
            }));
        }
        let plane = (height * width) as usize;
        let colour = |k: usize| -> Vec<u8> {
            match (channels, self.map) {
                (3, _) => (0..3).map(|c| byte(pixels[if planar { c * plane + k } else { 3 * k + c }])).collect(),
                (_, Colours::Gray) => vec![byte(pixels[k])],
                (_, Colours::Viridis) => viridis(pixels[k]).to_vec(),
            }
        };
        let bytes: Vec<u8> = (0..plane).flat_map(colour).collect();
        let last = bytes.len() as i64 / plane as i64;
        let shape = if last == 1 { vec![height, width] } else { vec![height, width, last] };
        let picture = Tensor::empty(Dtype::Uint8, &shape)?;
        // SAFETY: the new tensor has so many bytes, and nobody else has it.
        unsafe { picture.data().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        let mut out = Writing::create(&c_path(&self.output)?, TH_FILE_BY_NAME)?;
        out.add(c"", &picture)?;
        Ok(out.close()?)
    }
}

fn byte(part: f64) -> u8 {
    (part * 255.0).round() as u8
}

/// The colour of a number from 0 to 1.
fn viridis(part: f64) -> [u8; 3] {
    let place = part * (VIRIDIS.len() - 1) as f64;
    let below = (place as usize).min(VIRIDIS.len() - 2);
    let (from, to, share) = (VIRIDIS[below], VIRIDIS[below + 1], place - below as f64);
    [16, 8, 0].map(|shift| {
        let (from, to) = (f64::from(from >> shift & 255), f64::from(to >> shift & 255));
        (from + (to - from) * share).round() as u8
    })
}
