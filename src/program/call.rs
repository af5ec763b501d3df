//! The arguments of an operator that a Rust function implements.

use super::direct::invoke;
use super::frame::{Frame, Item, Part};
use crate::api::word::ToWord;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{Scope, Value, names};
use crate::layout::Dims;
use crate::mode;
use crate::tensor::Tensor;

/// A call. Arguments are numbered in the order of the schema.
pub struct Call<'a> {
    pub arguments: &'a [Item],
    pub frame: &'a Frame<'a>,
    pub scope: Scope,
    /// The number of results that the graph uses.
    pub results: usize,
}

impl<'a> Call<'a> {
    pub fn new(arguments: &'a [Item], frame: &'a Frame<'a>, results: usize) -> Call<'a> {
        Call { arguments, frame, scope: Scope::new(mode::flags() != 0), results }
    }

    #[cold]
    #[inline(never)]
    fn mismatch<T>(&self, k: usize, what: &str) -> Result<T> {
        bail!(Argument, "argument {k} is {}, expected {what}", self.arguments.get(k).map_or("missing", Item::kind))
    }

    /// Returns the argument `k`, a tensor.
    #[inline(never)]
    pub fn tensor(&self, k: usize) -> Result<&Tensor> {
        match &self.arguments[k] {
            Item::Tensor(t) => Ok(t),
            _ => self.mismatch(k, "a tensor"),
        }
    }

    /// Returns the argument `k`, a tensor, as a value of a formula.
    #[inline(never)]
    pub fn value(&self, k: usize) -> Result<Value<'_>> {
        Ok(self.scope.value(self.tensor(k)?.clone()))
    }

    /// [`Call::value`], or `None` for a missing tensor.
    #[inline(never)]
    pub fn optional(&self, k: usize) -> Result<Option<Value<'_>>> {
        match &self.arguments[k] {
            Item::None => Ok(None),
            _ => self.value(k).map(Some),
        }
    }

    /// Returns the integer `k`.
    #[inline(never)]
    pub fn int(&self, k: usize) -> Result<i64> {
        match self.arguments[k].int() {
            Some(x) => Ok(x),
            None => self.mismatch(k, "an integer"),
        }
    }

    /// Returns the dimension `k`, which fits into 32 bits.
    #[inline(never)]
    pub fn dim(&self, k: usize) -> Result<i32> {
        let x = self.int(k)?;
        x.try_into().or_else(|_| self.mismatch(k, &format!("a dimension, and {x} is none")))
    }

    /// Returns the number `k`.
    #[inline(never)]
    pub fn number(&self, k: usize) -> Result<f64> {
        match self.arguments[k].number() {
            Some(x) => Ok(x),
            None => self.mismatch(k, "a number"),
        }
    }

    /// Returns the number `k`, or `None` for a missing one.
    #[inline(never)]
    pub fn optional_number(&self, k: usize) -> Result<Option<f64>> {
        if let Item::None = self.arguments[k] { Ok(None) } else { self.number(k).map(Some) }
    }

    /// Returns the truth value `k`.
    #[inline(never)]
    pub fn flag(&self, k: usize) -> Result<bool> {
        self.int(k).map(|x| x != 0)
    }

    /// Returns the text `k`.
    #[inline(never)]
    pub fn text(&self, k: usize) -> Result<&str> {
        match &self.arguments[k] {
            Item::Text(text) => Ok(text),
            _ => self.mismatch(k, "a text"),
        }
    }

    /// Returns the dtype `k`, or `None` for a missing one.
    #[inline(never)]
    pub fn dtype(&self, k: usize) -> Result<Option<Dtype>> {
        match &self.arguments[k] {
            Item::None => Ok(None),
            Item::Dtype(dtype) => Ok(Some(self.frame.dtype(*dtype))),
            _ => self.mismatch(k, "a dtype"),
        }
    }

    /// Returns the list `k`.
    #[inline(never)]
    pub fn list(&self, k: usize) -> Result<&[Item]> {
        match &self.arguments[k] {
            Item::List(items) => Ok(items),
            _ => self.mismatch(k, "a list"),
        }
    }

    /// Returns the list of integers `k`. A single integer is a list of one.
    #[inline(never)]
    pub fn ints(&self, k: usize) -> Result<Dims> {
        if let Some(x) = self.arguments[k].int() {
            return Ok([x].as_slice().into());
        }
        let mut ints = Dims::new();
        for item in self.list(k)? {
            match item.int() {
                Some(x) => ints.push(x),
                None => return self.mismatch(k, "a list of integers"),
            }
        }
        Ok(ints)
    }

    /// [`Call::ints`], or `None` for a missing or an empty list.
    #[inline(never)]
    pub fn optional_ints(&self, k: usize) -> Result<Option<Dims>> {
        if let Item::None = self.arguments[k] { Ok(None) } else { self.ints(k).map(|ints| Some(ints).filter(|ints| !ints.is_empty())) }
    }

    /// Returns the list of tensors `k`, some of which may be missing.
    #[inline(never)]
    pub fn values(&self, k: usize) -> Result<Vec<Option<Value<'_>>>> {
        let items = self.list(k)?;
        crate::alloc::list(items.len(), |i| match &items[i] {
            Item::Tensor(t) => Ok(Some(self.scope.value(t.clone()))),
            Item::None => Ok(None),
            _ => self.mismatch(k, "a list of tensors"),
        })
    }

    /// Returns the list of tensors `k`.
    #[inline(never)]
    pub fn all_values(&self, k: usize) -> Result<Vec<Value<'_>>> {
        let values = self.values(k)?;
        crate::alloc::list(values.len(), |i| values[i].map_or_else(|| self.mismatch(k, "a list of tensors"), Ok))
    }

    /// Returns the graph `k`.
    pub fn code(&self, k: usize) -> Result<&dyn Part> {
        match &self.arguments[k] {
            Item::Code(code) => Ok(&**code),
            _ => self.mismatch(k, "a graph"),
        }
    }

    /// Returns the result of a formula. Fails if the formula has failed.
    #[inline(never)]
    pub fn done(&self, value: Value<'_>) -> Result<Item> {
        self.scope.finish()?;
        match value.tensor() {
            Some(t) => Ok(Item::Tensor(t)),
            None => bail!(Internal, "a formula has no result"),
        }
    }

    /// Returns several results of a formula.
    #[inline(never)]
    pub fn done_all(&self, values: &[Value<'_>]) -> Result<Item> {
        self.scope.finish()?;
        let item = |value: &Value<'_>| value.tensor().map_or(Item::None, Item::Tensor);
        Ok(Item::List(values.iter().map(item).collect()))
    }
}

/// `t = src`, converted and expanded, in the memory of `t`.
pub fn copy(t: &Tensor, src: &Tensor) -> Result<()> {
    // thorn's copy counts elements, and PyTorch's copy broadcasts.
    let scope = Scope::new(mode::flags() != 0);
    let shape = t.layout()?.shape;
    let src = scope.value(src.clone());
    let from = if src.shape() == shape { src } else { crate::expr::expand(src, &shape) };
    scope.finish()?;
    match from.tensor() {
        Some(from) => invoke(&names::copy::FUNCTION, &[t.as_ptr().word(), from.as_ptr().word()]).map(drop),
        None => bail!(Internal, "a formula has no result"),
    }
}

/// Writes a number to all elements of `t`.
pub fn fill(t: &Tensor, value: f64) -> Result<()> {
    invoke(&names::fill::FUNCTION, &[t.as_ptr().word(), value.word()]).map(drop)
}

/// Makes `r` a view of the whole of `t`.
pub fn view(r: &Tensor, t: &Tensor) -> Result<()> {
    invoke(&names::viewAs::FUNCTION, &[r.as_ptr().word(), t.as_ptr().word(), t.as_ptr().word()]).map(drop)
}
