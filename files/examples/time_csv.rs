//! `time_csv IN [OUT]` prints how long it takes to read a table of numbers, and to write it; the best of five times each.

use std::time::Instant;
use thorn_files::input::FileInput;
use thorn_files::{Format, Result, Save, Tensor};

fn best(what: &str, bytes: u64, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {:.0} ms, {:.0} MB/s", best * 1e3, bytes as f64 / best / 1e6);
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default();
    let input = FileInput::new(std::fs::File::open(&path)?)?;
    let size = std::fs::metadata(&path)?.len();
    let (mut elements, mut sizes) = (Vec::new(), Vec::new());
    best("open", size, || thorn_files::open(&input).map(drop))?;
    best("open and read", size, || {
        let contents = thorn_files::open(&input)?;
        elements = vec![0; contents.storages[0].bytes()?];
        sizes.clone_from(&contents.tensors[0].sizes);
        contents.read(&input, 0, &mut elements)
    })?;
    let Some(path) = arguments.next() else { return Ok(()) };
    let tensors = [Tensor::row_major(String::new(), sizes, 0)?];
    let storages = [(thorn_files::Element::F64, &elements[..])];
    for precision in [None, Some(6)] {
        let what = Save { tensors: &tensors, storages: &storages, metadata: &[], precision };
        let digits = precision.map_or("all digits".to_owned(), |digits| format!("{digits} digits"));
        best(&format!("write, {digits}"), size, || thorn_files::save(Format::Csv, &what, &mut std::fs::File::create(&path)?))?;
    }
    Ok(())
}
