// Sorts lines stably. Every element becomes a record of its key and its place in the line. Lines of up to a tile are sorted in shared
// memory, several by a block if they are short. Longer lines are sorted by digits, from the lowest on: the digits of each tile are counted,
// the counts are summed in the order of digits and tiles, and the records of each tile move to their places.

struct SortArgs {
    Lines lines;
    // The places of the elements to sort, row-major; NULL for all elements of a line.
    const uint* from;
    // Keys and places, row-major, in two buffers. A pass over a digit moves them from one to the other. At the end they are in the first
    // one. NULL if they are not wanted.
    byte* keys[2];
    uint* places[2];
    // The number of elements with each digit in each tile of a line, digit by digit, tile by tile; later the number of elements up to the
    // end of each.
    uint* counts;
    // The bits in which keys differ. Digits that all keys share are skipped.
    uint64* differ;
    // The number of tiles of a line.
    int64 tiles;
    // The number of elements of a line that are written to the results, and the number of places of a line.
    int64 take;
    int64 row;
    // True for the greatest first.
    int descending;
    // The index of the digit's lowest bit.
    int shift;
    // The number of records of a line in shared memory, a power of two.
    int width;
    // The index of the buffer for the initial keys.
    int start;
};

// The key of an element.
template <class S> DEVICE typename Key<S>::type key_at(const byte* p, int descending) {
    typename Key<S>::type key = Key<S>::of(*(const S*)p);
    return descending ? key ^ Key<S>::ALL : key;
}

// ---- lines of up to a tile

// A key and a place. Records are ordered by both.
template <class K> struct Record;
template <> struct Record<uint> {
    uint64 both;
    static DEVICE Record of(uint key, uint place) { return Record{(uint64)key << 32 | place}; }
    DEVICE uint key() const { return (uint)(both >> 32); }
    DEVICE uint place() const { return (uint)both; }
    DEVICE bool before(Record b) const { return both < b.both; }
};
template <> struct Record<uint64> {
    uint64 first;
    uint second;
    static DEVICE Record of(uint64 key, uint place) { return Record{key, place}; }
    DEVICE uint64 key() const { return first; }
    DEVICE uint place() const { return second; }
    DEVICE bool before(Record b) const { return first < b.first || (first == b.first && second < b.second); }
};

// Sorts runs of `width` records of a tile (bitonic sort).
template <class R> DEVICE void sort_records(R (&records)[TILE], int width) {
    for (int size = 2; size <= width; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            for (int pair = threadIdx.x; pair < TILE / 2; pair += BLOCK) {
                int a = 2 * pair - (pair & (distance - 1)), b = a + distance;
                bool ascends = (a & (width - 1) & size) == 0;
                R first = records[a], second = records[b];
                if (second.before(first) == ascends) {
                    records[a] = second;
                    records[b] = first;
                }
            }
            __syncthreads();
        }
    }
}

// One block sorts as many lines as fit in a tile. Results may overwrite the elements.
template <class S> DEVICE void sort_short(const SortArgs& args) {
    typedef typename Key<S>::type K;
    typedef typename Compute<S>::type T;
    __shared__ Record<K> records[TILE];
    const Lines& lines = args.lines;
    int width = args.width, group = TILE / width;
    for (int64 job = blockIdx.x; job * group < lines.outer.total; job += gridDim.x) {
        for (int k = threadIdx.x; k < TILE; k += BLOCK) {
            int64 number = job * group + k / width, i = k % width;
            // Records that pad a run come last.
            Record<K> record = Record<K>::of(~(K)0, (uint)i);
            if (number < lines.outer.total && i < lines.n) {
                int64 place = args.from ? args.from[number * lines.n + i] : i;
                record = Record<K>::of(key_at<S>(line_of(lines, number).x + place * lines.step[0], args.descending), (uint)i);
            }
            records[k] = record;
        }
        __syncthreads();
        sort_records(records, width);
        for (int k = threadIdx.x; k < TILE; k += BLOCK) {
            int64 number = job * group + k / width, i = k % width;
            if (number >= lines.outer.total || i >= lines.n) continue;
            uint place = records[k].place();
            if (args.from) place = args.from[number * lines.n + place];
            if (args.keys[0]) {
                ((K*)args.keys[0])[number * lines.n + i] = records[k].key();
                args.places[0][number * lines.n + i] = place;
            }
            // The element replaces its key.
            K bits = 0;
            if (lines.out[0] && i < args.take) {
                T value = convert<T>(*(const S*)(line_of(lines, number).x + place * lines.step[0]));
                memcpy(&bits, &value, sizeof(T));
            }
            records[k] = Record<K>::of(bits, place);
        }
        // All elements of these lines have been read after this barrier.
        __syncthreads();
        for (int k = threadIdx.x; k < TILE; k += BLOCK) {
            int64 number = job * group + k / width, i = k % width;
            if (number >= lines.outer.total || i >= lines.n || i >= args.take) continue;
            Line line = line_of(lines, number);
            T value;
            K bits = records[k].key();
            memcpy(&value, &bits, sizeof(T));
            if (lines.out[0]) write(line.out[0] + i * lines.step[1], lines.dtype[1], value);
            if (lines.out[1]) write(line.out[1] + i * lines.step[2], lines.dtype[2], i64(records[k].place()));
        }
        __syncthreads();
    }
}

// ---- longer lines

// The number of bits of a digit, and of its values.
const int DIGIT = 8;
const int DIGITS = 1 << DIGIT;

template <class K> DEVICE uint digit_of(K key, int shift) { return (uint)(key >> shift) & (DIGITS - 1); }

// The lanes of a warp with the same number, which has at most DIGIT + 1 bits.
DEVICE uint peers(uint number) {
    uint same = 0xffffffffu;
    for (int bit = 0; bit <= DIGIT; bit++) {
        uint votes = __ballot_sync(0xffffffffu, number >> bit & 1);
        same &= number >> bit & 1 ? votes : ~votes;
    }
    return same;
}

// The lower lanes, as a bit mask.
DEVICE uint lanes_below() { return (1u << threadIdx.x % 32) - 1; }

// Returns true if all keys have the same digit at this bit.
DEVICE bool is_shared(const SortArgs& args, int shift) { return digit_of(*args.differ, shift) == 0; }

// The index of the buffer that holds keys and places before the pass over the digit from bit `shift` on.
DEVICE int buffer_at(const SortArgs& args, int shift) {
    int buffer = args.start;
    for (int digit = 0; digit < shift; digit += DIGIT) buffer ^= !is_shared(args, digit);
    return buffer;
}

struct Either {
    DEVICE uint64 operator()(uint64 a, uint64 b) const { return a | b; }
};

// Writes the keys and places of lines.
template <class S> DEVICE void sort_keys(const SortArgs& args) {
    typedef typename Key<S>::type K;
    __shared__ uint64 shared[WARPS];
    const Lines& lines = args.lines;
    K some = key_at<S>(lines.x, args.descending);
    uint64 differ = 0;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.tiles; job += gridDim.x) {
        Tile tile = tile_of(job, args.tiles, lines.n);
        const byte* x = line_of(lines, tile.line).x + tile.first * lines.step[0];
        K* keys = (K*)args.keys[args.start] + tile.line * lines.n + tile.first;
        uint* places = args.places[args.start] + tile.line * lines.n + tile.first;
#pragma unroll 2
        for (int k = threadIdx.x; k < tile.count; k += BLOCK) {
            K key = key_at<S>(x + k * lines.step[0], args.descending);
            keys[k] = key;
            places[k] = (uint)(tile.first + k);
            differ |= key ^ some;
        }
    }
    differ = block_reduce(differ, Either(), (uint64)0, shared);
    if (threadIdx.x == 0 && differ) atomicOr(args.differ, differ);
}

// Counts the digits of each tile.
template <class K> DEVICE void sort_count(const SortArgs& args) {
    __shared__ uint counts[DIGITS];
    if (is_shared(args, args.shift)) return;
    int64 n = args.lines.n;
    const K* all = (const K*)args.keys[buffer_at(args, args.shift)];
    for (int64 job = blockIdx.x; job < args.lines.outer.total * args.tiles; job += gridDim.x) {
        Tile tile = tile_of(job, args.tiles, n);
        const K* keys = all + tile.line * n + tile.first;
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (int first = 0; first < tile.count; first += BLOCK) {
            int k = first + threadIdx.x;
            uint digit = k < tile.count ? digit_of(keys[k], args.shift) : DIGITS, same = peers(digit);
            if (digit < DIGITS && (same & lanes_below()) == 0) atomicAdd(&counts[digit], (uint)__popc(same));
        }
        __syncthreads();
        args.counts[(tile.line * DIGITS + threadIdx.x) * args.tiles + tile.first / TILE] = counts[threadIdx.x];
        __syncthreads();
    }
}

// Moves the records of each tile.
template <class K> DEVICE void sort_move(const SortArgs& args) {
    // The first slot of each digit of each warp, and the difference between a slot and the place in the line.
    __shared__ uint slots[WARPS][DIGITS];
    __shared__ uint bases[DIGITS];
    __shared__ K keys[TILE];
    __shared__ uint places[TILE];
    if (is_shared(args, args.shift)) return;
    int64 n = args.lines.n;
    int thread = threadIdx.x, warp = thread / 32, from = buffer_at(args, args.shift);
    for (int64 job = blockIdx.x; job < args.lines.outer.total * args.tiles; job += gridDim.x) {
        Tile tile = tile_of(job, args.tiles, n);
        int64 line = tile.line * n, first = line + tile.first;
        for (int w = 0; w < WARPS; w++) slots[w][thread] = 0;
        __syncthreads();
        // Each warp moves neighbouring elements, so that equal digits keep their order.
        K key[ITEMS];
        uint rank[ITEMS];
        int start = warp * (TILE / WARPS) + thread % 32;
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            int k = start + item * 32;
            key[item] = k < tile.count ? ((const K*)args.keys[from])[first + k] : 0;
        }
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            uint digit = start + item * 32 < tile.count ? digit_of(key[item], args.shift) : DIGITS, same = peers(digit);
            uint before = same & lanes_below();
            if (digit < DIGITS) rank[item] = slots[warp][digit] + (uint)__popc(before);
            __syncwarp();
            if (digit < DIGITS && before == 0) slots[warp][digit] += (uint)__popc(same);
            __syncwarp();
        }
        __syncthreads();
        uint count = 0, all;
        for (int w = 0; w < WARPS; w++) count += slots[w][thread];
        uint slot = sum_before(count, all);
        bases[thread] = args.counts[(tile.line * DIGITS + thread) * args.tiles + tile.first / TILE] - count - slot;
        for (int w = 0; w < WARPS; w++) {
            uint more = slots[w][thread];
            slots[w][thread] = slot;
            slot += more;
        }
        __syncthreads();
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            int k = start + item * 32;
            if (k < tile.count) {
                uint to = slots[warp][digit_of(key[item], args.shift)] + rank[item];
                keys[to] = key[item];
                places[to] = args.places[from][first + k];
            }
        }
        __syncthreads();
        for (int k = thread; k < tile.count; k += BLOCK) {
            int64 to = line + (uint)(bases[digit_of(keys[k], args.shift)] + k);
            ((K*)args.keys[1 - from])[to] = keys[k];
            args.places[1 - from][to] = places[k];
        }
        __syncthreads();
    }
}

// Copies keys and places to the first buffer after all passes, unless they are there. `shift` is the number of bits of a key.
template <class K> DEVICE void sort_settle(const SortArgs& args) {
    if (buffer_at(args, args.shift) == 0) return;
    int64 n = args.lines.outer.total * args.lines.n;
    for (int64 i = (int64)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (int64)gridDim.x * BLOCK) {
        ((K*)args.keys[0])[i] = ((const K*)args.keys[1])[i];
        args.places[0][i] = args.places[1][i];
    }
}

// Writes the elements at the first places of each line, and these places. Results do not overlap the elements.
template <class T> DEVICE void sort_take(const SortArgs& args) {
    const Lines& lines = args.lines;
    for (int64 job = blockIdx.x; job < lines.outer.total * args.tiles; job += gridDim.x) {
        Tile tile = tile_of(job, args.tiles, args.take);
        Line line = line_of(lines, tile.line);
        for (int64 i = tile.first + threadIdx.x; i < tile.first + tile.count; i += BLOCK) {
            int64 place = args.places[0][tile.line * args.row + i];
            T x = read<T>(line.x + place * lines.step[0], lines.dtype[0]);
            if (lines.out[0]) write(line.out[0] + i * lines.step[1], lines.dtype[1], x);
            if (lines.out[1]) write(line.out[1] + i * lines.step[2], lines.dtype[2], i64(place));
        }
    }
}
