//! Softmax of lines that are columns, in three passes over the rows: the greatest elements, exponentials and sums, and the results.
//!
//! Panels stay in the L2 cache from one pass to the next. Exponentials take so long that the next panel can be prefetched meanwhile.

use super::{Item, Kind, exp_ahead, usable};
use crate::cpu::lines::{ColumnBlock, MAX_COLUMNS};
use crate::cpu::real::Real;
use crate::cpu::simd::{Isa, Level, simd};
use crate::cpu::stream;
use crate::cpu::tuning::SOFTMAX_AHEAD;
use crate::cpu::vector::{Partial, Scalar, Vectored};
use crate::dtype::Element;
use std::mem::MaybeUninit;

/// The maximum number of lines in a panel.
pub(crate) const MOST_COLUMNS: usize = 256;

/// Returns the maximum number of elements in a panel. With the next panel and the results they stay in the L2 cache.
pub fn most_area(kind: Kind) -> usize {
    if kind.reduces() { 128 << 10 } else { 64 << 10 }
}

/// Rows of a panel that are read or summed together.
const ROWS: usize = 4;
/// Rows of a panel summed in their own type.
const SUMMED: usize = 64;

/// A number for each line of a panel.
struct Columns<T>(MaybeUninit<[T; MAX_COLUMNS]>);

impl<T: Copy> Columns<T> {
    const fn new() -> Columns<T> {
        Columns(MaybeUninit::uninit())
    }

    /// Sets the numbers of `width` lines to `x` and returns them.
    #[inline(always)]
    fn filled(&mut self, x: T, width: usize) -> *mut T {
        let data = self.0.as_mut_ptr().cast::<T>();
        // SAFETY: a panel has at most MAX_COLUMNS lines.
        (0..width).for_each(|j| unsafe { data.add(j).write(x) });
        data
    }
}

/// Returns rows from `i` on of the elements and of the result: up to [`ROWS`] rows. After the last row, the last row is repeated.
#[inline(always)]
fn rows<T>(p: ColumnBlock, i: usize) -> [(*const T, *mut T); ROWS] {
    std::array::from_fn(|k| {
        let i = (i + k).min(p.n - 1) as isize;
        (p.x.wrapping_offset(i * p.x_step).cast(), p.out[0].wrapping_offset(i * p.out_step[0]).cast())
    })
}

/// Calls `f` with the index of the first element of each register of `n` elements, and the number of elements in the register.
#[inline(always)]
fn each<V: Partial<Item: Real>>(n: usize, f: impl Fn(usize, usize)) {
    let whole = n / V::LANES * V::LANES;
    for at in (0..whole).step_by(V::LANES) {
        f(at, V::LANES);
    }
    if whole < n {
        f(whole, n - whole);
    }
}

/// `r[j] = f(x[j], ...)` for the columns of some rows.
///
/// # Safety
/// All must hold `n` elements; each row must be `r` or not overlap it.
#[inline(always)]
unsafe fn apply<V: Partial<Item: Real>, const N: usize>(r: *mut Item<V>, x: [*const Item<V>; N], n: usize, f: impl Fn([V; N]) -> V) {
    each::<V>(
        n,
        #[inline(always)]
        |at, count| {
            let mut values = [V::all(Element::ZERO); N];
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                for k in 0..N {
                    values[k] = values[k].load_first(x[k].add(at), count);
                }
                f(values).store_first(r.add(at), count);
            }
        },
    )
}

/// Computes lines that are the columns of a panel.
pub fn columns<T: Real + Vectored>(kind: Kind, p: ColumnBlock) {
    simd(
        #[inline(always)]
        // SAFETY: the driver passes a panel, and the processor has the level.
        move |isa| unsafe {
            if isa.level() == Level::Avx512 { columns_by::<T::Avx512>(isa, kind, p) } else { columns_by::<Scalar<T>>(isa, kind, p) }
        },
    )
}

/// [`columns`] by registers `V`.
///
/// # Safety
/// The panel must be as the driver passes it, with these elements; the processor must have the instruction set.
#[inline(always)]
unsafe fn columns_by<V: Partial<Item: Real>>(isa: Isa, kind: Kind, p: ColumnBlock) {
    let (mut most, mut by) = (Columns::<Item<V>>::new(), Columns::<Item<V>>::new());
    let (most, by) = (most.filled(Element::from_f64(f64::NEG_INFINITY), p.width), by.filled(Element::ZERO, p.width));
    // SAFETY: the driver passes `n` rows of at most MAX_COLUMNS elements, and as many result rows or one, which do not overlap.
    unsafe {
        for i in (0..p.n).step_by(ROWS) {
            for (x, _) in rows::<Item<V>>(p, i + SOFTMAX_AHEAD) {
                stream::prefetch(x.cast(), p.width * size_of::<Item<V>>());
            }
            let [a, b, c, d] = rows(p, i).map(|row| row.0);
            apply::<V, 5>(
                most,
                [a, b, c, d, most],
                p.width,
                #[inline(always)]
                |[a, b, c, d, most]| a.greater(b).greater(c.greater(d)).greater(most),
            );
        }
        (0..p.width).for_each(|j| most.add(j).write(usable(kind, most.add(j).read())));
        sum_rows::<V>(isa, kind, p, most, by);
        if kind == Kind::Softmax {
            (0..p.width).for_each(|j| by.add(j).write(Item::<V>::from_f64(1.0) / by.add(j).read()));
        } else {
            Item::<V>::log_run(isa, by, by, p.width);
        }
        finish::<V>(kind, p, most, by);
    }
}

/// Computes the sum of `e^(x - most)` of each line. Softmax also stores the exponentials in its result.
///
/// # Safety
/// `most` and `sums` must hold a number for each line of the panel, `sums` zeros; otherwise as for [`columns_by`].
#[inline(always)]
unsafe fn sum_rows<V: Partial<Item: Real>>(isa: Isa, kind: Kind, p: ColumnBlock, most: *const Item<V>, sums: *mut Item<V>) {
    let (mut totals, mut nothing, mut buffer) =
        (Columns::<f64>::new(), Columns::<Item<V>>::new(), MaybeUninit::<[Item<V>; ROWS * MAX_COLUMNS]>::uninit());
    let (totals, nothing, buffer) =
        (totals.filled(0.0, p.width), nothing.filled(Element::ZERO, p.width), buffer.as_mut_ptr().cast::<Item<V>>());
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        for i in (0..p.n).step_by(ROWS) {
            let (now, ahead, mut e) = (rows::<Item<V>>(p, i), rows::<Item<V>>(p, i + ROWS), [nothing; ROWS]);
            for k in 0..ROWS.min(p.n - i) {
                let (x, out) = now[k];
                e[k] = if kind == Kind::Softmax { out } else { buffer.add(k * p.width) };
                apply::<V, 2>(
                    e[k],
                    [x, most],
                    p.width,
                    #[inline(always)]
                    |[x, most]| x - most,
                );
                let next = [x.cast::<u8>().wrapping_offset(p.ahead), ahead[k].1.cast_const().cast()];
                exp_ahead(isa, e[k], p.width, if kind.reduces() { &next[..1] } else { &next });
            }
            apply::<V, 5>(
                sums,
                [e[0], e[1], e[2], e[3], sums],
                p.width,
                #[inline(always)]
                |[a, b, c, d, sum]| sum + ((a + b) + (c + d)),
            );
            if (i + ROWS).is_multiple_of(SUMMED) || i + ROWS >= p.n {
                (0..p.width).for_each(|j| totals.add(j).write(totals.add(j).read() + sums.add(j).read().to_f64()));
                (0..p.width).for_each(|j| sums.add(j).write(Element::ZERO));
            }
        }
        (0..p.width).for_each(|j| sums.add(j).write(Element::from_f64(totals.add(j).read())));
    }
}

/// Computes the results of a panel: exponentials times `by`, or elements minus maxima and `by`, or the sums of both.
///
/// # Safety
/// `most` and `by` must hold a number for each line of the panel; otherwise as for [`columns_by`].
#[inline(always)]
unsafe fn finish<V: Partial<Item: Real>>(kind: Kind, p: ColumnBlock, most: *const Item<V>, by: *const Item<V>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let [out, second] = p.out.map(|out| out.cast::<Item<V>>());
        if kind == Kind::Parts {
            most.copy_to_nonoverlapping(out, p.width);
            return by.copy_to_nonoverlapping(second, p.width);
        }
        if kind == Kind::LogSumExp {
            return (0..p.width).for_each(|j| out.add(j).write(by.add(j).read().add(most.add(j).read())));
        }
        for i in 0..p.n {
            let (x, out) = rows::<Item<V>>(p, i)[0];
            if kind == Kind::Softmax {
                apply::<V, 2>(
                    out,
                    [out, by],
                    p.width,
                    #[inline(always)]
                    |[e, by]| e * by,
                );
            } else {
                apply::<V, 3>(
                    out,
                    [x, most, by],
                    p.width,
                    #[inline(always)]
                    |[x, most, by]| x - most - by,
                );
            }
        }
    }
}
