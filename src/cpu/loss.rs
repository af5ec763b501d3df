//! Losses of classes: from each line along the classes, one element is picked.

use super::parallel::{CHEAP, Shared, parallel};
use super::pool;
use super::real::Real;
use crate::error::{Result, bail};

/// The maximum number of parts that are summed separately, and the positions that are worth a part.
const MOST_PARTS: usize = 64;
const PART: usize = 1 << 13;

/// The target classes, for scores of shape `batch x classes x inner`.
#[derive(Clone, Copy)]
pub struct Picks<'a, T> {
    /// A class for each position, `batch x inner`.
    pub target: &'a [i64],
    /// The weight of each class.
    pub weight: Option<&'a [T]>,
    /// The number of classes.
    pub classes: usize,
    /// The number of positions in one entry of the batch.
    pub inner: usize,
    /// The target of positions that do not count.
    pub ignored: i64,
}

impl<T: Real> Picks<'_, T> {
    /// Fails if a target is not a class.
    pub fn check(&self) -> Result<()> {
        let wrong = |&class: &i64| class != self.ignored && !(0..self.classes as i64).contains(&class);
        match self.target.iter().position(wrong) {
            Some(at) => bail!(Argument, "target {} at position {at} is none of {} classes", self.target[at], self.classes),
            None => Ok(()),
        }
    }

    /// Returns the number of entries of the batch, with `inner` positions each.
    fn batches(&self) -> usize {
        self.target.len() / self.inner.max(1)
    }

    /// Returns the class of a position and its weight, or `None` if the position does not count.
    #[inline(always)]
    fn at(&self, position: usize) -> Option<(usize, f64)> {
        let class = self.target[position];
        (class != self.ignored).then(|| (class as usize, self.weight.map_or(1.0, |weight| weight[class as usize].to_f64())))
    }

    /// Returns the index of the score of a class.
    #[inline(always)]
    fn place(&self, position: usize, class: usize) -> usize {
        (position / self.inner * self.classes + class) * self.inner + position % self.inner
    }

    /// `r = -weight * score` for each position, 0 for positions that do not count. `score` gets the position and the index of the score.
    pub fn each(&self, r: &mut [T], score: impl Fn(usize, usize) -> T) {
        for (position, r) in r.iter_mut().enumerate() {
            *r = self
                .at(position)
                .map_or(T::ZERO, |(class, weight)| T::from_f64(-weight * score(position, self.place(position, class)).to_f64()));
        }
    }

    /// Returns the sum of `f` over the positions that count, and the sum of their weights. The sums do not depend on the number of threads.
    fn sums(&self, f: impl Fn(usize, usize, f64) -> f64 + Sync) -> [f64; 2] {
        let (n, mut sums) = (self.target.len(), [[0f64; 2]; MOST_PARTS]);
        let parts = (n / PART).clamp(1, MOST_PARTS);
        let at = Shared(sums.as_mut_ptr().cast());
        pool::run(parts, &|part| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for position in n * part / parts..n * (part + 1) / parts {
                if let Some((class, weight)) = self.at(position) {
                    sum += f(position, class, weight);
                    weights += weight;
                }
            }
            // SAFETY: each part has a separate place.
            unsafe { at.get().cast::<[f64; 2]>().add(part).write([sum, weights]) };
        });
        sums.iter().fold([0.0; 2], |[a, b], [c, d]| [a + c, b + d])
    }

    /// Returns the sum of the losses and the sum of the weights.
    pub fn total(&self, score: impl Fn(usize, usize) -> T + Sync) -> [f64; 2] {
        self.sums(|position, class, weight| -weight * score(position, self.place(position, class)).to_f64())
    }

    /// Returns the sum of the weights.
    pub fn weights(&self) -> f64 {
        self.sums(|_, _, _| 0.0)[1]
    }

    /// `r = g * weight` for each position, 0 for positions that do not count.
    pub fn scales(&self, r: &mut [T], g: impl Fn(usize) -> f64) {
        for (position, r) in r.iter_mut().enumerate() {
            *r = self.at(position).map_or(T::ZERO, |(_, weight)| T::from_f64(g(position) * weight));
        }
    }

    /// `r = -scale` at the target classes, and 0 at the others.
    ///
    /// # Safety
    /// `r` must have room for the scores, and there must be a scale for each position.
    pub unsafe fn spread(&self, r: *mut T, scales: &[T]) {
        let (row, at) = (self.classes.wrapping_mul(self.inner), Shared(r.cast()));
        parallel(self.batches(), row, CHEAP, &|range| {
            let r = at.get().cast::<T>();
            // SAFETY: the caller keeps this function's contract; only this thread uses these batches.
            unsafe {
                r.add(range.start * row).write_bytes(0, range.len() * row);
                for position in range.start * self.inner..range.end * self.inner {
                    if let Some((class, _)) = self.at(position) {
                        r.add(self.place(position, class)).write(scales[position].neg());
                    }
                }
            }
        });
    }

    /// `r = scale * (p - 1)` at the target classes, and `scale * p` at the others.
    ///
    /// # Safety
    /// `r` and `p` must have the size of the scores and not overlap. There must be a scale for each position.
    pub unsafe fn distances(&self, r: *mut T, p: *const T, scales: &[T]) {
        let (row, at) = (self.classes.wrapping_mul(self.inner), [Shared(r.cast()), Shared(p.cast_mut().cast())]);
        parallel(self.batches(), row, CHEAP, &|range| {
            let [r, p] = at.map(|p| p.get().cast::<T>());
            // SAFETY: the caller keeps this function's contract; only this thread uses these batches.
            unsafe {
                for batch in range.clone() {
                    let scales = scales.as_ptr().add(batch * self.inner);
                    let (r, p) = (r.add(batch * row), p.add(batch * row));
                    if self.inner == 1 {
                        let scale = scales.read();
                        (0..row).for_each(|i| r.add(i).write(p.add(i).read().mul(scale)));
                    } else {
                        for (class, s) in (0..self.classes).flat_map(|class| (0..self.inner).map(move |s| (class, s))) {
                            let i = class * self.inner + s;
                            r.add(i).write(p.add(i).read().mul(scales.add(s).read()));
                        }
                    }
                }
            }
            for position in range.start * self.inner..range.end * self.inner {
                if let Some((class, _)) = self.at(position) {
                    let place = self.place(position, class);
                    // SAFETY: the caller keeps this function's contract; only this thread uses these batches.
                    unsafe { r.add(place).write(p.add(place).read().sub(T::from_f64(1.0)).mul(scales[position])) };
                } else {
                    // Probabilities of infinite scores are NaN.
                    // SAFETY: as above.
                    (0..self.classes).for_each(|class| unsafe { r.add(self.place(position, class)).write(T::ZERO) });
                }
            }
        });
    }
}
