//! Sums and maps over contiguous operands, in registers, for kernels over rows.

use super::real::Real;
use super::vector::{Partial, Register};
use crate::dtype::Element;

/// The maximum number of registers side by side: as many elements as compilers turn into vectors.
const REGISTERS: usize = 16;
/// Elements that are summed in their own type. The sums of pieces are added in float64.
const PIECE: usize = 1024;
/// Rows that are added to sums of columns in their own type.
const ROWS: usize = 32;

/// The element type of a register.
pub type Item<V> = <V as Register>::Item;

/// Loads one register of each operand.
///
/// # Safety
/// Each operand must hold a register of elements from `at` on.
#[inline(always)]
unsafe fn load<V: Partial, const K: usize>(x: [*const Item<V>; K], at: usize) -> [V; K] {
    x.map(
        #[inline(always)]
        // SAFETY: the caller keeps this function's contract.
        |x| unsafe { V::load(x.add(at)) },
    )
}

/// Loads the first `n` lanes of each operand; the other lanes come from `fill`.
///
/// # Safety
/// Each operand must hold `n` elements from `at` on.
#[inline(always)]
unsafe fn load_first<V: Partial, const K: usize>(x: [*const Item<V>; K], fill: [V; K], at: usize, n: usize) -> [V; K] {
    let mut r = fill;
    for k in 0..K {
        // SAFETY: the caller keeps this function's contract.
        r[k] = unsafe { fill[k].load_first(x[k].add(at), n) };
    }
    r
}

/// Adds `f` of the elements from `at` on to `N` registers for each sum, while at least `N` registers of elements are left. Returns the
/// index where it stopped.
///
/// # Safety
/// The operands must hold `n` elements.
#[inline(always)]
unsafe fn sum_by<V: Partial, const K: usize, const M: usize, const N: usize>(
    lanes: &mut [[V; REGISTERS]; M],
    x: [*const Item<V>; K],
    (mut at, n): (usize, usize),
    f: impl Fn([V; K]) -> [V; M],
) -> usize {
    while n - at >= N * V::LANES {
        for k in 0..N {
            // SAFETY: the caller keeps this function's contract.
            let terms = f(unsafe { load(x, at + k * V::LANES) });
            for m in 0..M {
                lanes[m][k] = lanes[m][k] + terms[m];
            }
        }
        at += N * V::LANES;
    }
    at
}

/// Returns the sums of `f` of the elements, in float64 from piece to piece. `f` of `fill` must be zeros.
///
/// # Safety
/// The operands must hold `n` elements; as for [`Register`].
#[inline(always)]
pub unsafe fn sums<V: Partial<Item: Real>, const K: usize, const M: usize>(
    x: [*const Item<V>; K],
    fill: [V; K],
    n: usize,
    f: impl Fn([V; K]) -> [V; M] + Copy,
) -> [f64; M] {
    let mut totals = [0.0; M];
    for start in (0..n).step_by(PIECE) {
        let end = n.min(start + PIECE);
        let mut lanes = [[V::all(Element::ZERO); REGISTERS]; M];
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let single = V::LANES == 1;
            // AVX2 has 16 registers, which four of each of four sums would fill.
            let few = M > 2 && size_of::<V>() < 64;
            let at = match (single, few) {
                (true, _) => sum_by::<V, K, M, REGISTERS>(&mut lanes, x, (start, end), f),
                (_, true) => sum_by::<V, K, M, 2>(&mut lanes, x, (start, end), f),
                (_, false) => sum_by::<V, K, M, 4>(&mut lanes, x, (start, end), f),
            };
            let at = sum_by::<V, K, M, 1>(&mut lanes, x, (at, end), f);
            if at < end {
                let terms = f(load_first(x, fill, at, end - at));
                for m in 0..M {
                    lanes[m][0] = lanes[m][0] + terms[m];
                }
            }
            for m in 0..M {
                let mut half = if single { REGISTERS / 2 } else { 2 };
                while half > 0 {
                    for k in 0..half {
                        lanes[m][k] = lanes[m][k] + lanes[m][k + half];
                    }
                    half /= 2;
                }
                totals[m] += lanes[m][0].sum().to_f64();
            }
        }
    }
    totals
}

/// `r = f` of the elements, `N` registers at a time, while at least `N` registers of elements are left. Returns the index where it stopped.
///
/// # Safety
/// As for [`map`].
#[inline(always)]
unsafe fn map_by<V: Partial, const K: usize, const N: usize>(
    r: *mut Item<V>,
    x: [*const Item<V>; K],
    (mut at, n): (usize, usize),
    f: impl Fn([V; K]) -> V,
) -> usize {
    while n - at >= N * V::LANES {
        // All are read before any is written, since the result may be an operand.
        let mut y = [V::all(Element::ZERO); N];
        for k in 0..N {
            // SAFETY: the caller keeps this function's contract.
            y[k] = f(unsafe { load(x, at + k * V::LANES) });
        }
        for k in 0..N {
            // SAFETY: the caller keeps this function's contract.
            unsafe { y[k].store(r.add(at + k * V::LANES)) };
        }
        at += N * V::LANES;
    }
    at
}

/// `r[i] = f(x[0][i], x[1][i], ...)`
///
/// # Safety
/// All must hold `n` elements; `r` must be an operand or overlap none; as for [`Register`].
#[inline(always)]
pub unsafe fn map<V: Partial, const K: usize>(r: *mut Item<V>, x: [*const Item<V>; K], n: usize, f: impl Fn([V; K]) -> V + Copy) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let single = V::LANES == 1;
        let at = if single { map_by::<V, K, REGISTERS>(r, x, (0, n), f) } else { map_by::<V, K, 2>(r, x, (0, n), f) };
        let at = map_by::<V, K, 1>(r, x, (at, n), f);
        if at < n {
            f(load_first(x, [V::all(Element::ZERO); K], at, n - at)).store_first(r.add(at), n - at);
        }
    }
}

/// Sums of columns: of a few rows in the elements' type, then in float64.
pub struct ColumnSums<T> {
    few: *mut T,
    sums: *mut f64,
    width: usize,
    rows: usize,
}

impl<T: Real> ColumnSums<T> {
    /// Returns sums of 0.
    ///
    /// # Safety
    /// `few` and `sums` must have room for `width` elements, which only this value may use while it exists.
    #[inline(always)]
    pub unsafe fn new(few: *mut T, sums: *mut f64, width: usize) -> Self {
        for j in 0..width {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                few.add(j).write(T::ZERO);
                sums.add(j).write(0.0);
            }
        }
        ColumnSums { few, sums, width, rows: 0 }
    }

    /// Adds `f` of the elements of a row.
    ///
    /// # Safety
    /// The operands must hold as many elements as there are columns; as for [`Register`].
    #[inline(always)]
    pub unsafe fn add<V: Partial<Item = T>, const K: usize>(&mut self, x: [*const T; K], f: impl Fn([V; K]) -> V + Copy) {
        if self.rows == ROWS {
            self.finish();
        }
        self.rows += 1;
        let (few, n) = (self.few, self.width);
        let mut at = 0;
        // SAFETY: the caller keeps this function's contract; the caller of `new` gave room for the sums, which overlap no operand.
        unsafe {
            let step = if V::LANES == 1 { 8 } else { 2 };
            while n - at >= step * V::LANES {
                let mut y = [V::all(T::ZERO); 8];
                for k in 0..step {
                    y[k] = V::load(few.add(at + k * V::LANES)) + f(load(x, at + k * V::LANES));
                }
                for k in 0..step {
                    y[k].store(few.add(at + k * V::LANES));
                }
                at += step * V::LANES;
            }
            let none = V::all(T::ZERO);
            while at < n {
                let sum = none.load_first(few.add(at), n - at) + f(load_first(x, [none; K], at, n - at));
                sum.store_first(few.add(at), n - at);
                at += V::LANES;
            }
        }
    }

    /// Adds the sums of the last rows to the sums in float64.
    #[inline(always)]
    pub fn finish(&mut self) {
        self.rows = 0;
        for j in 0..self.width {
            // SAFETY: the caller of `new` gave room for `width` elements.
            unsafe {
                *self.sums.add(j) += self.few.add(j).read().to_f64();
                self.few.add(j).write(T::ZERO);
            }
        }
    }
}
