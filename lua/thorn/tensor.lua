-- Tensors: the type, and the methods that return size, type and memory.

local ffi = require("ffi")
local arguments = require("thorn.arguments")
local convert = require("thorn.convert")
local errors = require("thorn.errors")
local index = require("thorn.index")
local library = require("thorn.library")
local namespace = require("thorn.namespace")
local operators = require("thorn.operators")
local origin = require("thorn.origin")
local types = require("thorn.types")

local C, own, own_storage = library.C, library.own, library.own_storage
local Tensor = library.Tensor
local torch, methods, of_tensors = namespace.torch, namespace.methods, namespace.of_tensors
local tensor, dim_of, dimensions = arguments.tensor, arguments.dim, arguments.dimensions

-- Torch7's layout. Numbers have four digits after the point.
local layout = ffi.new("THPrintOptions")
C.THPrintOptions_init(layout)
layout.layout = C.TH_PRINT_TORCH7

-- Returns a Lua string, and frees the C string.
local function taken(text, name)
    if text == nil then library.fail(name) end
    local copy = ffi.string(text)
    C.THFree(text)
    return copy
end

-- Returns a LongStorage of the library's numbers for each dimension: sizes or strides.
local function per_dimension(t, new, name)
    if dimensions(t) == 0 then return own_storage(C.THStorage_new(C.TH_INT64), name) end
    return own_storage(new(t.handle), name)
end

local function sizes(t, name) return per_dimension(t, C.THTensor_newSizeOf, name) end

-- Returns the operator that calls the method of this name of the first tensor's type.
local function operator(name)
    return function(a, b)
        local t = arguments.is_tensor(a) and a or b
        return of_tensors[t.handle.dtype][name](a, b)
    end
end

ffi.metatype(Tensor, {
    __index = function(t, key)
        if type(key) == "string" then
            local method = of_tensors[t.handle.dtype][key]
            if t.is_dynamic then return origin.method_of_dynamic(method) end
            return method
        end
        return index.get(t, key)
    end,
    __newindex = index.set,
    __len = function(t) return sizes(t, "#") end,
    __eq = function(a, b)
        return arguments.is_tensor(a) and arguments.is_tensor(b) and a.handle == b.handle
    end,
    __tostring = function(t) return of_tensors[t.handle.dtype].__tostring__(t) end,
    __add = operator("__add__"),
    __sub = operator("__sub__"),
    __mul = operator("__mul__"),
    __div = operator("__div__"),
    __mod = operator("__mod__"),
    __pow = operator("__pow__"),
    __unm = operator("__unm__"),
})

for _, name in ipairs({ "add", "sub", "mul", "div", "mod", "pow", "unm" }) do methods["__" .. name .. "__"] = operators[name] end

function methods.__tostring__(t)
    if C.THTensor_nElement(t.handle) == 0 then return "[" .. types[t.handle.dtype].name .. " with no dimension]\n" end
    return taken(C.THTensor_toString(t.handle, layout), "tostring") .. "\n"
end

--- The number of dimensions; 0 for an empty tensor.
function methods.nDimension(t) return dimensions(tensor(t, 1, "nDimension")) end

methods.dim = methods.nDimension

--- The size of dimension `dim`, or without `dim` a new LongStorage of all sizes.
function methods.size(t, dim)
    tensor(t, 1, "size")
    if dim == nil then return sizes(t, "size") end
    return (tonumber(t.handle.size[dim_of(dim, 2, "size", t)]))
end

--- The stride of dimension `dim` in elements, or without `dim` a new LongStorage of all strides.
function methods.stride(t, dim)
    tensor(t, 1, "stride")
    if dim == nil then return per_dimension(t, C.THTensor_newStrideOf, "stride") end
    return (tonumber(t.handle.stride[dim_of(dim, 2, "stride", t)]))
end

--- The storage of the elements, which the tensor shares; nil if there is none yet, or if it has no elements.
function methods.storage(t)
    local storage = tensor(t, 1, "storage").handle.storage
    if storage == nil or storage.size == 0 then return nil end
    C.THStorage_retain(storage)
    return own_storage(storage, "storage")
end

--- The position of the first element in the storage, from 1.
function methods.storageOffset(t) return tonumber(tensor(t, 1, "storageOffset").handle.storageOffset) + 1 end

--- The number of elements.
function methods.nElement(t) return (tonumber(C.THTensor_nElement(tensor(t, 1, "nElement").handle))) end

methods.numel = methods.nElement

--- The number of bytes of an element.
function methods.elementSize(t) return types[tensor(t, 1, "elementSize").handle.dtype].size end

--- True if the elements are contiguous in row-major order.
function methods.isContiguous(t) return C.THTensor_isContiguous(tensor(t, 1, "isContiguous").handle) ~= 0 end

--- True if the sizes equal the numbers of a LongStorage.
function methods.isSize(t, storage)
    tensor(t, 1, "isSize")
    local count = arguments.long_storage(storage, 2, "isSize")
    if dimensions(t) == 0 then return count == 0 end
    return C.THTensor_isSize(t.handle, count, arguments.list) ~= 0
end

--- True if both tensors have the same sizes.
function methods.isSameSizeAs(t, other)
    tensor(t, 1, "isSameSizeAs")
    return C.THTensor_isSameSizeAs(t.handle, tensor(other, 2, "isSameSizeAs").handle) ~= 0
end

--- True if both tensors have the same sizes and strides over the same memory.
function methods.isSetTo(t, other)
    tensor(t, 1, "isSetTo")
    return C.THTensor_isSetTo(t.handle, tensor(other, 2, "isSetTo").handle) ~= 0
end

--- A tensor with a copy of the elements.
function methods.clone(t)
    return own(C.THTensor_newCloneFormat(tensor(t, 1, "clone").handle, C.TH_CONTIGUOUS_FORMAT), "clone")
end

--- The tensor itself if it is contiguous, otherwise a clone.
function methods.contiguous(t)
    if C.THTensor_isContiguous(tensor(t, 1, "contiguous").handle) ~= 0 then return t end
    return own(C.THTensor_newContiguous(t.handle), "contiguous")
end

-- Returns the tensor itself if it has this type, otherwise a converted copy.
local function converted(t, record, name)
    if t.handle.dtype == record.code then return t end
    local r = own(C.THTensor_newWithDtype(record.code), name)
    if dimensions(t) > 0 then library.check(convert.copy(r.handle, t.handle), name) end
    return r
end

--- Without a name, returns the name of the type: "torch.DoubleTensor". With a name, returns the tensor itself if it has this type,
--- otherwise a converted copy.
function methods.type(t, name)
    tensor(t, 1, "type")
    if name == nil then return types[t.handle.dtype].name end
    local record = types.of_tensor[name == "torch.Tensor" and torch.getdefaulttensortype() or name]
    if not record then errors.argument(2, "type", "unknown type " .. tostring(name)) end
    return converted(t, record, "type")
end

--- As `type`, to the type of another tensor.
function methods.typeAs(t, other)
    tensor(t, 1, "typeAs")
    return converted(t, types[tensor(other, 2, "typeAs").handle.dtype], "typeAs")
end

-- byte, char, short, int, long, float, double, half, bfloat16, bool: `type` of the name.
for _, record in ipairs(types.all) do
    local name = record.short:lower()
    methods[name] = function(t) return converted(tensor(t, 1, name), record, name) end
end

-- The tensor of each pointer that `data` has returned. Keys are weak: the pointer keeps its tensor alive.
local owners = setmetatable({}, { __mode = "k" })

--- A pointer to the first element: `double *` for a DoubleTensor. The pointer keeps the tensor alive; pointers computed from it do not. It
--- is valid until the tensor is resized. With `asnumber`, the address as an `intptr_t`, which keeps nothing alive.
function methods.data(t, asnumber)
    local address = C.THTensor_data(tensor(t, 1, "data").handle)
    if asnumber then return ffi.cast("intptr_t", address) end
    local pointer = ffi.cast(types[t.handle.dtype].pointer, address)
    owners[pointer] = t
    return pointer
end

-- Returns the pointer to the C structure of a tensor or storage, or its address as an `intptr_t`.
local function cdata(x, asnumber)
    if asnumber then return ffi.cast("intptr_t", x.handle) end
    local pointer = x.handle
    owners[pointer] = x
    return pointer
end

--- The pointer to the C structure of the tensor, whose fields are `size`, `stride`, `nDimension`, `storage` and `storageOffset`. It keeps
--- the tensor alive as the pointer of `data` does.
function methods.cdata(t, asnumber) return cdata(tensor(t, 1, "cdata"), asnumber) end

--- Adds a reference, which only `free` releases, not the collector.
function methods.retain(t)
    C.THTensor_retain(tensor(t, 1, "retain").handle)
    t.retained = t.retained + 1
end

--- Releases a reference that `retain` has added. Without such a reference, frees the elements of the tensor, which is then empty.
function methods.free(t)
    tensor(t, 1, "free")
    if t.retained > 0 then
        t.retained = t.retained - 1
        C.THTensor_free(t.handle)
    else
        local empty = C.THTensor_newWithDtype(t.handle.dtype)
        if empty == nil then library.fail("free") end
        library.exchange(t, empty)
    end
end

--- The elements as a Lua table, nested by dimension.
function methods.totable(t)
    tensor(t, 1, "totable")
    local r = {}
    if dimensions(t) == 0 then return r end
    for i = 1, tonumber(t.handle.size[0]) do
        local element = index.get(t, i)
        r[i] = type(element) == "number" and element or methods.totable(element)
    end
    return r
end

--- Converts to the default type, as `type` does.
function methods.real(t) return methods.type(t, "torch.Tensor") end

--- Turns on or off that the collector runs when much memory is in use. It is on at first. `torch._heaptracking` tells the setting.
function torch.setheaptracking(enabled)
    torch._heaptracking = enabled and true or false
    library.track(torch._heaptracking)
end
torch._heaptracking = true

--- True for a tensor, false for any other value.
function torch.isTensor(x) return arguments.is_tensor(x) end

methods.isTensor = torch.isTensor

--- True for a storage, false for any other value.
function torch.isStorage(x) return arguments.is_storage(x) end

return { taken = taken, layout = layout, owners = owners, cdata = cdata }
