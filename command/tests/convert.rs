//! `thorn convert`: from every format to every other, and back.

mod support;

use std::os::unix::fs::PermissionsExt;
use support::{Folder, corpus, f32s, f64s, folder, i64s, safetensors, thorn};

/// Formats of several tensors, with their suffixes.
const MANY: [(&str, &str); 6] =
    [("pt", "pt"), ("t7", "t7"), ("t7-ascii", "t7"), ("npz", "npz"), ("npz-compressed", "npz"), ("safetensors", "safetensors")];

/// Formats of one tensor, of any dtype or only of floats.
const ONE: [(&str, &str); 3] = [("npy", "npy"), ("csv", "csv"), ("tsv", "tsv")];

/// Formats of one image.
const IMAGES: [(&str, &str); 2] = [("png", "png"), ("pnm", "ppm")];

/// Converts `from` to each format, and each of these files to each format. All results must equal `from`.
fn there_and_back(folder: &Folder, from: &str, formats: &[(&str, &str)], options: &[&str]) {
    let convert = |from: &str, to: &str, format: &str| {
        let mut arguments = vec!["convert", "--bare", from, to, "--format", format];
        arguments.extend(options);
        assert_eq!(thorn(&arguments).text(), "", "{from} to {to}");
        assert_eq!(thorn(&["diff", from, to]).text(), "", "{from} and {to}");
    };
    for (first, ending) in formats {
        let file = folder.path(&format!("{first}.{ending}"));
        convert(from, &file, first);
        for (second, ending) in formats {
            let other = folder.path(&format!("{first}-{second}.{ending}"));
            convert(&file, &other, second);
            assert_eq!(thorn(&["diff", from, &other]).text(), "");
        }
    }
}

#[test]
fn several_tensors_go_through_every_pair_of_formats() {
    let folder = folder("several_tensors");
    let tensors = [
        ("float32", "F32", &[2, 3][..], f32s(&[0.1, -2.0, f32::NAN, f32::INFINITY, -0.0, 1e-45])),
        ("layer.weight", "F64", &[3, 1, 2], f64s(&[0.1, 1e300, -1e-300, f64::NEG_INFINITY, 5e-324, 0.0])),
        ("int64", "I64", &[3], i64s(&[i64::MIN, (1 << 53) + 1, i64::MAX])),
        ("uint8", "U8", &[4], vec![0, 1, 128, 255]),
        ("int16", "I16", &[2], vec![0, 128, 255, 127]),
    ];
    let from = folder.tensors("from.safetensors", &tensors);
    there_and_back(&folder, &from, &MANY, &[]);
}

#[test]
fn a_matrix_goes_through_every_pair_of_formats() {
    let folder = folder("a_matrix");
    let elements = [0.1, -2.5, 1e300, 5e-324, f64::NAN, 123_456_789.0];
    let from = folder.tensors("from.safetensors", &[("m", "F64", &[2, 3], f64s(&elements))]);
    let formats: Vec<_> = MANY.into_iter().chain(ONE).collect();
    there_and_back(&folder, &from, &formats, &[]);
}

#[test]
fn an_image_goes_through_every_pair_of_formats() {
    for (name, image) in [("gray", "images/gray.png"), ("rgb", "images/rgb.png")] {
        let folder = folder(&format!("an_image_{name}"));
        let formats: Vec<_> = MANY.into_iter().chain([("npy", "npy")]).chain(IMAGES).collect();
        there_and_back(&folder, &corpus(image), &formats, &[]);
    }
}

#[test]
fn files_of_the_corpus_are_kept() {
    let folder = folder("files_of_the_corpus");
    for (name, to) in [
        ("torch/checkpoint.pt", "checkpoint.safetensors"),
        ("torch/tree_legacy.pt", "tree.pt"),
        ("safetensors/dtypes.safetensors", "dtypes.pt"),
        ("gguf/aligned.gguf", "aligned.safetensors"),
        ("npz/mixed.npz", "mixed.safetensors"),
    ] {
        let (from, to) = (corpus(name), folder.path(to));
        let run = thorn(&["convert", "--skip", "--bare", &from, &to]);
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert_eq!(thorn(&["diff", "--skip", &from, &to]).text(), "", "{name}");
    }
}

#[test]
fn metadata_is_kept_where_the_format_has_any() {
    let folder = folder("metadata_is_kept");
    let metadata = [("b".to_owned(), "2".to_owned()), ("a".to_owned(), "\u{fe}".to_owned())];
    let from = folder.file("from.safetensors", &safetensors(&[("x", "F32", &[1], f32s(&[1.0]))], &metadata));
    let (to, bare, npz) = (folder.path("to.pt"), folder.path("bare.pt"), folder.path("to.npz"));
    assert_eq!(thorn(&["convert", &from, &to]).text(), "");
    assert_eq!(thorn(&["diff", "--metadata", &from, &to]).text(), "");
    assert_eq!(thorn(&["convert", &from, &bare, "--bare"]).text(), "");
    let run = thorn(&["diff", "--metadata", &from, &bare]);
    assert_eq!((run.code, run.out.as_slice()), (1, "metadata b: '2', none\nmetadata a: '\u{fe}', none\n".as_bytes()));
    let run = thorn(&["convert", &from, &npz]);
    assert_eq!((run.code, run.err), (0, format!("thorn: \"{npz}\": its format has no metadata: 2 keys left out\n")));
}

#[test]
fn tensors_are_chosen_converted_and_left_out() {
    let folder = folder("tensors_are_chosen");
    let from = corpus("torch/dtypes.pt");
    let one = folder.path("one.npy");
    assert_eq!(thorn(&["convert", &from, &one, "--tensor", "int16", "--dtype", "float64"]).text(), "");
    let json = thorn(&["show", "--json", &one, ""]).json();
    assert_eq!((&json["dtype"], &json["elements"]), (&"float64".into(), &serde_json::json!([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0])));
    let two = folder.path("two.npz");
    assert_eq!(thorn(&["convert", &from, &two, "-t", "int8", "-t", "float32"]).text(), "");
    let names: Vec<_> = thorn(&["show", "--json", &two]).json()["tensors"].as_array().unwrap().iter().map(|t| t["name"].clone()).collect();
    assert_eq!(names, ["int8", "float32"]);
    let to = folder.path("to.safetensors");
    assert!(thorn(&["convert", &from, &to]).refusal().starts_with(&format!("\"{from}\": tensor '")));
    assert!(!std::path::Path::new(&to).exists());
    let run = thorn(&["convert", &from, &to, "--skip"]);
    assert_eq!((run.code, run.err.lines().count()), (0, 5), "{}", run.err);
    assert!(run.err.lines().all(|line| line.starts_with(&format!("thorn: \"{from}\": tensor '")) && line.contains("is left out")));
}

#[test]
fn digits_of_texts_can_be_chosen() {
    let folder = folder("digits_of_texts");
    let from = folder.tensors("from.safetensors", &[("x", "F64", &[1, 2], f64s(&[1.0 / 3.0, 2.0]))]);
    let to = folder.path("to.csv");
    assert_eq!(thorn(&["convert", &from, &to, "--digits", "3"]).text(), "");
    let text = std::fs::read_to_string(&to).unwrap();
    assert!(text.starts_with("0.333,2"), "{text}");
}

#[test]
fn what_cannot_be_written_is_refused_and_the_old_file_stays() {
    let folder = folder("what_cannot_be_written");
    let (from, small) = (corpus("safetensors/dtypes.safetensors"), corpus("safetensors/shapes.safetensors"));
    let old = folder.file("old.npy", b"old");
    let message = thorn(&["convert", &from, &old]).refusal().to_owned();
    assert_eq!(message, format!("\"{old}\": its format has one tensor, and \"{from}\" has 13 tensors: name one by --tensor\n"));
    let message = thorn(&["convert", &from, &old, "--tensor", "bfloat16"]).refusal().to_owned();
    assert!(message.starts_with(&format!("\"{old}\": ")) && message.contains("bfloat16"), "{message}");
    assert_eq!(std::fs::read(&old).unwrap(), b"old");
    let message = thorn(&["convert", &small, &folder.path("to.xyz")]).refusal().to_owned();
    assert!(message.contains("to.xyz") && message.contains("names no format"), "{message}");
    let message = thorn(&["convert", &small, &folder.path("no/to.pt")]).refusal().to_owned();
    assert!(message.contains("no/to.pt\": ") && message.contains("No such file or directory"), "{message}");
    assert!(thorn(&["convert", &from, &old, "--dtype", "float31"]).refusal().contains("the dtypes are uint8, "));
    assert!(thorn(&["convert", &from, &old, "--format", "zip"]).refusal().contains("t7-ascii"));
}

#[test]
fn a_file_is_converted_in_its_place() {
    let folder = folder("a_file_is_converted_in_its_place");
    let file = folder.tensors("t.safetensors", &[("x", "F32", &[3], f32s(&[1.0, 2.0, 3.0]))]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(thorn(&["convert", &file, &file, "--dtype", "int8"]).text(), "");
    assert_eq!(thorn(&["show", "--json", &file, "x"]).json()["dtype"], "int8");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}
