"""Functions by their names in Python, made at the first use.

`find("Tensor", "index_select")` is the function on tensors. A name that ends with an underscore writes to the first argument.
"""

from functools import cache

from ._binding import exact, operation, usages
from ._table import ROWS, camel, forms_of, names_of, signature


def _documented(function, forms):
    """Adds the parameters, the comments of the header, and the functions of C to the documentation of a function."""
    lines = [f"{function.__name__}{usages([form])}\n    {ROWS[form.name]['doc']} In C: {form.name}" for form in forms]
    function.__doc__ = "\n".join(lines)
    return function


@cache
def find(group, name):
    """Returns the function of a group; None if there is none."""
    # An integer is a dimension rather than an operand: x.max(1) reduces dimension 1.
    forms = sorted(forms_of(group, camel(name)), key=lambda form: form.name in ("THTensor_cmaxValue", "THTensor_cminValue"))
    if forms:
        return _documented(operation(name, forms), forms)
    if name.endswith("_") and not name.endswith("__"):
        forms = [form for form in forms_of(group, camel(name[:-1])) if form.results]
        if forms:
            return _documented(operation(name, forms, in_place=True), forms)
    return None


@cache
def find_exact(name):
    """Returns a function with the arguments of C by its full name: `THTensor_cadd(r, t, value, src)`."""
    found = signature(name)
    return _documented(exact(found), [found]) if found else None


class Namespace:
    """The functions of a group without handles: `thorn.Grad.set_enabled(False)`."""

    def __init__(self, group):
        self._group = group

    def __getattr__(self, name):
        found = None if name.startswith("__") else find(self._group, name)
        if found is None:
            raise AttributeError(f"thorn.{self._group} has no function {name!r}")
        setattr(self, name, found)
        return found

    def __dir__(self):
        return sorted(names_of(self._group))

    def __repr__(self):
        return f"<thorn.{self._group}>"
