// Trains a convolutional net on small colour pictures, writes checkpoints, and continues from them after a crash. This
// is cifar_like.c in C++: the programs compute the same bits, and continue from each other's checkpoints.
//
//     c++ -std=c++17 -O2 -Iinclude examples/cifar_like.cpp -Ltarget/release -lthorn -o cifar_like
//     LD_LIBRARY_PATH=target/release ./cifar_like [--epochs N] [--pictures N] [--accuracy X] [--checkpoint NAME]
//
// The program can be killed at any time, also by SIGKILL. A second call continues after the last complete epoch, and
// ends with the same bits as a run that was never killed.

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <string>
#include <thorn.hpp>
#include <unistd.h>
#include <utility>
#include <vector>

using th::Tensor;

namespace {

constexpr int64_t side = 32, channels = 3, shapes = 5, classes = 2 * shapes;
constexpr int64_t layers = 3, width = 32, features = width * (side >> layers) * (side >> layers);
constexpr int64_t batch_size = 50, most_shift = 4;
constexpr double learning_rate = 0.01, decay = 0.1;

struct Options {
    int64_t epochs = 6, pictures = 3000;
    double accuracy = 0.9;                 // on the held-out pictures, which the program requires
    std::string checkpoint = "cifar_like"; // the name of its files without their endings
};

// Draws pictures of a class: a shape at a random place, in the complement of the background's colour. The second half
// of the classes are shapes with a hole.
Tensor draw(int64_t count, int64_t label, const th::Generator &generator) {
    // The distance from the centre of each shape, where 1 is the outline: disc, square, diamond, triangle, cross.
    static const std::array<std::string, shapes> distance = {"sqrt(x*x + y*y)", "max(abs(x), abs(y))",
                                                             "abs(x) + abs(y)", "max(abs(x) + y/2, -y)",
                                                             "min(max(3*abs(x), abs(y)), max(abs(x), 3*abs(y)))"};
    const std::string hole = label < shapes ? "0" : "0.5";
    const th::Fused picture("r = 8 + 4*size; x = (column - 12 - 7*left) / r; y = (row - 12 - 7*top) / r; d = " +
                            distance[static_cast<std::size_t>(label % shapes)] + "; inside = (d < 1) * (d >= " + hole +
                            "); background + inside * (1 - 2*background) + 0.1*noise");
    const Tensor pixels = th::arange(side, th::float32);
    const Tensor size = th::rand(generator, {count, 1, 1, 1}), left = th::rand(generator, {count, 1, 1, 1});
    const Tensor top = th::rand(generator, {count, 1, 1, 1});
    const Tensor background = th::rand(generator, {count, channels, 1, 1});
    const Tensor noise = th::randn(generator, {count, channels, side, side});
    // In the order in which the expression names them.
    return picture({size, pixels.view({1, 1, 1, side}), left, pixels.view({1, 1, side, 1}), top, background, noise});
}

struct Set {
    Tensor x; // [n x 3 x 32 x 32] red, green and blue, from 0 to 1 without the noise
    Tensor y; // [n] the classes
    int64_t count() const { return y.size(0); }
};

// Draws `count` pictures, the same number of each class.
Set new_set(int64_t count, const th::Generator &generator) {
    std::vector<Tensor> x, y;
    for (int64_t label = 0; label < classes; label++) {
        x.push_back(draw(count / classes, label, generator));
        y.push_back(th::full({count / classes}, static_cast<double>(label), th::int64));
    }
    return {th::cat(x), th::cat(y)};
}

// Random numbers whose deviation is the root of `variance`.
Tensor random_weight(const th::Generator &generator, th::IntList size, double variance) {
    return th::empty(size, th::float32).normal_(generator, 0, std::sqrt(variance));
}

// r = maxPool2x2(relu(batchNorm(convolution of x)))
struct Layer {
    Tensor kernels;        // [32 x inputs x 3 x 3]
    Tensor scale, shift;   // [32] each
    Tensor mean, variance; // [32] each: the statistics that batch normalization uses outside of training

    // The variance preserves the magnitude of activations through a layer with relu.
    Layer(int64_t inputs, const th::Generator &generator)
        : kernels(random_weight(generator, {width, inputs, 3, 3}, 2 / (9.0 * static_cast<double>(inputs)))),
          scale(th::ones({width})), shift(th::zeros({width})), mean(th::zeros({width})), variance(th::ones({width})) {}

    // In training, batch normalization updates the statistics.
    Tensor operator()(const Tensor &x, bool training) const {
        const Tensor sums = x.conv2d(kernels, {}, 1, 1);
        return sums.batchNorm(scale, shift, mean, variance, training).r.relu().maxPool2d(2, 2);
    }
};

class Net {
  public:
    explicit Net(const th::Generator &generator) {
        for (int64_t i = 0; i < layers; i++) layer_.emplace_back(i ? width : channels, generator);
        w_ = random_weight(generator, {features, classes}, 1.0 / features);
        b_ = th::zeros({classes});
        for (Tensor &t : weights()) t.setRequiresGrad_(true);
    }

    // The scores of the classes [n x 10] for pictures [n x 3 x 32 x 32].
    Tensor operator()(Tensor x, bool training) const {
        for (const Layer &layer : layer_) x = layer(x, training);
        return th::addmm(b_, x.view({-1, features}), w_);
    }

    std::vector<Tensor> weights() const {
        std::vector<Tensor> list;
        for (const Layer &layer : layer_) list.insert(list.end(), {layer.kernels, layer.scale, layer.shift});
        list.insert(list.end(), {w_, b_});
        return list;
    }

    // The weights and statistics with their names in a checkpoint.
    std::vector<std::pair<std::string, Tensor>> named() const {
        std::vector<std::pair<std::string, Tensor>> list;
        const auto add = [&](const char *name, std::size_t i, const Tensor &t) {
            list.emplace_back(name + std::to_string(i + 1), t);
        };
        for (std::size_t i = 0; i < layer_.size(); i++) {
            add("kernels", i, layer_[i].kernels);
            add("scale", i, layer_[i].scale);
            add("shift", i, layer_[i].shift);
        }
        list.insert(list.end(), {{"w", w_}, {"b", b_}});
        for (std::size_t i = 0; i < layer_.size(); i++) {
            add("mean", i, layer_[i].mean);
            add("variance", i, layer_[i].variance);
        }
        return list;
    }

  private:
    std::vector<Layer> layer_;
    Tensor w_, b_; // [512 x 10] and [10]
};

// All that changes during training: the contents of a checkpoint.
//
struct Run {
    const th::Generator &generator;
    Net net{generator};
    th::Optim optimizer = th::Optim::adamw(net.weights(), learning_rate, 0.9, 0.999, 1e-8, decay);
    int64_t epoch = 0; // the number of complete epochs

    // The library writes the file under a temporary name and renames it when it is complete.
    void save(const std::string &name) const {
        const th::Archive file = th::Archive::create(name + ".pt");
        for (const auto &[key, tensor] : net.named()) file.add(key, tensor);
        optimizer.add(file, "optimizer");
        file.add("random", th::getRNGState(generator));
        file.add("epoch", th::full({}, static_cast<double>(epoch), th::int64));
        file.close();
    }

    void load(const std::string &name) {
        if (!std::filesystem::exists(name + ".pt")) return;
        const th::NoGrad off;
        const th::Archive file = th::Archive::open(name + ".pt");
        for (auto &[key, tensor] : net.named()) file.copy_out(tensor, key);
        th::setRNGState(generator, file.tensor("random"));
        epoch = static_cast<int64_t>(file.tensor("epoch").item());
        optimizer.read(file, "optimizer");
        std::cout << "continue after epoch " << epoch << " of " << name << ".pt" << std::endl;
    }
};

// Shifts each picture by up to most_shift pixels in both directions, and mirrors every other one.
void augment(Tensor &x, const th::Generator &generator) {
    const Tensor padded = x.pad({most_shift, most_shift, most_shift, most_shift}, th::PadMode::Reflect);
    for (int64_t i = 0; i < x.size(0); i++) {
        Tensor from = padded.select(0, i);
        for (int d = 1; d <= 2; d++)
            from = from.narrow(d, static_cast<int64_t>(generator.uniform(0, 2 * most_shift + 1)), side);
        x.select(0, i).copy_(generator.bernoulli() ? from.flip({2}) : from);
    }
}

// The accuracy, without recording and with the statistics of the training.
double evaluate(const Net &net, const Set &set) {
    const th::NoGrad off;
    return (net(set.x, false).argmax(1) == set.y).sumall() / static_cast<double>(set.count());
}

// Rewrites one line of a terminal, and clears it after the last batch. Other outputs get no progress bar.
void show_progress(int64_t epoch, int64_t batch, int64_t batches, double loss) {
    constexpr int64_t length = 40;
    if (!isatty(STDERR_FILENO)) return;
    const auto done = static_cast<std::size_t>(length * batch / batches);
    std::cerr << "\repoch " << std::setw(2) << epoch << "  [" << std::string(done, '#')
              << std::string(length - done, ' ') << "]  loss " << std::fixed << std::setprecision(4) << loss;
    if (batch == batches) std::cerr << "\r\033[K";
}

// Trains until `options.epochs` epochs are complete. Pictures that do not fill a batch are skipped.
void train(Run &run, const Options &options, const Set &set, const Set &held_out) {
    const int64_t batches = set.count() / batch_size, steps = options.epochs * batches;
    while (run.epoch < options.epochs) {
        double sum = 0;
        const Tensor order = th::randperm(run.generator, set.count());
        for (int64_t batch = 0; batch < batches; batch++) {
            const Tensor rows = order.narrow(0, batch * batch_size, batch_size);
            Tensor x = set.x.indexSelect(0, rows);
            augment(x, run.generator);
            const Tensor loss = th::crossEntropy(run.net(x, true), set.y.indexSelect(0, rows));
            run.optimizer.zeroGrad();
            loss.backward();
            run.optimizer.setLr(th::scheduleOneCycle(run.epoch * batches + batch, learning_rate, steps));
            run.optimizer.step();
            sum += loss.item();
            show_progress(run.epoch + 1, batch + 1, batches, sum / static_cast<double>(batch + 1));
        }
        const double accuracy = evaluate(run.net, held_out);
        run.epoch++;
        run.save(options.checkpoint);
        std::cout << "epoch " << std::setw(2) << run.epoch << std::fixed << std::setprecision(6) << "  loss "
                  << sum / static_cast<double>(batches) << std::setprecision(2) << "  held-out accuracy "
                  << std::setw(5) << 100 * accuracy << " %" << std::endl;
    }
}

// Trains a net, or continues, and returns the accuracy of the net on pictures that are not used for training.
double learn(const Options &options) {
    const th::Generator generator(1);
    const Set set = new_set(options.pictures, generator), held_out = new_set(options.pictures / 5, generator);
    Run run{generator};
    run.load(options.checkpoint);
    train(run, options, set, held_out);
    return evaluate(run.net, held_out);
}

// Returns false if an argument is unknown or has no valid value.
bool parse(Options &options, int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (name == "--epochs")
            options.epochs = std::atoll(value.c_str());
        else if (name == "--pictures")
            options.pictures = std::atoll(value.c_str());
        else if (name == "--accuracy")
            options.accuracy = std::atof(value.c_str());
        else if (name == "--checkpoint")
            options.checkpoint = value;
        else
            return false;
    }
    return options.epochs > 0 && options.pictures >= batch_size && !options.checkpoint.empty();
}

} // namespace

int main(int argc, char **argv) {
    try {
        Options options;
        if (!parse(options, argc, argv)) {
            std::cerr << "usage: cifar_like [--epochs N] [--pictures N] [--accuracy X] [--checkpoint NAME]\n";
            return EXIT_FAILURE;
        }
        const double reached = learn(options);
        std::cout << "test accuracy " << std::fixed << std::setprecision(2) << 100 * reached << " %\n";
        return reached >= options.accuracy ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << "cifar_like: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
