//! The parts of a graph that are computed once, when the program is opened: values that depend on parameters and constants only, and batch
//! normalizations after convolutions, whose factors become part of the weights.
//!
//! A program runs the graph with folded values until the caller receives a parameter or a buffer, and can change it.

use super::node::{changes, has_parts, operator_name, statistics};
use super::signature::Signature;
use crate::device::{self, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{self, Scope};
use crate::layout::Dims;
use crate::tensor::Tensor;
use std::collections::HashSet;
use thorn_files::program::{Argument, Graph, Input, Node, Program, Symbolic};

/// Operators whose results differ from run to run.
const RANDOM: &[&str] = &["rand", "bernoulli", "multinomial", "dropout", "native_dropout", "alpha_dropout", "feature_dropout", "normal"];

/// The largest size in bytes of a folded value that is no view of a parameter.
const LARGEST: i64 = 1 << 20;

/// The plan for a graph.
pub struct Folds<'a> {
    /// The names of values that are written to, that a run changes at its end, or that the caller receives.
    kept: HashSet<&'a str>,
    /// The convolutions that absorb a batch normalization, by the index of the node, in order.
    convolutions: Vec<Convolution<'a>>,
    /// The parameters, buffers and constants, followed by folded values.
    pub shared: Vec<Tensor>,
    /// The dtype of floats at export and the dtype that replaces it.
    pub converted: Option<(Dtype, Dtype)>,
}

/// A convolution and the batch normalization after it.
pub struct Convolution<'a> {
    /// The indices of both nodes.
    node: usize,
    normalization: usize,
    /// The name of the result.
    pub result: &'a Argument,
    /// The indices of the new weight and bias in `shared`.
    pub weight: u32,
    pub bias: u32,
}

impl<'a> Folds<'a> {
    /// Returns a plan without convolutions.
    pub fn new(graph: &'a Graph, shared: Vec<Tensor>, converted: Option<(Dtype, Dtype)>) -> Folds<'a> {
        Folds { kept: kept(graph), convolutions: Vec::new(), shared, converted }
    }

    /// Returns the plan for the graph of a program.
    pub fn of(program: &'a Program, signature: &Signature, shared: &[Tensor], converted: Option<(Dtype, Dtype)>) -> Result<Folds<'a>> {
        let graph = &program.graph;
        let mut folds = Folds::new(graph, shared.to_vec(), converted);
        let mut owned = Vec::new();
        for (input, argument) in program.inputs.iter().zip(&graph.inputs) {
            let (Argument::Tensor(name), false) = (argument, matches!(input, Input::User | Input::Fixed(_) | Input::Other(_))) else {
                continue;
            };
            if !folds.kept.contains(name.as_str()) && !signature.changes(owned.len()) {
                owned.push((name.as_str(), Some(owned.len())));
            } else {
                folds.kept.insert(name);
                owned.push((name.as_str(), None));
            }
        }
        let find = |name: &str| owned.iter().find(|(known, _)| *known == name).and_then(|(_, index)| *index);
        let uses = |name: &str| {
            let reads = |node: &Node| node.inputs.iter().filter(|(_, argument)| refers(argument, |known| known == name)).count();
            graph.nodes.iter().map(reads).sum::<usize>()
                + graph.outputs.iter().filter(|output| refers(output, |known| known == name)).count()
        };
        for (k, node) in graph.nodes.iter().enumerate() {
            let Some(found) = Found::of(graph, node, &find, &uses) else { continue };
            let Some(at) = graph.nodes[k + 1..].iter().position(|other| std::ptr::eq(other, found.normalization)) else { continue };
            let Some((weight, bias)) = found.folded(&folds.shared)? else { continue };
            let index = folds.shared.len() as u32;
            folds.shared.extend([weight, bias]);
            let result = &found.normalization.outputs[0];
            folds.convolutions.push(Convolution { node: k, normalization: k + 1 + at, result, weight: index, bias: index + 1 });
        }
        Ok(folds)
    }

    /// Returns the folded convolution of a node.
    pub fn convolution(&self, node: usize) -> Option<&Convolution<'a>> {
        self.convolutions.iter().find(|convolution| convolution.node == node)
    }

    /// Returns true for a batch normalization that a convolution has absorbed.
    pub fn is_absorbed(&self, node: usize) -> bool {
        self.convolutions.iter().any(|convolution| convolution.normalization == node)
    }

    /// Returns true if the results of a node may be computed once, provided that its arguments are constants.
    pub fn may_fold(&self, node: &Node) -> bool {
        let name = operator_name(&node.target);
        let base = name.split('.').next().unwrap_or_default();
        let is_random = RANDOM.iter().any(|random| base.starts_with(random));
        let given = node.inputs.iter().map(|(_, argument)| argument);
        let is_kept = node.outputs.iter().chain(given).any(|argument| refers(argument, |name| self.kept.contains(name)));
        !is_random && !is_kept && !changes(node) && !has_parts(node) && !name.starts_with("_assert")
    }

    /// Returns true if a folded value is worth its memory.
    pub fn is_worth(&self, t: &Tensor) -> bool {
        let is_view = self.shared.iter().any(|other| other.storage_address() == t.storage_address());
        let bytes = t.storage().map_or(0, |storage| storage.bytes() as i64);
        is_view || bytes <= LARGEST
    }
}

/// Returns the names of values that are written to or returned, and of values that they may share elements with.
fn kept(graph: &Graph) -> HashSet<&str> {
    let mut kept = HashSet::new();
    for output in &graph.outputs {
        tensors(output, &mut kept);
    }
    for node in graph.nodes.iter().rev() {
        let returns = node.outputs.iter().any(|output| refers(output, |name| kept.contains(name)));
        statistics(node).for_each(|argument| tensors(argument, &mut kept));
        if changes(node) || returns {
            // Results share elements with the first argument, or with any argument that a part of the graph receives.
            let sources = if has_parts(node) { node.inputs.len() } else { 1 };
            node.inputs.iter().take(sources).for_each(|(_, argument)| tensors(argument, &mut kept));
        }
    }
    kept
}

fn tensors<'a>(argument: &'a Argument, names: &mut HashSet<&'a str>) {
    match argument {
        Argument::Tensor(name) => {
            names.insert(name);
        }
        Argument::Tensors(list) => names.extend(list.iter().flatten().map(String::as_str)),
        _ => {}
    }
}

/// Returns true if an argument has a tensor whose name `f` accepts.
fn refers(argument: &Argument, f: impl Fn(&str) -> bool) -> bool {
    match argument {
        Argument::Tensor(name) => f(name),
        Argument::Tensors(list) => list.iter().flatten().any(|name| f(name)),
        _ => false,
    }
}

/// The operands of a convolution and of the batch normalization after it, as indices of `shared`.
struct Found<'a> {
    normalization: &'a Node,
    weight: usize,
    bias: Option<usize>,
    scale: Option<usize>,
    shift: Option<usize>,
    mean: usize,
    variance: usize,
    eps: f64,
}

impl<'a> Found<'a> {
    fn of(graph: &'a Graph, node: &'a Node, find: &dyn Fn(&str) -> Option<usize>, uses: &dyn Fn(&str) -> usize) -> Option<Found<'a>> {
        let name = operator_name(&node.target);
        let is_plain = matches!(&*name, "conv1d" | "conv2d" | "conv3d")
            || (name == "convolution" && matches!(given(node, "transposed"), Some(Argument::Bool(Symbolic::Number(false)))));
        let [Argument::Tensor(result)] = &node.outputs[..] else { return None };
        if !is_plain || uses(result) != 1 {
            return None;
        }
        let reads = |other: &&Node| matches!(given(other, "input"), Some(Argument::Tensor(name)) if name == result);
        let normalization = graph.nodes.iter().find(reads)?;
        let trains = match &*operator_name(&normalization.target) {
            "batch_norm" => !matches!(given(normalization, "training"), Some(Argument::Bool(Symbolic::Number(false)))),
            "_native_batch_norm_legit_no_training" => false,
            _ => return None,
        };
        let unused = |output: &Argument| !matches!(output, Argument::Tensor(name) if uses(name) > 0);
        if trains
            || !normalization.outputs.iter().skip(1).all(unused)
            || !matches!(normalization.outputs.first(), Some(Argument::Tensor(_)))
        {
            return None;
        }
        // The outer `None`: an operand that is no unchanged parameter or buffer.
        let owned = |node: &Node, name: &str| match given(node, name) {
            None | Some(Argument::None) => Some(None),
            Some(Argument::Tensor(name)) => find(name).map(Some),
            Some(_) => None,
        };
        let eps = match given(normalization, "eps") {
            Some(Argument::Float(Symbolic::Number(eps))) => *eps,
            _ => return None,
        };
        Some(Found {
            normalization,
            weight: owned(node, "weight")??,
            bias: owned(node, "bias")?,
            scale: owned(normalization, "weight")?,
            shift: owned(normalization, "bias")?,
            mean: owned(normalization, "running_mean")??,
            variance: owned(normalization, "running_var")??,
            eps,
        })
    }

    /// Returns the weight and the bias of the convolution that computes both steps. `None` for 16-bit floats, which would lose digits.
    fn folded(&self, shared: &[Tensor]) -> Result<Option<(Tensor, Tensor)>> {
        let weight = &shared[self.weight];
        if !weight.dtype().is_some_and(|dtype| dtype.is_float() && dtype.compute() == dtype) {
            return Ok(None);
        }
        let _there = device::is_used().then(|| DeviceGuard::on(weight.device()));
        let scope = Scope::new(false);
        let value = |index: usize| scope.value(shared[index].clone());
        // y = (conv(x) + bias - mean) * factor + shift, with factor = scale / sqrt(variance + eps).
        let mut factor = expr::rsqrt(value(self.variance) + self.eps);
        if let Some(scale) = self.scale {
            factor = factor * value(scale);
        }
        let mut bias = -value(self.mean);
        if let Some(given) = self.bias {
            bias = bias + value(given);
        }
        bias = bias * factor;
        if let Some(shift) = self.shift {
            bias = bias + value(shift);
        }
        let w = value(self.weight);
        let mut shape = Dims::filled(1, w.ndim());
        shape[0] = -1;
        let w = w * expr::reshape(factor, &shape);
        scope.finish()?;
        match (w.tensor(), bias.tensor()) {
            (Some(w), Some(bias)) if w.dtype() == weight.dtype() && bias.dtype() == weight.dtype() => Ok(Some((w, bias))),
            (Some(_), Some(_)) => Ok(None),
            _ => bail!(Internal, "a formula has no result"),
        }
    }
}

/// Returns the argument of a node with a name.
fn given<'a>(node: &'a Node, name: &str) -> Option<&'a Argument> {
    node.inputs.iter().find(|(known, _)| known == name).map(|(_, argument)| argument)
}
