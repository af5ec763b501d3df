//! Names and properties of the nodes of a graph.

use crate::dtype::Dtype;
use thorn_files::program::{Argument, Node, Symbolic};

/// Returns the dtype with this number of `ScalarType`; `None` for a dtype that thorn lacks.
pub fn dtype(code: i64) -> Option<Dtype> {
    Some(match code {
        1 => Dtype::Uint8,
        2 => Dtype::Int8,
        3 => Dtype::Int16,
        4 => Dtype::Int32,
        5 => Dtype::Int64,
        6 => Dtype::Float16,
        7 => Dtype::Float32,
        8 => Dtype::Float64,
        12 => Dtype::Bool,
        13 => Dtype::Bfloat16,
        _ => return None,
    })
}

/// Returns the name of an operator in the table: `add.Tensor` for `torch.ops.aten.add.Tensor`, without the overload `default`.
pub fn operator_name(target: &str) -> String {
    let name = target.strip_prefix("torch.ops.").unwrap_or(target);
    let name = name.strip_prefix("aten.").unwrap_or(name);
    name.strip_suffix(".default").unwrap_or(name).to_owned()
}

/// Returns the name of the operator that computes the result of an operator in place: `add.Tensor` for `add_.Tensor`.
pub fn functional(name: &str) -> Option<String> {
    let (base, overload) = name.split_once('.').map_or((name, None), |(base, overload)| (base, Some(overload)));
    let base = base.strip_suffix('_').filter(|base| !base.is_empty() && !base.ends_with('_'))?;
    Some(overload.map_or(base.to_owned(), |overload| format!("{base}.{overload}")))
}

/// Returns the running mean and variance that a batch normalization updates in training.
pub fn statistics(node: &Node) -> impl Iterator<Item = &Argument> {
    let trains = |(name, argument): &(String, Argument)| name == "training" && !matches!(argument, Argument::Bool(Symbolic::Number(false)));
    let updates = match &*operator_name(&node.target) {
        "batch_norm" | "native_batch_norm" | "_native_batch_norm_legit" => node.inputs.iter().any(trains),
        "_batch_norm_with_update" => true,
        _ => false,
    };
    let running = |name: &str| matches!(name, "running_mean" | "running_var");
    let given = node.inputs.iter().filter(move |(name, argument)| updates && running(name) && matches!(argument, Argument::Tensor(_)));
    given.map(|(_, argument)| argument)
}

/// Returns true for the name of an operator that writes to its first argument: `add_.Tensor`, `__iand__.Tensor`, but not `__and__.Tensor`.
pub fn in_place(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default();
    base.ends_with('_') && (!base.ends_with("__") || base.starts_with("__i"))
}

/// Returns true if an argument is a part of the graph, which a control-flow operator runs.
pub fn has_parts(node: &Node) -> bool {
    node.inputs.iter().any(|(_, argument)| matches!(argument, Argument::Graph(..)))
}

/// Returns true for an operator that writes to an operand, itself or in a part of the graph.
pub fn changes(node: &Node) -> bool {
    let name = operator_name(&node.target);
    let in_place = in_place(&name) && !matches!(&*name, "detach_" | "dropout_" | "lift_fresh_");
    let part_changes = |(_, argument): &(String, Argument)| match argument {
        Argument::Graph(_, graph) => graph.nodes.iter().any(changes),
        _ => false,
    };
    in_place || statistics(node).next().is_some() || node.inputs.iter().any(part_changes)
}
