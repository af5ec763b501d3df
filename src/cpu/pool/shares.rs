//! The parts of a job, dealt to its threads like cards: each has every n-th, so that from call to call it finds the data of its parts in
//! its cache, while all move through memory side by side; and takes those of others when its own are done.

use std::array;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The most hands; of more threads than that, several share one.
const MOST: usize = 16;

/// Keeps what one thread writes often out of the cache lines that others read (two lines: CPUs fetch them in pairs).
#[repr(align(128))]
pub(super) struct Padded<T>(pub(super) T);

/// Who takes which part next.
pub struct Shares {
    /// How many parts of each hand are taken.
    taken: [Padded<AtomicUsize>; MOST],
    parts: AtomicUsize,
    hands: AtomicUsize,
}

impl Shares {
    /// `parts` parts for `threads` threads.
    pub fn of(parts: usize, threads: usize) -> Shares {
        let taken = array::from_fn(|_| Padded(AtomicUsize::new(0)));
        let shares = Shares { taken, parts: AtomicUsize::new(0), hands: AtomicUsize::new(1) };
        shares.deal(parts, threads);
        shares
    }

    /// Deals `parts` other parts to `threads` threads. Nobody may be taking any.
    pub fn deal(&self, parts: usize, threads: usize) {
        let hands = threads.clamp(1, MOST);
        self.taken[..hands].iter().for_each(|taken| taken.0.store(0, Relaxed));
        self.parts.store(parts, Relaxed);
        self.hands.store(hands, Relaxed);
    }

    /// Calls `f` with parts that nobody else has, as the thread of this number, until none is left.
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

    /// Leaves the parts that have not begun undone.
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
