//! The kinds of recurrent cells: their gates, and the columns in which the gates are stored.

/// A kind of recurrent cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Long short-term memory, with the gates i, f, g and o.
    Lstm,
    /// A gated recurrent unit, with the gates r, z and n.
    Gru,
    /// `tanh` of one sum.
    Tanh,
    /// `max(0, .)` of one sum.
    Relu,
}

/// A block of columns of the gates that the input's weights give, in units of the hidden size.
pub(super) struct InputBlock {
    /// The first column of the gates.
    pub column: i64,
    /// The first row of the weights.
    pub row: i64,
    /// The number of columns.
    pub width: i64,
}

impl Cell {
    /// The number of gates: the rows of the weights, in units of the hidden size.
    pub(super) fn gates(self) -> i64 {
        match self {
            Cell::Lstm => 4,
            Cell::Gru => 3,
            Cell::Tanh | Cell::Relu => 1,
        }
    }

    /// The number of columns of the stored gates, in units of the hidden size. The state's weights give the first [`Cell::gates`] of them.
    /// A GRU has r, z, the state's part of n, and n.
    pub(super) fn columns(self) -> i64 {
        if self == Cell::Gru { 4 } else { self.gates() }
    }

    /// The blocks of columns that the input's weights give.
    pub(super) fn input_blocks(self) -> &'static [InputBlock] {
        match self {
            Cell::Lstm => &[InputBlock { column: 0, row: 0, width: 4 }],
            Cell::Gru => &[InputBlock { column: 0, row: 0, width: 2 }, InputBlock { column: 3, row: 2, width: 1 }],
            Cell::Tanh | Cell::Relu => &[InputBlock { column: 0, row: 0, width: 1 }],
        }
    }

    /// True if a cell has a second state, `c`.
    pub(super) fn has_memory(self) -> bool {
        self == Cell::Lstm
    }

    /// The number of columns that the gradient needs besides the output, in units of the hidden size. The gate of a simple cell is its
    /// output.
    pub(super) fn kept(self) -> i64 {
        match self {
            Cell::Lstm => 5,
            Cell::Gru => 4,
            Cell::Tanh | Cell::Relu => 0,
        }
    }
}
