"""The rows of the GPU bench: each row is one line here, with the call of thorn in C and the call of PyTorch in Python.

`rows.py` prints the C side, which bench.c includes; torch_bench.py imports the module. Only the standard library is used, because the C
side is written on machines without PyTorch.

In both languages a tensor of `OPERANDS` or `VIEWS` has its name, `r` is the result of a row, `i` its int64 positions, and the names of
`SIZES` are the sizes. A result keeps its memory between calls. `bytes` is the least memory traffic of a call in bytes, `flops` its number
of multiplications and additions.
"""

from dataclasses import dataclass

# Sizes at scale 1, each with its smallest value at smaller scales. At every scale sizes are multiples of 16.
SIZES = {
    "n": (100_000_000, 64),  # elements of a vector that exceeds the caches
    "q": (10_000, 64),  # rows and columns of a matrix
    "m": (4096, 64),  # rows and columns of a factor of a product
    "k": (10_000_000, 128),  # elements of a sort
    "batch": (32, 16),  # images
    "tiny": (1024, 1024),  # elements of a call whose only cost is the launch
}

# Names with dtype and sizes. Floats are normal random numbers. "i64" operands are numbers below the first size of the second entry.
OPERANDS = {
    "a": ("f32", "n"),
    "b": ("f32", "n"),
    "ah": ("bf16", "n"),
    "bh": ("bf16", "n"),
    "mask": ("bool", "n"),
    "x": ("f32", "q q"),
    "xh": ("bf16", "q q"),
    "w": ("f32", "q"),
    "wh": ("bf16", "q"),
    "bias": ("f32", "q"),
    "biash": ("bf16", "q"),
    "rows": ("i64", "q"),
    "zeros": ("zeros", "q"),
    "p": ("f32", "m m"),
    "o": ("f32", "m m"),
    "ph": ("bf16", "m m"),
    "oh": ("bf16", "m m"),
    "images": ("f32", "batch 64 56 56"),
    "kernel": ("f32", "64 64 3 3"),
    "keys": ("f32", "k"),
    "s": ("f32", "tiny"),
    "t": ("f32", "tiny"),
    "digits": ("f32", "32 64"),
    "pictures": ("f32", "64 1 8 8"),
    "classes": ("zeros", "32"),
    "labels": ("zeros", "64"),
    "mlp": ("f32", "9610"),
    "weights": ("f32", "6090"),
}

# Views: name, C, Python.
VIEWS = {
    "turned": ("THTensor_newTranspose(x, 0, 1)", "x.t()"),
    "later_a": ("THTensor_newNarrow(a, 0, 1, n - 16)", "a[1 : n - 15]"),
    "later_b": ("THTensor_newNarrow(b, 0, 1, n - 16)", "b[1 : n - 15]"),
    "lines": ("THTensor_newView(x, 2, (int64_t[]){q * q / 16, 16})", "x.view(-1, 16)"),
}


@dataclass(frozen=True)
class Row:
    name: str
    result: str  # the dtype of r; if sizes follow, r has them before the first call
    thorn: str
    torch: str
    bytes: str = "0"
    flops: str = "0"
    unit: str = "f32"  # the dtype of the peak that `flops` are compared with


MATRIX = "8 * q * q"
PRODUCT = "2 * m * m * m"
CONVOLUTION = "2 * batch * 64 * 64 * 9 * 56 * 56"

ROWS = [
    # Elementwise.
    Row("add", "f32", "THTensor_cadd(r, a, 1, b)", "torch.add(a, b, out=r)", "12 * n"),
    Row("add at offset 1", "f32", "THTensor_cadd(r, later_a, 1, later_b)", "torch.add(later_a, later_b, out=r)", "12 * n"),
    Row("copy", "f32 n", "THTensor_copy(r, a)", "r.copy_(a)", "8 * n"),
    Row("multiply by a number", "f32", "THTensor_mul(r, a, 2)", "torch.mul(a, 2, out=r)", "8 * n"),
    Row("exp", "f32", "THTensor_exp(r, a)", "torch.exp(a, out=r)", "8 * n"),
    Row("tanh", "f32", "THTensor_tanh(r, a)", "torch.tanh(a, out=r)", "8 * n"),
    Row("fill", "f32 n", "THTensor_fill(r, 3)", "r.fill_(3)", "4 * n"),
    Row("greater than a number", "bool", "THTensor_gtValue(r, a, 0)", "torch.gt(a, 0, out=r)", "5 * n"),
    Row("where", "f32", "THTensor_where(r, mask, a, b)", "torch.where(mask, a, b, out=r)", "13 * n"),
    Row("add bf16", "bf16", "THTensor_cadd(r, ah, 1, bh)", "torch.add(ah, bh, out=r)", "6 * n"),
    Row("f32 to bf16", "bf16 n", "THTensor_copy(r, a)", "r.copy_(a)", "6 * n"),
    Row("add f32 and bf16", "f32", "THTensor_cadd(r, a, 1, bh)", "torch.add(a, bh, out=r)", "10 * n"),
    Row("fused tanh(a*b + a)", "f32", "fused(r, a, b)", "fused(a, b)", "12 * n"),
    Row("fused tanh(a*b + a) bf16", "bf16", "fused(r, ah, bh)", "fused(ah, bh)", "6 * n"),
    Row("add bias", "f32", "THTensor_cadd(r, x, 1, bias)", "torch.add(x, bias, out=r)", MATRIX),
    Row("add bias bf16", "bf16", "THTensor_cadd(r, xh, 1, biash)", "torch.add(xh, biash, out=r)", "4 * q * q"),
    Row("transpose", "f32 q q", "THTensor_copy(r, turned)", "r.copy_(turned)", MATRIX),
    Row("add transposed", "f32", "THTensor_cadd(r, x, 1, turned)", "torch.add(x, turned, out=r)", "12 * q * q"),
    # Reductions and scans.
    Row("sum", "f32", "THTensor_sum(r, a, TH_ALL_DIMS, 0)", "torch.sum(a, None, out=r)", "4 * n"),
    Row("sum bf16", "bf16", "THTensor_sum(r, ah, TH_ALL_DIMS, 0)", "torch.sum(ah, None, out=r)", "2 * n"),
    Row("count of a mask, on the host", "f32", "(THTensor_sumall(mask), TH_OK)", "mask.sum().item()", "n"),
    Row("sum of rows", "f32", "THTensor_sum(r, x, 1, 0)", "torch.sum(x, 1, out=r)", "4 * q * q"),
    Row("sum of columns", "f32", "THTensor_sum(r, x, 0, 0)", "torch.sum(x, 0, out=r)", "4 * q * q"),
    Row("variance of rows", "f32", "THTensor_var(r, x, 1, 0, 0)", "torch.var(x, 1, correction=1, out=r)", "4 * q * q"),
    Row("max of rows", "f32", "THTensor_max(r, i, x, 1, 0)", "torch.max(x, 1, out=(r, i))", "4 * q * q"),
    Row("cumsum", "f32", "THTensor_cumsum(r, a, 0)", "torch.cumsum(a, 0, out=r)", "8 * n"),
    Row("cumsum of rows", "f32", "THTensor_cumsum(r, x, 1)", "torch.cumsum(x, 1, out=r)", MATRIX),
    # Layers.
    Row("softmax of rows", "f32", "THTensor_softmax(r, x, 1)", "torch.softmax(x, 1, out=r)", MATRIX),
    Row("softmax of rows bf16", "bf16", "THTensor_softmax(r, xh, 1)", "torch.softmax(xh, 1, out=r)", "4 * q * q"),
    Row("softmax of columns", "f32", "THTensor_softmax(r, x, 0)", "torch.softmax(x, 0, out=r)", MATRIX),
    Row("softmax of 16", "f32", "THTensor_softmax(r, lines, 1)", "torch.softmax(lines, 1, out=r)", MATRIX),
    Row("layer norm", "f32", "THTensor_layerNorm(r, x, 1, w, bias, 1e-5)", "nn.layer_norm(x, (q,), w, bias)", MATRIX),
    Row("layer norm bf16", "bf16", "THTensor_layerNorm(r, xh, 1, wh, biash, 1e-5)", "nn.layer_norm(xh, (q,), wh, biash)", "4 * q * q"),
    Row("rms norm", "f32", "THTensor_rmsNorm(r, x, 1, w, 1e-5)", "nn.rms_norm(x, (q,), w, 1e-5)", MATRIX),
    Row("cross entropy", "f32", "cross_entropy(r, x, zeros)", "nn.cross_entropy(x, zeros)", "4 * q * q"),
    # Selection of rows by an index, and sorting.
    Row("index select", "f32", "THTensor_indexSelect(r, x, 0, rows)", "torch.index_select(x, 0, rows, out=r)", MATRIX),
    Row("index add", "f32 q q", "THTensor_indexAdd(r, 0, rows, x)", "r.index_add_(0, rows, x)", "12 * q * q"),
    Row("index add, all to one row", "f32 q q", "THTensor_indexAdd(r, 0, zeros, x)", "r.index_add_(0, zeros, x)", "4 * q * q"),
    Row("sort", "f32", "THTensor_sort(r, i, keys, 0, 0, 0)", "torch.sort(keys, out=(r, i))", "16 * k"),
    Row("topk of 100", "f32", "THTensor_topk(r, i, keys, 100, 0, 1, 1)", "torch.topk(keys, 100, out=(r, i))", "4 * k"),
    # Products.
    Row("mm", "f32", "THTensor_mm(r, p, o)", "torch.mm(p, o, out=r)", "12 * m * m", PRODUCT),
    Row("mm tf32", "f32", "with_tf32(r, p, o)", "with_tf32(p, o, r)", "12 * m * m", PRODUCT, "tf32"),
    Row("mm bf16", "bf16", "THTensor_mm(r, ph, oh)", "torch.mm(ph, oh, out=r)", "6 * m * m", PRODUCT, "bf16"),
    Row("conv2d 3x3 of 64 channels", "f32", "convolution(r, images, kernel)", "nn.conv2d(images, kernel, padding=1)", flops=CONVOLUTION),
    # The cost of a call.
    Row("add of 1024", "f32", "THTensor_cadd(r, s, 1, t)", "torch.add(s, t, out=r)"),
    Row("add of 1024, fresh", "f32", "(THTensor_free(r), r = THTensor_new(), THTensor_cadd(r, s, 1, t))", "s + t"),
    Row("sum of 1024, on the host", "f32", "(THTensor_sumall(s), TH_OK)", "s.sum().item()"),
    Row("20 adds of 1024", "f32", "adds(r, s, t)", "adds(r, s, t)"),
    Row("20 adds of 1024, as a graph", "f32", "replay(r, s, t)", "replay(r, s, t)"),
    Row("training step of 64-128-10", "f32", "gradMlp(mlp, digits, classes)", "grad.mlp(mlp, digits, classes)"),
    Row("training step of 2 convolutions", "f32", "gradNet(weights, pictures, labels)", "net.step(weights, pictures, labels)"),
]

C_DTYPES = {"f32": "TH_FLOAT32", "bf16": "TH_BFLOAT16", "bool": "TH_BOOL", "i64": "TH_INT64", "zeros": "TH_INT64"}


def scaled(scale):
    """The sizes at a scale, by name."""
    return {name: max(least, int(size * scale) // 16 * 16) for name, (size, least) in SIZES.items()}


def shape(sizes):
    """The sizes "n 64" as the expressions n and 64."""
    return sizes.split()


def c_list(sizes):
    return f"{len(shape(sizes))}, (int64_t[]){{{', '.join(shape(sizes)) or '0'}}}"


def c_source():
    """The C code: sizes and tensors as static variables, functions that make operands, and a function and an entry for each row."""
    lines = ["// Written by benches/gpu/rows.py."]
    lines += [f"static int64_t {name};" for name in SIZES]
    lines += [f"static THTensor *{name};" for name in (*OPERANDS, *VIEWS)]
    lines += ["static void take_sizes(double scale) {"]
    lines += [f"    {name} = scaled({size}, {least}, scale);" for name, (size, least) in SIZES.items()]
    lines += ["}", "static int make_operands(void) {"]
    for name, (dtype, sizes) in OPERANDS.items():
        limit = shape(sizes)[0] if dtype == "i64" else "1"
        lines += [f"    if (!({name} = operand({C_DTYPES[dtype]}, {limit}, {c_list(sizes)}))) return 0;"]
    lines += [f"    if (!({name} = {view})) return 0;" for name, (view, _) in VIEWS.items()]
    lines += ["    return 1;", "}"]
    for k, row in enumerate(ROWS):
        lines += [f"static THStatus row{k}(void) {{ return {row.thorn}; }}"]
        dtype, *sizes = row.result.split()
        made = f"operand({C_DTYPES[dtype]}, 1, {c_list(' '.join(sizes))})"
        if not sizes:
            made = f"THTensor_newWithDtype({C_DTYPES[dtype]})"
        lines += [f"static THTensor *result{k}(void) {{ return {made}; }}"]
        lines += [f"static double bytes{k}(void) {{ return (double)({row.bytes}); }}"]
        lines += [f"static double flops{k}(void) {{ return 1.0 * {row.flops}; }}"]
    lines += ["static const Row ROWS[] = {"]
    lines += [f'    {{"{row.name}", row{k}, result{k}, bytes{k}, flops{k}}},' for k, row in enumerate(ROWS)]
    return "\n".join([*lines, "};", ""])


if __name__ == "__main__":
    print(c_source(), end="")
