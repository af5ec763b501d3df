//! Maxima and minima, and the index of their first occurrence. A NaN is both the maximum and the minimum.

use super::kernel::{Accumulators, FoldKernel, FoldTile, for_rows};
use super::line::Columns;
use super::reducer::row;
use super::{Reducer, search};
use crate::cpu::simd::{Isa, Level, simd};
#[cfg(target_arch = "x86_64")]
use crate::cpu::vector::I64x8;
use crate::cpu::vector::{MOST_LANES, by_level};
use crate::dtype::{Bool, Element};
use std::marker::PhantomData;
use std::ops::BitOrAssign;

/// An element type with an order.
pub trait Ordered: Element {
    /// An integer type of the element's width.
    type Key: Copy + Ord + Send + Sync;
    /// A type of the element's width for counts up to [`ROWS`](super::ROWS).
    type At: Copy + Send + Sync + From<u8> + Into<u64> + BitOrAssign;
    /// No element is less.
    const LEAST: Self;
    /// No element is greater.
    const GREATEST: Self;
    /// `self > b`
    fn above(self, b: Self) -> bool;
    /// `self >= b`
    fn reaches(self, b: Self) -> bool;
    /// Returns `x` if it is NaN, or greater (`MAX`) or less than `best`; otherwise `best`.
    fn better<const MAX: bool>(best: Self, x: Self) -> Self;
    /// Returns an integer with the order of the element. NaN is the greatest (`MAX`) or the smallest.
    fn key<const MAX: bool>(self) -> Self::Key;
    /// Returns the element of a key.
    fn at(key: Self::Key) -> Self;

    /// Returns the maximum (`MAX`) or minimum of `n` >= 1 contiguous elements.
    ///
    /// # Safety
    /// `x` must hold `n` elements.
    #[inline(always)]
    unsafe fn best<const MAX: bool>(isa: Isa, x: *const Self, n: usize) -> Self {
        // SAFETY: the caller keeps this function's contract.
        Self::at(unsafe { row(Extreme::<Self, MAX>(PhantomData), isa, x, n) }.0)
    }

    /// Returns the index of the first of `n` >= 1 contiguous elements that equals `best`, which must be one of them.
    ///
    /// # Safety
    /// `x` must hold `n` elements.
    #[inline(always)]
    unsafe fn place(_: Isa, x: *const Self, n: usize, best: Self) -> usize {
        // SAFETY: the caller keeps this function's contract.
        unsafe { place(x, n, best) }
    }
}

macro_rules! ordered {
    (integer: $($t:ident $at:ident $({ $($by_vectors:tt)* })?;)*) => { $(
        impl Ordered for $t {
            type Key = $t;
            type At = $at;
            const LEAST: $t = $t::MIN;
            const GREATEST: $t = $t::MAX;
            #[inline(always)]
            fn above(self, b: $t) -> bool {
                self > b
            }
            #[inline(always)]
            fn reaches(self, b: $t) -> bool {
                self >= b
            }
            #[inline(always)]
            fn better<const MAX: bool>(best: $t, x: $t) -> $t {
                meet::<_, MAX>(best, x)
            }
            #[inline(always)]
            fn key<const MAX: bool>(self) -> $t {
                self
            }
            #[inline(always)]
            fn at(key: $t) -> $t {
                key
            }
            $($($by_vectors)*)?
        }
    )* };
    (float: $($t:ident $key:ident $at:ident;)*) => { $(
        impl Ordered for $t {
            type Key = $key;
            type At = $at;
            const LEAST: $t = $t::NEG_INFINITY;
            const GREATEST: $t = $t::INFINITY;
            #[inline(always)]
            fn above(self, b: $t) -> bool {
                self > b
            }
            #[inline(always)]
            fn reaches(self, b: $t) -> bool {
                self >= b
            }
            #[inline(always)]
            fn better<const MAX: bool>(best: $t, x: $t) -> $t {
                let ahead = if MAX { x > best } else { best > x };
                if ahead | x.is_nan() { x } else { best }
            }
            /// Returns the bits as an integer, with the bits below the sign inverted for negative numbers.
            #[inline(always)]
            fn key<const MAX: bool>(self) -> $key {
                let bits = self.to_bits() as $key;
                let key = bits ^ ((bits >> ($key::BITS - 1)) & $key::MAX);
                if self.is_nan() { if MAX { $key::MAX } else { $key::MIN } } else { key }
            }
            #[inline(always)]
            fn at(key: $key) -> $t {
                $t::from_bits((key ^ ((key >> ($key::BITS - 1)) & $key::MAX)) as _)
            }
            #[inline(always)]
            unsafe fn best<const MAX: bool>(isa: Isa, x: *const $t, n: usize) -> $t {
                // SAFETY: the caller keeps this function's contract; `isa` is an instruction set of this processor.
                unsafe {
                    // Registers of four lanes are slower than the lanes of a reducer.
                    if n < MOST_LANES || isa.level() == Level::Baseline {
                        return $t::at(row(Extreme::<$t, MAX>(PhantomData), isa, x, n).0);
                    }
                    by_level!(isa, $t, V => search::best::<V, MAX>(x, n))
                }
            }
            #[inline(always)]
            unsafe fn place(isa: Isa, x: *const $t, n: usize, best: $t) -> usize {
                // SAFETY: the caller keeps this function's contract; `isa` is an instruction set of this processor.
                unsafe {
                    if n < MOST_LANES || best.is_nan() {
                        return place(x, n, best);
                    }
                    by_level!(isa, $t, V => search::place::<V>(x, n, best))
                }
            }
        }
    )* };
}
ordered! {
    integer:
    u8 u8;
    i8 u8;
    i16 u16;
    i32 u32;
    i64 u64 {
        #[inline(always)]
        unsafe fn best<const MAX: bool>(isa: Isa, x: *const i64, n: usize) -> i64 {
            // SAFETY: the caller keeps this function's contract; `isa` is an instruction set of this processor.
            unsafe {
                #[cfg(target_arch = "x86_64")]
                if n >= MOST_LANES && isa.level() == Level::Avx512 {
                    return search::best::<I64x8, MAX>(x, n);
                }
                row(Extreme::<i64, MAX>(PhantomData), isa, x, n).0
            }
        }
        #[inline(always)]
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
        unsafe fn place(isa: Isa, x: *const i64, n: usize, best: i64) -> usize {
            // SAFETY: the caller keeps this function's contract; `isa` is an instruction set of this processor.
            unsafe {
                #[cfg(target_arch = "x86_64")]
                if n >= MOST_LANES && isa.level() == Level::Avx512 {
                    return search::place::<I64x8>(x, n, best);
                }
                place(x, n, best)
            }
        }
    };
}
ordered! { float: f32 i32 u32; f64 i64 u64; }

impl Ordered for Bool {
    type Key = u8;
    type At = u8;
    const LEAST: Bool = Bool(0);
    const GREATEST: Bool = Bool(1);
    #[inline(always)]
    fn above(self, b: Bool) -> bool {
        self.get() & !b.get()
    }
    #[inline(always)]
    fn reaches(self, b: Bool) -> bool {
        self.get() | !b.get()
    }
    #[inline(always)]
    fn better<const MAX: bool>(best: Bool, x: Bool) -> Bool {
        Bool(meet::<_, MAX>(best.get() as u8, x.get() as u8))
    }
    #[inline(always)]
    fn key<const MAX: bool>(self) -> u8 {
        self.get() as u8
    }
    #[inline(always)]
    fn at(key: u8) -> Bool {
        Bool(key)
    }
}

/// Returns true if `x` replaces `best`, which came earlier.
#[inline(always)]
fn beats<T: Ordered, const MAX: bool>(x: T, best: T) -> bool {
    // Every comparison with a NaN is false, so its negation is true for a NaN `x`.
    !(if MAX { best.reaches(x) } else { x.reaches(best) }) & !best.is_nan()
}

/// Returns the better of two keys.
#[inline(always)]
fn meet<K: Ord, const MAX: bool>(a: K, b: K) -> K {
    if MAX { a.max(b) } else { a.min(b) }
}

/// The maximum (`MAX`) or minimum; with `SIZE`, of the magnitudes.
#[derive(Clone, Copy)]
pub struct Extreme<T, const MAX: bool, const SIZE: bool = false>(pub PhantomData<T>);

impl<T: Ordered, const MAX: bool, const SIZE: bool> Reducer for Extreme<T, MAX, SIZE> {
    type In = T;
    type A = T;
    type B = ();
    type S = T::Key;
    type U = ();
    type Out = T;
    type Other = ();
    #[inline(always)]
    fn empty(self) -> (T, ()) {
        (if MAX { T::LEAST } else { T::GREATEST }, ())
    }
    #[inline(always)]
    fn accumulate(self, _: Isa, lane: (T, ()), x: T) -> (T, ()) {
        (T::better::<MAX>(lane.0, if SIZE { Element::abs(x) } else { x }), ())
    }
    #[inline(always)]
    fn state(self, lane: (T, ())) -> (T::Key, ()) {
        (lane.0.key::<MAX>(), ())
    }
    #[inline(always)]
    fn merge(self, a: (T::Key, ()), b: (T::Key, ())) -> (T::Key, ()) {
        (meet::<_, MAX>(a.0, b.0), ())
    }
    #[inline(always)]
    fn finish(self, state: (T::Key, ()), _: usize) -> (T, ()) {
        (T::at(state.0), ())
    }
    #[inline(always)]
    unsafe fn of_row(self, isa: Isa, x: *const T, n: usize) -> (T::Key, ()) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if SIZE { row(self, isa, x, n) } else { (T::best::<MAX>(isa, x, n).key::<MAX>(), ()) } }
    }
}

/// The maximum (`MAX`) or minimum and the index of its first occurrence.
pub struct Arg<T, const MAX: bool>(pub PhantomData<T>);

/// Elements of a row whose extreme is found first, and then its index.
const SOUGHT: usize = 1024;

impl<T: Ordered, const MAX: bool> Arg<T, MAX> {
    /// Returns the better of two values with their indices; of equal values, the one with the lower index.
    #[inline(always)]
    fn first_best(a: (T, i64), b: (T, i64)) -> (T, i64) {
        let tie = !beats::<T, MAX>(a.0, b.0) && b.1 < a.1;
        if beats::<T, MAX>(b.0, a.0) || tie { b } else { a }
    }
}

/// Returns the index of the first of `n` >= 1 elements that equals `best`, which must be one of them.
///
/// # Safety
/// `x` must hold `n` elements.
#[inline(always)]
unsafe fn place<T: Element>(x: *const T, n: usize, best: T) -> usize {
    const STRIDE: usize = 64;
    let mut at = 0;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        while at + STRIDE <= n {
            let mut found = 0u8;
            for k in 0..STRIDE {
                found |= same(x.add(at + k).read(), best) as u8;
            }
            if found != 0 {
                break;
            }
            at += STRIDE;
        }
        while at + 1 < n && !same(x.add(at).read(), best) {
            at += 1;
        }
    }
    at
}

#[inline(always)]
fn same<T: Element>(a: T, b: T) -> bool {
    (a == b) | (a.is_nan() & b.is_nan())
}

/// Returns the best value of a column and its row, counted from 1, after `x` of row `r`. Without `NANS`, `x` must not be NaN.
#[inline(always)]
fn updated<T: Ordered, const MAX: bool, const NANS: bool>((best, at): (T, T::At), x: T, r: usize) -> (T, T::At) {
    let (better, than) = if MAX { (x, best) } else { (best, x) };
    let news = if NANS { beats::<T, MAX>(x, best) } else { better.above(than) };
    (if news { x } else { best }, if news { T::At::from(r as u8 + 1) } else { at })
}

/// Folds the columns of a tile. Without `NANS`, which takes longer, this changes nothing and returns false if there is a NaN.
///
/// # Safety
/// As for [`FoldKernel::columns`].
#[inline(always)]
unsafe fn columns<T: Ordered, const MAX: bool, const NANS: bool>(accs: Accumulators, tile: FoldTile) -> bool {
    let (n, first) = (tile.cols, tile.row::<T>(0));
    let (values, numbers) = (accs.plane::<T>(0), accs.plane::<i64>(1));
    // SAFETY: the caller keeps this function's contract; lines have an entry for each column.
    unsafe {
        let from = if tile.done == 0 { first } else { values };
        let (mut best, mut at) = (Columns::uninit(), Columns::uninit());
        let best = best.fill(
            n,
            #[inline(always)]
            |k| from.add(k).read(),
        );
        // Values from 1 on are rows of the tile.
        let at = at.fill(
            n,
            #[inline(always)]
            |_| T::At::from(0),
        );
        let mut nans = T::At::from(0);
        for_rows::<T>(
            &tile,
            #[inline(always)]
            |r, x| {
                let mut seen = T::At::from(0);
                for k in 0..n {
                    let mut state = (best.add(k).read(), at.add(k).read());
                    let x = [x[0].add(k).read(), x[1].add(k).read(), x[2].add(k).read(), x[3].add(k).read()];
                    state = updated::<T, MAX, NANS>(state, x[0], r);
                    state = updated::<T, MAX, NANS>(state, x[1], r + 1);
                    state = updated::<T, MAX, NANS>(state, x[2], r + 2);
                    state = updated::<T, MAX, NANS>(state, x[3], r + 3);
                    (*best.add(k), *at.add(k)) = state;
                    if !NANS {
                        let nan = (x[0].is_nan() | x[1].is_nan()) | (x[2].is_nan() | x[3].is_nan());
                        seen |= T::At::from(nan as u8);
                    }
                }
                nans |= seen;
            },
            #[inline(always)]
            |r, x| {
                for k in 0..n {
                    (*best.add(k), *at.add(k)) = updated::<T, MAX, true>((best.add(k).read(), at.add(k).read()), x.add(k).read(), r);
                }
            },
        );
        if nans.into() != 0 {
            return false;
        }
        for k in 0..n {
            let at: u64 = at.add(k).read().into();
            let before = if tile.done == 0 { tile.index } else { numbers.add(k).read() };
            values.add(k).write(best.add(k).read());
            numbers.add(k).write(if at == 0 { before } else { tile.index + (at as i64 - 1) * tile.weight });
        }
    }
    true
}

impl<T: Ordered, const MAX: bool> FoldKernel for Arg<T, MAX> {
    fn planes(&self) -> usize {
        2
    }

    fn indexed(&self) -> bool {
        true
    }

    /// Does nothing, since the first element of a fold is stored without a comparison.
    unsafe fn start(&self, _: Accumulators, _: usize) {}

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let (values, numbers, tile) = (accs.plane::<T>(0), accs.plane::<i64>(1), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    let x = tile.row::<T>(j);
                    for start in (0..tile.cols).step_by(SOUGHT) {
                        let n = SOUGHT.min(tile.cols - start);
                        // SAFETY: the caller keeps this function's contract.
                        unsafe {
                            let x = x.add(start);
                            let best = T::best::<MAX>(isa, x, n);
                            let known = (values.add(j).read(), numbers.add(j).read());
                            // In most blocks no element is better than the best so far, so that no index is needed.
                            if tile.done + start > 0 && beats::<T, MAX>(known.0, best) {
                                continue;
                            }
                            let found = (best, tile.index + (start + T::place(isa, x, n, best)) as i64 * tile.weight);
                            let state = if tile.done + start > 0 { Self::first_best(known, found) } else { found };
                            values.add(j).write(state.0);
                            numbers.add(j).write(state.1);
                        }
                    }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let tile = *tile;
        // Detecting a NaN is cheaper than handling it in the order.
        let done = simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract.
            move |_| unsafe { columns::<T, MAX, false>(accs, tile) },
        );
        if !done {
            simd(
                #[inline(always)]
                // SAFETY: the caller keeps this function's contract.
                move |_| unsafe { columns::<T, MAX, true>(accs, tile) },
            );
        }
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, _: [usize; 2]) {
        let (values, numbers) = (accs.plane::<T>(0), accs.plane::<i64>(1));
        for j in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                let later = (later.plane::<T>(0).add(j).read(), later.plane::<i64>(1).add(j).read());
                let (value, number) = Self::first_best((values.add(j).read(), numbers.add(j).read()), later);
                values.add(j).write(value);
                numbers.add(j).write(number);
            }
        }
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, _: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            std::ptr::copy_nonoverlapping(accs.plane::<T>(0), out[0].cast(), n);
            std::ptr::copy_nonoverlapping(accs.plane::<i64>(1), out[1].cast(), n);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the maximum and minimum of rows of any length. Each occurs twice; the index must be the first.
    fn check<T: Ordered + PartialEq + std::fmt::Debug>() {
        let [few, some, most] = [1, 5, 9].map(T::from_i64);
        for n in 1..=200 {
            for first in (0..n).step_by(1 + n / 40) {
                for second in [first, (first + n) / 2, n - 1] {
                    let mut x = vec![some; n];
                    let mut found = |value: T, max: bool| {
                        (x[first], x[second]) = (value, value);
                        let data = x.as_ptr();
                        simd(
                            #[inline(always)]
                            // SAFETY: the vector holds `n` elements.
                            move |isa| unsafe {
                                let best = if max { T::best::<true>(isa, data, n) } else { T::best::<false>(isa, data, n) };
                                (best, T::place(isa, data, n, best))
                            },
                        )
                    };
                    assert_eq!(found(most, true), (most, first), "{:?}, {n}: {first}, {second}", T::DTYPE);
                    assert_eq!(found(few, false), (few, first), "{:?}, {n}: {first}, {second}", T::DTYPE);
                }
            }
        }
    }

    #[test]
    fn the_first_of_equals_is_found_in_rows_of_any_length() {
        check::<f32>();
        check::<f64>();
        check::<i64>();
        check::<i32>();
        check::<u8>();
    }

    /// Returns the best element of each column of `rows` x `cols` elements and its row, with the tile divided in two.
    fn best_of_columns<T: Ordered, const MAX: bool>(x: &[T], rows: usize, cols: usize) -> (Vec<T>, Vec<i64>) {
        let (mut memory, mut values, mut places) = (vec![0u64; 2 * cols], vec![T::ZERO; cols], vec![0i64; cols]);
        let (accs, fold) = (Accumulators { data: memory.as_mut_ptr().cast(), capacity: cols }, Arg::<T, MAX>(PhantomData));
        let step = (cols * size_of::<T>()) as isize;
        for (from, to) in [(0, rows / 3), (rows / 3, rows)].into_iter().filter(|(from, to)| from < to) {
            let x = x[from * cols..].as_ptr().cast();
            let tile = FoldTile { x, rows: to - from, cols, step, done: from, index: from as i64, weight: 1 };
            // SAFETY: the accumulators have room for the columns.
            unsafe { fold.columns(accs, &tile) };
        }
        // SAFETY: the results have room for the columns.
        unsafe { fold.finish(accs, cols, rows, [values.as_mut_ptr().cast(), places.as_mut_ptr().cast()]) };
        (values, places)
    }

    /// Returns the index of the first element of a column that no other is better than. A NaN is better than every number.
    fn first_best<T: Ordered>(x: &[T], cols: usize, j: usize, max: bool) -> usize {
        let column: Vec<T> = x.iter().skip(j).step_by(cols).copied().collect();
        let ahead = |a: T, b: T| (a.is_nan() && !b.is_nan()) || (!b.is_nan() && if max { a > b } else { a < b });
        (1..column.len()).fold(0, |best, i| if ahead(column[i], column[best]) { i } else { best })
    }

    fn check_columns<T: Ordered + std::fmt::Debug>(x: &[T], rows: usize, cols: usize) {
        for (max, (values, places)) in
            [(true, best_of_columns::<T, true>(x, rows, cols)), (false, best_of_columns::<T, false>(x, rows, cols))]
        {
            for j in 0..cols {
                let first = first_best(x, cols, j, max);
                let (value, right) = (values[j], x[first * cols + j]);
                assert_eq!(places[j] as usize, first, "{:?}, {rows} x {cols}, max {max}: column {j}", T::DTYPE);
                assert!(value == right || (value.is_nan() && right.is_nan()), "{:?}, {rows} x {cols}, max {max}: column {j}", T::DTYPE);
            }
        }
    }

    #[test]
    fn the_best_of_columns_is_found_with_a_nan_anywhere_or_none() {
        for (rows, cols) in [(1usize, 1usize), (3, 40), (4, 16), (9, 130), (50, 257)] {
            let whole: Vec<f32> = (0..rows * cols).map(|i| (i * 31 % 19) as f32 - 9.0).collect();
            for nan in (0..=rows * cols).rev().step_by(1 + rows * cols / 50) {
                let mut x = whole.clone();
                if let Some(at) = x.get_mut(nan) {
                    *at = f32::NAN;
                }
                check_columns::<f32>(&x, rows, cols);
                check_columns::<f64>(&x.iter().map(|&v| v.into()).collect::<Vec<_>>(), rows, cols);
            }
            check_columns::<i32>(&whole.iter().map(|&v| v as i32).collect::<Vec<_>>(), rows, cols);
            check_columns::<u8>(&whole.iter().map(|&v| v as u8).collect::<Vec<_>>(), rows, cols);
        }
    }
}
