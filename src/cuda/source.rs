//! Kernels as text: files, their entries, and modules made of them.

/// What every module begins with: types, conversions, loops.
pub(super) const PRELUDE: &str = include_str!("kernels/prelude.cuh");
/// What mathematics needs, behind the prelude.
pub(super) const REAL: &str =
    concat!(include_str!("kernels/real.cuh"), include_str!("kernels/double.cuh"), include_str!("kernels/gamma.cuh"));

/// The name of the source of fused expressions.
pub(super) const FUSED: &str = "fused";

/// A file of kernels.
pub struct Source {
    /// Its name, `"reduce"`.
    pub name: &'static str,
    /// Its text and that of the files it needs, in order, without the prelude.
    pub text: &'static [&'static str],
    /// Every entry that drivers may ask for.
    pub entries: fn() -> Vec<Entry>,
}

/// A kernel: an instance of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The function of the kernel, `"reduce_rows<Sum<f32>, f16>"`.
    pub call: String,
    /// The type of its argument.
    pub args: &'static str,
    /// What is compiled with it where compiling many kernels at once pays, as in tests.
    pub group: String,
    /// Definitions that this kernel alone needs.
    pub own: String,
}

impl Entry {
    /// A kernel without definitions of its own.
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
