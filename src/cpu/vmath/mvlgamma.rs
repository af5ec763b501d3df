//! The logarithm of the multivariate gamma function.

use super::double::Double;
use super::gamma_parts::sum;
use super::runs::lgamma_run_f64;
use crate::cpu::simd::Isa;

/// `log(pi) / 4`
const QUARTER_LOG_PI: Double = Double { high: 2.861_824_714_623_500_4e-1, low: 2.566_487_790_676_956_6e-18 };

/// The logarithm of the multivariate gamma function, `log(pi) p (p - 1) / 4 + lgamma(x) + lgamma(x - 1/2) + ... + lgamma(x - (p - 1) / 2)`,
/// in place for a few elements. Loops over elements, not over p, become vector code.
#[inline(always)]
pub fn mvlgamma_f64(isa: Isa, p: u64, xs: &mut [f64; 32]) {
    let constant = QUARTER_LOG_PI * Double::from(p as f64 * (p as f64 - 1.0));
    let (mut sums, mut lows) = ([constant.high; 32], [constant.low; 32]);
    for k in 0..p {
        let mut terms = xs.map(|x| x - 0.5 * k as f64);
        let data = terms.as_mut_ptr();
        // SAFETY: `data` has 32 elements, and the function works in place.
        unsafe { lgamma_run_f64(isa, data, data, 32) };
        for i in 0..32 {
            let (s, lost) = sum(sums[i], terms[i]);
            (sums[i], lows[i]) = (s, lows[i] + lost);
        }
    }
    for i in 0..32 {
        // An infinite sum has no rounding error.
        xs[i] = if sums[i].abs() < f64::INFINITY { sums[i] + lows[i] } else { sums[i] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::simd::simd;

    #[test]
    fn mvlgamma_is_a_sum_of_lgammas() {
        // From PyTorch: mvlgamma(3, p = 3) and mvlgamma(1.1, p = 3).
        let mut xs = [3.0; 32];
        xs[1] = 1.1;
        simd(|isa| mvlgamma_f64(isa, 3, &mut xs));
        assert!((xs[0] - 2.694_924_83).abs() < 1e-6 && (xs[1] - 4.318_168_6).abs() < 1e-6, "{xs:?}");
    }
}
