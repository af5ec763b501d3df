//! What is true with some probability.

use super::{PROBABILITY, Parameters, at_once, by_position, check_all, check_float, fill, in_order, is_probability, make};
use crate::cpu::random::{Chance, Distribution, Uniform, fill as fill_groups};
use crate::dtype::{Bool, Dtype};
use crate::error::Result;
use crate::ops::pointwise::arithmetic;
use crate::ops::result::deliver;
use crate::random::Generator;
use crate::tensor::Tensor;

/// `r` 1 with probability `p`, else 0.
pub fn bernoulli(r: &Tensor, generator: &mut Generator, p: f64) -> Result<()> {
    check_all(&[p], PROBABILITY, is_probability)?;
    let chance = Chance { of_words: (p * 4_294_967_296.0).round() as u64 };
    fill(r, |place| match generator {
        Generator::Philox(stream) => at_once(place, stream, chance),
        Generator::Mt19937(stream) => in_order(place, stream, |stream, out: &mut [Bool]| {
            out.iter_mut().for_each(|x| *x = (stream.unit() <= p).into());
        }),
    })
}

/// [`bernoulli`] with a probability for each element.
pub fn bernoulli_tensor(r: &Tensor, generator: &mut Generator, p: &Tensor) -> Result<()> {
    let parameters = Parameters::of([p])?;
    let [p] = parameters.lists();
    check_all(p, PROBABILITY, is_probability)?;
    let uniform = Uniform::<f64>::new(0.0, 1.0);
    make(r, parameters.dtype, true, &parameters.shape, |r| {
        fill(r, |place| match generator {
            Generator::Philox(stream) => {
                by_position(place, stream, <Uniform<f64> as Distribution<f64>>::BLOCKS, &|at: *mut f64, first, n, seed, block| {
                    // SAFETY: `by_position` passes pieces of the place, which have as many elements as there are probabilities.
                    unsafe {
                        fill_groups(at, n, seed, block, uniform);
                        (0..n).for_each(|i| at.add(i).write(f64::from(u8::from(at.add(i).read() < p[first + i]))));
                    }
                })
            }
            Generator::Mt19937(stream) => {
                let mut rest = p.iter();
                in_order(place, stream, |stream, out: &mut [Bool]| {
                    out.iter_mut().zip(&mut rest).for_each(|(x, &p)| *x = (stream.unit() <= p).into());
                })
            }
        })
    })
}

/// `r = t * mask / (1 - p)`, the mask 0 with probability `p`, else 1.
pub fn dropout(r: &Tensor, mask: Option<&Tensor>, generator: &mut Generator, t: &Tensor, p: f64) -> Result<()> {
    let dtype = check_float(t)?;
    check_all(&[p], PROBABILITY, is_probability)?;
    let shape = t.layout()?.shape;
    let (kept, dropped) = (Tensor::empty(Dtype::Bool, &shape)?, Tensor::empty(dtype, &shape)?);
    bernoulli(&kept, generator, 1.0 - p)?;
    arithmetic::cmul.run([&dropped, t, &kept], &[])?;
    if p < 1.0 {
        arithmetic::mul.run([&dropped, &dropped], &[(1.0 / (1.0 - p)).into()])?;
    }
    deliver([Some((r, dtype, &dropped)), mask.map(|mask| (mask, Dtype::Bool, &kept))])
}
