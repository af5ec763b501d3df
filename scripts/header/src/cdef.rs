//! The header's declarations for readers without a preprocessor: LuaJIT's `ffi.cdef` and Python's cffi.

use crate::book::{Part, Section, flat};
use crate::item::{Item, Kind};

/// Functions that a program calls before it declares the others, so it has declared these itself. cffi refuses a second declaration.
const DECLARED: [&str; 2] = ["THCdef", "THCdefChapter"];

/// Returns the text of `THCdef`: all types and constants, and then the functions of each chapter after a comment with its title, which
/// `THCdefChapter` looks for. Constants are enumerators, and a `FILE *` is a `void *`, because readers do not know that type.
pub fn declarations(sections: &[Section]) -> String {
    let (mut types, mut functions) = (String::new(), String::new());
    for section in sections {
        functions += &format!("/* {} */\n", section.chapter.title);
        write(&section.parts, &mut types, &mut functions);
    }
    types + &functions
}

fn write(parts: &[Part], out: &mut String, functions: &mut String) {
    for part in parts {
        match part {
            Part::Enum { name, values, .. } => {
                let name = name.as_deref().unwrap_or_default();
                let head = if name.is_empty() { "enum" } else { "typedef enum" };
                let end = if name.is_empty() { String::new() } else { format!(" {name}") };
                *out += &format!("{} {{ {} }}{end};\n", format!("{head} {name}").trim_end(), list(values));
            }
            Part::Defines(values) => *out += &format!("enum {{ {} }};\n", list(values)),
            Part::Item(item) if item.kind == Kind::Type => {
                let code: Vec<&str> = item.code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                *out += &format!("{}\n", code.join(" ").split_whitespace().collect::<Vec<_>>().join(" "));
            }
            Part::Item(item) if DECLARED.contains(&item.name.as_str()) => {}
            Part::Item(item) => *functions += &format!("{}\n", flat(&item.code).replace("FILE *", "void *")),
        }
    }
}

fn list(values: &[Item]) -> String {
    // The least int is written as an expression, because its literal would exceed an int.
    let value = |code: &str| code.replace("INT32_MIN", "-2147483647 - 1");
    values.iter().map(|item| format!("{} = {}", item.name, value(&item.code))).collect::<Vec<_>>().join(", ")
}
