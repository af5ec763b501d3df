//! `include/thorn.hpp`: the parts in scripts/header/cxx, and between them a method and functions for each C function.

mod aliases;
mod argument;
mod face;
mod function;
mod layout;
mod names;

use argument::{Field, Kinds};
use face::Face;
use function::Function;
use names::camel;
use serde_json::Value;
use std::collections::BTreeMap;

/// The hand-written parts, in the order of the header. A line `@word argument` is replaced by generated code.
const PARTS: &[&str] = &[
    include_str!("../../cxx/front.hpp"),
    "@enums",
    include_str!("../../cxx/errors.hpp"),
    include_str!("../../cxx/lists.hpp"),
    include_str!("../../cxx/handles.hpp"),
    include_str!("../../cxx/tensor.hpp"),
    include_str!("../../cxx/operators.hpp"),
    include_str!("../../cxx/view.hpp"),
    include_str!("../../cxx/elements.hpp"),
    include_str!("../../cxx/make.hpp"),
    include_str!("../../cxx/attention.hpp"),
    include_str!("../../cxx/gradients.hpp"),
    include_str!("../../cxx/sparse.hpp"),
    include_str!("../../cxx/programs.hpp"),
    include_str!("../../cxx/classes.hpp"),
];

/// Returns the whole header, from the constants in the C header and from the rows.
pub fn header(c_header: &str, rows: &str) -> String {
    let rows: Value = serde_json::from_str(rows).expect("the rows are JSON");
    let (enums, constants) = enums(c_header);
    let kinds = Kinds::of(&rows, constants);
    let listed = rows["functions"].as_array().expect("the rows have functions");
    let mut functions: Vec<Function> = listed.iter().map(|row| Function::of(row, &kinds)).collect();
    share_forms(&mut functions);
    let face = Face::of(functions);
    let mut out = String::new();
    for line in PARTS.iter().flat_map(|part| part.lines()) {
        match line.strip_prefix('@').map(|line| line.split_once(' ').unwrap_or((line, ""))) {
            None => out += &format!("{line}\n"),
            Some(("enums", _)) => out += &enums,
            Some(("results", how)) => out += &results(&face.functions, how),
            Some(("methods", prefix)) => out += &face.methods(prefix),
            Some(("readers", _)) => out += &face.readers(),
            Some(("functions", prefix)) => out += &face.functions_of(prefix),
            Some((word, _)) => panic!("scripts/header/cxx has an unknown line @{word}"),
        }
    }
    out
}

/// Converts the enums of the C header to enum classes, and maps each constant to its C++ name: `TH_PAD_CONSTANT` is `PadMode::Constant`.
fn enums(c_header: &str) -> (String, BTreeMap<String, String>) {
    let (mut out, mut constants, mut doc) = (String::new(), BTreeMap::new(), Vec::new());
    let mut lines = c_header.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("///") {
            doc.push(line);
            continue;
        }
        let name = line.split_once("typedef enum ").filter(|_| line.ends_with('{')).map(|(_, rest)| rest.trim_end_matches([' ', '{']));
        if let Some(name) = name.and_then(|name| name.rsplit(' ').next()).filter(|name| name.starts_with("TH")) {
            let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with('}')).collect();
            out += &enum_class(name, &doc, &body, &mut constants);
        }
        doc.clear();
    }
    (out, constants)
}

fn enum_class(name: &str, doc: &[&str], body: &[&str], constants: &mut BTreeMap<String, String>) -> String {
    let class = &name[2..];
    let mut out = format!("\n{}\nenum class {class} : int {{\n", doc.join("\n"));
    let own: Vec<&str> = body.iter().filter_map(|line| line.trim().split_once(" = ")).map(|(constant, _)| constant).collect();
    let prefix = names::prefix(&own);
    for line in body {
        match line.trim().split_once(" = ") {
            Some((constant, rest)) => {
                let comment = rest.split_once("///<").map_or(String::new(), |(_, comment)| format!(" ///<{comment}"));
                let short = camel(&constant[prefix..]);
                out += &format!("    {short} = {constant},{comment}\n");
                constants.insert(constant.to_owned(), format!("{class}::{short}"));
            }
            None => out += &format!("{line}\n"),
        }
    }
    out += "};\n";
    if name == "THDtype" {
        out += "\n// The dtypes by their own names: `th::zeros({2, 3}, th::int64)`. Bool alone is a word of C++.\n";
        for constant in own.iter().map(|constant| &constant[prefix..]).filter(|constant| !matches!(*constant, "BOOL" | "UNDEFINED")) {
            out += &format!("inline constexpr Dtype {} = Dtype::{};\n", constant.to_lowercase(), camel(constant));
        }
    }
    out
}

/// Makes functions of sparse tensors forms of the operation of the dense functions: `cmul`, and `cmulDense`, whose second operand is dense,
/// are forms of `mul`.
fn share_forms(functions: &mut [Function]) {
    let dense = functions.iter().filter(|function| function.prefix() == "THTensor");
    let forms: BTreeMap<String, String> = dense.filter_map(|function| Some((function.name.clone(), function.form.clone()?))).collect();
    for function in functions.iter_mut().filter(|function| function.prefix() == "THSTensor") {
        function.form = forms.get(function.name.trim_end_matches("Dense")).cloned();
    }
}

/// The structs that functions with several results return, named after their fields. `how` is `declared` for all, `defined` for structs of
/// dense tensors, and `sparse` for structs with a sparse one.
fn results(functions: &[Function], how: &str) -> String {
    let mut lists: Vec<Vec<Field>> = functions.iter().filter_map(Function::result_fields).collect();
    lists.sort();
    lists.dedup();
    let mut out = String::new();
    for fields in lists {
        let (name, is_sparse) = (names::result(&fields), fields.iter().any(Field::is_sparse));
        if how == "declared" {
            out += &format!("struct {name};\n");
        } else if (how == "sparse") == is_sparse {
            out += &format!("\n/// Several results.\nstruct {name} {{\n{}}};\n", declarations(&fields));
        }
    }
    out
}

/// The declarations of fields. Consecutive fields of the same class share a declaration.
fn declarations(fields: &[Field]) -> String {
    let declaration = |fields: &[Field]| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        format!("    {} {};\n", fields[0].class, names.join(", "))
    };
    fields.chunk_by(|a, b| a.class == b.class).map(declaration).collect()
}

#[cfg(test)]
mod tests {
    use super::names::LEFT_OUT;
    use serde_json::Value;

    fn read(path: &str) -> String {
        std::fs::read_to_string(crate::root().join(path)).expect("the file is there")
    }

    /// The functions in api.json.
    fn functions() -> Vec<String> {
        let rows: Value = serde_json::from_str(&read("src/capi/api.json")).expect("the rows are JSON");
        let listed = rows["functions"].as_array().expect("the rows have functions").iter();
        listed.map(|row| row["name"].as_str().expect("a row has a name").to_owned()).collect()
    }

    /// The names of C functions that thorn.hpp calls or passes as arguments. Comments do not count.
    fn called() -> std::collections::BTreeSet<String> {
        let text = read("include/thorn.hpp");
        let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with('*'));
        let words = |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect::<Vec<_>>();
        code.flat_map(words).filter(|word| word.starts_with("TH")).collect()
    }

    #[test]
    fn thorn_hpp_calls_every_function_but_those_with_a_reason() {
        let called = called();
        let missing: Vec<String> =
            functions().into_iter().filter(|name| !called.contains(name) && !super::names::is_left_out(name)).collect();
        assert!(missing.is_empty(), "neither called nor in LEFT_OUT: {missing:?}");
        assert!(functions().len() > 750, "only {} functions", functions().len());
    }

    #[test]
    fn every_name_that_is_left_out_is_a_function_and_has_a_reason() {
        let (functions, called) = (functions(), called());
        for (names, reason) in LEFT_OUT {
            for name in names.split(' ') {
                let matches = |function: &&String| name.strip_suffix('*').map_or(*function == name, |start| function.starts_with(start));
                assert!(functions.iter().any(|function| matches(&function)), "{name} is no function");
                assert!(!reason.contains("by hand") || called.contains(name), "{name} is called nowhere");
            }
        }
    }

    #[test]
    fn every_alias_is_a_function() {
        let (text, aliases) = (read("include/thorn.hpp"), super::aliases::all());
        for alias in &aliases {
            assert!(text.contains(&format!(" {}(", alias.name)), "{} has no function that is named {}", alias.name, alias.of);
        }
        assert!(aliases.len() > 40, "only {} aliases", aliases.len());
    }

    #[test]
    fn the_parts_are_narrow() {
        for part in super::PARTS {
            for line in part.lines() {
                assert!(line.chars().count() <= 140, "{} columns: {line}", line.chars().count());
            }
        }
    }
}
