//! The parts of a job, dealt to its threads like cards: each thread has every n-th part. So a thread finds the data of its parts in its
//! cache from call to call, and all threads move through memory together. A thread that has done its own parts does parts of other threads.

use std::array;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The maximum number of hands. More threads than this share hands.
const MOST: usize = 16;

/// Keeps a value that one thread writes often out of the cache lines that other threads read (two lines, since CPUs fetch them in pairs).
#[repr(align(128))]
pub(super) struct Padded<T>(pub(super) T);

/// The parts that are left, by hand.
pub struct Shares {
    /// The number of taken parts in each hand.
    taken: [Padded<AtomicUsize>; MOST],
    parts: AtomicUsize,
    hands: AtomicUsize,
}

impl Shares {
    /// Deals `parts` parts to `threads` threads.
    pub fn of(parts: usize, threads: usize) -> Shares {
        let taken = array::from_fn(|_| Padded(AtomicUsize::new(0)));
        let shares = Shares { taken, parts: AtomicUsize::new(0), hands: AtomicUsize::new(1) };
        shares.deal(parts, threads);
        shares
    }

    /// Deals `parts` new parts to `threads` threads. No thread may be taking parts.
    pub fn deal(&self, parts: usize, threads: usize) {
        let hands = threads.clamp(1, MOST);
        self.taken[..hands].iter().for_each(|taken| taken.0.store(0, Relaxed));
        self.parts.store(parts, Relaxed);
        self.hands.store(hands, Relaxed);
    }

    /// Calls `f` as thread number `thread` with each part that no other thread has taken, until no part is left.
    #[inline]
    pub fn each(&self, thread: usize, mut f: impl FnMut(usize)) {
        let (parts, hands) = (self.parts.load(Relaxed), self.hands.load(Relaxed));
        for k in 0..hands {
            let hand = (thread + k) % hands;
            let taken = &self.taken[hand].0;
            let count = (parts + hands - 1 - hand) / hands;
            while taken.load(Relaxed) < count {
                let card = taken.fetch_add(1, Relaxed);
                if card < count {
                    f(hand + card * hands);
                }
            }
        }
    }

    /// Drops the parts that have not begun.
    pub fn abandon(&self) {
        let parts = self.parts.load(Relaxed);
        self.taken.iter().for_each(|taken| taken.0.store(parts, Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_taken_once_and_own_parts_come_first() {
        for (parts, threads) in [(0, 1), (1, 4), (7, 3), (64, 16), (100, 40)] {
            let (shares, mut taken) = (Shares::of(parts, threads), vec![]);
            shares.each(1, |part| taken.push(part));
            let own: Vec<_> = (1 % threads..parts).step_by(threads.min(MOST)).collect();
            assert_eq!(taken[..own.len()], own);
            taken.sort_unstable();
            assert_eq!(taken, (0..parts).collect::<Vec<_>>());
            shares.each(0, |part| panic!("part {part} was taken before"));
        }
    }

    #[test]
    fn what_is_abandoned_is_left() {
        let (shares, mut taken) = (Shares::of(9, 2), vec![]);
        shares.each(1, |part| {
            taken.push(part);
            shares.abandon();
        });
        assert_eq!(taken, [1]);
    }
}
