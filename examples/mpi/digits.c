/*
 * Learns to recognise handwritten digits with several processes: each computes the gradients for its part of a batch.
 *
 *     mpicc -std=c99 -O2 -Iinclude examples/mpi/digits.c -Ltarget/release -lthorn -lm -o mpi_digits
 *     LD_LIBRARY_PATH=target/release mpirun -np 4 ./mpi_digits examples/data/digits.csv
 *
 * The net is the net of ../digits_grad.c. There are three differences from one process:
 *
 *   - TH_MPI_bcast gives all ranks the weights of the first rank.
 *   - Each rank computes the loss of its digits, divided by the number of digits in the whole batch. So the losses of the ranks,
 *     and their gradients, add up to those for the batch.
 *   - TH_MPI_allreduceGradients completes the sums of the gradients, which began during backward. Then each rank makes the same
 *     step.
 *
 * At the end the first rank trains the same net alone. The losses must agree to 1e-6, and the weights of all ranks must be equal
 * bit for bit.
 */

#include "../digits.h"
#include "../handles.h"

#include <math.h>
#include <thorn_mpi.h>

enum { BATCH = 32, EPOCHS = 3, SEED = 1, USED = 960 };

static const double LEARNING_RATE = 0.01, DECAY = 0.1, TOLERANCE = 1e-6;

typedef struct {
    THTensor *x; // [n x 1 x 8 x 8] pixels from 0 to 1
    THTensor *y; // [n] the labels, int64
} Set;

typedef struct {
    THTensor *kernels1, *bias1; // [8 x 1 x 3 x 3] and [8]: the first convolution
    THTensor *kernels2, *bias2; // [16 x 8 x 3 x 3] and [16]: the second one
    THTensor *w, *b;            // [64 x 10] and [10]: scores of the classes
} Net;

// One rank's digits of a batch.
typedef struct {
    int64_t first, count;
} Part;

// Loads the first digits of a file.
static THStatus set_init(Set *set, const THTensor *rows) {
    static const int64_t pictures[] = {USED, 1, SIDE, SIDE};
    THStatus status;
    THTensor *part = THTensor_newNarrow(rows, 0, 0, USED);
    THTensor *pixels = THTensor_newNarrow(part, 1, 0, PIXELS), *labels = THTensor_newSelect(part, 1, PIXELS);
    set->y = THTensor_newTo(labels, TH_INT64);
    set->x = THTensor_newWithDtype(TH_FLOAT64);
    TRY(THTensor_div(set->x, pixels, INK));
    TRY(THTensor_view(set->x, set->x, 4, pictures));
done:
    THTensor_free(part);
    THTensor_free(pixels);
    THTensor_free(labels);
    return status;
}

static THTensor *new_weight(THGenerator *generator, int ndim, const int64_t *size, int64_t inputs) {
    THTensor *w = THTensor_newWithSizes(TH_FLOAT64, ndim, size);
    if (THTensor_normal(w, generator, 0, sqrt(2 / (double)inputs)) == TH_OK) return w;
    THTensor_free(w);
    return NULL;
}

// Makes a net from the random numbers of `seed`.
static THStatus net_init(Net *net, uint64_t seed) {
    static const int64_t first[] = {8, 1, 3, 3}, second[] = {16, 8, 3, 3}, last[] = {16 * 2 * 2, CLASSES};
    THStatus status = TH_OK;
    THGenerator *generator = THGenerator_new();
    THTensor **leaf = (THTensor **)net;
    TRY(THRandom_manualSeed(generator, seed));
    *net = (Net){.kernels1 = new_weight(generator, 4, first, 1 * 3 * 3),
                 .bias1 = THTensor_newZeros(TH_FLOAT64, 1, &first[0]),
                 .kernels2 = new_weight(generator, 4, second, 8 * 3 * 3),
                 .bias2 = THTensor_newZeros(TH_FLOAT64, 1, &second[0]),
                 .w = new_weight(generator, 2, last, 16 * 2 * 2),
                 .b = THTensor_newZeros(TH_FLOAT64, 1, &last[1])};
    for (size_t i = 0; i < sizeof *net / sizeof *leaf; i++) TRY(THTensor_setRequiresGrad(leaf[i], 1));
done:
    THGenerator_free(generator);
    return status;
}

// r = maxPool2x2(relu(convolution of x)).
static THStatus convolve(THTensor *r, const THTensor *x, const THTensor *kernels, const THTensor *bias) {
    THStatus status;
    THTensor *active = THTensor_new();
    TRY(THTensor_conv2dUniform(active, x, kernels, bias, 1, 1));
    TRY(THTensor_relu(active, active));
    TRY(THTensor_maxPool2dUniform(r, NULL, active, 2, 2, 0));
done:
    THTensor_free(active);
    return status;
}

// Computes the scores of the classes [n x 10] for pictures [n x 1 x 8 x 8].
static THStatus forward(THTensor *scores, const Net *net, const THTensor *x) {
    static const int64_t rows[] = {-1, 16 * 2 * 2};
    THStatus status;
    THTensor *half = THTensor_new(), *quarter = THTensor_new();
    TRY(convolve(half, x, net->kernels1, net->bias1));
    TRY(convolve(quarter, half, net->kernels2, net->bias2));
    TRY(THTensor_view(quarter, quarter, 2, rows));
    TRY(THTensor_addmm(scores, 1, net->b, 1, quarter, net->w));
done:
    THTensor_free(half);
    THTensor_free(quarter);
    return status;
}

// Trains once on the digits in random order, and stores this part's share of the mean loss.
static THStatus train_epoch(double *loss, const Net *net, THOptim *optimizer, THMpiGradients *gradients, const Set *set, Part part,
                            THGenerator *generator) {
    THStatus status;
    int64_t count = THTensor_size(set->y, 0), batches = count / BATCH;
    struct {
        THTensor *order, *rows, *x, *y, *scores, *loss;
    } h = {THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new(), THTensor_new()};
    *loss = 0;
    TRY(THTensor_randperm(h.order, generator, count));
    for (int64_t batch = 0; batch < batches; batch++) {
        TRY(THTensor_narrow(h.rows, h.order, 0, batch * BATCH + part.first, part.count));
        TRY(THTensor_indexSelect(h.x, set->x, 0, h.rows));
        TRY(THTensor_indexSelect(h.y, set->y, 0, h.rows));
        TRY(forward(h.scores, net, h.x));
        TRY(THTensor_crossEntropy(h.loss, h.scores, h.y, NULL, TH_REDUCTION_SUM, -100));
        TRY(THTensor_div(h.loss, h.loss, BATCH));
        TRY(THOptim_zeroGrad(optimizer, 1));
        status = THTensor_backward(h.loss, NULL);
        // All ranks call this, also if their backward has failed, so that no rank waits for ever.
        if (gradients) status = TH_MPI_allreduceGradients(gradients, status);
        if (status != TH_OK) goto done;
        TRY(THOptim_step(optimizer));
        *loss += THTensor_item(h.loss) / (double)batches;
    }
done:
    free_handles(HANDLES(&h));
    return status;
}

// Trains with a part of each batch. The gradients of several ranks are added up, and so are the losses of each epoch.
static THStatus train(double *losses, Net *net, THMpiGradients *gradients, const Set *set, Part part, MPI_Comm comm) {
    THStatus status;
    THOptim *optimizer = THOptim_newAdamw(HANDLES(net), LEARNING_RATE, 0.9, 0.999, 1e-8, DECAY, 0);
    THGenerator *generator = THGenerator_new();
    const int64_t epochs = EPOCHS;
    THTensor *sum = NULL;
    TRY(THRandom_manualSeed(generator, SEED));
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        TRY(train_epoch(&losses[epoch], net, optimizer, gradients, set, part, generator));
    }
    sum = THTensor_newFromBlob(TH_FLOAT64, 1, &epochs, NULL, losses, NULL, NULL);
    TRY(TH_MPI_allreduce(sum, sum, MPI_SUM, comm));
done:
    THTensor_free(sum);
    THOptim_free(optimizer);
    THGenerator_free(generator);
    return status;
}

// Gives all ranks the weights of the first one. A leaf is written while recording is off.
static THStatus share(Net *net, MPI_Comm comm) {
    THStatus status = THGrad_setEnabled(0);
    THTensor **leaf = (THTensor **)net;
    for (size_t i = 0; i < sizeof *net / sizeof *leaf && status == TH_OK; i++) status = TH_MPI_bcast(leaf[i], 0, comm);
    THGrad_setEnabled(1);
    return status;
}

// Stores 1 in `same` if all ranks have the same weights.
static THStatus compare(int *same, const Net *net, MPI_Comm comm) {
    THStatus status = TH_OK;
    THTensor *least = THTensor_new(), *greatest = THTensor_new();
    THTensor *const *leaf = (THTensor *const *)net;
    *same = 1;
    for (size_t i = 0; i < sizeof *net / sizeof *leaf; i++) {
        TRY(THTensor_reset(least));
        TRY(THTensor_reset(greatest));
        TRY(TH_MPI_allreduce(least, leaf[i], MPI_MIN, comm));
        TRY(TH_MPI_allreduce(greatest, leaf[i], MPI_MAX, comm));
        *same = *same && THTensor_equal(least, greatest);
    }
done:
    THTensor_free(least);
    THTensor_free(greatest);
    return status;
}

// Trains on all ranks, then on the first rank alone. Stores 1 in `good` if losses and weights are right.
static THStatus learn(int *good, const Set *set, int rank, int ranks) {
    double losses[EPOCHS] = {0}, alone[EPOCHS] = {0};
    int same = 0;
    THStatus status;
    Net net = {0}, reference = {0};
    Part part, whole = {0, BATCH};
    THMpiGradients *gradients = NULL;
    TRY(net_init(&net, SEED + (uint64_t)rank));
    TRY(share(&net, MPI_COMM_WORLD));
    TRY(TH_MPI_part(&part.first, &part.count, BATCH, MPI_COMM_WORLD));
    gradients = TH_MPI_newGradients(HANDLES(&net), 4096, 0, MPI_COMM_WORLD);
    if (!gradients) TRY(THGetLastErrorCode());
    TRY(train(losses, &net, gradients, set, part, MPI_COMM_WORLD));
    TRY(compare(&same, &net, MPI_COMM_WORLD));
    *good = same;
    if (rank > 0) goto done;
    TRY(net_init(&reference, SEED));
    TRY(train(alone, &reference, NULL, set, whole, MPI_COMM_SELF));
    for (int i = 0; i < EPOCHS; i++) {
        printf("epoch %d  loss %.9f on %d ranks, %.9f on one\n", i + 1, losses[i], ranks, alone[i]);
        *good = *good && fabs(losses[i] - alone[i]) <= TOLERANCE;
    }
    if (!same) printf("the ranks have different weights\n");
done:
    TH_MPI_freeGradients(gradients);
    free_handles(HANDLES(&net));
    free_handles(HANDLES(&reference));
    return status;
}

int main(int argc, char **argv) {
    int rank, ranks, good = 0;
    THStatus status;
    Set set = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    THTensor *rows = read_digits(argc > 1 ? argv[1] : DIGITS_CSV);
    status = rows ? set_init(&set, rows) : TH_ERR_IO;
    if (status == TH_OK) status = learn(&good, &set, rank, ranks);
    if (status != TH_OK) {
        fprintf(stderr, "digits: rank %d: %s\n", rank, THGetLastError());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    free_handles(HANDLES(&set));
    THTensor_free(rows);
    MPI_Finalize();
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
