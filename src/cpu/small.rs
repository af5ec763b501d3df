//! Gathers and scatters the few elements of a small operand one by one.

use super::convert::converter;
pub(crate) use super::tuning::SMALL;
use super::tuning::SMALL_RUN;
use crate::dtype::Dtype;
use crate::plan::Plan;
use std::mem::MaybeUninit;

/// A buffer for few elements of any type.
#[repr(align(64))]
pub struct SmallBuffer([MaybeUninit<u64>; SMALL]);

impl SmallBuffer {
    /// Returns an uninitialised buffer.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> SmallBuffer {
        SmallBuffer([MaybeUninit::uninit(); SMALL])
    }

    /// Returns a pointer to the first element.
    pub fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Operand `k` of a plan over at most [`SMALL`] elements.
pub struct Operand<'a, const N: usize> {
    /// The plan that walks the operand.
    pub plan: &'a Plan<N>,
    /// The number of the operand in the plan.
    pub k: usize,
    /// Its first element.
    pub data: *mut u8,
    /// The dtype of its elements in memory.
    pub dtype: Dtype,
}

impl<const N: usize> Operand<'_, N> {
    /// Returns true if the loops of the plan, innermost first, visit consecutive elements.
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        let mut next = self.plan.item[self.k] as isize;
        self.plan.loops().iter().all(|l| {
            let follows = l.step[self.k] == next;
            next *= l.n as isize;
            follows
        })
    }

    /// Writes all `n` elements to `to`, contiguous and of type `wide`.
    ///
    /// # Safety
    /// The plan's positions must be inside the operand, and `to` must have room for `n` elements.
    pub unsafe fn load(&self, wide: Dtype, to: *mut u8, n: usize) {
        let mut buffer = SmallBuffer::new();
        // SAFETY: the caller guarantees the operand and the room at `to`.
        unsafe {
            let from = match () {
                _ if self.is_contiguous() => self.data,
                _ if self.dtype == wide => return self.gather(to),
                _ => {
                    let from = buffer.data();
                    self.gather(from);
                    from
                }
            };
            converter(wide, self.dtype)(to, wide.size() as isize, from, self.dtype.size() as isize, n);
        }
    }

    /// Writes the `n` elements at `from`, which are contiguous and of type `wide`, to their positions in the operand.
    ///
    /// # Safety
    /// As for [`Operand::load`].
    pub unsafe fn store(&self, wide: Dtype, from: *const u8, n: usize) {
        let stored = self.dtype;
        let mut buffer = SmallBuffer::new();
        // SAFETY: the caller guarantees the operand and `n` elements at `from`.
        unsafe {
            let convert = converter(stored, wide);
            if self.is_contiguous() {
                return convert(self.data, stored.size() as isize, from, wide.size() as isize, n);
            }
            let from = if stored == wide {
                from
            } else {
                convert(buffer.data(), stored.size() as isize, from, wide.size() as isize, n);
                buffer.data()
            };
            match stored.size() {
                1 => self.scatter_of::<u8>(from.cast()),
                2 => self.scatter_of::<u16>(from.cast()),
                4 => self.scatter_of::<u32>(from.cast()),
                _ => self.scatter_of::<u64>(from.cast()),
            }
        }
    }

    /// # Safety
    /// As for [`Operand::load`].
    unsafe fn gather(&self, to: *mut u8) {
        // SAFETY: the caller guarantees the operand and the room at `to`.
        unsafe {
            match self.dtype.size() {
                1 => self.gather_of::<u8>(to.cast()),
                2 => self.gather_of::<u16>(to.cast()),
                4 => self.gather_of::<u32>(to.cast()),
                _ => self.gather_of::<u64>(to.cast()),
            }
        }
    }

    /// # Safety
    /// As for [`Operand::load`]; elements must have the size of `T`.
    unsafe fn gather_of<T: Copy>(&self, to: *mut T) {
        let (n, step) = (self.plan.loops()[0].n, self.plan.loops()[0].step[self.k]);
        let mut to = to;
        self.rows(|row| {
            // SAFETY: the caller guarantees the operand and the room at `to`. Reads are unaligned, since foreign memory may be.
            unsafe {
                if n >= SMALL_RUN && step == size_of::<T>() as isize {
                    std::ptr::copy_nonoverlapping(row.cast::<T>(), to, n);
                } else {
                    for i in 0..n {
                        to.add(i).write(row.wrapping_offset(i as isize * step).cast::<T>().read_unaligned());
                    }
                }
                to = to.add(n);
            }
        });
    }

    /// # Safety
    /// As for [`Operand::gather_of`].
    unsafe fn scatter_of<T: Copy>(&self, from: *const T) {
        let (n, step) = (self.plan.loops()[0].n, self.plan.loops()[0].step[self.k]);
        let mut from = from;
        self.rows(|row| {
            // SAFETY: the caller guarantees the operand and the elements at `from`. Writes are unaligned, since foreign memory may be.
            unsafe {
                for i in 0..n {
                    row.wrapping_offset(i as isize * step).cast::<T>().write_unaligned(from.add(i).read());
                }
                from = from.add(n);
            }
        });
    }

    /// Calls `run` with the first element of each run, in the order of the loops.
    #[inline(always)]
    fn rows(&self, mut run: impl FnMut(*mut u8)) {
        let loops = self.plan.loops();
        let (second, step) = loops.get(1).map_or((1, 0), |l| (l.n, l.step[self.k]));
        let outer = loops.get(2..).unwrap_or(&[]);
        for i in 0..outer.iter().map(|l| l.n).product() {
            let (mut row, mut rest) = (self.data, i);
            for l in outer {
                row = row.wrapping_offset((rest % l.n) as isize * l.step[self.k]);
                rest /= l.n;
            }
            for _ in 0..second {
                run(row);
                row = row.wrapping_offset(step);
            }
        }
    }
}
