//! Keeps `include/thorn.h` equal to what cbindgen writes from the sources; `THORN_WRITE_HEADER=1` writes it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The crate with its macros expanded. The flag wants a nightly compiler or RUSTC_BOOTSTRAP; users of the header need neither.
fn expanded(target: &Path) -> PathBuf {
    let out = Command::new(env!("CARGO"))
        .args(["rustc", "--lib", "--crate-type", "lib", "--locked", "--target-dir"])
        .arg(target)
        .args(["--", "-Zunpretty=expanded"])
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let file = target.join("expanded.rs");
    std::fs::write(&file, out.stdout).expect("the target directory is writable");
    file
}

fn generated() -> String {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let source = expanded(&root().join("target/header"));
    let bindings = cbindgen::Builder::new().with_config(config).with_src(source).generate().expect("the sources can be bound");
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).expect("the header is text")
}

#[test]
fn header_is_fresh() {
    let (path, text) = (root().join("include/thorn.h"), generated());
    if std::env::var_os("THORN_WRITE_HEADER").is_some() {
        std::fs::write(&path, &text).expect("include/ is writable");
    }
    let have = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(have == text, "include/thorn.h is stale: run scripts/header.sh");
}

#[test]
fn every_name_has_the_prefix() {
    let have = std::fs::read_to_string(root().join("include/thorn.h")).expect("include/thorn.h exists");
    for line in have.lines() {
        let last = |rest: &'_ str| rest.rsplit(' ').next().map(|name| name.trim_end_matches(';').to_owned());
        let first = |rest: &str| rest.split([' ', '(']).next().map(str::to_owned);
        let of_function = line.strip_prefix("typedef ").and_then(|rest| rest.split_once("(*")).and_then(|(_, rest)| rest.split(')').next());
        let name = of_function.map(str::to_owned);
        let name = name.or_else(|| line.strip_prefix("#define ").and_then(first));
        let name = name.or_else(|| line.strip_prefix("typedef ").filter(|rest| rest.ends_with(';') && !rest.contains('(')).and_then(last));
        let name = name.or_else(|| line.strip_prefix("typedef struct ").and_then(first));
        let name = name.or_else(|| line.strip_prefix("extern const struct ").and_then(first));
        if let Some(name) = name {
            assert!(name.starts_with("TH"), "{line}");
        }
        if let Some((before, _)) = line.split_once('(').filter(|_| line.ends_with(");") && !line.starts_with([' ', '/'])) {
            let name = before.rsplit([' ', '*']).next().unwrap_or_default();
            assert!(name.starts_with("TH") || name.is_empty(), "{line}");
        }
    }
}

#[test]
fn header_versions_are_those_of_the_crate() {
    let have = std::fs::read_to_string(root().join("include/thorn.h")).expect("include/thorn.h exists");
    let number = |name: &str| {
        let line = have.lines().find_map(|l| l.strip_prefix(&format!("#define {name} ")));
        line.unwrap_or_else(|| panic!("{name} is not in the header")).trim().to_string()
    };
    let version = ["TH_VERSION_MAJOR", "TH_VERSION_MINOR", "TH_VERSION_PATCH"].map(number).join(".");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
}
