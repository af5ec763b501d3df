//! The operators of PyTorch, by subject. [`table`](super::table) explains a line.

mod creation;
mod gradients;
mod images;
mod indexing;
mod layers;
mod losses;
mod matrices;
mod names;
mod pointwise;
mod reductions;
mod symbols;
mod views;

use super::table::Operator;

pub use names::{ABSENT, ALIASES};

/// All lines.
pub static ALL: &[&[Operator]] = &[
    pointwise::OPERATORS,
    views::OPERATORS,
    creation::OPERATORS,
    indexing::OPERATORS,
    reductions::OPERATORS,
    matrices::OPERATORS,
    layers::OPERATORS,
    images::OPERATORS,
    symbols::OPERATORS,
];

/// Returns the lines of an operator, in the order of the table.
pub fn lines(name: &str) -> impl Iterator<Item = &'static Operator> {
    let name = alias(name);
    ALL.iter().flat_map(|part| part.iter()).filter(move |operator| operator.name() == name)
}

/// Returns the name under which the table has an operator: `clamp_.Tensor` for `clip_.Tensor`.
fn alias(name: &str) -> String {
    let (base, overload) = name.split_at(name.find('.').unwrap_or(name.len()));
    let plain = base.strip_suffix('_').unwrap_or(base);
    match ALIASES.iter().find(|(alias, _)| *alias == plain) {
        Some((_, known)) => format!("{known}{}{overload}", &base[plain.len()..]),
        None => name.to_owned(),
    }
}

/// Returns the reason why an operator is missing, if the table has one.
pub fn reason(name: &str) -> &'static str {
    let base = name.strip_prefix("higher_order.").unwrap_or(name).split('.').next().unwrap_or_default();
    let base = base.strip_suffix('_').unwrap_or(base);
    ABSENT.iter().find(|(absent, _)| *absent == base).map_or("", |(_, reason)| reason)
}
