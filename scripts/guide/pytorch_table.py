"""The names of PyTorch, which libtorch has, too."""

import re

from .operations import exceptions, in_code, shortened, snake
from .pages import ROOT

# Modules of functions, by chapter, if not `torch`.
MODULES = {
    "Convolution": "torch.nn.functional",
    "Pooling": "torch.nn.functional",
    "Resampling of images": "torch.nn.functional",
    "Losses, normalization and gradients": "torch.nn.functional",
    "Linear algebra": "torch.linalg",
    "Looking at tensors": "Tensor",
}

# Operations that PyTorch names differently, that are its methods, or that are in another module. `-` marks an operation whose name means
# something else in PyTorch, or that only the tests name so.
EXCEPTIONS = """
new -
storage Tensor.untyped_storage
nDimension Tensor.dim
sizes Tensor.size
nElement Tensor.numel
data Tensor.data_ptr
isSameSizeAs Tensor.is_same_size
isSetTo Tensor.is_set_to
getDevice Tensor.get_device
refcount -
retain -
free -
get Tensor.__getitem__
setAt Tensor.__setitem__
set Tensor.set_
scalar torch.tensor
fromData torch.tensor
fromBlob torch.from_blob
item Tensor.item
fill Tensor.fill_
zero Tensor.zero_
contiguous Tensor.contiguous
to Tensor.to
copy Tensor.copy_
print -
slice Tensor.__getitem__
t torch.t
unfold Tensor.unfold
unsqueeze torch.unsqueeze
view Tensor.view
viewAs Tensor.view_as
viewDtype Tensor.view
expand Tensor.expand
expandAs Tensor.expand_as
setStorage Tensor.set_
resize Tensor.resize_
resizeAs Tensor.resize_as_
toDevice Tensor.to
cuda Tensor.cuda
cpu Tensor.cpu
isCuda Tensor.is_cuda
isPinned Tensor.is_pinned
pinned Tensor.pin_memory
recordStream Tensor.record_stream
repeat Tensor.repeat
tensorSplit torch.tensor_split
pad torch.nn.functional.pad
fold -
unravelIndex torch.unravel_index
index Tensor.__getitem__
indexPut Tensor.index_put_
indexCopy torch.index_copy
indexAdd torch.index_add
indexFill torch.index_fill
put Tensor.put_
maskedCopy torch.masked_scatter
maskedScatter torch.masked_scatter
oneHot torch.nn.functional.one_hot
cinv torch.reciprocal
max torch.max torch.amax torch.maximum
min torch.min torch.amin torch.minimum
hardtanh torch.nn.functional.hardtanh
gelu torch.nn.functional.gelu
geluTanh torch.nn.functional.gelu
leakyRelu torch.nn.functional.leaky_relu
elu torch.nn.functional.elu
celu torch.nn.functional.celu
selu torch.nn.functional.selu
silu torch.nn.functional.silu
mish torch.nn.functional.mish
hardswish torch.nn.functional.hardswish
hardsigmoid torch.nn.functional.hardsigmoid
hardshrink torch.nn.functional.hardshrink
softshrink torch.nn.functional.softshrink
softsign torch.nn.functional.softsign
logSigmoid torch.nn.functional.logsigmoid
threshold torch.nn.functional.threshold
prelu torch.nn.functional.prelu
glu torch.nn.functional.glu
softplus torch.nn.functional.softplus
bitand torch.bitwise_and
bitor torch.bitwise_or
bitxor torch.bitwise_xor
lshift torch.bitwise_left_shift
rshift torch.bitwise_right_shift
logicalAnd torch.logical_and
logicalXor torch.logical_xor
layerNorm torch.nn.functional.layer_norm
interpolateFactor torch.nn.functional.interpolate
gridSample torch.nn.functional.grid_sample
ctcLoss torch.nn.functional.ctc_loss
affineGrid torch.nn.functional.affine_grid
scaledDotProductAttention torch.nn.functional.scaled_dot_product_attention
rmsNorm torch.nn.functional.rms_norm
groupNorm torch.nn.functional.group_norm
instanceNorm torch.nn.functional.instance_norm
localResponseNorm torch.nn.functional.local_response_norm
mseLoss torch.nn.functional.mse_loss
l1Loss torch.nn.functional.l1_loss
bceWithLogits torch.nn.functional.binary_cross_entropy_with_logits
klDiv torch.nn.functional.kl_div
bce torch.nn.functional.binary_cross_entropy
poissonNllLoss torch.nn.functional.poisson_nll_loss
gaussianNllLoss torch.nn.functional.gaussian_nll_loss
marginRankingLoss torch.nn.functional.margin_ranking_loss
cosineSimilarity torch.nn.functional.cosine_similarity
pairwiseDistance torch.nn.functional.pairwise_distance
cosineEmbeddingLoss torch.nn.functional.cosine_embedding_loss
tripletMarginLoss torch.nn.functional.triplet_margin_loss
batchNorm torch.nn.functional.batch_norm
lstm torch.lstm
lstmCell torch.lstm_cell
gru torch.gru
gruCell torch.gru_cell
rnn torch.rnn_tanh torch.rnn_relu
rnnCell torch.rnn_tanh_cell torch.rnn_relu_cell
setRequiresGrad Tensor.requires_grad_
requiresGrad Tensor.requires_grad
isLeaf Tensor.is_leaf
grad Tensor.grad
setGrad Tensor.grad
retainGrad Tensor.retain_grad
detach Tensor.detach Tensor.detach_
version Tensor._version
backward Tensor.backward
addHook Tensor.register_hook
norm torch.norm torch.linalg.vector_norm
lexsort -
nanprod -
nanmax -
nanmin -
nanargmax -
nanargmin -
nanvar -
nanstd -
nancumsum -
bhistc -
matrixPower torch.linalg.matrix_power
chainMatmul torch.linalg.multi_dot
cross torch.linalg.cross
gesv torch.linalg.solve
trtrs torch.linalg.solve_triangular
gels torch.linalg.lstsq
btrifact torch.linalg.lu_factor
btrisolve torch.linalg.lu_solve
getri torch.linalg.inv
logdet torch.logdet
potrf torch.linalg.cholesky
potrs torch.cholesky_solve
potri torch.cholesky_inverse
pstrf -
geqrf torch.geqrf
orgqr torch.linalg.householder_product
ormqr torch.ormqr
syev torch.linalg.eigh
geev torch.linalg.eig
gesvd torch.linalg.svd
pinverse torch.linalg.pinv
convolution torch.convolution
im2col torch.nn.functional.unfold
col2im torch.nn.functional.fold
maxUnpool torch.nn.functional.max_unpool1d torch.nn.functional.max_unpool2d torch.nn.functional.max_unpool3d
convolutionGradInput torch.nn.grad.conv1d_input torch.nn.grad.conv2d_input torch.nn.grad.conv3d_input
convolutionGradWeight torch.nn.grad.conv1d_weight torch.nn.grad.conv2d_weight torch.nn.grad.conv3d_weight
fft torch.fft.fftn
ifft torch.fft.ifftn
fft2 torch.fft.fft2
ifft2 torch.fft.ifft2
rfft torch.fft.rfftn
irfft torch.fft.irfftn
getRNGState torch.Generator.get_state
setRNGState torch.Generator.set_state
uniform Tensor.uniform_
normal Tensor.normal_ torch.normal
exponential Tensor.exponential_
cauchy Tensor.cauchy_
logNormal Tensor.log_normal_
truncNormal torch.nn.init.trunc_normal_
bernoulli torch.bernoulli
geometric Tensor.geometric_
beta -
poisson torch.poisson
binomial torch.binomial
random Tensor.random_
xavierUniform torch.nn.init.xavier_uniform_
xavierNormal torch.nn.init.xavier_normal_
kaimingUniform torch.nn.init.kaiming_uniform_
kaimingNormal torch.nn.init.kaiming_normal_
rand torch.rand
randn torch.randn
randLike torch.rand_like
randnLike torch.randn_like
randintLike torch.randint_like
randperm torch.randperm
multinomial torch.multinomial
dropout torch.nn.functional.dropout
featureDropout torch.feature_dropout torch.nn.functional.dropout1d torch.nn.functional.dropout2d torch.nn.functional.dropout3d
alphaDropout torch.nn.functional.alpha_dropout
featureAlphaDropout torch.nn.functional.feature_alpha_dropout
toDLPack torch.utils.dlpack.to_dlpack
fromDLPack torch.from_dlpack
shareMemory Tensor.share_memory_
isShared Tensor.is_shared
save torch.save
load torch.load
apply Tensor.apply_
map Tensor.map_
map2 Tensor.map2_
"""


def evidence():
    """The names that the table of expectations and the differential test call."""
    texts = [path.read_text() for folder in ("oracle", "compare/differential") for path in sorted((ROOT / "scripts" / folder).glob("*.py"))]
    text = "\n".join(texts)
    return set(re.findall(r"\.([a-z_0-9]+)\b", text)) | set(re.findall(r'"([a-z_0-9]+)"', text))


def names(operations):
    """The PyTorch names of each operation that PyTorch has: by the rule if a test uses the name, or from the exceptions."""
    known, table = evidence(), exceptions(EXCEPTIONS, operations)
    found = {}
    for name, operation in operations.items():
        by_rule = [f"{MODULES.get(operation.chapter, 'torch')}.{snake(name)}"] if snake(name) in known else []
        elsewhere = table.get(name, by_rule)
        if elsewhere:
            found[name] = elsewhere
    return found


def declared(header):
    """The functions of thorn.hpp, and the methods of its classes, except those for sparse tensors."""
    header = header.split("class [[nodiscard]] SparseTensor", 1)[0]
    functions = set(re.findall(r"^inline [^=(\n]*(?<!:)\b(\w+)\(", header, re.M))
    methods = set(re.findall(r"^    [\w:&<> *]+[ &*](\w+)\(", header, re.M))
    return functions, methods


def in_cxx(name, functions, methods):
    """The function or method of thorn.hpp."""
    word = {"bitand": "bitAnd", "bitor": "bitOr", "get": "getAt"}.get(name, name)
    if word in functions:
        return [f"th::{word}"]
    return [f"t.{method}" for method in (f"{word}_", word) if method in methods][:1]


def lines(operations):
    functions, methods = declared((ROOT / "include" / "thorn.hpp").read_text())
    for name, elsewhere in names(operations).items():
        operation = operations[name]
        word = in_code(in_cxx(name, functions, methods))
        yield operation.chapter, in_code(elsewhere), word, in_code(shortened(operation.functions))
