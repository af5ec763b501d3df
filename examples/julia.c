/*
 * Draws a fractal: the Julia set of z^2 + c, whose points stay near 0 when z is repeatedly replaced by z^2 + c.
 *
 *     cc -std=c99 -O2 -Iinclude examples/julia.c -Ltarget/release -lthorn -o julia
 *     LD_LIBRARY_PATH=target/release ./julia julia.png --device cuda:0
 *
 * Each step is three fused expressions, each of which reads and writes the planes once. On a GPU each is one kernel.
 */

#include "try.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 480, WIDTH = 640, STEPS = 120, SHOWN_ROWS = 24, SHOWN_COLUMNS = 72 };

// `r` = the expression of the inputs, in the order in which the expression names them.
static THStatus compute(THTensor *r, const char *expression, THTensor *const *inputs, int count) {
    THFused *f = THFused_new(expression);
    THStatus status = f ? THFused_run(r, f, inputs, count) : THGetLastErrorCode();
    THFused_free(f);
    return status;
}

// `steps` = the number of steps in which each point of the plane stays within a distance of 2.
static THStatus iterate(THTensor *steps) {
    THStatus status;
    THTensor *row = THTensor_new(), *column = THTensor_newWithDtype(TH_FLOAT32), *x = THTensor_new(), *y = THTensor_new();
    THTensor *next = THTensor_new();
    THFused *real = THFused_new("x*x - y*y - 0.8"), *imaginary = THFused_new("2*x*y + 0.156");
    THFused *counted = THFused_new("steps + (x*x + y*y < 4)");
    TRY(real && imaginary && counted ? TH_OK : THGetLastErrorCode());
    TRY(THTensor_linspace(row, -1.6, 1.6, WIDTH));
    TRY(THTensor_resize(column, 2, (int64_t[]){HEIGHT, 1}, NULL));
    TRY(THTensor_linspace(column, -1.2, 1.2, HEIGHT));
    TRY(compute(x, "row + 0*column", (THTensor *[]){row, column}, 2));
    TRY(compute(y, "column + 0*row", (THTensor *[]){column, row}, 2));
    TRY(compute(steps, "0*x", &x, 1));
    for (int k = 0; k < STEPS; k++) {
        TRY(THFused_run(next, real, (THTensor *[]){x, y}, 2));
        TRY(THFused_run(y, imaginary, (THTensor *[]){x, y}, 2));
        THTensor *before = x;
        x = next;
        next = before;
        TRY(THFused_run(steps, counted, (THTensor *[]){steps, x, y}, 3));
    }
done:
    THFused_free(counted);
    THFused_free(imaginary);
    THFused_free(real);
    THTensor_free(next);
    THTensor_free(y);
    THTensor_free(x);
    THTensor_free(column);
    THTensor_free(row);
    return status;
}

// Writes the colours of the steps as an image file.
static THStatus write_image(const char *path, THTensor *steps) {
    static const char *const colours[3] = {"255 * sin(0.05*s)^2", "255 * sin(0.08*s)^2", "255 * sin(0.13*s)^2"};
    THStatus status = TH_OK;
    THTensor *image = THTensor_newZeros(TH_UINT8, 3, (int64_t[]){HEIGHT, WIDTH, 3}), *colour = THTensor_new(), *here = NULL;
    for (int k = 0; k < 3; k++) {
        THTensor *channel = THTensor_newSelect(image, 2, k);
        status = compute(colour, colours[k], &steps, 1);
        if (status == TH_OK) status = THTensor_copy(channel, colour);
        THTensor_free(channel);
        TRY(status);
    }
    here = THTensor_newCpu(image);
    TRY(THTensor_save(here, path));
done:
    THTensor_free(here);
    THTensor_free(colour);
    THTensor_free(image);
    return status;
}

// Prints some of the points.
static void show(const THTensor *steps) {
    for (int64_t i = 0; i < SHOWN_ROWS; i++) {
        for (int64_t j = 0; j < SHOWN_COLUMNS; j++) {
            double s = THTensor_get2d(steps, i * HEIGHT / SHOWN_ROWS, j * WIDTH / SHOWN_COLUMNS);
            putchar(" .:-=+*#%@"[(int)(s * 9 / STEPS)]);
        }
        putchar('\n');
    }
}

// Makes "cuda:1" and the like the default device for new tensors. Without a name the host is used.
static THStatus choose_device(const char *name) {
    bool is_cuda = strncmp(name, "cuda", 4) == 0;
    THStatus status = THSetDefaultDevice(is_cuda ? TH_CUDA : TH_CPU, is_cuda && name[4] == ':' ? atoi(name + 5) : 0);
    if (status != TH_ERR_CUDA) return status;
    fprintf(stderr, "%s; the host computes instead\n", THGetLastError());
    return TH_OK;
}

int main(int argc, char **argv) {
    const char *path = "julia.png";
    THStatus status;
    THTensor *steps = THTensor_new(), *here = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
            TRY(choose_device(argv[++i]));
        } else {
            path = argv[i];
        }
    }
    TRY(iterate(steps));
    TRY(write_image(path, steps));
    here = THTensor_newCpu(steps);
    show(here);
    printf("%s: %d x %d points, on average within for %.1f steps\n", path, WIDTH, HEIGHT, THTensor_meanall(here));
done:
    if (status != TH_OK) fprintf(stderr, "%s\n", THGetLastError());
    THTensor_free(here);
    THTensor_free(steps);
    return status == TH_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
