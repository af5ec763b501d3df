//! Sparse tensors: they are listed and converted, and the other commands refuse them.

mod support;

use support::{corpus, folder, thorn};

#[test]
fn sparse_tensors_are_listed() {
    let text = thorn(&["show", &corpus("torch/sparse.pt")]);
    let text = text.text();
    let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    assert!(line("coo ").contains("[3, 4]") && line("coo ").ends_with("sparse, 4 entries of float32"), "{text}");
    assert!(line("csr ").ends_with("sparse, 2 entries of float32"), "{text}");
    assert!(line("large ").ends_with("sparse, 1 entry of float32"), "{text}");
    assert!(line("dense ").contains("int64"), "{text}");
    let json = thorn(&["show", "--json", &corpus("market/general.mtx")]).json();
    assert_eq!(json["format"], "Matrix Market");
    assert_eq!(json["tensors"][0]["error"], "sparse, 12 entries of float64");
    assert_eq!(json["tensors"][0]["shape"], serde_json::json!([5, 7]));
    let refusal = thorn(&["show", &corpus("torch/sparse.pt"), "coo"]);
    assert!(refusal.refusal().contains("tensor 'coo': sparse, 4 entries of float32"), "{}", refusal.err);
}

#[test]
fn sparse_tensors_are_converted() {
    let folder = folder("sparse_tensors_are_converted");
    let listed = |path: &str| {
        let json = thorn(&["show", "--json", path]).json();
        json["tensors"].as_array().unwrap().iter().map(|t| format!("{} {} {}", t["name"], t["shape"], t["error"])).collect::<Vec<_>>()
    };
    // All tensors of PyTorch's file, some of which cannot be read.
    let (all, sparse) = (folder.path("all.pt"), corpus("torch/sparse.pt"));
    let run = thorn(&["convert", "--skip", &sparse, &all]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.err.lines().count(), 3, "{}", run.err);
    assert_eq!(listed(&all), listed(&sparse)[..listed(&all).len()]);
    // One of them, in formats of one tensor.
    for ending in ["mtx", "npz", "pt"] {
        let one = folder.path(&format!("one.{ending}"));
        assert_eq!(thorn(&["convert", &sparse, &one, "--tensor", "csr", "--dtype", "float64"]).text(), "");
        assert!(listed(&one)[0].ends_with("[3,4] \"sparse, 2 entries of float64\""), "{:?}", listed(&one));
    }
    let text = std::fs::read_to_string(folder.path("one.mtx")).unwrap();
    assert_eq!(text, "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 4.0\n3 1 -2.5\n");
    // A data set.
    let (set, text) = (folder.path("set.svm"), folder.path("set.txt"));
    std::fs::write(&text, "1 qid:2 3:0.5\n-1 qid:2 # none\n").unwrap();
    assert_eq!(thorn(&["convert", &text, &set]).text(), "");
    assert_eq!(listed(&set)[1], "\"data\" [2,3] \"sparse, 1 entry of float64\"");
    assert_eq!(std::fs::read_to_string(&set).unwrap(), "1.0 qid:2 3:0.5\n-1.0 qid:2\n");
    // Formats without sparse tensors.
    let plain = folder.path("plain.safetensors");
    let refusal = thorn(&["convert", &sparse, &plain, "--tensor", "coo"]);
    assert!(refusal.refusal().contains("safetensors files have no sparse tensors"), "{}", refusal.err);
    let run = thorn(&["convert", "--skip", &sparse, &plain]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("tensor 'coo' is left out: sparse, 4 entries of float32"), "{}", run.err);
    assert_eq!(listed(&plain), ["\"dense\" [3] null", "\"layers.1\" [2] null"]);
}
