//! Files of PyTorch. Files that PyTorch wrote are compared with the contents that PyTorch reads. Broken files are compared with expected
//! errors.

mod clock;
mod plain;

use plain::{compare, corpus, elements, expected, positions, sparse, wanted};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use thorn_files::{Contents, Data, Element, Encoding, Form, Format, Input, Nested, NestedEntry, Opaque, Result, Save, Tensor};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(corpus("torch").join(name)).unwrap()
}

/// Compares all contents of a file with the contents that PyTorch reads.
fn compare_all(name: &str, contents: &Contents, file: &Vec<u8>, wanted: &serde_json::Value) {
    let is_kept = |tensor: &&Tensor| matches!(tensor.data, Data::Storage(_));
    let tensors: Vec<&Tensor> = contents.tensors.iter().filter(is_kept).collect();
    let refused = contents.tensors.iter().filter(|tensor| tensor.data.refusal().is_some());
    let refused: Vec<&str> = refused.map(|tensor| &*tensor.name).collect();
    compare_sparse(name, contents, file, &wanted["sparse"]);
    let list = |key: &str| wanted[key].as_array().unwrap();
    assert_eq!(refused, list("refused").iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>(), "{name}");
    let names: Vec<&str> = tensors.iter().map(|tensor| &*tensor.name).collect();
    assert_eq!(names, list("tensors").iter().map(|tensor| tensor["name"].as_str().unwrap()).collect::<Vec<_>>(), "{name}");
    // Two tensors share a storage here exactly if they share a storage in PyTorch.
    let mut shared = HashMap::new();
    for (tensor, wanted) in tensors.iter().zip(list("tensors")) {
        let at = format!("{name}: {}", tensor.name);
        compare(&at, contents, file, tensor, wanted);
        // PyTorch reads these views of a storage as separate storages. Here they share one storage.
        if name == "views_legacy.pt" {
            continue;
        }
        let strides: Vec<i64> = serde_json::from_value(wanted["strides"].clone()).unwrap();
        assert_eq!((&tensor.strides, tensor.offset), (&strides, wanted["offset"].as_i64().unwrap()), "{at}");
        let Data::Storage(index) = tensor.data else { continue };
        assert_eq!(*shared.entry(index).or_insert(wanted["storage"].as_i64()), wanted["storage"].as_i64(), "{at}");
    }
    let distinct: std::collections::HashSet<_> = shared.values().collect();
    assert_eq!(distinct.len(), shared.len(), "{name}");
    if !wanted["metadata"].is_null() {
        let metadata: Vec<(String, String)> = serde_json::from_value(wanted["metadata"].clone()).unwrap();
        assert_eq!(contents.metadata, metadata, "{name}");
    }
}

/// Compares sparse tensors: their layouts, and their entries in the order of PyTorch.
fn compare_sparse(name: &str, contents: &Contents, file: &Vec<u8>, expected: &serde_json::Value) {
    let found: Vec<&Tensor> = contents.tensors.iter().filter(|tensor| matches!(tensor.data, Data::Sparse(_))).collect();
    let names: Vec<&str> = expected.as_array().unwrap().iter().map(|tensor| tensor["name"].as_str().unwrap()).collect();
    assert_eq!(found.iter().map(|tensor| &*tensor.name).collect::<Vec<_>>(), names, "{name}");
    for (tensor, expected) in found.into_iter().zip(expected.as_array().unwrap()) {
        let at = format!("{name}: {}", tensor.name);
        let parts = sparse(contents, tensor);
        let layout = match parts.form {
            Form::Coordinates => "torch.sparse_coo",
            Form::Rows => "torch.sparse_csr",
            Form::Columns => "torch.sparse_csc",
            Form::Vectors => panic!("{at}"),
        };
        assert_eq!((layout, serde_json::json!(tensor.sizes)), (expected["layout"].as_str().unwrap(), expected["sizes"].clone()), "{at}");
        assert_eq!(serde_json::json!(positions(contents, file, parts)), expected["positions"], "{at}");
        let (element, values) = elements(contents, file, parts.values().unwrap());
        assert_eq!((element.name(), values), (expected["dtype"].as_str().unwrap(), wanted(expected)), "{at}");
        assert_eq!(parts.coalesced, expected["coalesced"], "{at}");
    }
}

#[test]
fn files_of_pytorch() {
    for (name, wanted) in expected("torch") {
        let file = file(&name);
        let contents = thorn_files::open(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let legacy = name.ends_with("_legacy.pt");
        assert_eq!(contents.format, if legacy { Format::PtLegacy } else { Format::Pt }, "{name}");
        compare_all(&name, &contents, &file, &wanted);
        let is_plain = |encoding: &Encoding| encoding.plain().is_some_and(|at| legacy || at % 64 == 0);
        if ["shapes.pt", "shapes_legacy.pt", "checkpoint.pt", "module_5.pt", "one.pt"].contains(&&*name) {
            let plain = contents.storages.iter().filter(|storage| is_plain(&storage.encoding)).count();
            let widened = if name == "shapes.pt" { 2 } else { 0 };
            assert_eq!(plain + widened, contents.storages.len(), "{name}");
        }
    }
}

#[test]
fn arrays_in_pickles_of_protocol_5_stay_in_the_file() {
    let file = file("arrays_5.pt");
    let contents = thorn_files::open(&file).unwrap();
    let in_file = |storage: &thorn_files::Storage| matches!(storage.encoding, Encoding::Numbers { .. });
    assert!(contents.storages.iter().all(in_file));
}

#[test]
fn tensors_that_cannot_be_had_say_why() {
    let why = [
        ("quantised", "it is quantised", &[2, 2][..]),
        ("channels", "it is quantised", &[2, 2]),
        ("conj", "its bit 'conj' is set", &[2]),
        ("neg", "its bit 'neg' is set", &[2]),
        ("meta", "it is on the device meta, where tensors have no elements", &[2, 2]),
        ("nested", "it is nested", &[]),
    ];
    let file = file("odd.pt");
    let contents = thorn_files::open(&file).unwrap();
    for (name, reason, sizes) in why {
        let tensor = contents.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        assert_eq!((tensor.data.refusal(), &*tensor.sizes), (Some(reason), sizes), "{name}");
    }
    let contents = thorn_files::open(&self::file("sparse.pt")).unwrap();
    let why = ["blocks", "batch", "complex"].map(|name| {
        let tensor = contents.tensors.iter().find(|tensor| tensor.name == name).unwrap();
        if let Data::Refused(why) = &tensor.data { why.as_str() } else { panic!("{name} is read") }
    });
    let complex = "it is sparse, and of one of its parts, there are no elements of the type complex64";
    assert_eq!(why, ["it is sparse, of the layout 'torch.sparse_bsr'", "it is sparse, a batch of matrices or a matrix of blocks", complex]);
    let file = self::file("dtypes.pt");
    let contents = thorn_files::open(&file).unwrap();
    let tensor = contents.tensors.iter().find(|tensor| tensor.name == "complex64").unwrap();
    let Data::Opaque(Opaque { storage, size: 8, why }) = &tensor.data else { panic!("{:?}", tensor.data) };
    assert_eq!(why, "there are no elements of the type complex64");
    assert_eq!(contents.storages[*storage].len, 8 * tensor.elements().unwrap());
}

#[test]
fn attributes_of_modules_are_metadata() {
    let file = file("module.pt");
    let contents = thorn_files::open(&file).unwrap();
    let value = |key: &str| contents.metadata.iter().find(|(other, _)| other == key).map(|(_, value)| &**value);
    let found = ["title", "training", "conv.kernel_size.0", "norm.eps", "head.0.in_features"].map(value);
    assert_eq!(found, [Some("net"), Some("true"), Some("3"), Some("1e-05"), Some("4")].map(|text| text.map(python_float)));
}

/// Returns the text of a float as Rust prints it.
fn python_float(text: &str) -> &str {
    if text == "1e-05" { "1e-5" } else { text }
}

/// Writes all tensors of a file that could be read.
fn rewritten(contents: &mut Contents, file: &Vec<u8>) -> Result<Vec<u8>> {
    contents.tensors.retain(|tensor| tensor.data.refusal().is_none());
    let read = |index: usize| {
        let mut bytes = vec![0; contents.storages[index].bytes().unwrap()];
        contents.read(file, index, &mut bytes).unwrap();
        (contents.storages[index].element, bytes)
    };
    let storages: Vec<_> = (0..contents.storages.len()).map(read).collect();
    let storages: Vec<_> = storages.iter().map(|(element, bytes)| (*element, &bytes[..])).collect();
    let mut to = io::Cursor::new(Vec::new());
    let what =
        Save { tensors: &contents.tensors, sparse: &contents.sparse, storages: &storages, metadata: &contents.metadata, precision: None };
    thorn_files::save(Format::Pt, &what, &mut to)?;
    Ok(to.into_inner())
}

/// The paths of a nested value are those that the reader finds.
#[test]
fn nested_values_are_read_by_their_paths() {
    let dict = |pairs: Vec<(Nested, Nested)>| Nested::Dict(pairs);
    let empty = [Nested::List(Vec::new()), Nested::Tuple(Vec::new()), dict(Vec::new()), Nested::None];
    let state = dict(vec![(Nested::text("step"), Nested::Tensor(1)), (Nested::text("sum"), Nested::Tensor(0))]);
    let nested = dict(vec![
        (Nested::text("state"), dict(vec![(Nested::Int(0), state), (Nested::Int(1 << 40), Nested::Tensor(0))])),
        (Nested::text("empty"), Nested::List(empty.to_vec())),
        (Nested::text("numbers"), Nested::Tuple(vec![Nested::Float(0.1), Nested::Float(f64::INFINITY), Nested::Int(i64::MIN)])),
        (Nested::text("flags"), Nested::List(vec![Nested::Bool(true), Nested::Bool(false), Nested::text("ü")])),
    ]);
    let (mut tensors, mut scalars) = (Vec::new(), Vec::new());
    let mut path = String::new();
    nested.each(&mut path, &mut |path, index| tensors.push((path.to_owned(), index)), &mut |path, text| {
        scalars.push((path.to_owned(), text))
    });
    let written = [Tensor::row_major("a".to_owned(), vec![2], 0).unwrap(), Tensor::row_major("b".to_owned(), vec![], 1).unwrap()];
    let storages: [(_, &[u8]); 2] = [(Element::U8, &[3, 4]), (Element::U8, &[5])];
    let what = Save { tensors: &written, sparse: &[], storages: &storages, metadata: &[], precision: None };
    let mut to = io::Cursor::new(Vec::new());
    let entry = |name: &str, value| NestedEntry { name: name.to_owned(), value, tensors: 0..2, metadata: 0..0 };
    thorn_files::save_nested(Format::Pt, &what, &[entry("", nested)], &mut to).unwrap();
    let contents = thorn_files::open(&to.into_inner()).unwrap();
    assert_eq!(contents.metadata, scalars);
    assert_eq!(scalars.len(), 6);
    assert_eq!(scalars[1], ("numbers.1".to_owned(), "inf".to_owned()));
    let found: Vec<_> = contents.tensors.iter().map(|tensor| (tensor.name.clone(), usize::from(tensor.sizes.is_empty()))).collect();
    assert_eq!(found, tensors);
    assert_eq!(tensors[0], ("state.0.step".to_owned(), 1));
    let missing = thorn_files::save_nested(Format::Pt, &what, &[entry("", Nested::Tensor(2))], &mut io::Cursor::new(Vec::new()));
    assert!(missing.unwrap_err().message.contains("tensor 2"));
    // The file has a named value, a tensor and a text.
    let [a, b] = written;
    let three = [a, b, Tensor::row_major("c".to_owned(), vec![], 1).unwrap()];
    let metadata = [("note".to_owned(), "a text".to_owned())];
    let what = Save { tensors: &three, sparse: &[], storages: &storages, metadata: &metadata, precision: None };
    let mut to = io::Cursor::new(Vec::new());
    let value = Nested::List(vec![Nested::Tensor(1), Nested::Tensor(0), Nested::Int(7)]);
    thorn_files::save_nested(Format::Pt, &what, &[entry("list", value)], &mut to).unwrap();
    let contents = thorn_files::open(&to.into_inner()).unwrap();
    let found: Vec<_> = contents.tensors.iter().map(|tensor| (&*tensor.name, tensor.sizes.is_empty())).collect();
    assert_eq!(found, [("c", true), ("list.0", true), ("list.1", false)]);
    let texts: Vec<_> = contents.metadata.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(texts, [("note", "a text"), ("list.2", "7")]);
    let twice = thorn_files::save_nested(Format::Pt, &what, &[entry("c", Nested::None)], &mut io::Cursor::new(Vec::new()));
    assert!(twice.unwrap_err().message.contains("the name 'c' twice"));
}

#[test]
fn written_files_are_read_as_what_they_were_written_from() {
    for (name, mut wanted) in expected("torch") {
        let file = file(&name);
        let mut contents = thorn_files::open(&file).unwrap();
        let written = rewritten(&mut contents, &file).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = thorn_files::open(&written).unwrap();
        wanted["refused"] = serde_json::json!([]);
        assert_eq!(again.format, Format::Pt);
        compare_all(&name, &again, &written, &wanted);
        assert_eq!(again.metadata, contents.metadata);
        assert!(again.storages.iter().all(|storage| storage.encoding.plain().unwrap() % 64 == 0), "{name}");
    }
    let mut twice = thorn_files::open(&file("one.pt")).unwrap();
    twice.metadata.push((String::new(), String::new()));
    assert_eq!(rewritten(&mut twice, &file("one.pt")).unwrap_err().message, "PyTorch files cannot have the name '' twice");
}

/// Returns a stream of PyTorch without storages, whose object is this pickle.
fn stream(pickle: &[u8]) -> Vec<u8> {
    let head: [&[u8]; 3] = [b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", b"\x80\x02M\xe9\x03.", b"\x80\x02}."];
    [&head.concat()[..], pickle, b"\x80\x02]."].concat()
}

/// The byte at which the pickle of [`stream`] begins.
const START: usize = 25;

#[test]
fn broken_pickles() {
    let cases: [(&[u8], &str); 19] = [
        (b"", "the file ends early: 1 bytes are expected, 0 are left"),
        (b"a", "the pickle pops a value from an empty stack"),
        (b"(0.", "the pickle pops a value from an empty stack"),
        (b"e", "the pickle pops a mark, and there is none"),
        (b"]K\x01(0K\x02u", "the pickle pops a mark, and there is none"),
        (b"](K\x01K\x02u", "the pickle sets keys of a value that is no dict"),
        (b"}(K\x01u", "the pickle sets a key without a value"),
        (b"}K\x01a", "the pickle appends to a value that is no list"),
        (b"X\xff\xff\xff\xffab", "the file ends early: a text of 4294967295 bytes is expected, 6 are left"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff", "the file ends early: 18446744073709551615 bytes are expected, 4 are left"),
        (b"h\x00", "the memo of the pickle has no value 0"),
        (b"Nr\xff\xff\xff\xff", "the pickle puts a value into the memo at 4294967295, beyond the number of its bytes"),
        (b"I1x\n", "a number in decimals is expected"),
        (b"\x80\x06", "pickles of protocol 6 are unknown"),
        (b"\xff", "pickles have no operation 0xff"),
        (b"\x82\x01", "the pickle refers to data outside the file"),
        (b"\x97", "the pickle refers to data outside the file"),
        (b"NN\x93", "the name of a class is not a text"),
        (b"(o", "the pickle pops a value from an empty stack"),
    ];
    for (pickle, error) in cases {
        let file = stream(pickle);
        let file = if pickle.is_empty() { file[..START].to_vec() } else { file };
        let message = thorn_files::open(&file).unwrap_err().message;
        let (byte, rest) = message.strip_prefix("PyTorch before 1.6: byte ").and_then(|rest| rest.split_once(": ")).unwrap();
        assert_eq!(rest, error);
        let byte: usize = byte.parse().unwrap();
        assert!((START..START + 12).contains(&byte), "{message}");
    }
}

/// A chain of 64 lists, each with two references to the list before, would have 2^64 items.
#[test]
fn lists_that_refer_to_one_list_many_times() {
    let mut pickle = b"\x80\x02N".to_vec();
    (0..64u8).for_each(|i| pickle.extend_from_slice(&[b'q', i, b'0', b'(', b'h', i, b'h', i, b'l']));
    pickle.push(b'.');
    let start = clock::cpu_time();
    let error = thorn_files::open(&stream(&pickle)).unwrap_err();
    assert_eq!(error.message, "PyTorch before 1.6: the pickle refers to the same values too often for a file of this size");
    assert!((clock::cpu_time() - start).as_millis() < 1000);
}

#[test]
fn long_lists_of_numbers_are_one_text() {
    let pickle = [&b"\x80\x02}X\x01\0\0\0a]("[..], &b"K\x01G?\xe0\0\0\0\0\0\0\x88".repeat(400), b"es."].concat();
    let contents = thorn_files::open(&stream(&pickle)).unwrap();
    let text = format!("[{}]", vec!["1, 0.5, true"; 400].join(", "));
    assert_eq!(contents.metadata, [("a".to_owned(), text)]);
}

#[test]
fn deep_and_cyclic_pickles() {
    let deep = [&b"\x80\x02"[..], &b"(".repeat(200_000), b"K\x01", &b"t".repeat(200_000), b"."].concat();
    let contents = thorn_files::open(&stream(&deep)).unwrap();
    assert_eq!((contents.metadata[0].0.len(), &*contents.metadata[0].1), (399_999, "1"));
    // A dict that contains itself, and an object that is its own state.
    let contents = thorn_files::open(&stream(b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.")).unwrap();
    assert_eq!((contents.metadata.len(), contents.tensors.len()), (0, 0));
    let contents = thorn_files::open(&stream(b"\x80\x02ca\nb\n)Rq\x00h\x00b.")).unwrap();
    assert_eq!((contents.metadata.len(), contents.tensors.len()), (0, 0));
}

#[test]
fn pickles_of_protocol_0() {
    let pickle = b"(dp0\nS'a\\n\\x41\\''\np1\nI01\nsV\\u00fc\\\\\nL12L\nsg1\nF-0.5\ns(lp2\nI5\nasI7\ng2\ns.";
    let message = thorn_files::open(&stream(pickle)).unwrap_err().message;
    assert!(message.contains("the pickle pops a value from an empty stack"), "{message}");
    let pickle = b"(dp0\nS'a\\n\\x41\\''\np1\nI01\nsV\\u00fc\\\\\nL12L\nsI7\n(lp2\nI5\nas.";
    let contents = thorn_files::open(&stream(pickle)).unwrap();
    let metadata: Vec<_> = contents.metadata.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(metadata, [("a\nA'", "true"), ("ü\\\\", "12"), ("7.0", "5")]);
}

#[test]
fn other_archives() {
    let mut tar = b"pickle".to_vec();
    tar.resize(257, 0);
    tar.extend_from_slice(b"ustar  \0");
    let error = thorn_files::open(&tar).unwrap_err();
    assert_eq!(error.message, "tar archives of PyTorch before 0.2 are not read");
    let mut zip = io::Cursor::new(Vec::new());
    let mut writer = thorn_files::zip::Writer::new(&mut zip);
    writer.store("archive/data.txt", &[b"no pickle"], 1).unwrap();
    writer.finish().unwrap();
    let zip = zip.into_inner();
    assert_eq!(thorn_files::open(&zip).unwrap_err().message, "PyTorch: the archive has no data.pkl and no exported program");
    // The pickle that is nearest to the root is read.
    let mut deep = io::Cursor::new(Vec::new());
    let mut writer = thorn_files::zip::Writer::new(&mut deep);
    writer.store("archive/code/data.pkl", &[b"no pickle"], 1).unwrap();
    writer.store("archive/adata.pkl", &[b"no pickle"], 1).unwrap();
    writer.store("archive/data.pkl", &[b"\x80\x02K\x07."], 1).unwrap();
    writer.finish().unwrap();
    assert_eq!(thorn_files::open(&deep.into_inner()).unwrap().metadata, [(String::new(), "7".to_owned())]);
    let cut = zip[..zip.len() - 1].to_vec();
    let error = thorn_files::open(&cut).unwrap_err().message;
    assert_eq!(error, format!("PyTorch: byte {}: the file ends early: the directory of a zip archive is missing at its end", cut.len()));
}

#[test]
fn sparse_tensors_whose_parts_do_not_fit() {
    let file = file("sparse.pt");
    let place = |bytes: &[u8]| file.windows(bytes.len()).position(|other| other == bytes).unwrap();
    // The sizes of `coo`, 3 x 4, become None and 11, and then 3 for two dimensions.
    let mut other = file.clone();
    let size = place(b"torch\nSize\n");
    let at = size + file[size..].windows(5).position(|bytes| bytes == b"K\x03K\x04\x86").unwrap();
    other[at..at + 5].copy_from_slice(b"NK\x0b\x86\x98");
    let contents = thorn_files::open(&other).unwrap();
    assert!(matches!(&contents.tensors[1].data, Data::Refused(why) if why == "it is sparse, and its sizes are not integers"));
    other[at..at + 5].copy_from_slice(b"M\x03\0\x85\x98");
    let error = thorn_files::open(&other).unwrap_err().message;
    assert_eq!(error, "PyTorch: tensor 'coo': a sparse tensor of sizes [3] has parts of sizes [2, 4], [4]");
    // A sparse tensor that is a part of itself.
    let call = b"ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\n(X\x10\0\0\0torch.sparse_cootR(";
    let mut pickle = b"\x80\x02N".to_vec();
    (0..1000).for_each(|_| {
        pickle.extend_from_slice(b"q\0");
        pickle.extend_from_slice(call);
        pickle.extend_from_slice(b"h\0h\0(K\x01ttttR");
    });
    pickle.push(b'.');
    let result = thorn_files::open(&stream(&pickle));
    assert!(result.is_err() || matches!(&result.unwrap().tensors[0].data, Data::Refused(why) if why.contains("no tensor")));
}

#[test]
fn tensors_beyond_their_storages() {
    let file = file("one.pt");
    let place = |bytes: &[u8]| file.windows(bytes.len()).position(|other| other == bytes).unwrap();
    // The number of elements of the storage is six, and a size is three.
    let count = place(b"cpuq\x04K\x06") + 6;
    let mut more = file.clone();
    more[count] = 7;
    let error = thorn_files::open(&more).unwrap_err().message;
    assert!(
        error.starts_with("PyTorch: byte ") && error.ends_with("storage 'archive/data/0' has 48 bytes, too few for 7 elements"),
        "{error}"
    );
    let mut more = file.clone();
    let size = place(b"K\x03K\x02\x86") + 1;
    more[size] = 4;
    assert_eq!(
        thorn_files::open(&more).unwrap_err().message,
        "PyTorch: tensor '': sizes [4, 2], strides [1, 3] and offset 0 reach beyond the 6 elements of its storage"
    );
    let mut gone = file.clone();
    gone[count - 14] = b'x';
    let contents = thorn_files::open(&gone).unwrap();
    assert!(matches!(&contents.tensors[0].data, Data::Refused(why) if why.contains("is not in the file")), "{:?}", contents.tensors);
}

/// The size in bytes of a piece of a file.
const PIECE: usize = 1 << 20;

/// A file in memory that does not store pieces of zeros.
#[derive(Default)]
struct Sparse {
    pieces: BTreeMap<u64, Vec<u8>>,
    at: u64,
    size: u64,
}

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        static ZEROS: [u8; PIECE] = [0; PIECE];
        let (piece, start) = (self.at / PIECE as u64, self.at as usize % PIECE);
        let bytes = &bytes[..bytes.len().min(PIECE - start)];
        if bytes != &ZEROS[..bytes.len()] || self.pieces.contains_key(&piece) {
            self.pieces.entry(piece).or_insert_with(|| vec![0; PIECE])[start..start + bytes.len()].copy_from_slice(bytes);
        }
        self.at += bytes.len() as u64;
        self.size = self.size.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(at) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        self.at = at;
        Ok(at)
    }
}

impl Input for Sparse {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        thorn_files::input::within(self.size, offset, to.len())?;
        for (at, to) in (offset..).zip(to) {
            *to = self.pieces.get(&(at / PIECE as u64)).map_or(0, |piece| piece[at as usize % PIECE]);
        }
        Ok(())
    }
}

/// A file of more than 4 GB, which needs zip64. If `FILES_BIG` is a path, the file is kept there, so that PyTorch can open it.
#[test]
fn storages_of_more_than_4_gb() {
    const LEN: usize = (4 << 30) + 7;
    // Zeros that are only read need addresses but no memory.
    let (mut big, small) = (vec![0; LEN], 0.5f32.to_le_bytes());
    big[LEN - 1] = 7;
    let tensor = |name: &str, size, index| Tensor::row_major(name.to_owned(), vec![size], index).unwrap();
    let tensors = [tensor("big", LEN as i64, 0), tensor("small", 1, 1)];
    let storages: [(_, &[u8]); 2] = [(Element::U8, &big), (Element::F32, &small)];
    let what = Save { tensors: &tensors, sparse: &[], storages: &storages, metadata: &[], precision: None };
    let mut file = Sparse::default();
    thorn_files::save(Format::Pt, &what, &mut file).unwrap();
    drop(big);
    assert!(file.pieces.len() <= 3, "{} pieces are held", file.pieces.len());
    let contents = thorn_files::open(&file).unwrap();
    assert_eq!((contents.tensors[0].sizes[0], contents.storages[0].len), (LEN as i64, LEN as u64));
    let mut last = [0; 2];
    file.read_at(contents.storages[0].encoding.plain().unwrap() + LEN as u64 - 2, &mut last).unwrap();
    let mut read = [0; 4];
    contents.read(&file, 1, &mut read).unwrap();
    assert_eq!((last, read), ([0, 7], small));
    if let Some(path) = std::env::var_os("FILES_BIG") {
        let to = std::fs::File::create(path).unwrap();
        to.set_len(file.size).unwrap();
        for (piece, bytes) in &file.pieces {
            let len = bytes.len().min((file.size - piece * PIECE as u64) as usize);
            to.write_all_at(&bytes[..len], piece * PIECE as u64).unwrap();
        }
    }
}
