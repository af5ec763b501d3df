#!/usr/bin/env python3
"""Writes a function for each of include/thorn.h that draws its arguments, calls it and has the outcome looked at.

    scripts/sequences.py build/sequences/calls.h

c_tests/sequences has the rest of the program. Arguments are drawn by their types and names; what needs more, since the library must trust it or
since it would take all memory there is, stands in c_tests/sequences/special.h with its reason. Functions that are never called stand in LEFT_OUT.
"""

import os
import re
import sys

from prototypes import functions

SPECIAL = os.path.join(os.path.dirname(__file__), "..", "c_tests", "sequences", "special.h")

LEFT_OUT = {
    "THRefcountedMapAllocator_incref": "takes a bare address of counted shared memory, which nothing can check",
    "THRefcountedMapAllocator_decref": "takes a bare address of counted shared memory, which nothing can check",
}

# By type, or by type and name: how an argument is drawn. {name} stands for its name in quotes.
BY_TYPE = {
    "THTensor *": "tensor({name})", "const THTensor *": "tensor({name})",
    "THStorage *": "storage({name})", "const THStorage *": "storage({name})",
    "THGenerator *": "generator({name})", "THMapAllocatorContext *": "context({name})",
    "int64_t": "whole({name})", "ptrdiff_t": "whole({name})", "uint64_t": "bits()", "double": "number({name})",
    "THGeneratorKind": "code({name}, 2)", "THFan": "code({name}, 1)",
    "THDtype": "code({name}, 10)", "THMemoryFormat": "code({name}, 3)", "THDivMode": "code({name}, 2)", "THInterpolation": "code({name}, 4)", "THStatus": "code({name}, 11)",
    "THReduce": "code({name}, 3)", "THPadMode": "code({name}, 3)", "THMatrixNorm": "code({name}, 7)",
    "THMemoryStats *": "chance(5) ? NULL : &(THMemoryStats){{0}}",
    "const THPrintOptions *": "print_options({name})", "THPrintOptions *": "chance(5) ? NULL : &(THPrintOptions){{0}}",
}
BY_NAME = {
    "int": {
        **dict.fromkeys(["dimension", "dimension1", "dimension2", "dim", "dim1", "dim2", "start", "end"], "dimension({name})"),
        **dict.fromkeys(["keepdim", "biased", "increasing", "equalNan", "accumulate", "replacement", "descending", "stable", "largest", "sorted", "right", "invert", "assumeUnique",
                         "transposed", "ceilMode", "countIncludePad", "normalized", "onesided", "upper", "transpose", "unitriangular", "pivot", "some", "left", "symmetric"], "truth({name})"),
        **dict.fromkeys(["ndim", "count"], "entries({name})"),
        **dict.fromkeys(["imageDims", "signalDims"], "code({name}, 3)"),
        "dtype": "code({name}, 10)", "interpolation": "code({name}, 4)",
    },
    "double": dict.fromkeys(["start", "end", "step"], "bound({name})"),
    "const char *": {
        "vf": 'one_of({name}, (const char *const[]){{"V", "F", "", "X", NULL}}, 5)',
        "xc": 'one_of({name}, (const char *const[]){{"X", "C", "", "V", NULL}}, 5)',
        "name": 'one_of({name}, (const char *const[]){{"float32", "long", "", "float3", NULL}}, 5)',
        "indexing": 'one_of({name}, (const char *const[]){{"ij", "xy", "", "ijk", NULL}}, 5)',
        "path": 'one_of({name}, (const char *const[]){{NULL, "libopenblas.so.0", "libm.so.6", "/no/such/file", ""}}, 5)',
        "equation": 'one_of({name}, (const char *const[]){{"ij,jk->ik", "...,...->...", "ij", "i,i", "ij,jk,kl->", "aab,b", "", "->", NULL}}, 9)',
    },
}
LISTS = {"const int64_t *": "list({name}, {count})", "THTensor *const *": "handles({name}, {count})"}
# What becomes of what is returned.
KEPT = {"THTensor *": "keep_tensor(got);", "THStorage *": "keep_storage(got);", "THGenerator *": "keep_generator(got);",
        "const char *": "read_text(got);", "char *": "free_text(got);"}


def drawn(parameter, count):
    """The expression for an argument; `count` is the parameter before it that counts the entries of lists."""
    form = LISTS.get(parameter.type) if count else None
    form = form or BY_NAME.get(parameter.type, {}).get(parameter.name) or (BY_TYPE.get(parameter.type) if parameter.type != "int" else None)
    if not form:
        sys.exit(f"no way to draw {parameter.type} {parameter.name}: scripts/sequences.py or special.h must know one")
    return form.format(name=f'"{parameter.name}"', count=count)


def call(function):
    """The C function that calls one of the library. Variables have an underscore behind, for what draws them has plain names."""
    lines, count = [f'begin("{function.name}");'], None
    # Lists may come before their count.
    for parameter in function.parameters:
        if parameter.type == "int" and parameter.name in ("ndim", "count"):
            count = f"{parameter.name}_"
            lines.append(f"int {count} = {drawn(parameter, None)};")
    for parameter in function.parameters:
        if f"{parameter.name}_" != count:
            lines.append(f"{parameter.type} {parameter.name}_ = {drawn(parameter, count)};".replace("* ", "*"))
    lines.append("before();")
    arguments = ", ".join(f"{parameter.name}_" for parameter in function.parameters)
    got = "" if function.result == "void" else f"{function.result} got = ".replace("* ", "*")
    lines.append(f"{got}{function.name}({arguments});")
    lines.append("after_status(got);" if function.result == "THStatus" else "after();")
    # Of handles, only functions named new give a reference.
    if function.result in KEPT and ("_new" in function.name or function.result.endswith("char *")):
        lines.append(KEPT[function.result])
    elif function.result not in ("void", "THStatus"):
        lines.append("(void)got;")
    body = "\n    ".join(lines)
    return f"static void call_{function.name}(void) {{\n    {body}\n}}\n"


def main(path):
    with open(SPECIAL) as file:
        special = set(re.findall(r"^static void call_(TH\w+)\(void\)", file.read(), re.M))
    every = functions()
    if unknown := (special | set(LEFT_OUT)) - set(every):
        sys.exit(f"the header has no {', '.join(sorted(unknown))}")
    names = [name for name in every if name not in LEFT_OUT]
    parts = [call(every[name]) for name in names if name not in special]
    parts.append("static void (*const CALLS[])(void) = {\n    " + ",\n    ".join(f"call_{name}" for name in names) + ",\n};\n")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w") as file:
        file.write("/* Written by scripts/sequences.py. */\n\n" + "\n".join(parts))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sequences.py FILE")
    main(sys.argv[1])
