//! Writes what may be a file of any format in the formats that keep layouts, and compares what is read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use std::io::Cursor;
use thorn_files::{Contents, Data, Element, Format, Save, Tensor};

/// Larger storages are left out.
const MOST: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(contents) = thorn_files::open(&bytes) else { return };
    let mut storages = Vec::new();
    for (index, storage) in contents.storages.iter().enumerate() {
        let size = storage.bytes().expect("it was checked");
        let mut elements = vec![0; if size <= MOST { size } else { 0 }];
        let is_read = size <= MOST && contents.read(&bytes, index, &mut elements).is_ok();
        storages.push((storage.element, is_read.then_some(elements)));
    }
    let is_read = |tensor: &&Tensor| matches!(tensor.data, Data::Storage(index) if storages[index].1.is_some());
    let mut names = HashSet::new();
    let mut tensors = Vec::new();
    for Tensor { name, sizes, strides, offset, data } in contents.tensors.iter().filter(is_read) {
        if names.insert(name) {
            let (name, sizes, strides) = (name.clone(), sizes.clone(), strides.clone());
            tensors.push(Tensor { name, sizes, strides, offset: *offset, data: data.clone() });
        }
    }
    let metadata: Vec<(String, String)> = contents.metadata.iter().filter(|(key, _)| names.insert(key)).cloned().collect();
    let storages: Vec<(Element, &[u8])> =
        storages.iter().map(|(element, elements)| (*element, elements.as_deref().unwrap_or_default())).collect();
    let what = Save { tensors: &tensors, storages: &storages, metadata: &metadata, precision: None };
    for format in [Format::Pt, Format::T7] {
        let mut file = Cursor::new(Vec::new());
        if thorn_files::save(format, &what, &mut file).is_ok() {
            let file = file.into_inner();
            let back = thorn_files::open(&file).expect("what was written is read");
            compare(&what, &back, &file, format);
        }
    }
});

/// Compares tensors by their names. Torch7 has no scalars, no bool, and one form of emptiness.
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
