/*
 * Classifies handwritten digits without training a model: by their nearest neighbours, and by k-means clustering.
 *
 *     cc -std=c99 -O2 -Iinclude examples/neighbours.c -Ltarget/release -lthorn -lm -o neighbours
 *     LD_LIBRARY_PATH=target/release ./neighbours examples/data/digits.csv
 *
 * Both need the distances between two sets of points, and then operations by index: topk finds the nearest, indexSelect
 * looks up their labels, and mode takes the vote; argmin assigns points to clusters, and indexAdd and bincount compute
 * the means of the clusters.
 */

#include "digits.h"

enum { NEIGHBOURS = 5, CLUSTERS = 10, SHOWN = 5, ROUNDS = 100, SEED = 3 };

static const double REQUIRED_ACCURACY = 0.97, REQUIRED_PURITY = 0.6;

// The share of `guess` that equals `label`.
static THStatus share_right(double *share, const THTensor *guess, const THTensor *label) {
    THStatus status;
    THTensor *right = THTensor_new();
    TRY(THTensor_eqTensor(right, guess, label));
    *share = THTensor_sumall(right) / (double)THTensor_numel(right);
done:
    THTensor_free(right);
    return status;
}

// Gives each row of `test` the most frequent label of its nearest rows of `known`.
static THStatus classify(double *accuracy, const THTensor *known, const THTensor *known_labels, const THTensor *test,
                         const THTensor *test_labels) {
    THStatus status;
    THTensor *far = THTensor_new(), *nearest = THTensor_new(), *votes = THTensor_new(), *guess = THTensor_new();
    TRY(THTensor_cdist(far, test, known, 2));
    TRY(THTensor_topk(NULL, nearest, far, NEIGHBOURS, 1, false, true)); // [m x 5] row numbers
    TRY(THTensor_take(votes, known_labels, nearest));                   // [m x 5] labels
    TRY(THTensor_mode(guess, NULL, votes, 1, 0));
    TRY(share_right(accuracy, guess, test_labels));
done:
    THTensor_free(far);
    THTensor_free(nearest);
    THTensor_free(votes);
    THTensor_free(guess);
    return status;
}

// Moves `centres` to the means of their nearest rows until `cluster`, the number of each row's centre, no longer
// changes.
static THStatus find_clusters(THTensor *centres, THTensor *cluster, int *rounds, const THTensor *x) {
    THStatus status;
    THTensor *far = THTensor_new(), *before = THTensor_new(), *size = THTensor_new(), *column = THTensor_new();
    for (*rounds = 1; *rounds <= ROUNDS; ++*rounds) {
        TRY(THTensor_cdist(far, x, centres, 2));
        TRY(THTensor_argmin(cluster, far, 1, 0));
        if (*rounds > 1 && THTensor_equal(cluster, before)) break;
        TRY(THTensor_copy(before, cluster));
        TRY(THTensor_bincount(size, cluster, NULL, CLUSTERS));
        TRY(THTensor_unsqueeze1d(column, size, 1));
        // A cluster without rows gets a centre of zeros instead of 0 / 0.
        TRY(THTensor_cmaxValue(column, column, 1));
        TRY(THTensor_zero(centres));
        TRY(THTensor_indexAdd(centres, 0, cluster, x));
        TRY(THTensor_cdiv(centres, centres, column));
    }
done:
    THTensor_free(far);
    THTensor_free(before);
    THTensor_free(size);
    THTensor_free(column);
    return status;
}

// Prints the centres side by side, and below each the number of its rows, their most frequent label, and the number of
// rows with that label. Stores the share of all rows that have the most frequent label of their cluster.
static THStatus show_clusters(double *purity, const THTensor *centres, const THTensor *cluster,
                              const THTensor *labels) {
    THStatus status = TH_OK;
    THTensor *table = THTensor_new(), *most = THTensor_new(), *common = THTensor_new(), *size = THTensor_new();
    // The table [clusters x labels] counts pairs: number 10 * cluster + label.
    TRY(THTensor_cadd(table, labels, CLASSES, cluster));
    TRY(THTensor_bincount(table, table, NULL, CLUSTERS * CLASSES));
    TRY(THTensor_resize2d(table, CLUSTERS, CLASSES));
    TRY(THTensor_max(most, common, table, 1, 0));
    TRY(THTensor_sum(size, table, 1, 0));
    *purity = THTensor_sumall(most) / (double)THTensor_numel(labels);
    for (int first = 0; first < CLUSTERS; first += SHOWN) {
        for (int y = 0; y < SIDE; y++) {
            for (int k = first; k < first + SHOWN; k++) {
                draw_line((const float *)THTensor_data(centres) + k * centres->stride[0], y);
                printf("%s", k < first + SHOWN - 1 ? " " : "\n");
            }
        }
        for (int k = first; k < first + SHOWN; k++) {
            double rows = THTensor_get1d(size, k), share = 100 * THTensor_get1d(most, k) / rows;
            printf("%3.0f rows: %.0f, %2.0f %% %s", rows, THTensor_get1d(common, k), share,
                   k < first + SHOWN - 1 ? " " : "\n\n");
        }
    }
done:
    THTensor_free(table);
    THTensor_free(most);
    THTensor_free(common);
    THTensor_free(size);
    return status;
}

static THStatus run(bool *good, const THTensor *file) {
    THStatus status;
    THTensor *pixels = THTensor_newNarrow(file, 1, 0, PIXELS), *column = THTensor_newSelect(file, 1, PIXELS);
    THTensor *labels = THTensor_newWithDtype(TH_INT64), *order = THTensor_new(), *centres = THTensor_new(),
             *cluster = THTensor_new();
    THTensor *parts[2] = {NULL}, *part_labels[2] = {NULL};
    THGenerator *generator = THGenerator_new();
    int64_t count = THTensor_size(file, 0);
    int rounds;
    double accuracy = 0, purity = 0;
    TRY(THRandom_manualSeed(generator, SEED));
    TRY(THTensor_copy(labels, column));

    // Three quarters of the labels are known. The others are to be found.
    TRY(THTensor_randperm(order, generator, count));
    for (int k = 0; k < 2; k++) {
        parts[k] = THTensor_new();
        part_labels[k] = THTensor_new();
        THTensor *rows = THTensor_newNarrow(order, 0, k ? 3 * count / 4 : 0, k ? count - 3 * count / 4 : 3 * count / 4);
        status = THTensor_indexSelect(parts[k], pixels, 0, rows);
        if (status == TH_OK) status = THTensor_indexSelect(part_labels[k], labels, 0, rows);
        THTensor_free(rows);
        if (status != TH_OK) goto done;
    }
    TRY(classify(&accuracy, parts[0], part_labels[0], parts[1], part_labels[1]));
    printf("%d nearest neighbours: %.2f %% of %d held-out digits\n\n", NEIGHBOURS, 100 * accuracy,
           (int)THTensor_size(parts[1], 0));

    // Without labels: begins with ten rows as centres.
    TRY(THTensor_resize1d(order, CLUSTERS));
    TRY(THTensor_indexSelect(centres, pixels, 0, order));
    TRY(find_clusters(centres, cluster, &rounds, pixels));
    printf("%d means after %d rounds, and what most rows near each of them are:\n", CLUSTERS, rounds);
    TRY(show_clusters(&purity, centres, cluster, labels));
    printf("%.1f %% of all rows are what most in their cluster are\n", 100 * purity);
    *good = accuracy >= REQUIRED_ACCURACY && purity >= REQUIRED_PURITY;
done:
    for (int k = 0; k < 2; k++) {
        THTensor_free(parts[k]);
        THTensor_free(part_labels[k]);
    }
    THTensor_free(pixels);
    THTensor_free(column);
    THTensor_free(labels);
    THTensor_free(order);
    THTensor_free(centres);
    THTensor_free(cluster);
    THGenerator_free(generator);
    return status;
}

int main(int argc, char **argv) {
    bool good = false;
    THTensor *rows = read_digits(argc > 1 ? argv[1] : DIGITS_CSV);
    if (!rows) return EXIT_FAILURE;
    THStatus status = run(&good, rows);
    THTensor_free(rows);
    if (status != TH_OK) fprintf(stderr, "neighbours: %s\n", THGetLastError());
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
