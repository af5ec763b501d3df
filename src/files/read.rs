//! Reading archives.

use super::callbacks::{Callbacks, Memory};
use super::format::dtype;
use super::message::{about, c_string, failed};
use super::types::TH_OPEN_COPY;
use super::{Sparse, THFileFormat, map};
use crate::alloc::{self, fork::LongMutex};
use crate::cpu::pool;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail, reason};
use crate::layout::{Layout, is_row_major};
use crate::ops::assign::assign;
use crate::ops::quantized::{TH_BLOCK_NONE, THBlockType};
use crate::ops::view;
use crate::storage::Storage;
use crate::system;
use crate::tensor::Tensor;
use std::ffi::{CStr, CString};
use std::fs::File;
use thorn_files::input::FileInput;
#[cfg(feature = "programs")]
use thorn_files::program::Program;
use thorn_files::{Contents, Data, Encoding, Input, Opaque};

/// A file opened for reading, and its contents.
pub struct Reading {
    input: Box<dyn Input>,
    contents: Contents,
    /// False if elements are always read and never mapped.
    maps: bool,
    /// The name of the file, for messages.
    path: Option<CString>,
    names: Vec<CString>,
    /// The indices of the tensors, sorted by name.
    by_name: Vec<usize>,
    metadata: Vec<(CString, CString)>,
    /// For each storage that several tensors share, the storage in memory once it was read, so that it is read only once.
    shared: Vec<Option<LongMutex<Option<Storage>>>>,
}

/// Reads an exported program, and stores the program in `place`.
#[cfg(feature = "programs")]
fn keep(place: &mut Option<Program>, input: &dyn Input) -> thorn_files::Result<Contents> {
    let (contents, program) = thorn_files::read_program(input)?;
    *place = Some(program);
    Ok(contents)
}

/// Opens a regular file. Fails for a pipe without waiting for its other end.
fn open_file(path: &CStr) -> Result<File> {
    let failed = |what: &str, error: std::io::Error| about(Kind::Io, Some(path), format_args!("{what}: {}", reason(&error)));
    let file = system::path(path).and_then(system::open_to_read).map_err(|error| failed("cannot open", error))?;
    let found = file.metadata().map_err(|error| failed("cannot determine the size", error))?;
    if !found.is_file() {
        return Err(about(Kind::Io, Some(path), format_args!("not a regular file")));
    }
    Ok(file)
}

/// Returns the layout of a tensor in its storage. In a file, an empty tensor may have any offset.
fn layout_of(tensor: &thorn_files::Tensor) -> Layout {
    let offset = if tensor.sizes.contains(&0) { 0 } else { tensor.offset };
    Layout { shape: tensor.sizes.as_slice().into(), strides: tensor.strides.as_slice().into(), offset }
}

impl Reading {
    /// Opens the file `path`.
    pub fn open(path: &CStr) -> Result<Reading> {
        Reading::of_file(path, |input| thorn_files::open_named(input, path.to_bytes()))
    }

    /// Opens the file `path` with `TH_OPEN_*` flags.
    pub fn open_with(path: &CStr, flags: i32) -> Result<Reading> {
        if flags & !TH_OPEN_COPY != 0 {
            bail!(Argument, "flags {flags:#x}: expected 0 or TH_OPEN_COPY ({TH_OPEN_COPY})")
        }
        Ok(Reading { maps: flags & TH_OPEN_COPY == 0, ..Reading::open(path)? })
    }

    /// Opens the file `path` as a table with this separator between fields.
    pub fn open_table(path: &CStr, separator: i32) -> Result<Reading> {
        let Ok(separator) = u8::try_from(separator) else { bail!(Argument, "{separator} is no character of ASCII") };
        Reading::of_file(path, |input| {
            let contents = thorn_files::read_csv(input, Some(separator))?;
            contents.check(input).map(|()| contents)
        })
    }

    /// Opens the file `path`, an exported program. Returns the program, too.
    #[cfg(feature = "programs")]
    pub fn open_program(path: &CStr) -> Result<(Reading, Program)> {
        let mut program = None;
        let reading = Reading::of_file(path, |input| keep(&mut program, input))?;
        program.map_or_else(|| bail!(Internal, "the file has no program"), |program| Ok((reading, program)))
    }

    /// [`Reading::open_program`] for a file in memory.
    #[cfg(feature = "programs")]
    pub fn program_of_memory(memory: Memory) -> Result<(Reading, Program)> {
        let mut program = None;
        let Some(input) = alloc::boxed(memory) else { bail!(NoMem, "out of memory for an archive") };
        let reading = Reading::of(input, None, |input| keep(&mut program, input))?;
        program.map_or_else(|| bail!(Internal, "the file has no program"), |program| Ok((reading, program)))
    }

    fn of_file(path: &CStr, read: impl FnOnce(&dyn Input) -> thorn_files::Result<Contents>) -> Result<Reading> {
        let input = FileInput::new(open_file(path)?).map_err(|error| failed(Some(path), error))?;
        let Some(input) = alloc::boxed(input) else { bail!(NoMem, "out of memory for an archive") };
        Reading::of(input, Some(path), read)
    }

    /// Opens a file in memory.
    pub fn of_memory(memory: Memory) -> Result<Reading> {
        Reading::of_input(memory)
    }

    /// Opens a file through functions of the caller.
    pub fn of_callbacks(callbacks: Callbacks) -> Result<Reading> {
        Reading::of_input(callbacks)
    }

    fn of_input(input: impl Input + 'static) -> Result<Reading> {
        let Some(input) = alloc::boxed(input) else { bail!(NoMem, "out of memory for an archive") };
        Reading::of(input, None, thorn_files::open)
    }

    fn of(input: Box<dyn Input>, path: Option<&CStr>, read: impl FnOnce(&dyn Input) -> thorn_files::Result<Contents>) -> Result<Reading> {
        // The crates for JSON, zip and images allocate infallibly. The size of their memory is limited by the size of the file.
        let set_aside = input.size().min(16 << 20) as usize * 4 + (1 << 20);
        thorn_files::set_threads(pool::num_threads(), system::without);
        let Some((contents, _)) = alloc::provided(set_aside, || read(&*input)) else {
            bail!(NoMem, "out of memory: {set_aside} bytes could not be allocated")
        };
        let contents = contents.map_err(|error| failed(path, error))?;
        let names = alloc::list(contents.tensors.len(), |i| c_string(&contents.tensors[i].name))?;
        let mut by_name = alloc::list(names.len(), Ok)?;
        by_name.sort_unstable_by(|&a, &b| names[a].cmp(&names[b]).then(a.cmp(&b)));
        let metadata = alloc::list(contents.metadata.len(), |i| {
            let (key, value) = &contents.metadata[i];
            Ok((c_string(key)?, c_string(value)?))
        })?;
        let mut uses = alloc::list(contents.storages.len(), |_| Ok(0usize))?;
        for tensor in contents.tensors.iter().chain(contents.sparse.iter().flat_map(|sparse| &sparse.parts)) {
            if let Data::Storage(index) = tensor.data {
                uses[index] += 1;
            }
        }
        let shared = alloc::list(uses.len(), |i| Ok((uses[i] > 1).then(|| LongMutex::new(None))))?;
        let path = path.map(|path| c_string(&path.to_string_lossy())).transpose()?;
        Ok(Reading { input, contents, maps: true, path, names, by_name, metadata, shared })
    }

    /// Returns the format of the file.
    pub fn format(&self) -> THFileFormat {
        self.contents.format as THFileFormat
    }

    /// Returns the usual name of the format.
    pub fn format_name(&self) -> &'static str {
        self.contents.format.name()
    }

    /// Returns the number of tensors.
    pub fn count(&self) -> i64 {
        self.names.len() as i64
    }

    fn at<'a, T>(&self, list: &'a [T], index: i64, what: &str) -> Result<&'a T> {
        let found = usize::try_from(index).ok().and_then(|index| list.get(index));
        found.ok_or_else(|| Error::new(Kind::Argument, format_args!("{what} {index} of {}: out of range", list.len())))
    }

    /// Returns the name of a tensor.
    pub fn name(&self, index: i64) -> Result<&CStr> {
        self.at(&self.names, index, "tensor").map(CString::as_c_str)
    }

    /// Returns the index of the first tensor with this name.
    pub fn find(&self, name: &CStr) -> Option<i64> {
        let at = self.by_name.partition_point(|&index| self.names[index].as_c_str() < name);
        self.by_name.get(at).filter(|&&index| self.names[index].as_c_str() == name).map(|&index| index as i64)
    }

    /// [`Reading::find`] that fails if no tensor has the name.
    pub fn found(&self, name: &CStr) -> Result<i64> {
        self.find(name).ok_or_else(|| self.error(Kind::Argument, format_args!("no tensor is named '{}'", name.to_string_lossy())))
    }

    /// Returns the sizes of a tensor.
    pub fn sizes(&self, index: i64) -> Result<&[i64]> {
        self.at(&self.contents.tensors, index, "tensor").map(|tensor| tensor.sizes.as_slice())
    }

    /// Returns the index of the storage of a dense tensor. Fails for other tensors.
    fn storage_of(&self, tensor: &thorn_files::Tensor) -> Result<usize> {
        match &tensor.data {
            Data::Storage(storage) => Ok(*storage),
            Data::Sparse(_) => {
                let how = "THArchive_newSparse or THSTensor_newLoad reads it";
                Err(self.error(Kind::Unsupported, format_args!("tensor '{}' is sparse: {how}", tensor.name)))
            }
            Data::Opaque(Opaque { why, .. }) => {
                let how = "THArchive_newBytes returns their bytes";
                Err(self.error(Kind::Unsupported, format_args!("tensor '{}': {why}: {how}", tensor.name)))
            }
            Data::Refused(why) => Err(self.error(Kind::Unsupported, format_args!("tensor '{}': {why}", tensor.name))),
        }
    }

    fn entry(&self, index: i64) -> Result<&thorn_files::Tensor> {
        self.at(&self.contents.tensors, index, "tensor")
    }

    /// Returns the parts of a sparse tensor; `None` for other tensors.
    fn parts_of(&self, index: i64) -> Result<Option<&thorn_files::Sparse>> {
        let Data::Sparse(at) = self.entry(index)?.data else { return Ok(None) };
        Ok(self.contents.sparse.get(at))
    }

    /// Returns the dtype of a tensor, or of the values of a sparse tensor.
    pub fn dtype(&self, index: i64) -> Result<Dtype> {
        let tensor = match self.parts_of(index)?.and_then(|sparse| sparse.parts.last()) {
            Some(values) => values,
            None => self.entry(index)?,
        };
        Ok(dtype(self.contents.storages[self.storage_of(tensor)?].element))
    }

    /// Returns ggml's number of the structure of a tensor's blocks; `TH_BLOCK_NONE` for tensors without blocks.
    pub fn block_type(&self, index: i64) -> Result<THBlockType> {
        let Data::Storage(storage) = self.entry(index)?.data else { return Ok(TH_BLOCK_NONE) };
        match &self.contents.storages[storage].encoding {
            Encoding::Blocks { blocks, .. } => Ok(blocks.code()),
            _ => Ok(TH_BLOCK_NONE),
        }
    }

    /// Returns the number of entries of a sparse tensor; `None` for other tensors.
    pub fn entries(&self, index: i64) -> Result<Option<i64>> {
        Ok(self.parts_of(index)?.map(thorn_files::Sparse::nnz))
    }

    /// Returns the number of keys in the metadata.
    pub fn keys(&self) -> i64 {
        self.metadata.len() as i64
    }

    /// Returns a key and its value.
    pub fn metadata(&self, index: i64) -> Result<(&CStr, &CStr)> {
        self.at(&self.metadata, index, "key").map(|(key, value)| (key.as_c_str(), value.as_c_str()))
    }

    /// Returns the value of a key.
    pub fn value(&self, key: &CStr) -> Option<&CStr> {
        self.metadata.iter().find(|(known, _)| known.as_c_str() == key).map(|(_, value)| value.as_c_str())
    }

    /// Returns a tensor of the file. Many elements whose bytes in the file are those in memory are mapped. Other elements are read.
    pub fn tensor(&self, index: i64) -> Result<Tensor> {
        self.tensor_over(self.entry(index)?, true)
    }

    /// Returns a sparse tensor of the file. Its parts are mapped or read as in [`Reading::tensor`].
    pub fn sparse(&self, index: i64) -> Result<Sparse> {
        self.sparse_over(index, true)
    }

    fn sparse_over(&self, index: i64, may_map: bool) -> Result<Sparse> {
        let tensor = self.entry(index)?;
        let Some(sparse) = self.parts_of(index)? else {
            // If the tensor cannot be read, this error is more precise.
            self.storage_of(tensor)?;
            let how = "THArchive_newTensor or THTensor_newLoad reads it";
            return Err(self.error(Kind::Unsupported, format_args!("tensor '{}' is not sparse: {how}", tensor.name)));
        };
        let parts = alloc::list(sparse.parts.len(), |k| self.tensor_over(&sparse.parts[k], may_map))?;
        Ok(Sparse { sizes: tensor.sizes.as_slice().into(), form: sparse.form, parts, coalesced: sparse.coalesced })
    }

    /// `r` = a tensor of the file.
    pub fn read_into(&self, r: &Tensor, index: i64) -> Result<()> {
        assign(r, &self.copied(self.entry(index)?)?)
    }

    /// Returns the only tensor of the file. Its elements are read.
    pub fn only(&self) -> Result<Tensor> {
        self.check_alone()?;
        self.tensor_over(self.entry(0)?, false)
    }

    /// Returns the only tensor of the file, which must be sparse. Its parts are read.
    pub fn only_sparse(&self) -> Result<Sparse> {
        self.check_alone()?;
        self.sparse_over(0, false)
    }

    fn check_alone(&self) -> Result<()> {
        if self.names.len() != 1 {
            let is_of_scipy =
                ["data", "format", "shape"].iter().all(|part| self.names.iter().any(|name| name.as_bytes() == part.as_bytes()));
            let why = if is_of_scipy { ", the arrays of a SciPy matrix in another format than csr, csc and coo (see tocsr())" } else { "" };
            let count = self.names.len();
            return Err(self.error(Kind::Argument, format_args!("the file has {count} tensors{why}: open it with THArchive_open")));
        }
        Ok(())
    }

    /// Returns `len` elements of a tensor from the element `first` in row-major order on, as a vector. Only these elements are mapped or
    /// read. Returns `None` if the tensor is not row-major or its bytes in the file are not those in memory.
    pub fn part(&self, index: i64, first: i64, len: i64) -> Result<Option<Tensor>> {
        let tensor = self.entry(index)?;
        let stored = &self.contents.storages[self.storage_of(tensor)?];
        let elements: i64 = tensor.sizes.iter().product();
        if first < 0 || len < 0 || len > elements || first > elements - len {
            bail!(Argument, "elements {first} to {} are out of range for {elements} elements", first.saturating_add(len))
        }
        let Some(at) = stored.encoding.plain().filter(|_| is_row_major(&tensor.sizes, &tensor.strides)) else { return Ok(None) };
        let dtype = dtype(stored.element);
        let offset = if len == 0 { 0 } else { tensor.offset + first };
        let at = at + offset as u64 * dtype.size() as u64;
        Tensor::with_layout(self.numbers(dtype, at, len)?, dtype, &Layout::contiguous(&[len])).map(Some)
    }

    /// Maps or reads `len` elements from byte `at` on. Their bytes in the file must be those in memory.
    fn numbers(&self, dtype: Dtype, at: u64, len: i64) -> Result<Storage> {
        let file = self.input.file().filter(|_| self.maps);
        match file.map_or(Ok(None), |file| map::mapped(file, dtype, at, len))? {
            Some(storage) => Ok(storage),
            None => self.filled(Storage::on_host(dtype, len)?, |to| self.input.read_at(at, to)),
        }
    }

    /// Returns the bytes of a tensor's elements in the file, in row-major order, as a vector of uint8.
    pub fn bytes(&self, index: i64) -> Result<Tensor> {
        let tensor = self.entry(index)?;
        let (storage, size) = match &tensor.data {
            Data::Opaque(Opaque { storage, size, .. }) => (self.made(*storage, true)?, *size as i64),
            _ => {
                let stored = &self.contents.storages[self.storage_of(tensor)?];
                // `Contents::check` has checked that the bytes are inside the file.
                match &stored.encoding {
                    Encoding::Numbers { at, written, .. } => {
                        let size = written.size() as i64;
                        (self.numbers(Dtype::Uint8, *at, stored.len as i64 * size)?, size)
                    }
                    Encoding::Blocks { at, blocks } => {
                        let bytes = blocks.encoded(stored.bytes().map_err(|error| failed(self.path.as_deref(), error))?);
                        (self.numbers(Dtype::Uint8, *at, bytes as i64)?, 0)
                    }
                    _ => {
                        let what = format_args!(
                            "tensor '{}': its elements are compressed or a text in the file: THArchive_newTensor reads them as {}",
                            tensor.name,
                            dtype(stored.element)
                        );
                        return Err(self.error(Kind::Unsupported, what));
                    }
                }
            }
        };
        if size == 0 {
            let len = storage.len();
            return Tensor::with_layout(storage, Dtype::Uint8, &Layout::contiguous(&[len]));
        }
        // The bytes of an element become a dimension. The stride of a dimension of size 1 is arbitrary and may overflow.
        let Layout { shape, strides, offset } = layout_of(tensor);
        let layout = Layout {
            shape: shape.iter().copied().chain([size]).collect(),
            strides: strides.iter().map(|stride| stride.saturating_mul(size)).chain([1]).collect(),
            offset: offset * size,
        };
        view::flatten(&Tensor::with_layout(storage, Dtype::Uint8, &layout)?, 0, -1)
    }

    /// Returns a tensor whose elements are read. If the bytes in the file are those in memory, only the tensor's part of the storage is
    /// read.
    fn copied(&self, tensor: &thorn_files::Tensor) -> Result<Tensor> {
        let stored = &self.contents.storages[self.storage_of(tensor)?];
        // Other encodings are never mapped.
        let Some(at) = stored.encoding.plain() else { return self.tensor_over(tensor, true) };
        let layout = layout_of(tensor);
        let dtype = dtype(stored.element);
        let last = || tensor.sizes.iter().zip(&tensor.strides).map(|(&size, &stride)| (size - 1) * stride).sum::<i64>();
        let len = if tensor.sizes.contains(&0) { 0 } else { last() + 1 };
        let at = at + layout.offset as u64 * dtype.size() as u64;
        let storage = self.filled(Storage::on_host(dtype, len)?, |to| self.input.read_at(at, to))?;
        Tensor::with_layout(storage, dtype, &Layout { offset: 0, ..layout })
    }

    fn tensor_over(&self, tensor: &thorn_files::Tensor, may_map: bool) -> Result<Tensor> {
        let storage = self.storage_of(tensor)?;
        let make = |storage| self.made(storage, may_map);
        let made = match &self.shared[storage] {
            None => make(storage)?,
            Some(shared) => {
                let mut shared = shared.lock()?;
                match &*shared {
                    Some(made) => made.clone(),
                    None => shared.insert(make(storage)?).clone(),
                }
            }
        };
        let dtype = made.dtype();
        Tensor::with_layout(made, dtype, &layout_of(tensor))
    }

    /// Returns a storage with the elements of a storage in the file.
    fn made(&self, index: usize, may_map: bool) -> Result<Storage> {
        let stored = &self.contents.storages[index];
        let (dtype, len) = (dtype(stored.element), stored.len as i64);
        if may_map
            && self.maps
            && let (Some(file), Some(at)) = (self.input.file(), stored.encoding.plain())
            && let Some(storage) = map::mapped(file, dtype, at, len)?
        {
            return Ok(storage);
        }
        let storage = Storage::on_host(dtype, len)?;
        thorn_files::set_threads(pool::num_threads(), system::without);
        self.filled(storage, |to| self.contents.read(&*self.input, index, to))
    }

    /// Fills a new storage by `read`.
    fn filled(&self, storage: Storage, read: impl FnOnce(&mut [u8]) -> thorn_files::Result<()>) -> Result<Storage> {
        let bytes = storage.bytes();
        if bytes > 0 {
            // SAFETY: the storage is new and has no other owner. `read` writes the bytes before they are read.
            let to = unsafe { std::slice::from_raw_parts_mut(storage.data(), bytes) };
            read(to).map_err(|error| failed(self.path.as_deref(), error))?;
        }
        Ok(storage)
    }

    /// Returns an error about the file.
    #[cold]
    pub fn error(&self, kind: Kind, what: std::fmt::Arguments<'_>) -> Error {
        about(kind, self.path.as_deref(), what)
    }
}
