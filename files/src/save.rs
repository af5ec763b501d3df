//! The contents of a file to be written.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::sparse::Sparse;
use crate::tensor::{Data, Opaque, Tensor};
use std::io::{Seek, Write};

/// A destination of a file, which is written from its beginning.
pub trait Output: Write + Seek {}

impl<W: Write + Seek> Output for W {}

/// The contents of a file to be written: the tensors, and the storages that hold their elements in memory.
pub struct Save<'a> {
    /// The tensors. Each has [`Data::Storage`] or [`Data::Sparse`].
    pub tensors: &'a [Tensor],
    /// The positions and values of the sparse tensors.
    pub sparse: &'a [Sparse],
    /// For each storage, the type of its elements and their bytes.
    pub storages: &'a [(Element, &'a [u8])],
    /// Keys and values.
    pub metadata: &'a [(String, String)],
    /// The number of digits that floats have in text formats; `None` for the fewest that identify the float.
    pub precision: Option<usize>,
}

impl<'a> Save<'a> {
    /// Returns the first tensor. For a format with one tensor, [`save`](crate::save) has checked that there are no others.
    pub(crate) fn only(&self) -> &'a Tensor {
        &self.tensors[0]
    }

    /// Returns the type of a tensor's elements.
    pub fn element(&self, tensor: &Tensor) -> Element {
        self.storage(tensor).map_or(Element::F32, |(element, _)| element)
    }

    /// Returns the elements of a row-major tensor.
    pub fn bytes(&self, tensor: &Tensor) -> Result<&'a [u8]> {
        let (element, bytes) = self.storage(tensor)?;
        let in_bytes = |count: u64| usize::try_from(count).ok()?.checked_mul(element.size());
        let (start, len) = (u64::try_from(tensor.offset).ok().and_then(in_bytes), in_bytes(tensor.elements()?));
        let found = start.zip(len).and_then(|(start, len)| bytes.get(start..)?.get(..len));
        found.ok_or_else(|| Error::broken(format_args!("tensor '{}' reaches beyond its storage", tensor.name)))
    }

    /// Returns the type and the bytes of a tensor's storage.
    pub fn storage(&self, tensor: &Tensor) -> Result<(Element, &'a [u8])> {
        match &tensor.data {
            Data::Storage(index) => self
                .storages
                .get(*index)
                .copied()
                .ok_or_else(|| Error::broken(format_args!("tensor '{}': there is no storage {index}", tensor.name))),
            Data::Sparse(_) => {
                Err(Error::unsupported(format_args!("tensor '{}' is sparse, and the format has no such tensors", tensor.name)))
            }
            Data::Refused(why) | Data::Opaque(Opaque { why, .. }) => {
                Err(Error::unsupported(format_args!("tensor '{}': {why}", tensor.name)))
            }
        }
    }

    /// Returns the parts of a sparse tensor; `None` for a dense one.
    pub fn sparse(&self, tensor: &Tensor) -> Result<Option<&'a Sparse>> {
        let Data::Sparse(index) = tensor.data else { return Ok(None) };
        let found = self.sparse.get(index);
        found.map(Some).ok_or_else(|| Error::broken(format_args!("tensor '{}': there are no parts {index}", tensor.name)))
    }
}

/// Fails if two names are equal.
pub(crate) fn unique<'n>(names: impl Iterator<Item = &'n str>, format: &str) -> Result<()> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::unsupported(format_args!("{format} files cannot have the name '{}' twice", pair[0]))),
        None => Ok(()),
    }
}
