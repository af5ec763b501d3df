//! Tests of properties that every row has.

use super::args::Kind;
use super::row::{Body, Face, MOST_NUMBERS, Row, invoke};
use super::word::{ToWord, Word};
use super::*;
use crate::tensor::Tensor;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::path::Path;
use std::ptr::NonNull;

/// The lists in modules, each with its face.
macro_rules! listed {
    ($($name:ident: $rows:ident $area:path;)*) => { [$({
        use $area as area;
        (&area::FACE, area::ROWS)
    }),*] };
}

macro_rules! listed_elementwise {
    ($($name:ident: $module:ident $rows:ident;)*) => { [$((&pointwise::$name::FACE, pointwise::$name::ROWS)),*] };
}

/// Every list of rows and its face.
const AREAS: [&[(&Face, &[Row])]; 3] = [
    &tensor_areas!(listed),
    &elementwise_areas!(listed_elementwise),
    &[
        (&storage::FACE, storage::ROWS),
        (&general::dtypes::FACE, general::dtypes::ROWS),
        (&general::errors::FACE, general::errors::ROWS),
        (&general::threads::FACE, general::threads::ROWS),
        (&general::vendor::FACE, general::vendor::ROWS),
        (&general::versions::FACE, general::versions::ROWS),
        (&memory::heap::FACE, memory::heap::ROWS),
        (&memory::mapped::FACE, memory::mapped::ROWS),
        (&print::FACE, print::ROWS),
        (&seed::FACE, seed::ROWS),
    ],
];

/// Other names that libthorn.so exports: functions that may not fail, and allocators.
const NO_ROWS: &[&str] = &[
    "THClearLastError",
    "THDefaultAllocator",
    "THGetLastError",
    "THGetLastErrorCode",
    "THMapAllocator",
    "THRefcountedMapAllocator",
    "THStorage_free",
    "THStorage_retain",
    "THTensor_free",
    "THTensor_retain",
];

fn rows() -> impl Iterator<Item = (&'static Face, &'static Row, String)> {
    AREAS
        .iter()
        .copied()
        .flatten()
        .flat_map(|(face, rows)| rows.iter().map(move |row| (*face, row, format!("{}{}", face.prefix, row.signature.name()))))
}

fn file(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the file is in the repository")
}

#[test]
fn what_is_exported_is_rows() {
    let names: BTreeSet<String> = rows().map(|(.., name)| name).chain(NO_ROWS.iter().map(|name| (*name).to_owned())).collect();
    let symbols: BTreeSet<String> = file("c_tests/symbols.txt").lines().map(str::to_owned).collect();
    assert_eq!(names, symbols);
    assert_eq!(rows().count() + NO_ROWS.len(), symbols.len(), "a name stands in two rows");
}

#[test]
fn every_row_is_documented() {
    for (_, row, name) in rows() {
        assert!(row.doc.trim().len() > 10, "{name} has no documentation");
    }
}

#[test]
fn every_elementwise_operation_has_expectations() {
    let expectations = file("tests/data/expectations.txt");
    let called: BTreeSet<&str> = expectations.lines().filter_map(|line| line.strip_prefix("call ")?.split(' ').next()).collect();
    let elementwise = rows().filter(|(_, row, _)| matches!(row.body, Body::Elementwise(_)));
    for (_, row, name) in elementwise {
        assert!(called.contains(row.signature.name()), "no line of tests/data/expectations.txt calls {name}");
    }
}

/// Kinds of arguments that are handles of tensors and may not be NULL.
const TENSORS: &[Kind] = &[Kind::out, Kind::truth, Kind::indices, Kind::inout, Kind::input, Kind::mask, Kind::index];
/// Other kinds that may not be NULL.
const POINTERS: &[Kind] = &[
    Kind::storage,
    Kind::storage_input,
    Kind::required_generator,
    Kind::text,
    Kind::map_context,
    Kind::required_memory,
    Kind::allocator,
    Kind::stats_out,
    Kind::print_options_out,
    Kind::stream,
];

#[test]
fn every_row_names_itself_and_the_argument_in_its_errors() {
    let tensor = Tensor::empty(Dtype::Float32, &[2]).expect("there is memory").into_raw();
    for (face, row, name) in rows() {
        let dtype = row.signature.kinds.iter().position(|kind| matches!(kind, Kind::dtype | Kind::other_dtype));
        // Each argument in turn is NULL, and those before it are not.
        for at in (0..row.signature.kinds.len())
            .filter(|&at| TENSORS.contains(&row.signature.kinds[at]) || POINTERS.contains(&row.signature.kinds[at]))
        {
            if row.signature.kinds[..at].iter().any(|kind| POINTERS.contains(kind)) {
                continue;
            }
            let words: Vec<Word> = (0..row.signature.kinds.len())
                .map(|k| if k < at && TENSORS.contains(&row.signature.kinds[k]) { tensor.word() } else { Word::ZERO })
                .collect();
            // A dtype of 0 is none, and found out before.
            let what = match dtype.is_some_and(|dtype| dtype < at) {
                true => "TH_UNDEFINED is no dtype of elements".to_owned(),
                false => format!("argument '{}' is NULL", row.signature.arg(at)),
            };
            invoke(row, face, &words);
            // SAFETY: the message is a C string.
            let message = unsafe { CStr::from_ptr(general::errors::THGetLastError()) }.to_str().expect("messages are UTF-8");
            assert_eq!(message, format!("{name}: {what}"));
        }
    }
    // SAFETY: the handle made above.
    drop(unsafe { Tensor::from_raw(NonNull::new(tensor).expect("not NULL")) });
}

/// Kinds that [`fresh_handles_are_named`] has a value for.
const PLAIN: &[Kind] =
    &[Kind::number, Kind::factor, Kind::parameter, Kind::double, Kind::count, Kind::dim, Kind::int, Kind::flag, Kind::len];

/// Each operand in turn is a fresh handle, beside others that are not: where a function says so, it names the argument.
#[test]
fn fresh_handles_are_named() {
    let matrix = || Tensor::empty(Dtype::Float32, &[2, 2]).expect("there is memory");
    let mut named = 0;
    for (face, row, name) in rows() {
        let operands: Vec<usize> = (0..row.signature.kinds.len()).filter(|&k| TENSORS.contains(&row.signature.kinds[k])).collect();
        let known = |kind: &Kind| TENSORS.contains(kind) || PLAIN.contains(kind) || format!("{kind:?}").starts_with("optional");
        if !row.signature.kinds.iter().all(known) {
            continue;
        }
        for &at in operands.iter().filter(|&&k| matches!(row.signature.kinds[k], Kind::input | Kind::mask | Kind::index)) {
            let tensors: Vec<Tensor> = (0..row.signature.kinds.len())
                .map(|k| if k == at { Tensor::fresh().expect("there is memory") } else { matrix() })
                .collect();
            let words: Vec<Word> = (0..row.signature.kinds.len())
                .map(|k| match row.signature.kinds[k] {
                    _ if operands.contains(&k) => tensors[k].as_ptr().word(),
                    Kind::number | Kind::factor | Kind::parameter | Kind::double => 1.0.word(),
                    Kind::count => 1i64.word(),
                    _ => Word::ZERO,
                })
                .collect();
            general::errors::THClearLastError();
            invoke(row, face, &words);
            // SAFETY: the message is a C string.
            let message = unsafe { CStr::from_ptr(general::errors::THGetLastError()) }.to_str().expect("messages are UTF-8");
            if message.contains("has no dtype yet") {
                named += 1;
                let argument = format!("{name}: argument '{}' has no dtype yet", row.signature.arg(at));
                assert!(message.starts_with(&argument), "expected {argument}, got {message}");
            }
        }
    }
    assert!(named > 350, "only {named} calls found a fresh handle");
}

#[test]
fn numbers_of_elementwise_operations_fit() {
    for (_, row, name) in rows().filter(|(_, row, _)| matches!(row.body, Body::Elementwise(_))) {
        let count = |kinds: &[Kind]| row.signature.kinds.iter().filter(|kind| kinds.contains(kind)).count();
        let promoted = count(&[Kind::number, Kind::factor]);
        assert!(promoted + count(&[Kind::parameter]) <= MOST_NUMBERS, "{name}");
        assert!(promoted == 0 || (promoted, count(&[Kind::parameter]), count(&[Kind::input])) == (1, 0, 1), "{name}");
    }
}
