/* Memory that processes share by a descriptor or a name, and files that are larger than memory. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int entries_of(const char *folder) {
    int count = 0;
    DIR *open = opendir(folder);
    while (open && readdir(open)) count++;
    if (open) closedir(open);
    return count;
}

/* Runs `child` in a separate process, and returns its result. */
static int in_child(int (*child)(void *), void *context) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) _exit(child(context));
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void send_fd(int socket, int fd) {
    char byte = 'f';
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {{0}};
    struct msghdr message = {0};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(socket, &message, 0) != 1) perror("sendmsg");
}

static int receive_fd(int socket) {
    char byte;
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {0};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    int fd = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) return -1;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static int add_one(void *context) {
    THTensor *t = context;
    return THTensor_add(t, t, 1) == TH_OK ? 0 : 1;
}

static void a_tensor_moves_with_all_its_views(void) {
    int files = entries_of("/proc/self/fd"), names = entries_of("/dev/shm");
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3, 4), *view = THTensor_newNarrow(t, 0, 1, 2);
    CHECK_EQ(THTensor_isShared(t), 0);
    const void *before = THTensor_data(t);
    CHECK_OK(THTensor_shareMemory(view));
    CHECK(THTensor_data(t) != before);
    CHECK(THTensor_isShared(t) == 1 && THTensor_isShared(view) == 1 && THStorage_isShared(t->storage) == 1);
    CHECK_VALUES(t, 1, 2, 3, 4);
    CHECK_OK(THTensor_fill(view, 9));
    CHECK_VALUES(t, 1, 9, 9, 4);

    /* A second call changes nothing. */
    const void *there = THTensor_data(t);
    CHECK_OK(THTensor_shareMemory(t));
    CHECK(THTensor_data(t) == there);

    /* A forked child writes to the same elements after the parent has shared them. */
    CHECK_EQ(in_child(add_one, t), 0);
    CHECK_VALUES(t, 2, 10, 10, 5);

    CHECK_EQ(entries_of("/dev/shm"), names);
    CHECK_EQ(entries_of("/proc/self/fd"), files + 1);
    THTensor_free(view);
    THTensor_free(t);
    CHECK_EQ(entries_of("/proc/self/fd"), files);
}

static void private_memory_is_not_seen_by_a_child(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2);
    CHECK_EQ(in_child(add_one, t), 0);
    CHECK_VALUES(t, 1, 2);
    THTensor_free(t);
}

static int double_by_name(void *name) {
    THStorage *s = THStorage_newShared(TH_INT32, name, -1);
    if (!s) return 1;
    THTensor *t = THTensor_newWithStorage(s, 0, -1, NULL, NULL);
    int failed = THStorage_size(s) != 3 || THTensor_mul(t, t, 2) != TH_OK;
    THTensor_free(t);
    THStorage_free(s);
    return failed;
}

static void another_process_finds_the_memory_by_its_name(void) {
    THTensor *t = vector_of(TH_INT32, 1, 2, 3);
    CHECK_OK(THTensor_shareMemory(t));
    char *told = THStorage_sharedName(t->storage), name[64];
    snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), THStorage_sharedFd(t->storage));
    CHECK_STR(told, name);
    THFree(told);
    CHECK_EQ(in_child(double_by_name, name), 0);
    CHECK_VALUES(t, 2, 4, 6);
    THTensor_free(t);
    CHECK_FAILURE(THStorage_newShared(TH_INT32, name, 3) == NULL, TH_ERR_IO, name);
}

static void a_descriptor_stays_with_who_passed_it(void) {
    THTensor *t = vector_of(TH_INT16, 5, 6, 7);
    CHECK_OK(THTensor_shareMemory(t));
    int fd = dup(THStorage_sharedFd(t->storage));
    THStorage *first = THStorage_newSharedFd(TH_INT16, fd, 2), *whole = THStorage_newSharedFd(TH_UINT8, fd, -1);
    CHECK_EQ(close(fd), 0);
    CHECK_EQ(THStorage_size(first), 2);
    CHECK_EQ(THStorage_size(whole), 6);
    CHECK_EQ(THStorage_isShared(whole), 1);
    CHECK_OK(THStorage_set(first, 1, 40));
    CHECK_VALUES(t, 5, 40, 7);
    /* The memory exists as long as a process uses it. */
    THTensor_free(t);
    CHECK_NEAR(THStorage_get(first, 1), 40, 0);
    THStorage_free(first);
    CHECK_NEAR(THStorage_get(whole, 4), 7, 0);
    THStorage_free(whole);
}

static int make_and_send(void *socket) {
    THTensor *t = THTensor_newFull(TH_FLOAT64, SIZES(1000), 3);
    if (THTensor_shareMemory(t) != TH_OK) return 1;
    send_fd(*(int *)socket, THStorage_sharedFd(t->storage));
    raise(SIGKILL);
    return 1;
}

static void memory_outlives_a_process_that_is_killed(void) {
    int names = entries_of("/dev/shm"), files = entries_of("/proc/self/fd"), ends[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQ(in_child(make_and_send, &ends[0]), -1);
    int fd = receive_fd(ends[1]);
    THStorage *s = THStorage_newSharedFd(TH_FLOAT64, fd, 1000);
    close(fd);
    close(ends[0]);
    close(ends[1]);
    THTensor *t = THTensor_newWithStorage(s, 0, -1, NULL, NULL);
    CHECK_NEAR(THTensor_sumall(t), 3000, 0);
    THTensor_free(t);
    THStorage_free(s);
    /* Then no file is left. */
    CHECK_EQ(entries_of("/dev/shm"), names);
    CHECK_EQ(entries_of("/proc/self/fd"), files);
}

static void shared_memory_keeps_its_size(void) {
    THTensor *t = vector_of(TH_FLOAT32, 1, 2, 3);
    CHECK_OK(THTensor_shareMemory(t));
    CHECK_ERROR(THStorage_resize(t->storage, 4), TH_ERR_ARGUMENT, "not resizable: its memory is foreign, mapped or shared");
    CHECK_ERROR(THTensor_resize1d(t, 4), TH_ERR_ARGUMENT, "not resizable");
    CHECK_OK(THTensor_resize1d(t, 2));
    CHECK_VALUES(t, 1, 2);
    /* No process can shorten the memory through the descriptor, so no access can end in SIGBUS. */
    CHECK(ftruncate(THStorage_sharedFd(t->storage), 0) == -1);
    CHECK(ftruncate(THStorage_sharedFd(t->storage), 1 << 20) == -1);
    CHECK_FAILURE(THStorage_newSharedFd(TH_FLOAT32, THStorage_sharedFd(t->storage), 4) == NULL, TH_ERR_IO,
                  "has 12 bytes, 16 are needed");
    char *name = THStorage_sharedName(t->storage);
    CHECK_FAILURE(THStorage_newShared(TH_FLOAT32, name, 4) == NULL, TH_ERR_IO, "has 12 bytes, 16 are needed");
    THFree(name);
    THTensor_free(t);
}

static void memory_that_others_know_does_not_move(void) {
    float values[2] = {1, 2};
    THTensor *blob = THTensor_newFromBlob(TH_FLOAT32, SIZES(2), NULL, values, NULL, NULL);
    CHECK_ERROR(THTensor_shareMemory(blob), TH_ERR_ARGUMENT, "share a clone");
    THTensor_free(blob);
    THTensor *given = vector_of(TH_FLOAT32, 1, 2);
    DLManagedTensorVersioned *tensor = THTensor_toDLPack(given);
    CHECK_ERROR(THTensor_shareMemory(given), TH_ERR_ARGUMENT, "share a clone");
    tensor->deleter(tensor);
    THTensor *copy = THTensor_newClone(given);
    CHECK_OK(THTensor_shareMemory(copy));
    CHECK_VALUES(copy, 1, 2);
    THTensor_free(copy);
    THTensor_free(given);

    THTensor *fresh = THTensor_new();
    CHECK_ERROR(THTensor_shareMemory(fresh), TH_ERR_DTYPE, "no dtype yet");
    CHECK_EQ(THTensor_isShared(fresh), 0);
    THTensor_free(fresh);
}

static void tensors_without_elements_can_be_shared(void) {
    THTensor *t = THTensor_newZeros(TH_FLOAT32, SIZES(0, 3));
    CHECK_OK(THTensor_shareMemory(t));
    CHECK_EQ(THTensor_isShared(t), 1);
    THStorage *s = THStorage_newSharedFd(TH_FLOAT32, THStorage_sharedFd(t->storage), 0);
    CHECK_EQ(THStorage_size(s), 0);
    THStorage_free(s);
    THTensor_free(t);
}

static void what_is_not_shared_has_neither_name_nor_descriptor(void) {
    THStorage *s = THStorage_newWithSize(TH_INT8, 4);
    CHECK_EQ(THStorage_isShared(s), 0);
    CHECK_FAILURE(THStorage_sharedFd(s) == -1, TH_ERR_ARGUMENT, "is not shared");
    CHECK_FAILURE(THStorage_sharedName(s) == NULL, TH_ERR_ARGUMENT, "is not shared");
    THStorage_free(s);
}

static void descriptors_and_names_of_other_things_are_refused(void) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    CHECK_FAILURE(THStorage_newSharedFd(TH_INT8, ends[0], 1) == NULL, TH_ERR_IO, "neither a regular file nor shared memory");
    CHECK_FAILURE(THStorage_newSharedFd(TH_INT8, -1, 1) == NULL, TH_ERR_IO, "descriptor -1");
    close(ends[0]);
    close(ends[1]);
    int empty = memfd_create("empty", MFD_CLOEXEC);
    CHECK_FAILURE(THStorage_newSharedFd(TH_INT8, empty, 0) == NULL, TH_ERR_IO, "has 0 bytes");
    close(empty);
    CHECK_FAILURE(THStorage_newSharedFd(TH_FLOAT64, 0, (ptrdiff_t)1 << 60) == NULL, TH_ERR_NOMEM, "overflow");
    CHECK_FAILURE(THStorage_newShared(TH_INT8, "/no-such-memory", 1) == NULL, TH_ERR_IO, "/no-such-memory");
    CHECK_FAILURE(THStorage_newShared(TH_INT8, "/proc/self/exe", 1) == NULL, TH_ERR_IO, "/proc/self/exe");
    /* In qemu-user, this is a file in memory. */
    if (!under_emulator()) CHECK_FAILURE(THStorage_newShared(TH_INT8, "/proc/self/maps", 1) == NULL, TH_ERR_IO, "/proc/self/maps");
    CHECK_FAILURE(THStorage_newShared(TH_INT8, "", 1) == NULL, TH_ERR_IO, "cannot open");
}

/* Memory that another library made, as Python's multiprocessing.shared_memory does. */
static void names_of_shm_open_stay(void) {
    char name[64];
    snprintf(name, sizeof name, "/thorn-share-%ld", (long)getpid());
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 16) == 0);
    THStorage *s = THStorage_newShared(TH_FLOAT64, name, 2);
    CHECK_OK(THStorage_set(s, 1, 2.5));
    double second = 0;
    CHECK_EQ(pread(fd, &second, sizeof second, 8), 8);
    CHECK_NEAR(second, 2.5, 0);
    close(fd);
    THStorage_free(s);
    CHECK_EQ(shm_unlink(name), 0);
    CHECK_FAILURE(THStorage_newShared(TH_FLOAT64, name, 2) == NULL, TH_ERR_IO, "No such file");

    /* A mapping by name keeps the name. Without TH_ALLOCATOR_MAPPED_KEEPFD no descriptor is open. */
    s = THStorage_newWithMapping(TH_FLOAT64, name, 2, TH_ALLOCATOR_MAPPED_SHAREDMEM);
    CHECK_EQ(THStorage_isShared(s), 1);
    char *told = THStorage_sharedName(s);
    CHECK_STR(told, name);
    THFree(told);
    CHECK_FAILURE(THStorage_sharedFd(s) == -1, TH_ERR_UNSUPPORTED, "TH_ALLOCATOR_MAPPED_KEEPFD");
    THStorage_free(s);
}

static void a_file_larger_than_memory_is_read_in_pieces(void) {
    char path[] = "/tmp/thorn-sparse-XXXXXX";
    int fd = mkstemp(path);
    const int64_t n = (int64_t)16 << 30; /* 64 GiB of float32, of which the file system stores a few blocks */
    float ones[1000];
    for (int i = 0; i < 1000; i++) ones[i] = 1;
    if (ftruncate(fd, n * 4) != 0) {
        printf("(left out: no file of 64 GiB here) ");
    } else {
        CHECK_EQ(pwrite(fd, ones, sizeof ones, (n - 1000) * 4), sizeof ones);
        THStorage *s = THStorage_newWithMapping(TH_FLOAT32, path, 0, 0);
        if (!s && getenv("THORN_UNDER_VALGRIND")) {
            printf("(left out: valgrind has no such addresses) ");
        } else {
            CHECK_EQ(THStorage_size(s), n);
            THTensor *t = THTensor_newWithStorage(s, 0, -1, NULL, NULL), *piece = THTensor_newNarrow(t, 0, n - 5000, 5000);
            CHECK_EQ(THTensor_nElement(t), n);
            CHECK_NEAR(THTensor_sumall(piece), 1000, 0);
            THTensor_free(piece);
            THTensor_free(t);
            THStorage_free(s);
        }
    }
    close(fd);
    unlink(path);
}

CHECK_MAIN(CASE(a_tensor_moves_with_all_its_views), CASE(private_memory_is_not_seen_by_a_child),
           CASE(another_process_finds_the_memory_by_its_name), CASE(a_descriptor_stays_with_who_passed_it),
           CASE(memory_outlives_a_process_that_is_killed), CASE(shared_memory_keeps_its_size),
           CASE(memory_that_others_know_does_not_move), CASE(tensors_without_elements_can_be_shared),
           CASE(what_is_not_shared_has_neither_name_nor_descriptor),
           CASE(descriptors_and_names_of_other_things_are_refused), CASE(names_of_shm_open_stay),
           CASE(a_file_larger_than_memory_is_read_in_pieces))
