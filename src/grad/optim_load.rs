//! Loading the hyperparameters and the state of an optimizer from an archive.
//!
//! Everything is read and checked before the optimizer changes. Errors name the entry of the archive.

use crate::alloc;
use crate::error::{Kind, Result, bail};
use crate::files::Reading;
use crate::ops::copy;
use crate::ops::optim::{Field, Group, Lbfgs, LbfgsMemory, LbfgsState, Loaded, MASTER, Memory, Optimizer, Pair, Rule, Slot, flat, like};
use crate::tensor::Tensor;
use std::collections::VecDeque;
use std::fmt::{Arguments, Display};

/// An entry of an archive.
#[derive(Clone, Copy)]
enum Entry<'a> {
    /// The tensor with this index.
    Tensor(i64),
    /// A number or text.
    Text(&'a str),
}

/// The entries of a state dict by their paths, sorted.
struct Source<'a> {
    reading: &'a Reading,
    /// The path to the state dict.
    name: &'a str,
    entries: Vec<(&'a str, Entry<'a>)>,
}

/// The names in the state of L-BFGS.
const OF_LBFGS: [&str; 11] =
    ["func_evals", "n_iter", "d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss", "al"];

impl<'a> Source<'a> {
    fn new(reading: &'a Reading, name: &'a str) -> Result<Source<'a>> {
        let within = |path: &'a str| match name {
            "" => Some(path),
            _ => path.strip_prefix(name)?.strip_prefix('.'),
        };
        let tensors = (0..reading.count()).map(|k| Ok((reading.name(k)?.to_str().unwrap_or("?"), Entry::Tensor(k))));
        let texts = (0..reading.keys()).map(|k| {
            let (key, text) = reading.metadata(k)?;
            Ok((key.to_str().unwrap_or("?"), Entry::Text(text.to_str().unwrap_or("?"))))
        });
        let mut entries = Vec::new();
        for entry in tensors.chain(texts) {
            let (path, entry) = entry?;
            if let Some(path) = within(path) {
                if entries.try_reserve(1).is_err() {
                    bail!(NoMem, "out of memory for the entries of an archive")
                }
                entries.push((path, entry));
            }
        }
        entries.sort_unstable_by_key(|&(path, _)| path);
        let source = Source { reading, name, entries };
        match source.entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => source.wrong(pair[0].0, format_args!("is there twice")),
            None => Ok(source),
        }
    }

    /// Fails with a message about an entry.
    #[cold]
    fn wrong<T>(&self, path: impl Display, what: Arguments<'_>) -> Result<T> {
        let dot = if self.name.is_empty() { "" } else { "." };
        Err(self.reading.error(Kind::Format, format_args!("entry '{}{dot}{path}' {what}", self.name)))
    }

    /// Returns an entry; `None` if there is none.
    fn find(&self, path: &str) -> Option<Entry<'a>> {
        self.entries.binary_search_by(|(known, _)| (*known).cmp(path)).ok().map(|at| self.entries[at].1)
    }

    /// Returns the rests of the paths that begin with `path` and a dot.
    fn below(&self, path: &str) -> impl Iterator<Item = &'a str> {
        let rest = move |known: &'a str| known.strip_prefix(path)?.strip_prefix('.');
        let first = self.entries.partition_point(|(known, _)| *known < path);
        // Characters before the dot, such as a space, sort between the path and its items.
        let among = self.entries[first..].iter().take_while(move |(known, _)| known.starts_with(path));
        among.filter_map(move |(known, _)| rest(known))
    }

    /// Returns a number, which may be the element of a tensor; `None` if there is no entry.
    fn optional_number(&self, path: &str) -> Result<Option<f64>> {
        match self.find(path) {
            None => Ok(None),
            Some(Entry::Text("true")) => Ok(Some(1.0)),
            Some(Entry::Text("false")) => Ok(Some(0.0)),
            Some(Entry::Text(text)) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => self.wrong(path, format_args!("is '{text}', expected a number")),
            },
            Some(Entry::Tensor(index)) => {
                let sizes = self.reading.sizes(index)?;
                if sizes.iter().any(|&size| size != 1) {
                    return self.wrong(path, format_args!("has sizes {sizes:?}, expected one number"));
                }
                copy::item(&self.reading.tensor(index)?).map(|number| Some(number.to_f64()))
            }
        }
    }

    fn number(&self, path: &str) -> Result<f64> {
        match self.optional_number(path)? {
            Some(number) => Ok(number),
            None => self.wrong(path, format_args!("is missing")),
        }
    }

    /// Returns a whole number from 0 to `most`.
    fn count(&self, path: &str, most: i64) -> Result<i64> {
        let number = self.number(path)?;
        if number.trunc() != number || !(0.0..=most as f64).contains(&number) {
            return self.wrong(path, format_args!("is {number}, expected a whole number from 0 to {most}"));
        }
        Ok(number as i64)
    }

    /// Returns a tensor like `p` with the elements of an entry; `None` if there is no entry.
    fn optional_tensor(&self, path: &str, p: &Tensor) -> Result<Option<Tensor>> {
        let index = match self.find(path) {
            None => return Ok(None),
            Some(Entry::Text(text)) => return self.wrong(path, format_args!("is '{text}', expected a tensor")),
            Some(Entry::Tensor(index)) => index,
        };
        let (sizes, shape) = (self.reading.sizes(index)?, p.layout()?.shape);
        if sizes != shape.as_slice() {
            return self.wrong(path, format_args!("has sizes {sizes:?}, and the parameter has {:?}", shape.as_slice()));
        }
        let dtype = self.reading.dtype(index)?;
        if !dtype.is_float() {
            return self.wrong(path, format_args!("has dtype {dtype}, expected floats"));
        }
        like(p, &self.reading.tensor(index)?).map(Some)
    }

    fn tensor(&self, path: &str, p: &Tensor) -> Result<Tensor> {
        match self.optional_tensor(path, p)? {
            Some(t) => Ok(t),
            None => self.wrong(path, format_args!("is missing")),
        }
    }

    /// Replaces the hyperparameters of a group.
    fn hyperparameters(&self, path: &str, group: &mut Group) -> Result<()> {
        group.each(&mut |name, field| {
            let (name, word) = name.torch.split_once('=').map_or((name.torch, None), |(name, word)| (name, Some(word)));
            let path = format!("{path}.{}", name.trim_end_matches('?'));
            let value = match (&field, word) {
                (Field::Optional(_), _) => self.optional_number(&path)?.unwrap_or(-1.0),
                (Field::Flag(_), Some(word)) => match self.find(&path) {
                    None => 0.0,
                    Some(Entry::Text(text)) if text == word => 1.0,
                    _ => return self.wrong(&path, format_args!("is not '{word}'")),
                },
                (Field::Flag(flag), None) => self.optional_number(&path)?.unwrap_or(f64::from(u8::from(**flag))),
                _ => self.number(&path)?,
            };
            field.set(name, value).or_else(|error| self.wrong(&path, format_args!("does not fit: {error}")))
        })?;
        group.check().or_else(|error| self.wrong(path, format_args!("does not fit: {error}")))
    }

    /// Returns the numbers of a group's parameters in the file.
    fn numbers(&self, path: &str, count: usize) -> Result<Vec<&'a str>> {
        let path = format!("{path}.params");
        let numbers = match self.find(&path) {
            // The reader returns a long list as one text.
            Some(Entry::Text(text)) => {
                let items = || text.trim_matches(['[', ']']).split(", ");
                alloc::collect(items().count(), items().map(Ok))?
            }
            _ => {
                let count = self.below(&path).count();
                let found = (0..count).map(|k| match self.find(&format!("{path}.{k}")) {
                    Some(Entry::Text(text)) => Ok(text),
                    _ => self.wrong(format_args!("{path}.{k}"), format_args!("is missing")),
                });
                alloc::collect(count, found)?
            }
        };
        if numbers.len() != count {
            return self.wrong(&path, format_args!("has {} parameters, and the group of the optimizer has {count}", numbers.len()));
        }
        Ok(numbers)
    }

    /// Returns the state of a parameter.
    fn memory(&self, path: &str, p: &Tensor, group: &Group) -> Result<Memory> {
        let (rule, dtype) = (&group.rule, group.state_dtype(p)?);
        let has_master = dtype != p.defined()?;
        let name_of = |rest: &'a str| rest.split('.').next().unwrap_or_default();
        let is_known = |name: &str| match name {
            "step" => true,
            "mu_product" => rule.has_product(),
            MASTER => has_master,
            _ => rule.slots().iter().any(|(known, _)| *known == name),
        };
        if let Some(unknown) = self.below(path).map(name_of).find(|name| !is_known(name)) {
            return self.wrong(format_args!("{path}.{unknown}"), format_args!("is no state of {}", rule.name()));
        }
        let steps = if rule.counts_steps() { self.count(&format!("{path}.step"), i32::MAX.into())? } else { 0 };
        let product = if rule.has_product() { Some(self.number(&format!("{path}.mu_product"))?) } else { None };
        let mut memory = Memory::new(steps as i32, product);
        for &(name, slot) in rule.slots() {
            let (path, zeros) = (format!("{path}.{name}"), rule.zeros(slot, p, dtype)?);
            if rule.needs(slot, p.layout()?.shape.len()) {
                memory.set(slot, self.tensor(&path, &zeros)?);
            } else if let Some(t) = self.optional_tensor(&path, &zeros)? {
                memory.set(slot, t);
            }
        }
        if has_master && let Some(t) = self.optional_tensor(&format!("{path}.{MASTER}"), &rule.zeros(Slot::Master, p, dtype)?)? {
            memory.set(Slot::Master, t);
        }
        Ok(memory)
    }

    /// Returns the state of L-BFGS. `params` are the parameters.
    fn lbfgs(&self, path: &str, params: &[Tensor], options: &Lbfgs) -> Result<LbfgsState> {
        let unknown = self.below(path).find(|rest| !OF_LBFGS.contains(&rest.split('.').next().unwrap_or_default()));
        if let Some(unknown) = unknown {
            return self.wrong(format_args!("{path}.{unknown}"), format_args!("is no state of L-BFGS"));
        }
        let at = |name: &str| format!("{path}.{name}");
        let (evaluations, iterations) = (self.count(&at("func_evals"), 1 << 53)?, self.count(&at("n_iter"), 1 << 53)?);
        if iterations == 0 {
            return Ok(LbfgsState { evaluations, iterations, memory: None });
        }
        let whole = flat(params)?;
        let count = self.below(&at("ro")).count();
        for name in ["old_dirs", "old_stps"] {
            let other = self.below(&at(name)).count();
            if other != count {
                return self.wrong(at(name), format_args!("has {other} entries, and '{}' has {count}", at("ro")));
            }
        }
        let mut pairs = VecDeque::new();
        if pairs.try_reserve(count).is_err() {
            bail!(NoMem, "out of memory for {count} pairs of L-BFGS")
        }
        for k in count.saturating_sub(usize::try_from(options.history).unwrap_or(usize::MAX))..count {
            let item = |name: &str| format!("{path}.{name}.{k}");
            let (change, step) = (self.tensor(&item("old_dirs"), &whole)?, self.tensor(&item("old_stps"), &whole)?);
            pairs.push_back(Pair { step, change, inverse: self.number(&item("ro"))? });
        }
        let memory = LbfgsMemory {
            direction: self.tensor(&at("d"), &whole)?,
            length: self.number(&at("t"))?,
            pairs,
            scale: self.number(&at("H_diag"))?,
            gradient: self.tensor(&at("prev_flat_grad"), &whole)?,
            loss: self.number(&at("prev_loss"))?,
        };
        Ok(LbfgsState { evaluations, iterations, memory: Some(memory) })
    }

    /// Returns the hyperparameters of all groups, and the numbers of all parameters in the file.
    fn groups(&self, optimizer: &Optimizer) -> Result<(Vec<Group>, Vec<&'a str>)> {
        let known = optimizer.groups();
        for rest in self.below("param_groups") {
            let number = rest.split('.').next().unwrap_or_default();
            if number.parse::<usize>().map_or(true, |number| number >= known.len()) {
                return self
                    .wrong(format_args!("param_groups.{number}"), format_args!("is no group of the optimizer, which has {}", known.len()));
            }
        }
        let mut numbers = alloc::list(0, |_| Ok(""))?;
        if numbers.try_reserve_exact(optimizer.params().len()).is_err() {
            bail!(NoMem, "out of memory for {} parameters", optimizer.params().len())
        }
        let groups = alloc::list(known.len(), |g| {
            let (path, mut group) = (format!("param_groups.{g}"), known[g].clone());
            self.hyperparameters(&path, &mut group)?;
            numbers.extend(self.numbers(&path, group.end - numbers.len())?);
            Ok(group)
        })?;
        Ok((groups, numbers))
    }
}

/// Reads the hyperparameters and the state of an optimizer from an archive's entry `name`.
pub fn load(optimizer: &mut Optimizer, reading: &Reading, name: &str) -> Result<()> {
    let source = Source::new(reading, name)?;
    let (groups, numbers) = source.groups(optimizer)?;
    let mut sorted = alloc::list(numbers.len(), |k| Ok((numbers[k], k)))?;
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return source.wrong("param_groups", format_args!("has the parameter {} twice", pair[0].0));
    }
    let mut has_state = alloc::list(numbers.len(), |_| Ok(false))?;
    for rest in source.below("state") {
        let number = rest.split('.').next().unwrap_or_default();
        match sorted.binary_search_by_key(&number, |&(known, _)| known) {
            Ok(at) => has_state[sorted[at].1] = true,
            Err(_) => return source.wrong(format_args!("state.{rest}"), format_args!("is the state of no parameter")),
        }
    }
    let mut lbfgs = LbfgsState::default();
    let params = optimizer.params();
    let memories = alloc::list(params.len(), |k| {
        let group = &groups[groups.partition_point(|group| group.end <= k)];
        let path = format!("state.{}", numbers[k]);
        match &group.rule {
            _ if !has_state[k] => return Ok(Memory::default()),
            Rule::Lbfgs(options) if k == 0 => lbfgs = source.lbfgs(&path, params, options)?,
            Rule::Lbfgs(_) => return source.wrong(path, format_args!("is no state of L-BFGS, which has one for all parameters")),
            _ => return source.memory(&path, &params[k], group),
        }
        Ok(Memory::default())
    })?;
    optimizer.replace(Loaded { groups, memories, lbfgs })
}
