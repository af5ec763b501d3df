//! Products of two matrices of compressed rows (F. G. Gustavson, Two fast algorithms for sparse matrices: multiplication and permuted
//! transposition, 1978).
//!
//! A row of the product is summed in a vector that each thread has. The vector has an element for each column of the second matrix, or, if
//! few columns hold an entry, for each of those. A tree of bits records the columns that were met and yields them in ascending order, so
//! that nothing is sorted. Sums are formed in the order of the entries, for any number of threads.

use super::{Entry, Outside, PARTS, PIECE, Position, Rows, Starts};
use crate::alloc::collect;
use crate::cpu::engine::Shared;
use crate::cpu::scratch::ThreadScratch;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, bail};
use crate::launch::{Sides, SparseProduct};
use crate::operand::Operand;
use std::borrow::Cow;
use std::ops::Range;

/// The approximate number of products of entries in a part of the work.
const PART: u64 = 1 << 15;
/// With at most this many columns, the vector has an element for each of them.
const FEW_COLUMNS: usize = 1 << 16;
/// With at most this many columns for each entry, the vector has an element for each of them.
const COLUMNS_PER_ENTRY: usize = 4;

/// A matrix without entries.
type Pattern<'a, I> = Rows<'a, I, ()>;

/// Computes the product; see [`SparseProduct`].
pub fn sparse_product(work: SparseProduct, out: &Operand, second: Option<&Operand>, inputs: &[&Operand]) -> Result<()> {
    match inputs[0].dtype {
        Dtype::Int32 => with_positions::<i32>(work, out, second, inputs),
        _ => with_positions::<i64>(work, out, second, inputs),
    }
}

fn with_positions<I: Position>(work: SparseProduct, out: &Operand, second: Option<&Operand>, inputs: &[&Operand]) -> Result<()> {
    match (work, second, inputs) {
        (SparseProduct::Starts { columns }, None, &[a, a_columns, b, b_columns]) => {
            starts::<I>(out, pattern([a, a_columns]), pattern([b, b_columns]), columns as usize)
        }
        (SparseProduct::Starts { .. }, ..) => bail!(Internal, "{} inputs of a pattern", inputs.len()),
        _ => match second.unwrap_or(out).dtype {
            Dtype::Float32 => with_entries::<I, f32>(work, out, second, inputs),
            Dtype::Float64 => with_entries::<I, f64>(work, out, second, inputs),
            _ => with_entries::<I, i64>(work, out, second, inputs),
        },
    }
}

fn with_entries<I: Position, T: Entry>(work: SparseProduct, out: &Operand, second: Option<&Operand>, inputs: &[&Operand]) -> Result<()> {
    match (work, second, inputs) {
        (SparseProduct::Entries { columns }, Some(entries), &[a, a_columns, x, b, b_columns, y, starts]) => {
            // SAFETY: the operand is row-major int64.
            let starts = unsafe { starts.elements::<i64>() };
            entries_of::<I, T>([out, entries], starts, rows([a, a_columns, x]), rows([b, b_columns, y]), columns as usize)
        }
        (SparseProduct::Sampled { columns, of }, None, &[p, p_columns, a, a_columns, x, b, b_columns, y]) => {
            let r = Shared(out.first());
            let at = pattern([p, p_columns]);
            Sampled { r, at, a: rows::<I, T>([a, a_columns, x]), b: rows([b, b_columns, y]), columns: columns as usize }.run(of)
        }
        _ => bail!(Internal, "{} inputs of a product", inputs.len()),
    }
}

fn pattern<'a, I: Position>([starts, columns]: [&'a Operand; 2]) -> Pattern<'a, I> {
    // SAFETY: the operands are row-major and of this type.
    unsafe { Rows { starts: Starts(starts.elements()), columns: columns.elements(), entries: None } }
}

fn rows<'a, I: Position, T: Entry>([starts, columns, entries]: [&'a Operand; 3]) -> Rows<'a, I, T> {
    // SAFETY: the operands are row-major and of these types.
    unsafe { Rows { starts: Starts(starts.elements()), columns: columns.elements(), entries: Some(entries.elements()) } }
}

impl<'a, I: Position, T: Copy + Sync> Rows<'a, I, T> {
    /// Returns the same matrix without entries.
    fn pattern(&self) -> Pattern<'a, I> {
        Rows { starts: self.starts, columns: self.columns, entries: None }
    }

    /// Fails unless the starts ascend and all columns are less than `size`.
    fn check(&self, size: usize) -> Result<()> {
        self.starts.check(self.columns.len())?;
        let outside = Outside::new();
        self.starts.each_piece(1, &|rows| _ = self.inside(rows, size, &outside));
        outside.finish(self.columns, size)
    }
}

/// Consecutive numbers for the columns that hold an entry, for matrices in which most columns hold none.
struct Numbering {
    /// The columns, ascending; empty if each column is its own number.
    columns: Vec<usize>,
    /// The number of numbers.
    count: usize,
}

impl Numbering {
    /// Returns numbers for these columns, of `size` in all.
    fn of<I: Position>(columns: &[I], size: usize) -> Result<Numbering> {
        if size <= FEW_COLUMNS.max(columns.len().saturating_mul(COLUMNS_PER_ENTRY)) {
            return Ok(Numbering { columns: Vec::new(), count: size });
        }
        let mut all = collect(columns.len(), columns.iter().map(|column| Ok(column.place())))?;
        all.sort_unstable();
        all.dedup();
        Ok(Numbering { count: all.len(), columns: all })
    }

    /// Returns the numbers of columns. A column without a number gets a negative one.
    fn numbers<'c, I: Position>(&self, columns: &'c [I]) -> Result<Cow<'c, [I]>> {
        if self.columns.is_empty() {
            return Ok(Cow::Borrowed(columns));
        }
        let number = |column: &I| self.columns.binary_search(&column.place()).map_or(-1, |number| number as i64);
        Ok(Cow::Owned(collect(columns.len(), columns.iter().map(|column| Ok(I::from_i64(number(column)))))?))
    }

    /// Returns the column with this number.
    #[inline(always)]
    fn column<I: Position>(&self, number: usize) -> I {
        I::from_i64(self.columns.get(number).copied().unwrap_or(number) as i64)
    }
}

/// Rows divided into parts of about equal work.
struct Parts {
    /// The sum of the work of all rows up to each row.
    work: Vec<u64>,
    count: usize,
}

impl Parts {
    /// Divides `n` rows into parts. Every row has some work.
    fn new(n: usize, work_of: impl Fn(usize) -> u64) -> Result<Parts> {
        let mut total = 0u64;
        let work = collect(
            n,
            (0..n).map(|i| {
                total = total.saturating_add(work_of(i)).saturating_add(1);
                Ok(total)
            }),
        )?;
        Ok(Parts { work, count: (total / PART + 1).min(n.max(1) as u64) as usize })
    }

    /// Returns the rows of a part.
    fn rows(&self, part: usize) -> Range<usize> {
        let total = self.work.last().copied().unwrap_or(0);
        let begin = |part: usize| {
            let before = (u128::from(total) * part as u128 / self.count as u128) as u64;
            self.work.partition_point(|&work| work <= before)
        };
        begin(part)..if part + 1 == self.count { self.work.len() } else { begin(part + 1) }
    }
}

/// Divides the rows of a product by the work of each row.
fn parts_of_product<I: Position>(a: &Pattern<'_, I>, b: &Pattern<'_, I>) -> Result<Parts> {
    let n = a.starts.count();
    Parts::new(n, |i| a.columns[a.starts.row(i)].iter().map(|k| b.starts.row(k.place()).len() as u64).fold(0, u64::saturating_add))
}

/// The work of a part, which gets the words and the elements of its thread.
type Part<'a, T> = dyn Fn(usize, &mut [u64], &mut [T]) + Sync + 'a;

/// Memory for each thread: words that are 0, followed by elements that are 0.
struct Memory {
    scratch: ThreadScratch,
    words: usize,
    elements: usize,
}

impl Memory {
    fn new(words: usize, elements: usize, parts: usize) -> Result<Memory> {
        let bytes = words.checked_add(elements).and_then(|all| all.checked_mul(8));
        let scratch = bytes.and_then(|bytes| ThreadScratch::zeroed(bytes, parts));
        match scratch {
            Some(scratch) => Ok(Memory { scratch, words, elements }),
            None => bail!(NoMem, "out of memory for {elements} sums on each thread"),
        }
    }

    /// Calls `f` with each part and the memory of the thread that does it. `f` must restore the memory's initial state.
    fn each<T: Element>(&self, parts: usize, f: &Part<'_, T>) {
        self.scratch.each::<u64>(parts, &|part, at| {
            // SAFETY: a tile has this many words and elements of at most 8 bytes, is aligned, was set to 0 once, and belongs to this
            // thread.
            let (words, elements) = unsafe {
                let elements = at.add(self.words).cast::<T>();
                (std::slice::from_raw_parts_mut(at, self.words), std::slice::from_raw_parts_mut(elements, self.elements))
            };
            f(part, words, elements);
        });
    }
}

/// The maximum number of levels in a tree of bits.
const LEVELS: usize = 11;

/// The shape of a set of numbers: a bit for each number, above these a bit for each word that is not 0, and so on up to one word.
struct Tree {
    /// The first word of each level.
    first: [usize; LEVELS],
    levels: usize,
    words: usize,
}

impl Tree {
    /// Returns a tree for numbers less than `count`.
    fn new(count: usize) -> Tree {
        let mut tree = Tree { first: [0; LEVELS], levels: 0, words: 0 };
        let mut size = count.max(1);
        while tree.levels == 0 || size > 1 {
            size = size.div_ceil(64);
            tree.first[tree.levels] = tree.words;
            tree.levels += 1;
            tree.words += size;
        }
        tree
    }

    /// Inserts a number into the set. Returns true if it was not in the set.
    #[inline(always)]
    fn insert(&self, words: &mut [u64], number: usize) -> bool {
        let mut at = number;
        for level in 0..self.levels {
            let (word, bit) = (&mut words[self.first[level] + at / 64], 1 << (at % 64));
            let before = *word;
            *word |= bit;
            if before != 0 {
                return level > 0 || before & bit == 0;
            }
            at /= 64;
        }
        true
    }

    /// Calls `f` with all numbers in ascending order, and leaves the set empty.
    fn drain(&self, words: &mut [u64], f: &mut impl FnMut(usize)) {
        self.drain_word(words, self.levels - 1, 0, f);
    }

    fn drain_word(&self, words: &mut [u64], level: usize, at: usize, f: &mut impl FnMut(usize)) {
        let mut word = std::mem::take(&mut words[self.first[level] + at]);
        while word != 0 {
            let below = at * 64 + word.trailing_zeros() as usize;
            word &= word - 1;
            if level == 0 { f(below) } else { self.drain_word(words, level - 1, below, f) }
        }
    }
}

/// Computes where the rows of `A B` start.
fn starts<I: Position>(out: &Operand, a: Pattern<'_, I>, b: Pattern<'_, I>, columns: usize) -> Result<()> {
    a.check(b.starts.count())?;
    b.check(columns)?;
    let numbering = Numbering::of(b.columns, columns)?;
    let numbers = numbering.numbers(b.columns)?;
    let (tree, parts) = (Tree::new(numbering.count), parts_of_product(&a, &b)?);
    let memory = Memory::new(tree.words, 0, parts.count)?;
    let r = Shared(out.first());
    memory.each::<i64>(parts.count, &|part, words, _| {
        for i in parts.rows(part) {
            let mut count = 0i64;
            for k in &a.columns[a.starts.row(i)] {
                for number in &numbers[b.starts.row(k.place())] {
                    count += i64::from(tree.insert(words, number.place()));
                }
            }
            tree.drain(words, &mut |_| {});
            // SAFETY: rows are disjoint, and there is one start more than rows.
            unsafe { r.get().cast::<i64>().add(i + 1).write(count) };
        }
    });
    // SAFETY: the starts are row-major int64, one for each row and one more. The first is written here.
    let all = unsafe {
        r.get().cast::<i64>().write(0);
        std::slice::from_raw_parts_mut(r.get().cast::<i64>(), a.starts.count() + 1)
    };
    let mut total = 0i64;
    for count in all {
        total = match total.checked_add(*count) {
            Some(total) => total,
            None => bail!(Shape, "the number of entries overflows"),
        };
        *count = total;
    }
    Ok(())
}

/// Computes the columns and entries of `A B`.
fn entries_of<I: Position, T: Entry>(
    [columns, entries]: [&Operand; 2],
    starts: &[i64],
    a: Rows<'_, I, T>,
    b: Rows<'_, I, T>,
    size: usize,
) -> Result<()> {
    let numbering = Numbering::of(b.columns, size)?;
    let numbers = numbering.numbers(b.columns)?;
    let (tree, parts) = (Tree::new(numbering.count), parts_of_product(&a.pattern(), &b.pattern())?);
    let memory = Memory::new(tree.words, numbering.count, parts.count)?;
    let ([columns, entries], total) = ([columns, entries].map(|to| Shared(to.first())), columns.layout().numel() as usize);
    let (x, y) = (a.entries.unwrap_or_default(), b.entries.unwrap_or_default());
    memory.each::<T>(parts.count, &|part, words, sums| {
        for i in parts.rows(part) {
            for at in a.starts.row(i) {
                for other in b.starts.row(a.columns[at].place()) {
                    let (number, product) = (numbers[other].place(), x[at].mul(y[other]));
                    let sum = &mut sums[number];
                    *sum = if tree.insert(words, number) { product } else { sum.add(product) };
                }
            }
            let (mut next, end) = (starts[i].place(), starts[i + 1].place().min(total));
            tree.drain(words, &mut |number| {
                if next < end {
                    // SAFETY: the entries of rows are disjoint, and `next` is less than their number.
                    unsafe {
                        columns.get().cast::<I>().add(next).write(numbering.column(number));
                        entries.get().cast::<T>().add(next).write(sums[number]);
                    }
                }
                next += 1;
            });
        }
    });
    Ok(())
}

/// A product that is computed only at the entries of a pattern.
struct Sampled<'a, I, T> {
    /// The result, with an element for each entry of the pattern.
    r: Shared,
    at: Pattern<'a, I>,
    a: Rows<'a, I, T>,
    b: Rows<'a, I, T>,
    /// The number of columns of `b`.
    columns: usize,
}

impl<I: Position, T: Entry> Sampled<'_, I, T> {
    fn run(&self, of: Sides) -> Result<()> {
        let Sampled { at, a, b, columns, .. } = self;
        let (rows, rows_of_b) = (at.starts.count(), b.starts.count());
        b.check(*columns)?;
        match of {
            Sides::Plain => {
                a.check(rows_of_b)?;
                at.check(*columns)?;
                self.plain()
            }
            Sides::SecondTransposed => {
                a.check(*columns)?;
                at.check(rows_of_b)?;
                self.second_transposed()
            }
            Sides::FirstTransposed => {
                a.check(rows)?;
                at.check(*columns)?;
                self.first_transposed()
            }
        }
    }

    /// Returns the results of a row.
    ///
    /// # Safety
    /// No other thread may write them.
    #[inline(always)]
    unsafe fn results<'r>(&self, range: Range<usize>) -> &'r mut [T] {
        if range.is_empty() {
            return &mut [];
        }
        // SAFETY: the caller keeps this function's contract; the result has an element for each entry.
        unsafe { std::slice::from_raw_parts_mut(self.r.get().cast::<T>().add(range.start), range.len()) }
    }

    /// `(A B)[i, j]`: sums row `i` of A and B in a vector, and reads only the elements in row `i` of the pattern.
    fn plain(&self) -> Result<()> {
        let Sampled { at, a, b, .. } = self;
        let numbering = Numbering::of(at.columns, self.columns)?;
        let (wanted, numbers) = (numbering.numbers(at.columns)?, numbering.numbers(b.columns)?);
        let parts = parts_of_product(&a.pattern(), &b.pattern())?;
        let (x, y) = (a.entries.unwrap_or_default(), b.entries.unwrap_or_default());
        Memory::new(0, numbering.count, parts.count)?.each::<T>(parts.count, &|part, _, sums| {
            for i in parts.rows(part) {
                let wanted = &wanted[at.starts.row(i)];
                wanted.iter().for_each(|number| sums[number.place()] = T::ZERO);
                for k in a.starts.row(i) {
                    for other in b.starts.row(a.columns[k].place()) {
                        if let Some(sum) = sums.get_mut(numbers[other].place()) {
                            *sum = sum.add(x[k].mul(y[other]));
                        }
                    }
                }
                // SAFETY: rows are disjoint.
                let results = unsafe { self.results(at.starts.row(i)) };
                results.iter_mut().zip(wanted).for_each(|(r, number)| *r = sums[number.place()]);
            }
        });
        Ok(())
    }

    /// `(A B^T)[i, j]`: scatters row `i` of A into a vector of zeros, and multiplies it by rows `j` of B.
    fn second_transposed(&self) -> Result<()> {
        let Sampled { at, a, b, .. } = self;
        let numbering = Numbering::of(b.columns, self.columns)?;
        let (own, numbers) = (numbering.numbers(a.columns)?, numbering.numbers(b.columns)?);
        let parts = parts_of_product(at, &b.pattern())?;
        let (x, y) = (a.entries.unwrap_or_default(), b.entries.unwrap_or_default());
        Memory::new(0, numbering.count, parts.count)?.each::<T>(parts.count, &|part, _, row| {
            for i in parts.rows(part) {
                let range = a.starts.row(i);
                scatter(row, &own[range.clone()], &x[range.clone()]);
                let entries = at.starts.row(i);
                // SAFETY: rows are disjoint.
                let results = unsafe { self.results(entries.clone()) };
                for (r, j) in results.iter_mut().zip(&at.columns[entries]) {
                    let others = b.starts.row(j.place());
                    let products = numbers[others.clone()].iter().zip(&y[others]).map(|(number, &y)| row[number.place()].mul(y));
                    *r = products.fold(T::ZERO, T::add);
                }
                clear(row, &own[range]);
            }
        });
        Ok(())
    }

    /// `(A^T B)[i, j]`: the rows of the result are divided into parts. For each row of A with an entry in a column of its part, a part
    /// scatters the same row of B into a vector of zeros, and adds the elements that are in the pattern.
    fn first_transposed(&self) -> Result<()> {
        let Sampled { at, a, b, .. } = self;
        let numbering = Numbering::of(at.columns, self.columns)?;
        let (wanted, numbers) = (numbering.numbers(at.columns)?, numbering.numbers(b.columns)?);
        let (x, y, n) = (a.entries.unwrap_or_default(), b.entries.unwrap_or_default(), at.starts.count());
        let parts = PARTS.min(at.columns.len() / PIECE + 1).min(n.max(1));
        Memory::new(0, numbering.count, parts)?.each::<T>(parts, &|part, _, row| {
            let own = n * part / parts..n * (part + 1) / parts;
            let first = at.starts.0[own.start].place();
            // SAFETY: the rows of parts are disjoint.
            let results = unsafe { self.results(first..at.starts.0[own.end].place()) };
            results.fill(T::ZERO);
            for k in 0..a.starts.count() {
                let mut entries = a.starts.row(k).filter(|&entry| own.contains(&a.columns[entry].place())).peekable();
                if entries.peek().is_none() {
                    continue;
                }
                let range = b.starts.row(k);
                scatter(row, &numbers[range.clone()], &y[range.clone()]);
                for entry in entries {
                    for other in at.starts.row(a.columns[entry].place()) {
                        let r = &mut results[other - first];
                        *r = r.add(x[entry].mul(row[wanted[other].place()]));
                    }
                }
                clear(row, &numbers[range]);
            }
        });
        Ok(())
    }
}

/// Adds entries to a row at their numbers. Entries without a number are left out.
#[inline(always)]
fn scatter<I: Position, T: Entry>(row: &mut [T], numbers: &[I], entries: &[T]) {
    for (number, &x) in numbers.iter().zip(entries) {
        if let Some(to) = row.get_mut(number.place()) {
            *to = to.add(x);
        }
    }
}

/// Sets the elements that [`scatter`] added to 0.
#[inline(always)]
fn clear<I: Position, T: Entry>(row: &mut [T], numbers: &[I]) {
    for number in numbers {
        if let Some(to) = row.get_mut(number.place()) {
            *to = T::ZERO;
        }
    }
}
