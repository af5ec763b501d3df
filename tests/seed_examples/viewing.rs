//! Operations that view a tensor.

use crate::handles::{Outcome, Tensor, Thing, done};
use crate::json::{dtype, int, ints, list};
use crate::tensors;
use crate::world::{Operation, result, tensor};
use serde_json::Value;
use std::ffi::c_int;
use std::ptr::null_mut;
use thorn::error::THStatus;
use thorn::tensor::THTensor;

/// Calls a function that returns a list: first for the count, then for the list.
fn pieces(call: impl Fn(*mut *mut THTensor, *mut c_int) -> THStatus) -> Outcome {
    let mut count = 0;
    done(call(null_mut(), &mut count))?;
    let mut room = vec![null_mut(); count as usize];
    done(call(room.as_mut_ptr(), &mut count))?;
    Ok(Some(Thing::List(room.into_iter().map(Tensor).collect())))
}

/// Torch7's `sub`: ranges from first to last index, both included. Negative indices count from the end.
fn sub(source: *mut THTensor, ranges: &[Value]) -> Outcome {
    let mut part = Tensor::made(c!(tensors::newWithTensor(source)))?;
    for (d, range) in ranges.iter().enumerate() {
        let size = c!(tensors::size(source, d as c_int));
        let (first, last) = (int(&range[0]).rem_euclid(size), int(&range[1]).rem_euclid(size));
        part = Tensor::made(c!(tensors::newNarrow(part.0, d as c_int, first, last - first + 1)))?;
    }
    Ok(Some(Thing::Tensor(part)))
}

pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "narrow" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(tensors::newNarrow(w.it(o), args[0] as c_int, args[1], args[2])))
        },
        "select" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(tensors::newSelect(w.it(o), args[0] as c_int, args[1])))
        },
        "sub" => |w, o| sub(w.it(o), list(&o["args"])),
        "transpose" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(tensors::newTranspose(w.it(o), args[0] as c_int, args[1] as c_int)))
        },
        "t" => |w, o| tensor(c!(tensors::newT(w.it(o)))),
        "permute" => |w, o| {
            let dims = ints(&o["args"]);
            tensor(c!(tensors::newPermute(w.it(o), dims.len() as c_int, dims.as_ptr())))
        },
        "unfold" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(tensors::newUnfold(w.it(o), args[0] as c_int, args[1], args[2])))
        },
        "squeeze" => |w, o| match o.get("args").map(ints) {
            None => tensor(c!(tensors::newSqueeze(w.it(o)))),
            Some(args) => tensor(c!(tensors::newSqueeze1d(w.it(o), args[0] as c_int))),
        },
        "view" => |w, o| {
            let size = ints(&o["args"]);
            tensor(c!(tensors::newView(w.it(o), size.len() as c_int, size.as_ptr())))
        },
        "view_dtype" => |w, o| tensor(c!(tensors::newViewDtype(w.it(o), dtype(o)))),
        "reshape" => |w, o| {
            let size = ints(&o["args"]);
            tensor(c!(tensors::newReshape(w.it(o), size.len() as c_int, size.as_ptr())))
        },
        "expand" => |w, o| {
            let size = ints(&o["args"]);
            tensor(c!(tensors::newExpand(w.it(o), size.len() as c_int, size.as_ptr())))
        },
        "repeat" => |w, o| {
            let times = ints(&o["args"]);
            result(c!(tensors::new()), |r| c!(tensors::repeat(r, w.it(o), times.len() as c_int, times.as_ptr())))
        },
        "split" => |w, o| pieces(|r, count| c!(tensors::split(r, count, w.it(o), int(&o["size"]), int(&o["dim"]) as c_int))),
        "chunk" => |w, o| pieces(|r, count| c!(tensors::chunk(r, count, w.it(o), int(&o["n"]), int(&o["dim"]) as c_int))),
        _ => return None,
    })
}
