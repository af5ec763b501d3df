//! Initial weights of neural networks.

use super::{normal, uniform};
use crate::error::{Result, bail};
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The side of a layer whose size scales the layer's initial weights.
pub type THFan = i32;

/// The number of inputs of each output.
pub const TH_FAN_IN: THFan = 0;
/// The number of outputs of each input.
pub const TH_FAN_OUT: THFan = 1;

/// The number of inputs of an output and of outputs of an input, for weights of shape outputs x inputs x window.
fn fans(r: &Tensor) -> Result<[f64; 2]> {
    let shape = r.layout()?.shape;
    if shape.len() < 2 {
        bail!(Shape, "expected weights with 2 dimensions at least, outputs and inputs, got shape {:?}", shape.as_slice())
    }
    let window: f64 = shape[2..].iter().map(|&size| size as f64).product();
    Ok([shape[1] as f64 * window, shape[0] as f64 * window])
}

/// Fills `r` with numbers of mean 0 and standard deviation `std`: normal ones if `bell`, else uniform ones.
fn spread(r: &Tensor, generator: &mut Generator, bell: bool, std: f64) -> Result<()> {
    // A layer without inputs or outputs has no weights, and `std` may be infinite.
    let std = if r.layout()?.numel() == 0 { 1.0 } else { std };
    let bound = 3.0f64.sqrt() * std;
    if bell { normal(r, generator, 0.0, std) } else { uniform(r, generator, -bound, bound) }
}

/// Glorot's weights: the standard deviation is `gain * sqrt(2 / (inputs + outputs))`.
pub fn xavier(r: &Tensor, generator: &mut Generator, bell: bool, gain: f64) -> Result<()> {
    if !(gain >= 0.0 && gain.is_finite()) {
        bail!(Argument, "expected a gain >= 0, got {}", Scalar::from(gain))
    }
    let [inputs, outputs] = fans(r)?;
    spread(r, generator, bell, gain * (2.0 / (inputs + outputs)).sqrt())
}

/// He's weights: the standard deviation is `sqrt(2 / (1 + slope^2) / fan)`.
pub fn kaiming(r: &Tensor, generator: &mut Generator, bell: bool, slope: f64, fan: THFan) -> Result<()> {
    if !slope.is_finite() {
        bail!(Argument, "expected a finite slope, got {}", Scalar::from(slope))
    }
    let [inputs, outputs] = fans(r)?;
    let fan = match fan {
        TH_FAN_IN => inputs,
        TH_FAN_OUT => outputs,
        _ => bail!(Argument, "{fan} is neither TH_FAN_IN nor TH_FAN_OUT"),
    };
    spread(r, generator, bell, (2.0 / (1.0 + slope * slope) / fan).sqrt())
}
