// std::format of tensors. The program returns 77 if the standard library has no std::format.
#define TH_FORMAT
#include <thorn.hpp>

#ifdef __cpp_lib_format
int main() {
    const th::Tensor t = th::tensor({1, 2});
    if (std::format("t = {}", t) != "t = tensor([1, 2])") return 1;
    return std::format("{:*>16}", t) == "**tensor([1, 2])" ? 0 : 2;
}
#else
int main() { return 77; }
#endif
