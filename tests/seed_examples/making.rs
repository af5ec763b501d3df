//! Operations that make tensors and storages.

use crate::handles::{Outcome, Storage, Tensor, Thing, done};
use crate::json::{dtype, int, ints, list, nested, number};
use crate::world::{Operation, result, storage, tensor};
use crate::{storages, tensors};
use serde_json::Value;
use std::ffi::c_int;
use std::ptr::null;
use thorn::capi::by_hand::storages::THStorage_retain;
use thorn::dtype::THDtype;
use thorn::tensor::THTensor;

/// A new tensor of the numbers in a nested list.
fn from_data(dtype: THDtype, data: &Value) -> Outcome {
    let (numbers, shape) = nested(data);
    tensor(c!(tensors::newTo(Tensor::of(&shape, &numbers).0, dtype)))
}

/// A tensor without elements.
fn empty(dtype: THDtype) -> *mut THTensor {
    c!(tensors::newWithSize1d(dtype, 0))
}

pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "empty" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(tensors::newWithSizes(dtype(o), size.len() as c_int, size.as_ptr())))
        },
        "empty_tensor" => |_, o| tensor(empty(dtype(o))),
        "zeros" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(tensors::newZeros(dtype(o), size.len() as c_int, size.as_ptr())))
        },
        "ones" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(tensors::newOnes(dtype(o), size.len() as c_int, size.as_ptr())))
        },
        "full" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(tensors::newFull(dtype(o), size.len() as c_int, size.as_ptr(), number(&o["value"]))))
        },
        "new_like" => |w, o| {
            let (dtype, size) = (c!(tensors::dtype(w.it(o))), ints(&o["size"]));
            tensor(c!(tensors::newFull(dtype, size.len() as c_int, size.as_ptr(), number(&o["value"]))))
        },
        "new_with_size_stride" => |_, o| {
            let (size, stride) = (ints(&o["size"]), ints(&o["stride"]));
            tensor(c!(tensors::newWithSizesStrides(dtype(o), size.len() as c_int, size.as_ptr(), stride.as_ptr())))
        },
        "tensor" => |_, o| from_data(dtype(o), &o["data"]),
        "new_tensor" => |w, o| from_data(c!(tensors::dtype(w.it(o))), &o["data"]),
        "arange" => |_, o| result(empty(dtype(o)), |r| c!(tensors::arange(r, number(&o["start"]), number(&o["end"]), 1.0))),
        "range_inclusive" => |_, o| result(empty(dtype(o)), |r| c!(tensors::range(r, number(&o["start"]), number(&o["end"]), 1.0))),
        "linspace" => |_, o| result(empty(dtype(o)), |r| c!(tensors::linspace(r, number(&o["start"]), number(&o["end"]), int(&o["n"])))),
        "storage_new" => |_, o| match o.get("data") {
            Some(data) => {
                let new = Storage::made(c!(storages::newWithSize(dtype(o), list(data).len() as isize)))?;
                for (i, value) in list(data).iter().enumerate() {
                    done(c!(storages::set(new.0, i as isize, number(value))))?;
                }
                Ok(Some(Thing::Storage(new)))
            }
            None => {
                let new = Storage::made(c!(storages::newWithSize(dtype(o), int(&o["n"]) as isize)))?;
                done(c!(storages::fill(new.0, number(&o["fill"]))))?;
                Ok(Some(Thing::Storage(new)))
            }
        },
        "new_with_storage" => |w, o| {
            let store = w.storage(o, "storage");
            let Some(size) = o.get("size").map(ints) else { return tensor(c!(tensors::newWithStorage(store, 0, -1, null(), null()))) };
            let offset = o.get("offset").map_or(0, int) as isize;
            tensor(c!(tensors::newWithStorage(store, offset, size.len() as c_int, size.as_ptr(), null())))
        },
        "storage" => |w, o| {
            let store = w.tensor(o, "self").storage();
            c!(THStorage_retain(store));
            storage(store)
        },
        "alias" => |w, o| tensor(c!(tensors::newWithTensor(w.it(o)))),
        "clone" => |w, o| tensor(c!(tensors::newClone(w.it(o)))),
        "contiguous" => |w, o| tensor(c!(tensors::newContiguous(w.it(o)))),
        "to" => |w, o| tensor(c!(tensors::newTo(w.it(o), dtype(o)))),
        _ => return None,
    })
}
