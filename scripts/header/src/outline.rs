//! What the expanded sources say and C does not: the chapter of each function, and the type of each constant.

use std::collections::BTreeMap;
use syn::{Attribute, Expr, Item, Lit, Meta, Type};

/// A chapter: the documentation of a module of `src/capi`, whose first line is the title.
#[derive(Clone, Default, PartialEq)]
pub struct Chapter {
    /// The first line, without its full stop.
    pub title: String,
    /// What follows it.
    pub text: Vec<String>,
}

/// What the sources say.
#[derive(Default)]
pub struct Outline {
    /// The chapter of each exported function or object.
    pub chapters: BTreeMap<String, Chapter>,
    /// The type of each public constant, and the module it stands in.
    pub constants: BTreeMap<String, (String, String)>,
    /// What `TH*` types of integers are called.
    pub codes: Vec<String>,
}

impl Outline {
    /// Reads the expanded crate.
    pub fn of(source: &str) -> Outline {
        let mut outline = Outline::default();
        let file = syn::parse_file(source).expect("the expanded crate is Rust");
        outline.walk(&file.items, "crate", &Chapter::default());
        outline
    }

    fn walk(&mut self, items: &[Item], module: &str, chapter: &Chapter) {
        for item in items {
            match item {
                Item::Mod(inner) => {
                    if let Some((_, items)) = &inner.content {
                        self.walk(items, &format!("{module}::{}", inner.ident), &chapter_of(&inner.attrs));
                    }
                }
                Item::Fn(function) => {
                    if let Some(name) = exported(&function.attrs, &function.sig.ident.to_string()) {
                        self.chapters.insert(name, chapter.clone());
                    }
                }
                Item::Const(constant) if constant.ident.to_string().starts_with("TH_") => {
                    self.constants.insert(constant.ident.to_string(), (last_name(&constant.ty), module.to_owned()));
                }
                Item::Type(alias) if alias.ident.to_string().starts_with("TH") && last_name(&alias.ty) == "i32" => {
                    self.codes.push(alias.ident.to_string());
                }
                _ => {}
            }
        }
    }
}

/// The lines of a documentation comment.
fn doc(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let Expr::Lit(literal) = &pair.value
            && let Lit::Str(text) = &literal.lit
        {
            lines.extend(text.value().lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()));
        }
    }
    lines
}

fn chapter_of(attributes: &[Attribute]) -> Chapter {
    let lines = doc(attributes);
    let Some((title, text)) = lines.split_first() else { return Chapter::default() };
    let text = text.iter().skip_while(|line| line.is_empty()).cloned().collect();
    Chapter { title: title.trim_end_matches('.').to_owned(), text }
}

/// The C name of a function with these attributes, if it has one.
fn exported(attributes: &[Attribute], name: &str) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let Meta::List(list) = &attribute.meta else { return None };
        if !list.path.is_ident("unsafe") {
            return None;
        }
        match list.parse_args::<Meta>().ok()? {
            Meta::Path(path) if path.is_ident("no_mangle") => Some(name.to_owned()),
            Meta::NameValue(pair) if pair.path.is_ident("export_name") => match pair.value {
                Expr::Lit(literal) => match literal.lit {
                    Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    })
}

/// The last part of a path: `THDtype` of `crate::dtype::THDtype`.
fn last_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|part| part.ident.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}
