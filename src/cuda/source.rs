//! Kernels as text: their files, entries, and the modules made from them.

/// The beginning of every module: types, conversions, loops.
pub(super) const PRELUDE: &str = include_str!("kernels/prelude.cuh");
/// The mathematical functions, which follow the prelude.
pub(super) const REAL: &str =
    concat!(include_str!("kernels/real.cuh"), include_str!("kernels/double.cuh"), include_str!("kernels/gamma.cuh"));

/// The names of the sources of elementwise operations and of fused expressions.
pub(super) const MAP: &str = "map";
pub(super) const FUSED: &str = "fused";

/// A file of kernels.
pub struct Source {
    /// Its name, `"reduce"`.
    pub name: &'static str,
    /// The texts of the files it needs and its own text, in order, without the prelude.
    pub text: &'static [&'static str],
    /// All entries that may be requested.
    pub entries: fn() -> Vec<Entry>,
}

/// A kernel: an instance of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The function of the kernel, `"reduce_rows<Sum<f32>, f16>"`.
    pub call: String,
    /// The type of its argument.
    pub args: &'static str,
    /// The group of entries that are compiled together if compiling many kernels at once is faster, as in tests.
    pub group: String,
    /// Definitions that only this kernel needs.
    pub own: String,
}

impl Entry {
    /// An entry without separate definitions.
    pub fn new(call: impl Into<String>, args: &'static str, group: impl Into<String>) -> Entry {
        Entry { call: call.into(), args, group: group.into(), own: String::new() }
    }

    /// The name of the kernel in its module.
    pub fn symbol(&self) -> String {
        let mut symbol = String::from("k_");
        symbol.extend(self.call.chars().filter(|c| *c != ' ').map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
        symbol
    }
}

/// The text of a module with some kernels of a source.
pub fn module_text(source: &Source, entries: &[Entry]) -> String {
    let mut text = String::from(PRELUDE);
    source.text.iter().for_each(|part| text.push_str(part));
    let mut defined: Vec<&str> = Vec::new();
    for entry in entries {
        if !entry.own.is_empty() && !defined.contains(&entry.own.as_str()) {
            text.push_str(&entry.own);
            defined.push(&entry.own);
        }
    }
    for entry in entries {
        text.push_str(&format!("KERNEL({}, {}, {})\n", entry.symbol(), entry.args, entry.call));
    }
    text
}
