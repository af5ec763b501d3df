// As c.c, from C++: the structs are those of the C file, and the functions are found under their C names.
#include <thorn.h>
#include <thorn.h>

#include <cstdio>
#include <string>

extern "C" const char *second_version(void);
extern "C" size_t second_tensor_size(void);

int main() {
    const std::string version = std::to_string(TH_VERSION_MAJOR) + "." + std::to_string(TH_VERSION_MINOR) + "." +
                                std::to_string(TH_VERSION_PATCH);
    if (version != second_version() || THAbiVersion() != TH_ABI_VERSION) {
        std::fprintf(stderr, "header %s, library %s\n", version.c_str(), second_version());
        return 1;
    }
    return sizeof(THTensor) == second_tensor_size() ? 0 : 1;
}
