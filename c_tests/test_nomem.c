/* Memory runs out during a call: the call reports that, and every tensor is unchanged. */
#include "nomem.h"

/* 1 in test_nomem_recorded.c: all floats are leaves that require gradients, and calls are recorded. */
#ifndef RECORDED
#define RECORDED 0
#endif

static void leaf(THTensor *t) {
    if (RECORDED) CHECK_OK(THTensor_setRequiresGrad(t, 1));
}

enum { ROWS = 60, COLUMNS = 500 };

/* Operands: a transposed matrix, an integer row, a mask, a vector, and a tensor of many dimensions. */
static THTensor *matrix, *row, *mask, *vector, *deep, *block;
/* A batch of three positive definite matrices, and inputs for the second steps of decompositions: pivots, and factors
 * of reflectors. */
static THTensor *batch, *pivots, *taus;
/* A class for each row of the matrix. */
static THTensor *classes;

/* Images; kernels for all channels, for groups of two channels, and for single channels; the gradient of a result;
 * images and kernels in 16 bits. */
static THTensor *images, *kernels, *grouped, *single, *gradient, *few_bits, *kernels_of_few_bits;

static THStatus cadd(THTensor *const *r) { return THTensor_cadd(r[0], matrix, 2, row); }
static THStatus power(THTensor *const *r) { return THTensor_pow(r[0], row, 0.5); }
static THStatus less(THTensor *const *r) { return THTensor_ltValue(r[0], matrix, 3); }
static THStatus where(THTensor *const *r) { return THTensor_where(r[0], mask, matrix, row); }
static THStatus copy(THTensor *const *r) { return THTensor_copy(r[0], matrix); }
static THStatus sum(THTensor *const *r) { return THTensor_sum(r[0], matrix, 1, 0); }
static THStatus total(THTensor *const *r) { return THTensor_sum(r[0], matrix, TH_ALL_DIMS, 1); }
static THStatus variance(THTensor *const *r) { return THTensor_var(r[0], matrix, 0, 0, 0); }
static THStatus any(THTensor *const *r) { return THTensor_any(r[0], mask, 1, 0); }
static THStatus norm(THTensor *const *r) { return THTensor_norm(r[0], matrix, 3, 0, 1); }
static THStatus greatest(THTensor *const *r) { return THTensor_max(r[0], r[1], matrix, 0, 0); }
static THStatus both(THTensor *const *r) { return THTensor_aminmax(r[0], r[1], matrix, 1, 0); }
static THStatus cumsum(THTensor *const *r) { return THTensor_cumsum(r[0], matrix, 1); }
static THStatus cummax(THTensor *const *r) { return THTensor_cummax(r[0], r[1], matrix, 0); }
static THStatus softmax(THTensor *const *r) { return THTensor_softmax(r[0], matrix, 0); }
static THStatus softmax_gradient(THTensor *const *r) { return THTensor_softmaxGrad(r[0], matrix, matrix, 0); }
static THStatus of_logarithms(THTensor *const *r) { return THTensor_logSoftmaxGrad(r[0], matrix, matrix, 1); }
static THStatus relu_gradient(THTensor *const *r) { return THTensor_reluGrad(r[0], matrix, row); }
static THStatus normed(THTensor *const *r) { return THTensor_layerNorm(r[0], matrix, 1, NULL, NULL, 1e-5); }
static THStatus of_normed(THTensor *const *r) {
    return THTensor_layerNormGrad(r[0], r[1], NULL, matrix, matrix, 1, NULL, 1e-5);
}
static THStatus of_normed_weight(THTensor *const *r) {
    return THTensor_layerNormGrad(NULL, r[0], r[1], matrix, matrix, 2, NULL, 1e-5);
}
static THStatus nll(THTensor *const *r) {
    return THTensor_nllLoss(r[0], matrix, classes, NULL, TH_REDUCTION_NONE, -100);
}
static THStatus of_nll(THTensor *const *r) {
    return THTensor_nllLossGrad(r[0], vector, matrix, classes, NULL, TH_REDUCTION_NONE, -100);
}
static THStatus entropy(THTensor *const *r) {
    return THTensor_crossEntropy(r[0], matrix, classes, NULL, TH_REDUCTION_MEAN, -100);
}
static THStatus of_entropy(THTensor *const *r) {
    return THTensor_crossEntropyGrad(r[0], vector, matrix, classes, NULL, TH_REDUCTION_NONE, -100);
}
static THStatus smoothed(THTensor *const *r) {
    return THTensor_crossEntropyLabelSmoothing(r[0], matrix, classes, NULL, TH_REDUCTION_MEAN, -100, 0.1);
}
static THStatus squared_error(THTensor *const *r) { return THTensor_mseLoss(r[0], matrix, row, TH_REDUCTION_BATCH_MEAN); }
static THStatus logits(THTensor *const *r) {
    return THTensor_bceWithLogits(r[0], matrix, matrix, row, NULL, TH_REDUCTION_NONE);
}
static THStatus batch_normed(THTensor *const *r) {
    return THTensor_batchNorm(r[0], r[1], NULL, matrix, NULL, NULL, NULL, NULL, 1, 0.1, 1e-5);
}
static THStatus embedded(THTensor *const *r) { return THTensor_embedding(r[0], matrix, classes, -1); }
static THStatus logsumexp(THTensor *const *r) { return THTensor_logsumexp(r[0], matrix, 1, 0); }
static THStatus median(THTensor *const *r) { return THTensor_median(r[0], r[1], matrix, 1, 0); }
static THStatus kthvalue(THTensor *const *r) { return THTensor_kthvalue(r[0], r[1], matrix, 3, 0, 0); }
static THStatus mode(THTensor *const *r) { return THTensor_mode(r[0], r[1], matrix, 1, 0); }
static THStatus sorted(THTensor *const *r) { return THTensor_sort(r[0], r[1], matrix, 0, 1, 1); }
static THStatus topk(THTensor *const *r) { return THTensor_topk(r[0], r[1], matrix, 3, 1, 1, 1); }
static THStatus lexsort(THTensor *const *r) { return THTensor_lexsort(r[0], (THTensor *[]){matrix, matrix}, 2, 0); }
static THStatus unique(THTensor *const *r) { return THTensor_unique(r[0], r[1], NULL, matrix, TH_ALL_DIMS); }
static THStatus slices(THTensor *const *r) { return THTensor_unique(r[0], NULL, r[1], matrix, 1); }
static THStatus searched(THTensor *const *r) { return THTensor_searchsorted(r[0], row, matrix, 0, NULL); }
static THStatus isin(THTensor *const *r) { return THTensor_isin(r[0], matrix, row, 0, 0); }
static THStatus quantile(THTensor *const *r) { return THTensor_quantile(r[0], matrix, 0.3, 0, 0, 0); }
static THStatus histc(THTensor *const *r) { return THTensor_histc(r[0], matrix, 1000, 0, 0); }
static THStatus bincount(THTensor *const *r) { return THTensor_bincount(r[0], row, NULL, 0); }
static THStatus fitted(THTensor *const *r) { return THTensor_gels(r[0], r[1], block, block); }
static THStatus factored(THTensor *const *r) { return THTensor_qr(r[0], r[1], block, 1); }
static THStatus singular(THTensor *const *r) { return THTensor_svd(r[0], NULL, r[1], block, 1); }
static THStatus pseudoinverse(THTensor *const *r) { return THTensor_pinverse(r[0], block, 1e-5); }
static THStatus solved(THTensor *const *r) { return THTensor_gesv(r[0], r[1], batch, batch); }
static THStatus substituted(THTensor *const *r) { return THTensor_trtrs(r[0], r[1], batch, batch, 1, 0, 0); }
static THStatus fitted_batch(THTensor *const *r) { return THTensor_gels(r[0], r[1], batch, batch); }
static THStatus least_squares(THTensor *const *r) { return THTensor_lstsq(r[0], NULL, r[1], batch, batch, -1); }
static THStatus pivoted(THTensor *const *r) { return THTensor_btrifact(r[0], r[1], NULL, 1, batch); }
static THStatus pivots_solved(THTensor *const *r) { return THTensor_btrisolve(r[0], batch, batch, pivots); }
static THStatus lu(THTensor *const *r) { return THTensor_lu(NULL, r[0], r[1], batch); }
static THStatus inverse(THTensor *const *r) { return THTensor_inverse(r[0], batch); }
static THStatus det(THTensor *const *r) { return THTensor_det(r[0], batch); }
static THStatus slogdet(THTensor *const *r) { return THTensor_slogdet(r[0], r[1], batch); }
static THStatus logdet(THTensor *const *r) { return THTensor_logdet(r[0], batch); }
static THStatus cholesky(THTensor *const *r) { return THTensor_potrf(r[0], batch, 0); }
static THStatus potrs(THTensor *const *r) { return THTensor_potrs(r[0], batch, batch, 1); }
static THStatus potri(THTensor *const *r) { return THTensor_potri(r[0], batch, 0); }
static THStatus pstrf(THTensor *const *r) { return THTensor_pstrf(r[0], r[1], NULL, batch, 0, -1); }
static THStatus factored_batch(THTensor *const *r) { return THTensor_qr(r[0], r[1], batch, 0); }
static THStatus geqrf(THTensor *const *r) { return THTensor_geqrf(r[0], r[1], batch); }
static THStatus orgqr(THTensor *const *r) { return THTensor_orgqr(r[0], batch, taus); }
static THStatus ormqr(THTensor *const *r) { return THTensor_ormqr(r[0], batch, taus, batch, 0, 1); }
static THStatus symmetric(THTensor *const *r) { return THTensor_syev(r[0], r[1], batch, 0); }
static THStatus eigen(THTensor *const *r) { return THTensor_geev(r[0], r[1], batch); }
static THStatus eigen_values(THTensor *const *r) { return THTensor_eig(r[0], NULL, batch); }
static THStatus singular_batch(THTensor *const *r) { return THTensor_gesvd(r[0], r[1], NULL, batch, 0); }
static THStatus pseudoinverses(THTensor *const *r) { return THTensor_pinverse(r[0], batch, 1e-5); }
static THStatus rank(THTensor *const *r) { return THTensor_matrixRank(r[0], batch, -1, 0); }
static THStatus matrix_norm(THTensor *const *r) { return THTensor_matrixNorm(r[0], batch, TH_NORM_NUC, 0); }
static THStatus cond(THTensor *const *r) { return THTensor_cond(r[0], batch, TH_NORM_2); }
static THStatus exponential(THTensor *const *r) { return THTensor_matrixExp(r[0], batch); }
static THStatus matrix_power(THTensor *const *r) { return THTensor_matrixPower(r[0], batch, -3); }
static THStatus convolved(THTensor *const *r) {
    return THTensor_conv2d(r[0], images, kernels, NULL, 0, NULL, NULL, NULL, 1);
}
static THStatus in_groups(THTensor *const *r) {
    return THTensor_conv2d(r[0], images, grouped, NULL, 0, NULL, NULL, NULL, 2);
}
static THStatus depthwise(THTensor *const *r) {
    return THTensor_conv2d(r[0], images, single, NULL, 0, NULL, NULL, NULL, 4);
}
static THStatus in_16_bits(THTensor *const *r) {
    return THTensor_conv2d(r[0], few_bits, kernels_of_few_bits, NULL, 0, NULL, NULL, NULL, 1);
}
static THStatus spread(THTensor *const *r) {
    return THTensor_convTranspose2d(r[0], images, kernels, NULL, 0, NULL, NULL, NULL, 1, NULL);
}
static THStatus of_images(THTensor *const *r) {
    return THTensor_convolutionGradInput(r[0], gradient, kernels, images, 0, NULL, NULL, NULL, 0, NULL, 1);
}
static THStatus of_kernels(THTensor *const *r) {
    return THTensor_convolutionGradWeight(r[0], gradient, images, kernels, 0, NULL, NULL, NULL, 0, NULL, 1);
}
static THStatus columns(THTensor *const *r) { return THTensor_im2col(r[0], images, SIZES(3, 2), NULL, NULL, NULL); }
static THStatus pooled(THTensor *const *r) {
    return THTensor_maxPool2d(r[0], r[1], images, SIZES(2), NULL, NULL, NULL, 0);
}
static THStatus means(THTensor *const *r) { return THTensor_avgPool2d(r[0], images, SIZES(2), NULL, NULL, 0, 0, 0); }
static THStatus adapted(THTensor *const *r) { return THTensor_adaptiveMaxPool2d(r[0], r[1], images, SIZES(2)); }
static THStatus adapted_means(THTensor *const *r) { return THTensor_adaptiveAvgPool2d(r[0], few_bits, SIZES(2)); }
static THStatus transformed(THTensor *const *r) { return THTensor_rfft(r[0], images, 2, 0, 0); }
static THStatus matmul(THTensor *const *r) { return THTensor_matmul(r[0], images, images); }
static THStatus einsum(THTensor *const *r) {
    THTensor *operands[] = {images, images, vector};
    return THTensor_einsum(r[0], "bcij,bcjk,l->kil", operands, 3);
}
static THStatus renorm(THTensor *const *r) { return THTensor_renorm(r[0], matrix, 2, 0, 1); }
static THStatus mm(THTensor *const *r) {
    THTensor *t = THTensor_newT(matrix);
    THStatus status = t ? THTensor_mm(r[0], matrix, t) : THGetLastErrorCode();
    THTensor_free(t);
    return status;
}
static THStatus addmv(THTensor *const *r) { return THTensor_addmv(r[0], 1, vector, 2, matrix, row); }
static THStatus mv(THTensor *const *r) { return THTensor_mv(r[0], matrix, vector); }
static THStatus tril(THTensor *const *r) { return THTensor_tril(r[0], matrix, 3); }
static THStatus triangle(THTensor *const *r) { return THTensor_trilIndices(r[0], ROWS, COLUMNS, 3); }
static THStatus arange(THTensor *const *r) { return THTensor_arange(r[0], 0, 5000, 1); }
static THStatus oneHot(THTensor *const *r) { return THTensor_oneHot(r[0], row, -1); }
static THStatus eye(THTensor *const *r) { return THTensor_eye(r[0], 70, 50); }
static THStatus diag(THTensor *const *r) { return THTensor_diag(r[0], matrix, 1); }
static THStatus diagonal(THTensor *const *r) { return THTensor_diag(r[0], vector, -1); }
static THStatus embed(THTensor *const *r) { return THTensor_diagEmbed(r[0], matrix, 0, -2, -1); }
static THStatus vander(THTensor *const *r) { return THTensor_vander(r[0], vector, 5, 1); }
static THStatus powers(THTensor *const *r) { return THTensor_vander(r[0], row, 3, 0); }
static THStatus least(THTensor *const *r) { return THTensor_min(r[0], r[1], matrix, 1, 1); }
static THStatus least_alone(THTensor *const *r) { return THTensor_min(r[0], NULL, matrix, TH_ALL_DIMS, 0); }
static THStatus where_least(THTensor *const *r) { return THTensor_argmin(r[0], matrix, 0, 0); }
static THStatus upper(THTensor *const *r) { return THTensor_triuIndices(r[0], COLUMNS, ROWS, -3); }
static THStatus triu(THTensor *const *r) { return THTensor_triu(r[0], matrix, -1); }
static THStatus linspace(THTensor *const *r) { return THTensor_linspace(r[0], 0, 1, 5000); }
static THStatus zeros(THTensor *const *r) { return THTensor_zeros(r[0], SIZES(3, 4, 5, 1, 1, 1, 7)); }
static THStatus ones(THTensor *const *r) { return THTensor_ones(r[0], SIZES(4)); }
static THStatus full_like(THTensor *const *r) { return THTensor_fullLike(r[0], matrix, 3); }
static THStatus cumprod(THTensor *const *r) { return THTensor_cumprod(r[0], row, 0); }
static THStatus cummin(THTensor *const *r) { return THTensor_cummin(r[0], r[1], matrix, 1); }
static THStatus logcumsumexp(THTensor *const *r) { return THTensor_logcumsumexp(r[0], matrix, 0); }
static THStatus nanmedian(THTensor *const *r) { return THTensor_nanmedian(r[0], r[1], matrix, TH_ALL_DIMS, 1); }
static THStatus bhistc(THTensor *const *r) { return THTensor_bhistc(r[0], matrix, 20, 0, 100); }
static THStatus sums(THTensor *const *r) { return THTensor_sumDims(r[0], deep, SIZES(1, 3), 1, TH_FLOAT64); }
static THStatus abs_deep(THTensor *const *r) { return THTensor_abs(r[0], deep); }
static THStatus addmm(THTensor *const *r) {
    THTensor *t = THTensor_newT(matrix);
    THStatus status = t ? THTensor_addmm(r[0], 2, vector, 3, matrix, t) : THGetLastErrorCode();
    THTensor_free(t);
    return status;
}
static THStatus resize(THTensor *const *r) { return THTensor_resize(r[0], SIZES(20, 30), NULL); }
static THStatus resize_deep(THTensor *const *r) {
    return THTensor_resize(r[0], SIZES(2, 1, 3, 1, 5, 1, 1, 1, 1), NULL);
}
static THStatus resize_like(THTensor *const *r) { return THTensor_resizeAs(r[0], deep); }
static THStatus resize_long(THTensor *const *r) { return THTensor_resize1d(r[0], 10000); }
static THStatus set_storage(THTensor *const *r) { return THTensor_setStorage(r[0], store, 2, SIZES(40, 50), NULL); }
static THStatus set_storage_deep(THTensor *const *r) {
    return THTensor_setStorage(r[0], store, 1, SIZES(4, 1, 5, 1, 6, 1, 7, 1, 1), NULL);
}
static THStatus set_deep(THTensor *const *r) { return THTensor_set(r[0], deep); }
static THStatus grow(THTensor *const *r) { return (void)r, THStorage_resize(store, 5000); }
static THStatus expand_deep(THTensor *const *r) {
    THTensor *tensors[RESULTS] = {deep, vector};
    return THTensor_expandNd(r, tensors, RESULTS);
}
static THStatus meshgrid(THTensor *const *r) {
    THTensor *vectors[RESULTS] = {vector, vector};
    return THTensor_meshgrid(r, vectors, RESULTS, "xy");
}
static THStatus product(THTensor *const *r) {
    THTensor *vectors[RESULTS] = {vector, vector};
    return THTensor_cartesianProd(r[0], vectors, RESULTS);
}

/* Sets `r[0]` to `t` and frees `t`. NULL is a failed call. */
static THStatus take(THTensor *const *r, THTensor *t) {
    THStatus status = t ? THTensor_set(r[0], t) : THGetLastErrorCode();
    THTensor_free(t);
    return status;
}

/* A tensor over the storage, which has to grow. */
static THStatus made(THTensor *t) {
    THStatus status = t ? TH_OK : THGetLastErrorCode();
    THTensor_free(t);
    return status;
}
static THStatus over(THTensor *const *r) {
    return (void)r, made(THTensor_newWithStorage(store, 1, SIZES(60, 70), NULL));
}
static THStatus over_deep(THTensor *const *r) {
    return (void)r, made(THTensor_newWithStorage(store, 0, SIZES(6, 1, 7, 1, 8, 1, 9, 1, 1), NULL));
}
static THStatus clone(THTensor *const *r) { return take(r, THTensor_newClone(matrix)); }
static THStatus contiguous(THTensor *const *r) { return take(r, THTensor_newContiguous(matrix)); }
static THStatus converted(THTensor *const *r) { return take(r, THTensor_newTo(matrix, TH_FLOAT16)); }
static THStatus permuted(THTensor *const *r) { return take(r, THTensor_newPermute(matrix, SIZES(1, 0))); }
/* More dimensions than a handle has room for. */
static THStatus reshaped(THTensor *const *r) {
    return take(r, THTensor_newReshape(matrix, SIZES(2, 3, 1, 10, 5, 1, 10, 10)));
}
/* Text is reallocated while it grows. */
static THStatus printed(THTensor *const *r) {
    char *text = THTensor_toString(row, NULL);
    THStatus status = text ? TH_OK : THGetLastErrorCode();
    if (text) CHECK(strncmp(text, "tensor([", 8) == 0);
    THFree(text);
    return status != TH_OK ? status : THTensor_set(r[0], vector);
}
static THStatus printed_deep(THTensor *const *r) {
    THPrintOptions options;
    THPrintOptions_init(&options);
    options.layout = TH_PRINT_TORCH7;
    char *text = THTensor_toString(deep, &options);
    THStatus status = text ? TH_OK : THGetLastErrorCode();
    if (text) CHECK(strncmp(text, "(1,1,1,1,1,1,.,.) = ", 20) == 0);
    THFree(text);
    return status != TH_OK ? status : THTensor_set(r[0], vector);
}
static THStatus pieces(THTensor *const *r) {
    THTensor *list[ROWS];
    int count = ROWS;
    THStatus status = THTensor_split(list, &count, matrix, 7, 0);
    if (status != TH_OK) return status;
    status = THTensor_set(r[0], list[count - 1]);
    for (int i = 0; i < count; i++) THTensor_free(list[i]);
    return status;
}

static void a_call_without_memory_leaves_all_as_it_was(void) {
    static const Named calls[] = {
        NAMED(cadd),
        NAMED(power),
        NAMED(less),
        NAMED(where),
        NAMED(copy),
        NAMED(sum),
        NAMED(total),
        NAMED(norm),
        NAMED(variance),
        NAMED(any),
        NAMED(greatest),
        NAMED(both),
        NAMED(cumsum),
        NAMED(cummax),
        NAMED(softmax),
        NAMED(softmax_gradient),
        NAMED(of_logarithms),
        NAMED(relu_gradient),
        NAMED(normed),
        NAMED(of_normed),
        NAMED(of_normed_weight),
        NAMED(nll),
        NAMED(of_nll),
        NAMED(entropy),
        NAMED(of_entropy),
        NAMED(smoothed),
        NAMED(squared_error),
        NAMED(logits),
        NAMED(batch_normed),
        NAMED(embedded),
        NAMED(logsumexp),
        NAMED(median),
        NAMED(kthvalue),
        NAMED(mode),
        NAMED(histc),
        NAMED(quantile),
        NAMED(bincount),
        NAMED(renorm),
        NAMED(mm),
        NAMED(mv),
        NAMED(addmv),
        NAMED(tril),
        NAMED(triangle),
        NAMED(arange),
        NAMED(oneHot),
        NAMED(meshgrid),
        NAMED(clone),
        NAMED(product),
        NAMED(contiguous),
        NAMED(converted),
        NAMED(permuted),
        NAMED(reshaped),
        NAMED(pieces),
        NAMED(eye),
        NAMED(diag),
        NAMED(diagonal),
        NAMED(embed),
        NAMED(vander),
        NAMED(powers),
        NAMED(least),
        NAMED(least_alone),
        NAMED(where_least),
        NAMED(upper),
        NAMED(triu),
        NAMED(linspace),
        NAMED(zeros),
        NAMED(ones),
        NAMED(full_like),
        NAMED(cumprod),
        NAMED(cummin),
        NAMED(nanmedian),
        NAMED(bhistc),
        NAMED(logcumsumexp),
        NAMED(sums),
        NAMED(abs_deep),
        NAMED(addmm),
        UNDEFINED(resize),
        UNDEFINED(resize_deep),
        UNDEFINED(resize_like),
        UNDEFINED(resize_long),
        UNDEFINED(set_storage),
        NAMED(set_deep),
        UNDEFINED(grow),
        NAMED(expand_deep),
        UNDEFINED(set_storage_deep),
        UNDEFINED(over),
        UNDEFINED(over_deep),
        NAMED(printed),
        NAMED(printed_deep),
        UNDEFINED(over),
        UNDEFINED(over_deep),
        NAMED(sorted),
        NAMED(topk),
        NAMED(lexsort),
        NAMED(unique),
        NAMED(slices),
        NAMED(searched),
        NAMED(isin),
        NAMED(fitted),
        NAMED(factored),
        NAMED(singular),
        NAMED(pseudoinverse),
        NAMED(solved),
        NAMED(substituted),
        NAMED(fitted_batch),
        NAMED(least_squares),
        NAMED(pivoted),
        NAMED(pivots_solved),
        NAMED(lu),
        NAMED(inverse),
        NAMED(det),
        NAMED(slogdet),
        NAMED(logdet),
        NAMED(cholesky),
        NAMED(potrs),
        NAMED(potri),
        NAMED(pstrf),
        NAMED(factored_batch),
        NAMED(geqrf),
        NAMED(orgqr),
        NAMED(ormqr),
        NAMED(symmetric),
        NAMED(eigen),
        NAMED(eigen_values),
        NAMED(singular_batch),
        NAMED(pseudoinverses),
        NAMED(rank),
        NAMED(matrix_norm),
        NAMED(cond),
        NAMED(exponential),
        NAMED(matrix_power),
        NAMED(convolved),
        NAMED(in_groups),
        NAMED(depthwise),
        NAMED(in_16_bits),
        NAMED(spread),
        NAMED(of_images),
        NAMED(of_kernels),
        NAMED(columns),
        NAMED(pooled),
        NAMED(means),
        NAMED(adapted),
        NAMED(adapted_means),
        NAMED(transformed),
        NAMED(matmul),
        NAMED(einsum),
    };
    matrix = THTensor_newZeros(TH_FLOAT32, SIZES(COLUMNS, ROWS));
    vector = THTensor_newZeros(TH_FLOAT32, SIZES(ROWS));
    row = THTensor_newZeros(TH_INT32, SIZES(COLUMNS));
    classes = THTensor_newZeros(TH_INT64, SIZES(ROWS));
    mask = THTensor_newZeros(TH_BOOL, SIZES(ROWS, 1));
    deep = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3, 1, 10, 5, 1, 1, ROWS));
    CHECK_OK(THTensor_transpose(matrix, matrix, 0, 1));
    for (int i = 0; i < ROWS * COLUMNS; i++) ((float *)THTensor_data(matrix))[i] = (float)(i * 7919 % 1013) / 8;
    for (int i = 0; i < COLUMNS; i++) ((int32_t *)THTensor_data(row))[i] = i * 31 % 101;
    for (int i = 0; i < ROWS; i++) ((bool *)THTensor_data(mask))[i] = i % 3 == 0;
    leaf(matrix), leaf(vector), leaf(deep);
    THTensor *kept = THTensor_newClone(matrix), *few = THTensor_newNarrow(matrix, 0, 0, 20);
    block = THTensor_newNarrow(few, 1, 0, 10);
    THTensor_free(few);
    batch = THTensor_newZeros(TH_FLOAT32, SIZES(3, 12, 12));
    pivots = THTensor_newZeros(TH_INT32, SIZES(3, 12));
    taus = THTensor_newFull(TH_FLOAT32, SIZES(3, 12), 0.125);
    for (int i = 0; i < 3 * 12 * 12; i++)
        ((float *)THTensor_data(batch))[i] = (i / 12) % 12 == i % 12 ? 12 : 1.0f / (float)(1 + (i / 12) % 12 + i % 12);
    for (int i = 0; i < 3 * 12; i++) ((int32_t *)THTensor_data(pivots))[i] = 12;
    images = THTensor_newOnes(TH_FLOAT32, SIZES(2, 4, 6, 6));
    kernels = THTensor_newFull(TH_FLOAT32, SIZES(4, 4, 3, 3), 2);
    leaf(batch), leaf(taus), leaf(images), leaf(kernels);
    grouped = THTensor_newNarrow(kernels, 1, 0, 2);
    single = THTensor_newNarrow(kernels, 1, 0, 1);
    gradient = THTensor_newFull(TH_FLOAT32, SIZES(2, 4, 4, 4), 3);
    leaf(gradient);
    few_bits = THTensor_newTo(images, TH_FLOAT16);
    kernels_of_few_bits = THTensor_newTo(kernels, TH_FLOAT16);
    THTensor *const inputs[] = {matrix, row, mask, vector, deep, batch, pivots, taus};
    run_out(calls, sizeof calls / sizeof *calls, inputs, sizeof inputs / sizeof *inputs);
    CHECK(same(matrix, kept));
    THTensor_free(kept);
    THTensor_free(batch);
    THTensor_free(pivots);
    THTensor_free(taus);
    THTensor *const more[] = {block, images, kernels, grouped, single, gradient, few_bits, kernels_of_few_bits};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) THTensor_free(more[i]);
    THTensor_free(matrix);
    THTensor_free(vector);
    THTensor_free(classes);
    THTensor_free(row);
    THTensor_free(mask);
    THTensor_free(deep);
}

#if !RECORDED
/* If threads cannot be started, the first call that would use several threads computes without them. */
static void a_call_without_threads_is_still_right(void) {
    THTensor *t = THTensor_newFull(TH_FLOAT32, SIZES(1 << 20), 2), *r = THTensor_newFull(TH_FLOAT32, 0, NULL, 1);
    CHECK_OK(THSetNumThreads(2));
    refuse(0, FOR_GOOD);
    THStatus status = THTensor_sum(r, t, TH_ALL_DIMS, 0);
    CHECK(was_refused());
    CHECK_OK(status);
    CHECK_EQ(THTensor_item(r), 1 << 21);
    CHECK_OK(THTensor_sum(r, t, TH_ALL_DIMS, 0));
    CHECK_EQ(THTensor_item(r), 1 << 21);
    THTensor_free(r);
    THTensor_free(t);
}

/* An error is reported in full even if there is no memory for its message. */
static void an_error_needs_no_memory(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(2, 3));
    refuse(0, FOR_GOOD);
    THStatus status = THTensor_narrow(t, t, 5, 0, 1);
    CHECK(was_refused());
    CHECK_EQ(status, TH_ERR_ARGUMENT);
    CHECK(strstr(THGetLastError(), "dimension 5") != NULL);
    THTensor_free(t);
}

#endif

#if RECORDED
CHECK_MAIN(CASE(a_call_without_memory_leaves_all_as_it_was))
#else
CHECK_MAIN(CASE(a_call_without_threads_is_still_right), CASE(a_call_without_memory_leaves_all_as_it_was),
           CASE(an_error_needs_no_memory))
#endif
