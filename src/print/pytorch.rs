//! PyTorch's layout: `tensor([[1., 2.], [3., 4.]])`, with sizes, dtype and summaries as in PyTorch.

use super::number::{Digits, Format, Notation};
use super::options::Options;
use super::source::{Source, SparseSource};
use super::walk::{Odometer, Shown};
use crate::alloc::HeapText;
use crate::dtype::{Category, Dtype, default_dtype};
use crate::error::Result;
use crate::layout::Dims;
use crate::scalar::Scalar;

const OPENING: &str = "tensor(";

/// The text of a tensor.
pub fn tensor(source: &Source<'_>, options: &Options) -> Result<HeapText> {
    let mut text = HeapText::with_capacity(shown(source, options).1)?;
    text.push(OPENING)?;
    elements(&mut text, source, options, OPENING.len())?;
    endings(&mut text, source, options)?;
    text.push(")")?;
    Ok(text)
}

/// The text of a sparse tensor: `tensor(indices=tensor([[0, 1]]), values=tensor([1., 2.]), size=(3,), nnz=2, layout=torch.sparse_coo)`.
pub fn sparse(sparse: &SparseSource<'_>, options: &Options) -> Result<HeapText> {
    let capacity = sparse.parts.iter().fold(0i64, |sum, (_, part)| sum.saturating_add(shown(part, options).1));
    let mut text = HeapText::with_capacity(capacity)?;
    text.push(OPENING)?;
    for (k, (name, part)) in sparse.parts.iter().enumerate() {
        if k > 0 {
            text.push(",\n")?;
            text.spaces(OPENING.len())?;
        }
        text.push(name)?;
        text.push("=")?;
        text.push(OPENING)?;
        elements(&mut text, part, options, 2 * OPENING.len() + name.len() + 1)?;
        if part.layout.numel() == 0 {
            text.push(", ")?;
            tuple(&mut text, &part.layout.shape)?;
        }
        text.push(")")?;
    }
    let mut line = if sparse.breaks { i64::MAX / 2 } else { (text.line_len() + 2) as i64 };
    ending(&mut text, &mut line, tuple_len(sparse.size), options.width)?;
    tuple(&mut text, sparse.size)?;
    let mut digits = Digits::new();
    let count = digits.format(Notation::Integer, sparse.nnz.into());
    let mut more = |key: &str, value: &str| {
        ending(&mut text, &mut line, key.len() + value.len(), options.width)?;
        text.push(key)?;
        text.push(value)
    };
    more("nnz=", count)?;
    if sparse.dtype != default_dtype() && !matches!(sparse.dtype, Dtype::Int64 | Dtype::Bool) {
        more("dtype=torch.", sparse.dtype.name())?;
    }
    more("layout=torch.", sparse.name)?;
    text.push(")")?;
    Ok(text)
}

/// The number of elements at each end of a summary (`None` if all elements are shown), and a lower bound for the number of characters.
fn shown(source: &Source<'_>, options: &Options) -> (Option<i64>, i64) {
    let shape = &source.layout.shape;
    // A scalar is never summarised.
    let edge = (source.layout.numel() > options.threshold && !shape.is_empty()).then_some(options.edge);
    let count = shape.iter().fold(1, |count: i64, &n| count.saturating_mul(Shown::new(n, edge).count()));
    // Each element takes at least two characters: a digit, and a bracket or a comma. If there is no memory for them, the call fails before
    // it reads an element.
    (edge, count.saturating_mul(2))
}

/// Appends the elements. Lines after the first one begin at column `indent`.
fn elements(text: &mut HeapText, source: &Source<'_>, options: &Options, indent: usize) -> Result<()> {
    match shown(source, options).0 {
        _ if source.layout.numel() == 0 => text.push("[]"),
        Some(0) => text.push("[...]"),
        edge => {
            let format = format(source, options, edge);
            Page { text, digits: Digits::new(), source, format, edge, width: options.width, indent }.contents()
        }
    }
}

/// Appends the sizes and the dtype, unless the text of the elements implies them.
fn endings(text: &mut HeapText, source: &Source<'_>, options: &Options) -> Result<()> {
    let (shape, dtype, empty) = (&source.layout.shape, source.dtype, source.layout.numel() == 0);
    // PyTorch counts the newline before a line, and one character more.
    let mut line = (text.line_len() + 2) as i64;
    let sizes = if empty { shape.len() != 1 } else { options.edge == 0 };
    if sizes {
        let length = tuple_len(shape);
        ending(text, &mut line, length, options.width)?;
        tuple(text, shape)?;
    }
    let known = dtype == default_dtype() || !empty && matches!(dtype, Dtype::Int64 | Dtype::Bool);
    if !known {
        const KEY: &str = "dtype=torch.";
        ending(text, &mut line, KEY.len() + dtype.name().len(), options.width)?;
        text.push(KEY)?;
        text.push(dtype.name())?;
    }
    Ok(())
}

/// Appends the separator before an ending of `length` characters: a new line if the ending does not fit on this line.
fn ending(text: &mut HeapText, line: &mut i64, length: usize, width: i64) -> Result<()> {
    let length = length as i64;
    if *line + length + 2 > width {
        text.push(",\n")?;
        text.spaces(OPENING.len())?;
        *line = OPENING.len() as i64 + length;
    } else {
        text.push(", ")?;
        *line += length + 2;
    }
    Ok(())
}

/// Appends `size=(2, 3)`. A single size is followed by a comma.
fn tuple(text: &mut HeapText, sizes: &[i64]) -> Result<()> {
    let mut digits = Digits::new();
    text.push("size=(")?;
    for (d, &size) in sizes.iter().enumerate() {
        text.push(if d == 0 { "" } else { ", " })?;
        text.push(digits.format(Notation::Integer, size.into()))?;
    }
    text.push(if sizes.len() == 1 { ",)" } else { ")" })
}

/// The number of characters that [`tuple`] appends.
fn tuple_len(sizes: &[i64]) -> usize {
    let mut digits = Digits::new();
    let numbers: usize = sizes.iter().map(|&size| digits.format(Notation::Integer, size.into()).len()).sum();
    let commas = if sizes.len() == 1 { 1 } else { 2 * sizes.len().saturating_sub(1) };
    "size=()".len() + numbers + commas
}

/// The shown rows: an odometer over all dimensions except the last, and the shown indices of the last dimension.
struct RowWalk {
    outer: Odometer,
    row: Shown,
    stride: i64,
}

impl RowWalk {
    fn of(source: &Source<'_>, edge: Option<i64>) -> RowWalk {
        let layout = source.layout;
        let outer = layout.ndim().saturating_sub(1);
        let dims = |entries: &[i64]| Dims::from(&entries[..outer]);
        RowWalk {
            outer: Odometer::new(dims(&layout.shape), dims(&layout.strides), layout.offset, edge),
            row: Shown::new(layout.shape.last().copied().unwrap_or(1), edge),
            stride: layout.strides.last().copied().unwrap_or(0),
        }
    }

    /// The element that is shown as number `k` of the row.
    fn element(&self, source: &Source<'_>, k: i64) -> Scalar {
        (source.at)(self.outer.position + self.row.index(k) * self.stride)
    }
}

/// Calls `look` for every element that is shown.
fn each(source: &Source<'_>, edge: Option<i64>, mut look: impl FnMut(Scalar)) {
    let mut rows = RowWalk::of(source, edge);
    loop {
        (0..rows.row.count()).for_each(|k| look(rows.element(source, k)));
        if rows.outer.advance().is_none() {
            return;
        }
    }
}

/// The format of all numbers. Only elements that are shown affect it.
fn format(source: &Source<'_>, options: &Options, edge: Option<i64>) -> Format {
    let form = match source.dtype.category() {
        Category::Bool => Notation::Truth,
        Category::Integer => Notation::Integer,
        Category::Float => match float_form(source, options, edge) {
            Some(form) => form,
            None => return Format { form: Notation::Whole, width: 1 },
        },
    };
    let (mut digits, mut width) = (Digits::new(), 1);
    // Zeros, infinities and NaN of floats do not affect the width.
    let counts = |x: f64| !source.dtype.is_float() || x != 0.0 && x.is_finite();
    each(source, edge, |value| {
        if counts(value.to_f64()) {
            width = width.max(digits.format(form, value).len());
        }
    });
    Format { form, width }
}

/// The form of floats; `None` if every shown element is 0, infinite or NaN.
fn float_form(source: &Source<'_>, options: &Options, edge: Option<i64>) -> Option<Notation> {
    let (mut least, mut most, mut whole) = (f64::INFINITY, 0.0f64, true);
    each(source, edge, |value| {
        let x = value.to_f64();
        if x != 0.0 && x.is_finite() {
            (least, most) = (least.min(x.abs()), most.max(x.abs()));
            whole &= x == x.ceil();
        }
    });
    if most == 0.0 {
        return None;
    }
    let wide = || most / least > 1000.0 || most > 1e8 || least < 1e-4;
    Some(match options.scientific.unwrap_or_else(wide) {
        true => Notation::Scientific(options.precision),
        false if whole => Notation::Whole,
        false => Notation::Fixed(options.precision),
    })
}

/// The text that the elements are appended to, and their format.
struct Page<'a> {
    text: &'a mut HeapText,
    digits: Digits,
    source: &'a Source<'a>,
    format: Format,
    edge: Option<i64>,
    /// The length of a line in characters.
    width: i64,
    /// The column of the outermost bracket.
    indent: usize,
}

impl Page<'_> {
    /// Appends all elements in their brackets.
    fn contents(&mut self) -> Result<()> {
        if self.source.layout.ndim() == 0 {
            return self.put((self.source.at)(self.source.layout.offset));
        }
        let mut rows = RowWalk::of(self.source, self.edge);
        let outer = rows.outer.at.len();
        self.repeat("[", outer)?;
        self.row(&rows, outer)?;
        while let Some(d) = rows.outer.advance() {
            // The index of dimension `d` has advanced: the brackets of later dimensions are closed and opened again.
            let inner = outer - 1 - d;
            self.repeat("]", inner)?;
            self.between(d, outer)?;
            if rows.outer.shown(d).cut == Some(rows.outer.at[d]) {
                self.text.push("...")?;
                self.between(d, outer)?;
            }
            self.repeat("[", inner)?;
            self.row(&rows, outer)?;
        }
        self.repeat("]", outer)
    }

    /// Appends the separator of two entries of dimension `d`: a newline, and an empty line for each dimension between `d` and the rows.
    fn between(&mut self, d: usize, outer: usize) -> Result<()> {
        self.text.push(",")?;
        self.repeat("\n", outer - d)?;
        self.text.spaces(self.indent + d + 1)
    }

    /// Appends a row, on several lines if necessary.
    fn row(&mut self, rows: &RowWalk, outer: usize) -> Result<()> {
        let indent = self.indent + outer;
        let capacity = self.width.saturating_sub(indent as i64) / (self.format.width as i64 + 2);
        let (mut line, most) = (0, capacity.max(1));
        self.text.push("[")?;
        for k in 0..rows.row.count() {
            if k > 0 {
                self.comma(&mut line, most, indent)?;
            }
            if rows.row.cut == Some(k) {
                self.text.push(" ...")?;
                self.comma(&mut line, most, indent)?;
            }
            self.put(rows.element(self.source, k))?;
        }
        self.text.push("]")
    }

    /// Appends the separator of two elements. `line` is the number of elements on the line.
    fn comma(&mut self, line: &mut i64, most: i64, indent: usize) -> Result<()> {
        *line += 1;
        if *line < most {
            return self.text.push(", ");
        }
        *line = 0;
        self.text.push(",\n")?;
        self.text.spaces(indent + 1)
    }

    fn put(&mut self, value: Scalar) -> Result<()> {
        self.format.put(self.text, &mut self.digits, value)
    }

    fn repeat(&mut self, what: &str, times: usize) -> Result<()> {
        (0..times).try_for_each(|_| self.text.push(what))
    }
}
