//! Chains of elementwise steps as fused expressions, which read and write memory once.

use super::code::{Action, Fused, Step, Target};
use super::direct::Argument;
use super::frame::Place;
use crate::api::functions::fused::find;
use crate::ops::fused::Expressed;
use std::ffi::CString;
use std::fmt::Write;

/// The largest number of functions in an expression.
const MOST_CALLS: usize = 24;
/// The largest number of operands of an expression.
const MOST_INPUTS: usize = 16;

/// A value of an expression.
#[derive(Clone)]
enum Term {
    /// An operand.
    Input(Place),
    Number(f64),
    /// The result of a function, by the name of the function.
    Call(&'static str, Vec<Term>),
}

/// The expression of a step, and of the steps before it that only this step needs.
struct Group {
    term: Term,
    calls: usize,
    inputs: usize,
    /// The indices of the steps, in order.
    members: Vec<usize>,
}

/// Joins steps. `sizes` has a number for the sizes of each slot, which differs for different sizes.
pub fn fuse(steps: Vec<Step>, sizes: &[u32], outputs: &[Place]) -> Vec<Step> {
    let mut uses = vec![0usize; sizes.len()];
    let mut count = |place: &Place| place.slots(&mut |slot| uses[slot as usize] += 1);
    steps.iter().for_each(|step| step.places(&mut count));
    outputs.iter().for_each(count);
    // The number of steps up to each step that change operands. Such a step stays between its neighbours.
    let mut changes = 0;
    let before: Vec<usize> = steps
        .iter()
        .map(|step| {
            changes += usize::from(step.changes);
            changes
        })
        .collect();
    let mut made_by = vec![None; sizes.len()];
    let mut groups: Vec<Option<Group>> = Vec::new();
    for (k, step) in steps.iter().enumerate() {
        let group = single(step).and_then(|(slot, name, arguments)| {
            made_by[slot as usize] = Some(k);
            let mut group = Group { term: Term::Number(0.0), calls: 1, inputs: 0, members: Vec::new() };
            let mut terms = Vec::new();
            for argument in arguments {
                match argument {
                    Argument::Number(x) => terms.push(Term::Number(x)),
                    Argument::Tensor(place) => terms.push(group.operand(place, (slot, k), sizes, &uses, &made_by, &before, &mut groups)),
                }
            }
            group.members.push(k);
            group.term = Term::Call(name, terms);
            (group.inputs <= MOST_INPUTS).then_some(group)
        });
        groups.push(group);
    }
    // The members of a group whose last member is `k` become one step.
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    let mut joined = Vec::new();
    for k in 0..steps.len() {
        let Some(group) = groups[k].take().filter(|group| group.calls > 1) else { continue };
        let members: Vec<Step> = group.members.iter().filter_map(|&member| steps[member].take()).collect();
        match expression(&group.term) {
            Some((expressed, places)) => joined.push((k, joint(members, expressed, places))),
            None => joined.extend(group.members.iter().copied().zip(members)),
        }
    }
    let rest = steps.into_iter().enumerate().filter_map(|(k, step)| step.map(|step| (k, step)));
    joined.extend(rest);
    joined.sort_by_key(|(k, _)| *k);
    joined.into_iter().map(|(_, step)| step).collect()
}

/// Returns the slot, the function and the arguments of an elementwise step.
fn single(step: &Step) -> Option<(u32, &'static str, Vec<Argument<'_>>)> {
    let (Action::Direct(direct), [Target::Slot(slot, _)]) = (&step.action, &step.results[..]) else { return None };
    let (name, arguments) = direct.elementwise()?;
    Some((*slot, name, arguments))
}

impl Group {
    /// Returns an operand of step `k`, whose result is `slot`: the expression of the step that computes the operand, if nothing else
    /// needs the operand, or the operand itself.
    fn operand(
        &mut self,
        place: &Place,
        (slot, k): (u32, usize),
        sizes: &[u32],
        uses: &[usize],
        made_by: &[Option<usize>],
        before: &[usize],
        groups: &mut [Option<Group>],
    ) -> Term {
        let maker = match place {
            Place::Slot(own) if uses[*own as usize] == 1 && sizes[*own as usize] == sizes[slot as usize] && sizes[slot as usize] != 0 => {
                made_by[*own as usize].filter(|&maker| before[maker] == before[k])
            }
            _ => None,
        };
        let fits = |other: &&mut Option<Group>| other.as_ref().is_some_and(|other| other.calls + self.calls < MOST_CALLS);
        match maker.and_then(|maker| groups.get_mut(maker)).filter(fits).and_then(Option::take) {
            Some(other) => {
                self.calls += other.calls;
                self.inputs += other.inputs;
                self.members.extend(other.members);
                other.term
            }
            None => {
                self.inputs += 1;
                Term::Input(place.clone())
            }
        }
    }
}

/// Returns the expression, and the places of its inputs.
fn expression(term: &Term) -> Option<(Expressed, Vec<Place>)> {
    let (mut text, mut places) = (String::new(), Vec::new());
    write(term, &mut text, &mut places)?;
    let expressed = Expressed::new(&CString::new(text).ok()?, find).ok()?;
    (expressed.inputs() == places.len()).then_some((expressed, places))
}

/// Appends the text of a term. `None` for a number that has no text.
fn write(term: &Term, text: &mut String, places: &mut Vec<Place>) -> Option<()> {
    match term {
        Term::Number(x) => write!(text, "{x:e}").ok().filter(|()| x.is_finite()),
        Term::Input(place) => {
            let same = |other: &Place| match (place, other) {
                (Place::Slot(a), Place::Slot(b)) | (Place::Shared(a), Place::Shared(b)) => a == b,
                _ => false,
            };
            let k = places.iter().position(same).unwrap_or_else(|| {
                places.push(place.clone());
                places.len() - 1
            });
            write!(text, "x{k}").ok()
        }
        Term::Call(name, terms) => {
            text.push_str(name);
            for (k, term) in terms.iter().enumerate() {
                text.push(if k == 0 { '(' } else { ',' });
                write(term, text, places)?;
            }
            text.push(')');
            Some(())
        }
    }
}

/// Returns the step that computes the result of the last member.
fn joint(members: Vec<Step>, expressed: Expressed, places: Vec<Place>) -> Step {
    let name = members.iter().map(|step| step.name.split(' ').next().unwrap_or_default()).collect::<Vec<_>>().join(" + ");
    let results = match members.last().map(|last| &last.results[..]) {
        Some([Target::Slot(slot, expected)]) => vec![Target::Slot(*slot, *expected)],
        _ => Vec::new(),
    };
    let action = Action::Fused(Box::new(Fused { expressed, places, members }));
    Step { action, stores: false, results, frees: Vec::new(), spare: None, changes: false, name: name.into() }
}
