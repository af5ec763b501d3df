//! The methods and functions of thorn.hpp.

use crate::cxx_call::{Argument, COUNTED, Function, INPUTS, STRUCTS, TENSOR_LISTS};
use crate::cxx_names::{self, IN_PLACE, MAKE, MORE_IN_PLACE, OBJECTS, WRITE};
use std::collections::{BTreeMap, BTreeSet};

/// The letters of the parameters with which a function can be called.
type Signature = String;

/// All functions, and the signatures that each name has so far.
pub struct Face {
    pub functions: Vec<Function>,
    taken: BTreeMap<String, BTreeSet<Signature>>,
    methods: BTreeMap<String, String>,
    free: BTreeMap<String, String>,
}

/// The parameters of one overload; those that are left out have their defaults.
#[derive(Clone)]
struct Variant<'a> {
    shown: Vec<&'a Argument>,
    hidden: Vec<&'a Argument>,
    /// How many of the first parameters have no default in the declaration.
    required: usize,
}

/// Where the outputs of a call go.
#[derive(Clone, Copy, PartialEq)]
enum To {
    /// New tensors, which are returned.
    Value,
    /// Tensors that are the first parameters.
    Out,
    /// The tensor whose method is called.
    This,
}

impl Variant<'_> {
    fn signatures(&self, before: &str) -> Vec<Signature> {
        let letters: Vec<char> = self.shown.iter().map(|argument| argument.cpp().1).collect();
        (self.required..=letters.len()).map(|n| before.to_owned() + &letters[..n].iter().collect::<String>()).collect()
    }

    /// The parameters as they are declared.
    fn declared(&self) -> String {
        let one = |(i, argument): (usize, &&Argument)| {
            let default = argument.default.as_ref().filter(|_| i >= self.required).map_or(String::new(), |value| format!(" = {value}"));
            format!("{}{}{default}", argument.cpp().0, argument.name)
        };
        self.shown.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }

    fn names(&self) -> String {
        self.shown.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// `first` before a list of parameters.
fn with(first: &str, rest: &str) -> String {
    let comma = if first.is_empty() || rest.is_empty() { "" } else { ", " };
    format!("{first}{comma}{rest}")
}

impl Function {
    fn prefix(&self) -> &str {
        self.c_name.split_once('_').map_or("TH", |(prefix, _)| prefix)
    }

    /// The class whose methods the function belongs to, as the prefix of its C functions.
    fn class_prefix(&self) -> &str {
        match self.prefix() {
            "THRandom" => "THGenerator",
            prefix => prefix,
        }
    }

    fn outs(&self) -> Vec<&Argument> {
        self.arguments.iter().filter(|argument| argument.is_out()).collect()
    }

    /// The outputs of the form that returns values: an optional list of positions or counts beside a required output is left out.
    fn values(&self) -> Vec<&Argument> {
        let outs = self.outs();
        let required = outs.iter().any(|argument| !argument.is_optional_out());
        outs.into_iter().filter(|argument| !(required && argument.is_optional_out() && argument.kind != "optional_out")).collect()
    }

    /// The fields of the struct that the function returns, if it has several results.
    pub fn result_fields(&self) -> Option<Vec<&str>> {
        let values = self.values();
        (values.len() > 1 && !cxx_names::is_left_out(&self.c_name)).then(|| values.iter().map(|out| out.name.as_str()).collect())
    }

    fn is_new(&self) -> bool {
        self.returns.starts_with("new") && self.returns != "new_text"
    }

    /// True if the function writes into a tensor which it needs no operand to make.
    fn writes(&self) -> bool {
        let tells = |argument: &Argument| {
            INPUTS.contains(&argument.kind.as_str()) || TENSOR_LISTS.contains(&argument.kind.as_str()) || argument.is_list() || argument.kind == "size"
        };
        let made = MAKE.contains(&self.c_name.as_str()) || self.arguments.iter().any(tells);
        self.prefix() == "THTensor" && self.outs().len() == 1 && (!made || WRITE.contains(&self.c_name.as_str()))
    }

    /// The argument that is the object of a method.
    fn object(&self) -> Option<&Argument> {
        let class = &self.class_prefix()[2..];
        self.arguments.iter().find(|argument| match class {
            "Tensor" => argument.kind == "inout" || (INPUTS.contains(&argument.kind.as_str()) && !self.writes()),
            _ => argument.class() == Some(class),
        })
    }

    /// The parameters in the order of C; the dtype of what is made is the last one.
    fn parameters(&self, object: Option<&Argument>) -> Vec<&Argument> {
        let is_object = |argument: &Argument| object.is_some_and(|object| object.name == argument.name);
        let hidden = |argument: &Argument| {
            let kind = argument.kind.as_str();
            argument.is_out() || COUNTED.contains(&kind) || STRUCTS.contains(&kind) || is_object(argument)
        };
        let mut shown: Vec<&Argument> = self.arguments.iter().filter(|argument| !hidden(argument)).collect();
        shown.sort_by_key(|argument| argument.kind == "dtype");
        shown
    }

    /// The overloads: all parameters; without the generator; without what has a default before a parameter that has none.
    fn variants(&self, object: Option<&Argument>) -> Vec<Variant<'_>> {
        let all = self.parameters(object);
        let last_required = all.iter().rposition(|argument| argument.default.is_none());
        let is_leading = |at: usize| all[at].default.is_some() && last_required.is_some_and(|last| at < last);
        let is_generator = |at: usize| all[at].kind == "generator" && all.len() > 1;
        let mut variants: Vec<Variant> = Vec::new();
        for hide in [&|_| false, &is_generator as &dyn Fn(usize) -> bool, &|at| is_generator(at) || is_leading(at)] {
            let pick = |hidden: bool| (0..all.len()).filter(|at| hide(*at) == hidden).map(|at| all[at]).collect::<Vec<_>>();
            let (shown, hidden) = (pick(false), pick(true));
            let required = shown.iter().rposition(|argument| argument.default.is_none() || (argument.kind == "generator" && all.len() > 1));
            let required = required.map_or(0, |at| at + 1);
            if variants.iter().all(|variant| variant.shown.len() != shown.len()) {
                variants.push(Variant { shown, hidden, required });
            }
        }
        variants
    }

    /// The call of the C function.
    fn call(&self, variant: &Variant, object: Option<(&str, &str)>, to: To, name: &str) -> String {
        let (several, values) = (self.values().len() > 1, self.values());
        let mut passed = Vec::new();
        for (at, argument) in self.arguments.iter().enumerate() {
            let kind = argument.kind.as_str();
            let is_value = values.iter().any(|value| value.name == argument.name);
            passed.push(match kind {
                _ if argument.is_out() && to == To::This => "handle_".to_owned(),
                _ if argument.is_out() && to == To::Out => format!("detail::result({})", argument.name),
                _ if argument.is_out() && !is_value => "nullptr".to_owned(),
                _ if argument.is_out() && several => format!("r.{}.get()", argument.name),
                _ if argument.is_out() => "r.get()".to_owned(),
                "len" | "len_or_whole" => self.length(at, variant, name),
                "handle_count" => {
                    let list = self.arguments.iter().find(|list| TENSOR_LISTS.contains(&list.kind.as_str())).expect("a count counts a list");
                    format!("{}.count()", list.name)
                }
                "new_handles" => "pieces".to_owned(),
                "count_inout" => "count".to_owned(),
                "outs" => "reinterpret_cast<THTensor *const *>(r.data())".to_owned(),
                _ if STRUCTS.contains(&kind) => "&r".to_owned(),
                _ => match object.filter(|(name, _)| *name == argument.name) {
                    Some((_, handle)) => handle.to_owned(),
                    None if variant.hidden.iter().any(|hidden| hidden.name == argument.name) => argument.passed_default(),
                    None => argument.passed(self.is_new()),
                },
            });
        }
        format!("{}({})", self.c_name, passed.join(", "))
    }

    /// The length of the lists behind argument `at`.
    fn length(&self, at: usize, variant: &Variant, name: &str) -> String {
        let is_shown = |argument: &&Argument| variant.shown.iter().any(|shown| shown.name == argument.name);
        let rest = self.arguments[at + 1..].iter().take_while(|argument| argument.kind != "len");
        let lists: Vec<&str> = rest.filter(|argument| argument.is_list()).filter(is_shown).map(|argument| argument.name.as_str()).collect();
        match lists.as_slice() {
            [] => "0".to_owned(),
            [list] => format!("{list}.count()"),
            lists => format!("detail::common(\"{name}\", {{{}}})", lists.join(", ")),
        }
    }

    /// The type that the form which returns values has.
    fn value_type(&self) -> String {
        let has = |kind: &str| self.arguments.iter().any(|argument| argument.kind == kind);
        match self.returns.as_str() {
            "status" if has("new_handles") || has("outs") => "std::vector<Tensor>".to_owned(),
            "status" => match (self.result_fields(), self.values().len()) {
                (Some(fields), _) => cxx_names::result(&fields),
                (None, 1) => "Tensor".to_owned(),
                _ => {
                    let room = self.arguments.iter().find(|argument| STRUCTS.contains(&argument.kind.as_str()));
                    room.map_or("void".to_owned(), |room| room.c_type.trim_end_matches([' ', '*']).to_owned())
                }
            },
            "new" => "Tensor".to_owned(),
            "new_text" => "std::string".to_owned(),
            "flag" => "bool".to_owned(),
            _ if self.is_new() => self.c_returns.trim_end_matches([' ', '*'])[2..].to_owned(),
            _ if self.c_returns.starts_with("TH") && !self.c_returns.contains('*') => self.c_returns[2..].to_owned(),
            _ => self.c_returns.clone(),
        }
    }

    /// The statements of the form that returns values. `call` is the call of C.
    fn value_body(&self, call: &str, name: &str) -> String {
        let value = self.value_type();
        let pointer = format!("static_cast<{}>(nullptr)", self.c_returns);
        match self.returns.as_str() {
            "status" => match value.as_str() {
                "void" => format!("detail::check({call}, \"{name}\");"),
                "Tensor" => format!("Tensor r(detail::Fresh{{}}); detail::check({call}, \"{name}\", r); return r;"),
                "std::vector<Tensor>" if call.contains("pieces") => {
                    format!("return detail::pieces([&](THTensor **pieces, int *count) {{ return {call}; }}, \"{name}\");")
                }
                "std::vector<Tensor>" => {
                    format!("std::vector<Tensor> r = detail::fresh(tensors.count()); detail::check({call}, \"{name}\"); return r;")
                }
                _ if value.starts_with("TH") => format!("{value} r{{}}; detail::check({call}, \"{name}\"); return r;"),
                _ => {
                    let fields: Vec<String> = self.values().iter().map(|out| format!("r.{}", out.name)).collect();
                    let fresh = vec!["Tensor(detail::Fresh{})"; fields.len()].join(", ");
                    format!("{value} r{{{fresh}}}; detail::check({call}, \"{name}\", {}); return r;", fields.join(", "))
                }
            },
            "new" => format!("return detail::made({call}, \"{name}\");"),
            "new_text" => format!("return detail::text({call}, \"{name}\");"),
            "nothing" => format!("{call};"),
            "dlpack" | "dlpack_legacy" => format!("return detail::must({call}, {pointer}, \"{name}\");"),
            _ if self.is_new() => format!("return {value}::take(detail::must({call}, {pointer}, \"{name}\"));"),
            "size" | "stride" | "offset" | "length" => {
                format!("return detail::must({call}, static_cast<{}>(-1), \"{name}\");", self.c_returns)
            }
            kind => {
                let failure = match kind {
                    "number" | "accumulated" => "r != r",
                    "count" | "integer" | "descriptor" => "r == -1",
                    _ => "!r",
                };
                let converted = match kind {
                    "flag" => "r != 0".to_owned(),
                    _ if value == self.c_returns => "r".to_owned(),
                    _ => format!("static_cast<{value}>(r)"),
                };
                let r = if self.c_returns.ends_with('*') { "const auto r" } else { &format!("const {} r", self.c_returns) };
                format!("THClearLastError(); {r} = {call}; return detail::known({converted}, {failure}, \"{name}\");")
            }
        }
    }

    /// True if this may have the name of an operation: the function that has it gives a value of the same kind.
    fn is_form_of(&self, form: &str, all: &[Function]) -> bool {
        let made = |function: &Function| matches!(function.returns.as_str(), "status" | "new");
        match all.iter().find(|function| function.prefix() == "THTensor" && function.name == form) {
            Some(plain) => plain.returns == self.returns || (made(plain) && made(self)),
            None => made(self),
        }
    }

    fn is_in_place(&self) -> bool {
        let by_chapter = IN_PLACE.contains(&self.chapter.as_str()) || MORE_IN_PLACE.contains(&self.name.as_str());
        let outs = self.outs();
        let view = outs.first().is_some_and(|out| out.kind == "view_out");
        let masked = self.object().is_some_and(|object| object.kind == "mask");
        (by_chapter || view) && outs.len() == 1 && !masked && self.object().is_some()
    }
}

impl Argument {
    /// The default as an argument of C.
    fn passed_default(&self) -> String {
        let default = self.default.as_deref().expect("what is left out has a default");
        match self.kind.as_str() {
            _ if default == "{}" => "nullptr".to_owned(),
            _ if self.is_enum() => format!("static_cast<{}>({default})", self.c_type),
            "dim" => default.replace("everyDim", "TH_ALL_DIMS"),
            _ => default.to_owned(),
        }
    }
}

impl Face {
    pub fn of(functions: Vec<Function>) -> Face {
        let functions = functions.into_iter().filter(|function| !cxx_names::is_left_out(&function.c_name)).collect();
        let mut face = Face { functions, taken: BTreeMap::new(), methods: BTreeMap::new(), free: BTreeMap::new() };
        let functions = std::mem::take(&mut face.functions);
        for function in &functions {
            face.add(function, &function.name, &functions);
        }
        // Names of operations after all own names, which they give way to.
        for function in &functions {
            if let Some(form) = function.form.as_ref().filter(|form| **form != function.name && function.is_form_of(form, &functions)) {
                face.add(function, form, &functions);
            }
        }
        face.functions = functions;
        face
    }

    /// The methods of a class.
    pub fn methods(&self, prefix: &str) -> String {
        self.methods.get(prefix).cloned().unwrap_or_default()
    }

    /// The functions for C functions that begin so.
    pub fn functions_of(&self, prefix: &str) -> String {
        self.free.get(prefix).cloned().unwrap_or_default()
    }

    /// Chooses the parameters that a variant shows, so that no call is meant twice; false if there are none.
    fn take(&mut self, name: &str, variant: &mut Variant, before: &str) -> bool {
        let taken = self.taken.entry(name.to_owned()).or_default();
        let is_free = |variant: &Variant| variant.signatures(before).iter().all(|signature| !taken.contains(signature));
        if !is_free(variant) {
            let mut short = variant.clone();
            let is_kept = |argument: &&Argument| argument.default.is_none() || argument.cpp().1 != 'N';
            short.hidden.extend(variant.shown.iter().skip(variant.required).copied().filter(|argument| !is_kept(argument)));
            let required = variant.required;
            let mut at = 0;
            short.shown.retain(|argument| {
                at += 1;
                at <= required || is_kept(argument)
            });
            if !variant.hidden.is_empty() && is_free(&short) {
                *variant = short;
            }
        }
        let lengths = variant.required..=variant.shown.len();
        let required = lengths.into_iter().find(|required| is_free(&Variant { required: *required, ..variant.clone() }));
        let Some(required) = required else { return false };
        variant.required = required;
        let signatures = variant.signatures(before);
        taken.extend(signatures);
        true
    }

    /// Adds all forms of a function under a name.
    fn add(&mut self, function: &Function, name: &str, all: &[Function]) {
        match function.class_prefix() {
            "THTensor" => self.add_tensor(function, name, all),
            "THStorage" | "THGenerator" | "THFused" | "THArchive" | "THCudaStream" | "THCudaEvent" | "THCudaGraph" => self.add_member(function),
            _ => self.add_free(function),
        }
    }

    fn method(&mut self, prefix: &str, doc: &str, line: &str) {
        let text = self.methods.entry(prefix.to_owned()).or_default();
        *text += &format!("{}    {line}\n", comment(doc, "    "));
    }

    fn function(&mut self, prefix: &str, doc: &str, line: &str) {
        let text = self.free.entry(prefix.to_owned()).or_default();
        *text += &format!("{}{line}\n", comment(doc, ""));
    }

    /// A method of a class that is no tensor, a constructor or a static function.
    fn add_member(&mut self, function: &Function) {
        let (prefix, object) = (function.class_prefix(), function.object());
        let class = &prefix[2..];
        let name = function.name.as_str();
        for mut variant in function.variants(object) {
            if !self.take(&format!("{prefix}.{name}"), &mut variant, "") {
                continue;
            }
            let object = object.map(|object| (object.name.as_str(), "handle_"));
            let call = function.call(&variant, object, To::Value, name);
            if name == "new" {
                variant.required = variant.required.max(1);
                let base = if matches!(class, "Generator" | "Archive") { "Owned" } else { "Counted" };
                let line = format!("explicit {class}({}) : {base}(detail::must({call}, static_cast<{}>(nullptr), \"{class}\")) {{}}", variant.declared(), function.c_returns);
                self.method(prefix, &function.doc, &line);
                continue;
            }
            let (before, after) = if object.is_some() { ("", " const") } else { ("static ", "") };
            let head = format!("{before}{} {name}({}){after}", function.value_type(), variant.declared());
            self.method(prefix, &function.doc, &format!("{head} {{ {} }}", function.value_body(&call, name)));
            if !function.outs().is_empty() {
                let call = function.call(&variant, object, To::Out, name);
                let head = format!("Tensor &{name}_out({}){after}", with("Tensor &r", &variant.declared()));
                self.method(prefix, "", &format!("{head} {{ detail::check({call}, \"{name}_out\"); return r; }}"));
            }
        }
    }

    /// A function that belongs to no class.
    fn add_free(&mut self, function: &Function) {
        for mut variant in function.variants(None) {
            if self.take(&function.name, &mut variant, "") {
                let body = function.value_body(&function.call(&variant, None, To::Value, &function.name), &function.name);
                let head = format!("inline {} {}({})", function.value_type(), function.name, variant.declared());
                self.function("TH", &function.doc, &format!("{head} {{ {body} }}"));
            }
        }
    }

    fn add_tensor(&mut self, function: &Function, name: &str, all: &[Function]) {
        let object = function.object();
        let doc = if name == function.name { function.doc.as_str() } else { "" };
        if let Some(object) = object.filter(|object| object.kind == "inout" && function.returns == "status") {
            return self.add_changing(function, name, object, doc);
        }
        if function.writes() {
            for mut variant in function.variants(None) {
                if self.take(&format!(".{name}_"), &mut variant, "") {
                    let call = function.call(&variant, None, To::This, &format!("{name}_"));
                    let head = format!("Tensor &{name}_({})", variant.declared());
                    self.method("THTensor", doc, &format!("{head} {{ detail::check({call}, \"{name}_\"); return *this; }}"));
                }
            }
            return;
        }
        self.add_values(function, name, doc, all);
        if !function.outs().is_empty() {
            self.add_out(function, name);
        }
    }

    /// A method that changes its tensor, and where elements are chosen by an index or a mask, one that changes a copy.
    fn add_changing(&mut self, function: &Function, name: &str, object: &Argument, doc: &str) {
        let copies = matches!(function.chapter.as_str(), "Elements by index" | "Comparisons and choices");
        for mut variant in function.variants(Some(object)) {
            if !self.take(&format!(".{name}_"), &mut variant, "") {
                continue;
            }
            let call = function.call(&variant, Some((&object.name, "handle_")), To::Value, &format!("{name}_"));
            let head = format!("Tensor &{name}_({})", variant.declared());
            self.method("THTensor", doc, &format!("{head} {{ detail::check({call}, \"{name}_\"); return *this; }}"));
            if copies && self.take(&format!(".{name}"), &mut variant, "") && self.take(name, &mut variant, "T") {
                let (declared, names) = (variant.declared(), variant.names());
                self.method("THTensor", "", &format!("Tensor {name}({declared}) const {{ Tensor r = clone(); r.{name}_({names}); return r; }}"));
                let head = format!("inline Tensor {name}({})", with("const Tensor &t", &declared));
                self.function("THTensor", "", &format!("{head} {{ return t.{name}({names}); }}"));
            }
        }
    }

    /// The forms that return what they make: a method, and a function beside it.
    fn add_values(&mut self, function: &Function, name: &str, doc: &str, all: &[Function]) {
        let twin = all.iter().find(|other| other.prefix() == "THTensor" && other.name == function.name && other.c_name != function.c_name);
        if function.returns == "status" && twin.is_some_and(Function::is_new) {
            return;
        }
        let twin = twin.filter(|_| function.arguments.iter().any(|argument| argument.kind == "dtype"));
        let value = function.value_type();
        let object = function.object();
        for mut variant in function.variants(object) {
            if let Some(object) = object {
                let mut doc = doc;
                if self.take(&format!(".{name}"), &mut variant, "") {
                    let body = function.value_body(&function.call(&variant, Some((&object.name, "handle_")), To::Value, name), name);
                    let head = format!("{value} {name}({}) const", variant.declared());
                    if function.result_fields().is_some() {
                        self.method("THTensor", doc, &format!("{head};"));
                        let declared = Variant { required: variant.shown.len(), ..variant.clone() }.declared();
                        self.function("THTensor", "", &format!("inline {value} Tensor::{name}({declared}) const {{ {body} }}"));
                    } else {
                        self.method("THTensor", doc, &format!("{head} {{ {body} }}"));
                    }
                    doc = "";
                } else {
                    continue;
                }
                let mut changing = variant.clone();
                if function.is_in_place() && self.take(&format!(".{name}_"), &mut changing, "") {
                    let call = function.call(&changing, Some((&object.name, "handle_")), To::This, &format!("{name}_"));
                    let head = format!("Tensor &{name}_({})", changing.declared());
                    self.method("THTensor", doc, &format!("{head} {{ detail::check({call}, \"{name}_\"); return *this; }}"));
                }
            }
        }
        if OBJECTS.contains(&name) {
            return;
        }
        let doc = if object.is_some() { "" } else { doc };
        for mut variant in function.variants(None) {
            if !self.take(name, &mut variant, "") {
                continue;
            }
            let call = |function: &Function| function.value_body(&function.call(&variant, None, To::Value, name), name);
            let body = match twin {
                Some(twin) => format!("if (dtype == Dtype::Undefined) {{ {} }} {}", call(twin), call(function)),
                None => call(function),
            };
            self.function("THTensor", doc, &format!("inline {value} {name}({}) {{ {body} }}", variant.declared()));
        }
    }

    /// The form that writes into tensors of the caller.
    fn add_out(&mut self, function: &Function, name: &str) {
        let outs = function.outs();
        let declared: Vec<String> =
            outs.iter().map(|out| format!("{}{}", if out.is_optional_out() { "Out " } else { "Tensor &" }, out.name)).collect();
        let letters = "O".repeat(outs.len());
        let first = outs.iter().find(|out| !out.is_optional_out());
        let (result, end) = first.map_or(("void", String::new()), |first| ("Tensor &", format!(" return {};", first.name)));
        let result = if result == "void" { "void " } else { result };
        for mut variant in function.variants(None) {
            let name = format!("{name}_out");
            if self.take(&name, &mut variant, &letters) {
                let call = function.call(&variant, None, To::Out, &name);
                let head = format!("inline {result}{name}({})", with(&declared.join(", "), &variant.declared()));
                self.function("THTensor", "", &format!("{head} {{ detail::check({call}, \"{name}\");{end} }}"));
            }
        }
    }
}

/// A comment of at most 120 columns.
fn comment(doc: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in doc.split_whitespace() {
        if !line.is_empty() && indent.len() + 5 + line.chars().count() + word.chars().count() > 120 {
            out += &format!("{indent}/// {line}\n");
            line.clear();
        }
        line = with_space(&line, word);
    }
    if !line.is_empty() {
        out += &format!("{indent}/// {line}\n");
    }
    out
}

fn with_space(line: &str, word: &str) -> String {
    if line.is_empty() { word.to_owned() } else { format!("{line} {word}") }
}
