//! Another static library written in Rust, which contains its own copy of the standard library, for a program that links both.

/// Returns 7, computed with a panic, a format and a thread.
#[unsafe(no_mangle)]
pub extern "C" fn other_seven() -> i32 {
    let thread = std::thread::spawn(|| std::panic::resume_unwind(Box::new(format!("{:>7}", "panic"))));
    thread.join().map_or_else(|panic| panic.downcast_ref::<String>().map_or(0, |text| text.len() as i32), |()| 0)
}
