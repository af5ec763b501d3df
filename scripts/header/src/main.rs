//! Writes `include/thorn.h`, `include/thorn.hpp`, `src/capi/declarations.h`, `src/capi/api.json`, `lua/thorn/api.lua` and
//! `docs/aten.md` from the sources. The tests fail if one of them is stale.
//!
//! cbindgen reads the expanded crate and writes declarations. `book` arranges them in chapters, `cdef` makes a plain list of them, and
//! `rows` and `lua` add the facts of the rows. `cxx` makes the C++ header from the C header and the rows.
//! `aten` lists the operators of exported programs.

mod api;
mod aten;
mod book;
mod cdef;
mod cxx;
mod item;
mod lua;
mod outline;

use item::Kind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("this is two folders below the root").to_owned()
}

/// Returns the crate with its macros expanded. The flag needs a nightly compiler or RUSTC_BOOTSTRAP; users of the header need neither.
///
/// Uses the dependencies of the release build. After a build of the library they are compiled already.
fn expanded() -> String {
    let out = Command::new(env!("CARGO"))
        .args(["rustc", "--package", "thorn", "--lib", "--crate-type", "lib", "--features", "api", "--locked"])
        .args(["--release", "--", "-Zunpretty=expanded"])
        .env("RUSTC_WRAPPER", root().join("scripts/header/rustc.sh"))
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("the source is text")
}

/// The generated files: path and content.
static GENERATED: LazyLock<[(PathBuf, String); 6]> = LazyLock::new(|| {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let source = expanded();
    let outline = outline::Outline::of(&source);
    // cbindgen reads a file.
    let file = std::env::temp_dir().join(format!("thorn-expanded-{}.rs", std::process::id()));
    std::fs::write(&file, source).expect("the temporary directory is writable");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(&file).generate();
    std::fs::remove_file(&file).expect("the file was just written");
    let bindings = bindings.expect("the sources can be bound");
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).expect("the header is text");
    let (preface, items) = item::read(&text);
    let sections = book::arrange(&items, &outline);
    let functions = items.iter().filter(|item| item.kind == Kind::Function).count();
    assert!(functions > 350, "only {functions} functions");
    let (header, rows) = (book::header(preface, &sections), api::functions(&sections, &outline.table));
    let cxx = cxx::header(&header, &rows);
    [
        (root().join("include/thorn.h"), header),
        (root().join("src/capi/declarations.h"), cdef::declarations(&sections)),
        (root().join("lua/thorn/api.lua"), lua::functions(&sections, &outline.table)),
        (root().join("src/capi/api.json"), rows),
        (root().join("include/thorn.hpp"), cxx),
        (root().join("docs/aten.md"), aten::page(&root())),
    ]
});

fn main() {
    for (path, text) in GENERATED.iter() {
        std::fs::write(path, text).expect("the folder is writable");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_is_fresh() {
        for (path, text) in GENERATED.iter() {
            let have = std::fs::read_to_string(path).unwrap_or_default();
            assert!(have == *text, "{} is stale: run scripts/header.sh", path.display());
        }
    }

    #[test]
    fn the_header_is_narrow_and_every_declaration_has_a_comment() {
        let [(_, header), ..] = &*GENERATED;
        let lines: Vec<&str> = header.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            assert!(line.chars().count() <= 120, "line {} has {} columns: {line}", i + 1, line.chars().count());
            let declares = line.starts_with("TH") || line.starts_with("typedef ") || line.starts_with("extern TH");
            assert!(!declares || lines[i - 1].starts_with("///"), "no comment: {line}");
        }
    }

    #[test]
    fn every_name_has_a_prefix() {
        let [_, (_, declarations), ..] = &*GENERATED;
        for line in declarations.lines() {
            let last = |text: &str| text.trim_end_matches([';', ' ']).rsplit([' ', '*']).next().unwrap_or_default().to_owned();
            let names: Vec<String> = match line {
                _ if line.starts_with("/*") => continue,
                _ if line.contains("enum ") => {
                    let (_, rest) = line.split_once('{').expect("an enum has values");
                    let (values, name) = rest.rsplit_once('}').expect("an enum ends");
                    let values = values.split(',').filter_map(|value| value.split_whitespace().next()).map(str::to_owned);
                    values.chain(Some(last(name)).filter(|name| !name.is_empty())).collect()
                }
                _ if line.starts_with("typedef") && line.contains("(*TH") => continue,
                _ if line.starts_with("typedef") || line.starts_with("extern") => vec![last(line)],
                _ => vec![last(line.split('(').next().unwrap_or_default())],
            };
            assert!(!names.is_empty() && names.iter().all(|name| item::is_declared(name)), "{line}");
        }
    }

    /// The comment of each function, or the introduction of its chapter, must list its status codes.
    #[test]
    fn every_function_or_its_chapter_says_its_status_codes() {
        let [(_, header), ..] = &*GENERATED;
        let (mut chapters, mut chapter, mut doc) = (0, String::new(), String::new());
        for line in header.lines() {
            let told = |text: &str| text.contains("TH_ERR_") || text.contains("do not fail");
            if let Some(text) = line.strip_prefix("///") {
                doc.push_str(text);
            } else if line.contains("@defgroup") {
                (chapter, chapters) = (line.to_owned(), chapters + 1);
            } else if line.starts_with(" *") {
                chapter.push_str(line);
            } else {
                let declares = line.starts_with("TH") && line.contains('(');
                assert!(!declares || told(&doc) || told(&chapter), "neither this function nor its chapter says its status codes: {line}");
                doc.clear();
            }
        }
        assert!(chapters > 30, "only {chapters} chapters");
    }

    /// C++98 forbids a comma after the last enumerator.
    #[test]
    fn enumerators_end_without_a_comma() {
        let [(_, header), ..] = &*GENERATED;
        let code: Vec<&str> =
            header.lines().map(|line| line.split("///").next().unwrap_or_default().trim()).filter(|line| !line.is_empty()).collect();
        let ends: Vec<_> = code.windows(2).filter(|pair| pair[1].starts_with('}') && pair[0].contains(" = ")).collect();
        assert!(ends.len() > 10 && ends.iter().all(|pair| !pair[0].ends_with(',')), "{ends:?}");
    }

    #[test]
    fn new_references_are_marked() {
        let [(_, header), ..] = &*GENERATED;
        let marked = header.lines().filter(|line| line.starts_with("TH_NODISCARD ")).count();
        let given = header.matches("new reference.\nTH_").count();
        assert!(marked >= given && given > 50, "{marked} of {given}");
        // A function whose documentation promises a new reference must be marked. The promise may be in any sentence.
        let mut doc = String::new();
        for line in header.lines() {
            match line.strip_prefix("///") {
                Some(text) => doc.push_str(text),
                None => {
                    let gives = doc.contains("Returns a new reference");
                    assert!(!gives || line.starts_with("TH_NODISCARD ") || !line.starts_with("TH"), "{line}");
                    doc.clear();
                }
            }
        }
    }

    #[test]
    fn header_versions_are_those_of_the_crate() {
        let [(_, header), ..] = &*GENERATED;
        let number = |name: &str| {
            let line = header.lines().find_map(|l| l.strip_prefix(&format!("#define {name} ")));
            line.unwrap_or_else(|| panic!("{name} is not in the header")).trim().to_string()
        };
        let version = ["TH_VERSION_MAJOR", "TH_VERSION_MINOR", "TH_VERSION_PATCH"].map(number).join(".");
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the crate has a manifest");
        assert!(manifest.contains(&format!("\nversion = \"{version}\"\n")), "the header's version is {version}");
    }
}
