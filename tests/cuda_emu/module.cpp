// Modules, functions and launches. The image of a module is the text "EMU:" and the path of a shared library, which the emulated NVRTC has
// compiled.
#include "driver.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace {

struct Module {
    Context *context;
    void *library;
    const emu::Module *table;
    std::vector<std::unique_ptr<Function>> functions;
};

std::unordered_map<void *, std::unique_ptr<Module>> &modules = *new std::unordered_map<void *, std::unique_ptr<Module>>;
std::set<void *> &functions = *new std::set<void *>;
uint64_t launched = 0;

// With THORN_EMU_NULL, the kernel for every name, and the module for every image.
const emu::Kernel null_kernel = {"null", 1024, 0, nullptr, nullptr};
emu::State null_state = {};
const emu::Module null_module = {emu::ABI, &null_state, &null_kernel, 1};

Function *find_function(void *handle) { return functions.count(handle) ? (Function *)handle : nullptr; }

void unload(Module &module) {
    for (auto &function : module.functions) functions.erase(function.get());
    if (module.library) dlclose(module.library);
}

Result keep_module(void **out, void *library, const emu::Module *table) {
    auto module = std::make_unique<Module>();
    module->context = current();
    module->library = library;
    module->table = table;
    *out = module.get();
    modules[module.get()] = std::move(module);
    return SUCCESS;
}

} // namespace

void drop_modules(Context *context) {
    for (auto i = modules.begin(); i != modules.end();) {
        if (i->second->context != context) {
            ++i;
            continue;
        }
        unload(*i->second);
        i = modules.erase(i);
    }
}

API uint64_t thorn_emu_launches() { return launched; }
API void thorn_emu_fail_launch(int64_t n) { settings.fail_launch = n; }

API Result cuModuleLoadData(void **out, const void *image) {
    Call call;
    if (Result r = call.context()) return r;
    if (!out || !image) return INVALID_VALUE;
    if (settings.null) return keep_module(out, nullptr, &null_module);
    if (strncmp((const char *)image, "EMU:", 4) != 0) return INVALID_IMAGE;
    void *library = dlopen((const char *)image + 4, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "cuda_emu: %s\n", dlerror());
        return INVALID_IMAGE;
    }
    const emu::Module *table = (const emu::Module *)dlsym(library, "emu_module");
    if (!table || table->abi != emu::ABI) {
        dlclose(library);
        return INVALID_IMAGE;
    }
    return keep_module(out, library, table);
}

API Result cuModuleLoadDataEx(void **out, const void *image, unsigned, int *, void **) { return cuModuleLoadData(out, image); }

API Result cuModuleUnload(void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    auto found = modules.find(handle);
    if (found == modules.end()) return INVALID_HANDLE;
    Result result = synchronize(found->second->context);
    unload(*found->second);
    modules.erase(found);
    return result;
}

API Result cuModuleGetFunction(void **out, void *handle, const char *name) {
    Call call;
    if (Result r = call.context()) return r;
    auto found = modules.find(handle);
    if (found == modules.end()) return INVALID_HANDLE;
    if (!out || !name) return INVALID_VALUE;
    Module &module = *found->second;
    const emu::Kernel *end = module.table->kernels + module.table->count;
    const emu::Kernel *kernel = std::find_if(module.table->kernels, end, [name](auto &k) { return settings.null || strcmp(k.name, name) == 0; });
    if (kernel == end) return NOT_FOUND;
    for (auto &function : module.functions) {
        if (function->kernel == kernel) {
            *out = function.get();
            return SUCCESS;
        }
    }
    auto function = std::make_unique<Function>();
    function->context = module.context;
    function->module = handle;
    function->kernel = kernel;
    function->state = module.table->state;
    function->name = name;
    *out = function.get();
    functions.insert(function.get());
    module.functions.push_back(std::move(function));
    return SUCCESS;
}

API Result cuModuleGetGlobal_v2(DevicePtr *, size_t *, void *, const char *) { return NOT_FOUND; }

API Result cuFuncGetModule(void **module, void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    Function *function = find_function(handle);
    if (!function) return INVALID_HANDLE;
    *module = function->module;
    return SUCCESS;
}

API Result cuFuncGetName(const char **name, void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    Function *function = find_function(handle);
    if (!function) return INVALID_HANDLE;
    *name = function->kernel->name;
    return SUCCESS;
}

// The number of bytes of shared memory is the number that the kernel has used so far.
API Result cuFuncGetAttribute(int *value, int attribute, void *handle) {
    Call call;
    if (Result r = call.ready()) return r;
    Function *function = find_function(handle);
    if (!function) return INVALID_HANDLE;
    switch (attribute) {
    case 0: *value = function->kernel->max_threads; return SUCCESS;
    case 1: *value = (int)function->shared; return SUCCESS;
    case 4: *value = 32; return SUCCESS; // registers
    case 5: case 6: *value = settings.capability; return SUCCESS;
    case 8: *value = 48 << 10; return SUCCESS;
    default: *value = 0; return attribute >= 0 && attribute < 16 ? SUCCESS : INVALID_VALUE;
    }
}

API Result cuFuncSetAttribute(void *handle, int, int) {
    Call call;
    if (Result r = call.ready()) return r;
    return find_function(handle) ? SUCCESS : INVALID_HANDLE;
}

API Result cuFuncSetCacheConfig(void *handle, int) { return cuFuncSetAttribute(handle, 0, 0); }

API Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *handle, int threads, size_t shared) {
    Call call;
    if (Result r = call.ready()) return r;
    if (!find_function(handle)) return INVALID_HANDLE;
    if (!blocks || threads <= 0) return INVALID_VALUE;
    int by_threads = threads > 1024 ? 0 : 2048 / threads;
    int by_shared = shared ? (int)std::min<size_t>(32, (228 << 10) / (shared + 1024)) : 32;
    *blocks = std::min({32, by_threads, by_shared});
    return SUCCESS;
}

API Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *handle, int threads, size_t shared, unsigned) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, shared);
}

API Result cuOccupancyMaxPotentialBlockSize(int *grid, int *threads, void *handle, size_t (*)(int), size_t, int limit) {
    Call call;
    if (Result r = call.ready()) return r;
    Function *function = find_function(handle);
    if (!function) return INVALID_HANDLE;
    *threads = limit > 0 ? std::min(limit, function->kernel->max_threads) : function->kernel->max_threads;
    *grid = settings.multiprocessors * std::max(1, 2048 / *threads);
    return SUCCESS;
}

namespace {

// A kernel with copies of its parameters, each aligned to 16 bytes.
struct Work {
    Function *function;
    std::vector<emu::Word> bytes;
    std::vector<void *> params;
    emu::Index grid, block;

    Work(Function *function, void **from, emu::Index grid, emu::Index block) : function(function), grid(grid), block(block) {
        const emu::Kernel &kernel = *function->kernel;
        size_t words = 0;
        for (int i = 0; i < kernel.params; i++) words += (kernel.sizes[i] + 15) / 16 * 2;
        bytes.resize(words + 2);
        char *p = (char *)(((uintptr_t)bytes.data() + 15) / 16 * 16);
        for (int i = 0; i < kernel.params; i++) {
            memcpy(p, from[i], kernel.sizes[i]);
            params.push_back(p);
            p += (kernel.sizes[i] + 15) / 16 * 16;
        }
    }
};

Result run(const Work &work) {
    if (settings.fail_launch > 0 && --settings.fail_launch == 0) {
        fprintf(stderr, "cuda_emu: kernel %s fails because THORN_EMU_FAIL_LAUNCH asks for it\n", work.function->name.c_str());
        return LAUNCH_FAILED;
    }
    if (settings.null) return SUCCESS;
    return run_grid({work.function, work.params.data(), work.grid, work.block});
}

} // namespace

API Result cuLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared, void *stream_handle, void **params, void **extra) {
    Call call;
    if (Result r = call.context()) return r;
    Function *function = find_function(handle);
    auto stream = find_stream(stream_handle);
    if (!function || !stream || function->context != current() || stream->context != current()) return INVALID_HANDLE;
    uint64_t threads = (uint64_t)block_x * block_y * block_z;
    if (!grid_x || !grid_y || !grid_z || grid_x > 0x7fffffff || grid_y > 65535 || grid_z > 65535) return INVALID_VALUE;
    if (!threads || block_x > 1024 || block_y > 1024 || block_z > 64) return INVALID_VALUE;
    if (threads > (uint64_t)function->kernel->max_threads) return INVALID_VALUE;
    if (shared || extra || (!params && function->kernel->params)) return INVALID_VALUE; // shared memory has a constant size here
    launched++;
    auto work = std::make_shared<Work>(function, params, emu::Index{grid_x, grid_y, grid_z}, emu::Index{block_x, block_y, block_z});
    Op op;
    op.run = [work] { return run(*work); };
    return enqueue(stream, std::move(op));
}
