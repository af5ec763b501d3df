"""The rows by group. `row.py` explains how a row is written."""

from . import calls, conv, layers, order, pointwise, product, random, reduce, sparse

GROUPS = {
    "small": [calls.small],
    "pointwise": [pointwise.arithmetic, pointwise.functions, pointwise.of_two, pointwise.comparisons, pointwise.conversions, pointwise.with_numbers, pointwise.choices],
    "reduce": [reduce.reductions, reduce.scans, reduce.orders, reduce.more_reductions],
    "layers": [layers.layers, layers.more_layers, layers.more_gradients],
    "sort": [order.sorting, order.more_sorting],
    "create": [order.creation, order.more_creation],
    "move": [order.moving, order.more_moving],
    "product": [product.products, product.more_products],
    "conv": [conv.windows, conv.fourier, conv.more_windows, conv.more_fourier],
    "sparse": [sparse.sparse_products, sparse.sparse_functions, sparse.sparse_and_dense, sparse.compressed_rows],
    "linalg": [product.linear_algebra, product.more_linear_algebra],
    "random": [random.random, random.more_random],
    "files": [calls.files],
    "grad": [layers.gradients, layers.recurrent, layers.optimizers],
}

# For a GPU.
GPU_GROUPS = {"large": [calls.large], **{name: sections for name, sections in GROUPS.items() if name not in ("small", "files", "grad", "sparse")}}


def rows_of(group):
    rows = [row for section in {**GROUPS, **GPU_GROUPS}[group] for row in section()]
    for row in rows:
        row.group = group
    return rows
