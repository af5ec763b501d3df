//! Normalization, losses and gradients of layers as values. All operands are row-major and of one compute type, but for targets, which are
//! int64.

use super::lines::Softmax;

/// Lines in a row-major tensor: `n` elements, `inner` apart, of each of `outer * inner` lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineShape {
    /// Entries of the dimensions before the line's.
    pub outer: usize,
    /// Elements of a line.
    pub n: usize,
    /// Entries of the dimensions behind it.
    pub inner: usize,
}

/// Rows of `n` elements, one after the other, that are normalized.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormRows {
    /// The number of rows.
    pub rows: usize,
    /// Elements of a row.
    pub n: usize,
    /// The number added to variances.
    pub eps: f64,
}

/// The reduction of the losses of all positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// None: a loss for each position.
    None,
    /// The sum divided by the sum of the weights.
    Mean,
    /// The sum.
    Sum,
}

/// The function of scores or probabilities of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossOp {
    /// The negative logarithm of the likelihood, from logarithms.
    NegativeLogLikelihood,
    /// The gradient of that, from the gradient of the loss.
    NegativeLogLikelihoodGradient,
    /// The gradient of the same of the logarithm of softmax, from the gradient of the loss and the probabilities.
    CrossEntropyGradient,
}

/// A loss of scores of shape `batch x classes x inner`, whose targets have shape `batch x inner`. A target that is no class fails before
/// anything is written. Inputs are the scores, the gradient of the loss, or both probabilities and gradient; then targets, and weights of
/// classes if there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The function.
    pub op: LossOp,
    /// The reduction of the losses.
    pub reduction: Reduction,
    /// The number of classes.
    pub classes: usize,
    /// Positions of one entry of the batch.
    pub inner: usize,
    /// The target of positions that do not count.
    pub ignored: i64,
}

/// The gradient of softmax, or of its logarithm, from `g` and the result, either of which the gradient may overwrite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftmaxGradient {
    /// The function.
    pub of: Softmax,
    /// The lines.
    pub lines: LineShape,
}

/// Rows normalized, times a weight, plus a bias: inputs are rows, weight, bias. The result may be the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNorm(pub NormRows);

/// Up to three gradients, of the rows, weight and bias, from `g`, rows and weight. The first may be `g` or the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNormGradient(pub NormRows);
