// The vector types of CUDA C, with their alignments, and their make functions.
#pragma once

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

#define EMU_VECTORS(T, NAME)                                                                                                            \
    struct NAME##1 { T x; };                                                                                                            \
    struct alignas(2 * sizeof(T)) NAME##2 { T x, y; };                                                                                  \
    struct NAME##3 { T x, y, z; };                                                                                                      \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) NAME##4 { T x, y, z, w; };                                                  \
    static inline NAME##1 make_##NAME##1(T x) { return NAME##1{x}; }                                                                    \
    static inline NAME##2 make_##NAME##2(T x, T y) { return NAME##2{x, y}; }                                                            \
    static inline NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3{x, y, z}; }                                                    \
    static inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return NAME##4{x, y, z, w}; }

EMU_VECTORS(signed char, char)
EMU_VECTORS(unsigned char, uchar)
EMU_VECTORS(short, short)
EMU_VECTORS(unsigned short, ushort)
EMU_VECTORS(int, int)
EMU_VECTORS(unsigned, uint)
EMU_VECTORS(long, long)
EMU_VECTORS(unsigned long, ulong)
EMU_VECTORS(long long, longlong)
EMU_VECTORS(unsigned long long, ulonglong)
EMU_VECTORS(float, float)
EMU_VECTORS(double, double)

#undef EMU_VECTORS
