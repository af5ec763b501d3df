//! Files of NumPy. Arrays that NumPy wrote are compared with the elements that NumPy reads. Broken headers are compared with expected
//! errors.

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
        let by_hand = name.contains("python2") || name.contains("spaces");
        assert!(matches!(contents.storages[0].encoding, Encoding::Numbers { at, .. } if by_hand || at % 64 == 0), "{name}");
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
        assert_eq!(contents.tensors[0].data.refusal(), Some(&*format!("its elements are {why}")));
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
        ("{'descr': '<f4', 'descr': '<f4'}", "byte 27: a key of the header is unknown or duplicated"),
        ("{'more': 1}", "byte 11: a key of the header is unknown or duplicated"),
        ("{'shape': (-1,)}", "byte 21: '-' is unexpected here"),
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
    assert_eq!(thorn_files::open(&long).unwrap_err().message, "npy: byte 8: a header of 4294967295 bytes is longer than 262144");
    assert_eq!(
        thorn_files::open(&b"\x93NUMPY\x01".to_vec()).unwrap_err().message,
        "npy: byte 0: the file ends early: 8 bytes are expected, 7 are left"
    );
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
    // The bytes that numpy.save(file, numpy.array(7)) writes.
    let header = format!("{:117}\n", "{'descr': '<i8', 'fortran_order': False, 'shape': (), }");
    assert_eq!(scalar, [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &bytes![7i64]].concat());
}

/// The beginning of a file determines its format. The elements do not matter.
#[test]
fn elements_that_look_like_an_archive() {
    let mut elements = vec![0; 512];
    elements[129..134].copy_from_slice(b"ustar");
    let file = saved(Format::Npy, &[("", &[512], Element::U8, &elements)], &[], None).unwrap();
    assert_eq!(&file[257..262], b"ustar");
    assert_eq!(thorn_files::open(&file).unwrap().format, Format::Npy);
}

#[test]
fn what_npy_files_cannot_hold() {
    let two = saved(Format::Npy, &[("a", &[], Element::U8, &[1]), ("b", &[], Element::U8, &[2])], &[], None);
    assert_eq!(two.unwrap_err().message, "npy files have one tensor, not 2");
    let brain = saved(Format::Npy, &[("a", &[1], Element::BF16, &[0, 0])], &[], None);
    assert_eq!(brain.unwrap_err().message, "tensor 'a': NumPy has no bfloat16");
}

#[test]
fn long_headers_are_version_2() {
    // The file has more sizes than are read back. Writing omits none of them.
    let sizes = vec![1_i64; 30_000];
    let file = saved(Format::Npy, &[("a", &sizes, Element::U8, &[9])], &[], None).unwrap();
    let start = file.len() - 1;
    assert_eq!((file[6], start % 64, file[start]), (2, 0, 9));
    assert_eq!(u32::from_le_bytes(file[8..12].try_into().unwrap()) as usize, start - 12);
    assert_eq!(thorn_files::open(&file).unwrap_err().message, "npy: byte 3135: there are more than 1024 dimensions");
}

#[test]
fn archives_of_numpy() {
    for (name, wanted) in expected("npz") {
        let file = std::fs::read(corpus("npz").join(&name)).unwrap();
        let contents = thorn_files::open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(contents.format, Format::Npz, "{name}");
        for (key, wanted) in wanted.as_object().unwrap() {
            let tensor = contents.tensors.iter().find(|tensor| tensor.name == *key).unwrap_or_else(|| panic!("{name} has no {key}"));
            match &tensor.data {
                Data::Storage(_) => compare(&format!("{name}, {key}"), &contents, &file, tensor, wanted),
                Data::Refused(why) => assert_eq!((&**key, &**why), ("b", "it is compressed by method 12 of zip")),
                data => panic!("{name}: {key} is {data:?}"),
            }
        }
    }
}

#[test]
fn the_rest_of_an_archive_is_read() {
    let open = |name: &str| {
        let file = std::fs::read(corpus("npz").join(name)).unwrap();
        thorn_files::open(&file).unwrap()
    };
    for (name, stored) in [("stored.npz", true), ("deflated.npz", false)] {
        let contents = open(name);
        let refused: Vec<_> = contents.tensors.iter().filter(|tensor| tensor.data.refusal().is_some()).map(|t| &*t.name).collect();
        assert_eq!(refused, ["complex", "uint64", "text", "bytes", "object", "time", "fields"]);
        let plain = |encoding: &Encoding| matches!(encoding, Encoding::Numbers { .. });
        assert!(contents.storages.iter().all(|storage| plain(&storage.encoding) == stored));
    }
    let names: Vec<_> = open("mixed.npz").tensors.into_iter().map(|tensor| tensor.name).collect();
    assert_eq!(names, ["a", "b", "c", "notes.txt"]);
    assert_eq!(open("none.npz").tensors.len(), 0);
}

#[test]
fn written_archives_are_read() {
    let (a, b) = (bytes![1.5f32, -2.0f32], [1, 0, 1]);
    let tensors: [(&str, &[i64], Element, &[u8]); 3] =
        [("layer.0/a", &[2, 1], Element::F32, &a), ("../b", &[3], Element::Bool, &b), ("", &[0], Element::I64, &[])];
    for format in [Format::Npz, Format::NpzDeflated] {
        let file = saved(format, &tensors, &[("kept", "no")], None).unwrap();
        let contents = thorn_files::open(&file).unwrap();
        assert_eq!((contents.format, contents.metadata.len()), (Format::Npz, 0));
        for (tensor, (name, sizes, element, bytes)) in contents.tensors.iter().zip(tensors) {
            assert_eq!((&*tensor.name, &*tensor.sizes), (name, sizes));
            let Data::Storage(index) = tensor.data else { panic!() };
            let mut to = vec![9; bytes.len()];
            contents.read(&file, index, &mut to).unwrap();
            assert_eq!((contents.storages[index].element, &*to), (element, bytes));
            let at = contents.storages[index].encoding.plain();
            assert!(if format == Format::Npz { at.is_some_and(|at| at % 64 == 0) } else { at.is_none() });
        }
        assert_eq!(contents.tensors.len(), 3);
    }
}

#[test]
fn broken_archives() {
    let stored = std::fs::read(corpus("npz").join("names.npz")).unwrap();
    let find = |text: &[u8]| stored.windows(text.len()).position(|window| window == text).unwrap();
    let changed = |from: &[u8], to: &[u8]| {
        let (mut file, at) = (stored.clone(), find(from));
        file[at..at + to.len()].copy_from_slice(to);
        (thorn_files::open(&file).unwrap_err().message, at)
    };
    let (message, at) = changed(b"\x93NUMPY", b"N");
    assert_eq!(message, format!("npz: entry 'layer.0/weight.npy': byte {at}: an array of NumPy is expected"));
    let (message, at) = changed(b"(3,)", b"(4,)");
    assert_eq!(
        message,
        format!("npz: byte {}: entry 'layer.0/weight.npy' has 152 bytes, and 32 after the first 128 are expected", at - 60)
    );
    let (message, at) = changed(b"(3,)", b"(3;)");
    assert_eq!(message, format!("npz: entry 'layer.0/weight.npy': byte {}: ';' is unexpected here", at + 2));
}

#[test]
fn names_are_not_written_twice() {
    let twice: [(&str, &[i64], Element, &[u8]); 2] = [("a", &[1], Element::U8, &[1]), ("a", &[1], Element::U8, &[2])];
    for format in [Format::Npz, Format::NpzDeflated] {
        assert_eq!(saved(format, &twice, &[], None).unwrap_err().message, "npz files cannot have the name 'a' twice");
    }
}

#[test]
fn compressed_elements_have_their_checksum() {
    let elements: Vec<u8> = (0..=255).collect();
    let mut file = saved(Format::NpzDeflated, &[("a", &[256], Element::U8, &elements)], &[], None).unwrap();
    let mut to = [0; 256];
    thorn_files::open(&file).unwrap().read(&file, 0, &mut to).unwrap();
    assert_eq!(to[..], elements);
    // The checksum in the directory.
    let place = file.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap() + 16;
    file[place] ^= 1;
    let message = thorn_files::open(&file).unwrap().read(&file, 0, &mut to).unwrap_err().message;
    assert_eq!(message, "byte 35: the checksum of compressed data differs from the one in the archive");
}

/// A few compressed bytes become a header with a thousand sizes. Many such headers are refused before they fill the memory.
#[test]
fn archives_with_too_many_dimensions() {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({})}}", "1,".repeat(1024));
    let array = file(&header, 1);
    let mut archive = std::io::Cursor::new(Vec::new());
    let mut writer = thorn_files::zip::Writer::new(&mut archive);
    (0..2000).for_each(|k| writer.deflate(&format!("{k}.npy"), &[&array]).unwrap());
    writer.finish().unwrap();
    let archive = archive.into_inner();
    let message = thorn_files::open(&archive).unwrap_err().message;
    assert!(message.ends_with(&format!("the arrays have too many dimensions for a file of {} bytes", archive.len())), "{message}");
}

/// Strides of an empty array are products of its other sizes.
#[test]
fn sizes_beside_a_size_of_0_do_not_overflow() {
    let header = |order: &str, shape: &str| format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}");
    for shape in
        ["(7205759403792793602, 0, 4)", "(0, 4611686018427387904, 4611686018427387904)", "(0, 9223372036854775807, 9223372036854775807)"]
    {
        for order in ["False", "True"] {
            let message = thorn_files::open(&file(&header(order, shape), 0)).unwrap_err().message;
            assert!(message.ends_with("have more than 2^63 elements, not counting sizes of 0"), "{message}");
        }
    }
}

/// A format whose files have one tensor refuses two. Others write both, except svmlight, whose tensors have given names.
#[test]
fn formats_of_one_tensor_refuse_two() {
    let of_one = [Format::Npy, Format::Csv, Format::Tsv, Format::Pnm, Format::Png, Format::MatrixMarket];
    let formats: Vec<Format> =
        (0..100).filter_map(Format::from_code).filter(|format| format.writable() && *format != Format::Svmlight).collect();
    assert_eq!(formats.len(), 12);
    for format in formats {
        let tensor = |name| (name, &[1, 1][..], Element::U8, &[1][..]);
        let two = saved(format, &[tensor("a"), tensor("b")], &[], None);
        let refused = two.err().map(|error| error.message);
        let message = format!("{} files have one tensor, not 2", format.name());
        assert_eq!(refused, of_one.contains(&format).then_some(message), "{format:?}");
        assert_eq!(format.has_one_tensor(), of_one.contains(&format), "{format:?}");
    }
}
