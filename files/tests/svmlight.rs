//! Data sets as text, svmlight. Files that scikit-learn wrote are compared with the numbers that scikit-learn reads. Small texts are
//! compared with expected numbers, texts and errors.

#[macro_use]
mod plain;

use plain::{Value, compare, corpus, dense, elements, expected, saved, sparse, storages, wanted};
use std::io::Cursor;
use thorn_files::{Contents, Data, Element, Form, Format, Save, Sparse, Tensor, open, open_named};

fn named<'a>(contents: &'a Contents, name: &str) -> &'a Tensor {
    contents.tensors.iter().find(|tensor| tensor.name == name).unwrap_or_else(|| panic!("{name}: {:?}", contents.tensors))
}

/// Compares the tensors of a file with the ones that scikit-learn reads.
fn compare_all(at: &str, contents: &Contents, file: &Vec<u8>, expected: &serde_json::Value) {
    assert_eq!(contents.format, Format::Svmlight, "{at}");
    compare(at, contents, file, named(contents, "labels"), &expected["labels"]);
    let data = named(contents, "data");
    let parts = sparse(contents, data);
    assert_eq!((parts.form, serde_json::json!(data.sizes)), (Form::Rows, expected["data"]["sizes"].clone()), "{at}");
    assert_eq!(parts.nnz(), expected["data"]["nnz"].as_i64().unwrap(), "{at}");
    assert_eq!(dense(contents, file, data), (Element::F64, wanted(&expected["data"])), "{at}");
    match &expected["qid"] {
        serde_json::Value::Null => assert_eq!(contents.tensors.len(), 2, "{at}"),
        wanted => compare(at, contents, file, named(contents, "qid"), wanted),
    }
}

fn write(tensors: &[Tensor], sparse: &[Sparse], storages: &[(Element, Vec<u8>)], precision: Option<usize>) -> Result<String, String> {
    let storages: Vec<_> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let (mut to, what) = (Cursor::new(Vec::new()), Save { tensors, sparse, storages: &storages, metadata: &[], precision });
    match thorn_files::save(Format::Svmlight, &what, &mut to) {
        Ok(()) => Ok(String::from_utf8(to.into_inner()).unwrap()),
        Err(error) => Err(error.message),
    }
}

#[test]
fn files_that_scikit_learn_wrote() {
    for (name, wanted) in expected("svmlight") {
        let file = std::fs::read(corpus("svmlight").join(&name)).unwrap();
        let contents = open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        compare_all(&name, &contents, &file, &wanted);
        let written = write(&contents.tensors, &contents.sparse, &storages(&contents, &file), None).unwrap().into_bytes();
        compare_all(&name, &open(&written).unwrap(), &written, &wanted);
    }
}

/// The labels, the queries, the number of columns, and the row, the column and the value of each entry.
type Found = (Vec<f64>, Vec<i64>, i64, Vec<(i64, i64, f64)>);

fn found(text: &str) -> Result<Found, String> {
    let file = text.as_bytes().to_vec();
    let contents = open_named(&file, b"a.svm").map_err(|error| error.message)?;
    assert_eq!(contents.format, Format::Svmlight);
    let numbers = |name: &str| elements(&contents, &file, named(&contents, name)).1;
    let float = |value: Value| if let Value::Float(float) = value { float } else { panic!("{value:?}") };
    let int = |value: Value| if let Value::Int(int) = value { int } else { panic!("{value:?}") };
    let data = named(&contents, "data");
    let parts = sparse(&contents, data);
    assert_eq!(data.sizes[0], named(&contents, "labels").sizes[0]);
    let [starts, columns, values] = [0, 1, 2].map(|part| elements(&contents, &file, &parts.parts[part]).1);
    let starts: Vec<i64> = starts.into_iter().map(int).collect();
    let rows = starts.windows(2).zip(0..).flat_map(|(pair, row)| (pair[0]..pair[1]).map(move |_| row));
    let entries = rows.zip(columns).zip(values).map(|((row, column), value)| (row, int(column), float(value)));
    let queries = if contents.tensors.len() == 3 { numbers("qid").into_iter().map(int).collect() } else { Vec::new() };
    Ok((numbers("labels").into_iter().map(float).collect(), queries, data.sizes[1], entries.collect()))
}

#[test]
fn texts() {
    let cases: [(&str, Found); 9] = [
        ("", (vec![], vec![], 0, vec![])),
        ("# only\n\n", (vec![], vec![], 0, vec![])),
        ("7", (vec![7.0], vec![], 0, vec![])),
        ("1\r\n-1 \r\n", (vec![1.0, -1.0], vec![], 0, vec![])),
        ("+1 2:+.5 3:1e3", (vec![1.0], vec![], 3, vec![(0, 1, 0.5), (0, 2, 1000.0)])),
        ("1 1:0#2:5\n 2\t1:3 # 4:4\n", (vec![1.0, 2.0], vec![], 1, vec![(0, 0, 0.0), (1, 0, 3.0)])),
        ("0.1 qid:3\n2 qid:-9223372036854775808 5:1\n", (vec![0.1, 2.0], vec![3, i64::MIN], 5, vec![(1, 4, 1.0)])),
        ("1 9223372036854775807:1\n", (vec![1.0], vec![], i64::MAX, vec![(0, i64::MAX - 1, 1.0)])),
        ("1 0001:4.9e-324 02:1.7976931348623157e308", (vec![1.0], vec![], 2, vec![(0, 0, 5e-324), (0, 1, f64::MAX)])),
    ];
    for (text, wanted) in cases {
        assert_eq!(found(text), Ok(wanted), "{text}");
    }
}

#[test]
fn an_error_has_its_line() {
    let cases = [
        ("1 1:1\n\nx 1:1\n", "line 3: the label 'x' is not one number"),
        ("1,2 1:1\n", "line 1: the label '1,2' is not one number"),
        ("1:1 2:1\n", "line 1: the label '1:1' is not one number"),
        ("1 1:1\n2 0:1\n", "line 2: '0:1' is no pair index:value with an index from 1 on"),
        ("1 -1:1\n", "line 1: '-1:1' is no pair"),
        ("1 1.5:1\n", "line 1: '1.5:1' is no pair"),
        ("1 1:1 2\n", "line 1: '2' is no pair"),
        ("1 :1\n", "line 1: ':1' is no pair"),
        ("1 9223372036854775808:1\n", "line 1: '9223372036854775808:1' is no pair"),
        ("1 99999999999999999999999:1\n", "line 1: '99999999999999999999999:1' is no pair"),
        ("1 1:1 qid:1\n", "line 1: 'qid:1' is no pair"),
        ("1 1:\n", "line 1: the value '' is no number"),
        ("1 1: 2\n", "line 1: the value '' is no number"),
        ("1 1:1:1\n", "line 1: the value '1:1' is no number"),
        ("1 1:0x1\n", "line 1: the value '0x1' is no number"),
        ("# a\n1 3:1 3:1\n", "line 2: index 3 follows index 3, and indices must ascend"),
        ("1 3:1 2:1\n", "line 1: index 2 follows index 3, and indices must ascend"),
        ("1 qid:1.0 3:1\n", "line 1: 'qid:1.0' has no integer of 64 bits"),
        ("1 qid:9223372036854775808\n", "line 1: 'qid:9223372036854775808' has no integer of 64 bits"),
        ("1 qid:1 1:1\n#\n2 1:1\n", "byte 14: line 3 has no qid, and line 1 has one"),
        ("1 1:1\n2 1:1\n3 qid:1 1:1\n", "line 3 has a qid, and line 1 has none"),
    ];
    for (text, wanted) in cases {
        let message = found(text).unwrap_err();
        assert!(message.starts_with("svmlight: byte ") && message.contains(wanted), "{text}: {message}");
    }
}

#[test]
fn the_first_row_or_the_name_tells_the_format() {
    let format = |text: &str, name: &str| open_named(&text.as_bytes().to_vec(), name.as_bytes()).map(|contents| contents.format).ok();
    for text in ["1 1:2", "# a\n\n-1 qid:3\n", "1\t1:2 # a\n2\n", &format!("1 1:2 {}", "# ".repeat(400))] {
        assert_eq!(format(text, ""), Some(Format::Svmlight), "{text}");
    }
    // A label alone, or labels separated by commas, can be a table.
    for (text, other) in [("1\n2\n", Some(Format::Csv)), ("", None), ("1,2\n3,4\n", Some(Format::Csv))] {
        assert_eq!(format(text, ""), other, "{text}");
        assert_eq!(format(text, "a.csv"), other, "{text}");
    }
    for name in ["a.svm", "b/a.SVMLIGHT", "a.libsvm"] {
        for text in ["1\n2\n", "1\n2 1:2\n", ""] {
            assert_eq!(format(text, name), Some(Format::Svmlight), "{text}");
        }
    }
    // The content of other formats counts more than the name.
    assert_eq!(format("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n", "a.svm"), Some(Format::MatrixMarket));
    let cut = |len: usize| format!("1 1:2 {}", "3:4 ".repeat(1000)).chars().take(len).collect::<String>();
    assert!(open(&cut(600).into_bytes()).unwrap_err().message.contains("line 1: index 3 follows index 3"));
}

/// A vector of numbers as a tensor of storage `index`.
fn vector(name: &str, len: i64, index: usize) -> Tensor {
    Tensor::row_major(name.to_owned(), vec![len], index).unwrap()
}

/// Writes the matrix [2 x 3] with 4 at (1, 0), 2.5 at (0, 2) and 0 at (0, 0), in a form with these positions.
fn matrix(form: Form, positions: &[&[i64]], values: &[f64]) -> Result<String, String> {
    let bytes = |list: &[i64]| list.iter().flat_map(|k| k.to_le_bytes()).collect::<Vec<u8>>();
    let mut storages = vec![(Element::F32, bytes!(0.1f32, -1.0f32)), (Element::F64, bytes!(values[0], values[1], values[2]))];
    let mut parts = Vec::new();
    for list in positions {
        let sizes = if form == Form::Coordinates { vec![2, 3] } else { vec![list.len() as i64] };
        parts.push(Tensor::row_major(String::new(), sizes, storages.len()).unwrap());
        storages.push((Element::I64, bytes(list)));
    }
    parts.push(vector("", 3, 1));
    let data = Tensor { data: Data::Sparse(0), ..Tensor::row_major("data".to_owned(), vec![2, 3], 0).unwrap() };
    write(&[data, vector("labels", 2, 0)], &[Sparse { form, parts, coalesced: false }], &storages, None)
}

#[test]
fn matrices_in_all_forms() {
    let text = "0.1 1:0.0 3:2.5\n-1.0 1:4.0\n";
    assert_eq!(matrix(Form::Rows, &[&[0, 2, 3], &[0, 2, 0]], &[0.0, 2.5, 4.0]), Ok(text.to_owned()));
    assert_eq!(matrix(Form::Rows, &[&[0, 2, 3], &[2, 0, 0]], &[2.5, 0.0, 4.0]), Ok(text.to_owned()));
    assert_eq!(matrix(Form::Columns, &[&[0, 2, 2, 3], &[1, 0, 0]], &[4.0, 0.0, 2.5]), Ok(text.to_owned()));
    assert_eq!(matrix(Form::Coordinates, &[&[1, 0, 0, 0, 2, 0]], &[4.0, 2.5, 0.0]), Ok(text.to_owned()));
    assert_eq!(matrix(Form::Vectors, &[&[0, 0, 1], &[0, 2, 0]], &[0.0, 2.5, 4.0]), Ok(text.to_owned()));
    let twice = matrix(Form::Vectors, &[&[0, 1, 0], &[2, 0, 2]], &[0.0, 2.5, 4.0]).unwrap_err();
    assert_eq!(twice, "'data' has two entries at row 1, column 3, counted from 1: coalesce it first");
    let beyond = matrix(Form::Vectors, &[&[0, 1, 2], &[2, 0, 2]], &[0.0, 2.5, 4.0]).unwrap_err();
    assert_eq!(beyond, "entry 2 is at 3, 3, out of range for 2 x 3, from 1");
    let beyond = matrix(Form::Rows, &[&[0, 2, 3], &[0, -1, 0]], &[0.0, 2.5, 4.0]).unwrap_err();
    assert_eq!(beyond, "entry 1 is at 1, 0, out of range for 2 x 3, from 1");
}

#[test]
fn numbers_are_the_shortest_that_read_back_the_same() {
    let text = |labels: (Element, &[u8]), data: (Element, &[u8]), queries: Option<(Element, &[u8])>, precision| {
        let mut tensors = vec![("labels", &[2i64][..], labels.0, labels.1), ("data", &[2, 2][..], data.0, data.1)];
        tensors.extend(queries.map(|queries| ("qid", &[2i64][..], queries.0, queries.1)));
        saved(Format::Svmlight, &tensors, &[], precision).map(|file| String::from_utf8(file).unwrap()).map_err(|error| error.message)
    };
    let floats = bytes!(0.1f64, -0.0f64, f64::NAN, f64::NEG_INFINITY);
    let singles = bytes!(1e-45f32, 1.0f32 / 3.0);
    let halves = bytes!(0x3c00u16, 0x8000u16, 0x0001u16, 0x7bffu16);
    let (f, s) = ((Element::F64, &floats[..]), (Element::F32, &singles[..]));
    assert_eq!(text(s, f, None, None).unwrap(), "1e-45 1:0.1\n0.33333334 1:nan 2:-inf\n");
    assert_eq!(text(s, f, None, Some(3)).unwrap(), "1.4e-45 1:0.1\n0.333 1:nan 2:-inf\n");
    assert_eq!(text(s, (Element::F16, &halves[..]), None, None).unwrap(), "1e-45 1:1.0\n0.33333334 1:5.9604645e-8 2:65504.0\n");
    let longs = bytes!(i64::MIN, 7i64);
    let (bools, bytes) = ((Element::Bool, &[1u8, 0][..]), (Element::I8, &[0u8, 255, 128, 1][..]));
    assert_eq!(
        text(bools, bytes, Some((Element::I64, &longs[..])), None).unwrap(),
        "1 qid:-9223372036854775808 2:-1\n0 qid:7 1:-128 2:1\n"
    );
    assert_eq!(text(bools, (Element::Bool, &[0u8, 0, 1, 0][..]), None, None).unwrap(), "1\n0 1:1\n");
    assert_eq!(text(bools, bytes, Some(s), None).unwrap_err(), "'qid' has integers, not float32");
}

#[test]
fn other_tensors_are_refused() {
    let saved = |tensors: &[(&str, &[i64])]| {
        let tensors: Vec<_> = tensors.iter().map(|&(name, sizes)| (name, sizes, Element::U8, &[1u8; 6][..])).collect();
        saved(Format::Svmlight, &tensors, &[], None).map(|file| String::from_utf8(file).unwrap()).map_err(|error| error.message)
    };
    assert_eq!(saved(&[("labels", &[0]), ("data", &[0, 3])]), Ok(String::new()));
    assert_eq!(saved(&[("data", &[2, 0]), ("labels", &[2])]), Ok("1\n1\n".to_owned()));
    let rule = "svmlight files have the tensors 'labels', 'data' and possibly 'qid', not";
    assert_eq!(saved(&[("", &[2, 3])]), Err(format!("{rule} 1: ''")));
    assert_eq!(saved(&[]), Err(format!("{rule} 0: ")));
    assert_eq!(saved(&[("labels", &[2]), ("data", &[2, 3]), ("odd", &[2])]), Err(format!("{rule} 3: 'labels', 'data', 'odd'")));
    assert_eq!(saved(&[("labels", &[2]), ("data", &[6])]), Err("'data' of svmlight files is a matrix, and has 1 dimensions".to_owned()));
    assert_eq!(saved(&[("labels", &[3]), ("data", &[2, 3])]), Err("'data' has 2 rows, and 'labels' has sizes [3], not [2]".to_owned()));
    let column = saved(&[("labels", &[2, 1]), ("data", &[2, 3])]);
    assert_eq!(column, Err("'data' has 2 rows, and 'labels' has sizes [2, 1], not [2]".to_owned()));
    let queries = saved(&[("labels", &[2]), ("data", &[2, 3]), ("qid", &[1])]);
    assert_eq!(queries, Err("'data' has 2 rows, and 'qid' has sizes [1], not [2]".to_owned()));
}

#[test]
fn large_files_are_read_in_chunks() {
    const ROWS: i64 = 100_000;
    let (mut text, mut entries) = (String::new(), Vec::new());
    for row in 0..ROWS {
        text += &format!("{}{row} qid:{}", if row % 100 == 0 { "# a comment\n\n" } else { "" }, row / 10);
        for k in 0..row % 7 {
            let column = k * 1000 + row % 991;
            text += &format!(" {}:{}", column + 1, row + k);
            entries.push((row, column, (row + k) as f64));
        }
        text += "\n";
    }
    // More than two groups of chunks.
    assert!(text.len() > 3 << 20);
    let (labels, queries, columns, read) = found(&text).unwrap();
    assert!(labels.iter().enumerate().all(|(row, &label)| label == row as f64) && labels.len() as i64 == ROWS);
    assert!(queries.iter().enumerate().all(|(row, &query)| query == row as i64 / 10) && queries.len() as i64 == ROWS);
    assert_eq!(columns, 5991);
    assert!(read == entries);
    let file = text.into_bytes();
    let contents = open(&file).unwrap();
    let written = write(&contents.tensors, &contents.sparse, &storages(&contents, &file), None).unwrap();
    let back = found(&written).unwrap();
    assert!(back == (labels, queries, columns, entries));
    // The line number in an error counts the lines of all chunks.
    let mut lines: Vec<&str> = written.lines().collect();
    lines[90_000] = "1 qid:1 0:1";
    assert!(found(&lines.join("\n")).unwrap_err().contains("line 90001: '0:1' is no pair"));
    lines[90_000] = "1 5:1";
    assert!(found(&lines.join("\n")).unwrap_err().contains("line 90001 has no qid, and line 1 has one"));
}
