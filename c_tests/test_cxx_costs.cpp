// thorn.hpp: a call makes as many memory blocks as its C call, and the C++ code makes none.

#include "cxx/check.hpp"

#include <cstdlib>
#include <new>

using th::Tensor;

static long news = 0;

void *operator new(std::size_t size) {
    news++;
    if (void *block = std::malloc(size)) return block;
    throw std::bad_alloc();
}
void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, std::size_t) noexcept { std::free(block); }

// The number of blocks that the library makes while `f` runs. Fails if the C++ code makes a block.
template <class F> static int64_t blocks(F f) {
    // The first call makes the blocks that are made only once.
    f();
    const int64_t before = th::memoryStats().allocations;
    const long news_before = news;
    f();
    CHECK_EQ(news, news_before);
    return th::memoryStats().allocations - before;
}

static void values_cost_what_c_costs() {
    Tensor a = th::ones({2, 3}), b = th::ones({2, 3}), r = th::zeros({2, 3});
    THTensor *c_a = a.get(), *c_b = b.get(), *c_r = r.get();
    CHECK_EQ(blocks([&] { Tensor t = a + b; }), blocks([&] {
                 THTensor *t = THTensor_new();
                 CHECK(THTensor_cadd(t, c_a, 1, c_b) == TH_OK);
                 THTensor_free(t);
             }));
    CHECK_EQ(blocks([&] { th::add_out(r, a, b); }), blocks([&] { CHECK(THTensor_cadd(c_r, c_a, 1, c_b) == TH_OK); }));
    CHECK_EQ(blocks([&] { a += b; }), blocks([&] { CHECK(THTensor_cadd(c_a, c_a, 1, c_b) == TH_OK); }));
    CHECK_EQ(blocks([&] { CHECK(a.sumall() > 0); }), blocks([&] { CHECK(THTensor_sumall(c_a) > 0); }));
    CHECK_EQ(blocks([&] { CHECK(a.at<float>(1, 2) > 0); }), 0);
    CHECK_EQ(blocks([&] { Tensor copy = a, moved = std::move(copy); }), 0);
}

static void lists_and_views_cost_what_c_costs() {
    Tensor a = th::ones({2, 3});
    THTensor *c_a = a.get();
    CHECK_EQ(blocks([&] { Tensor t = a.view({3, 2}); }), blocks([&] {
                 const int64_t size[] = {3, 2};
                 THTensor_free(THTensor_newView(c_a, 2, size));
             }));
    CHECK_EQ(blocks([&] { Tensor t = th::cat({a, a}, 1); }), blocks([&] {
                 THTensor *t = THTensor_new(), *list[] = {c_a, c_a};
                 CHECK(THTensor_catArray(t, list, 2, 1) == TH_OK);
                 THTensor_free(t);
             }));
    // One view is made for any number of indices.
    const int64_t one = blocks([&] { THTensor_free(THTensor_newWithTensor(c_a)); });
    CHECK(one > 0);
    CHECK_EQ(blocks([&] { Tensor t = a(1, th::slice(0, 2), th::newaxis); }), one);
    CHECK_EQ(blocks([&] { Tensor t = a[{1, 2}]; }), one);
}

CHECK_MAIN(CASE(values_cost_what_c_costs), CASE(lists_and_views_cost_what_c_costs))
