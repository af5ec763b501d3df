//! The elements of a tensor in a file, a piece at a time.

use crate::source::{Entry, Source};
use crate::stop::Result;
use thorn::dtype::{Category, Dtype};
use thorn::layout::TH_CONTIGUOUS_FORMAT;
use thorn::ops::{copy, view};
use thorn::tensor::Tensor;

/// The maximum number of elements of a piece.
const PIECE: i64 = 1 << 20;

/// The elements of a tensor. The pieces depend only on the sizes.
pub struct Elements<'a> {
    source: &'a Source,
    entry: &'a Entry,
    /// The whole tensor, if parts of the file are not parts of the tensor.
    whole: Option<Tensor>,
    cut: Cut,
}

/// Divides a tensor into pieces: along one dimension, for each position of the dimensions before it.
struct Cut {
    dim: usize,
    /// The product of the sizes before `dim`.
    before: i64,
    /// Pieces along `dim`.
    pieces: i64,
    /// The number of entries of `dim` in a piece.
    entries: i64,
    /// The number of elements of an entry.
    row: i64,
}

impl Cut {
    fn new(sizes: &[i64]) -> Cut {
        if sizes.contains(&0) {
            return Cut { dim: 0, before: 0, pieces: 0, entries: 0, row: 0 };
        }
        let mut row: i64 = sizes.iter().product();
        for (dim, &size) in sizes.iter().enumerate() {
            row /= size;
            if row <= PIECE {
                let entries = (PIECE / row).min(size);
                return Cut { dim, before: sizes[..dim].iter().product(), pieces: (size - 1) / entries + 1, entries, row };
            }
        }
        // A scalar.
        Cut { dim: 0, before: 1, pieces: 1, entries: 1, row: 1 }
    }
}

impl<'a> Elements<'a> {
    /// Opens the elements of `entry`.
    pub fn new(source: &'a Source, entry: &'a Entry) -> Result<Elements<'a>> {
        let none = if entry.dtype.is_ok() { source.archive().part(entry.index, 0, 0)? } else { None };
        let whole = if none.is_some() { None } else { Some(source.tensor(entry)?) };
        Ok(Elements { source, entry, whole, cut: Cut::new(&entry.sizes) })
    }

    /// The number of pieces.
    pub fn pieces(&self) -> i64 {
        self.cut.before * self.cut.pieces
    }

    /// Returns the piece with this number, and the row-major number of its first element.
    pub fn piece(&self, number: i64) -> Result<(i64, Piece)> {
        let Cut { dim, pieces, entries, row, .. } = self.cut;
        let sizes = &self.entry.sizes;
        let size = sizes.get(dim).copied().unwrap_or(1);
        let (block, start) = (number / pieces, number % pieces * entries);
        let len = entries.min(size - start);
        let first = (block * size + start) * row;
        let Some(whole) = &self.whole else {
            let part =
                self.source.archive().part(self.entry.index, first, len * row).map_err(|error| self.source.failed(self.entry, &error))?;
            return match part {
                Some(part) => Ok((first, Piece(part))),
                None => Ok((first, Piece(self.source.tensor(self.entry)?))),
            };
        };
        if sizes.is_empty() {
            return Ok((0, Piece(whole.clone())));
        }
        let part = view::derive(whole, |layout| {
            layout.narrow(dim as i32, start, len)?;
            let mut rest = block;
            for d in (0..dim).rev() {
                layout.select(d as i32, rest % sizes[d])?;
                rest /= sizes[d];
            }
            Ok(())
        })?;
        Ok((first, Piece(copy::contiguous(&part, TH_CONTIGUOUS_FORMAT)?)))
    }
}

/// Contiguous row-major elements.
pub struct Piece(Tensor);

/// The elements of a piece in one of three types that hold all dtypes.
pub enum Values<'a> {
    /// Integers and bools.
    Ints(&'a [i64]),
    /// float16, bfloat16 and float32.
    Singles(&'a [f32]),
    /// float64.
    Doubles(&'a [f64]),
}

impl Piece {
    /// Returns the piece with its elements converted to a type of [`Values`].
    pub fn widened(&self) -> Result<Piece> {
        let dtype = self.0.defined()?;
        let wide = match dtype {
            Dtype::Float64 => dtype,
            _ if dtype.category() == Category::Float => Dtype::Float32,
            _ => Dtype::Int64,
        };
        self.converted(wide)
    }

    /// Returns the piece with its elements converted.
    pub fn converted(&self, dtype: Dtype) -> Result<Piece> {
        Ok(Piece(copy::to_dtype(&self.0, dtype)?))
    }

    /// Returns the elements of a widened piece. Other pieces return none.
    pub fn values(&self) -> Values<'_> {
        let bytes = self.bytes();
        // SAFETY: the bytes are elements of the dtype, for which every bit pattern is valid. Storages and mapped parts of files are aligned
        // for the dtype, so no bytes are left over at the ends.
        unsafe {
            match self.0.dtype() {
                Some(Dtype::Float32) => Values::Singles(bytes.align_to().1),
                Some(Dtype::Float64) => Values::Doubles(bytes.align_to().1),
                Some(Dtype::Int64) => Values::Ints(bytes.align_to().1),
                _ => Values::Ints(&[]),
            }
        }
    }

    /// Returns the bytes of the elements in memory.
    pub fn bytes(&self) -> &[u8] {
        let size = self.0.dtype().map_or(0, Dtype::size);
        let elements = self.0.layout().map_or(0, |layout| layout.numel()) as usize;
        // SAFETY: the tensor is row-major and has this many bytes, which nothing writes. A tensor without elements may have no memory.
        if elements == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.0.data(), elements * size) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_every_element_once() {
        let million = PIECE;
        let all: [&[i64]; 9] = [
            &[],
            &[7],
            &[million],
            &[million + 1],
            &[3, million],
            &[3, million + 1],
            &[2, 3, 2 * million + 5],
            &[5 * million, 1, 2],
            &[1, 1, 3 * million],
        ];
        for sizes in all {
            let cut = Cut::new(sizes);
            let (size, elements) = (sizes.get(cut.dim).copied().unwrap_or(1), sizes.iter().product::<i64>());
            let mut next = 0;
            for number in 0..cut.before * cut.pieces {
                let (block, start) = (number / cut.pieces, number % cut.pieces * cut.entries);
                let len = cut.entries.min(size - start) * cut.row;
                assert_eq!((block * size + start) * cut.row, next, "{sizes:?}");
                assert!((1..=PIECE).contains(&len), "{sizes:?}: {len}");
                next += len;
            }
            assert_eq!(next, elements, "{sizes:?}");
        }
        assert_eq!(Cut::new(&[4, 0, 3]).pieces, 0);
    }
}
