// thorn.hpp: what a program may write in place of other forms: PyTorch's names, numbers as lists, reductions without arguments, inputs by
// name, and the text of undefined objects.

#include "cxx/check.hpp"

#include <array>
#include <limits>
#include <sstream>

using th::Tensor;

// The elements of two tensors are equal, and so are their shapes and dtypes.
#define CHECK_SAME(a, b) CHECK(th::equal(a, b) && (a).dtype() == (b).dtype())

static void reductions_need_no_argument() {
    const Tensor t = th::tensor({{1.5, 8., -2.}, {4., 0.5, 3.}});
    CHECK_VALUES(t.max(), 8);
    CHECK_VALUES(t.min(), -2);
    CHECK_VALUES(th::max(t), 8);
    CHECK_VALUES(th::min(t), -2);
    CHECK_EQ(t.max().dim(), 0);
    CHECK_EQ(th::tensor({3, 9, 4}).max().item<int>(), 9);
    CHECK(th::tensor({3, 9, 4}).max().dtype() == th::int64);
    CHECK_VALUES(t.sum(), 15);
    CHECK_VALUES(t.mean(), 2.5);
    CHECK_VALUES(t.prod(), -144);
    CHECK_VALUES(t.argmax(), 1);
    CHECK_VALUES(th::tensor({3., 4.}).norm(), 5);
    CHECK_VALUES(th::tensor({1., 3.}).var(), 2);
    CHECK_VALUES((t > 0).any(), 1);
    CHECK_VALUES((t > 0).all(), 0);
    CHECK(std::isnan(th::tensor({1., std::numeric_limits<double>::quiet_NaN()}).max().item<double>()));
    CHECK_THROWS(th::zeros({0}).max(), th::Status::ErrArgument, "max: ");
    // As in PyTorch, equal greatest elements share the gradient.
    Tensor x = th::tensor({1.f, 4.f, 4.f}).requiresGrad_();
    x.max().backward();
    CHECK_VALUES(x.grad(), 0, 0.5, 0.5);
}

static void a_number_is_a_list() {
    CHECK_SIZES(th::zeros(3), 3);
    CHECK_SIZES(th::ones(3, th::int64), 3);
    CHECK_VALUES(th::full(2, 1.5), 1.5, 1.5);
    CHECK_SIZES(th::rand(3), 3);
    CHECK_SIZES(th::empty(0), 0);
    const Tensor t = th::arange(6).view({2, 3});
    CHECK_SIZES(t.view(-1), 6);
    CHECK_SIZES(t.reshape(6), 6);
    CHECK_SIZES(th::tensor(1).expand(4), 4);
    CHECK_VALUES(t.flip(1), 2, 1, 0, 5, 4, 3);
    CHECK_VALUES(th::tensor({1, 2}).repeat(2), 1, 2, 1, 2);
    CHECK(th::IntList(5) == th::IntList{5} && th::IntList(5).size() == 1 && th::IntList(5)[0] == 5);
    CHECK(t[0].sizes() == 3);
    CHECK((!std::is_constructible_v<th::IntList, double>));
}

static void a_number_stands_for_each_dimension() {
    // [[0, 1, 2, 3], [4, 5, 6, 7], ...] as one image
    const Tensor t = th::arange(16, th::float32).view({1, 1, 4, 4});
    CHECK_VALUES(th::maxPool2d(t, 2), 5, 7, 13, 15);
    CHECK_VALUES(t.maxPool2d(2), 5, 7, 13, 15);
    CHECK_VALUES(t.maxPool2d({2}), 5, 7, 13, 15);
    CHECK_VALUES(th::maxPool2d(t, {2, 4}), 7, 15);
    CHECK_VALUES(th::maxPool2d(t, 3, 1), 10, 11, 14, 15);
    CHECK_VALUES(th::maxPool2d(t, {3, 3}, 1), 10, 11, 14, 15);
    CHECK_VALUES(th::maxPool2d(t, 2, {}, 1), 0, 2, 3, 8, 10, 11, 12, 14, 15);
    CHECK_VALUES(th::avgPool2d(t, 2), 2.5, 4.5, 10.5, 12.5);
    CHECK_VALUES(th::adaptiveAvgPool2d(t, 1), 7.5);
    CHECK_VALUES(th::adaptiveMaxPool2d(t, 2), 5, 7, 13, 15);
    CHECK_VALUES(th::maxPool1d(t[0].select(1, 0), 2), 1, 3);
    CHECK_VALUES(th::maxPool3d(t, 1, 2), 0, 2, 8, 10);
    const Tensor ones = th::ones({1, 1, 2, 2});
    CHECK_VALUES(th::conv2d(t, ones, {}, 2), 10, 18, 42, 50);
    CHECK_VALUES(th::conv2d(t, ones, {}, {2, 2}, 1), 0, 3, 3, 12, 30, 18, 12, 27, 15);
    CHECK_VALUES(th::conv2d(t, ones, {}, 1, 0, 3), 0 + 3 + 12 + 15);
    CHECK_SIZES(th::convTranspose2d(ones, ones, {}, 2), 1, 1, 4, 4);
    std::array<int64_t, 2> two = {2, 2};
    CHECK_VALUES(th::maxPool2d(t, two), 5, 7, 13, 15);
    CHECK_VALUES(th::maxPool2d(t, std::vector<int64_t>{2, 2}), 5, 7, 13, 15);
    Tensor kept, indices;
    CHECK_VALUES(th::maxPool2d_out(kept, indices, t, 2), 5, 7, 13, 15);
    CHECK_VALUES(indices, 5, 7, 13, 15);
    CHECK_THROWS(th::maxPool2d(t, {2, 2, 2}), th::Status::ErrArgument, "maxPool2d: ");
    CHECK_THROWS(th::maxPool2d(t, 0), th::Status::ErrArgument, "maxPool2d: ");
}

static void pytorch_s_names_of_elementwise_functions() {
    const Tensor t = th::tensor({-2.5, 0.25, 4.}, th::float64), u = th::tensor({1., 0.5, -8.}, th::float64);
    const Tensor small = th::tensor({-0.5, 0.25, 0.75});
    CHECK_VALUES(t.reciprocal(), -0.4, 4, 0.25);
    CHECK_VALUES(th::maximum(t, u), 1, 0.5, 4);
    CHECK_VALUES(t.minimum(u), -2.5, 0.25, -8);
    CHECK_VALUES(th::clampMin(t, 0), 0, 0.25, 4);
    CHECK_VALUES(t.clampMax(1), -2.5, 0.25, 1);
    CHECK_VALUES(t.clip(-1, 1), -1, 0.25, 1);
    CHECK_VALUES(t.absolute(), 2.5, 0.25, 4);
    CHECK_VALUES(th::negative(t), 2.5, -0.25, -4);
    CHECK_VALUES(t.fix(), -2, 0, 4);
    CHECK_VALUES(t.square(), 6.25, 0.0625, 16);
    CHECK_VALUES(th::multiply(t, u), -2.5, 0.125, -32);
    CHECK_VALUES(t.multiply(2), -5, 0.5, 8);
    CHECK_VALUES(t.subtract(u), -3.5, -0.25, 12);
    CHECK_VALUES(t.divide(u), -2.5, 0.5, -0.5);
    CHECK_VALUES(th::divide(t, 2, th::DivMode::Floor), -2, 0, 2);
    CHECK_VALUES(t.greater(u), 0, 0, 1);
    CHECK_VALUES(t.less(1), 1, 1, 0);
    CHECK_VALUES(t.greaterEqual(0.25), 0, 1, 1);
    CHECK_VALUES(t.lessEqual(0.25), 1, 1, 0);
    CHECK_VALUES(th::notEqual(t, 4), 1, 1, 0);
    CHECK_SAME(small.arcsin(), small.asin());
    CHECK_SAME(small.arccos(), small.acos());
    CHECK_SAME(small.arctan(), small.atan());
    CHECK_SAME(small.arctanh(), small.atanh());
    CHECK_SAME(small.arcsinh(), small.asinh());
    CHECK_SAME((small + 2).arccosh(), (small + 2).acosh());
    CHECK_SAME(th::arctan2(t, u), th::atan2(t, u));
    CHECK_SAME(th::logsigmoid(t), th::logSigmoid(t));
    const Tensor a = th::tensor({12, 5}), b = th::tensor({10, 3});
    CHECK_VALUES(th::bitwiseAnd(a, b), 8, 1);
    CHECK_VALUES(a.bitwiseOr(b), 14, 7);
    CHECK_VALUES(a.bitwiseXor(1), 13, 4);
    CHECK_VALUES(a.bitwiseLeftShift(2), 48, 20);
    CHECK_VALUES(a.bitwiseRightShift(b - 1), 0, 1);
    // The forms in place have the names, too.
    Tensor r = t.clone();
    CHECK_VALUES(r.absolute_(), 2.5, 0.25, 4);
    CHECK_VALUES(r.reciprocal_(), 0.4, 4, 0.25);
    CHECK_THROWS(th::maximum(t, th::ones({2})), th::Status::ErrShape, "maximum: ");
}

static void pytorch_s_names_of_other_functions() {
    const Tensor t = th::tensor({{4., 2.}, {2., 5.}}), b = th::tensor({{8.}, {12.}});
    CHECK_VALUES(th::concat({t, t}, 1), 4, 2, 4, 2, 2, 5, 2, 5);
    CHECK_SIZES(th::concatenate({t, t}), 4, 2);
    CHECK_SIZES(th::zeros({2, 3, 4}).swapaxes(0, 2), 4, 3, 2);
    CHECK_SIZES(th::zeros({2, 3, 4}).swapdims(0, 1), 3, 2, 4);
    CHECK(t.isSameSize(t) && !t.isSameSize(b));
    CHECK_VALUES(th::vectorNorm(th::tensor({3., 4.})), 5);
    CHECK_VALUES(th::vectorNorm(t, 1, 0), 6, 7);
    // t = l l^T for l = [[2, 0], [1, 2]], so that t^-1 = [[5, -2], [-2, 4]] / 16.
    const Tensor l = th::tensor({{2., 0.}, {1., 2.}}), inverse = th::tensor({{0.3125, -0.125}, {-0.125, 0.25}});
    CHECK(th::allclose(th::inv(t), inverse));
    CHECK(th::allclose(th::choleskyInverse(l), inverse));
    CHECK(th::allclose(th::choleskySolve(b, l), th::tensor({{1.}, {2.}})));
    CHECK(th::allclose(th::multiDot({t, l, b}), th::tensor({{128.}, {192.}})));
    const auto reflectors = th::geqrf(t);
    CHECK(th::allclose(th::householderProduct(reflectors.ra, reflectors.rtau).mm(reflectors.ra.triu()), t));
    const Tensor p = th::tensor({0.25, 0.5}), one = th::ones({2}, th::float64);
    CHECK(th::allclose(th::binaryCrossEntropy(p, one), th::tensor((std::log(4.) + std::log(2.)) / 2)));
    CHECK(th::allclose(th::binaryCrossEntropyWithLogits(th::zeros({2}, th::float64), one), th::tensor(std::log(2.))));
}

static void pytorch_s_names_of_gradients_and_memory() {
    Tensor t = th::tensor({1.f, 2.f});
    CHECK(!t.requiresGrad() && t.requiresGrad_().requiresGrad() && !t.requiresGrad_(false).requiresGrad());
    t.requiresGrad_();
    Tensor seen;
    t.registerHook([&](const Tensor &gradient) { seen = gradient; });
    (t * 3).sum().backward();
    CHECK_VALUES(seen, 3, 3);
    CHECK(t.dataPtr<float>() == t.data<float>());
}

static void seeds_of_the_thread_s_generator() {
    th::manualSeed(42);
    CHECK_EQ(th::initialSeed(), 42u);
    const Tensor first = th::rand(4);
    th::manualSeed(42);
    CHECK_SAME(th::rand(4), first);
    CHECK_SAME(th::rand(th::Generator(42), 4), first);
    const uint64_t chosen = th::seed();
    CHECK_EQ(th::initialSeed(), chosen);
}

static void inputs_have_names() {
    const th::Fused f("u * u - v");
    const Tensor u = th::tensor({1.f, 2.f}), v = th::tensor({0.5f, 8.f});
    CHECK_VALUES(f({u, v}), 0.5, -4);
    CHECK_VALUES(f({{"u", u}, {"v", v}}), 0.5, -4);
    CHECK_VALUES(f({{"v", v}, {"u", u}}), 0.5, -4);
    CHECK_VALUES(th::Fused("2 * x")({{"x", u}}), 2, 4);
    CHECK_THROWS(f({{"u", u}, {"w", v}}), th::Status::ErrArgument, "run: the expression has no input w");
    CHECK_THROWS(f({{"u", u}, {"u", v}}), th::Status::ErrArgument, "run: there are two tensors for input u");
    CHECK_THROWS(f({{"u", u}}), th::Status::ErrArgument, "run: there is no tensor for input v");
    CHECK_THROWS(f({{"u", u}, {"v", {}}}), th::Status::ErrArgument, "run: there is no tensor for input v");
    CHECK_THROWS(th::Fused()({{"u", u}}), th::Status::ErrArgument, "is NULL");
}

template <class T> static std::string text(const T &value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

static void undefined_objects_have_a_text() {
    CHECK_EQ(text(Tensor()), "undefined tensor");
    CHECK_EQ(text(th::SparseTensor()), "undefined sparse tensor");
    CHECK_EQ(text(th::Storage()), "undefined storage");
    CHECK(Tensor().toString() == "undefined tensor");
    FILE *file = std::tmpfile();
    Tensor().fprint(file);
    th::SparseTensor().fprint(file);
    std::rewind(file);
    char read[64] = {};
    CHECK_EQ(std::fread(read, 1, sizeof read - 1, file), 41u);
    CHECK_EQ(std::string(read), "undefined tensor\nundefined sparse tensor\n");
    std::fclose(file);
    CHECK_THROWS(Tensor().fprint(nullptr), th::Status::ErrIo, "fprint: ");
}

static void lists_and_dtypes_are_printed() {
    CHECK_EQ(text(th::zeros({2, 3}).sizes()), "[2, 3]");
    CHECK_EQ(text(th::zeros({2, 3}).strides()), "[3, 1]");
    CHECK_EQ(text(th::IntList()), "[]");
    CHECK_EQ(text(th::IntList(4)), "[4]");
    CHECK_EQ(text(th::zeros({2}).dtype()), "float32");
    CHECK_EQ(text(th::Dtype::Bool), "bool");
    CHECK_EQ(text(th::Dtype::Undefined), "undefined");
}

CHECK_MAIN(CASE(reductions_need_no_argument), CASE(a_number_is_a_list), CASE(a_number_stands_for_each_dimension),
           CASE(pytorch_s_names_of_elementwise_functions), CASE(pytorch_s_names_of_other_functions),
           CASE(pytorch_s_names_of_gradients_and_memory), CASE(seeds_of_the_thread_s_generator), CASE(inputs_have_names),
           CASE(undefined_objects_have_a_text), CASE(lists_and_dtypes_are_printed))
