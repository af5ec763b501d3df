//! Kernels over 16-bit floats in memory, which are converted in registers, a block at a time.

use crate::cpu::half::{BLOCK, Half};
use crate::cpu::simd::{Isa, Level, simd};
use crate::dtype::{Dtype, Element};
use std::mem::{MaybeUninit, transmute_copy};

/// [`map1`](super::map1) over `n` elements. Elements that the closure gets as float32 are `H` in memory.
///
/// # Safety
/// Both operands must have `n` elements, and be disjoint.
#[inline(always)]
pub unsafe fn blocks1<H: Half, T: Element, U: Element>(at: [*mut u8; 2], n: usize, f: impl Fn(Isa, T) -> U + Copy) {
    // SAFETY: the caller guarantees the operands, and `in_blocks` passes whole blocks.
    unsafe {
        in_blocks(
            [stored::<U>(), stored::<T>()],
            at,
            n,
            #[inline(always)]
            move |isa, [r, a]| {
                let (x, mut y) = (load::<H, T>(isa, a), [U::ZERO; BLOCK]);
                for i in 0..BLOCK {
                    y[i] = f(isa, x[i]);
                }
                store::<H, U>(isa, r, y)
            },
        )
    }
}

/// [`blocks1`] for [`map2`](super::map2).
///
/// # Safety
/// As for [`blocks1`].
#[inline(always)]
pub unsafe fn blocks2<H: Half, A: Element, B: Element, U: Element>(at: [*mut u8; 3], n: usize, f: impl Fn(Isa, A, B) -> U + Copy) {
    // SAFETY: the caller guarantees the operands, and `in_blocks` passes whole blocks.
    unsafe {
        in_blocks(
            [stored::<U>(), stored::<A>(), stored::<B>()],
            at,
            n,
            #[inline(always)]
            move |isa, [r, a, b]| {
                let (x, y, mut z) = (load::<H, A>(isa, a), load::<H, B>(isa, b), [U::ZERO; BLOCK]);
                for i in 0..BLOCK {
                    z[i] = f(isa, x[i], y[i]);
                }
                store::<H, U>(isa, r, z)
            },
        )
    }
}

/// [`blocks1`] for [`map3`](super::map3).
///
/// # Safety
/// As for [`blocks1`].
#[inline(always)]
pub unsafe fn blocks3<H: Half, A: Element, B: Element, C: Element, U: Element>(
    at: [*mut u8; 4],
    n: usize,
    f: impl Fn(Isa, A, B, C) -> U + Copy,
) {
    // SAFETY: the caller guarantees the operands, and `in_blocks` passes whole blocks.
    unsafe {
        in_blocks(
            [stored::<U>(), stored::<A>(), stored::<B>(), stored::<C>()],
            at,
            n,
            #[inline(always)]
            move |isa, [r, a, b, c]| {
                let (x, y, z) = (load::<H, A>(isa, a), load::<H, B>(isa, b), load::<H, C>(isa, c));
                let mut w = [U::ZERO; BLOCK];
                for i in 0..BLOCK {
                    w[i] = f(isa, x[i], y[i], z[i]);
                }
                store::<H, U>(isa, r, w)
            },
        )
    }
}

/// Calls `block` with blocks of all operands, whose elements have `size` bytes, compiled for every instruction set. The last block may
/// overlap the one before. If there are fewer elements than a block, they go through buffers.
///
/// # Safety
/// The operands must have `n` elements; the result, which is the first, must be disjoint from the others.
#[inline(always)]
unsafe fn in_blocks<const N: usize>(size: [usize; N], at: [*mut u8; N], n: usize, block: impl Fn(Isa, [*mut u8; N])) {
    simd(
        #[inline(always)]
        // SAFETY: the caller guarantees the operands.
        move |isa| unsafe { in_blocks_by(isa, size, at, n, block) },
    )
}

/// # Safety
/// As for [`in_blocks`].
#[inline(always)]
unsafe fn in_blocks_by<const N: usize>(isa: Isa, size: [usize; N], at: [*mut u8; N], n: usize, block: impl Fn(Isa, [*mut u8; N])) {
    if isa.level() == Level::Baseline {
        unreachable!("`Work::half` leaves conversions to the engine on machines without instructions for them")
    }
    let (mut from, mut rest) = (at, [[MaybeUninit::<u64>::uninit(); BLOCK]; N]);
    if n < BLOCK {
        for k in 0..N {
            from[k] = rest[k].as_mut_ptr().cast::<u8>();
            // SAFETY: the caller guarantees `n` elements, fewer than a block; the buffer has room for a block of any type.
            unsafe {
                from[k].write_bytes(0, BLOCK * size[k]);
                from[k].copy_from_nonoverlapping(at[k], n * size[k]);
            }
        }
    }
    for start in (0..n).step_by(BLOCK) {
        let (start, mut now) = (start.min(n.max(BLOCK) - BLOCK), from);
        for k in 0..N {
            now[k] = from[k].wrapping_add(start * size[k]);
        }
        block(isa, now);
    }
    if n < BLOCK {
        // SAFETY: the caller guarantees `n` elements, fewer than a block; the buffer has room for a block of any type.
        unsafe { at[0].copy_from_nonoverlapping(from[0], n * size[0]) }
    }
}

/// Returns the bytes in memory of an element that the closure gets as `T`.
#[inline(always)]
fn stored<T: Element>() -> usize {
    if T::DTYPE == Dtype::Float32 { 2 } else { size_of::<T>() }
}

/// Reads a block for the closure.
///
/// # Safety
/// `src` must have BLOCK elements, of `H` if `T` is float32.
#[inline(always)]
unsafe fn load<H: Half, T: Element>(isa: Isa, src: *const u8) -> [T; BLOCK] {
    // SAFETY: the caller guarantees the block. Where `T` is cast to float32, its `DTYPE` is float32.
    unsafe {
        if T::DTYPE == Dtype::Float32 { transmute_copy(&H::load(isa, src.cast())) } else { src.cast::<[T; BLOCK]>().read_unaligned() }
    }
}

/// Stores a block that the closure returned.
///
/// # Safety
/// As for [`load`], for `dst`.
#[inline(always)]
unsafe fn store<H: Half, T: Element>(isa: Isa, dst: *mut u8, x: [T; BLOCK]) {
    // SAFETY: the caller guarantees the block. Where `T` is cast to float32, its `DTYPE` is float32.
    unsafe {
        if T::DTYPE == Dtype::Float32 { H::store(isa, dst.cast(), transmute_copy(&x)) } else { dst.cast::<[T; BLOCK]>().write_unaligned(x) }
    }
}
