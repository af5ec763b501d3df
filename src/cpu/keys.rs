//! Integer keys that keep the order of elements, for selection and sorting, and the kernels over runs of keys.

use super::simd::simd;
#[cfg(target_arch = "x86_64")]
use super::simd::{Level, level, with_avx512};
#[cfg(target_arch = "x86_64")]
use super::vector::{F32x16, F64x8, I32x16, I64x8, Masked};
use crate::cpu::tuning::RANKED_KEYS;
use crate::dtype::{Bool, Element};

/// Keys that [`Key::keep`] may write after the keys that it keeps.
pub(crate) const SLACK: usize = 16;

/// A type with a total order: NaN is the greatest, and both zeros are equal.
pub trait Ordered: Element {
    /// The type of the keys, which compare as the elements do.
    type Key: Key;
    /// Returns the key of an element. The key of every NaN is `Key::MAX`.
    fn key(self) -> Self::Key;
    /// Returns the element with this key.
    fn from_key(key: Self::Key) -> Self;
    /// Writes the keys in `lo..=hi` to `out`, in order. The key of NaN is never kept.
    ///
    /// # Safety
    /// `src` must hold `n` elements, and `out` must have room for `n + SLACK` keys.
    unsafe fn thin(src: *const Self, n: usize, lo: Self::Key, hi: Self::Key, out: *mut Self::Key) -> Kept;
}

/// i32 or i64.
pub trait Key: Copy + Ord + Send + Sync + Default + std::fmt::Debug + 'static {
    /// The smallest key.
    const MIN: Self;
    /// The greatest key.
    const MAX: Self;
    /// The number of bytes, which are the digits to base 256.
    const DIGITS: usize = size_of::<Self>();
    /// Returns the next greater key, which must exist.
    fn above(self) -> Self;
    /// Returns the next smaller key, which must exist.
    fn under(self) -> Self;
    /// Returns a key halfway between `self` and the greater `other`, not `other` itself.
    fn halfway(self, other: Self) -> Self;
    /// Returns the difference to the smaller key `least`, at most `usize::MAX`.
    fn distance(self, least: Self) -> usize;
    /// Returns the key that is greater by `distance`.
    fn plus(self, distance: usize) -> Self;
    /// Returns digit `d` to base 256. Keys compare as their digits do.
    fn digit(self, d: usize) -> usize;
    /// Returns an unsigned number that compares as the key does. `MAX` has the greatest number.
    fn bits(self) -> u64;
    /// Returns the key with these bits. Excess upper bits are dropped.
    fn from_bits(bits: u64) -> Self;
    /// Returns the key itself, or, if `on`, a key that compares in reverse order.
    fn flipped(self, on: bool) -> Self;
    /// Copies the keys in `lo..=hi` to `out`, in order.
    ///
    /// # Safety
    /// `src` must hold `n` keys, and `out` must have room for `n + SLACK`; `out` may be `src`.
    unsafe fn keep(src: *const Self, n: usize, lo: Self, hi: Self, out: *mut Self) -> Kept;
    /// Returns the keys of ranks `ranks[0]` and `ranks[1]` among the first `n` of `keys`. The other keys must be `MAX`.
    fn ranked(keys: &[Self; RANKED_KEYS], n: usize, ranks: [usize; 2]) -> [Self; 2];
}

/// The result of [`Key::keep`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// The number of keys below the lower bound.
    pub below: usize,
    /// The number of keys that were kept.
    pub kept: usize,
    /// True if there was a NaN.
    pub nan: bool,
}

macro_rules! key {
    ($t:ident $unsigned:ident $V:ident) => {
        impl Key for $t {
            const MIN: $t = $t::MIN;
            const MAX: $t = $t::MAX;
            #[inline(always)]
            fn above(self) -> $t {
                self.wrapping_add(1)
            }
            #[inline(always)]
            fn under(self) -> $t {
                self.wrapping_sub(1)
            }
            #[inline(always)]
            fn halfway(self, other: $t) -> $t {
                (self & other) + ((self ^ other) >> 1)
            }
            #[inline(always)]
            fn distance(self, least: $t) -> usize {
                usize::try_from(self.wrapping_sub(least) as $unsigned).unwrap_or(usize::MAX)
            }
            #[inline(always)]
            fn plus(self, distance: usize) -> $t {
                self.wrapping_add(distance as $t)
            }
            #[inline(always)]
            fn digit(self, d: usize) -> usize {
                ((self ^ $t::MIN) as $unsigned >> (8 * d)) as usize & 255
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                (self ^ $t::MIN) as $unsigned as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> $t {
                bits as $t ^ $t::MIN
            }
            #[inline(always)]
            fn flipped(self, on: bool) -> $t {
                self ^ -(on as $t)
            }
            #[inline(always)]
            unsafe fn keep(src: *const $t, n: usize, lo: $t, hi: $t, out: *mut $t) -> Kept {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                    return unsafe { keep_avx512::<$V>(src, n, lo, hi, out) };
                }
                // SAFETY: the caller keeps this function's contract.
                unsafe { keep_each(src, n, lo, hi, out) }
            }
            #[inline(always)]
            fn ranked(keys: &[$t; RANKED_KEYS], n: usize, ranks: [usize; 2]) -> [$t; 2] {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the processor has AVX-512.
                    return unsafe { ranked_avx512::<$V>(keys, n, ranks, $t::MIN) };
                }
                ranked_each(keys, n, ranks)
            }
        }
    };
}
key!(i32 u32 I32x16);
key!(i64 u64 I64x8);

/// [`Key::keep`] one element at a time, without branches.
///
/// # Safety
/// As for [`Key::keep`].
unsafe fn keep_each<T: Element>(src: *const T, n: usize, lo: T, hi: T, out: *mut T) -> Kept {
    let (mut below, mut kept, mut nan) = (0, 0, false);
    for i in 0..n {
        // SAFETY: `kept` <= `i` < `n`, and element `i` is read before it can be overwritten.
        unsafe {
            let x = src.add(i).read();
            out.add(kept).write(x);
            below += (x < lo) as usize;
            kept += (lo <= x && x <= hi) as usize;
            nan |= x.is_nan();
        }
    }
    Kept { below, kept, nan }
}

/// [`Key::ranked`] with vectors of any length.
fn ranked_each<K: Key>(keys: &[K; RANKED_KEYS], n: usize, ranks: [usize; 2]) -> [K; 2] {
    simd(
        #[inline(always)]
        move |_| {
            let mut found = [K::MIN; 2];
            for &x in &keys[..n] {
                let before = keys.iter().fold(0u32, |sum, &y| sum + (y < x) as u32) as usize;
                for r in 0..2 {
                    found[r] = found[r].max(if before <= ranks[r] { x } else { K::MIN });
                }
            }
            found
        },
    )
}

#[cfg(target_arch = "x86_64")]
with_avx512! {
    unsafe fn keep_avx512<V: Masked>(src: *const V::Item, n: usize, lo: V::Item, hi: V::Item, out: *mut V::Item) -> Kept {
        // SAFETY: the caller keeps this function's contract.
        unsafe { keep_registers::<V>(src, n, lo, hi, out) }
    }

    unsafe fn ranked_avx512<V: Masked>(keys: &[V::Item; RANKED_KEYS], n: usize, ranks: [usize; 2], least: V::Item) -> [V::Item; 2] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { ranked_registers::<V>(keys, n, ranks, least) }
    }
}

/// [`Key::keep`] by whole registers. NaN is never kept.
///
/// # Safety
/// As for [`Key::keep`]; the processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn keep_registers<V: Masked>(src: *const V::Item, n: usize, lo: V::Item, hi: V::Item, out: *mut V::Item) -> Kept {
    let (from, to) = (V::all(lo), V::all(hi));
    let (mut below, mut kept, mut nan) = (0, 0, 0);
    for i in (0..n).step_by(V::LANES) {
        let lanes = V::first(V::LANES.min(n - i));
        // SAFETY: only lanes below `n` are read; `kept` <= `i`, and up to SLACK more lanes may be written.
        unsafe {
            let x = V::load_where(lanes, src.add(i));
            let low = lanes & x.below(from);
            let inside = lanes & !low & x.up_to(to);
            x.packed(inside).store(out.add(kept));
            nan |= x.unordered(x);
            below += low.count_ones() as usize;
            kept += inside.count_ones() as usize;
        }
    }
    Kept { below, kept, nan: nan != 0 }
}

/// [`Key::ranked`] by whole registers.
///
/// # Safety
/// The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn ranked_registers<V: Masked>(keys: &[V::Item; RANKED_KEYS], n: usize, ranks: [usize; 2], least: V::Item) -> [V::Item; 2] {
    let n = n.min(RANKED_KEYS);
    let number = |i: usize| V::Item::from_i64(i as i64);
    let (wanted, one) = ([V::all(number(ranks[0])), V::all(number(ranks[1]))], V::all(number(1)));
    let mut found = [V::all(least); 2];
    for group in (0..n).step_by(V::LANES) {
        // SAFETY: RANKED_KEYS is a multiple of the lanes.
        let x = unsafe { V::load(keys.as_ptr().add(group)) };
        let mut before = [V::all(V::Item::ZERO); 2];
        for pair in keys[..n.next_multiple_of(2)].chunks_exact(2) {
            for h in 0..2 {
                before[h] = before[h].or_where(V::all(pair[h]).below(x), before[h] + one);
            }
        }
        let before = before[0] + before[1];
        for r in 0..2 {
            found[r] = found[r].or_where(before.up_to(wanted[r]), found[r].greater(x));
        }
    }
    [found[0].greatest(), found[1].greatest()]
}

/// Returns the number of keys below `lo`, and the number of keys in `lo..=hi`.
pub fn count<K: Key>(keys: &[K], lo: K, hi: K) -> (usize, usize) {
    simd(
        #[inline(always)]
        move |_| {
            let (mut below, mut up_to) = (0, 0);
            // Keys are counted block by block in 32 bits, since counts of 64 bits would halve the lanes.
            for block in keys.chunks(1 << 14) {
                let (mut low, mut high) = (0u32, 0u32);
                for &x in block {
                    low += (x < lo) as u32;
                    high += (x <= hi) as u32;
                }
                (below, up_to) = (below + low as usize, up_to + high as usize);
            }
            (below, up_to - below)
        },
    )
}

/// [`Ordered::thin`] for types narrower than their keys.
///
/// # Safety
/// As for [`Ordered::thin`].
#[inline(always)]
unsafe fn thin_widened<T: Ordered>(src: *const T, n: usize, lo: T::Key, hi: T::Key, out: *mut T::Key) -> Kept {
    const WIDENED: usize = 512;
    let (mut total, mut keys) = (Kept::default(), [T::Key::MIN; WIDENED]);
    for start in (0..n).step_by(WIDENED) {
        let len = WIDENED.min(n - start);
        // SAFETY: the caller keeps this function's contract.
        let part = unsafe {
            let block = std::slice::from_raw_parts(src.add(start), len);
            to_keys(block, keys.as_mut_ptr());
            T::Key::keep(keys.as_ptr(), len, lo, hi, out.add(total.kept))
        };
        total = Kept { below: total.below + part.below, kept: total.kept + part.kept, nan: false };
    }
    total
}

/// Writes the keys of `line` to `keys`.
///
/// # Safety
/// `keys` must have room for the keys. It may be the memory of `line`.
pub unsafe fn to_keys<T: Ordered>(line: &[T], keys: *mut T::Key) {
    simd(
        #[inline(always)]
        move |_| {
            for (i, x) in line.iter().enumerate() {
                // SAFETY: the caller keeps this function's contract.
                unsafe { keys.add(i).write(x.key()) }
            }
        },
    )
}

macro_rules! integers {
    ($($t:ident $Key:ident $thin:path),*) => { $(
        impl Ordered for $t {
            type Key = $Key;
            #[inline(always)]
            fn key(self) -> $Key {
                self as $Key
            }
            #[inline(always)]
            fn from_key(key: $Key) -> $t {
                key as $t
            }
            #[inline(always)]
            unsafe fn thin(src: *const $t, n: usize, lo: $Key, hi: $Key, out: *mut $Key) -> Kept {
                // SAFETY: the caller keeps this function's contract.
                unsafe { $thin(src, n, lo, hi, out) }
            }
        }
    )* };
}
integers!(u8 i32 thin_widened, i8 i32 thin_widened, i16 i32 thin_widened, i32 i32 i32::keep, i64 i64 i64::keep);

impl Ordered for Bool {
    type Key = i32;
    #[inline(always)]
    fn key(self) -> i32 {
        self.get() as i32
    }
    #[inline(always)]
    fn from_key(key: i32) -> Bool {
        (key != 0).into()
    }
    #[inline(always)]
    unsafe fn thin(src: *const Bool, n: usize, lo: i32, hi: i32, out: *mut i32) -> Kept {
        // SAFETY: the caller keeps this function's contract.
        unsafe { thin_widened(src, n, lo, hi, out) }
    }
}

macro_rules! keep_floats {
    ($($keep:ident $t:ident $V:ident),*) => { $(
        /// [`Key::keep`] for floats. NaN is never kept.
        ///
        /// # Safety
        /// As for [`Key::keep`].
        #[inline(always)]
        unsafe fn $keep(src: *const $t, n: usize, lo: $t, hi: $t, out: *mut $t) -> Kept {
            #[cfg(target_arch = "x86_64")]
            if level() == Level::Avx512 {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                return unsafe { keep_avx512::<$V>(src, n, lo, hi, out) };
            }
            // SAFETY: the caller keeps this function's contract.
            unsafe { keep_each(src, n, lo, hi, out) }
        }
    )* };
}
keep_floats!(keep_f32 f32 F32x16, keep_f64 f64 F64x8);

macro_rules! floats {
    ($($t:ident $Key:ident $Bits:ident $keep:ident),*) => { $(
        impl Ordered for $t {
            type Key = $Key;
            /// Returns the bits as an integer, with the bits below the sign inverted for negative numbers.
            #[inline(always)]
            fn key(self) -> $Key {
                // Adding zero makes -0.0 positive.
                let bits = (self + 0.0).to_bits() as $Key;
                let key = bits ^ ((bits >> ($Key::BITS - 1)) as $Bits >> 1) as $Key;
                if self.is_nan() { $Key::MAX } else { key }
            }
            #[inline(always)]
            fn from_key(key: $Key) -> $t {
                $t::from_bits((key ^ ((key >> ($Key::BITS - 1)) as $Bits >> 1) as $Key) as $Bits)
            }
            /// Compares floats, and computes keys only for the few that are kept.
            unsafe fn thin(src: *const $t, n: usize, lo: $Key, hi: $Key, out: *mut $Key) -> Kept {
                // Beyond the infinities there are only the keys of NaN.
                let lo = $t::from_key(lo.max($t::NEG_INFINITY.key()));
                let hi = $t::from_key(hi.min($t::INFINITY.key()));
                // SAFETY: the caller keeps this function's contract; a key has the size of its float.
                unsafe {
                    let part = $keep(src, n, lo, hi, out.cast());
                    to_keys(std::slice::from_raw_parts(out.cast::<$t>(), part.kept), out);
                    part
                }
            }
        }
    )* };
}
floats!(f32 i32 u32 keep_f32, f64 i64 u64 keep_f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_numbers_with_nan_last() {
        let rising = [f32::NEG_INFINITY, -3.5, -1e-45, 0.0, 1e-45, 2.0, f32::MAX, f32::INFINITY, f32::NAN];
        assert!(rising.windows(2).all(|w| w[0].key() < w[1].key()));
        assert_eq!((-0.0f64).key(), 0.0f64.key());
        assert_eq!((-f64::NAN).key(), i64::MAX);
        for x in &rising[..8] {
            assert_eq!(f32::from_key(x.key()), *x);
        }
        assert!(f64::from_key(i64::MAX).is_nan());
        assert!(i64::MIN.key() < (-1i64).key() && u8::from_key(200u8.key()) == 200);
    }

    #[test]
    fn keeping_is_the_same_on_every_level_and_in_place() {
        let keys: Vec<i64> = (0..101).map(|i| i * 37 % 101 - 50).collect();
        let expected: Vec<i64> = keys.iter().copied().filter(|x| (-20..=30).contains(x)).collect();
        let mut buffer = keys.clone();
        buffer.resize(101 + SLACK, 0);
        // SAFETY: there is room for 101 keys and SLACK more.
        let got = unsafe { i64::keep(buffer.as_ptr(), 101, -20, 30, buffer.as_mut_ptr()) };
        let kept = Kept { below: 30, kept: 51, nan: false };
        assert_eq!((got, &buffer[..51]), (kept, &expected[..]));
        let narrow: Vec<i32> = keys.iter().map(|&x| x as i32).collect();
        let mut out = [[0i32; 101 + SLACK]; 2];
        // SAFETY: there is room for 101 keys and SLACK more.
        let got = unsafe {
            [i32::keep(narrow.as_ptr(), 101, -20, 30, out[0].as_mut_ptr()), keep_each(narrow.as_ptr(), 101, -20, 30, out[1].as_mut_ptr())]
        };
        assert_eq!(got, [kept; 2]);
        assert_eq!(out[0][..51], out[1][..51]);
        assert_eq!(count(&narrow, -20, 30), (30, 51));
    }

    #[test]
    fn ranks_are_those_of_sorting() {
        let mut keys: [i32; RANKED_KEYS] = std::array::from_fn(|i| (i * 29 % 40) as i32 - 7);
        let got: Vec<_> = (0..RANKED_KEYS).map(|k| i32::ranked(&keys, RANKED_KEYS, [k, RANKED_KEYS - 1 - k])).collect();
        assert_eq!(ranked_each(&keys, RANKED_KEYS, [5, 50]), [got[5][0], got[50][0]]);
        keys.sort_unstable();
        for (k, pair) in got.iter().enumerate() {
            assert_eq!(*pair, [keys[k], keys[RANKED_KEYS - 1 - k]]);
        }
    }

    #[test]
    fn digits_and_halves_respect_signs() {
        assert!((-1i32).digit(3) < 0i32.digit(3));
        assert_eq!(0x1234i64.digit(1), 0x12);
        assert_eq!((-1i32).halfway(0), -1);
        assert_eq!(i64::MIN.halfway(i64::MAX), -1);
    }
}
