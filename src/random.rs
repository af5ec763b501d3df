//! Generators of random numbers: Philox, whose results do not depend on the number of threads, and MT19937 with the results of Torch's TH.

#![forbid(unsafe_code)]

mod alias;
mod mt19937;
mod philox;

pub use alias::Alias;
pub use mt19937::Mt19937;
pub use philox::{Philox, block, block_part, philox};

use crate::error::{Result, bail};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::time::SystemTime;

/// A kind of generator.
pub type THGeneratorKind = i32;

/// Philox4x32-10, a function of a seed and a counter: the same numbers on every machine and with any number of threads.
pub const TH_PHILOX: THGeneratorKind = 1;
/// The Mersenne Twister with the states and number sequences of Torch's TH. It runs on one thread, because each number depends on the one
/// before.
pub const TH_MT19937: THGeneratorKind = 2;

/// A source of random numbers.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "generators are few, and a box would need memory that may not be there")]
pub enum Generator {
    /// `TH_PHILOX`
    Philox(Philox),
    /// `TH_MT19937`
    Mt19937(Mt19937),
}

impl Generator {
    /// A generator at the start of the stream of `seed`.
    pub fn new(kind: THGeneratorKind, seed: u64) -> Result<Generator> {
        match kind {
            TH_PHILOX => Ok(Generator::Philox(Philox::new(seed))),
            TH_MT19937 => Ok(Generator::Mt19937(Mt19937::new(seed))),
            _ => bail!(Argument, "{kind} is no kind of generator"),
        }
    }

    /// `TH_PHILOX` or `TH_MT19937`.
    pub fn kind(&self) -> THGeneratorKind {
        match self {
            Generator::Philox(_) => TH_PHILOX,
            Generator::Mt19937(_) => TH_MT19937,
        }
    }

    /// Goes to the start of the stream of `seed`.
    pub fn manual_seed(&mut self, seed: u64) {
        match self {
            Generator::Philox(stream) => *stream = Philox::new(seed),
            Generator::Mt19937(stream) => *stream = Mt19937::new(seed),
        }
    }

    /// The seed of the stream.
    pub fn initial_seed(&self) -> u64 {
        match self {
            Generator::Philox(stream) => stream.seed,
            Generator::Mt19937(stream) => stream.initial_seed(),
        }
    }

    /// The size of the saved state in bytes.
    pub fn state_bytes(&self) -> usize {
        match self {
            Generator::Philox(_) => Philox::BYTES,
            Generator::Mt19937(_) => Mt19937::BYTES,
        }
    }

    /// Calls `f` with the saved state.
    pub fn save<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Generator::Philox(stream) => f(&stream.save()),
            Generator::Mt19937(stream) => f(&stream.save()),
        }
    }

    /// Restores a saved state, which must be of a generator of the same kind.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Generator::Philox(stream) => *stream = Philox::restore(exactly(bytes, "Philox")?)?,
            Generator::Mt19937(stream) => *stream = Mt19937::restore(exactly(bytes, "MT19937")?)?,
        }
        Ok(())
    }
}

/// `bytes` as an array of N bytes; an error if the state of a generator of this kind has another length.
fn exactly<'a, const N: usize>(bytes: &'a [u8], kind: &str) -> Result<&'a [u8; N]> {
    match bytes.try_into() {
        Ok(bytes) => Ok(bytes),
        Err(_) => bail!(Argument, "the state of a generator of kind {kind} has {N} bytes, got {}", bytes.len()),
    }
}

/// A seed that differs from run to run. It is read from `/dev/urandom`, or computed from the clock, the process ID and an address if that
/// fails.
pub fn seed_from_os() -> u64 {
    let mut bytes = [0; 8];
    match std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(_) => seed_from_clock(),
    }
}

#[cold]
fn seed_from_clock() -> u64 {
    let mut hash = DefaultHasher::new();
    SystemTime::now().hash(&mut hash);
    std::process::id().hash(&mut hash);
    std::ptr::from_ref(&hash).addr().hash(&mut hash);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_goes_back_into_its_own_kind_only() {
        for (kind, other) in [(TH_PHILOX, TH_MT19937), (TH_MT19937, TH_PHILOX)] {
            let (saved, mut same) = (Generator::new(kind, 3).unwrap(), Generator::new(kind, 4).unwrap());
            assert!(saved != same && saved.save(<[u8]>::len) == saved.state_bytes());
            saved.save(|bytes| same.restore(bytes)).unwrap();
            assert_eq!((&same, same.initial_seed(), same.kind()), (&saved, 3, kind));
            let mut different = Generator::new(other, 5).unwrap();
            let before = different.clone();
            assert!(saved.save(|bytes| different.restore(bytes)).unwrap_err().message().contains("bytes, got"));
            assert_eq!(different, before);
        }
        assert!(Generator::new(0, 1).unwrap_err().message().contains("0 is no kind"));
    }

    #[test]
    fn seeds_of_the_system_differ() {
        assert_ne!(seed_from_os(), seed_from_os());
    }

    #[test]
    fn the_clock_gives_seeds_too() {
        let first = seed_from_clock();
        assert!((0..100).any(|_| seed_from_clock() != first));
    }
}
