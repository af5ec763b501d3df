//! `time_files IN [OUT [FORMAT [DIGITS]]]` prints the times for opening a file of row-major tensors, for reading all tensors, and for
//! writing them. The format is determined by the ending of OUT, or by the number FORMAT. Each time is the best of five.

use std::time::Instant;
use thorn_files::input::FileInput;
use thorn_files::{Format, Result, Save};

fn best(what: &str, bytes: u64, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {:.0} ms, {:.0} MB/s of {:.0} MB", best * 1e3, bytes as f64 / best / 1e6, bytes as f64 / 1e6);
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().map_or("", String::as_str);
    let input = FileInput::new(std::fs::File::open(path)?)?;
    let size = std::fs::metadata(path)?.len();
    best("open", size, || thorn_files::open(&input).map(drop))?;
    let mut storages = Vec::new();
    best("open and read", size, || {
        storages.clear();
        let contents = thorn_files::open(&input)?;
        for (index, storage) in contents.storages.iter().enumerate() {
            let mut elements = vec![0; storage.bytes()?];
            contents.read(&input, index, &mut elements)?;
            storages.push((storage.element, elements));
        }
        Ok(())
    })?;
    let Some(path) = arguments.get(1) else { return Ok(()) };
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<i32>().ok());
    let format = number(2).and_then(Format::from_code).or(Format::of_path(path.as_bytes())).unwrap_or(Format::Npz);
    let contents = thorn_files::open(&input)?;
    let storages: Vec<_> = storages.iter().map(|(element, elements)| (*element, &elements[..])).collect();
    let precision = number(3).map(|digits| digits as usize);
    let what = Save { tensors: &contents.tensors, sparse: &contents.sparse, storages: &storages, metadata: &contents.metadata, precision };
    let bytes = storages.iter().map(|(_, elements)| elements.len() as u64).sum();
    best("write the elements", bytes, || thorn_files::save(format, &what, &mut std::fs::File::create(path)?))
}
