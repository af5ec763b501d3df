//! Few elements: an operand that does not lie as its kernel wants it goes through a buffer whole, without tiles.

use super::{Job, Kernel, Rows};
use crate::cpu::convert::converter;
use crate::plan::each;
use std::mem::MaybeUninit;

/// So many elements are few: gathering them one by one takes no longer than thinking about tiles.
pub(crate) const FEW: usize = 256;
/// Runs shorter than this are copied element by element.
const SHORT: usize = 16;

/// Room for few elements of any type.
#[repr(align(64))]
pub struct Room([MaybeUninit<u64>; FEW]);

impl Room {
    /// Nothing yet.
    pub const fn new() -> Room {
        Room([MaybeUninit::uninit(); FEW])
    }

    /// The first element.
    pub fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

impl<const N: usize> Job<N> {
    /// Runs the kernel once, on all of the `n` elements of the plan, which are at most [`FEW`].
    ///
    /// # Safety
    /// As for [`Work::run`](super::Work::run).
    #[inline(never)]
    pub unsafe fn run_few(&self, n: usize, kernel: Kernel<'_, N>) {
        let mut rooms: [Room; N] = [const { Room::new() }; N];
        let rooms = rooms.each_mut().map(Room::data);
        let staged = |k: usize| self.dtype[k] != self.compute[k] || !self.lies_contiguous(k) || (k == 0 && self.result_is_input());
        let at = each(|k| if staged(k) { rooms[k] } else { self.data[k] });
        // SAFETY: the caller's; the rooms hold FEW elements of any type.
        unsafe {
            for k in (1..N).filter(|&k| staged(k)) {
                self.fetch(k, at[k], n);
            }
            kernel(&Rows::one(at, n));
            if staged(0) {
                self.store(at[0], n);
            }
        }
    }

    /// Whether the loops, as they follow each other, go through operand `k` element by element.
    #[inline(always)]
    fn lies_contiguous(&self, k: usize) -> bool {
        let mut next = self.plan.item[k] as isize;
        self.plan.loops().iter().all(|l| {
            let follows = l.step[k] == next;
            next *= l.n as isize;
            follows
        })
    }

    /// Input `k` in its compute type, contiguous at `to`.
    ///
    /// # Safety
    /// The plan's positions lie inside the operand; there is room for them.
    unsafe fn fetch(&self, k: usize, to: *mut u8, n: usize) {
        let (stored, wide) = (self.dtype[k], self.compute[k]);
        let mut room = Room::new();
        // SAFETY: the caller's.
        unsafe {
            let from = match () {
                _ if self.lies_contiguous(k) => self.data[k],
                _ if stored == wide => return self.gather(k, to),
                _ => {
                    let from = room.data();
                    self.gather(k, from);
                    from
                }
            };
            converter(wide, stored)(to, wide.size() as isize, from, stored.size() as isize, n);
        }
    }

    /// The result, contiguous at `from` in its compute type, to where it belongs.
    ///
    /// # Safety
    /// As for [`Job::fetch`].
    unsafe fn store(&self, from: *const u8, n: usize) {
        let (stored, wide) = (self.dtype[0], self.compute[0]);
        let mut room = Room::new();
        // SAFETY: the caller's.
        unsafe {
            let convert = converter(stored, wide);
            if self.lies_contiguous(0) {
                return convert(self.data[0], stored.size() as isize, from, wide.size() as isize, n);
            }
            let from = if stored == wide {
                from
            } else {
                convert(room.data(), stored.size() as isize, from, wide.size() as isize, n);
                room.data()
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
    /// As for [`Job::fetch`].
    unsafe fn gather(&self, k: usize, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            match self.plan.item[k] {
                1 => self.gather_of::<u8>(k, to.cast()),
                2 => self.gather_of::<u16>(k, to.cast()),
                4 => self.gather_of::<u32>(k, to.cast()),
                _ => self.gather_of::<u64>(k, to.cast()),
            }
        }
    }

    /// # Safety
    /// As for [`Job::fetch`]; elements are as large as `T`.
    unsafe fn gather_of<T: Copy>(&self, k: usize, to: *mut T) {
        let (n, step) = (self.plan.loops()[0].n, self.plan.loops()[0].step[k]);
        let mut to = to;
        self.rows(k, |row| {
            // SAFETY: the caller's; elements may be unaligned in foreign memory.
            unsafe {
                if n >= SHORT && step == size_of::<T>() as isize {
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
    /// As for [`Job::gather_of`].
    unsafe fn scatter_of<T: Copy>(&self, from: *const T) {
        let (n, step) = (self.plan.loops()[0].n, self.plan.loops()[0].step[0]);
        let mut from = from;
        self.rows(0, |row| {
            // SAFETY: the caller's; elements may be unaligned in foreign memory.
            unsafe {
                for i in 0..n {
                    row.wrapping_offset(i as isize * step).cast::<T>().write_unaligned(from.add(i).read());
                }
                from = from.add(n);
            }
        });
    }

    /// Calls `run` with the first element of each run of operand `k`, in the order of the loops.
    #[inline(always)]
    fn rows(&self, k: usize, mut run: impl FnMut(*mut u8)) {
        let loops = self.plan.loops();
        let (second, step) = loops.get(1).map_or((1, 0), |l| (l.n, l.step[k]));
        let outer = loops.get(2..).unwrap_or(&[]);
        for i in 0..outer.iter().map(|l| l.n).product() {
            let (mut row, mut rest) = (self.data[k], i);
            for l in outer {
                row = row.wrapping_offset((rest % l.n) as isize * l.step[k]);
                rest /= l.n;
            }
            for _ in 0..second {
                run(row);
                row = row.wrapping_offset(step);
            }
        }
    }
}
