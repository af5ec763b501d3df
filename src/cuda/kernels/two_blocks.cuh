// Entries of kernels that need many registers: a thread has 128, since two blocks of a multiprocessor suffice to hide the latency of loads.
// Else the assembler aims for more blocks, and spills.
#undef KERNEL
#define KERNEL(symbol, Args, ...) \
    extern "C" __global__ void __launch_bounds__(256, 2) symbol(const __grid_constant__ Args args) { __VA_ARGS__(args); }

