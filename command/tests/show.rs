//! `thorn show`, compared with the original programs' reading of their files, and with computed statistics.

mod support;

use serde_json::Value;
use support::{corpus, expected, f32s, f64s, folder, i64s, safetensors, thorn};

/// An element of the expected values: a number, or the text of one.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// A number in the command's output. Numbers that JSON lacks are texts.
fn shown(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// Checks a tensor of `show --json` against its elements.
fn check(tensor: &Value, sizes: &Value, elements: &Value) {
    assert_eq!(&tensor["shape"], sizes, "{tensor}");
    let all: Vec<f64> = elements.as_array().unwrap().iter().map(number).collect();
    let some: Vec<f64> = all.iter().copied().filter(|x| !x.is_nan()).collect();
    if all.is_empty() {
        assert!(tensor.get("nans").is_none() && tensor.get("min").is_none(), "{tensor}");
        return;
    }
    assert_eq!(tensor["nans"], all.len() - some.len(), "{tensor}");
    if some.is_empty() {
        assert!(tensor.get("mean").is_none(), "{tensor}");
        return;
    }
    // The expected values are float64. The command prints the digits of the dtype.
    let exact = |x: f64| if tensor["dtype"] == "float32" { f64::from(x as f32) } else { x };
    assert_eq!(exact(shown(&tensor["min"])), some.iter().copied().fold(f64::INFINITY, f64::min), "{tensor}");
    assert_eq!(exact(shown(&tensor["max"])), some.iter().copied().fold(f64::NEG_INFINITY, f64::max), "{tensor}");
    let (mean, sum) = (shown(&tensor["mean"]), some.iter().sum::<f64>());
    let size = some.iter().map(|x| x.abs()).sum::<f64>() / some.len() as f64;
    let near = (mean - sum / some.len() as f64).abs() <= 1e-14 * size;
    assert!(near || !sum.is_finite() && mean.to_string() == sum.to_string(), "{tensor}: {sum}");
}

#[test]
fn files_of_pytorch_are_as_pytorch_reads_them() {
    for (name, file) in expected("torch").as_object().unwrap() {
        let json = thorn(&["show", "--json", &corpus(&format!("torch/{name}"))]).json();
        let tensors = json["tensors"].as_array().unwrap();
        let find = |name: &Value| tensors.iter().find(|tensor| tensor["name"] == *name).unwrap_or_else(|| panic!("{name} of {json}"));
        for tensor in file["tensors"].as_array().unwrap() {
            let found = find(&tensor["name"]);
            assert_eq!(found["dtype"], tensor["dtype"]);
            check(found, &tensor["sizes"], &tensor["elements"]);
        }
        for refused in file["refused"].as_array().unwrap() {
            let found = find(refused);
            assert!(found["error"].is_string() && found.get("dtype").is_none() && found.get("min").is_none(), "{found}");
        }
    }
}

#[test]
fn archives_of_numpy_are_as_numpy_reads_them() {
    for (name, arrays) in expected("npz").as_object().unwrap() {
        let json = thorn(&["show", "--json", &corpus(&format!("npz/{name}"))]).json();
        for tensor in json["tensors"].as_array().unwrap() {
            let array = &arrays[tensor["name"].as_str().unwrap()];
            if tensor.get("error").is_none() {
                check(tensor, &array["sizes"], &array["elements"]);
            }
        }
    }
}

#[test]
fn the_table_is_aligned() {
    let tensors = [
        ("a", "F32", &[2, 2][..], f32s(&[1.5, f32::NAN, -0.25, 1e-7])),
        ("layer.weight", "I64", &[3], i64s(&[i64::MIN, 0, i64::MAX])),
        ("none", "F64", &[0, 3], vec![]),
        ("one", "F64", &[], f64s(&[1.0 / 3.0])),
        ("unknown", "F64", &[2], f64s(&[f64::NAN, f64::NAN])),
    ];
    let folder = folder("the_table_is_aligned");
    let file = folder.tensors("t.safetensors", &tensors);
    // The mean of a is 1.2500001 / 3, and the mean of layer.weight -1 / 3.
    let text = "safetensors, 5 tensors, 64 bytes
name          dtype    shape   bytes                   min                  max       mean  NaNs
a             float32  [2, 2]     16                 -0.25                  1.5   0.416667     1
layer.weight  int64    [3]        24  -9223372036854775808  9223372036854775807  -0.333333     0
none          float64  [0, 3]      0
one           float64  []          8              0.333333             0.333333   0.333333     0
unknown       float64  [2]        16                     -                    -          -     2
";
    assert_eq!(thorn(&["show", &file]).text(), format!("{file}: {text}"));
    let brief = "safetensors, 5 tensors, 64 bytes
name          dtype    shape   bytes
a             float32  [2, 2]     16
layer.weight  int64    [3]        24
none          float64  [0, 3]      0
one           float64  []          8
unknown       float64  [2]        16
";
    assert_eq!(thorn(&["show", "--brief", &file]).text(), format!("{file}: {brief}"));
}

#[test]
fn json_has_exact_numbers() {
    let folder = folder("json_has_exact_numbers");
    let tensors = [
        ("f", "F32", &[3][..], f32s(&[0.1, f32::NEG_INFINITY, f32::NAN])),
        ("i", "I64", &[2], i64s(&[i64::MAX, (1 << 53) + 1])),
        ("b", "BOOL", &[2], vec![1, 0]),
    ];
    let file = folder.tensors("t.safetensors", &tensors);
    let line = |name: &str| thorn(&["show", "--json", &file, name]).text().to_owned();
    assert_eq!(line("f"), "{\"name\":\"f\",\"dtype\":\"float32\",\"shape\":[3],\"elements\":[0.1,\"-Infinity\",\"NaN\"]}\n");
    assert_eq!(line("i"), "{\"name\":\"i\",\"dtype\":\"int64\",\"shape\":[2],\"elements\":[9223372036854775807,9007199254740993]}\n");
    assert_eq!(line("b"), "{\"name\":\"b\",\"dtype\":\"bool\",\"shape\":[2],\"elements\":[true,false]}\n");
    let text = thorn(&["show", "--json", &file]).text().to_owned();
    assert!(text.contains("\"min\":\"-Infinity\",\"max\":0.1,\"mean\":\"-Infinity\",\"nans\":1"), "{text}");
    assert!(text.contains("\"min\":9007199254740993,\"max\":9223372036854775807,"), "{text}");
}

#[test]
fn a_tensor_is_printed() {
    let file = corpus("torch/dtypes.pt");
    assert_eq!(thorn(&["show", &file, "int16"]).text(), "tensor([[-3, -2, -1],\n        [ 0,  1,  2]], dtype=torch.int16)\n");
    let elements = &thorn(&["show", "-j", &file, "bfloat16"]).json()["elements"];
    assert_eq!(*elements, serde_json::json!([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]));
    let missing = thorn(&["show", &file, "int1"]);
    assert_eq!(
        missing.refusal(),
        format!("\"{file}\": no tensor is named 'int1'; there is 'uint16', 'int16'\n").replace("'uint16', 'int16'", "'int16', 'uint16'")
    );
    let refused = thorn(&["show", &file, "complex64"]);
    assert!(refused.refusal().contains(&format!("\"{file}\": tensor 'complex64': ")), "{}", refused.err);
}

#[test]
fn summaries_leave_out_elements_unless_all_are_asked_for() {
    let folder = folder("summaries_leave_out_elements");
    let file = folder.tensors("t.safetensors", &[("x", "I64", &[2000], i64s(&(0..2000).collect::<Vec<_>>()))]);
    assert!(thorn(&["show", &file, "x"]).text().contains("..., 1997, 1998, 1999"));
    let all = thorn(&["show", "--all", &file, "x"]);
    assert!(!all.text().contains("...") && all.text().contains(" 1000,"));
}

#[test]
fn what_cannot_be_read_is_listed_with_the_reason() {
    let file = corpus("torch/dtypes.pt");
    let run = thorn(&["show", &file]);
    let line = run.text().lines().find(|line| line.starts_with("complex64 ")).unwrap();
    assert!(line.contains(" -  ") && line.contains("complex64") && !line.contains(&file), "{line}");
}

#[test]
fn metadata_is_cut_unless_all_is_asked_for() {
    let folder = folder("metadata_is_cut");
    let mut metadata: Vec<(String, String)> = (0..24).map(|k| (format!("key{k:02}"), format!("value {k}"))).collect();
    metadata.insert(1, ("long".to_owned(), "\u{e4}".repeat(100)));
    let file = folder.file("t.safetensors", &safetensors(&[("x", "F32", &[1], f32s(&[1.0]))], &metadata));
    let run = thorn(&["show", &file]);
    let lines: Vec<&str> = run.text().lines().skip_while(|line| !line.starts_with("metadata")).collect();
    assert_eq!(lines[..2], ["metadata: 25 keys", "  key00 = value 0"]);
    assert_eq!(lines[2], format!("  long = {}... (100 characters)", "\u{e4}".repeat(60)));
    assert_eq!(lines[21..], ["  and 5 keys more: --all"]);
    let run = thorn(&["show", "--all", &file]);
    let lines: Vec<&str> = run.text().lines().skip_while(|line| !line.starts_with("metadata")).collect();
    assert_eq!(lines.len(), 26);
    assert_eq!(lines[2], format!("  long = {}", "\u{e4}".repeat(100)));
    assert_eq!(thorn(&["show", &file, "long"]).text(), format!("{}\n", "\u{e4}".repeat(100)));
    assert_eq!(thorn(&["show", "--json", &file]).json()["metadata"]["key23"], "value 23");
}

#[test]
fn a_file_cannot_steer_the_terminal() {
    let folder = folder("a_file_cannot_steer");
    let metadata = [("k\u{1b}[2J".to_owned(), "v\u{7}".to_owned())];
    let file = folder.file("t.safetensors", &safetensors(&[("x\u{1b}[31m\n", "F32", &[1], f32s(&[1.0]))], &metadata));
    let run = thorn(&["show", &file]);
    assert!(!run.text().contains(['\u{1b}', '\u{7}']), "{:?}", run.text());
    assert!(run.text().contains("x\\u{1b}[31m\\n"), "{}", run.text());
}

#[test]
fn files_without_tensors_and_files_that_are_none() {
    let folder = folder("files_without_tensors");
    let none = corpus("npz/none.npz");
    assert_eq!(thorn(&["show", &none]).text(), format!("{none}: npz, 0 tensors, 0 bytes\n"));
    let empty = folder.file("empty.pt", b"");
    assert!(thorn(&["show", &empty]).refusal().starts_with(&format!("\"{empty}\": ")));
    let whole = std::fs::read(corpus("safetensors/dtypes.safetensors")).unwrap();
    let cut = folder.file("cut.safetensors", &whole[..whole.len() - 1]);
    let message = thorn(&["show", &cut]).refusal().to_owned();
    assert!(message.starts_with(&format!("\"{cut}\": safetensors: ")) && message.contains("byte"), "{message}");
    let missing = folder.path("missing.pt");
    assert_eq!(thorn(&["show", &missing]).refusal(), format!("\"{missing}\": cannot open: No such file or directory\n"));
    assert_eq!(thorn(&["show", &folder.path("")]).refusal(), format!("\"{}\": not a regular file\n", folder.path("")));
}

#[test]
fn a_tensor_that_breaks_does_not_hide_the_others() {
    let folder = folder("a_tensor_that_breaks");
    let mut bytes = std::fs::read(corpus("npz/deflated.npz")).unwrap();
    // A byte among the compressed elements of the last entry, `zeros`, after the compressed header.
    let at = bytes.len() - 807;
    bytes[at] ^= 0xff;
    let file = folder.file("broken.npz", &bytes);
    let run = thorn(&["show", "--json", &file]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.starts_with(&format!("thorn: \"{file}\": tensor 'zeros': byte ")) && run.err.lines().count() == 1, "{}", run.err);
    let json: Value = serde_json::from_slice(&run.out).unwrap();
    let tensors = json["tensors"].as_array().unwrap();
    assert!(tensors[0].get("mean").is_some() && tensors[tensors.len() - 1]["error"].as_str().unwrap().starts_with("byte "), "{json}");
}

#[test]
fn large_tensors_are_read_in_pieces() {
    let folder = folder("large_tensors");
    // 0, 1, 2, ... are exact in float32. Their mean is (n - 1) / 2.
    let n = 3_000_001;
    let elements: Vec<f32> = (0..n).map(|k| k as f32).collect();
    let file = folder
        .tensors("t.safetensors", &[("x", "F32", &[n], f32s(&elements)), ("y", "F32", &[1, 3, 1_000_000], f32s(&elements[1..n as usize]))]);
    let json = thorn(&["show", "--json", &file]).json();
    let check = |tensor: &Value, min: f64, max: f64, mean: f64| {
        assert_eq!((shown(&tensor["min"]), shown(&tensor["max"]), shown(&tensor["mean"])), (min, max, mean), "{tensor}");
    };
    check(&json["tensors"][0], 0.0, 3e6, 1.5e6);
    check(&json["tensors"][1], 1.0, 3e6, 1_500_000.5);
}
