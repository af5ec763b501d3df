// thorn.hpp without exceptions: the first failure is kept, and a failed call returns an undefined result, which later
// calls pass on.
#include <thorn.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

static int failures = 0;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::printf("%s:%d: %s does not hold (%s)\n", __FILE__, __LINE__, #condition, th::failure().what());       \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

// The kept failure has this code, and its message begins with `start`. The check clears the failure.
#define CHECK_FAILED(status, start)                                                                                    \
    do {                                                                                                               \
        CHECK(th::failed());                                                                                           \
        CHECK(th::failure().code() == (status));                                                                       \
        CHECK(std::strncmp(th::failure().what(), start, std::strlen(start)) == 0);                                     \
        th::clearFailure();                                                                                            \
        CHECK(!th::failed() && th::failure().what()[0] == 0);                                                          \
    } while (0)

static void what_fails_is_undefined() {
    th::Tensor a = th::ones({2, 3}), b = th::ones({4});
    CHECK(!th::failed());
    CHECK(!(a + b).defined());
    CHECK_FAILED(th::Status::ErrShape, "add: ");
    CHECK(!th::load("no such file.npy").defined());
    CHECK_FAILED(th::Status::ErrIo, "load: ");
    CHECK(!a.max(5).values.defined());
    CHECK_FAILED(th::Status::ErrArgument, "max: ");
    CHECK(!a(0, 0, 0).defined() && !a[7].defined());
    CHECK_FAILED(th::Status::ErrArgument, "operator(): ");
    CHECK(a.split(0).empty());
    CHECK_FAILED(th::Status::ErrArgument, "split: ");
    CHECK(!th::tensor({{1, 2}, {3}}).defined());
    CHECK_FAILED(th::Status::ErrShape, "tensor: ");
    CHECK(!th::Fused("a +").defined());
    CHECK_FAILED(th::Status::ErrArgument, "Fused: ");
}

// A program can check for failures once, at the end of a computation, because the first failure is kept.
static void a_computation_goes_on_with_what_is_undefined() {
    th::Tensor a = th::ones({2, 3}), b = th::ones({4});
    th::Tensor r = ((a + b) * 2).sum(0).mm(a);
    CHECK(!r.defined());
    r += 1;
    CHECK(!r.defined());
    CHECK_FAILED(th::Status::ErrShape, "add: ");
}

static void numbers_say_that_they_failed() {
    th::Tensor a = th::ones({2, 3}), none;
    CHECK(std::isnan(a.item()));
    CHECK_FAILED(th::Status::ErrArgument, "item: ");
    CHECK(a.size(9) == -1);
    CHECK_FAILED(th::Status::ErrArgument, "size: ");
    CHECK(!none.isContiguous());
    CHECK_FAILED(th::Status::ErrArgument, "isContiguous: ");
    CHECK(a.data<int>() == nullptr);
    CHECK_FAILED(th::Status::ErrDtype, "data: ");
    CHECK(a.elements<double>().size() == 0);
    CHECK_FAILED(th::Status::ErrDtype, "elements: ");
    a.at<float>(2, 0) = 5;
    CHECK_FAILED(th::Status::ErrArgument, "at: ");
    CHECK(a.at<float>(0, 0) == 1);
    CHECK(a.sumall() == 6);
    CHECK(!th::failed());
}

static void a_result_that_fails_stays() {
    th::Tensor a = th::ones({2, 3}), r = th::zeros({2});
    th::add_out(r, a, th::ones({4}));
    CHECK_FAILED(th::Status::ErrShape, "add_out: ");
    CHECK(r.sumall() == 0 && r.size(0) == 2);
    a.add_(th::ones({4}));
    CHECK_FAILED(th::Status::ErrShape, "add_: ");
    CHECK(a.sumall() == 6);
}

static void functions_of_the_caller_are_called() {
    th::Tensor a = th::tensor({1.0, 2.0});
    a.apply_([](double x) { return x + 1; });
    CHECK(a.sumall() == 5);
    auto owner = std::make_shared<std::vector<float>>(3, 2.f);
    std::weak_ptr<std::vector<float>> seen = owner;
    th::Tensor t = th::fromBlob(owner->data(), {3}, [owner](float *) {});
    owner.reset();
    CHECK(t.sumall() == 6 && !seen.expired());
    t = th::Tensor();
    CHECK(seen.expired());
    CHECK(!th::failed());
}

static void what_fails_in_a_function_ends_backward() {
    th::Tensor x = th::ones({2}).setRequiresGrad_(true);
    x.addHook([](const th::Tensor &gradient) { return gradient.sum(7); });
    (x * 2).sum().backward();
    CHECK_FAILED(th::Status::ErrArgument, "sum: dimension 7");
    CHECK(!x.grad().defined() && !th::failed());
    x = th::ones({2}).setRequiresGrad_(true);
    th::Tensor y = th::gradApply(
        {x}, [](th::GradCall &, const std::vector<th::Tensor> &inputs) { return inputs[0] * 2; },
        [](th::GradCall &, const std::vector<th::Tensor> &gradients) { return gradients[0] * 2; });
    y.sum().backward();
    CHECK(x.grad().defined() && x.grad().sumall() == 4);
    y = th::gradApply(
        {x}, [](th::GradCall &, const std::vector<th::Tensor> &inputs) { return inputs[0].sum(7); },
        [](th::GradCall &, const std::vector<th::Tensor> &gradients) { return gradients[0] * 2; });
    CHECK(!y.defined());
    CHECK_FAILED(th::Status::ErrArgument, "sum: dimension 7");
    y = th::checkpoint([](const std::vector<th::Tensor> &inputs) { return inputs[0].mm(inputs[0]); }, {x});
    CHECK(!y.defined());
    CHECK_FAILED(th::Status::ErrShape, "mm: ");
    CHECK(th::gradients({(x * x).sum()}, {x})[0].sumall() == 4);
    CHECK(!th::gradients({x * x}, {x})[0].defined());
    CHECK_FAILED(th::Status::ErrArgument, "gradients: ");
}

static void conveniences_fail_like_the_rest() {
    th::Tensor t = th::ones({2, 3}), none;
    CHECK(none.toString() == "undefined tensor");
    CHECK(th::maxPool2d(th::ones({1, 1, 2, 2}), 2).sumall() == 1);
    CHECK(t(t > 0).sum().item() == 6);
    t(t > 0) = 2;
    t(th::tensor({1})) += 1;
    CHECK(t.sumall() == 15 && !th::failed());
    t(th::tensor({2})) += 1;
    CHECK_FAILED(th::Status::ErrArgument, "index: ");
    t(none) = 0;
    CHECK_FAILED(th::Status::ErrArgument, "operator(): an index is an undefined th::Tensor");
    t(none) += 1;
    CHECK_FAILED(th::Status::ErrArgument, "operator(): an index is an undefined th::Tensor");
    none(t > 0) = 0;
    CHECK_FAILED(th::Status::ErrArgument, "");
    CHECK(!none(t > 0).max().defined());
    CHECK_FAILED(th::Status::ErrArgument, "");
    CHECK(t.sumall() == 15);
    const th::Fused f("u + v");
    CHECK(f({{"v", t}, {"u", t}}).sumall() == 30);
    CHECK(!f({{"u", t}, {"w", t}}).defined());
    CHECK_FAILED(th::Status::ErrArgument, "run: the expression has no input w");
    CHECK(!th::Fused()({{"u", t}}).defined());
    CHECK_FAILED(th::Status::ErrArgument, "nInputs: ");
    CHECK(!th::zeros({0}).max().defined());
    CHECK_FAILED(th::Status::ErrArgument, "max: ");
}

int main() {
    what_fails_is_undefined();
    a_computation_goes_on_with_what_is_undefined();
    numbers_say_that_they_failed();
    a_result_that_fails_stays();
    functions_of_the_caller_are_called();
    what_fails_in_a_function_ends_backward();
    conveniences_fail_like_the_rest();
    return failures > 0;
}
