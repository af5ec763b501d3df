/* Fourier transforms. Complex numbers are pairs in a last dimension of size 2. */

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
    /* Of a real signal the first half tells all. */
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
    /* A half does not tell an odd size from an even one. */
    CHECK_OK(THTensor_rfft(r, odd, 1, 0, 1));
    CHECK_SHAPE(r, 3, 2);
    CHECK_OK(THTensor_irfft(r, r, 1, 0, 1, SIZES(5)));
    CHECK_CLOSE(r, 1e-14, 2, 7, 1, 8, 2);
    CHECK_OK(THTensor_rfft(r, odd, 1, 0, 1));
    CHECK_ERROR(THTensor_irfft(r, r, 1, 0, 1, SIZES(6)), TH_ERR_SHAPE,
                "3 numbers are not the first half of a signal of size 6");
    THTensor_free(r);
    THTensor_free(odd);
    THTensor_free(even);
}

static void several_dimensions_are_transformed_one_after_the_other(void) {
    THTensor *t = THTensor_newArange(TH_FLOAT64, 0, 3 * 4 * 5 * 2, 1), *r = THTensor_new(), *one = THTensor_new();
    CHECK_OK(THTensor_sin(t, t));
    CHECK_OK(THTensor_resize(t, SIZES(3, 4, 5, 2), NULL));
    CHECK_OK(THTensor_fft2(r, t));
    CHECK_OK(THTensor_fft(one, t, 1, 0));
    CHECK_OK(THTensor_transpose(one, one, 1, 2));
    CHECK_OK(THTensor_fft(one, one, 1, 0));
    CHECK_OK(THTensor_transpose(one, one, 1, 2));
    CHECK_EQ(THTensor_allclose(r, one, 1e-12, 1e-12, 0), 1);
    CHECK_OK(THTensor_ifft2(r, r));
    CHECK_EQ(THTensor_allclose(r, t, 1e-12, 1e-12, 0), 1);
    /* All three of them; divided by the root of their number, the transform keeps the sum of squares. */
    CHECK_OK(THTensor_fft(r, t, 3, 1));
    CHECK_NEAR(THTensor_normall(r, 2), THTensor_normall(t, 2), 1e-12);
    THTensor_free(one);
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

static void what_is_no_signal_is_refused(void) {
    THTensor *t = matrix_of(TH_FLOAT32, 2, 1, 2, 3, 4), *whole = THTensor_newTo(t, TH_INT32),
             *r = vector_of(TH_FLOAT32, 7);
    CHECK_ERROR(THTensor_fft(r, whole, 1, 0), TH_ERR_DTYPE, "not defined for int32");
    CHECK_ERROR(THTensor_fft(r, t, 2, 0), TH_ERR_ARGUMENT, "2 signal dimensions of 1");
    CHECK_OK(THTensor_narrow(t, t, 1, 0, 1));
    CHECK_ERROR(THTensor_fft(r, t, 1, 0), TH_ERR_SHAPE, "a last dimension of size 2");
    CHECK_VALUES(r, 7);
    THTensor_free(r);
    THTensor_free(whole);
    THTensor_free(t);
}

CHECK_MAIN(CASE(an_impulse_has_all_frequencies), CASE(a_wave_has_one_frequency), CASE(halves_become_signals_again),
           CASE(several_dimensions_are_transformed_one_after_the_other), CASE(every_length_comes_back),
           CASE(what_is_no_signal_is_refused))
