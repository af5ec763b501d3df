// thorn.hpp: exported programs.

#include "cxx/check.hpp"

using th::Tensor;

static const std::string folder = PROGRAMS;

// The arrays that PyTorch computed.
struct Values {
    explicit Values(const char *name) : archive(th::Archive::open(folder + "/" + name + ".npz")) {}
    Tensor operator[](const char *key) const { return archive.tensor(key); }
    th::Archive archive;
};

static bool is_near(const Tensor &got, const Tensor &expected) {
    if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes()) return false;
    return th::allclose(got, expected, 1e-5, 1e-5);
}

static void programs_are_called() {
    const th::Program p(folder + "/conv.pt2");
    const Values values("conv");
    const Tensor x = values["a.in0"], expected = values["a.out0"];
    const std::vector<Tensor> out = p(x);
    CHECK_EQ(out.size(), 1u);
    CHECK(is_near(out[0], expected));
    CHECK(is_near(p.forward(x), expected));
    CHECK(is_near(p(std::vector<Tensor>{x})[0], expected));
    CHECK(is_near(p({x})[0], expected));
    CHECK(is_near(p.run({x})[0], expected));
    CHECK_EQ(p.inputCount(), 1);
    CHECK_EQ(std::string(p.inputName(0)), "x");
    CHECK(p.inputDtype(0) == th::float32);
    const std::vector<th::SizeRange> sizes = p.inputSizes(0);
    CHECK_EQ(sizes.size(), 4u);
    CHECK_EQ(sizes[0].min, 1);
    CHECK_EQ(sizes[0].max, 64);
    CHECK_EQ(p.outputSizes(0)[1].max, 3);
    CHECK_EQ(std::string(p.metadata("torch_version")).substr(0, 2), "2.");
    CHECK(p.metadata("torch") == nullptr);
    // A copy refers to the same program.
    const th::Program copy = p;
    CHECK(copy.get() == p.get());
    CHECK(is_near(copy.forward(x), expected));
    CHECK(!th::Program().defined());
}

static void outputs_are_written() {
    const th::Program p(folder + "/conv.pt2");
    const Values values("conv");
    std::vector<Tensor> out{th::zeros({5, 3}, th::float64), Tensor()};
    CHECK_THROWS(p.run_out(out, {values["a.in0"]}), th::Status::ErrArgument, "run: 2 output handles: expected 1");
    out.pop_back();
    CHECK_EQ(&p.run_out(out, {values["a.in0"]}), &out);
    CHECK(out[0].dtype() == th::float64);
    CHECK(is_near(out[0], values["a.out0"].to(th::float64)));

    const th::Program nested(folder + "/nested.pt2");
    const Values others("nested");
    const std::vector<Tensor> several = nested(others["a.in0"], others["a.in1"], others["a.in2"], others["a.in3"]);
    CHECK_EQ(several.size(), 8u);
    CHECK(is_near(several[0], others["a.out0"]));
    CHECK(several[1].dtype() == th::bfloat16);
    CHECK(!several[2].defined());
    CHECK_EQ(several[3].itemLong(), 8);
    CHECK_THROWS(nested.forward(others["b.in0"], others["b.in1"], others["b.in2"], others["b.in3"]), th::Status::ErrArgument,
                 "forward: the program has several outputs");
}

static void failures_are_thrown() {
    CHECK_THROWS(th::Program(folder + "/none.pt2"), th::Status::ErrIo, "Program: ");
    CHECK_THROWS(th::Program(folder + "/conv.npz"), th::Status::ErrFormat, "Program: ");
    const th::Program p(folder + "/conv.pt2");
    const Tensor x = th::zeros({2, 1, 10, 10}, th::float32);
    CHECK_THROWS(p(x, x), th::Status::ErrArgument, "run: 2 inputs: expected 1");
    CHECK_THROWS(p(x.to(th::float64)), th::Status::ErrDtype, "run: input 'x' has dtype float64");
    CHECK_THROWS(p(x[0]), th::Status::ErrShape, "run: input 'x' has 3 dimensions");
    CHECK_THROWS(p.parameter("none"), th::Status::ErrArgument, "no parameter 'none'");
    CHECK_THROWS(p.inputSizes(1), th::Status::ErrArgument, "input 1");
    CHECK_THROWS(p.bufferName(99), th::Status::ErrArgument, "buffer 99");
}

static void parameters_are_trained() {
    const th::Program p(folder + "/conv.pt2");
    const Values values("conv");
    const std::vector<Tensor> parameters = p.parameters();
    const std::vector<th::NamedTensor> named = p.namedParameters();
    CHECK_EQ(parameters.size(), 9u);
    CHECK_EQ(std::string(named[8].name), "last.bias");
    CHECK(named[8].tensor.get() == parameters[8].get());
    CHECK_EQ(p.namedBuffers().size(), 6u);
    CHECK_EQ(std::string(p.namedBuffers()[0].name), "features.1.running_mean");
    CHECK_SIZES(p.buffer("features.1.running_mean"), 4);
    for (Tensor parameter : parameters) parameter.setRequiresGrad_(true);
    const th::Optim optim = th::Optim::sgd(parameters, 0.05, 0.9);
    Tensor losses = values["losses"];
    for (int64_t step = 0; step < losses.numel(); step++) {
        optim.zeroGrad();
        Tensor loss = th::crossEntropy(p.forward(values["a.in0"]), values["classes"]);
        CHECK(std::abs(loss.item() - losses.getAt({step})) < 1e-4);
        loss.backward();
        optim.step();
    }
}

static void programs_are_converted() {
    const th::Program p(folder + "/conv.pt2");
    const Values values("conv");
    p.to(th::DeviceType::Cpu, 0, th::float64);
    CHECK(p.inputDtype(0) == th::float64);
    CHECK(is_near(p.forward(values["a.in0"].to(th::float64)), values["a.out0"].to(th::float64)));
}

CHECK_MAIN(CASE(programs_are_called), CASE(outputs_are_written), CASE(failures_are_thrown), CASE(parameters_are_trained),
           CASE(programs_are_converted))
