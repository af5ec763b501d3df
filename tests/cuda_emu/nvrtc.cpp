// The emulated NVRTC compiles CUDA C with g++ to a shared library. It returns the library's path as the program's PTX and cubin.
#include "rewrite.h"
#include "shim/emu_abi.h"
#include "version.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <spawn.h>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

extern char **environ;

namespace {

enum Result : int {
    SUCCESS = 0,
    CREATION_FAILURE = 2,
    INVALID_INPUT = 3,
    INVALID_PROGRAM = 4,
    INVALID_OPTION = 5,
    COMPILATION = 6,
    BUILTIN_FAILURE = 7,
};

const int ARCHS[] = {75, 80, 86, 89, 90, 100};
const char *const SHIM[] = {"emu_abi.h", "emu_shim.h", "emu_vectors.h", "emu_warp.h", "emu_bits.h", "emu_math.h"};

struct Program {
    std::string name, source, log, image;
    std::vector<std::pair<std::string, std::string>> headers; // name and text
};

typedef std::vector<std::string> Words;

Words words(const std::string &text) {
    std::istringstream in(text);
    Words list;
    for (std::string word; in >> word;) list.push_back(word);
    return list;
}

std::string setting(const char *name, const std::string &otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

std::string read_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

bool write_file(const std::string &path, const std::string &text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    return out.good();
}

// The folder of the shim: ../shim, relative to the folder of this library.
std::string shim_folder() {
    Dl_info self;
    if (!dladdr((void *)&shim_folder, &self)) return "shim";
    std::string path = self.dli_fname;
    return setting("THORN_EMU_SHIM", path.substr(0, path.find_last_of('/') + 1) + "../shim");
}

// Runs a program and appends its output to `log`. Returns true on success.
bool run(const Words &command, const std::string &log) {
    std::vector<char *> argv;
    for (const std::string &word : command) argv.push_back((char *)word.c_str());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        write_file(log, std::string("cannot run ") + argv[0] + ": " + strerror(failed) + "\n");
        return false;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// 128 bits of FNV-1a, as two halves with different start values.
struct Hash {
    uint64_t a = 14695981039346656037ull, b = 0x9ae16a3b2f90404full;

    void add(const std::string &text) {
        for (unsigned char c : text) {
            a = (a ^ c) * 1099511628211ull;
            b = (b ^ c) * 0x100000001b3ull + (b >> 57);
        }
        a = (a ^ 0x100) * 1099511628211ull;
        b = (b ^ 0x1ff) * 0x100000001b3ull;
    }

    std::string text() const {
        char digits[40];
        snprintf(digits, sizeof digits, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
        return digits;
    }
};

// The compiler checks alignments, indices and shifts, because otherwise only a GPU would fail. -Og saves more compile time than it costs
// run time.
const char *FLAGS = "-std=c++17 -w -fPIC -fno-strict-aliasing -ffp-contract=off -fwrapv -fno-exceptions -fno-rtti "
                    "-fno-threadsafe-statics -fno-gnu-unique -fvisibility=hidden -fno-asynchronous-unwind-tables -fno-stack-protector "
                    "-fno-math-errno -g1 -fsanitize=alignment,bounds,shift-exponent -fsanitize-undefined-trap-on-error -Og";
const char *LINK_FLAGS = "-shared -nostdlib -Wl,-Bsymbolic -lm -lc -lgcc";

std::string compiler() { return setting("THORN_EMU_CXX", "g++"); }
// Options that come last, `-O2 -fno-sanitize=all` for speed.
std::string more_flags() { return setting("THORN_EMU_CXXFLAGS", ""); }

// A hash of everything except the source that a module depends on: the shim, the rewriter, the compiler and its options.
const std::string &toolchain() {
    static const std::string text = [] {
        std::string all = compiler() + "\n" + FLAGS + "\n" + LINK_FLAGS + "\n" + more_flags() + "\n";
        for (const char *name : SHIM) all += read_file(shim_folder() + "/" + name);
        // The rewriter is part of this library.
        Dl_info self;
        if (dladdr((void *)&shim_folder, &self)) all += read_file(self.dli_fname);
        if (FILE *version = popen((compiler() + " -dumpfullversion").c_str(), "r")) {
            char line[100] = "";
            if (fgets(line, sizeof line, version)) all += line;
            pclose(version);
        }
        Hash hash;
        hash.add(all);
        return hash.text();
    }();
    return text;
}

// Reads the options of NVRTC: those that g++ gets, too, and the architecture. An option that NVRTC does not have is an error.
Result read_options(int count, const char *const *options, Words &flags, int &arch, std::string &log) {
    static const char *const IGNORED[] = {
        "std", "fmad", "use_fast_math", "device-debug", "G", "generate-line-info", "lineinfo", "maxrregcount", "ftz", "prec-sqrt",
        "prec-div", "restrict", "split-compile", "Ofast-compile", "default-device", "device-as-default-execution-space", "w",
        "disable-warnings", "ptxas-options", "Xptxas", "minimal", "dopt", "diag-suppress", "diag-error", "diag-warn",
        "extra-device-vectorization", "no-cache", "device-int128"};
    for (int i = 0; i < count; i++) {
        std::string option = options[i];
        std::string name = option.substr(0, option.find_first_of("= "));
        std::string value = name.size() < option.size() ? option.substr(name.size() + 1) : "";
        if (name == "--gpu-architecture" || name == "-arch") {
            size_t digits = value.find_first_of("0123456789");
            arch = digits == std::string::npos ? 0 : atoi(value.c_str() + digits);
            bool known = false;
            for (int supported : ARCHS) known |= supported == arch;
            if (known) continue;
            log = "nvrtc: error: invalid value for --gpu-architecture: " + value + "\n";
            return INVALID_OPTION;
        }
        if (name == "--define-macro" || name == "--include-path") {
            flags.push_back((name == "--define-macro" ? "-D" : "-I") + value);
            continue;
        }
        if (option.compare(0, 2, "-D") == 0 || option.compare(0, 2, "-I") == 0 || option.compare(0, 2, "-U") == 0) {
            flags.push_back(option);
            continue;
        }
        bool ignored = false;
        for (const char *known : IGNORED) ignored |= name == std::string("-") + known || name == std::string("--") + known;
        if (ignored) continue;
        log = "nvrtc: error: unrecognized option " + option + "\n";
        return INVALID_OPTION;
    }
    return SUCCESS;
}

std::string cache_folder() {
    std::string folder = setting("THORN_EMU_CACHE", "/tmp/thorn_emu_cache_" + std::to_string(getuid()));
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    return folder;
}

// Compiles in `folder`, to `folder`/module.so.
bool build(const Program &program, const std::string &folder, const Words &flags, int arch, std::string &log) {
    std::string source = folder + "/" + program.name, log_file = folder + "/log";
    if (!write_file(source, program.source)) {
        log = "cannot write " + source + "\n";
        return false;
    }
    for (auto &[name, text] : program.headers) {
        size_t slash = name.find_last_of('/');
        if (slash != std::string::npos) run({"mkdir", "-p", folder + "/include/" + name.substr(0, slash)}, log_file);
        mkdir((folder + "/include").c_str(), 0755);
        write_file(folder + "/include/" + name, text);
    }
    Words preprocess = {compiler(), "-E", "-x", "c++", "-std=c++17", "-nostdinc", "-I" + folder + "/include"};
    for (const char *macro :
         {"THORN_EMULATED=1", "__CUDACC__=1", "__CUDACC_RTC__=1", "__CUDACC_VER_MAJOR__=13", "__CUDACC_VER_MINOR__=0"}) {
        preprocess.push_back(std::string("-D") + macro);
    }
    preprocess.push_back("-D__CUDA_ARCH__=" + std::to_string(arch * 10));
    preprocess.insert(preprocess.end(), flags.begin(), flags.end());
    preprocess.insert(preprocess.end(), {source, "-o", folder + "/source.i"});
    bool good = run(preprocess, log_file);
    std::string error;
    if (good) {
        std::string text = rewrite(read_file(folder + "/source.i"), error);
        write_file(folder + "/module.cpp", "#include \"" + shim_folder() + "/emu_shim.h\"\n" + text);
        good = error.empty();
    }
    if (good) {
        Words command = {compiler(), folder + "/module.cpp", "-o", folder + "/module.so"};
        for (const std::string &list : {std::string(FLAGS), more_flags(), std::string(LINK_FLAGS)}) {
            for (const std::string &word : words(list)) command.push_back(word);
        }
        good = run(command, log_file);
    }
    // The temporary folder's name would not help the reader.
    log = error + read_file(log_file);
    for (size_t i; (i = log.find(folder + "/")) != std::string::npos;) log.erase(i, folder.size() + 1);
    return good;
}

void remove_folder(const std::string &folder) {
    if (getenv("THORN_EMU_KEEP")) fprintf(stderr, "cuda_emu: kept %s\n", folder.c_str());
    else run({"rm", "-rf", folder}, "/dev/null");
}

Result compile(Program &program, int count, const char *const *options) {
    int arch = 75;
    Words flags;
    program.log.clear();
    if (Result r = read_options(count, options, flags, arch, program.log)) return r;
    Hash hash;
    hash.add(toolchain());
    hash.add(std::to_string(arch));
    for (const std::string &flag : flags) hash.add(flag);
    hash.add(program.source);
    for (auto &[name, text] : program.headers) hash.add(name), hash.add(text);
    std::string cache = cache_folder(), module = cache + "/" + hash.text() + ".so";
    program.image = "EMU:" + module;
    if (access(module.c_str(), R_OK) == 0) return SUCCESS;
    // Another process that compiles the same module waits here, and then finds the compiled module.
    int guard = open((cache + "/" + hash.text() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (guard >= 0) flock(guard, LOCK_EX);
    bool good = access(module.c_str(), R_OK) == 0;
    if (!good) {
        std::string folder = cache + "/work-XXXXXX";
        if (!mkdtemp(folder.data())) {
            program.log = "cannot make a folder in " + cache + "\n";
        } else {
            good = build(program, folder, flags, arch, program.log);
            // The text is kept, because messages name its lines.
            std::string text = module.substr(0, module.size() - 3) + ".cu";
            if (good) good = rename((folder + "/" + program.name).c_str(), text.c_str()) == 0;
            if (good) good = rename((folder + "/module.so").c_str(), module.c_str()) == 0;
            remove_folder(folder);
        }
    }
    if (guard >= 0) {
        unlink((cache + "/" + hash.text() + ".lock").c_str());
        close(guard);
    }
    if (!good) program.image.clear();
    return good ? SUCCESS : COMPILATION;
}

Result size_of(const std::string &text, size_t *bytes) {
    if (!bytes) return INVALID_INPUT;
    *bytes = text.size() + 1;
    return SUCCESS;
}

Result copy_out(const std::string &text, char *to) {
    if (!to) return INVALID_INPUT;
    memcpy(to, text.c_str(), text.size() + 1);
    return SUCCESS;
}

} // namespace

API Result nvrtcVersion(int *major, int *minor) {
    version_of("THORN_EMU_NVRTC", (void *)&nvrtcVersion, major, minor);
    return SUCCESS;
}

API Result nvrtcGetNumSupportedArchs(int *count) {
    *count = sizeof ARCHS / sizeof *ARCHS;
    return SUCCESS;
}

API Result nvrtcGetSupportedArchs(int *archs) {
    memcpy(archs, ARCHS, sizeof ARCHS);
    return SUCCESS;
}

API const char *nvrtcGetErrorString(int result) {
    switch (result) {
    case SUCCESS: return "NVRTC_SUCCESS";
    case CREATION_FAILURE: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case COMPILATION: return "NVRTC_ERROR_COMPILATION";
    case BUILTIN_FAILURE: return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    default: return "NVRTC_ERROR unknown";
    }
}

API Result nvrtcCreateProgram(Program **out, const char *source, const char *name, int headers, const char *const *texts,
                              const char *const *names) {
    if (!out || !source || headers < 0 || (headers && (!texts || !names))) return INVALID_INPUT;
    Program *program = new Program;
    program->source = source;
    program->name = name && *name ? name : "default_program";
    // The name becomes a file name.
    for (char &c : program->name) c = c == '/' ? '_' : c;
    for (int i = 0; i < headers; i++) program->headers.emplace_back(names[i], texts[i]);
    *out = program;
    return SUCCESS;
}

API Result nvrtcDestroyProgram(Program **program) {
    if (!program || !*program) return INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return SUCCESS;
}

// As in the real NVRTC, one program is compiled at a time.
API Result nvrtcCompileProgram(Program *program, int count, const char *const *options) {
    static std::mutex one;
    if (!program) return INVALID_PROGRAM;
    std::lock_guard<std::mutex> guard(one);
    return compile(*program, count, options);
}

API Result nvrtcGetProgramLogSize(Program *p, size_t *bytes) { return p ? size_of(p->log, bytes) : INVALID_PROGRAM; }
API Result nvrtcGetProgramLog(Program *p, char *to) { return p ? copy_out(p->log, to) : INVALID_PROGRAM; }
API Result nvrtcGetPTXSize(Program *p, size_t *bytes) { return p && !p->image.empty() ? size_of(p->image, bytes) : INVALID_PROGRAM; }
API Result nvrtcGetPTX(Program *p, char *to) { return p && !p->image.empty() ? copy_out(p->image, to) : INVALID_PROGRAM; }
API Result nvrtcGetCUBINSize(Program *p, size_t *bytes) { return nvrtcGetPTXSize(p, bytes); }
API Result nvrtcGetCUBIN(Program *p, char *to) { return nvrtcGetPTX(p, to); }
