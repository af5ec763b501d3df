// Entries of kernels that need many registers. A thread gets 128 registers, because two blocks of a multiprocessor are enough to hide the
// latency of loads. By default, the assembler would aim at more blocks and spill registers.
#undef KERNEL
#define KERNEL(symbol, Args, ...) \
    extern "C" __global__ void __launch_bounds__(256, 2) symbol(const __grid_constant__ Args args) { __VA_ARGS__(args); }

