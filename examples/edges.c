/*
 * Finds the edges in a picture: a sheet of handwritten digits, enlarged and convolved with Sobel's filters, written as
 * an image file.
 *
 *     cc -std=c99 -O2 -Iinclude examples/edges.c -Ltarget/release -lthorn -o edges
 *     LD_LIBRARY_PATH=target/release ./edges edges.pgm examples/data/digits.csv
 *
 * Images are batch x channels x height x width, and the weights of a convolution outputs x inputs x height x width.
 * Strides and paddings are lists with a number for each dimension of the image, or one number for all.
 */

#include "digits.h"

enum { DOWN = 6, ACROSS = 10, SCALE = 4, SHOWN_ROWS = 2 * SIDE };

// Puts the digits side by side on a blank sheet, 1 x 1 x height x width, with ink 1 and paper 0.
static THStatus make_sheet(THTensor *sheet, const THTensor *digits) {
    THStatus status;
    THTensor *first = THTensor_newNarrow(digits, 0, 0, DOWN * ACROSS),
             *pixels = THTensor_newNarrow(first, 1, 0, PIXELS);
    THTensor *t = THTensor_newReshape(pixels, 4, (int64_t[]){DOWN, ACROSS, SIDE, SIDE});
    THTensor *rows = THTensor_newPermute(t, 4, (int64_t[]){0, 2, 1, 3});
    THTensor *whole = THTensor_newReshape(rows, 4, (int64_t[]){1, 1, DOWN * SIDE, ACROSS * SIDE});
    TRY(THTensor_div(sheet, whole, INK));
    TRY(THTensor_pad(sheet, sheet, 4, (int64_t[]){1, 1, 1, 1}, TH_PAD_CONSTANT, 0));
done:
    THTensor_free(whole);
    THTensor_free(rows);
    THTensor_free(t);
    THTensor_free(pixels);
    THTensor_free(first);
    return status;
}

// Enlarges the image: each pixel is multiplied by a tent that overlaps its neighbours, and the tents are added.
static THStatus enlarge(THTensor *r, const THTensor *image) {
    THStatus status;
    float tent[2 * SCALE], both[2 * SCALE][2 * SCALE];
    for (int i = 0; i < SCALE; i++) tent[i] = tent[2 * SCALE - 1 - i] = (2.0f * i + 1) / (2 * SCALE);
    for (int i = 0; i < 2 * SCALE; i++) {
        for (int j = 0; j < 2 * SCALE; j++) both[i][j] = tent[i] * tent[j];
    }
    THTensor *weight = THTensor_newFromData(TH_FLOAT32, 4, (int64_t[]){1, 1, 2 * SCALE, 2 * SCALE}, both);
    TRY(THTensor_convTranspose2d(r, image, weight, NULL, 1, (int64_t[]){SCALE}, (int64_t[]){SCALE / 2}, NULL, 1, NULL));
done:
    THTensor_free(weight);
    return status;
}

// The slopes of the image to the right and downwards, by Sobel's filters, as two channels.
static THStatus slopes(THTensor *r, const THTensor *image) {
    static const float sobel[2][3][3] = {{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}, {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}}};
    THStatus status;
    THTensor *weight = THTensor_newFromData(TH_FLOAT32, 4, (int64_t[]){2, 1, 3, 3}, sobel);
    TRY(THTensor_conv2d(r, image, weight, NULL, 1, NULL, (int64_t[]){1}, NULL, 1));
done:
    THTensor_free(weight);
    return status;
}

// The length of each pixel's two slopes: the sharpness of the edge.
static THStatus sharpness(THTensor *r, const THTensor *image) {
    THStatus status;
    THTensor *both = THTensor_new(), *right = NULL, *down = NULL;
    TRY(slopes(both, image));
    right = THTensor_newSelect(both, 1, 0);
    down = THTensor_newSelect(both, 1, 1);
    TRY(THTensor_hypot(r, right, down));
done:
    THTensor_free(down);
    THTensor_free(right);
    THTensor_free(both);
    return status;
}

// Checks that the slope to the right is the image smoothed vertically, followed by the difference of each pixel's
// neighbours.
static THStatus check_slope(const THTensor *image, bool *good) {
    static const float smooth[] = {1, 2, 1}, differ[] = {-1, 0, 1};
    THStatus status;
    THTensor *both = THTensor_new(), *steps = THTensor_new(), *first = NULL;
    THTensor *column = THTensor_newFromData(TH_FLOAT32, 4, (int64_t[]){1, 1, 3, 1}, smooth);
    THTensor *row = THTensor_newFromData(TH_FLOAT32, 4, (int64_t[]){1, 1, 1, 3}, differ);
    TRY(slopes(both, image));
    first = THTensor_newNarrow(both, 1, 0, 1);
    TRY(THTensor_conv2d(steps, image, column, NULL, 2, NULL, (int64_t[]){1, 0}, NULL, 1));
    TRY(THTensor_conv2d(steps, steps, row, NULL, 2, NULL, (int64_t[]){0, 1}, NULL, 1));
    *good = THTensor_allclose(first, steps, 1e-5, 1e-5, 0) == 1;
done:
    THTensor_free(row);
    THTensor_free(column);
    THTensor_free(first);
    THTensor_free(steps);
    THTensor_free(both);
    return status;
}

// Writes an image, with large values dark, in a format that `netpbm`, GIMP and most other programs read.
static THStatus write_image(const char *path, const THTensor *image) {
    THStatus status;
    THTensor *grey = THTensor_new(), *bytes = THTensor_newWithDtype(TH_UINT8);
    TRY(THTensor_mul(grey, image, -255 / THTensor_maxall(image)));
    TRY(THTensor_add(grey, grey, 255));
    TRY(THTensor_round(grey, grey));
    TRY(THTensor_resize(bytes, THTensor_nDimension(grey), THTensor_sizes(grey), NULL));
    TRY(THTensor_copy(bytes, grey));
    int64_t height = THTensor_size(bytes, -2), width = THTensor_size(bytes, -1);
    FILE *file = fopen(path, "wb");
    bool good = file && fprintf(file, "P5\n%d %d\n255\n", (int)width, (int)height) > 0;
    good = good && fwrite(THTensor_data(bytes), 1, (size_t)(height * width), file) == (size_t)(height * width);
    if (file) good = fclose(file) == 0 && good;
    if (!good) fprintf(stderr, "cannot write %s\n", path);
    status = good ? TH_OK : TH_ERR_IO;
done:
    THTensor_free(bytes);
    THTensor_free(grey);
    return status;
}

// Prints the upper left corner at a reduced size: the sharpest edge of each square of pixels.
static THStatus show(const THTensor *image) {
    THStatus status;
    THTensor *r = THTensor_new();
    TRY(THTensor_maxPool2d(r, NULL, image, 1, (int64_t[]){SCALE / 2}, NULL, NULL, NULL, 0));
    double most = THTensor_maxall(r);
    for (int64_t y = 0; y < SHOWN_ROWS; y++) {
        for (int64_t x = 0; x < 5 * SHOWN_ROWS; x++)
            putchar(" .:+#@"[(int)(5.999 * THTensor_get3d(r, 0, y, x) / most)]);
        putchar('\n');
    }
done:
    THTensor_free(r);
    return status;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "edges.pgm";
    THTensor *digits = read_digits(argc > 2 ? argv[2] : DIGITS_CSV);
    if (!digits) return EXIT_FAILURE;
    THStatus status;
    bool good = false;
    THTensor *sheet = THTensor_new(), *image = THTensor_new(), *edges = THTensor_new();
    TRY(make_sheet(sheet, digits));
    TRY(enlarge(image, sheet));
    TRY(sharpness(edges, image));
    TRY(check_slope(image, &good));
    TRY(show(edges));
    TRY(write_image(path, edges));
    printf("%s: %d x %d pixels, the slope is %s\n", path, (int)THTensor_size(edges, 2), (int)THTensor_size(edges, 1),
           good ? "right" : "WRONG");
done:
    if (status != TH_OK) fprintf(stderr, "%s\n", THGetLastError());
    THTensor_free(edges);
    THTensor_free(image);
    THTensor_free(sheet);
    THTensor_free(digits);
    return status == TH_OK && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
