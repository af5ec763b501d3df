//! The table of the blocks of memory of a GPU.

use crate::error::{Result, bail};
use cudarc::driver::sys::CUdeviceptr;
use std::collections::HashMap;

/// Blocks of less are small.
pub(super) const SMALL: usize = 1 << 20;

/// The blocks of a GPU. A block that is free serves the stream again that it was used in last, without waiting: work in a stream is done
/// in order.
pub struct Blocks {
    /// Bytes and stream of each block in use.
    pub used: HashMap<CUdeviceptr, (usize, usize)>,
    /// Stream, bytes and address of each free block, in this order. There is room for all blocks, since giving one back may not fail.
    pub free: Vec<(usize, usize, CUdeviceptr)>,
    /// Bytes in use, those in free blocks, and the most that ever were in use.
    pub bytes: [usize; 3],
}

impl Blocks {
    pub fn new() -> Blocks {
        Blocks { used: HashMap::new(), free: Vec::new(), bytes: [0; 3] }
    }

    /// The smallest free block that is large enough, and not much larger.
    pub fn take(&mut self, bytes: usize, stream: usize) -> Option<CUdeviceptr> {
        let most = if bytes < SMALL { bytes.saturating_mul(2) } else { bytes.saturating_add(bytes / 4) };
        let k = self.free.partition_point(|block| *block < (stream, bytes, 0));
        let (_, bytes, at) = *self.free.get(k).filter(|block| **block <= (stream, most, CUdeviceptr::MAX))?;
        self.free.remove(k);
        self.bytes[1] -= bytes;
        self.give(at, bytes, stream);
        Some(at)
    }

    /// Room for one block more.
    pub fn reserve(&mut self) -> Result<()> {
        let all = self.used.len() + self.free.len();
        let reserved = self.used.try_reserve(1).is_ok() && self.free.try_reserve(all + 1 - self.free.len()).is_ok();
        if reserved { Ok(()) } else { bail!(NoMem, "out of memory: the table of blocks could not grow") }
    }

    pub fn give(&mut self, at: CUdeviceptr, bytes: usize, stream: usize) {
        self.used.insert(at, (bytes, stream));
        self.bytes[0] += bytes;
        self.bytes[2] = self.bytes[2].max(self.bytes[0]);
    }

    pub fn release(&mut self, at: CUdeviceptr) {
        if let Some((bytes, stream)) = self.used.remove(&at) {
            let block = (stream, bytes, at);
            self.free.insert(self.free.partition_point(|other| *other < block), block);
            self.bytes[0] -= bytes;
            self.bytes[1] += bytes;
        }
    }
}
