//! The extreme of a row of numbers and its index, by whole vectors.

use crate::cpu::stream;
use crate::cpu::vector::{Mask, Register};
use crate::dtype::Element;

/// Returns the greater (`MAX`) or lesser numbers, if none is NaN.
#[inline(always)]
fn better<V: Register, const MAX: bool>(a: V, b: V) -> V {
    if MAX { a.greater(b) } else { a.lesser(b) }
}

/// Returns the maximum (`MAX`) or minimum of `n` contiguous elements, NaN if one is NaN.
///
/// # Safety
/// `x` must hold `n` elements, at least a vector; as for [`Register`].
#[inline(always)]
pub unsafe fn best<V: Register, const MAX: bool>(x: *const V::Item, n: usize) -> V::Item {
    const UNROLL: usize = 4;
    // The distance in bytes at which memory is prefetched, usually in the next row. Otherwise the search for the index would delay that
    // row.
    const AHEAD: usize = 4096;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let last = V::load(x.add(n - V::LANES));
        let (mut found, mut nans, mut at) = ([last; UNROLL], last.unordered(last), 0);
        while n - at >= UNROLL * V::LANES {
            let x = x.add(at);
            stream::prefetch(x.wrapping_byte_add(AHEAD).cast(), UNROLL * V::LANES * size_of::<V::Item>());
            let [a, b] = [V::load(x), V::load(x.add(V::LANES))];
            let [c, d] = [V::load(x.add(2 * V::LANES)), V::load(x.add(3 * V::LANES))];
            nans |= a.unordered(b) | c.unordered(d);
            let [e, f, g, h] = found;
            found = [better::<V, MAX>(e, a), better::<V, MAX>(f, b), better::<V, MAX>(g, c), better::<V, MAX>(h, d)];
            at += UNROLL * V::LANES;
        }
        while n - at >= V::LANES {
            let a = V::load(x.add(at));
            nans |= a.unordered(a);
            found[0] = better::<V, MAX>(found[0], a);
            at += V::LANES;
        }
        if nans != 0 {
            return V::Item::from_f64(f64::NAN);
        }
        let best = better::<V, MAX>(better::<V, MAX>(found[0], found[1]), better::<V, MAX>(found[2], found[3]));
        if MAX { best.greatest() } else { best.least() }
    }
}

/// Returns the index of the first of `n` contiguous elements that equals `value`, which must be one of them.
///
/// # Safety
/// As for [`best`].
#[inline(always)]
pub unsafe fn place<V: Register>(x: *const V::Item, n: usize, value: V::Item) -> usize {
    const LAST: usize = 8;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let (value, mut at) = (V::all(value), 0);
        while n - at > LAST * V::LANES {
            let x = x.add(at);
            let (low, high) = (two_equal(x, value), two_equal(x.add(2 * V::LANES), value));
            let found = u64::from(low) | u64::from(high) << (2 * V::LANES);
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 4 * V::LANES;
        }
        // A branch on the half that contains the value would often be mispredicted. Both halves are compared, and then one bit is searched.
        let low = u128::from(four_equal(x, n, at, value));
        let high = if n - at > 4 * V::LANES { u128::from(four_equal(x, n, at + 4 * V::LANES, value)) } else { 0 };
        let bit = (low | high << (4 * V::LANES)).trailing_zeros() as usize;
        (at + bit / V::LANES * V::LANES).min(n - V::LANES) + bit % V::LANES
    }
}

/// Returns a mask of the elements of two vectors that equal `value`.
///
/// # Safety
/// `x` must hold two vectors.
#[inline(always)]
unsafe fn two_equal<V: Register>(x: *const V::Item, value: V) -> Mask {
    // SAFETY: the caller keeps this function's contract.
    unsafe { V::load(x).equal(value) | V::load(x.add(V::LANES)).equal(value) << V::LANES }
}

/// Returns a mask of the elements of four vectors from `at` on that equal `value`. Vectors that would end after `n` begin earlier.
///
/// # Safety
/// As for [`best`].
#[inline(always)]
unsafe fn four_equal<V: Register>(x: *const V::Item, n: usize, at: usize, value: V) -> u64 {
    let mut found = 0;
    for k in 0..4 {
        // SAFETY: the caller keeps this function's contract.
        let equal = unsafe { V::load(x.add((at + k * V::LANES).min(n - V::LANES))) }.equal(value);
        found |= u64::from(equal) << (k * V::LANES);
    }
    found
}
