//! Products of compressed rows: the three of them are each other's derivatives.

use crate::capi::grad::names::derivatives;
use crate::capi::words::*;

derivatives! {
    /// The derivatives of products of compressed rows.
    COMPRESSED:

    csrMatmul {
        values: |g, crow, col, m| csr_sampled(g, m, crow, col);
        m: |g, crow, col, values: optional, m: like| csr_matmul_transposed(g, crow, col, values, m.shape[0]);
    }
    csrMatmulTransposed {
        values: |g, crow, col, m| csr_sampled(m, g, crow, col);
        m: |g, crow, col, values: optional| csr_matmul(g, crow, col, values);
    }
    csrSampled {
        a: |g, crow, col, b| csr_matmul(b, crow, col, Some(g));
        b: |g, crow, col, a, b: like| csr_matmul_transposed(a, crow, col, Some(g), b.shape[0]);
    }
}
