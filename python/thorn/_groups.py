"""The classes of the other handles, and the namespaces of the groups without handles, from the table."""

from . import _handles
from ._call import call
from ._library import lib
from ._namespace import Namespace, find
from ._table import GROUPS, names_of


class _Meta(type):
    """Finds the functions of a group as attributes of its class: `thorn.Archive.open(path)`."""

    def __getattr__(cls, name):
        group = cls.c_type and cls.c_type.removeprefix("TH")
        found = find(group, name) if group and not name.startswith("__") else None
        # Generators also have the functions of random numbers.
        found = found or (find("Random", name) if group == "Generator" else None)
        if found is None:
            raise AttributeError(f"thorn.{group} has no function {name!r}")
        setattr(cls, name, found)
        return found

    def __dir__(cls):
        return sorted({*type.__dir__(cls), *(names_of(cls.c_type.removeprefix("TH")) if cls.c_type else ())})


class Handle(_handles.Handle, metaclass=_Meta):
    """A handle whose methods are the functions of its group."""

    __slots__ = ()

    def __getattr__(self, name):
        return getattr(type(self), name).__get__(self)

    def __dir__(self):
        return dir(type(self))


class _Archive(Handle):
    """An open file of tensors: `archive["weight"]`, `len(archive)`, `archive.keys()`."""

    __slots__ = ()

    def __len__(self):
        return self.count()

    def keys(self):
        """Returns the names of the tensors."""
        return [self.name(i) for i in range(len(self))]

    def items(self):
        """Returns the names and the tensors, which are read one by one."""
        return ((name, self[i]) for i, name in enumerate(self.keys()))

    def __iter__(self):
        return iter(self.keys())

    def __getitem__(self, key):
        if isinstance(key, str):
            at = self.find(key)
            if at < 0:
                raise KeyError(key)
            key = at
        return self.tensor(key)


class _Program(Handle):
    """A program that PyTorch exported: `program(x)` returns the output, or a tuple of several."""

    __slots__ = ()

    def __call__(self, *inputs):
        return self.run(list(inputs), results=self.output_count())


_BASES = {"Archive": _Archive, "Program": _Program}


def make():
    """Returns the classes and namespaces by name."""
    made = {"Tensor": _handles.CLASSES["Tensor"]}
    for group in sorted(GROUPS - {"Tensor"}):
        if hasattr(lib, f"TH{group}_free"):
            base = _BASES.get(group, Handle)
            made[group] = _handles.define(group, base, __doc__=base.__doc__)
        else:
            made[group] = Namespace(group)
    return made
