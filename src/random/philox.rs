//! Philox4x32-10: random numbers as a pure function of a seed and a counter, and the stream that reserves counters.
//!
//! Block number `b` of seed `s` is Philox with the key (low half of s, high half of s) and the counter (low half of b, high half of b, 0,
//! 0). A fill reserves a range of blocks once and may then compute them in any order, on any number of threads, or on a GPU. A distribution
//! that needs an unknown number of words for an element reserves one block for the element and numbers further blocks in the third word of
//! the counter.

use crate::error::{Result, bail};

/// A position in the stream of 128-bit blocks that belongs to a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Philox {
    /// The seed of the stream.
    pub seed: u64,
    /// The number of blocks that have been reserved.
    pub offset: u64,
}

/// The first bytes of a saved state: the name, and the version of the format.
const TAG: [u8; 8] = *b"Philox\0\x01";

impl Philox {
    /// The size of a saved state in bytes.
    pub(crate) const BYTES: usize = 24;

    /// The start of the stream of `seed`.
    pub const fn new(seed: u64) -> Philox {
        Philox { seed, offset: 0 }
    }

    /// Reserves `blocks` blocks and returns the number of the first one. After 2^64 blocks the stream repeats.
    pub fn reserve(&mut self, blocks: u64) -> u64 {
        let first = self.offset;
        self.offset = first.wrapping_add(blocks);
        first
    }

    /// The saved state: the tag, then seed and offset in little-endian order.
    pub fn save(&self) -> [u8; Philox::BYTES] {
        let mut bytes = [0; Philox::BYTES];
        bytes[..8].copy_from_slice(&TAG);
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..].copy_from_slice(&self.offset.to_le_bytes());
        bytes
    }

    /// The stream of a saved state.
    pub fn restore(bytes: &[u8; Philox::BYTES]) -> Result<Philox> {
        let [tag, seed, offset] = std::array::from_fn(|k| std::array::from_fn(|i| bytes[8 * k + i]));
        if tag != TAG {
            bail!(Argument, "the state is not of a Philox generator, or of another version")
        }
        Ok(Philox { seed: u64::from_le_bytes(seed), offset: u64::from_le_bytes(offset) })
    }
}

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// One Philox4x32-10 block. Each word is the low half of a u64; the high halves are ignored in `counter` and arbitrary in the result. In
/// this form vector code needs one 32 x 32 -> 64 bit multiplication for each word of a round, and no shuffles.
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

/// Further block number `part` for an element that has reserved block number `block`.
#[inline(always)]
pub fn block_part(seed: u64, block: u64, part: u64) -> [u64; 4] {
    philox(seed, [block, block >> 32, part, 1])
}

/// Block number `block` of the stream of `seed`. The high half of each word is arbitrary, as in [`philox`].
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
        let mut stream = Philox::new(5);
        assert_eq!((stream.reserve(3), stream.reserve(0), stream.reserve(2)), (0, 3, 3));
        assert_eq!(stream, Philox { seed: 5, offset: 5 });
        stream.offset = u64::MAX;
        assert_eq!((stream.reserve(2), stream.offset), (u64::MAX, 1));
    }

    #[test]
    fn what_is_saved_comes_back() {
        let stream = Philox { seed: 0x0102_0304_0506_0708, offset: 0x1112_1314_1516_1718 };
        let mut bytes = stream.save();
        assert_eq!(bytes[..10], *b"Philox\0\x01\x08\x07");
        assert_eq!(Philox::restore(&bytes).unwrap(), stream);
        bytes[7] = 2;
        assert!(Philox::restore(&bytes).unwrap_err().message().contains("version"));
    }
}
