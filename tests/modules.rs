//! Checks the structure in docs/design.md: modules import only downwards, the files of a folder do not import each other in circles, pure
//! modules have no unsafe code, and files are short. The crates around the library are checked for circles.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module and the modules that it may import, from top to bottom. No module may import `capi`.
const HOUSE: &[(&str, &str)] = &[
    ("capi", "program grad sparse api tensor storage alloc dtype device error"),
    ("program", "grad expr api files ops tensor alloc layout dtype device mode error"),
    ("grad", "expr api files ops tensor storage refcount alloc layout dtype scalar device error"),
    ("sparse", "expr api files ops tensor alloc layout dtype scalar device mode error"),
    ("expr", "api ops tensor layout dtype device error"),
    (
        "api",
        "files ops print backend cpu launch driver plan tensor storage refcount alloc layout random dtype scalar device mode system error",
    ),
    ("files", "ops cpu backend launch operand tensor storage alloc layout dtype system error"),
    ("ops", "print backend cpu launch operand work plan tensor storage alloc layout random dtype element scalar device system error"),
    ("print", "alloc layout dtype scalar error"),
    ("backend", "cpu cuda launch driver operand alloc storage layout random dtype scalar device error"),
    ("cuda", "launch driver operand plan storage alloc layout random dtype element scalar device system error"),
    ("cpu", "launch operand work plan storage alloc layout random dtype element scalar device system error"),
    ("launch", "driver operand work storage layout random dtype element scalar device error"),
    ("driver", "refcount alloc device error"),
    ("operand", "tensor storage layout dtype device error"),
    ("work", "plan dtype"),
    ("plan", "layout dtype scalar device error"),
    ("tensor", "storage refcount alloc layout dtype scalar device error"),
    ("storage", "refcount alloc dtype scalar device error"),
    ("random", "alloc error"),
    ("alloc", "system error"),
    ("system", ""),
    ("refcount", ""),
    ("layout", "error"),
    ("element", "dtype scalar"),
    ("dtype", "scalar error"),
    ("scalar", "error"),
    ("device", "mode error"),
    ("mode", ""),
    ("error", ""),
];

/// Modules whose root forbids unsafe code.
const PURE: &[&str] = &["plan", "print", "layout", "random"];

const MOST_LINES: usize = 600;

fn allowed(module: &str) -> impl Iterator<Item = &'static str> {
    HOUSE.iter().find(|(name, _)| *name == module).map_or("", |(_, imports)| imports).split_whitespace()
}

/// A source file, the names of its modules, outermost first, and its text: `src/alloc/cache.rs` is `[alloc, cache]`.
struct Source {
    path: PathBuf,
    modules: Vec<String>,
    text: String,
}

/// Returns every file of `src/` except `lib.rs`, which only declares the modules.
fn sources() -> Vec<Source> {
    sources_in("src").into_iter().filter(|source| !source.modules.is_empty()).collect()
}

/// Returns every file of a crate whose root is in `folder`. The root itself has no names of modules.
fn sources_in(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let source = |path: PathBuf| {
        let inside = path.strip_prefix(&root).expect("found in the folder").with_extension("");
        let names = inside.iter().map(|name| name.to_string_lossy().into_owned());
        let modules = names.filter(|name| !["mod", "lib", "main"].contains(&name.as_str())).collect();
        let text = fs::read_to_string(&path).expect("sources are text");
        Source { path, modules, text }
    };
    rust_files(folder).into_iter().map(source).collect()
}

/// Returns the Rust files of a folder of the project and of all folders in it, except build outputs.
fn rust_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the words and signs of Rust source, without comments, strings and characters. `::` is one sign.
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
            // A character. If no quote closes it, it is a lifetime.
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

/// Returns the index after the string that opens at `at`.
fn end_of_string(chars: &[char], mut at: usize) -> usize {
    at += 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the index after the raw string whose hashes or quote are at `at`.
fn end_of_raw_string(chars: &[char], at: usize) -> usize {
    let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
    let closed = |k: &usize| chars[*k] == '"' && chars[k + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
    (at + hashes + 1..chars.len()).find(closed).map_or(chars.len(), |k| k + 1 + hashes)
}

/// Returns the paths, from the crate root, that a source of these `modules` names by `crate::` or `super::`. Imports of tests are left out
/// if `tests` is false.
fn paths(text: &str, modules: &[String], tests: bool) -> BTreeSet<Vec<String>> {
    let tokens = tokens(text);
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|token| token == what);
    let mut found = BTreeSet::new();
    // The nesting at which each enclosing `mod x { ... }` ends, and the name of the module.
    let (mut nesting, mut inline): (usize, Vec<(usize, String)>) = (0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let counts = tests || inline.iter().all(|(_, name)| name != "tests");
        match tokens[at].as_str() {
            "mod" if is(at + 2, "{") => inline.push((nesting, tokens[at + 1].clone())),
            "{" => nesting += 1,
            "}" => {
                nesting -= 1;
                inline.pop_if(|(outside, _)| *outside == nesting);
            }
            "crate" if is(at + 1, "::") && counts => _ = targets(&tokens, at + 2, &mut Vec::new(), &mut found),
            "super" if is(at + 1, "::") => {
                let first = at;
                while is(at + 2, "super") && is(at + 3, "::") {
                    at += 2;
                }
                let here: Vec<String> = modules.iter().chain(inline.iter().map(|(_, name)| name)).cloned().collect();
                let ups = (at - first) / 2 + 1;
                if let Some(depth) = here.len().checked_sub(ups).filter(|_| counts) {
                    targets(&tokens, at + 2, &mut here[..depth].to_vec(), &mut found);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Adds the path at `at`, or the paths of the group `{a::b, c::{d, e}}` there, each after `before`. Returns the index of the end.
fn targets(tokens: &[String], mut at: usize, before: &mut Vec<String>, found: &mut BTreeSet<Vec<String>>) -> usize {
    let depth = before.len();
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|token| token == what);
    if is(at, "{") {
        at += 1;
        while at < tokens.len() && !is(at, "}") {
            at = if is(at, ",") { at + 1 } else { targets(tokens, at, before, found) };
        }
        return at + 1;
    }
    while tokens.get(at).is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_')) {
        before.push(tokens[at].clone());
        at += 1;
        if !is(at, "::") {
            break;
        }
        at += 1;
        if is(at, "{") {
            at = targets(tokens, at, before, found);
            before.truncate(depth);
            return at;
        }
    }
    found.insert(before.clone());
    before.truncate(depth);
    // Skips `*` and `as name`.
    while at < tokens.len() && !is(at, ",") && !is(at, "}") && !is(at, ";") {
        at += 1;
    }
    at
}

/// The modules below the root that a source imports.
fn imports(text: &str, modules: &[String]) -> BTreeSet<String> {
    paths(text, modules, true).into_iter().filter_map(|path| path.into_iter().next()).collect()
}

/// Returns the names that a source imports from its child modules by `use child::name`, with the child.
fn taken_over(text: &str) -> Vec<(String, String)> {
    let tokens = tokens(text);
    let mut found = BTreeSet::new();
    for at in (0..tokens.len()).filter(|&at| tokens[at] == "use") {
        targets(&tokens, at + 1, &mut Vec::new(), &mut found);
    }
    found.into_iter().filter(|path| path.len() == 2).map(|path| (path[1].clone(), path[0].clone())).collect()
}

/// Returns the imports inside `folder`, as pairs. A file and the folder with its name are one node. The folder's own file is left out.
fn edges_inside(folder: &[String], sources: &[Source]) -> BTreeSet<(String, String)> {
    let depth = folder.len();
    let below = |source: &&Source| source.modules.starts_with(folder) && source.modules.len() > depth;
    let nodes: BTreeSet<&String> = sources.iter().filter(below).map(|source| &source.modules[depth]).collect();
    let own: Vec<_> = sources.iter().filter(|source| source.modules == folder).flat_map(|source| taken_over(&source.text)).collect();
    let mut found = BTreeSet::new();
    for source in sources.iter().filter(below) {
        let from = &source.modules[depth];
        for path in paths(&source.text, &source.modules, false).iter().filter(|path| path.starts_with(folder) && path.len() > depth) {
            let name = &path[depth];
            let to = if nodes.contains(name) { Some(name) } else { own.iter().find(|(taken, _)| taken == name).map(|(_, child)| child) };
            found.extend(to.filter(|to| *to != from && nodes.contains(to)).map(|to| (from.clone(), to.clone())));
        }
    }
    found
}

/// The names that a source defines outside of blocks.
fn defined(text: &str) -> BTreeSet<String> {
    const KEYWORDS: &[&str] = &["const", "enum", "fn", "mod", "static", "struct", "trait", "type", "union"];
    let tokens = tokens(text);
    let (mut found, mut nesting) = (BTreeSet::new(), 0);
    for at in 0..tokens.len() {
        match tokens[at].as_str() {
            "{" | "(" => nesting += 1,
            "}" | ")" => nesting -= 1,
            "mod" if tokens.get(at + 2).is_none_or(|after| after != "{") => {}
            word if nesting == 0 && KEYWORDS.contains(&word) => found.extend(tokens.get(at + 1).cloned()),
            _ => {}
        }
    }
    found
}

/// Returns the children that a folder's own file calls, by path or by a name that it imports. Names that it only exports by `pub use`, and
/// calls of tests, do not count.
fn called(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|token| token == what);
    let taken = taken_over(text);
    let (mut found, mut imports, mut exports) = (BTreeSet::new(), false, false);
    for at in 0..tokens.len() {
        if is(at, "mod") && is(at + 1, "tests") && is(at + 2, "{") {
            break;
        }
        let begins = at == 0 || !is(at - 1, "::") || (at > 1 && is(at - 2, "self"));
        match tokens[at].as_str() {
            "use" => (imports, exports) = (true, at > 0 && (is(at - 1, "pub") || is(at - 1, ")"))),
            ";" => (imports, exports) = (false, false),
            word if is(at + 1, "::") && !exports && begins => _ = found.insert(word.to_string()),
            word if !imports && begins && at > 0 && !is(at - 1, ".") && !is(at - 1, "mod") => {
                found.extend(taken.iter().filter(|(name, _)| name == word).map(|(_, child)| child.clone()));
            }
            _ => {}
        }
    }
    found
}

/// Returns the children of `folder` that its own file calls, and that use a definition of that file.
fn tied(folder: &[String], sources: &[Source]) -> BTreeSet<String> {
    let depth = folder.len();
    let Some(own) = sources.iter().find(|source| source.modules == folder) else { return BTreeSet::new() };
    let (defined, called) = (defined(&own.text), called(&own.text));
    let below = sources.iter().filter(|source| source.modules.starts_with(folder) && source.modules.len() > depth);
    let names_own = |source: &&Source| {
        let paths = paths(&source.text, &source.modules, false);
        paths.iter().any(|path| path.starts_with(folder) && path.get(depth).is_some_and(|name| defined.contains(name)))
    };
    below.filter(names_own).map(|source| source.modules[depth].clone()).filter(|child| called.contains(child)).collect()
}

/// Returns the edges that are part of a circle: repeatedly removes the modules without imports, until none is left.
fn in_circles(mut edges: BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    loop {
        let before = edges.len();
        let (from, to): (BTreeSet<_>, BTreeSet<_>) = edges.iter().cloned().unzip();
        edges.retain(|(a, b)| from.contains(b) && to.contains(a));
        if edges.len() == before {
            return edges;
        }
    }
}

#[test]
fn the_scan_finds_imports() {
    let modules = ["m".to_string(), "n".to_string()];
    let found = |text: &str, depth: usize| imports(text, &modules[..depth]).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(found("use crate::a; use crate::{b::{self, x}, c}; fn f() { crate::d::g::<crate::e::T>() }", 1), "a b c d e");
    assert_eq!(found("use super::a; macro_rules! m { () => { $crate::b::c!() } }", 1), "a b");
    assert_eq!(
        found("use super::a; use super::super::b; mod t { use super::super::c; use super::super::super::d; } use super::e;", 2),
        "b d m"
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
        for import in imports(&source.text, &source.modules) {
            edges += 1;
            if import != *module && !allowed(module).any(|name| name == import) {
                wrong.push(format!("{}: {module} may not import {import}", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges > HOUSE.len(), "the scan found only {edges} imports");
}

/// rustfmt does not format comments and the bodies of macros.
#[test]
fn lines_have_140_columns_at_most() {
    for path in ["src", "blocks", "lapack", "files", "command", "scripts", "tests"].into_iter().flat_map(rust_files) {
        let text = fs::read_to_string(&path).expect("sources are text");
        for (i, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= 140, "{}:{} has {} columns", path.display(), i + 1, line.chars().count());
        }
    }
}

/// Operations launch work on a device. Only formulas and the fast paths of small calls name the host's kernels.
#[test]
fn operations_name_no_kernels_of_the_host() {
    let mut fast_paths = 0;
    for source in sources().iter().filter(|source| source.modules[0] == "ops" && imports(&source.text, &source.modules).contains("cpu")) {
        let names: Vec<&str> = source.modules.iter().map(String::as_str).collect();
        let fast_path = names.last() == Some(&"fast_path");
        assert!(fast_path || names[..2] == ["ops", "pointwise"], "{} names the host's kernels", source.path.display());
        fast_paths += usize::from(fast_path);
    }
    assert!(fast_paths > 0, "the scan found no fast path");
}

#[test]
fn the_scan_finds_circles() {
    let source = |modules: &[&str], text: &str| Source {
        path: PathBuf::new(),
        modules: modules.iter().map(|name| name.to_string()).collect(),
        text: text.to_string(),
    };
    let sources = [
        source(&["m"], "mod a; mod b; mod c; pub use b::{Item, other}; fn f() { a::g() }"),
        source(&["m", "a"], "use super::Item; use crate::m::c::{self, x};"),
        source(&["m", "b"], "use super::c; mod tests { use super::super::a; }"),
        source(&["m", "b", "d"], "use super::super::a::{x, y}; use super::super::super::n;"),
        source(&["m", "c"], "use super::nothing;"),
    ];
    let edges = edges_inside(&["m".to_string()], &sources);
    let shown = |edges: BTreeSet<(String, String)>| edges.iter().map(|(a, b)| format!("{a}-{b}")).collect::<Vec<_>>().join(" ");
    assert_eq!(shown(edges.clone()), "a-b a-c b-a b-c");
    assert_eq!(shown(in_circles(edges)), "a-b b-a");
}

#[test]
fn files_of_a_folder_do_not_import_each_other_in_circles() {
    let sources = sources();
    let folders: BTreeSet<&[String]> = sources.iter().flat_map(|source| (1..source.modules.len()).map(|n| &source.modules[..n])).collect();
    assert!(folders.len() > 5, "the scan found only {} folders", folders.len());
    for folder in folders {
        let name = folder.join("/");
        let circles: Vec<String> = in_circles(edges_inside(folder, &sources)).iter().map(|(a, b)| format!("{a} imports {b}")).collect();
        assert!(circles.is_empty(), "in {name}: {}", circles.join(", "));
    }
}

#[test]
fn the_scan_finds_ties_to_the_own_file() {
    let source = |modules: &[&str], text: &str| Source {
        path: PathBuf::new(),
        modules: modules.iter().map(|name| name.to_string()).collect(),
        text: text.to_string(),
    };
    let sources = [
        source(
            &["m"],
            "mod a; mod b; mod c; mod d; pub use c::f; use d::g; struct Own; mod inline { fn x() {} } fn h() { a::f(); other::b::f() }",
        ),
        source(&["m", "a"], "use super::{Own, b};"),
        source(&["m", "b"], "use super::Own;"),
        source(&["m", "c"], "use super::Own;"),
        source(&["m", "d", "e"], "use super::super::inline::x;"),
    ];
    let found = tied(&["m".to_string()], &sources);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "d"]);
}

/// Children that implement traits of their folder's own file. Macros choose among these children, so the traits stay next to them.
const TIED: &[&str] = &["cpu/vector/avx2", "cpu/vector/avx512", "cpu/vector/scalar"];

/// If a folder's own file calls its children, definitions that both use must be in another file of the folder.
#[test]
fn files_of_a_folder_and_its_own_file_do_not_import_each_other() {
    let sources = sources();
    let folders: BTreeSet<&[String]> = sources.iter().flat_map(|source| (1..source.modules.len()).map(|n| &source.modules[..n])).collect();
    let ties = folders.iter().flat_map(|folder| tied(folder, &sources).into_iter().map(|child| format!("{}/{child}", folder.join("/"))));
    assert_eq!(ties.collect::<Vec<_>>(), TIED);
}

/// The crates around the library.
const CRATES: &[&str] = &["files/src", "command/src", "scripts/header/src"];

/// All folders are checked, including the root. Neither files of a folder nor a folder's own file and its children form circles.
#[test]
fn files_of_other_crates_do_not_import_each_other_in_circles() {
    for name in CRATES {
        let sources = sources_in(name);
        let above = |source: &Source| (0..source.modules.len()).map(|n| source.modules[..n].to_vec()).collect::<Vec<_>>();
        let folders: BTreeSet<Vec<String>> = sources.iter().flat_map(above).collect();
        let mut edges = 0;
        for folder in folders {
            let found = edges_inside(&folder, &sources);
            edges += found.len();
            let circles: Vec<String> = in_circles(found).iter().map(|(a, b)| format!("{a} imports {b}")).collect();
            assert!(circles.is_empty(), "in {name}/{}: {}", folder.join("/"), circles.join(", "));
            let tied = tied(&folder, &sources);
            assert!(tied.is_empty(), "in {name}/{}: the own file calls {tied:?}, which import it", folder.join("/"));
        }
        assert!(edges > 5, "the scan found only {edges} imports in {name}");
    }
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
    // scripts/header.sh writes `declarations.h`.
    for source in sources().iter().filter(|source| source.path.extension().is_some_and(|kind| kind == "rs")) {
        let lines = source.text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines, more than {MOST_LINES}", source.path.display());
    }
}
