//! Counted references to tensors and storages, and the outcomes of C API calls.

use crate::{storages, tensors};
use std::ffi::{CStr, c_int, c_void};
use thorn::capi::by_hand::errors::*;
use thorn::capi::by_hand::handles::THTensor_free;
use thorn::capi::by_hand::storages::THStorage_free;
use thorn::dtype::TH_FLOAT64;
use thorn::error::{TH_OK, THStatus};
use thorn::storage::THStorage;
use thorn::tensor::THTensor;

/// A named object of an example.
pub enum Thing {
    Tensor(Tensor),
    Storage(Storage),
    List(Vec<Tensor>),
    Number(f64),
}

/// The value of a call, or the message of its failure.
pub type Outcome<T = Option<Thing>> = Result<T, String>;

/// A counted reference to a tensor.
pub struct Tensor(pub *mut THTensor);

impl Tensor {
    /// Returns the tensor that a function made, or the message of its failure.
    pub fn made(raw: *mut THTensor) -> Outcome<Tensor> {
        if raw.is_null() { Err(last_error()) } else { Ok(Tensor(raw)) }
    }

    /// A row-major float64 tensor.
    pub fn of(shape: &[i64], elements: &[f64]) -> Tensor {
        assert_eq!(shape.iter().product::<i64>(), elements.len() as i64);
        let raw = c!(tensors::newFromData(TH_FLOAT64, shape.len() as c_int, shape.as_ptr(), elements.as_ptr().cast::<c_void>()));
        Tensor::made(raw).expect("there is memory")
    }

    pub fn shape(&self) -> Vec<i64> {
        (0..c!(tensors::nDimension(self.0))).map(|d| c!(tensors::size(self.0, d))).collect()
    }

    pub fn strides(&self) -> Vec<i64> {
        (0..c!(tensors::nDimension(self.0))).map(|d| c!(tensors::stride(self.0, d))).collect()
    }

    /// All elements in row-major order, found through the strides.
    pub fn elements(&self) -> Vec<f64> {
        let shape = self.shape();
        let at = |mut place: i64| {
            let mut index = vec![0; shape.len()];
            for d in (0..shape.len()).rev() {
                (index[d], place) = (place % shape[d], place / shape[d]);
            }
            c!(tensors::getAt(self.0, index.len() as c_int, index.as_ptr()))
        };
        (0..shape.iter().product()).map(at).collect()
    }

    pub fn storage(&self) -> *mut THStorage {
        c!(tensors::storage(self.0))
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        c!(THTensor_free(self.0))
    }
}

/// A counted reference to a storage.
pub struct Storage(pub *mut THStorage);

impl Storage {
    pub fn made(raw: *mut THStorage) -> Outcome<Storage> {
        if raw.is_null() { Err(last_error()) } else { Ok(Storage(raw)) }
    }

    pub fn elements(&self) -> Vec<f64> {
        (0..c!(storages::size(self.0))).map(|i| c!(storages::get(self.0, i))).collect()
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        c!(THStorage_free(self.0))
    }
}

fn last_error() -> String {
    // SAFETY: the function returns a C string, which is valid until the next failing call.
    unsafe { CStr::from_ptr(THGetLastError()) }.to_string_lossy().into_owned()
}

pub fn done(status: THStatus) -> Outcome {
    if status == TH_OK { Ok(None) } else { Err(last_error()) }
}

/// The outcome of a function that reports failure only through the error state.
pub fn asked(call: impl FnOnce()) -> Outcome {
    THClearLastError();
    call();
    done(THGetLastErrorCode())
}
