// Fused expressions. The kernel of a program calls the generated function `program`, which computes an element of the result from the
// addresses of the inputs' elements. Needs map.cu before it.

// The operands: the result and the inputs.
template <int N> struct FusedArgs {
    void* data[N];
    Loops<N> loops;
};

// The value `x` of type S in T, as an operation reads it whose operands have a common dtype.
template <class T, class S> DEVICE T operand(S x, int dtype, int common) { return load_common<T>(&x, dtype, common); }

// The bits of `x` in another type of its size.
template <class D, class S> DEVICE D same_bits(S x) {
    static_assert(sizeof(D) == sizeof(S), "as many bits");
    union Bits {
        S from;
        D to;
        DEVICE Bits() {}
    } bits;
    bits.from = x;
    return bits.to;
}

// Computes every element of the result by P, and stores it as R.
template <class P, class R, int N> DEVICE void fused(const FusedArgs<N>& args) {
    int64 total = args.loops.total, step = gridDim.x * (int64)blockDim.x;
    for (int64 i = blockIdx.x * (int64)blockDim.x + threadIdx.x; i < total; i += step) {
        char* at[N];
        places(args, i, at);
        *(R*)at[0] = convert<R>(P::run(at));
    }
}
