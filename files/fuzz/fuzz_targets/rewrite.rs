//! Opens bytes that may be a file of any format, writes the tensors in all formats, and compares the tensors that are read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use std::io::Cursor;
use thorn_files::{Contents, Data, Element, Format, Save, Sparse, Tensor};

/// The size limit of storages in bytes, and the limit of elements for tensors in formats without layouts.
const MOST: usize = 1 << 20;
const MOST_ELEMENTS: u64 = 1 << 14;

fuzz_target!(|bytes: &[u8]| {
    let Ok(contents) = thorn_files::open(&bytes) else { return };
    let mut storages = Vec::new();
    for (index, storage) in contents.storages.iter().enumerate() {
        let size = storage.bytes().expect("it was checked");
        let mut elements = vec![0; if size <= MOST { size } else { 0 }];
        let is_read = size <= MOST && contents.read(&bytes, index, &mut elements).is_ok();
        storages.push((storage.element, is_read.then_some(elements)));
    }
    let is_dense = |tensor: &Tensor| matches!(tensor.data, Data::Storage(index) if storages[index].1.is_some());
    let is_read = |tensor: &&Tensor| match tensor.data {
        Data::Sparse(index) => contents.sparse[index].parts.iter().all(is_dense),
        _ => is_dense(tensor),
    };
    let mut names = HashSet::new();
    let (mut tensors, mut sparse) = (Vec::new(), Vec::new());
    for tensor in contents.tensors.iter().filter(is_read) {
        if names.insert(&tensor.name) {
            if matches!(tensor.data, Data::Sparse(_)) { sparse.push(copied(tensor)) } else { tensors.push(copied(tensor)) }
        }
    }
    let metadata: Vec<(String, String)> = contents.metadata.iter().filter(|(key, _)| names.insert(key)).cloned().collect();
    let storages: Vec<(Element, &[u8])> =
        storages.iter().map(|(element, elements)| (*element, elements.as_deref().unwrap_or_default())).collect();
    let what = Save { tensors: &tensors, sparse: &[], storages: &storages, metadata: &metadata, precision: None };
    for format in [Format::Pt, Format::T7] {
        let mut file = Cursor::new(Vec::new());
        if thorn_files::save(format, &what, &mut file).is_ok() {
            let file = file.into_inner();
            let back = thorn_files::open(&file).expect("what was written is read");
            compare(&what, &back, &file, format);
        }
    }
    data_set(&contents, &what, &sparse);
    row_major(&what);
    let what = Save { tensors: &sparse, sparse: &contents.sparse, ..what };
    sparse_again(&what);
});

fn copied(Tensor { name, sizes, strides, offset, data }: &Tensor) -> Tensor {
    Tensor { name: name.clone(), sizes: sizes.clone(), strides: strides.clone(), offset: *offset, data: data.clone() }
}

/// Writes the tensors of a data set, reads them back, and compares the text with the text that is written from what was read. The first
/// text may have integers and float32.
fn data_set(contents: &Contents, what: &Save<'_>, sparse: &[Tensor]) {
    let tensors: Vec<Tensor> = what.tensors.iter().chain(sparse).map(copied).collect();
    let what = Save { tensors: &tensors, sparse: &contents.sparse, metadata: &[], ..*what };
    let mut file = Cursor::new(Vec::new());
    if thorn_files::save(Format::Svmlight, &what, &mut file).is_err() {
        return;
    }
    let again = |file: Vec<u8>| {
        let back = thorn_files::open_named(&file, b"a.svm").expect("what was written is read");
        assert_eq!(back.format, Format::Svmlight);
        let read = |index: usize| {
            let mut elements = vec![0; back.storages[index].bytes().unwrap()];
            back.read(&file, index, &mut elements).unwrap();
            (back.storages[index].element, elements)
        };
        let storages: Vec<_> = (0..back.storages.len()).map(read).collect();
        let storages: Vec<_> = storages.iter().map(|(element, elements)| (*element, &elements[..])).collect();
        let what = Save { tensors: &back.tensors, sparse: &back.sparse, storages: &storages, metadata: &[], precision: None };
        let mut to = Cursor::new(Vec::new());
        thorn_files::save(Format::Svmlight, &what, &mut to).expect("what was read is written");
        to.into_inner()
    };
    let text = again(file.into_inner());
    assert_eq!(again(text.clone()), text);
}

/// Writes each sparse tensor with row-major parts in the formats with sparse tensors, and compares the parts. Texts have other types.
fn sparse_again(what: &Save<'_>) {
    for tensor in what.tensors {
        let parts = what.sparse(tensor).unwrap().unwrap();
        if parts.parts.iter().any(|part| part.elements().unwrap() > MOST_ELEMENTS) {
            continue;
        }
        let bytes: Vec<(Element, Vec<u8>)> = parts
            .parts
            .iter()
            .map(|part| {
                let (element, bytes) = what.storage(part).unwrap();
                (element, gathered(part, element, bytes))
            })
            .collect();
        let storages: Vec<(Element, &[u8])> = bytes.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
        let part = |(index, part): (usize, &Tensor)| Tensor::row_major(String::new(), part.sizes.clone(), index).unwrap();
        let alone = Sparse { parts: parts.parts.iter().enumerate().map(part).collect(), ..*parts };
        let tensors = [Tensor { name: String::new(), data: Data::Sparse(0), ..copied(tensor) }];
        let what = Save { tensors: &tensors, sparse: &[alone], storages: &storages, metadata: &[], precision: None };
        for format in [Format::Pt, Format::Npz, Format::NpzDeflated, Format::MatrixMarket] {
            let mut file = Cursor::new(Vec::new());
            if thorn_files::save(format, &what, &mut file).is_err() {
                continue;
            }
            let file = file.into_inner();
            let back = thorn_files::open(&file).expect("what was written is read");
            let Data::Sparse(index) = back.tensors[0].data else { panic!("{:?}", back.tensors) };
            assert_eq!(back.tensors[0].sizes, tensor.sizes);
            let found = &back.sparse[index];
            let rows_and_columns = format != Format::Pt && found.form != parts.form;
            for (k, part) in found.parts.iter().enumerate() {
                let Data::Storage(index) = part.data else { panic!("{part:?}") };
                let mut elements = vec![0; back.storages[index].bytes().unwrap()];
                back.read(&file, index, &mut elements).unwrap();
                if format != Format::MatrixMarket && !rows_and_columns {
                    assert_eq!(&elements[..], storages[k].1);
                }
            }
            let is_kept = format == Format::MatrixMarket && storages[storages.len() - 1].0 == Element::Bool;
            assert!(is_kept || found.nnz() == parts.nnz());
        }
    }
}

/// Writes row-major copies of the tensors in the formats without layouts.
fn row_major(what: &Save<'_>) {
    let kept = what.tensors.iter().filter(|tensor| tensor.elements().is_ok_and(|count| count <= MOST_ELEMENTS));
    let copies: Vec<(&Tensor, Element, Vec<u8>)> = kept
        .map(|tensor| {
            let (element, bytes) = what.storage(tensor).unwrap();
            (tensor, element, gathered(tensor, element, bytes))
        })
        .collect();
    let storages: Vec<(Element, &[u8])> = copies.iter().map(|(_, element, bytes)| (*element, &bytes[..])).collect();
    let row_major = |(index, (tensor, ..)): (usize, &(&Tensor, Element, Vec<u8>))| {
        Tensor::row_major(tensor.name.clone(), tensor.sizes.clone(), index).unwrap()
    };
    let tensors: Vec<Tensor> = copies.iter().enumerate().map(row_major).collect();
    for format in [Format::Npz, Format::NpzDeflated, Format::Safetensors] {
        let metadata = if format == Format::Safetensors { what.metadata } else { &[] };
        again(format, &Save { tensors: &tensors, sparse: &[], storages: &storages, metadata, precision: None });
    }
    for (index, tensor) in tensors.iter().enumerate().take(4) {
        let alone = [Tensor::row_major(String::new(), tensor.sizes.clone(), index).unwrap()];
        for format in [Format::Npy, Format::MatrixMarket, Format::Csv, Format::Tsv, Format::Pnm, Format::Png] {
            again(format, &Save { tensors: &alone, sparse: &[], storages: &storages, metadata: &[], precision: None });
        }
    }
}

/// Writes tensors, reads them back and compares their elements.
fn again(format: Format, what: &Save<'_>) {
    let mut file = Cursor::new(Vec::new());
    if thorn_files::save(format, what, &mut file).is_err() {
        return;
    }
    let file = file.into_inner();
    let separator = match format {
        Format::Csv => Some(b','),
        Format::Tsv => Some(b'\t'),
        _ => None,
    };
    let back = match separator {
        Some(_) if file.is_empty() => return,
        Some(_) => thorn_files::read_csv(&file, separator),
        None => thorn_files::open(&file),
    };
    let back = back.expect("what was written is read");
    assert_eq!(back.tensors.len(), what.tensors.len());
    for written in what.tensors {
        let read = back.tensors.iter().find(|read| read.name == written.name).expect("the name");
        let Data::Storage(index) = read.data else { panic!("{read:?}") };
        let mut elements = vec![0; back.storages[index].bytes().unwrap()];
        back.read(&file, index, &mut elements).unwrap();
        let (element, bytes) = what.storage(written).unwrap();
        if format == Format::MatrixMarket {
            assert_eq!(read.elements().unwrap(), written.elements().unwrap());
            continue;
        }
        if separator.is_none() {
            assert_eq!((&read.sizes, &elements[..]), (&written.sizes, bytes));
            continue;
        }
        let wanted = bytes.chunks_exact(element.size()).map(|bytes| number(element, bytes));
        for (read, wanted) in elements.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).zip(wanted) {
            // The fewest digits identify a float only within its type.
            let read = if matches!(element, Element::F16 | Element::BF16 | Element::F32) { f64::from(read as f32) } else { read };
            assert!(read == wanted || read.is_nan() && wanted.is_nan(), "{read} {wanted}");
        }
    }
}

/// Returns the number that CSV has for an element.
fn number(element: Element, bytes: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let word = i64::from_le_bytes(word);
    match element {
        Element::Bool => f64::from(word != 0),
        Element::U8 => word as f64,
        Element::I8 => f64::from(word as i8),
        Element::I16 => f64::from(word as i16),
        Element::I32 => f64::from(word as i32),
        Element::I64 => word as f64,
        Element::F16 => half::f16::from_bits(word as u16).to_f64(),
        Element::BF16 => f64::from(f32::from_bits((word as u32) << 16)),
        Element::F32 => f64::from(f32::from_bits(word as u32)),
        Element::F64 => f64::from_bits(word as u64),
    }
}

/// Returns the elements of a tensor in row-major order.
fn gathered(tensor: &Tensor, element: Element, storage: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut k in 0..tensor.elements().unwrap() as i64 {
        let mut at = tensor.offset;
        for (&size, &stride) in tensor.sizes.iter().zip(&tensor.strides).rev() {
            at += k % size * stride;
            k /= size;
        }
        bytes.extend_from_slice(&storage[at as usize * element.size()..][..element.size()]);
    }
    bytes
}

/// Compares tensors by their names. Torch7 has no scalars, no bool, and only one kind of empty tensor.
fn compare(what: &Save<'_>, back: &Contents, file: &Vec<u8>, format: Format) {
    let mut read: Vec<&Tensor> = back.tensors.iter().collect();
    let mut written: Vec<&Tensor> = what.tensors.iter().collect();
    if format == Format::Pt {
        assert_eq!(back.metadata, what.metadata);
    } else {
        read.sort_by_key(|tensor| &tensor.name);
        written.sort_by_key(|tensor| &tensor.name);
    }
    assert_eq!(read.len(), written.len());
    for (read, written) in read.into_iter().zip(written) {
        if format == Format::Pt {
            assert_eq!((&read.name, &read.sizes, &read.strides), (&written.name, &written.sizes, &written.strides));
        }
        let (Data::Storage(index), Ok(elements)) = (&read.data, written.elements()) else { panic!("{read:?}") };
        assert_eq!(read.elements().unwrap(), elements);
        if elements > 0 {
            let mut all = vec![0; back.storages[*index].bytes().unwrap()];
            back.read(file, *index, &mut all).unwrap();
            assert_eq!((read.offset, &all[..]), (written.offset, what.storage(written).unwrap().1));
        }
    }
}
