//! Rows of a table by index.

use super::index::select;
use super::loss::made;
use super::result::deliver;
use super::view;
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::tensor::Tensor;

/// `r[..i.., :] = weight[index[..i..], :]`; `padding` is a row that has no gradient, or -1
pub fn embedding(r: &Tensor, weight: &Tensor, index: &Tensor, padding: i64) -> Result<()> {
    let (table, places) = (weight.layout()?.shape, index.layout()?.shape);
    let [rows, columns] = table.as_slice() else { bail!(Shape, "a table of shape {:?}, expected rows and columns", table.as_slice()) };
    if !(-1..*rows).contains(&padding) {
        bail!(Argument, "paddingIdx {padding} is none of {rows} rows, nor -1")
    }
    let taken = made(|r| select::index_select(r, weight, 0, &view::reshape(index, &[-1])?))?;
    let shape: Dims = places.iter().chain([columns]).copied().collect();
    deliver([Some((r, weight.defined()?, &view::reshape(&taken, &shape)?))])
}
