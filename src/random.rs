//! STUB until the real one lands (founder's temporary file).
