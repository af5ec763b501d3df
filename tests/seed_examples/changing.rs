//! Operations that change or read existing tensors, or compute from them.

use crate::handles::{Thing, asked, done};
use crate::json::{int, ints, number, text};
use crate::world::{Operation, result};
use crate::{storages, tensors};
use std::ffi::c_int;
use std::ptr::null;

pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "fill" => |w, o| done(c!(tensors::fill(w.it(o), number(&o["value"])))),
        "zero" => |w, o| done(c!(tensors::zero(w.it(o)))),
        "set_at" => |w, o| {
            let index = ints(&o["index"]);
            done(c!(tensors::setAt(w.it(o), index.len() as c_int, index.as_ptr(), number(&o["value"]))))
        },
        "set_storage" => |w, o| {
            let (size, stride) = (ints(&o["size"]), o.get("stride").map(ints));
            let stride = stride.as_ref().map_or(null(), |stride| stride.as_ptr());
            let offset = int(&o["offset"]) as isize;
            done(c!(tensors::setStorage(w.it(o), w.storage(o, "storage"), offset, size.len() as c_int, size.as_ptr(), stride)))
        },
        "set_tensor" => |w, o| done(c!(tensors::set(w.it(o), w.tensor(o, "src").0))),
        "resize" => |w, o| {
            let size = ints(&o["args"]);
            done(c!(tensors::resize(w.it(o), size.len() as c_int, size.as_ptr(), null())))
        },
        "storage_set" => |w, o| done(c!(storages::set(w.storage(o, "self"), int(&o["index"]) as isize, number(&o["value"])))),
        "storage_fill_iota" => |w, o| {
            let store = w.storage(o, "self");
            for i in 0..c!(storages::size(store)) {
                done(c!(storages::set(store, i, number(&o["start"]) + i as f64)))?;
            }
            Ok(None)
        },
        // Through the pointer, as float64.
        "data_write" => |w, o| {
            let data = c!(tensors::data(w.it(o))).cast::<f64>();
            for i in 0..int(&o["n"]) as usize {
                // SAFETY: the example names as many elements as the tensor has, and they are contiguous.
                unsafe { data.add(i).write(number(&o["value"])) }
            }
            Ok(None)
        },
        "copy" => |w, o| done(c!(tensors::copy(w.it(o), w.tensor(o, "src").0))),
        "masked_fill" => |w, o| done(c!(tensors::maskedFill(w.it(o), w.tensor(o, "mask").0, number(&o["value"])))),
        "cmp_scalar" => |w, o| {
            let (t, value) = (w.it(o), number(&o["value"]));
            result(c!(tensors::new()), |r| match text(o, "cmp") {
                "lt" => c!(tensors::ltValue(r, t, value)),
                "le" => c!(tensors::leValue(r, t, value)),
                "eq" => c!(tensors::eqValue(r, t, value)),
                other => panic!("{other} is no comparison"),
            })
        },
        "sum" => |w, o| {
            let mut sum = 0.0;
            asked(|| sum = c!(tensors::sumall(w.it(o))))?;
            Ok(Some(Thing::Number(sum)))
        },
        "item" => |w, o| asked(|| _ = c!(tensors::item(w.it(o)))),
        "get_device" => |w, o| asked(|| _ = c!(tensors::getDevice(w.it(o)))),
        _ => return None,
    })
}
