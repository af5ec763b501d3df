//! Encoding: numbers as blocks, with the roundings of ggml's reference functions without fused multiply-add.

use crate::search::{Ends, LEAST, nearest, pairs_of_scales, signed_scale};
use crate::unpack::{GROUP, MOST};
use crate::{Blocks, Unpacked};
use half::f16;

/// The numbers of the groups of `Q4_K` and `Q5_K`.
const PAIRED: usize = 32;
/// The byte of a block of `Q6_K` at which its scale begins.
const SCALE_OF_SIX: usize = 208;

impl Blocks {
    /// Returns true if [`Blocks::encode`] encodes this structure.
    pub const fn encodes(self) -> bool {
        use Blocks::*;
        matches!(self, Q4_0 | Q4_1 | Q5_0 | Q5_1 | Q8_0 | Q4_K | Q5_K | Q6_K)
    }

    /// Encodes whole blocks of numbers, and fills `to` with the blocks. A block with an infinity or NaN becomes a block of NaN. If
    /// [`Blocks::encodes`] is false, the bytes become zeros.
    pub fn encode(self, numbers: &[f32], to: &mut [u8]) {
        for (numbers, to) in numbers.chunks_exact(self.count()).zip(to.chunks_exact_mut(self.bytes())) {
            to.fill(0);
            if numbers.iter().any(|x| !x.is_finite()) {
                put(to, if self == Blocks::Q6_K { SCALE_OF_SIX } else { 0 }, f32::NAN);
                continue;
            }
            match self {
                Blocks::Q8_0 => {
                    let scale = numbers.iter().fold(0f32, |most, x| most.max(x.abs())) / 127.0;
                    put(to, 0, scale);
                    let inverse = inverse(scale);
                    to[2..].iter_mut().zip(numbers).for_each(|(to, x)| *to = (x * inverse).round() as i8 as u8);
                }
                Blocks::Q4_0 => signed(numbers, to, 8),
                Blocks::Q5_0 => signed(numbers, to, 16),
                Blocks::Q4_1 => from_least(numbers, to, 15),
                Blocks::Q5_1 => from_least(numbers, to, 31),
                Blocks::Q4_K | Blocks::Q5_K => self.encode_pairs(numbers, to),
                Blocks::Q6_K => encode_six(numbers, to),
                _ => {}
            }
        }
    }

    /// Encodes a block of `Q4_K` or `Q5_K`.
    fn encode_pairs(self, numbers: &[f32], to: &mut [u8]) {
        let five = self == Blocks::Q5_K;
        let most = if five { 31 } else { 15 };
        let ends = if five { Ends { first: -0.5, steps: 15 } } else { Ends { first: -1.0, steps: 20 } };
        let found: [(f32, f32); 8] = std::array::from_fn(|g| pairs_of_scales(&numbers[g * PAIRED..][..PAIRED], most, ends));
        let greatest = |of: fn(&(f32, f32)) -> f32| found.iter().map(of).fold(0f32, |most, x| if x > most { x } else { most });
        let (scale, least) = (greatest(|pair| pair.0), greatest(|pair| pair.1));
        let factor = |most: f32| if most > 0.0 { 63.0 / most } else { 0.0 };
        for (g, pair) in found.iter().enumerate() {
            let six = |x: f32| (nearest(x) as u8).min(63);
            let (first, second) = (six(factor(scale) * pair.0), six(factor(least) * pair.1));
            if g < 4 {
                (to[4 + g], to[8 + g]) = (first, second);
            } else {
                to[8 + g] = first & 15 | second << 4;
                to[g] |= first >> 4 << 6;
                to[4 + g] |= second >> 4 << 6;
            }
        }
        put(to, 0, scale / 63.0);
        put(to, 2, least / 63.0);
        let scales = self.scales_of(to);
        let start = if five { 48 } else { 16 };
        for (k, x) in numbers.iter().enumerate() {
            let (scale, offset) = (scales.scales[k / GROUP], scales.offsets[k / GROUP]);
            let code = if scale == 0.0 { 0 } else { nearest((x - offset) / scale).clamp(0.0, f32::from(most)) as u8 };
            to[start + k / 64 * 32 + k % 32] |= (code & 15) << (k / 32 % 2 * 4);
            if five {
                to[16 + k % 32] |= code >> 4 << (k / 32);
            }
        }
    }

    /// Returns the scales that a block has, whose codes are not set yet.
    fn scales_of(self, block: &[u8]) -> Unpacked {
        let mut unpacked = Unpacked::new();
        self.unpack(block, &mut unpacked);
        unpacked
    }
}

/// Encodes a block of `Q6_K`.
fn encode_six(numbers: &[f32], to: &mut [u8]) {
    let found: [f32; MOST / GROUP] = std::array::from_fn(|g| signed_scale(&numbers[g * GROUP..][..GROUP], 32));
    let greatest = found.iter().fold(0f32, |most, &x| if x.abs() > most.abs() { x } else { most });
    if greatest.abs() < LEAST {
        return;
    }
    let inverse = -128.0 / greatest;
    put(to, SCALE_OF_SIX, 1.0 / inverse);
    for (to, scale) in to[192..208].iter_mut().zip(found) {
        *to = nearest(inverse * scale).min(127.0) as i8 as u8;
    }
    let scales = Blocks::Q6_K.scales_of(to).scales;
    for (k, x) in numbers.iter().enumerate() {
        let scale = scales[k / GROUP];
        let code = if scale == 0.0 { 0 } else { (nearest(x / scale).clamp(-32.0, 31.0) + 32.0) as u8 };
        to[k / 128 * 64 + k % 64] |= (code & 15) << (k / 64 % 2 * 4);
        to[128 + k / 128 * 32 + k % 32] |= code >> 4 << (k / 32 % 4 * 2);
    }
}

/// Writes a scale at byte `at`.
fn put(to: &mut [u8], at: usize, scale: f32) {
    to[at..at + 2].copy_from_slice(&f16::from_f32(scale).to_le_bytes());
}

fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// Encodes a block of `Q4_0` or `Q5_0`: the number of the greatest magnitude gets the code 0, which means `-half`.
fn signed(numbers: &[f32], to: &mut [u8], half: u8) {
    let greatest = numbers.iter().fold(0f32, |most, &x| if x.abs() > most.abs() { x } else { most });
    let scale = greatest / -f32::from(half);
    put(to, 0, scale);
    let inverse = inverse(scale);
    codes(&mut to[2..], half * 2 - 1, |k| numbers[k] * inverse + (f32::from(half) + 0.5));
}

/// Encodes a block of `Q4_1` or `Q5_1`: codes count from the smallest number.
fn from_least(numbers: &[f32], to: &mut [u8], most: u8) {
    let least = numbers.iter().copied().fold(f32::MAX, f32::min);
    let greatest = numbers.iter().copied().fold(-f32::MAX, f32::max);
    let scale = (greatest - least) / f32::from(most);
    put(to, 0, scale);
    put(to, 2, least);
    let inverse = inverse(scale);
    codes(&mut to[4..], most, |k| (numbers[k] - least) * inverse + 0.5);
}

/// Writes 32 codes of up to `most`, which is 15 or 31: the upper bits of codes of five bits first, then two codes of four bits in each
/// byte. Codes are rounded down.
fn codes(to: &mut [u8], most: u8, code: impl Fn(usize) -> f32) {
    let upper = if most > 15 { 4 } else { 0 };
    for k in 0..32 {
        let code = (code(k) as u8).min(most);
        to[upper + k % 16] |= (code & 15) << (k / 16 * 4);
        if upper > 0 {
            to[k / 8] |= code >> 4 << (k % 8);
        }
    }
}
