//! The choice of the kernel of a fold.

use super::kernel::FoldKernel;
use super::total::Term;
use super::{
    Abs, Arg, Extreme, Lanes, Logic, MinMax, Moment, NanMean, NonZero, NotNan, Ordered, PairwiseSum, Plain, Powers, Product, Products,
    Square, Squares, Sum, Terms, VectorTerm,
};
use crate::dtype::{Dtype, dispatch};
use crate::error::Result;
use crate::launch::{self, Fold, Root};
use half::{bf16, f16};
use std::marker::PhantomData;

/// A function that is called with the kernel.
type Use<'a> = &'a mut dyn FnMut(&dyn FoldKernel);

/// Calls `f` with the kernel of `fold` for elements that are converted to `compute`.
pub fn with_kernel(fold: Fold, compute: Dtype, f: Use<'_>) -> Result<()> {
    match fold {
        Fold::Sum { term, root, in_float64 } => sum(term, root, in_float64, compute, f)?,
        Fold::NanMean => dispatch!(float, compute, T => f(&Lanes(NanMean::<T>(PhantomData)))),
        Fold::Prod if compute.compute() == Dtype::Float32 => f(&Products),
        Fold::Prod => dispatch!(all, compute, T => f(&Lanes(Product::<T>(PhantomData)))),
        Fold::Powers { p, in_float64 } => dispatch!(float, compute, T => f(&Powers::<T>::new(p, in_float64))),
        Fold::Extreme { max, magnitude: false } => dispatch!(all, compute, T => extreme::<T, false>(max, f)),
        Fold::Extreme { max, magnitude: true } => dispatch!(float, compute, T => extreme::<T, true>(max, f)),
        Fold::MinMax => dispatch!(all, compute, T => f(&MinMax::<T>::default())),
        Fold::ExtremeAt { max: true } => dispatch!(all, compute, T => f(&Arg::<T, true>(PhantomData))),
        Fold::ExtremeAt { max: false } => dispatch!(all, compute, T => f(&Arg::<T, false>(PhantomData))),
        Fold::Moment { correction, root } => dispatch!(float, compute, T => f(&Moment::<T>::new(correction, root))),
        Fold::Logic { all } => logic(all, compute, f),
    }
    Ok(())
}

/// Calls `f` with the kernel of a sum. The terms of integers are the integers themselves.
fn sum(term: launch::Term, root: Root, in_float64: bool, compute: Dtype, f: Use<'_>) -> Result<()> {
    if !compute.is_float() {
        dispatch!(integral, compute, T => f(&Lanes(Sum::<T>(PhantomData))));
        return Ok(());
    }
    let exact = in_float64 || compute == Dtype::Float64;
    match term {
        launch::Term::Plain if exact => terms(Plain, root, compute, f)?,
        launch::Term::Plain => pairwise::<Plain>(compute, root, f),
        launch::Term::Abs if exact => terms(Abs, root, compute, f)?,
        launch::Term::Abs => pairwise::<Abs>(compute, root, f),
        launch::Term::Square if compute == Dtype::Float64 && root == Root::Sqrt => f(&Squares::default()),
        launch::Term::Square if exact => terms(Square, root, compute, f)?,
        launch::Term::Square => pairwise::<Square>(compute, root, f),
        launch::Term::NonZero => terms(NonZero, root, compute, f)?,
        launch::Term::NotNan if exact => terms(NotNan, root, compute, f)?,
        launch::Term::NotNan => pairwise::<NotNan>(compute, root, f),
    }
    Ok(())
}

/// Calls `f` with the kernel of a sum of terms in float64.
fn terms<F: Term>(term: F, root: Root, compute: Dtype, f: Use<'_>) -> Result<()> {
    dispatch!(float, compute, T => f(&Lanes(Terms::<T, _>::new(term, root))));
    Ok(())
}

/// Calls `f` with the kernel of a sum of terms of floats narrower than 64 bits.
fn pairwise<P: VectorTerm>(compute: Dtype, root: Root, f: Use<'_>) {
    match compute {
        Dtype::Float16 => f(&PairwiseSum::<f16, P>::new(root)),
        Dtype::Bfloat16 => f(&PairwiseSum::<bf16, P>::new(root)),
        _ => f(&PairwiseSum::<f32, P>::new(root)),
    }
}

fn extreme<T: Ordered, const MAGNITUDE: bool>(max: bool, f: Use<'_>) {
    match max {
        true => f(&Lanes(Extreme::<T, true, MAGNITUDE>(PhantomData))),
        false => f(&Lanes(Extreme::<T, false, MAGNITUDE>(PhantomData))),
    }
}

/// Calls `f` with the kernel over the bits of elements: all bits of an integer, all except the sign of a float.
pub fn logic(all: bool, compute: Dtype, f: Use<'_>) {
    macro_rules! of {
        ($t:ident) => {{
            let bits: $t = if compute.is_float() { $t::MAX } else { !0 };
            if all { f(&Lanes(Logic::<$t, true>(bits))) } else { f(&Lanes(Logic::<$t, false>(bits))) }
        }};
    }
    match compute.size() {
        1 => of!(u8),
        2 => of!(i16),
        4 => of!(i32),
        _ => of!(i64),
    }
}
