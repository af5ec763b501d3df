//! `thorn`: files of tensors shown, converted, compared and viewed.
//!
//! Exit codes: 0, done (and for `diff`: the files are equal); 1, the files differ; 2, something went wrong.

mod convert;
mod diff;
mod scan;
mod show;
mod source;
mod view;

use clap::{CommandFactory, Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;

/// Shows, converts, compares and views files of tensors: PyTorch, Torch7, NumPy, safetensors, GGUF, CSV, PNM and PNG.
#[derive(Parser)]
#[command(
    name = "thorn",
    version,
    after_help = "A FILE of - is the standard input. Exit codes: 0 done, 1 the files differ, 2 something went wrong."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Show(show::Show),
    Convert(convert::Convert),
    Diff(diff::Diff),
    View(view::View),
    /// Writes the completions of a shell to the standard output.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Writes the manual page to the standard output.
    Man,
}

/// Why the command stops.
pub enum Stop {
    /// A sentence for people.
    Failed(String),
    /// Nobody reads what is written any more.
    Unread,
}

/// A result with [`Stop`].
pub type Result<T> = std::result::Result<T, Stop>;

impl From<thorn::error::Error> for Stop {
    fn from(error: thorn::error::Error) -> Stop {
        Stop::Failed(error.message().to_owned())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        if error.kind() == io::ErrorKind::BrokenPipe { Stop::Unread } else { Stop::Failed(error.to_string()) }
    }
}

/// True where what was compared is equal, or there was nothing to compare.
fn run(command: Command, out: &mut dyn Write) -> Result<bool> {
    match command {
        Command::Show(show) => show.run(out).map(|()| true),
        Command::Convert(convert) => convert.run().map(|()| true),
        Command::Diff(diff) => diff.run(out),
        Command::View(view) => view.run().map(|()| true),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "thorn", &mut text);
            Ok(out.write_all(&text).map(|()| true)?)
        }
        Command::Man => Ok(clap_mangen::Man::new(Arguments::command()).render(out).map(|()| true)?),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = run(arguments.command, &mut out).and_then(|equal| Ok(out.flush().map(|()| equal)?));
    match result {
        Ok(true) | Err(Stop::Unread) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(Stop::Failed(message)) => {
            eprintln!("thorn: {message}");
            ExitCode::from(2)
        }
    }
}
