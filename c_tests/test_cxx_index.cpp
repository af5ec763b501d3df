// thorn.hpp: views by indices, masks, writing through views, rows.

#include "cxx/check.hpp"

using th::all;
using th::ellipsis;
using th::newaxis;
using th::none;
using th::slice;
using th::Tensor;

// [[0, 1, 2], [3, 4, 5]]
static Tensor matrix() { return th::arange(6).view({2, 3}); }

static void an_index_takes_a_dimension_away() {
    Tensor t = matrix();
    CHECK_VALUES(t[1], 3, 4, 5);
    CHECK_VALUES(t[-1], 3, 4, 5);
    CHECK_VALUES(t[1][2], 5);
    CHECK_VALUES((t[{1, 2}]), 5);
    CHECK_EQ((t[{1, 2}]).dim(), 0);
    CHECK_VALUES(t(1, 2), 5);
    CHECK_VALUES(t(1), 3, 4, 5);
    CHECK_EQ(t(0, -1).item<int>(), 2);
    CHECK_THROWS(t[2], th::Status::ErrArgument, "select: ");
    CHECK_THROWS((t[{0, 3}]), th::Status::ErrArgument, "operator[]: ");
    CHECK_THROWS(t(0, 0, 0), th::Status::ErrArgument, "operator(): 3 indices for a tensor with 2 dimensions");
    CHECK_THROWS((t[{0, 0, 0}]), th::Status::ErrArgument, "operator[]: 3 indices for a tensor with 2 dimensions");
    CHECK_THROWS(t(all, 0, newaxis, 0), th::Status::ErrArgument, "operator(): 3 indices for a tensor with 2 dimensions");
    CHECK_THROWS(Tensor()(0), th::Status::ErrArgument, "an undefined th::Tensor is NULL");
}

static void slices_are_half_open() {
    Tensor t = th::arange(10);
    CHECK_VALUES(t(slice(1, 3)), 1, 2);
    CHECK_VALUES(t(slice(8, none)), 8, 9);
    CHECK_VALUES(t(slice(none, 2)), 0, 1);
    CHECK_VALUES(t(slice(none, none, 4)), 0, 4, 8);
    CHECK_VALUES(t(slice(-2, none)), 8, 9);
    CHECK_VALUES(t(slice(8, 100)), 8, 9);
    CHECK_SIZES(t(slice(5, 2)), 0);
    CHECK_THROWS(t(slice(0, 5, -1)), th::Status::ErrArgument, "operator(): ");
}

static void indices_are_combined() {
    Tensor t = matrix();
    CHECK_VALUES(t(all, 1), 1, 4);
    CHECK_VALUES(t(all, slice(1, 3)), 1, 2, 4, 5);
    CHECK_SIZES(t(0, slice(1, 3), newaxis), 2, 1);
    CHECK_SIZES(t(newaxis), 1, 2, 3);
    CHECK_SIZES(t(all, newaxis, all), 2, 1, 3);
    CHECK_VALUES(t(ellipsis, 0), 0, 3);
    CHECK_SIZES(th::zeros({2, 3, 4, 5})(1, ellipsis, 0), 3, 4);
    CHECK_SIZES(th::zeros({2, 3})(ellipsis, newaxis), 2, 3, 1);
    CHECK_EQ(th::zeros({2, 3})(0, ellipsis, 0).dim(), 0);
    // `all` is the name of an index and of a function.
    CHECK_VALUES(th::all(t > 0), 0);
    CHECK_VALUES(th::all(t >= 0, 0), 1, 1, 1);
    CHECK_VALUES(th::all(t >= 0, {0, 1}), 1);
}

static void views_share_elements() {
    Tensor t = matrix(), row = t[0];
    row.fill_(9);
    CHECK_VALUES(t, 9, 9, 9, 3, 4, 5);
    t(1, slice(0, 2)) = 7;
    CHECK_VALUES(t, 9, 9, 9, 7, 7, 5);
    t(all, 2) = th::tensor({1, 2});
    CHECK_VALUES(t, 9, 9, 1, 7, 7, 2);
    t[0] = t[1];
    CHECK_VALUES(t, 7, 7, 2, 7, 7, 2);
    t[1] *= 2;
    CHECK_VALUES(t, 7, 7, 2, 14, 14, 4);
    // A named view refers to other elements after an assignment.
    row = t[1];
    CHECK_VALUES(row, 14, 14, 4);
    CHECK_VALUES(t, 7, 7, 2, 14, 14, 4);
}

static void masks_choose_elements() {
    Tensor t = matrix();
    CHECK_VALUES(t[t > 3], 4, 5);
    CHECK_VALUES(t.maskedSelect(t > 3), 4, 5);
    CHECK_VALUES(t.maskedFill(t > 3, 0), 0, 1, 2, 3, 0, 0);
    CHECK_VALUES(t, 0, 1, 2, 3, 4, 5);
    t.maskedFill_(t < 2, 8);
    CHECK_VALUES(t, 8, 8, 2, 3, 4, 5);
    // A named selection is no target, because `s = 0` looks as if it changed `s`.
    auto s = t(t > 3);
    CHECK((std::is_assignable_v<th::Selection, double>));
    CHECK((!std::is_assignable_v<decltype(s) &, double>));
    CHECK((!std::is_assignable_v<decltype(s) &, Tensor>));
}

static void tensors_of_positions_choose_slices() {
    Tensor t = matrix(), index = th::tensor({1, 0, 1});
    CHECK_VALUES(t[index], 3, 4, 5, 0, 1, 2, 3, 4, 5);
    CHECK_VALUES(t.index({th::tensor({0, 1}), th::tensor({2, 0})}), 2, 3);
    // An undefined tensor keeps a dimension whole.
    CHECK_VALUES(t.index({{}, th::tensor({2, 0})}), 2, 0, 5, 3);
    CHECK_VALUES(t.indexSelect(1, th::tensor({2})), 2, 5);
    CHECK_VALUES(t.gather(1, th::tensor({{0}, {2}})), 0, 5);
    t.indexPut_({th::tensor({0, 1}), th::tensor({0, 0})}, th::tensor({6, 7}));
    CHECK_VALUES(t, 6, 1, 2, 7, 4, 5);
    CHECK_VALUES(t.indexFill(1, th::tensor({1}), 0), 6, 0, 2, 7, 0, 5);
    t.scatter_(1, th::tensor({{0}, {1}}), -1);
    CHECK_VALUES(t, -1, 1, 2, 7, -1, 5);
}

static void for_goes_through_the_first_dimension() {
    Tensor t = matrix();
    double sum = 0;
    int64_t rows = 0;
    for (Tensor row : t) {
        CHECK_SIZES(row, 3);
        sum += row.sumall();
        row.fill_(static_cast<double>(rows++));
    }
    CHECK_EQ(sum, 15.0);
    CHECK_EQ(rows, 2);
    CHECK_VALUES(t, 0, 0, 0, 1, 1, 1);
    for (Tensor nothing : th::zeros({0, 3})) CHECK(!nothing.defined());
}

static void views_are_changed_in_place() {
    Tensor t = matrix();
    CHECK_SIZES(t.t_(), 3, 2);
    CHECK_SIZES(t.unsqueeze1d_(1), 3, 1, 2);
    CHECK_SIZES(t.squeeze_(), 3, 2);
    CHECK_SIZES(t.transpose_(0, 1), 2, 3);
    CHECK_SIZES(t.resize_({4, 2}), 4, 2);
    Tensor view;
    th::narrow_out(view, t, 0, 1, 2);
    CHECK_SIZES(view, 2, 2);
    view.fill_(0);
    CHECK_EQ(t(slice(1, 3)).sumall(), 0.0);
}

CHECK_MAIN(CASE(an_index_takes_a_dimension_away), CASE(slices_are_half_open), CASE(indices_are_combined),
           CASE(views_share_elements), CASE(masks_choose_elements), CASE(tensors_of_positions_choose_slices),
           CASE(for_goes_through_the_first_dimension), CASE(views_are_changed_in_place))
