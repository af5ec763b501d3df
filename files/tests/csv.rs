//! Tables of numbers as text. Files of NumPy and pandas are compared with the numbers that NumPy and pandas read. Small texts are compared
//! with expected elements and errors.

#[macro_use]
mod plain;

use plain::{Value, compare, corpus, elements, expected, saved};
use thorn_files::{Element, Format, open, read_csv};

type Found = (Format, Vec<i64>, Vec<String>, Vec<f64>);

/// The format, the sizes, the names of the columns and the elements of a text.
fn table(text: &str, separator: Option<u8>) -> Result<Found, String> {
    let file = text.as_bytes().to_vec();
    let contents = match separator {
        None => open(&file),
        separator => read_csv(&file, separator),
    };
    let contents = contents.map_err(|error| error.message)?;
    let mut to = vec![0; contents.storages[0].bytes().unwrap()];
    contents.read(&file, 0, &mut to).map_err(|error| error.message)?;
    let (element, values) = elements(&contents, &file, &contents.tensors[0]);
    assert_eq!(element, Element::F64);
    let values = values.into_iter().map(|value| if let Value::Float(float) = value { float } else { panic!() }).collect();
    let names = contents.metadata.iter().enumerate().map(|(i, (key, name))| {
        assert_eq!(*key, format!("columns.{i}"));
        name.clone()
    });
    Ok((contents.format, contents.tensors[0].sizes.clone(), names.collect(), values))
}

#[test]
fn tables_of_numpy_and_pandas() {
    for (name, wanted) in expected("csv") {
        let file = std::fs::read(corpus("csv").join(&name)).unwrap();
        let contents = open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&name, &contents, &file, &contents.tensors[0], &wanted);
        let names: Vec<&str> = contents.metadata.iter().map(|(_, name)| &**name).collect();
        let columns: Vec<&str> = wanted["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(names, columns, "{name}");
        assert_eq!(contents.format, if name.ends_with("tsv") { Format::Tsv } else { Format::Csv }, "{name}");
    }
}

#[test]
fn separators() {
    let cases: [(&str, &[i64], &[f64]); 17] = [
        ("1,2\n3,4\n", &[2, 2], &[1., 2., 3., 4.]),
        ("1,2\r\n3,4", &[2, 2], &[1., 2., 3., 4.]),
        ("\u{feff}1,2\n", &[1, 2], &[1., 2.]),
        ("1;2\n3;4\n", &[2, 2], &[1., 2., 3., 4.]),
        ("1,5;2,25\n-3,5e2;4\n", &[2, 2], &[1.5, 2.25, -350., 4.]),
        ("1.5;2\n", &[1, 2], &[1.5, 2.]),
        ("1 2\n", &[1, 2], &[1., 2.]),
        ("  1   2 \n 10  -20\n", &[2, 2], &[1., 2., 10., -20.]),
        ("1 \t 2\n3\t4\n", &[2, 2], &[1., 2., 3., 4.]),
        ("1 , 2\n3 ,4\n", &[2, 2], &[1., 2., 3., 4.]),
        ("1\n2\n3\n", &[3, 1], &[1., 2., 3.]),
        ("7", &[1, 1], &[7.]),
        (" 7 \n", &[1, 1], &[7.]),
        ("\n\n# a comment, 1\n1,2\n  \n #\n3,4\n\n", &[2, 2], &[1., 2., 3., 4.]),
        ("\"1\",\"2\"\n\" 3\",4\n", &[2, 2], &[1., 2., 3., 4.]),
        ("+1,-0\n1e3,.5\n", &[2, 2], &[1., -0., 1000., 0.5]),
        ("inf,-Infinity\n5.,1E-2\n", &[2, 2], &[f64::INFINITY, f64::NEG_INFINITY, 5., 0.01]),
    ];
    for (text, sizes, wanted) in cases {
        let (_, found, names, values) = table(text, None).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((&*found, &*values, names.len()), (sizes, wanted, 0), "{text:?}");
    }
    assert_eq!(table("1|2\n3|4\n", Some(b'|')).unwrap().3, [1., 2., 3., 4.]);
    assert_eq!(table("1,2\n3,4\n", Some(b';')).unwrap().3, [1.2, 3.4]);
    assert_eq!(table("a b,c\n1,2\n", Some(b',')).unwrap().2, ["a b", "c"]);
    assert_eq!(table("1\t2\n", None).unwrap().0, Format::Tsv);
}

#[test]
fn missing_values_are_nan() {
    for text in
        ["1,,3\n", "1,NA,3\n", "1,nan,3\n", "1,null,3\n", "1,None,3\n", "1,N/A,3\n", "1,\"\",3\n", "1;NaN;3\n", "1\t\t3\n", "1 na 3\n"]
    {
        let (_, sizes, names, values) = table(text, None).unwrap();
        assert_eq!((&*sizes, names.len(), values[0], values[2]), (&[1, 3][..], 0, 1., 3.), "{text:?}");
        assert!(values[1].is_nan(), "{text:?}");
    }
    // The last field, and a whole row.
    assert!(table("1,2,\n,,\n", None).unwrap().3[2..].iter().all(|value| value.is_nan()));
    assert_eq!(table("1\t2\n\t\n", None).unwrap().1, [2, 2]);
}

#[test]
fn names_of_columns() {
    let cases: [(&str, &[&str]); 6] = [
        ("x,y\n1,2\n", &["x", "y"]),
        ("# made by hand\nx, y \n1,2\n", &["x", "y"]),
        ("\"a, \"\"b\"\"\",1\n1,2\n", &["a, \"b\"", "1"]),
        ("weight in kg\tlength, cm\n1\t2\n", &["weight in kg", "length, cm"]),
        ("ü,\n1,2\n", &["ü", ""]),
        ("length\n1\n2\n", &["length"]),
    ];
    for (text, wanted) in cases {
        assert_eq!(table(text, None).unwrap().2, wanted, "{text:?}");
    }
    let (_, sizes, names, _) = table("x,y\n", Some(b',')).unwrap();
    assert_eq!((&*sizes, names.len()), (&[0, 2][..], 2));
}

/// Tables whose first rows have no digit.
#[test]
fn first_rows_may_be_missing() {
    let rows = |text: &str| {
        let contents = open(&text.as_bytes().to_vec()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let (sizes, names, values) = {
            let (_, sizes, names, values) = table(text, None).unwrap();
            (sizes, names.len(), values)
        };
        assert_eq!(contents.tensors[0].sizes, sizes);
        (sizes, names, values.iter().filter(|value| value.is_nan()).count())
    };
    assert_eq!(rows("nan,nan\nnan,nan\nnan,1.0\n"), (vec![3, 2], 0, 5));
    assert_eq!(rows("inf\n-inf\ninf\n"), (vec![3, 1], 0, 0));
    assert_eq!(rows("nan\n"), (vec![1, 1], 0, 1));
    assert_eq!(rows("a,b\n,\n,\n1,2\n3,4\n"), (vec![4, 2], 2, 4));
    assert_eq!(rows(&format!("a,b\n{}", "nan,nan\n".repeat(200))), (vec![200, 2], 2, 400));
}

/// Texts of spreadsheets for missing values begin no comment. Comments can also follow numbers.
#[test]
fn errors_of_spreadsheets_are_no_comments() {
    for text in ["a,b\n1,2\n#N/A,3\n4,5\n", "a;b\n1;2\n #N/A N/A;3\n4;5\n", "a,b\n1,2\n#na,3\n4,5\n".replace("#na", "#NA").as_str()] {
        let (_, sizes, _, values) = table(text, None).unwrap();
        assert_eq!((sizes, values[2].is_nan(), values[3]), (vec![3, 2], true, 3.), "{text:?}");
    }
    for error in ["#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"] {
        let message = table(&format!("a,b\n1,2\n{error},3\n"), None).unwrap_err();
        assert!(message.ends_with(&format!("line 3, column 1: '{error}' is no number")), "{message}");
    }
    assert_eq!(table("1,2 # first\n3,4\n# 5,6\n#NAN,1\n", None).unwrap().1, [2, 2]);
    assert_eq!(table("1 2\t# first, second\n3 4 #\n", None).unwrap().1, [2, 2]);
    assert_eq!(table("1,2 # first\r\n3,4\r\n", None).unwrap().3, [1., 2., 3., 4.]);
    let (_, sizes, names, _) = table("run #,x\n1,2\n", None).unwrap();
    assert_eq!((sizes, &*names[0]), (vec![1, 2], "run #"));
}

#[test]
fn wrong_lines() {
    let cases = [
        ("1,2\n3\n", "byte 4: line 2 has 1 fields, and the first has 2"),
        ("x,y\n\n1,2\n3,4,5\n", "byte 9: line 4 has 3 fields, and the first has 2"),
        ("x,y\n1,2\n3,four\n", "byte 10: line 3, column 2: 'four' is no number"),
        ("1,2\n3, 1_000\n", "byte 7: line 2, column 2: '1_000' is no number"),
        ("1,2\n3,\"4\n", "byte 6: line 2, column 2: '\\\"4' is no number"),
        ("1,2\n3,\"4\"5\n", "byte 6: line 2, column 2: '\\\"4\\\"5' is no number"),
        ("1,2\n3,0x4\n", "byte 6: line 2, column 2: '0x4' is no number"),
        ("1 2\n3 4 5\n", "byte 4: line 2 has 3 fields, and the first has 2"),
        ("3\t4\n1,5\t2\n", "byte 4: line 2, column 1: '1,5' is no number"),
    ];
    for (text, wanted) in cases {
        assert_eq!(table(text, None).unwrap_err(), wanted, "{text:?}");
    }
    for byte in [b'1', b'e', b'"', b'.', 0xe4] {
        let error = read_csv(&b"1".to_vec(), Some(byte)).unwrap_err();
        assert!(error.message.ends_with("does not separate fields"), "{}", error.message);
    }
    assert_eq!(table("\n# 1\n", Some(b',')).unwrap_err(), "there are no lines with numbers");
    assert_eq!(table("", Some(b',')).unwrap_err(), "there are no lines with numbers");
}

#[test]
fn other_texts_are_no_tables() {
    let long = format!("{}\nand so on\n", "words, ".repeat(200));
    let binary = b"1,2\n\0\x01".to_vec();
    for text in
        ["", "hello\n", "a,b\nc,d\n", "# 1\n", "{\"a\": [1, 2]}\n", "null\n", "int main(void)\n{\n    return 0;\n}\n", "<html>\n<p>1</p>\n"]
    {
        let message = open(&text.as_bytes().to_vec()).unwrap_err().message;
        assert!(message.starts_with("the format is unknown"), "{text:?}: {message}");
    }
    assert!(open(&binary).unwrap_err().message.starts_with("the format is unknown"));
    assert_eq!(open(&long.into_bytes()).unwrap_err().message, "csv: byte 1401: line 2 has 1 fields, and the first has 201");
    assert_eq!(open(&"word ".repeat(200).into_bytes()).unwrap_err().message, "csv: there are no numbers");
}

/// A short first line with many rows, and a long first line with short rows. The number of elements is limited by the number of bytes.
#[test]
fn tables_are_not_larger_than_their_texts() {
    let text = format!("{}\n{}", ",".repeat(50_000), "1\n".repeat(50_000));
    assert_eq!(table(&text, Some(b',')).unwrap_err(), "byte 50001: line 2 has 1 fields, and the first has 50001");
    let names = format!("{}\n", "x,".repeat(200_000));
    assert_eq!(table(&names, Some(b',')).unwrap_err(), "byte 0: a line with texts has more than 131072 fields");
    let long = "1".repeat((32 << 20) + (2 << 20));
    assert_eq!(table(&long, None).unwrap_err(), "csv: byte 0: a line is longer than 33554432 bytes");
}

/// Chunks are read independently. Lines of any length at the ends of chunks have the same numbers.
#[test]
fn large_tables() {
    for (columns, comment) in [(1, 0), (7, 0), (3, 2_500_000), (400_000, 0)] {
        let rows = 3_000_000 / 7 / columns + 2;
        let mut text = format!("#{}\n", "x".repeat(comment));
        for row in 0..rows {
            let line: Vec<String> = (0..columns).map(|column| (row * 31 + column * 7).to_string()).collect();
            text += &line.join(",");
            text += if row % 5 == 0 { "\r\n" } else { "\n" };
        }
        let (_, sizes, _, values) = table(&text, None).unwrap();
        assert_eq!(sizes, [rows as i64, columns as i64]);
        assert!(values.iter().enumerate().all(|(i, &value)| value == (i / columns * 31 + i % columns * 7) as f64));
        let last = text.len() - 2;
        text.replace_range(last..last + 1, "x");
        let message = table(&text, None).unwrap_err();
        assert!(message.contains(&format!("line {}, column {columns}: ", rows + 1)), "{message}");
    }
}

#[test]
fn written_tables() {
    let save = |sizes: &[i64], element, bytes: &[u8], metadata: &[(&str, &str)], precision| {
        saved(Format::Csv, &[("x", sizes, element, bytes)], metadata, precision).map(|text| String::from_utf8(text).unwrap())
    };
    let floats = bytes![0.1f64, -0.0f64, 1e300f64, 5e-324f64, f64::NAN, f64::NEG_INFINITY];
    assert_eq!(save(&[3, 2], Element::F64, &floats, &[], None).unwrap(), "0.1,-0.0\n1e+300,5e-324\nnan,-inf\n");
    assert_eq!(save(&[6], Element::F64, &floats, &[], Some(3)).unwrap(), "0.1\n-0\n1e+300\n4.94e-324\nnan\n-inf\n");
    let floats = bytes![0.1f32, 16777216f32, 123.456f32, 9.9999f32];
    assert_eq!(save(&[2, 2], Element::F32, &floats, &[], None).unwrap(), "0.1,16777216.0\n123.456,9.9999\n");
    assert_eq!(save(&[2, 2], Element::F32, &floats, &[], Some(4)).unwrap(), "0.1,1.678e+07\n123.5,10\n");
    assert_eq!(save(&[1, 3], Element::Bool, &[1, 0, 1], &[], Some(1)).unwrap(), "1,0,1\n");
    assert_eq!(save(&[2], Element::I64, &bytes![i64::MIN, i64::MAX], &[], None).unwrap(), "-9223372036854775808\n9223372036854775807\n");
    let names = [("columns.1", "a, \"b\""), ("other", "1"), ("columns.0", "x"), ("columns.9", "z")];
    assert_eq!(save(&[1, 2], Element::U8, &[1, 2], &names, None).unwrap(), "x,\"a, \"\"b\"\"\"\n1,2\n");
    assert_eq!(save(&[1, 1], Element::U8, &[1], &[("columns.0", "")], None).unwrap(), "1\n");
    assert_eq!(
        save(&[1, 2], Element::U8, &[1, 2], &[("columns.0", "2019")], None).unwrap_err().message,
        "all names of columns are numbers, and would be read as a row"
    );
    for (sizes, names) in [(&[0, 2], &[][..]), (&[3, 0], &[]), (&[3, 0], &[("columns.0", "a")])] {
        let message = save(sizes, Element::U8, &[], names, None).unwrap_err().message;
        let what = "tables of text have at least one row or names of columns, and at least one column";
        assert_eq!(message, format!("{what}, and tensor 'x' has sizes {sizes:?}"));
    }
    assert_eq!(
        save(&[], Element::U8, &[1], &[], None).unwrap_err().message,
        "tables of text have one or two dimensions, and tensor 'x' has 0"
    );
    assert_eq!(
        save(&[1], Element::U8, &[1], &[("columns.0", "a\nb")], None).unwrap_err().message,
        "the name of column 0 has an end of line"
    );
}

#[test]
fn written_tables_are_read() {
    let values: Vec<f64> = (0..200_000).map(|i| f64::from(i) * 0.1 - 1e4).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for (format, metadata) in [(Format::Csv, &[("columns.2", "a b;\"c\"")][..]), (Format::Tsv, &[])] {
        let file = saved(format, &[("", &[20_000, 10], Element::F64, &bytes)], metadata, None).unwrap();
        let contents = open(&file).unwrap();
        assert_eq!((contents.format, &*contents.tensors[0].sizes), (format, &[20_000, 10][..]));
        let mut to = vec![0; bytes.len()];
        contents.read(&file, 0, &mut to).unwrap();
        assert!(to == bytes);
        assert_eq!(contents.metadata.get(2).map(|(_, name)| &**name), metadata.first().map(|&(_, name)| name));
    }
}

#[test]
fn digits_are_those_of_printf() {
    let mut values =
        vec![0.0, -0.0, 1.0, -1.5, 9.5, 99.95, 0.5, 1e15, 123456789.0, 1e-4, 9.9999e-5, 1e-5, 2.5, 0.1 + 0.2, 1e100, f64::MAX, 5e-324];
    let mut bits = 1_u64;
    while values.len() < 20_000 {
        bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let float = f64::from_bits(bits ^ bits >> 32);
        values.extend([float, (bits >> 40) as f64 / 1024.0].iter().filter(|value| value.is_finite()));
    }
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for digits in [1, 2, 3, 6, 10, 16, 17] {
        let text = saved(Format::Csv, &[("", &[values.len() as i64], Element::F64, &bytes)], &[], Some(digits)).unwrap();
        for (line, &value) in str::from_utf8(&text).unwrap().lines().zip(&values) {
            let mut buffer = [0_u8; 64];
            // SAFETY: the buffer has 64 bytes, and the arguments match the format.
            let len = unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), 64, c"%.*g".as_ptr(), digits as libc::c_int, value) };
            assert_eq!(line.as_bytes(), &buffer[..len as usize], "{value:e} with {digits} digits");
        }
    }
}

/// Numbers of few digits have a fast path. All numbers are equal to those that std parses.
#[test]
fn numbers_are_rounded_as_by_std() {
    let mut texts: Vec<String> =
        ["-0", "-0.0", "0.", "-.5", "5.", "9007199254740993", "999999999999999", "9999999999999999", "0.1e1", "1.e5"]
            .map(str::to_owned)
            .to_vec();
    let mut bits = 1_u64;
    while texts.len() < 200_000 {
        bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let digits = format!("{:020}", bits);
        let (from, point) = ((bits >> 59) as usize % 20, (bits >> 54) as usize % 20);
        let (whole, fraction) = digits.split_at(from.max(point).max(1));
        let sign = if bits & 1 << 40 == 0 { "" } else { "-" };
        let exponent = if bits & 15 << 41 == 0 { "e-7" } else { "" };
        texts.push(format!("{sign}{}.{}{exponent}", &whole[from.min(whole.len() - 1)..], fraction));
    }
    let contents = |separator: &str| table(&texts.join(separator), None).unwrap().3;
    for (separator, values) in [("\n", contents("\n")), (",", contents(",")), (" ", contents(" "))] {
        for (text, value) in texts.iter().zip(values) {
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text} before {separator:?}");
        }
    }
}

#[test]
fn tables_without_rows_have_any_number_of_columns() {
    let text = |columns, metadata: &[(&str, &str)]| saved(Format::Csv, &[("", &[0, columns], Element::F64, &[])], metadata, None);
    assert_eq!(text(2, &[("columns.1", "b"), ("columns.2", "c")]).unwrap(), b",b\n");
    let message = text(i64::MAX, &[("columns.0", "a")]).unwrap_err().message;
    assert_eq!(message, "at most 131072 columns have names, and there are 9223372036854775807");
}
