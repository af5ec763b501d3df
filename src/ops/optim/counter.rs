//! The number of an optimizer's steps as a tensor of a GPU.
//!
//! A graph does the same work at each launch, so that a number of the host would be the one of the captured step for ever. A step that is
//! captured therefore counts on the GPU. From then on all steps do, since the host does not know how often the graph is launched.

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

/// A counter with the number of steps so far, in memory that does not belong to the graph.
pub fn counter(device: Device, steps: i32) -> Result<Tensor> {
    let aside = backend::Aside::on(device)?;
    let counter = create::scalar(Dtype::Float64, i64::from(steps).into())?;
    aside.wait().map(|()| counter)
}

/// `1 - beta1^n` and `sqrt(1 - beta2^n)` for the number `n` of the step that begins now.
pub fn corrections(counter: &Tensor, betas: [f64; 2]) -> Result<[Tensor; 2]> {
    add.run([counter, counter], &[1.into()])?;
    let rest = |beta: f64| {
        let rest = made(|r| tpow.run([r, counter], &[beta.into()]))?;
        mul.run([&rest, &rest], &[(-1).into()])?;
        add.run([&rest, &rest], &[1.into()]).map(|()| rest)
    };
    let [first, root] = [rest(betas[0])?, rest(betas[1])?];
    sqrt.run([&root, &root], &[])?;
    Ok([first, root])
}
