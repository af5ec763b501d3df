"""Sort, top k, running sums and index add on the H100: variants of the kernels beside PyTorch. The table is printed last."""
import os, sys, time, traceback
import cupy, torch
BEGAN = time.time()
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "p2_data")
modules, rows = {}, []
def kernel(file, name):
    if file not in modules:
        try: modules[file] = cupy.RawModule(path=os.path.join(HERE, file + ".cubin")); modules[file].get_function(name)
        except Exception as e:
            print(file, "cubin:", e)
            modules[file] = cupy.RawModule(code=open(os.path.join(HERE, file + ".cu")).read(), options=("--std=c++17", "-default-device"), backend="nvrtc")
    return modules[file].get_function(name)
stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
def launch(file, name, blocks, args, block=256):
    f = kernel(file, name)
    a = tuple(x.data_ptr() if isinstance(x, torch.Tensor) else x for x in args)
    def conv(x, t): return t(x)
    f((int(blocks),), (block,), tuple(__import__("numpy").uint64(x) if isinstance(y, torch.Tensor) else x for x, y in zip(a, args)))
import numpy as np
i32, i64 = np.int32, np.int64
SECONDS = 23
def timed(call, repeats=20, prepare=None):
    for _ in range(2):
        if prepare: prepare()
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        if prepare: prepare()
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(60000)  # the host is ahead of the GPU
        a.record(); call(); b.record()
        b.synchronize()
        times.append(a.elapsed_time(b) * 1e3)
    return sorted(times)[len(times) // 2]
def row(name, us, right, bytes=0):
    rows.append(f"{name:34s} {'right' if right else 'WRONG' if right is not None else '-':6s} {us:9.1f} us {bytes / us / 1e3 if us else 0:8.0f} GB/s")
    print(rows[-1], flush=True)
def attempt(name, f):
    if time.time() - BEGAN > SECONDS:
        rows.append(f"{name:34s} skipped: no time"); return
    try: f()
    except Exception as e:
        rows.append(f"{name:34s} failed: {type(e).__name__}: {str(e)[:150]}"); traceback.print_exc()
def inner(f, *a):
    with stream: return f(*a)

# ---- sort
def sorts():
    n = 10_000_000
    x = torch.randn(n, device="cuda"); x[::1000] = 0; x[7::2000003] = float("nan")
    want, want_i = torch.sort(x, stable=True)
    row("sort: PyTorch", timed(lambda: torch.sort(x, out=(want, want_i)), 10), None, 16 * n)
    want, want_i = torch.sort(x, stable=True)
    keys, places = [torch.empty(n, dtype=torch.int32, device="cuda") for _ in "ab"], [torch.empty(n, dtype=torch.int32, device="cuda") for _ in "ab"]
    out, out_i = torch.empty_like(x), torch.empty(n, dtype=torch.int64, device="cuda")
    counts = torch.zeros(4 * 256, dtype=torch.int32, device="cuda")
    best = None
    def same():
        return bool(torch.equal(out_i, want_i) and torch.equal(out.view(torch.int32), x[want_i].view(torch.int32)) or (torch.equal(out_i, want_i) and torch.equal(torch.nan_to_num(out), torch.nan_to_num(x[want_i]))))
    for h in ["hist_1", "hist_2", "hist_4", "hist_8", "hist_1m", "hist_2m"]:
        for b in [132 * 4, 132 * 8]:
            def run():
                counts.zero_(); launch("sort", h, b, (x, i32(n), counts)); torch.cuda.synchronize()
                right = all(int(s) == n for s in counts.view(4, 256).sum(1))
                row(f"sort: {h} blocks {b}", timed(lambda: launch("sort", h, b, (x, i32(n), counts)), 10), right, 4 * n)
            attempt(h, run)
    torch.cuda.synchronize()
    for name, block, items, wide in [("b256_i8_u64", 256, 8, 8), ("b256_i12_u64", 256, 12, 8), ("b256_i16_u64", 256, 16, 8), ("b256_i20_u64", 256, 20, 8), ("b256_i16_u32", 256, 16, 4),
                                     ("b256_i16_u64_3", 256, 16, 8), ("b256_i16_u64_4", 256, 16, 8), ("b256_i12_u64_5", 256, 12, 8), ("b256_i16_u64_match", 256, 16, 8), ("b512_i12_u64", 512, 12, 8), ("b512_i14_u64", 512, 14, 8)]:
        def run():
            tiles = -(-n // (block * items))
            status = torch.zeros(4, tiles * 256 * wide // 4 + 64, dtype=torch.int32, device="cuda")
            starts = torch.zeros(4, 256, dtype=torch.int32, device="cuda")
            tickets = [status[p, -64:] for p in range(4)]
            def move(which, p, a, b):
                launch("sort", f"{name}_{which}", tiles, (x, keys[a], places[a], keys[b], places[b], out, out_i, i32(n), i32(8 * p), starts[p], status[p], tickets[p]), block)
            def whole():
                status.zero_(); starts.zero_()
                launch("sort", "hist_4", 528, (x, i32(n), starts))
                move("first", 0, 0, 0); move("mid", 1, 0, 1); move("mid", 2, 1, 0); move("last", 3, 0, 1)
            def whole2():
                status.zero_(); starts.zero_()
                launch("sort", "hist_4", 528, (x, i32(n), starts))
                move("first", 0, 0, 0); move("mid", 1, 0, 1); move("mid", 2, 1, 0); move("mid", 3, 0, 1)
                launch("sort", "take_plain", 132 * 16, (keys[1], places[1], x, out, out_i, i32(n)))
            for label, f in [("whole, last writes results", whole), ("whole, then take", whole2)]:
                out.fill_(7); out_i.fill_(-1); f(); torch.cuda.synchronize()
                row(f"sort: {name} {label}", timed(f, 10), same(), 16 * n)
            def one(p): status[p].zero_()
            for which, p, a, b in [("first", 0, 0, 0), ("mid", 1, 0, 1), ("mid", 2, 1, 0), ("mid", 3, 0, 1), ("last", 3, 0, 1)]:
                row(f"  pass {p} {which}", timed(lambda: move(which, p, a, b), 6, lambda: one(p)), None, {"first": 12, "mid": 16, "last": 20}[which] * n)
        attempt(name, run)
    def take():
        for name in ["take_plain", "take_gather"]:
            row("sort: " + name, timed(lambda: launch("sort", name, 132 * 16, (keys[1], places[1], x, out, out_i, i32(n))), 10), None, 20 * n)
    attempt("take", take)
    z = torch.randint(0, 100, (n,), device="cuda")
    attempt("sort i64", lambda: row("sort of int64 below 100: PyTorch", timed(lambda: torch.sort(z), 5), None, 24 * n))

# ---- top k
def tops():
    n, k = 10_000_000, 100
    for label, x in [("normal", torch.randn(n, device="cuda")), ("all equal", torch.ones(n, device="cuda"))]:
        row(f"topk {label}: PyTorch", timed(lambda: torch.topk(x, k), 8), None, 4 * n)
        order = torch.sort(x, descending=True, stable=True)[1][:k]
        want = torch.sort(order)[0]
        state, hist = torch.zeros(4, dtype=torch.int32, device="cuda"), torch.zeros(2048, dtype=torch.int32, device="cuda")
        places = torch.zeros(k, dtype=torch.int32, device="cuda")
        first = torch.tensor([0, 0, k - 1, 0], dtype=torch.int32, device="cuda")
        for name, passes in [("c8_plain", [("c8_plain", s) for s in (24, 16, 8, 0)]), ("c8_match", [("c8_match", s) for s in (24, 16, 8, 0)]), ("c8_private", [("c8_private", s) for s in (24, 16, 8, 0)]),
                             ("c11_plain", [("c11_plain", 21), ("c11_plain", 10), ("c10_plain", 0)]), ("c11_match", [("c11_match", 21), ("c11_match", 10), ("c10_match", 0)])]:
            for blocks in [132 * 4, 132 * 8]:
                def run():
                    items = 16
                    tallies = torch.zeros(-(-n // (256 * items)) * 2, dtype=torch.int32, device="cuda")
                    tiles = -(-n // (256 * items))
                    def count():
                        state.copy_(first)
                        for c, s in passes: launch("topk", c, blocks, (x, i32(n), i32(s), state, hist))
                    def whole():
                        count()
                        launch("topk", f"tally_{items}", tiles, (x, i32(n), state, tallies))
                        launch("topk", f"pick_{items}", 528, (x, i32(n), i32(k), state, tallies, places))
                    places.fill_(-1); whole(); torch.cuda.synchronize()
                    right = torch.equal(places.long(), want)
                    row(f"topk {label}: {name} blocks {blocks}", timed(whole, 8), right, 4 * n)
                    row("  only counts", timed(count, 8), None, 4 * n * len(passes))
                attempt(name, run)
        for items in [8, 16, 32]:
            def run():
                tiles = -(-n // (256 * items))
                tallies = torch.zeros(tiles * 2, dtype=torch.int32, device="cuda")
                row(f"  tally {items}", timed(lambda: launch("topk", f"tally_{items}", tiles, (x, i32(n), state, tallies)), 8), None, 4 * n)
                row(f"  pick {items}", timed(lambda: launch("topk", f"pick_{items}", 528, (x, i32(n), i32(k), state, tallies, places)), 8), None, 4 * n)
            attempt("tally", run)

# ---- running sums
def scans():
    n = 100_000_000
    x = torch.randn(n, device="cuda"); out = torch.empty_like(x)
    row("cumsum: PyTorch", timed(lambda: torch.cumsum(x, 0, out=out), 8), None, 8 * n)
    want = torch.cumsum(x.double(), 0).float()
    def close(): return bool((out - want).abs().max() < 0.01)
    sums, starts = torch.zeros(200_000, dtype=torch.float64, device="cuda"), torch.zeros(200_000, dtype=torch.float64, device="cuda")
    flags = torch.zeros(400_064, dtype=torch.int32, device="cuda"); group_flags, ticket = flags[200_000:], flags[400_000:]
    def go(name, v):
        tiles = -(-n // (1024 * v))
        launch("scan", name, tiles, (x, out, i64(n), sums, flags, starts, group_flags, ticket))
    for name, v in [("local_2", 2), ("local_4", 4), ("local_8", 8), ("group_2_256", 2), ("group_4_256", 4), ("group_8_256", 8), ("group_4_64", 4), ("group_4_128", 4), ("group_8_64", 8), ("group_8_128", 8),
                    ("group_2_128", 2), ("lookback_2", 2), ("lookback_4", 4), ("lookback_8", 8)]:
        def run():
            def f(): flags.zero_(); go(name, v)
            out.fill_(7); f(); torch.cuda.synchronize()
            right = close() if "local" not in name else None
            first = out.clone(); again = True
            for _ in range(3):
                f(); again = again and torch.equal(first, out)
            row(f"cumsum: {name}" + ("" if again else " (varies)"), timed(f, 8), right, 8 * n)
        attempt(name, run)
    def three():
        tiles = -(-n // 4096)
        def f():
            go("step1_4", 4); launch("scan", "step2", 1, (sums, i32(tiles))); go("step3_4", 4)
        f(); torch.cuda.synchronize()
        row("cumsum: three steps of 4096", timed(f, 8), close(), 8 * n)
        row("  step 1", timed(lambda: go("step1_4", 4), 8), None, 4 * n)
        row("  step 2", timed(lambda: launch("scan", "step2", 1, (sums, i32(tiles))), 8), None)
        row("  step 3", timed(lambda: go("step3_4", 4), 8), None, 8 * n)
    attempt("three", three)

# ---- index add
def adds():
    n = columns = 10_000
    x = torch.randn(n, columns, device="cuda"); r = torch.zeros(n, columns, device="cuda")
    attempt("copy", lambda: row("index add: r += x alone", timed(lambda: launch("add", "copy_like", 132 * 16, (r, x, i64(n * columns // 4))), 8), None, 12 * n * columns))
    for label, index in [("random", torch.randint(0, n, (n,), device="cuda")), ("one row", torch.zeros(n, dtype=torch.int64, device="cuda"))]:
        bytes = (12 if label == "random" else 4) * n * columns
        row(f"index add {label}: PyTorch", timed(lambda: r.index_add_(0, index, x), 6), None, bytes)
        keys, order = torch.sort(index, stable=True)
        ordinals = order.int()
        r.zero_(); want = torch.zeros_like(r).index_add_(0, index, x)
        part = torch.empty(2 * n // 8 * columns, device="cuda")
        def check(f):
            r.zero_(); f(); torch.cuda.synchronize()
            return bool((r - want).abs().max() < 0.01)
        def old(): launch("add", "today", 132 * 32, (r, x, keys, ordinals, i32(n), i32(columns), part))
        attempt("today", lambda: row(f"index add {label}: today", timed(old, 3), check(old), bytes))
        for N, C, U in [(1, 16, 1), (1, 16, 4), (1, 32, 4), (1, 32, 8), (4, 8, 4), (4, 16, 1), (4, 16, 4), (4, 16, 8), (4, 32, 4), (4, 32, 8), (4, 64, 4), (4, 64, 8)]:
            def run():
                items = -(-n // C) * (columns // N); blocks = -(-items // 256)
                def a(): launch("add", f"chunks_{N}_{C}_{U}", blocks, (r, x, keys, ordinals, i32(n), i32(columns), part))
                def b(): launch("add", f"parts_{N}_{C}_8", blocks, (r, keys, i32(n), i32(columns), part))
                def f(): a(); b()
                right = check(f)
                ta, tb = timed(a, 6), timed(b, 6)
                row(f"index add {label}: {N} wide, {C} keys, {U} at once", ta + tb, right, bytes)
                rows[-1] += f"   parts {tb:.1f}"
            attempt("chunks", run)

for f in [sorts, tops, scans, adds]:
    attempt(f.__name__, lambda: inner(f))
    torch.cuda.empty_cache()
print("\n==== table", f"{time.time() - BEGAN:.1f} s")
print("\n".join(rows))
