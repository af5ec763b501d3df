//! The checks that must hold after an example.

use crate::handles::{Outcome, Tensor, Thing};
use crate::json::{dtype_named, int, ints, list, nested, number, text};
use crate::world::World;
use crate::{storages, tensors};
use serde_json::Value;
use std::ffi::c_int;

/// Fails unless `got` is what was expected.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Outcome<()> {
    if got == expected { Ok(()) } else { Err(format!("{what} is {got:?}, not {expected:?}")) }
}

/// Fails unless every number is within `tolerance` of the expected one.
fn near(what: &str, got: &[f64], expected: &[f64], tolerance: f64) -> Outcome<()> {
    let good = got.len() == expected.len() && got.iter().zip(expected).all(|(g, e)| (g - e).abs() <= tolerance);
    if good { Ok(()) } else { Err(format!("{what} is {got:?}, not {expected:?}")) }
}

/// Fails unless one check of `expected` holds.
pub fn check(world: &World, expected: &Value) -> Outcome<()> {
    let kind = text(expected, "check");
    let it = || world.tensor(expected, "of");
    let other = || world.tensor(expected, "with");
    let eq = &expected["eq"];
    let truth = |got: bool| same(kind, Some(got), eq.as_bool());
    let tolerance = expected.get("tol").map_or(0.0, number);
    let data = || nested(&expected["data"]).0;
    match kind {
        "values" => {
            same("shape", it().shape(), ints(&expected["shape"]))?;
            if let Some(name) = expected["dtype"].as_str() {
                same("dtype", c!(tensors::dtype(it().0)), dtype_named(name))?;
            }
            near("values", &it().elements(), &data(), tolerance)
        }
        "shape" => same(kind, it().shape(), ints(eq)),
        "stride" => same(kind, it().strides(), ints(eq)),
        "ndim" => same(kind, c!(tensors::nDimension(it().0)) as i64, int(eq)),
        "numel" => same(kind, c!(tensors::nElement(it().0)) as i64, int(eq)),
        "offset" => same(kind, c!(tensors::storageOffset(it().0)) as i64, int(eq)),
        "element_size" => same(kind, c!(tensors::elementSize(it().0)) as i64, int(eq)),
        "dtype" => same(kind, c!(tensors::dtype(it().0)), dtype_named(text(expected, "eq"))),
        "get" => {
            let index = ints(&expected["index"]);
            near(kind, &[c!(tensors::getAt(it().0, index.len() as c_int, index.as_ptr()))], &[number(eq)], tolerance)
        }
        "item" => near(kind, &[c!(tensors::item(it().0))], &[number(eq)], tolerance),
        "contiguous" => truth(c!(tensors::isContiguous(it().0)) == 1),
        "is_set_to" => truth(c!(tensors::isSetTo(it().0, other().0)) == 1),
        "same_size" => truth(c!(tensors::isSameSizeAs(it().0, other().0)) == 1),
        "is_size" => {
            let size = ints(&expected["size"]);
            truth(c!(tensors::isSize(it().0, size.len() as c_int, size.as_ptr())) == 1)
        }
        "same_handle" => truth(it().0 == other().0),
        "shares_storage" => truth(it().storage() == other().storage()),
        "equal" => truth(it().shape() == other().shape() && it().elements() == other().elements()),
        "storage_size" => same(kind, c!(storages::size(world.storage(expected, "of"))) as i64, int(eq)),
        "storage_get" => {
            near(kind, &[c!(storages::get(world.storage(expected, "of"), int(&expected["index"]) as isize))], &[number(eq)], tolerance)
        }
        "storage_values" => match &world.0[text(expected, "of")] {
            Thing::Storage(storage) => near(kind, &storage.elements(), &data(), tolerance),
            _ => Err("not a storage".into()),
        },
        "scalar" => match &world.0[text(expected, "of")] {
            Thing::Number(got) => near(kind, &[*got], &[number(eq)], tolerance),
            _ => Err("not a number".into()),
        },
        "list_shapes" => match &world.0[text(expected, "of")] {
            Thing::List(tensors) => same(kind, tensors.iter().map(Tensor::shape).collect(), list(eq).iter().map(ints).collect::<Vec<_>>()),
            _ => Err("not a list".into()),
        },
        _ => Err(format!("no way to check {kind}: it needs a function in BY_HAND")),
    }
}
