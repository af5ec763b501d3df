//! Random fills as values.

/// The distribution of the elements of a fill. Variants named `Each` have parameters for each element: row-major float64 operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Draw {
    /// Uniform in [from, to).
    Uniform {
        /// The lower bound, included.
        from: f64,
        /// The upper bound, excluded.
        to: f64,
        /// The greatest number below `to` in the dtype. Larger results are lowered to it.
        most: f64,
    },
    /// Normal.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        std: f64,
    },
    /// Log-normal: the exponential of normal numbers.
    LogNormal {
        /// The mean of the normal numbers.
        mean: f64,
        /// The standard deviation of the normal numbers.
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
    /// Gamma. The parameters are shapes and scales.
    GammaEach,
    /// Beta.
    Beta {
        /// The first shape.
        a: f64,
        /// The second shape.
        b: f64,
    },
    /// Beta. The parameters are both shapes.
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
    /// Poisson. The parameters are rates.
    PoissonEach,
    /// Binomial.
    Binomial {
        /// The number of trials.
        n: f64,
        /// The probability of success.
        p: f64,
    },
    /// Binomial. The parameters are numbers of trials and probabilities.
    BinomialEach,
    /// Bernoulli: 1 with a given probability, else 0.
    Bernoulli {
        /// The probability.
        p: f64,
    },
    /// Bernoulli. The parameters are probabilities.
    BernoulliEach,
    /// Uniform over integers.
    Integers {
        /// The least integer.
        from: i64,
        /// The number of integers.
        span: u64,
    },
    /// A random permutation of the integers from 0 on, int64.
    Permutation,
    /// Categories by alias tables. The parameters are, for each category, its int64 replacement and the probability that it is kept.
    Alias,
    /// Int64 categories for each row of a matrix of probabilities, which is the parameter.
    Categories {
        /// True to draw with replacement.
        replacement: bool,
    },
}
