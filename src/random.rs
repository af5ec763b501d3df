//! Random numbers as a pure function of a seed and a counter: Philox4x32-10, and the generator that hands out counters.
//!
//! Block number `b` of seed `s` is Philox under the key (low half of s, high half of s) on the counter (low half of b, high half of b, 0, 0).
//! A fill takes a range of blocks once and may then compute them in any order, on any number of threads, or on a GPU.

#![forbid(unsafe_code)]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::time::SystemTime;

/// A position in the stream of 128-bit blocks that belongs to a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generator {
    seed: u64,
    offset: u64,
}

impl Generator {
    /// The start of the stream of `seed`.
    pub const fn new(seed: u64) -> Generator {
        Generator { seed, offset: 0 }
    }

    /// The start of the stream whose seed these bytes are.
    pub const fn from_entropy(bytes: [u8; 8]) -> Generator {
        Generator::new(u64::from_le_bytes(bytes))
    }

    /// Goes to the start of the stream of `seed`.
    pub fn manual_seed(&mut self, seed: u64) {
        *self = Generator::new(seed);
    }

    /// The seed of the stream.
    pub fn initial_seed(&self) -> u64 {
        self.seed
    }

    /// How many blocks have been handed out.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Goes to block `offset` of the same stream.
    pub fn set_offset(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// Hands out `blocks` blocks: returns the number of the first one. After 2^64 blocks the stream starts again.
    pub fn reserve(&mut self, blocks: u64) -> u64 {
        let first = self.offset;
        self.offset = first.wrapping_add(blocks);
        first
    }
}

/// A seed that no other run has: from the operating system, or from the clock and an address where it has none to give.
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

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// One Philox4x32-10 block. Each word is the low half of a u64; the high halves are ignored in `counter` and arbitrary in the result:
/// in this form a round is one 32 x 32 -> 64 bit multiplication a word in vector code, with no shuffles.
#[inline(always)]
pub fn philox(seed: u64, counter: [u64; 4]) -> [u64; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    let (mut k0, mut k1) = (seed as u32, (seed >> 32) as u32);
    for _ in 0..10 {
        let x = (a & 0xffff_ffff).wrapping_mul(MULTIPLIERS[0]);
        let y = (c & 0xffff_ffff).wrapping_mul(MULTIPLIERS[1]);
        (a, b, c, d) = ((y >> 32) ^ b ^ u64::from(k0), y, (x >> 32) ^ d ^ u64::from(k1), x);
        k0 = k0.wrapping_add(KEY_STEPS[0]);
        k1 = k1.wrapping_add(KEY_STEPS[1]);
    }
    [a, b, c, d]
}

/// Block number `block` of the stream of `seed`, its words as [`philox`] gives them.
#[inline(always)]
pub fn block(seed: u64, block: u64) -> [u64; 4] {
    philox(seed, [block, block >> 32, 0, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(key: [u32; 2], counter: [u32; 4]) -> [u32; 4] {
        philox(u64::from(key[0]) | u64::from(key[1]) << 32, counter.map(u64::from)).map(|word| word as u32)
    }

    #[test]
    fn philox_gives_the_published_vectors() {
        assert_eq!(words([0; 2], [0; 4]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(words([!0; 2], [!0; 4]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            words([0xa409_3822, 0x299f_31d0], [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn high_halves_of_counters_do_not_matter() {
        let dirty = philox(7, [1 | 9 << 32, 2 | 8 << 40, 3 | 7 << 50, 4 | 6 << 60]);
        assert_eq!(dirty.map(|word| word as u32), philox(7, [1, 2, 3, 4]).map(|word| word as u32));
    }

    #[test]
    fn both_halves_of_seed_and_block_matter() {
        let streams = [block(0, 0), block(1, 0), block(1 << 32, 0), block(0, 1), block(0, 1 << 32)];
        let first: std::collections::HashSet<u32> = streams.iter().map(|words| words[0] as u32).collect();
        assert_eq!(first.len(), streams.len());
    }

    #[test]
    fn reserved_ranges_follow_each_other() {
        let mut generator = Generator::new(5);
        assert_eq!((generator.reserve(3), generator.reserve(0), generator.reserve(2)), (0, 3, 3));
        assert_eq!((generator.initial_seed(), generator.offset()), (5, 5));
        generator.set_offset(u64::MAX);
        assert_eq!((generator.reserve(2), generator.offset()), (u64::MAX, 1));
        generator.manual_seed(6);
        assert_eq!(generator, Generator::new(6));
    }

    #[test]
    fn seeds_of_the_system_differ() {
        assert_ne!(seed_from_os(), seed_from_os());
        assert_eq!(Generator::from_entropy([1, 0, 0, 0, 0, 0, 0, 2]).initial_seed(), 0x0200_0000_0000_0001);
    }

    #[test]
    fn the_clock_gives_seeds_too() {
        let first = seed_from_clock();
        assert!((0..100).any(|_| seed_from_clock() != first));
    }
}
