//! The contents of a file that is read.

use crate::element::{Element, Written};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow;
use crate::input::Input;
use crate::sparse::Sparse;
use crate::tensor::{Data, MAX_DIMS, Opaque, Tensor, row_major_strides};

/// The contents of a file: its tensors, the storages that hold their elements, and its metadata.
#[derive(Debug)]
pub struct Contents {
    /// The format of the file.
    pub format: Format,
    /// The tensors, in the order of the file.
    pub tensors: Vec<Tensor>,
    /// The storages of the tensors. Tensors that share elements refer to one storage.
    pub storages: Vec<Storage>,
    /// The positions and values of the sparse tensors.
    pub sparse: Vec<Sparse>,
    /// Keys and values, in the order of the file.
    pub metadata: Vec<(String, String)>,
}

/// Elements of one type.
#[derive(Debug)]
pub struct Storage {
    /// The type of the elements.
    pub element: Element,
    /// The number of elements.
    pub len: u64,
    /// The form in which the file holds the elements.
    pub encoding: Encoding,
}

impl Storage {
    /// Returns the size of the elements in memory, in bytes.
    pub fn bytes(&self) -> Result<usize> {
        let bytes = self.len.checked_mul(self.element.size() as u64).filter(|&bytes| bytes <= isize::MAX as u64);
        bytes
            .map(|bytes| bytes as usize)
            .ok_or_else(|| Error::broken(format_args!("{} elements of {} do not fit in memory", self.len, self.element.name())))
    }
}

impl Contents {
    /// Returns contents without tensors and metadata.
    pub fn new(format: Format) -> Contents {
        Contents { format, tensors: Vec::new(), storages: Vec::new(), sparse: Vec::new(), metadata: Vec::new() }
    }

    /// Appends a storage. Returns its index.
    pub fn add_storage(&mut self, element: Element, len: u64, encoding: Encoding) -> Result<usize> {
        grow::push(&mut self.storages, Storage { element, len, encoding })?;
        Ok(self.storages.len() - 1)
    }

    /// Appends a storage of consecutive numbers that begin at byte `at` of the file. Returns its index.
    pub fn add_numbers(&mut self, len: u64, at: u64, written: Written, big_endian: bool) -> Result<usize> {
        self.add_storage(written.element(), len, Encoding::Numbers { at, written, big_endian })
    }

    /// Appends a storage of the `len` bytes from `at` on, for elements of `size` bytes that cannot be read for the reason `why`.
    pub fn add_opaque(&mut self, len: u64, size: u64, at: u64, why: String) -> Result<Data> {
        let storage = self.add_numbers(len, at, Written::Same(Element::U8), false)?;
        Ok(Data::Opaque(Opaque { storage, size, why }))
    }

    /// Appends a sparse tensor.
    pub fn add_sparse(&mut self, name: String, sizes: Vec<i64>, sparse: Sparse) -> Result<()> {
        let strides = row_major_strides(&sizes)?;
        grow::push(&mut self.sparse, sparse)?;
        grow::push(&mut self.tensors, Tensor { name, sizes, strides, offset: 0, data: Data::Sparse(self.sparse.len() - 1) })
    }

    /// Appends a key and its value.
    pub fn add_metadata(&mut self, key: String, value: String) -> Result<()> {
        grow::push(&mut self.metadata, (key, value))
    }

    /// Checks that every tensor is inside its storage, and every encoded storage inside the file. `open` calls it for every format.
    pub fn check(&self, input: &dyn Input) -> Result<()> {
        for storage in &self.storages {
            storage.encoding.check(storage.len, storage.bytes()?, input)?;
        }
        self.tensors.iter().try_for_each(|tensor| self.check_tensor(tensor))
    }

    fn check_tensor(&self, tensor: &Tensor) -> Result<()> {
        let wrong = |what: std::fmt::Arguments<'_>| Err(Error::broken(format_args!("tensor '{}': {what}", tensor.name)));
        let (sizes, strides) = (&tensor.sizes, &tensor.strides);
        if sizes.len() != strides.len() || sizes.len() > MAX_DIMS {
            return wrong(format_args!("{} sizes and {} strides", sizes.len(), strides.len()));
        }
        if strides.iter().any(|&stride| stride < 0) {
            return wrong(format_args!("strides {strides:?} are negative"));
        }
        if let Data::Sparse(index) = tensor.data {
            let Some(sparse) = self.sparse.get(index) else { return wrong(format_args!("there are no parts {index}")) };
            sparse.check(sizes).or_else(|error| wrong(format_args!("{}", error.message)))?;
            sparse.parts.iter().try_for_each(|part| self.check_tensor(part))?;
            // A stride of 0 would turn one element of a small file into 2^60 positions, and every position is read later.
            let positions = sparse.parts.split_last().map_or(&[][..], |(_, positions)| positions);
            for part in positions {
                let stored = if let Data::Storage(index) = part.data { self.storages[index].len } else { 0 };
                if part.elements()? > stored {
                    return wrong(format_args!("there are positions {:?}, and {stored} are stored", part.sizes));
                }
            }
            return Ok(());
        }
        let elements = tensor.elements()?;
        let (index, size) = match &tensor.data {
            Data::Storage(index) => (*index, 1),
            Data::Opaque(Opaque { storage, size, .. }) => (*storage, *size),
            Data::Sparse(_) | Data::Refused(_) => return Ok(()),
        };
        let Some(storage) = self.storages.get(index) else { return wrong(format_args!("there is no storage {index}")) };
        if elements == 0 || size == 0 {
            return Ok(());
        }
        // The offset of the last element.
        let reaches = sizes.iter().zip(strides).map(|(&size, &stride)| i128::from(size - 1) * i128::from(stride));
        let last = i128::from(tensor.offset) + reaches.sum::<i128>();
        let len = storage.len / size;
        if tensor.offset < 0 || last >= i128::from(len) {
            return wrong(format_args!(
                "sizes {sizes:?}, strides {strides:?} and offset {} reach beyond the {} elements of its storage",
                tensor.offset, len
            ));
        }
        Ok(())
    }

    /// Fills `to`, which has the size that [`Storage::bytes`] returns, with the elements of a storage as they are in memory.
    pub fn read(&self, input: &dyn Input, storage: usize, to: &mut [u8]) -> Result<()> {
        let storage = &self.storages[storage];
        debug_assert_eq!(storage.bytes().ok(), Some(to.len()));
        storage.encoding.read(input, to)
    }
}
