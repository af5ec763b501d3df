//! Optimizers.
//!
//! Files of optimizers have the layout of PyTorch's `optimizer.state_dict()`: the state of each parameter by its number, and the
//! hyperparameters of each group with the numbers of its parameters.

use super::optim_load::load;
use crate::alloc;
use crate::api::table::table;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::files::{Reading, TH_FILE_BY_NAME, Writing};
use crate::ops::create;
use crate::ops::optim::{Field, Group, LbfgsState, MASTER, Memory, Optimizer, Rule, Slot};
use crate::tensor::Tensor;
use std::ffi::CStr;
use thorn_files::Nested;

/// The greatest number of steps up to which float32 has all numbers.
const MOST_EXACT: i64 = 1 << 24;

/// The keys and values of a dict.
type Pairs = Vec<(Nested, Nested)>;

/// The tensors to which a nested value refers.
struct Saving(Vec<Tensor>);

impl Saving {
    fn tensor(&mut self, t: Tensor) -> Result<Nested> {
        if self.0.try_reserve(1).is_err() {
            bail!(NoMem, "out of memory for a list of {}", self.0.len() + 1)
        }
        self.0.push(t);
        Ok(Nested::Tensor(self.0.len() - 1))
    }

    /// A 0-d tensor. PyTorch's files have numbers of the state in this form.
    fn number(&mut self, dtype: Dtype, number: f64) -> Result<Nested> {
        self.tensor(create::scalar(dtype, number.into())?)
    }

    /// The state of a parameter.
    fn memory(&mut self, memory: &Memory, rule: &Rule) -> Result<Pairs> {
        let mut pairs = Vec::new();
        if rule.counts_steps() {
            let steps = memory.steps()?;
            let dtype = if steps <= MOST_EXACT { Dtype::Float32 } else { Dtype::Float64 };
            pairs.push((Nested::text("step"), self.number(dtype, steps as f64)?));
        }
        if rule.has_product() {
            pairs.push((Nested::text("mu_product"), self.number(Dtype::Float64, memory.product())?));
        }
        for &(name, slot) in rule.slots().iter().chain(&[(MASTER, Slot::Master)]) {
            if let Some(t) = memory.slot(slot) {
                pairs.push((Nested::text(name), self.tensor(t.clone())?));
            }
        }
        Ok(pairs)
    }

    /// The state of L-BFGS. PyTorch calls steps `old_stps`, changes of the gradient `old_dirs`, and their inverse products `ro`.
    fn lbfgs(&mut self, state: &LbfgsState) -> Result<Pairs> {
        let mut pairs =
            vec![(Nested::text("func_evals"), Nested::Int(state.evaluations)), (Nested::text("n_iter"), Nested::Int(state.iterations))];
        let Some(memory) = &state.memory else { return Ok(pairs) };
        let mut lists = [Vec::new(), Vec::new(), Vec::new()];
        for pair in &memory.pairs {
            lists[0].push(self.tensor(pair.change.clone())?);
            lists[1].push(self.tensor(pair.step.clone())?);
            lists[2].push(self.number(Dtype::Float64, pair.inverse)?);
        }
        pairs.push((Nested::text("d"), self.tensor(memory.direction.clone())?));
        pairs.push((Nested::text("t"), Nested::Float(memory.length)));
        for (name, list) in ["old_dirs", "old_stps", "ro"].into_iter().zip(lists) {
            pairs.push((Nested::text(name), Nested::List(list)));
        }
        pairs.push((Nested::text("H_diag"), self.number(Dtype::Float64, memory.scale)?));
        pairs.push((Nested::text("prev_flat_grad"), self.tensor(memory.gradient.clone())?));
        pairs.push((Nested::text("prev_loss"), Nested::Float(memory.loss)));
        Ok(pairs)
    }
}

/// The hyperparameters of a group.
fn hyperparameters(group: &Group) -> Result<Pairs> {
    let mut pairs: Pairs = Vec::new();
    group.clone().each(&mut |name, field| {
        let (name, only_if_set) = name.torch.strip_suffix('?').map_or((name.torch, false), |name| (name, true));
        if only_if_set && field.get() == 0.0 {
            return Ok(());
        }
        let (name, word) = name.split_once('=').map_or((name, None), |(name, word)| (name, Some(word)));
        let value = match (field, word) {
            (Field::Number(number), _) => Nested::Float(*number),
            (Field::Optional(number), _) => number.map_or(Nested::None, Nested::Float),
            (Field::Count(count), _) => Nested::Int(*count),
            (Field::Flag(flag), Some(word)) => {
                if *flag {
                    Nested::text(word)
                } else {
                    Nested::None
                }
            }
            (Field::Flag(flag), None) => Nested::Bool(*flag),
        };
        let Some((name, item)) = name.split_once('.') else {
            pairs.push((Nested::text(name), value));
            return Ok(());
        };
        match pairs.last_mut() {
            Some((_, Nested::Tuple(items))) if item != "0" => items.push(value),
            _ => pairs.push((Nested::text(name), Nested::Tuple(vec![value]))),
        }
        Ok(())
    })?;
    Ok(pairs)
}

/// Returns `optimizer.state_dict()`, and the tensors to which it refers.
fn state_dict(optimizer: &Optimizer) -> Result<(Vec<Tensor>, Nested)> {
    let (mut to, mut states, mut groups) = (Saving(Vec::new()), Vec::new(), Vec::new());
    let mut first = 0;
    for group in optimizer.groups() {
        for k in first..group.end {
            let memory = &optimizer.memories()[k];
            let state = match group.rule {
                Rule::Lbfgs(_) if k == 0 && optimizer.lbfgs().evaluations > 0 => to.lbfgs(optimizer.lbfgs())?,
                _ if !memory.is_new() => to.memory(memory, &group.rule)?,
                _ => continue,
            };
            states.push((Nested::Int(k as i64), Nested::Dict(state)));
        }
        let mut pairs = hyperparameters(group)?;
        let numbers = (first..group.end).map(|k| Nested::Int(k as i64));
        pairs.push((Nested::text("params"), Nested::List(numbers.collect())));
        groups.push(Nested::Dict(pairs));
        first = group.end;
    }
    let dict = vec![(Nested::text("state"), Nested::Dict(states)), (Nested::text("param_groups"), Nested::List(groups))];
    Ok((to.0, Nested::Dict(dict)))
}

/// Adds `optimizer.state_dict()` to an archive. Without a name, it is the whole file.
fn add(optimizer: &Optimizer, archive: &mut Writing, name: &CStr) -> Result<()> {
    // The nested value is allocated infallibly: it has less than 2 KiB for each parameter, each group and each pair of L-BFGS.
    let pairs = optimizer.lbfgs().memory.as_ref().map_or(0, |memory| memory.pairs.len());
    let set_aside = (64 << 10) + ((optimizer.params().len() + optimizer.groups().len() + pairs) << 11);
    let Some((dict, _)) = alloc::provided(set_aside, || state_dict(optimizer)) else {
        bail!(NoMem, "out of memory: {set_aside} bytes could not be allocated")
    };
    let (tensors, dict) = dict?;
    archive.add_nested(name, &tensors, dict)
}

macro_rules! optim_file_functions {
    ($do:ident) => {
        $do! { "";
            /// Writes the hyperparameters and the state to the file `path`, so that a later run continues with the same bits. The file
            /// name's extension determines the format. A file with the extension `.pt` is a file of `torch.save(optimizer.state_dict(),
            /// path)`, and PyTorch's `optimizer.load_state_dict(torch.load(path))` reads it. Formats without metadata, such as `.npz`, are
            /// refused. The parameters are not in the file.
            THOptim_save(o: optim, path: text) = {
                let mut archive = Writing::create(path, TH_FILE_BY_NAME)?;
                o.with(|optimizer| add(optimizer, &mut archive, c""))?;
                archive.close()
            };
            /// Adds the hyperparameters and the state as the entry `name` to an archive of `THArchive_create`. The archive can also have
            /// tensors and texts of other names. `THOptim_read` reads the entry. A `.pt` file is a file of `torch.save({name:
            /// optimizer.state_dict(), ...}, path)`. `THArchive_close` reads the state, so the caller makes no step before.
            THOptim_add(o: optim, archive: archive, name: text) = {
                if name.is_empty() {
                    bail!(Argument, "the name is empty; THOptim_save writes a file of the optimizer alone")
                }
                o.with(|optimizer| add(optimizer, &mut *archive.writing()?, name))
            };
            /// Reads the hyperparameters and the state from a file that `THOptim_save` or PyTorch wrote. The optimizer must have the same
            /// kind, and the same groups with the same numbers of parameters, in the same order. State tensors are converted to the dtypes
            /// and devices of the parameters. A flag that the file lacks, such as `maximize`, keeps its value. PyTorch's flags `foreach`,
            /// `fused`, `capturable` and `differentiable` are ignored. `TH_ERR_FORMAT` if an entry does not fit, and the message names the
            /// entry.
            THOptim_load(o: optim, path: text) = {
                let reading = Reading::open(path)?;
                o.with(|optimizer| load(optimizer, &reading, ""))
            };
            /// `THOptim_load` from an open archive, whose entry `name` is the state dict: `optimizer` for a file of `torch.save({"model":
            /// ..., "optimizer": optimizer.state_dict()})`. An empty `name` means the whole archive.
            THOptim_read(o: optim, archive: archive, name: text) = {
                let name = name.to_str().unwrap_or("?");
                o.with(|optimizer| load(optimizer, archive.reading()?, name))
            };
        }
    };
}

optim_file_functions!(table);
pub(crate) use optim_file_functions as functions;
