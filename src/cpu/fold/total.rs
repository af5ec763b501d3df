//! Sums and products of elements, and sums of a term of each element.

use super::Reducer;
use super::reducer::row;
use crate::cpu::simd::{Isa, Level, simd};
#[cfg(target_arch = "x86_64")]
use crate::cpu::stream;
#[cfg(target_arch = "x86_64")]
use crate::cpu::vector::{F64x8, I64x8, Partial};
use crate::cpu::vector::{Float32s, Register, by_level};
use crate::dtype::{Bool, Dtype, Element};
use crate::launch::Root;
use std::marker::PhantomData;

/// An integer type that is summed first in lanes not much wider than itself, then in wrapping int64.
pub trait Summand: Element {
    /// An integer type that can hold the sum of `CAPACITY` elements.
    type Narrow: Copy + Send + Sync + Into<i64>;
    /// [`Reducer::CAPACITY`]
    const CAPACITY: usize;
    /// The sum of no elements.
    const NOTHING: Self::Narrow;
    /// `sum + self`
    fn onto(self, sum: Self::Narrow) -> Self::Narrow;
}

macro_rules! summands {
    ($($t:ident $narrow:ident $pushes:expr;)*) => { $(
        impl Summand for $t {
            type Narrow = $narrow;
            const CAPACITY: usize = $pushes;
            const NOTHING: $narrow = 0;
            #[inline(always)]
            fn onto(self, sum: $narrow) -> $narrow {
                sum.wrapping_add(self.to_i64() as $narrow)
            }
        }
    )* };
}
summands! {
    Bool u8 255;
    u8 u16 256;
    i8 i16 256;
    i16 i32 65536;
    i32 i64 usize::MAX;
    i64 i64 usize::MAX;
}

/// The int64 sum of integers or Bools.
#[derive(Clone, Copy)]
pub struct Sum<T>(pub PhantomData<T>);

impl<T: Summand> Reducer for Sum<T> {
    type In = T;
    type A = T::Narrow;
    type B = ();
    type S = i64;
    type U = ();
    type Out = i64;
    type Other = ();
    const CAPACITY: usize = T::CAPACITY;
    #[inline(always)]
    fn empty(self) -> (T::Narrow, ()) {
        (T::NOTHING, ())
    }
    #[inline(always)]
    fn accumulate(self, _: Isa, lane: (T::Narrow, ()), x: T) -> (T::Narrow, ()) {
        (x.onto(lane.0), ())
    }
    #[inline(always)]
    fn state(self, lane: (T::Narrow, ())) -> (i64, ()) {
        (lane.0.into(), ())
    }
    #[inline(always)]
    fn merge(self, a: (i64, ()), b: (i64, ())) -> (i64, ()) {
        (a.0.wrapping_add(b.0), ())
    }
    #[inline(always)]
    fn finish(self, state: (i64, ()), _: usize) -> (i64, ()) {
        state
    }
    #[inline(always)]
    unsafe fn of_row(self, isa: Isa, x: *const T, n: usize) -> (i64, ()) {
        #[cfg(target_arch = "x86_64")]
        if T::DTYPE == Dtype::Int64 && isa.level() == Level::Avx512 {
            // SAFETY: the caller keeps this function's contract, and the processor has the level.
            return (unsafe { lane_sums::<I64x8>(x.cast(), n) }.sum(), ());
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe { row(self, isa, x, n) }
    }
}

/// Returns the sums of each lane of `n` contiguous numbers. Adding takes far less time than reading, so a few registers suffice, and later
/// elements are prefetched.
///
/// # Safety
/// `x` must hold `n` numbers; the processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn lane_sums<V: Partial>(x: *const V::Item, n: usize) -> V {
    const AHEAD: usize = 2048;
    const UNROLL: usize = 4;
    // SAFETY: the caller keeps this function's contract; the last register has the remaining elements.
    unsafe {
        let nothing = V::all(V::Item::ZERO);
        let mut sums = [nothing; UNROLL];
        let step = UNROLL * V::LANES;
        let whole = n - n % step;
        for at in (0..whole).step_by(step) {
            let x = x.add(at);
            stream::prefetch(x.wrapping_byte_add(AHEAD).cast(), step * size_of::<V::Item>());
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = *sum + V::load(x.add(k * V::LANES));
            }
        }
        for (k, sum) in sums.iter_mut().enumerate() {
            let at = whole + k * V::LANES;
            if at < n {
                *sum = *sum + nothing.load_first(x.add(at), n - at);
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }
}

/// Rows of float64 shorter than this are summed like other terms.
#[cfg(target_arch = "x86_64")]
const BRIEF: usize = 32;

/// Elements that a lane sums before the next lane does, so that rounding errors do not grow with the length of a row.
const RUN: usize = 32;

/// Returns the sum of `n` contiguous float64: lane by lane within a block, lane by lane over 16 blocks, then of those sums.
///
/// # Safety
/// As for [`lane_sums`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn sum_of_float64(x: *const f64, n: usize) -> f64 {
    const SUMMED: usize = 512;
    let mut total = 0.0;
    for at in (0..n).step_by(16 * SUMMED) {
        let end = n.min(at + 16 * SUMMED);
        let mut sums = F64x8::all(0.0);
        for block in (at..end).step_by(SUMMED) {
            // SAFETY: the caller keeps this function's contract.
            sums = sums + unsafe { lane_sums::<F64x8>(x.add(block), SUMMED.min(end - block)) };
        }
        total += sums.sum();
    }
    total
}

/// Returns the sum of `n` contiguous float32, or of their squares, with all operations in float64. A few registers suffice, because the
/// conversion takes more time than the additions.
///
/// # Safety
/// `x` must hold `n` numbers; as for [`Register`].
#[inline(always)]
unsafe fn sum_of_float32<V: Float32s, F: Term>(x: *const f32, n: usize) -> f64 {
    const UNROLL: usize = 4;
    let step = UNROLL * V::LANES;
    let (mut total, mut at) = (0.0, 0);
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        while n - at >= step {
            let mut sums = [V::Wide::all(0.0); UNROLL];
            for _ in 0..((n - at) / step).min(RUN) {
                for (k, sum) in sums.iter_mut().enumerate() {
                    let x = V::load_wide(x.add(at + k * V::LANES));
                    *sum = *sum + if F::SQUARE { x * x } else { x };
                }
                at += step;
            }
            total += ((sums[0] + sums[1]) + (sums[2] + sums[3])).sum();
        }
        (at..n).fold(total, |total, i| total + F::of(x.add(i).read()))
    }
}

impl Root {
    /// Returns the result for the total of `count` elements.
    #[inline(always)]
    pub fn of(self, total: f64, count: usize) -> f64 {
        match self {
            Root::Itself => total,
            Root::Mean => total / count as f64,
            Root::Sqrt => total.sqrt(),
        }
    }

    /// Writes the results for `n` totals of `count` elements each.
    ///
    /// # Safety
    /// There must be `n` totals, and room for their results, outside the totals.
    pub unsafe fn of_each(self, totals: *const f64, n: usize, count: usize, out: *mut f64) {
        // A separate loop for each function that is a single instruction, so that it is vectorised.
        macro_rules! each {
            ($root:expr) => {
                simd(
                    #[inline(always)]
                    // SAFETY: the caller keeps this function's contract.
                    move |_| unsafe { (0..n).for_each(|j| out.add(j).write($root.of(totals.add(j).read(), count))) },
                )
            };
        }
        match self {
            Root::Mean => each!(Root::Mean),
            Root::Sqrt => each!(Root::Sqrt),
            // SAFETY: the caller keeps this function's contract.
            _ => (0..n).for_each(|j| unsafe { out.add(j).write(self.of(totals.add(j).read(), count)) }),
        }
    }
}

/// The term that each float adds to a sum.
pub trait Term: Copy + Send + Sync {
    /// True if the term is the float itself.
    const ITSELF: bool = false;
    /// True if the term is the square of the float.
    const SQUARE: bool = false;
    /// Returns the term of `x`.
    fn of<T: Element>(x: T) -> f64;
}

macro_rules! terms {
    ($($(#[$doc:meta])* $name:ident $($itself:ident)?: |$x:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name;
        impl Term for $name {
            $(const $itself: bool = true;)?
            #[inline(always)]
            fn of<T: Element>($x: T) -> f64 {
                $f
            }
        }
    )* };
}

terms! {
    /// `x`
    Plain ITSELF: |x| x.to_f64();
    /// 0 for 0, otherwise 1.
    NonZero: |x| if x == T::ZERO { 0.0 } else { 1.0 };
    /// 0 for NaN, otherwise `x`.
    NotNan: |x| if x.is_nan() { 0.0 } else { x.to_f64() };
    /// `|x|`
    Abs: |x| x.to_f64().abs();
    /// `x^2`
    Square SQUARE: |x| x.to_f64() * x.to_f64();
}

/// The float64 sum of a term of each float.
#[derive(Clone, Copy)]
pub struct Terms<T, F> {
    root: Root,
    of: PhantomData<(T, F)>,
}

impl<T: Element, F: Term> Terms<T, F> {
    /// Returns the fold whose result is the function `root` of the sum of terms.
    pub fn new(_: F, root: Root) -> Terms<T, F> {
        Terms { root, of: PhantomData }
    }
}

impl<T: Element, F: Term> Reducer for Terms<T, F> {
    type In = T;
    type A = f64;
    type B = ();
    type S = f64;
    type U = ();
    type Out = f64;
    type Other = ();
    const RUN: usize = RUN;
    #[inline(always)]
    fn empty(self) -> (f64, ()) {
        (0.0, ())
    }
    #[inline(always)]
    fn accumulate(self, _: Isa, lane: (f64, ()), x: T) -> (f64, ()) {
        (lane.0 + F::of(x), ())
    }
    #[inline(always)]
    fn state(self, lane: (f64, ())) -> (f64, ()) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (f64, ()), b: (f64, ())) -> (f64, ()) {
        (a.0 + b.0, ())
    }
    #[inline(always)]
    fn finish(self, (total, ()): (f64, ()), count: usize) -> (f64, ()) {
        (self.root.of(total, count), ())
    }
    #[inline(always)]
    unsafe fn of_row(self, isa: Isa, x: *const T, n: usize) -> (f64, ()) {
        #[cfg(target_arch = "x86_64")]
        if F::ITSELF && T::DTYPE == Dtype::Float64 && isa.level() == Level::Avx512 && n >= BRIEF {
            // SAFETY: the caller keeps this function's contract, and the processor has the level.
            return (unsafe { sum_of_float64(x.cast(), n) }, ());
        }
        if (F::ITSELF || F::SQUARE) && T::DTYPE == Dtype::Float32 && isa.level() != Level::Baseline {
            // SAFETY: the caller keeps this function's contract, and the processor has the level.
            return (unsafe { by_level!(isa, f32, V => sum_of_float32::<V, F>(x.cast(), n)) }, ());
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe { row(self, isa, x, n) }
    }
}

/// The mean of the floats that are not NaN.
#[derive(Clone, Copy)]
pub struct NanMean<T>(pub PhantomData<T>);

impl<T: Element> Reducer for NanMean<T> {
    type In = T;
    type A = f64;
    type B = f64;
    type S = f64;
    type U = f64;
    type Out = f64;
    type Other = ();
    const RUN: usize = RUN;
    #[inline(always)]
    fn empty(self) -> (f64, f64) {
        (0.0, 0.0)
    }
    #[inline(always)]
    fn accumulate(self, _: Isa, (sum, count): (f64, f64), x: T) -> (f64, f64) {
        let counts = !x.is_nan();
        (sum + if counts { x.to_f64() } else { 0.0 }, count + if counts { 1.0 } else { 0.0 })
    }
    #[inline(always)]
    fn state(self, lane: (f64, f64)) -> (f64, f64) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
        (a.0 + b.0, a.1 + b.1)
    }
    #[inline(always)]
    fn finish(self, (sum, count): (f64, f64), _: usize) -> (f64, ()) {
        (sum / count, ())
    }
}

/// An element type as a factor.
pub trait Factor: Element {
    /// The type that products are computed in: float64 for floats, wrapping int64 for the others.
    type Accumulator: Element;
    /// The product of no elements.
    const ONE: Self::Accumulator;
    /// Returns the element as a product.
    fn widen(self) -> Self::Accumulator;
}

macro_rules! factors {
    ($wide:ident $one:expr, $to:ident: $($t:ident),*) => { $(
        impl Factor for $t {
            type Accumulator = $wide;
            const ONE: $wide = $one;
            #[inline(always)]
            fn widen(self) -> $wide {
                Element::$to(self)
            }
        }
    )* };
}
factors!(i64 1, to_i64: Bool, u8, i8, i16, i32, i64);
factors!(f64 1.0, to_f64: f32, f64);

/// The product.
#[derive(Clone, Copy)]
pub struct Product<T>(pub PhantomData<T>);

impl<T: Factor> Reducer for Product<T> {
    type In = T;
    type A = T::Accumulator;
    type B = ();
    type S = T::Accumulator;
    type U = ();
    type Out = T::Accumulator;
    type Other = ();
    #[inline(always)]
    fn empty(self) -> (T::Accumulator, ()) {
        (T::ONE, ())
    }
    #[inline(always)]
    fn accumulate(self, _: Isa, lane: (T::Accumulator, ()), x: T) -> (T::Accumulator, ()) {
        (lane.0.mul(x.widen()), ())
    }
    #[inline(always)]
    fn state(self, lane: (T::Accumulator, ())) -> (T::Accumulator, ()) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (T::Accumulator, ()), b: (T::Accumulator, ())) -> (T::Accumulator, ()) {
        (a.0.mul(b.0), ())
    }
    #[inline(always)]
    fn finish(self, state: (T::Accumulator, ()), _: usize) -> (T::Accumulator, ()) {
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::simd;

    fn sum<L: Reducer>(l: L, x: &[L::In]) -> L::Out {
        let (data, n) = (x.as_ptr(), x.len());
        let state = simd(
            #[inline(always)]
            // SAFETY: the slice holds the elements.
            move |isa| unsafe { l.of_row(isa, data, n) },
        );
        l.finish(state, n).0
    }

    const LENGTHS: [usize; 5] = [1000, 4096, 16_383, 16_385, 50_001];

    #[test]
    fn rows_of_int64_of_any_length_wrap_around() {
        for n in (0..200).chain(LENGTHS) {
            let x: Vec<i64> = (0..n as i64).map(|i| i.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ i).collect();
            assert_eq!(sum(Sum::<i64>(PhantomData), &x), x.iter().fold(0, |sum: i64, &v| sum.wrapping_add(v)), "{n}");
        }
    }

    #[test]
    fn rows_of_float64_of_any_length_are_exact_for_integers() {
        let plain = Terms::<f64, _>::new(Plain, Root::Itself);
        for n in (0..200).chain(LENGTHS) {
            let x: Vec<f64> = (0..n).map(|i| (i * 37 % 101) as f64 - 50.0).collect();
            assert_eq!(sum(plain, &x), x.iter().sum::<f64>() + 0.0, "{n}");
        }
    }

    #[test]
    fn rows_of_float32_of_any_length_are_summed_in_float64() {
        let plain = Terms::<f32, _>::new(Plain, Root::Itself);
        for n in (0..200).chain(LENGTHS) {
            // Sums of these are exact in float64, and in float32 they are not.
            let x: Vec<f32> = (0..n).map(|i| if i % 2 == 0 { 16_777_215.0 } else { (i * 37 % 101) as f32 / 64.0 }).collect();
            assert_eq!(sum(plain, &x), x.iter().map(|&x| f64::from(x)).sum::<f64>() + 0.0, "{n}");
            let x: Vec<f32> = (0..n).map(|i| (i * 37 % 8191) as f32).collect();
            assert_eq!(
                sum(Terms::<f32, _>::new(Square, Root::Itself), &x),
                x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() + 0.0,
                "{n}"
            );
        }
    }

    #[test]
    fn rounding_errors_do_not_grow_with_a_row() {
        // Integers of 53 bits and both signs, whose exact sum is known. Lanes that add one element after the other have errors of 2 or 3
        // here.
        for n in [10_000, 32_768] {
            let (mut state, mut errors) = (1u64, 0.0);
            for _ in 0..64 {
                let mut next = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    state as i64 >> 11
                };
                let k: Vec<i64> = (0..n).map(|_| next()).collect();
                let x: Vec<f64> = k.iter().map(|&k| k as f64).collect();
                let exact: i128 = k.iter().map(|&k| i128::from(k)).sum();
                let error = (sum(Terms::<f64, _>::new(Plain, Root::Itself), &x) as i128 - exact).abs() as f64;
                errors += error / x.iter().map(|x| x * x).sum::<f64>().sqrt() / f64::EPSILON / 64.0;
            }
            assert!(errors < 1.6, "{n}: {errors}");
        }
    }

    #[test]
    fn one_nan_or_infinity_is_enough_wherever_it_is() {
        let plain = Terms::<f64, _>::new(Plain, Root::Itself);
        for n in [1, 7, 8, 33, 100] {
            for at in 0..n {
                let mut x = vec![1.0; n];
                x[at] = f64::INFINITY;
                assert_eq!(sum(plain, &x), f64::INFINITY, "{n}, {at}");
                x[n - 1 - at] = f64::NAN;
                assert!(sum(plain, &x).is_nan(), "{n}, {at}");
            }
        }
    }
}
