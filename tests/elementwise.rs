//! Elementwise operations and reductions over dtypes x layouts, compared with loops over indices in plain arithmetic.

use thorn::dtype::{Category, Dtype};
use thorn::layout::{Layout, TH_CONTIGUOUS_FORMAT};
use thorn::ops::{copy, create, pointwise, reduce, view};
use thorn::scalar::Scalar;
use thorn::tensor::Tensor;

/// A small generator. Each failure names the seed that repeats it.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}

/// The memory layouts of operands.
const LAYOUTS: [&str; 6] = ["contiguous", "transposed", "stepped", "offset", "row broadcast", "column broadcast"];

/// A tensor of `shape` (two dims) with small whole values, in a layout.
fn operand(dice: &mut Dice, dtype: Dtype, shape: [i64; 2], layout: &str) -> Tensor {
    let [m, n] = shape;
    let size = match layout {
        "transposed" => [n, m],
        "stepped" => [m, 2 * n],
        "offset" => [m + 1, n + 3],
        "row broadcast" => [1, n],
        "column broadcast" => [m, 1],
        _ => [m, n],
    };
    let t = create::full(dtype, &size, Scalar::Int(0)).unwrap();
    for i in 0..size[0] {
        for j in 0..size[1] {
            let low = if matches!(dtype, Dtype::Uint8 | Dtype::Bool) { 0 } else { -5 };
            copy::set(&t, &[i, j], Scalar::Int(dice.roll(11) as i64 + low)).unwrap();
        }
    }
    let see = |change: &dyn Fn(&mut Layout) -> thorn::error::Result<()>| view::derive(&t, change).unwrap();
    match layout {
        "transposed" => see(&|l| l.t()),
        "stepped" => see(&|l| l.slice(1, 1, i64::MAX, 2)),
        "offset" => see(&|l| l.narrow(0, 1, m).and_then(|()| l.narrow(1, 2, n))),
        _ => t,
    }
}

/// The elements of `t` broadcast to `shape`, row-major.
fn values(t: &Tensor, shape: [i64; 2]) -> Vec<f64> {
    let size = t.layout().unwrap().shape;
    let pick = |i: i64, n: i64| if n == 1 { 0 } else { i };
    let at = |i, j| copy::get(t, &[pick(i, size[0]), pick(j, size[1])]).unwrap().to_f64();
    (0..shape[0]).flat_map(|i| (0..shape[1]).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect()
}

/// Returns the value of `x` in a tensor of `dtype`, for integers of at most three digits.
fn stored(x: f64, dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Bool => f64::from(x != 0.0),
        Dtype::Uint8 => f64::from(x as i64 as u8),
        Dtype::Int8 => f64::from(x as i64 as i8),
        _ => x,
    }
}

/// Calls `check` with two operands of every pair of dtypes, each in a random layout, at sizes around the engine's tiles.
fn for_all_pairs(seed: u64, check: impl Fn(&Tensor, &Tensor, [i64; 2], &str)) {
    let mut dice = Dice(seed);
    let shapes = [[3, 4], [1, 1], [17, 70], [70, 17], [2, 130], [40, 65]];
    for &a in Dtype::ALL {
        for &b in Dtype::ALL {
            let shape = shapes[dice.roll(6) as usize];
            let (x, y) = (LAYOUTS[dice.roll(4) as usize], LAYOUTS[dice.roll(6) as usize]);
            let (t, u) = (operand(&mut dice, a, shape, x), operand(&mut dice, b, shape, y));
            check(&t, &u, shape, &format!("{a} {x} with {b} {y}, shape {shape:?}, seed {seed}"));
        }
    }
}

#[test]
fn arithmetic_of_any_two_dtypes_in_any_layout() {
    for seed in 0..4 {
        for_all_pairs(seed, |a, b, shape, what| {
            let dtype = a.dtype().unwrap().promote(b.dtype().unwrap());
            let pairs = || values(a, shape).into_iter().zip(values(b, shape));
            let (sum, product) = (Tensor::fresh().unwrap(), Tensor::fresh().unwrap());
            pointwise::arithmetic::cadd(&sum, a, Scalar::Int(1), b).unwrap();
            pointwise::arithmetic::cmul.run([&product, a, b], &[]).unwrap();
            assert_eq!((sum.dtype(), product.dtype()), (Some(dtype), Some(dtype)), "{what}");
            assert_eq!(values(&sum, shape), pairs().map(|(x, y)| stored(x + y, dtype)).collect::<Vec<_>>(), "sum of {what}");
            assert_eq!(values(&product, shape), pairs().map(|(x, y)| stored(x * y, dtype)).collect::<Vec<_>>(), "product of {what}");
        });
    }
}

#[test]
fn comparison_of_any_two_dtypes_in_any_layout() {
    for_all_pairs(9, |a, b, shape, what| {
        let r = Tensor::fresh().unwrap();
        pointwise::compare::ltTensor.run([&r, a, b], &[]).unwrap();
        let want: Vec<f64> = values(a, shape).into_iter().zip(values(b, shape)).map(|(x, y)| f64::from(x < y)).collect();
        assert_eq!((r.dtype(), values(&r, shape)), (Some(Dtype::Bool), want), "{what}");
    });
}

#[test]
fn copy_converts_any_dtype_into_any_layout() {
    for_all_pairs(5, |to, from, shape, what| {
        let before = values(from, shape);
        copy::copy(to, from).unwrap();
        let dtype = to.dtype().unwrap();
        // Float conversions saturate where integer conversions wrap.
        let want = |x: f64| if from.dtype().unwrap().is_float() && dtype == Dtype::Uint8 { x.max(0.0) } else { stored(x, dtype) };
        assert_eq!(values(to, shape), before.into_iter().map(want).collect::<Vec<_>>(), "{what}");
    });
}

#[test]
fn results_go_into_any_layout_and_onto_their_inputs() {
    let mut dice = Dice(7);
    for layout in &LAYOUTS[..4] {
        let shape = [33, 70];
        let (r, b) = (operand(&mut dice, Dtype::Float32, shape, layout), operand(&mut dice, Dtype::Int16, shape, "transposed"));
        let want: Vec<f64> = values(&r, shape).iter().zip(values(&b, shape)).map(|(x, y)| x - 2.0 * y).collect();
        pointwise::arithmetic::csub(&r, &r, Scalar::Int(2), &b).unwrap();
        assert_eq!(values(&r, shape), want, "in place, {layout}");
    }
}

#[test]
fn results_that_overlap_an_input_in_part_are_as_if_it_had_been_copied() {
    let t = create::full(Dtype::Int32, &[1000], Scalar::Int(1)).unwrap();
    let part = |start| view::derive(&t, |l| l.narrow(0, start, 999)).unwrap();
    pointwise::arithmetic::cadd(&part(1), &part(0), Scalar::Int(1), &part(1)).unwrap();
    let got: Vec<f64> = (0..1000).map(|i| copy::get(&t, &[i]).unwrap().to_f64()).collect();
    assert_eq!(got[0], 1.0);
    assert!(got[1..].iter().all(|&x| x == 2.0));
}

#[test]
fn sums_and_extremes_over_either_dim_of_any_dtype_and_layout() {
    let mut dice = Dice(3);
    for &dtype in Dtype::ALL {
        for layout in &LAYOUTS[..4] {
            let shape = [37, 29];
            let t = operand(&mut dice, dtype, shape, layout);
            let all = values(&t, shape);
            for dim in 0..2 {
                let lines = shape[1 - dim as usize];
                let line = |k: i64| -> Vec<f64> {
                    (0..shape[dim as usize]).map(|i| all[if dim == 0 { i * 29 + k } else { k * 29 + i } as usize]).collect()
                };
                let (sum, max, at) = (Tensor::fresh().unwrap(), Tensor::fresh().unwrap(), Tensor::fresh().unwrap());
                reduce::sum(reduce::To::tensor(&sum, false), &t, reduce::Over::Dim(dim), None).unwrap();
                reduce::extreme_at(true, Some(&max), Some(&at), &t, dim, false).unwrap();
                let exact = if dtype.category() == Category::Float { dtype } else { Dtype::Int64 };
                assert_eq!((sum.dtype(), max.dtype(), at.dtype()), (Some(exact), Some(dtype), Some(Dtype::Int64)));
                for k in 0..lines {
                    let (line, get) = (line(k), |r: &Tensor| copy::get(r, &[k]).unwrap().to_f64());
                    let best = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let first = line.iter().position(|&x| x == best).unwrap() as f64;
                    assert_eq!(get(&sum), line.iter().sum::<f64>(), "sum of {dtype} {layout}, dim {dim}");
                    assert_eq!((get(&max), get(&at)), (best, first), "max of {dtype} {layout}, dim {dim}");
                }
            }
        }
    }
}

#[test]
fn long_sums_keep_their_digits() {
    let t = create::full(Dtype::Float32, &[10_000_000], Scalar::Float(0.1)).unwrap();
    let sum = reduce::number(|to| reduce::sum(to, &t, reduce::Over::Dims(&[]), None)).unwrap();
    let exact = 1e7 * f64::from(0.1f32);
    // A repeated value is the hard case, because every rounding errs in the same direction.
    assert!((sum / exact - 1.0).abs() < 1e-6, "{sum}");
}

#[test]
fn copies_of_large_transposed_matrices_are_exact() {
    for dtype in [Dtype::Uint8, Dtype::Int16, Dtype::Float32, Dtype::Float64] {
        let n = if dtype == Dtype::Float32 { 2100 } else { 600 };
        let t = create::full(Dtype::Int64, &[n, n], Scalar::Int(0)).unwrap();
        // SAFETY: `t` is a row-major int64 tensor of n x n elements.
        let data = unsafe { std::slice::from_raw_parts_mut(t.data().cast::<i64>(), (n * n) as usize) };
        data.iter_mut().enumerate().for_each(|(i, x)| *x = i as i64 % 119);
        let t = copy::to_dtype(&t, dtype).unwrap();
        let transposed = view::derive(&t, |l| l.t()).unwrap();
        let dense = copy::clone(&transposed, TH_CONTIGUOUS_FORMAT).unwrap();
        for (i, j) in [(0, 0), (1, 0), (n - 1, 3), (257, n - 1), (n / 2, n / 3)] {
            assert_eq!(copy::get(&dense, &[i, j]).unwrap().to_f64(), ((j * n + i) % 119) as f64, "{dtype}");
        }
        let difference = Tensor::fresh().unwrap();
        pointwise::compare::neTensor.run([&difference, &dense, &transposed], &[]).unwrap();
        assert_eq!(reduce::number(|to| reduce::sum(to, &difference, reduce::Over::Dims(&[]), None)).unwrap(), 0.0);
    }
}
