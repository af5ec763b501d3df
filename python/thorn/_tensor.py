"""The class Tensor: what is not in the table of functions. Those are properties, operators, indexing, elements as lists, and the exchange
with NumPy and other libraries. Every function on tensors is a method, found by its name at the first use.
"""

from . import _exchange, _groups, _handles, _indexing
from . import _words as w
from ._binding import Mismatch
from ._call import call
from ._library import NULL, check, ffi, lib
from ._namespace import find
from ._returned import RETURNED
from ._table import signature

# The formats of memoryview by dtype. A dtype without a format is read as float32.
FORMATS = {
    "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float32": "f", "float64": "d", "bool": "?",
}


# The words of the elements of lists.
NUMBERS = {w.FLAG, w.INT, w.LONG, w.FLOAT, w.TENSOR}


def _operator(name, **options):
    """Returns the method of an operator, which calls the function `name`."""
    def method(a, b):
        try:
            return find("Tensor", name)(a, b, **options)
        except Mismatch:
            return method(a, tensor(b)) if isinstance(b, (list, tuple)) else NotImplemented
    return method


def _conversion(name):
    """Returns the method that converts a tensor to the dtype of this name."""
    def method(self):
        return self.to(name)
    method.__name__, method.__doc__ = name, f"Returns the tensor as {w.dtype_of(name).name}."
    return method


def _reflected(name, of_number=None, **options):
    """Returns the method of an operator for a number or an array on the left. `of_number` is a function that has the number as its second
    operand."""
    def method(a, b):
        word = w.word_of(b)
        try:
            if of_number and word in (w.INT, w.FLOAT):
                return find("Tensor", of_number)(a, b)
            if word in (w.INT, w.LONG, w.FLOAT):
                # A tensor without dimensions has no influence on the dtype, except by its kind.
                b = tensor(b, w.DType.float64 if word == w.FLOAT else w.DType.int64)
            return find("Tensor", name)(Tensor.of(b), a, **options)
        except (Mismatch, TypeError):
            return NotImplemented
    return method


class _Tensor(_groups.Handle):
    """A tensor: a view of memory that other tensors, NumPy and other libraries may share.

    `Tensor()` is a fresh handle, which receives the dtype and shape of the first result that is written to it."""

    __slots__ = ()
    # NumPy leaves operators with an array on the left to this class.
    __array_ufunc__ = None

    def __init__(self, *data):
        if data:
            raise TypeError("Tensor() is a fresh handle; thorn.tensor(data) has elements, and thorn.empty(2, 3) has sizes")
        self.handle, self.kept = ffi.gc(lib.THTensor_new(), lib.THTensor_free), None

    @classmethod
    def from_dlpack(cls, array):
        """Returns a tensor that shares the elements of any object with `__dlpack__`. Elements that must not be written are copied."""
        return array if isinstance(array, cls) else cls.own(_exchange.from_producer(array), "from_dlpack")

    @classmethod
    def of(cls, value, dtype=None):
        """Returns a tensor, which is only read: a tensor unchanged, a tensor that shares the elements of an array, or a copy of numbers
        and lists. An array that cannot be shared is copied."""
        if isinstance(value, cls):
            return value
        if w.word_of(value) != w.ARRAY:
            return tensor(value, dtype)
        return cls.from_dlpack(_exchange.shareable(value))

    @property
    def shape(self):
        """The sizes of the dimensions."""
        return tuple(self.handle.size[d] for d in range(self.handle.nDimension))

    @property
    def strides(self):
        """The distance between neighbours along each dimension, in elements."""
        return tuple(self.handle.stride[d] for d in range(self.handle.nDimension))

    @property
    def ndim(self):
        """The number of dimensions."""
        return self.handle.nDimension

    def size(self, dim=None):
        """Returns the sizes of the dimensions, or of one dimension."""
        return self.shape if dim is None else call(signature("THTensor_size"), {"t": self, "dim": dim}, {})

    def stride(self, dim=None):
        """Returns the strides of the dimensions, or of one dimension."""
        return self.strides if dim is None else call(signature("THTensor_stride"), {"t": self, "dim": dim}, {})

    @property
    def itemsize(self):
        """The number of bytes of an element."""
        return self.element_size()

    @property
    def nbytes(self):
        """The number of bytes of the elements."""
        return self.numel() * self.element_size()

    @property
    def dtype(self):
        """The dtype; `DType.undefined` for a fresh handle."""
        return w.DType(self.handle.dtype)

    @property
    def device(self):
        """The device of the memory: "cpu", or "cuda:0"."""
        return "cpu" if self.handle.deviceType == lib.TH_CPU else f"cuda:{self.handle.deviceIndex}"

    @property
    def T(self):
        """The transposed matrix, which shares the elements."""
        return call(signature("THTensor_newT"), {"t": self}, {})

    @property
    def requires_grad(self):
        """True if operations on the tensor are recorded."""
        return lib.THTensor_requiresGrad(self.handle) != 0

    @requires_grad.setter
    def requires_grad(self, flag):
        self.requires_grad_(flag)

    def requires_grad_(self, flag=True):
        """Sets whether operations on the tensor are recorded. Returns the tensor."""
        check(lib.THTensor_setRequiresGrad(self.handle, bool(flag)), "THTensor_setRequiresGrad")
        return self

    @property
    def grad(self):
        """The gradient of a leaf; None if there is none."""
        return RETURNED["new_or_null"](lib.THTensor_newGrad(self.handle), "THTensor_newGrad", self, None)

    @grad.setter
    def grad(self, gradient):
        check(lib.THTensor_setGrad(self.handle, NULL if gradient is None else gradient.handle), "THTensor_setGrad")

    def item(self):
        """Returns the only element as a number."""
        is_whole = lib.THDtype_isFloat(self.handle.dtype) == 0 and self.handle.dtype != lib.TH_UNDEFINED
        value = call(signature("THTensor_itemLong" if is_whole else "THTensor_item"), {"t": self}, {})
        return bool(value) if self.handle.dtype == lib.TH_BOOL else value

    def tolist(self):
        """Returns the elements as nested lists, or the element of a tensor without dimensions."""
        if self.ndim == 0:
            return self.item()
        name = self.dtype.name
        of = lib.TH_FLOAT32 if name not in FORMATS else int(self.dtype)
        plain = call(signature("THTensor_newTo"), {"t": self.detach().cpu(), "dtype": of}, {}).contiguous()
        count = plain.numel()
        if count == 0:
            return _nested(iter(()), self.shape)
        view = memoryview(ffi.buffer(lib.THTensor_data(plain.handle), count * plain.element_size()))
        return _nested(iter(view.cast(FORMATS.get(name, "f")).tolist()), self.shape)

    def to(self, *targets, device=None, dtype=None):
        """Returns the tensor with another dtype, or on another device: "cpu", "cuda" or "cuda:1"."""
        targets += tuple(target for target in (device, dtype) if target is not None)
        made = self
        for target in targets:
            made = made._to_one(target)
        return made

    def _to_one(self, target):
        device, _, index = target.partition(":") if isinstance(target, str) else ("", "", "")
        if device == "cpu":
            return self.cpu()
        if device == "cuda":
            return self.cuda(int(index or 0))
        return call(signature("THTensor_newTo"), {"t": self, "dtype": w.dtype_of(target)}, {})

    def astype(self, dtype):
        """Returns the tensor with another dtype."""
        return self.to(w.dtype_of(dtype))

    def numpy(self):
        """Returns an array of NumPy that shares the elements."""
        import numpy

        is_new = numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0"
        return numpy.from_dlpack(self) if is_new else _writable_array(self.detach(), numpy)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"a tensor of {self.dtype.name} cannot be shared as {dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self):
        return int(self.handle.deviceType), int(self.handle.deviceIndex)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"the elements are on {self.device}")
        if self.handle.deviceType == lib.TH_CUDA:
            check(lib.THCuda_synchronize(self.handle.deviceIndex), "THCuda_synchronize")
        elif stream is not None:
            raise BufferError("memory of the host has no stream")
        return _exchange.to_capsule(self.clone() if copy else self, max_version)

    def __getitem__(self, key):
        return _indexing.get(self, key)

    def __setitem__(self, key, value):
        _indexing.put(self, key, value)

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __contains__(self, value):
        found = self == value
        return isinstance(found, Tensor) and bool(find("Tensor", "any")(found))

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __index__(self):
        if lib.THDtype_isFloat(self.handle.dtype):
            raise TypeError(f"a tensor of {self.dtype.name} is no index")
        return int(self.item())

    def __repr__(self):
        return call(signature("THTensor_toString"), {"t": self}, {}).replace("dtype=torch.", "dtype=thorn.")

    def __format__(self, form):
        return format(self.item() if form and self.ndim == 0 else str(self), form)

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        """Returns a copy. The copy of a leaf is a leaf."""
        return self.detach().clone().requires_grad_(self.requires_grad) if self.is_leaf() else self.clone()

    def __reduce__(self):
        """Pickles the elements, on the host, without history."""
        if self.handle.dtype == lib.TH_UNDEFINED:
            return Tensor, ()
        plain = self.detach().cpu().contiguous()
        elements = bytes(ffi.buffer(ffi.cast("char *", lib.THTensor_data(plain.handle)), plain.nbytes)) if plain.nbytes else b""
        return _restored, (elements, self.dtype.name, self.shape, self.requires_grad)

    def __abs__(self):
        return self.abs()

    def __neg__(self):
        return self.neg()

    def __pos__(self):
        return self

    def __invert__(self):
        return self.bitwise_not()

    __hash__ = object.__hash__
    __floordiv__, __rfloordiv__ = _operator("div", mode="floor"), _reflected("div", mode="floor")


def _writable_array(t, numpy):
    """Returns an array that shares the elements, for NumPy before version 2.1, whose arrays from DLPack are read-only."""
    if t.dtype.name == "bfloat16" or t.device != "cpu":
        raise BufferError(f"NumPy has no arrays of {t.dtype.name} on {t.device}")
    shape, size = t.shape, t.element_size()
    if 0 in shape:
        return numpy.empty(shape, t.dtype.name)
    extent = size * (1 + sum((n - 1) * stride for n, stride in zip(shape, t.strides)))
    # The pointer refers to the tensor by its destructor, the buffer to the pointer, and the array to the buffer.
    pointer = ffi.gc(ffi.cast("char *", lib.THTensor_data(t.handle)), lambda _: t)
    return numpy.ndarray(shape, t.dtype.name, ffi.buffer(pointer, extent), strides=[stride * size for stride in t.strides])


def _nested(elements, shape):
    if len(shape) == 1:
        return [next(elements) for _ in range(shape[0])]
    return [_nested(elements, shape[1:]) for _ in range(shape[0])]


def _add_operators():
    """Adds an operator, its form with the operands exchanged, and its form in place for each function."""
    operators = {
        "add": ("add", "add"), "sub": ("sub", "rsub"), "mul": ("mul", "mul"), "truediv": ("div", "rdiv"), "mod": ("remainder", None),
        "pow": ("pow", None), "matmul": ("matmul", None), "and": ("bitand", "bitand"), "or": ("bitor", "bitor"),
        "xor": ("bitxor", "bitxor"), "lshift": ("lshift", None), "rshift": ("rshift", None),
    }
    for name, (function, of_number) in operators.items():
        setattr(_Tensor, f"__{name}__", _operator(function))
        setattr(_Tensor, f"__r{name}__", _reflected(function, of_number))
        if name != "matmul":
            setattr(_Tensor, f"__i{name}__", _operator(function + "_"))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(_Tensor, f"__{name}__", _operator(name))


for _name in "bool short int long half bfloat16 float double".split():
    setattr(_Tensor, _name, _conversion(_name))
_add_operators()
Tensor = _handles.define("Tensor", _Tensor, __doc__=_Tensor.__doc__, __hash__=object.__hash__)


def _restored(elements, dtype, shape, requires_grad):
    """Returns the tensor of a pickle."""
    made = Tensor.own(lib.THTensor_newFromData(int(w.dtype_of(dtype)), len(shape), shape, ffi.from_buffer(elements)), "tensor")
    return made.requires_grad_(requires_grad)


def _flatten(data, depth, shape, elements):
    if depth == len(shape):
        if isinstance(data, (list, tuple)):
            raise ValueError("the lists in a list differ in depth")
        elements.append(data)
        return
    if not isinstance(data, (list, tuple)) or len(data) != shape[depth]:
        raise ValueError("the lists in a list differ in length")
    for entry in data:
        _flatten(entry, depth + 1, shape, elements)


def tensor(data, dtype=None, requires_grad=False):
    """Returns a new tensor with the elements of nested lists, of an array, or with one number. Without a dtype, truth values are Bool,
    integers are int64, and other numbers have the default dtype. Arrays and tensors in a list are stacked."""
    if w.word_of(data) in (w.TENSOR, w.ARRAY):
        source = Tensor.of(data)
        made = source.detach().clone() if dtype is None else source.detach().to(dtype).clone()
        return made.requires_grad_() if requires_grad else made
    data = list(data) if isinstance(data, range) else data
    shape, inner = [], data
    while isinstance(inner, (list, tuple)):
        shape.append(len(inner))
        inner = inner[0] if inner else None
    elements = []
    if 0 not in shape:
        _flatten(data, 0, shape, elements)
    words = {w.word_of(element) for element in elements}
    if shape and (w.ARRAY in words or any(isinstance(element, Tensor) and element.ndim for element in elements)):
        made = find("Tensor", "stack")([tensor(entry, dtype) for entry in data])
        return made.requires_grad_() if requires_grad else made
    if not words <= NUMBERS:
        raise TypeError(f"an element is {', '.join(sorted({w.described(e) for e in elements if w.word_of(e) not in NUMBERS}))}")
    is_whole = bool(words) and words <= {w.FLAG, w.INT, w.LONG}
    array = ffi.new("int64_t[]" if is_whole else "double[]", [int(e) if is_whole else float(e) for e in elements])
    stored = lib.TH_INT64 if is_whole else lib.TH_FLOAT64
    plain = lib.TH_BOOL if words == {w.FLAG} else lib.TH_INT64 if is_whole else lib.THGetDefaultDtype()
    made = Tensor.own(lib.THTensor_newFromData(stored, len(shape), shape, array), "tensor")
    made = made.to(w.DType(plain) if dtype is None else w.dtype_of(dtype))
    return made.requires_grad_() if requires_grad else made
