//! Checks of an exported program: every value is defined once and before its use, and the weights have the dtypes and sizes of the graph.

use crate::budget::Budget;
use crate::contents::Contents;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::formats::torch::{Number, dtype_of_schema as dtype};
use crate::program::{Argument, Graph, Input, Meta, Node, Output, Program, Size, Symbolic};
use crate::tensor::{Data, Tensor};
use std::collections::HashSet;
use std::fmt;

/// Checks a program and its weights.
pub fn check(program: &Program, contents: &Contents, budget: &mut Budget) -> Result<()> {
    graph(&program.graph, budget)?;
    let mut tensors = Vec::new();
    budget.reserve(&mut tensors, contents.tensors.len())?;
    tensors.extend(&contents.tensors);
    tensors.sort_unstable_by(|a: &&Tensor, b| a.name.cmp(&b.name));
    if let Some(pair) = tensors.windows(2).find(|pair| pair[0].name == pair[1].name) {
        return Err(Error::broken(format_args!("the archive has two tensors with the name '{}'", pair[0].name)));
    }
    let (mut names, mut users) = (HashSet::new(), HashSet::new());
    for (role, value) in program.inputs.iter().zip(&program.graph.inputs) {
        let name = match role {
            Input::Parameter(name) | Input::Buffer { name, .. } => {
                insert(&mut names, name, budget)?;
                name
            }
            Input::Constant(name) => name,
            Input::User => {
                value.names(&mut |name| insert(&mut users, name, budget).map(drop))?;
                continue;
            }
            Input::Fixed(_) | Input::Other(_) => continue,
        };
        let Ok(found) = tensors.binary_search_by(|tensor| tensor.name.cmp(name)) else {
            return Err(Error::broken(format_args!("the graph needs the tensor '{name}', which is not in the archive")));
        };
        if let Argument::Tensor(value) = value {
            weight(tensors[found], meta(&program.graph, value), contents)?;
        }
    }
    for role in &program.outputs {
        match role {
            Output::Mutation(name) if !names.contains(&**name) => {
                return Err(Error::broken(format_args!("an output is the new value of '{name}', which is no parameter or buffer")));
            }
            Output::InputMutation(name) if !users.contains(&**name) => {
                return Err(Error::broken(format_args!("an output is the new value of '{name}', which is no input of the caller")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds a name to a set. Returns false if the set has the name.
fn insert<'a>(names: &mut HashSet<&'a str>, name: &'a str, budget: &mut Budget) -> Result<bool> {
    if names.len() == names.capacity() {
        // A table has at most twice as many places as names, and one byte more for each place. The old table is copied to the new one.
        let bytes = 3 * (size_of::<&str>() + 1) * (names.len() + 4);
        budget.take(bytes)?;
        names.try_reserve(1).map_err(|_| Error::memory(bytes as u64))?;
    }
    Ok(names.insert(name))
}

/// Returns the properties of a tensor of a graph.
fn meta<'a>(graph: &'a Graph, name: &str) -> Option<&'a Meta> {
    graph.tensors.binary_search_by(|(other, _)| other.as_str().cmp(name)).ok().map(|index| &graph.tensors[index].1)
}

/// Checks that a tensor of the archive has the dtype and the sizes of an input of the graph.
fn weight(tensor: &Tensor, meta: Option<&Meta>, contents: &Contents) -> Result<()> {
    let wrong = |what: fmt::Arguments<'_>| Err(Error::broken(format_args!("tensor '{}' {what}", tensor.name)));
    let Some(meta) = meta else { return wrong(format_args!("has no properties in the graph")) };
    // Sparse and quantised tensors have their own types. Nothing is known about a tensor that cannot be read.
    let element = match tensor.data {
        Data::Storage(index) => contents.storages.get(index).map(|storage| storage.element),
        Data::Opaque(_) => None,
        Data::Sparse(_) | Data::Refused(_) => return Ok(()),
    };
    let sizes = &tensor.sizes;
    let is_same = |(size, other): (&i64, &Size)| matches!(other, Size::Expression(_)) || *other == Size::Int(*size);
    if sizes.len() != meta.sizes.len() || !sizes.iter().zip(&meta.sizes).all(is_same) {
        return wrong(format_args!("has the sizes {sizes:?} in the archive, and {:?} in the graph", meta.sizes));
    }
    match (element, dtype(meta.dtype)) {
        (Some(element), Some(Number::Read(written))) if written.element() == element => Ok(()),
        (None, Some(Number::Refused(..))) => Ok(()),
        (element, _) => {
            let element = element.map_or("no supported dtype", Element::name);
            wrong(format_args!("has {element} in the archive, and the dtype {} in the graph", meta.dtype))
        }
    }
}

/// Checks that every value of a graph is defined once and before its use.
fn graph(graph: &Graph, budget: &mut Budget) -> Result<()> {
    let mut defined = HashSet::new();
    for input in &graph.inputs {
        input.names(&mut |name| match insert(&mut defined, name, budget)? {
            true => Ok(()),
            false => Err(Error::broken(format_args!("two inputs of the graph have the name '{name}'"))),
        })?;
    }
    for (index, node) in graph.nodes.iter().enumerate() {
        self::node(node, &mut defined, budget).map_err(|error| error.within(format_args!("node {index}, '{}'", node.target)))?;
    }
    for output in &graph.outputs {
        output.names(&mut |name| is_defined(&defined, name).map_err(|error| error.within(format_args!("an output of the graph"))))?;
    }
    Ok(())
}

fn node<'a>(node: &'a Node, defined: &mut HashSet<&'a str>, budget: &mut Budget) -> Result<()> {
    for (_, input) in &node.inputs {
        input.names(&mut |name| is_defined(defined, name))?;
        if let Argument::Graph(name, part) = input {
            graph(part, budget).map_err(|error| error.within(format_args!("graph '{name}'")))?;
        }
    }
    for output in &node.outputs {
        output.names(&mut |name| match insert(defined, name, budget)? {
            true => Ok(()),
            false => Err(Error::broken(format_args!("the result '{name}' has the name of an earlier value"))),
        })?;
    }
    Ok(())
}

fn is_defined(defined: &HashSet<&str>, name: &str) -> Result<()> {
    if defined.contains(name) {
        return Ok(());
    }
    Err(Error::broken(format_args!("the value '{name}' is not defined")))
}

impl Argument {
    /// Calls `visit` with the name of each value to which the argument refers. Values of a part of the graph are not included.
    fn names<'a>(&'a self, visit: &mut dyn FnMut(&'a str) -> Result<()>) -> Result<()> {
        match self {
            Argument::Tensor(name)
            | Argument::Int(Symbolic::Name(name))
            | Argument::Float(Symbolic::Name(name))
            | Argument::Bool(Symbolic::Name(name)) => visit(name),
            Argument::Tensors(names) => names.iter().flatten().try_for_each(|name| visit(name)),
            Argument::Ints(list) => list.iter().filter_map(Symbolic::name).try_for_each(visit),
            Argument::Floats(list) => list.iter().filter_map(Symbolic::name).try_for_each(visit),
            _ => Ok(()),
        }
    }
}

impl<T> Symbolic<T> {
    /// Returns the name of the value; `None` for a constant.
    fn name(&self) -> Option<&str> {
        if let Symbolic::Name(name) = self { Some(name) } else { None }
    }
}
