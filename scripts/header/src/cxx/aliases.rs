//! Second names in thorn.hpp: names of PyTorch for functions with the same arguments and results.

/// A name of PyTorch in C++.
pub struct Alias {
    pub name: String,
    /// The function or operation of thorn.hpp with this second name.
    pub of: String,
}

/// Returns the aliases in the table of PyTorch's names, in which `torch.bitwise_and=bitAnd` is one.
pub fn all() -> Vec<Alias> {
    let lines = include_str!("../../../guide/pytorch_names.txt").lines();
    let names = lines.filter_map(|line| line.split('#').next()).flat_map(str::split_whitespace);
    let aliases = names.filter_map(|name| name.split_once('='));
    aliases.map(|(name, of)| Alias { name: in_capitals(name.rsplit('.').next().unwrap_or(name)), of: of.to_owned() }).collect()
}

/// Converts `bitwise_and` to `bitwiseAnd`.
fn in_capitals(name: &str) -> String {
    let mut words = name.split('_');
    words.next().unwrap_or_default().to_owned() + &words.map(super::names::upper).collect::<String>()
}
