//! Copies, and what moves elements.

use super::writing::{cleared, followed_by_zeros, into_zeros};
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::layout::{Dims, wrap_dim};

derivatives! {
    /// The derivatives of operations that move elements. Views have none: `geometry` has theirs.
    STRUCTURE:

    // Copies.
    copy { t: |g| g; }
    freeCopyTo { t: |g| g; }
    newClone { t: |g| g; }
    newCloneFormat { t: |g| g; }
    newContiguous { t: |g| g; }
    newContiguousFormat { t: |g| g; }
    newTo { t: |g| g; }
    newReshape { t: |g, t: like| reshape(g, &t.shape); }
    newFlatten { t: |g, t: like| reshape(g, &t.shape); }

    copyAsync { src: |g| g; }
    newToDevice { t: |g, t: like| back_to(g, &t); }
    newCuda { t: |g, t: like| back_to(g, &t); }
    newCpu { t: |g, t: like| back_to(g, &t); }
    newPinned { t: |g| g; }

    // Single elements.
    setAt { t: |g, index: list| cleared(g, &names::setAt::FUNCTION, &[index.into(), 0.0.into()]); }
    setAtLong { t: |g, index: list| cleared(g, &names::setAt::FUNCTION, &[index.into(), 0.0.into()]); }
    set1d { t: |g, x0: i64| cleared(g, &names::setAt::FUNCTION, &[(&[x0][..]).into(), 0.0.into()]); }
    set2d { t: |g, x0: i64, x1: i64| cleared(g, &names::setAt::FUNCTION, &[(&[x0, x1][..]).into(), 0.0.into()]); }
    set3d { t: |g, x0: i64, x1: i64, x2: i64| cleared(g, &names::setAt::FUNCTION, &[(&[x0, x1, x2][..]).into(), 0.0.into()]); }
    set4d {
        t: |g, x0: i64, x1: i64, x2: i64, x3: i64| cleared(g, &names::setAt::FUNCTION, &[(&[x0, x1, x2, x3][..]).into(), 0.0.into()]);
    }
    set5d {
        t: |g, x0: i64, x1: i64, x2: i64, x3: i64, x4: i64|
            cleared(g, &names::setAt::FUNCTION, &[(&[x0, x1, x2, x3, x4][..]).into(), 0.0.into()]);
    }

    // Joining.
    cat { each(a, b): |call, a: shapes, b: shapes, dimension: i32| cut(call, &[(a, 0), (b, 0)], dimension); }
    catArray { each(tensors): |call, tensors: shapes, dimension: i32| cut(call, &all(call, tensors), dimension); }
    stack {
        each(tensors): |call, tensors: shapes, dimension: i32|
            all(call, tensors).iter().for_each(|&(at, i)| call.give_at(at, i, select(call.g(), dimension, i as i64)));
    }

    // Rearranging.
    flip { t: |g, dims: list| flip(g, dims); }
    roll {
        t: |g, shifts: list, dims: list| {
            let back: Dims = shifts.iter().map(|&n| n.wrapping_neg()).collect();
            g.scope.call(&names::roll::FUNCTION, &[g.into(), (&back).into(), if dims.is_empty() { In::Null } else { dims.into() }])
        };
    }
    rot90 {
        t: |g, k: i64, dimension1: i32, dimension2: i32|
            g.scope.call(&names::rot90::FUNCTION, &[g.into(), k.wrapping_neg().into(), dimension1.into(), dimension2.into()]);
    }
    tril { t: |g, k: i64| tril(g, k); }
    triu { t: |g, k: i64| triu(g, k); }
    diagEmbed { t: |g, offset: i64, dim1: i32, dim2: i32| diagonal(g, offset, dim1, dim2); }
    diag { t: |g, t: like, k: i64| if t.shape.len() == 1 { diagonal(g, k, 0, 1) } else { diagonal_of(g, &t, k) }; }

    // Elements by index.
    indexSelect {
        t: |g, t: like, dimension: i32, index| into_zeros(g, &t, &names::indexAdd::FUNCTION, &[dimension.into(), index.into(), g.into()]);
    }
    gather {
        t: |g, t: like, dimension: i32, index| into_zeros(g, &t, &names::scatterAdd::FUNCTION, &[dimension.into(), index.into(), g.into()]);
    }
    take { t: |g, t: like, index| into_zeros(g, &t, &names::put::FUNCTION, &[index.into(), g.into(), true.into()]); }
    maskedSelect {
        t: |g, t: like, mask| {
            let shape = broadcast(&t.shape, &mask.shape());
            into_zeros(g, &Like { shape, ..t }, &names::maskedScatter::FUNCTION, &[mask.into(), g.into()])
        };
    }
    indexFill { t: |g, dimension: i32, index| cleared(g, &names::indexFill::FUNCTION, &[dimension.into(), index.into(), 0.0.into()]); }
    indexCopy {
        t: |g, dimension: i32, index| cleared(g, &names::indexFill::FUNCTION, &[dimension.into(), index.into(), 0.0.into()]);
        src: |g, dimension: i32, index| index_select(g, dimension, index);
    }
    indexAdd { t: |g| g; src: |g, dimension: i32, index| index_select(g, dimension, index); }
    indexAddScale { t: |g| g; src: |g, dimension: i32, index, scale: f64| index_select(g, dimension, index) * scale; }
    scatterFill { t: |g, dimension: i32, index| cleared(g, &names::scatterFill::FUNCTION, &[dimension.into(), index.into(), 0.0.into()]); }
    scatter {
        t: |g, dimension: i32, index| cleared(g, &names::scatterFill::FUNCTION, &[dimension.into(), index.into(), 0.0.into()]);
        src: |g, src: like, dimension: i32, index| followed_by_zeros(gather(g, dimension, index), &src);
    }
    scatterAdd { t: |g| g; src: |g, src: like, dimension: i32, index| followed_by_zeros(gather(g, dimension, index), &src); }
    maskedCopy { t: |g, mask| or_choose(mask, 0.0, g); src: |g, src: like, mask| chosen(g, &src, mask); }
    maskedScatter { t: |g, mask| or_choose(mask, 0.0, g); src: |g, src: like, mask| chosen(g, &src, mask); }
}

/// `g` on the device of an input.
fn back_to<'s>(g: Value<'s>, t: &Like) -> Value<'s> {
    let (kind, index) = t.device.codes();
    let as_it_is = In::from(0);
    g.scope.call(
        &names::newToDevice::FUNCTION,
        &[g.into(), i32::from(kind).into(), i32::from(index).into(), as_it_is, false.into(), false.into()],
    )
}

/// The places of all entries of the list at a place.
fn all(call: &Call<'_>, at: usize) -> Vec<(usize, usize)> {
    (0..call.entries(at)).map(|i| (at, i)).collect()
}

/// Gives each input its piece of the gradient along a dimension.
fn cut(call: &Call<'_>, inputs: &[(usize, usize)], dimension: i32) {
    let g = call.g();
    let Ok(dim) = wrap_dim(dimension, g.ndim()) else { return };
    let mut first = 0;
    for &(at, i) in inputs {
        let size = call.size_at(at, i).get(dim).copied().unwrap_or(0);
        if call.needs_at(at, i) {
            let piece =
                if call.size_at(at, i).len() == g.ndim() { narrow(g, dimension, first, size) } else { zeros(g, &call.like_at(at, i)) };
            call.give_at(at, i, piece);
        }
        first += size;
    }
}

/// The gradient of a matrix of which a diagonal was taken.
fn diagonal_of<'s>(g: Value<'s>, t: &Like, k: i64) -> Value<'s> {
    let r = zeros(g, t);
    g.scope.write(diagonal(r, k, 0, 1), &names::copy::FUNCTION, &[g.into()]);
    r
}

/// The elements of `g` that came from `src`, one after the other.
fn chosen<'s>(g: Value<'s>, src: &Like, mask: Value<'s>) -> Value<'s> {
    let taken = g.scope.call(&names::maskedSelect::FUNCTION, &[g.into(), mask.into()]);
    let r = zeros(g, &Like { shape: Dims::from(&[src.shape.iter().product()]), ..src.clone() });
    g.scope.write(narrow(r, 0, 0, taken.numel()), &names::copy::FUNCTION, &[taken.into()]);
    reshape(r, &src.shape)
}

fn broadcast(a: &[i64], b: &[i64]) -> Dims {
    crate::layout::broadcast_shape(a, b).unwrap_or_default()
}
