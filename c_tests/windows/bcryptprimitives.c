/* bcryptprimitives.dll for versions of Wine before 9, which lack this part of Windows: the random numbers of Rust's std. */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size) {
    for (SIZE_T done = 0; done < size; done++) {
        if (!RtlGenRandom(data + done, 1)) return FALSE;
    }
    return TRUE;
}
