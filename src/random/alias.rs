//! Walker's alias tables for drawing categories.

use crate::alloc::list;
use crate::error::Result;

/// Alias tables: a category `k` is drawn uniformly, is kept with probability `stays[k]`, and is replaced by `other[k]` otherwise.
#[derive(Debug)]
pub struct Alias {
    /// The replacement of each category.
    pub other: Vec<i64>,
    /// The probability that each category is kept.
    pub stays: Vec<f64>,
}

impl Alias {
    /// The tables of probabilities, which may have any sum. Vose's method: each category below the mean is topped up from one above it.
    pub fn new(p: &[f64]) -> Result<Alias> {
        // Probabilities are divided by the largest first, because the sum of very small ones may underflow or lose accuracy.
        let most = p.iter().fold(0.0f64, |most, &x| most.max(x));
        let scale = p.len() as f64 / p.iter().map(|x| x / most).sum::<f64>();
        let mut stays = list(p.len(), |k| Ok(p[k] / most * scale))?;
        let mut other = list(p.len(), |k| Ok(k as i64))?;
        let (mut below, mut above) = (list(p.len(), |_| Ok(0))?, list(p.len(), |_| Ok(0))?);
        let (mut smalls, mut larges) = (0, 0);
        for k in 0..p.len() {
            let (stack, top) = if stays[k] < 1.0 { (&mut below, &mut smalls) } else { (&mut above, &mut larges) };
            stack[*top] = k;
            *top += 1;
        }
        while smalls > 0 && larges > 0 {
            let (small, large) = (below[smalls - 1], above[larges - 1]);
            other[small] = large as i64;
            stays[large] -= 1.0 - stays[small];
            if stays[large] < 1.0 {
                below[smalls - 1] = large;
                larges -= 1;
            } else {
                smalls -= 1;
            }
        }
        // The categories that are left have probability 1, up to rounding.
        below[..smalls].iter().chain(&above[..larges]).for_each(|&k| stays[k] = 1.0);
        Ok(Alias { other, stays })
    }
}
