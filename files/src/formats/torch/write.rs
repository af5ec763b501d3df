//! Writing archives that `torch.load(weights_only=True)` opens.

use super::tensor::storage_class;
use crate::error::{Error, Result};
use crate::nested::{Nested, NestedEntry};
use crate::save::{Output, Save, unique};
use crate::sparse::{Form, Sparse};
use crate::tensor::{Data, Tensor};
use crate::zip::Writer;

/// The alignment of storages in bytes, as in PyTorch.
const ALIGNMENT: u64 = 64;

/// Writes a dict of tensors and texts by their names, or a single tensor without a name.
pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write_nested(what, &[], to)
}

/// Writes a dict of tensors, texts and nested values by their names, or a single tensor or nested value without a name.
pub fn write_nested(what: &Save<'_>, nested: &[NestedEntry], to: &mut dyn Output) -> Result<()> {
    let (tensors, texts) = (what.tensors.iter().map(|tensor| &*tensor.name), what.metadata.iter().map(|(key, _)| &**key));
    unique(tensors.chain(texts).chain(nested.iter().map(|entry| &*entry.name)), "PyTorch")?;
    archive(what, to, |pickle, keys| match nested {
        [entry] if entry.name.is_empty() => push_entry(pickle, what, entry, keys),
        _ => push_dict(pickle, what, nested, keys),
    })
}

/// Writes the storages, and the pickle of a value that `push` appends. `push` receives the keys of the storages.
fn archive(what: &Save<'_>, to: &mut dyn Output, push: impl FnOnce(&mut Vec<u8>, &[Option<usize>]) -> Result<()>) -> Result<()> {
    let mut keys = vec![None; what.storages.len()];
    let mut used = Vec::new();
    for tensor in what.tensors {
        let parts = match what.sparse(tensor)? {
            Some(sparse) => &sparse.parts[..],
            None => std::slice::from_ref(tensor),
        };
        for part in parts {
            what.storage(part)?;
            if let Data::Storage(index) = part.data
                && keys[index].is_none()
            {
                keys[index] = Some(used.len());
                used.push(index);
            }
        }
    }
    // The protocol is 2.
    let mut pickle = b"\x80\x02".to_vec();
    push(&mut pickle, &keys)?;
    pickle.push(b'.');
    let mut zip = Writer::new(to);
    zip.store("archive/data.pkl", &[&pickle], ALIGNMENT)?;
    zip.store("archive/.format_version", &[b"1"], ALIGNMENT)?;
    zip.store("archive/.storage_alignment", &[ALIGNMENT.to_string().as_bytes()], ALIGNMENT)?;
    zip.store("archive/byteorder", &[b"little"], ALIGNMENT)?;
    for (key, &index) in used.iter().enumerate() {
        zip.store(&format!("archive/data/{key}"), &[what.storages[index].1], ALIGNMENT)?;
    }
    zip.store("archive/version", &[b"3\n"], ALIGNMENT)?;
    zip.finish()
}

/// Appends a dict of tensors, texts and nested values, or a single tensor without a name.
fn push_dict(to: &mut Vec<u8>, what: &Save<'_>, nested: &[NestedEntry], keys: &[Option<usize>]) -> Result<()> {
    match what.tensors {
        [tensor] if tensor.name.is_empty() && what.metadata.is_empty() => push_tensor(to, what, tensor, keys),
        tensors => {
            to.extend_from_slice(b"}(");
            for (index, tensor) in tensors.iter().enumerate() {
                if !nested.iter().any(|entry| entry.tensors.contains(&index)) {
                    push_text(to, &tensor.name)?;
                    push_tensor(to, what, tensor, keys)?;
                }
            }
            for (index, (key, value)) in what.metadata.iter().enumerate() {
                if !nested.iter().any(|entry| entry.metadata.contains(&index)) {
                    push_text(to, key)?;
                    push_text(to, value)?;
                }
            }
            for entry in nested {
                push_text(to, &entry.name)?;
                push_entry(to, what, entry, keys)?;
            }
            to.push(b'u');
            Ok(())
        }
    }
}

/// Appends the value of an entry.
fn push_entry(to: &mut Vec<u8>, what: &Save<'_>, entry: &NestedEntry, keys: &[Option<usize>]) -> Result<()> {
    let tensors = what.tensors.get(entry.tensors.clone()).unwrap_or_default();
    push_nested(to, (what, tensors), &entry.value, keys)
}

/// Appends a nested value whose tensors are in a list.
fn push_nested(to: &mut Vec<u8>, (what, tensors): (&Save<'_>, &[Tensor]), value: &Nested, keys: &[Option<usize>]) -> Result<()> {
    match value {
        Nested::None => to.push(b'N'),
        Nested::Bool(value) => to.push(if *value { 0x88 } else { 0x89 }),
        Nested::Int(number) => push_number(to, *number),
        Nested::Float(number) => {
            to.push(b'G');
            to.extend_from_slice(&number.to_be_bytes());
        }
        Nested::Text(text) => push_text(to, text)?,
        Nested::Tensor(index) => {
            let tensor = tensors.get(*index);
            let tensor = tensor.ok_or_else(|| Error::broken(format_args!("a nested value refers to tensor {index}")))?;
            push_tensor(to, what, tensor, keys)?;
        }
        Nested::List(items) => {
            to.extend_from_slice(b"](");
            items.iter().try_for_each(|item| push_nested(to, (what, tensors), item, keys))?;
            to.push(b'e');
        }
        Nested::Tuple(items) => {
            to.push(b'(');
            items.iter().try_for_each(|item| push_nested(to, (what, tensors), item, keys))?;
            to.push(b't');
        }
        Nested::Dict(pairs) => {
            to.extend_from_slice(b"}(");
            for (key, value) in pairs {
                push_nested(to, (what, tensors), key, keys)?;
                push_nested(to, (what, tensors), value, keys)?;
            }
            to.push(b'u');
        }
    }
    Ok(())
}

/// Appends a dense or sparse tensor.
fn push_tensor(to: &mut Vec<u8>, what: &Save<'_>, tensor: &Tensor, keys: &[Option<usize>]) -> Result<()> {
    match what.sparse(tensor)? {
        Some(sparse) => push_sparse(to, what, (tensor, sparse), keys),
        None => push_dense(to, what, tensor, keys),
    }
}

/// Appends `_rebuild_sparse_tensor(layout, (parts, sizes))`. For coordinates, the last item is true if they are coalesced.
fn push_sparse(to: &mut Vec<u8>, what: &Save<'_>, (tensor, sparse): (&Tensor, &Sparse), keys: &[Option<usize>]) -> Result<()> {
    sparse.check(&tensor.sizes)?;
    let layout = match sparse.form {
        Form::Coordinates => "torch.sparse_coo",
        Form::Rows => "torch.sparse_csr",
        Form::Columns => "torch.sparse_csc",
        Form::Vectors => return Err(Error::unsupported(format_args!("tensor '{}' has positions of several vectors", tensor.name))),
    };
    to.extend_from_slice(b"ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n(");
    push_text(to, layout)?;
    to.extend_from_slice(b"tR(");
    sparse.parts.iter().try_for_each(|part| push_dense(to, what, part, keys))?;
    to.extend_from_slice(b"ctorch\nSize\n((");
    tensor.sizes.iter().for_each(|&size| push_number(to, size));
    to.extend_from_slice(b"ttR");
    if sparse.form == Form::Coordinates {
        to.push(if sparse.coalesced { 0x88 } else { 0x89 });
    }
    to.extend_from_slice(b"ttR");
    Ok(())
}

/// Appends `_rebuild_tensor_v2(storage, offset, sizes, strides, False, OrderedDict())`.
fn push_dense(to: &mut Vec<u8>, what: &Save<'_>, tensor: &Tensor, keys: &[Option<usize>]) -> Result<()> {
    let (element, bytes) = what.storage(tensor)?;
    let key = match tensor.data {
        Data::Storage(index) => keys[index].unwrap_or_default(),
        Data::Sparse(_) | Data::Opaque(_) | Data::Refused(_) => 0,
    };
    to.extend_from_slice(b"ctorch._utils\n_rebuild_tensor_v2\n((");
    push_text(to, "storage")?;
    to.extend_from_slice(format!("ctorch\n{}Storage\n", storage_class(element)).as_bytes());
    push_text(to, &key.to_string())?;
    push_text(to, "cpu")?;
    push_number(to, (bytes.len() / element.size()) as i64);
    to.extend_from_slice(b"tQ");
    push_number(to, tensor.offset);
    for list in [&tensor.sizes, &tensor.strides] {
        to.push(b'(');
        list.iter().for_each(|&number| push_number(to, number));
        to.push(b't');
    }
    to.extend_from_slice(b"\x89ccollections\nOrderedDict\n)RtR");
    Ok(())
}

fn push_text(to: &mut Vec<u8>, text: &str) -> Result<()> {
    let len = u32::try_from(text.len()).map_err(|_| Error::unsupported(format_args!("a text of more than 4 GB")))?;
    to.push(b'X');
    to.extend_from_slice(&len.to_le_bytes());
    to.extend_from_slice(text.as_bytes());
    Ok(())
}

fn push_number(to: &mut Vec<u8>, number: i64) {
    match i32::try_from(number) {
        Ok(number) => {
            to.push(b'J');
            to.extend_from_slice(&number.to_le_bytes());
        }
        Err(_) => {
            to.extend_from_slice(&[0x8a, 8]);
            to.extend_from_slice(&number.to_le_bytes());
        }
    }
}
