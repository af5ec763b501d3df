"""Runs c_tests/gdb/handles.c in gdb, and compares gdb's text for each handle with the expected text in the program.

gdb -nx -batch -x scripts/gdb/thorn.py -x c_tests/gdb/check.py --args handles
"""
import fnmatch
import traceback

import gdb

EXPECTED = 500  # fewer stops mean that the breakpoints were missed


def shown(expression):
    """Returns gdb's text for an expression, without `$1 = ` and the address of the handle."""
    text = gdb.execute("print " + expression, to_string=True).rstrip("\n").split(" = ", 1)[1]
    address, colon, rest = text.partition(": ")
    if expression == "handle" and colon and address == f"{int(gdb.parse_and_eval('(unsigned long)handle')):#x}":
        return rest
    if expression == "*handle" and text[0] + text[-1] == "{}":
        return text[1:-1]
    return text


def compare(function):
    """Returns what is wrong with the handle that `function` was called with, or nothing."""
    expected = gdb.parse_and_eval("text")
    text = shown("*handle" if function.startswith("whole") else "handle")
    if "Python Exception" in text or text.startswith("(") or "{size = " in text or not text:
        return f"the printer failed: {text}"
    if int(expected) == 0:
        return None
    pattern = expected.string().replace("[", "[[]")
    return None if fnmatch.fnmatchcase(text, pattern) else f"\n  shown:    {text}\n  expected: {expected.string()}"


def main():
    for setting in ("pagination off", "confirm off", "width 0", "height 0"):
        gdb.execute("set " + setting)
    for function in ("tensor", "storage", "whole_tensor", "whole_storage"):
        gdb.Breakpoint(function).silent = True
    gdb.execute("run", to_string=True)
    stops = failures = 0
    while gdb.selected_inferior().pid:
        stops += 1
        frame = gdb.selected_frame()
        wrong = compare(frame.name())
        if wrong:
            failures += 1
            print(f"handles.c:{frame.older().find_sal().line}: {wrong}")
        gdb.execute("continue", to_string=True)
    print(f"{stops} handles, {failures} failures")
    return 1 if failures or stops < EXPECTED else 0


try:
    status = main()
except Exception:
    traceback.print_exc()
    status = 1
gdb.execute(f"quit {status}")
