//! Files of GGUF. The Python package gguf wrote them, and decoded the expected elements.

mod expected;

use expected::{check, elements, file, metadata, open, refused, storage, storages, tensor, values};
use thorn_files::{Data, Element, Format, Opaque};

#[test]
fn elements_are_those_of_gguf() {
    for (name, alignment) in [("types", 32), ("aligned", 64), ("version2", 64)] {
        let bytes = file(&format!("gguf/{name}.gguf"));
        let contents = open(&bytes);
        assert_eq!(contents.format, Format::Gguf);
        let expected = &values("gguf")[name.replace("version2", "aligned")];
        for (name, expected) in expected.as_object().unwrap() {
            let tensor = tensor(&contents, name);
            if name == "BF16" {
                let hex: String = elements(&contents, &bytes, tensor).iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(
                    (contents.storages[storage(tensor)].element.name(), hex.as_str()),
                    ("bfloat16", expected["hex"].as_str().unwrap())
                );
            } else {
                check(&contents, &bytes, name, expected);
            }
            match contents.storages[storage(tensor)].encoding.plain() {
                Some(at) => assert_eq!(at % alignment, 0),
                None => assert!(name.starts_with('Q')),
            }
        }
        assert_eq!(contents.tensors.len(), expected.as_object().unwrap().len() + 2);
        let Data::Opaque(Opaque { storage, size, why }) = &tensor(&contents, "other").data else { panic!("IQ1_S is not decoded") };
        assert_eq!((&**why, *size), ("elements of the type IQ1_S are not decoded", 0));
        assert_eq!(tensor(&contents, "other").sizes, [1, 256]);
        assert_eq!(storages(&contents, &bytes)[*storage], (Element::U8, (0..50).collect()));
        assert_eq!(elements(&contents, &bytes, tensor(&contents, "last")), 7f32.to_le_bytes());
    }
}

/// Blocks of random bytes, for each type that is decoded.
#[test]
fn blocks_are_those_of_gguf() {
    let bytes = file("gguf/blocks.gguf");
    let contents = open(&bytes);
    let expected = &values("gguf")["blocks"];
    assert_eq!(contents.tensors.len(), expected.as_object().unwrap().len());
    for (name, expected) in expected.as_object().unwrap() {
        check(&contents, &bytes, name, expected);
    }
}

/// The bytes of an unknown type end at the next tensor in the file, or at the end of the file. The order of descriptions is irrelevant.
#[test]
fn bytes_of_unknown_types() {
    let tensor =
        |name: &str, kind: u32, at: u64| [&string(name)[..], &ints(&[1]), &3u64.to_le_bytes(), &ints(&[kind]), &at.to_le_bytes()].concat();
    let described = [tensor("last", 99, 64), tensor("first", 77, 0), tensor("known", 24, 32), tensor("again", 77, 0)];
    let head = gguf(4, 0, &[&described.concat()]);
    let mut bytes = head.clone();
    bytes.resize(head.len().next_multiple_of(32), 0);
    bytes.extend(0..70);
    let contents = open(&bytes);
    let all = storages(&contents, &bytes);
    let read = |name: &str| match &contents.tensors.iter().find(|tensor| tensor.name == name).unwrap().data {
        Data::Opaque(Opaque { storage, why, .. }) => (why.clone(), all[*storage].1.clone()),
        data => panic!("{data:?}"),
    };
    assert_eq!(read("last"), ("type 99 of elements is unknown".to_owned(), (64..70).collect()));
    assert_eq!(read("first"), ("type 77 of elements is unknown".to_owned(), (0..32).collect()));
    assert_eq!(read("again"), read("first"));
}

#[test]
fn values_are_texts() {
    let contents = open(&file("gguf/types.gguf"));
    let expected = [
        ("uint8", "255"),
        ("int8", "-3"),
        ("uint16", "65535"),
        ("int16", "-3"),
        ("uint32", "4294967295"),
        ("int32", "-3"),
        ("float32", "0.1"),
        ("uint64", "18446744073709551615"),
        ("int64", "-3"),
        ("float64", "0.1"),
        ("yes", "true"),
        ("text", "two\nlines, ü"),
        ("few", "[1, 2, 3]"),
        ("words", r#"["the", "\"end\""]"#),
        ("tokens", "100 strings"),
        ("scores", "70 float32"),
        ("general.architecture", "none"),
    ];
    for (key, value) in expected {
        assert_eq!(metadata(&contents, key), Some(value), "{key}");
    }
}

/// A file with one key or one tensor.
fn gguf(tensors: u64, keys: u64, rest: &[&[u8]]) -> Vec<u8> {
    [b"GGUF", &3u32.to_le_bytes()[..], &tensors.to_le_bytes(), &keys.to_le_bytes(), &rest.concat()].concat()
}

fn ints(ints: &[u32]) -> Vec<u8> {
    ints.iter().flat_map(|int| int.to_le_bytes()).collect()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

#[test]
fn broken_files_are_refused() {
    let long = |long: u64| long.to_le_bytes().to_vec();
    let cases = [
        (b"GGUF\0\0\0\x03".to_vec(), "big-endian files are not read"),
        ([&b"GGUF"[..], &ints(&[1])].concat(), "version 1 is not read, only 2 and 3"),
        (gguf(0, 1 << 60, &[]), "byte 24: the file ends early: 8 bytes are expected, 0 are left"),
        (gguf(0, 1, &[&long(1 << 60)]), "byte 32: the file ends early: 1152921504606846976 bytes are expected, 0 are left"),
        (gguf(0, 1, &[&string("a"), &ints(&[13])]), "byte 33: there is no type 13 of values"),
        (
            gguf(0, 1, &[&string("a"), &ints(&[9, 6]), &long(1 << 62)]),
            "byte 49: the file ends early: 18446744073709551615 bytes are expected, 0 are left",
        ),
        (gguf(0, 1, &[&string("general.alignment"), &ints(&[4, 24])]), "byte 53: the alignment 24 is no power of two"),
        (gguf(0, 1, &[&string("general.alignment"), &ints(&[5, 32])]), "byte 53: general.alignment has the type int32 instead of uint32"),
        (gguf(1, 0, &[&string("a"), &ints(&[1 << 30])]), "byte 33: tensor 'a' has 1073741824 dimensions, 1024 at most are read"),
        (gguf(1, 0, &[&string("a"), &ints(&[1]), &long(1 << 63)]), "byte 33: tensor 'a': size -9223372036854775808 is negative"),
        (
            gguf(1, 0, &[&string("a"), &ints(&[1]), &long(33), &ints(&[8]), &long(0)]),
            "byte 33: tensor 'a': sizes [33] do not divide into blocks of Q8_0",
        ),
        (
            gguf(1, 0, &[&string("a"), &ints(&[1]), &long(32), &ints(&[12]), &long(0)]),
            "byte 33: tensor 'a': sizes [32] do not divide into blocks of Q4_K",
        ),
        (
            gguf(1, 0, &[&string("a"), &ints(&[1]), &long(32), &ints(&[8]), &long(0)]),
            "byte 64: the file ends early: 34 bytes are expected, 0 are left",
        ),
        (
            gguf(1, 0, &[&string("a"), &ints(&[1]), &long(1), &ints(&[0]), &long(u64::MAX)]),
            "elements begin 18446744073709551615 bytes after byte 64",
        ),
    ];
    for (bytes, message) in cases {
        assert_eq!(refused(&bytes), format!("GGUF: {message}"));
    }
}

/// Arrays that are nested a million times.
#[test]
fn arrays_in_arrays_are_passed_over() {
    let nested = |depth: usize| [&string("a")[..], &ints(&[9]), &[&ints(&[9])[..], &1u64.to_le_bytes()].concat().repeat(depth)].concat();
    let end = [ints(&[8]), 2u64.to_le_bytes().to_vec(), string("x"), string("y")].concat();
    let contents = open(&gguf(0, 1, &[&nested(3), &end]));
    assert_eq!(metadata(&contents, "a"), Some("1 arrays"));
    assert!(thorn_files::open(&gguf(0, 1, &[&nested(1 << 20), &end])).is_ok());
}
