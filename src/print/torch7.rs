//! Torch7's layout: columns of numbers, a common factor if they are large or small, and `[torch.FloatTensor of size 2x3]`.
//!
//! Torch7 converted all elements to float64 and always wrote four digits after the point on lines of 80 characters. Here both numbers are
//! options.

use super::number::{Digits, Format, Notation};
use super::options::Options;
use super::source::Source;
use super::walk::Odometer;
use crate::alloc::HeapText;
use crate::error::Result;
use crate::layout::Dims;
use crate::scalar::Scalar;

/// The text of a tensor.
pub fn tensor(source: &Source<'_>, options: &Options) -> Result<HeapText> {
    let layout = source.layout;
    let mut page = Page::of(source, options)?;
    match layout.ndim() {
        _ if layout.numel() == 0 => {}
        0 | 1 => page.column()?,
        2 => page.matrix(layout.offset, "")?,
        _ => page.matrices()?,
    }
    page.last_line("Tensor", source.no_dimension)
}

/// The text of a storage.
pub fn storage(source: &Source<'_>, options: &Options) -> Result<HeapText> {
    let mut page = Page::of(source, options)?;
    page.column()?;
    page.last_line("Storage", false)
}

/// The format of the numbers of a tensor.
struct Numbers {
    format: Format,
    /// The exponent of the power of ten that all numbers are divided by.
    scale: Option<i32>,
    /// True if every row is on one line, of any length.
    endless: bool,
}

/// The number of digits before the point: 1 for 0, 0 for 0.5, -1 for 0.05. Not finite for infinities.
fn whole_digits(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x.log10().floor() + 1.0 }
}

/// The format of all numbers. It depends on every element.
fn numbers(source: &Source<'_>, precision: usize) -> Numbers {
    let (mut least, mut most, mut whole, mut nan) = (f64::INFINITY, 0.0f64, true, false);
    let layout = source.layout;
    if layout.numel() > 0 {
        let mut odometer = Odometer::new(layout.shape.clone(), layout.strides.clone(), layout.offset, None);
        loop {
            let x = (source.at)(odometer.position).to_f64();
            (least, most) = (least.min(x.abs()), most.max(x.abs()));
            (whole, nan) = (whole && x == x.ceil(), nan || x.is_nan());
            if odometer.advance().is_none() {
                break;
            }
        }
    }
    let plain = |form, width| Numbers { format: Format { form, width }, scale: None, endless: false };
    let (low, high) = (whole_digits(least), whole_digits(most));
    // If float64 cannot hold the power of ten, dividing by it would give infinities.
    let tiny = high < -300.0;
    match () {
        // If there is a NaN, Torch7 computes no width and uses C's `%f`.
        () if nan => Numbers { endless: true, ..plain(Notation::Fixed(6), 0) },
        () if whole && high > 9.0 => plain(Notation::Scientific(precision), precision + 7),
        () if whole => plain(Notation::Integer, high as usize + 1),
        () if high - low > 4.0 || tiny => {
            let long = high.abs() > 99.0 || low.abs() > 99.0;
            plain(Notation::Scientific(precision), precision + 7 + usize::from(long))
        }
        () if !(0.0..=5.0).contains(&high) => Numbers { scale: Some(high as i32 - 1), ..plain(Notation::Fixed(precision), precision + 3) },
        () => plain(Notation::Fixed(precision), precision + 2 + (high as usize).max(1)),
    }
}

/// The text, and the elements that are appended to it.
struct Page<'a> {
    text: HeapText,
    digits: Digits,
    source: &'a Source<'a>,
    numbers: Numbers,
    /// The length of a line in characters.
    width: i64,
}

impl<'a> Page<'a> {
    fn of(source: &'a Source<'a>, options: &Options) -> Result<Page<'a>> {
        // Each element takes at least two characters: a digit, and a space or a newline. If there is no memory for them, the call fails
        // before it reads an element.
        let text = HeapText::with_capacity(source.layout.numel().saturating_mul(2))?;
        Ok(Page { text, digits: Digits::new(), source, numbers: numbers(source, options.precision), width: options.width })
    }

    /// Appends the elements of a tensor with at most one dimension, one a line.
    fn column(&mut self) -> Result<()> {
        let layout = self.source.layout;
        let (size, stride) = (layout.shape.first().copied().unwrap_or(1), layout.strides.first().copied().unwrap_or(0));
        if self.numbers.scale.is_some() && size > 0 {
            self.scale()?;
            self.text.push("\n")?;
        }
        for k in 0..size {
            self.put(layout.offset + k * stride)?;
            self.text.push("\n")?;
        }
        Ok(())
    }

    /// Appends the matrices of the last two dimensions. Above each are its indices, which count from 1; the first index moves fastest.
    fn matrices(&mut self) -> Result<()> {
        let layout = self.source.layout;
        let reversed = |dims: &[i64]| {
            let mut outer = Dims::from(&dims[..dims.len() - 2]);
            outer.reverse();
            outer
        };
        let mut odometer = Odometer::new(reversed(&layout.shape), reversed(&layout.strides), layout.offset, None);
        loop {
            self.text.push("(")?;
            for &k in odometer.at.iter().rev() {
                self.whole(k + 1)?;
                self.text.push(",")?;
            }
            self.text.push(".,.) = \n")?;
            self.matrix(odometer.position, " ")?;
            if odometer.advance().is_none() {
                return Ok(());
            }
            self.text.push("\n")?;
        }
    }

    /// Appends the matrix of the last two dimensions that begins at `position`. Columns that do not fit on a line follow below, in groups.
    fn matrix(&mut self, position: i64, indent: &str) -> Result<()> {
        let layout = self.source.layout;
        let n = layout.ndim();
        let (rows, columns) = (layout.shape[n - 2], layout.shape[n - 1]);
        let capacity = self.width.saturating_sub(indent.len() as i64) / (self.numbers.format.width as i64 + 1);
        let most = if self.numbers.endless { columns } else { capacity.max(1) };
        let scaled = self.numbers.scale.is_some();
        self.text.push(indent)?;
        let mut first = 0;
        while first < columns {
            let end = columns.min(first.saturating_add(most));
            if most < columns {
                self.text.push(if first > 0 { "\n" } else { "" })?;
                self.text.push("Columns ")?;
                self.whole(first + 1)?;
                self.text.push(" to ")?;
                self.whole(end)?;
                self.text.push("\n")?;
                self.text.push(indent)?;
            }
            if scaled {
                self.scale()?;
                self.text.push("\n ")?;
                self.text.push(indent)?;
            }
            for row in 0..rows {
                if row > 0 {
                    self.text.push(indent)?;
                    self.text.push(if scaled { " " } else { "" })?;
                }
                for column in first..end {
                    self.text.push(if column > first { " " } else { "" })?;
                    self.put(position + row * layout.strides[n - 2] + column * layout.strides[n - 1])?;
                }
                self.text.push("\n")?;
            }
            first = end;
        }
        Ok(())
    }

    /// Appends the common factor, in the form of C's `%g`.
    fn scale(&mut self) -> Result<()> {
        let Some(exponent) = self.numbers.scale else { return Ok(()) };
        let form = match exponent {
            -4..0 => Notation::Fixed(exponent.unsigned_abs() as usize),
            0..6 => Notation::Fixed(0),
            _ => Notation::Scientific(0),
        };
        self.text.push(self.digits.format(form, Scalar::Float(power_of_ten(exponent))))?;
        self.text.push(" *")
    }

    /// Appends the element at `position`.
    fn put(&mut self, position: i64) -> Result<()> {
        let value = (self.source.at)(position);
        let value = self.numbers.scale.map_or(value, |exponent| Scalar::Float(value.to_f64() / power_of_ten(exponent)));
        self.numbers.format.put(&mut self.text, &mut self.digits, value)
    }

    fn whole(&mut self, n: i64) -> Result<()> {
        self.text.push(self.digits.format(Notation::Integer, n.into()))
    }

    /// Appends `what`, which is `Tensor` or `Storage`, and the sizes.
    fn last_line(mut self, what: &str, no_dimension: bool) -> Result<HeapText> {
        for part in ["[torch.", self.source.dtype.torch_name(), what, if no_dimension { " with no dimension]" } else { " of size " }] {
            self.text.push(part)?;
        }
        if no_dimension {
            return Ok(self.text);
        }
        for (d, &size) in self.source.layout.shape.iter().enumerate() {
            self.text.push(if d > 0 { "x" } else { "" })?;
            self.whole(size)?;
        }
        self.text.push("]")?;
        Ok(self.text)
    }
}

fn power_of_ten(exponent: i32) -> f64 {
    10f64.powf(f64::from(exponent))
}
