//! The elimination order of columns, which keeps factors sparse, and the columns that are eliminated together.

use super::cholesky::{pattern, scratch};
use super::columns::Columns;
use super::{Failure, filled, room};
use crate::float::stack;
use dyn_stack::StackReq;
use faer::perm::PermRef;
use faer::sparse::linalg::{amd, colamd, qr};

/// The value for no column.
const NONE: usize = usize::MAX;

/// The limits for merging two supernodes: for sizes up to the first number, the largest fraction of zeros among the merged elements.
const MERGED: [(usize, f64); 4] = [(4, 1.0), (16, 0.8), (48, 0.1), (usize::MAX, 0.05)];

/// The elimination order of columns.
pub struct Order {
    /// The column at each position.
    pub columns: Vec<usize>,
    /// The position of each supernode's first column, followed by the number of columns.
    pub supernodes: Vec<usize>,
    /// True if rows are likely to be eliminated in the same order.
    pub symmetric: bool,
}

/// Columns in elimination order, the position of each one's parent in the elimination tree, and the number of elements of its factor.
struct Tree {
    columns: Vec<usize>,
    parents: Vec<usize>,
    counts: Vec<usize>,
}

impl Order {
    /// Computes the order for a matrix, given with its transpose.
    pub fn of(a: &Columns, transposed: &Columns) -> Result<Order, Failure> {
        let symmetric = is_nearly_symmetric(a, transposed);
        let tree = if symmetric { of_sum(a, transposed)? } else { of_product(a, transposed)? };
        Ok(Order { supernodes: supernodes(&tree)?, columns: tree.columns, symmetric })
    }
}

/// Returns true if at least half of the off-diagonal entries have a mirrored entry, and most diagonal elements exist.
fn is_nearly_symmetric(a: &Columns, transposed: &Columns) -> bool {
    let (mut diagonal, mut both) = (0, 0);
    for j in 0..a.n() {
        let mut other = transposed.pattern(j);
        for &i in a.pattern(j) {
            other = &other[other.partition_point(|&row| row < i)..];
            let found = other.first() == Some(&i);
            diagonal += usize::from(found && i == j);
            both += usize::from(found && i != j);
        }
    }
    diagonal * 10 >= a.n() * 9 && both * 2 >= a.rows.len() - diagonal
}

/// The minimum degree order for the pattern of A + A', and its Cholesky elimination tree.
fn of_sum(a: &Columns, transposed: &Columns) -> Result<Tree, Failure> {
    let n = a.n();
    let (mut columns, mut places) = (filled(n, 0)?, filled(n, 0)?);
    let mut memory = scratch(amd::order_maybe_unsorted_scratch::<usize>(n, a.rows.len()))?;
    amd::order_maybe_unsorted(&mut columns, &mut places, pattern(a), Default::default(), stack(&mut memory))?;
    let (mut parents, mut counts, mut visited) = (filled(n, NONE)?, filled(n, 1)?, filled(n, NONE)?);
    for k in 0..n {
        visited[k] = k;
        for &i in a.pattern(columns[k]).iter().chain(transposed.pattern(columns[k])) {
            let mut at = places[i];
            // Row k of the factor has the columns on the tree path from each entry to k.
            while at < k && visited[at] != k {
                (visited[at], counts[at]) = (k, counts[at] + 1);
                if parents[at] == NONE {
                    parents[at] = k;
                }
                at = parents[at];
            }
        }
    }
    Ok(Tree { columns, parents, counts })
}

/// The order for the pattern of A' A, which includes the pattern of the factors for any pivots, and its Cholesky elimination tree.
fn of_product(a: &Columns, transposed: &Columns) -> Result<Tree, Failure> {
    let (n, symbolic) = (a.n(), pattern(a));
    let (mut columns, mut places) = (filled(n, 0)?, filled(n, 0)?);
    let mut memory = scratch(StackReq::any_of(&[
        colamd::order_scratch::<usize>(n, n, a.rows.len()),
        qr::col_etree_scratch::<usize>(n, n),
        qr::postorder_scratch::<usize>(n),
        qr::column_counts_aat_scratch::<usize>(n, n),
    ]))?;
    let memory = stack(&mut memory);
    colamd::order(&mut columns, &mut places, symbolic, Default::default(), memory)?;
    let order = Some(PermRef::new_checked(&columns, &places, n));
    let (mut tree, mut post, mut counts, mut first) = (filled(n, 0)?, filled(n, 0)?, filled(n, 0)?, filled(n, 0)?);
    let tree = qr::col_etree(symbolic, order, &mut tree, memory);
    qr::postorder(&mut post, tree, memory);
    qr::column_counts_ata(&mut counts, &mut first, pattern(transposed), order, tree, &post, memory);
    let mut parents = room(n)?;
    parents.extend(tree.into_inner().iter().map(|&parent| usize::try_from(parent).unwrap_or(NONE)));
    Ok(Tree { columns, parents, counts })
}

/// The first position of each supernode. Columns of one pattern are joined, and adjacent supernodes in the tree are merged within the
/// limits of [`MERGED`].
fn supernodes(tree: &Tree) -> Result<Vec<usize>, Failure> {
    let Tree { parents, counts, .. } = tree;
    let n = parents.len();
    let mut children = filled(n, 0)?;
    parents.iter().filter(|&&parent| parent != NONE).for_each(|&parent| children[parent] += 1);
    // The first column of each supernode, and the number of zeros in it.
    let (mut starts, mut zeros): (Vec<usize>, Vec<usize>) = (room(n + 1)?, room(n)?);
    let mut first = 0;
    for end in 1..=n {
        let last = end - 1;
        if end < n && parents[last] == end && children[end] == 1 && counts[last] == counts[end] + 1 {
            continue;
        }
        let mut own_zeros = 0;
        while let (Some(&start), Some(&inside)) = (starts.last(), zeros.last()) {
            let parent = parents[first - 1];
            if parent >= end {
                break;
            }
            let (child, size, below) = (first - start, end - start, counts[last] - 1);
            let total = own_zeros + inside + child * (end - first + below + 1).saturating_sub(counts[first - 1]);
            let elements = (size * (size + 1) / 2 + below * size) as f64;
            if total > own_zeros + inside && !MERGED.iter().any(|&(most, share)| size <= most && total as f64 <= share * elements) {
                break;
            }
            (first, own_zeros) = (start, total);
            starts.pop();
            zeros.pop();
        }
        starts.push(first);
        zeros.push(own_zeros);
        first = end;
    }
    starts.push(n);
    Ok(starts)
}
