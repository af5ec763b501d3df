//! Exported programs: the graph of a model, its inputs and outputs, and the ranges of its symbolic sizes.
//!
//! `torch.export.save` of PyTorch writes an archive with a graph in JSON, weights and constants. [`read_program`](crate::read_program)
//! returns the graph as data, next to the [`Contents`](crate::Contents) of the archive, whose tensors are the weights and constants. Values
//! of a graph are referred to by name. Nothing is executed, and no operator is known here.
//!
//! A program that is returned has been checked. Every value is defined once and before its use, in its part of the graph. Inputs and
//! outputs of the graph have as many roles. The tensor of each parameter, buffer and constant exists, with the dtype and the sizes of the
//! graph, or its elements cannot be read. A parameter may be the role of several inputs.
//!
//! Source: `torch/_export/serde/schema.py` and `torch/export/pt2_archive` of PyTorch, schema versions 8 (PyTorch 2.6) to 8.20 (2.15).

/// An exported program.
#[derive(Debug)]
pub struct Program {
    /// The graph. Its inputs are described by `inputs`, in the same order, and its outputs by `outputs`.
    pub graph: Graph,
    /// The role of each input of the graph.
    pub inputs: Vec<Input>,
    /// The role of each output of the graph.
    pub outputs: Vec<Output>,
    /// The path to each result for the caller in the nested value that the model returns: `logits`, `states.0`. Empty if unknown.
    pub output_names: Vec<String>,
    /// The ranges of symbols and of expressions of symbols.
    pub ranges: Vec<Range>,
}

/// The role of an input of the graph.
#[derive(Debug, PartialEq)]
pub enum Input {
    /// An argument of the caller.
    User,
    /// The parameter with this name.
    Parameter(String),
    /// The buffer with this name.
    Buffer {
        /// The name.
        name: String,
        /// False for a buffer that a state dict lacks. Its elements are among the constants.
        persistent: bool,
    },
    /// The constant tensor with this name.
    Constant(String),
    /// An argument of the caller that had this value at export, and must have the same value.
    Fixed(Argument),
    /// A role without a meaning for tensors: the name of the role in the file, such as `token`.
    Other(String),
}

/// The role of an output of the graph.
#[derive(Debug, PartialEq)]
pub enum Output {
    /// A result for the caller. The loss of a program with a loss is a result, too.
    User,
    /// The new elements of the buffer or parameter with this name.
    Mutation(String),
    /// The new elements of the user input with this name in the graph.
    InputMutation(String),
    /// A role without a meaning here: the name of the role in the file, such as `token` or `gradient_to_parameter`.
    Other(String),
}

/// The range of a symbol, or of an expression of symbols.
#[derive(Debug, PartialEq)]
pub struct Range {
    /// The text of the symbol or expression: `s0`, `2*s0`.
    pub symbol: String,
    /// The smallest value, unless there is no bound.
    pub min: Option<i64>,
    /// The largest value, unless there is no bound.
    pub max: Option<i64>,
}

/// A graph, or a part of a graph that a control-flow operator runs.
#[derive(Debug, PartialEq)]
pub struct Graph {
    /// The inputs: arguments that refer to a value, or constants.
    pub inputs: Vec<Argument>,
    /// The outputs.
    pub outputs: Vec<Argument>,
    /// The nodes, in the order in which they run.
    pub nodes: Vec<Node>,
    /// The properties of each tensor by its name, sorted by name.
    pub tensors: Vec<(String, Meta)>,
}

/// A call of an operator.
#[derive(Debug, PartialEq)]
pub struct Node {
    /// The name of the operator: `torch.ops.aten.add.Tensor`, `_operator.mul`.
    pub target: String,
    /// The arguments by the names in the operator's schema. Arguments with the default value are missing. A name may be empty.
    pub inputs: Vec<(String, Argument)>,
    /// The results. A list of results is one argument, [`Argument::Tensors`].
    pub outputs: Vec<Argument>,
    /// The last line of the stack trace that names a line of the model's source: empty if there is none.
    pub source: String,
}

/// The properties of a tensor at export.
#[derive(Debug, PartialEq)]
pub struct Meta {
    /// The dtype: the number of `ScalarType` in the schema, 7 for float32.
    pub dtype: i64,
    /// The sizes.
    pub sizes: Vec<Size>,
    /// True if the tensor requires a gradient.
    pub requires_grad: bool,
}

/// A size of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum Size {
    /// A number.
    Int(i64),
    /// An expression of symbols, as the file has it: `s0`, or `Mul(Integer(2), Symbol('s0', positive=True, integer=True))`.
    Expression(String),
}

/// A number of an argument: a constant, or the value with a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Symbolic<T> {
    /// A constant.
    Number(T),
    /// The value with this name.
    Name(String),
}

/// An argument or result of a node.
#[derive(Debug, PartialEq)]
pub enum Argument {
    /// Nothing.
    None,
    /// The tensor with this name.
    Tensor(String),
    /// A list of tensors, by name. An entry may be missing.
    Tensors(Vec<Option<String>>),
    /// An integer.
    Int(Symbolic<i64>),
    /// A list of integers.
    Ints(Vec<Symbolic<i64>>),
    /// A float.
    Float(Symbolic<f64>),
    /// A list of floats.
    Floats(Vec<Symbolic<f64>>),
    /// A truth value.
    Bool(Symbolic<bool>),
    /// A list of truth values.
    Bools(Vec<bool>),
    /// A text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A dtype: the number of `ScalarType` in the schema.
    Dtype(i64),
    /// A memory format: the number of `MemoryFormat` in the schema.
    MemoryFormat(i64),
    /// A layout: the number of `Layout` in the schema.
    Layout(i64),
    /// A device: its type, such as `cpu`, and its index.
    Device(String, Option<i64>),
    /// A part of the graph: its name and the graph.
    Graph(String, Box<Graph>),
    /// An argument that cannot be read: its kind in the file, such as `as_custom_obj`.
    Other(String),
}
