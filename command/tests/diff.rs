//! `thorn diff`: equal files, and the reports of differences.

mod support;

use serde_json::json;
use support::{corpus, f32s, f64s, folder, i64s, safetensors, thorn};

/// The output of `diff`, which must find a difference.
fn differences(arguments: &[&str]) -> String {
    let run = thorn(&[&["diff"], arguments].concat());
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    String::from_utf8(run.out).unwrap()
}

#[test]
fn files_are_equal_to_themselves() {
    for name in ["safetensors/dtypes.safetensors", "t7/model.t7", "torch/odd.pt", "npy/scalar.npy", "npz/none.npz", "images/rgb.png"] {
        assert_eq!(thorn(&["diff", "--skip", &corpus(name), &corpus(name)]).text(), "", "{name}");
    }
}

/// Two tensors of one name, as `{"a.b": ..., "a": {"b": ...}}` of PyTorch has them.
#[test]
fn tensors_of_one_name_are_compared_in_order() {
    let folder = folder("tensors_of_one_name");
    let of = |name: &str, last: f32| {
        folder.tensors(
            name,
            &[("a.b", "F32", &[2], f32s(&[1.0, 1.0])), ("a.b", "F32", &[3], f32s(&[0.0, 0.0, last])), ("a.b#2", "F32", &[1], f32s(&[4.0]))],
        )
    };
    let (a, b) = (of("a", 0.0), of("b", 5.0));
    assert_eq!(thorn(&["diff", &a, &a]).text(), "");
    assert_eq!(differences(&[&a, &b]), "a.b: 1 of 3 elements differ, by up to 5; the first at [2]: 0.0, 5.0\n");
    let to = folder.path("c.pt");
    let run = thorn(&["convert", &a, &to]);
    assert_eq!((run.code, run.err), (0, format!("thorn: \"{a}\": another tensor 'a.b' is written as 'a.b#3'\n")));
    assert!(thorn(&["show", &to]).text().contains("\na.b#3  float32  [3] "));
}

#[test]
fn integers_are_compared_exactly() {
    let folder = folder("integers_are_compared_exactly");
    let of = |name: &str, x: i64| folder.tensors(name, &[("x", "I64", &[2, 2], i64s(&[0, 0, 0, x]))]);
    let (a, b) = (of("a", (1 << 53) + 1), of("b", 1 << 53));
    assert_eq!(differences(&[&a, &b]), "x: 1 of 4 elements differ, by up to 1; the first at [1, 1]: 9007199254740993, 9007199254740992\n");
    assert_eq!(thorn(&["diff", "--atol", "1", &a, &b]).text(), "");
    assert_eq!(thorn(&["diff", "--rtol", "1e-15", &a, &b]).text(), "");
    let (least, greatest) = (of("c", i64::MIN), of("d", i64::MAX));
    assert!(differences(&[&least, &greatest]).contains("by up to 1.84467e+19;"));
}

#[test]
fn floats_are_compared_within_tolerances() {
    let folder = folder("floats_are_compared");
    let of = |name: &str, elements: &[f64]| folder.tensors(name, &[("x", "F64", &[3], f64s(elements))]);
    let (a, b) = (of("a", &[1.0, -100.0, 0.0]), of("b", &[1.25, -99.0, -0.0]));
    assert_eq!(differences(&[&a, &b]), "x: 2 of 3 elements differ, by up to 1; the first at [0]: 1.0, 1.25\n");
    // |a - b| <= rtol * |b|: 0.25 <= 0.2 * 1.25.
    assert_eq!(thorn(&["diff", "--rtol", "0.2", &a, &b]).text(), "");
    assert!(differences(&["--rtol", "0.1999", &a, &b]).starts_with("x: 1 of 3 "));
    assert_eq!(thorn(&["diff", "--atol", "1", &a, &b]).text(), "");
    assert!(differences(&["--atol", "0.5", &a, &b]).starts_with("x: 1 of 3 elements differ, by up to 1; the first at [1]: -100.0, -99.0"));
    assert_eq!(thorn(&["diff", "--atol", "0.24", "--rtol", "0.01", &a, &b]).code, 0);
}

#[test]
fn nan_is_equal_to_nan_and_an_infinity_to_itself() {
    let folder = folder("nan_is_equal_to_nan");
    let of = |name: &str, bits: u32, elements: [f32; 2]| {
        folder.tensors(name, &[("x", "F32", &[3], [bits.to_le_bytes().to_vec(), f32s(&elements)].concat())])
    };
    let a = of("a", 0x7fc0_0000, [f32::INFINITY, f32::NEG_INFINITY]);
    let other_nan = of("b", 0xffc0_1234, [f32::INFINITY, f32::NEG_INFINITY]);
    assert_eq!(thorn(&["diff", &a, &other_nan]).text(), "");
    let number = of("c", 0, [f32::INFINITY, f32::NEG_INFINITY]);
    let all = ["--atol", "inf", "--rtol", "1"];
    assert_eq!(differences(&[&all[..], &[&a, &number]].concat()), "x: 1 of 3 elements differ, by up to inf; the first at [0]: nan, 0.0\n");
    let signs = of("d", 0x7fc0_0000, [f32::NEG_INFINITY, 1.0]);
    assert!(differences(&[&all[..], &[&a, &signs]].concat()).starts_with("x: 2 of 3 "));
}

#[test]
fn names_shapes_and_dtypes_differ() {
    let folder = folder("names_shapes_and_dtypes");
    let a =
        folder.tensors("a", &[("s", "F32", &[2, 1], f32s(&[1.0, 2.0])), ("d", "F32", &[2], f32s(&[1.0, 2.0])), ("a", "U8", &[1], vec![1])]);
    let b =
        folder.tensors("b", &[("s", "F32", &[2], f32s(&[1.0, 2.0])), ("d", "F64", &[2], f64s(&[1.0, 2.5])), ("b", "U8", &[1], vec![1])]);
    let text = format!("s: shape [2, 1], [2]\nd: dtype float32, float64\na: only in {a}\nb: only in {b}\n");
    assert_eq!(differences(&[&a, &b]), text);
    assert!(differences(&["--any-dtype", &a, &b]).contains("d: 1 of 2 elements differ, by up to 0.5; the first at [1]: 2.0, 2.5\n"));
    let run = thorn(&["diff", "--json", &a, &b]);
    assert_eq!(run.code, 1);
    let found: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    let expected = json!({ "equal": false, "differences": [
        { "shape": { "name": "s", "a": [2, 1], "b": [2] } },
        { "dtype": { "name": "d", "a": "float32", "b": "float64" } },
        { "only": { "name": "a", "file": a } },
        { "only": { "name": "b", "file": b } },
    ] });
    assert_eq!(found, expected);
    assert_eq!(thorn(&["diff", "--json", &a, &a]).text(), "{\"equal\":true,\"differences\":[]}\n");
    let quiet = thorn(&["diff", "--quiet", &a, &b]);
    assert_eq!((quiet.code, quiet.out.len(), quiet.err.len()), (1, 0, 0));
}

#[test]
fn the_name_of_an_only_tensor_does_not_count() {
    let folder = folder("the_name_of_an_only_tensor");
    let a = folder.tensors("a", &[("x", "F32", &[2], f32s(&[1.0, 2.0]))]);
    let b = folder.path("b.npy");
    assert_eq!(thorn(&["convert", &a, &b]).text(), "");
    assert_eq!(thorn(&["diff", &a, &b]).text(), "");
}

#[test]
fn what_cannot_be_read_is_trouble_or_skipped() {
    let file = corpus("torch/dtypes.pt");
    let run = thorn(&["diff", &file, &file]);
    assert_eq!((run.code, run.out.len(), run.err.lines().count()), (2, 0, 5), "{}", run.err);
    assert!(run.err.lines().all(|line| line.starts_with(&format!("thorn: \"{file}\": tensor '"))), "{}", run.err);
    assert_eq!(thorn(&["diff", "--skip", &file, &file]).text(), "");
    assert_eq!(thorn(&["diff", &file, "/nonexistent"]).refusal(), "\"/nonexistent\": cannot open: No such file or directory\n");
    assert!(thorn(&["diff", "--rtol", "-1", &file, &file]).refusal().contains("not negative"));
}

#[test]
fn large_tensors_are_compared_whatever_their_order() {
    let folder = folder("large_tensors_whatever_their_order");
    // Element [i, j] of a matrix of 2000 x 1500 is i * 1500 + j, in a row-major and a column-major file.
    let (rows, columns) = (2000, 1500);
    let by_row: Vec<f32> = (0..rows * columns).map(|k| k as f32).collect();
    let mut by_column: Vec<f32> = (0..rows * columns).map(|k| (k % rows * columns + k / rows) as f32).collect();
    let a = folder.file("a.safetensors", &safetensors(&[("m", "F32", &[2000, 1500], f32s(&by_row))], &[]));
    let npy = |name: &str, elements: &[f32]| {
        let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': True, 'shape': (2000, 1500), }");
        folder.file(name, &[b"\x93NUMPY\x01\x00", &118u16.to_le_bytes()[..], header.as_bytes(), &f32s(elements)].concat())
    };
    let b = npy("b.npy", &by_column);
    assert_eq!(thorn(&["diff", &a, &b]).text(), "");
    // Element [1777, 1234].
    by_column[1234 * rows + 1777] += 1.0;
    let c = npy("c.npy", &by_column);
    let text = "m: 1 of 3000000 elements differ, by up to 1; the first at [1777, 1234]: 2666734.0, 2666735.0\n";
    assert_eq!(differences(&[&a, &c]), text);
}
