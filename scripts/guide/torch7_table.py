"""The names of Torch7, which the package for LuaJIT has."""

import subprocess

from .operations import PREFIX, by_name, chapters, in_code, shortened
from .pages import Fault
from .programs import environment

LIST = """
local names = require("thorn.namespace")
local torch = require("thorn")
local seen = {}
for _, functions in ipairs({names.methods, names.torch}) do
    for name, value in pairs(functions) do
        local is_class = value == torch.getconstructortable("torch." .. name)
        if (type(value) == "function" or is_class) and not seen[name] then seen[name] = true print(name) end
    end
end
"""

# Names that are no operation's, with the functions that do the same. What has none is of use in Lua alone: classes, clocks, tests of types.
EXCEPTIONS = """
bool THTensor_newTo
byte THTensor_newTo
char THTensor_newTo
short THTensor_newTo
int THTensor_newTo
long THTensor_newTo
half THTensor_newTo
bfloat16 THTensor_newTo
float THTensor_newTo
double THTensor_newTo
real THTensor_newTo
type THTensor_newTo
typeAs THTensor_newTo
conv2 THTensor_conv2Dmul THTensor_conv2Dcmul THTensor_conv2Dmv
xcorr2 THTensor_conv2Dmul THTensor_conv2Dcmul THTensor_conv2Dmv
conv3 THTensor_conv3Dmul THTensor_conv3Dcmul THTensor_conv3Dmv
xcorr3 THTensor_conv3Dmul THTensor_conv3Dcmul THTensor_conv3Dmv
match THTensor_cdist
multinomialAlias THTensor_multinomialAliasDraw
Generator THGenerator_newKind
manualSeed THRandom_manualSeed
seed THRandom_seed
initialSeed THRandom_initialSeed
setnumthreads THSetNumThreads
getnumthreads THGetNumThreads
getnumcores THGetNumCores
setdefaulttensortype THSetDefaultDtype
getdefaulttensortype THGetDefaultDtype
setheaptracking THMemory_setSoftLimit
"""

# Names of Torch7 that mean something else than the operation of this name: `torch.version` returns the version of a class.
OTHER_MEANINGS = {"version"}


def all_names(luajit, library):
    done = subprocess.run([luajit, "-e", LIST], capture_output=True, text=True, env=environment(library))
    if done.returncode:
        raise Fault(f"the names of Torch7 are not to be had: {done.stderr}")
    return sorted(done.stdout.split())


def functions_of(name, operations, among):
    """The functions of an operation that has no other name in Torch7. For a form with its own name, the function of the form."""
    if name in operations:
        short = lambda function: function.removeprefix(PREFIX)
        return [f for f in operations[name].functions if short(f) == name or short(f) not in among]
    return [f"{PREFIX}{name}" for operation in operations.values() if f"{PREFIX}{name}" in operation.functions][:1]


def lines(operations, names):
    rows = by_name()
    table = dict(line.split(" ", 1) for line in EXCEPTIONS.strip().splitlines())
    missing = [name for name in table if name not in names]
    if missing:
        raise Fault(f"the table of Torch7's names has {missing[0]}, which the package does not have")
    found = []
    for name in sorted(set(names) - OTHER_MEANINGS):
        functions = table[name].split() if name in table else functions_of(name, operations, set(names))
        if functions:
            found.append((rows[functions[0]]["chapter"], in_code([name]), in_code(shortened(functions)), rows[functions[0]]["doc"]))
    order = chapters()
    return sorted(found, key=lambda line: (order.index(line[0]), line[1].lower()))
