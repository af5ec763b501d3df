-- The functions of the library that have no name in Lua, by reason.

local reasons = {
    ["the collector gives up references, and Lua counts none"] = [[
        THTensor_retain THTensor_free THStorage_retain THStorage_free THGenerator_free THFused_retain THFused_free THOptim_free
        THProgram_retain THProgram_free THArchive_free THCudaStream_retain THCudaStream_free THCudaEvent_retain THCudaEvent_free THCudaGraph_retain
        THCudaGraph_free THMapAllocatorContext_free THSTensor_retain THSTensor_free]],
    ["it gives up a reference that the collector would give up again"] = "THTensor_freeCopyTo",
    ["blocks of C are not collected; ffi.new makes memory in Lua, and THStorage_new in the library"] = "THAlloc THRealloc THFree",
    ["it tells the declarations, which the package has made already"] = "THCdef THCdefChapter",
    ["errors are raised, with their message"] = "THGetLastError THGetLastErrorCode THSetLastError THClearLastError",
}

local excluded = {}
for reason, names in pairs(reasons) do
    for name in names:gmatch("%S+") do excluded[name] = reason end
end

return excluded
