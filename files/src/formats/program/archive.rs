//! The archive of an exported program: the graph, the weights and the constants.
//!
//! | PyTorch | graph | weights | constants |
//! | --- | --- | --- | --- |
//! | 2.6, 2.7 | `serialized_exported_program.json` | `serialized_state_dict.pt` | `serialized_constants.pt` |
//! | 2.8 | `ROOT/models/NAME.json` | `ROOT/data/weights/NAME.pt` | `ROOT/data/constants/NAME.pt` |
//! | since 2.9 | `ROOT/models/NAME.json` | `ROOT/data/weights/NAME_*.json` | `ROOT/data/constants/NAME_*.json` |
//!
//! The end `*` is `weights_config` or `constants_config`. A file `.pt` is an archive of `torch.save`, with a dict of tensors. A table
//! `.json` has the sizes and the entry of each tensor, and an entry is the bytes of a storage. The archive of `torch.save` is an entry
//! without compression, so its storages have places in the file.

use super::check;
use super::graph::Reader;
use super::json::{self, Json};
use crate::budget::Budget;
use crate::contents::{Contents, Storage};
use crate::element::{Element, Written};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::formats::torch::{self, Number};
use crate::grow;
use crate::input::{Input, within};
use crate::program::Program;
use crate::tensor::{Data, Tensor, count};
use crate::zip::{Entry, Method};
use std::collections::HashMap;

/// The names of the graph, the weights and the constants in an archive of PyTorch 2.6 or 2.7.
const OLD: [&str; 3] = ["serialized_exported_program.json", "serialized_state_dict.pt", "serialized_constants.pt"];

/// The layout of strided tensors in the schema.
const STRIDED: i64 = 7;

/// Reads an exported program, its weights and its constants. An archive with several programs is an error that lists them.
pub fn read(input: &dyn Input) -> Result<(Contents, Program)> {
    read_model(input, None)
}

/// Reads the exported program with a name. `torch.export.save` writes one program, with the name `model`. Other programs of PyTorch 2.8 and
/// later write archives with several programs.
pub fn read_model(input: &dyn Input, model: Option<&str>) -> Result<(Contents, Program)> {
    let mut budget = Budget::new(input.size());
    let entries = torch::entries(input, &mut budget)?;
    let (contents, program) = read_entries(input, &entries, model, &mut budget)?;
    contents.check(input)?;
    Ok((contents, program))
}

/// Returns true if an archive has an exported program.
pub fn is_program(entries: &[Entry]) -> bool {
    find(entries, OLD[0]).is_some() || models(entries).next().is_some()
}

/// Reads an exported program of an archive. `entries` are sorted by name.
pub fn read_entries(input: &dyn Input, entries: &[Entry], model: Option<&str>, budget: &mut Budget) -> Result<(Contents, Program)> {
    let contents = Contents::new(Format::Pt2);
    let mut archive = Archive { input, entries, big_endian: false, contents, known: HashMap::new(), budget };
    let Some(graph) = find(entries, OLD[0]) else { return archive.read(model) };
    let program = archive.program(graph)?;
    archive.saved(OLD[1], None)?;
    archive.saved(OLD[2], None)?;
    archive.checked(program)
}

/// Returns the entry with a name.
fn find<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Entry> {
    entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok().map(|index| &entries[index])
}

/// Returns the root folder of an archive: the shortest one with an entry `archive_format`.
fn root(entries: &[Entry]) -> Option<&str> {
    let roots = entries.iter().filter_map(|entry| entry.name.strip_suffix("archive_format"));
    roots.filter(|root| root.is_empty() || root.ends_with('/')).min_by_key(|root| root.len())
}

/// Returns the names of the programs in an archive, and their graphs.
fn models(entries: &[Entry]) -> impl Iterator<Item = (&str, &Entry)> {
    let root = root(entries);
    entries.iter().filter_map(move |entry| {
        let name = entry.name.strip_prefix(root?)?.strip_prefix("models/")?.strip_suffix(".json")?;
        Some((name, entry))
    })
}

/// A reader of an archive.
struct Archive<'a> {
    input: &'a dyn Input,
    /// The entries, sorted by name.
    entries: &'a [Entry],
    /// True if the most significant byte of a number comes first.
    big_endian: bool,
    contents: Contents,
    /// The indices of storages in `contents`, by the place in the file, the type of the elements and the size of a number.
    known: HashMap<(u64, Element, usize), usize>,
    budget: &'a mut Budget,
}

impl<'a> Archive<'a> {
    /// Reads the program with a name, or the only program.
    fn read(mut self, model: Option<&str>) -> Result<(Contents, Program)> {
        let mut found = models(self.entries).filter(|(name, _)| model.is_none_or(|model| model == *name));
        let (model, graph) = match (found.next(), found.next(), model) {
            (Some(first), None, _) => first,
            (None, _, Some(model)) => return Err(self.no_model(format_args!("the archive has no program '{model}'"))),
            (None, ..) => return Err(Error::broken(format_args!("the archive has no exported program"))),
            (Some(_), Some(_), _) => return Err(self.no_model(format_args!("the archive has several programs"))),
        };
        let root = root(self.entries).unwrap_or_default();
        if let Some(entry) = find(self.entries, &format!("{root}byteorder")) {
            self.big_endian = entry.bytes(self.input, 64)?.starts_with(b"big");
        }
        if let Some(entry) = find(self.entries, &format!("{root}archive_version")) {
            self.text("archive_version", entry)?;
        }
        let program = self.program(graph)?;
        for kind in ["weights", "constants"] {
            let folder = format!("{root}data/{kind}/");
            let saved = format!("{folder}{model}.pt");
            if find(self.entries, &saved).is_some() {
                self.saved(&saved, None)?;
            } else {
                self.table(&format!("{folder}{model}_{kind}_config.json"), &folder)?;
            }
        }
        self.checked(program)
    }

    /// Returns an error that lists the programs.
    #[cold]
    fn no_model(&self, what: std::fmt::Arguments<'_>) -> Error {
        let mut list = models(self.entries).take(16).map(|(name, _)| format!(" '{name}'")).collect::<String>();
        list.truncate(list.floor_char_boundary(1024));
        Error::unsupported(format_args!("{what}:{list}"))
    }

    /// Returns the entry with a name, which the archive must have.
    fn entry(&self, name: &str) -> Result<&'a Entry> {
        find(self.entries, name).ok_or_else(|| Error::broken(format_args!("the archive has no entry '{name}'")))
    }

    /// Adds the text of a small entry as metadata.
    fn text(&mut self, key: &str, entry: &Entry) -> Result<()> {
        let bytes = entry.bytes(self.input, 64)?;
        self.metadata(key, String::from_utf8_lossy(&bytes).trim())
    }

    fn metadata(&mut self, key: &str, value: &str) -> Result<()> {
        self.budget.take(2 * size_of::<(String, String)>() + key.len() + value.len())?;
        self.contents.add_metadata(grow::text(&[key])?, grow::text(&[value])?)
    }

    /// Returns the data of an entry.
    fn bytes(&mut self, entry: &Entry) -> Result<Vec<u8>> {
        self.budget.take(usize::try_from(entry.size).unwrap_or(usize::MAX))?;
        entry.bytes(self.input, self.input.size().saturating_add(8 << 20))
    }

    /// Reads the graph, and adds its properties as metadata.
    fn program(&mut self, entry: &Entry) -> Result<Program> {
        let bytes = self.bytes(entry)?;
        self.graph(&bytes).map_err(|error| error.within(format_args!("entry '{}'", entry.name)))
    }

    fn graph(&mut self, bytes: &[u8]) -> Result<Program> {
        let json = json::parse(bytes, self.budget)?;
        let program = Reader { budget: self.budget }.program(&json)?;
        let version = json.get("schema_version")?;
        self.metadata("schema_version", &format!("{}.{}", version.get("major")?.int()?, version.get("minor")?.int()?))?;
        if let Some(version) = json.find("torch_version")? {
            self.metadata("torch_version", version.text()?)?;
        }
        for (name, version) in json.get("opset_version")?.object()? {
            self.metadata(&grow::text(&["opset_version.", name])?, &version.int()?.to_string())?;
        }
        if let Some(names) = argument_names(&json)? {
            self.metadata("forward_arg_names", &names)?;
        }
        Ok(program)
    }

    /// Reads the tensors of the entry `name`, an archive of `torch.save`. With `single`, the archive is one tensor with that name.
    fn saved(&mut self, name: &str, single: Option<&str>) -> Result<()> {
        let entry = self.entry(name)?;
        // Without weights or constants, the entry may be empty.
        if entry.size == 0 && single.is_none() {
            return Ok(());
        }
        let read = self.nested(entry).and_then(|nested| self.add(nested, entry.at, single));
        read.map_err(|error| error.within(format_args!("entry '{name}'")))
    }

    fn nested(&mut self, entry: &Entry) -> Result<Contents> {
        if entry.method != Method::Stored {
            return Err(Error::unsupported(format_args!("an archive of torch.save is read only if it is not compressed")));
        }
        let part = Part { input: self.input, at: entry.at, size: entry.size };
        let entries = torch::entries(&part, self.budget)?;
        let nested = torch::read_saved(&part, entries, self.budget)?;
        nested.check(&part)?;
        Ok(nested)
    }

    /// Adds the contents of an archive that begins at byte `at`, without its metadata.
    fn add(&mut self, nested: Contents, at: u64, single: Option<&str>) -> Result<()> {
        let (storages, sparse) = (self.contents.storages.len(), self.contents.sparse.len());
        for mut storage in nested.storages {
            storage.encoding.shift(at)?;
            self.budget.push(&mut self.contents.storages, storage)?;
        }
        let shift = |data: &mut Data| match data {
            Data::Storage(index) => *index += storages,
            Data::Opaque(opaque) => opaque.storage += storages,
            Data::Sparse(index) => *index += sparse,
            Data::Refused(_) => {}
        };
        for mut sparse in nested.sparse {
            sparse.parts.iter_mut().for_each(|part| shift(&mut part.data));
            self.budget.push(&mut self.contents.sparse, sparse)?;
        }
        let is_single = matches!(&*nested.tensors, [tensor] if tensor.name.is_empty());
        if let Some(name) = single.filter(|_| !is_single) {
            return self.tensor(name, Vec::new(), Data::Refused("it is no plain tensor".to_owned()));
        }
        for mut tensor in nested.tensors {
            shift(&mut tensor.data);
            if let Some(name) = single {
                self.budget.take(name.len())?;
                tensor.name = grow::text(&[name])?;
            }
            self.budget.push(&mut self.contents.tensors, tensor)?;
        }
        Ok(())
    }

    /// Reads the tensors of the table `name`, whose storages are entries of a folder.
    fn table(&mut self, name: &str, folder: &str) -> Result<()> {
        let entry = self.entry(name)?;
        let bytes = self.bytes(entry)?;
        let json = json::parse(&bytes, self.budget);
        let read = json.and_then(|json| json.get("config")?.object()?.iter().try_for_each(|(name, row)| self.row(name, row, folder)));
        read.map_err(|error| error.within(format_args!("entry '{name}'")))
    }

    /// Reads a row of a table: the tensor with a name.
    fn row(&mut self, name: &str, row: &Json<'_>, folder: &str) -> Result<()> {
        let path = format!("{folder}{}", row.get("path_name")?.text()?);
        // Objects of other classes have no properties.
        let Some(meta) = row.find("tensor_meta")? else { return Ok(()) };
        if row.get("use_pickle")?.bool()? {
            return self.saved(&path, Some(name));
        }
        let sizes = self.numbers(meta.get("sizes")?)?;
        let strides = self.numbers(meta.get("strides")?)?;
        let offset = meta.get("storage_offset")?.get("as_int")?.int()?;
        let layout = meta.get("layout")?.int()?;
        let elements = count(&sizes).map_err(|error| error.within(format_args!("tensor '{name}'")))?;
        if layout != STRIDED {
            return self.tensor(name, sizes, Data::Refused(format!("its layout has the number {layout}")));
        }
        let data = self.data(&path, meta.get("dtype")?.int()?, elements)?;
        self.tensor(name, sizes, data)?;
        if let Some(tensor) = self.contents.tensors.last_mut() {
            (tensor.strides, tensor.offset) = (strides, offset);
        }
        Ok(())
    }

    /// Adds a row-major tensor.
    fn tensor(&mut self, name: &str, sizes: Vec<i64>, data: Data) -> Result<()> {
        self.budget.take(name.len() + size_of_val(&*sizes))?;
        let tensor = Tensor { data, ..Tensor::row_major(grow::text(&[name])?, sizes, 0)? };
        self.budget.push(&mut self.contents.tensors, tensor)
    }

    /// Returns a list of sizes or strides, which must be numbers.
    fn numbers(&mut self, json: &Json<'_>) -> Result<Vec<i64>> {
        let items = json.list()?;
        self.budget.take(size_of::<i64>().saturating_mul(items.len()))?;
        let mut numbers = grow::list(items.len())?;
        for item in items {
            numbers.push(item.get("as_int")?.int()?);
        }
        Ok(numbers)
    }

    /// Returns the elements of a tensor, which are in the entry `path`.
    fn data(&mut self, path: &str, dtype: i64, elements: u64) -> Result<Data> {
        let entry = self.entry(path)?;
        if entry.size == 0 && elements != 0 {
            return Ok(Data::Refused("the archive was written without its elements".to_owned()));
        }
        let (written, size, refused) = match torch::dtype_of_schema(dtype) {
            Some(Number::Read(written)) => (written, written.size() as u64, None),
            Some(Number::Refused(name, size)) => (Written::Same(Element::U8), size, Some(name)),
            None => return Ok(Data::Refused(format!("there are no elements of the dtype with the number {dtype}"))),
        };
        let place = (entry.at, written.element(), written.size());
        let storage = match self.known.get(&place) {
            Some(&storage) => storage,
            None => {
                let bytes = entry.size - entry.size % written.size() as u64;
                let encoding = match entry.encoding(0, bytes, written, self.big_endian) {
                    Ok(encoding) => encoding,
                    Err(error) => return Ok(Data::Refused(error.message)),
                };
                // Growing lists and tables are in memory two or three times for a moment.
                self.budget.take(3 * (size_of::<Storage>() + size_of::<((u64, Element, usize), usize)>()))?;
                let storage = self.contents.add_storage(written.element(), bytes / written.size() as u64, encoding)?;
                self.known.try_reserve(1).map_err(|_| Error::memory(64))?;
                self.known.insert(place, storage);
                storage
            }
        };
        Ok(torch::elements(storage, size, refused))
    }

    /// Returns the contents and the program, if they fit each other.
    fn checked(self, program: Program) -> Result<(Contents, Program)> {
        check::check(&program, &self.contents, self.budget)?;
        Ok((self.contents, program))
    }
}

/// Returns the names of the arguments of the model's function `forward`, separated by commas.
fn argument_names(json: &Json<'_>) -> Result<Option<String>> {
    let Some(first) = json.get("graph_module")?.get("module_call_graph")?.list()?.first() else { return Ok(None) };
    let names = match first.find("signature")? {
        Some(signature) => signature.find("forward_arg_names")?,
        None => None,
    };
    let Some(names) = names else { return Ok(None) };
    let mut text = String::new();
    for (index, name) in names.list()?.iter().enumerate() {
        grow::write(&mut text, format_args!("{}{}", if index == 0 { "" } else { ", " }, name.text()?))?;
    }
    Ok(Some(text))
}

/// A range of an input.
struct Part<'a> {
    input: &'a dyn Input,
    /// The offset of the first byte.
    at: u64,
    /// The number of bytes.
    size: u64,
}

impl Input for Part<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        within(self.size, offset, to.len())?;
        self.input.read_at(self.at.saturating_add(offset), to)
    }
}
