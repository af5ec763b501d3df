"""Runs a call with tensors on a GPU: host tensors are copied there before the call, and back after it."""

import ctypes

from ..library import StorageFields, TensorFields, state


class Mirrors:
    """Handles on the GPU in place of host handles, for one call. Tensors that share a storage share a storage there, too."""

    def __init__(self, thorn):
        self.thorn, self.storages, self.handles = thorn, {}, {}

    def over(self, storage, fields):
        """A tensor in a storage, with the geometry in `fields`."""
        keep, library = self.thorn.keep, self.thorn.library
        return keep(library.THTensor_newWithStorage(storage, fields.storageOffset, fields.nDimension, fields.size, fields.stride))

    def mirror(self, storage):
        """The whole storage of the host, and its copy on the GPU, as vectors."""
        if storage not in self.storages:
            keep, library = self.thorn.keep, self.thorn.library
            size = (ctypes.c_int64 * 1)(StorageFields.from_address(storage).size)
            here = keep(library.THTensor_newWithStorage(storage, 0, 1, size, (ctypes.c_int64 * 1)(1)))
            self.storages[storage] = here, keep(library.THTensor_newCuda(here, 0))
        return self.storages[storage]

    def there(self, handle):
        """Returns the handle on the GPU for a host handle."""
        if handle not in self.handles:
            keep, library = self.thorn.keep, self.thorn.library
            t = TensorFields.from_address(handle)
            if t.storage and StorageFields.from_address(t.storage).size:
                made = self.over(TensorFields.from_address(self.mirror(t.storage)[1]).storage, t)
            elif t.storage:
                made = keep(library.THTensor_newCuda(handle, 0))
            else:
                made = keep(library.THTensor_newWithDtype(t.dtype) if t.dtype else library.THTensor_new())
            self.handles[handle] = made, state(made)
        return self.handles[handle][0]

    def bring_back(self):
        """Copies the GPU's elements to the storages of the host."""
        self.origins = {}
        for storage, (here, there) in self.storages.items():
            copy = TensorFields.from_address(there).storage
            if StorageFields.from_address(copy).size == StorageFields.from_address(storage).size:
                self.origins[copy] = storage
                if self.thorn.library.THTensor_copy(here, there):
                    raise AssertionError("the results could not be brought back: " + self.thorn.message())

    def back(self, handle):
        """Returns the state of a host handle after the call."""
        made, before = self.handles[handle]
        t = TensorFields.from_address(made)
        if state(made) == before or not t.storage:
            return handle
        if t.storage in self.origins:
            return self.over(self.origins[t.storage], t)
        return self.thorn.keep(self.thorn.library.THTensor_newCpu(made))
