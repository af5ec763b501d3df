//! Fourier transforms.
//!
//! Complex numbers are pairs of real numbers, so a gradient is propagated by the adjoint of a real linear function.

use crate::expr::*;
use crate::grad::names::derivatives;
use crate::layout::Dims;

use super::products::joined;

derivatives! {
    /// The derivatives of Fourier transforms.
    FOURIER:

    fft { t: |g, signalDims: i32, normalized: bool| adjoint_of_fft(g, signalDims, normalized); }
    ifft { t: |g, signalDims: i32, normalized: bool| adjoint_of_ifft(g, signalDims, normalized); }
    fft2 { t: |g| adjoint_of_fft(g, 2, false); }
    ifft2 { t: |g| adjoint_of_ifft(g, 2, false); }
    rfft {
        t: |g, t: like, signalDims: i32, normalized: bool, onesided: bool| {
            let whole = if onesided { filled(g, t.shape.last().copied().unwrap_or(0)) } else { g };
            select(adjoint_of_fft(whole, signalDims, normalized), -1, 0)
        };
    }
    irfft { t: |g, t: like, signalDims: i32, normalized: bool, onesided: bool| adjoint_of_irfft(g, &t, signalDims, normalized, onesided); }
}

/// The number of elements of a signal among these sizes.
fn count(sizes: &[i64], dims: i32) -> f64 {
    sizes.iter().rev().take(dims as usize).map(|&n| n as f64).product()
}

/// The sizes of complex numbers.
fn complex_sizes(shape: &Dims) -> &[i64] {
    &shape[..shape.len().saturating_sub(1)]
}

fn adjoint_of_fft(g: Value<'_>, dims: i32, normalized: bool) -> Value<'_> {
    let r = g.scope.call(&names::ifft::FUNCTION, &[g.into(), dims.into(), normalized.into()]);
    if normalized { r } else { r * count(complex_sizes(&g.shape()), dims) }
}

fn adjoint_of_ifft(g: Value<'_>, dims: i32, normalized: bool) -> Value<'_> {
    let r = g.scope.call(&names::fft::FUNCTION, &[g.into(), dims.into(), normalized.into()]);
    if normalized { r } else { r / count(complex_sizes(&g.shape()), dims) }
}

/// Complex numbers, zeros behind them in the last dimension up to this size.
fn filled(t: Value<'_>, size: i64) -> Value<'_> {
    let mut like = t.like();
    let Some(last) = like.shape.len().checked_sub(2) else { return t };
    like.shape[last] = size - like.shape[last];
    if like.shape[last] > 0 { joined(t, zeros(t, &like), -2) } else { t }
}

/// The transform of real `g`. If the signal was computed from one half of its spectrum, each number that also represents its conjugate
/// counts twice.
fn adjoint_of_irfft<'s>(g: Value<'s>, t: &Like, dims: i32, normalized: bool, onesided: bool) -> Value<'s> {
    let r = g.scope.call(&names::rfft::FUNCTION, &[g.into(), dims.into(), normalized.into(), onesided.into()]);
    let scale = if normalized { 1.0 } else { 1.0 / count(&g.shape(), dims) };
    if !onesided {
        return r * scale;
    }
    let n = g.shape().last().copied().unwrap_or(1);
    let half = n / 2 + 1;
    let factors = full(g, &Like { shape: Dims::from(&[half, 1]), ..g.like() }, 2.0 * scale);
    let single = |k: i64| g.scope.write(narrow(factors, 0, k, 1), &names::fill::FUNCTION, &[In::from(scale)]);
    single(0);
    if n % 2 == 0 {
        single(half - 1);
    }
    filled(r * factors, complex_sizes(&t.shape).last().copied().unwrap_or(0))
}
