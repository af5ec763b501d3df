// A test harness for C++: write functions, check things in them, list them at the end.
//
//     static void sums_have_a_dimension() {
//         CHECK_VALUES(th::ones({2, 3}).sum(1), 3, 3);
//         CHECK_THROWS(th::ones({2}).sum(1), th::Status::ErrArgument, "sum: dimension 1");
//     }
//
//     CHECK_MAIN(CASE(sums_have_a_dimension))
//
// A failed check prints a message, and the case continues. Each case must end with as many live bytes as it began with.
// The program exits with 1 if any case failed. Its arguments name the cases to run.
#ifndef THORN_CHECK_HPP
#define THORN_CHECK_HPP

#include <thorn.hpp>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <string>

// The condition holds.
#define CHECK(condition) check::that(static_cast<bool>(condition), __FILE__, __LINE__, #condition)

// Two values are equal. Both can be printed.
#define CHECK_EQ(got, expected) check::equal(got, expected, __FILE__, __LINE__, #got)

// The elements of a tensor in row-major order, exactly.
#define CHECK_VALUES(t, ...) check::values(t, {__VA_ARGS__}, __FILE__, __LINE__, #t)

// The sizes of a tensor. A scalar has no sizes.
#define CHECK_SIZES(t, ...) check::that((t).sizes() == th::IntList{__VA_ARGS__}, __FILE__, __LINE__, "sizes of " #t)

// The expression throws th::Error with this code, and the message contains `text`.
#define CHECK_THROWS(expression, code, text)                                                                           \
    check::throws([&] { static_cast<void>(expression); }, code, text, __FILE__, __LINE__, #expression)

#define CASE(function) {#function, function}
#define CHECK_MAIN(...)                                                                                                \
    int main(int argc, char **argv) { return check::run({__VA_ARGS__}, argc, argv); }

namespace check {

struct Case {
    const char *name;
    void (*run)();
};

inline int failures = 0;

inline void fail(const char *file, int line, const std::string &what) {
    failures++;
    std::cout << "\n  " << file << ":" << line << ": " << what;
}

inline void that(bool holds, const char *file, int line, const char *what) {
    if (!holds) fail(file, line, std::string(what) + " does not hold");
}

template <class A, class B> void equal(const A &got, const B &expected, const char *file, int line, const char *what) {
    if (got == expected) return;
    fail(file, line, what);
    std::cout << " is " << got << ", not " << expected;
}

inline bool has(const th::Tensor &t, std::initializer_list<double> expected) {
    const th::Tensor copy = t.to(th::float64).contiguous();
    const auto all = copy.elements<double>();
    if (all.size() != expected.size()) return false;
    const double *got = all.begin();
    for (double value : expected)
        if (*got++ != value) return false;
    return true;
}

inline void values(const th::Tensor &t, std::initializer_list<double> expected, const char *file, int line,
                   const char *what) {
    if (has(t, expected)) return;
    fail(file, line, what);
    std::cout << " is " << t << ", not";
    for (double value : expected) std::cout << ' ' << value;
}

template <class F> void throws(F f, th::Status code, const char *text, const char *file, int line, const char *what) {
    try {
        f();
    } catch (const th::Error &error) {
        if (error.code() == code && std::strstr(error.what(), text)) return;
        fail(file, line, what);
        std::cout << " throws " << th::statusName(error.code()) << ", \"" << error.what() << "\"";
        return;
    }
    fail(file, line, std::string(what) + " throws nothing");
}

inline bool wanted(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (std::strcmp(argv[i], name) == 0) return true;
    return argc < 2;
}

inline int run(std::initializer_list<Case> cases, int argc, char **argv) {
    int failed = 0;
    for (const Case &one : cases) {
        if (!wanted(one.name, argc, argv)) continue;
        std::cout << one.name << " ..." << std::flush;
        const int before = failures;
        const int64_t live = th::memoryLiveBytes();
        try {
            one.run();
        } catch (const std::exception &error) {
            fail(__FILE__, __LINE__, std::string("thrown: ") + error.what());
        }
        if (th::memoryLiveBytes() != live) fail(__FILE__, __LINE__, "bytes are left behind");
        const bool good = failures == before;
        if (good)
            std::cout << " ok\n";
        else
            std::cout << '\n' << one.name << " FAILED\n";
        failed += !good;
    }
    return failed > 0;
}

} // namespace check

#endif
