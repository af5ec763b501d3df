//! The interpreter: operations run one after the other, on things known by name.

use crate::handles::{Outcome, Storage, Tensor, Thing, done};
use crate::json::{list, text};
use crate::{applying, changing, indexing, making, viewing};
use serde_json::Value;
use std::collections::HashMap;
use thorn::error::THStatus;
use thorn::storage::THStorage;
use thorn::tensor::THTensor;

/// An operation: its handles are in the world, its numbers in its own fields.
pub type Operation = fn(&World, &Value) -> Outcome;

/// How an operation runs, if it can.
pub fn known(name: &str) -> Option<Operation> {
    making::operation(name)
        .or(viewing::operation(name))
        .or(changing::operation(name))
        .or(applying::operation(name))
        .or(indexing::operation(name))
}

/// A new tensor for the world.
pub fn tensor(raw: *mut THTensor) -> Outcome {
    Tensor::made(raw).map(|tensor| Some(Thing::Tensor(tensor)))
}

/// A new tensor for the world, once a function has written its result there.
pub fn result(raw: *mut THTensor, call: impl FnOnce(*mut THTensor) -> THStatus) -> Outcome {
    let new = Tensor::made(raw)?;
    done(call(new.0))?;
    Ok(Some(Thing::Tensor(new)))
}

/// A new storage for the world.
pub fn storage(raw: *mut THStorage) -> Outcome {
    Storage::made(raw).map(|storage| Some(Thing::Storage(storage)))
}

/// All things by their names.
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

    /// The handle an operation is on.
    pub fn it(&self, operation: &Value) -> *mut THTensor {
        self.tensor(operation, "self").0
    }

    /// The storage named in field `key`, or the one of the tensor named there.
    pub fn storage(&self, of: &Value, key: &str) -> *mut THStorage {
        match self.0.get(text(of, key)) {
            Some(Thing::Storage(storage)) => storage.0,
            Some(Thing::Tensor(tensor)) => tensor.storage(),
            _ => panic!("{} has no storage", of[key]),
        }
    }

    /// Runs operations up to the first that fails.
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
