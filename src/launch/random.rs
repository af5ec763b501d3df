//! Random fills as values.

/// The distribution of the elements of a fill. Numbers that are named `Each` are parameters of each element: row-major float64 operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draw {
    /// Uniform in [from, to), at most `most`.
    Uniform {
        /// The least number.
        from: f64,
        /// The bound above.
        to: f64,
        /// The greatest number that the dtype holds below the bound.
        most: f64,
    },
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// The exponential of normal numbers.
    LogNormal {
        /// Their mean.
        mean: f64,
        /// Their standard deviation.
        std: f64,
    },
    /// Exponential.
    Exponential {
        /// The rate.
        lambda: f64,
    },
    /// Cauchy.
    Cauchy {
        /// The median.
        median: f64,
        /// Half the distance between the quartiles.
        sigma: f64,
    },
    /// Normal between two bounds.
    TruncatedNormal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
        /// The lower bound.
        from: f64,
        /// The upper bound.
        to: f64,
    },
    /// Gamma.
    Gamma {
        /// The shape.
        shape: f64,
        /// The scale.
        scale: f64,
    },
    /// Gamma; parameters are shapes and scales.
    GammaEach,
    /// Beta.
    Beta {
        /// The first shape.
        a: f64,
        /// The second shape.
        b: f64,
    },
    /// Beta; parameters are both shapes.
    BetaEach,
    /// The number of trials up to the first success.
    Geometric {
        /// The probability that a trial fails.
        p: f64,
    },
    /// Poisson.
    Poisson {
        /// The rate.
        rate: f64,
    },
    /// Poisson; the parameters are rates.
    PoissonEach,
    /// Binomial.
    Binomial {
        /// The number of trials.
        n: f64,
        /// The probability of success.
        p: f64,
    },
    /// Binomial; parameters are trials and probabilities.
    BinomialEach,
    /// 1 with some probability, else 0.
    Bernoulli {
        /// The probability.
        p: f64,
    },
    /// 1 with some probability, else 0; the parameters are probabilities.
    BernoulliEach,
    /// Uniform over integers.
    Integers {
        /// The least one.
        from: i64,
        /// Their number.
        span: u64,
    },
    /// The integers from 0 on in random order, int64.
    Permutation,
    /// Categories by alias tables: parameters are the int64 other category, and the probability to stay, of each.
    Alias,
    /// Int64 categories for each row of probabilities, the parameter, which is a matrix.
    Categories {
        /// True if a category may be drawn again.
        replacement: bool,
    },
}
