//! `THArchive`, the handle of an archive.

use super::{Reading, THFileFormat, Writing};
use crate::alloc::{
    self,
    fork::{LongGuard, LongMutex},
};
use crate::error::{Error, Kind, Result, bail};

/// A collection of named tensors with metadata in one file, opened for reading or created for writing.
pub struct THArchive(State);

enum State {
    Reading(Reading),
    Writing(LongMutex<Writing>),
}

impl THArchive {
    /// Returns a handle of an archive to be read.
    pub fn of_reading(reading: Reading) -> Result<Box<THArchive>> {
        boxed(State::Reading(reading))
    }

    /// Returns a handle of an archive to be written.
    pub fn of_writing(writing: Writing) -> Result<Box<THArchive>> {
        boxed(State::Writing(LongMutex::new(writing)))
    }

    /// Returns the archive if it was opened for reading.
    pub fn reading(&self) -> Result<&Reading> {
        match &self.0 {
            State::Reading(reading) => Ok(reading),
            State::Writing(_) => bail!(Argument, "the archive was created for writing"),
        }
    }

    /// Returns the archive if it was created for writing.
    pub fn writing(&self) -> Result<LongGuard<'_, Writing>> {
        match &self.0 {
            State::Writing(writing) => writing.lock(),
            State::Reading(_) => bail!(Argument, "the archive was opened for reading"),
        }
    }

    /// Returns the format of the file. The file may not exist yet.
    pub fn format(&self) -> Result<THFileFormat> {
        match &self.0 {
            State::Reading(reading) => Ok(reading.format()),
            State::Writing(_) => self.writing().map(|writing| writing.format()),
        }
    }
}

fn boxed(state: State) -> Result<Box<THArchive>> {
    alloc::boxed(THArchive(state)).ok_or_else(|| Error::new(Kind::NoMem, format_args!("out of memory for an archive")))
}
