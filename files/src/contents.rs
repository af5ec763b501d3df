//! The contents of a file.

use crate::blocks::Blocks;
use crate::element::{Element, Written};
use crate::error::{Error, Result};
use crate::formats::{Body, Format, Part, Table, png};
use crate::grow;
use crate::input::{Input, within};
use crate::sparse::Sparse;
use crate::zip::{self, Packed};
use std::sync::Arc;

/// The contents of a file: its tensors, the storages that hold their elements, and what else it says.
#[derive(Debug)]
pub struct Contents {
    /// The format of the file.
    pub format: Format,
    /// In the order of the file.
    pub tensors: Vec<Tensor>,
    /// The storages of the tensors. Tensors that share their elements refer to one storage.
    pub storages: Vec<Storage>,
    /// The positions and values of the sparse tensors.
    pub sparse: Vec<Sparse>,
    /// Keys and values, in the order of the file.
    pub metadata: Vec<(String, String)>,
}

/// A tensor.
#[derive(Debug)]
pub struct Tensor {
    /// The path to it, `model.layer.0.weight`; empty where a file is one tensor.
    pub name: String,
    /// Sizes of the dimensions.
    pub sizes: Vec<i64>,
    /// Distances of neighbours along the dimensions, in elements.
    pub strides: Vec<i64>,
    /// The place of the first element in the storage.
    pub offset: i64,
    /// The place of the elements.
    pub data: Data,
}

/// The elements of a tensor.
#[derive(Debug, Clone)]
pub enum Data {
    /// They are in the storage with this index.
    Storage(usize),
    /// Those that are not 0 are in the parts of the sparse tensor with this index.
    Sparse(usize),
    /// There is no such type of elements. Only their bytes can be had.
    Opaque(Opaque),
    /// They cannot be had, for this reason.
    Refused(String),
}

/// Elements of a type that is none of [`Element`].
#[derive(Debug, Clone)]
pub struct Opaque {
    /// The index of the storage that has the bytes, of [`Element::U8`].
    pub storage: usize,
    /// Bytes of an element. 0 where elements have no bytes of their own: the tensor is the whole storage.
    pub size: u64,
    /// Why there are no elements.
    pub why: String,
}

impl Data {
    /// Why there are no elements.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Data::Refused(why) | Data::Opaque(Opaque { why, .. }) => Some(why),
            Data::Storage(_) | Data::Sparse(_) => None,
        }
    }
}

/// Elements of one type.
#[derive(Debug)]
pub struct Storage {
    /// Their type.
    pub element: Element,
    /// The number of elements.
    pub len: u64,
    /// The form in which they are written.
    pub encoding: Encoding,
}

/// The form in which a file has the elements of a storage.
#[derive(Debug)]
pub enum Encoding {
    /// As numbers one after the other.
    Numbers {
        /// The offset of the first byte.
        at: u64,
        /// The type of the numbers.
        written: Written,
        /// True if the most significant byte comes first.
        big_endian: bool,
    },
    /// In blocks of numbers with few bits, which become float32.
    Blocks {
        /// The offset of the first byte.
        at: u64,
        /// The structure of the blocks.
        blocks: Blocks,
    },
    /// As the pixels of a file that is a PNG image.
    Png {
        /// True if samples have 16 bits, and not 8.
        sixteen: bool,
    },
    /// As numbers one after the other, compressed by deflate.
    Deflated {
        /// Where the data is.
        data: Packed,
        /// The number of decompressed bytes that come before the first number.
        skip: u64,
        /// The type of the numbers.
        written: Written,
        /// True if the most significant byte comes first.
        big_endian: bool,
    },
    /// As the text of numbers.
    Text(Table),
    /// As the text of a Matrix Market file.
    Market {
        /// The lines with numbers.
        body: Arc<Body>,
        /// The numbers that they are read for.
        part: Part,
    },
    /// As bytes that reading the structure produced already.
    Bytes(Vec<u8>),
}

impl Encoding {
    /// Numbers that are little-endian, as those of this machine.
    pub fn little(at: u64, written: Written) -> Encoding {
        Encoding::Numbers { at, written, big_endian: false }
    }

    /// The offset of elements that lie in the file as they do in memory.
    pub fn plain(&self) -> Option<u64> {
        match *self {
            Encoding::Numbers { at, written: Written::Same(element), big_endian } if !big_endian || element.size() == 1 => Some(at),
            _ => None,
        }
    }
}

/// The contents of a file that is written: the tensors and their storages, whose elements lie in memory one after the other.
pub struct Save<'a> {
    /// The tensors, all of which have [`Data::Storage`] or [`Data::Sparse`].
    pub tensors: &'a [Tensor],
    /// The positions and values of the sparse tensors.
    pub sparse: &'a [Sparse],
    /// For each storage the type of its elements, and their bytes.
    pub storages: &'a [(Element, &'a [u8])],
    /// Keys and values.
    pub metadata: &'a [(String, String)],
    /// The number of digits that floats have in formats that are texts; `None` for as many as tell them apart.
    pub precision: Option<usize>,
}

impl<'a> Save<'a> {
    /// The type of a tensor's elements.
    pub fn element(&self, tensor: &Tensor) -> Element {
        self.storage(tensor).map_or(Element::F32, |(element, _)| element)
    }

    /// The elements of a row-major tensor.
    pub fn bytes(&self, tensor: &Tensor) -> Result<&'a [u8]> {
        let (element, bytes) = self.storage(tensor)?;
        let in_bytes = |count: u64| usize::try_from(count).ok()?.checked_mul(element.size());
        let (start, len) = (u64::try_from(tensor.offset).ok().and_then(in_bytes), in_bytes(tensor.elements()?));
        let found = start.zip(len).and_then(|(start, len)| bytes.get(start..)?.get(..len));
        found.ok_or_else(|| Error::broken(format_args!("tensor '{}' reaches beyond its storage", tensor.name)))
    }

    /// The type and the bytes of a tensor's storage.
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

    /// The parts of a sparse tensor; `None` of a dense one.
    pub fn sparse(&self, tensor: &Tensor) -> Result<Option<&'a Sparse>> {
        let Data::Sparse(index) = tensor.data else { return Ok(None) };
        let found = self.sparse.get(index);
        found.map(Some).ok_or_else(|| Error::broken(format_args!("tensor '{}': there are no parts {index}", tensor.name)))
    }
}

impl Storage {
    /// How many bytes the elements take in memory.
    pub fn bytes(&self) -> Result<usize> {
        let bytes = self.len.checked_mul(self.element.size() as u64).filter(|&bytes| bytes <= isize::MAX as u64);
        bytes
            .map(|bytes| bytes as usize)
            .ok_or_else(|| Error::broken(format_args!("{} elements of {} do not fit in memory", self.len, self.element.name())))
    }
}

impl Tensor {
    /// A row-major tensor over a whole storage.
    pub fn row_major(name: String, sizes: Vec<i64>, storage: usize) -> Result<Tensor> {
        let strides = row_major_strides(&sizes)?;
        Ok(Tensor { name, sizes, strides, offset: 0, data: Data::Storage(storage) })
    }

    /// The number of elements.
    pub fn elements(&self) -> Result<u64> {
        count(&self.sizes)
    }
}

/// Fails where two names are the same.
pub(crate) fn unique<'n>(names: impl Iterator<Item = &'n str>, format: &str) -> Result<()> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::unsupported(format_args!("{format} files cannot have the name '{}' twice", pair[0]))),
        None => Ok(()),
    }
}

/// The number of elements of a tensor with these sizes, which must not be negative.
pub fn count(sizes: &[i64]) -> Result<u64> {
    if let Some(&size) = sizes.iter().find(|&&size| size < 0) {
        return Err(Error::broken(format_args!("size {size} is negative")));
    }
    // Strides of an empty tensor are products of the other sizes.
    let product = sizes.iter().try_fold(1i64, |count, &size| count.checked_mul(size.max(1)));
    let Some(count) = product else {
        return Err(Error::broken(format_args!(
            "sizes {sizes:?} have more than 2^63 elements{}",
            if sizes.contains(&0) { ", sizes of 0 apart" } else { "" }
        )));
    };
    Ok(if sizes.contains(&0) { 0 } else { count as u64 })
}

/// The strides of a row-major tensor.
pub fn row_major_strides(sizes: &[i64]) -> Result<Vec<i64>> {
    let mut strides = grow::copy(sizes)?;
    let mut stride = 1i64;
    for (at, &size) in strides.iter_mut().zip(sizes).rev() {
        *at = stride;
        stride = stride.saturating_mul(size.max(1));
    }
    Ok(strides)
}

/// The greatest number of dimensions of a tensor.
pub const MAX_DIMS: usize = 1024;

impl Contents {
    /// Nothing yet.
    pub fn new(format: Format) -> Contents {
        Contents { format, tensors: Vec::new(), storages: Vec::new(), sparse: Vec::new(), metadata: Vec::new() }
    }

    /// Appends a storage, and returns its index.
    pub fn add_storage(&mut self, element: Element, len: u64, encoding: Encoding) -> Result<usize> {
        grow::push(&mut self.storages, Storage { element, len, encoding })?;
        Ok(self.storages.len() - 1)
    }

    /// Appends a storage of numbers as they lie in the file, and returns its index.
    pub fn add_numbers(&mut self, len: u64, at: u64, written: Written, big_endian: bool) -> Result<usize> {
        self.add_storage(written.element(), len, Encoding::Numbers { at, written, big_endian })
    }

    /// Appends a storage of `len` bytes as they lie in the file, for elements of `size` bytes that are refused for a reason.
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

    /// Checks that every tensor lies in its storage, and every plain storage in the file. Readers are checked once, here.
    pub fn check(&self, input: &dyn Input) -> Result<()> {
        for storage in &self.storages {
            let bytes = storage.bytes()?;
            match &storage.encoding {
                Encoding::Numbers { at, written, .. } => within(input.size(), *at, storage.len as usize * written.size())?,
                Encoding::Blocks { at, blocks } => within(input.size(), *at, blocks.encoded(bytes))?,
                Encoding::Deflated { data, .. } => within(input.size(), data.at, usize::try_from(data.packed).unwrap_or(usize::MAX))?,
                Encoding::Bytes(held) if held.len() != bytes => {
                    return Err(Error::broken(format_args!("a storage has {} bytes, and {bytes} are expected", held.len())));
                }
                Encoding::Text(_) | Encoding::Market { .. } | Encoding::Bytes(_) | Encoding::Png { .. } => {}
            }
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
            // A stride of 0 lets one element of a small file stand for 2^60 positions, all of which are looked at.
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

    /// Fills `to`, which has as many bytes as [`Storage::bytes`] says, with the elements of a storage as they are in memory.
    pub fn read(&self, input: &dyn Input, storage: usize, to: &mut [u8]) -> Result<()> {
        let storage = &self.storages[storage];
        debug_assert_eq!(storage.bytes().ok(), Some(to.len()));
        match storage.encoding {
            Encoding::Numbers { at, written, big_endian } => fill(to, written, big_endian, |to| input.read_at(at, to)),
            Encoding::Deflated { data, skip, written, big_endian } => {
                fill(to, written, big_endian, |to| zip::inflate(input, data, skip, to))
            }
            Encoding::Blocks { at, ref blocks } => {
                // The blocks are read into the upper end, and decoded from the lower end on.
                let start = to.len() - blocks.encoded(to.len());
                input.read_at(at, &mut to[start..])?;
                blocks.decode(to);
                Ok(())
            }
            Encoding::Png { sixteen } => png::decode(input, sixteen, to),
            Encoding::Text(ref table) => table.read(input, to),
            Encoding::Market { ref body, part } => body.read(part, input, to),
            Encoding::Bytes(ref bytes) => {
                to.copy_from_slice(bytes);
                Ok(())
            }
        }
    }
}

/// Fills `to` with the elements that numbers in a file are; `read` fills its slice with the numbers as they are written.
fn fill(to: &mut [u8], written: Written, big_endian: bool, read: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
    match written {
        Written::Same(element) => {
            read(to)?;
            if big_endian {
                to.chunks_exact_mut(element.size()).for_each(<[u8]>::reverse);
            }
        }
        Written::U16 | Written::U32 => {
            // The narrow numbers are read into the upper half, and widened from the lower end on.
            let half = to.len() / 2;
            read(&mut to[half..])?;
            widen(to, written.size(), big_endian);
        }
    }
    Ok(())
}

/// Makes of the unsigned numbers in the upper half of `bytes` little-endian ones of twice their size, all over `bytes`.
pub(crate) fn widen(bytes: &mut [u8], size: usize, big_endian: bool) {
    let half = bytes.len() / 2;
    for i in 0..half / size {
        let mut number = [0; 8];
        number[..size].copy_from_slice(&bytes[half + i * size..][..size]);
        if big_endian {
            number[..size].reverse();
        }
        bytes[i * 2 * size..][..2 * size].copy_from_slice(&number[..2 * size]);
    }
}
