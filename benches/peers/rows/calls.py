"""Calls on a few elements, files, and sizes for a GPU."""

import files as on_disk
from operands import ANY, MASK, POSITIVE, UNIT, Operand, between

from .row import over


def small():
    def four(op, thorn, torch, numpy, **given):
        return over(op, "f32", "4", thorn, torch, numpy, cpp=True, **given)

    def square(op, thorn, torch, numpy, **given):
        return over(op, "f32", "4x4", thorn, torch, numpy, cpp=True, **given)

    places = Operand(between, (0, 4), "i64")
    return [
        *four("add", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, out=r)"),
        *four("add, fresh", "FRESH(THTensor_cadd(r, a, 1, b))", "at::add(a, b)", "np.add(a, b)"),
        *four("add value", "THTensor_add(r, a, 3)", "at::add_out(r, a, at::scalar_tensor(3))", "np.add(a, 3, out=r)"),
        *four("mul", "THTensor_cmul(r, a, b)", "at::mul_out(r, a, b)", "np.multiply(a, b, out=r)"),
        *four("exp", "THTensor_exp(r, a)", "at::exp_out(r, a)", "np.exp(a, out=r)"),
        *four("lt", "THTensor_ltTensor(r, a, b)", "at::lt_out(r, a, b)", "np.less(a, b, out=r)"),
        *four("sum", "THTensor_sum(r, a, TH_ALL_DIMS, 0)", "at::sum_out(r, a, at::IntArrayRef(), false)", "np.sum(a, out=r)"),
        *four("sum as number", "NUMBER(THTensor_sumall(a))", "at::sum(a).item<float>()", "np.sum(a)", tolerance=1e-6),
        *four("copy", "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)", result=ANY),
        *four("fill", "THTensor_fill(r, 3)", "r.fill_(3)", "r.fill(3)", result=ANY),
        *four("clone", "MADE(THTensor_newClone(a))", "a.clone()", "a.copy()"),
        *four("empty, fresh", "MADE(THTensor_newWithSizes(TH_FLOAT32, ndim, shape))", "at::empty({4})", "np.empty(4, np.float32)", checked=("none",)),
        *four("zeros, fresh", "MADE(THTensor_newZeros(TH_FLOAT32, ndim, shape))", "at::zeros({4})", "np.zeros(4, np.float32)"),
        *four("narrow", "MADE(THTensor_newNarrow(a, 0, 1, 2))", "a.narrow(0, 1, 2)", "a[1:3]"),
        *four("select", "MADE(THTensor_newSelect(a, 0, 1))", "a.select(0, 1)", "a[1]"),
        *four("view", "MADE(THTensor_newView(a, 2, (int64_t[]){2, 2}))", "a.view({2, 2})", "a.reshape(2, 2)"),
        *four("gather", "THTensor_gather(r, a, 0, b)", "at::gather_out(r, a, 0, b)", "np.take(a, b, out=r)", b=places),
        *four("index select", "THTensor_indexSelect(r, a, 0, b)", "at::index_select_out(r, a, 0, b)", "np.take(a, b, out=r)", b=places),
        *four("cat", "THTensor_cat(r, a, b, 0)", "at::cat_out(r, {a, b}, 0)", "np.concatenate([a, b])"),
        *four("flip", "THTensor_flip(r, a, 1, (int64_t[]){0})", "at::flip(a, {0})", "np.flip(a, 0).copy()"),
        *four("masked select", "THTensor_maskedSelect(r, a, m)", "at::masked_select(a, m)", "a[m]", m=MASK),
        *four("sort", "THTensor_sort(r, i, a, 0, 0, 1)", "std::get<0>(at::sort(a, std::optional<bool>(true), 0, false))", "np.sort(a)", i=places),
        *four("slice", "MADE(THTensor_newSlice(a, 0, 0, 4, 2))", "a.slice(0, 0, 4, 2)", "a[0:4:2]"),
        *four("unsqueeze", "MADE(THTensor_newUnsqueeze1d(a, 0))", "a.unsqueeze(0)", "a[None]"),
        *four("unfold", "MADE(THTensor_newUnfold(a, 0, 2, 1))", "a.unfold(0, 2, 1)", "np.lib.stride_tricks.sliding_window_view(a, 2)"),
        *square("transpose", "MADE(THTensor_newTranspose(a, 0, 1))", "a.transpose(0, 1)", "a.swapaxes(0, 1)"),
        *square("t", "MADE(THTensor_newT(a))", "a.t()", "a.T"),
        *square("permute", "MADE(THTensor_newPermute(a, 2, (int64_t[]){1, 0}))", "a.permute({1, 0})", "a.transpose(1, 0)"),
        *square("diagonal", "MADE(THTensor_newDiagonal(a, 0, 0, 1))", "a.diagonal()", "a.diagonal()"),
        *over("squeeze", "f32", "4x1", "MADE(THTensor_newSqueeze(a))", "a.squeeze()", "a.squeeze()", cpp=True),
        *over("expand", "f32", "4x1", "MADE(THTensor_newExpand(a, 2, (int64_t[]){4, 4}))", "a.expand({4, 4})", "np.broadcast_to(a, (4, 4))", cpp=True),
        *four("copy i32", "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)", a=ANY.of("i32"), result=ANY),
        *square("add row", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, out=r)", b=ANY.shaped("4")),
        *square("add transposed", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, out=r)", a=ANY.transposed()),
        *square("add i32", "THTensor_cadd(r, a, 1, b)", "at::add_out(r, a, b)", "np.add(a, b, dtype=np.float32, out=r)", b=ANY.of("i32")),
        *square("copy transposed", "THTensor_copy(r, a)", "r.copy_(a)", "np.copyto(r, a)", a=ANY.transposed(), result=ANY),
        *square("sum dim 0", "THTensor_sum(r, a, 0, 0)", "at::sum_out(r, a, {0}, false)", "np.sum(a, 0, out=r)"),
        *square("max dim 1", "THTensor_amax(r, a, 1, 0)", "at::amax_out(r, a, {1}, false)", "np.max(a, 1, out=r)"),
        *square("cumsum dim 0", "THTensor_cumsum(r, a, 0)", "at::cumsum_out(r, a, 0)", "np.cumsum(a, 0, out=r)"),
        *square("mm", "THTensor_mm(r, a, b)", "at::mm_out(r, a, b)", "np.matmul(a, b, out=r)", tolerance=1e-5),
    ]


def files():
    at = on_disk.folder()
    shape, table = "x".join(map(str, on_disk.SHAPE)), "x".join(map(str, on_disk.TABLE))

    def load(op, name, torch, numpy, dtype="f32", shape=shape, one_thread=True):
        return over(op, dtype, shape, f'MADE(THTensor_newLoad("{at}/{name}"))', torch, numpy, one_thread=one_thread)

    def first(op, name, torch):
        open_it = f'THArchive *archive = THArchive_open("{at}/{name}"); THTensor *first = THArchive_newTensor(archive, 0)'
        return over(op, "f32", shape, f"MADE(({{ {open_it}; THArchive_free(archive); first; }}))", torch, one_thread=True)

    def save(op, ending, torch, numpy=None):
        return over(op, "f32", shape, f'NUMBER(THTensor_save(a, "{at}/saved.{ending}"))', torch, numpy, one_thread=True)

    return [
        *first("first of 1 GB .pt", "large.pt", "files.first_of_checkpoint()"),
        *first("first of 1 GB .safetensors", "large.safetensors", "files.first_of_safetensors()"),
        *load("load .pt", "a.pt", f'torch.load("{at}/a.pt")', None),
        *load("load .t7", "a.t7", f'torch.load("{at}/a.pt")', None),
        *load("load .npy", "a.npy", f'torch.from_numpy(np.load("{at}/a.npy"))', f'np.load("{at}/a.npy")'),
        *load("load .npz", "a.npz", f'torch.from_numpy(np.load("{at}/a.npz")["a"])', f'np.load("{at}/a.npz")["a"]'),
        *load("load deflated .npz", "rounded.npz", f'torch.from_numpy(np.load("{at}/rounded.npz")["a"])', f'np.load("{at}/rounded.npz")["a"]'),
        *load("load .csv", "a.csv", "torch.from_numpy(files.table())", f'np.loadtxt("{at}/a.csv", delimiter=",")', "f64", table, one_thread=False),
        *save("save .pt", "pt", f'files.synced(lambda file: torch.save(a, file), "{at}/torch.pt")'),
        *save("save .npy", "npy", f'files.synced(np.save, "{at}/torch.npy", a.numpy())', f'files.synced(np.save, "{at}/numpy.npy", a)'),
    ]


def large():
    """Sizes that use a whole GPU."""
    n = "1e8"
    unary = [(name, f"THTensor_{name}(r, a)", f"torch.{name}(a, out=r)") for name in ("exp", "tanh", "sqrt")]
    return [
        *over("add", "f32 f16 bf16", n, "THTensor_cadd(r, a, 1, b)", "torch.add(a, b, out=r)"),
        *over("copy", "f32 u8", n, "THTensor_copy(r, a)", "r.copy_(a)", result=ANY),
        *over("fill", "f32", n, "THTensor_fill(r, 3)", "r.fill_(3)", result=ANY),
        *over("f32 to f16", "f32", n, "THTensor_copy(r, a)", "r.copy_(a)", result=ANY.of("f16")),
        *(row for name, thorn, torch in unary for row in over(name, "f32", n, thorn, torch, a=POSITIVE)),
        *over("sum", "f32", n, "THTensor_sum(r, a, 0, 0)", "torch.sum(a, 0, out=r)", tolerance=1e-3),
        *over("sum of rows", "f32", "10000x10000", "THTensor_sum(r, a, 1, 0)", "torch.sum(a, 1, out=r)", tolerance=1e-3),
        *over("sum of columns", "f32", "10000x10000", "THTensor_sum(r, a, 0, 0)", "torch.sum(a, 0, out=r)", tolerance=1e-3),
        *over("softmax", "f32", "100000x1000", "THTensor_softmax(r, a, 1)", "torch.softmax(a, 1, out=r)"),
        *over("cumsum", "f32", n, "THTensor_cumsum(r, a, 0)", "torch.cumsum(a, 0, out=r)", tolerance=1e-2, a=UNIT),
        *over("transpose", "f32", "10000x10000", "THTensor_copy(r, a)", "r.copy_(a)", a=ANY.transposed(), result=ANY),
        *over("sort", "f32", "1e7", "THTensor_sort(r, i, a, 0, 0, 1)", "torch.sort(a, dim=0, stable=True, out=(r, i))"),
        *over("topk", "f32", "1e7", "THTensor_topk(r, i, a, 100, 0, 1, 1)", "torch.topk(a, 100, 0, out=(r, i))", checked=("r",)),
        *over("mm", "f32 f16 bf16", "4096x4096", "THTensor_mm(r, a, b)", "torch.mm(a, b, out=r)", flops=2 * 4096**3, tolerance=1e-2),
    ]
