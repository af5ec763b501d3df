//! The gradients that `THGrad_gradients` requests, and the nodes that lead to them.

use super::counted::Counted;
use super::graph::{Edge, Node, Target};
use super::record::Hasher;
use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;
use std::collections::{HashMap, HashSet};

/// The wanted gradients of a run.
#[derive(Default)]
pub struct Wanted {
    /// The addresses of leaves.
    leaves: HashSet<usize, Hasher>,
    /// The addresses of nodes with a wanted result.
    nodes: HashSet<usize, Hasher>,
    /// The gradients of results of nodes, as far as they are known.
    results: HashMap<(usize, u32), Option<Tensor>, Hasher>,
    /// The least sequence number of a node that is wanted; 0 if a leaf is.
    lowest: u64,
    /// For each visited node, true if the node leads to a wanted gradient or has a wanted result.
    leads: HashMap<usize, bool, Hasher>,
}

impl Wanted {
    /// The gradients of these targets.
    pub fn new(targets: &[Target]) -> Result<Wanted> {
        let mut wanted = Wanted { lowest: u64::MAX, ..Wanted::default() };
        for target in targets {
            let reserved = (wanted.leaves.try_reserve(1), wanted.nodes.try_reserve(1), wanted.results.try_reserve(1));
            let (Ok(()), Ok(()), Ok(())) = reserved else { return Err(out_of_memory()) };
            match target {
                Target::Leaf(leaf) => {
                    wanted.leaves.insert(leaf.address());
                    wanted.lowest = 0;
                }
                Target::Node(node, nr) => {
                    wanted.nodes.insert(node.address());
                    wanted.results.insert((node.address(), *nr), None);
                    wanted.lowest = wanted.lowest.min(node.sequence);
                }
            }
        }
        Ok(wanted)
    }

    /// Returns true if the gradient of the leaf at this address is wanted.
    pub fn has_leaf(&self, address: usize) -> bool {
        self.leaves.contains(&address)
    }

    /// Notes the gradients of the results of a node.
    pub fn note(&mut self, node: &Counted<Node>, grads: &[Option<Tensor>]) {
        if self.nodes.contains(&node.address()) {
            for (nr, gradient) in grads.iter().enumerate() {
                if let Some(found) = self.results.get_mut(&(node.address(), nr as u32)) {
                    found.clone_from(gradient);
                }
            }
        }
    }

    /// The gradient of a result of a node.
    pub fn result(&self, node: &Counted<Node>, nr: u32) -> Option<Tensor> {
        self.results.get(&(node.address(), nr)).cloned().flatten()
    }

    /// Calls `decide` with each node that can be reached from `start` and was not looked at before, and with true if wanted gradients come
    /// from the node. The decision for a node comes after the decisions for the nodes that its gradients go to.
    pub fn mark(&mut self, start: &Counted<Node>, mut decide: impl FnMut(&Counted<Node>, bool)) -> Result<()> {
        let mut stack: Vec<(Counted<Node>, usize)> = Vec::new();
        self.begin(start, &mut stack)?;
        while let Some((node, at)) = stack.last_mut() {
            if let Some(edge) = node.edges.get(*at) {
                *at += 1;
                if let Target::Node(next, _) = &edge.to {
                    let next = next.clone();
                    self.begin(&next, &mut stack)?;
                }
                continue;
            }
            // If only the results of the node itself are wanted, the node need not run.
            let leads = self.leads_on(node);
            decide(node, leads);
            let own = self.nodes.contains(&node.address());
            self.leads.insert(node.address(), leads || own);
            stack.pop();
        }
        Ok(())
    }

    fn begin(&mut self, node: &Counted<Node>, stack: &mut Vec<(Counted<Node>, usize)>) -> Result<()> {
        if !self.leads.contains_key(&node.address()) {
            if stack.try_reserve(1).is_err() || self.leads.try_reserve(1).is_err() {
                return Err(out_of_memory());
            }
            self.leads.insert(node.address(), false);
            stack.push((node.clone(), 0));
        }
        Ok(())
    }

    fn leads_on(&self, node: &Counted<Node>) -> bool {
        let leads = |edge: &Edge| match &edge.to {
            Target::Leaf(leaf) => self.leaves.contains(&leaf.address()),
            Target::Node(next, _) => self.leads.get(&next.address()).copied().unwrap_or(false),
        };
        // Tensors that a function uses apart from its inputs are older than the node of the function.
        node.edges.iter().any(leads) || (node.rule().captures() && self.lowest < node.sequence)
    }
}

#[cold]
pub fn out_of_memory() -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory for the nodes of the graph"))
}
