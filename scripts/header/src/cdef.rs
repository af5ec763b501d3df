//! The header's declarations for readers without a preprocessor: LuaJIT's `ffi.cdef` and Python's cffi.

use crate::book::{Part, Section, flat};
use crate::item::{Item, Kind};

/// What `THCdef` returns. Constants are enumerators, and a `FILE *` is a `void *`, since readers do not know that type. `THCdef` itself is left
/// out: who calls it has declared it, and cffi refuses to hear it twice.
pub fn declarations(sections: &[Section]) -> String {
    let mut out = String::new();
    for part in sections.iter().flat_map(|section| &section.parts) {
        match part {
            Part::Enum { name, values, .. } => {
                let name = name.as_deref().unwrap_or_default();
                let head = if name.is_empty() { "enum" } else { "typedef enum" };
                let end = if name.is_empty() { String::new() } else { format!(" {name}") };
                out += &format!("{} {{ {} }}{end};\n", format!("{head} {name}").trim_end(), list(values));
            }
            Part::Defines(values) => out += &format!("enum {{ {} }};\n", list(values)),
            Part::Item(item) if item.kind == Kind::Type => {
                let code: Vec<&str> = item.code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                out += &format!("{}\n", code.join(" ").split_whitespace().collect::<Vec<_>>().join(" "));
            }
            Part::Item(item) if item.name == "THCdef" => {}
            Part::Item(item) => out += &format!("{}\n", flat(&item.code).replace("FILE *", "void *")),
        }
    }
    out
}

fn list(values: &[Item]) -> String {
    // The least int is written so that no part of it is beyond an int.
    let value = |code: &str| code.replace("INT32_MIN", "-2147483647 - 1");
    values.iter().map(|item| format!("{} = {}", item.name, value(&item.code))).collect::<Vec<_>>().join(", ")
}
