//! Opens bytes that may be a file of any format, and reads all tensors.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// The size limit of storages that are read. A program would see the size of a larger storage before it reads it.
const MOST: usize = 64 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(contents) = thorn_files::open(&bytes) else { return };
    for (index, storage) in contents.storages.iter().enumerate() {
        let size = storage.bytes().expect("it was checked");
        if size <= MOST {
            let _ = contents.read(&bytes, index, &mut vec![0; size]);
        }
    }
});
