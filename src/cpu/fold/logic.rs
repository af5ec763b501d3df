//! The folds that test whether any element, or every element, is true.

use super::Reducer;
use crate::cpu::simd::Isa;
use crate::dtype::{Bool, Dtype, Element};
use std::ops::BitAnd;

/// The fold that tests whether every (`ALL`) or any element is not 0. Elements are read as integers of their width; a float is not 0 if a
/// bit except the sign is set. A lane records whether it has seen an element that decides the result; the fold stops there.
#[derive(Clone, Copy)]
pub struct Logic<T, const ALL: bool>(pub T);

impl<T: Element + BitAnd<Output = T>, const ALL: bool> Reducer for Logic<T, ALL> {
    type In = T;
    type A = u8;
    type B = ();
    type S = u8;
    type U = ();
    type Out = Bool;
    type Other = ();
    /// Elements that a lane accumulates before the fold checks whether the result is decided.
    const CAPACITY: usize = 64;
    #[inline(always)]
    fn reads(self, compute: Dtype) -> Dtype {
        compute
    }
    #[inline(always)]
    fn empty(self) -> (u8, ()) {
        (0, ())
    }
    #[inline(always)]
    fn accumulate(self, _: Isa, lane: (u8, ()), x: T) -> (u8, ()) {
        (lane.0 | ((x & self.0 == T::ZERO) == ALL) as u8, ())
    }
    #[inline(always)]
    fn state(self, lane: (u8, ())) -> (u8, ()) {
        lane
    }
    #[inline(always)]
    fn merge(self, a: (u8, ()), b: (u8, ())) -> (u8, ()) {
        (a.0 | b.0, ())
    }
    #[inline(always)]
    fn finish(self, state: (u8, ()), _: usize) -> (Bool, ()) {
        (((state.0 != 0) != ALL).into(), ())
    }
    #[inline(always)]
    fn is_decided(self, state: (u8, ())) -> bool {
        state.0 != 0
    }
}
