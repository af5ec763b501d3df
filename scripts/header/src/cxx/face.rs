//! The methods and functions of thorn.hpp.

use super::aliases;
use super::argument::{Argument, spaced};
use super::function::{Function, Signature, To, Variant, with};
use super::layout::{RULE, code, comment};
use super::names::{self, OBJECTS, READERS};
use std::collections::{BTreeMap, BTreeSet};

/// All functions, and the signatures of each name so far.
pub struct Face {
    pub functions: Vec<Function>,
    taken: BTreeMap<String, BTreeSet<Signature>>,
    /// The methods of each class, and the functions, by the number of the C function that they call.
    methods: BTreeMap<(String, usize), String>,
    free: BTreeMap<(String, usize), String>,
    /// The names of the methods of a Selection.
    readers: BTreeSet<String>,
    /// The operations with a form that has a number after its object.
    numbers: BTreeSet<String>,
    /// The number of the current function.
    number: usize,
}

impl Face {
    /// Makes the methods and functions for all functions that are not left out.
    pub fn of(functions: Vec<Function>) -> Face {
        let functions: Vec<Function> = functions.into_iter().filter(|function| !names::is_left_out(&function.c_name)).collect();
        let (taken, methods, free) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let has_number =
            |function: &&Function| function.parameters(function.object()).first().is_some_and(|argument| argument.cpp().1 == 'N');
        let numbers = functions.iter().filter(has_number).filter_map(|function| function.form.clone()).collect();
        let mut face = Face { functions: Vec::new(), taken, methods, free, readers: BTreeSet::new(), numbers, number: 0 };
        for (number, function) in functions.iter().enumerate() {
            face.number = number;
            face.add(function, &function.name, &function.doc, &functions);
        }
        // Names of operations are added after the functions' own names, which have precedence.
        for (number, function) in functions.iter().enumerate() {
            face.number = number;
            if let Some(form) = function.form.as_ref().filter(|form| **form != function.name && function.is_form_of(form, &functions)) {
                face.add(function, form, "", &functions);
            }
        }
        for alias in aliases::all() {
            let doc = format!("{} by PyTorch's name.", alias.of);
            for (number, function) in functions.iter().enumerate() {
                face.number = number;
                let is_form = function.form.as_ref() == Some(&alias.of) && function.is_form_of(&alias.of, &functions);
                if function.prefix() == "THTensor" && (function.name == alias.of || is_form) {
                    face.add(function, &alias.name, if function.name == alias.of { &doc } else { "" }, &functions);
                }
            }
        }
        face.functions = functions;
        face
    }

    /// Returns the methods of a class.
    pub fn methods(&self, prefix: &str) -> String {
        self.by_chapter(prefix, &self.methods, "    ")
    }

    /// Returns the functions for C functions with this prefix.
    pub fn functions_of(&self, prefix: &str) -> String {
        self.by_chapter(prefix, &self.free, "")
    }

    /// Returns the methods of a Selection that call the methods of dense tensors with the same names.
    pub fn readers(&self) -> String {
        let method =
            |name| format!("    template <class... A> auto {name}(A &&...a) const {{ return read().{name}(std::forward<A>(a)...); }}\n");
        self.readers.iter().map(method).collect()
    }

    /// Returns the texts for `prefix`, in the order of the rows, with a line before each chapter.
    fn by_chapter(&self, prefix: &str, texts: &BTreeMap<(String, usize), String>, indent: &str) -> String {
        let (mut out, mut chapter) = (String::new(), "");
        for ((_, number), text) in texts.iter().filter(|((of, _), _)| of == prefix) {
            if self.functions[*number].chapter != chapter {
                chapter = &self.functions[*number].chapter;
                let rule = "-".repeat(RULE - indent.len() - chapter.len());
                out += &format!("\n{indent}// {rule} {chapter}\n\n");
            }
            out += text;
        }
        out
    }

    /// Chooses the parameters that a variant shows and those that have defaults, so that no call is ambiguous. Returns false if that is
    /// impossible. `before` are the letters of other parameters in front.
    fn take(&mut self, name: &str, variant: &mut Variant, before: &str) -> bool {
        let taken = self.taken.entry(name.to_owned()).or_default();
        let is_free = |variant: &Variant| variant.signatures(before).iter().all(|signature| !taken.contains(signature));
        let short = variant.without_last_numbers();
        if !is_free(variant) && !variant.hidden.is_empty() && is_free(&short) {
            *variant = short;
        }
        let mut required = (variant.required..=variant.shown.len()).find(|n| is_free(&Variant { required: *n, ..variant.clone() }));
        if required.is_none() && is_free(&variant.without_defaults()) {
            *variant = variant.without_defaults();
            required = Some(variant.required);
        }
        let Some(required) = required else { return false };
        variant.required = required;
        let signatures = variant.signatures(before);
        taken.extend(signatures);
        true
    }

    /// Does the same for a method of the function's class.
    fn take_method(&mut self, function: &Function, name: &str, variant: &mut Variant) -> bool {
        self.take(&format!("{}.{name}", function.class_prefix()), variant, "")
    }

    /// Adds all forms of a function under a name.
    fn add(&mut self, function: &Function, name: &str, doc: &str, all: &[Function]) {
        match function.class_prefix() {
            "THTensor" | "THSTensor" => self.add_tensor(function, name, doc, all),
            "THStorage" | "THGenerator" | "THFused" | "THArchive" | "THOptim" | "THProgram" | "THCudaStream" | "THCudaEvent"
            | "THCudaGraph" => self.add_member(function),
            _ => self.add_free(function),
        }
    }

    /// Writes a method.
    fn method(&mut self, prefix: &str, doc: &str, head: &str, body: &str) {
        let text = self.methods.entry((prefix.to_owned(), self.number)).or_default();
        *text += &(comment(doc, "    ") + &code(head, body, "    "));
    }

    /// Writes a function.
    fn function(&mut self, prefix: &str, doc: &str, head: &str, body: &str) {
        let text = self.free.entry((prefix.to_owned(), self.number)).or_default();
        *text += &(comment(doc, "") + &code(head, body, ""));
    }

    /// Adds a method of a class that is not a tensor, a constructor or a static function.
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
                let made = format!("{base}(detail::must({call}, static_cast<{}>(nullptr), \"{class}\"))", function.c_returns);
                self.method(prefix, &function.doc, &format!("explicit {class}({}) : {made}", variant.declared()), "");
                continue;
            }
            let (before, after) = if object.is_some() { ("", " const") } else { ("static ", "") };
            let head = format!("{before}{}{name}({}){after}", function.value_before(), variant.declared());
            self.method(prefix, &function.doc, &head, &(function.prints_undefined() + &function.value_body(&call, name)));
            if !function.outs().is_empty() {
                let call = function.call(&variant, object, To::Out, name);
                let head = format!("Tensor &{name}_out({}){after}", with("Tensor &r", &variant.declared()));
                self.method(prefix, "", &head, &format!("detail::check({call}, \"{name}_out\"); return r;"));
            }
        }
    }

    /// Adds a function that belongs to no class.
    fn add_free(&mut self, function: &Function) {
        for mut variant in function.variants(None) {
            if self.take(&function.name, &mut variant, "") {
                let body = function.value_body(&function.call(&variant, None, To::Value, &function.name), &function.name);
                let head = format!("inline {}{}({})", function.value_before(), function.name, variant.declared());
                self.function("TH", &function.doc, &head, &body);
            }
        }
    }

    /// Adds the forms of a function of tensors: returning values, with results first, and in place.
    fn add_tensor(&mut self, function: &Function, name: &str, doc: &str, all: &[Function]) {
        let object = function.object();
        if let Some(object) = object.filter(|object| {
            matches!(object.kind.as_str(), "inout" | "handle" | "emptied" | "sparse_inout") && function.returns == "status"
        }) {
            return self.add_changing(function, name, object, doc);
        }
        if function.writes() {
            for mut variant in function.variants(None) {
                if self.take_method(function, &format!("{name}_"), &mut variant) {
                    let call = function.call(&variant, None, To::This, &format!("{name}_"));
                    let head = format!("{} &{name}_({})", function.class(), variant.declared());
                    self.method(function.class_prefix(), doc, &head, &format!("return changed({call}, \"{name}_\");"));
                }
            }
            return;
        }
        self.add_values(function, name, doc, all);
        // To keep the header short, aliases have no forms with the result first.
        let is_alias = name != function.name && function.form.as_deref() != Some(name);
        if !function.outs().is_empty() && !is_alias {
            self.add_out(function, name);
        }
    }

    /// Adds a method that changes its tensor. If the elements are chosen by an index or a mask, also adds a method that changes a copy.
    fn add_changing(&mut self, function: &Function, name: &str, object: &Argument, doc: &str) {
        let copies = matches!(function.chapter.as_str(), "Elements by index" | "Comparisons and choices");
        for mut variant in function.variants(Some(object)) {
            if !self.take_method(function, &format!("{name}_"), &mut variant) {
                continue;
            }
            let call = function.call(&variant, Some((&object.name, "handle_")), To::Value, &format!("{name}_"));
            let head = format!("{} &{name}_({})", function.class(), variant.declared());
            self.method(function.class_prefix(), doc, &head, &format!("return changed({call}, \"{name}_\");"));
            if copies && self.take_method(function, name, &mut variant) && self.take(name, &mut variant, "T") {
                let (declared, names) = (variant.declared(), variant.names());
                let call = function.call(&variant, Some((&object.name, "r.get()")), To::Value, name);
                let made = format!("Tensor r = detail::made(THTensor_newClone(handle_), \"{name}\");");
                let body = format!("{made} detail::check({call}, \"{name}\", r); return r;");
                self.method(function.class_prefix(), "", &format!("Tensor {name}({declared}) const"), &body);
                let head = format!("inline Tensor {name}({})", with("const Tensor &t", &declared));
                self.function(function.class_prefix(), "", &head, &format!("return t.{name}({names});"));
            }
        }
    }

    /// Adds the forms that return their results: a method and a function.
    fn add_values(&mut self, function: &Function, name: &str, doc: &str, all: &[Function]) {
        let twin =
            all.iter().find(|other| other.prefix() == function.prefix() && other.name == function.name && other.c_name != function.c_name);
        if function.returns == "status" && twin.is_some_and(Function::is_new) {
            // The C function whose name begins with `new` returns the value.
            return self.add_in_place(function, name, function.variants(function.object()));
        }
        let mut named = Vec::new();
        let mut is_method = true;
        for mut variant in function.object().map_or(Vec::new(), |object| function.variants(Some(object))) {
            if self.take_method(function, name, &mut variant) {
                self.add_method(function, name, if named.is_empty() { doc } else { "" }, &variant);
                named.push(variant);
            } else {
                // Another function has the name of the method.
                is_method = false;
            }
        }
        self.add_in_place(function, name, named);
        if !OBJECTS.contains(&name) {
            let twin = twin.filter(|_| function.arguments.iter().any(|argument| argument.kind == "dtype"));
            let object = function.object().filter(|_| is_method);
            self.add_functions(function, name, object, if function.object().is_some() { "" } else { doc }, twin);
        }
    }

    /// Adds a method that returns its results.
    fn add_method(&mut self, function: &Function, name: &str, doc: &str, variant: &Variant) {
        let object = function.object().map(|object| (object.name.as_str(), "handle_"));
        let body = function.prints_undefined() + &function.value_body(&function.call(variant, object, To::Value, name), name);
        let value = function.value_before();
        if function.class_prefix() == "THTensor" && READERS.contains(&function.chapter.as_str()) {
            self.readers.insert(name.to_owned());
        }
        let head = format!("{value}{name}({}) const", variant.declared());
        if function.result_fields().is_some() {
            // The struct is defined after the class.
            self.method(function.class_prefix(), doc, &head, ";");
            let declared = Variant { required: variant.shown.len(), ..variant.clone() }.declared();
            self.function(function.class_prefix(), "", &format!("inline {value}{}::{name}({declared}) const", function.class()), &body);
        } else {
            self.method(function.class_prefix(), doc, &head, &body);
        }
        if self.has_number_form(function, name)
            && let Some((declared, names)) = variant.in_braces(0)
        {
            self.method(function.class_prefix(), "", &format!("{value}{name}({declared}) const"), &format!("return {name}({names});"));
        }
    }

    /// True if another form of the operation has a number where this one has a list.
    fn has_number_form(&self, function: &Function, name: &str) -> bool {
        function.form.as_deref() == Some(name) && self.numbers.contains(name) && function.object().is_some()
    }

    /// Adds methods whose result is their object.
    fn add_in_place(&mut self, function: &Function, name: &str, variants: Vec<Variant>) {
        let Some(object) = function.object().filter(|_| function.is_in_place()) else { return };
        for mut variant in variants {
            if self.take_method(function, &format!("{name}_"), &mut variant) {
                let call = function.call(&variant, Some((&object.name, "handle_")), To::This, &format!("{name}_"));
                let head = format!("{} &{name}_({})", function.class(), variant.declared());
                self.method(function.class_prefix(), "", &head, &format!("return changed({call}, \"{name}_\");"));
            }
        }
    }

    /// Adds functions. A function that is also a method of its `object` calls the method. Without a dtype, it calls `twin`, which chooses
    /// the dtype.
    fn add_functions(&mut self, function: &Function, name: &str, object: Option<&Argument>, doc: &str, twin: Option<&Function>) {
        let value = function.value_before();
        if function.class() == "SparseTensor" && !function.arguments.iter().any(Argument::is_sparse) {
            return self.add_static(function, name, doc);
        }
        if function.class() == "SparseTensor" && !function.is_operation() {
            return;
        }
        for mut variant in function.variants(None) {
            if !self.take(name, &mut variant, "") {
                continue;
            }
            let call = |function: &Function| function.value_body(&function.call(&variant, None, To::Value, name), name);
            let body = match (object, twin) {
                (Some(object), _) => as_method(&variant, object, name),
                (None, Some(twin)) => format!("if (dtype == Dtype::Undefined) {{ {} }} {}", call(twin), call(function)),
                (None, None) => call(function),
            };
            self.function(function.class_prefix(), doc, &format!("inline {value}{name}({})", variant.declared()), &body);
            if self.has_number_form(function, name)
                && let Some((declared, names)) = variant.in_braces(1)
            {
                self.function(
                    function.class_prefix(),
                    "",
                    &format!("inline {value}{name}({declared})"),
                    &format!("return {name}({names});"),
                );
            }
        }
    }

    /// Adds a static function of the class.
    fn add_static(&mut self, function: &Function, name: &str, doc: &str) {
        for mut variant in function.variants(None) {
            if self.take_method(function, name, &mut variant) {
                let body = function.value_body(&function.call(&variant, None, To::Value, name), name);
                let head = format!("static {}{name}({})", function.value_before(), variant.declared());
                self.method(function.class_prefix(), doc, &head, &body);
            }
        }
    }

    /// Adds the form that writes into the caller's tensors.
    fn add_out(&mut self, function: &Function, name: &str) {
        let outs = function.outs();
        let declared: Vec<String> = outs
            .iter()
            .map(|out| if out.is_optional_out() { format!("Out {}", out.name) } else { format!("{} &{}", out.out_class(), out.name) })
            .collect();
        let letters: String = outs.iter().map(|out| if out.is_sparse() { 'Q' } else { 'O' }).collect();
        let first = outs.iter().find(|out| !out.is_optional_out());
        let result = match first {
            _ if function.counts() => spaced(&function.c_returns),
            Some(first) => format!("{} &", first.out_class()),
            None => "void ".to_owned(),
        };
        for mut variant in function.variants(None) {
            let name = format!("{name}_out");
            if self.take(&name, &mut variant, &letters) {
                let call = function.call(&variant, None, To::Out, &name);
                let head = format!("inline {result}{name}({})", with(&declared.join(", "), &variant.declared()));
                let body = match first {
                    _ if function.counts() => format!("return detail::must({call}, static_cast<{}>(-1), \"{name}\");", function.c_returns),
                    Some(first) => format!("return detail::into({}, {call}, \"{name}\");", first.name),
                    None => format!("detail::check({call}, \"{name}\");"),
                };
                self.function(function.class_prefix(), "", &head, &body);
            }
        }
    }
}

/// Returns the call of the method that is equivalent to the function with these parameters.
fn as_method(variant: &Variant, object: &Argument, name: &str) -> String {
    let object = object.name.as_str();
    let rest: Vec<&str> = variant.shown.iter().map(|argument| argument.name.as_str()).filter(|name| *name != object).collect();
    format!("return {object}.{name}({});", rest.join(", "))
}
