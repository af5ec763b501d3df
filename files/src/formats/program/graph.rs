//! The graph of an exported program in JSON.

use super::json::{Json, Value};
use super::names;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::grow;
use crate::program::{Argument, Graph, Input, Meta, Node, Output, Program, Range, Size, Symbolic};
use crate::tensor::MAX_DIMS;

/// The version of the schema that is read. A different number is an incompatible schema.
const MAJOR: i64 = 8;

/// A reader of graphs.
pub struct Reader<'b> {
    /// The memory that is left.
    pub budget: &'b mut Budget,
}

impl Reader<'_> {
    /// Returns the program that a file describes.
    pub fn program(&mut self, json: &Json<'_>) -> Result<Program> {
        let version = json.get("schema_version")?;
        let (major, minor) = (version.get("major")?.int()?, version.get("minor")?.int()?);
        if major != MAJOR {
            return Err(Error::unsupported(format_args!("the schema has the version {major}.{minor}, and {MAJOR} is read")));
        }
        let module = json.get("graph_module")?;
        let graph = self.graph(module.get("graph")?)?;
        let signature = module.get("signature")?;
        let inputs = self.list(signature.get("input_specs")?, Reader::input)?;
        let outputs = self.list(signature.get("output_specs")?, Reader::output)?;
        same_names("inputs", &graph.inputs, &inputs)?;
        same_names("outputs", &graph.outputs, &outputs)?;
        let mut ranges = Vec::new();
        for (symbol, range) in json.get("range_constraints")?.object()? {
            let range = Range {
                symbol: self.text(symbol)?,
                min: bound(range.find("min_val")?, f64::NEG_INFINITY)?,
                max: bound(range.find("max_val")?, f64::INFINITY)?,
            };
            self.budget.push(&mut ranges, range)?;
        }
        Ok(Program {
            graph,
            inputs: self.roles(inputs)?,
            outputs: self.roles(outputs)?,
            output_names: names::outputs(json, self.budget)?,
            ranges,
        })
    }

    /// Returns the roles without the names.
    fn roles<T>(&mut self, named: Vec<(T, Option<Argument>)>) -> Result<Vec<T>> {
        let mut roles = Vec::new();
        self.budget.reserve(&mut roles, named.len())?;
        roles.extend(named.into_iter().map(|(role, _)| role));
        Ok(roles)
    }

    /// Returns the role of an input of the graph, and the input if the role has it.
    fn input(&mut self, json: &Json<'_>) -> Result<(Input, Option<Argument>)> {
        let (kind, spec) = json.union()?;
        let role = match kind {
            "user_input" => return Ok((Input::User, Some(self.argument(spec.get("arg")?)?))),
            "constant_input" => return Ok((Input::Fixed(self.argument(spec.get("value")?)?), None)),
            "parameter" => Input::Parameter(self.named(spec, "parameter_name")?),
            "buffer" => Input::Buffer { name: self.named(spec, "buffer_name")?, persistent: spec.get("persistent")?.bool()? },
            "tensor_constant" => Input::Constant(self.named(spec, "tensor_constant_name")?),
            other => return Ok((Input::Other(self.text(other)?), None)),
        };
        Ok((role, Some(self.tensor(spec.get("arg")?)?)))
    }

    /// Returns the role of an output of the graph, and the output if the role has it.
    fn output(&mut self, json: &Json<'_>) -> Result<(Output, Option<Argument>)> {
        let (kind, spec) = json.union()?;
        let role = match kind {
            "user_output" => return Ok((Output::User, Some(self.argument(spec.get("arg")?)?))),
            "loss_output" => Output::User,
            "buffer_mutation" => Output::Mutation(self.named(spec, "buffer_name")?),
            "parameter_mutation" => Output::Mutation(self.named(spec, "parameter_name")?),
            "user_input_mutation" => Output::InputMutation(self.named(spec, "user_input_name")?),
            other => return Ok((Output::Other(self.text(other)?), None)),
        };
        Ok((role, Some(self.tensor(spec.get("arg")?)?)))
    }

    fn graph(&mut self, json: &Json<'_>) -> Result<Graph> {
        let inputs = self.list(json.get("inputs")?, Reader::argument)?;
        let outputs = self.list(json.get("outputs")?, Reader::argument)?;
        let nodes = self.list(json.get("nodes")?, Reader::node)?;
        let values = json.get("tensor_values")?;
        let mut tensors = Vec::new();
        for (name, meta) in values.object()? {
            let entry = (self.text(name)?, self.meta(meta)?);
            self.budget.push(&mut tensors, entry)?;
        }
        tensors.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        if let Some(pair) = tensors.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::format(values.at, format_args!("the tensor '{}' is described twice", pair[0].0)));
        }
        Ok(Graph { inputs, outputs, nodes, tensors })
    }

    fn node(&mut self, json: &Json<'_>) -> Result<Node> {
        let target = self.named(json, "target")?;
        let inputs =
            self.list(json.get("inputs")?, |reader, input| Ok((reader.named(input, "name")?, reader.argument(input.get("arg")?)?)))?;
        let outputs = self.list(json.get("outputs")?, Reader::argument)?;
        let trace = match json.find("metadata")? {
            Some(metadata) => metadata.find("stack_trace")?,
            None => None,
        };
        let source = match trace {
            Some(trace) => self.text(source(trace.text()?))?,
            None => String::new(),
        };
        Ok(Node { target, inputs, outputs, source })
    }

    fn meta(&mut self, json: &Json<'_>) -> Result<Meta> {
        let sizes = json.get("sizes")?;
        if sizes.list()?.len() > MAX_DIMS {
            return Err(Error::format(sizes.at, format_args!("there are more than {MAX_DIMS} sizes")));
        }
        Ok(Meta {
            dtype: json.get("dtype")?.int()?,
            sizes: self.list(sizes, Reader::size)?,
            requires_grad: json.get("requires_grad")?.bool()?,
        })
    }

    fn size(&mut self, json: &Json<'_>) -> Result<Size> {
        match json.union()? {
            ("as_expr", expression) => Ok(Size::Expression(self.named(expression, "expr_str")?)),
            ("as_int", size) => match size.int()? {
                size if size >= 0 => Ok(Size::Int(size)),
                size => Err(Error::format(json.at, format_args!("size {size} is negative"))),
            },
            _ => Err(json.error("a size")),
        }
    }

    fn argument(&mut self, json: &Json<'_>) -> Result<Argument> {
        let (kind, value) = json.union()?;
        Ok(match kind {
            "as_none" => Argument::None,
            "as_tensor" => self.tensor(value)?,
            "as_tensors" => Argument::Tensors(self.list(value, |reader, tensor| reader.named(tensor, "name").map(Some))?),
            "as_optional_tensor" => match self.optional(value)? {
                Some(name) => Argument::Tensor(name),
                None => Argument::None,
            },
            "as_optional_tensors" => Argument::Tensors(self.list(value, Reader::optional)?),
            "as_int" => Argument::Int(Symbolic::Number(value.int()?)),
            "as_ints" => Argument::Ints(self.list(value, |_, int| int.int().map(Symbolic::Number))?),
            "as_sym_int" => Argument::Int(self.symbolic(value, "as_int", Json::int)?),
            "as_sym_ints" => Argument::Ints(self.list(value, |reader, int| reader.symbolic(int, "as_int", Json::int))?),
            "as_float" => Argument::Float(Symbolic::Number(value.float()?)),
            "as_floats" => Argument::Floats(self.list(value, |_, float| float.float().map(Symbolic::Number))?),
            "as_sym_float" => Argument::Float(self.symbolic(value, "as_float", Json::float)?),
            "as_sym_floats" => Argument::Floats(self.list(value, |reader, float| reader.symbolic(float, "as_float", Json::float))?),
            "as_bool" => Argument::Bool(Symbolic::Number(value.bool()?)),
            "as_bools" => Argument::Bools(self.list(value, |_, bool| bool.bool())?),
            "as_sym_bools" if value.list()?.iter().all(|bool| bool.find("as_name").is_ok_and(|name| name.is_none())) => {
                Argument::Bools(self.list(value, |_, bool| bool.get("as_bool")?.bool())?)
            }
            "as_sym_bool" => Argument::Bool(self.symbolic(value, "as_bool", Json::bool)?),
            "as_string" => Argument::Text(self.text(value.text()?)?),
            "as_strings" => Argument::Texts(self.list(value, |reader, text| reader.text(text.text()?))?),
            "as_scalar_type" => Argument::Dtype(value.int()?),
            "as_memory_format" => Argument::MemoryFormat(value.int()?),
            "as_layout" => Argument::Layout(value.int()?),
            "as_device" => {
                let index = value.find("index")?.map(Json::int).transpose()?;
                Argument::Device(self.named(value, "type")?, index)
            }
            "as_graph" => {
                let name = self.named(value, "name")?;
                self.budget.take(size_of::<Graph>())?;
                Argument::Graph(name, Box::new(self.graph(value.get("graph")?)?))
            }
            other => Argument::Other(self.text(other)?),
        })
    }

    /// Returns the tensor with the key `name`.
    fn tensor(&mut self, json: &Json<'_>) -> Result<Argument> {
        Ok(Argument::Tensor(self.named(json, "name")?))
    }

    /// Returns the name of a tensor that may be missing.
    fn optional(&mut self, json: &Json<'_>) -> Result<Option<String>> {
        match json.union()? {
            ("as_tensor", tensor) => self.named(tensor, "name").map(Some),
            ("as_none", _) => Ok(None),
            _ => Err(json.error("a tensor or none")),
        }
    }

    /// Returns the constant under the key `key`, or the name of a value.
    fn symbolic<'j, T>(&mut self, json: &Json<'j>, key: &str, constant: fn(&Json<'j>) -> Result<T>) -> Result<Symbolic<T>> {
        match json.union()? {
            ("as_name", name) => Ok(Symbolic::Name(self.text(name.text()?)?)),
            (other, value) if other == key => Ok(Symbolic::Number(constant(value)?)),
            _ => Err(json.error("a number or a name")),
        }
    }

    /// Returns the text under a key.
    fn named(&mut self, json: &Json<'_>, key: &str) -> Result<String> {
        self.text(json.get(key)?.text()?)
    }

    /// Returns a copy of a text.
    pub fn text(&mut self, text: &str) -> Result<String> {
        self.budget.take(text.len())?;
        grow::text(&[text])
    }

    fn list<T>(&mut self, json: &Json<'_>, mut item: impl FnMut(&mut Self, &Json<'_>) -> Result<T>) -> Result<Vec<T>> {
        let items = json.list()?;
        let mut list = Vec::new();
        self.budget.reserve(&mut list, items.len())?;
        for json in items {
            list.push(item(self, json)?);
        }
        Ok(list)
    }
}

/// Checks that there is one role for each input or output, and that the roles have the same names.
fn same_names<T>(what: &str, values: &[Argument], roles: &[(T, Option<Argument>)]) -> Result<()> {
    if values.len() != roles.len() {
        return Err(Error::broken(format_args!("the graph has {} {what}, and the signature describes {}", values.len(), roles.len())));
    }
    let differs = |(value, (_, role)): &(&Argument, &(T, Option<Argument>))| role.as_ref().is_some_and(|role| !role.is_same(value));
    match values.iter().zip(roles).position(|pair| differs(&pair)) {
        Some(index) => Err(Error::broken(format_args!("number {index} of the graph's {what} differs from the one in the signature"))),
        None => Ok(()),
    }
}

impl Argument {
    /// Returns true if the arguments are equal, or both are NaN.
    fn is_same(&self, other: &Argument) -> bool {
        let is_nan = |argument: &Argument| matches!(argument, Argument::Float(Symbolic::Number(number)) if number.is_nan());
        self == other || is_nan(self) && is_nan(other)
    }
}

/// Returns a bound of a range. `infinite` is the bound of a range without a bound.
fn bound(json: Option<&Json<'_>>, infinite: f64) -> Result<Option<i64>> {
    match json {
        None => Ok(None),
        // Integers that exceed an `i64` are floats here.
        Some(Json { value: Value::Float(float), .. }) if float.is_sign_negative() == infinite.is_sign_negative() => Ok(None),
        Some(json) => json.int().map(Some),
    }
}

/// Returns the last line of a stack trace that names a line outside PyTorch, or the last line that names a line of PyTorch.
fn source(trace: &str) -> &str {
    let mut found = "";
    let mut is_own = false;
    for line in trace.lines().map(str::trim).filter(|line| line.starts_with("File \"")) {
        let of_torch = line.contains("/site-packages/torch/") || line.starts_with("File \"torch/");
        if !of_torch || !is_own {
            (found, is_own) = (line, !of_torch);
        }
    }
    found
}
