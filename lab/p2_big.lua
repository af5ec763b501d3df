local ffi = require "ffi"
ffi.cdef "const char *THCdef(void);"
local C = ffi.load(os.getenv "THORN_LIB")
ffi.cdef(ffi.string(C.THCdef()))
local function ok(s) if s ~= 0 then error(ffi.string(C.THGetLastError()), 2) end end
local function sizes(t) return #t, ffi.new("int64_t[?]", #t, t) end
local g = C.THGenerator_newKind(C.TH_PHILOX)
local keepall = {}
local function K(t) assert(t ~= nil, "nil") keepall[#keepall+1]=t return t end
local function randint(dtype, lo, hi, shape)
  local r = K(C.THTensor_new()); local n, s = sizes(shape)
  ok(C.THTensor_randint(r, g, lo, hi, n, s))
  local d = K(C.THTensor_newTo(r, dtype)); return d
end
local function cuda(t) return K(C.THTensor_newCuda(t, 0)) end
local function clone(t) return K(C.THTensor_newClone(t)) end
local checks = 0
local function same(a, b, what)
  local h = K(C.THTensor_newCpu(b)); checks = checks + 1
  local e = C.THTensor_equal(a, h)
  if e ~= 1 then error(what .. " differs: " .. tostring(e) .. " " .. ffi.string(C.THGetLastError()), 2) end
end
local function try(name, f) local r, e = pcall(f); print(name, r and "ok" or e) if not r then FAILED = true end end
local F, D, I, B, H, L = C.TH_FLOAT32, C.TH_FLOAT64, C.TH_INT32, C.TH_BOOL, C.TH_FLOAT16, C.TH_INT64
local what = arg[1] or "index topk"
if what:find "index" then
for _, dt in ipairs(os.getenv "QUICK" and {F} or {F, D, I, L, C.TH_UINT8}) do
 for _, case in ipairs{ {50, 64, 500}, {50, 63, 333}, {1, 64, 700}, {300, 1, 3000}, {7, 20, 40}, {1000, 8, 9000}, {5, 4, 5000} } do
  local rows, cols, q = unpack(case)
  for dim = 0, 1 do
    try(("indexAdd %d [%d %d] %d dim %d"):format(tonumber(dt), rows, cols, q, dim), function()
      local shape = dim == 0 and {rows, cols} or {cols, rows}
      local sshape = dim == 0 and {q, cols} or {cols, q}
      local t, src, ix = randint(dt, 0, 50, shape), randint(dt, 0, 50, sshape), randint(L, 0, rows, {q})
      local tc, sc, ic = cuda(t), cuda(src), cuda(ix)
      ok(C.THTensor_indexAdd(t, dim, ix, src)); ok(C.THTensor_indexAdd(tc, dim, ic, sc)); same(t, tc, "add")
      ok(C.THTensor_indexCopy(t, dim, ix, src)); ok(C.THTensor_indexCopy(tc, dim, ic, sc)); same(t, tc, "copy")
      local r, rc = K(C.THTensor_new()), K(C.THTensor_new())
      ok(C.THTensor_indexSelect(r, t, dim, ix)); ok(C.THTensor_indexSelect(rc, tc, dim, ic)); same(r, rc, "select")
      local before = clone(tc); local bad = clone(ix); 
      ffi.cast("int64_t*", C.THTensor_data(bad))[q - 3] = rows
      local badc = cuda(bad)
      local function fails(f, a, b, ...) 
        local s = f(a, ...) ; return s
      end
      assert(C.THTensor_indexAdd(tc, dim, badc, sc) ~= 0); local m = ffi.string(C.THGetLastError())
      local th = clone(t)
      assert(C.THTensor_indexAdd(th, dim, bad, src) ~= 0); assert(m == ffi.string(C.THGetLastError()), m)
      same(t, tc, "unchanged")
      assert(C.THTensor_indexCopy(tc, dim, badc, sc) ~= 0); same(t, tc, "unchanged copy")
      local r0 = clone(rc); local rh = clone(r)
      assert(C.THTensor_indexSelect(rc, tc, dim, badc) ~= 0); same(rh, rc, "unchanged select")
    end)
  end
 end
end
for _, red in ipairs{0, 1, 2, 3} do for _, dt in ipairs(os.getenv "QUICK" and {F, H} or {F, L, H}) do
 for _, case in ipairs{ {60, 500, 3}, {900, 2, 700}, {3, 2000, 40} } do
  try(("scatterReduce %d %d"):format(red, tonumber(dt)), function()
    local a, b, size = unpack(case)
    local t, src, ix = randint(dt, 1, 2 + (red == 1 and 0 or 9), {size, b}), randint(dt, 1, 2 + (red == 1 and 0 or 9), {a, b}), randint(L, 0, size, {a, b})
    local tc, sc, ic = cuda(t), cuda(src), cuda(ix)
    ok(C.THTensor_scatterMode(t, 0, ix, src, red)); ok(C.THTensor_scatterMode(tc, 0, ic, sc, red)); same(t, tc, "reduce")
    ok(C.THTensor_scatter(t, 0, ix, src)); ok(C.THTensor_scatter(tc, 0, ic, sc)); same(t, tc, "scatter")
    local r, rc = K(C.THTensor_new()), K(C.THTensor_new())
    ok(C.THTensor_gather(r, t, 0, ix)); ok(C.THTensor_gather(rc, tc, 0, ic)); same(r, rc, "gather")
    ok(C.THTensor_take(r, t, ix)); ok(C.THTensor_take(rc, tc, ic)); same(r, rc, "take")
    ok(C.THTensor_put(t, ix, src, 1)); ok(C.THTensor_put(tc, ic, sc, 1)); same(t, tc, "put")
    ffi.cast("int64_t*", C.THTensor_data(ix))[5] = -size * b - 1
    local badc = cuda(ix)
    for _, f in ipairs{"put", "scatterReduce", "gather", "take"} do
      local function run(x, i, s, r) if f == "put" then return C.THTensor_put(x, i, s, 1) elseif f == "scatterReduce" then return C.THTensor_scatterMode(x, 0, i, s, red)
        elseif f == "gather" then return C.THTensor_gather(r, x, 0, i) else return C.THTensor_take(r, x, i) end end
      assert(run(tc, badc, sc, rc) ~= 0); local m = ffi.string(C.THGetLastError())
      assert(run(t, ix, src, r) ~= 0); assert(m == ffi.string(C.THGetLastError()), m .. " / " .. ffi.string(C.THGetLastError()))
      same(t, tc, f); same(r, rc, f)
    end
  end)
 end
end end
end
if what:find "topk" then
for _, dt in ipairs(os.getenv "QUICK" and {F} or {F, D, I, L, H, C.TH_UINT8, C.TH_BFLOAT16}) do
 for _, case in ipairs{ {3, 3000, 100}, {2, 70000, 40}, {1, 200000, 2500}, {5, 2100, 2100}, {1, 30000, 10} } do
  local rows, n, k = unpack(case)
  for _, hi in ipairs{100, 1000000} do
  try(("topk %d [%d %d] %d"):format(tonumber(dt), rows, n, k), function()
    local t = randint(I, dt == C.TH_UINT8 and 0 or -hi, dt == C.TH_UINT8 and 200 or hi, {rows, n}); t = K(C.THTensor_newTo(t, dt))
    if hi == 100 and (dt == F or dt == H) then  local p = K(C.THTensor_newTo(t, F)); local d = ffi.cast("float*", C.THTensor_data(p)); for i = 0, n * rows - 1, 97 do d[i] = 0/0 end d[1] = 1/0 d[2] = -1/0 d[3] = -0.0; t = K(C.THTensor_newTo(p, dt)) end
    local tc = cuda(t)
    for largest = 0, 1 do for sorted = 0, 1 do
      local v, i, vc, ic = K(C.THTensor_new()), K(C.THTensor_new()), K(C.THTensor_new()), K(C.THTensor_new())
      ok(C.THTensor_topk(v, i, t, k, 1, largest, sorted)); ok(C.THTensor_topk(vc, ic, tc, k, 1, largest, sorted)); same(i, ic, "places " .. largest .. sorted)
    end end
    for _, f in ipairs{"kth", "median", "nanmedian"} do
      local v, i, vc, ic = K(C.THTensor_new()), K(C.THTensor_new()), K(C.THTensor_new()), K(C.THTensor_new())
      if f == "kth" then ok(C.THTensor_kthvalue(v, i, t, k, 1, 0)); ok(C.THTensor_kthvalue(vc, ic, tc, k, 1, 0))
      else ok(C["THTensor_" .. f](v, i, t, 1, 0)); ok(C["THTensor_" .. f](vc, ic, tc, 1, 0)) end
      same(i, ic, f)
    end
  end)
  end
 end
end
end
print(checks .. " checks", FAILED and "FAILED" or "all right")
os.exit(FAILED and 1 or 0)
