//! Products of matrices of compressed rows with vectors and dense matrices.
//!
//! One thread sums each row, so that results do not depend on the number of threads. Rows are divided among threads by entries, since one
//! row may have all entries. For products with dense matrices the columns of a piece are first compared with the size. This brings them
//! into the L1 cache, and the loops that follow need no check.

mod compress;
mod softmax;
mod solve;
mod sparse;

pub use compress::compress;
pub use softmax::softmax;
pub use solve::solve;
pub use sparse::sparse_product;

use super::engine::{CHEAP, Shared, parallel};
use super::simd::{Isa, simd};
use crate::dtype::{Dtype, Element};
use crate::error::{Result, bail};
use crate::launch::Compressed;
use crate::operand::Operand;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Entries in a piece of work.
const PIECE: usize = 2048;
/// Columns of a dense matrix that are summed together.
const WIDTH: usize = 32;
/// The maximum number of parts of the rows of a transposed product. Each part reads all entries.
const PARTS: usize = 8;

/// The type of starts and columns.
trait Position: Element + Ord + std::fmt::Display {
    /// Returns the position as an index. A negative number becomes an index greater than every size.
    fn place(self) -> usize;
}

impl Position for i32 {
    #[inline(always)]
    fn place(self) -> usize {
        self as isize as usize
    }
}

impl Position for i64 {
    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }
}

/// The type of entries. Sums of products use fused multiply-add if the instruction set has it.
trait Entry: Element {
    const ONE: Self;
    /// `self * b + sum`.
    fn times(self, isa: Isa, b: Self, sum: Self) -> Self;
}

impl Entry for f32 {
    const ONE: f32 = 1.0;
    #[inline(always)]
    fn times(self, isa: Isa, b: f32, sum: f32) -> f32 {
        isa.fma_f32(self, b, sum)
    }
}

impl Entry for f64 {
    const ONE: f64 = 1.0;
    #[inline(always)]
    fn times(self, isa: Isa, b: f64, sum: f64) -> f64 {
        isa.fma_f64(self, b, sum)
    }
}

impl Entry for i64 {
    const ONE: i64 = 1;
    #[inline(always)]
    fn times(self, _: Isa, b: i64, sum: i64) -> i64 {
        self.mul(b).add(sum)
    }
}

/// The starts of rows among the entries; the last element is the number of entries.
#[derive(Clone, Copy)]
struct Starts<'a, I>(&'a [I]);

/// A matrix of compressed rows.
#[derive(Clone, Copy)]
struct Rows<'a, I, T> {
    starts: Starts<'a, I>,
    columns: &'a [I],
    /// The entries; `None` if each entry is 1.
    entries: Option<&'a [T]>,
}

/// The first entry whose column is outside the matrix.
struct Outside(AtomicUsize);

impl Outside {
    fn new() -> Outside {
        Outside(AtomicUsize::new(usize::MAX))
    }

    /// Records an entry.
    #[cold]
    fn note(&self, at: usize) {
        self.0.fetch_min(at, Ordering::Relaxed);
    }

    fn finish<I: Position>(self, columns: &[I], size: usize) -> Result<()> {
        match self.0.into_inner() {
            usize::MAX => Ok(()),
            at => bail!(Argument, "column {} of entry {at} is out of range for {size} columns", columns[at]),
        }
    }
}

impl<I: Position> Starts<'_, I> {
    /// Returns the number of rows.
    fn count(self) -> usize {
        self.0.len() - 1
    }

    /// Fails unless the starts ascend from 0 to `n`.
    fn check(self, n: usize) -> Result<()> {
        let (first, last) = (self.0[0], self.0[self.count()]);
        if first.place() != 0 || last.place() != n {
            bail!(Argument, "rows start at {first} and end at {last}, expected 0 and the number of entries, {n}")
        }
        if !self.0.is_sorted() {
            let i = self.0.windows(2).position(|pair| pair[0] > pair[1]).unwrap_or(0);
            bail!(Argument, "row {i} starts at {} and ends at {}", self.0[i], self.0[i + 1])
        }
        Ok(())
    }

    /// Returns the range of a row's entries.
    #[inline(always)]
    fn row(self, i: usize) -> Range<usize> {
        self.0[i].place()..self.0[i + 1].place()
    }

    /// Calls `task` with ranges of rows of about [`PIECE`] entries, on all threads. `cost` is the cost of an entry. The starts must have
    /// been checked.
    fn each_piece(self, cost: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
        let (rows, n) = (self.count(), self.0[self.count()].place());
        let pieces = (n + rows).div_ceil(PIECE).max(1);
        // A row counts as an entry, too, since there may be more rows than entries.
        let begin = |piece: usize| match piece {
            0 => 0,
            _ if piece >= pieces => rows,
            _ => {
                let (mut least, mut most) = (0, rows);
                while least < most {
                    let middle = least.midpoint(most);
                    if self.0[middle].place() + middle < piece * PIECE { least = middle + 1 } else { most = middle }
                }
                least
            }
        };
        parallel(pieces, PIECE * cost, CHEAP / 4, &|units| {
            let mut from = begin(units.start);
            for piece in units {
                let end = begin(piece + 1);
                if from < end {
                    task(from..end);
                }
                from = end;
            }
        });
    }
}

impl<I: Position, T> Rows<'_, I, T> {
    /// Returns true if all columns of these rows are less than `size`. Otherwise records the first that is not.
    #[inline(always)]
    fn inside(&self, rows: Range<usize>, size: usize, outside: &Outside) -> bool {
        let range = self.starts.0[rows.start].place()..self.starts.0[rows.end].place();
        let columns = &self.columns[range.clone()];
        let sound = columns.iter().fold(true, |sound, column| sound & (column.place() < size));
        if !sound && let Some(at) = columns.iter().position(|column| column.place() >= size) {
            outside.note(range.start + at);
        }
        sound
    }
}

/// Returns the sum of the entries of a row times the elements of a vector. Columns are compared with the vector's size as they are read,
/// because the loop waits for the scattered elements of the vector anyway.
#[inline(always)]
fn dot<I: Position, T: Entry>(isa: Isa, matrix: &Rows<'_, I, T>, row: Range<usize>, x: &[T], outside: &Outside) -> T {
    let mut sum = T::ZERO;
    for k in row {
        // SAFETY: ranges of rows are inside the entries.
        let (at, entry) =
            unsafe { (matrix.columns.get_unchecked(k).place(), matrix.entries.map_or(T::ONE, |entries| *entries.get_unchecked(k))) };
        match x.get(at) {
            Some(&x) => sum = entry.times(isa, x, sum),
            None => outside.note(k),
        }
    }
    sum
}

/// Computes a row of a product with a matrix of `p` columns. A block of columns is summed in registers.
///
/// # Safety
/// Every column of the entries must be a row of `m`, and `out` must have room for a row.
#[inline(always)]
unsafe fn combine<I: Position, T: Entry>(isa: Isa, matrix: &Rows<'_, I, T>, range: Range<usize>, m: &[T], p: usize, out: *mut T) {
    let mut first = 0;
    while first < p {
        let width = WIDTH.min(p - first);
        let mut sums = [T::ZERO; WIDTH];
        for k in range.clone() {
            // SAFETY: the caller keeps this function's contract.
            let (row, x) = unsafe {
                let row = m.as_ptr().add(matrix.columns.get_unchecked(k).place() * p + first);
                (row, matrix.entries.map_or(T::ONE, |entries| *entries.get_unchecked(k)))
            };
            // SAFETY: the row of `m` has `width` elements from `first` on.
            unsafe {
                if width == WIDTH {
                    for j in 0..WIDTH {
                        sums[j] = x.times(isa, *row.add(j), sums[j]);
                    }
                } else {
                    for j in 0..width {
                        sums[j] = x.times(isa, *row.add(j), sums[j]);
                    }
                }
            }
        }
        // SAFETY: `out` has room for `p` elements, and `first + width <= p`.
        unsafe { std::ptr::copy_nonoverlapping(sums.as_ptr(), out.add(first), width) };
        first += width;
    }
}

/// `r = A m`, with `p` columns of `m` and `r`.
fn product<I: Position, T: Entry>(matrix: &Rows<'_, I, T>, m: &[T], size: usize, p: usize, r: Shared) -> Result<()> {
    let outside = Outside::new();
    matrix.starts.each_piece(p, &|rows| {
        simd(
            #[inline(always)]
            |isa| {
                let out = r.get().cast::<T>();
                if p != 1 && !matrix.inside(rows.clone(), size, &outside) {
                    return;
                }
                for i in rows.clone() {
                    let row = matrix.starts.row(i);
                    // SAFETY: rows of the result are disjoint, and the columns were compared with the size above.
                    unsafe {
                        if p == 1 {
                            out.add(i).write(dot(isa, matrix, row, m, &outside))
                        } else {
                            combine(isa, matrix, row, m, p, out.add(i * p))
                        }
                    }
                }
            },
        )
    });
    outside.finish(matrix.columns, size)
}

/// `r = A^T m`. The rows of the result are divided among threads. Each thread reads all entries, and adds the ones for its rows in the
/// order of `A`'s rows.
fn transposed<I: Position, T: Entry>(matrix: &Rows<'_, I, T>, m: &[T], size: usize, p: usize, r: Shared) -> Result<()> {
    let (outside, n) = (Outside::new(), matrix.columns.len());
    if size == 0 || p == 0 {
        matrix.starts.each_piece(1, &|rows| _ = matrix.inside(rows, size, &outside));
        return outside.finish(matrix.columns, size);
    }
    let parts = PARTS.min(size);
    parallel(parts, n.saturating_mul(p).saturating_add(size * p) / parts + 1, CHEAP / 4, &|units| {
        let own = size * units.start / parts..size * units.end / parts;
        let out = match own.len() * p {
            // A result without elements may have no memory.
            0 => &mut [],
            // SAFETY: rows of the result are disjoint.
            len => unsafe { std::slice::from_raw_parts_mut(r.get().cast::<T>().add(own.start * p), len) },
        };
        out.fill(T::ZERO);
        simd(
            #[inline(always)]
            |isa| {
                for i in 0..matrix.starts.count() {
                    let row = &m[i * p..][..p];
                    for k in matrix.starts.row(i) {
                        let at = matrix.columns[k].place();
                        if at >= size {
                            outside.note(k);
                        } else if own.contains(&at) {
                            let x = matrix.entries.map_or(T::ONE, |entries| entries[k]);
                            let sums = &mut out[(at - own.start) * p..][..p];
                            sums.iter_mut().zip(row).for_each(|(sum, &y)| *sum = x.times(isa, y, *sum));
                        }
                    }
                }
            },
        )
    });
    outside.finish(matrix.columns, size)
}

/// `r[k] = a[i] . b[j]` for entry `k` in row `i` and column `j`, with rows of `p` elements.
fn sampled<I: Position, T: Entry>(matrix: &Rows<'_, I, T>, [a, b]: [&[T]; 2], size: usize, p: usize, r: Shared) -> Result<()> {
    const LANES: usize = 16;
    let outside = Outside::new();
    matrix.starts.each_piece(p, &|rows| {
        simd(
            #[inline(always)]
            |isa| {
                if !matrix.inside(rows.clone(), size, &outside) {
                    return;
                }
                for i in rows.clone() {
                    let a = &a[i * p..][..p];
                    for k in matrix.starts.row(i) {
                        let b = &b[matrix.columns[k].place() * p..][..p];
                        let mut sums = [T::ZERO; LANES];
                        let (wide, rest) = (a.chunks_exact(LANES).zip(b.chunks_exact(LANES)), p / LANES * LANES);
                        wide.for_each(|(a, b)| (0..LANES).for_each(|j| sums[j] = a[j].times(isa, b[j], sums[j])));
                        let mut sum = sums.iter().fold(T::ZERO, |sum, &x| sum.add(x));
                        (rest..p).for_each(|j| sum = a[j].times(isa, b[j], sum));
                        // SAFETY: the entries of the result are disjoint.
                        unsafe { r.get().cast::<T>().add(k).write(sum) };
                    }
                }
            },
        )
    });
    outside.finish(matrix.columns, size)
}

/// Computes the product; see [`Compressed`].
pub fn run(work: Compressed, out: &Operand, inputs: [&Operand; 3], more: Option<&Operand>) -> Result<()> {
    match inputs[0].dtype {
        Dtype::Int32 => with_positions::<i32>(work, out, inputs, more),
        _ => with_positions::<i64>(work, out, inputs, more),
    }
}

fn with_positions<I: Position>(work: Compressed, out: &Operand, inputs: [&Operand; 3], more: Option<&Operand>) -> Result<()> {
    match inputs[2].dtype {
        Dtype::Float32 => with_entries::<I, f32>(work, out, inputs, more),
        Dtype::Float64 => with_entries::<I, f64>(work, out, inputs, more),
        _ => with_entries::<I, i64>(work, out, inputs, more),
    }
}

fn with_entries<I: Position, T: Entry>(
    work: Compressed,
    out: &Operand,
    [starts, columns, m]: [&Operand; 3],
    more: Option<&Operand>,
) -> Result<()> {
    // SAFETY: the operands are row-major and of these types.
    let (matrix, dense) = unsafe {
        let entries = more.filter(|_| work != Compressed::Sampled).map(|more| more.elements::<T>());
        (Rows { starts: Starts(starts.elements::<I>()), columns: columns.elements::<I>(), entries }, m.elements::<T>())
    };
    matrix.starts.check(matrix.columns.len())?;
    let (p, r) = (m.layout().shape.last().map_or(1, |&p| p as usize), Shared(out.first()));
    match (work, more) {
        (Compressed::Product, _) => product(&matrix, dense, m.layout().shape[0] as usize, p, r),
        (Compressed::Transposed, _) => transposed(&matrix, dense, out.layout().shape[0] as usize, p, r),
        (Compressed::Sampled, Some(b)) => {
            // SAFETY: the operand is row-major and of this type.
            let other = unsafe { b.elements::<T>() };
            sampled(&matrix, [dense, other], b.layout().shape[0] as usize, p, r)
        }
        (Compressed::Sampled, None) => bail!(Internal, "a sampled product of one matrix"),
    }
}
