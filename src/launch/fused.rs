//! Programs: elementwise work that is done for each element in one pass.

use super::map::Elementwise;
use crate::dtype::Dtype;
use crate::scalar::Scalar;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// The most inputs of a program. With the result they are the operands of one plan, and what a CUDA kernel takes of them fits its
/// parameters.
pub(crate) const MOST_INPUTS: usize = 31;

/// A value that a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// The input with this number.
    Input(usize),
    /// The constant with this number.
    Constant(usize),
    /// The result of the step with this number.
    Step(usize),
}

/// What a step computes.
#[derive(Clone)]
pub enum Action {
    /// An elementwise operation, as `Map` has it.
    Map {
        /// The operation.
        op: Elementwise,
        /// The dtype that operands are converted to.
        common: Dtype,
        /// The numbers beside the operands.
        numbers: SmallVec<[Scalar; 2]>,
    },
    /// The value in another dtype.
    Convert,
}

/// One operation of a program.
#[derive(Clone)]
pub struct Step {
    /// What it computes.
    pub action: Action,
    /// What it reads.
    pub reads: SmallVec<[Value; 3]>,
    /// The dtype of its result, to which that is rounded.
    pub dtype: Dtype,
    /// The place of its result among those of other steps: two steps have one place only where the first is not read any more when the
    /// second is computed.
    pub place: usize,
}

/// An element that is the same at all positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// Its dtype.
    pub dtype: Dtype,
    /// Its bits, in the low bytes.
    pub bits: u64,
}

/// A list of steps, of which the last one computes the result.
pub struct Program {
    /// The dtype of each input; `None` for one that is not read.
    pub inputs: Vec<Option<Dtype>>,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The steps; there is one at least.
    pub steps: Vec<Step>,
    /// Places of results.
    pub places: usize,
    /// A number that no other program of this process has.
    pub id: u64,
}

impl Program {
    /// The part of a list of steps that computes `result`.
    pub fn of(inputs: &[Dtype], constants: &[Constant], steps: &[Step], result: Value, dtype: Dtype) -> Program {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut needed = vec![false; steps.len()];
        let mut read = vec![false; inputs.len()];
        let mut need = |value: Value, needed: &mut [bool]| match value {
            Value::Step(k) => needed[k] = true,
            Value::Input(k) => read[k] = true,
            Value::Constant(_) => {}
        };
        need(result, &mut needed);
        for k in (0..steps.len()).rev() {
            if needed[k] {
                steps[k].reads.iter().for_each(|&value| need(value, &mut needed));
            }
        }
        let mut number = vec![0; steps.len()];
        let mut kept: Vec<Step> = Vec::new();
        let renumbered = |value: Value, number: &[usize]| match value {
            Value::Step(k) => Value::Step(number[k]),
            other => other,
        };
        for (k, step) in steps.iter().enumerate().filter(|&(k, _)| needed[k]) {
            number[k] = kept.len();
            let reads = step.reads.iter().map(|&value| renumbered(value, &number)).collect();
            kept.push(Step { reads, ..step.clone() });
        }
        if !matches!(result, Value::Step(_)) {
            kept.push(Step { action: Action::Convert, reads: [result].into_iter().collect(), dtype, place: 0 });
        }
        let places = assign_places(&mut kept);
        let inputs = inputs.iter().zip(read).map(|(&dtype, read)| read.then_some(dtype)).collect();
        Program { inputs, constants: constants.to_vec(), steps: kept, places, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// The dtype of the result.
    pub fn dtype(&self) -> Dtype {
        self.steps[self.steps.len() - 1].dtype
    }

    /// The dtype of a value.
    pub fn dtype_of(&self, value: Value) -> Dtype {
        match value {
            Value::Input(k) => self.inputs[k].unwrap_or(Dtype::Bool),
            Value::Constant(k) => self.constants[k].dtype,
            Value::Step(k) => self.steps[k].dtype,
        }
    }
}

/// Gives each step a place for its result that no value has which is read by it or later; returns how many there are.
fn assign_places(steps: &mut [Step]) -> usize {
    let mut last_read = vec![0; steps.len()];
    for (k, step) in steps.iter().enumerate() {
        for &value in &step.reads {
            if let Value::Step(of) = value {
                last_read[of] = k;
            }
        }
    }
    let (mut free, mut places) = (Vec::new(), 0);
    for k in 0..steps.len() {
        let place = free.pop().unwrap_or_else(|| {
            places += 1;
            places - 1
        });
        steps[k].place = place;
        for at in 0..steps[k].reads.len() {
            let value = steps[k].reads[at];
            if let Value::Step(of) = value
                && last_read[of] == k
                && !steps[k].reads[..at].contains(&value)
            {
                free.push(steps[of].place);
            }
        }
    }
    places
}

/// Computes one result from the inputs of a program that it reads, all of the shape of the result. An input may be the result.
#[derive(Clone, Copy)]
pub struct Fused<'a>(pub &'a Program);

impl std::fmt::Debug for Fused<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fused").field(&self.0.steps.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(reads: &[Value]) -> Step {
        Step { action: Action::Convert, reads: reads.iter().copied().collect(), dtype: Dtype::Float32, place: 0 }
    }

    #[test]
    fn steps_that_nobody_reads_are_left_out_and_places_are_used_again() {
        use Value::{Input, Step as Of};
        let steps = [step(&[Input(0)]), step(&[Input(1)]), step(&[Of(0)]), step(&[Of(2), Of(2)]), step(&[Of(3), Of(0)])];
        let program = Program::of(&[Dtype::Float32; 2], &[], &steps, Of(4), Dtype::Float32);
        assert_eq!(program.inputs, [Some(Dtype::Float32), None]);
        assert_eq!(program.steps.iter().map(|step| step.place).collect::<Vec<_>>(), [0, 1, 2, 1]);
        assert_eq!(program.steps[2].reads.as_slice(), [Of(1), Of(1)]);
        assert_eq!(program.places, 3);
        let copy = Program::of(&[Dtype::Int8], &[], &[], Input(0), Dtype::Int8);
        assert_eq!((copy.steps.len(), copy.dtype(), copy.places), (1, Dtype::Int8, 1));
    }
}
