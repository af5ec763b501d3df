//! The table of functions as data for programs in any language: `src/capi/api.json`.

use crate::book::{Section, flat};
use crate::item::Item;
use crate::outline::{Function, Table};

/// Returns all kinds of arguments and of returned values, and all exported functions in the order of `capi::ALL`. Functions that are not in
/// the table come last.
pub fn functions(sections: &[Section], table: &Table) -> String {
    let kinds = table.kinds.iter().map(|(kind, doc)| of_kind(kind, doc, table)).collect();
    let returned = table.returned.iter().map(|(kind, doc)| of_returned(kind, doc, table)).collect();
    let mut functions: Vec<(usize, String)> = Vec::new();
    for section in sections {
        for item in section.functions() {
            let number = table.functions.iter().position(|function| function.c_name == item.name);
            let function = number.map(|number| &table.functions[number]);
            functions.push((number.unwrap_or(usize::MAX), of_function(item, &section.chapter.title, function, table)));
        }
    }
    functions.sort_by_key(|(number, _)| *number);
    let functions = functions.into_iter().map(|(_, text)| text).collect();
    let lists: [(&str, Vec<String>); 3] = [("kinds", kinds), ("returned", returned), ("functions", functions)];
    let lists = lists.map(|(name, lines)| format!("  \"{name}\": [\n    {}\n  ]", lines.join(",\n    ")));
    format!("{{\n{}\n}}\n", lists.join(",\n"))
}

/// `null` tells whether a pointer may be NULL, if that depends only on the kind: `refused`, `taken`, or `empty` for lists that may be NULL
/// if they have no entries.
fn of_kind(kind: &str, doc: &str, table: &Table) -> String {
    let mut fields = vec![field("kind", kind), field("doc", doc)];
    if table.null_refused.iter().any(|refused| refused == kind) {
        fields.push(field("null", "refused"));
    }
    if table.null_taken.iter().any(|taken| taken == kind) {
        fields.push(field("null", "taken"));
    }
    if table.null_if_empty.iter().any(|list| list == kind) {
        fields.push(field("null", "empty"));
    }
    if let Some((_, default)) = table.defaults.iter().find(|(of, _)| of == kind) {
        fields.push(field("default", default));
    }
    object(&fields)
}

/// `error` is the value on failure, written as in C. It is omitted for a status, and for a function that returns nothing.
fn of_returned(kind: &str, doc: &str, table: &Table) -> String {
    let mut fields = vec![field("kind", kind), field("doc", doc)];
    let value = table.on_error.iter().find(|(of, value)| of == kind && value != "()");
    fields.extend(value.map(|(_, value)| field("error", value)));
    object(&fields)
}

fn of_function(item: &Item, chapter: &str, function: Option<&Function>, table: &Table) -> String {
    let code = flat(&item.code);
    let (head, parameters) = code.trim_end_matches(");").split_once('(').expect("a prototype");
    let mut arguments = Vec::new();
    for (c_type, name) in parameters_of(parameters) {
        let mut fields = vec![field("name", name)];
        if let Some(function) = function {
            let (_, kind) = function.arguments.iter().find(|(of, _)| of == name).expect("the function has the arguments of its function");
            fields.push(field("kind", kind));
        }
        fields.push(field("type", c_type));
        fields.extend(holds_positions(table, &item.name, name).then(|| "\"positions\": true".to_owned()));
        fields.extend(noted(&table.default_values, &item.name, name).map(|value| match value.parse::<f64>() {
            Ok(_) => format!("\"default\": {value}"),
            Err(_) => field("default", value),
        }));
        for (what, table) in [("words", &table.words), ("examples", &table.examples)] {
            fields.extend(noted(table, &item.name, name).map(|texts| list(what, texts)));
        }
        arguments.push(object(&fields));
    }
    let mut returns = Vec::new();
    if let Some(function) = function {
        returns.push(field("kind", &function.returns));
    }
    returns.push(field("type", head[..head.len() - item.name.len()].trim_end()));
    returns.extend(holds_positions(table, &item.name, "returns").then(|| "\"positions\": true".to_owned()));
    let mut fields = vec![field("name", &item.name), field("chapter", chapter)];
    fields.push(format!("\"arguments\": [{}]", arguments.join(", ")));
    fields.push(format!("\"returns\": {}", object(&returns)));
    fields.extend(table.shapes.iter().find(|(names, _)| is_among(names, &item.name)).map(|(_, shapes)| field("shapes", shapes)));
    if let Some(name) = item.name.strip_prefix("THTensor_") {
        let form = table.forms.iter().find(|(_, forms)| forms.split(' ').any(|form| form == name));
        fields.extend(form.map(|(operation, _)| field("forms", operation)));
        fields.extend(table.aliases.iter().find(|(alias, _)| alias == name).map(|(_, of)| field("alias", of)));
    }
    fields.push(field("doc", &first_sentence(&item.doc)));
    object(&fields)
}

/// The type and the name of each parameter of a prototype.
pub fn parameters_of(parameters: &str) -> Vec<(&str, &str)> {
    let parameters = parameters.split(", ").filter(|parameter| *parameter != "void");
    let parts = parameters.map(|parameter| parameter.split_at(parameter.rfind([' ', '*']).map_or(0, |at| at + 1)));
    parts.map(|(c_type, name)| (c_type.trim_end(), name)).collect()
}

/// Returns true if a line of `src/api/notes.rs` applies to this function.
fn is_among(names: &str, function: &str) -> bool {
    names == "*" || names.split(' ').any(|name| function.strip_prefix("THTensor_").unwrap_or(function) == name)
}

/// Returns true if the argument `name` of a function holds positions although its kind does not tell. `returns` is the returned value.
pub fn holds_positions(table: &Table, function: &str, name: &str) -> bool {
    table.positions.iter().any(|(names, result)| result == name && is_among(names, function))
}

/// Returns the note on an argument from a table of lines `argument=note`.
pub fn noted<'a>(table: &'a [(String, String)], function: &str, argument: &str) -> Option<&'a str> {
    let lines = table.iter().filter(|(names, _)| is_among(names, function));
    lines.flat_map(|(_, notes)| notes.split(' ')).find_map(|note| note.strip_prefix(argument)?.strip_prefix('='))
}

/// Returns the text up to the first full stop before a space and outside of backticks, or up to the end of the paragraph.
fn first_sentence(doc: &[String]) -> String {
    let paragraph: Vec<&str> = doc.iter().take_while(|line| !line.is_empty()).map(|line| line.trim()).collect();
    let text = paragraph.join(" ");
    let end = text.match_indices(". ").find(|(at, _)| text[..*at].matches('`').count().is_multiple_of(2));
    end.map_or(text.clone(), |(at, _)| text[..=at].to_owned())
}

fn field(name: &str, value: &str) -> String {
    format!("\"{name}\": \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn list(name: &str, texts: &str) -> String {
    format!("\"{name}\": [\"{}\"]", texts.replace('|', "\", \""))
}

fn object(fields: &[String]) -> String {
    format!("{{{}}}", fields.join(", "))
}
