//! Work on images: allocates the memory, then runs the kernels of the element type.

use super::matmul::products;
use super::parallel::{CHEAP, Shared, parallel};
use super::pooling::Pooling;
use super::scratch::ThreadScratch;
use crate::dtype::dispatch;
use crate::error::{Error, Kind, Result};
use crate::launch::{Columns, Convolution, Pool, PoolOp, Product, Unpool, Windows};
use crate::operand::Operand;
use std::slice::from_raw_parts;

/// Convolves images.
pub fn convolution(it: &Convolution, r: &Operand, [a, b]: [&Operand; 2], bias: Option<&Operand>) -> Result<()> {
    products!(r.dtype, T => {
        let workspace = it.workspace::<T>(it.product)?;
        let (r, a, b) = (r.first().cast::<T>(), a.first().cast::<T>(), b.first().cast::<T>());
        let bias = bias.map(|bias| bias.first().cast_const().cast::<T>());
        // SAFETY: all operands are row-major and have the shapes of `it`; the result shares no memory with the others.
        unsafe {
            match it.product {
                Product::Forward => it.forward(&workspace, r, a, b, bias),
                Product::Transposed => it.transposed(&workspace, r, a, b, bias),
                Product::Weights => it.weights(&workspace, r, a, b),
            }
        }
    });
    Ok(())
}

fn scratch(bytes: usize, parts: usize) -> Result<ThreadScratch> {
    ThreadScratch::new(bytes, parts).ok_or_else(|| Error::new(Kind::NoMem, format_args!("no memory for lines of an image")))
}

/// Pools planes.
pub fn pool(work: &Pool, r: &Operand, indices: Option<&Operand>, x: &Operand) -> Result<()> {
    let (planes, places) = (work.planes, indices.map(|indices| indices.first().cast::<i64>()));
    let (r, x, dtype) = (r.first(), x.first(), x.dtype);
    let strided = match work.windows {
        Windows::Strided(window) => Some(Pooling::new(window, planes)?),
        Windows::Adaptive(_) => None,
    };
    let scratch = match (&strided, work.op) {
        (Some(pooling), PoolOp::Max { .. } | PoolOp::Mean(_)) => scratch(pooling.tile_bytes::<f64>(), pooling.parts())?,
        _ => scratch(1, planes)?,
    };
    // SAFETY: the operands are row-major and have the shapes of the windows; the results share no memory with the others.
    unsafe {
        match (work.op, work.windows, &strided) {
            (PoolOp::Max { least }, _, Some(pooling)) => {
                products!(dtype, T => pooling.greatest::<T>(&scratch, r.cast(), places, x.cast(), least));
            }
            (PoolOp::Max { .. }, Windows::Adaptive(windows), _) => {
                products!(dtype, T => windows.greatest::<T>(&scratch, planes, r.cast(), places, x.cast()));
            }
            (PoolOp::Mean(divisor), _, Some(pooling)) => {
                let divisors = pooling.divisors(divisor)?;
                dispatch!(float, dtype, T => pooling.means::<T>(&scratch, r.cast(), x.cast(), &divisors));
            }
            (PoolOp::Mean(_), Windows::Adaptive(windows), _) => {
                dispatch!(float, dtype, T => windows.means::<T>(&scratch, planes, r.cast(), x.cast()));
            }
            (PoolOp::MeanGradient(divisor), _, Some(pooling)) => {
                let divisors = pooling.divisors(divisor)?;
                dispatch!(float, dtype, T => pooling.spread_means::<T>(&scratch, r.cast(), x.cast(), &divisors));
            }
            (PoolOp::MeanGradient(_), Windows::Adaptive(windows), _) => {
                dispatch!(float, dtype, T => windows.spread_means::<T>(&scratch, planes, r.cast(), x.cast()));
            }
            (_, Windows::Strided(_), None) => unreachable!("strided windows are taken line by line"),
        }
    }
    Ok(())
}

/// Writes or adds elements to planes, at given indices.
pub fn unpool(work: &Unpool, r: &Operand, t: &Operand, indices: &Operand) -> Result<()> {
    let n = indices.layout().numel() as usize;
    // SAFETY: the indices are row-major int64 inside the operand's storage, and no thread writes them during this call.
    let indices = if n == 0 { &[] } else { unsafe { from_raw_parts(indices.first().cast_const().cast::<i64>(), n) } };
    work.check(indices)?;
    let scratch = scratch(1, work.planes)?;
    // SAFETY: the operands are row-major and have these shapes; `check` found the indices inside the planes.
    products!(t.dtype, T => unsafe { work.run::<T>(&scratch, r.first().cast(), t.first().cast(), indices) });
    Ok(())
}

/// Copies windows to columns, or sums columns into images.
pub fn columns(work: &Columns, r: &Operand, t: &Operand) -> Result<()> {
    let w = &work.window;
    let (pixels, taps, places) = (w.pixels(), w.taps(), w.places());
    if (if work.sums { pixels } else { places }) == 0 {
        return Ok(());
    }
    let (to, from) = (Shared(r.first()), Shared(t.first()));
    products!(r.dtype, T => {
        parallel(work.images, taps.saturating_mul(places), CHEAP, &|images| for k in images {
            let (to, from) = (to.get().cast::<T>(), from.get().cast::<T>());
            let (image, matrix) = (k * pixels, k * taps * places);
            // SAFETY: the operands are row-major and have these shapes. Each thread has separate images, and all bits 0 are the number 0.
            unsafe {
                if work.sums {
                    let to = to.wrapping_add(image);
                    to.write_bytes(0, pixels);
                    w.fold(to, 0..taps, 0..places, from.wrapping_add(matrix), places);
                } else {
                    w.unroll(from.wrapping_add(image), 0..taps, 0..places, to.wrapping_add(matrix), places);
                }
            }
        });
    });
    Ok(())
}
