// Fused expressions. The kernel of a program calls the generated function `run`, which computes the elements of the result at the positions
// of a thread. Needs map.cu before it.

// The operands: the result and the inputs.
template <int N> struct FusedArgs {
    void* data[N];
    Loops<N> loops;
    Tiles tiles;
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

// Computes V elements of the result by P in each thread.
template <class P, int V, int N> DEVICE void fused(const FusedArgs<N>& args) {
    const Positions<V, N> here(args.data, args.loops, args.tiles);
    if (here.count > 0) P::run(here);
}
