//! The gradient of softmax and of its logarithm, from the result and its gradient.

use super::Kind;
use crate::cpu::engine::{COSTLY, Shared, parallel};
use crate::cpu::real::Real;
use crate::cpu::simd::{Isa, simd};
use crate::cpu::sweep::{ColumnSums, Item, map, sums};
use crate::cpu::tuning::SHORT_LINES;
use crate::cpu::vector::{Partial, Vectored, with_register};
use crate::dtype::Element;
use crate::launch::layers::LineShape as Shape;
use std::mem::MaybeUninit;

/// The maximum number of columns in a block, and of elements in a piece.
const PIECE: usize = 256;

/// The result, its gradient, and the gradient of the input.
#[derive(Clone, Copy)]
struct Operands<T> {
    r: *mut T,
    g: *const T,
    y: *const T,
}

impl<T> Operands<T> {
    #[inline(always)]
    fn at(self, index: usize) -> Self {
        Operands { r: self.r.wrapping_add(index), g: self.g.wrapping_add(index), y: self.y.wrapping_add(index) }
    }
}

/// Computes one contiguous line.
///
/// # Safety
/// The operands must hold `n` elements; as for [`Register`](crate::cpu::vector::Register).
#[inline(always)]
unsafe fn line<V: Partial<Item: Real>>(isa: Isa, kind: Kind, Operands { r, g, y }: Operands<Item<V>>, n: usize) {
    let none = V::all(Element::ZERO);
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if kind == Kind::Softmax {
            let [total] = sums::<V, 2, 1>(
                [g, y],
                [none; 2],
                n,
                #[inline(always)]
                |[g, y]| [g * y],
            );
            let total = V::all(Element::from_f64(total));
            return map::<V, 2>(
                r,
                [g, y],
                n,
                #[inline(always)]
                |[g, y]| y * (g - total),
            );
        }
        let [total] = sums::<V, 1, 1>(
            [g],
            [none],
            n,
            #[inline(always)]
            |[g]| [g],
        );
        let total = V::all(Element::from_f64(total));
        let mut buffer = MaybeUninit::<[Item<V>; PIECE]>::uninit();
        let e = buffer.as_mut_ptr().cast::<Item<V>>();
        for at in (0..n).step_by(PIECE) {
            let piece = PIECE.min(n - at);
            Item::<V>::exp_run(isa, e, y.add(at), piece);
            map::<V, 2>(
                r.add(at),
                [g.add(at), e],
                piece,
                #[inline(always)]
                |[g, e]| g - e * total,
            );
        }
    }
}

/// Computes lines side by side, at most [`PIECE`] of them.
///
/// # Safety
/// The operands must hold `n` rows of `width` elements, `step` apart; as for [`line`].
#[inline(always)]
unsafe fn columns<V: Partial<Item: Real>>(isa: Isa, kind: Kind, all: Operands<Item<V>>, (n, step, width): (usize, usize, usize)) {
    let (mut few, mut wide) = (MaybeUninit::<[Item<V>; PIECE]>::uninit(), [0f64; PIECE]);
    let few = few.as_mut_ptr().cast::<Item<V>>();
    // SAFETY: the caller keeps this function's contract; there is room for PIECE columns.
    unsafe {
        let mut sums = ColumnSums::new(few, wide.as_mut_ptr(), width);
        for i in 0..n {
            let Operands { g, y, .. } = all.at(i * step);
            if kind == Kind::Softmax {
                sums.add::<V, 2>(
                    [g, y],
                    #[inline(always)]
                    |[g, y]| g * y,
                );
            } else {
                sums.add::<V, 1>(
                    [g],
                    #[inline(always)]
                    |[g]| g,
                );
            }
        }
        sums.finish();
        for j in 0..width {
            few.add(j).write(Element::from_f64(wide[j]));
        }
        let mut buffer = MaybeUninit::<[Item<V>; PIECE]>::uninit();
        let e = buffer.as_mut_ptr().cast::<Item<V>>();
        for i in 0..n {
            let Operands { r, g, y } = all.at(i * step);
            if kind == Kind::Softmax {
                map::<V, 3>(
                    r,
                    [g, y, few],
                    width,
                    #[inline(always)]
                    |[g, y, total]| y * (g - total),
                );
            } else {
                Item::<V>::exp_run(isa, e, y, width);
                map::<V, 3>(
                    r,
                    [g, e, few],
                    width,
                    #[inline(always)]
                    |[g, e, total]| g - e * total,
                );
            }
        }
    }
}

/// Computes block `k` of the lines.
///
/// # Safety
/// As for [`gradient`].
#[inline(always)]
unsafe fn block<V: Partial<Item: Real>>(isa: Isa, kind: Kind, all: Operands<Item<V>>, shape: Shape, k: usize) {
    let Shape { outer, n, inner } = shape;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if inner == 1 {
            let lines = lines_of_block(n);
            for i in k * lines..outer.min((k + 1) * lines) {
                line::<V>(isa, kind, all.at(i * n), n);
            }
            return;
        }
        let across = inner.div_ceil(PIECE);
        let (outer, first) = (k / across, k % across * PIECE);
        columns::<V>(isa, kind, all.at(outer * n * inner + first), (n, inner, PIECE.min(inner - first)));
    }
}

fn lines_of_block(n: usize) -> usize {
    (SHORT_LINES / n.max(1)).max(1)
}

/// `r = y * (g - sum(g * y))` along lines, or, for the logarithm, `r = g - e^y * sum(g)`.
///
/// # Safety
/// All must be row-major and of this shape; `r` must be `g` or `y`, or overlap neither.
pub unsafe fn gradient<T: Real + Vectored>(kind: Kind, r: *mut T, g: *const T, y: *const T, shape: Shape) {
    let Shape { outer, n, inner } = shape;
    let [at_r, at_g, at_y] = [r.cast(), g.cast_mut().cast(), y.cast_mut().cast()].map(Shared);
    let blocks = if inner == 1 { outer.div_ceil(lines_of_block(n)) } else { outer * inner.div_ceil(PIECE) };
    let area = if inner == 1 { lines_of_block(n) * n } else { n * PIECE.min(inner) };
    parallel(blocks, area, COSTLY, &|range| {
        let all = Operands { r: at_r.get().cast::<T>(), g: at_g.get().cast_const().cast(), y: at_y.get().cast_const().cast() };
        simd(
            #[inline(always)]
            move |isa| {
                for k in range {
                    // SAFETY: the caller keeps this function's contract, and the processor has the level.
                    unsafe { with_register!(isa, T => block(isa, kind, all, shape, k)) }
                }
            },
        );
    });
}
