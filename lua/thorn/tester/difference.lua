-- Compares values for `torch.Tester`: numbers, tables, tensors and storages by their contents, all others by `==`.
--
-- `difference(got, expected, tolerance)` returns a text that describes the first difference, or nil if the values are equal. Numbers are
-- equal if their difference is at most `tolerance`.

local arguments = require("thorn.arguments")
local namespace = require("thorn.namespace")

local torch = namespace.torch
local is_tensor, is_storage = arguments.is_tensor, arguments.is_storage

local function kind_of(x)
    if is_tensor(x) then return "tensor" end
    if is_storage(x) then return "storage" end
    return type(x)
end

-- The types in which the difference of two tensors is computed. All others are converted to doubles.
local KEPT = { ["torch.LongTensor"] = true, ["torch.FloatTensor"] = true, ["torch.DoubleTensor"] = true }

-- Returns the greatest difference of two tensors with the same number of elements.
local function greatest(a, b)
    if not KEPT[a:type()] then a, b = a:double(), b:double() end
    return torch.add(a, -1, b):abs():max()
end

-- Returns the difference of two tensors with the same number of elements. `what` is Tensor or Storage.
local function elements(what, a, b, tolerance)
    if arguments.dimensions(a) == 0 and arguments.dimensions(b) == 0 then return nil end
    local max = greatest(a, b)
    if max <= tolerance then return nil end
    return ("%sEQ(==) violation: max diff=%s, tolerance=%s"):format(what, tostring(max), tostring(tolerance))
end

local function other(what, a, b) return ("%sEQ(==) violation: %s, expected %s"):format(what, tostring(a), tostring(b)) end

local compare = {}

function compare.number(a, b, tolerance)
    if math.abs(a - b) <= tolerance then return nil end
    return other("", a, b) .. (tolerance > 0 and ", tolerance=" .. tolerance or "")
end

--- Compares tensors. With `any_shape`, only the numbers of elements must agree, not the sizes.
function compare.tensor(a, b, tolerance, any_shape)
    if a:type() ~= b:type() then return other("Tensor", a:type(), b:type()) end
    local is_same_size
    if any_shape then is_same_size = a:nElement() == b:nElement() else is_same_size = a:isSameSizeAs(b) end
    if not is_same_size then return other("Tensor", "size " .. arguments.shape(a), arguments.shape(b)) end
    return elements("Tensor", a, b, tolerance)
end

function compare.storage(a, b, tolerance)
    if a:type() ~= b:type() then return other("Storage", a:type(), b:type()) end
    if #a ~= #b then return other("Storage", "size " .. #a, #b) end
    local view = torch[a:type():match("torch%.(.*)Storage") .. "Tensor"]
    return elements("Storage", view(a), view(b), tolerance)
end

local difference

-- Compares tables level by level, so that the difference found is the one with the shortest path.
function compare.table(a, b, tolerance)
    local pairs_of_tables, seen = { { a, b, "" } }, { [a] = { [b] = true } }
    for _, pair in ipairs(pairs_of_tables) do
        local first, second, path = pair[1], pair[2], pair[3]
        for key, value in pairs(first) do
            local place, partner = path .. tostring(key), second[key]
            if partner == nil then return ("entry %s is missing in the second table, %s in the first"):format(place, tostring(value)) end
            if type(value) == "table" and type(partner) == "table" then
                seen[value] = seen[value] or {}
                if not seen[value][partner] then table.insert(pairs_of_tables, { value, partner, place .. "." }) end
                seen[value][partner] = true
            else
                local text = difference(value, partner, tolerance)
                if text then return ("entry %s: %s"):format(place, text) end
            end
        end
        for key, value in pairs(second) do
            if first[key] == nil then
                return ("entry %s is missing in the first table, %s in the second"):format(path .. tostring(key), tostring(value))
            end
        end
    end
end

function difference(a, b, tolerance)
    local kind = kind_of(a)
    if kind ~= kind_of(b) then return other("", ("%s (%s)"):format(tostring(a), kind), ("%s (%s)"):format(tostring(b), kind_of(b))) end
    if compare[kind] then return compare[kind](a, b, tolerance) end
    if a ~= b then return other("", a, b) end
end

return { of = difference, of_tensors = compare.tensor }
