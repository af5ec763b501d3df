//! Files of safetensors. Files that its library wrote are compared with the elements that the library reads. Broken headers are compared
//! with expected errors.

#[macro_use]
mod plain;

use plain::{compare, corpus, expected, saved};
use thorn_files::{Data, Element, Format, Opaque};

#[test]
fn files_of_the_library() {
    for (name, wanted) in expected("safetensors") {
        let file = std::fs::read(corpus("safetensors").join(&name)).unwrap();
        let contents = thorn_files::open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(contents.format, Format::Safetensors, "{name}");
        let wanted = wanted.as_object().unwrap();
        assert_eq!(contents.tensors.len(), wanted.len(), "{name}");
        for tensor in &contents.tensors {
            match &tensor.data {
                Data::Storage(_) => compare(&format!("{name}, {}", tensor.name), &contents, &file, tensor, &wanted[&tensor.name]),
                Data::Opaque(Opaque { storage, size: 1, why }) => {
                    assert_eq!((&*tensor.name, &**why), ("float8_e4m3fn", "there are no elements of the type F8_E4M3"));
                    // 0, 1, 0, 1, 0, 1 in float8: the number 1 has the exponent 7.
                    let mut bytes = [0; 6];
                    contents.read(&file, *storage, &mut bytes).unwrap();
                    assert_eq!(bytes, [0, 0x38, 0, 0x38, 0, 0x38]);
                }
                data => panic!("{name}: {} is {data:?}", tensor.name),
            }
        }
        let metadata: &[(String, String)] =
            &[("format".to_owned(), "pt".to_owned()), ("note".to_owned(), "a \"quoted\" note, ü".to_owned())];
        let mut found = contents.metadata;
        found.sort();
        assert_eq!(found, if name == "dtypes.safetensors" { metadata } else { &[] }, "{name}");
    }
}

fn file(header: &str, bytes: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; bytes]].concat()
}

#[test]
fn broken_headers() {
    let tensor = |more: &str| format!(r#"{{"a":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}{more}}}"#);
    let cases = [
        (tensor(""), 7, "byte 69: the file ends early: elements reach to byte 70"),
        (
            tensor(r#","b":{"dtype":"U8","shape":[1],"data_offsets":[7,8]}"#),
            8,
            "tensor 'b': bytes 7 to 8 overlap another tensor, which ends at 8",
        ),
        (
            tensor(r#","b":{"dtype":"U8","shape":[2],"data_offsets":[8,9]}"#),
            9,
            "tensor 'b': sizes [2] of U8 do not match the 1 bytes from 8 to 9",
        ),
        (
            tensor("").replace("[2]", "[-2]"),
            8,
            "byte 39: the header is invalid: invalid value: integer `-2`, expected u64 at line 1 column 31",
        ),
        (tensor("") + "x", 8, "byte 63: the header is invalid: trailing characters at line 1 column 55"),
    ];
    for (header, bytes, error) in cases {
        assert_eq!(thorn_files::open(&file(&header, bytes)).unwrap_err().message, format!("safetensors: {error}"), "{header}");
    }
}

#[test]
fn written_files_are_read() {
    let floats = bytes![1.5f32, -2.0f32];
    let tensors: [(&str, &[i64], Element, &[u8]); 3] =
        [("bytes", &[3], Element::U8, &[1, 2, 3]), ("a.b", &[2, 1], Element::F32, &floats), ("empty", &[0, 2], Element::F64, &[])];
    let file = saved(Format::Safetensors, &tensors, &[("key", "value")], None).unwrap();
    let contents = thorn_files::open(&file).unwrap();
    assert_eq!(contents.metadata, [("key".to_owned(), "value".to_owned())]);
    for (name, sizes, element, bytes) in tensors {
        let tensor = contents.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        let Data::Storage(index) = tensor.data else { panic!() };
        let at = contents.storages[index].encoding.plain().unwrap() as usize;
        assert_eq!((&*tensor.sizes, contents.storages[index].element, &file[at..at + bytes.len()]), (sizes, element, bytes));
        assert_eq!(at % element.size(), 0);
    }
    let twice = [tensors[0], tensors[0]];
    let message = saved(Format::Safetensors, &twice, &[], None).unwrap_err().message;
    assert_eq!(message, "safetensors files cannot have the name 'bytes' twice");
    let message = saved(Format::Safetensors, &tensors, &[("key", "a"), ("key", "b")], None).unwrap_err().message;
    assert_eq!(message, "safetensors files cannot have the name 'key' twice");
}
