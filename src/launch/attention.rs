//! Attention as a value.

/// The weights that dropout keeps: a function of the seed and the position.
///
/// A fill with [`super::Draw::Bernoulli`] from the start of the Philox stream of the seed says which weights are kept, if the fill has the
/// shape `l x entries x n`, where `entries` is the number of batch entries and `n` is `s` rounded up to a multiple of
/// [`Dropout::GROUP`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    /// The probability that a weight becomes 0.
    pub p: f64,
    /// The seed of the stream.
    pub seed: u64,
}

impl Dropout {
    /// Elements of a fill whose words are drawn together.
    pub(crate) const GROUP: usize = 64;
    /// Blocks of a group.
    const BLOCKS: u64 = 16;

    /// The number of the block of the stream for column `j`, a multiple of [`Dropout::GROUP`], of a row. `row` is the number of the row in
    /// the fill: `i * entries + b` for row `i` of batch entry `b`.
    pub fn block(row: u64, j: usize, s: usize) -> u64 {
        let groups = row.wrapping_mul(s.div_ceil(Self::GROUP) as u64).wrapping_add((j / Self::GROUP) as u64);
        groups.wrapping_mul(Self::BLOCKS)
    }

    /// The factor of the weights that are kept.
    pub fn factor(self) -> f64 {
        if self.p < 1.0 { 1.0 / (1.0 - self.p) } else { 0.0 }
    }
}

/// `r = softmax(q @ k^T * scale + mask) @ v` for each entry of a batch, and the logarithms of the sums of exponentials.
///
/// The inputs are `q`, `k`, `v` and optionally a mask; the second result is optional. All have the dimensions of the batch, with stride 0
/// where they are broadcast: `q` is `batch x l x e`, `k` is `batch x s x e`, `v` is `batch x s x ev`, the mask is `batch x l x s`, `r` is
/// `batch x l x ev`, and the logarithms are `batch x l`. All have one compute type, except a mask of Bool, whose false elements exclude the
/// position. Results are row-major, up to a dimension that is divided in two.
///
/// A row without a position has the result 0 and the logarithm minus infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attention {
    /// The factor of the products of `q` and `k`.
    pub scale: f64,
    /// True if row `i` excludes the columns after `i`.
    pub causal: bool,
    /// Dropout of the weights.
    pub dropout: Option<Dropout>,
}

/// The gradients of [`Attention`] with respect to `q`, `k`, `v` and the mask, each of them optional.
///
/// The inputs are the gradient `g` of the result, the logarithms, `delta`, `q`, `k`, `v` and optionally the mask. `delta` is `batch x l`:
/// the sum of `g * r` over each row, less the gradient of the logarithm. The gradient of `q` has the whole batch. The gradients of `k` and
/// `v` are broadcast over the same dimensions, and are sums over these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionGradient(pub Attention);
