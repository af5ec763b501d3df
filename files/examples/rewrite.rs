//! `rewrite IN OUT [FORMAT [DIGITS]]` opens a file of tensors and writes them to another, in the format of its ending, or in that with
//! the number FORMAT. Tensors that cannot be had are named and left out.

use std::io::{BufWriter, Write};
use thorn_files::input::FileInput;
use thorn_files::{Contents, Data, Element, Error, Format, Input, Result, Save, Tensor};

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
    for tensor in &contents.tensors {
        match &tensor.data {
            Data::Refused(why) => eprintln!("'{}' is left out: {why}", tensor.name),
            Data::Storage(index) if format.keeps_layouts() => {
                let Tensor { name, sizes, strides, offset, .. } = tensor;
                let (name, sizes, strides) = (name.clone(), sizes.clone(), strides.clone());
                tensors.push(Tensor { name, sizes, strides, offset: *offset, data: Data::Storage(*index) });
            }
            Data::Storage(index) => {
                let bytes = elements(&contents, &input, *index)?;
                let element = contents.storages[*index].element;
                tensors.push(Tensor::row_major(tensor.name.clone(), tensor.sizes.clone(), storages.len())?);
                storages.push((element, gathered(tensor, element, &bytes)?));
            }
        }
    }
    let storages: Vec<_> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let what = Save { tensors: &tensors, storages: &storages, metadata: &contents.metadata, precision };
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

/// The elements of a tensor, the last dimension first.
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
