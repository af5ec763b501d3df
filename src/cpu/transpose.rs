//! STUB until the real one lands (founder's temporary file).
#![allow(missing_docs)]
pub unsafe fn transpose(z: usize, d: *mut u8, ds: isize, s: *const u8, ss: isize, r: usize, c: usize) {
    for i in 0..r as isize {
        for j in 0..c as isize {
            unsafe { std::ptr::copy_nonoverlapping(s.offset(j * ss + i * z as isize), d.offset(i * ds + j * z as isize), z) }
        }
    }
}
