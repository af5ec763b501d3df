//! Examples of random numbers. They are drawn with a fixed seed, from generators of both kinds.

use crate::handles::{Tensor, done};
use crate::tensors;
use thorn::api::generator::THGenerator;
use thorn::capi::functions::generators::{THGenerator_free, THGenerator_newKind, THRandom_manualSeed};
use thorn::dtype::*;
use thorn::error::{TH_OK, THStatus};
use thorn::random::{TH_MT19937, TH_PHILOX};
use thorn::tensor::THTensor;

/// Calls `check` with `n` elements of `dtype` that `draw` has drawn, for both kinds of generators.
fn drawn(dtype: THDtype, n: i64, draw: impl Fn(*mut THTensor, *mut THGenerator) -> THStatus, check: impl Fn(&[f64])) {
    for kind in [TH_PHILOX, TH_MT19937] {
        let r = Tensor::made(c!(tensors::newWithSize1d(dtype, n))).unwrap();
        let generator = c!(THGenerator_newKind(kind));
        assert_eq!(c!(THRandom_manualSeed(generator, 2)), TH_OK);
        assert_eq!(draw(r.0, generator), TH_OK);
        c!(THGenerator_free(generator));
        check(&r.elements());
    }
}

fn mean(xs: &[f64]) -> f64 {
    xs.iter().sum::<f64>() / xs.len() as f64
}

fn median(xs: &[f64]) -> f64 {
    let mut sorted = xs.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[xs.len() / 2]
}

pub fn uniform_stays_in_its_range() {
    drawn(
        TH_FLOAT64,
        10000,
        |r, g| c!(tensors::uniform(r, g, -2.0, 6.0)),
        |xs| {
            assert!(xs.iter().all(|x| (-2.0..6.0).contains(x)));
            // The mean of n draws has the standard deviation 8 / sqrt(12 n) = 0.023.
            assert!((mean(xs) - 2.0).abs() < 0.12, "{}", mean(xs));
        },
    );
}

/// Checks for mean 3 and variance 4. The standard deviations over n draws are 2 / sqrt(n) = 0.02 for the mean, and 4 sqrt(2 / n) = 0.057
/// for the variance.
fn check_moments(xs: &[f64]) {
    let squares: Vec<f64> = xs.iter().map(|x| (x - 3.0).powi(2)).collect();
    assert!((mean(xs) - 3.0).abs() < 0.1, "{}", mean(xs));
    assert!((mean(&squares) - 4.0).abs() < 0.28, "{}", mean(&squares));
}

pub fn normal_has_its_moments() {
    drawn(TH_FLOAT64, 10000, |r, g| c!(tensors::normal(r, g, 3.0, 2.0)), check_moments);
}

pub fn logarithms_of_log_normal_have_its_moments() {
    let logarithms = |xs: &[f64]| check_moments(&xs.iter().map(|x| x.ln()).collect::<Vec<_>>());
    drawn(TH_FLOAT64, 10000, |r, g| c!(tensors::logNormal(r, g, 3.0, 2.0)), logarithms);
}

pub fn random_numbers_are_whole_and_in_range() {
    let ranges =
        [(TH_FLOAT64, 53), (TH_FLOAT32, 24), (TH_FLOAT16, 11), (TH_UINT8, 8), (TH_INT8, 7), (TH_INT16, 15), (TH_INT32, 31), (TH_INT64, 63)];
    for (dtype, bits) in ranges {
        let in_range = |xs: &[f64]| assert!(xs.iter().all(|x| x.fract() == 0.0 && (0.0..=2f64.powi(bits)).contains(x)));
        drawn(dtype, 1000, |r, g| c!(tensors::random(r, g)), in_range);
    }
    let in_range = |xs: &[f64]| assert!(xs.iter().all(|x| (-3.0..=4.0).contains(x)) && xs.contains(&-3.0) && xs.contains(&4.0));
    drawn(TH_INT32, 1000, |r, g| c!(tensors::clampedRandom(r, g, -3, 5)), in_range);
}

pub fn exponential_is_positive() {
    drawn(
        TH_FLOAT64,
        10000,
        |r, g| c!(tensors::exponential(r, g, 0.5)),
        |xs| {
            assert!(xs.iter().all(|&x| x >= 0.0) && (mean(xs) - 2.0).abs() < 0.1, "{}", mean(xs));
        },
    );
}

pub fn cauchy_has_its_median() {
    // The median of n draws has the standard deviation pi sigma / (2 sqrt(n)) = 0.031.
    drawn(TH_FLOAT64, 10000, |r, g| c!(tensors::cauchy(r, g, 5.0, 2.0)), |xs| assert!((median(xs) - 5.0).abs() < 0.16, "{}", median(xs)));
}

/// In the document's formula, which is TH's, p is the probability of failure: the mean is 1 / (1 - p). In PyTorch's, p is the probability
/// of success.
pub fn geometric_counts_from_one() {
    drawn(
        TH_FLOAT64,
        10000,
        |r, g| c!(tensors::geometric(r, g, 0.75)),
        |xs| {
            assert!(xs.iter().all(|&x| x >= 1.0 && x.fract() == 0.0) && (mean(xs) - 4.0).abs() < 0.18, "{}", mean(xs));
        },
    );
}

pub fn bernoulli_of_integers_is_zero_or_one() {
    for dtype in [TH_INT8, TH_UINT8, TH_INT64] {
        drawn(
            dtype,
            10000,
            |r, g| c!(tensors::bernoulli(r, g, 0.5)),
            |xs| {
                assert!(xs.iter().all(|&x| x == 0.0 || x == 1.0) && (mean(xs) - 0.5).abs() < 0.025, "{}", mean(xs));
            },
        );
    }
}

pub fn bernoulli_takes_a_probability_for_each_element() {
    let p = Tensor::of(&[4], &[0.0, 1.0, 1.0, 0.0]);
    drawn(TH_INT64, 4, |r, g| c!(tensors::bernoulliTensor(r, g, p.0)), |xs| assert_eq!(xs, [0.0, 1.0, 1.0, 0.0]));
    let integers = Tensor::made(c!(tensors::newTo(p.0, TH_INT64))).unwrap();
    let refused = done(c!(tensors::bernoulliTensor(p.0, std::ptr::null_mut(), integers.0)));
    assert!(refused.err().is_some_and(|message| message.contains("int64")));
}
