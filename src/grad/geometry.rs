//! Views as linear functions: the view of a base, the gradient of a view in the shape of its base, and the base with one part replaced.
//!
//! Let `V x` be the elements of `x` that a view shows. Then writing `y` into a view is `(1 - V' V) x + V' y`. Three functions suffice: `V`,
//! its adjoint `V'`, and the self-adjoint `1 - V' V`.

use super::counted::Counted;
use super::graph::{Backward, Edge, Geometry, Node, Rule, Saved, State, Step, Target, TargetOf, Variable, attach};
use crate::alloc;
use crate::error::{Error, Kind, Result, bail};
use crate::expr::Like;
use crate::layout::{Dims, Layout};
use crate::ops::index::scatter;
use crate::ops::{copy, sequence, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::{SmallVec, smallvec};

/// Returns true if all elements of a layout belong to another one.
pub fn contains(home: &Layout, layout: &Layout) -> bool {
    let (Some(end), Some(last)) = (home.end(), layout.end()) else { return false };
    layout.numel() == 0 || home == layout || (home.is_dense() && layout.offset >= home.offset && last <= end)
}

/// A linear function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `V`: the elements that the view shows.
    View,
    /// `V'`: these elements in the shape of the base, and 0 elsewhere. Elements at one position are summed.
    Spread,
    /// `1 - V' V`: the base with 0 at the elements of the view.
    Rest,
}

impl Geometry {
    /// Elements from the first of the base to its last.
    fn extent(&self) -> i64 {
        self.base.end().unwrap_or(0).saturating_sub(self.base.offset).max(0)
    }

    /// The layout of the base, or of the view, in memory that begins with the first element of the base.
    fn framed(&self, layout: &Layout) -> Layout {
        Layout { offset: layout.offset - self.base.offset, ..layout.clone() }
    }

    /// Fails for a base whose positions share elements: the layout of a view does not say which of the positions it shows.
    pub fn check_base(&self) -> Result<()> {
        if self.base.overlaps_itself() {
            bail!(Unsupported, "a view of a tensor whose positions share elements has no gradient here: make the tensor contiguous before")
        }
        Ok(())
    }

    /// Allocates memory for all elements from the first of the base to the last.
    fn frame(&self) -> Result<Tensor> {
        self.check_base()?;
        Tensor::empty(self.dtype, &[self.extent()])
    }

    /// Returns `x`, which has the shape of the base, in the layout of the base: in place if possible, unless `fresh` asks for a copy.
    fn lay_out(&self, x: &Tensor, fresh: bool) -> Result<Tensor> {
        let layout = x.layout()?;
        let same = (0..layout.ndim()).all(|d| layout.shape[d] == 1 || layout.strides[d] == self.base.strides[d]);
        if !fresh && same {
            return view::of(x, &Layout { shape: Dims::from(&[self.extent()]), strides: Dims::from(&[1]), offset: layout.offset });
        }
        let frame = self.frame()?;
        copy::copy(&view::of(&frame, &self.framed(&self.base))?, x)?;
        Ok(frame)
    }

    fn view_of(&self, x: &Tensor) -> Result<Tensor> {
        let frame = self.lay_out(x, false)?;
        let mut layout = self.framed(&self.view);
        layout.offset += frame.offset();
        view::of(&frame, &layout)
    }

    fn rest_of(&self, x: &Tensor) -> Result<Tensor> {
        let frame = self.lay_out(x, true)?;
        copy::fill(&view::of(&frame, &self.framed(&self.view))?, Scalar::Int(0))?;
        view::of(&frame, &self.framed(&self.base))
    }

    fn spread(&self, y: &Tensor) -> Result<Tensor> {
        if let Some(same) = self.without_a_copy(y)? {
            return Ok(same);
        }
        let frame = self.frame()?;
        let overlaps = self.view.overlaps_itself();
        if overlaps || self.view.numel() < self.extent() {
            copy::fill(&frame, Scalar::Int(0))?;
        }
        if overlaps {
            let places = Tensor::of_dtype(crate::dtype::Dtype::Int64)?;
            sequence::arange(&places, Scalar::Int(0), Scalar::Int(self.extent()), Scalar::Int(1))?;
            let places = copy::contiguous_copy(&view::of(&places, &self.framed(&self.view))?)?;
            scatter::put(&frame, &places, y, true)?;
        } else {
            copy::copy(&view::of(&frame, &self.framed(&self.view))?, y)?;
        }
        view::of(&frame, &self.framed(&self.base))
    }

    /// Returns `V' y` without a copy, for a view that shows each element of the base once in another shape or permutation.
    fn without_a_copy(&self, y: &Tensor) -> Result<Option<Tensor>> {
        let (base, shown) = (&self.base, &self.view);
        if base.numel() != shown.numel() || base.numel() == 0 || base.offset != shown.offset {
            return Ok(None);
        }
        let layout = y.layout()?;
        if base.is_contiguous() && shown.is_contiguous() {
            return match layout.view_strides(&base.shape) {
                Some(strides) => view::of(y, &Layout { shape: base.shape.clone(), strides, offset: layout.offset }).map(Some),
                None => Ok(None),
            };
        }
        let mut strides = Dims::filled(0, base.ndim());
        let mut used: SmallVec<[bool; 8]> = smallvec![false; shown.ndim()];
        for d in (0..base.ndim()).filter(|&d| base.shape[d] > 1) {
            let found = (0..shown.ndim()).find(|&k| !used[k] && shown.strides[k] == base.strides[d] && shown.shape[k] == base.shape[d]);
            let Some(k) = found else { return Ok(None) };
            used[k] = true;
            strides[d] = layout.strides[k];
        }
        view::of(y, &Layout { shape: base.shape.clone(), strides, offset: layout.offset }).map(Some)
    }
}

impl Part {
    fn adjoint(self) -> Part {
        match self {
            Part::View => Part::Spread,
            Part::Spread => Part::View,
            Part::Rest => Part::Rest,
        }
    }

    /// Returns the function of `x`, recorded if `target` finds the target of the gradient of `x`.
    fn of(self, geometry: &Counted<Geometry>, x: &Tensor, target: Option<TargetOf>) -> Result<Tensor> {
        let r = match self {
            Part::View => geometry.view_of(x)?,
            Part::Spread => geometry.spread(x)?,
            Part::Rest => geometry.rest_of(x)?,
        };
        if let Some(target) = target
            && let Some(to) = target(x)?
        {
            let node = self.node(geometry, to, Like::of(x)?, Like::of(&r)?)?;
            attach(&r, Some(Variable::new(State { history: Some((node, 0)), ..State::default() })?));
        }
        Ok(r)
    }

    fn node(self, geometry: &Counted<Geometry>, to: Target, input: Like, output: Like) -> Result<Counted<Node>> {
        let rule = own(Linear(smallvec![self], geometry.clone()))?;
        Node::new(rule, smallvec![Edge { to, place: 0, entry: 0, like: input }], smallvec![output], Saved::default())
    }
}

/// The sum of one linear function of each input.
struct Linear(SmallVec<[Part; 2]>, Counted<Geometry>);

/// Makes a rule that belongs to a node.
pub fn own(rule: impl Backward + 'static) -> Result<Rule> {
    match alloc::boxed(rule) {
        Some(rule) => Ok(Rule::Own(rule)),
        None => Err(Error::new(Kind::NoMem, format_args!("out of memory"))),
    }
}

impl Backward for Linear {
    fn name(&self) -> &str {
        if self.0.len() > 1 { "a write to a view" } else { "a view" }
    }

    fn apply(&self, step: &mut Step<'_>) -> Result<()> {
        let Some(g) = &step.grads[0] else { return Ok(()) };
        // Results do not overlap themselves, so the view is a leaf.
        if self.0.len() > 1 && self.1.view.overlaps_itself() {
            bail!(
                Unsupported,
                "a tensor that shares elements with a leaf has no gradient where positions of the leaf share elements: make the leaf \
                 contiguous before"
            )
        }
        for (k, edge) in step.node.edges.iter().enumerate() {
            step.given[k] = Some(self.0[usize::from(edge.place)].adjoint().of(&self.1, g, step.recording.then_some(step.target))?);
        }
        Ok(())
    }
}

/// The node of a view of a base that has a target.
pub fn view_node(geometry: &Counted<Geometry>, base: Target) -> Result<Counted<Node>> {
    let like = |layout: &Layout| Like { shape: layout.shape.clone(), dtype: geometry.dtype, device: geometry.device };
    Part::View.node(geometry, base, like(&geometry.base), like(&geometry.view))
}

/// The node of a base into which a view is written. [`set_edges`] completes it after the write.
pub fn write_node(geometry: &Counted<Geometry>) -> Result<Counted<Node>> {
    let like = Like { shape: geometry.base.shape.clone(), dtype: geometry.dtype, device: geometry.device };
    let rule = own(Linear(smallvec![Part::Rest, Part::Spread], geometry.clone()))?;
    Node::new(rule, SmallVec::new(), smallvec![like], Saved::default())
}

fn alone(node: &mut Counted<Node>) -> Result<&mut Node> {
    match node.get_mut() {
        Some(node) => Ok(node),
        None => Err(Error::new(Kind::Internal, format_args!("a new node has two owners"))),
    }
}

/// Completes the node of a write: `base` is the target of the base before, `written` the target of the elements that were written.
pub fn set_edges(node: &mut Counted<Node>, geometry: &Counted<Geometry>, base: Option<Target>, written: Option<Target>) -> Result<()> {
    let like = |layout: &Layout| Like { shape: layout.shape.clone(), dtype: geometry.dtype, device: geometry.device };
    let node = alone(node)?;
    node.renumber();
    node.edges.extend(base.map(|to| Edge { to, place: 0, entry: 0, like: like(&geometry.base) }));
    node.edges.extend(written.map(|to| Edge { to, place: 1, entry: 0, like: like(&geometry.view) }));
    Ok(())
}

/// Replaces the target of the base in the node of a view.
pub fn set_base(node: &mut Counted<Node>, base: Target) -> Result<()> {
    let node = alone(node)?;
    node.renumber();
    node.edges[0].to = base;
    Ok(())
}
