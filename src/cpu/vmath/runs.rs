//! Functions over many elements: in whole registers if [`wide`](super::wide) has the function, otherwise element by element, which becomes
//! vector code.

#[cfg(target_arch = "x86_64")]
use super::super::simd::Level;
use super::super::simd::{Isa, simd};
use super::*;
#[cfg(target_arch = "x86_64")]
use crate::cpu::vector::{F32x16, F64x8};
use std::ops::Range;

macro_rules! runs {
    ($($run:ident($t:ident) = $one:path $(, $wide:ident of $lanes:ident)?;)*) => { $(
        /// Applies the function to `n` elements.
        ///
        /// # Safety
        /// `r` and `a` must have `n` elements; `r` must be `a` or not overlap it.
        #[inline(always)]
        pub unsafe fn $run(isa: Isa, r: *mut $t, a: *const $t, n: usize) {
            $(
                #[cfg(target_arch = "x86_64")]
                if isa.level() == Level::Avx512 {
                    // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                    return unsafe { wide::each::<$lanes>(r, a, n, #[inline(always)] |x| wide::$wide(x)) };
                }
            )?
            for i in 0..n {
                // SAFETY: the caller keeps this function's contract.
                unsafe { r.add(i).write($one(isa, a.add(i).read())) }
            }
        }
    )* };
}

runs! {
    acos_run_f32(f32) = acos_f32;
    acos_run_f64(f64) = acos_f64, acos of F64x8;
    asin_run_f32(f32) = asin_f32;
    asin_run_f64(f64) = asin_f64, asin of F64x8;
    exp_run_f32(f32) = exp_f32, exp of F32x16;
    exp_run_f64(f64) = exp_f64, exp of F64x8;
    log_run_f32(f32) = log_f32, log of F32x16;
    log_run_f64(f64) = log_f64, log of F64x8;
    log1p_run_f32(f32) = log1p_f32, log1p of F32x16;
    log1p_run_f64(f64) = log1p_f64, log1p of F64x8;
    log2_run_f32(f32) = log2_f32, log2 of F32x16;
    log2_run_f64(f64) = log2_f64, log2 of F64x8;
    log10_run_f32(f32) = log10_f32, log10 of F32x16;
    log10_run_f64(f64) = log10_f64, log10 of F64x8;
    cosh_run_f32(f32) = cosh_f32, cosh of F32x16;
    cosh_run_f64(f64) = cosh_f64, cosh of F64x8;
    tanh_run_f32(f32) = tanh_f32, tanh of F32x16;
    tanh_run_f64(f64) = tanh_f64;
    sigmoid_run_f32(f32) = sigmoid_f32, sigmoid of F32x16;
    sigmoid_run_f64(f64) = sigmoid_f64, sigmoid of F64x8;
    sqrt_run_f32(f32) = sqrt_f32;
    sqrt_run_f64(f64) = sqrt_f64, sqrt of F64x8;
}

/// Elements in a piece. Longer pieces make the ends of loops cheaper; shorter ones limit the cost of one slow element.
const PIECE: usize = 256;

/// `r[i] = positive(a[i])`. In pieces with a negative element `any(a[i])`, and `slow(a[i])` where that is `rare`.
///
/// # Safety
/// `r` and `a` must have `n` elements; `r` must be `a` or not overlap it.
#[inline(always)]
unsafe fn signed<T: Copy + Default + PartialOrd>(
    [r, a]: [*mut T; 2],
    n: usize,
    positive: impl Fn(T) -> T,
    any: impl Fn(T) -> T,
    rare: impl Fn(T, T) -> bool,
    slow: impl Fn(T) -> T,
) {
    for start in (0..n).step_by(PIECE) {
        let len = PIECE.min(n - start);
        let mut negative = false;
        for i in start..start + len {
            // SAFETY: the caller keeps this function's contract.
            negative |= unsafe { a.add(i).read() } < T::default();
        }
        if !negative {
            for i in start..start + len {
                // SAFETY: the caller keeps this function's contract.
                unsafe { r.add(i).write(positive(a.add(i).read())) }
            }
            continue;
        }
        let mut values = [T::default(); PIECE];
        for i in 0..len {
            // SAFETY: the caller keeps this function's contract.
            values[i] = any(unsafe { a.add(start + i).read() });
        }
        for i in 0..len {
            // SAFETY: the caller keeps this function's contract; `r` may be `a`, since each element is read before it is written.
            unsafe {
                let x = a.add(start + i).read();
                r.add(start + i).write(if rare(x, values[i]) { slow(x) } else { values[i] });
            }
        }
    }
}

/// `r[i] = f(a[i])`, but `slow(a[i])` where `rare(a[i])`. A piece is searched for rare elements before it is written, since `r` may be `a`.
///
/// # Safety
/// `r` and `a` must have `n` elements; `r` must be `a` or not overlap it.
#[inline(always)]
pub(super) unsafe fn run_with_rare<T: Copy>(
    r: *mut T,
    a: *const T,
    n: usize,
    f: impl Fn(Isa, T) -> T + Copy,
    rare: impl Fn(Isa, T) -> bool + Copy,
    slow: impl Fn(Isa, T) -> T + Copy,
) {
    simd(
        #[inline(always)]
        move |isa| {
            for start in (0..n).step_by(PIECE) {
                let piece = start..n.min(start + PIECE);
                // SAFETY: the caller keeps this function's contract.
                unsafe {
                    let mut any = false;
                    for i in piece.clone() {
                        any |= rare(isa, a.add(i).read());
                    }
                    if any {
                        for i in piece {
                            let x = a.add(i).read();
                            r.add(i).write(if rare(isa, x) { slow(isa, x) } else { f(isa, x) });
                        }
                    } else {
                        for i in piece {
                            r.add(i).write(f(isa, a.add(i).read()));
                        }
                    }
                }
            }
        },
    )
}

macro_rules! signed_runs {
    ($($run:ident($t:ident) = $positive:path, $any:path $(, $slow:path where $rare:path)?;)*) => { $(
        /// Applies the function to `n` elements. It takes longer for pieces with a negative element.
        ///
        /// # Safety
        /// `r` and `a` must have `n` elements; `r` must be `a` or not overlap it.
        #[inline(always)]
        pub unsafe fn $run(isa: Isa, r: *mut $t, a: *const $t, n: usize) {
            let (rare, slow): (fn($t, $t) -> bool, fn($t) -> $t) = signed_runs!(@rare $($rare, $slow)?);
            // SAFETY: the caller keeps this function's contract.
            unsafe { signed([r, a.cast_mut()], n, #[inline(always)] |x| $positive(isa, x), #[inline(always)] |x| $any(isa, x), rare, slow) }
        }
    )* };
    (@rare) => { (|_, _| false, |x| x) };
    (@rare $rare:path, $slow:path) => { ($rare, $slow) };
}

signed_runs! {
    digamma_run_f32(f32) = digamma_positive_f32, digamma_f32;
    digamma_run_f64(f64) = digamma_positive_f64, digamma_f64, digamma_slow_f64 where digamma_rare_f64;
    lgamma_run_f32(f32) = lgamma_positive_f32, lgamma_f32;
    lgamma_run_f64(f64) = lgamma_positive_f64, lgamma_f64, lgamma_slow_f64 where lgamma_rare_f64;
    trigamma_run_f32(f32) = trigamma_positive_f32, trigamma_f32;
    trigamma_run_f64(f64) = trigamma_positive_f64, trigamma_f64;
}

/// `sqrt(x)`
#[inline(always)]
fn sqrt_f32(_isa: Isa, x: f32) -> f32 {
    x.sqrt()
}

/// `sqrt(x)`
#[inline(always)]
fn sqrt_f64(_isa: Isa, x: f64) -> f64 {
    x.sqrt()
}

/// # Safety
/// As for the runs of powers.
#[inline(always)]
unsafe fn one_by_one<T: Copy>(
    isa: Isa,
    r: *mut T,
    [a, b]: [*const T; 2],
    steps: [usize; 2],
    range: Range<usize>,
    f: impl Fn(Isa, T, T) -> T,
) {
    for i in range {
        // SAFETY: the caller keeps this function's contract.
        unsafe { r.add(i).write(f(isa, a.add(i * steps[0]).read(), b.add(i * steps[1]).read())) }
    }
}

macro_rules! power_runs {
    ($($run:ident($t:ident, $lanes:ident) = $one:path, $tail:ident;)*) => { $(
        /// `r[i] = pow(a[i], b[i])` over `n` elements. An operand with step 0 is one element for all `i`; other steps are 1.
        ///
        /// # Safety
        /// The operands must have `n` elements or one; `r` must be an operand, or overlap none.
        #[inline(always)]
        pub unsafe fn $run(isa: Isa, r: *mut $t, [a, b]: [*const $t; 2], steps: [usize; 2], n: usize) {
            #[cfg(target_arch = "x86_64")]
            if isa.level() == Level::Avx512 {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                return unsafe {
                    wide::each_pow::<$lanes>(
                        r,
                        [a, b],
                        steps,
                        n,
                        #[inline(always)]
                        |x, rest, low| wide::$tail(x, rest, low),
                        #[inline(always)]
                        |range| one_by_one(isa, r, [a, b], steps, range, #[inline(always)] |isa, x, y| $one(isa, x, y)),
                    )
                };
            }
            // SAFETY: the caller keeps this function's contract.
            unsafe { one_by_one(isa, r, [a, b], steps, 0..n, #[inline(always)] |isa, x, y| $one(isa, x, y)) }
        }
    )* };
}

power_runs! {
    pow_run_f32(f32, F32x16) = pow_f32, log_tail_32;
    pow_run_f64(f64, F64x8) = pow_f64, log_tail_64;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(a: &[f32]) -> Vec<f32> {
        let mut r = vec![7.0; a.len() + 1];
        let (to, from, n) = (r.as_mut_ptr(), a.as_ptr(), a.len());
        // SAFETY: both have `n` elements.
        simd(move |isa| unsafe { log_run_f32(isa, to, from, n) });
        assert_eq!(r.pop(), Some(7.0));
        r
    }

    #[test]
    fn runs_of_all_lengths_compute_each_element_alone() {
        for n in 0..70 {
            let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.37).collect();
            let alone: Vec<f32> = a.iter().flat_map(|&x| logs(&[x])).collect();
            assert_eq!(logs(&a), alone);
        }
    }

    fn powers(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
        let mut r = vec![7.0; n + 1];
        let (to, from) = (r.as_mut_ptr(), [a.as_ptr(), b.as_ptr()]);
        let steps = [a, b].map(|x| usize::from(x.len() > 1));
        // SAFETY: each operand has `n` elements or one.
        simd(move |isa| unsafe { pow_run_f64(isa, to, from, steps, n) });
        assert_eq!(r.pop(), Some(7.0));
        r
    }

    #[test]
    fn powers_of_all_lengths_and_steps_compute_each_element_alone() {
        for n in 2..40 {
            // Every third base is negative, every fifth power infinite.
            let a: Vec<f64> = (0..n).map(|i| if i % 3 == 2 { -1.0 - i as f64 } else { 0.3 + i as f64 }).collect();
            let b: Vec<f64> = (0..n).map(|i| if i % 5 == 4 { 1000.0 } else { 2.0 - i as f64 }).collect();
            let each =
                |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| (0..n).flat_map(|i| powers(&[a(i)], &[b(i)], 1)).collect::<Vec<_>>();
            assert_eq!(powers(&a, &b, n), each(&|i| a[i], &|i| b[i]));
            assert_eq!(powers(&a, &[3.0], n), each(&|i| a[i], &|_| 3.0));
            assert_eq!(powers(&[2.5], &b, n), each(&|_| 2.5, &|i| b[i]));
            assert!(a.iter().zip(&b).zip(powers(&a, &b, n)).all(|((x, y), z)| z == x.powf(*y) || (z / x.powf(*y) - 1.0).abs() < 1e-15));
        }
    }
}
