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

/// Returns the names of the arguments that an operator writes to: the statistics of batch normalization in training.
pub fn statistics(node: &Node) -> &'static [&'static str] {
    let trains = |(name, argument): &(String, Argument)| name == "training" && !matches!(argument, Argument::Bool(Symbolic::Number(false)));
    match &*operator_name(&node.target) {
        "batch_norm" | "native_batch_norm" | "_native_batch_norm_legit" if node.inputs.iter().any(trains) => {
            &["running_mean", "running_var"]
        }
        "instance_norm" => &["running_mean", "running_var"],
        _ => &[],
    }
}

/// Returns true for the name of an operator that writes to its first argument: `add_.Tensor`, `__iand__.Tensor`, but not `__and__.Tensor`.
pub fn in_place(name: &str) -> bool {
    let base = name.split('.').next().unwrap_or_default();
    base.ends_with('_') && (!base.ends_with("__") || base.starts_with("__i"))
}

/// Returns true for an operator that writes to an operand.
pub fn writes(node: &Node) -> bool {
    let name = operator_name(&node.target);
    in_place(&name) && !matches!(&*name, "detach_" | "dropout_" | "lift_fresh_")
}
