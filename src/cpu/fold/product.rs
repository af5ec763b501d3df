//! Products of float32: short trees of float32 multiplications, whose roots are multiplied in float64; or all in float64.
//!
//! A float32 result cannot tell the difference from PyTorch's, which rounds every multiplication to float32, save that it may be nearer: one
//! in eight is exact here. Nor can trees overflow, or lose bits below the normal numbers that a later factor would bring back: the least and
//! greatest product on the way tells, and then float64 does it again. So it does where an element is 0.

use super::vector::{Vector, with_vectors};
use super::{Accs, Fold, Line, Tile};
use crate::cpu::simd::simd;

/// Leaves of a tree.
const LEAVES: usize = 8;
/// Columns that are worth a look at what trees made of them.
const MANY: usize = 256;

/// Vectors of a row, and rows of a tile, that are multiplied side by side.
const ABREAST: usize = 4;

/// The product of eight vectors, and the least size of it, of all products on the way and of `least`.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn tree<V: Vector>(x: [V; LEAVES], least: V) -> (V, V) {
    // SAFETY: the caller's.
    unsafe {
        let twos = [x[0].by(x[1]), x[2].by(x[3]), x[4].by(x[5]), x[6].by(x[7])];
        let fours = [twos[0].by(twos[1]), twos[2].by(twos[3])];
        let root = fours[0].by(fours[1]);
        let least_two = twos[0].lesser_size(twos[1]).lesser_size(twos[2].lesser_size(twos[3]));
        (root, least_two.lesser_size(fours[0].lesser_size(fours[1])).lesser_size(root.lesser_size(least)))
    }
}

/// Whether products of trees are as good as if multiplied in float64.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn good<V: Vector>(least: V, product: f64) -> bool {
    // SAFETY: the caller's. An overflow ends as infinity or NaN.
    unsafe { least.best::<false>() >= f32::MIN_POSITIVE && product.is_finite() }
}

/// The product of `n` contiguous elements, by trees as far as they go, unless it is to be `exact`.
///
/// # Safety
/// `x` holds them; as for [`Vector`].
#[inline(always)]
unsafe fn row<V: Vector>(x: *const f32, n: usize, exact: bool) -> f64 {
    let whole = if exact { 0 } else { n - n % (LEAVES * V::WIDTH) };
    // SAFETY: the caller's.
    unsafe {
        let (mut products, mut least) = (V::ones(), V::all(1.0));
        for at in (0..whole).step_by(LEAVES * V::WIDTH) {
            let (root, size) = tree(std::array::from_fn(|k| V::floats(x.add(at + k * V::WIDTH))), least);
            (products, least) = (root.times_onto(products), size);
        }
        let product = V::product(products);
        if whole > 0 && good(least, product) { product * wide_row::<V>(x.add(whole), n - whole) } else { wide_row::<V>(x, n) }
    }
}

/// [`row`] in float64.
///
/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn wide_row<V: Vector>(x: *const f32, n: usize) -> f64 {
    // SAFETY: the caller's.
    unsafe {
        let (mut products, mut at) = ([V::ones(); ABREAST], 0);
        while n - at >= ABREAST * V::WIDTH {
            for k in 0..ABREAST {
                products[k] = V::times(products[k], V::wide(x.add(at + k * V::WIDTH)));
            }
            at += ABREAST * V::WIDTH;
        }
        while n - at >= V::WIDTH {
            products[0] = V::times(products[0], V::wide(x.add(at)));
            at += V::WIDTH;
        }
        let mut rest = 1.0;
        for i in at..n {
            rest *= f64::from(x.add(i).read());
        }
        let pairs = [V::times(products[0], products[1]), V::times(products[2], products[3])];
        V::product(V::times(pairs[0], pairs[1])) * rest
    }
}

/// Multiplies accumulators by the columns of `N` rows from `r` on, one or [`ABREAST`].
///
/// # Safety
/// The tile lies inside its memory; there are as many accumulators as columns; as for [`Vector`].
#[inline(always)]
unsafe fn across<V: Vector, const N: usize>(accs: *mut f64, tile: &Tile, r: usize) {
    let mut x: [*const f32; ABREAST] = [tile.row(r); ABREAST];
    for q in 0..N {
        x[q] = tile.row(r + q);
    }
    let mut k = 0;
    // SAFETY: the caller's.
    unsafe {
        while k + V::WIDTH <= tile.cols {
            let mut product = V::wide(x[0].add(k));
            if N == ABREAST {
                let other = V::times(V::wide(x[2].add(k)), V::wide(x[3].add(k)));
                product = V::times(V::times(product, V::wide(x[1].add(k))), other);
            }
            let acc = accs.add(k).cast::<V::Sums>();
            acc.write_unaligned(V::times(acc.read_unaligned(), product));
            k += V::WIDTH;
        }
        while k < tile.cols {
            for q in 0..N {
                *accs.add(k) *= f64::from(x[q].add(k).read());
            }
            k += 1;
        }
    }
}

/// Multiplies accumulators by the columns of [`LEAVES`] rows from `r` on; returns the least size of `least` and all products on the way.
///
/// # Safety
/// As for [`across`].
#[inline(always)]
unsafe fn across_trees<V: Vector>(accs: *mut f64, tile: &Tile, r: usize, mut least: V) -> V {
    let x: [*const f32; LEAVES] = std::array::from_fn(|q| tile.row(r + q));
    let whole = tile.cols - tile.cols % V::WIDTH;
    // SAFETY: the caller's.
    unsafe {
        for k in (0..whole).step_by(V::WIDTH) {
            let (root, size) = tree(std::array::from_fn(|q| V::floats(x[q].add(k))), least);
            let acc = accs.add(k).cast::<V::Sums>();
            acc.write_unaligned(root.times_onto(acc.read_unaligned()));
            least = size;
        }
        for k in whole..tile.cols {
            x.iter().for_each(|x| *accs.add(k) *= f64::from(x.add(k).read()));
        }
    }
    least
}

/// Multiplies accumulators by the columns of a tile, by trees as far as they go.
///
/// # Safety
/// As for [`across`].
#[inline(always)]
unsafe fn columns<V: Vector>(accs: *mut f64, tile: &Tile) {
    let mut line = Line::new(
        tile.cols,
        #[inline(always)]
        |_| 1.0,
    );
    let (products, rows) = (line.data(), tile.rows / LEAVES * LEAVES);
    // SAFETY: the caller's; the line has an entry for each column.
    unsafe {
        let mut least = V::all(1.0);
        for r in (0..rows).step_by(LEAVES) {
            least = across_trees(products, tile, r, least);
        }
        let mut finite = 0.0;
        (0..tile.cols).for_each(|k| finite += products.add(k).read() * 0.0);
        if !good(least, finite) {
            return wide_columns::<V>(accs, tile, 0);
        }
        (0..tile.cols).for_each(|k| *accs.add(k) *= products.add(k).read());
        wide_columns::<V>(accs, tile, rows);
    }
}

/// Multiplies accumulators by the columns of a tile from row `r` on, in float64.
///
/// # Safety
/// As for [`across`].
#[inline(always)]
unsafe fn wide_columns<V: Vector>(accs: *mut f64, tile: &Tile, mut r: usize) {
    // SAFETY: the caller's.
    unsafe {
        while r + ABREAST <= tile.rows {
            across::<V, ABREAST>(accs, tile, r);
            r += ABREAST;
        }
        while r < tile.rows {
            across::<V, 1>(accs, tile, r);
            r += 1;
        }
    }
}

/// The product of float32.
pub struct Products {
    /// Whether the result has room for more than float32 has.
    pub exact: bool,
}

impl Fold for Products {
    fn planes(&self) -> usize {
        1
    }

    unsafe fn start(&self, accs: Accs, n: usize) {
        // SAFETY: the caller's.
        (0..n).for_each(|j| unsafe { accs.plane::<f64>(0).add(j).write(1.0) })
    }

    unsafe fn rows(&self, accs: Accs, tile: &Tile) {
        let (products, tile, exact) = (accs.plane::<f64>(0), *tile, self.exact);
        simd(
            #[inline(always)]
            move |isa| {
                for j in 0..tile.rows {
                    // SAFETY: the caller's; `isa` stands for what the machine has.
                    unsafe { *products.add(j) *= with_vectors!(isa, V => row::<V>(tile.row(j), tile.cols, exact)) }
                }
            },
        )
    }

    unsafe fn columns(&self, accs: Accs, tile: &Tile) {
        let (products, tile, exact) = (accs.plane::<f64>(0), *tile, self.exact);
        simd(
            #[inline(always)]
            move |isa| {
                // SAFETY: the caller's; `isa` stands for what the machine has.
                unsafe {
                    if exact || tile.rows < LEAVES || tile.cols < MANY {
                        with_vectors!(isa, V => wide_columns::<V>(products, &tile, 0))
                    } else {
                        with_vectors!(isa, V => columns::<V>(products, &tile))
                    }
                }
            },
        )
    }

    unsafe fn merge(&self, accs: Accs, later: Accs, n: usize, _: [usize; 2]) {
        // SAFETY: the caller's.
        (0..n).for_each(|j| unsafe { *accs.plane::<f64>(0).add(j) *= later.plane::<f64>(0).add(j).read() })
    }

    unsafe fn finish(&self, accs: Accs, n: usize, _: usize, out: [*mut u8; 2]) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(accs.plane::<f64>(0), out[0].cast(), n) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::fold::COLUMNS;

    /// The product of each row and of each column of `rows` x `cols` elements.
    fn products(x: &[f32], rows: usize, cols: usize, exact: bool) -> [Vec<f64>; 2] {
        let (fold, step) = (Products { exact }, (cols * size_of::<f32>()) as isize);
        let tile = Tile { x: x.as_ptr().cast(), rows, cols, step, done: 0, index: 0, weight: 1 };
        [rows, cols].map(|n| {
            let (mut room, mut out) = (vec![0u64; COLUMNS], vec![0.0; n]);
            let accs = Accs { data: room.as_mut_ptr().cast(), room: COLUMNS };
            // SAFETY: accumulators and results have room for rows and columns.
            unsafe {
                fold.start(accs, n);
                if n == rows {
                    fold.rows(accs, &tile)
                } else {
                    fold.columns(accs, &tile)
                }
                fold.finish(accs, n, 0, [out.as_mut_ptr().cast(), std::ptr::null_mut()]);
            }
            out
        })
    }

    /// Products in float64, one factor after the other.
    fn plain(x: &[f32], rows: usize, cols: usize) -> [Vec<f64>; 2] {
        let product = |n: usize, at: &dyn Fn(usize) -> usize| (0..n).map(|i| f64::from(x[at(i)])).product::<f64>();
        [(0..rows).map(|r| product(cols, &|i| r * cols + i)).collect(), (0..cols).map(|c| product(rows, &|i| i * cols + c)).collect()]
    }

    fn check(x: &[f32], rows: usize, cols: usize, exact: bool, least: f64) {
        let (got, expected) = (products(x, rows, cols, exact), plain(x, rows, cols));
        for (a, b) in got.iter().flatten().zip(expected.iter().flatten()) {
            assert!(a == b || (a / b - 1.0).abs() < least, "{rows}x{cols}, exact {exact}: {a}, not {b}");
        }
    }

    #[test]
    fn rows_and_columns_agree_with_plain_loops() {
        for (rows, cols) in [(1, 2), (3, 5), (9, 16), (63, 100), (7, 129), (23, 1000)] {
            let x: Vec<f32> = (0..rows * cols).map(|i| 1.0 + ((i * 37 % 101) as f32 - 50.0) / 1000.0).collect();
            check(&x, rows, cols, false, 1e-5);
            check(&x, rows, cols, true, 1e-12);
        }
    }

    #[test]
    fn small_integers_are_multiplied_exactly() {
        let x: Vec<f32> = (0..64 * 300)
            .map(|i| {
                if i % 29 == 0 {
                    2.0
                } else if i % 31 == 0 {
                    -3.0
                } else {
                    1.0
                }
            })
            .collect();
        assert_eq!(products(&x, 64, 300, false), plain(&x, 64, 300));
    }

    #[test]
    fn what_trees_cannot_hold_is_multiplied_in_float64() {
        for factors in [[1e-30, 1e-12, 1e30, 1e12], [1e30, 1e12, 1e-30, 1e-12], [1e-20, 1e-20, 1e20, 1e20f32]] {
            // Where trees of rows and of columns meet them together.
            let factor = |r: usize, c: usize| if r < 4 && c < 64 && c.is_multiple_of(16) { factors[(r + c / 16) % 4] } else { 1.0 };
            let x: Vec<f32> = (0..256 * 256).map(|i| factor(i / 256, i % 256)).collect();
            for got in products(&x, 256, 256, false).iter().flatten() {
                assert!((got - 1.0).abs() < 1e-6, "{factors:?}: {got}");
            }
        }
    }

    #[test]
    fn zeros_infinity_and_nan_come_through() {
        for (special, expected) in [(0.0, 0.0), (-0.0, -0.0), (f32::NEG_INFINITY, f64::NEG_INFINITY), (f32::NAN, f64::NAN)] {
            let mut x = vec![1f32; 40 * 300];
            x[20 * 300 + 100] = special;
            let [along, across] = products(&x, 40, 300, false);
            for got in [along[20], across[100]] {
                assert!(got.to_bits() == f64::to_bits(expected) || (got.is_nan() && expected.is_nan()), "{got}, not {expected}");
            }
            assert_eq!((along[0], across[0]), (1.0, 1.0));
        }
    }
}
