//! Normalization, losses and gradients of layers as values. All operands are row-major and of one compute type, except for int64 targets.

use super::lines::Softmax;

/// The lines of a row-major tensor: `outer * inner` lines of `n` elements at a distance of `inner`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineShape {
    /// The product of the sizes before the line's dimension.
    pub outer: usize,
    /// The number of elements of a line.
    pub n: usize,
    /// The product of the sizes after the line's dimension.
    pub inner: usize,
}

/// Contiguous rows of `n` elements that are normalized. Element `j` of row `i` has weight and bias number
/// `i % groups * (n / span) + j / span`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormRows {
    /// The number of rows.
    pub rows: usize,
    /// The number of elements of a row.
    pub n: usize,
    /// The number that is added to variances.
    pub eps: f64,
    /// True if the mean is subtracted. Otherwise the mean of squares is used instead of the variance.
    pub centred: bool,
    /// The number of adjacent rows whose weights differ.
    pub groups: usize,
    /// The number of adjacent elements of a row that have the same weight. It divides `n`.
    pub span: usize,
}

impl NormRows {
    /// Returns the number of weights of a row.
    pub fn row_weights(self) -> usize {
        self.n / self.span
    }

    /// Returns the number of weights.
    pub fn weights(self) -> usize {
        self.groups * self.row_weights()
    }
}

/// The reduction of the losses of all positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// No reduction: one loss for each position.
    None,
    /// The sum divided by the sum of the weights.
    Mean,
    /// The sum.
    Sum,
}

/// The loss function, or its gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossOp {
    /// The negative log-likelihood of log-probabilities.
    NegativeLogLikelihood,
    /// The gradient of the negative log-likelihood, from the gradient of the loss.
    NegativeLogLikelihoodGradient,
    /// The negative log-likelihood after log-softmax, from scores of any dtype and the numbers of [`Softmax::Parts`] for each position.
    CrossEntropy,
    /// The gradient of the negative log-likelihood after log-softmax, from the gradient of the loss and the probabilities.
    CrossEntropyGradient,
}

impl LossOp {
    /// The number of inputs before the targets.
    pub fn given(self) -> usize {
        match self {
            LossOp::NegativeLogLikelihood | LossOp::NegativeLogLikelihoodGradient => 1,
            LossOp::CrossEntropyGradient => 2,
            LossOp::CrossEntropy => 3,
        }
    }
}

/// A loss. Scores have shape `batch x classes x inner`, and targets have shape `batch x inner`. A target that is not a class is an error,
/// before anything is written. The inputs are first the scores and the numbers that are subtracted from them, or the gradient of the loss,
/// or the probabilities and the gradient; then the targets; then, optionally, the weights of the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The function.
    pub op: LossOp,
    /// The reduction of the losses.
    pub reduction: Reduction,
    /// The number of classes.
    pub classes: usize,
    /// The number of positions of one batch entry.
    pub inner: usize,
    /// The target value of positions that are ignored.
    pub ignored: i64,
}

/// The gradient of softmax or log-softmax, from `g` and the function's result. The gradient may overwrite either of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftmaxGradient {
    /// The function.
    pub of: Softmax,
    /// The lines.
    pub lines: LineShape,
}

/// Normalizes rows, multiplies by weights and adds biases. The inputs are rows of any float dtype, weights and biases of its compute type.
/// The result has the dtype of the rows, and may be the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNorm(pub NormRows);

/// Up to three gradients, with respect to rows, weights and biases, from `g`, rows and weights. The first gradient may overwrite `g` or the
/// rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNormGradient(pub NormRows);
