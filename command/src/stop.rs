//! The end of a command: exit codes and messages.

use std::fmt::Display;
use std::io;

/// The outcome of a command. Its value is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Outcome {
    /// Success.
    Done = 0,
    /// The files differ.
    Different = 1,
    /// A part failed, and the failure was reported.
    Failed = 2,
}

/// The reason why the command stops.
#[derive(Debug)]
pub enum Stop {
    /// A message.
    Failed(String),
    /// The reader of the output has gone.
    Unread,
}

/// A result with [`Stop`].
pub type Result<T> = std::result::Result<T, Stop>;

impl Stop {
    /// Returns an error about a file, which the message names.
    pub fn file(name: &str, what: impl Display) -> Stop {
        Stop::Failed(format!("\"{name}\": {what}"))
    }

    /// Returns the operating system's error about a file.
    pub fn io(name: &str, error: &io::Error) -> Stop {
        Stop::file(name, thorn::error::reason(error))
    }
}

impl From<thorn::error::Error> for Stop {
    fn from(error: thorn::error::Error) -> Stop {
        Stop::Failed(error.to_string())
    }
}

/// An error of writing to the standard output.
impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Stop::Unread,
            _ => Stop::Failed(format!("the standard output: {}", thorn::error::reason(&error))),
        }
    }
}

/// Prints a warning to the standard error.
pub fn warn(message: impl Display) {
    eprintln!("thorn: {message}");
}
