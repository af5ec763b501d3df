//! Rows of activations in 8 bits: codes from -127 to 127 with a scale for each block of weights.

use crate::cpu::simd::simd;
use thorn_blocks::{Blocks, GROUP, MOST};

/// Blocks whose numbers are all smaller than this become 0, because the reciprocal of their scale could overflow.
const LEAST: f32 = 1e-30;

/// The block at each position of eight paired blocks.
#[cfg(target_arch = "x86_64")]
pub(crate) const ORDER: [usize; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// Rows of quantised numbers. A row has the scales (float32, one for each block), the sums of the codes of each group (int16), and the
/// codes. Zeros follow the codes up to a multiple of [`MOST`], so that kernels may load whole registers.
#[derive(Clone, Copy)]
pub struct Activations {
    first: *mut u8,
    padded: usize,
    unit: usize,
    /// True if blocks of 32 numbers are paired: eight scales, and the sums of eight blocks, are in the order of `ORDER`. The codes of two
    /// neighbouring blocks have the first halves of both first, then the second halves.
    paired: bool,
}

// SAFETY: threads write distinct rows, and read rows after all of them are written.
unsafe impl Send for Activations {}
// SAFETY: as above.
unsafe impl Sync for Activations {}

/// The alignment of a row in bytes.
const ALIGN: usize = 64;

impl Activations {
    /// Returns the rows at `first`, each of [`Activations::bytes`].
    pub fn at(first: *mut u8, blocks: Blocks, k: usize, paired: bool) -> Activations {
        Activations { first, padded: k.next_multiple_of(MOST), unit: blocks.count(), paired }
    }

    /// Returns the size of a row of `k` numbers; `None` if it overflows.
    pub fn bytes(blocks: Blocks, k: usize) -> Option<usize> {
        let padded = k.checked_next_multiple_of(MOST)?;
        padded.checked_add(padded / blocks.count() * size_of::<f32>() + padded / GROUP * size_of::<i16>())?.checked_next_multiple_of(ALIGN)
    }

    fn sums_at(self) -> usize {
        self.padded / self.unit * size_of::<f32>()
    }

    fn codes_at(self) -> usize {
        self.sums_at() + self.padded / GROUP * size_of::<i16>()
    }

    /// Returns row `row`.
    #[inline(always)]
    pub fn row(self, row: usize) -> Row {
        let start = self.first.wrapping_add(row * (self.codes_at() + self.padded).next_multiple_of(ALIGN));
        Row { scales: start.cast(), sums: start.wrapping_add(self.sums_at()).cast(), codes: start.wrapping_add(self.codes_at()).cast() }
    }

    /// Quantises the numbers `x` into row `row`. A block with an infinity or NaN gets the scale NaN.
    ///
    /// # Safety
    /// The row must have memory, and no other thread may use it.
    pub unsafe fn quantize(self, row: usize, x: &[f32]) {
        let Row { scales, sums, codes } = self.row(row);
        let (unit, units, paired) = (self.unit, self.padded / self.unit, self.paired);
        simd(
            #[inline(always)]
            move |_| {
                for block in 0..units {
                    let x = &x[(block * unit).min(x.len())..(block * unit + unit).min(x.len())];
                    let greatest = x.iter().fold(0, |most: u32, x| most.max(x.abs().to_bits()));
                    let greatest = f32::from_bits(greatest);
                    let (scale, inverse) = match greatest {
                        LEAST..=f32::MAX => (greatest / 127.0, 127.0 / greatest),
                        ..LEAST => (0.0, 0.0),
                        _ => (f32::NAN, 0.0),
                    };
                    let place = if paired { block / 8 * 8 + block % 8 / 2 + block % 2 * 4 } else { block };
                    // SAFETY: the caller guarantees the memory of the row, which has the padded number of codes.
                    unsafe {
                        scales.add(place).write(scale);
                        for group in 0..unit / GROUP {
                            let at = if paired { block / 2 * 64 + block % 2 * GROUP + group * 32 } else { block * unit + group * GROUP };
                            let numbers = x.get(group * GROUP..group * GROUP + GROUP).filter(|_| inverse > 0.0);
                            let mut to = [0i8; GROUP];
                            if let Some(numbers) = numbers {
                                // Floats from 2^23 to 2^24 are the integers, so that the low bits of the sum are the rounded number.
                                to = std::array::from_fn(|i| (numbers[i] * inverse + 12_582_912.0).to_bits() as i8);
                            }
                            codes.add(at).cast::<[i8; GROUP]>().write_unaligned(to);
                            sums.add(place * (unit / GROUP) + group).write(to.iter().map(|&code| i16::from(code)).sum());
                        }
                    }
                }
            },
        );
    }
}

/// A row of quantised numbers.
#[derive(Clone, Copy)]
pub struct Row {
    /// The scale of each block.
    pub scales: *mut f32,
    /// The sum of the codes of each group.
    pub sums: *mut i16,
    /// The codes.
    pub codes: *mut i8,
}
