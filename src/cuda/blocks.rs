//! The table of the blocks of memory of a GPU.

use crate::error::{Result, bail};
use cudarc::driver::sys::CUdeviceptr;
use std::collections::HashMap;

/// The blocks of a GPU. A block that is free serves the stream again that it was used in last, without waiting: work in a stream is done
/// in order. Graphs have pools of their own, with odd numbers in place of a stream's address, since their work is done again and again.
pub struct Blocks {
    /// Bytes, and stream or pool, of each block in use.
    pub used: HashMap<CUdeviceptr, (usize, usize)>,
    /// Stream or pool, bytes and address of each free block, in this order. There is room for all blocks, since giving one back may not
    /// fail.
    free: Vec<(usize, usize, CUdeviceptr)>,
    /// Blocks in use that work of another stream than their own reaches, each with this stream.
    others: Vec<(CUdeviceptr, usize)>,
    /// Streams that are captured, each with the pool of its graph.
    captured: Vec<(usize, usize)>,
    /// Graphs, each with its pool.
    pub graphs: Vec<(usize, usize)>,
    /// Bytes in use, those in free blocks, and the most that ever were in use.
    pub bytes: [usize; 3],
}

fn room<T>(list: &mut Vec<T>) -> Result<()> {
    if list.try_reserve(1).is_ok() { Ok(()) } else { bail!(NoMem, "out of memory: a table of the GPU could not grow") }
}

impl Blocks {
    pub fn new() -> Blocks {
        Blocks { used: HashMap::new(), free: Vec::new(), others: Vec::new(), captured: Vec::new(), graphs: Vec::new(), bytes: [0; 3] }
    }

    /// The pool that blocks for a stream come from: the stream itself, or that of the graph that it is captured for.
    pub fn pool(&self, stream: usize) -> usize {
        self.captured.iter().find(|captured| captured.0 == stream).map_or(stream, |captured| captured.1)
    }

    /// The smallest free block of a pool that has as many bytes, and not more than `most`.
    pub fn take(&mut self, bytes: usize, most: usize, pool: usize) -> Option<CUdeviceptr> {
        let k = self.free.partition_point(|block| *block < (pool, bytes, 0));
        let (_, bytes, at) = *self.free.get(k).filter(|block| **block <= (pool, most, CUdeviceptr::MAX))?;
        self.free.remove(k);
        self.bytes[1] -= bytes;
        self.give(at, bytes, pool);
        Some(at)
    }

    /// Takes any free block out of the table that no graph needs.
    pub fn take_any(&mut self) -> Option<CUdeviceptr> {
        let k = self.free.iter().rposition(|block| block.0.is_multiple_of(2))?;
        let (_, bytes, at) = self.free.remove(k);
        self.bytes[1] -= bytes;
        Some(at)
    }

    /// Room for one block more.
    pub fn reserve(&mut self) -> Result<()> {
        let all = self.used.len() + self.free.len();
        let reserved = self.used.try_reserve(1).is_ok() && self.free.try_reserve(all + 1 - self.free.len()).is_ok();
        if reserved { Ok(()) } else { bail!(NoMem, "out of memory: the table of blocks could not grow") }
    }

    pub fn give(&mut self, at: CUdeviceptr, bytes: usize, pool: usize) {
        self.used.insert(at, (bytes, pool));
        self.bytes[0] += bytes;
        self.bytes[2] = self.bytes[2].max(self.bytes[0]);
    }

    pub fn release(&mut self, at: CUdeviceptr) {
        if let Some((bytes, pool)) = self.used.remove(&at) {
            let block = (pool, bytes, at);
            self.free.insert(self.free.partition_point(|other| *other < block), block);
            self.bytes[0] -= bytes;
            self.bytes[1] += bytes;
        }
    }

    /// A block will serve others only after the work that `stream` has when it is given back.
    pub fn used_in(&mut self, at: CUdeviceptr, stream: usize) -> Result<()> {
        if self.used.get(&at).is_some_and(|block| block.1 != stream) && !self.others.contains(&(at, stream)) {
            room(&mut self.others)?;
            self.others.push((at, stream));
        }
        Ok(())
    }

    /// Another stream whose work reaches a block that is given back, with the block's own: each once.
    pub fn take_other(&mut self, at: CUdeviceptr) -> Option<(usize, usize)> {
        let k = self.others.iter().position(|other| other.0 == at)?;
        let (_, stream) = self.others.swap_remove(k);
        Some((self.used.get(&at)?.1, stream))
    }

    /// Gives the blocks of a stream or pool that has ended, whose work has been done, to the default stream.
    pub fn hand_over(&mut self, pool: usize) {
        self.used.values_mut().filter(|block| block.1 == pool).for_each(|block| block.1 = 0);
        self.free.iter_mut().filter(|block| block.0 == pool).for_each(|block| block.0 = 0);
        self.free.sort_unstable();
        self.others.retain(|other| other.1 != pool);
    }

    /// Takes blocks for a stream from this pool from now on.
    pub fn begin_pool(&mut self, stream: usize, pool: usize) -> Result<()> {
        if self.captured.iter().any(|captured| captured.0 == stream) {
            bail!(Argument, "the stream is captured already")
        }
        room(&mut self.captured)?;
        room(&mut self.graphs)?;
        self.captured.push((stream, pool));
        Ok(())
    }

    /// Ends [`Blocks::begin_pool`]: the pool, if there was one.
    pub fn end_pool(&mut self, stream: usize) -> Option<usize> {
        let k = self.captured.iter().position(|captured| captured.0 == stream)?;
        Some(self.captured.swap_remove(k).1)
    }

    /// Gives up a graph and its pool.
    pub fn end_graph(&mut self, graph: usize) {
        if let Some(k) = self.graphs.iter().position(|other| other.0 == graph) {
            let (_, pool) = self.graphs.swap_remove(k);
            self.hand_over(pool);
        }
    }
}
