#!/usr/bin/env python3
"""Writes a function for each of include/thorn.h that draws its arguments, calls it and has the outcome looked at.

    scripts/sequences.py build/sequences/calls.h

c_tests/sequences has the rest of the program. Arguments are drawn by their kinds; what needs more, since the library must trust it or
since it would take all memory there is, stands in c_tests/sequences, in special.h with its reason, in exchange.h and in files.h.
Functions that are never called stand in LEFT_OUT.
"""

import json
import os
import re
import sys

from prototypes import functions

ROWS = os.path.join(os.path.dirname(__file__), "..", "src", "capi", "rows.json")
SPECIAL = [os.path.join(os.path.dirname(__file__), "..", "c_tests", "sequences", name) for name in ("special.h", "exchange.h", "files.h")]

LEFT_OUT = {
    "THRefcountedMapAllocator_incref": "takes a bare address of counted shared memory, which nothing can check",
    "THRefcountedMapAllocator_decref": "takes a bare address of counted shared memory, which nothing can check",
}

# By kind, as src/capi/rows.json says it: how an argument is drawn. {name} stands for its name in quotes.
BY_KIND = {
    **dict.fromkeys(["inputs", "optional_inputs", "outs", "new_handles"], "handles({name}, {count})"),
    **dict.fromkeys(["sizes", "optional_sizes", "strides", "optional_strides", "dims", "optional_dims", "entries", "counts",
                     "optional_counts"], "list({name}, {count})"),
    **dict.fromkeys(["len", "len_or_whole", "handle_count"], "entries({name})"),
    **dict.fromkeys(["entry", "size", "stride", "count", "integer", "offset", "length"], "whole({name})"),
    **dict.fromkeys(["dtype", "other_dtype", "optional_dtype"], "code({name}, 10)"),
    "dim": "dimension({name})", "flag": "truth({name})", "int": "code({name}, 3)", "seed": "bits()",
    "memory_format": "code({name}, 3)", "div_mode": "code({name}, 2)", "interpolation": "code({name}, 4)", "status": "code({name}, 11)",
    "reduce": "code({name}, 3)", "pad_mode": "code({name}, 3)", "matrix_norm": "code({name}, 7)", "reduction": "code({name}, 2)",
    "generator_kind": "code({name}, 2)", "fan": "code({name}, 1)", "file_format": "code({name}, 13)",
    "stats_out": "chance(5) ? NULL : &(THMemoryStats){{0}}", "print_options": "print_options({name})",
    "print_options_out": "chance(5) ? NULL : &(THPrintOptions){{0}}",
}
# By type, where the kind does not matter: handles, of functions without a row too, and numbers.
BY_TYPE = {
    "THTensor *": "tensor({name})", "const THTensor *": "tensor({name})",
    "THStorage *": "storage({name})", "const THStorage *": "storage({name})",
    "THGenerator *": "generator({name})", "THArchive *": "archive({name})", "const THArchive *": "archive({name})",
    "THMapAllocatorContext *": "context({name})", "double": "number({name})",
}
# By type and name: what the kind does not tell.
BY_NAME = {
    "double": dict.fromkeys(["start", "end", "step"], "bound({name})"),
    "const char *": {
        "vf": 'one_of({name}, (const char *const[]){{"V", "F", "", "X", NULL}}, 5)',
        "xc": 'one_of({name}, (const char *const[]){{"X", "C", "", "V", NULL}}, 5)',
        "name": 'one_of({name}, (const char *const[]){{"float32", "long", "", "float3", NULL}}, 5)',
        "title": 'one_of({name}, (const char *const[]){{"", "Arithmetic", "arithmetic", "Versions", NULL}}, 5)',
        "indexing": 'one_of({name}, (const char *const[]){{"ij", "xy", "", "ijk", NULL}}, 5)',
        "path": 'one_of({name}, (const char *const[]){{NULL, "libopenblas.so.0", "libm.so.6", "/no/such/file", ""}}, 5)',
        **dict.fromkeys(["key", "value"], 'one_of({name}, (const char *const[]){{"columns.0", "note", "", "\\xff", NULL}}, 5)'),
        "equation": 'one_of({name}, (const char *const[]){{"ij,jk->ik", "...,...->...", "ij", "i,i", "ij,jk,kl->", '
                    '"aab,b", "", "->", NULL}}, 9)',
    },
}
# How the arguments of some functions fit each other, which they rarely do by chance: sizes of tensors, and lists in brackets, in letters
# drawn for each call; other arguments as C expressions. `+` makes a matrix that is positive definite, `@` one of positions below 4, `1` one
# of ones.
IMAGES = {1: "x", 2: "y,x", 3: "z,y,x"}
KERNELS = {1: "u", 2: "v,u", 3: "w,v,u"}
WINDOWS = {1: "x-u+1", 2: "y-v+1,x-u+1", 3: "z-w+1,y-v+1,x-u+1"}
STEPS = "stride=few({name}, D, 1, 2); padding=few({name}, D, 0, 1); dilation=few({name}, D, 1, 1); outputPadding=few({name}, D, 0, 0)"
FITTING = {
    "mm": "m1 n,k; m2 k,p", "mv": "mat n,k; vec k", "addmm": "t n,p; m1 n,k; m2 k,p", "addmv": "t n; mat n,k; vec k",
    "bmm": "b1 b,n,k; b2 b,k,p", "baddbmm": "t b,n,p; b1 b,n,k; b2 b,k,p", "addbmm": "t n,p; b1 b,n,k; b2 b,k,p",
    "matmul": "a b,n,k; b k,p", "v?dot": "a k; b k", "outer|ger": "v1 n; v2 p", "addr": "t n,p; v1 n; v2 p", "inner": "a n,k; b p,k",
    "tensordot": "a k,n; b k,p; ndim=1; dims_a=few({name}, 1, 0, 0); dims_b=few({name}, 1, 0, 0)",
    "einsum": 'count=2; equation="ij,jk->ik"; operands=two_matrices({name}, n, k, p)',
    "chainMatmul": "count=2; matrices=two_matrices({name}, n, k, p)",
    "matrixPower": "t +n,n", "kron": "a n,k; b p", "cross": "a 3,n; b 3,n; dimension=0", "cdist": "a n,k; b p,k",
    "gesv|solve|trtrs|potrs": "b n,k; a +n,n", "gels|lstsq": "b n,k; a +n,n", "btrisolve": "b n,k; atf +n,n; pivots 1n",
    "btrifact|lu|getri|potrf|potri|pstrf|qr|geqrf|syev|geev|gesvd": "a +n,n; pivot=1",
    "inverse|s?logdet|det|cholesky|symeig|eig|svd|pinverse|matrixRank|matrixNorm|cond|matrixExp": "t +n,n; a +n,n",
    "orgqr": "a +n,n; tau n", "ormqr": "a +n,n; tau n; c n,n",
    **{f"conv{d}d": f"input b,g*c,{IMAGES[d]}; weight g*o,c,{KERNELS[d]}; bias g*o; groups=g; ndim={d}; {STEPS.replace('D', str(d))}"
       for d in IMAGES},
    **{f"convTranspose{d}d": f"input b,g*c,{IMAGES[d]}; weight g*c,o,{KERNELS[d]}; bias g*o; groups=g; ndim={d}; "
                             f"{STEPS.replace('D', str(d))}"
       for d in IMAGES},
    "convolution": f"input b,g*c,y,x; weight g*o,c,v,u; bias g*o; groups=g; ndim=2; transposed=0; {STEPS.replace('D', '2')}",
    "convolutionGrad(Input|Weight)": "gradOutput b,g*o,y-v+1,x-u+1; weight g*o,c,v,u; input b,g*c,y,x; groups=g; ndim=0; "
                                     "stride=NULL; padding=NULL; dilation=NULL; transposed=0; outputPadding=NULL",
    "convolutionGradBias": "gradOutput b,c,y,x; imageDims=2",
    "im2col": "t b,c,y,x; ndim=2; kernel=[v,u]; stride=NULL; padding=NULL; dilation=NULL",
    "col2im": "t b,c*v*u,(y-v+1)*(x-u+1); ndim=2; imageSizes=[y,x]; kernel=[v,u]; stride=NULL; padding=NULL; dilation=NULL",
    **{f"conv{d}D{form}": f"t {planes.format(IMAGES[d])}; k {kernels.format(KERNELS[d])}; map 1n,2; "
                        f"sdepth=1; srow=1; scol=1; vf=\"V\"; xc=\"X\""
       for d in (2, 3) for form, planes, kernels in (
           ("mul", "{}", "{}"), ("cmul", "n,{}", "n,{}"), ("(ger|Revger)", "c,{}", "o,{}"), ("Revgerm", "b,c,{}", "b,o,{}"),
           ("mv", "c,{}", "o,c,{}"),
           ("mm", "b,c,{}", "o,c,{}"), ("map", "n,{}", "n,{}"))},
    **{f"(max|avg)Pool{d}d": f"input b,c,{IMAGES[d]}; ndim={d}; kernel=[{KERNELS[d]}]; "
                              f"{STEPS.replace('D', str(d)).replace('0, 1)', '0, 0)')}"
       for d in IMAGES},
    **{f"adaptive(Max|Avg)Pool{d}d": f"input b,c,{IMAGES[d]}; ndim=1; sizes=few({{name}}, 1, 1, 3)" for d in IMAGES},
    "(max|adaptiveAvg)PoolGradInput": "gradOutput c,p,q; indices @c,p,q; input c,y,x; imageDims=2",
    "maxUnpool": "t c,p,q; indices @c,p,q; ndim=2; imageSizes=[y,x]",
    "avgPoolGradInput": "gradOutput c,y-v+1,x-u+1; input c,y,x; ndim=2; kernel=[v,u]; stride=few({name}, 2, 1, 1); padding=NULL; "
                        "ceilMode=0",
    "(softmax|logSoftmax)Grad": "g n,k; y n,k",
    "layerNorm(Grad)?": "g n,k,p; t n,k,p; weight p; bias p; normalizedNdim=1",
    "(nllLoss|crossEntropy)(Grad)?": "g=fitting_tensor({name}, ' ', 0, NULL); t n,4; target @n; weight 4; reduction=1",
    "i?fft": "t b,x,2; signalDims=1", "i?fft2": "t y,x,2", "rfft": "t b,x; signalDims=1",
    "irfft": "t b,x,2; signalDims=1; ndim=0; signalSizes=NULL",
}
# What becomes of what is returned.
KEPT = {"THTensor *": "keep_tensor(got);", "THStorage *": "keep_storage(got);", "THGenerator *": "keep_generator(got);",
        "const char *": "read_text(got);", "char *": "free_text(got);"}


def drawn(parameter, kind, count):
    """The expression for an argument; `count` is the parameter that counts the entries of lists."""
    form = BY_NAME.get(parameter.type, {}).get(parameter.name) or BY_KIND.get(kind) or BY_TYPE.get(parameter.type)
    if not form or "{count}" in form and not count:
        sys.exit(f"no way to draw {parameter.type} {parameter.name}, of kind {kind}: scripts/sequences.py or special.h must know one")
    return form.format(name=f'"{parameter.name}"', count=count)


def fitting(function):
    """Expressions for arguments that fit each other, by name, and the letters in them."""
    forms, letters = {}, set()
    rows = [row for pattern, row in FITTING.items() if re.fullmatch(f"THTensor_({pattern})", function.name)]
    for form in rows[0].split("; ") if rows else []:
        name, mark, given = re.fullmatch(r"(\w+)( [+@1]?|=)(.*)", form).groups()
        if name not in {parameter.name for parameter in function.parameters}:
            continue
        sizes = given.strip("[]").split(",")
        array = f"{len(sizes)}, (int64_t[]){{{', '.join(sizes)}}}"
        if mark == "=":
            forms[name] = f'these("{name}", {array})' if given.startswith("[") else given.replace("{name}", f'"{name}"')
        else:
            forms[name] = f"fitting_tensor(\"{name}\", '{mark[-1]}', {array})"
        if mark != "=" or given.startswith("[") or "two_matrices" in given or given == "g":
            letters |= set(re.findall(r"\b[a-z]\b", given))
    return forms, sorted(letters)


def call(function, kinds):
    """The C function that calls one of the library; `kinds` has the kind of each argument. Variables have an underscore
    behind, for what draws them has plain names."""
    lines, count = [f'begin("{function.name}");'], None
    forms, letters = fitting(function)
    if forms:
        lines.append("bool fits = fitting();")
    lines += [f"int64_t {letter} = {'4 + below(4)' if letter in 'xyz' else '1 + below(3)'};" for letter in letters]

    def drawn_or_fitting(parameter, count):
        by_chance = drawn(parameter, kinds.get(parameter.name), count)
        return f"fits ? {forms[parameter.name]} : {by_chance}" if parameter.name in forms else by_chance

    # Lists may come before their count.
    for parameter in function.parameters:
        if kinds.get(parameter.name) in ("len", "len_or_whole", "handle_count"):
            count = f"{parameter.name}_"
            lines.append(f"int {count} = {drawn_or_fitting(parameter, None)};")
    for parameter in function.parameters:
        if f"{parameter.name}_" != count:
            lines.append(f"{parameter.type} {parameter.name}_ = {drawn_or_fitting(parameter, count)};".replace("* ", "*"))
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
    special = set()
    for header in SPECIAL:
        with open(header) as file:
            special |= set(re.findall(r"^static void call_(TH\w+)\(void\)", file.read(), re.M))
    every = functions()
    if unknown := (special | set(LEFT_OUT)) - set(every):
        sys.exit(f"the header has no {', '.join(sorted(unknown))}")
    names = [name for name in every if name not in LEFT_OUT]
    with open(ROWS) as file:
        rows = {row["name"]: {argument["name"]: argument.get("kind") for argument in row["arguments"]}
                for row in json.load(file)["functions"]}
    parts = [call(every[name], rows[name]) for name in names if name not in special]
    parts.append("static const char *const NAMES[] = {\n    " + ",\n    ".join(f'"{name}"' for name in names) + ",\n};\n")
    parts.append("static void (*const CALLS[])(void) = {\n    " + ",\n    ".join(f"call_{name}" for name in names) + ",\n};\n")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w") as file:
        file.write("/* Written by scripts/sequences.py. */\n\n" + "\n".join(parts))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sequences.py FILE")
    main(sys.argv[1])
