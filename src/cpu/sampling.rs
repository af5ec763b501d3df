//! Pixels and weights of samples between the pixels of images.

use super::engine::{COSTLY, Shared, parallel};
use crate::error::Result;
use crate::launch::sampling::{Outside, Sampling};
use crate::operand::Operand;

/// A pixel along one dimension: its index, or -1 outside the image, its weight, and the derivative of the weight by the coordinate.
#[derive(Clone, Copy)]
struct Term {
    at: i64,
    weight: f64,
    slope: f64,
}

/// Reflects `x` at both bounds, as often as necessary. Returns the place between the bounds, and its derivative by `x`.
fn reflected(x: f64, [low, high]: [f64; 2]) -> (f64, f64) {
    let span = high - low;
    if span <= 0.0 {
        return (0.0 * x, 0.0);
    }
    let (distance, sign) = if x < low { (low - x, -1.0) } else { (x - low, 1.0) };
    let (rest, turns) = (distance % span, (distance / span).floor());
    if turns % 2.0 == 0.0 { (low + rest, sign) } else { (high - rest, -sign) }
}

/// The nearest place inside an image of `size` pixels, and the derivative.
fn limited(x: f64, size: i64) -> (f64, f64) {
    let last = (size - 1) as f64;
    match x {
        x if x <= 0.0 => (0.0, 0.0),
        x if x >= last => (last, 0.0),
        x => (x, 1.0),
    }
}

/// The place in the image for a place that may be outside, and the derivative.
fn inside(work: &Sampling, x: f64, size: i64) -> (f64, f64) {
    match work.outside {
        Outside::Zero => (x, 1.0),
        Outside::Edge => limited(x, size),
        Outside::Reflected => {
            let bounds = if work.align_corners { [0.0, (size - 1) as f64] } else { [-0.5, size as f64 - 0.5] };
            let (x, turned) = reflected(x, bounds);
            let (x, slope) = limited(x, size);
            (x, slope * turned)
        }
    }
}

/// Cubic convolution with parameter -0.75 at the distance `x`, and its derivative.
fn cubic(x: f64) -> (f64, f64) {
    const A: f64 = -0.75;
    let (d, sign) = (x.abs(), x.signum());
    if d <= 1.0 {
        (((A + 2.0) * d - (A + 3.0)) * d * d + 1.0, (3.0 * (A + 2.0) * d - 2.0 * (A + 3.0)) * d * sign)
    } else {
        (((d - 5.0) * d + 8.0) * d * A - 4.0 * A, ((3.0 * d - 10.0) * d + 8.0) * A * sign)
    }
}

/// The index of the pixel at a whole place, or -1.
fn index(x: f64, size: i64) -> i64 {
    if x >= 0.0 && x < size as f64 { x as i64 } else { -1 }
}

/// The terms of a coordinate along a dimension of `size` pixels.
fn terms(work: &Sampling, coordinate: f64, size: i64) -> [Term; 4] {
    let pixels = size as f64;
    let (at, scale) = if work.align_corners {
        ((coordinate + 1.0) / 2.0 * (pixels - 1.0), (pixels - 1.0) / 2.0)
    } else {
        (((coordinate + 1.0) * pixels - 1.0) / 2.0, pixels / 2.0)
    };
    // Reflections of an infinite place have no limit.
    let at = if work.outside == Outside::Reflected && at.is_infinite() { f64::NAN } else { at };
    let mut terms = [Term { at: -1, weight: if at.is_nan() { f64::NAN } else { 0.0 }, slope: 0.0 }; 4];
    match work.along {
        1 => {
            let (x, _) = inside(work, at, size);
            let weight = if x.is_nan() { x } else { 1.0 };
            terms[0] = Term { at: index(x.round_ties_even(), size), weight, slope: 0.0 };
        }
        2 => {
            let (x, slope) = inside(work, at, size);
            let first = x.floor();
            // Infinite places are outside.
            let (rest, slope) = if x.is_infinite() { (0.0, 0.0) } else { (x - first, slope * scale) };
            terms[0] = Term { at: index(first, size), weight: 1.0 - rest, slope: -slope };
            terms[1] = Term { at: index(first + 1.0, size), weight: rest, slope };
        }
        _ => {
            let first = at.floor();
            let rest = if at.is_infinite() { 0.0 } else { at - first };
            for (k, term) in terms.iter_mut().enumerate() {
                let (weight, slope) = cubic(rest - (k as f64 - 1.0));
                let (x, _) = inside(work, first + (k as f64 - 1.0), size);
                *term = Term { at: index(x.round_ties_even(), size), weight, slope: slope * scale };
            }
        }
    }
    terms
}

/// Computes the terms of all samples.
pub fn run(work: &Sampling, [places, weights]: [&Operand; 2], slopes: Option<&Operand>, grid: &Operand) -> Result<()> {
    let Sampling { dims, sizes, samples, images, along, .. } = *work;
    let (taps, pixels) = (work.taps(), sizes.iter().product::<i64>());
    let (places, weights, grid) = (Shared(places.first()), Shared(weights.first()), Shared(grid.first()));
    let slopes = slopes.map(|slopes| Shared(slopes.first()));
    parallel(samples, taps * 8, COSTLY, &|rows| {
        for row in rows {
            let image = (row / (samples / images)) as i64;
            // SAFETY: the operands have this sample.
            let (coordinates, places, weights) = unsafe {
                (
                    std::slice::from_raw_parts(grid.get().cast::<f64>().add(row * dims), dims),
                    std::slice::from_raw_parts_mut(places.get().cast::<i64>().add(row * taps), taps),
                    std::slice::from_raw_parts_mut(weights.get().cast::<f64>().add(row * taps), taps),
                )
            };
            // Dimension `d` has the coordinate from the end of the list.
            let mut of = [[Term { at: 0, weight: 1.0, slope: 0.0 }; 4]; 3];
            (0..dims).for_each(|d| of[d] = terms(work, coordinates[dims - 1 - d], sizes[d]));
            for tap in 0..taps {
                let mut digits = tap;
                let mut chosen = [Term { at: 0, weight: 1.0, slope: 0.0 }; 3];
                for d in (0..dims).rev() {
                    (chosen[d], digits) = (of[d][digits % along], digits / along);
                }
                let outside = chosen.iter().any(|term| term.at < 0);
                let place = chosen.iter().zip(sizes).fold(0, |place, (term, size)| place * size + term.at);
                places[tap] = if outside { images as i64 * pixels } else { image * pixels + place };
                weights[tap] = chosen.iter().map(|term| term.weight).product();
                if let Some(slopes) = &slopes {
                    for d in 0..dims {
                        let others = (0..dims).filter(|&other| other != d).map(|other| chosen[other].weight).product::<f64>();
                        // SAFETY: the operand has these elements.
                        unsafe { slopes.get().cast::<f64>().add((row * taps + tap) * dims + dims - 1 - d).write(chosen[d].slope * others) };
                    }
                }
            }
        }
    });
    Ok(())
}
