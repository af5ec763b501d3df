//! `thorn`: shows, converts, compares and views files of tensors, and runs exported programs.

mod convert;
mod diff;
mod elements;
mod number;
mod output;
mod program;
mod progress;
mod run;
mod show;
mod source;
mod stop;
mod summary;
mod table;
mod view;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use stop::{Outcome, Result, Stop};

/// Show, convert, compare and view files of tensors, and run programs that PyTorch exported
///
/// It reads and writes files of PyTorch (.pt, .pth), Torch7 (.t7), NumPy and SciPy (.npy, .npz),
/// safetensors, Matrix Market (.mtx), svmlight (.svm, .libsvm), tables (.csv, .tsv) and images
/// (.png, .pgm, .ppm), and reads GGUF and exported programs (.pt2). The format of an input file
/// follows from its content, the format of an output file from the suffix of its name. A file - is
/// the standard input or output.
#[derive(Parser)]
#[command(name = "thorn", version, verbatim_doc_comment, after_help = AFTER)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER: &str = "Examples:
  thorn show model.pt
  thorn show --json model.pt | jq '.tensors[] | select(.nans > 0) | .name'
  thorn convert model.pt model.safetensors --dtype float16
  thorn convert model.pt weight.npy --tensor layer.weight
  thorn diff old.pt new.safetensors --rtol 1e-5
  thorn view model.pt layer.weight -o weight.png
  thorn run model.pt2 --input image.npy --output scores.npy

Exit codes: 0 done, 1 the files differ, 2 something went wrong.";

#[derive(Subcommand)]
enum Command {
    Show(show::Show),
    Convert(convert::Convert),
    Diff(diff::Diff),
    View(view::View),
    Run(run::Run),
    /// Write the completions for a shell to the standard output.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual page to the standard output, or all pages to a folder.
    Man {
        /// The folder for the pages of thorn and of its commands.
        #[arg(short, long, value_name = "FOLDER")]
        output: Option<PathBuf>,
    },
}

/// Returns the command as manual pages show it, without `help`.
fn paged() -> clap::Command {
    Arguments::command().disable_help_subcommand(true)
}

fn run(command: Command, out: &mut dyn Write) -> Result<Outcome> {
    match command {
        Command::Show(show) => show.run(out),
        Command::Convert(convert) => convert.run(out),
        Command::Diff(diff) => diff.run(out),
        Command::View(view) => view.run(out),
        Command::Run(run) => run.run(out),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "thorn", &mut text);
            out.write_all(&text)?;
            Ok(Outcome::Done)
        }
        Command::Man { output: Some(folder) } => {
            clap_mangen::generate_to(paged(), &folder).map_err(|error| Stop::io(&folder.to_string_lossy(), &error))?;
            Ok(Outcome::Done)
        }
        Command::Man { output: None } => {
            clap_mangen::Man::new(paged()).render(out)?;
            Ok(Outcome::Done)
        }
    }
}

/// Prints clap's message about the arguments: help, or an error.
fn refuse(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // A failure to print the help cannot be reported.
        _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    eprint!("thorn: {}", text.strip_prefix("error: ").unwrap_or(&text));
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return refuse(&error),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = run(arguments.command, &mut out).and_then(|outcome| Ok(out.flush().map(|()| outcome)?));
    match result {
        Ok(outcome) => ExitCode::from(outcome as u8),
        Err(Stop::Unread) => ExitCode::SUCCESS,
        Err(Stop::Failed(message)) => {
            stop::warn(&message);
            ExitCode::from(Outcome::Failed as u8)
        }
    }
}
