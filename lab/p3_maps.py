"""Times kernels of elementwise operations and full sums on an H100. Needs torch; p3_data/ beside this file has the machine code."""
import ctypes, os, struct, sys, time, traceback
import torch

BEGAN = time.time()
LIMIT = 24.0
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "p3_data")
cu = ctypes.CDLL("libcuda.so.1")
torch.cuda.init()
torch.zeros(1, device="cuda")
SMS = torch.cuda.get_device_properties(0).multi_processor_count
PAGE = []


def check(code, what):
    if code:
        raise RuntimeError(f"{what}: {code}")


class Module:
    def __init__(self, file):
        with open(os.path.join(HERE, file), "rb") as f:
            self.data = f.read()
        self.m = ctypes.c_void_p()
        check(cu.cuModuleLoadData(ctypes.byref(self.m), self.data), file)

    def __getitem__(self, name):
        f = ctypes.c_void_p()
        check(cu.cuModuleGetFunction(ctypes.byref(f), self.m, name.encode()), name)
        return f


def launcher(f, blocks, threads, args):
    buffer = ctypes.create_string_buffer(args, len(args))
    params = (ctypes.c_void_p * 1)(ctypes.cast(buffer, ctypes.c_void_p))
    blocks = max(1, int(blocks))

    def go():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cu.cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, params, None), "launch")

    go.keep = buffer
    return go


def loops(total, each, N):
    n = [1] * 12
    step = [[0] * 12 for _ in range(N)]
    for l, (length, steps) in enumerate(each):
        n[l] = length
        for k in range(N):
            step[k][l] = steps[k]
    return struct.pack(f"<q12q{12 * N}q2i", total, *n, *[s for row in step for s in row], len(each), 1)


def argument(x):
    return struct.pack("<dqq", float(x), int(x), 1)


def padded(b):
    return b + bytes(-len(b) % 8)


def map_args(data, each, total, dtype, common, aligned):
    N = len(data)
    return padded(struct.pack(f"<{N}Q", *data) + argument(2) * 4 + loops(total, each, N) + struct.pack(f"<{N}iii", *dtype, common, aligned))


def flat_args(data, total, common, aligned):
    N = len(data)
    return struct.pack(f"<{N}Q", *data) + argument(2) + struct.pack("<qii", total, common, aligned)


def up(a, b):
    return -(-a // b)


def power(n):
    return max(0, (max(1, n) - 1).bit_length())


def walk_args(data, each, dtype, common, item, V, along, wide):
    """Returns the arguments and the number of threads. along: "a" for adjacent positions, or the loop along which a thread has positions."""
    N = len(data)
    each = list(each) + [(1, [0] * N)] * (2 - len(each))
    (n0, s0), (n1, s1) = each[:2]
    if along == "a":
        w = min(wide, power(up(n0, V)))
        h = min(8 - w, power(n1))
        columns, gap, apart, column, size, way = V, 0, s0, [V * s for s in s0], (V << w, 1 << h), 0
    elif along == 1:
        w = min(wide, power(n0))
        h = min(8 - w, power(up(n1, V)))
        columns, gap, apart, column, size, way = 1, h, [s << h for s in s1], s0, (1 << w, V << h), 1
    else:
        w, h = min(wide, power(up(n0, V))), 0
        columns, gap, apart, column, size, way = 1, w, [s << w for s in s0], s0, (V << w, 1), 0
    tiles = [(up(n0, size[0]), [s * size[0] for s in s0] + [size[0], 0]), (up(n1, size[1]), [s * size[1] for s in s1] + [0, size[1]])]
    tiles += [(n, list(s) + [0, 0]) for n, s in each[2:]]
    tiles = [t for t in tiles if t[0] > 1] or tiles[:1]
    total = 1
    for t in tiles:
        total *= t[0]
    packed = 0
    if along == "a":
        for k in range(N):
            together = data[k] | s1[k]
            for _, s in each[2:]:
                together |= s[k]
            if s0[k] == item[k] and together % min(16, V * item[k]) == 0:
                packed |= 1 << k
    b = struct.pack(f"<{N}Q", *data) + argument(2) * 4 + loops(total, tiles, N + 2) + struct.pack("<qq", n0, n1)
    b += struct.pack(f"<{3 * N}q", *column, *s1, *apart) + struct.pack("<6i", w, h, way, gap, columns, packed)
    return padded(b + struct.pack(f"<{N}ii", *dtype, common)), total << (w + h)


def timed(go, rounds=5, calls=10):
    go()
    torch.cuda.synchronize()
    best = 1e30
    for _ in range(rounds):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            go()
        end.record()
        end.synchronize()
        best = min(best, 1e3 * start.elapsed_time(end) / calls)
    return best


def line(text):
    PAGE.append(text)


class Case:
    """Variants of one work. `r` is the result, `of` PyTorch's call, which returns the right result."""

    def __init__(self, name, r, of, nbytes, tolerance=0.0):
        self.name, self.r, self.nbytes, self.tolerance = name, r, nbytes, tolerance
        self.right = of().clone()
        self.torch = timed(of)
        line(f"== {name}: PyTorch {self.torch:.1f} us, {nbytes / self.torch / 1e3:.0f} GB/s")

    def run(self, variant, make):
        if time.time() - BEGAN > LIMIT:
            line(f"   {variant}: no time left")
            return
        try:
            go = make()
            self.r.fill_(77)
            go()
            torch.cuda.synchronize()
            if self.tolerance:
                a, b = self.r.double(), self.right.double()
                good = bool(((a - b).abs() <= self.tolerance * b.abs() + 1e-30).all())
            else:
                good = torch.equal(self.r, self.right)
            us = timed(go)
            line(f"   {variant:34s} {'ok ' if good else 'BAD'} {us:8.1f} us {self.nbytes / us / 1e3:6.0f} GB/s  x{self.torch / us:.2f}")
        except Exception as e:
            line(f"   {variant}: {type(e).__name__} {str(e)[:100]}")


def case(f):
    try:
        f()
    except Exception as e:
        line(f"== {f.__name__} failed: {type(e).__name__} {str(e)[:200]}")
        traceback.print_exc()


F32, BF16, BOOL, I32 = 8, 7, 10, 4
n, q = 100_000_000, 10_000
g = dict(device="cuda")
torch.manual_seed(1)
a, b, r = torch.randn(n, **g), torch.randn(n, **g), torch.empty(n, **g)
x = a.view(q, q)
ah, bh, rh = a.bfloat16(), b.bfloat16(), torch.empty(n, dtype=torch.bfloat16, **g)
xh = ah.view(q, q)
bias = torch.randn(q, **g)
biash = bias.bfloat16()
mask = b > 0
maps = Module("maps.cubin")
ALL = 1 << 30
WAVES = 32 * SMS


def p(t):
    return t.data_ptr()


def grids(threads, per=256):
    return min(up(threads, per), 2**31 - 1)


def flats(c, op, data, dtype, common, total, V, units=(1, 2, 4), threads=(256,), aligned=1):
    N = len(data)
    item = {F32: 4, BF16: 2, BOOL: 1, I32: 4}
    each = [(total, [item[d] for d in dtype])]
    if op != "where":
        for name, cap in (("old, 32 blocks a SM", WAVES), ("old, all blocks", ALL)):
            packs = up(total, V) if aligned else total
            c.run(name, lambda: launcher(maps["old_" + op], min(cap, up(packs, 256)), 256, map_args(data, each, total, dtype, common, aligned)))
    for u in units:
        for t in threads:
            c.run(f"flat u{u}, {t} threads", lambda: launcher(maps[f"flat_{op}_u{u}"], up(total, V * u * t), t, flat_args(data, total, common, aligned)))


def walks(c, kernel, data, each, dtype, common, V, along, wide=8, cap=ALL, note=""):
    item = {F32: 4, BF16: 2, BOOL: 1, I32: 4}

    def make():
        args, threads = walk_args(data, each, dtype, common, [item[d] for d in dtype], V, along, wide)
        return launcher(maps[kernel], min(cap, up(threads, 256)), 256, args)

    c.run(f"{kernel} along {along} wide {1 << wide}{note}", make)


def add():
    c = Case("add f32", r, lambda: torch.add(a, b, alpha=2, out=r), 12 * n)
    data = [p(r), p(a), p(b)]
    flats(c, "cadd", data, [F32] * 3, F32, n, 4, threads=(256, 128, 512))
    c.run("flat u2, 8 blocks a SM", lambda: launcher(maps["flat_cadd_u2"], 8 * SMS, 256, flat_args(data, n, F32, 1)))
    c.run("flat u4, 4 blocks a SM", lambda: launcher(maps["flat_cadd_u4"], 4 * SMS, 256, flat_args(data, n, F32, 1)))
    for u in (1, 2):
        for h in ("l1s1", "l2s0", "l2s1", "l0s1"):
            c.run(f"flat u{u} hints {h}", lambda: launcher(maps[f"flat_cadd_u{u}_{h}"], up(n, 4 * u * 256), 256, flat_args(data, n, F32, 1)))
    each = [(n, [4, 4, 4])]
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a")
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", cap=WAVES, note=" capped")
    walks(c, "raw_cadd_v4", data, each, [F32] * 3, F32, 4, "a")


def offset():
    m = n - 16
    ro = r[:m]
    la, lb = a[1 : m + 1], b[1 : m + 1]
    c = Case("add at offset 1", ro, lambda: torch.add(la, lb, alpha=2, out=ro), 12 * m)
    data = [p(ro), p(la), p(lb)]
    flats(c, "cadd", data, [F32] * 3, F32, m, 4, aligned=0, threads=(256, 128))
    each = [(m, [4, 4, 4])]
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, 0)
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a")


def unary():
    for op, of, tolerance in (("mul", lambda: torch.mul(a, 2, out=r), 0), ("exp", lambda: torch.exp(a, out=r), 1e-6), ("tanh", lambda: torch.tanh(a, out=r), 1e-6)):
        c = Case(op, r, of, 8 * n, tolerance)
        flats(c, op, [p(r), p(a)], [F32] * 2, F32, n, 4, threads=(256, 128) if op == "mul" else (256,))
    walks(c, "one_tanh_v4", [p(r), p(a)], [(n, [4, 4])], [F32] * 2, F32, 4, "a")
    rb = torch.empty(n, dtype=torch.bool, **g)
    c = Case("greater than a number", rb, lambda: torch.gt(a, 2, out=rb), 5 * n)
    flats(c, "gt", [p(rb), p(a)], [BOOL, F32], F32, n, 4)
    walks(c, "one_gt_v4", [p(rb), p(a)], [(n, [1, 4])], [BOOL, F32], F32, 4, "a")


def halves():
    c = Case("add bf16", rh, lambda: torch.add(ah, bh, alpha=2, out=rh), 6 * n)
    data = [p(rh), p(ah), p(bh)]
    flats(c, "caddh", data, [BF16] * 3, BF16, n, 8)
    for v in (4, 8):
        walks(c, f"one_caddh_v{v}", data, [(n, [2, 2, 2])], [BF16] * 3, BF16, v, "a")


def where():
    c = Case("where", r, lambda: torch.where(mask, a, b, out=r), 13 * n)
    data, dtype, each = [p(r), p(mask), p(a), p(b)], [I32, BOOL, I32, I32], [(n, [4, 1, 4, 4])]
    for name, cap in (("old", WAVES), ("old, all blocks", ALL)):
        c.run(name, lambda: launcher(maps["strided_where"], min(cap, up(n, 256)), 256, map_args(data, each, n, dtype, I32, 0)))
    flats(c, "where", data, dtype, I32, n, 4)
    walks(c, "one_where_v4", data, each, dtype, I32, 4, "a")
    walks(c, "any_where_v4", data, each, dtype, I32, 4, "a")
    walks(c, "raw_where_v4b3", data, each, dtype, I32, 4, "a")


def strided(c, data, each, dtype, common, total, caps=(WAVES, ALL)):
    for cap in caps:
        name = "old" if cap == WAVES else "old, all blocks"
        c.run(name, lambda: launcher(maps["strided_cadd"], min(cap, up(total, 256)), 256, map_args(data, each, total, dtype, common, 0)))


ANY = ("any_cadd_v4", "raw_cadd_v4", "raw_cadd_v4b5", "any_cadd_v4b4", "any_cadd_v2b4", "raw_cadd_v2b4", "raw_cadd_v2b6", "any_cadd_v1b8")


def of(kernel):
    return int(kernel.split("_v")[1][0])


def biases():
    c = Case("add bias", r.view(q, q), lambda: torch.add(x, bias, alpha=2, out=r.view(q, q)), 8 * n)
    data, each = [p(r), p(x), p(bias)], [(q, [4, 4, 4]), (q, [4 * q, 4 * q, 0])]
    strided(c, data, each, [F32] * 3, F32, n)
    for k in ("one_cadd_v4b6", "one_cadd_v4b8"):
        walks(c, k, data, each, [F32] * 3, F32, 4, "a", 8)
    for wide in (8, 7, 5):
        walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", wide)
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", 8, WAVES, " capped")
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, 1, 8)
    for k in ANY:
        walks(c, k, data, each, [F32] * 3, F32, of(k), "a")
    c = Case("add bias bf16", rh.view(q, q), lambda: torch.add(xh, biash, alpha=2, out=rh.view(q, q)), 4 * n)
    data, each = [p(rh), p(xh), p(biash)], [(q, [2, 2, 2]), (q, [2 * q, 2 * q, 0])]
    strided(c, data, each, [BF16] * 3, BF16, n)
    for v in (4, 8):
        for wide in (8, 5):
            walks(c, f"one_caddh_v{v}", data, each, [BF16] * 3, BF16, v, "a", wide)
    for k in ("one_caddh_v8b5", "one_caddh_v8b6"):
        walks(c, k, data, each, [BF16] * 3, BF16, 8, "a", 8)
    walks(c, "raw_cadd_v4", data, each, [BF16] * 3, BF16, 4, "a")
    m = 9999
    xo, ro, bo = a[: m * m].view(m, m), r[: m * m].view(m, m), bias[:m]
    c = Case("add bias, rows of 9999", ro, lambda: torch.add(xo, bo, alpha=2, out=ro), 8 * m * m)
    data, each = [p(ro), p(xo), p(bo)], [(m, [4, 4, 4]), (m, [4 * m, 4 * m, 0])]
    strided(c, data, each, [F32] * 3, F32, m * m, (WAVES,))
    for along, wide in ((1, 8), (1, 5), (0, 8), ("a", 8)):
        walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, along, wide)
    walks(c, "raw_cadd_v4", data, each, [F32] * 3, F32, 4, 1, 8)
    column = bias.view(q, 1)
    c = Case("add a column", r.view(q, q), lambda: torch.add(x, column, alpha=2, out=r.view(q, q)), 8 * n)
    data, each = [p(r), p(x), p(column)], [(q, [4, 4, 0]), (q, [4 * q, 4 * q, 4])]
    strided(c, data, each, [F32] * 3, F32, n, (WAVES,))
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", 8)
    rows = n // 10
    xt, rt, bt = a.view(rows, 10), r.view(rows, 10), bias[:10]
    c = Case("add bias, rows of 10", rt, lambda: torch.add(xt, bt, alpha=2, out=rt), 8 * n)
    data, each = [p(rt), p(xt), p(bt)], [(10, [4, 4, 4]), (rows, [40, 40, 0])]
    strided(c, data, each, [F32] * 3, F32, n, (WAVES,))
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, 1, 8)
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", 8)


def mixed():
    c = Case("add f32 and bf16", r, lambda: torch.add(a, bh, alpha=2, out=r), 10 * n)
    data, each, dtype = [p(r), p(a), p(bh)], [(n, [4, 4, 2])], [F32, F32, BF16]
    strided(c, data, each, dtype, F32, n)
    for k in ANY:
        walks(c, k, data, each, dtype, F32, of(k), "a")


def transposed():
    rq, xt = r.view(q, q), x.t()
    c = Case("add transposed", rq, lambda: torch.add(x, xt, alpha=2, out=rq), 12 * n)
    data, each = [p(r), p(x), p(x)], [(q, [4, 4, 4 * q]), (q, [4 * q, 4 * q, 4])]
    strided(c, data, each, [F32] * 3, F32, n, (WAVES,))
    for wide in (5, 4, 3, 6):
        walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, 1, wide)
    walks(c, "one_cadd_v4b8", data, each, [F32] * 3, F32, 4, 1, 5)
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", 5)
    walks(c, "one_cadd_v4", data, each, [F32] * 3, F32, 4, "a", 3)
    walks(c, "raw_cadd_v4", data, each, [F32] * 3, F32, 4, 1, 5)
    c = Case("add transposed, by shared memory", rq, lambda: torch.add(x, xt, out=rq), 12 * n)
    c.run("turned_by", lambda: launcher(maps["turned_by"], up(q, 32) ** 2, 256, struct.pack("<QQQq", p(r), p(x), p(x), q)))
    rq, xt = rh.view(q, q), xh.t()
    c = Case("add transposed bf16", rq, lambda: torch.add(xh, xt, alpha=2, out=rq), 6 * n)
    data, each = [p(rh), p(xh), p(xh)], [(q, [2, 2, 2 * q]), (q, [2 * q, 2 * q, 2])]
    for wide in (5, 4):
        for v in (4, 8):
            walks(c, f"one_caddh_v{v}", data, each, [BF16] * 3, BF16, v, 1, wide)
    walks(c, "one_caddh_v8b6", data, each, [BF16] * 3, BF16, 8, 1, 5)


def fusions():
    for name, t, u, res, code, size in (("f32", a, b, r, F32, 4), ("bf16", ah, bh, rh, BF16, 2)):
        c = Case("fused tanh(a*b + a) " + name, res, lambda: torch.tanh(t * u + t), 3 * size * n, 2e-6 if size == 4 else 8e-3)
        data, each = [p(res), p(t), p(u)], [(n, [size] * 3)]
        for label, cap in (("old", WAVES), ("old, all blocks", ALL)):
            c.run(label, lambda: launcher(maps["fused_" + name], min(cap, up(n, 256)), 256, struct.pack("<3Q", *data) + loops(n, each, 3)))
        for v in (4, 8):
            walks(c, f"fusedw_{name}_v{v}", data, each, [code] * 3, code, v, "a")
        walks(c, f"fusedw_{name}_v4", data, each, [code] * 3, code, 4, "a", cap=WAVES, note=" capped")


def reduce_args(kept, folded, src, out, parts, segments, segment, dtype, flag, width):
    head = loops(kept[0], kept[1], 3) + loops(folded[0], folded[1], 1)
    return head + struct.pack("<QQQQqqd10i", src, out[0], out[1], parts, segments, segment, 0.0, *dtype, 0, flag, 0, width, 0, 1, 0)


def sums():
    parts = torch.zeros(1 << 20, dtype=torch.uint8, **g)
    mods = {name: Module(f"red_{name}.cubin") for name in ("old", "a2", "a4", "a8", "i", "i4", "once")}
    for name, src, res, code, size in (("sum", a, torch.zeros((), **g), F32, 4), ("sumh", ah, torch.zeros((), dtype=torch.bfloat16, **g), BF16, 2)):
        c = Case(name, res, lambda: torch.sum(src, None, out=res), size * n, 2e-2)

        def make(variant, want, both=True):
            segment = up(up(n, want), 256 * 16) * 256 * 16
            segments = up(n, segment)
            out = (p(res), 0)
            args = reduce_args((1, [(1, [0, 0, 0])]), (n, [(n, [size])]), p(src), out, p(parts), segments, segment, (code, 0, code), 0, 1)
            if variant == "once":
                parts.zero_()
                return launcher(mods["once"]["once_" + name], segments, 256, args)
            first = launcher(mods[variant]["red_" + name], segments, 256, args)
            second = launcher(mods["old"]["parts_sum"], 1, 256, args)

            def go():
                first()
                if both:
                    second()

            return go

        for variant, wanted in (("old", (528, 660, 1024, 2048, 4096)), ("a2", (1024, 2048)), ("a4", (528, 1024, 2048, 4096)), ("a8", (396, 1024, 2048)), ("i", (660, 1024, 2048)), ("i4", (528, 1024)), ("once", (528, 1024, 2048))):
            for want in wanted:
                c.run(f"{variant} {want} segments", lambda: make(variant, want))
        c.run("a4 1024 segments, first kernel only", lambda: make("a4", 1024, False))
    vals, where_ = torch.empty(q, **g), torch.empty(q, dtype=torch.int64, **g)
    c = Case("max of rows", vals, lambda: torch.max(x, 1, out=(vals, where_))[0], 4 * n)
    args = reduce_args((q, [(q, [4 * q, 4, 8])]), (q, [(q, [4])]), p(x), (p(vals), p(where_)), 0, 1, 12288, (F32, 5, F32), 1, 1)
    for variant in ("old", "a2", "a4", "a8"):
        c.run(f"maxat {variant}", lambda: launcher(mods[variant]["red_maxat"], min(WAVES, q), 256, args))
        c.run(f"maxat {variant}, all blocks", lambda: launcher(mods[variant]["red_maxat"], q, 256, args))


def small():
    mod = Module("small.cubin")
    s, t, o = torch.randn(1024, **g), torch.randn(1024, **g), torch.zeros(1024, **g)
    data = [p(o), p(s), p(t)]
    ways = {}
    for size in (0, 104, 400, 800, 1600):
        ways[f"plain add, {32 + size} B of arguments"] = (mod[f"small{size}"], struct.pack("<QQQq", p(s), p(t), p(o), 1024) + bytes(size))
    old = map_args(data, [(1024, [4] * 3)], 1024, [F32] * 3, F32, 1)
    flat = flat_args(data, 1024, F32, 1)
    one = walk_args(data, [(1024, [4] * 3)], [F32] * 3, F32, [4] * 3, 4, "a", 8)[0]
    for label, kernel, args in (("old_cadd", "old_cadd", old), ("flat_cadd", "flat_cadd", flat), ("one_cadd (walk)", "one_cadd", one)):
        ways[f"{label}, {len(args)} B of arguments"] = (mod[kernel], args)
    line("== 20 adds of 1024 as a graph, and a launch on the host (us)")

    def graphed(go):
        stream = torch.cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            go()
            stream.synchronize()
            graph.capture_begin()
            for _ in range(20):
                go()
            graph.capture_end()
        return graph

    def torch_add():
        torch.add(o, t, out=o)

    graph = graphed(torch_add)
    line(f"   {'PyTorch':40s} graph {timed(graph.replay, 10, 10):7.2f}")
    host = ctypes.CDLL(os.path.join(HERE, "host.so"))
    host.bench.restype = host.bench_get.restype = ctypes.c_double
    stream = torch.cuda.Stream()
    handle = ctypes.c_void_p(stream.cuda_stream)
    for label, (f, args) in ways.items():
        try:
            times = [timed(graphed(launcher(f, 1, threads, args)).replay, 10, 10) for threads in (256, 128)]
            buffer = ctypes.create_string_buffer(args, len(args))

            def bench(st, mode, calls):
                return host.bench(f, st, 256, buffer, ctypes.c_ulong(len(args)), mode, 40, calls)

            line(
                f"   {label:40s} graph {times[0]:7.2f}, of 128 threads {times[1]:7.2f}; host: {bench(handle, 0, 10):.2f},"
                f" with cuCtxGetCurrent {bench(handle, 1, 10):.2f}, with cuCtxSetCurrent twice {bench(handle, 3, 10):.2f}, as a buffer {bench(handle, 2, 10):.2f}, default stream {bench(None, 0, 10):.2f},"
                f" 200 calls {bench(handle, 0, 200):.2f}"
            )
        except Exception as e:
            line(f"   {label}: {type(e).__name__} {str(e)[:100]}")
    line(f"   cuCtxGetCurrent alone: {host.bench_get(10000):.4f}")


if __name__ == "__main__":
    for f in (add, offset, unary, halves, where, biases, mixed, transposed, fusions, sums, small):
        case(f)
        torch.cuda.synchronize()
    print(f"took {time.time() - BEGAN:.1f} s", flush=True)
    print("\n".join(PAGE))
