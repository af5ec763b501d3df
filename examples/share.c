/*
 * Two processes send each other tensors without copying an element: one sends matrices, the other multiplies them.
 *
 *     cc -std=c99 -O2 -Iinclude examples/share.c -Ltarget/release -lthorn -lm -o share
 *     LD_LIBRARY_PATH=target/release ./share
 *
 * A tensor is sent as its dtype, sizes, strides and offset, together with the descriptor of its storage, which a socket
 * passes from process to process (SCM_RIGHTS). The memory is freed with the last process that uses it.
 */
#define _GNU_SOURCE

#include "try.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// macOS cannot set this property of a descriptor at once.
#ifndef MSG_CMSG_CLOEXEC
#define MSG_CMSG_CLOEXEC 0
#endif

enum { MOST_DIMS = 4 };

// The message for a tensor, without the elements.
struct note {
    int32_t dtype, ndim;
    int64_t size[MOST_DIMS], stride[MOST_DIMS];
    int64_t offset, storage_size;
};

// Room for one descriptor in a message, aligned as its header.
union room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message_of(struct iovec *data, union room *room) {
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = data;
    message.msg_iovlen = 1;
    message.msg_control = room->bytes;
    message.msg_controllen = sizeof room->bytes;
    return message;
}

// Moves the elements of t to shared memory, unless they are already there, and sends t.
static bool send_tensor(int socket, THTensor *t) {
    struct note note;
    memset(&note, 0, sizeof note);
    if (t->nDimension > MOST_DIMS || THTensor_shareMemory(t) != TH_OK) return false;
    note.dtype = THTensor_dtype(t);
    note.ndim = t->nDimension;
    memcpy(note.size, t->size, (size_t)t->nDimension * sizeof *t->size);
    memcpy(note.stride, t->stride, (size_t)t->nDimension * sizeof *t->stride);
    note.offset = t->storageOffset;
    note.storage_size = t->storage->size;

    union room room;
    struct iovec data = {&note, sizeof note};
    struct msghdr message = message_of(&data, &room);
    int fd = THStorage_sharedFd(t->storage);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &message, 0) == (ssize_t)sizeof note;
}

// Returns a new reference to the next tensor that arrives; NULL when the other process has ended.
static THTensor *receive_tensor(int socket) {
    struct note note;
    union room room;
    struct iovec data = {&note, sizeof note};
    struct msghdr message = message_of(&data, &room);
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL) != (ssize_t)sizeof note) return NULL;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_type != SCM_RIGHTS || note.ndim < 0 || note.ndim > MOST_DIMS) return NULL;
    int fd;
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
    THStorage *storage = THStorage_newSharedFd(note.dtype, fd, (ptrdiff_t)note.storage_size);
    close(fd);
    if (!storage) return NULL;
    THTensor *t = THTensor_newWithStorage(storage, (ptrdiff_t)note.offset, note.ndim, note.size, note.stride);
    THStorage_free(storage);
    return t;
}

// Receives pairs of matrices, and sends their products back. Marks each first matrix as done.
static bool work(int socket) {
    bool fine = true;
    THTensor *a = NULL, *b = NULL;
    while (fine && (a = receive_tensor(socket)) && (b = receive_tensor(socket))) {
        THTensor *r = THTensor_new();
        fine = THTensor_mm(r, a, b) == TH_OK && send_tensor(socket, r) && THTensor_fill(a, -1) == TH_OK;
        THTensor_free(r);
        THTensor_free(a);
        THTensor_free(b);
        a = b = NULL;
        // The other process waits for this before it reads the first matrix.
        fine = fine && write(socket, "d", 1) == 1;
    }
    THTensor_free(a);
    return fine;
}

static bool hand_out(int socket) {
    char done;
    bool fine = false;
    THTensor *a = THTensor_newArange(TH_FLOAT32, 0, 6, 1), *b = THTensor_newEye(TH_FLOAT32, 3, 3), *r = NULL;
    if (THTensor_resize2d(a, 2, 3) != TH_OK || THTensor_mul(b, b, 10) != TH_OK) goto end;
    printf("process %ld sends two matrices\n", (long)getpid());
    if (!send_tensor(socket, a) || !send_tensor(socket, b) || !(r = receive_tensor(socket))) goto end;
    if (read(socket, &done, 1) != 1) goto end;
    printf("their product, in memory that the other process has made:\n");
    THTensor_print(r);
    printf("and the first matrix, which that process has overwritten:\n");
    THTensor_print(a);
    fine = THTensor_sumall(r) == 150 && THTensor_sumall(a) == -6;
end:
    if (!fine) fprintf(stderr, "share: %s\n", THGetLastError());
    THTensor_free(a);
    THTensor_free(b);
    THTensor_free(r);
    return fine;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "worker") == 0) return work(atoi(argv[2])) ? 0 : 1;

    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    fflush(stdout);
    pid_t worker = fork();
    if (worker == 0) {
        // A new program, which has nothing of this one's memory.
        char fd[16];
        snprintf(fd, sizeof fd, "%d", ends[1]);
        close(ends[0]);
        execl("/proc/self/exe", argv[0], "worker", fd, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    bool fine = worker > 0 && hand_out(ends[0]);
    close(ends[0]);
    int status = 1;
    if (worker > 0) waitpid(worker, &status, 0);
    printf("process %ld has ended with %d\n", (long)worker, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return fine && status == 0 ? 0 : 1;
}
