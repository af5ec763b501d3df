//! Operations that access elements by index or mask.

use crate::handles::{Outcome, Tensor, done};
use crate::json::{int, list, nested, number};
use crate::tensors;
use crate::world::{Operation, result};
use serde_json::Value;
use std::ffi::{c_int, c_void};
use thorn::dtype::TH_INT64;
use thorn::ops::index::scatter::{TH_REDUCE_ADD, TH_REDUCE_MULTIPLY, THReduce};

/// An int64 tensor of positions.
fn positions(data: &Value) -> Outcome<Tensor> {
    let (numbers, shape) = nested(data);
    let numbers: Vec<i64> = numbers.iter().map(|&x| x as i64).collect();
    let data = numbers.as_ptr().cast::<c_void>();
    Tensor::made(c!(tensors::newFromData(TH_INT64, shape.len() as c_int, shape.as_ptr(), data)))
}

fn dim(operation: &Value) -> c_int {
    int(&operation["dim"]) as c_int
}

/// The reduction that combines elements, if there is one.
fn reduce(operation: &Value) -> Option<THReduce> {
    Some(match operation.get("reduce")?.as_str()? {
        "add" => TH_REDUCE_ADD,
        "multiply" => TH_REDUCE_MULTIPLY,
        other => panic!("{other} is no reduction"),
    })
}

pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "index_select" => |w, o| {
            let index = positions(&o["index"])?;
            result(c!(tensors::new()), |r| c!(tensors::indexSelect(r, w.it(o), dim(o), index.0)))
        },
        "index_add" => |w, o| done(c!(tensors::indexAdd(w.it(o), dim(o), positions(&o["index"])?.0, w.tensor(o, "src").0))),
        "index_copy" => |w, o| done(c!(tensors::indexCopy(w.it(o), dim(o), positions(&o["index"])?.0, w.tensor(o, "src").0))),
        "index_fill" => |w, o| done(c!(tensors::indexFill(w.it(o), dim(o), positions(&o["index"])?.0, number(&o["value"])))),
        "index_put" => |w, o| {
            let indices = list(&o["indices"]).iter().map(positions).collect::<Outcome<Vec<Tensor>>>()?;
            let handles: Vec<_> = indices.iter().map(|index| index.0).collect();
            let accumulate = c_int::from(o["accumulate"].as_bool().unwrap_or(false));
            done(c!(tensors::indexPut(w.it(o), handles.as_ptr(), handles.len() as c_int, w.tensor(o, "src").0, accumulate)))
        },
        "gather" => |w, o| {
            let index = positions(&o["index"])?;
            result(c!(tensors::new()), |r| c!(tensors::gather(r, w.it(o), dim(o), index.0)))
        },
        "put" => |w, o| {
            let accumulate = c_int::from(o["accumulate"].as_bool().unwrap_or(false));
            done(c!(tensors::put(w.it(o), positions(&o["index"])?.0, w.tensor(o, "src").0, accumulate)))
        },
        "scatter" => |w, o| {
            let (index, src) = (positions(&o["index"])?, w.tensor(o, "src").0);
            done(match reduce(o) {
                None => c!(tensors::scatter(w.it(o), dim(o), index.0, src)),
                Some(mode) => c!(tensors::scatterMode(w.it(o), dim(o), index.0, src, mode)),
            })
        },
        "scatter_add" => |w, o| done(c!(tensors::scatterAdd(w.it(o), dim(o), positions(&o["index"])?.0, w.tensor(o, "src").0))),
        "scatter_value" => |w, o| {
            let (index, value) = (positions(&o["index"])?, number(&o["value"]));
            done(match reduce(o) {
                None => c!(tensors::scatterFill(w.it(o), dim(o), index.0, value)),
                Some(mode) => c!(tensors::scatterFillMode(w.it(o), dim(o), index.0, value, mode)),
            })
        },
        "masked_copy" => |w, o| done(c!(tensors::maskedCopy(w.it(o), w.tensor(o, "mask").0, w.tensor(o, "src").0))),
        "masked_select" => |w, o| result(c!(tensors::new()), |r| c!(tensors::maskedSelect(r, w.it(o), w.tensor(o, "mask").0))),
        "nonzero" => |w, o| result(c!(tensors::new()), |r| c!(tensors::nonzero(r, w.it(o)))),
        _ => return None,
    })
}
