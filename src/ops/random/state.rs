//! States of generators as byte tensors.

use super::make;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::ops::{copy, device};
use crate::random::Generator;
use crate::tensor::Tensor;

/// `r` = the bytes of the generator's state
pub fn save(generator: &Generator, r: &Tensor) -> Result<()> {
    let bytes = device::written::<u8>(&[generator.state_bytes() as i64], |bytes| {
        generator.save(|state| bytes.copy_from_slice(state));
        Ok(())
    })?;
    if r.defined().is_ok_and(|dtype| dtype != Dtype::Uint8) {
        bail!(Dtype, "the state is bytes, uint8, not {}", r.defined()?)
    }
    make(r, Dtype::Uint8, false, &[generator.state_bytes() as i64], |r| copy::copy(r, &bytes))
}

/// Restores the generator's state from bytes.
pub fn restore(generator: &mut Generator, t: &Tensor) -> Result<()> {
    if t.defined()? != Dtype::Uint8 {
        bail!(Dtype, "the state is bytes, uint8, not {}", t.defined()?)
    }
    let shape = t.layout()?.shape;
    let [n] = *shape.as_slice() else { bail!(Shape, "the state is a vector, not of shape {:?}", shape.as_slice()) };
    // The length is checked first, so that a wrong state is not copied.
    if n as usize != generator.state_bytes() {
        bail!(Argument, "the state of this generator has {} bytes, got {n}", generator.state_bytes())
    }
    generator.restore(&device::elements::<u8>(&copy::contiguous_copy(t)?)?)
}
