// As c.c, from C++: the structs have the C file's layout, and the functions are found under their C names.
#include <thorn.h>
#include <thorn.h>

#include <cstdio>
#include <cstring>

extern "C" const char *second_version(void);
extern "C" size_t second_tensor_size(void);

int main() {
    char version[32];
    std::sprintf(version, "%d.%d.%d", TH_VERSION_MAJOR, TH_VERSION_MINOR, TH_VERSION_PATCH);
    if (std::strcmp(version, second_version()) != 0 || THAbiVersion() != TH_ABI_VERSION) {
        std::fprintf(stderr, "header %s, library %s\n", version, second_version());
        return 1;
    }
    return sizeof(THTensor) == second_tensor_size() ? 0 : 1;
}
