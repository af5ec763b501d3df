"""Recurrent layers: LSTM, GRU and simple layers, in every arrangement."""

import itertools

from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from .layers import HALVES, sheet
from .operands import *

GATES = {"lstm": 4, "gru": 3, "rnn": 1}
TIME, BATCH, INPUTS, HIDDEN = 4, 3, 2, 3
# The largest deviation of a number near 0.
LEAST = {"float16": 2**-12, "bfloat16": 2**-9, "float32": 2e-6, "float64": 1e-14}


def by_torch(kind, x, states, weights, lengths, layers, bidirectional, batch_first, relu=False):
    """The output and the final states that PyTorch computes in float64."""
    sides, each = layers * (1 + bidirectional), len(weights) // (layers * (1 + bidirectional))
    make = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}[kind]
    more = {"nonlinearity": "relu" if relu else "tanh"} if kind == "rnn" else {}
    hidden = weights[1].shape[1]
    module = make(x.shape[2], hidden, layers, bias=each == 4, batch_first=batch_first, bidirectional=bidirectional, **more).double()
    with torch.no_grad():
        for parameter, weight in zip(itertools.chain.from_iterable(module.all_weights), weights):
            parameter.copy_(weight.double())
        batch = x.shape[0 if batch_first else 1]
        first = [torch.zeros(sides, batch, hidden, dtype=torch.float64) if s is None else s.double().clone() for s in states]
        if lengths is None:
            output, last = module(x.double(), tuple(first) if kind == "lstm" else first[0])
            return [output, *(last if kind == "lstm" else [last])]
        # PyTorch accepts no sequences without steps. They keep their states, and their outputs are 0.
        some = [b for b in range(batch) if lengths[b] > 0]
        dim, time = (0, x.shape[1]) if batch_first else (1, x.shape[0])
        packed = pack_padded_sequence(x.double().index_select(dim, torch.tensor(some)), lengths[some], batch_first, enforce_sorted=False)
        chosen = [s[:, some].contiguous() for s in first]
        output, last = module(packed, tuple(chosen) if kind == "lstm" else chosen[0])
        whole = torch.zeros(*x.shape[:2], hidden * (1 + bidirectional), dtype=torch.float64)
        whole.index_copy_(dim, torch.tensor(some), pad_packed_sequence(output, batch_first, total_length=time)[0])
        for state, end in zip(first, last if kind == "lstm" else [last]):
            state[:, some] = end
    return [whole, *first]


def weights_of(kind, dtype, layers, directions, biased):
    """The weights of all sides."""
    weights, rows = [], GATES[kind] * HIDDEN
    for side in range(layers * directions):
        columns = INPUTS if side < directions else HIDDEN * directions
        shapes = [(rows, columns), (rows, HIDDEN)] + [(rows,)] * 2 * biased
        weights += [sheet(f"{kind}.{layers}{directions}{side}{k}", dtype, shape, 41 + 5 * side + k, -32, 32, 2**-5) for k, shape in enumerate(shapes)]
    return tuple(weights)


def networks():
    arrangements = [
        # Layers, both directions, batch first, biases, lengths, initial states.
        (1, False, False, True, None, True),
        (1, False, False, False, None, False),
        (1, False, True, True, [2, 4, 1], True),
        (1, True, False, True, [3, 0, 4], True),
        (2, True, True, False, None, True),
        (2, True, False, True, [1, 3, 3], False),
        (3, False, False, True, [4, 4, 2], True),
    ]
    kinds = (("lstm", False), ("gru", False), ("rnn", False), ("rnn", True))
    for dtype, (kind, relu), arrangement in itertools.product(FLOATS, kinds, arrangements):
        layers, both, batch_first, biased, given, has_states = arrangement
        if dtype in HALVES and given != [3, 0, 4] or relu and layers == 3:
            continue
        x = sheet(f"sequences.{int(batch_first)}", dtype, (BATCH, TIME, INPUTS) if batch_first else (TIME, BATCH, INPUTS), 42, -32, 32, 2**-4)
        weights = weights_of(kind, dtype, layers, 1 + both, biased)
        count = 2 if kind == "lstm" else 1
        states = [sheet(f"states{k}.{layers}{int(both)}", dtype, (layers * (1 + both), BATCH, HIDDEN), 43 + k, -32, 32, 2**-5) for k in range(count)]
        lengths = tensor(f"lengths.{''.join(map(str, given))}", given, "int32" if dtype == "float64" else "int64") if given else None
        expected = by_torch(kind, x.value, [s.value if has_states else None for s in states], [w.value for w in weights],
                            lengths and lengths.value.long(), layers, both, batch_first, relu)
        arguments = [R, *[MAYBE] * count, NULL, x, *(states if has_states else [NULL] * count), weights, len(weights), lengths or NULL, layers,
                     both, batch_first, *([relu] if kind == "rnn" else [])]
        expect(kind, arguments, *(t.to(x.value.dtype) for t in expected), ulps=8 if dtype not in HALVES else 1, more=f"unsigned abs={LEAST[dtype]}")


def cells():
    for dtype, kind, biased in itertools.product(FLOATS, GATES, (True, False)):
        x, h, c = (sheet(f"cell.{name}", dtype, (BATCH, n), 51 + n, -32, 32, 2**-4) for name, n in (("x", INPUTS), ("h", HIDDEN), ("c", HIDDEN)))
        weights = weights_of(kind, dtype, 1, 1, biased)
        absent = [NULL] * (0 if biased else 2)
        for relu in (False, True) if kind == "rnn" else (False,):
            f = {"lstm": torch.lstm_cell, "gru": torch.gru_cell, "rnn": torch.rnn_relu_cell if relu else torch.rnn_tanh_cell}[kind]
            values = [w.value.double() for w in weights]
            given = (h.value.double(), c.value.double()) if kind == "lstm" else h.value.double()
            results = f(x.value.double(), given, *values)
            results = list(results) if kind == "lstm" else [results]
            own = [MAYBE, NULL, x, h, c] if kind == "lstm" else [NULL, x, h]
            expect(f"{kind}Cell", [R, *own, *weights, *absent, *([relu] if kind == "rnn" else [])], *(t.to(x.value.dtype) for t in results),
                   ulps=8 if dtype not in HALVES else 1, more=f"unsigned abs={LEAST[dtype]}")


def refusals():
    x, h = sheet("sequences.0", "float32", (TIME, BATCH, INPUTS), 42, -32, 32, 2**-4), sheet("states0.10", "float32", (1, BATCH, HIDDEN), 43, -32, 32, 2**-5)
    weights = weights_of("gru", "float32", 1, 1, True)
    long, short, negative = (tensor(f"lengths.{name}", values, "int64") for name, values in (("long", [5, 1, 1]), ("short", [1, 1]), ("negative", [-1, 1, 1])))
    call = lambda x=x, h=h, weights=weights, lengths=NULL, layers=1, both=0: [R, R, NULL, x, h, weights, len(weights), lengths, layers, both, 0]
    refuse("gru", call(x=PLAIN["float32"]), ERR_SHAPE)
    refuse("gru", call(x=EMPTY3["int64"]))
    refuse("gru", call(h=PLAIN["float32"]), ERR_SHAPE)
    refuse("gru", call(h=sheet("states0.10", "float64", (1, BATCH, HIDDEN), 43, -32, 32, 2**-5)))
    refuse("gru", call(weights=weights[:3]), ERR_ARGUMENT)
    refuse("gru", call(weights=weights_of("lstm", "float32", 1, 1, True)), ERR_SHAPE)
    refuse("gru", call(layers=2), ERR_SHAPE)
    refuse("gru", call(layers=0), ERR_ARGUMENT)
    refuse("gru", call(both=1), ERR_SHAPE)
    refuse("gru", call(lengths=long), ERR_ARGUMENT)
    refuse("gru", call(lengths=negative), ERR_ARGUMENT)
    refuse("gru", call(lengths=short), ERR_SHAPE)
    refuse("gru", call(lengths=tensor("lengths.floats", [1, 1, 1], "float32")))
    cell = sheet("cell.x", "float32", (BATCH, INPUTS), 53, -32, 32, 2**-4)
    refuse("gruCell", [R, NULL, cell, cell, *weights], ERR_SHAPE)
    refuse("gruCell", [R, NULL, cell, sheet("cell.h", "float32", (BATCH, HIDDEN), 54, -32, 32, 2**-4), *weights[:3], NULL], ERR_ARGUMENT)


def rows():
    networks()
    cells()
    refusals()
