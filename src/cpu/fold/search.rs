//! The extreme of a row of float32 and its place, by whole vectors.

use super::vector::Vector;
use crate::cpu::stream;

/// The greatest (`MAX`) or least of `n` contiguous elements, NaN if one is.
///
/// # Safety
/// `x` holds them, a vector or more; as for [`Vector`].
#[inline(always)]
pub unsafe fn best<V: Vector, const MAX: bool>(x: *const f32, n: usize) -> f32 {
    const ABREAST: usize = 4;
    // So far on, in the next row mostly, memory is asked for what the search for the place would keep it waiting with.
    const AHEAD: usize = 1024;
    // SAFETY: the caller's.
    unsafe {
        let last = V::floats(x.add(n - V::WIDTH));
        let (mut found, mut nans, mut at) = ([last; ABREAST], last.unordered(last), 0);
        while n - at >= ABREAST * V::WIDTH {
            let x = x.add(at);
            stream::prefetch(x.wrapping_add(AHEAD).cast(), ABREAST * V::WIDTH * size_of::<f32>());
            let [a, b] = [V::floats(x), V::floats(x.add(V::WIDTH))];
            let [c, d] = [V::floats(x.add(2 * V::WIDTH)), V::floats(x.add(3 * V::WIDTH))];
            nans |= a.unordered(b) | c.unordered(d);
            found = [found[0].better::<MAX>(a), found[1].better::<MAX>(b), found[2].better::<MAX>(c), found[3].better::<MAX>(d)];
            at += ABREAST * V::WIDTH;
        }
        while n - at >= V::WIDTH {
            let a = V::floats(x.add(at));
            nans |= a.unordered(a);
            found[0] = found[0].better::<MAX>(a);
            at += V::WIDTH;
        }
        let two = [found[0].better::<MAX>(found[1]), found[2].better::<MAX>(found[3])];
        if nans != 0 { f32::NAN } else { two[0].better::<MAX>(two[1]).best::<MAX>() }
    }
}

/// The first of `n` contiguous elements that is `value`, which one of them is.
///
/// # Safety
/// As for [`best`].
#[inline(always)]
pub unsafe fn place<V: Vector>(x: *const f32, n: usize, value: f32) -> usize {
    const LAST: usize = 8;
    // SAFETY: the caller's.
    unsafe {
        let (value, mut at) = (V::all(value), 0);
        while n - at > LAST * V::WIDTH {
            let x = x.add(at);
            let [a, b] = [V::floats(x).same(value), V::floats(x.add(V::WIDTH)).same(value)];
            let [c, d] = [V::floats(x.add(2 * V::WIDTH)).same(value), V::floats(x.add(3 * V::WIDTH)).same(value)];
            let (low, high) = (u64::from(a) | u64::from(b) << V::WIDTH, u64::from(c) | u64::from(d) << V::WIDTH);
            let found = low | high << (2 * V::WIDTH);
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += 4 * V::WIDTH;
        }
        // Backwards, so that the first has the last word: nobody could guess where a search of few ends.
        let mut place = 0;
        for k in (0..LAST).rev() {
            let from = (at + k * V::WIDTH).min(n - V::WIDTH);
            let found = V::floats(x.add(from)).same(value);
            place = if found != 0 { from + found.trailing_zeros() as usize } else { place };
        }
        place
    }
}
