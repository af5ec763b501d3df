/* This file includes the header first, and twice. The other file of the program includes the header, too. */
#include <thorn.h>
#include <thorn.h>

#include <stdio.h>
#include <string.h>

const char *second_version(void);
size_t second_tensor_size(void);

int main(void) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TH_VERSION_MAJOR, TH_VERSION_MINOR, TH_VERSION_PATCH);
    if (strcmp(version, second_version()) != 0 || THAbiVersion() != TH_ABI_VERSION) {
        fprintf(stderr, "header %s, library %s\n", version, second_version());
        return 1;
    }
    /* Codes are 32 bits wide in the binary interface. */
    if (sizeof(THStatus) != 4 || sizeof(THDtype) != 4 || sizeof(THMemoryFormat) != 4 || sizeof(THDivMode) != 4) return 2;
    return sizeof(THTensor) == second_tensor_size() ? 0 : 1;
}
