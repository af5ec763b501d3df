//! Powers of 2 that matrices are multiplied by while they are decomposed. They are used if elements or their squares are near the ends of
//! the range.

use thorn_lapack::Lapack;

/// Scales each column of right-hand sides by itself, lest one of large elements make another underflow; notes an exponent for each column,
/// also where there are no rows. Of `rows` rows the first `given` are there.
pub fn columns<T: Lapack>(b: &mut [T], rows: usize, given: usize, exponents: &mut [i32]) {
    for (j, exponent) in exponents.iter_mut().enumerate() {
        *exponent = T::headroom(&mut b[j * rows..][..given]);
    }
}

/// Rescales the solutions for scaled right-hand sides and a matrix times `2^of_a` to the solutions of the original system.
pub fn solutions<T: Lapack>(x: &mut [T], rows: usize, of_a: i32, exponents: &[i32]) {
    x.chunks_exact_mut(rows.max(1)).zip(exponents).for_each(|(column, &of_b)| T::rescale(column, of_a - of_b));
}

/// Multiplies the upper triangle of an m x n matrix, with the diagonal, by `2^exponent`.
pub fn upper<T: Lapack>(a: &mut [T], m: usize, exponent: i32) {
    if exponent != 0 {
        a.chunks_exact_mut(m.max(1)).enumerate().for_each(|(j, column)| T::rescale(&mut column[..m.min(j + 1)], exponent));
    }
}
