//! A C function as a C++ function: its parameters, its overloads, and its C call.

use super::argument::{Argument, COUNTED, Field, HANDLES, INPUTS, Kinds, STRUCTS, spaced, text};
use super::names::{self, IN_PLACE, MAKE, MORE_IN_PLACE, WRITE};
use serde_json::Value;

/// The letters of the parameters with which a function can be called.
pub type Signature = String;

/// A C function, from its entry in api.json.
pub struct Function {
    pub c_name: String,
    pub chapter: String,
    /// The name in C++.
    pub name: String,
    pub arguments: Vec<Argument>,
    pub returns: String,
    pub c_returns: String,
    /// The operation that has this function as a form.
    pub form: Option<String>,
    pub doc: String,
}

impl Function {
    pub fn of(row: &Value, kinds: &Kinds) -> Function {
        let c_name = text(&row["name"]);
        let (prefix, rest) = c_name.split_once('_').unwrap_or(("TH", &c_name[2..]));
        let (returns, c_returns) = (text(&row["returns"]["kind"]), text(&row["returns"]["type"]));
        let plain = match rest.strip_prefix("new").filter(|rest| rest.starts_with(|c: char| c.is_uppercase())) {
            Some(rest) => names::lower(rest),
            None => rest.to_owned(),
        };
        let name = match prefix {
            "TH" => names::lower(&plain),
            "THTensor" | "THSTensor" | "THStorage" | "THGenerator" | "THRandom" | "THFused" => plain,
            "THArchive" | "THOptim" | "THProgram" => plain,
            "THCudaStream" | "THCudaEvent" | "THCudaGraph" => plain,
            _ => names::lower(&prefix[2..]) + &names::upper(&plain),
        };
        let listed = row["arguments"].as_array().expect("a row has arguments");
        let spatial = names::spatial(&name);
        Function {
            name: names::of(&c_name, &name).to_owned(),
            chapter: text(&row["chapter"]),
            arguments: listed.iter().map(|argument| Argument { spatial, ..Argument::of(argument, kinds) }).collect(),
            c_returns,
            form: row["forms"].as_str().map(|form| names::word(form).to_owned()),
            doc: if returns == "flag" { truth(&text(&row["doc"])) } else { text(&row["doc"]) },
            returns,
            c_name,
        }
    }
}

/// The parameters of one overload. Omitted parameters have their defaults.
#[derive(Clone)]
pub struct Variant<'a> {
    /// Parameters in the declaration.
    pub shown: Vec<&'a Argument>,
    /// Parameters whose default is passed.
    pub hidden: Vec<&'a Argument>,
    /// The number of leading parameters that have no default in the declaration.
    pub required: usize,
}

/// The destination of a call's outputs.
#[derive(Clone, Copy, PartialEq)]
pub enum To {
    /// New tensors, which the function returns.
    Value,
    /// The first parameters.
    Out,
    /// The object of the method.
    This,
}

impl Variant<'_> {
    /// The letters of all possible calls, from the one with fewest arguments on. `before` are the letters of other parameters in front.
    pub fn signatures(&self, before: &str) -> Vec<Signature> {
        let letters: Vec<char> = self.shown.iter().map(|argument| argument.cpp().1).collect();
        (self.required..=letters.len()).map(|n| before.to_owned() + &letters[..n].iter().collect::<String>()).collect()
    }

    /// The parameters of the declaration.
    pub fn declared(&self) -> String {
        let one = |(i, argument): (usize, &&Argument)| {
            let default = argument.default.as_ref().filter(|_| i >= self.required).map_or(String::new(), |value| format!(" = {value}"));
            format!("{}{}{default}", argument.cpp().0, argument.name)
        };
        self.shown.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The parameters and the arguments of the same function with an IntList, if parameter `at` is a list. In braces, a list of one entry
    /// would be taken for a number.
    pub fn in_braces(&self, at: usize) -> Option<(String, String)> {
        let list = self.shown.get(at).filter(|argument| argument.is_list() && at < self.required)?;
        let from = format!("IntList {}", list.name);
        let declared = self.declared().replacen(&from, &format!("std::initializer_list<int64_t> {}", list.name), 1);
        let name =
            |argument: &&Argument| if argument.name == list.name { format!("IntList({})", list.name) } else { argument.name.clone() };
        Some((declared, self.shown.iter().map(name).collect::<Vec<_>>().join(", ")))
    }

    /// Returns the variant without the last parameters that are numbers and have defaults in the declaration.
    pub fn without_last_numbers(&self) -> Self {
        let (first, last) = self.shown.split_at(self.required);
        let (numbers, others): (Vec<&Argument>, Vec<&Argument>) = last.iter().partition(|argument| argument.cpp().1 == 'N');
        Variant { shown: [first, &others].concat(), hidden: [self.hidden.as_slice(), &numbers].concat(), required: self.required }
    }

    /// Returns the variant without the parameters that have defaults in the declaration.
    pub fn without_defaults(&self) -> Self {
        let (shown, rest) = self.shown.split_at(self.required);
        Variant { shown: shown.to_vec(), hidden: [self.hidden.as_slice(), rest].concat(), required: self.required }
    }

    /// The names of the parameters.
    pub fn names(&self) -> String {
        self.shown.iter().map(|argument| argument.name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// Rewrites C's description of a truth value for C++.
fn truth(doc: &str) -> String {
    let doc = doc.replacen("1 if ", "True if ", 1).replace("; 0 if not and on error", "").replace("; 0 on error", "");
    doc.replace("; 0 if not", "").replace("; 0 if ", "; false if ")
}

/// Returns `first` in front of a list of parameters.
pub fn with(first: &str, rest: &str) -> String {
    let comma = if first.is_empty() || rest.is_empty() { "" } else { ", " };
    format!("{first}{comma}{rest}")
}

impl Function {
    /// The name of the C function up to its underscore.
    pub fn prefix(&self) -> &str {
        self.c_name.split_once('_').map_or("TH", |(prefix, _)| prefix)
    }

    /// The class of the method, as the prefix of its C functions. The class of sparse tensors follows the class of dense ones, and has all
    /// functions that use both.
    pub fn class_prefix(&self) -> &str {
        match self.prefix() {
            "THRandom" => "THGenerator",
            "THTensor" if self.returns == "new_sparse" || self.arguments.iter().any(Argument::is_sparse) => "THSTensor",
            prefix => prefix,
        }
    }

    /// The class of the method.
    pub fn class(&self) -> &str {
        names::class(&self.class_prefix()[2..])
    }

    /// All outputs that are tensors.
    pub fn outs(&self) -> Vec<&Argument> {
        self.arguments.iter().filter(|argument| argument.is_out()).collect()
    }

    /// The outputs of the form that returns values. Optional lists of positions or counts are left out if there is a required output. All
    /// optional outputs are left out if a number is returned.
    pub fn values(&self) -> Vec<&Argument> {
        let outs = self.outs();
        let required = outs.iter().any(|argument| !argument.is_optional_out());
        let is_left_out = |argument: &Argument| argument.kind != "optional_out" || self.counts();
        outs.into_iter().filter(|argument| !(required && argument.is_optional_out() && is_left_out(argument))).collect()
    }

    /// True if the function has outputs and returns a number, or -1: the form that returns values has no place for the number.
    pub fn counts(&self) -> bool {
        matches!(self.returns.as_str(), "count" | "size" | "length" | "integer") && !self.outs().is_empty()
    }

    /// The fields of the struct that the function returns, if it has several results.
    pub fn result_fields(&self) -> Option<Vec<Field>> {
        let values = self.values();
        let field = |out: &&Argument| Field { class: out.out_class(), name: out.name.clone() };
        (values.len() > 1 && !names::is_left_out(&self.c_name)).then(|| values.iter().map(field).collect())
    }

    /// True if the function returns a handle that the caller owns.
    pub fn is_new(&self) -> bool {
        self.returns.starts_with("new") && self.returns != "new_text"
    }

    /// True if the function computes tensors or a number from elements. Other functions return a property of an object.
    pub fn is_operation(&self) -> bool {
        matches!(self.returns.as_str(), "status" | "accumulated") || self.is_new() || self.counts()
    }

    /// True if the function writes into an existing tensor, because none of its arguments determines a shape.
    pub fn writes(&self) -> bool {
        let tells = |argument: &Argument| {
            INPUTS.contains(&argument.kind.as_str())
                || argument.is_tensor_list()
                || argument.is_list()
                || argument.kind == "size"
                || argument.kind == "sparse"
        };
        let made = MAKE.contains(&self.c_name.as_str()) || self.arguments.iter().any(tells);
        matches!(self.prefix(), "THTensor" | "THSTensor") && self.outs().len() == 1 && (!made || WRITE.contains(&self.c_name.as_str()))
    }

    /// The argument that is the object of a method.
    pub fn object(&self) -> Option<&Argument> {
        let class = self.class();
        self.arguments.iter().find(|argument| match class {
            "Tensor" => HANDLES.contains(&argument.kind.as_str()) || (INPUTS.contains(&argument.kind.as_str()) && !self.writes()),
            _ => argument.class() == Some(class),
        })
    }

    /// The parameters in the order of C. The dtype of a new tensor is the last one.
    pub fn parameters(&self, object: Option<&Argument>) -> Vec<&Argument> {
        let is_object = |argument: &Argument| object.is_some_and(|object| object.name == argument.name);
        let hidden = |argument: &Argument| {
            let kind = argument.kind.as_str();
            argument.is_out() || COUNTED.contains(&kind) || STRUCTS.contains(&kind) || is_object(argument)
        };
        let mut shown: Vec<&Argument> = self.arguments.iter().filter(|argument| !hidden(argument)).collect();
        shown.sort_by_key(|argument| argument.kind == "dtype");
        shown
    }

    /// The overloads: all parameters; without the generator; without parameters that have a default but precede a parameter that has none.
    pub fn variants(&self, object: Option<&Argument>) -> Vec<Variant<'_>> {
        let all = self.parameters(object);
        let last_required = all.iter().rposition(|argument| argument.default.is_none());
        // The number of a device is in front of parameters that it might be taken for.
        let is_leading = |at: usize| all[at].default.is_some() && all[at].kind != "int" && last_required.is_some_and(|last| at < last);
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

    /// Returns the C call. `object` is the argument that is the object, with its handle.
    pub fn call(&self, variant: &Variant, object: Option<(&str, &str)>, to: To, name: &str) -> String {
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
                _ if argument.is_out() => "r.handle".to_owned(),
                "len" | "len_or_whole" => self.length(at, variant, name),
                "handle_count" => {
                    // A count counts the lists after the previous count.
                    let before = self.arguments[..at].iter().rposition(|other| other.kind == "handle_count").unwrap_or(0);
                    let list = self.arguments[before..].iter().find(|list| list.is_tensor_list()).expect("a count counts a list");
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

    /// Returns the length of the lists after argument `at`.
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

    /// The return type of the form that returns values.
    pub fn value_type(&self) -> String {
        let has = |kind: &str| self.arguments.iter().any(|argument| argument.kind == kind);
        match if self.counts() { "status" } else { self.returns.as_str() } {
            "status" if has("new_handles") || has("outs") => "std::vector<Tensor>".to_owned(),
            "status" => match (self.result_fields(), self.values().len()) {
                (Some(fields), _) => names::result(&fields),
                (None, 1) => self.values()[0].out_class().to_owned(),
                _ => {
                    let room = self.arguments.iter().find(|argument| STRUCTS.contains(&argument.kind.as_str()));
                    room.map_or("void".to_owned(), |room| room.c_type.trim_end_matches([' ', '*']).to_owned())
                }
            },
            "new" => "Tensor".to_owned(),
            "new_text" => "String".to_owned(),
            "flag" => "bool".to_owned(),
            _ if self.is_new() => names::class(&self.c_returns.trim_end_matches([' ', '*'])[2..]).to_owned(),
            _ if self.c_returns.starts_with("TH") && !self.c_returns.contains('*') => self.c_returns[2..].to_owned(),
            _ => self.c_returns.clone(),
        }
    }

    /// The return type, to be followed by a name.
    pub fn value_before(&self) -> String {
        spaced(&self.value_type())
    }

    /// The statement that prints an undefined object, if the function prints.
    pub fn prints_undefined(&self) -> String {
        let text = match self.class() {
            "Tensor" => "undefined tensor",
            "SparseTensor" => "undefined sparse tensor",
            _ => "undefined storage",
        };
        match self.name.as_str() {
            "toString" => format!("if (!handle_) return String::copy(\"{text}\"); "),
            "print" => format!("if (!handle_) return detail::write(stdout, \"{text}\", \"print\"); "),
            "fprint" => format!("if (!handle_) return detail::write(stream, \"{text}\", \"fprint\"); "),
            _ => String::new(),
        }
    }

    /// The statements of the form that returns values. `call` is the C call.
    pub fn value_body(&self, call: &str, name: &str) -> String {
        let failure = format!("static_cast<{}>(nullptr)", self.c_returns);
        match self.returns.as_str() {
            _ if self.counts() => self.status_body(&format!("{call} == -1 ? THGetLastErrorCode() : TH_OK"), name),
            "status" => self.status_body(call, name),
            "new" => format!("return detail::made({call}, \"{name}\");"),
            "new_text" => format!("return detail::text({call}, \"{name}\");"),
            "nothing" => format!("{call};"),
            "dlpack" | "dlpack_legacy" => format!("return detail::must({call}, {failure}, \"{name}\");"),
            _ if self.is_new() => format!("return {}::take(detail::must({call}, {failure}, \"{name}\"));", self.value_type()),
            "size" | "stride" | "offset" | "length" => {
                format!("return detail::must({call}, static_cast<{}>(-1), \"{name}\");", self.c_returns)
            }
            _ => self.number_body(call, name),
        }
    }

    /// The statements if C returns a status, and its results through arguments.
    fn status_body(&self, call: &str, name: &str) -> String {
        let value = self.value_type();
        match value.as_str() {
            "void" => format!("detail::check({call}, \"{name}\");"),
            "Tensor" => format!("detail::New r; return r({call}, \"{name}\");"),
            "SparseTensor" => format!("detail::NewSparse r; return r({call}, \"{name}\");"),
            "std::vector<Tensor>" if self.arguments.iter().any(|argument| argument.kind == "new_handles") => {
                format!("return detail::pieces([&](THTensor **pieces, int *count) {{ return {call}; }}, \"{name}\");")
            }
            "std::vector<Tensor>" => {
                format!("std::vector<Tensor> r = detail::fresh(tensors.count()); detail::check({call}, \"{name}\"); return r;")
            }
            _ if value.starts_with("TH") => format!("{value} r{{}}; detail::check({call}, \"{name}\"); return r;"),
            _ => {
                let fields: Vec<String> = self.values().iter().map(|out| format!("r.{}", out.name)).collect();
                let fresh: Vec<String> = self.values().iter().map(|out| format!("{}(detail::Fresh{{}})", out.out_class())).collect();
                let (fresh, fields) = (fresh.join(", "), fields.join(", "));
                format!("{value} r{{{fresh}}}; detail::check_all({call}, \"{name}\", {fields}); return r;")
            }
        }
    }

    /// The statements if C returns a number that may be valid although it equals the error value.
    fn number_body(&self, call: &str, name: &str) -> String {
        let value = self.value_type();
        let suspect = match self.returns.as_str() {
            "number" | "accumulated" => "r != r",
            "count" | "integer" | "descriptor" => "r == -1",
            _ => "!r",
        };
        let converted = match self.returns.as_str() {
            "flag" => "r != 0".to_owned(),
            _ if value == self.c_returns => "r".to_owned(),
            _ => format!("static_cast<{value}>(r)"),
        };
        let declared = if self.c_returns.ends_with('*') { "auto" } else { &self.c_returns };
        format!("THClearLastError(); const {declared} r = {call}; return detail::known({converted}, {suspect}, \"{name}\");")
    }

    /// True if the function may have the name of an operation, because the operation's function returns a value of the same kind.
    pub fn is_form_of(&self, form: &str, all: &[Function]) -> bool {
        let made = |function: &Function| matches!(function.returns.as_str(), "status" | "new" | "new_sparse");
        if form.starts_with("new") {
            return false;
        }
        match all.iter().find(|function| function.prefix() == self.prefix() && function.name == form) {
            Some(plain) if plain.form.as_deref() != Some(form) => false,
            Some(plain) => plain.returns == self.returns || (made(plain) && made(self)),
            None => made(self),
        }
    }

    /// True if the function has a form whose result is its object.
    pub fn is_in_place(&self) -> bool {
        if self.class() == "SparseTensor" {
            return self.outs().first().is_some_and(|out| out.is_sparse()) && self.outs().len() == 1 && self.object().is_some();
        }
        let by_chapter = IN_PLACE.contains(&self.chapter.as_str()) || MORE_IN_PLACE.contains(&self.name.as_str());
        let outs = self.outs();
        let view = outs.first().is_some_and(|out| out.kind == "view_out");
        let masked = self.object().is_some_and(|object| object.kind == "mask");
        (by_chapter || view) && outs.len() == 1 && !masked && self.object().is_some()
    }
}
