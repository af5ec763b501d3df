// thorn from C++17: a unique_ptr owns each handle, failures become exceptions, and views show their strides.
//
//     c++ -std=c++17 -Iinclude examples/hello.cpp -Ltarget/release -lthorn -o hello
//     LD_LIBRARY_PATH=target/release ./hello

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thorn.h>

namespace {

struct Release {
    void operator()(THTensor *tensor) const noexcept { THTensor_free(tensor); }
};

// Owns a reference. Views keep the memory they look at alive, so owners may go in any order.
using Tensor = std::unique_ptr<THTensor, Release>;

// Takes over what a `new` function returned.
Tensor own(THTensor *tensor) {
    if (!tensor) throw std::runtime_error(THGetLastError());
    return Tensor(tensor);
}

void check(THStatus status) {
    if (status != TH_OK) throw std::runtime_error(THGetLastError());
}

void print(const char *title, const Tensor &matrix) {
    std::cout << title << ", strides " << matrix->stride[0] << " and " << matrix->stride[1] << '\n';
    // To C's stdout, with which std::cout is in step.
    check(THTensor_print(matrix.get()));
}

// Views of one matrix, their sum in memory of its own, and a write through a view.
void show_views(const Tensor &a) {
    Tensor right = own(THTensor_newNarrow(a.get(), 1, 1, 2));
    Tensor transposed = own(THTensor_newT(right.get()));
    print("a", a);
    print("right: the last two columns of a", right);
    print("transposed: right, transposed", transposed);

    Tensor sum = own(THTensor_new());
    check(THTensor_cadd(sum.get(), right.get(), 10, transposed.get()));
    print("sum = right + 10 * transposed", sum);

    check(THTensor_fill(right.get(), 0));
    print("a, after right was filled with 0", a);
}

// Shapes [2 x 3] and [3 x 2] do not broadcast; false if that goes unnoticed.
bool show_error(const Tensor &a) {
    try {
        Tensor r = own(THTensor_new()), transposed = own(THTensor_newT(a.get()));
        check(THTensor_cadd(r.get(), a.get(), 1, transposed.get()));
        return false;
    } catch (const std::runtime_error &error) {
        std::cout << "caught: " << error.what() << '\n';
        return true;
    }
}

} // namespace

int main() {
    try {
        const float values[] = {1, 2, 3, 4, 5, 6};
        const std::int64_t size[] = {2, 3};
        Tensor a = own(THTensor_newFromData(TH_FLOAT32, 2, size, values));
        std::cout << "thorn " << THVersion() << '\n';
        show_views(a);
        return show_error(a) ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << "hello: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
