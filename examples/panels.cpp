// Puts three results of the other examples into one image: the losses of a training as a curve, a fractal, and edges.
//
//     c++ -std=c++17 -O2 -Iinclude examples/panels.cpp -Ltarget/release -lthorn -o panels
//     ./digits_grad >digits_grad.txt; ./julia julia.png; ./edges edges.pgm
//     LD_LIBRARY_PATH=target/release ./panels panels.png digits_grad.txt julia.png edges.pgm
//
// Images are float32 tensors of 3 x height x width with values from 0 to 1. A mask is height x width: 1 where a shape
// covers a pixel, 0 elsewhere, and between these values at the border of the shape.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thorn.hpp>
#include <vector>

using th::all;
using th::slice;
using th::Tensor;

namespace {

constexpr int64_t height = 300, width = 400, gap = 8, margin = 24, frame = 4;
constexpr double shades = 24; // of the lines: few shades make a small file

Tensor colour(double red, double green, double blue) {
    return th::tensor({red, green, blue}, th::float32).view({3, 1, 1});
}

Tensor dark() { return colour(0.05, 0.07, 0.14); }
Tensor orange() { return colour(1, 0.72, 0.3); }
Tensor pale() { return colour(0.6, 0.85, 1); }

// The number after the word "loss" in each line of a text.
std::vector<double> read_losses(const char *path) {
    std::ifstream file(path);
    std::vector<double> losses;
    for (std::string word; file >> word;) {
        double loss;
        if (word == "loss" && file >> loss && loss > 0) losses.push_back(loss);
    }
    if (losses.size() < 2) throw std::runtime_error(std::string(path) + ": fewer than two losses");
    return losses;
}

// The image with the colour wherever the mask is 1.
Tensor paint(const Tensor &image, const Tensor &mask, const Tensor &colour) { return image + mask * (colour - image); }

// Pixels whose distance from a line or a point is less than the radius.
Tensor within(const Tensor &distance, double radius) { return (radius + 0.5 - distance).clamp(0, 1); }

// The losses from left to right. The vertical axis is logarithmic, with a horizontal line at each power of ten.
Tensor draw_curve(const std::vector<double> &losses) {
    const auto [least, most] = std::minmax_element(losses.begin(), losses.end());
    const double top = std::log10(*most) + 0.1, bottom = std::floor(std::log10(*least)) - 0.1;
    const double scale = (height - 2 * margin) / (top - bottom);
    const auto row_of = [&](auto exponent) { return (top - exponent) * scale + margin; };

    const int64_t count = static_cast<int64_t>(losses.size()), inner = width - 2 * margin;
    const Tensor points = row_of(th::tensor(losses).to(th::float32).log10());
    const Tensor curve = points.view({1, count}).interpolate({inner}, true, false); // 1 x inner: the row in each column
    const Tensor slope = th::cat({curve.diff(), th::zeros({1, 1})}, 1);
    const Tensor y = th::arange(height).to(th::float32).view({height, 1});

    Tensor plot = dark().expand({3, height, inner});
    for (double exponent = std::ceil(bottom); exponent <= top; exponent++)
        plot = paint(plot, within((y - row_of(exponent)).abs(), 0.5) * 0.25, pale());
    plot = paint(plot, (y - curve).clamp(0, 1) * (y < row_of(bottom)) * 0.15, orange()); // the area below the curve
    plot = paint(plot, within((y - curve).abs() / (slope * slope + 1).sqrt(), 1.2), orange());

    Tensor panel = dark().expand({3, height, width}).clone();
    panel(all, all, slice(margin, width - margin)).copy_(plot);
    for (int64_t i = 0; i < count; i++) {
        const double column = margin + static_cast<double>(i * (inner - 1)) / static_cast<double>(count - 1);
        const Tensor distance = th::hypot(y - points(i), th::arange(width).to(th::float32) - column);
        panel = paint(panel, within(distance, 3), orange());
    }
    return panel;
}

// The middle of an image in the shape of a panel, and then in its size.
Tensor fit(const Tensor &image) {
    const int64_t rows = std::min(image.size(1), image.size(2) * height / width), columns = rows * width / height;
    const int64_t above = (image.size(1) - rows) / 2, left = (image.size(2) - columns) / 2;
    const Tensor middle = image(all, slice(above, above + rows), slice(left, left + columns));
    return middle.interpolate({height, width}, false, true);
}

Tensor read_colours(const char *path) { return fit(th::load(path).permute({2, 0, 1}).to(th::float32) / 255); }

// Bright lines on a dark panel, from the gray image of dark lines that edges.c writes, without the frame of the sheet.
Tensor read_lines(const char *path) {
    const Tensor gray = th::load(path).to(th::float32).unsqueeze1d(0) / 255;
    const Tensor mask = 1 - fit(gray(all, slice(frame, -frame)));
    return paint(dark(), (mask * shades).round() / shades, pale());
}

void save(const Tensor &image, const char *path) {
    (image.permute({1, 2, 0}) * 255).round().clamp(0, 255).to(th::uint8).save(path);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 5) {
        std::cerr << "usage: panels IMAGE LOSSES FRACTAL EDGES\n";
        return EXIT_FAILURE;
    }
    try {
        const std::vector<double> losses = read_losses(argv[2]);
        const Tensor white = th::ones({3, height, gap});
        const Tensor row = th::cat({draw_curve(losses), white, read_colours(argv[3]), white, read_lines(argv[4])}, 2);
        save(row, argv[1]);
        std::cout << argv[1] << ": " << row.size(2) << " x " << row.size(1) << " pixels, a curve of " << losses.size()
                  << " losses from " << losses.front() << " to " << losses.back() << '\n';
        return EXIT_SUCCESS;
    } catch (const std::exception &error) {
        std::cerr << "panels: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
