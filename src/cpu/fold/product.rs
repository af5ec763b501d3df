//! The product of float32 in float64, by whole vectors.

use super::kernel::{Accumulators, FoldKernel, FoldTile};
use crate::cpu::simd::simd;
use crate::cpu::vector::{Float32s, Floats, Register, by_level};

/// Vectors of a row, and rows of a tile, that are multiplied side by side.
const UNROLL: usize = 4;

/// Returns the product of `n` contiguous elements.
///
/// # Safety
/// `x` must hold `n` elements; as for [`Register`].
#[inline(always)]
unsafe fn row<V: Float32s>(x: *const f32, n: usize) -> f64 {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let (mut products, mut at) = ([V::Wide::all(1.0); UNROLL], 0);
        while n - at >= UNROLL * V::LANES {
            for k in 0..UNROLL {
                products[k] = products[k] * V::load_wide(x.add(at + k * V::LANES));
            }
            at += UNROLL * V::LANES;
        }
        while n - at >= V::LANES {
            products[0] = products[0] * V::load_wide(x.add(at));
            at += V::LANES;
        }
        let mut rest = 1.0;
        for i in at..n {
            rest *= f64::from(x.add(i).read());
        }
        ((products[0] * products[1]) * (products[2] * products[3])).product() * rest
    }
}

/// Multiplies accumulators by the columns of `N` rows from `r` on, one or [`UNROLL`].
///
/// # Safety
/// The tile must be inside its memory, and there must be as many accumulators as columns; as for [`Register`].
#[inline(always)]
unsafe fn across<V: Float32s, const N: usize>(accs: *mut f64, tile: &FoldTile, r: usize) {
    let mut x: [*const f32; UNROLL] = [tile.row(r); UNROLL];
    for q in 0..N {
        x[q] = tile.row(r + q);
    }
    let mut k = 0;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        while k + V::LANES <= tile.cols {
            let mut product = V::load_wide(x[0].add(k));
            if N == UNROLL {
                product = (product * V::load_wide(x[1].add(k))) * (V::load_wide(x[2].add(k)) * V::load_wide(x[3].add(k)));
            }
            (V::Wide::load(accs.add(k)) * product).store(accs.add(k));
            k += V::LANES;
        }
        while k < tile.cols {
            for q in 0..N {
                *accs.add(k) *= f64::from(x[q].add(k).read());
            }
            k += 1;
        }
    }
}

/// Multiplies accumulators by the columns of a tile.
///
/// # Safety
/// As for [`across`].
#[inline(always)]
unsafe fn columns<V: Float32s>(accs: *mut f64, tile: &FoldTile) {
    let mut r = 0;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        while r + UNROLL <= tile.rows {
            across::<V, UNROLL>(accs, tile, r);
            r += UNROLL;
        }
        while r < tile.rows {
            across::<V, 1>(accs, tile, r);
            r += 1;
        }
    }
}

/// The float64 product of float32.
pub struct Products;

impl FoldKernel for Products {
    fn planes(&self) -> usize {
        1
    }

    unsafe fn start(&self, accs: Accumulators, n: usize) {
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|j| unsafe { accs.plane::<f64>(0).add(j).write(1.0) })
    }

    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile) {
        let (products, tile) = (accs.plane::<f64>(0), *tile);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    // SAFETY: the caller keeps this function's contract; `isa` is an instruction set of this processor.
                    unsafe { *products.add(j) *= by_level!(isa, f32, V => row::<V>(tile.row(j), tile.cols)) }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile) {
        let (products, tile) = (accs.plane::<f64>(0), *tile);
        simd(
            #[inline(always)]
            // SAFETY: the caller keeps this function's contract; `isa` is an instruction set of this processor.
            move |isa| unsafe { by_level!(isa, f32, V => columns::<V>(products, &tile)) },
        )
    }

    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, _: [usize; 2]) {
        // SAFETY: the caller keeps this function's contract.
        (0..n).for_each(|j| unsafe { *accs.plane::<f64>(0).add(j) *= later.plane::<f64>(0).add(j).read() })
    }

    unsafe fn finish(&self, accs: Accumulators, n: usize, _: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { std::ptr::copy_nonoverlapping(accs.plane::<f64>(0), out[0].cast(), n) }
    }
}
