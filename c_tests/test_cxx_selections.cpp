// thorn.hpp: masks and tensors of positions as indices, to read and as targets of assignments. The expected values are NumPy's.

#include "cxx/check.hpp"

using th::all;
using th::ellipsis;
using th::newaxis;
using th::slice;
using th::Tensor;

// [[0, 1, 2], [3, 4, 5]]
static Tensor matrix() { return th::arange(6).view({2, 3}); }

static void selections_are_read() {
    const Tensor t = matrix(), index = th::tensor({1, 0, 1});
    const Tensor big = t(t > 3), rows = t(index);
    CHECK_VALUES(big, 4, 5);
    CHECK_VALUES(rows, 3, 4, 5, 0, 1, 2, 3, 4, 5);
    CHECK_VALUES(t(t > 3) + 1, 5, 6);
    CHECK_VALUES(1 - t(t > 3), -3, -4);
    CHECK_VALUES(-t(t > 3), -4, -5);
    CHECK_VALUES(!t(t > 3), 0, 0);
    CHECK_VALUES(~t(t > 3), -5, -6);
    CHECK_VALUES(t(t > 3) == t[t > 3], 1, 1);
    CHECK_VALUES(th::sort(t(t > 3), 0, true).values, 5, 4);
    CHECK_EQ(t(t > 3).sum().item<int>(), 9);
    CHECK_EQ(t(t > 3).max().item<int>(), 5);
    CHECK_EQ(t(t == 4).item<int>(), 4);
    CHECK_EQ(t(t > 3).numel(), 2);
    CHECK_VALUES(t(index)[0], 3, 4, 5);
    CHECK_VALUES(t(index)(0, slice(1, 3)), 4, 5);
    // The positions of one selection may be another one.
    CHECK_VALUES(th::arange(10, 20)(t(t > 3)), 14, 15);
    CHECK_VALUES(th::arange(10, 20)[t[t > 3]], 14, 15);
    // The elements are copied when the selection is read.
    Tensor u = matrix();
    Tensor copy = u(u > 3);
    u.fill_(0);
    CHECK_VALUES(copy, 4, 5);
}

static void masks_are_targets() {
    Tensor t = matrix();
    t(t > 3) = 0;
    CHECK_VALUES(t, 0, 1, 2, 3, 0, 0);
    t[t == 0] = -1;
    CHECK_VALUES(t, -1, 1, 2, 3, -1, -1);
    t(t < 0) = th::tensor({7, 8, 9});
    CHECK_VALUES(t, 7, 1, 2, 3, 8, 9);
    t(t > 6) += 10;
    CHECK_VALUES(t, 17, 1, 2, 3, 18, 19);
    t(t > 6) -= th::tensor({17, 18, 19});
    CHECK_VALUES(t, 0, 1, 2, 3, 0, 0);
    t(t == 0) = t(t > 0);
    CHECK_VALUES(t, 1, 1, 2, 3, 2, 3);
    // A mask of the first dimension selects rows.
    const Tensor second = th::tensor({false, true});
    t(second) = 5;
    CHECK_VALUES(t, 1, 1, 2, 5, 5, 5);
    t(second) = th::tensor({6, 7, 8});
    CHECK_VALUES(t, 1, 1, 2, 6, 7, 8);
    t(all, th::tensor({true, false, true})) = 0;
    CHECK_VALUES(t, 0, 1, 0, 0, 7, 0);
    t(t > 100) = 3;
    CHECK_VALUES(t, 0, 1, 0, 0, 7, 0);
    CHECK_VALUES(t(t > 100), );
    // uint8 is a mask, too.
    t((t > 0).to(th::uint8)) = 2;
    CHECK_VALUES(t, 0, 2, 0, 0, 2, 0);
    CHECK_THROWS(t(t > 0) = th::tensor({1, 2, 3}), th::Status::ErrShape, "indexPut_: ");
    CHECK_THROWS(t(th::tensor({true, false, true})) = 1, th::Status::ErrShape, "indexPut_: ");
    CHECK_VALUES(t, 0, 2, 0, 0, 2, 0);
}

static void positions_are_targets() {
    Tensor t = th::zeros({3, 4}, th::int64);
    const Tensor i = th::tensor({0, 2}), j = th::tensor({1, 3});
    t(i) = 5;
    CHECK_VALUES(t, 5, 5, 5, 5, 0, 0, 0, 0, 5, 5, 5, 5);
    t(i, j) = 1;
    CHECK_VALUES(t, 5, 1, 5, 5, 0, 0, 0, 0, 5, 5, 5, 1);
    t(all, j) += 1;
    CHECK_VALUES(t, 5, 2, 5, 6, 0, 1, 0, 1, 5, 6, 5, 2);
    t(i, j) = th::tensor({7, 8});
    CHECK_VALUES(t, 5, 7, 5, 6, 0, 1, 0, 1, 5, 6, 5, 8);
    t(1, j) = 9;
    CHECK_VALUES(t, 5, 7, 5, 6, 0, 9, 0, 9, 5, 6, 5, 8);
    t(slice(0, 2), th::tensor({0, 2})) *= 2;
    CHECK_VALUES(t, 10, 7, 10, 6, 0, 9, 0, 9, 5, 6, 5, 8);
    t(th::tensor({-1})) = t(th::tensor({0}));
    CHECK_VALUES(t, 10, 7, 10, 6, 0, 9, 0, 9, 10, 7, 10, 6);
    t(ellipsis, i) = 0;
    CHECK_VALUES(t, 0, 7, 0, 6, 0, 9, 0, 9, 0, 7, 0, 6);
    // A column of positions and a row of positions make a grid.
    t(th::tensor({{0}, {2}}), th::tensor({{1, 3}})) = th::tensor({{1, 2}, {3, 4}});
    CHECK_VALUES(t, 0, 1, 0, 2, 0, 9, 0, 9, 0, 3, 0, 4);
    // A position that occurs twice is changed once by +=, and twice by indexPut_.
    Tensor count = th::zeros({3}, th::int64);
    count(th::tensor({1, 1, 2})) += 1;
    CHECK_VALUES(count, 0, 1, 1);
    count.indexPut_({th::tensor({1, 1, 2})}, th::tensor(1), true);
    CHECK_VALUES(count, 0, 3, 2);
    CHECK_THROWS(t(th::tensor({3})) = 0, th::Status::ErrArgument, "indexPut_: ");
    CHECK_THROWS(t(i, i, i) = 0, th::Status::ErrArgument, "operator(): 3 indices for a tensor with 2 dimensions");
    // An undefined index does not mean all elements.
    CHECK_THROWS(t(Tensor()) = 0, th::Status::ErrArgument, "operator(): an index is an undefined th::Tensor");
    CHECK_THROWS(t[Tensor()].sum(), th::Status::ErrArgument, "operator(): an index is an undefined th::Tensor");
    CHECK_VALUES(t(1), 0, 9, 0, 9);
    CHECK_THROWS(Tensor()(i) = 0, th::Status::ErrArgument, "an undefined th::Tensor is NULL");
}

static void every_operator_assigns() {
    const Tensor i = th::tensor({0, 2});
    const auto after = [&](auto change) {
        Tensor t = th::tensor({12, 7, 10});
        change(t);
        CHECK_EQ(t[1].item<int>(), 7);
        return Tensor(t(i));
    };
    const Tensor b = th::tensor({3, 4});
    CHECK_VALUES(after([&](Tensor &t) { t(i) += b; }), 15, 14);
    CHECK_VALUES(after([&](Tensor &t) { t(i) -= b; }), 9, 6);
    CHECK_VALUES(after([&](Tensor &t) { t(i) *= b; }), 36, 40);
    CHECK_VALUES(after([&](Tensor &t) { t(i) %= b; }), 0, 2);
    CHECK_VALUES(after([&](Tensor &t) { t(i) &= b; }), 0, 0);
    CHECK_VALUES(after([&](Tensor &t) { t(i) |= b; }), 15, 14);
    CHECK_VALUES(after([&](Tensor &t) { t(i) ^= b; }), 15, 14);
    CHECK_VALUES(after([&](Tensor &t) { t(i) -= 1; }), 11, 9);
    CHECK_VALUES(after([&](Tensor &t) { t(i) *= 2; }), 24, 20);
    CHECK_VALUES(after([&](Tensor &t) { t(i) %= 7; }), 5, 3);
    CHECK_VALUES(after([&](Tensor &t) { t(i) &= 8; }), 8, 8);
    CHECK_VALUES(after([&](Tensor &t) { t(i) |= 1; }), 13, 11);
    CHECK_VALUES(after([&](Tensor &t) { t(i) ^= 2; }), 14, 8);
    // The dtype of the tensor stays.
    Tensor f = th::tensor({1.f, 2.f, 6.f});
    f(i) /= 2;
    CHECK_VALUES(f, 0.5, 2, 3);
    f(i) /= th::tensor({0.5, 3.});
    CHECK_VALUES(f, 1, 2, 1);
    CHECK(f.dtype() == th::float32);
}

static void numbers_and_slices_are_applied_first() {
    Tensor t = th::arange(24).view({2, 3, 4});
    const Tensor k = th::tensor({0, 3});
    CHECK_VALUES(t(0, 1, k), 4, 7);
    CHECK_VALUES(t(1, all, k), 12, 15, 16, 19, 20, 23);
    CHECK_VALUES(t(all, 2, k), 8, 11, 20, 23);
    CHECK_VALUES(t(all, slice(1, 3), k), 4, 7, 8, 11, 16, 19, 20, 23);
    CHECK_SIZES(Tensor(t(newaxis, k.remainder(2))), 1, 2, 3, 4);
    CHECK_SIZES(Tensor(t(k.remainder(2), ellipsis, newaxis)), 2, 3, 4, 1);
    CHECK_SIZES(Tensor(t(0, all, th::zeros({5, 6}, th::int64))), 3, 5, 6);
    // A mask indexes as many dimensions as it has.
    CHECK_VALUES(t(t(all, all, 0) > 11, 3), 15, 19, 23);
    CHECK_SIZES(Tensor(t(th::ones({2, 3}, th::Dtype::Bool))), 6, 4);
    CHECK_SIZES(Tensor(t(th::ones({2, 3}, th::Dtype::Bool), ellipsis)), 6, 4);
    CHECK_SIZES(Tensor(t(ellipsis, th::ones({3, 4}, th::Dtype::Bool))), 2, 12);
    t(1, th::tensor({true, false, true}), slice(0, 2)) = -1;
    CHECK_VALUES(t[1], -1, -1, 14, 15, 16, 17, 18, 19, -1, -1, 22, 23);
    CHECK_VALUES(t[0], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
}

// A list in braces has the elements that the selections have when the list is made.
static void selections_are_entries_of_lists() {
    Tensor t = matrix();
    CHECK_VALUES(th::cat({t(t > 3), t[t < 1], th::tensor({9})}), 4, 5, 0, 9);
    CHECK_VALUES(th::stack({t(t > 3), t(t < 2)}), 4, 5, 0, 1);
    CHECK_VALUES(th::einsum("i,i->", {t(t > 3), t(t > 3)}), 41);
    CHECK_VALUES(th::arange(10, 20).index({t(t > 3)}), 14, 15);
    CHECK_THROWS((void)th::cat({t(t > 3), t(Tensor())}), th::Status::ErrArgument, "operator(): an index is an undefined th::Tensor");
}

// A variable that is declared auto reads the elements whenever it is used.
static void selections_are_variables() {
    Tensor t = matrix(), u = th::zeros({2, 3}, th::int64);
    const auto big = t(t > 3);
    u(t < 2) = big;
    CHECK_VALUES(u, 4, 5, 0, 0, 0, 0);
    t.mul_(10);
    CHECK_VALUES(Tensor(big), 40, 50);
    CHECK_VALUES(th::cat({Tensor(big), Tensor(big.sum().view({1}))}), 40, 50, 90);
}

// Numbers that are no positions do not compile as positions, because `t(a < b)` looks like a mask.
static_assert(!std::is_constructible_v<th::Index, bool> && !std::is_constructible_v<th::Index, double>);
static_assert(!std::is_convertible_v<bool, th::IntList> && !std::is_convertible_v<float, th::IntList>);
static_assert(std::is_constructible_v<th::Index, short> && std::is_convertible_v<unsigned, th::IntList>);
template <class N, class = void> constexpr bool is_position = false;
template <class N> constexpr bool is_position<N, std::void_t<decltype(std::declval<Tensor>()[std::declval<N>()])>> = true;
static_assert(is_position<int> && is_position<std::size_t> && is_position<Tensor> && !is_position<bool> && !is_position<float>);

// y = 2 x, where the elements that are written to do not depend on x.
static void selections_have_gradients() {
    Tensor x = th::tensor({1.f, 2.f, 3.f, 4.f}).requiresGrad_();
    Tensor y = x * 2;
    y(th::tensor({true, false, false, true})) = 0;
    y.sum().backward();
    CHECK_VALUES(x.grad(), 0, 2, 2, 0);
    x.grad().zero_();
    Tensor z = x * 1;
    z(th::tensor({0, 1})) *= 3;
    z(th::tensor({3})) = z(th::tensor({2}));
    z.sum().backward();
    CHECK_VALUES(x.grad(), 3, 3, 2, 0);
    x.grad().zero_();
    x(x > 2).sum().backward();
    CHECK_VALUES(x.grad(), 0, 0, 1, 1);
}

CHECK_MAIN(CASE(selections_are_read), CASE(masks_are_targets), CASE(positions_are_targets), CASE(every_operator_assigns),
           CASE(numbers_and_slices_are_applied_first), CASE(selections_are_entries_of_lists), CASE(selections_are_variables),
           CASE(selections_have_gradients))
