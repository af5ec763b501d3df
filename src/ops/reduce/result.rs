//! The steps of a reduction: check the dims, prepare the results, launch the fold.

use super::fast_path;
use super::rule::{Over, Rule, To, folded_dims};
use crate::backend;
use crate::error::{Result, bail};
use crate::launch::{Fold, Reduce};
use crate::layout::{Dims, INLINE_DIMS, Layout};
use crate::operand::Operand;
use crate::ops::result::{Inputs, Wanted, Writes, ready_all};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Folds `t` over some dims into its results.
#[inline(never)]
pub fn run(fold: Fold, rule: Rule, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    if fast_path::run(fold, &rule, to, t, over)? {
        return Ok(());
    }
    let shapes = Shapes::new(Operand::of(t)?, over, matches!(to, To::Tensors(_, true)))?;
    if rule.chooses && shapes.folded_is_empty() {
        bail!(Argument, "no elements to choose from in shape {:?}", shapes.input.layout().shape.as_slice())
    }
    let work = Reduce { fold, compute: rule.compute, written: rule.written, folded: &shapes.folds };
    match to {
        To::Tensors(results, _) => shapes.write_tensors(&work, &rule, results),
        To::Number(number) => {
            let one = Layout { strides: Dims::filled(0, shapes.kept.len()), shape: shapes.kept.clone(), offset: 0 };
            number.set(backend::on(shapes.input.device).number(&work, rule.written[0], one, &shapes.input)?.to_f64());
            Ok(())
        }
    }
}

/// A reduction's input and the shapes of its result.
struct Shapes {
    input: Operand,
    /// True for each dim that is folded.
    folds: SmallVec<[bool; INLINE_DIMS]>,
    /// The shape with the folded dims at size 1.
    kept: Dims,
    /// The shape that the caller wants.
    wanted: Dims,
}

impl Shapes {
    fn new(input: Operand, over: Over<'_>, keepdim: bool) -> Result<Shapes> {
        let ndim = input.layout().ndim();
        let folds = folded_dims(over, ndim)?;
        let mut kept = input.layout().shape.clone();
        (0..ndim).filter(|&d| folds[d]).for_each(|d| kept[d] = 1);
        let wanted = if keepdim { kept.clone() } else { (0..ndim).filter(|&d| !folds[d]).map(|d| kept[d]).collect() };
        Ok(Shapes { input, folds, kept, wanted })
    }

    /// Returns true if results are folds of no elements. There may be no results either.
    fn folded_is_empty(&self) -> bool {
        self.input.layout().shape.iter().zip(&self.folds).any(|(&n, &folded)| folded && n == 0)
    }

    fn write_tensors(&self, work: &Reduce<'_>, rule: &Rule, results: [Option<&Tensor>; 2]) -> Result<()> {
        let writes = |k: usize| Writes::converted_from(rule.written[k]);
        let wanted = [0, 1].map(|k| results[k].map(|r| Wanted { r, dtype: rule.result[k], shape: &self.wanted, writes: writes(k) }));
        let ready = ready_all(wanted, Inputs::anywhere(std::slice::from_ref(&self.input)))?;
        ready.launch_in(|layout| self.kept_layout(layout), work, &[&self.input])
    }

    /// The layout of a result in which folded dims are present with size 1.
    fn kept_layout(&self, layout: &Layout) -> Layout {
        let mut rest = layout.strides.iter().copied();
        let keepdim = layout.ndim() == self.kept.len();
        let strides = (0..self.kept.len()).map(|d| if keepdim || !self.folds[d] { rest.next().unwrap_or(0) } else { 0 }).collect();
        Layout { shape: self.kept.clone(), strides, offset: layout.offset }
    }
}
