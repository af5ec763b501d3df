"""The functions on sparse tensors, with their names in PyTorch and SciPy."""

from .operations import by_name, in_code
from .pages import Fault

PREFIX = "THSTensor_"

# The names of functions in PyTorch and in SciPy. `-` means no such function.
NAMES = """
newWithTensor torch.sparse_coo_tensor scipy.sparse.coo_array
newWithTensorAndSize torch.sparse_coo_tensor scipy.sparse.coo_array
newCsr torch.sparse_csr_tensor scipy.sparse.csr_array
newFromDense Tensor.to_sparse scipy.sparse.coo_array
newClone Tensor.clone coo_array.copy
newCoalesce Tensor.coalesce coo_array.sum_duplicates
newCompressed Tensor.to_sparse_csr coo_array.tocsr
newCoordinates Tensor.to_sparse csr_array.tocoo
newDense Tensor.to_dense coo_array.toarray
nDimension Tensor.dim coo_array.ndim
size Tensor.size coo_array.shape
nnz Tensor._nnz coo_array.nnz
sparseDim Tensor.sparse_dim -
denseDim Tensor.dense_dim -
isCoalesced Tensor.is_coalesced coo_array.has_canonical_format
dtype Tensor.dtype coo_array.dtype
newIndices Tensor.indices coo_array.coords
newValues Tensor.values coo_array.data
newCrow Tensor.crow_indices csr_array.indptr
newCol Tensor.col_indices csr_array.indices
transpose Tensor.transpose coo_array.transpose
select Tensor.select -
narrow Tensor.narrow -
cat torch.cat scipy.sparse.vstack
cadd torch.add coo_array.__add__
csub torch.sub coo_array.__sub__
cmul torch.mul coo_array.multiply
cmulDense torch.mul coo_array.multiply
cdivDense torch.div coo_array.__truediv__
mul torch.mul coo_array.__mul__
div torch.div coo_array.__truediv__
pow torch.pow coo_array.power
neg torch.neg coo_array.__neg__
abs torch.abs coo_array.__abs__
sign torch.sign coo_array.sign
sqrt torch.sqrt coo_array.sqrt
expm1 torch.expm1 coo_array.expm1
log1p torch.log1p coo_array.log1p
sin torch.sin coo_array.sin
tan torch.tan coo_array.tan
asin torch.asin coo_array.arcsin
atan torch.atan coo_array.arctan
sinh torch.sinh coo_array.sinh
tanh torch.tanh coo_array.tanh
relu torch.relu -
floor torch.floor coo_array.floor
ceil torch.ceil coo_array.ceil
round torch.round coo_array.rint
trunc torch.trunc coo_array.trunc
sumall torch.sum coo_array.sum
sum torch.sparse.sum coo_array.sum
normall torch.norm scipy.sparse.linalg.norm
spmm torch.sparse.mm coo_array.__matmul__
spmv torch.mv coo_array.__matmul__
spaddmm torch.sparse.addmm -
hspmm torch.hspmm -
sspaddmm torch.sspaddmm -
sampledAddmm torch.sparse.sampled_addmm -
mm torch.sparse.mm csr_array.__matmul__
softmax torch.sparse.softmax -
trtrs torch.triangular_solve scipy.sparse.linalg.spsolve_triangular
solve torch.sparse.spsolve scipy.sparse.linalg.spsolve
cg - scipy.sparse.linalg.cg
sparseMask Tensor.sparse_mask -
resize Tensor.sparse_resize_ coo_array.resize
newLoad - scipy.io.mmread
save - scipy.io.mmwrite
"""


def exceptions(names):
    table = {}
    for line in NAMES.strip().splitlines():
        name, pytorch, scipy = line.split()
        if PREFIX + name not in names:
            raise Fault(f"the table of sparse tensors has {name}, which is no function")
        table[name] = pytorch, scipy
    return table


def lines():
    """For each function, its names elsewhere, its name in C, and its result. A function that NAMES lacks has no other names."""
    rows = {name: row for name, row in by_name().items() if name.startswith(PREFIX)}
    table = exceptions(rows)
    for name, row in rows.items():
        short = name.removeprefix(PREFIX)
        elsewhere = table.get(short, ("-", "-"))
        cells = ["" if other == "-" else in_code([other]) for other in elsewhere]
        yield row["chapter"], *cells, in_code([name]), row["doc"]
