-- Prints the tensors of a file: luajit examples/inspect.lua FILE. THORN_LIB names the library if it is not installed.
local ffi = require("ffi")
ffi.cdef("const char *THCdef(void);")
local TH = ffi.load(os.getenv("THORN_LIB") or "thorn")
ffi.cdef(ffi.string(TH.THCdef()))

local file = ffi.gc(TH.THArchive_open(arg[1]), TH.THArchive_free)
if file == nil then io.stderr:write(ffi.string(TH.THGetLastError()), "\n") os.exit(1) end
for i = 0, tonumber(TH.THArchive_count(file)) - 1 do
    local dtype, sizes = TH.THArchive_dtype(file, i), {}
    for d = 1, tonumber(TH.THArchive_ndim(file, i)) do sizes[d] = tonumber(TH.THArchive_sizes(file, i)[d - 1]) end
    local kind = dtype == TH.TH_UNDEFINED and "unknown" or ffi.string(TH.THDtype_name(dtype))
    print(("%-24s %-9s [%s]"):format(ffi.string(TH.THArchive_name(file, i)), kind, table.concat(sizes, ", ")))
end
