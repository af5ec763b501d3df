#!/usr/bin/env python3
"""Writes a function for each function of include/thorn.h that draws its arguments, calls it and checks the outcome.

    scripts/sequences.py build/sequences/calls.h
    scripts/sequences.py --differences build/sequences/plays.h

The second form writes a table of functions for c_tests/sequences/differences.c instead. The table has all functions that
change what a handle shows or make views, the functions that write to storages, and a few smooth operations.

c_tests/sequences has the rest of the program. Arguments are drawn by their kinds. Functions that need more, because the library must
trust their arguments or because they would use up all memory, are hand-written in c_tests/sequences: special.h, which has the reasons,
exchange.h, files.h, gradients.h, programs.h and sparse.h. LEFT_OUT lists the functions that are never called.
"""

import json
import os
import re
import sys

from prototypes import enums, functions

ROWS = os.path.join(os.path.dirname(__file__), "..", "src", "capi", "api.json")
SPECIAL = [os.path.join(os.path.dirname(__file__), "..", "c_tests", "sequences", name) for name in ("special.h", "exchange.h", "files.h", "gradients.h", "programs.h", "sparse.h")]

LEFT_OUT = {
    "THRefcountedMapAllocator_incref": "takes a bare address of counted shared memory, which nothing can check",
    "THRefcountedMapAllocator_decref": "takes a bare address of counted shared memory, which nothing can check",
}

# The expression that draws an argument, by its kind in src/capi/api.json. {name} is replaced by the argument's name in quotes.
BY_KIND = {
    **dict.fromkeys(["inputs", "optional_inputs", "list_or_null", "outs", "new_handles"], "handles({name}, {count})"),
    "sparse_inputs": "sparse_handles({name}, {count})",
    **dict.fromkeys(["sizes", "optional_sizes", "strides", "optional_strides", "dims", "optional_dims", "entries", "counts",
                     "optional_counts"], "list({name}, {count})"),
    **dict.fromkeys(["len", "len_or_whole", "handle_count"], "entries({name})"),
    **dict.fromkeys(["entry", "size", "stride", "count", "integer", "offset", "length"], "whole({name})"),
    "dim": "dimension({name})", "flag": "truth({name})", "int": "code({name}, 3)", "seed": "bits()",
    "cuda_memory_out": "chance(5) ? NULL : &(THCudaMemory){{0}}",
    "cuda_properties_out": "chance(5) ? NULL : &(THCudaProperties){{0}}",
    "stats_out": "chance(5) ? NULL : &(THMemoryStats){{0}}", "print_options": "print_options({name})",
    "print_options_out": "chance(5) ? NULL : &(THPrintOptions){{0}}",
}
# The same by type, if the kind does not matter: constants, handles, also for functions outside of api.json, and numbers.
BY_TYPE = {
    **{name: f"code({{name}}, {most})" for name, most in enums().items()},
    "THTensor *": "tensor({name})", "const THTensor *": "tensor({name})",
    "THSTensor *": "sparse({name})", "const THSTensor *": "sparse({name})",
    "THStorage *": "storage({name})", "const THStorage *": "storage({name})",
    "THGenerator *": "generator({name})", "THArchive *": "archive({name})", "const THArchive *": "archive({name})",
    # NULL, because there are none without a GPU.
    **dict.fromkeys(["THCudaStream *", "const THCudaStream *", "THCudaEvent *", "const THCudaEvent *", "THCudaGraph *",
                     "const THCudaGraph *", "THCudaCallback", "void *"], "NULL"),
    "const THFused *": "fused({name})", "const THOptim *": "optim({name})", "const THProgram *": "program({name})", "THOptimClosure": "NULL", "THProgressFunction": "NULL",
    "THMapAllocatorContext *": "context({name})", "double": "number({name})",
}
# Arguments of functions of compressed rows that are parts of one sparse tensor. The two matrices of a product are called a and b.
PARTS_OF_ROWS = {"crow": "STARTS", "col": "COLUMNS", "values": "VALUES", "g": "VALUES", "y": "VALUES"}
# The same by type and name, if the kind is not sufficient.
BY_NAME = {"double": dict.fromkeys(["start", "end", "step"], "bound({name})")}
# Texts that are drawn in addition to the words and examples of an argument. The last library is not a BLAS.
HOSTILE = ["", "ijk", "->", "\\xff", "/no/such/file", "libm.so.6"]
# The statement that keeps or frees the returned value, by its kind.
KEPT = {**dict.fromkeys(["new", "new_or_null"], "keep_tensor(got);"), "new_storage": "keep_storage(got);", "new_generator": "keep_generator(got);",
        "new_fused": "keep_fused(got);", "new_optim": "keep_optim(got);", "new_sparse": "keep_sparse(got);",
        "borrowed_text": "read_text(got);", "new_text": "free_text(got);"}


def drawn(parameter, told, count, function):
    """The expression for an argument of a function. `told` is the argument's entry in api.json, `count` the parameter with the number
    of entries of lists."""
    kind = told.get("kind")
    if function.startswith("THSTensor_") and kind == "input":
        return f'beside_sparse("{parameter.name}")'
    if function.startswith("THTensor_csr") and kind in ("index", "input", "optional_input"):
        part = PARTS_OF_ROWS.get(parameter.name.lstrip("ab") or parameter.name)
        return f'part_of_rows("{parameter.name}", {part})' if part else f'beside_rows("{parameter.name}")'
    if kind in ("text", "optional_text"):
        texts = [f'"{text}"' for text in told.get("words", []) + told.get("examples", []) + HOSTILE] + ["NULL"]
        return f'one_of("{parameter.name}", (const char *const[]){{{", ".join(texts)}}}, {len(texts)})'
    form = BY_NAME.get(parameter.type, {}).get(parameter.name) or BY_KIND.get(kind) or BY_TYPE.get(parameter.type)
    if not form or "{count}" in form and not count:
        sys.exit(f"no way to draw {parameter.type} {parameter.name}, of kind {kind}: scripts/sequences.py or special.h must know one")
    return form.format(name=f'"{parameter.name}"', count=count)


def fitting(row, count):
    """Expressions for arguments that fit each other, by name, and their letters. src/api/notes.rs documents the grammar."""
    if "shapes" not in row:
        return {}, []
    kinds = {argument["name"]: argument["kind"] for argument in row["arguments"]}
    forms = {name: "NULL" for name, kind in kinds.items() if kind in ("optional_counts", "optional_sizes")}
    letters = set()

    def array(sizes):
        letters.update(re.findall(r"\b[a-z]\b", sizes))
        return f"{sizes.count(',') + 1}, (int64_t[]){{{sizes}}}" if sizes != "()" else "0, NULL"

    def tensor(name, sizes):
        mark = sizes[0] if sizes[0] in "+@#" else " "
        return f"fitting_tensor(\"{name}\", '{mark}', {array(sizes.lstrip('+@#'))})"

    for note in row["shapes"].split("; "):
        name, sign, given = re.fullmatch(r"(\w+)([ =])(.*)", note).groups()
        least, _, most = given.partition("..")
        if sign == " " and kinds[name] == "inputs":
            tensors = [tensor("", sizes) for sizes in given.split(" & ")]
            forms[name] = f'fitting_tensors("{name}", {len(tensors)}, (THTensor *[]){{{", ".join(tensors)}}})'
        elif sign == " ":
            forms[name] = tensor(name, given)
        elif kinds[name] == "text":
            forms[name] = f'"{given}"'
        elif given.startswith("["):
            forms[name] = f'these("{name}", {array(given.strip("[]"))})'
        elif "{count}" in BY_KIND.get(kinds[name], ""):
            forms[name] = f'few("{name}", {count}, {least}, {most or least})'
        else:
            letters.update(re.findall(r"\b[a-z]\b", given))
            forms[name] = f"{least} + below({most} - {least} + 1)" if most else given
    return forms, sorted(letters)


def call(function, row):
    """The C function that calls the library's function `row`. Its variables end with an underscore, because the functions that draw
    arguments have the plain names."""
    told = {argument["name"]: argument for argument in row["arguments"]}
    counts = [name for name in told if told[name].get("kind") in ("len", "len_or_whole", "handle_count")]
    count = f"{counts[-1]}_" if counts else None
    lines = [f'begin("{function.name}");']
    forms, letters = fitting(row, count)
    if forms:
        lines.append("bool fits = fitting();")
    lines += [f"int64_t {letter} = {'4 + below(4)' if letter in 'xyz' else '1 + below(3)'};" for letter in letters]

    def own_count(parameter):
        """The count of a list of handles is the first one after the list. Other lists follow their count."""
        names = list(told)
        after = [name for name in counts if told[name].get("kind") == "handle_count" and names.index(name) > names.index(parameter.name)]
        return f"{after[0]}_" if after else count

    def drawn_or_fitting(parameter):
        by_chance = drawn(parameter, told[parameter.name], own_count(parameter), function.name)
        return f"fits ? {forms[parameter.name]} : {by_chance}" if parameter.name in forms else by_chance

    # A list may come before its count.
    for parameter in sorted(function.parameters, key=lambda parameter: parameter.name not in counts):
        lines.append(f"{parameter.type} {parameter.name}_ = {drawn_or_fitting(parameter)};".replace("* ", "*"))
    lines.append("before();")
    arguments = ", ".join(f"{parameter.name}_" for parameter in function.parameters)
    got = "" if function.result == "void" else f"{function.result} got = ".replace("* ", "*")
    lines.append(f"{got}{function.name}({arguments});")
    lines.append("after_status(got);" if function.result == "THStatus" else "after();")
    if row["returns"].get("kind") in KEPT:
        lines.append(KEPT[row["returns"]["kind"]])
    elif function.result not in ("void", "THStatus"):
        lines.append("(void)got;")
    body = "\n    ".join(lines)
    return f"static void call_{function.name}(void) {{\n    {body}\n}}\n"


# The letter of each kind in the table of --differences; c_tests/sequences/steps.h explains the letters.
LETTERS = {"out": "o", "view_out": "v", "inout": "m", "input": "i", "shared": "i", "handle": "h", "emptied": "h", "storage": "s", "storage_out": "s",
           "storage_input": "S", "strides": "T",
           "dim": "d", "entry": "e", "offset": "e", "integer": "e", "count": "c", "size": "z", "length": "z", "stride": "t",
           "number": "x", "factor": "x", "parameter": "x", "flag": "f", "flags": "g", "dtype": "y", "len": "l", "len_or_whole": "l",
           "sizes": "Z", "dims": "D", "entries": "E", "counts": "E", "optional_strides": "0", "memory_input": "M", "new_handles": "N",
           "count_inout": "K"}
# Operations whose values stay bounded, with few kinks.
SMOOTH = """fill zero copy add mul cadd csub cmul neg sin cos tanh sigmoid atan sum mean mm matmul addmm addcmul lerp cumsum softmax
            logSoftmax cat flip triu amax amin logsumexp relu abs""".split()
# Functions that make the first handles, without inputs.
MAKERS = ["THTensor_new", "THTensor_newWithDtype", "THTensor_newFull", "THTensor_newZeros"]
# Functions that the table leaves out, with the reasons.
NOT_PLAYED = {
    "THTensor_newEmptyLike": "elements are undefined",
    **dict.fromkeys(["THTensor_newTo", "THTensor_newContiguous", "THTensor_newContiguousFormat", "THTensor_newViewDtype",
                     "THTensor_newCpu", "THTensor_newPinned", "THTensor_shareMemory", "THTensor_freeCopyTo", "THTensor_nonzeroTuple"],
                    "the replay has other dtypes, or the function is about memory"),
    "THTensor_zeroGrad": "the gradient is what the rule compares",
    "THTensor_removeHook": "the replay could not undo what the hook did before",
}


def play(function, row):
    """The class of a function, the letters of its arguments and the function that calls it; None for a function that the rule leaves
    out."""
    kinds = [argument.get("kind") for argument in row["arguments"]]
    short = function.name.removeprefix("THTensor_")
    if function.name in NOT_PLAYED or not set(kinds) <= set(LETTERS) or row["returns"].get("kind") not in ("status", "new"):
        return None
    letters = "".join(LETTERS[kind] for kind in kinds)
    makes = row["returns"].get("kind") == "new"
    if function.name.startswith("THStorage_"):
        kind = "STORAGE" if "s" in letters else None
    elif not function.name.startswith("THTensor_"):
        return None
    elif makes:
        kind = "VIEW" if "i" in letters or "s" in letters else "MAKER" if function.name in MAKERS else None
    elif short in SMOOTH:
        kind = "SMOOTH"
    else:
        kind = "VIEW" if set("vN") & set(letters) else "HANDLE" if "h" in letters else "ELEMENT" if "m" in letters else None
    if not kind:
        return None
    fields = {"o": "t", "v": "t", "m": "t", "i": "t", "h": "t", "s": "s", "S": "s", "x": "x"}
    given = {"l": "p->len", "Z": "p->list", "D": "p->list", "E": "p->list", "T": "p->strides", "0": "NULL", "M": "p->memory", "N": "p->made", "K": "&p->count"}

    def argument(k, letter, parameter):
        cast = "" if letter in fields else f"({parameter.type})"
        return given.get(letter) or f"{cast}p->a[{k}].{fields.get(letter, 'n')}"

    arguments = ", ".join(argument(k, letter, parameter) for k, (letter, parameter) in enumerate(zip(letters, function.parameters)))
    body = f"p->made[0] = {function.name}({arguments});\n    p->status = p->made[0] ? TH_OK : THGetLastErrorCode();" if makes else \
        f"p->status = {function.name}({arguments});"
    return kind, letters, makes, f"static void play_{function.name}(struct play *p) {{\n    {body}\n}}\n"


def write_plays(path):
    """Writes the table of functions for the rule of gradients."""
    every = functions()
    with open(ROWS) as file:
        rows = {row["name"]: row for row in json.load(file)["functions"]}
    if unknown := {f"THTensor_{name}" for name in SMOOTH} - set(rows):
        sys.exit(f"the table of operations has no {', '.join(sorted(unknown))}")
    plays = {name: played for name in every if name in rows and (played := play(every[name], rows[name]))}
    entries = [f'    {{"{name}", "{letters}", {kind}, {str(makes).lower()}, play_{name}}},'
               for name, (kind, letters, makes, _) in plays.items()]
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w") as file:
        file.write("/* Written by scripts/sequences.py. */\n\n" + "\n".join(text for *_, text in plays.values()))
        file.write("\nstatic const struct function FUNCTIONS[] = {\n" + "\n".join(entries) + "\n};\n")


def main(path):
    special = set()
    for header in SPECIAL:
        with open(header) as file:
            special |= set(re.findall(r"^static void call_(TH\w+)\(void\)", file.read(), re.M))
    every = functions()
    if unknown := (special | set(LEFT_OUT)) - set(every):
        sys.exit(f"the header has no {', '.join(sorted(unknown))}")
    names = [name for name in every if name not in LEFT_OUT]
    with open(ROWS) as file:
        rows = {row["name"]: row for row in json.load(file)["functions"]}
    parts = [call(every[name], rows[name]) for name in names if name not in special]
    parts.append("static const char *const NAMES[] = {\n    " + ",\n    ".join(f'"{name}"' for name in names) + ",\n};\n")
    parts.append("static void (*const CALLS[])(void) = {\n    " + ",\n    ".join(f"call_{name}" for name in names) + ",\n};\n")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w") as file:
        file.write("/* Written by scripts/sequences.py. */\n\n" + "\n".join(parts))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--differences":
        write_plays(sys.argv[2])
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit("usage: sequences.py [--differences] FILE")
