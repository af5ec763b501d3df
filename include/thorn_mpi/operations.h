/**
 * @file operations.h
 * @brief Reductions of elements that MPI does not know: 16-bit floats and Bool. Included by thorn_mpi.h.
 */

#ifndef THORN_MPI_OPERATIONS_H
#define THORN_MPI_OPERATIONS_H

#include "timeouts.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline float th_mpi_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t th_mpi_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float th_mpi_from_float16(uint16_t half) {
    const uint32_t magnitude = (uint32_t)(half & 0x7FFF) << 13, exponent = magnitude & 0x0F800000;
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    /* Infinities and NaNs get the exponent of float32. Subnormal numbers are normalized by a subtraction. */
    const uint32_t normal = magnitude + (exponent == 0x0F800000 ? 0x70000000u : 0x38000000u);
    const uint32_t small = th_mpi_bits_of(th_mpi_float_of(magnitude + 0x38800000) - 6.103515625e-5f);
    return th_mpi_float_of(sign | (exponent == 0 ? small : normal));
}

static inline uint16_t th_mpi_to_float16(float value) {
    const uint32_t bits = th_mpi_bits_of(value), magnitude = bits & 0x7FFFFFFF;
    /* Rounds to nearest, ties to even: a normal number by the carry into bit 13, a subnormal one by adding 0.5, whose
     * last place is 2^-24. */
    const uint32_t normal = (magnitude - 0x38000000 + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
    const uint32_t small = th_mpi_bits_of(th_mpi_float_of(magnitude) + 0.5f) - 0x3F000000;
    const uint32_t finite = magnitude < 0x38800000 ? small : normal;
    const uint32_t rounded = magnitude > 0x7F800000 ? 0x7E00 : magnitude >= 0x477FF000 ? 0x7C00 : finite;
    return (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)rounded;
}

static inline float th_mpi_from_bfloat16(uint16_t half) { return th_mpi_float_of((uint32_t)half << 16); }

static inline uint16_t th_mpi_to_bfloat16(float value) {
    const uint32_t bits = th_mpi_bits_of(value);
    const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? (bits >> 16 | 0x40) : rounded);
}

/** @cond */
/* Defines an MPI operation on 16-bit floats. Each step is computed in float32 and then rounded. */
#define TH_MPI_OPERATION(name, kind, formula)                                                                          \
    static inline void th_mpi_##name##_##kind(void *from, void *to, int *count, MPI_Datatype *type) {                  \
        const uint16_t *x = (const uint16_t *)from;                                                                    \
        uint16_t *y = (uint16_t *)to;                                                                                  \
        (void)type;                                                                                                    \
        for (int i = 0; i < *count; i++) {                                                                             \
            const float a = th_mpi_from_##kind(x[i]), b = th_mpi_from_##kind(y[i]);                                    \
            y[i] = th_mpi_to_##kind(formula);                                                                          \
        }                                                                                                              \
    }
#define TH_MPI_OPERATIONS(kind)                                                                                        \
    TH_MPI_OPERATION(sum, kind, a + b)                                                                                 \
    TH_MPI_OPERATION(product, kind, a *b)                                                                              \
    TH_MPI_OPERATION(minimum, kind, a != a || a < b ? a : b)                                                           \
    TH_MPI_OPERATION(maximum, kind, a != a || a > b ? a : b)
TH_MPI_OPERATIONS(float16)
TH_MPI_OPERATIONS(bfloat16)

/* Defines an MPI operation on Bool. Any byte except 0 is true. */
#define TH_MPI_TRUTH(name, formula)                                                                                    \
    static inline void th_mpi_##name(void *from, void *to, int *count, MPI_Datatype *type) {                           \
        const unsigned char *x = (const unsigned char *)from;                                                          \
        unsigned char *y = (unsigned char *)to;                                                                        \
        (void)type;                                                                                                    \
        for (int i = 0; i < *count; i++) {                                                                             \
            const int a = x[i] != 0, b = y[i] != 0;                                                                    \
            y[i] = (unsigned char)(formula);                                                                           \
        }                                                                                                              \
    }
TH_MPI_TRUTH(and, a &b)
TH_MPI_TRUTH(or, a | b)
TH_MPI_TRUTH(xor, a ^ b)
/** @endcond */

/* Returns a number for each predefined elementwise operation of MPI. The number is the same on all ranks. */
enum { TH_MPI_OP_OTHER = 10 };
static inline int th_mpi_op_code(MPI_Op op) {
    const MPI_Op known[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    int code = 0;
    while (code < TH_MPI_OP_OTHER && known[code] != op) code++;
    return code;
}

/* Stores in `*use` the operation that reduces elements of `dtype` by `op`: for 16-bit floats and Bool an operation of
 * this header, otherwise `op`, which MPI checks. */
static inline THStatus th_mpi_op(MPI_Op *use, THMpiCall *call, THDtype dtype, MPI_Op op) {
    static MPI_User_function *const halves[2][4] = {
        {th_mpi_sum_float16, th_mpi_product_float16, th_mpi_minimum_float16, th_mpi_maximum_float16},
        {th_mpi_sum_bfloat16, th_mpi_product_bfloat16, th_mpi_minimum_bfloat16, th_mpi_maximum_bfloat16}};
    static MPI_User_function *const truths[3] = {th_mpi_and, th_mpi_or, th_mpi_xor};
    th_mpi_process *process = th_mpi_this_file();
    const int code = th_mpi_op_code(op);
    MPI_User_function *function;
    MPI_Op *made;
    *use = op;
    if (op == MPI_OP_NULL) return th_mpi_fail(TH_ERR_ARGUMENT, "%s: the operation is MPI_OP_NULL", call->what);
    if (code == TH_MPI_OP_OTHER || (dtype != TH_FLOAT16 && dtype != TH_BFLOAT16 && dtype != TH_BOOL)) return TH_OK;
    if (dtype == TH_BOOL) {
        static const signed char truth[] = {-1, 0, 0, 1, 0, 1, 2, 0, 1, 2};
        if (truth[code] < 0) return th_mpi_fail(TH_ERR_DTYPE, "%s: MPI_SUM of bool, whose sum is no bool", call->what);
        function = truths[truth[code]];
        made = &process->truths[truth[code]];
    } else {
        if (code > 3) return th_mpi_fail(TH_ERR_DTYPE, "%s: %s has no logical or bitwise operation", call->what, THDtype_name(dtype));
        function = halves[dtype == TH_BFLOAT16][code];
        made = &process->halves[dtype == TH_BFLOAT16][code];
    }
    th_mpi_lock(process);
    int status = *made == MPI_OP_NULL ? MPI_Op_create(function, 1, made) : MPI_SUCCESS;
    *use = *made;
    th_mpi_unlock(process);
    return th_mpi_check(status, call->what);
}

#ifdef __cplusplus
}
#endif

#endif
