// Learns to recognise handwritten digits: a multilayer perceptron, trained by mini-batch gradient descent with
// momentum. The gradients are computed by hand-written calls.
//
//     c++ -std=c++17 -O2 -Iinclude examples/mlp.cpp -Ltarget/release -lthorn -o mlp
//     LD_LIBRARY_PATH=target/release ./mlp examples/data/digits.csv
//
// Functions without an underscore return new tensors. `..._out` functions write to existing tensors, and `..._`
// functions change a tensor. Indices in parentheses make views, which share the memory of their tensor.

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <thorn.hpp>
#include <vector>

#ifndef DIGITS_CSV
#define DIGITS_CSV "examples/data/digits.csv"
#endif

using th::all;
using th::slice;
using th::Tensor;

namespace {

constexpr int64_t pixels = 64, classes = 10, batch = 32, epochs = 15;
constexpr double rate = 0.02, momentum = 0.9, required_accuracy = 0.95;

// Images as rows of pixels, and the digit in each.
struct Digits {
    Tensor x, label;
    int64_t count() const { return x.size(0); }
    Digits part(int64_t first, int64_t end) const { return {x(slice(first, end)), label(slice(first, end))}; }
};

// y = x @ w + b
class Linear {
  public:
    Linear(int64_t inputs, int64_t outputs, const th::Generator &generator)
        : w(th::randn(generator, {inputs, outputs}) * std::sqrt(2.0 / static_cast<double>(inputs))),
          b(th::zeros({outputs})), vw(w.zerosLike()), vb(b.zerosLike()) {}

    Tensor forward(const Tensor &input) {
        x = input;
        return th::addmm(b, x, w);
    }

    // Takes the gradient of the loss with respect to y, updates w and b, and returns the gradient with respect to x.
    Tensor backward(const Tensor &dy) {
        th::mm_out(dw, x.t(), dy);
        th::sum_out(db, dy, 0);
        Tensor dx = dy.mm(w.t());
        w += vw.mul_(momentum).sub_(rate, dw);
        b += vb.mul_(momentum).sub_(rate, db);
        return dx;
    }

  private:
    Tensor w, b;   // [inputs x outputs] and [outputs]
    Tensor vw, vb; // their velocities
    Tensor dw, db; // their gradients, in reused memory
    Tensor x;      // the last input
};

// Linear layers, with a relu after each except the last.
class Perceptron {
  public:
    Perceptron(const std::vector<int64_t> &sizes, const th::Generator &generator) {
        for (std::size_t i = 0; i + 1 < sizes.size(); i++) layers.emplace_back(sizes[i], sizes[i + 1], generator);
    }

    // Scores of all classes, [n x classes].
    Tensor forward(const Tensor &x) {
        before.clear();
        Tensor h = x;
        for (Linear &layer : layers) {
            if (&layer != &layers.front()) h = th::relu(before.emplace_back(h));
            h = layer.forward(h);
        }
        return h;
    }

    void backward(Tensor g) {
        for (std::size_t i = layers.size(); i-- > 0;) {
            g = layers[i].backward(g);
            if (i > 0) g = th::reluGrad(g, before[i - 1]);
        }
    }

  private:
    std::vector<Linear> layers;
    std::vector<Tensor> before; // the input of each relu
};

// One step for a batch; returns its loss, the mean of -log(softmax(scores)[label]).
double train(Perceptron &net, const Digits &digits) {
    const Tensor scores = net.forward(digits.x), loss = th::crossEntropy(scores, digits.label);
    net.backward(th::crossEntropyGrad(th::tensor(1.0), scores, digits.label));
    return loss.item();
}

double accuracy(Perceptron &net, const Digits &digits) {
    const Tensor guess = net.forward(digits.x).argmax(1);
    return (guess == digits.label).sumall() / static_cast<double>(digits.count());
}

void show(Perceptron &net, const Digits &digits) {
    const Tensor guess = net.forward(digits.x).argmax(1);
    std::cout << "read    " << guess << "\nwritten " << digits.label << '\n';
}

double learn(const char *path) {
    const th::Generator generator(1);
    Tensor rows = th::load(path).to(th::float32);
    rows = rows.indexSelect(0, th::randperm(generator, rows.size(0)));
    const Digits digits = {rows(all, slice(0, pixels)) / 16, rows(all, pixels).to(th::int64)};
    const int64_t held_out = digits.count() / 3;
    const Digits training = digits.part(held_out, digits.count()), test = digits.part(0, held_out);

    Perceptron net({pixels, 64, 32, classes}, generator);
    for (int64_t epoch = 1; epoch <= epochs; epoch++) {
        double loss = 0;
        const int64_t batches = training.count() / batch;
        for (int64_t i = 0; i < batches; i++)
            loss += train(net, training.part(i * batch, (i + 1) * batch)) / static_cast<double>(batches);
        std::cout << "epoch " << epoch << "  loss " << loss << "  held-out accuracy " << 100 * accuracy(net, test)
                  << " %\n";
    }
    show(net, test.part(0, 12));
    return accuracy(net, test);
}

} // namespace

int main(int argc, char **argv) {
    try {
        const double reached = learn(argc > 1 ? argv[1] : DIGITS_CSV);
        std::cout << "test accuracy " << 100 * reached << " %\n";
        return reached >= required_accuracy ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << "mlp: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
