//! The house of docs/design.md: modules import downwards only, pure modules do without unsafe code, files stay short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module and the modules it may import, from the roof to the ground. Nobody may import `capi`.
const HOUSE: &[(&str, &str)] = &[
    ("capi", "ops cpu plan tensor storage alloc layout random dtype scalar device error"),
    ("ops", "cpu plan tensor storage alloc layout random dtype scalar device error"),
    ("cpu", "plan alloc layout random dtype scalar device error"),
    ("plan", "layout dtype scalar device error"),
    ("tensor", "storage refcount alloc layout dtype scalar device error"),
    ("storage", "refcount alloc dtype scalar device error"),
    ("alloc", "error"),
    ("refcount", ""),
    ("layout", "error"),
    ("random", "error"),
    ("dtype", "scalar error"),
    ("scalar", "error"),
    ("device", "error"),
    ("error", ""),
];

/// Modules whose root forbids unsafe code.
const PURE: &[&str] = &["plan", "layout", "random"];

const MOST_LINES: usize = 600;

fn allowed(module: &str) -> impl Iterator<Item = &'static str> {
    HOUSE.iter().find(|(name, _)| *name == module).map_or("", |(_, imports)| imports).split_whitespace()
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// A source file, the names of the modules it stands for, outermost first, and its text: `src/alloc/cache.rs` is `[alloc, cache]`.
struct Source {
    path: PathBuf,
    modules: Vec<String>,
    text: String,
}

/// Every file of `src/` but `lib.rs`, which only declares the modules.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![src()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("src/ can be read") {
            let path = entry.expect("src/ can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(src()).expect("found in src/").with_extension("");
            let names = inside.iter().map(|name| name.to_string_lossy().into_owned());
            let modules: Vec<String> = names.filter(|name| name != "mod" && name != "lib").collect();
            if !modules.is_empty() {
                let text = fs::read_to_string(&path).expect("sources are text");
                found.push(Source { path, modules, text });
            }
        }
    }
    found
}

/// The words and signs of Rust source, without comments, strings and characters; `::` is one sign.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(k, c)| chars.get(at + k) == Some(&c));
    while at < chars.len() {
        let start = at;
        match chars[at] {
            '/' if starts(at, "//") => at += chars[at..].iter().position(|&c| c == '\n').unwrap_or(chars.len() - at),
            '/' if starts(at, "/*") => at = (at + 2..chars.len()).find(|&k| starts(k, "*/")).map_or(chars.len(), |k| k + 2),
            '"' => at = end_of_string(&chars, at),
            // A character; what looks like one but is not closed is a lifetime.
            '\'' if starts(at + 1, "\\") => at = (at + 3..chars.len()).find(|&k| chars[k] == '\'').map_or(chars.len(), |k| k + 1),
            '\'' if starts(at + 2, "'") => at += 3,
            c if c.is_alphanumeric() || c == '_' => {
                at += chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                let word: String = chars[start..at].iter().collect();
                match word.as_str() {
                    "r" | "br" | "cr" if chars[at..].iter().find(|&&c| c != '#') == Some(&'"') => at = end_of_raw_string(&chars, at),
                    _ => found.push(word),
                }
            }
            _ if starts(at, "::") => {
                at += 2;
                found.push("::".into());
            }
            c => {
                at += 1;
                if !c.is_whitespace() {
                    found.push(c.into());
                }
            }
        }
    }
    found
}

/// Past the string that opens at `at`.
fn end_of_string(chars: &[char], mut at: usize) -> usize {
    at += 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Past the raw string whose hashes or quote stand at `at`.
fn end_of_raw_string(chars: &[char], at: usize) -> usize {
    let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
    let closed = |k: &usize| chars[*k] == '"' && chars[k + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    (at + hashes + 1..chars.len()).find(closed).map_or(chars.len(), |k| k + 1 + hashes)
}

/// The names that source `depth` modules below the crate root takes from the root, by `crate::` or enough `super::`.
fn imports(text: &str, depth: usize) -> BTreeSet<String> {
    let tokens = tokens(text);
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|token| token == what);
    let mut found = BTreeSet::new();
    // The nesting at which each `mod x { ... }` around this place ends.
    let (mut nesting, mut inline) = (0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "mod" if is(at + 2, "{") => inline.push(nesting),
            "{" => nesting += 1,
            "}" => {
                nesting -= 1;
                inline.pop_if(|outside| *outside == nesting);
            }
            "crate" if is(at + 1, "::") => targets(&tokens, at + 2, &mut found),
            "super" if is(at + 1, "::") => {
                let first = at;
                while is(at + 2, "super") && is(at + 3, "::") {
                    at += 2;
                }
                let ups = (at - first) / 2 + 1;
                if ups >= depth + inline.len() {
                    targets(&tokens, at + 2, &mut found);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The name at `at`, or those of the group `{a::b, c::{d, e}}` there: `a` and `c`.
fn targets(tokens: &[String], at: usize, found: &mut BTreeSet<String>) {
    if tokens.get(at).is_none_or(|token| token != "{") {
        found.extend(tokens.get(at).cloned());
        return;
    }
    let mut nesting = 0;
    for (before, token) in tokens[at..].iter().zip(&tokens[at + 1..]) {
        match before.as_str() {
            "{" => nesting += 1,
            "}" => nesting -= 1,
            _ => {}
        }
        if nesting == 0 {
            return;
        }
        if nesting == 1 && (before == "{" || before == ",") && token != "}" {
            found.insert(token.clone());
        }
    }
}

#[test]
fn the_scan_finds_imports() {
    let found = |text: &str, depth: usize| imports(text, depth).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(found("use crate::a; use crate::{b::{self, x}, c}; fn f() { crate::d::g::<crate::e::T>() }", 1), "a b c d e");
    assert_eq!(found("use super::a; macro_rules! m { () => { $crate::b::c!() } }", 1), "a b");
    assert_eq!(
        found("use super::a; use super::super::b; mod t { use super::super::c; use super::super::super::d; } use super::e;", 2),
        "b d"
    );
    assert_eq!(
        found("// crate::a\n/* crate::b */ \"crate::c \\\" crate::d\" r#\"crate::e\"# 'x' '\\'' pub(crate) &'crate crate::f", 1),
        "f"
    );
}

#[test]
fn the_table_names_every_module_and_points_downwards() {
    let modules: BTreeSet<String> = sources().into_iter().map(|source| source.modules[0].clone()).collect();
    let named: BTreeSet<String> = HOUSE.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(modules, named);
    for (row, (name, _)) in HOUSE.iter().enumerate() {
        for import in allowed(name) {
            assert!(HOUSE[row + 1..].iter().any(|(below, _)| *below == import), "{import} does not stand below {name}");
        }
    }
}

#[test]
fn modules_import_downwards() {
    let mut wrong = Vec::new();
    let mut edges = 0;
    for source in sources() {
        let module = &source.modules[0];
        for import in imports(&source.text, source.modules.len()) {
            edges += 1;
            if import != *module && !allowed(module).any(|name| name == import) {
                wrong.push(format!("{}: {module} may not import {import}", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges > HOUSE.len(), "the scan found only {edges} imports");
}

#[test]
fn pure_modules_forbid_unsafe_code() {
    for module in PURE {
        let roots: Vec<_> = sources().into_iter().filter(|source| source.modules == [*module]).collect();
        assert_eq!(roots.len(), 1, "{module}");
        assert!(roots[0].text.contains("#![forbid(unsafe_code)]"), "{} does not forbid unsafe code", roots[0].path.display());
    }
}

#[test]
fn files_stay_short() {
    for source in sources() {
        let lines = source.text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines, more than {MOST_LINES}", source.path.display());
    }
}
