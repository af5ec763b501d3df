//! Single elements in memory.

use crate::dtype::{Bool, Dtype, Element};
use crate::scalar::Scalar;

/// The value of an element in memory.
///
/// # Safety
/// `at` must be readable for one element.
pub unsafe fn read_element(at: *const u8, dtype: Dtype) -> Scalar {
    // SAFETY: the caller guarantees that `at` points to an element.
    unsafe {
        match dtype {
            Dtype::Float16 => Scalar::Float(half::f16::from_bits(at.cast::<u16>().read_unaligned()).to_f64()),
            Dtype::Bfloat16 => Scalar::Float(half::bf16::from_bits(at.cast::<u16>().read_unaligned()).to_f64()),
            Dtype::Float32 => Scalar::Float(at.cast::<f32>().read_unaligned().into()),
            Dtype::Float64 => Scalar::Float(at.cast::<f64>().read_unaligned()),
            Dtype::Uint8 => Scalar::Int(at.read().into()),
            Dtype::Int8 => Scalar::Int(at.cast::<i8>().read().into()),
            Dtype::Int16 => Scalar::Int(at.cast::<i16>().read_unaligned().into()),
            Dtype::Int32 => Scalar::Int(at.cast::<i32>().read_unaligned().into()),
            Dtype::Int64 => Scalar::Int(at.cast::<i64>().read_unaligned()),
            Dtype::Bool => Scalar::Int(Bool(at.read()).to_i64()),
        }
    }
}

/// Stores `value` as an element of `dtype`.
///
/// # Safety
/// `at` must be writable for one element.
pub unsafe fn write_element(at: *mut u8, dtype: Dtype, value: Scalar) {
    // SAFETY: the caller guarantees that `at` points to an element.
    unsafe {
        match dtype {
            // The crate's conversion from f64 rounds twice. Rounding to odd in float32 first gives the result of one rounding.
            Dtype::Float16 | Dtype::Bfloat16 => {
                let single = cut_to_odd(value.to_f64());
                let bits =
                    if dtype == Dtype::Float16 { half::f16::from_f32(single).to_bits() } else { half::bf16::from_f32(single).to_bits() };
                at.cast::<u16>().write_unaligned(bits)
            }
            Dtype::Float32 => at.cast::<f32>().write_unaligned(Element::from_scalar(value)),
            Dtype::Float64 => at.cast::<f64>().write_unaligned(Element::from_scalar(value)),
            Dtype::Uint8 => at.write(Element::from_scalar(value)),
            Dtype::Int8 => at.cast::<i8>().write(Element::from_scalar(value)),
            Dtype::Int16 => at.cast::<i16>().write_unaligned(Element::from_scalar(value)),
            Dtype::Int32 => at.cast::<i32>().write_unaligned(Element::from_scalar(value)),
            Dtype::Int64 => at.cast::<i64>().write_unaligned(Element::from_scalar(value)),
            Dtype::Bool => at.write(<Bool as Element>::from_scalar(value).0),
        }
    }
}

/// `x` rounded to odd at 14 significant bits. These are more than either 16-bit float has, and few enough that subnormal float32 numbers
/// keep all bits that matter.
#[inline(always)]
pub fn cut_to_odd(x: f64) -> f32 {
    const KEPT: u32 = 14;
    const LOST: u64 = (1 << (f64::MANTISSA_DIGITS - KEPT)) - 1;
    let bits = x.to_bits();
    f64::from_bits(bits & !LOST | if bits & LOST != 0 { LOST + 1 } else { 0 }) as f32
}

/// The bits of `value` as an element of `dtype`, in the first bytes in memory order.
pub fn bits(dtype: Dtype, value: Scalar) -> u64 {
    let mut bits = 0u64;
    // SAFETY: eight bytes hold an element of any dtype.
    unsafe { write_element((&raw mut bits).cast(), dtype, value) };
    bits
}

/// `value` rounded to `dtype`.
pub fn rounded(dtype: Dtype, value: Scalar) -> Scalar {
    let bits = bits(dtype, value);
    // SAFETY: eight bytes hold an element of any dtype.
    unsafe { read_element((&raw const bits).cast(), dtype) }
}
