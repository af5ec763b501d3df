//! `thorn diff`.

use crate::Result;
use crate::scan::{self, Pieces};
use crate::source::{Entry, Source, shape};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;

/// Compares the tensors of two files: equal are |a - b| <= atol + rtol * |b|, NaN and NaN, and infinities of one sign.
#[derive(clap::Args)]
pub struct Diff {
    /// The one file.
    a: OsString,
    /// The other file.
    b: OsString,
    /// The relative difference that is allowed.
    #[arg(long, default_value_t = 0.0)]
    rtol: f64,
    /// The absolute difference that is allowed.
    #[arg(long, default_value_t = 0.0)]
    atol: f64,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

/// A difference, as a text and as JSON.
struct Difference(String, Value);

impl Diff {
    /// Runs the command; returns true if the files are equal.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool> {
        let (a, b) = (Source::open(&self.a)?, Source::open(&self.b)?);
        let (of_a, of_b) = (a.entries()?, b.entries()?);
        let bar = scan::bar(of_a.iter().map(Entry::bytes).sum());
        let in_b: BTreeMap<&str, &Entry> = of_b.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        let in_a: BTreeMap<&str, &Entry> = of_a.iter().map(|entry| (entry.name.as_str(), entry)).collect();
        let mut found = Vec::new();
        for (name, entry) in &in_a {
            match in_b.get(name) {
                None => found.push(only(name, &self.a)),
                Some(other) => found.extend(self.compare((&a, entry), (&b, other), &bar)?),
            }
        }
        found.extend(in_b.keys().filter(|name| !in_a.contains_key(*name)).map(|name| only(name, &self.b)));
        bar.finish_and_clear();
        let equal = found.is_empty();
        if self.json {
            let differences: Vec<Value> = found.into_iter().map(|difference| difference.1).collect();
            writeln!(out, "{}", json!({ "equal": equal, "differences": differences }))?;
        } else {
            found.iter().try_for_each(|difference| writeln!(out, "{}", difference.0))?;
        }
        Ok(equal)
    }

    fn compare(
        &self,
        (a, of_a): (&Source, &Entry),
        (b, of_b): (&Source, &Entry),
        bar: &indicatif::ProgressBar,
    ) -> Result<Option<Difference>> {
        let name = &of_a.name;
        if of_a.sizes != of_b.sizes {
            let text = format!("'{name}': shapes {} and {}", shape(&of_a.sizes), shape(&of_b.sizes));
            return Ok(Some(Difference(text, json!({ "name": name, "shapes": [of_a.sizes, of_b.sizes] }))));
        }
        let (t, u) = (of_a.tensor(a)?, of_b.tensor(b)?);
        let dtypes = [t.defined()?, u.defined()?];
        if dtypes[0] != dtypes[1] {
            let text = format!("'{name}': dtypes {} and {}", dtypes[0], dtypes[1]);
            return Ok(Some(Difference(text, json!({ "name": name, "dtypes": dtypes.map(|dtype| dtype.name()) }))));
        }
        let (mut differ, mut most, mut first, mut at) = (0u64, 0.0f64, None, 0u64);
        let (mut pieces, mut others) = (Pieces::new(&t)?, Pieces::new(&u)?);
        while let (Some(piece), Some(other)) = (pieces.next()?, others.next()?) {
            for (&x, &y) in piece.iter().zip(&other) {
                if !(x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= self.atol + self.rtol * y.abs() && y.is_finite()) {
                    differ += 1;
                    first.get_or_insert((at, x, y));
                    most = most.max((x - y).abs());
                }
                at += 1;
            }
            bar.inc(piece.len() as u64 * dtypes[0].size() as u64);
        }
        Ok(first.map(|(at, x, y)| {
            let text =
                format!("'{name}': {differ} of {} elements differ, by {most:e} at most; first element {at}: {x} and {y}", of_a.elements);
            let object = json!({ "name": name, "differ": differ, "elements": of_a.elements, "most": scan::json(most), "first": at });
            Difference(text, object)
        }))
    }
}

fn only(name: &str, file: &OsString) -> Difference {
    let file = file.to_string_lossy();
    Difference(format!("'{name}': only in {file}"), json!({ "name": name, "only_in": file }))
}
