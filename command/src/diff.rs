//! `thorn diff`.

use crate::elements::{Elements, Piece, Values};
use crate::number::Number;
use crate::progress::Progress;
use crate::source::{Entry, Source, total};
use crate::stop::{Outcome, Result, Stop, warn};
use crate::table::{cut, plain};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::Write;
use thorn::dtype::{Category, Dtype};

/// Compare the tensors of two files
///
/// Tensors are equal if dtypes, shapes and all elements are equal. Elements a and b are equal if
/// |a - b| <= atol + rtol * |b|, or if both are NaN, or both the same infinity. Integers are
/// compared exactly. If each file has one tensor, the names are ignored.
/// The exit code is 0 if everything is equal, 1 if not, 2 on an error.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Diff {
    /// The one file; - is the standard input.
    a: OsString,
    /// The other file.
    b: OsString,
    /// The allowed relative difference.
    #[arg(long, default_value_t = 0.0, value_parser = tolerance, allow_negative_numbers = true)]
    rtol: f64,
    /// The allowed absolute difference.
    #[arg(long, default_value_t = 0.0, value_parser = tolerance, allow_negative_numbers = true)]
    atol: f64,
    /// Compare tensors of different dtypes by their elements, as float64.
    #[arg(long)]
    any_dtype: bool,
    /// Compare the metadata, too.
    #[arg(short, long)]
    metadata: bool,
    /// Leave out tensors that thorn cannot read.
    #[arg(short, long)]
    skip: bool,
    /// Write JSON.
    #[arg(short, long)]
    json: bool,
    /// Write nothing: the exit code tells.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

fn tolerance(text: &str) -> std::result::Result<f64, String> {
    text.parse().ok().filter(|&x| x >= 0.0).ok_or_else(|| "a number that is not negative is needed".to_owned())
}

/// The number of characters of a value that are shown.
const VALUE: usize = 60;

/// A difference between two files, as in JSON.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Difference {
    /// A tensor that only one file has.
    Only { name: String, file: String },
    /// Shapes.
    Shape { name: String, a: Vec<i64>, b: Vec<i64> },
    /// Dtypes.
    Dtype { name: String, a: &'static str, b: &'static str },
    /// Elements.
    Elements(Found),
    /// The values of a key. A file without the key has none.
    Metadata { key: String, a: Option<String>, b: Option<String> },
}

/// Elements that differ.
#[derive(Serialize)]
struct Found {
    name: String,
    /// The number of elements that differ.
    differ: u64,
    /// The number of all elements.
    elements: i64,
    /// The largest difference; infinite if one element is NaN or infinite.
    most: Number,
    /// The position of the first differing element.
    first: Vec<i64>,
    a: Number,
    b: Number,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = |name: &str| if name.is_empty() { "-".to_owned() } else { plain(name) };
        match self {
            Difference::Only { name, file } => write!(f, "{}: only in {}", named(name), plain(file)),
            Difference::Shape { name, a, b } => write!(f, "{}: shape {a:?}, {b:?}", named(name)),
            Difference::Dtype { name, a, b } => write!(f, "{}: dtype {a}, {b}", named(name)),
            Difference::Elements(Found { name, differ, elements, most, first, a, b }) => {
                let (name, most, a, b) = (named(name), most.short(), a.exact(), b.exact());
                write!(f, "{name}: {differ} of {elements} elements differ, by up to {most}; the first at {first:?}: {a}, {b}")
            }
            Difference::Metadata { key, a, b } => {
                let value =
                    |value: &Option<String>| value.as_ref().map_or_else(|| "none".to_owned(), |value| format!("'{}'", cut(value, VALUE)));
                write!(f, "metadata {}: {}, {}", plain(key), value(a), value(b))
            }
        }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    equal: bool,
    differences: &'a [Difference],
}

impl Diff {
    /// Runs the command.
    pub fn run(&self, out: &mut dyn Write) -> Result<Outcome> {
        if self.a == "-" && self.b == "-" {
            return Err(Stop::Failed("one file alone can be the standard input".to_owned()));
        }
        let (a, b) = (Source::open(&self.a)?, Source::open(&self.b)?);
        let (mut found, failed) = self.tensors(&a, &b)?;
        if self.metadata {
            found.extend(metadata(&a, &b)?);
        }
        if self.json {
            let report = Report { equal: found.is_empty() && !failed, differences: &found };
            serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else if !self.quiet {
            found.iter().try_for_each(|difference| writeln!(out, "{difference}"))?;
        }
        Ok(match (failed, found.is_empty()) {
            (true, _) => Outcome::Failed,
            (_, true) => Outcome::Done,
            _ => Outcome::Different,
        })
    }

    /// Compares the tensors. Returns the differences, and true if some tensors could not be read.
    fn tensors(&self, a: &Source, b: &Source) -> Result<(Vec<Difference>, bool)> {
        let (mut of_a, mut of_b) = (a.entries()?, b.entries()?);
        if self.skip {
            of_a.retain(|entry| entry.dtype.is_ok());
            of_b.retain(|entry| entry.dtype.is_ok());
        }
        let alone = of_a.len() == 1 && of_b.len() == 1;
        let progress = Progress::new(total(of_a.iter()));
        let (keys_a, keys_b) = (keys(&of_a), keys(&of_b));
        let in_b: HashMap<Key<'_>, &Entry> = keys_b.iter().copied().zip(&of_b).collect();
        let in_a: HashSet<Key<'_>> = keys_a.iter().copied().collect();
        let (mut found, mut failed) = (Vec::new(), false);
        for (entry, key) in of_a.iter().zip(&keys_a) {
            let other = if alone { of_b.first() } else { in_b.get(key).copied() };
            let Some(other) = other else {
                found.push(Difference::Only { name: entry.name.clone(), file: a.name().to_owned() });
                continue;
            };
            match self.compare((a, entry), (b, other), &progress) {
                Ok(difference) => found.extend(difference),
                Err(Stop::Unread) => return Err(Stop::Unread),
                Err(Stop::Failed(message)) => {
                    progress.clear();
                    warn(message);
                    failed = true;
                }
            }
        }
        progress.clear();
        let only_b = of_b.iter().zip(&keys_b).filter(|(_, key)| !alone && !in_a.contains(*key));
        found.extend(only_b.map(|(entry, _)| Difference::Only { name: entry.name.clone(), file: b.name().to_owned() }));
        Ok((found, failed))
    }

    fn compare(&self, (a, of_a): (&Source, &Entry), (b, of_b): (&Source, &Entry), progress: &Progress) -> Result<Option<Difference>> {
        let name = || of_a.name.clone();
        if of_a.sizes != of_b.sizes {
            return Ok(Some(Difference::Shape { name: name(), a: of_a.sizes.clone(), b: of_b.sizes.clone() }));
        }
        let (elements_a, elements_b) = (Elements::new(a, of_a)?, Elements::new(b, of_b)?);
        let common = match (&of_a.dtype, &of_b.dtype) {
            (Ok(x), Ok(y)) if x != y && !self.any_dtype => return Ok(Some(Difference::Dtype { name: name(), a: x.name(), b: y.name() })),
            (Ok(x), Ok(y)) if x != y => Some(common(*x, *y)),
            _ => None,
        };
        let mut tally = Tally { diff: self, differ: 0, most: 0.0, first: None };
        for number in 0..elements_a.pieces() {
            let ((at, x), (_, y)) = (elements_a.piece(number)?, elements_b.piece(number)?);
            progress.add(x.bytes().len() as u64);
            // Equal bits mean equal elements.
            if common.is_none() && x.bytes() == y.bytes() {
                continue;
            }
            let widened = |piece: Piece| common.map_or_else(|| piece.widened(), |dtype| piece.converted(dtype));
            let (x, y) = (widened(x)?, widened(y)?);
            match (x.values(), y.values()) {
                (Values::Ints(x), Values::Ints(y)) => tally.take(at, x, y, Number::Int, |x, y| x.abs_diff(y) as f64),
                (Values::Singles(x), Values::Singles(y)) => tally.take(at, x, y, Number::Single, |x, y| apart(x.into(), y.into())),
                (Values::Doubles(x), Values::Doubles(y)) => tally.take(at, x, y, Number::Double, apart),
                _ => {}
            }
        }
        let Tally { differ, most, first, .. } = tally;
        Ok(first.map(|(at, x, y)| {
            let first = place(at, &of_a.sizes);
            Difference::Elements(Found { name: name(), differ, elements: of_a.elements, most: Number::Double(most), first, a: x, b: y })
        }))
    }
}

/// A name, and how many tensors before have it as well.
type Key<'e> = (&'e str, usize);

/// The keys of tensors, which differ also where names do not.
fn keys(entries: &[Entry]) -> Vec<Key<'_>> {
    let mut counts = HashMap::new();
    entries
        .iter()
        .map(|entry| {
            let count: &mut usize = counts.entry(entry.name.as_str()).or_default();
            *count += 1;
            (entry.name.as_str(), *count - 1)
        })
        .collect()
}

/// The dtype for the comparison of two dtypes.
fn common(a: Dtype, b: Dtype) -> Dtype {
    let whole = |dtype: Dtype| dtype.category() != Category::Float;
    if whole(a) && whole(b) { Dtype::Int64 } else { Dtype::Float64 }
}

/// The distance of two floats: 0 for two NaNs, infinite if one is NaN.
fn apart(x: f64, y: f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0.0,
        (false, false) if x == y => 0.0,
        (false, false) => (x - y).abs(),
        _ => f64::INFINITY,
    }
}

/// The differences found so far between two tensors.
struct Tally<'a> {
    diff: &'a Diff,
    differ: u64,
    most: f64,
    first: Option<(i64, Number, Number)>,
}

impl Tally<'_> {
    /// Compares two pieces. `at` is the number of their first element.
    fn take<T: Copy + PartialEq>(&mut self, at: i64, xs: &[T], ys: &[T], number: fn(T) -> Number, distance: impl Fn(T, T) -> f64) {
        let Diff { rtol, atol, .. } = *self.diff;
        for (k, (&x, &y)) in xs.iter().zip(ys).enumerate() {
            if x == y {
                continue;
            }
            // The distance of two NaNs is 0. No other number is near an infinity, for any tolerance.
            let far = distance(x, y);
            if far == 0.0 || far.is_finite() && far <= atol + rtol * number(y).float().abs() {
                continue;
            }
            self.differ += 1;
            self.most = self.most.max(far);
            self.first.get_or_insert_with(|| (at + k as i64, number(x), number(y)));
        }
    }
}

/// Returns the position of a row-major element along each dimension.
fn place(at: i64, sizes: &[i64]) -> Vec<i64> {
    let (mut place, mut rest) = (vec![0; sizes.len()], at);
    for (index, &size) in place.iter_mut().zip(sizes).rev() {
        *index = rest % size;
        rest /= size;
    }
    place
}

/// Returns the keys whose values differ.
fn metadata(a: &Source, b: &Source) -> Result<Vec<Difference>> {
    let (of_a, of_b) = (a.metadata()?, b.metadata()?);
    let mut found = Vec::new();
    let in_b: HashMap<&str, &str> = of_b.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let in_a: HashMap<&str, &str> = of_a.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    for (key, value) in &of_a {
        let other = in_b.get(key.as_str()).copied();
        if other != Some(value) {
            found.push(Difference::Metadata { key: key.clone(), a: Some(value.clone()), b: other.map(str::to_owned) });
        }
    }
    let only_b = of_b.iter().filter(|(key, _)| !in_a.contains_key(key.as_str()));
    found.extend(only_b.map(|(key, value)| Difference::Metadata { key: key.clone(), a: None, b: Some(value.clone()) }));
    Ok(found)
}
