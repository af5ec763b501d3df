//! Writing archives.

use super::format::{element, for_writing};
use super::message::{failed, utf8};
use super::replace::replace;
use super::sparse::{Form, Sparse};
use super::types::{TH_FILE_BY_NAME, THFileFormat};
use crate::alloc;
use crate::cpu::pool;
use crate::error::{Result, bail};
use crate::layout::{Dims, Layout};
use crate::operand::Operand;
use crate::ops::copy;
use crate::ops::device::on_host;
use crate::system;
use crate::tensor::Tensor;
use std::collections::{HashMap, HashSet, TryReserveError};
use std::ffi::{CStr, CString};
use thorn_files::{Data, Format, Nested, NestedEntry, Output, Save};

/// The greatest number of significant digits that a float64 needs.
const MOST_DIGITS: i32 = 17;

/// A tensor that was added to an archive.
enum Added {
    Dense(Operand),
    Sparse { sizes: Dims, form: Form, parts: Vec<Operand>, coalesced: bool },
}

impl Added {
    fn dense(t: &Tensor) -> Result<Added> {
        Operand::of(&on_host(t)?).map(Added::Dense)
    }

    fn sparse(sparse: &Sparse, format: Format) -> Result<Added> {
        if !format.keeps_sparse() {
            bail!(Unsupported, "{} files have no sparse tensors", format.name())
        }
        let parts = alloc::list(sparse.parts.len(), |k| Operand::of(&on_host(&sparse.parts[k])?))?;
        Ok(Added::Sparse { sizes: sparse.sizes.clone(), form: sparse.form, parts, coalesced: sparse.coalesced })
    }

    /// Returns the dense tensor, or the parts of the sparse tensor.
    fn parts(&self) -> &[Operand] {
        match self {
            Added::Dense(t) => std::slice::from_ref(t),
            Added::Sparse { parts, .. } => parts,
        }
    }
}

/// The entries of a file.
#[derive(Clone, Copy)]
struct Entries<'a> {
    tensors: &'a [(String, Added)],
    metadata: &'a [(String, String)],
    nested: &'a [NestedEntry],
}

impl<'a> Entries<'a> {
    /// Returns the entries of a file that has only these tensors.
    fn of(tensors: &'a [(String, Added)]) -> Entries<'a> {
        Entries { tensors, metadata: &[], nested: &[] }
    }
}

/// The tensors and the metadata of a file to be written.
pub struct Writing {
    path: CString,
    format: Format,
    tensors: Vec<(String, Added)>,
    metadata: Vec<(String, String)>,
    nested: Vec<NestedEntry>,
    /// The names of the tensors, and the keys of the metadata.
    names: HashSet<String>,
    keys: HashSet<String>,
    precision: Option<usize>,
    closed: bool,
}

impl Writing {
    /// Returns an empty archive that will be the file `path`.
    pub fn create(path: &CStr, format: THFileFormat) -> Result<Writing> {
        let format = for_writing(format, path)?;
        let bytes = path.to_bytes();
        let path = CString::new(alloc::list(bytes.len(), |i| Ok(bytes[i]))?).unwrap_or_default();
        Ok(Writing {
            path,
            format,
            tensors: Vec::new(),
            metadata: Vec::new(),
            nested: Vec::new(),
            names: HashSet::new(),
            keys: HashSet::new(),
            precision: None,
            closed: false,
        })
    }

    /// Returns the format of the file.
    pub fn format(&self) -> THFileFormat {
        self.format as THFileFormat
    }

    /// Returns true if the file may have metadata.
    pub fn keeps_metadata(&self) -> bool {
        self.format.keeps_metadata()
    }

    /// Returns true if the file may have sparse tensors.
    pub fn keeps_sparse(&self) -> bool {
        self.format.keeps_sparse()
    }

    /// Returns true if the file has exactly one tensor.
    pub fn has_one_tensor(&self) -> bool {
        self.format.has_one_tensor()
    }

    fn check_open(&self) -> Result<()> {
        if self.closed {
            bail!(Argument, "the archive is closed already")
        }
        Ok(())
    }

    /// Adds a tensor. Its elements are read when the archive is closed.
    pub fn add(&mut self, name: &CStr, t: &Tensor) -> Result<()> {
        self.push(name, |_| Added::dense(t))
    }

    /// Adds a sparse tensor. Its parts are read when the archive is closed.
    pub fn add_sparse(&mut self, name: &CStr, sparse: &Sparse) -> Result<()> {
        self.push(name, |format| Added::sparse(sparse, format))
    }

    fn push(&mut self, name: &CStr, make: impl FnOnce(Format) -> Result<Added>) -> Result<()> {
        self.check_open()?;
        let name = utf8(name, "name")?;
        if self.names.contains(name) {
            bail!(Argument, "a tensor named '{name}' was added already")
        }
        let entry = (owned(name)?, make(self.format)?);
        remember(&mut self.names, name, || push(&mut self.tensors, entry))
    }

    /// Adds a nested value of Python that refers to tensors. Formats other than PyTorch's have the parts of the value by their paths.
    pub fn add_nested(&mut self, name: &CStr, tensors: &[Tensor], value: Nested) -> Result<()> {
        self.check_open()?;
        if !self.format.keeps_metadata() {
            bail!(Unsupported, "{} files have no metadata, which numbers and texts need", self.format.name())
        }
        let name = owned(utf8(name, "name")?)?;
        let mut added = alloc::list(tensors.len(), |k| Ok((String::new(), Added::dense(&tensors[k])?)))?;
        let (mut texts, mut done) = (Vec::new(), Ok(()));
        // The texts of numbers and the paths of tensors are allocated infallibly.
        let set_aside = (1 << 20) + (tensors.len() + 1) * (1024 + name.len());
        let walk = || {
            let mut tensor = |path: &str, index: usize| {
                if let Some((name, _)) = added.get_mut(index) {
                    path.clone_into(name);
                }
            };
            value.each(&mut name.clone(), &mut tensor, &mut |path, text| {
                if done.is_ok() {
                    done = owned(path).and_then(|key| push(&mut texts, (key, text)));
                }
            });
        };
        if alloc::provided(set_aside, walk).is_none() {
            bail!(NoMem, "out of memory: {set_aside} bytes could not be allocated")
        }
        done?;
        let paths = || added.iter().map(|(path, _)| path).chain(texts.iter().map(|(key, _)| key)).chain([&name]);
        if let Some(path) = paths().find(|&path| self.names.contains(path) || self.keys.contains(path)) {
            bail!(Argument, "an entry named '{path}' was added already")
        }
        // The name becomes a key, too, and a key of the value a name. After the first change nothing fails.
        let mut known = alloc::list(0, |_| Ok(String::new()))?;
        paths().try_for_each(|path| push(&mut known, owned(path)?))?;
        let mut keys = alloc::list(known.len(), |k| owned(&known[k]))?;
        reserve(self.names.try_reserve(known.len()).and_then(|()| self.keys.try_reserve(known.len())))?;
        reserve(self.tensors.try_reserve(added.len()).and_then(|()| self.metadata.try_reserve(texts.len())))?;
        reserve(self.nested.try_reserve(1))?;
        let (first, first_text) = (self.tensors.len(), self.metadata.len());
        self.tensors.append(&mut added);
        self.metadata.append(&mut texts);
        self.nested.push(NestedEntry { name, value, tensors: first..self.tensors.len(), metadata: first_text..self.metadata.len() });
        self.names.extend(known);
        self.keys.extend(keys.drain(..));
        Ok(())
    }

    /// Adds a key and its value.
    pub fn add_metadata(&mut self, key: &CStr, value: &CStr) -> Result<()> {
        self.check_open()?;
        if !self.format.keeps_metadata() {
            bail!(Unsupported, "{} files have no metadata", self.format.name())
        }
        let key = utf8(key, "key")?;
        if self.keys.contains(key) {
            bail!(Argument, "the key '{key}' was added already")
        }
        let entry = (owned(key)?, owned(utf8(value, "value")?)?);
        remember(&mut self.keys, key, || push(&mut self.metadata, entry))
    }

    /// Sets the number of significant digits of floats in text formats. 0 means the fewest that identify the float.
    pub fn set_precision(&mut self, digits: i32) -> Result<()> {
        self.check_open()?;
        if !(0..=MOST_DIGITS).contains(&digits) {
            bail!(Argument, "{digits} digits: expected 0 to {MOST_DIGITS}")
        }
        self.precision = (digits > 0).then_some(digits as usize);
        Ok(())
    }

    /// Writes the file. If that fails, an existing file is unchanged, and `close` may be called again.
    pub fn close(&mut self) -> Result<()> {
        self.check_open()?;
        let entries = Entries { tensors: &self.tensors, metadata: &self.metadata, nested: &self.nested };
        write(&self.path, self.format, entries, self.precision)?;
        self.closed = true;
        (self.tensors, self.metadata, self.nested) = (Vec::new(), Vec::new(), Vec::new());
        (self.names, self.keys) = (HashSet::new(), HashSet::new());
        Ok(())
    }
}

/// Writes a file with one tensor without a name.
pub fn save(t: &Tensor, path: &CStr) -> Result<()> {
    let format = for_writing(TH_FILE_BY_NAME, path)?;
    write(path, format, Entries::of(&[(String::new(), Added::dense(t)?)]), None)
}

/// [`save`] for a sparse tensor.
pub fn save_sparse(sparse: &Sparse, path: &CStr) -> Result<()> {
    let format = for_writing(TH_FILE_BY_NAME, path)?;
    write(path, format, Entries::of(&[(String::new(), Added::sparse(sparse, format)?)]), None)
}

fn owned(text: &str) -> Result<String> {
    thorn_files::grow::text(&[text]).map_err(|error| failed(None, error))
}

/// Adds a text to a set if `push` succeeds.
fn remember(set: &mut HashSet<String>, text: &str, push: impl FnOnce() -> Result<()>) -> Result<()> {
    let text = owned(text)?;
    reserve(set.try_reserve(1))?;
    push()?;
    set.insert(text);
    Ok(())
}

fn reserve(reserved: std::result::Result<(), TryReserveError>) -> Result<()> {
    reserved.or_else(|_| bail!(NoMem, "out of memory for the names of an archive"))
}

fn push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    thorn_files::grow::push(list, value).map_err(|error| failed(None, error))
}

/// The contents of the file for `thorn-files`.
#[derive(Default)]
struct Described<'k> {
    storages: Vec<(thorn_files::Element, &'k [u8])>,
    tensors: Vec<thorn_files::Tensor>,
    sparse: Vec<thorn_files::Sparse>,
    /// The indices of the storages by type, address and size, for formats in which tensors share storages.
    known: HashMap<(thorn_files::Element, usize, usize), usize>,
}

impl<'k> Described<'k> {
    /// Returns the description of an operand. Adds its storage unless another operand has the same storage.
    fn tensor(&mut self, name: &str, t: &'k Operand, format: Format) -> Result<thorn_files::Tensor> {
        // SAFETY: the operand holds a reference to the storage. The header requires that no other thread writes it during the call.
        let (bytes, offset) = unsafe { if format.keeps_layouts() { whole_storage(t) } else { (own_bytes(t), 0) } };
        let of = element(t.dtype);
        let key = (format.keeps_layouts() && !bytes.is_empty()).then_some((of, bytes.as_ptr().addr(), bytes.len()));
        let storage = match key.and_then(|key| self.known.get(&key)) {
            Some(&storage) => storage,
            None => {
                let storage = self.storages.len();
                push(&mut self.storages, (of, bytes))?;
                if let Some(key) = key {
                    reserve(self.known.try_reserve(1))?;
                    self.known.insert(key, storage);
                }
                storage
            }
        };
        let Layout { shape, strides, .. } = t.layout();
        Ok(thorn_files::Tensor {
            name: owned(name)?,
            sizes: numbers(shape.as_slice())?,
            strides: numbers(strides.as_slice())?,
            offset,
            data: Data::Storage(storage),
        })
    }

    /// Adds the description of a tensor whose operands are `kept`.
    fn add(&mut self, name: &str, added: &Added, kept: &'k [Operand], format: Format) -> Result<()> {
        let described = match added {
            Added::Dense(_) => match kept {
                [t] => self.tensor(name, t, format)?,
                _ => bail!(Internal, "a dense tensor of {} parts", kept.len()),
            },
            Added::Sparse { sizes, form, coalesced, .. } => {
                let parts = alloc::list(kept.len(), |k| self.tensor("", &kept[k], format))?;
                push(&mut self.sparse, thorn_files::Sparse { form: *form, parts, coalesced: *coalesced })?;
                let sizes = numbers(sizes.as_slice())?;
                let strides = thorn_files::tensor::row_major_strides(&sizes).map_err(|error| failed(None, error))?;
                thorn_files::Tensor { name: owned(name)?, sizes, strides, offset: 0, data: Data::Sparse(self.sparse.len() - 1) }
            }
        };
        push(&mut self.tensors, described)
    }
}

fn numbers(list: &[i64]) -> Result<Vec<i64>> {
    alloc::list(list.len(), |k| Ok(list[k]))
}

fn write(path: &CStr, format: Format, Entries { tensors, metadata, nested }: Entries<'_>, precision: Option<usize>) -> Result<()> {
    // The operands, or contiguous copies of them, own the memory that is written.
    let mut kept = alloc::list(0, |_| bail!(Internal, "an empty list"))?;
    for t in tensors.iter().flat_map(|(_, added)| added.parts()) {
        let t = t.tensor()?;
        // The storage may have changed since the tensor was added.
        let kept_as = if format.keeps_layouts() || t.layout()?.is_contiguous() { t } else { copy::contiguous_copy(&t)? };
        push(&mut kept, Operand::of(&kept_as)?)?;
    }
    let mut described = Described::default();
    let mut left = &kept[..];
    for (name, added) in tensors {
        let own;
        (own, left) = left.split_at(added.parts().len());
        described.add(name, added, own, format)?;
    }
    let what = Save { tensors: &described.tensors, sparse: &described.sparse, storages: &described.storages, metadata, precision };
    thorn_files::set_threads(pool::num_threads(), system::without);
    // Buffers and the crates for deflate and PNG allocate infallibly. The size of headers grows with names and texts.
    let texts = tensors.iter().map(|(name, _)| name.len() + 512).chain(metadata.iter().map(|(key, value)| key.len() + value.len() + 64));
    let set_aside = (4 << 20) + 8 * texts.sum::<usize>();
    let save = |to: &mut dyn Output| thorn_files::save_nested(format, &what, nested, to);
    let Some((written, _)) = alloc::provided(set_aside, || replace(path, save)) else {
        bail!(NoMem, "out of memory: {set_aside} bytes could not be allocated")
    };
    written
}

/// Returns the bytes of a row-major operand.
///
/// # Safety
/// The bytes must not be written while the slice is in use.
unsafe fn own_bytes(t: &Operand) -> &[u8] {
    let bytes = t.layout().numel() as usize * t.dtype.size();
    // SAFETY: the elements are inside the storage. An empty operand may have no memory.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(t.first(), bytes) } }
}

/// Returns the bytes of an operand's storage, and the operand's offset in the storage.
///
/// # Safety
/// The bytes must not be written while the slice is in use.
unsafe fn whole_storage(t: &Operand) -> (&[u8], i64) {
    match &t.storage {
        // SAFETY: the storage has `bytes` bytes.
        Some(storage) if storage.bytes() > 0 => (unsafe { std::slice::from_raw_parts(storage.data(), storage.bytes()) }, t.layout().offset),
        _ => (&[], 0),
    }
}
