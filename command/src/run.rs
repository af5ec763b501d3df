//! `thorn run`.

use crate::number;
use crate::output::{self, Format, Output};
use crate::progress::Progress;
use crate::source::Source;
use crate::stop::{Outcome, Result, Stop};
use crate::table::plain;
use std::ffi::{CStr, OsString};
use std::io::Write;
use std::time::{Duration, Instant};
use thorn::alloc;
use thorn::cpu::pool;
use thorn::device::{Device, TH_CPU, TH_CUDA};
use thorn::files::Writing;
use thorn::ops::device::to_device;
use thorn::ops::print;
use thorn::print::default_options;
use thorn::program::Program;
use thorn::tensor::Tensor;

/// Run a program that PyTorch exported (.pt2)
///
/// The inputs are read from files, in the order of the inputs that thorn show lists: a file with one
/// tensor for each, or a single file that has the tensors under the names of the inputs. Without an
/// output file, the outputs are printed.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Run {
    /// The program; - is the standard input.
    file: OsString,
    /// A file with an input, in any format that thorn reads; once for each input.
    #[arg(short, long, value_name = "FILE")]
    input: Vec<OsString>,
    /// The file to write: once for all outputs by their names, or once for each output.
    #[arg(short, long, value_name = "FILE")]
    output: Vec<OsString>,
    /// The format of the files to write; by default, it follows from the suffix of the name.
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// Run the program this many times more, and print the times and the peak of memory.
    #[arg(short, long, value_name = "RUNS", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    time: Option<u64>,
    /// The number of threads; by default, one for each core.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// The device: cpu, cuda or cuda:1.
    #[arg(short, long, default_value = "cpu", value_parser = device)]
    device: Device,
}

/// Parses the name of a device.
fn device(name: &str) -> std::result::Result<Device, String> {
    let index = match name.split_once(':') {
        None if name == "cpu" => return Ok(Device::Cpu),
        None if name == "cuda" => Some(0),
        Some(("cuda", index)) => index.parse().ok().filter(|index| (0..64).contains(index)),
        _ => None,
    };
    index.map(Device::Cuda).ok_or_else(|| "the devices are cpu, cuda, cuda:0, cuda:1, ...".to_owned())
}

/// An output: its name, and its tensor. A handle without a dtype is an output that is `None`.
type Named<'a> = (&'a CStr, Tensor);

impl Run {
    /// Runs the command.
    pub fn run(&self, out: &mut dyn Write) -> Result<Outcome> {
        let outputs = self.output.iter().map(|path| Output::new(path, self.format)).collect::<Result<Vec<_>>>()?;
        if let Some(threads) = self.threads {
            pool::set_num_threads(threads.into());
        }
        let source = Source::open(&self.file)?;
        let program = source.program()?;
        let names: Vec<&CStr> = program.output_names().collect();
        if outputs.len() > 1 && outputs.len() != names.len() {
            let (given, has) = (number::counted(outputs.len(), "output file"), number::counted(names.len(), "output"));
            return Err(Stop::file(source.name(), format_args!("{given}, and the program has {has}: expected one file, or one for each")));
        }
        let mut inputs = self.inputs(&source, &program)?;
        if self.device != Device::Cpu {
            let (kind, index) = match self.device {
                Device::Cuda(index) => (TH_CUDA, index.into()),
                _ => (TH_CPU, 0),
            };
            program.convert(kind, index, None)?;
            inputs = inputs.iter().map(|t| to_device(t, self.device)).collect::<thorn::error::Result<_>>()?;
        }
        let begin = Instant::now();
        let made = once(&program, &inputs, names.len()).map_err(|error| Stop::file(source.name(), error))?;
        let first = begin.elapsed();
        let made: Vec<Named<'_>> = names.iter().copied().zip(made).collect();
        match outputs.as_slice() {
            [] if self.time.is_none() => print_all(&made, out)?,
            [] => {}
            [all] if made.len() != 1 => write_all(all, &made, out)?,
            each => each.iter().zip(&made).try_for_each(|(output, named)| write_one(output, named, out))?,
        }
        if let Some(runs) = self.time {
            self.measure(&program, &inputs, names.len(), first, runs, out)?;
        }
        Ok(Outcome::Done)
    }

    /// Reads the inputs.
    fn inputs(&self, source: &Source, program: &Program) -> Result<Vec<Tensor>> {
        let names: Vec<String> = program.input_names().map(|name| name.to_string_lossy().into_owned()).collect();
        let files = self.input.iter().map(|path| Source::open(path)).collect::<Result<Vec<_>>>()?;
        if let ([file], true) = (files.as_slice(), names.len() > 1) {
            return names.iter().map(|name| file.find(Some(name)).and_then(|entry| file.tensor(&entry))).collect();
        }
        if files.len() != names.len() {
            let (given, has) = (number::counted(files.len(), "input file"), number::counted(names.len(), "input"));
            return Err(Stop::file(source.name(), format_args!("{given}, and the program has {has}: {}", plain(&names.join(", ")))));
        }
        let read = |(file, name): (&Source, &String)| {
            let name = Some(name.as_str()).filter(|_| file.archive().count() > 1);
            file.find(name).and_then(|entry| file.tensor(&entry))
        };
        files.iter().zip(&names).map(read).collect()
    }

    /// Runs the program several times, and prints the times.
    fn measure(&self, program: &Program, inputs: &[Tensor], outputs: usize, first: Duration, runs: u64, out: &mut dyn Write) -> Result<()> {
        let progress = Progress::of_runs(runs);
        let mut times = Vec::new();
        for _ in 0..runs {
            let begin = Instant::now();
            once(program, inputs, outputs)?;
            times.push(begin.elapsed());
            progress.add(1);
        }
        progress.clear();
        times.sort_unstable();
        let (least, median) = (times[0], times[times.len() / 2]);
        writeln!(out, "first run {}", milliseconds(first))?;
        writeln!(out, "{}: minimum {}, median {}", runs_text(runs), milliseconds(least), milliseconds(median))?;
        writeln!(out, "memory: at most {}", number::bytes(alloc::stats().peak_bytes.max(0) as u64))?;
        Ok(())
    }
}

fn runs_text(runs: u64) -> String {
    if runs == 1 { "1 more run".to_owned() } else { format!("{runs} more runs") }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", 1e3 * time.as_secs_f64())
}

/// Runs the program once. The outputs are in memory of the host, for which the call waits.
fn once(program: &Program, inputs: &[Tensor], outputs: usize) -> thorn::error::Result<Vec<Tensor>> {
    let made = (0..outputs).map(|_| Tensor::fresh()).collect::<thorn::error::Result<Vec<_>>>()?;
    program.run(&made.iter().collect::<Vec<_>>(), &inputs.iter().collect::<Vec<_>>())?;
    made.into_iter().map(|t| if t.dtype().is_some() { to_device(&t, Device::Cpu) } else { Ok(t) }).collect()
}

/// Prints each output under its name.
fn print_all(made: &[Named<'_>], out: &mut dyn Write) -> Result<()> {
    for (name, t) in made {
        writeln!(out, "{}:", plain(&name.to_string_lossy()))?;
        match t.dtype() {
            Some(_) => out.write_all(print::tensor(t, Some(&default_options()))?.as_bytes())?,
            None => write!(out, "None")?,
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes all outputs to an archive. An output that is `None` is left out.
fn write_all(output: &Output, made: &[Named<'_>], out: &mut dyn Write) -> Result<()> {
    let name = output.name();
    output.written(out, |path, format| {
        let mut file = Writing::create(path, format).map_err(|error| output::about(path, &name, &error))?;
        if file.has_one_tensor() {
            let found = number::counted(made.len(), "output");
            return Err(Stop::file(&name, format_args!("its format has one tensor, and the program has {found}: name a file for each")));
        }
        let mut write = || {
            made.iter().filter(|(_, t)| t.dtype().is_some()).try_for_each(|(name, t)| file.add(name, t))?;
            file.close()
        };
        write().map_err(|error| output::about(path, &name, &error))
    })
}

/// Writes an output to a file.
fn write_one(output: &Output, (tensor, t): &Named<'_>, out: &mut dyn Write) -> Result<()> {
    let name = output.name();
    if t.dtype().is_none() {
        return Err(Stop::file(&name, format_args!("the output '{}' is None", tensor.to_string_lossy())));
    }
    output.written(out, |path, format| {
        let write = || {
            let mut file = Writing::create(path, format)?;
            file.add(if file.has_one_tensor() { c"" } else { tensor }, t)?;
            file.close()
        };
        write().map_err(|error| output::about(path, &name, &error))
    })
}
