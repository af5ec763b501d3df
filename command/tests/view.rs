//! `thorn view`: thorn reads the pictures again.

mod support;

use serde_json::{Value, json};
use support::{corpus, f32s, folder, i64s, thorn};

/// The shape and the elements of a file's only tensor.
fn picture(file: &str) -> (Value, Value) {
    let json = thorn(&["show", "--json", file, ""]).json();
    assert_eq!(json["dtype"], "uint8");
    (json["shape"].clone(), json["elements"].clone())
}

#[test]
fn a_matrix_is_gray() {
    let folder = folder("a_matrix_is_gray");
    let file = folder
        .tensors("t.safetensors", &[("m", "F32", &[2, 3], f32s(&[-1.0, 0.0, 1.0, 2.0, 3.0, 4.0])), ("o", "I64", &[2], i64s(&[5, 5]))]);
    for name in ["gray.png", "gray.pgm"] {
        let to = folder.path(name);
        assert_eq!(thorn(&["view", &file, "m", "-o", &to, "--map", "gray"]).text(), "");
        assert_eq!(picture(&to), (json!([2, 3]), json!([0, 51, 102, 153, 204, 255])));
    }
    let to = folder.path("between.png");
    assert_eq!(thorn(&["view", &file, "m", "-o", &to, "--map", "gray", "--min", "0", "--max", "2"]).text(), "");
    assert_eq!(picture(&to).1, json!([0, 0, 128, 255, 255, 255]));
    assert_eq!(thorn(&["view", &file, "o", "-o", &to, "--map", "gray"]).text(), "");
    assert_eq!(picture(&to), (json!([1, 2]), json!([0, 0])));
}

#[test]
fn a_matrix_has_the_colours_of_viridis() {
    let folder = folder("a_matrix_has_the_colours");
    let file = folder.tensors("t.safetensors", &[("", "F32", &[1, 5], f32s(&[0.0, 0.5, 1.0, f32::NAN, f32::INFINITY]))]);
    let to = folder.path("colours.png");
    assert_eq!(thorn(&["view", &file, "-o", &to]).text(), "");
    let (low, middle, high, nan) = ([0x44, 0x01, 0x54], [0x21, 0x91, 0x8c], [0xfd, 0xe7, 0x25], [255, 0, 0]);
    assert_eq!(picture(&to), (json!([1, 5, 3]), json!([low, middle, high, nan, high].concat())));
}

#[test]
fn an_image_is_shown_as_it_is() {
    let folder = folder("an_image_is_shown");
    let bytes: Vec<u8> = (0..12).map(|k| k * 20).collect();
    let file = folder.tensors("t.safetensors", &[("planes", "U8", &[3, 2, 2], bytes.clone()), ("pixels", "U8", &[2, 2, 3], bytes.clone())]);
    let to = folder.path("image.ppm");
    assert_eq!(thorn(&["view", &file, "pixels", "-o", &to]).text(), "");
    assert_eq!(picture(&to), (json!([2, 2, 3]), json!(bytes)));
    assert_eq!(thorn(&["view", &file, "planes", "-o", &to]).text(), "");
    assert_eq!(picture(&to), (json!([2, 2, 3]), json!([0, 80, 160, 20, 100, 180, 40, 120, 200, 60, 140, 220])));
    let (gray, copy) = (corpus("images/gray.png"), folder.path("gray.png"));
    assert_eq!(thorn(&["view", &gray, "-o", &copy, "--map", "gray"]).text(), "");
    assert_eq!(thorn(&["diff", &gray, &copy]).text(), "");
}

#[test]
fn a_picture_goes_to_the_standard_output() {
    let run = thorn(&["view", &corpus("images/rgb.png"), "-o", "-"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.starts_with(b"\x89PNG\r\n"));
    let folder = folder("a_picture_goes");
    let file = folder.file("out.png", &run.out);
    assert_eq!(thorn(&["diff", &corpus("images/rgb.png"), &file]).text(), "");
}

#[test]
fn what_is_no_picture_is_refused() {
    let folder = folder("what_is_no_picture");
    let file = folder.tensors("t.safetensors", &[("four", "U8", &[1, 1, 2, 2], vec![0; 4]), ("none", "U8", &[0, 2], vec![])]);
    let to = folder.path("to.png");
    let refusal = |arguments: &[&str]| thorn(&[&["view", &file], arguments].concat()).refusal().to_owned();
    let four = refusal(&["four", "-o", &to]);
    assert_eq!(four, format!("\"{file}\": tensor 'four': a tensor of shape [1, 1, 2, 2] is no matrix and no image of 1 or 3 channels\n"));
    assert!(refusal(&["none", "-o", &to]).contains("tensor 'none': a tensor of shape [0, 2] makes no picture"));
    assert_eq!(refusal(&["-o", &to]), format!("\"{file}\": it has 2 tensors: name one\n"));
    assert!(refusal(&["four"]).contains("--output"));
    assert!(!std::path::Path::new(&to).exists());
}
