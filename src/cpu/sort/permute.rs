//! Lines put into an order that is known.

use crate::cpu::engine::{CHEAP, Shared, parallel};

/// `out[i] = line[places[i]]` in each of `count` lines of `n` elements of `size` bytes; the places of all lines follow one another.
///
/// # Safety
/// `line` has lines of `n` elements, places are from 0 to `n - 1`, and `out` has as many elements as there are places, away from both.
pub unsafe fn take(size: usize, out: *mut u8, line: *const u8, n: usize, places: &[i64], count: usize) {
    // SAFETY: the caller's.
    unsafe {
        match size {
            1 => take_of::<u8>(out, line, n, places, count),
            2 => take_of::<u16>(out, line, n, places, count),
            4 => take_of::<u32>(out, line, n, places, count),
            _ => take_of::<u64>(out, line, n, places, count),
        }
    }
}

/// # Safety
/// As for [`take`].
unsafe fn take_of<E: Copy>(out: *mut u8, line: *const u8, n: usize, places: &[i64], count: usize) {
    let width = places.len() / count.max(1);
    let (out, line) = (Shared(out), Shared(line.cast_mut()));
    parallel(count, width, CHEAP, &|range| {
        for l in range {
            // SAFETY: the caller's; each line of the result is written by one thread.
            unsafe {
                let (to, from) = (out.get().cast::<E>().add(l * width), line.get().cast::<E>().add(l * n));
                for (i, &place) in places[l * width..][..width].iter().enumerate() {
                    to.add(i).write(from.add(place as usize).read());
                }
            }
        }
    });
}
