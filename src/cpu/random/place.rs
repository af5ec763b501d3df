//! Places for random numbers, which are filled in parts or in order.

use super::GROUP;
use crate::cpu::convert::converter;
use crate::cpu::engine::COSTLY;
use crate::cpu::sequence::generate;
use crate::dtype::{Dtype, Element};
use crate::random::{Mt19937, Philox};

/// Row-major memory that a fill writes, inside a tensor or a buffer.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub at: *mut u8,
    pub dtype: Dtype,
    pub n: usize,
}

/// Fills the place by `make(at, first, n, seed, block)`, which writes the `n` elements from position `first` on, a multiple of GROUP. A
/// group uses `blocks` blocks.
pub(super) fn by_position<T: Element>(
    place: Place,
    stream: &mut Philox,
    blocks: u64,
    make: &(dyn Fn(*mut T, usize, usize, u64, u64) + Sync),
) {
    let Place { at, dtype, n } = place;
    let seed = stream.seed;
    let block = stream.reserve((n.div_ceil(GROUP) as u64).wrapping_mul(blocks));
    // SAFETY: the place holds n elements.
    unsafe {
        generate::<T>(at, dtype, n, COSTLY, &|at, first, len| {
            make(at, first, len, seed, block.wrapping_add(((first / GROUP) as u64).wrapping_mul(blocks)));
        })
    }
}

/// Fills the place by `next`, which writes one list after the other, on this thread.
pub(super) fn in_order<T: Element>(place: Place, stream: &mut Mt19937, mut next: impl FnMut(&mut Mt19937, &mut [T])) {
    let mut buffer = [T::ZERO; 512];
    let (convert, size) = (converter(place.dtype, T::DTYPE), place.dtype.size());
    for first in (0..place.n).step_by(buffer.len()) {
        let made = &mut buffer[..(place.n - first).min(512)];
        next(stream, made);
        // SAFETY: the place holds n elements, and these are among them.
        unsafe { convert(place.at.add(first * size), size as isize, made.as_ptr().cast(), size_of::<T>() as isize, made.len()) }
    }
}
