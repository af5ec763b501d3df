//! Programs: several elementwise operations that are computed in one pass over the elements.

use super::map::Elementwise;
use crate::dtype::Dtype;
use crate::scalar::Scalar;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of inputs of a program. The inputs and the result are the operands of one plan, and their data fits the parameters of
/// a CUDA kernel.
pub(crate) const MOST_INPUTS: usize = 31;

/// A value that a step reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// The input with this index.
    Input(usize),
    /// The constant with this index.
    Constant(usize),
    /// The result of the step with this index.
    Step(usize),
}

/// The function of a step.
#[derive(Clone)]
pub enum Action {
    /// An elementwise operation, as in `Map`.
    Map {
        /// The operation.
        op: Elementwise,
        /// The dtype that operands are converted to.
        common: Dtype,
        /// The numbers among the arguments.
        numbers: SmallVec<[Scalar; 2]>,
    },
    /// Converts the value to the dtype of the step.
    Convert,
}

/// One operation of a program.
#[derive(Clone)]
pub struct Step {
    /// The function.
    pub action: Action,
    /// The operands.
    pub reads: SmallVec<[Value; 3]>,
    /// The dtype that the result is rounded to.
    pub dtype: Dtype,
    /// The index of the buffer for the result. Two steps share a buffer only if the first result is not read after the second one is
    /// computed.
    pub place: usize,
}

/// A number that is the same at all positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    /// The dtype of the number.
    pub dtype: Dtype,
    /// The bits of the number, in the first bytes in memory order.
    pub bits: u64,
}

/// A list of steps. The last one computes the result.
pub struct Program {
    /// The dtype of each input; `None` for an unused input.
    pub inputs: Vec<Option<Dtype>>,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The steps, at least one.
    pub steps: Vec<Step>,
    /// The number of buffers.
    pub places: usize,
    /// A number that is unique among all programs of this process.
    pub id: u64,
}

impl Program {
    /// A program of only those steps that are needed to compute `result`.
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

/// Assigns a buffer to the result of each step. A step never writes a buffer that holds a value which it or a later step reads. Returns the
/// number of buffers.
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

/// Runs a program: computes one result from the inputs that the program reads, all of the result's shape. An input may be the result.
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
