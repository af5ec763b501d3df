//! The texts of tensors through the C API: some hundred texts of PyTorch, which `scripts/print_expectations.py` writes, and Torch7's texts,
//! from its documents and by its rules.

use serde_json::Value;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use thorn::capi::by_hand::errors::THGetLastError;
use thorn::capi::by_hand::{handles::THTensor_free, storages::THStorage_free};
use thorn::capi::functions::heap::THFree;
use thorn::capi::functions::print::{THPrintOptions_init, THStorage_toString, THTensor_toString};
use thorn::capi::functions::storage::{newWithSize, set};
use thorn::capi::functions::{handles::new as THTensor_new, making::newFromBlob};
use thorn::dtype::{Dtype, TH_FLOAT64, TH_INT64};
use thorn::print::{TH_PRINT_TORCH7, THPrintOptions};

fn standard() -> THPrintOptions {
    // SAFETY: the pointers are to integers, which the call sets.
    unsafe {
        let mut options = std::mem::zeroed();
        assert_eq!(THPrintOptions_init(&mut options), 0);
        options
    }
}

fn torch7() -> THPrintOptions {
    THPrintOptions { layout: TH_PRINT_TORCH7, ..standard() }
}

/// Converts the library's string to a Rust string and frees it. NULL gives the message of the last error.
fn taken(text: *mut c_char) -> Result<String, String> {
    // SAFETY: both are C strings, and the caller owns the text.
    unsafe {
        if text.is_null() {
            return Err(CStr::from_ptr(THGetLastError()).to_string_lossy().into_owned());
        }
        let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
        THFree(text.cast());
        Ok(owned)
    }
}

/// Tensors over the test's memory.
struct Elements {
    dtype: Dtype,
    shape: Vec<i64>,
    /// The row-major elements, which a larger tensor repeats.
    bytes: Vec<u8>,
}

impl Elements {
    /// The text of the tensor with these strides, in a storage of `span` elements.
    fn printed(&self, strides: &[i64], span: i64, options: &THPrintOptions) -> String {
        let size = self.dtype.size();
        let mut memory = vec![0x5au8; span.max(1) as usize * size];
        let mut index = vec![0; self.shape.len()];
        for k in 0..self.shape.iter().product::<i64>() as usize {
            let at = index.iter().zip(strides).map(|(i, stride)| i * stride).sum::<i64>() as usize * size;
            let from = k * size % self.bytes.len();
            memory[at..at + size].copy_from_slice(&self.bytes[from..from + size]);
            for d in (0..index.len()).rev() {
                index[d] = (index[d] + 1) % self.shape[d];
                if index[d] > 0 {
                    break;
                }
            }
        }
        // SAFETY: the memory lives until the tensor is freed.
        unsafe {
            let data = memory.as_mut_ptr().cast::<c_void>();
            let (shape, strides) = (self.shape.as_ptr(), strides.as_ptr());
            let t = newFromBlob(self.dtype.code(), self.shape.len() as c_int, shape, strides, data, None, null_mut());
            let text = taken(THTensor_toString(t, options));
            THTensor_free(t);
            text.unwrap_or_else(|message| panic!("{message}"))
        }
    }

    /// The text, which must be the same for every layout: row-major, the first dimension contiguous, and with gaps.
    fn printed_in_every_layout(&self, options: &THPrintOptions) -> String {
        let n = self.shape.len();
        let numel = self.shape.iter().product::<i64>();
        let strides_of = |order: &mut dyn Iterator<Item = usize>, mut step: i64| {
            let mut strides = vec![0; n];
            for d in order {
                strides[d] = step;
                step *= self.shape[d].max(1);
            }
            strides
        };
        let text = self.printed(&strides_of(&mut (0..n).rev(), 1), numel, options);
        assert_eq!(self.printed(&strides_of(&mut (0..n), 1), numel, options), text, "transposed");
        assert_eq!(self.printed(&strides_of(&mut (0..n).rev(), 3), 3 * numel, options), text, "with gaps");
        text
    }
}

fn list(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|x| x.as_i64().expect("an integer")).collect()
}

#[test]
fn tensors_read_as_in_pytorch() {
    let mut count = 0;
    for (number, line) in include_str!("data/print_expectations.jsonl").lines().enumerate() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let name = case["dtype"].as_str().expect("a name");
        let dtype = *Dtype::ALL.iter().find(|dtype| dtype.name() == name).expect("a dtype");
        let hex = case["values"].as_str().expect("bytes");
        let bytes = (0..hex.len() / 2).map(|k| u8::from_str_radix(&hex[2 * k..2 * k + 2], 16).expect("hexadecimal")).collect();
        let mut options = standard();
        for (name, value) in case["options"].as_object().expect("options") {
            let value = value.as_i64().expect("an integer");
            match name.as_str() {
                "precision" => options.precision = value as i32,
                "threshold" => options.threshold = value,
                "edgeItems" => options.edgeItems = value,
                "lineWidth" => options.lineWidth = value,
                "sciMode" => options.sciMode = value as i32,
                other => panic!("{other} is no option"),
            }
        }
        let elements = Elements { dtype, shape: list(&case["shape"]), bytes };
        let text = elements.printed_in_every_layout(&options);
        assert_eq!(text, case["text"].as_str().expect("a text"), "case {number}, {name} of {:?}, {options:?}", elements.shape);
        count += 1;
    }
    assert!(count >= 500, "only {count} cases");
}

/// A float64 tensor that repeats these elements.
fn doubles(shape: &[i64], values: &[f64]) -> Elements {
    Elements { dtype: Dtype::Float64, shape: shape.to_vec(), bytes: values.iter().flat_map(|x| x.to_ne_bytes()).collect() }
}

fn counted(shape: &[i64]) -> Elements {
    doubles(shape, &(1..=shape.iter().product::<i64>()).map(|k| k as f64).collect::<Vec<_>>())
}

fn in_torch7(elements: &Elements) -> String {
    elements.printed_in_every_layout(&torch7())
}

/// The prints of the Torch7 tensor documentation. Its older prints have "of dimension"; its later prints, and thorn's, have "of size".
#[test]
#[expect(clippy::approx_constant, reason = "3.14 is what the documents print")]
fn the_prints_of_torch7s_documents() {
    let columns = "  1   2   3   4   5\n  6   7   8   9  10\n 11  12  13  14  15\n 16  17  18  19  20\n[torch.DoubleTensor of size 4x5]";
    assert_eq!(in_torch7(&counted(&[4, 5])), columns);
    assert_eq!(in_torch7(&counted(&[3, 3])), " 1  2  3\n 4  5  6\n 7  8  9\n[torch.DoubleTensor of size 3x3]");
    assert_eq!(in_torch7(&counted(&[3])), " 1\n 2\n 3\n[torch.DoubleTensor of size 3]");
    let row = " 3.1400  3.1400  3.1400  3.1400  3.1400\n";
    assert_eq!(in_torch7(&doubles(&[2, 5], &[3.14])), format!("{row}{row}[torch.DoubleTensor of size 2x5]"));
    assert_eq!(in_torch7(&doubles(&[3], &[3.14])), " 3.1400\n 3.1400\n 3.1400\n[torch.DoubleTensor of size 3]");
    let x = [0.7160, 0.6514, 0.0704, 0.7856, 0.7452];
    assert_eq!(in_torch7(&doubles(&[5], &x)), " 0.7160\n 0.6514\n 0.0704\n 0.7856\n 0.7452\n[torch.DoubleTensor of size 5]");
    let row = " 0.7160  0.6514  0.0704  0.7856  0.7452  0.7160  0.6514  0.0704  0.7856  0.7452\n";
    assert_eq!(in_torch7(&doubles(&[3, 10], &x)), format!("{row}{row}{row}[torch.DoubleTensor of size 3x10]"));
    let slice = "  0.7160  0.6514  0.0704  0.7856  0.7452\n  0.7160  0.6514  0.0704  0.7856  0.7452\n";
    let slices = format!("(1,.,.) = \n{slice}\n(2,.,.) = \n{slice}\n(3,.,.) = \n{slice}[torch.DoubleTensor of size 3x2x5]");
    assert_eq!(in_torch7(&doubles(&[3, 2, 5], &x)), slices);
    // The document's tensor of size 2x1x2x1x2. The first index varies fastest.
    let x = [0.6020, 0.8897, 0.4441, 0.9792, 0.4713, 0.2645, 0.5467, 0.8648];
    let first = "(1,1,1,.,.) = \n  0.6020  0.8897\n\n(2,1,1,.,.) = \n  0.4713  0.2645\n\n";
    let second = "(1,1,2,.,.) = \n  0.4441  0.9792\n\n(2,1,2,.,.) = \n  0.5467  0.8648\n";
    assert_eq!(in_torch7(&doubles(&[2, 1, 2, 1, 2], &x)), format!("{first}{second}[torch.DoubleTensor of size 2x1x2x1x2]"));
    let x = [-2.1742, 0.5688, -1.0201, 0.1383, 1.0504, 0.0970];
    assert_eq!(in_torch7(&doubles(&[2, 3], &x)), "-2.1742  0.5688 -1.0201\n 0.1383  1.0504  0.0970\n[torch.DoubleTensor of size 2x3]");
}

#[test]
fn numbers_in_torch7s_layout() {
    let last = "[torch.DoubleTensor of size 2]";
    let shown = |x: f64, y: f64| in_torch7(&doubles(&[2], &[x, y]));
    // Integers, up to nine digits.
    assert_eq!(shown(-123.0, 0.0), format!("-123\n   0\n{last}"));
    assert_eq!(shown(999_999_999.0, -0.0), format!(" 999999999\n         0\n{last}"));
    assert_eq!(shown(1e9, -5.0), format!(" 1.0000e+09\n-5.0000e+00\n{last}"));
    assert_eq!(shown(f64::INFINITY, -1.0), format!("        inf\n-1.0000e+00\n{last}"));
    // Up to five digits before the point are printed. Larger numbers, and numbers below a tenth, get a common factor.
    assert_eq!(shown(12345.5, 10.0), format!(" 12345.5000\n    10.0000\n{last}"));
    assert_eq!(shown(123456.5, 100.0), format!("100000 *\n 1.2346\n 0.0010\n{last}"));
    assert_eq!(shown(1234567.5, 1000.0), format!("1e+06 *\n 1.2346\n 0.0010\n{last}"));
    assert_eq!(shown(0.05, 0.025), format!("0.01 *\n 5.0000\n 2.5000\n{last}"));
    assert_eq!(shown(0.000012, 0.000034), format!("1e-05 *\n 1.2000\n 3.4000\n{last}"));
    assert_eq!(shown(0.5, 0.25), format!(" 0.5000\n 0.2500\n{last}"));
    // The exponent is printed if the largest and the smallest number differ by more than four digits. 0 counts as 1.
    assert_eq!(shown(12345.5, 0.05), format!(" 1.2346e+04\n 5.0000e-02\n{last}"));
    assert_eq!(shown(12345.5, 0.0), format!(" 12345.5000\n     0.0000\n{last}"));
    assert_eq!(shown(1e-120, 2.5), format!(" 1.0000e-120\n  2.5000e+00\n{last}"));
    // With NaN, all numbers are printed by `%f`, without a column width and on one line.
    assert_eq!(shown(f64::NAN, 1.5), format!("nan\n1.500000\n{last}"));
    let long = in_torch7(&doubles(&[1, 40], &[f64::NAN]));
    assert_eq!(long, format!("{}nan\n[torch.DoubleTensor of size 1x40]", "nan ".repeat(39)));
    // The common factor of these numbers would exceed float64.
    assert_eq!(shown(5e-324, 1e-323), format!(" 4.9407e-324\n 9.8813e-324\n{last}"));
}

#[test]
fn wide_matrices_in_torch7s_layout() {
    let wide = in_torch7(&counted(&[2, 30]));
    let rows = |from: i64, to: i64| {
        let row = |start: i64| (from..=to).map(|k| format!("{:3}", start + k)).collect::<Vec<_>>().join(" ");
        format!("{}\n{}\n", row(0), row(30))
    };
    let expected = format!("Columns 1 to 20\n{}\nColumns 21 to 30\n{}[torch.DoubleTensor of size 2x30]", rows(1, 20), rows(21, 30));
    assert_eq!(wide, expected);
    // Below an index the columns are one character further right, and with a factor one more.
    let small = doubles(&[1, 1, 11], &[0.015]);
    let numbers = |n: usize| vec![" 1.5000"; n].join(" ");
    let first = format!("(1,.,.) = \n Columns 1 to 9\n 0.01 *\n  {}\n", numbers(9));
    let second = format!("\nColumns 10 to 11\n 0.01 *\n  {}\n[torch.DoubleTensor of size 1x1x11]", numbers(2));
    assert_eq!(in_torch7(&small), first + &second);
    assert_eq!(in_torch7(&doubles(&[2, 1], &[0.015])), "0.01 *\n  1.5000\n  1.5000\n[torch.DoubleTensor of size 2x1]");
}

#[test]
fn dtypes_and_options_in_torch7s_layout() {
    for (dtype, name) in Dtype::ALL.iter().zip(["Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "Bool"]) {
        let zeros = Elements { dtype: *dtype, shape: vec![2, 1], bytes: vec![0; dtype.size()] };
        assert_eq!(in_torch7(&zeros), format!(" 0\n 0\n[torch.{name}Tensor of size 2x1]"));
    }
    let narrow = THPrintOptions { precision: 1, lineWidth: 9, ..torch7() };
    let text = doubles(&[1, 3], &[1.25, 2.5, -3.75]).printed_in_every_layout(&narrow);
    let columns = "Columns 1 to 1\n 1.2\n\nColumns 2 to 2\n 2.5\n\nColumns 3 to 3\n-3.8\n";
    assert_eq!(text, format!("{columns}[torch.DoubleTensor of size 1x3]"));
}

#[test]
fn what_has_no_elements_in_torch7s_layout() {
    assert_eq!(in_torch7(&doubles(&[], &[2.5])), " 2.5000\n[torch.DoubleTensor with no dimension]");
    for shape in [&[0][..], &[0, 3], &[3, 0], &[2, 0, 3], &[0, 100, 100]] {
        let sizes = shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
        assert_eq!(in_torch7(&doubles(shape, &[1.0])), format!("[torch.DoubleTensor of size {sizes}]"));
    }
    // SAFETY: the handle is live, and freed below.
    unsafe {
        let fresh = THTensor_new();
        assert_eq!(taken(THTensor_toString(fresh, &torch7())).as_deref(), Ok("[torch.FloatTensor with no dimension]"));
        assert_eq!(taken(THTensor_toString(fresh, null())).as_deref(), Ok("tensor([])"));
        THTensor_free(fresh);
    }
}

#[test]
fn storages_have_an_element_a_line() {
    // SAFETY: the storages are live, and freed below.
    unsafe {
        let s = newWithSize(TH_INT64, 6);
        [4.0, 5.0, 6.0, 2.0, 7.0, 3.0].iter().enumerate().for_each(|(k, &x)| assert_eq!(set(s, k as isize, x), 0));
        assert_eq!(taken(THStorage_toString(s, null())).as_deref(), Ok(" 4\n 5\n 6\n 2\n 7\n 3\n[torch.LongStorage of size 6]"));
        THStorage_free(s);
        let s = newWithSize(TH_FLOAT64, 2);
        [0.05, 0.001].iter().enumerate().for_each(|(k, &x)| assert_eq!(set(s, k as isize, x), 0));
        let two = THPrintOptions { precision: 2, ..standard() };
        assert_eq!(taken(THStorage_toString(s, &two)).as_deref(), Ok("0.01 *\n 5.00\n 0.10\n[torch.DoubleStorage of size 2]"));
        THStorage_free(s);
        let none = newWithSize(TH_FLOAT64, 0);
        assert_eq!(taken(THStorage_toString(none, null())).as_deref(), Ok("[torch.DoubleStorage of size 0]"));
        THStorage_free(none);
    }
}
