// thorn.hpp: gradients, hooks, checkpoints, and functions with a custom gradient.

#include "cxx/check.hpp"

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <unistd.h>

using th::Tensor;
using Tensors = std::vector<Tensor>;

static Tensor doubles(std::initializer_list<double> values) { return th::tensor(std::vector<double>(values)); }

static Tensor leaf(std::initializer_list<double> values) { return doubles(values).setRequiresGrad_(true); }

static void backward_adds_to_gradients() {
    Tensor a = leaf({1, 2, 3}), b = leaf({4, 5, 6});
    CHECK(!a.grad().defined());
    CHECK(a.requiresGrad() && a.isLeaf());
    Tensor product = a * b;
    CHECK(product.requiresGrad() && !product.isLeaf());
    product.sum().backward();
    CHECK_VALUES(a.grad(), 4, 5, 6);
    CHECK_VALUES(b.grad(), 1, 2, 3);
    (a * a).backward(doubles({1, 10, 100}));
    CHECK_VALUES(a.grad(), 6, 45, 606);
    a.zeroGrad_();
    CHECK_VALUES(a.grad(), 0, 0, 0);
    a.setGrad_();
    CHECK(!a.grad().defined());
    CHECK_THROWS((a * b).backward(), th::Status::ErrArgument, "backward: ");
    CHECK_THROWS(Tensor().grad(), th::Status::ErrArgument, "grad: ");
    CHECK_THROWS(a.add_(1), th::Status::ErrArgument, "add_: argument 'r' is a leaf");
}

// sin(start), sin(start + 0.7), sin(start + 1.4) and so on, in this shape.
static Tensor wave(double start, const std::vector<int64_t> &shape, int64_t count) {
    return (th::arange(0, static_cast<double>(count), 1, th::float64) * 0.7 + start).sin().reshape(shape);
}

static bool are_near(const Tensor &t, const double *expected) {
    for (int64_t i = 0; i < t.numel(); i++)
        if (!(std::fabs(t.select(0, i).item() - expected[i]) < 1e-11)) return false;
    return true;
}

// torch.nn.MultiheadAttention(4, 2, batch_first=True) computed the expected values.
static void heads_attend() {
    const double masked[24] = {
        -1.45224272818, -0.62739655139, -0.779330224793, -0.54231644183, -1.98395154613, -0.337607114436, -0.793713570013, -0.805001260385,
        -0.850394041536, -1.56592080681, 0.38741813, -1.80246491806, -1.22563657048, -1.37242292693, 0.398024608357, -2.01595011967,
        -1.2255225789, -1.37257658384, 0.398200174722, -2.01612730786, -1.65217110644, -0.508609384109, -0.80324969212, -0.616028696126};
    const double causal[24] = {
        -0.85335346371, -1.85563815266, 0.936333863656, -2.547148907, -0.870746476815, -1.82925175975, 0.904003178985, -2.51260991313,
        -1.76659249546, -0.340869551083, -1.0049247393, -0.403723059141, -2.4072264864, 0.376152185614, -1.71547854648, 0.218254546916,
        0.0906311687817, -1.96796901426, 0.204030525857, -1.05483291536, -2.22924698877, -0.594572893061, -0.0641803325597, -1.92280051094};
    Tensor in = wave(1, {12, 4}, 48), inBias = wave(2, {12}, 12), out = wave(3, {4, 4}, 16), outBias = wave(4, {4}, 4);
    Tensor query = wave(5, {2, 3, 4}, 24), source = wave(6, {2, 2, 4}, 16), none;
    Tensor mask = th::tensor(std::vector<double>{1, 1, 1, 0, 0, 1}).reshape({3, 2}).ne(0);
    Tensor r = th::multiHeadAttention(query, source, source, in, inBias, out, outBias, 2, mask).reshape({24});
    CHECK(are_near(r, masked));
    r = th::multiHeadAttention(query, query, query, in, inBias, out, outBias, 2, {}, true).reshape({24});
    CHECK(are_near(r, causal));
    // Biases of zero are as undefined ones, and the gradient reaches the weights.
    Tensor w = in.clone().setRequiresGrad_(true);
    Tensor with = th::multiHeadAttention(query, source, source, w, inBias * 0, out, outBias * 0, 2);
    Tensor without = th::multiHeadAttention(query, source, source, w, none, out, none, 2);
    CHECK(th::equal(with, without));
    without.sum().backward();
    CHECK(w.grad().defined() && w.grad().abs().sum().item() > 0);
    CHECK_THROWS(th::multiHeadAttention(query, source, source, in, inBias, out, outBias, 0), th::Status::ErrShape, "reshape");
    CHECK_THROWS(th::multiHeadAttention(query, source, source, in, inBias, out, outBias, 3), th::Status::ErrShape, "reshape");
}

static void several_tensors_are_roots() {
    Tensor x = leaf({1, 2}), y = x * 2, z = (x * x).sum();
    th::backward({y, z}, {th::ones({2}, th::float64), Tensor()});
    CHECK_VALUES(x.grad(), 4, 6);
    Tensor loss = (x * x).sum();
    th::backward({loss}, {}, true);
    th::backward({loss});
    CHECK_VALUES(x.grad(), 8, 14);
    CHECK_THROWS(th::backward({loss}), th::Status::ErrArgument, "a second time");
    CHECK_THROWS(th::backward({y, z}, {z}), th::Status::ErrArgument, "not one gradient for each");
}

static void gradients_have_gradients() {
    Tensor x = leaf({2, 3}), unused = leaf({1});
    Tensor cube = (x * x * x).sum();
    Tensors first = th::gradients({cube}, {x}, {}, true, true);
    CHECK_VALUES(first[0], 12, 27);
    Tensors second = th::gradients({first[0].sum()}, {x}, {}, true);
    CHECK_VALUES(second[0], 12, 18);
    CHECK(!x.grad().defined());
    CHECK_THROWS(th::gradients({cube}, {x, unused}, {}, true), th::Status::ErrArgument, "has no part in the outputs");
    Tensors some = th::gradients({cube}, {x, unused}, {}, true, false, true);
    CHECK(some.size() == 2 && !some[1].defined());
    CHECK_VALUES(some[0], 12, 27);
    CHECK_VALUES(th::gradients({x * 2}, {x}, {doubles({1, 10})})[0], 2, 20);
}

static void guards_switch_recording_off() {
    Tensor w = leaf({1, 2});
    {
        const th::NoGrad off;
        CHECK(!th::gradIsEnabled() && !(w * 2).requiresGrad());
        w.sub_(0.5);
        {
            const th::NoGrad again;
            const th::Inference inner;
            CHECK(!th::gradIsEnabled());
        }
        CHECK(!th::gradIsEnabled());
    }
    CHECK(th::gradIsEnabled() && w.requiresGrad());
    CHECK_VALUES(w, 0.5, 1.5);
    {
        const th::Inference inference;
        {
            const th::Inference inner;
            const th::NoGrad off;
        }
        th::gradSetEnabled(true);
        CHECK(!th::gradIsEnabled() && !(w * 2).requiresGrad());
    }
    CHECK(th::gradIsEnabled() && (w * 2).requiresGrad());
    CHECK(!w.detach().requiresGrad());
}

static void hooks_look_on_and_replace() {
    Tensor x = leaf({1, 2});
    std::vector<double> seen;
    auto owned = std::make_shared<int>(0);
    const int64_t doubled = x.addHook([owned](const Tensor &gradient) {
        ++*owned;
        return gradient * 2;
    });
    const int64_t looking = x.addHook([&seen](const Tensor &gradient) { seen.push_back(gradient.sumall()); });
    CHECK_EQ(owned.use_count(), 2);
    Tensor y = x * 3;
    y.addHook([](const Tensor &) { return Tensor(); });
    y.sum().backward();
    CHECK_VALUES(x.grad(), 6, 6);
    CHECK(*owned == 1 && seen == std::vector<double>{12});
    x.removeHook(doubled);
    CHECK_EQ(owned.use_count(), 1);
    CHECK_THROWS(x.removeHook(doubled), th::Status::ErrArgument, "removeHook: there is no hook");
    (x * 3).sum().backward();
    CHECK_VALUES(x.grad(), 9, 9);
    x.removeHook(looking);
    CHECK_THROWS(th::ones({1}).addHook([owned](const Tensor &) {}), th::Status::ErrArgument, "requires no gradient");
    CHECK_EQ(owned.use_count(), 1);
}

// A hook may remove itself, and a hook that would be called later.
static void hooks_remove_hooks() {
    Tensor x = leaf({1});
    int64_t first = 0, second = 0;
    auto owned = std::make_shared<int>(0);
    first = x.addHook([&, owned](const Tensor &) {
        x.removeHook(first);
        x.removeHook(second);
        ++*owned;
    });
    second = x.addHook([owned](const Tensor &) { *owned += 10; });
    (x * 2).backward();
    (x * 2).backward();
    CHECK(*owned % 10 == 1);
    CHECK_EQ(owned.use_count(), 1);
    CHECK_VALUES(x.grad(), 4);
}

static void an_exception_of_a_hook_comes_out_of_backward() {
    Tensor x = leaf({1, 2});
    x.addHook([](const Tensor &) { throw std::out_of_range("no"); });
    Tensor y = (x * 2).sum();
    try {
        th::backward({y}, {}, true);
        CHECK(false);
    } catch (const std::out_of_range &error) {
        CHECK_EQ(std::string(error.what()), "no");
    }
    try {
        y.backward();
        CHECK(false);
    } catch (const std::out_of_range &) {
    }
    CHECK(!x.grad().defined());
    // The first exception is not thrown again for another failure.
    CHECK_THROWS(th::ones({2}).backward(), th::Status::ErrArgument, "backward: ");
    x = leaf({1, 2});
    x.addHook([](const Tensor &gradient) { return gradient.sum(7); });
    CHECK_THROWS((x * 2).sum().backward(), th::Status::ErrArgument, "sum: dimension 7");
    x = leaf({1, 2});
    x.addHook([](const Tensor &gradient) { return gradient.sum(); });
    CHECK_THROWS((x * 2).sum().backward(), th::Status::ErrArgument, "of another shape or dtype");
}

static Tensor own_exp(const Tensor &x, double factor = 1) {
    return th::gradApply(
        {x},
        [](th::GradCall &call, const Tensors &inputs) {
            Tensor r = inputs[0].exp();
            call.save(r);
            return r;
        },
        [factor](th::GradCall &call, const Tensors &gradients) { return gradients[0] * call.saved(0) * factor; });
}

static void functions_have_gradients_of_their_own() {
    Tensor x = leaf({0, 0.5}), y = own_exp(x);
    CHECK(th::equal(y, x.exp()) && y.requiresGrad());
    Tensors first = th::gradients({y.sum()}, {x}, {}, true, true);
    CHECK(th::equal(first[0], y));
    CHECK(th::equal(th::gradients({first[0].sum()}, {x})[0], y));
    th::gradCheck([](const Tensors &inputs) { return own_exp(inputs[0]); }, {x});
    CHECK_THROWS(th::gradCheck([](const Tensors &inputs) { return own_exp(inputs[0], 1.01); }, {x}),
                 th::Status::ErrNumeric, "gradCheck: the gradient of element 0");
    const th::NoGrad off;
    CHECK(!own_exp(x).requiresGrad());
}

static void functions_have_several_inputs_and_results() {
    Tensor a = leaf({1, 2}), b = leaf({3, 4}), c = doubles({5, 6});
    auto owned = std::make_shared<int>(0);
    auto forward = [](th::GradCall &call, const Tensors &inputs) {
        CHECK(call.needsGradient(0) && call.needsGradient(1) && !call.needsGradient(2));
        call.save(inputs[0]);
        call.save(inputs[1]);
        return Tensors{inputs[0] * inputs[1] * inputs[2], inputs[0]};
    };
    auto backward = [owned, c](th::GradCall &call, const Tensors &gradients) {
        ++*owned;
        CHECK(call.needsGradient(0) && !call.needsGradient(2));
        CHECK(gradients[0].defined() && !gradients[1].defined());
        return Tensors{gradients[0] * call.saved(1) * c, gradients[0] * call.saved(0) * c, Tensor()};
    };
    Tensors r = th::gradApply({a, b, c}, forward, backward);
    CHECK_EQ(r.size(), 2u);
    CHECK_EQ(owned.use_count(), 3);
    r[0].sum().backward();
    CHECK_VALUES(a.grad(), 15, 24);
    CHECK_VALUES(b.grad(), 5, 12);
    CHECK_VALUES(c, 5, 6);
    CHECK_EQ(*owned, 1);
    r.clear();
    CHECK_EQ(owned.use_count(), 2);
}

static void what_functions_throw_comes_out() {
    Tensor x = leaf({1, 2});
    const auto fine = [](th::GradCall &, const Tensors &inputs) { return inputs[0] * 2; };
    const auto throwing = [](th::GradCall &, const Tensors &) -> Tensor { throw 5; };
    try {
        static_cast<void>(th::gradApply({x}, throwing, fine));
        CHECK(false);
    } catch (int thrown) {
        CHECK_EQ(thrown, 5);
    }
    CHECK(th::gradIsEnabled());
    Tensor y = th::gradApply({x}, fine, throwing);
    try {
        y.sum().backward();
        CHECK(false);
    } catch (int thrown) {
        CHECK_EQ(thrown, 5);
    }
    const auto too_many = [](th::GradCall &, const Tensors &gradients) { return Tensors{gradients[0], Tensor()}; };
    y = th::gradApply({x}, fine, too_many);
    CHECK_THROWS(y.sum().backward(), th::Status::ErrArgument, "gradApply: the function returns another number");
}

static void a_checkpoint_computes_again() {
    Tensor x = leaf({0.5, 1}), w = leaf({2, 3});
    int calls = 0;
    auto f = [&calls, w](const Tensors &inputs) {
        calls++;
        return (inputs[0] * w).sin().exp();
    };
    Tensor plain = f({x});
    plain.sum().backward();
    Tensor expected = x.grad(), expected_w = w.grad();
    x.setGrad_();
    w.setGrad_();
    Tensor y = th::checkpoint(f, {x});
    CHECK(th::equal(y, plain));
    CHECK_EQ(calls, 2);
    y.sum().backward();
    CHECK_EQ(calls, 3);
    CHECK(th::equal(x.grad(), expected) && th::equal(w.grad(), expected_w));
    Tensors two = th::checkpoint([](const Tensors &inputs) { return Tensors{inputs[0] * 2, inputs[0] * 3}; }, {x}, 2);
    th::backward({two[0].sum(), two[1].sum()});
    CHECK(th::equal(x.grad(), expected + 5));
    CHECK_THROWS(th::checkpoint([](const Tensors &inputs) { return inputs; }, {x, w}), th::Status::ErrArgument,
                 "another number of tensors");
    try {
        static_cast<void>(th::checkpoint([](const Tensors &) -> Tensor { throw 6; }, {x}));
        CHECK(false);
    } catch (int thrown) {
        CHECK_EQ(thrown, 6);
    }
    th::gradCheck([](const Tensors &inputs) { return Tensors{inputs[0].sin(), inputs[0] * inputs[1]}; }, {x, w});
}

static void a_model_is_trained() {
    th::Generator generator(1);
    Tensor x = th::randn(generator, {64, 3}, th::float64), truth = doubles({1, -2, 0.5});
    Tensor y = x.mv(truth), w = th::zeros({3}, th::float64).setRequiresGrad_(true);
    for (int i = 0; i < 200; i++) {
        Tensor miss = x.mv(w) - y;
        (miss * miss).mean().backward();
        const th::NoGrad off;
        w.sub_(w.grad() * 0.1);
        w.zeroGrad_();
    }
    CHECK((w.detach() - truth).abs().maxall() < 1e-6);
}

static void optimizers_continue_from_files() {
    Tensor a = leaf({1, -2}), b = leaf({4});
    const auto lamb = th::Optim::lamb({a}, 0.1);
    CHECK_EQ(lamb.addGroup({b}), 1);
    lamb.set(1, "lr", th::scheduleLinear(0, 0.5, 0.25));
    a.setGrad_(doubles({1, -1}));
    lamb.step();
    const std::string path = "/tmp/thorn-cxx-" + std::to_string(getpid()) + ".pt";
    lamb.save(path);
    Tensor again = a.detach().clone().setRequiresGrad_(true);
    const auto loaded = th::Optim::lamb({again}, 1);
    loaded.addGroup({leaf({0})});
    loaded.load(path);
    CHECK(std::remove(path.c_str()) == 0);
    CHECK_EQ(loaded.get(1, "lr"), 0.125);
    a.setGrad_(doubles({2, 3}));
    again.setGrad_(doubles({2, 3}));
    lamb.step();
    loaded.step();
    CHECK(th::equal(a.detach(), again.detach()));
    CHECK_THROWS(th::Optim::adafactor({a}, 0.1, 1), th::Status::ErrArgument, "beta2Decay is 1");
}

static void scalers_and_averages() {
    Tensor a = leaf({1, 2});
    const auto sgd = th::Optim::sgd({a}, 0.5);
    const Tensor state = th::gradScalerInit(4);
    a.setGrad_(doubles({4, 8}));
    CHECK_EQ(th::gradScalerStep(state, sgd, 2, 0.5, 1), 0);
    CHECK_VALUES(a.detach(), 0.5, 1);
    CHECK_VALUES(state, 8, 0);
    th::gradScalerUpdate(state, 1);
    CHECK_VALUES(state, 4, 0);
    const Tensor mean = doubles({1, 3});
    th::gradAverage({mean}, {a}, 0.5);
    CHECK_VALUES(mean, 0.75, 2);
    CHECK_THROWS(th::gradAverage({mean, mean}, {a}), th::Status::ErrArgument, "there are 2 averages and 1 parameters");
    CHECK_EQ(th::schedulePlateau(doubles({1, 1, 1}), 1, 0.5, 1), 0.5);
}

CHECK_MAIN(CASE(backward_adds_to_gradients), CASE(heads_attend), CASE(several_tensors_are_roots), CASE(gradients_have_gradients),
           CASE(guards_switch_recording_off), CASE(hooks_look_on_and_replace), CASE(hooks_remove_hooks),
           CASE(an_exception_of_a_hook_comes_out_of_backward), CASE(functions_have_gradients_of_their_own),
           CASE(functions_have_several_inputs_and_results), CASE(what_functions_throw_comes_out),
           CASE(a_checkpoint_computes_again), CASE(a_model_is_trained),
           CASE(optimizers_continue_from_files), CASE(scalers_and_averages))
