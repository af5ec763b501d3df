//! The kernel for every structure of blocks and every processor: unpacks each block of weights once for all rows of activations.

use super::activations::Row;
use super::tile::Dots;
use thorn_blocks::{Blocks, GROUP, Unpacked};

/// Products with blocks of this structure.
pub struct Plain(pub Blocks);

impl Dots for Plain {
    #[inline(always)]
    unsafe fn dots<const R: usize>(&self, w: *const u8, blocks: usize, a: [Row; R]) -> [f32; R] {
        let (bytes, count) = (self.0.bytes(), self.0.count());
        let (mut unpacked, mut totals) = (Unpacked::new(), [0.0; R]);
        for block in 0..blocks {
            // SAFETY: the row has this block.
            self.0.unpack(unsafe { std::slice::from_raw_parts(w.add(block * bytes), bytes) }, &mut unpacked);
            for r in 0..R {
                // SAFETY: the row has the codes and the scale of this block.
                totals[r] += unsafe { *a[r].scales.add(block) * dot(&unpacked, a[r], block * count, count) };
            }
        }
        totals
    }
}

/// Returns the product of a block of `count` weights and the codes from `at` on.
///
/// # Safety
/// The row must have the codes.
#[inline(always)]
unsafe fn dot(w: &Unpacked, a: Row, at: usize, count: usize) -> f32 {
    let mut total = 0.0;
    for group in 0..count / GROUP {
        let start = group * GROUP;
        // SAFETY: the caller keeps this function's contract.
        let (codes, sum) = unsafe { (&*a.codes.add(at + start).cast::<[i8; GROUP]>(), *a.sums.add((at + start) / GROUP)) };
        let mut product = 0;
        for k in 0..GROUP {
            product += i32::from(w.codes[start + k]) * i32::from(codes[k]);
        }
        total += w.scales[group] * product as f32 + w.offsets[group] * f32::from(sum);
    }
    total
}
