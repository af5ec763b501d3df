//! TH's normal values, which MT19937 computes one after the other, in bulk.
//!
//! For results that are rounded to float32, many values are computed at once to 43 bits. If the nearest float32 is uncertain, for a few
//! values in a million, TH's own formula decides.

use super::{GROUP, minus_two_log_of_f64, sin_cos_f64};
use crate::cpu::simd::simd;
use crate::random::Mt19937;
use std::f64::consts::PI;

/// The error of a value in units of its radius and the deviation: more than the sum of the errors of the functions.
const ERROR: f64 = 1.0 / 8_796_093_022_208.0;

/// `out[i] = z * std + mean`, or, if `rounded`, a value that rounds to the same float32.
pub fn normals(stream: &mut Mt19937, out: &mut [f64], mean: f64, std: f64, rounded: bool) {
    let mut rest = out;
    // Half of a pair may be left from an earlier call. The last pair is computed singly, because the generator's state records it.
    while rest.len() > 2 && !stream.between_pairs() {
        rest[0] = stream.normal() * std + mean;
        rest = &mut rest[1..];
    }
    while rest.len() > 4 {
        let pairs = ((rest.len() - 3) / 2).min(GROUP);
        let (now, later) = rest.split_at_mut(2 * pairs);
        bulk(stream, now, mean, std, rounded);
        rest = later;
    }
    rest.iter_mut().for_each(|x| *x = stream.normal() * std + mean);
}

/// Computes at most GROUP whole pairs.
fn bulk(stream: &mut Mt19937, out: &mut [f64], mean: f64, std: f64, rounded: bool) {
    let mut words = [0u32; 2 * GROUP];
    stream.words_into(&mut words[..out.len()], |word| word);
    let mut values = [[0.0; GROUP]; 2];
    let mut open = [true; GROUP];
    if rounded {
        estimate(&words, mean, std, &mut values, &mut open);
    }
    for i in 0..out.len() / 2 {
        let (x, y) = if open[i] {
            let (radius, turn) = Mt19937::radius_and_turn(words[2 * i], words[2 * i + 1]);
            let (sin, cos) = turn.sin_cos();
            (radius * cos * std + mean, radius * sin * std + mean)
        } else {
            (values[0][i], values[1][i])
        };
        (out[2 * i], out[2 * i + 1]) = (x, y);
    }
}

/// Computes the values of all pairs, and whether one of the two may round to another float32 than TH's value.
fn estimate(words: &[u32; 2 * GROUP], mean: f64, std: f64, values: &mut [[f64; GROUP]; 2], open: &mut [bool; GROUP]) {
    simd(
        #[inline(always)]
        |_| {
            for i in 0..GROUP {
                let (angle, uniform) = (words[2 * i], words[2 * i + 1]);
                // 1 - u has no more bits than u, so it is exact.
                let radius = minus_two_log_of_f64(1.0 - f64::from(uniform) * (1.0 / 4_294_967_296.0)).sqrt();
                // The nearest of the four axes, and the angle from this axis.
                let axis = angle.wrapping_add(1 << 29) >> 30;
                let (sin, cos) = sin_cos_f64(f64::from(angle.wrapping_sub(axis << 30) as i32) * (PI / 2_147_483_648.0));
                let (a, b) = if axis & 1 == 0 { (cos, sin) } else { (-sin, cos) };
                let turned = if axis & 2 == 0 { std } else { -std };
                let (x, y) = (radius * a * turned + mean, radius * b * turned + mean);
                let margin = radius * (std * ERROR) + mean.abs() * f64::EPSILON;
                let unclear = |x: f64| (x - margin) as f32 != (x + margin) as f32;
                (values[0][i], values[1][i]) = (x, y);
                open[i] = unclear(x) | unclear(y);
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_gives_what_single_values_do() {
        for (mean, std) in [(0.0, 1.0), (1.5, 2.0), (-1e3, 1e-3), (0.25, 0.0)] {
            let (mut many, mut single) = (Mt19937::new(11), Mt19937::new(11));
            for n in [0, 1, 2, 3, 4, 5, 6, 129, 128, 200_001, 100] {
                let mut out = vec![0.0; n];
                normals(&mut many, &mut out, mean, std, true);
                assert!(out.iter().all(|&x| x as f32 == (single.normal() * std + mean) as f32));
                assert_eq!(many, single);
                normals(&mut many, &mut out, mean, std, false);
                assert!(out.iter().all(|&x| x == single.normal() * std + mean));
                assert_eq!(many, single);
            }
        }
    }
}
