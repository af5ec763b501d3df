//! Sequences: elements that are a function of their position, in arithmetic and geometric progression.

use super::convert::converter;
use super::engine::{CHEAP, COSTLY, Shared, parallel};
use super::index::by_size;
use super::simd::{Isa, simd};
use super::tuning::{SEQUENCE_PIECE, streams_from};
use super::{stream, vmath};
use crate::dtype::{Dtype, Element};
use crate::launch::sequence::{Ramp, Sequence, Spaced};
use crate::operand::Operand;
use std::mem::MaybeUninit;

/// Fills a row-major operand with the sequence.
pub fn fill(to: &Operand, sequence: Sequence) {
    let (at, dtype, n) = (to.first(), to.dtype, to.layout().numel() as usize);
    match sequence {
        Sequence::Integers { start, step } => by_size!(dtype.size(), T => {
            // SAFETY: the operand has `n` elements, and `generate` passes pieces of them. Signed and unsigned integers of one size have the
            // same bits.
            unsafe { generate::<T>(at, T::DTYPE, n, CHEAP, &|at, first, len| {
                integers(at, len, start.wrapping_add(step.wrapping_mul(first as i64)), step)
            }) }
        }),
        Sequence::Spaced(numbers) => {
            let grain = if numbers.base.is_some() { COSTLY } else { CHEAP };
            match dtype {
                // SAFETY: the operand has `n` elements, and `generate` passes pieces of them.
                Dtype::Float32 => unsafe { generate::<f32>(at, dtype, n, grain, &|at, first, len| numbers.fill(at, first, len)) },
                // 16-bit floats are rounded once, from float64. SAFETY: the operand has `n` elements, and `generate` passes pieces of them.
                _ => unsafe { generate::<f64>(at, dtype, n, grain, &|at, first, len| numbers.fill(at, first, len)) },
            }
        }
    }
}

/// Fills `n` elements of `dtype` at `dst`. `piece(at, first, len)` computes the `len` elements from position `first` on. They are converted
/// if `T` is another type than `dtype`.
///
/// # Safety
/// `dst` must hold `n` elements; `piece` must write `len` of them at `at`.
pub unsafe fn generate<T: Element>(dst: *mut u8, dtype: Dtype, n: usize, grain: usize, piece: &(dyn Fn(*mut T, usize, usize) + Sync)) {
    let (size, dst) = (dtype.size(), Shared(dst));
    let direct = dtype == T::DTYPE;
    let streamed = direct && n.saturating_mul(size) >= streams_from();
    let convert = converter(dtype, T::DTYPE);
    parallel(n.div_ceil(SEQUENCE_PIECE), SEQUENCE_PIECE, grain, &move |range| {
        let mut buffer = [MaybeUninit::<T>::uninit(); SEQUENCE_PIECE];
        for first in range.map(|p| p * SEQUENCE_PIECE) {
            let (at, len) = (dst.get().wrapping_add(first * size), SEQUENCE_PIECE.min(n - first));
            if direct && !streamed {
                piece(at.cast(), first, len);
                continue;
            }
            piece(buffer.as_mut_ptr().cast(), first, len);
            // SAFETY: the caller guarantees `n` elements at `dst`, and the buffer has room for SEQUENCE_PIECE elements.
            unsafe {
                if streamed {
                    stream::copy_stream(at, buffer.as_ptr().cast(), len * size);
                } else {
                    convert(at, size as isize, buffer.as_ptr().cast(), size_of::<T>() as isize, len);
                }
            }
        }
        if streamed {
            stream::fence();
        }
    });
}

/// `dst[i] = start + i * step`, wrapping.
///
/// # Safety
/// `dst` must hold `n` elements.
#[inline(always)]
pub unsafe fn integers<T: Element>(dst: *mut T, n: usize, start: i64, step: i64) {
    simd(
        #[inline(always)]
        move |_| {
            for i in 0..n {
                // SAFETY: the caller guarantees `n` elements at `dst`.
                unsafe { dst.add(i).write_unaligned(T::from_i64(start.wrapping_add(step.wrapping_mul(i as i64)))) }
            }
        },
    )
}

impl Ramp {
    /// `dst[i] = f(anchor + (first + i - origin) * step)`
    ///
    /// # Safety
    /// `dst` must hold `n` elements, `n` at most `i32::MAX`.
    #[inline(always)]
    unsafe fn map<T: Element>(self, dst: *mut T, first: usize, n: usize, f: impl Fn(Isa, f64) -> f64) {
        let base = (first as i64 - self.origin) as f64;
        simd(
            #[inline(always)]
            move |isa| {
                for i in 0..n as i32 {
                    // Multiplication and addition are not fused, so that every level gives the same number.
                    let x = self.anchor + (base + f64::from(i)) * self.step;
                    // SAFETY: the caller guarantees `n` elements at `dst`.
                    unsafe { dst.add(i as usize).write_unaligned(T::from_f64(f(isa, x))) }
                }
            },
        )
    }
}

impl Spaced {
    /// Writes the `n` numbers from position `first` on.
    ///
    /// # Safety
    /// `dst` must hold `n` elements, `n` at most `i32::MAX`.
    pub unsafe fn fill<T: Element>(&self, dst: *mut T, first: usize, n: usize) {
        let before = self.half.saturating_sub(first).min(n);
        // SAFETY: both parts are inside the caller's `n` elements.
        unsafe {
            self.part(self.up, dst, first, before);
            self.part(self.down, dst.add(before), first + before, n - before);
        }
    }

    /// # Safety
    /// As for [`Spaced::fill`].
    unsafe fn part<T: Element>(&self, line: Ramp, dst: *mut T, first: usize, n: usize) {
        // SAFETY: the caller guarantees `n` elements at `dst`.
        unsafe {
            match self.base {
                None => line.map(
                    dst,
                    first,
                    n,
                    #[inline(always)]
                    |_, x| x,
                ),
                // The exponential loses digits that float32 does not have.
                Some(base) if T::DTYPE == Dtype::Float32 && base > 0.0 && base.is_finite() => {
                    let log = base.ln();
                    line.map(
                        dst,
                        first,
                        n,
                        #[inline(always)]
                        move |isa, x| vmath::exp_f64(isa, x * log),
                    )
                }
                Some(base) => line.map(
                    dst,
                    first,
                    n,
                    #[inline(always)]
                    move |_, x| base.powf(x),
                ),
            }
        }
    }
}

/// Stores `one`, an element of `size` bytes, in column `columns[i]` of each row `i` of `width` elements.
///
/// # Safety
/// `dst` must hold the rows, and each column must be less than `width`.
pub unsafe fn mark(dst: *mut u8, size: usize, width: usize, columns: &[i64], one: u64) {
    let dst = Shared(dst);
    parallel(columns.len(), 1, COSTLY, &move |range| {
        for row in range {
            let at = dst.get().wrapping_add((row * width + columns[row] as usize) * size);
            // SAFETY: the caller guarantees the rows and columns. `one` was stored in this machine's byte order, so its first bytes are the
            // element.
            unsafe { std::ptr::copy_nonoverlapping((&raw const one).cast(), at, size) }
        }
    });
}
