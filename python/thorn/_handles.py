"""The classes of handles: one class for each type of handles of C, made from the table.

An object owns one reference, which cffi releases when the object is collected. A tensor whose object is gone lives on if a view, a graph or
another library refers to its memory.
"""

from . import _words
from ._library import NULL, failure, ffi, lib


class Handle:
    """One reference to a handle of C. `handle` is the pointer."""

    __slots__ = ("handle", "kept", "__weakref__")
    c_type = None

    def __init__(self, *arguments, **options):
        made = type(self).new(*arguments, **options)
        self.handle, self.kept = made.handle, made.kept

    @classmethod
    def own(cls, pointer, function, kept=None):
        """Returns an object for a new reference. NULL raises the library's error. `kept` lives as long as the object."""
        if pointer == NULL:
            raise failure(function)
        self = cls.__new__(cls)
        self.handle, self.kept = ffi.gc(pointer, cls.release), kept
        return self

    @classmethod
    def share(cls, pointer):
        """Returns an object with one more reference to a borrowed handle; None for NULL."""
        if pointer == NULL:
            return None
        pointer = ffi.cast(cls.c_type + " *", pointer)
        getattr(lib, f"{cls.c_type}_retain")(pointer)
        return cls.own(pointer, cls.__name__)

    def __repr__(self):
        return f"<thorn.{type(self).__name__} {int(ffi.cast('uintptr_t', self.handle)):#x}>"


# The class by the name of the type without TH: "Tensor", "Archive".
CLASSES = {}


def define(name, base=Handle, **members):
    """Makes the class of the handles `TH<name>`."""
    made = type(name, (base,), {"__slots__": (), "__module__": "thorn", "c_type": f"TH{name}", **members})
    made.release = getattr(lib, f"TH{name}_free")
    CLASSES[name], _words.BY_TYPE[made] = made, name
    return made
