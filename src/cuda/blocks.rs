//! The table of a GPU's memory: segments from the driver, each divided into blocks.

use crate::error::{Result, bail};
use cudarc::driver::sys::CUdeviceptr;

/// The class of a block. Small and large blocks are in different segments, so that a small block that is kept for long does not keep a
/// large segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Blocks of less than 1 MiB.
    Small,
    /// Larger blocks.
    Large,
    /// Blocks that are neither split nor merged.
    Whole,
}

impl Class {
    /// The least number of remaining bytes for which a block is split.
    fn least_rest(self) -> usize {
        match self {
            Class::Small => 512,
            Class::Large => 1 << 20,
            Class::Whole => usize::MAX,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Used,
    Free,
    /// Freed, but claimed by a graph.
    Held,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    at: CUdeviceptr,
    bytes: usize,
    /// The stream that uses the block, or the pool of a graph.
    pool: usize,
    class: Class,
    state: State,
    /// True if the block is the first one of its segment.
    first: bool,
}

/// The blocks of a GPU. A free block is reused only by the stream that used it last. No wait is needed, because a stream does its work in
/// order. Graphs have pools with odd numbers in place of a stream's address, because their work is done again at each launch.
#[derive(Default)]
pub struct Blocks {
    /// All blocks, by address.
    all: Vec<Block>,
    /// Pool, class, size and address of each free block, sorted. It has capacity for all blocks, because freeing a block must not fail.
    free: Vec<(usize, Class, usize, CUdeviceptr)>,
    /// Used blocks that another stream uses, too, each with this stream.
    others: Vec<(CUdeviceptr, usize)>,
    /// Held blocks, each with the number of a graph that uses the block. It has capacity for all blocks and all entries of `others`.
    claims: Vec<(CUdeviceptr, usize)>,
    /// The bytes of used blocks, the bytes of other blocks, and the peak bytes of used blocks.
    pub bytes: [usize; 3],
}

impl Blocks {
    /// Makes room for two more blocks: a segment, and the rest of a block that is split.
    pub fn reserve(&mut self) -> Result<()> {
        let all = self.all.len() + 2;
        let reserved = self.all.try_reserve(2).is_ok()
            && self.free.try_reserve(all - self.free.len()).is_ok()
            && self.claims.try_reserve(all + self.others.len()).is_ok();
        if reserved { Ok(()) } else { bail!(NoMem, "out of memory: the table of the GPU's memory could not grow") }
    }

    fn find(&self, at: CUdeviceptr) -> Option<usize> {
        self.all.binary_search_by_key(&at, |block| block.at).ok()
    }

    /// The size and pool of a used block.
    pub fn used(&self, at: CUdeviceptr) -> Option<(usize, usize)> {
        let block = self.all[self.find(at)?];
        (block.state == State::Used).then_some((block.bytes, block.pool))
    }

    /// Takes the smallest free block of a pool and class with at least `bytes` bytes, and splits it. [`Blocks::reserve`] must be called
    /// before.
    pub fn take(&mut self, bytes: usize, class: Class, pool: usize) -> Option<CUdeviceptr> {
        let k = self.free.partition_point(|free| *free < (pool, class, bytes, 0));
        let &(_, _, found, at) = self.free.get(k).filter(|free| (free.0, free.1) == (pool, class))?;
        if class == Class::Whole && found != bytes {
            return None;
        }
        self.free.remove(k);
        self.bytes[1] -= found;
        let k = self.find(at)?;
        self.cut(k, bytes);
        Some(at)
    }

    /// Adds a segment from the driver, and takes its first block of `bytes` bytes. [`Blocks::reserve`] must be called before.
    pub fn add(&mut self, at: CUdeviceptr, segment: usize, bytes: usize, class: Class, pool: usize) {
        let k = self.all.partition_point(|block| block.at < at);
        self.all.insert(k, Block { at, bytes: segment, pool, class, state: State::Free, first: true });
        self.cut(k, bytes);
    }

    /// Marks a free block, which is not in the free list, as used. If enough bytes beyond `bytes` remain, they become a new free block.
    fn cut(&mut self, k: usize, bytes: usize) {
        let block = &mut self.all[k];
        let rest = block.bytes - bytes;
        block.state = State::Used;
        if rest >= block.class.least_rest() {
            block.bytes = bytes;
            let rest = Block { at: block.at + bytes as CUdeviceptr, bytes: rest, first: false, state: State::Free, ..*block };
            self.all.insert(k + 1, rest);
            self.list(rest);
        }
        self.bytes[0] += self.all[k].bytes;
        self.bytes[2] = self.bytes[2].max(self.bytes[0]);
    }

    /// Adds a block to the free list.
    fn list(&mut self, block: Block) {
        let free = (block.pool, block.class, block.bytes, block.at);
        self.free.insert(self.free.partition_point(|other| *other < free), free);
        self.bytes[1] += block.bytes;
    }

    /// Frees a used block.
    pub fn release(&mut self, at: CUdeviceptr) {
        let Some(k) = self.find(at).filter(|&k| self.all[k].state == State::Used) else { return };
        self.bytes[0] -= self.all[k].bytes;
        if self.claims.iter().any(|claim| claim.0 == at) {
            self.all[k].state = State::Held;
            self.bytes[1] += self.all[k].bytes;
        } else {
            self.set_free(k);
        }
    }

    /// Marks a block that is in no list as free, and merges it with free neighbours of its segment.
    fn set_free(&mut self, mut k: usize) {
        self.all[k].state = State::Free;
        if self.joins(k + 1) {
            self.unlist(k + 1);
            self.all[k].bytes += self.all.remove(k + 1).bytes;
        }
        if self.joins(k) {
            k -= 1;
            self.unlist(k);
            self.all[k].bytes += self.all.remove(k + 1).bytes;
        }
        self.list(self.all[k]);
    }

    /// Returns true if block `k` and the block before are free and can be merged.
    fn joins(&self, k: usize) -> bool {
        let (Some(block), Some(before)) = (self.all.get(k), k.checked_sub(1).map(|k| self.all[k])) else { return false };
        let free = block.state == State::Free && before.state == State::Free;
        free && !block.first && block.pool == before.pool && block.class != Class::Whole
    }

    fn unlist(&mut self, k: usize) {
        let block = self.all[k];
        let found = self.free.binary_search(&(block.pool, block.class, block.bytes, block.at));
        if let Ok(place) = found {
            self.free.remove(place);
            self.bytes[1] -= block.bytes;
        }
    }

    /// Removes a segment that is completely free, and not used by a graph, from the table.
    pub fn take_segment(&mut self) -> Option<CUdeviceptr> {
        let is_alone = |k: usize| self.all[k].first && self.all.get(k + 1).is_none_or(|next| next.first);
        let is_free = |block: &Block| block.state == State::Free && block.pool.is_multiple_of(2);
        let k = (0..self.all.len()).find(|&k| is_free(&self.all[k]) && is_alone(k))?;
        self.unlist(k);
        Some(self.all.remove(k).at)
    }

    /// Records that `stream` uses a block.
    pub fn used_in(&mut self, at: CUdeviceptr, stream: usize) -> Result<()> {
        if self.used(at).is_some_and(|(_, pool)| pool != stream) && !self.others.contains(&(at, stream)) {
            self.reserve()?;
            if self.others.try_reserve(1).is_err() || self.claims.try_reserve(self.all.len() + self.others.len() + 1).is_err() {
                bail!(NoMem, "out of memory: the table of the GPU's memory could not grow")
            }
            self.others.push((at, stream));
        }
        Ok(())
    }

    /// Removes and returns one of the other streams that use a freed block.
    pub fn take_other(&mut self, at: CUdeviceptr) -> Option<usize> {
        let k = self.others.iter().position(|other| other.0 == at)?;
        Some(self.others.swap_remove(k).1)
    }

    /// Holds a block after it is freed, until a graph ends.
    pub fn claim(&mut self, at: CUdeviceptr, graph: usize) {
        if !self.claims.contains(&(at, graph)) {
            self.claims.push((at, graph));
        }
    }

    /// Moves the blocks of a destroyed stream, whose work is done, to the default stream.
    pub fn end_stream(&mut self, stream: usize) {
        self.others.retain(|other| other.1 != stream);
        self.hand_over(|pool| pool == stream);
    }

    /// Ends a graph whose work is done: its pools go to the default stream, and the blocks that it claimed return to their pools.
    pub fn end_graph(&mut self, graph: usize, pools: &[((i8, usize), usize)]) {
        self.claims.retain(|claim| claim.1 != graph);
        self.hand_over(|pool| pools.iter().any(|other| other.1 == pool));
    }

    fn hand_over(&mut self, ended: impl Fn(usize) -> bool) {
        let Blocks { all, claims, .. } = self;
        for block in all.iter_mut() {
            if ended(block.pool) {
                block.pool = 0;
            }
            if block.state == State::Held && !claims.iter().any(|claim| claim.0 == block.at) {
                block.state = State::Free;
            }
        }
        // The free list is rebuilt from the end, so that merging blocks does not move entries that are still to be visited.
        self.bytes[1] = self.all.iter().filter(|block| block.state == State::Held).map(|block| block.bytes).sum();
        self.free.clear();
        for k in (1..self.all.len()).rev() {
            if self.joins(k) {
                self.all[k - 1].bytes += self.all.remove(k).bytes;
            }
        }
        for k in 0..self.all.len() {
            let block = self.all[k];
            if block.state == State::Free {
                self.free.push((block.pool, block.class, block.bytes, block.at));
                self.bytes[1] += block.bytes;
            }
        }
        self.free.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: usize = 20 << 20;

    /// Takes a free block, or one of a new segment at `at`.
    fn make(blocks: &mut Blocks, at: CUdeviceptr, bytes: usize, pool: usize) -> CUdeviceptr {
        blocks.reserve().expect("memory");
        blocks.take(bytes, Class::Large, pool).unwrap_or_else(|| {
            blocks.add(at, SEGMENT.max(bytes), bytes, Class::Large, pool);
            at
        })
    }

    #[test]
    fn a_block_is_cut_and_joined_again() {
        let mut blocks = Blocks::default();
        let first = make(&mut blocks, 1 << 30, 2 << 20, 8);
        let second = make(&mut blocks, 1 << 31, 4 << 20, 8);
        let third = make(&mut blocks, 1 << 31, 14 << 20, 8);
        assert_eq!([first, second, third], [1 << 30, (1 << 30) + (2 << 20), (1 << 30) + (6 << 20)]);
        assert_eq!(blocks.bytes, [SEGMENT, 0, SEGMENT]);
        assert!(blocks.take_segment().is_none());
        for at in [first, third, second] {
            blocks.release(at);
        }
        assert_eq!(blocks.bytes, [0, SEGMENT, SEGMENT]);
        assert_eq!(blocks.all.len(), 1);
        assert_eq!(make(&mut blocks, 1 << 31, SEGMENT, 8), 1 << 30);
        blocks.release(1 << 30);
        assert_eq!(blocks.take_segment(), Some(1 << 30));
        assert_eq!((blocks.all.len(), blocks.free.len(), blocks.bytes[1]), (0, 0, 0));
    }

    #[test]
    fn the_smallest_block_of_the_pool_and_class_serves() {
        let mut blocks = Blocks::default();
        for (at, bytes) in [(1 << 30, 40 << 20), (2 << 30, 30 << 20), (3 << 30, 50 << 20)] {
            make(&mut blocks, at, bytes, 8);
        }
        [1 << 30, 2 << 30, 3 << 30].into_iter().for_each(|at| blocks.release(at));
        assert!(blocks.take(25 << 20, Class::Large, 16).is_none() && blocks.take(512, Class::Small, 8).is_none());
        assert_eq!(blocks.take(25 << 20, Class::Large, 8), Some(2 << 30));
        assert_eq!(blocks.take(35 << 20, Class::Large, 8), Some(1 << 30));
        // A rest of less than 1 MiB is not split off.
        assert_eq!(blocks.used(1 << 30), Some((35 << 20, 8)));
        assert_eq!(blocks.take((50 << 20) - 512, Class::Large, 8), Some(3 << 30));
        assert_eq!(blocks.used(3 << 30), Some((50 << 20, 8)));
    }

    #[test]
    fn whole_blocks_are_not_cut() {
        let mut blocks = Blocks::default();
        blocks.reserve().expect("memory");
        blocks.add(4096, 100, 100, Class::Whole, 0);
        blocks.release(4096);
        assert!(blocks.take(50, Class::Whole, 0).is_none());
        assert_eq!(blocks.take(100, Class::Whole, 0), Some(4096));
    }

    #[test]
    fn memory_of_a_graph_is_kept_until_the_graph_ends() {
        let mut blocks = Blocks::default();
        let (own, claimed) = (make(&mut blocks, 1 << 30, 2 << 20, 3), make(&mut blocks, 1 << 31, 2 << 20, 8));
        blocks.claim(claimed, 1);
        blocks.claim(claimed, 5);
        [own, claimed].into_iter().for_each(|at| blocks.release(at));
        // The rest of the segment is free, the claimed block is not.
        assert_eq!(blocks.take(18 << 20, Class::Large, 8), Some((1 << 31) + (2 << 20)));
        assert!(blocks.take(2 << 20, Class::Large, 8).is_none() && blocks.take_segment().is_none());
        blocks.end_graph(1, &[((0, 8), 3)]);
        assert!(blocks.take(2 << 20, Class::Large, 8).is_none());
        assert_eq!(blocks.take_segment(), Some(1 << 30));
        blocks.end_graph(5, &[]);
        assert_eq!(blocks.take(2 << 20, Class::Large, 8), Some(claimed));
        assert_eq!(blocks.bytes, [20 << 20, 0, 20 << 20]);
    }

    #[test]
    fn the_default_stream_gets_the_memory_of_a_stream_that_ended() {
        let mut blocks = Blocks::default();
        let [a, b, c] = [2, 2, 16].map(|mib| make(&mut blocks, 1 << 30, mib << 20, 8));
        [a, c].into_iter().for_each(|at| blocks.release(at));
        blocks.used_in(b, 16).expect("memory");
        blocks.end_stream(16);
        assert!(blocks.take_other(b).is_none());
        blocks.end_stream(8);
        blocks.release(b);
        assert_eq!(blocks.take(SEGMENT, Class::Large, 0), Some(a));
    }
}
