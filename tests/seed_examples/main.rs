//! Runs the examples of thorn's source documents through the C API. `tests/data/seed_examples.jsonl` has one example on each line.
//!
//! An example is a list of operations (`setup`, then `call`) and a list of checks (`expected`). Dimensions, indices and offsets start at 0
//! in all of them, also where the document's own text (`seed_call`) counts from 1. Examples that a list of operations cannot express are
//! checked by hand (`by_hand.rs`). So are examples for which the documents contradict each other: there a comment names the decision.
//!
//! `cargo test --test seed_examples -- --nocapture` prints how many examples ran, and what the others wait for.

/// A call of the C API.
macro_rules! c {
    ($($function:ident)::+($($arg:expr),* $(,)?)) => {
        // SAFETY: `Tensor` or `Storage` keeps each handle alive, and each array has the length that is passed with it.
        unsafe { $($function)::+($($arg),*) }
    };
}

/// The functions `THTensor_*`, whose Rust names lack the prefix.
mod tensors {
    pub use thorn::capi::functions::gradients_of_tensors::*;
    pub use thorn::capi::functions::{apply::*, create::*, index::*, join::*, linalg::*, random::*, reduce::*};
    pub use thorn::capi::functions::{asking::*, copies::*, elements::*, handles::*, making::*};
    pub use thorn::capi::functions::{choices::*, scaled::*, truths::*};
    pub use thorn::capi::functions::{pairs_of_views::*, shapes::*, views::*};
}

/// The functions `THStorage_*`.
mod storages {
    pub use thorn::capi::functions::storage::*;
}

mod applying;
mod by_hand;
mod changing;
mod checks;
mod drawing;
mod handles;
mod indexing;
mod json;
mod making;
mod sparse;
mod viewing;
mod world;

use by_hand::BY_HAND;
use checks::check;
use handles::Outcome;
use json::{list, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use world::{World, known};

/// The reason why an example waits: an area of the library, and words of function names. Once the header declares a function with one of
/// these words in its name, in any case, the test fails and asks for the example.
type Wait = (&'static str, &'static str, &'static [&'static str]);

/// Operations that no function offers yet. An example that needs one waits.
const LATER: &[Wait] = &[];

/// Examples without operations that wait.
const LATER_EXAMPLES: &[Wait] = &[];

/// Examples that C does not need, because its types tell tensors from storages, and the tests of lua/tests/construct_test.lua that run
/// them.
const IN_LUA: &[(&str, &str)] = &[("000_is_tensor_is_storage", "isTensor and isStorage"), ("004_type_name", "types have Torch7's names")];

/// Examples that need a GPU, and the cases of c_tests/test_cuda.c that run them.
const ON_DEVICES: &[(&str, &str)] = &[
    ("000_cuda_default_device", "two_devices_work_side_by_side"),
    ("000_cuda_scoped_device", "two_devices_work_side_by_side"),
    ("000_cuda_explicit_device_in_scope", "the_examples_of_devices_hold"),
    ("000_cuda_result_on_source_device", "two_devices_work_side_by_side"),
    ("000_cuda_cross_device_add_error", "two_devices_work_side_by_side"),
    ("000_cuda_cross_device_copy_ok", "two_devices_work_side_by_side"),
    ("000_cuda_cpu_mixed_add_error", "operations_run_where_their_operands_lie"),
    ("002_cpu_on_cpu_returns_self", "the_examples_of_devices_hold"),
    ("002_cuda_to_device", "the_examples_of_devices_hold"),
    ("002_cuda_to_device_dtype", "the_examples_of_devices_hold"),
    ("002_cuda_to_other", "the_examples_of_devices_hold"),
    ("002_cuda_ones_on_cuda", "the_examples_of_devices_hold"),
    ("002_cuda_get_device_cuda", "the_examples_of_devices_hold"),
    ("000_cuda_roundtrip_values", "tensors_move"),
    ("003_gpu_arith_stays_on_gpu", "the_examples_of_devices_hold"),
];

/// Runs an example. Its call must fail with the expected message, or all of its checks must hold.
fn run(example: &Value) -> Outcome<()> {
    let mut world = World::default();
    world.run(&example["setup"]).map_err(|message| format!("the setup failed: {message}"))?;
    let expected = list(&example["expected"]);
    let refused = expected.iter().find(|expected| text(expected, "check") == "error");
    match (world.run(&example["call"]), refused.map(|expected| text(expected, "match"))) {
        (Ok(()), None) => expected.iter().try_for_each(|expected| check(&world, expected)),
        (Ok(()), Some(part)) => Err(format!("the call succeeded; expected an error with \"{part}\"")),
        // The name of the function is written as in C: newExpand.
        (Err(message), Some(part)) if message.to_lowercase().contains(&part.to_lowercase()) => Ok(()),
        (Err(message), _) => Err(format!("the call failed: {message}")),
    }
}

fn examples() -> Vec<Value> {
    include_str!("../data/seed_examples.jsonl").lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The names of the operations, or of the checks, in one part of an example.
fn names<'a>(example: &'a Value, part: &str, key: &'a str) -> impl Iterator<Item = &'a str> {
    list(&example[part]).iter().map(move |entry| text(entry, key))
}

fn area(table: &[Wait], name: &str) -> Option<&'static str> {
    table.iter().find(|(known, ..)| *known == name).map(|(_, area, _)| *area)
}

/// The functions that a header declares.
fn functions(header: &str) -> impl Iterator<Item = &str> {
    let code = header.lines().filter(|line| !line.starts_with("//"));
    code.filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next()).filter(|name| name.starts_with("TH"))
}

/// Returns the function in the header with `guard` in its name, if there is one. An example waits for it.
fn appeared(guard: &str, header: &str) -> Option<String> {
    let guard = guard.to_lowercase();
    functions(header).find(|name| name.to_lowercase().contains(&guard)).map(str::to_owned)
}

/// Returns the area that an example waits for, if it waits.
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
        } else if ON_DEVICES.iter().chain(IN_LUA).any(|(name, _)| *name == id) {
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
    for (name, ..) in LATER {
        assert!(used(name), "no example needs {name} any more");
        assert!(known(name).is_none(), "{name} is known, yet listed as to come");
    }
    let listed = BY_HAND.iter().map(|(id, _)| *id).chain(LATER_EXAMPLES.iter().map(|(id, ..)| *id));
    let listed: Vec<&str> = listed.chain(ON_DEVICES.iter().chain(IN_LUA).map(|(id, _)| *id)).collect();
    let on_devices = include_str!("../../c_tests/test_cuda.c");
    assert!(ON_DEVICES.iter().all(|(_, case)| on_devices.contains(&format!("CASE({case})"))), "a case of test_cuda.c is gone");
    let in_lua = include_str!("../../lua/tests/construct_test.lua");
    assert!(IN_LUA.iter().all(|(_, test)| in_lua.contains(&format!("test(\"{test}\""))), "a test of construct_test.lua is gone");
    assert!(listed.iter().all(|id| ids.contains(id)), "an id in the tables has no example");
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "an id stands twice in the tables");
}

#[test]
fn nothing_waits_for_what_is_there() {
    let header = include_str!("../../include/thorn.h");
    for (name, area, guards) in LATER.iter().chain(LATER_EXAMPLES) {
        assert!(!guards.is_empty(), "{name} waits for nothing by name");
        for guard in *guards {
            if let Some(found) = appeared(guard, header) {
                panic!("{found} exists: run the examples of {area} that wait for it ({name})");
            }
        }
    }
}

#[test]
fn a_function_that_appears_is_noticed() {
    let header = "// As THTensor_gather.\nconst char *THTensor_gradient(const struct THTensor *t);\n\
        THStatus THTensor_toSparse(int fd,\n  int x);\n";
    assert_eq!(functions(header).collect::<Vec<_>>(), ["THTensor_gradient", "THTensor_toSparse"]);
    assert_eq!(appeared("sparse", header).as_deref(), Some("THTensor_toSparse"));
    assert_eq!(appeared("gather", header), None);
    let all: Vec<_> = functions(include_str!("../../include/thorn.h")).collect();
    assert!(all.contains(&"THTensor_cadd") && all.contains(&"THTensor_newNarrow") && all.contains(&"THVersion"));
}
