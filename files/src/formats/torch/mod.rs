//! Files of `torch.save`: a zip archive of a pickle and the storages since 1.6, or a stream of pickles and storages before.
//!
//! Source: `torch/serialization.py` and `torch/_utils.py` of PyTorch. A pickle refers to storages by keys. Tensors are calls of functions
//! such as `torch._utils._rebuild_tensor_v2`. The calls are read as data, and no code is executed.

mod sparse;
mod tensor;
mod tree;
mod write;

pub use write::{write, write_nested};

use crate::budget::Budget;
use crate::contents::Contents;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::{Cursor, Input};
use crate::pickle::{self, Pickle, Value};
use crate::zip::{self, Entry, Method};
pub use tensor::{Number, dtype_of_schema, elements};
use tensor::{Storages, dtype};
use tree::Tree;

/// The number at the beginning of a stream, in its byte order.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
/// The same number in pickles of the protocols 0 and 1.
const MAGIC_DECIMAL: &[u8] = b"L119547037146038801333356L\n";

pub fn recognises(head: &[u8], _: u64) -> bool {
    zip::recognises(head) && zip::first_name(head).is_some_and(|name| !name.ends_with(b".npy"))
}

pub fn recognises_stream(head: &[u8], _: u64) -> bool {
    let start = &head[..head.len().min(32)];
    let pickled = start.first() == Some(&0x80) && start.windows(MAGIC.len()).any(|bytes| bytes == MAGIC);
    pickled || start.starts_with(MAGIC_DECIMAL)
}

/// Returns true for a tar archive, the format of PyTorch before 0.2. Files of other formats may contain the same bytes by chance.
pub fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// Returns the entries of an archive, sorted by name. Takes their memory from `budget`.
pub fn entries(input: &dyn Input, budget: &mut Budget) -> Result<Vec<Entry>> {
    let mut entries = zip::read(input)?;
    let names: usize = entries.iter().map(|entry| entry.name.len()).sum();
    budget.take(size_of::<Entry>().saturating_mul(entries.capacity()).saturating_add(names))?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// Returns true if an archive may be one of `torch.save`.
pub fn is_saved(entries: &[Entry]) -> bool {
    pickles(entries).next().is_some()
}

/// Returns the entries that may be the pickle of an archive of `torch.save`, and their folders.
fn pickles(entries: &[Entry]) -> impl Iterator<Item = (&str, &Entry)> {
    let roots = entries.iter().filter_map(|entry| entry.name.strip_suffix("data.pkl").map(|root| (root, entry)));
    roots.filter(|(root, _)| root.is_empty() || root.ends_with('/'))
}

/// Reads an archive of `torch.save`, whose entries are sorted by name.
pub fn read_saved(input: &dyn Input, entries: Vec<Entry>, budget: &mut Budget) -> Result<Contents> {
    let find = |name: &str| entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok().map(|index| &entries[index]);
    // Entries with the same ending may exist in subfolders.
    let Some((root, data)) = pickles(&entries).min_by_key(|(root, _)| root.len()) else {
        return Err(Error::broken(format_args!("the archive has no data.pkl and no exported program")));
    };
    let root = root.to_owned();
    let big_endian = match find(&format!("{root}byteorder")) {
        Some(entry) => entry.bytes(input, 64)?.starts_with(b"big"),
        None => false,
    };
    if data.method == Method::Stored {
        let mut cursor = Cursor::new(input, data.at, data.at.saturating_add(data.packed));
        let (pickle, value) = pickle::load(&mut cursor, budget)?;
        let storages = Storages::new(entries, format!("{root}data/"), big_endian, input, true);
        return Tree::new(Format::Pt, pickle, storages, budget).read(value);
    }
    let bytes = data.bytes(input, input.size().saturating_add(8 << 20))?;
    budget.take(bytes.len())?;
    let (pickle, value) = pickle::load(&mut Cursor::new(&bytes, 0, u64::MAX), budget)?;
    let storages = Storages::new(entries, format!("{root}data/"), big_endian, &bytes, false);
    Tree::new(Format::Pt, pickle, storages, budget).read(value)
}

/// Reads a stream: the number, the version, properties of the machine, the objects, the keys of the storages, and the storages.
pub fn read_stream(input: &dyn Input) -> Result<Contents> {
    let mut budget = Budget::new(input.size());
    let mut cursor = Cursor::new(input, 0, u64::MAX);
    pickle::load(&mut cursor, &mut budget)?;
    let version = pickle::load(&mut cursor, &mut budget)?.1;
    if version != Value::Int(1001) {
        return Err(cursor.error(format_args!("the version is {version:?}, and 1001 is expected")));
    }
    let (system, pairs) = pickle::load(&mut cursor, &mut budget)?;
    let is_big = |&(key, value): &(Value, Value)| system.is_text(key, b"little_endian") && value == Value::Bool(false);
    let big_endian = system.pairs(pairs).iter().any(is_big);
    let (pickle, value) = pickle::load(&mut cursor, &mut budget)?;
    let mut entries = storages_of_stream(&mut cursor, &pickle, big_endian, &mut budget)?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let storages = Storages::new(entries, String::new(), big_endian, input, true);
    Tree::new(Format::PtLegacy, pickle, storages, &mut budget).read(value)
}

/// Returns the storages of a stream as entries whose names are the keys. A pickle has the keys. The storages follow, each after the number
/// of its elements.
fn storages_of_stream(cursor: &mut Cursor<'_>, pickle: &Pickle, big_endian: bool, budget: &mut Budget) -> Result<Vec<Entry>> {
    // The number counts elements of the type in the first reference to the storage.
    let mut sizes: Vec<(&[u8], usize, u64)> = Vec::new();
    for (order, &id) in pickle.all_persistent().iter().enumerate() {
        if let [_, kind, Value::Text(key), ..] = *pickle.items(id) {
            budget.push(&mut sizes, (pickle.text(key), order, size_of_type(pickle, kind)))?;
        }
    }
    sizes.sort_unstable();
    let (keys, list) = pickle::load(cursor, budget)?;
    let mut entries = Vec::new();
    for &key in keys.items(list) {
        let Value::Text(key) = key else { return Err(cursor.error(format_args!("the key of a storage is not a text"))) };
        let key = keys.text(key);
        let count = if big_endian { cursor.u64()?.swap_bytes() } else { cursor.u64()? };
        let first = sizes.partition_point(|&(other, ..)| other < key);
        let size = match sizes.get(first) {
            Some(&(other, _, size)) if other == key => size,
            _ => return Err(cursor.error(format_args!("nothing refers to the storage '{}'", String::from_utf8_lossy(key)))),
        };
        let (at, name) = (cursor.at(), String::from_utf8_lossy(key).into_owned());
        let bytes = count.saturating_mul(size);
        cursor.skip(bytes)?;
        budget.take(name.len())?;
        budget.push(&mut entries, Entry { name, at, packed: bytes, size: bytes, crc: 0, method: Method::Stored })?;
    }
    Ok(entries)
}

/// Returns the size in bytes of an element in a storage of this class.
fn size_of_type(pickle: &Pickle, class: Value) -> u64 {
    let Value::Global(class) = class else { return 1 };
    match dtype(pickle.global(class).1) {
        Some(Number::Read(written)) => written.size() as u64,
        Some(Number::Refused(_, size)) => size,
        None => 1,
    }
}
