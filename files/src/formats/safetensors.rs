//! safetensors: eight bytes with the length of a header, a header in JSON, and the elements.
//!
//! Source: <https://github.com/huggingface/safetensors>, "Format".

use crate::contents::{Contents, Storage};
use crate::element::{Element, Written};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow::{self, Room};
use crate::input::{Cursor, Input};
use crate::save::{Output, Save, unique};
use crate::tensor::{Data, MAX_DIMS, Tensor, count};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

/// The length limit of a header in the format, in bytes.
const LONGEST: u64 = 100_000_000;

pub fn recognises(head: &[u8], size: u64) -> bool {
    let Some((len, [b'{', ..])) = head.split_first_chunk::<8>() else { return false };
    let len = u64::from_le_bytes(*len);
    len <= LONGEST && len <= size - 8
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let mut cursor = Cursor::new(input, 0, u64::MAX);
    let len = cursor.u64()?;
    let header = cursor.take(len)?;
    let start = 8 + len;
    let room = RefCell::new(Room::of(input.size()));
    let mut json = serde_json::Deserializer::from_slice(&header);
    let items = Listed::<Item>::new(&room).deserialize(&mut json).and_then(|items| json.end().map(|()| items));
    let items = items.map_err(|error| {
        if let Err(refused) = room.borrow_mut().take(1, 8) {
            return refused;
        }
        // The error has a line and a column. Real headers have one line.
        let at = if error.line() == 1 { 8 + error.column() as u64 } else { 8 };
        Error::format(at, format_args!("the header is invalid: {error}"))
    })?;
    let mut contents = Contents::new(Format::Safetensors);
    let mut tensors = grow::list(items.len())?;
    contents.tensors = grow::list(items.len())?;
    contents.storages = grow::list(items.len())?;
    for (name, item) in items {
        match item {
            Item::Metadata(metadata) => contents.metadata = metadata,
            Item::Tensor(entry) => tensors.push((name, entry)),
        }
    }
    tensors.sort_by_key(|(_, entry)| entry.offsets);
    let mut end = 0;
    for (name, entry) in tensors {
        let (from, to) = entry.offsets;
        if from < end || to < from {
            return Err(Error::broken(format_args!("tensor '{name}': bytes {from} to {to} overlap another tensor, which ends at {end}")));
        }
        end = to;
        let elements = count(&entry.sizes)?;
        let data = match DTYPES.iter().find(|(name, _)| *name == entry.dtype) {
            None => {
                let size = (to - from).checked_div(elements).filter(|size| elements.checked_mul(*size) == Some(to - from));
                let why = format!("there are no elements of the type {}", entry.dtype);
                contents.add_opaque(to - from, size.unwrap_or(0), start.saturating_add(from), why)?
            }
            Some((_, written)) => {
                if elements.checked_mul(written.size() as u64) != Some(to - from) {
                    return Err(Error::broken(format_args!(
                        "tensor '{name}': sizes {:?} of {} do not match the {} bytes from {from} to {to}",
                        entry.sizes,
                        entry.dtype,
                        to - from
                    )));
                }
                Data::Storage(contents.add_numbers(elements, start.saturating_add(from), *written, false)?)
            }
        };
        let tensor = Tensor::row_major(name, entry.sizes, 0)?;
        grow::push(&mut contents.tensors, Tensor { data, ..tensor })?;
    }
    if end > input.size() - start {
        return Err(Error::format(input.size(), format_args!("the file ends early: elements reach to byte {}", start.saturating_add(end))));
    }
    Ok(contents)
}

/// The names of the supported types. U64, 8-bit floats and complex numbers are not supported.
const DTYPES: [(&str, Written); 12] = [
    ("F32", Written::Same(Element::F32)),
    ("F16", Written::Same(Element::F16)),
    ("BF16", Written::Same(Element::BF16)),
    ("F64", Written::Same(Element::F64)),
    ("I64", Written::Same(Element::I64)),
    ("I32", Written::Same(Element::I32)),
    ("I16", Written::Same(Element::I16)),
    ("I8", Written::Same(Element::I8)),
    ("U8", Written::Same(Element::U8)),
    ("BOOL", Written::Same(Element::Bool)),
    ("U16", Written::U16),
    ("U32", Written::U32),
];

/// Deserializes a JSON object to a list of its entries in the order of the file.
struct Listed<'r, V> {
    /// The memory that is left for the entries.
    room: &'r RefCell<Room>,
    values: PhantomData<V>,
}

impl<'r, V> Listed<'r, V> {
    fn new(room: &'r RefCell<Room>) -> Listed<'r, V> {
        Listed { room, values: PhantomData }
    }
}

/// The value of a key in the header.
enum Item {
    Metadata(Vec<(String, String)>),
    Tensor(Entry),
}

/// The description of a tensor. Other keys are ignored.
#[derive(serde::Deserialize)]
struct Entry {
    dtype: String,
    #[serde(rename = "shape", deserialize_with = "sizes")]
    sizes: Vec<i64>,
    #[serde(rename = "data_offsets")]
    offsets: (u64, u64),
}

/// Values of [`Listed`].
trait Keyed: Sized {
    /// Deserializes the value of a key.
    fn next<'de, A: MapAccess<'de>>(key: &str, map: &mut A, room: &RefCell<Room>) -> std::result::Result<Self, A::Error>;

    /// Returns the size in bytes of the memory that the value owns and will cause to be allocated.
    fn bytes(&self) -> usize;
}

impl Keyed for Item {
    fn next<'de, A: MapAccess<'de>>(key: &str, map: &mut A, room: &RefCell<Room>) -> std::result::Result<Item, A::Error> {
        if key == METADATA { map.next_value_seed(Listed::new(room)).map(Item::Metadata) } else { map.next_value().map(Item::Tensor) }
    }

    fn bytes(&self) -> usize {
        match self {
            Item::Metadata(_) => 0,
            Item::Tensor(entry) => size_of::<Tensor>() + size_of::<Storage>() + 3 * size_of_val(entry.sizes.as_slice()) + entry.dtype.len(),
        }
    }
}

impl Keyed for String {
    fn next<'de, A: MapAccess<'de>>(_: &str, map: &mut A, _: &RefCell<Room>) -> std::result::Result<String, A::Error> {
        map.next_value()
    }

    fn bytes(&self) -> usize {
        self.len()
    }
}

/// The key of the metadata. All other keys are names of tensors.
const METADATA: &str = "__metadata__";

impl<'de, V: Keyed> DeserializeSeed<'de> for Listed<'_, V> {
    type Value = Vec<(String, V)>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, V: Keyed> Visitor<'de> for Listed<'_, V> {
    type Value = Vec<(String, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = V::next(&key, &mut map, self.room)?;
            // A growing list is in memory up to three times for a moment.
            let bytes = 3 * size_of::<(String, V)>() + key.len() + value.bytes();
            self.room.borrow_mut().take(bytes, 8).map_err(A::Error::custom)?;
            grow::push(&mut list, (key, value)).map_err(A::Error::custom)?;
        }
        Ok(list)
    }
}

/// Deserializes a list of at most [`MAX_DIMS`] sizes.
fn sizes<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Vec<i64>, D::Error> {
    struct Sizes;

    impl<'de> Visitor<'de> for Sizes {
        type Value = Vec<i64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MAX_DIMS} sizes")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<Vec<i64>, A::Error> {
            let mut sizes = Vec::new();
            while let Some(size) = seq.next_element::<u64>()? {
                let size = i64::try_from(size).map_err(A::Error::custom)?;
                if sizes.len() == MAX_DIMS {
                    return Err(A::Error::invalid_length(MAX_DIMS + 1, &self));
                }
                grow::push(&mut sizes, size).map_err(A::Error::custom)?;
            }
            Ok(sizes)
        }
    }
    from.deserialize_seq(Sizes)
}

/// Writes the header and the elements. The header is padded, so that the elements begin at a multiple of eight bytes. Tensors with the
/// largest elements come first, so that all elements are aligned.
pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    unique(what.tensors.iter().map(|tensor| &*tensor.name), "safetensors")?;
    unique(what.metadata.iter().map(|(key, _)| &**key), "safetensors")?;
    let mut order: Vec<&Tensor> = what.tensors.iter().collect();
    order.sort_by_key(|tensor| std::cmp::Reverse(what.element(tensor).size()));
    let mut header = Map::new();
    if !what.metadata.is_empty() {
        let metadata = what.metadata.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
        header.insert(METADATA.to_owned(), Value::Object(metadata.collect()));
    }
    let mut end = 0;
    for tensor in &order {
        if tensor.name == METADATA {
            return Err(Error::unsupported(format_args!("safetensors files have no tensor named {METADATA}")));
        }
        let element = what.element(tensor);
        let start = end;
        end += what.bytes(tensor)?.len();
        let entry = serde_json::json!({ "dtype": dtype(element), "shape": tensor.sizes, "data_offsets": [start, end] });
        header.insert(tensor.name.clone(), entry);
    }
    let mut header = serde_json::to_vec(&header).map_err(std::io::Error::from)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(&header)?;
    order.iter().try_for_each(|tensor| Ok(to.write_all(what.bytes(tensor)?)?))
}

fn dtype(element: Element) -> &'static str {
    DTYPES.iter().find(|(_, written)| *written == Written::Same(element)).map_or("", |(name, _)| name)
}
