//! An optimizer's step count as a tensor on a GPU.
//!
//! A graph repeats the same work at each launch. A step count on the host would keep its value from the capture. Therefore a captured step
//! counts on the GPU. All later steps do so too, because the host does not know how often the graph is launched.

use crate::backend;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::create;
use crate::ops::loss::made;
use crate::ops::pointwise::arithmetic::{add, mul, tpow};
use crate::ops::pointwise::function::sqrt;
use crate::tensor::Tensor;

/// Returns true if this thread's work on a device is being captured.
pub fn is_captured(device: Device) -> Result<bool> {
    match device {
        Device::Cuda(_) => Ok(backend::driver(device)?.is_captured()),
        _ => Ok(false),
    }
}

/// A counter with the number of steps so far. Its memory does not belong to the graph.
pub fn counter(device: Device, steps: i32) -> Result<Tensor> {
    let aside = backend::Aside::on(device)?;
    let counter = create::scalar(Dtype::Float64, i64::from(steps).into())?;
    aside.wait().map(|()| counter)
}

/// Counts a step.
pub fn increment(counter: &Tensor) -> Result<()> {
    add.run([counter, counter], &[1.into()])
}

/// Returns `1 - beta1^n` and `sqrt(1 - beta2^n)` for the counter `n`.
pub fn corrections(counter: &Tensor, betas: [f64; 2]) -> Result<[Tensor; 2]> {
    let rest = |beta: f64| {
        let rest = made(|r| tpow.run([r, counter], &[beta.into()]))?;
        mul.run([&rest, &rest], &[(-1).into()])?;
        add.run([&rest, &rest], &[1.into()]).map(|()| rest)
    };
    let [first, root] = [rest(betas[0])?, rest(betas[1])?];
    sqrt.run([&root, &root], &[])?;
    Ok([first, root])
}
