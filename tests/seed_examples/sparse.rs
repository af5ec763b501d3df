//! Examples of sparse tensors.

use crate::handles::Tensor;
use crate::tensors;
use std::ffi::{c_int, c_void};
use thorn::api::sparse::THSTensor;
use thorn::capi::functions::sparse;
use thorn::dtype::{TH_INT64, THDtype};
use thorn::error::TH_OK;

/// A counted reference to a sparse tensor.
struct Sparse(*mut THSTensor);

impl Sparse {
    fn made(raw: *mut THSTensor) -> Sparse {
        assert!(!raw.is_null());
        Sparse(raw)
    }

    fn size(&self) -> Vec<i64> {
        (0..c!(sparse::nDimension(self.0))).map(|d| c!(sparse::size(self.0, d))).collect()
    }

    /// Shape and elements of the positions, and of the values.
    fn parts(&self) -> [(Vec<i64>, Vec<f64>); 2] {
        [c!(sparse::newIndices(self.0)), c!(sparse::newValues(self.0))].map(|part| {
            let part = Tensor::made(part).unwrap();
            (part.shape(), part.elements())
        })
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        c!(sparse::free(self.0))
    }
}

fn whole(shape: &[i64], elements: &[i64]) -> Tensor {
    let raw = c!(tensors::newFromData(TH_INT64, shape.len() as c_int, shape.as_ptr(), elements.as_ptr().cast::<c_void>()));
    Tensor::made(raw).unwrap()
}

fn dense() -> Tensor {
    whole(&[3, 3], &[0, 0, 0, 9, 0, 10, 0, 0, 0])
}

pub fn a_matrix_becomes_sparse() {
    let s = Sparse::made(c!(sparse::newFromDense(dense().0, -1)));
    assert_eq!(s.parts(), [(vec![2, 2], vec![1.0, 1.0, 0.0, 2.0]), (vec![2], vec![9.0, 10.0])]);
    assert_eq!((s.size(), c!(sparse::nnz(s.0)), c!(sparse::dtype(s.0))), (vec![3, 3], 2, TH_INT64 as THDtype));
    assert_eq!(c!(sparse::isCompressed(s.0)), 0);
}

pub fn rows_become_entries() {
    let s = Sparse::made(c!(sparse::newFromDense(dense().0, 1)));
    assert_eq!(s.parts(), [(vec![1, 1], vec![1.0]), (vec![1, 3], vec![9.0, 0.0, 10.0])]);
    assert_eq!((s.size(), c!(sparse::nnz(s.0)), c!(sparse::sparseDim(s.0))), (vec![3, 3], 1, 1));
}

/// The document's values are random. This checks the positions of the elements.
pub fn a_mask_chooses_elements() {
    let elements: Vec<f64> = (0..100).map(f64::from).collect();
    let t = Tensor::of(&[5, 5, 2, 2], &elements);
    let (indices, values) = (whole(&[2, 4], &[0, 0, 0, 2, 0, 1, 4, 3]), Tensor::of(&[4, 2, 2], &[1.0; 16]));
    let mask = c!(sparse::newWithTensorAndSize(indices.0, values.0, 4, [5, 5, 2, 2].as_ptr()));
    let (mask, r) = (Sparse::made(mask), Sparse::made(c!(sparse::new())));
    assert_eq!(c!(sparse::coalesce(mask.0, mask.0)), TH_OK);
    assert_eq!(c!(sparse::sparseMask(r.0, t.0, mask.0)), TH_OK);
    let at = [0, 1, 4, 13].map(|place| (0..4).map(move |k| f64::from(4 * place + k)));
    assert_eq!(r.parts(), [mask.parts()[0].clone(), (vec![4, 2, 2], at.into_iter().flatten().collect())]);
    assert_eq!((r.size(), c!(sparse::nnz(r.0))), (vec![5, 5, 2, 2], 4));
}
