//! Pickles and headers that need much memory or time for their size. The memory limit for reading or refusing a file is four times its size
//! plus 64 MB.

mod clock;
mod counting;

use clock::cpu_time;
use counting::{LIVE, PEAK};
use std::sync::atomic::Ordering::Relaxed;

/// Returns a stream of PyTorch without storages, whose object is this pickle.
fn stream(pickle: &[u8]) -> Vec<u8> {
    let head: [&[u8]; 3] = [b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", b"\x80\x02M\xe9\x03.", b"\x80\x02}."];
    [&head.concat()[..], pickle, b"\x80\x02]."].concat()
}

/// Returns an archive with this pickle, compressed.
fn archive(pickle: &[u8]) -> Vec<u8> {
    let mut to = std::io::Cursor::new(Vec::new());
    let mut writer = thorn_files::zip::Writer::new(&mut to);
    writer.deflate("a/data.pkl", &[pickle]).unwrap();
    writer.store("a/data/0", &[&[0; 4096]], 64).unwrap();
    writer.finish().unwrap();
    to.into_inner()
}

fn long(op: u8, text: &[u8]) -> Vec<u8> {
    [&[op][..], &(text.len() as u32).to_le_bytes(), text].concat()
}

/// Returns a pickle that puts `kept` into the memo at 0, and builds a list of `count` copies of `item`, which may refer to the memo.
fn repeated(kept: &[u8], item: &[u8], count: usize) -> Vec<u8> {
    [kept, b"q\x000(", &item.repeat(count), b"l"].concat()
}

/// Returns a pickle that refers `count` times to the value 0 of the memo, through lists of a thousand references to lists of a thousand.
fn thousandfold(kept: &[u8]) -> Vec<u8> {
    let thousand = |id: u8| [&b"("[..], &[b'h', id].repeat(1000), b"lq", &[id + 1], b"0"].concat();
    [kept, b"q\x000", &thousand(0), &thousand(1), &thousand(2), b"h\x03"].concat()
}

const TENSOR: &[u8] =
    b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuM\0\x04tQK\0";

fn pickles() -> Vec<(&'static str, Vec<u8>)> {
    const MANY: usize = 2 << 20;
    let text = vec![b'x'; 1 << 20];
    let latin = "\u{e9}".repeat(1 << 19);
    let dims = [&b"("[..], &b"K\x01".repeat(1023), b"t"].concat();
    let sparse = [b"ctorch._utils\n_rebuild_sparse_tensor\n(N(", &[&dims[..], b"2"].concat()[..], &b"2".repeat(100_000), b"ttR"].concat();
    let layout = b"ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n(X\x10\0\0\0torch.sparse_cootR(";
    let part = [TENSOR, &dims, &dims, b"\x89}tR"].concat();
    let coordinates = [&layout[..], &part, &part, &dims, b"\x89ttR"].concat();
    let numpy = b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(X\x02\0\0\0f8tRc_codecs\nencode\n(";
    vec![
        ("None", b"N".repeat(MANY)),
        ("lists", b"]".repeat(MANY)),
        ("dicts", b"}".repeat(MANY)),
        ("tuples of three", [b"NNN".to_vec(), b"\x872NN".repeat(MANY / 4)].concat()),
        ("marks", b"(".repeat(MANY)),
        ("nested", [b"(".repeat(MANY / 2), b"l".repeat(MANY / 2)].concat()),
        ("calls", [b"ca\nb\n".to_vec(), b")R".repeat(MANY / 2)].concat()),
        ("classes", b"ca\nb\n".repeat(MANY / 5)),
        ("kept", [b"N".to_vec(), (0..MANY as u32 / 5).flat_map(|i| [&b"r"[..], &i.to_le_bytes()].concat()).collect()].concat()),
        ("kept far away", [b"N".repeat(MANY), long(b'r', b"")[..1].to_vec(), (MANY as u32).to_le_bytes().to_vec()].concat()),
        ("floats", [b"](".to_vec(), b"G\x3f\xf0\0\0\0\0\0\0".repeat(MANY / 9), b"e".to_vec()].concat()),
        ("small integers", [b"](".to_vec(), b"K\x01".repeat(MANY / 2), b"e".to_vec()].concat()),
        ("lines", [b"V".to_vec(), b"\xff".repeat(MANY), b"\n".to_vec()].concat()),
        ("a long integer", [long(b'B', &text)[1..5].to_vec(), vec![0xff; MANY]].concat()),
        ("a text many times", repeated(&long(b'X', &text), b"h\x00", 100_000)),
        ("broken UTF-8", repeated(&long(b'X', &vec![0xff; 1 << 20]), b"h\x00", 100_000)),
        ("a long key many times", repeated(&long(b'X', &text), b"}h\x00Ns", 100_000)),
        ("a thousandfold None", thousandfold(b"N")),
        ("a thousandfold list", thousandfold(b"]")),
        ("a thousandfold text", thousandfold(&long(b'X', &text))),
        ("a thousandfold sparse tensor", thousandfold(&sparse)),
        ("thousandfold coordinates", thousandfold(&coordinates)),
        ("a thousandfold tensor", thousandfold(&[TENSOR, &dims, &dims, b"\x89}tR"].concat())),
        ("a thousandfold tensor of wrong sizes", thousandfold(&[TENSOR, &dims, b"N\x89}tR"].concat())),
        ("a thousandfold number of NumPy", thousandfold(&[&numpy[..], &long(b'X', latin.as_bytes()), b"NttR"].concat())),
        ("a thousandfold class", thousandfold(&[b"c", &text[..], b"\nb\n"].concat())),
        (
            "a thousandfold module",
            thousandfold(
                &[&b"ca\nb\n)R}X\x0b\0\0\0_parametersNsX\x08\0\0\0_modulesNs("[..], &b"X\x01\0\0\0_N".repeat(100_000), b"ub"].concat(),
            ),
        ),
        ("a thousandfold dict", thousandfold(&[&b"ccollections\nOrderedDict\n(("[..], &b"N".repeat(100_000), b"ltR"].concat())),
    ]
}

/// Returns an archive with 100 000 entries.
fn entries() -> Vec<u8> {
    let mut to = std::io::Cursor::new(Vec::new());
    let mut writer = thorn_files::zip::Writer::new(&mut to);
    (0..100_000).for_each(|i| writer.store(&format!("{i}"), &[], 1).unwrap());
    writer.store("a/data.pkl", &[b"N."], 1).unwrap();
    writer.finish().unwrap();
    to.into_inner()
}

/// Returns an archive with storages of many types for each entry.
fn storages() -> Vec<u8> {
    let types = ["Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"];
    let mut pickle = b"\x80\x02X\x07\0\0\0storageq\0X\x03\0\0\0cpuq\x01K\0q\x02(".to_vec();
    for (k, kind) in types.iter().enumerate() {
        pickle.extend_from_slice(format!("ctorch\n{kind}Storage\nq{}", (3 + k as u8) as char).as_bytes());
    }
    let mut to = std::io::Cursor::new(Vec::new());
    let mut writer = thorn_files::zip::Writer::new(&mut to);
    for k in 0..20_000 {
        let key = k.to_string();
        writer.store(&format!("a/data/{key}"), &[], 1).unwrap();
        pickle.extend_from_slice(&[b"U", &[key.len() as u8][..], key.as_bytes(), b"r\0\x01\0\0"].concat());
        (0..types.len()).for_each(|kind| pickle.extend_from_slice(&[b"(h\0h", &[3 + kind as u8][..], b"j\0\x01\0\0h\x01h\x02tQ"].concat()));
    }
    writer.store("a/data.pkl", &[&pickle, b"l."], 1).unwrap();
    writer.finish().unwrap();
    to.into_inner()
}

/// Returns a safetensors file whose header has an item many times between a beginning and an end.
fn header(begin: &str, item: &str, count: usize, end: &str) -> Vec<u8> {
    let header = [begin, &vec![item; count].join(","), end].concat();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat()
}

fn headers() -> Vec<Vec<u8>> {
    let sizes = format!(r#""":{{"dtype":"","shape":[0{}],"data_offsets":[0,0]}}"#, ",0".repeat(1023));
    vec![
        header(r#"{"__metadata__":{"#, r#""":"""#, 1_100_000, "}}"),
        header("{", r#""":{"dtype":"","shape":[],"data_offsets":[0,0]}"#, 540_000, "}"),
        header("{", &sizes, 8_000, "}"),
    ]
}

// There is only one test, because other tests would use memory at the same time.
#[test]
fn memory_and_time_are_bounded() {
    let mut all = vec![("entries", vec![entries()]), ("storages", vec![storages()]), ("headers", headers())];
    all.extend(pickles().into_iter().map(|(name, pickle)| {
        let pickle = [&pickle[..], b"."].concat();
        (name, vec![stream(&pickle), archive(&pickle)])
    }));
    for (name, files) in all {
        for (file, kind) in files.iter().zip(["first", "second", "third"]) {
            let (start, before) = (cpu_time(), LIVE.load(Relaxed));
            PEAK.store(before, Relaxed);
            let result = thorn_files::open(file).map(|contents| (contents.tensors.len(), contents.metadata.len()));
            let (memory, time) = (PEAK.load(Relaxed) - before, cpu_time() - start);
            println!("{name}, {kind}: {} bytes, {memory} bytes in use, {time:?}: {result:?}", file.len());
            assert!(memory <= 4 * file.len() + (64 << 20), "{name}, {kind}: {memory} bytes for a file of {}", file.len());
            assert!(time.as_millis() < 3000, "{name}, {kind}: {time:?}");
        }
    }
}
