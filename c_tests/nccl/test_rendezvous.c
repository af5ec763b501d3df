/* thorn_rendezvous.h with processes on 127.0.0.1: ranks that come late or never, peers that are no ranks, and a program that is no
 * rank 0. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "../check.h"
#include "thorn_rendezvous.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>

enum { COUNT = 128 };

/* Number `i` of the bytes of a rank. */
static unsigned char byte_of(int rank, int i) { return (unsigned char)(rank * 31 + i * 7); }

/* A port on which nothing listens. */
static int free_port(void) {
    struct sockaddr_in at = {0};
    socklen_t length = sizeof at;
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && getsockname(fd, (struct sockaddr *)&at, &length) == 0);
    close(fd);
    return ntohs(at.sin_port);
}

static void pause_for(double seconds) { poll(NULL, 0, (int)(1000 * seconds)); }

/* Runs a rank in a new process. The process exits with 0 if the call returns `expected`, with `text` in the message, or with the bytes of
 * rank 0. */
static pid_t start(THRendezvous where, size_t count, double delay, THStatus expected, const char *text) {
    const pid_t child = fork();
    if (child != 0) return child;
    unsigned char bytes[2 * COUNT];
    alarm(60);
    pause_for(delay);
    for (int i = 0; i < 2 * COUNT; i++) bytes[i] = byte_of(where.rank, i);
    THStatus status = TH_rendezvousBytes(bytes, count, &where);
    int right = status == expected && (status == TH_OK || strstr(THGetLastError(), text));
    for (int i = 0; i < 2 * COUNT && status == TH_OK; i++) right &= bytes[i] == byte_of(i < (int)count ? 0 : where.rank, i);
    if (!right) printf("rank %d: status %d: %s\n", where.rank, status, THGetLastError());
    fflush(stdout);
    _exit(right ? 0 : 1);
}

/* Waits for a process, and checks that it has succeeded. */
static void join(pid_t child) {
    int code = -1;
    CHECK(child > 0 && waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

static THRendezvous place(int port, int rank, int size, double timeout) {
    THRendezvous where = {"127.0.0.1", port, rank, size, timeout};
    return where;
}

static void all_ranks_get_the_bytes_of_rank_0(void) {
    pid_t child[8];
    for (int size = 1; size <= 8; size *= 2) {
        const int port = free_port();
        for (int rank = 0; rank < size; rank++) child[rank] = start(place(port, rank, size, 30), COUNT, 0, TH_OK, "");
        for (int rank = 0; rank < size; rank++) join(child[rank]);
    }
    /* Rank 0, and then another rank, is late. */
    for (int late = 0; late < 2; late++) {
        const int port = free_port();
        for (int rank = 0; rank < 3; rank++) child[rank] = start(place(port, rank, 3, 30), COUNT, rank == late ? 0.3 : 0, TH_OK, "");
        for (int rank = 0; rank < 3; rank++) join(child[rank]);
    }
    /* The port may be used again at once. */
    const int port = free_port();
    for (int again = 0; again < 3; again++) {
        for (int rank = 0; rank < 2; rank++) child[rank] = start(place(port, rank, 2, 30), COUNT, 0, TH_OK, "");
        for (int rank = 0; rank < 2; rank++) join(child[rank]);
    }
}

static void ranks_that_are_missing_are_named(void) {
    const int port = free_port();
    const double begun = th_rendezvous_now();
    pid_t first = start(place(port, 0, 4, 0.6), COUNT, 0, TH_ERR_IO, "for the ranks 1, 3 of 4");
    pid_t second = start(place(port, 2, 4, 30), COUNT, 0, TH_ERR_IO, "not all ranks have come");
    join(first);
    join(second);
    join(start(place(free_port(), 1, 2, 0.3), COUNT, 0, TH_ERR_IO, "rank 1 has tried for 0.3 s to reach rank 0 at 127.0.0.1"));
    CHECK(th_rendezvous_now() - begun < 20);
}

static void ranks_that_disagree_are_told(void) {
    const int port = free_port();
    pid_t child[3];
    child[0] = start(place(port, 0, 2, 30), COUNT, 0, TH_OK, "");
    join(start(place(port, 1, 3, 30), COUNT, 0, TH_ERR_ARGUMENT, "another number of ranks"));
    join(start(place(port, 1, 2, 30), COUNT - 1, 0, TH_ERR_ARGUMENT, "another number of bytes"));
    join(start(place(port, 1, 2, 30), COUNT, 0, TH_OK, ""));
    join(child[0]);
    /* Two processes with one rank. */
    const int other = free_port();
    child[0] = start(place(other, 0, 3, 30), COUNT, 0, TH_OK, "");
    child[1] = start(place(other, 1, 3, 30), COUNT, 0, TH_OK, "");
    pause_for(0.5);
    join(start(place(other, 1, 3, 30), COUNT, 0, TH_ERR_ARGUMENT, "a rank that is invalid or taken"));
    child[2] = start(place(other, 2, 3, 30), COUNT, 0, TH_OK, "");
    for (int rank = 0; rank < 3; rank++) join(child[rank]);
}

/* Connects to a port, and retries until rank 0 listens. */
static int connection_to(int port) {
    struct sockaddr_in at = {0};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)port);
    for (int i = 0; i < 200; i++) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
        close(fd);
        pause_for(0.05);
    }
    return -1;
}

/* Peers that send something else, parts of a greeting, too much, or nothing. */
static void peers_that_are_no_ranks_do_not_disturb(void) {
    const int port = free_port();
    unsigned char hello[4 * TH_RENDEZVOUS_BYTES];
    int fd[TH_RENDEZVOUS_SPARE + 40], count = 0;
    uint64_t random = 1;
    pid_t child[2];
    child[0] = start(place(port, 0, 2, 30), COUNT, 0, TH_OK, "");
    for (int i = 0; i < TH_RENDEZVOUS_SPARE + 30; i++) {
        fd[count] = connection_to(port);
        if (!CHECK(fd[count] >= 0)) break;
        size_t length = sizeof hello;
        for (size_t k = 0; k < sizeof hello; k++) hello[k] = (unsigned char)((random = random * 6364136223846793005u + 1) >> 33);
        const int way = i < 24 ? i % 8 : 0;
        /* 0: silence. 1: noise. 2: another magic number. 3: rank 0. 4: a rank of 64 bits. 5: another protocol. 6: half. 7: the end. */
        th_rendezvous_message(hello, way == 3 ? 0 : way == 4 ? UINT64_MAX : 1, 2, COUNT);
        if (way == 1) hello[3] ^= 255;
        if (way == 2) hello[7] ^= 1;
        if (way == 5) memcpy(hello, "GET / HTTP/1.1\r\nHost: a\r\n\r\n       ", TH_RENDEZVOUS_BYTES);
        if (way == 6 || way == 7) length = TH_RENDEZVOUS_BYTES / 2;
        if (way > 0) CHECK(send(fd[count], hello, length, MSG_NOSIGNAL) > 0);
        if (way == 7) close(fd[count]);
        else count++;
    }
    /* There are more silent peers than rank 0 has room for, until it drops them. */
    child[1] = start(place(port, 1, 2, 30), COUNT, 0, TH_OK, "");
    join(child[1]);
    join(child[0]);
    while (count > 0) close(fd[--count]);
}

/* A server that is no rank 0: silence, the end, noise, and answers with wrong numbers. */
static void a_program_that_is_no_rank_0_is_noticed(void) {
    static const struct {
        const char *text;
        THStatus status;
    } ways[] = {{"timed out", TH_ERR_IO},               {"rank 1 has ", TH_ERR_IO}, {"another program answers", TH_ERR_IO},
                {"another program answers", TH_ERR_IO}, {"another number of bytes", TH_ERR_IO}, {"the end came early", TH_ERR_IO}};
    for (int way = 0; way < 6; way++) {
        struct sockaddr_in at = {0};
        const int port = free_port(), one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = htons((uint16_t)port);
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        CHECK(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 8) == 0);
        pid_t child = start(place(port, 1, 2, way < 2 ? 0.5 : 30), COUNT, 0, ways[way].status, ways[way].text);
        const int fd = accept(listener, NULL, NULL);
        unsigned char hello[TH_RENDEZVOUS_BYTES], answer[TH_RENDEZVOUS_BYTES + COUNT / 2] = {0};
        if (way > 1) CHECK(recv(fd, hello, sizeof hello, MSG_WAITALL) == (ssize_t)sizeof hello);
        th_rendezvous_message(answer, way == 3 ? 77 : TH_RENDEZVOUS_OK, 2, way == 4 ? UINT64_MAX : COUNT);
        if (way == 2) answer[0] ^= 255;
        if (way > 1) CHECK(send(fd, answer, sizeof answer, MSG_NOSIGNAL) > 0);
        if (way > 0) close(fd);
        /* A connection that was closed at once is tried again. */
        if (way == 1) close(accept(listener, NULL, NULL));
        if (way == 1) pause_for(0.7);
        close(listener);
        join(child);
        if (way == 0) close(fd);
    }
}

static void arguments_are_checked(void) {
    char bytes[4] = {1, 2, 3, 4};
    THRendezvous where = place(29500, 0, 2, 1), bad = where;
    CHECK_ERROR(TH_rendezvousBytes(bytes, 4, NULL), TH_ERR_ARGUMENT, "missing");
    CHECK_ERROR(TH_rendezvousBytes(NULL, 4, &where), TH_ERR_ARGUMENT, "missing");
    CHECK_ERROR(TH_rendezvousBytes(bytes, 0, &where), TH_ERR_ARGUMENT, "0 bytes");
    CHECK_ERROR(TH_rendezvousBytes(bytes, (size_t)1 << 40, &where), TH_ERR_ARGUMENT, "bytes");
    bad.port = 70000;
    CHECK_ERROR(TH_rendezvousBytes(bytes, 4, &bad), TH_ERR_ARGUMENT, "the port is 70000");
    bad = place(29500, 2, 2, 1);
    CHECK_ERROR(TH_rendezvousBytes(bytes, 4, &bad), TH_ERR_ARGUMENT, "rank 2 of 2 ranks");
    bad = place(29500, 0, 2, NAN);
    CHECK_ERROR(TH_rendezvousBytes(bytes, 4, &bad), TH_ERR_ARGUMENT, "a timeout of nan s");
    bad = place(29500, 0, 2, 1);
    bad.host = "999.0.0.1";
    CHECK_ERROR(TH_rendezvousBytes(bytes, 4, &bad), TH_ERR_IO, "the host \"999.0.0.1\"");
    bad.host = "192.0.2.1";
    CHECK_ERROR(TH_rendezvousBytes(bytes, 4, &bad), TH_ERR_IO, "rank 0 cannot listen on 192.0.2.1:29500");
    where.size = 1;
    CHECK_OK(TH_rendezvousBytes(bytes, 4, &where));
    CHECK(bytes[0] == 1 && bytes[3] == 4);
}

static void the_environment_names_the_place(void) {
    THRendezvous where;
    unsetenv("MASTER_ADDR");
    CHECK_ERROR(TH_rendezvousFromEnvironment(&where, 5), TH_ERR_ARGUMENT, "MASTER_ADDR is missing");
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "29501", 1);
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "8", 1);
    CHECK_OK(TH_rendezvousFromEnvironment(&where, 5));
    CHECK(strcmp(where.host, "127.0.0.1") == 0 && where.port == 29501 && where.rank == 3 && where.size == 8 && where.timeout == 5);
    static const char *const wrong[] = {"", "three", "3x", "-1", "99999999999999999999"};
    for (int i = 0; i < 5; i++) {
        setenv("RANK", wrong[i], 1);
        CHECK_ERROR(TH_rendezvousFromEnvironment(&where, 5), TH_ERR_ARGUMENT, "the variable RANK");
    }
    CHECK_ERROR(TH_rendezvousFromEnvironment(NULL, 5), TH_ERR_ARGUMENT, "'where' is NULL");
}

CHECK_MAIN(CASE(all_ranks_get_the_bytes_of_rank_0), CASE(ranks_that_are_missing_are_named), CASE(ranks_that_disagree_are_told),
           CASE(peers_that_are_no_ranks_do_not_disturb), CASE(a_program_that_is_no_rank_0_is_noticed), CASE(arguments_are_checked),
           CASE(the_environment_names_the_place))
