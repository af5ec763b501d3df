// thorn.hpp: tensors as values, names of functions, operators, errors, lists.

#include "cxx/check.hpp"

#include <array>
#include <sstream>
#include <vector>

using th::Tensor;

static void a_tensor_is_a_counted_reference() {
    Tensor a = th::tensor({1.0, 2.0});
    CHECK_EQ(a.refcount(), 1);
    Tensor b = a;
    CHECK_EQ(a.refcount(), 2);
    CHECK_EQ(b.get(), a.get());
    b.fill_(7);
    CHECK_VALUES(a, 7, 7);

    Tensor c = std::move(b);
    CHECK(!b.defined());
    CHECK_EQ(c.refcount(), 2);
    c = a.clone();
    CHECK_EQ(a.refcount(), 1);
    c.fill_(0);
    CHECK_VALUES(a, 7, 7);

    // An object may be assigned to itself.
    Tensor &same = a;
    a = same;
    a = std::move(same);
    CHECK_VALUES(a, 7, 7);
    CHECK_EQ(a.refcount(), 1);
}

static void handles_of_c_come_and_go() {
    THTensor *handle = THTensor_newScalar(TH_FLOAT32, 3);
    Tensor shared = Tensor::share(handle);
    CHECK_EQ(shared.refcount(), 2);
    Tensor taken = Tensor::take(handle);
    CHECK_EQ(taken.refcount(), 2);
    THTensor *released = taken.release();
    CHECK_EQ(released, handle);
    CHECK(!taken.defined());
    THTensor_free(released);
    CHECK_EQ(shared.refcount(), 1);
}

static void every_function_has_three_forms() {
    Tensor t = th::tensor({1.0, 4.0, 9.0});
    CHECK_VALUES(t.sqrt(), 1, 2, 3);
    CHECK_VALUES(th::sqrt(t), 1, 2, 3);
    CHECK_VALUES(t, 1, 4, 9);

    Tensor r;
    th::sqrt_out(r, t);
    CHECK_VALUES(r, 1, 2, 3);
    void *memory = r.data();
    th::add_out(r, r, t);
    CHECK_VALUES(r, 2, 6, 12);
    CHECK_EQ(r.data(), memory);

    CHECK_EQ(&t.sqrt_(), &t);
    CHECK_VALUES(t, 1, 2, 3);
}

static void forms_of_an_operation_are_overloads() {
    Tensor t = th::tensor({{1.0, 2.0}, {3.0, 4.0}}), u = th::full({2, 2}, 10);
    CHECK_VALUES(t.add(1), 2, 3, 4, 5);
    CHECK_VALUES(t.add(u), 11, 12, 13, 14);
    CHECK_VALUES(t.add(2, u), 21, 22, 23, 24);
    CHECK_VALUES(t.cadd(2, u), 21, 22, 23, 24);
    CHECK_VALUES(t.pow(2), 1, 4, 9, 16);
    CHECK_VALUES(th::pow(2, t), 2, 4, 8, 16);
    CHECK_VALUES(t.pow(t), 1, 4, 27, 256);
    CHECK_VALUES(th::where(t > 2, t, 0.0), 0, 0, 3, 4);
    CHECK_VALUES(th::where(t > 2, 1.0, u), 10, 10, 1, 1);
    CHECK_VALUES(t.clamp(2, 3), 2, 2, 3, 3);
    CHECK_VALUES(t.div(2, th::DivMode::Floor), 0, 1, 1, 2);
    CHECK_VALUES(t.max(th::tensor({2.0, 3.0})), 2, 3, 3, 4);
    CHECK_VALUES(th::cat({t, u, t}, 1).select(0, 0), 1, 2, 10, 10, 1, 2);
    CHECK_VALUES(th::cat(t, u).select(1, 0), 1, 3, 10, 10);
}

static void arguments_have_defaults() {
    Tensor t = th::tensor({{1.0, 2.0}, {3.0, 4.0}});
    CHECK_VALUES(t.sum(), 10);
    CHECK_EQ(t.sumall(), 10.0);
    CHECK_VALUES(t.sum(0), 4, 6);
    CHECK_VALUES(t.sum(-1), 3, 7);
    CHECK_SIZES(t.sum(1, true), 2, 1);
    CHECK_VALUES(t.sum({0, 1}), 10);
    CHECK_EQ(static_cast<int>(t.sum({0, 1}, false, th::float64).dtype()), static_cast<int>(th::float64));
    CHECK_VALUES(t.mean(0), 2, 3);
    CHECK_VALUES(t.var(0), 2, 2);
    CHECK_VALUES(t.var(0, true), 1, 1);
    CHECK_VALUES(t.diagonal(), 1, 4);
    CHECK_VALUES(t.addmm(t, t), 8, 12, 18, 26);
    CHECK_VALUES(t.addmm(0, 2, t, t), 14, 20, 30, 44);
    CHECK_VALUES(th::arange(3), 0, 1, 2);
    CHECK_VALUES(th::arange(1, 4), 1, 2, 3);
    CHECK_VALUES(th::arange(0, 6, 2), 0, 2, 4);
    CHECK_VALUES(th::arange(2, th::int16), 0, 1);
}

static void several_results_are_a_struct() {
    Tensor t = th::tensor({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}});
    auto [values, indices] = t.max(1);
    CHECK_VALUES(values, 3, 6);
    CHECK_VALUES(indices, 0, 1);
    CHECK_VALUES(th::sort(t).indices, 1, 2, 0, 0, 2, 1);

    // An optional output may be left out.
    Tensor only;
    th::max_out(th::none, only, t, 1);
    CHECK_VALUES(only, 0, 1);
    Tensor pooled, places;
    th::maxPool1d_out(pooled, places, t.unsqueeze1d(0), {3});
    CHECK_VALUES(pooled, 3, 6);
    CHECK_VALUES(places, 0, 1);
    CHECK_VALUES(t.unsqueeze1d(0).maxPool1d({3}), 3, 6);
}

static void new_tensors_take_a_dtype() {
    CHECK(th::zeros({2, 3}).dtype() == th::float32);
    CHECK(th::zeros({2, 3}, th::int64).dtype() == th::int64);
    CHECK(th::arange(3).dtype() == th::int64);
    CHECK(th::arange(3, th::float64).dtype() == th::float64);
    CHECK(th::empty({4}).dtype() == th::float32);
    CHECK_VALUES(th::eye(2), 1, 0, 0, 1);
    CHECK_VALUES(th::full({2}, 5, th::uint8), 5, 5);
    CHECK_VALUES(th::linspace(0, 1, 3), 0, 0.5, 1);
    CHECK_EQ(th::zeros({}).dim(), 0);
    CHECK_SIZES(th::zeros({0, 2}), 0, 2);
    th::setDefaultDtype(th::float64);
    CHECK(th::zeros({1}).dtype() == th::float64);
    CHECK(th::empty({1}).dtype() == th::float64);
    th::setDefaultDtype(th::float32);
}

static void operators_broadcast() {
    Tensor a = th::tensor({{1.0, 2.0}, {3.0, 4.0}}), row = th::tensor({10.0, 20.0});
    CHECK_VALUES(a + row, 11, 22, 13, 24);
    CHECK_VALUES(row - a, 9, 18, 7, 16);
    CHECK_VALUES(a * row, 10, 40, 30, 80);
    CHECK_VALUES(row / a, 10, 10, 10 / 3.0f, 5);
    CHECK_VALUES(a % 2, 1, 0, 1, 0);
    CHECK_VALUES(-a, -1, -2, -3, -4);
    CHECK_VALUES(a + 1, 2, 3, 4, 5);
    CHECK_VALUES(1 + a, 2, 3, 4, 5);
    CHECK_VALUES(1 - a, 0, -1, -2, -3);
    CHECK_VALUES(a - 1, 0, 1, 2, 3);
    CHECK_VALUES(2 * a, 2, 4, 6, 8);
    CHECK_VALUES(12 / a, 12, 6, 4, 3);
    CHECK_VALUES(a / 2, 0.5, 1, 1.5, 2);

    Tensor i = th::tensor({5, 6});
    CHECK_VALUES(i & 4, 4, 4);
    CHECK_VALUES(1 | i, 5, 7);
    CHECK_VALUES(i ^ i, 0, 0);
    CHECK_VALUES(~i, -6, -7);
    CHECK_VALUES(i << 1, 10, 12);
    CHECK_VALUES(i >> th::tensor({1, 2}), 2, 1);
    CHECK(i.dtype() == th::int64);
}

static void comparisons_give_truth_values() {
    Tensor a = th::tensor({1, 2, 3});
    CHECK((a == 2).dtype() == th::Dtype::Bool);
    CHECK_VALUES(a == 2, 0, 1, 0);
    CHECK_VALUES(2 == a, 0, 1, 0);
    CHECK_VALUES(a != a, 0, 0, 0);
    CHECK_VALUES(a < 2, 1, 0, 0);
    CHECK_VALUES(2 < a, 0, 0, 1);
    CHECK_VALUES(a >= 2, 0, 1, 1);
    CHECK_VALUES(2 >= a, 1, 1, 0);
    CHECK_VALUES(!(a <= 2), 0, 0, 1);
    CHECK_VALUES((a > 1) & (a < 3), 0, 1, 0);
    CHECK(th::equal(a, a.clone()));
    CHECK(!th::equal(a, a + 1));
}

static void assignments_with_an_operator_are_in_place() {
    Tensor a = th::tensor({1.0, 2.0}), same = a;
    a += 1;
    a *= th::tensor({2.0, 3.0});
    a -= 1;
    a /= 2;
    CHECK_VALUES(same, 1.5, 4);
    a += a;
    CHECK_VALUES(same, 3, 8);
    a %= 5;
    CHECK_VALUES(same, 3, 3);
}

static void errors_have_a_code_and_name_the_function() {
    Tensor a = th::ones({2, 3}), b = th::ones({4});
    CHECK_THROWS(a + b, th::Status::ErrShape, "add: sizes 3 and 4 of dimension 1 do not broadcast");
    CHECK_THROWS(th::mm(a, a), th::Status::ErrShape, "mm: ");
    CHECK_THROWS(a.add_(b), th::Status::ErrShape, "add_: ");
    CHECK_THROWS(th::cadd_out(a, a, b), th::Status::ErrShape, "cadd_out: ");
    CHECK_THROWS(a.size(2), th::Status::ErrArgument, "size: ");
    CHECK_THROWS(a.item(), th::Status::ErrArgument, "item: ");
    CHECK_THROWS(th::load("no such file.npy"), th::Status::ErrIo, "load: ");
    CHECK_THROWS(th::zeros({-1}), th::Status::ErrShape, "zeros: ");
    CHECK_THROWS(th::dtypeFromName("float33"), th::Status::ErrArgument, "dtypeFromName: ");
    CHECK_VALUES(a.sum(), 6);

    // Every exception is a std::exception.
    try {
        static_cast<void>(a + b);
        CHECK(false);
    } catch (const std::exception &error) {
        CHECK(std::strlen(error.what()) > 10);
    }
}

static void what_looks_like_a_failure_may_be_right() {
    THTensor_size(nullptr, 0);
    CHECK(std::isnan(th::tensor({NAN}).sumall()));
    CHECK_EQ(th::tensor({-1}).itemLong(), -1);
    CHECK(!th::equal(th::ones({1}), th::zeros({1})));
    CHECK(!th::zeros({2, 2}).t().isSetTo(th::zeros({2, 2})));
}

static void an_undefined_tensor_is_no_operand() {
    Tensor none;
    CHECK(!none.defined());
    CHECK_EQ(none.dim(), 0);
    CHECK_THROWS(none.add(1), th::Status::ErrArgument, "add: argument 't' is NULL; an undefined th::Tensor is NULL");
    CHECK_THROWS(none.fill_(1), th::Status::ErrArgument, "fill_: ");
    CHECK_THROWS(th::pow(2, none), th::Status::ErrArgument, "pow: argument 't' is NULL; an undefined th::Tensor is NULL");
    CHECK_THROWS(none.maskedFill(none, 0), th::Status::ErrArgument, "maskedFill: ");
    CHECK_THROWS(none.numel(), th::Status::ErrArgument, "numel: ");
    CHECK_THROWS(none.data(), th::Status::ErrArgument, "data: ");
    CHECK_THROWS(none.data<float>(), th::Status::ErrDtype, "data: elements are undefined, not float32");
    CHECK_THROWS(none(0), th::Status::ErrArgument, "withTensor: ");

    // As an optional operand, an undefined tensor means no operand.
    Tensor x = th::ones({1, 1, 2}), w = th::ones({1, 1, 2});
    CHECK_VALUES(x.conv1d(w, none), 2);
    CHECK_VALUES(x.conv1d(w, th::tensor({1.0})), 3);
}

static void lists_are_views() {
    const std::vector<int64_t> vector{2, 3};
    const std::array<int64_t, 2> array{3, 2};
    const int64_t plain[] = {6};
    Tensor t = th::zeros(vector);
    CHECK_SIZES(t, 2, 3);
    CHECK_SIZES(t.view(array), 3, 2);
    CHECK_SIZES(t.view(plain), 6);
    CHECK_SIZES(t.view(th::IntList(plain, 1)), 6);
    CHECK_SIZES(t.view(t.sizes()), 2, 3);
    CHECK_EQ(t.sizes()[1], 3);
    CHECK_EQ(t.sizes().size(), 2u);
    int64_t product = 1;
    for (int64_t size : t.sizes()) product *= size;
    CHECK_EQ(product, t.numel());
    CHECK(t.strides() == (th::IntList{3, 1}));
    CHECK(t.strides() != (th::IntList{3, 2}));

    // A list in braces may have one entry or none.
    CHECK_EQ(th::arange(4).tensorSplit(1).size(), 1u);
    CHECK_EQ(th::arange(4).tensorSplit({1}).size(), 2u);
    CHECK_EQ(th::tensorSplit(th::arange(4), {1})[1].size(0), 3);
    CHECK_VALUES(th::ones({2, 3}).sum({}), 6);
    CHECK_VALUES(th::sum(th::ones({2, 3}), {1}), 3, 3);
    CHECK_THROWS(th::ones({4}).split({2}), th::Status::ErrShape, "split: ");

    std::vector<Tensor> pieces = t.split(2, 1);
    CHECK_EQ(pieces.size(), 2u);
    CHECK_SIZES(th::cat(pieces, 1), 2, 3);
    CHECK_EQ(t.split({1, 2}, 1).size(), 2u);
    CHECK_EQ(t.unbind(1).size(), 3u);
    CHECK_SIZES(th::stack({t, t, t}), 3, 2, 3);
    CHECK_THROWS(th::stack({}), th::Status::ErrArgument, "stack: ");
    CHECK_EQ(th::meshgrid({th::arange(2), th::arange(3)}).size(), 2u);
    CHECK_THROWS(th::ones({1, 1, 2, 2}).conv2d(th::ones({1, 1, 1, 1}), {}, {1, 1}, {0, 0, 0}), th::Status::ErrArgument,
                 "conv2d: lists");
    CHECK_VALUES(th::einsum("ij->j", {th::ones({2, 3})}), 2, 2, 2);
    const std::string equation = "i,i";
    CHECK_VALUES(th::einsum(equation, {th::arange(3), th::arange(3)}), 5);
}

static void tensors_are_printed() {
    std::ostringstream out;
    out << th::tensor({{1, 2}, {3, 4}});
    CHECK_EQ(out.str(), "tensor([[1, 2],\n        [3, 4]])");
    THPrintOptions options = th::printOptionsInit();
    options.precision = 2;
    CHECK_EQ(th::tensor({0.125}).toString(&options), "tensor([0.12])");

    // A th::String owns the text, and converts to a std::string.
    const th::String text = th::tensor({1, 2}).toString();
    const std::string copy = text;
    CHECK_EQ(copy, "tensor([1, 2])");
    CHECK(text == "tensor([1, 2])");
    CHECK(text != "tensor([1, 2]");
    CHECK(text != "tensor([1, 2])]");
    th::String moved = th::cdefChapter("Versions");
    moved = th::tensor({3}).toString();
    CHECK_EQ(moved, "tensor([3])");
    CHECK(th::String().empty());
}

// Where no triangle is named, every function looks at the lower one alone, so that each takes the factor of any other.
static void triangles_are_lower_ones_by_default() {
    const th::Dtype dtype = th::float64;
    Tensor whole = th::tensor({{4., 2.}, {2., 3.}}, dtype), b = th::tensor({{2.}, {1.}}, dtype), x = th::tensor({{0.5}, {0.}}, dtype);
    Tensor a = whole.clone(), inverse = th::tensor({{0.375, -0.25}, {-0.25, 0.5}}, dtype);
    a(0, 1) = NAN;
    auto near = [](const Tensor &got, const Tensor &expected) { return th::allclose(got, expected, 0, 1e-14); };
    for (Tensor l : {th::cholesky(a), th::potrf(a)}) {
        CHECK_EQ(l(0, 1).item<double>(), 0);
        CHECK(near(l.mm(l.t()), whole));
        l(0, 1) = NAN;
        CHECK(near(th::potrs(b, l), x));
        CHECK(near(th::potri(l), inverse));
        auto [y, factor] = th::trtrs(b, l);
        CHECK(near(l.tril().nanToNum(0, 0, 0).mm(y), b));
        l(0, 1) = 5;
        CHECK(near(th::SparseTensor::fromDense(l).compressed().trtrs(b), y));
    }
    auto [factor, pivots] = th::pstrf(a);
    CHECK(near(factor.mm(factor.t()), whole));
    const Tensor values = th::tensor({(7 - std::sqrt(17.)) / 2, (7 + std::sqrt(17.)) / 2}, dtype);
    CHECK(near(th::symeig(a).e, values));
    CHECK(near(th::syev(a).re, values));
    // The right-hand side is the first argument, as in Torch7.
    CHECK(near(th::solve(b, whole).x, x));
}

static void empty_tensors_take_a_dtype() {
    Tensor t = th::empty({2, 3}, th::float64);
    CHECK(t.dtype() == th::float64);
    CHECK_SIZES(t, 2, 3);
    CHECK(th::empty({2}).dtype() == th::float32);
    CHECK(th::empty({1, 2, 3, 4}, th::MemoryFormat::ChannelsLast, th::int32).dtype() == th::int32);
}

CHECK_MAIN(CASE(triangles_are_lower_ones_by_default), CASE(empty_tensors_take_a_dtype), CASE(a_tensor_is_a_counted_reference), CASE(handles_of_c_come_and_go), CASE(every_function_has_three_forms),
           CASE(forms_of_an_operation_are_overloads), CASE(arguments_have_defaults), CASE(several_results_are_a_struct),
           CASE(new_tensors_take_a_dtype), CASE(operators_broadcast), CASE(comparisons_give_truth_values),
           CASE(assignments_with_an_operator_are_in_place), CASE(errors_have_a_code_and_name_the_function),
           CASE(what_looks_like_a_failure_may_be_right), CASE(an_undefined_tensor_is_no_operand), CASE(lists_are_views),
           CASE(tensors_are_printed))
