//! Sparse tensors in pickles: a layout, the parts, and sizes.

use super::tensor::{Found, Storages, no_tensor, numbers};
use crate::budget::Budget;
use crate::contents::Contents;
use crate::error::Result;
use crate::grow;
use crate::pickle::{Pickle, Value};
use crate::sparse::{Form, Sparse};
use crate::tensor::{Data, Tensor, row_major_strides};

/// The supported layouts, the forms of their positions, and the numbers of their parts.
const LAYOUTS: [(&[u8], Form, usize); 3] =
    [(b"torch.sparse_coo", Form::Coordinates, 2), (b"torch.sparse_csr", Form::Rows, 3), (b"torch.sparse_csc", Form::Columns, 3)];

impl Storages<'_> {
    /// Returns the sparse tensor with the arguments `[layout, parts]`. The parts of a tensor of coordinates are indices, values, sizes and,
    /// since 2.1, a bool that is true for coalesced entries. Other tensors have the starts of rows or columns, positions within them,
    /// values and sizes.
    pub(super) fn sparse(&mut self, pickle: &Pickle, args: [Value; 2], to: &mut Contents, budget: &mut Budget) -> Result<Found> {
        let layout = layout(pickle, args[0]);
        let Some(&(_, form, count)) = LAYOUTS.iter().find(|(name, ..)| *name == layout) else {
            let sizes = pickle.items(args[1]).get(3).map_or(Ok(None), |&sizes| numbers(pickle, sizes))?;
            let layout = String::from_utf8_lossy(&layout[..layout.len().min(32)]);
            return Ok(no_tensor(format!("it is sparse, of the layout '{layout}'"), sizes.unwrap_or_default()));
        };
        let items = pickle.items(args[1]);
        let sizes = items.get(count).map_or(Ok(None), |&sizes| numbers(pickle, sizes))?;
        let Some(sizes) = sizes else { return Ok(no_tensor("it is sparse, and its sizes are not integers".to_owned(), Vec::new())) };
        budget.take(3 * size_of::<Sparse>() + count * size_of::<Tensor>())?;
        let mut parts = grow::list(count)?;
        for &item in &items[..count] {
            let found = match pickle.object(item) {
                Some(object) => self.made(pickle, object, to, budget, false)?,
                None => None,
            };
            let Some(Found { sizes: part, strides, offset, data }) = found else {
                return Ok(no_tensor("it is sparse, and one of its parts is no tensor".to_owned(), sizes));
            };
            if let Some(why) = data.refusal() {
                return Ok(no_tensor(format!("it is sparse, and of one of its parts, {why}"), sizes));
            }
            budget.take(2 * size_of_val(part.as_slice()))?;
            let strides = strides.map_or_else(|| row_major_strides(&part), Ok)?;
            parts.push(Tensor { name: String::new(), sizes: part, strides, offset, data });
        }
        if form != Form::Coordinates && parts.iter().any(|part| part.sizes.len() != 1) {
            return Ok(no_tensor("it is sparse, a batch of matrices or a matrix of blocks".to_owned(), sizes));
        }
        let coalesced = items.get(count + 1) == Some(&Value::Bool(true));
        grow::push(&mut to.sparse, Sparse { form, parts, coalesced })?;
        Ok(Found { sizes, strides: None, offset: 0, data: Data::Sparse(to.sparse.len() - 1) })
    }
}

/// Returns the name of a layout; empty for other values.
fn layout(pickle: &Pickle, value: Value) -> &[u8] {
    let Some(object) = pickle.object(value) else { return b"" };
    match (object.class, pickle.items(object.args)) {
        (Value::Global(class), &[Value::Text(name)]) if pickle.global(class) == (b"torch.serialization", b"_get_layout") => {
            pickle.text(name)
        }
        _ => b"",
    }
}
