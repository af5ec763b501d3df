/**
 * @file thorn_rendezvous.h
 * @brief Bytes that rank 0 sends to all ranks over TCP, for programs that start without MPI. Included by thorn_nccl.h.
 *
 *     THRendezvous where;
 *     ncclUniqueId id;
 *     TH_rendezvousFromEnvironment(&where, 60);                 // MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE
 *     if (where.rank == 0) ncclGetUniqueId(&id);
 *     TH_rendezvousBytes(&id, sizeof id, &where);               // all ranks have the id of rank 0
 *
 * A header-only interface for C99 and C++11 on systems with POSIX sockets, without NCCL and without MPI. A compiler in
 * strict C99 mode needs `_POSIX_C_SOURCE` 200112L or later; otherwise the functions are not declared.
 *
 * Rank 0 listens on the address and port until all other ranks have connected. Then it sends the bytes to all ranks, so
 * that either all ranks get the bytes, or ranks fail. Rank 0 refuses peers that are not ranks: a greeting has a magic
 * number, the rank, the number of ranks and the number of bytes, and all of them must be right. A peer that sends
 * anything else, sends nothing for five seconds, or names a rank that has connected already is disconnected, and
 * rank 0 continues to wait. A message never has more bytes than the ranks expect. All waits end at the timeout. The
 * system's resolver of host names has a separate timeout, which an address in numbers, such as 127.0.0.1, avoids.
 * Nothing is encrypted: use the functions in a trusted network.
 *
 * Errors: `TH_ERR_ARGUMENT`, an invalid port, rank, number of ranks, timeout or variable, or ranks that disagree about
 * the numbers; `TH_ERR_IO`, the timeout, and the message of rank 0 names the missing ranks; or the network fails, or
 * another program answers at the address.
 */

#ifndef THORN_RENDEZVOUS_H
#define THORN_RENDEZVOUS_H

#include "thorn.h"

#if defined __unix__ || defined __APPLE__
#include <unistd.h>
#endif

#if defined __APPLE__ || (defined _POSIX_C_SOURCE && _POSIX_C_SOURCE >= 200112L)

/// Defined if the functions are declared.
#define TH_RENDEZVOUS 1

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The address at which the ranks of a program meet, and this process among the ranks.
typedef struct THRendezvous {
    const char *host; ///< The name or address of rank 0, on which rank 0 listens.
    int port;         ///< The port, 1 to 65535.
    int rank;         ///< The rank of this process, 0 to `size` - 1.
    int size;         ///< The number of ranks, 1 to 65536.
    double timeout;   ///< The most seconds that a call waits.
} THRendezvous;

/* A greeting of a rank, and the answer of rank 0: a magic number, then three numbers of 8 bytes, the least significant
 * byte first. Greeting: rank, number of ranks, number of bytes. Answer: a verdict, 0, number of bytes. */
enum { TH_RENDEZVOUS_BYTES = 32, TH_RENDEZVOUS_SPARE = 64, TH_RENDEZVOUS_MOST = 1 << 20 };
enum { TH_RENDEZVOUS_OK, TH_RENDEZVOUS_SIZE, TH_RENDEZVOUS_COUNT, TH_RENDEZVOUS_RANK, TH_RENDEZVOUS_LATE };
static const char th_rendezvous_magic[9] = "thrdvz01";

/* A connection to rank 0. `rank` is -1 until the greeting is complete. */
typedef struct th_rendezvous_peer {
    int fd;
    int rank;
    size_t got;
    double since;
    unsigned char hello[TH_RENDEZVOUS_BYTES];
} th_rendezvous_peer;

/* A call: the arguments, the end of the time, and on rank 0 the connections. */
typedef struct th_rendezvous_call {
    const THRendezvous *at;
    double end;
    unsigned char *bytes;
    size_t count;
    int listener;
    int peers, ready, refused;
    th_rendezvous_peer *peer;
    struct pollfd *poll;
} th_rendezvous_call;

#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static inline THStatus th_rendezvous_fail(THStatus status, const char *format, ...) {
    char text[1024] = "TH_rendezvousBytes: ";
    const size_t length = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + length, sizeof text - length, format, values);
    va_end(values);
    return THSetLastError(status, text);
}

static inline double th_rendezvous_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The milliseconds until `end`, at most `most`. */
static inline int th_rendezvous_left(double end, int most) {
    const double left = 1000 * (end - th_rendezvous_now());
    return left <= 0 ? 0 : left > most ? most : (int)left + 1;
}

static inline void th_rendezvous_put(unsigned char *to, uint64_t number) {
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(number >> 8 * i & 255);
}

static inline uint64_t th_rendezvous_get(const unsigned char *from) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number |= (uint64_t)from[i] << 8 * i;
    return number;
}

static inline void th_rendezvous_message(unsigned char *to, uint64_t a, uint64_t b, uint64_t c) {
    memcpy(to, th_rendezvous_magic, 8);
    th_rendezvous_put(to + 8, a);
    th_rendezvous_put(to + 16, b);
    th_rendezvous_put(to + 24, c);
}

/* Makes a socket return from calls that would wait, and keeps it from programs that this one starts. */
static inline int th_rendezvous_prepare(int fd) {
#ifdef SO_NOSIGPIPE
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
    const int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : 0;
}

static inline int th_rendezvous_again(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/* Sends all bytes before `end`. Returns 0, or -1. */
static inline int th_rendezvous_send(int fd, const unsigned char *bytes, size_t count, double end) {
#ifdef MSG_NOSIGNAL
    const int flags = MSG_NOSIGNAL;
#else
    const int flags = 0;
#endif
    while (count > 0) {
        const ssize_t sent = send(fd, bytes, count, flags);
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
            continue;
        }
        if (sent < 0 && !th_rendezvous_again()) return -1;
        struct pollfd one = {fd, POLLOUT, 0};
        const int left = th_rendezvous_left(end, 1000);
        if (left == 0) return errno = ETIMEDOUT, -1;
        poll(&one, 1, left);
    }
    return 0;
}

/* Receives all bytes before `end`. Returns 0, or -1; errno is 0 if the peer has closed the connection. */
static inline int th_rendezvous_receive(int fd, unsigned char *bytes, size_t count, double end) {
    while (count > 0) {
        const ssize_t got = recv(fd, bytes, count, 0);
        if (got > 0) {
            bytes += got;
            count -= (size_t)got;
            continue;
        }
        if (got == 0) return errno = 0, -1;
        if (!th_rendezvous_again()) return -1;
        struct pollfd one = {fd, POLLIN, 0};
        const int left = th_rendezvous_left(end, 1000);
        if (left == 0) return errno = ETIMEDOUT, -1;
        poll(&one, 1, left);
    }
    return 0;
}

/* Stores the addresses of the host in `*found`, which freeaddrinfo frees. */
static inline THStatus th_rendezvous_resolve(struct addrinfo **found, const THRendezvous *at) {
    struct addrinfo hints;
    char port[16];
    memset(&hints, 0, sizeof hints);
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    snprintf(port, sizeof port, "%d", at->port);
    const int code = getaddrinfo(at->host, port, &hints, found);
    return code == 0 ? TH_OK : th_rendezvous_fail(TH_ERR_IO, "the host \"%.200s\": %s", at->host, gai_strerror(code));
}

/* -------------------------------------------------------------------------------------------------------- rank 0 */

/* Listens on the first address of the host that this machine has. */
static inline THStatus th_rendezvous_listen(th_rendezvous_call *call) {
    struct addrinfo *found = NULL;
    int error = 0, one = 1;
    THStatus status = th_rendezvous_resolve(&found, call->at);
    if (status != TH_OK) return status;
    for (const struct addrinfo *a = found; a && call->listener < 0; a = a->ai_next) {
        const int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (fd >= 0 && th_rendezvous_prepare(fd) == 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 128) == 0) {
            call->listener = fd;
        } else {
            error = errno;
            if (fd >= 0) close(fd);
        }
    }
    freeaddrinfo(found);
    if (call->listener >= 0) return TH_OK;
    return th_rendezvous_fail(TH_ERR_IO, "rank 0 cannot listen on %.200s:%d: %s", call->at->host, call->at->port, strerror(error));
}

/* Closes connection number `i`. The last connection takes its place. */
static inline void th_rendezvous_drop(th_rendezvous_call *call, int i) {
    if (call->peer[i].rank >= 0) call->ready--;
    else call->refused++;
    close(call->peer[i].fd);
    call->peer[i] = call->peer[--call->peers];
}

/* Returns the verdict on a complete greeting; -1 if the peer is no rank. */
static inline int th_rendezvous_judge(const th_rendezvous_call *call, const unsigned char *hello) {
    const uint64_t rank = th_rendezvous_get(hello + 8);
    if (memcmp(hello, th_rendezvous_magic, 8) != 0) return -1;
    if (th_rendezvous_get(hello + 16) != (uint64_t)call->at->size) return TH_RENDEZVOUS_SIZE;
    if (th_rendezvous_get(hello + 24) != call->count) return TH_RENDEZVOUS_COUNT;
    if (rank == 0 || rank >= (uint64_t)call->at->size) return TH_RENDEZVOUS_RANK;
    for (int i = 0; i < call->peers; i++) {
        if (call->peer[i].rank == (int)rank) return TH_RENDEZVOUS_RANK;
    }
    return TH_RENDEZVOUS_OK;
}

/* Reads from connection number `i`. Returns 0 if the connection is to be closed. */
static inline int th_rendezvous_read(th_rendezvous_call *call, int i) {
    th_rendezvous_peer *peer = &call->peer[i];
    unsigned char more[1];
    const int known = peer->rank >= 0;
    const ssize_t got = known ? recv(peer->fd, more, 1, 0) : recv(peer->fd, peer->hello + peer->got, TH_RENDEZVOUS_BYTES - peer->got, 0);
    if (got < 0) return th_rendezvous_again();
    /* A rank sends nothing after its greeting. */
    if (got == 0 || known) return 0;
    peer->got += (size_t)got;
    if (peer->got < TH_RENDEZVOUS_BYTES) return 1;
    const int verdict = th_rendezvous_judge(call, peer->hello);
    if (verdict == TH_RENDEZVOUS_OK) {
        peer->rank = (int)th_rendezvous_get(peer->hello + 8);
        call->ready++;
        return 1;
    }
    if (verdict > 0) {
        unsigned char answer[TH_RENDEZVOUS_BYTES];
        th_rendezvous_message(answer, (uint64_t)verdict, (uint64_t)call->at->size, call->count);
        (void)th_rendezvous_send(peer->fd, answer, sizeof answer, th_rendezvous_now());
    }
    return 0;
}

/* Accepts connections, as many as there is room for. */
static inline void th_rendezvous_accept(th_rendezvous_call *call) {
    while (call->peers < call->at->size + TH_RENDEZVOUS_SPARE) {
        const int fd = accept(call->listener, NULL, NULL);
        if (fd < 0) return;
        if (th_rendezvous_prepare(fd) != 0) {
            close(fd);
            continue;
        }
        th_rendezvous_peer *peer = &call->peer[call->peers++];
        memset(peer, 0, sizeof *peer);
        peer->fd = fd;
        peer->rank = -1;
        peer->since = th_rendezvous_now();
    }
}

/* Writes the ranks that have not connected, as in `1, 3`. */
static inline void th_rendezvous_missing(const th_rendezvous_call *call, char *text, size_t room) {
    size_t at = 0;
    text[0] = '\0';
    for (int rank = 1; rank < call->at->size; rank++) {
        int there = 0;
        for (int i = 0; i < call->peers; i++) there |= call->peer[i].rank == rank;
        if (there) continue;
        if (at + 16 > room) {
            snprintf(text + at, room - at, ", ...");
            return;
        }
        at += (size_t)snprintf(text + at, room - at, "%s%d", at ? ", " : "", rank);
    }
}

/* Waits until all ranks have connected. */
static inline THStatus th_rendezvous_gather(th_rendezvous_call *call) {
    while (call->ready < call->at->size - 1) {
        const int room = call->peers < call->at->size + TH_RENDEZVOUS_SPARE, left = th_rendezvous_left(call->end, 200);
        if (left == 0) {
            char missing[400];
            th_rendezvous_missing(call, missing, sizeof missing);
            return th_rendezvous_fail(TH_ERR_IO, "rank 0 has waited %g s on %.100s:%d for the ranks %s of %d; %d connections were refused",
                                      call->at->timeout, call->at->host, call->at->port, missing, call->at->size, call->refused);
        }
        call->poll[0].fd = room ? call->listener : -1;
        call->poll[0].events = POLLIN;
        for (int i = 0; i < call->peers; i++) {
            call->poll[i + 1].fd = call->peer[i].fd;
            call->poll[i + 1].events = POLLIN;
            call->poll[i + 1].revents = 0;
        }
        if (poll(call->poll, (nfds_t)(call->peers + 1), left) < 0 && !th_rendezvous_again()) {
            return th_rendezvous_fail(TH_ERR_IO, "poll: %s", strerror(errno));
        }
        /* From the last connection to the first, because a dropped one is replaced by the last one. */
        for (int i = call->peers - 1; i >= 0; i--) {
            const int slow = call->peer[i].rank < 0 && th_rendezvous_now() - call->peer[i].since > 5;
            if (slow || (call->poll[i + 1].revents && !th_rendezvous_read(call, i))) th_rendezvous_drop(call, i);
        }
        if (room) th_rendezvous_accept(call);
    }
    return TH_OK;
}

/* Rank 0: gathers the ranks, and sends them the bytes, or that it has failed. */
static inline THStatus th_rendezvous_serve(th_rendezvous_call *call) {
    const size_t room = (size_t)call->at->size + TH_RENDEZVOUS_SPARE + 1;
    unsigned char answer[TH_RENDEZVOUS_BYTES];
    call->peer = (th_rendezvous_peer *)calloc(room, sizeof *call->peer);
    call->poll = (struct pollfd *)calloc(room, sizeof *call->poll);
    THStatus status = call->peer && call->poll ? TH_OK : th_rendezvous_fail(TH_ERR_NOMEM, "out of memory");
    if (status == TH_OK) status = th_rendezvous_listen(call);
    if (status == TH_OK) status = th_rendezvous_gather(call);
    const int good = status == TH_OK;
    th_rendezvous_message(answer, good ? TH_RENDEZVOUS_OK : TH_RENDEZVOUS_LATE, (uint64_t)call->at->size, call->count);
    for (int i = 0; i < call->peers; i++) {
        const th_rendezvous_peer *peer = &call->peer[i];
        const double end = good ? call->end : th_rendezvous_now();
        int sent = peer->rank >= 0 ? th_rendezvous_send(peer->fd, answer, sizeof answer, end) : 0;
        if (peer->rank >= 0 && good && sent == 0) sent = th_rendezvous_send(peer->fd, call->bytes, call->count, end);
        if (sent != 0 && status == TH_OK) {
            status = th_rendezvous_fail(TH_ERR_IO, "rank 0 cannot send to rank %d: %s", peer->rank, strerror(errno));
        }
        close(peer->fd);
    }
    if (call->listener >= 0) close(call->listener);
    free(call->peer);
    free(call->poll);
    return status;
}

/* --------------------------------------------------------------------------------------------------- other ranks */

/* Connects to an address before the end of the time. Returns the socket; -1 on error. */
static inline int th_rendezvous_connect(const struct addrinfo *a, double end) {
    const int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    int error = 0;
    socklen_t length = sizeof error;
    if (fd < 0) return -1;
    if (th_rendezvous_prepare(fd) == 0) {
        if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) return fd;
        error = errno;
        if (error == EINPROGRESS || error == EINTR) {
            struct pollfd one = {fd, POLLOUT, 0};
            error = ETIMEDOUT;
            while (th_rendezvous_left(end, 1000) > 0) {
                if (poll(&one, 1, th_rendezvous_left(end, 1000)) <= 0) continue;
                if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
                break;
            }
            if (error == 0) return fd;
        }
    }
    close(fd);
    errno = error;
    return -1;
}

/* Exchanges greeting and answer on a connection. Stores 1 in `*again` if the connection ended before the answer. */
static inline THStatus th_rendezvous_talk(th_rendezvous_call *call, int fd, int *again) {
    static const char *const verdicts[] = {"", "another number of ranks", "another number of bytes", "a rank that is invalid or taken",
                                           "that not all ranks have come"};
    unsigned char hello[TH_RENDEZVOUS_BYTES], answer[TH_RENDEZVOUS_BYTES];
    const THRendezvous *at = call->at;
    th_rendezvous_message(hello, (uint64_t)at->rank, (uint64_t)at->size, call->count);
    if (th_rendezvous_send(fd, hello, sizeof hello, call->end) != 0 || th_rendezvous_receive(fd, answer, sizeof answer, call->end) != 0) {
        *again = errno == 0 || errno == ECONNRESET || errno == EPIPE;
        return th_rendezvous_fail(TH_ERR_IO, "rank %d has no answer from %.200s:%d: %s", at->rank, at->host, at->port,
                                  errno ? strerror(errno) : "the connection was closed");
    }
    const uint64_t verdict = th_rendezvous_get(answer + 8);
    if (memcmp(answer, th_rendezvous_magic, 8) != 0 || verdict > TH_RENDEZVOUS_LATE) {
        return th_rendezvous_fail(TH_ERR_IO, "another program answers at %.200s:%d", at->host, at->port);
    }
    if (verdict != TH_RENDEZVOUS_OK) {
        return th_rendezvous_fail(verdict == TH_RENDEZVOUS_LATE ? TH_ERR_IO : TH_ERR_ARGUMENT,
                                  "rank 0 refuses rank %d of %d with %zu bytes: it reports %s", at->rank, at->size, call->count,
                                  verdicts[verdict]);
    }
    if (th_rendezvous_get(answer + 24) != call->count) return th_rendezvous_fail(TH_ERR_IO, "rank 0 announces another number of bytes");
    if (th_rendezvous_receive(fd, call->bytes, call->count, call->end) == 0) return TH_OK;
    return th_rendezvous_fail(TH_ERR_IO, "rank %d has not received all bytes: %s", at->rank,
                              errno ? strerror(errno) : "the end came early");
}

/* Another rank: connects to rank 0, as often as rank 0 does not listen yet, and receives the bytes. */
static inline THStatus th_rendezvous_join(th_rendezvous_call *call) {
    struct addrinfo *found = NULL;
    THStatus status = th_rendezvous_resolve(&found, call->at);
    if (status != TH_OK) return status;
    for (int again = 1; again;) {
        again = 0;
        for (const struct addrinfo *a = found; a && !again; a = a->ai_next) {
            const int fd = th_rendezvous_connect(a, call->end);
            const int error = errno;
            if (fd >= 0) {
                status = th_rendezvous_talk(call, fd, &again);
                close(fd);
                break;
            }
            again = !a->ai_next;
            status = th_rendezvous_fail(TH_ERR_IO, "rank %d has tried for %g s to reach rank 0 at %.200s:%d: %s", call->at->rank,
                                        call->at->timeout, call->at->host, call->at->port, strerror(error));
        }
        if (again && th_rendezvous_left(call->end, 1) == 0) again = 0;
        if (again) poll(NULL, 0, th_rendezvous_left(call->end, 50));
    }
    freeaddrinfo(found);
    return status;
}

/* ------------------------------------------------------------------------------------------------------ functions */

/// Copies the `count` bytes at `bytes` of rank 0 to `bytes` on all ranks. All ranks call this with the same host, port,
/// number of ranks and number of bytes, at most 1 MiB, and wait for each other. With one rank the function does nothing.
/// On error the bytes of the other ranks are undefined.
static inline THStatus TH_rendezvousBytes(void *bytes, size_t count, const THRendezvous *where) {
    th_rendezvous_call call;
    if (!where || !where->host || !*where->host || !bytes) return th_rendezvous_fail(TH_ERR_ARGUMENT, "an argument or the host is missing");
    if (where->port < 1 || where->port > 65535) return th_rendezvous_fail(TH_ERR_ARGUMENT, "the port is %d", where->port);
    if (where->size < 1 || where->size > 65536 || where->rank < 0 || where->rank >= where->size) {
        return th_rendezvous_fail(TH_ERR_ARGUMENT, "rank %d of %d ranks", where->rank, where->size);
    }
    if (!(where->timeout > 0) || where->timeout > 1e9) return th_rendezvous_fail(TH_ERR_ARGUMENT, "a timeout of %g s", where->timeout);
    if (count < 1 || count > TH_RENDEZVOUS_MOST) return th_rendezvous_fail(TH_ERR_ARGUMENT, "%zu bytes", count);
    if (where->size == 1) return TH_OK;
    memset(&call, 0, sizeof call);
    call.at = where;
    call.end = th_rendezvous_now() + where->timeout;
    call.bytes = (unsigned char *)bytes;
    call.count = count;
    call.listener = -1;
    return where->rank == 0 ? th_rendezvous_serve(&call) : th_rendezvous_join(&call);
}

/* Stores the number in an environment variable. */
static inline THStatus th_rendezvous_variable(int *number, const char *name) {
    const char *text = getenv(name);
    char *end = NULL, message[256];
    const long value = text ? strtol(text, &end, 10) : 0;
    if (text && end > text && !*end && value >= 0 && value <= 1000000) return *number = (int)value, TH_OK;
    snprintf(message, sizeof message, "TH_rendezvousFromEnvironment: the variable %s is \"%.100s\", not a number", name, text ? text : "");
    return THSetLastError(TH_ERR_ARGUMENT, message);
}

/// Fills `where` from the environment variables that launchers such as torchrun set: MASTER_ADDR, MASTER_PORT, RANK and
/// WORLD_SIZE. `where->host` is the text of getenv, which setenv may change.
static inline THStatus TH_rendezvousFromEnvironment(THRendezvous *where, double timeout) {
    if (!where) return THSetLastError(TH_ERR_ARGUMENT, "TH_rendezvousFromEnvironment: argument 'where' is NULL");
    memset(where, 0, sizeof *where);
    where->timeout = timeout;
    where->host = getenv("MASTER_ADDR");
    if (!where->host || !*where->host) {
        return THSetLastError(TH_ERR_ARGUMENT, "TH_rendezvousFromEnvironment: the variable MASTER_ADDR is missing");
    }
    THStatus status = th_rendezvous_variable(&where->port, "MASTER_PORT");
    if (status == TH_OK) status = th_rendezvous_variable(&where->rank, "RANK");
    return status == TH_OK ? th_rendezvous_variable(&where->size, "WORLD_SIZE") : status;
}

#ifdef __cplusplus
}
#endif

#endif

#endif
