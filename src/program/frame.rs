//! The state of a run: values, the places that they come from, and the slots that hold them.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::tensor::Tensor;
use std::sync::Arc;

/// A part of a graph that a control-flow operator runs.
pub trait Part: Send + Sync {
    /// Runs the part with these inputs. Returns its outputs.
    fn run_part(&self, outer: &Frame<'_>, inputs: &mut dyn Iterator<Item = Item>) -> Result<Vec<Item>>;

    /// Calls `f` with the operator of each step and the functions that compute it, also in parts of the part.
    fn visit(&self, f: &mut dyn FnMut(&str, &str));
}

/// The value of an argument or a result.
#[derive(Clone)]
pub enum Item {
    None,
    Tensor(Tensor),
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(Arc<str>),
    Dtype(Dtype),
    List(Vec<Item>),
    /// A part of the graph, for control flow.
    Code(Arc<dyn Part>),
}

/// The place of a value.
#[derive(Clone)]
pub enum Place {
    /// A constant of the graph.
    Constant(Item),
    /// The value of this slot of the run.
    Slot(u32),
    /// The parameter, buffer or constant tensor with this index.
    Shared(u32),
    /// A list.
    List(Vec<Place>),
}

impl Item {
    /// Returns the number, if the value is one. A truth value counts as 0 or 1.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Item::Int(x) => Some(x as f64),
            Item::Float(x) => Some(x),
            Item::Bool(x) => Some(f64::from(u8::from(x))),
            _ => None,
        }
    }

    /// Returns the integer, if the value is one, or a truth value.
    pub fn int(&self) -> Option<i64> {
        match *self {
            Item::Int(x) => Some(x),
            Item::Bool(x) => Some(i64::from(x)),
            _ => None,
        }
    }

    /// Names the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Item::None => "nothing",
            Item::Tensor(_) => "a tensor",
            Item::Int(_) => "an integer",
            Item::Float(_) => "a float",
            Item::Bool(_) => "a truth value",
            Item::Text(_) => "a text",
            Item::Dtype(_) => "a dtype",
            Item::List(_) => "a list",
            Item::Code(_) => "a graph",
        }
    }
}

impl Place {
    /// Calls `f` with every slot that the value depends on.
    pub fn slots(&self, f: &mut impl FnMut(u32)) {
        match self {
            Place::Slot(slot) => f(*slot),
            Place::List(places) => places.iter().for_each(|place| place.slots(f)),
            Place::Constant(_) | Place::Shared(_) => {}
        }
    }
}

/// The values of a run.
pub struct Frame<'a> {
    /// The values of the slots. A slot is empty before its value is computed, and after the last use of the value.
    pub slots: Vec<Item>,
    /// The parameters, buffers and constant tensors of the program.
    pub shared: &'a [Tensor],
    /// The dtype of floats at export and the dtype that replaces it, if the program was converted.
    pub converted: Option<(Dtype, Dtype)>,
    /// True if an elementwise step may overwrite an operand that nothing else uses. False if gradients may be recorded.
    pub reuses: bool,
}

impl Frame<'_> {
    /// Returns the value at a place.
    pub fn item(&self, place: &Place) -> Item {
        match place {
            Place::Constant(item) => item.clone(),
            Place::Slot(slot) => self.slots[*slot as usize].clone(),
            Place::Shared(index) => Item::Tensor(self.shared[*index as usize].clone()),
            Place::List(places) => Item::List(places.iter().map(|place| self.item(place)).collect()),
        }
    }

    fn borrowed<'a>(&'a self, place: &'a Place) -> Option<&'a Item> {
        match place {
            Place::Constant(item) => Some(item),
            Place::Slot(slot) => self.slots.get(*slot as usize),
            Place::Shared(_) | Place::List(_) => None,
        }
    }

    /// Returns the tensor at a place; `None` for a missing one.
    pub fn tensor<'a>(&'a self, place: &'a Place) -> Result<Option<&'a Tensor>> {
        if let Place::Shared(index) = place {
            return Ok(self.shared.get(*index as usize));
        }
        match self.borrowed(place) {
            Some(Item::Tensor(t)) => Ok(Some(t)),
            Some(Item::None) => Ok(None),
            other => bail!(Argument, "{} where a tensor is expected", other.map_or("a list", Item::kind)),
        }
    }

    /// Returns the number at a place.
    pub fn number(&self, place: &Place) -> Result<f64> {
        match self.borrowed(place) {
            Some(item) if item.number().is_some() => Ok(item.number().unwrap_or_default()),
            other => bail!(Argument, "{} where a number is expected", other.map_or("a tensor", Item::kind)),
        }
    }

    /// Returns the integer at a place.
    pub fn int(&self, place: &Place) -> Result<i64> {
        match self.borrowed(place) {
            Some(item) if item.int().is_some() => Ok(item.int().unwrap_or_default()),
            other => bail!(Argument, "{} where an integer is expected", other.map_or("a tensor", Item::kind)),
        }
    }

    /// Returns the dtype that replaces a dtype of the graph.
    pub fn dtype(&self, dtype: Dtype) -> Dtype {
        match self.converted {
            Some((from, to)) if from == dtype => to,
            _ => dtype,
        }
    }
}

/// Returns the value of a default, or of a constant among the arguments of a function.
pub fn constant(text: &str) -> Item {
    let number = |text: &str| match text.parse::<i64>() {
        Ok(x) => Item::Int(x),
        Err(_) => text.parse().map_or_else(|_| Item::Text(text.into()), Item::Float),
    };
    match text {
        "None" | "-" => Item::None,
        "True" => Item::Bool(true),
        "False" => Item::Bool(false),
        "[]" => Item::List(Vec::new()),
        _ if text.contains(',') => Item::List(text.split(',').map(number).collect()),
        _ => number(text),
    }
}
