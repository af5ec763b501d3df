//! Tests of properties that every function has.

use super::*;
use crate::api::args::{DEFAULTS, Kind};
use crate::api::function::{Body, Function, MOST_NUMBERS, invoke};
use crate::api::nulls::NULL_REFUSED;
use crate::api::returns::Return;
use crate::api::word::{ToWord, Word};
use crate::api::{forms, notes};
use crate::dtype::Dtype;
use crate::tensor::Tensor;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_int};
use std::path::Path;
use std::ptr::NonNull;

/// Names that libthorn.so exports outside of the table: functions that cannot fail, and allocators.
const NO_ROWS: &[&str] = &[
    "THClearLastError",
    "THDefaultAllocator",
    "THGetLastError",
    "THGetLastErrorCode",
    "THMapAllocator",
    "THRefcountedMapAllocator",
    "THSetLastError",
    "THStorage_free",
    "THStorage_retain",
    "THTensor_free",
    "THTensor_retain",
];

fn functions() -> impl Iterator<Item = (&'static Function, String)> {
    let named = |&function: &&'static Function| (function, format!("{}{}", function.prefix, function.signature.name()));
    ALL.iter().flat_map(move |chapter| chapter.functions.iter().map(named))
}

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the file is in the repository")
}

#[test]
fn exported_functions_are_in_the_table() {
    let names: BTreeSet<String> = functions().map(|(.., name)| name).chain(NO_ROWS.iter().map(|name| (*name).to_owned())).collect();
    let symbols: BTreeSet<String> = file("c_tests/symbols.txt").lines().map(str::to_owned).collect();
    assert_eq!(names, symbols);
    assert_eq!(functions().count() + NO_ROWS.len(), symbols.len(), "a name stands in two functions");
}

/// The declarations have a comment with the title before the functions of each chapter.
#[test]
fn chapters_have_the_titles_of_the_header() {
    let declarations = file("src/capi/declarations.h");
    let (mut chapter, mut chapters) = ("", BTreeMap::new());
    for line in declarations.lines() {
        if let Some(title) = line.strip_prefix("/* ").and_then(|rest| rest.strip_suffix(" */")) {
            chapter = title;
        } else if let Some((head, _)) = line.split_once('(') {
            chapters.insert(head.rsplit([' ', '*']).next().unwrap_or_default(), chapter);
        }
    }
    for part in ALL {
        for function in part.functions {
            let name = format!("{}{}", function.prefix, function.signature.name());
            // `THCdef` and `THCdefChapter` are not among the declarations that they return.
            let title = chapters.get(name.as_str()).copied().unwrap_or("Versions");
            assert_eq!(part.title, title, "{name}");
        }
    }
}

#[test]
fn every_function_is_documented() {
    for (function, name) in functions() {
        assert!(function.doc.trim().len() > 10, "{name} has no documentation");
    }
}

#[test]
fn forms_and_aliases_are_functions() {
    let names: BTreeSet<&str> =
        functions().filter(|(function, _)| function.prefix == "THTensor_").map(|(function, _)| function.signature.name()).collect();
    let mut seen = BTreeSet::new();
    for form in forms::FORMS.iter().flat_map(|(_, forms)| forms.split(' ')) {
        assert!(names.contains(form), "{form} is no function");
        assert!(seen.insert(form), "{form} is a form of two operations");
    }
    for (alias, function) in forms::ALIASES {
        assert!(names.contains(alias) && names.contains(function), "{alias} or {function} is no function");
    }
    // A name that consists of another name and the suffix of a form belongs to a group.
    for name in &names {
        let stem = ["Values", "Value", "Tensor", "Dims", "all", "Dtype", "Uniform", "Correction", "Long"]
            .iter()
            .find_map(|end| name.strip_suffix(end));
        let is_form = stem.is_some_and(|stem| names.contains(stem)) && *name != "newViewDtype";
        let alias = forms::ALIASES.iter().any(|(alias, _)| alias == name);
        assert!(!is_form || alias || seen.contains(name), "{name} is in no line of api/forms.rs");
    }
}

/// Returns the functions to which a line of `api/notes.rs` applies.
fn noted(names: &str) -> Vec<(&'static Function, String)> {
    let all = || functions();
    let of = |name: &str| {
        all().find(|(_, of)| of.strip_prefix("THTensor_").unwrap_or(of) == name).unwrap_or_else(|| panic!("{name} is no function"))
    };
    if names == "*" { all().collect() } else { names.split(' ').map(of).collect() }
}

/// Returns the kind of the argument `name`.
fn kind_of(function: &Function, name: &str) -> Option<Kind> {
    (0..function.signature.kinds.len()).find(|&k| function.signature.arg(k) == name).map(|k| function.signature.kinds[k])
}

/// Calls `check` with each argument in a table of `argument=note`, its kind and the note. No argument has two notes.
fn each_noted(table: &[(&str, &str)], check: impl Fn(Kind, &str) -> bool) {
    let mut seen = BTreeSet::new();
    for (names, notes) in table {
        for note in notes.split(' ') {
            let (argument, value) = note.split_once('=').expect("argument=note");
            let known =
                noted(names).into_iter().filter_map(|(function, name)| Some((kind_of(function, argument)?, name))).collect::<Vec<_>>();
            assert!(if *names == "*" { !known.is_empty() } else { known.len() == noted(names).len() }, "{names} have no {argument}");
            for (kind, name) in known {
                assert!(check(kind, value), "{value} is no value of {argument} of {name}, of kind {kind:?}");
                assert!(seen.insert((name, argument)), "{argument} has two notes in {names}");
            }
        }
    }
}

#[test]
fn notes_on_arguments_are_values_of_them() {
    use Kind::*;
    let words: Vec<&str> = notes::WORDS.iter().flat_map(|(_, note)| note.split(['=', '|'])).collect();
    each_noted(notes::DEFAULT_VALUES, |kind, value| match kind {
        number | factor | parameter | double => value.parse::<f64>().is_ok(),
        entry | size | stride | count | integer | counts | optional_counts => value.parse::<i64>().is_ok(),
        dim => value == "TH_ALL_DIMS" || value.parse::<c_int>().is_ok(),
        int => value.parse::<c_int>().is_ok(),
        flag => matches!(value, "0" | "1"),
        text => words.contains(&value),
        _ => false,
    });
    each_noted(notes::WORDS, |kind, _| kind == text);
    each_noted(notes::EXAMPLES, |kind, _| matches!(kind, text | optional_text));
    let (_, names) = notes::WORDS.iter().find(|(function, _)| *function == "THDtype_fromName").expect("names of dtypes are words");
    let names: Vec<&str> = names.split(['=', '|']).skip(1).collect();
    names.iter().for_each(|name| assert!(Dtype::from_name(name.as_bytes()).is_some(), "{name}"));
    Dtype::ALL.iter().for_each(|of| assert!(names.contains(&of.name()), "{of}"));
}

#[test]
fn positions_are_tensors_whose_kind_does_not_say_so() {
    for (names, result) in notes::POSITIONS {
        for (function, name) in noted(names) {
            let right = match kind_of(function, result) {
                Some(kind) => matches!(kind, Kind::out | Kind::new_handles | Kind::shared),
                None => *result == "returns" && matches!(function.returns, Return::new | Return::count),
            };
            assert!(right, "{name}: {result}");
        }
    }
}

#[test]
fn shapes_are_of_arguments() {
    let sizes = |sizes: &str| {
        let word = |word: &str| word.len() == 1 && word.bytes().all(|c| c.is_ascii_lowercase()) || word.parse::<u8>().is_ok();
        let plain = |sizes: &str| sizes.split(['+', '-', '*', ',', '(', ')']).all(|part| part.is_empty() || word(part));
        sizes == "()" || !sizes.is_empty() && !sizes.starts_with(',') && !sizes.ends_with(',') && plain(sizes)
    };
    let mut seen = BTreeSet::new();
    for (names, note) in notes::SHAPES {
        for (function, name) in noted(names) {
            assert!(seen.insert(name.clone()), "{name} has two notes");
            for part in note.split("; ") {
                let at = part.find([' ', '=']).unwrap_or_else(|| panic!("{name}: {part}"));
                let (argument, given) = (&part[..at], &part[at + 1..]);
                let kind = kind_of(function, argument).unwrap_or_else(|| panic!("{name} has no argument {argument}"));
                let optional = matches!(kind, Kind::optional_input | Kind::optional_state | Kind::optional_index | Kind::optional_out);
                let tensor = is_tensor(&kind) || optional || kind == Kind::inputs;
                let right = match (part.as_bytes()[at], kind) {
                    (b' ', Kind::inputs) => given.split(" & ").all(sizes),
                    (b' ', _) => tensor && sizes(given.strip_prefix(['+', '@', '#']).unwrap_or(given)),
                    (_, Kind::text) => !given.is_empty(),
                    (_, _) if given == "NULL" => optional,
                    (_, _) if given.starts_with("TH_") => DEFAULTS.iter().any(|(of, _)| *of == kind),
                    (_, _) => {
                        let given = given.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(given);
                        !tensor && given.split("..").all(sizes)
                    }
                };
                assert!(right, "{name}: {part}");
            }
        }
    }
}

/// A function that computes results from tensors has expectations. For any other, a line of `tests/data/tested_by_name.txt` names the test
/// that calls it and the reason: `file: reason`, above lines of names.
#[test]
fn every_function_is_tested_by_name() {
    let expectations = file("tests/data/expectations.txt");
    let called: BTreeSet<&str> = expectations.lines().filter_map(|line| line.strip_prefix("call ")?.split(' ').next()).collect();
    let list = file("tests/data/tested_by_name.txt");
    let (mut test, mut listed) = (String::new(), BTreeSet::new());
    for line in list.lines() {
        let Some(names) = line.strip_prefix("  ") else {
            let (path, reason) = line.split_once(": ").expect("a test and the reason");
            assert!(!reason.is_empty(), "{path} stands without a reason");
            test = file(path);
            continue;
        };
        for name in names.split(' ') {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let named = test.match_indices(name).any(|(at, _)| !test[at + name.len()..].starts_with(word) && !test[..at].ends_with(word));
            assert!(named, "the test of {name} does not name it");
            assert!(listed.insert(name), "{name} is listed twice");
        }
    }
    for (function, name) in functions() {
        let expected = function.prefix == "THTensor_" && called.contains(function.signature.name());
        assert!(expected || listed.contains(name.as_str()), "{name} is neither in tests/data/expectations.txt nor in tested_by_name.txt");
        assert!(!expected || !listed.contains(name.as_str()), "{name} is listed and has expectations");
    }
    let exported: BTreeSet<String> = functions().map(|(.., name)| name).chain(NO_ROWS.iter().map(|name| (*name).to_owned())).collect();
    listed.iter().for_each(|name| assert!(exported.contains(*name), "{name} is no function"));
}

/// Returns true for handles of tensors that must not be NULL.
fn is_tensor(kind: &Kind) -> bool {
    use Kind::*;
    matches!(kind, out | view_out | truth | indices | totals | pivots_out | inout | handle | shared | input | mask | index | pivots)
}

#[test]
fn every_function_names_itself_and_the_argument_in_its_errors() {
    let tensor = Tensor::empty(Dtype::Float32, &[2]).expect("there is memory").into_raw();
    for (function, name) in functions() {
        let dtype = function.signature.kinds.iter().position(|kind| matches!(kind, Kind::dtype | Kind::other_dtype));
        // Each argument in turn is NULL, and the arguments before it are not.
        for at in (0..function.signature.kinds.len()).filter(|&at| NULL_REFUSED.contains(&function.signature.kinds[at])) {
            if function.signature.kinds[..at].iter().any(|kind| NULL_REFUSED.contains(kind) && !is_tensor(kind)) {
                continue;
            }
            let words: Vec<Word> = (0..function.signature.kinds.len())
                .map(|k| if k < at && is_tensor(&function.signature.kinds[k]) { tensor.word() } else { Word::ZERO })
                .collect();
            // A dtype of 0 is invalid, and reported first.
            let what = match dtype.is_some_and(|dtype| dtype < at) {
                true => "TH_UNDEFINED is no dtype of elements".to_owned(),
                false => format!("argument '{}' is NULL", function.signature.arg(at)),
            };
            invoke(function, &words);
            // SAFETY: the message is a C string.
            let message = unsafe { CStr::from_ptr(by_hand::errors::THGetLastError()) }.to_str().expect("messages are UTF-8");
            assert_eq!(message, format!("{name}: {what}"));
        }
    }
    // SAFETY: the handle was made above.
    drop(unsafe { Tensor::from_raw(NonNull::new(tensor).expect("not NULL")) });
}

/// Kinds that [`fresh_handles_are_named`] has a value for.
const PLAIN: &[Kind] = &[
    Kind::number,
    Kind::factor,
    Kind::parameter,
    Kind::double,
    Kind::entry,
    Kind::size,
    Kind::stride,
    Kind::count,
    Kind::integer,
    Kind::dim,
    Kind::int,
    Kind::flag,
    Kind::len,
];

/// Each operand in turn is a fresh handle, and the others are not. If the function reports this, the message must name the argument.
#[test]
fn fresh_handles_are_named() {
    let matrix = || Tensor::empty(Dtype::Float32, &[2, 2]).expect("there is memory");
    let mut named = 0;
    for (function, name) in functions() {
        let operands: Vec<usize> = (0..function.signature.kinds.len()).filter(|&k| is_tensor(&function.signature.kinds[k])).collect();
        let known = |kind: &Kind| is_tensor(kind) || PLAIN.contains(kind) || format!("{kind:?}").starts_with("optional");
        if !function.signature.kinds.iter().all(known) {
            continue;
        }
        for &at in
            operands.iter().filter(|&&k| matches!(function.signature.kinds[k], Kind::input | Kind::mask | Kind::index | Kind::pivots))
        {
            let tensors: Vec<Tensor> = (0..function.signature.kinds.len())
                .map(|k| if k == at { Tensor::fresh().expect("there is memory") } else { matrix() })
                .collect();
            let words: Vec<Word> = (0..function.signature.kinds.len())
                .map(|k| match function.signature.kinds[k] {
                    _ if operands.contains(&k) => tensors[k].as_ptr().word(),
                    Kind::number | Kind::factor | Kind::parameter | Kind::double => 1.0.word(),
                    Kind::entry | Kind::size | Kind::stride | Kind::count | Kind::integer => 1i64.word(),
                    _ => Word::ZERO,
                })
                .collect();
            by_hand::errors::THClearLastError();
            invoke(function, &words);
            // SAFETY: the message is a C string.
            let message = unsafe { CStr::from_ptr(by_hand::errors::THGetLastError()) }.to_str().expect("messages are UTF-8");
            if message.contains("has no dtype yet") {
                named += 1;
                let argument = format!("{name}: argument '{}' has no dtype yet", function.signature.arg(at));
                assert!(message.starts_with(&argument), "expected {argument}, got {message}");
            }
        }
    }
    assert!(named > 350, "only {named} calls found a fresh handle");
}

#[test]
fn numbers_of_elementwise_operations_fit() {
    for (function, name) in functions().filter(|(function, _)| matches!(function.body, Body::Elementwise(_))) {
        let count = |kinds: &[Kind]| function.signature.kinds.iter().filter(|kind| kinds.contains(kind)).count();
        let promoted = count(&[Kind::number, Kind::factor]);
        assert!(promoted + count(&[Kind::parameter]) <= MOST_NUMBERS, "{name}");
        assert!(promoted == 0 || (promoted, count(&[Kind::parameter]), count(&[Kind::input])) == (1, 0, 1), "{name}");
    }
}
