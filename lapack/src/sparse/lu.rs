//! Sparse LU with partial pivoting. Supernodes are computed in order, each from the earlier supernodes that reach it.
//!
//! A supernode is a few adjacent columns that get one pattern: a dense panel with L and the diagonal block of U. Above the panel, U has a
//! block for each supernode that reaches it; the block has only the reached columns.

use super::columns::Columns;
use super::dense::{Block, product, solve_lower, solve_upper};
use super::order::Order;
use super::{Failure, filled, room};
use crate::float::view_mut;
use crate::lu;

/// The value for no position.
const NONE: u32 = u32::MAX;
/// In nearly symmetric patterns, the diagonal element is the pivot if its magnitude is at least this fraction of the greatest one of the
/// column.
const KEPT: f64 = 0.1;
/// The number of columns of a block that are updated at a time.
const CHUNK: usize = 64;
/// The number of right-hand sides that are solved at a time.
const SIDES: usize = 32;

/// Columns that are eliminated together.
struct Supernode {
    /// The position of the first column.
    first: usize,
    /// The number of columns.
    width: usize,
    /// The rows of the panel, beginning with the rows of the pivots.
    rows: Vec<u32>,
    /// The panel in column-major order: U, and below its diagonal L, whose diagonal is 1.
    panel: Vec<f64>,
    /// The blocks of U above the panel: the supernode of each block, ascending, and the number of columns of the block.
    above: Vec<(u32, u32)>,
    /// The columns of the blocks, counted from the supernode's first column.
    columns: Vec<u32>,
    /// The elements of the blocks, in column-major order.
    blocks: Vec<f64>,
}

impl Supernode {
    /// The rows of L below the pivots.
    fn below(&self) -> &[u32] {
        &self.rows[self.width..]
    }

    /// The triangles L and U in the rows of the pivots.
    fn diagonal(&self) -> Block<'_> {
        Block { elements: &self.panel, stride: self.rows.len() }
    }

    /// The part of L below the pivots.
    fn lower(&self) -> Block<'_> {
        Block { elements: &self.panel[self.width..], stride: self.rows.len() }
    }
}

/// The factors of a matrix.
pub struct Factors {
    supernodes: Vec<Supernode>,
    /// The column at each position.
    columns: Vec<u32>,
}

/// A word of a bit set of columns.
#[derive(Clone, Copy, Default)]
struct Word {
    /// A bit for each of 64 columns.
    bits: u64,
    /// The number of columns in earlier words of the set.
    before: u32,
}

/// The start of a block: the index of its first element, and the index of its first column.
#[derive(Clone, Copy)]
struct Start {
    element: usize,
    column: usize,
}

/// The matrix, the finished supernodes, and scratch memory that all supernodes share.
struct Work<'a> {
    a: &'a Columns,
    order: &'a Order,
    done: Vec<Supernode>,
    /// The position of each row that is a pivot.
    places: Vec<u32>,
    /// The supernode of each position.
    owners: Vec<u32>,
    /// For each row, the last supernode that reached it, plus 1; and the same for each supernode.
    rows_seen: Vec<u32>,
    seen: Vec<u32>,
    /// The index of each row in the panel, and of each supernode among those that reach the current one.
    locals: Vec<u32>,
    slots: Vec<u32>,
    /// The rows of the current panel.
    rows: Vec<u32>,
    /// The supernodes that reach the current one.
    reaching: Vec<u32>,
    /// The set of columns that each reaching supernode reaches, in several words.
    sets: Vec<Word>,
    /// The start of each reaching supernode's block.
    starts: Vec<Start>,
    /// A part of a product, and the targets of its rows: in the panel, or the block of a supernode and a row in it.
    product: Vec<f64>,
    to_panel: Vec<[u32; 2]>,
    to_blocks: Vec<[u32; 3]>,
    pivots: Vec<i32>,
}

/// Extends a list to at least `n` elements.
fn extend<T: Clone + Default>(list: &mut Vec<T>, n: usize) -> Result<(), Failure> {
    if n > list.len() {
        list.try_reserve(n - list.len())?;
        list.resize(n, T::default());
    }
    Ok(())
}

impl Factors {
    /// Factors a matrix in an order that was computed for it.
    pub fn of(a: &Columns, order: &Order) -> Result<Factors, Failure> {
        let (n, count) = (a.n(), order.supernodes.len() - 1);
        let mut work = Work {
            a,
            order,
            done: room(count)?,
            places: filled(n, NONE)?,
            owners: filled(n, 0)?,
            rows_seen: filled(n, 0)?,
            seen: filled(count, 0)?,
            locals: filled(n, 0)?,
            slots: filled(count, 0)?,
            rows: room(n)?,
            reaching: room(count)?,
            sets: Vec::new(),
            starts: Vec::new(),
            product: Vec::new(),
            to_panel: room(n)?,
            to_blocks: room(n)?,
            pivots: Vec::new(),
        };
        for s in 0..count {
            work.owners[order.supernodes[s]..order.supernodes[s + 1]].fill(s as u32);
            let mut next = work.reach(s)?;
            work.gather(&mut next);
            for slot in 0..next.above.len() {
                work.update(&mut next, slot)?;
            }
            work.eliminate(&mut next)?;
            work.done.push(next);
        }
        let mut columns = room(n)?;
        columns.extend(order.columns.iter().map(|&j| j as u32));
        Ok(Factors { supernodes: work.done, columns })
    }

    /// `B = inverse(A) B` for the columns of B, n x k
    pub fn solve(&self, b: &mut [f64], k: usize) -> Result<(), Failure> {
        let (n, sides) = (self.columns.len(), SIDES.min(k));
        let most = self.supernodes.iter().map(|s| s.rows.len().max(s.columns.len())).max().unwrap_or(0);
        let (mut x, mut part, mut made) = (filled(n * sides, 0.0)?, filled(most * sides, 0.0)?, filled(most * sides, 0.0)?);
        for b in b.chunks_mut((n * SIDES).max(1)) {
            let k = b.len() / n;
            self.solve_lower(b, &mut x, &mut made, k);
            self.solve_upper(&mut x, &mut part, &mut made, k);
            for j in 0..k {
                self.columns.iter().zip(&x[j * n..][..n]).for_each(|(&to, &x)| b[j * n + to as usize] = x);
            }
        }
        Ok(())
    }

    /// `X = inverse(L) B`, ordered by positions. B is destroyed.
    fn solve_lower(&self, b: &mut [f64], x: &mut [f64], made: &mut [f64], k: usize) {
        let n = self.columns.len();
        for s in &self.supernodes {
            let (w, below) = (s.width, s.below());
            for j in 0..k {
                s.rows[..w].iter().zip(&mut x[j * n + s.first..][..w]).for_each(|(&i, x)| *x = b[j * n + i as usize]);
            }
            let x = &mut x[s.first..];
            solve_lower(s.diagonal(), x, n, [w, k]);
            if below.is_empty() {
                continue;
            }
            product(made, s.lower(), Block { elements: x, stride: n }, [below.len(), w, k]);
            for j in 0..k {
                below.iter().zip(&made[j * below.len()..]).for_each(|(&i, &x)| b[j * n + i as usize] -= x);
            }
        }
    }

    /// `X = inverse(U) X`
    fn solve_upper(&self, x: &mut [f64], part: &mut [f64], made: &mut [f64], k: usize) {
        let n = self.columns.len();
        for s in self.supernodes.iter().rev() {
            solve_upper(s.diagonal(), &mut x[s.first..], n, [s.width, k]);
            let (mut columns, mut blocks) = (&s.columns[..], &s.blocks[..]);
            for &(d, count) in &s.above {
                let (d, count) = (&self.supernodes[d as usize], count as usize);
                for j in 0..k {
                    let from = &x[j * n + s.first..];
                    columns[..count].iter().zip(&mut part[j * count..]).for_each(|(&c, to)| *to = from[c as usize]);
                }
                let (block, reached) = (Block { elements: blocks, stride: d.width }, Block { elements: part, stride: count });
                product(made, block, reached, [d.width, count, k]);
                for j in 0..k {
                    x[j * n + d.first..][..d.width].iter_mut().zip(&made[j * d.width..]).for_each(|(x, &y)| *x -= y);
                }
                (columns, blocks) = (&columns[count..], &blocks[d.width * count..]);
            }
        }
    }
}

impl Work<'_> {
    /// Records a row of the supernode `s`, or the supernode in which the row is a pivot.
    #[inline(always)]
    fn visit(&mut self, s: usize, row: usize) {
        if self.rows_seen[row] > s as u32 {
            return;
        }
        self.rows_seen[row] = s as u32 + 1;
        if self.places[row] == NONE {
            self.locals[row] = self.rows.len() as u32;
            self.rows.push(row as u32);
            return;
        }
        let d = self.owners[self.places[row] as usize];
        if self.seen[d as usize] <= s as u32 {
            self.seen[d as usize] = s as u32 + 1;
            self.reaching.push(d);
        }
    }

    /// Finds the pattern of a supernode. Its elements are zeros.
    fn reach(&mut self, s: usize) -> Result<Supernode, Failure> {
        let (first, width) = (self.order.supernodes[s], self.order.supernodes[s + 1] - self.order.supernodes[s]);
        let (a, columns, words) = (self.a, &self.order.columns[first..][..width], width.div_ceil(64));
        self.rows.clear();
        self.reaching.clear();
        // The rows of the diagonal come first, in order.
        for &j in columns.iter().filter(|_| self.order.symmetric) {
            self.visit(s, j);
        }
        columns.iter().for_each(|&j| a.pattern(j).iter().for_each(|&i| self.visit(s, i)));
        let mut next = 0;
        while next < self.reaching.len() {
            let d = std::mem::take(&mut self.done[self.reaching[next] as usize].rows);
            let width = self.done[self.reaching[next] as usize].width;
            d[width..].iter().for_each(|&i| self.visit(s, i as usize));
            self.done[self.reaching[next] as usize].rows = d;
            next += 1;
        }
        self.reaching.sort_unstable();
        self.reaching.iter().enumerate().for_each(|(slot, &d)| self.slots[d as usize] = slot as u32);
        self.mark(first, columns)?;
        let (mut above, mut end) = (room(self.reaching.len())?, Start { element: 0, column: 0 });
        self.starts.clear();
        self.starts.try_reserve(self.reaching.len())?;
        for (&d, set) in self.reaching.iter().zip(self.sets.chunks_exact_mut(words)) {
            let mut own = 0;
            for word in set {
                word.before = own;
                own += word.bits.count_ones();
            }
            above.push((d, own));
            self.starts.push(end);
            end.element += own as usize * self.done[d as usize].width;
            end.column += own as usize;
        }
        let mut all = room(end.column)?;
        for set in self.sets.chunks_exact(words).take(above.len()) {
            for (k, word) in set.iter().enumerate() {
                let mut bits = word.bits;
                while bits != 0 {
                    all.push(64 * k as u32 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
        let (mut rows, panel) = (room(self.rows.len())?, filled(self.rows.len() * width, 0.0)?);
        rows.extend_from_slice(&self.rows);
        Ok(Supernode { first, width, rows, panel, above, columns: all, blocks: filled(end.element, 0.0)? })
    }

    /// Finds the columns that each supernode reaches: columns with entries in its pivot rows, and columns that an earlier supernode
    /// reaches, if the earlier one has such a row below its own pivots.
    fn mark(&mut self, first: usize, columns: &[usize]) -> Result<(), Failure> {
        let words = columns.len().div_ceil(64);
        self.sets.clear();
        extend(&mut self.sets, self.reaching.len() * words)?;
        for (c, &j) in columns.iter().enumerate() {
            for &i in self.a.pattern(j) {
                if (self.places[i] as usize) < first {
                    let slot = self.slots[self.owners[self.places[i] as usize] as usize] as usize;
                    self.sets[slot * words + c / 64].bits |= 1 << (c % 64);
                }
            }
        }
        for (slot, &d) in self.reaching.iter().enumerate() {
            let (before, later) = self.sets.split_at_mut((slot + 1) * words);
            let (own, mut last) = (&before[slot * words..], NONE);
            for &i in self.done[d as usize].below() {
                let place = self.places[i as usize];
                if place == NONE {
                    continue;
                }
                let owner = self.owners[place as usize];
                if owner != last {
                    last = owner;
                    let to = (self.slots[owner as usize] as usize - slot - 1) * words;
                    later[to..to + words].iter_mut().zip(own).for_each(|(to, from)| to.bits |= from.bits);
                }
            }
        }
        Ok(())
    }

    /// The index of the first element of column `c` in a supernode's block.
    #[inline(always)]
    fn start(&self, slot: usize, c: usize, words: usize, width: usize) -> usize {
        let word = self.sets[slot * words + c / 64];
        let before = word.before + (word.bits & ((1 << (c % 64)) - 1)).count_ones();
        self.starts[slot].element + before as usize * width
    }

    /// Adds the entries of the matrix to the panel and the blocks.
    fn gather(&self, next: &mut Supernode) {
        let (words, height) = (next.width.div_ceil(64), next.rows.len());
        for c in 0..next.width {
            for (i, x) in self.a.column(self.order.columns[next.first + c]) {
                let place = self.places[i];
                if place == NONE {
                    next.panel[c * height + self.locals[i] as usize] += x;
                } else {
                    let owner = self.owners[place as usize] as usize;
                    let d = &self.done[owner];
                    let to = self.start(self.slots[owner] as usize, c, words, d.width) + place as usize - d.first;
                    next.blocks[to] += x;
                }
            }
        }
    }

    /// Computes the block of a supernode, and subtracts its product with the supernode's lower part from the rest.
    fn update(&mut self, next: &mut Supernode, slot: usize) -> Result<(), Failure> {
        let (words, height) = (next.width.div_ceil(64), next.rows.len());
        let (d, count) = (&self.done[next.above[slot].0 as usize], next.above[slot].1 as usize);
        let (w, below) = (d.width, d.below());
        let (block, rest) = next.blocks.split_at_mut(self.starts[slot].element + w * count);
        let (before, block) = (block.len(), &mut block[self.starts[slot].element..]);
        solve_lower(d.diagonal(), block, w, [w, count]);
        if below.is_empty() {
            return Ok(());
        }
        self.to_panel.clear();
        self.to_blocks.clear();
        for (k, &i) in below.iter().enumerate() {
            let place = self.places[i as usize];
            if place == NONE {
                self.to_panel.push([k as u32, self.locals[i as usize]]);
            } else {
                let owner = self.owners[place as usize] as usize;
                self.to_blocks.push([k as u32, self.slots[owner], place - self.done[owner].first as u32]);
            }
        }
        extend(&mut self.product, below.len() * CHUNK.min(count))?;
        let columns = &next.columns[self.starts[slot].column..][..count];
        for (columns, block) in columns.chunks(CHUNK).zip(block.chunks(CHUNK * w)) {
            product(&mut self.product, d.lower(), Block { elements: block, stride: w }, [below.len(), w, columns.len()]);
            for (&c, made) in columns.iter().zip(self.product.chunks_exact(below.len())) {
                let panel = &mut next.panel[c as usize * height..][..height];
                self.to_panel.iter().for_each(|&[from, to]| panel[to as usize] -= made[from as usize]);
                for &[from, slot, row] in &self.to_blocks {
                    let width = self.done[next.above[slot as usize].0 as usize].width;
                    let at = self.start(slot as usize, c as usize, words, width) + row as usize;
                    rest[at - before] -= made[from as usize];
                }
            }
        }
        Ok(())
    }

    /// Factors the panel.
    fn eliminate(&mut self, next: &mut Supernode) -> Result<(), Failure> {
        let (w, height) = (next.width, next.rows.len());
        let column = |k: usize| Failure::Singular(self.order.columns[next.first + k]);
        if height < w {
            return Err(column(height));
        }
        extend(&mut self.pivots, w)?;
        let pivots = &mut self.pivots[..w];
        lu::factor(view_mut(&mut next.panel, height, w), pivots, if self.order.symmetric { KEPT } else { 1.0 });
        if let Some(zero) = (0..w).find(|&k| next.panel[k * height + k] == 0.0) {
            return Err(column(zero));
        }
        for (k, &pivot) in pivots.iter().enumerate() {
            next.rows.swap(k, pivot as usize - 1);
            self.places[next.rows[k] as usize] = (next.first + k) as u32;
        }
        Ok(())
    }
}
