//! What holds for every row.

use super::args::Kind;
use super::row::{Body, Face, Row, invoke};
use super::word::Word;
use super::*;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::path::Path;

/// Every list of rows and its face.
const AREAS: &[(&Face, &[Row])] = &[
    (&apply::FACE, apply::ROWS),
    (&create::FACE, create::ROWS),
    (&general::FACE, general::ROWS),
    (&matmul::FACE, matmul::ROWS),
    (&memory::FACE, memory::ROWS),
    (&order::FACE, order::ROWS),
    (&pointwise::FACE, pointwise::ROWS),
    (&pointwise::sums::FACE, pointwise::sums::ROWS),
    (&pointwise::quotients::FACE, pointwise::quotients::ROWS),
    (&pointwise::functions::FACE, pointwise::functions::ROWS),
    (&pointwise::bitwise::FACE, pointwise::bitwise::ROWS),
    (&pointwise::truths::FACE, pointwise::truths::ROWS),
    (&random::FACE, random::ROWS),
    (&random::fills::FACE, random::fills::ROWS),
    (&reduce::FACE, reduce::ROWS),
    (&scan::FACE, scan::ROWS),
    (&storage::FACE, storage::ROWS),
    (&tensor::FACE, tensor::ROWS),
    (&view::FACE, view::ROWS),
    (&view::pairs_of_views::FACE, view::pairs_of_views::ROWS),
];

/// What libthorn.so exports besides: functions that may not fail, and allocators.
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
    AREAS.iter().flat_map(|(face, rows)| rows.iter().map(move |row| (*face, row, format!("{}{}", face.prefix, row.name()))))
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
        assert!(called.contains(row.name()), "no line of tests/data/expectations.txt calls {name}");
    }
}

#[test]
fn every_row_names_itself_in_its_errors() {
    use Kind::*;
    let needed = [
        out,
        truth,
        indices,
        inout,
        input,
        mask,
        index,
        storage,
        storage_input,
        required_generator,
        text,
        map_context,
        count_inout,
        required_memory,
        allocator,
        stats_out,
    ];
    for (face, row, name) in rows() {
        let Some(first) = row.kinds.iter().position(|kind| needed.contains(kind)) else { continue };
        // A dtype of 0 is none, and found out before.
        let argument = match row.kinds[..first].iter().any(|kind| matches!(kind, dtype | other_dtype)) {
            true => "TH_UNDEFINED is no dtype of elements".to_owned(),
            false => format!("argument '{}' is NULL", row.arg(first)),
        };
        invoke(row, face, &vec![Word::ZERO; row.kinds.len()]);
        // SAFETY: the message is a C string.
        let message = unsafe { CStr::from_ptr(general::THGetLastError()) }.to_str().expect("messages are UTF-8");
        assert_eq!(message, format!("{name}: {argument}"));
    }
}
