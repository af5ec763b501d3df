//! The header as a book: chapters in learning order, each with the types that it needs, and a table of contents.

use crate::item::{Item, Kind, guard, mentions};
use crate::outline::{Chapter, Outline};

/// The chapters, in order. Each is a module with functions, or several with the same title.
const ORDER: &[&str] = &[
    "Handles and references",
    "Element types",
    "Making tensors",
    "Looking at tensors",
    "Single elements",
    "Copies and conversions",
    "Printing",
    "Views",
    "Shapes changed in place",
    "Joining and rearranging",
    "Elements by index",
    "Results made of numbers",
    "Arithmetic",
    "Functions of numbers",
    "Bits",
    "Comparisons and choices",
    "Fused expressions",
    "Reductions",
    "Scans and softmax",
    "Losses, normalization and gradients",
    "Recurrent layers",
    "Gradients",
    "Optimizers",
    "Exported programs",
    "Sorting and searching",
    "Order statistics and histograms",
    "Matrix products",
    "Quantised numbers",
    "Products of compressed rows",
    "Linear algebra",
    "Convolution",
    "Pooling",
    "Resampling of images",
    "Fourier transforms",
    "Sparse tensors",
    "Random generators",
    "Random numbers",
    "Devices",
    "Streams, events and graphs",
    "Exchange with other libraries",
    "Functions of the caller",
    "Storages",
    "Memory",
    "Files",
    "Mapped files and shared memory",
    "Errors",
    "Threads",
    "BLAS of the machine",
    "Versions",
];

/// Maximum columns of the header.
const WIDTH: usize = 120;

/// The items of one chapter.
pub struct Section {
    pub chapter: Chapter,
    pub parts: Vec<Part>,
}

impl Section {
    /// The functions of the chapter, in order.
    pub fn functions(&self) -> impl Iterator<Item = &Item> {
        self.parts.iter().filter_map(|part| match part {
            Part::Item(item) if item.kind == Kind::Function => Some(item),
            _ => None,
        })
    }
}

/// A declaration, or a group of constants.
pub enum Part {
    Item(Item),
    /// `typedef enum NAME`, or an enum without a name.
    Enum {
        name: Option<String>,
        doc: Vec<String>,
        values: Vec<Item>,
    },
    /// Constants that the preprocessor may ask for.
    Defines(Vec<Item>),
}

/// Arranges all declarations in chapters.
pub fn arrange(items: &[Item], outline: &Outline) -> Vec<Section> {
    let mut waiting = parts(items, outline);
    let functions: Vec<&Item> = items.iter().filter(|item| item.kind == Kind::Function).collect();
    let chapter = |item: &Item| outline.chapters.get(&item.name).unwrap_or_else(|| panic!("{} is in no module", item.name)).clone();
    for function in &functions {
        let title = chapter(function).title;
        assert!(ORDER.contains(&title.as_str()), "'{title}', where {} stands, is no chapter of scripts/header/src/book.rs", function.name);
    }
    let mut sections = Vec::new();
    for title in ORDER {
        let own: Vec<&Item> = functions.iter().copied().filter(|f| chapter(f).title == *title).collect();
        let Some(first) = own.first() else { panic!("the chapter '{title}' is empty") };
        let mut chapter_of_title = chapter(first);
        chapter_of_title.text = own.iter().map(|f| chapter(f).text).find(|text| !text.is_empty()).unwrap_or_default();
        let mut section = Section { chapter: chapter_of_title, parts: Vec::new() };
        for function in own {
            // Types that the function names come first, unless an earlier chapter has them.
            let text = format!("{}\n{}", function.doc.join("\n"), function.code);
            place(&text, &mut waiting, &mut section.parts);
            section.parts.push(Part::Item(function.clone()));
        }
        // Types are at the beginning of a chapter.
        section.parts.sort_by_key(|part| matches!(part, Part::Item(item) if item.kind == Kind::Function));
        sections.push(section);
    }
    let left: Vec<String> = waiting.iter().flat_map(names).collect();
    assert!(left.is_empty(), "no function or type mentions {left:?}");
    sections
}

/// Moves the parts that `text` mentions from `waiting` to `placed`, each after the parts that it mentions itself.
fn place(text: &str, waiting: &mut Vec<Part>, placed: &mut Vec<Part>) {
    while let Some(at) = waiting.iter().position(|part| mentioned(text, part)) {
        let part = waiting.remove(at);
        place(&text_of(&part), waiting, placed);
        placed.push(part);
    }
}

fn names(part: &Part) -> Vec<String> {
    let all = |items: &[Item]| items.iter().map(|item| item.name.clone()).collect::<Vec<_>>();
    match part {
        Part::Item(item) => vec![item.name.clone()],
        Part::Enum { name, values, .. } => name.iter().cloned().chain(all(values)).collect(),
        Part::Defines(values) => all(values),
    }
}

/// Returns true if a text names the part, or its constants as `TH_STORAGE_*`.
fn mentioned(text: &str, part: &Part) -> bool {
    let names = names(part);
    let family = |name: &String| name.rmatch_indices('_').any(|(at, _)| at > 3 && text.contains(&format!("{}_*", &name[..at])));
    names.iter().any(|name| mentions(text, name) || family(name))
}

fn text_of(part: &Part) -> String {
    let all = |items: &[Item]| items.iter().map(|item| item.doc.join("\n")).collect::<Vec<_>>().join("\n");
    match part {
        Part::Item(item) => format!("{}\n{}", item.doc.join("\n"), item.code),
        Part::Enum { doc, values, .. } => format!("{}\n{}", doc.join("\n"), all(values)),
        Part::Defines(values) => all(values),
    }
}

/// Groups types, objects and constants.
fn parts(items: &[Item], outline: &Outline) -> Vec<Part> {
    let mut found = Vec::new();
    let constants: Vec<&Item> = items.iter().filter(|item| item.kind == Kind::Constant).collect();
    let of =
        |item: &Item| outline.constants.get(&item.name).unwrap_or_else(|| panic!("{} is no constant of the sources", item.name)).clone();
    let mut groups: Vec<(String, String)> = constants.iter().map(|item| of(item)).collect();
    groups.sort();
    groups.dedup();
    for group in groups {
        let values: Vec<Item> = constants.iter().copied().filter(|item| of(item) == group).cloned().collect();
        let code = items.iter().find(|item| item.kind == Kind::Type && item.name == group.0);
        found.push(match code {
            Some(code) => Part::Enum { name: Some(code.name.clone()), doc: code.doc.clone(), values },
            None if group.1.starts_with("crate::api") => Part::Defines(values),
            None => Part::Enum { name: None, doc: Vec::new(), values },
        });
    }
    let plain = items.iter().filter(|item| matches!(item.kind, Kind::Type | Kind::Object) && !outline.codes.contains(&item.name));
    found.extend(plain.cloned().map(Part::Item));
    found
}

/// Returns the text of the header.
pub fn header(preface: &str, sections: &[Section]) -> String {
    let (before, after) = preface.trim_end().split_once(" * @CONTENTS@\n").expect("the preface says where the contents stand");
    let mut out = refilled(before);
    for (number, section) in sections.iter().enumerate() {
        out += &format!(" *     {:2}. {}\n", number + 1, section.chapter.title);
    }
    out += &refilled(after);
    out += "\n#ifndef THORN_H\n#define THORN_H\n\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\n";
    out += ATTRIBUTES;
    out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    for (number, section) in sections.iter().enumerate() {
        let Chapter { title, text } = &section.chapter;
        let rule = "=".repeat(WIDTH - 6);
        out +=
            &format!("\n/* {rule}\n *\n *     {}. {title}\n *\n * {rule} */\n\n/**\n * @defgroup {} {title}\n", number + 1, label(title));
        if !text.is_empty() {
            out += " *\n";
            filled(text, " * ", &mut out);
        }
        out += " * @{\n */\n";
        let guarded = |part: &Part| names(part).iter().find_map(|name| guard(name));
        for parts in section.parts.chunk_by(|a, b| guarded(a) == guarded(b)) {
            let guard = guarded(&parts[0]);
            if let Some(guard) = guard {
                out += &format!(
                    "\n#ifndef {guard}\n/// Defined where the types that follow are, by this header or by their own.\n#define {guard}\n"
                );
            }
            for part in parts {
                out.push('\n');
                write_part(part, &mut out);
            }
            if let Some(guard) = guard {
                out += &format!("\n#endif /* {guard} */\n");
            }
        }
        out += "\n/** @} */\n";
    }
    out += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* THORN_H */\n";
    out
}

/// Wraps the lines of a block comment at [`WIDTH`] columns. The first and the last line of the comment stay.
fn refilled(comment: &str) -> String {
    let (mut out, mut paragraph) = (String::new(), Vec::new());
    for line in comment.lines() {
        match line.strip_prefix(" *").filter(|text| text.is_empty() || text.starts_with(' ')) {
            Some(text) => paragraph.push(text.strip_prefix(' ').unwrap_or(text).to_owned()),
            None => {
                filled(&std::mem::take(&mut paragraph), " * ", &mut out);
                out += &format!("{line}\n");
            }
        }
    }
    filled(&paragraph, " * ", &mut out);
    out
}

/// The macros that tell compilers that a result must be used, and that a variable is in another module.
const ATTRIBUTES: &str = "\
/// Compilers warn where the result of a function with this mark is dropped: a new reference, or memory to be freed. If
/// TH_CHECKED is defined before this header is included, they warn where a THStatus is dropped, too.
#if (defined __cplusplus && __cplusplus >= 201703L) || (defined __STDC_VERSION__ && __STDC_VERSION__ > 201710L)
#define TH_NODISCARD [[nodiscard]]
#elif defined __GNUC__
#define TH_NODISCARD __attribute__((warn_unused_result))
#else
#define TH_NODISCARD
#endif

/// On Windows, the mark of variables in thorn.dll. A program that links the static library defines TH_STATIC before it
/// includes this header.
#if defined _WIN32 && !defined TH_STATIC
#define TH_IMPORTED __declspec(dllimport)
#else
#define TH_IMPORTED
#endif

/** @cond */
#ifdef __GNUC__
#define TH_EXTENSION __extension__
#else
#define TH_EXTENSION
#endif
#if defined TH_CHECKED && defined __clang__
#define TH_CHECKED_ENUM __attribute__((warn_unused_result))
#elif defined TH_CHECKED && (!defined __GNUC__ || __GNUC__ >= 10) && (!defined __cplusplus || __cplusplus >= 201103L)
#define TH_CHECKED_ENUM [[nodiscard]]
#else
#define TH_CHECKED_ENUM
#endif
/** @endcond */

";

fn label(title: &str) -> String {
    title.to_lowercase().replace(',', "").replace(' ', "_")
}

fn write_part(part: &Part, out: &mut String) {
    match part {
        Part::Item(item) => {
            filled(&item.doc, "/// ", out);
            match item.kind {
                Kind::Function => prototype(item, out),
                Kind::Object => *out += &format!("{}\n", item.code.replace("struct ", "").replace("extern ", "extern TH_IMPORTED ")),
                _ => type_definition(&item.code, out),
            }
        }
        Part::Enum { name, doc, values } => {
            filled(doc, "/// ", out);
            // TH_CHECKED applies to statuses.
            let head = match name.as_deref() {
                Some("THStatus") => "TH_EXTENSION typedef enum TH_CHECKED_ENUM THStatus {".to_owned(),
                Some(name) => format!("typedef enum {name} {{"),
                None => "enum {".to_owned(),
            };
            *out += &format!("{head}\n");
            for (k, value) in values.iter().enumerate() {
                // C++98 forbids a comma after the last enumerator.
                let comma = if k + 1 < values.len() { "," } else { "" };
                let code = format!("    {} = {}{comma}", value.name, value.code);
                let doc = value.doc.join(" ");
                if code.len().max(32) + 6 + doc.len() <= WIDTH {
                    *out += &format!("{code:32} ///< {doc}\n");
                } else {
                    filled(&value.doc, "    /// ", out);
                    *out += &format!("{code}\n");
                }
            }
            *out += &name.as_ref().map_or("};\n".to_owned(), |name| format!("}} {name};\n"));
        }
        Part::Defines(values) => {
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    out.push('\n');
                }
                filled(&value.doc, "/// ", out);
                *out += &format!("#define {} {}\n", value.name, value.code);
            }
        }
    }
}

/// Writes a type whose fields have their comments above them, in cbindgen's order.
fn type_definition(code: &str, out: &mut String) {
    let (mut doc, mut depth) = (Vec::new(), 0);
    for line in code.lines() {
        match line.trim_start().strip_prefix("//") {
            Some(comment) => doc.push(comment.strip_prefix(' ').unwrap_or(comment).to_owned()),
            None => {
                filled(&doc, if depth > 0 { "    /// " } else { "/// " }, out);
                doc.clear();
                depth += usize::from(line.ends_with('{'));
                *out += &format!("{line}\n");
            }
        }
    }
}

/// Returns true for functions that return a new reference, or new memory that the caller owns.
pub fn gives_a_reference(name: &str, result: &str) -> bool {
    let method = name.split_once('_').map_or(name, |(_, method)| method);
    result.ends_with('*')
        && !result.starts_with("const")
        && (method.starts_with("new")
            || matches!(method, "toString" | "sharedName" | "toDLPack" | "toDLPackLegacy")
            || matches!(name, "THAlloc" | "THRealloc" | "THCdefChapter"))
}

/// Writes a prototype in as few lines as possible.
fn prototype(item: &Item, out: &mut String) {
    let flat = flat(&item.code);
    let (head, arguments) = flat.split_once('(').expect("a prototype");
    let result = head[..head.len() - item.name.len()].trim_end();
    let mark = if gives_a_reference(&item.name, result) { "TH_NODISCARD " } else { "" };
    let mut line = format!("{mark}{head}(");
    let indent = " ".repeat(line.len().min(WIDTH / 2));
    let arguments = arguments.trim_end_matches(");");
    for (i, argument) in arguments.split(", ").enumerate() {
        let last = i + 1 == arguments.split(", ").count();
        let piece = format!("{argument}{}", if last { ");" } else { "," });
        if i > 0 && line.len() + 1 + piece.len() > WIDTH {
            *out += &format!("{}\n", line.trim_end());
            line = indent.clone();
        } else if i > 0 {
            line.push(' ');
        }
        line += &piece;
    }
    *out += &format!("{line}\n");
}

/// Returns a declaration in one line, without the word struct.
pub fn flat(code: &str) -> String {
    code.split_whitespace().collect::<Vec<_>>().join(" ").replace("struct ", "").replace("( ", "(")
}

/// Writes paragraphs with at most [`WIDTH`] columns. A line that begins with a space, a dash or a command is not joined with others, and
/// neither is an underline.
fn filled(lines: &[String], prefix: &str, out: &mut String) {
    let mut line = String::new();
    let mut end = |line: &mut String| {
        if !line.is_empty() {
            *out += format!("{prefix}{line}").trim_end();
            out.push('\n');
            line.clear();
        }
    };
    for text in lines {
        if text.is_empty() {
            end(&mut line);
            line = " ".to_owned();
            end(&mut line);
            continue;
        }
        if text.starts_with([' ', '-', '@', '=']) {
            end(&mut line);
            line = text.clone();
            end(&mut line);
            continue;
        }
        for word in text.split_whitespace() {
            if !line.is_empty() && prefix.len() + line.len() + 1 + word.len() > WIDTH {
                // A line that begins with an operator would begin a list in Doxygen.
                let kept = if ["-", "+", "*"].contains(&word) {
                    line.rsplit_once(' ').map(|(head, last)| (head.to_owned(), last.to_owned()))
                } else {
                    None
                };
                let (mut head, rest) = kept.unwrap_or((line.clone(), String::new()));
                end(&mut head);
                line = rest;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
    }
    end(&mut line);
}
