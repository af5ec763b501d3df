-- `luarocks make` in this folder installs the package. libthorn is installed apart, or named by THORN_LIBRARY.
rockspec_format = "3.0"
package = "thorn"
version = "0.1-1"
source = {
    url = "git+https://example.org/thorn.git",
    dir = "thorn/lua",
}
description = {
    summary = "Torch tensors for LuaJIT, from libthorn",
    detailed = "Torch7's tensors, and the functions of PyTorch under torch.thorn, by the FFI of LuaJIT.",
    license = "MIT OR Apache-2.0",
}
dependencies = { "lua == 5.1" }
build = {
    type = "builtin",
    modules = {
        ["thorn"] = "thorn.lua",
        ["thorn.apply"] = "thorn/apply.lua",
        ["thorn.arguments"] = "thorn/arguments.lua",
        ["thorn.class"] = "thorn/class.lua",
        ["thorn.construct"] = "thorn/construct.lua",
        ["thorn.convolution"] = "thorn/convolution.lua",
        ["thorn.dynamic"] = "thorn/dynamic.lua",
        ["thorn.dynamic.attention"] = "thorn/dynamic/attention.lua",
        ["thorn.dynamic.binding"] = "thorn/dynamic/binding.lua",
        ["thorn.dynamic.borrowed"] = "thorn/dynamic/borrowed.lua",
        ["thorn.dynamic.callbacks"] = "thorn/dynamic/callbacks.lua",
        ["thorn.dynamic.caller"] = "thorn/dynamic/caller.lua",
        ["thorn.dynamic.dtypes"] = "thorn/dynamic/dtypes.lua",
        ["thorn.dynamic.excluded"] = "thorn/dynamic/excluded.lua",
        ["thorn.dynamic.gradients"] = "thorn/dynamic/gradients.lua",
        ["thorn.dynamic.handles"] = "thorn/dynamic/handles.lua",
        ["thorn.dynamic.kinds"] = "thorn/dynamic/kinds.lua",
        ["thorn.dynamic.operation"] = "thorn/dynamic/operation.lua",
        ["thorn.dynamic.positions"] = "thorn/dynamic/positions.lua",
        ["thorn.dynamic.programs"] = "thorn/dynamic/programs.lua",
        ["thorn.dynamic.returned"] = "thorn/dynamic/returned.lua",
        ["thorn.dynamic.signatures"] = "thorn/dynamic/signatures.lua",
        ["thorn.dynamic.sparse"] = "thorn/dynamic/sparse.lua",
        ["thorn.dynamic.special"] = "thorn/dynamic/special.lua",
        ["thorn.elementwise"] = "thorn/elementwise.lua",
        ["thorn.errors"] = "thorn/errors.lua",
        ["thorn.index"] = "thorn/index.lua",
        ["thorn.indexing"] = "thorn/indexing.lua",
        ["thorn.library"] = "thorn/library.lua",
        ["thorn.linear"] = "thorn/linear.lua",
        ["thorn.matrix"] = "thorn/matrix.lua",
        ["thorn.namespace"] = "thorn/namespace.lua",
        ["thorn.number"] = "thorn/number.lua",
        ["thorn.operators"] = "thorn/operators.lua",
        ["thorn.random"] = "thorn/random.lua",
        ["thorn.recording"] = "thorn/recording.lua",
        ["thorn.reduce"] = "thorn/reduce.lua",
        ["thorn.results"] = "thorn/results.lua",
        ["thorn.api"] = "thorn/api.lua",
        ["thorn.serialize"] = "thorn/serialize.lua",
        ["thorn.storage"] = "thorn/storage.lua",
        ["thorn.tensor"] = "thorn/tensor.lua",
        ["thorn.types"] = "thorn/types.lua",
        ["thorn.utility"] = "thorn/utility.lua",
        ["thorn.view"] = "thorn/view.lua",
    },
}
