//! Elements of tensors as float64, some at a time.

use crate::Result;
use indicatif::{ProgressBar, ProgressStyle};
use thorn::dtype::Dtype;
use thorn::layout::TH_CONTIGUOUS_FORMAT;
use thorn::ops::copy;
use thorn::tensor::Tensor;

/// The elements that are converted at a time: 8 MB.
const PIECE: i64 = 1 << 20;

/// A bar for so many bytes, on the standard error if that is a terminal.
pub fn bar(bytes: i64) -> ProgressBar {
    let bar = ProgressBar::new(bytes.max(0) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// The elements of a tensor in row-major order, a piece at a time.
pub struct Pieces {
    row: Tensor,
    at: i64,
    elements: i64,
}

impl Pieces {
    /// All elements.
    pub fn new(t: &Tensor) -> Result<Pieces> {
        let row = copy::contiguous(t, TH_CONTIGUOUS_FORMAT)?;
        let elements = row.layout()?.numel();
        Ok(Pieces { row, at: 0, elements })
    }

    /// The next piece; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Vec<f64>>> {
        let len = (self.elements - self.at).min(PIECE);
        let Some(storage) = self.row.storage().filter(|_| len > 0) else { return Ok(None) };
        let mut layout = self.row.layout()?;
        layout.view(&[-1])?;
        layout.narrow(0, self.at, len)?;
        let piece = Tensor::with_layout(storage, self.row.defined()?, &layout)?;
        let doubles = copy::to_dtype(&piece, Dtype::Float64)?;
        self.at += len;
        // SAFETY: `doubles` has so many float64 one after the other, which nobody writes.
        Ok(Some(unsafe { std::slice::from_raw_parts(doubles.data().cast::<f64>(), len as usize) }.to_vec()))
    }
}

/// What is told of a tensor's elements.
pub struct Summary {
    /// The least that is no NaN; infinite where there is none.
    pub least: f64,
    /// The greatest that is no NaN.
    pub greatest: f64,
    /// The mean of all that are no NaN.
    pub mean: f64,
    /// How many are NaN.
    pub nans: u64,
}

impl Summary {
    /// Looks at all elements.
    pub fn of(t: &Tensor, bar: &ProgressBar) -> Result<Summary> {
        let bytes = t.defined()?.size() as u64;
        let (mut least, mut greatest, mut sum, mut nans, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0, 0u64);
        let mut pieces = Pieces::new(t)?;
        while let Some(piece) = pieces.next()? {
            for &x in &piece {
                nans += u64::from(x.is_nan());
                least = least.min(x);
                greatest = greatest.max(x);
                sum += if x.is_nan() { 0.0 } else { x };
            }
            count += piece.len() as u64;
            bar.inc(piece.len() as u64 * bytes);
        }
        Ok(Summary { least, greatest, mean: sum / (count - nans) as f64, nans })
    }
}

/// A number of JSON; what JSON has no number for, NaN and infinities, is a text.
pub fn json(x: f64) -> serde_json::Value {
    if x.is_finite() { x.into() } else { x.to_string().into() }
}
