//! Products of compressed rows as values.

/// Products with a matrix A of compressed rows. The first inputs are where each row starts among the entries, with their number at the
/// end, and the column of each entry, both row-major int32 or both int64; then come dense operands, row-major matrices of one dtype among
/// float32, float64 and int64, and last the entries, a vector of that dtype; without it each is 1.
///
/// Columns and starts that lead nowhere are an error, before which a part of the result may have been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressed {
    /// `r = A m`.
    Product,
    /// `r = A' m`.
    Transposed,
    /// `r[k] = a[i] . b[j]` for entry `k` in row `i` and column `j`; there are two dense operands and no entries.
    Sampled,
}
