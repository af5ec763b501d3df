//! The largest errors of the functions of float32, over all its 2^32 values, through the exported functions.
//!
//! `cargo bench --bench accuracy [-- [--stride N] [NAME ...]]`: the functions whose names are given, or all; every Nth value, for a quick look.
//! Exit status 1 when an error is beyond its limit.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, ptr, slice, thread};
use thorn::capi::pointwise::*;
use thorn::capi::tensor::{THTensor_data, THTensor_free, THTensor_newWithSize1d};
use thorn::dtype::TH_FLOAT32;
use thorn::error::{TH_OK, THStatus};
use thorn::tensor::THTensor;

/// A function, what it should compute, and how many units in the last place they may be apart.
struct Row {
    name: &'static str,
    function: unsafe extern "C" fn(*mut THTensor, *const THTensor) -> THStatus,
    exact: fn(f64) -> f64,
    limit: f64,
}

const fn row(
    name: &'static str,
    function: unsafe extern "C" fn(*mut THTensor, *const THTensor) -> THStatus,
    exact: fn(f64) -> f64,
    limit: f64,
) -> Row {
    Row { name, function, exact, limit }
}

// What the standard library lacks, the C library has.
unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    safe fn lgamma(x: f64) -> f64;
}

/// The derivative of lgamma: by reflection for negative numbers, by recurrence up to where six terms of the asymptotic series have 16 digits.
fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        let fraction = x - x.round();
        return if fraction == 0.0 { f64::NAN } else { digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * fraction).tan() };
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let tail = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (1.0 / 132.0 - z * (691.0 / 32_760.0))))));
    x.ln() - 0.5 / x - tail - below
}

/// The inverse of erf: Newton's method on erfc for the tails, on erf elsewhere.
fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a >= 1.0 {
        return if a == 1.0 { x * f64::INFINITY } else { f64::NAN };
    }
    let w = -((1.0 - a) * (1.0 + a)).ln();
    let mut y = if w < 5.0 { 0.886 * a } else { (w - 0.5 * (std::f64::consts::PI * w).ln()).sqrt() };
    for _ in 0..8 {
        let miss = if a < 0.5 { erf(y) - a } else { (1.0 - a) - erfc(y) };
        y -= miss * (y * y).exp() * std::f64::consts::PI.sqrt() / 2.0;
    }
    y.copysign(x)
}

/// `x Phi(x)`
fn gelu(x: f64) -> f64 {
    0.5 * x * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

const ROWS: &[Row] = &[
    row("sqrt", THTensor_sqrt, f64::sqrt, 0.501),
    row("rsqrt", THTensor_rsqrt, |x| 1.0 / x.sqrt(), 2.0),
    row("exp", THTensor_exp, f64::exp, 2.0),
    row("exp2", THTensor_exp2, f64::exp2, 2.0),
    row("expm1", THTensor_expm1, f64::exp_m1, 2.0),
    row("log", THTensor_log, f64::ln, 2.0),
    row("log1p", THTensor_log1p, f64::ln_1p, 2.0),
    row("log2", THTensor_log2, f64::log2, 2.0),
    row("log10", THTensor_log10, f64::log10, 2.0),
    row("sin", THTensor_sin, f64::sin, 2.0),
    row("cos", THTensor_cos, f64::cos, 2.0),
    row("tan", THTensor_tan, f64::tan, 2.0),
    row("asin", THTensor_asin, f64::asin, 2.0),
    row("acos", THTensor_acos, f64::acos, 2.0),
    row("atan", THTensor_atan, f64::atan, 2.0),
    row("sinh", THTensor_sinh, f64::sinh, 2.0),
    row("cosh", THTensor_cosh, f64::cosh, 2.0),
    row("tanh", THTensor_tanh, f64::tanh, 2.0),
    row("sigmoid", THTensor_sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 2.0),
    row("erf", THTensor_erf, |x| erf(x), 2.0),
    row("erfc", THTensor_erfc, |x| erfc(x), 2.0),
    row("erfinv", THTensor_erfinv, erfinv, 4.0),
    row("lgamma", THTensor_lgamma, |x| lgamma(x), 4.0),
    row("digamma", THTensor_digamma, digamma, 2.0),
    row("gelu", THTensor_gelu, gelu, 2.0),
];

/// Values computed by one call.
const BLOCK: usize = 1 << 20;

fn main() -> ExitCode {
    let (names, stride) = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let mut ok = true;
    for row in ROWS.iter().filter(|row| names.is_empty() || names.iter().any(|name| name == row.name)) {
        let errors = sweep(row, stride);
        let verdict = if errors.largest <= row.limit { "ok" } else { "MISS" };
        println!(
            "{:10} {:9.4} ulp at {:<15e} over 1 ulp: {:<11} limit {} {verdict}",
            row.name, errors.largest, errors.at, errors.above_one, row.limit
        );
        ok &= errors.largest <= row.limit;
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The names asked for, and the stride.
fn arguments() -> Result<(Vec<String>, u64), String> {
    let (mut names, mut stride) = (Vec::new(), 1);
    // Cargo adds the first of these.
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        if argument == "--stride" {
            let number = arguments.next().and_then(|number| number.parse().ok()).filter(|&n| n > 0);
            stride = number.ok_or("--stride needs a positive number")?;
        } else if ROWS.iter().any(|row| row.name == argument) {
            names.push(argument);
        } else {
            return Err(format!("no function is called {argument}"));
        }
    }
    Ok((names, stride))
}

/// What a sweep has found.
struct Errors {
    largest: f64,
    at: f32,
    above_one: u64,
}

impl Errors {
    fn none() -> Errors {
        Errors { largest: 0.0, at: 0.0, above_one: 0 }
    }

    fn take(&mut self, x: f32, error: f64) {
        self.above_one += u64::from(error > 1.0);
        if error > self.largest {
            (self.largest, self.at) = (error, x);
        }
    }

    fn join(mut self, other: Errors) -> Errors {
        self.take(other.at, other.largest);
        // `take` has counted the largest again.
        self.above_one += other.above_one - u64::from(other.largest > 1.0);
        self
    }
}

/// Compares all values, or every `stride`th, on all cores.
fn sweep(row: &Row, stride: u64) -> Errors {
    let values = (1_u64 << 32).div_ceil(stride);
    let next = AtomicU64::new(0);
    let work = || {
        let mut block = Block::new();
        let mut errors = Errors::none();
        loop {
            let start = next.fetch_add(BLOCK as u64, Ordering::Relaxed);
            if start >= values {
                return errors;
            }
            let count = (values - start).min(BLOCK as u64) as usize;
            block.compare(row, count, |i| f32::from_bits(((start + i as u64) * stride) as u32), &mut errors);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..thread::available_parallelism().map_or(1, usize::from)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a sweep does not panic")).fold(Errors::none(), Errors::join)
    })
}

/// Two tensors of a thread.
struct Block {
    r: *mut THTensor,
    t: *mut THTensor,
}

impl Block {
    fn new() -> Block {
        // SAFETY: takes numbers only.
        let [r, t] = [(); 2].map(|()| unsafe { THTensor_newWithSize1d(TH_FLOAT32, BLOCK as i64) });
        assert!(!r.is_null() && !t.is_null(), "no memory");
        Block { r, t }
    }

    fn compare(&mut self, row: &Row, count: usize, value: impl Fn(usize) -> f32, errors: &mut Errors) {
        // SAFETY: the tensors are live and this thread's alone, have BLOCK floats each, and their data does not move.
        let (got, inputs) = unsafe {
            let inputs = slice::from_raw_parts_mut(THTensor_data(self.t).cast::<f32>(), BLOCK);
            (0..count).for_each(|i| inputs[i] = value(i));
            assert_eq!((row.function)(self.r, ptr::from_ref(&*self.t)), TH_OK, "{}", row.name);
            (slice::from_raw_parts(THTensor_data(self.r).cast::<f32>(), BLOCK), &*inputs)
        };
        for (&x, &y) in inputs[..count].iter().zip(got) {
            errors.take(x, ulps(y, (row.exact)(f64::from(x))));
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: gives up the references `new` has made.
        unsafe {
            THTensor_free(self.r);
            THTensor_free(self.t);
        }
    }
}

/// Units in the last place of f32 between `got` and `exact`, infinity counting as 2^128; infinite where only one is NaN, or signs differ.
fn ulps(got: f32, exact: f64) -> f64 {
    if got.is_nan() && exact.is_nan() {
        return 0.0;
    }
    if got.is_nan() || exact.is_nan() || got.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let end = 2f64.powi(128);
    let exponent = ((exact.to_bits() >> 52) as i32 & 0x7ff) - 1023;
    let ulp = 2f64.powi(exponent.clamp(-126, 127) - 23);
    (f64::from(got).clamp(-end, end) - exact.clamp(-end, end)).abs() / ulp
}
