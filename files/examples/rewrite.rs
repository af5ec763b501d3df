//! `rewrite IN OUT [FORMAT [DIGITS]]` writes the tensors of a file to another file. The format is determined by the ending of OUT, or by
//! the number FORMAT. Tensors that cannot be read are listed and omitted.

use std::io::{BufWriter, Write};
use thorn_files::input::FileInput;
use thorn_files::{Contents, Data, Element, Error, Format, Input, Opaque, Result, Save, Sparse, Tensor};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, from, to, more @ ..] = &arguments[..] else { return Err(wrong("rewrite IN OUT [FORMAT [DIGITS]]")) };
    let number = |text: &String| text.parse::<i32>().map_err(|error| wrong(&format!("{text}: {error}")));
    let format = match more.first() {
        Some(code) => Format::from_code(number(code)?).ok_or_else(|| wrong("there is no such format"))?,
        None => Format::of_path(to.as_bytes()).ok_or_else(|| wrong("no format has this ending"))?,
    };
    let precision = more.get(1).map(number).transpose()?.map(|digits| digits as usize);
    let input = FileInput::new(std::fs::File::open(from)?)?;
    let contents = thorn_files::open(&input)?;
    let (mut tensors, mut storages) = (Vec::new(), Vec::new());
    if format.keeps_layouts() {
        for index in 0..contents.storages.len() {
            storages.push((contents.storages[index].element, elements(&contents, &input, index)?));
        }
    }
    let mut sparse = Vec::new();
    let mut kept = |tensor: &Tensor| -> Result<Option<Tensor>> {
        let Tensor { name, sizes, strides, offset, data } = tensor;
        let (name, sizes, strides) = (name.clone(), sizes.clone(), strides.clone());
        match data {
            Data::Storage(index) if !format.keeps_layouts() => {
                let bytes = elements(&contents, &input, *index)?;
                let element = contents.storages[*index].element;
                storages.push((element, gathered(tensor, element, &bytes)?));
                Tensor::row_major(name, sizes, storages.len() - 1).map(Some)
            }
            Data::Refused(why) | Data::Opaque(Opaque { why, .. }) => {
                eprintln!("'{name}' is left out: {why}");
                Ok(None)
            }
            _ => Ok(Some(Tensor { name, sizes, strides, offset: *offset, data: data.clone() })),
        }
    };
    for Sparse { form, parts, coalesced } in &contents.sparse {
        let parts: Result<Vec<_>> = parts.iter().filter_map(|part| kept(part).transpose()).collect();
        sparse.push(Sparse { form: *form, parts: parts?, coalesced: *coalesced });
    }
    for tensor in &contents.tensors {
        tensors.extend(kept(tensor)?);
    }
    let storages: Vec<_> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let what = Save { tensors: &tensors, sparse: &sparse, storages: &storages, metadata: &contents.metadata, precision };
    let mut out = BufWriter::new(std::fs::File::create(to)?);
    thorn_files::save(format, &what, &mut out)?;
    Ok(out.flush()?)
}

fn wrong(what: &str) -> Error {
    Error::unsupported(format_args!("{what}"))
}

fn elements(contents: &Contents, input: &dyn Input, storage: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; contents.storages[storage].bytes()?];
    contents.read(input, storage, &mut bytes)?;
    Ok(bytes)
}

/// Returns the elements of a tensor in row-major order.
fn gathered(tensor: &Tensor, element: Element, storage: &[u8]) -> Result<Vec<u8>> {
    let (size, elements) = (element.size(), tensor.elements()?);
    let mut bytes = Vec::with_capacity(elements as usize * size);
    for mut k in 0..elements as i64 {
        let mut at = tensor.offset;
        for (&size, &stride) in tensor.sizes.iter().zip(&tensor.strides).rev() {
            at += k % size * stride;
            k /= size;
        }
        bytes.extend_from_slice(&storage[at as usize * size..][..size]);
    }
    Ok(bytes)
}
