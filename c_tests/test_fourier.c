/* Fourier transforms. A complex number is a pair in a last dimension of size 2. */

#include "check.h"

static void an_impulse_has_all_frequencies(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 4, 1, 0, 0, 0, 0, 0, 0, 0), *r = THTensor_new();
    CHECK_OK(THTensor_fft(r, t, 1, 0));
    CHECK_SHAPE(r, 4, 2);
    CHECK_VALUES(r, 1, 0, 1, 0, 1, 0, 1, 0);
    CHECK_OK(THTensor_ifft(r, r, 1, 0));
    CHECK_VALUES(r, 1, 0, 0, 0, 0, 0, 0, 0);
    THTensor_free(r);
    THTensor_free(t);
}

static void a_wave_has_one_frequency(void) {
    enum { N = 12 };
    THTensor *wave = THTensor_newArange(TH_FLOAT64, 0, N, 1), *r = THTensor_new();
    CHECK_OK(THTensor_mul(wave, wave, 2 * 3.14159265358979323846 * 2 / N));
    CHECK_OK(THTensor_cos(wave, wave));
    /* The first half of a real signal's transform is sufficient. */
    CHECK_OK(THTensor_rfft(r, wave, 1, 0, 1));
    CHECK_SHAPE(r, N / 2 + 1, 2);
    CHECK_CLOSE(r, 1e-12, 0, 0, 0, 0, N / 2., 0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK_OK(THTensor_rfft(r, wave, 1, 0, 0));
    CHECK_SHAPE(r, N, 2);
    CHECK_NEAR(THTensor_get2d(r, N - 2, 0), N / 2., 1e-12);
    THTensor_free(r);
    THTensor_free(wave);
}

static void halves_become_signals_again(void) {
    THTensor *even = vector_of(TH_FLOAT64, 3, 1, 4, 1), *odd = vector_of(TH_FLOAT64, 2, 7, 1, 8, 2),
             *r = THTensor_new();
    CHECK_OK(THTensor_rfft(r, even, 1, 0, 1));
    CHECK_OK(THTensor_irfft(r, r, 1, 0, 1, 0, NULL));
    CHECK_CLOSE(r, 1e-14, 3, 1, 4, 1);
    /* The first half does not tell an odd size from an even one. */
    CHECK_OK(THTensor_rfft(r, odd, 1, 0, 1));
    CHECK_SHAPE(r, 3, 2);
    CHECK_OK(THTensor_irfft(r, r, 1, 0, 1, SIZES(5)));
    CHECK_CLOSE(r, 1e-14, 2, 7, 1, 8, 2);
    CHECK_OK(THTensor_rfft(r, odd, 1, 0, 1));
    CHECK_ERROR(THTensor_irfft(r, r, 1, 0, 1, SIZES(6)), TH_ERR_SHAPE,
                "3 numbers are not the first half of a signal of size 6");
    /* A smaller size drops frequencies: (6 + 2) / 2 and (6 - 2) / 2 are computed from the first two. */
    THTensor *half = matrix_of(TH_FLOAT64, 3, 6, 0, 2, 0, 5, 0);
    CHECK_OK(THTensor_irfft(r, half, 1, 0, 1, SIZES(2)));
    CHECK_CLOSE(r, 1e-14, 4, 2);
    /* One element does not determine the size. */
    CHECK_OK(THTensor_narrow(half, half, 0, 0, 1));
    CHECK_ERROR(THTensor_irfft(r, half, 1, 0, 1, 0, NULL), TH_ERR_SHAPE, "a size must be given");
    CHECK_OK(THTensor_irfft(r, half, 1, 0, 1, SIZES(1)));
    CHECK_CLOSE(r, 1e-14, 6);
    THTensor_free(half);
    THTensor_free(r);
    THTensor_free(odd);
    THTensor_free(even);
}

/* Computes elements k and l of the transform of height times width complex numbers by its defining sum. */
static void defined(double *of_k_l, const double *t, int height, int width, int k, int l) {
    of_k_l[0] = of_k_l[1] = 0;
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < width; j++, t += 2) {
            double angle = -2 * 3.14159265358979323846 * ((double)(i * k) / height + (double)(j * l) / width);
            of_k_l[0] += t[0] * cos(angle) - t[1] * sin(angle);
            of_k_l[1] += t[0] * sin(angle) + t[1] * cos(angle);
        }
    }
}

static void several_dimensions_are_transformed_as_the_sum_over_all_says(void) {
    enum { BATCH = 3, HEIGHT = 4, WIDTH = 5, PLANE = HEIGHT * WIDTH * 2 };
    THTensor *t = THTensor_newArange(TH_FLOAT64, 0, BATCH * PLANE, 1), *r = THTensor_new();
    CHECK_OK(THTensor_sin(t, t));
    CHECK_OK(THTensor_resize(t, SIZES(BATCH, HEIGHT, WIDTH, 2), NULL));
    CHECK_OK(THTensor_fft2(r, t));
    CHECK_SHAPE(r, BATCH, HEIGHT, WIDTH, 2);
    for (int at = 0; at < BATCH * PLANE; at += 2) {
        double expected[2];
        const double *signal = (const double *)THTensor_data(t) + at / PLANE * PLANE;
        defined(expected, signal, HEIGHT, WIDTH, at % PLANE / 2 / WIDTH, at % PLANE / 2 % WIDTH);
        CHECK_NEAR(element_at(r, at), expected[0], 1e-12);
        CHECK_NEAR(element_at(r, at + 1), expected[1], 1e-12);
    }
    CHECK_OK(THTensor_ifft2(r, r));
    CHECK_EQ(THTensor_allclose(r, t, 1e-12, 1e-12, 0), 1);
    /* Over all three dimensions. Divided by the root of the number of elements, the transform preserves the sum of
     * squares. */
    CHECK_OK(THTensor_fft(r, t, 3, 1));
    CHECK_NEAR(THTensor_normall(r, 2), THTensor_normall(t, 2), 1e-12);
    THTensor_free(r);
    THTensor_free(t);
}

static void every_length_comes_back(void) {
    for (int64_t n = 1; n <= (under_valgrind() ? 20 : 200); n++) {
        THTensor *t = THTensor_newArange(TH_FLOAT64, 0, (double)(2 * n), 1), *r = THTensor_new();
        CHECK_OK(THTensor_cos(t, t));
        CHECK_OK(THTensor_resize(t, SIZES(n, 2), NULL));
        CHECK_OK(THTensor_fft(r, t, 1, 0));
        CHECK_NEAR(THTensor_normall(r, 2), sqrt((double)n) * THTensor_normall(t, 2), 1e-11 * (double)n);
        CHECK_OK(THTensor_ifft(r, r, 1, 0));
        CHECK_EQ(THTensor_allclose(r, t, 1e-12, 1e-12, 0), 1);
        THTensor_free(r);
        THTensor_free(t);
    }
}

static void an_empty_batch_needs_no_memory(void) {
    const int64_t size = (int64_t)1 << 40;
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(0, size, 2)),
             *real = THTensor_newZeros(TH_FLOAT32, SIZES(0, size)), *r = THTensor_new();
    CHECK_OK(THTensor_fft(r, t, 1, 0));
    CHECK_SHAPE(r, 0, size, 2);
    CHECK_OK(THTensor_ifft(r, t, 1, 1));
    CHECK_SHAPE(r, 0, size, 2);
    CHECK_OK(THTensor_rfft(r, real, 1, 0, 1));
    CHECK_SHAPE(r, 0, size / 2 + 1, 2);
    CHECK_OK(THTensor_rfft(r, real, 1, 0, 0));
    CHECK_SHAPE(r, 0, size, 2);
    CHECK_OK(THTensor_irfft(r, t, 1, 0, 1, 0, NULL));
    CHECK_SHAPE(r, 0, 2 * (size - 1));
    CHECK_OK(THTensor_irfft(r, t, 1, 0, 0, 0, NULL));
    CHECK_SHAPE(r, 0, size);
    CHECK_EQ(THTensor_dtype(r), TH_FLOAT32);
    /* A tensor that is refused with elements is also refused without. */
    CHECK_OK(THTensor_resize(t, SIZES(0, 4, 2), NULL));
    THTensor *whole = THTensor_newTo(t, TH_INT32);
    CHECK_ERROR(THTensor_fft(r, whole, 1, 0), TH_ERR_DTYPE, "not defined for int32, only for floats");
    THTensor_free(whole);
    THTensor_free(r);
    THTensor_free(real);
    THTensor_free(t);
}

/* The memory that a transform needs in addition to its result, in lines of N complex numbers, with more threads than
 * lines. */
static void one_line_takes_the_memory_of_one(void) {
    enum { N = 1 << 16 };
    const int64_t line = N * 2 * (int64_t)sizeof(double);
    int threads = THGetNumThreads();
    THTensor *t = THTensor_newOnes(TH_FLOAT64, SIZES(N, 2)), *real = THTensor_newOnes(TH_FLOAT64, SIZES(N)),
             *column = THTensor_newOnes(TH_FLOAT64, SIZES(N, 1, 2)), *r = THTensor_new();
    CHECK_OK(THSetNumThreads(32));
    for (int round = 0; round < 2; round++) {
        /* The first round makes plans, which are cached. A result takes a line, and the scratch memory of a plan may
         * take another one. */
        int64_t limit = round == 0 ? 0 : THMemory_liveBytes() + 2 * line + line / 2;
        CHECK_OK(THMemory_setSoftLimit(limit, NULL, NULL));
        CHECK_OK(THTensor_fft(r, t, 1, 0));
        CHECK_OK(THTensor_rfft(r, real, 1, 0, 1));
        CHECK_OK(THTensor_resize(r, SIZES(0), NULL));
        if (round == 1) CHECK_EQ(THMemory_pressure(), 0);
        CHECK_OK(THMemory_setSoftLimit(limit == 0 ? 0 : limit + line, NULL, NULL));
        CHECK_OK(THTensor_fft2(r, column));
        CHECK_OK(THTensor_resize(r, SIZES(0), NULL));
        if (round == 1) CHECK_EQ(THMemory_pressure(), 0);
    }
    CHECK_OK(THMemory_setSoftLimit(0, NULL, NULL));
    THSetNumThreads(threads);
    THTensor_free(r);
    THTensor_free(column);
    THTensor_free(real);
    THTensor_free(t);
}

static int64_t cached(void) {
    THMemoryStats stats;
    CHECK_OK(THMemory_stats(&stats));
    return stats.cached_bytes;
}

/* TH_CACHE_LIMIT=0 in the environment turns the cache off, and no plan is kept. */
static void plans_are_counted_and_given_up(void) {
    enum { N = 40000, COUNT = 10 };
    THMemoryStats stats;
    CHECK_OK(THMemory_stats(&stats));
    THTensor *all = THTensor_newOnes(TH_FLOAT32, SIZES(N + COUNT, 2)), *t = THTensor_new(), *r = THTensor_new();
    for (int round = 0; round < 2; round++) {
        int64_t first = 0;
        CHECK_OK(THAllocator_emptyCache());
        CHECK_EQ(cached(), 0);
        for (int k = COUNT; k > 0; k--) {
            CHECK_OK(THTensor_narrow(t, all, 0, 0, N + k));
            CHECK_OK(THTensor_fft(r, t, 1, 0));
            if (k == COUNT) first = cached();
        }
        /* Other cached memory is reused for the next length. A plan has at least one factor for each element. */
        if (stats.cache_limit > 0) CHECK(cached() - first >= (int64_t)(COUNT - 1) * N * 8);
    }
    CHECK_OK(THAllocator_emptyCache());
    CHECK_EQ(cached(), 0);
    THTensor_free(r);
    THTensor_free(t);
    THTensor_free(all);
}

static void what_is_no_signal_is_refused(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *whole = THTensor_newTo(t, TH_INT32),
             *r = vector_of(TH_FLOAT32, 7);
    CHECK_ERROR(THTensor_fft(r, whole, 1, 0), TH_ERR_DTYPE, "not defined for int32, only for floats");
    CHECK_ERROR(THTensor_fft(r, t, 2, 0), TH_ERR_ARGUMENT, "a signal of 2 dimensions in a tensor with 1 for signals and batches: expected 1 to 1");
    THTensor *pair = vector_of(TH_FLOAT32, 1, 2);
    CHECK_ERROR(THTensor_fft(r, pair, 1, 0), TH_ERR_SHAPE, "a tensor of one dimension has no signal");
    THTensor_free(pair);
    CHECK_OK(THTensor_narrow(t, t, 1, 0, 1));
    CHECK_ERROR(THTensor_fft(r, t, 1, 0), TH_ERR_SHAPE, "a last dimension of size 2");
    CHECK_VALUES(r, 7);
    THTensor_free(r);
    THTensor_free(whole);
    THTensor_free(t);
}

CHECK_MAIN(CASE(an_impulse_has_all_frequencies), CASE(a_wave_has_one_frequency), CASE(halves_become_signals_again),
           CASE(several_dimensions_are_transformed_as_the_sum_over_all_says), CASE(every_length_comes_back),
           CASE(an_empty_batch_needs_no_memory), CASE(one_line_takes_the_memory_of_one),
           CASE(plans_are_counted_and_given_up),
           CASE(what_is_no_signal_is_refused))
