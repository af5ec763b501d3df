//! The declarations in cbindgen's output.

/// The kind of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `#define NAME value`
    Constant,
    /// A typedef.
    Type,
    /// `extern` memory.
    Object,
    /// A prototype.
    Function,
}

/// A declaration with its comment.
#[derive(Debug, Clone)]
pub struct Item {
    pub kind: Kind,
    pub name: String,
    /// The comment, without the slashes.
    pub doc: Vec<String>,
    /// The declaration as cbindgen wrote it, or the value of a constant.
    pub code: String,
}

/// Foreign interfaces that the header declares: the prefixes of their names, and the macro of a program that has already declared them.
const FOREIGN: &[(&[&str], &str)] = &[(&["DL", "kDL"], "DLPACK_DLPACK_H_"), (&["Arrow", "ARROW_"], "ARROW_C_DATA_INTERFACE")];

/// The macro that guards a declaration of another interface.
pub fn guard(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(starts, _)| starts.iter().any(|start| name.starts_with(start))).map(|(_, guard)| *guard)
}

/// Returns true if the header may declare this name.
pub fn is_declared(name: &str) -> bool {
    name.starts_with("TH") || guard(name).is_some()
}

/// Returns the text before the first preprocessor line, and all declarations after it.
pub fn read(text: &str) -> (&str, Vec<Item>) {
    let start = text.find("\n#ifndef").expect("there is an include guard");
    let (preface, rest) = text.split_at(start);
    let (mut items, mut doc, mut code) = (Vec::new(), Vec::new(), String::new());
    for line in rest.lines() {
        let in_declaration = !code.is_empty();
        if let Some(comment) = line.strip_prefix("//").filter(|_| !in_declaration) {
            doc.push(comment.strip_prefix(' ').unwrap_or(comment).to_owned());
        } else if let Some((name, value)) = line.strip_prefix("#define ").and_then(|rest| rest.split_once(' ')) {
            items.push(Item { kind: Kind::Constant, name: name.to_owned(), doc: std::mem::take(&mut doc), code: value.trim().to_owned() });
        } else if !in_declaration && (line.starts_with('#') || line == "extern \"C\" {" || line == "}" || line.starts_with("}  //")) {
            doc.clear();
        } else if in_declaration || !line.is_empty() {
            code.push_str(line);
            code.push('\n');
            let braces = |c: char| code.matches(c).count();
            if line.ends_with(';') && braces('{') == braces('}') {
                items.push(declaration(std::mem::take(&mut doc), std::mem::take(&mut code)));
            }
        }
    }
    (preface, items)
}

fn declaration(doc: Vec<String>, code: String) -> Item {
    let code = code.trim_end().to_owned();
    let flat = code.trim_end_matches(';');
    let last = |text: &str| text.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
    let (kind, name) = match flat {
        // `typedef int (*THName)(...)`
        _ if flat.starts_with("typedef") && flat.contains("(*TH") && !flat.contains('{') => {
            let name = flat.split("(*").nth(1).and_then(|rest| rest.split(')').next());
            (Kind::Type, name.unwrap_or_default().to_owned())
        }
        _ if flat.starts_with("typedef") => (Kind::Type, last(flat)),
        _ if flat.starts_with("extern") => (Kind::Object, last(flat)),
        _ => (Kind::Function, last(flat.split('(').next().unwrap_or_default())),
    };
    assert!(is_declared(&name), "a declaration without a name of ours: {code}");
    Item { kind, name, doc, code }
}

/// Returns true if `text` contains `name` as a word.
pub fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| !text[..at].ends_with(word) && !text[at + name.len()..].starts_with(word))
}
