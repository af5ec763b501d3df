/*
 * Draws handwritten digits, points in 64 dimensions, in a plane: their first two principal components, as an SVG file.
 *
 *     cc -std=c99 -O2 -Iinclude examples/pca.c -Ltarget/release -lthorn -lm -o pca
 *     LD_LIBRARY_PATH=target/release ./pca digits.svg examples/data/digits.csv
 *
 * The rows of x minus their mean are u diag(s) v'. The columns of v are the directions of the largest variance, s^2 is
 * proportional to the variances, and x v are the coordinates.
 */

#include "digits.h"

enum { WIDTH = 800, HEIGHT = 640, MARGIN = 30 };

// r = the coordinates of the rows of x along the two directions of the largest variance, [n x 2]; share = their share
// of the total variance.
static THStatus project(THTensor *r, double *share, const THTensor *x) {
    THStatus status;
    THTensor *mean = THTensor_new(), *centred = THTensor_new(), *s = THTensor_new(), *v = THTensor_new();
    THTensor *directions = THTensor_new(), *greatest = THTensor_new();
    TRY(THTensor_mean(mean, x, 0, 0));
    TRY(THTensor_csub(centred, x, 1, mean));
    TRY(THTensor_svd(NULL, s, v, centred, true));
    TRY(THTensor_narrow(directions, v, 1, 0, 2));
    TRY(THTensor_mm(r, centred, directions));
    TRY(THTensor_cmul(s, s, s));
    TRY(THTensor_narrow(greatest, s, 0, 0, 2));
    *share = THTensor_sumall(greatest) / THTensor_sumall(s);
done:
    THTensor_free(mean);
    THTensor_free(centred);
    THTensor_free(s);
    THTensor_free(v);
    THTensor_free(directions);
    THTensor_free(greatest);
    return status;
}

// points = points moved and scaled to the picture, each coordinate separately.
static THStatus fit(THTensor *points) {
    THStatus status;
    THTensor *least = THTensor_new(), *span = THTensor_new();
    THTensor *size =
        THTensor_newFromData(TH_FLOAT32, 1, (int64_t[]){2}, (float[]){WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN});
    TRY(THTensor_amin(least, points, 0, 0));
    TRY(THTensor_amax(span, points, 0, 0));
    TRY(THTensor_csub(span, span, 1, least));
    TRY(THTensor_csub(points, points, 1, least));
    TRY(THTensor_cdiv(points, points, span));
    TRY(THTensor_cmul(points, points, size));
    TRY(THTensor_add(points, points, MARGIN));
done:
    THTensor_free(least);
    THTensor_free(span);
    THTensor_free(size);
    return status;
}

// Draws a coloured digit for each point. Returns false if the file cannot be written.
static bool write_svg(const char *path, const THTensor *points, const THTensor *labels) {
    static const char *const colours[CLASSES] = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
                                                 "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"};
    FILE *file = fopen(path, "w");
    if (!file) return false;
    fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-size=\"11\">\n", WIDTH,
            HEIGHT);
    fprintf(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n");
    for (int64_t i = 0; i < THTensor_size(points, 0); i++) {
        int label = (int)THTensor_get1d(labels, i);
        double x = THTensor_get2d(points, i, 0), y = THTensor_get2d(points, i, 1);
        fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%d</text>\n", x, y, colours[label], label);
    }
    bool written = fprintf(file, "</svg>\n") > 0;
    return fclose(file) == 0 && written;
}

int main(int argc, char **argv) {
    const char *picture = argc > 1 ? argv[1] : "digits.svg";
    THTensor *file = read_digits(argc > 2 ? argv[2] : DIGITS_CSV);
    if (!file) return EXIT_FAILURE;
    THStatus status;
    double share = 0;
    bool written = false;
    THTensor *pixels = THTensor_newNarrow(file, 1, 0, PIXELS), *labels = THTensor_newSelect(file, 1, PIXELS);
    THTensor *points = THTensor_new();
    TRY(project(points, &share, pixels));
    TRY(fit(points));
    written = write_svg(picture, points, labels);
    if (!written) perror(picture);
    if (written) printf("%s: two of 64 dimensions have %.1f %% of the variance\n", picture, 100 * share);
done:
    if (status != TH_OK) fprintf(stderr, "pca: %s\n", THGetLastError());
    THTensor_free(file);
    THTensor_free(pixels);
    THTensor_free(labels);
    THTensor_free(points);
    // NumPy's SVD gives 28.5 % for these digits.
    return written && share > 0.28 && share < 0.29 ? EXIT_SUCCESS : EXIT_FAILURE;
}
