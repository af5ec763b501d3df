//! The table of functions as a Lua module, `lua/thorn/api.lua`: the facts that a call needs, without documentation.

use crate::api::{holds_positions, noted, parameters_of};
use crate::book::{Section, flat};
use crate::outline::{Function, Table};
use std::collections::BTreeMap;

/// The beginning of the module.
const PREFACE: &str = "\
-- Written by scripts/header.sh from the table of functions: what a caller in Lua must know of each function.
--
-- `functions` has of each function the kind of its returned value and its arguments, `name:kind` or `name:kind=default`. Texts are read
-- when a function is needed, so that the module loads fast. `kind@` marks a tensor of positions, numbered from 0, whose kind is not one of
-- the kinds for positions. The value `false` marks a function outside the table.
-- `kinds` has of each kind of argument its type in C, the meaning of NULL (`refused`, `taken`, or `empty` for lists, which may be NULL
-- without entries), and the default of kinds that are constants. `failures` has the returned value on failure by kind.
-- `forms` has the functions `THTensor_...` that are forms of one operation.
";

/// All functions in the order of `capi::ALL`, the kinds of their arguments, and the groups of forms.
pub fn functions(sections: &[Section], table: &Table) -> String {
    let (mut functions, mut types) = (Vec::new(), BTreeMap::new());
    for item in sections.iter().flat_map(Section::functions) {
        let number = table.functions.iter().position(|function| function.c_name == item.name);
        let text = number.map(|number| {
            let function = &table.functions[number];
            let code = flat(&item.code);
            let (_, parameters) = code.trim_end_matches(");").split_once('(').expect("a prototype");
            let parameters = parameters_of(parameters);
            types.extend(parameters.iter().map(|(c_type, name)| (kind_of(function, name).to_owned(), (*c_type).to_owned())));
            signature(function, &parameters, table)
        });
        let value = text.map_or("false".to_owned(), |text| format!("\"{text}\""));
        functions.push((number.unwrap_or(usize::MAX), format!("{} = {value}", item.name)));
    }
    functions.sort_by_key(|(number, _)| *number);
    let functions = functions.into_iter().map(|(_, line)| line).collect();
    let kinds = table.kinds.iter().filter_map(|(kind, _)| Some(of_kind(kind, types.get(kind)?, table))).collect();
    let failures = table.on_error.iter().filter(|(_, value)| value != "()").map(|(kind, value)| format!("{kind} = \"{value}\"")).collect();
    let forms = table.forms.iter().map(|(operation, forms)| format!("[\"{operation}\"] = \"{forms}\"")).collect();
    let lists: [(&str, Vec<String>); 4] = [("functions", functions), ("kinds", kinds), ("failures", failures), ("forms", forms)];
    let lists = lists.map(|(name, lines)| format!("  {name} = {{\n    {},\n  }},\n", lines.join(",\n    ")));
    format!("{PREFACE}\nreturn {{\n{}}}\n", lists.concat())
}

fn kind_of<'a>(function: &'a Function, argument: &str) -> &'a str {
    let (_, kind) = function.arguments.iter().find(|(name, _)| name == argument).expect("the function has the arguments of its function");
    kind
}

/// `status r:out t:input value:number=1`
fn signature(function: &Function, parameters: &[(&str, &str)], table: &Table) -> String {
    let mark = |name: &str| if holds_positions(table, &function.c_name, name) { "@" } else { "" };
    let arguments = parameters.iter().map(|(_, name)| {
        let default = noted(&table.default_values, &function.c_name, name).map_or(String::new(), |value| format!("={value}"));
        format!(" {name}:{}{}{default}", kind_of(function, name), mark(name))
    });
    format!("{}{}{}", function.returns, mark("returns"), arguments.collect::<String>())
}

fn of_kind(kind: &str, c_type: &str, table: &Table) -> String {
    let among = |kinds: &[String]| kinds.iter().any(|of| of == kind);
    let null = [("refused", &table.null_refused), ("taken", &table.null_taken), ("empty", &table.null_if_empty)];
    let null = null.iter().find(|(_, kinds)| among(kinds)).map_or(String::new(), |(null, _)| format!(", null = \"{null}\""));
    let default = table.defaults.iter().find(|(of, _)| of == kind).map_or(String::new(), |(_, value)| format!(", default = \"{value}\""));
    format!("{kind} = {{ type = \"{c_type}\"{null}{default} }}")
}
