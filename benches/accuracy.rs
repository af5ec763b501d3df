//! The largest errors of the functions of float32, over all its 2^32 values, through the exported functions.
//!
//! `cargo bench --bench accuracy [-- [--stride N] [--write] [NAME ...]]` measures the named functions, or all. `--stride N` tries every Nth
//! value, for a quick look. `--write` writes the errors to docs/accuracy.md. `TH_SIMD` selects the instruction set. The exit status is 1 if
//! an error exceeds its limit.
//!
//! The reference for a function of float32 is the same function of float64. The reference has errors of some units in the 53rd bit, which
//! `scripts/accuracy.py` measures with mpmath; here they are 2^-28 of a unit. To find a mistake that both share, every 1021st value is also
//! compared with a function of this file or of the C library, which must agree with the float64 function to 32 bits.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, ptr, slice, thread};
use thorn::capi::by_hand::handles::THTensor_free;
use thorn::cpu::simd::{Level, level};
use thorn::dtype::{TH_FLOAT32, TH_FLOAT64};
use thorn::error::{TH_OK, THStatus};
use thorn::tensor::THTensor;

/// The functions `THTensor_*`, whose Rust names lack the prefix.
mod tensors {
    pub use thorn::capi::functions::{asking::data, making::newWithSize1d};
    pub use thorn::capi::functions::{functions::*, special::polygamma};
}

type Function = unsafe fn(*mut THTensor, *const THTensor) -> THStatus;

/// A function, its exact value, and the largest allowed error in units in the last place.
struct Row {
    name: &'static str,
    function: Function,
    exact: fn(f64) -> f64,
    limit: f64,
}

const fn row(name: &'static str, function: Function, exact: fn(f64) -> f64, limit: f64) -> Row {
    Row { name, function, exact, limit }
}

// Functions of the C library that the standard library lacks or computes less exactly.
unsafe extern "C" {
    safe fn acosh(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
    safe fn erf(x: f64) -> f64;
    safe fn erfc(x: f64) -> f64;
    safe fn lgamma(x: f64) -> f64;
}

/// The derivative of lgamma: by reflection for negative numbers, and by recurrence up to the argument where six terms of the asymptotic
/// series have 16 digits.
fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        let fraction = x - x.round();
        return if fraction == 0.0 { f64::NAN } else { digamma(1.0 - x) - PI / (PI * fraction).tan() };
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
    let mut y = if w < 5.0 { 0.886 * a } else { (w - 0.5 * (PI * w).ln()).sqrt() };
    for _ in 0..8 {
        let miss = if a < 0.5 { erf(y) - a } else { (1.0 - a) - erfc(y) };
        y -= miss * (y * y).exp() * PI.sqrt() / 2.0;
    }
    y.copysign(x)
}

/// The derivative of digamma, as [`digamma`].
fn trigamma(x: f64) -> f64 {
    if x < 0.0 {
        let fraction = if x.is_finite() { x - x.round() } else { 0.0 };
        return if fraction == 0.0 { f64::INFINITY } else { (PI / (PI * fraction).sin()).powi(2) - trigamma(1.0 - x) };
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 12.0 {
        below += 1.0 / (x * x);
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let tail = z * (1.0 / 6.0 - z * (1.0 / 30.0 - z * (1.0 / 42.0 - z * (1.0 / 30.0 - z * (5.0 / 66.0 - z * (691.0 / 2730.0))))));
    1.0 / x + 0.5 * z + tail / x + below
}

/// `sin(pi x) / (pi x)`, by the distance to the next integer.
fn sinc(x: f64) -> f64 {
    let n = x.round();
    let wave = (PI * (x - n)).sin() * if n % 2.0 == 0.0 { 1.0 } else { -1.0 };
    if x == 0.0 { 1.0 } else { wave / (PI * x) + 0.0 }
}

/// `x Phi(x)`
fn gelu(x: f64) -> f64 {
    0.5 * x * erfc(-x * FRAC_1_SQRT_2)
}

/// `x / (1 + e^-v)` with `v = 2 sqrt(2 / pi) (x + 0.044715 x^3)`
fn gelu_tanh(x: f64) -> f64 {
    x / (1.0 + (-(8.0 / PI).sqrt() * (x + 0.044_715 * x * x * x)).exp())
}

macro_rules! rows {
    ($($name:literal: $function:expr, $exact:expr, $limit:literal;)*) => {
        // SAFETY: the functions are called with the caller's tensors, which are live.
        &[$(row($name, |r, t| unsafe { ($function)(r, t) }, $exact, $limit)),*]
    };
}

const ROWS: &[Row] = rows! {
    "sqrt": tensors::sqrt, f64::sqrt, 0.501;
    "rsqrt": tensors::rsqrt, |x| 1.0 / x.sqrt(), 2.0;
    "exp": tensors::exp, f64::exp, 2.0;
    "exp2": tensors::exp2, f64::exp2, 2.0;
    "expm1": tensors::expm1, f64::exp_m1, 2.0;
    "log": tensors::log, f64::ln, 2.0;
    "log1p": tensors::log1p, f64::ln_1p, 2.0;
    "log2": tensors::log2, f64::log2, 2.0;
    "log10": tensors::log10, f64::log10, 2.0;
    "sin": tensors::sin, f64::sin, 2.0;
    "cos": tensors::cos, f64::cos, 2.0;
    "tan": tensors::tan, f64::tan, 2.0;
    "asin": tensors::asin, f64::asin, 2.0;
    "acos": tensors::acos, f64::acos, 2.0;
    "atan": tensors::atan, f64::atan, 2.0;
    "sinh": tensors::sinh, f64::sinh, 2.0;
    "cosh": tensors::cosh, f64::cosh, 2.0;
    "tanh": tensors::tanh, f64::tanh, 2.0;
    "asinh": tensors::asinh, |x| asinh(x), 2.0;
    "acosh": tensors::acosh, |x| acosh(x), 2.0;
    "atanh": tensors::atanh, |x| atanh(x), 2.0;
    "sinc": tensors::sinc, sinc, 2.0;
    "sigmoid": tensors::sigmoid, |x| 1.0 / (1.0 + (-x).exp()), 2.0;
    "erf": tensors::erf, |x| erf(x), 2.0;
    "erfc": tensors::erfc, |x| erfc(x), 2.0;
    "erfinv": tensors::erfinv, erfinv, 4.0;
    "lgamma": tensors::lgamma, |x| lgamma(x), 4.0;
    "digamma": tensors::digamma, digamma, 2.0;
    "trigamma": |r, t| tensors::polygamma(r, 1, t), trigamma, 2.0;
    "gelu": tensors::gelu, gelu, 7.0;
    "geluTanh": tensors::geluTanh, gelu_tanh, 2.0;
    "silu": tensors::silu, |x| if x == f64::NEG_INFINITY { -0.0 } else { x / (1.0 + (-x).exp()) }, 3.0;
    "mish": tensors::mish, |x| if x == f64::NEG_INFINITY { -0.0 } else { x * x.exp().ln_1p().tanh() }, 2.0;
    "softplus": |r, t| tensors::softplus(r, t, 1.0, 20.0), |x| if x > 20.0 { x } else { x.max(0.0) + (-x.abs()).exp().ln_1p() }, 2.0;
};

/// The number of values that one call computes.
const BLOCK: usize = 1 << 16;
/// The reference is checked at every value with a multiple of this number.
const CHECKED: usize = 1021;

fn main() -> ExitCode {
    let options = match Options::given() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let mut ok = true;
    for row in ROWS.iter().filter(|row| options.names.is_empty() || options.names.iter().any(|name| name == row.name)) {
        let errors = sweep(row, options.stride);
        let within = errors.largest <= row.limit && errors.doubtful == 0;
        println!(
            "{:10} {:9.4} ulp at {:<15e} over 1 ulp: {:<11} limit {} {}",
            row.name,
            errors.largest,
            errors.at,
            errors.above_one,
            row.limit,
            if within { "ok" } else { "MISS" }
        );
        if errors.doubtful > 0 {
            println!("           the reference itself is doubtful at {} values, as at {:e}", errors.doubtful, errors.doubt_at);
        }
        if options.write
            && let Err(error) = note(row, &errors, options.stride)
        {
            eprintln!("{REPORT}: {error}");
            return ExitCode::from(2);
        }
        ok &= within;
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Options {
    names: Vec<String>,
    stride: u64,
    write: bool,
}

impl Options {
    fn given() -> Result<Options, String> {
        let mut options = Options { names: Vec::new(), stride: 1, write: false };
        // Cargo adds the first of these arguments.
        let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            if argument == "--stride" {
                let number = arguments.next().and_then(|number| number.parse().ok()).filter(|&n| n > 0);
                options.stride = number.ok_or("--stride needs a positive number")?;
            } else if argument == "--write" {
                options.write = true;
            } else if ROWS.iter().any(|row| row.name == argument) {
                options.names.push(argument);
            } else {
                return Err(format!("no function is called {argument}"));
            }
        }
        Ok(options)
    }
}

const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/accuracy.md");

/// Writes a line of the report's table. It replaces the line of the same function, dtype and instruction set, as in `scripts/accuracy.py`.
fn note(row: &Row, errors: &Errors, stride: u64) -> std::io::Result<()> {
    let text = fs::read_to_string(REPORT)?;
    let level = match level() {
        Level::Baseline => "baseline",
        Level::Avx2 => "avx2",
        Level::Avx512 => "avx512",
    };
    let tried = if stride == 1 { "all".to_string() } else { format!("one in {stride}") };
    let key = format!("| {} | float32 | {level} |", row.name);
    let line = format!("{key} {:.2} | {:e} | {tried} |", errors.largest, errors.at);
    let (table, head): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("| ") && !line.starts_with("| function"));
    let mut table: Vec<&str> = table.into_iter().filter(|old| !old.starts_with(&key)).chain([line.as_str()]).collect();
    table.sort_unstable();
    fs::write(REPORT, head.into_iter().chain(table).map(|line| format!("{line}\n")).collect::<String>())
}

/// The errors that a sweep has found.
struct Errors {
    largest: f64,
    at: f32,
    above_one: u64,
    /// The number of values for which the two references differ.
    doubtful: u64,
    doubt_at: f32,
}

impl Errors {
    fn none() -> Errors {
        Errors { largest: 0.0, at: 0.0, above_one: 0, doubtful: 0, doubt_at: 0.0 }
    }

    /// Adds the errors of a block of values.
    fn take(&mut self, xs: &[f32], errors: &[f64]) {
        self.above_one += errors.iter().map(|&error| u64::from(error > 1.0)).sum::<u64>();
        let largest = errors.iter().fold(0.0, |m, &error| if error > m { error } else { m });
        if largest > self.largest {
            let at = errors.iter().position(|&error| error == largest).expect("it is one of them");
            (self.largest, self.at) = (largest, xs[at]);
        }
    }

    fn join(mut self, other: Errors) -> Errors {
        if other.largest > self.largest {
            (self.largest, self.at) = (other.largest, other.at);
        }
        if other.doubtful > 0 {
            self.doubt_at = other.doubt_at;
        }
        self.above_one += other.above_one;
        self.doubtful += other.doubtful;
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

/// The tensors of a thread: results and values as float32, then as float64.
struct Block {
    r: *mut THTensor,
    t: *mut THTensor,
    wide_r: *mut THTensor,
    wide_t: *mut THTensor,
    errors: Vec<f64>,
}

impl Block {
    fn new() -> Block {
        // SAFETY: the calls pass only numbers.
        let [r, t, wide_r, wide_t] =
            [TH_FLOAT32, TH_FLOAT32, TH_FLOAT64, TH_FLOAT64].map(|dtype| unsafe { tensors::newWithSize1d(dtype, BLOCK as i64) });
        assert!([r, t, wide_r, wide_t].iter().all(|tensor| !tensor.is_null()), "no memory");
        Block { r, t, wide_r, wide_t, errors: vec![0.0; BLOCK] }
    }

    fn compare(&mut self, row: &Row, count: usize, value: impl Fn(usize) -> f32, errors: &mut Errors) {
        // SAFETY: the tensors are live and only this thread uses them. Each has BLOCK elements, and their data does not move.
        let (got, inputs, exact) = unsafe {
            let inputs = slice::from_raw_parts_mut(tensors::data(self.t).cast::<f32>(), BLOCK);
            let wide = slice::from_raw_parts_mut(tensors::data(self.wide_t).cast::<f64>(), BLOCK);
            for i in 0..count {
                inputs[i] = value(i);
                wide[i] = f64::from(inputs[i]);
            }
            assert_eq!((row.function)(self.r, ptr::from_ref(&*self.t)), TH_OK, "{}", row.name);
            assert_eq!((row.function)(self.wide_r, ptr::from_ref(&*self.wide_t)), TH_OK, "{}", row.name);
            let exact = slice::from_raw_parts(tensors::data(self.wide_r).cast::<f64>(), BLOCK);
            (slice::from_raw_parts(tensors::data(self.r).cast::<f32>(), BLOCK), &*inputs, exact)
        };
        for i in 0..count {
            self.errors[i] = ulps(got[i], exact[i]);
        }
        errors.take(&inputs[..count], &self.errors[..count]);
        // The error of the second reference near zeros.
        let slack = if matches!(row.name, "lgamma" | "digamma") { 2f64.powi(-40) } else { 0.0 };
        for i in (0..count).step_by(CHECKED) {
            if !agree(exact[i], (row.exact)(f64::from(inputs[i])), slack) {
                (errors.doubtful, errors.doubt_at) = (errors.doubtful + 1, inputs[i]);
            }
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: this frees the references that `new` has made.
        unsafe {
            for tensor in [self.r, self.t, self.wide_r, self.wide_t] {
                THTensor_free(tensor);
            }
        }
    }
}

/// Returns the distance of `got` and `exact` in units in the last place of f32. Infinity counts as 2^128. The distance is infinite if only
/// one is NaN, or if signs differ.
#[inline(always)]
fn ulps(got: f32, exact: f64) -> f64 {
    const END: f64 = f64::from_bits((1023 + 128) << 52);
    let exponent = ((exact.to_bits() >> 52) as i32 & 0x7ff).clamp(1023 - 126, 1023 + 127);
    let units = f64::from_bits(((2 * 1023 + 23 - exponent) as u64) << 52);
    let apart = (f64::from(got).clamp(-END, END) - exact.clamp(-END, END)).abs() * units;
    let same_sign = got.is_sign_negative() == exact.is_sign_negative();
    match (got.is_nan(), exact.is_nan()) {
        (true, true) => 0.0,
        (false, false) if same_sign => apart,
        _ => f64::INFINITY,
    }
}

/// Returns true if two references agree to `slack`. Results beyond the range of float32 always agree.
fn agree(a: f64, b: f64, slack: f64) -> bool {
    if a.is_finite() && b.is_finite() {
        return (a - b).abs() <= 2f64.powi(-32) * a.abs() + 2f64.powi(-160) + slack;
    }
    a == b || (a.is_nan() && b.is_nan())
}
