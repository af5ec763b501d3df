//! STUB until the real one lands (founder's temporary file).
#![allow(missing_docs)]
pub unsafe fn copy_stream(d: *mut u8, s: *const u8, n: usize) {
    unsafe { std::ptr::copy_nonoverlapping(s, d, n) }
}
pub fn fence() {}
pub fn threshold() -> usize {
    usize::MAX
}
