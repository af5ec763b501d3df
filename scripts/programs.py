#!/usr/bin/env python3
"""Compares programs of torch.export in thorn with PyTorch, over many models with random weights.

    programs.py export DIR [NAME...]                     # writes NAME.pt2, NAME.core.pt2 and NAME.npz for each model
    programs.py operators DIR...                         # prints the operators in these files, with the number of models
    programs.py compare --library LIB DIR [NAME...]      # runs the files in thorn and compares the outputs
    programs.py bench --library LIB [NAME...]            # times and memory of full models in PyTorch and in thorn

The models are in scripts/compare/models. The Python needs PyTorch and numpy. A model of torchvision or transformers needs that package.
NAME.pt2 is the program as exported, and NAME.core.pt2 the program after run_decompositions(). NAME.npz has the inputs and the outputs of the
PyTorch model: `first.in0`, `first.out0` and so on, and `second.in0` for inputs of another shape. The sets run in this order, because a program
may change its buffers. `first.after0` is an input that the program has changed.
"""

import argparse
import collections
import copy
import ctypes
import gc
import json
import os
import statistics
import subprocess
import sys
import time
import traceback
import warnings
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

FORMS = {"exported": ".pt2", "decomposed": ".core.pt2"}
MODEL_FILES = "models/model.json", "serialized_exported_program.json"
TOLERANCE = 1e-4


# Export


def tensors(tree):
    import torch

    return [leaf for leaf in torch.utils._pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def dynamic_shapes(one, two):
    """Marks each dimension that differs between two sets of inputs as dynamic."""
    import torch
    from torch.export import Dim

    mark = lambda a, b: {k: Dim.AUTO for k, (m, n) in enumerate(zip(a.shape, b.shape)) if m != n} or None
    return torch.utils._pytree.tree_map(mark, one, two)


def traced(module, inputs, shapes):
    import torch

    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (inputs, None)
    return torch.export.export(copy.deepcopy(module), copy.deepcopy(args), copy.deepcopy(kwargs), dynamic_shapes=shapes, strict=False)


def decomposed(program):
    """The program after run_decompositions(), and None; or None and PyTorch's message.

    PyTorch 2.15 traces attention with other strides than attention on the CPU has. A view that is right in the trace may then fail. thorn
    runs such a program.
    """
    try:
        return program.run_decompositions(), None
    except ValueError as error:
        if not str(error).startswith("Cannot view a tensor"):
            raise
        return None, f"has no decomposition in PyTorch: {first_line(error)}"


def export_with(example, other, path):
    """Writes the program of an example. Returns the sets of inputs and outputs, and notes. The shape of `other` must be valid for the program."""
    import torch
    from compare import models

    sets = [example.inputs] + ([other] if other is not None else [])
    shapes = dynamic_shapes(example.inputs, other) if other is not None else None
    program = traced(example.module, example.inputs, shapes)
    torch.export.save(program, path + FORMS["exported"])
    core, note = decomposed(program)
    if core:
        torch.export.save(core, path + FORMS["decomposed"])
    elif os.path.exists(path + FORMS["decomposed"]):
        os.remove(path + FORMS["decomposed"])
    # The module of `program` would change the buffers of `program`.
    eager, exported = copy.deepcopy(example.module), torch.export.load(path + FORMS["exported"]).module()
    results, notes = [], [note] if note else []
    for inputs in sets:
        before, after = tensors(copy.deepcopy(inputs)), copy.deepcopy(inputs)
        with torch.no_grad():
            outputs = [t.detach().clone() for t in tensors(models.call(eager, after))]
            try:
                again = tensors(models.call(exported, copy.deepcopy(inputs)))
            except ValueError as error:
                # As in `decomposed`.
                if not str(error).startswith("Cannot view a tensor"):
                    raise
                again = outputs
                notes.append(f"does not run in PyTorch: {first_line(error)}")
        for k, (a, b) in enumerate(zip(outputs, again, strict=True)):
            if message := difference(b, a):
                raise ValueError(f"output {k} of the exported program: {message}")
        results.append((before, outputs, tensors(after)))
    return results, notes


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])[:300]}"


def export_model(folder, name, make):
    """Writes the files of one model. Returns what to report."""
    import numpy
    import torch

    torch.manual_seed(0)
    example = make()
    path = os.path.join(folder, name)
    refused = []
    for other in [*example.others, None]:
        try:
            results, notes = export_with(example, other, path)
            break
        except Exception as error:
            if other is None:
                raise
            refused.append(first_line(error))
    arrays = {}
    for which, (before, outputs, after) in zip(("first", "second"), results):
        arrays.update({f"{which}.in{k}": t.detach().numpy() for k, t in enumerate(before)})
        arrays.update({f"{which}.out{k}": t.numpy() for k, t in enumerate(outputs)})
        arrays.update({f"{which}.after{k}": t.detach().numpy() for k, t in enumerate(after) if not torch.equal(before[k], t)})
    numpy.savez(path + ".npz", **arrays)
    if other is None:
        notes.append("one shape only")
    elif refused:
        notes.append(f"shapes of choice {len(refused) + 1}")
    notes += refused
    size = os.path.getsize(path + FORMS["exported"]) / 2**20
    largest = max((float(t.abs().max()) for t in results[0][1] if t.numel() and t.is_floating_point()), default=1)
    if not 0.05 < largest < 1e4:
        notes.append(f"the largest output is {largest:.2g}")
    return f"{size:.1f} MiB" + "".join("; " + note for note in notes)


def export(options):
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    from compare import models

    os.makedirs(options.folder, exist_ok=True)
    failed = 0
    for name in options.names or models.MODELS:
        start = time.perf_counter()
        try:
            with torch.random.fork_rng():
                report = export_model(options.folder, name, models.MODELS[name])
            print(f"{name}\tok\t{time.perf_counter() - start:.1f} s\t{report}", flush=True)
        except Exception as error:
            failed += 1
            print(f"{name}\tnot exported\t{first_line(error)}", flush=True)
            if options.verbose:
                traceback.print_exc()
        gc.collect()
    return failed


# Operators


def program_of(path):
    """The JSON of an exported program."""
    with zipfile.ZipFile(path) as archive:
        for entry in archive.namelist():
            if entry.partition("/")[2] in MODEL_FILES or entry in MODEL_FILES:
                return json.loads(archive.read(entry))
    raise ValueError(f"{path} has no program")


def graphs(graph):
    """A graph and the graphs in the arguments of its nodes."""
    yield graph
    for node in graph["nodes"]:
        for argument in node["inputs"]:
            if "as_graph" in argument["arg"]:
                yield from graphs(argument["arg"]["as_graph"]["graph"])


def kind_of(value):
    """The kind of an argument, with the kinds of its entries if these may differ."""
    (kind, inner), = value.items()
    if kind in ("as_sym_int", "as_sym_bool", "as_sym_float", "as_optional_tensor"):
        return f"{kind}:{next(iter(inner))}"
    if kind in ("as_sym_ints", "as_sym_bools", "as_sym_floats", "as_optional_tensors"):
        return f"{kind}[{','.join(sorted({next(iter(entry)) for entry in inner}))}]"
    return kind


def stems(folders):
    """The paths of the models in folders, without an ending. A model in two folders counts once."""
    found = {}
    for folder in folders:
        for file in sorted(os.listdir(folder)):
            # The file of the inputs is written last.
            stem = file.removesuffix(".npz")
            if stem != file:
                found.setdefault(stem, os.path.join(folder, stem))
    return list(found.values())


def forms_of(stem):
    return [form for form, ending in FORMS.items() if os.path.exists(stem + ending)]


def operators(options):
    counts = collections.defaultdict(collections.Counter)
    arguments = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    results = collections.defaultdict(collections.Counter)
    users = collections.defaultdict(list)
    found = stems(options.folders)
    for stem in found:
        for form in forms_of(stem):
            program = program_of(stem + FORMS[form])
            seen = set()
            for graph in graphs(program["graph_module"]["graph"]):
                for node in graph["nodes"]:
                    target = node["target"]
                    seen.add(target)
                    for argument in node["inputs"]:
                        # Kind 2 is a keyword argument.
                        key = argument["name"] + ("=" if argument.get("kind") == 2 else "")
                        arguments[target][key][kind_of(argument["arg"])] += 1
                    results[target][" ".join(kind_of(output) for output in node["outputs"])] += 1
            for target in seen:
                counts[target][form] += 1
                users[target].append(os.path.basename(stem))
    print(f"# operators in {len(found)} models: models that have it as exported, and after run_decompositions(); the arguments with the kinds of values (NAME= is a keyword argument) and their counts; results; some models")
    print("operator\texported\tdecomposed\targuments\tresults\tmodels")
    kinds = lambda counter: "|".join(f"{kind}*{count}" for kind, count in counter.most_common())
    for target in sorted(counts, key=lambda target: (-sum(counts[target].values()), target)):
        shown = "; ".join(f"{name} {kinds(counter)}" for name, counter in arguments[target].items())
        some = ",".join(dict.fromkeys(users[target]))
        row = target, counts[target]["exported"], counts[target]["decomposed"], shown, kinds(results[target]), some if len(some) < 60 else some[:60] + "..."
        print(*row, sep="\t")
    return 0


# Compare


def difference(found, wanted):
    """Says how two tensors differ, or returns None. Floating-point numbers may differ by TOLERANCE times the largest value or 1."""
    import torch

    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype} {list(found.shape)}, not {wanted.dtype} {list(wanted.shape)}"
    if not wanted.numel():
        return None
    if not wanted.is_floating_point() and not wanted.is_complex():
        return None if torch.equal(found, wanted) else f"{int((found != wanted).sum())} of {wanted.numel()} elements differ"
    same = (found == wanted) | (found.isnan() & wanted.isnan())
    finite = wanted[wanted.isfinite()]
    limit = TOLERANCE * max(1, float(finite.abs().max()) if finite.numel() else 0)
    gap = torch.where(same, torch.zeros_like(found), found - wanted).abs()
    if gap.isnan().any() or gap.max() > limit:
        return f"{int((~(gap <= limit)).sum())} of {wanted.numel()} elements differ, by up to {float(gap.max()):.3g} (limit {limit:.3g})"
    return None


class Program:
    """A program that thorn has opened."""

    def __init__(self, thorn, path):
        self.thorn = thorn
        self.handle = thorn.THProgram_open(path.encode())
        self.outputs = thorn.THProgram_outputCount(self.handle)

    def run(self, inputs):
        """Runs with handles, and returns handles that the caller frees."""
        outputs = tuple(self.thorn.new() for _ in range(self.outputs))
        self.thorn.THProgram_run(outputs, len(outputs), self.handle, tuple(inputs), len(inputs))
        return outputs

    def close(self):
        self.thorn.library.THProgram_free(self.handle)


def entries(arrays, start):
    """The tensors `start0`, `start1` and so on of a file of inputs and outputs."""
    import torch

    found = []
    while f"{start}{len(found)}" in arrays:
        found.append(torch.from_numpy(arrays[f"{start}{len(found)}"].copy()))
    return found


def compare_set(thorn, program, arrays, which):
    """Runs one set of inputs. Returns the first difference, or None."""
    inputs = [thorn.tensor(t) for t in entries(arrays, which + ".in")]
    wanted = entries(arrays, which + ".out")
    if program.outputs != len(wanted):
        return f"{program.outputs} outputs, not {len(wanted)}"
    outputs = [thorn.keep(handle) for handle in program.run(inputs)]
    for k, (handle, value) in enumerate(zip(outputs, wanted)):
        if message := difference(thorn.value(handle), value):
            return f"{which} output {k} of {len(wanted)}: {message}"
    import torch

    for k, handle in enumerate(inputs):
        if (name := f"{which}.after{k}") in arrays and (message := difference(thorn.value(handle), torch.from_numpy(arrays[name]))):
            return f"{which} input {k}, which the program changes: {message}"
    return None


def compare_file(stem, form):
    """Runs one file. Returns a message, or None if all outputs agree."""
    import numpy
    from compare.library import Refused, Thorn

    thorn = Thorn()
    live = thorn.library.THMemory_liveBytes()
    arrays = numpy.load(stem + ".npz")
    try:
        program = Program(thorn, stem + FORMS[form])
        try:
            for which in ("first", "second"):
                if which + ".out0" in arrays and (message := compare_set(thorn, program, arrays, which)):
                    return message
        finally:
            program.close()
    except Refused as error:
        return f"error: {error}"
    finally:
        left = thorn.close() - live
    return f"{left} bytes are left" if left else None


def use_library(path):
    """Chooses the library before it is loaded, and checks that its header has programs."""
    if path:
        os.environ["THORN_LIB"] = os.path.abspath(path)
    from compare.library import FUNCTIONS

    if "THProgram_run" not in FUNCTIONS:
        raise SystemExit("include/thorn.h has no THProgram_run")


def compare(options):
    use_library(options.library)
    failures = collections.Counter()
    count = 0
    wanted = [stem for stem in stems([options.folder]) if not options.names or os.path.basename(stem) in options.names]
    for stem in wanted:
        for form in forms_of(stem) if options.form == "both" else [options.form]:
            start = time.perf_counter()
            message = compare_file(stem, form)
            count += 1
            failures[form] += message is not None
            print(f"{os.path.basename(stem)}\t{form}\t{message or 'ok'}\t{time.perf_counter() - start:.2f} s", flush=True)
    failed = sum(failures.values())
    print(f"{count - failed} of {count} programs agree with PyTorch" + "".join(f"; {n} {form} ones fail" for form, n in failures.items() if n))
    return failed or not count


# Bench

BATCHES = 1, 8


def full_models():
    """Full models by name: a function that makes the module, and one that makes its inputs for a batch."""
    import torch

    def torchvision_model(name):
        import torchvision

        return getattr(torchvision.models, name)(weights=None)

    def transformer(name, config):
        import transformers
        from compare.models.language import Fixed

        made = getattr(transformers, name)(getattr(transformers, config)())
        return Fixed(made, use_cache=False) if name.startswith("GPT2") else Fixed(made)

    picture = lambda batch: (torch.randn(batch, 3, 224, 224),)
    words = lambda batch: {"input_ids": torch.randint(0, 30000, (batch, 128)), "attention_mask": torch.ones(batch, 128, dtype=torch.int64)}
    return {
        "resnet18": (lambda: torchvision_model("resnet18"), picture),
        "mobilenet_v3_small": (lambda: torchvision_model("mobilenet_v3_small"), picture),
        "vit_b_16": (lambda: torchvision_model("vit_b_16"), picture),
        "bert_base": (lambda: transformer("BertModel", "BertConfig"), words),
        "gpt2": (lambda: transformer("GPT2LMHeadModel", "GPT2Config"), words),
    }


def bench_module(name):
    import torch

    torch.manual_seed(0)
    return full_models()[name][0]().eval()


def bench_file(cache, name, form):
    """The path of an exported model in the cache. Exports the model if the file is missing."""
    import torch

    path = os.path.join(cache, name + FORMS[form])
    if not os.path.exists(path):
        os.makedirs(cache, exist_ok=True)
        one, two = full_models()[name][1](2), full_models()[name][1](3)
        module, shapes = bench_module(name), dynamic_shapes(one, two)
        program = traced(module, one, shapes)
        torch.export.save(program, os.path.join(cache, name + FORMS["exported"]))
        if core := decomposed(program)[0]:
            torch.export.save(core, os.path.join(cache, name + FORMS["decomposed"]))
    return path


class Runs:
    """One way to run a model: `run()` computes the outputs, and returns one of them as a PyTorch tensor if asked."""

    def __init__(self, run, output):
        self.run, self.output, self.times = run, output, []

    def time(self):
        """Adds the processor time of a run. Other programs on the machine change it less than the elapsed time."""
        start = time.process_time()
        self.run()
        self.times.append(time.process_time() - start)


def eager_runs(module, inputs):
    import torch
    from compare.models import call

    def run():
        with torch.no_grad():
            return tensors(call(module, inputs))[0]

    return Runs(run, run)


def thorn_runs(thorn, path, inputs):
    program = Program(thorn, path)
    handles = [thorn.tensor(t) for t in tensors(inputs)]

    def run():
        for handle in program.run(handles):
            thorn.library.THTensor_free(handle)

    def output():
        outputs = program.run(handles)
        value = thorn.value(outputs[0])
        for handle in outputs:
            thorn.library.THTensor_free(handle)
        return value

    return Runs(run, output)


def ways(options, name, batch, names):
    """The ways to run a model that `names` lists, by name."""
    import torch

    torch.manual_seed(1)
    inputs = full_models()[name][1](batch)
    found = {}
    if "eager" in names:
        found["eager"] = eager_runs(bench_module(name), inputs)
    if "module" in names:
        found["module"] = eager_runs(torch.export.load(bench_file(options.cache, name, "exported")).module(), inputs)
    if "thorn" in names or "thorn.core" in names:
        use_library(options.library)
        from compare.library import Thorn

        thorn = Thorn()
        thorn.THSetNumThreads(1)
        # A model may have no decomposed form (see decomposed()).
        for form, way in (("exported", "thorn"), ("decomposed", "thorn.core")):
            if way in names and os.path.exists(bench_file(options.cache, name, form)):
                found[way] = thorn_runs(thorn, bench_file(options.cache, name, form), inputs)
    return found


def status_kib(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))


class MemoryStats(ctypes.Structure):
    """THMemoryStats."""

    _fields_ = [(name, ctypes.c_int64) for name in ("live", "peak", "cached", "limit", "allocations", "hits")]


def thorn_memory():
    from compare.library import Thorn

    stats = MemoryStats()
    Thorn().THMemory_stats(ctypes.cast(ctypes.byref(stats), ctypes.c_void_p))
    return stats


def measure_memory(options):
    """Prints, as JSON, the memory and the times of the first two runs of one way. The program runs itself for this, because a peak is of a process."""
    import torch

    torch.set_num_threads(1)
    way = options.way
    if way.startswith("thorn"):
        bench_file(options.cache, options.model, "exported")
    start = time.perf_counter()
    runs = ways(options, options.model, options.batch, [way])[way]
    opened = time.perf_counter() - start
    gc.collect()
    before = status_kib("VmRSS")
    live = thorn_memory().live if way.startswith("thorn") else 0
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    runs.time()
    first_peak = status_kib("VmHWM")
    for _ in range(3):
        runs.time()
    found = {"open": opened, "loaded": before / 1024, "peak": (status_kib("VmHWM") - before) / 1024, "first": runs.times[0], "later": min(runs.times[1:]), "first_peak": (first_peak - before) / 1024}
    if way.startswith("thorn"):
        stats = thorn_memory()
        found.update(own_peak=(stats.peak - live) / 2**20, own_cached=stats.cached / 2**20)
    print(json.dumps(found))
    return 0


def memory_of(options, name, batch, way):
    command = [sys.executable, os.path.abspath(__file__), "memory", "--cache", options.cache, name, str(batch), way]
    command += ["--library", options.library] if options.library else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def bench_model(options, name, batch, names):
    """Prints one line for each way. The ways run in turn, so that a busy machine slows all of them."""
    found = ways(options, name, batch, names)
    wanted = found["eager"].output()
    notes = {}
    for way, runs in found.items():
        if message := difference(runs.output(), wanted):
            notes[way] = message
        runs.run()
    start = time.perf_counter()
    rounds = 0
    while rounds < 5 or (time.perf_counter() - start < options.seconds and rounds < 50):
        for runs in found.values():
            runs.time()
        rounds += 1
    base = found["eager"].times
    for way, runs in found.items():
        best, median = min(runs.times), statistics.median(runs.times)
        row = f"{name}\t{batch}\t{way}\t{best * 1e3:.1f}\t{median * 1e3:.1f}\t{best / min(base):.2f}\t{median / statistics.median(base):.2f}\t{rounds}"
        if not options.no_memory and (memory := memory_of(options, name, batch, way)):
            row += f"\t{memory['loaded']:.0f}\t{memory['peak']:.0f}\t" + (f"{memory['own_peak']:.0f}" if "own_peak" in memory else "-")
            row += f"\t{memory['open']:.2f}\t{memory['first'] * 1e3:.0f}\t{memory['later'] * 1e3:.0f}"
        else:
            row += "\t-" * 6
        print(row + f"\t{notes.get(way, '')}", flush=True)


def bench(options):
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    names = ["eager", "module"]
    if not options.torch_only:
        use_library(options.library)
        names += ["thorn", "thorn.core"]
    print(f"# PyTorch {torch.__version__}, one thread. Processor times in ms, memory in MiB, time to open in s. loaded: resident set before the first run; peak: growth of the resident set in four runs; own: growth by thorn's statistics; first, later: times in that process")
    print("model\tbatch\tway\tmin\tmedian\tmin/eager\tmedian/eager\truns\tloaded\tpeak\town\topen\tfirst\tlater\tnote")
    for name in options.names or full_models():
        for batch in options.batches:
            bench_model(options, name, batch, names)
            gc.collect()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(function, *arguments, **defaults):
        added = commands.add_parser(defaults.pop("name", function.__name__))
        for names, settings in arguments:
            added.add_argument(*names, **settings)
        added.set_defaults(function=function)

    folder, names = (["folder"], {}), (["names"], {"nargs": "*"})
    library = ["--library"], {"help": "libthorn.so; default: THORN_LIB or cargo's build output"}
    cache = ["--cache"], {"default": os.path.join(os.environ.get("TMPDIR", "/tmp"), "programs", "bench")}
    command(export, folder, names, (["--verbose"], {"action": "store_true"}))
    command(operators, (["folders"], {"nargs": "+"}))
    command(compare, library, (["--form"], {"choices": [*FORMS, "both"], "default": "both"}), folder, names)
    command(
        bench, library, cache, names, (["--seconds"], {"type": float, "default": 10}), (["--batches"], {"type": int, "nargs": "*", "default": BATCHES}),
        (["--torch-only"], {"action": "store_true"}), (["--no-memory"], {"action": "store_true"}),
    )
    command(measure_memory, library, cache, (["model"], {}), (["batch"], {"type": int}), (["way"], {}), name="memory")
    options = parser.parse_args()
    sys.exit(1 if options.function(options) else 0)


if __name__ == "__main__":
    main()
