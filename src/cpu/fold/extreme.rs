//! Greatest and least elements, and where they first occur. A NaN beats everything.

use super::{Accs, Columns, Fold, Lanewise, Tile, for_columns, for_groups, row};
use crate::cpu::simd::{Isa, simd};
use crate::dtype::{Bool, Element};
use std::marker::PhantomData;

/// An element with its bounds.
pub trait Ordered: Element {
    /// Nothing is less.
    const LEAST: Self;
    /// Nothing is greater.
    const GREATEST: Self;
    /// `self > b`
    fn above(self, b: Self) -> bool;
}

macro_rules! ordered {
    ($($t:ident $least:expr, $greatest:expr;)*) => { $(
        impl Ordered for $t {
            const LEAST: $t = $least;
            const GREATEST: $t = $greatest;
            #[inline(always)]
            fn above(self, b: $t) -> bool {
                self > b
            }
        }
    )* };
}
ordered! {
    u8 u8::MIN, u8::MAX;
    i8 i8::MIN, i8::MAX;
    i16 i16::MIN, i16::MAX;
    i32 i32::MIN, i32::MAX;
    i64 i64::MIN, i64::MAX;
    f32 f32::NEG_INFINITY, f32::INFINITY;
    f64 f64::NEG_INFINITY, f64::INFINITY;
}

impl Ordered for Bool {
    const LEAST: Bool = Bool(0);
    const GREATEST: Bool = Bool(1);
    #[inline(always)]
    fn above(self, b: Bool) -> bool {
        self.get() & !b.get()
    }
}

/// Whether `x` takes the place of `best`, which came earlier.
#[inline(always)]
fn beats<T: Ordered, const MAX: bool>(x: T, best: T) -> bool {
    (if MAX { x.above(best) } else { best.above(x) }) | (x.is_nan() & !best.is_nan())
}

/// The better one; the same for any order of the elements.
#[inline(always)]
fn better<T: Ordered, const MAX: bool>(best: T, x: T) -> T {
    let ahead = if MAX { x.above(best) } else { best.above(x) };
    if ahead | x.is_nan() { x } else { best }
}

/// The greatest (`MAX`) or least element, or with `SIZE` its magnitude.
#[derive(Clone, Copy)]
pub struct Extreme<T, const MAX: bool, const SIZE: bool = false>(pub PhantomData<T>);

impl<T: Ordered, const MAX: bool, const SIZE: bool> Lanewise for Extreme<T, MAX, SIZE> {
    type In = T;
    type A = T;
    type B = ();
    type S = T;
    type U = ();
    type Out = T;
    type Other = ();
    #[inline(always)]
    fn lane(self) -> (T, ()) {
        (if MAX { T::LEAST } else { T::GREATEST }, ())
    }
    #[inline(always)]
    fn push(self, _: Isa, lane: (T, ()), x: T) -> (T, ()) {
        (better::<T, MAX>(lane.0, if SIZE { Element::abs(x) } else { x }), ())
    }
    #[inline(always)]
    fn state(self, lane: (T, ())) -> (T, ()) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (T, ()), b: (T, ())) -> (T, ()) {
        (better::<T, MAX>(a.0, b.0), ())
    }
    #[inline(always)]
    fn finish(self, state: (T, ()), _: usize) -> (T, ()) {
        state
    }
}

/// Least and greatest element.
#[derive(Clone, Copy)]
pub struct MinMax<T>(pub PhantomData<T>);

impl<T: Ordered> Lanewise for MinMax<T> {
    type In = T;
    type A = T;
    type B = T;
    type S = T;
    type U = T;
    type Out = T;
    type Other = T;
    #[inline(always)]
    fn lane(self) -> (T, T) {
        (T::GREATEST, T::LEAST)
    }
    #[inline(always)]
    fn push(self, _: Isa, lane: (T, T), x: T) -> (T, T) {
        (better::<T, false>(lane.0, x), better::<T, true>(lane.1, x))
    }
    #[inline(always)]
    fn state(self, lane: (T, T)) -> (T, T) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (T, T), b: (T, T)) -> (T, T) {
        (better::<T, false>(a.0, b.0), better::<T, true>(a.1, b.1))
    }
    #[inline(always)]
    fn finish(self, state: (T, T), _: usize) -> (T, T) {
        state
    }
}

/// The greatest (`MAX`) or least element and the number of its first occurrence.
pub struct Arg<T, const MAX: bool>(pub PhantomData<T>);

/// Elements of a row that are searched for their extreme before its place is.
const BLOCK: usize = 1024;

impl<T: Ordered, const MAX: bool> Arg<T, MAX> {
    /// The better of two values with their numbers; of equals the one with the lower number.
    #[inline(always)]
    fn first_best(a: (T, i64), b: (T, i64)) -> (T, i64) {
        let tie = !beats::<T, MAX>(a.0, b.0) && b.1 < a.1;
        if beats::<T, MAX>(b.0, a.0) || tie { b } else { a }
    }

    /// The extreme of `n` >= 1 elements and its first place.
    ///
    /// # Safety
    /// `x` holds the elements.
    #[inline(always)]
    unsafe fn best_of(isa: Isa, x: *const T, n: usize) -> (T, usize) {
        let same = |v: T, best: T| (v == best) | (v.is_nan() & best.is_nan());
        // SAFETY: the caller's.
        unsafe {
            let (best, ()) = row(Extreme::<T, MAX>(PhantomData), isa, x, n);
            const STRIDE: usize = 64;
            let mut at = 0;
            while at + STRIDE <= n {
                let found = (0..STRIDE).fold(0u8, |found, k| found | same(x.add(at + k).read(), best) as u8);
                if found != 0 {
                    break;
                }
                at += STRIDE;
            }
            while at + 1 < n && !same(x.add(at).read(), best) {
                at += 1;
            }
            (best, at)
        }
    }
}

/// A few rows on their way into values and numbers.
struct Group<T, const MAX: bool> {
    accs: Accs,
    tile: Tile,
    of: PhantomData<T>,
}

impl<T: Ordered, const MAX: bool> Columns for Group<T, MAX> {
    #[inline(always)]
    unsafe fn at<const W: usize>(&self, j: usize) {
        let (values, numbers) = (self.accs.plane::<T>(0).wrapping_add(j), self.accs.plane::<i64>(1).wrapping_add(j));
        let (mut best, mut at) = ([T::ZERO; W], [0u8; W]);
        // SAFETY: the caller's.
        unsafe {
            let first = self.tile.row::<T>(0).add(j);
            for k in 0..W {
                best[k] = if self.tile.done == 0 { first.add(k).read() } else { values.add(k).read() };
            }
            for r in 0..self.tile.rows {
                let x = self.tile.row::<T>(r).add(j);
                for k in 0..W {
                    let v = x.add(k).read();
                    let news = beats::<T, MAX>(v, best[k]);
                    best[k] = if news { v } else { best[k] };
                    at[k] = if news { r as u8 + 1 } else { at[k] };
                }
            }
            let base = self.tile.index - self.tile.weight;
            for k in 0..W {
                let before = if self.tile.done == 0 { self.tile.index } else { numbers.add(k).read() };
                values.add(k).write(best[k]);
                numbers.add(k).write(if at[k] == 0 { before } else { base + at[k] as i64 * self.tile.weight });
            }
        }
    }
}

impl<T: Ordered, const MAX: bool> Fold for Arg<T, MAX> {
    fn planes(&self) -> usize {
        2
    }

    fn indexed(&self) -> bool {
        true
    }

    /// Nothing to do: the first element takes its place unasked.
    unsafe fn start(&self, _: Accs, _: usize) {}

    unsafe fn rows(&self, accs: Accs, tile: &Tile) {
        let (values, numbers, tile) = (accs.plane::<T>(0), accs.plane::<i64>(1), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    let x = tile.row::<T>(j);
                    for start in (0..tile.cols).step_by(BLOCK) {
                        let n = BLOCK.min(tile.cols - start);
                        // SAFETY: the caller's.
                        unsafe {
                            let (best, at) = Self::best_of(isa, x.add(start), n);
                            let mut state = (best, tile.index + (start + at) as i64 * tile.weight);
                            if tile.done + start > 0 {
                                state = Self::first_best((values.add(j).read(), numbers.add(j).read()), state);
                            }
                            values.add(j).write(state.0);
                            numbers.add(j).write(state.1);
                        }
                    }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accs, tile: &Tile) {
        let tile = *tile;
        simd(
            #[inline(always)]
            move |_| {
                // SAFETY: the caller's.
                for_groups(tile, |tile| unsafe { for_columns(tile.cols, &Group::<T, MAX> { accs, tile, of: PhantomData }) })
            },
        )
    }

    unsafe fn merge(&self, accs: Accs, later: Accs, n: usize, _: [usize; 2]) {
        let (values, numbers) = (accs.plane::<T>(0), accs.plane::<i64>(1));
        for j in 0..n {
            // SAFETY: the caller's.
            unsafe {
                let later = (later.plane::<T>(0).add(j).read(), later.plane::<i64>(1).add(j).read());
                let (value, number) = Self::first_best((values.add(j).read(), numbers.add(j).read()), later);
                values.add(j).write(value);
                numbers.add(j).write(number);
            }
        }
    }

    unsafe fn finish(&self, accs: Accs, n: usize, _: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller's.
        unsafe {
            std::ptr::copy_nonoverlapping(accs.plane::<T>(0), out[0].cast(), n);
            std::ptr::copy_nonoverlapping(accs.plane::<i64>(1), out[1].cast(), n);
        }
    }
}
