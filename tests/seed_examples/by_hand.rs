//! Examples that no list of operations can express, and examples for which the documents contradict each other.

use crate::applying::{apply, map, map2};
use crate::drawing;
use crate::handles::{Storage, Tensor, done};
use crate::{sparse, storages, tensors};
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use thorn::alloc::{TH_ALLOCATOR_MAPPED_EXCLUSIVE, TH_ALLOCATOR_MAPPED_SHAREDMEM};
use thorn::capi::by_hand::handles::{THTensor_free, THTensor_retain};
use thorn::capi::by_hand::storages::{THStorage_free, THStorage_retain};
use thorn::capi::functions::archives;
use thorn::capi::functions::heap::THFree;
use thorn::capi::functions::print::THTensor_toString;
use thorn::dtype::*;
use thorn::error::TH_OK;
use thorn::files::{TH_FILE_PT, TH_FILE_T7};
use thorn::ops::reduce::TH_ALL_DIMS;
use thorn::print::{TH_PRINT_TORCH7, THPrintOptions};
use thorn::storage::THStorage;
use thorn::tensor::THTensor;

/// The examples, and the functions that check them.
pub const BY_HAND: &[(&str, fn())] = &[
    ("000_foreign_buffer_shared_same_dtype", foreign_memory_is_shared),
    ("000_foreign_buffer_copied_other_dtype", another_dtype_copies_foreign_memory),
    ("000_export_shares_memory", the_data_pointer_shares_memory),
    ("002_tolist_nested", elements_come_out_row_major),
    ("002_uniform_range", drawing::uniform_stays_in_its_range),
    ("002_normal_moments", drawing::normal_has_its_moments),
    ("002_random_range_double_default", drawing::random_numbers_are_whole_and_in_range),
    ("002_exponential_positive", drawing::exponential_is_positive),
    ("002_log_normal_moments", drawing::logarithms_of_log_normal_have_its_moments),
    ("002_cauchy_median", drawing::cauchy_has_its_median),
    ("002_geometric_support", drawing::geometric_counts_from_one),
    ("002_bernoulli_integral_self", drawing::bernoulli_of_integers_is_zero_or_one),
    ("002_bernoulli_p_tensor", drawing::bernoulli_takes_a_probability_for_each_element),
    ("002_bernoulli_p_tensor_deterministic", drawing::bernoulli_takes_a_probability_for_each_element),
    ("001_view_on_transposed_error", views_that_need_a_copy_say_what_to_call),
    ("002_shared_memory_resize_error", shared_memory_does_not_resize),
    ("003_save_load_roundtrip", tensors_are_saved_and_loaded),
    ("002_add_alpha_broadcast", add_scales_and_broadcasts),
    ("002_transpose_in_place", transpose_in_place),
    ("002_unsqueeze_in_place", unsqueeze_in_place),
    ("002_map_broadcast", map_broadcasts),
    ("004_is_tensor_number", rows_are_tensors_and_elements_numbers),
    ("004_print_2d_double", matrices_are_printed_in_columns),
    ("004_print_3d_slices", slices_are_printed_below_their_indices),
    ("004_select_on_1d_error", selecting_from_a_vector_gives_a_scalar),
    ("004_negative_stride_means_contiguous", negative_strides_are_refused),
    ("004_copy_same_numel_other_shape", copy_broadcasts_but_does_not_reshape),
    ("004_masked_fill_other_shape", masks_broadcast_but_do_not_reshape),
    ("002_geqrf_orgqr_roundtrip", reflectors_are_unpacked),
    ("002_index_put_duplicates_accumulate", what_is_put_twice_is_added_twice),
    ("004_mask_index_le", comparisons_are_masks),
    ("004_masked_select_other_shape", a_mask_of_another_shape_selects_nothing),
    ("004_masked_copy_shapes_differ", a_mask_of_another_shape_copies_nothing),
    ("004_map_mul_shapes_differ", map_broadcasts_but_does_not_reshape),
    ("004_map2_fma", map2_of_three_tensors),
    ("004_storage_over_foreign_pointer", a_storage_over_another_tensors_data),
    ("004_cdata_struct_pointer", the_fields_of_the_struct_are_open),
    ("002_sparse_mask", sparse::a_mask_chooses_elements),
    ("002_to_sparse_full", sparse::a_matrix_becomes_sparse),
    ("002_to_sparse_hybrid_1", sparse::rows_become_entries),
    ("002_autograd_pow2_sum", the_gradient_of_a_sum_of_squares),
    ("002_autograd_requires_grad_in_place", a_gradient_is_asked_for_later),
    ("004_refcount_retain_free", references_are_counted),
    ("004_refcount_atomic_threads", references_are_counted_atomically),
];

fn foreign_memory_is_shared() {
    let mut a = [0i64, 0, 1, 1, 0, 1, 1, 0, 0, 0];
    let b = c!(tensors::newFromBlob(TH_INT64, 1, [10].as_ptr(), null(), a.as_mut_ptr().cast::<c_void>(), None, null_mut()));
    let b = Tensor::made(b).unwrap();
    assert_eq!(c!(tensors::set1d(b.0, 3, 100.0)), TH_OK);
    drop(b);
    assert_eq!(a, [0, 0, 1, 100, 0, 1, 1, 0, 0, 0]);
}

fn another_dtype_copies_foreign_memory() {
    let mut a = [0i64, 0, 1, 100, 0, 1, 1, 0, 0, 0];
    let whole = c!(tensors::newFromBlob(TH_INT64, 1, [10].as_ptr(), null(), a.as_mut_ptr().cast::<c_void>(), None, null_mut()));
    let whole = Tensor::made(whole).unwrap();
    let b = Tensor::made(c!(tensors::newTo(whole.0, TH_INT32))).unwrap();
    assert_eq!(c!(tensors::set1d(b.0, 3, 30000.0)), TH_OK);
    assert_eq!(b.elements(), [0.0, 0.0, 1.0, 30000.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(a[3], 100);
}

fn the_data_pointer_shares_memory() {
    let a = Tensor::of(&[3, 4], &[0.0; 12]);
    assert_eq!(c!(tensors::set2d(a.0, 2, 2, 1000.0)), TH_OK);
    let b = c!(tensors::data(a.0)).cast::<f64>();
    // SAFETY: the tensor has 12 contiguous elements.
    assert_eq!(unsafe { b.add(2 * 4 + 2).read() }, 1000.0);
}

fn elements_come_out_row_major() {
    let a = Tensor::of(&[2, 2], &[1.5, 3.5, 2.5, 4.5]);
    assert_eq!(c!(tensors::transpose(a.0, a.0, 0, 1)), TH_OK);
    let rows = Tensor::made(c!(tensors::newContiguous(a.0))).unwrap();
    let data = c!(tensors::data(rows.0)).cast::<f64>();
    // SAFETY: `data` points to four contiguous elements.
    assert_eq!(unsafe { std::slice::from_raw_parts(data, 4) }, [1.5, 2.5, 3.5, 4.5]);
    assert_eq!(c!(tensors::get2d(a.0, 0, 0)), 1.5);
}

fn shared_memory_does_not_resize() {
    let name = CString::new(format!("/thorn-seed-example-{}", std::process::id())).unwrap();
    let flags = TH_ALLOCATOR_MAPPED_SHAREDMEM | TH_ALLOCATOR_MAPPED_EXCLUSIVE;
    let store = Storage::made(c!(storages::newWithMapping(TH_FLOAT32, name.as_ptr(), 4, flags))).unwrap();
    let x = Tensor::made(c!(tensors::newWithStorage(store.0, 0, -1, null(), null()))).unwrap();
    let refused = done(c!(tensors::resize1d(x.0, 8)));
    assert!(refused.err().is_some_and(|message| message.contains("shared")));
    assert_eq!(x.shape(), [4]);
}

fn tensors_are_saved_and_loaded() {
    let points = Tensor::of(&[3, 2], &[4.0, 1.0, 5.0, 3.0, 2.0, 1.0]);
    let p = Tensor::made(c!(tensors::newTo(points.0, TH_FLOAT32))).unwrap();
    let path = std::env::temp_dir().join(format!("thorn-seed-example-{}-ourpoints.t", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    for format in [TH_FILE_PT, TH_FILE_T7] {
        let out = c!(archives::THArchive_create(name.as_ptr(), format));
        assert_eq!(c!(archives::THArchive_add(out, c"".as_ptr(), p.0)), TH_OK);
        assert_eq!(c!(archives::THArchive_close(out)), TH_OK);
        c!(archives::THArchive_free(out));
        // From a file by its name, and from memory.
        let bytes = std::fs::read(&path).unwrap();
        let file = c!(archives::THArchive_openMemory(bytes.as_ptr().cast(), bytes.len() as isize));
        let loaded = [
            Tensor::made(c!(thorn::capi::functions::tensor_files::newLoad(name.as_ptr()))).unwrap(),
            Tensor::made(c!(archives::THArchive_newTensor(file, 0))).unwrap(),
        ];
        c!(archives::THArchive_free(file));
        std::fs::remove_file(&path).unwrap();
        for q in loaded {
            assert_eq!((q.shape(), q.elements(), c!(tensors::dtype(q.0))), (p.shape(), p.elements(), TH_FLOAT32));
            assert_ne!(q.storage(), p.storage());
        }
    }
}

fn add_scales_and_broadcasts() {
    let (x, other) = (Tensor::of(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), Tensor::of(&[2], &[10.0, 20.0]));
    let y = Tensor::made(c!(tensors::new())).unwrap();
    assert_eq!(c!(tensors::cadd(y.0, x.0, 2.0, other.0)), TH_OK);
    assert_eq!((y.shape(), y.elements()), (vec![2, 2], vec![21.0, 42.0, 23.0, 44.0]));
}

fn transpose_in_place() {
    let x = Tensor::of(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(c!(tensors::transpose(x.0, x.0, 0, 1)), TH_OK);
    assert_eq!((x.shape(), x.strides()), (vec![3, 2], vec![1, 3]));
    assert_eq!(x.elements(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

fn unsqueeze_in_place() {
    for (dim, shape) in [(0, [1, 3]), (-1, [3, 1])] {
        let x = Tensor::of(&[3], &[1.0, 2.0, 3.0]);
        assert_eq!(c!(tensors::unsqueeze1d(x.0, x.0, dim)), TH_OK);
        assert_eq!((x.shape().as_slice(), x.elements().as_slice()), (&shape[..], &[1.0, 2.0, 3.0][..]));
    }
}

fn rows_are_tensors_and_elements_numbers() {
    let x = Tensor::of(&[3, 4], &std::array::from_fn::<f64, 12, _>(|i| i as f64));
    let row = Tensor::made(c!(tensors::newSelect(x.0, 0, 1))).unwrap();
    assert_eq!((row.shape(), row.elements()), (vec![4], vec![4.0, 5.0, 6.0, 7.0]));
    assert_eq!(c!(tensors::get2d(x.0, 1, 2)), 6.0);
}

/// A tensor as text in Torch7's layout.
fn printed(t: &Tensor) -> String {
    let options = THPrintOptions { layout: TH_PRINT_TORCH7, ..THPrintOptions::standard() };
    let text = c!(THTensor_toString(t.0, &options));
    assert!(!text.is_null());
    // SAFETY: `text` is a C string that the caller owns.
    let owned = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    c!(THFree(text.cast()));
    owned
}

/// The documents have both "of dimension 3x3" and, in later prints, "of size 3x3". Torch7 has had "of size" since, and so has the library.
fn matrices_are_printed_in_columns() {
    assert_eq!(printed(&counted(&[3, 3])), " 1  2  3\n 4  5  6\n 7  8  9\n[torch.DoubleTensor of size 3x3]");
}

/// The line of indices ends with a space, which the document lacks.
fn slices_are_printed_below_their_indices() {
    let row = [0.716, 0.6514, 0.0704, 0.7856, 0.7452];
    let lines = "  0.7160  0.6514  0.0704  0.7856  0.7452\n".repeat(2);
    let slices = [1, 2, 3].map(|k| format!("({k},.,.) = \n{lines}")).join("\n");
    assert_eq!(printed(&Tensor::of(&[3, 2, 5], &row.repeat(6))), slices + "[torch.DoubleTensor of size 3x2x5]");
}

/// Torch7 refuses. PyTorch and the dynamic API give a 0-d tensor (decision D22).
fn selecting_from_a_vector_gives_a_scalar() {
    let x = Tensor::of(&[3], &[0.0, 7.0, 0.0]);
    let y = Tensor::made(c!(tensors::newSelect(x.0, 0, 1))).unwrap();
    assert_eq!((y.shape(), c!(tensors::nElement(y.0)), c!(tensors::item(y.0))), (vec![], 1, 7.0));
}

/// PyTorch's message names Python methods; thorn's names C functions.
fn views_that_need_a_copy_say_what_to_call() {
    let turned = Tensor::of(&[2, 2], &[0.0; 4]);
    assert_eq!(c!(tensors::t(turned.0, turned.0)), TH_OK);
    let refused = done(c!(tensors::view(turned.0, turned.0, 1, [-1].as_ptr())));
    assert!(refused.err().is_some_and(|message| message.contains("newReshape") && message.contains("newContiguous")));
}

/// Torch7 reads negative strides as "choose contiguous strides". In the dynamic API they are an error (decision D37).
fn negative_strides_are_refused() {
    let refused = Tensor::made(c!(tensors::newWithSizesStrides(TH_FLOAT64, 2, [2, 3].as_ptr(), [-1, -1].as_ptr())));
    assert!(refused.err().is_some_and(|message| message.contains("negative")));
}

/// Torch7 copies between any shapes with equal numbers of elements. The dynamic API broadcasts as PyTorch does, so shape 4 does not fit 2x2
/// without a view (decision D24).
fn copy_broadcasts_but_does_not_reshape() {
    let (x, y) = (Tensor::of(&[4], &[1.0; 4]), Tensor::of(&[2, 2], &[0.0; 4]));
    let refused = done(c!(tensors::copy(y.0, x.0)));
    assert!(refused.err().is_some_and(|message| message.contains("broadcast")));
    let square = Tensor::made(c!(tensors::newViewAs(x.0, y.0))).unwrap();
    assert_eq!(c!(tensors::copy(y.0, square.0)), TH_OK);
    assert_eq!((y.shape(), y.elements()), (vec![2, 2], vec![1.0; 4]));
}

/// Masks of another shape with as many elements: Torch7 accepts them, the dynamic API broadcasts (decision D26).
fn masks_broadcast_but_do_not_reshape() {
    let (x, mask) = (Tensor::of(&[1, 4], &[1.0, 2.0, 3.0, 4.0]), Tensor::of(&[2, 2], &[0.0, 0.0, 1.0, 1.0]));
    let mask = Tensor::made(c!(tensors::newTo(mask.0, TH_UINT8))).unwrap();
    let refused = done(c!(tensors::maskedFill(x.0, mask.0, -1.0)));
    assert!(refused.err().is_some_and(|message| message.contains("broadcast")));
    assert_eq!(x.elements(), [1.0, 2.0, 3.0, 4.0]);
    let flat = Tensor::made(c!(tensors::newViewAs(mask.0, x.0))).unwrap();
    assert_eq!(c!(tensors::maskedFill(x.0, flat.0, -1.0)), TH_OK);
    assert_eq!((x.shape(), x.elements()), (vec![1, 4], vec![1.0, 2.0, -1.0, -1.0]));
}

fn what_is_put_twice_is_added_twice() {
    let (x, v) = (Tensor::of(&[3, 3], &[0.0; 9]), Tensor::of(&[3], &[1.0, 2.0, 3.0]));
    let [rows, columns] = [[0.0, 0.0, 2.0], [1.0, 1.0, 2.0]].map(|index| {
        let index = Tensor::of(&[3], &index);
        Tensor::made(c!(tensors::newTo(index.0, TH_INT64))).unwrap()
    });
    assert_eq!(c!(tensors::indexPut(x.0, [rows.0, columns.0].as_ptr(), 2, v.0, 1)), TH_OK);
    assert_eq!(x.elements(), [0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
}

/// Comparisons give Bool by default, and uint8 on request. Both are masks.
fn comparisons_are_masks() {
    let (x, y) = (counted(&[3, 3]), Tensor::made(c!(tensors::new())).unwrap());
    for mask in [c!(tensors::new()), c!(tensors::newWithSize1d(TH_UINT8, 0))] {
        let mask = Tensor::made(mask).unwrap();
        assert_eq!(c!(tensors::leValue(mask.0, x.0, 3.0)), TH_OK);
        assert_eq!(c!(tensors::maskedSelect(y.0, x.0, mask.0)), TH_OK);
        assert_eq!((y.shape(), y.elements()), (vec![3], vec![1.0, 2.0, 3.0]));
    }
}

/// A mask of uint8, as in Torch7.
fn bytes(shape: &[i64], elements: &[f64]) -> Tensor {
    Tensor::made(c!(tensors::newTo(Tensor::of(shape, elements).0, TH_UINT8))).unwrap()
}

fn a_mask_of_another_shape_selects_nothing() {
    let (x, mask) = (counted(&[3, 4]), bytes(&[2, 6], &[1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
    let y = Tensor::made(c!(tensors::new())).unwrap();
    assert!(done(c!(tensors::maskedSelect(y.0, x.0, mask.0))).is_err());
    let mask = Tensor::made(c!(tensors::newViewAs(mask.0, x.0))).unwrap();
    assert_eq!(c!(tensors::maskedSelect(y.0, x.0, mask.0)), TH_OK);
    assert_eq!((y.shape(), y.elements()), (vec![5], vec![1.0, 3.0, 7.0, 8.0, 12.0]));
}

fn a_mask_of_another_shape_copies_nothing() {
    let (x, y) = (counted(&[2, 2]), Tensor::of(&[2, 4], &[-1.0; 8]));
    let mask = bytes(&[1, 8], &[0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    assert!(done(c!(tensors::maskedCopy(y.0, mask.0, x.0))).is_err());
    assert_eq!(y.elements(), [-1.0; 8]);
    let mask = Tensor::made(c!(tensors::newViewAs(mask.0, y.0))).unwrap();
    assert_eq!(c!(tensors::maskedCopy(y.0, mask.0, x.0)), TH_OK);
    assert_eq!(y.elements(), [-1.0, -1.0, 1.0, 2.0, 3.0, -1.0, 4.0, -1.0]);
}

fn map_broadcasts() {
    let (x, y) = (Tensor::of(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), Tensor::of(&[2], &[10.0, 20.0]));
    let x = Tensor::made(c!(tensors::newTo(x.0, TH_FLOAT32))).unwrap();
    assert!(map(&x, &y, |x, y| *x += y).is_ok());
    assert_eq!((x.shape(), x.elements()), (vec![2, 2], vec![11.0, 22.0, 13.0, 24.0]));
}

/// A tensor of the numbers from 1 to the number of its elements.
fn counted(shape: &[i64]) -> Tensor {
    let x = Tensor::made(c!(tensors::newWithSizes(TH_FLOAT64, shape.len() as c_int, shape.as_ptr()))).unwrap();
    let mut i = 0.0;
    let counted = apply(&x, |x| {
        i += 1.0;
        *x = i;
    });
    assert!(counted.is_ok());
    x
}

/// Torch7 maps over shapes with equal numbers of elements, the dynamic API broadcasts (decision D25).
fn map_broadcasts_but_does_not_reshape() {
    let (x, y) = (counted(&[3, 3]), counted(&[9]));
    let refused = map(&x, &y, |x, _| *x = 0.0);
    assert!(refused.err().is_some_and(|message| message.contains("broadcast")));
    let square = Tensor::made(c!(tensors::newViewAs(y.0, x.0))).unwrap();
    assert!(map(&x, &square, |x, y| *x *= y).is_ok());
    assert_eq!((x.shape(), x.elements()), (vec![3, 3], vec![1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0]));
}

/// Here, too, Torch7 accepts 9 elements for 3x3 (decision D25).
fn map2_of_three_tensors() {
    let (x, y, z) = (counted(&[3, 3]), counted(&[9]), counted(&[3, 3]));
    assert!(apply(&x, |x| *x = x.cos().powi(2)).is_ok());
    let refused = map2(&x, &y, &z, |x, _, _| *x = 0.0);
    assert!(refused.err().is_some_and(|message| message.contains("broadcast")));
    let square = Tensor::made(c!(tensors::newViewAs(y.0, x.0))).unwrap();
    assert!(map2(&x, &square, &z, |x, y, z| *x += y * z).is_ok());
    let expected = [1.2919, 4.1732, 9.9801, 16.4272, 25.0805, 36.9219, 49.5684, 64.0212, 81.8302];
    assert_eq!(x.shape(), [3, 3]);
    assert!(x.elements().iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 6e-5), "{:?}", x.elements());
}

fn a_storage_over_another_tensors_data() {
    let t = Tensor::of(&[10], &[1.0; 10]);
    let data = c!(tensors::data(t.0));
    let store = Storage::made(c!(storages::newFromBlob(TH_FLOAT64, data, 10, None, null_mut()))).unwrap();
    let tt = Tensor::made(c!(tensors::newWithStorage(store.0, 0, -1, null(), null()))).unwrap();
    assert_eq!(c!(tensors::set1d(tt.0, 4, 5.0)), TH_OK);
    assert_eq!(c!(tensors::get1d(t.0, 4)), 5.0);
    // `t` must keep the memory alive after the storage handle is freed.
    drop((tt, store));
    assert_eq!(c!(tensors::fill(t.0, 2.0)), TH_OK);
    assert_eq!(t.elements(), [2.0; 10]);
}

fn the_fields_of_the_struct_are_open() {
    let x = Tensor::of(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let row = Tensor::made(c!(tensors::newSelect(x.0, 0, 1))).unwrap();
    // SAFETY: both tensors are live, and `size` and `stride` have `nDimension` entries.
    let (whole, part, size, stride) = unsafe { (&*x.0, &*row.0, *(*row.0).size, *(*row.0).stride) };
    assert_eq!((whole.nDimension, part.nDimension, size, stride), (2, 1, 3, 1));
    assert_eq!((part.storage, part.storageOffset, i32::from(part.dtype)), (whole.storage, 3, TH_FLOAT64));
    assert_eq!((size, stride), (c!(tensors::size(row.0, 0)), c!(tensors::stride(row.0, 0))));
}

fn reflectors_are_unpacked() {
    let elements = [2.0, -1.0, 0.5, 3.0, 4.0, -2.0, 1.0, 0.0, 7.0, -3.0, 5.0, 1.5];
    let a = Tensor::of(&[4, 3], &elements);
    let [packed, tau, q, r] = std::array::from_fn(|_| Tensor::made(c!(tensors::new())).unwrap());
    assert_eq!(c!(tensors::geqrf(packed.0, tau.0, a.0)), TH_OK);
    assert_eq!(c!(tensors::orgqr(q.0, packed.0, tau.0)), TH_OK);
    assert_eq!(c!(tensors::triu(r.0, packed.0, 0)), TH_OK);
    let (q, r) = (q.elements(), r.elements());
    for i in 0..3 {
        for j in 0..3 {
            let product: f64 = (0..4).map(|k| q[k * 3 + i] * q[k * 3 + j]).sum();
            assert!((product - f64::from(i == j)).abs() < 1e-14);
        }
    }
    for i in 0..4 {
        for j in 0..3 {
            let product: f64 = (0..3).map(|k| q[i * 3 + k] * r[k * 3 + j]).sum();
            assert!((product - elements[i * 3 + j]).abs() < 1e-14);
        }
    }
}

/// Returns the gradient of the sum of the squares of `x`.
fn gradient_of_squares(x: &Tensor) -> Tensor {
    let [squares, sum] = std::array::from_fn(|_| Tensor::made(c!(tensors::new())).unwrap());
    assert_eq!(c!(tensors::setRequiresGrad(x.0, 1)), TH_OK);
    assert_eq!(c!(tensors::pow(squares.0, x.0, 2.0)), TH_OK);
    assert_eq!(c!(tensors::sum(sum.0, squares.0, TH_ALL_DIMS, 0)), TH_OK);
    assert_eq!(c!(tensors::backward(sum.0, null())), TH_OK);
    Tensor::made(c!(tensors::newGrad(x.0))).unwrap()
}

fn the_gradient_of_a_sum_of_squares() {
    let x = Tensor::of(&[2, 2], &[1.0, -1.0, 1.0, 1.0]);
    let gradient = gradient_of_squares(&x);
    assert_eq!((gradient.shape(), gradient.elements()), (vec![2, 2], vec![2.0, -2.0, 2.0, 2.0]));
}

/// The document prints its numbers rounded, before and after.
fn a_gradient_is_asked_for_later() {
    let x = Tensor::of(&[4], &[-0.5503, 0.4926, -2.1158, -0.8303]);
    assert_eq!(c!(tensors::requiresGrad(x.0)), 0);
    let gradient = gradient_of_squares(&x).elements();
    assert_eq!(c!(tensors::requiresGrad(x.0)), 1);
    let printed = [-1.1007, 0.9853, -4.2316, -1.6606];
    assert!(gradient.iter().zip(printed).all(|(got, printed)| (got - printed).abs() < 2e-4), "{gradient:?}");
}

fn references_are_counted() {
    let x = Tensor::of(&[4], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(c!(tensors::refcount(x.0)), 1);
    c!(THTensor_retain(x.0));
    assert_eq!(c!(tensors::refcount(x.0)), 2);
    c!(THTensor_free(x.0));
    assert_eq!(c!(tensors::refcount(x.0)), 1);
    let count = || c!(storages::refcount(x.storage()));
    assert_eq!(count(), 1);
    let view = Tensor::made(c!(tensors::newNarrow(x.0, 0, 1, 2))).unwrap();
    assert_eq!(count(), 2);
    drop(view);
    assert_eq!(count(), 1);
    c!(THStorage_retain(x.storage()));
    let kept = Storage(x.storage());
    drop(x);
    assert_eq!((c!(storages::refcount(kept.0)), kept.elements()), (1, vec![1.0, 2.0, 3.0, 4.0]));
}

fn references_are_counted_atomically() {
    let x = Tensor::of(&[4], &[0.0; 4]);
    // Integers, because raw pointers are not `Send`.
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
    assert_eq!((c!(tensors::refcount(x.0)), c!(storages::refcount(x.storage()))), (1, 1));
}
