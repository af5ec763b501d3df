//! Broken and hostile files: the files of `corpus/`, which real programs wrote, with bytes changed, removed, duplicated or cut off.
//!
//! Each file is opened and all tensors are read. No file may cause a panic or take more than a second. The memory limit is four times the
//! size of the file plus 64 MB plus the requested tensors. `FILES_MUTATIONS` is the number of mutations of each file of the corpus. The
//! default of 2000 makes 332 000 inputs. `FILES_SEED` selects another sequence of mutations. Ten million mutations take some minutes:
//! `FILES_MUTATIONS=92000 cargo test --release -p thorn-files --test hostile -- --nocapture`.

mod clock;
mod counting;

use clock::cpu_time;
use counting::{LIVE, PEAK};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use thorn_files::read_model;
use thorn_files::zip::{self, Writer};
use thorn_files::{Contents, Result, Storage};

/// A random number generator of 64 bits: xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn corpus() -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, files) } else { files.push(path) }
        }
    }
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"), &mut files);
    files.sort();
    files
}

/// Numbers that often break readers.
const SPECIAL: [u64; 10] = [0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0xffff_ffff, 1 << 60, i64::MAX as u64, u64::MAX];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        // Most files have their structure at the beginning or the end.
        let near = |random: &mut Random, len: usize| match random.below(3) {
            0 => random.below(len.min(256)),
            1 => len - 1 - random.below(len.min(256)),
            _ => random.below(len),
        };
        if bytes.is_empty() {
            return;
        }
        let at = near(random, bytes.len());
        let len = 1 + random.below(16.min(bytes.len() - at));
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..at + len)),
            4 => {
                let piece = bytes[at..at + len].to_vec();
                let to = near(random, bytes.len());
                bytes.splice(to..to, piece);
            }
            5 => {
                let piece = bytes[at..at + len].to_vec();
                let to = near(random, bytes.len() - len + 1);
                bytes[to..to + len].copy_from_slice(&piece);
            }
            6 => {
                let number = SPECIAL[random.below(SPECIAL.len())].to_le_bytes();
                let len = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                bytes[at..at + len].copy_from_slice(&number[..len]);
            }
            // A digit of a text.
            _ => match (at..bytes.len()).find(|&at| bytes[at].is_ascii_digit()) {
                Some(at) => bytes[at] = b'0' + random.below(10) as u8,
                None => bytes[at] = b'9',
            },
        }
    }
}

/// Reads the structure of a file. Exported programs are read with their graphs.
fn contents(path: &Path, bytes: &Vec<u8>) -> Result<Contents> {
    if path.extension().is_none_or(|ending| ending != "pt2") {
        return thorn_files::open(bytes);
    }
    // This file has two programs.
    let model = if path.ends_with("two_2.15.pt2") { Some("first") } else { None };
    read_model(bytes, model).map(|(contents, _)| contents)
}

/// Reads all tensors of a file. Returns the size of the largest storage in bytes.
fn read_all(path: &Path, bytes: &Vec<u8>) -> Option<usize> {
    let contents = contents(path, bytes).ok()?;
    let mut most = 0;
    for (index, storage) in contents.storages.iter().enumerate() {
        let size = Storage::bytes(storage).ok()?;
        // A program would see these sizes before it requests the elements.
        if size > 64 << 20 {
            continue;
        }
        let mut to = vec![0; size];
        most = most.max(size);
        let _ = contents.read(bytes, index, &mut to);
    }
    Some(most)
}

/// The files that were read.
#[derive(Default)]
struct Totals {
    inputs: u64,
    opened: u64,
    slowest: Duration,
    peak: usize,
}

impl Totals {
    /// Reads a mutated file, and checks the time and the memory.
    fn read(&mut self, path: &Path, bytes: &Vec<u8>, mutation: u64, seed: u64) {
        let at = || format!("{}, mutation {mutation} of seed {seed}", path.display());
        let (start, before) = (cpu_time(), LIVE.load(Relaxed));
        PEAK.store(before, Relaxed);
        let result = std::panic::catch_unwind(|| read_all(path, bytes)).unwrap_or_else(|_| panic!("{}: a panic", at()));
        let (time, memory) = (cpu_time() - start, PEAK.load(Relaxed) - before);
        assert!(time.as_millis() < 1000, "{}: {time:?}", at());
        let most = 4 * bytes.len() + (64 << 20) + result.unwrap_or(0);
        assert!(memory <= most, "{}: {memory} bytes in use, {most} are allowed", at());
        assert!(LIVE.load(Relaxed) <= before + (1 << 20), "{}: {} bytes were left", at(), LIVE.load(Relaxed) - before);
        (self.inputs, self.opened) = (self.inputs + 1, self.opened + u64::from(result.is_some()));
        (self.slowest, self.peak) = (self.slowest.max(time), self.peak.max(memory));
    }

    fn print(&self, what: &str) {
        let Totals { inputs, opened, slowest, peak } = self;
        println!("{inputs} {what}, of which {opened} were opened; the slowest took {slowest:?}, and the largest {peak} bytes");
    }
}

/// Memory is counted for the whole process, so one test runs at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Returns the number of mutations of each file, and the seed.
fn settings() -> (u64, u64) {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    (number("FILES_MUTATIONS", 2000), number("FILES_SEED", 1))
}

fn random(seed: u64, mutation: u64) -> Random {
    Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (mutation + 1))
}

#[test]
fn mutated_files_are_refused_or_read() {
    let _one = ONE.lock().unwrap();
    let (mutations, seed) = settings();
    let mut totals = Totals::default();
    for path in corpus() {
        let whole = std::fs::read(&path).unwrap();
        assert!(read_all(&path, &whole).is_some(), "{}: {}", path.display(), contents(&path, &whole).unwrap_err());
        for k in 0..mutations {
            let mut bytes = whole.clone();
            mutate(&mut bytes, &mut random(seed, k));
            totals.read(&path, &bytes, k, seed);
        }
    }
    totals.print("mutated files");
    assert!(totals.opened > 0 && (mutations < 2000 || totals.inputs >= 200_000));
}

/// Texts that replace values of JSON.
const VALUES: [&str; 14] = [
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "0",
    "-1",
    "1025",
    "2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "1e999",
    "NaN",
    "[[[[[[[[{\"a\":[{}]}]]]]]]]]",
];

/// Changes a value of a JSON text: removes it, repeats it, nests it, or replaces it by another value or a special one.
fn mutate_json(text: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let [at, other] = [(); 2].map(|()| value(text, random.below(text.len())));
        let piece = text[other.clone()].to_vec();
        match random.below(8) {
            0 => drop(text.drain(at)),
            1 => drop(text.splice(at, VALUES[random.below(VALUES.len())].bytes())),
            2 => drop(text.splice(at.end..at.end, [b",", &*piece].concat())),
            3 => {
                let depth = [1, 50, 200, 100_000][random.below(4)];
                let nested = [&b"[".repeat(depth)[..], &text[at.clone()], &b"]".repeat(depth)].concat();
                drop(text.splice(at, nested));
            }
            // Many copies of a small value.
            4 if piece.len() < 64 => {
                let copies = [&text[at.clone()], &[b",", &*piece].concat().repeat(1 << random.below(15))].concat();
                drop(text.splice(at, copies));
            }
            _ => drop(text.splice(at, piece)),
        }
    }
}

/// Returns the place of a value of JSON near an index: a string, a number, a list or an object.
fn value(text: &[u8], near: usize) -> Range<usize> {
    let starts = |byte: &u8| matches!(byte, b'"' | b'[' | b'{' | b'-' | b'0'..=b'9');
    let start = text[near..].iter().position(starts).map_or(0, |skip| near + skip);
    let (mut depth, mut quoted) = (0, false);
    for (index, &byte) in text.iter().enumerate().skip(start) {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => continue,
            b'[' | b'{' => depth += 1,
            b']' | b'}' | b',' | b':' if depth == 0 => return start..index,
            b']' | b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 && !quoted {
            return start..index + 1;
        }
    }
    start..text.len()
}

/// The checksum of an archive hides most changes from the reader of JSON. Here the archive is written again, with the right checksum.
#[test]
fn mutated_graphs_are_refused_or_read() {
    let _one = ONE.lock().unwrap();
    let (mutations, seed) = settings();
    let mut totals = Totals::default();
    for path in corpus().into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "pt2")) {
        let whole = std::fs::read(&path).unwrap();
        let entries: Vec<_> =
            zip::read(&whole).unwrap().into_iter().map(|entry| (entry.bytes(&whole, 1 << 20).unwrap(), entry.name)).collect();
        // The graph is by far the largest text, and is changed more often than the tables of weights.
        let texts: Vec<usize> = (0..entries.len()).filter(|&index| entries[index].1.ends_with(".json")).collect();
        let graph = *texts.iter().max_by_key(|&&index| entries[index].0.len()).unwrap();
        for k in 0..mutations {
            let mut random = random(seed, k);
            let changed = if random.below(4) == 0 { texts[random.below(texts.len())] } else { graph };
            let mut file = std::io::Cursor::new(Vec::new());
            let mut writer = Writer::new(&mut file);
            for (index, (bytes, name)) in entries.iter().enumerate() {
                let mut bytes = bytes.clone();
                match random.below(3) {
                    0 if index == changed => mutate(&mut bytes, &mut random),
                    _ if index == changed => mutate_json(&mut bytes, &mut random),
                    _ => {}
                }
                writer.store(name, &[&bytes], 64).unwrap();
            }
            writer.finish().unwrap();
            totals.read(&path, &file.into_inner(), k, seed);
        }
    }
    totals.print("mutated graphs");
    assert!(mutations < 2000 || totals.opened > totals.inputs / 100);
}
