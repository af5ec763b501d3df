use super::*;

/// The order of the elements of a matrix in memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// Contiguous columns, with other elements between the columns.
    Columns,
    /// Contiguous rows, with other elements between the rows.
    Rows,
    /// Other elements between all elements, and the last element first.
    Reversed,
    /// The same element everywhere.
    Single,
}

/// Returns the elements of a matrix, NaN where it has none, and the matrix.
fn laid<T: Plain + From<f32>>(layout: Layout, rows: usize, cols: usize, of: impl Fn(usize, usize) -> f32) -> (Vec<T>, usize, isize, isize) {
    let (rs, cs) = match layout {
        Layout::Columns => (1, rows as isize + 3),
        Layout::Rows => (cols as isize + 3, 1),
        Layout::Reversed => (-2, -2 * rows as isize - 1),
        Layout::Single => (0, 0),
    };
    let last = (rows.max(1) as isize - 1) * rs + (cols.max(1) as isize - 1) * cs;
    let first = if last < 0 { last.unsigned_abs() } else { 0 };
    let mut data = vec![T::from(f32::NAN); last.unsigned_abs() + 1];
    for i in 0..rows {
        for j in 0..cols {
            data[(first as isize + i as isize * rs + j as isize * cs) as usize] = T::from(of(i, j));
        }
    }
    (data, first, rs, cs)
}

/// Compares `run` with the definition. All numbers are integers, so that no sum is rounded.
unsafe fn compare<T: Plain + From<f32> + Into<f64> + std::fmt::Debug>(run: unsafe fn(&mut Product<T>), [m, n, k]: [usize; 3]) {
    let (a_of, b_of) = (|i: usize, j: usize| ((i * 7 + j * 3) % 11) as f32 - 4.0, |i: usize, j: usize| ((i * 5 + j * 2) % 13) as f32 - 7.0);
    let inputs = [Layout::Columns, Layout::Rows, Layout::Reversed, Layout::Single];
    for (a_layout, b_layout) in inputs.iter().flat_map(|&a| inputs.map(|b| (a, b))) {
        let single = |layout, of: &dyn Fn(usize, usize) -> f32, i, j| if matches!(layout, Layout::Single) { 3.0 } else { of(i, j) };
        let (mut a, a_first, a_rs, a_cs) = laid::<T>(a_layout, m, k, |i, j| single(a_layout, &a_of, i, j));
        let (mut b, b_first, b_rs, b_cs) = laid::<T>(b_layout, k, n, |i, j| single(b_layout, &b_of, i, j));
        let mut sums = vec![0.0; m * n];
        for i in 0..m {
            for j in 0..n {
                sums[i * n + j] = (0..k).map(|l| single(a_layout, &a_of, i, l) * single(b_layout, &b_of, l, j)).sum::<f32>();
            }
        }
        for c_layout in [Layout::Columns, Layout::Rows, Layout::Reversed] {
            for (keep, factor) in [(0.0, 1.0), (1.0, -1.0), (1.0, 1.0), (-2.0, 3.0), (0.0, 2.0)] {
                // A result that is not kept is NaN before.
                let old = |i: usize, j: usize| if keep == 0.0 { f32::NAN } else { (i + 2 * j) as f32 };
                let (mut c, first, rs, cs) = laid::<T>(c_layout, m, n, old);
                let value = |i: usize, j: usize| factor * sums[i * n + j] + if keep == 0.0 { 0.0 } else { keep * old(i, j) };
                let (expected, ..) = laid::<T>(c_layout, m, n, value);
                let matrix = |data: &mut [T], first: usize, rs, cs| Matrix { data: data.as_mut_ptr().wrapping_add(first), rs, cs };
                let mut product = Product {
                    m,
                    n,
                    k,
                    c: matrix(&mut c, first, rs, cs),
                    a: matrix(&mut a, a_first, a_rs, a_cs),
                    b: matrix(&mut b, b_first, b_rs, b_cs),
                    keep: T::from(keep),
                    factor: T::from(factor),
                };
                // SAFETY: the vectors hold the matrices.
                unsafe { run(&mut product) };
                // NaN marks the elements that must not be written.
                let same = c.iter().zip(&expected).all(|(x, y)| x == y || ((*x).into().is_nan() && (*y).into().is_nan()));
                assert!(same, "{m} x {n} x {k}, {a_layout:?} {b_layout:?} {c_layout:?}, {keep} {factor}: {c:?} instead of {expected:?}");
            }
        }
    }
}

/// The sizes 0 to 17, and sizes that are divided into blocks.
fn sizes() -> impl Iterator<Item = [usize; 3]> {
    let small = (0..18 * 18 * 18).map(|x| [x / 324, x / 18 % 18, x % 18]);
    small.chain([[70, 3, 2], [3, 70, 2], [33, 40, 3], [2, 3, 700], [40, 2, 150], [2, 33, 90], [1, 1, 4096]])
}

#[test]
fn portable_products() {
    for size in sizes() {
        // SAFETY: the test makes the matrices.
        unsafe {
            compare::<f32>(portable::run, size);
            compare::<f64>(portable::run, size);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn products_with_avx2() {
    if !std::arch::is_x86_feature_detected!("avx2") || !std::arch::is_x86_feature_detected!("fma") {
        return;
    }
    for size in sizes() {
        // SAFETY: the test makes the matrices, and the processor has the instructions.
        unsafe {
            compare::<f32>(|p| avx2::run(p), size);
            compare::<f64>(|p| avx2::run(p), size);
        }
    }
}

#[test]
fn faers_functions() {
    let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
    let mut c = [7.0f64, 8.0];
    // SAFETY: the matrices are column-major, 2 x 2, 2 x 1 and 2 x 1.
    unsafe { planless::execute_f64(2, 1, 2, c.as_mut_ptr(), 1, 2, a.as_ptr(), 1, 2, b.as_ptr(), 1, 2, 2.0, -1.0, false, false) };
    assert_eq!(c, [14.0 - 23.0, 16.0 - 34.0]);
    let (a, b) = (a.map(|x| x as f32), b.map(|x| x as f32));
    let mut c = [f32::NAN; 2];
    // SAFETY: as above, with the rows of the first matrix as columns.
    unsafe { planless::execute_f32(2, 1, 2, c.as_mut_ptr(), 1, 2, a.as_ptr(), 2, 1, b.as_ptr(), 1, 2, 0.0, 1.0, false, false) };
    assert_eq!(c, [17.0, 39.0]);
}

#[test]
fn complex_products_are_not_known() {
    let products = [planless::execute_c32::<[f32; 2]>, planless::execute_c64::<[f32; 2]>];
    for product in products {
        let made = std::panic::catch_unwind(|| {
            let (a, mut c) = ([[1.0; 2]], [[0.0; 2]]);
            // SAFETY: the matrices have one element.
            unsafe { product(1, 1, 1, c.as_mut_ptr(), 1, 1, a.as_ptr(), 1, 1, a.as_ptr(), 1, 1, a[0], a[0], false, false) };
        });
        assert!(made.is_err());
    }
}
