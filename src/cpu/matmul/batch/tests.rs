//! Products of groups through all kernels of this machine, and through the model of the tile instructions.

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::cpu::matmul::pair;
use crate::cpu::matmul::tiles::model;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::Level;
use crate::storage::Storage;
use half::{bf16, f16};

const DIMS: ProductDims = ProductDims { rows: true, columns: true, batch: true };

/// A dtype and a method to multiply it.
#[derive(Clone)]
struct Case {
    name: String,
    dtype: Dtype,
    groups: Groups,
}

fn cases() -> Vec<Case> {
    let tiled = [Dtype::Bfloat16, Dtype::Float16, Dtype::Int8, Dtype::Uint8];
    let case = |name: &str, dtype: Dtype, kernel: Kernel, count: usize| Case { name: name.into(), dtype, groups: Groups { kernel, count } };
    let mut cases = tiled.map(|dtype| case("model of tiles", dtype, model::kernel(dtype), 4 / dtype.size())).to_vec();
    #[cfg(target_arch = "x86_64")]
    for level in [Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= level()) {
        let Some(kernel) = pair::int16(level) else { continue };
        for dtype in [Dtype::Int8, Dtype::Uint8, Dtype::Int16] {
            cases.push(case(&format!("pairs of int16, {level:?}"), dtype, Kernel::Integer(kernel), 2));
        }
    }
    for dtype in tiled {
        // Pairs of int16 are in the list already.
        match Groups::of_dtype(dtype).filter(|groups| groups.dtype() == Dtype::Float32 || groups.count == 4) {
            Some(groups) => cases.push(Case { name: "this processor".into(), dtype, groups }),
            None => println!("this processor has no instruction for groups of {dtype}: only the model is tested"),
        }
    }
    cases
}

/// The memory layout of a matrix.
#[derive(Debug, Clone, Copy)]
enum Lie {
    Rows,
    Columns,
    /// Every second element of rows, with a gap between rows.
    Apart,
    Backwards,
    /// All rows are one.
    SameRows,
    /// From an odd offset on, with rows of odd length.
    Odd,
    /// From an odd offset on, with columns of odd length.
    OddColumns,
}
use Lie::*;

/// A matrix for each index of a batch, and its values.
struct Matrix {
    operand: Operand,
    values: Vec<i64>,
}

impl Matrix {
    fn new(dtype: Dtype, batch: &[i64], rows: i64, cols: i64, lie: Lie, seed: u64) -> Matrix {
        let (row, col, first, each) = match lie {
            Rows => (cols, 1, 0, rows * cols),
            Columns => (1, rows, 0, rows * cols),
            Apart => (2 * cols + 2, 2, 4, rows * (2 * cols + 2)),
            Backwards => (-cols, -1, rows * cols - 1, rows * cols),
            SameRows => (0, 1, 0, cols),
            Odd => (cols | 1, 1, 1, rows * (cols | 1)),
            OddColumns => (1, rows | 1, 1, cols * (rows | 1)),
        };
        let count: i64 = batch.iter().product();
        let len = count * each + 8;
        let (mut shape, mut strides) = (Dims::from(batch), Dims::new());
        for d in 0..batch.len() {
            strides.push(each * batch[d + 1..].iter().product::<i64>());
        }
        shape.extend_from_slice(&[rows, cols]);
        strides.extend_from_slice(&[row, col]);
        let storage = Storage::on_host(dtype, len).unwrap();
        let mut state = seed;
        let values: Vec<i64> = (0..len)
            .map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let word = (state >> 33) as i64;
                // SAFETY: the storage has `len` elements of the dtype.
                unsafe {
                    let at = storage.data().add(i as usize * dtype.size());
                    match dtype {
                        Dtype::Int8 => at.cast::<i8>().write(word as i8),
                        Dtype::Uint8 => at.write(word as u8),
                        Dtype::Int16 => at.cast::<i16>().write(word as i16),
                        Dtype::Bfloat16 => at.cast::<bf16>().write(bf16::from_f32((word % 9 - 4) as f32)),
                        Dtype::Float16 => at.cast::<f16>().write(f16::from_f32((word % 9 - 4) as f32)),
                        Dtype::Int32 => at.cast::<i32>().write((word % 9 - 4) as i32),
                        _ => at.cast::<f32>().write((word % 9 - 4) as f32),
                    }
                }
                match dtype {
                    Dtype::Int8 => (word as i8).into(),
                    Dtype::Uint8 => (word as u8).into(),
                    Dtype::Int16 => (word as i16).into(),
                    _ => word % 9 - 4,
                }
            })
            .collect();
        Matrix { operand: Operand::inside(storage, dtype, Layout { shape, strides, offset: first }), values }
    }

    fn index(&self, batch: i64, row: i64, col: i64) -> usize {
        let l = self.operand.layout();
        let d = l.ndim() - 2;
        let matrix = if d == 0 || batch >= l.shape[..d].iter().product() { 0 } else { batch * l.strides[d - 1] };
        (l.offset + matrix + row * l.strides[d] + col * l.strides[d + 1]) as usize
    }

    fn at(&self, batch: i64, row: i64, col: i64) -> i64 {
        self.values[self.index(batch, row, col)]
    }

    /// Returns all elements of the storage, which has sums.
    fn stored(&self) -> Vec<i64> {
        let first = self.operand.first().wrapping_sub(self.operand.layout().offset as usize * 4);
        (0..self.values.len())
            .map(|i| {
                // SAFETY: the storage has as many elements as values.
                unsafe {
                    match self.operand.dtype {
                        Dtype::Int32 => first.cast::<i32>().add(i).read().into(),
                        _ => first.cast::<f32>().add(i).read() as i64,
                    }
                }
            })
            .collect()
    }
}

/// Compares `c = beta * c + alpha * (a @ b)` with one sum after the other. All sums of floats are exact.
fn check(case: &Case, [m, n, k]: [i64; 3], [lc, la, lb]: [Lie; 3], batch: Option<i64>, (beta, alpha): (i64, i64)) {
    let of_c: Dims = batch.iter().copied().collect();
    let a = Matrix::new(case.dtype, &of_c, m, k, la, 1);
    // One matrix on the right serves the whole batch.
    let b = Matrix::new(case.dtype, &[], k, n, lb, 2);
    let c = Matrix::new(case.groups.dtype(), &of_c, m, n, lc, 3);
    let mut expected = c.values.clone();
    for i in 0..batch.unwrap_or(1) {
        for row in 0..m {
            for col in 0..n {
                let sum: i64 = (0..k).map(|d| a.at(i, row, d) * b.at(0, d, col)).sum();
                let value = beta * c.at(i, row, col) + alpha * sum;
                expected[c.index(i, row, col)] = if case.groups.dtype() == Dtype::Int32 { (value as i32).into() } else { value };
            }
        }
    }
    let work = Matmul { beta: Scalar::Int(beta), alpha: Scalar::Int(alpha), dims: DIMS, batch: &of_c };
    let addend = (beta != 0).then_some(&c.operand);
    launch_by(Some(case.groups), &work, &c.operand, [&a.operand, &b.operand], addend).unwrap();
    assert!(c.stored() == expected, "{} of {}: {m} x {n} x {k}, C {lc:?}, A {la:?}, B {lb:?}, {batch:?}", case.name, case.dtype);
}

#[test]
fn every_edge() {
    for case in cases() {
        for m in [2, 16, 17, 32, 33, 49] {
            for n in [2, 5, 8, 16, 17, 33, 47] {
                for k in [1, 32, 65] {
                    check(&case, [m, n, k], [Rows; 3], None, (0, 1));
                }
            }
        }
    }
}

#[test]
fn every_layout() {
    for case in cases() {
        for la in [Rows, Columns, Apart, Backwards, SameRows, Odd, OddColumns] {
            for lb in [Rows, Columns, Apart, Backwards, SameRows, Odd, OddColumns] {
                for (lc, k) in [(Rows, 64), (Columns, 70), (Apart, 7), (Odd, 128)] {
                    check(&case, [35, 37, k], [lc, la, lb], None, (1, 1));
                }
                // Enough rows and groups for tiles that are transposed.
                check(&case, [70, 18, 140], [Rows, la, lb], None, (0, 1));
            }
        }
    }
}

#[test]
fn factors_and_batches() {
    for case in cases() {
        for factors in [(0, 0), (2, 0), (1, 1), (-1, 2), (0, 3), (3, -1)] {
            check(&case, [18, 34, 33], [Rows; 3], None, factors);
            check(&case, [5, 40, 64], [Columns, Columns, Columns], Some(3), factors);
            check(&case, [33, 16, 20], [Rows, Odd, Rows], Some(2), factors);
        }
    }
}

#[test]
fn several_steps_of_the_depth_and_several_parts() {
    for case in cases() {
        for layouts in [[Rows, Rows, Rows], [Rows, Columns, Columns], [Columns, Odd, Apart]] {
            check(&case, [130, 75, 1100], layouts, None, (1, 1));
            check(&case, [40, 150, 1700], layouts, None, (0, 1));
        }
    }
}

/// Sums of floats that are rounded must not depend on how the product is divided.
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (rows, cols, depth) = (200, 333, 400);
    let word = |i: usize| {
        let half = |i: usize| u32::from(bf16::from_f32((i * 7919 % 1013) as f32 / 512.0 - 1.0).to_bits());
        f32::from_bits(half(i) | half(3 * i + 1) << 16)
    };
    let (mut a, mut b): (Vec<f32>, Vec<f32>) = ((0..rows * depth).map(word).collect(), (5..5 + cols * depth).map(word).collect());
    let mat = |data: &mut [f32], rows, cols: usize| Mat { data: data.as_mut_ptr(), rows, cols, row_stride: cols as isize, col_stride: 1 };
    let Kernel::Float(kernel) = model::kernel(Dtype::Bfloat16) else { unreachable!("the sums are floats") };
    let mut results = [1, 2, 3, 7, 16].map(|threads| {
        let mut c = vec![0.5f32; rows * cols];
        let (of_a, of_b) = (mat(&mut a, rows, depth), mat(&mut b, depth, cols));
        let product = Product { kernel, beta: 0.3, c: mat(&mut c, rows, cols), alpha: 0.7, a: of_a, b: of_b };
        // SAFETY: the vectors hold the matrices.
        unsafe { product.parts(1 << 26, threads) };
        c.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
    });
    let first = results[0].clone();
    assert!(results.iter_mut().all(|result| *result == first));
}

/// The error of each sum is at most the bound for sums of float32 in any order.
#[test]
fn sums_of_bfloat16_are_float32() {
    let (m, n, k) = (20, 21, 700);
    let value = |i: usize| bf16::from_f32((i * 7919 % 1013) as f32 / 512.0 - 1.0);
    let numbers = |seed: usize, len: usize| (0..len).map(|i| value(i + seed)).collect::<Vec<bf16>>();
    let (mut a, mut b) = (numbers(1, m * k), numbers(2, k * n));
    let mut c = vec![0f32; m * n];
    let of = |data: *mut u8, dtype, rows: usize, cols: usize| {
        // SAFETY: the vectors hold the elements.
        unsafe { Operand::of_memory(data, dtype, Layout::contiguous(&[rows as i64, cols as i64])) }
    };
    let operands = [of(a.as_mut_ptr().cast(), Dtype::Bfloat16, m, k), of(b.as_mut_ptr().cast(), Dtype::Bfloat16, k, n)];
    let of_c = of(c.as_mut_ptr().cast(), Dtype::Float32, m, n);
    let groups = Groups { kernel: model::kernel(Dtype::Bfloat16), count: 2 };
    let work = Matmul { beta: Scalar::Int(0), alpha: Scalar::Int(1), dims: DIMS, batch: &[] };
    launch_by(Some(groups), &work, &of_c, operands.each_ref(), None).unwrap();
    for i in 0..m {
        for j in 0..n {
            let products = || (0..k).map(|d| f64::from(a[i * k + d]) * f64::from(b[d * n + j]));
            let (sum, size): (f64, f64) = (products().sum(), products().map(f64::abs).sum());
            let error = (f64::from(c[i * n + j]) - sum).abs();
            assert!(error <= size * k as f64 * f64::from(f32::EPSILON) / 2.0, "{i}, {j}: {error}");
        }
    }
}
