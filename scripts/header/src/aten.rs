//! `docs/aten.md`: the operators that exported programs may use, from the tables in `src/program/aten`.

use std::fmt::Write;
use std::path::Path;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Ident, Item, Lit, LitStr, Meta, Token, braced};

const PREFACE: &str = "# Operators of exported programs

The functions `THProgram_*` run a graph that `torch.export` wrote. This page lists the operators of ATen and of Python that a graph may
have, with the functions of thorn that compute them. An operator in place, such as `add_.Tensor`, is not listed if the operator without
`_` is. A note names arguments that must have one of the given values. The list is generated from `src/program/aten`, and each line is
tested with PyTorch's results in `tests/data/aten.txt`. If a graph has another operator, `THProgram_open` fails, and the message names all
such operators. `exported_program.run_decompositions()` of PyTorch replaces many operators by operators of core ATen, which thorn has.";

/// A line of a table.
struct Line {
    name: String,
    schema: String,
    /// The function of thorn; `None` for a Rust function.
    function: Option<String>,
}

struct Lines(Vec<Line>);

impl Parse for Line {
    fn parse(input: ParseStream<'_>) -> syn::Result<Line> {
        let (name, schema) = (input.parse::<LitStr>()?.value(), input.parse::<LitStr>()?.value());
        input.parse::<Token![=>]>()?;
        if input.peek(syn::token::Brace) {
            let code;
            braced!(code in input);
            code.parse::<Expr>()?;
            return Ok(Line { name, schema, function: None });
        }
        let function = input.parse::<Ident>()?.to_string();
        input.parse::<Option<LitStr>>()?;
        Ok(Line { name, schema, function: Some(function) })
    }
}

impl Parse for Lines {
    fn parse(input: ParseStream<'_>) -> syn::Result<Lines> {
        Ok(Lines(Punctuated::<Line, Token![;]>::parse_terminated(input)?.into_iter().collect()))
    }
}

fn items(folder: &Path, module: &str) -> syn::File {
    let source = std::fs::read_to_string(folder.join(format!("{module}.rs"))).expect("the table is in the repository");
    syn::parse_file(&source).expect("the table is Rust")
}

/// The first line of the documentation, without its full stop.
fn title(attributes: &[Attribute]) -> String {
    let text = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value),
        _ => None,
    };
    attributes.iter().find_map(text).unwrap_or_default().trim().trim_end_matches('.').to_owned()
}

fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The entries of a static list.
fn list<'a>(file: &'a syn::File, name: &str) -> Vec<&'a Expr> {
    let found = file.items.iter().find_map(|item| match item {
        Item::Static(item) if item.ident == name => match &*item.expr {
            Expr::Reference(reference) => match &*reference.expr {
                Expr::Array(array) => Some(array.elems.iter().collect()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{name} is a list"))
}

/// The entries of a static list of pairs of texts.
fn pairs(file: &syn::File, name: &str) -> Vec<(String, String)> {
    let pair = |entry: &Expr| match entry {
        Expr::Tuple(tuple) => Some((text(tuple.elems.first()?)?, text(tuple.elems.last()?)?)),
        _ => None,
    };
    list(file, name).into_iter().map(|entry| pair(entry).expect("two texts")).collect()
}

/// The arguments for which every line of an operator demands a value.
fn note(lines: &[&Line]) -> String {
    let mut notes = Vec::new();
    let demanded = |line: &Line, name: &str| {
        line.schema
            .split(' ')
            .find_map(|word| word.split_once("==").filter(|(argument, _)| *argument == name).map(|(_, value)| value.to_owned()))
    };
    for word in lines[0].schema.split(' ') {
        let Some((name, _)) = word.split_once("==") else { continue };
        let Some(mut values) = lines.iter().map(|line| demanded(line, name)).collect::<Option<Vec<String>>>() else { continue };
        values.dedup();
        notes.push(format!("`{name}`: {}", values.join(", ")));
    }
    notes.join("; ")
}

/// The functions of an operator.
fn functions(lines: &[&Line]) -> String {
    let mut functions: Vec<String> = Vec::new();
    for line in lines {
        let function = match line.function.as_deref() {
            None => "several".to_owned(),
            Some("same") => "none: the result is the argument".to_owned(),
            Some("nothing") => "none: no effect".to_owned(),
            Some(name) => format!("`{name}`"),
        };
        if !functions.contains(&function) {
            functions.push(function);
        }
    }
    functions.join(", ")
}

/// The page. `root` is the folder of the repository.
pub fn page(root: &Path) -> String {
    let folder = root.join("src/program/aten");
    let mut page = PREFACE.to_owned();
    for entry in list(&items(&folder, "mod"), "ALL") {
        let Expr::Path(path) = entry else { panic!("an entry of ALL is a path") };
        let module = path.path.segments[0].ident.to_string();
        let file = items(&folder, &module);
        let table = file.items.iter().find_map(|item| match item {
            Item::Macro(item) if item.mac.path.is_ident("aten") => Some(item.mac.parse_body::<Lines>().expect("lines of the table").0),
            _ => None,
        });
        let table = table.expect("a table");
        let _ = write!(page, "\n## {}\n\n| operator | functions | note |\n|---|---|---|\n", title(&file.attrs));
        let mut written: Vec<&str> = Vec::new();
        for line in table.iter().filter(|line| line.name != "_view_of_written") {
            if written.contains(&line.name.as_str()) {
                continue;
            }
            written.push(&line.name);
            let lines: Vec<&Line> = table.iter().filter(|other| other.name == line.name).collect();
            let _ = writeln!(page, "| `{}` | {} | {} |", line.name, functions(&lines), note(&lines));
        }
    }
    let names = items(&folder, "names");
    page.push_str("\n## Other names\n\nEach name has the overloads of its operator.\n\n| name | operator |\n|---|---|\n");
    pairs(&names, "ALIASES").iter().for_each(|(alias, name)| page.push_str(&format!("| `{alias}` | `{name}` |\n")));
    page.push_str("\n## Missing operators\n\n| name | reason |\n|---|---|\n");
    pairs(&names, "ABSENT").iter().for_each(|(name, reason)| page.push_str(&format!("| `{name}` | {reason} |\n")));
    page
}
