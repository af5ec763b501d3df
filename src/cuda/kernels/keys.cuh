// Keys: unsigned integers in the order of the elements. NaN is last, and all NaNs have one key.

// The dtype code of a storage type.
template <class S> struct Code;
template <> struct Code<u8> { static constexpr int value = UINT8; };
template <> struct Code<i8> { static constexpr int value = INT8; };
template <> struct Code<i16> { static constexpr int value = INT16; };
template <> struct Code<i32> { static constexpr int value = INT32; };
template <> struct Code<i64> { static constexpr int value = INT64; };
template <> struct Code<f16> { static constexpr int value = FLOAT16; };
template <> struct Code<bf16> { static constexpr int value = BFLOAT16; };
template <> struct Code<f32> { static constexpr int value = FLOAT32; };
template <> struct Code<f64> { static constexpr int value = FLOAT64; };
template <> struct Code<Bool> { static constexpr int value = BOOL; };

// Loads and stores of dtypes other than the compute type are rare, so they are compiled once for all calls in a kernel.
template <class T> __device__ __noinline__ T load_other(const byte* p, int dtype) { return load<T>(p, dtype); }
template <class T> __device__ __noinline__ void store_other(byte* p, int dtype, T x) { store(p, dtype, x); }

// Loads the element of a run-time dtype at `p` as T, and stores `x` as such an element.
template <class T> DEVICE T read(const byte* p, int dtype) { return dtype == Code<T>::value ? *(const T*)p : load_other<T>(p, dtype); }
template <class T> DEVICE void write(byte* p, int dtype, T x) {
    if (dtype == Code<T>::value) *(T*)p = x;
    else store_other(p, dtype, x);
}

// An unsigned integer of 32 or 64 bits.
template <bool WIDE> struct KeyType { typedef uint type; };
template <> struct KeyType<true> { typedef uint64 type; };

// The keys of a storage type S: unsigned integers of `type` with BITS significant bits. `exact` distinguishes the zeros of floats; `of`
// does not. `back` returns the element of an exact key.
template <class S> struct Key;

template <class V, class W> struct Key<Integer<V, W>> {
    typedef Integer<V, W> T;
    typedef typename KeyType<sizeof(V) == 8>::type type;
    static constexpr int BITS = T::BITS;
    static constexpr bool FLOAT = false;
    static constexpr type ALL = (type)(~0ull >> (64 - BITS));
    static constexpr type SIGN = T::SIGNED ? (type)1 << (BITS - 1) : 0;
    static DEVICE type exact(T x) { return ((type)x.v ^ SIGN) & ALL; }
    static DEVICE type of(T x) { return exact(x); }
    static DEVICE T back(type key) { return T((V)(key ^ SIGN)); }
};

template <> struct Key<Bool> {
    typedef uint type;
    static constexpr int BITS = 1;
    static constexpr bool FLOAT = false;
    static constexpr uint ALL = 1;
    static DEVICE uint exact(Bool x) { return x.get(); }
    static DEVICE uint of(Bool x) { return x.get(); }
    static DEVICE Bool back(uint key) { return Bool(key != 0); }
};

template <class V> struct Key<Float<V>> {
    typedef Float<V> T;
    typedef typename KeyType<sizeof(V) == 8>::type type;
    static constexpr int BITS = 8 * (int)sizeof(V);
    static constexpr bool FLOAT = true;
    static constexpr type ALL = ~(type)0;
    static constexpr type SIGN = (type)1 << (BITS - 1);
    // For a negative number all bits are inverted, for a positive one only the sign.
    static DEVICE type exact(T x) {
        type bits = (type)bits_of(x.v);
        return x.is_nan() ? ALL : bits ^ (bits & SIGN ? ALL : SIGN);
    }
    static DEVICE type of(T x) { return x.v == 0 ? SIGN : exact(x); }
    static DEVICE T back(type key) {
        type bits = key ^ (key & SIGN ? SIGN : ALL);
        V x;
        memcpy(&x, &bits, sizeof(V));
        return key == ALL ? T(Special<V>::nan()) : T(x);
    }
};

// 16 bits are enough for a 16-bit float. INFINITE is the bits of its infinity.
template <class H, int INFINITE> struct HalfKey {
    typedef uint type;
    static constexpr int BITS = 16;
    static constexpr bool FLOAT = true;
    static constexpr uint ALL = 0xffff;
    static DEVICE uint of(H x) {
        uint bits = x.bits, size = bits & 0x7fff;
        if (size > INFINITE) return ALL;
        return size == 0 ? 0x8000 : bits ^ (bits & 0x8000 ? 0xffff : 0x8000);
    }
};
template <> struct Key<f16> : HalfKey<f16, 0x7c00> {};
template <> struct Key<bf16> : HalfKey<bf16, 0x7f80> {};
