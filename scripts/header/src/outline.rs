//! Facts from the expanded sources that C does not tell: the chapter of each function, and the type of each constant.

use crate::item::is_declared;
use std::collections::BTreeMap;
use syn::{Attribute, Expr, Item, Lit, Meta, Type};

/// A chapter: the documentation of a module with functions, whose first line is the title.
#[derive(Clone, Default, PartialEq)]
pub struct Chapter {
    /// The first line, without its full stop.
    pub title: String,
    /// The lines after the first.
    pub text: Vec<String>,
}

/// A function of the table.
pub struct Function {
    /// The name with its prefix.
    pub c_name: String,
    /// The name and kind of each argument. In elementwise operations tensors come first.
    pub arguments: Vec<(String, String)>,
    /// The kind of the returned value.
    pub returns: String,
}

/// The table of functions, and the lists of `src/api` with more facts about the functions.
#[derive(Default)]
pub struct Table {
    /// All functions, in the order of `capi::ALL`.
    pub functions: Vec<Function>,
    /// The kinds of arguments, each with the first line of its documentation.
    pub kinds: Vec<(String, String)>,
    /// The defaults of kinds that are enums.
    pub defaults: Vec<(String, String)>,
    /// The kinds of pointers that may not be NULL.
    pub null_refused: Vec<String>,
    /// The kinds of pointers that may be NULL.
    pub null_taken: Vec<String>,
    /// The kinds of lists that may be NULL if they have no entries.
    pub null_if_empty: Vec<String>,
    /// The kinds of returned values, each with the first line of its documentation.
    pub returned: Vec<(String, String)>,
    /// The kinds of returned values other than the status, each with the value on failure.
    pub on_error: Vec<(String, String)>,
    /// Operations and their forms.
    pub forms: Vec<(String, String)>,
    /// Second names, each with the first name.
    pub aliases: Vec<(String, String)>,
    /// Names of functions, each with default values of its arguments.
    pub default_values: Vec<(String, String)>,
    /// Names of functions, each with a result that holds positions.
    pub positions: Vec<(String, String)>,
    /// Names of functions, each with all texts that an argument may be.
    pub words: Vec<(String, String)>,
    /// Names of functions, each with some texts that an argument may be.
    pub examples: Vec<(String, String)>,
    /// Names of functions, each with shapes of arguments that fit each other.
    pub shapes: Vec<(String, String)>,
}

/// Facts from the sources.
#[derive(Default)]
pub struct Outline {
    /// The chapter of each exported function or object.
    pub chapters: BTreeMap<String, Chapter>,
    /// The type of each public constant, and its module.
    pub constants: BTreeMap<String, (String, String)>,
    /// The names of the types of integers.
    pub codes: Vec<String>,
    /// The table of functions.
    pub table: Table,
    /// The modules of `capi::ALL`, in order.
    order: Vec<String>,
    /// The documentation of each module, and the functions of the table in it.
    modules: BTreeMap<String, (Chapter, Vec<Function>)>,
}

impl Outline {
    /// Reads the expanded crate.
    pub fn of(source: &str) -> Outline {
        let mut outline = Outline::default();
        let file = syn::parse_file(source).expect("the expanded crate is Rust");
        outline.walk(&file.items, "crate", &Chapter::default());
        for module in &outline.order {
            let (chapter, functions) = outline.modules.remove(module).expect("a chapter is a module with functions");
            outline.chapters.extend(functions.iter().map(|function| (function.c_name.clone(), chapter.clone())));
            outline.table.functions.extend(functions);
        }
        outline
    }

    fn walk(&mut self, items: &[Item], module: &str, chapter: &Chapter) {
        for item in items {
            match item {
                Item::Mod(inner) => {
                    if let Some((_, items)) = &inner.content {
                        let (module, chapter) = (format!("{module}::{}", inner.ident), chapter_of(&inner.attrs));
                        self.walk(items, &module, &chapter);
                        self.modules.entry(module).or_default().0 = chapter;
                    }
                }
                Item::Fn(function) => {
                    if let Some(name) = exported(&function.attrs, &function.sig.ident.to_string()) {
                        self.chapters.insert(name, chapter.clone());
                    }
                }
                Item::Const(constant) if is_declared(&constant.ident.to_string()) => {
                    self.constants.insert(constant.ident.to_string(), (last_name(&constant.ty), module.to_owned()));
                }
                Item::Type(alias) if is_declared(&alias.ident.to_string()) && last_name(&alias.ty) == "i32" => {
                    self.codes.push(alias.ident.to_string());
                }
                Item::Static(list) => self.take(&list.ident.to_string(), &list.expr, module),
                Item::Enum(kinds) if module == "crate::api::args" && kinds.ident == "Kind" => self.table.kinds = variants(kinds),
                Item::Enum(kinds) if module == "crate::api::returns" && kinds.ident == "Return" => {
                    self.table.returned = variants(kinds);
                }
                _ => {}
            }
        }
    }

    /// Reads a function or a list of the table.
    fn take(&mut self, name: &str, list: &Expr, module: &str) {
        let is_of_floor = |floor| module.split("::").nth(1) == Some(floor);
        if !["api", "capi", "grad", "sparse"].into_iter().any(is_of_floor) && !module.starts_with("crate::program::functions") {
            return;
        }
        match name {
            // Each function is the static of a separate module: `chapter::table::name::FUNCTION`.
            "FUNCTION" => {
                let chapter = module.rsplitn(3, "::").last().unwrap_or_default();
                self.modules.entry(chapter.to_owned()).or_default().1.push(function_of(list));
            }
            "ALL" => self.order = elements(list).into_iter().map(module_of).collect(),
            "DEFAULTS" => self.table.defaults = pairs(list),
            "FORMS" => self.table.forms = pairs(list),
            "ALIASES" => self.table.aliases = pairs(list),
            "DEFAULT_VALUES" => self.table.default_values = pairs(list),
            "POSITIONS" => self.table.positions = pairs(list),
            "WORDS" => self.table.words = pairs(list),
            "EXAMPLES" => self.table.examples = pairs(list),
            "SHAPES" => self.table.shapes = pairs(list),
            "NULL_REFUSED" => self.table.null_refused = elements(list).into_iter().map(word).collect(),
            "NULL_TAKEN" => self.table.null_taken = elements(list).into_iter().map(word).collect(),
            "NULL_IF_EMPTY" => self.table.null_if_empty = elements(list).into_iter().map(word).collect(),
            "ON_ERROR" => self.table.on_error = pairs(list),
            _ => {}
        }
    }
}

/// The variants of an enum, each with the first line of its documentation.
fn variants(kinds: &syn::ItemEnum) -> Vec<(String, String)> {
    let line = |attributes: &[Attribute]| doc(attributes).into_iter().next().unwrap_or_default();
    kinds.variants.iter().map(|kind| (kind.ident.to_string(), line(&kind.attrs))).collect()
}

/// Returns the elements of an array or tuple, or the arguments of a call, also behind a reference.
fn elements(list: &Expr) -> Vec<&Expr> {
    match list {
        Expr::Reference(of) => elements(&of.expr),
        Expr::Array(array) => array.elems.iter().collect(),
        Expr::Tuple(tuple) => tuple.elems.iter().collect(),
        Expr::Call(call) => call.args.iter().collect(),
        _ => panic!("a list is an array, a tuple or a call"),
    }
}

/// Returns a string literal, or the last part of a path.
fn word(value: &Expr) -> String {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => text.value(),
            _ => panic!("a literal is a string"),
        },
        Expr::Path(path) => path.path.segments.last().map(|part| part.ident.to_string()).unwrap_or_default(),
        _ => panic!("a word is a string or a path"),
    }
}

fn pairs(list: &Expr) -> Vec<(String, String)> {
    elements(list).into_iter().map(|pair| (word(elements(pair)[0]), word(elements(pair)[1]))).collect()
}

/// Returns the function of `Function::new((prefix, recorded), names, kinds, returns, ...)`.
fn function_of(call: &Expr) -> Function {
    let parts = elements(call);
    let (prefix, names) = (word(elements(parts[0])[0]), word(parts[1]));
    let mut names = names.split(' ').map(str::to_owned);
    let name = names.next().unwrap_or_default();
    let arguments = names.zip(elements(parts[2]).into_iter().map(word)).collect();
    Function { c_name: format!("{prefix}{name}"), arguments, returns: word(parts[3]) }
}

/// Returns the module of `{ use module as chapter; Chapter { ... } }`.
fn module_of(block: &Expr) -> String {
    let Expr::Block(block) = block else { panic!("a chapter is a block") };
    let Some(syn::Stmt::Item(Item::Use(import))) = block.block.stmts.first() else { panic!("a chapter imports its module") };
    let (mut path, mut tree) = (Vec::new(), &import.tree);
    loop {
        match tree {
            syn::UseTree::Path(part) => {
                path.push(part.ident.to_string());
                tree = &part.tree;
            }
            syn::UseTree::Rename(last) => {
                path.push(last.ident.to_string());
                return path.join("::");
            }
            _ => panic!("a chapter renames its module"),
        }
    }
}

/// Returns the lines of a documentation comment.
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

/// Returns the C name of a function with these attributes, if it has one.
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

/// Returns the last part of a path: `THDtype` for `crate::dtype::THDtype`.
fn last_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|part| part.ident.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}
