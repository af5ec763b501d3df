//! Kernels of every level, compared with products in float64.

use super::activations::Activations;
use super::kernels::available;
use super::tile::{TILE, Tile};
use thorn_blocks::Blocks;

/// A generator of 32 random bits (an LCG of Numerical Recipes).
struct Words(u32);

impl Words {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 24) as u8
    }
}

/// Returns random blocks with finite scales. The first has codes of 0x80, the least of signed bytes.
fn weights(blocks: Blocks, bytes: usize) -> Vec<u8> {
    let mut words = Words(7);
    let mut made: Vec<u8> = (0..bytes).map(|_| words.byte()).collect();
    for (k, block) in made.chunks_mut(blocks.bytes()).enumerate() {
        if k == 0 {
            block.fill(0x80);
        }
        let places: &[usize] = match blocks {
            Blocks::Q4_1 | Blocks::Q5_1 | Blocks::Q4_K | Blocks::Q5_K => &[0, 2],
            Blocks::Q2_K => &[80, 82],
            Blocks::Q3_K => &[108],
            Blocks::Q6_K => &[208],
            Blocks::TQ1_0 => &[52],
            Blocks::TQ2_0 => &[64],
            Blocks::MXFP4 => &[],
            Blocks::Q4_0 | Blocks::Q5_0 | Blocks::Q8_0 | Blocks::IQ4_NL | Blocks::IQ4_XS => &[0],
        };
        let scale = half::f16::from_f32(f32::from(words.byte()) / 2048.0 - 0.03).to_le_bytes();
        places.iter().for_each(|&at| block[at..at + 2].copy_from_slice(&scale));
        if blocks == Blocks::MXFP4 {
            block[0] = 118 + words.byte() % 8;
        }
    }
    made
}

/// The weights, the activations, and the products of each available kernel with its name.
type Products = (Vec<u8>, Vec<f32>, Vec<(&'static str, Vec<f32>)>);

fn products(blocks: Blocks, k: usize, n: usize, rows: usize) -> Products {
    let row_bytes = k / blocks.count() * blocks.bytes();
    let w = weights(blocks, n * row_bytes);
    // An odd address.
    let shifted: Vec<u8> = std::iter::once(0).chain(w.iter().copied()).collect();
    let mut words = Words(3);
    let mut x: Vec<f32> = (0..rows * k).map(|_| f32::from(words.byte()) / 64.0 - 2.0).collect();
    // Numbers that all get the code 127 or -127: the greatest sums of products.
    x[..k].iter_mut().for_each(|x| *x = if *x < 0.0 { -2.0 } else { 2.0 });
    let bytes = Activations::bytes(blocks, k).unwrap();
    let mut memory = vec![0u64; (bytes * rows).div_ceil(8)];
    let found = available(blocks).map(|(name, kernel)| {
        let activations = Activations::at(memory.as_mut_ptr().cast(), blocks, k, kernel.paired);
        // SAFETY: the memory has all rows.
        (0..rows).for_each(|row| unsafe { activations.quantize(row, &x[row * k..][..k]) });
        let mut r = vec![f32::NAN; rows * n];
        let tile = Tile {
            weights: shifted.as_ptr().wrapping_add(1),
            row_bytes,
            count: n,
            activations,
            rows,
            structure: blocks,
            blocks: k / blocks.count(),
            to: r.as_mut_ptr(),
            stride: n,
        };
        // SAFETY: the rows and the products exist, and the processor has the kernel.
        unsafe { (kernel.run)(tile) };
        (name, r)
    });
    let found = found.collect();
    (w, x, found)
}

#[test]
fn products_are_within_the_bound() {
    for &blocks in Blocks::ALL {
        let unit = blocks.count();
        // Kernels of small blocks proceed by eight blocks.
        let counts = if unit == 32 { [1, 2, 3, 4, 5, 6, 7, 8, 9, 19].as_slice() } else { &[1, 2, 3] };
        for &count in counts {
            let (k, n, rows) = (count * unit, 3, TILE + 3);
            let (w, x, found) = products(blocks, k, n, rows);
            assert!(!found.is_empty());
            let mut decoded = vec![0f32; n * k];
            blocks.decode(&w, &mut decoded);
            for (name, r) in found {
                for (i, got) in r.into_iter().enumerate() {
                    let (w, x) = (&decoded[i % n * k..][..k], &x[i / n * k..][..k]);
                    let exact: f64 = w.iter().zip(x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
                    let sizes = |k: usize| x[k / unit * unit..][..unit].iter().fold(0f32, |most, x| most.max(x.abs()));
                    let bound: f64 = (0..k).map(|k| f64::from(w[k].abs() * sizes(k)) / 254.0).sum();
                    let rounding: f64 = w.iter().zip(x).map(|(w, x)| f64::from((w * x).abs())).sum::<f64>() * 8.0 * f64::from(f32::EPSILON);
                    // With codes of 127 only, the numbers are exact.
                    let bound = if i < n { 0.0 } else { bound };
                    // Offsets are added to products that are greater than their sums.
                    let rounding = rounding + f64::from(f32::EPSILON) * 8.0 * offsets(blocks, w, x);
                    let error = (f64::from(got) - exact).abs();
                    assert!(error <= bound + rounding, "{} {name}, k {k}, element {i}: {got} for {exact}, bound {bound}", blocks.name());
                }
            }
        }
    }
}

/// Returns a bound of the products with the codes and offsets of a structure, which may cancel each other.
fn offsets(blocks: Blocks, w: &[f32], x: &[f32]) -> f64 {
    let greatest = w.chunks(blocks.count()).zip(x.chunks(blocks.count())).map(|(w, x)| {
        let size = |x: &[f32]| x.iter().fold(0f32, |most, x| most.max(x.abs()));
        f64::from(size(w) * size(x)) * 8.0 * blocks.count() as f64
    });
    greatest.sum()
}

#[test]
fn a_row_does_not_depend_on_the_others() {
    for &blocks in Blocks::ALL {
        let (k, n, rows) = (11 * blocks.count(), 2, 2 * TILE + 1);
        let (w, x, found) = products(blocks, k, n, rows);
        assert_eq!((w.len(), x.len()), (n * k / blocks.count() * blocks.bytes(), rows * k));
        // The first rows of fewer rows are the same numbers.
        for (few, all) in products(blocks, k, n, TILE - 1).2.iter().zip(&found) {
            assert_eq!(few.1, all.1[..few.1.len()], "{} {}", blocks.name(), few.0);
        }
    }
}

#[test]
fn activations_that_are_not_finite_or_tiny() {
    for &blocks in Blocks::ALL {
        let k = 2 * blocks.count();
        let bytes = Activations::bytes(blocks, k).unwrap();
        for (number, is_scale) in [
            (f32::NAN, f32::is_nan as fn(f32) -> bool),
            (f32::INFINITY, f32::is_nan),
            (1e-40, |x| x == 0.0),
            (f32::MAX, |x| x == f32::MAX / 127.0),
        ] {
            let mut memory = vec![1u64; bytes.div_ceil(8)];
            let activations = Activations::at(memory.as_mut_ptr().cast(), blocks, k, false);
            let mut x = vec![0.0; k];
            x[1] = number;
            // SAFETY: the memory has a row.
            let (scale, other, code) = unsafe {
                activations.quantize(0, &x);
                let row = activations.row(0);
                (*row.scales, *row.scales.add(1), *row.codes.add(1))
            };
            assert!(is_scale(scale) && other == 0.0, "{scale} for {number}");
            assert_eq!(code, if number == f32::MAX { 127 } else { 0 });
        }
    }
}
