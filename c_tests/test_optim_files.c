/* Files of optimizers: training continues with the same bits, and a file that does not fit changes nothing. */
#include "optim.h"

#include <unistd.h>

enum { RULES = 15, FIRST_LBFGS = 13 };

static char path[64];

/* Returns the name of a file with this ending in a folder of the test. */
static const char *file(const char *ending) {
    static char folder[32];
    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/thorn-test-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, ending ? "%s/optim%s" : "%s", folder, ending);
    return path;
}

/* An optimizer of each kind. If `other` is 1, the hyperparameters differ. */
static THOptim *optim_of(int rule, THTensor **params, int other) {
    double lr = other ? 0.5 : 0.01, more = other ? 0 : 0.1;
    switch (rule) {
    case 0: return THOptim_newSgd(params, 1, lr, 0, 0, more, 0);
    case 1: return THOptim_newSgd(params, 1, lr, 0.9, 0, more, !other);
    case 2: return THOptim_newAdam(params, 1, lr, 0.9, 0.99, 1e-8, more, 0);
    case 3: return THOptim_newAdam(params, 1, lr, 0.9, 0.99, 1e-8, more, !other);
    case 4: return THOptim_newAdamw(params, 1, lr, 0.9, 0.99, 1e-8, more, 1);
    case 5: return THOptim_newRmsprop(params, 1, lr, 0.9, 1e-8, more, 0, 0);
    case 6: return THOptim_newRmsprop(params, 1, lr, 0.9, 1e-8, more, other ? 0 : 0.9, !other);
    case 7: return THOptim_newAdagrad(params, 1, lr, more, more, more, 1e-8);
    case 8: return THOptim_newAdadelta(params, 1, lr * 10, 0.9, 1e-3, more);
    case 9: return THOptim_newNadam(params, 1, lr, 0.9, 0.99, 1e-8, more, more, other);
    case 10: return THOptim_newRadam(params, 1, lr, 0.9, 0.99, 1e-8, more, other);
    case 11: return THOptim_newLamb(params, 1, lr, 0.9, 0.99, 1e-6, more);
    case 12: return THOptim_newAdafactor(params, 1, lr, other ? -0.5 : -0.8, other ? 0.1 : -1, 1e-3, 1 + other, more);
    case 13: return THOptim_newLbfgs(params, 2, lr * 10, 4, other ? 100 : 3, 1e-7, 1e-9, 0);
    default: return THOptim_newLbfgs(params, 2, 1, 4, 100, 1e-7, 1e-9, !other);
    }
}

/* A problem with an optimizer of each kind. All kinds except L-BFGS have two groups. */
static struct problem problem_of(int rule, int other) {
    struct problem p = made();
    p.quartic = 1;
    p.optim = optim_of(rule, p.params, other);
    CHECK(p.optim != NULL);
    if (rule < FIRST_LBFGS) {
        CHECK_EQ(THOptim_addGroup(p.optim, p.params + 1, 1), 1);
        if (!other) CHECK_OK(THOptim_set(p.optim, 1, "lr", 0.02));
    }
    return p;
}

/* Makes steps. Returns the last loss. */
static double steps(struct problem *p, int count) {
    double loss = NAN;
    for (int k = 0; k < count; k++) CHECK_OK(THOptim_stepClosure(p->optim, closure, p));
    CHECK_OK(closure(p, &loss));
    return loss;
}

static int same_bits(const THTensor *a, const THTensor *b) {
    return memcmp(THTensor_data(a), THTensor_data(b), (size_t)THTensor_nElement(a) * sizeof(double)) == 0;
}

/* Copies the parameters of a problem. */
static void copy_params(struct problem *to, struct problem *from) {
    CHECK_OK(THGrad_setEnabled(0));
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_copy(to->params[k], from->params[k]));
    CHECK_OK(THGrad_setEnabled(1));
}

static void training_continues_with_the_same_bits(void) {
    const char *endings[] = {".pt", ".safetensors", ".t7"};
    for (int rule = 0; rule < RULES; rule++) {
        for (int ending = 0; ending < 3; ending++) {
            struct problem a = problem_of(rule, 0), b = problem_of(rule, 1);
            if (ending == 2) steps(&b, 2);
            steps(&a, 3);
            CHECK_OK(THOptim_save(a.optim, file(endings[ending])));
            copy_params(&b, &a);
            CHECK_OK(THOptim_load(b.optim, path));
            double one = steps(&a, 3), two = steps(&b, 3);
            CHECK(memcmp(&one, &two, sizeof one) == 0);
            for (int k = 0; k < 2; k++) CHECK(same_bits(a.params[k], b.params[k]));
            if (rule < FIRST_LBFGS) CHECK_NEAR(THOptim_get(b.optim, 1, "lr"), 0.02, 0);
            CHECK(unlink(path) == 0);
            end(&a);
            end(&b);
        }
    }
}

/* Steps of 16-bit parameters with float32 copies, whose gradients are the parameters. Returns the sum of the parameters. */
static double half_steps(THOptim *o, THTensor **params, int count) {
    CHECK_OK(THGrad_setEnabled(0));
    for (int step = 0; step < count; step++) {
        for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setGrad(params[k], params[k + 2]));
        CHECK_OK(THOptim_step(o));
        for (int k = 0; k < 2; k++) CHECK_OK(THTensor_copy(params[k + 2], params[k]));
    }
    CHECK_OK(THGrad_setEnabled(1));
    return THTensor_sumall(params[0]) + THTensor_sumall(params[1]);
}

/* Makes two parameters and their gradients. */
static void make_halves(THTensor **to) {
    for (int k = 0; k < 4; k += 2) {
        to[k] = vector_of(TH_BFLOAT16, 1, -2, 0.5);
        to[k + 1] = matrix_of(TH_FLOAT16, 2, 0.25, 1, -3, 2);
    }
    for (int k = 0; k < 2; k++) CHECK_OK(THTensor_setRequiresGrad(to[k], 1));
}

/* A file has the float32 copies of 16-bit parameters. */
static void master_weights_continue_with_the_same_bits(void) {
    for (int rule = 0; rule < FIRST_LBFGS; rule++) {
        THTensor *a[4], *b[4];
        make_halves(a);
        make_halves(b);
        THOptim *one = optim_of(rule, a, 0), *two = optim_of(rule, b, 1);
        CHECK_EQ(THOptim_addGroup(one, a + 1, 1), 1);
        CHECK_EQ(THOptim_addGroup(two, b + 1, 1), 1);
        CHECK_OK(THOptim_set(one, 0, "masterWeights", 1));
        CHECK_OK(THOptim_set(one, 1, "masterWeights", rule != 1));
        half_steps(one, a, 3);
        if (rule % 2) half_steps(two, b, 2);
        CHECK_OK(THOptim_save(one, file(".pt")));
        CHECK_OK(THOptim_load(two, path));
        CHECK_NEAR(THOptim_get(two, 0, "masterWeights"), 1, 0);
        CHECK_NEAR(THOptim_get(two, 1, "masterWeights"), rule != 1, 0);
        THArchive *archive = THArchive_open(path);
        CHECK_EQ(THArchive_dtype(archive, THArchive_find(archive, "state.0.master_param")), TH_FLOAT32);
        CHECK_EQ(THArchive_find(archive, "state.1.master_param") >= 0, rule != 1);
        THArchive_free(archive);
        CHECK_OK(THGrad_setEnabled(0));
        for (int k = 0; k < 4; k++) CHECK_OK(THTensor_copy(b[k], a[k]));
        CHECK_OK(THGrad_setEnabled(1));
        double sums[] = {half_steps(one, a, 5), half_steps(two, b, 5)};
        CHECK(memcmp(sums, sums + 1, sizeof *sums) == 0);
        for (int k = 0; k < 2; k++) CHECK(THTensor_equal(a[k], b[k]) == 1);
        CHECK(unlink(path) == 0);
        THOptim_free(one);
        THOptim_free(two);
        for (int k = 0; k < 4; k++) THTensor_free(a[k]);
        for (int k = 0; k < 4; k++) THTensor_free(b[k]);
    }
}

/* An optimizer without a state has a file, too. */
static void files_without_a_state(void) {
    for (int rule = 0; rule < RULES; rule++) {
        struct problem a = problem_of(rule, 0), b = problem_of(rule, 1);
        CHECK_OK(THOptim_save(a.optim, file(".pt")));
        steps(&b, 1);
        CHECK_OK(THOptim_load(b.optim, path));
        copy_params(&b, &a);
        double one = steps(&a, 2), two = steps(&b, 2);
        CHECK(memcmp(&one, &two, sizeof one) == 0);
        CHECK(unlink(path) == 0);
        end(&a);
        end(&b);
    }
    struct problem p = problem_of(0, 0);
    CHECK_ERROR(THOptim_save(p.optim, file(".npz")), TH_ERR_UNSUPPORTED, "npz files have no metadata");
    CHECK_ERROR(THOptim_save(p.optim, file("")), TH_ERR_ARGUMENT, "the ending of");
    CHECK_ERROR(THOptim_load(p.optim, file(".pt")), TH_ERR_IO, "cannot open");
    CHECK_ERROR(THOptim_save(NULL, path), TH_ERR_ARGUMENT, "argument 'o' is NULL");
    CHECK_ERROR(THOptim_load(p.optim, NULL), TH_ERR_ARGUMENT, "argument 'path' is NULL");
    end(&p);
}

/* Copies the archive `from` to the file `to` with the prefix `before`. Leaves out the entry `without`, and adds the text `text` or the
 * tensor `t` in its place. */
static void altered(const char *from, const char *to, const char *before, const char *without, const char *text,
                    const THTensor *t) {
    THArchive *old = THArchive_open(from), *new = THArchive_create(to, TH_FILE_PT);
    char name[128];
    if (!CHECK(old && new)) return;
    for (int64_t k = 0; k < THArchive_count(old); k++) {
        if (strcmp(THArchive_name(old, k), without) == 0) continue;
        THTensor *each = THArchive_newTensor(old, k);
        snprintf(name, sizeof name, "%s%s", before, THArchive_name(old, k));
        CHECK_OK(THArchive_add(new, name, each));
        THTensor_free(each);
    }
    for (int64_t k = 0; k < THArchive_metadataCount(old); k++) {
        if (strcmp(THArchive_metadataKey(old, k), without) == 0) continue;
        snprintf(name, sizeof name, "%s%s", before, THArchive_metadataKey(old, k));
        CHECK_OK(THArchive_addMetadata(new, name, THArchive_metadataValue(old, k)));
    }
    if (text) CHECK_OK(THArchive_addMetadata(new, without, text));
    if (t) CHECK_OK(THArchive_add(new, without, t));
    CHECK_OK(THArchive_close(new));
    THArchive_free(old);
    THArchive_free(new);
}

/* Loads a file with one wrong entry. The optimizer continues as if nothing was loaded. */
static void check_refused(int rule, const char *entry, const char *text, const THTensor *t, const char *message) {
    char other[64];
    struct problem a = problem_of(rule, 0), b = problem_of(rule, 0);
    steps(&a, 2);
    CHECK_OK(THOptim_save(a.optim, file(".pt")));
    memcpy(other, path, sizeof other);
    altered(other, file("-wrong.pt"), "", entry, text, t);
    steps(&a, 1);
    CHECK_ERROR(THOptim_load(a.optim, path), TH_ERR_FORMAT, message);
    steps(&b, 3);
    double one = steps(&a, 2), two = steps(&b, 2);
    CHECK(memcmp(&one, &two, sizeof one) == 0);
    CHECK(unlink(path) == 0 && unlink(other) == 0);
    end(&a);
    end(&b);
}

static void files_that_do_not_fit_change_nothing(void) {
    THTensor *two = vector_of(TH_FLOAT64, 1, 2), *whole = vector_of(TH_INT64, 1, 2, 3), *three = vector_of(TH_FLOAT64, 1, 2, 3);
    check_refused(2, "param_groups.1.lr", NULL, NULL, "entry 'param_groups.1.lr' is missing");
    check_refused(2, "param_groups.0.lr", "fast", NULL, "entry 'param_groups.0.lr' is 'fast', expected a number");
    check_refused(2, "param_groups.0.lr", "-1", NULL, "entry 'param_groups.0' does not fit: lr is -1");
    check_refused(2, "param_groups.0.betas.1", "1", NULL, "entry 'param_groups.0' does not fit: beta2 is 1");
    check_refused(2, "param_groups.0.betas.0", "nan", NULL, "beta1 is NaN");
    check_refused(2, "param_groups.1.amsgrad", "2", NULL, "entry 'param_groups.1.amsgrad' does not fit");
    check_refused(2, "param_groups.0.eps", NULL, two, "entry 'param_groups.0.eps' has sizes [2], expected one number");
    check_refused(2, "param_groups.2.lr", "1", NULL, "entry 'param_groups.2' is no group of the optimizer, which has 2");
    check_refused(2, "param_groups.x", "1", NULL, "entry 'param_groups.x' is no group");
    check_refused(2, "param_groups.0.params.1", "7", NULL, "entry 'param_groups.0.params' has 2 parameters, and the group of");
    check_refused(2, "param_groups.0.params.0", NULL, NULL, "entry 'param_groups.0.params' has 0 parameters");
    check_refused(2, "param_groups.0.params.0", "1", NULL, "has the parameter 1 twice");
    check_refused(2, "param_groups.0.params.0", "5", NULL, "entry 'state.0.exp_avg' is the state of no parameter");
    check_refused(2, "state.0.exp_avg_sq", NULL, NULL, "entry 'state.0.exp_avg_sq' is missing");
    check_refused(2, "state.0.exp_avg_sq", NULL, two, "entry 'state.0.exp_avg_sq' has sizes [2], and the parameter has [3]");
    check_refused(2, "state.0.exp_avg_sq", NULL, whole, "entry 'state.0.exp_avg_sq' has dtype int64, expected floats");
    check_refused(2, "state.0.exp_avg_sq", "0", NULL, "entry 'state.0.exp_avg_sq' is '0', expected a tensor");
    check_refused(2, "state.0.momentum_buffer", NULL, three, "entry 'state.0.momentum_buffer' is no state of Adam");
    check_refused(2, "state.7.exp_avg", NULL, three, "entry 'state.7.exp_avg' is the state of no parameter");
    check_refused(2, "state.1.step", NULL, NULL, "entry 'state.1.step' is missing");
    check_refused(2, "state.1.step", "-1", NULL, "entry 'state.1.step' is -1, expected a whole number from 0");
    check_refused(2, "state.1.step", "1.5", NULL, "entry 'state.1.step' is 1.5");
    check_refused(2, "state.1.step", "2147483648", NULL, "entry 'state.1.step' is 2147483648");
    check_refused(4, "state.1.max_exp_avg_sq", NULL, NULL, "entry 'state.1.max_exp_avg_sq' is missing");
    check_refused(6, "state.0.grad_avg", NULL, NULL, "entry 'state.0.grad_avg' is missing");
    check_refused(6, "state.0.momentum_buffer", NULL, NULL, "entry 'state.0.momentum_buffer' is missing");
    check_refused(9, "state.0.mu_product", NULL, NULL, "entry 'state.0.mu_product' is missing");
    check_refused(12, "state.1.row_var", NULL, NULL, "entry 'state.1.row_var' is missing");
    check_refused(12, "state.0.variance", NULL, NULL, "entry 'state.0.variance' is missing");
    check_refused(12, "state.1.col_var", NULL, two, "entry 'state.1.col_var' has sizes [2], and the parameter has [1, 1]");
    check_refused(12, "param_groups.0.eps.0", "nan", NULL, "eps.0 is NaN");
    check_refused(2, "state.0.master_param", NULL, three, "entry 'state.0.master_param' is no state of Adam");
    check_refused(2, "state.0.mu_product", "1", NULL, "entry 'state.0.mu_product' is no state of Adam");
    check_refused(1, "param_groups.1.momentum", "0", NULL, "nesterov takes a momentum");
    check_refused(14, "param_groups.0.line_search_fn", "brent", NULL, "entry 'param_groups.0.line_search_fn' is not 'strong_wolfe'");
    check_refused(14, "param_groups.0.max_iter", "0", NULL, "maxIter is 0");
    check_refused(14, "state.0.d", NULL, three, "entry 'state.0.d' has sizes [3], and the parameter has [4]");
    check_refused(14, "state.0.old_dirs.0", NULL, NULL, "entries, and 'state.0.ro' has");
    check_refused(14, "state.0.n_iter", "1e300", NULL, "entry 'state.0.n_iter' is 1");
    check_refused(14, "state.1.d", NULL, three, "entry 'state.1' is no state of L-BFGS");
    check_refused(14, "state.0.exp_avg", NULL, three, "entry 'state.0.exp_avg' is no state of L-BFGS");
    THTensor_free(two);
    THTensor_free(whole);
    THTensor_free(three);
    /* A file of another kind of optimizer, and a file that is no state. */
    struct problem a = problem_of(2, 0), b = problem_of(1, 0);
    steps(&a, 1);
    CHECK_OK(THOptim_save(a.optim, file(".pt")));
    CHECK_ERROR(THOptim_load(b.optim, path), TH_ERR_FORMAT, "entry 'param_groups.0.momentum' is missing");
    CHECK_OK(THTensor_save(a.params[0], path));
    CHECK_ERROR(THOptim_load(b.optim, path), TH_ERR_FORMAT, "entry 'param_groups.0.lr' is missing");
    CHECK(unlink(path) == 0);
    end(&a);
    end(&b);
}

/* Writes the parameters `w0` and `w1`, a text and the optimizer into the file `path`. */
static void write_checkpoint(const struct problem *p) {
    THArchive *archive = THArchive_create(path, TH_FILE_BY_NAME);
    CHECK(archive != NULL);
    CHECK_OK(THArchive_add(archive, "w0", p->params[0]));
    CHECK_OK(THOptim_add(p->optim, archive, "optimizer"));
    CHECK_OK(THArchive_addMetadata(archive, "note", "a text"));
    CHECK_OK(THArchive_add(archive, "w1", p->params[1]));
    /* Each of these calls fails, and the archive is unchanged. */
    CHECK_ERROR(THOptim_add(p->optim, archive, "optimizer"), TH_ERR_ARGUMENT, "an entry named 'optimizer");
    CHECK_ERROR(THOptim_add(p->optim, archive, "w0"), TH_ERR_ARGUMENT, "an entry named 'w0' was added already");
    CHECK_ERROR(THOptim_add(p->optim, archive, "note"), TH_ERR_ARGUMENT, "an entry named 'note' was added already");
    CHECK_ERROR(THOptim_add(p->optim, archive, ""), TH_ERR_ARGUMENT, "the name is empty");
    CHECK_ERROR(THOptim_add(p->optim, NULL, "o"), TH_ERR_ARGUMENT, "argument 'archive' is NULL");
    CHECK_ERROR(THArchive_add(archive, "optimizer", p->params[0]), TH_ERR_ARGUMENT, "'optimizer' was added already");
    CHECK_ERROR(THArchive_addMetadata(archive, "optimizer", "x"), TH_ERR_ARGUMENT, "'optimizer' was added already");
    CHECK_OK(THArchive_close(archive));
    CHECK_ERROR(THOptim_add(p->optim, archive, "again"), TH_ERR_ARGUMENT, "closed already");
    THArchive_free(archive);
}

/* One file has the parameters and the state. Training continues with the same bits. */
static void a_checkpoint_is_one_file(void) {
    const char *endings[] = {".pt", ".safetensors", ".t7"};
    for (int rule = 0; rule < RULES; rule++) {
        for (int ending = 0; ending < 3; ending++) {
            struct problem a = problem_of(rule, 0), b = problem_of(rule, 1);
            steps(&a, 3);
            file(endings[ending]);
            write_checkpoint(&a);
            THArchive *archive = THArchive_open(path);
            CHECK(archive != NULL);
            CHECK(strcmp(THArchive_metadata(archive, "note"), "a text") == 0);
            CHECK_OK(THGrad_setEnabled(0));
            CHECK_OK(THArchive_copy(b.params[0], archive, "w0"));
            CHECK_OK(THArchive_copy(b.params[1], archive, "w1"));
            CHECK_ERROR(THArchive_copy(b.params[0], archive, "w2"), TH_ERR_ARGUMENT, "no tensor is named 'w2'");
            CHECK_OK(THGrad_setEnabled(1));
            CHECK_ERROR(THArchive_copy(b.params[0], archive, "w0"), TH_ERR_ARGUMENT, "is a leaf that requires a gradient");
            CHECK_OK(THOptim_read(b.optim, archive, "optimizer"));
            CHECK_ERROR(THOptim_add(a.optim, archive, "o"), TH_ERR_ARGUMENT, "the archive was opened for reading");
            double one = steps(&a, 3), two = steps(&b, 3);
            CHECK(memcmp(&one, &two, sizeof one) == 0);
            THArchive_free(archive);
            CHECK(unlink(path) == 0);
            end(&a);
            end(&b);
        }
    }
    struct problem a = problem_of(3, 0);
    THArchive *archive = THArchive_create(file(".npz"), TH_FILE_BY_NAME);
    CHECK_ERROR(THOptim_add(a.optim, archive, "optimizer"), TH_ERR_UNSUPPORTED, "npz files have no metadata");
    THArchive_free(archive);
    end(&a);
}

/* A tensor of a file is converted to the dtype and broadcast to the shape of a handle. */
static void copies_keep_the_handle(void) {
    THTensor *row = vector_of(TH_FLOAT64, 1, -2, 0.5), *fresh = THTensor_new();
    THTensor *wide = THTensor_newFull(TH_FLOAT32, 2, (int64_t[]){2, 3}, 7);
    THArchive *archive = THArchive_create(file(".pt"), TH_FILE_BY_NAME);
    CHECK_OK(THArchive_add(archive, "row", row));
    CHECK_ERROR(THArchive_copy(wide, archive, "row"), TH_ERR_ARGUMENT, "the archive was created for writing");
    CHECK_OK(THArchive_close(archive));
    THArchive_free(archive);
    archive = THArchive_open(path);
    CHECK_OK(THArchive_copy(wide, archive, "row"));
    CHECK_EQ(THTensor_dtype(wide), TH_FLOAT32);
    CHECK_NEAR(THTensor_sumall(wide), -1, 0);
    CHECK_OK(THArchive_copy(fresh, archive, "row"));
    CHECK(THTensor_equal(fresh, row));
    CHECK_OK(THTensor_resize2d(wide, 2, 2));
    CHECK_OK(THTensor_fill(wide, 7));
    CHECK_ERROR(THArchive_copy(wide, archive, "row"), TH_ERR_SHAPE, "THArchive_copy");
    CHECK_NEAR(THTensor_sumall(wide), 28, 0);
    THArchive_free(archive);
    THTensor_free(row);
    THTensor_free(wide);
    THTensor_free(fresh);
    CHECK(unlink(path) == 0);
}

/* The state can be an entry of a checkpoint, and the dtype of a parameter decides the dtype of its state. */
static void states_in_checkpoints(void) {
    char plain[64];
    struct problem a = problem_of(3, 0), b = problem_of(3, 1);
    steps(&a, 3);
    CHECK_OK(THOptim_save(a.optim, file(".pt")));
    memcpy(plain, path, sizeof plain);
    altered(plain, file("-checkpoint.pt"), "train.optimizer.", "note", "a text", NULL);
    THArchive *archive = THArchive_open(path);
    copy_params(&b, &a);
    CHECK_OK(THOptim_read(b.optim, archive, "train.optimizer"));
    double one = steps(&a, 2), two = steps(&b, 2);
    CHECK(memcmp(&one, &two, sizeof one) == 0);
    CHECK_ERROR(THOptim_read(b.optim, archive, "train"), TH_ERR_FORMAT, "entry 'train.param_groups.0.lr' is missing");
    CHECK_ERROR(THOptim_read(b.optim, archive, "train.optim"), TH_ERR_FORMAT, "is missing");
    CHECK_ERROR(THOptim_read(b.optim, NULL, ""), TH_ERR_ARGUMENT, "argument 'archive' is NULL");
    THArchive_free(archive);
    CHECK(unlink(path) == 0);
    THTensor *half[2] = {vector_of(TH_FLOAT16, 1, -2, 0.5), matrix_of(TH_FLOAT32, 1, 0.25)};
    THOptim *optim = THOptim_newAdam(half, 2, 0.1, 0.9, 0.99, 1e-8, 0, 0);
    CHECK_ERROR(THOptim_load(optim, plain), TH_ERR_FORMAT, "entry 'param_groups.1' is no group");
    THOptim_free(optim);
    optim = THOptim_newAdam(half, 1, 0.1, 0.9, 0.99, 1e-8, 0, 0);
    CHECK_EQ(THOptim_addGroup(optim, half + 1, 1), 1);
    CHECK_OK(THOptim_load(optim, plain));
    CHECK_OK(THOptim_save(optim, file("-half.pt")));
    archive = THArchive_open(path);
    CHECK_EQ(THArchive_dtype(archive, THArchive_find(archive, "state.0.exp_avg")), TH_FLOAT16);
    CHECK_EQ(THArchive_dtype(archive, THArchive_find(archive, "state.1.exp_avg")), TH_FLOAT32);
    CHECK_EQ(THArchive_dtype(archive, THArchive_find(archive, "state.0.step")), TH_FLOAT32);
    THArchive_free(archive);
    CHECK(unlink(path) == 0 && unlink(plain) == 0);
    THOptim_free(optim);
    for (int k = 0; k < 2; k++) THTensor_free(half[k]);
    end(&a);
    end(&b);
}

/* A reader returns more than 1000 numbers as one text. The first parameter has no state. */
static void many_parameters(void) {
    enum { COUNT = 1001 };
    static THTensor *params[COUNT];
    for (int k = 0; k < COUNT; k++) {
        params[k] = vector_of(TH_FLOAT64, k);
        CHECK_OK(THTensor_setRequiresGrad(params[k], 1));
        if (k) CHECK_OK(THTensor_setGrad(params[k], params[0]));
    }
    THOptim *one = THOptim_newAdam(params, COUNT, 0.1, 0.9, 0.99, 1e-8, 0, 0), *two = THOptim_newAdam(params, COUNT, 1, 0.5, 0.5, 1, 1, 0);
    CHECK_OK(THOptim_step(one));
    CHECK_OK(THOptim_save(one, file(".pt")));
    CHECK_OK(THOptim_load(two, path));
    CHECK_OK(THOptim_save(two, file("-again.pt")));
    THArchive *archive = THArchive_open(path);
    CHECK_EQ(THArchive_count(archive), 3 * (COUNT - 1));
    THTensor *step = THArchive_newFind(archive, "state.1000.step");
    CHECK_VALUES(step, 1);
    THTensor_free(step);
    THArchive_free(archive);
    CHECK(unlink(path) == 0 && unlink(file(".pt")) == 0);
    THOptim_free(one);
    THOptim_free(two);
    for (int k = 0; k < COUNT; k++) THTensor_free(params[k]);
    CHECK(rmdir(file(NULL)) == 0);
}

CHECK_MAIN(CASE(training_continues_with_the_same_bits),
           CASE(master_weights_continue_with_the_same_bits), CASE(files_without_a_state), CASE(files_that_do_not_fit_change_nothing),
           CASE(states_in_checkpoints), CASE(a_checkpoint_is_one_file), CASE(copies_keep_the_handle), CASE(many_parameters))
