//! Random fills by Philox. Elements depend on the seed, the number of blocks reserved before, and their position: the numbers are the
//! host's. MT19937 is not supported, because it computes each number from the one before.

use super::gpu::Gpu;
use super::order::{ITEMS, Keys, MOST_KEYS, ORDER, Order};
use super::source::{Entry, Source};
use crate::alloc::list;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Draw;
use crate::operand::Operand;
use crate::random::{Alias, Generator, Philox};

const WORDS: &str = include_str!("kernels/random.cuh");

/// The kernels of fills that need a fixed number of words for each element.
pub static RANDOM: Source = Source { name: "random", text: &[ITEMS, WORDS, include_str!("kernels/random.cu")], entries };
/// The kernels of fills by rejection.
pub static RANDOM_EACH: Source =
    Source { name: "random_each", text: &[ITEMS, WORDS, include_str!("kernels/random_each.cu")], entries: entries_each };
/// The kernels of permutations and samples.
pub static RANDOM_SAMPLE: Source =
    Source { name: "random_sample", text: &[ITEMS, ORDER, WORDS, include_str!("kernels/random_sample.cu")], entries: entries_sample };

/// The number of elements that are computed together.
const GROUP: u64 = 64;
/// The longest range of integers for which one word is enough.
const LONGEST: u64 = 1 << 24;
/// The number of words that a permutation reserves at a time, as whole blocks.
const PERMUTED: u64 = 512;
/// The number of categories for each sample from which on categories are found by search in running sums.
const SEARCHED_SHARE: i64 = 8;
/// The number of rounds of exchanges between two checks for remaining work.
const ROUNDS: i64 = 16;

/// The argument of the kernels.
#[repr(C)]
#[derive(Clone, Copy)]
struct DrawArgs {
    to: u64,
    n: i64,
    seed: u64,
    block: u64,
    numbers: [f64; 5],
    from: i64,
    span: u64,
    lists: [u64; 2],
    dtype: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct EachArgs {
    to: u64,
    n: i64,
    seed: u64,
    block: u64,
    numbers: [f64; 4],
    lists: [u64; 2],
    dtype: i32,
    unused: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PermutationArgs {
    order: u64,
    targets: u64,
    cells: u64,
    left: u64,
    n: i64,
    seed: u64,
    block: u64,
    round: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RaceArgs {
    order: Order,
    to: u64,
    n: i64,
    p: u64,
    seed: u64,
    block: u64,
}

/// The distributions of floats, which exist for each float type.
const FLOATS: [&str; 5] = ["Uniform", "Normal", "LogNormal", "Exponential", "Cauchy"];
const OTHERS: [&str; 7] = ["Geometric", "Chance", "ChanceEach", "Range", "LongRange", "Alias", "Sums"];
const EACH: [&str; 5] = ["Truncated", "Gamma", "Beta", "Poisson", "Binomial"];

fn entries() -> Vec<Entry> {
    let floats = FLOATS.iter().flat_map(|law| ["float", "double"].map(|float| format!("draw<{law}<{float}>>")));
    let all = floats.chain(OTHERS.iter().map(|law| format!("draw<{law}>")));
    all.map(|call| Entry::new(call, "DrawArgs", "random")).collect()
}

fn entries_each() -> Vec<Entry> {
    EACH.iter().map(|law| Entry::new(format!("draw_each<{law}>"), "EachArgs", "random")).collect()
}

fn entries_sample() -> Vec<Entry> {
    let permutation = ["permutation_begin", "permutation_claim", "permutation_exchange"];
    let mut entries: Vec<Entry> = permutation.map(|call| Entry::new(call, "PermutationArgs", "random")).into();
    entries.extend(["race_keys", "race_result"].map(|call| Entry::new(call, "RaceArgs", "random")));
    entries
}

/// The destination of a fill.
#[derive(Clone, Copy)]
struct Place {
    at: u64,
    dtype: Dtype,
    n: i64,
}

/// The inputs of a fill other than random words.
#[derive(Clone, Copy, Default)]
struct Given {
    numbers: [f64; 5],
    from: i64,
    span: u64,
    lists: [u64; 2],
}

/// Fills a row-major operand.
pub fn random(gpu: &Gpu, draw: Draw, generator: &mut Generator, out: &Operand, parameters: &[&Operand]) -> Result<()> {
    let Generator::Philox(stream) = generator else { return gpu.refuse() };
    let place = Place { at: out.first() as u64, dtype: out.dtype, n: out.layout().numel() };
    let lists = [0, 1].map(|k| parameters.get(k).map_or(0, |list| list.first() as u64));
    let numbers = |numbers: &[f64]| {
        let mut given = Given { lists, ..Given::default() };
        given.numbers.iter_mut().zip(numbers).for_each(|(to, &x)| *to = x);
        given
    };
    let double = out.dtype == Dtype::Float64;
    let float = if double { "double" } else { "float" };
    // For float32 results, parameters are rounded to float32, and the computation is in float32.
    let single = |x: f64| if double { x } else { f64::from(x as f32) };
    let half = |x: f64| if double { 0.5 * x } else { f64::from(0.5 * x as f32) };
    // Positive numbers that would be stored as 0 become the smallest positive one.
    let (least, most) = (out.dtype.least_positive(), out.dtype.below_one());
    let each = |stream: &mut Philox, law: &str, given: &[f64]| draw_each(gpu, place, stream, law, numbers(given));
    match draw {
        Draw::Uniform { from, to, most } => {
            fill(gpu, place, stream, &format!("Uniform<{float}>"), numbers(&uniform(double, [from, to, most])))
        }
        Draw::Normal { mean, std } => fill(gpu, place, stream, &format!("Normal<{float}>"), numbers(&[single(mean), single(std)])),
        Draw::LogNormal { mean, std } => {
            fill(gpu, place, stream, &format!("LogNormal<{float}>"), numbers(&[single(mean), single(std), least]))
        }
        Draw::Exponential { lambda } => fill(gpu, place, stream, &format!("Exponential<{float}>"), numbers(&[half(1.0 / lambda), least])),
        Draw::Cauchy { median, sigma } => fill(gpu, place, stream, &format!("Cauchy<{float}>"), numbers(&[single(median), single(sigma)])),
        Draw::Geometric { p } => fill(gpu, place, stream, "Geometric", numbers(&[0.5 * (-1.0 / p.ln())])),
        Draw::Bernoulli { p } => fill(gpu, place, stream, "Chance", Given { span: (p * 4_294_967_296.0).round() as u64, ..numbers(&[]) }),
        Draw::BernoulliEach => fill(gpu, place, stream, "ChanceEach", numbers(&[])),
        Draw::Integers { from, span } => {
            fill(gpu, place, stream, if span <= LONGEST { "Range" } else { "LongRange" }, Given { from, span, ..numbers(&[]) })
        }
        Draw::Alias => fill(gpu, place, stream, "Alias", Given { span: parameters[1].layout().numel() as u64, ..numbers(&[]) }),
        Draw::TruncatedNormal { mean, std, from, to } => each(stream, "Truncated", &[mean, std, from, to]),
        Draw::Gamma { shape, scale } => each(stream, "Gamma", &[shape, scale, least]),
        Draw::Beta { a, b } => each(stream, "Beta", &[a, b, least, most]),
        Draw::Poisson { rate } => each(stream, "Poisson", &[rate]),
        Draw::Binomial { n, p } => each(stream, "Binomial", &[n, p]),
        Draw::GammaEach => each(stream, "Gamma", &[0.0, 0.0, least]),
        Draw::BetaEach => each(stream, "Beta", &[0.0, 0.0, least, most]),
        Draw::PoissonEach => each(stream, "Poisson", &[]),
        Draw::BinomialEach => each(stream, "Binomial", &[]),
        Draw::Permutation => permute(gpu, place, stream),
        Draw::Categories { replacement } => categories(gpu, place, stream, parameters[0], replacement),
    }
}

/// The parameters of a uniform distribution. A range that is wider than the largest float is computed at half its size.
fn uniform(double: bool, [from, to, most]: [f64; 3]) -> [f64; 5] {
    if double {
        let shrink = if (to - from).is_finite() { 1.0 } else { 0.5 };
        let low = from * shrink;
        return [low, to * shrink - low, 1.0 / shrink, to, to.next_down().max(from)];
    }
    let (from, to, most) = (from as f32, to as f32, most as f32);
    let shrink = if (to - from).is_finite() { 1.0 } else { 0.5 };
    let low = from * shrink;
    let (end, last) = if most < to { (most, most) } else { (to, to.next_down().max(from)) };
    [low, to * shrink - low, 1.0 / shrink, end, last].map(f64::from)
}

/// Reserves the stream's blocks for `n` elements: `blocks` for each group.
fn reserve(stream: &mut Philox, n: i64, blocks: u64) -> u64 {
    stream.reserve((n as u64).div_ceil(GROUP).wrapping_mul(blocks))
}

/// Fills a place with a distribution that needs one or two words for each element.
fn fill(gpu: &Gpu, place: Place, stream: &mut Philox, law: &str, given: Given) -> Result<()> {
    let of_word = law.ends_with("<float>") || matches!(law, "Chance" | "Range");
    let blocks = if of_word { GROUP / 4 } else { GROUP / 2 };
    let (seed, block) = (stream.seed, reserve(stream, place.n, blocks));
    let Given { numbers, from, span, lists } = given;
    if place.n == 0 {
        return Ok(());
    }
    let args = DrawArgs { to: place.at, n: place.n, seed, block, numbers, from, span, lists, dtype: place.dtype.code(), unused: 0 };
    let items = (place.n as u64).div_ceil(GROUP).saturating_mul(blocks).cast_signed();
    // SAFETY: the place has `n` elements, and the lists have the entries that the distribution reads.
    unsafe { gpu.launch(&RANDOM, &format!("draw<{law}>"), "DrawArgs", gpu.blocks_for(items), &args) }
}

/// Fills a place with a distribution that needs a variable number of words for each element.
fn draw_each(gpu: &Gpu, place: Place, stream: &mut Philox, law: &str, given: Given) -> Result<()> {
    let (seed, block) = (stream.seed, reserve(stream, place.n, GROUP));
    let [a, b, c, d, _] = given.numbers;
    if place.n == 0 {
        return Ok(());
    }
    let (lists, dtype) = (given.lists, place.dtype.code());
    let args = EachArgs { to: place.at, n: place.n, seed, block, numbers: [a, b, c, d], lists, dtype, unused: 0 };
    // SAFETY: the place and the lists have `n` elements.
    unsafe { gpu.launch(&RANDOM_EACH, &format!("draw_each<{law}>"), "EachArgs", gpu.blocks_for(place.n), &args) }
}

/// Writes a random permutation of the integers from 0 on to a place of int64.
fn permute(gpu: &Gpu, place: Place, stream: &mut Philox) -> Result<()> {
    let (n, seed) = (place.n, stream.seed);
    if n == 0 {
        return Ok(());
    }
    let block = stream.reserve((n as u64 - 1).div_ceil(PERMUTED) * (PERMUTED / GROUP) * (GROUP / 2));
    let memory = gpu.scratch((2 * n as usize + 1) * 8)?;
    let [targets, cells, left] = [0, 1, 2].map(|k| memory.ptr() + k * n as u64 * 8);
    let mut args = PermutationArgs { order: place.at, targets, cells, left, n, seed, block, round: 1 };
    // SAFETY: the place and the lists have `n` numbers.
    let launch =
        |call: &str, args: &PermutationArgs| unsafe { gpu.launch(&RANDOM_SAMPLE, call, "PermutationArgs", gpu.blocks_for(n), args) };
    launch("permutation_begin", &args)?;
    loop {
        for _ in 0..ROUNDS {
            // SAFETY: the scratch memory has a counter.
            unsafe { gpu.zero(left, 8) }?;
            launch("permutation_claim", &args)?;
            launch("permutation_exchange", &args)?;
            args.round += 1;
        }
        let mut exchanges_left = [0u64];
        // SAFETY: the scratch memory has a counter.
        unsafe { gpu.read(left, &mut exchanges_left) }?;
        if exchanges_left[0] == 0 {
            return Ok(());
        }
    }
}

/// Categories for each row of a matrix of probabilities. The tables are computed on the host, because each entry depends on the ones
/// before.
fn categories(gpu: &Gpu, place: Place, stream: &mut Philox, p: &Operand, replacement: bool) -> Result<()> {
    let [rows, count] = [0, 1].map(|d| p.layout().shape[d]);
    let n = place.n / rows.max(1);
    for row in 0..rows as u64 {
        let place = Place { at: place.at + row * n as u64 * 8, dtype: Dtype::Int64, n };
        let at = p.first() as u64 + row * count as u64 * 8;
        if !replacement {
            race(gpu, place, stream, at, count)?;
            continue;
        }
        let mut p = list(count as usize, |_| Ok(0.0))?;
        // SAFETY: the matrix is row-major, and one of its rows begins at `at`.
        unsafe { gpu.read(at, &mut p) }?;
        let tables = gpu.scratch(count as usize * 16)?;
        let lists = [tables.ptr(), tables.ptr() + count as u64 * 8];
        if n <= count / SEARCHED_SHARE {
            // Probabilities are divided by the greatest first, because the sum of very small ones may underflow.
            let most = p.iter().fold(0.0f64, |most, &x| most.max(x));
            let mut sum = 0.0;
            let last = p.iter().rposition(|&x| x > 0.0).unwrap_or(0) as i64;
            p.iter_mut().for_each(|x| {
                sum += *x / most;
                *x = sum;
            });
            // SAFETY: the scratch memory has two lists of this length.
            unsafe { gpu.write(lists[0], &p) }?;
            fill(gpu, place, stream, "Sums", Given { numbers: [sum, 0.0, 0.0, 0.0, 0.0], from: last, span: count as u64, lists })?;
        } else {
            let alias = Alias::new(&p)?;
            // SAFETY: the scratch memory has two lists of this length.
            unsafe { gpu.write(lists[0], &alias.other) }?;
            // SAFETY: the scratch memory has two lists of this length.
            unsafe { gpu.write(lists[1], &alias.stays) }?;
            fill(gpu, place, stream, "Alias", Given { span: count as u64, lists, ..Given::default() })?;
        }
    }
    Ok(())
}

/// Draws categories without replacement: each gets an exponentially distributed arrival time, and the first ones are the result.
fn race(gpu: &Gpu, place: Place, stream: &mut Philox, p: u64, count: i64) -> Result<()> {
    let (seed, block) = (stream.seed, reserve(stream, count, GROUP / 2));
    if count > MOST_KEYS {
        return gpu.refuse();
    }
    if place.n == 0 {
        return Ok(());
    }
    let keys = Keys::new(gpu, count)?;
    let args = RaceArgs { order: keys.order, to: place.at, n: place.n, p, seed, block };
    // SAFETY: there is a key for each category, and no more arrivals than categories.
    let launch = |call: &str, items: i64| unsafe { gpu.launch(&RANDOM_SAMPLE, call, "RaceArgs", gpu.blocks_for(items), &args) };
    launch("race_keys", count)?;
    keys.sort(gpu, 8)?;
    launch("race_result", place.n)
}
