//! The examples of the documents thorn is built after, run through the C API. `data/seed_examples.jsonl` has one a line.
//!
//! An example is a list of operations (`setup`, then `call`) and of what must hold afterwards (`expected`). Dimensions, indices and offsets
//! start at 0 in all of them, also where the document's own words (`seed_call`) count from 1. What a list of operations cannot say is
//! checked by hand, and so is an example where the documents contradict each other: there the comment names the decision.
//!
//! `cargo test --test seed_examples -- --nocapture` prints how many examples ran and what the others wait for.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use thorn::alloc::{TH_ALLOCATOR_MAPPED_EXCLUSIVE, TH_ALLOCATOR_MAPPED_SHAREDMEM};
use thorn::capi::{general::*, matmul::*, pointwise::*, random::*, reduce::*, storage::*, tensor::*, view::*};
use thorn::dtype::*;
use thorn::error::{TH_OK, THStatus};
use thorn::layout::TH_CONTIGUOUS_FORMAT;
use thorn::storage::THStorage;
use thorn::tensor::THTensor;

/// Operations no function offers yet, and what they belong to. An example that needs one waits.
const LATER: &[(&str, &str)] = &[
    ("index_add", "index, gather, scatter"),
    ("index_copy", "index, gather, scatter"),
    ("index_fill", "index, gather, scatter"),
    ("index_put", "index, gather, scatter"),
    ("index_select", "index, gather, scatter"),
    ("gather", "index, gather, scatter"),
    ("put", "index, gather, scatter"),
    ("scatter", "index, gather, scatter"),
    ("scatter_add", "index, gather, scatter"),
    ("scatter_value", "index, gather, scatter"),
    ("masked_copy", "masks"),
    ("masked_fill", "masks"),
    ("masked_select", "masks"),
    ("nonzero", "masks"),
    ("apply_fn", "apply and map"),
    ("apply_cos2_counter", "apply and map"),
    ("map", "apply and map"),
    ("map_mul", "apply and map"),
    ("map2_fma", "apply and map"),
    ("bernoulli_tensor", "random"),
    ("random", "random"),
    ("backward", "autograd"),
    ("to_sparse", "sparse"),
    ("save", "serialization"),
    ("cuda", "CUDA"),
    ("print", "printing"),
];

/// Operations that stand in for functions to come: good enough to make the tensors an example starts from, not to be its subject.
const STAND_INS: &[(&str, &str)] =
    &[("arange", "ranges"), ("linspace", "ranges"), ("range_inclusive", "ranges"), ("apply_counter", "apply and map")];

/// Examples in words alone that wait.
const LATER_EXAMPLES: &[(&str, &str)] = &[
    ("000_cuda_default_device", "CUDA"),
    ("000_cuda_scoped_device", "CUDA"),
    ("000_cuda_explicit_device_in_scope", "CUDA"),
    ("000_cuda_result_on_source_device", "CUDA"),
    ("000_cuda_cross_device_add_error", "CUDA"),
    ("000_cuda_cross_device_copy_ok", "CUDA"),
    ("000_cuda_cpu_mixed_add_error", "CUDA"),
    ("002_cpu_on_cpu_returns_self", "CUDA"),
    ("002_cuda_to_device", "CUDA"),
    ("002_cuda_to_device_dtype", "CUDA"),
    ("002_cuda_to_other", "CUDA"),
    ("002_cuda_ones_on_cuda", "CUDA"),
    ("002_cuda_get_device_cuda", "CUDA"),
    ("002_exponential_positive", "random"),
    ("002_log_normal_moments", "random"),
    ("002_cauchy_median", "random"),
    ("002_geometric_support", "random"),
    ("002_bernoulli_integral_self", "random"),
    ("002_bernoulli_p_tensor", "random"),
    ("002_sparse_mask", "sparse"),
    ("002_geqrf_orgqr_roundtrip", "linear algebra"),
    // In C the types tell tensors from storages; other languages have to ask.
    ("000_is_tensor_is_storage", "bindings"),
    ("004_type_name", "bindings"),
];

/// Examples checked by the functions at the end of this file.
const BY_HAND: &[(&str, fn())] = &[
    ("000_foreign_buffer_shared_same_dtype", foreign_memory_is_shared),
    ("000_foreign_buffer_copied_other_dtype", another_dtype_copies_foreign_memory),
    ("000_export_shares_memory", the_data_pointer_shares_memory),
    ("002_tolist_nested", elements_come_out_row_major),
    ("002_uniform_range", uniform_stays_in_its_range),
    ("002_normal_moments", normal_has_its_moments),
    ("002_shared_memory_resize_error", shared_memory_does_not_resize),
    ("002_add_alpha_broadcast", add_scales_and_broadcasts),
    ("002_transpose_in_place", transpose_in_place),
    ("002_unsqueeze_in_place", unsqueeze_in_place),
    ("004_is_tensor_number", rows_are_tensors_and_elements_numbers),
    ("004_select_on_1d_error", selecting_from_a_vector_gives_a_scalar),
    ("004_negative_stride_means_contiguous", negative_strides_are_refused),
    ("004_copy_same_numel_other_shape", copy_broadcasts_but_does_not_reshape),
    ("004_storage_over_foreign_pointer", a_storage_over_another_tensors_data),
    ("004_cdata_struct_pointer", the_fields_of_the_struct_are_open),
    ("004_refcount_retain_free", references_are_counted),
    ("004_refcount_atomic_threads", references_are_counted_atomically),
];

/// A call of the C API.
macro_rules! c {
    ($function:ident($($arg:expr),* $(,)?)) => {
        // SAFETY: handles are held by `Tensor` or `Storage` meanwhile; arrays have the length passed with them.
        unsafe { $function($($arg),*) }
    };
}

type Outcome<T = Option<Thing>> = Result<T, String>;

/// A counted reference to a tensor.
struct Tensor(*mut THTensor);

impl Tensor {
    /// What a function made, or why it did not.
    fn made(raw: *mut THTensor) -> Outcome<Tensor> {
        if raw.is_null() { Err(last_error()) } else { Ok(Tensor(raw)) }
    }

    /// A row-major float64 tensor.
    fn of(shape: &[i64], elements: &[f64]) -> Tensor {
        assert_eq!(shape.iter().product::<i64>(), elements.len() as i64);
        let raw = c!(THTensor_newFromData(TH_FLOAT64, shape.len() as c_int, shape.as_ptr(), elements.as_ptr().cast::<c_void>()));
        Tensor::made(raw).expect("there is memory")
    }

    fn shape(&self) -> Vec<i64> {
        (0..c!(THTensor_nDimension(self.0))).map(|d| c!(THTensor_size(self.0, d))).collect()
    }

    fn strides(&self) -> Vec<i64> {
        (0..c!(THTensor_nDimension(self.0))).map(|d| c!(THTensor_stride(self.0, d))).collect()
    }

    /// All elements in row-major order, found through the strides.
    fn elements(&self) -> Vec<f64> {
        let shape = self.shape();
        let at = |mut place: i64| {
            let mut index = vec![0; shape.len()];
            for d in (0..shape.len()).rev() {
                (index[d], place) = (place % shape[d], place / shape[d]);
            }
            c!(THTensor_get(self.0, index.len() as c_int, index.as_ptr()))
        };
        (0..shape.iter().product()).map(at).collect()
    }

    fn storage(&self) -> *mut THStorage {
        c!(THTensor_storage(self.0))
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        c!(THTensor_free(self.0))
    }
}

/// A counted reference to a storage.
struct Storage(*mut THStorage);

impl Storage {
    fn made(raw: *mut THStorage) -> Outcome<Storage> {
        if raw.is_null() { Err(last_error()) } else { Ok(Storage(raw)) }
    }

    fn elements(&self) -> Vec<f64> {
        (0..c!(THStorage_size(self.0))).map(|i| c!(THStorage_get(self.0, i))).collect()
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        c!(THStorage_free(self.0))
    }
}

fn last_error() -> String {
    // SAFETY: a C string, borrowed until the next failing call.
    unsafe { CStr::from_ptr(THGetLastError()) }.to_string_lossy().into_owned()
}

fn done(status: THStatus) -> Outcome {
    if status == TH_OK { Ok(None) } else { Err(last_error()) }
}

/// The outcome of a function that tells of its failure by the error state alone.
fn asked(call: impl FnOnce()) -> Outcome {
    THClearLastError();
    call();
    done(THGetLastErrorCode())
}

/// What an example calls by name.
enum Thing {
    Tensor(Tensor),
    Storage(Storage),
    List(Vec<Tensor>),
}

#[derive(Default)]
struct World(HashMap<String, Thing>);

impl World {
    /// The tensor named in field `key`.
    fn tensor(&self, of: &Value, key: &str) -> &Tensor {
        match self.0.get(text(of, key)) {
            Some(Thing::Tensor(tensor)) => tensor,
            _ => panic!("{} is no tensor", of[key]),
        }
    }

    /// The handle an operation is on.
    fn it(&self, operation: &Value) -> *mut THTensor {
        self.tensor(operation, "self").0
    }

    /// The storage named in field `key`, or the one of the tensor named there.
    fn storage(&self, of: &Value, key: &str) -> *mut THStorage {
        match self.0.get(text(of, key)) {
            Some(Thing::Storage(storage)) => storage.0,
            Some(Thing::Tensor(tensor)) => tensor.storage(),
            _ => panic!("{} has no storage", of[key]),
        }
    }

    /// Runs operations up to the first that fails.
    fn run(&mut self, operations: &Value) -> Outcome<()> {
        for operation in list(operations) {
            let name = text(operation, "op");
            let run = known(name).unwrap_or_else(|| panic!("{name} is neither known nor listed as to come"));
            if let Some(thing) = run(self, operation)? {
                self.0.insert(text(operation, "out").into(), thing);
            }
        }
        Ok(())
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("no text {key} in {of}"))
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn ints(value: &Value) -> Vec<i64> {
    list(value).iter().map(int).collect()
}

/// The numbers of a nested list, flattened, and its shape.
fn nested(data: &Value) -> (Vec<f64>, Vec<i64>) {
    let Some(parts) = data.as_array() else { return (vec![number(data)], vec![]) };
    let (mut numbers, mut shape) = (vec![], vec![]);
    for part in parts {
        let (inner, inner_shape) = nested(part);
        numbers.extend(inner);
        shape = inner_shape;
    }
    shape.insert(0, parts.len() as i64);
    (numbers, shape)
}

fn dtype_named(name: &str) -> THDtype {
    match name {
        "u8" => TH_UINT8,
        "i8" => TH_INT8,
        "i16" => TH_INT16,
        "i32" => TH_INT32,
        "i64" => TH_INT64,
        "f32" => TH_FLOAT32,
        "f64" => TH_FLOAT64,
        _ => panic!("{name} is no dtype"),
    }
}

fn dtype(operation: &Value) -> THDtype {
    dtype_named(text(operation, "dtype"))
}

fn tensor(raw: *mut THTensor) -> Outcome {
    Tensor::made(raw).map(|tensor| Some(Thing::Tensor(tensor)))
}

fn storage(raw: *mut THStorage) -> Outcome {
    Storage::made(raw).map(|storage| Some(Thing::Storage(storage)))
}

/// A new tensor of the numbers in a nested list.
fn from_data(dtype: THDtype, data: &Value) -> Outcome {
    let (numbers, shape) = nested(data);
    tensor(c!(THTensor_newTo(Tensor::of(&shape, &numbers).0, dtype)))
}

/// A new vector of these numbers.
fn vector(dtype: THDtype, numbers: impl Iterator<Item = f64>) -> Outcome {
    let numbers: Vec<f64> = numbers.collect();
    tensor(c!(THTensor_newTo(Tensor::of(&[numbers.len() as i64], &numbers).0, dtype)))
}

/// A function that returns a list: asked for the count, then for the list.
fn pieces(call: impl Fn(*mut *mut THTensor, *mut c_int) -> THStatus) -> Outcome {
    let mut count = 0;
    done(call(null_mut(), &mut count))?;
    let mut room = vec![null_mut(); count as usize];
    done(call(room.as_mut_ptr(), &mut count))?;
    Ok(Some(Thing::List(room.into_iter().map(Tensor).collect())))
}

/// Torch7's `sub`: ranges from first to last index, both included, negative ones counted from the end.
fn sub(source: *mut THTensor, ranges: &[Value]) -> Outcome {
    let mut part = Tensor::made(c!(THTensor_newWithTensor(source)))?;
    for (d, range) in ranges.iter().enumerate() {
        let size = c!(THTensor_size(source, d as c_int));
        let (first, last) = (int(&range[0]).rem_euclid(size), int(&range[1]).rem_euclid(size));
        part = Tensor::made(c!(THTensor_newNarrow(part.0, d as c_int, first, last - first + 1)))?;
    }
    Ok(Some(Thing::Tensor(part)))
}

/// Repeats along each dimension: expand a new dimension before it, copy, and see both as one.
fn repeat(source: &Tensor, times: &[i64]) -> Outcome {
    let shape = source.shape();
    let sizes: Vec<i64> = std::iter::repeat_n(1, times.len() - shape.len()).chain(shape).collect();
    let pairs = |times: &[i64]| times.iter().zip(&sizes).flat_map(|(&t, &n)| [t, n]).collect::<Vec<_>>();
    let (apart, repeated) = (pairs(&vec![1; times.len()]), pairs(times));
    let joined: Vec<i64> = times.iter().zip(&sizes).map(|(t, n)| t * n).collect();
    let view = Tensor::made(c!(THTensor_newReshape(source.0, apart.len() as c_int, apart.as_ptr())))?;
    let view = Tensor::made(c!(THTensor_newExpand(view.0, repeated.len() as c_int, repeated.as_ptr())))?;
    let copy = Tensor::made(c!(THTensor_newCloneFormat(view.0, TH_CONTIGUOUS_FORMAT)))?;
    tensor(c!(THTensor_newView(copy.0, joined.len() as c_int, joined.as_ptr())))
}

type Operation = fn(&World, &Value) -> Outcome;

/// How an operation runs.
fn known(name: &str) -> Option<Operation> {
    making(name).or(viewing(name)).or(changing(name))
}

/// Operations that make tensors and storages.
fn making(name: &str) -> Option<Operation> {
    Some(match name {
        "empty" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(THTensor_newWithSizes(dtype(o), size.len() as c_int, size.as_ptr())))
        },
        "empty_tensor" => |_, o| tensor(c!(THTensor_newWithSize1d(dtype(o), 0))),
        "zeros" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(THTensor_newZeros(dtype(o), size.len() as c_int, size.as_ptr())))
        },
        "ones" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(THTensor_newOnes(dtype(o), size.len() as c_int, size.as_ptr())))
        },
        "full" => |_, o| {
            let size = ints(&o["size"]);
            tensor(c!(THTensor_newFull(dtype(o), size.len() as c_int, size.as_ptr(), number(&o["value"]))))
        },
        "new_like" => |w, o| {
            let (dtype, size) = (c!(THTensor_dtype(w.it(o))), ints(&o["size"]));
            tensor(c!(THTensor_newFull(dtype, size.len() as c_int, size.as_ptr(), number(&o["value"]))))
        },
        "new_with_size_stride" => |_, o| {
            let (size, stride) = (ints(&o["size"]), ints(&o["stride"]));
            tensor(c!(THTensor_newWithSizesStrides(dtype(o), size.len() as c_int, size.as_ptr(), stride.as_ptr())))
        },
        "tensor" => |_, o| from_data(dtype(o), &o["data"]),
        "new_tensor" => |w, o| from_data(c!(THTensor_dtype(w.it(o))), &o["data"]),
        "arange" => |_, o| vector(dtype(o), (int(&o["start"])..int(&o["end"])).map(|x| x as f64)),
        "range_inclusive" => |_, o| vector(dtype(o), (int(&o["start"])..=int(&o["end"])).map(|x| x as f64)),
        "linspace" => |_, o| {
            let (start, end, n) = (number(&o["start"]), number(&o["end"]), int(&o["n"]));
            vector(dtype(o), (0..n).map(|i| start + i as f64 * (end - start) / (n - 1) as f64))
        },
        "storage_new" => |_, o| match o.get("data") {
            Some(data) => {
                let new = Storage::made(c!(THStorage_newWithSize(dtype(o), list(data).len() as isize)))?;
                for (i, value) in list(data).iter().enumerate() {
                    done(c!(THStorage_set(new.0, i as isize, number(value))))?;
                }
                Ok(Some(Thing::Storage(new)))
            }
            None => {
                let new = Storage::made(c!(THStorage_newWithSize(dtype(o), int(&o["n"]) as isize)))?;
                done(c!(THStorage_fill(new.0, number(&o["fill"]))))?;
                Ok(Some(Thing::Storage(new)))
            }
        },
        "new_with_storage" => |w, o| {
            let store = w.storage(o, "storage");
            let Some(size) = o.get("size").map(ints) else { return tensor(c!(THTensor_newWithStorage(store, 0, -1, null(), null()))) };
            let offset = o.get("offset").map_or(0, int) as isize;
            tensor(c!(THTensor_newWithStorage(store, offset, size.len() as c_int, size.as_ptr(), null())))
        },
        "storage" => |w, o| {
            let store = w.tensor(o, "self").storage();
            c!(THStorage_retain(store));
            storage(store)
        },
        "alias" => |w, o| tensor(c!(THTensor_newWithTensor(w.it(o)))),
        "clone" => |w, o| tensor(c!(THTensor_newClone(w.it(o)))),
        "contiguous" => |w, o| tensor(c!(THTensor_newContiguous(w.it(o)))),
        "to" => |w, o| tensor(c!(THTensor_newTo(w.it(o), dtype(o)))),
        _ => return None,
    })
}

/// Operations that view a tensor.
fn viewing(name: &str) -> Option<Operation> {
    Some(match name {
        "narrow" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(THTensor_newNarrow(w.it(o), args[0] as c_int, args[1], args[2])))
        },
        "select" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(THTensor_newSelect(w.it(o), args[0] as c_int, args[1])))
        },
        "sub" => |w, o| sub(w.it(o), list(&o["args"])),
        "transpose" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(THTensor_newTranspose(w.it(o), args[0] as c_int, args[1] as c_int)))
        },
        "t" => |w, o| tensor(c!(THTensor_newT(w.it(o)))),
        "permute" => |w, o| {
            let dims = ints(&o["args"]);
            tensor(c!(THTensor_newPermute(w.it(o), dims.len() as c_int, dims.as_ptr())))
        },
        "unfold" => |w, o| {
            let args = ints(&o["args"]);
            tensor(c!(THTensor_newUnfold(w.it(o), args[0] as c_int, args[1], args[2])))
        },
        "squeeze" => |w, o| match o.get("args").map(ints) {
            None => tensor(c!(THTensor_newSqueeze(w.it(o)))),
            Some(args) => tensor(c!(THTensor_newSqueeze1d(w.it(o), args[0] as c_int))),
        },
        "view" => |w, o| {
            let size = ints(&o["args"]);
            tensor(c!(THTensor_newView(w.it(o), size.len() as c_int, size.as_ptr())))
        },
        "view_dtype" => |w, o| tensor(c!(THTensor_newViewDtype(w.it(o), dtype(o)))),
        "reshape" => |w, o| {
            let size = ints(&o["args"]);
            tensor(c!(THTensor_newReshape(w.it(o), size.len() as c_int, size.as_ptr())))
        },
        "expand" => |w, o| {
            let size = ints(&o["args"]);
            tensor(c!(THTensor_newExpand(w.it(o), size.len() as c_int, size.as_ptr())))
        },
        "repeat" => |w, o| repeat(w.tensor(o, "self"), &ints(&o["args"])),
        "split" => |w, o| pieces(|r, count| c!(THTensor_split(r, count, w.it(o), int(&o["size"]), int(&o["dim"]) as c_int))),
        "chunk" => |w, o| pieces(|r, count| c!(THTensor_chunk(r, count, w.it(o), int(&o["n"]), int(&o["dim"]) as c_int))),
        _ => return None,
    })
}

/// Operations that change or read what is there.
fn changing(name: &str) -> Option<Operation> {
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
        // 1, 2, 3 ... in row-major order.
        "apply_counter" => |w, o| {
            let numel = c!(THTensor_nElement(w.it(o)));
            let numbers: Vec<f64> = (1..=numel).map(|x| x as f64).collect();
            done(c!(THTensor_copy(w.it(o), Tensor::of(&w.tensor(o, "self").shape(), &numbers).0)))
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
        "item" => |w, o| asked(|| _ = c!(THTensor_item(w.it(o)))),
        "get_device" => |w, o| asked(|| _ = c!(THTensor_getDevice(w.it(o)))),
        _ => return None,
    })
}

/// Fails unless `got` is what was expected.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Outcome<()> {
    if got == expected { Ok(()) } else { Err(format!("{what} is {got:?}, not {expected:?}")) }
}

/// Fails unless every number lies within `tolerance` of the expected one.
fn near(what: &str, got: &[f64], expected: &[f64], tolerance: f64) -> Outcome<()> {
    let good = got.len() == expected.len() && got.iter().zip(expected).all(|(g, e)| (g - e).abs() <= tolerance);
    if good { Ok(()) } else { Err(format!("{what} is {got:?}, not {expected:?}")) }
}

/// Whether one thing `expected` holds.
fn check(world: &World, expected: &Value) -> Outcome<()> {
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
                same("dtype", c!(THTensor_dtype(it().0)), dtype_named(name))?;
            }
            near("values", &it().elements(), &data(), tolerance)
        }
        "shape" => same(kind, it().shape(), ints(eq)),
        "stride" => same(kind, it().strides(), ints(eq)),
        "ndim" => same(kind, c!(THTensor_nDimension(it().0)) as i64, int(eq)),
        "numel" => same(kind, c!(THTensor_nElement(it().0)) as i64, int(eq)),
        "offset" => same(kind, c!(THTensor_storageOffset(it().0)) as i64, int(eq)),
        "element_size" => same(kind, c!(THTensor_elementSize(it().0)) as i64, int(eq)),
        "dtype" => same(kind, c!(THTensor_dtype(it().0)), dtype_named(text(expected, "eq"))),
        "get" => {
            let index = ints(&expected["index"]);
            near(kind, &[c!(THTensor_get(it().0, index.len() as c_int, index.as_ptr()))], &[number(eq)], tolerance)
        }
        "item" => near(kind, &[c!(THTensor_item(it().0))], &[number(eq)], tolerance),
        "contiguous" => truth(c!(THTensor_isContiguous(it().0)) == 1),
        "is_set_to" => truth(c!(THTensor_isSetTo(it().0, other().0)) == 1),
        "same_size" => truth(c!(THTensor_isSameSizeAs(it().0, other().0)) == 1),
        "is_size" => {
            let size = ints(&expected["size"]);
            truth(c!(THTensor_isSize(it().0, size.len() as c_int, size.as_ptr())) == 1)
        }
        "same_handle" => truth(it().0 == other().0),
        "shares_storage" => truth(it().storage() == other().storage()),
        "equal" => truth(it().shape() == other().shape() && it().elements() == other().elements()),
        "storage_size" => same(kind, c!(THStorage_size(world.storage(expected, "of"))) as i64, int(eq)),
        "storage_get" => {
            near(kind, &[c!(THStorage_get(world.storage(expected, "of"), int(&expected["index"]) as isize))], &[number(eq)], tolerance)
        }
        "storage_values" => match &world.0[text(expected, "of")] {
            Thing::Storage(storage) => near(kind, &storage.elements(), &data(), tolerance),
            _ => Err("not a storage".into()),
        },
        "list_shapes" => match &world.0[text(expected, "of")] {
            Thing::List(tensors) => same(kind, tensors.iter().map(Tensor::shape).collect(), list(eq).iter().map(ints).collect::<Vec<_>>()),
            _ => Err("not a list".into()),
        },
        _ => Err(format!("no way to check {kind}: it needs a function in BY_HAND")),
    }
}

/// Runs an example: either its call fails with the message it expects, or everything it expects holds.
fn run(example: &Value) -> Outcome<()> {
    let mut world = World::default();
    world.run(&example["setup"]).map_err(|message| format!("the setup failed: {message}"))?;
    let expected = list(&example["expected"]);
    let refused = expected.iter().find(|expected| text(expected, "check") == "error");
    match (world.run(&example["call"]), refused.map(|expected| text(expected, "match"))) {
        (Ok(()), None) => expected.iter().try_for_each(|expected| check(&world, expected)),
        (Ok(()), Some(part)) => Err(format!("the call succeeded; expected an error with \"{part}\"")),
        (Err(message), Some(part)) if message.contains(part) => Ok(()),
        (Err(message), _) => Err(format!("the call failed: {message}")),
    }
}

fn examples() -> Vec<Value> {
    include_str!("data/seed_examples.jsonl").lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Names of the operations in one part of an example, or of its checks.
fn names<'a>(example: &'a Value, part: &str, key: &'a str) -> impl Iterator<Item = &'a str> {
    list(&example[part]).iter().map(move |entry| text(entry, key))
}

fn area(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, area)| *area)
}

/// What an example waits for, if it does.
fn waits_for(example: &Value) -> Option<&'static str> {
    let operations = names(example, "setup", "op").chain(names(example, "call", "op")).chain(names(example, "expected", "check"));
    let missing = operations.filter_map(|name| area(LATER, name)).next();
    let subject = names(example, "call", "op").filter_map(|name| area(STAND_INS, name)).next();
    area(LATER_EXAMPLES, text(example, "id")).or(missing).or(subject)
}

#[test]
fn the_examples_hold() {
    let (mut ran, mut by_hand, mut waiting, mut failed) = (0, 0, BTreeMap::<_, usize>::new(), vec![]);
    for example in examples() {
        let id = text(&example, "id");
        if let Some((_, check)) = BY_HAND.iter().find(|(name, _)| *name == id) {
            check();
            by_hand += 1;
        } else if let Some(area) = waits_for(&example) {
            *waiting.entry(area).or_default() += 1;
        } else if let Err(message) = run(&example) {
            failed.push(format!("{id}: {message}\n    {}", text(&example, "seed_call")));
        } else {
            ran += 1;
        }
    }
    let total: usize = waiting.values().sum();
    println!("{ran} examples ran, {by_hand} were checked by hand, {total} wait: {waiting:?}");
    assert!(failed.is_empty(), "{} examples failed\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn the_tables_are_up_to_date() {
    let examples = examples();
    let ids: BTreeSet<&str> = examples.iter().map(|example| text(example, "id")).collect();
    assert_eq!(ids.len(), examples.len());
    let used = |name: &str| {
        let in_part = |part, key| examples.iter().any(|example| names(example, part, key).any(|used| used == name));
        in_part("setup", "op") || in_part("call", "op") || in_part("expected", "check")
    };
    let header = include_str!("../include/thorn.h");
    for (name, _) in LATER.iter().chain(STAND_INS) {
        assert!(used(name), "no example needs {name} any more");
        let mut words = name.split('_');
        let mut function = format!("THTensor_{}", words.next().unwrap_or_default());
        words.for_each(|word| function += &format!("{}{}", word[..1].to_uppercase(), &word[1..]));
        assert!(!header.contains(&format!(" {function}(")), "{function} exists: run the examples that use {name}");
    }
    for (name, _) in LATER {
        assert!(known(name).is_none(), "{name} is known, yet listed as to come");
    }
    let listed: Vec<&str> = BY_HAND.iter().map(|(id, _)| *id).chain(LATER_EXAMPLES.iter().map(|(id, _)| *id)).collect();
    assert!(listed.iter().all(|id| ids.contains(id)), "an id in the tables has no example");
    assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "an id stands twice in the tables");
}

fn foreign_memory_is_shared() {
    let mut a = [0i64, 0, 1, 1, 0, 1, 1, 0, 0, 0];
    let b = c!(THTensor_newFromBlob(TH_INT64, 1, [10].as_ptr(), null(), a.as_mut_ptr().cast::<c_void>(), None, null_mut()));
    let b = Tensor::made(b).unwrap();
    assert_eq!(c!(THTensor_set1d(b.0, 3, 100.0)), TH_OK);
    drop(b);
    assert_eq!(a, [0, 0, 1, 100, 0, 1, 1, 0, 0, 0]);
}

fn another_dtype_copies_foreign_memory() {
    let mut a = [0i64, 0, 1, 100, 0, 1, 1, 0, 0, 0];
    let whole = c!(THTensor_newFromBlob(TH_INT64, 1, [10].as_ptr(), null(), a.as_mut_ptr().cast::<c_void>(), None, null_mut()));
    let whole = Tensor::made(whole).unwrap();
    let b = Tensor::made(c!(THTensor_newTo(whole.0, TH_INT32))).unwrap();
    assert_eq!(c!(THTensor_set1d(b.0, 3, 30000.0)), TH_OK);
    assert_eq!(b.elements(), [0.0, 0.0, 1.0, 30000.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(a[3], 100);
}

fn the_data_pointer_shares_memory() {
    let a = Tensor::of(&[3, 4], &[0.0; 12]);
    assert_eq!(c!(THTensor_set2d(a.0, 2, 2, 1000.0)), TH_OK);
    let b = c!(THTensor_data(a.0)).cast::<f64>();
    // SAFETY: the tensor has 12 contiguous elements.
    assert_eq!(unsafe { b.add(2 * 4 + 2).read() }, 1000.0);
}

fn elements_come_out_row_major() {
    let a = Tensor::of(&[2, 2], &[1.5, 3.5, 2.5, 4.5]);
    assert_eq!(c!(THTensor_transpose(a.0, a.0, 0, 1)), TH_OK);
    let rows = Tensor::made(c!(THTensor_newContiguous(a.0))).unwrap();
    let data = c!(THTensor_data(rows.0)).cast::<f64>();
    // SAFETY: four contiguous elements.
    assert_eq!(unsafe { std::slice::from_raw_parts(data, 4) }, [1.5, 2.5, 3.5, 4.5]);
    assert_eq!(c!(THTensor_get2d(a.0, 0, 0)), 1.5);
}

/// A tensor of `n` elements drawn with a fixed seed.
fn drawn(n: i64, draw: impl FnOnce(*mut THTensor, Option<NonNull<THGenerator>>) -> THStatus) -> Vec<f64> {
    let r = Tensor::made(c!(THTensor_newWithSize1d(TH_FLOAT64, n))).unwrap();
    let generator = NonNull::new(c!(THGenerator_new()));
    assert_eq!(c!(THRandom_manualSeed(generator, 2)), TH_OK);
    assert_eq!(draw(r.0, generator), TH_OK);
    c!(THGenerator_free(generator));
    r.elements()
}

fn mean(xs: &[f64]) -> f64 {
    xs.iter().sum::<f64>() / xs.len() as f64
}

fn uniform_stays_in_its_range() {
    let xs = drawn(10000, |r, generator| c!(THTensor_uniform(r, generator, -2.0, 6.0)));
    assert!(xs.iter().all(|x| (-2.0..6.0).contains(x)));
    // The mean of n draws has the standard deviation 8 / sqrt(12 n) = 0.023.
    assert!((mean(&xs) - 2.0).abs() < 0.12, "{}", mean(&xs));
}

fn normal_has_its_moments() {
    let xs = drawn(10000, |r, generator| c!(THTensor_normal(r, generator, 3.0, 2.0)));
    let squares: Vec<f64> = xs.iter().map(|x| (x - 3.0).powi(2)).collect();
    // Standard deviations over n draws: 2 / sqrt(n) = 0.02 of the mean, 4 sqrt(2 / n) = 0.057 of the variance.
    assert!((mean(&xs) - 3.0).abs() < 0.1, "{}", mean(&xs));
    assert!((mean(&squares) - 4.0).abs() < 0.28, "{}", mean(&squares));
}

fn shared_memory_does_not_resize() {
    let name = CString::new(format!("/thorn-seed-example-{}", std::process::id())).unwrap();
    let flags = TH_ALLOCATOR_MAPPED_SHAREDMEM | TH_ALLOCATOR_MAPPED_EXCLUSIVE;
    let store = Storage::made(c!(THStorage_newWithMapping(TH_FLOAT32, name.as_ptr(), 4, flags))).unwrap();
    let x = Tensor::made(c!(THTensor_newWithStorage(store.0, 0, -1, null(), null()))).unwrap();
    let refused = done(c!(THTensor_resize1d(x.0, 8)));
    assert!(refused.err().is_some_and(|message| message.contains("shared")));
    assert_eq!(x.shape(), [4]);
}

fn add_scales_and_broadcasts() {
    let (x, other) = (Tensor::of(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), Tensor::of(&[2], &[10.0, 20.0]));
    let y = Tensor::made(c!(THTensor_new())).unwrap();
    assert_eq!(c!(THTensor_cadd(y.0, x.0, 2.0, other.0)), TH_OK);
    assert_eq!((y.shape(), y.elements()), (vec![2, 2], vec![21.0, 42.0, 23.0, 44.0]));
}

fn transpose_in_place() {
    let x = Tensor::of(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(c!(THTensor_transpose(x.0, x.0, 0, 1)), TH_OK);
    assert_eq!((x.shape(), x.strides()), (vec![3, 2], vec![1, 3]));
    assert_eq!(x.elements(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

fn unsqueeze_in_place() {
    for (dim, shape) in [(0, [1, 3]), (-1, [3, 1])] {
        let x = Tensor::of(&[3], &[1.0, 2.0, 3.0]);
        assert_eq!(c!(THTensor_unsqueeze1d(x.0, x.0, dim)), TH_OK);
        assert_eq!((x.shape().as_slice(), x.elements().as_slice()), (&shape[..], &[1.0, 2.0, 3.0][..]));
    }
}

fn rows_are_tensors_and_elements_numbers() {
    let x = Tensor::of(&[3, 4], &std::array::from_fn::<f64, 12, _>(|i| i as f64));
    let row = Tensor::made(c!(THTensor_newSelect(x.0, 0, 1))).unwrap();
    assert_eq!((row.shape(), row.elements()), (vec![4], vec![4.0, 5.0, 6.0, 7.0]));
    assert_eq!(c!(THTensor_get2d(x.0, 1, 2)), 6.0);
}

/// Torch7 refuses; PyTorch, and so the dynamic API, gives a 0-d tensor (decision D22).
fn selecting_from_a_vector_gives_a_scalar() {
    let x = Tensor::of(&[3], &[0.0, 7.0, 0.0]);
    let y = Tensor::made(c!(THTensor_newSelect(x.0, 0, 1))).unwrap();
    assert_eq!((y.shape(), c!(THTensor_nElement(y.0)), c!(THTensor_item(y.0))), (vec![], 1, 7.0));
}

/// Torch7 reads negative strides as "choose contiguous ones"; in the dynamic API they are an error (decision D37).
fn negative_strides_are_refused() {
    let refused = Tensor::made(c!(THTensor_newWithSizesStrides(TH_FLOAT64, 2, [2, 3].as_ptr(), [-1, -1].as_ptr())));
    assert!(refused.err().is_some_and(|message| message.contains("negative")));
}

/// Torch7 copies between any shapes of one element count; the dynamic API broadcasts as PyTorch does, so 4 does not fit 2x2 unless it is
/// viewed as such (decision D24).
fn copy_broadcasts_but_does_not_reshape() {
    let (x, y) = (Tensor::of(&[4], &[1.0; 4]), Tensor::of(&[2, 2], &[0.0; 4]));
    let refused = done(c!(THTensor_copy(y.0, x.0)));
    assert!(refused.err().is_some_and(|message| message.contains("broadcast")));
    let square = Tensor::made(c!(THTensor_newViewAs(x.0, y.0))).unwrap();
    assert_eq!(c!(THTensor_copy(y.0, square.0)), TH_OK);
    assert_eq!((y.shape(), y.elements()), (vec![2, 2], vec![1.0; 4]));
}

fn a_storage_over_another_tensors_data() {
    let t = Tensor::of(&[10], &[1.0; 10]);
    let data = c!(THTensor_data(t.0));
    let store = Storage::made(c!(THStorage_newFromBlob(TH_FLOAT64, data, 10, None, null_mut()))).unwrap();
    let tt = Tensor::made(c!(THTensor_newWithStorage(store.0, 0, -1, null(), null()))).unwrap();
    assert_eq!(c!(THTensor_set1d(tt.0, 4, 5.0)), TH_OK);
    assert_eq!(c!(THTensor_get1d(t.0, 4)), 5.0);
    // The storage must leave the memory to `t`.
    drop((tt, store));
    assert_eq!(c!(THTensor_fill(t.0, 2.0)), TH_OK);
    assert_eq!(t.elements(), [2.0; 10]);
}

fn the_fields_of_the_struct_are_open() {
    let x = Tensor::of(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let row = Tensor::made(c!(THTensor_newSelect(x.0, 0, 1))).unwrap();
    // SAFETY: live tensors; `size` and `stride` have `nDimension` entries.
    let (whole, part, size, stride) = unsafe { (&*x.0, &*row.0, *(*row.0).size, *(*row.0).stride) };
    assert_eq!((whole.nDimension, part.nDimension, size, stride), (2, 1, 3, 1));
    assert_eq!((part.storage, part.storageOffset, i32::from(part.dtype)), (whole.storage, 3, TH_FLOAT64));
    assert_eq!((size, stride), (c!(THTensor_size(row.0, 0)), c!(THTensor_stride(row.0, 0))));
}

fn references_are_counted() {
    let x = Tensor::of(&[4], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(c!(THTensor_refcount(x.0)), 1);
    c!(THTensor_retain(x.0));
    assert_eq!(c!(THTensor_refcount(x.0)), 2);
    c!(THTensor_free(x.0));
    assert_eq!(c!(THTensor_refcount(x.0)), 1);
    let count = || c!(THStorage_refcount(x.storage()));
    assert_eq!(count(), 1);
    let view = Tensor::made(c!(THTensor_newNarrow(x.0, 0, 1, 2))).unwrap();
    assert_eq!(count(), 2);
    drop(view);
    assert_eq!(count(), 1);
    c!(THStorage_retain(x.storage()));
    let kept = Storage(x.storage());
    drop(x);
    assert_eq!((c!(THStorage_refcount(kept.0)), kept.elements()), (1, vec![1.0, 2.0, 3.0, 4.0]));
}

fn references_are_counted_atomically() {
    let x = Tensor::of(&[4], &[0.0; 4]);
    // Integers, because raw pointers do not go to other threads by themselves.
    let (tensor, storage) = (x.0 as usize, x.storage() as usize);
    let rounds = AtomicI32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10000 {
                    c!(THTensor_retain(tensor as *mut THTensor));
                    c!(THStorage_retain(storage as *mut THStorage));
                    c!(THTensor_free(tensor as *mut THTensor));
                    c!(THStorage_free(storage as *mut THStorage));
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(rounds.into_inner(), 80000);
    assert_eq!((c!(THTensor_refcount(x.0)), c!(THStorage_refcount(x.storage()))), (1, 1));
}
