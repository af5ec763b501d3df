//! Conversion of a run of elements between any two dtypes.
//!
//! Floats to integers truncate and saturate, NaN becomes 0; a conversion to Bool is `x != 0`. Float64 and wide integers are converted to
//! 16-bit floats through a float32 rounded to odd, so that no value is rounded twice.

use super::half::{Bf16, F16, Half, narrow as narrow_run, widen as widen_run};
use super::simd::{Level, level, simd};
use super::truncate::{f32_halves_to_i64, f32_to_i64, f32_to_narrow, f64_halves_to_i64, f64_to_i64, f64_to_narrow};
use super::tuning::{CONVERT_SINGLY, COPY_BUFFERED};
use crate::dtype::{Bool, Category, Dtype, Element};
use crate::element::cut_to_odd;
use std::mem::MaybeUninit;

/// Converts `n` elements from `src` to `dst`; steps in bytes.
///
/// # Safety
/// Both sides must hold `n` elements at their steps and not overlap.
pub type Convert = unsafe fn(dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize);

/// The types whose values float32 represents exactly.
const EXACT: [Dtype; 5] = [Dtype::Uint8, Dtype::Int8, Dtype::Int16, Dtype::Bool, Dtype::Float32];

/// Returns the conversion from `src` to `dst`.
pub fn converter(dst: Dtype, src: Dtype) -> Convert {
    if dst == src {
        return move_elements(src.size());
    }
    macro_rules! from {
        ($S:ty) => {
            match dst {
                Dtype::Uint8 => run::<$S, u8>,
                Dtype::Int8 => run::<$S, i8>,
                Dtype::Int16 => run::<$S, i16>,
                Dtype::Int32 => run::<$S, i32>,
                Dtype::Int64 => run::<$S, i64>,
                Dtype::Float32 => run::<$S, f32>,
                Dtype::Float64 => run::<$S, f64>,
                Dtype::Bool => run::<$S, Bool>,
                Dtype::Float16 => narrow::<$S, F16>,
                Dtype::Bfloat16 => narrow::<$S, Bf16>,
            }
        };
    }
    macro_rules! widen_from {
        ($H:ty) => {
            match dst {
                Dtype::Uint8 => widen::<$H, u8>,
                Dtype::Int8 => widen::<$H, i8>,
                Dtype::Int16 => widen::<$H, i16>,
                Dtype::Int32 => widen::<$H, i32>,
                Dtype::Int64 => widen::<$H, i64>,
                Dtype::Float32 => widen::<$H, f32>,
                Dtype::Float64 => widen::<$H, f64>,
                Dtype::Bool => widen::<$H, Bool>,
                Dtype::Float16 => half_to_half::<$H, F16>,
                Dtype::Bfloat16 => half_to_half::<$H, Bf16>,
            }
        };
    }
    match src {
        Dtype::Uint8 => from!(u8),
        Dtype::Int8 => from!(i8),
        Dtype::Int16 => from!(i16),
        Dtype::Int32 => from!(i32),
        Dtype::Int64 => from!(i64),
        Dtype::Float32 => from!(f32),
        Dtype::Float64 => from!(f64),
        Dtype::Bool => from!(Bool),
        Dtype::Float16 => widen_from!(F16),
        Dtype::Bfloat16 => widen_from!(Bf16),
    }
}

/// Returns the function that copies elements of `size` bytes from one stride to another.
pub fn move_elements(size: usize) -> Convert {
    match size {
        1 => moves::<u8>,
        2 => moves::<u16>,
        4 => moves::<u32>,
        _ => moves::<u64>,
    }
}

unsafe fn moves<T: Copy>(dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize) {
    let size = size_of::<T>();
    // SAFETY: the caller keeps this function's contract. Reads and writes are unaligned, since foreign memory may be.
    unsafe {
        if dst_step == size as isize && src_step == dst_step {
            return std::ptr::copy_nonoverlapping(src, dst, n * size);
        }
        if dst_step == size as isize && src_step == 0 {
            let (dst, x) = (dst.cast::<T>(), src.cast::<T>().read_unaligned());
            return simd(
                #[inline(always)]
                move |_| (0..n).for_each(|i| dst.add(i).write_unaligned(x)),
            );
        }
        if dst_step == size as isize && src_step == 2 * dst_step {
            return gather_steps::<T, 2>(dst.cast::<T>(), src.cast::<T>(), n);
        }
        if dst_step == size as isize && src_step == -dst_step {
            return gather_steps::<T, -1>(dst.cast::<T>(), src.cast::<T>(), n);
        }
        let (mut to, mut from) = (dst, src);
        let whole = n / 4 * 4;
        // The compiler does not unroll a loop with unknown steps.
        for _ in (0..whole).step_by(4) {
            for i in 0..4 {
                to.wrapping_offset(i * dst_step)
                    .cast::<T>()
                    .write_unaligned(from.wrapping_offset(i * src_step).cast::<T>().read_unaligned());
            }
            (to, from) = (to.wrapping_offset(4 * dst_step), from.wrapping_offset(4 * src_step));
        }
        for i in whole as isize..n as isize {
            dst.offset(i * dst_step).cast::<T>().write_unaligned(src.offset(i * src_step).cast::<T>().read_unaligned());
        }
    }
}

/// `dst[i] = src[STEP * i]`. With a constant step the compiler loads whole vectors and picks the elements.
///
/// # Safety
/// `dst` must hold `n` elements, and `src` one at each `STEP * i`, of any alignment.
unsafe fn gather_steps<T: Copy, const STEP: isize>(dst: *mut T, src: *const T, n: usize) {
    // SAFETY: the caller keeps this function's contract.
    simd(
        #[inline(always)]
        move |_| (0..n).for_each(|i| unsafe { dst.add(i).write_unaligned(src.offset(STEP * i as isize).read_unaligned()) }),
    )
}

/// Returns `x` as `D`: the one place where a number changes its type.
#[inline(always)]
fn cast<S: Element, D: Element>(x: S) -> D {
    use Dtype::{Bool, Float32, Float64, Int64};
    // A path through 64-bit integers is needed for 64-bit sources only. Float64 represents every other value exactly.
    match (S::DTYPE, D::DTYPE) {
        (Int64, _) => D::from_i64(x.to_i64()),
        (Float32, Float32 | Float64 | Bool) => D::from_f32(x.to_f64() as f32),
        (Float32, Int64) => D::from_i64(f32_to_i64(x.to_f64() as f32)),
        (Float32, _) => f32_to_narrow(x.to_f64() as f32),
        (Float64, Float32 | Float64 | Bool) => D::from_f64(x.to_f64()),
        (Float64, Int64) => D::from_i64(f64_to_i64(x.to_f64())),
        (Float64, _) => f64_to_narrow(x.to_f64()),
        (_, Float32 | Float64 | Bool) => D::from_f64(x.to_f64()),
        _ => D::from_i64(x.to_i64()),
    }
}

/// `dst[i] = f(src[i])`
///
/// # Safety
/// Both sides hold `n` elements, of any alignment.
#[inline(always)]
unsafe fn each<S: Element, D: Element>(dst: *mut D, src: *const S, n: usize, f: impl Fn(S) -> D) {
    for i in 0..n {
        // SAFETY: the caller keeps this function's contract.
        unsafe { dst.add(i).write_unaligned(f(src.add(i).read_unaligned())) }
    }
}

/// Converts a run of contiguous elements.
///
/// # Safety
/// As for [`each`].
unsafe fn run_flat<S: Element, D: Element>(dst: *mut u8, src: *const u8, n: usize) {
    let (dst, src) = (dst.cast::<D>(), src.cast::<S>());
    let to_i64 = S::DTYPE.is_float() && D::DTYPE == Dtype::Int64;
    let halves = to_i64 && level() == Level::Avx2;
    let scalar = to_i64 && level() == Level::Baseline;
    let integers = [S::DTYPE, D::DTYPE].iter().all(|t| t.category() == Category::Integer);
    if integers && size_of::<S>() == 2 * size_of::<D>() && cfg!(target_endian = "little") {
        // SAFETY: the caller keeps this function's contract; the low halves of the source elements are the elements of the result.
        return unsafe { gather_steps::<D, 2>(dst, src.cast::<D>(), n) };
    }
    simd(
        #[inline(always)]
        move |_| unsafe {
            // SAFETY: the caller keeps this function's contract.
            if halves && S::DTYPE == Dtype::Float32 {
                each(
                    dst,
                    src,
                    n,
                    #[inline(always)]
                    |x: S| D::from_i64(f32_halves_to_i64(x.to_f64() as f32)),
                )
            } else if halves {
                each(
                    dst,
                    src,
                    n,
                    #[inline(always)]
                    |x: S| D::from_i64(f64_halves_to_i64(x.to_f64())),
                )
            } else if scalar {
                each(
                    dst,
                    src,
                    n,
                    #[inline(always)]
                    |x: S| D::from_i64(x.to_i64()),
                )
            } else {
                each(dst, src, n, cast)
            }
        },
    )
}

unsafe fn run<S: Element, D: Element>(dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize) {
    // SAFETY: the caller keeps this function's contract. Reads and writes are unaligned, since foreign memory may be.
    unsafe {
        if dst_step == size_of::<D>() as isize && src_step == size_of::<S>() as isize {
            return run_flat::<S, D>(dst, src, n);
        }
        if n >= CONVERT_SINGLY && dst_step == size_of::<D>() as isize {
            return gather(run_flat::<S, D>, [size_of::<D>(), size_of::<S>()], dst, src, src_step, n);
        }
        for i in 0..n as isize {
            let x = src.offset(i * src_step).cast::<S>().read_unaligned();
            dst.offset(i * dst_step).cast::<D>().write_unaligned(cast(x));
        }
    }
}

/// Converts a run with a strided source: gathers the elements, then converts them by `flat`. A single value is converted once.
///
/// # Safety
/// As for [`Convert`]; `flat` must convert contiguous elements of these sizes.
unsafe fn gather(
    flat: unsafe fn(*mut u8, *const u8, usize),
    [to, from]: [usize; 2],
    dst: *mut u8,
    src: *const u8,
    src_step: isize,
    n: usize,
) {
    let mut buffer = [MaybeUninit::<u64>::uninit(); COPY_BUFFERED];
    let (buffer, moves) = (buffer.as_mut_ptr().cast::<u8>(), move_elements(from));
    // SAFETY: the caller keeps this function's contract; the buffer has room for COPY_BUFFERED elements of any type.
    unsafe {
        if src_step == 0 {
            flat(buffer, src, 1);
            return move_elements(to)(dst, to as isize, buffer, 0, n);
        }
        chunks(n, |start, len| {
            moves(buffer, from as isize, src.offset(start as isize * src_step), src_step, len);
            flat(dst.add(start * to), buffer, len);
        });
    }
}

/// Calls `piece(start, length)` for pieces of at most COPY_BUFFERED elements.
#[inline(always)]
fn chunks(n: usize, mut piece: impl FnMut(usize, usize)) {
    for start in (0..n).step_by(COPY_BUFFERED) {
        piece(start, COPY_BUFFERED.min(n - start))
    }
}

unsafe fn widen<H: Half, D: Element>(dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize) {
    let (direct, contiguous) = (D::DTYPE == Dtype::Float32 && dst_step == 4, src_step == 2);
    if direct && contiguous {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { widen_run::<H>(dst.cast(), src.cast(), n) };
    }
    let mut halves = [MaybeUninit::<u16>::uninit(); COPY_BUFFERED];
    let mut floats = [MaybeUninit::<f32>::uninit(); COPY_BUFFERED];
    let (halves, floats) = (halves.as_mut_ptr().cast::<u16>(), floats.as_mut_ptr().cast::<f32>());
    chunks(n, |start, len| {
        // SAFETY: the buffers have room for COPY_BUFFERED elements, and the caller keeps this function's contract.
        unsafe {
            let (dst, src) = (dst.offset(start as isize * dst_step), src.offset(start as isize * src_step));
            let from = if contiguous {
                src.cast()
            } else {
                moves::<u16>(halves.cast(), 2, src, src_step, len);
                halves
            };
            if direct {
                widen_run::<H>(dst.cast(), from, len);
            } else {
                widen_run::<H>(floats, from, len);
                run::<f32, D>(dst, dst_step, floats.cast(), 4, len);
            }
        }
    });
}

unsafe fn narrow<S: Element, H: Half>(dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize) {
    let (direct, contiguous) = (S::DTYPE == Dtype::Float32 && src_step == 4, dst_step == 2);
    if direct && contiguous {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { narrow_run::<H>(dst.cast(), src.cast(), n) };
    }
    let mut halves = [MaybeUninit::<u16>::uninit(); COPY_BUFFERED];
    let mut floats = [MaybeUninit::<f32>::uninit(); COPY_BUFFERED];
    let (halves, floats) = (halves.as_mut_ptr().cast::<u16>(), floats.as_mut_ptr().cast::<f32>());
    chunks(n, |start, len| {
        // SAFETY: the buffers have room for COPY_BUFFERED elements, and the caller keeps this function's contract.
        unsafe {
            let (dst, src) = (dst.offset(start as isize * dst_step), src.offset(start as isize * src_step));
            let from = if direct {
                src.cast()
            } else if EXACT.contains(&S::DTYPE) {
                run::<S, f32>(floats.cast(), 4, src, src_step, len);
                floats
            } else {
                to_odd_f32::<S>(floats, src, src_step, len);
                floats
            };
            if contiguous {
                narrow_run::<H>(dst.cast(), from, len);
            } else {
                narrow_run::<H>(halves, from, len);
                moves::<u16>(dst, dst_step, halves.cast(), 2, len);
            }
        }
    });
}

unsafe fn half_to_half<S: Half, D: Half>(dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, n: usize) {
    let mut floats = [MaybeUninit::<f32>::uninit(); COPY_BUFFERED];
    let floats = floats.as_mut_ptr().cast::<f32>();
    chunks(n, |start, len| {
        // SAFETY: the buffer has room for COPY_BUFFERED elements, and the caller keeps this function's contract.
        unsafe {
            widen::<S, f32>(floats.cast(), 4, src.offset(start as isize * src_step), src_step, len);
            narrow::<f32, D>(dst.offset(start as isize * dst_step), dst_step, floats.cast(), 4, len);
        }
    });
}

/// Converts to float32, rounded to odd where digits are lost, so that a second rounding to 16 bits still knows on which side of a tie the
/// value was.
unsafe fn to_odd_f32<S: Element>(dst: *mut f32, src: *const u8, src_step: isize, n: usize) {
    let contiguous = src_step == size_of::<S>() as isize;
    // SAFETY: the caller keeps this function's contract.
    simd(
        #[inline(always)]
        move |_| unsafe {
            if contiguous {
                return each(dst, src.cast::<S>(), n, round_to_odd);
            }
            for i in 0..n {
                dst.add(i).write(round_to_odd(src.offset(i as isize * src_step).cast::<S>().read_unaligned()));
            }
        },
    )
}

#[inline(always)]
fn round_to_odd<S: Element>(x: S) -> f32 {
    match S::DTYPE {
        Dtype::Int32 => {
            let x = x.to_i64() as i32;
            (if x.unsigned_abs() < 1 << f32::MANTISSA_DIGITS { x } else { x & !0xff | i32::from(x & 0xff != 0) << 8 }) as f32
        }
        Dtype::Int64 => {
            let x = x.to_i64();
            let held = (x.wrapping_add(1 << 53) as u64) < 1 << 54;
            cut_to_odd((if held { x } else { x & !0xfff | i64::from(x & 0xfff != 0) << 12 }) as f64)
        }
        _ => cut_to_odd(x.to_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert<S: Copy, D: Copy + Default>(to: Dtype, from: Dtype, xs: &[S]) -> Vec<D> {
        let mut out = vec![D::default(); xs.len()];
        // SAFETY: both slices hold `xs.len()` elements of the given types.
        unsafe {
            converter(to, from)(out.as_mut_ptr().cast(), size_of::<D>() as isize, xs.as_ptr().cast(), size_of::<S>() as isize, xs.len())
        };
        out
    }

    #[test]
    fn floats_saturate_and_nan_is_zero() {
        let xs = [300.7f32, -1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.9];
        assert_eq!(convert::<_, u8>(Dtype::Uint8, Dtype::Float32, &xs), [255, 0, 0, 255, 0, 0]);
        assert_eq!(convert::<_, i32>(Dtype::Int32, Dtype::Float32, &xs), [300, -1, 0, i32::MAX, i32::MIN, 0]);
        assert_eq!(convert::<_, u8>(Dtype::Bool, Dtype::Float32, &[0.0f32, -0.0, 0.1, f32::NAN]), [0, 0, 1, 1]);
    }

    #[test]
    fn integers_wrap_and_keep_their_digits() {
        assert_eq!(convert::<_, u8>(Dtype::Uint8, Dtype::Int64, &[-1i64, 300]), [255, 44]);
        assert_eq!(convert::<_, i8>(Dtype::Int8, Dtype::Uint8, &[200u8]), [-56]);
        assert_eq!(convert::<_, i64>(Dtype::Int64, Dtype::Int32, &[i32::MIN]), [i64::from(i32::MIN)]);
        assert_eq!(convert::<_, u8>(Dtype::Bool, Dtype::Int64, &[1i64 << 40, 0]), [1, 0]);
        assert_eq!(convert::<_, i64>(Dtype::Int64, Dtype::Bool, &[7u8, 0]), [1, 0]);
    }

    #[test]
    fn sixteen_bit_floats_are_rounded_once() {
        // 1 + 2^-11 + 2^-40 is just above the middle of two halves. Through a float32 rounded to nearest it would become the middle and
        // round to even.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(convert::<_, u16>(Dtype::Float16, Dtype::Float64, &[x, 65536.0, f64::NAN]), [0x3c01, 0x7c00, 0x7e00]);
        assert_eq!(convert::<_, f64>(Dtype::Float64, Dtype::Float16, &[0x3c01u16]), [1.0 + 2f64.powi(-10)]);
        assert_eq!(convert::<_, u16>(Dtype::Bfloat16, Dtype::Float16, &[0x3c00u16]), [0x3f80]);
        assert_eq!(convert::<_, i16>(Dtype::Int16, Dtype::Bfloat16, &[0xc040u16]), [-3]);
    }

    #[test]
    fn sixteen_bit_floats_of_any_size_are_rounded_once() {
        // Values below, on and above the middle of two subnormal bfloat16 numbers, of which the smallest is 2^-133.
        let half = 2f64.powi(-134);
        let xs = [half.next_down(), half, half.next_up(), (3.0 * half).next_down(), 3.0 * half, -3.0 * half, f64::MAX, f64::NEG_INFINITY];
        assert_eq!(convert::<_, u16>(Dtype::Bfloat16, Dtype::Float64, &xs), [0, 0, 1, 1, 2, 0x8002, 0x7f80, 0xff80]);
        // A value just above the middle of 2^62 and its neighbour. Float64 represents only the middle.
        let x = (1i64 << 62) + (1 << 54);
        assert_eq!(convert::<_, u16>(Dtype::Bfloat16, Dtype::Int64, &[x, x + 1, -x - 1]), [0x5e80, 0x5e81, 0xde81]);
        let x = (1i32 << 30) + (1 << 22);
        assert_eq!(convert::<_, u16>(Dtype::Bfloat16, Dtype::Int32, &[x, x + 1, -x - 1]), [0x4e80, 0x4e81, 0xce81]);
        assert_eq!(convert::<_, u16>(Dtype::Float16, Dtype::Int64, &[2049i64, 2051, 65519, 65520]), [0x6800, 0x6802, 0x7bff, 0x7c00]);
    }

    #[test]
    fn strides_on_either_side() {
        let src: Vec<f32> = (0..2000).map(|i| i as f32).collect();
        let mut out = vec![0u16; 1000];
        // SAFETY: 1000 elements at these steps are inside both arrays.
        unsafe { converter(Dtype::Float16, Dtype::Float32)(out.as_mut_ptr().cast(), 2, src.as_ptr().cast(), 8, 1000) };
        assert_eq!(out[3], half::f16::from_f32(6.0).to_bits());
        assert_eq!(out[999], half::f16::from_f32(1998.0).to_bits());
    }
}
