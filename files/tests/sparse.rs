//! Sparse tensors of Matrix Market files and of SciPy's archives. Files that SciPy wrote are compared with the elements that SciPy reads.
//! Copies of these files are written and read back.

mod plain;

use plain::{compare, corpus, dense, expected, sparse, storages, wanted};
use std::io::{Cursor, Write};
use thorn_files::{Contents, Data, Element, Encoding, Form, Format, Save, Sparse, Tensor};

fn file(folder: &str, name: &str) -> Vec<u8> {
    std::fs::read(corpus(folder).join(name)).unwrap()
}

/// Compares the only tensor of a file with the elements that SciPy reads.
fn compare_all(at: &str, contents: &Contents, input: &Vec<u8>, expected: &serde_json::Value) {
    let [tensor] = &contents.tensors[..] else { panic!("{at}: {:?}", contents.tensors) };
    if expected["nnz"].is_null() {
        return compare(at, contents, input, tensor, expected);
    }
    let (element, all) = dense(contents, input, tensor);
    assert_eq!(serde_json::json!(tensor.sizes), expected["sizes"], "{at}");
    assert_eq!(sparse(contents, tensor).nnz(), expected["nnz"].as_i64().unwrap(), "{at}");
    assert_eq!((element.name(), all), (expected["dtype"].as_str().unwrap(), wanted(expected)), "{at}");
}

/// Writes all contents of a file, which must have row-major parts, to another file.
fn rewritten(contents: &Contents, file: &Vec<u8>, format: Format, precision: Option<usize>) -> thorn_files::Result<Vec<u8>> {
    let storages = storages(contents, file);
    let storages: Vec<_> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let mut to = Cursor::new(Vec::new());
    let what = Save { tensors: &contents.tensors, sparse: &contents.sparse, storages: &storages, metadata: &[], precision };
    thorn_files::save(format, &what, &mut to)?;
    Ok(to.into_inner())
}

#[test]
fn files_that_scipy_wrote() {
    for folder in ["market", "scipy"] {
        for (name, wanted) in expected(folder) {
            let file = file(folder, &name);
            let contents = thorn_files::open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(contents.format, if folder == "market" { Format::MatrixMarket } else { Format::Npz }, "{name}");
            compare_all(&name, &contents, &file, &wanted);
        }
    }
}

#[test]
fn written_files_are_read_as_what_they_were_written_from() {
    for folder in ["market", "scipy"] {
        for (name, wanted) in expected(folder) {
            let file = file(folder, &name);
            let contents = thorn_files::open(&file).unwrap();
            let is_dense = wanted["nnz"].is_null();
            // Text has no bool and only matrices, and float32 is read as float64. Dense matrices are not row-major.
            let texts =
                !is_dense && wanted["sizes"].as_array().unwrap().len() == 2 && wanted["dtype"] != "bool" && wanted["dtype"] != "float32";
            let arrays = !is_dense;
            for (format, fits) in [(Format::MatrixMarket, texts), (Format::Npz, arrays), (Format::NpzDeflated, arrays)] {
                if fits {
                    let written = rewritten(&contents, &file, format, None).unwrap_or_else(|error| panic!("{name}: {error}"));
                    compare_all(&name, &thorn_files::open(&written).unwrap(), &written, &wanted);
                }
            }
        }
    }
}

/// Returns a Matrix Market file with one sparse matrix. Its positions are two vectors.
fn text_of(sizes: [i64; 2], rows: &[i64], columns: &[i64], values: (Element, &[u8]), precision: Option<usize>) -> String {
    let bytes = |list: &[i64]| list.iter().flat_map(|k| k.to_le_bytes()).collect::<Vec<u8>>();
    let (rows, columns, nnz) = (bytes(rows), bytes(columns), rows.len() as i64);
    let part = |index| Tensor::row_major(String::new(), vec![nnz], index).unwrap();
    let tensor = Tensor { data: Data::Sparse(0), ..Tensor::row_major(String::new(), sizes.to_vec(), 0).unwrap() };
    let parts = [Sparse { form: Form::Vectors, parts: vec![part(0), part(1), part(2)], coalesced: false }];
    let storages = [(Element::I64, &rows[..]), (Element::I64, &columns[..]), values];
    let mut to = Cursor::new(Vec::new());
    let what = Save { tensors: &[tensor], sparse: &parts, storages: &storages, metadata: &[], precision };
    match thorn_files::save(Format::MatrixMarket, &what, &mut to) {
        Ok(()) => String::from_utf8(to.into_inner()).unwrap(),
        Err(error) => error.message,
    }
}

#[test]
fn numbers_are_the_shortest_that_read_back_the_same() {
    let text = |element, bytes: &[u8], precision| {
        let count = bytes.len()
            / match element {
                Element::Bool => 1,
                Element::F32 => 4,
                _ => 8,
            };
        text_of([9, 9], &vec![0; count], &(0..count as i64).collect::<Vec<_>>(), (element, bytes), precision)
    };
    let floats = bytes!(0.1f64, -1e-300f64, f64::INFINITY, f64::NAN, 3.0f64);
    let head = "%%MatrixMarket matrix coordinate real general\n9 9 5\n";
    assert_eq!(text(Element::F64, &floats, None), format!("{head}1 1 0.1\n1 2 -1e-300\n1 3 inf\n1 4 nan\n1 5 3.0\n"));
    let singles = bytes!(0.1f32, 1e-45f32);
    let head = head.replace('5', "2");
    assert_eq!(text(Element::F32, &singles, None), format!("{head}1 1 0.1\n1 2 1e-45\n"));
    assert_eq!(text(Element::F64, &bytes!(1.0f64 / 3.0, 2e10f64), Some(4)), format!("{head}1 1 0.3333\n1 2 2e+10\n"));
    let head = head.replace("real", "integer");
    assert_eq!(text(Element::I64, &bytes!(i64::MIN, 7i64), None), format!("{head}1 1 -9223372036854775808\n1 2 7\n"));
    // False values are not entries.
    let head = head.replace("integer", "pattern");
    assert_eq!(text(Element::Bool, &[1, 0, 1], None), format!("{head}1 1\n1 3\n"));
    let message = text_of([2, 2], &[0, 2], &[0, 0], (Element::U8, &[1, 1]), None);
    assert_eq!(message, "entry 1 is at 3, 1, out of range for 2 x 2, from 1");
    let message = text_of([2, 2], &[0, i64::MAX], &[0, i64::MIN], (Element::U8, &[1, 1]), None);
    assert!(message.starts_with("entry 1 is at"), "{message}");
}

/// Reads a text. Returns the number of entries or elements, or the error.
fn outcome(text: &str) -> Result<u64, String> {
    let bytes = text.as_bytes().to_vec();
    let contents = thorn_files::open(&bytes).map_err(|error| error.message)?;
    for (index, storage) in contents.storages.iter().enumerate() {
        let mut to = vec![0; storage.bytes().unwrap()];
        contents.read(&bytes, index, &mut to).map_err(|error| error.message)?;
    }
    Ok(contents.storages.last().unwrap().len)
}

#[test]
fn what_is_wrong_in_a_text_has_its_line() {
    let cases = [
        ("real general\n2 2 1\n1 1 1 ", Ok(1)),
        ("REAL GENERAL\n% a\n\n 2 2 2 \n\n1 1 +1\n%\n2\t2\t.5e-3\r\n", Ok(2)),
        ("real symmetric\n2 2 2\n1 1 nan\n2 1 -Inf", Ok(3)),
        ("integer skew-symmetric\n2 2 1\n2 1 9223372036854775807", Ok(2)),
        ("pattern general\n0 0 0", Ok(0)),
        ("pattern general\n9223372036854775807 9223372036854775807 1\n9223372036854775807 1\n", Ok(1)),
        (
            "complex general\n1 1 1\n1 1 1 1\n",
            Err("the file says '%%matrixmarket matrix coordinate complex general', and there are no complex tensors"),
        ),
        ("real hermitian\n1 1 1\n1 1 1\n", Err("and there are no complex tensors")),
        ("quaternion general\n", Err("line 1: 'real', 'integer' or 'pattern' is expected, and there is 'quaternion'")),
        ("real odd\n", Err("line 1: the symmetry 'odd' is unknown")),
        ("real general\n%\n", Err("the file ends early: a line with sizes is expected")),
        ("real general\n2 2\n", Err("line 2: sizes are expected, and there is '2 2'")),
        ("real general\n2 -2 1\n", Err("line 2: sizes are expected, and there is '2 -2 1'")),
        ("real general\n2 2 99999999999999999999\n", Err("line 2: sizes are expected")),
        ("real symmetric\n2 3 0\n", Err("line 2: a matrix of sizes 2 x 3 has no symmetry")),
        ("real general\n2 2 9223372036854775807\n1 1 1\n", Err("there are 1 lines with entries, and 9223372036854775807 are expected")),
        ("real general\n2 2 1\n1 1 1\n1 1 1\n", Err("there are 2 lines with entries, and 1 are expected")),
        ("real general\n2 2 1\n%\n0 1 1\n", Err("line 4: the position 0, 1 is out of range for sizes 2 x 2, counted from 1")),
        ("real general\n2 2 1\n1 3 1\n", Err("line 3: the position 1, 3 is out of range for sizes 2 x 2, counted from 1")),
        (
            "real symmetric\n2 2 1\n1 18446744073709551617 1\n",
            Err("line 3: '1 18446744073709551617 1' does not begin with a row and a column"),
        ),
        ("real general\n2 2 1\n1 -1 1\n", Err("line 3: '1 -1 1' does not begin with a row and a column")),
        ("real general\n2 2 1\n1.0 1 1\n", Err("line 3: '1.0 1 1' does not begin with a row and a column")),
        ("real general\n2 2 1\n1 1\n", Err("line 3: '1 1' has no number where one is expected")),
        ("real general\n2 2 1\n1 1 1 1\n", Err("line 3: '1 1 1 1' has no number where one is expected")),
        ("integer general\n2 2 1\n1 1 1.0\n", Err("line 3: '1 1 1.0' has no integer of 64 bits where one is expected")),
        ("integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n", Err("has no integer of 64 bits where one is expected")),
        ("pattern general\n2 2 1\n1 1 1\n", Err("line 3: '1 1 1' has more than one entry")),
    ];
    for (rest, expected) in cases {
        match (outcome(&format!("%%MatrixMarket matrix coordinate {rest}")), expected) {
            (Ok(found), Ok(count)) => assert_eq!(found, count, "{rest}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{rest}: {message}"),
            (found, _) => panic!("{rest}: {found:?}"),
        }
    }
    let cases = [
        ("matrix array real general\n2 2\n1\n2\n3\n4\n", Ok(4)),
        ("matrix array real symmetric\n0 0\n", Ok(0)),
        ("matrix array integer skew-symmetric\n1 1\n", Ok(1)),
        ("matrix array real general\n2 2\n1\n2\n3\n", Err("there are 3 lines with entries, and 4 are expected")),
        ("matrix array real general\n1 2\n1 2\n3\n", Err("line 3: '1 2' has no number where one is expected")),
        ("matrix array real general\n4294967296 4294967296\n", Err("line 2: sizes are expected")),
        ("matrix array pattern general\n1 1\n1\n", Err("'real', 'integer' or 'pattern' is expected, and there is 'pattern'")),
        ("matrix list real general\n", Err("'coordinate' or 'array' is expected, and there is 'list'")),
        ("vector coordinate real general\n", Err("only the object 'matrix' is supported")),
    ];
    for (rest, expected) in cases {
        match (outcome(&format!("%%MatrixMarket {rest}")), expected) {
            (Ok(found), Ok(count)) => assert_eq!(found, count, "{rest}"),
            (Err(message), Err(part)) => assert!(message.contains(part), "{rest}: {message}"),
            (found, _) => panic!("{rest}: {found:?}"),
        }
    }
}

/// Several threads read the chunks of a text. One thread reads a text that gzip compressed.
#[test]
fn long_texts() {
    const LINES: u64 = 150_000;
    for symmetry in ["general", "symmetric", "skew-symmetric"] {
        let mut text = format!("%%MatrixMarket matrix coordinate integer {symmetry}\n1000 1000 {LINES}\n");
        let mut expected = Vec::new();
        for k in 0..LINES as i64 {
            let (row, column) = (k * 7919 % 1000, k * 104_729 % 991);
            text += &format!("{}{} {} {k}\n", if k % 100 == 0 { "% a comment\n\n" } else { "" }, row + 1, column + 1);
            expected.push((row, column, k));
            if symmetry != "general" && row != column {
                expected.push((column, row, if symmetry == "symmetric" { k } else { -k }));
            }
        }
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text.as_bytes()).unwrap();
        for file in [text.into_bytes(), packer.finish().unwrap()] {
            let contents = thorn_files::open(&file).unwrap();
            let read = storages(&contents, &file);
            let numbers = |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect::<Vec<_>>();
            let (places, values) = (numbers(&read[0].1), numbers(&read[1].1));
            let (rows, columns) = places.split_at(values.len());
            let found: Vec<_> = rows.iter().zip(columns).zip(&values).map(|((&row, &column), &value)| (row, column, value)).collect();
            assert!(found == expected, "{symmetry}");
            let again = rewritten(&contents, &file, Format::MatrixMarket, None).unwrap();
            let back = thorn_files::open(&again).unwrap();
            assert!(storages(&back, &again) == read, "{symmetry}");
        }
    }
    // The line number in an error counts the lines of all chunks.
    let mut text = format!("%%MatrixMarket matrix coordinate pattern symmetric\n9 9 {LINES}\n");
    (0..LINES).for_each(|k| text += if k == 149_000 { "10 1\n" } else { "2 1\n" });
    let error = thorn_files::open(&text.into_bytes()).unwrap_err().message;
    assert!(error.contains("line 149003: the position 10, 1 is out of range"), "{error}");
    let error = thorn_files::open(&b"\x1f\x8b\x08 no data".to_vec()).unwrap_err().message;
    assert!(error.starts_with("Matrix Market: compressed data cannot be read"), "{error}");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&vec![b' '; 10 << 20]).unwrap();
    let error = thorn_files::open(&packer.finish().unwrap()).unwrap_err().message;
    assert_eq!(error, "Matrix Market: byte 0: line 1 is longer than 65536 bytes");
    // 64 MB of empty lines, compressed to 64 kB.
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"%%MatrixMarket matrix coordinate real general\n2 2 9000000000\n").unwrap();
    (0..64).for_each(|_| packer.write_all(&[b'\n'; 1 << 20]).unwrap());
    let error = thorn_files::open(&packer.finish().unwrap()).unwrap_err().message;
    assert!(error.ends_with("the text continues after 0 lines with entries"), "{error}");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"%%MatrixMarket matrix coordinate real general\n").unwrap();
    (0..32).for_each(|_| packer.write_all(&b"%\n".repeat(1 << 19)).unwrap());
    let error = thorn_files::open(&packer.finish().unwrap()).unwrap_err().message;
    assert!(error.ends_with("the first 16777216 bytes have no sizes"), "{error}");
}

/// A stride of 0 could turn one stored number into any number of positions.
#[test]
fn positions_are_stored() {
    const MANY: i64 = 1 << 50;
    let view = |sizes: &[i64], data| Tensor {
        name: String::new(),
        sizes: sizes.to_vec(),
        strides: vec![0; sizes.len()],
        offset: 0,
        data: Data::Storage(data),
    };
    let outcome = |form, parts| {
        let mut contents = Contents::new(Format::Pt);
        for (element, bytes) in [(Element::I64, vec![0; 8]), (Element::I64, bytes!(0i64, MANY)), (Element::F32, vec![0; 4])] {
            let len = (bytes.len() / element.size()) as u64;
            contents.add_storage(element, len, Encoding::Bytes(bytes)).unwrap();
        }
        contents.add_sparse("s".to_owned(), vec![1, 1], Sparse { form, parts, coalesced: false }).unwrap();
        contents.check(&Vec::new()).map_err(|error| error.message)
    };
    let error = outcome(Form::Coordinates, vec![view(&[2, MANY], 0), view(&[MANY], 2)]).unwrap_err();
    assert_eq!(error, "tensor 's': there are positions [2, 1125899906842624], and 1 are stored");
    let starts = Tensor { strides: vec![1], ..view(&[2], 1) };
    let error = outcome(Form::Rows, vec![starts, view(&[MANY], 0), view(&[MANY], 2)]).unwrap_err();
    assert_eq!(error, "tensor 's': there are positions [1125899906842624], and 1 are stored");
    // The values may share one number.
    let columns = Tensor { strides: vec![1, 1], ..view(&[2, 1], 1) };
    assert_eq!(outcome(Form::Coordinates, vec![columns, view(&[1], 2)]), Ok(()));
}

#[test]
fn archives_that_are_no_sparse_tensors_are_their_arrays() {
    let names = |name: &str| {
        let contents = thorn_files::open(&file("scipy", name)).unwrap();
        contents.tensors.iter().map(|tensor| tensor.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("bsr.npz"), ["indices", "indptr", "format", "shape", "data", "_is_array"]);
    assert_eq!(names("dia.npz"), ["offsets", "format", "shape", "data", "_is_array"]);
    let why = |name: &str| match thorn_files::open(&file("scipy", name)).unwrap().tensors.swap_remove(0).data {
        Data::Refused(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why("complex.npz"), "of its array 'data', its elements are complex numbers (<c8)");
    assert_eq!(why("short.npz"), "it is compressed and has 1 dimensions, not 2");
}

#[test]
fn formats_without_sparse_tensors_say_so() {
    let file = file("scipy", "csr.npz");
    let contents = thorn_files::open(&file).unwrap();
    for format in [Format::Npy, Format::Safetensors, Format::T7, Format::Csv] {
        let message = rewritten(&contents, &file, format, None).unwrap_err().message;
        assert!(!format.keeps_sparse() && message.contains("sparse"), "{format:?}: {message}");
    }
    let plain = |encoding: &Encoding| encoding.plain().is_some();
    assert!(contents.storages.iter().all(|storage| plain(&storage.encoding)));
}
