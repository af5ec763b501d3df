"""The names of NumPy. numpy_names.txt lists the functions of NumPy 2.4.6, and numpy_check.py compares results."""

from pathlib import Path

from .operations import exceptions, in_code, shortened, snake
from .pages import Fault

LIST = Path(__file__).with_name("numpy_names.txt")
MODULES = {"Linear algebra": ["linalg."], "Fourier transforms": ["fft."], "Random numbers": ["random."]}

# Operations that NumPy names differently, operations that are methods of NumPy's arrays, and operations whose name means something else in
# NumPy.
EXCEPTIONS = """
fromData numpy.array
fromBlob numpy.frombuffer
withStorage numpy.lib.stride_tricks.as_strided
nDimension ndarray.ndim
size ndarray.shape
sizes ndarray.shape
stride ndarray.strides
strides ndarray.strides
nElement ndarray.size
data ndarray.data
elementSize ndarray.itemsize
dtype ndarray.dtype
isContiguous ndarray.flags
get ndarray.__getitem__
setAt ndarray.__setitem__
item ndarray.item
fill ndarray.fill
clone numpy.copy
contiguous numpy.ascontiguousarray
to ndarray.astype
copy numpy.copyto
toString numpy.array2string
narrow ndarray.__getitem__
select ndarray.__getitem__
slice ndarray.__getitem__
transpose numpy.swapaxes
t numpy.matrix_transpose
permute numpy.transpose numpy.permute_dims
unfold numpy.lib.stride_tricks.sliding_window_view
unsqueeze numpy.expand_dims
view numpy.reshape
viewDtype ndarray.view
flatten numpy.ravel
expand numpy.broadcast_to
chunk -
split -
tensorSplit numpy.array_split numpy.split
unbind numpy.unstack
resize -
cat numpy.concatenate
repeat numpy.tile
repeatInterleave numpy.repeat
indexSelect numpy.take
takeAlongDim numpy.take_along_axis
index ndarray.__getitem__
indexPut ndarray.__setitem__ numpy.add.at
scatter numpy.put_along_axis
maskedSelect numpy.extract
maskedFill numpy.putmask
nonzero numpy.argwhere numpy.nonzero
neg numpy.negative
cinv numpy.reciprocal
frac numpy.modf
sub numpy.subtract
mul numpy.multiply
div numpy.divide numpy.floor_divide
pow numpy.power
max numpy.max numpy.maximum
min numpy.min numpy.minimum
clamp numpy.clip
bitand numpy.bitwise_and
bitor numpy.bitwise_or
bitxor numpy.bitwise_xor
lshift numpy.left_shift
rshift numpy.right_shift
lt numpy.less
le numpy.less_equal
gt numpy.greater
ge numpy.greater_equal
eq numpy.equal
ne numpy.not_equal
equal numpy.array_equal
norm numpy.linalg.norm
cummax numpy.maximum.accumulate
cummin numpy.minimum.accumulate
topk numpy.partition
kthvalue numpy.partition
bucketize numpy.digitize
histc numpy.histogram
mm numpy.matmul
mv numpy.matvec
bmm numpy.matmul
dot numpy.vdot
chainMatmul numpy.linalg.multi_dot
matrixPower numpy.linalg.matrix_power
gesv numpy.linalg.solve
gels numpy.linalg.lstsq
getri numpy.linalg.inv
potrf numpy.linalg.cholesky
syev numpy.linalg.eigh
geev numpy.linalg.eig
gesvd numpy.linalg.svd
pinverse numpy.linalg.pinv
fft numpy.fft.fftn
ifft numpy.fft.ifftn
rfft numpy.fft.rfftn
irfft numpy.fft.irfftn
getRNGState numpy.random.get_state
setRNGState numpy.random.set_state
random -
cauchy numpy.random.standard_cauchy
logNormal numpy.random.lognormal
randperm numpy.random.permutation
multinomial numpy.random.choice
toDLPack ndarray.__dlpack__
fromDLPack numpy.from_dlpack
"""


def names(operations):
    """The NumPy names of each operation that NumPy has."""
    known, table = set(LIST.read_text().split()), exceptions(EXCEPTIONS, operations)
    found = {}
    for name, operation in operations.items():
        candidates = [f"numpy.{module}{snake(name)}" for module in (*MODULES.get(operation.chapter, []), "")]
        elsewhere = table.get(name, [candidate for candidate in candidates if candidate in known][:1])
        unknown = [word for word in elsewhere if word.startswith("numpy.") and word not in known and word.count(".") == 1]
        if unknown:
            raise Fault(f"the table of NumPy's names has {unknown[0]}, which NumPy does not have")
        if elsewhere:
            found[name] = elsewhere
    return found


def lines(operations):
    for name, elsewhere in names(operations).items():
        operation = operations[name]
        yield operation.chapter, in_code(elsewhere), in_code(shortened(operation.functions)), operation.doc
