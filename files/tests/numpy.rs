//! NumPy's files: arrays that NumPy wrote are compared with what NumPy reads, and broken headers have their errors.

#[macro_use]
mod plain;

use plain::{compare, corpus, elements, expected, saved};
use thorn_files::{Data, Element, Encoding, Format};

#[test]
fn arrays_of_numpy() {
    for (name, wanted) in expected("npy") {
        let file = std::fs::read(corpus("npy").join(&name)).unwrap();
        let contents = thorn_files::open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((contents.format, contents.tensors.len()), (Format::Npy, 1), "{name}");
        assert_eq!((&*contents.tensors[0].name, contents.metadata.len()), ("", 0), "{name}");
        compare(&name, &contents, &file, &contents.tensors[0], &wanted);
        assert!(
            matches!(contents.storages[0].encoding, Encoding::Numbers { at, .. } if at % 16 == 0 || name.contains("python2") || name.contains("spaces")),
            "{name}"
        );
    }
}

#[test]
fn fortran_order_is_a_view() {
    let file = std::fs::read(corpus("npy").join("fortran.npy")).unwrap();
    let contents = thorn_files::open(&file).unwrap();
    assert_eq!((&*contents.tensors[0].sizes, &*contents.tensors[0].strides), (&[3, 4][..], &[1, 3][..]));
    assert_eq!(contents.storages[0].encoding.plain(), Some(128));
}

#[test]
fn elements_that_are_no_numbers_are_refused() {
    let why = [
        ("complex", "complex numbers (<c16)"),
        ("uint64", "unsigned integers of 64 bits (<u8)"),
        ("text", "texts (<U2)"),
        ("bytes", "texts (|S2)"),
        ("object", "objects of Python, in a pickle (|O)"),
        ("time", "times (<M8[D])"),
        ("fields", "structures"),
        ("names", "structures"),
    ];
    for (name, why) in why {
        let file = std::fs::read(corpus("npy").join(format!("{name}.npy"))).unwrap();
        let contents = thorn_files::open(&file).unwrap();
        let Data::Refused(reason) = &contents.tensors[0].data else { panic!("{name} is read") };
        assert_eq!(*reason, format!("its elements are {why}"));
    }
}

/// A file with this header and some bytes of elements.
fn file(header: &str, elements: usize) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend_from_slice(&(header.len() as u16).to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.resize(file.len() + elements, 0);
    file
}

#[test]
fn broken_headers() {
    let deep = format!("{{'descr': {}", "[(".repeat(30_000));
    let cases = [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "byte 65: the file ends early: 12 bytes are expected, 8 are left"),
        ("{'descr': '<f4', 'fortran_order': False}", "byte 49: the header has no shape"),
        ("{'descr': '<f4', 'descr': '<f4'}", "byte 27: a key of the header is unknown, or there twice"),
        ("{'more': 1}", "byte 11: a key of the header is unknown, or there twice"),
        ("{'shape': (-1,)}", "byte 21: '-' has no meaning here"),
        ("{'shape': (1 2)}", "byte 23: a comma is expected, and there is the number 2"),
        ("{'shape': (9223372036854775808,)}", "byte 21: a number is greater than 2^63"),
        ("{'shape': 3}", "byte 20: '(' is expected, and there is the number 3"),
        ("{'shape", "byte 11: a text has no end"),
        ("{'shape': (1,), 'fortran_order': maybe}", "byte 43: True or False is expected, and there is the word maybe"),
        ("{'descr': 4}", "byte 20: a type is expected, and there is the number 4"),
        ("[]", "byte 10: '{' is expected, and there is '['"),
        ("", "byte 10: '{' is expected, and there is the end of the header"),
        (&deep, "byte 60020: a bracket is not closed"),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} 1",
            "byte 66: the end of the header is expected, and there is the number 1",
        ),
        (
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
            "sizes [4294967296, 4294967296] have more than 2^63 elements",
        ),
        (
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693951,)}",
            "2305843009213693951 elements of float64 do not fit in memory",
        ),
    ];
    for (header, error) in cases {
        assert_eq!(thorn_files::open(&file(header, 8)).unwrap_err().message, format!("npy: {error}"), "{header:.100}");
    }
    let mut unknown = file("{}", 0);
    unknown[6] = 4;
    assert_eq!(thorn_files::open(&unknown).unwrap_err().message, "npy: byte 6: version 4.0 is unknown");
    let long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec();
    assert_eq!(thorn_files::open(&long).unwrap_err().message, "npy: byte 8: a header of 4294967295 bytes is longer than 1048576");
    assert_eq!(
        thorn_files::open(&b"\x93NUMPY\x01".to_vec()).unwrap_err().message,
        "npy: byte 0: the file ends early: 8 bytes are expected, 7 are left"
    );
}

#[test]
fn empty_arrays_of_great_sizes() {
    let huge = "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 9223372036854775807, 9223372036854775807)}";
    let contents = thorn_files::open(&file(huge, 0)).unwrap();
    assert_eq!(contents.tensors[0].elements().unwrap(), 0);
}

#[test]
fn written_arrays_are_read() {
    let bytes = bytes![1.5f32, -2.0f32, f32::NAN, 4.0f32, 5.0f32, 6.0f32];
    for sizes in [&[6][..], &[2, 3], &[1, 2, 3, 1], &[6, 1]] {
        let file = saved(Format::Npy, &[("x", sizes, Element::F32, &bytes)], &[], None).unwrap();
        assert_eq!(file.len(), 128 + 24);
        let contents = thorn_files::open(&file).unwrap();
        assert_eq!(contents.tensors[0].sizes, sizes);
        assert_eq!(contents.storages[0].encoding.plain(), Some(128));
        assert_eq!(file[128..], bytes);
        assert_eq!(elements(&contents, &file, &contents.tensors[0]).0, Element::F32);
    }
    let scalar = saved(Format::Npy, &[("", &[], Element::I64, &bytes![7i64])], &[], None).unwrap();
    // As numpy.save(file, numpy.array(7)) writes it.
    let header = format!("{:117}\n", "{'descr': '<i8', 'fortran_order': False, 'shape': (), }");
    assert_eq!(scalar, [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &bytes![7i64]].concat());
}

#[test]
fn what_npy_files_cannot_hold() {
    let two = saved(Format::Npy, &[("a", &[], Element::U8, &[1]), ("b", &[], Element::U8, &[2])], &[], None);
    assert_eq!(two.unwrap_err().message, "npy files hold one tensor, not 2");
    let brain = saved(Format::Npy, &[("a", &[1], Element::BF16, &[0, 0])], &[], None);
    assert_eq!(brain.unwrap_err().message, "tensor 'a': NumPy has no bfloat16");
}

#[test]
fn long_headers_are_version_2() {
    // More sizes than are read again, but nothing that was asked for is left out.
    let sizes = vec![1_i64; 30_000];
    let file = saved(Format::Npy, &[("a", &sizes, Element::U8, &[9])], &[], None).unwrap();
    let start = file.len() - 1;
    assert_eq!((file[6], start % 64, file[start]), (2, 0, 9));
    assert_eq!(u32::from_le_bytes(file[8..12].try_into().unwrap()) as usize, start - 12);
    assert_eq!(thorn_files::open(&file).unwrap_err().message, "npy: byte 3135: there are more than 1024 dimensions");
}
