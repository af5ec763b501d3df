//! Broken and hostile files: the files of `corpus/`, which real programs wrote, with bytes changed, removed, duplicated or cut off.
//!
//! Each file is opened and all tensors are read. No file may cause a panic or take more than a second. The memory limit is four times the
//! size of the file plus 64 MB plus the requested tensors. `FILES_MUTATIONS` is the number of mutations of each file of the corpus. The
//! default of 2000 makes 292 000 inputs. `FILES_SEED` selects another sequence of mutations. Ten million mutations take some minutes:
//! `FILES_MUTATIONS=92000 cargo test --release -p thorn-files --test hostile -- --nocapture`.

mod clock;
mod counting;

use clock::cpu_time;
use counting::{LIVE, PEAK};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use thorn_files::{Contents, Storage};

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

/// Opens a file and reads all tensors. Returns the size of the tensors in bytes.
fn read_all(bytes: &Vec<u8>) -> Option<usize> {
    let contents: Contents = thorn_files::open(bytes).ok()?;
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

#[test]
fn mutated_files_are_refused_or_read() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (mutations, seed) = (number("FILES_MUTATIONS", 2000), number("FILES_SEED", 1));
    let (mut inputs, mut opened) = (0u64, 0u64);
    let (mut slowest, mut peak) = (Duration::ZERO, 0);
    for path in corpus() {
        let whole = std::fs::read(&path).unwrap();
        assert!(read_all(&whole).is_some(), "{}: {}", path.display(), thorn_files::open(&whole).unwrap_err());
        for k in 0..mutations {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (k + 1));
            let mut bytes = whole.clone();
            mutate(&mut bytes, &mut random);
            let at = || format!("{}, mutation {k} of seed {seed}", path.display());
            let (start, before) = (cpu_time(), LIVE.load(Relaxed));
            PEAK.store(before, Relaxed);
            let result = std::panic::catch_unwind(|| read_all(&bytes)).unwrap_or_else(|_| panic!("{}: a panic", at()));
            let (time, memory) = (cpu_time() - start, PEAK.load(Relaxed) - before);
            assert!(time.as_millis() < 1000, "{}: {time:?}", at());
            let most = 4 * bytes.len() + (64 << 20) + result.unwrap_or(0);
            assert!(memory <= most, "{}: {memory} bytes in use, {most} are allowed", at());
            assert!(LIVE.load(Relaxed) <= before + (1 << 20), "{}: {} bytes were left", at(), LIVE.load(Relaxed) - before);
            (inputs, opened) = (inputs + 1, opened + u64::from(result.is_some()));
            (slowest, peak) = (slowest.max(time), peak.max(memory));
        }
    }
    println!("{inputs} mutated files, of which {opened} were opened; the slowest took {slowest:?}, and the largest {peak} bytes");
    assert!(opened > 0 && (mutations < 2000 || inputs >= 200_000));
}
