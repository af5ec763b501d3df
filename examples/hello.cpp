// thorn in C++17: tensors are values, operators and indices make tensors and views, and failures are exceptions.
//
//     c++ -std=c++17 -Iinclude examples/hello.cpp -Ltarget/release -lthorn -o hello
//     LD_LIBRARY_PATH=target/release ./hello

#include <cstdlib>
#include <iostream>
#include <thorn.hpp>

namespace {

void print(const char *title, const th::Tensor &matrix) {
    std::cout << title << ", strides " << matrix.stride(0) << " and " << matrix.stride(1) << '\n' << matrix << '\n';
}

// Views of one matrix, their sum in new memory, and a write through a view.
void show_views(const th::Tensor &a) {
    th::Tensor right = a(th::all, th::slice(1, 3));
    th::Tensor transposed = right.t();
    print("a", a);
    print("right: the last two columns of a", right);
    print("transposed: right, transposed", transposed);
    print("right + 10 * transposed", right + 10 * transposed);
    right.fill_(0);
    print("a, after right was filled with 0", a);
}

// Shapes [2 x 3] and [3 x 2] do not broadcast. Returns false if there is no error.
bool show_error(const th::Tensor &a) {
    try {
        print("no sum", a + a.t());
        return false;
    } catch (const th::Error &error) {
        std::cout << "caught " << th::statusName(error.code()) << ": " << error.what() << '\n';
        return true;
    }
}

} // namespace

int main() {
    try {
        const th::Tensor a = th::tensor({{1, 2, 3}, {4, 5, 6}}, th::float32);
        std::cout << "thorn " << th::version() << '\n';
        show_views(a);
        double sum = 0;
        for (float x : a.elements<float>()) sum += x;
        std::cout << "the sum of what is left: " << sum << '\n';
        return show_error(a) && sum == a.sumall() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception &error) {
        std::cerr << "hello: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
