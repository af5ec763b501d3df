//! The examples of the documents thorn is built after, run through the C API. `tests/data/seed_examples.jsonl` has one a line.
//!
//! An example is a list of operations (`setup`, then `call`) and of what must hold afterwards (`expected`). Dimensions, indices and offsets
//! start at 0 in all of them, also where the document's own words (`seed_call`) count from 1. What a list of operations cannot say is
//! checked by hand (`by_hand.rs`), and so is an example where the documents contradict each other: there the comment names the decision.
//!
//! `cargo test --test seed_examples -- --nocapture` prints how many examples ran and what the others wait for.

/// A call of the C API.
macro_rules! c {
    ($function:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: handles are held by `Tensor` or `Storage` meanwhile; arrays have the length passed with them.
        unsafe { $function($($arg),*) }
    };
}

mod applying;
mod by_hand;
mod changing;
mod checks;
mod handles;
mod json;
mod making;
mod viewing;
mod world;

use by_hand::BY_HAND;
use checks::check;
use handles::Outcome;
use json::{list, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use world::{World, known};

/// Operations no function offers yet, and what they belong to. An example that needs one waits.
const LATER: &[(&str, &str)] = &[
    ("index_add", "index, gather, scatter"),
    ("index_copy", "index, gather, scatter"),
    ("index_fill", "index, gather, scatter"),
    ("index_put", "index, gather, scatter"),
    ("index_select", "index, gather, scatter"),
    ("gather", "index, gather, scatter"),
    ("put", "index, gather, scatter"),
    ("scatter", "index, gather, scatter"),
    ("scatter_add", "index, gather, scatter"),
    ("scatter_value", "index, gather, scatter"),
    ("masked_copy", "masks"),
    ("masked_select", "masks"),
    ("nonzero", "masks"),
    ("bernoulli_tensor", "random"),
    ("random", "random"),
    ("backward", "autograd"),
    ("to_sparse", "sparse"),
    ("save", "serialization"),
    ("cuda", "CUDA"),
    ("print", "printing"),
];

/// Examples in words alone that wait.
const LATER_EXAMPLES: &[(&str, &str)] = &[
    ("000_cuda_default_device", "CUDA"),
    ("000_cuda_scoped_device", "CUDA"),
    ("000_cuda_explicit_device_in_scope", "CUDA"),
    ("000_cuda_result_on_source_device", "CUDA"),
    ("000_cuda_cross_device_add_error", "CUDA"),
    ("000_cuda_cross_device_copy_ok", "CUDA"),
    ("000_cuda_cpu_mixed_add_error", "CUDA"),
    ("002_cpu_on_cpu_returns_self", "CUDA"),
    ("002_cuda_to_device", "CUDA"),
    ("002_cuda_to_device_dtype", "CUDA"),
    ("002_cuda_to_other", "CUDA"),
    ("002_cuda_ones_on_cuda", "CUDA"),
    ("002_cuda_get_device_cuda", "CUDA"),
    ("002_exponential_positive", "random"),
    ("002_log_normal_moments", "random"),
    ("002_cauchy_median", "random"),
    ("002_geometric_support", "random"),
    ("002_bernoulli_integral_self", "random"),
    ("002_bernoulli_p_tensor", "random"),
    ("002_sparse_mask", "sparse"),
    ("002_geqrf_orgqr_roundtrip", "linear algebra"),
    // In C the types tell tensors from storages; other languages have to ask.
    ("000_is_tensor_is_storage", "bindings"),
    ("004_type_name", "bindings"),
];

/// Runs an example: either its call fails with the message it expects, or everything it expects holds.
fn run(example: &Value) -> Outcome<()> {
    let mut world = World::default();
    world.run(&example["setup"]).map_err(|message| format!("the setup failed: {message}"))?;
    let expected = list(&example["expected"]);
    let refused = expected.iter().find(|expected| text(expected, "check") == "error");
    match (world.run(&example["call"]), refused.map(|expected| text(expected, "match"))) {
        (Ok(()), None) => expected.iter().try_for_each(|expected| check(&world, expected)),
        (Ok(()), Some(part)) => Err(format!("the call succeeded; expected an error with \"{part}\"")),
        (Err(message), Some(part)) if message.contains(part) => Ok(()),
        (Err(message), _) => Err(format!("the call failed: {message}")),
    }
}

fn examples() -> Vec<Value> {
    include_str!("../data/seed_examples.jsonl").lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Names of the operations in one part of an example, or of its checks.
fn names<'a>(example: &'a Value, part: &str, key: &'a str) -> impl Iterator<Item = &'a str> {
    list(&example[part]).iter().map(move |entry| text(entry, key))
}

fn area(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, area)| *area)
}

/// What an example waits for, if it does.
fn waits_for(example: &Value) -> Option<&'static str> {
    let operations = names(example, "setup", "op").chain(names(example, "call", "op")).chain(names(example, "expected", "check"));
    let missing = operations.filter_map(|name| area(LATER, name)).next();
    area(LATER_EXAMPLES, text(example, "id")).or(missing)
}

#[test]
fn the_examples_hold() {
    let (mut ran, mut by_hand, mut waiting, mut failed) = (0, 0, BTreeMap::<_, usize>::new(), vec![]);
    for example in examples() {
        let id = text(&example, "id");
        if let Some((_, check)) = BY_HAND.iter().find(|(name, _)| *name == id) {
            check();
            by_hand += 1;
        } else if let Some(area) = waits_for(&example) {
            *waiting.entry(area).or_default() += 1;
        } else if let Err(message) = run(&example) {
            failed.push(format!("{id}: {message}\n    {}", text(&example, "seed_call")));
        } else {
            ran += 1;
        }
    }
    let total: usize = waiting.values().sum();
    println!("{ran} examples ran, {by_hand} were checked by hand, {total} wait: {waiting:?}");
    assert!(failed.is_empty(), "{} examples failed\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn the_tables_are_up_to_date() {
    let examples = examples();
    let ids: BTreeSet<&str> = examples.iter().map(|example| text(example, "id")).collect();
    assert_eq!(ids.len(), examples.len());
    let used = |name: &str| {
        let in_part = |part, key| examples.iter().any(|example| names(example, part, key).any(|used| used == name));
        in_part("setup", "op") || in_part("call", "op") || in_part("expected", "check")
    };
    let header = include_str!("../../include/thorn.h");
    for (name, _) in LATER {
        assert!(used(name), "no example needs {name} any more");
        let mut words = name.split('_');
        let mut function = format!("THTensor_{}", words.next().unwrap_or_default());
        words.for_each(|word| function += &format!("{}{}", word[..1].to_uppercase(), &word[1..]));
        assert!(!header.contains(&format!(" {function}(")), "{function} exists: run the examples that use {name}");
        assert!(known(name).is_none(), "{name} is known, yet listed as to come");
    }
    let listed: Vec<&str> = BY_HAND.iter().map(|(id, _)| *id).chain(LATER_EXAMPLES.iter().map(|(id, _)| *id)).collect();
    assert!(listed.iter().all(|id| ids.contains(id)), "an id in the tables has no example");
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "an id stands twice in the tables");
}
