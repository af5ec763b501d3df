//! Reads bytes as the graph of an exported program, in an archive without weights.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thorn_files::zip::Writer;

fuzz_target!(|bytes: &[u8]| {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut archive = Writer::new(&mut file);
    let empty: &[u8] = b"{\"config\": {}}";
    let entries = [
        ("archive_format", &b"pt2"[..]),
        ("models/model.json", bytes),
        ("data/weights/model_weights_config.json", empty),
        ("data/constants/model_constants_config.json", empty),
    ];
    entries.iter().for_each(|(name, data)| archive.store(name, &[data], 1).expect("memory is writable"));
    archive.finish().expect("memory is writable");
    let _ = thorn_files::read_program(&file.into_inner());
});
