//! Elements that a mask selects: counted, compressed, expanded again, and their positions.

use super::index::by_size;
use super::simd::simd;
#[cfg(target_arch = "x86_64")]
use super::simd::{Isa, Level};
#[cfg(target_arch = "x86_64")]
use super::vector::{I32x16, I64x8, Mask, Masked, Register};
use crate::dtype::Bool;

/// Returns the number of entries that are true.
pub fn count(mask: &[Bool]) -> usize {
    // The most entries that a byte can count.
    const COUNTED: usize = 255;
    simd(
        #[inline(always)]
        move |_| mask.chunks(COUNTED).map(|block| block.iter().fold(0u8, |n, m| n + m.get() as u8) as usize).sum(),
    )
}

/// `r` = the elements of `x` where the mask is true: `n` elements of `size` bytes.
///
/// # Safety
/// `r` must have room for `n` elements, outside `x`. `x` must have an element for each entry of the mask, of which `n` are true.
pub unsafe fn compress(size: usize, r: *mut u8, x: *const u8, mask: &[Bool], n: usize) {
    by_size!(size, T => {
        simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract.
            move |_isa| unsafe {
                let (r, x) = (r.cast::<T>(), x.cast::<T>());
                #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
                let mut done = (0, 0);
                #[cfg(target_arch = "x86_64")]
                if _isa.level() == Level::Avx512 {
                    done = compress_vectors(_isa, r, x, mask, n);
                }
                // Without a branch on the mask. No element is stored after the last.
                let (mut from, mut to) = done;
                while to < n {
                    r.add(to).write_unaligned(x.add(from).read_unaligned());
                    to += mask[from].get() as usize;
                    from += 1;
                }
            },
        )
    })
}

/// Returns the bits of eight entries of a mask, the first one lowest.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
unsafe fn bits(mask: *const Bool) -> u64 {
    // SAFETY: the caller passes eight entries.
    let bytes = unsafe { mask.cast::<u64>().read_unaligned() };
    // First the highest bit of each byte that is not 0, then these bits side by side.
    let high = (((bytes & 0x7F7F_7F7F_7F7F_7F7F) + 0x7F7F_7F7F_7F7F_7F7F) | bytes) & 0x8080_8080_8080_8080;
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// [`compress`] by whole vectors, of elements of 4 or 8 bytes. Returns the number of entries read and of elements stored.
///
/// # Safety
/// As for [`compress`]; the processor must have AVX-512.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
unsafe fn compress_vectors<T>(_: Isa, r: *mut T, x: *const T, mask: &[Bool], n: usize) -> (usize, usize) {
    let (mut from, mut to) = (0, 0);
    // SAFETY: the caller keeps this function's contract; a whole vector is stored only if there is room for it.
    unsafe {
        match size_of::<T>() {
            4 => {
                while from + 16 <= mask.len() && to + 16 <= n {
                    let chosen = bits(mask.as_ptr().add(from)) | bits(mask.as_ptr().add(from + 8)) << 8;
                    I32x16::load(x.add(from).cast()).packed(chosen as Mask).store(r.add(to).cast());
                    (from, to) = (from + 16, to + chosen.count_ones() as usize);
                }
            }
            8 => {
                while from + 8 <= mask.len() && to + 8 <= n {
                    let chosen = bits(mask.as_ptr().add(from));
                    I64x8::load(x.add(from).cast()).packed(chosen as Mask).store(r.add(to).cast());
                    (from, to) = (from + 8, to + chosen.count_ones() as usize);
                }
            }
            _ => {}
        }
    }
    (from, to)
}

/// Replaces the elements of `r` where the mask is true by the elements of `x`, in order; elements have `size` bytes.
///
/// # Safety
/// `r` must have an element for each entry of the mask, and `x` one for each true entry, outside `r`.
pub unsafe fn expand(size: usize, r: *mut u8, x: *const u8, mask: &[Bool]) {
    by_size!(size, T => {
        let (r, mut x) = (r.cast::<T>(), x.cast::<T>());
        for (i, m) in mask.iter().enumerate() {
            if m.get() {
                // SAFETY: the caller keeps this function's contract.
                unsafe {
                    r.add(i).write_unaligned(x.read_unaligned());
                    x = x.add(1);
                }
            }
        }
    })
}

/// Entries of a mask whose indices are listed at a time.
const LISTED: usize = 512;

/// Writes the indices of the true entries of a mask of this shape: a row for each entry, in row-major order.
///
/// # Safety
/// `list` must have room for a row for each true entry. The shape must have at least one dimension, and none of size 0.
pub unsafe fn positions(list: *mut i64, mask: &[Bool], shape: &[i64]) {
    let (dims, columns) = (shape.len(), shape[shape.len() - 1] as usize);
    let (mut found, mut listed) = ([0; LISTED], 0);
    for (row, mask) in mask.chunks(columns).enumerate() {
        let start = listed;
        for (block, mask) in mask.chunks(LISTED).enumerate() {
            let n = true_entries(mask, (block * LISTED) as i64, &mut found);
            for (k, &column) in found[..n].iter().enumerate() {
                // SAFETY: the caller guarantees a row for each true entry.
                unsafe { list.add((listed + k) * dims + dims - 1).write_unaligned(column) }
            }
            listed += n;
        }
        let mut rest = row as i64;
        for d in (0..dims - 1).rev() {
            let index = rest % shape[d];
            rest /= shape[d];
            for k in start..listed {
                // SAFETY: the caller guarantees a row for each true entry.
                unsafe { list.add(k * dims + d).write_unaligned(index) }
            }
        }
    }
}

/// Writes the indices of the true entries, counted from `first` on, and returns their number.
fn true_entries(mask: &[Bool], first: i64, found: &mut [i64; LISTED]) -> usize {
    debug_assert!(mask.len() <= LISTED);
    simd(
        #[inline(always)]
        move |_isa| {
            let (mut at, mut n) = (0, 0);
            #[cfg(target_arch = "x86_64")]
            if _isa.level() == Level::Avx512 {
                // SAFETY: the processor has AVX-512; as `n` is at most `at`, there is room for a whole vector.
                unsafe {
                    let mut entries = I64x8::load([0, 1, 2, 3, 4, 5, 6, 7].map(|i| first + i).as_ptr());
                    while at + 8 <= mask.len() {
                        let chosen = bits(mask.as_ptr().add(at));
                        entries.packed(chosen as Mask).store(found.as_mut_ptr().add(n));
                        entries = entries + I64x8::all(8);
                        (at, n) = (at + 8, n + chosen.count_ones() as usize);
                    }
                }
            }
            // Without a branch on the mask.
            while at < mask.len() {
                found[n] = first + at as i64;
                n += mask[at].get() as usize;
                at += 1;
            }
            n
        },
    )
}
