//! Fourier transforms of lines, with the plans of rustfft and realfft; complex numbers are pairs of floats.

use super::room::{Elements, Room};
use crate::alloc;
use crate::dtype::Element;
use crate::error::{Error, Kind, Result};
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
pub use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Arc, Mutex};

/// Elements of lines that lie apart are brought together so many at a time.
const GATHERED: usize = 32 * 1024;
/// Lines of them: a line of the cache, and no more than pays.
const LINES: (usize, usize) = (4, 16);
/// Elements transformed by a part of the work.
const PART: usize = 16 * 1024;
/// Plans are kept for so many elements in all.
const KEPT: usize = 2 << 20;
/// Complex numbers that planning takes for each element, at most, and besides: 10.6 were measured, for 524287 elements.
const PLANNED: (usize, usize) = (12, 4096);

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Forward,
    Inverse,
    FromReal,
    ToReal,
}

/// A plan, which takes longer to make than to use.
pub enum Plan<T: Float> {
    /// Of complex lines.
    Complex(Arc<dyn Fft<T>>),
    /// Of real lines to the first half of complex ones.
    FromReal(Arc<dyn RealToComplex<T>>),
    /// The inverse of that.
    ToReal(Arc<dyn ComplexToReal<T>>),
}

impl<T: Float> Clone for Plan<T> {
    fn clone(&self) -> Self {
        match self {
            Plan::Complex(plan) => Plan::Complex(plan.clone()),
            Plan::FromReal(plan) => Plan::FromReal(plan.clone()),
            Plan::ToReal(plan) => Plan::ToReal(plan.clone()),
        }
    }
}

/// Plans that were made, the last ones at the end.
type Plans<T> = Mutex<Vec<(Sort, usize, Plan<T>)>>;

/// The floats transforms are computed in.
pub trait Float: Element + FftNum {
    /// Their plans.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn plans() -> &'static Plans<Self>;
}

macro_rules! floats {
    ($($T:ident)*) => { $(
        impl Float for $T {
            #[allow(private_interfaces)]
            fn plans() -> &'static Plans<$T> {
                static PLANS: Plans<$T> = Mutex::new(Vec::new());
                &PLANS
            }
        }
    )* };
}
floats!(f32 f64);

impl<T: Float> Plan<T> {
    /// Of complex lines of `n` elements.
    pub fn complex(n: usize, inverse: bool) -> Result<Plan<T>> {
        Plan::find(if inverse { Sort::Inverse } else { Sort::Forward }, n)
    }

    /// Of real lines of `n` elements.
    pub fn from_real(n: usize) -> Result<Plan<T>> {
        Plan::find(Sort::FromReal, n)
    }

    /// To real lines of `n` elements.
    pub fn to_real(n: usize) -> Result<Plan<T>> {
        Plan::find(Sort::ToReal, n)
    }

    /// One that was made before, or a new one. Where another thread looks at the list, this one does not wait: it may be a thread that a fork left
    /// behind.
    fn find(sort: Sort, n: usize) -> Result<Plan<T>> {
        if let Ok(plans) = T::plans().try_lock()
            && let Some((.., plan)) = plans.iter().find(|(s, m, _)| (*s, *m) == (sort, n))
        {
            return Ok(plan.clone());
        }
        let numbers = n.saturating_mul(PLANNED.0).saturating_add(PLANNED.1);
        // The planner does not bear to be refused memory.
        let planned = alloc::provided(numbers.saturating_mul(size_of::<Complex<T>>()), || match sort {
            Sort::Forward => Plan::Complex(FftPlanner::new().plan_fft(n, FftDirection::Forward)),
            Sort::Inverse => Plan::Complex(FftPlanner::new().plan_fft(n, FftDirection::Inverse)),
            Sort::FromReal => Plan::FromReal(RealFftPlanner::new().plan_fft_forward(n)),
            Sort::ToReal => Plan::ToReal(RealFftPlanner::new().plan_fft_inverse(n)),
        });
        let (plan, lent) = planned.ok_or_else(no_memory)?;
        if n <= KEPT
            && !lent
            && let Ok(mut plans) = T::plans().try_lock()
        {
            while !plans.is_empty() && plans.iter().map(|(_, m, _)| m).sum::<usize>() + n > KEPT {
                plans.remove(0);
            }
            plans.push((sort, n, plan.clone()));
        }
        Ok(plan)
    }

    /// Elements of a line.
    fn len(&self) -> usize {
        match self {
            Plan::Complex(plan) => plan.len(),
            Plan::FromReal(plan) => plan.len(),
            Plan::ToReal(plan) => plan.len(),
        }
    }

    /// Memory for `lines` lines that lie one after the other. Real transforms change what they read, which is a copy of the line or of its half.
    pub fn room_for_lines(&self, lines: usize) -> Result<Room> {
        let numbers = match self {
            Plan::Complex(plan) => plan.get_immutable_scratch_len(),
            Plan::FromReal(plan) => plan.get_scratch_len() + self.len() / 2 + 1,
            Plan::ToReal(plan) => plan.get_scratch_len() + self.len() / 2 + 1,
        };
        let bytes = numbers.checked_mul(size_of::<Complex<T>>());
        bytes.and_then(|bytes| Room::new(bytes, self.parts(lines))).ok_or_else(no_memory)
    }

    /// Memory for [`Plan::run_columns`].
    pub fn room_for_columns(&self, blocks: usize, columns: usize) -> Result<Room> {
        let scratch = if let Plan::Complex(plan) = self { plan.get_inplace_scratch_len() } else { 0 };
        let together = self.together(columns);
        let numbers = self.len().checked_mul(together).and_then(|n| n.checked_add(scratch));
        let bytes = numbers.and_then(|n| n.checked_mul(size_of::<Complex<T>>()));
        bytes.and_then(|bytes| Room::new(bytes, blocks * columns.div_ceil(together))).ok_or_else(no_memory)
    }

    /// Lines that are brought together at a time, of `columns`.
    fn together(&self, columns: usize) -> usize {
        (GATHERED / self.len()).clamp(LINES.0, LINES.1).min(columns)
    }

    /// Parts of so many lines.
    fn lines_of_part(&self) -> usize {
        (PART / self.len()).max(1)
    }

    /// Parts that lines one after the other are cut into.
    fn parts(&self, lines: usize) -> usize {
        lines.div_ceil(self.lines_of_part())
    }

    /// Transforms `lines` complex lines of `x` to `r`, and multiplies them.
    ///
    /// # Safety
    /// Both sides have as many lines and lie apart; nobody else touches `r`.
    pub unsafe fn run(&self, room: &Room, r: *mut Complex<T>, x: *const Complex<T>, lines: usize, factor: T) {
        let Plan::Complex(plan) = self else { return };
        let (n, step, r, x) = (self.len(), self.lines_of_part(), Elements(r), Elements(x.cast_mut()));
        room.each::<Complex<T>>(self.parts(lines), &|part, tile| {
            for line in part * step..lines.min((part + 1) * step) {
                // SAFETY: the caller's; each line is one thread's, and the room is for what it needs.
                unsafe {
                    let to = from_raw_parts_mut(r.at(line * n), n);
                    let scratch = from_raw_parts_mut(tile, plan.get_immutable_scratch_len());
                    plan.process_immutable_with_scratch(from_raw_parts(x.at(line * n), n), to, scratch);
                    scale(to, factor);
                }
            }
        });
    }

    /// Transforms, in place, the lines of `blocks` matrices with as many rows as a line has elements: their columns.
    ///
    /// # Safety
    /// There are the elements, and nobody else touches them.
    pub unsafe fn run_columns(&self, room: &Room, r: *mut Complex<T>, blocks: usize, columns: usize, factor: T) {
        let Plan::Complex(plan) = self else { return };
        let (n, together, r) = (self.len(), self.together(columns), Elements(r));
        let parts = columns.div_ceil(together);
        room.each::<Complex<T>>(blocks * parts, &|part, tile| {
            let first = part % parts * together;
            let count = together.min(columns - first);
            let block = r.at(part / parts * n * columns + first);
            // SAFETY: the caller's; each column is one thread's, and the room is for so many lines.
            unsafe {
                for i in 0..n {
                    (0..count).for_each(|k| tile.add(k * n + i).write(*block.add(i * columns + k)));
                }
                let lines = from_raw_parts_mut(tile, count * n);
                let scratch = from_raw_parts_mut(tile.add(together * n), plan.get_inplace_scratch_len());
                plan.process_with_scratch(lines, scratch);
                scale(lines, factor);
                for i in 0..n {
                    (0..count).for_each(|k| block.add(i * columns + k).write(*tile.add(k * n + i)));
                }
            }
        });
    }

    /// Transforms real lines of `x` to the first halves of complex lines of `r`.
    ///
    /// # Safety
    /// As for [`Plan::run`]; the sides lie apart.
    pub unsafe fn run_from_real(&self, room: &Room, r: *mut Complex<T>, x: *const T, lines: usize, factor: T) {
        let Plan::FromReal(plan) = self else { return };
        let (n, step, r, x) = (self.len(), self.lines_of_part(), Elements(r), Elements(x.cast_mut()));
        let half = n / 2 + 1;
        room.each::<Complex<T>>(self.parts(lines), &|part, tile| {
            for line in part * step..lines.min((part + 1) * step) {
                // SAFETY: the caller's; each line is one thread's, and the room is for one and what it needs.
                unsafe {
                    let from = tile.add(plan.get_scratch_len()).cast::<T>();
                    from.copy_from_nonoverlapping(x.at(line * n), n);
                    let to = from_raw_parts_mut(r.at(line * half), half);
                    // Only lengths that do not fit would fail.
                    _ = plan.process_with_scratch(from_raw_parts_mut(from, n), to, from_raw_parts_mut(tile, plan.get_scratch_len()));
                    scale(to, factor);
                }
            }
        });
    }

    /// Transforms the first halves of complex lines of `x`, `apart` elements apart, to real lines of `r`.
    ///
    /// # Safety
    /// As for [`Plan::run`]; the sides lie apart.
    pub unsafe fn run_to_real(&self, room: &Room, r: *mut T, x: *const Complex<T>, apart: usize, lines: usize, factor: T) {
        let Plan::ToReal(plan) = self else { return };
        let (n, step, r, x) = (self.len(), self.lines_of_part(), Elements(r), Elements(x.cast_mut()));
        let half = n / 2 + 1;
        room.each::<Complex<T>>(self.parts(lines), &|part, tile| {
            for line in part * step..lines.min((part + 1) * step) {
                // SAFETY: as above.
                unsafe {
                    let from = tile.add(plan.get_scratch_len());
                    from.copy_from_nonoverlapping(x.at(line * apart), half);
                    let from = from_raw_parts_mut(from, half);
                    // The first and the middle element of a real signal's transform are real.
                    from[0].im = T::zero();
                    if n % 2 == 0 {
                        from[half - 1].im = T::zero();
                    }
                    let to = from_raw_parts_mut(r.at(line * n), n);
                    // Only lengths that do not fit would fail.
                    _ = plan.process_with_scratch(from, to, from_raw_parts_mut(tile, plan.get_scratch_len()));
                    if factor != T::one() {
                        to.iter_mut().for_each(|x| *x = Element::mul(*x, factor));
                    }
                }
            }
        });
    }
}

fn no_memory() -> Error {
    Error::new(Kind::NoMem, format_args!("no memory for a Fourier transform"))
}

fn scale<T: Float>(line: &mut [Complex<T>], factor: T) {
    if factor != T::one() {
        line.iter_mut().for_each(|z| (z.re, z.im) = (Element::mul(z.re, factor), Element::mul(z.im, factor)));
    }
}
