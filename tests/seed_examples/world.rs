//! The interpreter: runs operations one after the other on named objects.

use crate::handles::{Outcome, Storage, Tensor, Thing, done};
use crate::json::{list, text};
use crate::{applying, changing, indexing, making, viewing};
use serde_json::Value;
use std::collections::HashMap;
use thorn::error::THStatus;
use thorn::storage::THStorage;
use thorn::tensor::THTensor;

/// An operation. Its handles are in the world, and its numbers in its own fields.
pub type Operation = fn(&World, &Value) -> Outcome;

/// Returns the function that runs an operation, if there is one.
pub fn known(name: &str) -> Option<Operation> {
    making::operation(name)
        .or(viewing::operation(name))
        .or(changing::operation(name))
        .or(applying::operation(name))
        .or(indexing::operation(name))
}

/// Returns a new tensor for the world.
pub fn tensor(raw: *mut THTensor) -> Outcome {
    Tensor::made(raw).map(|tensor| Some(Thing::Tensor(tensor)))
}

/// Returns a new tensor for the world, after a function has written its result to the tensor.
pub fn result(raw: *mut THTensor, call: impl FnOnce(*mut THTensor) -> THStatus) -> Outcome {
    let new = Tensor::made(raw)?;
    done(call(new.0))?;
    Ok(Some(Thing::Tensor(new)))
}

/// Returns a new storage for the world.
pub fn storage(raw: *mut THStorage) -> Outcome {
    Storage::made(raw).map(|storage| Some(Thing::Storage(storage)))
}

/// All objects by name.
#[derive(Default)]
pub struct World(pub HashMap<String, Thing>);

impl World {
    /// The tensor named in field `key`.
    pub fn tensor(&self, of: &Value, key: &str) -> &Tensor {
        match self.0.get(text(of, key)) {
            Some(Thing::Tensor(tensor)) => tensor,
            _ => panic!("{} is no tensor", of[key]),
        }
    }

    /// The handle that an operation works on.
    pub fn it(&self, operation: &Value) -> *mut THTensor {
        self.tensor(operation, "self").0
    }

    /// The storage named in field `key`, or the storage of the tensor named there.
    pub fn storage(&self, of: &Value, key: &str) -> *mut THStorage {
        match self.0.get(text(of, key)) {
            Some(Thing::Storage(storage)) => storage.0,
            Some(Thing::Tensor(tensor)) => tensor.storage(),
            _ => panic!("{} has no storage", of[key]),
        }
    }

    /// Runs operations until one fails.
    pub fn run(&mut self, operations: &Value) -> Outcome<()> {
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
