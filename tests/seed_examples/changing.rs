//! Operations that change or read what is there, or compute from it.

use crate::handles::{Thing, asked, done};
use crate::json::{int, ints, number, text};
use crate::world::{Operation, result};
use std::ffi::c_int;
use std::ptr::null;
use thorn::capi::{pointwise::*, reduce::*, storage::*, tensor::*, view::*};

pub fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "fill" => |w, o| done(c!(THTensor_fill(w.it(o), number(&o["value"])))),
        "zero" => |w, o| done(c!(THTensor_zero(w.it(o)))),
        "set_at" => |w, o| {
            let index = ints(&o["index"]);
            done(c!(THTensor_setAt(w.it(o), index.len() as c_int, index.as_ptr(), number(&o["value"]))))
        },
        "set_storage" => |w, o| {
            let (size, stride) = (ints(&o["size"]), o.get("stride").map(ints));
            let stride = stride.as_ref().map_or(null(), |stride| stride.as_ptr());
            let offset = int(&o["offset"]) as isize;
            done(c!(THTensor_setStorage(w.it(o), w.storage(o, "storage"), offset, size.len() as c_int, size.as_ptr(), stride)))
        },
        "set_tensor" => |w, o| done(c!(THTensor_set(w.it(o), w.tensor(o, "src").0))),
        "resize" => |w, o| {
            let size = ints(&o["args"]);
            done(c!(THTensor_resize(w.it(o), size.len() as c_int, size.as_ptr(), null())))
        },
        "storage_set" => |w, o| done(c!(THStorage_set(w.storage(o, "self"), int(&o["index"]) as isize, number(&o["value"])))),
        "storage_fill_iota" => |w, o| {
            let store = w.storage(o, "self");
            for i in 0..c!(THStorage_size(store)) {
                done(c!(THStorage_set(store, i, number(&o["start"]) + i as f64)))?;
            }
            Ok(None)
        },
        // Through the pointer, as float64.
        "data_write" => |w, o| {
            let data = c!(THTensor_data(w.it(o))).cast::<f64>();
            for i in 0..int(&o["n"]) as usize {
                // SAFETY: the example names as many elements as the tensor has, and they are contiguous.
                unsafe { data.add(i).write(number(&o["value"])) }
            }
            Ok(None)
        },
        "copy" => |w, o| done(c!(THTensor_copy(w.it(o), w.tensor(o, "src").0))),
        "masked_fill" => |w, o| done(c!(THTensor_maskedFill(w.it(o), w.tensor(o, "mask").0, number(&o["value"])))),
        "cmp_scalar" => |w, o| {
            let (t, value) = (w.it(o), number(&o["value"]));
            result(c!(THTensor_new()), |r| match text(o, "cmp") {
                "lt" => c!(THTensor_ltValue(r, t, value)),
                "le" => c!(THTensor_leValue(r, t, value)),
                "eq" => c!(THTensor_eqValue(r, t, value)),
                other => panic!("{other} is no comparison"),
            })
        },
        "sum" => |w, o| {
            let mut sum = 0.0;
            asked(|| sum = c!(THTensor_sumall(w.it(o))))?;
            Ok(Some(Thing::Number(sum)))
        },
        "item" => |w, o| asked(|| _ = c!(THTensor_item(w.it(o)))),
        "get_device" => |w, o| asked(|| _ = c!(THTensor_getDevice(w.it(o)))),
        _ => return None,
    })
}
