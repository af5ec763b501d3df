"""Calls of thorn with sparse operands in several forms."""

import json
import os

import torch

from ..library import ROOT, longs
from .cases import Dims, Sparse

with open(os.path.join(ROOT, "src", "capi", "api.json")) as file:
    FUNCTIONS = {row["name"]: row for row in json.load(file)["functions"]}
FORMS = ("as drawn", "coalesced", "by rows", "stepped")


def dense(thorn, value, stepped):
    """A handle. If `stepped`, every second row of a tensor with twice as many rows."""
    if not stepped or value.dim() == 0:
        return thorn.tensor(value)
    twice = thorn.tensor(torch.stack([value, torch.ones_like(value)], 1).reshape(2 * value.shape[0], *value.shape[1:]))
    return thorn.made("newSlice", twice, 0, 0, 2 * value.shape[0], 2)


def sparse(thorn, s, form):
    """A handle in a form. If the form needs a matrix and the operand is not one, the handle is as drawn."""
    stepped = form == "stepped"
    indices = thorn.tensor(s.indices.to(torch.int32) if stepped else s.indices)
    made = thorn.made("THSTensor_newWithTensorAndSize", indices, dense(thorn, s.values, stepped), len(s.size), list(s.size))
    if form == "coalesced":
        return thorn.made("THSTensor_newCoalesce", made)
    matrix = len(s.size) == 2 == s.sparse_dim
    return thorn.made("THSTensor_newCompressed", made) if form == "by rows" and matrix else made


def entries(thorn, handle):
    """The handle's entries, coalesced."""
    made = thorn.made("THSTensor_newCoalesce", handle)
    size = tuple(thorn.THSTensor_size(made, d) for d in range(thorn.THSTensor_nDimension(made)))
    indices, values = (thorn.value(thorn.made(part, made)) for part in ("THSTensor_newIndices", "THSTensor_newValues"))
    return Sparse(indices, values, size)


def run(thorn, case, form):
    """The result of a call."""
    function = FUNCTIONS["THSTensor_" + case.function]
    name, kind, returned, words = function["name"], function["arguments"][0]["kind"], function["returns"]["kind"], []
    if kind in ("sparse_out", "out"):
        words.append(thorn.made("THSTensor_new") if kind == "sparse_out" else thorn.fresh())
    for argument in case.arguments:
        if isinstance(argument, Sparse):
            words.append(sparse(thorn, argument, form))
        elif isinstance(argument, torch.Tensor):
            words.append(dense(thorn, argument, form == "stepped"))
        elif isinstance(argument, Dims):
            words += [len(argument.entries), longs(argument.entries)]
        elif isinstance(argument, list):
            words += [tuple(sparse(thorn, part, form) for part in argument), len(argument)]
        else:
            words.append(argument)
    if returned in ("new", "new_sparse"):
        made = thorn.made(name, *words)
        return entries(thorn, made) if returned == "new_sparse" else thorn.value(made)
    got = getattr(thorn, name)(*words)
    return entries(thorn, words[0]) if kind == "sparse_out" else thorn.value(words[0]) if kind == "out" else got
