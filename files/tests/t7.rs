//! Files of Torch7. `scripts/t7.py` wrote the files, and torchfile read the expected elements.

mod expected;

use expected::{check, file, metadata, open, refused, rewritten, storage, tensor, values};
use thorn_files::{Element, Format, Save, Tensor};

const FORMS: [&str; 3] = ["", "_ascii", "_windows"];

#[test]
fn every_type_is_read_in_every_form() {
    for form in FORMS {
        let bytes = file(&format!("t7/dtypes{form}.t7"));
        let contents = open(&bytes);
        assert_eq!(contents.format, if form == "_ascii" { Format::T7Ascii } else { Format::T7 });
        assert_eq!(contents.tensors.len(), 11);
        for (name, expected) in values("t7")["dtypes"].as_object().unwrap() {
            if (form, name.as_str()) != ("_windows", "Long") {
                check(&contents, &bytes, name, expected);
            }
        }
        for storage in &contents.storages {
            assert!(form == "_ascii" || storage.encoding.plain().is_some());
        }
    }
    // Longs of Windows are int32.
    let bytes = file("t7/dtypes_windows.t7");
    let contents = open(&bytes);
    let long = tensor(&contents, "Long");
    assert_eq!(contents.storages[storage(long)].element, Element::I32);
    let elements: Vec<u8> = (0..6i32).flat_map(|k| (7 * k - 20).to_le_bytes()).collect();
    assert_eq!(expected::elements(&contents, &bytes, long), elements);
}

#[test]
fn a_module_is_a_tree() {
    for form in FORMS {
        let bytes = file(&format!("t7/model{form}.t7"));
        let contents = open(&bytes);
        for (name, expected) in values("t7")["model"].as_object().unwrap() {
            if (form, name.as_str()) != ("_windows", "modules.2.size") {
                check(&contents, &bytes, name, expected);
            }
        }
        let weight = tensor(&contents, "modules.1.weight");
        for (name, strides, offset) in
            [("modules.1.bias", &[1][..], 12), ("tied", &[4, 1], 0), ("transposed", &[1, 4], 0), ("expanded", &[0, 1], 12)]
        {
            let other = tensor(&contents, name);
            assert_eq!(storage(other), storage(weight), "{name}");
            assert_eq!((&other.strides[..], other.offset), (strides, offset), "{name}");
        }
        let texts = [
            ("__typename", "nn.Sequential"),
            ("modules.1.__typename", "nn.Linear"),
            ("modules.1.train", "true"),
            ("modules.1._type", "torch.FloatTensor"),
            ("modules.2.batch", "false"),
            ("modules.3", "the same as 'modules.1'"),
            ("scalar", "0.25"),
            ("count", "3"),
            ("raw", "\u{fffd}\0bytes"),
            ("text", "line 1\nline 2, ü"),
            ("forward.1.name", "self"),
            ("forward.1.value", "the same as ''"),
            ("oldest.1", "1"),
            ("old.gain", "2"),
            ("old.__typename", "nn.Old"),
            ("words.1", "the"),
            ("words.2", "end"),
            ("nested.1.a.b", "true"),
            ("nested.1.", "1"),
        ];
        for (key, value) in texts {
            assert_eq!(metadata(&contents, key), Some(value), "{key}");
        }
        let by_table: Vec<_> = contents.metadata.iter().filter(|(key, _)| key.starts_with('[')).collect();
        assert_eq!(by_table.len(), 2);
        assert!(by_table[0].0.starts_with("[key ") && by_table[0].0.ends_with("].id") && by_table[0].1 == "7", "{by_table:?}");
        assert_eq!(by_table[1].1, "by table");
        assert_eq!(metadata(&contents, "none"), None);
    }
}

#[test]
fn a_tensor_alone_has_no_name() {
    for form in ["", "_ascii"] {
        let bytes = file(&format!("t7/tensor{form}.t7"));
        let contents = open(&bytes);
        check(&contents, &bytes, "", &values("t7")["tensor"][""]);
        assert_eq!((&contents.tensors[0].strides[..], contents.tensors[0].offset), (&[1, 7][..], 2));
        assert_eq!(contents.storages[0].len, 30);
    }
}

#[test]
fn files_are_written_as_they_were_read() {
    for name in ["dtypes", "tensor", "model"] {
        let bytes = file(&format!("t7/{name}.t7"));
        let contents = open(&bytes);
        for format in [Format::T7, Format::T7Ascii] {
            let written = rewritten(&contents, &bytes, format).unwrap();
            let again = open(&written);
            assert_eq!(again.format, format);
            assert_eq!(again.tensors.len(), contents.tensors.len());
            assert_eq!(again.storages.len(), contents.storages.len());
            for (name, expected) in values("t7")[name].as_object().unwrap() {
                check(&again, &written, name, expected);
            }
            for before in &contents.tensors {
                let after = tensor(&again, &before.name);
                assert_eq!(
                    (&after.sizes, &after.strides, after.offset),
                    (&before.sizes, &before.strides, before.offset),
                    "{}",
                    before.name
                );
            }
            let sorted = |metadata: &[(String, String)]| {
                let mut metadata = metadata.to_vec();
                metadata.sort();
                metadata
            };
            assert_eq!(sorted(&again.metadata), sorted(&contents.metadata));
        }
    }
}

/// Writes tensors of one element with these names, and metadata.
fn named(names: &[&str], metadata: &[(&str, &str)], format: Format) -> thorn_files::Result<Vec<u8>> {
    let tensors: Vec<_> = names.iter().map(|name| Tensor::row_major(name.to_string(), vec![1], 0).unwrap()).collect();
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let what = Save { tensors: &tensors, sparse: &[], storages: &[(Element::U8, &[7])], metadata: &metadata, precision: None };
    let mut to = std::io::Cursor::new(Vec::new());
    thorn_files::save(format, &what, &mut to).map(|()| to.into_inner())
}

#[test]
fn names_are_those_that_were_written() {
    let names = ["a", "a.b", "a.b.c", "x.1.w", "x.2.w", "x.0", "x.01", ".hidden", "y..z", "y.", "", "x.18446744073709551616", "x.-1"];
    let metadata = [("x.1.note", "first"), ("a.b.note", "1\n2\n")];
    for format in [Format::T7, Format::T7Ascii] {
        let contents = open(&named(&names, &metadata, format).unwrap());
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let found = contents.tensors.iter().map(|tensor| tensor.name.clone()).collect();
        assert_eq!(sorted(found), sorted(names.map(str::to_owned).to_vec()));
        assert_eq!(expected::metadata(&contents, "x.1.note"), Some("first"));
        assert_eq!(expected::metadata(&contents, "a.b.note"), Some("1\n2\n"));
        assert_eq!(contents.storages.len(), 1);
        for error in [named(&["a", "a"], &[], format), named(&["a"], &[("a", "b")], format)] {
            assert_eq!(error.unwrap_err().message, "Torch7 files have one value with the name 'a', not two");
        }
        let empty = open(&named(&[], &[], format).unwrap());
        assert_eq!((empty.format, empty.tensors.len(), empty.metadata.len()), (format, 0, 0));
    }
    // Keys that are whole numbers from 1 on become numbers.
    assert!(named(&["1.a"], &[], Format::T7Ascii).unwrap().starts_with(b"3\n1\n1\n1\n1\n3\n2\n1\n2\n1\na\n4\n"));
}

/// A bool becomes a byte, and a scalar becomes a tensor of one element.
#[test]
fn what_torch7_lacks_is_what_it_has_instead() {
    for format in [Format::T7, Format::T7Ascii] {
        let tensors = [Tensor::row_major(String::new(), vec![], 0).unwrap()];
        let what = Save { tensors: &tensors, sparse: &[], storages: &[(Element::Bool, &[1])], metadata: &[], precision: None };
        let mut to = std::io::Cursor::new(Vec::new());
        thorn_files::save(format, &what, &mut to).unwrap();
        let contents = open(&to.into_inner());
        assert_eq!((&contents.tensors[0].sizes[..], contents.storages[0].element), (&[1][..], Element::U8));
    }
}

/// Columns of numbers resemble texts of Torch7.
#[test]
fn columns_of_numbers_are_no_files_of_torch7() {
    for text in ["3\n1\n2\n1\n1\n1\n5\n", "4\n1\n3\n5\n", "4\n1.5\n3\n2.5\n", "1\n2\n", "3\n1\n0\n7\n"] {
        assert!(thorn_files::open(&text.as_bytes().to_vec()).map_or(true, |contents| contents.format != Format::T7Ascii), "{text:?}");
    }
}

fn ints(ints: &[i32]) -> Vec<u8> {
    ints.iter().flat_map(|int| int.to_le_bytes()).collect()
}

/// The beginning of an object of a class, with the index 1.
fn object(class: &str) -> Vec<u8> {
    [ints(&[4, 1, 3]), b"V 1".to_vec(), ints(&[class.len() as i32]), class.as_bytes().to_vec()].concat()
}

#[test]
fn broken_files_are_refused() {
    let long = |long: i64| long.to_le_bytes().to_vec();
    let storage = |len: i64| [object("torch.FloatStorage"), long(len)].concat();
    let float = object("torch.FloatTensor");
    let cases = [
        (storage(1 << 60), "byte 45: the file ends early: 4611686018427387904 bytes are expected, 0 are left"),
        (storage(-1), "byte 37: a storage has -1 elements"),
        ([float.clone(), ints(&[1 << 30])].concat(), "byte 36: a tensor has 1073741824 dimensions, 1024 at most are read"),
        ([float.clone(), ints(&[-1])].concat(), "byte 36: length -1 is negative"),
        ([float.clone(), ints(&[1]), long(3), long(1), long(1), ints(&[0])].concat(), "byte 36: a tensor of sizes [3] has no storage"),
        (
            [float.clone(), ints(&[1]), long(3), long(1), long(1), ints(&[3, 2, 0])].concat(),
            "byte 64: the storage of a tensor is expected, and a value of type 3 is there",
        ),
        (
            [float, ints(&[1]), long(3), long(1), long(1), ints(&[4, 2, 19]), b"torch.DoubleStorage".to_vec(), long(0)].concat(),
            "byte 64: the storage of a tensor is expected, and one of another type is there",
        ),
        (ints(&[3, 1, 1, 2, 1 << 20, 0, 0, 0]), "byte 12: a key has 1048576 bytes, 65536 at most are read"),
        (ints(&[3, 1, 1, 5, 1, 9, 9]), "byte 20: there is no type 9 of values"),
        (b"4\n1\n3\nV 1\n18\ntorch.FloatStorage\n3\n1 2 x\n".to_vec(), "byte 38: this is no number of the expected type"),
        (b"4\n1\n3\nV 1\n18\ntorch.FloatStorage\n3\n1 22\n".to_vec(), "byte 39: the file ends early: a number is expected"),
        (b"4\n1\n3\nV 1\n18\ntorch.FloatStorage\n1000\n1 2\n".to_vec(), "byte 37: the file ends early: 1000 numbers are expected"),
    ];
    for (bytes, message) in cases {
        let found = refused(&bytes);
        assert!(found.ends_with(&format!(": {message}")), "{found}\n{message}");
    }
}

/// Tables that are nested a million times, and a chain of tables that refer twice to the table before.
#[test]
fn depth_and_sharing_cost_what_they_take() {
    let depth = 1 << 20;
    let mut deep: Vec<u8> = (1..depth).flat_map(|index| ints(&[3, index, 1, 5, 1])).collect();
    assert!(refused(&deep).ends_with("the path to a value has more than 1048576 bytes"));
    deep = (1..depth).flat_map(|index| ints(&[3, index, 1, 2, 0])).chain(ints(&[0])).collect();
    assert!(refused(&deep).ends_with("names, values and shapes need more memory than four times the file size plus 48 MB"));
    // The objects of a chain have no names.
    let chain = |index: i32| [ints(&[4, index, 1]), b"x".to_vec()].concat();
    let chain: Vec<u8> = (1..1000).flat_map(chain).chain(ints(&[0])).collect();
    assert_eq!(open(&chain).metadata.len(), 999);
    let mut shared = ints(&[3, 1, 1, 5, 1, 5, 1]);
    for index in 2..60 {
        let inner = std::mem::replace(&mut shared, ints(&[3, index, 2, 2, 1]));
        shared.extend([&b"a"[..], &inner, &ints(&[2, 1]), b"b", &ints(&[3, index - 1])].concat());
    }
    assert_eq!(open(&shared).metadata.len(), 59);
}

#[test]
fn what_torch7_lacks_is_refused() {
    let bytes = file("safetensors/dtypes.safetensors");
    let contents = open(&bytes);
    let error = rewritten(&contents, &bytes, Format::T7).unwrap_err();
    assert!(error.message.contains("Torch7 has no bfloat16") || error.message.contains("no elements of the type F8"), "{error}");
}
