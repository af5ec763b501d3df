//! Fourier transforms on GPUs.
//!
//! A length is split into a product of levels, each of which fits in shared memory. The lines of each level are transformed, and multiplied
//! by roots of unity between levels (W. M. Gentleman and G. Sande, 1966). Lengths with a prime factor above [`MOST_FACTOR`] are computed as
//! convolutions of another length.

use super::gpu::Gpu;
use super::images::{DIVIDE, Divider};
use super::loops::div_up;
use super::map::type_name;
use super::matmul::TWO_BLOCKS;
use super::memory::Scratch;
use super::source::{Entry, Source};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Fourier, Transform};
use crate::operand::Operand;

/// The kernels of Fourier transforms.
pub static FOURIER: Source = Source { name: "fourier", text: &[TWO_BLOCKS, DIVIDE, include_str!("kernels/fourier.cu")], entries };

/// The maximum numbers of lines of a block, of dimensions of lines, and of passes.
const MOST_LINES: i64 = 128;
const MOST_DIMS: usize = 6;
const MOST_PASSES: usize = 12;
/// The greatest prime factor of a pass.
const MOST_FACTOR: i64 = 31;
/// The size of the shared memory for the complex numbers of a block, in bytes.
const HELD: i64 = 16 << 10;
/// The number of lines that a block of a level should have, because adjacent lines are read together.
const TOGETHER: i64 = 4;
/// The size of scratch memory for convolutions, in bytes, above which lines are processed in several passes.
const CONVOLVED: i64 = 256 << 20;

fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for name in ["f32", "f64"] {
        let mut add = |kernel, args| entries.push(Entry::new(format!("{kernel}<{name}>"), args, name));
        add("transform_lines", "FourierArgs");
        add("roots_of_unity", "RootsArgs");
        ["chirp_from", "chirp_filter", "chirp_product", "chirp_to"].iter().for_each(|kernel| add(kernel, "ChirpArgs"));
    }
    entries
}

/// The numbers on one side of a transform: complex, real, or the first half of complex numbers whose second half is the mirrored conjugate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Complex,
    Real,
    Half,
}

/// One side of the transforms. The kernels declare the same struct.
#[repr(C)]
#[derive(Clone, Copy)]
struct Side {
    data: u64,
    stride: i64,
    base: [i64; MOST_DIMS],
    position: [i64; MOST_DIMS],
    step: i64,
    kind: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Pass {
    by_count: Divider,
    by_span: Divider,
    factor: i32,
    span: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct FourierArgs {
    from: Side,
    to: Side,
    lines: i64,
    counts: [i64; MOST_DIMS],
    signal: i64,
    order: i64,
    roots: u64,
    factor: f64,
    passes: [Pass; MOST_PASSES],
    n: i32,
    together: i32,
    count: i32,
    twiddled: i32,
    sign: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RootsArgs {
    roots: u64,
    n: i64,
    sign: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ChirpArgs {
    lines: FourierArgs,
    numbers: u64,
    filter: u64,
    first: i64,
    count: i64,
    size: i64,
}

/// The prime factors of a length, greatest first; `None` if one is above [`MOST_FACTOR`].
fn primes(n: i64) -> Option<Vec<i64>> {
    let (mut rest, mut found) = (n, Vec::new());
    for factor in 2..=MOST_FACTOR {
        while rest % factor == 0 {
            found.push(factor);
            rest /= factor;
        }
    }
    found.reverse();
    (rest == 1).then_some(found)
}

/// The factors of the passes over lines of this length. Three factors of 2 are merged into 8, two into 4.
fn factors(n: i64) -> Vec<i64> {
    let mut all = primes(n).unwrap_or_default();
    let mut twos = all.iter().filter(|&&factor| factor == 2).count();
    all.retain(|&factor| factor != 2);
    while twos > 0 {
        let together = match twos {
            1 | 2 => twos,
            4 => 2,
            _ => 3,
        };
        all.push(1 << together);
        twos -= together;
    }
    all
}

/// The lengths of the fewest possible levels. A single level has up to `one` elements, several have up to `several` each. `None` if no such
/// levels exist.
fn levels(n: i64, one: i64, several: i64) -> Option<Vec<i64>> {
    let primes = primes(n)?;
    if n <= one {
        return Some(vec![n]);
    }
    (2..MOST_DIMS).find_map(|count| {
        let mut levels = vec![1; count];
        for &prime in &primes {
            // The shortest level gets the next factor.
            let k = (0..count).min_by_key(|&k| levels[k])?;
            levels[k] *= prime;
        }
        levels.iter().all(|&level| level <= several).then_some(levels)
    })
}

/// The least length of at least `n` that is a power of 2, or 3 or 5 times one.
fn smooth(n: i64) -> i64 {
    let of = |odd: i64| odd * (div_up(n, odd).max(1) as u64).next_power_of_two() as i64;
    of(1).min(of(3)).min(of(5))
}

/// Numbers in memory as one side of the transforms: `[outer][positions][inner]`. `distance` is the distance between outer entries, in
/// numbers.
#[derive(Debug, Clone, Copy)]
struct Place {
    data: u64,
    kind: Kind,
    distance: i64,
}

/// The lines of a transform: `outer * inner` lines of `n` elements at a distance of `inner`.
#[derive(Debug, Clone, Copy)]
struct Lines {
    n: i64,
    inner: i64,
    outer: i64,
    inverse: bool,
}

/// The state of transforms other than their operands.
struct Transforms<'a> {
    gpu: &'a Gpu,
    dtype: Dtype,
}

impl<'a> Transforms<'a> {
    fn name(&self) -> &'static str {
        type_name(self.dtype)
    }

    /// The size of a complex number in bytes.
    fn size(&self) -> i64 {
        2 * self.dtype.size() as i64
    }

    /// Scratch memory for `count` complex numbers.
    fn numbers(&self, count: i64) -> Result<Scratch<'a>> {
        let Some(bytes) = count.checked_mul(self.size()) else { bail!(NoMem, "{count} complex numbers overflow the address space") };
        self.gpu.scratch(bytes as usize)
    }

    /// Scratch memory with the roots of unity of order `n`.
    fn roots(&self, n: i64, sign: i32) -> Result<Scratch<'a>> {
        let roots = self.numbers(n)?;
        let args = RootsArgs { roots: roots.ptr(), n, sign, unused: 0 };
        // SAFETY: there is memory for the roots.
        unsafe { self.gpu.launch(&FOURIER, &format!("roots_of_unity<{}>", self.name()), "RootsArgs", self.gpu.blocks_for(n), &args)? };
        Ok(roots)
    }

    /// Transforms complex lines from one place to another or in place, and multiplies the result by `factor`.
    ///
    /// # Safety
    /// The places hold the lines, and no other work uses the result.
    unsafe fn run(&self, lines: Lines, from: Place, to: Place, factor: f64) -> Result<()> {
        if lines.n * lines.inner * lines.outer == 0 {
            return Ok(());
        }
        let held = HELD / self.size();
        let Some(levels) = levels(lines.n, held, held / TOGETHER) else {
            // SAFETY: the caller meets the conditions above.
            return unsafe { self.convolve(lines, from, to, factor) };
        };
        let sign = if lines.inverse { 1 } else { -1 };
        let tables = levels.iter().map(|&level| self.roots(level, sign)).collect::<Result<Vec<_>>>()?;
        let count = levels.len();
        let between = if count > 1 { Some(self.numbers(lines.n * lines.inner * lines.outer)?) } else { None };
        let middle = between.as_ref().map(|numbers| Place { data: numbers.ptr(), kind: Kind::Complex, distance: lines.n * lines.inner });
        let mut done = 1;
        for (k, &level) in levels.iter().enumerate() {
            let sides = [if k == 0 { Some(from) } else { middle }, if k + 1 == count { Some(to) } else { middle }];
            let [Some(from), Some(to)] = sides else { unreachable!("levels have numbers between them") };
            let mut args = level_args(lines, &levels, k, done, [from, to]);
            args.roots = tables[k].ptr();
            args.sign = sign;
            args.factor = if k + 1 == count { factor } else { 1.0 };
            args.together = (held / level).clamp(1, MOST_LINES) as i32;
            let blocks = div_up(args.lines, args.together.into()).min(i32::MAX.into()) as u32;
            // SAFETY: the caller meets the conditions above. A block reads its lines before it writes them.
            unsafe { self.gpu.launch(&FOURIER, &format!("transform_lines<{}>", self.name()), "FourierArgs", blocks, &args)? };
            done *= level;
        }
        Ok(())
    }

    /// Like [`Transforms::run`], for any length, by convolutions.
    ///
    /// # Safety
    /// As for [`Transforms::run`].
    unsafe fn convolve(&self, lines: Lines, from: Place, to: Place, factor: f64) -> Result<()> {
        let size = smooth(2 * lines.n - 1);
        let all = lines.inner * lines.outer;
        let together = (CONVOLVED / (size * self.size())).clamp(1, all);
        let (filter, numbers) = (self.numbers(size)?, self.numbers(size * together)?);
        let mut args = ChirpArgs {
            lines: level_args(lines, &[lines.n], 0, 1, [from, to]),
            numbers: numbers.ptr(),
            filter: filter.ptr(),
            first: 0,
            count: together,
            size,
        };
        args.lines.sign = if lines.inverse { 1 } else { -1 };
        // The inverse transform of the product is divided by the size.
        args.lines.factor = factor / size as f64;
        let run = |kernel: &str, items: i64, args: &ChirpArgs| {
            // SAFETY: the caller meets the conditions above, and there is memory for the filter and for all lines of a pass.
            unsafe { self.gpu.launch(&FOURIER, &format!("{kernel}<{}>", self.name()), "ChirpArgs", self.gpu.blocks_for(items), args) }
        };
        let within = |data: u64| Place { data, kind: Kind::Complex, distance: size };
        let (filter, numbers) = (within(filter.ptr()), within(numbers.ptr()));
        let inside = |outer: i64, inverse: bool| Lines { n: size, inner: 1, outer, inverse };
        run("chirp_filter", size, &args)?;
        // SAFETY: as above; the size has only small factors.
        unsafe { self.run(inside(1, false), filter, filter, 1.0)? };
        for first in (0..all).step_by(together as usize) {
            let count = together.min(all - first);
            (args.first, args.count) = (first, count);
            run("chirp_from", count * size, &args)?;
            // SAFETY: as above.
            unsafe { self.run(inside(count, false), numbers, numbers, 1.0)? };
            run("chirp_product", count * size, &args)?;
            // SAFETY: as above.
            unsafe { self.run(inside(count, true), numbers, numbers, 1.0)? };
            run("chirp_to", count * lines.n, &args)?;
        }
        Ok(())
    }
}

/// The arguments for level `k`. Elements of a line are `rest` positions apart; the index in the `rest` positions between them is the number
/// of the line. The levels before have left their indices in front. The last level arranges all indices in the order of the result, the
/// first one fastest.
fn level_args(lines: Lines, levels: &[i64], k: usize, done: i64, places: [Place; 2]) -> FourierArgs {
    let Lines { n, inner, outer, .. } = lines;
    let (level, order, last) = (levels[k], n / done, k + 1 == levels.len());
    let rest = order / level;
    let side = |place: Place, position: [i64; MOST_DIMS], of_outer: usize, step: i64| {
        let mut base = [0; MOST_DIMS];
        base[0] = 1;
        base[of_outer] = place.distance;
        Side { data: place.data, stride: inner, base, position, step, kind: place.kind as i32, unused: 0 }
    };
    let (mut counts, mut from, mut to) = ([1; MOST_DIMS], [0; MOST_DIMS], [0; MOST_DIMS]);
    counts[0] = inner;
    let of_outer = if last {
        let mut before = 1;
        for (d, &one) in levels[..k].iter().enumerate() {
            counts[d + 1] = one;
            (from[d + 1], to[d + 1]) = (n / (before * one), before);
            before *= one;
        }
        k + 1
    } else {
        (counts[1], counts[2]) = (rest, done);
        (from[1], from[2]) = (1, order);
        to = from;
        3
    };
    counts[of_outer] = outer;
    let divider = |n: i64| Divider::new(n, i32::MAX.into());
    let mut passes = [Pass { by_count: divider(1), by_span: divider(1), factor: 1, span: 1 }; MOST_PASSES];
    let (mut span, mut count) = (1, 0);
    if level <= i32::MAX.into() {
        for (pass, factor) in passes.iter_mut().zip(factors(level)) {
            *pass = Pass { by_count: divider(level / factor), by_span: divider(span), factor: factor as i32, span: span as i32 };
            span *= factor;
            count += 1;
        }
    }
    FourierArgs {
        from: side(places[0], from, of_outer, rest),
        to: side(places[1], to, of_outer, if last { done } else { rest }),
        lines: inner * outer * done * if last { 1 } else { rest },
        counts,
        signal: n,
        order: if last { 0 } else { order },
        roots: 0,
        factor: 1.0,
        passes,
        n: level as i32,
        together: 1,
        count,
        twiddled: 1,
        sign: 1,
        unused: 0,
    }
}

/// Transforms the signals of a row-major input: first between input and result along the last dimension, then along the other dimensions in
/// place on the complex side. For complex-to-real transforms, the order is reversed.
pub fn fourier(gpu: &Gpu, work: &Fourier<'_>, out: &Operand, input: &Operand) -> Result<()> {
    let Some((&last, before)) = work.signal.split_last() else { return Ok(()) };
    if !matches!(out.dtype, Dtype::Float32 | Dtype::Float64) {
        return Err(Domain::Float.refusal(out.dtype));
    }
    let transforms = Transforms { gpu, dtype: out.dtype };
    let (from, to) = (input.first() as u64, out.first() as u64);
    let inverse = matches!(work.transform, Transform::Inverse | Transform::ToReal);
    let half = last / 2 + 1;
    // The length of the last dimension on the complex side, and the number of signals of that dimension.
    let (numbers, count) = match work.transform {
        Transform::ToReal => (input.layout().shape[input.layout().ndim() - 2], out.layout().numel() / last),
        Transform::FromReal => (half, out.layout().numel() / 2 / half),
        _ => (last, out.layout().numel() / 2 / last),
    };
    // The dimension that is transformed last applies the factor.
    let (first, then) = if before.is_empty() { (work.factor, 1.0) } else { (1.0, work.factor) };
    let columns = |data: u64, factor: f64| -> Result<()> {
        let mut inner = numbers;
        for (k, &n) in before.iter().enumerate().rev() {
            let place = Place { data, kind: Kind::Complex, distance: n * inner };
            let lines = Lines { n, inner, outer: count * numbers / (inner * n), inverse };
            // SAFETY: the complex side is row-major and holds the numbers.
            unsafe { transforms.run(lines, place, place, if k == 0 { factor } else { 1.0 })? };
            inner *= n;
        }
        Ok(())
    };
    let lines = Lines { n: last, inner: 1, outer: count, inverse };
    let [from_side, to_side] = match work.transform {
        Transform::ToReal => [(Kind::Half, numbers), (Kind::Real, last)],
        Transform::FromReal => [(Kind::Real, last), (Kind::Half, half)],
        Transform::Forward | Transform::Inverse => [(Kind::Complex, last); 2],
    };
    let place = |data: u64, (kind, distance): (Kind, i64)| Place { data, kind, distance };
    let [source, result] = [place(from, from_side), place(to, to_side)];
    if work.transform == Transform::ToReal {
        columns(from, 1.0)?;
        // SAFETY: both sides are row-major, hold the signals, and do not overlap.
        return unsafe { transforms.run(lines, source, result, work.factor) };
    }
    // SAFETY: as above.
    unsafe { transforms.run(lines, source, result, first)? };
    columns(to, then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_the_length() {
        for n in (1..3000).chain([1 << 20, 3 << 18, 31 * 31 * 31 * 31, 1 << 26, 7 * 11 * 13 * 17 * 19, 1 << 31]) {
            let Some(levels) = levels(n, 2048, 512) else {
                assert!((32..n + 1).any(|p| n % p == 0 && (2..p).all(|d| p % d != 0)), "{n} has large prime factors");
                continue;
            };
            assert_eq!(levels.iter().product::<i64>(), n);
            for level in levels {
                assert!(level <= 2048 && factors(level).len() <= MOST_PASSES);
                assert_eq!(factors(level).iter().product::<i64>(), level);
            }
        }
    }

    #[test]
    fn smooth_lengths_are_long_enough() {
        for n in 1..5000 {
            let m = smooth(n);
            assert!(m >= n && m < 2 * n && primes(m).is_some_and(|primes| primes.iter().all(|&p| p <= 5)), "{n} {m}");
        }
    }
}
