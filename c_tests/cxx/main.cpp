// The first of three files that include thorn.hpp and are linked together; the third is compiled without exceptions.
#include <thorn.hpp>
#include <thorn.hpp>

th::Tensor doubled(const th::Tensor &t);
extern "C" THTensor *unthrowing_sum(THTensor *a, THTensor *b);

int main() {
    const th::Tensor a = th::tensor({1, 2, 3});
    if (!th::equal(doubled(a), a + a)) return 1;
    if (th::Tensor::take(unthrowing_sum(a.get(), a.get())).sumall() != 12) return 2;
    // The third file has no exceptions: a failed call there returns an undefined tensor.
    if (th::Tensor::take(unthrowing_sum(a.get(), th::zeros({2}).get())).defined()) return 3;
    return a.sumall() == 6 ? 0 : 4;
}
