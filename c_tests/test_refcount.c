/* References: which handles own what, exact counts with several threads, and memory that does not grow. */

#include "check.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 8

/* Runs `work(arg)` on eight threads at once. Returns the number of threads that did not return NULL. */
static int run_on_threads(void *(*work)(void *), void *arg) {
    pthread_t threads[THREADS];
    int wrong = 0;
    for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, work, arg), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        CHECK_EQ(pthread_join(threads[i], &result), 0);
        wrong += result != NULL;
    }
    return wrong;
}

static void count_call(void *data, void *context) {
    (void)data;
    (*(int *)context)++;
}

/* Ownership */

static void a_reference_is_taken_and_given_up(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2));
    CHECK_EQ(THTensor_refcount(t), 1);
    THTensor_retain(t);
    CHECK_EQ(THTensor_refcount(t), 2);
    THTensor_free(t);
    CHECK_EQ(THTensor_refcount(t), 1);
    CHECK_VALUES(t, 1, 1);
    THTensor_free(t);
}

static void null_has_no_references(void) {
    THTensor_retain(NULL);
    THTensor_free(NULL);
    THStorage_retain(NULL);
    THStorage_free(NULL);
    CHECK_EQ(THGetLastErrorCode(), TH_OK);
}

static void views_keep_the_storage_alive(void) {
    int deleted = 0;
    float data[] = {1, 2, 3, 4};
    THTensor *t = THTensor_newFromBlob(TH_FLOAT32, SIZES(2, 2), NULL, data, count_call, &deleted);
    THTensor *row = THTensor_newSelect(t, 0, 1);
    THTensor *turned = THTensor_newTranspose(t, 0, 1);
    THTensor *element = THTensor_newSelect(row, 0, 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 4);
    CHECK_EQ(THTensor_refcount(t), 1);
    THTensor_free(t);
    THTensor_free(turned);
    THTensor_free(row);
    CHECK_EQ(deleted, 0);
    CHECK_NEAR(THTensor_item(element), 4, 0);
    THTensor_free(element);
    CHECK_EQ(deleted, 1);
}

/* With more references than an int counts, the handle is never freed, however many references are given up. */
static void a_count_that_has_come_to_its_end_stays_there(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2));
    THStorage *s = THTensor_storage(t);
    t->refcount = s->refcount = INT32_MAX - 1;
    for (int i = 0; i < 3; i++) {
        THTensor_retain(t);
        THStorage_retain(s);
    }
    CHECK_EQ(THTensor_refcount(t), INT32_MAX);
    CHECK_EQ(THStorage_refcount(s), INT32_MAX);
    for (int i = 0; i < 100; i++) {
        THTensor_free(t);
        THStorage_free(s);
    }
    CHECK_EQ(THTensor_refcount(t), INT32_MAX);
    CHECK_EQ(THStorage_refcount(s), INT32_MAX);
    CHECK_VALUES(t, 1, 1);
    t->refcount = s->refcount = 1;
    THTensor_free(t);
}

static void a_borrowed_storage_is_kept_by_retaining_it(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2);
    THStorage *s = THTensor_storage(t);
    THStorage_retain(s);
    THTensor_free(t);
    CHECK_EQ(THStorage_refcount(s), 1);
    CHECK_NEAR(THStorage_get(s, 1), 2, 0);
    THStorage_free(s);
}

static void a_tensor_holds_its_storage_once(void) {
    THStorage *s = THStorage_newWithSize2(TH_FLOAT32, 1, 2);
    THTensor *t = THTensor_newWithStorage1d(s, 0, 2, 1);
    THTensor_retain(t);
    CHECK_EQ(THStorage_refcount(s), 2);
    THTensor_free(t);
    CHECK_OK(THTensor_setStorage1d(t, s, 1, 1, 1));
    CHECK_OK(THTensor_set(t, t));
    CHECK_EQ(THStorage_refcount(s), 2);

    THTensor *other = vector_of(TH_FLOAT32, 5);
    CHECK_OK(THTensor_set(t, other));
    CHECK_EQ(THStorage_refcount(s), 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(other)), 2);
    THTensor_free(t);
    THTensor_free(other);
    THStorage_free(s);
}

static void what_is_already_as_wanted_comes_back_with_one_more_reference(void) {
    THTensor *t = THTensor_newOnes(TH_FLOAT32, SIZES(2, 3));
    THTensor *same[] = {THTensor_newContiguous(t), THTensor_newContiguousFormat(t, TH_CONTIGUOUS_FORMAT),
                        THTensor_newTo(t, TH_FLOAT32)};
    CHECK_EQ(THTensor_refcount(t), 4);
    for (int i = 0; i < 3; i++) {
        CHECK(same[i] == t);
        THTensor_free(same[i]);
    }
    CHECK_EQ(THTensor_refcount(t), 1);
    THTensor_free(t);
}

static void a_view_of_itself_changes_no_count(void) {
    THTensor *t = matrix_of(TH_INT32, 2, 1, 2, 3, 4);
    CHECK_OK(THTensor_narrow(t, t, 0, 1, 1));
    CHECK_OK(THTensor_transpose(t, t, 0, 1));
    CHECK_OK(THTensor_squeeze(t, t));
    CHECK_VALUES(t, 3, 4);
    CHECK_EQ(THTensor_refcount(t), 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 1);
    THTensor_free(t);
}

static void copying_and_freeing_in_one_call(void) {
    THTensor *from = vector_of(TH_FLOAT32, 1, 2), *to = vector_of(TH_FLOAT32, 0, 0);
    CHECK_OK(THTensor_freeCopyTo(from, to));
    CHECK_VALUES(to, 1, 2);
    THTensor_retain(to);
    CHECK_OK(THTensor_freeCopyTo(to, to));
    CHECK_EQ(THTensor_refcount(to), 1);
    THTensor_free(to);
}

static void lists_hold_new_references(void) {
    THTensor *t = vector_of(TH_INT64, 1, 2, 3, 4, 5);
    THTensor *pieces[3];
    int count = 0;
    CHECK_OK(THTensor_split(NULL, &count, t, 2, 0));
    CHECK_EQ(count, 3);
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 1);
    CHECK_OK(THTensor_split(pieces, &count, t, 2, 0));
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 4);
    THTensor_free(t);
    CHECK_VALUES(pieces[2], 5);

    count = 1;
    CHECK_ERROR(THTensor_chunk(pieces, &count, pieces[0], 2, 0), TH_ERR_ARGUMENT, "2 are needed");
    CHECK_EQ(count, 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(pieces[0])), 3);
    for (int i = 0; i < 3; i++) THTensor_free(pieces[i]);
}

static void failures_take_no_references(void) {
    THTensor *a = vector_of(TH_FLOAT32, 1, 2, 3), *b = vector_of(TH_FLOAT32, 1, 2), *r = THTensor_new();
    for (int i = 0; i < 100; i++) {
        CHECK_ERROR(THTensor_cadd(r, a, 1, b), TH_ERR_SHAPE, "THTensor_cadd");
        CHECK_FAILURE(THTensor_newSelect(a, 0, 3) == NULL, TH_ERR_ARGUMENT, "THTensor_newSelect");
        CHECK_FAILURE(THTensor_newWithStorage1d(THTensor_storage(a), 0, -1, 1) == NULL, TH_ERR_SHAPE, "-1");
    }
    CHECK_EQ(THTensor_refcount(a) + THTensor_refcount(b) + THTensor_refcount(r), 3);
    CHECK_EQ(THStorage_refcount(THTensor_storage(a)) + THStorage_refcount(THTensor_storage(b)), 2);
    THTensor_free(r);
    THTensor_free(b);
    THTensor_free(a);
}

static void handles_that_do_not_count_stay(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1);
    CHECK_OK(THTensor_clearFlag(t, TH_TENSOR_REFCOUNTED));
    THTensor_retain(t);
    THTensor_free(t);
    THTensor_free(t);
    CHECK_EQ(THTensor_refcount(t), 1);
    CHECK_VALUES(t, 1);
    CHECK_OK(THTensor_setFlag(t, TH_TENSOR_REFCOUNTED));
    THTensor_free(t);

    THStorage *s = THStorage_newWithSize1(TH_FLOAT32, 1);
    CHECK_OK(THStorage_clearFlag(s, TH_STORAGE_REFCOUNTED));
    THStorage_free(s);
    CHECK_EQ(THStorage_refcount(s), 1);
    CHECK_OK(THStorage_setFlag(s, TH_STORAGE_REFCOUNTED));
    THStorage_free(s);
}

/* Several threads */

static void *retain_and_free(void *arg) {
    THTensor *t = arg;
    THStorage *s = THTensor_storage(t);
    for (int64_t i = shrunk(100000); i > 0; i--) {
        THTensor_retain(t);
        THStorage_retain(s);
        THTensor_free(t);
        THStorage_free(s);
    }
    /* An additional reference of each, which the count must show at the end. */
    THTensor_retain(t);
    THStorage_retain(s);
    return NULL;
}

static void counts_are_exact_among_threads(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3);
    CHECK_EQ(run_on_threads(retain_and_free, t), 0);
    CHECK_EQ(THTensor_refcount(t), 1 + THREADS);
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 1 + THREADS);
    for (int i = 0; i < THREADS; i++) {
        THStorage_free(THTensor_storage(t));
        THTensor_free(t);
    }
    THTensor_free(t);
}

static void *view_and_free(void *arg) {
    THTensor *t = arg;
    double sum = 0;
    for (int64_t i = shrunk(30000); i > 0; i--) {
        THTensor *row = THTensor_newSelect(t, 0, i % 2);
        THTensor *turned = THTensor_newTranspose(t, 0, 1);
        sum += THTensor_get1d(row, 0) + THTensor_get2d(turned, 1, 0);
        THTensor_free(turned);
        THTensor_free(row);
    }
    /* The rows begin with 1 and 3, and the transposed matrix has 2 at (1, 0). */
    return sum == (double)(shrunk(30000) / 2) * 8 + (shrunk(30000) % 2) * 5 ? NULL : arg;
}

static void threads_make_views_of_one_tensor(void) {
    THTensor *t = matrix_of(TH_FLOAT64, 2, 1, 2, 3, 4);
    CHECK_EQ(run_on_threads(view_and_free, t), 0);
    CHECK_EQ(THTensor_refcount(t), 1);
    CHECK_EQ(THStorage_refcount(THTensor_storage(t)), 1);
    THTensor_free(t);
}

#define BLOBS 20000

struct blobs {
    int count;
    THTensor *tensors[BLOBS];
    int deleted[BLOBS];
};

/* All threads walk the list in the same direction, so at each blob some of them meet. */
static void *free_all(void *arg) {
    struct blobs *blobs = arg;
    for (int i = 0; i < blobs->count; i++) THTensor_free(blobs->tensors[i]);
    return NULL;
}

static void the_last_of_many_threads_deletes_once(void) {
    static struct blobs blobs;
    static uint8_t data;
    blobs.count = (int)shrunk(BLOBS);
    for (int i = 0; i < blobs.count; i++) {
        blobs.tensors[i] = THTensor_newFromBlob(TH_UINT8, SIZES(1), NULL, &data, count_call, &blobs.deleted[i]);
        for (int k = 1; k < THREADS; k++) THTensor_retain(blobs.tensors[i]);
    }
    CHECK_EQ(run_on_threads(free_all, &blobs), 0);
    int wrong = 0;
    for (int i = 0; i < blobs.count; i++) wrong += blobs.deleted[i] != 1;
    CHECK_EQ(wrong, 0);
}

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    THTensor *letter;
    int64_t rounds;
};

static void *receive_and_free(void *arg) {
    struct mailbox *box = arg;
    for (int64_t i = 0; i < box->rounds; i++) {
        pthread_mutex_lock(&box->lock);
        while (!box->letter) pthread_cond_wait(&box->changed, &box->lock);
        THTensor_free(box->letter);
        box->letter = NULL;
        pthread_cond_signal(&box->changed);
        pthread_mutex_unlock(&box->lock);
    }
    return NULL;
}

static void tensors_are_freed_by_another_thread(void) {
    struct mailbox box = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, shrunk(10000)};
    pthread_t receiver;
    CHECK_EQ(pthread_create(&receiver, NULL, receive_and_free, &box), 0);
    int64_t live = THMemory_liveBytes();
    for (int64_t i = 0; i < box.rounds; i++) {
        THTensor *letter = THTensor_newOnes(TH_FLOAT32, SIZES(1000));
        pthread_mutex_lock(&box.lock);
        while (box.letter) pthread_cond_wait(&box.changed, &box.lock);
        box.letter = letter;
        pthread_cond_signal(&box.changed);
        pthread_mutex_unlock(&box.lock);
    }
    CHECK_EQ(pthread_join(receiver, NULL), 0);
    CHECK_EQ(THMemory_liveBytes(), live);
}

/* Memory that does not grow */

/* Bytes of this process in memory; 0 if the system does not tell. */
static int64_t resident_bytes(void) {
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &total, &resident) != 2) resident = 0;
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static void create_view_and_free(int64_t rounds) {
    static const int64_t shape[] = {4, 8};
    for (int64_t i = 0; i < rounds; i++) {
        THTensor *t = THTensor_newWithSizes(TH_FLOAT32, 2, shape);
        THTensor *view = THTensor_newTranspose(t, 0, 1);
        THTensor_free(t);
        THTensor_free(view);
    }
}

static void a_million_rounds_leave_nothing_behind(void) {
    create_view_and_free(1000);
    int64_t live = THMemory_liveBytes(), resident = resident_bytes();
    create_view_and_free(shrunk(1000000));
    CHECK_EQ(THMemory_liveBytes(), live);
    /* A byte lost in each round would add up to a million. */
    if (!under_valgrind()) CHECK(resident_bytes() - resident < 500000);
}

static void failing_a_hundred_thousand_times_leaves_nothing_behind(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3), *r = THTensor_new();
    int64_t live = 0, resident = 0;
    int64_t rounds = shrunk(100000);
    /* The second half is measured. The first half allocates memory for messages. */
    for (int64_t i = -rounds; i < rounds; i++) {
        if (i == 0) live = THMemory_liveBytes(), resident = resident_bytes();
        CHECK(THTensor_newWithSize1d(TH_FLOAT32, -i * i - 1) == NULL);
        THTensor_mm(r, t, t);
    }
    CHECK_EQ(THMemory_liveBytes(), live);
    if (!under_valgrind()) CHECK(resident_bytes() - resident < 500000);
    THTensor_free(r);
    THTensor_free(t);
}

CHECK_MAIN(CASE(a_reference_is_taken_and_given_up), CASE(null_has_no_references), CASE(views_keep_the_storage_alive),
           CASE(a_count_that_has_come_to_its_end_stays_there),
           CASE(a_borrowed_storage_is_kept_by_retaining_it), CASE(a_tensor_holds_its_storage_once),
           CASE(what_is_already_as_wanted_comes_back_with_one_more_reference), CASE(a_view_of_itself_changes_no_count),
           CASE(copying_and_freeing_in_one_call), CASE(lists_hold_new_references), CASE(failures_take_no_references),
           CASE(handles_that_do_not_count_stay), CASE(counts_are_exact_among_threads),
           CASE(threads_make_views_of_one_tensor), CASE(the_last_of_many_threads_deletes_once),
           CASE(tensors_are_freed_by_another_thread), CASE(a_million_rounds_leave_nothing_behind),
           CASE(failing_a_hundred_thousand_times_leaves_nothing_behind))
