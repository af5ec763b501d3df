//! An argument of a C function as a C++ parameter.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about the kinds of arguments: the default constants of enums, and the C++ names of constants.
pub struct Kinds {
    defaults: BTreeMap<String, String>,
    constants: BTreeMap<String, String>,
    /// The enum classes.
    enums: BTreeSet<String>,
    /// The kinds of pointers that may be NULL.
    nullable: BTreeSet<String>,
}

impl Kinds {
    /// `constants` maps the constants of the enum classes to C++: `TH_DIV_TRUE` is `DivMode::True`.
    pub fn of(rows: &Value, constants: BTreeMap<String, String>) -> Kinds {
        let kinds = rows["kinds"].as_array().expect("the rows have kinds");
        let default = |kind: &Value| Some((text(&kind["kind"]), kind["default"].as_str()?.to_owned()));
        let enums = constants.values().filter_map(|constant| Some(constant.split_once("::")?.0.to_owned())).collect();
        let nullable = kinds.iter().filter(|kind| kind["null"] == "taken").map(|kind| text(&kind["kind"])).collect();
        Kinds { defaults: kinds.iter().filter_map(default).collect(), constants, enums, nullable }
    }
}

/// The text of a field, empty if there is none.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// An argument of a C function.
#[derive(Clone)]
pub struct Argument {
    pub name: String,
    pub kind: String,
    pub c_type: String,
    /// The default in C++, if there is one.
    pub default: Option<String>,
    /// True if the type is an enum.
    pub is_enum: bool,
    /// The number of spatial dimensions of a list that has an entry for each of them.
    pub spatial: Option<u8>,
}

/// Kinds of results.
const OUTS: &[&str] = &["out", "view_out", "truth", "indices", "totals", "pivots_out", "sparse_out"];
/// Kinds of results that may be omitted.
const OPTIONAL_OUTS: &[&str] = &["optional_out", "optional_indices", "optional_totals", "optional_info"];
/// Kinds of operands.
pub const INPUTS: &[&str] = &["input", "mask", "index", "pivots", "optional_input", "optional_index", "optional_state"];
/// Kinds of tensors that the call changes, or that a result may share.
pub const HANDLES: &[&str] = &["inout", "handle", "emptied", "shared"];
/// Kinds of lists of numbers.
const LISTS: &[&str] =
    &["sizes", "optional_sizes", "strides", "optional_strides", "dims", "optional_dims", "entries", "counts", "optional_counts"];
/// Kinds of lists of operands.
pub const TENSOR_LISTS: &[&str] = &["inputs", "optional_inputs", "list_or_null"];
/// Kinds of lists of sparse operands.
pub const SPARSE_LISTS: &[&str] = &["sparse_inputs"];
/// Pointers to a C struct that the call fills. The C++ function returns the struct.
pub const STRUCTS: &[&str] = &["cuda_memory_out", "cuda_properties_out", "print_options_out", "stats_out"];
/// Arguments whose value follows from other arguments.
pub const COUNTED: &[&str] = &["len", "len_or_whole", "handle_count", "new_handles", "count_inout", "outs"];

impl Argument {
    pub fn of(value: &Value, kinds: &Kinds) -> Argument {
        let (kind, c_type) = (text(&value["kind"]), text(&value["type"]));
        let given = match &value["default"] {
            Value::Null => kinds.defaults.get(&kind).cloned(),
            Value::String(text) => Some(text.clone()),
            number => Some(number.to_string()),
        };
        let is_enum = c_type.strip_prefix("TH").is_some_and(|name| kinds.enums.contains(name));
        let mut argument = Argument { name: text(&value["name"]), kind, c_type, default: None, is_enum, spatial: None };
        argument.default = argument.default_of(given, kinds);
        argument
    }

    fn default_of(&self, given: Option<String>, kinds: &Kinds) -> Option<String> {
        let own = match self.kind.as_str() {
            "optional_input" | "optional_index" | "optional_state" | "generator" => Some("{}".to_owned()),
            kind if kind.starts_with("optional_") && LISTS.contains(&kind) => Some("{}".to_owned()),
            "list_or_null" => Some("{}".to_owned()),
            "optional_dtype" | "dtype" => Some("Dtype::Undefined".to_owned()),
            "print_options" | "context" | "optional_text" => Some("nullptr".to_owned()),
            kind if self.is_function() && kinds.nullable.contains(kind) => Some("nullptr".to_owned()),
            _ => None,
        };
        // A device has a type and a number.
        own.or_else(|| given.filter(|_| self.kind != "device_type").map(|given| self.converted(&given, kinds)))
    }

    /// Converts a default to C++.
    fn converted(&self, given: &str, kinds: &Kinds) -> String {
        match given {
            "TH_ALL_DIMS" => "everyDim".to_owned(),
            _ if self.kind == "flag" => if given == "0" { "false" } else { "true" }.to_owned(),
            _ if self.kind == "text" => format!("\"{given}\""),
            _ => kinds.constants.get(given).map_or(given, String::as_str).trim_end_matches(".0").to_owned(),
        }
    }

    pub fn is_out(&self) -> bool {
        OUTS.contains(&self.kind.as_str()) || self.is_optional_out()
    }

    pub fn is_optional_out(&self) -> bool {
        OPTIONAL_OUTS.contains(&self.kind.as_str())
    }

    pub fn is_list(&self) -> bool {
        LISTS.contains(&self.kind.as_str())
    }

    /// The type of the parameter for a list of numbers.
    fn list_type(&self) -> String {
        self.spatial.map_or("IntList ".to_owned(), |dims| format!("const SpatialList<{dims}> &"))
    }

    /// True for a callback.
    fn is_function(&self) -> bool {
        self.c_type.starts_with("TH") && !self.c_type.ends_with('*') && !self.is_enum
    }

    /// True for a list of tensors, dense or sparse.
    pub fn is_tensor_list(&self) -> bool {
        TENSOR_LISTS.contains(&self.kind.as_str()) || self.is_sparse_list()
    }

    fn is_sparse_list(&self) -> bool {
        SPARSE_LISTS.contains(&self.kind.as_str())
    }

    /// True for a sparse tensor, and for a list of them.
    pub fn is_sparse(&self) -> bool {
        self.c_type.contains("THSTensor")
    }

    /// The class of an output.
    pub fn out_class(&self) -> &'static str {
        if self.is_sparse() { "SparseTensor" } else { "Tensor" }
    }

    /// The class of the argument's handle, except for tensors.
    pub fn class(&self) -> Option<&'static str> {
        Some(match self.kind.as_str() {
            "storage" | "storage_out" | "storage_input" => "Storage",
            "generator" | "required_generator" => "Generator",
            "fused" => "Fused",
            "sparse" | "sparse_inout" => "SparseTensor",
            "archive" => "Archive",
            "optim" => "Optim",
            "program" => "Program",
            "cuda_stream" => "CudaStream",
            "cuda_event" => "CudaEvent",
            "cuda_graph" => "CudaGraph",
            _ => return None,
        })
    }

    /// The type of the parameter, and a letter that is the same for all types that convert into one another.
    pub fn cpp(&self) -> (String, char) {
        let kind = self.kind.as_str();
        match kind {
            _ if INPUTS.contains(&kind) || HANDLES.contains(&kind) => ("const Tensor &".to_owned(), 'T'),
            _ if self.is_list() => (self.list_type(), 'L'),
            _ if self.is_sparse_list() => ("SparseList ".to_owned(), 'W'),
            _ if self.is_tensor_list() => ("TensorList ".to_owned(), 'V'),
            "text" => ("Text ".to_owned(), 'S'),
            "flag" => ("bool ".to_owned(), 'N'),
            _ if self.is_sparse() => ("const SparseTensor &".to_owned(), 'Z'),
            _ if self.class().is_some() => (format!("const {} &", self.class().unwrap_or_default()), 'H'),
            _ if self.is_enum => (format!("{} ", &self.c_type[2..]), 'E'),
            _ if self.c_type.ends_with('*') || self.is_function() => (spaced(&self.c_type), 'P'),
            _ => (spaced(&self.c_type), 'N'),
        }
    }

    /// The argument of the C call.
    pub fn passed(&self, is_new: bool) -> String {
        let (name, kind) = (&self.name, self.kind.as_str());
        match kind {
            _ if self.is_list() || self.is_tensor_list() => format!("{name}.data()"),
            "text" => format!("{name}.c_str()"),
            "dtype" if is_new => format!("detail::dtype({name})"),
            _ if INPUTS.contains(&kind) || HANDLES.contains(&kind) || self.class().is_some() => format!("{name}.get()"),
            _ if self.is_enum => format!("static_cast<{}>({name})", self.c_type),
            _ => name.clone(),
        }
    }

    /// The default as an argument of the C call.
    pub fn passed_default(&self) -> String {
        let default = self.default.as_deref().expect("what is left out has a default");
        match self.kind.as_str() {
            _ if default == "{}" => "nullptr".to_owned(),
            _ if self.is_enum => format!("static_cast<{}>({default})", self.c_type),
            "dim" => default.replace("everyDim", "TH_ALL_DIMS"),
            _ => default.to_owned(),
        }
    }
}

/// Returns a type to be followed by a name.
pub fn spaced(c_type: &str) -> String {
    if c_type.ends_with('*') { c_type.to_owned() } else { format!("{c_type} ") }
}

/// A field of the struct that a function with several results returns.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Field {
    pub class: &'static str,
    pub name: String,
}

impl Field {
    pub fn is_sparse(&self) -> bool {
        self.class == "SparseTensor"
    }
}
